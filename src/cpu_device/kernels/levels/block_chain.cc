// SPDX-License-Identifier: Apache-2.0
//
// Chains of operations (block_ops.h). The registers of the machine are eight vectors each, so that
// the jump from one instruction to the next is paid once for eight vector operations; they are
// variables with names, because compilers leave arrays in memory.
#include "src/cpu_device/kernels/chain_ops.h"
#include "src/cpu_device/kernels/mask-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kVectors = 8;
#define PJRT_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

// Operations on vectors of T, a type of floats, or of integers as wide.
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
  PJRT_INLINE V Divide(V a, V b) { return a / b; }
  PJRT_INLINE V DivideInto(V a, V b) { return b / a; }
  PJRT_INLINE V Maximum(V a, V b) { return floats::MaximumOf<T>(a, b); }
  PJRT_INLINE V Minimum(V a, V b) { return floats::MinimumOf<T>(a, b); }
  PJRT_INLINE V IntegerAdd(V a, V b) { return (V)((U)a + (U)b); }
  PJRT_INLINE V IntegerSubtract(V a, V b) { return (V)((U)a - (U)b); }
  PJRT_INLINE V IntegerSubtractFrom(V a, V b) { return (V)((U)b - (U)a); }
  PJRT_INLINE V IntegerMultiply(V a, V b) { return (V)((U)a * (U)b); }
  PJRT_INLINE V SignedMaximum(V a, V b) { return (V)((S)a > (S)b ? (S)a : (S)b); }
  PJRT_INLINE V SignedMinimum(V a, V b) { return (V)((S)a < (S)b ? (S)a : (S)b); }
  PJRT_INLINE V UnsignedMaximum(V a, V b) { return (V)((U)a > (U)b ? (U)a : (U)b); }
  PJRT_INLINE V UnsignedMinimum(V a, V b) { return (V)((U)a < (U)b ? (U)a : (U)b); }
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
  PJRT_INLINE V Negate(V a) { return (V)((U)a ^ kSign); }
  PJRT_INLINE V IntegerNegate(V a) { return (V)(U{} - (U)a); }
  PJRT_INLINE V Not(V a) { return (V) ~(U)a; }
  PJRT_INLINE V Abs(V a) { return (V)((U)a & (kSign - 1)); }
  PJRT_INLINE V FloatFromSigned(V a) { return __builtin_convertvector((S)a, V); }
  PJRT_INLINE V FloatFromUnsigned(V a) { return __builtin_convertvector((U)a, V); }
  // Truncated to the range; NaN to 0.
  PJRT_INLINE V SignedFromFloat(V a) {
    const V end = V{} + static_cast<T>(kSign);
    const V inside = Blend<T>(CompareLess<T>(a, end), V{}, a);
    const V number = Blend<T>(CompareLessEqual<T>(-end, a), V{}, inside);
    const S cut = __builtin_convertvector(number, S);
    const V low = Blend<T>(CompareLess<T>(a, -end), (V)cut, (V)(U{} + kSign));
    return Blend<T>(CompareLessEqual<T>(end, a), low, (V)(U{} + (kSign - 1)));
  }
};

// Functions of one vector: there are no operators for them.
#if defined(__AVX512F__)
#define PJRT_FUNCTION(name, vector_f32, vector_f64, element) \
  template <typename T>                                      \
  PJRT_INLINE Vector<T> name(Vector<T> a) {                  \
    if constexpr (sizeof(T) == 4) {                          \
      return (Vector<T>)vector_f32((__m512)a);               \
    } else {                                                 \
      return (Vector<T>)vector_f64((__m512d)a);              \
    }                                                        \
  }
