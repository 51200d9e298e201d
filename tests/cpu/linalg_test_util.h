// SPDX-License-Identifier: Apache-2.0
//
// What tests of the linear-algebra kernels share: matrices with plain arithmetic on them, in double
// precision, so that a test states an invariant (Q R = A) and how far it may be missed.
#ifndef PJRT_TESTS_CPU_LINALG_TEST_UTIL_H_
#define PJRT_TESTS_CPU_LINALG_TEST_UTIL_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/linalg_eigen.h"

namespace pjrt::cpu {

using Number = std::complex<double>;

// A dense row-major matrix of T.
template <typename T>
struct Dense {
  int64_t rows = 0, columns = 0;
  std::vector<T> data;

  Dense(int64_t r, int64_t c) : rows(r), columns(c), data(static_cast<size_t>(r * c)) {}
  T& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * columns + j)]; }
  const T& operator()(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * columns + j)];
  }
  T* get() { return data.data(); }
};
using Matrix = Dense<Number>;

template <typename T>
Matrix Exact(const Dense<T>& a) {
  Matrix out(a.rows, a.columns);
  for (size_t i = 0; i < a.data.size(); ++i) out.data[i] = Number(a.data[i]);
  return out;
}
inline Matrix Identity(int64_t n) {
  Matrix out(n, n);
  for (int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}
// By the formula, which is quicker than the library's product.
inline Number Product(Number x, Number y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}
inline Matrix operator*(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.columns, b.rows);
  Matrix out(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t p = 0; p < a.columns; ++p) {
      for (int64_t j = 0; j < b.columns; ++j) out(i, j) += Product(a(i, p), b(p, j));
    }
  }
  return out;
}
inline Matrix Adjoint(const Matrix& a) {
  Matrix out(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) out(j, i) = std::conj(a(i, j));
  }
  return out;
}
inline Matrix Part(const Matrix& a, int64_t i0, int64_t j0, int64_t rows, int64_t columns) {
  Matrix out(rows, columns);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) out(i, j) = a(i0 + i, j0 + j);
  }
  return out;
}
// Elements (i, j) with low <= j - i <= high; the others are zero.
inline Matrix Band(const Matrix& a, int64_t low, int64_t high) {
  Matrix out(a.rows, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j) {
      if (low <= j - i && j - i <= high) out(i, j) = a(i, j);
    }
  }
  return out;
}
inline constexpr int64_t kAll = int64_t{1} << 40;
template <typename R>
Matrix Diagonal(const std::vector<R>& d) {
  Matrix out(static_cast<int64_t>(d.size()), static_cast<int64_t>(d.size()));
  for (size_t i = 0; i < d.size(); ++i) {
    out(static_cast<int64_t>(i), static_cast<int64_t>(i)) = Number(d[i]);
  }
  return out;
}
// The largest magnitude; NaN if there is one.
inline double MaxAbs(const Matrix& a) {
  double out = 0;
  for (const Number& x : a.data) {
    const double size = std::abs(x);
    if (!(size <= out)) out = size;
  }
  return out;
}
inline double Distance(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.columns, b.columns);
  Matrix out = a;
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] -= b.data[i];
  return MaxAbs(out);
}

// q (1 - tau v v^H).
inline void MultiplyByReflector(const std::vector<Number>& v, Number tau, Matrix* q) {
  for (int64_t i = 0; i < q->rows; ++i) {
    Number sum = 0;
    for (int64_t j = 0; j < q->columns; ++j) {
      sum += Product((*q)(i, j), v[static_cast<size_t>(j)]);
    }
    sum = Product(sum, tau);
    for (int64_t j = 0; j < q->columns; ++j) {
      (*q)(i, j) -= Product(sum, std::conj(v[static_cast<size_t>(j)]));
    }
  }
}
// H1 H2 ... Ht of the reflectors below a diagonal of a: the vector of the i-th is 1 at row
// i + shift and has its tail below, in column i.
template <typename T>
Matrix ProductOfReflectors(const Dense<T>& a, const std::vector<T>& taus, int64_t shift = 0) {
  Matrix q = Identity(a.rows);
  for (size_t i = 0; i < taus.size(); ++i) {
    const int64_t column = static_cast<int64_t>(i), one = column + shift;
    std::vector<Number> v(static_cast<size_t>(a.rows));
    v[static_cast<size_t>(one)] = 1;
    for (int64_t r = one + 1; r < a.rows; ++r) v[static_cast<size_t>(r)] = Number(a(r, column));
    MultiplyByReflector(v, Number(taus[i]), &q);
  }
  return q;
}

template <typename T>
T MakeNumber(double re, double im) {
  if constexpr (std::is_same_v<T, RealOf<T>>) {
    return static_cast<T>(re + 0 * im);
  } else {
    return T(static_cast<RealOf<T>>(re), static_cast<RealOf<T>>(im));
  }
}
// Normally distributed elements.
template <typename T>
Dense<T> RandomMatrix(int64_t rows, int64_t columns, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  Dense<T> out(rows, columns);
  for (T& x : out.data) {
    const double re = normal(engine);
    x = MakeNumber<T>(re, normal(engine));
  }
  return out;
}
template <typename T>
Dense<T> RandomHermitian(int64_t n, uint32_t seed) {
  Dense<T> out = RandomMatrix<T>(n, n, seed);
  for (int64_t i = 0; i < n; ++i) {
    out(i, i) = T(std::real(out(i, i)));
    for (int64_t j = 0; j < i; ++j) {
      const Number mirrored = std::conj(Number(out(i, j)));
      out(j, i) = MakeNumber<T>(mirrored.real(), mirrored.imag());
    }
  }
  return out;
}
template <typename T>
Dense<T> Rounded(const Matrix& a) {
  Dense<T> out(a.rows, a.columns);
  for (size_t i = 0; i < a.data.size(); ++i) {
    out.data[i] = MakeNumber<T>(a.data[i].real(), a.data[i].imag());
  }
  return out;
}

// A bound for rounding errors of T in sums of about n terms of about `scale`.
template <typename T>
double Tolerance(int64_t n, double scale = 1) {
  return 30 * static_cast<double>(n + 4) * std::numeric_limits<RealOf<T>>::epsilon() * scale;
}
// The kernels of each level that this machine can run.
inline std::vector<const Kernels*> SupportedKernels() {
  std::vector<const Kernels*> out;
  for (const Kernels* level : AllKernels()) {
    if (level->supported()) out.push_back(level);
  }
  return out;
}
inline const Kernels& WidestKernels() { return *SupportedKernels().back(); }

using LinalgTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_LINALG_TEST_UTIL_H_
