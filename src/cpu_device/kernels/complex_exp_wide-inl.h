// SPDX-License-Identifier: Apache-2.0
//
// Functions of c64 made of exponentials, sines and cosines, in f64, with tables that a permutation
// reads so that polynomials are short: of what block_complex_exp.cc does not do in f32. Parts are
// within 0.52 ULP but where sums cancel. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_EXP_WIDE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_EXP_WIDE_INL_H_

#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_vectors-inl.h"
#include "src/cpu_device/kernels/double_groups-inl.h"
#include "src/cpu_device/kernels/math_wide-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace doubles {
namespace {

struct Numbers {
  DoubleGroup re, im;
};
struct Quotients {
  Numbers dividend;
  DoubleGroup divisor;
};
struct Products {
  Numbers number;
  DoubleGroup factor;
};

// x * factor to the nearest integer: as a number, and in the last 48 bits of `bits`.
struct Rounded {
  DoubleGroup value;
  WordGroup bits;
};
PJRT_INLINE Rounded Round(DoubleGroup x, double factor) {
  const DoubleGroup shifted = Fused(x, factor, kIntegerShift);
  return {shifted - kIntegerShift, ToWords(shifted)};
}

// What is left of a number, and the last bits of n.
struct Reduced {
  DoubleGroup r;
  WordGroup n;
};
// kTimes * (x - r) = n log(2) / 16, for |kTimes * x| < 700.
template <int kTimes>
PJRT_INLINE Reduced ReduceExponent(DoubleGroup x) {
  const Rounded n = Round(x, 0x1.71547652b82fep+4 * kTimes);
  return {FusedLess(n.value, 0x1.62e42fefa39efp-5 / kTimes, x), n.bits};
}
// 2^(n/16) and 2^(-n/16)
struct Powers {
  DoubleGroup up, down;
};
PJRT_INLINE Powers PowersOf(WordGroup n) {
  const auto bits = EntriesAt<kPowerBits>(n);
  const WordGroup shifted = ShiftedLeft<48>(n);
  return {ToDoubles(ToWords(bits[0]) + shifted), ToDoubles(ToWords(bits[1]) - shifted)};
}

// exp(kTimes * x) = scale (1 + part), to 2^-37, or 2^-47 for sums that may cancel.
struct ExpParts {
  DoubleGroup scale, part;
};
template <bool kOfSums, int kTimes = 1>
PJRT_INLINE ExpParts SplitExp(const Reduced& e) {
  constexpr double k = kTimes, k2 = k * k;
  DoubleGroup p = (kOfSums ? 0x1.55573c8ae2c79p-5 : 0x1.555769a55fe7bp-5) * k2 * k2;
  if (kOfSums) p = Fused(e.r, 0x1.11125001e3ccbp-7 * k2 * k2 * k, p);
  p = Fused(e.r, p, (kOfSums ? 0x1.555555546bb36p-3 : 0x1.55571d8645484p-3) * k2 * k);
  p = Fused(e.r, p, (kOfSums ? 0x1.fffffffdbc7a7p-2 : 0x1.fffffffd42ba7p-2) * k2);
  return {PowersOf(e.n).up, e.r * Fused(e.r, p, k)};
}
PJRT_INLINE DoubleGroup PowerOf(const ExpParts& e) { return Fused(e.scale, e.part, e.scale); }
// exp(x) - 1, of which a zero keeps its sign.
PJRT_INLINE DoubleGroup LessOne(const ExpParts& e) {
  return Fused(e.scale, e.part, -(1 - e.scale));
}

// What is taken away from products keeps the sign of a zero.
struct Hyperbolic {
  DoubleGroup sinh, cosh;
};
PJRT_INLINE Hyperbolic HyperbolicOf(const Reduced& e) {
  const Powers power = PowersOf(e.n);
  const DoubleGroup sum = power.up + power.down, less = power.down - power.up;
  // Half of those of r.
  const DoubleGroup s = e.r * e.r;
  const DoubleGroup sinh = e.r * Fused(s, 0x1.5557082d4e40bp-4, 0.5);
  const DoubleGroup cosh = Fused(s, Fused(s, 0x1.55573c8c8deaap-6, 0x1.fffffffdbc74ep-3), 0.5);
  return {FusedLess(less, cosh, sum * sinh), FusedLess(less, sinh, sum * cosh)};
}

// Adding -0 keeps the sign of another zero.
constexpr Columns<2> kAngles = MakeAngles(-0.0);

// x = n pi/8 + r
PJRT_INLINE Reduced ReduceAngle(DoubleGroup x) {
  const Rounded n = Round(x, 0x1.45f306dc9c883p+1);
  // pi/8 in two parts, the first short enough for exact products.
  return {FusedLess(n.value, 0x1.0b4611a626331p-36, FusedLess(n.value, 0x1.921fb544p-2, x)),
          n.bits};
}
// The same by the sines and cosines of both, of r kTimes as much. Those of r are good to
// 2^-31 and 2^-39, what the cosine lacks of 1 to 2^-34; where sums may cancel, all to 2^-44.
struct Angle {
  DoubleGroup sine, cosine, r_sine, r_cosine, less;
};
template <bool kOfSums, int kTimes = 1>
PJRT_INLINE Angle AngleOf(const Reduced& x) {
  const DoubleGroup r = x.r, s = r * r;
  constexpr double k = kTimes;
  DoubleGroup p = 0x1.10b7c2d859f8bp-7 * k;
  if (kOfSums) p = Fused(s, -0x1.9fac794a0d42ep-13 * k, 0x1.1111074658ca3p-7 * k);
  p = Fused(s, p, (kOfSums ? -0x1.55555554567f7p-3 : -0x1.55554449fe6edp-3) * k);
  DoubleGroup q = (kOfSums ? -0x1.6c16b8a0b04efp-10 : -0x1.6bb688b321fbbp-10) * k;
  if (kOfSums) q = Fused(s, 0x1.9fbec3df3e7f2p-16 * k, q);
  q = Fused(s, q, (kOfSums ? 0x1.55555554ca70ap-5 : 0x1.55554a3450fc7p-5) * k);
  q = Fused(s, q, (kOfSums ? -0x1.fffffffffffaap-2 : -0x1.ffffffff3cb86p-2) * k);
  const auto far = EntriesAt<kAngles>(x.n);
  const DoubleGroup less = s * q;
  return {far[0], far[1], r * Fused(s, p, k), kOfSums ? less + k : Fused(s, q, k), less};
}
PJRT_INLINE DoubleGroup SinOf(const Angle& angle) {
  return Fused(angle.cosine, angle.r_sine, angle.sine * angle.r_cosine);
}
PJRT_INLINE DoubleGroup CosOf(const Angle& angle) {
  return FusedLess(angle.sine, angle.r_sine, angle.cosine * angle.r_cosine);
}

// A function's Run serves parts up to these sizes, for exp(kTimes * x) of one part, the angle being
// the other one.
constexpr float kLargestExponent = 650, kLargestSquared = 300, kLargestDoubled = 170;
constexpr float kLargestAngle = wide::kLargestAngle;

struct Exp {
  static constexpr bool kAngleFirst = false, kTurned = false;
  static constexpr int kTimes = 1;
  static constexpr C64 kLargest = {kLargestExponent, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteExp(z); }
  PJRT_INLINE Numbers Run(const Reduced& x, const Reduced& y) {
    const DoubleGroup size = PowerOf(SplitExp<false>(x));
    const Angle angle = AngleOf<false>(y);
    return {size * CosOf(angle), size * SinOf(angle)};
  }
};

// exp(x) cos y - 1 as the difference of two sums: with (1 + part) scale = exp(x) and the sines and
// cosines s and c of the angle's place, c (scale part + exp(x) (cos r - 1)), and 1 - c scale +
// exp(x) s sin r, of which the first terms are 0 beside 0. No digits of a small cosine are lost,
// and zeros keep their signs.
struct Expm1 {
  static constexpr bool kAngleFirst = false, kTurned = false;
  static constexpr int kTimes = 1;
  static constexpr C64 kLargest = {kLargestExponent, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteExpm1(z); }
  PJRT_INLINE Numbers Run(const Reduced& x, const Reduced& y) {
    const ExpParts e = SplitExp<true>(x);
    const Angle angle = AngleOf<true>(y);
    const DoubleGroup more = e.scale * e.part, power = e.scale + more;
    const DoubleGroup near = Fused(power, angle.less, more);
    const DoubleGroup far = FusedLess(angle.cosine, e.scale, 1);
    const DoubleGroup less = Fused(power, angle.sine * angle.r_sine, far);
    return {FusedFrom(angle.cosine, near, less), power * SinOf(angle)};
  }
};

struct Sin {
  static constexpr bool kAngleFirst = true, kTurned = false;
  static constexpr int kTimes = 1;
  static constexpr C64 kLargest = {kLargestAngle, kLargestExponent};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteSin(z); }
  PJRT_INLINE Numbers Run(const Reduced& x, const Reduced& y) {
    const Angle angle = AngleOf<false>(y);
    const Hyperbolic h = HyperbolicOf(x);
    return {SinOf(angle) * h.cosh, CosOf(angle) * h.sinh};
  }
};
struct Cos {
  static constexpr bool kAngleFirst = true, kTurned = false;
  static constexpr int kTimes = 1;
  static constexpr C64 kLargest = Sin::kLargest;
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteCos(z); }
  PJRT_INLINE Numbers Run(const Reduced& x, const Reduced& y) {
    const Angle angle = AngleOf<false>(y);
    const Hyperbolic h = HyperbolicOf(x);
    return {CosOf(angle) * h.cosh, -SinOf(angle) * h.sinh};
  }
};

