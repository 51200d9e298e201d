// SPDX-License-Identifier: Apache-2.0
//
// while, case and if, tuples and tokens.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

TEST(WhileTest, CountsUntilTheConditionFails) {
  const std::string text = R"(
    func.func @main(%limit: tensor<i32>) -> (tensor<i32>, tensor<i64>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one64 = stablehlo.constant dense<1> : tensor<i64>
      %r:2 = "stablehlo.while"(%zero, %one64) ({
      ^bb0(%i: tensor<i32>, %p: tensor<i64>):
        %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %p: tensor<i64>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %three = stablehlo.constant dense<3> : tensor<i64>
        %next = stablehlo.add %i, %one : tensor<i32>
        %q = stablehlo.multiply %p, %three : tensor<i64>
        stablehlo.return %next, %q : tensor<i32>, tensor<i64>
      }) : (tensor<i32>, tensor<i64>) -> (tensor<i32>, tensor<i64>)
      return %r#0, %r#1 : tensor<i32>, tensor<i64>
    })";
  int64_t power = 1;
  for (int32_t limit = 0; limit < 12; ++limit) {
    const Literal argument = Scalar<int32_t>(limit);
    const auto results = RunAll(text, {&argument});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]->GetFirstElement<int32_t>(), limit);
    EXPECT_EQ(results[1]->GetFirstElement<int64_t>(), power);
    power *= 3;
  }
}

TEST(WhileTest, SwapsItsCarriedValues) {
  const std::string text = R"(
    func.func @main(%n: tensor<i32>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %r:3 = stablehlo.while(%i = %n, %x = %a, %y = %b) : tensor<i32>, tensor<3xf32>, tensor<3xf32>
      cond {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %go = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.subtract %i, %one : tensor<i32>
        stablehlo.return %next, %y, %x : tensor<i32>, tensor<3xf32>, tensor<3xf32>
      }
      return %r#1, %r#2 : tensor<3xf32>, tensor<3xf32>
    })";
  const Literal a = Array<float>({3}, {1, 2, 3}), b = Array<float>({3}, {4, 5, 6});
  for (int32_t n : {0, 1, 2, 5}) {
    const Literal count = Scalar<int32_t>(n);
    const auto results = RunAll(text, {&count, &a, &b});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(Elements<float>(*results[0]), Elements<float>(n % 2 == 0 ? a : b)) << n;
    EXPECT_EQ(Elements<float>(*results[1]), Elements<float>(n % 2 == 0 ? b : a)) << n;
  }
}

TEST(WhileTest, RotatesAndReversesCarriedValues) {
  // (x, y, z) -> (y, reverse(z), x + 1): views of carried values are read before any is
  // overwritten.
  const std::string text = R"(
    func.func @main(%n: tensor<i32>, %a: tensor<3xi32>, %b: tensor<3xi32>, %c: tensor<3xi32>)
        -> (tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) {
      %r:4 = stablehlo.while(%i = %n, %x = %a, %y = %b, %z = %c) : tensor<i32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
      cond {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %go = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %ones = stablehlo.constant dense<1> : tensor<3xi32>
        %next = stablehlo.subtract %i, %one : tensor<i32>
        %zr = stablehlo.reverse %z, dims = [0] : tensor<3xi32>
        %x1 = stablehlo.add %x, %ones : tensor<3xi32>
        stablehlo.return %next, %y, %zr, %x1 : tensor<i32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
      }
      return %r#1, %r#2, %r#3 : tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
    })";
  std::vector<int32_t> x = {1, 2, 3}, y = {10, 20, 30}, z = {100, 200, 300};
  const Literal a = Array<int32_t>({3}, x), b = Array<int32_t>({3}, y), c = Array<int32_t>({3}, z);
  for (int32_t n = 0; n < 8; ++n) {
    const Literal count = Scalar<int32_t>(n);
    const auto results = RunAll(text, {&count, &a, &b, &c});
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(Elements<int32_t>(*results[0]), x) << n;
    EXPECT_EQ(Elements<int32_t>(*results[1]), y) << n;
    EXPECT_EQ(Elements<int32_t>(*results[2]), z) << n;
    std::vector<int32_t> new_z = x;
    for (int32_t& v : new_z) ++v;
    x = y;
    y = {z[2], z[1], z[0]};
    z = new_z;
  }
}

