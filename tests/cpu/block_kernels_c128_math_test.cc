// SPDX-License-Identifier: Apache-2.0
//
// Functions of c128 where digits are easily lost. References are the C library's in long double.
#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/element_values.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// Beside the poles and zeros at multiples of pi/2, for tiny parts, and where the imaginary part
// vanishes beside 1; angles as large as vectors take, and larger.
TEST(C128MathTest, TangentsAreWithinTwoUlpEverywhere) {
  using Z = std::complex<double>;
  using LongZ = std::complex<long double>;
  std::mt19937_64 random(17);
  std::uniform_real_distribution<double> part(-1, 1), exponent(-300, 0), height(-40, 2);
  std::vector<Z> z = {Z(0, 0),      Z(-0.0, -0.0), Z(0, -0.0),      Z(5e-324, 1), Z(1, 5e-324),
                      Z(0, 1e-310), Z(350, 1),     Z(-373.5, -2.5), Z(1e299, 1),  Z(0.5, 0x1p+20)};
  for (int i = 0; i < 3000; ++i) {
    const double multiple = 1.5707963267948966 * (i % 40 - 20);
    z.emplace_back(std::exp2(height(random)) * part(random), multiple);
    z.emplace_back(std::exp2(height(random)), multiple * (1 + std::exp2(height(random))));
    z.emplace_back(std::pow(10, exponent(random)), part(random) * std::pow(10, exponent(random)));
    z.emplace_back(part(random) * 360, part(random) * 10);
    z.emplace_back(part(random) * 2, part(random) * 0x1p+21);
  }
  std::vector<Z> turned;
  for (const Z& x : z) turned.emplace_back(-x.imag(), x.real());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const auto check = [&](BlockOp op, const std::vector<Z>& x, LongZ (*expected)(const LongZ&)) {
      const std::vector<Z> result = CallUnary<Z>(*kernels, op, CType::kC128, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const LongZ want = expected(LongZ(x[i].real(), x[i].imag()));
        EXPECT_LE(UlpError(result[i].real(), want.real()), 2) << kernels->level << Show(x[i]);
        EXPECT_LE(UlpError(result[i].imag(), want.imag()), 2) << kernels->level << Show(x[i]);
        EXPECT_EQ(std::signbit(result[i].real()), std::signbit(want.real())) << Show(x[i]);
        EXPECT_EQ(std::signbit(result[i].imag()), std::signbit(want.imag())) << Show(x[i]);
      }
    };
    check(BlockOp::kTanh, z, [](const LongZ& x) { return std::tanh(x); });
    check(BlockOp::kTan, turned, [](const LongZ& x) { return std::tan(x); });
  }
}

// Beside the poles at odd multiples of pi i, where the imaginary part is tiny and where exp(x)
// underflows. Left of 0 the real part may cancel.
TEST(C128MathTest, LogisticIsWithinTwoUlpWhereNothingCancels) {
  using Z = std::complex<double>;
  std::mt19937_64 random(23);
  std::uniform_real_distribution<double> part(-1, 1), height(-50, 0);
  std::vector<Z> z = {Z(0, 0), Z(5e-324, 1), Z(1e-310, 5e-324), Z(710, 1), Z(-744, 2), Z(1e9, -3)};
  for (int i = 0; i < 2000; ++i) {
    const double pole = 3.141592653589793 * (2 * (i % 20) - 19);
    z.emplace_back(std::exp2(height(random)) * part(random), pole + std::exp2(height(random)));
    z.emplace_back(std::exp2(height(random)) * part(random), pole);
    z.emplace_back(part(random) * 800, part(random) * 10);
    z.emplace_back(part(random) * 3, part(random) * 0x1p+21);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallUnary<Z>(*kernels, BlockOp::kLogistic, CType::kC128, z);
    for (size_t i = 0; i < z.size(); ++i) {
      // u = exp(-|x|) and v = 1 - u; over the square of 1 + exp(-|x| - iy).
      const long double x = std::fabs(z[i].real()), y = z[i].imag();
      const long double u = std::exp(-x), v = -std::expm1(-x), c = std::cos(y / 2);
      const long double divisor = v * v + 4 * u * c * c;
      EXPECT_LE(UlpError(result[i].imag(), 2 * u * std::sin(y / 2) * c / divisor), 2)
          << kernels->level << Show(z[i]);
      EXPECT_EQ(std::signbit(result[i].imag()), std::signbit(std::sin(y))) << Show(z[i]);
      if (z[i].real() < 0) continue;
      EXPECT_LE(UlpError(result[i].real(), (v + 2 * u * c * c) / divisor), 2)
          << kernels->level << Show(z[i]);
    }
  }
}

