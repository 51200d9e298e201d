// SPDX-License-Identifier: Apache-2.0
//
// The arc tangent of quotients of c64 numbers: in f64 what may cancel and two quotients, and all
// else in f32. Largest errors seen, over some 10^6 numbers: 1.6 and 1.8 ULP of the real and of the
// imaginary part. On an Emerald Rapids it takes 1.85 ns an element, where all in f64 took 2.35, and
// 2.9 instead of 5.3 with AVX2. Levels without fused multiply-add have that of
// complex_pieces-inl.h. Rare arguments, such as zeros, infinities and NaNs, go one at a time to the
// complete function.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_float_logs-inl.h"
#include "src/cpu_device/kernels/complex_float_tables-inl.h"
#include "src/cpu_device/kernels/complex_steps-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// HighWords: sign, exponent and first digits of all elements of both halves.
#if defined(__AVX512F__)
PJRT_INLINE Floats HighWords(Doubles low, Doubles high) {
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  return (Floats)_mm512_permutex2var_epi32((__m512i)low, odd, (__m512i)high);
}
// a / b, or b where the mask is not set.
PJRT_INLINE Floats DivideWhere(FloatMask mask, Floats a, Floats b) {
  return _mm512_mask_div_ps(b, mask, a, b);
}
// a - b, or a where the mask is not set.
PJRT_INLINE Floats LessWhere(FloatMask mask, Floats a, Floats b) {
  return _mm512_mask_sub_ps(a, mask, a, b);
}
#else
PJRT_INLINE Floats HighWords(Doubles low, Doubles high) {
  const Floats odd = _mm256_shuffle_ps((__m256)low, (__m256)high, 0xdd);
  return (Floats)_mm256_permute4x64_pd((__m256d)odd, 0xd8);
}
PJRT_INLINE Floats DivideWhere(FloatMask mask, Floats a, Floats b) {
  return Choose(mask, a / b, b);
}
PJRT_INLINE Floats LessWhere(FloatMask mask, Floats a, Floats b) { return Choose(mask, a - b, a); }
#endif

PJRT_INLINE int OtherLanes(Mask low, Mask high) {
  return (Lanes(low) | Lanes(high) << kDoubles) ^ ((1 << kFloats) - 1);
}

// (arctan(2t) / 2 - t) / t^3 by t^2, for |t| <= 1/2, to 2^-28 of the arc.
constexpr float kHalfArc[] = {-0x1.d6318p+8f,  0x1.65a75p+9f,   -0x1.fed258p+8f,
                              0x1.daca6ep+7f,  -0x1.5834bep+6f, 0x1.c09a1p+4f,
                              -0x1.2421b8p+3f, 0x1.9991fep+1f,  -0x1.55553ep+0f};
// By pairs of coefficients, which takes half the time of one after the other.
template <int kCount>
PJRT_INLINE Floats ShortPolynomial(const float (&c)[kCount], Floats x) {
  static_assert(kCount % 2 != 0);
  const Floats square = x * x;
  Floats p = AllFloats(c[0]);
  for (int i = 1; i < kCount; i += 2) {
    p = Fused(p, square, Fused(AllFloats(c[i]), x, AllFloats(c[i + 1])));
  }
  return p;
}
// Half turns in two parts, of which three quarters of the first are an f32 number.
constexpr float kHalfTurn = 0x1.921fbp+1f, kHalfTurnLow = 0x1.5110b4p-21f;

// An inverse c of each 16th of [1, 2), of 14 digits, with the exponent's bits of 1 added, and
// -log(c) / 4 to 2^-29; the first one is exact, as logarithms beside 1 are to be.
enum { kQuarterInverse, kQuarterLog };
constexpr FloatColumns<2, 16> kQuarterLogs = {
    {{0x1p+127f, 0x1.d3cp+126f, 0x1.baf8p+126f, 0x1.a42p+126f, 0x1.8f6p+126f, 0x1.7d1p+126f,
      0x1.6cd8p+126f, 0x1.5d48p+126f, 0x1.4e48p+126f, 0x1.421p+126f, 0x1.34cp+126f, 0x1.2a48p+126f,
      0x1.1f6p+126f, 0x1.15fp+126f, 0x1.0c58p+126f, 0x1.048p+126f},
     {0, 0x1.723d7ap-6f, 0x1.289a38p-5f, 0x1.9509aap-5f, 0x1.fcc59ep-5f, 0x1.2e732cp-4f,
      0x1.5afcecp-4f, 0x1.87a03ap-4f, 0x1.b492fap-4f, 0x1.dab474p-4f, 0x1.02f744p-3f,
      0x1.14a09ap-3f, 0x1.27b2e2p-3f, 0x1.38cb9ap-3f, 0x1.4ac7d4p-3f, 0x1.59f834p-3f}}};
