// SPDX-License-Identifier: Apache-2.0
//
// QR factorisations and products with their orthogonal factors, on every kernel level.
#include "src/cpu_device/kernels/linalg_qr.h"

#include <utility>

#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class LinalgQrTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinalgQrTest, LinalgTypes);

const std::pair<int64_t, int64_t> kQrShapes[] = {{1, 1}, {1, 4},   {4, 1},   {5, 5},   {9, 4},
                                                 {4, 9}, {33, 33}, {70, 40}, {40, 70}, {96, 96}};

TYPED_TEST(LinalgQrTest, QTimesRIsTheMatrixAndRHasARealDiagonal) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (const auto& [m, n] : kQrShapes) {
      const int64_t k = std::min(m, n);
      const Dense<T> a = RandomMatrix<T>(m, n, 1);
      Dense<T> f = a;
      std::vector<T> taus(static_cast<size_t>(k));
      Geqrf(*kernels, m, n, f.get(), taus.data());
      const Matrix q = ProductOfReflectors(f, taus);
      const Matrix r = Band(Exact(f), 0, kAll);
      const double tolerance = Tolerance<T>(m, MaxAbs(Exact(a)));
      EXPECT_LE(Distance(q * r, Exact(a)), tolerance) << kernels->name << " " << m << "x" << n;
      EXPECT_LE(Distance(Adjoint(q) * q, Identity(m)), tolerance);
      for (int64_t i = 0; i < k; ++i) EXPECT_EQ(r(i, i).imag(), 0);
    }
  }
}

TYPED_TEST(LinalgQrTest, TheDiagonalOfRHasTheOppositeSignOfTheEliminatedElement) {
  using T = TypeParam;
  Dense<T> a(3, 1);
  a(0, 0) = T(3);
  a(2, 0) = T(4);
  T tau;
  Geqrf(WidestKernels(), 3, 1, a.get(), &tau);
  EXPECT_NEAR(std::abs(Number(a(0, 0)) - Number(-5)), 0, 1e-6);
  EXPECT_NEAR(std::abs(Number(tau) - Number(8.0 / 5)), 0, 1e-6);
  EXPECT_NEAR(std::abs(Number(a(2, 0)) - Number(0.5)), 0, 1e-6);
  a(0, 0) = T(-3);
  a(1, 0) = T(4);
  a(2, 0) = T(0);
  Geqrf(WidestKernels(), 3, 1, a.get(), &tau);
  EXPECT_NEAR(std::abs(Number(a(0, 0)) - Number(5)), 0, 1e-6);
}

TYPED_TEST(LinalgQrTest, AColumnThatIsEliminatedAlreadyHasTauZeroAndStays) {
  using T = TypeParam;
  Dense<T> a(3, 2);
  a(0, 0) = T(-2);
  a(0, 1) = T(1);
  a(1, 1) = T(5);
  std::vector<T> taus(2, T(9));
  Geqrf(WidestKernels(), 3, 2, a.get(), taus.data());
  EXPECT_EQ(taus[0], T(0));
  EXPECT_EQ(taus[1], T(0));
  EXPECT_EQ(a(0, 0), T(-2));
  EXPECT_EQ(a(1, 1), T(5));
  // A number that is not real is made so, even when alone.
  if constexpr (!std::is_same_v<T, RealOf<T>>) {
    T one = T(3, 4), tau;
    Geqrf(WidestKernels(), 1, 1, &one, &tau);
    EXPECT_NEAR(std::abs(Number(one) - Number(-5)), 0, 1e-6);
    EXPECT_NE(tau, T(0));
  }
}

TYPED_TEST(LinalgQrTest, QrOfScaledMatricesLosesNothing) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R scale : {std::numeric_limits<R>::min() * 1024, std::numeric_limits<R>::max() / 1024}) {
    Dense<T> a = RandomMatrix<T>(20, 12, 2);
    for (T& x : a.data) x = x * T(scale);
    Dense<T> f = a;
    std::vector<T> taus(12);
    Geqrf(WidestKernels(), 20, 12, f.get(), taus.data());
    const Matrix q = ProductOfReflectors(f, taus);
    const Matrix product = q * Band(Exact(f), 0, kAll);
    EXPECT_LE(Distance(product, Exact(a)) / scale, Tolerance<T>(20, 4));
  }
}

TYPED_TEST(LinalgQrTest, NothingIsLeftUnwrittenWhereThereAreNaNs) {
  using T = TypeParam;
  Dense<T> a = RandomMatrix<T>(40, 40, 3);
  a(5, 5) = T(std::numeric_limits<RealOf<T>>::quiet_NaN());
  std::vector<T> taus(40);
  Geqrf(WidestKernels(), 40, 40, a.get(), taus.data());
  EXPECT_TRUE(std::isnan(std::abs(Number(a(39, 39)))));
  std::vector<int32_t> permutation(40, 0);
  Dense<T> b = RandomMatrix<T>(40, 40, 3);
  b(5, 5) = T(std::numeric_limits<RealOf<T>>::infinity());
  Geqp3(WidestKernels(), 40, 40, b.get(), permutation.data(), taus.data());
  std::sort(permutation.begin(), permutation.end());
  for (int32_t i = 0; i < 40; ++i) EXPECT_EQ(permutation[static_cast<size_t>(i)], i + 1);
}

