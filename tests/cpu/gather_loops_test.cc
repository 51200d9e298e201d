// SPDX-License-Identifier: Apache-2.0
//
// Gathers of single elements that run in one loop with what computes their indices and what becomes
// of the elements. Against the definition, with indices inside and outside.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/level_test.h"

namespace pjrt::cpu {
namespace {

template <typename I>
std::vector<I> IndicesAround(int64_t n, int64_t size) {
  std::vector<I> indices(n);
  uint32_t state = 3;
  for (I& index : indices) {
    state = state * 1664525u + 1013904223u;
    index = static_cast<I>((state >> 8) % static_cast<uint32_t>(size + 6)) - static_cast<I>(3);
  }
  indices[n / 2] = std::numeric_limits<I>::max();
  indices[n / 3] = std::numeric_limits<I>::min();
  return indices;
}

template <typename I>
int64_t Inside(I index, int64_t size) {
  if (std::is_same_v<I, uint64_t> && index > static_cast<I>(std::numeric_limits<int64_t>::max()))
    return size - 1;
  return std::clamp<int64_t>(static_cast<int64_t>(index), 0, size - 1);
}

// 2 * x[i ^ 1, j] + 1, the indices apart, as the program `type` says.
template <typename T, typename I>
void CheckTwoIndices(const char* type, const char* index_type, PjRtClient& client) {
  const int64_t rows = 90, columns = 61, n = 1500;
  std::vector<T> x;
  for (int64_t i = 0; i < rows * columns; ++i) x.push_back(static_cast<T>(i % 101));
  const std::vector<I> i = IndicesAround<I>(n, rows), j = IndicesAround<I>(n + 1, columns);
  const Literal array = Array<T>({rows, columns}, x), first = Array<I>({n}, i);
  const Literal second = Array<I>({n}, std::vector<I>(j.begin() + 1, j.end()));
  std::vector<T> expected;
  for (int64_t k = 0; k < n; ++k) {
    const I row = static_cast<I>(i[k] ^ I{1});
    const T element = x[Inside(row, rows) * columns + Inside(j[k + 1], columns)];
    expected.push_back(static_cast<T>(static_cast<T>(element + element) + static_cast<T>(1)));
  }
  const auto results =
      RunProgram(client,
                 absl::StrReplaceAll(R"(
        func.func @main(%x: tensor<90x61xT>, %i: tensor<1500xI>, %j: tensor<1500xI>)
            -> tensor<1500xT> {
          %one = stablehlo.constant dense<1> : tensor<1500xI>
          %0 = stablehlo.xor %i, %one : tensor<1500xI>
          %1 = stablehlo.reshape %0 : (tensor<1500xI>) -> tensor<1500x1xI>
          %2 = stablehlo.broadcast_in_dim %j, dims = [0] : (tensor<1500xI>) -> tensor<1500x1xI>
          %3 = stablehlo.concatenate %1, %2, dim = 1
            : (tensor<1500x1xI>, tensor<1500x1xI>) -> tensor<1500x2xI>
          %4 = "stablehlo.gather"(%x, %3) {dimension_numbers = #stablehlo.gather<
            collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>,
            slice_sizes = array<i64: 1, 1>} : (tensor<90x61xT>, tensor<1500x2xI>) -> tensor<1500xT>
          %c = stablehlo.constant dense<ONE> : tensor<1500xT>
          %5 = stablehlo.add %4, %4 : tensor<1500xT>
          %6 = stablehlo.add %5, %c : tensor<1500xT>
          return %6 : tensor<1500xT>
        })",
                                     {{"xI>", absl::StrCat("x", index_type, ">")},
                                      {"xT>", absl::StrCat("x", type, ">")},
                                      {"ONE", type[0] == 'f' || type[0] == 'b' ? "1.0" : "1"}}),
                 {&array, &first, &second});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<T> got = Elements<T>(*(*results)[0]);
  ASSERT_EQ(got.size(), expected.size());
  for (int64_t k = 0; k < n; ++k)
    ASSERT_EQ(static_cast<float>(got[k]), static_cast<float>(expected[k]))
        << type << " by " << index_type << " at " << k;
}

TEST(GatherLoopsTest, IndicesOfEveryType) {
  CheckTwoIndices<float, int8_t>("f32", "i8", OneThreadClient());
  CheckTwoIndices<float, uint8_t>("f32", "ui8", OneThreadClient());
  CheckTwoIndices<float, int16_t>("f32", "i16", OneThreadClient());
  CheckTwoIndices<float, uint16_t>("f32", "ui16", OneThreadClient());
  CheckTwoIndices<float, int32_t>("f32", "i32", OneThreadClient());
  CheckTwoIndices<float, uint32_t>("f32", "ui32", OneThreadClient());
  CheckTwoIndices<float, int64_t>("f32", "i64", OneThreadClient());
  CheckTwoIndices<float, uint64_t>("f32", "ui64", OneThreadClient());
}

TEST(GatherLoopsTest, ElementsOfEverySize) {
  CheckTwoIndices<int8_t, int32_t>("i8", "i32", OneThreadClient());
  CheckTwoIndices<uint16_t, int32_t>("ui16", "i32", OneThreadClient());
  CheckTwoIndices<bfloat16, int32_t>("bf16", "i32", OneThreadClient());
  CheckTwoIndices<int64_t, int32_t>("i64", "i32", OneThreadClient());
  CheckTwoIndices<double, int64_t>("f64", "i64", OneThreadClient());
}

TEST(GatherLoopsTest, SameElementsWithAnyNumberOfThreadsAndOnEveryLevel) {
  for (int threads : {1, 2, 3, 8}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    CheckTwoIndices<float, int32_t>("f32", "i32", *client);
  }
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    const std::unique_ptr<PjRtClient> client = MakeClientOf(*level);
    CheckTwoIndices<float, int32_t>("f32", "i32", *client);
    CheckTwoIndices<uint16_t, uint64_t>("ui16", "ui64", *client);
  }
}

