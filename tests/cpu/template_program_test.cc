// SPDX-License-Identifier: Apache-2.0
//
// Programs with dynamic shapes, and exports for several platforms, on the CPU device: what is
// refused when they are compiled, what is kept of them, and what the application claims.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/compile_options.h"
#include "pjrt/cpu/custom_call_bind.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;

void ExpectUnimplemented(const absl::Status& status, const std::vector<std::string>& pieces) {
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  for (const std::string& piece : pieces)
    EXPECT_TRUE(absl::StrContains(status.message(), piece)) << "no " << piece << " in " << status;
}

// ----- Refusals -----

TEST(TemplateProgramTest, ALoopThatChangesShapesIsRefusedWhenCompiled) {
  const auto executable = CompileText(OneThreadClient(), R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<?xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %twice = stablehlo.concatenate %v, %v, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        stablehlo.return %next, %twice : tensor<i32>, tensor<?xf32>
      }
      return %r#1 : tensor<?xf32>
    })");
  ExpectUnimplemented(executable.status(),
                      {"[PJRT-I032]", "stablehlo.while", "carried value 1", "tensor<2xf32>"});
}

TEST(TemplateProgramTest, ALoopMayChangeShapesThatNothingNeeds) {
  PjRtClient& client = OneThreadClient();
  const auto executable = CompileText(client, R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:3 = stablehlo.while(%v = %x, %i = %zero, %w = %x) : tensor<?xf32>, tensor<i32>, tensor<?xf32>
      cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %longer = stablehlo.concatenate %v, %w, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        %twice = stablehlo.add %w, %w : tensor<?xf32>
        stablehlo.return %longer, %next, %twice : tensor<?xf32>, tensor<i32>, tensor<?xf32>
      }
      return %r#2 : tensor<?xf32>
    })");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({2}, {1.0f, 3.0f});
  const auto result = RunLoadedOne<float>(client, **executable, {&x});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(*result, ElementsAre(8.0f, 24.0f));
}

constexpr char kBranches[] = R"(
  func.func @main(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %r = "stablehlo.if"(%p) ({
      $0
      stablehlo.return %a : tensor<?xf32>
    }, {
      stablehlo.return %y : tensor<?xf32>
    }) : (tensor<i1>) -> tensor<?xf32>
    return %r : tensor<?xf32>
  })";

TEST(TemplateProgramTest, BranchesOfDifferentShapesAreRefusedWhenCompiled) {
  const auto executable =
      CompileText(OneThreadClient(),
                  absl::Substitute(kBranches,
                                   "%a = stablehlo.concatenate %y, %y, dim = 0 : (tensor<?xf32>, "
                                   "tensor<?xf32>) -> tensor<?xf32>"));
  ExpectUnimplemented(executable.status(),
                      {"[PJRT-I032]", "stablehlo.if", "tensor<4xf32>", "tensor<2xf32>"});
}

TEST(TemplateProgramTest, BranchesOfShapesThatMayAgreeRunWhereTheyDo) {
  PjRtClient& client = OneThreadClient();
  const auto executable =
      CompileText(client, absl::Substitute(kBranches, "%a = stablehlo.negate %x : tensor<?xf32>"));
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal yes = Preds({}, {1}), no = Preds({}, {0});
  const Literal x = Array<float>({3}, {1, 2, 3}), y = Array<float>({3}, {4, 5, 6});
  const Literal longer = Array<float>({4}, {4, 5, 6, 7});
  EXPECT_THAT(*RunLoadedOne<float>(client, **executable, {&yes, &x, &y}), ElementsAre(-1, -2, -3));
  EXPECT_THAT(*RunLoadedOne<float>(client, **executable, {&no, &x, &y}), ElementsAre(4, 5, 6));
  ExpectUnimplemented(RunLoadedOne<float>(client, **executable, {&yes, &x, &longer}).status(),
                      {"[PJRT-I032]", "stablehlo.if", "tensor<4xf32>", "tensor<3xf32>"});
}

TEST(TemplateProgramTest, WhatTheDeviceCannotRunIsRefusedWhenCompiled) {
  const auto executable = CompileText(OneThreadClient(), R"(
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %0 = stablehlo.custom_call @nobody_knows_me(%x) {
        indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    })");
  EXPECT_EQ(executable.status().code(), absl::StatusCode::kUnimplemented) << executable.status();
}

