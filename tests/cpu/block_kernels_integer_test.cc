// SPDX-License-Identifier: Apache-2.0
//
// Integer and predicate instructions against 128-bit arithmetic, at each level.
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

using Int128 = __int128;

template <typename T>
class IntegerKernelsTest : public testing::Test {
 protected:
  static constexpr T kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();

  IntegerKernelsTest() {
    std::vector<T> landmarks = {0,
                                1,
                                2,
                                3,
                                5,
                                7,
                                8,
                                10,
                                15,
                                16,
                                31,
                                32,
                                63,
                                64,
                                100,
                                127,
                                kLow,
                                static_cast<T>(kLow + 1),
                                kHigh,
                                static_cast<T>(kHigh - 1),
                                static_cast<T>(-1),
                                static_cast<T>(-2),
                                static_cast<T>(-7),
                                static_cast<T>(kHigh / 2),
                                static_cast<T>(kHigh / 3)};
    std::mt19937_64 random(3);
    std::vector<T> others;
    for (int i = 0; i < 1500; ++i) {
      const T x = static_cast<T>(random() >> (random() % 60));
      others.push_back(i % 3 == 0 ? static_cast<T>(0 - x) : x);
    }
    operands_ = Pairs(landmarks, others);
    if (sizeof(T) > 1) return;
    for (int pair = 0; pair < 1 << 16; ++pair) {  // all of them
      operands_.a.push_back(static_cast<T>(pair));
      operands_.b.push_back(static_cast<T>(pair >> 8));
    }
  }

  template <typename Expected>
  void Unary(BlockOp op, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckUnaryOp<T, T>(*kernels, op, CTypeOf<T>(), operands_.a,
                         [&](T x) { return static_cast<T>(expected(x)); });
    }
  }
  template <typename R = T, typename Expected>
  void Binary(BlockOp op, Expected expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckBinaryOp<R, T>(*kernels, op, CTypeOf<T>(), operands_.a, operands_.b,
                          [&](T x, T y) { return static_cast<R>(expected(x, y)); });
    }
  }

  Operands<T> operands_;
};

TYPED_TEST_SUITE(IntegerKernelsTest, IntegerTypes);

TYPED_TEST(IntegerKernelsTest, SumsDifferencesAndProductsWrapAround) {
  this->Binary(BlockOp::kAdd, [](Int128 x, Int128 y) { return x + y; });
  this->Binary(BlockOp::kSubtract, [](Int128 x, Int128 y) { return x - y; });
  using Unsigned = unsigned __int128;
  this->Binary(BlockOp::kMultiply, [](TypeParam x, TypeParam y) {
    return static_cast<Unsigned>(x) * static_cast<Unsigned>(y);
  });
  this->Unary(BlockOp::kNegate, [](Int128 x) { return -x; });
}

TYPED_TEST(IntegerKernelsTest, QuotientsAreCutTowardsZeroAndByZeroAreAllOnes) {
  this->Binary(BlockOp::kDivide, [](Int128 x, Int128 y) { return y == 0 ? Int128{-1} : x / y; });
}

TYPED_TEST(IntegerKernelsTest, RemaindersHaveTheDividendsSignAndByZeroAreTheDividend) {
  this->Binary(BlockOp::kRemainder, [](Int128 x, Int128 y) { return y == 0 ? x : x % y; });
}

TYPED_TEST(IntegerKernelsTest, NumbersBesideMultiplesOfTheirDivisorsAreDividedExactly) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  this->operands_ = {};
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; ++i) {
    const U divisor = static_cast<U>(random() >> (random() % 64));
    const U factor = static_cast<U>(random() >> (random() % 64));
    const U multiple = static_cast<U>(uint64_t{divisor} * factor);
    this->operands_.a.push_back(static_cast<T>(multiple + static_cast<U>(random() % 3) - 1));
    this->operands_.b.push_back(static_cast<T>(divisor));
  }
  this->Binary(BlockOp::kDivide, [](Int128 x, Int128 y) { return y == 0 ? Int128{-1} : x / y; });
  this->Binary(BlockOp::kRemainder, [](Int128 x, Int128 y) { return y == 0 ? x : x % y; });
}

