// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/fingerprint.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace pjrt {
namespace {

// One round: each bit of the word reaches the upper half, and from there the lower one.
uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

// Little-endian on every machine.
uint64_t Load(const char* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i)
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

std::string Fingerprint(std::initializer_list<absl::string_view> texts) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const absl::string_view text : texts) {
    size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) hash = Mix(hash, Load(text.data() + i, 8));
    hash = Mix(hash, Load(text.data() + i, text.size() - i));
    hash = Mix(hash, text.size());
  }
  return absl::StrFormat("%016x", Mix(hash, 0));
}

}  // namespace pjrt
