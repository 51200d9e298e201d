// SPDX-License-Identifier: Apache-2.0
//
// Hessenberg and Schur forms and eigenvectors of general matrices.
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class LinalgGeneralTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinalgGeneralTest, LinalgTypes);

template <typename T>
constexpr bool kIsReal = std::is_same_v<T, RealOf<T>>;

TYPED_TEST(LinalgGeneralTest, HessenbergReduction) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (int64_t n : {1, 2, 3, 9, 40}) {
      const Dense<T> a = RandomMatrix<T>(n, n, 1);
      Dense<T> h = a;
      std::vector<T> taus(static_cast<size_t>(n - 1));
      ASSERT_EQ(Gehrd(*kernels, n, 1, n, h.get(), taus.data()), 0);
      const Matrix q = ProductOfReflectors(h, taus, 1);
      EXPECT_LE(Distance(q * Band(Exact(h), -1, kAll) * Adjoint(q), Exact(a)), Tolerance<T>(n, 4));
      EXPECT_LE(Distance(q * Adjoint(q), Identity(n)), Tolerance<T>(n));
    }
  }
}

TYPED_TEST(LinalgGeneralTest, HessenbergReductionOfAPart) {
  using T = TypeParam;
  // Rows 0, 1 and 7 are triangular already.
  Dense<T> a = RandomMatrix<T>(8, 8, 2);
  for (int64_t i = 0; i < 8; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      if (j < 2 || i == 7) a(i, j) = T(0);
    }
  }
  Dense<T> h = a;
  std::vector<T> taus(7, T(5));
  ASSERT_EQ(Gehrd(WidestKernels(), 8, 3, 7, h.get(), taus.data()), 0);
  EXPECT_EQ(taus[0], T(0));
  EXPECT_EQ(taus[1], T(0));
  EXPECT_EQ(taus[6], T(0));
  const Matrix q = ProductOfReflectors(h, taus, 1);
  EXPECT_LE(Distance(q * Band(Exact(h), -1, kAll) * Adjoint(q), Exact(a)), Tolerance<T>(8, 4));
  EXPECT_EQ(Gehrd(WidestKernels(), 8, 0, 8, h.get(), taus.data()), -2);
  EXPECT_EQ(Gehrd(WidestKernels(), 8, 3, 9, h.get(), taus.data()), -3);
  EXPECT_EQ(Gehrd<T>(WidestKernels(), 0, 1, 0, nullptr, nullptr), 0);
}

template <typename T>
void CheckSchur(const Kernels& kernels, const Dense<T>& a, double scale = 1) {
  using R = RealOf<T>;
  const int64_t n = a.rows;
  Dense<T> t = a, z(n, n);
  std::vector<std::complex<R>> w(static_cast<size_t>(n));
  ASSERT_EQ(Gees(kernels, n, t.get(), SpanOf(w.data()), z.get()), 0) << n;
  const Matrix q = Exact(z);
  EXPECT_LE(Distance(q * Exact(t) * Adjoint(q), Exact(a)) / scale, Tolerance<T>(n, 4))
      << kernels.name << " " << n;
  EXPECT_LE(Distance(q * Adjoint(q), Identity(n)), Tolerance<T>(n, 2));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j + 1 < i; ++j) ASSERT_EQ(t(i, j), T(0));
    const Number value(w[static_cast<size_t>(i)]);
    EXPECT_EQ(value.real(), std::real(Number(t(i, i))));
    if (i + 1 == n || t(i + 1, i) == T(0)) continue;
    // A block: two rows, with equal diagonal and a pair of conjugate eigenvalues.
    ASSERT_TRUE(kIsReal<T>);
    EXPECT_EQ(t(i, i), t(i + 1, i + 1));
    EXPECT_NE(std::real(t(i, i + 1)) > 0, std::real(t(i + 1, i)) > 0);
    if (i + 2 < n) {
      EXPECT_EQ(t(i + 2, i + 1), T(0));
    }
    EXPECT_GT(value.imag(), 0);
    EXPECT_EQ(Number(w[static_cast<size_t>(i + 1)]), std::conj(value));
    ++i;
  }
  Dense<T> alone = a;
  std::vector<std::complex<R>> again(static_cast<size_t>(n));
  ASSERT_EQ(Gees<T>(kernels, n, alone.get(), SpanOf(again.data()), nullptr), 0);
  EXPECT_EQ(again, w);
}

