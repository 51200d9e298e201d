// SPDX-License-Identifier: Apache-2.0
//
// Sweeps of rotations applied to the columns of a matrix, several at a time. Internal to
// linalg_*.cc.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_ROTATIONS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_ROTATIONS_H_

#include <cstdint>
#include <vector>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_iterations.h"

namespace pjrt::cpu {

// Collects sweeps for a column-major matrix (n x n) and applies them block of rows by block of
// rows, so that a block stays in the cache from sweep to sweep. `columns` null: drops them all.
template <typename T>
class RotationQueue {
 public:
  RotationQueue(const DenseOps<T>* ops, int64_t n, T* columns)
      : ops_(*ops), n_(n), columns_(columns) {}

  void Add(const RotationSweep& sweep) {
    if (columns_ == nullptr || sweep.count == 0) return;
    sweeps_.push_back({sweep.first, sweep.count, static_cast<int64_t>(c_.size()), sweep.backward});
    for (int64_t i = 0; i < sweep.count; ++i) {
      c_.push_back(static_cast<RealOf<T>>(sweep.c[i]));
      s_.push_back(static_cast<RealOf<T>>(sweep.s[i]));
    }
    if (sweeps_.size() == kMaxSweeps) Flush();
  }

  void Flush() {
    const int64_t row_bytes = n_ * static_cast<int64_t>(sizeof(T));
    const int64_t rows = std::max<int64_t>(kBlockBytes / row_bytes / kRowStep * kRowStep, kRowStep);
    for (int64_t i = 0; i < n_ && !sweeps_.empty(); i += rows) {
      for (const Sweep& sweep : sweeps_) {
        ops_.RotateColumns(std::min(rows, n_ - i), sweep.count, c_.data() + sweep.offset,
                           s_.data() + sweep.offset, columns_ + sweep.first * n_ + i, n_,
                           sweep.backward);
      }
    }
    sweeps_.clear();
    c_.clear();
    s_.clear();
  }

 private:
  static constexpr size_t kMaxSweeps = 32;
  static constexpr int64_t kBlockBytes = 256 * 1024;
  static constexpr int64_t kRowStep = 64;
  struct Sweep {
    int64_t first, count, offset;
    bool backward;
  };

  const DenseOps<T>& ops_;
  const int64_t n_;
  T* const columns_;
  std::vector<Sweep> sweeps_;
  std::vector<RealOf<T>> c_, s_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_ROTATIONS_H_
