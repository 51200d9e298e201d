// SPDX-License-Identifier: Apache-2.0
//
// Reductions by every monoid over every arrangement of dims, and by bodies of several operands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

std::string ReduceText(const std::string& op, const std::vector<int64_t>& dims,
                       const std::vector<int64_t>& out_dims, const std::vector<int64_t>& reduced,
                       const std::string& type) {
  const std::string in = TensorText(dims, type), out = TensorText(out_dims, type),
                    scalar = TensorText({}, type);
  return absl::StrCat("func.func @main(%x: ", in, ", %init: ", scalar, ") -> ", out,
                      " {\n  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.", op,
                      " across dimensions = [", absl::StrJoin(reduced, ", "), "] : (", in, ", ",
                      scalar, ") -> ", out, "\n  return %0 : ", out, "\n}");
}

// op folded over `reduced`, from init on, in order, in type W.
template <typename T, typename W>
std::vector<W> Folded(const std::vector<T>& x, const std::vector<int64_t>& dims,
                      const std::vector<int64_t>& reduced, W init, const std::function<W(W, W)>& op,
                      std::vector<int64_t>* out_dims) {
  out_dims->clear();
  std::vector<int64_t> out_stride(dims.size(), 0);
  int64_t count = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end())
      continue;
    out_stride[d] = count;
    count *= dims[d];
    out_dims->insert(out_dims->begin(), dims[d]);
  }
  std::vector<W> out(count, init);
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    int64_t rest = i, to = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      to += rest % dims[d] * out_stride[d];
      rest /= dims[d];
    }
    out[to] = op(out[to], static_cast<W>(x[i]));
  }
  return out;
}

struct ReduceCase {
  std::vector<int64_t> dims, reduced;
};
// Rows, columns, the middle, everything, nothing; short and long, one element, none; long enough to
// be split.
const std::vector<ReduceCase>& ReduceCases() {
  static const std::vector<ReduceCase>& cases =
      *new std::vector<ReduceCase>{{{7}, {0}},
                                   {{1}, {0}},
                                   {{1000}, {0}},
                                   {{5000}, {0}},
                                   {{3, 5}, {1}},
                                   {{3, 5}, {0}},
                                   {{40, 300}, {1}},
                                   {{40, 300}, {0}},
                                   {{300, 40}, {1}},
                                   {{300, 40}, {0}},
                                   {{6, 7, 8}, {1}},
                                   {{6, 7, 100}, {1}},
                                   {{6, 70, 8}, {0, 2}},
                                   {{6, 70, 8}, {0, 1, 2}},
                                   {{6, 70, 8}, {1, 2}},
                                   {{6, 70, 8}, {}},
                                   {{2, 257, 2, 4}, {0}},
                                   {{4, 3, 2, 3, 2}, {1, 3}},
                                   {{1, 1, 9}, {0, 1}},
                                   {{300000}, {0}},
                                   {{300, 1000}, {0, 1}},
                                   {{3, 100000}, {1}},
                                   {{100000, 3}, {0}},
                                   {{0, 4}, {0}},
                                   {{65536 * 2 + 1}, {0}},
                                   {{2000, 2000 / 25}, {0}},
                                   {{16, 2056}, {0}}};
  return cases;
}

std::string CaseName(const ReduceCase& c) {
  return absl::StrCat("[", absl::StrJoin(c.dims, ","), "] over [", absl::StrJoin(c.reduced, ","),
                      "]");
}

TEST(ReduceTest, IntegersByEveryMonoid) {
  const std::vector<std::pair<std::string, std::function<int32_t(int32_t, int32_t)>>> monoids = {
      {"add",
       [](int32_t a, int32_t b) {
         return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
       }},
      {"multiply",
       [](int32_t a, int32_t b) {
         return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
       }},
      {"maximum", [](int32_t a, int32_t b) { return std::max(a, b); }},
      {"minimum", [](int32_t a, int32_t b) { return std::min(a, b); }},
      {"and", [](int32_t a, int32_t b) { return a & b; }},
      {"or", [](int32_t a, int32_t b) { return a | b; }},
      {"xor", [](int32_t a, int32_t b) { return a ^ b; }}};
  for (const ReduceCase& c : ReduceCases()) {
    std::vector<int32_t> x(Product(c.dims));
    uint32_t seed = 1;
    for (int32_t& v : x) v = static_cast<int32_t>(seed = seed * 1664525u + 1013904223u) >> 4;
    const Literal a = Array<int32_t>(c.dims, x), init = Scalar<int32_t>(12345);
    for (const auto& [op, fn] : monoids) {
      std::vector<int64_t> out_dims;
      const std::vector<int32_t> expected =
          Folded<int32_t, int32_t>(x, c.dims, c.reduced, 12345, fn, &out_dims);
      EXPECT_EQ(RunOne<int32_t>(ReduceText(op, c.dims, out_dims, c.reduced, "i32"), {&a, &init}),
                expected)
          << op << " of " << CaseName(c);
    }
  }
}

