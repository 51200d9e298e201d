// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/pack_bits.h"

#include <algorithm>

namespace pjrt {

void PackBits(const uint8_t* source, size_t count, int bits, uint8_t* destination) {
  const int per_byte = 8 / bits;
  const uint8_t mask = static_cast<uint8_t>((1 << bits) - 1);
  for (size_t i = 0; i < count; i += static_cast<size_t>(per_byte)) {
    unsigned packed = 0;
    const size_t n = std::min(count - i, static_cast<size_t>(per_byte));
    for (size_t j = 0; j < n; ++j) {
      packed |= static_cast<unsigned>(source[i + j] & mask) << (j * static_cast<size_t>(bits));
    }
    *destination++ = static_cast<uint8_t>(packed);
  }
}

void UnpackBits(const uint8_t* source, size_t count, int bits, bool is_signed,
                uint8_t* destination) {
  const int per_byte = 8 / bits;
  const int spare = 8 - bits;
  for (size_t i = 0; i < count; ++i) {
    const size_t place = i % static_cast<size_t>(per_byte);
    const unsigned byte = source[i / static_cast<size_t>(per_byte)];
    // The element in the topmost bits, from where a shift brings it down with or without its sign.
    const auto top = static_cast<uint8_t>((byte >> (place * static_cast<size_t>(bits))) << spare);
    destination[i] = is_signed ? static_cast<uint8_t>(static_cast<int8_t>(top) >> spare)
                               : static_cast<uint8_t>(top >> spare);
  }
}

}  // namespace pjrt
