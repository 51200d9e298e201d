// SPDX-License-Identifier: Apache-2.0
//
// Ops that combine elements, on every element type, against plain loops. Values are small, so that
// sums are exact until they are rounded to the type: once, for sums and products of narrow floats.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/element_values.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

// 1, 2, 1, 0, 2, ...; complex ones with imaginary parts; without zeros where there is none.
std::vector<Number> Small(PrimitiveType type, int64_t count, int phase = 0) {
  static constexpr int kValues[] = {1, 2, 1, 0, 2, 1, 0};
  std::vector<Number> values;
  for (int64_t i = 0; i < count; ++i) {
    double v = kValues[(i + phase) % 7];
    if (type == F8E8M0FNU && v == 0) v = 1;
    if (type == PRED) v = v == 1;
    Number number = v;
    if (IsComplex(type)) number = Number(v, kValues[(i + 3) % 7]);
    values.push_back(Nearest(type, number));
  }
  return values;
}

// Sums and products as the type has them: or and and of i1.
Number Plus(PrimitiveType type, Number a, Number b) {
  return type == PRED ? Number(a.real() + b.real() > 0) : a + b;
}

// The order of complex numbers, and of others.
bool Less(Number a, Number b) {
  return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
}

class ReduceTypesTest : public ::testing::TestWithParam<PrimitiveType> {
 protected:
  static void Expect(const std::string& what, const std::string& text,
                     absl::Span<const Literal> operands, PrimitiveType result,
                     const std::vector<Number>& expected) {
    SCOPED_TRACE(what);
    std::vector<const Literal*> arguments;
    for (const Literal& operand : operands) arguments.push_back(&operand);
    const auto results = RunAll(OfType(text, GetParam()), arguments);
    ASSERT_EQ(results.size(), 1u);
    const std::vector<Number> actual = ReadNumbers(*results[0]);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const Number wanted = Nearest(result, expected[i]);
      EXPECT_TRUE(SameNumber(actual[i] + 0.0, wanted + 0.0))
          << "element " << i << ": " << NumberText(actual[i]) << ", expected "
          << NumberText(wanted);
    }
  }
};

const char kSum[] = R"(({
  ^bb0(%x: $S, %y: $S):
    %z = stablehlo.add %x, %y : $S
    stablehlo.return %z : $S
  }))";

TEST_P(ReduceTypesTest, ProductsOfMatrices) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 2 * 3 * 5), b = Small(type, 2 * 5 * 4, 2);
  std::vector<Number> c(2 * 3 * 4, 0);
  for (int batch = 0; batch < 2; ++batch) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) {
        for (int k = 0; k < 5; ++k) {
          Number& sum = c[(batch * 3 + i) * 4 + j];
          sum = Plus(type, sum, a[(batch * 3 + i) * 5 + k] * b[(batch * 5 + k) * 4 + j]);
        }
      }
    }
  }
  Expect("dot_general",
         R"(func.func @main(%a: tensor<2x3x5x$T>, %b: tensor<2x5x4x$T>) -> tensor<2x3x4x$T> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<2x3x5x$T>, tensor<2x5x4x$T>) -> tensor<2x3x4x$T>
  return %0 : tensor<2x3x4x$T>
})",
         {ArrayOf(type, {2, 3, 5}, a), ArrayOf(type, {2, 5, 4}, b)}, type, c);
  // Nothing to sum is 0.
  if (type == F8E8M0FNU) return;
  Expect("dot_general of nothing",
         R"(func.func @main(%a: tensor<2x0x$T>, %b: tensor<0x3x$T>) -> tensor<2x3x$T> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
      : (tensor<2x0x$T>, tensor<0x3x$T>) -> tensor<2x3x$T>
  return %0 : tensor<2x3x$T>
})",
         {ArrayOf(type, {2, 0}, {}), ArrayOf(type, {0, 3}, {})}, type, std::vector<Number>(6, 0));
}

