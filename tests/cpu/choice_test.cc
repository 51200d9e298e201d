// SPDX-License-Identifier: Apache-2.0
//
// Reductions of pairs that find an extreme value and where it stands, in the spellings that
// frameworks use, compared with their comparators applied to one pair after the other.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "src/cpu_device/kernels/fold_ops.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
struct Pair {
  T value;
  int64_t index;
};

// A comparator's region, over values %a and %b of type V and indices %i and %j of type I, and what
// it computes of the pairs (a, i) and (b, j).
template <typename T>
struct Comparator {
  const char* region;
  std::function<Pair<T>(Pair<T>, Pair<T>)> apply;
};

// The text with the types of V and I.
std::string OfTypes(const std::string& text, const std::string& value, const std::string& index) {
  const std::string v = absl::StrCat("tensor<", value, ">"),
                    i = absl::StrCat("tensor<", index, ">");
  return absl::StrReplaceAll(text, {{" V,", absl::StrCat(" ", v, ",")},
                                    {" V)", absl::StrCat(" ", v, ")")},
                                    {" V\n", absl::StrCat(" ", v, "\n")},
                                    {"(V,", absl::StrCat("(", v, ",")},
                                    {" I,", absl::StrCat(" ", i, ",")},
                                    {" I)", absl::StrCat(" ", i, ")")},
                                    {" I\n", absl::StrCat(" ", i, "\n")},
                                    {"(I,", absl::StrCat("(", i, ",")}});
}

constexpr char kNansWin[] = R"(
  %more = stablehlo.compare GT, %a, %b : (V, V) -> tensor<i1>
  %nan = stablehlo.compare NE, %a, %a : (V, V) -> tensor<i1>
  %first = stablehlo.or %more, %nan : tensor<i1>
  %same = stablehlo.compare EQ, %a, %b : (V, V) -> tensor<i1>
  %before = stablehlo.compare LT, %i, %j : (I, I) -> tensor<i1>
  %tie = stablehlo.and %same, %before : tensor<i1>
  %left = stablehlo.or %first, %tie : tensor<i1>
  %v = stablehlo.select %first, %a, %b : tensor<i1>, V
  %k = stablehlo.select %left, %i, %j : tensor<i1>, I
)";
constexpr char kLowestIndex[] = R"(
  %ge = stablehlo.compare GE, %a, %b : (V, V) -> tensor<i1>
  %v = stablehlo.select %ge, %a, %b : tensor<i1>, V
  %same = stablehlo.compare EQ, %a, %b : (V, V) -> tensor<i1>
  %min = stablehlo.minimum %i, %j : I
  %w = stablehlo.select %ge, %i, %j : tensor<i1>, I
  %k = stablehlo.select %same, %min, %w : tensor<i1>, I
)";
constexpr char kSmallestBranch[] = R"(
  %less = stablehlo.compare LT, %b, %a : (V, V) -> tensor<i1>
  %keep = stablehlo.not %less : tensor<i1>
  %v, %k = "stablehlo.if"(%keep) ({
    stablehlo.return %a, %i : V, I
  }, {
    stablehlo.return %b, %j : V, I
  }) : (tensor<i1>) -> (V, I)
)";
constexpr char kHighestIndex[] = R"(
  %more = stablehlo.compare GT, %a, %b : (V, V) -> tensor<i1>
  %same = stablehlo.compare EQ, %a, %b : (V, V) -> tensor<i1>
  %behind = stablehlo.compare GT, %i, %j : (I, I) -> tensor<i1>
  %tie = stablehlo.and %same, %behind : tensor<i1>
  %left = stablehlo.or %more, %tie : tensor<i1>
  %v = stablehlo.select %left, %a, %b : tensor<i1>, V
  %k = stablehlo.select %left, %i, %j : tensor<i1>, I
)";

