// SPDX-License-Identifier: Apache-2.0
//
// Logarithms and powers of c128 numbers from tables of 16 entries and short polynomials between
// them. Levels without fused multiply-add have those of block_complex_c128.cc. Largest errors seen
// in a part that does not nearly cancel, over some 10^6 numbers: Log 1.5, Log1p 1.6, Power 2.5 ULP.
// With AVX-512 they take 0.9, 1.0 and 2.1 ns an element, where three-part sums for all and series
// without tables took 1.9, 2.8 and 4.8.
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
// The same to 2^-64, of a number near 1 to 2^-60, with a second part up to 2^-12 of the first.
PJRT_INLINE PairGroup PreciseHalfLog(PairGroup x) {
  const LogSplit split = SplitLog(x.high);
  const DoubleGroup part = x.high * split.inverse, h = part - 0.5;
  const DoubleGroup h_low = Fused(x.low, split.inverse, Fused(x.high, split.inverse, -part));
  const DoubleGroup h2 = h * h, h4 = h2 * h2;
  const DoubleGroup p01 = Fused(h, -0x1.fffffffffffebp+0, 0x1.555555555554ap+0);
  const DoubleGroup p23 = Fused(h, -0x1.5555555600481p+2, 0x1.9999999a5415cp+1);
  const DoubleGroup p45 = Fused(h, -0x1.ffffe54b0947ap+3, 0x1.24923a9363f54p+3);
  const DoubleGroup p67 = Fused(h, -0x1.9a44769a525bfp+5, 0x1.c7d6d6880304dp+4);
  const DoubleGroup p = Fused(h4, Fused(h2, p67, p45), Fused(h2, p23, p01));
  // Each number is larger than the next, or 0.
  const DoubleGroup sum = split.whole + h, sum_low = (split.whole - sum) + h;
  const DoubleGroup log = sum - h2, log_low = ((sum - log) - h2) + sum_low;
  const DoubleGroup lost = Fused(h, h, -h2), more = Fused(split.k, kHalfLn2Low, h_low);
  const DoubleGroup cross = FusedLess(h + h, h_low, more - lost);
  return {log, Fused(h * h2, p, log_low + cross)};
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
PJRT_INLINE void RunLogs(C128* to, const C128* from, int64_t count) {
  for (; count > 0; --count, to += kLanes, from += kLanes) {
    const ComplexGroup z = LoadComplexes(from), log = Function::Run(z);
    StoreComplexes(to, log);
    if (__builtin_expect(AnyOf(IsOutside(Magnitude(log.re))), 0))
      ReplaceOutside<Function>(to, z, log);
  }
}
template <class Function>
void LogsLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  OverGroups<RunLogs<Function>>(dst, a, n);
}

// The angle of (x, y) in two parts, to 2^-61 or better.
PJRT_INLINE PairGroup PreciseAngleOf(DoubleGroup x, DoubleGroup y, DoubleGroup width,
                                     DoubleGroup height, DoubleGroup a, DoubleGroup b) {
  const auto part = ArcNear(a, b);
  const DoubleGroup c = part[0], product = c * b, dividend = a - product;
  const DoubleGroup divisor = Fused(c, a, b), divisor_low = Fused(c, a, b - divisor);
  const DoubleGroup inverse = DoubleGroup(1.0) / divisor, t = dividend * inverse;
  const DoubleGroup lost = FusedLess(t, divisor, dividend) - Fused(c, b, -product);
  const DoubleGroup t_low = FusedLess(t, divisor_low, lost) * inverse;
  const DoubleGroup t2 = t * t, t4 = t2 * t2;
  const DoubleGroup p01 = Fused(t2, 0x1.9999999999269p-3, -0x1.5555555555555p-2);
  const DoubleGroup p23 = Fused(t2, 0x1.c71c654d45296p-4, -0x1.24924921cdb72p-3);
  const DoubleGroup p45 = Fused(t2, 0x1.351620f753c00p-4, -0x1.74505ed1c72cbp-4);
  const DoubleGroup p = Fused(t4, Fused(t4, p45, p23), p01);
  const DoubleGroup arc = part[1] + t;
  const DoubleGroup arc_low = Fused(t * t2, p, ((part[1] - arc) + t) + t_low);
  const Direction to = DirectionOf(x, width, height);
  const DoubleGroup from = Turned(to.from, ToWords(y));
  const WordGroup back = ToWords(Turned(to.back, ToWords(y)));
  const DoubleGroup turned = Turned(arc, back), sum = from + turned;
  return {sum, ((from - sum) + turned) + Fused(from, kPiLost, Turned(arc_low, back))};
}

