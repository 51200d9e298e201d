// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/counted_loop.h"

namespace pjrt::ir {
namespace {

// The sizes of one slice along `dimension`.
DimList SliceSizes(Type type, int64_t dimension) {
  DimList sizes(type.dims().begin(), type.dims().end());
  sizes[static_cast<size_t>(dimension)] = 1;
  return sizes;
}

// Indices of a dynamic slice: `at` along `dimension`, else 0.
ValueList StartsAt(Term at, int64_t dimension, int64_t rank) {
  ValueList starts(static_cast<size_t>(rank), at.LikeInt(0).value());
  starts[static_cast<size_t>(dimension)] = at.value();
  return starts;
}

}  // namespace

ValueList CountedLoop(Emitter& emit, int64_t trips, const ValueList& inits, const LoopBody& body) {
  Context& context = emit.context();
  const Type counter = context.Tensor({}, S64);
  ValueList operands = {emit.IntConstant(counter, 0).value()};
  operands.insert(operands.end(), inits.begin(), inits.end());
  std::vector<Type> types;
  for (const Value* value : operands) types.push_back(value->type());
  Op* loop = emit.Make("stablehlo.while", operands, types, {}, 2);

  Block* blocks[2];
  for (size_t r = 0; r < 2; ++r) {
    blocks[r] = loop->region(r)->AddBlock();
    for (Type type : types) blocks[r]->AddArgument(type);
  }
  Emitter condition(emit.module(), blocks[0], loop->location());
  const Term at = condition(blocks[0]->argument(0));
  condition.Return({(at < at.LikeInt(trips)).value()});

  Emitter inside(emit.module(), blocks[1], loop->location());
  const Term count = inside(blocks[1]->argument(0));
  ValueList carried;
  for (size_t i = 1; i < types.size(); ++i) carried.push_back(blocks[1]->argument(i));
  ValueList next = body(inside, count, carried);
  next.insert(next.begin(), (count + count.LikeInt(1)).value());
  inside.Return(next);

  ValueList results;
  for (size_t i = 1; i < loop->num_results(); ++i) results.push_back(loop->result(i));
  return results;
}

Term SliceAt(Term x, Term at, int64_t dimension) {
  Emitter& emit = x.emitter();
  DimList sizes = SliceSizes(x.type(), dimension);
  ValueList operands = StartsAt(at, dimension, x.type().rank());
  operands.insert(operands.begin(), x.value());
  Op* slice =
      emit.Make("stablehlo.dynamic_slice", operands, {WithDims(emit.context(), x.type(), sizes)},
                {{"slice_sizes", emit.context().I64Array(sizes)}});
  sizes.erase(sizes.begin() + dimension);
  return Reshape(emit(slice->result()), sizes);
}

Term UpdateAt(Term x, Term slice, Term at, int64_t dimension) {
  Emitter& emit = x.emitter();
  DimList sizes = SliceSizes(x.type(), dimension);
  ValueList operands = StartsAt(at, dimension, x.type().rank());
  operands.insert(operands.begin(), {x.value(), Reshape(slice, sizes).value()});
  return emit(emit.Make("stablehlo.dynamic_update_slice", operands, {x.type()})->result());
}

}  // namespace pjrt::ir
