// SPDX-License-Identifier: Apache-2.0
//
// A launch on one device: the checks of its arguments, and the ways to the backend.
//
// There are two. The short one is for launches whose inputs are ready: the backend is called
// at once, and if it has run the program when it returns, the results are plain buffers and nothing
// else was allocated, locked or registered. The long one makes a PendingLaunch, which waits for the
// inputs and then calls the backend.
//
// Holds are dropped before anything blocks: a launch that finds too many others in flight gives its
// holds back, waits, and starts over.
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "pjrt/base/future_join.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/future_util.h"
#include "src/core/runtime/pending_launch.h"
#include "src/core/runtime/seen_programs.h"

namespace pjrt {
namespace {

absl::Status DonationClash(size_t first, bool first_donated, size_t second, bool second_donated) {
  const auto describe = [](bool donated, size_t i) {
    return donated ? absl::StrCat("donate(a) as argument ", i) : absl::StrCat("a as argument ", i);
  };
  return InvalidArgument("PJRT-R047",
                         "Attempt to donate the same buffer twice in Execute(), or to ",
                         "use it and donate it: f(", describe(first_donated, first), ", ",
                         describe(second_donated, second), ")");
}

// Finds buffers that are donated and used again in the same launch.
class ClashChecker {
 public:
  // `any_donation`: whether the program has a parameter that may be donated.
  ClashChecker(size_t num_arguments, bool any_donation)
      : any_donation_(any_donation), uses_map_(num_arguments > 16) {}

  // OK, or the error of a clash with an earlier argument.
  absl::Status Check(absl::Span<const HeldArgument> earlier, const HeldArgument& argument) {
    if (!any_donation_) return absl::OkStatus();
    if (!uses_map_) {
      for (size_t i = 0; i < earlier.size(); ++i) {
        if (earlier[i].buffer != argument.buffer) continue;
        if (!earlier[i].is_exclusive && !argument.is_exclusive) continue;
        return DonationClash(i, earlier[i].is_exclusive, earlier.size(), argument.is_exclusive);
      }
      return absl::OkStatus();
    }
    const auto [it, is_new] = first_use_.emplace(argument.buffer, earlier.size());
    if (is_new) return absl::OkStatus();
    const bool first_donated = earlier[it->second].is_exclusive;
    if (!first_donated && !argument.is_exclusive) return absl::OkStatus();
    return DonationClash(it->second, first_donated, earlier.size(), argument.is_exclusive);
  }

