// SPDX-License-Identifier: Apache-2.0
//
// Functions of c64 made of exponentials, sines and cosines, in f64, with tables that a permutation
// reads so that polynomials are short. Levels without AVX2 have those of complex_pieces-inl.h.
// Parts are within 0.52 ULP but where sums cancel. With AVX-512, an exponential takes 0.53 ns an
// element, a sine 0.59, a tangent 0.66, a logistic function 0.71.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_pieces-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

constexpr int kEntries = 16;

#if defined(__AVX512F__)
using Vector = __m512d;
using Bits = __m512i;
PJRT_INLINE Vector Same(double x) { return _mm512_set1_pd(x); }
// a * b + c, and c - a * b
PJRT_INLINE Vector Fused(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
PJRT_INLINE Vector FusedLess(Vector a, Vector b, Vector c) { return _mm512_fnmadd_pd(a, b, c); }
// The entries that the last four bits of `places` choose.
PJRT_INLINE Vector Fetch(const double (&table)[kEntries], Bits places) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table), places, _mm512_load_pd(table + 8));
}
PJRT_INLINE Bits ShiftLeft(Bits x, int n) { return _mm512_slli_epi64(x, n); }
PJRT_INLINE Vector Widen(const float* x) { return _mm512_cvtps_pd(_mm256_loadu_ps(x)); }
PJRT_INLINE void Narrow(float* to, Vector x) { _mm256_storeu_ps(to, _mm512_cvtpd_ps(x)); }
PJRT_INLINE bool HasNegative(Bits floats) { return _mm512_movepi32_mask(floats) != 0; }
// The even elements of both and the odd ones, two by two.
PJRT_INLINE Vector Evens(Vector a, Vector b) { return _mm512_unpacklo_pd(a, b); }
PJRT_INLINE Vector Odds(Vector a, Vector b) { return _mm512_unpackhi_pd(a, b); }
#else
using Vector = __m256d;
using Bits = __m256i;
PJRT_INLINE Vector Same(double x) { return _mm256_set1_pd(x); }
PJRT_INLINE Vector Fused(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
PJRT_INLINE Vector FusedLess(Vector a, Vector b, Vector c) { return _mm256_fnmadd_pd(a, b, c); }
PJRT_INLINE Vector Fetch(const double (&table)[kEntries], Bits places) {
  return _mm256_i64gather_pd(table, places & _mm256_set1_epi64x(kEntries - 1), 8);
}
PJRT_INLINE Bits ShiftLeft(Bits x, int n) { return _mm256_slli_epi64(x, n); }
PJRT_INLINE Vector Widen(const float* x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
PJRT_INLINE void Narrow(float* to, Vector x) { _mm_storeu_ps(to, _mm256_cvtpd_ps(x)); }
PJRT_INLINE bool HasNegative(Bits floats) { return _mm256_movemask_ps((__m256)floats) != 0; }
PJRT_INLINE Vector Evens(Vector a, Vector b) { return _mm256_unpacklo_pd(a, b); }
PJRT_INLINE Vector Odds(Vector a, Vector b) { return _mm256_unpackhi_pd(a, b); }
#endif
constexpr int64_t kLanes = sizeof(Vector) / sizeof(double);

// Two vectors side by side: the instructions of one are dependent on each other, and more of them
// wait than a core looks at. With single ones, a sine takes 0.73 ns an element instead of 0.66.
struct Doubles {
  Vector a, b;
};
struct Integers {
  Bits a, b;
};
PJRT_INLINE Doubles operator+(Doubles x, Doubles y) { return {x.a + y.a, x.b + y.b}; }
PJRT_INLINE Doubles operator-(Doubles x, Doubles y) { return {x.a - y.a, x.b - y.b}; }
PJRT_INLINE Doubles operator*(Doubles x, Doubles y) { return {x.a * y.a, x.b * y.b}; }
PJRT_INLINE Doubles operator/(Doubles x, Doubles y) { return {x.a / y.a, x.b / y.b}; }
PJRT_INLINE Doubles operator-(Doubles x) { return {-x.a, -x.b}; }
PJRT_INLINE Doubles All(double x) { return {Same(x), Same(x)}; }
PJRT_INLINE Doubles Fused(Doubles x, Doubles y, Doubles z) {
  return {Fused(x.a, y.a, z.a), Fused(x.b, y.b, z.b)};
}
PJRT_INLINE Doubles FusedLess(Doubles x, Doubles y, Doubles z) {
  return {FusedLess(x.a, y.a, z.a), FusedLess(x.b, y.b, z.b)};
}
PJRT_INLINE Doubles Fetch(const double (&table)[kEntries], Integers n) {
  return {Fetch(table, n.a), Fetch(table, n.b)};
}

struct Numbers {
  Doubles re, im;
};
struct Quotients {
  Numbers dividend;
  Doubles divisor;
};

// x * factor to the nearest integer: as a number, and in the last 48 bits of `bits`.
struct Rounded {
  Doubles value;
  Integers bits;
};
PJRT_INLINE Rounded Round(Doubles x, double factor) {
  const Doubles shifted = Fused(x, All(factor), All(wide::kShift));
  return {shifted - All(wide::kShift), {(Bits)shifted.a, (Bits)shifted.b}};
}

// 2^(i/16), as the bits of which i << 48 is taken away: with n << 48 added, the bits of 2^(n/16).
// And 2^(-i/16) with the bits added, from which n << 48 is to be taken away.
struct PowerTables {
  alignas(64) double up[kEntries], down[kEntries];
};
constexpr PowerTables MakePowerTables() {
  constexpr double kPowers[kEntries] = {
      0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
      0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
      0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
      0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
  PowerTables tables = {};
  for (uint64_t i = 0; i < kEntries; ++i) {
    const double inverse = i == 0 ? 1 : kPowers[kEntries - i] / 2;
    tables.up[i] = __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, kPowers[i]) - (i << 48));
    tables.down[i] = __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, inverse) + (i << 48));
  }
  return tables;
}
constexpr PowerTables kPowerTables = MakePowerTables();

