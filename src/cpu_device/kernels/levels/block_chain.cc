// SPDX-License-Identifier: Apache-2.0
//
// Chains of operations (block_ops.h). The registers of the machine are eight vectors each, so that
// the jump from one instruction to the next is paid once for eight vector operations, and half as
// many where that is all that is left; they are variables with names, because compilers leave
// arrays in memory.
#include "src/cpu_device/kernels/bf16_vectors-inl.h"
#include "src/cpu_device/kernels/chain_ops.h"
#include "src/cpu_device/kernels/f16_vectors-inl.h"
#include "src/cpu_device/kernels/inverse_root-inl.h"
#include "src/cpu_device/kernels/mask-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kMostVectors = kChainVectors, kFewestVectors = 4;
#define PJRT_EACH(X) \
  X(0) X(1) X(2) X(3) if constexpr (kVectors > 4) { X(4) X(5) X(6) X(7) }
#define PJRT_EACH_OF(X, what)                                               \
  X(0, what) X(1, what) X(2, what) X(3, what) if constexpr (kVectors > 4) { \
    X(4, what) X(5, what) X(6, what) X(7, what)                             \
  }

// A vector in memory: all of it or, where `kPartial`, the lanes whose bit is in `used`.
template <bool kPartial, typename T>
PJRT_INLINE Vector<T> LoadSome(const T* from, [[maybe_unused]] uint64_t used) {
#if defined(__AVX512BW__)
  if constexpr (kPartial) return LoadPart<T>(from, used);
#endif
  return LoadVector<T>(from);
}
template <bool kPartial, typename T>
PJRT_INLINE void StoreSome(T* to, Vector<T> value, [[maybe_unused]] uint64_t used) {
#if defined(__AVX512BW__)
  if constexpr (kPartial) return StorePart<T>(to, value, used);
#endif
  StoreVector<T>(to, value);
}
template <bool kPartial>
PJRT_INLINE Vector<float> LoadSomeBf16(const uint16_t* from, [[maybe_unused]] uint64_t used) {
#if defined(__AVX512BW__)
  if constexpr (kPartial) return bf16::LoadPart(from, used);
#endif
  return bf16::Load(from);
}
template <bool kPartial>
PJRT_INLINE void StoreSomeBf16(uint16_t* to, Vector<float> x, Vector<float> y,
                               [[maybe_unused]] uint64_t used) {
#if defined(__AVX512BW__)
  if constexpr (kPartial) return bf16::StoreTwoPart(to, x, y, used);
#endif
  bf16::StoreTwo(to, x, y);
}

template <bool kPartial>
PJRT_INLINE Vector<float> LoadSomeF16(const uint16_t* from, [[maybe_unused]] uint64_t used) {
#if defined(__AVX512BW__)
  if constexpr (kPartial) return f16::LoadPart(from, used);
#endif
  return f16::Load(from);
}
template <bool kPartial>
PJRT_INLINE void StoreSomeF16(uint16_t* to, Vector<float> x, [[maybe_unused]] uint64_t used) {
#if defined(__AVX512BW__)
  if constexpr (kPartial) return f16::StorePart(to, x, used);
#endif
  f16::Store(to, x);
}

