// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/pack_step.h"

#include "absl/strings/str_cat.h"

namespace pjrt::cpu {

int PackedBits(PrimitiveType type) {
  const int bits = BitWidth(type);
  return bits == 1 || bits == 2 || bits == 4 ? bits : 8;
}

// The first element lies in the lowest bits of a byte.
absl::Status UnpackStep::Run(const RunContext& context) const {
  const uint8_t* from = reinterpret_cast<const uint8_t*>(context.buffer(from_));
  uint8_t* to = reinterpret_cast<uint8_t*>(context.buffer(to_));
  const int per_byte = 8 / bits_;
  const uint8_t mask = static_cast<uint8_t>((1 << bits_) - 1);
  const uint8_t sign = static_cast<uint8_t>(sign_extend_ ? 1 << (bits_ - 1) : 0);
  for (int64_t i = 0; i < count_; ++i) {
    const uint8_t value = static_cast<uint8_t>(from[i / per_byte] >> (i % per_byte * bits_)) & mask;
    to[i] = static_cast<uint8_t>((value ^ sign) - sign);
  }
  return absl::OkStatus();
}

std::string UnpackStep::Describe() const {
  return absl::StrCat("unpack ", count_, " elements of ", bits_, " bits");
}

absl::Status PackStep::Run(const RunContext& context) const {
  const uint8_t* from = reinterpret_cast<const uint8_t*>(context.buffer(from_));
  uint8_t* to = reinterpret_cast<uint8_t*>(context.buffer(to_));
  const int per_byte = 8 / bits_;
  const uint8_t mask = static_cast<uint8_t>((1 << bits_) - 1);
  for (int64_t i = 0; i < count_; i += per_byte) {
    uint8_t byte = 0;
    for (int64_t k = 0; k < per_byte && i + k < count_; ++k)
      byte = static_cast<uint8_t>(byte | (from[i + k] & mask) << (k * bits_));
    to[i / per_byte] = byte;
  }
  return absl::OkStatus();
}

std::string PackStep::Describe() const {
  return absl::StrCat("pack ", count_, " elements to ", bits_, " bits");
}

}  // namespace pjrt::cpu
