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

// -c and arctan(c), a multiple of 2^-51, to 2^-67, for a c within 2^-3.9 of the angles of quotients
// whose bits are those of 1 less up to i + 1 quarters of an octave, and 0 for all below 2^-3.6.
constexpr Columns<2> kArcs = {
    {{{-0x1.ca430c8a14de9p-1, -0x1.87fde9a9c2d42p-1, -0x1.506a696e3b812p-1, -0x1.1f25b706cb0a7p-1,
       -0x1.cbd7f96fd5293p-2, -0x1.89bc878f1a9c6p-2, -0x1.51adc85dd5c41p-2, -0x1.1fbd55701de57p-2,
       -0x1.cc86aa124ea7cp-3, -0x1.8a68a4a8dc023p-3, -0x1.521f28f52399fp-3, -0x1.1fee5a6b25c15p-3,
       -0x1.ccba99e42ca94p-4, -0x1.8a99b28aea336p-4, -0x1.523e6e19ed78cp-4, 0}},
     {{0x1.75cbad2a4ccfcp-1, 0x1.4e8c94dc1273cp-1, 0x1.29a33f97da818p-1, 0x1.05b1f9748971cp-1,
       0x1.b034f3864ba58p-2, 0x1.77e3f337af5f8p-2, 0x1.462e150b003b8p-2, 0x1.1881919d05630p-2,
       0x1.c4fdbf9122ef0p-3, 0x1.85a376b679d80p-3, 0x1.4f195082257b0p-3, 0x1.1e0e61b0e7e20p-3,
       0x1.cacce8ec80860p-4, 0x1.8962e932c17e0p-4, 0x1.517a6719dbc60p-4, 0}}}};
constexpr double kLastArc = 0x1.cp-1020;  // the bits are 15 << 50
// The entries for a tangent a / b of a size of at most 1, of any sign.
template <const auto& kAngles = kArcs>
PJRT_INLINE EntryGroup<kAngles> ArcNear(DoubleGroup a, DoubleGroup b) {
  // Bits tell the logarithm to 0.09.
  const DoubleGroup below = ToDoubles(ToWords(b) - ToWords(a));
  return EntriesAt<kAngles>(ShiftedRight<50>(ToWords(LeastSize(kLastArc, below))));
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
// arctan(a / b) by -c and arctan(c) for a c near that.
PJRT_INLINE DoubleGroup ArcFrom(DoubleGroup c, DoubleGroup arc, DoubleGroup a, DoubleGroup b) {
  const DoubleGroup t = Fused(c, b, a) / FusedLess(c, a, b), t2 = t * t;
  const DoubleGroup p12 = Fused(t2, 0x1.99999998d654ap-3, -0x1.555555555551ap-2);
  const DoubleGroup p34 = Fused(t2, 0x1.c712e86b882a3p-4, -0x1.249245eba92b7p-3);
  const DoubleGroup t4 = t2 * t2, p345 = Fused(t4, -0x1.6e97d651daca3p-4, p34);
  return arc + Fused(t * t2, Fused(t4, p345, p12), t);
}
// arctan(a / b) for positive a <= b.
PJRT_INLINE DoubleGroup ArcOf(DoubleGroup a, DoubleGroup b) {
  const auto near = ArcNear(a, b);
  return ArcFrom(near[0], near[1], a, b);
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
// Function::End of groups of which some may have elements beyond vectors.
template <class Function, bool kFirst, bool kSecond>
__attribute__((noinline)) void EndWithRare(const typename Function::Half* half, C128* d,
                                           const C128* x, const C128* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const C128 *const a = kFirst ? x : x + i * kLanes, *const b = kSecond ? y : y + i * kLanes;
    const MaskGroup outside =
        Function::IsOutside(half[i], LoadOperand<kFirst>(a), LoadOperand<kSecond>(b));
    const ComplexGroup result = Function::End(half[i]);
    if (AnyOf(outside)) {
      ReplaceOutside<Function>(d + i * kLanes, a, b, kFirst, kSecond, result, outside);
    } else {
      StoreComplexes(d + i * kLanes, result);
    }
  }
}
// Function::End of what Function::Begin gives, some groups at a time; that has Function::Watched
// tell whether elements of a group may be beyond vectors. kFirst, kSecond: that operand is one
// element.
template <class Function, bool kFirst, bool kSecond>
PJRT_INLINE void RunBinary(C128* d, const C128* x, const C128* y, int64_t groups,
                           const Beside& beside) {
  constexpr int64_t kTogether = 8;
  typename Function::Half half[kTogether];
  for (int64_t from = 0; from < groups; from += kTogether) {
    const int64_t count = groups - from < kTogether ? groups - from : kTogether;
    typename Function::Watched watched;
    for (int64_t i = 0; i < count; ++i) {
      Function::Begin(LoadOperand<kFirst>(kFirst ? x : x + i * kLanes),
                      LoadOperand<kSecond>(kSecond ? y : y + i * kLanes), &half[i], &watched);
      GoOn<kFirstHalf<kGroupBytes>>(beside);
    }
    if (__builtin_expect(AnyOf(Function::MayBeOutside(watched)), 0)) {
      EndWithRare<Function, kFirst, kSecond>(half, d, x, y, count);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        StoreComplexes(d + i * kLanes, Function::End(half[i]));
        GoOn<kGroupBytes - kFirstHalf<kGroupBytes>>(beside);
      }
    }
    d += kTogether * kLanes;
    x += kFirst ? 0 : kTogether * kLanes;
    y += kSecond ? 0 : kTogether * kLanes;
  }
}
template <class Function, bool kFirst, bool kSecond>
void BinaryComplexesLoop(void* dst, const void* a, const void* b, const void* c, int64_t n) {
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
  RunBinary<Function, kFirst, kSecond>(d, kFirst ? first : x, kSecond ? second : y, groups,
                                       BesideOf(c));
  if (i == n) return;
  const size_t bytes = (n - i) * sizeof(C128);
  if (!kFirst) __builtin_memcpy(first, x + i, bytes);
  if (!kSecond) __builtin_memcpy(second, y + i, bytes);
  RunBinary<Function, false, false>(first, first, second, 1, kNothingBeside);
  __builtin_memcpy(d + i, first, bytes);
}
template <class Function>
PJRT_INLINE void SetBinaryComplex(BlockKernels* k, BlockOp op) {
  constexpr CType kType = CType::kC128;
  BesideEntry(k, op, kType) = BinaryComplexesLoop<Function, false, false>;
  BesideEntry(k, op, kType, Scalars::kFirst) = BinaryComplexesLoop<Function, true, false>;
  BesideEntry(k, op, kType, Scalars::kSecond) = BinaryComplexesLoop<Function, false, true>;
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_LOG_GROUPS_INL_H_