// Operations on vectors of T, a type of floats, or of integers as wide: those of ChainOp, by name.
template <typename T>
struct Ops {
  using Bits = UnsignedOf<T>;
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
  PJRT_INLINE auto CompareEq(V a, V b) { return CompareEqual<T>(a, b); }
  PJRT_INLINE auto CompareNe(V a, V b) { return CompareUnequal<T>(a, b); }
  PJRT_INLINE auto CompareLt(V a, V b) { return CompareLess<T>(a, b); }
  PJRT_INLINE auto CompareLe(V a, V b) { return CompareLessEqual<T>(a, b); }
  PJRT_INLINE auto CompareGt(V a, V b) { return CompareLess<T>(b, a); }
  PJRT_INLINE auto CompareGe(V a, V b) { return CompareLessEqual<T>(b, a); }
  PJRT_INLINE auto IntegerEq(V a, V b) { return CompareEqual<Bits>((U)a, (U)b); }
  PJRT_INLINE auto IntegerNe(V a, V b) { return CompareUnequal<Bits>((U)a, (U)b); }
  PJRT_INLINE auto SignedLt(V a, V b) { return CompareLess<Bits>((U)a, (U)b); }
  PJRT_INLINE auto SignedLe(V a, V b) { return CompareLessEqual<Bits>((U)a, (U)b); }
  PJRT_INLINE auto SignedGt(V a, V b) { return CompareLess<Bits>((U)b, (U)a); }
  PJRT_INLINE auto SignedGe(V a, V b) { return CompareLessEqual<Bits>((U)b, (U)a); }
  PJRT_INLINE auto UnsignedLt(V a, V b) { return CompareUnsignedLess<Bits>((U)a, (U)b); }
  PJRT_INLINE auto UnsignedLe(V a, V b) { return CompareUnsignedLessEqual<Bits>((U)a, (U)b); }
  PJRT_INLINE auto UnsignedGt(V a, V b) { return CompareUnsignedLess<Bits>((U)b, (U)a); }
  PJRT_INLINE auto UnsignedGe(V a, V b) { return CompareUnsignedLessEqual<Bits>((U)b, (U)a); }
  template <typename M>
  PJRT_INLINE V SelectElse(M mask, V a, V b) {
    return Blend<T>(mask, b, a);
  }
  template <typename M>
  PJRT_INLINE V SelectThen(M mask, V a, V b) {
    return Blend<T>(mask, a, b);
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

template <typename T>
PJRT_INLINE Vector<T> Rsqrt(Vector<T> a) {
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 8) return (Vector<T>)f64::InverseRoot((Vector<double>)a);
#endif
  return (Vector<T>{} + 1) / Sqrt<T>(a);
}

// NaN and zeros stay.
template <typename T>
PJRT_INLINE Vector<T> Sign(Vector<T> a) {
  using U = Vector<UnsignedOf<T>>;
  const Vector<T> one = Vector<T>{} + 1;
  constexpr UnsignedOf<T> kSign = UnsignedOf<T>{1} << (sizeof(T) * 8 - 1);
  const Vector<T> unit = (Vector<T>)((U)one | ((U)a & kSign));
  return Blend<T>(CompareLess<T>(Vector<T>{}, (Vector<T>)((U)a & (kSign - 1))), a, unit);
}

// On `groups` groups of kVectors vectors, from `element` on; where kPartial, on the elements of one
// whose bit is in `used`; where kRows, from the group with number `element` on, of vectors that lie
// as `rows` says.
template <typename T, int kVectors, bool kPartial = false, bool kRows = false>
void RunGroups(const ChainInstr* code, char* const* slots, int64_t element, int64_t groups,
               uint64_t used = ~uint64_t{0}, [[maybe_unused]] const ChainRows* rows = nullptr) {
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
  V a0{}, a1{}, a2{}, a3{}, a4{}, a5{}, a6{}, a7{};
  V b0{}, b1{}, b2{}, b3{}, b4{}, b5{}, b6{}, b7{};
  Masks<T, kVectors> masks;
  const ChainInstr* in = code;
#define PJRT_NEXT() \
  ++in;             \
  goto* kTargets[static_cast<int>(in->op)]
  if (groups <= 0) return;
  goto* kTargets[static_cast<int>(in->op)];

// The group at hand of the block that the instruction names, and where its vector i begins, once
// PJRT_VECTORS has found that out.
#define PJRT_BLOCK(type) \
  (reinterpret_cast<type*>(slots[in->slot]) + (kRows ? rows[in->slot].step * element : element))
#define PJRT_VECTORS [[maybe_unused]] const int64_t* const at = kRows ? rows[in->slot].at : nullptr;
#define PJRT_AT(i) (kRows ? at[i] : i * kLanes)
#define PJRT_SCALARS                                             \
  PJRT_VECTORS                                                   \
  [[maybe_unused]] const T* const scalars = PJRT_BLOCK(const T); \
  [[maybe_unused]] const V scalar =                              \
      kRows ? V{} : Broadcast<T>(*reinterpret_cast<const T*>(slots[in->slot]));
#define PJRT_SCALAR_AT(i) (kRows ? Broadcast<T>(scalars[PJRT_AT(i)]) : scalar)
#define PJRT_BLOCK_AT(i) LoadSome<kPartial, T>(block + PJRT_AT(i), used >> (i * kLanes % 64))
// The forms of an operation, a function of Ops: `from`(i, name) makes the result in vector i.
#define PJRT_BLOCK_FORM(name, from)             \
  L_##name##Block : {                           \
    PJRT_VECTORS                                \
    const T* const block = PJRT_BLOCK(const T); \
    PJRT_EACH_OF(from, name)                    \
    PJRT_NEXT();                                \
  }
#define PJRT_SCALAR_FORM(name, from) \
  L_##name##Scalar : {               \
    PJRT_SCALARS                     \
    PJRT_EACH_OF(from, name)         \
    PJRT_NEXT();                     \
  }
