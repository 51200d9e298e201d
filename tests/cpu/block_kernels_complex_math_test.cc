// SPDX-License-Identifier: Apache-2.0
//
// Complex functions that run by vectors, but for rare arguments: both kinds side by side, and where
// one becomes the other. References are the C library's in long double.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

constexpr BlockOp kUnaryOps[] = {
    BlockOp::kExp,   BlockOp::kLog,      BlockOp::kSqrt, BlockOp::kRsqrt, BlockOp::kSin,
    BlockOp::kCos,   BlockOp::kTan,      BlockOp::kTanh, BlockOp::kSign,  BlockOp::kExpm1,
    BlockOp::kLog1p, BlockOp::kLogistic, BlockOp::kCbrt};

template <typename T>
class ComplexMathTest : public testing::Test {
 protected:
  using Number = std::complex<T>;

  // Common numbers with infinities, NaNs, zeros and numbers at the ends of ranges between them.
  static std::vector<Number> Mixed() {
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T huge = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::denorm_min();
    const T rare[] = {0, -T{0}, inf, -inf, nan, huge, -huge, tiny, -tiny, T(2e6), T(-655), T(301)};
    std::mt19937 random(7);
    std::normal_distribution<T> normal;
    std::vector<Number> result;
    for (T re : rare) {
      for (T im : rare) {
        result.emplace_back(re, im);
        for (int i = 0; i < 3; ++i) result.emplace_back(normal(random), normal(random));
      }
      result.emplace_back(re, normal(random));
      result.emplace_back(normal(random), re);
    }
    return result;
  }
};

TYPED_TEST_SUITE(ComplexMathTest, KernelFloats);

TYPED_TEST(ComplexMathTest, AnElementsResultDoesNotDependOnItsNeighbours) {
  using T = TypeParam;
  using Z = std::complex<T>;
  const std::vector<Z> z = this->Mixed();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : kUnaryOps) {
      const std::vector<Z> all = CallUnary<Z>(*kernels, op, CTypeOf<Z>(), z);
      for (size_t i = 0; i < z.size(); ++i) {
        const Z alone = CallUnary<Z>(*kernels, op, CTypeOf<Z>(), std::vector<Z>{z[i]})[0];
        EXPECT_TRUE(SameValue(all[i], alone))
            << kernels->level << " op " << static_cast<int>(op) << " of " << Show(z[i]);
      }
    }
    const std::vector<T> sizes = CallUnary<T>(*kernels, BlockOp::kAbs, CTypeOf<Z>(), z);
    for (size_t i = 0; i < z.size(); ++i) {
      EXPECT_TRUE(SameValue(
          sizes[i], CallUnary<T>(*kernels, BlockOp::kAbs, CTypeOf<Z>(), std::vector<Z>{z[i]})[0]))
          << kernels->level << " abs of " << Show(z[i]);
    }
    std::vector<Z> turned(z.rbegin(), z.rend());
    for (BlockOp op : {BlockOp::kDivide, BlockOp::kPower, BlockOp::kAtan2}) {
      const std::vector<Z> all = CallBinary<Z>(*kernels, op, CTypeOf<Z>(), z, turned);
      for (size_t i = 0; i < z.size(); ++i) {
        const Z alone = CallBinary<Z>(*kernels, op, CTypeOf<Z>(), std::vector<Z>{z[i]},
                                      std::vector<Z>{turned[i]})[0];
        EXPECT_TRUE(SameValue(all[i], alone)) << kernels->level << " op " << static_cast<int>(op)
                                              << " of " << Show(z[i]) << Show(turned[i]);
      }
    }
  }
}

TYPED_TEST(ComplexMathTest, AnOperandThatIsOneElementStandsForABlockOfIt) {
  using Z = std::complex<TypeParam>;
  const std::vector<Z> z = this->Mixed();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : {BlockOp::kDivide, BlockOp::kPower, BlockOp::kAtan2}) {
      for (Z one : {Z(2, -3), Z(0, 0), Z(std::numeric_limits<TypeParam>::infinity(), 1)}) {
        const std::vector<Z> ones(z.size(), one);
        std::vector<Z> result(z.size());
        const int64_t n = static_cast<int64_t>(z.size());
        if (BlockFn first = Find(*kernels, op, CTypeOf<Z>(), Scalars::kFirst)) {
          first(result.data(), &one, z.data(), nullptr, n);
          const std::vector<Z> expected = CallBinary<Z>(*kernels, op, CTypeOf<Z>(), ones, z);
          for (size_t i = 0; i < z.size(); ++i)
            EXPECT_TRUE(SameValue(result[i], expected[i])) << kernels->level << Show(z[i]);
        }
        if (BlockFn second = Find(*kernels, op, CTypeOf<Z>(), Scalars::kSecond)) {
          second(result.data(), z.data(), &one, nullptr, n);
          const std::vector<Z> expected = CallBinary<Z>(*kernels, op, CTypeOf<Z>(), z, ones);
          for (size_t i = 0; i < z.size(); ++i)
            EXPECT_TRUE(SameValue(result[i], expected[i])) << kernels->level << Show(z[i]);
        }
      }
    }
  }
}

