// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/static_ops.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pjrt/ir/op_set.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/diagnostics.h"
#include "src/core/ir/type_rules.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {
namespace {

absl::Status Contradiction(const Op& op, absl::string_view what) {
  return AtOp(op, InvalidArgument(kContradiction, what));
}

// Sizes that operands give: one a dimension, none negative.
absl::Status CheckSizes(const Op& op, absl::Span<const int64_t> sizes) {
  const Type result = op.result_type();
  bool fits = static_cast<int64_t>(sizes.size()) == result.rank();
  for (size_t d = 0; fits && d < sizes.size(); ++d) {
    fits = sizes[d] >= 0 && CompatibleExtents({sizes[d], kDynamic}, ExtentOf(result, d));
  }
  if (fits) return absl::OkStatus();
  return Contradiction(
      op, absl::StrCat("the operand gives the result the sizes [", absl::StrJoin(sizes, ", "),
                       "]; expected some for ", result.ToString()));
}

using Attributes = std::vector<NamedAttribute>;

// The op's attributes without some.
Attributes Keep(const Op& op, absl::Span<const absl::string_view> dropped) {
  Attributes kept;
  for (const NamedAttribute& attribute : op.attributes()) {
    if (std::find(dropped.begin(), dropped.end(), attribute.name) == dropped.end()) {
      kept.push_back(attribute);
    }
  }
  return kept;
}

// Puts an op of that name, on the first `operands` of `op`'s operands, in its place.
Op* Replace(Op* op, absl::string_view name, size_t operands, Type result,
            const Attributes& attributes) {
  absl::InlinedVector<Value*, 4> values;
  for (size_t i = 0; i < operands; ++i) values.push_back(op->operand(i));
  Emitter emit(op->module(), op);
  Op* const made = emit.Make(name, values, {result}, attributes);
  op->result()->ReplaceAllUsesWith(made->result());
  op->Erase();
  return made;
}

// `value` in the place of the op's result.
Op* PutInPlace(Op* op, Value* value) {
  Op* const made = value->defining_op();
  op->result()->ReplaceAllUsesWith(value);
  op->Erase();
  return made;
}

Type WithSizes(Op* op, absl::Span<const int64_t> sizes) {
  return op->module()->context().Tensor(sizes, op->result_type().element_type());
}

// dynamic_reshape, dynamic_broadcast_in_dim, dynamic_iota: one operand is the result's shape.
absl::StatusOr<Op*> MakeShapeStatic(Op* op, absl::string_view name, size_t operands) {
  Type result = op->result_type();
  if (!result.HasStaticShape()) {
    const std::optional<DimList> sizes = ConstantIntegers(op->operand(operands));
    if (!sizes) return op;
    PJRT_RETURN_IF_ERROR(CheckSizes(*op, *sizes));
    result = WithSizes(op, *sizes);
  }
  return Replace(op, name, operands, result,
                 Keep(*op, {"known_expanding_dimensions", "known_nonexpanding_dimensions"}));
}

absl::StatusOr<Op*> MakePadStatic(Op* op) {
  const auto low = ConstantIntegers(op->operand(2)), high = ConstantIntegers(op->operand(3)),
             interior = ConstantIntegers(op->operand(4));
  const Type result = op->result_type();
  if (!low || !high || !interior) {
    if (!result.HasStaticShape()) return op;
    Value* const made =
        PadAtRunTime(op, op->operand(0), op->operand(1), op->operand(2), op->operand(4), result);
    return made == nullptr ? op : PutInPlace(op, made);
  }
  Context& context = op->module()->context();
  Attributes attributes(op->attributes().begin(), op->attributes().end());
  attributes.push_back({"edge_padding_low", context.I64Array(*low)});
  attributes.push_back({"edge_padding_high", context.I64Array(*high)});
  attributes.push_back({"interior_padding", context.I64Array(*interior)});
  return Replace(op, "stablehlo.pad", 2, result, attributes);
}

// Where a real_dynamic_slice goes from `start` to `start + sizes`: the sizes, else null.
Value* SizesBehindStart(const Op& op) {
  Value* const start = op.operand(1);
  const Op* const sum = op.operand(2)->defining_op();
  if (sum == nullptr || !sum->Is(OpCode::kAdd)) return nullptr;
  if (sum->operand(0) == start) return sum->operand(1);
  return sum->operand(1) == start ? sum->operand(0) : nullptr;
}

absl::StatusOr<Op*> MakeSliceStatic(Op* op) {
  const auto start = ConstantIntegers(op->operand(1)), limit = ConstantIntegers(op->operand(2)),
             strides = ConstantIntegers(op->operand(3));
  const Type result = op->result_type();
  if (!start || !limit || !strides) {
    const bool has_unit_strides =
        strides && std::all_of(strides->begin(), strides->end(), [](int64_t s) { return s == 1; });
    std::optional<DimList> sizes;
    if (result.HasStaticShape()) {
      sizes.emplace(result.dims().begin(), result.dims().end());
    } else if (Value* const behind = SizesBehindStart(*op)) {
      sizes = ConstantIntegers(behind);
    }
    if (!sizes) return op;
    PJRT_RETURN_IF_ERROR(CheckSizes(*op, *sizes));
    Value* const made = has_unit_strides          ? SliceOfSizes(op, *sizes)
                        : result.HasStaticShape() ? SliceAtRunTime(op, result)
                                                  : nullptr;
    return made == nullptr ? op : PutInPlace(op, made);
  }
  Context& context = op->module()->context();
  Attributes attributes(op->attributes().begin(), op->attributes().end());
  attributes.push_back({"start_indices", context.I64Array(*start)});
  attributes.push_back({"limit_indices", context.I64Array(*limit)});
  attributes.push_back({"strides", context.I64Array(*strides)});
  return Replace(op, "stablehlo.slice", 1, result, attributes);
}

// The sizes of the slices that a static result shows: its offset dimensions, in order, are those of
// the operand that are neither collapsed nor batching, which have size 1.
std::optional<DimList> SliceSizesOf(const Op& op, const GatherDimensionNumbers& numbers) {
  DimList sizes;
  size_t next = 0;
  for (int64_t d = 0; d < op.operand_type(0).rank(); ++d) {
    if (Contains(numbers.collapsed_slice_dims, d) || Contains(numbers.operand_batching_dims, d)) {
      sizes.push_back(1);
    } else if (next < numbers.offset_dims.size()) {
      sizes.push_back(op.result_type().dim(numbers.offset_dims[next++]));
    }
    if (sizes.empty() || sizes.back() == kDynamic) return std::nullopt;
  }
  return sizes;
}

absl::StatusOr<Op*> MakeGatherStatic(Op* op) {
  const auto numbers = GatherDimensionNumbers::From(op->attr("dimension_numbers"));
  std::optional<DimList> sizes = ConstantIntegers(op->operand(2));
  if (!sizes && numbers) sizes = SliceSizesOf(*op, *numbers);
  if (!sizes) return op;
  Attributes attributes(op->attributes().begin(), op->attributes().end());
  attributes.push_back({"slice_sizes", op->module()->context().I64Array(*sizes)});
  return Replace(op, "stablehlo.gather", 2, op->result_type(), attributes);
}

absl::StatusOr<Op*> MakeConvStatic(Op* op) {
  const std::optional<DimList> padding = ConstantIntegers(op->operand(2));
  const Type result = op->result_type();
  if (!padding) {
    if (!result.HasStaticShape()) return op;
    Value* const made = ConvolveAtRunTime(op, result);
    return made == nullptr ? op : PutInPlace(op, made);
  }
  Attributes attributes = Keep(*op, {"padding"});
  attributes.push_back(
      {"padding", op->module()->context().DenseI64(op->operand_type(2).dims(), *padding)});
  return Replace(op, "stablehlo.convolution", 2, result, attributes);
}

// The elements below the size: what the tensor holds from then on.
absl::StatusOr<Op*> MakeSizeStatic(Op* op) {
  const Type operand = op->operand_type(0);
  const std::optional<DimList> size = ConstantIntegers(op->operand(1));
  const int64_t dimension = op->IntAttr("dimension");
  if (!operand.HasStaticShape()) return op;
  if (!size || size->size() != 1) {
    // A size that the type shows is no news.
    if (op->result_type() != operand) return op;
    return PutInPlace(op, op->operand(0));
  }
  if (size->front() < 0 || size->front() > operand.dim(dimension)) {
    return Contradiction(
        *op, absl::StrCat("the size of dimension ", dimension, " is set to ", size->front(),
                          "; expected 0 to ", operand.dim(dimension)));
  }
  DimList limit(operand.dims().begin(), operand.dims().end());
  limit[static_cast<size_t>(dimension)] = size->front();
  Context& context = op->module()->context();
  const DimList zeros(limit.size(), 0), ones(limit.size(), 1);
  return Replace(op, "stablehlo.slice", 1, WithSizes(op, limit),
                 {{"start_indices", context.I64Array(zeros)},
                  {"limit_indices", context.I64Array(limit)},
                  {"strides", context.I64Array(ones)}});
}

}  // namespace

