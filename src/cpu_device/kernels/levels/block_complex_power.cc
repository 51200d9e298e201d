// SPDX-License-Identifier: Apache-2.0
//
// Powers of c64 numbers, in f64, but for what f32 is exact for, in vectors of twice as many.
// Largest errors seen: 1.09 x 2^-24 of their size. Levels without AVX2 have those of
// complex_pieces-inl.h. Rare arguments go one at a time to the complete function.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_steps-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// kMiddles, but for 1 in the first place, so that the logarithm of 1 is 0. Then log(1 + r) / 2r for
// r from -0.0303 to 1/16; the logarithm is good to 2^-35.
constexpr Columns<3> kPowerMiddles = [] {
  Columns<3> middles = kMiddles;
  middles.column[kInverse].entry[0] = 1;
  middles.column[kHalfLog].entry[0] = 0;
  return middles;
}();
constexpr double kPowerLog1p[] = {0x1.7c15ca7014e70p-4, -0x1.ffe4980d0d0b4p-4, 0x1.555a1dfba3ca5p-3,
                                  -0x1.000004ee33cabp-2, 0x1.ffffffd531776p-2};
// sin(x) / x and cos(x) by x^2, for |x| <= pi/16, to 2^-31 and 2^-28.5, and both of i pi/8, where
// adding -0 keeps the sign of another zero.
constexpr double kSinSmall[] = {0x1.10b0a1f694e5bp-7, -0x1.55553ef799da2p-3, 0x1.fffffffcec4abp-1};
constexpr double kCosSmall[] = {0x1.54acff9da1308p-5, -0x1.ffffb22186714p-2, 0x1.ffffffeaa7024p-1};
constexpr Columns<2> kAngles = MakeAngles(-0.0);
// (exp(r) - 1) / r for |r| <= ln(2) / 32, so that exp(r) is good to 2^-29.
constexpr double kExpm1[] = {0x1.55583b8d766bep-3, 0x1.00021f8d3859ep-1, 0x1.fffffff978be0p-1};

PJRT_INLINE Doubles Bounded(Doubles x, double size) {
#if defined(__AVX512F__)
  return _mm512_range_pd(x, All(size), 2);  // the smaller size, with the sign of x
#else
  return Larger(Smaller(x, All(size)), All(-size));
#endif
}

