// SPDX-License-Identifier: Apache-2.0
//
// Programs that test themselves: functions without arguments with check.* ops, or custom calls
// @check.*, in them. A device need know nothing of those: each is taken out of the program, and
// what it looks at becomes one more result, which is compared on the host after the program has
// run. Those inside of regions stay, for the device to run.
#ifndef PJRT_TOOLS_PJRT_SELF_TEST_H_
#define PJRT_TOOLS_PJRT_SELF_TEST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/literal.h"
#include "pjrt/ir/module.h"

namespace pjrt::tool {

enum class Comparison { kExact, kAlmostEqual, kUlps };

// One check of a function.
struct Check {
  std::string name;   // "check.expect_eq"
  uint32_t line = 0;  // in the file; 0 when unknown
  Comparison comparison = Comparison::kExact;
  double tolerance = 0;                 // kAlmostEqual
  uint64_t min_ulps = 0, max_ulps = 0;  // kUlps
  size_t got = 0;                       // which result of the program
  size_t want = 0;                      // likewise, without a constant
  std::shared_ptr<const Literal> want_constant;
  // Of a probe: its name, the number of its value, from 0 on, and which result, of s64, says how
  // often it has run; without one it has run often enough.
  std::string probe_id;
  int64_t iteration = 0;
  std::optional<size_t> times;
};

// A value that the function prints.
struct Print {
  std::string type;   // "tensor<2xi32>"
  size_t result = 0;  // which result of the program
};

// A program whose checks are results.
struct SelfTest {
  std::unique_ptr<ir::Module> module;  // has one function to run, called main
  std::vector<Check> checks;
  std::vector<Print> prints;
};

// The functions of `module` to run: those without arguments that others can see (or, where there is
// none, those that they can't see); where all have arguments, the one that runs by itself.
std::vector<std::string> TestFunctions(const ir::Module& module);

// Makes the test of one function out of a verified module. A grid of interpreter.run_parallel that
// has one program is a call of it; interpreter.probe keeps a value that a
// check.expect_serialized_eq behind it is compared with, in the body of a loop one each time.
// UNIMPLEMENTED [PJRT-T014] for a function that takes arguments, for grids of several programs, for
// probes inside of other regions and prints inside of any; INVALID_ARGUMENT [PJRT-T016] for a
// comparison with what was not probed.
absl::StatusOr<SelfTest> MakeSelfTest(const ir::Module& module, absl::string_view function);

// OK when all checks hold of the program's results, otherwise what does not, and where:
// INVALID_ARGUMENT [PJRT-T016] for a comparison with what a loop has not probed.
absl::Status CompareResults(absl::Span<const Check> checks,
                            absl::Span<const std::shared_ptr<Literal>> results);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_SELF_TEST_H_
