// SPDX-License-Identifier: Apache-2.0
//
// Complex instructions, at each level: arithmetic by definition, functions against the C library's
// in long double.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class ComplexKernelsTest : public testing::Test {
 protected:
  using Number = std::complex<T>;

  // Numbers of moderate size, on the axes and of very different parts.
  ComplexKernelsTest() {
    std::mt19937 random(31);
    std::uniform_real_distribution<T> moderate(-5, 5), exponent(-30, 3);
    const std::vector<Number> landmarks = {{0, 0},  {1, 0},  {0, 1},     {-1, 0},
                                           {0, -1}, {2, -3}, {1, -T{0}}, {-T{0}, 2}};
    std::vector<Number> others;
    for (int i = 0; i < 600; ++i) {
      others.emplace_back(moderate(random), moderate(random));
      others.emplace_back(std::exp2(exponent(random)) * moderate(random), moderate(random));
      others.emplace_back(moderate(random), std::exp2(exponent(random)) * moderate(random));
    }
    operands_ = Pairs(landmarks, others);
  }

  template <typename R = Number, typename Expected>
  void Binary(BlockOp op, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckBinaryOp<R, Number>(*kernels, op, CTypeOf<Number>(), operands_.a, operands_.b, expected);
    }
  }
  template <typename R = Number, typename Expected>
  void Unary(BlockOp op, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckUnaryOp<R, Number>(*kernels, op, CTypeOf<Number>(), operands_.a, expected);
    }
  }

  // Each part within `max_ulp` of the expected one.
  template <typename Expected>
  void Near(const char* name, BlockOp op, double max_ulp, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const std::vector<Number> result =
          CallUnary<Number>(*kernels, op, CTypeOf<Number>(), operands_.a);
      for (size_t i = 0; i < result.size(); ++i) {
        const Number z = operands_.a[i];
        if (z == Number(0)) continue;
        const WideComplex want = expected(WideComplex(z.real(), z.imag()));
        EXPECT_LE(UlpError(result[i].real(), want.real()), max_ulp)
            << kernels->level << " " << name << Show(z) << " = " << Show(result[i]);
        EXPECT_LE(UlpError(result[i].imag(), want.imag()), max_ulp)
            << kernels->level << " " << name << Show(z) << " = " << Show(result[i]);
      }
    }
  }

  Operands<Number> operands_;
};

// In a block of all of them, and each as a block of its own.
template <typename R, typename A>
void CheckUnaryAloneAndTogether(const BlockKernels& kernels, BlockOp op, const std::vector<A>& a,
                                const std::vector<R>& expected) {
  const std::vector<R> all = CallUnary<R>(kernels, op, CTypeOf<A>(), a);
  for (size_t i = 0; i < a.size(); ++i) {
    const R alone = CallUnary<R>(kernels, op, CTypeOf<A>(), std::vector<A>{a[i]})[0];
    for (const R& result : {all[i], alone}) {
      EXPECT_TRUE(SameValue(result, expected[i]) || std::abs(result - expected[i]) < 1e-7)
          << kernels.level << Show(a[i]) << " gives " << Show(result) << ", expected "
          << Show(expected[i]);
    }
  }
}

TYPED_TEST_SUITE(ComplexKernelsTest, KernelFloats);

TYPED_TEST(ComplexKernelsTest, PartsAreTakenNegatedAndConjugated) {
  using T = TypeParam;
  using Z = std::complex<T>;
  this->Unary(BlockOp::kCopy, [](Z z) { return z; });
  this->Unary(BlockOp::kNegate, [](Z z) { return Z(-z.real(), -z.imag()); });
  this->Unary(BlockOp::kConj, [](Z z) { return Z(z.real(), -z.imag()); });
  this->template Unary<T>(BlockOp::kReal, [](Z z) { return z.real(); });
  this->template Unary<T>(BlockOp::kImag, [](Z z) { return z.imag(); });
}

