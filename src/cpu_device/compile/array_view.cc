// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/array_view.h"

#include <cstring>

namespace pjrt::cpu {
namespace {

Dims DenseStrides(absl::Span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

}  // namespace

int64_t ArrayView::ElementCount() const {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

bool ArrayView::IsDense() const {
  if (kind != kBuffer) return false;
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d] != 1 && strides[d] != stride) return false;
    stride *= dims[d];
  }
  return true;
}

ArrayView DenseView(BufferId buffer, PrimitiveType type, absl::Span<const int64_t> dims) {
  ArrayView view;
  view.type = type;
  view.dims.assign(dims.begin(), dims.end());
  view.buffer = buffer;
  view.strides = DenseStrides(dims);
  return view;
}

ArrayView SplatView(PrimitiveType type, absl::Span<const int64_t> dims, const char* bits) {
  ArrayView view;
  view.kind = ArrayView::kSplat;
  view.type = type;
  view.dims.assign(dims.begin(), dims.end());
  view.strides.assign(dims.size(), 0);
  std::memcpy(view.bits, bits, ByteWidth(type));
  return view;
}

ArrayView IotaView(PrimitiveType type, absl::Span<const int64_t> dims, int64_t iota_dim) {
  ArrayView view;
  view.kind = ArrayView::kIota;
  view.type = type;
  view.dims.assign(dims.begin(), dims.end());
  view.strides.assign(dims.size(), 0);
  view.strides[iota_dim] = 1;
  return view;
}

ArrayView BroadcastView(const ArrayView& operand, absl::Span<const int64_t> dims,
                        absl::Span<const int64_t> broadcast_dims) {
  ArrayView view = operand;
  view.dims.assign(dims.begin(), dims.end());
  view.strides.assign(dims.size(), 0);
  for (size_t j = 0; j < broadcast_dims.size(); ++j) {
    if (operand.dims[j] != 1) view.strides[broadcast_dims[j]] = operand.strides[j];
  }
  return view;
}

ArrayView TransposeView(const ArrayView& operand, absl::Span<const int64_t> permutation) {
  ArrayView view = operand;
  for (size_t i = 0; i < permutation.size(); ++i) {
    view.dims[i] = operand.dims[permutation[i]];
    view.strides[i] = operand.strides[permutation[i]];
  }
  return view;
}

ArrayView SliceView(const ArrayView& operand, absl::Span<const int64_t> starts,
                    absl::Span<const int64_t> limits, absl::Span<const int64_t> strides) {
  ArrayView view = operand;
  for (size_t d = 0; d < starts.size(); ++d) {
    view.offset += starts[d] * operand.strides[d];
    view.dims[d] = limits[d] <= starts[d] ? 0 : (limits[d] - starts[d] - 1) / strides[d] + 1;
    // A stride beyond the dimension leaves one element; its own stride then means nothing and must
    // not overflow.
    view.strides[d] = view.dims[d] > 1 ? operand.strides[d] * strides[d] : operand.strides[d];
  }
  return view;
}

ArrayView ReverseView(const ArrayView& operand, absl::Span<const int64_t> dimensions) {
  ArrayView view = operand;
  for (int64_t d : dimensions) {
    if (operand.dims[d] <= 1) continue;
    view.offset += (operand.dims[d] - 1) * operand.strides[d];
    view.strides[d] = -operand.strides[d];
  }
  return view;
}

std::optional<ArrayView> ReshapeView(const ArrayView& operand, absl::Span<const int64_t> dims) {
  ArrayView view = operand;
  view.dims.assign(dims.begin(), dims.end());
  view.strides.assign(dims.size(), 0);
  if (operand.kind == ArrayView::kSplat || operand.ElementCount() == 0) {
    if (operand.kind != ArrayView::kSplat) view.strides = DenseStrides(dims);
    return view;
  }
  // Groups of operand dims and result dims with equal products, from the innermost out; a group
  // keeps its strides when the operand walks it as one dim.
  size_t i = operand.dims.size(), j = dims.size();
  while (i > 0 || j > 0) {
    if (j > 0 && dims[j - 1] == 1) {
      view.strides[--j] = 0;
      continue;
    }
    if (i > 0 && operand.dims[i - 1] == 1) {
      --i;
      continue;
    }
    if (i == 0 || j == 0) return std::nullopt;
    const size_t i_end = i;
    const size_t j_end = j;
    int64_t from = operand.dims[--i], to = dims[--j];
    while (from != to) {
      if (from < to) {
        if (i == 0) return std::nullopt;
        from *= operand.dims[--i];
      } else {
        if (j == 0) return std::nullopt;
        to *= dims[--j];
      }
    }
    // The operand's dims [i, i_end) as one: each stride is the next one's times its size.
    int64_t inner = -1, expected = 0;
    int64_t innermost = 0;
    for (size_t d = i_end; d-- > i;) {
      if (operand.dims[d] == 1) continue;
      if (inner < 0) {
        innermost = operand.strides[d];
      } else if (operand.strides[d] != expected) {
        return std::nullopt;
      }
      inner = operand.dims[d];
      expected = operand.strides[d] * inner;
    }
    int64_t stride = innermost;
    for (size_t d = j_end; d-- > j;) {
      view.strides[d] = stride;
      stride *= dims[d];
    }
  }
  return view;
}

}  // namespace pjrt::cpu
