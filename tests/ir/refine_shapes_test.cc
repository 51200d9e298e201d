// SPDX-License-Identifier: Apache-2.0
//
// RefineArguments and RefineShapes: the module that they leave, and what they refuse.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/printer.h"
#include "pjrt/ir/verifier.h"
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

constexpr int64_t kNone = -1;

// An argument: its sizes, or a value.
struct Given {
  std::vector<int64_t> dims;
  int64_t value = kNone;
};

absl::StatusOr<std::string> Refine(absl::string_view text, const std::vector<Given>& arguments) {
  const std::unique_ptr<Module> module = MustParse(text);
  if (module == nullptr) return absl::InternalError("doesn't parse");
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module);
  EXPECT_TRUE(HasShapesToRefine(*module));
  Context& context = module->context();
  std::vector<ArgumentRefinement> refinements;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type type = module->EntryFunction().body()->argument(i)->type();
    ArgumentRefinement refinement;
    refinement.type = context.Tensor(arguments[i].dims, type.element_type());
    if (arguments[i].value != kNone) {
      refinement.value = context.DenseSplatInt(type, arguments[i].value);
    }
    refinements.push_back(refinement);
  }
  absl::Status status = RefineArguments(module.get(), refinements);
  if (status.ok()) status = RefineShapes(module.get());
  if (!status.ok()) return status;
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module) << "\n" << PrintModule(*module);
  const std::string refined = PrintModule(*module);
  EXPECT_FALSE(absl::StrContains(refined, "?")) << refined;
  return refined;
}

// The refined program has these pieces of text.
void ExpectRefined(absl::string_view text, const std::vector<Given>& arguments,
                   const std::vector<std::string>& pieces) {
  const absl::StatusOr<std::string> refined = Refine(text, arguments);
  ASSERT_TRUE(refined.ok()) << refined.status();
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(absl::StrContains(*refined, piece)) << "no " << piece << " in\n" << *refined;
  }
}

TEST(RefineShapesTest, SizesFollowFromArgumentsThroughCalls) {
  ExpectRefined(R"(
    func.func @main(%x: tensor<?x4xf32>) -> tensor<?x8xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
      %y = call @double(%n, %x) : (tensor<i32>, tensor<?x4xf32>) -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
    func.func private @double(%n: tensor<i32>, %x: tensor<?x4xf32>) -> tensor<?x8xf32> {
      %eight = stablehlo.constant dense<8> : tensor<1xi32>
      %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %shape = stablehlo.concatenate %n1, %eight, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %zeros = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x8xf32>
      %xx = stablehlo.concatenate %x, %x, dim = 1 : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
      %y = stablehlo.maximum %xx, %zeros : tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    })",
                {{{3, 4}}},
                {"@main(%arg0: tensor<3x4xf32>) -> tensor<3x8xf32>",
                 "stablehlo.maximum %1, %0 : tensor<3x8xf32>"});
}

TEST(RefineShapesTest, ValuesOfArgumentsDecideShapes) {
  ExpectRefined(
      R"(
    func.func @main(%n: tensor<i64>, %x: tensor<?xf32>) -> (tensor<?xi32>, tensor<?x?xf32>) {
      %two = stablehlo.constant dense<2> : tensor<1xi64>
      %n1 = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
      %iota = stablehlo.dynamic_iota %n1, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
      %half = stablehlo.divide %n1, %two : tensor<1xi64>
      %shape = stablehlo.concatenate %two, %half, dim = 0 : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
      %y = stablehlo.dynamic_reshape %x, %shape : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
      return %iota, %y : tensor<?xi32>, tensor<?x?xf32>
    })",
      {{{}, 70}, {{70}}},
      {"(%arg0: tensor<i64>, %arg1: tensor<70xf32>) -> (tensor<70xi32>, tensor<2x35xf32>)",
       "stablehlo.iota dim = 0 : tensor<70xi32>",
       "stablehlo.reshape %arg1 : (tensor<70xf32>) -> tensor<2x35xf32>"});
}

