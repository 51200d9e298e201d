// SPDX-License-Identifier: Apache-2.0
//
// From elements as memory holds them to those that a kernel computes with, and back.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TYPE_CHANGE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TYPE_CHANGE_H_

#include <cstdint>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

// At most two conversions, one after the other. Immutable.
class TypeChange {
 public:
  TypeChange() = default;
  // A memory type's elements in a compute type, and back: rounded or wrapped once.
  static TypeChange Load(const BlockKernels& kernels, PrimitiveType from, CType to) {
    const CType own = ComputeTypeOf(from);
    TypeChange change;
    change.Add(kernels.load[from]);
    if (own != to) change.Add(kernels.convert[static_cast<int>(to)][static_cast<int>(own)]);
    return change;
  }
  static TypeChange Store(const BlockKernels& kernels, CType from, PrimitiveType to) {
    const CType own = ComputeTypeOf(to);
    TypeChange change;
    if (own != from) change.Add(kernels.convert[static_cast<int>(own)][static_cast<int>(from)]);
    change.Add(kernels.store[to]);
    return change;
  }

  // The bits stay the same.
  bool none() const { return first_ == nullptr; }
  // n contiguous elements; not for none(). `between`: working memory of 16 * n bytes, used when
  // there are two conversions.
  void Run(void* to, const void* from, int64_t n, void* between) const {
    if (second_ == nullptr) return first_(to, from, n);
    first_(between, from, n);
    second_(to, between, n);
  }

 private:
  void Add(ConvertFn convert) {
    if (convert != nullptr) (first_ == nullptr ? first_ : second_) = convert;
  }
  ConvertFn first_ = nullptr, second_ = nullptr;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TYPE_CHANGE_H_