// Where a 32nd is left of the terms of a real part.
TEST(C128MathTest, RealPartsOfWhichSomethingIsLeftKeepTheirDigits) {
  using Z = std::complex<double>;
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<Z> z = {Z(31.82285406092786, -435.11058252218635), Z(2.3133, 1.47218)};
  for (int i = 0; i < 20000; ++i) {
    const double x = i % 3 == 0 ? 36 * part(random) : i % 3 == 1 ? 3 * part(random) : 0.1;
    const double cosine = std::min(1.0, 3 * part(random) * std::exp(-x));
    const double turns = 6.283185307179586 * (i % 40 - 20);
    z.emplace_back(x, turns + (i % 2 == 0 ? 1 : -1) * std::acos(cosine));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const auto unary = [&](BlockOp op, const std::vector<Z>& x) {
      return CallUnary<Z>(*kernels, op, CType::kC128, x);
    };
    const std::vector<Z> less = unary(BlockOp::kExpm1, z);
    std::vector<Z> left;  // of the poles: exp(x) + cos y is small
    for (const Z& x : z) left.emplace_back(-x.real(), 3.141592653589793 - x.imag());
    const std::vector<Z> logistic = unary(BlockOp::kLogistic, left);
    for (size_t i = 0; i < z.size(); ++i) {
      const long double term = std::exp(static_cast<long double>(z[i].real())) *
                               std::cos(static_cast<long double>(z[i].imag()));
      if (std::fabs(term - 1) * 32 >= std::max(1.0L, std::fabs(term))) {
        EXPECT_LE(UlpError(less[i].real(), term - 1), 3) << kernels->level << Show(z[i]);
      }
      const long double u = std::exp(static_cast<long double>(left[i].real()));
      const long double c = std::cos(static_cast<long double>(left[i].imag()));
      if (std::fabs(u + c) * 32 >= std::max(u, std::fabs(c))) {
        EXPECT_LE(UlpError(logistic[i].real(), u * (u + c) / (1 + u * (u + 2 * c))), 3)
            << kernels->level << Show(left[i]);
      }
    }
    EXPECT_NEAR(unary(BlockOp::kExpm1, {Z(694, 1)})[0].real() / 1.3583361591878354e301, 1, 1e-15)
        << kernels->level;
    // An angle that is a denormal number over a tiny one; x + y^2 / 2 of tiny parts.
    EXPECT_NEAR(unary(BlockOp::kLog, {Z(0x1p-300, 0x1.000001p-1050)})[0].imag() / 0x1.000001p-750,
                1, 1e-15)
        << kernels->level;
    EXPECT_EQ(unary(BlockOp::kLog1p, {Z(-0x1p-877, 0x1.0000001p-438)})[0].real(),
              0x1p-904 + 0x1p-933)
        << kernels->level;
  }
}

