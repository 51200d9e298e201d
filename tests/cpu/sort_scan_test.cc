// SPDX-License-Identifier: Apache-2.0
//
// Sorts of every key width, selections of the first few, and cumulative reductions along each dim.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Numbers with many that are equal.
template <typename T>
std::vector<T> Numbers(int64_t n, uint32_t range) {
  std::vector<T> values(n);
  uint32_t state = 9;
  for (T& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<int64_t>((state >> 8) % range) -
                       (std::is_unsigned_v<T> ? 0 : range / 2));
  }
  return values;
}

// The numbers of `values` in the order of a stable sort.
template <typename T>
std::vector<int32_t> Order(const std::vector<T>& values, bool descending) {
  std::vector<int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return descending ? values[b] < values[a] : values[a] < values[b];
  });
  return order;
}

// Sorts alone, with numbers that go along, and only the first k of them.
template <typename T>
void CheckSort(const char* type) {
  for (int64_t n : {1, 2, 7, 16, 17, 255, 256, 3000}) {
    const std::vector<T> values = Numbers<T>(n, 120);
    const Literal x = Array<T>({n}, values);
    for (bool descending : {false, true}) {
      const std::vector<int32_t> order = Order(values, descending);
      std::vector<T> sorted(n);
      for (int64_t i = 0; i < n; ++i) sorted[i] = values[order[i]];
      const std::vector<std::pair<std::string, std::string>> names = {
          {"TYPE", type}, {"LEN", absl::StrCat(n)}, {"WHICH", descending ? "GT" : "LT"}};
      EXPECT_EQ(RunOne<T>(absl::StrReplaceAll(R"(
        func.func @main(%x: tensor<LENxTYPE>) -> tensor<LENxTYPE> {
          %0 = "stablehlo.sort"(%x) ({
            ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
              %c = stablehlo.compare WHICH, %a, %b : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
              stablehlo.return %c : tensor<i1>
          }) {dimension = 0 : i64, is_stable = true} : (tensor<LENxTYPE>) -> tensor<LENxTYPE>
          return %0 : tensor<LENxTYPE>
        })",
                                              names),
                          {&x}),
                sorted)
          << type << " " << n;
      for (int64_t kept : {n, std::max<int64_t>(n / 100, 1)}) {
        auto with_kept = names;
        with_kept.push_back({"KEPT", absl::StrCat(kept)});
        const auto results = RunAll(absl::StrReplaceAll(R"(
          func.func @main(%x: tensor<LENxTYPE>) -> (tensor<KEPTxTYPE>, tensor<KEPTxi32>) {
            %i = stablehlo.iota dim = 0 : tensor<LENxi32>
            %0:2 = "stablehlo.sort"(%x, %i) ({
              ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>, %c: tensor<i32>, %d: tensor<i32>):
                %e = stablehlo.compare WHICH, %a, %b : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
                stablehlo.return %e : tensor<i1>
            }) {dimension = 0 : i64, is_stable = true}
              : (tensor<LENxTYPE>, tensor<LENxi32>) -> (tensor<LENxTYPE>, tensor<LENxi32>)
            %1 = stablehlo.slice %0#0 [0:KEPT] : (tensor<LENxTYPE>) -> tensor<KEPTxTYPE>
            %2 = stablehlo.slice %0#1 [0:KEPT] : (tensor<LENxi32>) -> tensor<KEPTxi32>
            return %1, %2 : tensor<KEPTxTYPE>, tensor<KEPTxi32>
          })",
                                                        with_kept),
                                    {&x});
        ASSERT_EQ(results.size(), 2u);
        EXPECT_EQ(Elements<T>(*results[0]), std::vector<T>(sorted.begin(), sorted.begin() + kept));
        EXPECT_EQ(Elements<int32_t>(*results[1]),
                  std::vector<int32_t>(order.begin(), order.begin() + kept))
            << type << ", " << kept << " of " << n;
      }
    }
  }
}

