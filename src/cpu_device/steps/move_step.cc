// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/move_step.h"

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {

absl::Status MoveStep::Run(const RunContext& context) const {
  const char* from = context.buffer(from_) + from_offset_;
  char* to = context.buffer(to_) + to_offset_;
  if (copy_.num_units() <= 1 || context.team == nullptr) {
    copy_.Run(from, to);
    return absl::OkStatus();
  }
  context.team->ParallelFor(copy_.num_units(),
                            [&](int64_t unit, int) { copy_.RunUnit(unit, from, to); });
  return absl::OkStatus();
}

std::string MoveStep::Describe() const {
  return absl::StrCat("copy ", copy_.bytes(), " bytes by ", copy_.Describe());
}

}  // namespace pjrt::cpu