TYPED_TEST(ComplexKernelsTest, SumsArePartByPartAndC64ProductsRoundOnce) {
  using T = TypeParam;
  using Z = std::complex<T>;
  this->Binary(BlockOp::kAdd, [](Z x, Z y) { return Z(x.real() + y.real(), x.imag() + y.imag()); });
  this->Binary(BlockOp::kSubtract,
               [](Z x, Z y) { return Z(x.real() - y.real(), x.imag() - y.imag()); });
  this->Binary(BlockOp::kMultiply, [](Z x, Z y) {
    const double a = x.real(), b = x.imag(), c = y.real(), d = y.imag();
    return Z(static_cast<T>(a * c - b * d), static_cast<T>(a * d + b * c));
  });
}

TYPED_TEST(ComplexKernelsTest, ComparisonIsLexicographic) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const auto less = [](Z x, Z y) {
    return x.real() < y.real() || (x.real() == y.real() && x.imag() < y.imag());
  };
  this->template Binary<uint8_t>(BlockOp::kCompareEq, [](Z x, Z y) { return uint8_t{x == y}; });
  this->template Binary<uint8_t>(BlockOp::kCompareNe, [](Z x, Z y) { return uint8_t{x != y}; });
  this->template Binary<uint8_t>(BlockOp::kCompareLt,
                                 [&](Z x, Z y) { return uint8_t{less(x, y)}; });
  this->template Binary<uint8_t>(BlockOp::kCompareGt,
                                 [&](Z x, Z y) { return uint8_t{less(y, x)}; });
  this->template Binary<uint8_t>(BlockOp::kCompareLe,
                                 [&](Z x, Z y) { return uint8_t{!less(y, x)}; });
  this->template Binary<uint8_t>(BlockOp::kCompareGe,
                                 [&](Z x, Z y) { return uint8_t{!less(x, y)}; });
  this->Binary(BlockOp::kMaximum, [&](Z x, Z y) { return less(x, y) ? y : x; });
  this->Binary(BlockOp::kMinimum, [&](Z x, Z y) { return less(y, x) ? y : x; });
}

TYPED_TEST(ComplexKernelsTest, ANanWinsMaximumAndMinimum) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<Z> a = {Z(nan, 1), Z(1, 2), Z(3, nan)}, b = {Z(1, 2), Z(2, nan), Z(9, 9)};
  const std::vector<Z> expected = {a[0], b[1], a[2]};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : {BlockOp::kMaximum, BlockOp::kMinimum}) {
      const std::vector<Z> result = CallBinary<Z>(*kernels, op, CTypeOf<Z>(), a, b);
      for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(SameValue(result[i], expected[i])) << kernels->level << i;
    }
  }
}

TYPED_TEST(ComplexKernelsTest, QuotientsNeitherOverflowNorLoseDigitsOnTheWay) {
  using T = TypeParam;
  using Z = std::complex<T>;
  std::vector<Z> a = this->operands_.a, b = this->operands_.b;
  const T huge = std::sqrt(std::numeric_limits<T>::max()) * 16, tiny = 1 / huge;
  for (T scale : {huge, tiny}) {
    for (Z z : {Z(1, 2), Z(-3, 1), Z(1, 0)}) {
      a.push_back(z * scale);
      b.push_back(Z(2, 5) * scale);
      a.push_back(z * scale);
      b.push_back(Z(2, -5));
    }
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallBinary<Z>(*kernels, BlockOp::kDivide, CTypeOf<Z>(), a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      if (b[i] == Z(0)) continue;
      const WideComplex want =
          WideComplex(a[i].real(), a[i].imag()) / WideComplex(b[i].real(), b[i].imag());
      // Relative to the whole number: a part may cancel.
      const WideComplex got(result[i].real(), result[i].imag());
      EXPECT_LE(std::abs(got - want), 3 * std::numeric_limits<T>::epsilon() * std::abs(want))
          << kernels->level << " " << Show(a[i]) << " / " << Show(b[i]) << " = " << Show(result[i]);
    }
  }
}