TYPED_TEST(IntegerKernelsTest, OneDivisorDividesNumbersBesideItsMultiples) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  std::vector<U> divisors;
  for (int bit = 0; bit < static_cast<int>(sizeof(T) * 8); ++bit) {
    for (int beside : {-1, 0, 1}) divisors.push_back(static_cast<U>((U{1} << bit) + beside));
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) divisors.push_back(static_cast<U>(random() >> (random() % 63)));
  for (U magnitude : divisors) {
    for (const T divisor : {static_cast<T>(magnitude), static_cast<T>(U{0} - magnitude)}) {
      std::vector<T> numbers = this->operands_.a;
      numbers.resize(200);
      for (int i = 0; i < 100; ++i) {
        const U multiple = static_cast<U>(static_cast<uint64_t>(divisor) * random());
        for (int beside : {-1, 0, 1}) numbers.push_back(static_cast<T>(multiple + beside));
      }
      std::vector<T> results(numbers.size());
      const int64_t n = static_cast<int64_t>(numbers.size());
      for (const BlockKernels* kernels : SupportedBlockKernels()) {
        for (BlockOp op : {BlockOp::kDivide, BlockOp::kRemainder}) {
          Find(*kernels, op, CTypeOf<T>(), Scalars::kSecond)(results.data(), numbers.data(),
                                                             &divisor, nullptr, n);
          for (int64_t i = 0; i < n; ++i) {
            const Int128 x = numbers[i], y = divisor;
            const Int128 quotient = y == 0 ? Int128{-1} : x / y, rest = y == 0 ? x : x % y;
            ASSERT_EQ(results[i], static_cast<T>(op == BlockOp::kDivide ? quotient : rest))
                << kernels->level << ": " << Show(numbers[i]) << " by " << Show(divisor);
          }
        }
      }
    }
  }
}

TYPED_TEST(IntegerKernelsTest, MaximumMinimumAndClampCompareByTheTypesSign) {
  using T = TypeParam;
  this->Binary(BlockOp::kMaximum, [](T x, T y) { return x > y ? x : y; });
  this->Binary(BlockOp::kMinimum, [](T x, T y) { return x < y ? x : y; });
  const std::vector<T>&low = this->operands_.a, &x = this->operands_.b;
  std::vector<T> high(low.rbegin(), low.rend()), result(low.size());
  const int64_t n = static_cast<int64_t>(low.size());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    Find(*kernels, BlockOp::kClamp, CTypeOf<T>())(result.data(), low.data(), x.data(), high.data(),
                                                  n);
    for (size_t i = 0; i < low.size(); ++i) {
      ASSERT_EQ(result[i], std::min(std::max(x[i], low[i]), high[i])) << kernels->level;
    }
    const T bottom = 3, top = 90;
    Find(*kernels, BlockOp::kClamp, CTypeOf<T>(), Scalars::kBounds)(result.data(), &bottom,
                                                                    x.data(), &top, n);
    for (size_t i = 0; i < low.size(); ++i) {
      ASSERT_EQ(result[i], std::min(std::max(x[i], bottom), top)) << kernels->level;
    }
  }
}

TYPED_TEST(IntegerKernelsTest, PowersWrapAroundAndNegativeExponentsGiveTheCutReciprocal) {
  using T = TypeParam;
  this->Binary(BlockOp::kPower, [](T x, T y) {
    if (std::is_signed_v<T> && y < T{0})
      return x == T{1} ? T{1} : x == static_cast<T>(-1) ? (y % 2 != 0 ? x : T{1}) : T{0};
    // Repeated multiplication, of which only the low bits count: the exponent's order divides
    // 2^(w-1).
    uint64_t result = 1, base = static_cast<uint64_t>(x);
    for (uint64_t rest = static_cast<std::make_unsigned_t<T>>(y); rest > 0; --rest) {
      if (rest > 4096) {  // too many to go one by one: halve
        if (rest % 2 != 0) result *= base;
        base *= base;
        rest = rest / 2 + 1;
        continue;
      }
      result *= base;
    }
    return static_cast<T>(result);
  });
}