TEST(SortTest, EveryWidthStaysStableAloneInPairsAndCutShort) {
  CheckSort<int8_t>("i8");
  CheckSort<uint8_t>("ui8");
  CheckSort<int16_t>("i16");
  CheckSort<uint16_t>("ui16");
  CheckSort<int32_t>("i32");
  CheckSort<uint32_t>("ui32");
  CheckSort<int64_t>("i64");
  CheckSort<uint64_t>("ui64");
  CheckSort<float>("f32");
  CheckSort<double>("f64");
}

// Many lines of a few elements with their numbers, the first `kept` of each; numbers in both halves
// of a line are equal.
template <typename T>
void CheckShortLines(const char* type, bool descending) {
  for (int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
    constexpr int64_t kLines = 700;
    const std::vector<T> values = Numbers<T>(kLines * n, 2 * static_cast<uint32_t>(n));
    const Literal x = Array<T>({kLines, n}, values);
    for (int64_t kept : {n, (n + 1) / 2, int64_t{1}}) {
      std::vector<T> sorted;
      std::vector<int32_t> numbers;
      for (int64_t line = 0; line < kLines; ++line) {
        const auto begin = values.begin() + line * n;
        const std::vector<int32_t> order = Order(std::vector<T>(begin, begin + n), descending);
        for (int64_t i = 0; i < kept; ++i) {
          sorted.push_back(begin[order[i]]);
          numbers.push_back(order[i]);
        }
      }
      const auto results = RunAll(absl::StrReplaceAll(R"(
            func.func @main(%x: tensor<700xLENxTYPE>) -> (tensor<700xKEPTxTYPE>, tensor<700xKEPTxi32>) {
              %i = stablehlo.iota dim = 1 : tensor<700xLENxi32>
              %0:2 = "stablehlo.sort"(%x, %i) ({
                ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>, %c: tensor<i32>, %d: tensor<i32>):
                  %e = stablehlo.compare WHICH, %a, %b : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
                  stablehlo.return %e : tensor<i1>
              }) {dimension = 1 : i64, is_stable = true} : (tensor<700xLENxTYPE>, tensor<700xLENxi32>) -> (tensor<700xLENxTYPE>, tensor<700xLENxi32>)
              %1 = stablehlo.slice %0#0 [0:700, 0:KEPT] : (tensor<700xLENxTYPE>) -> tensor<700xKEPTxTYPE>
              %2 = stablehlo.slice %0#1 [0:700, 0:KEPT] : (tensor<700xLENxi32>) -> tensor<700xKEPTxi32>
              return %1, %2 : tensor<700xKEPTxTYPE>, tensor<700xKEPTxi32>
            })",
                                                      {{"TYPE", type},
                                                       {"LEN", absl::StrCat(n)},
                                                       {"KEPT", absl::StrCat(kept)},
                                                       {"WHICH", descending ? "GT" : "LT"}}),
                                  {&x});
      ASSERT_EQ(results.size(), 2u);
      EXPECT_EQ(Elements<T>(*results[0]), sorted) << type << ", " << kept << " of " << n;
      EXPECT_EQ(Elements<int32_t>(*results[1]), numbers) << type << ", " << kept << " of " << n;
      if (kept < n) continue;
      EXPECT_EQ(RunOne<int32_t>(absl::StrReplaceAll(R"(
            func.func @main(%x: tensor<700xLENxTYPE>) -> tensor<700xLENxi32> {
              %i = stablehlo.iota dim = 1 : tensor<700xLENxi32>
              %0:2 = "stablehlo.sort"(%x, %i) ({
                ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>, %c: tensor<i32>, %d: tensor<i32>):
                  %e = stablehlo.compare WHICH, %a, %b : (tensor<TYPE>, tensor<TYPE>) -> tensor<i1>
                  stablehlo.return %e : tensor<i1>
              }) {dimension = 1 : i64, is_stable = true} : (tensor<700xLENxTYPE>, tensor<700xLENxi32>) -> (tensor<700xLENxTYPE>, tensor<700xLENxi32>)
              return %0#1 : tensor<700xLENxi32>
            })",
                                                    {{"TYPE", type},
                                                     {"LEN", absl::StrCat(n)},
                                                     {"WHICH", descending ? "GT" : "LT"}}),
                                {&x}),
                numbers)
          << type << ", numbers alone of " << n;
    }
  }
}

