// SPDX-License-Identifier: Apache-2.0
//
// Arrays filled by rule: the same values on every machine, for programs that need inputs.
#ifndef PJRT_TOOLS_PJRT_FILL_H_
#define PJRT_TOOLS_PJRT_FILL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "pjrt/base/literal.h"
#include "pjrt/base/shape.h"

namespace pjrt::tool {

// Element i, in row-major order, of a uniform fill is drawn from h = SplitMix64(seed * 2^32 + i):
//   floats     low + (high - low) * u in double, u = (h >> 40) * 2^-24, rounded to the type;
//   complex    the same for each part, the real one from index 2i, the imaginary one from 2i + 1;
//   integers   integer_low + h mod (integer_high - integer_low), all modulo 2^64;
//   pred       h & 1.
// Iota is i, wrapped to the type (pred: i != 0).
struct Fill {
  enum class Kind { kUniform, kIota, kZeros, kOnes };
  Kind kind = Kind::kZeros;
  uint64_t seed = 0;
  double low = 0, high = 1;
  uint64_t integer_low = 0, integer_high = 2;  // of a signed type: the bits of an int64_t
};

uint64_t SplitMix64(uint64_t x);

// A row-major literal of `shape`. INVALID_ARGUMENT [PJRT-T003] for a uniform fill of integers whose
// bounds are equal; and what Literal::Make refuses.
absl::StatusOr<Literal> MakeFilled(const Shape& shape, const Fill& fill);

// The fill of `random:SEED`: floats from -1 to 1, signed integers -1 or 0, unsigned ones 0 or 1.
Fill RandomFill(PrimitiveType type, uint64_t seed);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_FILL_H_
