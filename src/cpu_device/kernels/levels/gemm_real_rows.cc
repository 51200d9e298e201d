// SPDX-License-Identifier: Apache-2.0
//
// A few rows times a matrix, bound by how fast the matrix is read: it is read once, in order.
#include "src/cpu_device/kernels/gemm_tile-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Rows of the matrix that are read side by side.
constexpr int kDepth = 8;
// Rows of the transposed matrix that share what is read of the row.
constexpr int kLines = 4;
// A matrix of so many bytes is read several times from a cache.
constexpr int64_t kCachedBytes = 128 * 1024;

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

// Columns of all rows of the matrix, while their sums stay in registers. Where these are few, even
// and odd rows of the matrix have sums of their own: one alone would wait for itself.
template <typename T, int kRows, int kVectors>
PJRT_INLINE void AddColumns(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b,
                            int64_t b_stride, int64_t k, bool accumulate) {
  using V = typename VectorOf<T>::Type;
  using U = typename VectorOf<T>::Unaligned;
  constexpr int kWidth = kLanes<T>;
  constexpr int kSums = kRows * kVectors <= 4 ? 2 : 1;
  V sums[kSums][kRows][kVectors];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      sums[0][i][j] =
          accumulate ? static_cast<V>(*reinterpret_cast<const U*>(c + i * c_stride + j * kWidth))
                     : V{};
      if constexpr (kSums > 1) sums[1][i][j] = V{};
    }
  }
  const auto add = [&](V(&to)[kRows][kVectors], int64_t p) __attribute__((always_inline)) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      const V row = *reinterpret_cast<const U*>(b + p * b_stride + j * kWidth);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) to[i][j] += row * a[i * a_stride + p];
    }
  };
  int64_t p = 0;
  if constexpr (kSums > 1) {
    for (; p + 2 <= k; p += 2) {
      add(sums[0], p);
      add(sums[1], p + 1);
    }
  }
  for (; p < k; ++p) add(sums[0], p);
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) {
      if constexpr (kSums > 1) sums[0][i][j] += sums[1][i][j];
      *reinterpret_cast<U*>(c + i * c_stride + j * kWidth) = sums[0][i][j];
    }
  }
}

// The first n elements of a vector, fewer than it has: nothing behind them is touched. 10,000
// products of 3x3 f32 take 13 ns each at AVX2 (Zen 3); one element after the other where a vector
// reaches beyond the matrix, they took 34.
template <typename T>
class FirstLanes {
 public:
  using V = typename VectorOf<T>::Type;

#if defined(__AVX512F__)
  explicit FirstLanes(int64_t n) : mask_((1u << n) - 1) {}
  PJRT_INLINE_MEMBER V Load(const T* from) const {
    if constexpr (sizeof(T) == 4) {
      return BitCast<V>(_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask_), from));
    } else {
      return BitCast<V>(_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask_), from));
    }
  }
  PJRT_INLINE_MEMBER void Store(T* to, V v) const {
    const __m512i x = BitCast<__m512i>(v);
    if constexpr (sizeof(T) == 4) {
      _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask_), x);
    } else {
      _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask_), x);
    }
  }

 private:
  const unsigned mask_;
#elif defined(__AVX2__)
  explicit FirstLanes(int64_t n) : bytes_(n * static_cast<int64_t>(sizeof(T))) {
    mask_ = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(bytes_ / 4)),
                               _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  PJRT_INLINE_MEMBER V Load(const T* from) const {
    return BitCast<V>(_mm256_maskload_epi32(reinterpret_cast<const int*>(from), mask_));
  }
  // By parts: some machines take long to store by a mask.
  PJRT_INLINE_MEMBER void Store(T* to, V v) const {
    char* d = reinterpret_cast<char*>(to);
    __m256i whole = BitCast<__m256i>(v);
    __m128i x = _mm256_castsi256_si128(whole);
    if (bytes_ & 16) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(d), x);
      x = _mm256_extracti128_si256(whole, 1);
      d += 16;
    }
    if (bytes_ & 8) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(d), x);
      x = _mm_unpackhi_epi64(x, x);
      d += 8;
    }
    if (bytes_ & 4) _mm_storeu_si32(d, x);
  }

 private:
  const int64_t bytes_;
  __m256i mask_;
#else
  explicit FirstLanes(int64_t n) : n_(n) {}
  PJRT_INLINE_MEMBER V Load(const T* from) const {
    V v = {};
    for (int64_t i = 0; i < n_; ++i) v[i] = from[i];
    return v;
  }
  PJRT_INLINE_MEMBER void Store(T* to, V v) const {
    for (int64_t i = 0; i < n_; ++i) to[i] = v[i];
  }

 private:
  const int64_t n_;
