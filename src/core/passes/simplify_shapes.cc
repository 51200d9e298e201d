// SPDX-License-Identifier: Apache-2.0
//
// Rules of ops that move data.
#include <algorithm>
#include <cstdint>

#include "pjrt/ir/op_attributes.h"
#include "src/core/ir/reducer.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

bool IsIdentity(absl::Span<const int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Attribute Ints(Emitter& emit, absl::Span<const int64_t> values) {
  return emit.context().I64Array(values);
}

}  // namespace

Value* Respread(const Value* value, Type type, Emitter& emit) {
  const Op* constant = MadeBy(value, OpCode::kConstant);
  if (constant == nullptr || !constant->attr("value").IsSplat()) return nullptr;
  const Attribute attr = emit.context().Dense(type, constant->attr("value").raw_data());
  return emit.Make1("stablehlo.constant", {}, type, {{"value", attr}}).value();
}

// One element a result: the operation on the initial value and the element.
Replacement SimplifyReduce(const Op& op, Emitter& emit) {
  if (op.num_operands() != 2 || !op.operand_type(0).HasStaticShape()) return {};
  for (const int64_t d : op.IntsAttr("dimensions")) {
    if (op.operand_type(0).dim(d) != 1) return {};
  }
  const Op* const inner = ReducerOp(*op.region()->block());
  if (inner == nullptr) return {};
  const Type type = op.result_type();
  Value* init = Respread(op.operand(1), type, emit);
  if (init == nullptr) {
    init = emit.Make1("stablehlo.broadcast_in_dim", {emit(op.operand(1))}, type,
                      {{"broadcast_dimensions", Ints(emit, {})}})
               .value();
  }
  const Term element = emit.Make1("stablehlo.reshape", {emit(op.operand(0))}, type);
  return One(Binary(inner->name(), emit(init), element).value());
}

Replacement SimplifyReshape(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  if (operand->type() == op.result_type()) return One(operand);
  if (Value* splat = Respread(operand, op.result_type(), emit)) return One(splat);
  if (const Op* inner = MadeBy(operand, OpCode::kReshape)) {
    return One(
        emit.Make1("stablehlo.reshape", {emit(inner->operand(0))}, op.result_type()).value());
  }
  const Op* spread = MadeBy(operand, OpCode::kBroadcastInDim);
  if (spread != nullptr && spread->operand_type(0).rank() == 0) {
    return One(emit.Make1("stablehlo.broadcast_in_dim", {emit(spread->operand(0))},
                          op.result_type(), {{"broadcast_dimensions", Ints(emit, {})}})
                   .value());
  }
  return {};
}

Replacement SimplifyTranspose(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  const auto order = op.IntsAttr("permutation");
  if (IsIdentity(order)) return One(operand);
  if (Value* splat = Respread(operand, op.result_type(), emit)) return One(splat);
  if (const Op* inner = MadeBy(operand, OpCode::kTranspose)) {
    const auto first = inner->IntsAttr("permutation");
    DimList both;
    for (const int64_t d : order) both.push_back(first[static_cast<size_t>(d)]);
    return One(emit.Make1("stablehlo.transpose", {emit(inner->operand(0))}, op.result_type(),
                          {{"permutation", Ints(emit, both)}})
                   .value());
  }
  return {};
}

Replacement SimplifyBroadcast(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  const auto dims = op.IntsAttr("broadcast_dimensions");
  if (operand->type() == op.result_type() && IsIdentity(dims)) return One(operand);
  if (Value* splat = Respread(operand, op.result_type(), emit)) return One(splat);
  if (const Op* inner = MadeBy(operand, OpCode::kBroadcastInDim)) {
    DimList both;
    for (const int64_t d : inner->IntsAttr("broadcast_dimensions"))
      both.push_back(dims[static_cast<size_t>(d)]);
    return One(emit.Make1("stablehlo.broadcast_in_dim", {emit(inner->operand(0))}, op.result_type(),
                          {{"broadcast_dimensions", Ints(emit, both)}})
                   .value());
  }
  return {};
}

namespace {

// A part of a padded operand is padded by less, or cut.
Replacement SimplifySliceOfPad(const Op& op, const Op& pad, Emitter& emit) {
  const auto is_all = [](absl::Span<const int64_t> values, int64_t value) {
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
  };
  const auto interior = pad.IntsAttr("interior_padding"), strides = op.IntsAttr("strides");
  if (!pad.result()->HasOneUse() || !is_all(interior, 0) || !is_all(strides, 1)) return {};
  const auto start = op.IntsAttr("start_indices"), limit = op.IntsAttr("limit_indices");
  const auto low = pad.IntsAttr("edge_padding_low"), high = pad.IntsAttr("edge_padding_high");
  DimList lows, highs;
  for (size_t d = 0; d < start.size(); ++d) {
    lows.push_back(low[d] - start[d]);
    highs.push_back(high[d] - (pad.result_type().dim(static_cast<int64_t>(d)) - limit[d]));
  }
  return One(emit.Make1("stablehlo.pad", {emit(pad.operand(0)), emit(pad.operand(1))},
                        op.result_type(),
                        {{"edge_padding_high", Ints(emit, highs)},
                         {"edge_padding_low", Ints(emit, lows)},
                         {"interior_padding", Ints(emit, interior)}})
                 .value());
}

}  // namespace

