// SPDX-License-Identifier: Apache-2.0
//
// gather and scatter against their definitions: indices of every type, inside and outside, points,
// rows and windows, every combiner, with any number of threads.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Reproducible numbers.
class RandomNumbers {
 public:
  uint32_t Next() { return state_ = state_ * 1664525u + 1013904223u; }
  int64_t Below(int64_t n) {
    return static_cast<int64_t>((Next() >> 8) % static_cast<uint32_t>(n));
  }

 private:
  uint32_t state_ = 5;
};

template <typename T>
std::vector<T> SmallNumbers(int64_t n) {
  RandomNumbers numbers;
  std::vector<T> values(n);
  for (T& v : values) v = static_cast<T>(numbers.Below(50));
  return values;
}

template <typename I>
std::vector<I> Indices(int64_t n, int64_t size) {
  RandomNumbers numbers;
  std::vector<I> indices(n);
  for (I& index : indices) index = static_cast<I>(numbers.Below(size));
  // Ends, and what lies beyond them.
  const I ends[] = {0,
                    static_cast<I>(size - 1),
                    static_cast<I>(size),
                    static_cast<I>(-1),
                    std::numeric_limits<I>::max(),
                    std::numeric_limits<I>::min()};
  for (size_t i = 0; i < 6 && 3 * static_cast<int64_t>(i) < n; ++i) indices[3 * i] = ends[i];
  return indices;
}

// The index as a number without bounds; beyond int64 is as good as its maximum.
template <typename I>
int64_t Unbounded(I index) {
  if (std::is_same_v<I, uint64_t> && index > static_cast<I>(std::numeric_limits<int64_t>::max()))
    return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(index);
}

template <typename I>
void CheckGather(const char* index_type) {
  const int64_t size = 100, n = 700;
  const std::vector<I> indices = Indices<I>(n, size);
  const Literal index = Array<I>({n}, indices);
  for (int64_t row : {1, 3, 16, 33, 300}) {
    const Literal x = Array<float>({size, row}, Counting<float>(size * row));
    const std::vector<float> out =
        RunOne<float>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<100xROWxf32>, %i: tensor<700xINDEX>) -> tensor<700xROWxf32> {
        %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, ROW>}
          : (tensor<100xROWxf32>, tensor<700xINDEX>) -> tensor<700xROWxf32>
        return %0 : tensor<700xROWxf32>
      })",
                                          {{"ROW", absl::StrCat(row)}, {"INDEX", index_type}}),
                      {&x, &index});
    ASSERT_EQ(out.size(), static_cast<size_t>(n * row));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = std::clamp<int64_t>(Unbounded(indices[i]), 0, size - 1);
      for (int64_t k = 0; k < row; ++k)
        ASSERT_EQ(out[i * row + k], static_cast<float>(at * row + k)) << index_type << " at " << i;
    }
  }
}

TEST(GatherScatterTest, GatherClampsIndicesOfEveryType) {
  CheckGather<int8_t>("i8");
  CheckGather<uint8_t>("ui8");
  CheckGather<int16_t>("i16");
  CheckGather<uint16_t>("ui16");
  CheckGather<int32_t>("i32");
  CheckGather<uint32_t>("ui32");
  CheckGather<int64_t>("i64");
  CheckGather<uint64_t>("ui64");
}

template <typename I>
void CheckScatterAdd(const char* index_type) {
  const int64_t size = 100, n = 700;
  const std::vector<I> indices = Indices<I>(n, size);
  const Literal index = Array<I>({n}, indices);
  for (int64_t row : {1, 3, 16, 33}) {
    std::vector<int32_t> expected = Counting<int32_t>(size * row);
    const std::vector<int32_t> update = SmallNumbers<int32_t>(n * row);
    const Literal x = Array<int32_t>({size, row}, expected);
    const Literal u = Array<int32_t>({n, row}, update);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = Unbounded(indices[i]);
      if (at < 0 || at >= size) continue;
      for (int64_t k = 0; k < row; ++k) expected[at * row + k] += update[i * row + k];
    }
    EXPECT_EQ(
        RunOne<int32_t>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<100xROWxi32>, %i: tensor<700xINDEX>, %u: tensor<700xROWxi32>)
          -> tensor<100xROWxi32> {
        %0 = "stablehlo.scatter"(%x, %i, %u) ({
          ^bb0(%a: tensor<i32>, %b: tensor<i32>):
            %s = stablehlo.add %a, %b : tensor<i32>
            stablehlo.return %s : tensor<i32>
          }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
          : (tensor<100xROWxi32>, tensor<700xINDEX>, tensor<700xROWxi32>) -> tensor<100xROWxi32>
        return %0 : tensor<100xROWxi32>
      })",
                                            {{"ROW", absl::StrCat(row)}, {"INDEX", index_type}}),
                        {&x, &index, &u}),
        expected)
        << index_type << " rows of " << row;
  }
}