 private:
  const bool any_donation_;
  const bool uses_map_;
  absl::flat_hash_map<const CommonPjRtBuffer*, size_t> first_use_;
};

}  // namespace

// ----- Arguments -----

absl::Status CommonPjRtLoadedExecutable::CheckArgument(const Place& place, size_t index,
                                                       PjRtBuffer* argument,
                                                       const ExecuteOptions& options,
                                                       bool checks_shapes,
                                                       HeldArgument* checked) const {
  const ProgramParameter& parameter = program_->info().parameters[index];
  if (argument == nullptr || argument->client() != client_) {
    return InvalidArgument("PJRT-R050", "argument ", index, " of Execute() is ",
                           argument == nullptr ? "null" : "a buffer of another client");
  }
  auto* const buffer = static_cast<CommonPjRtBuffer*>(argument);
  if (buffer->common_space()->common_device() != place.device) {
    return InvalidArgument("PJRT-R051", "Buffer passed to Execute() as argument ", index,
                           " to replica ", place.replica, " is on device ",
                           buffer->device()->DebugString(), ", but replica is assigned to device ",
                           place.device->DebugString());
  }
  if (checks_shapes) PJRT_RETURN_IF_ERROR(CheckShape(index, *buffer->type()));
  checked->buffer = buffer;
  if (parameter.donation == Donation::kNever) return absl::OkStatus();
  if (!options.non_donatable_input_indices.empty() &&
      options.non_donatable_input_indices.contains(static_cast<int>(index))) {
    if (parameter.donation == Donation::kMust) {
      return InvalidArgument("PJRT-R053", "argument ", index, " of the program ",
                             program_->info().name,
                             " is must-alias with a result, so its "
                             "donation can't be denied");
    }
    return absl::OkStatus();
  }
  checked->is_exclusive = true;
  checked->is_donated = true;
  return absl::OkStatus();
}

absl::Status CommonPjRtLoadedExecutable::CheckShape(size_t index, const BufferType& given) const {
  const Shape& expected = program_->info().parameters[index].shape;
  // A parameter without layout takes any.
  Shape::Equal equal = Shape::Equal().IgnoreMemorySpace().MinorToMajorOnly();
  if (!expected.has_layout()) equal.IgnoreLayout();
  if (!given.shape.is_static() || !expected.is_static() || equal(given.shape, expected)) {
    return absl::OkStatus();
  }
  return InvalidArgument("PJRT-R052", "argument ", index, " of Execute() has unexpected shape ",
                         given.shape.ToString(), "; the program ", program_->info().name,
                         " expects ", expected.ToString());
}

absl::Status CommonPjRtLoadedExecutable::DeadArgument(const Place& place, size_t index) const {
  return InvalidArgument("PJRT-R055", "Invalid buffer passed to Execute() as argument ", index,
                         " to replica ", place.replica, ": Buffer has been deleted or donated.");
}

absl::Status CommonPjRtLoadedExecutable::CheckArguments(const Place& place,
                                                        absl::Span<PjRtBuffer* const> arguments,
                                                        const ExecuteOptions& options,
                                                        bool checks_shapes,
                                                        ArgumentHolds* holds) const {
  if (arguments.size() != parameter_bytes_.size()) {
    return InvalidArgument("PJRT-R054", "Execution supplied ", arguments.size(),
                           " arguments but compiled program expected ", parameter_bytes_.size());
  }
  ClashChecker clashes(arguments.size(), has_donations_);
  for (size_t i = 0; i < arguments.size(); ++i) {
    HeldArgument checked;
    PJRT_RETURN_IF_ERROR(CheckArgument(place, i, arguments[i], options, checks_shapes, &checked));
    PJRT_RETURN_IF_ERROR(clashes.Check(holds->arguments(), checked));
    if (!holds->Add(checked)) return DeadArgument(place, i);
  }
  return absl::OkStatus();
}

absl::StatusOr<const CommonPjRtLoadedExecutable*> CommonPjRtLoadedExecutable::Prepare(
    const Place& place, absl::Span<PjRtBuffer* const> arguments, const ExecuteOptions& options,
    ProgramChoice* choice, ArgumentHolds* holds) const {
  const bool checks_shapes = options.strict_shape_checking && choice == nullptr;
  PJRT_RETURN_IF_ERROR(CheckArguments(place, arguments, options, checks_shapes, holds));
  if (const auto dead = ArgumentHolds::TakeTheRest({&holds, 1}); dead.has_value()) {
    return DeadArgument(place, dead->argument);
  }
  const CommonPjRtLoadedExecutable* program = this;
  if (choice != nullptr) {
    program = choice->among.Find(holds->arguments());
    choice->found_none = program == nullptr;
    if (program == nullptr) return program;
  }
  PJRT_RETURN_IF_ERROR(program->CheckHeldArguments(place, options, choice != nullptr, holds));
  return program;
}

absl::Status CommonPjRtLoadedExecutable::CheckHeldArguments(const Place& place,
                                                            const ExecuteOptions& options,
                                                            bool was_chosen,
                                                            ArgumentHolds* holds) const {
  if (has_donations_) PJRT_RETURN_IF_ERROR(CheckDonations(holds));
  if (!was_chosen) {
    PJRT_RETURN_IF_ERROR(CheckSizes(holds->arguments()));
  } else if (options.strict_shape_checking) {
    PJRT_RETURN_IF_ERROR(CheckShapes(holds->arguments()));
  }
  return has_memory_kinds_ ? CheckMemoryKinds(place, holds->arguments()) : absl::OkStatus();
}

absl::Status CommonPjRtLoadedExecutable::CheckDonations(ArgumentHolds* holds) const {
  const absl::Span<HeldArgument> arguments = holds->arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    HeldArgument& argument = arguments[i];
    if (!argument.is_donated || !argument.buffer->contents().HasExternalReference()) continue;
    if (!client_->limits().copies_when_donation_is_blocked) {
      return InvalidArgument("PJRT-R029", "argument ", i,
                             ": Donation requested for buffer with external reference");
    }
    argument.is_donated = false;
  }
  return absl::OkStatus();
}

