// SPDX-License-Identifier: Apache-2.0
//
// top_k, ragged_dot and scan.
#include <algorithm>
#include <vector>

#include "src/core/ir/type_rules.h"
#include "src/core/passes/counted_loop.h"
#include "src/core/passes/expand_chlo.h"
#include "src/core/passes/quantized_arithmetic.h"

namespace pjrt::ir {
namespace {

DimList DimsOf(Type type) { return DimList(type.dims().begin(), type.dims().end()); }

size_t Find(const DimList& list, int64_t value) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), value) - list.begin());
}

// precision_config, whose values are named alike in both dialects.
Attribute PlainPrecision(Context& context, Attribute config) {
  std::vector<Attribute> values;
  for (Attribute value : config.elements()) {
    values.push_back(context.Enum("stablehlo.precision", value.enum_value()));
  }
  return context.Array(values);
}

Term Dot(Op* op, Term lhs, Term rhs, const DotDimensionNumbers& numbers, Type result) {
  Emitter& emit = lhs.emitter();
  std::vector<NamedAttribute> attributes = {
      {"dot_dimension_numbers", numbers.ToAttr(emit.context())}};
  if (const Attribute config = op->attr("precision_config")) {
    attributes.push_back({"precision_config", PlainPrecision(emit.context(), config)});
  }
  return emit(emit.Make("stablehlo.dot_general", {lhs.value(), rhs.value()}, {result}, attributes)
                  ->result());
}

// Where an array lies in [start, end) along `ragged`; these have the array's dimensions `outer`.
Term InGroup(Term start, Term end, absl::Span<const int64_t> shape, int64_t ragged,
             absl::Span<const int64_t> outer) {
  const Term index =
      start.emitter().Iota(WithDims(start.emitter().context(), start.type(), shape), ragged);
  return (index >= Broadcast(start, shape, outer)) & (index < Broadcast(end, shape, outer));
}

void ReplaceResults(Op* op, const ValueList& values) {
  for (size_t i = 0; i < values.size(); ++i) op->result(i)->ReplaceAllUsesWith(values[i]);
}

// What a loop's outputs are before it: each place is written before it is read.
Value* Unwritten(Emitter& emit, Type type) {
  const Type stored = StorageType(emit.context(), type);
  const Term zeros = emit.Constant(stored, 0);
  if (stored == type) return zeros.value();
  return emit.Make1("stablehlo.bitcast_convert", {zeros}, type, {}).value();
}

}  // namespace

void ExpandTopK(Emitter& emit, Op* op, bool largest) {
  Context& context = emit.context();
  const Term x = emit(op->operand(0));
  const int64_t last = x.type().rank() - 1;
  const Type index_type = WithElement(context, x.type(), op->result_type(1).primitive_type());
  const Term index = emit.Iota(index_type, last);
  Op* sort = emit.Make("stablehlo.sort", {x.value(), index.value()}, {x.type(), index_type},
                       {{"dimension", context.I64(last)}, {"is_stable", context.Bool(true)}}, 1);
  Block* block = sort->region()->AddBlock();
  for (Type type : {x.type(), x.type(), index_type, index_type}) {
    block->AddArgument(WithDims(context, type, {}));
  }
  Emitter inside(emit.module(), block, op->location());
  const Term a = inside(block->argument(0)), b = inside(block->argument(1));
  inside.Return(
      {Compare(largest ? ComparisonDirection::kGt : ComparisonDirection::kLt, a, b,
               IsFloating(x.element()) ? ComparisonType::kTotalOrder : ComparisonType::kNoType)
           .value()});
  for (size_t i = 0; i < 2; ++i) {
    const Term head = Head(emit(sort->result(i)), op->result_type(i).dims());
    op->result(i)->ReplaceAllUsesWith(head.value());
  }
}

void ExpandScan(Emitter& emit, Op* op) {
  const int64_t dimension = op->IntAttr("dimension");
  const bool reverse = op->BoolAttr("is_reverse");
  Block* body = op->region()->block();
  Op* yield = body->terminator();
  // As many carries as results of the body that are not outputs; each has an init.
  const DimList segments = op->IntsAttr("operandSegmentSizes");
  size_t carries = 0;
  if (segments.size() == 2) {
    carries = static_cast<size_t>(segments[1]);
  } else {
    carries = op->num_operands() / 2;
  }
  const size_t inputs = op->num_operands() - carries;
  const size_t outputs = yield->num_operands() - carries;
  int64_t trips = op->IntAttr("scan_dim_size");
  if (inputs > 0)
    trips = op->operand_type(0).dim(dimension);
  else if (outputs > 0)
    trips = op->result_type(0).dim(dimension);

  ValueList inits;
  for (size_t i = 0; i < outputs; ++i) inits.push_back(Unwritten(emit, op->result_type(i)));
  for (size_t i = 0; i < carries; ++i) inits.push_back(op->operand(inputs + i));
  if (trips == 0) return ReplaceResults(op, inits);

  const ValueList results =
      CountedLoop(emit, trips, inits, [&](Emitter& inside, Term count, const ValueList& carried) {
        const Term at = reverse ? count.LikeInt(trips - 1) - count : count;
        ValueList arguments;
        for (size_t i = 0; i < inputs; ++i)
          arguments.push_back(SliceAt(inside(op->operand(i)), at, dimension).value());
        for (size_t i = 0; i < carries; ++i) arguments.push_back(carried[outputs + i]);
        ValueList next = inside.Inline(*body, arguments);
        for (size_t i = 0; i < outputs; ++i)
          next[i] = UpdateAt(inside(carried[i]), inside(next[i]), at, dimension).value();
        return next;
      });
  ReplaceResults(op, results);
}

