// SPDX-License-Identifier: Apache-2.0
//
// Vectors of elements, and predicates of several vectors at a time. See level-inl.h for who may
// include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_MASK_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_MASK_INL_H_

#include "src/cpu_device/kernels/float-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(PJRT_VECTOR_BYTES)));
  typedef T Unaligned
      __attribute__((vector_size(PJRT_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

template <typename T>
PJRT_INLINE Vector<T> LoadVector(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T>::Unaligned*>(from);
}
template <typename T>
PJRT_INLINE void StoreVector(T* to, Vector<T> value) {
  *reinterpret_cast<typename VectorOf<T>::Unaligned*>(to) = value;
}
template <typename T>
PJRT_INLINE Vector<T> Broadcast(T x) {
  return (Vector<T>)(Vector<UnsignedOf<T>>{} + ToBits(x));
}

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;

// Comparisons of vectors, and Blend<T>(mask, on_false, on_true). Integers, whose T is unsigned,
// compare as signed ones but in those that say otherwise.
#if defined(__AVX512BW__) && defined(__AVX512DQ__)

// A bit for each lane.
template <typename T>
using Mask = uint64_t;

#define PJRT_COMPARISON(name, of_floats, of_ints, sign)                   \
  template <typename T>                                                   \
  PJRT_INLINE Mask<T> name(Vector<T> a, Vector<T> b) {                    \
    if constexpr (std::is_same_v<T, float>) {                             \
      return _mm512_cmp_ps_mask((__m512)a, (__m512)b, of_floats);         \
    } else if constexpr (std::is_same_v<T, double>) {                     \
      return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, of_floats);       \
    } else if constexpr (sizeof(T) == 4) {                                \
      return _mm512_cmp_##sign##32_mask((__m512i)a, (__m512i)b, of_ints); \
    } else {                                                              \
      return _mm512_cmp_##sign##64_mask((__m512i)a, (__m512i)b, of_ints); \
    }                                                                     \
  }
PJRT_COMPARISON(CompareEqual, _CMP_EQ_OQ, _MM_CMPINT_EQ, epi)
PJRT_COMPARISON(CompareUnequal, _CMP_NEQ_UQ, _MM_CMPINT_NE, epi)
PJRT_COMPARISON(CompareLess, _CMP_LT_OQ, _MM_CMPINT_LT, epi)
PJRT_COMPARISON(CompareLessEqual, _CMP_LE_OQ, _MM_CMPINT_LE, epi)
PJRT_COMPARISON(CompareUnsignedLess, _CMP_LT_OQ, _MM_CMPINT_LT, epu)
PJRT_COMPARISON(CompareUnsignedLessEqual, _CMP_LE_OQ, _MM_CMPINT_LE, epu)
#undef PJRT_COMPARISON

template <typename T>
PJRT_INLINE Vector<T> Blend(Mask<T> mask, Vector<T> on_false, Vector<T> on_true) {
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm512_mask_mov_epi32((__m512i)on_false, static_cast<__mmask16>(mask),
                                            (__m512i)on_true);
  } else {
    return (Vector<T>)_mm512_mask_mov_epi64((__m512i)on_false, static_cast<__mmask8>(mask),
                                            (__m512i)on_true);
  }
}

// The lanes of a vector in memory whose bit is in `used`; the others are 0, or stay.
template <typename T>
PJRT_INLINE Vector<T> LoadPart(const T* from, uint64_t used) {
  if constexpr (sizeof(T) == 4) {
    return (Vector<T>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>(used), from);
  } else {
    return (Vector<T>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(used), from);
  }
}
template <typename T>
PJRT_INLINE void StorePart(T* to, Vector<T> value, uint64_t used) {
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(used), (__m512i)value);
  } else {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(used), (__m512i)value);
  }
}

// The predicates of kVectors vectors, in general registers: an operation on all of them is one or
// two instructions.
template <typename T, int kVectors>
class Masks {
 public:
  // Of vector i. In the order of i, beginning with 0.
  template <int i>
  PJRT_INLINE_MEMBER void Set(Mask<T> mask) {
    uint64_t& word = words_[i / kPerWord];
    word = i % kPerWord == 0 ? mask : word | (mask << (i % kPerWord * kLanes));
  }
  template <int i>
  PJRT_INLINE_MEMBER Mask<T> At() const {
    return words_[i / kPerWord] >> (i % kPerWord * kLanes);
  }
  // From and to predicates in memory, a byte each; of at most 64, only those whose bit is in
  // `used`.
  PJRT_INLINE_MEMBER void Load(const uint8_t* from, uint64_t used) {
    for (int w = 0; w < kWords; ++w) words_[w] = Bits(from + 64 * w, used);
  }
  PJRT_INLINE_MEMBER void Store(uint8_t* to, uint64_t used) const {
    for (int w = 0; w < kWords; ++w)
      _mm512_mask_storeu_epi8(to + 64 * w, used & kAll, _mm512_maskz_set1_epi8(words_[w], 1));
  }
  PJRT_INLINE_MEMBER void And(const uint8_t* with, uint64_t used) {
    for (int w = 0; w < kWords; ++w) words_[w] &= Bits(with + 64 * w, used);
  }
  PJRT_INLINE_MEMBER void Or(const uint8_t* with, uint64_t used) {
    for (int w = 0; w < kWords; ++w) words_[w] |= Bits(with + 64 * w, used);
  }
  PJRT_INLINE_MEMBER void Xor(const uint8_t* with, uint64_t used) {
    for (int w = 0; w < kWords; ++w) words_[w] ^= Bits(with + 64 * w, used);
  }
  PJRT_INLINE_MEMBER void Not() {
    for (int w = 0; w < kWords; ++w) words_[w] = ~words_[w];
  }

