// SPDX-License-Identifier: Apache-2.0
//
// Exponentials minus 1, logistic functions and tangents of c128 numbers, as those of
// block_complex_tables_c128.cc. Numbers are taken in two parts where sums may cancel, so that
// little is left to do where they do not; elements where much of them does go a longer way. Largest
// errors seen in a part of which a 32nd of its terms or more is left, over some 10^7 numbers:
// Expm1 2.1, Logistic 2.3, Tan and Tanh 1.7 ULP, or 2.4 where that is a denormal. On an Emerald
// Rapids they take 1.9, 2.5 and 2.4 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_tables_c128-inl.h"
#include "src/cpu_device/kernels/exact_tables-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// 2^(i/16), as the bits of which i << 48 is taken away: with k << 48 added, the bits of 2^(k/16).
// And what the entries lost, over them.
constexpr Columns<2> MakePowerBits() {
  Columns<2> bits = kPowers;
  for (uint64_t i = 0; i < 16; ++i) {
    const uint64_t power = __builtin_bit_cast(uint64_t, kPowers.column[0].entry[i]);
    bits.column[0].entry[i] = __builtin_bit_cast(double, power - (i << 48));
  }
  return bits;
}
constexpr Columns<2> kPowerBits = MakePowerBits();

PJRT_INLINE PairGroup Normal(DoubleGroup high, DoubleGroup low) {
  const DoubleGroup sum = high + low;
  return {sum, low - (sum - high)};
}

// exp(x) for |x| < 708, to 2^-58; the second part is up to 0.03 of the first.
PJRT_INLINE PairGroup ExpPairOf(DoubleGroup x) {
  const Multiple m = MultipleOf(x);
  const auto powers = EntriesAt<kPowerBits>(ToWords(m.shifted));
  const DoubleGroup p = ToDoubles(ToWords(powers[0]) + ShiftedLeft<48>(ToWords(m.shifted)));
  const DoubleGroup r = m.r, r2 = r * r;
  return {p, p * (r + Fused(r2, ExpSeries(r, r2), powers[1]))};
}
// exp(x) = 2^n power (1 + (r + more)), to 2^-64.
struct PreciseExp {
  DoubleGroup n, power, r, more;
};
PJRT_INLINE PreciseExp PreciseExpOf(DoubleGroup x) {
  const Multiple m = MultipleOf(x);
  const auto powers = EntriesAt<kPowers>(ToWords(m.shifted));
  const DoubleGroup r = m.r, r2 = r * r;
  const DoubleGroup g01 = Fused(r, 0x1.5555555555556p-3, 0.5);
  const DoubleGroup g23 = Fused(r, 0x1.11111110e10a7p-7, 0x1.55555554e9466p-5);
  const DoubleGroup g45 = Fused(r, 0x1.a01b0c2efda80p-13, 0x1.6c17ed4cebd18p-10);
  const DoubleGroup g = Fused(r2, Fused(r2, g45, g23), g01), rest = powers[1];
  return {Floor(m.k * 0x1p-4), powers[0], r, Fused(r2, g, Fused(rest, r, rest) + m.tail)};
}