template <typename T>
std::vector<Comparator<T>> Comparators() {
  using P = Pair<T>;
  return {{kNansWin,
           [](P a, P b) {
             const bool first = a.value > b.value || a.value != a.value;
             const bool left = first || (a.value == b.value && a.index < b.index);
             return P{first ? a.value : b.value, left ? a.index : b.index};
           }},
          {kLowestIndex,
           [](P a, P b) {
             const bool keeps = a.value >= b.value;
             const int64_t lowest = std::min(a.index, b.index);
             return P{keeps ? a.value : b.value, a.value == b.value ? lowest
                                                 : keeps            ? a.index
                                                                    : b.index};
           }},
          {kSmallestBranch, [](P a, P b) { return b.value < a.value ? b : a; }},
          {kHighestIndex, [](P a, P b) {
             return a.value > b.value || (a.value == b.value && a.index > b.index) ? a : b;
           }}};
}

// What numbers of T are called.
template <typename T>
constexpr PrimitiveType kType = std::is_same_v<T, float>      ? F32
                                : std::is_same_v<T, double>   ? F64
                                : std::is_same_v<T, bfloat16> ? BF16
                                : std::is_same_v<T, half>     ? F16
                                : std::is_same_v<T, uint8_t>  ? U8
                                                              : S32;
template <typename T>
constexpr bool kIsFloat = !std::is_integral_v<T>;

// Numbers with many ties, zeros of both signs among them.
template <typename T>
std::vector<T> Values(int64_t count, bool nans) {
  std::vector<T> values(count);
  uint32_t state = 3;
  for (T& v : values) {
    state = state * 1664525u + 1013904223u;
    const int number = static_cast<int>(state >> 24);
    v = static_cast<T>(std::numeric_limits<T>::is_signed ? number % 7 - 6 : number % 7);
    if constexpr (!std::is_integral_v<T>) {
      if (v == T{0} && state % 3 == 0) v = -T{0};
      if (nans && number == 200) v = std::numeric_limits<T>::quiet_NaN();
      if (nans && number == 100) v = std::numeric_limits<T>::infinity();
      if (number >= 100 && state % 5 < 2) v = -v;
    }
  }
  return values;
}

// Reduces `x`, outer x reduced x inner, over its middle dim from (init, -1) on.
template <typename T, typename I>
void Check(const Comparator<T>& comparator, int64_t outer, int64_t reduced, int64_t inner, T init,
           bool nans, bool index_first, int threads) {
  const std::vector<T> x = Values<T>(outer * reduced * inner, nans);
  const std::string element(GetPrimitiveTypeInfo(kType<T>).stablehlo_name);
  const std::string index = sizeof(I) == 4 ? "i32" : "i64";
  const std::string pairs =
      index_first ? "(%n init: %start), (%x init: %init)" : "(%x init: %init), (%n init: %start)";
  const auto in_order = [&](const char* value, const char* companion, const char* separator) {
    return index_first ? absl::StrCat(companion, separator, value)
                       : absl::StrCat(value, separator, companion);
  };
  std::string text = absl::StrCat(
      "func.func @main(%x: tensor<DIMSxV_>, %init: V) -> (tensor<KEPTxV_>, tensor<KEPTxI_>) {\n"
      "  %start = stablehlo.constant dense<-1> : I\n"
      "  %n = stablehlo.iota dim = 1 : tensor<DIMSxI_>\n"
      "  %0:2 = stablehlo.reduce",
      pairs, " across dimensions = [1] : (", in_order("tensor<DIMSxV_>", "tensor<DIMSxI_>", ", "),
      ", ", in_order("V", "I", ", "), ") -> (",
      in_order("tensor<KEPTxV_>", "tensor<KEPTxI_>", ", "), ")\n reducer",
      index_first ? "(%i: I, %j: I) (%a: V, %b: V)" : "(%a: V, %b: V) (%i: I, %j: I)", " {",
      comparator.region, "  stablehlo.return ", index_first ? "%k, %v : I, V" : "%v, %k : V, I",
      "\n  }\n  return ", index_first ? "%0#1, %0#0" : "%0#0, %0#1",
      " : tensor<KEPTxV_>, tensor<KEPTxI_>\n}\n");
  text = absl::StrReplaceAll(text, {{"V_", element},
                                    {"I_", index},
                                    {"DIMS", absl::StrCat(outer, "x", reduced, "x", inner)},
                                    {"KEPT", absl::StrCat(outer, "x", inner)}});
  text = OfTypes(text, element, index);
  const Literal operand = Array<T>(kType<T>, {outer, reduced, inner}, x);
  const Literal start = Array<T>(kType<T>, {}, {init});
  const auto results = RunProgram(*MakeClient(WithThreads(threads)), text, {&operand, &start});
  ASSERT_TRUE(results.ok()) << results.status() << "\n" << text;
  const std::vector<T> values = Elements<T>(*(*results)[0]);
  const std::vector<I> indices = Elements<I>(*(*results)[1]);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      Pair<T> expected{init, -1};
      for (int64_t r = 0; r < reduced; ++r)
        expected = comparator.apply(expected, {x[(o * reduced + r) * inner + c], r});
      const int64_t at = o * inner + c;
      ASSERT_TRUE(SameValue(values[at], expected.value))
          << Show(static_cast<double>(values[at])) << ", expected "
          << Show(static_cast<double>(expected.value)) << " at " << o << ", " << c << " of "
          << outer << "x" << reduced << "x" << inner << "\n"
          << text;
      ASSERT_EQ(indices[at], expected.index)
          << "at " << o << ", " << c << " of " << outer << "x" << reduced << "x" << inner << "\n"
          << text;
    }
  }
}

