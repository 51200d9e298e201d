// SPDX-License-Identifier: Apache-2.0
//
// Loops over arrays that caches do not hold, whose next block is asked for while one is computed.
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kPart = 16;  // rows

std::vector<float> Values(int64_t count) {
  std::vector<float> values(count);
  uint32_t seed = 7;
  for (float& v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(seed) / 1073741824.0);
  }
  return values;
}

// x tanh(x^2 + bias) of rows of `columns` elements, those of an array whose rows are `apart`, and
// exp(x).
std::string Program(int64_t rows, int64_t columns, int64_t apart) {
  return absl::StrReplaceAll(absl::Substitute(R"(
  func.func @main(%whole: tensor<$0x$2xf32>, %bias: tensor<$1xf32>) -> (T, T) {
    %x = stablehlo.slice %whole [0:$0, 0:$1] : (tensor<$0x$2xf32>) -> T
    %0 = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<$1xf32>) -> T
    %1 = stablehlo.multiply %x, %x : T
    %2 = stablehlo.add %1, %0 : T
    %3 = stablehlo.tanh %2 : T
    %4 = stablehlo.multiply %3, %x : T
    %5 = stablehlo.exponential %x : T
    return %4, %5 : T, T
  })",
                                              rows, columns, apart),
                             {{"T", absl::Substitute("tensor<$0x$1xf32>", rows, columns)}});
}

struct LoopShape {
  int64_t rows, columns, apart;
};

class LargeLoopsTest : public testing::TestWithParam<LoopShape> {};

TEST_P(LargeLoopsTest, EachPartIsWhatASmallProgramGives) {
  const int64_t rows = GetParam().rows, columns = GetParam().columns, apart = GetParam().apart;
  const int64_t first = rows - kPart;
  const std::vector<float> values = Values(rows * apart), bias = Values(columns);
  const Literal x = Array<float>({rows, apart}, values);
  const Literal b = Array<float>({columns}, bias);
  const auto part_of = [&](int64_t from) {
    return Array<float>(
        {kPart, apart},
        std::vector<float>(values.begin() + from * apart, values.begin() + (from + kPart) * apart));
  };
  for (int threads : {1, 3}) {
    const auto client = MakeClient(WithThreads(threads));
    const auto all = RunProgram(*client, Program(rows, columns, apart), {&x, &b});
    ASSERT_TRUE(all.ok()) << all.status();
    for (const int64_t from : {int64_t{0}, rows / 2, first}) {
      const Literal part = part_of(from);
      const auto expected = RunProgram(*client, Program(kPart, columns, apart), {&part, &b});
      ASSERT_TRUE(expected.ok()) << expected.status();
      for (size_t r = 0; r < 2; ++r) {
        const auto e = (*expected)[r]->data<float>(), a = (*all)[r]->data<float>();
        for (size_t i = 0; i < e.size(); ++i)
          ASSERT_EQ(a[from * columns + i], e[i])
              << threads << " threads, row " << from << ", " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, LargeLoopsTest,
                         testing::Values(LoopShape{2100, 1003, 1003}, LoopShape{2100, 1003, 1010},
                                         LoopShape{400, 5001, 5001}, LoopShape{400, 5001, 5003},
                                         LoopShape{40, 70001, 70010}, LoopShape{70000, 30, 30}));

// Blocks of a loop of one instruction are larger than others: here there are several, and the last
// one of a row is not whole.
TEST(LargeLoopsTest, LoopsOfOneInstructionComputeEveryElement) {
  struct Case {
    const char* op;
    float (*expected)(float);
  };
  const Case cases[] = {{"add %x, %x", [](float x) { return x + x; }},
                        {"multiply %x, %x", [](float x) { return x * x; }},
                        {"negate %x", [](float x) { return -x; }}};
  for (const int threads : {1, 3}) {
    const auto client = MakeClient(WithThreads(threads));
    for (const LoopShape& shape : {LoopShape{1, 100003, 100003}, LoopShape{3, 40001, 40010}}) {
      const std::vector<float> values = Values(shape.rows * shape.apart);
      const Literal whole = Array<float>({shape.rows, shape.apart}, values);
      for (const Case& c : cases) {
        const auto results =
            RunProgram(*client,
                       absl::Substitute(R"(
  func.func @main(%whole: tensor<$0x$2xf32>) -> tensor<$0x$1xf32> {
    %x = stablehlo.slice %whole [0:$0, 0:$1] : (tensor<$0x$2xf32>) -> tensor<$0x$1xf32>
    %y = stablehlo.$3 : tensor<$0x$1xf32>
    return %y : tensor<$0x$1xf32>
  })",
                                        shape.rows, shape.columns, shape.apart, c.op),
                       {&whole});
        ASSERT_TRUE(results.ok()) << results.status();
        const auto actual = (*results)[0]->data<float>();
        for (int64_t r = 0; r < shape.rows; ++r) {
          for (int64_t i = 0; i < shape.columns; ++i)
            ASSERT_EQ(actual[r * shape.columns + i], c.expected(values[r * shape.apart + i]))
                << c.op << ", row " << r << ", " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