// kTimes * (x - r) = n log(2) / 16, for |kTimes * x| < 700.
struct Exponent {
  Doubles r;
  Integers n;
};
template <int kTimes>
PJRT_INLINE Exponent ReduceExponent(Doubles x) {
  const Rounded n = Round(x, 0x1.71547652b82fep+4 * kTimes);
  return {FusedLess(n.value, All(0x1.62e42fefa39efp-5 / kTimes), x), n.bits};
}
PJRT_INLINE Doubles PowerUp(Integers n) {
  const Doubles p = Fetch(kPowerTables.up, n);
  return {(Vector)((Bits)p.a + ShiftLeft(n.a, 48)), (Vector)((Bits)p.b + ShiftLeft(n.b, 48))};
}
PJRT_INLINE Doubles PowerDown(Integers n) {
  const Doubles p = Fetch(kPowerTables.down, n);
  return {(Vector)((Bits)p.a - ShiftLeft(n.a, 48)), (Vector)((Bits)p.b - ShiftLeft(n.b, 48))};
}

// exp(kTimes * x) = scale (1 + part), to 2^-37, or 2^-47 for sums that may cancel.
struct ExpParts {
  Doubles scale, part;
};
template <bool kOfSums, int kTimes = 1>
PJRT_INLINE ExpParts SplitExp(Doubles x) {
  const Exponent e = ReduceExponent<kTimes>(x);
  constexpr double k = kTimes, k2 = k * k;
  Doubles p = All((kOfSums ? 0x1.55573c8ae2c79p-5 : 0x1.555769a55fe7bp-5) * k2 * k2);
  if (kOfSums) p = Fused(e.r, All(0x1.11125001e3ccbp-7 * k2 * k2 * k), p);
  p = Fused(e.r, p, All((kOfSums ? 0x1.555555546bb36p-3 : 0x1.55571d8645484p-3) * k2 * k));
  p = Fused(e.r, p, All((kOfSums ? 0x1.fffffffdbc7a7p-2 : 0x1.fffffffd42ba7p-2) * k2));
  return {PowerUp(e.n), e.r * Fused(e.r, p, All(k))};
}
PJRT_INLINE Doubles PowerOf(const ExpParts& e) { return Fused(e.scale, e.part, e.scale); }
// exp(x) - 1, of which a zero keeps its sign.
PJRT_INLINE Doubles LessOne(const ExpParts& e) {
  return Fused(e.scale, e.part, -(All(1) - e.scale));
}

