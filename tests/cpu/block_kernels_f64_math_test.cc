// SPDX-License-Identifier: Apache-2.0
//
// The mathematical functions of f64 against the C library's in long double, at each level.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

static_assert(std::numeric_limits<long double>::digits > 60, "the reference needs a wider type");

struct F64Function {
  const char* name;
  BlockOp op;
  long double (*reference)(long double);
  double max_ulp;
};

long double Logistic(long double x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }
long double Rsqrt(long double x) { return 1 / sqrtl(x); }

const F64Function kF64Functions[] = {
    {"exp", BlockOp::kExp, expl, 1.5},
    {"expm1", BlockOp::kExpm1, expm1l, 1.5},
    {"log", BlockOp::kLog, logl, 1.5},
    {"log1p", BlockOp::kLog1p, log1pl, 1.5},
    {"logistic", BlockOp::kLogistic, Logistic, 2},
    {"tanh", BlockOp::kTanh, tanhl, 1.5},
    {"erf", BlockOp::kErf, erfl, 1.5},
    {"erfc", BlockOp::kErfc, erfcl, 2},
    {"sin", BlockOp::kSin, sinl, 1.5},
    {"cos", BlockOp::kCos, cosl, 1.5},
    {"tan", BlockOp::kTan, tanl, 1.5},
    {"sqrt", BlockOp::kSqrt, sqrtl, 0.501},
    {"rsqrt", BlockOp::kRsqrt, Rsqrt, 1.5},
    {"cbrt", BlockOp::kCbrt, cbrtl, 1.5},
};

// Random bits, numbers of moderate size, numbers near 1, multiples of pi/2 and the ends of ranges.
std::vector<double> Arguments(int count) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> result = {0.0,
                                1.0,
                                0.5,
                                2.0,
                                1e-300,
                                5e-324,
                                2.2250738585072014e-308,
                                1e308,
                                709.782712893384,
                                709.7827128933841,
                                745.1332191019411,
                                745.1332191019412,
                                1048576.0,
                                1048577.0,
                                1e22,
                                6381956970095103.0,
                                inf,
                                0.625,
                                0.34657359,
                                22.0,
                                710.5};
  const size_t positive = result.size();
  for (size_t i = 0; i < positive; ++i) result.push_back(-result[i]);
  result.push_back(std::numeric_limits<double>::quiet_NaN());
  std::mt19937_64 random(21);
  std::uniform_real_distribution<double> small(-3, 3), moderate(-40, 40), large(-750, 750),
      huge(-1e6, 1e6);
  std::uniform_int_distribution<int> multiple(-600000, 600000), exponent(-60, 2);
  for (int i = 0; i < count; ++i) {
    const uint64_t bits = random();
    double x;
    std::memcpy(&x, &bits, sizeof(x));
    result.push_back(x);
    result.push_back(small(random));
    result.push_back(moderate(random));
    result.push_back(large(random));
    result.push_back(huge(random));
    result.push_back(multiple(random) * 1.5707963267948966);
    result.push_back(1 + small(random) * 0.01);
    result.push_back(std::ldexp(small(random), exponent(random)));
  }
  return result;
}

class F64MathTest : public testing::TestWithParam<F64Function> {
 protected:
  void Check(int count) {
    const F64Function& c = GetParam();
    const std::vector<double> inputs = Arguments(count);
    const std::vector<const BlockKernels*> levels = SupportedBlockKernels();
    std::vector<std::vector<double>> results;
    for (const BlockKernels* kernels : levels) {
      results.push_back(CallUnary<double>(*kernels, c.op, CType::kF64, inputs));
      double worst = 0, worst_at = 0;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const long double expected = c.reference(inputs[i]);
        const double error = UlpError(results.back()[i], expected);
        if (error > worst) {
          worst = error;
          worst_at = inputs[i];
        }
        if (expected == 0) {
          ASSERT_EQ(std::signbit(results.back()[i]), std::signbit(expected))
              << c.name << "(" << inputs[i] << ")";
        }
      }
      EXPECT_LE(worst, c.max_ulp) << kernels->level << " " << c.name << " at " << Show(worst_at);
      if (std::getenv("PJRT_TEST_PRINT_ULP") != nullptr) {
        std::printf("%-10s %-8s %.4f ulp at %a\n", kernels->level, c.name, worst, worst_at);
      }
    }
    for (size_t level = 2; level < levels.size(); ++level) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_TRUE(SameValue(results[level][i], results[1][i]))
            << levels[level]->level << " and " << levels[1]->level << " differ: " << c.name << "("
            << inputs[i] << ")";
      }
    }
  }
};

