// SPDX-License-Identifier: Apache-2.0
//
// Ops that move the elements of constants: whatever the element type, bytes are copied.
#include <algorithm>
#include <cstring>
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/padding.h"
#include "src/core/base/strided_copy.h"
#include "src/core/base/wide_elements.h"
#include "src/core/ir/element.h"
#include "src/core/ir/type_rules.h"
#include "src/core/passes/evaluate.h"

namespace pjrt::ir {
namespace {

using Dims = absl::Span<const int64_t>;

// Byte strides of a dense row-major array.
DimList StridesOf(Dims dims, size_t element_bytes) {
  DimList strides(dims.size());
  int64_t stride = static_cast<int64_t>(element_bytes);
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

// Where an operand's elements lie: dense, or one for all.
DimList StridesOf(const ConstantView& view, size_t element_bytes) {
  if (view.is_splat) return DimList(view.type.dims().size(), 0);
  return StridesOf(view.type.dims(), element_bytes);
}

// The value of operand `i`, a scalar of an integer type; nullopt for a ui64 above int64_t.
std::optional<int64_t> ScalarAt(const Evaluation& e, size_t i) {
  const Type element = e.operands[i].type.element_type();
  if (!element.Is(TypeKind::kInteger) && !element.Is(TypeKind::kIndex)) return std::nullopt;
  const int64_t value = DecodeInt(element, e.operands[i].bytes.data());
  const bool is_large = element.Is(TypeKind::kInteger) && element.bit_width() == 64 &&
                        element.signedness() == Signedness::kUnsigned && value < 0;
  if (is_large) return std::nullopt;
  return value;
}

int64_t Offset(Dims index, Dims strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

// Copies the part of operand 0 that starts at `start`, every `step`-th element (which may be
// negative), to the whole result.
bool CopyPart(Evaluation& e, Dims start, Dims step) {
  const ConstantView& from = e.operands[0];
  if (from.is_splat) {
    std::memcpy(e.AllocateSplat(), from.bytes.data(), e.element_bytes);
    return true;
  }
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  DimList strides = StridesOf(from, e.element_bytes);
  const char* first = from.bytes.data() + Offset(start, strides);
  for (size_t d = 0; d < strides.size(); ++d) {
    // A step that nothing is taken by may be of any size.
    strides[d] = e.result.dims()[d] > 1 ? strides[d] * step[d] : 0;
  }
  StridedCopy(static_cast<int>(e.element_bytes), e.result.dims(), first, strides, out,
              StridesOf(e.result.dims(), e.element_bytes));
  return true;
}

// Start indices from operand `first` on, clamped so that `sizes` fit.
std::optional<DimList> ClampedStarts(const Evaluation& e, size_t first, Dims sizes) {
  const Dims dims = e.operands[0].type.dims();
  DimList starts;
  for (size_t d = 0; d < dims.size(); ++d) {
    const std::optional<int64_t> start = ScalarAt(e, first + d);
    if (!start || sizes[d] > dims[d]) return std::nullopt;
    starts.push_back(std::min(std::max<int64_t>(*start, 0), dims[d] - sizes[d]));
  }
  return starts;
}

}  // namespace

bool EvaluateReshape(Evaluation& e) {
  const ConstantView& from = e.operands[0];
  if (!from.is_splat) {
    if (from.type.element_count() != e.result.element_count() || e.Allocate() == nullptr) {
      return false;
    }
  } else {
    e.AllocateSplat();
  }
  if (from.bytes.size() != e.bytes.size()) return false;
  std::copy(from.bytes.begin(), from.bytes.end(), e.bytes.begin());
  return true;
}

// Bytes stay as they are where elements have whole ones.
bool EvaluateBitcastConvert(Evaluation& e) {
  const ConstantView& from = e.operands[0];
  const int64_t from_bits = ElementBits(from.type.element_type());
  const int64_t bits = ElementBits(e.result.element_type());
  if (from_bits % 8 != 0 || bits % 8 != 0 || from_bits == 0) return false;
  if (from.is_splat && from_bits != bits) return false;
  if (from.is_splat) {
    e.AllocateSplat();
  } else if (e.Allocate() == nullptr) {
    return false;
  }
  if (from.bytes.size() != e.bytes.size()) return false;
  std::copy(from.bytes.begin(), from.bytes.end(), e.bytes.begin());
  return true;
}

bool EvaluateBroadcastInDim(Evaluation& e) {
  const ConstantView& from = e.operands[0];
  if (from.is_splat) {
    std::memcpy(e.AllocateSplat(), from.bytes.data(), e.element_bytes);
    return true;
  }
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  const DimList dimensions = e.op->IntsAttr("broadcast_dimensions");
  const DimList from_strides = StridesOf(from, e.element_bytes);
  DimList strides(e.result.dims().size(), 0);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const size_t to = static_cast<size_t>(dimensions[d]);
    if (from.type.dims()[d] == 1) continue;
    if (from.type.dims()[d] != e.result.dims()[to]) return false;
    strides[to] = from_strides[d];
  }
  StridedCopy(static_cast<int>(e.element_bytes), e.result.dims(), from.bytes.data(), strides, out,
              StridesOf(e.result.dims(), e.element_bytes));
  return true;
}

bool EvaluateTranspose(Evaluation& e) {
  const ConstantView& from = e.operands[0];
  if (from.is_splat) return CopyPart(e, {}, {});
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  const DimList from_strides = StridesOf(from, e.element_bytes);
  DimList strides;
  for (int64_t d : e.op->IntsAttr("permutation")) {
    strides.push_back(from_strides[static_cast<size_t>(d)]);
  }
  StridedCopy(static_cast<int>(e.element_bytes), e.result.dims(), from.bytes.data(), strides, out,
              StridesOf(e.result.dims(), e.element_bytes));
  return true;
}

bool EvaluateSlice(Evaluation& e) {
  return CopyPart(e, e.op->IntsAttr("start_indices"), e.op->IntsAttr("strides"));
}

bool EvaluateDynamicSlice(Evaluation& e) {
  const std::optional<DimList> starts = ClampedStarts(e, 1, e.result.dims());
  return starts && CopyPart(e, *starts, DimList(starts->size(), 1));
}

bool EvaluateDynamicUpdateSlice(Evaluation& e) {
  const ConstantView &operand = e.operands[0], &update = e.operands[1];
  const std::optional<DimList> starts = ClampedStarts(e, 2, update.type.dims());
  if (!starts) return false;
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  const DimList strides = StridesOf(e.result.dims(), e.element_bytes);
  StridedCopy(static_cast<int>(e.element_bytes), e.result.dims(), operand.bytes.data(),
              StridesOf(operand, e.element_bytes), out, strides);
  if (update.type.element_count() == 0) return true;
  StridedCopy(static_cast<int>(e.element_bytes), update.type.dims(), update.bytes.data(),
              StridesOf(update, e.element_bytes), out + Offset(*starts, strides), strides);
  return true;
}

bool EvaluateReverse(Evaluation& e) {
  DimList start(e.result.dims().size(), 0), step(e.result.dims().size(), 1);
  for (int64_t d : e.op->IntsAttr("dimensions")) {
    start[static_cast<size_t>(d)] = e.result.dim(d) - 1;
    step[static_cast<size_t>(d)] = -1;
  }
  return CopyPart(e, start, step);
}

bool EvaluateConcatenate(Evaluation& e) {
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  const size_t along = static_cast<size_t>(e.op->IntAttr("dimension"));
  const DimList strides = StridesOf(e.result.dims(), e.element_bytes);
  for (const ConstantView& part : e.operands) {
    if (part.type.element_count() == 0) continue;
    StridedCopy(static_cast<int>(e.element_bytes), part.type.dims(), part.bytes.data(),
                StridesOf(part, e.element_bytes), out, strides);
    out += part.type.dims()[along] * strides[along];
  }
  return true;
}

bool EvaluatePad(Evaluation& e) {
  const ConstantView &from = e.operands[0], &value = e.operands[1];
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  for (size_t at = 0; at < e.bytes.size(); at += e.element_bytes) {
    std::memcpy(out + at, value.bytes.data(), e.element_bytes);
  }
  const DimList low = e.op->IntsAttr("edge_padding_low");
  const DimList interior = e.op->IntsAttr("interior_padding");
  const DimList from_strides = StridesOf(from, e.element_bytes);
  DimList strides = StridesOf(e.result.dims(), e.element_bytes), sizes;
  const char* first = from.bytes.data();
  for (size_t d = 0; d < low.size(); ++d) {
    const PaddedPlaces at =
        PlacesOfPadded(from.type.dims()[d], low[d], interior[d], e.result.dims()[d]);
    if (at.begin == at.end) return true;
    sizes.push_back(at.end - at.begin);
    first += at.begin * from_strides[d];
    out += at.first * strides[d];
    strides[d] *= at.step;
  }
  StridedCopy(static_cast<int>(e.element_bytes), sizes, first, from_strides, out, strides);
  return true;
}

bool EvaluateGather(Evaluation& e) {
  const ConstantView &operand = e.operands[0], &indices = e.operands[1];
  const auto numbers = GatherDimensionNumbers::From(e.op->attr("dimension_numbers"));
  const DimList sizes = e.op->IntsAttr("slice_sizes");
  const Type index_type = indices.type.element_type();
  if (!numbers || !(index_type.Is(TypeKind::kInteger) || index_type.Is(TypeKind::kIndex))) {
    return false;
  }
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  const Dims dims = operand.type.dims(), index_dims = indices.type.dims();
  const size_t index_bytes = ElementByteWidth(index_type);
  const DimList strides = StridesOf(operand, e.element_bytes);
  const DimList index_strides = StridesOf(indices, index_bytes);
  const size_t vector_dim = static_cast<size_t>(numbers->index_vector_dim);
  DimList at(e.result.dims().size(), 0);
  for (size_t byte = 0; byte < e.bytes.size(); byte += e.element_bytes) {
    // The result's index falls into that of a slice, and one inside of it.
    DimList batch, start(dims.size(), 0), inside;
    for (size_t d = 0; d < at.size(); ++d) {
      (Contains(numbers->offset_dims, static_cast<int64_t>(d)) ? inside : batch).push_back(at[d]);
    }
    const int64_t base = [&] {
      int64_t offset = 0;
      for (size_t d = 0, b = 0; d < index_dims.size(); ++d) {
        if (d != vector_dim) offset += batch[b++] * index_strides[d];
      }
      return offset;
    }();
    for (size_t i = 0; i < numbers->start_index_map.size(); ++i) {
      const int64_t along =
          vector_dim < index_dims.size() ? static_cast<int64_t>(i) * index_strides[vector_dim] : 0;
      const size_t d = static_cast<size_t>(numbers->start_index_map[i]);
      int64_t index = DecodeInt(index_type, indices.bytes.data() + base + along);
      const bool is_unsigned =
          index_type.Is(TypeKind::kInteger) && index_type.signedness() == Signedness::kUnsigned;
      if (is_unsigned && index < 0) index = dims[d];
      start[d] = std::min(std::max<int64_t>(index, 0), dims[d] - sizes[d]);
    }
    for (size_t i = 0; i < numbers->operand_batching_dims.size(); ++i) {
      // Batching dimensions of the indices count without the vector's.
      const size_t from = static_cast<size_t>(numbers->start_indices_batching_dims[i]);
      start[static_cast<size_t>(numbers->operand_batching_dims[i])] =
          batch[from - (from > vector_dim ? 1 : 0)];
    }
    for (size_t d = 0, i = 0; d < dims.size(); ++d) {
      const int64_t dimension = static_cast<int64_t>(d);
      if (Contains(numbers->collapsed_slice_dims, dimension) ||
          Contains(numbers->operand_batching_dims, dimension)) {
        continue;
      }
      start[d] += inside[i++];
    }
    std::memcpy(out + byte, operand.bytes.data() + Offset(start, strides), e.element_bytes);
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < e.result.dims()[d]) break;
      at[d] = 0;
    }
  }
  return true;
}

bool EvaluateIota(Evaluation& e) {
  const PrimitiveType type = ArithmeticType(e.result.element_type());
  if (!IsArrayType(type)) return false;
  char* out = e.Allocate();
  if (out == nullptr || e.bytes.empty()) return out != nullptr;
  const size_t dimension = static_cast<size_t>(e.op->IntAttr("iota_dimension"));
  int64_t below = 1;
  for (size_t d = dimension + 1; d < e.result.dims().size(); ++d) below *= e.result.dims()[d];
  WideBlock value;
  value.type = WideType::kInt64;
  for (int64_t i = 0; i < e.result.element_count(); ++i) {
    value.int64s[0] = i / below % e.result.dims()[dimension];
    StoreWide(value, 1, type, out + i * static_cast<int64_t>(e.element_bytes));
  }
  return true;
}

}  // namespace pjrt::ir
