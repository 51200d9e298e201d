// SPDX-License-Identifier: Apache-2.0
//
// Programs with dynamic shapes on the CPU device: templates, what specialises them, and ops whose
// operands are computed at run time while their result's type is static.
#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pjrt/compile_options.h"
#include "pjrt/execute_options.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using Results = absl::StatusOr<std::vector<std::shared_ptr<Literal>>>;

std::unique_ptr<PjRtLoadedExecutable> Compiled(PjRtClient& client, absl::string_view text) {
  auto executable = CompileText(client, text);
  EXPECT_TRUE(executable.ok()) << executable.status();
  return executable.ok() ? *std::move(executable) : nullptr;
}

void ExpectError(const absl::Status& status, absl::StatusCode code, absl::string_view text) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), text)) << status;
}

// The sums of rows, repeated `n` times, for any number of rows.
constexpr char kSums[] = R"(
  func.func @main(%n: tensor<i64>, %x: tensor<?x3xf32>) -> tensor<?x?xf32> {
    %rows = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
    %rows64 = stablehlo.convert %rows : (tensor<i32>) -> tensor<i64>
    %rows1 = stablehlo.reshape %rows64 : (tensor<i64>) -> tensor<1xi64>
    %n1 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
    %shape = stablehlo.concatenate %n1, %rows1, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %y = stablehlo.dynamic_broadcast_in_dim %sum, %shape, dims = [1] : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    return %y : tensor<?x?xf32>
  })";

TEST(DynamicTest, OneTemplateServesManyShapes) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, kSums);
  ASSERT_NE(executable, nullptr);
  for (const int64_t rows : {1, 2, 0, 5, 2}) {
    for (const int64_t n : {2, 0, 3}) {
      const Literal x = Array<float>({rows, 3}, Counting<float>(rows * 3));
      const Literal count = Scalar<int64_t>(n);
      const Results results = RunLoaded(client, *executable, {&count, &x});
      ASSERT_TRUE(results.ok()) << results.status();
      const Literal& y = *(*results)[0];
      EXPECT_EQ(y.shape().dimensions(), absl::MakeConstSpan({n, rows}));
      for (int64_t i = 0; i < n * rows; ++i) {
        const int64_t row = i % rows;
        EXPECT_EQ(y.GetLinear<float>(i), static_cast<float>(9 * row + 3));
      }
    }
  }
}

TEST(DynamicTest, AProgramWithoutArgumentsMayHaveDynamicShapes) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, R"(
    func.func @main() -> tensor<?xi32> {
      %size = stablehlo.constant dense<3> : tensor<1xi64>
      %0 = stablehlo.dynamic_iota %size, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
      return %0 : tensor<?xi32>
    })");
  ASSERT_NE(executable, nullptr);
  for (int execution = 0; execution < 2; ++execution) {
    const Results results = RunLoaded(client, *executable, {});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(Elements<int32_t>(*(*results)[0]), std::vector<int32_t>({0, 1, 2}));
  }
}

TEST(DynamicTest, ATemplateReportsDynamicShapes) {
  const auto executable = Compiled(OneThreadClient(), kSums);
  ASSERT_NE(executable, nullptr);
  const auto shapes = executable->GetOutputShapes();
  ASSERT_TRUE(shapes.ok()) << shapes.status();
  EXPECT_EQ(shapes->at(0).ToString(/*print_layout=*/false), "f32[?,?]");
  EXPECT_EQ(executable->GetOutputElementTypes()->at(0), std::vector<PrimitiveType>{F32});
  EXPECT_EQ(executable->addressable_devices().size(), 1u);
  EXPECT_EQ(executable->num_replicas(), 1);
  EXPECT_TRUE(executable->GetModules().ok());
  EXPECT_TRUE(executable->FingerprintExecutable().ok());
}

