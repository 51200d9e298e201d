// SPDX-License-Identifier: Apache-2.0
//
// A few rows times a matrix, bound by how fast the matrix is read: it is read once, in order.
#include "src/cpu_device/kernels/gemm_tile-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Rows of the matrix that are read side by side.
constexpr int kDepth = 8;
// Rows of the transposed matrix that share what is read of the row.
constexpr int kLines = 4;

// kVectors neighbouring vectors of each row of c, plus kSteps steps of the inner dimension.
template <typename T, int kRows, int kVectors, int kSteps>
PJRT_INLINE void AddSteps(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b,
                          int64_t b_stride, bool accumulate) {
  using V = typename VectorOf<T>::Type;
  using U = typename VectorOf<T>::Unaligned;
  constexpr int kWidth = kLanes<T>;
  V sums[kRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = accumulate
                       ? static_cast<V>(*reinterpret_cast<const U*>(c + i * c_stride + j * kWidth))
                       : V{};
  }
#pragma GCC unroll 8
  for (int p = 0; p < kSteps; ++p) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) {
      const V row = *reinterpret_cast<const U*>(b + p * b_stride + j * kWidth);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) sums[i][j] += row * a[i * a_stride + p];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      *reinterpret_cast<U*>(c + i * c_stride + j * kWidth) = sums[i][j];
  }
}

template <typename T, int kRows, int kSteps>
PJRT_INLINE void AddRows(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b,
                         int64_t b_stride, int64_t n, bool accumulate) {
  constexpr int kWidth = kLanes<T>;
  int64_t j = 0;
  for (; j + 2 * kWidth <= n; j += 2 * kWidth)
    AddSteps<T, kRows, 2, kSteps>(c + j, c_stride, a, a_stride, b + j, b_stride, accumulate);
  for (; j + kWidth <= n; j += kWidth)
    AddSteps<T, kRows, 1, kSteps>(c + j, c_stride, a, a_stride, b + j, b_stride, accumulate);
  for (; j < n; ++j) {
    for (int i = 0; i < kRows; ++i) {
      T sum = accumulate ? c[i * c_stride + j] : T{};
      for (int p = 0; p < kSteps; ++p) sum += b[p * b_stride + j] * a[i * a_stride + p];
      c[i * c_stride + j] = sum;
    }
  }
}

template <typename T, int kRows>
void RowsTimes(void* c, int64_t c_stride, const void* a, int64_t a_stride, const void* b,
               int64_t b_stride, int64_t k, int64_t n, bool accumulate) {
  T* const d = static_cast<T*>(c);
  const T* const x = static_cast<const T*>(a);
  const T* const m = static_cast<const T*>(b);
  int64_t p = 0;
  for (; p + kDepth <= k; p += kDepth)
    AddRows<T, kRows, kDepth>(d, c_stride, x + p, a_stride, m + p * b_stride, b_stride, n,
                              accumulate || p > 0);
  for (; p < k; ++p)
    AddRows<T, kRows, 1>(d, c_stride, x + p, a_stride, m + p * b_stride, b_stride, n,
                         accumulate || p > 0);
}

template <typename T>
PJRT_INLINE T SumLanes(typename VectorOf<T>::Type v) {
  T lanes[kLanes<T>];
  __builtin_memcpy(lanes, &v, sizeof(v));
  for (int half = kLanes<T> / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  }
  return lanes[0];
}

// Sums of kCount lines, two vectors of each at a time.
template <typename T, int kCount>
PJRT_INLINE void DotLines(T* c, const T* a, const T* b, int64_t b_stride, int64_t k,
                          bool accumulate) {
  using V = typename VectorOf<T>::Type;
  using U = typename VectorOf<T>::Unaligned;
  constexpr int kWidth = kLanes<T>;
  V sums[kCount][2];
#pragma GCC unroll 4
  for (int l = 0; l < kCount; ++l) sums[l][0] = sums[l][1] = V{};
  int64_t p = 0;
  for (; p + 2 * kWidth <= k; p += 2 * kWidth) {
    const V x0 = *reinterpret_cast<const U*>(a + p);
    const V x1 = *reinterpret_cast<const U*>(a + p + kWidth);
#pragma GCC unroll 4
    for (int l = 0; l < kCount; ++l) {
      sums[l][0] += *reinterpret_cast<const U*>(b + l * b_stride + p) * x0;
      sums[l][1] += *reinterpret_cast<const U*>(b + l * b_stride + p + kWidth) * x1;
    }
  }
  for (int l = 0; l < kCount; ++l) {
    T sum = SumLanes<T>(sums[l][0] + sums[l][1]);
    for (int64_t q = p; q < k; ++q) sum += b[l * b_stride + q] * a[q];
    c[l] = accumulate ? c[l] + sum : sum;
  }
}

template <typename T>
void LinesTimes(void* c, const void* a, const void* b, int64_t b_stride, int64_t k, int64_t n,
                bool accumulate) {
  T* const d = static_cast<T*>(c);
  const T* const x = static_cast<const T*>(a);
  const T* const lines = static_cast<const T*>(b);
  int64_t j = 0;
  for (; j + kLines <= n; j += kLines)
    DotLines<T, kLines>(d + j, x, lines + j * b_stride, b_stride, k, accumulate);
  for (; j < n; ++j) DotLines<T, 1>(d + j, x, lines + j * b_stride, b_stride, k, accumulate);
}

template <typename T>
void Set(GemmKernels* kernels, CType type) {
  kernels->rows[static_cast<int>(type)] = {
      {RowsTimes<T, 1>, RowsTimes<T, 2>, RowsTimes<T, 3>, RowsTimes<T, 4>}, LinesTimes<T>};
}

}  // namespace

void FillRowKernels(GemmKernels* kernels) {
  Set<float>(kernels, CType::kF32);
  Set<double>(kernels, CType::kF64);
  // Sums of products that wrap have the same bits, signed or not.
  Set<uint32_t>(kernels, CType::kS32);
  Set<uint32_t>(kernels, CType::kU32);
  Set<uint64_t>(kernels, CType::kS64);
  Set<uint64_t>(kernels, CType::kU64);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
