// SPDX-License-Identifier: Apache-2.0
//
// What the compiler knows of a tensor value: a buffer seen through offset and strides, a constant,
// or an affine sequence. Reshapes, transposes, broadcasts, slices and reversals change the view and
// move no data.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_ARRAY_VIEW_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_ARRAY_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct ArrayView {
  enum Kind : uint8_t {
    kBuffer,  // element (i...) is buffer[offset + sum i * stride], in elements
    kSplat,   // every element is `bits`, of the memory type
    kIota,    // element (i...) is offset + sum i * stride, converted to the type
  };
  Kind kind = kBuffer;
  PrimitiveType type = F32;
  Dims dims;
  BufferId buffer = kNoBuffer;
  int64_t offset = 0;
  Dims strides;
  char bits[16] = {};

  int64_t ElementCount() const;
  // A buffer's elements in row-major order without gaps.
  bool IsDense() const;
};

// The whole of a buffer, row-major.
ArrayView DenseView(BufferId buffer, PrimitiveType type, absl::Span<const int64_t> dims);
ArrayView SplatView(PrimitiveType type, absl::Span<const int64_t> dims, const char* bits);
ArrayView IotaView(PrimitiveType type, absl::Span<const int64_t> dims, int64_t iota_dim);

// Result dimension i of `dims` shows operand dimension j where broadcast_dims[j] = i.
ArrayView BroadcastView(const ArrayView& operand, absl::Span<const int64_t> dims,
                        absl::Span<const int64_t> broadcast_dims);
ArrayView TransposeView(const ArrayView& operand, absl::Span<const int64_t> permutation);
ArrayView SliceView(const ArrayView& operand, absl::Span<const int64_t> starts,
                    absl::Span<const int64_t> limits, absl::Span<const int64_t> strides);
ArrayView ReverseView(const ArrayView& operand, absl::Span<const int64_t> dimensions);
// nullopt when no strides show the operand that way: it must be copied to a dense buffer first.
std::optional<ArrayView> ReshapeView(const ArrayView& operand, absl::Span<const int64_t> dims);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_ARRAY_VIEW_H_