// From the smallest numbers to the largest, and with parts of very different sizes.
TEST(C128MathTest, RootsAreWithinTwoUlp) {
  using Z = std::complex<double>;
  std::mt19937_64 random(29);
  std::uniform_real_distribution<double> mantissa(1, 2), exponent(-500, 500), less(-400, 0);
  std::vector<Z> z;
  for (int i = 0; i < 8000; ++i) {
    const double large = std::ldexp(mantissa(random), static_cast<int>(exponent(random)));
    const double scale =
        i % 3 == 0 ? mantissa(random) : std::exp2(less(random) / (i % 3 * 20 - 19));
    const double x = i % 8 < 4 ? large : large * scale, y = i % 8 < 4 ? large * scale : large;
    z.emplace_back(i % 4 < 2 ? x : -x, i % 2 == 0 ? y : -y);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> cbrt = CallUnary<Z>(*kernels, BlockOp::kCbrt, CType::kC128, z);
    const std::vector<Z> rsqrt = CallUnary<Z>(*kernels, BlockOp::kRsqrt, CType::kC128, z);
    const std::vector<Z> sqrt = CallUnary<Z>(*kernels, BlockOp::kSqrt, CType::kC128, z);
    const std::vector<Z> sign = CallUnary<Z>(*kernels, BlockOp::kSign, CType::kC128, z);
    // Levels without fused multiply-add divide by rounded sizes.
    const double bound = std::string(kernels->level) == "baseline" ? 3 : 2;
    for (size_t i = 0; i < z.size(); ++i) {
      const long double x = z[i].real(), y = z[i].imag(), size = std::hypot(x, y);
      const long double root = std::cbrt(size), angle = std::atan2(y, x) / 3;
      EXPECT_LE(UlpError(cbrt[i].real(), root * std::cos(angle)), 2)
          << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(cbrt[i].imag(), root * std::sin(angle)), 2)
          << kernels->level << Show(z[i]);
      const long double large = std::sqrt((size + std::fabs(x)) / 2);
      const long double small = std::fabs(y) / (2 * large);
      const long double im = std::copysign(x < 0 ? large : small, -y);
      EXPECT_LE(UlpError(rsqrt[i].real(), (x < 0 ? small : large) / size), 2)
          << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(rsqrt[i].imag(), im / size), 2) << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(sqrt[i].real(), x < 0 ? small : large), bound)
          << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(sqrt[i].imag(), -im), bound) << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(sign[i].real(), x / size), bound) << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(sign[i].imag(), y / size), bound) << kernels->level << Show(z[i]);
    }
  }
}

TEST(C128MathTest, ExponentialMinusOneLeavesZerosAsTheyAreAmongOthers) {
  using Z = std::complex<double>;
  const Z others[] = {{0.5, 0.25}, {1e-20, 1e-10}, {0, 1e-170}, {-1, 0},
                      {0, 3},      {-0.0, 0.5},    {800, 1},    {0x1p-40, 0}};
  std::vector<Z> z;
  for (int i = 0; i < 400; ++i) {
    z.emplace_back(i % 2 == 0 ? 0.0 : -0.0, i % 4 < 2 ? 0.0 : -0.0);
    if (i > 100 && i % 3 == 0) z.push_back(others[i / 3 % 8]);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> all = CallUnary<Z>(*kernels, BlockOp::kExpm1, CType::kC128, z);
    for (size_t i = 0; i < z.size(); ++i) {
      const Z alone =
          CallUnary<Z>(*kernels, BlockOp::kExpm1, CType::kC128, std::vector<Z>{z[i]})[0];
      EXPECT_TRUE(SameValue(all[i], alone)) << kernels->level << Show(z[i]);
      if (z[i] == 0.0) {
        EXPECT_TRUE(SameValue(all[i], z[i])) << kernels->level << Show(z[i]);
      }
    }
  }
}

