// SPDX-License-Identifier: Apache-2.0
//
// Arguments and results of 4 bits an element so large that threads share them.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Several units of work, and the last piece has an odd number.
constexpr int64_t kCount = 3 * 256 * 1024 + 8 * 1024 + 5;

int8_t Wrap(int x) { return static_cast<int8_t>(((x + 8) & 15) - 8); }

class PackedArraysTest : public testing::TestWithParam<int> {
 protected:
  PackedArraysTest() : client_(MakeClient(WithThreads(GetParam()))), x_(kCount), y_(kCount) {
    for (int64_t i = 0; i < kCount; ++i) {
      x_[i] = Wrap(static_cast<int>(i * 7 + i / 1000));
      y_[i] = Wrap(static_cast<int>(i / 5));
    }
  }

  std::vector<std::shared_ptr<Literal>> Run(const std::string& results, const std::string& body,
                                            const std::string& attribute = "") {
    const Literal x = Array<int8_t>(S4, {kCount}, x_), y = Array<int8_t>(S4, {kCount}, y_);
    const Literal s = Array<int8_t>(S4, {}, {3});
    const std::string array = TensorText({kCount}, "i4");
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
    for (int64_t i = 0; i < kCount; ++i) {
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
  const std::string wide = TensorText({kCount}, "i8");
  const auto results =
      Run(wide, "  %r = stablehlo.convert %x : ($0) -> " + wide + "\n  return %r : " + wide + "\n");
  ASSERT_EQ(results.size(), 1u);
  Expect(*results[0], [](int8_t a, int8_t) { return a; });
}

TEST_P(PackedArraysTest, OneResultOfTwoParts) {
  const std::string twice = TensorText({2 * kCount}, "i4");
  const auto results = Run(twice,
                           "  %0 = stablehlo.add %x, %y : $0\n"
                           "  %1 = stablehlo.subtract %x, %y : $0\n"
                           "  %r = stablehlo.concatenate %0, %1, dim = 0 : ($0, $0) -> " +
                               twice + "\n  return %r : " + twice + "\n");
  ASSERT_EQ(results.size(), 1u);
  const auto both = Elements<int8_t>(*results[0]);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(both[i], Wrap(x_[i] + y_[i])) << i;
    ASSERT_EQ(both[kCount + i], Wrap(x_[i] - y_[i])) << i;
  }
}

TEST_P(PackedArraysTest, APartOfAnArgumentWhoseMemoryTheResultTakes) {
  constexpr int64_t kHalf = kCount / 2;
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
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(reversed[i], Wrap(x_[kCount - 1 - i] + y_[kCount - 1 - i])) << i;
  }
}

}  // namespace
}  // namespace pjrt::cpu