// One product after the other; by bits from the highest where there are too many.
template <typename T>
T PlainPower(T base, T exponent) {
  if (std::is_signed_v<T> && exponent < T{0}) {
    if (base == static_cast<T>(-1)) return exponent % 2 != 0 ? base : T{1};
    return base == T{1} ? T{1} : T{0};
  }
  const uint64_t x = static_cast<uint64_t>(base), count = static_cast<uint64_t>(exponent);
  uint64_t result = 1;
  if (count < 300) {
    for (uint64_t i = 0; i < count; ++i) result *= x;
  } else {
    for (int bit = 63; bit >= 0; --bit) result *= result * ((count >> bit) % 2 != 0 ? x : 1);
  }
  return static_cast<T>(result);
}

TYPED_TEST(IntegerKernelsTest, PowersOfAllKindsOfBasesByFewAndManyBits) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = sizeof(T) * 8;
  std::vector<T> bases, exponents;
  std::mt19937_64 random(8);
  for (int i = 0; i < 256; ++i) {
    bases.push_back(static_cast<T>(i - 128));
    exponents.push_back(static_cast<T>(i - 128));
  }
  for (int bit = 0; bit < kBits; ++bit) {
    for (int beside : {-1, 0, 1}) {
      bases.push_back(static_cast<T>((U{1} << bit) + beside));
      exponents.push_back(static_cast<T>((U{1} << bit) + beside));
    }
  }
  for (int i = 0; i < 101; ++i) {
    bases.push_back(static_cast<T>(random()));
    exponents.push_back(static_cast<T>(random() >> (random() % 64)));
  }
  const int64_t n = static_cast<int64_t>(bases.size());
  std::vector<T> results(n + 1);
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const BlockFn power = Find(*kernels, BlockOp::kPower, CTypeOf<T>());
    const BlockFn by_one = Find(*kernels, BlockOp::kPower, CTypeOf<T>(), Scalars::kSecond);
    const auto check = [&](int64_t i, T exponent, const char* how) {
      ASSERT_EQ(results[i], PlainPower(bases[i], exponent))
          << kernels->level << " " << how << ": " << Show(bases[i]) << " ^ " << Show(exponent);
    };
    for (T exponent : exponents) {
      results = Untouched<T>(n + 1);
      by_one(results.data(), bases.data(), &exponent, nullptr, n);
      for (int64_t i = 0; i < n; ++i) check(i, exponent, "one exponent");
      EXPECT_EQ(results[n], Untouched<T>(1)[0]);
      std::vector<T> in_place = bases;
      by_one(in_place.data(), in_place.data(), &exponent, nullptr, n);
      ASSERT_EQ(in_place, std::vector<T>(results.begin(), results.end() - 1)) << Show(exponent);
      const std::vector<T> same(n, exponent);
      results = Untouched<T>(n + 1);
      power(results.data(), bases.data(), same.data(), nullptr, n);
      for (int64_t i = 0; i < n; ++i) check(i, exponent, "equal exponents");
      EXPECT_EQ(results[n], Untouched<T>(1)[0]);
    }
    // Exponents of all sizes, and none above a bound, beside each other.
    for (int bits = 0; bits <= kBits; ++bits) {
      std::vector<T> mixed(n);
      for (T& exponent : mixed)
        exponent = bits == 0 ? T{0} : static_cast<T>(static_cast<U>(random()) >> (kBits - bits));
      power(results.data(), bases.data(), mixed.data(), nullptr, n);
      for (int64_t i = 0; i < n; ++i) check(i, mixed[i], "mixed exponents");
    }
  }
}

TYPED_TEST(IntegerKernelsTest, BitwiseLogicAndCounts) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  this->Binary(BlockOp::kAnd, [](T x, T y) { return x & y; });
  this->Binary(BlockOp::kOr, [](T x, T y) { return x | y; });
  this->Binary(BlockOp::kXor, [](T x, T y) { return x ^ y; });
  this->Unary(BlockOp::kNot, [](T x) { return ~x; });
  this->Unary(BlockOp::kCopy, [](T x) { return x; });
  this->Unary(BlockOp::kPopcnt, [](T x) { return __builtin_popcountll(static_cast<U>(x)); });
  this->Unary(BlockOp::kClz, [](T x) {
    return x == 0 ? int{sizeof(T) * 8}
                  : __builtin_clzll(static_cast<U>(x)) - (64 - int{sizeof(T) * 8});
  });
}