TEST(TemplateProgramTest, AssertionsOnSizesDoNotKeepAProgramFromBeingCompiled) {
  PjRtClient& client = OneThreadClient();
  // Of 6 rows or more, and no other choice of sizes.
  const auto executable = CompileText(client, R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %6 = stablehlo.constant dense<600> : tensor<i32>
      %ok = stablehlo.compare GE, %n, %6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "too few: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
      %0 = stablehlo.negate %x : tensor<?xf32>
      return %0 : tensor<?xf32>
    })");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal few = Array<float>({2}, {1, 2});
  const Literal many = Array<float>({600}, std::vector<float>(600, 1.f));
  EXPECT_TRUE(RunLoadedOne<float>(client, **executable, {&many}).ok());
  const absl::Status status = RunLoadedOne<float>(client, **executable, {&few}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "too few: 2")) << status;
}

// ----- Exports for several platforms -----

// Platform 1 is the one that this device can run.
constexpr char kPlatforms[] = R"(
  func.func @main(%p: tensor<$1> {jax.global_constant = "_platform_index"}, %x: tensor<$0xf32>) -> tensor<$0xf32> {
    %i = stablehlo.convert %p : (tensor<$1>) -> tensor<i32>
    %0 = call @inner(%i, %x) : (tensor<i32>, tensor<$0xf32>) -> tensor<$0xf32>
    return %0 : tensor<$0xf32>
  }
  func.func private @inner(%p: tensor<i32>, %x: tensor<$0xf32>) -> tensor<$0xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %i = "stablehlo.case"(%p) ({
      stablehlo.return %zero : tensor<i32>
    }, {
      stablehlo.return %one : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %r = "stablehlo.case"(%i) ({
      %a = stablehlo.custom_call @only_on_another_device(%x) : (tensor<$0xf32>) -> tensor<$0xf32>
      stablehlo.return %a : tensor<$0xf32>
    }, {
      %a = stablehlo.negate %x : tensor<$0xf32>
      stablehlo.return %a : tensor<$0xf32>
    }) : (tensor<i32>) -> tensor<$0xf32>
    return %r : tensor<$0xf32>
  })";

TEST(TemplateProgramTest, ThePlatformsIndexChoosesWhatIsCompiled) {
  PjRtClient& client = OneThreadClient();
  const Literal x = Array<float>({2}, {1, 2});
  // The index is of the width of the exporter's default integers.
  const Literal narrow[] = {Scalar<int32_t>(0), Scalar<int32_t>(1)};
  const Literal wide[] = {Scalar<int64_t>(0), Scalar<int64_t>(1)};
  for (const char* size : {"2", "?"}) {
    for (const char* type : {"i32", "i64"}) {
      const Literal* const index = type == std::string("i32") ? narrow : wide;
      const auto executable = CompileText(client, absl::Substitute(kPlatforms, size, type));
      ASSERT_TRUE(executable.ok()) << executable.status();
      for (int round = 0; round < 2; ++round) {
        const auto negated = RunLoadedOne<float>(client, **executable, {&index[1], &x});
        ASSERT_TRUE(negated.ok()) << negated.status();
        EXPECT_THAT(*negated, ElementsAre(-1, -2));
        EXPECT_FALSE(RunLoadedOne<float>(client, **executable, {&index[0], &x}).ok());
      }
    }
  }
}

// ----- What is known and kept of a template -----

constexpr char kNegate[] = R"(
  module @negation {
    func.func @main(%x: tensor<?x2xf32> {mhlo.sharding = "{replicated}"}) -> tensor<?x2xf32> {
      %0 = stablehlo.negate %x : tensor<?x2xf32>
      return %0 : tensor<?x2xf32>
    }
  })";