TYPED_TEST(LinalgQrTest, OrthogonalFactorIsTheProductOfReflectors) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (const auto& [m, n] : kQrShapes) {
      if (m < n) continue;
      for (int64_t t : {n, (n + 1) / 2, int64_t{0}}) {
        Dense<T> f = RandomMatrix<T>(m, n, 4);
        std::vector<T> taus(static_cast<size_t>(n));
        Geqrf(*kernels, m, n, f.get(), taus.data());
        taus.resize(static_cast<size_t>(t));
        const Matrix expected = Part(ProductOfReflectors(f, taus), 0, 0, m, n);
        Dense<T> q = f;
        Orgqr(*kernels, m, n, t, q.get(), taus.data());
        EXPECT_LE(Distance(Exact(q), expected), Tolerance<T>(m)) << m << "x" << n << " " << t;
        EXPECT_LE(Distance(Adjoint(Exact(q)) * Exact(q), Identity(n)), Tolerance<T>(m));
      }
    }
  }
}

TYPED_TEST(LinalgQrTest, ProductsWithTheOrthogonalFactorFromBothSides) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (const auto& [rows, t] : {std::pair<int64_t, int64_t>{1, 1}, {7, 3}, {50, 40}, {70, 70}}) {
      Dense<T> f = RandomMatrix<T>(rows, t, 5);
      std::vector<T> taus(static_cast<size_t>(t));
      Geqrf(*kernels, rows, t, f.get(), taus.data());
      const Matrix q = ProductOfReflectors(f, taus);
      for (int64_t other : {1, 6, 45}) {
        for (bool left : {true, false}) {
          for (bool adjoint : {true, false}) {
            const Dense<T> c =
                left ? RandomMatrix<T>(rows, other, 6) : RandomMatrix<T>(other, rows, 6);
            Dense<T> out = c;
            Ormqr(*kernels, left, adjoint, c.rows, c.columns, t, f.get(), t, taus.data(),
                  out.get());
            const Matrix op = adjoint ? Adjoint(q) : q;
            const Matrix expected = left ? op * Exact(c) : Exact(c) * op;
            ASSERT_LE(Distance(Exact(out), expected), Tolerance<T>(rows, 4))
                << rows << " " << t << " " << other << " " << left << adjoint;
          }
        }
      }
    }
  }
}

TYPED_TEST(LinalgQrTest, ColumnPivotingOrdersTheDiagonalAndPermutesTheColumns) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (const auto& [m, n] : kQrShapes) {
      const int64_t k = std::min(m, n);
      const Dense<T> a = RandomMatrix<T>(m, n, 7);
      Dense<T> f = a;
      std::vector<T> taus(static_cast<size_t>(k));
      std::vector<int32_t> permutation(static_cast<size_t>(n), 0);
      Geqp3(*kernels, m, n, f.get(), permutation.data(), taus.data());
      const Matrix product = ProductOfReflectors(f, taus) * Band(Exact(f), 0, kAll);
      Matrix permuted(m, n);
      for (int64_t j = 0; j < n; ++j) {
        const int64_t from = permutation[static_cast<size_t>(j)] - 1;
        for (int64_t i = 0; i < m; ++i) permuted(i, j) = Number(a(i, from));
      }
      EXPECT_LE(Distance(product, permuted), Tolerance<T>(m, MaxAbs(permuted)));
      for (int64_t i = 1; i < k; ++i) {
        EXPECT_LE(std::abs(Number(f(i, i))), std::abs(Number(f(i - 1, i - 1))) * 1.0001);
      }
    }
  }
}

TYPED_TEST(LinalgQrTest, ColumnsMarkedAsFixedComeFirst) {
  using T = TypeParam;
  const Dense<T> a = RandomMatrix<T>(8, 6, 8);
  Dense<T> f = a;
  std::vector<T> taus(6);
  std::vector<int32_t> permutation = {0, 0, 5, 0, 1, 0};
  Geqp3(WidestKernels(), 8, 6, f.get(), permutation.data(), taus.data());
  EXPECT_EQ(permutation[0], 3);
  EXPECT_EQ(permutation[1], 5);
  const Matrix product = ProductOfReflectors(f, taus) * Band(Exact(f), 0, kAll);
  for (int64_t j = 0; j < 6; ++j) {
    for (int64_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(std::abs(product(i, j) - Number(a(i, permutation[static_cast<size_t>(j)] - 1))),
                  0, Tolerance<T>(8, 4));
    }
  }
}

TYPED_TEST(LinalgQrTest, PivotingShowsTheRank) {
  using T = TypeParam;
  const Matrix low = Exact(RandomMatrix<T>(30, 4, 9)) * Exact(RandomMatrix<T>(4, 20, 10));
  Dense<T> f = Rounded<T>(low);
  std::vector<T> taus(20);
  std::vector<int32_t> permutation(20, 0);
  Geqp3(WidestKernels(), 30, 20, f.get(), permutation.data(), taus.data());
  EXPECT_GT(std::abs(Number(f(3, 3))), 0.01);
  EXPECT_LE(std::abs(Number(f(4, 4))), Tolerance<T>(30, 10));
}

TYPED_TEST(LinalgQrTest, EmptyMatrices) {
  using T = TypeParam;
  Geqrf<T>(WidestKernels(), 0, 3, nullptr, nullptr);
  Geqrf<T>(WidestKernels(), 3, 0, nullptr, nullptr);
  Orgqr<T>(WidestKernels(), 0, 0, 0, nullptr, nullptr);
  Orgqr<T>(WidestKernels(), 3, 0, 0, nullptr, nullptr);
  Ormqr<T>(WidestKernels(), true, true, 0, 3, 0, nullptr, 0, nullptr, nullptr);
  std::vector<int32_t> permutation(3, 0);
  Geqp3<T>(WidestKernels(), 0, 3, nullptr, permutation.data(), nullptr);
  EXPECT_EQ(permutation, (std::vector<int32_t>{1, 2, 3}));
}

}  // namespace
}  // namespace pjrt::cpu
