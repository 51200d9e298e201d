// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/dynamic_slice_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/copy_bytes.h"
#include "src/cpu_device/run/index.h"
#include "src/cpu_device/steps/scalar_assembler.h"

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

absl::Status FindSliceStep::Run(const RunContext& context) const {
  context.buffers[part_] = context.buffer(array_) + (offset_ + start_.Offset(context)) * size_;
  return absl::OkStatus();
}

absl::Status DynamicSliceStep::Run(const RunContext& context) const {
  const int64_t start = start_.Offset(context);
  const char* from = context.buffer(from_) + (from_offset_ + (is_update_ ? 0 : start)) * size_;
  char* to = context.buffer(to_) + (to_offset_ + (is_update_ ? start : 0)) * size_;
  if (copy_.is_contiguous() && copy_.num_units() <= 1) {
    CopyBytes(to, from, copy_.bytes());
  } else {
    copy_.Run(from, to, context.team);
  }
  return absl::OkStatus();
}

bool DynamicSliceStep::EmitScalar(ScalarAssembler* assembler) const {
  if (copy_.count() > ScalarAssembler::kMaxElements || size_ > 8) return false;
  ScalarAssembler::Reg at = assembler->Integer(0);
  for (const SliceStart::Index& index : start_.indices) {
    if (index.buffer == kNoBuffer) {
      const int64_t offset = std::clamp<int64_t>(index.constant, 0, index.limit) * index.stride;
      if (offset != 0) at = assembler->MulAdd(assembler->Integer(offset), size_, at);
      continue;
    }
    const int bytes = ByteWidth(index.type);
    const ScalarAssembler::Reg value = assembler->Read(index.buffer, index.offset * bytes, bytes);
    at = assembler->Index(index.type, value, index.limit, index.stride * size_, at);
  }
  // All elements are read before the first is written.
  absl::InlinedVector<std::pair<int64_t, ScalarAssembler::Reg>, ScalarAssembler::kMaxElements>
      elements;
  copy_.ForEachElement([&](int64_t from, int64_t to) {
    const int64_t offset = (from_offset_ + from) * size_;
    elements.emplace_back((to_offset_ + to) * size_,
                          is_update_ ? assembler->Read(from_, offset, size_)
                                     : assembler->ReadAt(from_, offset, at, size_));
  });
  for (const auto& [offset, value] : elements) {
    if (is_update_) {
      assembler->WriteAt(to_, offset, at, size_, value);
    } else {
      assembler->Write(to_, offset, size_, value);
    }
  }
  return true;
}

std::string DynamicSliceStep::Describe() const {
  return absl::StrCat(is_update_ ? "dynamic_update_slice " : "dynamic_slice ", copy_.bytes(),
                      " bytes");
}

}  // namespace pjrt::cpu
