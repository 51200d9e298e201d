// SPDX-License-Identifier: Apache-2.0
//
// convolution against the sum that defines it: random sizes, strides, paddings, dilations,
// reversals, groups and orders of the dimensions, on every kernel level.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/level_test.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

struct Window {
  int64_t size = 1, stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;
  bool reversed = false;
};

struct ConvolutionCase {
  PrimitiveType in = F32, out = F32;
  int64_t batch = 1, channels = 1, features = 1;  // of all groups
  int64_t groups = 1, batch_groups = 1;
  std::vector<int64_t> space;
  std::vector<Window> windows;
  // orders[i]: which dim stands at place i of lhs, rhs, result; 0: batch or input feature, 1:
  // feature or output feature, 2...: space.
  std::vector<int> orders[3];
};

std::vector<int64_t> Arrange(const std::vector<int>& order, const std::vector<int64_t>& dims) {
  std::vector<int64_t> result;
  for (int d : order) result.push_back(dims[d]);
  return result;
}

std::string Labels(const std::vector<int>& order, const char* first, const char* second) {
  return absl::StrCat(
      "[",
      absl::StrJoin(order, ", ",
                    [&](std::string* out, int d) {
                      out->append(d == 0 ? first : d == 1 ? second : absl::StrCat(d - 2));
                    }),
      "]");
}

int64_t OutputSize(int64_t size, const Window& w) {
  const int64_t dilated = size == 0 ? 0 : (size - 1) * w.base_dilation + 1;
  const int64_t padded = dilated + w.low + w.high;
  const int64_t reach = w.size == 0 ? 0 : (w.size - 1) * w.window_dilation + 1;
  return padded < reach || padded <= 0 ? 0 : (padded - reach) / w.stride + 1;
}

// How far apart neighbours along each dim of a ConvolutionCase's array lie, where the array's dims
// are `dims` and dim order[i] of the ConvolutionCase stands at place i.
std::vector<int64_t> Strides(const std::vector<int>& order, const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(order.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[i];
  }
  return strides;
}

// The definition.
Tensor Convolve(const ConvolutionCase& c, const Tensor& lhs, const Tensor& rhs,
                const std::vector<int64_t>& result_space) {
  const size_t rank = c.space.size();
  std::vector<int64_t> dims = {c.batch / c.batch_groups, c.features};
  dims.insert(dims.end(), result_space.begin(), result_space.end());
  Tensor result{c.out, Arrange(c.orders[2], dims), {}};
  result.data.resize(Product(result.dims));
  std::vector<int64_t> window;
  for (const Window& w : c.windows) window.push_back(w.size);
  std::vector<std::vector<int64_t>> taps;
  for (int64_t t = 0; t < Product(window); ++t) taps.push_back(Coordinates(t, window));
  const std::vector<int64_t> lhs_strides = Strides(c.orders[0], lhs.dims);
  const std::vector<int64_t> rhs_strides = Strides(c.orders[1], rhs.dims);
  const int64_t group_channels = c.channels / c.groups;
  const int64_t group_features = c.features / c.groups / c.batch_groups;
  for (int64_t i = 0; i < result.count(); ++i) {
    const std::vector<int64_t> at = Coordinates(i, result.dims);
    std::vector<int64_t> place(rank + 2);
    for (size_t d = 0; d < at.size(); ++d) place[c.orders[2][d]] = at[d];
    const int64_t group = place[1] / group_features;
    const int64_t batch = c.batch_groups > 1 ? group * (c.batch / c.batch_groups) : 0;
    const int64_t channel = c.groups > 1 ? group * group_channels : 0;
    double sum = 0;
    for (const std::vector<int64_t>& tap : taps) {
      int64_t from = (batch + place[0]) * lhs_strides[0] + channel * lhs_strides[1];
      int64_t weight = place[1] * rhs_strides[1];
      bool inside = true;
      for (size_t d = 0; d < rank && inside; ++d) {
        const Window& w = c.windows[d];
        const int64_t x = place[d + 2] * w.stride + tap[d] * w.window_dilation - w.low;
        inside = x >= 0 && x % w.base_dilation == 0 && x / w.base_dilation < c.space[d];
        from += x / w.base_dilation * lhs_strides[d + 2];
        weight += (w.reversed ? w.size - 1 - tap[d] : tap[d]) * rhs_strides[d + 2];
      }
      if (!inside) continue;
      for (int64_t k = 0; k < group_channels; ++k)
        sum += lhs.data[from + k * lhs_strides[1]] * rhs.data[weight + k * rhs_strides[0]];
    }
    result.data[i] = sum;
  }
  return result;
}

std::string Paddings(const std::vector<Window>& windows) {
  return absl::StrCat("[",
                      absl::StrJoin(windows, ", ",
                                    [](std::string* out, const Window& w) {
                                      absl::StrAppend(out, "[", w.low, ", ", w.high, "]");
                                    }),
                      "]");
}

template <typename Member>
std::string Each(const std::vector<Window>& windows, Member Window::*member) {
  return absl::StrCat(
      "[",
      absl::StrJoin(windows, ", ",
                    [&](std::string* out, const Window& w) { absl::StrAppend(out, w.*member); }),
      "]");
}