std::optional<DimList> ConstantIntegers(const Value* value) {
  const Op* const source = value->defining_op();
  if (source == nullptr || !source->Is(OpCode::kConstant)) return std::nullopt;
  const Attribute attr = source->attr("value");
  DimList values;
  int64_t rows, columns;
  if (!GetIntList(attr, &values) && !GetIntMatrix(attr, &values, &rows, &columns)) {
    return std::nullopt;
  }
  return values;
}

ShapeValues DecidingValues(const Op& op) {
  ShapeValues values;
  const int64_t count = static_cast<int64_t>(op.num_operands());
  const auto add = [&](int64_t i) {
    if (i >= 0 && i < count) values.push_back(op.operand(static_cast<size_t>(i)));
  };
  switch (op.opcode()) {
    case OpCode::kDynamicIota:
      add(0);
      return values;
    case OpCode::kDynamicReshape:
    case OpCode::kDynamicBroadcastInDim:
    case OpCode::kSetDimensionSize:
      add(1);
      return values;
    case OpCode::kDynamicGather:
    case OpCode::kDynamicConv:
    case OpCode::kRng:
      add(2);
      return values;
    case OpCode::kDynamicPad:
      for (int64_t i : {2, 3, 4}) add(i);
      return values;
    case OpCode::kRealDynamicSlice:
      if (Value* const sizes = SizesBehindStart(op)) {
        values.push_back(sizes);
      } else {
        add(1);
        add(2);
      }
      add(3);
      return values;
    case OpCode::kCustomCall:
      break;
    default:
      return values;
  }
  for (int64_t i : op.IntsAttr("indices_of_shape_operands")) add(i);
  const absl::string_view target = op.StringAttr("call_target_name");
  if (target == "stablehlo.dynamic_top_k" || target == "stablehlo.dynamic_rng_bit_generator") {
    add(1);
  } else if (target == "stablehlo.dynamic_approx_top_k") {
    add(4);
  } else if (target == "stablehlo.dynamic_reduce_window") {
    for (int64_t i = count - 5; i < count; ++i) add(i);
  }
  return values;
}

absl::StatusOr<Op*> MakeStatic(Op* op) {
  switch (op->opcode()) {
    case OpCode::kDynamicReshape:
      return MakeShapeStatic(op, "stablehlo.reshape", 1);
    case OpCode::kDynamicBroadcastInDim:
      return MakeShapeStatic(op, "stablehlo.broadcast_in_dim", 1);
    case OpCode::kDynamicIota:
      return MakeShapeStatic(op, "stablehlo.iota", 0);
    case OpCode::kDynamicPad:
      return MakePadStatic(op);
    case OpCode::kRealDynamicSlice:
      return MakeSliceStatic(op);
    case OpCode::kDynamicGather:
      return MakeGatherStatic(op);
    case OpCode::kDynamicConv:
      return MakeConvStatic(op);
    case OpCode::kSetDimensionSize:
      return MakeSizeStatic(op);
    default:
      return op;
  }
}

}  // namespace pjrt::ir
