// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/linalg_reflectors.h"

#include <algorithm>

namespace pjrt::cpu {

template <typename T>
ReflectorBlock<T>::ReflectorBlock(DenseOps<T>* ops, int64_t max_rows)
    : ops_(*ops),
      v_(Scratch<T>(max_rows * std::min(max_rows, kReflectorBlock))),
      s_(Scratch<T>(kReflectorBlock * kReflectorBlock)) {}

template <typename T>
void ReflectorBlock<T>::Start(int64_t rows, int64_t width) {
  rows_ = rows;
  width_ = width;
}

template <typename T>
void ReflectorBlock<T>::Load(int64_t rows, int64_t width, const T* a, int64_t lda, const T* taus) {
  Start(rows, width);
  ops_.Transpose(rows, width, a, lda, v_.get(), rows);
  Finish(taus);
}

template <typename T>
void ReflectorBlock<T>::Finish(const T* taus) {
  for (int64_t j = 0; j < width_; ++j) {
    T* const column = v_.get() + j * rows_;
    std::fill_n(column, j, T(0));
    column[j] = T(1);
    // Column j of S is tau times (-S (V^H v_j), 1), with the block of S so far.
    T* const s = s_.get() + j * width_;
    std::fill_n(s, width_, T(0));
    T products[kReflectorBlock];
    ops_.AdjointProduct(rows_ - j, j, v_.get() + j, rows_, column + j, products);
    for (int64_t i = 0; i < j; ++i) products[i] = Times(products[i], taus[j]);
    ops_.SubtractProduct(j, j, s_.get(), width_, products, s);
    s[j] = taus[j];
  }
}

template <typename T>
void ReflectorBlock<T>::Reserve(int64_t n) {
  if (work_size_ >= n) return;
  work_ = Scratch<T>(n);
  work_size_ = n;
}

template <typename T>
MatrixView<T> ReflectorBlock<T>::S(bool adjoint) const {
  return adjoint ? MatrixView<T>{s_.get(), width_, 1, true} : MatrixView<T>{s_.get(), 1, width_};
}

template <typename T>
void ReflectorBlock<T>::ApplyLeft(bool adjoint, int64_t columns, T* c, int64_t ldc) {
  if (columns <= 0) return;
  Reserve(2 * width_ * columns);
  T* const inner = work_.get();
  T* const outer = inner + width_ * columns;
  ops_.Product(width_, columns, rows_, {v_.get(), rows_, 1, true}, {c, ldc, 1}, inner, columns);
  ops_.Product(width_, columns, width_, S(adjoint), {inner, columns, 1}, outer, columns);
  ops_.SubtractGemm(rows_, columns, width_, {v_.get(), 1, rows_}, {outer, columns, 1}, c, ldc);
}

template <typename T>
void ReflectorBlock<T>::ApplyRight(bool adjoint, int64_t m, T* c, int64_t ldc) {
  if (m <= 0) return;
  Reserve(2 * width_ * m);
  T* const inner = work_.get();
  T* const outer = inner + width_ * m;
  ops_.Product(m, width_, rows_, {c, ldc, 1}, {v_.get(), 1, rows_}, inner, width_);
  ops_.Product(m, width_, width_, {inner, width_, 1}, S(adjoint), outer, width_);
  ops_.SubtractGemm(m, rows_, width_, {outer, width_, 1}, {v_.get(), rows_, 1, true}, c, ldc);
}

template <typename T>
void MultiplyReflectors(DenseOps<T>* ops, int64_t n, int64_t shift, int64_t count, const T* c,
                        const T* taus, T* q) {
  std::fill_n(q, n * n, T(0));
  for (int64_t i = 0; i < n; ++i) q[i * n + i] = T(1);
  if (count <= 0) return;
  ReflectorBlock<T> block(ops, n);
  for (int64_t end = count; end > 0;) {
    const int64_t begin = (end - 1) / kReflectorBlock * kReflectorBlock;
    const int64_t top = begin + shift, rows = n - top;
    block.Start(rows, end - begin);
    for (int64_t j = begin; j < end; ++j) {
      std::copy_n(c + j * n + top, rows, block.vectors() + (j - begin) * rows);
    }
    block.Finish(taus + begin);
    block.ApplyLeft(/*adjoint=*/false, rows, q + top * n + top, n);
    end = begin;
  }
}

#define PJRT_INSTANTIATE_(T)        \
  template class ReflectorBlock<T>; \
  template void MultiplyReflectors(DenseOps<T>*, int64_t, int64_t, int64_t, const T*, const T*, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
