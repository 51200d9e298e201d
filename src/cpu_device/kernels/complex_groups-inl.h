// SPDX-License-Identifier: Apache-2.0
//
// Functions of c128 numbers whose parts lie in groups of vectors, and numbers in two parts. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_GROUPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_GROUPS_INL_H_

#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/double_groups-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

struct ComplexGroup {
  DoubleGroup re, im;
};
constexpr int64_t kGroupBytes = sizeof(ComplexGroup);
#if defined(__AVX512F__)
PJRT_INLINE Doubles FirstOfPairs(Doubles a, Doubles b) { return _mm512_unpacklo_pd(a, b); }
PJRT_INLINE Doubles SecondOfPairs(Doubles a, Doubles b) { return _mm512_unpackhi_pd(a, b); }
#else
PJRT_INLINE Doubles FirstOfPairs(Doubles a, Doubles b) { return _mm256_unpacklo_pd(a, b); }
PJRT_INLINE Doubles SecondOfPairs(Doubles a, Doubles b) { return _mm256_unpackhi_pd(a, b); }
#endif
// Vectors of parts hold elements in the order in which the parts of halves unpack: 0, kDoubles / 2,
// 1, ...
PJRT_INLINE int64_t ElementOf(int64_t i) {
  const int64_t lane = i % kDoubles;
  return i - lane + lane / 2 + lane % 2 * (kDoubles / 2);
}
PJRT_INLINE ComplexGroup LoadComplexes(const C128* from) {
  ComplexGroup z;
  for (int i = 0; i < kWays; ++i) {
    const double* const part = &from[i * kDoubles].re;
    const Doubles a = LoadDoubles(part), b = LoadDoubles(part + kDoubles);
    z.re.v[i] = FirstOfPairs(a, b);
    z.im.v[i] = SecondOfPairs(a, b);
  }
  return z;
}
PJRT_INLINE void StoreComplexes(C128* to, const ComplexGroup& z) {
  for (int i = 0; i < kWays; ++i) {
    double* const part = &to[i * kDoubles].re;
    StoreDoubles(part, FirstOfPairs(z.re.v[i], z.im.v[i]));
    StoreDoubles(part + kDoubles, SecondOfPairs(z.re.v[i], z.im.v[i]));
  }
}

template <C128 (*kComplete)(C128)>
__attribute__((noinline)) void ReplaceRare(C128* to, const ComplexGroup& z, MaskGroup rare) {
  double re[kLanes], im[kLanes];
  __builtin_memcpy(re, &z.re, sizeof(re));
  __builtin_memcpy(im, &z.im, sizeof(im));
  for (int64_t i = 0; i < kLanes; ++i) {
    if ((Lanes(rare.v[i / kDoubles]) >> i % kDoubles & 1) != 0) {
      to[ElementOf(i)] = kComplete({re[i], im[i]});
    }
  }
}
// run(to, from, count, beside) of all groups, and of one that has the last elements and ones.
template <void (*kRun)(C128*, const C128*, int64_t, const Beside&)>
PJRT_INLINE void OverGroups(void* dst, const void* a, const void* c, int64_t n) {
  C128* const d = static_cast<C128*>(dst);
  const C128* const x = static_cast<const C128*>(a);
  const int64_t count = n / kLanes, i = count * kLanes;
  kRun(d, x, count, BesideOf(c));
  if (i == n) return;
  C128 rest[kLanes];
  for (C128& each : rest) each = {1, 1};
  __builtin_memcpy(rest, x + i, (n - i) * sizeof(C128));
  kRun(rest, rest, 1, kNothingBeside);
  __builtin_memcpy(d + i, rest, (n - i) * sizeof(C128));
}

// Function::Run of all elements but those that IsRare tells, which kComplete replaces, one at a
// time.
template <class Function, C128 (*kComplete)(C128)>
PJRT_INLINE void RunComplexes(C128* to, const C128* from, int64_t count, const Beside& beside) {
  for (; count > 0; --count, to += kLanes, from += kLanes) {
    const ComplexGroup z = LoadComplexes(from);
    const MaskGroup rare = Function::IsRare(z);
    StoreComplexes(to, Function::Run(z));
    GoOn<kGroupBytes>(beside);
    if (__builtin_expect(AnyOf(rare), 0)) ReplaceRare<kComplete>(to, z, rare);
  }
}
template <class Function, C128 (*kComplete)(C128)>
void ComplexesLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  OverGroups<RunComplexes<Function, kComplete>>(dst, a, c, n);
}
// The same where Function::AnyRare tells first whether to look for them.
template <class Function, C128 (*kComplete)(C128)>
__attribute__((noinline)) void StoreAllButRare(C128* to, const C128* from,
                                               const ComplexGroup& result) {
  const ComplexGroup z = LoadComplexes(from);
  const MaskGroup rare = Function::IsRare(z);
  StoreComplexes(to, result);
  if (AnyOf(rare)) ReplaceRare<kComplete>(to, z, rare);
}
template <class Function, C128 (*kComplete)(C128)>
PJRT_INLINE void RunChecked(C128* to, const C128* from, int64_t count, const Beside& beside) {
  for (; count > 0; --count, to += kLanes, from += kLanes) {
    const ComplexGroup z = LoadComplexes(from), result = Function::Run(z);
    GoOn<kGroupBytes>(beside);
    if (__builtin_expect(Function::AnyRare(z), 0)) {
      StoreAllButRare<Function, kComplete>(to, from, result);
    } else {
      StoreComplexes(to, result);
    }
  }
}
template <class Function, C128 (*kComplete)(C128)>
void CheckedLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  OverGroups<RunChecked<Function, kComplete>>(dst, a, c, n);
}