// The product of both functions' parts, less 1.
struct Expm1 {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutside(z.re, z.im); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z, MaskGroup* marked) {
    const PairGroup e = ExpPairOf(z.re);
    const UnitPoint a = UnitPointOf(z.im);
    const DoubleGroup c = Turned(a.cosine.high, a.turn), c_low = Turned(a.cosine.low, a.turn);
    const DoubleGroup product = e.high * c, lost = Fused(e.high, c, -product);
    const DoubleGroup low = Fused(e.low, c + c_low, Fused(e.high, c_low, lost));
    const DoubleGroup re = (product - 1.0) + low;
    // A real part below 2^-8 may have lost digits if it is not four times as large as 1 - cos y. 0
    // is one of these.
    const DoubleGroup less = (DoubleGroup(1.0) - c) - c_low;
    const DoubleGroup bound = Smaller(DoubleGroup(0x1p-8), less * 4.0);
    *marked = Either(IsRare(z), Compare<_CMP_NLT_UQ>(bound, Magnitude(re)));
    const DoubleGroup im = RoundedProduct(a.sine, e);
    return {re, WithSign(im, Turned(a.sine.high, a.turn))};
  }
  // Much of the sums may cancel, so that they are taken with what they lose.
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const PreciseExp e = PreciseExpOf(z.re);
    const SineCosine sc = SineCosineOf<true>(z.im);
    const DoubleGroup power = ScaledInside(e.power, e.n), more = power * e.more;
    const DoubleGroup c = Turned(sc.cosine.high, sc.turn), d = Turned(sc.cosine.low, sc.turn);
    const DoubleGroup middle = Turned(sc.middle, sc.turn);
    const DoubleGroup first = power * c, first_low = Fused(power, c, -first);
    const DoubleGroup linear = power * e.r, linear_low = Fused(power, e.r, -linear);
    const DoubleGroup second = linear * c, second_low = Fused(linear, c, -second);
    const PairGroup less = AnySum(first, -1.0), third = AnySum(less.high, power * middle);
    const PairGroup sum = AnySum(third.high, second);
    const DoubleGroup after = middle + d;
    const DoubleGroup lost = Fused(linear, after, first_low + second_low);
    const DoubleGroup rest = Fused(linear_low + more, c + after, Fused(power, d, lost));
    const DoubleGroup re = sum.high + ((sum.low + less.low) + (third.low + rest));
    const DoubleGroup s = sc.sine.high, product = power * s, s_lost = Fused(power, s, -product);
    const DoubleGroup im =
        product + Fused(linear + more, s + sc.sine.low, Fused(power, sc.sine.low, s_lost));
    // Of x = 0 the real part is -y^2 / 2, however small.
    const DoubleGroup zero = Choose(Compare<_CMP_EQ_OQ>(z.im, 0.0), z.re, -0.0);
    return {Choose(Compare<_CMP_EQ_OQ>(re, 0.0), zero, re), WithSign(im, Turned(s, sc.turn))};
  }
};

// exp(-x) 2^-scale, and 1 - exp(-x), of x >= 0.
struct OneLess {
  PairGroup power, less;
  DoubleGroup scale;
};
PJRT_INLINE OneLess OneLessOf(DoubleGroup x) {
  constexpr double kLeast = -900;
  const PreciseExp e = PreciseExpOf(-Smaller(x, 1300.0));
  const DoubleGroup p = ScaledInside(e.power, Larger(e.n, kLeast)), u = Fused(p, e.r, p);
  const DoubleGroup base = DoubleGroup(1.0) - p, lost = (DoubleGroup(1.0) - base) - p;
  const DoubleGroup v = FusedLess(p, e.r, base);
  return {Normal(u, Fused(p, e.more, Fused(p, e.r, p - u))),
          Normal(v, FusedLess(p, e.more, FusedLess(p, e.r, base - v) + lost)),
          Smaller(e.n - kLeast, 0.0)};
}
// Of an angle y and u = exp(-x), v = 1 - u: 2 u cos(y)^2, u sin y cos y and v^2 + 4 u cos(y)^2.
struct OverPole {
  OneLess of_x;
  PairGroup twice_squared, turning, divisor;
  DoubleGroup inverse;
};
PJRT_INLINE OverPole OverPoleOf(DoubleGroup x, DoubleGroup y) {
  OverPole o;
  o.of_x = OneLessOf(x);
  const SineCosine sc = SineCosineOf(y);
  const PairGroup u = o.of_x.power, cosine = Normal(sc.cosine.high, sc.cosine.low);
  const PairGroup part = Times(u, cosine), b = Times(part, cosine);
  o.twice_squared = {b.high * 2.0, b.low * 2.0};
  o.turning = Times(part, sc.sine);
  o.divisor = Sum(Square(o.of_x.less), {b.high * 4.0, b.low * 4.0});
  o.inverse = DoubleGroup(1.0) / o.divisor.high;
  return o;
}
PJRT_INLINE MaskGroup IsOutsideOfTanh(DoubleGroup x, DoubleGroup angle) {
  return Either(Compare<_CMP_NLT_UQ>(Magnitude(x), 1e300),
                Compare<_CMP_NLE_UQ>(Magnitude(angle), kLargestAngle));
}
// x may be so large that exp(x) is beyond the range, or an angle is, or `small` is not below
// `large`.
struct Watched {
  DoubleGroup x, angle, small, large;
};
constexpr double kOfSquare = kLargestAngle / (680.0 * 680);
PJRT_INLINE MaskGroup AreFar(const Watched& w) {
  const DoubleGroup size = Fused(w.x * w.x, kOfSquare, Magnitude(w.angle));
  return Either(Compare<_CMP_NLE_UQ>(size, kLargestAngle), Compare<_CMP_NLE_UQ>(w.small, w.large));
}
// Whether any of them is. The sum of squares has the NaNs of all x, and `large` those of angles.
PJRT_INLINE bool AnyFar(const Watched& w) {
  Doubles squares = w.x.v[0] * w.x.v[0];
  if constexpr (kWays > 1) squares = Fused(w.x.v[kWays - 1], w.x.v[kWays - 1], squares);
  const Doubles turn = LargestSize(w.angle.v[0], w.angle.v[kWays - 1]);
  const MaskGroup outside = Compare<_CMP_NLE_UQ>(w.small, w.large);
  return Any(Either(outside.v[0], outside.v[kWays - 1]),
             Compare<_CMP_NLE_UQ>(Fused(squares, All(kOfSquare), turn), All(kLargestAngle)));
}

