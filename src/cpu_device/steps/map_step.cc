// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/map_step.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kMapBlock = 64;
// A call of a body that is no straight line of instructions.
constexpr double kBodyCallNs = 1000;

}  // namespace

MapStep::MapStep(MapParams params)
    : p_(std::move(params)), block_(std::min(kMapBlock, p_.body->max_block())) {}

// Scratch: a block of values for each input and the result, then the body's.
int64_t MapStep::scratch_bytes() const {
  return static_cast<int64_t>(p_.inputs.size() + 1) * kMapBlock * kMaxElementBytes +
         p_.body->scratch_bytes();
}

double MapStep::cost_ns() const { return static_cast<double>(p_.count) * kBodyCallNs; }

void MapStep::RunBlock(const RunContext& context, int64_t block, char* scratch) const {
  const int64_t begin = block * block_;
  const int64_t n = std::min(block_, p_.count - begin);
  const auto slot = [&](size_t i) {
    return scratch + static_cast<int64_t>(i) * kMapBlock * kMaxElementBytes;
  };
  absl::InlinedVector<const char*, 4> params;
  for (size_t i = 0; i < p_.inputs.size(); ++i) {
    const auto [type, buffer] = p_.inputs[i];
    const char* from = context.buffer(buffer) + begin * ByteWidth(type);
    if (const ConvertFn load = p_.kernels->load[type]; load != nullptr) {
      load(slot(i), from, n);
    } else {
      std::memcpy(slot(i), from, n * ByteWidth(type));
    }
    params.push_back(slot(i));
  }
  const size_t inputs = p_.inputs.size();
  char* const value = slot(inputs);
  p_.body->Call(params.data(), &value, n, slot(inputs + 1));
  char* to = context.buffer(p_.result) + begin * ByteWidth(p_.result_type);
  if (const ConvertFn store = p_.kernels->store[p_.result_type]; store != nullptr) {
    store(to, value, n);
  } else {
    std::memcpy(to, value, n * ByteWidth(p_.result_type));
  }
}

absl::Status MapStep::Run(const RunContext& context) const {
  const int64_t blocks = CeilDiv(p_.count, block_);
  const auto run = [&](int64_t block, int member) {
    RunBlock(context, block, context.member_scratch(member));
  };
  if (context.team == nullptr) {
    for (int64_t block = 0; block < blocks; ++block) run(block, 0);
  } else {
    context.team->ParallelFor(blocks, run);
  }
  return absl::OkStatus();
}

std::string MapStep::Describe() const {
  return absl::StrCat("map ", p_.count, " elements by calls");
}

}  // namespace pjrt::cpu