TEST(RefineShapesTest, EveryDynamicOpBecomesItsStaticCounterpart) {
  ExpectRefined(R"(
    func.func @main(%n: tensor<i32>, %x: tensor<?x8xf32>, %i: tensor<2x1xi32>)
        -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x?xf32>) {
      %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %zero = stablehlo.constant dense<0> : tensor<1xi32>
      %one = stablehlo.constant dense<1> : tensor<1xi32>
      %ones = stablehlo.constant dense<1> : tensor<2xi32>
      %nz = stablehlo.concatenate %n1, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %zn = stablehlo.concatenate %zero, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %f = stablehlo.constant dense<0.0> : tensor<f32>
      %pad = stablehlo.dynamic_pad %x, %f, %nz, %zn, %zn
          : (tensor<?x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
      %limit = stablehlo.concatenate %n1, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %slice = stablehlo.real_dynamic_slice %x, %zn, %limit, %ones
          : (tensor<?x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
      %sizes = stablehlo.concatenate %one, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %gather = "stablehlo.dynamic_gather"(%x, %i, %sizes) {dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
          : (tensor<?x8xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x?xf32>
      return %pad, %slice, %gather : tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x?xf32>
    })",
                {{{}, 3}, {{5, 8}}, {{2, 1}}},
                {"-> (tensor<8x16xf32>, tensor<3x2xf32>, tensor<2x3xf32>)",
                 "low = [3, 0], high = [0, 1], interior = [0, 1]", "[0:3, 1:3]",
                 "slice_sizes = array<i64: 1, 3>"});
}

TEST(RefineShapesTest, ASizeThatIsSetCutsTheTensor) {
  ExpectRefined(R"(
    func.func @main(%x: tensor<10xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<10>> {
      %y = stablehlo.set_dimension_size %x, %n, dim = 0
          : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<10>>
      %z = stablehlo.negate %y : tensor<?xf32, #stablehlo.bounds<10>>
      return %z : tensor<?xf32, #stablehlo.bounds<10>>
    })",
                {{{10}}, {{}, 4}}, {"[0:4]", "stablehlo.negate %0 : tensor<4xf32>"});
}

TEST(RefineShapesTest, LoopsAndBranchesTakeTheShapesOfWhatTheyAreGiven) {
  ExpectRefined(R"(
    func.func @main(%p: tensor<i1>, %x: tensor<?xf32>) -> tensor<?xf32> {
      %i0 = stablehlo.constant dense<0> : tensor<i32>
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %r:3 = stablehlo.while(%i = %i0, %m = %n, %y = %x) : tensor<i32>, tensor<i32>, tensor<?xf32>
      cond {
        %c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %j = stablehlo.add %i, %one : tensor<i32>
        %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
        %fi = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
        %b = stablehlo.dynamic_broadcast_in_dim %fi, %m1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
        %z = stablehlo.add %y, %b : tensor<?xf32>
        stablehlo.return %j, %m, %z : tensor<i32>, tensor<i32>, tensor<?xf32>
      }
      %s = "stablehlo.if"(%p) ({
        %neg = stablehlo.negate %r#2 : tensor<?xf32>
        stablehlo.return %neg : tensor<?xf32>
      }, {
        stablehlo.return %r#2 : tensor<?xf32>
      }) : (tensor<i1>) -> tensor<?xf32>
      return %s : tensor<?xf32>
    })",
                {{{}}, {{6}}},
                {"-> tensor<6xf32>", "tensor<6xf32>", "(tensor<f32>) -> tensor<6xf32>"});
}

TEST(RefineShapesTest, ReshapesInferTheOneSizeThatIsLeftOpen) {
  ExpectRefined(R"(
    func.func @main(%x: tensor<?x6xf32>) -> tensor<?x3x2xf32, #stablehlo.bounds<9, ?, ?>> {
      %y = stablehlo.reshape %x : (tensor<?x6xf32>) -> tensor<?x3x2xf32, #stablehlo.bounds<9, ?, ?>>
      return %y : tensor<?x3x2xf32, #stablehlo.bounds<9, ?, ?>>
    })",
                {{{4, 6}}}, {"-> tensor<4x3x2xf32>"});
}

TEST(RefineShapesTest, CustomCallsTakeTheirShapesFromOperands) {
  ExpectRefined(R"(
    func.func @main(%x: tensor<?x4xf32>, %k: tensor<i32>) -> (tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xi32>) {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
      %shape = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %y = stablehlo.custom_call @mine(%x, %shape)
          {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
      %t:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) {api_version = 2 : i32}
          : (tensor<?x4xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
      return %y, %t#0, %t#1 : tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xi32>
    })",
                {{{5, 4}}, {{}, 2}}, {"-> (tensor<5xf32>, tensor<5x2xf32>, tensor<5x2xi32>)"});
}

constexpr char kAsserting[] = R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %eq = stablehlo.compare EQ, %n, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%eq, %n, %m) {api_version = 2 : i32,
          error_message = "sizes {0} and {1} differ, {0}", has_side_effect = true}
          : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
      return %x : tensor<?xf32>
    })";

