// SPDX-License-Identifier: Apache-2.0
//
// Chains of operations (block_ops.h). The two registers of the machine are eight vectors each, so
// that the jump from one instruction to the next is paid once for eight vector operations; they are
// variables with names, because compilers leave arrays in memory.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kVectors = 8;
#define PJRT_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(PJRT_VECTOR_BYTES)));
  typedef T Unaligned
      __attribute__((vector_size(PJRT_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;

// As many bytes as a vector of T has elements.
template <typename T>
struct BytesOf {
  typedef uint8_t Type __attribute__((vector_size(PJRT_VECTOR_BYTES / sizeof(T))));
  typedef uint8_t Unaligned
      __attribute__((vector_size(PJRT_VECTOR_BYTES / sizeof(T)), aligned(1), may_alias));
};

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

// Lanes of all ones where a predicate holds.
template <typename T>
PJRT_INLINE Vector<SignedOf<T>> LoadMask(const uint8_t* from) {
  using Mask = Vector<SignedOf<T>>;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (sizeof(T) == 4) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return (Mask)_mm512_movm_epi32(_mm_test_epi8_mask(bytes, bytes));
  } else {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return (Mask)_mm512_movm_epi64(static_cast<__mmask8>(_mm_test_epi8_mask(bytes, bytes)));
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    return (Mask)_mm256_cvtepu8_epi32(bytes) != 0;
  } else {
    int32_t bits;
    __builtin_memcpy(&bits, from, sizeof(bits));
    return (Mask)_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bits)) != 0;
  }
#else
  const typename BytesOf<T>::Type bytes =
      *reinterpret_cast<const typename BytesOf<T>::Unaligned*>(from);
  return __builtin_convertvector(bytes, Mask) != 0;
#endif
}
template <typename T>
PJRT_INLINE void StoreMask(uint8_t* to, Vector<SignedOf<T>> mask) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  if constexpr (sizeof(T) == 4) {
    const __m128i bytes = _mm_maskz_set1_epi8(_mm512_movepi32_mask((__m512i)mask), 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  } else {
    const __m128i bytes = _mm_maskz_set1_epi8(_mm512_movepi64_mask((__m512i)mask), 1);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  }
#elif defined(__AVX2__)
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

template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;

// Operations on vectors. For integers T is unsigned.
template <typename T>
struct Ops {
  using V = Vector<T>;
  using S = Vector<SignedOf<T>>;
  using U = Vector<UnsignedOf<T>>;
  static constexpr UnsignedOf<T> kWidth = sizeof(T) * 8;
  static constexpr UnsignedOf<T> kSign = UnsignedOf<T>{1} << (kWidth - 1);

  PJRT_INLINE V Load(V, V b) { return b; }
  PJRT_INLINE V Add(V a, V b) { return a + b; }
  PJRT_INLINE V Subtract(V a, V b) { return a - b; }
  PJRT_INLINE V SubtractFrom(V a, V b) { return b - a; }
  PJRT_INLINE V Multiply(V a, V b) { return a * b; }
  PJRT_INLINE V Divide(V a, V b) {
    if constexpr (kIsFloat<T>) {
      return a / b;
    } else {
      return a;
    }
  }
  PJRT_INLINE V DivideInto(V a, V b) { return Divide(b, a); }
  // As floats::Maximum.
  PJRT_INLINE V Maximum(V a, V b) {
    if constexpr (kIsFloat<T>) {
      const V larger = a > b ? a : b;
      const V ordered = a == b ? (V)((U)a & (U)b) : larger;
      return a != a ? a : ordered;
    } else {
      return (S)a > (S)b ? a : b;
    }
  }
  PJRT_INLINE V Minimum(V a, V b) {
    if constexpr (kIsFloat<T>) {
      const V smaller = a < b ? a : b;
      const V ordered = a == b ? (V)((U)a | (U)b) : smaller;
      return a != a ? a : ordered;
    } else {
      return (S)a < (S)b ? a : b;
    }
  }
  PJRT_INLINE V UnsignedMaximum(V a, V b) { return (U)a > (U)b ? a : b; }
  PJRT_INLINE V UnsignedMinimum(V a, V b) { return (U)a < (U)b ? a : b; }
  PJRT_INLINE V And(V a, V b) { return (V)((U)a & (U)b); }
  PJRT_INLINE V Or(V a, V b) { return (V)((U)a | (U)b); }
  PJRT_INLINE V Xor(V a, V b) { return (V)((U)a ^ (U)b); }
  PJRT_INLINE V ShiftLeft(V a, V b) {
    return (V)((U)b < kWidth ? (U)a << ((U)b & (kWidth - 1)) : U{});
  }
  PJRT_INLINE V ShiftRightLogical(V a, V b) {
    return (V)((U)b < kWidth ? (U)a >> ((U)b & (kWidth - 1)) : U{});
  }
  PJRT_INLINE V ShiftRightArithmetic(V a, V b) {
    const U most = U{} + (kWidth - 1);
    return (V)((S)a >> (S)((U)b < kWidth ? (U)b : most));
  }
  PJRT_INLINE V SelectElse(V a, V b, S mask) { return mask ? a : b; }
  PJRT_INLINE V SelectThen(V a, V b, S mask) { return mask ? b : a; }
  // Integers compare as signed ones.
  PJRT_INLINE S CompareEq(V a, V b) { return a == b; }
  PJRT_INLINE S CompareNe(V a, V b) { return a != b; }
  PJRT_INLINE S CompareLt(V a, V b) {
    if constexpr (kIsFloat<T>) {
      return a < b;
    } else {
      return (S)a < (S)b;
    }
  }
  PJRT_INLINE S CompareLe(V a, V b) {
    if constexpr (kIsFloat<T>) {
      return a <= b;
    } else {
      return (S)a <= (S)b;
    }
  }
  PJRT_INLINE S CompareGt(V a, V b) { return CompareLt(b, a); }
  PJRT_INLINE S CompareGe(V a, V b) { return CompareLe(b, a); }
  PJRT_INLINE S UnsignedLt(V a, V b) { return (U)a < (U)b; }
  PJRT_INLINE S UnsignedLe(V a, V b) { return (U)a <= (U)b; }
  PJRT_INLINE S UnsignedGt(V a, V b) { return (U)a > (U)b; }
  PJRT_INLINE S UnsignedGe(V a, V b) { return (U)a >= (U)b; }
  PJRT_INLINE V Negate(V a) {
    if constexpr (kIsFloat<T>) {
      return (V)((U)a ^ kSign);
    } else {
      return V{} - a;
    }
  }
  PJRT_INLINE V Not(V a) { return (V) ~(U)a; }
  PJRT_INLINE V Abs(V a) { return (V)((U)a & (kSign - 1)); }
};

// One vector's square roots: there is no operator for them.
template <typename T>
PJRT_INLINE Vector<T> Sqrt(Vector<T> a) {
  Vector<T> root = a;
  for (int i = 0; i < static_cast<int>(PJRT_VECTOR_BYTES / sizeof(T)); ++i)
    root[i] = sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(a[i])))
                             : static_cast<T>(__builtin_sqrt(static_cast<double>(a[i])));
  return root;
}