TYPED_TEST(ComplexKernelsTest, QuotientsOfZerosAndInfinitiesFollowAnnexG) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const T inf = std::numeric_limits<T>::infinity();
  const std::vector<Z> a = {Z(1, 2), Z(inf, 1), Z(3, 4), Z(-1, 0)},
                       b = {Z(0, 0), Z(1, 1), Z(inf, -inf), Z(-T{0}, 0)};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> q = CallBinary<Z>(*kernels, BlockOp::kDivide, CTypeOf<Z>(), a, b);
    EXPECT_EQ(q[0], Z(inf, inf)) << kernels->level;
    EXPECT_TRUE(std::isinf(q[1].real()) && q[1].real() > 0 && std::isinf(q[1].imag()) &&
                q[1].imag() < 0)
        << kernels->level << Show(q[1]);
    EXPECT_EQ(q[2], Z(0, 0)) << kernels->level;
    EXPECT_EQ(q[3].real(), inf) << kernels->level;
  }
}

TYPED_TEST(ComplexKernelsTest, FunctionsAreWithinThreeUlpOfTheExactParts) {
  this->Near("exp", BlockOp::kExp, 3, [](WideComplex z) { return std::exp(z); });
  this->Near("log", BlockOp::kLog, 3, [](WideComplex z) { return std::log(z); });
  this->Near("sqrt", BlockOp::kSqrt, 3, [](WideComplex z) { return std::sqrt(z); });
  this->Near("rsqrt", BlockOp::kRsqrt, 3,
             [](WideComplex z) { return WideComplex(1) / std::sqrt(z); });
  this->Near("sin", BlockOp::kSin, 3, [](WideComplex z) { return std::sin(z); });
  this->Near("cos", BlockOp::kCos, 3, [](WideComplex z) { return std::cos(z); });
  this->Near("tan", BlockOp::kTan, 3, [](WideComplex z) { return std::tan(z); });
  this->Near("tanh", BlockOp::kTanh, 3, [](WideComplex z) { return std::tanh(z); });
  this->Near("sign", BlockOp::kSign, 3, [](WideComplex z) { return z / std::abs(z); });
  // Beside the poles 1 + exp(-z) would lose the digits of both parts.
  this->Near("logistic", BlockOp::kLogistic, 3, [](WideComplex z) {
    const long double e = std::exp(-z.real()), less = std::expm1(-z.real());
    const long double cosine = std::cos(z.imag() / 2), more = 2 * e * cosine * cosine;
    return WideComplex(more - less, e * std::sin(z.imag())) / (less * less + 2 * more);
  });
  this->Near("cbrt", BlockOp::kCbrt, 3, [](WideComplex z) {
    if (z.imag() == 0 && z.real() > 0) return WideComplex(std::cbrt(z.real()), z.imag());
    return std::polar(std::cbrt(std::abs(z)), std::arg(z) / 3);
  });
  this->Near("expm1", BlockOp::kExpm1, 3, [](WideComplex z) {
    const long double sine = std::sin(z.imag() / 2);
    return WideComplex(std::expm1(z.real()) * std::cos(z.imag()) - 2 * sine * sine,
                       std::exp(z).imag());
  });
  this->Near("log1p", BlockOp::kLog1p, 3, [](WideComplex z) {
    const long double excess = 2 * z.real() + z.real() * z.real() + z.imag() * z.imag();
    const long double real = z == WideComplex(-1) ? -std::numeric_limits<long double>::infinity()
                                                  : std::log1p(excess) / 2;
    return WideComplex(real, std::atan2(z.imag(), 1 + z.real()));
  });
}

TYPED_TEST(ComplexKernelsTest, AbsIsTheHypotenuseWithoutOverflow) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const T large = std::numeric_limits<T>::max() / 8,
          small = std::numeric_limits<T>::denorm_min() * 1024;
  const std::vector<Z> z = {Z(3, -4), Z(3 * large, 4 * large), Z(3 * small, 4 * small), Z(0, -2),
                            Z(-T{0}, T{0})};
  const std::vector<T> expected = {5, 5 * large, 5 * small, 2, 0};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<T> result = CallUnary<T>(*kernels, BlockOp::kAbs, CTypeOf<Z>(), z);
    for (size_t i = 0; i < z.size(); ++i)
      EXPECT_LE(UlpError(result[i], expected[i]), 1) << kernels->level << Show(z[i]);
  }
}

