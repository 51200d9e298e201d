// SPDX-License-Identifier: Apache-2.0
//
// Cholesky, LU and triangular solves, on every kernel level, by what their results must satisfy.
#include "src/cpu_device/kernels/linalg_solve.h"

#include <utility>

#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class LinalgSolveTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinalgSolveTest, LinalgTypes);

template <typename T>
Dense<T> RandomPositive(int64_t n, uint32_t seed) {
  const Matrix a = Exact(RandomMatrix<T>(n, n, seed));
  Matrix out = a * Adjoint(a);
  for (int64_t i = 0; i < n; ++i) out(i, i) += 1;
  return Rounded<T>(out);
}

TYPED_TEST(LinalgSolveTest, CholeskyReadsOneTriangleAndGivesAFactorInIt) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (int64_t n : {0, 1, 2, 5, 31, 32, 33, 70, 200}) {
      for (bool lower : {true, false}) {
        const Dense<T> a = RandomPositive<T>(n, 1);
        Dense<T> f = a;
        // The other triangle and the imaginary part of the diagonal do not matter.
        for (int64_t i = 0; i < n; ++i) {
          f(i, i) = MakeNumber<T>(std::real(Number(f(i, i))), 77);
          if (std::is_same_v<T, RealOf<T>>) f(i, i) = a(i, i);
          for (int64_t j = 0; j < i; ++j) (lower ? f(j, i) : f(i, j)) = T(99);
        }
        ASSERT_EQ(Potrf(*kernels, lower, n, f.get()), 0);
        const Matrix l = lower ? Band(Exact(f), -kAll, 0) : Adjoint(Band(Exact(f), 0, kAll));
        EXPECT_LE(Distance(l * Adjoint(l), Exact(a)), Tolerance<T>(n, MaxAbs(Exact(a))))
            << kernels->name << " " << n << " " << lower;
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_GT(l(i, i).real(), 0);
          EXPECT_EQ(l(i, i).imag(), 0);
          for (int64_t j = 0; j < i; ++j) ASSERT_EQ(lower ? f(j, i) : f(i, j), T(99));
        }
      }
    }
  }
}

TYPED_TEST(LinalgSolveTest, CholeskyNamesTheFirstMinorThatIsNotPositive) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (int64_t bad : {0, 3, 32, 45}) {
      for (bool lower : {true, false}) {
        Dense<T> a = RandomPositive<T>(50, 2);
        a(bad, bad) = T(-1);
        EXPECT_EQ(Potrf(*kernels, lower, 50, a.get()), bad + 1);
        Dense<T> b = RandomPositive<T>(50, 2);
        b(bad, bad) = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
        EXPECT_EQ(Potrf(*kernels, lower, 50, b.get()), bad + 1);
      }
    }
  }
}

// P a = L U within rounding; returns the factorised matrix and pivots.
template <typename T>
void CheckLu(const Kernels& kernels, const Dense<T>& a, int32_t expected_info) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Dense<T> f = a;
  std::vector<int32_t> pivots(static_cast<size_t>(k), -7);
  ASSERT_EQ(Getrf(kernels, m, n, f.get(), pivots.data()), expected_info);
  Matrix permuted = Exact(a);
  for (int64_t i = 0; i < k; ++i) {
    const int64_t p = pivots[static_cast<size_t>(i)] - 1;
    ASSERT_GE(p, i);
    ASSERT_LT(p, m);
    for (int64_t j = 0; j < n; ++j) std::swap(permuted(i, j), permuted(p, j));
  }
  Matrix l = Band(Part(Exact(f), 0, 0, m, k), -kAll, -1);
  for (int64_t i = 0; i < k; ++i) l(i, i) = 1;
  const Matrix u = Band(Part(Exact(f), 0, 0, k, n), 0, kAll);
  EXPECT_LE(Distance(l * u, permuted), Tolerance<T>(k, 4 * MaxAbs(Exact(a))))
      << kernels.name << " " << m << "x" << n;
  // Partial pivoting: with |re| + |im| at most the pivot's no multiplier is above sqrt(2).
  EXPECT_LE(MaxAbs(l), 1.4143);
}

TYPED_TEST(LinalgSolveTest, LuOfWideTallAndSquareMatrices) {
  using T = TypeParam;
  const std::pair<int64_t, int64_t> shapes[] = {{1, 1},   {2, 2},    {5, 3},   {3, 5},
                                                {31, 31}, {33, 33},  {64, 64}, {100, 40},
                                                {40, 90}, {130, 130}};
  for (const Kernels* kernels : SupportedKernels()) {
    for (const auto& [m, n] : shapes) CheckLu(*kernels, RandomMatrix<T>(m, n, 3), 0);
  }
}

TYPED_TEST(LinalgSolveTest, LuOfNothingIsASuccess) {
  using T = TypeParam;
  EXPECT_EQ(Getrf<T>(WidestKernels(), 0, 0, nullptr, nullptr), 0);
  EXPECT_EQ(Getrf<T>(WidestKernels(), 0, 4, nullptr, nullptr), 0);
  EXPECT_EQ(Getrf<T>(WidestKernels(), 4, 0, nullptr, nullptr), 0);
}

