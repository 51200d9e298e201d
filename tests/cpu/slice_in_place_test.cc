// SPDX-License-Identifier: Apache-2.0
//
// Dynamic slices in loops: read where they are in arrays that nothing changes before all has read
// them, copied from others.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/plan_test_util.h"

namespace pjrt::cpu {
namespace {

// How many steps of the program, those of its loops included, have a description that holds `what`.
int CountSteps(absl::string_view text, absl::string_view what) {
  int count = 0;
  CompilePlan(text, [&](const Plan& plan) {
    std::function<void(const Steps&)> visit = [&](const Steps& steps) {
      for (const std::unique_ptr<Step>& step : steps) {
        count += absl::StrContains(step->Describe(), what);
        for (const Steps* nested : step->nested()) visit(*nested);
      }
    };
    visit(plan.steps);
  });
  return count;
}

// Eleven times, with BODY, which makes %next of %v, the number %i of the iteration and %w.
std::string Loop(absl::string_view body) {
  return absl::StrReplaceAll(R"(
    func.func @main(%w: tensor<11x16x20xf32>, %x: tensor<16x20xf32>) -> tensor<16x20xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %eleven = stablehlo.constant dense<11> : tensor<i32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<16x20xf32>
      cond {
        %go = stablehlo.compare LT, %i, %eleven : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        BODY
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %next : tensor<i32>, tensor<16x20xf32>
      }
      return %o#1 : tensor<16x20xf32>
    })",
                             {{"BODY", body}});
}

constexpr char kLayer[] = R"(
        %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 16, 20] : (tensor<11x16x20xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x20xf32>
        %layer = stablehlo.reshape %s : (tensor<1x16x20xf32>) -> tensor<16x20xf32>)";

TEST(SliceInPlaceTest, LayersThatALoopOnlyReadsAreNotCopied) {
  const std::string text =
      Loop(absl::StrCat(kLayer, "\n%next = stablehlo.add %v, %layer : tensor<16x20xf32>"));
  EXPECT_EQ(CountSteps(text, "in place"), 1);
  EXPECT_EQ(CountSteps(text, "dynamic_slice 1280 bytes"), 0);
  const std::vector<float> w = Counting<float>(11 * 320), x = Counting<float>(320);
  std::vector<float> expected = x;
  for (int i = 0; i < 11; ++i) {
    for (int k = 0; k < 320; ++k) expected[k] += w[320 * i + k];
  }
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, x);
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), expected);
}

// Whoever is given a slice finds it as aligned as any array, but for those who read anything.
TEST(SliceInPlaceTest, SlicesThatBeginAnywhereAreForLoopsProductsAndCopies) {
  const std::string text =
      Loop(absl::StrCat(kLayer, "\n%next = stablehlo.add %v, %layer : tensor<16x20xf32>"));
  const std::string sorting = Loop(absl::StrCat(kLayer, R"(
        %sorted = "stablehlo.sort"(%layer) <{dimension = 0 : i64}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %less : tensor<i1>
        }) : (tensor<16x20xf32>) -> tensor<16x20xf32>
        %next = stablehlo.add %v, %sorted : tensor<16x20xf32>)"));
  const auto in_place = [](absl::string_view program, absl::string_view rows,
                           absl::string_view columns) {
    return CountSteps(absl::StrReplaceAll(program, {{"16x20", absl::StrCat(rows, "x", columns)},
                                                    {"16, 20", absl::StrCat(rows, ", ", columns)}}),
                      "in place");
  };
  for (const absl::string_view program : {text, sorting}) {
    EXPECT_EQ(in_place(program, "16", "20"), 1);
    EXPECT_EQ(in_place(program, "16", "21"), 1);
  }
  EXPECT_EQ(in_place(text, "15", "21"), 1);
  EXPECT_EQ(in_place(sorting, "15", "21"), 0);

  const std::string odd = absl::StrReplaceAll(text, {{"16x20", "15x21"}, {"16, 20", "15, 21"}});
  const std::vector<float> w = Counting<float>(11 * 315), x = Counting<float>(315);
  std::vector<float> expected = x;
  for (int i = 0; i < 11; ++i) {
    for (int k = 0; k < 315; ++k) expected[k] += w[315 * i + k];
  }
  const Literal a = Array<float>({11, 15, 21}, w), b = Array<float>({15, 21}, x);
  EXPECT_EQ(RunOne<float>(odd, {&a, &b}), expected);
}

