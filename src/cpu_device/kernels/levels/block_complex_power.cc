// SPDX-License-Identifier: Apache-2.0
//
// Powers of c64 numbers by f32 numbers in two parts, or f64 for what is large or tiny, and cube
// roots. Largest errors seen: of powers 1.24 x 2^-24 of their size, 1.34 with exponents of sizes
// from 16 and 1.91 from 30; of cube roots 0.86 ULP of real parts, 0.98 of others and 1.05 of the
// whole, among some 10^8 numbers. On an Emerald Rapids a root takes 1.18 ns. Levels without AVX2
// have those of complex_pieces-inl.h. Rare arguments go one at a time to the complete functions.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_float_logs-inl.h"
#include "src/cpu_device/kernels/complex_float_tables-inl.h"
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
struct WidePower {
  using Operand = Parts;
  static constexpr int kPiece = 8;
  struct State {
    // log a: arctan(t) and quarters of a turn, log(1 + r) / 2 + far. Then the exponent.
    Doubles t, r, far, quarters;
    Parts b;
    Doubles size, angle, sixteenths;
  };
  PJRT_INLINE C64 Complete(C64 a, C64 b) { return complexes::CompletePower(a, b); }
  PJRT_INLINE int Start(Parts a, Parts b, State* state, bool) {
    const Doubles width = Magnitude(a.re), height = Magnitude(a.im), zero = All(0);
    const Mask steep = Compare<_CMP_LT_OQ>(width, height);
    const Doubles small = Choose(steep, -a.re, a.im), large = Choose(steep, a.im, a.re);
    const Doubles quarters = Choose(steep, All(1), Choose(IsNegative(a.re), All(2), zero));
    state->quarters = WithSign(quarters, a.im);
    state->b = b;
    const Doubles square = Fused(large, large, small * small);
    state->t = small / large;
    const auto middle = EntriesAt<kPowerMiddles>(ShiftedRight<48>((Words)square));
    state->r = Fused(MantissaOf(square), middle[kInverse], All(-1));
    state->far = Fused(ExponentOf(square), All(kHalfLn2), middle[kHalfLog]);
    const Doubles size = b.re * b.re;
    const Mask many = Compare<_CMP_NLT_UQ>(Fused(b.im, b.im, size), All(10000));
    const Mask plain =  // 0 or 1
        Both(Compare<_CMP_EQ_OQ>(b.im, zero), Compare<_CMP_EQ_OQ>(size, b.re));
    return Lanes(Either(Either(IsZeroOrNotFinite(width + height), many), plain));
  }
  PJRT_INLINE void Multiply(State* s) {
    const Doubles r = s->r, t = s->t, size = Magnitude(t);
    const Doubles log = Fused(r, Polynomial(kPowerLog1p, r), s->far);
    const auto arctan = EntriesAt<kAtan>((Words)Fused(size, All(15), All(kIntegerShift)));
    Doubles p = arctan[0];
#pragma GCC unroll 16
    for (int i = 1; i < kAtan.kCount; ++i) p = Fused(p, size, arctan[i]);
    const Doubles angle = Fused(s->quarters, All(kHalfPi), p * t);
    s->r = Fused(s->b.re, log, -(s->b.im * angle));
    s->t = Fused(s->b.re, angle, s->b.im * log);
  }
  PJRT_INLINE void Reduce(State* s) {
    // exp(x) = 2^(n / 16) (1 + (exp(r) - 1))
    const Doubles x = Bounded(s->r, 650), y = s->t;
    const Doubles n = Fused(x, All(0x1.71547652b82fep+4), All(kIntegerShift));
    const Doubles r = Fused(n - All(kIntegerShift), All(-0x1.62e42fefa39efp-5), x);
    const Doubles bits = EntriesAt<kPowerBits>((Words)n)[0];
    const Doubles power = (Doubles)Plus((Words)bits, ShiftedLeft<48>((Words)n));
    s->size = Fused(power * r, Polynomial(kExpm1, r), power);
    s->sixteenths = Fused(y, All(8 / kPi), All(kIntegerShift));
    s->angle = Fused(s->sixteenths - All(kIntegerShift), All(-kPi / 8), y);
  }
  PJRT_INLINE void Continue(State* states, int count) {
    for (int i = 0; i < count; ++i) Multiply(&states[i]);
    for (int i = 0; i < count; ++i) Reduce(&states[i]);
  }
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles square = s.angle * s.angle;
    const Doubles cosine = s.size * Polynomial(kCosSmall, square);
    const Doubles sine = s.size * s.angle * Polynomial(kSinSmall, square);
    const auto far = EntriesAt<kAngles>((Words)s.sixteenths);
    return {Fused(far[1], cosine, -(far[0] * sine)), Fused(far[0], cosine, far[1] * sine)};
  }
};