// |z| = 1 nearly, where log|z| keeps its digits; angles as large as vectors take, and larger.
TEST(C64MathTest, FunctionsAreWithinOneUlpBesideTheUnitCircleAndOfLargeAngles) {
  using Z = std::complex<float>;
  std::mt19937 random(11);
  std::uniform_real_distribution<double> angle(-3.2, 3.2), part(-1, 1), exponent(-24, -4);
  std::vector<Z> circle, wide;
  for (int i = 0; i < 4000; ++i) {
    const double a = angle(random), size = 1 + part(random) * std::exp2(exponent(random));
    circle.emplace_back(size * std::cos(a), size * std::sin(a));
    wide.emplace_back(part(random) * 80, part(random) * 0x1p+21);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const auto check = [&](BlockOp op, const std::vector<Z>& z,
                           WideComplex (*expected)(WideComplex)) {
      const std::vector<Z> result = CallUnary<Z>(*kernels, op, CType::kC64, z);
      for (size_t i = 0; i < z.size(); ++i) {
        const WideComplex want = expected(WideComplex(z[i].real(), z[i].imag()));
        EXPECT_LE(UlpError(result[i].real(), want.real()), 1) << kernels->level << Show(z[i]);
        EXPECT_LE(UlpError(result[i].imag(), want.imag()), 1) << kernels->level << Show(z[i]);
      }
    };
    check(BlockOp::kLog, circle, [](WideComplex z) { return std::log(z); });
    check(BlockOp::kSqrt, circle, [](WideComplex z) { return std::sqrt(z); });
    check(BlockOp::kSin, circle, [](WideComplex z) { return std::sin(z); });
    check(BlockOp::kCos, circle, [](WideComplex z) { return std::cos(z); });
    check(BlockOp::kTanh, circle, [](WideComplex z) { return std::tanh(z); });
    check(BlockOp::kTan, circle, [](WideComplex z) { return std::tan(z); });
    check(BlockOp::kExp, wide, [](WideComplex z) { return std::exp(z); });
    check(BlockOp::kTanh, wide, [](WideComplex z) { return std::tanh(z); });
  }
}

// Of which some go by f32 and others not: parts of any size, in any order, and sizes beside 1.
TEST(C64MathTest, LogarithmsAreWithinOneUlpOfPartsOfAnySize) {
  using Z = std::complex<float>;
  std::mt19937 random(13);
  std::uniform_real_distribution<float> mantissa(-2, 2), exponent(-120, 120), low(-60, 3);
  std::vector<Z> z = {{1, 0x1p-49f}, {1, 0x1p-51f}, {-0x1p-60f, 1}, {0x1p-30f, 0x1p-29f}};
  for (int i = 0; i < 6000; ++i) {
    const float large = mantissa(random) * (i % 2 == 0 ? std::exp2(exponent(random)) : 1);
    const float small = i % 5 == 0 ? 0 : large * mantissa(random) * std::exp2(low(random));
    z.push_back(i % 4 < 2 ? Z(large, small) : Z(small, large));
    const float one = i % 3 == 0 ? 1 : 1 + mantissa(random) * 0x1p-22f;
    z.push_back(i % 4 < 2 ? Z(one, small) : Z(small, -one));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallUnary<Z>(*kernels, BlockOp::kLog, CType::kC64, z);
    for (size_t i = 0; i < z.size(); ++i) {
      const long double x = std::fabs(z[i].real()), y = std::fabs(z[i].imag());
      const long double large = std::max(x, y), small = std::min(x, y);
      const long double excess = (large - 1) * (large + 1) + small * small;
      const long double log =
          large > 0.5 && large < 2 ? std::log1p(excess) / 2 : std::log(std::hypot(large, small));
      const long double angle =
          std::atan2(static_cast<long double>(z[i].imag()), static_cast<long double>(z[i].real()));
      EXPECT_LE(UlpError(result[i].real(), log), 1) << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(result[i].imag(), angle), 1) << kernels->level << Show(z[i]);
    }
  }
}

