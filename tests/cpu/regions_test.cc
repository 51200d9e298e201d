// SPDX-License-Identifier: Apache-2.0
//
// Regions that are more than one line of arithmetic on their arguments: branches, loops, arrays,
// calls, and values from outside; and tuples.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;

// %x and %y to %z, all tensor<i32>: x + 2 y, in ways that grow less direct.
const char kBranch[] = R"(
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.compare EQ, %y, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %z = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<i32>
    }, {
      %s = stablehlo.add %x, %y : tensor<i32>
      %t = stablehlo.add %s, %y : tensor<i32>
      stablehlo.return %t : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>)";
// The index is out of range for all y but 0 and 1.
const char kCase[] = R"(
    %z = "stablehlo.case"(%y) ({
      stablehlo.return %x : tensor<i32>
    }, {
      %c = stablehlo.constant dense<2> : tensor<i32>
      %s = stablehlo.add %x, %c : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }, {
      %s = stablehlo.add %x, %y : tensor<i32>
      %t = stablehlo.add %s, %y : tensor<i32>
      stablehlo.return %t : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>)";
const char kLoop[] = R"(
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %w:2 = stablehlo.while(%i = %zero, %sum = %x) : tensor<i32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %next = stablehlo.add %sum, %y : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<i32>
    }
    %z = stablehlo.add %w#1, %zero : tensor<i32>)";
const char kArrays[] = R"(
    %ones = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %e1 = stablehlo.reshape %x : (tensor<i32>) -> tensor<1xi32>
    %e2 = stablehlo.reshape %y : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.concatenate %e1, %e2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %z = stablehlo.dot_general %c, %ones, contracting_dims = [0] x [0]
        : (tensor<2xi32>, tensor<2xi32>) -> tensor<i32>)";
const char kCall[] = R"(
    %d = func.call @twice(%y) : (tensor<i32>) -> tensor<i32>
    %z = stablehlo.add %x, %d : tensor<i32>)";
// %two and %table come from outside.
const char kCapture[] = R"(
    %d = stablehlo.multiply %y, %two : tensor<i32>
    %z = stablehlo.add %x, %d : tensor<i32>)";
const char kTable[] = R"(
    %d = stablehlo.dynamic_slice %table, %y, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %e = stablehlo.reshape %d : (tensor<1xi32>) -> tensor<i32>
    %z = stablehlo.add %x, %e : tensor<i32>)";

// %given is no constant.
const char kGivenTable[] = R"(
    %d = stablehlo.dynamic_slice %given, %y, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %e = stablehlo.reshape %d : (tensor<1xi32>) -> tensor<i32>
    %z = stablehlo.add %x, %e : tensor<i32>)";
const char kCheck[] = R"(
    %d = stablehlo.add %y, %y : tensor<i32>
    check.expect_eq %d, %d : tensor<i32>
    %z = stablehlo.add %x, %d : tensor<i32>)";

class BodyTest : public ::testing::TestWithParam<const char*> {
 protected:
  // A function of %a: tensor<6xi32> = [0, 1, 2, 3, 1, 0] and %two with `ops` to %0.
  static std::vector<int32_t> Run(const std::string& ops, const std::string& result_type) {
    const Literal a = Array<int32_t>({6}, {0, 1, 2, 3, 1, 0}), two = Scalar<int32_t>(2);
    const Literal given = Array<int32_t>({4}, {0, 2, 4, 6});
    return RunOne<int32_t>(
        absl::StrCat(
            "func.func private @twice(%x: tensor<i32>) -> tensor<i32> {\n"
            "  %0 = stablehlo.add %x, %x : tensor<i32>\n  return %0 : tensor<i32>\n}\n",
            "func.func @main(%a: tensor<6xi32>, %two: tensor<i32>, %given: tensor<4xi32>) -> ",
            result_type, " {\n  %table = stablehlo.constant dense<[0, 2, 4, 6]> : tensor<4xi32>\n",
            "  %init = stablehlo.constant dense<10> : tensor<i32>\n", ops,
            "\n  return %0 : ", result_type, "\n}\n"),
        {&a, &two, &given});
  }
  static std::string Region() {
    return absl::StrCat("({\n  ^bb0(%x: tensor<i32>, %y: tensor<i32>):", GetParam(),
                        "\n    stablehlo.return %z : tensor<i32>\n  })");
  }
};

TEST_P(BodyTest, OfAMap) {
  EXPECT_THAT(Run(absl::StrCat("  %0 = \"stablehlo.map\"(%a, %a) ", Region(),
                               " {dimensions = array<i64: 0>} : (tensor<6xi32>, tensor<6xi32>) -> "
                               "tensor<6xi32>"),
                  "tensor<6xi32>"),
              ElementsAre(0, 3, 6, 9, 3, 0));
}

// x + 2 y is not associative; a reducer of one element a result is called on nothing else.
TEST_P(BodyTest, OfAReductionOfOneElementEach) {
  EXPECT_THAT(Run(absl::StrCat("  %b = stablehlo.reshape %a : (tensor<6xi32>) -> tensor<6x1xi32>\n",
                               "  %0 = \"stablehlo.reduce\"(%b, %init) ", Region(),
                               " {dimensions = array<i64: 1>} : (tensor<6x1xi32>, tensor<i32>) -> "
                               "tensor<6xi32>"),
                  "tensor<6xi32>"),
              ElementsAre(10, 12, 14, 16, 12, 10));
}

