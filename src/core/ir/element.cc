// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/element.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "absl/base/casts.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/base/small_float.h"

namespace pjrt::ir {
namespace {

// Calls `fn` with a value of the C++ type that a float type is stored as. False for a type that no
// constant is kept of.
template <typename Fn>
bool WithFloatType(PrimitiveType type, Fn&& fn) {
  switch (type) {
#define PJRT_CASE_(primitive)                     \
  case primitive:                                 \
    fn(typename NativeTypeOf<primitive>::type{}); \
    return true;
    PJRT_CASE_(F4E2M1FN)
    PJRT_CASE_(F6E2M3FN)
    PJRT_CASE_(F6E3M2FN)
    PJRT_CASE_(F8E3M4)
    PJRT_CASE_(F8E4M3)
    PJRT_CASE_(F8E4M3FN)
    PJRT_CASE_(F8E4M3FNUZ)
    PJRT_CASE_(F8E4M3B11FNUZ)
    PJRT_CASE_(F8E5M2)
    PJRT_CASE_(F8E5M2FNUZ)
    PJRT_CASE_(F8E8M0FNU)
    PJRT_CASE_(BF16)
    PJRT_CASE_(F16)
    PJRT_CASE_(F32)
    PJRT_CASE_(F64)
#undef PJRT_CASE_
    default:
      return false;
  }
}

// The integer type whose values the elements of `type` are: the storage type of a quantized one.
Type IntegerBehind(Type type) {
  return type.Is(TypeKind::kQuantized) ? type.quantized().storage_type : type;
}

int IntegerWidth(Type type) { return type.Is(TypeKind::kIndex) ? 64 : type.bit_width(); }

}  // namespace

uint64_t LoadLittleEndian(const char* bytes, size_t count) {
  uint64_t bits = 0;
  for (size_t i = 0; i < count; ++i)
    bits |= uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return bits;
}

void StoreLittleEndian(uint64_t bits, size_t count, char* out) {
  for (size_t i = 0; i < count; ++i)
    out[i] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * i)));
}

size_t ElementByteWidth(Type element) {
  if (!element) return 0;
  switch (element.kind()) {
    case TypeKind::kIndex:
      return 8;
    case TypeKind::kInteger:
      return static_cast<size_t>(element.bit_width() + 7) / 8;
    case TypeKind::kFloat:
      return static_cast<size_t>(ByteWidth(element.primitive_type()));
    case TypeKind::kComplex:
      return 2 * ElementByteWidth(element.element_type());
    case TypeKind::kQuantized:
      return ElementByteWidth(element.quantized().storage_type);
    default:
      return 0;
  }
}

bool IsCodedFloat(Type type) {
  return type.Is(TypeKind::kFloat) && type.primitive_type() != INVALID;
}

void EncodeFloat(Type type, double value, char* out) {
  WithFloatType(type.primitive_type(), [&](auto as) {
    using T = decltype(as);
    if constexpr (std::is_same_v<T, double>) {
      StoreLittleEndian(absl::bit_cast<uint64_t>(value), 8, out);
    } else if constexpr (std::is_same_v<T, float>) {
      StoreLittleEndian(absl::bit_cast<uint32_t>(static_cast<float>(value)), 4, out);
    } else {
      StoreLittleEndian(T(value).bits(), sizeof(T), out);
    }
  });
}

double DecodeFloat(Type type, const char* bytes) {
  double value = 0;
  WithFloatType(type.primitive_type(), [&](auto as) {
    using T = decltype(as);
    const uint64_t bits = LoadLittleEndian(bytes, sizeof(T));
    if constexpr (std::is_same_v<T, double>) {
      value = absl::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, float>) {
      value = static_cast<double>(absl::bit_cast<float>(static_cast<uint32_t>(bits)));
    } else {
      value = T::FromBits(static_cast<typename T::Storage>(bits)).ToDouble();
    }
  });
  return value;
}

int64_t WrapInt(Type type, int64_t value) {
  const Type integer = IntegerBehind(type);
  const int width = IntegerWidth(integer);
  if (width < 1 || width >= 64) return value;
  const bool zero_extend = integer.signedness() == Signedness::kUnsigned || width == 1;
  const uint64_t high = static_cast<uint64_t>(value) << (64 - width);
  return zero_extend ? static_cast<int64_t>(high >> (64 - width))
                     : static_cast<int64_t>(high) >> (64 - width);
}

void DefaultStorageRange(Type storage_type, int64_t* lowest, int64_t* highest) {
  const int width = std::min(std::max(storage_type.bit_width(), 1), 64);
  const bool is_unsigned = storage_type.signedness() == Signedness::kUnsigned;
  const uint64_t all = ~uint64_t{0} >> (64 - width);
  if (is_unsigned) {
    *lowest = 0;
    *highest = static_cast<int64_t>(
        std::min(all, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
  } else {
    *highest = static_cast<int64_t>(all >> 1);
    *lowest = -*highest - 1;
  }
}

void EncodeInt(Type type, int64_t value, char* out) {
  StoreLittleEndian(static_cast<uint64_t>(WrapInt(type, value)), ElementByteWidth(type), out);
}

int64_t DecodeInt(Type type, const char* bytes) {
  return WrapInt(type, static_cast<int64_t>(LoadLittleEndian(bytes, ElementByteWidth(type))));
}

}  // namespace pjrt::ir