TEST_P(F64MathTest, ErrorStaysInItsBound) { Check(10000); }

// Whatever a block's length and what else is in it, such as arguments that are served one by one,
// and in place.
TEST_P(F64MathTest, ElementsDependOnNothingElse) {
  const F64Function& c = GetParam();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const BlockFn function = Find(*kernels, c.op, CType::kF64);
    CheckUnaryOp<double, double>(*kernels, c.op, CType::kF64, Arguments(100), [&](double x) {
      double result;
      function(&result, &x, nullptr, nullptr, 1);
      return result;
    });
  }
}

// Many more arguments; prints the largest error when PJRT_TEST_PRINT_ULP is set.
TEST_P(F64MathTest, DISABLED_ManyArguments) { Check(2000000); }

INSTANTIATE_TEST_SUITE_P(Unary, F64MathTest, testing::ValuesIn(kF64Functions),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(F64BinaryMathTest, PowerAtan2AndRemainderFollowTheCLibrary) {
  const std::vector<double> arguments = Arguments(5000);
  std::vector<double> a, b;
  for (size_t i = 0; i < 43; ++i) {
    for (size_t j = 0; j < 43; ++j) {
      a.push_back(arguments[i]);
      b.push_back(arguments[j]);
    }
  }
  for (size_t i = 0; i + 3 < arguments.size(); ++i) {
    a.push_back(arguments[i]);
    b.push_back(arguments[i + 3]);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<double> power =
        CallBinary<double>(*kernels, BlockOp::kPower, CType::kF64, a, b);
    const std::vector<double> angle =
        CallBinary<double>(*kernels, BlockOp::kAtan2, CType::kF64, a, b);
    const std::vector<double> rest =
        CallBinary<double>(*kernels, BlockOp::kRemainder, CType::kF64, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(UlpError(power[i], powl(a[i], b[i])), 1.5)
          << kernels->level << " pow(" << a[i] << ", " << b[i] << ")";
      ASSERT_LE(UlpError(angle[i], atan2l(a[i], b[i])), 1.5)
          << kernels->level << " atan2(" << a[i] << ", " << b[i] << ")";
      ASSERT_TRUE(SameValue(rest[i], std::fmod(a[i], b[i])))
          << kernels->level << " fmod(" << a[i] << ", " << b[i] << ")";
    }
  }
}

TEST(F64BinaryMathTest, ElementsDependOnNothingElse) {
  const std::vector<double> a = Arguments(100);
  const std::vector<double> b(a.rbegin(), a.rend());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : {BlockOp::kPower, BlockOp::kAtan2, BlockOp::kRemainder}) {
      const BlockFn function = Find(*kernels, op, CType::kF64);
      CheckBinaryOp<double, double>(*kernels, op, CType::kF64, a, b, [&](double x, double y) {
        double result;
        function(&result, &x, &y, nullptr, 1);
        return result;
      });
    }
  }
}

