// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements, and what programs do with arguments and constants that they return;
// unusual shapes and types.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/plan_test_util.h"

namespace pjrt::cpu {
namespace {

// Every op that only changes how its operand is seen, fused into one loop.
TEST(ShapeOpsTest, ViewsOfViewsFuseIntoALoop) {
  const int64_t n = 6, m = 9;
  const std::vector<float> x = Counting<float>(n * m);
  const Literal a = Array<float>({n, m}, x);
  const std::vector<float> out = RunOne<float>(R"(
    func.func @main(%x: tensor<6x9xf32>) -> tensor<4x3x2xf32> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<6x9xf32>) -> tensor<9x6xf32>
      %s = stablehlo.slice %t [1:9:2, 0:6:2] : (tensor<9x6xf32>) -> tensor<4x3xf32>
      %r = stablehlo.reverse %s, dims = [0] : tensor<4x3xf32>
      %b = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x2xf32>
      %i = stablehlo.iota dim = 2 : tensor<4x3x2xf32>
      %0 = stablehlo.add %b, %i : tensor<4x3x2xf32>
      return %0 : tensor<4x3x2xf32>
    })",
                                               {&a});
  ASSERT_EQ(out.size(), 24u);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      for (int64_t k = 0; k < 2; ++k) {
        const int64_t row = 2 * j, column = 1 + 2 * (3 - i);
        EXPECT_EQ(out[(i * 3 + j) * 2 + k], x[row * m + column] + static_cast<float>(k));
      }
    }
  }
}

// Blocks of bytes are long, and their ends lie anywhere in the short rows that they cross.
TEST(ShapeOpsTest, LoopsOfBytesCrossShortRows) {
  for (const int64_t n : {1, 2, 100, 683, 1365, 1366, 2731, 6007}) {
    std::vector<uint8_t> x = Counting<uint8_t>(n * 3);
    std::vector<uint8_t> expected(x.size());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        const uint8_t mirrored = x[(n - 1 - i) * 3 + j];
        expected[i * 3 + j] = static_cast<uint8_t>((mirrored << (2 * j + 1)) | x[i * 3 + j]);
      }
    }
    const Literal a = Array<uint8_t>({n, 3}, x);
    EXPECT_EQ(RunOne<uint8_t>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<Nx3xui8>) -> tensor<Nx3xui8> {
        %m = stablehlo.reverse %x, dims = [0] : tensor<Nx3xui8>
        %c = stablehlo.constant dense<[1, 3, 5]> : tensor<3xui8>
        %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<3xui8>) -> tensor<Nx3xui8>
        %s = stablehlo.shift_left %m, %b : tensor<Nx3xui8>
        %0 = stablehlo.or %s, %x : tensor<Nx3xui8>
        return %0 : tensor<Nx3xui8>
      })",
                                                  {{"N", absl::StrCat(n)}}),
                              {&a}),
              expected)
        << n;
  }
}

TEST(ShapeOpsTest, LargeTransposesInALoopAreTurnedFirst) {
  const int64_t n = 100, m = 90;
  const std::vector<float> x = Counting<float>(n * m);
  const Literal a = Array<float>({n, m}, x);
  const std::vector<float> out = RunOne<float>(R"(
    func.func @main(%x: tensor<100x90xf32>) -> tensor<90x100xf32> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<100x90xf32>) -> tensor<90x100xf32>
      %n = stablehlo.negate %t : tensor<90x100xf32>
      %0 = stablehlo.multiply %n, %t : tensor<90x100xf32>
      return %0 : tensor<90x100xf32>
    })",
                                               {&a});
  ASSERT_EQ(out.size(), x.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j)
      ASSERT_EQ(out[j * n + i], -x[i * m + j] * x[i * m + j]) << i << ", " << j;
  }
}

