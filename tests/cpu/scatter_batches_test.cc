// SPDX-License-Identifier: Apache-2.0
//
// Scatters whose updates are combined by a body, or in a wider type than they lie in memory: many
// at a time, with the results of one after the other.
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// n places of `size`, some outside; each of the few that are `used` comes again and again.
std::vector<int32_t> Places(int64_t n, int64_t size, int64_t used) {
  std::vector<int32_t> places(n);
  uint32_t state = 7;
  for (int32_t& place : places) {
    state = state * 1664525u + 1013904223u;
    place = static_cast<int32_t>((state >> 8) % static_cast<uint32_t>(used));
    if (place % 17 == 5) place = static_cast<int32_t>(place % 2 == 0 ? -1 - place : size + place);
  }
  return places;
}

constexpr char kDims[] =
    "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
    "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}";

// 3 * a - b tells the updates of a place apart by their order.
void CheckOrder(int64_t size, int64_t n, int64_t row, int64_t used, PjRtClient& client) {
  const std::vector<int32_t> places = Places(n, size, used);
  std::vector<uint32_t> expected = Counting<uint32_t>(size * row);
  const std::vector<uint32_t> update = Counting<uint32_t>(n * row, 1000u);
  const Literal x = Array<uint32_t>({size, row}, expected);
  const Literal u = Array<uint32_t>({n, row}, update), index = Array<int32_t>({n, 1}, places);
  for (int64_t i = 0; i < n; ++i) {
    if (places[i] < 0 || places[i] >= size) continue;
    for (int64_t k = 0; k < row; ++k) {
      uint32_t& at = expected[places[i] * row + k];
      at = 3 * at - update[i * row + k];
    }
  }
  const auto results = RunProgram(client,
                                  absl::StrReplaceAll(R"(
        func.func @main(%x: tensor<SxRxui32>, %i: tensor<Nx1xi32>, %u: tensor<NxRxui32>)
            -> tensor<SxRxui32> {
          %0 = "stablehlo.scatter"(%x, %i, %u) ({
            ^bb0(%a: tensor<ui32>, %b: tensor<ui32>):
              %three = stablehlo.constant dense<3> : tensor<ui32>
              %p = stablehlo.multiply %a, %three : tensor<ui32>
              %d = stablehlo.subtract %p, %b : tensor<ui32>
              stablehlo.return %d : tensor<ui32>
            }) DIMS : (tensor<SxRxui32>, tensor<Nx1xi32>, tensor<NxRxui32>) -> tensor<SxRxui32>
          return %0 : tensor<SxRxui32>
        })",
                                                      {{"SxR", absl::StrCat(size, "x", row)},
                                                       {"NxR", absl::StrCat(n, "x", row)},
                                                       {"Nx1", absl::StrCat(n, "x1")},
                                                       {"DIMS", kDims}}),
                                  {&x, &index, &u});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(Elements<uint32_t>(*(*results)[0]), expected)
      << n << " rows of " << row << " at " << used << " of " << size << " places";
}

TEST(ScatterBatchesTest, UpdatesOfOnePlaceInTheirOrder) {
  for (int64_t row : {1, 3, 16, 100, 300}) {
    CheckOrder(50, 1, row, 50, OneThreadClient());
    CheckOrder(50, 700, row, 1, OneThreadClient());
    CheckOrder(50, 700, row, 50, OneThreadClient());
    CheckOrder(3000, 1500, row, 3000, OneThreadClient());
  }
  CheckOrder(50, 0, 3, 50, OneThreadClient());
}

TEST(ScatterBatchesTest, SameBitsWithAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    CheckOrder(3000, 5000, 16, 3000, *client);
    CheckOrder(30000, 20000, 1, 30000, *client);
  }
}