// 1 / (1 + exp(-z)): for u = exp(-|x|), left of 0 the real part is L = u + cos y over D = u + 1 / u
// + 2 cos y, and right of it 1 less that; the imaginary one is sin y over D.
struct Logistic {
  static constexpr int kKept = 10;
  enum {
    kX,
    kY,
    kMostSine,
    kLessSine,
    kMostCosine,
    kMoreCosine,
    kPower,
    kInverse,
    kMost,
    kMore,
    kPart = kMostCosine,
    kMorePart = kMoreCosine
  };
  // Elements where less than that part of u is left of D, or left of 0 of L, go another way.
  static constexpr double kLeast = 0x1p-4;
  // Where RunCarefully takes over.
  static constexpr double kPole = 0x1p-3;
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) {
    double kept[kKept * kLanes];
    Watched w;
    Begin({WithSign(Smaller(Magnitude(z.re), 680.0), z.re), z.im}, Kept{kept});
    Go(Kept{kept});
    End(Kept{kept}, &w);
    return Either(IsOutsideOfTanh(z.re, z.im), Both(Compare<_CMP_GT_OQ>(w.small, w.large),
                                                    Compare<_CMP_GT_OQ>(Kept{kept}[kMost], kPole)));
  }
  PJRT_INLINE void Begin(ComplexGroup z, Kept kept) {
    const TurnedAngle a = TurnedAngleOf<true>(z.im);
    const DoubleGroup s = a.sine, c = a.cosine, r = a.r;
    const DoubleGroup sine = Fused(c, r, s), less = FusedLess(c, r, sine - s);
    const DoubleGroup cosine = FusedLess(s, r, c), more = FusedLess(s, r, c - cosine);
    kept.Put(kX, z.re);
    kept.Put(kY, z.im);
    kept.Put(kMostSine, sine);
    // Of 0 it is +0.
    kept.Put(kLessSine, FusedLess(s, a.less_cosine, FusedLess(c, a.more_sine, less)));
    kept.Put(kMostCosine, cosine);
    kept.Put(kMoreCosine, FusedLess(s, a.more_sine, Fused(c, a.less_cosine, more)));
  }
  PJRT_INLINE void Go(Kept kept) {
    const SplitPower h = SplitPowerOf<kWholePowers>(Magnitude(kept[kX]));
    const DoubleGroup c = kept[kMostCosine], more_cosine = kept[kMoreCosine],
                      sinh = h.r + h.more_sinh;
    const DoubleGroup part = h.down + c;
    const DoubleGroup more_part = Fused(h.down, h.less_cosh - sinh, more_cosine);
    const DoubleGroup least = part + c, most = least + h.up;
    const DoubleGroup rest = ((h.up - most) + least) + more_part;
    const DoubleGroup more = Fused(h.up, h.less_cosh + sinh, more_cosine) + rest;
    kept.Put(kPart, part);
    kept.Put(kMorePart, more_part);
    kept.Put(kPower, h.down);
    kept.Put(kInverse, DoubleGroup(1.0) / (most + more));
    kept.Put(kMost, most);
    kept.Put(kMore, more);
  }
  PJRT_INLINE ComplexGroup End(Kept kept, Watched* watched) {
    const DoubleGroup inverse = kept[kInverse], most = kept[kMost], x = kept[kX];
    const DoubleGroup lost = FusedLess(inverse, kept[kMore], FusedLess(inverse, most, 1.0));
    const DoubleGroup part = kept[kPart], sine = kept[kMostSine];
    const MaskGroup left = IsNegative(x);
    const DoubleGroup quotient = Fused(part, inverse, Fused(part, lost, kept[kMorePart]) * inverse);
    const DoubleGroup less = FusedLess(sine, lost, kept[kLessSine]) * inverse;
    const DoubleGroup least = Choose(left, Smaller(Magnitude(part), most), most);
    *watched = {x, kept[kY], kept[kPower] * kLeast, least};
    return {Choose(left, quotient, DoubleGroup(1.0) - quotient), FusedFrom(sine, inverse, less)};
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const OverPole o = OverPoleOf(Magnitude(z.re), z.im * 0.5);
    const PairGroup u = o.of_x.power, v = o.of_x.less, w = o.twice_squared;
    const MaskGroup is_left = Compare<_CMP_LT_OQ>(z.re, 0.0);
    const PairGroup right = Sum(v, w);
    // 2 u cos(y / 2)^2 - u v.
    const PairGroup less = Times(u, v), sum = AnySum(w.high, -less.high);
    const PairGroup left = {sum.high, sum.low + (w.low - less.low)};
    const PairGroup part = {Choose(is_left, left.high, right.high),
                            Choose(is_left, left.low, right.low)};
    const DoubleGroup re = Quotient(part, o.divisor, o.inverse);
    const DoubleGroup im = Quotient(o.turning, o.divisor, o.inverse) * 2.0;
    return {Choose(is_left, ScaledInside(re, o.of_x.scale), re),
            WithSign(ScaledInside(im, o.of_x.scale), o.turning.high)};
  }
};

