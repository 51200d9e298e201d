// SPDX-License-Identifier: Apache-2.0
//
// A gather of single elements by several indices, or by one among others, reads an array as if it
// were a list: at the sum of each index, moved into its bounds, times the stride of its dimension.
// With that arithmetic written out, each result element depends on the element of one tensor of its
// own shape, so that gathers and what computes their indices may run as one loop; nothing need
// concatenate index vectors.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// Larger arrays would need more care for overflow than any machine has memory for.
constexpr int64_t kMaxElements = int64_t{1} << 40;

bool IsIndexType(PrimitiveType type) { return IsInteger(type) && BitWidth(type) >= 8; }

// True for a broadcast that repeats nothing and keeps the order.
bool OnlyAddsDims(const Op& op) {
  if (!op.Is(OpCode::kBroadcastInDim) || !op.operand_type(0).HasStaticShape() ||
      op.operand_type(0).element_count() != op.result_type().element_count())
    return false;
  const auto dims = op.IntsAttr("broadcast_dimensions");
  return std::is_sorted(dims.begin(), dims.end());
}

// True for an array that need not lie in memory in the order of its elements, so that it would have
// to be copied to be a list.
bool IsSeenOtherwise(const Value* array) {
  const Op* op = array->defining_op();
  while (op != nullptr && (op->Is(OpCode::kReshape) || OnlyAddsDims(*op)))
    op = op->operand(0)->defining_op();
  return op != nullptr &&
         (op->Is(OpCode::kTranspose) || op->Is(OpCode::kSlice) || op->Is(OpCode::kReverse) ||
          op->Is(OpCode::kBroadcastInDim) || op->Is(OpCode::kIota));
}

class Linearizer {
 public:
  Linearizer(Module* module, Op* op) : emit_(module, op), op_(*op) {}

  // The value that takes the place of the gather's result; null to leave it as it is.
  Value* Run() {
    const auto numbers = GatherDimensionNumbers::From(op_.attr("dimension_numbers"));
    if (!numbers.has_value() || !IsCandidate(*numbers)) return nullptr;
    numbers_ = *numbers;
    const Type array = op_.operand_type(0);
    const int64_t count = array.element_count();
    const PrimitiveType wide = count - 1 <= std::numeric_limits<int32_t>::max() ? S32 : S64;
    std::optional<Term> sum;
    const auto add = [&](Term term) { sum = sum.has_value() ? *sum + term : term; };
    if (array.rank() == 1 && numbers_.start_index_map.size() == 1) {
      // The gather itself moves it into its bounds.
      sum = Component(0);
    } else {
      for (size_t k = 0; k < numbers_.operand_batching_dims.size(); ++k) {
        const int64_t d = numbers_.operand_batching_dims[k];
        if (array.dim(d) > 1) add(Places(wide, d, numbers_.start_indices_batching_dims[k]));
      }
      for (size_t k = 0; k < numbers_.start_index_map.size(); ++k) {
        const int64_t d = numbers_.start_index_map[k];
        if (array.dim(d) == 1) continue;
        const Term inside = Inside(Component(k), array.dim(d) - 1);
        const Term index = Convert(inside, wide);
        const int64_t stride = Stride(d);
        add(stride == 1 ? index : index * index.LikeInt(stride));
      }
    }
    const Type indices = WithDims(emit_.context(), op_.operand_type(1), batch_);
    if (!sum.has_value()) sum = emit_.IntConstant(indices, 0);
    GatherDimensionNumbers list;
    list.collapsed_slice_dims = {0};
    list.start_index_map = {0};
    list.index_vector_dim = static_cast<int64_t>(batch_.size());
    Context& context = emit_.context();
    const Term gathered =
        emit_.Make1("stablehlo.gather", {Reshape(emit_(op_.operand(0)), {count}), *sum},
                    WithDims(context, op_.result_type(), batch_),
                    {{"dimension_numbers", list.ToAttr(context)},
                     {"indices_are_sorted", context.Bool(false)},
                     {"slice_sizes", context.I64Array({1})}});
    return Reshape(gathered, op_.result_type().dims()).value();
  }

