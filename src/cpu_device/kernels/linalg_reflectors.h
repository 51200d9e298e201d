// SPDX-License-Identifier: Apache-2.0
//
// Products of Householder reflectors by blocks: H1 ... Hw = I - V S V^H with V's columns the
// vectors of the reflectors and S (w x w) upper triangular. Internal to linalg_*.cc.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_REFLECTORS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_REFLECTORS_H_

#include <cstdint>
#include <memory>

#include "src/cpu_device/kernels/linalg_dense.h"

namespace pjrt::cpu {

// How many reflectors a block has.
inline constexpr int64_t kReflectorBlock = 32;

// A block of reflectors of vectors with up to `max_rows` elements, and the memory to apply it.
template <typename T>
class ReflectorBlock {
 public:
  ReflectorBlock(DenseOps<T>* ops, int64_t max_rows);

  // V's memory: rows x width, column-major, columns `rows` apart.
  T* vectors() { return v_.get(); }
  // Takes rows and width; V then is to be filled in, and Finish called.
  void Start(int64_t rows, int64_t width);
  // The tails stand below V's diagonal: makes the rest of V ones and zeros, and computes S.
  void Finish(const T* taus);
  // Start and Finish with tails below the diagonal of a row-major matrix.
  void Load(int64_t rows, int64_t width, const T* a, int64_t lda, const T* taus);

  // c (rows x columns, row-major) = Q c, or Q^H c if `adjoint`.
  void ApplyLeft(bool adjoint, int64_t columns, T* c, int64_t ldc);
  // c (m x rows, row-major) = c Q, or c Q^H.
  void ApplyRight(bool adjoint, int64_t m, T* c, int64_t ldc);

 private:
  void Reserve(int64_t n);
  MatrixView<T> S(bool adjoint) const;

  DenseOps<T>& ops_;
  int64_t rows_ = 0, width_ = 0;
  std::unique_ptr<T[]> v_, s_, work_;  // s_ is column-major
  int64_t work_size_ = 0;
};

// q (n x n, row-major) = H1 ... Hcount. The vector of H(i + 1) is 1 at row i + shift and has its
// tail below, in column i of c (n x n, column-major). count <= n - shift.
template <typename T>
void MultiplyReflectors(DenseOps<T>* ops, int64_t n, int64_t shift, int64_t count, const T* c,
                        const T* taus, T* q);

extern template class ReflectorBlock<float>;
extern template class ReflectorBlock<double>;
extern template class ReflectorBlock<std::complex<float>>;
extern template class ReflectorBlock<std::complex<double>>;

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_REFLECTORS_H_