// A column of blocks: rows with gaps between them.
TEST(SliceInPlaceTest, LongRowsMayHaveGaps) {
  constexpr char kText[] = R"(
    func.func @main(%w: tensor<3x17x300xf32>, %x: tensor<3x300xf32>) -> tensor<3x300xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %most = stablehlo.constant dense<17> : tensor<i32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<3x300xf32>
      cond {
        %go = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %s = stablehlo.dynamic_slice %w, %zero, %i, %zero, sizes = [3, 1, 300] : (tensor<3x17x300xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x1x300xf32>
        %r = stablehlo.reshape %s : (tensor<3x1x300xf32>) -> tensor<3x300xf32>
        %d = stablehlo.dot_general %r, %r, contracting_dims = [0] x [0] : (tensor<3x300xf32>, tensor<3x300xf32>) -> tensor<300x300xf32>
        %row = stablehlo.slice %d [0:3, 0:300] : (tensor<300x300xf32>) -> tensor<3x300xf32>
        %sum = stablehlo.add %v, %r : tensor<3x300xf32>
        %next = stablehlo.add %sum, %row : tensor<3x300xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %next : tensor<i32>, tensor<3x300xf32>
      }
      return %o#1 : tensor<3x300xf32>
    })";
  EXPECT_EQ(CountSteps(kText, "in place"), 1);
  EXPECT_EQ(CountSteps(absl::StrReplaceAll(kText, {{"300", "100"}}), "in place"), 0);
  std::vector<float> w(3 * 17 * 300), x(900, 0.0f);
  for (size_t k = 0; k < w.size(); ++k) w[k] = static_cast<float>(k % 13);
  std::vector<float> expected = x;
  for (int i = 0; i < 17; ++i) {
    const auto at = [&](int row, int column) { return w[(row * 17 + i) * 300 + column]; };
    for (int m = 0; m < 3; ++m) {
      for (int n = 0; n < 300; ++n) {
        expected[m * 300 + n] +=
            at(m, n) + at(0, m) * at(0, n) + at(1, m) * at(1, n) + at(2, m) * at(2, n);
      }
    }
  }
  const Literal a = Array<float>({3, 17, 300}, w), b = Array<float>({3, 300}, x);
  EXPECT_EQ(RunOne<float>(kText, {&a, &b}), expected);
}

TEST(SliceInPlaceTest, BranchesReadArraysOfOutsideOfTheLoop) {
  const std::string text = Loop(absl::StrCat(R"(
        %odd = stablehlo.and %i, %one : tensor<i32>
        %next = "stablehlo.case"(%odd) ({
          stablehlo.return %v : tensor<16x20xf32>
        }, {)",
                                             kLayer, R"(
          %more = stablehlo.add %v, %layer : tensor<16x20xf32>
          stablehlo.return %more : tensor<16x20xf32>
        }) : (tensor<i32>) -> tensor<16x20xf32>)"));
  EXPECT_EQ(CountSteps(text, "in place"), 1);
  const std::vector<float> w = Counting<float>(11 * 320), x = Counting<float>(320);
  std::vector<float> expected = x;
  for (int i = 1; i < 11; i += 2) {
    for (int k = 0; k < 320; ++k) expected[k] += w[320 * i + k];
  }
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, x);
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), expected);
}

// What a loop makes of a slice may be the slice itself.
TEST(SliceInPlaceTest, ASliceMayBeCarried) {
  const std::string text = Loop(absl::StrCat(
      kLayer, "\n%next = stablehlo.reshape %layer : (tensor<16x20xf32>) -> tensor<16x20xf32>"));
  const std::vector<float> w = Counting<float>(11 * 320);
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, Counting<float>(320));
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), std::vector<float>(w.end() - 320, w.end()));
}

