// SPDX-License-Identifier: Apache-2.0
//
// Two arrays that take turns along a dimension, as exporters write it: each is padded between its
// elements to the size of both, and the two are added.
#include <cstdint>

#include "pjrt/ir/op_attributes.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// The dimension along which `pad` puts a place behind each element, or before it where `first` is
// 1, while it leaves the others alone; -1 for other pads.
int64_t SpreadDim(const Op& pad, int64_t first) {
  int64_t dim = -1;
  const auto low = pad.IntsAttr("edge_padding_low"), high = pad.IntsAttr("edge_padding_high"),
             interior = pad.IntsAttr("interior_padding");
  for (size_t d = 0; d < low.size(); ++d) {
    if (low[d] == 0 && high[d] == 0 && interior[d] == 0) continue;
    if (dim >= 0 || low[d] != first || interior[d] != 1) return -1;
    dim = static_cast<int64_t>(d);
  }
  return dim;
}

// op(x, number) or, for operand 1, op(number, x); of each piece where `x` is put together for this
// alone.
Term Combine(const Op& op, size_t index, Value* x, const Value* number, Emitter& emit) {
  const auto combine = [&](Value* value) {
    const Term term = emit(value), other = emit(Respread(number, value->type(), emit));
    return index == 0 ? Binary(op.name(), term, other) : Binary(op.name(), other, term);
  };
  const Op* const parts = MadeBy(x, OpCode::kConcatenate);
  if (parts == nullptr || !x->HasOneUse()) return combine(x);
  absl::InlinedVector<Term, 4> pieces;
  for (const Use& use : parts->operand_uses()) pieces.push_back(combine(use.value()));
  return Concatenate(pieces, parts->IntAttr("dimension"));
}

}  // namespace

Replacement SimplifyInterleaved(const Op& op, Emitter& emit) {
  const Op* pads[2] = {MadeBy(op.operand(0), OpCode::kPad), MadeBy(op.operand(1), OpCode::kPad)};
  for (const Op* pad : pads) {
    if (pad == nullptr || !pad->result()->HasOneUse()) return {};
    const Op* const number = MadeBy(pad->operand(1), OpCode::kConstant);
    if (number == nullptr || !number->attr("value").IsSplat()) return {};
  }
  const size_t even = SpreadDim(*pads[0], 0) >= 0 ? 0 : 1;
  const int64_t dim = SpreadDim(*pads[even], 0);
  if (dim < 0 || SpreadDim(*pads[1 - even], 1) != dim) return {};
  const int64_t size = op.result_type().dim(dim);
  const int64_t pairs = (size + 1) / 2;
  if (pads[even]->operand_type(0).dim(dim) != pairs ||
      pads[1 - even]->operand_type(0).dim(dim) != size / 2 || size < 2)
    return {};
  DimList spread(op.result_type().dims().begin(), op.result_type().dims().end());
  spread[dim] = pairs;
  spread.insert(spread.begin() + dim + 1, 1);
  absl::InlinedVector<Term, 2> columns;
  for (const size_t i : {even, 1 - even}) {
    Term column = Combine(op, i, pads[i]->operand(0), pads[1 - i]->operand(1), emit);
    if (column.type().dim(dim) < pairs) {
      DimList last(column.type().dims().begin(), column.type().dims().end());
      last[dim] = 1;
      const Type type = WithDims(emit.context(), column.type(), last);
      column = Concatenate({column, emit(Respread(pads[i]->operand(1), type, emit))}, dim);
    }
    columns.push_back(Reshape(column, spread));
  }
  DimList dims(op.result_type().dims().begin(), op.result_type().dims().end());
  dims[dim] = 2 * pairs;
  const Term rows = Reshape(Concatenate(columns, dim + 1), dims);
  return {Head(rows, op.result_type().dims()).value()};
}

}  // namespace pjrt::ir
