// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/move_step.h"

#include "absl/strings/str_cat.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {

absl::Status MoveStep::Run(const RunContext& context) const {
  copy_.Run(context.buffer(from_) + from_offset_, context.buffer(to_) + to_offset_, context.team);
  return absl::OkStatus();
}

bool MoveStep::EmitScalar(ScalarAssembler* assembler) const {
  if (copy_.count() == 0) return true;
  const int size = static_cast<int>(copy_.bytes() / copy_.count());
  if (copy_.count() > ScalarAssembler::kMaxElements || size > 8) return false;
  // All elements are read before the first is written.
  absl::InlinedVector<std::pair<int64_t, ScalarAssembler::Reg>, ScalarAssembler::kMaxElements>
      elements;
  copy_.ForEachElement([&](int64_t from, int64_t to) {
    elements.emplace_back(to_offset_ + to * size,
                          assembler->Read(from_, from_offset_ + from * size, size));
  });
  for (const auto& [offset, value] : elements) assembler->Write(to_, offset, size, value);
  return true;
}

std::string MoveStep::Describe() const {
  return absl::StrCat("copy ", copy_.bytes(), " bytes by ", copy_.Describe());
}

}  // namespace pjrt::cpu
