// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/bitcast_step.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Elements of the wider type in a unit of work.
constexpr int64_t kBitcastUnit = 4096;

// Parts that do not divide 64 bits, those of 6, only occur within the first word.
struct Words {
  uint64_t word[2] = {0, 0};
  void Set(int at, uint64_t bits) { word[at / 64] |= bits << (at % 64); }
  uint64_t Get(int at) const { return word[at / 64] >> (at % 64); }
};

}  // namespace

int BitcastBits(PrimitiveType type) { return type == PRED ? 1 : BitWidth(type); }

absl::Status BitcastStep::Run(const RunContext& context) const {
  const int from_bits = BitcastBits(from_type_), to_bits = BitcastBits(to_type_);
  const int from_size = ByteWidth(from_type_), to_size = ByteWidth(to_type_);
  const int wide = std::max(from_bits, to_bits);
  const char* const from = context.buffer(from_);
  char* const to = context.buffer(to_);
  const uint64_t from_mask = from_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << from_bits) - 1;
  const uint64_t to_mask = to_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << to_bits) - 1;
  // Signed integers narrower than a byte are kept sign-extended.
  const uint64_t sign = IsSignedInteger(to_type_) && to_bits < 8 ? uint64_t{1} << (to_bits - 1) : 0;
  const auto run = [&](int64_t unit, int) {
    const int64_t end = std::min(count_, (unit + 1) * kBitcastUnit);
    const char* read = from + unit * kBitcastUnit * (wide / from_bits) * from_size;
    char* write = to + unit * kBitcastUnit * (wide / to_bits) * to_size;
    for (int64_t i = unit * kBitcastUnit; i < end; ++i) {
      Words words;
      if (from_bits >= 8) {
        std::memcpy(words.word, read, from_size);
        read += from_size;
      } else {
        for (int at = 0; at < wide; at += from_bits)
          words.Set(at, static_cast<uint8_t>(*read++) & from_mask);
      }
      if (to_bits >= 8) {
        std::memcpy(write, words.word, to_size);
        write += to_size;
      } else {
        for (int at = 0; at < wide; at += to_bits)
          *write++ = static_cast<char>(((words.Get(at) & to_mask) ^ sign) - sign);
      }
    }
  };
  const int64_t units = CeilDiv(count_, kBitcastUnit);
  if (context.team == nullptr) {
    for (int64_t unit = 0; unit < units; ++unit) run(unit, 0);
  } else {
    context.team->ParallelFor(units, run);
  }
  return absl::OkStatus();
}

std::string BitcastStep::Describe() const {
  return absl::StrCat("bitcast ", PrimitiveTypeName(from_type_), " to ",
                      PrimitiveTypeName(to_type_), ", ", count_, " elements");
}

double BitcastStep::cost_ns() const {
  return static_cast<double>(count_) *
         (2 + std::max(BitcastBits(from_type_), BitcastBits(to_type_)) /
                  static_cast<double>(std::min(BitcastBits(from_type_), BitcastBits(to_type_))));
}

}  // namespace pjrt::cpu