TEST(WhileTest, PassesAValueThroughUnchanged) {
  const Literal a = Array<float>({2}, {7, 8});
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<2xf32>
      cond {
        %four = stablehlo.constant dense<4> : tensor<i32>
        %go = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %x : tensor<i32>, tensor<2xf32>
      }
      return %r#1 : tensor<2xf32>
    })",
                          {&a}),
            (std::vector<float>{7, 8}));
}

TEST(WhileTest, NestsAndUsesValuesFromOutside) {
  // sum over i < 5, j < i of (i * step + j)
  const Literal step = Scalar<int32_t>(10);
  int32_t expected = 0;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < i; ++j) expected += i * 10 + j;
  }
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%step: tensor<i32>) -> tensor<i32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %sum = %zero) : tensor<i32>, tensor<i32>
      cond {
        %five = stablehlo.constant dense<5> : tensor<i32>
        %go = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %base = stablehlo.multiply %i, %step : tensor<i32>
        %s:2 = stablehlo.while(%j = %zero, %inner = %sum) : tensor<i32>, tensor<i32>
        cond {
          %more = stablehlo.compare LT, %j, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %more : tensor<i1>
        } do {
          %t = stablehlo.add %base, %j : tensor<i32>
          %u = stablehlo.add %inner, %t : tensor<i32>
          %nj = stablehlo.add %j, %one : tensor<i32>
          stablehlo.return %nj, %u : tensor<i32>, tensor<i32>
        }
        %ni = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %ni, %s#1 : tensor<i32>, tensor<i32>
      }
      return %r#1 : tensor<i32>
    })",
                            {&step}),
            std::vector<int32_t>{expected});
}

// The branch makes its first result before it reads the carried value that the result will replace.
TEST(WhileTest, ABranchMayReadACarriedValueAfterMakingItsSuccessor) {
  const std::string text = R"(
    func.func @main(%a: tensor<2x2xf32>, %p: tensor<i1>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %zeros = stablehlo.constant dense<0.0> : tensor<2x2xf32>
      %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %zeros) : tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
      cond {
        %limit = stablehlo.constant dense<3> : tensor<i32>
        %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %ones = stablehlo.constant dense<1.0> : tensor<2x2xf32>
        %b:2 = "stablehlo.if"(%p) ({
          %x1 = stablehlo.add %x, %ones : tensor<2x2xf32>
          %sq = stablehlo.dot_general %x1, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
          stablehlo.return %x1, %sq : tensor<2x2xf32>, tensor<2x2xf32>
        }, {
          %x2 = stablehlo.subtract %x, %ones : tensor<2x2xf32>
          %sq = stablehlo.dot_general %x2, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
          stablehlo.return %x2, %sq : tensor<2x2xf32>, tensor<2x2xf32>
        }) : (tensor<i1>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %b#0, %b#1 : tensor<i32>, tensor<2x2xf32>, tensor<2x2xf32>
      }
      return %r#1, %r#2 : tensor<2x2xf32>, tensor<2x2xf32>
    })";
  for (int p = 0; p < 2; ++p) {
    std::vector<float> x = {1, 2, 3, 4}, y(4, 0);
    for (int i = 0; i < 3; ++i) {
      std::vector<float> x1 = x;
      for (float& v : x1) v += p ? 1 : -1;
      y = {x1[0] * x[0] + x1[1] * x[2], x1[0] * x[1] + x1[1] * x[3], x1[2] * x[0] + x1[3] * x[2],
           x1[2] * x[1] + x1[3] * x[3]};
      x = x1;
    }
    const Literal a = Array<float>({2, 2}, {1, 2, 3, 4}), pred = Preds({}, {p});
    const auto results = RunAll(text, {&a, &pred});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(Elements<float>(*results[0]), x);
    EXPECT_EQ(Elements<float>(*results[1]), y);
  }
}