// Tiny ones, and where terms of 2x + x^2 + y^2 cancel.
TEST(C64MathTest, LogarithmsPlusOneAreWithinOneUlp) {
  using Z = std::complex<float>;
  std::mt19937 random(19);
  std::uniform_real_distribution<double> part(-1, 1), exponent(-100, 2), near(-26, -1);
  std::vector<Z> z = {{0x1p-100f, 0}, {-1, 0x1p-31f}, {-1, 0x1p-20f}, {-2, 0x1p-20f}};
  for (int i = 0; i < 4000; ++i) {
    z.emplace_back(part(random) * std::exp2(exponent(random)),
                   i % 5 == 0 ? 0 : part(random) * std::exp2(exponent(random)));
    z.emplace_back(part(random) * 3, part(random) * 3);
    const double y = i % 2 == 0 ? part(random) : std::exp2(near(random));
    const double x = -y * y / (1 + std::sqrt(1 - y * y));
    const double moved = x * (1 + part(random) * std::exp2(near(random)));
    z.emplace_back(i % 3 == 0 ? -2 - moved : moved, y);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallUnary<Z>(*kernels, BlockOp::kLog1p, CType::kC64, z);
    for (size_t i = 0; i < z.size(); ++i) {
      const long double x = z[i].real(), y = z[i].imag();
      const long double excess = x < -1 ? x * (x + 2) + y * y : (2 * x + y * y) + x * x;
      const long double log =
          std::fabs(excess) < 0.5L ? std::log1p(excess) / 2 : std::log(std::hypot(1 + x, y));
      EXPECT_LE(UlpError(result[i].real(), log), 1) << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(result[i].imag(), std::atan2(y, 1 + x)), 1)
          << kernels->level << Show(z[i]);
    }
  }
}

// At any angle, of any size, and where the quotient of the parts leaves the range of f32.
TEST(C64MathTest, CubeRootsAreWithinOneUlp) {
  using Z = std::complex<float>;
  std::mt19937 random(29);
  std::uniform_real_distribution<double> angle(-3.2, 3.2), exponent(-120, 120), low(-100, 1);
  std::vector<Z> z = {{0x1p+112f, -0x1p-47f}, {0x1p-40f, 0x1p+80f}, {-0x1p+100f, 0x1p-30f}};
  for (int i = 0; i < 8000; ++i) {
    const double a = angle(random), size = i % 2 == 0 ? 1 : std::exp2(exponent(random));
    z.emplace_back(size * std::cos(a), size * std::sin(a));
    const double small = i % 3 == 0 ? 0 : size * a * std::exp2(low(random));
    z.push_back(i % 4 < 2 ? Z(-size, small) : Z(small, size));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallUnary<Z>(*kernels, BlockOp::kCbrt, CType::kC64, z);
    for (size_t i = 0; i < z.size(); ++i) {
      const long double x = z[i].real(), y = z[i].imag();
      const long double root = std::cbrt(std::hypot(x, y)), third = std::atan2(y, x) / 3;
      EXPECT_LE(UlpError(result[i].real(), root * std::cos(third)), 1)
          << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(result[i].imag(), root * std::sin(third)), 1)
          << kernels->level << Show(z[i]);
    }
  }
}

// As the quotient of terms that do not cancel.
WideComplex Tanh(long double x, long double y) {
  const long double sine = std::sin(y), cosine = std::cos(y);
  if (std::fabs(x) > 40)
    return WideComplex(std::copysign(1.0L, x), 4 * std::exp(-2 * std::fabs(x)) * sine * cosine);
  const long double sinh = std::sinh(x), divisor = sinh * sinh + cosine * cosine;
  return WideComplex(sinh * std::cosh(x) / divisor, sine * cosine / divisor);
}

