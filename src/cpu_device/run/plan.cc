// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/plan.h"

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {

absl::Status RunSteps(const Steps& steps, const RunContext& context) {
  for (const std::unique_ptr<Step>& step : steps) PJRT_RETURN_IF_ERROR(step->Run(context));
  return absl::OkStatus();
}

// Workspace: arena | buffer table | scratch of member 0 | scratch of member 1 | ...
int64_t Plan::WorkspaceBytes(int threads) const {
  return AlignUp(arena_bytes) + AlignUp(static_cast<int64_t>(buffers.size() * sizeof(char*))) +
         AlignUp(scratch_bytes) * threads;
}

absl::Status RunPlan(const Plan& plan, absl::Span<const char* const> arguments,
                     absl::Span<char* const> results, char* workspace, Team* team,
                     const RunInfo& info) {
  char* const arena = workspace;
  char** const table = reinterpret_cast<char**>(workspace + AlignUp(plan.arena_bytes));
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const BufferPlace& place = plan.buffers[i];
    switch (place.kind) {
      case BufferPlace::kArena:
        table[i] = arena + place.offset;
        break;
      case BufferPlace::kConstant:
        table[i] = plan.constants.get() + place.offset;
        break;
      case BufferPlace::kArgument:
        // Steps write to arguments only where buffer assignment has placed a result in a donated
        // one.
        table[i] = const_cast<char*>(arguments[place.index]);
        break;
      case BufferPlace::kResult:
        table[i] = results[place.index];
        break;
      case BufferPlace::kPart:
        table[i] = nullptr;
        break;
    }
  }
  RunContext context;
  context.buffers = table;
  context.scratch = reinterpret_cast<char*>(table) +
                    AlignUp(static_cast<int64_t>(plan.buffers.size() * sizeof(char*)));
  context.scratch_stride = AlignUp(plan.scratch_bytes);
  context.team = team;
  context.info = &info;
  uint64_t rng_draws = 0;
  context.rng_draws = &rng_draws;
  return RunSteps(plan.steps, context);
}

}  // namespace pjrt::cpu