void Check(PjRtClient& client, const ConvolutionCase& c, std::mt19937& random) {
  std::vector<int64_t> result_space, window;
  for (size_t d = 0; d < c.space.size(); ++d) {
    result_space.push_back(OutputSize(c.space[d], c.windows[d]));
    window.push_back(c.windows[d].size);
  }
  std::vector<int64_t> lhs_dims = {c.batch, c.channels};
  lhs_dims.insert(lhs_dims.end(), c.space.begin(), c.space.end());
  std::vector<int64_t> rhs_dims = {c.channels / c.groups, c.features};
  rhs_dims.insert(rhs_dims.end(), window.begin(), window.end());
  const int low = IsUnsignedInteger(c.in) ? 0 : -3;
  const Tensor lhs = RandomTensor(c.in, Arrange(c.orders[0], lhs_dims), low, low + 6, random);
  const Tensor rhs = RandomTensor(c.in, Arrange(c.orders[1], rhs_dims), low, low + 6, random);
  const Tensor expected = Convolve(c, lhs, rhs, result_space);
  std::string reverse = absl::StrJoin(c.windows, ", ", [](std::string* out, const Window& w) {
    out->append(w.reversed ? "true" : "false");
  });
  const std::string text = absl::StrCat(
      "func.func @main(%a: ", lhs.TypeText(), ", %b: ", rhs.TypeText(), ") -> ",
      expected.TypeText(),
      " {\n  %r = stablehlo.convolution(%a, %b) dim_numbers = ", Labels(c.orders[0], "b", "f"), "x",
      Labels(c.orders[1], "i", "o"), "->", Labels(c.orders[2], "b", "f"),
      ", window = {stride = ", Each(c.windows, &Window::stride),
      ", pad = ", c.windows.empty() ? "[]" : Paddings(c.windows),
      ", lhs_dilate = ", Each(c.windows, &Window::base_dilation),
      ", rhs_dilate = ", Each(c.windows, &Window::window_dilation), ", reverse = [", reverse,
      "]} {batch_group_count = ", c.batch_groups, " : i64, feature_group_count = ", c.groups,
      " : i64} : (", lhs.TypeText(), ", ", rhs.TypeText(), ") -> ", expected.TypeText(),
      "\n  return %r : ", expected.TypeText(), "\n}\n");
  const Literal a = lhs.ToLiteral(), b = rhs.ToLiteral();
  const auto results = RunProgram(client, text, {&a, &b});
  ASSERT_TRUE(results.ok()) << results.status() << "\n" << text;
  EXPECT_EQ(Difference(expected, *(*results)[0]), "") << text;
}

ConvolutionCase RandomConvolution(std::mt19937& random) {
  const auto below = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(n));
  };
  ConvolutionCase c;
  constexpr PrimitiveType kTypes[][2] = {{F32, F32},  {F32, F32}, {F32, F32}, {F64, F64},
                                         {BF16, F32}, {F16, F32}, {S8, S32},  {S32, S32},
                                         {U8, U32},   {S64, S64}};
  const auto& types = kTypes[below(10)];
  c.in = types[0];
  c.out = types[1];
  const size_t rank = static_cast<size_t>(below(8) == 0 ? 3 : below(8) == 0 ? 0 : 1 + below(2));
  c.batch = 1 + below(3);
  switch (below(4)) {
    case 0:  // depthwise
      c.groups = 1 + below(40);
      c.channels = c.groups;
      c.features = c.groups * (1 + below(3));
      break;
    case 1:  // grouped
      c.groups = 1 + below(5);
      c.channels = c.groups * (1 + below(5));
      c.features = c.groups * (1 + below(7));
      break;
    default:
      c.channels = 1 + below(below(4) == 0 ? 40 : 6);
      c.features = 1 + below(below(4) == 0 ? 40 : 9);
  }
  if (c.groups > 1 && below(4) == 0) {
    // Groups of the batch instead.
    c.batch_groups = c.groups;
    c.batch = c.batch_groups * (1 + below(3));
    c.channels = 1 + below(4);
    c.groups = 1;
  }
  for (size_t d = 0; d < rank; ++d) {
    Window w;
    w.size = 1 + below(rank == 1 ? 6 : 4);
    w.stride = 1 + below(3);
    w.base_dilation = below(3) == 0 ? 1 + below(4) : 1;
    w.window_dilation = below(3) == 0 ? 1 + below(3) : 1;
    w.low = below(5) - 1;
    w.high = below(5) - 1;
    w.reversed = below(4) == 0;
    c.windows.push_back(w);
    c.space.push_back(below(30) == 0 ? 0 : 1 + below(rank == 1 ? 40 : rank == 2 ? 12 : 6));
  }
  if (rank > 0 && below(3) == 0) {
    // As a gradient: a window as large as the array.
    c.windows[0].size = std::max<int64_t>(c.space[0] - below(2), 1);
  }
  for (std::vector<int>& order : c.orders) {
    order.resize(rank + 2);
    std::iota(order.begin(), order.end(), 0);
    // Space between batch and features, as often as any order.
    if (below(2) == 0) {
      std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    } else {
      std::shuffle(order.begin(), order.end(), random);
    }
  }
  return c;
}