// Starts beyond the end are moved back, in place as well.
TEST(SliceInPlaceTest, StartsAreClamped) {
  const std::string text = Loop(absl::StrReplaceAll(
      absl::StrCat("%far = stablehlo.multiply %i, %eleven : tensor<i32>", kLayer,
                   "\n%next = stablehlo.add %v, %layer : tensor<16x20xf32>"),
      {{"%w, %i", "%w, %far"}}));
  EXPECT_EQ(CountSteps(text, "in place"), 1);
  const std::vector<float> w = Counting<float>(11 * 320), x = Counting<float>(320);
  std::vector<float> expected = x;
  for (int i = 0; i < 11; ++i) {
    for (int k = 0; k < 320; ++k) expected[k] += w[320 * (i == 0 ? 0 : 10) + k];
  }
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, x);
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), expected);
}

// Rows are exchanged one after the other: what was read must not change with its array.
TEST(SliceInPlaceTest, SlicesOfWhatTheLoopChangesAreCopied) {
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<4x300xi32>) -> tensor<4x300xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4x300xi32>
      cond {
        %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %a = stablehlo.dynamic_slice %v, %i, %zero, sizes = [1, 300] : (tensor<4x300xi32>, tensor<i32>, tensor<i32>) -> tensor<1x300xi32>
        %b = stablehlo.dynamic_slice %v, %j, %zero, sizes = [1, 300] : (tensor<4x300xi32>, tensor<i32>, tensor<i32>) -> tensor<1x300xi32>
        %w = stablehlo.dynamic_update_slice %v, %b, %i, %zero : (tensor<4x300xi32>, tensor<1x300xi32>, tensor<i32>, tensor<i32>) -> tensor<4x300xi32>
        %u = stablehlo.dynamic_update_slice %w, %a, %j, %zero : (tensor<4x300xi32>, tensor<1x300xi32>, tensor<i32>, tensor<i32>) -> tensor<4x300xi32>
        stablehlo.return %j, %u : tensor<i32>, tensor<4x300xi32>
      }
      return %o#1 : tensor<4x300xi32>
    })";
  EXPECT_EQ(CountSteps(kText, "in place"), 0);
  const std::vector<int32_t> x = Counting<int32_t>(1200);
  std::vector<int32_t> expected(x.begin() + 300, x.end());
  expected.insert(expected.end(), x.begin(), x.begin() + 300);
  const Literal a = Array<int32_t>({4, 300}, x);
  EXPECT_EQ(RunOne<int32_t>(kText, {&a}), expected);
}

// A gather of one row is a slice. Indices beyond the end are those of the last row.
TEST(SliceInPlaceTest, GathersOfOneRowAreSlices) {
  const std::string text = Loop(R"(
        %twice = stablehlo.add %i, %i : tensor<i32>
        %at = stablehlo.reshape %twice : (tensor<i32>) -> tensor<1xi32>
        %layer = "stablehlo.gather"(%w, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 16, 20>}> : (tensor<11x16x20xf32>, tensor<1xi32>) -> tensor<16x20xf32>
        %next = stablehlo.add %v, %layer : tensor<16x20xf32>)");
  EXPECT_EQ(CountSteps(text, "in place"), 1);
  const std::vector<float> w = Counting<float>(11 * 320), x = Counting<float>(320);
  std::vector<float> expected = x;
  for (int i = 0; i < 11; ++i) {
    for (int k = 0; k < 320; ++k) expected[k] += w[320 * std::min(2 * i, 10) + k];
  }
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, x);
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), expected);
}

// Rows of a table, each made of one before; with BODY, which makes %new of %v and %row, the row %i
// of it.
std::string Table(absl::string_view body) {
  return absl::StrReplaceAll(R"(
    func.func @main(%x: tensor<29x71xi32>) -> tensor<29x71xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %most = stablehlo.constant dense<28> : tensor<i32>
      %ones = stablehlo.constant dense<1> : tensor<1x71xi32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<29x71xi32>
      cond {
        %go = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %row = stablehlo.dynamic_slice %v, %i, %zero, sizes = [1, 71] : (tensor<29x71xi32>, tensor<i32>, tensor<i32>) -> tensor<1x71xi32>
        BODY
        stablehlo.return %j, %new : tensor<i32>, tensor<29x71xi32>
      }
      return %o#1 : tensor<29x71xi32>
    })",
                             {{"BODY", body}});
}

std::vector<int32_t> RunTable(absl::string_view text) {
  const Literal x = Array<int32_t>({29, 71}, Counting<int32_t>(29 * 71));
  return RunOne<int32_t>(text, {&x});
}

