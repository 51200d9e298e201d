// SPDX-License-Identifier: Apache-2.0
//
// Tiles of small integers. Every x86-64 multiplies pairs of 16-bit numbers and adds the two
// products in 32 bits, which wraps as the sum does; AVX-512 VNNI multiplies four unsigned bytes by
// four signed ones. There, signed bytes of A are moved up by 128, and 128 times the sum of B's
// column comes off again: the bias.
#include "src/cpu_device/kernels/gemm_tile-inl.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__x86_64__)
namespace {

constexpr int kVectors = 2;

#if defined(__AVX512BW__)
using Vector = __m512i;
constexpr int kMr = 14;
PJRT_INLINE Vector Zero() { return _mm512_setzero_si512(); }
PJRT_INLINE Vector Load(const void* from) { return _mm512_loadu_si512(from); }
PJRT_INLINE void Store(void* to, Vector v) { _mm512_storeu_si512(to, v); }
PJRT_INLINE Vector Spread(int32_t x) { return _mm512_set1_epi32(x); }
PJRT_INLINE Vector Add(Vector a, Vector b) { return _mm512_add_epi32(a, b); }
PJRT_INLINE Vector MultiplyPairs(Vector a, Vector b) { return _mm512_madd_epi16(a, b); }
#elif defined(__AVX2__)
using Vector = __m256i;
constexpr int kMr = 6;
PJRT_INLINE Vector Zero() { return _mm256_setzero_si256(); }
PJRT_INLINE Vector Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const Vector*>(from));
}
PJRT_INLINE void Store(void* to, Vector v) { _mm256_storeu_si256(static_cast<Vector*>(to), v); }
PJRT_INLINE Vector Spread(int32_t x) { return _mm256_set1_epi32(x); }
PJRT_INLINE Vector Add(Vector a, Vector b) { return _mm256_add_epi32(a, b); }
PJRT_INLINE Vector MultiplyPairs(Vector a, Vector b) { return _mm256_madd_epi16(a, b); }
#else
using Vector = __m128i;
constexpr int kMr = 4;
PJRT_INLINE Vector Zero() { return _mm_setzero_si128(); }
PJRT_INLINE Vector Load(const void* from) {
  return _mm_loadu_si128(static_cast<const Vector*>(from));
}
PJRT_INLINE void Store(void* to, Vector v) { _mm_storeu_si128(static_cast<Vector*>(to), v); }
PJRT_INLINE Vector Spread(int32_t x) { return _mm_set1_epi32(x); }
PJRT_INLINE Vector Add(Vector a, Vector b) { return _mm_add_epi32(a, b); }
PJRT_INLINE Vector MultiplyPairs(Vector a, Vector b) { return _mm_madd_epi16(a, b); }
#endif

constexpr int kWidth = static_cast<int>(sizeof(Vector) / 4);

template <int kRows>
void PairRows(int64_t k, const int32_t* a, const int32_t* b, int64_t b_stride, int32_t* tile,
              int64_t tile_stride, bool accumulate) {
  Vector sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      sums[i][j] = accumulate ? Load(tile + i * tile_stride + j * kWidth) : Zero();
  }
  for (int64_t p = 0; p < k; ++p) {
    Vector row[kVectors];
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) row[j] = Load(b + j * kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vector pair = Spread(a[i]);
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) sums[i][j] = Add(sums[i][j], MultiplyPairs(pair, row[j]));
    }
    a += kMr;
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j) Store(tile + i * tile_stride + j * kWidth, sums[i][j]);
  }
}

using RowsFn = void (*)(int64_t, const int32_t*, const int32_t*, int64_t, int32_t*, int64_t, bool);

void PairTile(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
              int64_t tile_stride, int rows, bool accumulate) {
  static constexpr RowsFn kRows[kMr] = {
    PairRows<1>,
    PairRows<2>,
    PairRows<3>,
    PairRows<4>,
#if defined(__AVX2__)
    PairRows<5>,
    PairRows<6>,
#endif
#if defined(__AVX512BW__)
    PairRows<7>,
    PairRows<8>,
    PairRows<9>,
    PairRows<10>,
    PairRows<11>,
    PairRows<12>,
    PairRows<13>,
    PairRows<14>,
#endif
  };
  kRows[rows - 1](k, static_cast<const int32_t*>(a), static_cast<const int32_t*>(b), b_stride,
                  static_cast<int32_t*>(tile), tile_stride, accumulate);
}

