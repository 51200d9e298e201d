// SPDX-License-Identifier: Apache-2.0
//
// Maximum and minimum of floats. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FLOAT_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FLOAT_INL_H_

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::floats {

// A NaN wins, the first of two, and is quiet then. Of zeros, which compare equal, the maximum has
// the sign bits' and, the minimum their or; other equal numbers have equal bits.
struct Maximum {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    const T larger = a > b ? a : b;
    const T same = BitCast<T>(ToBits(a) & ToBits(b));
    const T ordered = a == b ? same : larger;
    return ((a != a) | (b != b)) ? a + b : ordered;
  }
};
struct Minimum {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    const T smaller = a < b ? a : b;
    const T same = BitCast<T>(ToBits(a) | ToBits(b));
    const T ordered = a == b ? same : smaller;
    return ((a != a) | (b != b)) ? a + b : ordered;
  }
};

#if defined(__AVX512DQ__)
// AVX-512 has an instruction that orders zeros; only NaNs are left. kOperation: 4 minimum, 5
// maximum.
template <typename T, int kOperation>
PJRT_INLINE auto RangeOf(__m512 a, __m512 b) {
  if constexpr (std::is_same_v<T, float>) {
    const __mmask16 nan = _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
    return _mm512_mask_add_ps(_mm512_range_ps(a, b, kOperation), nan, a, b);
  } else {
    const __mmask8 nan = _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q);
    return _mm512_mask_add_pd(_mm512_range_pd((__m512d)a, (__m512d)b, kOperation), nan, (__m512d)a,
                              (__m512d)b);
  }
}
#endif

// Where a or b is a NaN.
template <typename T, typename V>
PJRT_INLINE auto Unordered(V a, V b) {
  using Bits = decltype(a == b);
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32 && sizeof(T) == 4) {
    return (Bits)_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q);
  } else if constexpr (sizeof(V) == 32) {
    return (Bits)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q);
  } else
#endif
  {
    return (Bits)((a != a) | (b != b));
  }
}

// The same for vectors of T. The larger of a and b and that of b and a are one number or, where
// they are equal, both: of zeros the bits that both have count, or those that one has. Six
// instructions at AVX2; a comparison for equality and a choice made it nine.
template <typename T, typename V>
PJRT_INLINE V MaximumOf(V a, V b) {
#if defined(__AVX512DQ__)
  if constexpr (sizeof(V) == 64) return (V)RangeOf<T, 5>((__m512)a, (__m512)b);
#endif
  using Bits = decltype(a == b);
  const V ordered = (V)((Bits)(a > b ? a : b) & (Bits)(b > a ? b : a));
  return Unordered<T>(a, b) ? a + b : ordered;
}
template <typename T, typename V>
PJRT_INLINE V MinimumOf(V a, V b) {
#if defined(__AVX512DQ__)
  if constexpr (sizeof(V) == 64) return (V)RangeOf<T, 4>((__m512)a, (__m512)b);
#endif
  using Bits = decltype(a == b);
  const V ordered = (V)((Bits)(a < b ? a : b) | (Bits)(b < a ? b : a));
  return Unordered<T>(a, b) ? a + b : ordered;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::floats

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FLOAT_INL_H_