// Beside the ends of ranges between ways to compute, zeros of sines and cosines, places in tables,
// and both signs of zeros.
TEST(C64MathTest, ExponentialsAndSinesAreNearlyRoundedOnceInAllRanges) {
  using Z = std::complex<float>;
  std::mt19937 random(37);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> part(-1, 1);
  std::uniform_int_distribution<int> multiple(-2610, 2610), shift(-2, 2);
  const auto beside = [&](float x) {
    for (int i = shift(random); i != 0; i += i < 0 ? 1 : -1) x = std::nextafter(x, i * 1e9f);
    return x;
  };
  std::vector<Z> z;
  for (const float end : {0.0f, 0x1p-30f, 0x1p-149f, 0x1p-126f, 0.125f, 7.75f, 60.0f, 87.0f,
                          2048.0f, 650.0f, 0x1p+20f, 1e30f}) {
    for (int i = 0; i < 40; ++i) {
      const float x = std::copysign(beside(end), part(random));
      z.emplace_back(x, i % 4 == 0 ? std::copysign(0.0f, part(random)) : normal(random));
      z.emplace_back(z.back().imag(), x);
    }
  }
  for (float x = 0x1.f9cbe2p+0f; x < 3000; x *= 2) {  // from 2^7 on nearly a multiple of pi/2
    for (int i = 0; i < 40; ++i) {
      z.emplace_back(x, normal(random));
      z.emplace_back(z.back().imag(), x);
    }
  }
  for (int i = 0; i < 4000; ++i) {
    z.emplace_back(part(random) * 8, beside(static_cast<float>(multiple(random) * 0.7853981634)));
    z.emplace_back(z.back().imag(), z.back().real());
    z.emplace_back(part(random) * 70, part(random) * 2100);
    z.emplace_back(z.back().imag(), z.back().real());
    z.emplace_back(normal(random), normal(random));
    z.emplace_back(beside(static_cast<float>(multiple(random)) / 256), part(random) * 4);
    z.emplace_back(z.back().imag(), z.back().real());
  }
  const BlockKernels* vectors = nullptr;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const auto check = [&](BlockOp op, WideComplex (*expected)(long double, long double)) {
      const std::vector<Z> result = CallUnary<Z>(*kernels, op, CType::kC64, z);
      std::vector<Z> in_place = z;
      Find(*kernels, op, CType::kC64)(in_place.data(), in_place.data(), nullptr, nullptr,
                                      static_cast<int64_t>(z.size()));
      const bool same = vectors != nullptr;
      const std::vector<Z> other =
          same ? CallUnary<Z>(*vectors, op, CType::kC64, z) : std::vector<Z>();
      for (size_t i = 0; i < z.size(); ++i) {
        const WideComplex want = expected(z[i].real(), z[i].imag());
        for (int j = 0; j < 2; ++j) {
          const float got = j == 0 ? result[i].real() : result[i].imag();
          const long double exact = j == 0 ? want.real() : want.imag();
          EXPECT_LE(UlpError(got, exact), 0.65) << kernels->level << Show(z[i]);
          EXPECT_EQ(std::signbit(got), std::signbit(exact)) << kernels->level << Show(z[i]);
        }
        EXPECT_TRUE(SameValue(result[i], in_place[i])) << kernels->level << Show(z[i]);
        if (same) {
          EXPECT_TRUE(SameValue(result[i], other[i])) << kernels->level << Show(z[i]);
        }
      }
    };
    check(BlockOp::kExp, [](long double x, long double y) {
      return WideComplex(std::exp(x) * std::cos(y), y == 0 ? y : std::exp(x) * std::sin(y));
    });
    check(BlockOp::kSin, [](long double x, long double y) {
      return WideComplex(x == 0 ? x : std::sin(x) * std::cosh(y), std::cos(x) * std::sinh(y));
    });
    check(BlockOp::kCos, [](long double x, long double y) {
      return WideComplex(std::cos(x) * std::cosh(y), x == 0 ? -x * y : -std::sin(x) * std::sinh(y));
    });
    check(BlockOp::kTanh, [](long double x, long double y) { return Tanh(x, y); });
    check(BlockOp::kTan, [](long double x, long double y) {
      const WideComplex turned = Tanh(y, x);
      return WideComplex(turned.imag(), turned.real());
    });
    if (std::string_view(kernels->level) != "baseline") vectors = kernels;
  }
}

// Of which some go by f32 and others by f64 or one at a time, all together or a few of many.
TEST(C64MathTest, ElementsDoNotDependOnHowManyBesideThemAreRare) {
  using Z = std::complex<float>;
  std::mt19937 random(41);
  std::uniform_real_distribution<float> part(-3, 3), large(8, 100), exponent(-149, 127);
  std::vector<Z> z;
  const float infinity = std::numeric_limits<float>::infinity();
  for (int share = 0; share <= 100; share += 5) {
    for (int i = 0; i < 131; ++i) {
      const bool rare = static_cast<int>(random() % 100) < share;
      const auto any = [&](int kind) {
        if (!rare) return part(random);
        if (kind == 0) return std::copysign(large(random), part(random));
        if (kind == 1) return std::copysign(std::exp2(exponent(random)), part(random));
        return kind == 2 ? 0 : infinity;
      };
      const int kind = static_cast<int>(random() % 64);
      z.emplace_back(any(kind / 4 % 2), any(kind < 2 ? 3 : kind < 8 ? 2 : kind % 2));
    }
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (BlockOp op : {BlockOp::kExp, BlockOp::kSin, BlockOp::kCos, BlockOp::kTan, BlockOp::kTanh,
                       BlockOp::kLog, BlockOp::kLog1p, BlockOp::kCbrt, BlockOp::kLogistic}) {
      const std::vector<Z> all = CallUnary<Z>(*kernels, op, CType::kC64, z);
      std::vector<Z> in_place = z;
      Find(*kernels, op, CType::kC64)(in_place.data(), in_place.data(), nullptr, nullptr,
                                      static_cast<int64_t>(z.size()));
      for (size_t i = 0; i < z.size(); ++i) {
        const Z alone = CallUnary<Z>(*kernels, op, CType::kC64, std::vector<Z>{z[i]})[0];
        EXPECT_TRUE(SameValue(all[i], alone) && SameValue(in_place[i], alone))
            << kernels->level << " op " << static_cast<int>(op) << " of " << Show(z[i]);
      }
    }
  }
}