// Function::Run of all elements but those that it marks, of which Function::RunCarefully has all
// that are not rare.
template <class Function, C128 (*kComplete)(C128)>
__attribute__((noinline)) void ReplaceMarked(C128* to, const ComplexGroup& z, MaskGroup marked) {
  const ComplexGroup careful = Function::RunCarefully(z);
  const MaskGroup rare = Function::IsRare(z);
  double re[kLanes], im[kLanes];
  __builtin_memcpy(re, &careful.re, sizeof(re));
  __builtin_memcpy(im, &careful.im, sizeof(im));
  for (int64_t i = 0; i < kLanes; ++i) {
    if ((Lanes(marked.v[i / kDoubles]) >> i % kDoubles & 1) != 0) to[ElementOf(i)] = {re[i], im[i]};
  }
  if (AnyOf(rare)) ReplaceRare<kComplete>(to, z, rare);
}
template <class Function, C128 (*kComplete)(C128)>
__attribute__((noinline)) void StoreAllButMarked(C128* to, const C128* from,
                                                 const ComplexGroup& result, MaskGroup marked) {
  const ComplexGroup z = LoadComplexes(from);
  StoreComplexes(to, result);
  if (AnyOf(marked)) ReplaceMarked<Function, kComplete>(to, z, marked);
}
// The same of a function that leaves zeros as they are.
template <class Function, C128 (*kComplete)(C128)>
__attribute__((noinline)) void ReplaceMarkedAndZeros(C128* to, const ComplexGroup& z,
                                                     MaskGroup marked) {
  const DoubleGroup size = Magnitude(z.re) + Magnitude(z.im);
  const ComplexGroup result = LoadComplexes(to);
  const MaskGroup zero = Compare<_CMP_EQ_OQ>(size, 0.0);
  StoreComplexes(to, {Choose(zero, z.re, result.re), Choose(zero, z.im, result.im)});
  marked = Both(marked, Compare<_CMP_NEQ_UQ>(size, 0.0));
  if (AnyOf(marked)) ReplaceMarked<Function, kComplete>(to, z, marked);
}
template <class Function, C128 (*kComplete)(C128)>
PJRT_INLINE void RunMarking(C128* to, const C128* from, int64_t count, const Beside& beside) {
  for (; count > 0; --count, to += kLanes, from += kLanes) {
    const ComplexGroup z = LoadComplexes(from);
    MaskGroup marked;
    StoreComplexes(to, Function::Run(z, &marked));
    GoOn<kGroupBytes>(beside);
    if (__builtin_expect(AnyOf(marked), 0)) {
      ReplaceMarkedAndZeros<Function, kComplete>(to, z, marked);
    }
  }
}
template <class Function, C128 (*kComplete)(C128)>
void MarkingLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  OverGroups<RunMarking<Function, kComplete>>(dst, a, c, n);
}
// x rounded to some digits.
template <int kDigits>
PJRT_INLINE DoubleGroup CutOff(DoubleGroup x) {
  constexpr int kRest = 53 - kDigits;
  const WordGroup words = ToWords(x) + WordGroup(uint64_t{1} << (kRest - 1));
  const Words kept = AllWords(~uint64_t{0} << kRest);
  return PJRT_EACH(DoubleGroup, (Doubles)(words.v[i] & kept));
}

// Numbers in two parts, of which the second one may be a hundredth of the first.
struct PairGroup {
  DoubleGroup high, low;
};
PJRT_INLINE PairGroup Times(PairGroup a, PairGroup b) {
  const DoubleGroup product = a.high * b.high, lost = Fused(a.high, b.high, -product);
  return {product, Fused(a.high, b.low, Fused(a.low, b.high + b.low, lost))};
}
PJRT_INLINE DoubleGroup Rounded(PairGroup x) { return x.high + x.low; }
PJRT_INLINE PairGroup Square(PairGroup x) {
  const DoubleGroup square = x.high * x.high, lost = Fused(x.high, x.high, -square);
  return {square, Fused(x.low, Fused(x.high, 2, x.low), lost)};
}
// The sum of squares of two numbers, the larger one first.
PJRT_INLINE PairGroup SumOfSquares(DoubleGroup a, DoubleGroup b) {
  const DoubleGroup square = a * a, sum = Fused(b, b, square);
  return {sum, Fused(b, b, square - sum) + Fused(a, a, -square)};
}
// The sum of positive numbers; its second part is below the first one's last bit.
PJRT_INLINE PairGroup Sum(PairGroup a, PairGroup b) {
  const DoubleGroup larger = Larger(a.high, b.high), smaller = Smaller(a.high, b.high);
  const DoubleGroup most = larger + smaller;
  const DoubleGroup rest = ((larger - most) + smaller) + (a.low + b.low);
  const DoubleGroup sum = most + rest;
  return {sum, (most - sum) + rest};
}
// The sum of any numbers.
PJRT_INLINE PairGroup AnySum(DoubleGroup a, DoubleGroup b) {
  const DoubleGroup sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
// a / b for b as Sum gives it; `inverse` is 1 / b.high.
PJRT_INLINE DoubleGroup Quotient(PairGroup a, PairGroup b, DoubleGroup inverse) {
  const DoubleGroup quotient = a.high * inverse;
  const DoubleGroup rest = FusedLess(quotient, b.low, FusedLess(quotient, b.high, a.high) + a.low);
  return Fused(rest, inverse, quotient);
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_GROUPS_INL_H_
