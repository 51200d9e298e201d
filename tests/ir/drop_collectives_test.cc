// SPDX-License-Identifier: Apache-2.0
//
// DropCollectives: what a device that is alone exchanges with itself.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// A program of one collective on tensor<4xf32>, before `: type`.
std::string Program(absl::string_view collective) {
  return absl::StrCat("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = ", collective,
                      " : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n");
}

constexpr char kSum[] = R"(({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }))";

TEST(DropCollectivesTest, ADeviceAloneKeepsWhatItHas) {
  const std::string alone = "replica_groups = dense<0> : tensor<1x1xi64>";
  const std::string all = "replica_groups = dense<> : tensor<0x0xi64>";
  for (const std::string& op : {
           absl::StrCat(R"("stablehlo.all_reduce"(%x) )", kSum, " {", alone, "}"),
           absl::StrCat(R"("stablehlo.all_reduce"(%x) )", kSum, " {", all, "}"),
           absl::StrCat(R"("stablehlo.reduce_scatter"(%x) )", kSum,
                        " {scatter_dimension = 0 : i64, ", alone, "}"),
           absl::StrCat(R"("stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, )", alone, "}"),
           absl::StrCat(R"("stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, )",
                        "concat_dimension = 0 : i64, split_count = 1 : i64, ", alone, "}"),
           absl::StrCat(R"("stablehlo.collective_broadcast"(%x) {)", alone, "}"),
           std::string(R"("stablehlo.collective_permute"(%x) )"
                       "{source_target_pairs = dense<0> : tensor<1x2xi64>}"),
           absl::StrCat(R"("stablehlo.cross-replica-sum"(%x) {)", alone, "}"),
       }) {
    ExpectBecomes(DropCollectives, Program(op),
                  "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                  "  return %x : tensor<4xf32>\n}\n");
  }
}

TEST(DropCollectivesTest, MovingPartsOfAnArrayKeepsIt) {
  for (const char* op : {
           R"(sdy.all_gather [{"x"}] %x out_sharding=<@mesh, [{}]>)",
           R"(sdy.all_slice [{"x"}] %x out_sharding=<@mesh, [{"x"}]>)",
           R"(sdy.all_reduce {"x"} %x out_sharding=<@mesh, [{}]>)",
           R"(sdy.reduce_scatter [{"x"}] %x out_sharding=<@mesh, [{"x"}]>)",
           R"(sdy.collective_permute %x out_sharding=<@mesh, [{"x"}]>)",
       }) {
    const std::string mesh = "sdy.mesh @mesh = <[\"x\"=1]>\n";
    ExpectBecomes(
        DropCollectives,
        absl::StrCat(mesh, "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = ", op,
                     " : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"),
        absl::StrCat(mesh, "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n",
                     "  return %x : tensor<4xf32>\n}\n"));
  }
}

TEST(DropCollectivesTest, WhatNobodySendsToIsZero) {
  for (
      const char* op : {
          R"("stablehlo.collective_permute"(%x) {source_target_pairs = dense<> : tensor<0x2xi64>})",
          R"("stablehlo.collective_broadcast"(%x) {replica_groups = dense<> : tensor<0x0xi64>})",
      }) {
    ExpectBecomes(DropCollectives, Program(op),
                  "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                  "  %0 = stablehlo.constant dense<0.0> : tensor<4xf32>\n"
                  "  return %0 : tensor<4xf32>\n}\n");
  }
}

TEST(DropCollectivesTest, ExchangesWithOthersStay) {
  for (const std::string& op : {
           absl::StrCat(R"("stablehlo.all_reduce"(%x) )", kSum,
                        " {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}"),
           absl::StrCat(R"("stablehlo.all_reduce"(%x) )", kSum,
                        " {replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}"),
           std::string(R"("stablehlo.collective_permute"(%x) )"
                       "{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}"),
       }) {
    ExpectBecomes(DropCollectives, Program(op), Program(op));
  }
}

TEST(DropCollectivesTest, ThePipelineAsksWhetherTheDeviceIsAlone) {
  const std::string text = Program(
      R"("stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>})");
  for (const bool alone : {false, true}) {
    PassOptions options;
    options.one_device = alone;
    const std::string after = After(
        [&](Module* module) { EXPECT_TRUE(RunPasses(module, StandardPasses(), options).ok()); },
        text);
    EXPECT_EQ(after.find("all_gather") == std::string::npos, alone) << after;
  }
}

}  // namespace
}  // namespace pjrt::ir
