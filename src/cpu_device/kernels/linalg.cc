// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/linalg.h"

#include <complex>
#include <limits>

#include "Eigen/Cholesky"
#include "Eigen/Core"

namespace pjrt::cpu {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
void CholeskyOf(const void* a, void* out, int64_t n, bool lower) {
  Eigen::Map<const Matrix<T>> matrix(static_cast<const T*>(a), n, n);
  Eigen::Map<Matrix<T>> factor(static_cast<T*>(out), n, n);
  Eigen::LLT<Matrix<T>> llt;
  if (lower) {
    llt.compute(matrix.template selfadjointView<Eigen::Lower>());
  } else {
    llt.compute(matrix.template selfadjointView<Eigen::Upper>());
  }
  factor.setZero();
  if (llt.info() != Eigen::Success) {
    const T nan = T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = lower ? 0 : i; j <= (lower ? i : n - 1); ++j) factor(i, j) = nan;
    }
    return;
  }
  if (lower) {
    factor.template triangularView<Eigen::Lower>() = llt.matrixL().toDenseMatrix();
  } else {
    factor.template triangularView<Eigen::Upper>() = llt.matrixU().toDenseMatrix();
  }
}

template <unsigned int kMode, typename A, typename B>
void SolveMode(const A& a, B& b, bool left_side) {
  if (left_side) {
    a.template triangularView<kMode>().solveInPlace(b);
  } else {
    a.template triangularView<kMode>().template solveInPlace<Eigen::OnTheRight>(b);
  }
}

template <typename A, typename B>
void SolveWith(const A& a, B& b, bool lower, const TriangularSolveOptions& o) {
  if (lower) {
    o.unit_diagonal ? SolveMode<Eigen::UnitLower>(a, b, o.left_side)
                    : SolveMode<Eigen::Lower>(a, b, o.left_side);
  } else {
    o.unit_diagonal ? SolveMode<Eigen::UnitUpper>(a, b, o.left_side)
                    : SolveMode<Eigen::Upper>(a, b, o.left_side);
  }
}

template <typename T>
void SolveOf(const void* a, void* b, int64_t rows, int64_t columns,
             const TriangularSolveOptions& o) {
  const int64_t n = o.left_side ? rows : columns;
  Eigen::Map<const Matrix<T>> matrix(static_cast<const T*>(a), n, n);
  Eigen::Map<Matrix<T>> x(static_cast<T*>(b), rows, columns);
  if (!o.transpose) {
    SolveWith(matrix, x, o.lower, o);
  } else if (o.conjugate) {
    SolveWith(matrix.adjoint(), x, !o.lower, o);
  } else {
    SolveWith(matrix.transpose(), x, !o.lower, o);
  }
}

}  // namespace

void Cholesky(PrimitiveType type, const void* a, void* out, int64_t n, bool lower) {
  switch (type) {
    case F32:
      return CholeskyOf<float>(a, out, n, lower);
    case F64:
      return CholeskyOf<double>(a, out, n, lower);
    case C64:
      return CholeskyOf<std::complex<float>>(a, out, n, lower);
    default:
      return CholeskyOf<std::complex<double>>(a, out, n, lower);
  }
}

void TriangularSolve(PrimitiveType type, const void* a, void* b, int64_t rows, int64_t columns,
                     const TriangularSolveOptions& options) {
  if (rows == 0 || columns == 0) return;
  switch (type) {
    case F32:
      return SolveOf<float>(a, b, rows, columns, options);
    case F64:
      return SolveOf<double>(a, b, rows, columns, options);
    case C64:
      return SolveOf<std::complex<float>>(a, b, rows, columns, options);
    default:
      return SolveOf<std::complex<double>>(a, b, rows, columns, options);
  }
}

}  // namespace pjrt::cpu
