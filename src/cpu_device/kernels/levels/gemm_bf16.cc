// SPDX-License-Identifier: Apache-2.0
//
// Tiles of bf16 with AVX-512. vdpbf16ps is two fused multiply-adds, the odd element of a pair
// first, but for subnormal numbers, which it takes for zero. So a panel comes with its smallest
// magnitude; where a product or a sum might be subnormal, and on machines without the instruction,
// two multiply-adds give the same bits.
#include "src/cpu_device/kernels/gemm_tile-inl.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX512BW__)
namespace {

constexpr int kMr = 14, kVectors = 2, kWidth = 16;
// Sums of products are multiples of the last bit of the smallest one, 14 bits below its exponent:
// of two magnitudes whose biased exponents add up to this none is subnormal.
constexpr uint32_t kLeastExponents = 142;

using RowsFn = void (*)(int64_t, const uint32_t*, const uint32_t*, int64_t, float*, int64_t, bool);

// Elements of pairs as f32.
typedef uint32_t Bits __attribute__((vector_size(64)));
PJRT_INLINE __m512 Odd(Bits pairs) { return (__m512)(pairs & 0xffff0000u); }
PJRT_INLINE __m512 Even(Bits pairs) { return (__m512)(pairs << 16); }

PJRT_INLINE void StoreSum(float* to, __m512 sum, bool accumulate) {
  _mm512_storeu_ps(to, accumulate ? _mm512_add_ps(_mm512_loadu_ps(to), sum) : sum);
}

template <int kRows>
__attribute__((target("avx512bf16"))) void PairRows(int64_t k, const uint32_t* a, const uint32_t* b,
                                                    int64_t b_stride, float* tile,
                                                    int64_t tile_stride, bool accumulate) {
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) sums[i][0] = sums[i][1] = _mm512_setzero_ps();
  for (int64_t p = 0; p < k; ++p) {
    const __m512bh row0 = (__m512bh)_mm512_loadu_si512(b);
    const __m512bh row1 = (__m512bh)_mm512_loadu_si512(b + kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const __m512bh pair = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[i]));
      sums[i][0] = _mm512_dpbf16_ps(sums[i][0], pair, row0);
      sums[i][1] = _mm512_dpbf16_ps(sums[i][1], pair, row1);
    }
    a += kMr;
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    StoreSum(tile + i * tile_stride, sums[i][0], accumulate);
    StoreSum(tile + i * tile_stride + kWidth, sums[i][1], accumulate);
  }
}

template <int kRows>
void SplitRows(int64_t k, const uint32_t* a, const uint32_t* b, int64_t b_stride, float* tile,
               int64_t tile_stride, bool accumulate) {
  for (int j = 0; j < kVectors; ++j) {
    __m512 sums[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) sums[i] = _mm512_setzero_ps();
    for (int64_t p = 0; p < k; ++p) {
      const Bits row = (Bits)_mm512_loadu_si512(b + p * b_stride + j * kWidth);
      const __m512 row_odd = Odd(row), row_even = Even(row);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Bits pair = (Bits)_mm512_set1_epi32(static_cast<int>(a[p * kMr + i]));
        sums[i] = _mm512_fmadd_ps(Odd(pair), row_odd, sums[i]);
        sums[i] = _mm512_fmadd_ps(Even(pair), row_even, sums[i]);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
      StoreSum(tile + i * tile_stride + j * kWidth, sums[i], accumulate);
  }
}

// kHasPairs: the machine has the instruction.
template <bool kHasPairs>
void Tile(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, int rows, bool accumulate) {
  static constexpr RowsFn kSplit[kMr] = {
      SplitRows<1>,  SplitRows<2>,  SplitRows<3>,  SplitRows<4>,  SplitRows<5>,
      SplitRows<6>,  SplitRows<7>,  SplitRows<8>,  SplitRows<9>,  SplitRows<10>,
      SplitRows<11>, SplitRows<12>, SplitRows<13>, SplitRows<14>,
  };
  static constexpr RowsFn kPairs[kMr] = {
      PairRows<1>,  PairRows<2>,  PairRows<3>,  PairRows<4>,  PairRows<5>,
      PairRows<6>,  PairRows<7>,  PairRows<8>,  PairRows<9>,  PairRows<10>,
      PairRows<11>, PairRows<12>, PairRows<13>, PairRows<14>,
  };
  const uint32_t* const x = static_cast<const uint32_t*>(a);
  const uint32_t* const y = static_cast<const uint32_t*>(b);
  const bool normal = (x[k * kMr] >> 7) + (y[k * b_stride] >> 7) >= kLeastExponents;
  const RowsFn run = kHasPairs && normal ? kPairs[rows - 1] : kSplit[rows - 1];
  run(k, x, y, b_stride, static_cast<float*>(tile), tile_stride, accumulate);
}

// Behind the panel stands the least magnitude of its numbers, without zeros: 15 bits.
void Pack(void* panel, const void* source, int64_t line_stride, int64_t p_stride, int64_t lines,
          int64_t depth, int64_t width) {
  uint32_t* const to = static_cast<uint32_t*>(panel);
  const uint16_t* const from = static_cast<const uint16_t*>(source);
  const int64_t pairs = (depth + 1) / 2, whole = depth / 2;
  if (lines < width) __builtin_memset(panel, 0, pairs * width * 4);
  if (line_stride == 1) {
    for (int64_t q = 0; q < whole; ++q) {
      const uint16_t* const row = from + 2 * q * p_stride;
      uint32_t* const d = to + q * width;
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < lines; ++i)
        d[i] = static_cast<uint32_t>(row[i]) | static_cast<uint32_t>(row[i + p_stride]) << 16;
    }
  } else {
    for (int64_t i = 0; i < lines; ++i) {
      const uint16_t* const line = from + i * line_stride;
      for (int64_t q = 0; q < whole; ++q)
        to[q * width + i] = static_cast<uint32_t>(line[2 * q * p_stride]) |
                            static_cast<uint32_t>(line[(2 * q + 1) * p_stride]) << 16;
    }
  }
  for (int64_t i = 0; whole < pairs && i < lines; ++i)
    to[whole * width + i] = from[i * line_stride + 2 * whole * p_stride];
  // Zeros turn into the largest magnitude.
  uint32_t least = 0x7fff;
  for (int64_t i = 0; i < pairs * width; ++i) {
    const uint32_t even = ((to[i] & 0x7fff) - 1) & 0x7fff;
    const uint32_t odd = ((to[i] >> 16 & 0x7fff) - 1) & 0x7fff;
    const uint32_t smaller = even < odd ? even : odd;
    least = smaller < least ? smaller : least;
  }
  // A subnormal magnitude, less one, stays one or becomes the largest: counted from one again.
  to[pairs * width] = least == 0x7fff ? least : least + 1;
}

}  // namespace

void FillBf16Tiles(GemmKernels* kernels) {
  kernels->bf16 = {__builtin_cpu_supports("avx512bf16") ? Tile<true> : Tile<false>,
                   kMr,
                   kVectors * kWidth,
                   2,
                   1,
                   1,
                   Pack,
                   Pack};
}

#else

void FillBf16Tiles(GemmKernels*) {}

#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