// Some of them go a longer way than others in the same vectors.
TEST(C128MathTest, TangentsAndLogisticFunctionsDoNotDependOnTheirNeighbours) {
  using Z = std::complex<double>;
  const double parts[] = {0,    -0.0, 5e-324, 1e-200, 0.011, 0.15, -0.3,  1.5707963267948966,
                          3.14, -3.2, 100,    -339.5, 341,   700,  -1e6,  0x1p+19,
                          1e9,  1e19, 1e300,  -1e308, kInf,  kNan, -kInf, -kNan};
  std::mt19937_64 random(37);
  std::uniform_real_distribution<double> part(-3, 3);
  std::vector<Z> z;
  for (const double re : parts) {
    for (const double im : parts) {
      z.emplace_back(re, im);
      for (int i = 0; i < 6; ++i) z.emplace_back(part(random), part(random));
    }
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : {BlockOp::kTanh, BlockOp::kTan, BlockOp::kLogistic}) {
      const std::vector<Z> all = CallUnary<Z>(*kernels, op, CType::kC128, z);
      for (size_t i = 0; i < z.size(); ++i) {
        const Z alone = CallUnary<Z>(*kernels, op, CType::kC128, std::vector<Z>{z[i]})[0];
        EXPECT_TRUE(SameValue(all[i], alone))
            << kernels->level << " op " << static_cast<int>(op) << " of " << Show(z[i]);
        if (op == BlockOp::kLogistic) continue;
        const Z turned = CallUnary<Z>(*kernels, op, CType::kC128, std::vector<Z>{-z[i]})[0];
        EXPECT_TRUE(SameValue(-turned, alone)) << kernels->level << Show(z[i]);
      }
    }
  }
}

// Beside the ends of what groups of vectors take in f32.
TEST(C128MathTest, RootsDoNotDependOnTheirNeighboursWhereSquaresLeaveTheRangeOfF32) {
  using Z = std::complex<double>;
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> mantissa(1, 2), near(-64, -48), far(52, 68);
  std::vector<Z> z;
  for (int i = 0; i < 4000; ++i) {
    const auto part = [&] {
      const double exponent = i % 2 == 0 ? near(random) : far(random);
      return std::ldexp(mantissa(random), static_cast<int>(exponent));
    };
    const double re = part();
    z.emplace_back(re, i % 7 == 0 ? 0 : i % 5 == 0 ? part() * 0x1p-500 : part());
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : {BlockOp::kSqrt, BlockOp::kRsqrt, BlockOp::kCbrt, BlockOp::kSign}) {
      const std::vector<Z> all = CallUnary<Z>(*kernels, op, CType::kC128, z);
      for (size_t i = 0; i < z.size(); ++i) {
        const Z alone = CallUnary<Z>(*kernels, op, CType::kC128, std::vector<Z>{z[i]})[0];
        EXPECT_TRUE(SameValue(all[i], alone))
            << kernels->level << " op " << static_cast<int>(op) << " of " << Show(z[i]);
      }
    }
  }
}

// The angle of (x, y) is that of (kx, ky).
TEST(C128MathTest, ArcTangentsDoNotDependOnTheSizeOfBothOperands) {
  using Z = std::complex<double>;
  std::mt19937 random(19);
  std::normal_distribution<double> normal;
  std::vector<Z> y, x;
  for (int i = 0; i < 2000; ++i) {
    y.emplace_back(normal(random), i % 5 == 0 ? 0 : normal(random));
    x.emplace_back(normal(random), i % 3 == 0 ? 0 : normal(random));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> want = CallBinary<Z>(*kernels, BlockOp::kAtan2, CType::kC128, y, x);
    for (const double scale : {0x1p-395, 0x1p-360, 0x1p-200, 0x1p+200, 0x1p+345, 0x1p+395}) {
      std::vector<Z> scaled_y, scaled_x;
      for (const Z& z : y) scaled_y.push_back(z * scale);
      for (const Z& z : x) scaled_x.push_back(z * scale);
      const std::vector<Z> got =
          CallBinary<Z>(*kernels, BlockOp::kAtan2, CType::kC128, scaled_y, scaled_x);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(UlpError(got[i].real(), static_cast<long double>(want[i].real())), 2)
            << kernels->level << Show(y[i]) << Show(x[i]) << scale;
        EXPECT_LE(UlpError(got[i].imag(), static_cast<long double>(want[i].imag())), 2)
            << kernels->level << Show(y[i]) << Show(x[i]) << scale;
      }
    }
  }
}