// Quotients beside whole numbers, of all sizes, and of numbers that are denormal.
TEST(F64BinaryMathTest, RemaindersAreExact) {
  std::mt19937_64 random(13);
  std::uniform_real_distribution<double> unit(0.5, 1), any(-1, 1);
  std::uniform_int_distribution<int> bits(0, 60), exponent(-1074, 1020), few(0, 200);
  std::vector<double> x, y;
  for (int i = 0; i < 5000; ++i) {
    const double divisor = unit(random);
    const double multiple = divisor * std::floor(std::ldexp(unit(random), bits(random)));
    for (double near : {std::nextafter(multiple, 0.0), multiple, std::nextafter(multiple, 1e308)}) {
      x.push_back(near);
      y.push_back(-divisor);
    }
    x.push_back(std::ldexp(any(random), few(random)));
    y.push_back(divisor);
    x.push_back(std::ldexp(any(random), exponent(random)));
    y.push_back(std::ldexp(any(random), exponent(random)));
    x.push_back(std::ldexp(any(random), -1000 - bits(random)));
    y.push_back(std::ldexp(any(random), -1010 - bits(random)));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<double> rest =
        CallBinary<double>(*kernels, BlockOp::kRemainder, CType::kF64, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(SameValue(rest[i], std::fmod(x[i], y[i])))
          << kernels->level << " fmod(" << Show(x[i]) << ", " << Show(y[i]) << ")";
    }
    for (double divisor : {0.7, -3e-9, 1e-310, 0.0, std::numeric_limits<double>::infinity()}) {
      std::vector<double> by_one(x.size());
      Find(*kernels, BlockOp::kRemainder, CType::kF64, Scalars::kSecond)(
          by_one.data(), x.data(), &divisor, nullptr, static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_TRUE(SameValue(by_one[i], std::fmod(x[i], divisor))) << Show(x[i]);
    }
  }
}

// Angles of points of each quadrant, beside the joints of the approximation, on the axes and far
// out, mixed and by themselves.
TEST(F64BinaryMathTest, Atan2IsExactOnTheAxesAndCloseBetweenThem) {
  const double inf = std::numeric_limits<double>::infinity();
  const double landmarks[] = {0, 5e-324, 1e-308, 1e-160, 1e-150, 0.5,         1,
                              2, 1e150,  1e160,  1e308,  inf,    std::nan("")};
  std::vector<double> y, x;
  const auto add = [&](double height, double width) {
    for (double p : {height, -height}) {
      for (double q : {width, -width}) {
        y.push_back(p);
        x.push_back(q);
      }
    }
  };
  std::mt19937_64 random(9);
  std::uniform_real_distribution<double> unit(0.5, 1), beside(-0.01, 0.01);
  std::uniform_int_distribution<int> exponent(-520, 520);
  for (int i = 0; i < 20000; ++i) {
    const double width = unit(random);
    for (double slope : {0.0, 0.25, 0.75, 1.0, 4.0 / 3, 4.0}) {
      add((slope + beside(random)) * width, width);
    }
    add(unit(random), width);
    add(std::ldexp(unit(random), exponent(random)), std::ldexp(width, exponent(random)));
  }
  for (double p : landmarks) {
    for (double q : landmarks) add(p, q);
  }
  std::vector<std::vector<double>> results;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    std::vector<double> angles = CallBinary<double>(*kernels, BlockOp::kAtan2, CType::kF64, y, x);
    for (size_t i = 0; i < y.size(); ++i) {
      const long double expected = atan2l(y[i], x[i]);
      ASSERT_LE(UlpError(angles[i], expected), 1.5)
          << kernels->level << " atan2(" << Show(y[i]) << ", " << Show(x[i]) << ")";
      if (y[i] == 0 || x[i] == 0) {
        ASSERT_TRUE(SameValue(angles[i], std::atan2(y[i], x[i])))
            << kernels->level << " atan2(" << y[i] << ", " << x[i] << ")";
      }
    }
    for (double width : {1.0, -2.5, 0.0, -0.0, 1e-200, inf}) {
      const std::vector<double> same(1001, width);
      const std::vector<double> heights(y.end() - same.size(), y.end());
      const std::vector<double> blocks =
          CallBinary<double>(*kernels, BlockOp::kAtan2, CType::kF64, heights, same);
      std::vector<double> by_one(same.size());
      Find(*kernels, BlockOp::kAtan2, CType::kF64, Scalars::kSecond)(
          by_one.data(), heights.data(), &width, nullptr, static_cast<int64_t>(same.size()));
      for (size_t i = 0; i < same.size(); ++i) ASSERT_TRUE(SameValue(by_one[i], blocks[i]));
    }
    results.push_back(std::move(angles));
  }
  for (size_t level = 2; level < results.size(); ++level) {
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_TRUE(SameValue(results[level][i], results[1][i])) << y[i] << ", " << x[i];
  }
}