// A value is changed in two steps; what is in between is carried as well, or is not.
TEST(WhileTest, ArraysAreUpdatedTwiceInAnIteration) {
  const std::string update = R"((%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%old: tensor<i32>, %new: tensor<i32>):
          stablehlo.return %new : tensor<i32>
        }) : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>)";
  const auto scatter = [&](std::string to, std::string at, std::string value) {
    return "\"stablehlo.scatter\"" +
           absl::StrReplaceAll(update, {{"%a", to}, {"%b", at}, {"%c", value}});
  };
  for (const std::string between : {"%y", "%once"}) {
    const std::string text =
        R"(func.func @main(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %r:3 = stablehlo.while(%i = %zero, %x = %a, %y = %a) : tensor<i32>, tensor<4xi32>, tensor<4xi32>
      cond {
        %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %here = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
        %there = stablehlo.reshape %next : (tensor<i32>) -> tensor<1xi32>
        %v = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
        %w = stablehlo.dynamic_slice %x, %next, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
        %p = stablehlo.reshape %v : (tensor<1xi32>) -> tensor<i32>
        %q = stablehlo.reshape %w : (tensor<1xi32>) -> tensor<i32>
        %once = )" +
        scatter("%x", "%here", "%q") + "\n%twice = " + scatter("%once", "%there", "%p") +
        "\nstablehlo.return %next, %twice, " + between +
        R"( : tensor<i32>, tensor<4xi32>, tensor<4xi32>
      }
      return %r#1, %r#2 : tensor<4xi32>, tensor<4xi32>
    })";
    const Literal a = Array<int32_t>({4}, {7, 1, 2, 3});
    const auto results = RunAll(text, {&a});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(Elements<int32_t>(*results[0]), (std::vector<int32_t>{1, 2, 3, 7}));
    const std::vector<int32_t> last_between = {1, 2, 3, 3};
    EXPECT_EQ(Elements<int32_t>(*results[1]),
              between == "%y" ? (std::vector<int32_t>{7, 1, 2, 3}) : last_between);
  }
}

TEST(WhileTest, TheInitialValueIsStillThereAfterwards) {
  const Literal a = Array<int32_t>({2}, {1, 2});
  const auto results = RunAll(R"(
    func.func @main(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
      %ones = stablehlo.constant dense<1> : tensor<2xi32>
      %start = stablehlo.add %a, %ones : tensor<2xi32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.while(%i = %zero, %x = %start) : tensor<i32>, tensor<2xi32>
      cond {
        %limit = stablehlo.constant dense<5> : tensor<i32>
        %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        %y = stablehlo.add %x, %start : tensor<2xi32>
        stablehlo.return %next, %y : tensor<i32>, tensor<2xi32>
      }
      return %r#1, %start : tensor<2xi32>, tensor<2xi32>
    })",
                              {&a});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<int32_t>(*results[0]), (std::vector<int32_t>{12, 18}));
  EXPECT_EQ(Elements<int32_t>(*results[1]), (std::vector<int32_t>{2, 3}));
}

TEST(WhileTest, ArraysAreChangedAsOftenAsTheConditionHolds) {
  // The condition computes with values of its own, and one of the carried values says itself
  // whether to go on.
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<40xf32>, %limit: tensor<i32>) -> (tensor<40xf32>, tensor<i32>, tensor<40xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2.0> : tensor<40xf32>
      %w:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<40xf32>
      cond {
        %twice = stablehlo.add %i, %i : tensor<i32>
        %next = stablehlo.add %twice, %one : tensor<i32>
        %go = stablehlo.compare LT, %next, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %double = stablehlo.multiply %v, %two : tensor<40xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %double : tensor<i32>, tensor<40xf32>
      }
      %start = stablehlo.compare LT, %zero, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %u:3 = stablehlo.while(%go = %start, %j = %zero, %v = %x) : tensor<i1>, tensor<i32>, tensor<40xf32>
      cond {
        stablehlo.return %go : tensor<i1>
      } do {
        %double = stablehlo.add %v, %two : tensor<40xf32>
        %next = stablehlo.add %j, %one : tensor<i32>
        %more = stablehlo.compare LT, %next, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more, %next, %double : tensor<i1>, tensor<i32>, tensor<40xf32>
      }
      return %w#1, %w#0, %u#2 : tensor<40xf32>, tensor<i32>, tensor<40xf32>
    })";
  for (int32_t limit : {-1, 0, 1, 2, 3, 8, 9}) {
    std::vector<float> x(40);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const Literal in = Array<float>({40}, x), end = Array<int32_t>({}, {limit});
    const auto results = RunAll(kText, {&in, &end});
    ASSERT_EQ(results.size(), 3u);
    const int32_t times = limit <= 1 ? 0 : limit / 2;
    EXPECT_EQ(Elements<int32_t>(*results[1]), std::vector<int32_t>{times}) << limit;
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(Elements<float>(*results[0])[i], std::ldexp(x[i], times)) << limit;
      EXPECT_EQ(Elements<float>(*results[2])[i], x[i] + 2 * std::max(limit, 0)) << limit;
    }
  }
}