 private:
  // Also finds the dims of the index vectors.
  bool IsCandidate(const GatherDimensionNumbers& numbers) {
    const Type array = op_.operand_type(0), indices = op_.operand_type(1);
    const Type result = op_.result_type();
    if (!array.HasStaticShape() || !indices.HasStaticShape() || !result.HasStaticShape() ||
        !IsIndexType(indices.primitive_type()) || array.primitive_type() == INVALID)
      return false;
    // A single element is looked up by itself.
    if (result.element_count() < 2 || array.element_count() < 1 ||
        array.element_count() > kMaxElements)
      return false;
    const auto sizes = op_.IntsAttr("slice_sizes");
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size != 1; }))
      return false;
    const int64_t vector_dim = numbers.index_vector_dim;
    for (int64_t d = 0; d < indices.rank(); ++d) {
      if (d != vector_dim) batch_.push_back(indices.dim(d));
    }
    if (array.rank() > 1 && IsSeenOtherwise(op_.operand(0))) return false;
    if (vector_dim == indices.rank()) return array.rank() > 1;
    if (indices.dim(vector_dim) == 1) return true;
    // Components that are apart already.
    const Op* parts = MadeBy(op_.operand(1), OpCode::kConcatenate);
    if (parts == nullptr || parts->IntAttr("dimension") != vector_dim) return false;
    for (const Use& part : parts->operand_uses()) {
      if (part.value()->type().dim(vector_dim) != 1) return false;
    }
    return true;
  }

  int64_t Stride(int64_t dim) const {
    int64_t stride = 1;
    for (int64_t d = dim + 1; d < op_.operand_type(0).rank(); ++d)
      stride *= op_.operand_type(0).dim(d);
    return stride;
  }

  // Component k of all index vectors.
  Term Component(size_t k) {
    Value* indices = op_.operand(1);
    const int64_t vector_dim = numbers_.index_vector_dim;
    if (vector_dim == indices->type().rank()) return emit_(indices);
    if (indices->type().dim(vector_dim) > 1)
      indices = MadeBy(indices, OpCode::kConcatenate)->operand(k);
    // Without its dim of size 1. What put that there can leave it out instead.
    if (const Op* move = MadeBy(indices, OpCode::kReshape);
        move != nullptr && move->operand_type(0).dims() == batch_)
      return emit_(move->operand(0));
    const Op* move = MadeBy(indices, OpCode::kBroadcastInDim);
    if (move == nullptr) return Reshape(emit_(indices), batch_);
    DimList dims;
    bool in_order = true;
    for (int64_t d : move->IntsAttr("broadcast_dimensions")) {
      if (d == vector_dim) return Reshape(emit_(indices), batch_);
      dims.push_back(d > vector_dim ? d - 1 : d);
      in_order = in_order && dims.back() == static_cast<int64_t>(dims.size()) - 1;
    }
    const Term source = emit_(move->operand(0));
    if (in_order && source.type().dims() == batch_) return source;
    return emit_.Make1("stablehlo.broadcast_in_dim", {source},
                       WithDims(emit_.context(), source.type(), batch_),
                       {{"broadcast_dimensions", emit_.context().I64Array(dims)}});
  }

  // Where a batching dim's places begin: 0, stride, 2 * stride, ...
  Term Places(PrimitiveType element, int64_t dim, int64_t indices_dim) {
    const int64_t n = op_.operand_type(0).dim(dim), stride = Stride(dim);
    Context& context = emit_.context();
    const Type list = context.Tensor({n * stride}, element);
    Term places = emit_.Iota(list, 0);
    if (stride > 1) {
      places = emit_.Make1("stablehlo.slice", {places}, WithDims(context, list, {n}),
                           {{"start_indices", context.I64Array({0})},
                            {"limit_indices", context.I64Array({n * stride})},
                            {"strides", context.I64Array({stride})}});
    }
    const int64_t batch_dim =
        indices_dim > numbers_.index_vector_dim ? indices_dim - 1 : indices_dim;
    return Broadcast(places, batch_, {batch_dim});
  }

  // The index moved to 0 or `limit` from beyond.
  Term Inside(Term index, int64_t limit) {
    const PrimitiveType type = index.element();
    const int bits = BitWidth(type) - (IsSignedInteger(type) ? 1 : 0);
    if (bits < 63) limit = std::min(limit, (int64_t{1} << bits) - 1);
    const Type scalar = WithDims(emit_.context(), index.type(), {});
    return emit_.Make1("stablehlo.clamp",
                       {emit_.IntConstant(scalar, 0), index, emit_.IntConstant(scalar, limit)},
                       index.type());
  }

  Emitter emit_;
  const Op& op_;
  GatherDimensionNumbers numbers_;
  DimList batch_;
};

}  // namespace

void LinearizeGathers(Module* module) {
  bool changed = false;
  module->Walk([&](Op* op) {
    if (!op->Is(OpCode::kGather)) return;
    Value* const value = Linearizer(module, op).Run();
    if (value == nullptr) return;
    op->result()->ReplaceAllUsesWith(value);
    op->Erase();
    changed = true;
  });
  // What concatenated index vectors is in the way of what sinks shape ops.
  if (changed) RemoveDeadOps(module);
}

}  // namespace pjrt::ir
