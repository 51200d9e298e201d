// SPDX-License-Identifier: Apache-2.0
//
// Steps on single elements, and loops and branches of such steps, as scalar programs: which steps
// become one, and what they compute then.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/plan_test_util.h"

namespace pjrt::cpu {
namespace {

bool IsOneScalarProgram(absl::string_view text) {
  const std::vector<std::string> steps = StepsOf(text);
  return steps.size() == 1 && absl::StartsWith(steps[0], "scalar program");
}

constexpr char kNested[] = R"(
  func.func @main(%seed: tensor<i32>, %x: tensor<6xi64>) -> (tensor<i32>, tensor<6xi64>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %three = stablehlo.constant dense<3> : tensor<i32>
    %limit = stablehlo.constant dense<20> : tensor<i32>
    %o:3 = stablehlo.while(%i = %zero, %s = %seed, %v = %x) : tensor<i32>, tensor<i32>, tensor<6xi64>
    cond {
      %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %p:2 = stablehlo.while(%j = %i, %t = %s) : tensor<i32>, tensor<i32>
      cond {
        %more = stablehlo.compare LT, %j, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %odd = stablehlo.compare NE, %t, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %both = stablehlo.and %more, %odd : tensor<i1>
        stablehlo.return %both : tensor<i1>
      } do {
        %k = stablehlo.add %j, %three : tensor<i32>
        %t3 = stablehlo.multiply %t, %three : tensor<i32>
        %t4 = stablehlo.add %t3, %j : tensor<i32>
        stablehlo.return %k, %t4 : tensor<i32>, tensor<i32>
      }
      %which = stablehlo.remainder %p#1, %three : tensor<i32>
      %b = "stablehlo.case"(%which) ({
        %c0 = stablehlo.add %v, %v : tensor<6xi64>
        stablehlo.return %c0 : tensor<6xi64>
      }, {
        %c1 = stablehlo.reverse %v, dims = [0] : tensor<6xi64>
        stablehlo.return %c1 : tensor<6xi64>
      }, {
        %w = stablehlo.convert %p#1 : (tensor<i32>) -> tensor<i64>
        %wb = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<i64>) -> tensor<6xi64>
        %c2 = stablehlo.subtract %v, %wb : tensor<6xi64>
        stablehlo.return %c2 : tensor<6xi64>
      }) : (tensor<i32>) -> tensor<6xi64>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %p#1, %b : tensor<i32>, tensor<i32>, tensor<6xi64>
    }
    return %o#1, %o#2 : tensor<i32>, tensor<6xi64>
  })";

// Doubles a number `times` times.
std::string Doubling(int64_t times) {
  return absl::StrReplaceAll(R"(func.func @main(%a: tensor<f32>) -> tensor<f32> {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %n = stablehlo.constant dense<TIMES> : tensor<i32>
        %w:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<f32>
        cond {
          %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %twice = stablehlo.add %x, %x : tensor<f32>
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next, %twice : tensor<i32>, tensor<f32>
        }
        return %w#1 : tensor<f32>
      })",
                             {{"TIMES", absl::StrCat(times)}});
}

TEST(ScalarRunTest, CostsCountTheIterationsOfLoopsOfKnownLength) {
  const double some = CostOf(Doubling(200));
  const double many = CostOf(Doubling(20000));
  EXPECT_GT(some, 200);
  EXPECT_LT(some, 20000);
  EXPECT_NEAR(many / some, 100, 5);
}

TEST(ScalarRunTest, LoopsOfUnknownLengthCountAsLong) {
  EXPECT_GT(CostOf(R"(func.func @main(%a: tensor<f32>) -> tensor<f32> {
        %end = stablehlo.constant dense<1.0e3> : tensor<f32>
        %w = stablehlo.while(%x = %a) : tensor<f32>
        cond {
          %go = stablehlo.compare LT, %x, %end : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %next = stablehlo.add %x, %x : tensor<f32>
          stablehlo.return %next : tensor<f32>
        }
        return %w : tensor<f32>
      })"),
            100000);
}