// Every box with every other: the columns of an array of boxes, each seen along both dims.
TEST(ShapeOpsTest, ColumnsThatRepeatInALoopAreBroughtTogetherFirst) {
  const char* const text = R"(
    func.func @main(%x: tensor<70x4xf32>) -> tensor<3x70x70xf32> {
      %s = stablehlo.slice %x [0:70, 2:3] : (tensor<70x4xf32>) -> tensor<70x1xf32>
      %c = stablehlo.reshape %s : (tensor<70x1xf32>) -> tensor<70xf32>
      %a = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<70xf32>) -> tensor<3x70x70xf32>
      %r = stablehlo.reverse %c, dims = [0] : tensor<70xf32>
      %b = stablehlo.broadcast_in_dim %r, dims = [2] : (tensor<70xf32>) -> tensor<3x70x70xf32>
      %t = stablehlo.slice %x [0:70, 0:3] : (tensor<70x4xf32>) -> tensor<70x3xf32>
      %d = stablehlo.broadcast_in_dim %t, dims = [2, 0] : (tensor<70x3xf32>) -> tensor<3x70x70xf32>
      %n = stablehlo.subtract %a, %b : tensor<3x70x70xf32>
      %0 = stablehlo.multiply %n, %d : tensor<3x70x70xf32>
      return %0 : tensor<3x70x70xf32>
    })";
  const std::vector<std::string> steps = StepsOf(text);
  EXPECT_EQ(steps.size(), 3u) << absl::StrJoin(steps, "\n");
  const int64_t n = 70;
  const std::vector<float> x = Counting<float>(n * 4);
  const Literal boxes = Array<float>({n, 4}, x);
  const std::vector<float> out = RunOne<float>(text, {&boxes});
  ASSERT_EQ(out.size(), 3 * n * n);
  for (int64_t k = 0; k < 3; ++k) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        ASSERT_EQ(out[(k * n + i) * n + j], (x[4 * i + 2] - x[4 * (n - 1 - j) + 2]) * x[4 * j + k])
            << k << ", " << i << ", " << j;
      }
    }
  }
}

TEST(ShapeOpsTest, ReshapeOfATransposeCopies) {
  const Literal a = Array<int32_t>({2, 3}, Counting<int32_t>(6));
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<2x3xi32>) -> tensor<6xi32> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
      %r = stablehlo.reshape %t : (tensor<3x2xi32>) -> tensor<6xi32>
      return %r : tensor<6xi32>
    })",
                            {&a}),
            (std::vector<int32_t>{0, 3, 1, 4, 2, 5}));
}

TEST(ShapeOpsTest, IotaCountsAlongItsDimensionInEveryType) {
  for (const char* type :
       {"i8", "ui8", "i16", "i32", "ui64", "f16", "bf16", "f32", "f64", "complex<f32>"}) {
    const std::string t = absl::StrCat("tensor<2x5x", type, ">");
    const auto results =
        RunAll(absl::StrCat("func.func @main() -> ", t, " {\n  %0 = stablehlo.iota dim = 1 : ", t,
                            "\n  return %0 : ", t, "\n}"));
    ASSERT_EQ(results.size(), 1u) << type;
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 5; ++j)
        EXPECT_EQ(results[0]->GetAsComplex({i, j}), std::complex<double>(static_cast<double>(j)))
            << type;
    }
  }
}

TEST(ShapeOpsTest, ConcatenateJoinsAlongAnyDimension) {
  const Literal a = Array<float>({2, 1}, {1, 2}), b = Array<float>({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%a: tensor<2x1xf32>, %b: tensor<2x2xf32>) -> tensor<2x5xf32> {
      %0 = stablehlo.concatenate %a, %b, %b, dim = 1 : (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x5xf32>
      return %0 : tensor<2x5xf32>
    })",
                          {&a, &b}),
            (std::vector<float>{1, 3, 4, 3, 4, 2, 5, 6, 5, 6}));
}

// Columns of arrays that are seen in all ways, of fewer rows than a block has and of many more, are
// put together, whatever the width of their elements.
template <typename T>
std::vector<T> Mixed(int64_t count) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>((i * 7 + i / 128) % 127);
  return values;
}
template <typename T>
void CheckNarrowColumns(absl::string_view element, int64_t rows) {
  const Literal x = Array<T>({rows, 4}, Mixed<T>(4 * rows));
  const Literal y = Array<T>({2, rows}, Mixed<T>(2 * rows));
  const std::vector<T> from_x = Mixed<T>(4 * rows), from_y = Mixed<T>(2 * rows);
  const std::string text = absl::StrReplaceAll(R"(
    func.func @main(%x: tensor<Nx4xE>, %y: tensor<2xNxE>) -> tensor<Nx7xE> {
      %0 = stablehlo.slice %x [0:N, 0:4:3] : (tensor<Nx4xE>) -> tensor<Nx2xE>
      %1 = stablehlo.transpose %y, dims = [1, 0] : (tensor<2xNxE>) -> tensor<Nx2xE>
      %2 = stablehlo.reverse %1, dims = [0] : tensor<Nx2xE>
      %3 = stablehlo.slice %x [0:1, 2:3] : (tensor<Nx4xE>) -> tensor<1x1xE>
      %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x1xE>) -> tensor<Nx1xE>
      %5 = stablehlo.concatenate %0, %2, %4, %1, dim = 1 : (tensor<Nx2xE>, tensor<Nx2xE>, tensor<Nx1xE>, tensor<Nx2xE>) -> tensor<Nx7xE>
      return %5 : tensor<Nx7xE>
    })",
                                               {{"N", absl::StrCat(rows)}, {"E", element}});
  std::vector<T> expected;
  for (int64_t r = 0; r < rows; ++r) {
    const T row[] = {
        from_x[4 * r], from_x[4 * r + 3], from_y[rows - 1 - r], from_y[2 * rows - 1 - r],
        from_x[2],     from_y[r],         from_y[rows + r]};
    expected.insert(expected.end(), std::begin(row), std::end(row));
  }
  EXPECT_EQ(RunOne<T>(text, {&x, &y}), expected) << element << " " << rows;
}