TEST(SortTest, ManyShortLinesStayStableWithTheirNumbers) {
  for (bool descending : {false, true}) {
    CheckShortLines<int8_t>("i8", descending);
    CheckShortLines<uint16_t>("ui16", descending);
    CheckShortLines<int32_t>("i32", descending);
    CheckShortLines<float>("f32", descending);
    CheckShortLines<double>("f64", descending);
  }
}

TEST(SortTest, ZerosOfBothSignsKeepTheirOrderUnlessItIsTotal) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i % 3 == 0 ? -0.0f : i % 3 == 1 ? 0.0f : -1.0f);
  const Literal x = Array<float>({1000}, values);
  for (bool total : {false, true}) {
    const std::vector<float> out =
        RunOne<float>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
        %0 = "stablehlo.sort"(%x) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = stablehlo.compare LT, %a, %b, KIND : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
        }) {dimension = 0 : i64, is_stable = true} : (tensor<1000xf32>) -> tensor<1000xf32>
        return %0 : tensor<1000xf32>
      })",
                                          {{"KIND", total ? "TOTALORDER" : "FLOAT"}}),
                      {&x});
    ASSERT_EQ(out.size(), 1000u);
    for (int i = 333; i < 1000; ++i) {
      EXPECT_EQ(out[i], 0.0f);
      // The zeros were -0, +0, -0, +0, ...
      EXPECT_EQ(std::signbit(out[i]), total ? i < 333 + 334 : (i - 333) % 2 == 0) << i;
    }
  }
}

// The first few of each column, and of rows that are sliced, too.
// One array alone, short and long, of which all or the first few are kept.
TEST(SortTest, ArraysByThemselvesKeepTheOrderOfTheirZeros) {
  for (int64_t n : {5, 96, 97, 700}) {
    std::vector<float> values = Numbers<float>(n, 5);
    for (int64_t i = 0; i < n; i += 3) values[i] = i % 2 == 0 ? 0.0f : -0.0f;
    for (bool descending : {false, true}) {
      const std::vector<int32_t> order = Order(values, descending);
      for (int64_t kept : {n, n - 1, n / 2}) {
        std::vector<float> expected(kept);
        for (int64_t i = 0; i < kept; ++i) expected[i] = values[order[i]];
        const Literal x = Array<float>({n}, values);
        const std::vector<float> sorted =
            RunOne<float>(absl::StrReplaceAll(R"(
          func.func @main(%x: tensor<LENxf32>) -> tensor<KEPTxf32> {
            %0 = "stablehlo.sort"(%x) ({
              ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                %c = stablehlo.compare WHICH, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
                stablehlo.return %c : tensor<i1>
            }) {dimension = 0 : i64, is_stable = true} : (tensor<LENxf32>) -> tensor<LENxf32>
            %1 = stablehlo.slice %0 [0:KEPT] : (tensor<LENxf32>) -> tensor<KEPTxf32>
            return %1 : tensor<KEPTxf32>
          })",
                                              {{"LEN", absl::StrCat(n)},
                                               {"KEPT", absl::StrCat(kept)},
                                               {"WHICH", descending ? "GT" : "LT"}}),
                          {&x});
        ASSERT_EQ(static_cast<int64_t>(sorted.size()), kept);
        EXPECT_EQ(std::memcmp(sorted.data(), expected.data(), kept * sizeof(float)), 0)
            << n << " kept " << kept;
      }
    }
  }
}

