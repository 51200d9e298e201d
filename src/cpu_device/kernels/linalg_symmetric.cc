// SPDX-License-Identifier: Apache-2.0
//
// Hermitian matrices: reduction to tridiagonal form, eigenvalues and eigenvectors.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numeric>
#include <vector>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "src/cpu_device/kernels/linalg_iterations.h"
#include "src/cpu_device/kernels/linalg_reflectors.h"
#include "src/cpu_device/kernels/linalg_rotations.h"

namespace pjrt::cpu {
namespace {

// Reduces the Hermitian matrix in the lower triangle of c (n x n, column-major), from the first
// column on. The tails of the reflectors take the place of what they eliminate.
template <typename T>
void ReduceToTridiagonal(const DenseOps<T>& ops, int64_t n, T* c, RealOf<T>* d, RealOf<T>* e,
                         T* taus) {
  using R = RealOf<T>;
  const auto work = Scratch<T>(n);
  for (int64_t k = 0; k + 1 < n; ++k) {
    const int64_t rest = n - k - 1;
    T* const v = c + k * n + k + 1;
    T* const trailing = v + n;
    const T tau = ops.MakeReflector(rest, v, v + 1);
    e[k] = RealPart(*v);
    taus[k] = tau;
    if (tau != T(0)) {
      // H^H A H = A - w v^H - v w^H with y = tau A v and w = y - |tau|^2 (v^H A v) / 2 v.
      *v = T(1);
      ops.HermitianProduct(rest, trailing, n, v, work.get());
      const R inner = RealPart(ops.Dot(rest, v, work.get()));
      const R size = RealPart(tau) * RealPart(tau) + ImagPart(tau) * ImagPart(tau);
      for (int64_t i = 0; i < rest; ++i) work[i] = Times(work[i], tau);
      ops.Axpy(rest, T(-size * inner / 2), v, work.get());
      ops.SubtractOuter2(rest, work.get(), v, trailing, n);
      *v = T(e[k]);
    }
    d[k] = RealPart(c[k * n + k]);
  }
  if (n > 0) d[n - 1] = RealPart(c[n * n - 1]);
}

}  // namespace

template <typename T>
void Sytrd(const Kernels& kernels, bool lower, int64_t n, T* a, RealOf<T>* d, RealOf<T>* e,
           T* taus) {
  if (n == 0) return;
  DenseOps<T> ops(kernels);
  const auto c = Scratch<T>(n * n);
  // The reduction of an upper triangle is that of the lower triangle of the matrix with rows and
  // columns in reverse, with everything in reverse.
  if (lower) {
    ops.Transpose(n, n, a, n, c.get(), n);
  } else {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = j; i < n; ++i) c[j * n + i] = a[(n - 1 - i) * n + n - 1 - j];
    }
  }
  ReduceToTridiagonal(ops, n, c.get(), d, e, taus);
  for (int64_t i = 0; i < n; ++i) c[i * n + i] = T(d[i]);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j; i < n; ++i) {
      a[lower ? i * n + j : (n - 1 - i) * n + n - 1 - j] = c[j * n + i];
    }
  }
  if (!lower) {
    std::reverse(d, d + n);
    std::reverse(e, e + n - 1);
    std::reverse(taus, taus + n - 1);
  }
}

template <typename T>
int32_t Syevd(const Kernels& kernels, bool vectors, bool lower, int64_t n, T* a, RealOf<T>* w) {
  using R = RealOf<T>;
  if (n == 0) return 0;
  DenseOps<T> ops(kernels);
  const auto fail = [&] {
    std::fill_n(w, n, kNaNOf<T>);
    std::fill_n(a, n * n, T(kNaNOf<T>));
    return 1;
  };
  // Column j of the lower triangle: row j of the upper one, conjugated.
  const auto c = Scratch<T>(n * n);
  for (int64_t j = 0; j < n; ++j) {
    T* const column = c.get() + j * n;
    std::fill_n(column, j, T(0));
    for (int64_t i = j; i < n; ++i) column[i] = lower ? a[i * n + j] : Conjugate(a[j * n + i]);
    column[j] = T(RealPart(column[j]));
  }
  if (!AllFinite(n * n, c.get())) return fail();
  const int exponent = ScaleToSafeRange(n * n, c.get());

  std::vector<R> diagonal(static_cast<size_t>(n)), off_diagonal(static_cast<size_t>(n));
  const auto taus = Scratch<T>(n);
  ReduceToTridiagonal(ops, n, c.get(), diagonal.data(), off_diagonal.data(), taus.get());
  std::vector<double> d(diagonal.begin(), diagonal.end());
  std::vector<double> e(off_diagonal.begin(), off_diagonal.end());
  T* const z = c.get();  // the eigenvectors as columns, column-major
  if (vectors) {
    MultiplyReflectors(&ops, n, 1, n - 1, c.get(), taus.get(), a);
    ops.Transpose(n, n, a, n, z, n);
  }
  RotationQueue<T> rotations(&ops, n, vectors ? z : nullptr);
  if (!DiagonalizeTridiagonal(n, std::numeric_limits<R>::epsilon(), &d, &e,
                              [&](const RotationSweep& sweep) { rotations.Add(sweep); })) {
    return fail();
  }
  rotations.Flush();

  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return d[static_cast<size_t>(i)] < d[static_cast<size_t>(j)];
  });
  const auto sorted = Scratch<T>(vectors ? n * n : 0);
  for (int64_t j = 0; j < n; ++j) {
    const int64_t from = order[static_cast<size_t>(j)];
    w[j] = static_cast<R>(std::scalbn(d[static_cast<size_t>(from)], exponent));
    if (vectors) std::copy_n(z + from * n, n, sorted.get() + j * n);
  }
  if (vectors) ops.Transpose(n, n, sorted.get(), n, a, n);
  return 0;
}

#define PJRT_INSTANTIATE_(T)                                                          \
  template void Sytrd(const Kernels&, bool, int64_t, T*, RealOf<T>*, RealOf<T>*, T*); \
  template int32_t Syevd(const Kernels&, bool, bool, int64_t, T*, RealOf<T>*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