// The same of powers, whose bases, exponents or results may be beyond what goes by f32, and which
// may take the place of either operand.
TEST(C64MathTest, PowersDoNotDependOnHowManyBesideThemAreRare) {
  using Z = std::complex<float>;
  std::mt19937 random(47);
  std::uniform_real_distribution<float> part(-3, 3), exponent(-149, 127), large(20, 120);
  std::vector<Z> a, b;
  for (int share = 0; share <= 100; share += 5) {
    for (int i = 0; i < 131; ++i) {
      const bool rare = static_cast<int>(random() % 100) < share;
      const int kind = rare ? static_cast<int>(random() % 64) : 64;
      const auto any = [&] { return std::copysign(std::exp2(exponent(random)), part(random)); };
      a.emplace_back(kind % 4 == 0 ? any() : part(random), kind % 8 == 0 ? any() : part(random));
      b.emplace_back(kind % 4 == 1 ? large(random) : part(random), part(random));
      if (kind % 16 == 2) a.back() = Z(0, kind == 2 ? 0 : part(random));
      if (kind % 16 == 3) b.back() = Z(kind / 16 % 2, 0);
      if (kind == 6) a.back() = Z(std::numeric_limits<float>::quiet_NaN(), 1);
      if (kind == 10) a.back() = Z(1, std::numeric_limits<float>::quiet_NaN());
      if (kind == 14) b.back() = Z(1, std::numeric_limits<float>::infinity());
    }
  }
  const int64_t count = static_cast<int64_t>(a.size());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> all = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC64, a, b);
    const BlockFn power = Find(*kernels, BlockOp::kPower, CType::kC64);
    std::vector<Z> first = a, second = b;
    power(first.data(), first.data(), b.data(), nullptr, count);
    power(second.data(), a.data(), second.data(), nullptr, count);
    for (size_t i = 0; i < a.size(); ++i) {
      const Z alone = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC64, std::vector<Z>{a[i]},
                                    std::vector<Z>{b[i]})[0];
      EXPECT_TRUE(SameValue(all[i], alone) && SameValue(first[i], alone) &&
                  SameValue(second[i], alone))
          << kernels->level << Show(a[i]) << " ^ " << Show(b[i]);
    }
  }
}

TEST(C64MathTest, ExponentialMinusOneKeepsItsDigitsWhereTheCosineIsSmall) {
  using Z = std::complex<float>;
  std::vector<Z> z = {{0x1.570cdap+3f, 0x1.5fdbcap+3f},
                      {0x1.9d532ap+4f, 0x1.f6a776p+2f},
                      {89, 0x1.921fb6p+0f},
                      {0x1.629bbp+6f, 0x1.2d97c8p+2f}};
  std::mt19937 random(17);
  std::uniform_real_distribution<float> size(0, 88);
  std::uniform_int_distribution<int> quadrant(-1000, 1000);
  for (int i = 0; i < 4000; ++i)
    z.emplace_back(size(random), static_cast<float>(quadrant(random) * 1.57079632679489662));
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallUnary<Z>(*kernels, BlockOp::kExpm1, CType::kC64, z);
    for (size_t i = 0; i < z.size(); ++i) {
      const long double x = z[i].real(), y = z[i].imag(), half_sine = std::sin(y / 2);
      const WideComplex want(std::expm1(x) * std::cos(y) - 2 * half_sine * half_sine,
                             std::exp(x) * std::sin(y));
      EXPECT_LE(UlpError(result[i].real(), want.real()), 1) << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(result[i].imag(), want.imag()), 1) << kernels->level << Show(z[i]);
    }
    for (const float re : {0.0f, -0.0f}) {
      for (const float im : {0.0f, -0.0f}) {
        const Z zero =
            CallUnary<Z>(*kernels, BlockOp::kExpm1, CType::kC64, std::vector<Z>{Z(re, im)})[0];
        EXPECT_TRUE(SameValue(zero, Z(re, im))) << kernels->level << Show(Z(re, im));
      }
    }
  }
}