TEST(SortTest, SelectionsTakeTheirLinesFromAnyDimension) {
  const int64_t rows = 100, columns = 6;
  const std::vector<int32_t> values = Numbers<int32_t>(rows * columns, 1000);
  const Literal x = Array<int32_t>({rows, columns}, values);
  std::vector<int32_t> expected(3 * 4);
  for (int64_t c = 0; c < 4; ++c) {
    std::vector<int32_t> column;
    for (int64_t r = 0; r < rows; ++r) column.push_back(values[r * columns + c + 1]);
    std::sort(column.begin(), column.end());
    for (int64_t r = 0; r < 3; ++r) expected[r * 4 + c] = column[r + 2];
  }
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<100x6xi32>) -> tensor<3x4xi32> {
      %0 = "stablehlo.sort"(%x) ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
      }) {dimension = 0 : i64} : (tensor<100x6xi32>) -> tensor<100x6xi32>
      %1 = stablehlo.slice %0 [2:5, 1:5] : (tensor<100x6xi32>) -> tensor<3x4xi32>
      return %1 : tensor<3x4xi32>
    })",
                            {&x}),
            expected);
}

// Cumulative sums along `dim`, from either end, rounded after each addition: element by element,
// but for short lines from the end, where each suffix is folded from its beginning.
template <typename T>
void CheckScan(const char* type, std::vector<int64_t> dims, int dim, bool reverse) {
  const int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  std::vector<T> values(count);
  uint32_t state = 3;
  for (T& v : values) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<float>(state >> 8) * 1e-5f);
  }
  int64_t behind = 1;
  for (size_t d = dim + 1; d < dims.size(); ++d) behind *= dims[d];
  const int64_t length = dims[dim];
  std::vector<T> expected(count);
  for (int64_t line = 0; line < count / length; ++line) {
    const int64_t first = line / behind * behind * length + line % behind;
    const auto add = [](T a, T b) {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    };
    T sum = static_cast<T>(0);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = first + (reverse ? length - 1 - i : i) * behind;
      if (reverse && length <= 32) {
        sum = static_cast<T>(0);
        for (int64_t k = 0; k <= i; ++k) sum = add(sum, values[at + k * behind]);
      } else {
        sum = add(sum, values[at]);
      }
      expected[at] = sum;
    }
  }
  std::string window, padding;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool here = static_cast<int>(d) == dim;
    absl::StrAppend(&window, d == 0 ? "" : ", ", here ? length : 1);
    absl::StrAppend(&padding, d == 0 ? "[" : ", [", here && !reverse ? length - 1 : 0, ", ",
                    here && reverse ? length - 1 : 0, "]");
  }
  const Literal x = Array<T>(dims, values);
  const std::vector<T> out = RunOne<T>(absl::StrReplaceAll(R"(
    func.func @main(%x: ARRAY) -> ARRAY {
      %zero = stablehlo.constant dense<0.0> : tensor<TYPE>
      %0 = "stablehlo.reduce_window"(%x, %zero) ({
        ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
          %s = stablehlo.add %a, %b : tensor<TYPE>
          stablehlo.return %s : tensor<TYPE>
      }) {window_dimensions = array<i64: WINDOW>, padding = dense<[PADDING]> : tensor<RANKx2xi64>}
        : (ARRAY, tensor<TYPE>) -> ARRAY
      return %0 : ARRAY
    })",
                                                           {{"ARRAY", TensorText(dims, type)},
                                                            {"TYPE", type},
                                                            {"WINDOW", window},
                                                            {"PADDING", padding},
                                                            {"RANK", absl::StrCat(dims.size())}}),
                                       {&x});
  ASSERT_EQ(out.size(), expected.size());
  EXPECT_EQ(std::memcmp(out.data(), expected.data(), count * sizeof(T)), 0)
      << type << " " << DimsText(dims) << " along " << dim << (reverse ? " reversed" : "");
}

TEST(ScanTest, SumsAreFormedOneAfterTheOtherAlongEachDim) {
  for (bool reverse : {false, true}) {
    for (const std::vector<int64_t>& dims :
         std::vector<std::vector<int64_t>>{{300}, {5, 70}, {130, 65}, {4, 9, 129}, {64, 64}}) {
      for (int dim = 0; dim < static_cast<int>(dims.size()); ++dim) {
        CheckScan<float>("f32", dims, dim, reverse);
        CheckScan<double>("f64", dims, dim, reverse);
      }
    }
  }
}

