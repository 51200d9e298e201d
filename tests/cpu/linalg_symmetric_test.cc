// SPDX-License-Identifier: Apache-2.0
//
// Hermitian eigenproblems and singular values, on every kernel level.
#include <utility>

#include "src/cpu_device/kernels/linalg_eigen.h"
#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class LinalgSymmetricTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinalgSymmetricTest, LinalgTypes);

// The matrix with what is not to be read replaced: one triangle and imaginary parts on the
// diagonal.
template <typename T>
Dense<T> Spoilt(const Dense<T>& a, bool lower) {
  Dense<T> out = a;
  for (int64_t i = 0; i < a.rows; ++i) {
    if constexpr (!std::is_same_v<T, RealOf<T>>) out(i, i) = T(a(i, i).real(), 55);
    for (int64_t j = 0; j < i; ++j) (lower ? out(j, i) : out(i, j)) = T(77);
  }
  return out;
}

TYPED_TEST(LinalgSymmetricTest, TridiagonalReductionOfEitherTriangle) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (const Kernels* kernels : SupportedKernels()) {
    for (int64_t n : {1, 2, 3, 8, 45}) {
      for (bool lower : {true, false}) {
        const Dense<T> a = RandomHermitian<T>(n, 1);
        Dense<T> f = Spoilt(a, lower);
        std::vector<R> d(static_cast<size_t>(n)), e(static_cast<size_t>(n - 1));
        std::vector<T> taus(static_cast<size_t>(n - 1));
        Sytrd(*kernels, lower, n, f.get(), d.data(), e.data(), taus.data());
        Matrix q = Identity(n);
        for (int64_t k = 0; k + 1 < n; ++k) {
          // Lower: Q = H1 H2 ...; upper: Q = ... H2 H1.
          const int64_t i = lower ? k : n - 2 - k;
          std::vector<Number> v(static_cast<size_t>(n));
          v[static_cast<size_t>(lower ? i + 1 : i)] = 1;
          for (int64_t r = lower ? i + 2 : 0; r < (lower ? n : i); ++r) {
            v[static_cast<size_t>(r)] = Number(lower ? f(r, i) : f(r, i + 1));
          }
          MultiplyByReflector(v, Number(taus[static_cast<size_t>(i)]), &q);
        }
        Matrix t = Diagonal(d);
        for (int64_t i = 0; i + 1 < n; ++i) {
          t(i, i + 1) = t(i + 1, i) = Number(e[static_cast<size_t>(i)]);
          EXPECT_EQ(lower ? f(i + 1, i) : f(i, i + 1), T(e[static_cast<size_t>(i)]));
          EXPECT_EQ(lower ? f(i, i + 1) : f(i + 1, i), T(77));
          EXPECT_EQ(f(i, i), T(d[static_cast<size_t>(i)]));
        }
        EXPECT_LE(Distance(q * t * Adjoint(q), Exact(a)), Tolerance<T>(n, 4));
        EXPECT_LE(Distance(q * Adjoint(q), Identity(n)), Tolerance<T>(n));
      }
    }
  }
}

template <typename T>
void CheckEigen(const Kernels& kernels, const Dense<T>& a, double scale) {
  const int64_t n = a.rows;
  for (bool lower : {true, false}) {
    Dense<T> v = Spoilt(a, lower);
    std::vector<RealOf<T>> w(static_cast<size_t>(n));
    ASSERT_EQ(Syevd(kernels, true, lower, n, v.get(), w.data()), 0);
    const Matrix q = Exact(v);
    EXPECT_LE(Distance(Exact(a) * q, q * Diagonal(w)) / scale, Tolerance<T>(n, 4))
        << kernels.name << " " << n;
    EXPECT_LE(Distance(Adjoint(q) * q, Identity(n)), Tolerance<T>(n)) << n;
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
    Dense<T> again = Spoilt(a, lower);
    std::vector<RealOf<T>> alone(static_cast<size_t>(n));
    ASSERT_EQ(Syevd(kernels, false, lower, n, again.get(), alone.data()), 0);
    EXPECT_EQ(alone, w);
  }
}

