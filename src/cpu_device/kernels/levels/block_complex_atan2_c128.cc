// SPDX-License-Identifier: Apache-2.0
//
// The arc tangent of quotients of c128 numbers. Levels without fused multiply-add have that of
// block_complex_c128.cc. Largest errors seen where nothing nearly cancels, over some 10^7 numbers:
// 3.0 ULP in real parts and 2.7 in imaginary ones. On an Emerald Rapids it takes 3.6 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_log_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Halves of kArcs' angles and of kHalfLogs' logarithms.
constexpr Columns<2> WithHalves(Columns<2> columns) {
  for (double& entry : columns.column[1].entry) entry *= 0.5;
  return columns;
}
constexpr Columns<2> kHalfArcs = WithHalves(kArcs), kQuarterLogs = WithHalves(kHalfLogs);

// A quarter of log(1 + 2 (u + low)) for a u that is not negative but for rounding errors.
PJRT_INLINE DoubleGroup QuarterLog(const LogSplit& split, DoubleGroup u, DoubleGroup low) {
  const DoubleGroup g = Fused(u, split.inverse, Fused(split.inverse, 0.5, -0.25)), g2 = g * g;
  const DoubleGroup p01 = Fused(g, 0x1.555555555554ap+2, -0x1.ffffffffffff3p+0);
  const DoubleGroup p23 = Fused(g, 0x1.9999999a5415cp+5, -0x1.0000000066907p+4);
  const DoubleGroup p45 = Fused(g, 0x1.24923a9363fa9p+9, -0x1.5555454f53a61p+7);
  const DoubleGroup p67 = Fused(g, 0x1.c7d6d687e6d35p+12, -0x1.006683c32b386p+11);
  const DoubleGroup p = Fused(g2, Fused(g2, Fused(g2, p67, p45), p23), p01);
  return split.whole + (g + Fused(g2, p, low * split.inverse));
}