TEST(ScalarRunTest, NestedLoopsAndBranchesOfFewElementsAreOneStep) {
  EXPECT_TRUE(IsOneScalarProgram(kNested));
  for (int32_t seed : {0, 1, 2, 3, 5, -4, 1000}) {
    std::vector<int64_t> v = {1, -2, 3, 40, 5, 6};
    const Literal s0 = Scalar<int32_t>(seed), x0 = Array<int64_t>({6}, v);
    const auto results = RunAll(kNested, {&s0, &x0});
    ASSERT_EQ(results.size(), 2u);
    uint32_t s = static_cast<uint32_t>(seed);
    for (int32_t i = 0; i < 20; ++i) {
      for (int32_t j = i; j < 20 && s != 3; j += 3) s = s * 3 + static_cast<uint32_t>(j);
      const int32_t signed_s = static_cast<int32_t>(s);
      switch (signed_s % 3) {
        case 0:
          for (int64_t& e : v) e = static_cast<int64_t>(static_cast<uint64_t>(e) * 2);
          break;
        case 1:
          v = {v[5], v[4], v[3], v[2], v[1], v[0]};
          break;
        default:  // 2, and what is no branch
          for (int64_t& e : v) e -= signed_s;
      }
    }
    EXPECT_EQ(results[0]->GetFirstElement<int32_t>(), static_cast<int32_t>(s)) << seed;
    EXPECT_EQ(Elements<int64_t>(*results[1]), v) << seed;
  }
}

TEST(ScalarRunTest, SlicesAreClampedAndUpdatesOutsideAreDropped) {
  // For i = -3 ... 7: y[i] of an array of 4 is added up, clamped to it; z[i] += i where inside.
  constexpr char kText[] = R"(
    func.func @main(%y: tensor<4xf32>, %z: tensor<100xf32>) -> (tensor<f32>, tensor<100xf32>) {
      %first = stablehlo.constant dense<-3> : tensor<i64>
      %limit = stablehlo.constant dense<110> : tensor<i64>
      %one = stablehlo.constant dense<1> : tensor<i64>
      %none = stablehlo.constant dense<0.0> : tensor<f32>
      %w:3 = stablehlo.while(%i = %first, %s = %none, %v = %z) : tensor<i64>, tensor<f32>, tensor<100xf32>
      cond {
        %go = stablehlo.compare LT, %i, %limit : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %e1 = stablehlo.dynamic_slice %y, %i, sizes = [1] : (tensor<4xf32>, tensor<i64>) -> tensor<1xf32>
        %e = stablehlo.reshape %e1 : (tensor<1xf32>) -> tensor<f32>
        %t = stablehlo.add %s, %e : tensor<f32>
        %f = stablehlo.convert %i : (tensor<i64>) -> tensor<f32>
        %at = stablehlo.reshape %i : (tensor<i64>) -> tensor<1xi64>
        %u = "stablehlo.scatter"(%v, %at, %f) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%l: tensor<f32>, %r: tensor<f32>):
          %sum = stablehlo.add %l, %r : tensor<f32>
          stablehlo.return %sum : tensor<f32>
        }) : (tensor<100xf32>, tensor<1xi64>, tensor<f32>) -> tensor<100xf32>
        %next = stablehlo.add %i, %one : tensor<i64>
        stablehlo.return %next, %t, %u : tensor<i64>, tensor<f32>, tensor<100xf32>
      }
      return %w#1, %w#2 : tensor<f32>, tensor<100xf32>
    })";
  const Literal y = Array<float>({4}, {1, 10, 100, 1000});
  const Literal z = Array<float>({100}, std::vector<float>(100, 0.5f));
  const auto results = RunAll(kText, {&y, &z});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]->GetFirstElement<float>(), 4 * 1 + 10 + 100 + 107 * 1000);
  const std::vector<float> updated = Elements<float>(*results[1]);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(updated[i], static_cast<float>(i) + 0.5f) << i;
}

TEST(ScalarRunTest, AnUpdateAtAKnownPlaceOutsideIsDropped) {
  for (int index : {-4, -1, 2, 5}) {
    const std::string text = absl::StrCat(R"(
      func.func @main(%z: tensor<4xi32>, %x: tensor<i32>) -> tensor<4xi32> {
        %at = stablehlo.constant dense<)",
                                          index, R"(> : tensor<1xi32>
        %u = "stablehlo.scatter"(%z, %at, %x) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%l: tensor<i32>, %r: tensor<i32>):
          %sum = stablehlo.multiply %l, %r : tensor<i32>
          stablehlo.return %sum : tensor<i32>
        }) : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
        return %u : tensor<4xi32>
      })");
    const Literal z = Array<int32_t>({4}, {2, 3, 4, 5});
    const Literal x = Array<int32_t>({}, {10});
    const auto results = RunAll(text, {&z, &x});
    ASSERT_EQ(results.size(), 1u);
    std::vector<int32_t> want = {2, 3, 4, 5};
    if (index >= 0 && index < 4) want[index] *= 10;
    EXPECT_EQ(Elements<int32_t>(*results[0]), want) << index;
  }
}