// Bases of all sizes whose powers are in the range, and the rules of C for what is not a number,
// infinite, zero or negative.
TEST(F64BinaryMathTest, PowersAreCloseAndThoseThatAreNumbersExact) {
  const double inf = std::numeric_limits<double>::infinity();
  const double landmarks[] = {0,
                              5e-324,
                              1e-308,
                              0.5,
                              0.75,
                              1,
                              1.5,
                              2,
                              3,
                              4,
                              1e15,
                              0x1p+52,
                              0x1p+53,
                              1e300,
                              1e308,
                              inf,
                              2.5,
                              0x1.fffffffffffffp+51,
                              0x1.fffffffffffffp+52,
                              0x1p+900,
                              std::nan("")};
  std::vector<double> x, y;
  const auto add = [&](double base, double exponent) {
    x.push_back(base);
    y.push_back(exponent);
  };
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(0.5, 1), log_of_result(-750, 715), beside(-1, 1);
  std::uniform_int_distribution<int> exponent(-1000, 1000), bits(0, 50), integer(-40, 40);
  for (int i = 0; i < 30000; ++i) {
    const double any = std::ldexp(unit(random), exponent(random));
    add(any, log_of_result(random) / std::log(any));
    const double near_one = 1 + std::ldexp(beside(random), -bits(random));
    add(near_one, near_one == 1 ? 3 : log_of_result(random) / std::log(near_one));
    add(beside(random) * 4, integer(random));
    add((1 + 0.1 * beside(random)) * std::sqrt(2.0), 2000 * beside(random));
  }
  const size_t ordinary = x.size();
  for (double p : landmarks) {
    for (double q : landmarks) {
      add(p, q);
      add(-p, q);
      add(p, -q);
      add(-p, -q);
    }
  }
  std::vector<std::vector<double>> results;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    std::vector<double> powers = CallBinary<double>(*kernels, BlockOp::kPower, CType::kF64, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      const long double expected = powl(x[i], y[i]);
      ASSERT_LE(UlpError(powers[i], expected), 1.5)
          << kernels->level << " pow(" << Show(x[i]) << ", " << Show(y[i]) << ")";
      const bool exact = expected == static_cast<double>(expected);
      if (exact) {
        ASSERT_TRUE(SameValue(powers[i], static_cast<double>(expected)))
            << kernels->level << " pow(" << Show(x[i]) << ", " << Show(y[i]) << ")";
      }
    }
    for (double exponent_of_all : {2.0, 3.0, 0.0, -1.0, -0.5, 2.25, inf, 0x1p+901}) {
      const std::vector<double> same(2001, exponent_of_all);
      for (size_t first : {size_t{0}, ordinary - same.size(), x.size() - same.size()}) {
        const std::vector<double> bases(x.begin() + first, x.begin() + first + same.size());
        const std::vector<double> blocks =
            CallBinary<double>(*kernels, BlockOp::kPower, CType::kF64, bases, same);
        std::vector<double> by_one(same.size());
        Find(*kernels, BlockOp::kPower, CType::kF64, Scalars::kSecond)(
            by_one.data(), bases.data(), &exponent_of_all, nullptr,
            static_cast<int64_t>(same.size()));
        for (size_t i = 0; i < same.size(); ++i) ASSERT_TRUE(SameValue(by_one[i], blocks[i]));
      }
    }
    results.push_back(std::move(powers));
  }
  for (size_t level = 2; level < results.size(); ++level) {
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(SameValue(results[level][i], results[1][i])) << x[i] << ", " << y[i];
  }
}

}  // namespace
}  // namespace pjrt::cpu