// (g (g + 2) + 4 i p sin y cos y) / (g^2 + 4 p cos(y)^2) with p = exp(2x) and g = p - 1.
PJRT_INLINE Quotients TanhOf(const Reduced& x, const Reduced& y) {
  const ExpParts e = SplitExp<false, 2>(x);
  const Angle angle = AngleOf<false, 2>(y);
  const DoubleGroup g = LessOne(e);
  const DoubleGroup cosine = CosOf(angle), product = PowerOf(e) * cosine;
  return {{g * (g + 2), product * SinOf(angle)}, Fused(product, cosine, g * g)};
}
struct Tanh {
  static constexpr bool kAngleFirst = false, kTurned = false;
  static constexpr int kTimes = 2;
  static constexpr C64 kLargest = {kLargestDoubled, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteTanh(z); }
  PJRT_INLINE Quotients Run(const Reduced& x, const Reduced& y) { return TanhOf(x, y); }
};
// tan(z) = -i tanh(iz), whose parts change places when they are stored: before, it takes 0.02 ns
// more.
struct Tan {
  static constexpr bool kAngleFirst = true, kTurned = true;
  static constexpr int kTimes = 2;
  static constexpr C64 kLargest = {kLargestAngle, kLargestDoubled};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteTan(z); }
  PJRT_INLINE Quotients Run(const Reduced& x, const Reduced& y) { return TanhOf(x, y); }
};

