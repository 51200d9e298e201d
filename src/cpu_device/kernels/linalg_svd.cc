// SPDX-License-Identifier: Apache-2.0
//
// Singular values. A matrix that is not square is first reduced to the square R of its QR
// factorisation (of its adjoint, if it is wide), a square one to bidiagonal form, which an
// iteration makes diagonal.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "src/cpu_device/kernels/linalg_iterations.h"
#include "src/cpu_device/kernels/linalg_qr.h"
#include "src/cpu_device/kernels/linalg_reflectors.h"
#include "src/cpu_device/kernels/linalg_rotations.h"

namespace pjrt::cpu {
namespace {

// c (n x n, column-major) = H1 ... Hn B (G1 ... G(n-1))^H with a real upper bidiagonal B. The tails
// of the H stay below c's diagonal; those of the G go to `right`, as in MultiplyReflectors with a
// shift of 1.
template <typename T>
void ReduceToBidiagonal(const DenseOps<T>& ops, int64_t n, T* c, T* right, double* d, double* e,
                        T* left_taus, T* right_taus) {
  const auto work = Scratch<T>(2 * n);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t rest = n - k - 1;
    T* const v = c + k * n + k;
    T* const beside = v + n;  // row k, columns from k + 1 on
    left_taus[k] = ops.MakeReflector(rest + 1, v, v + 1);
    d[k] = RealPart(*v);
    if (rest == 0) break;
    *v = T(1);
    ops.ApplyLeft(rest + 1, rest, v, Conjugate(left_taus[k]), beside, n, work.get());
    T* const u = right + k * n + k + 1;
    for (int64_t j = 0; j < rest; ++j) u[j] = Conjugate(beside[j * n]);
    right_taus[k] = ops.MakeReflector(rest, u, u + 1);
    e[k] = RealPart(*u);
    *u = T(1);
    ops.ApplyRight(rest, rest, u, right_taus[k], beside + 1, n, work.get());
  }
}

// The decomposition of a square matrix, c (column-major): singular values s, descending; u and v,
// if wanted, have the vectors as columns, column-major. False if it does not converge.
template <typename T>
bool SquareSvd(DenseOps<T>* ops, int64_t n, T* c, bool vectors, RealOf<T>* s, T* u, T* v) {
  using R = RealOf<T>;
  const size_t size = static_cast<size_t>(n);
  const auto right = Scratch<T>(n * n), taus = Scratch<T>(2 * n);
  std::vector<double> d(size), e(size);
  ReduceToBidiagonal(*ops, n, c, right.get(), d.data(), e.data(), taus.get(), taus.get() + n);
  std::unique_ptr<T[]> rows;
  if (vectors) {
    rows = Scratch<T>(n * n);
    MultiplyReflectors(ops, n, 0, n, c, taus.get(), rows.get());
    ops->Transpose(n, n, rows.get(), n, u, n);
    MultiplyReflectors(ops, n, 1, n - 1, right.get(), taus.get() + n, rows.get());
    ops->Transpose(n, n, rows.get(), n, v, n);
  }
  RotationQueue<T> left_rotations(ops, n, vectors ? u : nullptr);
  RotationQueue<T> right_rotations(ops, n, vectors ? v : nullptr);
  if (!DiagonalizeBidiagonal(
          n, std::numeric_limits<R>::epsilon(), &d, &e,
          [&](const RotationSweep& sweep) { left_rotations.Add(sweep); },
          [&](const RotationSweep& sweep) { right_rotations.Add(sweep); })) {
    return false;
  }
  left_rotations.Flush();
  right_rotations.Flush();

  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return std::abs(d[static_cast<size_t>(i)]) > std::abs(d[static_cast<size_t>(j)]);
  });
  for (int64_t j = 0; j < n; ++j) {
    s[j] = static_cast<R>(std::abs(d[static_cast<size_t>(order[static_cast<size_t>(j)])]));
  }
  if (!vectors) return true;
  for (T* columns : {u, v}) {
    std::copy_n(columns, n * n, rows.get());
    for (int64_t j = 0; j < n; ++j) {
      const int64_t from = order[static_cast<size_t>(j)];
      const bool negate = columns == v && d[static_cast<size_t>(from)] < 0;
      const T* const source = rows.get() + from * n;
      T* const to = columns + j * n;
      for (int64_t i = 0; i < n; ++i) to[i] = negate ? -source[i] : source[i];
    }
  }
  return true;
}