template <typename T>
void Chain(const ChainInstr* code, char* const* slots, int64_t groups) {
  using V = Vector<T>;
  using O = Ops<T>;
  constexpr int64_t kLanes = PJRT_VECTOR_BYTES / sizeof(T);
  static const void* const kTargets[] = {
#define PJRT_X(name) &&L_##name##Block, &&L_##name##Scalar, &&L_##name##Saved,
      PJRT_CHAIN_OPERAND_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) &&L_##name,
          PJRT_CHAIN_OWN_OPS(PJRT_X)
#undef PJRT_X
  };
#define PJRT_X(i) V a##i{}, b##i{};
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  int64_t element = 0;  // of the group
  const ChainInstr* in = code;
#define PJRT_NEXT() \
  ++in;             \
  goto* kTargets[static_cast<int>(in->op)]
  if (groups <= 0) return;
  goto* kTargets[static_cast<int>(in->op)];

#define PJRT_BLOCK_AT(i) LoadVector<T>(block + i * kLanes)
#define PJRT_FROM_BLOCK(i) a##i = O::PJRT_NAME(a##i, PJRT_BLOCK_AT(i));
#define PJRT_FROM_SCALAR(i) a##i = O::PJRT_NAME(a##i, scalar);
#define PJRT_FROM_SAVED(i) a##i = O::PJRT_NAME(a##i, b##i);
#define PJRT_BODY(name)                                                           \
  L_##name##Block : {                                                             \
    const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element; \
    PJRT_EACH(PJRT_FROM_BLOCK)                                                    \
    PJRT_NEXT();                                                                  \
  }                                                                               \
  L_##name##Scalar : {                                                            \
    const V scalar = Broadcast<T>(*reinterpret_cast<const T*>(slots[in->slot]));  \
    PJRT_EACH(PJRT_FROM_SCALAR)                                                   \
    PJRT_NEXT();                                                                  \
  }                                                                               \
  L_##name##Saved : {                                                             \
    PJRT_EACH(PJRT_FROM_SAVED)                                                    \
    PJRT_NEXT();                                                                  \
  }
