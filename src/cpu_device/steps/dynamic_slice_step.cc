// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/dynamic_slice_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/index.h"

namespace pjrt::cpu {

int64_t SliceStart::Offset(const RunContext& context) const {
  int64_t offset = 0;
  for (const Index& index : indices) {
    const int64_t value = index.buffer == kNoBuffer
                              ? index.constant
                              : ReadIndex(index.type, context.buffer(index.buffer), index.offset);
    offset += std::clamp<int64_t>(value, 0, index.limit) * index.stride;
  }
  return offset;
}

absl::Status DynamicSliceStep::Run(const RunContext& context) const {
  const int64_t start = start_.Offset(context);
  const char* from = context.buffer(from_) + (from_offset_ + (is_update_ ? 0 : start)) * size_;
  char* to = context.buffer(to_) + (to_offset_ + (is_update_ ? start : 0)) * size_;
  copy_.Run(from, to);
  return absl::OkStatus();
}

std::string DynamicSliceStep::Describe() const {
  return absl::StrCat(is_update_ ? "dynamic_update_slice " : "dynamic_slice ", copy_.bytes(),
                      " bytes");
}

}  // namespace pjrt::cpu