// to (columns x rows) = from^H.
template <typename T>
void TransposeConjugate(const DenseOps<T>& ops, int64_t rows, int64_t columns, const T* from,
                        T* to) {
  ops.Transpose(rows, columns, from, columns, to, rows);
  if constexpr (kIsComplexType<T>) {
    for (int64_t i = 0; i < rows * columns; ++i) to[i] = std::conj(to[i]);
  }
}

// m >= n. u (m x u_columns) and v^H (n x n) are row-major; null if not wanted.
template <typename T>
bool TallSvd(const Kernels& kernels, int64_t m, int64_t n, T* a, RealOf<T>* s, T* u,
             int64_t u_columns, T* vh) {
  DenseOps<T> ops(kernels);
  const bool vectors = u != nullptr;
  const auto taus = Scratch<T>(n), c = Scratch<T>(n * n);
  if (m > n) {
    Geqrf(kernels, m, n, a, taus.get());
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < n; ++i) c[j * n + i] = i <= j ? a[i * n + j] : T(0);
    }
  } else {
    ops.Transpose(n, n, a, n, c.get(), n);
  }
  const auto left = Scratch<T>(vectors ? n * n : 0), right = Scratch<T>(vectors ? n * n : 0);
  if (!SquareSvd(&ops, n, c.get(), vectors, s, left.get(), right.get())) return false;
  if (!vectors) return true;
  for (int64_t i = 0; i < n * n; ++i) vh[i] = Conjugate(right[i]);
  ops.Transpose(n, n, left.get(), n, u, u_columns);
  if (m == n) return true;
  for (int64_t i = 0; i < m; ++i) {
    T* const row = u + i * u_columns;
    std::fill(row + (i < n ? n : 0), row + u_columns, T(0));
    if (i >= n && i < u_columns) row[i] = T(1);
  }
  Ormqr(kernels, /*left=*/true, /*adjoint=*/false, m, u_columns, n, a, n, taus.get(), u);
  return true;
}

}  // namespace

template <typename T>
int32_t Gesdd(const Kernels& kernels, SvdVectors vectors, int64_t m, int64_t n, T* a, RealOf<T>* s,
              T* u, T* vt) {
  const int64_t k = std::min(m, n);
  const bool full = vectors == SvdVectors::kFull, wanted = vectors != SvdVectors::kNone;
  const int64_t u_columns = full ? m : k, vt_rows = full ? n : k;
  const auto set_identity = [](int64_t rows, int64_t columns, T* to) {
    std::fill_n(to, rows * columns, T(0));
    for (int64_t i = 0; i < std::min(rows, columns); ++i) to[i * columns + i] = T(1);
  };
  if (k == 0) {
    if (wanted) {
      set_identity(m, u_columns, u);
      set_identity(vt_rows, n, vt);
    }
    return 0;
  }
  const auto fill_nan = [&] {
    std::fill_n(s, k, kNaNOf<T>);
    if (!wanted) return;
    std::fill_n(u, m * u_columns, T(kNaNOf<T>));
    std::fill_n(vt, vt_rows * n, T(kNaNOf<T>));
  };
  if (!AllFinite(m * n, a)) {
    fill_nan();
    return AnyNaN(m * n, a) ? -4 : 0;
  }
  const int exponent = ScaleToSafeRange(m * n, a);
  bool converged;
  if (m >= n) {
    converged =
        TallSvd(kernels, m, n, a, s, wanted ? u : nullptr, u_columns, wanted ? vt : nullptr);
  } else {
    // a^H = v diag(s) u^H.
    const DenseOps<T> ops(kernels);
    const auto adjoint = Scratch<T>(m * n);
    TransposeConjugate(ops, m, n, a, adjoint.get());
    const auto v = Scratch<T>(wanted ? n * vt_rows : 0), uh = Scratch<T>(wanted ? m * m : 0);
    converged = TallSvd(kernels, n, m, adjoint.get(), s, wanted ? v.get() : nullptr, vt_rows,
                        wanted ? uh.get() : nullptr);
    if (converged && wanted) {
      TransposeConjugate(ops, n, vt_rows, v.get(), vt);
      TransposeConjugate(ops, m, m, uh.get(), u);
    }
  }
  if (!converged) {
    fill_nan();
    return 1;
  }
  ScaleByPower(k, exponent, s);
  return 0;
}

#define PJRT_INSTANTIATE_(T) \
  template int32_t Gesdd(const Kernels&, SvdVectors, int64_t, int64_t, T*, RealOf<T>*, T*, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