TEST(ShapeOpsTest, ConcatenateInterleavesNarrowColumns) {
  for (const int64_t rows : {1, 63, 64, 65, 5000, 40001}) {
    CheckNarrowColumns<uint8_t>("ui8", rows);
    CheckNarrowColumns<int16_t>("i16", rows);
    CheckNarrowColumns<float>("f32", rows);
    CheckNarrowColumns<double>("f64", rows);
  }
}

// Pairs along a dim that is not the last, and no points at all.
TEST(ShapeOpsTest, ConcatenateInterleavesAlongADimInTheMiddle) {
  const Literal x = Array<int32_t>({100, 1, 2}, Counting<int32_t>(200));
  std::vector<int32_t> expected;
  for (int32_t i = 0; i < 200; i += 2) expected.insert(expected.end(), {i, i + 1, i, i + 1});
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<100x1x2xi32>) -> tensor<100x2x2xi32> {
      %0 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<100x1x2xi32>, tensor<100x1x2xi32>) -> tensor<100x2x2xi32>
      return %0 : tensor<100x2x2xi32>
    })",
                            {&x}),
            expected);
  const Literal none = Array<int32_t>({0, 1}, {});
  EXPECT_TRUE(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<0x1xi32>) -> tensor<0x2xi32> {
      %0 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<0x1xi32>, tensor<0x1xi32>) -> tensor<0x2xi32>
      return %0 : tensor<0x2xi32>
    })",
                              {&none})
                  .empty());
}

// The sliced value dies here, and the result has its size: it must not be shifted within its own
// memory.
TEST(ShapeOpsTest, ConcatenateOfAPartOfADyingValue) {
  const Literal x = Array<float>({5}, {1, 2, 3, 4, 5}), y = Array<float>({1}, {-1});
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%x: tensor<5xf32>, %y: tensor<1xf32>) -> tensor<5xf32> {
      %0 = stablehlo.add %x, %x : tensor<5xf32>
      %1 = stablehlo.slice %0 [1:5] : (tensor<5xf32>) -> tensor<4xf32>
      %2 = stablehlo.concatenate %1, %y, dim = 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
      %3 = stablehlo.multiply %2, %2 : tensor<5xf32>
      return %3 : tensor<5xf32>
    })",
                          {&x, &y}),
            (std::vector<float>{16, 36, 64, 100, 1}));
}

TEST(ShapeOpsTest, PadAddsCutsAndSpreads) {
  const Literal x = Array<int32_t>({3}, {1, 2, 3}), v = Scalar<int32_t>(9);
  const auto pad = [&](int low, int high, int interior, int size) {
    return RunOne<int32_t>(
        absl::StrCat("func.func @main(%x: tensor<3xi32>, %v: tensor<i32>) -> tensor<", size,
                     "xi32> {\n  %0 = stablehlo.pad %x, %v, low = [", low, "], high = [", high,
                     "], interior = [", interior, "] : (tensor<3xi32>, tensor<i32>) -> tensor<",
                     size, "xi32>\n  return %0 : tensor<", size, "xi32>\n}"),
        {&x, &v});
  };
  using V = std::vector<int32_t>;
  EXPECT_EQ(pad(0, 0, 0, 3), (V{1, 2, 3}));
  EXPECT_EQ(pad(2, 1, 0, 6), (V{9, 9, 1, 2, 3, 9}));
  EXPECT_EQ(pad(0, 0, 2, 7), (V{1, 9, 9, 2, 9, 9, 3}));
  EXPECT_EQ(pad(-1, 0, 0, 2), (V{2, 3}));
  EXPECT_EQ(pad(-2, -2, 1, 1), (V{2}));
  EXPECT_EQ(pad(-1, 3, 1, 7), (V{9, 2, 9, 3, 9, 9, 9}));
  EXPECT_EQ(pad(-3, 0, 0, 0), V{});
  EXPECT_EQ(pad(-4, 5, 0, 4), (V{9, 9, 9, 9}));
}