// A wider result is not rounded to the operands' type on the way.
TEST_P(ReduceTypesTest, ProductsToAPreferredType) {
  const PrimitiveType type = GetParam();
  if (IsComplex(type) || type == F64 || type == PRED) GTEST_SKIP() << "nothing is wider";
  const PrimitiveType wide = IsFloating(type) ? F32 : IsSignedInteger(type) ? S64 : U64;
  const std::vector<Number> a = Small(type, 40), b = Small(type, 40, 3);
  Number sum = 0;
  for (int k = 0; k < 40; ++k) sum += a[k] * b[k];
  const std::string name(StableHloTypeName(wide));
  Expect("dot_general",
         "func.func @main(%a: tensor<40x$T>, %b: tensor<40x$T>) -> tensor<" + name +
             "> {\n  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] "
             ": (tensor<40x$T>, tensor<40x$T>) -> tensor<" +
             name + ">\n  return %0 : tensor<" + name + ">\n}\n",
         {ArrayOf(type, {40}, a), ArrayOf(type, {40}, b)}, wide, {sum});
}

// Products of two types, such as f32 and i32, as programs lowered for other platforms hold them.
TEST_P(ReduceTypesTest, ProductsOfTwoTypes) {
  const PrimitiveType type = GetParam();
  for (const PrimitiveType other : {PRED, S4, S8, U16, S32, U64, F8E5M2, BF16, F32, F64, C64}) {
    const PrimitiveType result = IsComplex(type) || IsComplex(other) ? C128 : F64;
    const std::vector<Number> a = Small(type, 9), b = Small(other, 9, 3);
    Number sum = 0;
    for (int k = 0; k < 9; ++k) sum += a[k] * b[k];
    const std::string types = absl::StrCat("(tensor<9x$T>, tensor<9x", StableHloTypeName(other),
                                           ">) -> tensor<", StableHloTypeName(result), ">");
    Expect(types,
           absl::StrCat("func.func @main(%a: tensor<9x$T>, %b: tensor<9x", StableHloTypeName(other),
                        ">) -> tensor<", StableHloTypeName(result),
                        "> {\n  %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : ",
                        types, "\n  return %0 : tensor<", StableHloTypeName(result), ">\n}\n"),
           {ArrayOf(type, {9}, a), ArrayOf(other, {9}, b)}, result, {sum});
  }
}

// Strided, padded, dilated on both sides, reversed, in two groups.
TEST_P(ReduceTypesTest, Convolutions) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 2 * 6 * 4), kernel = Small(type, 3 * 2 * 6, 1);
  // Input spread to 11, padded by 1 and 2; window of 5 with holes; stride 2: 5 places.
  std::vector<Number> c(2 * 5 * 6, 0);
  for (int batch = 0; batch < 2; ++batch) {
    for (int place = 0; place < 5; ++place) {
      for (int o = 0; o < 6; ++o) {
        for (int w = 0; w < 3; ++w) {
          const int at = place * 2 + w * 2 - 1;
          if (at < 0 || at > 10 || at % 2 != 0) continue;
          for (int i = 0; i < 2; ++i) {
            Number& sum = c[(batch * 5 + place) * 6 + o];
            sum = Plus(
                type, sum,
                a[(batch * 6 + at / 2) * 4 + o / 3 * 2 + i] * kernel[((2 - w) * 2 + i) * 6 + o]);
          }
        }
      }
    }
  }
  if (type == F8E8M0FNU) {
    // A sum of nothing has no value in this type.
    for (Number& sum : c) sum = Nearest(type, sum);
  }
  Expect("convolution",
         R"(func.func @main(%a: tensor<2x6x4x$T>, %k: tensor<3x2x6x$T>) -> tensor<2x5x6x$T> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {stride = [2], pad = [[1, 2]], lhs_dilate = [2], rhs_dilate = [2], reverse = [1]}
      {feature_group_count = 2 : i64, batch_group_count = 1 : i64}
      : (tensor<2x6x4x$T>, tensor<3x2x6x$T>) -> tensor<2x5x6x$T>
  return %0 : tensor<2x5x6x$T>
})",
         {ArrayOf(type, {2, 6, 4}, a), ArrayOf(type, {3, 2, 6}, kernel)}, type, c);
}

