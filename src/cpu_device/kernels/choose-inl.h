// SPDX-License-Identifier: Apache-2.0
//
// Choosing between pairs of a value and a place, in vectors, and what levels/block_choose*.cc
// contribute to a level's folds. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_CHOOSE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_CHOOSE_INL_H_

#include "src/cpu_device/kernels/fold_ops.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

void FillChoose(FoldKernels* kernels);
void FillChooseRows(FoldKernels* kernels);

// What is done about NaNs: there are none, or the second pair is always chosen; TakesFirstNan();
// anything else.
enum class NanRule { kSecond, kFirstNan, kOther };

// All bits of an integer as wide as T, or none.
template <typename T>
PJRT_INLINE UnsignedOf<T> Lane(bool on) {
  return on ? static_cast<UnsignedOf<T>>(-1) : UnsignedOf<T>{0};
}

template <typename T>
inline constexpr UnsignedOf<T> kHighestBit = static_cast<UnsignedOf<T>>(UnsignedOf<T>{1}
                                                                        << (8 * sizeof(T) - 1));

// Flips the bits of an element of T that bring it in the order of choosing: that of floats, or of
// signed integers.
template <typename T>
PJRT_INLINE UnsignedOf<T> TurnOf(const Choice& choice) {
  if constexpr (std::is_floating_point_v<T>) {
    return choice.greater ? 0 : kHighestBit<T>;
  } else {
    constexpr UnsignedOf<T> kFlip = std::is_signed_v<T> ? UnsignedOf<T>{0} : kHighestBit<T>;
    return static_cast<UnsignedOf<T>>(kFlip ^ Lane<T>(!choice.greater));
  }
}

// Keeps a or takes b, of vectors or elements, by comparing `x` and `y`, which are in the order of
// choosing: of equal ones it keeps a if kEqual.
template <bool kEqual, NanRule kRule, typename X, typename A>
PJRT_INLINE A Keep(const Choice& choice, X x, X y, A a, A b) {
  A kept = b;
  if constexpr (kEqual) {
    kept = x >= y ? a : b;
  } else {
    kept = x > y ? a : b;
  }
  if constexpr (kRule == NanRule::kFirstNan) kept = x == x ? kept : a;
  if constexpr (kRule == NanRule::kOther) {
    const A second = choice.first_if_second_nan ? a : b, first = choice.first_if_first_nan ? a : b;
    const A both = choice.first_if_both_nan ? a : b;
    kept = y == y ? kept : second;
    kept = x == x ? kept : y == y ? first : both;
  }
  return kept;
}

// (x, at) becomes the choice between itself and (y, place), in vectors.
template <bool kEqualValue, bool kEqualPlace, NanRule kRule, typename X, typename P>
PJRT_INLINE void ChooseVector(const Choice& choice, X* x, P* at, X y, P place) {
  const X before = *x;
  *x = Keep<kEqualValue, kRule>(choice, before, y, before, y);
  *at = Keep<kEqualPlace, kRule>(choice, before, y, *at, place);
}

#if defined(__AVX512DQ__)
// The same in half of the instructions: comparisons take a mask, and the larger of two floats is
// the second one where they are equal or do not compare.
#define PJRT_CHOOSE_FLOATS(suffix, width, number, mask)                                           \
  template <bool kEqualValue, bool kEqualPlace, NanRule kRule>                                    \
  PJRT_INLINE void ChooseFloats(number* x, __m512i* at, number y, __m512i place) {                \
    mask all = static_cast<mask>(-1);                                                             \
    if constexpr (kRule == NanRule::kFirstNan)                                                    \
      all = _mm512_cmp_##suffix##_mask(*x, *x, _CMP_ORD_Q);                                       \
    const number before = *x;                                                                     \
    const mask takes =                                                                            \
        _mm512_mask_cmp_##suffix##_mask(all, before, y, kEqualPlace ? _CMP_NGE_UQ : _CMP_NGT_UQ); \
    *at = _mm512_mask_mov_epi##width(*at, takes, place);                                          \
    if constexpr (!kEqualValue) {                                                                 \
      *x = _mm512_mask_max_##suffix(before, all, before, y);                                      \
    } else {                                                                                      \
      *x = _mm512_mask_mov_##suffix(                                                              \
          before, _mm512_mask_cmp_##suffix##_mask(all, before, y, _CMP_NGE_UQ), y);               \
    }                                                                                             \
  }
PJRT_CHOOSE_FLOATS(ps, 32, __m512, __mmask16)
PJRT_CHOOSE_FLOATS(pd, 64, __m512d, __mmask8)
#undef PJRT_CHOOSE_FLOATS
#endif

// The same of values of K by the best instructions of the level.
template <typename K, bool kEqualValue, bool kEqualPlace, NanRule kRule, typename V, typename P>
PJRT_INLINE void ChooseNext(const Choice& choice, V* x, P* at, V y, P place) {
#if defined(__AVX512DQ__)
  if constexpr (sizeof(V) == 64 && std::is_floating_point_v<K> && kRule != NanRule::kOther) {
    __m512i best_place = (__m512i)*at;
    const auto choose = [&](auto best, auto next) {
      ChooseFloats<kEqualValue, kEqualPlace, kRule>(&best, &best_place, next, (__m512i)place);
      *x = (V)best;
    };
    if constexpr (sizeof(K) == 4) {
      choose((__m512)*x, (__m512)y);
    } else {
      choose((__m512d)*x, (__m512d)y);
    }
    *at = (P)best_place;
    return;
  }
#endif
  ChooseVector<kEqualValue, kEqualPlace, kRule>(choice, x, at, y, place);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_CHOOSE_INL_H_