// Large enough to be filled around the operand only.
TEST(ShapeOpsTest, PadFillsWhatLiesAroundTheOperand) {
  struct Padding {
    int64_t low, high, interior;
  };
  const int64_t rows = 90, columns = 70;
  const Literal x = Array<int32_t>({rows, columns}, Counting<int32_t>(rows * columns));
  const Literal v = Scalar<int32_t>(-1);
  const Padding cases[][2] = {{{0, 0, 0}, {1, 0, 0}},     {{2, 3, 0}, {0, 0, 0}},
                              {{3, 1, 0}, {2, 5, 0}},     {{-4, 6, 0}, {7, -1, 0}},
                              {{-95, 200, 0}, {1, 1, 0}}, {{1, 1, 1}, {0, 2, 0}}};
  for (const auto& padding : cases) {
    const auto size = [&](int64_t n, const Padding& p) {
      return n + p.low + p.high + (n - 1) * p.interior;
    };
    const int64_t height = size(rows, padding[0]), width = size(columns, padding[1]);
    std::vector<int32_t> expected(height * width, -1);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t to_r = padding[0].low + r * (padding[0].interior + 1);
        const int64_t to_c = padding[1].low + c * (padding[1].interior + 1);
        if (to_r >= 0 && to_r < height && to_c >= 0 && to_c < width)
          expected[to_r * width + to_c] = static_cast<int32_t>(r * columns + c);
      }
    }
    const std::string result = TensorText({height, width}, "i32");
    EXPECT_EQ(RunOne<int32_t>(
                  absl::StrCat("func.func @main(%x: tensor<90x70xi32>, %v: tensor<i32>) -> ",
                               result, " {\n  %0 = stablehlo.pad %x, %v, low = [", padding[0].low,
                               ", ", padding[1].low, "], high = [", padding[0].high, ", ",
                               padding[1].high, "], interior = [", padding[0].interior, ", ",
                               padding[1].interior, "] : (tensor<90x70xi32>, tensor<i32>) -> ",
                               result, "\n  return %0 : ", result, "\n}"),
                  {&x, &v}),
              expected)
        << result;
  }
}

TEST(ShapeOpsTest, RankEightTransposes) {
  const std::vector<int64_t> dims = {2, 3, 1, 2, 2, 3, 2, 2};
  const std::vector<int64_t> permutation = {7, 2, 5, 0, 3, 1, 6, 4};
  std::vector<int64_t> out_dims;
  for (int64_t p : permutation) out_dims.push_back(dims[p]);
  const int64_t count = 288;
  const Literal x = Array<int32_t>(dims, Counting<int32_t>(count));
  const std::string in = TensorText(dims, "i32"), out = TensorText(out_dims, "i32");
  const std::vector<int32_t> result = RunOne<int32_t>(
      absl::StrCat("func.func @main(%x: ", in, ") -> ", out,
                   " {\n  %0 = stablehlo.transpose %x, dims = [7, 2, 5, 0, 3, 1, 6, 4] : (", in,
                   ") -> ", out, "\n  %1 = stablehlo.add %0, %0 : ", out, "\n  return %1 : ", out,
                   "\n}"),
      {&x});
  ASSERT_EQ(result.size(), static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> at(8);
    int64_t rest = i;
    for (int d = 7; d >= 0; --d) {
      at[permutation[d]] = rest % out_dims[d];
      rest /= out_dims[d];
    }
    int64_t from = 0;
    for (int d = 0; d < 8; ++d) from = from * dims[d] + at[d];
    ASSERT_EQ(result[i], 2 * from);
  }
}