class ConvolutionTest : public LevelTest {};

TEST_P(ConvolutionTest, RandomConvolutionsAreTheSumThatDefinesThem) {
  std::mt19937 random(20251121);
  for (int i = 0; i < 500 && !HasFailure(); ++i) Check(client(), RandomConvolution(random), random);
}

// The orders that exporters write: features last, or before space.
ConvolutionCase Image(int64_t channels, int64_t features, std::vector<int64_t> space, Window window,
                      bool features_last) {
  ConvolutionCase c;
  c.batch = 2;
  c.channels = channels;
  c.features = features;
  c.windows.assign(space.size(), window);
  c.space = std::move(space);
  for (std::vector<int>& order : c.orders) {
    order.resize(c.space.size() + 2);
    std::iota(order.begin(), order.end(), 0);
    if (features_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  return c;
}

TEST_P(ConvolutionTest, HoldsAtTheEdgesOfVectorsTilesAndBlocks) {
  std::mt19937 random(7);
  for (int64_t features : {1, 3, 6, 8, 9}) {
    for (int64_t width : {7, 17, 33, 65}) {
      for (bool features_last : {false, true}) {
        const int64_t stride = 1 + static_cast<int64_t>(random() % 3);
        ConvolutionCase c =
            Image(1 + random() % 5, features, {3, width}, {3, stride, 1, 1}, features_last);
        if (random() % 4 == 0) c.in = c.out = F64;
        if (random() % 4 == 0) c.in = F16;
        Check(client(), c, random);
        if (HasFailure()) return;
      }
    }
  }
  // Gradients of kernels: a batch that is innermost, and runs on from place to place.
  for (int64_t batch : {1, 3, 5, 20}) {
    for (int64_t stride : {1, 2}) {
      ConvolutionCase c = Image(4, 40, {20, 21}, {7, stride, 3, 3, 1, 2}, true);
      c.batch = batch;
      c.orders[0] = {1, 2, 3, 0};
      Check(client(), c, random);
    }
  }
  // Several blocks of lines, of parts of a line, and of sheets.
  for (bool features_last : {false, true}) {
    for (ConvolutionCase c : {Image(1, 1, {110, 120}, {2, 1, 1, 1, 1, 2}, features_last),
                              Image(1, 2, {30000}, {3, 2, 3, 3}, features_last),
                              Image(1, 1, {12, 25, 50}, {2, 1, 0, 1}, features_last)}) {
      c.batch = 1;
      c.in = c.out = F64;
      Check(client(), c, random);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ConvolutionTest, EachLevel(), LevelName);

TEST(ConvolutionThreadsTest, ResultsHaveTheSameBitsWithAnyNumberOfThreads) {
  const char* const kText = R"(
    func.func @main(%a: tensor<2x30x31x24xf32>, %b: tensor<3x3x24x40xf32>,
                    %c: tensor<3x3x1x48xf32>, %d: tensor<20x30x3x3xf32>)
        -> (tensor<2x30x31x40xf32>, tensor<2x30x31x48xf32>, tensor<2x20x16x11xf32>) {
      %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x30x31x24xf32>, tensor<3x3x24x40xf32>) -> tensor<2x30x31x40xf32>
      %1 = stablehlo.convolution(%a, %c) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 24 : i64}
        : (tensor<2x30x31x24xf32>, tensor<3x3x1x48xf32>) -> tensor<2x30x31x48xf32>
      %2 = stablehlo.convolution(%a, %d) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {stride = [2, 2], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 2]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x30x31x24xf32>, tensor<20x30x3x3xf32>) -> tensor<2x20x16x11xf32>
      return %0, %1, %2 : tensor<2x30x31x40xf32>, tensor<2x30x31x48xf32>, tensor<2x20x16x11xf32>
    })";
  std::mt19937 random(1);
  const auto noise = [&](std::vector<int64_t> dims) {
    std::vector<float> values(Product(dims));
    for (float& x : values) x = static_cast<float>(random()) * 0x1p-32f - 0.5f;
    return Array<float>(std::move(dims), values);
  };
  const Literal a = noise({2, 30, 31, 24}), b = noise({3, 3, 24, 40}), c = noise({3, 3, 1, 48});
  const Literal d = noise({20, 30, 3, 3});
  std::vector<std::vector<float>> expected;
  for (int threads : {1, 2, 3, 8}) {
    const auto results = RunProgram(*MakeClient(WithThreads(threads)), kText, {&a, &b, &c, &d});
    ASSERT_TRUE(results.ok()) << results.status();
    for (size_t i = 0; i < 3; ++i) {
      const std::vector<float> values = Elements<float>(*(*results)[i]);
      if (threads == 1) expected.push_back(values);
      EXPECT_EQ(values, expected[i]) << threads << " threads, result " << i;
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
