// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, rounding and comparison of f32 and f64, at each level.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
std::vector<T> Landmarks() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result = {T{0},
                           T(0.5),
                           T(0.49999997),
                           T(0.49999999999999994),
                           T{1},
                           T(1.5),
                           T{2},
                           T(2.5),
                           T(3.5),
                           T(1e7),
                           T(8388607.5),
                           T(4503599627370495.5),
                           T(1e30),
                           Limits::max(),
                           Limits::min(),
                           Limits::denorm_min(),
                           Limits::infinity(),
                           T(0.1)};
  const size_t positive = result.size();
  for (size_t i = 0; i < positive; ++i) result.push_back(-result[i]);
  result.push_back(Limits::quiet_NaN());
  result.push_back(-Limits::quiet_NaN());
  return result;
}

template <typename T>
class FloatKernelsTest : public testing::Test {
 protected:
  FloatKernelsTest() {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<T> moderate(-9, 9);
    std::vector<T> others;
    for (int i = 0; i < 2000; ++i) {
      others.push_back(i % 2 != 0 ? FromBits<T>(static_cast<BitsOf<T>>(random()))
                                  : moderate(random));
    }
    operands_ = Pairs(Landmarks<T>(), others);
  }

  template <typename R = T, typename Expected>
  void Unary(BlockOp op, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckUnaryOp<R, T>(*kernels, op, CTypeOf<T>(), operands_.a, expected);
    }
  }
  template <typename R = T, typename Expected>
  void Binary(BlockOp op, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckBinaryOp<R, T>(*kernels, op, CTypeOf<T>(), operands_.a, operands_.b, expected);
    }
  }

  Operands<T> operands_;
};

TYPED_TEST_SUITE(FloatKernelsTest, KernelFloats);

TYPED_TEST(FloatKernelsTest, ArithmeticIsCorrectlyRounded) {
  using T = TypeParam;
  this->Binary(BlockOp::kAdd, [](T x, T y) { return x + y; });
  this->Binary(BlockOp::kSubtract, [](T x, T y) { return x - y; });
  this->Binary(BlockOp::kMultiply, [](T x, T y) { return x * y; });
  this->Binary(BlockOp::kDivide, [](T x, T y) { return x / y; });
  this->Unary(BlockOp::kSqrt, [](T x) { return std::sqrt(x); });
}

TYPED_TEST(FloatKernelsTest, ANanWinsMaximumAndMinimumAndNegativeZeroIsBelowZero) {
  using T = TypeParam;
  this->Binary(BlockOp::kMaximum, MaximumOf<T>);
  this->Binary(BlockOp::kMinimum, MinimumOf<T>);
}

TYPED_TEST(FloatKernelsTest, ClampIsTheMinimumOfTheMaximum) {
  using T = TypeParam;
  const std::vector<T>&low = this->operands_.a, &x = this->operands_.b;
  const std::vector<T> high(low.rbegin(), low.rend());
  std::vector<T> result(low.size());
  const int64_t n = static_cast<int64_t>(low.size());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    Find(*kernels, BlockOp::kClamp, CTypeOf<T>())(result.data(), low.data(), x.data(), high.data(),
                                                  n);
    for (size_t i = 0; i < low.size(); ++i) {
      ASSERT_TRUE(SameValue(result[i], MinimumOf(MaximumOf(x[i], low[i]), high[i])))
          << kernels->level;
    }
    const T bottom = T{-1}, top = T{2};
    Find(*kernels, BlockOp::kClamp, CTypeOf<T>(), Scalars::kBounds)(result.data(), &bottom,
                                                                    x.data(), &top, n);
    for (size_t i = 0; i < low.size(); ++i) {
      ASSERT_TRUE(SameValue(result[i], MinimumOf(MaximumOf(x[i], bottom), top))) << kernels->level;
    }
  }
}