TEST_P(ReduceTypesTest, ReductionsOfRowsAndColumns) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 5 * 4);
  std::vector<Number> rows(5, Small(type, 1)[0]), columns(4, Small(type, 1)[0]);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 4; ++j) {
      rows[i] = Plus(type, rows[i], a[i * 4 + j]);
      columns[j] = Plus(type, columns[j], a[i * 4 + j]);
    }
  }
  const auto text = [](const char* dim, const char* result) {
    return std::string("func.func @main(%a: tensor<5x4x$T>, %i: $S) -> ") + result +
           " {\n  %0 = \"stablehlo.reduce\"(%a, %i) " + kSum + " {dimensions = array<i64: " + dim +
           ">} : (tensor<5x4x$T>, $S) -> " + result + "\n  return %0 : " + result + "\n}\n";
  };
  std::vector<Literal> operands;
  operands.push_back(ArrayOf(type, {5, 4}, a));
  operands.push_back(ArrayOf(type, {}, Small(type, 1)));
  Expect("rows", text("1", "tensor<5x$T>"), operands, type, rows);
  Expect("columns", text("0", "tensor<4x$T>"), operands, type, columns);
}

// With 1 to begin with, which is what folding nothing gives.
TEST_P(ReduceTypesTest, ReductionsByEachOperation) {
  const PrimitiveType type = GetParam();
  const auto bits = [](Number x) { return static_cast<int64_t>(x.real()); };
  const std::vector<std::pair<std::string, std::function<Number(Number, Number)>>> ops = {
      {"multiply", [](Number x, Number y) { return x * y; }},
      {"maximum", [](Number x, Number y) { return Less(x, y) ? y : x; }},
      {"minimum", [](Number x, Number y) { return Less(y, x) ? y : x; }},
      {"and", [&](Number x, Number y) { return static_cast<double>(bits(x) & bits(y)); }},
      {"or", [&](Number x, Number y) { return static_cast<double>(bits(x) | bits(y)); }},
      {"xor", [&](Number x, Number y) { return static_cast<double>(bits(x) ^ bits(y)); }},
  };
  for (const auto& [op, value] : ops) {
    if ((IsFloating(type) || IsComplex(type)) && (op == "and" || op == "or" || op == "xor"))
      continue;
    for (const int64_t count : {3, 0}) {
      const std::vector<Number> a = Small(type, 4 * count);
      std::vector<Number> rows(4, 1);
      for (int64_t i = 0; i < 4 * count; ++i)
        rows[i / count] = Nearest(type, value(rows[i / count], a[i]));
      const std::string in = absl::StrCat("tensor<4x", count, "x$T>");
      std::vector<Literal> operands;
      operands.push_back(ArrayOf(type, {4, count}, a));
      operands.push_back(ArrayOf(type, {}, {1}));
      Expect(op,
             absl::StrCat("func.func @main(%a: ", in, ", %i: $S) -> tensor<4x$T> {\n",
                          "  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.", op,
                          " across dimensions = [1] : (", in, ", $S) -> tensor<4x$T>\n",
                          "  return %0 : tensor<4x$T>\n}\n"),
             operands, type, rows);
    }
  }
}