TEST(ScalarRunTest, ScatteredElementsAreCombinedAsTheyAreComputedWithNotAsTheyAreStored) {
  for (const char* type : {"f32", "f16", "bf16", "f8E5M2", "i8"}) {
    const std::string text = absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<1xf32>, %u: tensor<f32>, %i: tensor<1xi32>) -> tensor<1xf32> {
        %a = stablehlo.convert %x : (tensor<1xf32>) -> tensor<1xT>
        %b = stablehlo.convert %u : (tensor<f32>) -> tensor<T>
        %s = "stablehlo.scatter"(%a, %i, %b) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%l: tensor<T>, %r: tensor<T>):
          %m = stablehlo.maximum %l, %r : tensor<T>
          stablehlo.return %m : tensor<T>
        }) : (tensor<1xT>, tensor<1xi32>, tensor<T>) -> tensor<1xT>
        %y = stablehlo.convert %s : (tensor<1xT>) -> tensor<1xf32>
        return %y : tensor<1xf32>
      })",
                                                 {{"T", type}});
    const Literal x = Array<float>({1}, {-1}), u = Array<float>({}, {-2}),
                  i = Array<int32_t>({1}, {0});
    const auto results = RunAll(text, {&x, &u, &i});
    ASSERT_EQ(results.size(), 1u) << type;
    EXPECT_EQ(results[0]->GetFirstElement<float>(), -1) << type;
  }
}

TEST(ScalarRunTest, AStepOnAnArrayKeepsTheScalarsAroundItApart) {
  const std::vector<std::string> steps = StepsOf(R"(
    func.func @main(%a: tensor<f32>, %x: tensor<4096xf32>) -> tensor<4096xf32> {
      %0 = stablehlo.multiply %a, %a : tensor<f32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4096xf32>
      %2 = stablehlo.add %x, %1 : tensor<4096xf32>
      return %2 : tensor<4096xf32>
    })");
  for (const std::string& step : steps)
    EXPECT_TRUE(absl::StartsWith(step, "scalar program") || absl::StrContains(step, "add")) << step;
}

std::string InType(const std::string& text, PrimitiveType type) {
  const std::string point = IsFloating(type) ? ".0" : "";
  const std::string least = type == F32    ? "0xFF800000"  // -inf
                            : type == F64  ? "0xFFF0000000000000"
                            : type == BF16 ? "0xFF80"
                                           : "-1000";
  return absl::StrReplaceAll(text, {{"TYPE", GetPrimitiveTypeInfo(type).stablehlo_name},
                                    {"NONE", "0" + point},
                                    {"ONE", "1" + point},
                                    {"LEAST", least}});
}

