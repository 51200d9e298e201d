// SPDX-License-Identifier: Apache-2.0
//
// Dynamic slices of concatenations, whose pieces are read where they are.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Three pieces of [outer, n, inner] with the sizes in `pieces`, the second of which is a view of
// what `second` makes of it, and `window` of their points from `start` on, with a client of so many
// threads.
void Check(int64_t outer, const std::vector<int64_t>& pieces, int64_t inner, int64_t window,
           int64_t start, int threads, const std::string& second = "stablehlo.reshape %b") {
  std::vector<Literal> arrays;
  std::vector<std::string> types;
  int64_t total = 0, next = 0;
  for (int64_t n : pieces) {
    arrays.push_back(Array<int32_t>(
        {outer, n, inner}, Counting<int32_t>(outer * n * inner, static_cast<int32_t>(next))));
    types.push_back(TensorText({outer, n, inner}, "i32"));
    next += outer * n * inner;
    total += n;
  }
  const Literal at = Scalar<int32_t>(static_cast<int32_t>(start));
  const std::string all = TensorText({outer, total, inner}, "i32");
  const std::string result = TensorText({outer, window, inner}, "i32");
  const std::string text = absl::StrCat(
      "func.func @main(%a: ", types[0], ", %b: ", types[1], ", %c: ", types[2],
      ", %i: tensor<i32>) -> ", result, " {\n  %z = stablehlo.constant dense<7> : tensor<i32>\n",
      "  %v = ", second, " : (", types[1], ") -> ", types[1], "\n",
      "  %0 = stablehlo.concatenate %a, %v, %c, dim = 1 : (", types[0], ", ", types[1], ", ",
      types[2], ") -> ", all, "\n  %1 = stablehlo.dynamic_slice %0, %z, %i, %z, sizes = [", outer,
      ", ", window, ", ", inner, "] : (", all, ", tensor<i32>, tensor<i32>, tensor<i32>) -> ",
      result, "\n  return %1 : ", result, "\n}\n");
  const auto results = RunProgram(*MakeClient(WithThreads(threads)), text,
                                  {&arrays[0], &arrays[1], &arrays[2], &at});
  ASSERT_TRUE(results.ok()) << results.status() << text;
  const std::vector<int32_t> got = Elements<int32_t>(*(*results)[0]);
  const bool negated = second.find("negate") != std::string::npos;
  const int64_t first = std::clamp<int64_t>(start, 0, total - window);
  int64_t wrong = 0;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t w = 0; w < window; ++w) {
      int64_t point = first + w, before = 0;
      size_t piece = 0;
      for (; point >= pieces[piece]; ++piece) {
        point -= pieces[piece];
        before += outer * pieces[piece] * inner;
      }
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t want = before + (o * pieces[piece] + point) * inner + k;
        wrong += got[(o * window + w) * inner + k] != (negated && piece == 1 ? -want : want);
      }
    }
  }
  EXPECT_EQ(wrong, 0) << outer << " x " << window << " x " << inner << " from " << start;
}

TEST(SlicePiecesTest, WindowsFallWhereverPiecesMeet) {
  for (int64_t start : {-3, 0, 1, 49, 50, 51, 80, 99, 100, 150, 1000}) {
    for (int64_t window : {1, 50, 101, 200}) {
      Check(1, {100, 1, 99}, 64, window, start, 1);
      Check(37, {100, 1, 99}, 3, window, start, 1);
    }
  }
  Check(5, {300, 0, 300}, 1, 300, 299, 1);
}

TEST(SlicePiecesTest, PiecesThatAreComputedOrSeenReversed) {
  Check(8, {100, 90, 80}, 5, 150, 60, 1, "\"stablehlo.negate\"(%b)");
  Check(1, {100, 1, 80}, 50, 150, 20, 1, "\"stablehlo.reverse\"(%b) {dimensions = array<i64: 1>}");
}

TEST(SlicePiecesTest, ThreadsShareLongAndManyRows) {
  Check(1, {30000, 20000, 1}, 7, 40001, 9999, 4);
  Check(900, {300, 20, 100}, 3, 310, 77, 4);
  Check(3, {50000, 1, 50000}, 2, 70000, 20000, 4);
}

// A roll: the same array twice, which is also used otherwise, and is overwritten next.
TEST(SlicePiecesTest, AnArrayRolledInALoop) {
  const Literal x = Array<int32_t>({2000}, Counting<int32_t>(2000));
  const Literal by = Scalar<int32_t>(3);
  const std::vector<int32_t> got = RunOne<int32_t>(R"(
    func.func @main(%x: tensor<2000xi32>, %by: tensor<i32>) -> tensor<2000xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %times = stablehlo.constant dense<5> : tensor<i32>
      %0:2 = stablehlo.while(%y = %x, %k = %zero) : tensor<2000xi32>, tensor<i32>
      cond {
        %more = stablehlo.compare LT, %k, %times : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %twice = stablehlo.concatenate %y, %y, dim = 0 : (tensor<2000xi32>, tensor<2000xi32>) -> tensor<4000xi32>
        %rolled = stablehlo.dynamic_slice %twice, %by, sizes = [2000] : (tensor<4000xi32>, tensor<i32>) -> tensor<2000xi32>
        %next = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %rolled, %next : tensor<2000xi32>, tensor<i32>
      }
      return %0#0 : tensor<2000xi32>
    })",
                                                   {&x, &by});
  ASSERT_EQ(got.size(), 2000u);
  for (int64_t i = 0; i < 2000; ++i) ASSERT_EQ(got[i], (i + 15) % 2000);
}

}  // namespace
}  // namespace pjrt::cpu
