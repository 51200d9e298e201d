// SPDX-License-Identifier: Apache-2.0
//
// One matrix of a call of linear algebra. Internal to lapack*.cc.
#ifndef PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_ITEM_H_
#define PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_ITEM_H_

#include <cstdint>
#include <cstring>

#include "pjrt/cpu/custom_call.h"
#include "src/cpu_device/custom_calls/lapack_forms.h"
#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

// The options of one execution.
struct LapackSettings {
  bool lower, left, unit_diagonal, transpose, conjugate, vectors, right_vectors;
  int64_t low, high;
};

// The parts of one item of the batch.
class LapackItem {
 public:
  LapackItem(const LapackCall& call, absl::Span<const custom_call::Array> operands,
             absl::Span<const custom_call::Array> results, int64_t index)
      : call_(call), operands_(operands), results_(results), index_(index) {}

  template <typename U>
  const U* In(char part) const {
    return static_cast<const U*>(At(operands_[static_cast<size_t>(call_.operands[part])]));
  }
  // Null when the form has no such result.
  template <typename U>
  U* Out(char part) const {
    if (!call_.results.Has(part)) return nullptr;
    return static_cast<U*>(At(results_[static_cast<size_t>(call_.results[part])]));
  }
  // A result that begins as a copy of the operand of the same part.
  template <typename U>
  U* InOut(char part) const {
    U* const out = Out<U>(part);
    const U* const in = In<U>(part);
    const int64_t bytes = ItemBytes(results_[static_cast<size_t>(call_.results[part])]);
    if (out != in && bytes > 0) std::memcpy(out, in, static_cast<size_t>(bytes));
    return out;
  }
  void Clear(char part) const {
    if (!call_.results.Has(part)) return;
    const custom_call::Array& array = results_[static_cast<size_t>(call_.results[part])];
    if (ItemBytes(array) > 0) std::memset(At(array), 0, static_cast<size_t>(ItemBytes(array)));
  }

 private:
  int64_t ItemBytes(const custom_call::Array& array) const {
    return array.size_bytes() / call_.batch;
  }
  void* At(const custom_call::Array& array) const {
    return static_cast<char*>(array.data) + index_ * ItemBytes(array);
  }

  const LapackCall& call_;
  absl::Span<const custom_call::Array> operands_, results_;
  int64_t index_;
};

// Factorisations and solutions; T is float, double or std::complex of these. Returns info. `factor`
// scales the right-hand side of trsm.
template <typename T>
int32_t RunSolver(const LapackCall& call, const LapackSettings& options, const Kernels& kernels,
                  const LapackItem& item, T factor);

// Eigenvalues, singular values and what leads to them.
template <typename T>
int32_t RunEigenSolver(const LapackCall& call, const LapackSettings& options,
                       const Kernels& kernels, const LapackItem& item);

// The only item of a product with a sparse matrix; T may be int32_t or int64_t, too.
template <typename T>
void RunSparseProduct(const LapackCall& call, const LapackItem& item);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_ITEM_H_