constexpr float kQuarterLn2 = 0x1.62e43p-3f;
// (log(1 + 4j) / 4 - j) / j^2 for 4j from -0.0306 to 1/16, times j to 2^-28.
constexpr float kQuarterSeries[] = {0x1.819d14p+5f, -0x1.000bfp+4f, 0x1.555836p+2f, -2};

// -i log((x + iy) / sqrt(x^2 + y^2)), part by part: with p = x + iy and m = x - iy the argument of
// the quotient is half that of p conj(m) = |x|^2 - |y|^2 + 2i Re(x conj(y)), or opposite, and its
// size the root of |p| / |m|: with t = Im(conj(x) y) and s = |x|^2 + |y|^2 - 2 |t|, the smaller one
// of |p|^2 and |m|^2, the other part is a quarter of log(1 + 4 |t| / s). Products of f32 numbers
// are exact, so that small parts keep their digits. One division is for both quotients.
struct Atan2 {
  using Operand = FloatParts;
  static constexpr int kPiece = 8;
  struct State {
    FloatParts y, x;
    // Over |x|^2 - |y|^2 and over s.
    Doubles inverse[2], over_along[2], over_square[2];
    // What tells signs: the argument has that of `sine`, and half of it is opposite to that of the
    // quotient where `side` is negative.
    Floats sine, side;
    Floats tangent, excess;  // half that of the argument, and t / s
  };
  // Re(x conj(y)), Im(x^2 + y^2) / 2 and |x|^2 - |y|^2.
  struct Half {
    Doubles sine, squares, along;
    Mask common;
  };
  PJRT_INLINE C64 Complete(C64 y, C64 x) { return complexes::CompleteAtan2(y, x); }
  template <int kHalf>
  PJRT_INLINE Half StartHalf(State* state, bool careful) {
    const Parts y = {HalfAt<kHalf>(&state->y.re), HalfAt<kHalf>(&state->y.im)};
    const Parts x = {HalfAt<kHalf>(&state->x.re), HalfAt<kHalf>(&state->x.im)};
    const Doubles turned = Fused(x.re, y.im, -(x.im * y.re));
    const Doubles x_square = Fused(x.re, x.re, x.im * x.im);
    const Doubles y_square = Fused(y.re, y.re, y.im * y.im);
    Doubles along = x_square - y_square;
    Doubles square = FusedLess(Magnitude(turned), All(2), x_square + y_square);
    // Where s is below 2^-21 t, or a NaN, most of its digits may be lost.
    const Mask kept = Compare<_CMP_NEQ_OQ>(Fused(square, All(0x1p-32), turned), turned);
    Half half;
    half.sine = Fused(x.re, y.re, x.im * y.im);
    half.squares = Fused(x.re, x.im, y.re * y.im);
    if (!careful) {
      half.common = kept;
    } else {
      const Parts plus = {x.re - y.im, x.im + y.re}, minus = {x.re + y.im, x.im - y.re};
      const Doubles plus_square = Fused(plus.re, plus.re, plus.im * plus.im);
      const Doubles minus_square = Fused(minus.re, minus.re, minus.im * minus.im);
      square = Choose(kept, square, Smaller(plus_square, minus_square));
      along = Choose(kept, along, Fused(plus.re, minus.re, plus.im * minus.im));
      half.common = Compare<_CMP_LT_OQ>(Magnitude(turned), square * All(0x1p+120));
    }
    along = Choose(Compare<_CMP_EQ_OQ>(along, All(0)), square * All(0x1p-60), along);
    half.along = along;
    state->inverse[kHalf] = All(1) / (along * square);
    state->over_along[kHalf] = half.sine * square;
    state->over_square[kHalf] = turned * along;
    return half;
  }
  PJRT_INLINE int Start(FloatParts y, FloatParts x, State* state, bool careful) {
    state->y = y;
    state->x = x;
    __asm__("" : "+m"(*state));  // what is in memory need not be moved to be widened
    const Half low = StartHalf<0>(state, careful), high = StartHalf<1>(state, careful);
    const Floats sine = HighWords(low.sine, high.sine);
    const Floats squares = HighWords(low.squares, high.squares);
    // The sizes of the arguments of p and m are above pi together where the sine of their sum, or
    // of their difference, with the sign of the first one's sine is negative.
    const Floats plus_im = x.im + y.re;
    const FloatMask apart = IsNegative(Turned(plus_im, x.im - y.re));
    state->sine = sine;
    state->side = Turned(Choose(apart, sine, squares), plus_im);
    FloatMask rare = Compare<_CMP_EQ_OQ>(state->side * sine, AllFloats(0));
    if (careful) {
      const Floats x_size = Larger(Magnitude(x.re), Magnitude(x.im));
      const Floats y_size = Larger(Magnitude(y.re), Magnitude(y.im));
      rare = Both(rare, Compare<_CMP_EQ_OQ>(Smaller(x_size, y_size), AllFloats(0)));
      ChooseSides(x.re - y.im, plus_im, squares, low, high, state);
    }
    return Lanes(rare) | OtherLanes(low.common, high.common);
  }
  // Of zeros.
  PJRT_INLINE void ChooseSides(Floats plus_re, Floats plus_im, Floats squares, const Half& low,
                               const Half& high, State* state) {
    // Where the sum and the difference are real, the angle of the quotient is 0 or pi/2.
    const Floats along = HighWords(low.along, high.along), zero = AllFloats(0);
    const Floats opposite = -Turned(squares, state->sine);
    const Floats flat = Turned(plus_re, Choose(IsNegative(along), opposite, zero));
    const Floats height = Larger(Magnitude(state->side), Magnitude(plus_im));
    state->side = Choose(Compare<_CMP_EQ_OQ>(height, zero), flat, state->side);
    // 0 or pi rather than -0 or -pi.
    const Floats sine = WithSign(zero, state->side);
    const FloatMask real =
        Both(Compare<_CMP_EQ_OQ>(state->sine, zero), Compare<_CMP_LT_OQ>(zero, along));
    state->sine = Choose(real, sine, state->sine);
    const auto correct = [](const Half& half, Doubles zeros, Doubles* over_along) {
      const Mask kept =
          Either(Compare<_CMP_NEQ_OQ>(half.sine, All(0)), Compare<_CMP_NLT_UQ>(All(0), half.along));
      *over_along = Choose(kept, *over_along, zeros);
    };
    correct(low, HalfOf<0>(sine), &state->over_along[0]);
    correct(high, HalfOf<1>(sine), &state->over_along[1]);
  }
  PJRT_INLINE void Continue(State* states, int count) {
    for (int i = 0; i < count; ++i) {
      State& s = states[i];
      const Doubles low = s.inverse[0], high = s.inverse[1];
      s.tangent = FromHalves(s.over_along[0] * low, s.over_along[1] * high);
      s.excess = FromHalves(s.over_square[0] * low, s.over_square[1] * high);
    }
  }
  // Of half the argument's size, or half of it less a half turn.
  PJRT_INLINE Floats AngleOf(const State& s) {
    const Floats tangent = Turned(s.tangent, s.sine);
    const FloatMask steep = Compare<_CMP_GT_OQ>(Magnitude(tangent), AllFloats(0.5f));
    const Floats t = DivideWhere(steep, AllFloats(-0.25f), tangent);
    const Floats left = Choose(IsNegative(tangent), AllFloats(kHalfTurn / 2), AllFloats(0));
    const Floats turn = Choose(steep, AllFloats(kHalfTurn / 4), left);
    const Floats base = LessWhere(IsNegative(s.side), turn, AllFloats(kHalfTurn));
    // Squares that would be denormals do not matter.
    const Floats size = LargestSize(t, AllFloats(0x1p-20f)), square = size * size;
    const Floats arc = Fused(t, square * ShortPolynomial(kHalfArc, square), t);
    return Turned(base + Fused(base, AllFloats(kHalfTurnLow / kHalfTurn), arc), s.sine);
  }
  // log(1 + 4 size) / 4
  PJRT_INLINE Floats LogOf(Floats size) {
    const Floats sum = Fused(size, AllFloats(4), AllFloats(1));
    const auto entry = FetchEntries<kQuarterLogs>(BitsRight<19>(sum));
    const FloatBits exponent = (FloatBits)sum & AllBits(0xff << 23);
    const Floats inverse = (Floats)Minus32((FloatBits)entry[kQuarterInverse], exponent);
    // What is small keeps all its digits.
    const Floats quarter = AllFloats(0.25f);
    const Floats j = Fused(size, inverse, Fused(inverse, quarter, -quarter));
    const Floats far = Fused(ExponentOf(sum), AllFloats(kQuarterLn2), entry[kQuarterLog]);
    return far + Fused(j, j * Polynomial(kQuarterSeries, j), j);
  }
  PJRT_INLINE FloatParts Finish(const State& s) {
    return {AngleOf(s), WithSign(LogOf(Magnitude(s.excess)), s.excess)};
  }
};

}  // namespace

void FillComplexAtan2(BlockKernels* k) { SetBinaryPieces<Atan2>(k, BlockOp::kAtan2); }
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