 private:
  static constexpr int kLanes = 64 / sizeof(T),
                       kPerWord = kVectors < 64 / kLanes ? kVectors : 64 / kLanes;
  static constexpr int kWords = kVectors / kPerWord;
  static constexpr uint64_t kAll = ~uint64_t{0} >> (64 - kPerWord * kLanes);
  PJRT_INLINE uint64_t Bits(const uint8_t* from, uint64_t used) {
    const __m512i bytes = _mm512_maskz_loadu_epi8(used & kAll, from);
    return _mm512_test_epi8_mask(bytes, bytes);
  }

  uint64_t words_[kWords] = {};
};

#else

// Lanes of all ones where a predicate holds.
template <typename T>
using Mask = Vector<SignedOf<T>>;

#define PJRT_COMPARISON(name, op)                      \
  template <typename T>                                \
  PJRT_INLINE Mask<T> name(Vector<T> a, Vector<T> b) { \
    if constexpr (kIsFloat<T>) {                       \
      return a op b;                                   \
    } else {                                           \
      return (Mask<T>)a op(Mask<T>) b;                 \
    }                                                  \
  }
PJRT_COMPARISON(CompareEqual, ==)
PJRT_COMPARISON(CompareUnequal, !=)
PJRT_COMPARISON(CompareLess, <)
PJRT_COMPARISON(CompareLessEqual, <=)
#undef PJRT_COMPARISON
template <typename T>
PJRT_INLINE Mask<T> CompareUnsignedLess(Vector<T> a, Vector<T> b) {
  return (Vector<UnsignedOf<T>>)a < (Vector<UnsignedOf<T>>)b;
}
template <typename T>
PJRT_INLINE Mask<T> CompareUnsignedLessEqual(Vector<T> a, Vector<T> b) {
  return (Vector<UnsignedOf<T>>)a <= (Vector<UnsignedOf<T>>)b;
}

template <typename T>
PJRT_INLINE Vector<T> Blend(Mask<T> mask, Vector<T> on_false, Vector<T> on_true) {
  return mask ? on_true : on_false;
}

// As many bytes as a vector of T has elements.
template <typename T>
struct BytesOf {
  typedef uint8_t Type __attribute__((vector_size(PJRT_VECTOR_BYTES / sizeof(T))));
  typedef uint8_t Unaligned
      __attribute__((vector_size(PJRT_VECTOR_BYTES / sizeof(T)), aligned(1), may_alias));
};

template <typename T>
PJRT_INLINE Mask<T> LoadMask(const uint8_t* from) {
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return (Mask<T>)_mm256_cvtepu8_epi32(bytes) != 0;
  } else {
    int32_t bits;
    __builtin_memcpy(&bits, from, sizeof(bits));
    return (Mask<T>)_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bits)) != 0;
  }
#else
  const typename BytesOf<T>::Type bytes =
      *reinterpret_cast<const typename BytesOf<T>::Unaligned*>(from);
  return __builtin_convertvector(bytes, Mask<T>) != 0;
#endif
}
template <typename T>
PJRT_INLINE void StoreMask(uint8_t* to, Mask<T> mask) {
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m256i lanes = (__m256i)mask;
    const __m128i words =
        _mm_packs_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    const __m128i bytes = _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  } else {
    const int bits = _mm256_movemask_pd((__m256d)mask);
    for (int i = 0; i < 4; ++i) to[i] = static_cast<uint8_t>((bits >> i) & 1);
  }
#else
  *reinterpret_cast<typename BytesOf<T>::Unaligned*>(to) =
      __builtin_convertvector(mask & 1, typename BytesOf<T>::Type);
#endif
}

// The predicates of kVectors vectors.
template <typename T, int kVectors>
class Masks {
 public:
  template <int i>
  PJRT_INLINE_MEMBER void Set(Mask<T> mask) {
    masks_[i] = mask;
  }
  template <int i>
  PJRT_INLINE_MEMBER Mask<T> At() const {
    return masks_[i];
  }
  // Of all; there are no parts of groups here.
  PJRT_INLINE_MEMBER void Load(const uint8_t* from, uint64_t /*used*/) {
    for (int i = 0; i < kVectors; ++i) masks_[i] = LoadMask<T>(from + i * kLanes);
  }
  PJRT_INLINE_MEMBER void Store(uint8_t* to, uint64_t /*used*/) const {
    for (int i = 0; i < kVectors; ++i) StoreMask<T>(to + i * kLanes, masks_[i]);
  }
  PJRT_INLINE_MEMBER void And(const uint8_t* with, uint64_t /*used*/) {
    for (int i = 0; i < kVectors; ++i) masks_[i] &= LoadMask<T>(with + i * kLanes);
  }
  PJRT_INLINE_MEMBER void Or(const uint8_t* with, uint64_t /*used*/) {
    for (int i = 0; i < kVectors; ++i) masks_[i] |= LoadMask<T>(with + i * kLanes);
  }
  PJRT_INLINE_MEMBER void Xor(const uint8_t* with, uint64_t /*used*/) {
    for (int i = 0; i < kVectors; ++i) masks_[i] ^= LoadMask<T>(with + i * kLanes);
  }
  PJRT_INLINE_MEMBER void Not() {
    for (int i = 0; i < kVectors; ++i) masks_[i] = ~masks_[i];
  }

 private:
  static constexpr int kLanes = PJRT_VECTOR_BYTES / sizeof(T);
  Mask<T> masks_[kVectors] = {};
};

#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_MASK_INL_H_
