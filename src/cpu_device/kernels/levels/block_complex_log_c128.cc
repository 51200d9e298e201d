// SPDX-License-Identifier: Apache-2.0
//
// Logarithms and powers of c128 numbers from tables of 16 entries and short polynomials between
// them. Levels without fused multiply-add have those of block_complex_c128.cc. Largest errors seen
// in a part that does not nearly cancel, over some 10^6 numbers: Log 1.5, Log1p 1.6, Power 1.8 ULP
// (51 ULP for logarithms below 0.03 and exponents so large that the result is near the end of the
// range). On an Emerald Rapids they take 1.9, 2.1 and 4.0 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/angle_groups-inl.h"
#include "src/cpu_device/kernels/complex_log_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The same of numbers near 1 in three parts: so near that nothing is left of the first when 1 is
// taken away, the others still have all digits of the rest.
struct Squares {
  DoubleGroup high, middle, low;
};
PJRT_INLINE DoubleGroup HalfLog(const Squares& x) {
  const LogSplit split = SplitLog(x.high);
  const PairGroup h = AnySum(Fused(x.high, split.inverse, -0.5), x.middle * split.inverse);
  const DoubleGroup tail = Fused(x.low, split.inverse, h.low);
  return split.whole + (h.high + LogSeries(h.high, Fused(split.k, kHalfLn2Low, tail)));
}
PJRT_INLINE Squares SquaresOf(DoubleGroup larger, DoubleGroup smaller) {
  const DoubleGroup a = larger * larger, b = smaller * smaller, sum = a + b;
  const PairGroup lost = AnySum(Fused(larger, larger, -a), Fused(smaller, smaller, -b));
  const PairGroup middle = AnySum(b - (sum - a), lost.high);
  return {sum, middle.high, middle.low + lost.low};
}
// The same of x + low in two parts, to 2^-64, and of a number near 1 to 2^-60.
PJRT_INLINE PairGroup PreciseHalfLog(const LogSplit& split, DoubleGroup x, DoubleGroup low) {
  const DoubleGroup part = x * split.inverse, h = part - 0.5, h2 = h * h;
  const DoubleGroup h_low = Fused(low, split.inverse, FusedFrom(x, split.inverse, part));
  const DoubleGroup p01 = Fused(h, 0x1.555555555554ap+0, -1.0);
  const DoubleGroup p23 = Fused(h, 0x1.9999999a5415cp+1, -0x1.fffffffffffebp+0);
  const DoubleGroup p45 = Fused(h, 0x1.24923a9363f54p+3, -0x1.5555555600481p+2);
  const DoubleGroup p67 = Fused(h, 0x1.c7d6d6880304dp+4, -0x1.ffffe54b0947ap+3);
  DoubleGroup p = Fused(h2, -0x1.9a44769a525bfp+5, p67);
  p = Fused(h2, p, p45);
  p = Fused(h2, Fused(h2, p, p23), p01);
  const DoubleGroup log = split.whole + h, log_low = (split.whole - log) + h;
  const DoubleGroup cross = FusedLess(h + h, h_low, Fused(split.k, kHalfLn2Low, h_low));
  return {log, Fused(h2, p, log_low + cross)};
}

// The angle of (x, y) with coordinates of these sizes, a being the smaller one and b the other one.
// correct(from, arc) is the arc with what `from` and x have lost.
template <class Correct>
PJRT_INLINE DoubleGroup AngleOf(DoubleGroup x, DoubleGroup y, DoubleGroup width, DoubleGroup height,
                                DoubleGroup a, DoubleGroup b, Correct correct) {
  const Direction to = DirectionOf(x, width, height);
  return WithSign(to.from + correct(to.from, Turned(ArcOf(a, b), ToWords(to.back))), y);
}

// Logarithms are moderate between these sizes.
constexpr double kNearOne = 0x1p-30, kFar = 0x1p+8;
// Whether a size is not between them, or a NaN.
PJRT_INLINE MaskGroup IsOutside(DoubleGroup size) {
  // Sizes beyond 2^8 become NaNs or negative.
  constexpr int kUp = 0x7ff - (1023 + 8);
  return Compare<_CMP_NGE_UQ>(ToDoubles(ToWords(size) + (uint64_t{kUp} << 52)), 0x1p+986);
}

