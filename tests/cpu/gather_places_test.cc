// SPDX-License-Identifier: Apache-2.0
//
// Gathers whose windows have dims outside of the points in the result: columns of a matrix, places
// of a dim in the middle, channels. Against the definition, with any number of threads.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Places from -2 to size + 1: some lie outside and are moved to the nearest.
std::vector<int32_t> Places(int64_t n, int64_t size) {
  std::vector<int32_t> places(n);
  for (int64_t i = 0; i < n; ++i) places[i] = static_cast<int32_t>((i * 7919 + 3) % (size + 4)) - 2;
  return places;
}

// x[:, ..., i, ..., :] along dim `dim` of an array of `dims`, by a gather of one component.
template <typename T>
void CheckTake(absl::string_view element, const std::vector<int64_t>& dims, size_t dim, int64_t n,
               PjRtClient& client) {
  std::vector<int64_t> slice = dims, result = dims, offset_dims;
  slice[dim] = 1;
  result[dim] = n;
  int64_t count = 1, outer = 1, inner = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    count *= dims[d];
    if (d < dim) outer *= dims[d];
    if (d > dim) inner *= dims[d];
    if (d != dim) offset_dims.push_back(static_cast<int64_t>(d));
  }
  const std::vector<T> x = Counting<T>(count);
  const std::vector<int32_t> places = Places(n, dims[dim]);
  std::vector<T> expected;
  for (int64_t a = 0; a < outer; ++a) {
    for (int32_t place : places) {
      const int64_t at = std::clamp<int64_t>(place, 0, dims[dim] - 1);
      for (int64_t b = 0; b < inner; ++b) expected.push_back(x[(a * dims[dim] + at) * inner + b]);
    }
  }
  const std::string from = TensorText(dims, element), to = TensorText(result, element);
  const Literal array = Array<T>(dims, x), index = Array<int32_t>({n, 1}, places);
  const auto results =
      RunProgram(client,
                 absl::StrReplaceAll(R"(
        func.func @main(%x: FROM, %i: tensor<Nx1xi32>) -> TO {
          %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<
            offset_dims = [OFFSETS], collapsed_slice_dims = [DIM], start_index_map = [DIM],
            index_vector_dim = 1>, slice_sizes = array<i64: SLICE>}
            : (FROM, tensor<Nx1xi32>) -> TO
          return %0 : TO
        })",
                                     {{"FROM", from},
                                      {"TO", to},
                                      {"N", absl::StrCat(n)},
                                      {"OFFSETS", absl::StrJoin(offset_dims, ", ")},
                                      {"DIM", absl::StrCat(dim)},
                                      {"SLICE", absl::StrJoin(slice, ", ")}}),
                 {&array, &index});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Elements<T>(*(*results)[0]), expected) << from << " to " << to;
}

TEST(GatherPlacesTest, PointsOfAnyDimOfAnySizeOfElement) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{7, 33}, {5, 6, 7}, {3, 4, 5, 6}, {1, 1, 9}}) {
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      for (int64_t n : {1, 3, 130, 600}) {
        CheckTake<int8_t>("i8", dims, dim, n, OneThreadClient());
        CheckTake<int16_t>("i16", dims, dim, n, OneThreadClient());
        CheckTake<float>("f32", dims, dim, n, OneThreadClient());
        CheckTake<double>("f64", dims, dim, n, OneThreadClient());
      }
    }
  }
}

TEST(GatherPlacesTest, SameElementsWithAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    CheckTake<float>("f32", {3000, 64}, 1, 37, *client);
    CheckTake<float>("f32", {60, 64}, 1, 2500, *client);
    CheckTake<float>("f32", {23, 9000}, 1, 1300, *client);
    CheckTake<int8_t>("i8", {3, 300000}, 1, 513, *client);
    CheckTake<int32_t>("i32", {40, 50, 3, 16}, 1, 90, *client);
    CheckTake<int32_t>("i32", {20000, 3}, 1, 3, *client);
  }
}

TEST(GatherPlacesTest, NothingFromNothing) {
  CheckTake<float>("f32", {0, 5}, 1, 3, OneThreadClient());
  CheckTake<float>("f32", {5, 4}, 1, 0, OneThreadClient());
  CheckTake<float>("f32", {5, 4, 0}, 1, 2, OneThreadClient());
}

// A window dim between the dims of the points, batching on the outer one, and what is left of the
// window inside: result [batch][window][point][row] of x[batch][window][place][row].
TEST(GatherPlacesTest, PlacesBetweenBatchesAndPoints) {
  const int64_t b = 3, w = 4, p = 9, n = 6, row = 5;
  const std::vector<int32_t> x = Counting<int32_t>(b * w * p * row);
  const std::vector<int32_t> places = Places(b * n, p);
  std::vector<int32_t> expected;
  for (int64_t k = 0; k < b * w; ++k) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = std::clamp<int64_t>(places[k / w * n + i], 0, p - 1);
      for (int64_t r = 0; r < row; ++r) expected.push_back(x[(k * p + at) * row + r]);
    }
  }
  const Literal array = Array<int32_t>({b, w, p, row}, x);
  const Literal index = Array<int32_t>({b, n, 1}, places);
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<3x4x9x5xi32>, %i: tensor<3x6x1xi32>) -> tensor<3x4x6x5xi32> {
      %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1, 3],
        collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4, 1, 5>}
        : (tensor<3x4x9x5xi32>, tensor<3x6x1xi32>) -> tensor<3x4x6x5xi32>
      return %0 : tensor<3x4x6x5xi32>
    })",
                            {&array, &index}),
            expected);
}

}  // namespace
}  // namespace pjrt::cpu