#else
#define PJRT_FUNCTION(name, vector_f32, vector_f64, element)                             \
  template <typename T>                                                                  \
  PJRT_INLINE Vector<T> name(Vector<T> a) {                                              \
    Vector<T> result = a;                                                                \
    for (int i = 0; i < static_cast<int>(PJRT_VECTOR_BYTES / sizeof(T)); ++i)            \
      result[i] = sizeof(T) == 4                                                         \
                      ? static_cast<T>(__builtin_##element##f(static_cast<float>(a[i]))) \
                      : static_cast<T>(__builtin_##element(static_cast<double>(a[i])));  \
    return result;                                                                       \
  }
#endif
PJRT_FUNCTION(Sqrt, _mm512_sqrt_ps, _mm512_sqrt_pd, sqrt)
#define PJRT_FLOOR_PS(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
#define PJRT_FLOOR_PD(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
PJRT_FUNCTION(Floor, PJRT_FLOOR_PS, PJRT_FLOOR_PD, floor)
#define PJRT_CEIL_PS(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
#define PJRT_CEIL_PD(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)
PJRT_FUNCTION(Ceil, PJRT_CEIL_PS, PJRT_CEIL_PD, ceil)
#define PJRT_RINT_PS(a) _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define PJRT_RINT_PD(a) _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
PJRT_FUNCTION(RoundEven, PJRT_RINT_PS, PJRT_RINT_PD, rint)

// NaN and zeros stay.
template <typename T>
PJRT_INLINE Vector<T> Sign(Vector<T> a) {
  using U = Vector<UnsignedOf<T>>;
  const Vector<T> one = Vector<T>{} + 1;
  constexpr UnsignedOf<T> kSign = UnsignedOf<T>{1} << (sizeof(T) * 8 - 1);
  const Vector<T> unit = (Vector<T>)((U)one | ((U)a & kSign));
  return Blend<T>(CompareLess<T>(Vector<T>{}, (Vector<T>)((U)a & (kSign - 1))), a, unit);
}

// Between bf16 in memory and f32: as BlockKernels::load, store and round_to.
struct Bf16 {
  using Bits = Vector<uint32_t>;
  typedef uint16_t Half __attribute__((vector_size(PJRT_VECTOR_BYTES / 2)));
  typedef uint16_t UnalignedHalf
      __attribute__((vector_size(PJRT_VECTOR_BYTES / 2), aligned(2), may_alias));
  static constexpr uint32_t kMagnitude = 0x7fffffffu, kInfinity = 0x7f800000u, kQuiet = 0x400000u;

  PJRT_INLINE Bits Quieted(Bits bits) {
    return bits | ((bits & kMagnitude) > kInfinity ? Bits{} + kQuiet : Bits{});
  }
  PJRT_INLINE Vector<float> Load(const uint16_t* from) {
    const Half half = *reinterpret_cast<const UnalignedHalf*>(from);
    return (Vector<float>)Quieted(__builtin_convertvector(half, Bits) << 16);
  }
  // The upper halves are the result.
  PJRT_INLINE Bits Rounded(Vector<float> x) {
    const Bits bits = (Bits)x;
    const Bits rounded = bits + 0x7fffu + ((bits >> 16) & 1);
    return (bits & kMagnitude) > kInfinity ? bits | kQuiet : rounded;
  }
  PJRT_INLINE Vector<float> Round(Vector<float> x) {
    return (Vector<float>)(Rounded(x) & 0xffff0000u);
  }
  PJRT_INLINE void Store(uint16_t* to, Vector<float> x) {
    *reinterpret_cast<UnalignedHalf*>(to) = __builtin_convertvector(Rounded(x) >> 16, Half);
  }
};

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
  Masks<T> masks;
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
#define PJRT_NAME IntegerAdd
  PJRT_BODY(IntegerAdd)
#undef PJRT_NAME
#define PJRT_NAME IntegerSubtract
  PJRT_BODY(IntegerSubtract)
#undef PJRT_NAME
#define PJRT_NAME IntegerSubtractFrom
  PJRT_BODY(IntegerSubtractFrom)
#undef PJRT_NAME
#define PJRT_NAME IntegerMultiply
  PJRT_BODY(IntegerMultiply)
#undef PJRT_NAME
#define PJRT_NAME SignedMaximum
  PJRT_BODY(SignedMaximum)
#undef PJRT_NAME
#define PJRT_NAME SignedMinimum
  PJRT_BODY(SignedMinimum)
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
  if (bound == bound && ToBits(bound) != O::kSign) {  // neither NaN nor -0
#define PJRT_X(i) a##i = a##i <= scalar ? scalar : a##i;
    PJRT_EACH(PJRT_X)
#undef PJRT_X
    PJRT_NEXT();
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
  if (bound == bound && ToBits(bound) != 0) {  // neither NaN nor +0
#define PJRT_X(i) a##i = a##i >= scalar ? scalar : a##i;
    PJRT_EACH(PJRT_X)
#undef PJRT_X
    PJRT_NEXT();
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

  // One instruction where it is a rotation.
L_ShiftBoth : {
  using Unsigned = UnsignedOf<T>;
  const Unsigned left = *reinterpret_cast<const Unsigned*>(slots[in->slot]);
  ++in;
  const Unsigned right = *reinterpret_cast<const Unsigned*>(slots[in->slot]);
  const int by = static_cast<int>(left % O::kWidth), back = static_cast<int>(right % O::kWidth);
  if (by != 0 && left < O::kWidth && right == O::kWidth - left) {
#if defined(__AVX512F__)
    const __m512i all = sizeof(T) == 4 ? _mm512_set1_epi32(by) : _mm512_set1_epi64(by);
#define PJRT_X(i)                                                   \
  a##i = (V)(sizeof(T) == 4 ? _mm512_rolv_epi32((__m512i)a##i, all) \
                            : _mm512_rolv_epi64((__m512i)a##i, all));
#else
#define PJRT_X(i) a##i = (V)(((typename O::U)a##i << by) | ((typename O::U)a##i >> back));
#endif
    PJRT_EACH(PJRT_X)
#undef PJRT_X
    PJRT_NEXT();
  }
  const Unsigned kept_left = left < O::kWidth ? ~Unsigned{0} : 0;
  const Unsigned kept_right = right < O::kWidth ? ~Unsigned{0} : 0;
#define PJRT_X(i)                                        \
  a##i = (V)((((typename O::U)a##i << by) & kept_left) | \
             (((typename O::U)a##i >> back) & kept_right));
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}

// Predicates.
#define PJRT_SELECT_ELSE(i, operand) a##i = Blend<T>(masks.template At<i>(), operand, a##i);
#define PJRT_SELECT_THEN(i, operand) a##i = Blend<T>(masks.template At<i>(), a##i, operand);
#define PJRT_ELSE_BLOCK(i) PJRT_SELECT_ELSE(i, PJRT_BLOCK_AT(i))
#define PJRT_ELSE_SCALAR(i) PJRT_SELECT_ELSE(i, scalar)
#define PJRT_ELSE_SAVED(i) PJRT_SELECT_ELSE(i, b##i)
#define PJRT_THEN_BLOCK(i) PJRT_SELECT_THEN(i, PJRT_BLOCK_AT(i))
#define PJRT_THEN_SCALAR(i) PJRT_SELECT_THEN(i, scalar)
#define PJRT_THEN_SAVED(i) PJRT_SELECT_THEN(i, b##i)
#define PJRT_COMPARE_BLOCK(i) masks.template Set<i>(PJRT_COMPARISON(a##i, PJRT_BLOCK_AT(i)));
#define PJRT_COMPARE_SCALAR(i) masks.template Set<i>(PJRT_COMPARISON(a##i, scalar));
#define PJRT_COMPARE_SAVED(i) masks.template Set<i>(PJRT_COMPARISON(a##i, b##i));
#define PJRT_WITH_MASKS(name, from_block, from_scalar, from_saved)                \
  L_##name##Block : {                                                             \
    const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element; \
    PJRT_EACH(from_block)                                                         \
    PJRT_NEXT();                                                                  \
  }                                                                               \
  L_##name##Scalar : {                                                            \
    const V scalar = Broadcast<T>(*reinterpret_cast<const T*>(slots[in->slot]));  \
    PJRT_EACH(from_scalar)                                                        \
    PJRT_NEXT();                                                                  \
  }                                                                               \
  L_##name##Saved : {                                                             \
    PJRT_EACH(from_saved)                                                         \
    PJRT_NEXT();                                                                  \
  }
  PJRT_WITH_MASKS(SelectElse, PJRT_ELSE_BLOCK, PJRT_ELSE_SCALAR, PJRT_ELSE_SAVED)
  PJRT_WITH_MASKS(SelectThen, PJRT_THEN_BLOCK, PJRT_THEN_SCALAR, PJRT_THEN_SAVED)
#define PJRT_COMPARE(name) \
  PJRT_WITH_MASKS(name, PJRT_COMPARE_BLOCK, PJRT_COMPARE_SCALAR, PJRT_COMPARE_SAVED)
#define PJRT_COMPARISON(a, b) CompareEqual<T>(a, b)
  PJRT_COMPARE(CompareEq)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(a, b) CompareUnequal<T>(a, b)
  PJRT_COMPARE(CompareNe)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(a, b) CompareLess<T>(a, b)
  PJRT_COMPARE(CompareLt)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(a, b) CompareLessEqual<T>(a, b)
  PJRT_COMPARE(CompareLe)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(a, b) CompareLess<T>(b, a)
  PJRT_COMPARE(CompareGt)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(a, b) CompareLessEqual<T>(b, a)
  PJRT_COMPARE(CompareGe)
#undef PJRT_COMPARISON
#define PJRT_OF_INTEGERS(compare, a, b) \
  compare<UnsignedOf<T>>((typename O::U)(a), (typename O::U)(b))
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareEqual, x, y)
  PJRT_COMPARE(IntegerEq)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareUnequal, x, y)
  PJRT_COMPARE(IntegerNe)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareLess, x, y)
  PJRT_COMPARE(SignedLt)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareLessEqual, x, y)
  PJRT_COMPARE(SignedLe)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareLess, y, x)
  PJRT_COMPARE(SignedGt)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareLessEqual, y, x)
  PJRT_COMPARE(SignedGe)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareUnsignedLess, x, y)
  PJRT_COMPARE(UnsignedLt)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareUnsignedLessEqual, x, y)
  PJRT_COMPARE(UnsignedLe)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareUnsignedLess, y, x)
  PJRT_COMPARE(UnsignedGt)
