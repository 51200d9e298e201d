// SPDX-License-Identifier: Apache-2.0
//
// Angles of f64 as multiples of pi / 16 and a rest, with the multiples' sines and cosines. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_ANGLE_GROUPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_ANGLE_GROUPS_INL_H_

#include "src/cpu_device/kernels/double_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// sin(k pi / 16) and cos(k pi / 16), and what rounding them lost. The first zero is
// such that the sine of -0 is -0.
enum { kSine, kSineRest, kCosine, kCosineRest };
constexpr Columns<4> kAngles = {
    {{{-0.0, 0x1.8f8b83c69a60bp-3, 0x1.87de2a6aea963p-2, 0x1.1c73b39ae68c8p-1, 0x1.6a09e667f3bcdp-1,
       0x1.a9b66290ea1a3p-1, 0x1.d906bcf328d46p-1, 0x1.f6297cff75cb0p-1, 1, 0x1.f6297cff75cb0p-1,
       0x1.d906bcf328d46p-1, 0x1.a9b66290ea1a3p-1, 0x1.6a09e667f3bcdp-1, 0x1.1c73b39ae68c8p-1,
       0x1.87de2a6aea963p-2, 0x1.8f8b83c69a60bp-3}},
     {{0, -0x1.26d19b9ff8d82p-57, -0x1.72cedd3d5a610p-57, 0x1.b25dd267f6600p-55,
       -0x1.bdd3413b26456p-55, 0x1.9f630e8b6dac8p-60, 0x1.457e610231ac2p-56, 0x1.562172a361fd3p-56,
       0, 0x1.562172a361fd3p-56, 0x1.457e610231ac2p-56, 0x1.9f630e8b6dac8p-60,
       -0x1.bdd3413b26456p-55, 0x1.b25dd267f6600p-55, -0x1.72cedd3d5a610p-57,
       -0x1.26d19b9ff8d82p-57}},
     {{1, 0x1.f6297cff75cb0p-1, 0x1.d906bcf328d46p-1, 0x1.a9b66290ea1a3p-1, 0x1.6a09e667f3bcdp-1,
       0x1.1c73b39ae68c8p-1, 0x1.87de2a6aea963p-2, 0x1.8f8b83c69a60bp-3, 0, -0x1.8f8b83c69a60bp-3,
       -0x1.87de2a6aea963p-2, -0x1.1c73b39ae68c8p-1, -0x1.6a09e667f3bcdp-1, -0x1.a9b66290ea1a3p-1,
       -0x1.d906bcf328d46p-1, -0x1.f6297cff75cb0p-1}},
     {{0, 0x1.562172a361fd3p-56, 0x1.457e610231ac2p-56, 0x1.9f630e8b6dac8p-60,
       -0x1.bdd3413b26456p-55, 0x1.b25dd267f6600p-55, -0x1.72cedd3d5a610p-57,
       -0x1.26d19b9ff8d82p-57, 0, 0x1.26d19b9ff8d82p-57, 0x1.72cedd3d5a610p-57,
       -0x1.b25dd267f6600p-55, 0x1.bdd3413b26456p-55, -0x1.9f630e8b6dac8p-60,
       -0x1.457e610231ac2p-56, -0x1.562172a361fd3p-56}}}};

// An angle as r + tail + k pi / 16, |r| <= pi / 32, with k in the low bits.
struct Angle {
  DoubleGroup r, tail;
  WordGroup k;
};
// For |x| <= kLargestAngle. pi / 16 in three parts. The first subtraction is exact, since nothing
// below the first part's last bit is left, and so is the second part's product with k; what its
// subtraction loses is kept. So numbers as near to a multiple of pi / 2 as 2^-60 keep all their
// digits.
constexpr double kLargestAngle = 0x1p+20;
PJRT_INLINE Angle ReduceAngle(DoubleGroup x) {
  constexpr double kPart1 = 0x1.921fb54442d18p-3, kPart2 = 0x1.1a62634p-57,
                   kPart3 = -0x1.d747f23e32ed7p-86;
  const DoubleGroup shifted = Fused(x, 0x1.45f306dc9c883p+2, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const DoubleGroup most = FusedLess(k, kPart1, x), r = FusedLess(k, kPart2, most);
  const DoubleGroup lost = FusedLess(k, kPart2, most - r);
  return {r, FusedLess(k, kPart3, lost), ToWords(shifted)};
}

// sin(r + tail) - r and cos(r) - 1 for |r| <= pi / 32.
struct SmallAngle {
  DoubleGroup more_sine, less_cosine;
};
PJRT_INLINE SmallAngle SmallAngleOf(DoubleGroup r, DoubleGroup tail) {
  const DoubleGroup r2 = r * r, r4 = r2 * r2, cubed = r * r2;
  const DoubleGroup sine01 = Fused(r2, 0x1.1111111110471p-7, -0x1.5555555555555p-3);
  const DoubleGroup sine23 = Fused(r2, 0x1.71cda2e53bfc4p-19, -0x1.a01a0139c25adp-13);
  const DoubleGroup cosine01 = Fused(r2, 0x1.555555555329dp-5, -0.5);
  const DoubleGroup cosine23 = Fused(r2, 0x1.a003317cef198p-16, -0x1.6c16c0df5ef68p-10);
  return {Fused(cubed, Fused(r4, sine23, sine01), tail), r2 * Fused(r4, cosine23, cosine01)};
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_ANGLE_GROUPS_INL_H_