// As C's hypot has it: whatever the other part is, NaN included.
TYPED_TEST(ComplexKernelsTest, AbsIsInfiniteWhereAPartIs) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<Z> z;
  std::vector<T> expected;
  for (const T x : {T{0}, -T{0}, T{1}, -T{1}, inf, -inf, nan}) {
    for (const T y : {inf, -inf, nan}) {
      for (const Z& number : {Z(x, y), Z(y, x)}) {
        z.push_back(number);
        expected.push_back(std::isinf(x) || std::isinf(y) ? inf : nan);
      }
    }
  }
  for (const BlockKernels* kernels : SupportedBlockKernels())
    CheckUnaryAloneAndTogether<T>(*kernels, BlockOp::kAbs, z, expected);
}

// exp(x) cos y + i exp(x) sin y, and an exact zero of a zero: the StableHLO suite's values, where
// C's cexp has zeros for exp(-inf +- i inf) and infinities for exp(inf +- i inf).
TYPED_TEST(ComplexKernelsTest, ExponentialsOfInfinitiesAndNanFollowTheFormula) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<Z> z, expected;
  for (const T x : {T{0}, -T{0}, inf, -inf, nan}) {
    for (const T y : {T{0}, -T{0}, T{1}, -T{1}, inf, -inf, nan}) {
      const T size = std::exp(x);
      z.emplace_back(x, y);
      expected.emplace_back(size * std::cos(y), y == 0 ? y : size * std::sin(y));
    }
  }
  for (const BlockKernels* kernels : SupportedBlockKernels())
    CheckUnaryAloneAndTogether<Z>(*kernels, BlockOp::kExp, z, expected);
}

TYPED_TEST(ComplexKernelsTest, PowersFollowTheLogarithmAndTheRulesOfZero) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const std::vector<Z> a = {Z(0, 0), Z(0, 0), Z(1, 2), Z(-2, 0), Z(0, 1), Z(3, -1), Z(2, 0)};
  const std::vector<Z> b = {Z(0, 0), Z(2, 1), Z(1, 0), Z(2, 0), Z(0, 1), Z(T(0.5), -2), Z(-3, 0)};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> p = CallBinary<Z>(*kernels, BlockOp::kPower, CTypeOf<Z>(), a, b);
    EXPECT_EQ(p[0], Z(1, 0)) << kernels->level;
    EXPECT_EQ(p[1], Z(0, 0)) << kernels->level;
    EXPECT_EQ(p[2], a[2]) << kernels->level;
    for (size_t i = 3; i < a.size(); ++i) {
      const WideComplex want = std::exp(WideComplex(b[i].real(), b[i].imag()) *
                                        std::log(WideComplex(a[i].real(), a[i].imag())));
      EXPECT_LE(std::abs(WideComplex(p[i].real(), p[i].imag()) - want),
                2 * std::numeric_limits<T>::epsilon() * std::abs(want))
          << kernels->level << " " << Show(a[i]) << " ^ " << Show(b[i]) << " = " << Show(p[i]);
    }
  }
}

TYPED_TEST(ComplexKernelsTest, ArcTangentOfRealQuotientsKeepsTheQuadrant) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const std::vector<Z> y = {Z(1, 0), Z(1, 0), Z(-1, 0), Z(-1, 0)},
                       x = {Z(1, 0), Z(-1, 0), Z(1, 0), Z(-1, 0)};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> angle = CallBinary<Z>(*kernels, BlockOp::kAtan2, CTypeOf<Z>(), y, x);
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_LE(UlpError(angle[i].real(), std::atan2(static_cast<long double>(y[i].real()),
                                                     static_cast<long double>(x[i].real()))),
                3);
      EXPECT_NEAR(angle[i].imag(), 0, 1e-6);
    }
  }
}

