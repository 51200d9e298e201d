// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/linalg_qr.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_reflectors.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// Eliminates below the diagonal of column j and applies the reflector to the columns after it, up
// to column n. a is column-major. Returns tau.
template <typename T>
T EliminateColumn(const DenseOps<T>& ops, int64_t m, int64_t n, int64_t j, T* a, int64_t lda,
                  T* work) {
  T* const v = a + j + j * lda;
  const T tau = ops.MakeReflector(m - j, v, v + 1);
  const T beta = *v;
  *v = T(1);
  ops.ApplyLeft(m - j, n - j - 1, v, Conjugate(tau), v + lda, lda, work);
  *v = beta;
  return tau;
}

}  // namespace

template <typename T>
void Geqrf(const Kernels& kernels, int64_t m, int64_t n, T* a, T* taus) {
  const int64_t k = std::min(m, n);
  if (k == 0) return;
  DenseOps<T> ops(kernels);
  ReflectorBlock<T> block(&ops, m);
  T work[kReflectorBlock];
  for (int64_t j0 = 0; j0 < k; j0 += kReflectorBlock) {
    const int64_t width = std::min(kReflectorBlock, k - j0), rows = m - j0;
    T* const corner = a + j0 * n + j0;
    block.Start(rows, width);
    T* const panel = block.vectors();
    ops.Transpose(rows, width, corner, n, panel, rows);
    for (int64_t j = 0; j < width; ++j) {
      taus[j0 + j] = EliminateColumn(ops, rows, width, j, panel, rows, work);
    }
    ops.Transpose(width, rows, panel, rows, corner, n);
    if (j0 + width < n) {
      block.Finish(taus + j0);
      block.ApplyLeft(/*adjoint=*/true, n - j0 - width, corner + width, n);
    }
  }
}

template <typename T>
void Geqp3(const Kernels& kernels, int64_t m, int64_t n, T* a, int32_t* permutation, T* taus) {
  using R = RealOf<T>;
  DenseOps<T> ops(kernels);
  const int64_t k = std::min(m, n);
  const auto columns = Scratch<T>(m * n);
  const auto work = Scratch<T>(n);
  ops.Transpose(m, n, a, n, columns.get(), m);
  T* const c = columns.get();

  // Columns to be kept first, to the front.
  int64_t fixed = 0;
  for (int64_t j = 0; j < n; ++j) {
    const bool keep = permutation[j] != 0;
    permutation[j] = static_cast<int32_t>(j + 1);
    if (!keep) continue;
    if (j != fixed) {
      std::swap_ranges(c + j * m, c + (j + 1) * m, c + fixed * m);
      std::swap(permutation[j], permutation[fixed]);
    }
    ++fixed;
  }

  // Norms of what is left of the columns are updated rather than computed anew, until too little is
  // left of a norm that was computed for its digits to be right.
  std::vector<R> norm(n), computed(n);
  const R limit = std::sqrt(std::numeric_limits<R>::epsilon());
  for (int64_t i = 0; i < k; ++i) {
    if (i == fixed) {
      for (int64_t j = i; j < n; ++j) norm[j] = computed[j] = ops.Norm(m - i, c + i + j * m);
    }
    if (i >= fixed) {
      const int64_t largest = std::max_element(norm.begin() + i, norm.end()) - norm.begin();
      if (largest != i) {
        std::swap_ranges(c + i * m, c + (i + 1) * m, c + largest * m);
        std::swap(permutation[i], permutation[largest]);
        norm[largest] = norm[i];
        computed[largest] = computed[i];
      }
    }
    taus[i] = EliminateColumn(ops, m, n, i, c, m, work.get());
    if (i < fixed) continue;
    for (int64_t j = i + 1; j < n; ++j) {
      if (norm[j] == 0) continue;
      const R taken = std::abs(c[i + j * m]) / norm[j];
      const R left = std::max<R>(0, (1 + taken) * (1 - taken));
      const R since = norm[j] / computed[j];
      if (left * since * since <= limit) {
        norm[j] = computed[j] = ops.Norm(m - i - 1, c + i + 1 + j * m);
      } else {
        norm[j] *= std::sqrt(left);
      }
    }
  }
  ops.Transpose(n, m, c, m, a, n);
}

template <typename T>
void Orgqr(const Kernels& kernels, int64_t m, int64_t n, int64_t t, T* a, const T* taus) {
  if (m == 0 || n == 0) return;
  DenseOps<T> ops(kernels);
  t = std::min({t, m, n});
  const auto reflectors = Scratch<T>(m * t);
  for (int64_t i = 0; i < m; ++i) {
    std::copy_n(a + i * n, t, reflectors.get() + i * t);
    std::fill_n(a + i * n, n, T(0));
    if (i < n) a[i * n + i] = T(1);
  }
  ReflectorBlock<T> block(&ops, m);
  // From the last block on: columns before it are still those of the identity.
  for (int64_t end = t; end > 0;) {
    const int64_t begin = (end - 1) / kReflectorBlock * kReflectorBlock;
    block.Load(m - begin, end - begin, reflectors.get() + begin * t + begin, t, taus + begin);
    block.ApplyLeft(/*adjoint=*/false, n - begin, a + begin * n + begin, n);
    end = begin;
  }
}

template <typename T>
void Ormqr(const Kernels& kernels, bool left, bool adjoint, int64_t p, int64_t q, int64_t t,
           const T* a, int64_t a_columns, const T* taus, T* c) {
  if (p == 0 || q == 0) return;
  DenseOps<T> ops(kernels);
  const int64_t rows = left ? p : q;
  t = std::min({t, rows, a_columns});
  ReflectorBlock<T> block(&ops, rows);
  const int64_t blocks = CeilDiv(t, kReflectorBlock);
  const bool from_first = left == adjoint;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t begin = (from_first ? i : blocks - 1 - i) * kReflectorBlock;
    const int64_t width = std::min(kReflectorBlock, t - begin);
    block.Load(rows - begin, width, a + begin * a_columns + begin, a_columns, taus + begin);
    if (left) {
      block.ApplyLeft(adjoint, q, c + begin * q, q);
    } else {
      block.ApplyRight(adjoint, p, c + begin, q);
    }
  }
}

#define PJRT_INSTANTIATE_(T)                                                                    \
  template void Geqrf(const Kernels&, int64_t, int64_t, T*, T*);                                \
  template void Geqp3(const Kernels&, int64_t, int64_t, T*, int32_t*, T*);                      \
  template void Orgqr(const Kernels&, int64_t, int64_t, int64_t, T*, const T*);                 \
  template void Ormqr(const Kernels&, bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, \
                      const T*, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
