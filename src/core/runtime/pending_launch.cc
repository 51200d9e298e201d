// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/pending_launch.h"

#include <utility>

#include "src/core/base/error.h"

namespace pjrt {

LaunchArgs PendingLaunch::MakeArgs() {
  raw_inputs_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    RawBuffer* const raw = inputs[i].get();
    raw_inputs_[i] = {raw, donated[i] && raw->is_writable()};
  }
  raw_outputs_.resize(outputs.size());
  LaunchArgs args;
  args.program = program.get();
  args.device = device->index();
  args.inputs = raw_inputs_;
  args.outputs = absl::MakeSpan(raw_outputs_);
  args.mode = mode;
  args.run_id = run_id;
  args.replica = replica;
  args.partition = partition;
  args.device_assignment = assignment.get();
  args.options = &options;
  args.was_dispatched = &was_dispatched_;
  return args;
}

void PendingLaunch::Run(const std::vector<std::shared_ptr<PendingLaunch>>& launches,
                        const absl::Status& inputs_status, bool as_a_gang) {
  if (!inputs_status.ok()) {
    for (const auto& launch : launches) launch->Finish(inputs_status);
    return;
  }
  Backend* const backend = launches.front()->client->backend();
  if (as_a_gang) {
    std::vector<LaunchArgs> args;
    args.reserve(launches.size());
    for (const auto& launch : launches) args.push_back(launch->MakeArgs());
    std::vector<Future<>> done(launches.size());
    backend->LaunchAll(args, absl::MakeSpan(done));
    for (size_t i = 0; i < launches.size(); ++i) Follow(launches[i], done[i]);
    return;
  }
  for (const auto& launch : launches) {
    // What was poisoned while it waited needn't run.
    if (const Future<> defined = launch->defined.future(); defined.IsReady()) {
      launch->Finish(defined.Await());
      continue;
    }
    Follow(launch, backend->Launch(launch->MakeArgs()));
  }
}

void PendingLaunch::Follow(const std::shared_ptr<PendingLaunch>& launch, const Future<>& done) {
  bool has_all_outputs = true;
  for (size_t i = 0; i < launch->outputs.size(); ++i) {
    if (!launch->raw_outputs_[i]) {
      has_all_outputs = false;
      continue;
    }
    launch->outputs[i]->Fulfil(std::move(launch->raw_outputs_[i]));
  }
  done.OnReady([launch, has_all_outputs](const absl::Status& status) {
    if (status.ok() && !has_all_outputs) {
      launch->Finish(Internal("PJRT-R042", "the backend launched ", launch->program->info().name,
                              " without providing memory for all results"));
    } else {
      launch->Finish(status);
    }
  });
}

void PendingLaunch::Finish(const absl::Status& status) {
  // First the memory, so that whoever sees the end also sees it free.
  inputs.clear();
  if (!status.ok()) {
    for (const auto& output : outputs) {
      if (!output->allocated().IsReady()) output->Fail(status);
    }
  }
  outputs.clear();
  program.reset();
  device->launches().Leave(this);
  defined.Set(status);
  if (collective_ended) collective_ended.Set();
  ended.Set(status);
}

}  // namespace pjrt