// Without an end the loop would not return.
TEST(WhileTest, ALoopThatNothingUsesDoesNotRun) {
  const Literal a = Array<float>({2}, {1.0f, 2.0f});
  const auto results = RunAll(R"(
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %r = stablehlo.while(%x = %a) : tensor<2xf32>
      cond {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
        %go = stablehlo.compare EQ, %sum, %sum : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %y = stablehlo.sine %x : tensor<2xf32>
        stablehlo.return %y : tensor<2xf32>
      }
      %b = stablehlo.add %a, %a : tensor<2xf32>
      return %b : tensor<2xf32>
    })",
                              {&a});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(Elements<float>(*results[0]), (std::vector<float>{2.0f, 4.0f}));
}

// The second and fourth value are carried for themselves alone, around and inside of the others.
TEST(WhileTest, ValuesThatNothingNeedsLeaveTheOthersAsTheyAre) {
  const Literal n = Scalar<int32_t>(5);
  const Literal a = Array<int32_t>({3}, {1, 10, 100});
  const auto results = RunAll(R"(
    func.func @main(%n: tensor<i32>, %a: tensor<3xi32>) -> (tensor<3xi32>, tensor<i32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %ones = stablehlo.constant dense<1> : tensor<3xi32>
      %r:4 = stablehlo.while(%i = %zero, %u = %a, %x = %a, %v = %a) : tensor<i32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
      cond {
        %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %odd = stablehlo.and %i, %one : tensor<i32>
        %s:2 = "stablehlo.case"(%odd) ({
          %p = stablehlo.add %x, %a : tensor<3xi32>
          %q = stablehlo.multiply %v, %u : tensor<3xi32>
          stablehlo.return %q, %p : tensor<3xi32>, tensor<3xi32>
        }, {
          %p = stablehlo.subtract %x, %ones : tensor<3xi32>
          stablehlo.return %v, %p : tensor<3xi32>, tensor<3xi32>
        }) : (tensor<i32>) -> (tensor<3xi32>, tensor<3xi32>)
        %w = stablehlo.add %u, %x : tensor<3xi32>
        stablehlo.return %next, %s#0, %s#1, %w : tensor<i32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>
      }
      return %r#2, %r#0 : tensor<3xi32>, tensor<i32>
    })",
                              {&n, &a});
  ASSERT_EQ(results.size(), 2u);
  // Three times a more, twice one less.
  EXPECT_EQ(Elements<int32_t>(*results[0]), (std::vector<int32_t>{2, 38, 398}));
  EXPECT_EQ(results[1]->GetFirstElement<int32_t>(), 5);
}

