// SPDX-License-Identifier: Apache-2.0
//
// PrimitiveType: the element type of an array, and what a program may ask of it. One constexpr
// table holds the facts.
#ifndef PJRT_BASE_PRIMITIVE_TYPE_H_
#define PJRT_BASE_PRIMITIVE_TYPE_H_

#include <complex>
#include <cstdint>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/base/small_float.h"

namespace pjrt {

// Element types of StableHLO and XLA, and the three kinds of shape that are no array. Both `F32`
// and `PrimitiveType::F32` name an enumerator. The numbers are those of XLA's serialized programs.
enum PrimitiveType : uint8_t {
  INVALID = 0,
  PRIMITIVE_TYPE_INVALID = 0,  // XLA's spelling of INVALID

  PRED = 1,  // one byte, 0 or 1

  // Signed integers, two's complement. S1, S2 and S4 are stored in one byte each, sign-extended.
  S1 = 30,
  S2 = 26,
  S4 = 21,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,

  // Unsigned integers. U1, U2 and U4 are stored in one byte each, zero-extended.
  U1 = 31,
  U2 = 27,
  U4 = 22,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,

  // Floats. FN: no infinity. UZ: no negative zero. See small_float.h for each format. F4 and F6 are
  // stored in the low bits of one byte each, the other bits 0.
  F4E2M1FN = 32,
  F6E2M3FN = 36,
  F6E3M2FN = 35,
  F8E3M4 = 29,
  F8E4M3 = 28,
  F8E4M3FN = 20,
  F8E4M3FNUZ = 25,
  F8E4M3B11FNUZ = 23,
  F8E5M2 = 19,
  F8E5M2FNUZ = 24,
  F8E8M0FNU = 33,
  BF16 = 16,
  F16 = 10,
  F32 = 11,
  F64 = 12,

  // Complex numbers of two F32 or two F64: real part, imaginary part.
  C64 = 15,
  C128 = 18,