// Sums of rows, beginning with 1, the largest of each column, whether all is positive, three times.
TEST(ScalarRunTest, ReductionsOfAFewElementsAreInstructions) {
  const std::string text = R"(
    func.func @main(%x: tensor<2x3xTYPE>) -> (tensor<2x3xTYPE>, tensor<2xTYPE>, tensor<3xTYPE>, tensor<i1>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<3> : tensor<i32>
      %first = stablehlo.constant dense<ONE> : tensor<TYPE>
      %least = stablehlo.constant dense<LEAST> : tensor<TYPE>
      %none = stablehlo.constant dense<NONE> : tensor<2x3xTYPE>
      %none2 = stablehlo.constant dense<NONE> : tensor<2xTYPE>
      %none3 = stablehlo.constant dense<NONE> : tensor<3xTYPE>
      %true = stablehlo.constant dense<true> : tensor<i1>
      %w:5 = stablehlo.while(%i = %zero, %a = %x, %s0 = %none2, %m0 = %none3, %p0 = %true) : tensor<i32>, tensor<2x3xTYPE>, tensor<2xTYPE>, tensor<3xTYPE>, tensor<i1>
      cond {
        %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %s = stablehlo.reduce(%a init: %first) applies stablehlo.add across dimensions = [1] : (tensor<2x3xTYPE>, tensor<TYPE>) -> tensor<2xTYPE>
        %m = stablehlo.reduce(%a init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xTYPE>, tensor<TYPE>) -> tensor<3xTYPE>
        %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xTYPE>) -> tensor<2x3xTYPE>
        %mb = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<3xTYPE>) -> tensor<2x3xTYPE>
        %d = stablehlo.subtract %sb, %mb : tensor<2x3xTYPE>
        %b = stablehlo.add %a, %d : tensor<2x3xTYPE>
        %above = stablehlo.compare GT, %b, %none : (tensor<2x3xTYPE>, tensor<2x3xTYPE>) -> tensor<2x3xi1>
        %p = stablehlo.reduce(%above init: %true) applies stablehlo.and across dimensions = [0, 1] : (tensor<2x3xi1>, tensor<i1>) -> tensor<i1>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %b, %s, %m, %p : tensor<i32>, tensor<2x3xTYPE>, tensor<2xTYPE>, tensor<3xTYPE>, tensor<i1>
      }
      return %w#1, %w#2, %w#3, %w#4 : tensor<2x3xTYPE>, tensor<2xTYPE>, tensor<3xTYPE>, tensor<i1>
    })";
  for (const bool has_nan : {false, true}) {
    std::vector<double> a = {4, -2, 7, 1, 0, -3}, s(2), m(3);
    if (has_nan) a[1] = std::numeric_limits<double>::quiet_NaN();
    const Literal x = Array<double>({2, 3}, a);
    bool all = true;
    for (int step = 0; step < 3; ++step) {
      for (size_t r = 0; r < 2; ++r) s[r] = 1 + a[3 * r] + a[3 * r + 1] + a[3 * r + 2];
      for (size_t c = 0; c < 3; ++c) m[c] = a[c] != a[c] ? a[c] : std::fmax(a[c], a[3 + c]);
      all = true;
      for (size_t i = 0; i < 6; ++i) {
        a[i] += s[i / 3] - m[i % 3];
        all = all && a[i] > 0;
      }
    }
    for (PrimitiveType type : {F32, F64, S32, S64, BF16}) {
      if (has_nan && !IsFloating(type)) continue;
      const std::string name(GetPrimitiveTypeInfo(type).stablehlo_name);
      const std::string program = InType(text, type);
      EXPECT_EQ(IsOneScalarProgram(program), type != BF16) << name;
      const Literal in = *x.Convert(type);
      const std::vector<std::shared_ptr<Literal>> results = RunAll(program, {&in});
      ASSERT_EQ(results.size(), 4u);
      const auto known = [](std::vector<double> values) {  // NaN is equal to itself
        for (double& v : values) v = v != v ? 12345 : v;
        return values;
      };
      const std::vector<double> wanted[] = {a, s, m};
      for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(known(Elements<double>(*results[i]->Convert(F64))), known(wanted[i])) << name;
      EXPECT_EQ(results[3]->data<bool>()[0], all) << name;
    }
  }
}

TEST(ScalarRunTest, SumsOfNarrowNumbersWrapBeforeTheyAreUsed) {
  const Literal x = *Array<int32_t>({3}, {9, 14, 2}).Convert(U4);
  const std::vector<std::shared_ptr<Literal>> results = RunAll(R"(
    func.func @main(%x: tensor<3xui4>) -> tensor<ui4> {
      %zero = stablehlo.constant dense<0> : tensor<ui4>
      %least = stablehlo.constant dense<13> : tensor<ui4>
      %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xui4>, tensor<ui4>) -> tensor<ui4>
      %0 = stablehlo.maximum %sum, %least : tensor<ui4>
      return %0 : tensor<ui4>
    })",
                                                               {&x});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(Elements<int32_t>(*results[0]->Convert(S32)), (std::vector<int32_t>{13}));
}

// v = m^T v + 1 and d = v . v, five times; in bf16, which no scalar instruction multiplies, too.
TEST(ScalarRunTest, ProductsOfAFewElementsAreInstructions) {
  const std::string text = R"(
    func.func @main(%m: tensor<3x3xTYPE>, %v: tensor<3xTYPE>) -> (tensor<3xTYPE>, tensor<TYPE>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %n = stablehlo.constant dense<5> : tensor<i32>
      %ones = stablehlo.constant dense<ONE> : tensor<3xTYPE>
      %none = stablehlo.constant dense<NONE> : tensor<TYPE>
      %w:3 = stablehlo.while(%i = %zero, %x = %v, %d = %none) : tensor<i32>, tensor<3xTYPE>, tensor<TYPE>
      cond {
        %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %y = stablehlo.dot_general %m, %x, contracting_dims = [0] x [0] : (tensor<3x3xTYPE>, tensor<3xTYPE>) -> tensor<3xTYPE>
        %z = stablehlo.add %y, %ones : tensor<3xTYPE>
        %e = stablehlo.dot_general %z, %z, contracting_dims = [0] x [0] : (tensor<3xTYPE>, tensor<3xTYPE>) -> tensor<TYPE>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %z, %e : tensor<i32>, tensor<3xTYPE>, tensor<TYPE>
      }
      return %w#1, %w#2 : tensor<3xTYPE>, tensor<TYPE>
    })";
  const std::vector<double> matrix = {0, 1, 0, 0, 0, -1, 1, 1, 0};
  std::vector<double> x = {3, -2, 5};
  for (int step = 0; step < 5; ++step) {
    std::vector<double> y(3, 1);
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) y[i] += matrix[j * 3 + i] * x[j];
    }
    x = y;
  }
  const Literal m = Array<double>({3, 3}, matrix), v = Array<double>({3}, {3, -2, 5});
  for (PrimitiveType type : {F32, F64, S32, S64, BF16}) {
    const std::string name(GetPrimitiveTypeInfo(type).stablehlo_name);
    const std::string program = InType(text, type);
    EXPECT_EQ(IsOneScalarProgram(program), type != BF16) << name;
    const Literal a = *m.Convert(type), b = *v.Convert(type);
    const std::vector<std::shared_ptr<Literal>> results = RunAll(program, {&a, &b});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(Elements<double>(*results[0]->Convert(F64)), x) << name;
    EXPECT_EQ(Elements<double>(*results[1]->Convert(F64)),
              (std::vector<double>{x[0] * x[0] + x[1] * x[1] + x[2] * x[2]}))
        << name;
  }
}

