// SPDX-License-Identifier: Apache-2.0
//
// reduce_window against its definition: random sizes, windows, strides, dilations and paddings,
// initial values that are no identity, on every kernel level.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/level_test.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

struct WindowCase {
  Tensor operand;
  double init = 0;
  std::string op;
  List64 size, stride, low, high, base_dilation, window_dilation;
  bool splat = false;
};

List64 ResultDims(const WindowCase& c) {
  List64 dims;
  for (size_t d = 0; d < c.size.size(); ++d) {
    const int64_t n = c.operand.dims[d];
    const int64_t padded = (n == 0 ? 0 : (n - 1) * c.base_dilation[d] + 1) + c.low[d] + c.high[d];
    const int64_t reach = (c.size[d] - 1) * c.window_dilation[d] + 1;
    dims.push_back(padded < reach ? 0 : (padded - reach) / c.stride[d] + 1);
  }
  return dims;
}

Tensor Expected(const WindowCase& c) {
  const PrimitiveType type = c.operand.type;
  Tensor result{type, ResultDims(c), {}};
  result.data.resize(Product(result.dims));
  for (int64_t i = 0; i < result.count(); ++i) {
    const List64 place = Coordinates(i, result.dims);
    double value = c.init;
    for (int64_t t = 0; t < Product(c.size); ++t) {
      const List64 tap = Coordinates(t, c.size);
      List64 at(place.size());
      bool inside = true;
      for (size_t d = 0; d < at.size() && inside; ++d) {
        const int64_t x = place[d] * c.stride[d] + tap[d] * c.window_dilation[d] - c.low[d];
        at[d] = x / c.base_dilation[d];
        inside = x >= 0 && x % c.base_dilation[d] == 0 && at[d] < c.operand.dims[d];
      }
      value = RoundTo(type, Apply(c.op, type, value,
                                  inside ? c.operand.data[Linear(at, c.operand.dims)] : c.init));
    }
    result.data[i] = value;
  }
  return result;
}

void Check(PjRtClient& client, const WindowCase& c) {
  const Tensor expected = Expected(c);
  const std::string element = TensorText({}, GetPrimitiveTypeInfo(c.operand.type).stablehlo_name);
  std::vector<std::string> padding;
  for (size_t d = 0; d < c.low.size(); ++d)
    padding.push_back(absl::StrCat("[", c.low[d], ", ", c.high[d], "]"));
  const std::string operand = c.operand.TypeText(), result = expected.TypeText();
  const std::string text = absl::StrCat(
      "func.func @main(%x: ", c.splat ? element : operand, ", %i: ", element, ") -> ", result,
      " {\n",
      c.splat ? absl::StrCat("  %y = stablehlo.broadcast_in_dim %x, dims = [] : (", element,
                             ") -> ", operand, "\n")
              : "",
      "  %r = \"stablehlo.reduce_window\"(", c.splat ? "%y" : "%x",
      ", %i) ({\n  ^bb0(%a: ", element, ", %b: ", element, "):\n    %0 = stablehlo.", c.op,
      " %a, %b : ", element, "\n    stablehlo.return %0 : ", element,
      "\n  }) {window_dimensions = ", Array64(c.size), ", window_strides = ", Array64(c.stride),
      ", base_dilations = ", Array64(c.base_dilation),
      ", window_dilations = ", Array64(c.window_dilation), ", padding = dense<[",
      absl::StrJoin(padding, ", "), "]> : tensor<", c.low.size(), "x2xi64>} : (", operand, ", ",
      element, ") -> ", result, "\n  return %r : ", result, "\n}\n");
  Tensor first = c.operand;
  if (c.splat) first = {c.operand.type, {}, {c.operand.data.empty() ? 1 : c.operand.data[0]}};
  const Literal x = first.ToLiteral();
  const Literal init = Tensor{c.operand.type, {}, {c.init}}.ToLiteral();
  const auto results = RunProgram(client, text, {&x, &init});
  ASSERT_TRUE(results.ok()) << results.status() << "\n" << text;
  EXPECT_EQ(Difference(expected, *(*results)[0]), "") << text;
}

