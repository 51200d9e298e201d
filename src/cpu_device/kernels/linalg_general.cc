// SPDX-License-Identifier: Apache-2.0
//
// Hessenberg and Schur forms of general matrices.
#include <algorithm>
#include <cmath>
#include <complex>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "src/cpu_device/kernels/linalg_reflectors.h"
#include "src/cpu_device/kernels/linalg_schur.h"

namespace pjrt::cpu {

template <typename T>
void ReduceToHessenberg(const DenseOps<T>& ops, int64_t n, int64_t low, int64_t high, T* c,
                        T* taus) {
  const auto work = Scratch<T>(2 * n);
  std::fill_n(taus, std::max<int64_t>(n - 1, 0), T(0));
  for (int64_t k = low; k + 1 < high; ++k) {
    const int64_t rest = high - k - 1;
    T* const v = c + k * n + k + 1;
    const T tau = ops.MakeReflector(rest, v, v + 1);
    const T beta = *v;
    *v = T(1);
    ops.ApplyRight(high, rest, v, tau, c + (k + 1) * n, n, work.get());
    ops.ApplyLeft(rest, n - k - 1, v, Conjugate(tau), v + n, n, work.get());
    *v = beta;
    taus[k] = tau;
  }
}

template <typename T>
bool SchurForm(DenseOps<T>* ops, int64_t n, T* c, T* z) {
  const auto taus = Scratch<T>(n);
  ReduceToHessenberg(*ops, n, 0, n, c, taus.get());
  if (z != nullptr) {
    const auto rows = Scratch<T>(n * n);
    MultiplyReflectors(ops, n, 1, n - 1, c, taus.get(), rows.get());
    ops->Transpose(n, n, rows.get(), n, z, n);
  }
  for (int64_t j = 0; j + 2 < n; ++j) std::fill(c + j * n + j + 2, c + (j + 1) * n, T(0));
  return SchurFromHessenberg(n, c, z);
}

template <typename T>
std::complex<RealOf<T>> SchurEigenvalue(int64_t n, const T* t, int64_t i) {
  const T diagonal = t[i + i * n];
  if constexpr (kIsComplexType<T>) {
    return diagonal;
  } else {
    const auto imaginary = [&](int64_t row) {
      return std::sqrt(std::abs(t[row + 1 + row * n])) *
             std::sqrt(std::abs(t[row + (row + 1) * n]));
    };
    if (i + 1 < n && t[i + 1 + i * n] != 0) return {diagonal, imaginary(i)};
    if (i > 0 && t[i + (i - 1) * n] != 0) return {diagonal, -imaginary(i - 1)};
    return diagonal;
  }
}

template <typename T>
int32_t Gehrd(const Kernels& kernels, int64_t n, int64_t low, int64_t high, T* a, T* taus) {
  if (n == 0) return 0;
  if (low < 1 || low > n) return -2;
  if (high < low || high > n) return -3;
  const DenseOps<T> ops(kernels);
  const auto c = Scratch<T>(n * n);
  ops.Transpose(n, n, a, n, c.get(), n);
  ReduceToHessenberg(ops, n, low - 1, high, c.get(), taus);
  ops.Transpose(n, n, c.get(), n, a, n);
  return 0;
}

template <typename T>
int32_t Gees(const Kernels& kernels, int64_t n, T* a, EigenvalueSpan<RealOf<T>> w, T* z) {
  using R = RealOf<T>;
  if (n == 0) return 0;
  DenseOps<T> ops(kernels);
  const auto c = Scratch<T>(n * n), q = Scratch<T>(z != nullptr ? n * n : 0);
  const bool finite = AllFinite(n * n, a);
  int exponent = 0;
  if (finite) {
    ops.Transpose(n, n, a, n, c.get(), n);
    exponent = ScaleToSafeRange(n * n, c.get());
  }
  if (!finite || !SchurForm(&ops, n, c.get(), z != nullptr ? q.get() : nullptr)) {
    for (int64_t i = 0; i < n; ++i) w.re[i * w.stride] = w.im[i * w.stride] = kNaNOf<T>;
    std::fill_n(a, n * n, T(kNaNOf<T>));
    if (z != nullptr) std::fill_n(z, n * n, T(kNaNOf<T>));
    return 1;
  }
  ScaleByPower(n * n, exponent, c.get());
  ops.Transpose(n, n, c.get(), n, a, n);
  if (z != nullptr) ops.Transpose(n, n, q.get(), n, z, n);
  for (int64_t i = 0; i < n; ++i) {
    const std::complex<R> value = SchurEigenvalue(n, c.get(), i);
    w.re[i * w.stride] = value.real();
    w.im[i * w.stride] = value.imag();
  }
  return 0;
}

#define PJRT_INSTANTIATE_(T)                                                               \
  template void ReduceToHessenberg(const DenseOps<T>&, int64_t, int64_t, int64_t, T*, T*); \
  template bool SchurForm(DenseOps<T>*, int64_t, T*, T*);                                  \
  template std::complex<RealOf<T>> SchurEigenvalue(int64_t, const T*, int64_t);            \
  template int32_t Gehrd(const Kernels&, int64_t, int64_t, int64_t, T*, T*);               \
  template int32_t Gees(const Kernels&, int64_t, T*, EigenvalueSpan<RealOf<T>>, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