TEST(GatherScatterTest, ScatterDropsIndicesOutOfRangeOfEveryType) {
  CheckScatterAdd<int8_t>("i8");
  CheckScatterAdd<uint8_t>("ui8");
  CheckScatterAdd<int16_t>("i16");
  CheckScatterAdd<uint16_t>("ui16");
  CheckScatterAdd<int32_t>("i32");
  CheckScatterAdd<uint32_t>("ui32");
  CheckScatterAdd<int64_t>("i64");
  CheckScatterAdd<uint64_t>("ui64");
}

// Points and rows of a type under an operation; `combine` on elements in order.
// Updates of one place lie apart or, `sorted`, follow each other.
template <typename T, typename Fn>
void CheckCombiner(const char* type, const char* op, Fn combine, bool sorted) {
  const int64_t size = 40, n = 300;
  std::vector<int32_t> indices = Indices<int32_t>(n, size);
  if (sorted) std::sort(indices.begin(), indices.end());
  const Literal index = Array<int32_t>({n}, indices);
  for (int64_t row : {1, 17}) {
    std::vector<T> expected = SmallNumbers<T>(size * row), update = SmallNumbers<T>(n * row);
    std::reverse(update.begin(), update.end());
    const Literal x = Array<T>({size, row}, expected), u = Array<T>({n, row}, update);
    for (int64_t i = 0; i < n; ++i) {
      if (indices[i] < 0 || indices[i] >= size) continue;
      for (int64_t k = 0; k < row; ++k) {
        T& at = expected[indices[i] * row + k];
        at = combine(at, update[i * row + k]);
      }
    }
    const std::string combined =
        op == std::string("replace")
            ? "stablehlo.return %b : tensor<TYPE>"
            : absl::StrCat("%s = stablehlo.", op,
                           " %a, %b : tensor<TYPE>\nstablehlo.return %s : tensor<TYPE>");
    const std::vector<T> out = RunOne<T>(
        absl::StrReplaceAll(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<40xROWxTYPE>, %i: tensor<300x1xi32>, %u: tensor<300xROWxTYPE>)
          -> tensor<40xROWxTYPE> {
        %0 = "stablehlo.scatter"(%x, %i, %u) ({
          ^bb0(%a: tensor<TYPE>, %b: tensor<TYPE>):
            BODY
          }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
          : (tensor<40xROWxTYPE>, tensor<300x1xi32>, tensor<300xROWxTYPE>) -> tensor<40xROWxTYPE>
        return %0 : tensor<40xROWxTYPE>
      })",
                                                {{"BODY", combined}, {"ROW", absl::StrCat(row)}}),
                            {{"TYPE", type}}),
        {&x, &index, &u});
    ASSERT_EQ(out.size(), expected.size());
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0)
        << op << " of " << type << ", rows of " << row << (sorted ? ", sorted" : "");
  }
}
template <typename T, typename Fn>
void CheckCombiner(const char* type, const char* op, Fn combine) {
  for (const bool sorted : {false, true}) CheckCombiner<T>(type, op, combine, sorted);
}

template <typename T>
void CheckArithmetic(const char* type) {
  CheckCombiner<T>(type, "replace", [](T, T b) { return b; });
  CheckCombiner<T>(type, "add", [](T a, T b) { return static_cast<T>(a + b); });
  CheckCombiner<T>(type, "subtract", [](T a, T b) { return static_cast<T>(a - b); });
  CheckCombiner<T>(type, "maximum", [](T a, T b) { return a < b ? b : a; });
  CheckCombiner<T>(type, "minimum", [](T a, T b) { return b < a ? b : a; });
}
template <typename T>
void CheckIntegers(const char* type) {
  CheckArithmetic<T>(type);
  CheckCombiner<T>(type, "multiply", [](T a, T b) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  });
  CheckCombiner<T>(type, "and", [](T a, T b) { return static_cast<T>(a & b); });
  CheckCombiner<T>(type, "or", [](T a, T b) { return static_cast<T>(a | b); });
  CheckCombiner<T>(type, "xor", [](T a, T b) { return static_cast<T>(a ^ b); });
}

