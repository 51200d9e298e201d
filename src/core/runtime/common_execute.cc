// SPDX-License-Identifier: Apache-2.0
//
// Execute, ExecuteSharded, ExecutePortable, and launches on several devices.
#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pjrt/base/future_join.h"
#include "pjrt/host_callback.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/pending_launch.h"
#include "src/core/runtime/seen_programs.h"

namespace pjrt {

absl::Status CommonPjRtLoadedExecutable::WithPlace(absl::Status status, const Place& place) const {
  if (status.ok()) return status;
  absl::Status extended(status.code(),
                        absl::StrCat(status.message(), "; while running replica ", place.replica,
                                     " and partition ", place.partition,
                                     " of a replicated computation (other replicas may have failed "
                                     "as well)"));
  status.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { extended.SetPayload(url, payload); });
  return extended;
}

LaunchMode CommonPjRtLoadedExecutable::ModeFor(const ExecuteOptions& options,
                                               bool several_devices) const {
  if (ThisThreadIsInsideHostCallback()) return LaunchMode::kInline;
  switch (options.execution_mode) {
    case ExecuteOptions::ExecutionMode::kSynchronous:
      return LaunchMode::kInline;
    case ExecuteOptions::ExecutionMode::kAsynchronous:
      return LaunchMode::kAsync;
    case ExecuteOptions::ExecutionMode::kDefault:
      break;
  }
  if (several_devices) return LaunchMode::kAsync;
  return client_->options().asynchronous ? LaunchMode::kBackendDecides : LaunchMode::kInline;
}

absl::Status CommonPjRtLoadedExecutable::CheckExecute(const ExecuteOptions& options,
                                                      size_t num_devices) const {
  const auto check_callbacks = [&](const char* what, size_t given) {
    if (given == 0 || given == num_devices) return absl::OkStatus();
    return InvalidArgument("PJRT-R048", "The number of ", what, " callback vectors does not match ",
                           "the number of devices: ", given, ", expected ", num_devices);
  };
  PJRT_RETURN_IF_ERROR(check_callbacks("send", options.send_callbacks.size()));
  PJRT_RETURN_IF_ERROR(check_callbacks("recv", options.recv_callbacks.size()));
  if (!client_->limits().allows_recursion && ThisThreadIsInsideHostCallback()) {
    return InvalidArgument("PJRT-R049",
                           "Execute was called inside a host callback, which this platform doesn't "
                           "allow");
  }
  return absl::OkStatus();
}

// ----- Several devices -----

Future<> CommonPjRtClient::JoinCollective(int64_t run_id, int participants, Promise<>* ended) {
  auto [part, part_ended] = MakePromise<>();
  *ended = std::move(part);
  std::lock_guard<std::mutex> lock(collectives_mutex_);
  const auto [it, is_new] = joining_collectives_.try_emplace(run_id);
  Collective& collective = it->second;
  if (is_new) {
    Future<> all_ended;
    std::tie(collective.all_ended, all_ended) = MakePromise<>();
    collective.previous = std::exchange(last_collective_, std::move(all_ended));
    collective.to_join = participants;
  }
  collective.parts_ended.push_back(std::move(part_ended));
  Future<> previous = collective.previous;
  if (--collective.to_join == 0) {
    // No part has ended yet: this one can't before it is returned.
    JoinFutures(collective.parts_ended)
        .OnReady(
            [all = std::move(collective.all_ended)](const absl::Status&) mutable { all.Set(); });
    joining_collectives_.erase(it);
  }
  return previous;
}