// The places of the first of the largest, along the middle of eight dimensions.
TEST_P(ReduceTypesTest, ReductionsOfPairs) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 2 * 5 * 3);
  const Number least = Nearest(type, 0);
  std::vector<Number> places(2 * 3, -1);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      Number largest = least;
      for (int k = 0; k < 5; ++k) {
        const Number x = a[(i * 5 + k) * 3 + j];
        if (!Less(largest, x)) continue;
        largest = x;
        places[i * 3 + j] = k;
      }
    }
  }
  std::vector<Literal> operands;
  operands.push_back(ArrayOf(type, {2, 1, 1, 5, 1, 3, 1, 1}, a));
  operands.push_back(ArrayOf(type, {}, {least}));
  Expect("reduce", R"(
func.func @main(%a: tensor<2x1x1x5x1x3x1x1x$T>, %i: $S) -> tensor<2x1x1x1x3x1x1xi32> {
  %n = stablehlo.iota dim = 3 : tensor<2x1x1x5x1x3x1x1xi32>
  %m = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.reduce(%a init: %i), (%n init: %m) across dimensions = [3]
      : (tensor<2x1x1x5x1x3x1x1x$T>, tensor<2x1x1x5x1x3x1x1xi32>, $S, tensor<i32>)
      -> (tensor<2x1x1x1x3x1x1x$T>, tensor<2x1x1x1x3x1x1xi32>)
  reducer(%x: $S, %y: $S) (%j: tensor<i32>, %k: tensor<i32>) {
    %p = stablehlo.compare GE, %x, %y : ($S, $S) -> tensor<i1>
    %z = stablehlo.select %p, %x, %y : tensor<i1>, $S
    %l = stablehlo.select %p, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %z, %l : $S, tensor<i32>
  }
  return %0#1 : tensor<2x1x1x1x3x1x1xi32>
})",
         operands, S32, places);
}

TEST_P(ReduceTypesTest, Windows) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 7);
  const Number init = type == F8E8M0FNU ? 1 : 0;
  // Spread to 13, one in front and none behind; windows of 3 with holes, stride 3: 4 places.
  std::vector<Number> c(4, init);
  for (int place = 0; place < 4; ++place) {
    for (int w = 0; w < 3; ++w) {
      const int at = place * 3 + w * 2 - 1;
      const bool inside = at >= 0 && at < 13 && at % 2 == 0;
      c[place] = Plus(type, c[place], inside ? a[at / 2] : init);
    }
  }
  Expect("reduce_window",
         std::string(R"(func.func @main(%a: tensor<7x$T>, %i: $S) -> tensor<4x$T> {
  %0 = "stablehlo.reduce_window"(%a, %i) )") +
             kSum + R"( {window_dimensions = array<i64: 3>,
      window_strides = array<i64: 3>, base_dilations = array<i64: 2>,
      window_dilations = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>}
      : (tensor<7x$T>, $S) -> tensor<4x$T>
  return %0 : tensor<4x$T>
})",
         {ArrayOf(type, {7}, a), ArrayOf(type, {}, {init})}, type, c);
  // Running sums: each is a value of the type.
  std::vector<Number> running;
  Number sum = init;
  for (int i = 0; i < 7; ++i) running.push_back(sum = Nearest(type, Plus(type, sum, a[i])));
  if (type == F8E8M0FNU) return;  // the padding is not neutral there
  Expect("cumulative",
         std::string(R"(func.func @main(%a: tensor<7x$T>, %i: $S) -> tensor<7x$T> {
  %0 = "stablehlo.reduce_window"(%a, %i) )") +
             kSum + R"( {window_dimensions = array<i64: 7>,
      padding = dense<[[6, 0]]> : tensor<1x2xi64>} : (tensor<7x$T>, $S) -> tensor<7x$T>
  return %0 : tensor<7x$T>
})",
         {ArrayOf(type, {7}, a), ArrayOf(type, {}, {init})}, type, running);
}

// Updates of one place come in order, each rounded; those outside are dropped.
TEST_P(ReduceTypesTest, Scatters) {
  const PrimitiveType type = GetParam();
  std::vector<Number> c = Small(type, 5);
  const std::vector<Number> updates = Small(type, 6, 1);
  const std::vector<int32_t> places = {4, 0, -1, 4, 5, 4};
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0 || places[i] > 4) continue;
    c[places[i]] = Nearest(type, Plus(type, c[places[i]], updates[i]));
  }
  std::vector<Literal> operands;
  operands.push_back(ArrayOf(type, {5}, Small(type, 5)));
  operands.push_back(Array<int32_t>({6, 1}, places));
  operands.push_back(ArrayOf(type, {6}, updates));
  Expect(
      "scatter",
      std::string(
          R"(func.func @main(%a: tensor<5x$T>, %i: tensor<6x1xi32>, %u: tensor<6x$T>) -> tensor<5x$T> {
  %0 = "stablehlo.scatter"(%a, %i, %u) )") +
          kSum + R"( {scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
      : (tensor<5x$T>, tensor<6x1xi32>, tensor<6x$T>) -> tensor<5x$T>
  return %0 : tensor<5x$T>
})",
      operands, type, c);
}