TEST(ShapeOpsTest, StartsOfEveryIntegerTypeAreMovedInside) {
  const Literal x = Array<float>({3}, {10, 20, 30});
  struct Case {
    const char *type, *start;
    float first;
  };
  for (const Case& c : {Case{"i64", "9223372036854775807", 20},
                        {"i64", "-9223372036854775808", 10},
                        {"ui64", "18446744073709551615", 20},
                        {"ui64", "9223372036854775808", 20},
                        {"ui32", "4294967295", 20},
                        {"ui8", "255", 20},
                        {"i8", "-128", 10},
                        {"ui4", "15", 20},
                        {"i4", "-8", 10}}) {
    const std::string scalar = absl::StrCat("tensor<", c.type, ">");
    const std::string slice = absl::StrCat(
        "%0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<3xf32>, ", scalar,
        ") -> tensor<2xf32>\n%1 = stablehlo.dynamic_update_slice %x, %0, %i : (tensor<3xf32>, "
        "tensor<2xf32>, ",
        scalar, ") -> tensor<3xf32>\nreturn %0, %1 : tensor<2xf32>, tensor<3xf32>\n}");
    const auto results = RunAll(
        absl::StrCat("func.func @main(%x: tensor<3xf32>) -> (tensor<2xf32>, tensor<3xf32>) {\n",
                     "%i = stablehlo.constant dense<", c.start, "> : ", scalar, "\n", slice),
        {&x});
    EXPECT_EQ(Elements<float>(*results[0]), std::vector<float>({c.first, c.first + 10}))
        << c.type << " " << c.start;
    EXPECT_EQ(Elements<float>(*results[1]), std::vector<float>({10, 20, 30}))
        << c.type << " " << c.start;
  }
}

// Boxes so large that threads share them, in one run of bytes and in rows.
TEST(DynamicSliceTest, LargeBoxesAreSharedByThreads) {
  constexpr int64_t kRows = 900, kColumns = 700;
  const Literal x = Array<int32_t>({kRows, kColumns}, Counting<int32_t>(kRows * kColumns));
  const Literal row = Scalar<int32_t>(77), column = Scalar<int32_t>(33);
  const auto results = RunProgram(*MakeClient(WithThreads(4)), R"(
    func.func @main(%x: tensor<900x700xi32>, %i: tensor<i32>, %j: tensor<i32>)
        -> (tensor<800x700xi32>, tensor<800x600xi32>, tensor<900x700xi32>) {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.dynamic_slice %x, %i, %z, sizes = [800, 700] : (tensor<900x700xi32>, tensor<i32>, tensor<i32>) -> tensor<800x700xi32>
      %1 = stablehlo.dynamic_slice %x, %i, %j, sizes = [800, 600] : (tensor<900x700xi32>, tensor<i32>, tensor<i32>) -> tensor<800x600xi32>
      %n = stablehlo.negate %x : tensor<900x700xi32>
      %2 = stablehlo.dynamic_update_slice %n, %1, %i, %j : (tensor<900x700xi32>, tensor<800x600xi32>, tensor<i32>, tensor<i32>) -> tensor<900x700xi32>
      return %0, %1, %2 : tensor<800x700xi32>, tensor<800x600xi32>, tensor<900x700xi32>
    })",
                                  {&x, &row, &column});
  ASSERT_TRUE(results.ok()) << results.status();
  const auto at = [&](int result, int64_t i) { return (*results)[result]->data<int32_t>()[i]; };
  int64_t wrong = 0;
  for (int64_t r = 0; r < 800; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      wrong += at(0, r * kColumns + c) != (r + 77) * kColumns + c;
      if (c < 600) wrong += at(1, r * 600 + c) != (r + 77) * kColumns + c + 33;
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kColumns; ++c) {
      const bool updated = r >= 77 && r < 877 && c >= 33 && c < 633;
      wrong += at(2, r * kColumns + c) != (updated ? 1 : -1) * (r * kColumns + c);
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(ReturnTest, ArgumentsConstantsAndTheSameValueTwice) {
  const Literal x = Array<float>({2}, {1, 2});
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xi32>, tensor<2xf32>, tensor<2xf32>) {
      %c = stablehlo.constant dense<7.0> : tensor<2xf32>
      %d = stablehlo.constant dense<[1, -2, 3]> : tensor<3xi32>
      %s = stablehlo.add %x, %x : tensor<2xf32>
      return %x, %x, %c, %d, %s, %s : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xi32>, tensor<2xf32>, tensor<2xf32>
    })",
                              {&x});
  ASSERT_EQ(results.size(), 6u);
  EXPECT_EQ(Elements<float>(*results[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(Elements<float>(*results[1]), (std::vector<float>{1, 2}));
  EXPECT_EQ(Elements<float>(*results[2]), (std::vector<float>{7, 7}));
  EXPECT_EQ(Elements<int32_t>(*results[3]), (std::vector<int32_t>{1, -2, 3}));
  EXPECT_EQ(Elements<float>(*results[4]), (std::vector<float>{2, 4}));
  EXPECT_EQ(Elements<float>(*results[5]), (std::vector<float>{2, 4}));
}

TEST(ReturnTest, NothingAtAll) { EXPECT_TRUE(RunAll("func.func @main() {\n  return\n}").empty()); }

TEST(EmptyTest, ArraysWithoutElementsGoThroughEveryKindOfOp) {
  const Literal x = Array<float>({0, 3}, {}), y = Array<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<0x3xf32>, %y: tensor<3x2xf32>)
        -> (tensor<0x3xf32>, tensor<3x0xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0x2xf32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<f32>) {
      %zero = stablehlo.constant dense<0.5> : tensor<f32>
      %0 = stablehlo.add %x, %x : tensor<0x3xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<0x3xf32>) -> tensor<3x0xf32>
      %2 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
      %3 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<0x3xf32>, tensor<f32>) -> tensor<0xf32>
      %4 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<0x3xf32>, tensor<3x2xf32>) -> tensor<0x2xf32>
      %5 = stablehlo.pad %x, %zero, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32>
      %6 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<3x3xf32>
      %7 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<0x3xf32>, tensor<f32>) -> tensor<f32>
      return %0, %1, %2, %3, %4, %5, %6, %7
          : tensor<0x3xf32>, tensor<3x0xf32>, tensor<3xf32>, tensor<0xf32>, tensor<0x2xf32>, tensor<2x3xf32>, tensor<3x3xf32>, tensor<f32>
    })",
                              {&x, &y});
  ASSERT_EQ(results.size(), 8u);
  for (int i : {0, 1, 3, 4}) EXPECT_EQ(results[i]->element_count(), 0) << i;
  EXPECT_EQ(Elements<float>(*results[2]), std::vector<float>(3, 0.5f));
  EXPECT_EQ(Elements<float>(*results[5]), std::vector<float>(6, 0.5f));
  EXPECT_EQ(Elements<float>(*results[6]), std::vector<float>(9, 0.0f));
  EXPECT_EQ(results[7]->GetFirstElement<float>(), 0.5f);
}

