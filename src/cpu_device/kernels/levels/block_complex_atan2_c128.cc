// SPDX-License-Identifier: Apache-2.0
//
// The arc tangent of quotients of c128 numbers. Levels without fused multiply-add have that of
// block_complex_c128.cc. The largest error seen in a part, over some 10^6 numbers, is 2.9 ULP. On
// an Emerald Rapids it takes 4.2 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_log_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// -i log((x + iy) / sqrt(x^2 + y^2)), part by part: with p = x + iy and m = x - iy the argument of
// the quotient is half that of p conj(m) = |x|^2 - |y|^2 + 2i Re(x conj(y)), or opposite; the other
// part is a quarter of log(|m|^2 / |p|^2), and |m|^2 - |p|^2 = 4 t with t = Im(conj(x) y).
struct Atan2 {
  PJRT_INLINE C128 RunRare(C128 y, C128 x) { return complexes::CompleteAtan2(y, x); }
  // p conj(m), 4 t over the smaller square, the inverse of that, and a number that is negative
  // where half the argument is opposite to that of the quotient.
  struct Half {
    DoubleGroup along, along_low, across, across_low, part, part_low, inverse, side;
  };
  // The sum of a and of a b that is not larger.
  PJRT_INLINE PairGroup FastSum(DoubleGroup a, DoubleGroup b) {
    const DoubleGroup sum = a + b;
    return {sum, (a - sum) + b};
  }
  // The least and largest sizes of what may not be small, 0 or large, and a NaN if there is one.
  struct Watched {
    DoubleGroup least = 1.0, largest = 1.0, across = 1.0, clear = 1.0, sum = 0.0;
  };
  static constexpr double kLeast = 0x1p-450;
  PJRT_INLINE MaskGroup MayBeOutside(const Watched& x) {
    const DoubleGroup clear = Smaller(x.clear, x.across);
    const MaskGroup far =
        Either(Compare<_CMP_LT_OQ>(x.least, kLeast), Compare<_CMP_GT_OQ>(x.largest, 1 / kLeast));
    return Either(far,
                  Either(Compare<_CMP_NGT_UQ>(clear, 0.0), Compare<_CMP_UNORD_Q>(x.sum, x.sum)));
  }
  // A NaN of 0.
  PJRT_INLINE DoubleGroup NonzeroOf(DoubleGroup x) { return ToDoubles(ToWords(x) - uint64_t{1}); }
  PJRT_INLINE void Watch(ComplexGroup z, Watched* watched) {
    watched->least = LeastSize(LeastSize(watched->least, NonzeroOf(z.re)), NonzeroOf(z.im));
    watched->largest = LargestSize(LargestSize(watched->largest, z.re), z.im);
  }
  // A number that tells by its sign whether the sizes of both arguments are above pi together, by
  // the sine of their sum, and one that is not above 0 where this is not clear.
  struct Side {
    DoubleGroup side, clear;
  };
  PJRT_INLINE Side SideOf(ComplexGroup y, ComplexGroup x) {
    const DoubleGroup u = (x.re - y.im) * Magnitude(x.im - y.re);
    const DoubleGroup v = (x.re + y.im) * Magnitude(x.im + y.re), side = u + v;
    return {side, FusedLess(LargestSize(u, v), 0x1p-40, Magnitude(side))};
  }
  PJRT_INLINE void Begin(ComplexGroup y, ComplexGroup x, Half* half, Watched* watched) {
    const DoubleGroup f = x.re * x.re, g = x.im * x.im;
    const DoubleGroup lost = Fused(x.re, x.re, -f) + Fused(x.im, x.im, -g);
    const PairGroup squares = AnySum(FusedLess(y.im, y.im, f), FusedLess(y.re, y.re, g));
    // Products but for what the second one's rounding loses: 2 Re(x conj(y)) and 2 t.
    const DoubleGroup twice_re = x.re + x.re, twice_im = x.im + x.im;
    const DoubleGroup along_y = twice_re * y.re, across_y = twice_re * y.im;
    const PairGroup across =
        FastSum(Fused(twice_im, y.im, along_y), Fused(twice_re, y.re, -along_y));
    const PairGroup t =
        FastSum(FusedLess(twice_im, y.re, across_y), Fused(twice_re, y.im, -across_y));
    // The smaller square, of p or m.
    const PairGroup re = AnySum(x.re, Turned(-y.im, ToWords(t.high)));
    const PairGroup im = AnySum(x.im, Turned(y.re, ToWords(t.high)));
    const DoubleGroup cross = Fused(re.high, re.low, im.high * im.low), of_re = re.high * re.high;
    const DoubleGroup norm = Fused(im.high, im.high, of_re);
    const DoubleGroup norm_low = Fused(cross, 2, Fused(re.high, re.high, -of_re));
    const DoubleGroup inverse = DoubleGroup(1.0) / norm, dividend = t.high + t.high;
    const DoubleGroup part = dividend * inverse;
    const DoubleGroup rest = Fused(t.low, 2, FusedLess(part, norm, dividend));
    const DoubleGroup more = FusedLess(part, norm_low, rest);
    const Side side = SideOf(y, x);
    Watch(y, watched);
    Watch(x, watched);
    watched->across = LeastSize(watched->across, across.high);
    watched->clear = Smaller(side.clear, watched->clear);
    watched->sum = watched->sum + side.side;
    const PairGroup along = FastSum(squares.high, squares.low + lost);
    half->along = along.high;
    half->along_low = along.low;
    half->across = across.high;
    half->across_low = across.low;
    half->part = part;
    half->part_low = more * inverse;
    half->inverse = inverse;
    half->side = side.side;
  }
  // Whether products of parts may leave the range.
  PJRT_INLINE MaskGroup IsFar(ComplexGroup y, ComplexGroup x) {
    const DoubleGroup a = Magnitude(y.re), b = Magnitude(y.im);
    const DoubleGroup c = Magnitude(x.re), d = Magnitude(x.im);
    // Those of 0 are NaNs.
    const DoubleGroup y_small = ToDoubles(ToWords(Smaller(a, b)) - uint64_t{1});
    const DoubleGroup x_small = ToDoubles(ToWords(Smaller(c, d)) - uint64_t{1});
    const DoubleGroup y_size = Larger(a, b), x_size = Larger(c, d);
    const DoubleGroup least = Smaller(y_small, Smaller(x_small, Smaller(y_size, x_size)));
    return Either(Compare<_CMP_LT_OQ>(least, 0x1p-450),
                  Compare<_CMP_GT_OQ>(Larger(y_size, x_size), 0x1p+450));
  }
  PJRT_INLINE MaskGroup IsOutside(const Half& half, ComplexGroup y, ComplexGroup x) {
    const MaskGroup unclear = Either(Compare<_CMP_NGT_UQ>(SideOf(y, x).clear, 0.0),
                                     Compare<_CMP_EQ_OQ>(half.across, 0.0));
    return Either(unclear, IsFar(y, x));
  }
  PJRT_INLINE ComplexGroup End(const Half& x) {
    const DoubleGroup part = x.part, along = x.along, across = x.across;
    // Of 1 + size: a size below 1 keeps all its digits.
    const DoubleGroup size = Magnitude(part);
    const LogSplit split = SplitLog(size + 1);
    const DoubleGroup h = Fused(size, split.inverse, split.inverse - 0.5);
    const DoubleGroup tail = Turned(x.part_low, ToWords(part)) * split.inverse;
    const DoubleGroup log =
        split.whole + (h + LogSeries(h + tail, Fused(split.k, kHalfLn2Low, tail)));
    // What the argument owes to second parts.
    const DoubleGroup turn = FusedLess(across * x.inverse, x.along_low,  //
                                       along * x.inverse * x.across_low);
    const DoubleGroup more = turn * (x.inverse * (split.inverse + split.inverse));
    const DoubleGroup q = OfLargerSize(along, across);
    const MaskGroup steep = Compare<_CMP_NEQ_UQ>(q, along);
    const DoubleGroup p = ChooseOpposite(steep, along, across);
    const DoubleGroup above = Choose(steep, wide::kHalfPi, IfNegative(along, wide::kPi));
    const MaskGroup opposite = Compare<_CMP_LT_OQ>(x.side, 0.0);
    const DoubleGroup from =
        Turned(Choose(opposite, above - DoubleGroup(2 * wide::kPi), above), ToWords(across));
    const DoubleGroup angle = from + (Fused(from, kPiLost, ArcOfAny(p, q)) + more);
    return {angle * 0.5, WithSign(log * 0.5, part)};
  }
};

}  // namespace

void FillComplexAtan2C128(BlockKernels* k) { SetBinaryComplex<Atan2>(k, BlockOp::kAtan2); }

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
