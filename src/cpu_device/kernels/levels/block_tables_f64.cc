// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine, tangent, exp(x) - 1, tanh and the logistic function of f64 from tables of 16
// entries, which a permutation fetches, and short polynomials between them. Levels without such an
// instruction have those of block_trig_f64.cc and block_exp_f64.cc. Largest errors seen, over some
// 10^7 arguments: Sin and Cos 0.65, Tan 0.67, Logistic 0.76, Expm1 1.01, Tanh 1.02 ULP. With
// AVX-512 the former take 0.43, 0.53, 0.51 and 0.56 ns an element, where functions without tables
// took 0.87, 1.68, 1.0 and 0.72.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/angle_groups-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// sin(r + k pi / 16) = s + c r + s (cos(r) - 1) + c (sin(r) - r) with the table's s and c; the
// first sum is kept in two parts. The halves of a period differ in sign only.
PJRT_INLINE DoubleGroup SineOf(Angle angle, WordGroup k) {
  const auto far = EntriesAt<kAngles>(k);
  const DoubleGroup s = far[kSine], c = far[kCosine], r = angle.r;
  const DoubleGroup r2 = r * r, r4 = r2 * r2, cubed = r * r2;
  const DoubleGroup sine01 = Fused(r2, 0x1.1111111110471p-7, -0x1.5555555555555p-3);
  const DoubleGroup sine23 = Fused(r2, 0x1.71cda2e53bfc4p-19, -0x1.a01a0139c25adp-13);
  const DoubleGroup cosine01 = Fused(r2, 0x1.555555555329dp-5, -0.5);
  const DoubleGroup cosine23 = Fused(r2, 0x1.a003317cef198p-16, -0x1.6c16c0df5ef68p-10);
  const DoubleGroup more_sine = Fused(cubed, Fused(r4, sine23, sine01), angle.tail);
  const DoubleGroup less_cosine = r2 * Fused(r4, cosine23, cosine01);
  const DoubleGroup high = Fused(c, r, s);
  const DoubleGroup lost = Fused(c, r, s - high) + far[kSineRest];
  const DoubleGroup low = Fused(s, less_cosine, Fused(c, more_sine, lost));
  return Turned(high + low, ShiftedLeft<59>(k));
}

struct Sin {
  static constexpr double kLargest = kLargestAngle;
  PJRT_INLINE double RunRare(double x) { return __builtin_sin(x); }
  // -0 would come out as 0.
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const Angle angle = ReduceAngle(x);
    return Choose(Compare<_CMP_EQ_OQ>(x, 0.0), x, SineOf(angle, angle.k));
  }
};
struct Cos {
  static constexpr double kLargest = kLargestAngle;
  PJRT_INLINE double RunRare(double x) { return __builtin_cos(x); }
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const Angle angle = ReduceAngle(x);
    return SineOf(angle, angle.k + 8);
  }
};

// (s + c t) / (c - s t) for t = tan(r), both in two parts.
struct Tan {
  static constexpr double kLargest = kLargestAngle;
  PJRT_INLINE double RunRare(double x) { return __builtin_tan(x); }
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const Angle angle = ReduceAngle(x);
    const auto far = EntriesAt<kAngles>(angle.k);
    const DoubleGroup s = far[kSine], c = far[kCosine], r = angle.r;
    const DoubleGroup r2 = r * r, r4 = r2 * r2;
    const DoubleGroup p01 = Fused(r2, 0x1.11111110f62ddp-3, 0x1.5555555555560p-2);
    const DoubleGroup p23 = Fused(r2, 0x1.664c321f2de61p-6, 0x1.ba1ba316acd9dp-5);
    const DoubleGroup p = Fused(r4, Fused(r4, 0x1.2548eab8b8086p-7, p23), p01);
    const DoubleGroup more = Fused(r * r2, p, angle.tail);
    const DoubleGroup above = Fused(c, r, s), below = FusedLess(s, r, c);
    const DoubleGroup above_lost = Fused(c, r, s - above) + far[kSineRest];
    const DoubleGroup below_lost = FusedLess(s, r, c - below) + far[kCosineRest];
    const DoubleGroup above_low = Fused(c, more, above_lost);
    const DoubleGroup below_rest = FusedLess(s, more, below_lost);
    const DoubleGroup divisor = below + below_rest, divisor_low = (below - divisor) + below_rest;
    const DoubleGroup inverse = DoubleGroup(1.0) / divisor;
    const DoubleGroup ratio = above * inverse;
    const DoubleGroup rest =
        FusedLess(ratio, divisor_low, FusedLess(ratio, divisor, above) + above_low);
    return Choose(Compare<_CMP_EQ_OQ>(x, 0.0), x, Fused(rest, inverse, ratio));
  }
};

