// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements, on every element type: elements of any bits arrive as they were, each
// from the place that the specification names. Also on scalars, empty arrays and eight dimensions.
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/element_values.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

struct Move {
  const char* name;
  std::vector<List64> operands;  // %a, %b, %c of the element type
  List64 result;
  const char* text;  // to %0
  // Operand and element that an element of the result, at these coordinates, is.
  std::function<std::pair<int, int64_t>(const List64&)> from;
  bool keeps_payloads = true;  // of NaNs; false where elements pass through arithmetic
};

std::pair<int, int64_t> First(const List64& at, const List64& dims) {
  return {0, Linear(at, dims)};
}

const std::vector<Move>& Moves() {
  static const auto* const kMoves = new std::vector<Move>{
      {"transpose",
       {{3, 4, 2}},
       {2, 3, 4},
       "stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<3x4x2x$T>) -> tensor<2x3x4x$T>",
       [](const List64& at) {
         return First({at[1], at[2], at[0]}, {3, 4, 2});
       }},
      {"transpose of eight dimensions",
       {{2, 1, 3, 2, 1, 2, 2, 3}},
       {3, 2, 2, 1, 2, 3, 1, 2},
       "stablehlo.transpose %a, dims = [7, 6, 5, 4, 3, 2, 1, 0] : (tensor<2x1x3x2x1x2x2x3x$T>) -> "
       "tensor<3x2x2x1x2x3x1x2x$T>",
       [](const List64& at) {
         return First(List64(at.rbegin(), at.rend()), {2, 1, 3, 2, 1, 2, 2, 3});
       }},
      {"transpose of nothing",
       {{3, 0, 2}},
       {2, 3, 0},
       "stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<3x0x2x$T>) -> tensor<2x3x0x$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"reverse",
       {{3, 5}},
       {3, 5},
       "stablehlo.reverse %a, dims = [1] : tensor<3x5x$T>",
       [](const List64& at) {
         return First({at[0], 4 - at[1]}, {3, 5});
       }},
      {"reverse of a scalar",
       {{}},
       {},
       "stablehlo.reverse %a, dims = [] : tensor<$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"slice",
       {{5, 9}},
       {2, 3},
       "stablehlo.slice %a [1:5:2, 2:9:3] : (tensor<5x9x$T>) -> tensor<2x3x$T>",
       [](const List64& at) {
         return First({1 + 2 * at[0], 2 + 3 * at[1]}, {5, 9});
       }},
      {"slice of nothing",
       {{5}},
       {0},
       "stablehlo.slice %a [5:5] : (tensor<5x$T>) -> tensor<0x$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"reshape to eight dimensions",
       {{12}},
       {1, 2, 1, 3, 1, 2, 1, 1},
       "stablehlo.reshape %a : (tensor<12x$T>) -> tensor<1x2x1x3x1x2x1x1x$T>",
       [](const List64& at) {
         return std::pair<int, int64_t>(0, Linear(at, {1, 2, 1, 3, 1, 2, 1, 1}));
       }},
      {"reshape to a scalar",
       {{1, 1}},
       {},
       "stablehlo.reshape %a : (tensor<1x1x$T>) -> tensor<$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"broadcast_in_dim",
       {{3, 1}},
       {3, 4, 2},
       "stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<3x1x$T>) -> tensor<3x4x2x$T>",
       [](const List64& at) {
         return First({at[0], 0}, {3, 1});
       }},
      {"broadcast_in_dim of a scalar",
       {{}},
       {7},
       "stablehlo.broadcast_in_dim %a, dims = [] : (tensor<$T>) -> tensor<7x$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"concatenate",
       {{2, 3}, {2, 0}, {2, 2}},
       {2, 5},
       "stablehlo.concatenate %a, %b, %c, dim = 1 : (tensor<2x3x$T>, tensor<2x0x$T>, "
       "tensor<2x2x$T>) -> tensor<2x5x$T>",
       [](const List64& at) {
         return at[1] < 3 ? std::pair<int, int64_t>(0, at[0] * 3 + at[1])
                          : std::pair<int, int64_t>(2, at[0] * 2 + at[1] - 3);
       }},
      {"pad, also by less than nothing",
       {{4, 3}, {}},
       {4, 6},
       "stablehlo.pad %a, %b, low = [-1, 1], high = [1, 0], interior = [0, 1] : (tensor<4x3x$T>, "
       "tensor<$T>) -> tensor<4x6x$T>",
       [](const List64& at) {
         const bool inside = at[0] < 3 && at[1] % 2 == 1;
         return inside ? std::pair<int, int64_t>(0, (at[0] + 1) * 3 + at[1] / 2)
                       : std::pair<int, int64_t>(1, 0);
       }},
      {"pad of nothing",
       {{0}, {}},
       {2},
       "stablehlo.pad %a, %b, low = [1], high = [1], interior = [3] : (tensor<0x$T>, tensor<$T>) "
       "-> tensor<2x$T>",
       [](const List64&) { return std::pair<int, int64_t>(1, 0); }},
      {"dynamic_slice from out of range",
       {{4, 5}},
       {2, 2},
       "stablehlo.dynamic_slice %a, %far, %minus, sizes = [2, 2] : (tensor<4x5x$T>, tensor<i32>, "
       "tensor<i32>) -> tensor<2x2x$T>",
       [](const List64& at) {
         return First({2 + at[0], at[1]}, {4, 5});
       }},
      {"dynamic_update_slice out of range",
       {{4, 5}, {2, 2}},
       {4, 5},
       "stablehlo.dynamic_update_slice %a, %b, %far, %minus : (tensor<4x5x$T>, tensor<2x2x$T>, "
       "tensor<i32>, tensor<i32>) -> tensor<4x5x$T>",
       [](const List64& at) {
         return at[0] >= 2 && at[1] < 2 ? std::pair<int, int64_t>(1, (at[0] - 2) * 2 + at[1])
                                        : First(at, {4, 5});
       }},
      {"gather, clamped",
       {{4, 3}},
       {4, 2},
       R"("stablehlo.gather"(%a, %places) {dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
          index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}
          : (tensor<4x3x$T>, tensor<4x1xi32>) -> tensor<4x2x$T>)",
       [](const List64& at) {
         static constexpr int64_t kRows[] = {0, 3, 3, 1};  // of -9, 3, 99, 1
         return First({kRows[at[0]], at[1]}, {4, 3});
       }},
      {"scatter, dropping what is outside",
       {{4, 3}, {4, 3}},
       {4, 3},
       R"("stablehlo.scatter"(%a, %places, %b) ({
  ^bb0(%x: $S, %y: $S):
    stablehlo.return %y : $S
  }) {scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>} : (tensor<4x3x$T>, tensor<4x1xi32>, tensor<4x3x$T>) -> tensor<4x3x$T>)",
       [](const List64& at) {
         return at[0] == 3   ? std::pair<int, int64_t>(1, 3 + at[1])
                : at[0] == 1 ? std::pair<int, int64_t>(1, 9 + at[1])
                             : First(at, {4, 3});
       }},
      {"select by a scalar",
       {{3}, {3}},
       {3},
       "stablehlo.select %yes, %a, %b : tensor<i1>, tensor<3x$T>",
       [](const List64& at) { return First(at, {3}); }},
      {"if",
       {{3}, {3}},
       {3},
       R"("stablehlo.if"(%no) ({
    stablehlo.return %a : tensor<3x$T>
  }, {
    stablehlo.return %b : tensor<3x$T>
  }) : (tensor<i1>) -> tensor<3x$T>)",
       [](const List64& at) { return std::pair<int, int64_t>(1, at[0]); }},
      {"case out of range",
       {{3}, {3}, {3}},
       {3},
       R"("stablehlo.case"(%minus) ({
    stablehlo.return %a : tensor<3x$T>
  }, {
    stablehlo.return %b : tensor<3x$T>
  }, {
    stablehlo.return %c : tensor<3x$T>
  }) : (tensor<i32>) -> tensor<3x$T>)",
       [](const List64& at) { return std::pair<int, int64_t>(2, at[0]); }},
      {"while that exchanges what it carries",
       {{3}, {3}},
       {3},
       R"("stablehlo.optimization_barrier"(%w#1) : (tensor<3x$T>) -> tensor<3x$T>)",
       [](const List64& at) { return std::pair<int, int64_t>(1, at[0]); }},
      {"get_tuple_element",
       {{3}, {3}},
       {3},
       "stablehlo.get_tuple_element %t[1] : (tuple<tensor<3x$T>, tensor<3x$T>>) -> tensor<3x$T>",
       [](const List64& at) { return std::pair<int, int64_t>(1, at[0]); }},
      {"select by each element",
       {{3}, {3}},
       {3},
       "stablehlo.select %some, %a, %b : tensor<3xi1>, tensor<3x$T>",
       [](const List64& at) { return std::pair<int, int64_t>(at[0] == 1 ? 1 : 0, at[0]); },
       false},
      {"map to the second",
       {{3}, {3}},
       {3},
       R"("stablehlo.map"(%a, %b) ({
  ^bb0(%x: $S, %y: $S):
    stablehlo.return %y : $S
  }) {dimensions = array<i64: 0>} : (tensor<3x$T>, tensor<3x$T>) -> tensor<3x$T>)",
       [](const List64& at) { return std::pair<int, int64_t>(1, at[0]); }},
      {"slice of eight dimensions",
       {{2, 1, 3, 2, 1, 2, 2, 3}},
       {1, 1, 2, 1, 1, 2, 1, 2},
       "stablehlo.slice %a [1:2, 0:1, 0:3:2, 1:2, 0:1, 0:2, 0:1, 1:3] : "
       "(tensor<2x1x3x2x1x2x2x3x$T>) -> tensor<1x1x2x1x1x2x1x2x$T>",
       [](const List64& at) {
         return First({1, 0, 2 * at[2], 1, 0, at[5], 0, at[7] + 1}, {2, 1, 3, 2, 1, 2, 2, 3});
       }},
      {"reverse of eight dimensions",
       {{2, 1, 3, 2, 1, 2, 2, 3}},
       {2, 1, 3, 2, 1, 2, 2, 3},
       "stablehlo.reverse %a, dims = [0, 2, 4, 7] : tensor<2x1x3x2x1x2x2x3x$T>",
       [](const List64& at) {
         return First({1 - at[0], 0, 2 - at[2], at[3], 0, at[5], at[6], 2 - at[7]},
                      {2, 1, 3, 2, 1, 2, 2, 3});
       }},
      {"pad of eight dimensions",
       {{1, 2, 1, 1, 2, 1, 1, 2}, {}},
       {1, 2, 2, 1, 3, 1, 1, 3},
       "stablehlo.pad %a, %b, low = [0, 0, 1, 0, 0, 0, 0, -1], high = [0, 0, 0, 0, 0, 0, 0, 2], "
       "interior = [0, 0, 0, 0, 1, 0, 0, 0] : (tensor<1x2x1x1x2x1x1x2x$T>, tensor<$T>) -> "
       "tensor<1x2x2x1x3x1x1x3x$T>",
       [](const List64& at) {
         const bool inside = at[2] == 1 && at[4] % 2 == 0 && at[7] == 0;
         return inside ? First({0, at[1], 0, 0, at[4] / 2, 0, 0, 1}, {1, 2, 1, 1, 2, 1, 1, 2})
                       : std::pair<int, int64_t>(1, 0);
       }},
      {"concatenate of eight dimensions",
       {{2, 1, 1, 3, 1, 1, 2, 1}, {2, 1, 1, 1, 1, 1, 2, 1}},
       {2, 1, 1, 4, 1, 1, 2, 1},
       "stablehlo.concatenate %a, %b, dim = 3 : (tensor<2x1x1x3x1x1x2x1x$T>, "
       "tensor<2x1x1x1x1x1x2x1x$T>) -> tensor<2x1x1x4x1x1x2x1x$T>",
       [](const List64& at) {
         return at[3] < 3 ? First(at, {2, 1, 1, 3, 1, 1, 2, 1})
                          : std::pair<int, int64_t>(1, at[0] * 2 + at[6]);
       }},
      {"concatenate of nothing",
       {{0, 2}, {0, 2}},
       {0, 2},
       "stablehlo.concatenate %a, %b, dim = 0 : (tensor<0x2x$T>, tensor<0x2x$T>) -> "
       "tensor<0x2x$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"broadcast_in_dim of nothing",
       {{1, 0}},
       {3, 0},
       "stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x0x$T>) -> tensor<3x0x$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"dynamic_slice of nothing",
       {{4, 5}},
       {2, 0},
       "stablehlo.dynamic_slice %a, %far, %minus, sizes = [2, 0] : (tensor<4x5x$T>, tensor<i32>, "
       "tensor<i32>) -> tensor<2x0x$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"dynamic_update_slice by nothing",
       {{4, 5}, {2, 0}},
       {4, 5},
       "stablehlo.dynamic_update_slice %a, %b, %far, %minus : (tensor<4x5x$T>, tensor<2x0x$T>, "
       "tensor<i32>, tensor<i32>) -> tensor<4x5x$T>",
       [](const List64& at) {
         return First(at, {4, 5});
       }},
      {"dynamic_slice of a scalar",
       {{}},
       {},
       "stablehlo.dynamic_slice %a, sizes = [] : (tensor<$T>) -> tensor<$T>",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"gather of no points",
       {{4, 3}},
       {0, 2},
       R"("stablehlo.gather"(%a, %nowhere) {dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
          index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}
          : (tensor<4x3x$T>, tensor<0x1xi32>) -> tensor<0x2x$T>)",
       [](const List64&) { return std::pair<int, int64_t>(0, 0); }},
      {"scatter of no points",
       {{4, 3}, {0, 3}},
       {4, 3},
       R"("stablehlo.scatter"(%a, %nowhere, %b) ({
  ^bb0(%x: $S, %y: $S):
    stablehlo.return %y : $S
  }) {scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>} : (tensor<4x3x$T>, tensor<0x1xi32>, tensor<0x3x$T>) -> tensor<4x3x$T>)",
       [](const List64& at) {
         return First(at, {4, 3});
       }},
      {"dynamic_broadcast_in_dim",
       {{3, 1}},
       {3, 4, 2},
       "stablehlo.dynamic_broadcast_in_dim %a, %shape, dims = [0, 2] : (tensor<3x1x$T>, "
       "tensor<3xi32>) -> tensor<3x4x2x$T>",
       [](const List64& at) {
         return First({at[0], 0}, {3, 1});
       }},
      {"dynamic_reshape",
       {{24}},
       {3, 4, 2},
       "stablehlo.dynamic_reshape %a, %shape : (tensor<24x$T>, tensor<3xi32>) -> tensor<3x4x2x$T>",
       [](const List64& at) {
         return std::pair<int, int64_t>(0, Linear(at, {3, 4, 2}));
       }},
      {"dynamic_pad",
       {{2}, {}},
       {8},
       "stablehlo.dynamic_pad %a, %b, %two, %three, %one : (tensor<2x$T>, tensor<$T>, "
       "tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<8x$T>",
       [](const List64& at) {
         return at[0] == 2 || at[0] == 4 ? std::pair<int, int64_t>(0, at[0] / 2 - 1)
                                         : std::pair<int, int64_t>(1, 0);
       }},
      {"real_dynamic_slice",
       {{5}},
       {2},
       "stablehlo.real_dynamic_slice %a, %one, %three, %one : (tensor<5x$T>, tensor<1xi32>, "
       "tensor<1xi32>, tensor<1xi32>) -> tensor<2x$T>",
       [](const List64& at) { return std::pair<int, int64_t>(0, at[0] + 1); }},
      {"scatter into two, the second",
       {{4}, {3}},
       {4},
       R"("stablehlo.optimization_barrier"(%both#1) : (tensor<4x$T>) -> tensor<4x$T>)",
       [](const List64& at) {
         return at[0] == 0   ? std::pair<int, int64_t>(0, 0)
                : at[0] == 3 ? std::pair<int, int64_t>(0, 3)
                             : std::pair<int, int64_t>(1, 2 - at[0]);
       },
       false},
  };
  return *kMoves;
}

