// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/linalg.h"

#include <algorithm>
#include <complex>
#include <limits>

namespace pjrt::cpu {
namespace {

template <typename T>
void CholeskyOf(const Kernels& kernels, const void* a, void* out, int64_t n, bool lower) {
  T* const factor = static_cast<T*>(out);
  std::copy_n(static_cast<const T*>(a), n * n, factor);
  const bool failed = Potrf(kernels, lower, n, factor) != 0;
  const T nan(std::numeric_limits<decltype(std::abs(T()))>::quiet_NaN());
  for (int64_t i = 0; i < n; ++i) {
    T* const row = factor + i * n;
    lower ? std::fill(row + i + 1, row + n, T(0)) : std::fill(row, row + i, T(0));
    if (failed) lower ? std::fill(row, row + i + 1, nan) : std::fill(row + i, row + n, nan);
  }
}

template <typename T>
void SolveOf(const Kernels& kernels, const void* a, void* b, int64_t rows, int64_t columns,
             const TrsmOptions& options) {
  Trsm(kernels, options, rows, columns, static_cast<const T*>(a), static_cast<T*>(b));
}

}  // namespace

void Cholesky(const Kernels& kernels, PrimitiveType type, const void* a, void* out, int64_t n,
              bool lower) {
  switch (type) {
    case F32:
      return CholeskyOf<float>(kernels, a, out, n, lower);
    case F64:
      return CholeskyOf<double>(kernels, a, out, n, lower);
    case C64:
      return CholeskyOf<std::complex<float>>(kernels, a, out, n, lower);
    default:
      return CholeskyOf<std::complex<double>>(kernels, a, out, n, lower);
  }
}

void TriangularSolve(const Kernels& kernels, PrimitiveType type, const void* a, void* b,
                     int64_t rows, int64_t columns, const TrsmOptions& options) {
  switch (type) {
    case F32:
      return SolveOf<float>(kernels, a, b, rows, columns, options);
    case F64:
      return SolveOf<double>(kernels, a, b, rows, columns, options);
    case C64:
      return SolveOf<std::complex<float>>(kernels, a, b, rows, columns, options);
    default:
      return SolveOf<std::complex<double>>(kernels, a, b, rows, columns, options);
  }
}

}  // namespace pjrt::cpu
