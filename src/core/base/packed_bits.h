// SPDX-License-Identifier: Apache-2.0
//
// How wide an element is in packed memory.
#ifndef PJRT_CORE_BASE_PACKED_BITS_H_
#define PJRT_CORE_BASE_PACKED_BITS_H_

#include "pjrt/base/primitive_type.h"

namespace pjrt {

// Bits that an element takes where types narrower than a byte are packed: 1, 2 or 4 for types of
// that width, whole bytes for all others (8 for the 6-bit floats); 0 for what is not an array type.
constexpr int PackedBits(PrimitiveType type) {
  const int bits = BitWidth(type);
  return bits == 1 || bits == 2 || bits == 4 ? bits : 8 * ByteWidth(type);
}

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_PACKED_BITS_H_
