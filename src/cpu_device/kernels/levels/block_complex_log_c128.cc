// SPDX-License-Identifier: Apache-2.0
//
// Logarithms of c128 numbers from tables of 16 entries and short polynomials between them. Levels
// without fused multiply-add have those of block_complex_c128.cc. Largest errors seen in a part,
// over some 10^6 numbers: Log 1.1, Log1p 1.6 ULP. With AVX-512 they take 0.9 and 1.0 ns an element,
// where three-part sums for all and series without tables took 1.9 and 2.8.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_groups-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

PJRT_INLINE WordGroup operator&(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, a.v[i] & b.v[i]);
}
PJRT_INLINE WordGroup operator|(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, a.v[i] | b.v[i]);
}
PJRT_INLINE DoubleGroup Keep(MaskGroup mask, DoubleGroup a) {
  return PJRT_EACH(DoubleGroup, Keep(mask.v[i], a.v[i]));
}
PJRT_INLINE MaskGroup IsNegative(DoubleGroup x) { return PJRT_EACH(MaskGroup, IsNegative(x.v[i])); }

// c and -log(c) / 2 for a c near the inverse of each 16th of an octave's fractions; that octave
// begins at 0.734. The logarithms are multiples of 2^-42, to 2^-67, and c is over 2 and times
// 2^1023, so that an exponent's bits can be subtracted from it.
constexpr Columns<2> kHalfLogs = {
    {{{0x1.5555550c2ec25p+1022, 0x1.47ae14521cecep+1022, 0x1.3b13b11502367p+1022,
       0x1.2f684bb47c774p+1022, 0x1.249248dca5638p+1022, 0x1.1a7b95e8c7684p+1022,
       0x1.111110c68a6cdp+1022, 0x1.084210516379bp+1022, 0x1p+1022, 0x1.e1e1e16eb9c65p+1021,
       0x1.c71c71bb4a936p+1021, 0x1.af286b493dbc2p+1021, 0x1.9999997c4c53ap+1021,
       0x1.86186150326e1p+1021, 0x1.745d173ebc55ep+1021, 0x1.642c8589c0593p+1021}},
     {{-0x1.26962037da000p-3, -0x1.f991c5cc70000p-4, -0x1.a93ed2d13c000p-4, -0x1.5bf405b78c000p-4,
       -0x1.1178e62b04000p-4, -0x1.9335e384e0000p-5, -0x1.085986fc00000p-5, -0x1.0415d27980000p-6,
       0, 0x1.f0a313a6c0000p-6, 0x1.e270774d10000p-5, 0x1.5ff3096e94000p-4, 0x1.c8ff7d0c2c000p-4,
       0x1.1675cb4836000p-3, 0x1.4618bc3540000p-3, 0x1.739d7f7fb4000p-3}}}};
constexpr double kHalfLn2 = 0x1.62e42fefa3p-2, kHalfLn2Low = 0x1.3de6af278ece6p-43;

// A positive number that is not a denormal is 2^k times what `inverse` is half the inverse of, and
// a rest; `whole` is the logarithm of its root but for that rest.
struct LogSplit {
  DoubleGroup k, inverse, whole;
};
PJRT_INLINE LogSplit SplitLog(DoubleGroup x) {
  constexpr uint64_t kUp = (uint64_t{1} << 51) + (uint64_t{1} << 47);
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52, kBig = uint64_t{0x433} << 52;
  const WordGroup lifted = ToWords(x) + kUp;
  const auto part = EntriesAt<kHalfLogs>(ShiftedRight<48>(lifted));
  const DoubleGroup k = ToDoubles(ShiftedRight<52>(lifted) | kBig) - (0x1p+52 + 1023);
  return {k, ToDoubles(ToWords(part[0]) - (lifted & kExponent)), Fused(k, kHalfLn2, part[1])};
}
// log(1 + 2h) / 2 - h for h up to 2^-6, with `more` added.
PJRT_INLINE DoubleGroup LogSeries(DoubleGroup h, DoubleGroup more) {
  const DoubleGroup h2 = h * h, h4 = h2 * h2;
  const DoubleGroup p01 = Fused(h, 0x1.555555555554ap+0, -0x1.ffffffffffff3p-1);
  const DoubleGroup p23 = Fused(h, 0x1.9999999a5415cp+1, -0x1.0000000066907p+1);
  const DoubleGroup p45 = Fused(h, 0x1.24923a9363fa9p+3, -0x1.5555454f53a61p+2);
  const DoubleGroup p67 = Fused(h, 0x1.c7d6d687e6d35p+4, -0x1.006683c32b386p+4);
  const DoubleGroup p = Fused(h4, Fused(h2, p67, p45), Fused(h2, p23, p01));
  return Fused(h2, p, more);
}
// Half the logarithm of x + low.
PJRT_INLINE DoubleGroup HalfLog(const LogSplit& split, DoubleGroup x, DoubleGroup low) {
  const DoubleGroup h = Fused(x, split.inverse, -0.5), tail = low * split.inverse;
  const DoubleGroup more = LogSeries(h + tail, Fused(split.k, kHalfLn2Low, tail));
  return split.whole + (h + more);
}
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
// The sum of squares of two numbers, the larger one first.
PJRT_INLINE PairGroup SumOfSquares(DoubleGroup a, DoubleGroup b) {
  const DoubleGroup square = a * a, sum = Fused(b, b, square);
  return {sum, Fused(b, b, square - sum) + Fused(a, a, -square)};
}