// What stands before the op that a case needs besides constants.
std::string Preamble(const Move& move) {
  const std::string name = move.name;
  std::string text = R"(
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %no = stablehlo.constant dense<false> : tensor<i1>
  %far = stablehlo.constant dense<99> : tensor<i32>
  %minus = stablehlo.constant dense<-7> : tensor<i32>
  %places = stablehlo.constant dense<[[-9], [3], [99], [1]]> : tensor<4x1xi32>
  %nowhere = stablehlo.constant dense<> : tensor<0x1xi32>
  %some = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %shape = stablehlo.constant dense<[3, 4, 2]> : tensor<3xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %three = stablehlo.constant dense<3> : tensor<1xi32>
)";
  if (name == "get_tuple_element") {
    text += "  %t = stablehlo.tuple %a, %b : tuple<tensor<3x$T>, tensor<3x$T>>\n";
  } else if (name == "scatter into two, the second") {
    // The elements of %b at 2, 1 and nowhere; the first results are numbers.
    text += R"(
  %n = stablehlo.iota dim = 0 : tensor<4xi32>
  %m = stablehlo.constant dense<7> : tensor<3xi32>
  %at = stablehlo.constant dense<[[2], [1], [4]]> : tensor<3x1xi32>
  %both:2 = "stablehlo.scatter"(%n, %a, %at, %m, %b) ({
  ^bb0(%i: tensor<i32>, %x: $S, %j: tensor<i32>, %y: $S):
    %k = stablehlo.add %i, %j : tensor<i32>
    stablehlo.return %k, %y : tensor<i32>, $S
  }) {scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
      : (tensor<4xi32>, tensor<4x$T>, tensor<3x1xi32>, tensor<3xi32>, tensor<3x$T>)
      -> (tensor<4xi32>, tensor<4x$T>)
)";
  } else if (name == "while that exchanges what it carries") {
    // Three times: %w#1 is what %a was, so the arguments begin the other way around.
    text += R"(
  %w:3 = stablehlo.while(%x = %b, %y = %a, %i = %minus) : tensor<3x$T>, tensor<3x$T>, tensor<i32>
  cond {
    %end = stablehlo.constant dense<-4> : tensor<i32>
    %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %step = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %y, %x, %j : tensor<3x$T>, tensor<3x$T>, tensor<i32>
  }
)";
  }
  return text;
}