#define PJRT_NAME Load
  PJRT_BODY(Load)
#undef PJRT_NAME
#define PJRT_NAME Add
  PJRT_BODY(Add)
#undef PJRT_NAME
#define PJRT_NAME Subtract
  PJRT_BODY(Subtract)
#undef PJRT_NAME
#define PJRT_NAME SubtractFrom
  PJRT_BODY(SubtractFrom)
#undef PJRT_NAME
#define PJRT_NAME Multiply
  PJRT_BODY(Multiply)
#undef PJRT_NAME
#define PJRT_NAME Divide
  PJRT_BODY(Divide)
#undef PJRT_NAME
#define PJRT_NAME DivideInto
  PJRT_BODY(DivideInto)
#undef PJRT_NAME
#define PJRT_NAME UnsignedMaximum
  PJRT_BODY(UnsignedMaximum)
#undef PJRT_NAME
#define PJRT_NAME UnsignedMinimum
  PJRT_BODY(UnsignedMinimum)
#undef PJRT_NAME
#define PJRT_NAME And
  PJRT_BODY(And)
#undef PJRT_NAME
#define PJRT_NAME Or
  PJRT_BODY(Or)
#undef PJRT_NAME
#define PJRT_NAME Xor
  PJRT_BODY(Xor)
#undef PJRT_NAME

  // Bounds: a number that is known lets one comparison do.
#define PJRT_NAME Maximum
L_MaximumBlock : {
  const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element;
  PJRT_EACH(PJRT_FROM_BLOCK)
  PJRT_NEXT();
}
L_MaximumSaved : {
  PJRT_EACH(PJRT_FROM_SAVED)
  PJRT_NEXT();
}
L_MaximumScalar : {
  const T bound = *reinterpret_cast<const T*>(slots[in->slot]);
  const V scalar = Broadcast<T>(bound);
  if constexpr (kIsFloat<T>) {
    if (bound == bound && ToBits(bound) != O::kSign) {  // neither NaN nor -0
#define PJRT_X(i) a##i = a##i <= scalar ? scalar : a##i;
      PJRT_EACH(PJRT_X)
#undef PJRT_X
      PJRT_NEXT();
    }
  }
  PJRT_EACH(PJRT_FROM_SCALAR)
  PJRT_NEXT();
}
#undef PJRT_NAME
#define PJRT_NAME Minimum
L_MinimumBlock : {
  const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element;
  PJRT_EACH(PJRT_FROM_BLOCK)
  PJRT_NEXT();
}
L_MinimumSaved : {
  PJRT_EACH(PJRT_FROM_SAVED)
  PJRT_NEXT();
}
L_MinimumScalar : {
  const T bound = *reinterpret_cast<const T*>(slots[in->slot]);
  const V scalar = Broadcast<T>(bound);
  if constexpr (kIsFloat<T>) {
    if (bound == bound && ToBits(bound) != 0) {  // neither NaN nor +0
#define PJRT_X(i) a##i = a##i >= scalar ? scalar : a##i;
      PJRT_EACH(PJRT_X)
#undef PJRT_X
      PJRT_NEXT();
    }
  }
  PJRT_EACH(PJRT_FROM_SCALAR)
  PJRT_NEXT();
}
#undef PJRT_NAME