// Where x + iy is small beside x - iy, or opposite, from a half to nothing but last digits of x and
// y, and where y is all but perpendicular to x; among others that are far from there.
TEST(C128MathTest, ArcTangentsKeepTheirDigitsNearPolesAndTheAxis) {
  using Z = std::complex<double>;
  std::mt19937_64 random(43);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> exponent(-56, 0);
  for (const double scale : {1.0, 0x1p-400, 0x1p+440}) {
    std::vector<Z> y, x;
    for (int i = 0; i < 6000; ++i) {
      const Z point(normal(random), normal(random));
      const Z off = std::exp2(exponent(random)) * Z(normal(random), normal(random));
      const Z pole = (i % 2 == 0 ? 1.0 : -1.0) * Z(-point.imag(), point.real());
      // Of numbers of a few digits, whose products long double holds.
      const auto few = [](Z z) {
        return Z(static_cast<float>(z.real()), static_cast<float>(z.imag()));
      };
      const bool across = i % 4 == 2;
      x.push_back(scale * (across ? few(point) : point));
      y.push_back(scale * (i % 3 == 0 ? off
                           : across   ? few(normal(random) * pole + off)
                                      : pole + off));
    }
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const std::vector<Z> angle = CallBinary<Z>(*kernels, BlockOp::kAtan2, CType::kC128, y, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const WideComplex wide_y = WideComplex(y[i] / scale), wide_x = WideComplex(x[i] / scale);
        const WideComplex p = wide_x + WideComplex(0, 1) * wide_y,
                          m = wide_x - WideComplex(0, 1) * wide_y;
        if (p == 0.0L || m == 0.0L) continue;
        const long double sine = p.imag() * m.real() - p.real() * m.imag();
        const long double cosine = p.real() * m.real() + p.imag() * m.imag();
        const long double one = p.real() * std::fabs(m.imag()),
                          other = m.real() * std::fabs(p.imag());
        const long double half =
            std::atan2(i % 4 == 2 ? 2 * (wide_x * std::conj(wide_y)).real() : sine, cosine) / 2;
        const long double turned = half - std::copysign(std::acos(-1.0L), half);
        const long double angle_want = one + other < 0 ? turned : half;
        // Else few digits of what is wanted are known.
        const bool known =
            i % 4 == 2 || (std::fabs(angle_want) > 0x1p-6L &&
                           std::fabs(sine) > 0x1p-20L * std::fabs(p.imag() * m.real()));
        if (known && half != 0 && std::fabs(one + other) > std::fabs(one) * 0x1p-30L) {
          EXPECT_LE(UlpError(angle[i].real(), angle_want), 3)
              << kernels->level << Show(y[i]) << Show(x[i]);
        }
        const long double first = wide_x.real() * wide_y.imag();
        const long double second = wide_x.imag() * wide_y.real(), t = first - second;
        if (std::fabs(t) * 32 < std::fabs(first)) continue;
        const long double less = std::min(std::norm(p), std::norm(m));
        const long double want = std::log1p(4 * std::fabs(t) / less) / 4;
        EXPECT_LE(UlpError(angle[i].imag(), std::copysign(want, t)), 3)
            << kernels->level << Show(y[i]) << Show(x[i]);
      }
    }
  }
}