// A loop over the groups. Ragged rows: each group's product with its own slice of rhs, kept where
// the rows are of the group. Ragged contraction: the product of the part of both that is of the
// group, other parts 0. Ragged batches: the groups do not matter.
void ExpandRaggedDot(Emitter& emit, Op* op) {
  Context& context = emit.context();
  const Term lhs = emit(op->operand(0)), rhs = emit(op->operand(1));
  const auto numbers = RaggedDotDimensionNumbers::From(op->attr("ragged_dot_dimension_numbers"));
  const DimList &lb = numbers->lhs_batching_dimensions, &lc = numbers->lhs_contracting_dimensions;
  const DimList &rb = numbers->rhs_batching_dimensions, &rc = numbers->rhs_contracting_dimensions;
  const int64_t ragged = numbers->lhs_ragged_dimensions[0];
  const DotDimensionNumbers plain = {lb, rb, lc, rc};
  const Type result = op->result_type();
  if (Contains(lb, ragged)) {
    return ReplaceResults(op, {Dot(op, lhs, rhs, plain, result).value()});
  }
  const Term sizes = Convert(emit(op->operand(2)), S64);
  const int64_t group_dimension = sizes.type().rank() - 1;
  const int64_t groups = sizes.type().dims().back();
  const bool per_row = sizes.type().rank() > 1;  // groups differ along the outer dimensions
  const bool contracting = Contains(lc, ragged);

  // The outer dimensions: of the result for ragged rows, of lhs and rhs for ragged contraction.
  DimList result_outer, lhs_outer, rhs_outer;
  const size_t place = Find(lc, ragged);
  for (int64_t i = 0; per_row && i < group_dimension; ++i) {
    const size_t k = static_cast<size_t>(i);
    result_outer.push_back(i);
    if (!contracting) continue;
    lhs_outer.push_back(k < lb.size() ? lb[k] : lc[k - lb.size()]);
    rhs_outer.push_back(k < rb.size() ? rb[k] : rc[k - rb.size()]);
  }
  // Where the ragged rows are in the result: behind the batches, in the order of lhs.
  int64_t row_dimension = static_cast<int64_t>(lb.size());
  for (int64_t d = 0; d < ragged; ++d) row_dimension += !Contains(lb, d) && !Contains(lc, d);

  DotDimensionNumbers one_group = plain;
  const int64_t group = contracting ? 0 : numbers->rhs_group_dimensions[0];
  if (!contracting) {
    for (DimList* list :
         {&one_group.rhs_batching_dimensions, &one_group.rhs_contracting_dimensions}) {
      for (int64_t& d : *list) d -= d > group;
    }
  }
  DimList slice_dims = DimsOf(result);
  if (contracting) slice_dims.erase(slice_dims.begin());
  const Type slice_type = WithDims(context, result, slice_dims);

  DimList start_dims = DimsOf(sizes.type());
  start_dims.pop_back();
  const ValueList inits = {emit.Constant(result, 0).value(),
                           emit.IntConstant(context.Tensor(start_dims, S64), 0).value()};
  const ValueList results =
      CountedLoop(emit, groups, inits, [&](Emitter& inside, Term g, const ValueList& carried) {
        const Term sum = inside(carried[0]), start = inside(carried[1]);
        const Term end = start + SliceAt(inside(sizes.value()), g, group_dimension);
        const Term left = inside(lhs.value()), right = inside(rhs.value());
        if (contracting) {
          const Term in_left = InGroup(start, end, left.type().dims(), ragged, lhs_outer);
          const Term in_right = InGroup(start, end, right.type().dims(), rc[place], rhs_outer);
          const Term product =
              Dot(op, Select(in_left, left, 0.0), Select(in_right, right, 0.0), plain, slice_type);
          return ValueList{UpdateAt(sum, product, g, 0).value(), end.value()};
        }
        const Term product = Dot(op, left, SliceAt(right, g, group), one_group, slice_type);
        const Term mine = InGroup(start, end, slice_dims, row_dimension, result_outer);
        return ValueList{Select(mine, product, sum).value(), end.value()};
      });
  ReplaceResults(op, {results[0]});
}

}  // namespace pjrt::ir
