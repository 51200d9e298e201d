// SPDX-License-Identifier: Apache-2.0
//
// Row reductions: the tree of operations, and that each level gives its bits.
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// The tree of the interface, literally: 32 lanes, then pairs of lanes 16, 8, 4, 2, 1 apart.
template <typename T, typename Op>
T ReduceByDefinition(const T* a, int64_t n, Op op) {
  std::vector<T> lanes;
  for (int64_t i = 0; i < n; ++i) {
    if (i < 32) {
      lanes.push_back(a[i]);
    } else {
      lanes[i % 32] = op(lanes[i % 32], a[i]);
    }
  }
  for (size_t half = 16; half > 0; half /= 2) {
    for (size_t j = 0; j + half < lanes.size(); ++j) lanes[j] = op(lanes[j], lanes[j + half]);
    if (lanes.size() > half) lanes.resize(half);
  }
  return lanes[0];
}

template <typename T, typename Op>
void Check(Monoid monoid, CType type, const std::vector<T>& a, Op op) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const ReduceRowsFn reduce =
        kernels->reduce_rows[static_cast<int>(monoid)][static_cast<int>(type)];
    ASSERT_NE(reduce, nullptr);
    for (int64_t n : {1,  2,  3,  4,  5,  6,  7,  8,  10, 12, 15, 16,  17,  24,  31,
                      32, 33, 39, 40, 47, 48, 56, 63, 64, 65, 95, 100, 500, 1000}) {
      for (int64_t most : {3, 4, 5, 20, 35, 63, 70}) {
        // Rows shorter than 32 are folded 64 at a time, and what is left likewise, if it is not
        // few.
        if (n >= 32 && most > 20) continue;
        const int64_t rows = std::min(static_cast<int64_t>(a.size()) / n, most);
        std::vector<T> result = Untouched<T>(rows + 1);
        reduce(result.data(), a.data(), rows, n);
        for (int64_t r = 0; r < rows; ++r) {
          const T expected = ReduceByDefinition(a.data() + r * n, n, op);
          ASSERT_TRUE(SameValue(result[r], expected))
              << kernels->level << " type " << static_cast<int>(type) << " monoid "
              << static_cast<int>(monoid) << " n = " << n << ": " << Show(result[r])
              << ", expected " << Show(expected);
        }
        const T untouched = Untouched<T>(1)[0];
        ASSERT_EQ(std::memcmp(&result[rows], &untouched, sizeof(T)), 0);
      }
    }
  }
}

template <typename T>
void CheckInteger() {
  std::mt19937_64 random(4);
  std::vector<T> a;
  for (int i = 0; i < 4000; ++i) a.push_back(static_cast<T>(random()));
  const CType type = CTypeOf<T>();
  using U = std::make_unsigned_t<T>;
  Check(Monoid::kAdd, type, a, [](T x, T y) {
    return static_cast<T>(static_cast<U>(static_cast<U>(x) + static_cast<U>(y)));
  });
  Check(Monoid::kMultiply, type, a, [](T x, T y) {
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  });
  Check(Monoid::kMaximum, type, a, [](T x, T y) { return std::max(x, y); });
  Check(Monoid::kMinimum, type, a, [](T x, T y) { return std::min(x, y); });
  Check(Monoid::kAnd, type, a, [](T x, T y) { return static_cast<T>(x & y); });
  Check(Monoid::kOr, type, a, [](T x, T y) { return static_cast<T>(x | y); });
  Check(Monoid::kXor, type, a, [](T x, T y) { return static_cast<T>(x ^ y); });
}

TEST(ReduceKernelsTest, IntegersWrapAroundAndCompareByTheirSign) {
  CheckInteger<int8_t>();
  CheckInteger<uint8_t>();
  CheckInteger<int16_t>();
  CheckInteger<uint16_t>();
  CheckInteger<int32_t>();
  CheckInteger<uint32_t>();
  CheckInteger<int64_t>();
  CheckInteger<uint64_t>();
}