// c and arctan(c), to 2^-64, for tangents about a quarter of an octave apart, and 0 for those below
// 2^-3.6.
constexpr Columns<2> kArcs = {
    {{{0x1.dbf8b3b38de77p-1, 0, 0x1.6ddc33b98938fp-4, 0x1.b30dc174784f8p-4, 0x1.02a8df60626aap-3,
       0x1.338f008fdbe7ap-3, 0x1.6daeb8e1607cap-3, 0x1.b2c28159dc602p-3, 0x1.026b049c1cab4p-2,
       0x1.332a353b7aadep-2, 0x1.6d0c6bc90d8a1p-2, 0x1.b1c1477c499e3p-2, 0x1.01a35bbb97c2ap-1,
       0x1.31fc4d68dd485p-1, 0x1.6b527a1a7d82ep-1, 0x1.af52d6ee690f8p-1}},
     {{0x1.7f7600a1fc025p-1, 0, 0x1.6ce44df9dcea7p-4, 0x1.b16dbf7567c52p-4, 0x1.014c1f196b75cp-3,
       0x1.3146fe1ddcb68p-3, 0x1.69de72fb31145p-3, 0x1.ac666b20ffe06p-3, 0x1.fa43ef4ac9b5bp-3,
       0x1.2a6b667732c20p-2, 0x1.5eaa7b10361d8p-2, 0x1.9a4a7e62d2cf4p-2, 0x1.dd648d96dff29p-2,
       0x1.13cd06393ae1fp-1, 0x1.3bfaf2ebdc981p-1, 0x1.66712c41d9733p-1}}}};
// The angle of (x, y) whose coordinates have these sizes, a <= b; as steep as if y were the
// longer one if `steep`. `less` is what it is less than that.
template <class Correct>
PJRT_INLINE DoubleGroup AngleOf(DoubleGroup x, DoubleGroup y, DoubleGroup width, DoubleGroup height,
                                DoubleGroup a, DoubleGroup b, Correct correct) {
  // Bits tell the logarithm to 0.09.
  const WordGroup quotient = ToWords(Larger(a, b * 0x1.3p-4)) - ToWords(b);
  const auto part = EntriesAt<kArcs>(ShiftedRight<50>(quotient + (uint64_t{1} << 49)));
  const DoubleGroup c = part[0];
  const DoubleGroup t = FusedLess(c, b, a) / Fused(c, a, b), t2 = t * t;
  const DoubleGroup p12 = Fused(t2, 0x1.99999998d654ap-3, -0x1.555555555551ap-2);
  const DoubleGroup p34 = Fused(t2, 0x1.c712e86b882a3p-4, -0x1.249245eba92b7p-3);
  const DoubleGroup t4 = t2 * t2, p345 = Fused(t4, -0x1.6e97d651daca3p-4, p34);
  const DoubleGroup arc = part[1] + Fused(t * t2, Fused(t4, p345, p12), t);
  // Steep ones turn back from the y axis, others left of it from the negative x axis.
  const MaskGroup steep = Compare<_CMP_GT_OQ>(height, width);
  const DoubleGroup from = Choose(steep, wide::kHalfPi, Choose(IsNegative(x), wide::kPi, 0.0));
  const DoubleGroup turned = Turned(arc, ToWords(Turned(x, ToWords(Keep(steep, -0.0)))));
  return WithSign(from + correct(from, turned), y);
}
constexpr double kPiLost = 0x1.678afae35cdd1p-55;  // by rounding, over pi

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
PJRT_INLINE void RunLogs(C128* to, const C128* from) {
  const ComplexGroup z = LoadComplexes(from), log = Function::Run(z);
  StoreComplexes(to, log);
  if (__builtin_expect(AnyOf(IsOutside(Magnitude(log.re))), 0))
    ReplaceOutside<Function>(to, z, log);
}
template <class Function>
void LogsLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  C128* const d = static_cast<C128*>(dst);
  const C128* const x = static_cast<const C128*>(a);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) RunLogs<Function>(d + i, x + i);
  if (i == n) return;
  C128 rest[kLanes];
  for (C128& each : rest) each = {1, 1};
  __builtin_memcpy(rest, x + i, (n - i) * sizeof(C128));
  RunLogs<Function>(rest, rest);
  __builtin_memcpy(d + i, rest, (n - i) * sizeof(C128));
}

}  // namespace

void FillComplexLogC128(BlockKernels* k) {
  Entry(k, BlockOp::kLog, CType::kC128) = LogsLoop<Log>;
  Entry(k, BlockOp::kLog1p, CType::kC128) = LogsLoop<Log1p>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
