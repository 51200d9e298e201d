// SPDX-License-Identifier: Apache-2.0
//
// Angles of f64 as multiples of pi / 16, or points near them, and a rest, with the sines and
// cosines of these. See level-inl.h for who may include it.
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
constexpr double kAnglePart1 = 0x1.921fb54442d18p-3, kAnglePart2 = 0x1.1a62634p-57,
                 kAnglePart3 = -0x1.d747f23e32ed7p-86;
constexpr double kAngleRest = 0x1.1a62633145c07p-57;  // the sum of the last two
PJRT_INLINE Angle ReduceAngle(DoubleGroup x) {
  const DoubleGroup shifted = Fused(x, 0x1.45f306dc9c883p+2, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const DoubleGroup most = FusedLess(k, kAnglePart1, x), r = FusedLess(k, kAnglePart2, most);
  const DoubleGroup lost = FusedLess(k, kAnglePart2, most - r);
  return {r, FusedLess(k, kAnglePart3, lost), ToWords(shifted)};
}

// Sine and cosine of k pi / 16 + offset, which both are f64 numbers but for 2^-61, so that no
// second parts are to be fetched, and the offset, of so few digits that its subtraction is exact.
enum { kPointSine, kPointCosine, kPointOffset };
constexpr Columns<3> kPoints = {
    {{{-0.0, 0x1.8f8b83c52b698p-3, 0x1.87de2a6afe4f4p-2, 0x1.1c73b39ac9e89p-1, 0x1.6a09e68426026p-1,
       0x1.a9b66290fd3d4p-1, 0x1.d906bcf324bebp-1, 0x1.f6297cff880aap-1, 1, 0x1.f6297cff880aap-1,
       0x1.d906bcf324bebp-1, 0x1.a9b66290fd3d4p-1, 0x1.6a09e68426026p-1, 0x1.1c73b39ac9e89p-1,
       0x1.87de2a6afe4f4p-2, 0x1.8f8b83c52b698p-3}},
     {{1, 0x1.f6297cff880aap-1, 0x1.d906bcf324bebp-1, 0x1.a9b66290fd3d4p-1, 0x1.6a09e64bc1773p-1,
       0x1.1c73b39ac9e89p-1, 0x1.87de2a6afe4f4p-2, 0x1.8f8b83c52b698p-3, 0, -0x1.8f8b83c52b698p-3,
       -0x1.87de2a6afe4f4p-2, -0x1.1c73b39ac9e89p-1, -0x1.6a09e64bc1773p-1, -0x1.a9b66290fd3d4p-1,
       -0x1.d906bcf324bebp-1, -0x1.f6297cff880aap-1}},
     {{0, -0x1.7627a00000000p-35, 0x1.5591400000000p-38, -0x1.1390a00000000p-36,
       0x1.3f016c7000000p-28, 0x1.1390a00000000p-36, -0x1.5591400000000p-38, 0x1.7627a00000000p-35,
       0, -0x1.7627a00000000p-35, 0x1.5591400000000p-38, -0x1.1390a00000000p-36,
       -0x1.3f016c7000000p-28, 0x1.1390a00000000p-36, -0x1.5591400000000p-38,
       0x1.7627a00000000p-35}}}};

// An angle as such a point and r + tail, for |x| <= kLargestAngle, as ReduceAngle; without kTail r
// is rounded. Sine and cosine are those of the point but for a sign that `turn` has.
struct PointAngle {
  DoubleGroup sine, cosine, r, tail;
  WordGroup turn;
};
template <bool kTail = true>
PJRT_INLINE PointAngle PointAngleOf(DoubleGroup x) {
  const DoubleGroup shifted = Fused(x, 0x1.45f306dc9c883p+2, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const auto point = EntriesAt<kPoints>(ToWords(shifted));
  const DoubleGroup most = FusedLess(k, kAnglePart1, x) - point[kPointOffset];
  const DoubleGroup r = FusedLess(k, kTail ? kAnglePart2 : kAngleRest, most);
  DoubleGroup tail = 0.0;
  if constexpr (kTail) tail = FusedLess(k, kAnglePart3, FusedLess(k, kAnglePart2, most - r));
  return {point[kPointSine], point[kPointCosine], r, tail, ShiftedLeft<59>(ToWords(shifted))};
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