TYPED_TEST(IntegerKernelsTest, ShiftsReadTheAmountAsUnsignedAndEmptyTheNumberAtItsWidth) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  using S = std::make_signed_t<T>;
  constexpr uint64_t kWidth = sizeof(T) * 8;
  this->Binary(BlockOp::kShiftLeft, [](T x, T y) {
    const uint64_t amount = static_cast<U>(y);
    return amount < kWidth ? static_cast<uint64_t>(x) << amount : 0;
  });
  this->Binary(BlockOp::kShiftRightLogical, [](T x, T y) {
    const uint64_t amount = static_cast<U>(y);
    return amount < kWidth ? static_cast<uint64_t>(static_cast<U>(x)) >> amount : 0;
  });
  this->Binary(BlockOp::kShiftRightArithmetic, [](T x, T y) {
    const uint64_t amount = static_cast<U>(y);
    return static_cast<int64_t>(static_cast<S>(x)) >> std::min<uint64_t>(amount, 63);
  });
}

TYPED_TEST(IntegerKernelsTest, ComparisonsGiveOneOrZero) {
  using T = TypeParam;
  this->template Binary<uint8_t>(BlockOp::kCompareEq, [](T x, T y) { return x == y; });
  this->template Binary<uint8_t>(BlockOp::kCompareNe, [](T x, T y) { return x != y; });
  this->template Binary<uint8_t>(BlockOp::kCompareLt, [](T x, T y) { return x < y; });
  this->template Binary<uint8_t>(BlockOp::kCompareLe, [](T x, T y) { return x <= y; });
  this->template Binary<uint8_t>(BlockOp::kCompareGt, [](T x, T y) { return x > y; });
  this->template Binary<uint8_t>(BlockOp::kCompareGe, [](T x, T y) { return x >= y; });
}

TYPED_TEST(IntegerKernelsTest, AbsAndSignExistForSignedTypesAndTheLowestNumberStays) {
  using T = TypeParam;
  if constexpr (std::is_signed_v<T>) {
    this->Unary(BlockOp::kAbs, [](Int128 x) { return x < 0 ? -x : x; });
    this->Unary(BlockOp::kSign, [](Int128 x) { return x < 0 ? -1 : x > 0 ? 1 : 0; });
  } else {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      EXPECT_EQ(Find(*kernels, BlockOp::kAbs, CTypeOf<T>()), nullptr);
      EXPECT_EQ(Find(*kernels, BlockOp::kSign, CTypeOf<T>()), nullptr);
    }
  }
}

TEST(PredicateKernelsTest, SumsAreOrAndProductsAnd) {
  std::vector<uint8_t> a, b;
  for (int i = 0; i < 1100; ++i) {
    a.push_back(i % 2);
    b.push_back(i / 2 % 2);
  }
  const auto check = [&](BlockOp op, auto expected) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      CheckBinaryOp<uint8_t, uint8_t>(*kernels, op, CType::kPred, a, b, [&](bool x, bool y) {
        return static_cast<uint8_t>(expected(x, y));
      });
    }
  };
  for (BlockOp op : {BlockOp::kAdd, BlockOp::kMaximum, BlockOp::kOr})
    check(op, [](bool x, bool y) { return x || y; });
  for (BlockOp op : {BlockOp::kMultiply, BlockOp::kMinimum, BlockOp::kAnd})
    check(op, [](bool x, bool y) { return x && y; });
  check(BlockOp::kXor, [](bool x, bool y) { return x != y; });
  check(BlockOp::kCompareEq, [](bool x, bool y) { return x == y; });
  check(BlockOp::kCompareNe, [](bool x, bool y) { return x != y; });
  check(BlockOp::kCompareLt, [](bool x, bool y) { return !x && y; });
  check(BlockOp::kCompareLe, [](bool x, bool y) { return !x || y; });
  check(BlockOp::kCompareGt, [](bool x, bool y) { return x && !y; });
  check(BlockOp::kCompareGe, [](bool x, bool y) { return x || !y; });
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    CheckUnaryOp<uint8_t, uint8_t>(*kernels, BlockOp::kNot, CType::kPred, a,
                                   [](bool x) { return static_cast<uint8_t>(!x); });
  }
}

}  // namespace
}  // namespace pjrt::cpu