#define PJRT_SAVED_FORM(name, from) \
  L_##name##Saved : {               \
    PJRT_EACH_OF(from, name)        \
    PJRT_NEXT();                    \
  }
#define PJRT_FORMS(name, from_block, from_scalar, from_saved) \
  PJRT_BLOCK_FORM(name, from_block)                           \
  PJRT_SCALAR_FORM(name, from_scalar)                         \
  PJRT_SAVED_FORM(name, from_saved)

#define PJRT_FROM_BLOCK(i, name) a##i = O::name(a##i, PJRT_BLOCK_AT(i));
#define PJRT_FROM_SCALAR(i, name) a##i = O::name(a##i, PJRT_SCALAR_AT(i));
#define PJRT_FROM_SAVED(i, name) a##i = O::name(a##i, b##i);
#define PJRT_BODY(name) PJRT_FORMS(name, PJRT_FROM_BLOCK, PJRT_FROM_SCALAR, PJRT_FROM_SAVED)
  PJRT_BODY(Load)
  PJRT_BODY(Add)
  PJRT_BODY(Subtract)
  PJRT_BODY(SubtractFrom)
  PJRT_BODY(Multiply)
  PJRT_BODY(Divide)
  PJRT_BODY(DivideInto)
  PJRT_BODY(IntegerAdd)
  PJRT_BODY(IntegerSubtract)
  PJRT_BODY(IntegerSubtractFrom)
  PJRT_BODY(IntegerMultiply)
  PJRT_BODY(SignedMaximum)
  PJRT_BODY(SignedMinimum)
  PJRT_BODY(UnsignedMaximum)
  PJRT_BODY(UnsignedMinimum)
  PJRT_BODY(And)
  PJRT_BODY(Or)
  PJRT_BODY(Xor)

  // Bounds: a number that is known lets one comparison do.
  PJRT_BLOCK_FORM(Maximum, PJRT_FROM_BLOCK)
  PJRT_SAVED_FORM(Maximum, PJRT_FROM_SAVED)
L_MaximumScalar : {
  const T bound = *reinterpret_cast<const T*>(slots[in->slot]);
  PJRT_SCALARS
  const bool is_one = !kRows || rows[in->slot].step == 0;
  if (is_one && bound == bound && ToBits(bound) != O::kSign) {  // neither NaN nor -0
    const V all = Broadcast<T>(bound);
#define PJRT_X(i) a##i = a##i <= all ? all : a##i;
    PJRT_EACH(PJRT_X)
#undef PJRT_X
    PJRT_NEXT();
  }
  PJRT_EACH_OF(PJRT_FROM_SCALAR, Maximum)
  PJRT_NEXT();
}
  PJRT_BLOCK_FORM(Minimum, PJRT_FROM_BLOCK)
  PJRT_SAVED_FORM(Minimum, PJRT_FROM_SAVED)
