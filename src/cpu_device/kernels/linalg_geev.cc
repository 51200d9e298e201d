// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of general matrices: those of the triangular Schur form by
// substitution, brought back by its unitary matrix. Vectors are computed in complex arithmetic for
// every type; those of real eigenvalues of real matrices are made real at the end.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "src/cpu_device/kernels/linalg_schur.h"

namespace pjrt::cpu {
namespace {

// Scales rows and columns of c (column-major) by powers of two, A := D^-1 A D, so that the norms of
// a row and of the column beside it are alike: eigenvalues of badly scaled matrices then keep their
// digits. Returns the exponents of D.
template <typename T>
std::vector<int> Balance(int64_t n, T* c) {
  using R = RealOf<T>;
  // No exponent of D goes beyond what keeps all elements in range.
  constexpr int kLimit = std::numeric_limits<R>::max_exponent / 5;
  std::vector<int> exponents(static_cast<size_t>(n), 0);
  bool changed = true;
  for (int pass = 0; changed && pass < 20; ++pass) {
    changed = false;
    for (int64_t i = 0; i < n; ++i) {
      R row = 0, column = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        row += OneNorm(c[i + j * n]);
        column += OneNorm(c[j + i * n]);
      }
      if (row == 0 || column == 0) continue;
      const int shift = (std::ilogb(row) - std::ilogb(column)) / 2;
      int& exponent = exponents[static_cast<size_t>(i)];
      if (shift == 0 || std::abs(exponent + shift) > kLimit) continue;
      // Worth it only if the sum becomes clearly smaller.
      if (std::scalbn(row, -shift) + std::scalbn(column, shift) > R(0.95) * (row + column)) {
        continue;
      }
      changed = true;
      exponent += shift;
      for (int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        c[i + j * n] = c[i + j * n] * std::scalbn(R(1), -shift);
        c[j + i * n] = c[j + i * n] * std::scalbn(R(1), shift);
      }
    }
  }
  return exponents;
}

// Makes the real quasi-triangular t, now complex, triangular: each 2 x 2 block by the unitary
// similarity of an eigenvector of it.
template <typename R>
void SplitBlocks(int64_t n, std::complex<R>* t, std::complex<R>* z) {
  using C = std::complex<R>;
  for (int64_t i = 0; i + 1 < n; ++i) {
    C& below = t[i + 1 + i * n];
    if (below == C(0)) continue;
    // ((a, b), (c, a)) has the eigenvalue a + i m and the eigenvector (b, i m), m^2 = -b c.
    const R b = t[i + (i + 1) * n].real();
    const R m = std::sqrt(std::abs(below.real())) * std::sqrt(std::abs(b));
    const R size = std::hypot(b, m);
    // The rotation that maps the vector to (1, 0): c real needs a real first element, b has it.
    const PlaneRotation<C> rotation{b / size, C(0, -m / size)};
    RotateRows(rotation, n - i, t + i + i * n, n);
    RotateColumnsBack(rotation, i + 2, t + i * n, n);
    RotateColumnsBack(rotation, n, z + i * n, n);
    below = C(0);
  }
}

// x / y for y away from zero: at least `smallest`.
template <typename R>
std::complex<R> SafeQuotient(std::complex<R> x, std::complex<R> y, R smallest) {
  return Quotient(x, OneNorm(y) < smallest ? std::complex<R>(smallest) : y);
}

// The eigenvector of eigenvalue k of the upper triangular t, in x (n); its scale is of no interest.
template <typename R>
class TriangularEigenvectors {
 public:
  using C = std::complex<R>;
  TriangularEigenvectors(const DenseOps<C>* ops, int64_t n, const C* t) : ops_(*ops), n_(n), t_(t) {
    R largest = 0;
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i <= j; ++i) largest = std::max(largest, OneNorm(t[i + j * n]));
    }
    smallest_ = std::max(largest * std::numeric_limits<R>::epsilon(),
                         std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon());
  }

  // T x = t(k, k) x.
  void Right(int64_t k, C* x) const {
    const C value = t_[k + k * n_];
    std::fill_n(x, n_, C(0));
    for (int64_t i = 0; i < k; ++i) x[i] = -t_[i + k * n_];
    x[k] = C(1);
    for (int64_t j = k - 1; j >= 0; --j) {
      x[j] = SafeQuotient(x[j], t_[j + j * n_] - value, smallest_);
      Shrink(x[j], k + 1, x);
      ops_.Axpy(j, -x[j], t_ + j * n_, x);
    }
  }

  // x^H T = t(k, k) x^H.
  void Left(int64_t k, C* x) const {
    const C value = t_[k + k * n_];
    std::fill_n(x, n_, C(0));
    x[k] = C(1);
    for (int64_t j = k + 1; j < n_; ++j) {
      const C sum = ops_.Dot(j - k, t_ + k + j * n_, x + k);
      x[j] = SafeQuotient(-sum, std::conj(t_[j + j * n_] - value), smallest_);
      Shrink(x[j], n_, x);
    }
  }

 private:
  static void Shrink(C element, int64_t count, C* x) {
    constexpr int kLimit = std::numeric_limits<R>::max_exponent / 3;
    const R size = OneNorm(element);
    if (!(size > std::scalbn(R(1), kLimit))) return;
    const R factor = std::scalbn(R(1), -std::ilogb(size));
    for (int64_t i = 0; i < count; ++i) x[i] *= factor;
  }

  const DenseOps<C>& ops_;
  const int64_t n_;
  const C* const t_;
  R smallest_;
};