// Combines rows of numbers from 0 to 6 and a NaN with rows of `start`, one after the other.
template <typename T>
void CheckNarrow(absl::string_view element, absl::string_view op, float start,
                 float (*combine)(float, float)) {
  const int64_t size = 40;
  for (int64_t row : {1, 5, 64, 127, 129, 300}) {
    const int64_t n = 2000;
    const std::vector<int32_t> places = Places(n, size, size);
    std::vector<T> expected(size * row, T(start)), update(n * row);
    for (int64_t i = 0; i < n * row; ++i) update[i] = T(static_cast<float>(i % 9) * 0.75f);
    update[n * row / 2] = T(std::nanf(""));
    const Literal x = Array<T>({size, row}, expected);
    const Literal u = Array<T>({n, row}, update), index = Array<int32_t>({n, 1}, places);
    for (int64_t i = 0; i < n; ++i) {
      if (places[i] < 0 || places[i] >= size) continue;
      for (int64_t k = 0; k < row; ++k) {
        T& at = expected[places[i] * row + k];
        at = T(combine(static_cast<float>(at), static_cast<float>(update[i * row + k])));
      }
    }
    const std::vector<T> sums =
        RunOne<T>(absl::StrReplaceAll(R"(
          func.func @main(%x: tensor<40xRxE>, %i: tensor<2000x1xi32>, %u: tensor<2000xRxE>)
              -> tensor<40xRxE> {
            %0 = "stablehlo.scatter"(%x, %i, %u) ({
              ^bb0(%a: tensor<E>, %b: tensor<E>):
                %s = stablehlo.OP %a, %b : tensor<E>
                stablehlo.return %s : tensor<E>
              }) DIMS : (tensor<40xRxE>, tensor<2000x1xi32>, tensor<2000xRxE>) -> tensor<40xRxE>
            return %0 : tensor<40xRxE>
          })",
                                      {{"xRxE", absl::StrCat("x", row, "x", element)},
                                       {"<E>", absl::StrCat("<", element, ">")},
                                       {"OP", op},
                                       {"DIMS", kDims}}),
                  {&x, &index, &u});
    ASSERT_EQ(sums.size(), expected.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      const float sum = static_cast<float>(sums[i]), wanted = static_cast<float>(expected[i]);
      ASSERT_TRUE(sum == wanted || (std::isnan(sum) && std::isnan(wanted)))
          << element << " " << op << " rows of " << row << " at " << i;
    }
  }
}

// Each sum is rounded before the next: 256 + 1 is 256 in bf16. A NaN stays one.
TEST(ScatterBatchesTest, NarrowFloatsAreRoundedAfterEachUpdate) {
  const auto add = [](float a, float b) { return a + b; };
  CheckNarrow<bfloat16>("bf16", "add", 100, add);
  CheckNarrow<half>("f16", "add", 100, add);
}

TEST(ScatterBatchesTest, ExtremesOfNarrowFloatsKeepNaN) {
  const auto maximum = [](float a, float b) { return a > b || std::isnan(a) ? a : b; };
  const auto minimum = [](float a, float b) { return a < b || std::isnan(a) ? a : b; };
  CheckNarrow<bfloat16>("bf16", "maximum", 3, maximum);
  CheckNarrow<bfloat16>("bf16", "minimum", 3, minimum);
  CheckNarrow<half>("f16", "maximum", 3, maximum);
  CheckNarrow<half>("f16", "minimum", 3, minimum);
}

// The greatest value of each place and where it came from, the first of equal ones.
TEST(ScatterBatchesTest, TwoArraysByOneBody) {
  const int64_t size = 30, n = 900;
  const std::vector<int32_t> places = Places(n, size, size);
  std::vector<float> values(n), most(size, -1);
  std::vector<int32_t> from(size, -1);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(i * 37 % 101);
  for (int64_t i = 0; i < n; ++i) {
    if (places[i] < 0 || places[i] >= size || values[i] <= most[places[i]]) continue;
    most[places[i]] = values[i];
    from[places[i]] = static_cast<int32_t>(i);
  }
  const Literal x = Array<float>({size}, std::vector<float>(size, -1));
  const Literal y = Array<int32_t>({size}, std::vector<int32_t>(size, -1));
  const Literal u = Array<float>({n}, values), v = Array<int32_t>({n}, Counting<int32_t>(n));
  const Literal index = Array<int32_t>({n, 1}, places);
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<30xf32>, %y: tensor<30xi32>, %i: tensor<900x1xi32>,
                    %u: tensor<900xf32>, %v: tensor<900xi32>) -> (tensor<30xf32>, tensor<30xi32>) {
      %0:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) ({
        ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
          %p = stablehlo.compare GT, %c, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %s = stablehlo.select %p, %c, %a : tensor<i1>, tensor<f32>
          %t = stablehlo.select %p, %d, %b : tensor<i1>, tensor<i32>
          stablehlo.return %s, %t : tensor<f32>, tensor<i32>
        }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
          scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
        : (tensor<30xf32>, tensor<30xi32>, tensor<900x1xi32>, tensor<900xf32>, tensor<900xi32>)
          -> (tensor<30xf32>, tensor<30xi32>)
      return %0#0, %0#1 : tensor<30xf32>, tensor<30xi32>
    })",
                              {&x, &y, &index, &u, &v});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<float>(*results[0]), most);
  EXPECT_EQ(Elements<int32_t>(*results[1]), from);
}

}  // namespace
}  // namespace pjrt::cpu
