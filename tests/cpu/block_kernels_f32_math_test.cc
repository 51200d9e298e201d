// SPDX-License-Identifier: Apache-2.0
//
// The mathematical functions of f32 against the C library's in f64, at each level.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

struct F32Function {
  const char* name;
  BlockOp op;
  double (*reference)(double);
  double max_ulp;
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

const F32Function kF32Functions[] = {
    {"exp", BlockOp::kExp, std::exp, 1.5},           {"expm1", BlockOp::kExpm1, std::expm1, 1.5},
    {"log", BlockOp::kLog, std::log, 1.5},           {"log1p", BlockOp::kLog1p, std::log1p, 1.5},
    {"logistic", BlockOp::kLogistic, Logistic, 1.5}, {"tanh", BlockOp::kTanh, std::tanh, 1.5},
    {"sin", BlockOp::kSin, std::sin, 1.5},           {"cos", BlockOp::kCos, std::cos, 1.5},
    {"tan", BlockOp::kTan, std::tan, 1.5},           {"sqrt", BlockOp::kSqrt, std::sqrt, 0.5},
    {"rsqrt", BlockOp::kRsqrt, Rsqrt, 1.5},          {"cbrt", BlockOp::kCbrt, std::cbrt, 1.5},
    {"erf", BlockOp::kErf, std::erf, 1.5},           {"erfc", BlockOp::kErfc, std::erfc, 3},
};

constexpr uint64_t kSampleStride = 10007;

// Each stride-th bit pattern, all magnitudes and signs. Returns the largest errors by level, and
// checks them, the sign of zeros, and that levels with fused multiply-add agree bit for bit.
void CheckUnary(const F32Function& c, uint64_t stride) {
  const std::vector<const BlockKernels*> levels = SupportedBlockKernels();
  std::vector<double> worst(levels.size(), 0), worst_at(levels.size(), 0);
  constexpr size_t kPiece = 4096;
  std::vector<float> inputs;
  std::vector<double> expected;
  std::vector<std::vector<float>> results(levels.size());
  for (uint64_t bits = 0; bits < uint64_t{1} << 32;) {
    inputs.clear();
    expected.clear();
    for (; bits < uint64_t{1} << 32 && inputs.size() < kPiece; bits += stride) {
      inputs.push_back(FromBits<float>(static_cast<uint32_t>(bits)));
      expected.push_back(c.reference(inputs.back()));
    }
    for (size_t level = 0; level < levels.size(); ++level) {
      results[level] = CallUnary<float>(*levels[level], c.op, CType::kF32, inputs);
      for (size_t i = 0; i < inputs.size(); ++i) {
        const float actual = results[level][i];
        const double error = UlpError(actual, expected[i]);
        if (error > worst[level]) {
          worst[level] = error;
          worst_at[level] = inputs[i];
        }
        if (expected[i] == 0) {
          ASSERT_EQ(std::signbit(actual), std::signbit(expected[i]))
              << levels[level]->level << " " << c.name << "(" << inputs[i] << ")";
        }
      }
    }
    for (size_t level = 2; level < levels.size(); ++level) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_TRUE(SameValue(results[level][i], results[1][i]))
            << levels[level]->level << " and " << levels[1]->level << " differ: " << c.name << "("
            << inputs[i] << ") = " << results[level][i] << " and " << results[1][i];
      }
    }
  }
  for (size_t level = 0; level < levels.size(); ++level) {
    EXPECT_LE(worst[level], c.max_ulp)
        << levels[level]->level << " " << c.name << "(" << worst_at[level] << ")";
    if (stride != kSampleStride) {
      std::printf("%-10s %-8s %.4f ulp at %a\n", levels[level]->level, c.name, worst[level],
                  worst_at[level]);
    }
  }
}

class F32MathTest : public testing::TestWithParam<F32Function> {};

TEST_P(F32MathTest, ErrorStaysBelowOneAndAHalfUlpOverTheWholeRange) {
  CheckUnary(GetParam(), kSampleStride);
}

// All 2^32 inputs: minutes for each function. Run after changing one:
//   pjrt_cpu_test --gtest_also_run_disabled_tests --gtest_filter='*DISABLED_AllInputs*'
TEST_P(F32MathTest, DISABLED_AllInputs) {
  const char* stride = std::getenv("PJRT_TEST_STRIDE");
  CheckUnary(GetParam(), stride != nullptr ? std::strtoull(stride, nullptr, 10) : 1);
}

INSTANTIATE_TEST_SUITE_P(Unary, F32MathTest, testing::ValuesIn(kF32Functions),
                         [](const auto& test) { return std::string(test.param.name); });

// Numbers where functions have rules of their own, and some on each side of what code may treat
// apart.
std::vector<float> Landmarks() {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> result = {
      0.0f,        1.0f,       0.5f,        2.0f,        3.0f,        4.0f,
      1.5f,        2.5f,       0.1f,        1e-10f,      1e10f,       1e-30f,
      1e30f,       1e-40f,     1e-45f,      1e38f,       3.4e38f,     1.17549435e-38f,
      7.0f,        255.0f,     16777215.0f, 16777216.0f, 16777217.0f, 33554432.0f,
      0.99999994f, 1.0000001f, inf,         1.0f / 3,    3.1415927f,  1.5707964f,
      0.70710677f, 88.72284f,  103.97208f};
  const size_t positive = result.size();
  for (size_t i = 0; i < positive; ++i) result.push_back(-result[i]);
  result.push_back(std::numeric_limits<float>::quiet_NaN());
  return result;
}

struct BinaryCase {
  const char* name;
  BlockOp op;
  double (*reference)(double, double);
  double max_ulp;
};