TYPED_TEST(LinalgSymmetricTest, EigenvaluesAscendAndVectorsAreOrthonormal) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (int64_t n : {0, 1, 2, 3, 10, 64, 97}) CheckEigen(*kernels, RandomHermitian<T>(n, 2), 1);
  }
}

TYPED_TEST(LinalgSymmetricTest, EigenvectorsOfDegenerateMatrices) {
  using T = TypeParam;
  const Kernels& kernels = WidestKernels();
  CheckEigen(kernels, Dense<T>(12, 12), 1);
  CheckEigen(kernels, Rounded<T>(Identity(12)), 1);
  Dense<T> ones(20, 20);
  for (T& x : ones.data) x = T(1);
  CheckEigen(kernels, ones, 20);
  // Wilkinson's matrix: pairs of eigenvalues that agree in nearly all digits.
  Dense<T> w(21, 21);
  for (int64_t i = 0; i < 21; ++i) {
    w(i, i) = T(static_cast<RealOf<T>>(std::abs(i - 10)));
    if (i > 0) w(i, i - 1) = w(i - 1, i) = T(1);
  }
  CheckEigen(kernels, w, 10);
  // Graded either way, over more than the precision.
  for (bool up : {true, false}) {
    Dense<T> graded = RandomHermitian<T>(16, 3);
    for (int64_t i = 0; i < 16; ++i) {
      for (int64_t j = 0; j < 16; ++j) {
        const double size = std::pow(10.0, -static_cast<double>(up ? 30 - i - j : i + j));
        graded(i, j) = graded(i, j) * T(static_cast<RealOf<T>>(size));
      }
    }
    CheckEigen(kernels, graded, 1);
  }
}

TYPED_TEST(LinalgSymmetricTest, EigenvaluesOfMatricesNearTheEndsOfTheRange) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R scale : {std::numeric_limits<R>::min() * 64, std::numeric_limits<R>::max() / 256}) {
    Dense<T> a = RandomHermitian<T>(15, 4);
    for (T& x : a.data) x = x * T(scale);
    CheckEigen(WidestKernels(), a, scale);
  }
}

TYPED_TEST(LinalgSymmetricTest, EigenvaluesOfNaNAndInfAreAFailure) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    Dense<T> a = RandomHermitian<T>(6, 5);
    a(4, 2) = T(bad);
    std::vector<R> w(6);
    EXPECT_GT(Syevd(WidestKernels(), true, true, 6, a.get(), w.data()), 0);
    EXPECT_TRUE(std::isnan(w[0]));
    // In the triangle that is not read it does no harm.
    Dense<T> b = RandomHermitian<T>(6, 5);
    b(4, 2) = T(bad);
    EXPECT_EQ(Syevd(WidestKernels(), true, false, 6, b.get(), w.data()), 0);
  }
}

template <typename T>
void CheckSvd(const Kernels& kernels, const Dense<T>& a, double scale = 1) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  std::vector<RealOf<T>> alone(static_cast<size_t>(k));
  Dense<T> copy = a;
  ASSERT_EQ(Gesdd<T>(kernels, SvdVectors::kNone, m, n, copy.get(), alone.data(), nullptr, nullptr),
            0);
  for (SvdVectors mode : {SvdVectors::kThin, SvdVectors::kFull}) {
    const bool full = mode == SvdVectors::kFull;
    Dense<T> u(m, full ? m : k), vt(full ? n : k, n);
    std::vector<RealOf<T>> s(static_cast<size_t>(k));
    copy = a;
    ASSERT_EQ(Gesdd(kernels, mode, m, n, copy.get(), s.data(), u.get(), vt.get()), 0);
    const Matrix product = Part(Exact(u), 0, 0, m, k) * Diagonal(s) * Part(Exact(vt), 0, 0, k, n);
    EXPECT_LE(Distance(product, Exact(a)) / scale, Tolerance<T>(std::max(m, n), 4))
        << kernels.name << " " << m << "x" << n;
    EXPECT_LE(Distance(Adjoint(Exact(u)) * Exact(u), Identity(u.columns)), Tolerance<T>(m));
    EXPECT_LE(Distance(Exact(vt) * Adjoint(Exact(vt)), Identity(vt.rows)), Tolerance<T>(n));
    EXPECT_TRUE(std::is_sorted(s.rbegin(), s.rend()));
    if (k > 0) {
      EXPECT_GE(s.back(), 0);
    }
    for (int64_t i = 0; i < k; ++i) {
      EXPECT_NEAR(s[static_cast<size_t>(i)] / scale, alone[static_cast<size_t>(i)] / scale,
                  Tolerance<T>(n));
    }
  }
}