TEST(ScanTest, ArraysTooLargeForTheCachesAreSummedByStretchesOfTheirRows) {
  CheckScan<float>("f32", {4101, 1031}, 1, false);
  CheckScan<double>("f64", {2053, 1024}, 1, true);
  CheckScan<bfloat16>("bf16", {4101, 2054}, 1, true);
  // Several rows a page, and some that are left.
  CheckScan<bfloat16>("bf16", {8197, 1031}, 1, false);
  CheckScan<half>("f16", {14053, 600}, 1, true);
  CheckScan<float>("f32", {65569, 64}, 1, true);
  // Rows of whole cache lines, of which a vector is one at some levels.
  CheckScan<float>("f32", {4107, 1040}, 1, false);
  CheckScan<double>("f64", {2071, 1016}, 1, false);
  CheckScan<bfloat16>("bf16", {8219, 1056}, 1, true);
  CheckScan<half>("f16", {14071, 608}, 1, false);
  // Rows that share cache lines, several at once.
  CheckScan<bfloat16>("bf16", {28003, 300}, 1, false);
  CheckScan<float>("f32", {47005, 90}, 1, true);
  CheckScan<half>("f16", {28043, 301}, 1, true);
  // Longer ones, of which stretches are written.
  CheckScan<float>("f32", {1409, 3001}, 1, false);
  CheckScan<bfloat16>("bf16", {2819, 3001}, 1, true);
}

// The memory of an argument that the caller lends begins at a multiple of 16 bytes, no line.
void CheckScanOfLentMemory(int64_t rows, int64_t columns) {
  PjRtClient& client = OneThreadClient();
  auto executable =
      client.Compile(absl::StrReplaceAll(R"(
    func.func @main(%x: ARRAY {tf.aliasing_output = 0 : i32}) -> ARRAY {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %y = stablehlo.negate %x : ARRAY
      %0 = "stablehlo.reduce_window"(%y, %zero) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {window_dimensions = array<i64: 1, COLUMNS>, padding = dense<[[0, 0], [BEFORE, 0]]> : tensor<2x2xi64>}
        : (ARRAY, tensor<f32>) -> ARRAY
      return %0 : ARRAY
    })",
                                         {{"ARRAY", TensorText({rows, columns}, "f32")},
                                          {"COLUMNS", absl::StrCat(columns)},
                                          {"BEFORE", absl::StrCat(columns - 1)}}),
                     CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  std::vector<float> memory(rows * columns + 32, 1);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  float* const begin = memory.data() + (-address % 64 + 16) / sizeof(float);
  auto lent = client.BufferFromHostBuffer(begin, F32, {rows, columns}, std::nullopt,
                                          PjRtClient::HostBufferSemantics::kMutableZeroCopy,
                                          nullptr, DefaultMemory(client), nullptr);
  ASSERT_TRUE(lent.ok()) << lent.status();
  auto results = (*executable)->Execute({{lent->get()}}, ExecuteOptions());
  ASSERT_TRUE(results.ok()) << results.status();
  const auto result = (*results)[0][0]->ToLiteralSync();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(*client.UnsafeBufferPointer((*results)[0][0].get()),
            reinterpret_cast<uintptr_t>(begin));
  for (int64_t i = 0; i < rows * columns; ++i)
    ASSERT_EQ(begin[i], -static_cast<float>(i % columns + 1)) << i;
}
TEST(ScanTest, MemoryThatIsLentAndDonatedNeedNotBeginALine) {
  CheckScanOfLentMemory(4101, 1024);
  CheckScanOfLentMemory(4101, 1002);
  CheckScanOfLentMemory(1409, 3001);
}

TEST(ScanTest, ArraysTooLargeForTheCachesAreSummedRowByRow) {
  CheckScan<float>("f32", {4101, 1031}, 0, false);
  CheckScan<double>("f64", {3, 700, 1024}, 1, true);
  CheckScan<bfloat16>("bf16", {8197, 1031}, 0, true);
  CheckScan<half>("f16", {4101, 2100}, 0, false);
}

