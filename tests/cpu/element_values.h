// SPDX-License-Identifier: Apache-2.0
//
// Arrays of any element type for tests that go over all types: as numbers, and as raw elements.
// Formats of narrow floats are decoded by their definition and encoded by search, so that nothing
// of the library's own conversions decides what a test expects.
#ifndef PJRT_TESTS_CPU_ELEMENT_VALUES_H_
#define PJRT_TESTS_CPU_ELEMENT_VALUES_H_

#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/base/primitive_type.h"

namespace pjrt::cpu {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An element of any type but 64-bit integers beyond 2^53.
using Number = std::complex<double>;

// Every element type of StableHLO; those of one kind.
std::vector<PrimitiveType> AllElementTypes();
std::vector<PrimitiveType> ElementTypes(bool (*has)(PrimitiveType));

// The number of bits that say the value: 1 for PRED.
int ValueBits(PrimitiveType type);
// The value of a float type of at most 16 bits.
double DecodeFloat(PrimitiveType type, uint32_t bits);
// The nearest element of the type, ties to even; integers wrap around.
Number Nearest(PrimitiveType type, Number value);

Literal ArrayOf(PrimitiveType type, const std::vector<int64_t>& dims,
                const std::vector<Number>& values);
std::vector<Number> ReadNumbers(const LiteralBase& literal);
// The same number: NaN for NaN, -0 not 0.
bool SameNumber(Number a, Number b);
std::string NumberText(Number value);

// Elements of any bits that the type has, the same for the same seed.
Literal RandomElements(PrimitiveType type, const std::vector<int64_t>& dims, uint32_t seed);
// The bytes of element i.
std::string ElementBytes(const LiteralBase& literal, int64_t i);

// Names the cases of a test that has the type as its parameter.
inline std::string TypeCase(const ::testing::TestParamInfo<PrimitiveType>& type) {
  return std::string(PrimitiveTypeName(type.param));
}

// `text` with $T for the element type and $S for tensor<$T>.
std::string OfType(absl::string_view text, PrimitiveType type);

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_ELEMENT_VALUES_H_