absl::Status CommonPjRtLoadedExecutable::CheckSizes(
    absl::Span<const HeldArgument> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const BufferType& type = *arguments[i].buffer->type();
    if (type.bytes == parameter_bytes_[i]) continue;
    // The sizes that a dynamic buffer has behind its elements are no matter to a static parameter.
    const Shape& expected = program_->info().parameters[i].shape;
    if (type.shape.is_dynamic() && expected.is_static() &&
        type.elements_bytes == parameter_bytes_[i]) {
      continue;
    }
    return InvalidArgument(
        "PJRT-R056", "E0102: RuntimeProgramInputMismatch: Executable(", program_->info().name,
        ") expected parameter ", i, " of size ", parameter_bytes_[i], " (", expected.ToString(),
        ") but got buffer with incompatible size ", type.bytes, " (", type.shape.ToString(), ")");
  }
  return absl::OkStatus();
}

absl::Status CommonPjRtLoadedExecutable::CheckShapes(
    absl::Span<const HeldArgument> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    PJRT_RETURN_IF_ERROR(CheckShape(i, *arguments[i].buffer->type()));
  }
  return absl::OkStatus();
}

absl::Status CommonPjRtLoadedExecutable::CheckMemoryKinds(
    const Place& place, absl::Span<const HeldArgument> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& kind = program_->info().parameters[i].memory_kind;
    if (kind.empty() || arguments[i].buffer->common_space()->kind() == kind) continue;
    return InvalidArgument("PJRT-R057", "argument ", i, " for ", place.device->DebugString(),
                           " is in memory of kind ", arguments[i].buffer->common_space()->kind(),
                           "; the program ", program_->info().name, " expects ", kind);
  }
  return absl::OkStatus();
}

// ----- One device -----

CommonPjRtLoadedExecutable::Buffers CommonPjRtLoadedExecutable::ErrorOutputs(
    const Place& place, const Future<>& error) const {
  Buffers outputs;
  outputs.reserve(result_types_.size());
  for (size_t i = 0; i < result_types_.size(); ++i) {
    outputs.push_back(std::make_unique<CommonPjRtBuffer>(place.result_spaces[i], result_types_[i],
                                                         RawBufferRef(), error));
  }
  return outputs;
}