TEST(ReduceTest, SumsOfFloatsAreNearTheExactSum) {
  for (const ReduceCase& c : ReduceCases()) {
    std::vector<float> x(Product(c.dims));
    uint32_t seed = 7;
    for (float& v : x)
      v = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 24);
    const Literal a = Array<float>(c.dims, x), init = Scalar<float>(0.25f);
    std::vector<int64_t> out_dims;
    const std::vector<double> expected =
        Folded<float, double>(x, c.dims, c.reduced, 0.25, std::plus<double>(), &out_dims);
    const std::vector<float> actual =
        RunOne<float>(ReduceText("add", c.dims, out_dims, c.reduced, "f32"), {&a, &init});
    ASSERT_EQ(actual.size(), expected.size()) << CaseName(c);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 2e-6 * expected[i]) << CaseName(c) << " at " << i;
  }
}

TEST(ReduceTest, NarrowFloatsSumInWiderOnes) {
  // 4000 ones: a bf16 accumulator would stop at 256, one of f16 at 2048.
  const Literal ones16 = Array<half>({4000}, std::vector<half>(4000, half(1.0f))),
                onesb = Array<bfloat16>({4000}, std::vector<bfloat16>(4000, bfloat16(1.0f)));
  const Literal zero16 = Scalar<half>(half(0.0f)), zerob = Scalar<bfloat16>(bfloat16(0.0f));
  EXPECT_EQ(static_cast<float>(
                RunOne<half>(ReduceText("add", {4000}, {}, {0}, "f16"), {&ones16, &zero16})[0]),
            4000.0f);
  EXPECT_EQ(static_cast<float>(
                RunOne<bfloat16>(ReduceText("add", {4000}, {}, {0}, "bf16"), {&onesb, &zerob})[0]),
            static_cast<float>(bfloat16(4000.0f)));
}

TEST(ReduceTest, ExtremesOfFloatsKnowNaNAndSignedZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Literal x = Array<float>({3, 4}, {1, nan, 3, 2, -0.0f, 0.0f, -0.0f, -0.0f, -5, -6, -7, -8});
  const Literal low = Scalar<float>(-std::numeric_limits<float>::infinity()),
                high = Scalar<float>(std::numeric_limits<float>::infinity());
  const std::vector<float> max =
      RunOne<float>(ReduceText("maximum", {3, 4}, {3}, {1}, "f32"), {&x, &low});
  const std::vector<float> min =
      RunOne<float>(ReduceText("minimum", {3, 4}, {3}, {1}, "f32"), {&x, &high});
  EXPECT_TRUE(std::isnan(max[0]));
  EXPECT_TRUE(std::isnan(min[0]));
  EXPECT_FALSE(std::signbit(max[1]));
  EXPECT_TRUE(std::signbit(min[1]));
  EXPECT_EQ(max[2], -5);
  EXPECT_EQ(min[2], -8);
}

TEST(ReduceTest, ArgMaxTakesTheFirstOfEqualOnes) {
  for (const ReduceCase& c : ReduceCases()) {
    if (c.reduced.size() != 1 || Product(c.dims) == 0) continue;
    const int64_t dim = c.reduced[0], size = c.dims[dim];
    std::vector<float> x(Product(c.dims));
    uint32_t seed = 3;
    for (float& v : x) v = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 20);
    std::vector<int64_t> out_dims = c.dims;
    out_dims.erase(out_dims.begin() + dim);
    const std::string in = TensorText(c.dims, "f32"), in_index = TensorText(c.dims, "i32"),
                      out = TensorText(out_dims, "f32"), out_index = TensorText(out_dims, "i32");
    const Literal a = Array<float>(c.dims, x);
    const auto results = RunAll(
        absl::StrCat("func.func @main(%x: ", in, ") -> (", out, ", ", out_index,
                     ") {\n  %i = stablehlo.iota dim = ", dim, " : ", in_index, R"(
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = "stablehlo.reduce"(%x, %i, %low, %zero) ({
      ^bb0(%a: tensor<f32>, %ai: tensor<i32>, %b: tensor<f32>, %bi: tensor<i32>):
        %ge = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %eq = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %lt = stablehlo.compare LT, %ai, %bi : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %tie = stablehlo.and %eq, %lt : tensor<i1>
        %left = stablehlo.or %ge, %tie : tensor<i1>
        %v = stablehlo.select %ge, %a, %b : tensor<i1>, tensor<f32>
        %k = stablehlo.select %left, %ai, %bi : tensor<i1>, tensor<i32>
        stablehlo.return %v, %k : tensor<f32>, tensor<i32>
      }) {dimensions = array<i64: )",
                     dim, ">} : (", in, ", ", in_index, ", tensor<f32>, tensor<i32>) -> (", out,
                     ", ", out_index, ")\n  return %r#0, %r#1 : ", out, ", ", out_index, "\n}"),
        {&a});
    ASSERT_EQ(results.size(), 2u);
    int64_t inner = 1;
    for (size_t d = dim + 1; d < c.dims.size(); ++d) inner *= c.dims[d];
    for (int64_t o = 0; o < Product(out_dims); ++o) {
      const int64_t base = o / inner * inner * size + o % inner;
      int64_t best = 0;
      for (int64_t r = 1; r < size; ++r) {
        if (x[base + r * inner] > x[base + best * inner]) best = r;
      }
      ASSERT_EQ(results[0]->data<float>()[o], x[base + best * inner]) << CaseName(c) << " at " << o;
      ASSERT_EQ(results[1]->data<int32_t>()[o], best) << CaseName(c) << " at " << o;
    }
  }
}

