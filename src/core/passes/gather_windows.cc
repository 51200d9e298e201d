// SPDX-License-Identifier: Apache-2.0
//
// Overlapping frames of a signal, x[hop * i + j], and Toeplitz matrices, x[i - j + n], are written
// as gathers of single elements. Where an index vector has one component, which is surely within
// bounds and counts by 1 along the last dimension of the indices, all that the indices say is where
// each row begins.
#include "src/core/passes/gather_windows.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::ir {
namespace {

// Shorter windows gain nothing over their elements.
constexpr int64_t kMinWindow = 16;
// How many ops deep indices are looked into.
constexpr int kMaxIndexDepth = 16;

bool IsIndexType(Type type) {
  return type.IsTensor() && type.HasStaticShape() && IsInteger(type.primitive_type()) &&
         BitWidth(type.primitive_type()) >= 32;
}

// The number that elements of a constant grow by when all its other dims are of size 1.
std::optional<int64_t> StepOfConstant(const Op& constant) {
  const Attribute value = constant.attr("value");
  if (value.IsSplat()) return 0;
  const Type type = constant.result_type();
  const size_t width = static_cast<size_t>(ByteWidth(type.primitive_type()));
  const absl::Span<const char> data = value.raw_data();
  const size_t count = static_cast<size_t>(type.element_count());
  if (count < 2 || data.size() != count * width) return std::nullopt;
  const auto at = [&](size_t i) {
    uint64_t bits = 0;
    for (size_t k = width; k-- > 0;)
      bits = bits << 8 | static_cast<unsigned char>(data[i * width + k]);
    return static_cast<int64_t>(width == 4 ? static_cast<int32_t>(bits)
                                           : static_cast<int64_t>(bits));
  };
  const uint64_t step = static_cast<uint64_t>(at(1)) - static_cast<uint64_t>(at(0));
  for (size_t i = 2; i < count; ++i) {
    if (static_cast<uint64_t>(at(i)) - static_cast<uint64_t>(at(i - 1)) != step)
      return std::nullopt;
  }
  return static_cast<int64_t>(step);
}

// The operand's dimension that is `dim` of a broadcast; -1 when there is none, or one of size 1.
int64_t OperandDim(const Op& broadcast, int64_t dim) {
  const auto dims = broadcast.IntsAttr("broadcast_dimensions");
  for (size_t k = 0; k < dims.size(); ++k) {
    const int64_t operand_dim = static_cast<int64_t>(k);
    if (dims[k] == dim && broadcast.operand_type(0).dim(operand_dim) > 1) return operand_dim;
  }
  return -1;
}

// What each element along `dim` is more than the one before it, modulo 2^64; nullopt when that is
// not one number, or not known to be.
std::optional<int64_t> StepAlong(const Value* value, int64_t dim, int depth = 0) {
  if (!IsIndexType(value->type())) return std::nullopt;
  if (value->type().dim(dim) == 1) return 0;
  const Op* const op = value->defining_op();
  if (op == nullptr || depth > kMaxIndexDepth) return std::nullopt;
  const auto of = [&](size_t i) { return StepAlong(op->operand(i), dim, depth + 1); };
  switch (op->opcode()) {
    case OpCode::kConstant:
      if (!op->attr("value").IsSplat() && value->type().element_count() != value->type().dim(dim))
        return std::nullopt;
      return StepOfConstant(*op);
    case OpCode::kIota:
      return op->IntAttr("iota_dimension") == dim ? 1 : 0;
    case OpCode::kBroadcastInDim: {
      const int64_t from = OperandDim(*op, dim);
      return from < 0 ? 0 : StepAlong(op->operand(0), from, depth + 1);
    }
    case OpCode::kAdd:
    case OpCode::kSubtract: {
      const std::optional<int64_t> a = of(0), b = of(1);
      if (!a.has_value() || !b.has_value()) return std::nullopt;
      const uint64_t left = static_cast<uint64_t>(*a), right = static_cast<uint64_t>(*b);
      return static_cast<int64_t>(op->Is(OpCode::kAdd) ? left + right : left - right);
    }
    case OpCode::kMultiply:
      return of(0) == 0 && of(1) == 0 ? std::optional<int64_t>(0) : std::nullopt;
    default:
      return std::nullopt;
  }
}

// The elements at place 0 of `dim`, which stays, of a value that StepAlong knows.
Term FirstAlong(Value* value, int64_t dim, Emitter& emit) {
  if (value->type().dim(dim) == 1) return emit(value);
  DimList dims(value->type().dims().begin(), value->type().dims().end());
  dims[static_cast<size_t>(dim)] = 1;
  const Type type = WithDims(emit.context(), value->type(), dims);
  const Op& op = *value->defining_op();
  switch (op.opcode()) {
    case OpCode::kConstant:
      return emit.Make1("stablehlo.constant", {}, type,
                        {{"value", emit.context().Dense(
                                       type, op.attr("value").raw_data().first(static_cast<size_t>(
                                                 ByteWidth(type.primitive_type()))))}});
    case OpCode::kIota:
      if (op.IntAttr("iota_dimension") == dim) return emit.IntConstant(type, 0);
      return emit.Iota(type, op.IntAttr("iota_dimension"));
    case OpCode::kBroadcastInDim: {
      const int64_t from = OperandDim(op, dim);
      const Term operand = from < 0 ? emit(op.operand(0)) : FirstAlong(op.operand(0), from, emit);
      return emit.Make1("stablehlo.broadcast_in_dim", {operand}, type,
                        {{"broadcast_dimensions", op.attr("broadcast_dimensions")}});
    }
    default: {
      const Term a = FirstAlong(op.operand(0), dim, emit);
      return Binary(op.name(), a, FirstAlong(op.operand(1), dim, emit));
    }
  }
}

}  // namespace