TEST_P(BodyTest, OfAWindow) {
  EXPECT_THAT(
      Run(absl::StrCat("  %0 = \"stablehlo.reduce_window\"(%a, %init) ", Region(),
                       " {window_dimensions = array<i64: 1>, window_strides = array<i64: 2>} : "
                       "(tensor<6xi32>, tensor<i32>) -> tensor<3xi32>"),
          "tensor<3xi32>"),
      ElementsAre(10, 14, 12));
}

TEST_P(BodyTest, OfAScatter) {
  EXPECT_THAT(
      Run(absl::StrCat(
              R"(  %places = stablehlo.constant dense<[[5], [1], [9], [5]]> : tensor<4x1xi32>
  %u = stablehlo.slice %a [1:5] : (tensor<6xi32>) -> tensor<4xi32>
  %0 = "stablehlo.scatter"(%a, %places, %u) )",
              Region(), R"( {scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
      : (tensor<6xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<6xi32>)"),
          "tensor<6xi32>"),
      ElementsAre(0, 5, 2, 3, 1, 4));
}

TEST_P(BodyTest, OfAComparator) {
  // Orders by x + 2 y against y + 2 x: the larger first.
  EXPECT_THAT(
      Run(absl::StrCat(
              R"(  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %u = "stablehlo.map"(%l, %r) )",
              Region(), R"( {dimensions = array<i64>} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %v = "stablehlo.map"(%r, %l) )",
              Region(), R"( {dimensions = array<i64>} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %p = stablehlo.compare LT, %u, %v : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<6xi32>) -> tensor<6xi32>)"),
          "tensor<6xi32>"),
      ElementsAre(3, 2, 1, 1, 0, 0));
}

std::string BodyCase(const ::testing::TestParamInfo<const char*>& body) {
  static const char* const kNames[] = {"Branch",  "Case",  "Loop",       "Arrays", "Call",
                                       "Capture", "Table", "GivenTable", "Check"};
  return kNames[body.index];
}
INSTANTIATE_TEST_SUITE_P(All, BodyTest,
                         ::testing::Values(kBranch, kCase, kLoop, kArrays, kCall, kCapture, kTable,
                                           kGivenTable, kCheck),
                         BodyCase);

TEST(RegionsTest, ALongReductionByALoopInTheReducerKeepsEachElement) {
  // Adds by counting up: associative, with a loop.
  const std::vector<int32_t> values(3000, 3);
  const Literal a = Array<int32_t>({3000}, values);
  EXPECT_THAT(RunOne<int32_t>(R"(func.func @main(%a: tensor<3000xi32>) -> tensor<i32> {
  %init = stablehlo.constant dense<5> : tensor<i32>
  %0 = "stablehlo.reduce"(%a, %init) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %l = stablehlo.minimum %x, %y : tensor<i32>
    %h = stablehlo.maximum %x, %y : tensor<i32>
    %w:2 = stablehlo.while(%i = %l, %s = %h) : tensor<i32>, tensor<i32>
    cond {
      %p = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.subtract %i, %one : tensor<i32>
      %t = stablehlo.add %s, %one : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<i32>
    }
    stablehlo.return %w#1 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3000xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
})",
                              {&a}),
              ElementsAre(9005));
}

TEST(RegionsTest, NarrowTypesPassThroughBodiesThatAreCalled) {
  const Literal a = Array<int8_t>(S4, {3}, {7, -8, -1});
  EXPECT_THAT(RunOne<int8_t>(R"(func.func @main(%a: tensor<3xi4>) -> tensor<3xi4> {
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<i4>):
    %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i4>) -> tensor<2xi4>
    %c = stablehlo.slice %b [1:2] : (tensor<2xi4>) -> tensor<1xi4>
    %d = stablehlo.reshape %c : (tensor<1xi4>) -> tensor<i4>
    %e = stablehlo.add %d, %x : tensor<i4>
    stablehlo.return %e : tensor<i4>
  }) {dimensions = array<i64: 0>} : (tensor<3xi4>) -> tensor<3xi4>
  return %0 : tensor<3xi4>
})",
                             {&a}),
              ElementsAre(-2, 0, -2));
}

TEST(TupleTest, FunctionsTakeAndReturnTheirParts) {
  const Literal a = Scalar<float>(1.5f), b = Array<int32_t>({2}, {3, 4});
  const auto results = RunAll(R"(
func.func @main(%t: tuple<tensor<f32>, tensor<2xi32>>) -> tuple<tensor<2xi32>, tuple<tensor<f32>>> {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<2xi32>>) -> tensor<f32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xi32>>) -> tensor<2xi32>
  %c = stablehlo.add %a, %a : tensor<f32>
  %u = stablehlo.tuple %c : tuple<tensor<f32>>
  %v = stablehlo.tuple %b, %u : tuple<tensor<2xi32>, tuple<tensor<f32>>>
  return %v : tuple<tensor<2xi32>, tuple<tensor<f32>>>
})",
                              {&a, &b});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int32_t>(*results[0]), ElementsAre(3, 4));
  EXPECT_THAT(Elements<float>(*results[1]), ElementsAre(3.0f));
}

}  // namespace
}  // namespace pjrt::cpu