  // Not arrays.
  TUPLE = 13,
  OPAQUE_TYPE = 14,
  TOKEN = 17,
};

// One more than the largest enumerator; for tables indexed by type. Some numbers below it name no
// type.
inline constexpr int kPrimitiveTypeLimit = 37;

// What the table says of a type.
enum class PrimitiveKind : uint8_t { kNone, kPred, kSigned, kUnsigned, kFloat, kComplex, kOther };

struct PrimitiveTypeInfo {
  PrimitiveKind kind = PrimitiveKind::kNone;
  // Of the value: 4 for S4, 8 for PRED, 128 for C128; 0 when not an array type.
  uint8_t bit_width = 0;
  const char* name = "";  // "f32", "pred", "s4", "token"
  // "f32", "i1", "i4", "!stablehlo.token"; "" when StableHLO has no such type.
  const char* stablehlo_name = "";
};

namespace internal {

struct PrimitiveTypeTable {
  PrimitiveTypeInfo rows[kPrimitiveTypeLimit] = {};
};

constexpr PrimitiveTypeTable MakePrimitiveTypeTable() {
  PrimitiveTypeTable table;
  using K = PrimitiveKind;
  table.rows[INVALID] = {K::kNone, 0, "invalid", ""};
  table.rows[PRED] = {K::kPred, 8, "pred", "i1"};
  table.rows[S1] = {K::kSigned, 1, "s1", ""};
  table.rows[S2] = {K::kSigned, 2, "s2", "i2"};
  table.rows[S4] = {K::kSigned, 4, "s4", "i4"};
  table.rows[S8] = {K::kSigned, 8, "s8", "i8"};
  table.rows[S16] = {K::kSigned, 16, "s16", "i16"};
  table.rows[S32] = {K::kSigned, 32, "s32", "i32"};
  table.rows[S64] = {K::kSigned, 64, "s64", "i64"};
  table.rows[U1] = {K::kUnsigned, 1, "u1", "ui1"};
  table.rows[U2] = {K::kUnsigned, 2, "u2", "ui2"};
  table.rows[U4] = {K::kUnsigned, 4, "u4", "ui4"};
  table.rows[U8] = {K::kUnsigned, 8, "u8", "ui8"};
  table.rows[U16] = {K::kUnsigned, 16, "u16", "ui16"};
  table.rows[U32] = {K::kUnsigned, 32, "u32", "ui32"};
  table.rows[U64] = {K::kUnsigned, 64, "u64", "ui64"};
  table.rows[F4E2M1FN] = {K::kFloat, 4, "f4e2m1fn", "f4E2M1FN"};
  table.rows[F6E2M3FN] = {K::kFloat, 6, "f6e2m3fn", "f6E2M3FN"};
  table.rows[F6E3M2FN] = {K::kFloat, 6, "f6e3m2fn", "f6E3M2FN"};
  table.rows[F8E3M4] = {K::kFloat, 8, "f8e3m4", "f8E3M4"};
  table.rows[F8E4M3] = {K::kFloat, 8, "f8e4m3", "f8E4M3"};
  table.rows[F8E4M3FN] = {K::kFloat, 8, "f8e4m3fn", "f8E4M3FN"};
  table.rows[F8E4M3FNUZ] = {K::kFloat, 8, "f8e4m3fnuz", "f8E4M3FNUZ"};
  table.rows[F8E4M3B11FNUZ] = {K::kFloat, 8, "f8e4m3b11fnuz", "f8E4M3B11FNUZ"};
  table.rows[F8E5M2] = {K::kFloat, 8, "f8e5m2", "f8E5M2"};
  table.rows[F8E5M2FNUZ] = {K::kFloat, 8, "f8e5m2fnuz", "f8E5M2FNUZ"};
  table.rows[F8E8M0FNU] = {K::kFloat, 8, "f8e8m0fnu", "f8E8M0FNU"};
  table.rows[BF16] = {K::kFloat, 16, "bf16", "bf16"};
  table.rows[F16] = {K::kFloat, 16, "f16", "f16"};
  table.rows[F32] = {K::kFloat, 32, "f32", "f32"};
  table.rows[F64] = {K::kFloat, 64, "f64", "f64"};
  table.rows[C64] = {K::kComplex, 64, "c64", "complex<f32>"};
  table.rows[C128] = {K::kComplex, 128, "c128", "complex<f64>"};
  table.rows[TUPLE] = {K::kOther, 0, "tuple", ""};
  table.rows[OPAQUE_TYPE] = {K::kOther, 0, "opaque", ""};
  table.rows[TOKEN] = {K::kOther, 0, "token", "!stablehlo.token"};
  return table;
}

inline constexpr PrimitiveTypeTable kPrimitiveTypeTable = MakePrimitiveTypeTable();

}  // namespace internal

// The table's row; that of INVALID for a number that names no type.
constexpr const PrimitiveTypeInfo& GetPrimitiveTypeInfo(PrimitiveType type) {
  return internal::kPrimitiveTypeTable.rows[type < kPrimitiveTypeLimit ? type : 0];
}

// True for the types that an array's elements can have: all but INVALID, TUPLE, OPAQUE_TYPE and
// TOKEN.
constexpr bool IsArrayType(PrimitiveType type) { return GetPrimitiveTypeInfo(type).bit_width != 0; }

// Bits of one value: 4 for S4 and F4E2M1FN, 8 for PRED, 64 for C64; 0 for what is not an array
// type.
constexpr int BitWidth(PrimitiveType type) { return GetPrimitiveTypeInfo(type).bit_width; }

// Bytes that one element takes in a literal or in unpacked memory: 1 for every type of 8 bits or
// fewer; 0 for what is not an array type.
constexpr int ByteWidth(PrimitiveType type) { return (BitWidth(type) + 7) / 8; }

constexpr bool IsFloating(PrimitiveType type) {
  return GetPrimitiveTypeInfo(type).kind == PrimitiveKind::kFloat;
}
constexpr bool IsSignedInteger(PrimitiveType type) {
  return GetPrimitiveTypeInfo(type).kind == PrimitiveKind::kSigned;
}
constexpr bool IsUnsignedInteger(PrimitiveType type) {
  return GetPrimitiveTypeInfo(type).kind == PrimitiveKind::kUnsigned;
}
// PRED is not an integer.
constexpr bool IsInteger(PrimitiveType type) {
  return IsSignedInteger(type) || IsUnsignedInteger(type);
}
constexpr bool IsComplex(PrimitiveType type) {
  return GetPrimitiveTypeInfo(type).kind == PrimitiveKind::kComplex;
}
// True for types narrower than a byte (S1 S2 S4 U1 U2 U4 F4E2M1FN F6E2M3FN F6E3M2FN), which device
// memory may pack.
constexpr bool IsSubByte(PrimitiveType type) { return IsArrayType(type) && BitWidth(type) < 8; }

// F32 for C64, F64 for C128, and every other type for itself.
constexpr PrimitiveType ComplexComponent(PrimitiveType type) {
  return type == C64 ? F32 : type == C128 ? F64 : type;
}

// "f32", "s32", "pred", "c64", "f8e4m3fn", "token", "tuple", "opaque", "invalid": the spelling of
// shapes' text.
inline absl::string_view PrimitiveTypeName(PrimitiveType type) {
  return GetPrimitiveTypeInfo(type).name;
}

// StableHLO's spelling: "f32", "i32", "ui8", "i1", "complex<f32>", "f8E4M3FN", "!stablehlo.token".
// Empty when StableHLO has no such type (S1, TUPLE, OPAQUE_TYPE, INVALID).
inline absl::string_view StableHloTypeName(PrimitiveType type) {
  return GetPrimitiveTypeInfo(type).stablehlo_name;
}

// The type with that name, case-sensitive. INVALID_ARGUMENT [PJRT-B001] for any other text,
// "invalid" included.
absl::StatusOr<PrimitiveType> ParsePrimitiveType(absl::string_view name);

// The same for StableHLO's spelling. INVALID_ARGUMENT [PJRT-B001] for any other text.
absl::StatusOr<PrimitiveType> ParseStableHloType(absl::string_view name);

// The C++ type in which one element of `type` is stored: float for F32, int8_t for S4, bool for
// PRED, std::complex<float> for C64, half for F16. Not defined for what is not an array type.
template <PrimitiveType type>
struct NativeTypeOf;

// The PrimitiveType that a C++ type stands for: F32 for float, S8 for int8_t, PRED for bool.
// INVALID for a C++ type that stands for none.
template <typename T>
constexpr PrimitiveType PrimitiveTypeOf();

namespace internal {
template <typename T>
struct PrimitiveTypeOfImpl {
  static constexpr PrimitiveType value = INVALID;
};
}  // namespace internal

#define PJRT_NATIVE_TYPE_(primitive, ...) \
  template <>                             \
  struct NativeTypeOf<primitive> {        \
    using type = __VA_ARGS__;             \
  };
#define PJRT_NATIVE_TYPE_BOTH_WAYS_(primitive, ...)   \
  PJRT_NATIVE_TYPE_(primitive, __VA_ARGS__)           \
  namespace internal {                                \
  template <>                                         \
  struct PrimitiveTypeOfImpl<__VA_ARGS__> {           \
    static constexpr PrimitiveType value = primitive; \
  };                                                  \
  }

PJRT_NATIVE_TYPE_(S1, int8_t)
PJRT_NATIVE_TYPE_(S2, int8_t)
PJRT_NATIVE_TYPE_(S4, int8_t)
PJRT_NATIVE_TYPE_(U1, uint8_t)
PJRT_NATIVE_TYPE_(U2, uint8_t)
PJRT_NATIVE_TYPE_(U4, uint8_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(PRED, bool)
PJRT_NATIVE_TYPE_BOTH_WAYS_(S8, int8_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(S16, int16_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(S32, int32_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(S64, int64_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(U8, uint8_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(U16, uint16_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(U32, uint32_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(U64, uint64_t)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F4E2M1FN, float4_e2m1fn)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F6E2M3FN, float6_e2m3fn)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F6E3M2FN, float6_e3m2fn)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E3M4, float8_e3m4)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E4M3, float8_e4m3)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E4M3FN, float8_e4m3fn)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E4M3FNUZ, float8_e4m3fnuz)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E4M3B11FNUZ, float8_e4m3b11fnuz)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E5M2, float8_e5m2)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E5M2FNUZ, float8_e5m2fnuz)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F8E8M0FNU, float8_e8m0fnu)
PJRT_NATIVE_TYPE_BOTH_WAYS_(BF16, bfloat16)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F16, half)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F32, float)
PJRT_NATIVE_TYPE_BOTH_WAYS_(F64, double)
PJRT_NATIVE_TYPE_BOTH_WAYS_(C64, std::complex<float>)
PJRT_NATIVE_TYPE_BOTH_WAYS_(C128, std::complex<double>)

