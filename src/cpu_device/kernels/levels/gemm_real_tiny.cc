// SPDX-License-Identifier: Apache-2.0
//
// Groups of tiny products, whose factors a shuffle of two registers brings together.
#include "src/cpu_device/kernels/gemm_tile-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX512F__)
namespace {

// A run of elements in two registers.
template <typename T>
struct Pair {
  __m512i low, high;
};

// Masks have a bit for each lane of both.
PJRT_INLINE uint64_t FirstLanes(int64_t count) { return (uint64_t{1} << count) - 1; }

template <typename T>
PJRT_INLINE __m512i LoadLanes(const T* from, uint64_t mask) {
  if constexpr (sizeof(T) == 4) return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
}
template <typename T>
PJRT_INLINE void StoreLanes(T* to, uint64_t mask, __m512i v) {
  if constexpr (sizeof(T) == 4) _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask), v);
  if constexpr (sizeof(T) == 8) _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask), v);
}
template <typename T>
PJRT_INLINE Pair<T> LoadPair(const T* from, uint64_t mask) {
  return {LoadLanes<T>(from, mask), LoadLanes<T>(from + kLanes<T>, mask >> kLanes<T>)};
}
template <typename T>
PJRT_INLINE __m512i LoadIndices(const uint8_t* lanes) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(lanes));
  return sizeof(T) == 4 ? _mm512_cvtepu8_epi32(bytes) : _mm512_cvtepu8_epi64(bytes);
}
template <typename T>
PJRT_INLINE typename VectorOf<T>::Type Shuffle(const Pair<T>& from, __m512i lanes) {
  const __m512i result = sizeof(T) == 4 ? _mm512_permutex2var_epi32(from.low, lanes, from.high)
                                        : _mm512_permutex2var_epi64(from.low, lanes, from.high);
  return BitCast<typename VectorOf<T>::Type>(result);
}

template <typename T, int kVectors>
PJRT_INLINE void Multiply(T* c, const T* a, const T* b, const GemmTinyGroup& group,
                          int64_t entries) {
  using V = typename VectorOf<T>::Type;
  constexpr int kWidth = kLanes<T>;
  __m512i a_lanes[GemmTinyGroup::kMaxK][kVectors], b_lanes[GemmTinyGroup::kMaxK][kVectors];
  for (int p = 0; p < group.k; ++p) {
    for (int v = 0; v < kVectors; ++v) {
      a_lanes[p][v] = LoadIndices<T>(group.a_lane[p] + v * kWidth);
      b_lanes[p][v] = LoadIndices<T>(group.b_lane[p] + v * kWidth);
    }
  }
  int64_t count = 0;  // entries that the masks are for
  uint64_t a_mask = 0, b_mask = 0, c_mask = 0;
  for (; entries > 0; entries -= group.entries) {
    const int64_t now = entries < group.entries ? entries : group.entries;
    if (now != count) {
      count = now;
      a_mask = FirstLanes((now - 1) * group.a_step + group.a_count);
      b_mask = FirstLanes((now - 1) * group.b_step + group.b_count);
      c_mask = FirstLanes((now - 1) * group.c_step + group.c_count);
    }
    const Pair<T> x = LoadPair<T>(a, a_mask), y = LoadPair<T>(b, b_mask);
    V sums[kVectors] = {};
    for (int p = 0; p < group.k; ++p) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v)
        sums[v] += Shuffle<T>(x, a_lanes[p][v]) * Shuffle<T>(y, b_lanes[p][v]);
    }
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v)
      StoreLanes<T>(c + v * kWidth, c_mask >> (v * kWidth), BitCast<__m512i>(sums[v]));
    a += group.entries * group.a_step;
    b += group.entries * group.b_step;
    c += group.entries * group.c_step;
  }
}

template <typename T>
void Tiny(void* c, const void* a, const void* b, const GemmTinyGroup& group, int64_t entries) {
  T* const d = static_cast<T*>(c);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  if (group.entries * group.c_count <= kLanes<T>) {
    Multiply<T, 1>(d, x, y, group, entries);
  } else {
    Multiply<T, 2>(d, x, y, group, entries);
  }
}

}  // namespace

void FillTinyKernels(GemmKernels* kernels) {
  ForEachProductType([&](CType type, auto zero) {
    using T = decltype(zero);
    kernels->tiny[static_cast<int>(type)] = {Tiny<T>, kLanes<T>};
  });
}
#else
void FillTinyKernels(GemmKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
