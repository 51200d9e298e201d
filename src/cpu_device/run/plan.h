// SPDX-License-Identifier: Apache-2.0
//
// Plan: a compiled program as the CPU runs it. A flat list of steps over numbered buffers; nested
// regions (while, case) are lists of steps inside a step, over the same buffers. Everything that
// can be decided before an execution is decided here: which kernel, which memory, how work is
// split.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_PLAN_H_
#define PJRT_SRC_CPU_DEVICE_RUN_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace pjrt {
class ExecuteContext;
}

namespace pjrt::cpu {

class ScalarAssembler;
class Team;

using BufferId = int32_t;
inline constexpr BufferId kNoBuffer = -1;

// Where a buffer's memory comes from at run time.
struct BufferPlace {
  // kPart: of another buffer; a step finds it (steps/dynamic_slice_step.h).
  enum Kind : uint8_t { kArena, kConstant, kArgument, kResult, kPart };
  Kind kind = kArena;
  int32_t index = 0;   // kArgument, kResult, kPart: which
  int64_t offset = 0;  // kArena, kConstant: bytes from the start
};

// What differs from one execution to the next and is no data.
struct RunInfo {
  int64_t run_id = 0;
  int64_t seed = 0;
  int32_t replica_id = 0;
  int32_t partition_id = 0;
  const ExecuteContext* context = nullptr;  // of the application, for custom calls
};

// One execution: handed down through the steps.
struct RunContext {
  char** buffers = nullptr;  // by BufferId
  char* scratch = nullptr;   // Plan::scratch_bytes for each member of the team, one after the other
  int64_t scratch_stride = 0;
  Team* team = nullptr;  // null: the step runs on the calling thread alone
  const RunInfo* info = nullptr;
  // How many steps of this execution have drawn numbers of a hidden state.
  uint64_t* rng_draws = nullptr;

  char* buffer(BufferId id) const { return buffers[id]; }
  char* member_scratch(int member) const { return scratch + member * scratch_stride; }
};

class Step {
 public:
  virtual ~Step() = default;
  // Runs the step; its inputs are complete, its outputs are complete on return. Errors come from
  // what the program computes alone (an assertion that fails, another platform's branch) and from
  // functions that it calls.
  virtual absl::Status Run(const RunContext& context) const = 0;
  // One line: the kernel, its types and sizes.
  virtual std::string Describe() const = 0;
  // Estimated time on one thread, in nanoseconds.
  virtual double cost_ns() const = 0;
  // Scratch memory that each member of the team needs, in bytes.
  virtual int64_t scratch_bytes() const { return 0; }
  // The steps of nested regions, for inspection; empty for most.
  virtual std::vector<const std::vector<std::unique_ptr<Step>>*> nested() const { return {}; }
  // How often a nested region is expected to run when the step does.
  virtual double nested_runs() const { return 1; }
  // Calls `rewrite` with the steps of each nested region, which it may replace by others that do
  // the same. Second comes what runs behind the region each time, null for most: when `rewrite`
  // returns true, the region's new steps do that as well.
  using RewriteFn = absl::FunctionRef<bool(std::vector<std::unique_ptr<Step>>* region,
                                           const std::vector<std::unique_ptr<Step>>* next)>;
  virtual void RewriteRegions(RewriteFn /*rewrite*/) {}
  // Writes what the step does on single elements (steps/scalar_assembler.h). False when it is
  // something else; then what has been written counts for nothing.
  virtual bool EmitScalar(ScalarAssembler* /*assembler*/) const { return false; }
};

using Steps = std::vector<std::unique_ptr<Step>>;

absl::Status RunSteps(const Steps& steps, const RunContext& context);

struct Plan {
  Steps steps;
  std::vector<BufferPlace> buffers;  // by BufferId
  int64_t arena_bytes = 0;
  int64_t scratch_bytes = 0;        // for each thread that takes part
  std::shared_ptr<char> constants;  // 64-byte aligned
  int64_t constant_bytes = 0;
  double cost_ns = 0;
  int num_arguments = 0;
  int num_results = 0;

  // Bytes of working memory that an execution with `threads` threads needs, 64-byte aligned: arena,
  // buffer table and scratch.
  int64_t WorkspaceBytes(int threads) const;
};

// Runs the plan on the calling thread and its team. `workspace` is
// Plan::WorkspaceBytes(team->size()) bytes, aligned to 64; arguments and results are the unpacked
// dense arrays that the program names, aligned to 16 at least. Allocates nothing and takes no lock.
absl::Status RunPlan(const Plan& plan, absl::Span<const char* const> arguments,
                     absl::Span<char* const> results, char* workspace, Team* team,
                     const RunInfo& info);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_PLAN_H_