TEST(SliceInPlaceTest, RowsThatAreReadBeforeTheirArrayChangesAreNotCopied) {
  const std::string text = Table(R"(
        %sum = stablehlo.add %row, %ones : tensor<1x71xi32>
        %old = stablehlo.dynamic_slice %v, %j, %zero, sizes = [1, 71] : (tensor<29x71xi32>, tensor<i32>, tensor<i32>) -> tensor<1x71xi32>
        %product = stablehlo.multiply %sum, %old : tensor<1x71xi32>
        %new = stablehlo.dynamic_update_slice %v, %product, %j, %zero : (tensor<29x71xi32>, tensor<1x71xi32>, tensor<i32>, tensor<i32>) -> tensor<29x71xi32>)");
  EXPECT_EQ(CountSteps(text, "in place"), 2);
  std::vector<int32_t> expected = Counting<int32_t>(29 * 71);
  for (size_t k = 71; k < expected.size(); ++k) {
    expected[k] = static_cast<int32_t>(static_cast<uint32_t>(expected[k]) *
                                       (static_cast<uint32_t>(expected[k - 71]) + 1));
  }
  EXPECT_EQ(RunTable(text), expected);
}

TEST(SliceInPlaceTest, RowsThatAreReadWhenTheirArrayHasChangedAreCopied) {
  // By another update, and at once.
  const std::string later = Table(R"(
        %u = stablehlo.dynamic_update_slice %v, %ones, %i, %zero : (tensor<29x71xi32>, tensor<1x71xi32>, tensor<i32>, tensor<i32>) -> tensor<29x71xi32>
        %first = stablehlo.dynamic_slice %u, %i, %zero, sizes = [1, 71] : (tensor<29x71xi32>, tensor<i32>, tensor<i32>) -> tensor<1x71xi32>
        %sum = stablehlo.add %row, %first : tensor<1x71xi32>
        %new = stablehlo.dynamic_update_slice %u, %sum, %j, %zero : (tensor<29x71xi32>, tensor<1x71xi32>, tensor<i32>, tensor<i32>) -> tensor<29x71xi32>)");
  EXPECT_EQ(CountSteps(later, "in place"), 1);
  EXPECT_EQ(CountSteps(later, "dynamic_slice 284 bytes"), 1);
  std::vector<int32_t> expected(29 * 71, 1);
  // Row 1 is row 0 and one; each one behind it the one before and one.
  const std::vector<int32_t> x = Counting<int32_t>(29 * 71);
  for (int k = 0; k < 71; ++k) expected[28 * 71 + k] = x[k] + 28;
  EXPECT_EQ(RunTable(later), expected);

  const std::string at_once = Table(R"(
        %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x71xi32>) -> tensor<29x71xi32>
        %new = stablehlo.add %v, %rows : tensor<29x71xi32>)");
  EXPECT_EQ(CountSteps(at_once, "in place"), 0);
  std::vector<int32_t> all = x;
  for (int i = 0; i < 28; ++i) {
    const std::vector<int32_t> row(all.begin() + i * 71, all.begin() + (i + 1) * 71);
    for (size_t k = 0; k < all.size(); ++k)
      all[k] =
          static_cast<int32_t>(static_cast<uint32_t>(all[k]) + static_cast<uint32_t>(row[k % 71]));
  }
  EXPECT_EQ(RunTable(at_once), all);
}