template <typename T, typename I>
void CheckShapes(bool nans) {
  constexpr int64_t kShapes[][3] = {
      {1, 1, 1},    {3, 0, 4},    {5, 1, 3},     {1, 10, 1},   {70, 10, 1},  {4, 33, 1},
      {3, 100, 1},  {20, 130, 1}, {2, 700, 1},   {1, 5, 2},    {9, 6, 5},    {2, 70, 20},
      {1, 9, 150},  {2, 20, 300}, {1, 12, 700},  {300, 7, 1},  {1100, 3, 1}, {40, 16, 1},
      {33, 64, 1},  {90, 72, 1},  {300, 3, 1},   {1500, 8, 1}, {500, 2, 1},  {40, 255, 1},
      {40, 256, 1}, {2, 1000, 1}, {1, 600, 131}, {900, 33, 1}, {2, 900, 3},  {1, 2000, 13}};
  using Limits = std::numeric_limits<T>;
  const T lowest = kIsFloat<T> ? -Limits::infinity() : Limits::lowest();
  const T highest = kIsFloat<T> ? Limits::infinity() : Limits::max();
  for (const Comparator<T>& comparator : Comparators<T>()) {
    const bool smallest = comparator.region == kSmallestBranch;
    // Among NaNs, what the third one gives depends on where the reduction begins.
    for (const auto& [outer, reduced, inner] : kShapes)
      Check<T, I>(comparator, outer, reduced, inner, smallest ? highest : lowest, nans && !smallest,
                  (outer + inner) % 2 == 0, 1);
  }
}

TEST(ChoiceTest, ExtremesOfF32AndTheirPlaces) { CheckShapes<float, int32_t>(false); }
TEST(ChoiceTest, ExtremesAmongNans) { CheckShapes<float, int32_t>(true); }
TEST(ChoiceTest, PlacesAsWideIntegers) { CheckShapes<float, int64_t>(true); }
TEST(ChoiceTest, ExtremesOfF64) { CheckShapes<double, int32_t>(true); }
TEST(ChoiceTest, ExtremesOfNarrowFloats) {
  CheckShapes<bfloat16, int32_t>(true);
  CheckShapes<half, int64_t>(true);
}
TEST(ChoiceTest, ExtremesOfIntegers) {
  CheckShapes<int32_t, int64_t>(false);
  CheckShapes<uint8_t, int32_t>(false);
}