const BinaryCase kBinaryCases[] = {
    {"power", BlockOp::kPower, std::pow, 1.5},
    {"atan2", BlockOp::kAtan2, std::atan2, 1.5},
    {"remainder", BlockOp::kRemainder, std::fmod, 0},
    // For results that are rounded to 11 digits or less.
    {"narrow_power", BlockOp::kNarrowPower, std::pow, 512},
    {"narrow_atan2", BlockOp::kNarrowAtan2, std::atan2, 32},
};

class F32BinaryMathTest : public testing::TestWithParam<BinaryCase> {
 protected:
  void Check(const std::vector<float>& a, const std::vector<float>& b) {
    const BinaryCase& c = GetParam();
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const std::vector<float> results = CallBinary<float>(*kernels, c.op, CType::kF32, a, b);
      for (size_t i = 0; i < a.size(); ++i) {
        const double expected = c.reference(a[i], b[i]);
        ASSERT_LE(UlpError(results[i], expected), c.max_ulp)
            << kernels->level << " " << c.name << "(" << a[i] << ", " << b[i]
            << ") = " << results[i] << ", expected " << expected;
        if (expected == 0) {
          ASSERT_EQ(std::signbit(results[i]), std::signbit(expected))
              << kernels->level << " " << c.name << "(" << a[i] << ", " << b[i] << ")";
        }
      }
    }
  }
};

TEST_P(F32BinaryMathTest, LandmarksFollowTheCLibrary) {
  std::vector<float> a, b;
  for (float x : Landmarks()) {
    for (float y : Landmarks()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  Check(a, b);
}

TEST_P(F32BinaryMathTest, ErrorStaysInItsBoundOnRandomNumbers) {
  std::mt19937 random(7);
  std::uniform_int_distribution<uint32_t> any_bits;
  std::uniform_real_distribution<float> moderate(-20, 20);
  std::vector<float> a, b;
  for (int i = 0; i < 200000; ++i) {
    a.push_back(i % 2 != 0 ? FromBits<float>(any_bits(random)) : moderate(random));
    b.push_back(i % 4 >= 2 ? FromBits<float>(any_bits(random)) : moderate(random));
    if (i % 5 == 0) a.back() = std::fabs(a.back());
    if (i % 7 == 0) a.back() = 1 + moderate(random) * 1e-3f;
    if (i % 3 == 0) b.back() = std::rint(b.back());
  }
  Check(a, b);
}

TEST_P(F32BinaryMathTest, OneElementOperandsGiveTheBitsOfBlocks) {
  const BlockOp op = GetParam().op;
  const std::vector<float> all = Landmarks();
  const int64_t n = static_cast<int64_t>(all.size());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (float x : all) {
      const std::vector<float> one(all.size(), x);
      for (const Scalars form : {Scalars::kFirst, Scalars::kSecond}) {
        const BlockFn function = Find(*kernels, op, CType::kF32, form);
        if (function == nullptr) continue;
        const bool first = form == Scalars::kFirst;
        const std::vector<float>&a = first ? one : all, &b = first ? all : one;
        std::vector<float> expected(all.size()), results(all.size());
        Find(*kernels, op, CType::kF32)(expected.data(), a.data(), b.data(), nullptr, n);
        function(results.data(), first ? &x : a.data(), first ? b.data() : &x, nullptr, n);
        for (size_t i = 0; i < all.size(); ++i) {
          ASSERT_TRUE(SameValue(results[i], expected[i])) << kernels->level << " " << x << " " << i;
        }
      }
    }
  }
}

TEST_P(F32BinaryMathTest, NansHaveTheSameBitsInAnyPlace) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> numbers = {FromBits<float>(0x7fc00000),
                                      FromBits<float>(0xffc00000),
                                      FromBits<float>(0x7fc12345),
                                      FromBits<float>(0xffc54321),
                                      kInfinity,
                                      -kInfinity,
                                      0.0f,
                                      -1.0f,
                                      2.5f,
                                      -2.5f};
  std::vector<float> a, b;
  for (float x : numbers) {
    for (float y : numbers) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const BlockOp op = GetParam().op;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<float> all = CallBinary<float>(*kernels, op, CType::kF32, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const float alone = CallBinary<float>(*kernels, op, CType::kF32, std::vector<float>{a[i]},
                                            std::vector<float>{b[i]})[0];
      EXPECT_EQ(ToBits(all[i]), ToBits(alone)) << kernels->level << " " << a[i] << ", " << b[i];
    }
  }
}

// Exponents that lead from any base, most of them near 1, to all results, denormals included: the
// errors of the logarithm are multiplied by up to 2^30.
TEST(F32PowerTest, ErrorStaysInItsBoundOverAllResults) {
  std::mt19937 random(8);
  std::uniform_int_distribution<uint32_t> positive_bits(1, 0x7f7fffff);
  std::uniform_real_distribution<double> sign(-1, 1), digits(-16, -1), result(-104, 89);
  std::vector<float> a, b;
  for (int i = 0; i < 400000; ++i) {
    a.push_back(static_cast<float>(i % 4 == 0 ? FromBits<float>(positive_bits(random))
                                              : 1 + sign(random) * std::exp(digits(random))));
    b.push_back(static_cast<float>(result(random) / std::log(static_cast<double>(a.back()))));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<float> results =
        CallBinary<float>(*kernels, BlockOp::kPower, CType::kF32, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(UlpError(results[i], std::pow(static_cast<double>(a[i]), b[i])), 1.5)
          << kernels->level << " power(" << a[i] << ", " << b[i] << ") = " << results[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Binary, F32BinaryMathTest, testing::ValuesIn(kBinaryCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace pjrt::cpu