// Imaginary parts so small beside the real ones that their quotient is a denormal.
TEST(C128MathTest, TinyImaginaryPartsKeepTheirDigits) {
  using Z = std::complex<double>;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const auto unary = [&](BlockOp op, Z z) {
      return CallUnary<Z>(*kernels, op, CType::kC128, std::vector<Z>{z})[0].imag();
    };
    const auto power = [&](Z a, Z b) {
      return CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC128, std::vector<Z>{a},
                           std::vector<Z>{b})[0]
          .imag();
    };
    // im / (3 re^(2/3)), -im / (2 re^(3/2)), n re^(n-1) im
    EXPECT_NEAR(unary(BlockOp::kCbrt, Z(1e120, 1e-200)) / (1e-280 / 3), 1, 1e-15) << kernels->level;
    EXPECT_NEAR(unary(BlockOp::kCbrt, Z(1e120, 1e-204)) / (1e-284 / 3), 1, 1e-15) << kernels->level;
    EXPECT_NEAR(unary(BlockOp::kRsqrt, Z(1e-8, 1e-318)) / -0.5e-306, 1, 1e-5) << kernels->level;
    EXPECT_EQ(unary(BlockOp::kSqrt, Z(0.0625, -0x1p-1074)), -0x1p-1073) << kernels->level;
    EXPECT_NEAR(power(Z(1e120, 1e-200), Z(2, 0)) / 2e-80, 1, 1e-14) << kernels->level;
    EXPECT_NEAR(power(Z(1e100, 1e-230), Z(3, 0)) / 3e-30, 1, 1e-14) << kernels->level;
  }
}

// Of so large or small ones squares, or what their inverses are made of, leave the range.
TEST(C128MathTest, PowersOfHugeAndTinyNumbersKeepTheirDigits) {
  using Z = std::complex<double>;
  const Z b(0.25, 0.125);
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int exponent = -1000; exponent <= 1000; ++exponent) {
      const double size = std::ldexp(1.5, exponent);
      for (const Z a : {Z(size, size / -2), Z(size, 0), Z(0, -size)}) {
        const Z p = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC128, std::vector<Z>{a},
                                  std::vector<Z>{b})[0];
        const WideComplex want = std::exp(WideComplex(b) * std::log(WideComplex(a)));
        EXPECT_LE(std::abs(WideComplex(p) - want), 0x1p-51L * std::abs(want))
            << kernels->level << Show(a);
      }
    }
  }
}

// Wherever the exponent's products lie between the entries of tables.
TEST(C128MathTest, PowersOfModerateNumbersAreWithinOneUlpOfTheirSize) {
  using Z = std::complex<double>;
  std::mt19937_64 random(39);
  std::uniform_real_distribution<double> part(-1, 1), size(-2, 2), many(0, 6);
  std::vector<Z> a, b;
  for (int i = 0; i < 8000; ++i) {
    a.push_back(std::exp2(size(random)) * Z(part(random), part(random)));
    b.push_back(std::exp2(many(random)) * Z(part(random), i % 4 == 0 ? 0 : part(random)));
    if (i % 8 == 0) a.back().imag(std::copysign(0, part(random)));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> p = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC128, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const WideComplex want = std::exp(WideComplex(b[i]) * std::log(WideComplex(a[i])));
      EXPECT_LE(std::abs(WideComplex(p[i]) - want), 0x1p-52L * std::abs(want))
          << kernels->level << Show(a[i]) << " ^ " << Show(b[i]);
    }
  }
}

// Logarithms that are small and known to many digits, so that exponents may be large.
TEST(C128MathTest, LargePowersOfNumbersNearOneKeepTheirDigits) {
  using Z = std::complex<double>;
  std::mt19937_64 random(37);
  std::uniform_real_distribution<double> part(-1, 1), exponent(-10, -1);
  std::vector<Z> a, b;
  for (int i = 0; i < 4000; ++i) {
    const double scale = std::exp2(exponent(random));
    a.push_back(1.0 + scale * Z(part(random), part(random)));
    b.push_back(100 * part(random) / std::abs(std::log(a.back())) * Z(part(random), part(random)));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> p = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC128, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const WideComplex want = std::exp(WideComplex(b[i].real(), b[i].imag()) *
                                        std::log(WideComplex(a[i].real(), a[i].imag())));
      EXPECT_LE(std::abs(WideComplex(p[i].real(), p[i].imag()) - want), 0x1p-48L * std::abs(want))
          << kernels->level << Show(a[i]) << " ^ " << Show(b[i]);
    }
  }
}