absl::StatusOr<std::vector<CommonPjRtLoadedExecutable::Buffers>>
CommonPjRtLoadedExecutable::RunOnSeveral(absl::Span<const std::vector<PjRtBuffer*>> arguments,
                                         const ExecuteOptions& options,
                                         std::optional<std::vector<Future<>>>& returned_futures,
                                         ProgramChoice* choice) const {
  const size_t n = places_.size();
  const bool checks_shapes = options.strict_shape_checking && choice == nullptr;
  const int64_t run_id = options.launch_id != 0 ? options.launch_id : client_->NextRunId();
  const LaunchMode mode = ModeFor(options, /*several_devices=*/true);
  std::vector<Buffers> results;
  results.reserve(n);
  const auto future_of = [&](size_t i) {
    return returned_futures.has_value() ? &(*returned_futures)[i] : nullptr;
  };
  while (true) {
    // Every device's arguments are checked and held before the first launch.
    std::vector<std::unique_ptr<ArgumentHolds>> holds;
    std::vector<ArgumentHolds*> all_holds;
    for (size_t i = 0; i < n; ++i) {
      holds.push_back(std::make_unique<ArgumentHolds>(client_));
      all_holds.push_back(holds.back().get());
      PJRT_RETURN_IF_ERROR(WithPlace(
          CheckArguments(places_[i], arguments[i], options, checks_shapes, all_holds.back()),
          places_[i]));
    }
    if (const auto dead = ArgumentHolds::TakeTheRest(all_holds); dead.has_value()) {
      const Place& place = places_[dead->launch];
      return WithPlace(DeadArgument(place, dead->argument), place);
    }
    const CommonPjRtLoadedExecutable* program = this;
    if (choice != nullptr) {
      program = choice->among.FindForAll(all_holds);
      choice->found_none = program == nullptr;
      if (program == nullptr) return results;
    }
    for (size_t i = 0; i < n; ++i) {
      PJRT_RETURN_IF_ERROR(WithPlace(
          program->CheckHeldArguments(places_[i], options, choice != nullptr, all_holds[i]),
          places_[i]));
    }
    LaunchTracker* full = nullptr;
    for (const Place& place : places_) {
      if (mode != LaunchMode::kInline && place.device->launches().IsFull()) {
        full = &place.device->launches();
      }
    }
    if (full != nullptr) {
      holds.clear();
      full->WaitForRoom();
      continue;
    }
    if (!program_->info().has_collectives) {
      for (size_t i = 0; i < n; ++i) {
        absl::StatusOr<std::optional<Buffers>> launched =
            program->LaunchHeld(places_[i], holds[i].get(), options, mode, run_id, future_of(i));
        if (launched.ok() && !launched->has_value()) {
          // Filled up since we looked; this device's arguments alone are given back.
          holds[i].reset();
          launched = program->RunOnOne(places_[i], arguments[i], options, mode, run_id,
                                       future_of(i), /*choice=*/nullptr);
        }
        if (!launched.ok()) return WithPlace(launched.status(), places_[i]);
        holds[i].reset();
        results.push_back(**std::move(launched));
      }
      return results;
    }
    // Participants wait for each other while they run, so they start together, when the inputs of
    // all of them are there, and never beside another such launch.
    std::vector<std::shared_ptr<PendingLaunch>> launches;
    std::vector<Future<>> after;
    for (size_t i = 0; i < n; ++i) {
      auto launch = std::make_shared<PendingLaunch>();
      const ArgumentHolds::Readiness readiness = holds[i]->CheckReadiness();
      if (readiness.error.IsValid()) after.push_back(readiness.error);
      results.push_back(program->Defer(places_[i], holds[i].get(), options, run_id, launch.get(),
                                       &after, future_of(i)));
      holds[i].reset();
      launch->mode = mode;
      Future<> previous =
          client_->JoinCollective(run_id, static_cast<int>(n), &launch->collective_ended);
      if (!previous.IsReady()) after.push_back(std::move(previous));
      launches.push_back(std::move(launch));
    }
    JoinFutures(after).OnReady([l = std::move(launches)](const absl::Status& status) {
      PendingLaunch::Run(l, status, /*as_a_gang=*/true);
    });
    return results;
  }
}

// ----- The public entries -----

absl::StatusOr<std::vector<CommonPjRtLoadedExecutable::Buffers>>
CommonPjRtLoadedExecutable::Execute(absl::Span<const std::vector<PjRtBuffer*>> argument_handles,
                                    const ExecuteOptions& options,
                                    std::optional<std::vector<Future<>>>& returned_futures) const {
  const auto run = [&]() -> absl::StatusOr<std::vector<Buffers>> {
    PJRT_RETURN_IF_ERROR(CheckLists("Execute", argument_handles.size()));
    return ExecuteLists(argument_handles, options, returned_futures, /*choice=*/nullptr);
  };
  absl::StatusOr<std::vector<Buffers>> results = run();
  if (!results.ok() && returned_futures.has_value()) returned_futures->clear();
  return results;
}

absl::StatusOr<std::vector<CommonPjRtLoadedExecutable::Buffers>>
CommonPjRtLoadedExecutable::ExecuteLists(
    absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
    std::optional<std::vector<Future<>>>& returned_futures, ProgramChoice* choice) const {
  const size_t n = places_.size();
  PJRT_RETURN_IF_ERROR(CheckExecute(options, n));
  if (returned_futures.has_value()) returned_futures->assign(n, Future<>());
  if (n != 1) return RunOnSeveral(argument_handles, options, returned_futures, choice);
  const int64_t run_id = options.launch_id != 0 ? options.launch_id : client_->NextRunId();
  PJRT_ASSIGN_OR_RETURN(
      Buffers outputs,
      RunOnOne(places_[0], argument_handles[0], options, ModeFor(options, false), run_id,
               returned_futures.has_value() ? &returned_futures->front() : nullptr, choice));
  std::vector<Buffers> results;
  results.push_back(std::move(outputs));
  return results;
}

