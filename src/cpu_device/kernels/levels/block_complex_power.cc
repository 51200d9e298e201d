// SPDX-License-Identifier: Apache-2.0
//
// Powers and cube roots of c64 numbers, by f32 in vectors of twice as many elements where it is
// enough, else powers by f64 and roots by f32 numbers in two parts. Largest errors seen: of powers
// 1.09 x 2^-24 of their size, of cube roots 0.57 ULP of each part. Levels without AVX2 have those
// of complex_pieces-inl.h. Rare arguments go one at a time to the complete functions.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_float_logs-inl.h"
#include "src/cpu_device/kernels/complex_steps-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// kMiddles, but for 1 in the first place and 2 in the last one, so that logarithms beside 0 keep
// their digits. Then log(1 + r) / 2r for r from -1/32 to 1/16, to 2^-28; the logarithm is good to
// 2^-34.
constexpr double kHalfLn2 = 0x1.62e42fefa39efp-2;
constexpr Columns<2> kPowerMiddles = [] {
  Columns<2> middles = kMiddles;
  middles.column[kInverse].entry[0] = 1;
  middles.column[kHalfLog].entry[0] = 0;
  middles.column[kInverse].entry[15] = 0.5;
  middles.column[kHalfLog].entry[15] = kHalfLn2;
  return middles;
}();
constexpr double kPowerLog1p[] = {0x1.7d8e68869e8bdp-4, -0x1.fff6b4635d8e4p-4, 0x1.5559b3757b7d9p-3,
                                  -0x1.000003be9952cp-2, 0x1.ffffffe3f8922p-2};
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
    state->far[kHalf] = Fused(ExponentOf(square), All(kHalfLn2), middle[kHalfLog]);
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
    const Doubles angle = Fused(HalfAt<kHalf>(&s->quarters), All(kHalfPi), p * t);
    const Doubles re = HalfAt<kHalf>(&s->b.re), im = HalfAt<kHalf>(&s->b.im);
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
  PJRT_INLINE FloatParts Finish(const State& s) {
    Parts half[2];
    for (int i = 0; i < 2; ++i) {
      const Doubles square = s.angle[i] * s.angle[i];
      const Doubles cosine = s.size[i] * Polynomial(kCosSmall, square);
      const Doubles sine = s.size[i] * s.angle[i] * Polynomial(kSinSmall, square);
      const auto far = EntriesAt<kAngles>((Words)s.sixteenths[i]);
      half[i] = {Fused(far[1], cosine, -(far[0] * sine)), Fused(far[0], cosine, far[1] * sine)};
    }
    return {FromHalves(half[0].re, half[1].re), FromHalves(half[0].im, half[1].im)};
  }
};

// The cube root of x from 1/4 to 2, on quarters of octaves, to 2^-15.5: the last bits of the
// exponent and the first digits say which. The highest power comes first.
constexpr int kQuarterShift = 21;
struct RootPieces {
  alignas(64) float coefficient[3][16];
};
constexpr RootPieces kRoots = {
    {{0, 0, 0, 0, -0x1.da760ep-1f, -0x1.52cf86p-1f, -0x1.0022a8p-1f, -0x1.933d42p-2f,
      -0x1.2ae44ep-2f, -0x1.aadfeap-3f, -0x1.42b5d8p-3f, -0x1.fc0cb6p-4f, -0x1.78948p-4f,
      -0x1.0cea08p-4f, -0x1.9696ecp-5f, -0x1.400d1ep-5f},
     {0, 0, 0, 0, 0x1.4c92a2p+0f, 0x1.22900ap+0f, 0x1.03c08ep+0f, 0x1.d8054p-1f, 0x1.a303f4p-1f,
      0x1.6e1604p-1f, 0x1.474468p-1f, 0x1.295ab2p-1f, 0x1.07f694p-1f, 0x1.cd3d4ep-2f,
      0x1.9c54b2p-2f, 0x1.76a496p-2f},
     {0, 0, 0, 0, 0x1.73d40ap-2f, 0x1.8ddea2p-2f, 0x1.a4d8cap-2f, 0x1.b988fp-2f, 0x1.d47968p-2f,
      0x1.f548ccp-2f, 0x1.091decp-1f, 0x1.16264ap-1f, 0x1.271eccp-1f, 0x1.3bca14p-1f,
      0x1.4e06bep-1f, 0x1.5e724ep-1f}}};
// The parts of (1 + i t)^(1/3), the imaginary one over t, by t^2, for |t| <= 1, to 2^-15.
constexpr float kRootRe[] = {0x1.19e378p-7f, -0x1.19909cp-5f, 0x1.c2806ap-4f, 0x1.0001f6p+0f};
constexpr float kRootIm[] = {0x1.a52166p-9f, -0x1.a64238p-7f, 0x1.d1318cp-6f, -0x1.f811d2p-5f,
                             0x1.555466p-2f};