#if defined(__AVX512BW__)
// The first operand of vpdpbusd is the unsigned one. kHasBias: sums begin with the row behind B's.
template <int kRows, bool kHasBias>
__attribute__((target("avx512vnni"))) void QuadRows(int64_t k, const int32_t* a, const int32_t* b,
                                                    int64_t b_stride, int32_t* tile,
                                                    int64_t tile_stride, bool accumulate) {
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 2
  for (int j = 0; j < kVectors; ++j) {
    const __m512i bias =
        kHasBias ? _mm512_loadu_si512(b + k * b_stride + j * kWidth) : _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      sums[i][j] = bias;
      if (accumulate) {
        const __m512i so_far = _mm512_loadu_si512(tile + i * tile_stride + j * kWidth);
        sums[i][j] = kHasBias ? _mm512_add_epi32(bias, so_far) : so_far;
      }
    }
  }
  for (int64_t p = 0; p < k; ++p) {
    const __m512i row0 = _mm512_loadu_si512(b), row1 = _mm512_loadu_si512(b + kWidth);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const __m512i quad = _mm512_set1_epi32(a[i]);
      sums[i][0] = _mm512_dpbusd_epi32(sums[i][0], quad, row0);
      sums[i][1] = _mm512_dpbusd_epi32(sums[i][1], quad, row1);
    }
    a += kMr;
    b += b_stride;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < kVectors; ++j)
      _mm512_storeu_si512(tile + i * tile_stride + j * kWidth, sums[i][j]);
  }
}

template <bool kHasBias>
void QuadTile(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
              int64_t tile_stride, int rows, bool accumulate) {
  static constexpr RowsFn kRows[kMr] = {
      QuadRows<1, kHasBias>,  QuadRows<2, kHasBias>,  QuadRows<3, kHasBias>,
      QuadRows<4, kHasBias>,  QuadRows<5, kHasBias>,  QuadRows<6, kHasBias>,
      QuadRows<7, kHasBias>,  QuadRows<8, kHasBias>,  QuadRows<9, kHasBias>,
      QuadRows<10, kHasBias>, QuadRows<11, kHasBias>, QuadRows<12, kHasBias>,
      QuadRows<13, kHasBias>, QuadRows<14, kHasBias>,
  };
  kRows[rows - 1](k, static_cast<const int32_t*>(a), static_cast<const int32_t*>(b), b_stride,
                  static_cast<int32_t*>(tile), tile_stride, accumulate);
}
#endif

// A group as the bits of a 32-bit number, its first element lowest.
template <int kGroup, typename T>
PJRT_INLINE uint32_t Part(T x, int p) {
  return kGroup == 4 ? static_cast<uint32_t>(static_cast<uint8_t>(x)) << (8 * p)
                     : static_cast<uint32_t>(static_cast<uint16_t>(x)) << (16 * p);
}

// 16 groups of four bytes from four rows of bytes.
PJRT_INLINE void InterleaveRows(const void* row0, const void* row1, const void* row2,
                                const void* row3, uint32_t turn, uint32_t* to) {
  const auto load = [](const void* from) __attribute__((always_inline)) {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  };
  const __m128i a = load(row0), b = load(row1), c = load(row2), d = load(row3);
  const __m128i low_ab = _mm_unpacklo_epi8(a, b), high_ab = _mm_unpackhi_epi8(a, b);
  const __m128i low_cd = _mm_unpacklo_epi8(c, d), high_cd = _mm_unpackhi_epi8(c, d);
  const __m128i groups[4] = {_mm_unpacklo_epi16(low_ab, low_cd), _mm_unpackhi_epi16(low_ab, low_cd),
                             _mm_unpacklo_epi16(high_ab, high_cd),
                             _mm_unpackhi_epi16(high_ab, high_cd)};
  for (int i = 0; i < 4; ++i)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i,
                     _mm_xor_si128(groups[i], _mm_set1_epi32(static_cast<int32_t>(turn))));
}