TYPED_TEST(LinalgSolveTest, LuOfASingularMatrixIsCompleteAndNamesTheFirstZeroPivot) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    Dense<T> zero(5, 5);
    CheckLu(*kernels, zero, 1);
    // Columns 2 and 40 are zero, so that the pivots there are exactly 0.
    Dense<T> a = RandomMatrix<T>(50, 50, 4);
    for (int64_t i = 0; i < 50; ++i) a(i, 2) = a(i, 40) = T(0);
    CheckLu(*kernels, a, 3);
    Dense<T> b = RandomMatrix<T>(50, 50, 5);
    for (int64_t i = 0; i < 50; ++i) b(i, 40) = T(0);
    CheckLu(*kernels, b, 41);
  }
}

TYPED_TEST(LinalgSolveTest, LuTakesTheFirstOfEquallyLargePivotsBySumOfParts) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    Dense<T> a(40, 1);
    a(7, 0) = T(-3);
    a(20, 0) = T(3);
    int32_t pivot = 0;
    ASSERT_EQ(Getrf(*kernels, 40, 1, a.get(), &pivot), 0);
    EXPECT_EQ(pivot, 8);
    // |3 + 2i| < |4|, but its parts sum up to more.
    Dense<T> b(2, 1);
    b(0, 0) = T(4);
    b(1, 0) = MakeNumber<T>(3, 2);
    ASSERT_EQ(Getrf(*kernels, 2, 1, b.get(), &pivot), 0);
    EXPECT_EQ(pivot, (std::is_same_v<T, RealOf<T>> ? 1 : 2));
  }
}

TYPED_TEST(LinalgSolveTest, LuSpreadsNaN) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    Dense<T> a = RandomMatrix<T>(40, 40, 6);
    a(3, 4) = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
    std::vector<int32_t> pivots(40);
    EXPECT_EQ(Getrf(*kernels, 40, 40, a.get(), pivots.data()), 0);
    EXPECT_TRUE(std::isnan(std::abs(Number(a(39, 39)))));
    for (int32_t p : pivots) EXPECT_TRUE(p >= 1 && p <= 40);
  }
}

TYPED_TEST(LinalgSolveTest, TriangularSolvesInAllCombinations) {
  using T = TypeParam;
  const std::pair<int64_t, int64_t> shapes[] = {{1, 1},  {3, 1},    {4, 7},   {65, 2},
                                                {70, 9}, {130, 20}, {20, 130}};
  for (const Kernels* kernels : SupportedKernels()) {
    for (int bits = 0; bits < 32; ++bits) {
      TrsmOptions o;
      o.left = bits & 1;
      o.lower = bits & 2;
      o.transpose = bits & 4;
      o.conjugate = bits & 8;
      o.unit_diagonal = bits & 16;
      for (const auto& [m, n] : shapes) {
        const int64_t k = o.left ? m : n;
        // The other triangle, and the diagonal if it counts as ones, are not read.
        Dense<T> a = RandomMatrix<T>(k, k, 7);
        for (int64_t i = 0; i < k; ++i) {
          for (int64_t j = 0; j < k; ++j) {
            a(i, j) = a(i, j) * T(RealOf<T>(1) / static_cast<RealOf<T>>(k));
            if (o.lower ? j > i : j < i) a(i, j) = T(1e30f);
          }
          a(i, i) = o.unit_diagonal ? T(0) : a(i, i) + T(2);
        }
        Matrix op = o.lower ? Band(Exact(a), -kAll, 0) : Band(Exact(a), 0, kAll);
        for (int64_t i = 0; i < k && o.unit_diagonal; ++i) op(i, i) = 1;
        if (o.transpose) op = Adjoint(op);
        if (o.conjugate != o.transpose) {
          for (Number& x : op.data) x = std::conj(x);
        }
        const Dense<T> b = RandomMatrix<T>(m, n, 8);
        Dense<T> x = b;
        Trsm(*kernels, o, m, n, a.get(), x.get());
        const Matrix product = o.left ? op * Exact(x) : Exact(x) * op;
        ASSERT_LE(Distance(product, Exact(b)), Tolerance<T>(k, 4))
            << kernels->name << " " << bits << " " << m << "x" << n;
      }
    }
  }
}

TYPED_TEST(LinalgSolveTest, ZeroOnTheDiagonalOfATriangleGivesNoFiniteResult) {
  using T = TypeParam;
  for (int64_t n : {1, 8}) {
    Dense<T> a(2, 2), b(2, n);
    a(0, 0) = T(1);
    for (T& x : b.data) x = T(1);
    Trsm(WidestKernels(), TrsmOptions(), 2, n, a.get(), b.get());
    EXPECT_EQ(b(0, 0), T(1));
    for (int64_t j = 0; j < n; ++j) EXPECT_FALSE(std::isfinite(std::abs(Number(b(1, j)))));
  }
  Trsm<T>(WidestKernels(), TrsmOptions(), 0, 3, nullptr, nullptr);
  Trsm<T>(WidestKernels(), TrsmOptions(), 3, 0, nullptr, nullptr);
}

TYPED_TEST(LinalgSolveTest, SolvesAreRightNearTheEndsOfTheRange) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R scale : {std::numeric_limits<R>::min() * 4, std::numeric_limits<R>::max() / 1024}) {
    Dense<T> a = RandomMatrix<T>(20, 20, 9);
    for (T& x : a.data) x = x * T(scale);
    Dense<T> f = a;
    std::vector<int32_t> pivots(20);
    ASSERT_EQ(Getrf(WidestKernels(), 20, 20, f.get(), pivots.data()), 0);
    for (const T& x : f.data) ASSERT_TRUE(std::isfinite(std::abs(Number(x))));
  }
}

}  // namespace
}  // namespace pjrt::cpu