Value* GatherWindows(const Op& gather, const KnownRanges& ranges, Emitter& emit) {
  auto numbers = GatherDimensionNumbers::From(gather.attr("dimension_numbers"));
  Value* const indices = gather.operand(1);
  if (!numbers.has_value() || !IsIndexType(indices->type()) ||
      !gather.operand_type(0).HasStaticShape() || !gather.result_type().HasStaticShape())
    return nullptr;
  // One component, of a dim that is collapsed.
  if (numbers->start_index_map.size() != 1 ||
      numbers->collapsed_slice_dims != numbers->start_index_map ||
      !numbers->operand_batching_dims.empty())
    return nullptr;
  const int64_t array_dim = numbers->start_index_map[0];
  const int64_t size = gather.operand_type(0).dim(array_dim);
  const int64_t rank = indices->type().rank(), vector_dim = numbers->index_vector_dim;
  if (vector_dim < rank - 1 || (vector_dim < rank && indices->type().dim(vector_dim) != 1))
    return nullptr;
  const int64_t dim = vector_dim - 1;
  if (dim < 0) return nullptr;
  const int64_t window = indices->type().dim(dim);
  const std::optional<KnownRange> range = ranges.Of(indices);
  if (window < kMinWindow || !range.has_value() || range->least < 0 || range->most >= size)
    return nullptr;
  // The last dim of the result that is no window's becomes one, in the array's order of dims.
  DimList& offset_dims = numbers->offset_dims;
  int64_t place = gather.result_type().rank() - 1;
  while (place >= 0 &&
         std::find(offset_dims.begin(), offset_dims.end(), place) != offset_dims.end())
    --place;
  const auto before = std::lower_bound(offset_dims.begin(), offset_dims.end(), place);
  if (before - offset_dims.begin() != array_dim) return nullptr;
  const std::optional<int64_t> step = StepAlong(indices, dim);
  if (step != 1 && step != -1) return nullptr;

  Context& context = emit.context();
  Term array = emit(gather.operand(0)), first = FirstAlong(indices, dim, emit);
  if (*step < 0) {
    array = emit.Make1("stablehlo.reverse", {array}, array.type(),
                       {{"dimensions", context.I64Array({array_dim})}});
    first = first.LikeInt(size - 1) - first;
  }
  // The dim that is left, of size 1, is that of the index vectors.
  DimList starts(indices->type().dims().begin(), indices->type().dims().begin() + dim);
  starts.push_back(1);
  first = Reshape(first, starts);
  offset_dims.insert(before, place);
  numbers->collapsed_slice_dims.clear();
  numbers->index_vector_dim = dim;
  const auto old_sizes = gather.IntsAttr("slice_sizes");
  DimList sizes(old_sizes.begin(), old_sizes.end());
  sizes[static_cast<size_t>(array_dim)] = window;
  return emit
      .Make1("stablehlo.gather", {array, first}, gather.result_type(),
             {{"dimension_numbers", numbers->ToAttr(context)},
              {"indices_are_sorted", context.Bool(false)},
              {"slice_sizes", context.I64Array(sizes)}})
      .value();
}

}  // namespace pjrt::ir