TEST_P(ReduceTypesTest, SelectAndScatter) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 8), source = Small(type, 4, 1);
  const Number init = type == F8E8M0FNU ? 1 : 0;
  std::vector<Number> c(8, init);
  for (int place = 0; place < 4; ++place) {
    // The first of the largest.
    const int chosen = place * 2 + (Less(a[place * 2], a[place * 2 + 1]) ? 1 : 0);
    c[chosen] = Nearest(type, Plus(type, c[chosen], source[place]));
  }
  Expect(
      "select_and_scatter",
      std::string(R"(func.func @main(%a: tensor<8x$T>, %s: tensor<4x$T>, %i: $S) -> tensor<8x$T> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({
  ^bb0(%x: $S, %y: $S):
    %p = stablehlo.compare GE, %x, %y : ($S, $S) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, )") + std::string(kSum).substr(1) +
          R"( {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}
      : (tensor<8x$T>, tensor<4x$T>, $S) -> tensor<8x$T>
  return %0 : tensor<8x$T>
})",
      {ArrayOf(type, {8}, a), ArrayOf(type, {4}, source), ArrayOf(type, {}, {init})}, type, c);
}

TEST_P(ReduceTypesTest, SortsAreStable) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> a = Small(type, 30);
  std::vector<int> order(30);
  for (int i = 0; i < 30; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return Less(a[j], a[i]); });
  std::vector<Number> places(order.begin(), order.end());
  std::vector<Number> counting;
  for (int i = 0; i < 30; ++i) counting.push_back(i);
  Expect("sort", R"(func.func @main(%a: tensor<30x$T>) -> tensor<30xi32> {
  %n = stablehlo.iota dim = 0 : tensor<30xi32>
  %0:2 = "stablehlo.sort"(%a, %n) ({
  ^bb0(%x: $S, %y: $S, %i: tensor<i32>, %j: tensor<i32>):
    %p = stablehlo.compare GT, %x, %y : ($S, $S) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<30x$T>, tensor<30xi32>) -> (tensor<30x$T>, tensor<30xi32>)
  return %0#1 : tensor<30xi32>
})",
         {ArrayOf(type, {30}, a)}, S32, places);
  for (const char* shape : {"0x", "1x", "3x0x", "0x1x"}) {
    const std::string tensor = std::string("tensor<") + shape + "$T>";
    std::vector<int64_t> dims;
    for (const char* c = shape; *c != 0; c += 2) dims.push_back(*c - '0');
    const std::vector<Number> one = Small(type, Product(dims));
    Expect("sort of little",
           "func.func @main(%a: " + tensor + ") -> " + tensor + R"( {
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: $S, %y: $S):
    %p = stablehlo.compare LT, %x, %y : ($S, $S) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : ()" +
               tensor + ") -> " + tensor + "\n  return %0 : " + tensor + "\n}\n",
           {ArrayOf(type, dims, one)}, type, one);
  }
}

TEST_P(ReduceTypesTest, IotaCounts) {
  const PrimitiveType type = GetParam();
  if (type == PRED) GTEST_SKIP() << "there is no iota of i1";
  std::vector<Number> expected;
  for (int i = 0; i < 6; ++i) expected.push_back(i);
  Expect("iota", R"(func.func @main() -> tensor<6x$T> {
  %0 = stablehlo.iota dim = 0 : tensor<6x$T>
  return %0 : tensor<6x$T>
})",
         {}, type, expected);
}

INSTANTIATE_TEST_SUITE_P(All, ReduceTypesTest, ::testing::ValuesIn(AllElementTypes()), TypeCase);

}  // namespace
}  // namespace pjrt::cpu