// Numbers that are whole, of which 1 is one that instructions tell from other positive ones, and
// of parts of one size. AVX2 and AVX-512 give the same bits.
TEST(C128MathTest, PowersAndArcTangentsOfWholePartsAreOnTheRightSide) {
  using Z = std::complex<double>;
  const double parts[] = {1, -1, 2, -2, 1e-5, -1e-30, 0.5, -0.5};
  std::vector<Z> a, b, real_a, real_b;
  for (int i = 0; i < 8 * 8 * 8 * 8; ++i) {
    a.emplace_back(parts[i % 8], parts[i / 8 % 8]);
    b.emplace_back(parts[i / 64 % 8], parts[i / 512]);
    real_a.emplace_back(a[i].real(), 1e-100);
    real_b.emplace_back(b[i].real(), 1e-100);
  }
  std::vector<Z> of_vectors;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> power = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC128, a, b);
    const std::vector<Z> angle =
        CallBinary<Z>(*kernels, BlockOp::kAtan2, CType::kC128, real_a, real_b);
    for (size_t i = 0; i < a.size(); ++i) {
      const WideComplex want = std::exp(WideComplex(b[i]) * std::log(WideComplex(a[i])));
      EXPECT_LE(std::abs(WideComplex(power[i]) - want), 4e-15L * std::abs(want))
          << kernels->level << Show(a[i]) << Show(b[i]);
      EXPECT_NEAR(angle[i].real(), std::atan2(a[i].real(), b[i].real()), 4e-15)
          << kernels->level << Show(real_a[i]) << Show(real_b[i]);
      if (!of_vectors.empty()) {
        EXPECT_TRUE(SameValue(power[i], of_vectors[i])) << Show(a[i]) << Show(b[i]);
      }
    }
    if (std::string_view(kernels->level) != "baseline") of_vectors = power;
  }
}

// Where one element of many, or the sum of all, may be beyond what vectors take.
TEST(C128MathTest, PowersAndArcTangentsDoNotDependOnTheirNeighbours) {
  using Z = std::complex<double>;
  std::mt19937_64 random(41);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> size(100, 800);
  const Z others[] = {{0, 0}, {1, 0}, {1, -0.0}, {0, 2}, {1e7, 0}, {0, 1e8}, {1e300, 1}, {-1, 0}};
  for (const int every : {5, 40, 300}) {
    std::vector<Z> a, b;
    for (int i = 0; i < 900; ++i) {
      a.emplace_back(normal(random), i % 7 == 0 ? 0 : normal(random));
      b.emplace_back(normal(random), i % 3 == 0 ? 0 : normal(random));
      if (i / 128 % 2 == 1) b.back() *= size(random) / std::abs(std::log(a.back()));
      if (i % every == 4) b.back() = others[i / every % 8];
      if (i % every == 1) a.back() = Z(std::ldexp(a.back().real(), i % 2 == 0 ? -450 : 505), 0);
    }
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      for (const BlockOp op : {BlockOp::kPower, BlockOp::kAtan2}) {
        const std::vector<Z> all = CallBinary<Z>(*kernels, op, CType::kC128, a, b);
        for (size_t i = 0; i < a.size(); ++i) {
          const Z alone = CallBinary<Z>(*kernels, op, CType::kC128, std::vector<Z>{a[i]},
                                        std::vector<Z>{b[i]})[0];
          EXPECT_TRUE(SameValue(all[i], alone)) << kernels->level << " op " << static_cast<int>(op)
                                                << " of " << Show(a[i]) << Show(b[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