// p (v + i sin y) / (v^2 + sin(y)^2) with p = exp(x) and v = p + cos y: first what tables have of
// both is added, which is 0 beside the pole, so that v keeps its digits there.
struct Logistic {
  static constexpr bool kAngleFirst = false, kTurned = false;
  static constexpr int kTimes = 1;
  static constexpr C64 kLargest = {kLargestSquared, kLargestAngle};
  PJRT_INLINE C64 RunRare(C64 z) { return complexes::CompleteLogistic(z); }
  PJRT_INLINE Products Run(const Reduced& x, const Reduced& y) {
    const ExpParts e = SplitExp<true>(x);
    const Angle angle = AngleOf<true>(y);
    const DoubleGroup far = FusedLess(angle.sine, angle.r_sine, e.scale + angle.cosine);
    const DoubleGroup v = Fused(e.scale, e.part, Fused(angle.cosine, angle.less, far));
    const DoubleGroup sine = SinOf(angle);
    // Here there is more to be done beside a division than where it is needed.
    return {{v, sine}, PowerOf(e) / Fused(v, v, sine * sine)};
  }
};

// Elements that are looked at together.
constexpr int64_t kPiece = 32;

// Whether |x| is beyond; NaN is.
PJRT_INLINE int IsBeyond(float x, float largest) {
  return (ToBits(x) & 0x7fffffffu) > ToBits(largest);
}
template <class Function>
PJRT_INLINE int IsRare(C64 z) {
  return IsBeyond(z.re, Function::kLargest.re) | IsBeyond(z.im, Function::kLargest.im);
}

