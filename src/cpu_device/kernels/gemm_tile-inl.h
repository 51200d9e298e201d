// SPDX-License-Identifier: Apache-2.0
//
// The tile kernel of matrix products as a template over element type and tile size. Accumulators
// stay in vector registers: rows x vectors of them, plus the row of B and one broadcast element of
// A.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_INL_H_

#include <cstddef>
#include <utility>

#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// Each source of tiles fills its part of the level's table.
void FillRealTiles(GemmKernels* kernels);
void FillComplexTiles(GemmKernels* kernels);
void FillSmallIntTiles(GemmKernels* kernels);
void FillBf16Tiles(GemmKernels* kernels);
void FillRowKernels(GemmKernels* kernels);
void FillTinyKernels(GemmKernels* kernels);

// A vector register of T, and the same for memory that is aligned to T only.
template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(PJRT_VECTOR_BYTES)));
  typedef T Unaligned
      __attribute__((vector_size(PJRT_VECTOR_BYTES), aligned(alignof(T)), may_alias));
};

template <typename T>
inline constexpr int kLanes = PJRT_VECTOR_BYTES / static_cast<int>(sizeof(T));

// Calls fn(type, T{}) for each type of real numbers that have products, where T computes them: sums
// of products that wrap have the same bits, signed or not.
template <class Fn>
PJRT_INLINE void ForEachProductType(const Fn& fn) {
  fn(CType::kF32, float{});
  fn(CType::kF64, double{});
  fn(CType::kS32, uint32_t{});
  fn(CType::kU32, uint32_t{});
  fn(CType::kS64, uint64_t{});
  fn(CType::kU64, uint64_t{});
}

// A tile of sums in registers: all 0, and written to the rows of `to`.
template <typename V, int kRows, int kVectors>
PJRT_INLINE void ClearTile(V (&sums)[kRows][kVectors]) {
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) sums[i][j] = V{};
  }
}
template <typename T, typename V, int kRows, int kVectors>
PJRT_INLINE void StoreTile(const V (&sums)[kRows][kVectors], T* to, int64_t stride) {
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j)
      *reinterpret_cast<typename VectorOf<T>::Unaligned*>(to + i * stride + j * kLanes<T>) =
          sums[i][j];
  }
}

// Adds up the tile. `element(i)` is A's element of row i, the next one after each call of `step`.
// acc + a * b is fused where the level has such an instruction and the source is compiled with
// contraction on (gemm_real.cc is).
template <typename T, int kRows, int kVectors, class Element, class Step>
PJRT_INLINE void SumTile(int64_t k, Element element, Step step, const T* b, int64_t b_stride,
                         T* tile, int64_t tile_stride, bool accumulate) {
  using V = typename VectorOf<T>::Type;
  using U = typename VectorOf<T>::Unaligned;
  constexpr int kWidth = kLanes<T>;
  V acc[kRows][kVectors];
  ClearTile(acc);
  for (int64_t p = 0; p < k; ++p) {
    V row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) row[j] = *reinterpret_cast<const U*>(b + j * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const T x = element(i);
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) acc[i][j] += row[j] * x;
    }
    step();
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      U* to = reinterpret_cast<U*>(tile + i * tile_stride + j * kWidth);
      *to = accumulate ? static_cast<V>(*to) + acc[i][j] : acc[i][j];
    }
  }
}

template <typename T, int kRows, int kMr, int kVectors>
PJRT_INLINE void RunTile(int64_t k, const T* a, const T* b, int64_t b_stride, T* tile,
                         int64_t tile_stride, bool accumulate) {
  SumTile<T, kRows, kVectors>(
      k, [&](int i) __attribute__((always_inline)) { return a[i]; },
      [&]() __attribute__((always_inline)) { a += kMr; }, b, b_stride, tile, tile_stride,
      accumulate);
}

// A pointer for every fourth row, so that addresses take few registers.
template <typename T, int kRows, int kVectors>
PJRT_INLINE void RunRowTile(int64_t k, const T* a, int64_t a_row_stride, const T* b,
                            int64_t b_stride, T* tile, int64_t tile_stride, bool accumulate) {
  constexpr int kPointers = (kRows + 3) / 4;
  const int64_t offsets[4] = {0, a_row_stride, 2 * a_row_stride, 3 * a_row_stride};
  const T* rows[kPointers];
#pragma GCC unroll 4
  for (int i = 0; i < kPointers; ++i) rows[i] = a + 4 * i * a_row_stride;
  SumTile<T, kRows, kVectors>(
      k, [&](int i) __attribute__((always_inline)) { return rows[i / 4][offsets[i % 4]]; },
      [&]() __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int i = 0; i < kPointers; ++i) ++rows[i];
      },
      b, b_stride, tile, tile_stride, accumulate);
}

// The complex numbers of a register times i.
template <typename R, size_t... kLane>
PJRT_INLINE typename VectorOf<R>::Type SwapNeighbours(typename VectorOf<R>::Type z,
                                                      std::index_sequence<kLane...>) {
  return __builtin_shufflevector(z, z, static_cast<int>(kLane ^ 1)...);
}
template <typename R>
PJRT_INLINE typename VectorOf<R>::Type TurnedByI(typename VectorOf<R>::Type z) {
  typename VectorOf<R>::Type signs;
  for (int e = 0; e < kLanes<R>; ++e) signs[e] = e % 2 == 0 ? R{-1} : R{1};
  return SwapNeighbours<R>(z, std::make_index_sequence<kLanes<R>>()) * signs;
}

// Complex numbers lie interleaved in registers. Two sums are kept, re(a) * b and im(a) * b; they
// are combined at the end.
template <typename R, int kRows, int kMr, int kVectors>
PJRT_INLINE void RunComplexTile(int64_t k, const R* a, const R* b, int64_t b_stride, R* tile,
                                int64_t tile_stride, bool accumulate) {
  using V = typename VectorOf<R>::Type;
  using U = typename VectorOf<R>::Unaligned;
  constexpr int kWidth = kLanes<R>;
  V by_re[kRows][kVectors], by_im[kRows][kVectors];
  ClearTile(by_re);
  ClearTile(by_im);
  for (int64_t p = 0; p < k; ++p) {
    V row[kVectors];
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) row[j] = *reinterpret_cast<const U*>(b + j * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) {
        by_re[i][j] += row[j] * a[2 * i];
        by_im[i][j] += row[j] * a[2 * i + 1];
      }
    }
    a += 2 * kMr;
    b += 2 * b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      U* const to = reinterpret_cast<U*>(tile + 2 * i * tile_stride + j * kWidth);
      const V sum = by_re[i][j] + TurnedByI<R>(by_im[i][j]);
      *to = accumulate ? static_cast<V>(*to) + sum : sum;
    }
  }
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_INL_H_