// A root w near that of z, good to 2^-14, of which one step of Newton's method makes one to 2^-27,
// w - (w^3 - z) / 3w^2, of which the difference needs numbers in two parts.
struct Cbrt {
  using Operand = FloatParts;
  static constexpr int kPiece = 4;
  struct State {
    FloatParts z, w;
    Floats unit;  // of the root
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteCbrt(z); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool) {
    constexpr float kShift = 0x1.8p+23f;
    const Floats zero = AllFloats(0);
    const FloatMask steep = Compare<_CMP_LT_OQ>(Magnitude(z.re), Magnitude(z.im));
    const FloatMask left = IsNegative(z.re);
    const Floats dividend = ChooseOpposite(steep, z.re, z.im), divisor = Choose(steep, z.im, z.re);
    const Floats t = dividend / divisor, large = Magnitude(divisor);
    // Of tiny quotients digits would be lost.
    const FloatMask kept = Either(Compare<_CMP_GE_OQ>(Magnitude(t), AllFloats(0x1p-100f)),
                                  Compare<_CMP_EQ_OQ>(dividend, zero));
    // large = unit^3 m, 1/4 <= m < 2
    const Floats third =
        Fused(FromIntegers(BitsRight<23>(large)), AllFloats(1 / 3.0f), AllFloats(kShift + 85));
    const FloatBits unit = BitsLeft<23>(third);
    const Floats inverse =  // of its cube
        (Floats)Minus32(Minus32(Minus32(AllBits(static_cast<int>(508u << 23)), unit), unit), unit);
    const Floats m = large * inverse;
    const FloatBits places = BitsRight<kQuarterShift>(m);
    Floats root = FetchFloats(kRoots.coefficient[0], places);
    root = Fused(root, m, FetchFloats(kRoots.coefficient[1], places));
    root = Fused(root, m, FetchFloats(kRoots.coefficient[2], places));
    // By a third of the quarters of a turn.
    const Floats cosine =
        Choose(steep, AllFloats(0x1.bb67aep-1f), Choose(left, AllFloats(0.5f), AllFloats(1)));
    const Floats sine =
        Choose(steep, AllFloats(0.5f), Choose(left, AllFloats(0x1.bb67aep-1f), zero));
    const Floats re = root * cosine, im = root * WithSign(sine, z.im);
    const Floats square = t * t;
    const Floats run = Polynomial(kRootRe, square), rise = t * Polynomial(kRootIm, square);
    state->w = {Fused(re, run, -(im * rise)), Fused(im, run, re * rise)};
    state->z = {z.re * inverse, z.im * inverse};
    state->unit = (Floats)unit;
    return OtherLanes(Both(kept, IsBetween(large, 2 << 23, (253 << 23) - 1)));
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE FloatParts Finish(const State& s) {
    const FloatParts w = s.w;
    const Floats a = w.re * w.re, b = w.im * w.im, three = AllFloats(3);
    const Floats a_low = Fused(w.re, w.re, -a), b_low = Fused(w.im, w.im, -b);
    // a - 3b and 3a - b, of which 3a is the larger one.
    const Floats a3 = three * a, a3_low = Fused(three, a, -a3);
    const Floats b3 = three * b, b3_low = Fused(three, b, -b3);
    const FloatPair run = SumOf(a, -b3);
    const Floats run_low = FusedLess(three, b_low, (run.low - b3_low) + a_low);
    const Floats rise = a3 - b, rise_lost = ((a3 - rise) - b) + a3_low;
    const Floats rise_low = Fused(three, a_low, rise_lost - b_low);
    const FloatParts e = {Fused(w.re, run_low, Fused(w.re, run.high, -s.z.re)),
                          Fused(w.im, rise_low, Fused(w.im, rise, -s.z.im))};
    const Floats size = a + b;
    const FloatParts square = {a - b, (w.re + w.re) * w.im};
    const Floats inverse = AllFloats(-1 / 3.0f) / (size * size);
    const Floats re = Fused(e.re, square.re, e.im * square.im);
    const Floats im = Fused(e.im, square.re, -(e.re * square.im));
    return {s.unit * Fused(re, inverse, w.re), s.unit * Fused(im, inverse, w.im)};
  }
};

}  // namespace

void FillComplexPower(BlockKernels* k) {
  SetBinaryPieces<Power>(k, BlockOp::kPower);
  SetUnaryPieces<Cbrt>(k, BlockOp::kCbrt);
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