// The arc tangent of so small a quotient is the quotient.
TEST(C64MathTest, ArcTangentsOfSmallQuotientsKeepTheirDigits) {
  using Z = std::complex<float>;
  const std::vector<Z> y = {{1e-20f, 1e-20f}, {1e-30f, -1e-30f}, {3e-12f, 4e-12f}, {1e-9f, 0}};
  const std::vector<Z> x = {{2, 3}, {1, 2}, {5, -1}, {3, 0}};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallBinary<Z>(*kernels, BlockOp::kAtan2, CType::kC64, y, x);
    for (size_t i = 0; i < y.size(); ++i) {
      const WideComplex want =
          WideComplex(y[i].real(), y[i].imag()) / WideComplex(x[i].real(), x[i].imag());
      EXPECT_LE(UlpError(result[i].real(), want.real()), 1)
          << kernels->level << Show(y[i]) << Show(x[i]);
      EXPECT_LE(UlpError(result[i].imag(), want.imag()), 1)
          << kernels->level << Show(y[i]) << Show(x[i]);
    }
  }
}

// Beside the poles and where exp(x) + cos y, the real part of the dividend, vanishes, which some of
// a block or all may do, and elsewhere.
TEST(C64MathTest, LogisticKeepsItsDigitsWhereTermsCancel) {
  using Z = std::complex<float>;
  std::mt19937 random(53);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> part(-1, 1), exponent(-22, 0), angle(1.58, 4.7);
  std::uniform_int_distribution<int> turn(-300, 300);
  std::vector<Z> z;
  for (int share = 0; share <= 100; share += 5) {
    for (int i = 0; i < 259; ++i) {
      const double near = part(random) * std::exp2(exponent(random));
      const double turns = turn(random) / (i % 4 < 2 ? 100 : 1) * 6.283185307179586;
      if (static_cast<int>(random() % 100) >= share) {
        z.emplace_back(normal(random) * (i % 3 == 0 ? 20 : 2), normal(random) * 3);
      } else if (i % 2 == 0) {
        z.emplace_back(near, turns + 3.141592653589793 + part(random) * near);
      } else {
        const double y = angle(random);
        z.emplace_back(std::log(-std::cos(y)) + near, turns + y);
      }
    }
  }
  const BlockKernels* vectors = nullptr;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> all = CallUnary<Z>(*kernels, BlockOp::kLogistic, CType::kC64, z);
    const bool same = vectors != nullptr;
    const std::vector<Z> other =
        same ? CallUnary<Z>(*vectors, BlockOp::kLogistic, CType::kC64, z) : std::vector<Z>();
    std::vector<Z> in_place = z;
    Find(*kernels, BlockOp::kLogistic, CType::kC64)(in_place.data(), in_place.data(), nullptr,
                                                    nullptr, static_cast<int64_t>(z.size()));
    for (size_t i = 0; i < z.size(); ++i) {
      const long double p = std::exp(static_cast<long double>(z[i].real())), y = z[i].imag();
      const long double half = std::cos(y / 2), sine = std::sin(y);
      const long double v = std::expm1(static_cast<long double>(z[i].real())) + 2 * half * half;
      const WideComplex want = p / (v * v + sine * sine) * WideComplex(v, sine);
      const long double unit = std::exp2(std::floor(std::log2(std::abs(want))) - 23);
      EXPECT_LE(std::abs(WideComplex(all[i].real(), all[i].imag()) - want), 1.5L * unit)
          << kernels->level << Show(z[i]);
      EXPECT_LE(UlpError(all[i].imag(), want.imag()), 3) << kernels->level << Show(z[i]);
      if (std::fabs(v) > 0x1p-12) {
        EXPECT_LE(UlpError(all[i].real(), want.real()), 5) << kernels->level << Show(z[i]);
      }
      const Z alone =
          CallUnary<Z>(*kernels, BlockOp::kLogistic, CType::kC64, std::vector<Z>{z[i]})[0];
      EXPECT_TRUE(SameValue(all[i], alone) && SameValue(all[i], in_place[i]))
          << kernels->level << Show(z[i]);
      if (same) {
        EXPECT_TRUE(SameValue(all[i], other[i])) << kernels->level << Show(z[i]);
      }
    }
    if (std::string_view(kernels->level) != "baseline") vectors = kernels;
  }
}