TYPED_TEST(ComplexKernelsTest, ArcTangentOfQuotientsIsNearTheTurnedLogarithmOfTheirDirection) {
  using T = TypeParam;
  using Z = std::complex<T>;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z>&y = this->operands_.a, &x = this->operands_.b;
    const std::vector<Z> angle = CallBinary<Z>(*kernels, BlockOp::kAtan2, CTypeOf<Z>(), y, x);
    for (size_t i = 0; i < y.size(); ++i) {
      const WideComplex wide_y(y[i].real(), y[i].imag()), wide_x(x[i].real(), x[i].imag());
      const WideComplex squares = wide_x * wide_x + wide_y * wide_y;
      const WideComplex direction = wide_x + WideComplex(0, 1) * wide_y;
      // Near the poles at x = +-iy most digits of the squares cancel; on the axes are cuts, whose
      // side the sign of zero tells.
      const bool on_axis =
          y[i].real() == 0 || y[i].imag() == 0 || x[i].real() == 0 || x[i].imag() == 0;
      if (on_axis || std::abs(squares) < 1e-2L * std::norm(wide_x)) continue;
      const WideComplex want = WideComplex(0, -1) * std::log(direction / std::sqrt(squares));
      EXPECT_LE(std::abs(WideComplex(angle[i].real(), angle[i].imag()) - want),
                4 * std::numeric_limits<T>::epsilon() * std::abs(want))
          << kernels->level << " atan2(" << Show(y[i]) << ", " << Show(x[i])
          << ") = " << Show(angle[i]);
    }
  }
}

// Both sides of the cuts along the negative real axis, told apart by the sign of zero.
TYPED_TEST(ComplexKernelsTest, TheSignOfZeroChoosesTheSideOfABranchCut) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const std::vector<Z> z = {Z(-4, T{0}), Z(-4, -T{0})};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> root = CallUnary<Z>(*kernels, BlockOp::kSqrt, CTypeOf<Z>(), z);
    EXPECT_EQ(root[0], Z(0, 2)) << kernels->level;
    EXPECT_EQ(root[1], Z(0, -2)) << kernels->level;
    const std::vector<Z> log = CallUnary<Z>(*kernels, BlockOp::kLog, CTypeOf<Z>(), z);
    EXPECT_GT(log[0].imag(), 3) << kernels->level;
    EXPECT_LT(log[1].imag(), -3) << kernels->level;
    const std::vector<Z> log1p = CallUnary<Z>(*kernels, BlockOp::kLog1p, CTypeOf<Z>(), z);
    EXPECT_GT(log1p[0].imag(), 3) << kernels->level;
    EXPECT_LT(log1p[1].imag(), -3) << kernels->level;
  }
}

TYPED_TEST(ComplexKernelsTest, InfinitiesAndZerosGiveTheLimitsOfTheFunctions) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const T inf = std::numeric_limits<T>::infinity();
  struct {
    BlockOp op;
    Z z, expected;
  } const cases[] = {
      {BlockOp::kExp, Z(-inf, 1), Z(0, 0)},        {BlockOp::kExp, Z(0, 0), Z(1, 0)},
      {BlockOp::kExp, Z(inf, 0), Z(inf, 0)},       {BlockOp::kLog, Z(0, 0), Z(-inf, 0)},
      {BlockOp::kLog1p, Z(-1, 0), Z(-inf, 0)},     {BlockOp::kLog1p, Z(0, 0), Z(0, 0)},
      {BlockOp::kExpm1, Z(0, 0), Z(0, 0)},         {BlockOp::kExpm1, Z(-inf, 0), Z(-1, 0)},
      {BlockOp::kSqrt, Z(inf, 1), Z(inf, 0)},      {BlockOp::kSqrt, Z(0, 0), Z(0, 0)},
      {BlockOp::kRsqrt, Z(inf, 0), Z(0, 0)},       {BlockOp::kTanh, Z(inf, 1), Z(1, 0)},
      {BlockOp::kLogistic, Z(0, 0), Z(T(0.5), 0)}, {BlockOp::kLogistic, Z(-inf, 0), Z(0, 0)},
      {BlockOp::kLogistic, Z(100, 0), Z(1, 0)},    {BlockOp::kCbrt, Z(0, 0), Z(0, 0)},
      {BlockOp::kCbrt, Z(8, 0), Z(2, 0)},          {BlockOp::kSign, Z(0, 0), Z(0, 0)},
  };
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (const auto& c : cases) {
      const Z result = CallUnary<Z>(*kernels, c.op, CTypeOf<Z>(), std::vector<Z>{c.z})[0];
      EXPECT_EQ(result, c.expected)
          << kernels->level << " op " << static_cast<int>(c.op) << " of " << Show(c.z);
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
