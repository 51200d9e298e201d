// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/copy_step.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

// One thread copies this much in some 25 us.
constexpr int64_t kCopyUnitBytes = 256 * 1024;

}  // namespace

absl::Status CopyStep::Run(const RunContext& context) const {
  const char* from = context.buffer(from_) + from_offset_;
  char* to = context.buffer(to_) + to_offset_;
  if (from == to) return absl::OkStatus();
  if (bytes_ < 2 * kCopyUnitBytes || context.team == nullptr) {
    std::memcpy(to, from, bytes_);
    return absl::OkStatus();
  }
  context.team->ParallelFor(CeilDiv(bytes_, kCopyUnitBytes), [&](int64_t unit, int) {
    const int64_t begin = unit * kCopyUnitBytes;
    std::memcpy(to + begin, from + begin, std::min(kCopyUnitBytes, bytes_ - begin));
  });
  return absl::OkStatus();
}

bool CopyStep::EmitScalar(ScalarAssembler* assembler) const {
  return assembler->Copy(from_, from_offset_, to_, to_offset_, bytes_, size_);
}

std::string CopyStep::Describe() const { return absl::StrCat("copy ", bytes_, " bytes"); }

}  // namespace pjrt::cpu