// Shifts: one amount for all needs no look at each.
#define PJRT_SHIFT(name, when_inside, when_outside)                                        \
  L_##name##Block : {                                                                      \
    const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element;          \
    PJRT_EACH(PJRT_FROM_BLOCK)                                                             \
    PJRT_NEXT();                                                                           \
  }                                                                                        \
  L_##name##Saved : {                                                                      \
    PJRT_EACH(PJRT_FROM_SAVED)                                                             \
    PJRT_NEXT();                                                                           \
  }                                                                                        \
  L_##name##Scalar : {                                                                     \
    const UnsignedOf<T> amount = *reinterpret_cast<const UnsignedOf<T>*>(slots[in->slot]); \
    if (amount < O::kWidth) {                                                              \
      const int by = static_cast<int>(amount);                                             \
      PJRT_EACH(when_inside)                                                               \
    } else {                                                                               \
      PJRT_EACH(when_outside)                                                              \
    }                                                                                      \
    PJRT_NEXT();                                                                           \
  }
#define PJRT_ZERO(i) a##i = V{};
#define PJRT_SIGN(i) a##i = (V)((typename O::S)a##i >> static_cast<int>(O::kWidth - 1));
#define PJRT_LEFT(i) a##i = (V)((typename O::U)a##i << by);
#define PJRT_RIGHT(i) a##i = (V)((typename O::U)a##i >> by);
#define PJRT_RIGHT_SIGNED(i) a##i = (V)((typename O::S)a##i >> by);
#define PJRT_NAME ShiftLeft
  PJRT_SHIFT(ShiftLeft, PJRT_LEFT, PJRT_ZERO)
#undef PJRT_NAME
#define PJRT_NAME ShiftRightLogical
  PJRT_SHIFT(ShiftRightLogical, PJRT_RIGHT, PJRT_ZERO)
#undef PJRT_NAME
#define PJRT_NAME ShiftRightArithmetic
  PJRT_SHIFT(ShiftRightArithmetic, PJRT_RIGHT_SIGNED, PJRT_SIGN)
#undef PJRT_NAME

  // Predicates.
#define PJRT_PREDICATES reinterpret_cast<uint8_t*>(slots[in->other]) + element
#define PJRT_SELECT_BLOCK(i) \
  a##i = O::PJRT_NAME(a##i, PJRT_BLOCK_AT(i), LoadMask<T>(predicates + i * kLanes));
#define PJRT_SELECT_SCALAR(i) \
  a##i = O::PJRT_NAME(a##i, scalar, LoadMask<T>(predicates + i * kLanes));
#define PJRT_SELECT_SAVED(i) a##i = O::PJRT_NAME(a##i, b##i, LoadMask<T>(predicates + i * kLanes));
#define PJRT_COMPARE_BLOCK(i) \
  StoreMask<T>(predicates + i * kLanes, O::PJRT_NAME(a##i, PJRT_BLOCK_AT(i)));
#define PJRT_COMPARE_SCALAR(i) StoreMask<T>(predicates + i * kLanes, O::PJRT_NAME(a##i, scalar));
#define PJRT_COMPARE_SAVED(i) StoreMask<T>(predicates + i * kLanes, O::PJRT_NAME(a##i, b##i));
#define PJRT_WITH_PREDICATES(name, from_block, from_scalar, from_saved)           \
  L_##name##Block : {                                                             \
    const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element; \
    uint8_t* const predicates = PJRT_PREDICATES;                                  \
    PJRT_EACH(from_block)                                                         \
    PJRT_NEXT();                                                                  \
  }                                                                               \
  L_##name##Scalar : {                                                            \
    const V scalar = Broadcast<T>(*reinterpret_cast<const T*>(slots[in->slot]));  \
    uint8_t* const predicates = PJRT_PREDICATES;                                  \
    PJRT_EACH(from_scalar)                                                        \
    PJRT_NEXT();                                                                  \
  }                                                                               \
  L_##name##Saved : {                                                             \
    uint8_t* const predicates = PJRT_PREDICATES;                                  \
    PJRT_EACH(from_saved)                                                         \
    PJRT_NEXT();                                                                  \
  }
