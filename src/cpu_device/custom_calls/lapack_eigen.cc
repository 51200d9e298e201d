// SPDX-License-Identifier: Apache-2.0
//
// Calls that find eigenvalues and singular values.
#include <complex>
#include <type_traits>

#include "src/cpu_device/custom_calls/lapack_item.h"
#include "src/cpu_device/kernels/linalg_eigen.h"

namespace pjrt::cpu {

template <typename T>
int32_t RunEigenSolver(const LapackCall& c, const LapackSettings& o, const Kernels& kernels,
                       const LapackItem& item) {
  using R = RealOf<T>;
  const int64_t m = c.m, n = c.n;
  switch (c.routine) {
    case Routine::kSyevd:
      return Syevd<T>(kernels, o.vectors, o.lower, n, item.InOut<T>('a'), item.Out<R>('w'));
    case Routine::kGesdd:
      if (!o.vectors) {
        item.Clear('u');
        item.Clear('v');
      }
      return Gesdd<T>(kernels,
                      !o.vectors       ? SvdVectors::kNone
                      : c.full_vectors ? SvdVectors::kFull
                                       : SvdVectors::kThin,
                      m, n, item.InOut<T>('a'), item.Out<R>('w'), item.Out<T>('u'),
                      item.Out<T>('v'));
    case Routine::kGeev: {
      // Results that are not computed have one value all the same.
      for (const char part : {'u', 'v', 'w', 'x'}) item.Clear(part);
      EigenvalueSpan<R> w;
      if constexpr (std::is_same_v<T, R>) {
        w = SpanOf(item.Out<R>('w'), item.Out<R>('x'));
      } else {
        w = SpanOf(item.Out<T>('w'));
      }
      return Geev<T>(kernels, n, item.In<T>('a'), w,
                     o.vectors ? item.Out<std::complex<R>>('u') : nullptr,
                     o.right_vectors ? item.Out<std::complex<R>>('v') : nullptr);
    }
    case Routine::kGees: {
      if (!o.vectors) item.Clear('u');
      item.Clear('z');
      EigenvalueSpan<R> w;
      if constexpr (std::is_same_v<T, R>) {
        w = SpanOf(item.Out<R>('w'), item.Out<R>('x'));
      } else {
        w = SpanOf(item.Out<T>('w'));
      }
      return Gees<T>(kernels, n, item.InOut<T>('a'), w, o.vectors ? item.Out<T>('u') : nullptr);
    }
    case Routine::kGehrd:
      item.Clear('t');
      return Gehrd<T>(kernels, n, o.low, o.high, item.InOut<T>('a'), item.Out<T>('t'));
    case Routine::kSytrd:
      Sytrd<T>(kernels, o.lower, n, item.InOut<T>('a'), item.Out<R>('w'), item.Out<R>('e'),
               item.Out<T>('t'));
      return 0;
    default:
      return 0;
  }
}

template int32_t RunEigenSolver<float>(const LapackCall&, const LapackSettings&, const Kernels&,
                                       const LapackItem&);
template int32_t RunEigenSolver<double>(const LapackCall&, const LapackSettings&, const Kernels&,
                                        const LapackItem&);
template int32_t RunEigenSolver<std::complex<float>>(const LapackCall&, const LapackSettings&,
                                                     const Kernels&, const LapackItem&);
template int32_t RunEigenSolver<std::complex<double>>(const LapackCall&, const LapackSettings&,
                                                      const Kernels&, const LapackItem&);

}  // namespace pjrt::cpu