// The same in f32 numbers in two parts, twice as many at a time, which made it 2.2 -> 1.7 ns an
// element on an Emerald Rapids. Logarithms are to base 2 and angles in the same unit, log(2), so
// that one product with the exponent tells the power of 2.

// An inverse c of each 32nd of [1, 2), with the exponent's bits of 1 added, and -log2(c) / 2, a
// multiple of 2^-19, to 2^-35; those of the ends are exact, as logarithms beside 1 are to be.
enum { kLog2Inverse, kHalfLog2 };
constexpr FloatColumns<2, 32> kLog2Table = {
    {{0x1p+127f,        0x1.ebca38p+126f, 0x1.db5b6ep+126f, 0x1.cdb5p+126f,   0x1.c10fa8p+126f,
      0x1.b7a7a6p+126f, 0x1.a87aeap+126f, 0x1.9f622p+126f,  0x1.960a38p+126f, 0x1.8cab6ap+126f,
      0x1.8057cap+126f, 0x1.78e89ep+126f, 0x1.6ecd74p+126f, 0x1.6707fp+126f,  0x1.617d06p+126f,
      0x1.5afaaep+126f, 0x1.52242p+126f,  0x1.498c8ep+126f, 0x1.44927ep+126f, 0x1.3d0852p+126f,
      0x1.38ffdap+126f, 0x1.31e84p+126f,  0x1.2e88cep+126f, 0x1.26379p+126f,  0x1.22952p+126f,
      0x1.1b2adep+126f, 0x1.1809b6p+126f, 0x1.13f3aap+126f, 0x1.104c7ap+126f, 0x1.0c011cp+126f,
      0x1.05a47p+126f,  0x1p+126f},
     {0x0p+0f,       0x1.dbf8p-6f,  0x1.b6dp-5f,   0x1.317ep-4f,  0x1.838cp-4f,  0x1.c218p-4f,
      0x1.14fp-3f,   0x1.34f1p-3f,  0x1.568dp-3f,  0x1.790bp-3f,  0x1.a7aep-3f,  0x1.c489p-3f,
      0x1.ecbp-3f,   0x1.06298p-2f, 0x1.11a78p-2f, 0x1.1f62p-2f,  0x1.3271p-2f,  0x1.4574p-2f,
      0x1.50b18p-2f, 0x1.620ep-2f,  0x1.6b83p-2f,  0x1.7c71p-2f,  0x1.84a18p-2f, 0x1.9939p-2f,
      0x1.a2678p-2f, 0x1.b57f8p-2f, 0x1.bdb5p-2f,  0x1.c8908p-2f, 0x1.d2688p-2f, 0x1.de268p-2f,
      0x1.efe58p-2f, 0x1p-1f}}};
// (log2(1 + h) / 2 - kHalfLog2E h) / h for -1/64 <= h <= 1/32, times h to 2^-33.
constexpr float kHalfLog2E = 0x1.715476p-1f;
constexpr float kHalfLog2Series[] = {-0x1.66c3cap-3f, 0x1.ec7744p-3f, -0x1.7154cap-2f,
                                     0x1.647f0ep-27f};

