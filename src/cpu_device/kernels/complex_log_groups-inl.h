// SPDX-License-Identifier: Apache-2.0
//
// Arc tangents in groups of vectors, and loops over two operands of c128. See level-inl.h for who
// may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_LOG_GROUPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_LOG_GROUPS_INL_H_

#include "src/cpu_device/kernels/complex_groups-inl.h"
#include "src/cpu_device/kernels/log_groups-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

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
// The entries for a tangent a / b <= 1.
PJRT_INLINE EntryGroup<kArcs> ArcNear(DoubleGroup a, DoubleGroup b) {
  // Bits tell the logarithm to 0.09.
  const WordGroup quotient = ToWords(Larger(a, b * 0x1.3p-4)) - ToWords(b);
  return EntriesAt<kArcs>(ShiftedRight<50>(quotient + (uint64_t{1} << 49)));
}
// Where the angle of a point above the x axis starts, and whether the arc turns back from there, by
// a sign: steep ones from the y axis, others left of it from the negative x axis.
struct Direction {
  DoubleGroup from, back;
};
PJRT_INLINE Direction DirectionOf(DoubleGroup x, DoubleGroup width, DoubleGroup height) {
  const MaskGroup steep = Compare<_CMP_GT_OQ>(height, width);
  return {Choose(steep, wide::kHalfPi, Choose(IsNegative(x), wide::kPi, 0.0)),
          Turned(x, ToWords(Keep(steep, -0.0)))};
}
constexpr double kPiLost = 0x1.678afae35cdd1p-55;  // by rounding, over pi
// arctan(a / b) for a <= b.
PJRT_INLINE DoubleGroup ArcOf(DoubleGroup a, DoubleGroup b) {
  const auto part = ArcNear(a, b);
  const DoubleGroup c = part[0];
  const DoubleGroup t = FusedLess(c, b, a) / Fused(c, a, b), t2 = t * t;
  const DoubleGroup p12 = Fused(t2, 0x1.99999998d654ap-3, -0x1.555555555551ap-2);
  const DoubleGroup p34 = Fused(t2, 0x1.c712e86b882a3p-4, -0x1.249245eba92b7p-3);
  const DoubleGroup t4 = t2 * t2, p345 = Fused(t4, -0x1.6e97d651daca3p-4, p34);
  return part[1] + Fused(t * t2, Fused(t4, p345, p12), t);
}

template <class Function>
__attribute__((noinline)) void ReplaceOutside(C128* to, const C128* a, const C128* b, bool first,
                                              bool second, const ComplexGroup& result,
                                              MaskGroup outside) {
  C128 x[kLanes], y[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) {
    x[i] = a[first ? 0 : i];
    y[i] = b[second ? 0 : i];
  }
  StoreComplexes(to, result);
  for (int64_t i = 0; i < kLanes; ++i) {
    const int64_t at = ElementOf(i);
    if ((Lanes(outside.v[i / kDoubles]) >> i % kDoubles & 1) != 0) {
      to[at] = Function::RunRare(x[at], y[at]);
    }
  }
}
template <bool kScalar>
PJRT_INLINE ComplexGroup LoadOperand(const C128* from) {
  return kScalar ? ComplexGroup{from->re, from->im} : LoadComplexes(from);
}
// Function::End of what Function::Begin gives, some groups at a time. kFirst, kSecond: that operand
// is one element.
template <class Function, bool kFirst, bool kSecond>
PJRT_INLINE void RunBinary(C128* d, const C128* x, const C128* y, int64_t groups) {
  constexpr int64_t kTogether = 8;
  typename Function::Half half[kTogether];
  for (int64_t from = 0; from < groups; from += kTogether) {
    const int64_t count = groups - from < kTogether ? groups - from : kTogether;
    for (int64_t i = 0; i < count; ++i) {
      half[i] = Function::Begin(LoadOperand<kFirst>(kFirst ? x : x + i * kLanes),
                                LoadOperand<kSecond>(kSecond ? y : y + i * kLanes));
    }
    for (int64_t i = 0; i < count; ++i) {
      C128* const to = d + i * kLanes;
      const ComplexGroup result = Function::End(half[i]);
      const MaskGroup outside = Function::IsOutside(half[i]);
      if (__builtin_expect(AnyOf(outside), 0)) {
        ReplaceOutside<Function>(to, kFirst ? x : x + i * kLanes, kSecond ? y : y + i * kLanes,
                                 kFirst, kSecond, result, outside);
      } else {
        StoreComplexes(to, result);
      }
    }
    d += kTogether * kLanes;
    x += kFirst ? 0 : kTogether * kLanes;
    y += kSecond ? 0 : kTogether * kLanes;
  }
}
template <class Function, bool kFirst, bool kSecond>
void BinaryComplexesLoop(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  C128* const d = static_cast<C128*>(dst);
  const C128* const x = static_cast<const C128*>(a);
  const C128* const y = static_cast<const C128*>(b);
  const int64_t groups = n / kLanes, i = groups * kLanes;
  C128 first[kLanes], second[kLanes];
  for (int64_t j = 0; j < kLanes; ++j) {
    first[j] = kFirst ? *x : C128{1, 1};
    second[j] = kSecond ? *y : C128{2, 1};
  }
  RunBinary<Function, kFirst, kSecond>(d, kFirst ? first : x, kSecond ? second : y, groups);
  if (i == n) return;
  const size_t bytes = (n - i) * sizeof(C128);
  if (!kFirst) __builtin_memcpy(first, x + i, bytes);
  if (!kSecond) __builtin_memcpy(second, y + i, bytes);
  RunBinary<Function, false, false>(first, first, second, 1);
  __builtin_memcpy(d + i, first, bytes);
}
template <class Function>
PJRT_INLINE void SetBinaryComplex(BlockKernels* k, BlockOp op) {
  constexpr CType kType = CType::kC128;
  Entry(k, op, kType) = BinaryComplexesLoop<Function, false, false>;
  Entry(k, op, kType, Scalars::kFirst) = BinaryComplexesLoop<Function, true, false>;
  Entry(k, op, kType, Scalars::kSecond) = BinaryComplexesLoop<Function, false, true>;
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_LOG_GROUPS_INL_H_