// Two arrays change places, and a row of one is returned beside them.
TEST(SliceInPlaceTest, RowsOfWhatGivesItsPlaceAwayAreCopied) {
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<14x80xi32>, %y: tensor<14x80xi32>) -> (tensor<14x80xi32>, tensor<14x80xi32>, tensor<1x80xi32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %most = stablehlo.constant dense<13> : tensor<i32>
      %zeros = stablehlo.constant dense<0> : tensor<1x80xi32>
      %o:4 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %r = %zeros) : tensor<i32>, tensor<14x80xi32>, tensor<14x80xi32>, tensor<1x80xi32>
      cond {
        %go = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %s = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 80] : (tensor<14x80xi32>, tensor<i32>, tensor<i32>) -> tensor<1x80xi32>
        %t = stablehlo.dynamic_slice %b, %i, %zero, sizes = [1, 80] : (tensor<14x80xi32>, tensor<i32>, tensor<i32>) -> tensor<1x80xi32>
        %sum = stablehlo.add %t, %r : tensor<1x80xi32>
        %c = stablehlo.dynamic_update_slice %b, %sum, %j, %zero : (tensor<14x80xi32>, tensor<1x80xi32>, tensor<i32>, tensor<i32>) -> tensor<14x80xi32>
        stablehlo.return %j, %c, %a, %s : tensor<i32>, tensor<14x80xi32>, tensor<14x80xi32>, tensor<1x80xi32>
      }
      return %o#1, %o#2, %o#3 : tensor<14x80xi32>, tensor<14x80xi32>, tensor<1x80xi32>
    })";
  std::vector<int32_t> a = Counting<int32_t>(1120), b(1120, 7), r(80, 0);
  const Literal x = Array<int32_t>({14, 80}, a), y = Array<int32_t>({14, 80}, b);
  for (int i = 0; i < 13; ++i) {
    std::vector<int32_t> c = b, s(a.begin() + i * 80, a.begin() + (i + 1) * 80);
    for (int k = 0; k < 80; ++k) c[(i + 1) * 80 + k] = b[i * 80 + k] + r[k];
    b = a;
    a = c;
    r = s;
  }
  const auto results = RunAll(kText, {&x, &y});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(Elements<int32_t>(*results[0]), a);
  EXPECT_EQ(Elements<int32_t>(*results[1]), b);
  EXPECT_EQ(Elements<int32_t>(*results[2]), r);
}

// A barrier of several values hands a row on to what the loop carries.
TEST(SliceInPlaceTest, RowsThatPassABarrierAndAreCarriedAreCopied) {
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<4x1024xf32>, %y: tensor<1024xf32>) -> (tensor<4x1024xf32>, tensor<1024xf32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %most = stablehlo.constant dense<50> : tensor<i32>
      %o:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<4x1024xf32>, tensor<1024xf32>
      cond {
        %go = stablehlo.compare LT, %i, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %s = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 1024] : (tensor<4x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<1x1024xf32>
        %q:2 = stablehlo.optimization_barrier %i, %s : tensor<i32>, tensor<1x1024xf32>
        %row = stablehlo.reshape %q#1 : (tensor<1x1024xf32>) -> tensor<1024xf32>
        %j = stablehlo.add %q#0, %one : tensor<i32>
        %k = stablehlo.constant dense<1.5> : tensor<4x1024xf32>
        %c = stablehlo.add %a, %k : tensor<4x1024xf32>
        stablehlo.return %j, %c, %row : tensor<i32>, tensor<4x1024xf32>, tensor<1024xf32>
      }
      return %o#1, %o#2 : tensor<4x1024xf32>, tensor<1024xf32>
    })";
  const Literal x = Array<float>({4, 1024}, std::vector<float>(4096, 0.0f));
  const Literal y = Array<float>({1024}, std::vector<float>(1024, 0.0f));
  const auto results = RunAll(kText, {&x, &y});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<float>(*results[0]), std::vector<float>(4096, 75.0f));
  EXPECT_EQ(Elements<float>(*results[1]), std::vector<float>(1024, 73.5f));
}

TEST(SliceInPlaceTest, SlicesWithoutElementsAreNotRead) {
  const std::string text = Loop(R"(
        %none = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [0, 16, 10] : (tensor<11x16x20xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<0x16x10xf32>
        %init = stablehlo.constant dense<1.0> : tensor<f32>
        %sum = stablehlo.reduce(%none init: %init) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<0x16x10xf32>, tensor<f32>) -> tensor<f32>
        %all = stablehlo.broadcast_in_dim %sum, dims = [] : (tensor<f32>) -> tensor<16x20xf32>
        %next = stablehlo.add %v, %all : tensor<16x20xf32>)");
  EXPECT_EQ(CountSteps(text, "in place"), 0);
  const Literal w = Array<float>({11, 16, 20}, std::vector<float>(3520, 5.0f));
  const Literal x = Array<float>({16, 20}, std::vector<float>(320, 0.0f));
  EXPECT_EQ(RunOne<float>(text, {&w, &x}), std::vector<float>(320, 11.0f));
}

}  // namespace
}  // namespace pjrt::cpu