// What is taken away from products keeps the sign of a zero.
struct Hyperbolic {
  Doubles sinh, cosh;
};
PJRT_INLINE Hyperbolic HyperbolicOf(Doubles x) {
  const Exponent e = ReduceExponent<1>(x);
  const Doubles up = PowerUp(e.n), down = PowerDown(e.n), sum = up + down, less = down - up;
  // Half of those of r.
  const Doubles s = e.r * e.r;
  const Doubles sinh = e.r * Fused(s, All(0x1.5557082d4e40bp-4), All(0.5));
  const Doubles cosh =
      Fused(s, Fused(s, All(0x1.55573c8c8deaap-6), All(0x1.fffffffdbc74ep-3)), All(0.5));
  return {FusedLess(less, cosh, sum * sinh), FusedLess(less, sinh, sum * cosh)};
}

// sin(i pi/8) and the cosine. The zero is such that adding it keeps the sign of the other.
struct AngleTables {
  alignas(64) double sine[kEntries], cosine[kEntries];
};
constexpr double kSine1 = 0x1.87de2a6aea963p-2, kSine2 = 0x1.6a09e667f3bcdp-1;
constexpr double kSine3 = 0x1.d906bcf328d46p-1;
constexpr AngleTables kAngleTables = {{-0.0, kSine1, kSine2, kSine3, 1, kSine3, kSine2, kSine1, 0,
                                       -kSine1, -kSine2, -kSine3, -1, -kSine3, -kSine2, -kSine1},
                                      {1, kSine3, kSine2, kSine1, 0, -kSine1, -kSine2, -kSine3, -1,
                                       -kSine3, -kSine2, -kSine1, 0, kSine1, kSine2, kSine3}};

// x = n pi/8 + r, by the sines and cosines of both, of r kTimes as much. Those of r are good to
// 2^-31 and 2^-39, what the cosine lacks of 1 to 2^-34; where sums may cancel, all to 2^-44.
struct Angle {
  Doubles sine, cosine, r_sine, r_cosine, less;
};
template <bool kOfSums, int kTimes = 1>
PJRT_INLINE Angle AngleOf(Doubles x) {
  const Rounded n = Round(x, 0x1.45f306dc9c883p+1);
  // pi/8 in two parts, the first short enough for exact products.
  const Doubles r =
      FusedLess(n.value, All(0x1.0b4611a626331p-36), FusedLess(n.value, All(0x1.921fb544p-2), x));
  const Doubles s = r * r;
  constexpr double k = kTimes;
  Doubles p = All(0x1.10b7c2d859f8bp-7 * k);
  if (kOfSums) p = Fused(s, All(-0x1.9fac794a0d42ep-13 * k), All(0x1.1111074658ca3p-7 * k));
  p = Fused(s, p, All((kOfSums ? -0x1.55555554567f7p-3 : -0x1.55554449fe6edp-3) * k));
  Doubles q = All((kOfSums ? -0x1.6c16b8a0b04efp-10 : -0x1.6bb688b321fbbp-10) * k);
  if (kOfSums) q = Fused(s, All(0x1.9fbec3df3e7f2p-16 * k), q);
  q = Fused(s, q, All((kOfSums ? 0x1.55555554ca70ap-5 : 0x1.55554a3450fc7p-5) * k));
  q = Fused(s, q, All((kOfSums ? -0x1.fffffffffffaap-2 : -0x1.ffffffff3cb86p-2) * k));
  return {Fetch(kAngleTables.sine, n.bits), Fetch(kAngleTables.cosine, n.bits),
          r * Fused(s, p, All(k)), Fused(s, q, All(k)), s * q};
}
PJRT_INLINE Doubles SinOf(const Angle& angle) {
  return Fused(angle.cosine, angle.r_sine, angle.sine * angle.r_cosine);
}
PJRT_INLINE Doubles CosOf(const Angle& angle) {
  return FusedLess(angle.sine, angle.r_sine, angle.cosine * angle.r_cosine);
}
// cos(x) - 1, which is -0 of 0.
PJRT_INLINE Doubles CosLessOne(const Angle& angle) {
  return Fused(angle.cosine, angle.less, -Fused(angle.sine, angle.r_sine, All(1) - angle.cosine));
}
// cos(x) + 1
PJRT_INLINE Doubles CosAndOne(const Angle& angle) {
  return Fused(angle.cosine, angle.less,
               FusedLess(angle.sine, angle.r_sine, All(1) + angle.cosine));
}