Replacement SimplifySlice(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  if (Value* splat = Respread(operand, op.result_type(), emit)) return One(splat);
  const auto start = op.IntsAttr("start_indices"), stride = op.IntsAttr("strides");
  // All of the operand; dimensions of size 1 and 0 may have any stride.
  if (operand->type() == op.result_type()) return One(operand);
  if (const Op* pad = MadeBy(operand, OpCode::kPad)) return SimplifySliceOfPad(op, *pad, emit);
  const Op* inner = MadeBy(operand, OpCode::kSlice);
  if (inner == nullptr) return {};
  const auto first = inner->IntsAttr("start_indices"), step = inner->IntsAttr("strides");
  DimList starts, limits, strides;
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t count = op.result_type().dim(static_cast<int64_t>(d));
    starts.push_back(first[d] + start[d] * step[d]);
    strides.push_back(stride[d] * step[d]);
    limits.push_back(count == 0 ? starts[d] : starts[d] + (count - 1) * strides[d] + 1);
  }
  return One(emit.Make1("stablehlo.slice", {emit(inner->operand(0))}, op.result_type(),
                        {{"start_indices", Ints(emit, starts)},
                         {"limit_indices", Ints(emit, limits)},
                         {"strides", Ints(emit, strides)}})
                 .value());
}

Replacement SimplifyReverse(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  if (const Op* constant = MadeBy(operand, OpCode::kConstant)) {
    if (constant->attr("value").IsSplat()) return One(operand);
  }
  const auto dims = op.IntsAttr("dimensions");
  DimList left;
  for (const int64_t d : dims) {
    if (op.result_type().dim(d) > 1) left.push_back(d);
  }
  if (left.empty()) return One(operand);
  if (left.size() == dims.size()) return {};
  return One(emit.Make1("stablehlo.reverse", {emit(operand)}, op.result_type(),
                        {{"dimensions", Ints(emit, left)}})
                 .value());
}

Replacement SimplifyPad(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  const auto all_zero = [&](absl::string_view name) {
    const auto values = op.IntsAttr(name);
    return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
  };
  if (operand->type() == op.result_type() && all_zero("edge_padding_low") &&
      all_zero("edge_padding_high")) {
    return One(operand);
  }
  if (operand->type().element_count() != 0) return {};
  return One(emit.Make1("stablehlo.broadcast_in_dim", {emit(op.operand(1))}, op.result_type(),
                        {{"broadcast_dimensions", Ints(emit, {})}})
                 .value());
}

Replacement SimplifyConcatenate(const Op& op, Emitter& emit) {
  if (op.num_operands() == 1) return One(op.operand(0));
  absl::InlinedVector<Value*, 4> left;
  for (const Use& use : op.operand_uses()) {
    if (use.value()->type().element_count() != 0) left.push_back(use.value());
  }
  if (left.empty() || left.size() == op.num_operands()) return {};
  return One(emit.Make("stablehlo.concatenate", left, {op.result_type()},
                       {{"dimension", op.attr("dimension")}})
                 ->result());
}

// Starts are clamped, so that a slice of the whole begins at 0.
Replacement SimplifyDynamicSlice(const Op& op, Emitter& emit) {
  Value* operand = op.operand(0);
  if (operand->type() == op.result_type()) return One(operand);
  DimList starts, limits, strides;
  for (size_t i = 1; i < op.num_operands(); ++i) {
    const int64_t size = op.result_type().dim(static_cast<int64_t>(i) - 1);
    const int64_t most = operand->type().dim(static_cast<int64_t>(i) - 1) - size;
    int64_t start = 0;
    if (most > 0) {
      const std::optional<int64_t> value = ScalarInt(op.operand(i));
      if (!value.has_value()) return {};
      start = std::min(std::max<int64_t>(*value, 0), most);
    }
    starts.push_back(start);
    limits.push_back(start + size);
    strides.push_back(1);
  }
  return One(emit.Make1("stablehlo.slice", {emit(operand)}, op.result_type(),
                        {{"start_indices", Ints(emit, starts)},
                         {"limit_indices", Ints(emit, limits)},
                         {"strides", Ints(emit, strides)}})
                 .value());
}

Replacement SimplifyDynamicUpdateSlice(const Op& op, Emitter&) {
  if (op.operand_type(1) == op.result_type()) return One(op.operand(1));
  return op.operand_type(1).element_count() == 0 ? One(op.operand(0)) : Replacement();
}

// One element is in order.
Replacement SimplifySort(const Op& op, Emitter&) {
  const Type type = op.operand_type(0);
  int64_t dimension = op.IntAttr("dimension", -1);
  if (dimension < 0) dimension += type.rank();
  if (type.rank() == 0 || type.dim(dimension) > 1) return {};
  Replacement all;
  for (const Use& use : op.operand_uses()) all.push_back(use.value());
  return all;
}

Replacement SimplifyGetTupleElement(const Op& op, Emitter&) {
  const Op* tuple = MadeBy(op.operand(0), OpCode::kTuple);
  return tuple == nullptr ? Replacement()
                          : One(tuple->operand(static_cast<size_t>(op.IntAttr("index"))));
}

}  // namespace pjrt::ir
