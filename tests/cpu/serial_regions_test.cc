// SPDX-License-Identifier: Apache-2.0
//
// Ops whose regions use arrays from outside are loops over elements: they must give what the op
// itself gives of the same region without that array.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;

// Functions of %a, %b and %t, which is zeros. In their regions %e is a zero, which $USE takes from
// %t, or from a constant. $ADD is the region that adds two integers and %e.
struct RegionCase {
  const char* name;
  const char* element;
  std::vector<int64_t> a, b;
  const char* text;
};

const RegionCase kRegionCases[] = {
    {"reduce", "i32", {3, 4, 5}, {2}, R"(
  %i = stablehlo.constant dense<7> : tensor<i32>
  %0 = "stablehlo.reduce"(%a, %i) ($ADD) {dimensions = array<i64: 2, 0>} : (tensor<3x4x5xi32>, tensor<i32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>)"},
    {"reduce_of_nothing", "i32", {3, 0}, {2}, R"(
  %i = stablehlo.constant dense<7> : tensor<i32>
  %0 = "stablehlo.reduce"(%a, %i) ($ADD) {dimensions = array<i64: 1>} : (tensor<3x0xi32>, tensor<i32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>)"},
    {"reduce_of_two", "f32", {40, 3}, {40, 3}, R"(
  %i = stablehlo.constant dense<-9.0> : tensor<f32>
  %0:2 = "stablehlo.reduce"(%a, %b, %i, %i) ({
  ^bb0(%x: tensor<f32>, %u: tensor<f32>, %y: tensor<f32>, %v: tensor<f32>):
    $USE
    %p = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %m = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
    %n = stablehlo.select %p, %u, %v : tensor<i1>, tensor<f32>
    %r = stablehlo.add %m, %e : tensor<f32>
    stablehlo.return %r, %n : tensor<f32>, tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<40x3xf32>, tensor<40x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1 : tensor<3xf32>)"},
    {"reduce_window", "i32", {5, 7}, {2}, R"(
  %i = stablehlo.constant dense<3> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%a, %i) ($ADD) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 2>, padding = dense<[[1, 2], [-1, 3]]> : tensor<2x2xi64>} : (tensor<5x7xi32>, tensor<i32>) -> tensor<9x3xi32>
  return %0 : tensor<9x3xi32>)"},
    {"scatter_of_windows", "i32", {6, 5, 4}, {7, 2, 3}, R"(
  %at = stablehlo.constant dense<[[0, 0], [3, 4], [4, 1], [-1, 2], [2, 2], [3, 3], [0, 2]]> : tensor<7x2xi32>
  %0 = "stablehlo.scatter"(%a, %at, %b) ($ADD) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>} : (tensor<6x5x4xi32>, tensor<7x2xi32>, tensor<7x2x3xi32>) -> tensor<6x5x4xi32>
  return %0 : tensor<6x5x4xi32>)"},
    {"scatter_of_batches", "i32", {3, 8, 2}, {3, 5}, R"(
  %k = stablehlo.constant dense<[[0, 7, 8, 1, 1], [2, 2, 200, 4, 0], [6, 5, 4, 3, 2]]> : tensor<3x5xui8>
  %at = stablehlo.reshape %k : (tensor<3x5xui8>) -> tensor<3x1x5xui8>
  %c = stablehlo.constant dense<1> : tensor<3x1x5xui8>
  %m = stablehlo.minimum %at, %c : tensor<3x1x5xui8>
  %both = stablehlo.concatenate %at, %m, dim = 1 : (tensor<3x1x5xui8>, tensor<3x1x5xui8>) -> tensor<3x2x5xui8>
  %0 = "stablehlo.scatter"(%a, %both, %b) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    $USE
    %s = stablehlo.subtract %x, %y : tensor<i32>
    %r = stablehlo.add %s, %e : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], inserted_window_dims = [1, 2], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>} : (tensor<3x8x2xi32>, tensor<3x2x5xui8>, tensor<3x5xi32>) -> tensor<3x8x2xi32>
  return %0 : tensor<3x8x2xi32>)"},
    {"scatter_of_one_index", "i32", {9}, {4}, R"(
  %at = stablehlo.constant dense<3> : tensor<i64>
  %0 = "stablehlo.scatter"(%a, %at, %b) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    $USE
    %r = stablehlo.add %y, %e : tensor<i32>
    stablehlo.return %r : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>} : (tensor<9xi32>, tensor<i64>, tensor<4xi32>) -> tensor<9xi32>
  return %0 : tensor<9xi32>)"},
    {"select_and_scatter", "i32", {6, 9}, {3, 4}, R"(
  %i = stablehlo.constant dense<100> : tensor<i32>
  %0 = "stablehlo.select_and_scatter"(%a, %b, %i) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    $USE
    %s = stablehlo.add %x, %e : tensor<i32>
    %p = stablehlo.compare GE, %s, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, $ADD) {window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>, padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>} : (tensor<6x9xi32>, tensor<3x4xi32>, tensor<i32>) -> tensor<6x9xi32>
  return %0 : tensor<6x9xi32>)"},
    {"sort_rows", "i32", {5, 37}, {5, 37}, R"(
  %0:2 = "stablehlo.sort"(%a, %b) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>):
    $USE
    %s = stablehlo.add %x, %e : tensor<i32>
    %p = stablehlo.compare LT, %s, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<5x37xi32>, tensor<5x37xi32>) -> (tensor<5x37xi32>, tensor<5x37xi32>)
  return %0#1 : tensor<5x37xi32>)"},
    {"sort_columns", "f32", {64, 3}, {2}, R"(
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    $USE
    %s = stablehlo.add %x, %e : tensor<f32>
    %p = stablehlo.compare GT, %s, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<64x3xf32>) -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>)"},
};