// Reductions of few results are cut in two; each way gives the same with any number of threads.
TEST(ChoiceTest, LongReductionsAreSplit) {
  const std::vector<Comparator<float>> comparators = Comparators<float>();
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  for (int threads : {1, 2, 3, 8}) {
    Check<float, int32_t>(comparators[0], 1, 200000, 1, kLowest, true, false, threads);
    Check<float, int32_t>(comparators[1], 2, 100000, 1, kLowest, false, false, threads);
    Check<float, int32_t>(comparators[0], 1, 20000, 8, kLowest, true, true, threads);
    Check<float, int32_t>(comparators[0], 300, 257, 1, kLowest, true, false, threads);
    Check<float, int32_t>(comparators[3], 1, 30, 5000, kLowest, true, false, threads);
    Check<float, int64_t>(comparators[0], 1, 70000, 3, kLowest, true, true, threads);
    Check<uint8_t, int32_t>(Comparators<uint8_t>()[1], 1, 20000, 7, 0, false, false, threads);
    Check<bfloat16, int32_t>(Comparators<bfloat16>()[0], 3, 5000, 1, static_cast<bfloat16>(kLowest),
                             true, false, threads);
  }
  // More points than a place of 16 bits numbers.
  Check<float, int32_t>(comparators[0], 1, 66000, 128, kLowest, false, false, 1);
}

// Rows that the initial value wins, or that reach it, among others that leave it behind.
TEST(ChoiceTest, InitialValuesAreChosenByTheComparator) {
  constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
  for (size_t i : {0, 1, 3}) {
    for (float init : {-6.0f, -1.0f, -0.0f, 1.0f, kQuietNan}) {
      const bool nans = i == 0;
      if (init != init && !nans) continue;
      Check<float, int32_t>(Comparators<float>()[i], 300, 9, 1, init, nans, false, 1);
      Check<float, int64_t>(Comparators<float>()[i], 2, 20, 300, init, nans, true, 1);
      Check<float, int32_t>(Comparators<float>()[i], 1, 6, 1700, init, nans, false, 1);
      Check<bfloat16, int32_t>(Comparators<bfloat16>()[i], 300, 9, 1, static_cast<bfloat16>(init),
                               nans, false, 1);
    }
    Check<uint8_t, int32_t>(Comparators<uint8_t>()[i], 2000, 4, 1, 3, false, false, 1);
  }
  Check<float, int32_t>(Comparators<float>()[2], 300, 9, 1, -5, false, false, 1);
}

// A comparator that minds how companions of unequal values compare: that of the initial value is
// kept, as it is not lower than any other.
TEST(ChoiceTest, InitialCompanionsAreComparedWhereTheyMatter) {
  const Literal x = Array<float>({2, 4}, {1, 3, 3, 2, 5, 4, 5, 5});
  const std::string text = R"(
    func.func @main(%x: tensor<2x4xf32>) -> tensor<2xi32> {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %start = stablehlo.constant dense<START> : tensor<i32>
      %n = stablehlo.iota dim = 1 : tensor<2x4xi32>
      %0:2 = stablehlo.reduce(%x init: %low), (%n init: %start) across dimensions = [1] :
          (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
          %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %before = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %both = stablehlo.and %less, %before : tensor<i1>
          %v = stablehlo.select %less, %b, %a : tensor<i1>, tensor<f32>
          %k = stablehlo.select %both, %j, %i : tensor<i1>, tensor<i32>
          stablehlo.return %v, %k : tensor<f32>, tensor<i32>
        }
      return %0#1 : tensor<2xi32>
    })";
  const auto run = [&](const char* start) {
    return RunOne<int32_t>(absl::StrReplaceAll(text, {{"START", start}}), {&x});
  };
  EXPECT_EQ(run("100"), (std::vector<int32_t>{100, 100}));
  EXPECT_EQ(run("-1"), (std::vector<int32_t>{1, 0}));
}