#define PJRT_SELECT(name) \
  PJRT_WITH_PREDICATES(name, PJRT_SELECT_BLOCK, PJRT_SELECT_SCALAR, PJRT_SELECT_SAVED)
#define PJRT_COMPARE(name) \
  PJRT_WITH_PREDICATES(name, PJRT_COMPARE_BLOCK, PJRT_COMPARE_SCALAR, PJRT_COMPARE_SAVED)
#define PJRT_NAME SelectElse
  PJRT_SELECT(SelectElse)
#undef PJRT_NAME
#define PJRT_NAME SelectThen
  PJRT_SELECT(SelectThen)
#undef PJRT_NAME
#define PJRT_NAME CompareEq
  PJRT_COMPARE(CompareEq)
#undef PJRT_NAME
#define PJRT_NAME CompareNe
  PJRT_COMPARE(CompareNe)
#undef PJRT_NAME
#define PJRT_NAME CompareLt
  PJRT_COMPARE(CompareLt)
#undef PJRT_NAME
#define PJRT_NAME CompareLe
  PJRT_COMPARE(CompareLe)
#undef PJRT_NAME
#define PJRT_NAME CompareGt
  PJRT_COMPARE(CompareGt)
#undef PJRT_NAME
#define PJRT_NAME CompareGe
  PJRT_COMPARE(CompareGe)
#undef PJRT_NAME
#define PJRT_NAME UnsignedLt
  PJRT_COMPARE(UnsignedLt)
#undef PJRT_NAME
#define PJRT_NAME UnsignedLe
  PJRT_COMPARE(UnsignedLe)
#undef PJRT_NAME
#define PJRT_NAME UnsignedGt
  PJRT_COMPARE(UnsignedGt)
#undef PJRT_NAME
#define PJRT_NAME UnsignedGe
  PJRT_COMPARE(UnsignedGe)
#undef PJRT_NAME

L_Store : {
  T* const block = reinterpret_cast<T*>(slots[in->slot]) + element;
#define PJRT_X(i) StoreVector<T>(block + i * kLanes, a##i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_Save:
#define PJRT_X(i) b##i = a##i;
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
L_Negate:
#define PJRT_X(i) a##i = O::Negate(a##i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
L_Not:
#define PJRT_X(i) a##i = O::Not(a##i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
L_Abs:
#define PJRT_X(i) a##i = O::Abs(a##i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
L_Sqrt:
  if constexpr (kIsFloat<T>) {
#define PJRT_X(i) a##i = Sqrt<T>(a##i);
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_End:
  if (--groups == 0) return;
  element += kVectors * kLanes;
  in = code;
  goto* kTargets[static_cast<int>(in->op)];
}

}  // namespace

void FillChain(BlockKernels* k) {
  k->chain_group_bytes = kVectors * PJRT_VECTOR_BYTES;
  k->chain[static_cast<int>(CType::kF32)] = Chain<float>;
  k->chain[static_cast<int>(CType::kF64)] = Chain<double>;
  k->chain[static_cast<int>(CType::kS32)] = k->chain[static_cast<int>(CType::kU32)] =
      Chain<uint32_t>;
  k->chain[static_cast<int>(CType::kS64)] = k->chain[static_cast<int>(CType::kU64)] =
      Chain<uint64_t>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
