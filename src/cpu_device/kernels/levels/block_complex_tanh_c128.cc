// SPDX-License-Identifier: Apache-2.0
//
// Exponentials minus 1, logistic functions and tangents of c128 numbers, as those of
// block_complex_tables_c128.cc. Of logistic functions exponentials and cosines are cut into two
// parts, of which the products of the first are exact, so that little is left to do where nothing
// cancels; elements where it does go a longer way. Largest errors seen in a part of which a 32nd of
// its terms or more is left, over some 10^7 numbers: Expm1 2.1, Logistic 1.6, or 4.1 beside the
// zeros of its real part left of -17, Tan and Tanh 1.3 ULP, or 2.4 where that is a denormal. On an
// Emerald Rapids they take 1.9, 3.0 and 2.7 ns an element.
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

// Numbers whose first parts have so few digits that the products of two are exact.
struct CutGroup {
  DoubleGroup high, low;
};
// The multiple of 2^-25 next to x.
PJRT_INLINE DoubleGroup OnGrid(DoubleGroup x) {
  constexpr double kShift = 0x1.8p+27;
  return (x + kShift) - kShift;
}
// The same number with the first part OnGrid.
PJRT_INLINE CutGroup OnGrid(CutGroup x) {
  const DoubleGroup high = OnGrid(x.high);
  return {high, (x.high - high) + x.low};
}
// exp(x) for |x| < 708, to 2^-58.
PJRT_INLINE CutGroup CutExpOf(DoubleGroup x) {
  const Multiple m = MultipleOf(x);
  const auto powers = EntriesAt<kPowerBits>(ToWords(m.shifted));
  const DoubleGroup p = ToDoubles(ToWords(powers[0]) + ShiftedLeft<48>(ToWords(m.shifted)));
  const DoubleGroup r = m.r, r2 = r * r, more = Fused(r2, ExpSeries(r, r2), powers[1]);
  const DoubleGroup high = CutOff<26>(Fused(p, r, p));
  return {high, Fused(p, r + more, p - high)};
}
// The same, where the second part is up to 0.03 of the first.
PJRT_INLINE PairGroup ExpPairOf(DoubleGroup x) {
  const Multiple m = MultipleOf(x);
  const auto powers = EntriesAt<kPowerBits>(ToWords(m.shifted));
  const DoubleGroup p = ToDoubles(ToWords(powers[0]) + ShiftedLeft<48>(ToWords(m.shifted)));
  const DoubleGroup r = m.r, r2 = r * r;
  return {p, p * (r + Fused(r2, ExpSeries(r, r2), powers[1]))};
}
// The sine but for its sign, which `side` has, and the cosine.
struct CutAngle {
  CutGroup sine, cosine;
  DoubleGroup side;
};
PJRT_INLINE CutAngle CutAngleOf(DoubleGroup x) {
  const PointAngle angle = PointAngleOf(x);
  const DoubleGroup s = angle.sine, c = angle.cosine, r = angle.r;
  const auto [more_sine, less_cosine] = SmallAngleOf(r, angle.tail);
  const DoubleGroup most = Fused(c, r, s);
  const DoubleGroup sine = CutOff<26>(most), cosine = OnGrid(FusedLess(s, r, c));
  const DoubleGroup sine_lost = Fused(c, r, s - sine), cosine_lost = FusedLess(s, r, c - cosine);
  const DoubleGroup sine_low = Fused(s, less_cosine, Fused(c, more_sine, sine_lost));
  const DoubleGroup cosine_low = Fused(c, less_cosine, FusedLess(s, more_sine, cosine_lost));
  return {{sine, sine_low},
          {Turned(cosine, angle.turn), Turned(cosine_low, angle.turn)},
          Turned(most, angle.turn)};
}
// What a product is more than that of the first parts; `all` is both parts of a.
PJRT_INLINE DoubleGroup LowOfProduct(CutGroup a, DoubleGroup all, CutGroup b) {
  return Fused(a.low, b.high, all * b.low);
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
// What tells whether exp(-x) may underflow or an angle is large, by a sum of both sizes, or `rest`
// is negative, which says that digits were lost.
struct SizeAndRest {
  DoubleGroup size, rest;
};
PJRT_INLINE MaskGroup IsBeyond(const SizeAndRest& x) {
  return Either(Compare<_CMP_NLE_UQ>(x.size, kLargestAngle), Compare<_CMP_LT_OQ>(x.rest, 0.0));
}
// Whether an element may be. The sum of sizes has the NaNs of all.
PJRT_INLINE bool AnyBeyond(const SizeAndRest& x) {
  Doubles sum = x.size.v[0], least = x.rest.v[0];
  if constexpr (kWays > 1) {
    sum = sum + x.size.v[kWays - 1];
    least = Smaller(least, x.rest.v[kWays - 1]);
  }
  return Any(Compare<_CMP_NLE_UQ>(sum, All(kLargestAngle)), Compare<_CMP_LT_OQ>(least, All(0)));
}
PJRT_INLINE PairGroup InverseOf(PairGroup x) {
  const DoubleGroup inverse = DoubleGroup(1.0) / x.high;
  return {inverse, inverse * FusedLess(inverse, x.low, FusedLess(inverse, x.high, 1.0))};
}
PJRT_INLINE DoubleGroup OverInverse(DoubleGroup x, PairGroup inverse) {
  return Fused(x, inverse.high, x * inverse.low);
}
PJRT_INLINE DoubleGroup OverInverse(PairGroup x, PairGroup inverse) {
  return Fused(x.high, inverse.high, Fused(x.high, inverse.low, x.low * inverse.high));
}

// 1 / (1 + exp(-z)): for u = exp(-|x|), left and right of 0 the real parts are L = u (u + cos y)
// and R = 1 + u cos y over L + R, and the imaginary one is u sin y over it.
struct Logistic {
  // More is negative where little left of u + cos y may have lost digits.
  struct Watched {
    DoubleGroup size, divisor, more;
  };
  PJRT_INLINE SizeAndRest RestOf(const Watched& x) {
    return {x.size, Smaller(x.more, x.divisor - kPole)};
  }
  PJRT_INLINE bool AnyMarked(const Watched& x) { return AnyBeyond(RestOf(x)); }
  PJRT_INLINE MaskGroup Marked(const Watched& x) { return IsBeyond(RestOf(x)); }
  static constexpr double kPole = 0x1p-3;
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) {
    Watched x;
    Run({WithSign(Smaller(Magnitude(z.re), 680.0), z.re), z.im}, &x);
    return Either(IsOutsideOfTanh(z.re, z.im),
                  Both(Compare<_CMP_LT_OQ>(x.more, 0.0), Compare<_CMP_GT_OQ>(x.divisor, kPole)));
  }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z, Watched* watched) {
    const DoubleGroup size = Magnitude(z.re);
    const CutGroup u = CutExpOf(-size);
    const CutAngle angle = CutAngleOf(z.im);
    const CutGroup c = angle.cosine, near = OnGrid(u);
    const CutGroup sum = {near.high + c.high, near.low + c.low};
    const CutGroup all = {sum.high + c.high, sum.low + c.low};
    const DoubleGroup power = u.high + u.low;
    const PairGroup divisor =
        Normal(Fused(near.high, all.high, 1.0), LowOfProduct(near, power, all));
    const PairGroup inverse = InverseOf(divisor);
    const MaskGroup left = IsNegative(z.re);
    const auto choose = [&](CutGroup of_left, CutGroup of_right) {
      return CutGroup{Choose(left, of_left.high, of_right.high),
                      Choose(left, of_left.low, of_right.low)};
    };
    const CutGroup first = choose(u, near), second = choose(sum, c);
    // Where the second one's first part is 0 its second part has all digits.
    const DoubleGroup low = Fused(first.high, second.low, first.low * (second.high + second.low));
    const DoubleGroup re = Fused(first.high, second.high, Choose(left, 0.0, 1.0)) + low;
    const DoubleGroup im = Fused(u.high, angle.sine.high, LowOfProduct(u, power, angle.sine));
    const DoubleGroup least = Larger(power * 0.125, Smaller(power, 0x1p-20));
    *watched = {Fused(size, kLargestAngle / 680, Magnitude(z.im)), divisor.high,
                Choose(left, Magnitude(sum.high + sum.low) - least, 0.0)};
    return {OverInverse(re, inverse), WithSign(OverInverse(im, inverse), angle.side)};
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
  using Watched = SizeAndRest;
  PJRT_INLINE bool AnyMarked(const Watched& x) { return AnyBeyond(x); }
  PJRT_INLINE MaskGroup Marked(const Watched& x) { return IsBeyond(x); }
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutsideOfTanh(z.re, z.im); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z, Watched* watched) {
    constexpr double kPole = 0x1p-6;
    const DoubleGroup x = z.re + z.re, y = z.im + z.im;
    const HyperbolicPoint h = HyperbolicPointOf(x);
    const UnitPoint a = UnitPointOf(y);
    const DoubleGroup c = Turned(a.cosine.high, a.turn), c_low = Turned(a.cosine.low, a.turn);
    const DoubleGroup sum = h.cosh.high + c, lost = (h.cosh.high - sum) + c;
    const PairGroup divisor = Normal(sum, lost + (h.cosh.low + c_low));
    const PairGroup inverse = InverseOf(divisor);
    *watched = {Fused(Magnitude(x), kLargestAngle / 680, Magnitude(y)), divisor.high - kPole};
    return {WithSign(OverInverse(h.sinh, inverse), x),
            WithSign(OverInverse(a.sine, inverse), Turned(a.sine.high, a.turn))};
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
  using Watched = Tanh::Watched;
  PJRT_INLINE bool AnyMarked(const Watched& x) { return Tanh::AnyMarked(x); }
  PJRT_INLINE MaskGroup Marked(const Watched& x) { return Tanh::Marked(x); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z, Watched* watched) {
    return Swapped(Tanh::Run(Swapped(z), watched));
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    return Swapped(Tanh::RunCarefully(Swapped(z)));
  }
};

}  // namespace

void FillComplexTanhC128(BlockKernels* k) {
  using namespace complexes;
  Entry(k, BlockOp::kExpm1, CType::kC128) = MarkingLoop<Expm1, CompleteExpm1>;
  Entry(k, BlockOp::kLogistic, CType::kC128) = WatchingLoop<Logistic, CompleteLogistic>;
  Entry(k, BlockOp::kTanh, CType::kC128) = WatchingLoop<Tanh, CompleteTanh>;
  Entry(k, BlockOp::kTan, CType::kC128) = WatchingLoop<Tan, CompleteTan>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