TEST(GatherScatterTest, EveryCombinerOfEveryTypeInTheOrderOfTheIndices) {
  CheckIntegers<int8_t>("i8");
  CheckIntegers<uint8_t>("ui8");
  CheckIntegers<int16_t>("i16");
  CheckIntegers<uint16_t>("ui16");
  CheckIntegers<int32_t>("i32");
  CheckIntegers<uint32_t>("ui32");
  CheckIntegers<int64_t>("i64");
  CheckIntegers<uint64_t>("ui64");
  CheckArithmetic<float>("f32");
  CheckArithmetic<double>("f64");
  CheckCombiner<float>("f32", "multiply", [](float a, float b) { return a * b; });
  CheckCombiner<half>("f16", "add", [](half a, half b) {
    return static_cast<half>(static_cast<float>(a) + static_cast<float>(b));
  });
  CheckCombiner<bfloat16>("bf16", "add", [](bfloat16 a, bfloat16 b) {
    return static_cast<bfloat16>(static_cast<float>(a) + static_cast<float>(b));
  });
  CheckCombiner<bfloat16>("bf16", "maximum", [](bfloat16 a, bfloat16 b) { return a < b ? b : a; });
  CheckCombiner<bfloat16>("bf16", "replace", [](bfloat16, bfloat16 b) { return b; });
}

TEST(GatherScatterTest, MaximumAndMinimumKeepNanAndOrderZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> updates = {nan, 1, 0.0f, -0.0f, -0.0f, 0.0f};
  const Literal x = Array<float>({6}, {1, nan, -0.0f, 0.0f, -0.0f, 0.0f});
  // Each update once, or eight times.
  const auto check = [&](const char* op, int64_t times) {
    std::vector<int32_t> places;
    std::vector<float> repeated;
    for (int64_t i = 0; i < 6 * times; ++i) {
      places.push_back(static_cast<int32_t>(i / times));
      repeated.push_back(updates[i / times]);
    }
    const Literal index = Array<int32_t>({6 * times}, places);
    const Literal u = Array<float>({6 * times}, repeated);
    const std::vector<float> out =
        RunOne<float>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<6xf32>, %i: tensor<Nxi32>, %u: tensor<Nxf32>) -> tensor<6xf32> {
        %0 = "stablehlo.scatter"(%x, %i, %u) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.OP %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
          : (tensor<6xf32>, tensor<Nxi32>, tensor<Nxf32>) -> tensor<6xf32>
        return %0 : tensor<6xf32>
      })",
                                          {{"OP", op}, {"Nx", absl::StrCat(6 * times, "x")}}),
                      {&x, &index, &u});
    ASSERT_EQ(out.size(), 6u);
    EXPECT_TRUE(std::isnan(out[0])) << op;
    EXPECT_TRUE(std::isnan(out[1])) << op;
    const bool negative = op == std::string("minimum");
    EXPECT_EQ(std::signbit(out[2]), negative) << op;
    EXPECT_EQ(std::signbit(out[3]), negative) << op;
    EXPECT_TRUE(std::signbit(out[4])) << op;
    EXPECT_FALSE(std::signbit(out[5])) << op;
  };
  for (const char* op : {"maximum", "minimum"}) {
    check(op, 1);
    check(op, 8);
  }
}

// Windows that lie across an edge lose what is outside; others around them are whole.
TEST(GatherScatterTest, WindowsAcrossAnEdgeAreCutElementByElement) {
  const int64_t size = 50, n = 40, width = 7;
  std::vector<int32_t> indices(n);
  RandomNumbers numbers;
  for (int32_t& index : indices)
    index = static_cast<int32_t>(numbers.Below(size + 2 * width)) - width;
  std::vector<float> expected(size, 0.5f);
  const std::vector<float> update = SmallNumbers<float>(n * width);
  const Literal x = Array<float>({size}, expected), u = Array<float>({n, width}, update);
  const Literal index = Array<int32_t>({n, 1}, indices);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < width; ++k) {
      const int64_t at = indices[i] + k;
      if (at >= 0 && at < size) expected[at] += update[i * width + k];
    }
  }
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%x: tensor<50xf32>, %i: tensor<40x1xi32>, %u: tensor<40x7xf32>) -> tensor<50xf32> {
      %0 = "stablehlo.scatter"(%x, %i, %u) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<50xf32>, tensor<40x1xi32>, tensor<40x7xf32>) -> tensor<50xf32>
      return %0 : tensor<50xf32>
    })",
                          {&x, &index, &u}),
            expected);
}