// Whether any of a whole piece is: by their sizes as integers.
template <class Function>
PJRT_INLINE bool HasRare(const C64* z) {
  constexpr int kFloats = sizeof(Doubles) / sizeof(float);
  typedef int32_t Sizes __attribute__((vector_size(sizeof(Doubles))));
  Sizes limits, largest = {};
  for (int i = 0; i < kFloats; i += 2) {
    limits[i] = static_cast<int32_t>(ToBits(Function::kLargest.re));
    limits[i + 1] = static_cast<int32_t>(ToBits(Function::kLargest.im));
  }
  for (int64_t i = 0; i < kPiece; i += kDoubles) {
    Sizes bits;
    __builtin_memcpy(&bits, z + i, sizeof(bits));
    bits &= 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  const Words beyond = (Words)(limits - largest);
  // Of each two the upper sign is that of a number of f64.
  return Lanes(IsNegative((Doubles)(beyond | ShiftedLeft<32>(beyond)))) != 0;
}

PJRT_INLINE Numbers Load(const C64* from) {
  Numbers z;
  for (int i = 0; i < kWays; ++i) {
    const Parts parts = LoadParts(from + i * kDoubles);
    z.re.v[i] = parts.re;
    z.im.v[i] = parts.im;
  }
  return z;
}
PJRT_INLINE void Store(C64* to, Numbers z) {
  for (int i = 0; i < kWays; ++i) StoreParts(to + i * kDoubles, {z.re.v[i], z.im.v[i]});
}

PJRT_INLINE Numbers Finish(const Numbers& z, bool) { return z; }
PJRT_INLINE Numbers Finish(const Products& p, bool) {
  return {p.number.re * p.factor, p.number.im * p.factor};
}
PJRT_INLINE Numbers Finish(const Quotients& q, bool turned) {
  const DoubleGroup inverse = 1 / q.divisor;
  const DoubleGroup re = q.dividend.re * inverse, im = q.dividend.im * inverse;
  return turned ? Numbers{im, re} : Numbers{re, im};
}
// Loops of three steps: what a processor looks ahead holds more vectors of a short step. Tangents
// take 0.68 ns an element instead of 0.70, with AVX2 1.42 instead of 1.64; in pieces of 128
// elements, 0.85.
template <class Function>
PJRT_INLINE void RunPiece(C64* to, const C64* from, const Beside& beside) {
  constexpr int64_t kSteps = kPiece / kLanes;
  struct State {
    Reduced exponent, angle;
  } states[kSteps];
  decltype(Function::Run(Reduced(), Reduced())) results[kSteps];
  for (int64_t i = 0; i < kSteps; ++i) {
    const Numbers z = Load(from + i * kLanes);
    states[i] = {ReduceExponent<Function::kTimes>(Function::kAngleFirst ? z.im : z.re),
                 ReduceAngle(Function::kAngleFirst ? z.re : z.im)};
  }
  for (int64_t i = 0; i < kSteps; ++i) {
    results[i] = Function::Run(states[i].exponent, states[i].angle);
    GoOn<kLanes * sizeof(C64)>(beside);
  }
  for (int64_t i = 0; i < kSteps; ++i)
    Store(to + i * kLanes, Finish(results[i], Function::kTurned));
}

template <class Function>
void Loop(void* dst, const void* a, const void*, const void* c, int64_t n) {
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
    RunPiece<Function>(to, from, BesideOf(c));
    if (direct) continue;
    for (int64_t i = 0; i < count; ++i)
      d[i] = IsRare<Function>(kept[i]) ? Function::RunRare(kept[i]) : result[i];
  }
}

}  // namespace
}  // namespace doubles
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_EXP_WIDE_INL_H_