// Companions that are no numbers of places: the comparator alone says which is chosen.
TEST(ChoiceTest, CompanionsInAnyOrder) {
  const Literal x = Array<float>({2, 4}, {1, 3, 3, 2, 5, 4, 5, 5});
  const Literal n = Array<int32_t>({2, 4}, {9, 8, 7, 6, 3, 1, 2, 4});
  const std::string text = R"(
    func.func @main(%x: tensor<2x4xf32>, %n: tensor<2x4xi32>) -> tensor<2xi32> {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %none = stablehlo.constant dense<100> : tensor<i32>
      %0:2 = stablehlo.reduce(%x init: %low), (%n init: %none) across dimensions = [1] :
          (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
          %ge = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %v = stablehlo.select %ge, %a, %b : tensor<i1>, tensor<f32>
          TIES
          stablehlo.return %v, %k : tensor<f32>, tensor<i32>
        }
      return %0#1 : tensor<2xi32>
    })";
  const std::string first = absl::StrReplaceAll(
      text, {{"TIES", "%k = stablehlo.select %ge, %i, %j : tensor<i1>, tensor<i32>"}});
  EXPECT_EQ(RunOne<int32_t>(first, {&x, &n}), (std::vector<int32_t>{8, 3}));
  const std::string lowest = absl::StrReplaceAll(
      text, {{"TIES",
              "%w = stablehlo.select %ge, %i, %j : tensor<i1>, tensor<i32>\n"
              "%same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
              "%min = stablehlo.minimum %i, %j : tensor<i32>\n"
              "%k = stablehlo.select %same, %min, %w : tensor<i1>, tensor<i32>"}});
  EXPECT_EQ(RunOne<int32_t>(lowest, {&x, &n}), (std::vector<int32_t>{7, 2}));
}

// Values that are computed, over two dims that the program does not read in their order, beside a
// sum of them.
TEST(ChoiceTest, ComputedValuesBesideASum) {
  constexpr int64_t kRows = 300, kColumns = 3, kInner = 500;
  std::vector<float> x(kRows * kColumns * kInner);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 2654435761u >> 7) % 1000);
  const Literal operand = Array<float>({kColumns, kRows, kInner}, x);
  std::string text = R"(
    func.func @main(%x: tensor<3x300x500xf32>) -> (tensor<500xi32>, tensor<500xf32>) {
      %low = stablehlo.constant dense<0.0> : tensor<f32>
      %none = stablehlo.constant dense<-1> : tensor<i32>
      %y = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<3x300x500xf32>) -> tensor<300x3x500xf32>
      %z = stablehlo.add %y, %y : tensor<300x3x500xf32>
      %line = stablehlo.iota dim = 0 : tensor<900xi32>
      %square = stablehlo.reshape %line : (tensor<900xi32>) -> tensor<300x3xi32>
      %n = stablehlo.broadcast_in_dim %square, dims = [0, 1] : (tensor<300x3xi32>) -> tensor<300x3x500xi32>
      %0:2 = stablehlo.reduce(%z init: %low), (%n init: %none) across dimensions = [0, 1] :
          (tensor<300x3x500xf32>, tensor<300x3x500xi32>, tensor<f32>, tensor<i32>) -> (tensor<500xf32>, tensor<500xi32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {REGION
          stablehlo.return %v, %k : tensor<f32>, tensor<i32>
        }
      %1 = stablehlo.reduce(%z init: %low) applies stablehlo.add across dimensions = [0, 1] :
          (tensor<300x3x500xf32>, tensor<f32>) -> tensor<500xf32>
      return %0#1, %1 : tensor<500xi32>, tensor<500xf32>
    })";
  text = OfTypes(absl::StrReplaceAll(text, {{"REGION", kLowestIndex}}), "f32", "i32");
  const auto results = RunAll(text, {&operand});
  ASSERT_EQ(results.size(), 2u);
  for (int64_t c = 0; c < kInner; ++c) {
    float best = 0, sum = 0;
    int32_t place = -1;
    for (int64_t r = 0; r < kRows * kColumns; ++r) {
      const float v = 2 * x[(r % kColumns * kRows + r / kColumns) * kInner + c];
      sum += v;
      if (v > best) {
        best = v;
        place = static_cast<int32_t>(r);
      }
    }
    EXPECT_EQ(Elements<int32_t>(*results[0])[c], place) << c;
    EXPECT_EQ(Elements<float>(*results[1])[c], sum) << c;
  }
}