TYPED_TEST(LinalgSymmetricTest, SingularValuesOfWideTallAndSquareMatrices) {
  using T = TypeParam;
  const std::pair<int64_t, int64_t> shapes[] = {{0, 0},   {0, 3},   {3, 0},  {1, 1},  {1, 5},
                                                {5, 1},   {2, 2},   {9, 9},  {12, 7}, {7, 12},
                                                {96, 64}, {64, 96}, {65, 65}};
  for (const Kernels* kernels : SupportedKernels()) {
    for (const auto& [m, n] : shapes) CheckSvd(*kernels, RandomMatrix<T>(m, n, 6));
  }
}

TYPED_TEST(LinalgSymmetricTest, SingularValuesOfDegenerateMatrices) {
  using T = TypeParam;
  const Kernels& kernels = WidestKernels();
  CheckSvd(kernels, Dense<T>(7, 5));
  CheckSvd(kernels, Rounded<T>(Identity(9)));
  const Matrix low = Exact(RandomMatrix<T>(30, 3, 7)) * Exact(RandomMatrix<T>(3, 22, 8));
  CheckSvd(kernels, Rounded<T>(low), 4);
  // A nilpotent matrix: zeros on the diagonal of the bidiagonal form.
  Dense<T> shift(10, 10);
  for (int64_t i = 0; i + 1 < 10; ++i) shift(i, i + 1) = T(static_cast<RealOf<T>>(i + 1));
  CheckSvd(kernels, shift, 10);
  // Graded in both directions.
  for (double base : {0.1, 10.0}) {
    Dense<T> graded = RandomMatrix<T>(14, 14, 9);
    double largest = 0;
    for (int64_t i = 0; i < 14; ++i) {
      for (int64_t j = 0; j < 14; ++j) {
        graded(i, j) =
            graded(i, j) * T(static_cast<RealOf<T>>(std::pow(base, static_cast<double>(i + j))));
        largest = std::max(largest, std::abs(Number(graded(i, j))));
      }
    }
    CheckSvd(kernels, graded, largest);
  }
}

TYPED_TEST(LinalgSymmetricTest, SingularValuesNearTheEndsOfTheRange) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R scale : {std::numeric_limits<R>::min() * 64, std::numeric_limits<R>::max() / 256}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{9, 9}, {12, 6}, {6, 12}}) {
      Dense<T> a = RandomMatrix<T>(m, n, 10);
      for (T& x : a.data) x = x * T(scale);
      CheckSvd(WidestKernels(), a, scale);
    }
  }
}

TYPED_TEST(LinalgSymmetricTest, SingularValuesOfNaNAndInf) {
  using T = TypeParam;
  using R = RealOf<T>;
  Dense<T> a = RandomMatrix<T>(5, 4, 11), u(5, 4), vt(4, 4);
  std::vector<R> s(4);
  a(2, 2) = T(std::numeric_limits<R>::quiet_NaN());
  EXPECT_EQ(Gesdd(WidestKernels(), SvdVectors::kThin, 5, 4, a.get(), s.data(), u.get(), vt.get()),
            -4);
  Dense<T> b = RandomMatrix<T>(5, 4, 11);
  b(2, 2) = T(std::numeric_limits<R>::infinity());
  s.assign(4, 0);
  EXPECT_EQ(Gesdd(WidestKernels(), SvdVectors::kThin, 5, 4, b.get(), s.data(), u.get(), vt.get()),
            0);
  for (R x : s) EXPECT_TRUE(std::isnan(x));
}

}  // namespace
}  // namespace pjrt::cpu
