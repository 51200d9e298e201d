// SPDX-License-Identifier: Apache-2.0
//
// Arguments and results of 2 and 4 bits an element: those so large that threads share them, and
// those of loops whose rows do not begin a byte.
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Several units of work, and the last piece has an odd number.
constexpr int64_t kOddSize = 3 * 256 * 1024 + 8 * 1024 + 5;

int8_t Wrap(int x) { return static_cast<int8_t>(((x + 8) & 15) - 8); }

class PackedArraysTest : public testing::TestWithParam<int> {
 protected:
  PackedArraysTest() : client_(MakeClient(WithThreads(GetParam()))), x_(kOddSize), y_(kOddSize) {
    for (int64_t i = 0; i < kOddSize; ++i) {
      x_[i] = Wrap(static_cast<int>(i * 7 + i / 1000));
      y_[i] = Wrap(static_cast<int>(i / 5));
    }
  }

  std::vector<std::shared_ptr<Literal>> Run(const std::string& results, const std::string& body,
                                            const std::string& attribute = "") {
    const Literal x = Array<int8_t>(S4, {kOddSize}, x_), y = Array<int8_t>(S4, {kOddSize}, y_);
    const Literal s = Array<int8_t>(S4, {}, {3});
    const std::string array = TensorText({kOddSize}, "i4");
    const auto run =
        RunProgram(*client_,
                   absl::Substitute(
                       "func.func @main(%x: $0 $3, %y: $0, %s: tensor<i4>) -> $1 {\n$2}\n", array,
                       absl::Substitute(results, array), absl::Substitute(body, array), attribute),
                   {&x, &y, &s});
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *run : std::vector<std::shared_ptr<Literal>>();
  }
  template <typename Fn>
  void Expect(const Literal& literal, Fn want) {
    const std::vector<int8_t> got = Elements<int8_t>(literal);
    for (int64_t i = 0; i < kOddSize; ++i) {
      ASSERT_EQ(got[i], want(x_[i], y_[i])) << i;
    }
  }

  std::unique_ptr<PjRtClient> client_;
  std::vector<int8_t> x_, y_;
};
INSTANTIATE_TEST_SUITE_P(Threads, PackedArraysTest, testing::Values(1, 3));

TEST_P(PackedArraysTest, OneOperation) {
  const auto results = Run("$0", "  %r = stablehlo.add %x, %y : $0\n  return %r : $0\n");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t a, int8_t b) { return Wrap(a + b); });
}

TEST_P(PackedArraysTest, ResultInTheMemoryOfAnArgument) {
  const auto results = Run("$0", "  %r = stablehlo.subtract %y, %x : $0\n  return %r : $0\n",
                           "{tf.aliasing_output = 0 : i32}");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t a, int8_t b) { return Wrap(b - a); });
}

TEST_P(PackedArraysTest, OneArgumentTwice) {
  const auto results = Run("$0", "  %r = stablehlo.multiply %x, %x : $0\n  return %r : $0\n");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t a, int8_t) { return Wrap(a * a); });
}

TEST_P(PackedArraysTest, OneElementForAll) {
  const auto results = Run("$0",
                           "  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i4>) -> $0\n"
                           "  %r = stablehlo.subtract %0, %y : $0\n  return %r : $0\n");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t, int8_t b) { return Wrap(3 - b); });
}

TEST_P(PackedArraysTest, TwoResultsAndAnArgumentGivenBack) {
  const auto results = Run("($0, $0, $0, $0)",
                           "  %0 = stablehlo.add %x, %y : $0\n"
                           "  %1 = stablehlo.multiply %0, %x : $0\n"
                           "  return %0, %1, %y, %0 : $0, $0, $0, $0\n");
  ASSERT_EQ(results.size(), 4u);
  Expect(*results[0], [](int8_t a, int8_t b) { return Wrap(a + b); });
  Expect(*results[1], [](int8_t a, int8_t b) { return Wrap(Wrap(a + b) * a); });
  Expect(*results[2], [](int8_t, int8_t b) { return b; });
  Expect(*results[3], [](int8_t a, int8_t b) { return Wrap(a + b); });
}

TEST_P(PackedArraysTest, WiderResults) {
  const std::string wide = TensorText({kOddSize}, "i8");
  const auto results =
      Run(wide, "  %r = stablehlo.convert %x : ($0) -> " + wide + "\n  return %r : " + wide + "\n");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t a, int8_t) { return a; });
}

TEST_P(PackedArraysTest, OneResultOfTwoParts) {
  const std::string twice = TensorText({2 * kOddSize}, "i4");
  const auto results = Run(twice,
                           "  %0 = stablehlo.add %x, %y : $0\n"
                           "  %1 = stablehlo.subtract %x, %y : $0\n"
                           "  %r = stablehlo.concatenate %0, %1, dim = 0 : ($0, $0) -> " +
                               twice + "\n  return %r : " + twice + "\n");
  ASSERT_EQ(results.size(), 1u);
  const auto both = Elements<int8_t>(*results[0]);
  for (int64_t i = 0; i < kOddSize; ++i) {
    ASSERT_EQ(both[i], Wrap(x_[i] + y_[i])) << i;
    ASSERT_EQ(both[kOddSize + i], Wrap(x_[i] - y_[i])) << i;
  }
}

