// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/fill.h"

#include <complex>
#include <type_traits>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/type_dispatch.h"

namespace pjrt::tool {
namespace {

template <typename T>
struct IsComplexNumber : std::false_type {};
template <typename T>
struct IsComplexNumber<std::complex<T>> : std::true_type {};

double UniformDouble(const Fill& fill, uint64_t index) {
  const double u = static_cast<double>(SplitMix64((fill.seed << 32) + index) >> 40) * 0x1p-24;
  return fill.low + (fill.high - fill.low) * u;
}

template <PrimitiveType type>
typename NativeTypeOf<type>::type UniformElement(const Fill& fill, uint64_t i) {
  using T = typename NativeTypeOf<type>::type;
  if constexpr (type == PRED) {
    return (SplitMix64((fill.seed << 32) + i) & 1) != 0;
  } else if constexpr (IsInteger(type)) {
    const uint64_t h = SplitMix64((fill.seed << 32) + i);
    return static_cast<T>(fill.integer_low + h % (fill.integer_high - fill.integer_low));
  } else if constexpr (IsComplexNumber<T>::value) {
    using Part = typename T::value_type;
    return T(static_cast<Part>(UniformDouble(fill, 2 * i)),
             static_cast<Part>(UniformDouble(fill, 2 * i + 1)));
  } else {
    return static_cast<T>(UniformDouble(fill, i));
  }
}

template <PrimitiveType type>
typename NativeTypeOf<type>::type FromCount(uint64_t value) {
  using T = typename NativeTypeOf<type>::type;
  if constexpr (type == PRED) {
    return value != 0;
  } else if constexpr (IsInteger(type)) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(static_cast<double>(value));
  }
}

}  // namespace

uint64_t SplitMix64(uint64_t x) {
  uint64_t z = x + 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

absl::StatusOr<Literal> MakeFilled(const Shape& shape, const Fill& fill) {
  if (fill.kind == Fill::Kind::kZeros) return Literal::Make(shape);
  if (fill.kind == Fill::Kind::kUniform && IsInteger(shape.element_type()) &&
      fill.integer_low == fill.integer_high) {
    return InvalidArgument("PJRT-T003", "a uniform fill of integers from ", fill.integer_low,
                           " to ", fill.integer_high, " has no values; high is exclusive");
  }
  PJRT_ASSIGN_OR_RETURN(Literal literal, Literal::MakeUninitialized(shape));
  VisitArrayType(shape.element_type(), [&](auto constant) {
    constexpr PrimitiveType kType = decltype(constant)::value;
    using T = typename NativeTypeOf<kType>::type;
    uint64_t i = 0;
    for (T& element : literal.data<T>()) {
      const T value = fill.kind == Fill::Kind::kUniform ? UniformElement<kType>(fill, i)
                      : fill.kind == Fill::Kind::kIota  ? FromCount<kType>(i)
                                                        : FromCount<kType>(1);
      element = internal::CanonicalElement(kType, value);
      ++i;
    }
  });
  return literal;
}

Fill RandomFill(PrimitiveType type, uint64_t seed) {
  Fill fill;
  fill.kind = Fill::Kind::kUniform;
  fill.seed = seed;
  fill.low = -1;
  fill.high = 1;
  fill.integer_low = IsSignedInteger(type) ? ~uint64_t{0} : 0;
  fill.integer_high = fill.integer_low + 2;
  return fill;
}

}  // namespace pjrt::tool