// The parts of the arc tangent of y / x, with p = x + iy and m = x - iy.
WideComplex ArcTangentOf(WideComplex y, WideComplex x) {
  const WideComplex p(x.real() - y.imag(), x.imag() + y.real());
  const WideComplex m(x.real() + y.imag(), x.imag() - y.real());
  const long double along = p.real() * m.real() + p.imag() * m.imag();
  const long double half = std::atan2(2 * (x * std::conj(y)).real(), along) / 2;
  const long double side = p.real() * std::abs(m.imag()) + m.real() * std::abs(p.imag());
  const long double turn = std::copysign(std::acos(-1.0L), half);
  const long double t = x.real() * y.imag() - x.imag() * y.real();
  const long double ratio = std::abs(t) / std::min(std::norm(p), std::norm(m));
  return {side < 0 ? half - turn : half, std::copysign(std::log1p(4 * ratio) / 4, t)};
}

// Beside the poles, where y is i x or its opposite, where both have one size, and of mixed sizes.
// AVX2 and AVX-512 give the same bits.
TEST(C64MathTest, ArcTangentsOfQuotientsAreWithinTwoUlpInAllRanges) {
  using Z = std::complex<float>;
  std::mt19937 random(61);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> exponent(-20, 20), near(-24, -4);
  std::uniform_int_distribution<int> scale(-40, 40);
  const auto any = [&] { return normal(random) * std::exp2(exponent(random)); };
  std::vector<Z> y, x;
  for (int i = 0; i < 12000; ++i) {
    Z a(normal(random), normal(random)), b(normal(random), normal(random));
    const Z beside(std::exp2(near(random)) * normal(random), std::exp2(near(random)));
    if (i % 6 == 1) a = Z(beside.real(), i % 4 < 2 ? 1 + beside.imag() : -1 + beside.imag()) * b;
    if (i % 6 == 2) a = i % 4 < 2 ? Z(b.imag(), b.real()) : b;
    if (i % 6 == 3) a = Z(a.real(), 0), b = Z(b.real(), 0);
    if (i % 6 == 4) a = Z(any(), any()), b = Z(any(), any());
    if (i % 6 == 5) a *= beside.imag();
    const float size = std::ldexp(1.0f, scale(random));
    y.push_back(a * size);
    x.push_back(b * size);
  }
  std::vector<Z> vectors;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> result = CallBinary<Z>(*kernels, BlockOp::kAtan2, CType::kC64, y, x);
    for (size_t i = 0; i < y.size(); ++i) {
      const WideComplex want = ArcTangentOf({y[i].real(), y[i].imag()}, {x[i].real(), x[i].imag()});
      EXPECT_LE(UlpError(result[i].real(), want.real()), 2)
          << kernels->level << Show(y[i]) << Show(x[i]);
      EXPECT_LE(UlpError(result[i].imag(), want.imag()), 2)
          << kernels->level << Show(y[i]) << Show(x[i]);
      if (!vectors.empty()) {
        EXPECT_TRUE(SameValue(result[i], vectors[i])) << Show(y[i]) << Show(x[i]);
      }
    }
    if (std::string_view(kernels->level) != "baseline") vectors = result;
  }
}

// Of a real part far from 0, too.
TEST(C64MathTest, LogisticKeepsTheSignOfAnImaginaryZero) {
  using Z = std::complex<float>;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (const float re : {-400.0f, -301.0f, -299.0f, -60.0f, -2.0f, 3.0f, 60.0f, 299.0f, 301.0f}) {
      for (const float im : {0.0f, -0.0f}) {
        const Z result =
            CallUnary<Z>(*kernels, BlockOp::kLogistic, CType::kC64, std::vector<Z>{Z(re, im)})[0];
        EXPECT_EQ(result.imag(), 0) << kernels->level << Show(Z(re, im));
        EXPECT_EQ(std::signbit(result.imag()), std::signbit(im)) << kernels->level << re;
      }
    }
  }
}