// -i log((x + iy) / sqrt(x^2 + y^2)), part by part: with p = x + iy and m = x - iy the argument of
// the quotient is half that of p conj(m) = |x|^2 - |y|^2 + 2i Re(x conj(y)), or opposite; the other
// part is a quarter of log(|m|^2 / |p|^2), where both squares are |x|^2 + |y|^2 but for 2 t or -2 t
// with t = Im(conj(x) y).
struct Atan2 {
  PJRT_INLINE C128 RunRare(C128 y, C128 x) { return complexes::CompleteAtan2(y, x); }
  // p conj(m); the inverse of the smaller square, 2 |t| over it in two parts, t, and a number that
  // is negative where half the argument is opposite to that of the quotient.
  struct Half {
    DoubleGroup along, along_low, across, across_low, inverse, part, part_low, t, side;
  };
  // The least sizes of what may not be small and of what may not be 0, what is negative where some
  // side is not clear, and what is large where something is large, or almost a pole, or a NaN.
  struct Watched {
    DoubleGroup least = 1.0, across = 1.0;
    WordGroup unclear = uint64_t{0};
    DoubleGroup largest = 0.0;
  };
  static constexpr double kLeast = 0x1p-450, kLargest = 1 / kLeast, kNear = 0x1p+48;
  PJRT_INLINE MaskGroup MayBeOutside(const Watched& x) {
    return Either(
        Either(Compare<_CMP_LT_OQ>(x.least, kLeast), Compare<_CMP_EQ_OQ>(x.across, 0.0)),
        Either(IsNegative(ToDoubles(x.unclear)), Compare<_CMP_NLT_UQ>(x.largest, kNear * kNear)));
  }
  // A NaN of 0.
  PJRT_INLINE DoubleGroup NonzeroOf(DoubleGroup x) { return ToDoubles(ToWords(x) - uint64_t{1}); }
  // Numbers that tell by their sign whether the sizes of both arguments are above pi together, by
  // the sine of their sum, and of which one has another sign where this is not clear.
  struct Side {
    DoubleGroup side, other;
  };
  PJRT_INLINE Side SideOf(ComplexGroup y, ComplexGroup x) {
    const DoubleGroup u = (x.re - y.im) * Magnitude(x.im - y.re);
    const DoubleGroup v = (x.re + y.im) * Magnitude(x.im + y.re);
    return {Fused(u, 1 - 0x1p-48, v), Fused(u, 1 + 0x1p-48, v)};
  }
  PJRT_INLINE void Begin(ComplexGroup y, ComplexGroup x, Half* half, Watched* watched) {
    const DoubleGroup x_least = LeastSize(x.re, x.im), y_least = LeastSize(y.re, y.im);
    const PairGroup x2 = SumOfSquares(LargestSize(x.re, x.im), x_least);
    const PairGroup y2 = SumOfSquares(LargestSize(y.re, y.im), y_least);
    // 2 Re(x conj(y)) but for what the second product's rounding loses, and 2 t.
    const DoubleGroup twice_re = x.re + x.re, twice_im = x.im + x.im;
    const DoubleGroup along_y = twice_re * y.re, across = Fused(twice_im, y.im, along_y);
    const DoubleGroup across_low = Fused(twice_re, y.re, -along_y), sum = across + across_low;
    const DoubleGroup first = twice_re * y.im, t = first - twice_im * y.re, second = t - first;
    const DoubleGroup lost = Fused(twice_re, y.im, second - t);
    const DoubleGroup size = Magnitude(t);
    const DoubleGroup t_low = Turned(lost + FusedLess(twice_im, y.re, -second), ToWords(t));
    // The smaller square, as the sum of |x|^2 - |t| and |y|^2 - |t|, which are exact where it is
    // small beside both.
    const DoubleGroup of_x = FusedLess(size, 0.5, x2.high), of_y = FusedLess(size, 0.5, y2.high);
    const DoubleGroup most = of_x + of_y, rest = x2.low + y2.low - t_low, norm = most + rest;
    const DoubleGroup inverse = DoubleGroup(1.0) / norm, part = (size + t_low) * inverse;
    const Side side = SideOf(y, x);
    watched->least = LeastSize(LeastSize(watched->least, NonzeroOf(x_least)), NonzeroOf(y_least));
    watched->across = LeastSize(watched->across, sum);
    watched->unclear = OrDifferent(watched->unclear, ToWords(side.side), ToWords(side.other));
    watched->largest =
        Fused(part, part, Fused(norm, kNear / kLargest * (kNear / kLargest), watched->largest));
    // Second parts are small even where the first ones cancel: what they add is good to some bits.
    const DoubleGroup along = x2.high - y2.high, along_low = x2.low - y2.low;
    half->along = along + along_low;
    half->along_low = (along - half->along) + along_low;
    half->across = sum;
    half->across_low = (across - sum) + across_low;
    half->inverse = inverse;
    half->part = part;
    half->part_low = FusedLess(part, rest, FusedLess(part, most, size) + t_low) * inverse;
    half->t = t + 0.0;  // of zeros the positive one
    half->side = side.side;
  }
  // Whether products of parts may leave the range, or p or m is almost 0.
  PJRT_INLINE MaskGroup IsFar(const Half& half, ComplexGroup y, ComplexGroup x) {
    const DoubleGroup y_least = LeastSize(y.re, y.im), x_least = LeastSize(x.re, x.im);
    const DoubleGroup least = LeastSize(LeastSize(1.0, NonzeroOf(x_least)), NonzeroOf(y_least));
    return Either(Compare<_CMP_LT_OQ>(least, kLeast),
                  Either(Compare<_CMP_LT_OQ>(half.inverse, 0.5 / (kLargest * kLargest)),
                         Compare<_CMP_NLT_UQ>(Magnitude(half.part), 2 * kNear)));
  }
  PJRT_INLINE MaskGroup IsOutside(const Half& half, ComplexGroup y, ComplexGroup x) {
    const Side side = SideOf(y, x);
    const WordGroup unclear = ToWords(side.side) ^ ToWords(side.other);
    return Either(Either(IsNegative(ToDoubles(unclear)), Compare<_CMP_EQ_OQ>(half.across, 0.0)),
                  IsFar(half, y, x));
  }
  PJRT_INLINE ComplexGroup End(const Half& x) {
    const DoubleGroup along = x.along, across = x.across, inverse = x.inverse;
    // Of 1 + 2 part: a part below 1 keeps all its digits.
    const LogSplit split = SplitLog<kQuarterLogs>(Fused(x.part, 2, 1), kHalfLn2Near / 2);
    const DoubleGroup log = QuarterLog(split, x.part, x.part_low);
    // What half the argument owes to second parts.
    const DoubleGroup turn = FusedLess(across * inverse, x.along_low,  //
                                       along * inverse * x.across_low);
    const DoubleGroup more = turn * (inverse * split.inverse);
    const DoubleGroup q = OfLargerSize(along, across);
    const MaskGroup flat = Compare<_CMP_EQ_OQ>(q, along);
    const DoubleGroup p = ChooseOpposite(flat, across, along);
    const DoubleGroup above = HalfPiIfNegative(flat, along, wide::kHalfPi / 2);
    const MaskGroup opposite = Compare<_CMP_LT_OQ>(x.side, 0.0);
    const DoubleGroup from =
        Turned(Choose(opposite, above - DoubleGroup(wide::kPi), above), ToWords(x.across));
    return {from - HalfArcOf(p, q, more), Turned(log, ToWords(x.t))};
  }
  // Half of arctan(p / q), |p| <= |q|, with `more` taken away.
  PJRT_INLINE DoubleGroup HalfArcOf(DoubleGroup p, DoubleGroup q, DoubleGroup more) {
    const auto near = ArcNear<kHalfArcs>(p, q);
    const WordGroup side = ToWords(p) ^ ToWords(q);
    const DoubleGroup c = Turned(near[0], side);
    const DoubleGroup t = Fused(c, q, p) / FusedLess(c, p, q), t2 = t * t;
    DoubleGroup series = Fused(t2, -0x1.6e97d651daca3p-5, 0x1.c712e86b882a3p-5);
    series = Fused(t2, series, -0x1.249245eba92b7p-4);
    series = Fused(t2, series, 0x1.99999998d654ap-4);
    series = Fused(t2, series, -0x1.555555555551ap-3);
    return Fused(t, Fused(t2, series, 0.5), Turned(near[1], side) - more);
  }
};

}  // namespace

void FillComplexAtan2C128(BlockKernels* k) { SetBinaryComplex<Atan2>(k, BlockOp::kAtan2); }

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