// Places that are counted from the end.
TEST(ChoiceTest, CompanionsThatShrink) {
  const Literal x = Array<float>({6}, {1, 3, 0, 3, 2, 3});
  std::string text = R"(
    func.func @main(%x: tensor<6xf32>) -> tensor<i32> {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %none = stablehlo.constant dense<100> : tensor<i32>
      %up = stablehlo.iota dim = 0 : tensor<6xi32>
      %n = stablehlo.reverse %up, dims = [0] : tensor<6xi32>
      %0:2 = stablehlo.reduce(%x init: %low), (%n init: %none) across dimensions = [0] :
          (tensor<6xf32>, tensor<6xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {REGION
          stablehlo.return %v, %k : tensor<f32>, tensor<i32>
        }
      return %0#1 : tensor<i32>
    })";
  text = OfTypes(absl::StrReplaceAll(text, {{"REGION", kLowestIndex}}), "f32", "i32");
  EXPECT_EQ(RunOne<int32_t>(text, {&x}), (std::vector<int32_t>{0}));
}

Choice RuleOfBits(int bits) {
  Choice rule;
  rule.greater = (bits & 1) != 0;
  rule.first_of_equal_values = (bits & 2) != 0;
  rule.first_of_equal_companions = (bits & 4) != 0;
  rule.first_if_first_nan = (bits & 8) != 0;
  rule.first_if_second_nan = (bits & 16) != 0;
  rule.first_if_both_nan = (bits & 32) != 0;
  return rule;
}

// The choice between two pairs, by the words of the rule.
template <typename T>
Pair<T> Chosen(const Choice& rule, Pair<T> a, Pair<T> b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a.value == b.value)
    return {rule.first_of_equal_values ? a.value : b.value,
            rule.first_of_equal_companions ? a.index : b.index};
  bool first = (a.value > b.value) == rule.greater;
  if (a_nan || b_nan) {
    first = a_nan && b_nan ? rule.first_if_both_nan
            : a_nan        ? rule.first_if_first_nan
                           : rule.first_if_second_nan;
  }
  return first ? a : b;
}

template <typename T>
void CheckKernels() {
  const int type = static_cast<int>(CTypeOf<T>());
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    for (int64_t n : {0, 1, 5, 16, 17, 40, 63, 64, 65, 130, 200}) {
      const std::vector<T> a = Values<T>(n, true);
      std::vector<T> b = Values<T>(n + 3, true);
      b.erase(b.begin(), b.begin() + 3);
      for (int bits = 0; bits < 64; ++bits) {
        const Choice rule = RuleOfBits(bits);
        std::vector<T> values = a;
        std::vector<int64_t> companions = Counting<int64_t>(n);
        const std::vector<int64_t> j(n, 1000);
        kernels->fold->choice[type].choose[1](rule, values.data(), companions.data(), b.data(),
                                              j.data(), n);
        for (int64_t k = 0; k < n; ++k) {
          const Pair<T> expected = Chosen(rule, Pair<T>{a[k], k}, Pair<T>{b[k], j[k]});
          ASSERT_TRUE(SameValue(values[k], expected.value)) << kernels->name << " " << bits;
          ASSERT_EQ(companions[k], expected.index) << kernels->name << " " << bits;
        }
      }
      for (int64_t k = 0; k < n; ++k) {
        const auto matches = [&](T x) { return x == a[k] || (x != x && a[k] != a[k]); };
        int64_t first = 0, last = n - 1;
        while (!matches(a[first])) ++first;
        while (!matches(a[last])) --last;
        ASSERT_EQ(kernels->fold->choice[type].find_first(a.data(), &a[k], n), first);
        ASSERT_EQ(kernels->fold->choice[type].find_last(a.data(), &a[k], n), last);
      }
      const T absent = static_cast<T>(100);
      ASSERT_EQ(kernels->fold->choice[type].find_first(a.data(), &absent, n), -1);
      ASSERT_EQ(kernels->fold->choice[type].find_last(a.data(), &absent, n), -1);
    }
  }
}

