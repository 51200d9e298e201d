// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/fusion.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {
namespace {

std::unique_ptr<ir::Module> Parse(absl::string_view text) {
  auto module = ir::ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : nullptr;
}

// The units of the entry function: "add multiply | dot_general | reduce".
std::string Units(const ir::Module& module, bool fuse = true) {
  std::string text;
  for (const Unit& unit : PlanUnits(*module.EntryFunction().body(), fuse)) {
    std::string names;
    for (const ir::Op* op : unit.ops) {
      const std::string name(op->name().substr(op->name().find('.') + 1));
      if (name != "constant" && name != "broadcast_in_dim")
        absl::StrAppend(&names, names.empty() ? "" : " ", name);
    }
    if (!names.empty()) absl::StrAppend(&text, text.empty() ? "" : " | ", names);
  }
  return text;
}

constexpr char kThreeOps[] = R"(
  func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = stablehlo.add %x, %y : tensor<4096xf32>
    %1 = stablehlo.multiply %0, %x : tensor<4096xf32>
    %2 = stablehlo.exponential %1 : tensor<4096xf32>
    return %2 : tensor<4096xf32>
  })";

TEST(FusionTest, AChainIsOneLoop) {
  EXPECT_EQ(Units(*Parse(kThreeOps)), "add multiply exponential");
}

TEST(FusionTest, WithoutFusionEveryOpIsALoop) {
  EXPECT_EQ(Units(*Parse(kThreeOps), false), "add | multiply | exponential");
}

TEST(FusionTest, AReductionTakesInWhatItReduces) {
  EXPECT_EQ(Units(*Parse(R"(
    func.func @main(%x: tensor<64x512xf32>) -> tensor<64xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.multiply %x, %x : tensor<64x512xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
      return %1 : tensor<64xf32>
    })")),
            "multiply reduce");
}

TEST(FusionTest, WhatAReductionGivesIsReadByAnotherLoop) {
  // softmax: the sum is needed before the division begins.
  EXPECT_EQ(Units(*Parse(R"(
    func.func @main(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.exponential %x : tensor<64x512xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x512xf32>, tensor<f32>) -> tensor<64xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<64xf32>) -> tensor<64x512xf32>
      %3 = stablehlo.divide %0, %2 : tensor<64x512xf32>
      return %3 : tensor<64x512xf32>
    })")),
            "exponential reduce | divide");
}

TEST(FusionTest, AProductStandsAlone) {
  EXPECT_EQ(Units(*Parse(R"(
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.tanh %x : tensor<64x64xf32>
      %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = stablehlo.add %1, %0 : tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    })")),
            "tanh | dot_general | add");
}

TEST(FusionTest, LoopsThatReadTheSameArrayAreOne) {
  EXPECT_EQ(Units(*Parse(R"(
    func.func @main(%x: tensor<100000xf32>) -> (tensor<100000xf32>, tensor<100000xf32>) {
      %0 = stablehlo.sine %x : tensor<100000xf32>
      %1 = stablehlo.cosine %x : tensor<100000xf32>
      return %0, %1 : tensor<100000xf32>, tensor<100000xf32>
    })")),
            "sine cosine");
}

TEST(FusionTest, LoopsThatShareNothingStayApart) {
  EXPECT_EQ(Units(*Parse(R"(
    func.func @main(%x: tensor<100000xf32>, %y: tensor<100000xf32>) -> (tensor<100000xf32>, tensor<100000xf32>) {
      %0 = stablehlo.sine %x : tensor<100000xf32>
      %1 = stablehlo.cosine %y : tensor<100000xf32>
      return %0, %1 : tensor<100000xf32>, tensor<100000xf32>
    })")),
            "sine | cosine");
}

// The op that stands in `block` and holds, or is, `op`; null when it is elsewhere.
const ir::Op* TopLevel(const ir::Op* op, const ir::Block& block) {
  while (op != nullptr && op->block() != &block) op = op->parent();
  return op;
}

TEST(FusionTest, UnitsHoldEveryOpOnceBehindWhatItReads) {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const RandomProgram program(seed, 30);
    const std::unique_ptr<ir::Module> module = Parse(program.text());
    ASSERT_NE(module, nullptr);
    const ir::Block& block = *module->EntryFunction().body();
    for (bool fuse : {false, true}) {
      std::set<const ir::Op*> done;
      for (const Unit& unit : PlanUnits(block, fuse)) {
        EXPECT_TRUE(fuse || unit.ops.size() == 1);
        for (const ir::Op* op : unit.ops) {
          ForEachInput(*op, [&](ir::Value* value) {
            const ir::Op* definer = TopLevel(value->defining_op(), block);
            if (definer != nullptr && value->defining_op()->block() == &block) {
              EXPECT_TRUE(done.count(definer) == 1)
                  << "seed " << seed << ": " << op->name() << " reads " << definer->name() << "\n"
                  << program.text();
            }
          });
          EXPECT_TRUE(done.insert(op).second);
        }
      }
      size_t count = 0;
      for (const ir::Op* op : block) count += op->IsTerminator() ? 0 : 1;
      EXPECT_EQ(done.size(), count);
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