constexpr char kAddRegion[] = R"({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    $USE
    %s = stablehlo.add %x, %y : tensor<i32>
    %r = stablehlo.add %s, %e : tensor<i32>
    stablehlo.return %r : tensor<i32>
  })";

class SerialRegionsTest : public ::testing::TestWithParam<RegionCase> {};

// From -4 to 4, with many equal ones.
Literal Small(PrimitiveType type, const std::vector<int64_t>& dims, std::mt19937* random) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  std::vector<int32_t> ints;
  for (int64_t i = 0; i < count; ++i) ints.push_back(static_cast<int32_t>((*random)() % 9) - 4);
  return type == S32 ? Array<int32_t>(dims, ints)
                     : Array<float>(dims, std::vector<float>(ints.begin(), ints.end()));
}

TEST_P(SerialRegionsTest, GiveWhatTheOpGives) {
  const RegionCase& c = GetParam();
  const std::string element = c.element;
  const PrimitiveType type = element == "i32" ? S32 : F32;
  std::mt19937 random(5);
  const Literal a = Small(type, c.a, &random), b = Small(type, c.b, &random);
  const Literal t = type == S32 ? Array<int32_t>({2}, {0, 0}) : Array<float>({2}, {0, 0});
  const std::string head = "func.func @main(%a: " + TensorText(c.a, element) +
                           ", %b: " + TensorText(c.b, element) +
                           ", %t: " + TensorText({2}, element) + ") -> ";
  const std::string body = c.text;
  const std::string result = body.substr(body.rfind(": ") + 2);
  const auto run = [&](const std::string& use) {
    const std::string text =
        head + result + " {" +
        absl::StrReplaceAll(absl::StrReplaceAll(body, {{"$ADD", kAddRegion}}),
                            {{"$USE", absl::StrReplaceAll(use, {{"$T", element}})}}) +
        "\n}";
    return RunAll(text, {&a, &b, &t});
  };
  const auto plain = run(type == S32 ? "%e = stablehlo.constant dense<0> : tensor<$T>"
                                     : "%e = stablehlo.constant dense<0.0> : tensor<$T>");
  const auto serial =
      run("%q = stablehlo.constant dense<1> : tensor<i32>\n"
          "%f = stablehlo.dynamic_slice %t, %q, sizes = [1] : (tensor<2x$T>, tensor<i32>) -> "
          "tensor<1x$T>\n%e = stablehlo.reshape %f : (tensor<1x$T>) -> tensor<$T>");
  ASSERT_EQ(plain.size(), 1u);
  ASSERT_EQ(serial.size(), 1u);
  ASSERT_EQ(plain[0]->size_bytes(), serial[0]->size_bytes());
  const LiteralBase &x = *plain[0], &y = *serial[0];
  EXPECT_EQ(std::memcmp(x.untyped_data(), y.untyped_data(), x.size_bytes()), 0)
      << x.ToString() << "\n"
      << y.ToString();
}

INSTANTIATE_TEST_SUITE_P(Ops, SerialRegionsTest, ::testing::ValuesIn(kRegionCases),
                         [](const ::testing::TestParamInfo<RegionCase>& c) {
                           return std::string(c.param.name);
                         });

// What a region uses may change from one time around to the next.
TEST(SerialRegionsTest, ARegionMayUseTheArgumentsOfALoopAroundItsOp) {
  const Literal a = Array<int32_t>({3}, {0, 1, 2}), t = Array<int32_t>({3}, {1, 10, 100});
  EXPECT_THAT(RunOne<int32_t>(R"(
func.func @main(%a: tensor<3xi32>, %t: tensor<3xi32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %w:3 = stablehlo.while(%n = %zero, %sum = %zero, %table = %t) : tensor<i32>, tensor<i32>, tensor<3xi32>
  cond {
    %p = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %r = "stablehlo.reduce"(%a, %sum) ({
    ^bb0(%x: tensor<i32>, %y: tensor<i32>):
      %f = stablehlo.dynamic_slice %table, %y, sizes = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
      %e = stablehlo.reshape %f : (tensor<1xi32>) -> tensor<i32>
      %k = stablehlo.multiply %e, %n : tensor<i32>
      %s = stablehlo.add %x, %k : tensor<i32>
      %q = stablehlo.add %s, %one : tensor<i32>
      stablehlo.return %q : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
    %m = stablehlo.add %n, %one : tensor<i32>
    %u = stablehlo.reverse %table, dims = [0] : tensor<3xi32>
    stablehlo.return %m, %r, %u : tensor<i32>, tensor<i32>, tensor<3xi32>
  }
  return %w#1 : tensor<i32>
})",
                              {&a, &t}),
              ElementsAre(3 + 111 + 3));
}

// An assertion in a reducer sees each element.
TEST(SerialRegionsTest, AnAssertionThatFailsInARegionFailsTheProgram) {
  const auto run = [](int32_t last) {
    const Literal a = Array<int32_t>({3}, {5, 5, last});
    return RunProgram(OneThreadClient(), R"(
func.func @main(%a: tensor<3xi32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.reduce"(%a, %zero) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    check.expect_eq_const %y, dense<5> : tensor<i32>
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
})",
                      {&a});
  };
  EXPECT_TRUE(run(5).ok()) << run(5).status();
  EXPECT_FALSE(run(6).ok());
}

}  // namespace
}  // namespace pjrt::cpu
