// SPDX-License-Identifier: Apache-2.0
//
// A workload: a folder with a program, inputs for it, and the outputs that it must give.
//
//   workload.json   {"name": ..., "inputs": [...], "outputs": [...], "rtol": ..., "atol": ...}
//   program.mlir    the program
//   *.npy           arrays that the json names
#ifndef PJRT_TOOLS_PJRT_WORKLOAD_H_
#define PJRT_TOOLS_PJRT_WORKLOAD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/base/literal.h"
#include "pjrt/base/shape.h"
#include "tools/pjrt/fill.h"

namespace pjrt::tool {

struct WorkloadInput {
  Shape shape;
  std::optional<Fill> fill;
  std::string file;  // a path; used without a fill
};

struct WorkloadOutput {
  Shape shape;
  std::string file;         // a path
  int64_t sample_step = 1;  // the file holds the flat elements 0, step, 2 * step, ...
  double rtol = 0, atol = 0;
};

struct Workload {
  std::string name;
  int partitions = 1;
  std::vector<WorkloadInput> inputs;
  std::vector<WorkloadOutput> outputs;
  // The program must load and verify; it can't run on a CPU.
  bool parse_only = false;
  // The outputs are unique only up to sign, phase or order, so that values aren't compared.
  bool is_ambiguous = false;
};

// Reads `folder`/workload.json. INVALID_ARGUMENT [PJRT-T011] for a folder that is no workload or
// whose json isn't understood.
absl::StatusOr<Workload> ReadWorkload(const std::string& folder);

// Makes the inputs.
absl::StatusOr<std::vector<Literal>> MakeInputs(const Workload& workload);

struct Verdict {
  bool ok = true;
  // The largest |got - want| / (atol + rtol * |want|); infinite where NaNs, infinities or integers
  // differ.
  double max_error = 0;
  int64_t mismatches = 0;
  std::string first_mismatch;  // "output 0: element 17: got 1, want 2"
};

// Compares results with the files of expected ones. An element matches when |got - want| <= atol +
// rtol * |want| (complex numbers by modulus); NaN matches NaN, infinities match by sign, integers
// and PRED exactly. INVALID_ARGUMENT when a file can't be read or has another size [PJRT-T012]. A
// wrong number, shape or type of results is a verdict, not an error.
absl::StatusOr<Verdict> CheckOutputs(const Workload& workload,
                                     absl::Span<const LiteralBase* const> results);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_WORKLOAD_H_