// 2^n / (2^n + e) with e = 2^n exp(-x) between 1 and 2. The divisor has two parts, and the quotient
// is corrected by what the second one and its own rounding amount to.
struct Logistic {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    // 1 from 37.4 on, and 0 from -745.2 on. A NaN stays.
    const TableExp e = ExpByTable(-Smaller(40.0, Larger(-745.2, x)));
    const DoubleGroup n = -Floor(e.n), scale = Scaled(1.0, n);
    const DoubleGroup larger = Larger(scale, e.power), smaller = Smaller(scale, e.power);
    const DoubleGroup most = larger + smaller, most_low = (larger - most) + smaller;
    const DoubleGroup divisor = Fused(e.power, e.part, most);
    const DoubleGroup divisor_low = Fused(e.power, e.part, most - divisor) + most_low;
    const DoubleGroup quotient = DoubleGroup(1.0) / divisor;
    const DoubleGroup rest = FusedLess(quotient, divisor_low, FusedLess(quotient, divisor, 1.0));
    return Scaled(Fused(quotient, rest, quotient), n);
  }
};

// 2^n (power - 2^-n + power part): the difference is exact but for what `lost` has, and for 2^-n
// beyond power's last bit.
struct Expm1 {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    // -1 below -37.5, and infinity from 709.8 on. A NaN stays.
    const TableExp e = ExpByTable(Smaller(710.0, Larger(-50.0, x)));
    const DoubleGroup n = Floor(e.n), one = Scaled(1.0, -n);
    const DoubleGroup base = e.power - one, lost = e.power - (base + one);
    const DoubleGroup high = Fused(e.power, e.part, base);
    const DoubleGroup low = Fused(e.power, e.part, base - high) + Fused(e.power, e.part_low, lost);
    return WithSign(Scaled(high + low, n), x);
  }
};

// (p - 1) / (p + 1) with p = exp(2 |x|), both over 2^n, in two parts. With a polynomial beside 0 it
// took 1.38 ns an element on an Emerald Rapids, and 1.2 so.
struct Tanh {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup size = Smaller(22.0, Magnitude(x));  // 1 from there on; a NaN stays
    const TableExp e = ExpByTable(size + size);
    constexpr uint64_t kOne = uint64_t{1023} << 52;
    const DoubleGroup one = ToDoubles(WordGroup(kOne) - ShiftedLeft<52>(ShiftedRight<4>(e.k)));
    const DoubleGroup base = e.power - one, high = Fused(e.power, e.part, base);
    const DoubleGroup low = Fused(e.power, e.part, base - high) + e.part_low;
    const DoubleGroup two = one + one, larger = Larger(high, two), smaller = Smaller(high, two);
    const DoubleGroup divisor = larger + smaller;
    const DoubleGroup divisor_low = ((larger - divisor) + smaller) + low;
    const DoubleGroup inverse = DoubleGroup(1.0) / divisor, quotient = high * inverse;
    const DoubleGroup rest =
        FusedLess(quotient, divisor_low, FusedLess(quotient, divisor, high) + low);
    return WithSign(Fused(rest, inverse, quotient), x);
  }
};

}  // namespace

void FillTablesF64(BlockKernels* k) {
  Entry(k, BlockOp::kExpm1, CType::kF64) = DoublesLoop<Expm1>;
  Entry(k, BlockOp::kSin, CType::kF64) = DoublesLoop<Sin, true>;
  Entry(k, BlockOp::kCos, CType::kF64) = DoublesLoop<Cos, true>;
  Entry(k, BlockOp::kTan, CType::kF64) = DoublesLoop<Tan, true>;
  Entry(k, BlockOp::kTanh, CType::kF64) = DoublesLoop<Tanh>;
  Entry(k, BlockOp::kLogistic, CType::kF64) = DoublesLoop<Logistic>;
}
#else
void FillTablesF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