TEST(DynamicTest, AnUnloadedTemplateCanBeLoaded) {
  PjRtClient& client = OneThreadClient();
  auto unloaded = client.CompileUnloaded(PjRtProgram(kSums, ProgramFormat::kText), {});
  ASSERT_TRUE(unloaded.ok()) << unloaded.status();
  auto loaded = client.Load(std::shared_ptr<PjRtExecutable>(*std::move(unloaded)), LoadOptions());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Literal x = Array<float>({2, 3}, Counting<float>(6));
  const Literal n = Scalar<int64_t>(1);
  const Results results = RunLoaded(client, **loaded, {&n, &x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Elements<float>(*(*results)[0]), std::vector<float>({3, 12}));
}

TEST(DynamicTest, APortableTemplateRunsWhereItIsAskedTo) {
  PjRtClient& client = OneThreadClient();
  CompileOptions options;
  options.compile_portable_executable = true;
  auto executable = client.CompileAndLoad(PjRtProgram(kSums, ProgramFormat::kText), options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({1, 3}, Counting<float>(3));
  const Literal n = Scalar<int64_t>(2);
  const auto buffers = ToDevice(client, {&n, &x});
  const std::vector<PjRtBuffer*> pointers = Pointers(buffers);
  auto outputs =
      (*executable)->ExecutePortable(pointers, client.addressable_devices()[0], ExecuteOptions());
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(Elements<float>(**(*outputs)[0]->ToLiteralSync()), std::vector<float>({3, 3}));
}

TEST(DynamicTest, WhatContradictsTheProgramIsInvalid) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, kSums);
  ASSERT_NE(executable, nullptr);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  const Literal n = Scalar<int64_t>(1), minus = Scalar<int64_t>(-1), narrow = Scalar<int32_t>(1);
  const Literal least = Scalar<int64_t>(std::numeric_limits<int64_t>::min());
  const Literal x = Array<float>({2, 3}, Counting<float>(6)),
                wide = Array<float>({2, 4}, Counting<float>(8));
  const Literal flat = Array<float>({6}, Counting<float>(6)),
                ints = Array<int32_t>({1, 3}, {1, 2, 3});
  ExpectError(RunLoaded(client, *executable, {&n, &wide}).status(), invalid, "argument 1 of @main");
  ExpectError(RunLoaded(client, *executable, {&n, &flat}).status(), invalid,
              "[PJRT-R071] argument 1");
  ExpectError(RunLoaded(client, *executable, {&n, &ints}).status(), invalid,
              "[PJRT-R071] argument 1");
  ExpectError(RunLoaded(client, *executable, {&narrow, &x}).status(), invalid,
              "[PJRT-R071] argument 0");
  ExpectError(RunLoaded(client, *executable, {&minus, &x}).status(), invalid, "[PJRT-I033]");
  ExpectError(RunLoaded(client, *executable, {&least, &x}).status(), invalid,
              "-9223372036854775808");
  ExpectError(RunLoaded(client, *executable, {&n}).status(), invalid, "[PJRT-R054]");
  // Errors leave it usable.
  EXPECT_TRUE(RunLoaded(client, *executable, {&n, &x}).ok());
  const std::vector<PjRtBuffer*> nulls = {nullptr, nullptr};
  ExpectError(executable->Execute(absl::MakeConstSpan(&nulls, 1), ExecuteOptions()).status(),
              invalid, "[PJRT-R050]");
  executable->Delete();
  ExpectError(RunLoaded(client, *executable, {&n, &x}).status(),
              absl::StatusCode::kFailedPrecondition, "[PJRT-R058]");
}

TEST(DynamicTest, ThreadsShareTheProgramsThatTheyNeed) {
  const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(2));
  const auto executable = Compiled(*client, kSums);
  ASSERT_NE(executable, nullptr);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 100; ++i) {
        const int64_t rows = 1 + (i + t) % 7, n = 1 + i % 13;
        const Literal x = Array<float>({rows, 3}, Counting<float>(rows * 3));
        const Literal count = Scalar<int64_t>(n);
        const Results results = RunLoaded(*client, *executable, {&count, &x});
        if (!results.ok() || (*results)[0]->element_count() != n * rows ||
            (*results)[0]->GetLinear<float>(rows - 1) != static_cast<float>(9 * rows - 6)) {
          ++wrong[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(DynamicTest, MoreShapesThanAreKeptStillRun) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %y = stablehlo.add %x, %x : tensor<?xf32>
      return %y : tensor<?xf32>
    })");
  ASSERT_NE(executable, nullptr);
  for (int round = 0; round < 2; ++round) {
    for (int64_t size = 0; size < 100; ++size) {
      const Literal x = Array<float>({size}, Counting<float>(size));
      const Results results = RunLoaded(client, *executable, {&x});
      ASSERT_TRUE(results.ok()) << results.status();
      ASSERT_EQ((*results)[0]->element_count(), size);
      if (size > 0) {
        EXPECT_EQ((*results)[0]->GetLinear<float>(size - 1), static_cast<float>(2 * size - 2));
      }
    }
  }
}