// take_along_axis in the middle of three dims, NaN where an index is outside; negative ones count
// from the end. Sums of what was gathered, in the loop of the gather.
TEST(GatherLoopsTest, BatchesAroundAnIndexThatIsChecked) {
  const int64_t a = 4, b = 13, c = 70, n = 9;
  const std::vector<float> x = Counting<float>(a * b * c);
  const std::vector<int32_t> index = IndicesAround<int32_t>(a * n * c, b);
  std::vector<float> expected, sums(a * n, 0);
  for (int64_t k = 0; k < a * n * c; ++k) {
    const int64_t at = index[k] < 0 ? static_cast<int64_t>(index[k]) + b : index[k];
    const float value = at >= 0 && at < b ? x[(k / (n * c) * b + at) * c + k % c] : -1.0f;
    expected.push_back(value);
    sums[k / c] += value;
  }
  const Literal array = Array<float>({a, b, c}, x), indices = Array<int32_t>({a, n, c}, index);
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<4x13x70xf32>, %i: tensor<4x9x70xi32>)
        -> (tensor<4x9x70xf32>, tensor<4x9xf32>) {
      %z = stablehlo.constant dense<0> : tensor<4x9x70xi32>
      %n = stablehlo.constant dense<13> : tensor<4x9x70xi32>
      %0 = stablehlo.compare LT, %i, %z : (tensor<4x9x70xi32>, tensor<4x9x70xi32>) -> tensor<4x9x70xi1>
      %1 = stablehlo.add %i, %n : tensor<4x9x70xi32>
      %2 = stablehlo.select %0, %1, %i : tensor<4x9x70xi1>, tensor<4x9x70xi32>
      %3 = stablehlo.reshape %2 : (tensor<4x9x70xi32>) -> tensor<4x9x70x1xi32>
      %z1 = stablehlo.constant dense<0> : tensor<4x9x70x1xi32>
      %l1 = stablehlo.constant dense<12> : tensor<4x9x70x1xi32>
      %4 = stablehlo.compare GE, %3, %z1 : (tensor<4x9x70x1xi32>, tensor<4x9x70x1xi32>) -> tensor<4x9x70x1xi1>
      %5 = stablehlo.compare LE, %3, %l1 : (tensor<4x9x70x1xi32>, tensor<4x9x70x1xi32>) -> tensor<4x9x70x1xi1>
      %6 = stablehlo.and %4, %5 : tensor<4x9x70x1xi1>
      %7 = stablehlo.reshape %6 : (tensor<4x9x70x1xi1>) -> tensor<4x9x70xi1>
      %8 = "stablehlo.gather"(%x, %3) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [1], operand_batching_dims = [0, 2],
        start_indices_batching_dims = [0, 2], start_index_map = [1], index_vector_dim = 3>,
        slice_sizes = array<i64: 1, 1, 1>}
        : (tensor<4x13x70xf32>, tensor<4x9x70x1xi32>) -> tensor<4x9x70xf32>
      %no = stablehlo.constant dense<-1.0> : tensor<4x9x70xf32>
      %9 = stablehlo.select %7, %8, %no : tensor<4x9x70xi1>, tensor<4x9x70xf32>
      %init = stablehlo.constant dense<0.0> : tensor<f32>
      %10 = stablehlo.reduce(%9 init: %init) applies stablehlo.add across dimensions = [2]
        : (tensor<4x9x70xf32>, tensor<f32>) -> tensor<4x9xf32>
      return %9, %10 : tensor<4x9x70xf32>, tensor<4x9xf32>
    })",
                              {&array, &indices});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<float>(*results[0]), expected);
  EXPECT_EQ(Elements<float>(*results[1]), sums);
}