absl::StatusOr<CommonPjRtLoadedExecutable::Buffers> CommonPjRtLoadedExecutable::LaunchNow(
    const Place& place, ArgumentHolds* holds, const ExecuteOptions& options, LaunchMode mode,
    int64_t run_id, absl::Span<const Future<>> after, Future<>* future) const {
  const absl::Span<HeldArgument> arguments = holds->arguments();
  absl::InlinedVector<LaunchInput, 8> inputs(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    RawBuffer* const raw = arguments[i].buffer->contents().memory.get();
    inputs[i] = {raw, arguments[i].is_donated && raw->is_writable()};
  }
  absl::InlinedVector<RawBufferRef, 4> raw_outputs(result_types_.size());
  LaunchArgs args;
  args.program = program_.get();
  args.device = place.device->index();
  args.inputs = inputs;
  args.outputs = absl::MakeSpan(raw_outputs);
  args.mode = mode;
  args.run_id = run_id;
  args.replica = place.replica;
  args.partition = place.partition;
  args.device_assignment = has_assignment() ? device_assignment_.get() : nullptr;
  args.options = &options;
  args.after = after;
  bool was_dispatched = false;
  args.was_dispatched = &was_dispatched;
  Future<> done = client_->backend()->Launch(args);

  const bool is_done = done.IsReady();
  bool has_outputs = true;
  for (const RawBufferRef& raw : raw_outputs) has_outputs &= static_cast<bool>(raw);
  if (is_done && !done.Await().ok() && (!was_dispatched || !has_outputs)) {
    // It started, so what it was given is gone.
    for (HeldArgument& argument : arguments) {
      if (argument.is_donated) (void)holds->Consume(&argument);
    }
    return done.Await();
  }
  if (!has_outputs) {
    return Internal("PJRT-R042", "the backend launched ", program_->info().name,
                    " without providing memory for all results");
  }
  Future<> defined = done;
  if (!is_done) {
    // What the run needs stays alive until it ends, and only then the end is told.
    struct Running {
      std::shared_ptr<const DeviceProgram> program;
      absl::InlinedVector<RawBufferRef, 12> memory;
      LaunchTracker* tracker;
      PromiseOnce<> defined;
      Promise<> ended;
    };
    auto running = std::make_unique<Running>();
    running->program = program_;
    running->tracker = &place.device->launches();
    for (const LaunchInput& input : inputs) running->memory.emplace_back(input.buffer);
    for (const RawBufferRef& raw : raw_outputs) running->memory.push_back(raw);
    Future<> ended;
    std::tie(running->ended, ended) = MakePromise<>();
    ended = FutureHelpers::WithHooksOf(std::move(ended), done);
    defined = ended;
    if (options.launch_id != 0) {
      std::tie(running->defined, defined) = MakePromiseOnce<>();
      defined = FutureHelpers::WithHooksOf(std::move(defined), done);
    }
    running->tracker->Enter(running.get(), options.launch_id, running->defined);
    if (program_->info().has_side_effects) {
      running->tracker->ExchangeStreamEnd(options.execution_stream_id, ended);
    }
    done.OnReady([r = std::move(running)](const absl::Status& status) {
      r->memory.clear();
      r->program.reset();
      r->tracker->Leave(r.get());
      r->defined.Set(status);
      r->ended.Set(status);
    });
    for (const HeldArgument& argument : arguments) {
      if (!argument.is_donated) argument.buffer->AddUsage(ended);
    }
    if (future != nullptr) *future = std::move(ended);
  } else if (future != nullptr) {
    *future = done;
  }
  for (HeldArgument& argument : arguments) {
    if (argument.is_donated) (void)holds->Consume(&argument);
  }
  Buffers outputs;
  outputs.reserve(raw_outputs.size());
  for (size_t i = 0; i < raw_outputs.size(); ++i) {
    outputs.push_back(std::make_unique<CommonPjRtBuffer>(place.result_spaces[i], result_types_[i],
                                                         std::move(raw_outputs[i]), defined));
  }
  return outputs;
}

CommonPjRtLoadedExecutable::Buffers CommonPjRtLoadedExecutable::Defer(
    const Place& place, ArgumentHolds* holds, const ExecuteOptions& options, int64_t run_id,
    PendingLaunch* pending, std::vector<Future<>>* after, Future<>* future) const {
  pending->client = client_;
  pending->device = place.device;
  pending->program = program_;
  pending->assignment = has_assignment() ? device_assignment_ : nullptr;
  pending->options = options;
  pending->mode = options.execution_mode == ExecuteOptions::ExecutionMode::kAsynchronous
                      ? LaunchMode::kAsync
                      : LaunchMode::kBackendDecides;
  pending->run_id = run_id;
  pending->replica = place.replica;
  pending->partition = place.partition;
  Future<> defined;
  Future<> ended;
  std::tie(pending->defined, defined) = MakePromiseOnce<>();
  std::tie(pending->ended, ended) = MakePromise<>();
  LaunchTracker& tracker = place.device->launches();
  tracker.Enter(pending, options.launch_id, pending->defined);
  if (program_->info().has_side_effects) {
    Future<> previous = tracker.ExchangeStreamEnd(options.execution_stream_id, ended);
    if (previous.IsValid() && !previous.IsReady()) after->push_back(WhenSettled(previous));
  }
  for (HeldArgument& argument : holds->arguments()) {
    const BufferContents& contents = argument.buffer->contents();
    if (!contents.definition.IsReady()) after->push_back(contents.definition);
    pending->inputs.push_back(contents.memory);
    pending->donated.push_back(argument.is_donated);
    if (!argument.is_donated) {
      argument.buffer->AddUsage(ended);
      continue;
    }
    const BufferContents consumed = holds->Consume(&argument);
    for (const Future<>& usage : consumed.usages) {
      if (!usage.IsReady()) after->push_back(WhenSettled(usage));
    }
  }
  // Who waits for the results helps with the inputs.
  defined = FutureHelpers::WithHooksOf(std::move(defined), JoinFutures(*after));
  Buffers outputs;
  outputs.reserve(result_types_.size());
  for (size_t i = 0; i < result_types_.size(); ++i) {
    BufferContents contents;
    contents.memory.delayed = std::make_shared<DelayedMemory>();
    contents.definition = defined;
    pending->outputs.push_back(contents.memory.delayed);
    outputs.push_back(std::make_unique<CommonPjRtBuffer>(place.result_spaces[i], result_types_[i],
                                                         std::move(contents)));
  }
  if (future != nullptr) *future = std::move(ended);
  return outputs;
}

