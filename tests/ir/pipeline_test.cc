// SPDX-License-Identifier: Apache-2.0
//
// StandardPasses and RunPasses.
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

TEST(PipelineTest, PassesHaveNamesOfTheirOwnAndSayWhatTheyDo) {
  std::set<std::string> names;
  for (const Pass& pass : StandardPasses()) {
    EXPECT_TRUE(names.insert(std::string(pass.name)).second) << pass.name;
    EXPECT_FALSE(pass.summary.empty()) << pass.name;
  }
}

TEST(PipelineTest, TheWholePipelineLeavesOneFunctionWithoutCallsAndCopies) {
  ExpectBecomes([](Module* module) { EXPECT_TRUE(RunPasses(module, StandardPasses()).ok()); }, R"(
func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  %3 = stablehlo.add %0, %1 : tensor<4xf32>
  %4 = stablehlo.add %3, %2 : tensor<4xf32>
  %5 = stablehlo.sine %4 : tensor<4xf32>
  return %4 : tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.add %0, %0 : tensor<4xf32>
  %2 = stablehlo.add %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
})");
}

TEST(PipelineTest, TheFirstErrorEndsIt) {
  const std::unique_ptr<Module> module = MustParse("func.func @main() { return }");
  static int runs = 0;
  const auto fail = [](Module*, const PassOptions&) { return ++runs, absl::InternalError("no"); };
  const Pass passes[] = {{"a", "fails", +fail}, {"b", "is not reached", +fail}};
  EXPECT_EQ(RunPasses(module.get(), passes).message(), "no");
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace pjrt::ir