struct Log {
  PJRT_INLINE C128 RunRare(C128 z) { return complexes::CompleteLog(z); }
  PJRT_INLINE MaskGroup IsRare(ComplexGroup) { return {}; }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const DoubleGroup width = Magnitude(z.re), height = Magnitude(z.im);
    // A NaN is one of these.
    const DoubleGroup a = Smaller(width, height), b = Larger(height, width);
    const PairGroup squares = SumOfSquares(b, a);
    const auto correct = [](DoubleGroup from, DoubleGroup arc) {
      return Fused(from, kPiLost, arc);
    };
    return {HalfLog(SplitLog(squares.high), squares.high, squares.low),
            AngleOf(z.re, z.im, width, height, a, b, correct)};
  }
  PJRT_INLINE DoubleGroup RunNearOne(ComplexGroup z) {
    const DoubleGroup width = Magnitude(z.re), height = Magnitude(z.im);
    return HalfLog(SquaresOf(Larger(width, height), Smaller(width, height)));
  }
};

// |1 + z|^2 = (1 + x)^2 + y^2.
struct Log1p {
  PJRT_INLINE C128 RunRare(C128 z) { return complexes::CompleteLog1p(z); }
  // Whether squares of parts, or what they lose, underflow.
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) {
    return Compare<_CMP_LT_OQ>(Magnitude(z.re) + Magnitude(z.im), 0x1p-360);
  }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const PairGroup x = AnySum(z.re, 1.0);
    const DoubleGroup width = Magnitude(x.high), height = Magnitude(z.im), twice = x.low + x.low;
    const DoubleGroup a = Smaller(width, height), b = Larger(height, width);
    const PairGroup squares = SumOfSquares(b, a);
    const LogSplit split = SplitLog(squares.high);
    const auto correct = [&](DoubleGroup from, DoubleGroup arc) {
      return FusedLess(height * twice, split.inverse, from * kPiLost) + arc;
    };
    return {HalfLog(split, squares.high, Fused(x.high, twice, squares.low)),
            AngleOf(x.high, z.im, width, height, a, b, correct)};
  }
  // Of 1 + 2h + low, 2h = 2x + x^2 + y^2, whose terms may cancel.
  PJRT_INLINE DoubleGroup RunNearOne(ComplexGroup z) {
    const DoubleGroup width = Magnitude(z.re), height = Magnitude(z.im);
    const DoubleGroup larger = Larger(width, height), smaller = Smaller(width, height);
    const DoubleGroup a = larger * larger, b = smaller * smaller;
    const PairGroup first = AnySum(z.re + z.re, a), second = AnySum(first.high, b);
    const PairGroup lost = AnySum(first.low, second.low);
    const PairGroup squares = AnySum(Fused(larger, larger, -a), Fused(smaller, smaller, -b));
    const PairGroup rest = AnySum(lost.high, squares.high), sum = AnySum(second.high, rest.high);
    const DoubleGroup low = sum.low + (rest.low + (lost.low + squares.low)), half = 0.5;
    const DoubleGroup h = half * sum.high;
    return h + FusedLess(h, h, half * low);
  }
};

// What is beyond vectors, one at a time.
template <class Function>
__attribute__((noinline)) void ReplaceOutside(C128* to, const ComplexGroup& z,
                                              const ComplexGroup& log) {
  const DoubleGroup size = Magnitude(log.re);
  const MaskGroup near = Compare<_CMP_LT_OQ>(size, kNearOne);
  StoreComplexes(to, {Choose(near, Function::RunNearOne(z), log.re), log.im});
  const MaskGroup rare = Either(Compare<_CMP_NLE_UQ>(size, kFar), Function::IsRare(z));
  if (AnyOf(rare)) ReplaceRare<Function::RunRare>(to, z, rare);
}
template <class Function>
PJRT_INLINE void RunLogs(C128* to, const C128* from, int64_t count, const Beside& beside) {
  for (; count > 0; --count, to += kLanes, from += kLanes) {
    const ComplexGroup z = LoadComplexes(from), log = Function::Run(z);
    StoreComplexes(to, log);
    GoOn<kGroupBytes>(beside);
    if (__builtin_expect(AnyOf(IsOutside(Magnitude(log.re))), 0))
      ReplaceOutside<Function>(to, z, log);
  }
}
template <class Function>
void LogsLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  OverGroups<RunLogs<Function>>(dst, a, c, n);
}

