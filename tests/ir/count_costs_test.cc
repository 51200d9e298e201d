// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/count_costs.h"

#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"

namespace pjrt::ir {
namespace {

Costs CostsOf(absl::string_view text) {
  auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? CountCosts(**module) : Costs();
}

TEST(CountCostsTest, ProductsTakeTwoOperationsATerm) {
  const Costs costs = CostsOf(R"(
    func.func @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x3x5xf32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
          : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
      return %0 : tensor<2x3x5xf32>
    })");
  EXPECT_EQ(costs.flops, 2 * 30 * 4);
  EXPECT_EQ(costs.transcendentals, 0);
  EXPECT_EQ(costs.bytes_accessed, 4 * (24 + 40 + 30));
}

TEST(CountCostsTest, ConvolutionsTakeTwoOperationsForEachElementOfAFeaturesKernel) {
  EXPECT_EQ(CostsOf(R"(
    func.func @main(%x: tensor<1x8x6xf32>, %k: tensor<3x2x9xf32>) -> tensor<1x6x9xf32> {
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
          {batch_group_count = 1 : i64, feature_group_count = 3 : i64}
          : (tensor<1x8x6xf32>, tensor<3x2x9xf32>) -> tensor<1x6x9xf32>
      return %0 : tensor<1x6x9xf32>
    })")
                .flops,
            2 * 6 * 9 * 6);
}

TEST(CountCostsTest, ElementsAndWhatIsFoldedCountOnceEach) {
  const Costs costs = CostsOf(R"(
    func.func @main(%x: tensor<10x7xf16>) -> tensor<10xf16> {
      %zero = stablehlo.constant dense<0.0> : tensor<f16>
      %0 = stablehlo.exponential %x : tensor<10x7xf16>
      %1 = stablehlo.add %0, %x : tensor<10x7xf16>
      %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<10x7xf16>) -> tensor<7x10xf16>
      %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<7x10xf16>, tensor<f16>) -> tensor<10xf16>
      return %3 : tensor<10xf16>
    })");
  EXPECT_EQ(costs.flops, 70 + 60);
  EXPECT_EQ(costs.transcendentals, 70);
  EXPECT_EQ(costs.bytes_accessed, 2 * (70 + 10));
}

TEST(CountCostsTest, NothingCostsNothing) {
  const Costs costs = CostsOf("func.func @main() { return }");
  EXPECT_EQ(costs.flops, 0);
  EXPECT_EQ(costs.bytes_accessed, 0);
}

}  // namespace
}  // namespace pjrt::ir