#endif
};

// The last n columns, fewer than a vector.
template <typename T, int kRows>
PJRT_INLINE void AddLastColumns(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b,
                                int64_t b_stride, int64_t k, int64_t n, bool accumulate) {
  using V = typename VectorOf<T>::Type;
  const FirstLanes<T> columns(n);
  V sums[kRows];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) sums[i] = accumulate ? columns.Load(c + i * c_stride) : V{};
  for (int64_t p = 0; p < k; ++p) {
    const V row = columns.Load(b + p * b_stride);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) sums[i] += row * a[i * a_stride + p];
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) columns.Store(c + i * c_stride, sums[i]);
}

// A matrix that stays in the cache: a few columns after the other.
template <typename T, int kRows>
PJRT_INLINE void RowsTimesCached(T* c, int64_t c_stride, const T* a, int64_t a_stride, const T* b,
                                 int64_t b_stride, int64_t k, int64_t n, bool accumulate) {
  constexpr int kWidth = kLanes<T>;
  constexpr int kVectors = kRows == 1 ? 8 : 4;
  int64_t j = 0;
  for (; j + kVectors * kWidth <= n; j += kVectors * kWidth)
    AddColumns<T, kRows, kVectors>(c + j, c_stride, a, a_stride, b + j, b_stride, k, accumulate);
  for (; kVectors > 4 && j + 4 * kWidth <= n; j += 4 * kWidth)
    AddColumns<T, kRows, 4>(c + j, c_stride, a, a_stride, b + j, b_stride, k, accumulate);
  for (; j + 2 * kWidth <= n; j += 2 * kWidth)
    AddColumns<T, kRows, 2>(c + j, c_stride, a, a_stride, b + j, b_stride, k, accumulate);
  for (; j + kWidth <= n; j += kWidth)
    AddColumns<T, kRows, 1>(c + j, c_stride, a, a_stride, b + j, b_stride, k, accumulate);
  if (j < n) {
    AddLastColumns<T, kRows>(c + j, c_stride, a, a_stride, b + j, b_stride, k, n - j, accumulate);
  }
}

template <typename T, int kRows>
void RowsTimes(void* c, int64_t c_stride, const void* a, int64_t a_stride, const void* b,
               int64_t b_stride, int64_t k, int64_t n, bool accumulate) {
  T* const d = static_cast<T*>(c);
  const T* const x = static_cast<const T*>(a);
  const T* const m = static_cast<const T*>(b);
  if (b_stride > 0 && k * b_stride <= kCachedBytes / static_cast<int64_t>(sizeof(T)))
    return RowsTimesCached<T, kRows>(d, c_stride, x, a_stride, m, b_stride, k, n, accumulate);
  int64_t p = 0;
  for (; p + kDepth <= k; p += kDepth)
    AddRows<T, kRows, kDepth>(d, c_stride, x + p, a_stride, m + p * b_stride, b_stride, n,
                              accumulate || p > 0);
  for (; p < k; ++p)
    AddRows<T, kRows, 1>(d, c_stride, x + p, a_stride, m + p * b_stride, b_stride, n,
                         accumulate || p > 0);
}

// The sum of kCount neighbours, halves added to each other.
template <typename T, int kCount, typename V>
PJRT_INLINE T SumOf(V v) {
  if constexpr (kCount == 1) {
    return v[0];
  } else {
    typedef T Half __attribute__((vector_size(sizeof(T) * (kCount / 2))));
    Half halves[2];
    __builtin_memcpy(halves, &v, sizeof(halves));
    return SumOf<T, kCount / 2>(halves[0] + halves[1]);
  }
}

template <typename T>
PJRT_INLINE T SumLanes(typename VectorOf<T>::Type v) {
  return SumOf<T, kLanes<T>>(v);
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
    T sum = p > 0 ? SumLanes<T>(sums[l][0] + sums[l][1]) : T{};
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
  if (k < 2 * kLanes<T>) {
    // Too short for vectors: several sums side by side.
    for (; j + kLines <= n; j += kLines) {
      T sums[kLines];
#pragma GCC unroll 4
      for (int l = 0; l < kLines; ++l) sums[l] = T{};
      for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 4
        for (int l = 0; l < kLines; ++l) sums[l] += lines[(j + l) * b_stride + p] * x[p];
      }
#pragma GCC unroll 4
      for (int l = 0; l < kLines; ++l) d[j + l] = accumulate ? d[j + l] + sums[l] : sums[l];
    }
  }
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
  ForEachProductType([&](CType type, auto zero) { Set<decltype(zero)>(kernels, type); });
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
