// SPDX-License-Identifier: Apache-2.0
//
// Reductions of rows of contiguous elements. The order of the operations is a tree that depends on
// the length of the row alone, so that each level, and each split of the rows, gives the same bits.
#include "src/cpu_device/kernels/complex-inl.h"
#include "src/cpu_device/kernels/fold-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kLanes = 32;

// The lanes of one reduction in vector registers.
template <typename T>
struct Lanes {
  static constexpr int kVectorBytes =
      PJRT_VECTOR_BYTES < kLanes * sizeof(T) ? PJRT_VECTOR_BYTES : kLanes * sizeof(T);
  static constexpr int kVectors = kLanes * sizeof(T) / kVectorBytes;
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
};

// Folds lanes [0, count), count <= kLanes: lane j with j + 16, then 8, 4, 2, 1, where there is one.
template <class Op, typename T>
PJRT_INLINE T FoldLanes(T* lanes, int64_t count) {
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j + half < count; ++j) lanes[j] = Op::Run(lanes[j], lanes[j + half]);
    if (count > half) count = half;
  }
  return lanes[0];
}

// The same for all lanes, by vectors down to 16 bytes: of a row of 128 elements, one by one took
// most of the time.
template <class Op, typename T, int kHalf = kLanes / 2>
PJRT_INLINE T FoldAllLanes(T* lanes) {
  constexpr int kBytes = kHalf * static_cast<int>(sizeof(T));
  if constexpr (kBytes < 16) {
#pragma GCC unroll 8
    for (int j = 0; j < kHalf; ++j) lanes[j] = Op::Run(lanes[j], lanes[j + kHalf]);
  } else {
    constexpr int kVectorBytes = kBytes < PJRT_VECTOR_BYTES ? kBytes : PJRT_VECTOR_BYTES;
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
#pragma GCC unroll 16
    for (int j = 0; j < kHalf; j += kWidth) {
      Vector low, high;
      __builtin_memcpy(&low, lanes + j, sizeof(low));
      __builtin_memcpy(&high, lanes + kHalf + j, sizeof(high));
      low = Op::Apply(low, high);
      __builtin_memcpy(lanes + j, &low, sizeof(low));
    }
  }
  if constexpr (kHalf > 1) {
    return FoldAllLanes<Op, T, kHalf / 2>(lanes);
  } else {
    return lanes[0];
  }
}

template <class Op, typename T>
PJRT_INLINE T ReduceRow(const T* a, int64_t n) {
  using Vector = typename Lanes<T>::Vector;
  constexpr int kVectors = Lanes<T>::kVectors, kWidth = kLanes / kVectors;
  T lanes[kLanes];
  if (n < kLanes) {
    for (int64_t j = 0; j < n; ++j) lanes[j] = a[j];
    return FoldLanes<Op>(lanes, n);
  }
  Vector sums[kVectors];
#pragma GCC unroll 32
  for (int v = 0; v < kVectors; ++v) __builtin_memcpy(&sums[v], a + v * kWidth, sizeof(Vector));
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 32
    for (int v = 0; v < kVectors; ++v) {
      Vector next;
      __builtin_memcpy(&next, a + i + v * kWidth, sizeof(Vector));
      sums[v] = Op::Apply(sums[v], next);
    }
  }
#pragma GCC unroll 32
  for (int v = 0; v < kVectors; ++v) __builtin_memcpy(lanes + v * kWidth, &sums[v], sizeof(Vector));
  for (int64_t j = 0; i + j < n; ++j) lanes[j] = Op::Run(lanes[j], a[i + j]);
  return FoldAllLanes<Op>(lanes);
}

// Rows that are shorter than the lanes are folded many at a time: lane j of all of them is an
// array.
constexpr int kManyRows = 64;

// to[j * kManyRows + r] = from[r * n + j], for unsigned T. Alike for all operations, so that there
// is one for a size.
template <typename T, int kCount>
void SplitLanesOf(T* __restrict to, const T* __restrict from) {
  for (int r = 0; r < kManyRows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kCount; ++j) to[j * kManyRows + r] = from[r * kCount + j];
  }
}
template <typename T>
__attribute__((noinline)) void SplitLanes(T* __restrict to, const T* __restrict from, int64_t n) {
  switch (n) {
    case 2:
      return SplitLanesOf<T, 2>(to, from);
    case 3:
      return SplitLanesOf<T, 3>(to, from);
    case 4:
      return SplitLanesOf<T, 4>(to, from);
    case 8:
      return SplitLanesOf<T, 8>(to, from);
    default:
      for (int64_t j = 0; j < n; ++j) {
        for (int r = 0; r < kManyRows; ++r) to[j * kManyRows + r] = from[r * n + j];
      }
  }
}

template <class Op, typename T>
PJRT_INLINE void ReduceManyRows(T* out, const T* a, int64_t n) {
  using Bits = UnsignedOf<T>;
  T lanes[kLanes * kManyRows];
  SplitLanes<Bits>(reinterpret_cast<Bits*>(lanes), reinterpret_cast<const Bits*>(a), n);
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j + half < n; ++j) {
      T* const x = lanes + j * kManyRows;
      const T* const y = x + half * kManyRows;
      PJRT_INDEPENDENT_ITERATIONS
      for (int r = 0; r < kManyRows; ++r) x[r] = Op::Run(x[r], y[r]);
    }
    if (n > half) n = half;
  }
  __builtin_memcpy(out, lanes, kManyRows * sizeof(T));
}

template <class Op, typename T>
void ReduceRows(void* out, const void* a, int64_t rows, int64_t n) {
  T* const d = static_cast<T*>(out);
  const T* const s = static_cast<const T*>(a);
  int64_t r = 0;
  if (n < kLanes) {
    for (; r + kManyRows <= rows; r += kManyRows) ReduceManyRows<Op>(d + r, s + r * n, n);
  }
  for (; r < rows; ++r) d[r] = ReduceRow<Op>(s + r * n, n);
}

// The same tree for types that no vector holds.
template <class Op, typename T>
void ReduceRowsPlain(void* out, const void* a, int64_t rows, int64_t n) {
  T* const d = static_cast<T*>(out);
  const T* s = static_cast<const T*>(a);
  for (int64_t r = 0; r < rows; ++r, s += n) {
    T lanes[kLanes];
    const int64_t first = n < kLanes ? n : kLanes;
    for (int64_t j = 0; j < first; ++j) lanes[j] = s[j];
    int64_t i = kLanes;
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Op::Run(lanes[j], s[i + j]);
    }
    for (int64_t j = 0; i + j < n; ++j) lanes[j] = Op::Run(lanes[j], s[i + j]);
    d[r] = FoldLanes<Op>(lanes, first);
  }
}

struct Reductions {
  BlockKernels* kernels;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    ReduceRowsFn& entry =
        kernels->reduce_rows[static_cast<int>(monoid)][static_cast<int>(kCType<T>)];
    if constexpr (IsComplexType<R>) {
      entry = ReduceRowsPlain<Op, R>;
    } else {
      entry = ReduceRows<Op, R>;
    }
  }
};

}  // namespace

void FillReduce(BlockKernels* k) { ForEachFold(Reductions{k}); }

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