TEST(PackedTest, FourBitIntegersComeBackAsTheyWere) {
  for (int64_t n : {1, 2, 5, 16, 1001}) {
    std::vector<int8_t> values(n), sums(n);
    std::vector<uint8_t> unsigned_values(n);
    for (int64_t i = 0; i < n; ++i) {
      values[i] = static_cast<int8_t>(i % 16 - 8);
      unsigned_values[i] = static_cast<uint8_t>(i % 16);
      const int sum = (2 * values[i]) & 15;
      sums[i] = static_cast<int8_t>(sum >= 8 ? sum - 16 : sum);
    }
    const Literal x = Array<int8_t>(S4, {n}, values), y = Array<uint8_t>(U4, {n}, unsigned_values);
    const std::string s = TensorText({n}, "i4"), u = TensorText({n}, "ui4");
    const auto results =
        RunAll(absl::StrCat("func.func @main(%x: ", s, ", %y: ", u, ") -> (", s, ", ", u, ", ", s,
                            ") {\n  %0 = stablehlo.add %x, %x : ", s, "\n  return %x, %y, %0 : ", s,
                            ", ", u, ", ", s, "\n}"),
               {&x, &y});
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(Elements<int8_t>(*results[0]), values);
    EXPECT_EQ(Elements<uint8_t>(*results[1]), unsigned_values);
    EXPECT_EQ(Elements<int8_t>(*results[2]), sums);
  }
}

TEST(ScalarTest, SelectAndClampTakeScalarOperands) {
  const Literal p = Preds({}, {0}), x = Array<float>({3}, {-5, 0.5, 5}), low = Scalar<float>(-1),
                high = Scalar<float>(1);
  const auto results = RunAll(R"(
    func.func @main(%p: tensor<i1>, %x: tensor<3xf32>, %low: tensor<f32>, %high: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
      %1 = stablehlo.select %p, %x, %0 : tensor<i1>, tensor<3xf32>
      return %0, %1 : tensor<3xf32>, tensor<3xf32>
    })",
                              {&p, &x, &low, &high});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<float>(*results[0]), (std::vector<float>{-1, 0.5, 1}));
  EXPECT_EQ(Elements<float>(*results[1]), (std::vector<float>{-1, 0.5, 1}));
}

}  // namespace
}  // namespace pjrt::cpu
