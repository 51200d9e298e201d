// SPDX-License-Identifier: Apache-2.0
//
// Elements of any type by way of a wide one: what converts, prints and compares literals needs to
// know four types, not all of them.
#ifndef PJRT_CORE_BASE_WIDE_ELEMENTS_H_
#define PJRT_CORE_BASE_WIDE_ELEMENTS_H_

#include <complex>
#include <cstdint>

#include "pjrt/base/primitive_type.h"

namespace pjrt {

// The narrowest of these that holds every value of a type: int64_t for signed integers, uint64_t
// for unsigned ones and PRED (0 or 1), double for floats, complex<double> for complex numbers.
enum class WideType : uint8_t { kInt64, kUint64, kDouble, kComplex };

// `type` must be an array type.
constexpr WideType WideTypeOf(PrimitiveType type) {
  return IsSignedInteger(type) ? WideType::kInt64
         : IsFloating(type)    ? WideType::kDouble
         : IsComplex(type)     ? WideType::kComplex
                               : WideType::kUint64;
}

// Elements of one wide type.
struct WideBlock {
  static constexpr int64_t kSize = 256;
  WideType type = WideType::kInt64;
  // The member that `type` names holds the values.
  union {
    int64_t int64s[kSize];
    uint64_t uint64s[kSize];
    double doubles[kSize];
    double complexes[kSize][2];  // real part, imaginary part
  };

  std::complex<double> Complex(int64_t i) const { return {complexes[i][0], complexes[i][1]}; }
};

// Reads `count` (at most WideBlock::kSize) elements of `type`. Exact.
void LoadWide(PrimitiveType type, const void* from, int64_t count, WideBlock& to);

// Writes `count` elements, converted to `type` as StableHLO's `convert` does (see
// LiteralBase::Convert).
void StoreWide(const WideBlock& from, int64_t count, PrimitiveType type, void* to);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_WIDE_ELEMENTS_H_