// Checks vectors up to the conditioning of the eigenvalues: by residuals.
template <typename T>
void CheckEigenvectors(const Kernels& kernels, const Dense<T>& a, double scale = 1) {
  using R = RealOf<T>;
  const int64_t n = a.rows;
  std::vector<std::complex<R>> w(static_cast<size_t>(n));
  Dense<std::complex<R>> vl(n, n), vr(n, n);
  Dense<T> copy = a;
  ASSERT_EQ(Geev(kernels, n, copy.get(), SpanOf(w.data()), vl.get(), vr.get()), 0);
  EXPECT_EQ(copy.data, a.data);
  const Matrix d = Diagonal(w), right = Exact(vr), left = Exact(vl);
  EXPECT_LE(Distance(Exact(a) * right, right * d) / scale, Tolerance<T>(n, 8))
      << kernels.name << " " << n;
  EXPECT_LE(Distance(Adjoint(left) * Exact(a), d * Adjoint(left)) / scale, Tolerance<T>(n, 8));
  for (const Matrix& v : {left, right}) {
    for (int64_t j = 0; j < n; ++j) {
      double squares = 0, largest = 0;
      for (int64_t i = 0; i < n; ++i) {
        squares += std::norm(v(i, j));
        largest = std::max(largest, std::abs(v(i, j)));
      }
      EXPECT_NEAR(squares, 1, Tolerance<T>(n));
      // The largest element is real; of equally large ones any may be it.
      bool real = false;
      for (int64_t i = 0; i < n; ++i) {
        real |= std::abs(v(i, j)) >= largest * (1 - 1e-5) && v(i, j).imag() == 0;
      }
      EXPECT_TRUE(real) << n;
    }
  }
  for (int64_t j = 0; j < n && kIsReal<T>; ++j) {
    const Number value(w[static_cast<size_t>(j)]);
    if (value.imag() == 0) {
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(right(i, j).imag(), 0);
      continue;
    }
    EXPECT_GT(value.imag(), 0);
    ASSERT_LT(j + 1, n);
    EXPECT_EQ(Number(w[static_cast<size_t>(j + 1)]), std::conj(value));
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(right(i, j + 1), std::conj(right(i, j)));
      ASSERT_EQ(left(i, j + 1), std::conj(left(i, j)));
    }
    ++j;
  }
  std::vector<std::complex<R>> alone(static_cast<size_t>(n));
  ASSERT_EQ(Geev<T>(kernels, n, a.data.data(), SpanOf(alone.data()), nullptr, nullptr), 0);
  EXPECT_EQ(alone, w);
}

TYPED_TEST(LinalgGeneralTest, SchurFormAndEigenvectors) {
  using T = TypeParam;
  for (const Kernels* kernels : SupportedKernels()) {
    for (int64_t n : {0, 1, 2, 3, 4, 5, 11, 48}) {
      for (uint32_t seed : {3, 4, 5}) {
        CheckSchur(*kernels, RandomMatrix<T>(n, n, seed));
        CheckEigenvectors(*kernels, RandomMatrix<T>(n, n, seed));
      }
    }
  }
}

TYPED_TEST(LinalgGeneralTest, EveryTwoByTwoMatrixOfSmallIntegers) {
  using T = TypeParam;
  for (int code = 0; code < 625; ++code) {
    Dense<T> a(2, 2);
    int digits = code;
    for (T& x : a.data) {
      x = T(static_cast<RealOf<T>>(digits % 5 - 2));
      digits /= 5;
    }
    CheckSchur(WidestKernels(), a);
    CheckEigenvectors(WidestKernels(), a);
  }
}

