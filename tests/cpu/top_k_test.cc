// SPDX-License-Identifier: Apache-2.0
//
// Selecting the largest elements, against sorting them; composites that the application claims.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pjrt/base/small_float.h"
#include "pjrt/cpu/custom_call_bind.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;

std::string TopKProgram(int64_t lines, int64_t length, int64_t k, absl::string_view element) {
  const std::string x = TensorText({lines, length}, element);
  const std::string values = TensorText({lines, k}, element);
  const std::string indices = TensorText({lines, k}, "i32");
  return absl::StrCat("func.func @main(%x: ", x, ") -> (", values, ", ", indices,
                      ") {\n  %0, %1 = chlo.top_k(%x, k = ", k, ") : ", x, " -> (", values, ", ",
                      indices, ")\n  return %0, %1 : ", values, ", ", indices, "\n}");
}

// The rule: descending in total order, equal elements by place.
template <typename T>
bool ComesBefore(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a > b;
  } else {
    const auto rank = [](double v) {
      return std::isnan(v) ? (std::signbit(v) ? -2 : 2) : std::isinf(v) ? (v > 0 ? 1 : -1) : 0;
    };
    const double x = static_cast<double>(a), y = static_cast<double>(b);
    if (rank(x) != rank(y)) return rank(x) > rank(y);
    if (rank(x) != 0) return false;
    return x != y ? x > y : std::signbit(y) && !std::signbit(x);
  }
}

template <typename T>
void ExpectSelects(int64_t lines, int64_t length, int64_t k, absl::string_view element,
                   const std::vector<T>& values) {
  const Literal x = Array<T>({lines, length}, values);
  const auto results = RunAll(TopKProgram(lines, length, k, element), {&x});
  ASSERT_EQ(results.size(), 2u);
  for (int64_t line = 0; line < lines; ++line) {
    std::vector<int32_t> order(static_cast<size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    const T* from = values.data() + line * length;
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return ComesBefore(from[a], from[b]); });
    for (int64_t i = 0; i < k; ++i) {
      ASSERT_EQ(results[1]->data<int32_t>()[line * k + i], order[i])
          << element << " line " << line << " place " << i;
      const double got = static_cast<double>(results[0]->data<T>()[line * k + i]);
      const double want = static_cast<double>(from[order[i]]);
      ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)));
    }
  }
}

template <typename T>
std::vector<T> RandomLines(int64_t count, int64_t distinct) {
  std::mt19937 engine(7);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values)
    value = static_cast<T>(static_cast<float>(static_cast<int64_t>(engine() % distinct)) -
                           (std::is_unsigned_v<T> ? 0.0f : static_cast<float>(distinct) / 2));
  return values;
}

TEST(TopK, SelectsWhatASortPutsFirst) {
  for (const int64_t k : {1, 3, 64, 250}) {
    ExpectSelects<float>(3, 1000, k, "f32", RandomLines<float>(3000, 1000000));
    ExpectSelects<float>(2, 70, std::min<int64_t>(k, 70), "f32", RandomLines<float>(140, 30));
    ExpectSelects<double>(2, 1000, k, "f64", RandomLines<double>(2000, 300));
    ExpectSelects<bfloat16>(2, 1000, k, "bf16", RandomLines<bfloat16>(2000, 100));
    ExpectSelects<half>(2, 1000, k, "f16", RandomLines<half>(2000, 500));
    ExpectSelects<int8_t>(2, 1000, k, "i8", RandomLines<int8_t>(2000, 250));
    ExpectSelects<uint8_t>(2, 1000, k, "ui8", RandomLines<uint8_t>(2000, 250));
    ExpectSelects<int32_t>(2, 1000, k, "i32", RandomLines<int32_t>(2000, 100000));
    ExpectSelects<uint64_t>(2, 1000, k, "ui64", RandomLines<uint64_t>(2000, 50));
  }
}

TEST(TopK, AscendingDescendingAndConstantLines) {
  std::vector<float> up = Counting<float>(4099), down(up.rbegin(), up.rend()), same(4099, 1.0f);
  for (const auto& line : {up, down, same}) ExpectSelects<float>(1, 4099, 100, "f32", line);
}

TEST(TopK, OrdersNansInfinitiesAndZerosTotally) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> values(80, -1.0f);
  values[3] = -0.0f;
  values[5] = 0.0f;
  values[9] = inf;
  values[11] = nan;
  values[40] = std::copysign(nan, -1.0f);
  values[41] = -inf;
  values[70] = nan;
  ExpectSelects<float>(1, 80, 20, "f32", values);
}

TEST(TopK, OfNearlyEverythingOfNothingAndOfEmptyLines) {
  ExpectSelects<float>(2, 9, 9, "f32", RandomLines<float>(18, 4));
  ExpectSelects<float>(2, 9, 0, "f32", RandomLines<float>(18, 4));
  ExpectSelects<float>(0, 9, 2, "f32", {});
  ExpectSelects<float>(0, 900, 2, "f32", {});
}

TEST(TopK, SelectsTheSmallestInAscendingOrder) {
  const Literal x = Array<int32_t>({5}, {4, -2, 9, -2, 0});
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<5xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
      %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = false}} : (tensor<5xi32>) -> (tensor<3xi32>, tensor<3xi32>)
      return %0#0, %0#1 : tensor<3xi32>, tensor<3xi32>
    })",
                              {&x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int32_t>(*results[0]), ElementsAre(-2, -2, 0));
  EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAre(1, 3, 4));
}

constexpr char kScaleComposite[] = R"(
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.composite "my.scale" %x {composite_attributes = {factor = 3.0 : f32}, decomposition = @scale, version = 1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @scale(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  })";

TEST(Composite, IsItsDecompositionUnlessTheApplicationRegistersIt) {
  const Literal x = Array<float>({2}, {1, 2});
  EXPECT_THAT(RunOne<float>(kScaleComposite, {&x}), ElementsAre(2, 4));

  auto registry = std::make_shared<CustomCallRegistry>();
  ASSERT_TRUE(
      registry
          ->Register("my.scale", custom_call::Bind(
                                     [](custom_call::Input<float> from, float factor,
                                        custom_call::Output<float> to) {
                                       for (int64_t i = 0; i < from.size(); ++i)
                                         to[i] = factor * from[i];
                                       return absl::OkStatus();
                                     },
                                     custom_call::Arg<float>(), custom_call::Attr<float>("factor"),
                                     custom_call::Result<float>()))
          .ok());
  CpuClientOptions options = WithThreads(1);
  options.custom_calls = registry;
  const auto results = RunProgram(*MakeClient(std::move(options)), kScaleComposite, {&x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<float>(*(*results)[0]), ElementsAre(3, 6));
}

}  // namespace
}  // namespace pjrt::cpu