TEST(DynamicTest, BoundedArgumentsMayHaveAnySizeUpToTheBound) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, R"(
    func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<f32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<?xf32, #stablehlo.bounds<4>>, tensor<f32>) -> tensor<f32>
      return %y : tensor<f32>
    })");
  ASSERT_NE(executable, nullptr);
  const Literal three = Array<float>({3}, Counting<float>(3)),
                five = Array<float>({5}, Counting<float>(5));
  const Results results = RunLoaded(client, *executable, {&three});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0]->GetFirstElement<float>(), 3);
  ExpectError(RunLoaded(client, *executable, {&five}).status(), absl::StatusCode::kInvalidArgument,
              "[PJRT-I030]");
}

TEST(DynamicTest, ANegativeBoundBoundsNothing) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, R"(
    func.func @main(%x: tensor<?xf32, #stablehlo.bounds<-1>>)
        -> tensor<?xf32, #stablehlo.bounds<-1>> {
      %y = stablehlo.add %x, %x : tensor<?xf32, #stablehlo.bounds<-1>>
      return %y : tensor<?xf32, #stablehlo.bounds<-1>>
    })");
  ASSERT_NE(executable, nullptr);
  const Literal x = Array<float>({5}, Counting<float>(5));
  const Results results = RunLoaded(client, *executable, {&x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0]->GetLinear<float>(4), 8);
}

TEST(DynamicTest, SizesSetAtRunTimeCutTheTensor) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, R"(
    func.func @main(%x: tensor<6xf32>, %n: tensor<i32>) -> tensor<f32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.set_dimension_size %x, %n, dim = 0
          : (tensor<6xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<6>>
      %y = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<?xf32, #stablehlo.bounds<6>>, tensor<f32>) -> tensor<f32>
      return %y : tensor<f32>
    })");
  ASSERT_NE(executable, nullptr);
  const Literal x = Array<float>({6}, Counting<float>(6));
  for (const int32_t n : {0, 1, 4, 6}) {
    const Literal size = Scalar<int32_t>(n);
    const Results results = RunLoaded(client, *executable, {&x, &size});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*results)[0]->GetFirstElement<float>(), static_cast<float>(n * (n - 1) / 2));
  }
  const Literal seven = Scalar<int32_t>(7);
  ExpectError(RunLoaded(client, *executable, {&x, &seven}).status(),
              absl::StatusCode::kInvalidArgument, "[PJRT-I033]");
}

TEST(DynamicTest, ShapesThatDependOnDataAreRefusedWhenCompiled) {
  auto executable = OneThreadClient().CompileAndLoad(PjRtProgram(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<?xi32> {
      %f = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
      %n = stablehlo.convert %f : (tensor<1xf32>) -> tensor<1xi32>
      %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      return %r : tensor<?xi32>
    })",
                                                                 ProgramFormat::kText),
                                                     CompileOptions());
  ExpectError(executable.status(), absl::StatusCode::kUnimplemented, "stablehlo.dynamic_iota");
}

// ----- Static results, operands from run time -----

