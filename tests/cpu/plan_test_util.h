// SPDX-License-Identifier: Apache-2.0
//
// What programs are compiled to.
#ifndef PJRT_TESTS_CPU_PLAN_TEST_UTIL_H_
#define PJRT_TESTS_CPU_PLAN_TEST_UTIL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"
#include "src/cpu_device/compile/compiler.h"

namespace pjrt::cpu {

// Calls `look` with the plan of a program.
template <typename Look>
void CompilePlan(absl::string_view text, Look look) {
  auto module = ir::ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  auto kernels = ChooseKernels();
  ASSERT_TRUE(kernels.ok());
  const std::unique_ptr<LoopEngine> engine = MakeBlockEngine(**kernels);
  auto compiled = CompileModule(*std::move(module), {}, **kernels, *engine, {});
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  look(compiled->plan);
}

// The steps of a program, one a line.
inline std::vector<std::string> StepsOf(absl::string_view text) {
  std::vector<std::string> lines;
  CompilePlan(text, [&](const Plan& plan) {
    for (const std::unique_ptr<Step>& step : plan.steps) lines.push_back(step->Describe());
  });
  return lines;
}

inline double CostOf(absl::string_view text) {
  double cost = 0;
  CompilePlan(text, [&](const Plan& plan) { cost = plan.cost_ns; });
  return cost;
}

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_PLAN_TEST_UTIL_H_
