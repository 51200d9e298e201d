// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/wide_elements.h"

#include <type_traits>

#include "pjrt/base/literal.h"
#include "src/core/base/type_dispatch.h"

namespace pjrt {
namespace {

// Toward zero; out of range to the nearest end of the range; NaN to 0.
template <PrimitiveType type>
typename NativeTypeOf<type>::type IntegerFromDouble(double value) {
  using T = typename NativeTypeOf<type>::type;
  constexpr int kWidth = BitWidth(type);
  constexpr bool kSigned = IsSignedInteger(type);
  // The first number above the range: 2^(width - 1) or 2^width.
  constexpr double kAbove = static_cast<double>(uint64_t{1} << (kWidth - 1)) * (kSigned ? 1 : 2);
  constexpr uint64_t kAllOnes = ~uint64_t{0} >> (64 - kWidth);
  constexpr T kMax = static_cast<T>(kSigned ? kAllOnes >> 1 : kAllOnes);
  constexpr T kMin = static_cast<T>(kSigned ? ~(kAllOnes >> 1) : 0);
  if (value != value) return T{0};
  if (value >= kAbove) return kMax;
  if (value <= (kSigned ? -kAbove : 0.0)) return kMin;
  return static_cast<T>(value);
}

template <PrimitiveType type, typename From>
auto ConvertReal(From value) {
  using T = typename NativeTypeOf<type>::type;
  if constexpr (type == PRED) {
    return value != From{0};
  } else if constexpr (IsInteger(type) && std::is_same_v<From, double>) {
    return IntegerFromDouble<type>(value);
  } else if constexpr (IsInteger(type)) {
    return internal::CanonicalElement(type, static_cast<T>(value));
  } else {
    return static_cast<T>(value);
  }
}

// `value(i)` gives the i-th real number.
template <PrimitiveType type, typename Value>
void StoreReal(int64_t count, typename NativeTypeOf<type>::type* to, const Value& value) {
  using T = typename NativeTypeOf<type>::type;
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (IsComplex(type)) {
      to[i] = T(static_cast<typename T::value_type>(value(i)));
    } else {
      to[i] = ConvertReal<type>(value(i));
    }
  }
}

template <PrimitiveType type>
void StoreComplex(const WideBlock& from, int64_t count, typename NativeTypeOf<type>::type* to) {
  using T = typename NativeTypeOf<type>::type;
  for (int64_t i = 0; i < count; ++i) {
    const std::complex<double> value = from.Complex(i);
    if constexpr (IsComplex(type)) {
      using Part = typename T::value_type;
      to[i] = T(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else if constexpr (type == PRED) {
      to[i] = value.real() != 0 || value.imag() != 0;
    } else {
      to[i] = ConvertReal<type>(value.real());
    }
  }
}

}  // namespace

void LoadWide(PrimitiveType type, const void* from, int64_t count, WideBlock& to) {
  to.type = WideTypeOf(type);
  VisitArrayType(type, [&](auto t) {
    using T = typename NativeTypeOf<t()>::type;
    // A byte of PRED may come from outside: any but 0 is true.
    using Stored = std::conditional_t<t() == PRED, uint8_t, T>;
    const Stored* in = static_cast<const Stored*>(from);
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (t() == PRED) {
        to.uint64s[i] = in[i] != 0;
      } else if constexpr (IsSignedInteger(t())) {
        to.int64s[i] = in[i];
      } else if constexpr (IsUnsignedInteger(t())) {
        to.uint64s[i] = in[i];
      } else if constexpr (IsComplex(t())) {
        to.complexes[i][0] = in[i].real();
        to.complexes[i][1] = in[i].imag();
      } else {
        to.doubles[i] = static_cast<double>(in[i]);
      }
    }
  });
}

void StoreWide(const WideBlock& from, int64_t count, PrimitiveType type, void* to) {
  VisitArrayType(type, [&](auto t) {
    auto* out = static_cast<typename NativeTypeOf<t()>::type*>(to);
    switch (from.type) {
      case WideType::kInt64:
        return StoreReal<t()>(count, out, [&](int64_t i) { return from.int64s[i]; });
      case WideType::kUint64:
        return StoreReal<t()>(count, out, [&](int64_t i) { return from.uint64s[i]; });
      case WideType::kDouble:
        return StoreReal<t()>(count, out, [&](int64_t i) { return from.doubles[i]; });
      case WideType::kComplex:
        return StoreComplex<t()>(from, count, out);
    }
  });
}

}  // namespace pjrt