// A list that is seen backwards, and one that is no array at all.
TEST(GatherLoopsTest, ListsThatAreViews) {
  const std::vector<int32_t> index = IndicesAround<int32_t>(300, 50);
  const Literal x = Array<float>({100}, Counting<float>(100)), i = Array<int32_t>({300}, index);
  std::vector<float> expected;
  for (int32_t at : index) {
    const float place = static_cast<float>(Inside(at, 50));
    expected.push_back(98 - 2 * place + place);
  }
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%x: tensor<100xf32>, %i: tensor<300xi32>) -> tensor<300xf32> {
      %0 = stablehlo.slice %x [0:100:2] : (tensor<100xf32>) -> tensor<50xf32>
      %1 = stablehlo.reverse %0, dims = [0] : tensor<50xf32>
      %2 = stablehlo.iota dim = 0 : tensor<50xf32>
      %3 = stablehlo.reshape %i : (tensor<300xi32>) -> tensor<300x1xi32>
      %4 = "stablehlo.gather"(%1, %3) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1>} : (tensor<50xf32>, tensor<300x1xi32>) -> tensor<300xf32>
      %5 = "stablehlo.gather"(%2, %3) {dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
        slice_sizes = array<i64: 1>} : (tensor<50xf32>, tensor<300x1xi32>) -> tensor<300xf32>
      %6 = stablehlo.add %4, %5 : tensor<300xf32>
      return %6 : tensor<300xf32>
    })",
                          {&x, &i}),
            expected);
}

// In a loop's body, with few elements: the scalar program of the body.
TEST(GatherLoopsTest, FewElementsInALoop) {
  const std::vector<int32_t> table = {3, 0, 5, 1, 4, 2};
  const Literal x = Array<int32_t>({2, 3}, table);
  const Literal i = Array<int32_t>({2}, {1, 5});
  std::vector<int32_t> at = {1, 5};
  for (int step = 0; step < 10; ++step) {
    for (int32_t& k : at) k = (table[std::clamp(k, 0, 5)] + 1) % 7;
  }
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<2x3xi32>, %i: tensor<2xi32>) -> tensor<2xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %ones = stablehlo.constant dense<1> : tensor<2xi32>
      %sevens = stablehlo.constant dense<7> : tensor<2xi32>
      %0:2 = stablehlo.while(%k = %zero, %at = %i) : tensor<i32>, tensor<2xi32>
        cond {
          %c = stablehlo.compare LT, %k, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %list = stablehlo.reshape %x : (tensor<2x3xi32>) -> tensor<6xi32>
          %v = stablehlo.reshape %at : (tensor<2xi32>) -> tensor<2x1xi32>
          %g = "stablehlo.gather"(%list, %v) {dimension_numbers = #stablehlo.gather<
            collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
            slice_sizes = array<i64: 1>} : (tensor<6xi32>, tensor<2x1xi32>) -> tensor<2xi32>
          %p = stablehlo.add %g, %ones : tensor<2xi32>
          %r = stablehlo.remainder %p, %sevens : tensor<2xi32>
          %n = stablehlo.add %k, %one : tensor<i32>
          stablehlo.return %n, %r : tensor<i32>, tensor<2xi32>
        }
      return %0#1 : tensor<2xi32>
    })",
                            {&x, &i}),
            at);
}

}  // namespace
}  // namespace pjrt::cpu
