// SPDX-License-Identifier: Apache-2.0
//
// Calls that factorise and solve.
#include <algorithm>
#include <complex>
#include <utility>

#include "src/cpu_device/custom_calls/lapack_item.h"
#include "src/cpu_device/kernels/linalg_qr.h"
#include "src/cpu_device/kernels/linalg_solve.h"

namespace pjrt::cpu {
namespace {

template <typename T>
void Scale(T factor, int64_t count, T* x) {
  if (factor == T(1)) return;
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

// Counts pivots from 0 and makes the permutation of the rows: row i of P a is row permutation[i].
void FinishPivots(int64_t m, int64_t k, int32_t* pivots, int32_t* permutation) {
  for (int64_t i = 0; i < m; ++i) permutation[i] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < k; ++i) std::swap(permutation[i], permutation[--pivots[i]]);
}

}  // namespace

template <typename T>
int32_t RunSolver(const LapackCall& c, const LapackSettings& o, const Kernels& kernels,
                  const LapackItem& item, T factor) {
  const int64_t m = c.m, n = c.n;
  switch (c.routine) {
    case Routine::kPotrf:
      return Potrf<T>(kernels, o.lower, n, item.InOut<T>('a'));
    case Routine::kGetrf: {
      int32_t* const pivots = item.Out<int32_t>('p');
      const int32_t info = Getrf<T>(kernels, m, n, item.InOut<T>('a'), pivots);
      if (c.zero_based) FinishPivots(m, std::min(m, n), pivots, item.Out<int32_t>('q'));
      return info;
    }
    case Routine::kGeqrf:
      Geqrf<T>(kernels, m, n, item.InOut<T>('a'), item.Out<T>('t'));
      return 0;
    case Routine::kGeqp3:
      Geqp3<T>(kernels, m, n, item.InOut<T>('a'), item.InOut<int32_t>('p'), item.Out<T>('t'));
      return 0;
    case Routine::kOrgqr:
      Orgqr<T>(kernels, m, n, c.reflectors, item.InOut<T>('a'), item.In<T>('t'));
      return 0;
    case Routine::kOrmqr:
      Ormqr<T>(kernels, o.left, o.transpose, c.rows, c.columns, c.reflectors, item.In<T>('a'), n,
               item.In<T>('t'), item.InOut<T>('c'));
      return 0;
    case Routine::kTrsm: {
      T* const b = item.InOut<T>('b');
      Scale(factor, c.rows * c.columns, b);
      TrsmOptions options;
      options.left = o.left;
      options.lower = o.lower;
      options.transpose = o.transpose;
      options.conjugate = o.conjugate;
      options.unit_diagonal = o.unit_diagonal;
      Trsm<T>(kernels, options, c.rows, c.columns, item.In<T>('a'), b);
      return 0;
    }
    case Routine::kGtsv:
      return Gtsv<T>(n, c.columns, item.InOut<T>('l'), item.InOut<T>('d'), item.InOut<T>('s'),
                     item.InOut<T>('b'));
    case Routine::kTridiagonalPerturbed:
      TridiagonalSolvePerturbed<T>(n, c.columns, item.In<T>('l'), item.In<T>('d'), item.In<T>('s'),
                                   item.InOut<T>('b'));
      return 0;
    default:
      return 0;
  }
}

template <typename T>
void RunSparseProduct(const LapackCall& c, const LapackItem& item) {
  const auto run = [&](auto index) {
    using Index = decltype(index);
    CsrTimesDense<T, Index>(c.m, c.rows, c.columns, c.reflectors, item.In<T>('a'),
                            item.In<Index>('p'), item.In<Index>('r'), item.In<T>('b'),
                            item.Out<T>('c'));
  };
  if (c.index_type == S64) {
    run(int64_t{});
  } else {
    run(int32_t{});
  }
}

template int32_t RunSolver(const LapackCall&, const LapackSettings&, const Kernels&,
                           const LapackItem&, float);
template int32_t RunSolver(const LapackCall&, const LapackSettings&, const Kernels&,
                           const LapackItem&, double);
template int32_t RunSolver(const LapackCall&, const LapackSettings&, const Kernels&,
                           const LapackItem&, std::complex<float>);
template int32_t RunSolver(const LapackCall&, const LapackSettings&, const Kernels&,
                           const LapackItem&, std::complex<double>);
template void RunSparseProduct<float>(const LapackCall&, const LapackItem&);
template void RunSparseProduct<double>(const LapackCall&, const LapackItem&);
template void RunSparseProduct<std::complex<float>>(const LapackCall&, const LapackItem&);
template void RunSparseProduct<std::complex<double>>(const LapackCall&, const LapackItem&);
template void RunSparseProduct<int32_t>(const LapackCall&, const LapackItem&);
template void RunSparseProduct<int64_t>(const LapackCall&, const LapackItem&);

}  // namespace pjrt::cpu