TEST(DynamicTest, PaddingFromRunTimeFillsTheStaticResult) {
  constexpr char kPad[] = R"(
    func.func @main(%x: tensor<2x3xi32>, %low: tensor<2xi32>, %interior: tensor<2xi32>) -> tensor<4x6xi32> {
      %p = stablehlo.constant dense<9> : tensor<i32>
      %y = stablehlo.dynamic_pad %x, %p, %low, %low, %interior
          : (tensor<2x3xi32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x6xi32>
      return %y : tensor<4x6xi32>
    })";
  const Literal x = Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto pad = [&](std::vector<int32_t> low, std::vector<int32_t> interior) {
    const Literal l = Array<int32_t>({2}, low), i = Array<int32_t>({2}, interior);
    return RunOne<int32_t>(kPad, {&x, &l, &i});
  };
  EXPECT_EQ(pad({1, 0}, {0, 1}), std::vector<int32_t>({9, 9, 9, 9, 9, 9, 1, 9, 2, 9, 3, 9,  //
                                                       4, 9, 5, 9, 6, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(pad({-1, 2}, {0, 0}), std::vector<int32_t>({9, 9, 4, 5, 6, 9, 9, 9, 9, 9, 9, 9,  //
                                                        9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}));
}

TEST(DynamicTest, SlicesFromRunTimeHaveTheSizeOfTheStaticResult) {
  constexpr char kSlice[] = R"(
    func.func @main(%x: tensor<8xi32>, %start: tensor<1xi64>, %limit: tensor<1xi64>, %stride: tensor<1xi64>) -> tensor<3xi32> {
      %y = stablehlo.real_dynamic_slice %x, %start, %limit, %stride
          : (tensor<8xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi32>
      return %y : tensor<3xi32>
    })";
  const Literal x = Array<int32_t>({8}, {0, 10, 20, 30, 40, 50, 60, 70});
  const Literal two = Array<int64_t>({1}, {2}), five = Array<int64_t>({1}, {5}),
                one = Array<int64_t>({1}, {1}), seven = Array<int64_t>({1}, {7});
  EXPECT_EQ(RunOne<int32_t>(kSlice, {&x, &two, &five, &one}), std::vector<int32_t>({20, 30, 40}));
  EXPECT_EQ(RunOne<int32_t>(kSlice, {&x, &two, &seven, &two}), std::vector<int32_t>({20, 40, 60}));
}

TEST(DynamicTest, SlicesOfKnownSizesStartAnywhereAndAreMovedInside) {
  PjRtClient& client = OneThreadClient();
  const auto executable = Compiled(client, R"(
    func.func @main(%n: tensor<i32>, %x: tensor<?xi32>, %i: tensor<i32>) -> tensor<?xi32> {
      %two = stablehlo.constant dense<2> : tensor<1xi32>
      %one = stablehlo.constant dense<1> : tensor<1xi32>
      %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %start = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %again = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %size = stablehlo.subtract %n1, %two : tensor<1xi32>
      %limit = stablehlo.add %again, %size : tensor<1xi32>
      %y = stablehlo.real_dynamic_slice %x, %start, %limit, %one
          : (tensor<?xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
      return %y : tensor<?xi32>
    })");
  ASSERT_NE(executable, nullptr);
  const Literal n = Scalar<int32_t>(5), x = Array<int32_t>({5}, {0, 10, 20, 30, 40});
  const auto slice = [&](int32_t start) {
    const Literal i = Scalar<int32_t>(start);
    const Results results = RunLoaded(client, *executable, {&n, &x, &i});
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? Elements<int32_t>(*(*results)[0]) : std::vector<int32_t>();
  };
  EXPECT_EQ(slice(1), std::vector<int32_t>({10, 20, 30}));
  EXPECT_EQ(slice(4), std::vector<int32_t>({20, 30, 40}));
  EXPECT_EQ(slice(-7), std::vector<int32_t>({0, 10, 20}));
}

TEST(DynamicTest, GathersTakeSliceSizesFromTheStaticResult) {
  const Literal x = Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal rows = Array<int64_t>({2, 1}, {1, 0}), sizes = Array<int64_t>({2}, {1, 3});
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<2x3xi32>, %i: tensor<2x1xi64>, %s: tensor<2xi64>) -> tensor<2x3xi32> {
      %y = "stablehlo.dynamic_gather"(%x, %i, %s) {dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
          : (tensor<2x3xi32>, tensor<2x1xi64>, tensor<2xi64>) -> tensor<2x3xi32>
      return %y : tensor<2x3xi32>
    })",
                            {&x, &rows, &sizes}),
            std::vector<int32_t>({4, 5, 6, 1, 2, 3}));
}

TEST(DynamicTest, ConvolutionsTakePaddingFromRunTime) {
  constexpr char kConv[] = R"(
    func.func @main(%x: tensor<1x4x1xf32>, %k: tensor<3x1x1xf32>, %padding: tensor<1x2xi64>) -> tensor<1x4x1xf32> {
      %y = "stablehlo.dynamic_conv"(%x, %k, %padding) {
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
        feature_group_count = 1 : i64, batch_group_count = 1 : i64
      } : (tensor<1x4x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi64>) -> tensor<1x4x1xf32>
      return %y : tensor<1x4x1xf32>
    })";
  const Literal x = Array<float>({1, 4, 1}, {1, 2, 3, 4}),
                k = Array<float>({3, 1, 1}, {1, 10, 100});
  const Literal same = Array<int64_t>({1, 2}, {1, 1}), causal = Array<int64_t>({1, 2}, {2, 0});
  EXPECT_EQ(RunOne<float>(kConv, {&x, &k, &same}), std::vector<float>({210, 321, 432, 43}));
  EXPECT_EQ(RunOne<float>(kConv, {&x, &k, &causal}), std::vector<float>({100, 210, 321, 432}));
}