// A function's Run serves parts up to these sizes.
constexpr float kLargestExponent = 650, kLargestSquared = 300, kLargestDoubled = 170;
constexpr float kLargestAngle = wide::kLargestAngle;

struct Exp {
  static constexpr C64 kLargest = {kLargestExponent, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteExp(z); }
  PJRT_INLINE Numbers Run(Numbers z) {
    const Doubles size = PowerOf(SplitExp<false>(z.re));
    const Angle angle = AngleOf<false>(z.im);
    return {size * CosOf(angle), size * SinOf(angle)};
  }
};

// exp(x) cos y - 1 = g cos y + (cos y - 1) with g = exp(x) - 1: no digits of a small cosine are
// lost.
struct Expm1 {
  static constexpr C64 kLargest = {kLargestExponent, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteExpm1(z); }
  PJRT_INLINE Numbers Run(Numbers z) {
    const ExpParts e = SplitExp<true>(z.re);
    const Angle angle = AngleOf<true>(z.im);
    return {Fused(LessOne(e), CosOf(angle), CosLessOne(angle)), PowerOf(e) * SinOf(angle)};
  }
};

struct Sin {
  static constexpr C64 kLargest = {kLargestAngle, kLargestExponent};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteSin(z); }
  PJRT_INLINE Numbers Run(Numbers z) {
    const Angle angle = AngleOf<false>(z.re);
    const Hyperbolic h = HyperbolicOf(z.im);
    return {SinOf(angle) * h.cosh, CosOf(angle) * h.sinh};
  }
};
struct Cos {
  static constexpr C64 kLargest = Sin::kLargest;
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteCos(z); }
  PJRT_INLINE Numbers Run(Numbers z) {
    const Angle angle = AngleOf<false>(z.re);
    const Hyperbolic h = HyperbolicOf(z.im);
    return {CosOf(angle) * h.cosh, -SinOf(angle) * h.sinh};
  }
};

// (g (g + 2) + 4 i p sin y cos y) / (g^2 + 4 p cos(y)^2) with p = exp(2x) and g = p - 1.
PJRT_INLINE Quotients TanhOf(Doubles x, Doubles y) {
  const ExpParts e = SplitExp<false, 2>(x);
  const Angle angle = AngleOf<false, 2>(y);
  const Doubles g = LessOne(e);
  const Doubles cosine = CosOf(angle), product = PowerOf(e) * cosine;
  return {{g * (g + All(2)), product * SinOf(angle)}, Fused(product, cosine, g * g)};
}
struct Tanh {
  static constexpr bool kTurned = false;
  static constexpr C64 kLargest = {kLargestDoubled, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteTanh(z); }
  PJRT_INLINE Quotients Run(Numbers z) { return TanhOf(z.re, z.im); }
};
// tan(z) = -i tanh(iz), whose parts change places when they are stored: before, it takes 0.02 ns
// more.
struct Tan {
  static constexpr bool kTurned = true;
  static constexpr C64 kLargest = {kLargestAngle, kLargestDoubled};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteTan(z); }
  PJRT_INLINE Quotients Run(Numbers z) { return TanhOf(z.im, z.re); }
};

// p (g + 1 + cos y + i sin y) / (g^2 + 2 p (1 + cos y)) with p = exp(x) and g = p - 1: beside the
// pole no term of the divisor loses digits.
struct Logistic {
  static constexpr C64 kLargest = {kLargestSquared, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteLogistic(z); }
  PJRT_INLINE Numbers Run(Numbers z) {
    const ExpParts e = SplitExp<true>(z.re);
    const Angle angle = AngleOf<true>(z.im);
    const Doubles g = LessOne(e), p = PowerOf(e), sum = CosAndOne(angle);
    const Doubles factor = p / Fused(p + p, sum, g * g);
    return {(g + sum) * factor, SinOf(angle) * factor};
  }
};

// Elements that are looked at together.
constexpr int64_t kPiece = 128;

// Whether |x| is beyond; NaN is.
PJRT_INLINE int IsBeyond(float x, float largest) {
  return (ToBits(x) & 0x7fffffffu) > ToBits(largest);
}
template <class Function>
PJRT_INLINE int IsRare(C64 z) {
  return IsBeyond(z.re, Function::kLargest.re) | IsBeyond(z.im, Function::kLargest.im);
}

