// SPDX-License-Identifier: Apache-2.0
//
// Steps that call functions of the application, and those that fail.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_CUSTOM_CALL_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_CUSTOM_CALL_STEP_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/cpu/custom_call.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class CustomCallStep final : public Step {
 public:
  // An operand or result in a dense buffer.
  struct Slot {
    PrimitiveType type = F32;
    std::vector<int64_t> dims;
    BufferId buffer = kNoBuffer;
  };
  // `place` says what is called and where in the program: the context of errors.
  CustomCallStep(custom_call::Kernel kernel, std::string place, std::vector<Slot> operands,
                 std::vector<Slot> results)
      : kernel_(std::move(kernel)),
        place_(std::move(place)),
        operands_(std::move(operands)),
        results_(std::move(results)) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return kernel_.cost_ns; }
  int64_t scratch_bytes() const override { return kernel_.scratch_bytes; }

 private:
  custom_call::Kernel kernel_;
  std::string place_;
  std::vector<Slot> operands_, results_;
};

// Fails with the status: another platform's call, in a branch that need not be taken.
class FailStep final : public Step {
 public:
  explicit FailStep(absl::Status status) : status_(std::move(status)) {}
  absl::Status Run(const RunContext&) const override { return status_; }
  std::string Describe() const override { return "fail"; }
  double cost_ns() const override { return 0; }

 private:
  absl::Status status_;
};

// Fails unless a predicate is true, with a message in which {0}, {1}, ... are replaced by values.
class AssertStep final : public Step {
 public:
  struct Value {  // one number
    PrimitiveType type = S32;
    BufferId buffer = kNoBuffer;
  };
  AssertStep(std::string message, std::string place, BufferId predicate, std::vector<Value> values)
      : message_(std::move(message)),
        place_(std::move(place)),
        predicate_(predicate),
        values_(std::move(values)) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return 5; }

 private:
  std::string message_, place_;
  BufferId predicate_;
  std::vector<Value> values_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_CUSTOM_CALL_STEP_H_
