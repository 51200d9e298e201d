// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/measure.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "pjrt/base/future.h"
#include "src/core/base/status_macros.h"

namespace pjrt::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCompilations = 3;
constexpr double kCompileLimitUs = 5e6;
constexpr size_t kMinRuns = 7, kMaxRuns = 1000;
constexpr double kPipelineLimitUs = 1000;  // longer programs aren't measured in flight
constexpr double kBatchUs = 50000;
constexpr size_t kMinBatches = 3, kMaxBatches = 9;
constexpr double kMaxBatchExecutions = 100000;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(middle), values.end());
  if (values.size() % 2 == 1) return values[middle];
  const double above = values[middle];
  return (*std::max_element(values.begin(), values.begin() + static_cast<int64_t>(middle)) +
          above) /
         2;
}

}  // namespace

absl::StatusOr<CompileTimes> MeasureCompile(
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>>()> compile) {
  CompileTimes result;
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  do {
    result.executable.reset();
    const Clock::time_point start = Clock::now();
    PJRT_ASSIGN_OR_RETURN(result.executable, compile());
    times.push_back(MicrosecondsSince(start));
  } while (times.size() < kCompilations && MicrosecondsSince(begin) < kCompileLimitUs);
  result.first_us = times[0];
  result.median_us = Median(std::move(times));
  return result;
}

absl::StatusOr<Measurement> Measurement::Start(PjRtClient* client,
                                               const PjRtLoadedExecutable* executable,
                                               std::vector<Literal> inputs) {
  Measurement result;
  result.client_ = client;
  result.executable_ = executable;
  result.inputs_ = std::move(inputs);
  PJRT_ASSIGN_OR_RETURN(result.arguments_, ToDevice(client, result.inputs_));
  const std::vector<PjRtBuffer*> handles = Handles(result.arguments_);
  const Clock::time_point start = Clock::now();
  PJRT_ASSIGN_OR_RETURN(result.first_outputs_, Execute(*executable, handles));
  PJRT_RETURN_IF_ERROR(AwaitAll(result.first_outputs_));
  result.first_run_us_ = MicrosecondsSince(start);
  for (const PjRtBuffer* argument : handles) {
    result.consumes_ = result.consumes_ || argument->IsDeleted();
  }
  return result;
}

absl::Status Measurement::RenewConsumed(Buffers* arguments) const {
  for (size_t i = 0; i < arguments->size(); ++i) {
    if (!(*arguments)[i]->IsDeleted()) continue;
    PJRT_ASSIGN_OR_RETURN((*arguments)[i], ToDevice(client_, inputs_[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<RunTimes> Measurement::Run(double seconds) {
  std::vector<double> times;
  times.reserve(kMaxRuns);
  const Clock::time_point begin = Clock::now();
  std::vector<PjRtBuffer*> handles = Handles(arguments_);
  while (times.size() < kMinRuns ||
         (times.size() < kMaxRuns && MicrosecondsSince(begin) < seconds * 1e6)) {
    if (consumes_) {
      PJRT_RETURN_IF_ERROR(RenewConsumed(&arguments_));
      handles = Handles(arguments_);
    }
    const Clock::time_point start = Clock::now();
    PJRT_ASSIGN_OR_RETURN(const Buffers outputs, Execute(*executable_, handles));
    PJRT_RETURN_IF_ERROR(AwaitAll(outputs));
    times.push_back(MicrosecondsSince(start));
  }
  RunTimes result;
  result.runs = static_cast<int>(times.size());
  result.least_us = *std::min_element(times.begin(), times.end());
  result.median_us = Median(std::move(times));
  if (result.median_us >= kPipelineLimitUs) return result;

  const int executions = static_cast<int>(
      std::clamp(kBatchUs / std::max(result.median_us, 0.01), 1.0, kMaxBatchExecutions));
  std::vector<double> batches;
  const Clock::time_point pipeline_begin = Clock::now();
  while (batches.size() < kMinBatches ||
         (batches.size() < kMaxBatches && MicrosecondsSince(pipeline_begin) < seconds * 1e6)) {
    PJRT_ASSIGN_OR_RETURN(const double batch_us, RunBatch(executions));
    batches.push_back(batch_us / executions);
  }
  result.pipeline_us = Median(std::move(batches));
  return result;
}

absl::StatusOr<double> Measurement::RunBatch(int executions) {
  // A program that consumes inputs needs a set of them for each execution.
  std::vector<Buffers> sets;
  std::vector<std::vector<PjRtBuffer*>> handles;
  if (consumes_) {
    for (int i = 0; i < executions; ++i) {
      PJRT_ASSIGN_OR_RETURN(sets.emplace_back(), ToDevice(client_, inputs_));
      handles.push_back(Handles(sets.back()));
    }
  } else {
    handles.push_back(Handles(arguments_));
  }
  std::vector<Future<>> ready;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < executions; ++i) {
    PJRT_ASSIGN_OR_RETURN(const Buffers outputs,
                          Execute(*executable_, handles[consumes_ ? static_cast<size_t>(i) : 0]));
    for (const std::unique_ptr<PjRtBuffer>& output : outputs) {
      Future<> future = output->GetReadyFuture();
      if (future.IsReady()) {
        PJRT_RETURN_IF_ERROR(future.Await());
      } else {
        ready.push_back(std::move(future));
      }
    }
  }
  for (const Future<>& future : ready) PJRT_RETURN_IF_ERROR(future.Await());
  return MicrosecondsSince(start);
}

}  // namespace pjrt::tool
