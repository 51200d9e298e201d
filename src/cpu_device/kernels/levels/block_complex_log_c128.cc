// SPDX-License-Identifier: Apache-2.0
//
// Logarithms of c128 numbers from tables of 16 entries and short polynomials between them. Levels
// without fused multiply-add have those of block_complex_c128.cc. Largest errors seen in a part
// that does not nearly cancel, over some 10^6 numbers: Log 1.5, Log1p 1.6 ULP. On an Emerald Rapids
// they take 1.9 and 2.1 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
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

}  // namespace

void FillComplexLogC128(BlockKernels* k) {
  BesideEntry(k, BlockOp::kLog, CType::kC128) = LogsLoop<Log>;
  BesideEntry(k, BlockOp::kLog1p, CType::kC128) = LogsLoop<Log1p>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