// An associative function that is not commutative: the composition of affine maps x -> a x + b over
// integers. A sum goes along.
TEST(ReduceTest, BodiesKeepTheOrderOfElements) {
  const std::vector<std::vector<int64_t>> shapes = {
      {3, 1, 1},    {3, 2, 1},   {3, 7, 1},   {3, 100, 1}, {3, 1023, 1}, {3, 1025, 1},
      {3, 5000, 1}, {16, 10, 1}, {99, 63, 1}, {700, 3, 1}, {2, 3, 2},    {40, 6, 6},
      {5, 100, 63}, {900, 5, 3}, {5, 4, 64},  {1, 9, 5},   {7, 1, 7},    {2, 3, 1500}};
  for (const std::vector<int64_t>& dims : shapes) {
    const int64_t outer = dims[0], n = dims[1], inner = dims[2];
    std::vector<uint32_t> a(Product(dims)), b(Product(dims));
    uint32_t seed = 11;
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = (seed = seed * 1664525u + 1013904223u) >> 3 | 1;
      b[i] = (seed = seed * 1664525u + 1013904223u) >> 5;
    }
    const std::string in = TensorText(dims, "ui32"), s = "tensor<ui32>",
                      out = TensorText({outer, inner}, "ui32");
    const Literal x = Array<uint32_t>(dims, a), y = Array<uint32_t>(dims, b);
    const auto results = RunAll(
        absl::StrCat("func.func @main(%x: ", in, ", %y: ", in, ") -> (", out, ", ", out, ", ", out,
                     R"() {
      %one = stablehlo.constant dense<1> : tensor<ui32>
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %r:2 = "stablehlo.reduce"(%x, %y, %one, %zero) ({
      ^bb0(%a: tensor<ui32>, %b: tensor<ui32>, %c: tensor<ui32>, %d: tensor<ui32>):
        %ac = stablehlo.multiply %a, %c : tensor<ui32>
        %bc = stablehlo.multiply %b, %c : tensor<ui32>
        %e = stablehlo.add %bc, %d : tensor<ui32>
        stablehlo.return %ac, %e : tensor<ui32>, tensor<ui32>
      }) {dimensions = array<i64: 1>} : ()",
                     in, ", ", in, ", ", s, ", ", s, ") -> (", out, ", ", out, R"()
      %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : ()",
                     in, ", ", s, ") -> ", out, "\n  return %r#0, %r#1, %sum : ", out, ", ", out,
                     ", ", out, "\n}"),
        {&x, &y});
    ASSERT_EQ(results.size(), 3u);
    for (int64_t o = 0; o < outer * inner; ++o) {
      uint32_t scale = 1, shift = 0, sum = 0;
      for (int64_t r = 0; r < n; ++r) {
        const size_t i = static_cast<size_t>((o / inner * n + r) * inner + o % inner);
        scale *= a[i];
        shift = shift * a[i] + b[i];
        sum += a[i];
      }
      ASSERT_EQ(results[0]->data<uint32_t>()[o], scale) << absl::StrJoin(dims, "x") << " at " << o;
      ASSERT_EQ(results[1]->data<uint32_t>()[o], shift) << absl::StrJoin(dims, "x") << " at " << o;
      ASSERT_EQ(results[2]->data<uint32_t>()[o], sum) << absl::StrJoin(dims, "x") << " at " << o;
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