TEST(CaseTest, AnIndexOutOfRangeTakesTheLastBranch) {
  const std::string text = R"(
    func.func @main(%index: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
      %r = "stablehlo.case"(%index) ({
        %a = stablehlo.add %x, %x : tensor<f32>
        stablehlo.return %a : tensor<f32>
      }, {
        stablehlo.return %x : tensor<f32>
      }, {
        %c = stablehlo.constant dense<-5.0> : tensor<f32>
        stablehlo.return %c : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      return %r : tensor<f32>
    })";
  const Literal x = Scalar<float>(21);
  for (int32_t index : {0, 1, 2, 3, 1000, -1, INT32_MIN, INT32_MAX}) {
    const Literal i = Scalar<int32_t>(index);
    EXPECT_EQ(RunOne<float>(text, {&i, &x})[0], index == 0 ? 42 : index == 1 ? 21 : -5) << index;
  }
}

TEST(CaseTest, IfTakesTheFirstBranchForTrue) {
  const std::string text = R"(
    func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
      %r:2 = "stablehlo.if"(%p) ({
        %n = stablehlo.negate %x : tensor<2xf32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        stablehlo.return %n, %one : tensor<2xf32>, tensor<i32>
      }, {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        stablehlo.return %x, %zero : tensor<2xf32>, tensor<i32>
      }) : (tensor<i1>) -> (tensor<2xf32>, tensor<i32>)
      return %r#0, %r#1 : tensor<2xf32>, tensor<i32>
    })";
  const Literal x = Array<float>({2}, {1, -2});
  for (int p = 0; p < 2; ++p) {
    const Literal pred = Preds({}, {p});
    const auto results = RunAll(text, {&pred, &x});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(Elements<float>(*results[0]),
              p ? (std::vector<float>{-1, 2}) : (std::vector<float>{1, -2}));
    EXPECT_EQ(results[1]->GetFirstElement<int32_t>(), p);
  }
}

TEST(CaseTest, ABranchMayReturnOneValueTwice) {
  const Literal pred = Preds({}, {1}), x = Scalar<float>(3);
  const auto results = RunAll(R"(
    func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %r:2 = "stablehlo.if"(%p) ({
        %y = stablehlo.multiply %x, %x : tensor<f32>
        stablehlo.return %y, %y : tensor<f32>, tensor<f32>
      }, {
        stablehlo.return %x, %x : tensor<f32>, tensor<f32>
      }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
      return %r#0, %r#1 : tensor<f32>, tensor<f32>
    })",
                              {&pred, &x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]->GetFirstElement<float>(), 9);
  EXPECT_EQ(results[1]->GetFirstElement<float>(), 9);
}

TEST(TupleTest, PartsComeOutAsTheyWentIn) {
  const Literal a = Scalar<float>(1), b = Array<int32_t>({2}, {2, 3});
  const auto results = RunAll(R"(
    func.func @main(%a: tensor<f32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<f32>) {
      %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<2xi32>>
      %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<2xi32>>) -> tensor<f32>
      %1 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xi32>>) -> tensor<2xi32>
      %2 = stablehlo.add %0, %0 : tensor<f32>
      return %1, %2 : tensor<2xi32>, tensor<f32>
    })",
                              {&a, &b});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<int32_t>(*results[0]), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(results[1]->GetFirstElement<float>(), 2);
}

TEST(TokenTest, TokensOrderNothingThatHasNoEffect) {
  const Literal a = Scalar<float>(4);
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %t = stablehlo.create_token : !stablehlo.token
      %u = stablehlo.after_all %t, %t : !stablehlo.token
      %b:2 = stablehlo.optimization_barrier %a, %u : tensor<f32>, !stablehlo.token
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:3 = stablehlo.while(%i = %zero, %tok = %b#1, %x = %b#0) : tensor<i32>, !stablehlo.token, tensor<f32>
      cond {
        %limit = stablehlo.constant dense<2> : tensor<i32>
        %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %next = stablehlo.add %i, %one : tensor<i32>
        %y = stablehlo.add %x, %x : tensor<f32>
        stablehlo.return %next, %tok, %y : tensor<i32>, !stablehlo.token, tensor<f32>
      }
      return %r#2 : tensor<f32>
    })",
                          {&a}),
            std::vector<float>{16});
}

TEST(CallTest, FunctionsAreCalledWithTheirArguments) {
  const Literal a = Array<float>({2}, {1, 2});
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = call @twice(%a) : (tensor<2xf32>) -> tensor<2xf32>
      %1 = func.call @twice(%0) : (tensor<2xf32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    }
    func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
                          {&a}),
            (std::vector<float>{4, 8}));
}

}  // namespace
}  // namespace pjrt::cpu