// arctan(t) / (t log(2)) for t beside a place c near each 31st of [0, 1], times t to 2^-30.6, is
// that at c, which an f32 number is to 2^-34, and a polynomial of h = t - c times h whose first
// coefficient is the same for all.
constexpr FloatColumns<5, 32> kAtanTable = {
    {{0x1.a3b04cp-13f, 0x1.09c438p-5f, 0x1.0a3602p-4f, 0x1.8af3c8p-4f, 0x1.08ab28p-3f,
      0x1.49a44p-3f,   0x1.8b79a2p-3f, 0x1.cea65ep-3f, 0x1.083f94p-2f, 0x1.291bc6p-2f,
      0x1.4a6e0ep-2f,  0x1.6bd33cp-2f, 0x1.8c347ap-2f, 0x1.ad0876p-2f, 0x1.ceab3p-2f,
      0x1.ef7de8p-2f,  0x1.082d96p-1f, 0x1.18ec6cp-1f, 0x1.293222p-1f, 0x1.39b1dcp-1f,
      0x1.4a247ep-1f,  0x1.5ad79ep-1f, 0x1.6b89a6p-1f, 0x1.7bdceap-1f, 0x1.8c6c34p-1f,
      0x1.9cc792p-1f,  0x1.ad5b7ap-1f, 0x1.bdf8fep-1f, 0x1.ce68c6p-1f, 0x1.df1b22p-1f,
      0x1.efada6p-1f,  0x1.ffdb3cp-1f},
     {0x1.715476p+0f, 0x1.71335p+0f,  0x1.70cfacp+0f, 0x1.70311p+0f,  0x1.6f4b52p+0f,
      0x1.6e306cp+0f, 0x1.6cd6ep+0f,  0x1.6b3ba4p+0f, 0x1.6971cap+0f, 0x1.6775cp+0f,
      0x1.6541bap+0f, 0x1.62de8ep+0f, 0x1.60657cp+0f, 0x1.5dbe6ap+0f, 0x1.5ae36p+0f,
      0x1.57fb1cp+0f, 0x1.54f6c4p+0f, 0x1.51cb2cp+0f, 0x1.4ea1f8p+0f, 0x1.4b5be2p+0f,
      0x1.4809a2p+0f, 0x1.449e16p+0f, 0x1.41290ep+0f, 0x1.3dc0a4p+0f, 0x1.3a46d6p+0f,
      0x1.36d52p+0f,  0x1.335688p+0f, 0x1.2fd6a4p+0f, 0x1.2c62a2p+0f, 0x1.28e456p+0f,
      0x1.2571a4p+0f, 0x1.2219c2p+0f},
     {-0x1.92be9ep-13f, -0x1.fe960ap-6f, -0x1.fd7f9p-5f,  -0x1.77ab02p-4f, -0x1.f3174cp-4f,
      -0x1.337548p-3f,  -0x1.6c005cp-3f, -0x1.a323f4p-3f, -0x1.d665e2p-3f, -0x1.0348f2p-2f,
      -0x1.1a1812p-2f,  -0x1.2f418ap-2f, -0x1.421cf2p-2f, -0x1.538b88p-2f, -0x1.63a664p-2f,
      -0x1.71ad12p-2f,  -0x1.7e164cp-2f, -0x1.891bdep-2f, -0x1.924f84p-2f, -0x1.9a31fep-2f,
      -0x1.a0af9ap-2f,  -0x1.a5f68p-2f,  -0x1.aa0152p-2f, -0x1.acda36p-2f, -0x1.aeb60ap-2f,
      -0x1.af9d08p-2f,  -0x1.afaa16p-2f, -0x1.aeecap-2f,  -0x1.ad7d34p-2f, -0x1.ab638cp-2f,
      -0x1.a8bbb4p-2f,  -0x1.a5a756p-2f},
     {-0x1.ec9296p-2f, -0x1.ea80dp-2f,  -0x1.e4eee8p-2f, -0x1.dc2824p-2f, -0x1.cfa0b8p-2f,
      -0x1.c07f8cp-2f, -0x1.ae747p-2f,  -0x1.99982cp-2f, -0x1.8322aep-2f, -0x1.6b220cp-2f,
      -0x1.519526p-2f, -0x1.3727f2p-2f, -0x1.1d1d1ep-2f, -0x1.02a076p-2f, -0x1.cf6fb6p-3f,
      -0x1.9bea6cp-3f, -0x1.69c78p-3f,  -0x1.38926p-3f,  -0x1.0ae14p-3f,  -0x1.bdd838p-4f,
      -0x1.6b483cp-4f, -0x1.1cdbd4p-4f, -0x1.a801dep-5f, -0x1.24482p-5f,  -0x1.52cb58p-6f,
      -0x1.d3074cp-8f, 0x1.5fe0f8p-8f,  0x1.11828ap-6f,  0x1.b6aa06p-6f,  0x1.26616ep-5f,
      0x1.689cccp-5f,  0x1.a1e59ep-5f},
     {0x1.90b178p-7f, 0x1.3d624ap-5f, 0x1.2f342ap-4f, 0x1.bcc5dep-4f, 0x1.2005c2p-3f,
      0x1.5c5314p-3f, 0x1.91760ap-3f, 0x1.be8dacp-3f, 0x1.e3ce62p-3f, 0x1.005f36p-2f,
      0x1.0a9858p-2f, 0x1.10d382p-2f, 0x1.1396fp-2f,  0x1.12d7fp-2f,  0x1.0edf98p-2f,
      0x1.087d5ep-2f, 0x1.ffca78p-3f, 0x1.eab666p-3f, 0x1.d351c8p-3f, 0x1.b9a57ap-3f,
      0x1.9ea354p-3f, 0x1.82951ap-3f, 0x1.663f8p-3f,  0x1.4a6f38p-3f, 0x1.2ee51cp-3f,
      0x1.145aa4p-3f, 0x1.f538f8p-4f, 0x1.c40864p-4f, 0x1.95cdaep-4f, 0x1.69ce06p-4f,
      0x1.40e1fep-4f, 0x1.1c86fcp-4f}}};