// `kernels` choose places among `runs` runs of values of S, stored as T, where P holds a place.
template <typename T, typename S, typename P>
void CheckPlaces(const char* level, const ChoiceKernels& kernels, int64_t runs, int64_t n) {
  const int64_t stride = n + 3;
  const std::vector<S> b = Values<S>(runs * stride + n, true);
  std::vector<T> a;
  for (int64_t k = 0; k < n; ++k) a.push_back(static_cast<T>(b[runs * stride + k]));
  for (int bits = 0; bits < 64; ++bits) {
    std::vector<T> values = a;
    std::vector<P> places(n + 1, 0);
    kernels.choose_places(RuleOfBits(bits), values.data(), places.data(), b.data(), 7, runs, n,
                          stride);
    ASSERT_EQ(places[n], 0) << "wrote behind the places";
    for (int64_t k = 0; k < n; ++k) {
      Pair<T> expected{a[k], 0};
      for (int64_t r = 0; r < runs; ++r)
        expected = Chosen(RuleOfBits(bits), expected, {static_cast<T>(b[r * stride + k]), 7 + r});
      ASSERT_TRUE(SameValue(values[k], expected.value)) << level << " " << bits << " " << k;
      ASSERT_EQ(static_cast<int64_t>(places[k]), expected.index)
          << level << " " << bits << " " << k;
    }
  }
}

TEST(ChoiceTest, KernelsChoosePlacesByEachRule) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const auto of = [&](CType type) -> const ChoiceKernels& {
      return kernels->fold->choice[static_cast<int>(type)];
    };
    const auto check = [&](int64_t runs, int64_t n) {
      CheckPlaces<float, float, uint32_t>(kernels->name, of(CType::kF32), runs, n);
      CheckPlaces<double, double, uint64_t>(kernels->name, of(CType::kF64), runs, n);
      CheckPlaces<int8_t, int8_t, uint8_t>(kernels->name, of(CType::kS8), runs, n);
      CheckPlaces<uint8_t, uint8_t, uint8_t>(kernels->name, of(CType::kU8), runs, n);
      CheckPlaces<uint16_t, uint16_t, uint16_t>(kernels->name, of(CType::kU16), runs, n);
      CheckPlaces<int64_t, int64_t, uint64_t>(kernels->name, of(CType::kS64), runs, n);
      CheckPlaces<float, bfloat16, uint32_t>(kernels->name, kernels->fold->bf16_choice, runs, n);
      if (kernels->fold->f16_choice.choose_places != nullptr)
        CheckPlaces<float, half, uint32_t>(kernels->name, kernels->fold->f16_choice, runs, n);
    };
    for (int64_t n : {0, 1, 3, 4, 15, 16, 33, 64, 65, 150}) {
      for (int64_t runs : {0, 1, 2, 16, 50}) check(runs, n);
    }
    check(19, 1061);  // long runs are chosen from a few at a time
  }
}

// `kernels` choose from rows of n values of S as above.
template <typename T, typename S, typename P>
void CheckRows(const char* level, const ChoiceKernels& kernels, int64_t rows, int64_t n,
               bool has_nans = true) {
  const std::vector<S> a = Values<S>(rows * n, has_nans);
  const bool are_long = n > kMostPlaces;
  for (int bits = 0; bits < 64; ++bits) {
    const Choice rule = RuleOfBits(kIsFloat<S> ? bits : bits & 7);
    if (!rule.TakesFirstNan() && (are_long || !rule.TakesSecondByNan())) continue;
    std::vector<T> values(rows);
    std::vector<P> places(rows + 1, 99);
    const ChooseRowsFn choose = are_long ? kernels.choose_long_rows : kernels.choose_rows;
    choose(rule, values.data(), places.data(), a.data(), rows, n);
    ASSERT_EQ(places[rows], 99) << "wrote behind the places";
    for (int64_t r = 0; r < rows; ++r) {
      Pair<T> expected{static_cast<T>(a[r * n]), 1};
      for (int64_t k = 1; k < n; ++k)
        expected = Chosen(rule, expected, {static_cast<T>(a[r * n + k]), k + 1});
      ASSERT_TRUE(SameValue(values[r], expected.value)) << level << " " << bits << " " << r;
      ASSERT_EQ(static_cast<int64_t>(places[r]), expected.index)
          << level << " " << bits << " row " << r << " of " << rows << "x" << n;
    }
  }
}

