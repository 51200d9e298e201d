// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/backend/cpu_program.h"

#include "src/core/base/status_macros.h"

namespace pjrt::cpu {
namespace {

// Plans with less work than this run on one thread: a helper would come too late.
constexpr double kTeamNs = 30000;

}  // namespace

CpuProgram::~CpuProgram() {
  if (Spare* spare = spare_.load()) {
    allocator_->Free(spare->block);
    delete spare;
  }
}

absl::StatusOr<CachingAllocator::Block> CpuProgram::TakeWorkspace(int threads) const {
  const size_t bytes = static_cast<size_t>(plan_.WorkspaceBytes(threads));
  if (Spare* spare = spare_.exchange(nullptr, std::memory_order_acq_rel)) {
    const CachingAllocator::Block block = spare->block;
    delete spare;
    if (block.bytes >= bytes) return block;
    allocator_->Free(block);
  }
  return allocator_->Allocate(bytes);
}

void CpuProgram::ReturnWorkspace(CachingAllocator::Block block) const {
  // Large ones go back to the allocator, so that programs that are not running hold little.
  if (block.bytes > 1 << 20) {
    allocator_->Free(block);
    return;
  }
  Spare* mine = new Spare{block};
  Spare* expected = nullptr;
  if (!spare_.compare_exchange_strong(expected, mine, std::memory_order_acq_rel)) {
    delete mine;
    allocator_->Free(block);
  }
}

absl::StatusOr<Execution> Execution::Prepare(const LaunchArgs& args,
                                             const std::shared_ptr<CachingAllocator>& allocator,
                                             int memory) {
  Execution execution;
  execution.program_ = static_cast<const CpuProgram*>(args.program);
  const ProgramInfo& info = args.program->info();
  for (const LaunchInput& input : args.inputs)
    execution.arguments_.push_back(static_cast<const char*>(input.buffer->host_pointer()));
  for (size_t r = 0; r < info.results.size(); ++r) {
    const size_t bytes = static_cast<size_t>(PackedByteSize(info.results[r].shape));
    const int alias = info.results[r].aliased_parameter;
    if (alias >= 0 && args.inputs[alias].is_donated && args.inputs[alias].buffer->size() >= bytes) {
      args.outputs[r] = RawBufferRef(args.inputs[alias].buffer);
    } else {
      PJRT_ASSIGN_OR_RETURN(args.outputs[r], CpuRawBuffer::Allocate(allocator, memory, bytes));
    }
    execution.results_.push_back(static_cast<char*>(args.outputs[r]->host_pointer()));
  }
  execution.info_.run_id = args.run_id;
  execution.info_.seed = args.options != nullptr ? args.options->seed : 0;
  execution.info_.replica_id = args.replica;
  execution.info_.partition_id = args.partition;
  execution.info_.context = args.options != nullptr ? args.options->context : nullptr;
  return execution;
}

absl::Status Execution::Run(Executor* executor, int threads) const {
  const Plan& plan = program_->plan();
  if (executor == nullptr || plan.cost_ns < kTeamNs) threads = 1;
  PJRT_ASSIGN_OR_RETURN(const CachingAllocator::Block workspace, program_->TakeWorkspace(threads));
  absl::Status status;
  if (threads == 1) {
    status = RunPlan(plan, arguments_, results_, workspace.data, nullptr, info_);
  } else {
    const std::shared_ptr<Team> team = Team::Create(executor, threads);
    status = RunPlan(plan, arguments_, results_, workspace.data, team.get(), info_);
    team->Dismiss();
  }
  program_->ReturnWorkspace(workspace);
  return status;
}

}  // namespace pjrt::cpu