template <typename T>
void CheckFloat() {
  std::mt19937_64 random(6);
  std::normal_distribution<T> normal(0, 100);
  std::vector<T> a;
  for (int i = 0; i < 4000; ++i) a.push_back(normal(random));
  const CType type = CTypeOf<T>();
  Check(Monoid::kAdd, type, a, [](T x, T y) { return x + y; });
  Check(Monoid::kMultiply, type, a, [](T x, T y) { return x * y; });
  for (int i = 0; i < 4000; i += 97) a[i] = i % 2 != 0 ? T{0} : -T{0};
  for (int i = 1500; i < 4000; i += 301) a[i] = std::numeric_limits<T>::quiet_NaN();
  Check(Monoid::kMaximum, type, a, MaximumOf<T>);
  Check(Monoid::kMinimum, type, a, MinimumOf<T>);
  std::vector<T> zeros;
  for (int i = 0; i < 200; ++i) zeros.push_back(random() % 2 != 0 ? T{0} : -T{0});
  Check(Monoid::kMaximum, type, zeros, MaximumOf<T>);
  Check(Monoid::kMinimum, type, zeros, MinimumOf<T>);
}

TEST(ReduceKernelsTest, FloatsFollowTheTreeBitForBitAtEachLevel) {
  CheckFloat<float>();
  CheckFloat<double>();
}

TEST(ReduceKernelsTest, ComplexNumbersFollowTheTreeBitForBitAtEachLevel) {
  using Z = std::complex<double>;
  std::mt19937_64 random(8);
  std::normal_distribution<double> normal(0, 2);
  std::vector<Z> a;
  std::vector<std::complex<float>> narrow;
  for (int i = 0; i < 2000; ++i) {
    a.emplace_back(normal(random), normal(random));
    narrow.emplace_back(a.back());
  }
  Check(Monoid::kAdd, CType::kC128, a, [](Z x, Z y) { return x + y; });
  Check(Monoid::kAdd, CType::kC64, narrow,
        [](std::complex<float> x, std::complex<float> y) { return x + y; });
  Check(Monoid::kMultiply, CType::kC64, narrow, [](Z x, Z y) {
    return std::complex<float>(
        Z(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()));
  });
  const auto larger = [](Z x, Z y) {
    return x.real() > y.real() || (x.real() == y.real() && x.imag() >= y.imag()) ? x : y;
  };
  Check(Monoid::kMaximum, CType::kC128, a, larger);
}

TEST(ReduceKernelsTest, PredicatesAreOrAndAndXor) {
  std::mt19937 random(9);
  std::vector<uint8_t> a;
  for (int i = 0; i < 4000; ++i) a.push_back(i < 2000 ? random() % 2 : random() % 64 == 0);
  for (Monoid monoid : {Monoid::kAdd, Monoid::kMaximum, Monoid::kOr}) {
    Check(monoid, CType::kPred, a,
          [](uint8_t x, uint8_t y) { return static_cast<uint8_t>(x | y); });
  }
  for (Monoid monoid : {Monoid::kMultiply, Monoid::kMinimum, Monoid::kAnd}) {
    Check(monoid, CType::kPred, a,
          [](uint8_t x, uint8_t y) { return static_cast<uint8_t>(x & y); });
  }
  Check(Monoid::kXor, CType::kPred, a,
        [](uint8_t x, uint8_t y) { return static_cast<uint8_t>(x ^ y); });
}

TEST(ReduceKernelsTest, FloatsHaveNoBitwiseReductions) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (Monoid monoid : {Monoid::kAnd, Monoid::kOr, Monoid::kXor}) {
      EXPECT_EQ(kernels->reduce_rows[static_cast<int>(monoid)][static_cast<int>(CType::kF32)],
                nullptr);
      EXPECT_EQ(kernels->reduce_rows[static_cast<int>(monoid)][static_cast<int>(CType::kC64)],
                nullptr);
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
