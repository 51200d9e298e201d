// SPDX-License-Identifier: Apache-2.0
//
// How long compiling and executing a program takes.
#ifndef PJRT_TOOLS_PJRT_MEASURE_H_
#define PJRT_TOOLS_PJRT_MEASURE_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "pjrt/base/literal.h"
#include "pjrt/client.h"
#include "pjrt/executable.h"
#include "tools/pjrt/execution.h"

namespace pjrt::tool {

// Times are in microseconds.
struct CompileTimes {
  std::unique_ptr<PjRtLoadedExecutable> executable;  // of the last compilation
  double first_us = 0;
  double median_us = 0;
};

// Compiles three times, but begins none after five seconds.
absl::StatusOr<CompileTimes> MeasureCompile(
    absl::FunctionRef<absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>>()> compile);

struct RunTimes {
  int runs = 0;
  double median_us = 0, least_us = 0;  // one execution, its outputs awaited
  double pipeline_us = 0;              // an execution of many in flight; 0 when not measured
};

// Executes a program again and again. Inputs are on the device before the clock starts; those that
// the program consumes are made anew outside of the timed part, and outputs are dropped there.
class Measurement {
 public:
  // Executes once. `client` and `executable` must outlive the result.
  static absl::StatusOr<Measurement> Start(PjRtClient* client,
                                           const PjRtLoadedExecutable* executable,
                                           std::vector<Literal> inputs);

  double first_run_us() const { return first_run_us_; }
  const Buffers& first_outputs() const { return first_outputs_; }
  void DropFirstOutputs() { first_outputs_.clear(); }

  // 7 to 1000 executions, within `seconds` if that allows 7; then, for a program under a
  // millisecond, batches of about 50 ms in flight.
  absl::StatusOr<RunTimes> Run(double seconds);

 private:
  Measurement() = default;
  absl::Status RenewConsumed(Buffers* arguments) const;
  absl::StatusOr<double> RunBatch(int executions);

  PjRtClient* client_ = nullptr;
  const PjRtLoadedExecutable* executable_ = nullptr;
  std::vector<Literal> inputs_;
  Buffers arguments_;
  bool consumes_ = false;  // whether the program is given some of its inputs for good
  Buffers first_outputs_;
  double first_run_us_ = 0;
};

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_MEASURE_H_