// kFlip: bytes are moved up by 128, by turning their highest bit.
template <int kGroup, typename T, bool kFlip>
void Pack(void* panel, const void* source, int64_t line_stride, int64_t p_stride, int64_t lines,
          int64_t depth, int64_t width) {
  constexpr uint32_t kTurn = kFlip ? 0x80808080u : 0;
  uint32_t* const to = static_cast<uint32_t*>(panel);
  const T* const from = static_cast<const T*>(source);
  const int64_t groups = (depth + kGroup - 1) / kGroup, whole = depth / kGroup;
  if (lines < width) __builtin_memset(panel, 0, groups * width * 4);
  if (line_stride == 1) {
    for (int64_t q = 0; q < whole; ++q) {
      const T* const row = from + q * kGroup * p_stride;
      uint32_t* const d = to + q * width;
      int64_t first = 0;
      if constexpr (kGroup == 4) {
        for (; first + 16 <= lines; first += 16)
          InterleaveRows(row + first, row + first + p_stride, row + first + 2 * p_stride,
                         row + first + 3 * p_stride, kTurn, d + first);
      }
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t i = first; i < lines; ++i) {
        uint32_t group = Part<kGroup>(row[i], 0) | Part<kGroup>(row[i + p_stride], 1);
        if constexpr (kGroup == 4)
          group |= Part<kGroup>(row[i + 2 * p_stride], 2) | Part<kGroup>(row[i + 3 * p_stride], 3);
        d[i] = group ^ kTurn;
      }
    }
  } else {
    for (int64_t i = 0; i < lines; ++i) {
      const T* const line = from + i * line_stride;
      if (p_stride == 1 && sizeof(T) * kGroup == 4) {
        for (int64_t q = 0; q < whole; ++q) {
          uint32_t group;
          __builtin_memcpy(&group, line + q * kGroup, 4);
          to[q * width + i] = group ^ kTurn;
        }
        continue;
      }
      for (int64_t q = 0; q < whole; ++q) {
        const T* const at = line + q * kGroup * p_stride;
        uint32_t group = Part<kGroup>(at[0], 0) | Part<kGroup>(at[p_stride], 1);
        if constexpr (kGroup == 4)
          group |= Part<kGroup>(at[2 * p_stride], 2) | Part<kGroup>(at[3 * p_stride], 3);
        to[q * width + i] = group ^ kTurn;
      }
    }
  }
  if (whole < groups) {
    for (int64_t i = 0; i < lines; ++i) {
      uint32_t group = 0;
      for (int64_t p = whole * kGroup; p < depth; ++p)
        group |= Part<kGroup>(from[i * line_stride + p * p_stride],
                              static_cast<int>(p - whole * kGroup));
      to[whole * width + i] = group ^ kTurn;
    }
  }
}

#if defined(__AVX512BW__)
// Packs signed bytes of B, and behind them the bias.
__attribute__((target("avx512vnni"))) void PackWithBias(void* panel, const void* from,
                                                        int64_t line_stride, int64_t p_stride,
                                                        int64_t lines, int64_t depth,
                                                        int64_t width) {
  Pack<4, int8_t, false>(panel, from, line_stride, p_stride, lines, depth, width);
  int32_t* const to = static_cast<int32_t*>(panel);
  const int64_t end = (depth + 3) / 4 * width;
  for (int64_t i = 0; i < width; i += kWidth) {
    __m512i sums = _mm512_setzero_si512();
    for (int64_t at = i; at < end; at += width)
      sums = _mm512_dpbusd_epi32(sums, _mm512_set1_epi8(1), _mm512_loadu_si512(to + at));
    _mm512_storeu_si512(to + end + i, _mm512_mullo_epi32(sums, _mm512_set1_epi32(-128)));
  }
}
#endif

}  // namespace

void FillSmallIntTiles(GemmKernels* kernels) {
  constexpr GemmPackFn kPairs[kNumSmallInts] = {Pack<2, int8_t, false>, Pack<2, uint8_t, false>,
                                                Pack<2, int16_t, false>};
  for (int a = 0; a < kNumSmallInts; ++a) {
    for (int b = 0; b < kNumSmallInts; ++b)
      kernels->small[a][b] = {PairTile, kMr, kVectors * kWidth, 2, 0, 0, kPairs[a], kPairs[b]};
  }
#if defined(__AVX512BW__)
  if (__builtin_cpu_supports("avx512vnni")) {
    constexpr int kS8 = static_cast<int>(SmallInt::kS8), kU8 = static_cast<int>(SmallInt::kU8);
    kernels->small[kS8][kS8] = {QuadTile<true>,        kMr,         kVectors * kWidth, 4, 0, 1,
                                Pack<4, int8_t, true>, PackWithBias};
    kernels->small[kU8][kS8] = {
        QuadTile<false>,       kMr, kVectors * kWidth, 4, 0, 0, Pack<4, uint8_t, false>,
        Pack<4, int8_t, false>};
  }
#endif
}

#else

void FillSmallIntTiles(GemmKernels*) {}

#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