// Two index components, windows of two dims that are no run, batching dims on both sides.
TEST(GatherScatterTest, WindowsOfTwoDimsAndBatchesGoWhereTheyBelong) {
  const int64_t b = 3, h = 9, w = 11, n = 5;
  const std::vector<int32_t> x = Counting<int32_t>(b * h * w);
  std::vector<int32_t> indices(b * n * 2);
  RandomNumbers numbers;
  for (int32_t& index : indices) index = static_cast<int32_t>(numbers.Below(16)) - 3;
  const Literal operand = Array<int32_t>({b, h, w}, x);
  const Literal index = Array<int32_t>({b, n, 2}, indices);
  std::vector<int32_t> expected(b * n * 2 * 3);
  for (int64_t i = 0; i < b * n; ++i) {
    const int64_t row = std::clamp<int64_t>(indices[2 * i], 0, h - 2);
    const int64_t column = std::clamp<int64_t>(indices[2 * i + 1], 0, w - 3);
    for (int64_t k = 0; k < 6; ++k)
      expected[i * 6 + k] = x[(i / n * h + row + k / 3) * w + column + k % 3];
  }
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<3x9x11xi32>, %i: tensor<3x5x2xi32>) -> tensor<3x5x2x3xi32> {
      %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [2, 3],
        operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1, 2],
        index_vector_dim = 2>, slice_sizes = array<i64: 1, 2, 3>}
        : (tensor<3x9x11xi32>, tensor<3x5x2xi32>) -> tensor<3x5x2x3xi32>
      return %0 : tensor<3x5x2x3xi32>
    })",
                            {&operand, &index}),
            expected);
  const std::vector<int32_t> update = SmallNumbers<int32_t>(b * n * 6);
  const Literal u = Array<int32_t>({b, n, 2, 3}, update);
  std::vector<int32_t> sums = x;
  for (int64_t i = 0; i < b * n * 6; ++i) {
    const int64_t vector = i / 6, row = indices[2 * vector] + i % 6 / 3;
    const int64_t column = indices[2 * vector + 1] + i % 3;
    if (row < 0 || row >= h || column < 0 || column >= w) continue;
    sums[(vector / n * h + row) * w + column] += update[i];
  }
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<3x9x11xi32>, %i: tensor<3x5x2xi32>, %u: tensor<3x5x2x3xi32>) -> tensor<3x9x11xi32> {
      %0 = "stablehlo.scatter"(%x, %i, %u) ({
        ^bb0(%a: tensor<i32>, %c: tensor<i32>):
          %s = stablehlo.add %a, %c : tensor<i32>
          stablehlo.return %s : tensor<i32>
        }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3],
          input_batching_dims = [0], scatter_indices_batching_dims = [0],
          scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 2>}
        : (tensor<3x9x11xi32>, tensor<3x5x2xi32>, tensor<3x5x2x3xi32>) -> tensor<3x9x11xi32>
      return %0 : tensor<3x9x11xi32>
    })",
                            {&operand, &index, &u}),
            sums);
}

TEST(GatherScatterTest, RowsAreSummedToTheSameBitsWithAnyNumberOfThreads) {
  // Long rows that are no whole number of lines: each thread takes a piece of every row.
  const int64_t size = 30, n = 200, row = 1003;
  RandomNumbers numbers;
  std::vector<int32_t> indices(n);
  for (int32_t& index : indices) index = static_cast<int32_t>(numbers.Below(size + 10)) - 5;
  std::vector<float> update(n * row), expected(size * row);
  for (float& v : update) v = static_cast<float>(static_cast<int32_t>(numbers.Next())) * 1e-9f;
  const Literal x = Array<float>({size, row}, expected), u = Array<float>({n, row}, update);
  const Literal index = Array<int32_t>({n, 1}, indices);
  for (int64_t i = 0; i < n; ++i) {
    if (indices[i] < 0 || indices[i] >= size) continue;
    for (int64_t k = 0; k < row; ++k) expected[indices[i] * row + k] += update[i * row + k];
  }
  for (int threads : {1, 2, 3, 8}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    const auto results = RunProgram(*client, R"(
      func.func @main(%x: tensor<30x1003xf32>, %i: tensor<200x1xi32>, %u: tensor<200x1003xf32>)
          -> tensor<30x1003xf32> {
        %0 = "stablehlo.scatter"(%x, %i, %u) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %s = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %s : tensor<f32>
          }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
            inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
          : (tensor<30x1003xf32>, tensor<200x1xi32>, tensor<200x1003xf32>) -> tensor<30x1003xf32>
        return %0 : tensor<30x1003xf32>
      })",
                                    {&x, &index, &u});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(Elements<float>(*(*results)[0]), expected) << threads << " threads";
  }
}

}  // namespace
}  // namespace pjrt::cpu