// Scales column j of v (n x n, row-major) to norm 1 with a real largest element; to a real vector
// if `real`.
template <typename R>
void Normalize(int64_t n, int64_t j, bool real, std::complex<R>* v) {
  R largest = 0;
  std::complex<R> direction(1);
  for (int64_t i = 0; i < n; ++i) {
    const std::complex<R> x = v[i * n + j];
    const R size = std::hypot(x.real(), x.imag());
    if (size > largest) {
      largest = size;
      direction = x;
    }
  }
  if (largest == 0) return;
  direction = std::conj(direction / largest) / largest;
  R squares = 0;
  std::complex<R>* biggest = v + j;
  for (int64_t i = 0; i < n; ++i) {
    std::complex<R>& x = v[i * n + j];
    x = Times(x, direction);
    if (real) x = x.real();
    squares += x.real() * x.real() + x.imag() * x.imag();
    if (std::abs(x.real()) > std::abs(biggest->real())) biggest = &x;
  }
  *biggest = biggest->real();
  const R factor = 1 / std::sqrt(squares);
  for (int64_t i = 0; i < n; ++i) v[i * n + j] *= factor;
}

}  // namespace

template <typename T>
int32_t Geev(const Kernels& kernels, int64_t n, const T* a, EigenvalueSpan<RealOf<T>> w,
             std::complex<RealOf<T>>* vl, std::complex<RealOf<T>>* vr) {
  using R = RealOf<T>;
  using C = std::complex<R>;
  if (n == 0) return 0;
  if (!AllFinite(n * n, a)) return -4;
  DenseOps<T> ops(kernels);
  const bool vectors = vl != nullptr || vr != nullptr;
  const auto c = Scratch<T>(n * n), q = Scratch<T>(vectors ? n * n : 0);
  ops.Transpose(n, n, a, n, c.get(), n);
  const int exponent = ScaleToSafeRange(n * n, c.get());
  const std::vector<int> balance = Balance(n, c.get());
  if (!SchurForm(&ops, n, c.get(), vectors ? q.get() : nullptr)) {
    for (int64_t i = 0; i < n; ++i) w.re[i * w.stride] = w.im[i * w.stride] = kNaNOf<T>;
    for (C* v : {vl, vr}) {
      if (v != nullptr) std::fill_n(v, n * n, C(kNaNOf<T>));
    }
    return 1;
  }
  std::vector<bool> real(static_cast<size_t>(n), false);
  for (int64_t i = 0; i < n; ++i) {
    C value = SchurEigenvalue(n, c.get(), i);
    real[static_cast<size_t>(i)] = !kIsComplexType<T> && value.imag() == 0;
    ScaleByPower(1, exponent, &value);
    w.re[i * w.stride] = value.real();
    w.im[i * w.stride] = value.imag();
  }
  if (!vectors) return 0;

  DenseOps<C> complex_ops(kernels);
  // The triangular form and its vectors, near 1 in size, where products and quotients are safe.
  std::vector<C> t(c.get(), c.get() + n * n), z(q.get(), q.get() + n * n);
  ScaleToOne(n * n, t.data());
  if constexpr (!kIsComplexType<T>) SplitBlocks(n, t.data(), z.data());
  const TriangularEigenvectors<R> triangular(&complex_ops, n, t.data());
  std::vector<C> x(static_cast<size_t>(n * n));
  for (const bool left : {true, false}) {
    C* const v = left ? vl : vr;
    if (v == nullptr) continue;
    for (int64_t k = 0; k < n; ++k) {
      C* const column = x.data() + k * n;
      left ? triangular.Left(k, column) : triangular.Right(k, column);
    }
    complex_ops.Product(n, n, n, {z.data(), 1, n}, {x.data(), 1, n}, v, n);
    for (int64_t i = 0; i < n; ++i) {
      const int shift = balance[static_cast<size_t>(i)];
      ScaleByPower(n, left ? -shift : shift, v + i * n);
    }
    for (int64_t j = 0; j < n; ++j) Normalize(n, j, real[static_cast<size_t>(j)], v);
    // The second vector of a pair is the conjugate of the first.
    for (int64_t j = 0; j + 1 < n && !kIsComplexType<T>; ++j) {
      if (real[static_cast<size_t>(j)]) continue;
      for (int64_t i = 0; i < n; ++i) v[i * n + j + 1] = std::conj(v[i * n + j]);
      ++j;
    }
  }
  return 0;
}

#define PJRT_INSTANTIATE_(T)                                                          \
  template int32_t Geev(const Kernels&, int64_t, const T*, EigenvalueSpan<RealOf<T>>, \
                        std::complex<RealOf<T>>*, std::complex<RealOf<T>>*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