TEST(ChoiceTest, KernelsChooseFromRowsByEachRule) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const auto of = [&](CType type) -> const ChoiceKernels& {
      return kernels->fold->choice[static_cast<int>(type)];
    };
    for (int64_t n : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 64, 255}) {
      for (int64_t more : {0, 1, 37}) {
        const auto least = [&](int64_t size) { return kLeastColumnBytes / size + more; };
        CheckRows<float, float, uint32_t>(kernels->name, of(CType::kF32), least(4), n);
        CheckRows<double, double, uint64_t>(kernels->name, of(CType::kF64), least(8), n);
        CheckRows<int8_t, int8_t, uint8_t>(kernels->name, of(CType::kS8), least(1), n);
        CheckRows<uint8_t, uint8_t, uint8_t>(kernels->name, of(CType::kU8), least(1), n);
        CheckRows<uint16_t, uint16_t, uint16_t>(kernels->name, of(CType::kU16), least(2), n);
        CheckRows<int32_t, int32_t, uint32_t>(kernels->name, of(CType::kS32), least(4), n);
        CheckRows<int64_t, int64_t, uint64_t>(kernels->name, of(CType::kS64), least(8), n);
        CheckRows<float, bfloat16, uint32_t>(kernels->name, kernels->fold->bf16_choice, least(2),
                                             n);
        if (kernels->fold->f16_choice.choose_rows != nullptr)
          CheckRows<float, half, uint32_t>(kernels->name, kernels->fold->f16_choice, least(2), n);
      }
    }
  }
}

TEST(ChoiceTest, KernelsChooseFromLongRowsOfNarrowFloatsByEachRule) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    for (const bool has_nans : {false, true}) {
      for (int64_t n : {256, 257, 287, 288, 289, 1024, 3001, 70001}) {
        CheckRows<float, bfloat16, uint32_t>(kernels->name, kernels->fold->bf16_choice, 3, n,
                                             has_nans);
        if (kernels->fold->f16_choice.choose_long_rows != nullptr) {
          CheckRows<float, half, uint32_t>(kernels->name, kernels->fold->f16_choice, 3, n,
                                           has_nans);
        }
      }
    }
  }
}

TEST(ChoiceTest, KernelsTakePlaces) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const std::vector<uint8_t> places = {0, 1, 255, 0, 2};
    std::vector<int64_t> wide = {5, 6, 7, 8, 9};
    std::vector<uint32_t> narrow = {5, 6, 7, 8, 9};
    kernels->fold->take_places[0][1](wide.data(), places.data(), int64_t{1} << 40, -3, 5);
    kernels->fold->take_places[0][0](narrow.data(), places.data(), 1000, -1, 5);
    const int64_t from = int64_t{1} << 40;
    EXPECT_EQ(wide, (std::vector<int64_t>{5, from - 3, from - 765, 8, from - 6}));
    EXPECT_EQ(narrow, (std::vector<uint32_t>{5, 999, 745, 8, 998}));
  }
}

TEST(ChoiceTest, KernelsChooseByEachRule) {
  CheckKernels<float>();
  CheckKernels<double>();
  CheckKernels<int8_t>();
  CheckKernels<uint16_t>();
  CheckKernels<int64_t>();
}

}  // namespace
}  // namespace pjrt::cpu