class MoveTest : public ::testing::TestWithParam<PrimitiveType> {};

TEST_P(MoveTest, EveryElementArrivesAsItWas) {
  const PrimitiveType type = GetParam();
  for (const Move& move : Moves()) {
    SCOPED_TRACE(move.name);
    std::vector<Literal> operands;
    std::vector<const Literal*> arguments;
    std::string text = "func.func @main(";
    for (size_t i = 0; i < move.operands.size(); ++i) {
      operands.push_back(RandomElements(type, move.operands[i], static_cast<uint32_t>(i) + 17));
      text += std::string(i == 0 ? "%" : ", %") + static_cast<char>('a' + i) + ": " +
              TensorText(move.operands[i], "$T");
    }
    for (const Literal& operand : operands) arguments.push_back(&operand);
    const std::string result = TensorText(move.result, "$T");
    text += ") -> " + result + " {" + Preamble(move) + "  %0 = " + move.text +
            "\n  return %0 : " + result + "\n}\n";
    const auto results = RunAll(OfType(text, type), arguments);
    ASSERT_EQ(results.size(), 1u);
    const std::vector<Number> moved = ReadNumbers(*results[0]);
    for (int64_t i = 0, n = Product(move.result); i < n; ++i) {
      const auto [operand, element] = move.from(Coordinates(i, move.result));
      if (!move.keeps_payloads && moved[i] != moved[i]) {
        EXPECT_TRUE(SameNumber(moved[i], ReadNumbers(operands[operand])[element]))
            << "element " << i;
        continue;
      }
      EXPECT_EQ(ElementBytes(*results[0], i), ElementBytes(operands[operand], element))
          << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MoveTest, ::testing::ValuesIn(AllElementTypes()), TypeCase);

// Bits of an element, the lowest first.
std::vector<int> ElementBits(const LiteralBase& literal, int64_t i) {
  const std::string bytes = ElementBytes(literal, i);
  std::vector<int> bits;
  for (int b = 0; b < ValueBits(literal.shape().element_type()); ++b)
    bits.push_back(bytes[b / 8] >> (b % 8) & 1);
  return bits;
}

TEST(BitcastTest, PartsOfAnElementAreItsBitsFromTheLowestOn) {
  for (const PrimitiveType wide : AllElementTypes()) {
    for (const PrimitiveType narrow : AllElementTypes()) {
      const int parts = ValueBits(wide) / ValueBits(narrow);
      if (parts == 0 || ValueBits(wide) % ValueBits(narrow) != 0) continue;
      if (wide == narrow || IsComplex(wide) != IsComplex(narrow)) continue;
      SCOPED_TRACE(std::string(PrimitiveTypeName(wide)) + " and " +
                   std::string(PrimitiveTypeName(narrow)));
      const List64 split = parts == 1 ? List64{5} : List64{5, parts};
      const std::string from = TensorText({5}, StableHloTypeName(wide));
      const std::string to = TensorText(split, StableHloTypeName(narrow));
      const Literal a = RandomElements(wide, {5}, 3);
      const auto results =
          RunAll("func.func @main(%a: " + from + ") -> (" + to + ", " + from +
                     ") {\n  %0 = stablehlo.bitcast_convert %a : (" + from + ") -> " + to +
                     "\n  %2 = stablehlo.optimization_barrier %0 : " + to +
                     "\n  %1 = stablehlo.bitcast_convert %2 : (" + to + ") -> " + from +
                     "\n  return %0, %1 : " + to + ", " + from + "\n}\n",
                 {&a});
      ASSERT_EQ(results.size(), 2u);
      for (int64_t i = 0; i < 5; ++i) {
        std::vector<int> bits;
        for (int p = 0; p < parts; ++p) {
          const std::vector<int> part = ElementBits(*results[0], i * parts + p);
          bits.insert(bits.end(), part.begin(), part.end());
        }
        EXPECT_EQ(bits, ElementBits(a, i));
        EXPECT_EQ(ElementBytes(*results[1], i), ElementBytes(a, i));
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
