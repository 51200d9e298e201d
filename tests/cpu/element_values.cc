// SPDX-License-Identifier: Apache-2.0
#include "tests/cpu/element_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace pjrt::cpu {
namespace {

enum class Specials { kIeee, kNanOnly, kUnsignedZero, kFiniteOnly, kScale };
struct Format {
  int exponent, mantissa, bias;
  Specials specials;
};

Format FormatOf(PrimitiveType type) {
  switch (type) {
    case F4E2M1FN:
      return {2, 1, 1, Specials::kFiniteOnly};
    case F6E2M3FN:
      return {2, 3, 1, Specials::kFiniteOnly};
    case F6E3M2FN:
      return {3, 2, 3, Specials::kFiniteOnly};
    case F8E3M4:
      return {3, 4, 3, Specials::kIeee};
    case F8E4M3:
      return {4, 3, 7, Specials::kIeee};
    case F8E4M3FN:
      return {4, 3, 7, Specials::kNanOnly};
    case F8E4M3FNUZ:
      return {4, 3, 8, Specials::kUnsignedZero};
    case F8E4M3B11FNUZ:
      return {4, 3, 11, Specials::kUnsignedZero};
    case F8E5M2:
      return {5, 2, 15, Specials::kIeee};
    case F8E5M2FNUZ:
      return {5, 2, 16, Specials::kUnsignedZero};
    case F8E8M0FNU:
      return {8, 0, 127, Specials::kScale};
    case BF16:
      return {8, 7, 127, Specials::kIeee};
    default:
      return {5, 10, 15, Specials::kIeee};  // F16
  }
}

// The finite values from 0 on, or from the least on, by their encoding.
const std::vector<double>& FiniteValues(PrimitiveType type) {
  static std::map<PrimitiveType, std::vector<double>>* const kCache =
      new std::map<PrimitiveType, std::vector<double>>;
  std::vector<double>& values = (*kCache)[type];
  if (values.empty()) {
    const Format format = FormatOf(type);
    const uint32_t codes = 1u << (format.exponent + format.mantissa);
    for (uint32_t code = 0; code < codes && std::isfinite(DecodeFloat(type, code)); ++code)
      values.push_back(DecodeFloat(type, code));
  }
  return values;
}

uint32_t EncodeFloat(PrimitiveType type, double value) {
  const Format format = FormatOf(type);
  const int bits = format.exponent + format.mantissa;
  const uint32_t sign = std::signbit(value) && format.specials != Specials::kScale ? 1u << bits : 0;
  const uint32_t infinity = ((1u << format.exponent) - 1) << format.mantissa;
  uint32_t nan = 0;
  switch (format.specials) {
    case Specials::kIeee:
      nan = infinity | 1u << (format.mantissa - 1);
      break;
    case Specials::kNanOnly:
      nan = (1u << bits) - 1;
      break;
    case Specials::kUnsignedZero:
    case Specials::kFiniteOnly:  // there is none: -0
      nan = 1u << bits;
      break;
    case Specials::kScale:
      nan = 255;
      break;
  }
  if (std::isnan(value) || (format.specials == Specials::kScale && value < 0)) return nan;
  const std::vector<double>& values = FiniteValues(type);
  const double magnitude = std::fabs(value);
  const uint32_t last = static_cast<uint32_t>(values.size()) - 1;
  uint32_t code = static_cast<uint32_t>(std::upper_bound(values.begin(), values.end(), magnitude) -
                                        values.begin());
  if (code > 0) --code;
  // What would follow the largest value.
  const double next = code < last ? values[code + 1] : 2 * values[last] - values[last - 1];
  const double middle = values[code] + (next - values[code]) / 2;
  // A scale's one digit is odd: ties go up.
  const bool ties_up = code % 2 == 1 || format.specials == Specials::kScale;
  if (magnitude > middle || (magnitude == middle && ties_up)) ++code;
  if (code > last) {
    if (format.specials == Specials::kIeee) return sign | infinity;
    return format.specials == Specials::kFiniteOnly ? sign | last : nan;
  }
  return format.specials == Specials::kUnsignedZero && code == 0 ? 0 : sign | code;
}

int64_t Wrapped(PrimitiveType type, int64_t value) {
  const int unused = 64 - BitWidth(type);
  const uint64_t up = static_cast<uint64_t>(value) << unused;
  return IsSignedInteger(type) ? static_cast<int64_t>(up) >> unused
                               : static_cast<int64_t>(up >> unused);
}

template <typename T>
void Put(char* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}
template <typename T>
T Get(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

void Encode(PrimitiveType type, Number value, char* to) {
  const double real = value.real();
  if (type == PRED) {
    *to = real != 0;
  } else if (type == C64) {
    Put(to, std::complex<float>(value));
  } else if (type == C128) {
    Put(to, value);
  } else if (type == F32) {
    Put(to, static_cast<float>(real));
  } else if (type == F64) {
    Put(to, real);
  } else if (IsFloating(type)) {
    const uint32_t bits = EncodeFloat(type, real);
    std::memcpy(to, &bits, ByteWidth(type));
  } else {
    const int64_t bits = Wrapped(type, static_cast<int64_t>(real));
    std::memcpy(to, &bits, ByteWidth(type));
  }
}

Number Decode(PrimitiveType type, const char* from) {
  if (type == C64) return Number(Get<std::complex<float>>(from));
  if (type == C128) return Get<Number>(from);
  if (type == F32) return Get<float>(from);
  if (type == F64) return Get<double>(from);
  uint64_t bits = 0;
  std::memcpy(&bits, from, ByteWidth(type));
  if (IsFloating(type)) return DecodeFloat(type, static_cast<uint32_t>(bits));
  if (type == PRED) return static_cast<double>(bits);
  return static_cast<double>(Wrapped(type, static_cast<int64_t>(bits)));
}

Literal Uninitialized(PrimitiveType type, const std::vector<int64_t>& dims) {
  absl::StatusOr<Literal> literal = Literal::MakeUninitialized(MakeShape(type, dims));
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

}  // namespace

std::vector<PrimitiveType> ElementTypes(bool (*has)(PrimitiveType)) {
  std::vector<PrimitiveType> types;
  for (int i = 0; i < kPrimitiveTypeLimit; ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    if (IsArrayType(type) && type != S1 && type != U1 && has(type)) types.push_back(type);
  }
  return types;
}

std::vector<PrimitiveType> AllElementTypes() {
  return ElementTypes([](PrimitiveType) { return true; });
}

int ValueBits(PrimitiveType type) { return type == PRED ? 1 : BitWidth(type); }

double DecodeFloat(PrimitiveType type, uint32_t bits) {
  const Format format = FormatOf(type);
  if (format.specials == Specials::kScale)
    return bits == 255 ? kNan : std::ldexp(1.0, static_cast<int>(bits) - 127);
  const uint32_t mantissa = bits & ((1u << format.mantissa) - 1);
  const uint32_t top = (1u << format.exponent) - 1;
  const uint32_t exponent = (bits >> format.mantissa) & top;
  const bool negative = (bits >> (format.mantissa + format.exponent) & 1) != 0;
  if (format.specials == Specials::kIeee && exponent == top)
    return mantissa != 0 ? kNan : negative ? -kInf : kInf;
  if (format.specials == Specials::kNanOnly && exponent == top &&
      mantissa == (1u << format.mantissa) - 1)
    return kNan;
  if (format.specials == Specials::kUnsignedZero && negative && exponent == 0 && mantissa == 0)
    return kNan;
  const double fraction = std::ldexp(static_cast<double>(mantissa), -format.mantissa);
  const double value = exponent == 0
                           ? std::ldexp(fraction, 1 - format.bias)
                           : std::ldexp(1 + fraction, static_cast<int>(exponent) - format.bias);
  return negative ? -value : value;
}

Number Nearest(PrimitiveType type, Number value) {
  char element[16] = {};
  Encode(type, value, element);
  return Decode(type, element);
}

Literal ArrayOf(PrimitiveType type, const std::vector<int64_t>& dims,
                const std::vector<Number>& values) {
  Literal literal = Uninitialized(type, dims);
  EXPECT_EQ(literal.size_bytes(), static_cast<int64_t>(values.size()) * ByteWidth(type));
  char* to = static_cast<char*>(literal.untyped_data());
  for (size_t i = 0; i < values.size(); ++i)
    Encode(type, values[i], to + static_cast<int64_t>(i) * ByteWidth(type));
  return literal;
}

std::vector<Number> ReadNumbers(const LiteralBase& literal) {
  const PrimitiveType type = literal.shape().element_type();
  const char* from = static_cast<const char*>(literal.untyped_data());
  std::vector<Number> values(literal.size_bytes() / ByteWidth(type));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = Decode(type, from + static_cast<int64_t>(i) * ByteWidth(type));
  return values;
}

bool SameNumber(Number a, Number b) {
  const auto same = [](double x, double y) {
    return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
  };
  return same(a.real(), b.real()) && same(a.imag(), b.imag());
}

std::string NumberText(Number value) {
  return value.imag() == 0 ? absl::StrCat(value.real())
                           : absl::StrCat("(", value.real(), ", ", value.imag(), ")");
}

Literal RandomElements(PrimitiveType type, const std::vector<int64_t>& dims, uint32_t seed) {
  Literal literal = Uninitialized(type, dims);
  std::mt19937 random(seed);
  uint8_t* to = static_cast<uint8_t*>(literal.untyped_data());
  for (int64_t i = 0; i < literal.size_bytes(); ++i) {
    to[i] = static_cast<uint8_t>(random() >> 13);
    if (ValueBits(type) >= 8) continue;
    to[i] = static_cast<uint8_t>(to[i] & ((1 << ValueBits(type)) - 1));
    if (IsSignedInteger(type)) to[i] = static_cast<uint8_t>(Wrapped(type, to[i]));
  }
  return literal;
}

std::string ElementBytes(const LiteralBase& literal, int64_t i) {
  const int size = ByteWidth(literal.shape().element_type());
  return std::string(static_cast<const char*>(literal.untyped_data()) + i * size, size);
}

std::string OfType(absl::string_view text, PrimitiveType type) {
  return absl::StrReplaceAll(text, {{"$S", absl::StrCat("tensor<", StableHloTypeName(type), ">")},
                                    {"$T", StableHloTypeName(type)}});
}

}  // namespace pjrt::cpu
