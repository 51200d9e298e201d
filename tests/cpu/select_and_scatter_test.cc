// SPDX-License-Identifier: Apache-2.0
//
// select_and_scatter against its definition: random sizes, windows, strides and paddings, windows
// that overlap or leave gaps, bodies that have kernels and one that has none, on every kernel
// level.
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

struct ScatterCase {
  Tensor operand, source;
  double init = 0;
  bool keeps_larger = true;  // or the smaller
  bool keeps_first = true;   // of equal ones
  bool has_body = false;     // a select that is more than a comparison
  List64 size, stride, low, high;
};

bool Keeps(const ScatterCase& c, double selected, double candidate) {
  if (selected == candidate) return c.keeps_first;
  return c.keeps_larger == (selected > candidate);
}

Tensor Expected(const ScatterCase& c) {
  Tensor result = c.operand;
  for (double& x : result.data) x = c.init;
  for (int64_t i = 0; i < c.source.count(); ++i) {
    const List64 place = Coordinates(i, c.source.dims);
    int64_t best = -1;
    for (int64_t t = 0; t < Product(c.size); ++t) {
      List64 at = Coordinates(t, c.size);
      bool inside = true;
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] += place[d] * c.stride[d] - c.low[d];
        inside &= at[d] >= 0 && at[d] < c.operand.dims[d];
      }
      if (!inside) continue;
      const int64_t element = Linear(at, c.operand.dims);
      if (best < 0 || !Keeps(c, c.operand.data[best], c.operand.data[element])) best = element;
    }
    if (best >= 0) result.data[best] += c.source.data[i];
  }
  return result;
}

ScatterCase RandomScatterCase(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int64_t>(random() % n); };
  ScatterCase c;
  const int rank = static_cast<int>(1 + below(4));
  List64 dims, places;
  for (int d = 0; d < rank; ++d) {
    const bool is_plain = below(3) == 0;
    const int64_t n =
        1 + below(rank < 3 ? 30 : 7) + (is_plain && below(9) == 0 && rank < 3 ? 300 : 0);
    dims.push_back(n);
    c.size.push_back(is_plain ? 1 : 1 + below(4));
    c.stride.push_back(is_plain ? 1 : 1 + below(4));
    c.low.push_back(is_plain ? 0 : below(4));
    c.high.push_back(is_plain ? 0 : below(4));
    const int64_t padded = n + c.low[d] + c.high[d];
    places.push_back(padded < c.size[d] ? 0 : (padded - c.size[d]) / c.stride[d] + 1);
  }
  constexpr PrimitiveType kTypes[] = {F32, F32, F64, BF16, S32, S8, F16};
  const PrimitiveType type = kTypes[below(7)];
  c.operand = RandomTensor(type, dims, -4, 4, random);
  c.source = RandomTensor(type, places, -4, 4, random);
  c.init = static_cast<double>(below(3)) - 1;
  c.keeps_larger = below(2) == 0;
  c.keeps_first = below(3) > 0;
  c.has_body = below(4) == 0;
  return c;
}

std::string Text(const ScatterCase& c) {
  const std::string type = c.operand.TypeText(), from = c.source.TypeText();
  const std::string one = Tensor{c.operand.type, {}, {0}}.TypeText();
  std::vector<std::string> padding;
  for (size_t d = 0; d < c.low.size(); ++d)
    padding.push_back(absl::StrCat("[", c.low[d], ", ", c.high[d], "]"));
  const auto list = [](const char* name, const List64& values) {
    return absl::StrCat(name, " = array<i64: ", absl::StrJoin(values, ", "), ">");
  };
  const std::string direction = absl::StrCat(c.keeps_larger ? "G" : "L", c.keeps_first ? "E" : "T");
  return absl::StrCat(
      "func.func @main(%x: ", type, ", %s: ", from, ", %i: ", one, ") -> ", type,
      " {\n  %r = \"stablehlo.select_and_scatter\"(%x, %s, %i) ({\n  ^bb0(%a: ", one, ", %b: ", one,
      "):\n",
      c.has_body ? absl::StrCat("    %n = stablehlo.add %a, %a : ", one,
                                "\n    %m = stablehlo.add %b, %b : ", one, "\n")
                 : "",
      "    %c = stablehlo.compare ", direction, ", ", c.has_body ? "%n, %m" : "%a, %b", " : (", one,
      ", ", one, ") -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }, {\n  ^bb0(%a: ", one,
      ", %b: ", one, "):\n    %c = stablehlo.add %a, %b : ", one,
      "\n    stablehlo.return %c : ", one, "\n  }) {", list("window_dimensions", c.size), ", ",
      list("window_strides", c.stride), ", padding = dense<[", absl::StrJoin(padding, ", "),
      "]> : tensor<", c.low.size(), "x2xi64>} : (", type, ", ", from, ", ", one, ") -> ", type,
      "\n  return %r : ", type, "\n}\n");
}

class SelectAndScatterTest : public LevelTest {};

TEST_P(SelectAndScatterTest, RandomWindowsScatterToWhatTheySelect) {
  std::mt19937 random(20251121);
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    const ScatterCase c = RandomScatterCase(random);
    const std::string text = Text(c);
    const Literal x = c.operand.ToLiteral(), s = c.source.ToLiteral();
    const Literal init = Tensor{c.operand.type, {}, {c.init}}.ToLiteral();
    const auto results = RunProgram(client(), text, {&x, &s, &init});
    ASSERT_TRUE(results.ok()) << results.status() << "\n" << text;
    EXPECT_EQ(Difference(Expected(c), *(*results)[0]), "") << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, SelectAndScatterTest, EachLevel(), LevelName);

TEST(SelectAndScatterThreadsTest, ResultsHaveTheSameBitsWithAnyNumberOfThreads) {
  ScatterCase c;
  std::mt19937 random(3);
  c.operand = RandomTensor(F32, {6, 20, 21, 5}, -4, 4, random);
  c.source = RandomTensor(F32, {6, 10, 11, 5}, -4, 4, random);
  c.size = {1, 3, 3, 1};
  c.stride = {1, 2, 2, 1};
  c.low = {0, 1, 1, 0};
  c.high = {0, 0, 1, 0};
  for (double& x : c.source.data) x /= 7;
  const Literal x = c.operand.ToLiteral(), s = c.source.ToLiteral();
  const Literal init = Tensor{F32, {}, {0}}.ToLiteral();
  std::vector<float> expected;
  for (int threads : {1, 2, 3, 8}) {
    const auto results = RunProgram(*MakeClient(WithThreads(threads)), Text(c), {&x, &s, &init});
    ASSERT_TRUE(results.ok()) << results.status();
    const std::vector<float> values = Elements<float>(*(*results)[0]);
    if (threads == 1) expected = values;
    EXPECT_EQ(values, expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace pjrt::cpu