constexpr float kAtanThird = -0x1p-4f;
// pi / log(2), rounded down so that zeros keep their signs.
constexpr float kHalfTurn = 0x1.22123p+2f, kHalfTurnLow = 0x1.16d77ap-24f;

// (2^r - 1) / r for |r| <= 1/32, times r to 2^-29. Then sin(r log(2)) / r and (cos(r log(2)) - 1) /
// r^2 by r^2 for |r| <= 0.1475.
constexpr float kExp2m1[] = {0x1.c6b46ap-5f, 0x1.ebfff4p-3f, 0x1.62e43p-1f};
constexpr float kSinOctaves[] = {0x1.5d611p-10f, -0x1.c6b08ap-5f, 0x1.62e43p-1f};
constexpr float kCosOctaves[] = {0x1.3b039cp-7f, -0x1.ebfbdcp-3f};
constexpr double kLn2 = 2 * kHalfLn2;
constexpr FloatColumns<3, kAngleEntries> kAngleTable = MakeFloatAngles(kLn2);

// Of numbers without sign, of which a NaN is the largest.
PJRT_INLINE FloatMask IsBelow(Floats a, Floats b) {
#if defined(__AVX512F__)
  return _mm512_cmplt_epi32_mask((FloatBits)a, (FloatBits)b);
#else
  return (FloatMask)_mm256_cmpgt_epi32((FloatBits)b, (FloatBits)a);
#endif
}
// a b + c, or c, even a zero of any sign, where a is 0.
PJRT_INLINE Floats FusedUnlessZero(Floats a, Floats b, Floats c) {
  const FloatMask some = Compare<_CMP_NEQ_UQ>(a, AllFloats(0));
#if defined(__AVX512F__)
  return _mm512_mask3_fmadd_ps(a, b, c, some);
#else
  return Fused(a, _mm256_and_ps(b, some), c);
#endif
}