// The angle of z in two parts, to 2^-64. The tangent of its arc from an axis is p / q.
PJRT_INLINE PairGroup PreciseAngleOf(ComplexGroup z, MaskGroup steep, DoubleGroup p,
                                     DoubleGroup q) {
  const auto near = ArcNear(p, q);
  const WordGroup side = ToWords(p) ^ ToWords(q);
  const DoubleGroup c = Turned(near[0], side), product = c * q, dividend = p + product;
  const DoubleGroup divisor = FusedLess(c, p, q), divisor_low = FusedLess(c, p, q - divisor);
  const DoubleGroup inverse = DoubleGroup(1.0) / divisor, t = dividend * inverse;
  const DoubleGroup lost = FusedLess(t, divisor, dividend) + FusedFrom(c, q, product);
  const DoubleGroup t_low = FusedLess(t, divisor_low, lost) * inverse, t2 = t * t;
  const DoubleGroup p01 = Fused(t2, 0x1.99999999996d3p-3, -0x1.5555555555555p-2);
  const DoubleGroup p23 = Fused(t2, 0x1.c71c6ab8c38d0p-4, -0x1.249249234729fp-3);
  const DoubleGroup p45 = Fused(t2, 0x1.361e1a11cd3d6p-4, -0x1.74546295dbfaep-4);
  const DoubleGroup t4 = t2 * t2, series = Fused(t4, Fused(t4, p45, p23), p01);
  const DoubleGroup left = IfNegative(z.re, wide::kPi);
  const DoubleGroup from = WithSign(Choose(steep, wide::kHalfPi, left), z.im);
  // The sum of these is exact.
  const DoubleGroup start = from + Turned(near[1], side), sum = start + t;
  const DoubleGroup low = ((start - sum) + t) + Fused(from, kPiLost, t_low);
  return {sum, Fused(t * t2, series, low)};
}

// A sum of two products: `first` less `less`, a multiple of 2^-12, and a second part, which `low`
// adds to `first`. Of sums of zeros `first` has the sign.
struct ProductSum {
  DoubleGroup less, first, low;
};
constexpr double kGridShift = 0x1.8p+40;
// a b + c d, or a b - c d.
template <bool kMinus>
PJRT_INLINE ProductSum SumOfProducts(DoubleGroup a, PairGroup b, DoubleGroup c, PairGroup d) {
  const DoubleGroup one = Fused(a, b.high, kGridShift);
  const DoubleGroup both = kMinus ? FusedLess(c, d.high, one) : Fused(c, d.high, one);
  const DoubleGroup one_rest = FusedFrom(a, b.high, one - kGridShift);
  const DoubleGroup rest =
      kMinus ? FusedLess(c, d.high, one - both) : FusedFrom(c, d.high, both - one);
  const DoubleGroup first = one_rest + rest, low = Fused(a, b.low, first);
  return {DoubleGroup(kGridShift) - both, first,
          kMinus ? FusedLess(c, d.low, low) : Fused(c, d.low, low)};
}

// Powers of 2 by kPowers, with bits of which i << 48 is taken away.
constexpr Columns<2> LessPlaces(Columns<2> powers) {
  for (uint64_t i = 0; i < 16; ++i) {
    double& power = powers.column[0].entry[i];
    power = __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, power) - (i << 48));
  }
  return powers;
}
constexpr Columns<2> kPowersLessPlaces = LessPlaces(kPowers);