// exp(b log a). Large exponents would enlarge the error of the logarithm.
struct Power {
  using Operand = FloatParts;
  static constexpr int kPiece = 4;
  struct State {
    // log a: arctan(t) and quarters of a turn, log(1 + r) / 2 + far. Then the exponent.
    Doubles t[2], r[2], far[2];
    Floats quarters;
    FloatParts b;
    Doubles size[2], angle[2], sixteenths[2];
  };
  PJRT_INLINE C64 Complete(C64 a, C64 b) { return complexes::CompletePower(a, b); }
  template <int kHalf>
  PJRT_INLINE void StartHalf(Floats dividend, Floats divisor, State* state) {
    const Doubles small = HalfOf<kHalf>(dividend), large = HalfOf<kHalf>(divisor);
    const Doubles square = Fused(large, large, small * small);
    state->t[kHalf] = small / large;
    const auto middle = EntriesAt<kPowerMiddles>(ShiftedRight<48>((Words)square));
    state->r[kHalf] = Fused(MantissaOf(square), middle[kInverse], All(-1));
    state->far[kHalf] = Fused(ExponentOf(square), All(0x1.62e42fefa39efp-2), middle[kHalfLog]);
  }
  PJRT_INLINE int Start(FloatParts a, FloatParts b, State* state, bool) {
    const Floats width = Magnitude(a.re), height = Magnitude(a.im), zero = AllFloats(0);
    const FloatMask steep = Compare<_CMP_LT_OQ>(width, height);
    const Floats dividend = Choose(steep, -a.re, a.im), divisor = Choose(steep, a.im, a.re);
    const Floats quarters =
        Choose(steep, AllFloats(1), Choose(IsNegative(a.re), AllFloats(2), zero));
    state->quarters = WithSign(quarters, a.im);
    state->b = b;
    StartHalf<0>(dividend, divisor, state);
    StartHalf<1>(dividend, divisor, state);
    const Floats square = b.re * b.re;
    const FloatMask large = Compare<_CMP_NLT_UQ>(Fused(b.im, b.im, square), AllFloats(10000));
    const FloatMask plain =  // 0 or 1
        Both(Compare<_CMP_EQ_OQ>(b.im, zero), Compare<_CMP_EQ_OQ>(square, b.re));
    return Lanes(Either(Either(IsZeroOrNotFinite(width + height), large), plain));
  }
  template <int kHalf>
  PJRT_INLINE void Multiply(State* s) {
    const Doubles r = s->r[kHalf], t = s->t[kHalf], size = Magnitude(t);
    const Doubles log = Fused(r, Polynomial(kPowerLog1p, r), s->far[kHalf]);
    const auto arctan = EntriesAt<kAtan>((Words)Fused(size, All(15), All(kIntegerShift)));
    Doubles p = arctan[0];
#pragma GCC unroll 16
    for (int i = 1; i < kAtan.kCount; ++i) p = Fused(p, size, arctan[i]);
    const Doubles angle = Fused(HalfOf<kHalf>(s->quarters), All(kHalfPi), p * t);
    const Doubles re = HalfOf<kHalf>(s->b.re), im = HalfOf<kHalf>(s->b.im);
    s->r[kHalf] = Fused(re, log, -(im * angle));
    s->t[kHalf] = Fused(re, angle, im * log);
  }
  template <int kHalf>
  PJRT_INLINE void Reduce(State* s) {
    // exp(x) = 2^(n / 16) (1 + (exp(r) - 1))
    const Doubles x = Bounded(s->r[kHalf], 650), y = s->t[kHalf];
    const Doubles n = Fused(x, All(0x1.71547652b82fep+4), All(kIntegerShift));
    const Doubles r = Fused(n - All(kIntegerShift), All(-0x1.62e42fefa39efp-5), x);
    const Doubles bits = EntriesAt<kPowerBits>((Words)n)[0];
    const Doubles power = (Doubles)Plus((Words)bits, ShiftedLeft<48>((Words)n));
    s->size[kHalf] = Fused(power * r, Polynomial(kExpm1, r), power);
    s->sixteenths[kHalf] = Fused(y, All(8 / kPi), All(kIntegerShift));
    s->angle[kHalf] = Fused(s->sixteenths[kHalf] - All(kIntegerShift), All(-kPi / 8), y);
  }
  PJRT_INLINE void Continue(State* states, int count) {
    for (int i = 0; i < count; ++i) {
      Multiply<0>(&states[i]);
      Multiply<1>(&states[i]);
    }
    for (int i = 0; i < count; ++i) {
      Reduce<0>(&states[i]);
      Reduce<1>(&states[i]);
    }
  }
  PJRT_INLINE PartsOfBoth Finish(const State& s) {
    PartsOfBoth result;
    for (int i = 0; i < 2; ++i) {
      const Doubles square = s.angle[i] * s.angle[i];
      const Doubles cosine = s.size[i] * Polynomial(kCosSmall, square);
      const Doubles sine = s.size[i] * s.angle[i] * Polynomial(kSinSmall, square);
      const auto far = EntriesAt<kAngles>((Words)s.sixteenths[i]);
      result.half[i] = {Fused(far[1], cosine, -(far[0] * sine)),
                        Fused(far[0], cosine, far[1] * sine)};
    }
    return result;
  }
};

}  // namespace

void FillComplexPower(BlockKernels* k) { SetBinaryPieces<Power>(k, BlockOp::kPower); }
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