TYPED_TEST(FloatKernelsTest, SignsOfNansAndZerosAreKeptOrTurned) {
  using T = TypeParam;
  this->Unary(BlockOp::kCopy, [](T x) { return x; });
  this->Unary(BlockOp::kNegate, [](T x) { return -x; });
  this->Unary(BlockOp::kAbs, [](T x) { return std::fabs(x); });
  this->Unary(BlockOp::kSign, [](T x) { return x > 0 ? T{1} : x < 0 ? T{-1} : x; });
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<T> result =
        CallUnary<T>(*kernels, BlockOp::kNegate, CTypeOf<T>(),
                     std::vector<T>(9, std::numeric_limits<T>::quiet_NaN()));
    EXPECT_TRUE(std::signbit(result[0]));
    EXPECT_TRUE(std::signbit(result[8]));
  }
}

TYPED_TEST(FloatKernelsTest, RoundingGoesToTheRightInteger) {
  using T = TypeParam;
  this->Unary(BlockOp::kFloor, [](T x) { return std::floor(x); });
  this->Unary(BlockOp::kCeil, [](T x) { return std::ceil(x); });
  this->Unary(BlockOp::kRoundAfz, [](T x) { return std::round(x); });
  this->Unary(BlockOp::kRoundEven, [](T x) { return std::nearbyint(x); });
}

TYPED_TEST(FloatKernelsTest, IsFiniteIsFalseForInfinitiesAndNans) {
  using T = TypeParam;
  this->template Unary<uint8_t>(BlockOp::kIsFinite,
                                [](T x) { return static_cast<uint8_t>(std::isfinite(x)); });
}

TYPED_TEST(FloatKernelsTest, ComparisonsFollowIeee) {
  using T = TypeParam;
  this->template Binary<uint8_t>(BlockOp::kCompareEq,
                                 [](T x, T y) { return static_cast<uint8_t>(x == y); });
  this->template Binary<uint8_t>(BlockOp::kCompareNe,
                                 [](T x, T y) { return static_cast<uint8_t>(x != y); });
  this->template Binary<uint8_t>(BlockOp::kCompareLt,
                                 [](T x, T y) { return static_cast<uint8_t>(x < y); });
  this->template Binary<uint8_t>(BlockOp::kCompareLe,
                                 [](T x, T y) { return static_cast<uint8_t>(x <= y); });
  this->template Binary<uint8_t>(BlockOp::kCompareGt,
                                 [](T x, T y) { return static_cast<uint8_t>(x > y); });
  this->template Binary<uint8_t>(BlockOp::kCompareGe,
                                 [](T x, T y) { return static_cast<uint8_t>(x >= y); });
}

// Negative numbers sort by the complement of their bits, positive ones above them.
template <typename T>
BitsOf<T> TotalRank(T x) {
  const BitsOf<T> bits = ToBits(x), sign = BitsOf<T>{1} << (sizeof(T) * 8 - 1);
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

TYPED_TEST(FloatKernelsTest, TotalOrderRanksNansOutsideInfinitiesAndNegativeZeroBelowZero) {
  using T = TypeParam;
  this->template Binary<uint8_t>(BlockOp::kTotalEq,
                                 [](T x, T y) { return uint8_t{TotalRank(x) == TotalRank(y)}; });
  this->template Binary<uint8_t>(BlockOp::kTotalLt,
                                 [](T x, T y) { return uint8_t{TotalRank(x) < TotalRank(y)}; });
  this->template Binary<uint8_t>(BlockOp::kTotalLe,
                                 [](T x, T y) { return uint8_t{TotalRank(x) <= TotalRank(y)}; });
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> ascending = {-nan, -inf, T{-1}, -T{0}, T{0}, T{1}, inf, nan};
  const std::vector<T> lower(ascending.begin(), ascending.end() - 1),
      upper(ascending.begin() + 1, ascending.end());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const std::vector<uint8_t> less =
        CallBinary<uint8_t>(*kernels, BlockOp::kTotalLt, CTypeOf<T>(), lower, upper);
    EXPECT_EQ(less, std::vector<uint8_t>(7, 1)) << kernels->level;
  }
}