TEST(RefineShapesTest, AssertionsAreCheckedWithTheirValuesFilledIn) {
  ExpectRefined(kAsserting, {{{5}}, {{5}}}, {"return %arg0 : tensor<5xf32>"});
  const absl::Status status = Refine(kAsserting, {{{5}}, {{7}}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "[PJRT-I031] sizes 5 and 7 differ, 5");
}

void ExpectRefused(absl::string_view text, const std::vector<Given>& arguments,
                   absl::StatusCode code, absl::string_view piece) {
  const absl::Status status = Refine(text, arguments).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), piece)) << status;
}

TEST(RefineShapesTest, ArgumentsThatContradictTheProgramAreRefused) {
  constexpr char kBounded[] = R"(
    func.func @main(%x: tensor<?x4xf32, #stablehlo.bounds<5, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<5, ?>> {
      return %x : tensor<?x4xf32, #stablehlo.bounds<5, ?>>
    })";
  ExpectRefined(kBounded, {{{5, 4}}}, {"tensor<5x4xf32>"});
  const auto invalid = absl::StatusCode::kInvalidArgument;
  ExpectRefused(kBounded, {{{6, 4}}}, invalid, "[PJRT-I030] argument 0 of @main");
  ExpectRefused(kBounded, {{{5, 3}}}, invalid, "[PJRT-I030]");
  ExpectRefused(kBounded, {{{5}}}, invalid, "[PJRT-I030]");
  ExpectRefused(kBounded, {}, invalid, "[PJRT-I030]");
}

TEST(RefineShapesTest, ShapesThatContradictEachOtherAreRefused) {
  constexpr char kAdding[] = R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %z = stablehlo.add %x, %y : tensor<?xf32>
      return %z : tensor<?xf32>
    })";
  ExpectRefused(kAdding, {{{5}}, {{7}}}, absl::StatusCode::kInvalidArgument, "stablehlo.add");
  constexpr char kShaping[] = R"(
    func.func @main(%s: tensor<1xi32>) -> tensor<?xf32> {
      %z = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %z : tensor<?xf32>
    })";
  ExpectRefused(kShaping, {{{1}, -5}}, absl::StatusCode::kInvalidArgument, "[-5]");
}

absl::StatusOr<ShapeDependence> Analyze(absl::string_view text) {
  const std::unique_ptr<Module> module = MustParse(text);
  if (module == nullptr) return absl::InternalError("doesn't parse");
  EXPECT_TRUE(InlineCalls(module.get()).ok());
  return AnalyzeShapeDependence(*module);
}

TEST(ShapeDependenceTest, NamesTheArgumentsWhoseValuesCount) {
  const absl::StatusOr<ShapeDependence> found = Analyze(R"(
    func.func @main(%platform: tensor<i32>, %x: tensor<?xf32>, %n: tensor<i32>, %data: tensor<i32>) -> tensor<?xf32> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %m = stablehlo.add %n, %one : tensor<i32>
      %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
      %f = stablehlo.convert %data : (tensor<i32>) -> tensor<f32>
      %y = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
      return %y : tensor<?xf32>
    })");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_TRUE(found->IsTemplate());
  EXPECT_EQ(found->deciding_arguments, std::vector<int>({2}));
}

TEST(ShapeDependenceTest, ADynamicOpOfAStaticTypeNeedsNoTemplate) {
  const absl::StatusOr<ShapeDependence> found = Analyze(R"(
    func.func @main(%x: tensor<8xf32>, %low: tensor<1xi32>) -> tensor<10xf32> {
      %z = stablehlo.constant dense<0> : tensor<1xi32>
      %f = stablehlo.constant dense<0.0> : tensor<f32>
      %y = stablehlo.dynamic_pad %x, %f, %low, %low, %z
          : (tensor<8xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<10xf32>
      return %y : tensor<10xf32>
    })");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->IsTemplate());
}

TEST(ShapeDependenceTest, ShapesOfDataAreRefusedWithTheOpNamed) {
  const absl::Status status = Analyze(R"(
    func.func @main(%x: tensor<4xi32>, %y: tensor<f32>) -> tensor<?xi32> {
      %sorted = "stablehlo.sort"(%x) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }) : (tensor<4xi32>) -> tensor<4xi32>
      %n = stablehlo.slice %sorted [0:1] : (tensor<4xi32>) -> tensor<1xi32>
      %r = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      return %r : tensor<?xi32>
    })")
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(status.message(), "[PJRT-I032]")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "stablehlo.dynamic_iota")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "stablehlo.sort")) << status;
}

}  // namespace
}  // namespace pjrt::ir