absl::StatusOr<CommonPjRtLoadedExecutable::Buffers> CommonPjRtLoadedExecutable::ExecuteSharded(
    absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
    const ExecuteOptions& options, std::optional<Future<>>& returned_future,
    bool fill_future) const {
  return ExecuteOnDevice(argument_handles, device, options, returned_future, fill_future,
                         /*choice=*/nullptr);
}

absl::StatusOr<CommonPjRtLoadedExecutable::Buffers> CommonPjRtLoadedExecutable::ExecutePortable(
    absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
    const ExecuteOptions& options, std::optional<Future<>>& returned_future,
    bool fill_future) const {
  return ExecuteAnywhere(argument_handles, device, options, returned_future, fill_future,
                         /*choice=*/nullptr);
}

absl::StatusOr<CommonPjRtLoadedExecutable::Buffers> CommonPjRtLoadedExecutable::ExecuteOnDevice(
    absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
    const ExecuteOptions& options, std::optional<Future<>>& returned_future, bool fill_future,
    ProgramChoice* choice) const {
  returned_future.reset();
  PJRT_RETURN_IF_ERROR(CheckAssigned("ExecuteSharded"));
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& p) { return p.device == device; });
  if (place == places_.end()) {
    return InvalidArgument("PJRT-R061", "ExecuteSharded attempted to execute on ",
                           device == nullptr ? "null" : device->DebugString(),
                           ", which isn't among the devices of ", name());
  }
  PJRT_RETURN_IF_ERROR(CheckExecute(options, 1));
  const bool is_collective = program_->info().has_collectives && places_.size() > 1;
  if (is_collective && options.launch_id == 0) {
    return InvalidArgument("PJRT-R062", "ExecuteSharded of ", name(), ", whose ", places_.size(),
                           " devices exchange data, needs a launch_id that all of them share");
  }
  const int64_t run_id = options.launch_id != 0 ? options.launch_id : client_->NextRunId();
  Future<> future;
  const LaunchMode mode = ModeFor(options, places_.size() > 1);
  if (!is_collective) {
    PJRT_ASSIGN_OR_RETURN(Buffers outputs, RunOnOne(*place, argument_handles, options, mode, run_id,
                                                    fill_future ? &future : nullptr, choice));
    if (fill_future) returned_future = std::move(future);
    return outputs;
  }
  ArgumentHolds holds(client_);
  PJRT_ASSIGN_OR_RETURN(const CommonPjRtLoadedExecutable* const program,
                        Prepare(*place, argument_handles, options, choice, &holds));
  if (program == nullptr) return Buffers();
  auto launch = std::make_shared<PendingLaunch>();
  std::vector<Future<>> after;
  const ArgumentHolds::Readiness readiness = holds.CheckReadiness();
  if (readiness.error.IsValid()) after.push_back(readiness.error);
  Buffers outputs = program->Defer(*place, &holds, options, run_id, launch.get(), &after, &future);
  holds.Release();
  launch->mode = mode;
  after.push_back(
      client_->JoinCollective(run_id, static_cast<int>(places_.size()), &launch->collective_ended));
  JoinFutures(after).OnReady([l = std::move(launch)](const absl::Status& status) {
    PendingLaunch::Run({l}, status, /*as_a_gang=*/false);
  });
  if (fill_future) returned_future = std::move(future);
  return outputs;
}

absl::StatusOr<CommonPjRtLoadedExecutable::Buffers> CommonPjRtLoadedExecutable::ExecuteAnywhere(
    absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
    const ExecuteOptions& options, std::optional<Future<>>& returned_future, bool fill_future,
    ProgramChoice* choice) const {
  returned_future.reset();
  PJRT_RETURN_IF_ERROR(CheckAlive("ExecutePortable"));
  if (has_assignment() && (num_replicas() != 1 || num_partitions() != 1)) {
    return InvalidArgument("PJRT-R063", "ExecutePortable expects a portable executable; ", name(),
                           " has ", num_replicas(), " replicas and ", num_partitions(),
                           " partitions");
  }
  if (has_assignment()) {
    return InvalidArgument("PJRT-R063", "ExecutePortable gets a non-portable executable: ", name());
  }
  PJRT_ASSIGN_OR_RETURN(CommonDevice * common_device,
                        client_->CheckDevice(device, "ExecutePortable"));
  PJRT_RETURN_IF_ERROR(CheckExecute(options, 1));
  Place place;
  place.device = common_device;
  PJRT_RETURN_IF_ERROR(ResolveResultSpaces(&place));
  const int64_t run_id = options.launch_id != 0 ? options.launch_id : client_->NextRunId();
  Future<> future;
  PJRT_ASSIGN_OR_RETURN(Buffers outputs,
                        RunOnOne(place, argument_handles, options, ModeFor(options, false), run_id,
                                 fill_future ? &future : nullptr, choice));
  if (fill_future) returned_future = std::move(future);
  return outputs;
}

}  // namespace pjrt
