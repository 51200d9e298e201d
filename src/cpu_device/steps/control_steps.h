// SPDX-License-Identifier: Apache-2.0
//
// Steps that run lists of steps: loops and branches.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_CONTROL_STEPS_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_CONTROL_STEPS_H_

#include <string>
#include <vector>

#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// Runs `cond`, then `body` as long as the byte in `pred` is not 0.
class WhileStep final : public Step {
 public:
  // A loop of unknown length is taken to run this often when its cost is estimated: it may be
  // anything but a moment's work.
  static constexpr double kAssumedTrips = 100000;

  Steps cond, body;
  BufferId pred = kNoBuffer;
  double trips = kAssumedTrips;  // that the body is expected to run

  // Sums up what the regions need, once they are complete.
  void Estimate();
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return cost_ns_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  std::vector<const Steps*> nested() const override { return {&cond, &body}; }
  double nested_runs() const override { return trips; }
  void RewriteRegions(RewriteFn rewrite) override;
  bool EmitScalar(ScalarAssembler* assembler) const override;

 private:
  bool body_does_cond_ = false;  // the body ends with the condition
  double cost_ns_ = 0;
  int64_t scratch_bytes_ = 0;
};

// Runs one of the branches: number `index` (an i32), the last one when there is no such branch.
// With is_predicate the first when the byte in `index` is not 0, else the second.
class CaseStep final : public Step {
 public:
  std::vector<Steps> branches;
  BufferId index = kNoBuffer;
  bool is_predicate = false;

  void Estimate();
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return cost_ns_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  std::vector<const Steps*> nested() const override;
  void RewriteRegions(RewriteFn rewrite) override;
  bool EmitScalar(ScalarAssembler* assembler) const override;

 private:
  double cost_ns_ = 0;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_CONTROL_STEPS_H_