// Each function f here has f(conj z) = conj f(z), zeros included.
TYPED_TEST(ComplexMathTest, ZeroPartsKeepTheirSigns) {
  using T = TypeParam;
  using Z = std::complex<T>;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (const T sign : {T{1}, T{-1}}) {
      const T zero = std::copysign(T{0}, sign);
      const auto unary = [&](BlockOp op, Z z) {
        return CallUnary<Z>(*kernels, op, CTypeOf<Z>(), std::vector<Z>{z})[0];
      };
      const auto power = [&](Z a, Z b) {
        return CallBinary<Z>(*kernels, BlockOp::kPower, CTypeOf<Z>(), std::vector<Z>{a},
                             std::vector<Z>{b})[0];
      };
      for (const T x : {std::numeric_limits<T>::min() * 4, T(1e-10), T(1), T(1e10),
                        std::numeric_limits<T>::max() / 4}) {
        EXPECT_TRUE(SameValue(unary(BlockOp::kRsqrt, Z(x, zero)).imag(), -zero))
            << kernels->level << " " << x;
      }
      EXPECT_TRUE(SameValue(power(Z(2, -zero), Z(3, -zero)), Z(8, -zero))) << kernels->level;
      EXPECT_TRUE(SameValue(power(Z(0.5, zero), Z(-3, zero)), Z(8, -zero))) << kernels->level;
      const T tiny = std::copysign(std::numeric_limits<T>::denorm_min(), sign);
      EXPECT_EQ(std::signbit(unary(BlockOp::kLogistic, Z(1, tiny)).imag()), sign < 0)
          << kernels->level;
      for (const T x : {T{0}, -T{0}}) {
        EXPECT_TRUE(SameValue(unary(BlockOp::kExpm1, Z(x, tiny)).real(), -T{0})) << kernels->level;
        EXPECT_TRUE(SameValue(unary(BlockOp::kExpm1, Z(x, zero)), Z(x, zero))) << kernels->level;
      }
    }
  }
}

void ExpectPowerWithinUlpOfItsSize(const BlockKernels& kernels, std::complex<float> power,
                                   std::complex<float> a, std::complex<float> b) {
  const WideComplex want =
      std::exp(WideComplex(b.real(), b.imag()) * std::log(WideComplex(a.real(), a.imag())));
  EXPECT_LE(std::abs(WideComplex(power.real(), power.imag()) - want), 0x1p-23L * std::abs(want))
      << kernels.level << Show(a) << " ^ " << Show(b);
}

TEST(C64MathTest, PowersOfModerateNumbersAreWithinOneUlpOfTheirSize) {
  using Z = std::complex<float>;
  std::mt19937 random(13);
  std::normal_distribution<float> normal;
  std::vector<Z> a, b;
  for (int i = 0; i < 4000; ++i) {
    a.emplace_back(normal(random), normal(random));
    b.emplace_back(4 * normal(random), 4 * normal(random));
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> p = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC64, a, b);
    for (size_t i = 0; i < a.size(); ++i) ExpectPowerWithinUlpOfItsSize(*kernels, p[i], a[i], b[i]);
  }
}

// Of bases and exponents of all sizes, beside the unit circle, beside the axes, and of sizes from
// the least normal number to the largest one. AVX2 and AVX-512 give the same bits.
TEST(C64MathTest, PowersAreWithinOneUlpOfTheirSizeInAllRanges) {
  using Z = std::complex<float>;
  std::mt19937 random(53);
  std::uniform_real_distribution<double> angle(-3.2, 3.2), exponent(-60, 60), low(-60, 0),
      power(-6, 6.6), result(-124, 126);
  std::vector<Z> a, b;
  for (int i = 0; i < 12000; ++i) {
    const double beside = std::copysign(std::exp2(low(random)), angle(random));
    const double size = i % 3 == 0 ? std::exp2(exponent(random)) : i % 3 == 1 ? 1 + beside / 2 : 2;
    const double turn = i % 5 == 0 ? beside + (i % 4) * 1.5707963267948966 : angle(random);
    a.emplace_back(size * std::cos(turn), size * std::sin(turn));
    // exp((x + iy) log a) of a given size, where that is within the exponents here.
    const double log = std::log(std::abs(std::complex<double>(a.back())));
    const double arg = std::arg(std::complex<double>(a.back())), most = std::exp2(power(random));
    const double re = most * std::cos(angle(random));
    const double im = (re * log - result(random) * 0.6931) / arg;
    const bool within = std::fabs(im) < 64;
    b.emplace_back(within ? re : 0.1 * re * std::min(1.0, 8 / std::fabs(log)), within ? im : 1);
  }
  std::vector<Z> vectors;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<Z> p = CallBinary<Z>(*kernels, BlockOp::kPower, CType::kC64, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      ExpectPowerWithinUlpOfItsSize(*kernels, p[i], a[i], b[i]);
      if (!vectors.empty()) {
        EXPECT_TRUE(SameValue(p[i], vectors[i])) << Show(a[i]) << " ^ " << Show(b[i]);
      }
    }
    if (std::string_view(kernels->level) != "baseline") vectors = p;
  }
}

}  // namespace
}  // namespace pjrt::cpu