// Whether any of a whole piece is: their sizes as integers, taken from the largest ones.
template <class Function>
PJRT_INLINE bool HasRare(const C64* z) {
  constexpr int kFloats = sizeof(Vector) / sizeof(float);
  typedef int32_t Sizes __attribute__((vector_size(sizeof(Vector))));
  Sizes largest, any = {};
  for (int i = 0; i < kFloats; i += 2) {
    largest[i] = static_cast<int32_t>(ToBits(Function::kLargest.re));
    largest[i + 1] = static_cast<int32_t>(ToBits(Function::kLargest.im));
  }
  for (int64_t i = 0; i < kPiece; i += kLanes) {
    Sizes bits;
    __builtin_memcpy(&bits, z + i, sizeof(bits));
    any |= largest - (bits & 0x7fffffff);
  }
  return HasNegative((Bits)any);
}

PJRT_INLINE Numbers Load(const C64* from) {
  const float* const in = &from->re;
  const Vector a = Widen(in), b = Widen(in + kLanes);
  const Vector c = Widen(in + 2 * kLanes), d = Widen(in + 3 * kLanes);
  return {{Evens(a, b), Evens(c, d)}, {Odds(a, b), Odds(c, d)}};
}
PJRT_INLINE void Store(C64* to, Numbers z) {
  float* const out = &to->re;
  Narrow(out, Evens(z.re.a, z.im.a));
  Narrow(out + kLanes, Odds(z.re.a, z.im.a));
  Narrow(out + 2 * kLanes, Evens(z.re.b, z.im.b));
  Narrow(out + 3 * kLanes, Odds(z.re.b, z.im.b));
}
constexpr int64_t kStep = 2 * kLanes;

template <class Function>
PJRT_INLINE void RunPiece(C64* to, const C64* from, int64_t count, Numbers (*)(Numbers)) {
  for (int64_t i = 0; i < count; i += kStep) Store(to + i, Function::Run(Load(from + i)));
}
// The divisions of a piece come after all else: with shorter chains of dependent instructions a
// tangent takes 0.66 ns an element instead of 0.70.
template <class Function>
PJRT_INLINE void RunPiece(C64* to, const C64* from, int64_t count, Quotients (*)(Numbers)) {
  Quotients quotients[kPiece / kStep];
  for (int64_t i = 0; i < count; i += kStep) quotients[i / kStep] = Function::Run(Load(from + i));
  for (int64_t i = 0; i < count; i += kStep) {
    const Quotients& q = quotients[i / kStep];
    const Doubles inverse = All(1) / q.divisor;
    const Doubles re = q.dividend.re * inverse, im = q.dividend.im * inverse;
    Store(to + i, Function::kTurned ? Numbers{im, re} : Numbers{re, im});
  }
}

template <class Function>
void Loop(void* dst, const void* a, const void*, const void*, int64_t n) {
  C64* d = static_cast<C64*>(dst);
  const C64* x = static_cast<const C64*>(a);
  for (; n > 0; n -= kPiece, d += kPiece, x += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    C64 kept[kPiece], result[kPiece];
    const bool direct = count == kPiece && !HasRare<Function>(x);
    const C64* from = x;
    C64* to = d;
    if (!direct) {
      for (int64_t i = 0; i < kPiece; ++i) kept[i] = i < count ? x[i] : C64{0, 0};
      from = kept;
      to = result;
    }
    RunPiece<Function>(to, from, count, Function::Run);
    if (direct) continue;
    for (int64_t i = 0; i < count; ++i)
      d[i] = IsRare<Function>(kept[i]) ? Function::RunRare(kept[i]) : result[i];
  }
}

}  // namespace

void FillComplexExp(BlockKernels* k) {
  Entry(k, BlockOp::kExp, CType::kC64) = Loop<Exp>;
  Entry(k, BlockOp::kExpm1, CType::kC64) = Loop<Expm1>;
  Entry(k, BlockOp::kSin, CType::kC64) = Loop<Sin>;
  Entry(k, BlockOp::kCos, CType::kC64) = Loop<Cos>;
  Entry(k, BlockOp::kTan, CType::kC64) = Loop<Tan>;
  Entry(k, BlockOp::kTanh, CType::kC64) = Loop<Tanh>;
  Entry(k, BlockOp::kLogistic, CType::kC64) = Loop<Logistic>;
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
