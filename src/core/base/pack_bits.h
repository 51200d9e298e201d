// SPDX-License-Identifier: Apache-2.0
//
// Packing of elements narrower than a byte, as devices keep them.
#ifndef PJRT_CORE_BASE_PACK_BITS_H_
#define PJRT_CORE_BASE_PACK_BITS_H_

#include <cstddef>
#include <cstdint>

#include "pjrt/base/primitive_type.h"

namespace pjrt {

// Bits that an element takes in packed memory: 1, 2 or 4 for types of that width, whole bytes for
// all others (8 for the 6-bit floats); 0 for what is not an array type.
constexpr int PackedBits(PrimitiveType type) {
  const int bits = BitWidth(type);
  return bits == 1 || bits == 2 || bits == 4 ? bits : 8 * ByteWidth(type);
}

// Packs the low `bits` (1, 2 or 4) of `count` bytes, the first into the lowest bits. Bits left over
// in the last byte are 0.
void PackBits(const uint8_t* source, size_t count, int bits, uint8_t* destination);
// Undoes it: into the low bits, sign-extended if `is_signed`, else zero-extended.
void UnpackBits(const uint8_t* source, size_t count, int bits, bool is_signed,
                uint8_t* destination);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_PACK_BITS_H_