// sinh 2x and sin 2y over cosh 2x + cos 2y.
struct Tanh {
  static constexpr int kKept = 9;
  static constexpr double kPole = 0x1p-6;
  enum {
    kX,
    kY,
    kMostSine,
    kLessSine,
    kMostCosine,
    kMoreCosine,
    kSinh,
    kMoreSinh,
    kInverse,
    kMost = kMostCosine,
    kMore = kMoreCosine
  };
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutsideOfTanh(z.re, z.im); }
  PJRT_INLINE void Begin(ComplexGroup z, Kept kept) {
    const DoubleGroup x = z.re + z.re, y = z.im + z.im;
    const TurnedAngle a = TurnedAngleOf<false>(y);
    const DoubleGroup s = a.sine, c = a.cosine, r = a.r;
    const DoubleGroup sine = Fused(c, r, s), less = FusedLess(c, r, sine - s);
    kept.Put(kX, x);
    kept.Put(kY, y);
    kept.Put(kMostSine, sine);
    // Of 0 it is +0.
    kept.Put(kLessSine, FusedLess(s, a.less_cosine, FusedLess(c, a.more_sine, less)));
    const DoubleGroup cosine = FusedLess(s, r, c), more = FusedLess(s, r, c - cosine);
    kept.Put(kMostCosine, cosine);
    kept.Put(kMoreCosine, FusedLess(s, a.more_sine, Fused(c, a.less_cosine, more)));
  }
  PJRT_INLINE void Go(Kept kept) {
    const SplitPower h = SplitPowerOf<kHalfPowers>(Magnitude(kept[kX]));
    const DoubleGroup s = h.up - h.down, c = h.up + h.down, r = h.r;
    const DoubleGroup sinh = Fused(c, r, s), lost = Fused(c, r, s - sinh);
    kept.Put(kSinh, sinh);
    kept.Put(kMoreSinh, Fused(s, h.less_cosh, Fused(c, h.more_sinh, lost)));
    // Beside a pole both sums are exact.
    const DoubleGroup least = kept[kMostCosine] + h.down, most = least + h.up;
    const DoubleGroup rest = Fused(c, h.less_cosh, (h.up - most) + least);
    const DoubleGroup more = Fused(s, r, Fused(s, h.more_sinh, rest)) + kept[kMoreCosine];
    const DoubleGroup inverse = DoubleGroup(1.0) / (most + more);
    kept.Put(kInverse, inverse);
    kept.Put(kMost, most);
    kept.Put(kMore, more);
  }
  PJRT_INLINE ComplexGroup End(Kept kept, Watched* watched) {
    const DoubleGroup inverse = kept[kInverse], x = kept[kX];
    const DoubleGroup lost = FusedLess(inverse, kept[kMore], FusedLess(inverse, kept[kMost], 1.0));
    const DoubleGroup s = kept[kSinh], sine = kept[kMostSine];
    const DoubleGroup re = Fused(s, inverse, Fused(s, lost, kept[kMoreSinh]) * inverse);
    const DoubleGroup less = FusedLess(sine, lost, kept[kLessSine]) * inverse;
    *watched = {x, kept[kY], inverse, 1 / kPole};
    return {WithSign(re, x), FusedFrom(sine, inverse, less)};
  }
  // v (1 + u) and 4 u sin y cos y over v^2 + 4 u cos(y)^2, with v = 1 - u.
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const OverPole o = OverPoleOf(Magnitude(z.re) * 2.0, z.im);
    const PairGroup above = Sum({1.0, 0.0}, o.of_x.power);
    const DoubleGroup re = Quotient(Times(o.of_x.less, above), o.divisor, o.inverse);
    const DoubleGroup im = Quotient(o.turning, o.divisor, o.inverse) * 4.0;
    return {WithSign(re, z.re), WithSign(ScaledInside(im, o.of_x.scale), o.turning.high)};
  }
};
// tan(z) = -i tanh(iz).
PJRT_INLINE ComplexGroup Swapped(ComplexGroup z) { return {z.im, z.re}; }
struct Tan {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return Tanh::IsRare(Swapped(z)); }
  static constexpr int kKept = Tanh::kKept;
  PJRT_INLINE void Begin(ComplexGroup z, Kept kept) { Tanh::Begin(Swapped(z), kept); }
  PJRT_INLINE void Go(Kept kept) { Tanh::Go(kept); }
  PJRT_INLINE ComplexGroup End(Kept kept, Watched* watched) {
    return Swapped(Tanh::End(kept, watched));
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    return Swapped(Tanh::RunCarefully(Swapped(z)));
  }
};