L_MinimumScalar : {
  const T bound = *reinterpret_cast<const T*>(slots[in->slot]);
  PJRT_SCALARS
  const bool is_one = !kRows || rows[in->slot].step == 0;
  if (is_one && bound == bound && ToBits(bound) != 0) {  // neither NaN nor +0
    const V all = Broadcast<T>(bound);
#define PJRT_X(i) a##i = a##i >= all ? all : a##i;
    PJRT_EACH(PJRT_X)
#undef PJRT_X
    PJRT_NEXT();
  }
  PJRT_EACH_OF(PJRT_FROM_SCALAR, Minimum)
  PJRT_NEXT();
}

// Shifts: one amount for all needs no look at each.
#define PJRT_SHIFT(name, when_inside, when_outside)                                        \
  PJRT_BLOCK_FORM(name, PJRT_FROM_BLOCK)                                                   \
  PJRT_SAVED_FORM(name, PJRT_FROM_SAVED)                                                   \
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
  PJRT_SHIFT(ShiftLeft, PJRT_LEFT, PJRT_ZERO)
  PJRT_SHIFT(ShiftRightLogical, PJRT_RIGHT, PJRT_ZERO)
  PJRT_SHIFT(ShiftRightArithmetic, PJRT_RIGHT_SIGNED, PJRT_SIGN)

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
#define PJRT_SELECT_BLOCK(i, name) a##i = O::name(masks.template At<i>(), a##i, PJRT_BLOCK_AT(i));
#define PJRT_SELECT_SCALAR(i, name) a##i = O::name(masks.template At<i>(), a##i, PJRT_SCALAR_AT(i));
#define PJRT_SELECT_SAVED(i, name) a##i = O::name(masks.template At<i>(), a##i, b##i);
#define PJRT_SELECT(name) PJRT_FORMS(name, PJRT_SELECT_BLOCK, PJRT_SELECT_SCALAR, PJRT_SELECT_SAVED)
  PJRT_SELECT(SelectElse)
  PJRT_SELECT(SelectThen)
#define PJRT_COMPARE_BLOCK(i, name) masks.template Set<i>(O::name(a##i, PJRT_BLOCK_AT(i)));
#define PJRT_COMPARE_SCALAR(i, name) masks.template Set<i>(O::name(a##i, PJRT_SCALAR_AT(i)));
#define PJRT_COMPARE_SAVED(i, name) masks.template Set<i>(O::name(a##i, b##i));
#define PJRT_COMPARE(name) \
  PJRT_FORMS(name, PJRT_COMPARE_BLOCK, PJRT_COMPARE_SCALAR, PJRT_COMPARE_SAVED)
  PJRT_COMPARE(CompareEq)
  PJRT_COMPARE(CompareNe)
  PJRT_COMPARE(CompareLt)
  PJRT_COMPARE(CompareLe)
  PJRT_COMPARE(CompareGt)
  PJRT_COMPARE(CompareGe)
  PJRT_COMPARE(IntegerEq)
  PJRT_COMPARE(IntegerNe)
  PJRT_COMPARE(SignedLt)
  PJRT_COMPARE(SignedLe)
  PJRT_COMPARE(SignedGt)
  PJRT_COMPARE(SignedGe)
  PJRT_COMPARE(UnsignedLt)
  PJRT_COMPARE(UnsignedLe)
  PJRT_COMPARE(UnsignedGt)
  PJRT_COMPARE(UnsignedGe)
#define PJRT_PREDICATES PJRT_BLOCK(uint8_t)
L_LoadMask:
  masks.Load(PJRT_PREDICATES, used);
  PJRT_NEXT();
L_StoreMask:
  masks.Store(PJRT_PREDICATES, used);
  PJRT_NEXT();
L_AndMask:
  masks.And(PJRT_PREDICATES, used);
  PJRT_NEXT();
L_OrMask:
  masks.Or(PJRT_PREDICATES, used);
  PJRT_NEXT();
L_XorMask:
  masks.Xor(PJRT_PREDICATES, used);
  PJRT_NEXT();
L_NotMask:
  masks.Not();
  PJRT_NEXT();

