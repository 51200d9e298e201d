// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/custom_call_step.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pjrt/execute_context.h"
#include "src/core/base/error.h"
#include "src/core/base/wide_elements.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

class StepContext final : public custom_call::Context {
 public:
  explicit StepContext(const RunContext& run) : run_(run) {}
  int num_threads() const override { return run_.team == nullptr ? 1 : run_.team->size(); }
  void ParallelFor(int64_t count,
                   absl::FunctionRef<void(int64_t i, int thread)> fn) const override {
    if (run_.team == nullptr || count <= 1) {
      for (int64_t i = 0; i < count; ++i) fn(i, 0);
      return;
    }
    // A team counts units in 32 bits.
    for (int64_t done = 0; done < count; done += kUnits) {
      run_.team->ParallelFor(std::min(kUnits, count - done),
                             [&](int64_t i, int thread) { fn(done + i, thread); });
    }
  }
  char* scratch(int thread) const override { return run_.member_scratch(thread); }
  int64_t run_id() const override { return run_.info->run_id; }
  int replica_id() const override { return run_.info->replica_id; }
  int partition_id() const override { return run_.info->partition_id; }

 protected:
  const ffi::ExecutionContext& user_context() const override {
    return run_.info->context != nullptr ? run_.info->context->ffi_context() : empty_;
  }

 private:
  static constexpr int64_t kUnits = int64_t{1} << 30;
  const RunContext& run_;
  ffi::ExecutionContext empty_;
};

using Arrays = absl::InlinedVector<custom_call::Array, 8>;

Arrays Bind(const std::vector<CustomCallStep::Slot>& slots, const RunContext& context) {
  Arrays arrays;
  arrays.reserve(slots.size());
  for (const CustomCallStep::Slot& slot : slots)
    arrays.push_back({slot.type, slot.dims, context.buffer(slot.buffer)});
  return arrays;
}

std::string NumberText(PrimitiveType type, const char* data) {
  WideBlock wide;
  wide.type = WideTypeOf(type);
  LoadWide(type, data, 1, wide);
  switch (wide.type) {
    case WideType::kInt64:
      return absl::StrCat(wide.int64s[0]);
    case WideType::kUint64:
      return absl::StrCat(wide.uint64s[0]);
    case WideType::kDouble:
      return absl::StrCat(wide.doubles[0]);
    default:
      return absl::StrCat("(", wide.complexes[0][0], ", ", wide.complexes[0][1], ")");
  }
}

}  // namespace

absl::Status CustomCallStep::Run(const RunContext& context) const {
  const Arrays operands = Bind(operands_, context), results = Bind(results_, context);
  const absl::Status status = kernel_.run(StepContext(context), operands, results);
  if (status.ok()) return status;
  if (!ErrorId(status).empty()) return WithContext(status, place_);
  return MakeError(status.code(), "PJRT-K004", absl::StrCat(place_, ": ", status.message()));
}

std::string CustomCallStep::Describe() const { return absl::StrCat("custom_call ", place_); }

absl::Status AssertStep::Run(const RunContext& context) const {
  if (*context.buffer(predicate_) != 0) return absl::OkStatus();
  // One pass, so that what a value puts in is not read as a place for another.
  std::string text;
  for (size_t at = 0; at < message_.size();) {
    const size_t close = message_[at] == '{' ? message_.find('}', at) : std::string::npos;
    uint32_t number;
    if (close != std::string::npos &&
        absl::SimpleAtoi(absl::string_view(message_).substr(at + 1, close - at - 1), &number) &&
        number < values_.size()) {
      text += NumberText(values_[number].type, context.buffer(values_[number].buffer));
      at = close + 1;
    } else {
      text.push_back(message_[at++]);
    }
  }
  return InvalidArgument("PJRT-K005", place_, ": ", text);
}

std::string AssertStep::Describe() const { return absl::StrCat("assert ", message_); }

}  // namespace pjrt::cpu
