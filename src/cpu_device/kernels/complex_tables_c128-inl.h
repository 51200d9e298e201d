// SPDX-License-Identifier: Apache-2.0
//
// What exponential and trigonometric functions of c128 numbers from tables are made of. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_TABLES_C128_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_TABLES_C128_INL_H_

#include "src/cpu_device/kernels/angle_groups-inl.h"
#include "src/cpu_device/kernels/complex_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The sine and cosine of an angle, but for a sign that `turn` has for both: see SineOf in
// block_tables_f64.cc. The sign of a zero is right. If kNearOne, `middle` belongs between the
// cosine's parts, so that the cosine less 1 keeps its digits.
struct SineCosine {
  PairGroup sine, cosine;
  DoubleGroup middle;
  WordGroup turn;
};
template <bool kNearOne = false>
PJRT_INLINE SineCosine SineCosineOf(DoubleGroup x) {
  const Angle angle = ReduceAngle(x);
  const auto turn = EntriesAt<kAngles>(angle.k);
  const DoubleGroup s = turn[kSine], c = turn[kCosine], r = angle.r;
  const auto [more_sine, less_cosine] = SmallAngleOf(r, angle.tail);
  const DoubleGroup sine = Fused(c, r, s), cosine = FusedLess(s, r, c);
  const DoubleGroup sine_lost = Fused(c, r, s - sine) + turn[kSineRest];
  const DoubleGroup cosine_lost = FusedLess(s, r, c - cosine) + turn[kCosineRest];
  const DoubleGroup cosine_rest = FusedLess(s, more_sine, cosine_lost);
  SineCosine result = {{sine, Fused(s, less_cosine, Fused(c, more_sine, sine_lost))},
                       {cosine, Fused(c, less_cosine, cosine_rest)},
                       0.0,
                       ShiftedLeft<59>(angle.k)};
  if constexpr (kNearOne) {
    const DoubleGroup r2 = r * r, r4 = r2 * r2;
    const DoubleGroup half = r * -0.5, most = half * r;
    const DoubleGroup lost = FusedLess(r, angle.tail, Fused(half, r, -most));
    const DoubleGroup p01 = Fused(r2, -0x1.6c16c16c1639fp-10, 0x1.5555555555555p-5);
    const DoubleGroup p23 = Fused(r2, -0x1.27d9e62454ea1p-22, 0x1.a01a015b99554p-16);
    const DoubleGroup less = Fused(r4, Fused(r4, p23, p01), lost);
    result.middle = c * most;
    const DoubleGroup middle_lost = Fused(c, most, -result.middle);
    const DoubleGroup of_rests = FusedLess(turn[kSineRest], r, turn[kCosineRest] * most);
    result.cosine.low = Fused(c, less, cosine_rest + (middle_lost + of_rests));
  }
  return result;
}

// A number as k log(2) / 16 + r + tail, with k in the low bits of `shifted`.
struct Multiple {
  DoubleGroup shifted, k, r, tail;
};
PJRT_INLINE Multiple MultipleOf(DoubleGroup x) {
  // log(2) / 16 in two parts, of which the first has 36 bits.
  constexpr double kStep = 0x1.62e42fefap-5, kStepLow = 0x1.cf79abc9e3b3ap-44;
  const DoubleGroup shifted = Fused(x, 0x1.71547652b82fep+4, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift, most = FusedLess(k, kStep, x);
  const DoubleGroup r = FusedLess(k, kStepLow, most);
  return {shifted, k, r, FusedLess(k, kStepLow, most - r)};
}

// Whether exp(x) may leave the range, or an angle is large.
PJRT_INLINE MaskGroup IsOutside(DoubleGroup x, DoubleGroup angle) {
  return Either(Compare<_CMP_NLT_UQ>(Magnitude(x), 700),
                Compare<_CMP_NLE_UQ>(Magnitude(angle), kLargestAngle));
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_TABLES_C128_INL_H_