TYPED_TEST(FloatKernelsTest, PartsAreJoinedToComplexNumbers) {
  using T = TypeParam;
  this->template Binary<std::complex<T>>(BlockOp::kComplex,
                                         [](T x, T y) { return std::complex<T>(x, y); });
}

// The nearest number of the format by search among its neighbours: `step` is the distance of the
// format's numbers around |x|.
double ReduceByDefinition(double x, int exponent_bits, int mantissa_bits) {
  if (std::isnan(x)) {
    return mantissa_bits > 0 ? x : std::copysign(std::numeric_limits<double>::infinity(), x);
  }
  if (std::isinf(x) || x == 0) return x;
  int exponent;
  std::frexp(x, &exponent);  // |x| in [2^(exponent-1), 2^exponent)
  const double step = std::ldexp(1.0, exponent - 1 - mantissa_bits);
  const double rounded = std::nearbyint(x / step) * step;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (std::fabs(rounded) >= std::ldexp(1.0, bias + 1)) {
    return std::copysign(std::numeric_limits<double>::infinity(), x);
  }
  if (std::fabs(rounded) < std::ldexp(1.0, 1 - bias)) return std::copysign(0.0, x);
  return rounded;
}

TEST(ReducePrecisionTest, RoundsToEvenOverflowsToInfinityAndFlushesDenormals) {
  std::vector<float> a = Landmarks<float>();
  std::mt19937 random(5);
  std::uniform_real_distribution<float> moderate(-300, 300);
  for (int i = 0; i < 3000; ++i)
    a.push_back(i % 2 != 0 ? FromBits<float>(random()) : moderate(random));
  for (float x :
       {65519.996f, 65520.0f, 65504.0f, 6.1035156e-5f, 6.0e-5f, 1.00048828125f, 1.00146484375f}) {
    a.push_back(x);
  }
  const std::vector<double> wide(a.begin(), a.end());
  struct {
    int exponent_bits, mantissa_bits;
  } const formats[] = {{5, 10}, {8, 7}, {5, 2}, {4, 3}, {2, 1}, {7, 0}, {3, 22}, {5, 23}};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (const auto& format : formats) {
      std::vector<float> narrow_result(a.size());
      kernels->reduce_precision_f32(narrow_result.data(), a.data(), format.exponent_bits,
                                    format.mantissa_bits, static_cast<int64_t>(a.size()));
      std::vector<double> wide_result(a.size());
      kernels->reduce_precision_f64(wide_result.data(), wide.data(), format.exponent_bits,
                                    format.mantissa_bits, static_cast<int64_t>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) {
        const double expected =
            ReduceByDefinition(a[i], format.exponent_bits, format.mantissa_bits);
        if (format.exponent_bits == 8 && std::fabs(a[i]) < std::numeric_limits<float>::min())
          continue;
        ASSERT_TRUE(SameValue(narrow_result[i], static_cast<float>(expected)))
            << kernels->level << " e" << format.exponent_bits << "m" << format.mantissa_bits
            << " of " << Show(a[i]) << " is " << Show(narrow_result[i]) << ", expected "
            << Show(expected);
        ASSERT_TRUE(SameValue(wide_result[i], expected))
            << kernels->level << " e" << format.exponent_bits << "m" << format.mantissa_bits
            << " of " << Show(wide[i]) << " is " << Show(wide_result[i]) << ", expected "
            << Show(expected);
      }
    }
  }
}

TEST(ReducePrecisionTest, TheFormatItselfChangesNothing) {
  std::vector<float> a = Landmarks<float>();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    std::vector<float> result(a.size());
    kernels->reduce_precision_f32(result.data(), a.data(), 8, 23, static_cast<int64_t>(a.size()));
    EXPECT_EQ(std::memcmp(result.data(), a.data(), a.size() * sizeof(float)), 0) << kernels->level;
  }
}

}  // namespace
}  // namespace pjrt::cpu
