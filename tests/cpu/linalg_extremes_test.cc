// SPDX-License-Identifier: Apache-2.0
//
// The iterations end, and with finite results, for matrices whose elements are of all sizes that a
// type has, and for those with special values they end too.
#include "src/cpu_device/kernels/linalg_qr.h"
#include "src/cpu_device/kernels/linalg_solve.h"
#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class LinalgExtremesTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinalgExtremesTest, LinalgTypes);

// Binary exponents are uniform over the type's range, less a little at the upper end for sums.
template <typename T>
Dense<T> OfAllSizes(int64_t rows, int64_t columns, std::mt19937* engine) {
  using R = RealOf<T>;
  constexpr int kMax = std::numeric_limits<R>::max_exponent;
  std::uniform_int_distribution<int> exponent(-kMax + 2, kMax - 12);
  std::uniform_real_distribution<double> mantissa(-1, 1);
  Dense<T> out(rows, columns);
  for (T& x : out.data) {
    const double re = std::ldexp(mantissa(*engine), exponent(*engine));
    x = MakeNumber<T>(re, std::ldexp(mantissa(*engine), exponent(*engine)));
  }
  return out;
}

template <typename T>
bool Finite(const std::vector<T>& values) {
  return std::all_of(values.begin(), values.end(), [](const T& x) {
    return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
  });
}

TYPED_TEST(LinalgExtremesTest, ElementsOfAllSizesGiveFiniteResults) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Kernels& kernels = WidestKernels();
  std::mt19937 engine(1);
  for (int round = 0; round < 200; ++round) {
    const int64_t n = 1 + round % 12;
    const size_t size = static_cast<size_t>(n);
    std::vector<R> w(size);
    Dense<T> a = OfAllSizes<T>(n, n, &engine);
    ASSERT_EQ(Syevd(kernels, true, round % 2 == 0, n, a.get(), w.data()), 0) << round;
    EXPECT_TRUE(Finite(w) && Finite(a.data));
    EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));

    const int64_t m = 1 + round % 7, k = std::min(m, n);
    Dense<T> b = OfAllSizes<T>(m, n, &engine), u(m, k), vt(k, n);
    std::vector<R> s(static_cast<size_t>(k));
    ASSERT_EQ(Gesdd(kernels, SvdVectors::kThin, m, n, b.get(), s.data(), u.get(), vt.get()), 0);
    EXPECT_TRUE(Finite(s) && Finite(u.data) && Finite(vt.data));

    const Dense<T> c = OfAllSizes<T>(n, n, &engine);
    std::vector<std::complex<R>> values(size);
    Dense<std::complex<R>> vl(n, n), vr(n, n);
    ASSERT_EQ(Geev(kernels, n, c.data.data(), SpanOf(values.data()), vl.get(), vr.get()), 0);
    EXPECT_TRUE(Finite(values) && Finite(vl.data) && Finite(vr.data));

    Dense<T> t = c, z(n, n);
    ASSERT_EQ(Gees(kernels, n, t.get(), SpanOf(values.data()), z.get()), 0);
    EXPECT_TRUE(Finite(t.data) && Finite(z.data));

    Dense<T> q = c;
    std::vector<T> taus(size);
    Geqrf(kernels, n, n, q.get(), taus.data());
    Orgqr(kernels, n, n, n, q.get(), taus.data());
    EXPECT_LE(Distance(Exact(q) * Adjoint(Exact(q)), Identity(n)), Tolerance<T>(n));
  }
}

TYPED_TEST(LinalgExtremesTest, SpecialValuesAnywhereComeToAnEnd) {
  using T = TypeParam;
  using R = RealOf<T>;
  using Limits = std::numeric_limits<R>;
  const Kernels& kernels = WidestKernels();
  std::mt19937 engine(2);
  const R special[] = {0,
                       -R(0),
                       1,
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       Limits::max(),
                       Limits::lowest(),
                       Limits::min(),
                       Limits::denorm_min()};
  for (int round = 0; round < 200; ++round) {
    const int64_t n = 1 + round % 6;
    const size_t size = static_cast<size_t>(n);
    Dense<T> a(n, n), u(n, n), vt(n, n);
    for (T& x : a.data) {
      const R re = special[engine() % 10];
      if constexpr (std::is_same_v<T, R>) {
        x = re;
      } else {
        x = T(re, special[engine() % 10]);
      }
    }
    std::vector<R> w(size);
    std::vector<T> taus(size);
    std::vector<int32_t> pivots(size);
    std::vector<std::complex<R>> values(size);
    Dense<std::complex<R>> v(n, n);
    Dense<T> f = a;
    Potrf(kernels, true, n, f.get());
    f = a;
    Getrf(kernels, n, n, f.get(), pivots.data());
    for (size_t i = 0; i < size; ++i) {
      ASSERT_GT(pivots[i], static_cast<int32_t>(i));
      ASSERT_LE(pivots[i], static_cast<int32_t>(n));
    }
    f = a;
    Geqrf(kernels, n, n, f.get(), taus.data());
    f = a;
    std::fill(pivots.begin(), pivots.end(), 0);
    Geqp3(kernels, n, n, f.get(), pivots.data(), taus.data());
    f = a;
    Syevd(kernels, true, true, n, f.get(), w.data());
    f = a;
    Gesdd(kernels, SvdVectors::kFull, n, n, f.get(), w.data(), u.get(), vt.get());
    Geev(kernels, n, a.data.data(), SpanOf(values.data()), v.get(), v.get());
    f = a;
    Gees(kernels, n, f.get(), SpanOf(values.data()), u.get());
    f = a;
    Trsm(kernels, TrsmOptions(), n, n, a.get(), f.get());
    TridiagonalSolvePerturbed(n, n, a.get(), a.get(), a.get(), f.get());
    f = a;
    Gtsv(n, 1, a.get(), u.get(), vt.get(), f.get());
  }
}

}  // namespace
}  // namespace pjrt::cpu