WindowCase RandomWindowCase(std::mt19937& random) {
  const auto below = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(n));
  };
  WindowCase c;
  constexpr PrimitiveType kTypes[] = {F32, F32, F64, S32, S8, U8, BF16, F16, PRED};
  c.operand.type = kTypes[below(9)];
  const bool pred = c.operand.type == PRED, integer = IsInteger(c.operand.type) || pred;
  constexpr const char* kOps[] = {"add", "maximum", "minimum", "and", "or", "xor"};
  c.op = kOps[below(integer ? 6 : 3)];
  const size_t rank = 1 + static_cast<size_t>(below(4));
  for (size_t d = 0; d < rank; ++d) {
    const bool has_window = below(3) != 0;
    // Lines without a window are short, long, or longer than a vector.
    c.operand.dims.push_back(below(40) == 0  ? 0
                             : d + 1 == rank ? 1 + below(below(4) == 0 ? 300 : 40)
                                             : 1 + below(7));
    c.size.push_back(has_window ? 1 + below(4) : 1);
    c.stride.push_back(has_window ? 1 + below(4) : 1);
    c.base_dilation.push_back(has_window && below(4) == 0 ? 1 + below(3) : 1);
    c.window_dilation.push_back(below(4) == 0 ? 1 + below(3) : 1);
    c.low.push_back(has_window ? below(5) - 1 : 0);
    c.high.push_back(has_window ? below(5) - 1 : 0);
  }
  const bool narrow = c.operand.type == BF16 || c.operand.type == F16;
  const auto value = [&] {
    // Sums of these must be rounded.
    if (narrow) return RoundTo(c.operand.type, static_cast<double>(below(2001) - 1000) / 96);
    return pred ? static_cast<double>(below(2))
                : static_cast<double>(below(5)) - (IsUnsignedInteger(c.operand.type) ? 0 : 2);
  };
  c.init = value();
  c.splat = below(8) == 0;
  const double same = value();
  c.operand.data.resize(Product(c.operand.dims));
  for (double& x : c.operand.data) x = c.splat ? same : value();
  return c;
}

class ReduceWindowTest : public LevelTest {};

TEST_P(ReduceWindowTest, RandomWindowsAreReducedAsDefined) {
  std::mt19937 random(7);
  for (int i = 0; i < 600 && !HasFailure(); ++i) Check(client(), RandomWindowCase(random));
}

INSTANTIATE_TEST_SUITE_P(Levels, ReduceWindowTest, EachLevel(), LevelName);

TEST(ReduceWindowThreadsTest, ResultsHaveTheSameBitsWithAnyNumberOfThreads) {
  constexpr const char* kText = R"(
    func.func @main(%x: tensor<3x61x67x5xf32>, %i: tensor<f32>) -> tensor<3x59x33x5xf32> {
      %r = "stablehlo.reduce_window"(%x, %i) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %0 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %0 : tensor<f32>
      }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 2, 1>}
        : (tensor<3x61x67x5xf32>, tensor<f32>) -> tensor<3x59x33x5xf32>
      return %r : tensor<3x59x33x5xf32>
    })";
  std::mt19937 random(1);
  std::vector<float> values(3 * 61 * 67 * 5);
  for (float& x : values) x = static_cast<float>(random()) * 0x1p-32f - 0.5f;
  const Literal x = Array<float>({3, 61, 67, 5}, values), init = Scalar(0.0f);
  std::vector<float> expected;
  for (int threads : {1, 2, 3, 8}) {
    const auto results = RunProgram(*MakeClient(WithThreads(threads)), kText, {&x, &init});
    ASSERT_TRUE(results.ok()) << results.status();
    const std::vector<float> got = Elements<float>(*(*results)[0]);
    if (threads == 1) expected = got;
    EXPECT_EQ(got, expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace pjrt::cpu