// A body that is no operation, along each dim, from either end: what it takes first stands before
// the rest.
template <typename T>
void CheckBody(const char* type, int64_t rows, int64_t columns, bool along_rows, bool reverse) {
  std::vector<T> values(rows * columns), expected(values.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 40503u >> 3);
  const int64_t length = along_rows ? columns : rows;
  for (int64_t line = 0; line < rows * columns / length; ++line) {
    uint32_t running = 2;
    for (int64_t k = 0; k < length; ++k) {
      const int64_t i = reverse ? length - 1 - k : k;
      const int64_t at = along_rows ? line * columns + i : i * columns + line;
      const uint32_t value = static_cast<uint32_t>(values[at]);
      expected[at] = static_cast<T>(running = reverse ? value * 3 + running : running * 3 + value);
    }
  }
  const Literal x = Array<T>({rows, columns}, values);
  const std::string padding =
      reverse ? absl::StrCat("0, ", length - 1) : absl::StrCat(length - 1, ", 0");
  const std::vector<T> out = RunOne<T>(
      absl::StrReplaceAll(
          R"(
    func.func @main(%x: ARRAY) -> ARRAY {
      %two = stablehlo.constant dense<2> : tensor<TYPE>
      %0 = "stablehlo.reduce_window"(%x, %two) ({
        ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
          %three = stablehlo.constant dense<3> : tensor<TYPE>
          %p = stablehlo.multiply %a, %three : tensor<TYPE>
          %s = stablehlo.add %p, %b : tensor<TYPE>
          stablehlo.return %s : tensor<TYPE>
      }) {window_dimensions = array<i64: WINDOW>, padding = dense<PADDING> : tensor<2x2xi64>}
        : (ARRAY, tensor<TYPE>) -> ARRAY
      return %0 : ARRAY
    })",
          {{"ARRAY", TensorText({rows, columns}, type)},
           {"TYPE", type},
           {"WINDOW", along_rows ? absl::StrCat("1, ", length) : absl::StrCat(length, ", 1")},
           {"PADDING", along_rows ? absl::StrCat("[[0, 0], [", padding, "]]")
                                  : absl::StrCat("[[", padding, "], [0, 0]]")}}),
      {&x});
  EXPECT_EQ(out, expected) << type << " " << rows << "x" << columns << " " << along_rows << reverse;
}

TEST(ScanTest, BodiesAreCalledInTheOrderOfTheElements) {
  for (bool reverse : {false, true}) {
    for (bool along_rows : {false, true}) {
      CheckBody<int32_t>("i32", 70, 130, along_rows, reverse);
      CheckBody<int8_t>("i8", 5, 67, along_rows, reverse);
      CheckBody<uint16_t>("ui16", 65, 64, along_rows, reverse);
    }
  }
}

TEST(ScanTest, NarrowFloatsAreRoundedAfterEachAddition) {
  for (bool reverse : {false, true}) {
    for (int dim : {0, 1}) {
      CheckScan<bfloat16>("bf16", {70, 130}, dim, reverse);
      CheckScan<half>("f16", {70, 130}, dim, reverse);
      CheckScan<bfloat16>("bf16", {9, 31}, dim, reverse);
      CheckScan<half>("f16", {9, 31}, dim, reverse);
      CheckScan<float8_e4m3>("f8E4M3", {40, 50}, dim, reverse);
    }
  }
}

TEST(ScanTest, ShortSumsFromTheEndLoseWhatTheDefinitionLoses) {
  const Literal x = Array<float>({4}, {1, 1e8f, -1e8f, 3});
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %zero) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {window_dimensions = array<i64: 4>, padding = dense<[[0, 3]]> : tensor<1x2xi64>}
        : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    })",
                          {&x}),
            (std::vector<float>{3, 3, -1e8f, 3}));
}

}  // namespace
}  // namespace pjrt::cpu