struct Power {
  using Operand = FloatParts;
  using Wide = WidePower;
  static constexpr int kPiece = 4;
  // all = high + low, rounded once.
  struct SplitSum {
    Floats all, high, low;
  };
  struct State {
    Floats dividend, divisor;  // of whose quotient the arc tangent is to be
    FloatAngle quotient;
    FloatParts b;
    SquareSum square;
    SplitSum log, angle;
    // The size is 2^(n/32 + r). The angle is rest + the one at `place`.
    FloatBits n, place;
    Floats r, rest;
    FloatMask common;
  };
  PJRT_INLINE C64 Complete(C64 a, C64 b) { return complexes::CompletePower(a, b); }
  // Parts of bases up to 2^kMost, beyond which logarithms would lose digits of kHalfLog2. Of parts
  // below 2^-kMost, but 0, second parts might become denormal numbers.
  static constexpr int kMost = 31;
  // What moves 32nds into the low bits.
  static constexpr float kSizeShift = kFloatShift / 32;
  static constexpr int kShiftBits = __builtin_bit_cast(int, kSizeShift);
  PJRT_INLINE int Start(FloatParts a, FloatParts b, State* s, bool) {
    const FloatMask steep = IsBelow(Magnitude(a.re), Magnitude(a.im));
    s->dividend = ChooseOpposite(steep, a.re, a.im);
    s->divisor = Choose(steep, a.im, a.re);
    s->quotient.base =
        WithSign(Choose(steep, AllFloats(kHalfTurn / 2),
                        Choose(IsNegative(a.re), AllFloats(kHalfTurn), AllFloats(0))),
                 a.im);
    s->b = b;
    constexpr int kLeastBits = (127 - kMost) << 23, kMostBits = (127 + kMost) << 23;
    const Floats square = b.re * b.re;
    s->common =
        Both(Both(IsBetween(Magnitude(s->divisor), kLeastBits, kMostBits),
                  IsNotBetween(Magnitude(s->dividend), 1, kLeastBits - 1)),
             IsBetween(Fused(b.im, b.im, square), (127 - 100) << 23, ((127 + 12) << 23) - 1));
    const FloatMask plain =  // 0 or 1
        Both(Compare<_CMP_EQ_OQ>(b.im, AllFloats(0)), Compare<_CMP_EQ_OQ>(square, b.re));
    return OtherLanes(s->common) | Lanes(plain);
  }
  PJRT_INLINE void Replace(State* s) {
    const Floats zero = AllFloats(0), one = AllFloats(1);
    s->dividend = Choose(s->common, s->dividend, zero);
    s->divisor = Choose(s->common, s->divisor, one);
    s->b = {Choose(s->common, s->b.re, one), Choose(s->common, s->b.im, zero)};
  }
  PJRT_INLINE SplitSum SumOf(Floats high, Floats low) { return {high + low, high, low}; }
  // log2(large^2 + small^2) / 2
  PJRT_INLINE SplitSum LogOf(SquareSum square) {
    const auto entry = FetchEntries<kLog2Table>(BitsRight<18>(square.sum));
    const FloatBits exponent = (FloatBits)square.sum & AllBits(0xff << 23);
    const Floats inverse = (Floats)Minus32((FloatBits)entry[kLog2Inverse], exponent);
    const Floats product = square.sum * inverse, lost = Fused(square.sum, inverse, -product);
    const Floats h = product - AllFloats(1), h_low = Fused(square.low, inverse, lost);
    const Floats far = Fused(ExponentOf(square.sum), AllFloats(0.5f), entry[kHalfLog2]);
    const Floats unit = AllFloats(kHalfLog2E), high = Fused(h, unit, far);
    const Floats low = Fused(h_low, FusedLess(h, unit, unit), Fused(h, unit, -(high - far)));
    return SumOf(high, Fused(h, Polynomial(kHalfLog2Series, h), low));
  }
  PJRT_INLINE SplitSum AngleOf(const FloatAngle& q) {
    const Floats t = q.t, turn = q.base, size = Magnitude(t);
    const FloatBits places = (FloatBits)Fused(size, AllFloats(31), AllFloats(kFloatShift));
    const auto entry = FetchEntries<kAtanTable>(places);
    const Floats h = size - entry[0], slope = entry[1], first = entry[2];
    const Floats p = Fused(Fused(Fused(h, AllFloats(kAtanThird), entry[4]), h, entry[3]), h, first);
    const Floats high = Fused(slope, t, turn), lost = Fused(slope, t, -(high - turn));
    const Floats low = Fused(turn, AllFloats(kHalfTurnLow / kHalfTurn), Fused(t * h, p, lost));
    return SumOf(high, FusedLess(q.excess, Fused(size, first, slope), low));
  }
  // from + a b, with a b as plain + rest + a.low b, of which the first is a multiple of the unit of
  // `from`.
  struct Split {
    Floats all, plain, rest;
  };
  PJRT_INLINE Split AddProduct(Floats from, const SplitSum& a, Floats b) {
    const Floats all = Fused(a.all, b, from), plain = all - from;
    return {all, plain, Fused(a.high, b, -plain)};
  }
  PJRT_INLINE void Multiply(State* s) {
    const FloatParts b = s->b;
    const SplitSum log = s->log, angle = s->angle;
    const Split re_log = AddProduct(AllFloats(kSizeShift), log, b.re);
    const Split im_angle = AddProduct(re_log.all, angle, -b.im);
    s->n = (FloatBits)im_angle.all;
    s->r = Fused(b.re, log.low, re_log.rest) + FusedLess(b.im, angle.low, im_angle.rest);
    // Sixteenths of half turns have two parts; products with the first are exact. Zeros keep their
    // signs, as `low` is never -0.
    const Split re_angle = AddProduct(AllFloats(kFloatShift * 0x1p-8f), angle, b.re);
    const Split im_log = AddProduct(AllFloats(kFloatShift * 0x1p-8f), log, b.im);
    const Floats plain = re_angle.plain + im_log.plain, shift = AllFloats(kFloatShift);
    const Floats shifted = Fused(plain, AllFloats(0x1.c3dc98p+1f), shift), n = shifted - shift;
    s->place = (FloatBits)shifted;
    const Floats offset = FetchAngle<kAngleTable>(s->place)[0];
    const Floats low = FusedLess(b.im, log.low, FusedLess(b.re, angle.low, offset));
    const Floats rest = (re_angle.rest + im_log.rest) - Fused(n, AllFloats(-0x1.f74944p-23f), low);
    s->rest = rest - Fused(n, AllFloats(0x1.22124p-2f), -plain);
    // Sizes from 2^-100 to 2^100.
    s->common = IsBetween(im_angle.all, kShiftBits - 100 * 32, kShiftBits + 100 * 32);
  }
  PJRT_INLINE void Continue(State* states, int count) {
    for (int i = 0; i < count; ++i) {
      State& s = states[i];
      const Floats inverse = AllFloats(1) / s.divisor, t = s.dividend * inverse;
      s.quotient.t = t;
      s.quotient.excess = Fused(t, s.divisor, -s.dividend) * inverse;
      s.square = SumOfSquares(s.divisor, s.dividend);
    }
    for (int i = 0; i < count; ++i) {
      State& s = states[i];
      s.angle = AngleOf(s.quotient);
      s.log = LogOf(s.square);
    }
    for (int i = 0; i < count; ++i) Multiply(&states[i]);
  }
  PJRT_INLINE int RareAtEnd(const State& s) { return OtherLanes(s.common); }
  PJRT_INLINE void ReplaceAtEnd(State* s) {
    s->n = (FloatBits)Choose(s->common, (Floats)s->n, AllFloats(0));
  }
  PJRT_INLINE FloatParts Finish(const State& s) {
    const auto entry = FetchEntries<kFloatPowers>(s.n);
    const Floats power = (Floats)Plus32((FloatBits)entry[0], BitsLeft<18>((Floats)s.n));
    // What the size, and it times the cosine of the rest of the angle, have beyond power, and the
    // size times the sine.
    const Floats grown = power * Fused(s.r, Polynomial(kExp2m1, s.r), entry[1]);
    const Floats size = power + grown, square = s.rest * s.rest;
    const Floats more = Fused(size, square * Polynomial(kCosOctaves, square), grown);
    const Floats turned = size * (s.rest * Polynomial(kSinOctaves, square));
    const auto far = FetchAngle<kAngleTable>(s.place);
    const Floats sine = far[1], cosine = far[2];
    return {Fused(power, cosine, Fused(more, cosine, -(turned * sine))),
            Fused(power, sine, FusedUnlessZero(sine, more, turned * cosine))};
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
// The parts of (1 - i t)^(1/3), the imaginary one over -t, by t^2, for |t| <= 1, to 2^-16.
constexpr float kRootRe[] = {-0x1.064d9ep-8f, 0x1.0d5c3p-6f, -0x1.40808p-5f, 0x1.c637a8p-4f,
                             0x1.00004p+0f};
constexpr float kRootIm[] = {0x1.a52166p-9f, -0x1.a64238p-7f, 0x1.d1318cp-6f, -0x1.f811d2p-5f,
                             0x1.555466p-2f};

// BySign: where the mask is set `positive` or `negative`, as the sign of x is, and `other`
// elsewhere.
#if defined(__AVX512F__)
PJRT_INLINE Floats BySign(FloatMask mask, Floats x, float positive, float negative, float other) {
  return _mm512_mask_permutexvar_ps(AllFloats(other), mask, BitsRight<31>(x),
                                    _mm512_set4_ps(0, 0, negative, positive));
}
#else
PJRT_INLINE Floats BySign(FloatMask mask, Floats x, float positive, float negative, float other) {
  const Floats chosen = Choose(IsNegative(x), AllFloats(negative), AllFloats(positive));
  return Choose(mask, chosen, AllFloats(other));
}
#endif

// A root w near that of z, good to 2^-14, whose parts rounded to 12 digits have exact squares, so
// that w^3 - z needs no more parts. It is the difference of those and the root times w^2 + w r +
// r^2 for the root r, which is 3/4 (w + r)^2 but for 2^-24, and good to 2^-14 by the first w for r.
struct Cbrt {
  using Operand = FloatParts;
  static constexpr int kPiece = 4;
  // With the quotient in a step of its own AVX-512 takes 5 % less, and AVX2 2 % more.
  static constexpr bool kDividesFirst = kFloats == 16;
  struct Quotient {
    Floats t, divisor;
    FloatMask flat;
  };
  struct State {
    Quotient quotient;
    FloatParts z, w;
    Floats unit;  // of the root
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteCbrt(z); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool) {
    const Floats zero = AllFloats(0);
    const FloatMask flat = Compare<_CMP_NLT_UQ>(Magnitude(z.re), Magnitude(z.im));
    const Floats dividend = ChooseOpposite(flat, z.im, z.re), divisor = Choose(flat, z.re, z.im);
    const Floats t = dividend / divisor, large = Magnitude(divisor);
    // Of tiny quotients digits would be lost.
    const FloatMask kept = Either(Compare<_CMP_GE_OQ>(Magnitude(t), AllFloats(0x1p-100f)),
                                  Compare<_CMP_EQ_OQ>(dividend, zero));
    const Quotient quotient = {t, divisor, flat};
    if constexpr (kDividesFirst) {
      state->quotient = quotient;
      state->z = z;
    } else {
      Approximate(quotient, z, state);
    }
    return OtherLanes(Both(kept, IsBetween(large, 2 << 23, (253 << 23) - 1)));
  }
  // The root to 2^-14.
  PJRT_INLINE void Approximate(const Quotient& quotient, FloatParts z, State* state) {
    constexpr float kShift = 0x1.8p+23f, kHalfRoot3 = 0x1.bb67aep-1f;
    const Floats t = quotient.t, large = Magnitude(quotient.divisor);
    // large = unit^3 m, 1/4 <= m < 2
    const Floats third =
        Fused(FromIntegers(BitsRight<23>(large)), AllFloats(1 / 3.0f), AllFloats(kShift + 85));
    const Floats inverse =  // of unit^3
        (Floats)BitsLeft<23>(Fused(third, AllFloats(-3), AllFloats(4 * kShift + 508)));
    const Floats m = large * inverse;
    const FloatBits places = BitsRight<kQuarterShift>(m);
    Floats root = FetchFloats(kRoots.coefficient[0], places);
    root = Fused(root, m, FetchFloats(kRoots.coefficient[1], places));
    root = Fused(root, m, FetchFloats(kRoots.coefficient[2], places));
    // By a third of the quarters of a turn.
    const Floats re = root * BySign(quotient.flat, z.re, 1, 0.5f, kHalfRoot3);
    const Floats im = root * WithSign(BySign(quotient.flat, z.re, 0, kHalfRoot3, 0.5f), z.im);
    const Floats square = t * t;
    const Floats run = Polynomial(kRootRe, square), rise = t * Polynomial(kRootIm, square);
    state->w = {Fused(re, run, im * rise), FusedLess(re, rise, im * run)};
    state->z = {z.re * inverse, z.im * inverse};
    state->unit = (Floats)BitsLeft<23>(third);
  }
  PJRT_INLINE void Continue([[maybe_unused]] State* states, [[maybe_unused]] int count) {
    for (int i = 0; kDividesFirst && i < count; ++i)
      Approximate(states[i].quotient, states[i].z, &states[i]);
  }
  // To 12 digits.
  PJRT_INLINE Floats Shortened(Floats x) {
    return (Floats)(Plus32((FloatBits)x, AllBits(1 << 11)) & AllBits(-(1 << 12)));
  }
  PJRT_INLINE FloatParts Finish(const State& s) {
    const FloatParts w = {Shortened(s.w.re), Shortened(s.w.im)};
    const Floats a = w.re * w.re, b = w.im * w.im, three = AllFloats(3);
    const Floats rise = Fused(three, a, -b), rise_low = Fused(three, a, -rise) - b;
    const FloatParts e = {FusedLess(three * w.re, b, Fused(w.re, a, -s.z.re)),
                          Fused(w.im, rise_low, Fused(w.im, rise, -s.z.im))};
    const FloatParts sum = {w.re + s.w.re, w.im + s.w.im};
    const Floats most = sum.re * sum.re, size = Fused(sum.im, sum.im, most);
    const FloatParts square = {FusedLess(sum.im, sum.im, most), (sum.re + sum.re) * sum.im};
    const Floats inverse = AllFloats(-4 / 3.0f) / (size * size);
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