TYPED_TEST(LinalgGeneralTest, SpecialMatrices) {
  using T = TypeParam;
  const auto check = [](const Dense<T>& a, double scale) {
    CheckSchur(WidestKernels(), a, scale);
    CheckEigenvectors(WidestKernels(), a, scale);
  };
  check(Dense<T>(6, 6), 1);
  check(Rounded<T>(Identity(6)), 1);
  // A cycle: the unshifted iteration would not move. Its eigenvalues are roots of unity.
  for (int64_t n : {3, 4, 8, 17}) {
    Dense<T> cycle(n, n);
    for (int64_t i = 0; i < n; ++i) cycle(i, (i + 1) % n) = T(1);
    check(cycle, 1);
  }
  // A Jordan block has one eigenvector only, n times.
  Dense<T> jordan(9, 9);
  for (int64_t i = 0; i < 9; ++i) {
    jordan(i, i) = T(2);
    if (i > 0) jordan(i - 1, i) = T(1);
  }
  check(jordan, 2);
  // Conjugate pairs that repeat.
  Dense<T> turns(8, 8);
  for (int64_t i = 0; i < 8; i += 2) {
    turns(i, i + 1) = T(-1);
    turns(i + 1, i) = T(1);
    if (i > 0) turns(i - 1, i) = T(1);
  }
  check(turns, 1);
  const Matrix low = Exact(RandomMatrix<T>(20, 2, 6)) * Exact(RandomMatrix<T>(2, 20, 7));
  check(Rounded<T>(low), 10);
  Dense<T> ones(15, 15);
  for (T& x : ones.data) x = T(1);
  check(ones, 15);
}

TYPED_TEST(LinalgGeneralTest, MatricesNearTheEndsOfTheRange) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R scale : {std::numeric_limits<R>::min() * 1024, std::numeric_limits<R>::max() / 1024}) {
    Dense<T> a = RandomMatrix<T>(12, 12, 8);
    for (T& x : a.data) x = x * T(scale);
    CheckSchur(WidestKernels(), a, scale);
    CheckEigenvectors(WidestKernels(), a, scale);
  }
}

TYPED_TEST(LinalgGeneralTest, BadlyScaledRowsAndColumnsKeepSmallEigenvalues) {
  using T = TypeParam;
  using R = RealOf<T>;
  // D^-1 B D has the eigenvalues of B.
  const Dense<T> b = RandomMatrix<T>(6, 6, 9);
  Dense<T> a = b;
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 6; ++j) {
      a(i, j) = a(i, j) * T(static_cast<R>(std::ldexp(1.0, static_cast<int>(4 * (i - j)))));
    }
  }
  std::vector<std::complex<R>> wa(6), wb(6);
  ASSERT_EQ(Geev<T>(WidestKernels(), 6, a.get(), SpanOf(wa.data()), nullptr, nullptr), 0);
  ASSERT_EQ(Geev<T>(WidestKernels(), 6, b.data.data(), SpanOf(wb.data()), nullptr, nullptr), 0);
  for (const auto& x : wa) {
    double nearest = 1e9;
    for (const auto& y : wb) nearest = std::min(nearest, std::abs(Number(x) - Number(y)));
    EXPECT_LE(nearest, Tolerance<T>(20, 4));
  }
}

TYPED_TEST(LinalgGeneralTest, NaNAndInfAreAFailure) {
  using T = TypeParam;
  using R = RealOf<T>;
  for (R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
    Dense<T> a = RandomMatrix<T>(7, 7, 10);
    a(3, 5) = T(bad);
    std::vector<std::complex<R>> w(7, std::complex<R>(42)), v(49, std::complex<R>(43));
    EXPECT_EQ(Geev(WidestKernels(), 7, a.data.data(), SpanOf(w.data()), v.data(), v.data()), -4);
    EXPECT_EQ(w[6], std::complex<R>(42));
    EXPECT_EQ(v[48], std::complex<R>(43));
    Dense<T> z(7, 7);
    EXPECT_GT(Gees(WidestKernels(), 7, a.get(), SpanOf(w.data()), z.get()), 0);
    EXPECT_TRUE(std::isnan(w[0].real()));
    Dense<T> h = RandomMatrix<T>(7, 7, 10);
    h(3, 5) = T(bad);
    std::vector<T> taus(6);
    EXPECT_EQ(Gehrd(WidestKernels(), 7, 1, 7, h.get(), taus.data()), 0);
  }
}

TYPED_TEST(LinalgGeneralTest, EigenvaluesGoToTwoVectorsOrOne) {
  using T = TypeParam;
  using R = RealOf<T>;
  Dense<T> a(2, 2);
  a(0, 1) = T(-4);
  a(1, 0) = T(1);
  std::vector<R> re(2), im(2);
  ASSERT_EQ(Geev<T>(WidestKernels(), 2, a.get(), SpanOf(re.data(), im.data()), nullptr, nullptr),
            0);
  EXPECT_NEAR(re[0], 0, 1e-6);
  EXPECT_NEAR(std::abs(im[0]), 2, 1e-6);
  EXPECT_NEAR(im[0] + im[1], 0, 1e-6);
}

}  // namespace
}  // namespace pjrt::cpu