#undef PJRT_COMPARISON
#define PJRT_COMPARISON(x, y) PJRT_OF_INTEGERS(CompareUnsignedLessEqual, y, x)
  PJRT_COMPARE(UnsignedGe)
#undef PJRT_COMPARISON
#undef PJRT_OF_INTEGERS
#define PJRT_PREDICATES reinterpret_cast<uint8_t*>(slots[in->slot]) + element
L_LoadMask:
  masks.Load(PJRT_PREDICATES);
  PJRT_NEXT();
L_StoreMask:
  masks.Store(PJRT_PREDICATES);
  PJRT_NEXT();
L_AndMask:
  masks.And(PJRT_PREDICATES);
  PJRT_NEXT();
L_OrMask:
  masks.Or(PJRT_PREDICATES);
  PJRT_NEXT();
L_XorMask:
  masks.Xor(PJRT_PREDICATES);
  PJRT_NEXT();
L_NotMask:
  masks.Not();
  PJRT_NEXT();

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
L_StoreB : {
  T* const block = reinterpret_cast<T*>(slots[in->slot]) + element;
#define PJRT_X(i) StoreVector<T>(block + i * kLanes, b##i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_LoadB : {
  const T* const block = reinterpret_cast<const T*>(slots[in->slot]) + element;
#define PJRT_X(i) b##i = PJRT_BLOCK_AT(i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_MultiplyAdd : {
  const V scalar = Broadcast<T>(*reinterpret_cast<const T*>(slots[in->slot]));
#define PJRT_X(i) a##i = a##i * b##i + scalar;
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_IntegerMultiplyAdd : {
  const V scalar = Broadcast<T>(*reinterpret_cast<const T*>(slots[in->slot]));
#define PJRT_X(i) a##i = O::IntegerAdd(O::IntegerMultiply(a##i, b##i), scalar);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_Exchange:
#define PJRT_X(i)       \
  {                     \
    const V old = a##i; \
    a##i = b##i;        \
    b##i = old;         \
  }
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
#define PJRT_TO_B(i) b##i = O::PJRT_NAME(b##i, a##i);
#define PJRT_NAME Add
L_AddToB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME Subtract
L_SubtractFromB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME Multiply
L_MultiplyB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME IntegerAdd
L_IntegerAddToB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME IntegerSubtract
L_IntegerSubtractFromB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME IntegerMultiply
L_IntegerMultiplyB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME And
L_AndToB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME Or
L_OrToB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
#define PJRT_NAME Xor
L_XorToB:
  PJRT_EACH(PJRT_TO_B)
  PJRT_NEXT();
#undef PJRT_NAME
L_Negate:
#define PJRT_X(i) a##i = O::Negate(a##i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
L_IntegerNegate:
#define PJRT_X(i) a##i = O::IntegerNegate(a##i);
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
#define PJRT_UNARY(name, function) L_##name : PJRT_EACH(function) PJRT_NEXT();
#define PJRT_SQRT(i) a##i = Sqrt<T>(a##i);
#define PJRT_RSQRT(i) a##i = (V{} + 1) / Sqrt<T>(a##i);
#define PJRT_SIGN_OF(i) a##i = Sign<T>(a##i);
#define PJRT_FLOOR(i) a##i = Floor<T>(a##i);
#define PJRT_CEIL(i) a##i = Ceil<T>(a##i);
#define PJRT_ROUND_EVEN(i) a##i = RoundEven<T>(a##i);
  PJRT_UNARY(Sqrt, PJRT_SQRT)
  PJRT_UNARY(Rsqrt, PJRT_RSQRT)
  PJRT_UNARY(Sign, PJRT_SIGN_OF)
  PJRT_UNARY(Floor, PJRT_FLOOR)
  PJRT_UNARY(Ceil, PJRT_CEIL)
  PJRT_UNARY(RoundEven, PJRT_ROUND_EVEN)
#define PJRT_X(i) a##i = O::FloatFromSigned(a##i);
  PJRT_UNARY(FloatFromSigned, PJRT_X)
#undef PJRT_X
#define PJRT_X(i) a##i = O::FloatFromUnsigned(a##i);
  PJRT_UNARY(FloatFromUnsigned, PJRT_X)
#undef PJRT_X
#define PJRT_X(i) a##i = O::SignedFromFloat(a##i);
  PJRT_UNARY(SignedFromFloat, PJRT_X)
#undef PJRT_X
#define PJRT_X(i) a##i = Blend<T>(masks.template At<i>(), V{}, V{} + 1);
  PJRT_UNARY(FloatFromMask, PJRT_X)
#undef PJRT_X
#define PJRT_X(i) a##i = Blend<T>(masks.template At<i>(), V{}, (V)(typename O::U{} + 1));
  PJRT_UNARY(IntegerFromMask, PJRT_X)
#undef PJRT_X
L_LoadBf16:
  if constexpr (std::is_same_v<T, float>) {
    const uint16_t* const block = reinterpret_cast<const uint16_t*>(slots[in->slot]) + element;
#define PJRT_X(i) a##i = Bf16::Load(block + i * kLanes);
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_RoundBf16:
  if constexpr (std::is_same_v<T, float>) {
#define PJRT_X(i) a##i = Bf16::Round(a##i);
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_StoreBf16:
  if constexpr (std::is_same_v<T, float>) {
    uint16_t* const block = reinterpret_cast<uint16_t*>(slots[in->slot]) + element;
#define PJRT_X(i) Bf16::Store(block + i * kLanes, a##i);
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
  k->chain[static_cast<int>(CType::kF32)] = k->chain[static_cast<int>(CType::kS32)] =
      k->chain[static_cast<int>(CType::kU32)] = Chain<float>;
  k->chain[static_cast<int>(CType::kF64)] = k->chain[static_cast<int>(CType::kS64)] =
      k->chain[static_cast<int>(CType::kU64)] = Chain<double>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