// Functions in three steps, each of them for several groups: of short loops more iterations overlap
// than of a long one. Function::Begin keeps groups, Function::Go goes on with them and
// Function::End gives the result, with marks as those of RunMarking. What is beside goes on in the
// first two, which made tanh 46 -> 43 ms for 256 MiB.
template <class Function, C128 (*kComplete)(C128)>
PJRT_INLINE void RunInThreeSteps(C128* to, const C128* from, int64_t count, const Beside& beside) {
  constexpr int64_t kTogether = 128 / kLanes, kStride = Function::kKept * kLanes;
  alignas(64) double kept[kTogether * kStride];
  for (; count > 0; count -= kTogether, to += kTogether * kLanes, from += kTogether * kLanes) {
    const int64_t groups = count < kTogether ? count : kTogether;
    for (int64_t i = 0; i < groups; ++i) {
      Function::Begin(LoadComplexes(from + i * kLanes), Kept{kept + i * kStride});
      GoOn<kFirstHalf<kGroupBytes>>(beside);
    }
    for (int64_t i = 0; i < groups; ++i) {
      Function::Go(Kept{kept + i * kStride});
      GoOn<kGroupBytes - kFirstHalf<kGroupBytes>>(beside);
    }
    for (int64_t i = 0; i < groups; ++i) {
      C128* const d = to + i * kLanes;
      Watched watched;
      const ComplexGroup result = Function::End(Kept{kept + i * kStride}, &watched);
      if (__builtin_expect(AnyFar(watched), 0)) {
        StoreAllButMarked<Function, kComplete>(d, from + i * kLanes, result, AreFar(watched));
      } else {
        StoreComplexes(d, result);
      }
    }
  }
}
template <class Function, C128 (*kComplete)(C128)>
void LoopInThreeSteps(void* dst, const void* a, const void*, const void* c, int64_t n) {
  OverGroups<RunInThreeSteps<Function, kComplete>>(dst, a, c, n);
}

}  // namespace

void FillComplexTanhC128(BlockKernels* k) {
  using namespace complexes;
  BesideEntry(k, BlockOp::kExpm1, CType::kC128) = MarkingLoop<Expm1, CompleteExpm1>;
  BesideEntry(k, BlockOp::kLogistic, CType::kC128) = LoopInThreeSteps<Logistic, CompleteLogistic>;
  BesideEntry(k, BlockOp::kTanh, CType::kC128) = LoopInThreeSteps<Tanh, CompleteTanh>;
  BesideEntry(k, BlockOp::kTan, CType::kC128) = LoopInThreeSteps<Tan, CompleteTan>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
