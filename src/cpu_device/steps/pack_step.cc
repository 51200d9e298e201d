// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/pack_step.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/core/base/pack_bits.h"

namespace pjrt::cpu {
namespace {

// Elements of kPerByte to a byte, by a table of what each byte holds.
template <int kPerByte>
void UnpackBytes(const uint8_t* from, int64_t count, const uint64_t* elements, uint8_t* to) {
  int64_t i = 0;
  for (; i + kPerByte <= count; i += kPerByte)
    std::memcpy(to + i, &elements[from[i / kPerByte]], kPerByte);
  if (i < count) std::memcpy(to + i, &elements[from[i / kPerByte]], count - i);
}

}  // namespace

// The first element lies in the lowest bits of a byte.
UnpackStep::UnpackStep(BufferId from, BufferId to, int64_t count, int bits, bool sign_extend)
    : from_(from), to_(to), count_(count), bits_(bits) {
  const uint8_t mask = static_cast<uint8_t>((1 << bits) - 1);
  const uint8_t sign = static_cast<uint8_t>(sign_extend ? 1 << (bits - 1) : 0);
  for (int byte = 0; byte < 256; ++byte) {
    uint8_t values[8] = {};
    for (int i = 0; i < 8 / bits; ++i) {
      const uint8_t value = static_cast<uint8_t>(byte >> (i * bits)) & mask;
      values[i] = static_cast<uint8_t>((value ^ sign) - sign);
    }
    std::memcpy(&elements_[byte], values, sizeof(values));
  }
}

absl::Status UnpackStep::Run(const RunContext& context) const {
  const uint8_t* from = reinterpret_cast<const uint8_t*>(context.buffer(from_));
  uint8_t* to = reinterpret_cast<uint8_t*>(context.buffer(to_));
  const auto unpack = bits_ == 4 ? UnpackBytes<2> : bits_ == 2 ? UnpackBytes<4> : UnpackBytes<8>;
  unpack(from, count_, elements_.data(), to);
  return absl::OkStatus();
}

std::string UnpackStep::Describe() const {
  return absl::StrCat("unpack ", count_, " elements of ", bits_, " bits");
}

absl::Status PackStep::Run(const RunContext& context) const {
  PackBits(reinterpret_cast<const uint8_t*>(context.buffer(from_)), static_cast<size_t>(count_),
           bits_, reinterpret_cast<uint8_t*>(context.buffer(to_)));
  return absl::OkStatus();
}

std::string PackStep::Describe() const {
  return absl::StrCat("pack ", count_, " elements to ", bits_, " bits");
}

}  // namespace pjrt::cpu