TEST(DynamicTest, PaddingFromRunTimeDecidesTheResultsSize) {
  constexpr char kConv[] = R"(
    func.func @main(%x: tensor<1x?x1xf32>, %k: tensor<2x1x1xf32>, %padding: tensor<1x2xi32>) -> tensor<1x?x1xf32> {
      %y = "stablehlo.dynamic_conv"(%x, %k, %padding) {
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
        feature_group_count = 1 : i64, batch_group_count = 1 : i64
      } : (tensor<1x?x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x?x1xf32>
      return %y : tensor<1x?x1xf32>
    })";
  const Literal x = Array<float>({1, 3, 1}, {1, 2, 3}), k = Array<float>({2, 1, 1}, {1, 10});
  const Literal none = Array<int32_t>({1, 2}, {0, 0}), wide = Array<int32_t>({1, 2}, {2, 1});
  EXPECT_EQ(RunOne<float>(kConv, {&x, &k, &none}), std::vector<float>({21, 32}));
  EXPECT_EQ(RunOne<float>(kConv, {&x, &k, &wide}), std::vector<float>({0, 10, 21, 32, 3}));
}

TEST(DynamicTest, OpsThatExportersCallByNameTakeTheShapesOfTheirOperands) {
  PjRtClient& client = OneThreadClient();
  const auto program = Compiled(client, R"(
    func.func @main(%x: tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>, tensor<?x4xf32>) {
      %t:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64}, mhlo.version = 1 : i64}
          : (tensor<?x4xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
      %e = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64}
          : (tensor<?x4xf32>) -> tensor<?x4xf32>
      %s = stablehlo.custom_call @chlo.square(%e) : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %t#0, %t#1, %s : tensor<?x2xf32>, tensor<?x2xi32>, tensor<?x4xf32>
    })");
  ASSERT_NE(program, nullptr);
  const Literal x = Array<float>({1, 4}, {0, 30, -30, 0});
  const Results results = RunLoaded(client, *program, {&x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Elements<float>(*(*results)[0]), std::vector<float>({30, 0}));
  EXPECT_EQ(Elements<int32_t>(*(*results)[1]), std::vector<int32_t>({1, 0}));
  EXPECT_EQ(Elements<float>(*(*results)[2]), std::vector<float>({0, 1, 1, 0}));
}

TEST(DynamicTest, CustomCallsOnDynamicShapesRunAsTheOpsTheyStandFor) {
  PjRtClient& client = OneThreadClient();
  const auto top = Compiled(client, R"(
    func.func @main(%k: tensor<i32>, %x: tensor<?x4xf32>) -> (tensor<?x?xf32>, tensor<?x?xi32>) {
      %t:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) {api_version = 2 : i32}
          : (tensor<?x4xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
      return %t#0, %t#1 : tensor<?x?xf32>, tensor<?x?xi32>
    })");
  ASSERT_NE(top, nullptr);
  const Literal two = Scalar<int32_t>(2), x = Array<float>({2, 4}, {1, 5, 3, 4, 9, 8, 7, 6});
  Results results = RunLoaded(client, *top, {&two, &x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Elements<float>(*(*results)[0]), std::vector<float>({5, 4, 9, 8}));
  EXPECT_EQ(Elements<int32_t>(*(*results)[1]), std::vector<int32_t>({1, 3, 0, 1}));

  const auto window = Compiled(client, R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %w = stablehlo.constant dense<2> : tensor<1xi32>
      %o = stablehlo.constant dense<1> : tensor<1xi32>
      %p = stablehlo.constant dense<0> : tensor<1x2xi32>
      %r = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %w, %o, %o, %o, %p)
          {api_version = 2 : i32, called_computations = [@add]}
          : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    }
    func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
      %c = stablehlo.add %a, %b : tensor<f32>
      return %c : tensor<f32>
    })");
  ASSERT_NE(window, nullptr);
  const Literal y = Array<float>({4}, {1, 2, 3, 4});
  results = RunLoaded(client, *window, {&y});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Elements<float>(*(*results)[0]), std::vector<float>({3, 5, 7}));
}

}  // namespace
}  // namespace pjrt::cpu