// Every second entry.
template <int kCount>
constexpr Columns<kCount, 8> EverySecond(const Columns<kCount>& columns) {
  Columns<kCount, 8> result = {};
  for (int i = 0; i < kCount; ++i) {
    for (int j = 0; j < 8; ++j) result.column[i].entry[j] = columns.column[i].entry[2 * j];
  }
  return result;
}
constexpr Columns<2, 8> kEighthPowers = EverySecond(kPowers);
constexpr Columns<4, 8> kEighthAngles = EverySecond(kAngles);

// a b + c d. The second part is to be subtracted, so that of zeros the first one keeps its sign.
PJRT_INLINE PairGroup SumOfProducts(DoubleGroup a, PairGroup b, DoubleGroup c, PairGroup d) {
  const DoubleGroup first = a * b.high, sum = first + c * d.high, part = sum - first;
  const DoubleGroup first_low = FusedLess(a, b.low, FusedLess(a, b.high, first));
  const DoubleGroup second_low = FusedLess(c, d.low, FusedLess(c, d.high, part));
  return {sum, ((sum - part) - first) + (first_low + second_low)};
}

// exp(b log(a)) in two steps, as in BinaryDoublesLoopInTwo of doubles-inl.h.
struct Power {
  PJRT_INLINE C128 RunRare(C128 a, C128 b) { return complexes::CompletePower(a, b); }
  // Whether squares of parts or quotients of them may leave the range, or rules for exponents of 0
  // and 1 hold.
  PJRT_INLINE MaskGroup IsRare(DoubleGroup smaller, DoubleGroup larger, ComplexGroup b) {
    // That of 0 is a NaN.
    const DoubleGroup nonzero = ToDoubles(ToWords(smaller) - uint64_t{1});
    const WordGroup plain = ToWords(Magnitude(Fused(b.re, b.re, -b.re))) | ToWords(Magnitude(b.im));
    // About 1 / larger, or negative.
    const DoubleGroup inverse = ToDoubles(WordGroup(uint64_t{2 * 1023} << 52) - ToWords(larger));
    const DoubleGroup least = Smaller(ToDoubles(plain), Smaller(nonzero, Smaller(larger, inverse)));
    return Compare<_CMP_LT_OQ>(least, 0x1p-400);
  }
  // The exponent, or a NaN, and a second part, up to 2^-12 of it, to be subtracted.
  struct Half {
    PairGroup re, im;
  };
  PJRT_INLINE Half Begin(ComplexGroup a, ComplexGroup b) {
    const DoubleGroup width = Magnitude(a.re), height = Magnitude(a.im);
    const DoubleGroup smaller = Smaller(width, height), larger = Larger(height, width);
    const PairGroup log = PreciseHalfLog(SumOfSquares(larger, smaller));
    const PairGroup angle = PreciseAngleOf(a.re, a.im, width, height, smaller, larger);
    Half half = {SumOfProducts(b.re, log, -b.im, angle), SumOfProducts(b.re, angle, b.im, log)};
    half.re.high = Choose(IsRare(smaller, larger, b), wide::kNan, half.re.high);
    return half;
  }
  PJRT_INLINE MaskGroup IsOutside(Half x) {
    return Either(Compare<_CMP_NLT_UQ>(Magnitude(x.re.high), 700),
                  Compare<_CMP_NLE_UQ>(Magnitude(x.im.high), kLargestAngle));
  }
  PJRT_INLINE DoubleGroup ExpOf(PairGroup x) {
    // log(2) / 8 in two parts, of which the first has 36 bits.
    constexpr double kStep = 0x1.62e42fefap-4, kStepLow = 0x1.cf79abc9e3b3ap-43;
    const DoubleGroup shifted = Fused(x.high - x.low, 0x1.71547652b82fep+3, kIntegerShift);
    const DoubleGroup k = shifted - kIntegerShift;
    const auto powers = EntriesAt<kEighthPowers>(ToWords(shifted));
    const DoubleGroup r = FusedLess(k, kStep, x.high) - Fused(k, kStepLow, x.low), r2 = r * r;
    const DoubleGroup g12 = Fused(r, 0x1.555555555556ap-3, 0.5);
    const DoubleGroup g34 = Fused(r, 0x1.1111110e10556p-7, 0x1.5555554e93acap-5);
    const DoubleGroup g56 = Fused(r, 0x1.a01e2c15a33f3p-13, 0x1.6c1b7131a0993p-10);
    const DoubleGroup g = Fused(r2, Fused(r2, g56, g34), g12);
    // The power's exponent, above its last three bits.
    const WordGroup n = ShiftedLeft<49>(ToWords(shifted)) & (uint64_t{0xfff} << 52);
    const DoubleGroup power = ToDoubles(ToWords(powers[0]) + n);
    return Fused(power, r + Fused(r2, g, powers[1]), power);
  }
  // As SineOf in block_tables_f64.cc, between multiples of pi / 8.
  PJRT_INLINE ComplexGroup End(Half x) {
    const DoubleGroup power = ExpOf(x.re);
    constexpr double kStep = 0x1.921fb54442d18p-2, kStepLow = 0x1.1a62633145c07p-56;
    const DoubleGroup angle = x.im.high - x.im.low;
    const DoubleGroup shifted = Fused(angle, 0x1.45f306dc9c883p+1, kIntegerShift);
    const DoubleGroup k = shifted - kIntegerShift;
    const auto turn = EntriesAt<kEighthAngles>(ToWords(shifted));
    const DoubleGroup r = FusedLess(k, kStep, x.im.high) - Fused(k, kStepLow, x.im.low);
    const DoubleGroup s = turn[kSine], c = turn[kCosine], r2 = r * r, r4 = r2 * r2;
    const DoubleGroup sine01 = Fused(r2, 0x1.11111110de911p-7, -0x1.5555555555546p-3);
    const DoubleGroup sine23 = Fused(r2, 0x1.719bdf37204f0p-19, -0x1.a019fb3ad7c7dp-13);
    const DoubleGroup cosine01 = Fused(r2, 0x1.5555555555514p-5, -0.5);
    const DoubleGroup cosine23 = Fused(r2, 0x1.a019fa29fbd9ap-16, -0x1.6c16c16bad8c8p-10);
    const DoubleGroup cosine234 = Fused(r4, -0x1.27adaf98f47c4p-22, cosine23);
    const DoubleGroup sine = Fused(r * r2, Fused(r4, sine23, sine01), r);
    const DoubleGroup less = r2 * Fused(r4, cosine234, cosine01);
    const DoubleGroup more_im = Fused(c, sine, Fused(s, less, turn[kSineRest]));
    const DoubleGroup more_re = FusedLess(s, sine, Fused(c, less, turn[kCosineRest]));
    const DoubleGroup re = Fused(power, c, power * more_re), im = Fused(power, s, power * more_im);
    const WordGroup sign = ShiftedLeft<60>(ToWords(shifted));
    const MaskGroup zero = Compare<_CMP_EQ_OQ>(angle, 0.0);
    return {Turned(re, sign), Choose(zero, angle, Turned(im, sign))};
  }
};

}  // namespace

void FillComplexLogC128(BlockKernels* k) {
  Entry(k, BlockOp::kLog, CType::kC128) = LogsLoop<Log>;
  Entry(k, BlockOp::kLog1p, CType::kC128) = LogsLoop<Log1p>;
  SetBinaryComplex<Power>(k, BlockOp::kPower);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
