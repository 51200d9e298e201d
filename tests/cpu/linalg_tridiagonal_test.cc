// SPDX-License-Identifier: Apache-2.0
//
// Tridiagonal solves and sparse products.
#include "src/cpu_device/kernels/linalg_solve.h"
#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class LinalgTridiagonalTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinalgTridiagonalTest, LinalgTypes);

template <typename T>
Matrix FromDiagonals(const std::vector<T>& dl, const std::vector<T>& d, const std::vector<T>& du) {
  const int64_t n = static_cast<int64_t>(d.size());
  Matrix out(n, n);
  for (int64_t i = 0; i < n; ++i) {
    const size_t at = static_cast<size_t>(i);
    out(i, i) = Number(d[at]);
    if (i > 0) out(i, i - 1) = Number(dl[at]);
    if (i + 1 < n) out(i, i + 1) = Number(du[at]);
  }
  return out;
}

TYPED_TEST(LinalgTridiagonalTest, SolvesWithPivoting) {
  using T = TypeParam;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int64_t n : {1, 2, 3, 30}) {
    for (double diagonal : {4.0, 0.01}) {
      Dense<T> all = RandomMatrix<T>(3, n, 1);
      std::vector<T> dl(all.get(), all.get() + n), d(all.get() + n, all.get() + 2 * n),
          du(all.get() + 2 * n, all.get() + 3 * n);
      for (T& x : d) x = x + T(static_cast<RealOf<T>>(diagonal));
      // Not read.
      dl.front() = du.back() = MakeNumber<T>(nan, 0);
      const Matrix t = FromDiagonals(dl, d, du);
      const Dense<T> b = RandomMatrix<T>(n, 3, 2);
      Dense<T> x = b, y = b;
      TridiagonalSolvePerturbed(n, 3, dl.data(), d.data(), du.data(), y.get());
      ASSERT_EQ(Gtsv(n, 3, dl.data(), d.data(), du.data(), x.get()), 0);
      const double scale = MaxAbs(Exact(x)) * MaxAbs(t) + 1;
      EXPECT_LE(Distance(t * Exact(x), Exact(b)), Tolerance<T>(n, scale)) << n;
      EXPECT_LE(Distance(t * Exact(y), Exact(b)), Tolerance<T>(n, scale)) << n;
    }
  }
}

TYPED_TEST(LinalgTridiagonalTest, NamesTheFirstZeroPivot) {
  using T = TypeParam;
  const auto solve = [](std::vector<T> dl, std::vector<T> d, std::vector<T> du) {
    std::vector<T> b(d.size(), T(1));
    return Gtsv(static_cast<int64_t>(d.size()), 1, dl.data(), d.data(), du.data(), b.data());
  };
  EXPECT_EQ(solve({}, {}, {}), 0);
  EXPECT_EQ(solve({0}, {0}, {0}), 1);
  EXPECT_EQ(solve({0, 0, 0}, {1, 0, 1}, {1, 1, 0}), 2);
  EXPECT_EQ(solve({0, 1, 1}, {1, 1, 0}, {1, 0, 0}), 3);
  EXPECT_EQ(solve({0, 1}, {1, 1}, {1, 0}), 2);
  EXPECT_EQ(solve({0, 1}, {0, 0}, {1, 0}), 0);
}

TYPED_TEST(LinalgTridiagonalTest, PerturbedSolvesMoveBadPivotsAwayFromZero) {
  using T = TypeParam;
  using R = RealOf<T>;
  const R eps = std::numeric_limits<R>::epsilon(), tiny = std::numeric_limits<R>::min();
  const auto solve = [](R pivot, R b) {
    const T zero(0), d(pivot);
    T x(b);
    TridiagonalSolvePerturbed(1, 1, &zero, &d, &zero, &x);
    return std::real(x);
  };
  EXPECT_EQ(solve(2, 6), R(3));
  // Nothing in U gives a scale: the smallest normal number.
  EXPECT_EQ(solve(R(0), tiny), R(1));
  EXPECT_EQ(solve(-R(0), tiny), R(-1));
  // Infinite quotients are avoided.
  EXPECT_TRUE(std::isfinite(solve(tiny, std::numeric_limits<R>::max())));
  EXPECT_TRUE(std::isfinite(solve(-R(0), std::numeric_limits<R>::max())));
  // ((1, 2), (0.5, 1)): the second pivot is 0 and becomes eps * 2.
  const std::vector<T> dl = {T(0), T(R(0.5))}, d = {T(1), T(1)}, du = {T(2), T(0)};
  std::vector<T> b = {T(0), T(1)};
  TridiagonalSolvePerturbed(2, 1, dl.data(), d.data(), du.data(), b.data());
  EXPECT_EQ(std::real(b[1]), R(1) / (2 * eps));
  EXPECT_EQ(std::real(b[0]), R(-2) / (2 * eps));
  // NaN and Inf end.
  const T inf(std::numeric_limits<R>::infinity());
  std::vector<T> c = {inf, T(1)};
  TridiagonalSolvePerturbed(2, 1, dl.data(), d.data(), du.data(), c.data());
  const std::vector<T> infinite = {inf, inf};
  c = {T(1), T(1)};
  TridiagonalSolvePerturbed(2, 1, infinite.data(), infinite.data(), infinite.data(), c.data());
}

TEST(LinalgSparseTest, ProductOfCompressedRowsWithADenseMatrix) {
  // ((1, 0, 2), (0, 0, 0), (0, 3, 0)) with a column index out of range in the last row.
  const float data[] = {1, 2, 3, 100};
  const int32_t starts[] = {0, 2, 2, 4}, indices[] = {0, 2, 1, 3};
  const float dense[] = {1, 2, 10, 20, 100, 200};
  std::vector<float> out(6, -1);
  CsrTimesDense(3, 3, 2, 4, data, starts, indices, dense, out.data());
  EXPECT_EQ(out, (std::vector<float>{201, 402, 0, 0, 30, 60}));
  // Starts that point beyond the entries, or backwards.
  const int32_t bad[] = {-5, 2, 1, 1000};
  CsrTimesDense(3, 3, 2, 3, data, bad, indices, dense, out.data());
  EXPECT_EQ(out, (std::vector<float>{201, 402, 0, 0, 230, 460}));
}

TEST(LinalgSparseTest, IntegersWrapAround) {
  const int32_t data[] = {1 << 30, 1}, starts[] = {0, 2}, indices[] = {0, 1}, dense[] = {4, 7};
  int32_t out = 0;
  CsrTimesDense(1, 2, 1, 2, data, starts, indices, dense, &out);
  EXPECT_EQ(out, 7);
}

}  // namespace
}  // namespace pjrt::cpu