#undef PJRT_NATIVE_TYPE_BOTH_WAYS_
#undef PJRT_NATIVE_TYPE_

namespace internal {

// `long` and `long long` are one width on some platforms and only one of them is int64_t: the other
// counts too.
template <typename T>
constexpr PrimitiveType PrimitiveTypeOfAny() {
  if constexpr (PrimitiveTypeOfImpl<T>::value != INVALID) {
    return PrimitiveTypeOfImpl<T>::value;
  } else if constexpr (std::is_same_v<T, long> ||
                       std::is_same_v<T, long long>) {  // NOLINT(runtime/int)
    return sizeof(T) == 8 ? S64 : S32;
  } else if constexpr (std::is_same_v<T, unsigned long> ||       // NOLINT(runtime/int)
                       std::is_same_v<T, unsigned long long>) {  // NOLINT(runtime/int)
    return sizeof(T) == 8 ? U64 : U32;
  } else {
    return INVALID;
  }
}

}  // namespace internal

template <typename T>
constexpr PrimitiveType PrimitiveTypeOf() {
  return internal::PrimitiveTypeOfAny<std::remove_cv_t<T>>();
}

// True when elements of `type` are stored as C++ type T: PrimitiveTypeOf<T>() == type, or T is
// int8_t (uint8_t) and `type` a signed (unsigned) integer narrower than a byte.
template <typename T>
constexpr bool IsStorageTypeOf(PrimitiveType type) {
  constexpr PrimitiveType own = PrimitiveTypeOf<T>();
  return (own != INVALID && own == type) ||
         (own == S8 && IsSignedInteger(type) && IsSubByte(type)) ||
         (own == U8 && IsUnsignedInteger(type) && IsSubByte(type));
}

}  // namespace pjrt

#endif  // PJRT_BASE_PRIMITIVE_TYPE_H_