// Seven times x[i] += x[i - 1] for i > 0, x[0] += 1: elements move to a part of a longer buffer.
template <typename T>
void ExpectNeighboursAreAdded(const char* type) {
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<N>) -> tensor<N> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %seven = stablehlo.constant dense<7> : tensor<i32>
      %in = stablehlo.constant dense<1> : tensor<T>
      %w:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<N>
      cond {
        %go = stablehlo.compare LT, %i, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %moved = stablehlo.pad %v, %in, low = [1], high = [-1], interior = [0] : (tensor<N>, tensor<T>) -> tensor<N>
        %sum = stablehlo.add %moved, %v : tensor<N>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %sum : tensor<i32>, tensor<N>
      }
      return %w#1 : tensor<N>
    })";
  for (int64_t n = 2; n <= 12; ++n) {
    const std::string text = absl::StrReplaceAll(
        kText,
        {{"<N>", absl::StrCat("<", n, "x", type, ">")}, {"<T>", absl::StrCat("<", type, ">")}});
    EXPECT_EQ(IsOneScalarProgram(text), n <= 8) << type << " " << n;
    std::vector<T> v(n);
    for (int64_t i = 0; i < n; ++i) v[i] = static_cast<T>(i % 3);
    const Literal x = Array<T>({n}, v);
    for (int round = 0; round < 7; ++round) {
      for (int64_t i = n - 1; i >= 0; --i) v[i] = static_cast<T>(v[i] + (i == 0 ? 1 : v[i - 1]));
    }
    const auto results = RunAll(text, {&x});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(Elements<T>(*results[0]), v) << type << " " << n;
  }
}

TEST(ScalarRunTest, PartsOfSeveralElementsAreCopiedElementByElement) {
  ExpectNeighboursAreAdded<int8_t>("i8");
  ExpectNeighboursAreAdded<int16_t>("i16");
  ExpectNeighboursAreAdded<int32_t>("i32");
  ExpectNeighboursAreAdded<int64_t>("i64");
}

TEST(ScalarRunTest, PartsOfABufferMayBeReadInUnitsOfTheirOwn) {
  // The loop carries the first two of four i16, which are also read one by one.
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<4xi16>) -> (tensor<2xi16>, tensor<i16>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %half = stablehlo.slice %x [0:2] : (tensor<4xi16>) -> tensor<2xi16>
      %e = stablehlo.slice %x [1:2] : (tensor<4xi16>) -> tensor<1xi16>
      %e0 = stablehlo.reshape %e : (tensor<1xi16>) -> tensor<i16>
      %w:3 = stablehlo.while(%i = %zero, %v = %half, %s = %e0) : tensor<i32>, tensor<2xi16>, tensor<i16>
      cond {
        %go = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %t = stablehlo.add %s, %e0 : tensor<i16>
        stablehlo.return %next, %v, %t : tensor<i32>, tensor<2xi16>, tensor<i16>
      }
      return %w#1, %w#2 : tensor<2xi16>, tensor<i16>
    })";
  const Literal x = Array<int16_t>({4}, {100, -200, 300, 400});
  const auto results = RunAll(kText, {&x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<int16_t>(*results[0]), (std::vector<int16_t>{100, -200}));
  EXPECT_EQ(results[1]->GetFirstElement<int16_t>(), -400);
}

}  // namespace
}  // namespace pjrt::cpu