TEST(TemplateProgramTest, ASerializedTemplateServesAnySizeOnceItIsRead) {
  PjRtClient& client = OneThreadClient();
  const auto executable = CompileText(client, kNegate);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({1, 2}, {1, 2}), y = Array<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(*RunLoadedOne<float>(client, **executable, {&x}), ElementsAre(-1, -2));
  const auto bytes = (*executable)->SerializeExecutable();
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, *(*executable)->SerializeExecutable());
  const auto read = client.LoadSerializedExecutable(*bytes, std::nullopt, LoadOptions());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)->name(), "negation");
  EXPECT_EQ(*(*read)->FingerprintExecutable(), *(*executable)->FingerprintExecutable());
  EXPECT_THAT(*RunLoadedOne<float>(client, **read, {&y}), ElementsAre(-1, -2, -3, -4));
  // Of any other length it is no executable, or that of a text that ends early.
  for (const size_t length : {size_t{0}, size_t{3}, bytes->size() / 2, bytes->size() - 9}) {
    EXPECT_EQ(client.LoadSerializedExecutable(bytes->substr(0, length), std::nullopt, LoadOptions())
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST(TemplateProgramTest, FiguresThatFollowFromSizesAreNotMadeUp) {
  const auto executable = CompileText(OneThreadClient(), kNegate);
  ASSERT_TRUE(executable.ok()) << executable.status();
  ExpectUnimplemented((*executable)->GetCostAnalysis().status(), {"[PJRT-R073]", "negation"});
  ExpectUnimplemented((*executable)->GetCompiledMemoryStats().status(), {"[PJRT-R073]"});
  EXPECT_EQ((*executable)->GetOutputShapes()->at(0).ToString(/*print_layout=*/false), "f32[?,2]");
  EXPECT_EQ((*executable)->GetParameterShardings(), std::vector<std::string>{"{replicated}"});
  EXPECT_EQ((*executable)->GetOutputShardings(), std::nullopt);
}

TEST(TemplateProgramTest, FiguresAreThoseOfTheSizesThatCameLast) {
  PjRtClient& client = OneThreadClient();
  const auto executable = CompileText(client, kNegate);
  ASSERT_TRUE(executable.ok()) << executable.status();
  for (const int64_t rows : {3, 50, 3, 3}) {
    const Literal x = Array<float>({rows, 2}, std::vector<float>(2 * rows, 1.f));
    ASSERT_TRUE(RunLoadedOne<float>(client, **executable, {&x}).ok());
    const auto stats = (*executable)->GetCompiledMemoryStats();
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->argument_size_in_bytes, rows * 8);
    EXPECT_EQ(stats->output_size_in_bytes, rows * 8);
    const auto costs = (*executable)->GetCostAnalysis();
    ASSERT_TRUE(costs.ok()) << costs.status();
    ASSERT_TRUE(costs->contains("flops"));
    EXPECT_EQ(std::get<float>(costs->at("flops")), static_cast<float>(2 * rows));
  }
  // What it is compiled for stays any size; the executable that isn't loaded has run nothing.
  EXPECT_EQ((*executable)->GetOutputShapes()->at(0).ToString(/*print_layout=*/false), "f32[?,2]");
  ExpectUnimplemented((*executable)->GetExecutable()->GetCostAnalysis().status(), {"[PJRT-R073]"});
}

TEST(TemplateProgramTest, ADeletedTemplateRunsNothing) {
  PjRtClient& client = OneThreadClient();
  const auto executable = CompileText(client, kNegate);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->client(), &client);
  (*executable)->Delete();
  EXPECT_TRUE((*executable)->IsDeleted());
  const Literal x = Array<float>({1, 2}, {1, 2});
  const absl::Status status = RunLoadedOne<float>(client, **executable, {&x}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(status.message(), "[PJRT-R058]")) << status;
}

// ----- Claimed composites -----

// Repeats x n times; the decomposition adds nothing to tell it from what the application does.
constexpr char kRepeatComposite[] = R"(
  func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?x?xf32> {
    %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %d1 = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
    %shape = stablehlo.concatenate %n, %d1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %0 = stablehlo.composite "my.repeat" %x, %shape {decomposition = @repeat} : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    %1 = stablehlo.negate %0 : tensor<?x?xf32>
    return %1 : tensor<?x?xf32>
  }
  func.func private @repeat(%x: tensor<?xf32>, %shape: tensor<2xi32>) -> tensor<?x?xf32> {
    %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>
  })";

TEST(TemplateProgramTest, ClaimedCompositesReachTheDeviceWithTheirShapes) {
  auto registry = std::make_shared<CustomCallRegistry>();
  ASSERT_TRUE(registry
                  ->Register("my.repeat",
                             custom_call::Bind(
                                 [](custom_call::Input<float> from, custom_call::Input<int32_t>,
                                    custom_call::Output<float> to) {
                                   for (int64_t i = 0; i < to.size(); ++i)
                                     to[i] = from[i % from.size()] + 100;
                                   return absl::OkStatus();
                                 },
                                 custom_call::Arg<float>(), custom_call::Arg<int32_t>(),
                                 custom_call::Result<float>()))
                  .ok());
  CpuClientOptions claims = WithThreads(1);
  claims.custom_calls = registry;
  const auto claiming = MakeClient(std::move(claims));
  for (const auto& [client, offset] :
       {std::pair<PjRtClient*, float>(&OneThreadClient(), 0.f), {claiming.get(), 100.f}}) {
    const auto executable = CompileText(*client, kRepeatComposite);
    ASSERT_TRUE(executable.ok()) << executable.status();
    for (const int32_t n : {1, 2}) {
      const Literal x = Array<float>({2}, {1, 2}), count = Array<int32_t>({1}, {n});
      const auto result = RunLoadedOne<float>(*client, **executable, {&x, &count});
      ASSERT_TRUE(result.ok()) << result.status();
      std::vector<float> expected;
      for (int i = 0; i < 2 * n; ++i) expected.push_back(-(static_cast<float>(i % 2 + 1) + offset));
      EXPECT_EQ(*result, expected);
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
