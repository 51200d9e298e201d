// SPDX-License-Identifier: Apache-2.0
//
// A loop over all elements of packed arrays: pieces of them are unpacked, computed and packed
// again while they are in a cache.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_PACKED_LOOP_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_PACKED_LOOP_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class PackedLoopStep final : public Step {
 public:
  // An input or output of the loop: its buffer, and between packed memory and bytes.
  struct Array {
    BufferId buffer = kNoBuffer;
    int bits = 0;  // of an element, 0 where it is not packed
    ConvertFn convert = nullptr;
  };
  // Whether a loop can go by pieces: over one dimension of many elements, and the same at each.
  static bool Serves(const LoopProgram& program);
  // Input i of `program` is inputs[i], likewise outputs; packed ones lie one after the other.
  static absl::StatusOr<std::unique_ptr<PackedLoopStep>> Make(const LoopEngine& engine,
                                                              const LoopProgram& program,
                                                              std::vector<Array> inputs,
                                                              std::vector<Array> outputs,
                                                              double cost_ns, std::string what);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override { return what_; }
  double cost_ns() const override { return cost_ns_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  struct Operand {
    Array array;
    int64_t step;  // bytes from an element to the next
  };

  PackedLoopStep() = default;
  void RunPiece(const RunContext& context, int64_t first, int64_t n, char* scratch) const;

  std::vector<Operand> inputs_, outputs_;
  std::unique_ptr<LoopKernel> whole_, rest_;  // pieces, and the last one where it has less
  int64_t count_ = 0;
  int64_t kernel_scratch_bytes_ = 0, scratch_bytes_ = 0;
  double cost_ns_ = 0;
  std::string what_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_PACKED_LOOP_STEP_H_