L_Store : {
  PJRT_VECTORS
  T* const block = PJRT_BLOCK(T);
#define PJRT_X(i) StoreSome<kPartial, T>(block + PJRT_AT(i), a##i, used >> (i * kLanes % 64));
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
  PJRT_VECTORS
  T* const block = PJRT_BLOCK(T);
#define PJRT_X(i) StoreSome<kPartial, T>(block + PJRT_AT(i), b##i, used >> (i * kLanes % 64));
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_LoadB : {
  PJRT_VECTORS
  const T* const block = PJRT_BLOCK(const T);
#define PJRT_X(i) b##i = PJRT_BLOCK_AT(i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_MultiplyAdd : {
  PJRT_SCALARS
#define PJRT_X(i) a##i = a##i * b##i + PJRT_SCALAR_AT(i);
  PJRT_EACH(PJRT_X)
#undef PJRT_X
  PJRT_NEXT();
}
L_IntegerMultiplyAdd : {
  PJRT_SCALARS
#define PJRT_X(i) a##i = O::IntegerAdd(O::IntegerMultiply(a##i, b##i), PJRT_SCALAR_AT(i));
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
#define PJRT_TO_B(i, name) b##i = O::name(b##i, a##i);
#define PJRT_B_BODY(op, name) L_##op : PJRT_EACH_OF(PJRT_TO_B, name) PJRT_NEXT();
  PJRT_B_BODY(AddToB, Add)
  PJRT_B_BODY(SubtractFromB, Subtract)
  PJRT_B_BODY(MultiplyB, Multiply)
  PJRT_B_BODY(IntegerAddToB, IntegerAdd)
  PJRT_B_BODY(IntegerSubtractFromB, IntegerSubtract)
  PJRT_B_BODY(IntegerMultiplyB, IntegerMultiply)
  PJRT_B_BODY(AndToB, And)
  PJRT_B_BODY(OrToB, Or)
  PJRT_B_BODY(XorToB, Xor)
#define PJRT_OWN(i, name) a##i = O::name(a##i);
#define PJRT_OWN_BODY(name) L_##name : PJRT_EACH_OF(PJRT_OWN, name) PJRT_NEXT();
  PJRT_OWN_BODY(Negate)
  PJRT_OWN_BODY(IntegerNegate)
  PJRT_OWN_BODY(Not)
  PJRT_OWN_BODY(Abs)
  PJRT_OWN_BODY(FloatFromSigned)
  PJRT_OWN_BODY(FloatFromUnsigned)
  PJRT_OWN_BODY(SignedFromFloat)
#define PJRT_CALL(i, name) a##i = name<T>(a##i);
#define PJRT_CALL_BODY(name) L_##name : PJRT_EACH_OF(PJRT_CALL, name) PJRT_NEXT();
  PJRT_CALL_BODY(Sqrt)
  PJRT_CALL_BODY(Rsqrt)
  PJRT_CALL_BODY(Sign)
  PJRT_CALL_BODY(Floor)
  PJRT_CALL_BODY(Ceil)
  PJRT_CALL_BODY(RoundEven)
#define PJRT_FROM_MASK(i, one) a##i = Blend<T>(masks.template At<i>(), V{}, one);
L_FloatFromMask:
  PJRT_EACH_OF(PJRT_FROM_MASK, V{} + 1)
  PJRT_NEXT();
L_IntegerFromMask:
  PJRT_EACH_OF(PJRT_FROM_MASK, (V)(typename O::U{} + 1))
  PJRT_NEXT();
L_LoadBf16:
  if constexpr (std::is_same_v<T, float>) {
    PJRT_VECTORS
    const uint16_t* const block = PJRT_BLOCK(const uint16_t);
#define PJRT_X(i) a##i = LoadSomeBf16<kPartial>(block + PJRT_AT(i), used >> (i * kLanes % 64));
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_RoundBf16:
  if constexpr (std::is_same_v<T, float>) {
#define PJRT_X(i) a##i = bf16::Round(a##i);
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_StoreBf16:
  if constexpr (std::is_same_v<T, float>) {
    PJRT_VECTORS
    uint16_t* const block = PJRT_BLOCK(uint16_t);
#define PJRT_X(i, j) \
  StoreSomeBf16<kPartial>(block + PJRT_AT(i), a##i, a##j, used >> (i * kLanes % 64));
    PJRT_X(0, 1) PJRT_X(2, 3) if constexpr (kVectors > 4) { PJRT_X(4, 5) PJRT_X(6, 7) }
#undef PJRT_X
  }
  PJRT_NEXT();
L_LoadF16:
  if constexpr (std::is_same_v<T, float>) {
    PJRT_VECTORS
    const uint16_t* const block = PJRT_BLOCK(const uint16_t);
#define PJRT_X(i) a##i = LoadSomeF16<kPartial>(block + PJRT_AT(i), used >> (i * kLanes % 64));
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_RoundF16:
  if constexpr (std::is_same_v<T, float>) {
#define PJRT_X(i) a##i = f16::Round(a##i);
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_StoreF16:
  if constexpr (std::is_same_v<T, float>) {
    PJRT_VECTORS
    uint16_t* const block = PJRT_BLOCK(uint16_t);
#define PJRT_X(i) StoreSomeF16<kPartial>(block + PJRT_AT(i), a##i, used >> (i * kLanes % 64));
    PJRT_EACH(PJRT_X)
#undef PJRT_X
  }
  PJRT_NEXT();
L_End:
  if (--groups == 0) return;
  element += kRows ? 1 : kVectors * kLanes;
  in = code;
  goto* kTargets[static_cast<int>(in->op)];
}

template <typename T>
void Chain(const ChainInstr* code, char* const* slots, int64_t groups) {
  constexpr int64_t kTimes = kMostVectors / kFewestVectors;
  constexpr int64_t kElements = kFewestVectors * PJRT_VECTOR_BYTES / sizeof(T);
  const int64_t large = groups / kTimes, rest = groups % kTimes;
  RunGroups<T, kMostVectors>(code, slots, 0, large);
  RunGroups<T, kFewestVectors>(code, slots, large * kTimes * kElements, rest);
}

template <typename T>
void ChainOfRows(const ChainInstr* code, char* const* slots, const ChainRows* rows,
                 int64_t groups) {
  RunGroups<T, kMostVectors, false, true>(code, slots, 0, groups, ~uint64_t{0}, rows);
}

#if defined(__AVX512BW__)
template <typename T>
void ChainRest(const ChainInstr* code, char* const* slots, int64_t from, int64_t n) {
  if (n > 0) RunGroups<T, kFewestVectors, true>(code, slots, from, 1, ~uint64_t{0} >> (64 - n));
}
#endif

}  // namespace

void FillChain(BlockKernels* k) {
  k->chain_group_bytes = kFewestVectors * PJRT_VECTOR_BYTES;
  k->chain[static_cast<int>(CType::kF32)] = k->chain[static_cast<int>(CType::kS32)] =
      k->chain[static_cast<int>(CType::kU32)] = Chain<float>;
  k->chain[static_cast<int>(CType::kF64)] = k->chain[static_cast<int>(CType::kS64)] =
      k->chain[static_cast<int>(CType::kU64)] = Chain<double>;
  k->chain_vector_bytes = PJRT_VECTOR_BYTES;
  k->chain_rows[static_cast<int>(CType::kF32)] = k->chain_rows[static_cast<int>(CType::kS32)] =
      k->chain_rows[static_cast<int>(CType::kU32)] = ChainOfRows<float>;
  k->chain_rows[static_cast<int>(CType::kF64)] = k->chain_rows[static_cast<int>(CType::kS64)] =
      k->chain_rows[static_cast<int>(CType::kU64)] = ChainOfRows<double>;
#if defined(__AVX512BW__)
  k->chain_rest[static_cast<int>(CType::kF32)] = k->chain_rest[static_cast<int>(CType::kS32)] =
      k->chain_rest[static_cast<int>(CType::kU32)] = ChainRest<float>;
  k->chain_rest[static_cast<int>(CType::kF64)] = k->chain_rest[static_cast<int>(CType::kS64)] =
      k->chain_rest[static_cast<int>(CType::kU64)] = ChainRest<double>;
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