TEST_P(PackedArraysTest, APartOfAnArgumentWhoseMemoryTheResultTakes) {
  constexpr int64_t kHalf = kOddSize / 2;
  const std::string part = TensorText({kHalf}, "i4"), wide = TensorText({kHalf}, "i8");
  const auto results =
      Run(wide,
          absl::Substitute("  %0 = stablehlo.slice %x [0:$0] : ($$0) -> $1\n", kHalf, part) +
              "  %r = stablehlo.convert %0 : (" + part + ") -> " + wide +
              "\n  return %r : " + wide + "\n",
          "{tf.aliasing_output = 0 : i32}");
  ASSERT_EQ(results.size(), 1u);
  const auto got = Elements<int8_t>(*results[0]);
  for (int64_t i = 0; i < kHalf; ++i) ASSERT_EQ(got[i], x_[i]) << i;
}

TEST_P(PackedArraysTest, ResultsThatOtherStepsRead) {
  const auto results = Run("($0, $0)",
                           "  %0 = stablehlo.add %x, %y : $0\n"
                           "  %1 = stablehlo.reverse %0, dims = [0] : $0\n"
                           "  return %0, %1 : $0, $0\n");
  ASSERT_EQ(results.size(), 2u);
  Expect(*results[0], [](int8_t a, int8_t b) { return Wrap(a + b); });
  const auto reversed = Elements<int8_t>(*results[1]);
  for (int64_t i = 0; i < kOddSize; ++i) {
    ASSERT_EQ(reversed[i], Wrap(x_[kOddSize - 1 - i] + y_[kOddSize - 1 - i])) << i;
  }
}

TEST_P(PackedArraysTest, AResultThatItsOwnLoopUsesOn) {
  const std::string wide = TensorText({kOddSize}, "i8");
  const auto results = Run("($0, " + wide + ")",
                           "  %0 = stablehlo.add %x, %y : $0\n"
                           "  %1 = stablehlo.convert %0 : ($0) -> " +
                               wide +
                               "\n"
                               "  %2 = stablehlo.multiply %1, %1 : " +
                               wide + "\n  return %0, %2 : $0, " + wide + "\n");
  ASSERT_EQ(results.size(), 2u);
  Expect(*results[0], [](int8_t a, int8_t b) { return Wrap(a + b); });
  Expect(*results[1],
         [](int8_t a, int8_t b) { return static_cast<int8_t>(Wrap(a + b) * Wrap(a + b)); });
}

TEST_P(PackedArraysTest, AnArgumentThatALoopReadsManyTimes) {
  const auto results = Run("$0", R"(
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %i, %v = %y) : tensor<i32>, $0
    cond {
      %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %k, %one : tensor<i32>
      %sum = stablehlo.add %v, %x : $0
      stablehlo.return %next, %sum : tensor<i32>, $0
    }
  return %0#1 : $0
)");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t a, int8_t b) { return Wrap(b + 3 * a); });
}

// Numbers of `bits` bits, in rows of any length, scaled by a factor for each column and negated.
class PackedRowsTest : public testing::TestWithParam<std::tuple<std::string, int64_t, int64_t>> {};

TEST_P(PackedRowsTest, AreScaledByColumnsAndNegated) {
  const auto& [element, rows, columns] = GetParam();
  const int bits = element.back() - '0';
  const bool is_signed = element[0] == 'i';
  const PrimitiveType type = *ParseStableHloType(element);
  const int lowest = is_signed ? -(1 << (bits - 1)) : 0;
  const auto wrap = [&](int x) { return ((x - lowest) & ((1 << bits) - 1)) + lowest; };
  std::vector<int8_t> x(rows * columns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<int8_t>(wrap(static_cast<int>(i * 5 + i / 77)));
  std::vector<float> scale(columns);
  for (int64_t c = 0; c < columns; ++c) scale[c] = static_cast<float>(c % 13 + 1);
  const std::string array = TensorText({rows, columns}, element);
  const std::string floats = TensorText({rows, columns}, "f32");
  const std::string vector = TensorText({columns}, "f32");
  const std::string text = absl::Substitute(R"(
  func.func @main(%x: $0, %s: $2) -> ($1, $0) {
    %0 = stablehlo.convert %x : ($0) -> $1
    %1 = stablehlo.broadcast_in_dim %s, dims = [1] : ($2) -> $1
    %2 = stablehlo.multiply %0, %1 : $1
    %3 = stablehlo.add %x, %x : $0
    %4 = stablehlo.subtract %3, %x : $0
    %5 = stablehlo.subtract %4, %3 : $0
    return %2, %5 : $1, $0
  })",
                                            array, floats, vector);
  const Literal s = Array<float>({columns}, scale);
  for (const int threads : {1, 3}) {
    const auto client = MakeClient(WithThreads(threads));
    absl::StatusOr<std::vector<std::shared_ptr<Literal>>> results;
    if (is_signed) {
      const Literal a = Array<int8_t>(type, {rows, columns}, x);
      results = RunProgram(*client, text, {&a, &s});
    } else {
      const Literal a = Array<uint8_t>(type, {rows, columns}, {x.begin(), x.end()});
      results = RunProgram(*client, text, {&a, &s});
    }
    ASSERT_TRUE(results.ok()) << results.status();
    const absl::Span<const float> scaled = (*results)[0]->data<float>();
    std::vector<int> negated;
    if (is_signed) {
      for (const int8_t v : Elements<int8_t>(*(*results)[1])) negated.push_back(v);
    } else {
      for (const uint8_t v : Elements<uint8_t>(*(*results)[1])) negated.push_back(v);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(scaled[i], static_cast<float>(x[i]) * scale[i % columns]) << i;
      ASSERT_EQ(negated[i], wrap(-x[i])) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PackedRowsTest,
    testing::Combine(testing::Values("i4", "ui4", "i2", "ui2"), testing::Values(int64_t{37}, 3001),
                     testing::Values(int64_t{1}, 3, 8, 29, 63, 64, 65, 127, 200, 1001)));

}  // namespace
}  // namespace pjrt::cpu