// exp(b log(a)) in two steps: of short loops more iterations overlap than of a long one.
struct Power {
  PJRT_INLINE C128 RunRare(C128 a, C128 b) { return complexes::CompletePower(a, b); }
  // The exponent, as ProductSum.
  struct Half {
    DoubleGroup re_less, re_low, im_less, im_first, im_low;
  };
  static constexpr double kLeast = 0x1p-400, kLargest = 700;
  // Sums of squares of the exponent's parts and of logarithms of sizes, and the least one of what
  // may not be small.
  struct Watched {
    DoubleGroup re = 0.0, im = 0.0, least = 1.0;
  };
  PJRT_INLINE MaskGroup MayBeOutside(const Watched& x) {
    return Either(Compare<_CMP_NLT_UQ>(x.re, kLargest * kLargest),
                  Either(Compare<_CMP_NLE_UQ>(x.im, kLargestAngle * kLargestAngle),
                         Compare<_CMP_NGE_UQ>(x.least, kLeast)));
  }
  // Small where rules for exponents of 0 and 1 may hold.
  PJRT_INLINE DoubleGroup PlainOf(ComplexGroup b) { return FusedFrom(b.re, b.re, b.re); }
  // A NaN of 0.
  PJRT_INLINE DoubleGroup NonzeroOf(DoubleGroup x) { return ToDoubles(ToWords(x) - uint64_t{1}); }
  PJRT_INLINE void Begin(ComplexGroup a, ComplexGroup b, Half* half, Watched* watched) {
    const DoubleGroup q = OfLargerSize(a.re, a.im);
    const MaskGroup steep = Compare<_CMP_NEQ_UQ>(q, a.re);
    const DoubleGroup p = ChooseOpposite(steep, a.re, a.im);
    const PairGroup squares = SumOfSquares(q, p);
    const LogSplit split = SplitLog(squares.high);
    const PairGroup log = PreciseHalfLog(split, squares.high, squares.low);
    const PairGroup angle = PreciseAngleOf(a, steep, p, q);
    const ProductSum re = SumOfProducts<true>(b.re, log, b.im, angle);
    const ProductSum im = SumOfProducts<false>(b.re, angle, b.im, log);
    watched->re = Fused(re.less, re.less, Fused(split.k, split.k, watched->re));
    watched->im = Fused(im.less, im.less, watched->im);
    watched->least = LeastSize(LeastSize(watched->least, NonzeroOf(p)), PlainOf(b));
    half->re_less = re.less;
    half->re_low = re.low;
    half->im_less = im.less;
    half->im_first = im.first;
    half->im_low = im.low;
  }
  // Whether squares of parts or quotients of them may leave the range, or the exponent is large, or
  // rules for it hold.
  PJRT_INLINE MaskGroup IsOutside(const Half& x, ComplexGroup a, ComplexGroup b) {
    const DoubleGroup width = Magnitude(a.re), height = Magnitude(a.im);
    const DoubleGroup larger = Larger(height, width);
    const DoubleGroup least = LeastSize(LeastSize(larger, NonzeroOf(Smaller(width, height))),
                                        LargestSize(PlainOf(b), b.im));
    const MaskGroup far =
        Either(Compare<_CMP_NGE_UQ>(least, kLeast), Compare<_CMP_NLE_UQ>(larger, 1 / kLeast));
    return Either(far, Either(Compare<_CMP_NLT_UQ>(Magnitude(x.re_less), kLargest),
                              Compare<_CMP_NLE_UQ>(Magnitude(x.im_less), kLargestAngle)));
  }
  PJRT_INLINE DoubleGroup ExpOf(DoubleGroup less, DoubleGroup low) {
    // log(2) / 16.
    constexpr double kStep = 0x1.62e42fefa39efp-5, kStepLow = 0x1.abc9e3b39803fp-60;
    const DoubleGroup shifted = Fused(low - less, 0x1.71547652b82fep+4, kIntegerShift);
    const DoubleGroup k = shifted - kIntegerShift;
    const auto powers = EntriesAt<kPowersLessPlaces>(ToWords(shifted));
    const DoubleGroup r = FusedLess(k, kStepLow, low) - Fused(k, kStep, less);
    DoubleGroup g = Fused(r, 0x1.6c182f5612004p-10, 0x1.1112483691fe5p-7);
    g = Fused(r, g, 0x1.555555549d725p-5);
    g = Fused(r, g, 0x1.555555547ce9dp-3);
    g = Fused(r, Fused(r, g, 0.5), 1.0);
    const DoubleGroup power = ToDoubles(ToWords(powers[0]) + ShiftedLeft<48>(ToWords(shifted)));
    return Fused(power, Fused(r, g, powers[1]), power);
  }
  // As SineOf in block_tables_f64.cc, between multiples of pi / 16.
  PJRT_INLINE ComplexGroup End(const Half& x) {
    constexpr double kStep = 0x1.921fb54442d18p-3, kStepLow = 0x1.1a62633145c07p-57;
    const DoubleGroup shifted = Fused(x.im_low - x.im_less, 0x1.45f306dc9c883p+2, kIntegerShift);
    const DoubleGroup k = shifted - kIntegerShift;
    const auto turn = EntriesAt<kAngles>(ToWords(shifted));
    const DoubleGroup r = FusedLess(k, kStepLow, x.im_low) - Fused(k, kStep, x.im_less);
    const DoubleGroup s = turn[kSine], c = turn[kCosine], r2 = r * r;
    DoubleGroup sine = Fused(r2, 0x1.71cd788b7960bp-19, -0x1.a01a0137b544ap-13);
    sine = Fused(r2, sine, 0x1.111111111040fp-7);
    sine = Fused(r2, sine, -0x1.5555555555555p-3);
    sine = Fused(r * r2, sine, r);
    DoubleGroup less = Fused(r2, 0x1.a002f741f9fefp-16, -0x1.6c16c0dc8cfdap-10);
    less = Fused(r2, less, 0x1.5555555553190p-5);
    less = r2 * Fused(r2, less, -0.5);
    const DoubleGroup more_im = Fused(c, sine, Fused(s, less, turn[kSineRest]));
    const DoubleGroup more_re = FusedLess(s, sine, Fused(c, less, turn[kCosineRest]));
    const DoubleGroup power = Turned(ExpOf(x.re_less, x.re_low), ShiftedLeft<59>(ToWords(shifted)));
    const DoubleGroup im = Fused(power, s, power * more_im);
    return {Fused(power, c, power * more_re), ZeroKept(im, x.im_first - x.im_less)};
  }
};

}  // namespace

void FillComplexLogC128(BlockKernels* k) {
  BesideEntry(k, BlockOp::kLog, CType::kC128) = LogsLoop<Log>;
  BesideEntry(k, BlockOp::kLog1p, CType::kC128) = LogsLoop<Log1p>;
  SetBinaryComplex<Power>(k, BlockOp::kPower);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
