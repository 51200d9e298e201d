// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/pack_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Elements that one thread takes some 20 us for; they begin a byte.
constexpr int64_t kPackUnit = 256 * 1024;

// Calls fn(from, n) for all of `count` elements.
template <typename Fn>
void ForEachUnit(Team* team, int64_t count, Fn fn) {
  if (count < 2 * kPackUnit || team == nullptr) return fn(0, count);
  team->ParallelFor(CeilDiv(count, kPackUnit), [&](int64_t unit, int) {
    fn(unit * kPackUnit, std::min(kPackUnit, count - unit * kPackUnit));
  });
}

}  // namespace

UnpackStep::UnpackStep(BufferId from, BufferId to, int64_t count, int bits, bool sign_extend,
                       const BlockKernels& kernels)
    : from_(from),
      to_(to),
      count_(count),
      bits_(bits),
      unpack_(kernels.unpack[SizeLog2(bits)][sign_extend]) {}

absl::Status UnpackStep::Run(const RunContext& context) const {
  const char* const from = context.buffer(from_);
  char* const to = context.buffer(to_);
  ForEachUnit(context.team, count_,
              [&](int64_t first, int64_t n) { unpack_(to + first, from + first * bits_ / 8, n); });
  return absl::OkStatus();
}

std::string UnpackStep::Describe() const {
  return absl::StrCat("unpack ", count_, " elements of ", bits_, " bits");
}

PackStep::PackStep(BufferId from, BufferId to, int64_t count, int bits, const BlockKernels& kernels)
    : from_(from), to_(to), count_(count), bits_(bits), pack_(kernels.pack[SizeLog2(bits)]) {}

absl::Status PackStep::Run(const RunContext& context) const {
  const char* const from = context.buffer(from_);
  char* const to = context.buffer(to_);
  ForEachUnit(context.team, count_,
              [&](int64_t first, int64_t n) { pack_(to + first * bits_ / 8, from + first, n); });
  return absl::OkStatus();
}

std::string PackStep::Describe() const {
  return absl::StrCat("pack ", count_, " elements to ", bits_, " bits");
}

}  // namespace pjrt::cpu