absl::StatusOr<std::optional<CommonPjRtLoadedExecutable::Buffers>>
CommonPjRtLoadedExecutable::LaunchHeld(const Place& place, ArgumentHolds* holds,
                                       const ExecuteOptions& options, LaunchMode mode,
                                       int64_t run_id, Future<>* future) const {
  const absl::Span<HeldArgument> arguments = holds->arguments();
  const ArgumentHolds::Readiness readiness = holds->CheckReadiness();
  if (readiness.error.IsValid()) {
    for (HeldArgument& argument : arguments) {
      if (argument.is_donated) (void)holds->Consume(&argument);
    }
    if (future != nullptr) *future = readiness.error;
    return ErrorOutputs(place, readiness.error);
  }
  LaunchTracker& tracker = place.device->launches();
  const ProgramInfo& info = program_->info();
  const bool waits_for_stream =
      info.has_side_effects && tracker.IsStreamBusy(options.execution_stream_id);
  const BackendLimits& limits = client_->limits();

  if (readiness.is_ready && !waits_for_stream) {
    if (mode != LaunchMode::kInline && tracker.IsFull()) {
      // The caller's thread does the work then, which slows it down as waiting would.
      if (mode == LaunchMode::kAsync || limits.queues_work) return std::nullopt;
      mode = LaunchMode::kInline;
    }
    return LaunchNow(place, holds, options, mode, run_id, {}, future);
  }
  if (tracker.IsFull()) return std::nullopt;
  if (limits.queues_work && !waits_for_stream) {
    // The backend waits itself, provided that there is memory to give it.
    std::vector<Future<>> after;
    bool is_allocated = true;
    for (const HeldArgument& argument : arguments) {
      const BufferContents& contents = argument.buffer->contents();
      const MemoryRef& memory = contents.memory;
      is_allocated &= memory.delayed == nullptr || memory.delayed->allocated().IsReady();
      if (!contents.definition.IsReady()) after.push_back(contents.definition);
      if (!argument.is_donated) continue;
      for (const Future<>& usage : contents.usages) after.push_back(WhenSettled(usage));
    }
    if (is_allocated) return LaunchNow(place, holds, options, mode, run_id, after, future);
  }
  auto pending = std::make_shared<PendingLaunch>();
  std::vector<Future<>> after;
  Buffers outputs = Defer(place, holds, options, run_id, pending.get(), &after, future);
  JoinFutures(after).OnReady([launch = std::move(pending)](const absl::Status& status) {
    PendingLaunch::Run({launch}, status, /*as_a_gang=*/false);
  });
  return outputs;
}

absl::StatusOr<CommonPjRtLoadedExecutable::Buffers> CommonPjRtLoadedExecutable::RunOnOne(
    const Place& place, absl::Span<PjRtBuffer* const> arguments, const ExecuteOptions& options,
    LaunchMode mode, int64_t run_id, Future<>* future, ProgramChoice* choice) const {
  while (true) {
    {
      ArgumentHolds holds(client_);
      PJRT_ASSIGN_OR_RETURN(const CommonPjRtLoadedExecutable* const program,
                            Prepare(place, arguments, options, choice, &holds));
      if (program == nullptr) return Buffers();
      PJRT_ASSIGN_OR_RETURN(std::optional<Buffers> outputs,
                            program->LaunchHeld(place, &holds, options, mode, run_id, future));
      if (outputs.has_value()) return *std::move(outputs);
    }
    place.device->launches().WaitForRoom();
  }
}

}  // namespace pjrt
