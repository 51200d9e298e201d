// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/serialize_regions.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "pjrt/ir/op_attributes.h"
#include "src/core/ir/type_rules.h"
#include "src/core/passes/counted_loop.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {
namespace {

using Terms = std::vector<Term>;  // coordinates, s64 scalars

Term Remainder(Term a, Term b) { return Binary("stablehlo.remainder", a, b); }

int64_t Count(absl::Span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return count;
}

// The coordinates of element `linear`.
Terms CoordinatesOf(Term linear, absl::Span<const int64_t> dims) {
  Terms at(dims.size(), linear);
  for (size_t d = dims.size(); d-- > 0;) {
    const Term size = linear.LikeInt(dims[d]);
    at[d] = Remainder(linear, size);
    linear = linear / size;
  }
  return at;
}

Term LinearOf(Term zero, const Terms& at, absl::Span<const int64_t> dims) {
  Term linear = zero;
  for (size_t d = 0; d < dims.size(); ++d) linear = linear * linear.LikeInt(dims[d]) + at[d];
  return linear;
}

// `x`, with or without another operand, at coordinates.
ValueList OperandsAt(std::initializer_list<Term> first, const Terms& at) {
  ValueList operands;
  for (const Term& term : first) operands.push_back(term.value());
  for (const Term& term : at) operands.push_back(term.value());
  return operands;
}

Term ElementAt(Term x, const Terms& at) {
  Emitter& emit = x.emitter();
  const DimList ones(at.size(), 1);
  Op* slice = emit.Make("stablehlo.dynamic_slice", OperandsAt({x}, at),
                        {WithDims(emit.context(), x.type(), ones)},
                        {{"slice_sizes", emit.context().I64Array(ones)}});
  return Reshape(emit(slice->result()), {});
}

Term WithElementAt(Term x, Term element, const Terms& at) {
  const DimList ones(at.size(), 1);
  return x.emitter()(x.emitter()
                         .Make("stablehlo.dynamic_update_slice",
                               OperandsAt({x, Reshape(element, ones)}, at), {x.type()})
                         ->result());
}

// The region's results on these scalars, of types that it converts from where they differ.
Terms Call(Emitter& emit, const Block& body, const Terms& scalars) {
  ValueList arguments;
  for (size_t i = 0; i < scalars.size(); ++i) {
    arguments.push_back(
        Convert(emit(scalars[i].value()), body.argument(i)->type().primitive_type()).value());
  }
  Terms results;
  for (Value* value : emit.Inline(body, arguments)) results.push_back(emit(value));
  return results;
}

// What `then` gives where `pred` holds, else `otherwise`: only one is computed.
ValueList If(Emitter& emit, Term pred, const ValueList& otherwise,
             const std::function<ValueList(Emitter&)>& then) {
  std::vector<Type> types;
  for (const Value* value : otherwise) types.push_back(value->type());
  Op* op = emit.Make("stablehlo.if", {pred.value()}, types, {}, 2);
  for (const size_t r : {0, 1}) {
    Emitter inside(emit.module(), op->region(r)->AddBlock(), op->location());
    inside.Return(r == 0 ? then(inside) : otherwise);
  }
  ValueList results;
  for (size_t i = 0; i < op->num_results(); ++i) results.push_back(op->result(i));
  return results;
}

// Which coordinates are within `dims`, and the nearest that are.
struct Bounded {
  Term inside;
  Terms at;
};
Bounded BoundTo(Term yes, const Terms& at, absl::Span<const int64_t> dims) {
  Bounded bounded{yes, at};
  for (size_t d = 0; d < at.size(); ++d) {
    const Term zero = at[d].LikeInt(0), last = at[d].LikeInt(dims[d] - 1);
    bounded.inside = bounded.inside & (at[d] >= zero) & (at[d] <= last);
    bounded.at[d] = Max(Min(at[d], last), zero);
  }
  return bounded;
}

Term Yes(Emitter& emit) { return emit.IntConstant(emit.context().Tensor({}, PRED), 1); }
Term Index(Emitter& emit, int64_t value) {
  return emit.IntConstant(emit.context().Tensor({}, S64), value);
}

void ReplaceAndErase(Op* op, const ValueList& values) {
  for (size_t i = 0; i < op->num_results(); ++i) op->result(i)->ReplaceAllUsesWith(values[i]);
  op->Erase();
}

// Each result filled with the initial value of its number, which follow `first` other operands.
ValueList Filled(Emitter& emit, const Op& op, size_t first) {
  ValueList arrays;
  for (size_t i = 0; i < op.num_results(); ++i) {
    const Type type = op.result_type(i);
    const Term init = Convert(emit(op.operand(first + i)), type.primitive_type());
    arrays.push_back(Broadcast(init, type.dims(), {}).value());
  }
  return arrays;
}

bool Reduce(Emitter& emit, Op* op) {
  const size_t n = op->num_results();
  const Block& body = *op->region()->block();
  const absl::Span<const int64_t> dims = op->operand_type(0).dims();
  const DimList reduced = op->IntsAttr("dimensions");
  ValueList arrays = Filled(emit, *op, n);
  if (Count(dims) > 0) {
    arrays = CountedLoop(
        emit, Count(dims), arrays, [&](Emitter& inside, Term count, const ValueList& carried) {
          const Terms from = CoordinatesOf(count, dims);
          Terms to, scalars;
          for (size_t d = 0; d < from.size(); ++d) {
            if (!Contains(reduced, static_cast<int64_t>(d))) to.push_back(from[d]);
          }
          for (size_t i = 0; i < n; ++i) scalars.push_back(ElementAt(inside(carried[i]), to));
          for (size_t i = 0; i < n; ++i) scalars.push_back(ElementAt(inside(op->operand(i)), from));
          const Terms values = Call(inside, body, scalars);
          ValueList next;
          for (size_t i = 0; i < n; ++i)
            next.push_back(WithElementAt(inside(carried[i]), values[i], to).value());
          return next;
        });
  }
  ReplaceAndErase(op, arrays);
  return true;
}

bool ReduceWindow(Emitter& emit, Op* op) {
  const std::optional<WindowAttrs> window = WindowAttrs::From(*op);
  if (!window.has_value()) return false;
  const size_t n = op->num_results();
  const Block& body = *op->region()->block();
  const absl::Span<const int64_t> dims = op->result_type().dims();
  Context& context = emit.context();
  DimList sizes, low, high, interior, padded_dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDimension& w = window->dimensions[d];
    sizes.push_back(w.size);
    low.push_back(w.padding_low);
    high.push_back(w.padding_high);
    interior.push_back(w.base_dilation - 1);
    padded_dims.push_back(std::max<int64_t>(w.PaddedSize(op->operand_type(0).dims()[d]), 0));
  }
  ValueList arrays = Filled(emit, *op, n);
  if (Count(dims) == 0) {
    ReplaceAndErase(op, arrays);
    return true;
  }
  ValueList padded;
  for (size_t i = 0; i < n; ++i) {
    const Term x = emit(op->operand(i));
    padded.push_back(emit.Make1("stablehlo.pad",
                                {x, Convert(emit(op->operand(n + i)), x.element())},
                                WithDims(context, x.type(), padded_dims),
                                {{"edge_padding_low", context.I64Array(low)},
                                 {"edge_padding_high", context.I64Array(high)},
                                 {"interior_padding", context.I64Array(interior)}})
                         .value());
  }
  arrays = CountedLoop(
      emit, Count(dims), arrays, [&](Emitter& outer, Term count, const ValueList& carried) {
        const Terms place = CoordinatesOf(count, dims);
        ValueList sums;
        for (size_t i = 0; i < n; ++i) sums.push_back(ElementAt(outer(carried[i]), place).value());
        sums = CountedLoop(
            outer, Count(sizes), sums, [&](Emitter& inside, Term tap, const ValueList& sum) {
              Terms from = CoordinatesOf(tap, sizes), scalars;
              for (size_t d = 0; d < from.size(); ++d) {
                const WindowDimension& w = window->dimensions[d];
                const Term start = inside(place[d].value());
                from[d] =
                    start * start.LikeInt(w.stride) + from[d] * tap.LikeInt(w.window_dilation);
              }
              for (size_t i = 0; i < n; ++i) scalars.push_back(inside(sum[i]));
              for (size_t i = 0; i < n; ++i) scalars.push_back(ElementAt(inside(padded[i]), from));
              ValueList next;
              for (const Term& value : Call(inside, body, scalars)) next.push_back(value.value());
              return next;
            });
        ValueList next;
        for (size_t i = 0; i < n; ++i)
          next.push_back(WithElementAt(outer(carried[i]), outer(sums[i]), place).value());
        return next;
      });
  ReplaceAndErase(op, arrays);
  return true;
}

// Where an element of the updates goes, given its coordinates; perhaps out of bounds.
Terms ScatterPlace(Emitter& emit, const ScatterDimensionNumbers& numbers, const Op& op,
                   const Terms& update) {
  const size_t n = op.num_results();
  const Term indices = emit(op.operand(n));
  const int64_t rank = op.operand_type(0).rank();
  Terms batch, place(static_cast<size_t>(rank), Index(emit, 0));
  for (size_t d = 0; d < update.size(); ++d) {
    if (!Contains(numbers.update_window_dims, static_cast<int64_t>(d))) batch.push_back(update[d]);
  }
  for (size_t k = 0; k < numbers.scatter_dims_to_operand_dims.size(); ++k) {
    Terms at = batch;
    if (numbers.index_vector_dim < indices.type().rank())
      at.insert(at.begin() + numbers.index_vector_dim, Index(emit, static_cast<int64_t>(k)));
    place[static_cast<size_t>(numbers.scatter_dims_to_operand_dims[k])] =
        Convert(ElementAt(indices, at), S64);
  }
  for (size_t k = 0; k < numbers.input_batching_dims.size(); ++k) {
    const int64_t dim = numbers.scatter_indices_batching_dims[k];
    place[static_cast<size_t>(numbers.input_batching_dims[k])] =
        batch[static_cast<size_t>(dim - (dim > numbers.index_vector_dim ? 1 : 0))];
  }
  size_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (Contains(numbers.inserted_window_dims, d) || Contains(numbers.input_batching_dims, d))
      continue;
    Term& here = place[static_cast<size_t>(d)];
    here = here + update[static_cast<size_t>(numbers.update_window_dims[next++])];
  }
  return place;
}

bool Scatter(Emitter& emit, Op* op) {
  const auto numbers = ScatterDimensionNumbers::From(op->attr("scatter_dimension_numbers"));
  if (!numbers.has_value()) return false;
  const size_t n = op->num_results();
  const Block& body = *op->region()->block();
  const absl::Span<const int64_t> dims = op->result_type().dims();
  const absl::Span<const int64_t> update_dims = op->operand_type(n + 1).dims();
  ValueList arrays;
  for (size_t i = 0; i < n; ++i) arrays.push_back(op->operand(i));
  if (Count(update_dims) > 0 && Count(dims) > 0) {
    arrays = CountedLoop(
        emit, Count(update_dims), arrays,
        [&](Emitter& inside, Term count, const ValueList& carried) {
          const Terms update = CoordinatesOf(count, update_dims);
          const Bounded place =
              BoundTo(Yes(inside), ScatterPlace(inside, *numbers, *op, update), dims);
          ValueList current;
          for (size_t i = 0; i < n; ++i)
            current.push_back(ElementAt(inside(carried[i]), place.at).value());
          const ValueList values = If(inside, place.inside, current, [&](Emitter& then) {
            Terms scalars;
            for (Value* value : current) scalars.push_back(then(value));
            for (size_t i = 0; i < n; ++i) {
              Terms at;
              for (const Term& term : update) at.push_back(then(term.value()));
              scalars.push_back(ElementAt(then(op->operand(n + 1 + i)), at));
            }
            ValueList results;
            for (const Term& value : Call(then, body, scalars)) results.push_back(value.value());
            return results;
          });
          ValueList next;
          for (size_t i = 0; i < n; ++i)
            next.push_back(WithElementAt(inside(carried[i]), inside(values[i]), place.at).value());
          return next;
        });
  }
  ReplaceAndErase(op, arrays);
  return true;
}

// The element of the window at `place` that is selected: its value, its number in the operand, and
// whether there is one.
ValueList SelectInWindow(Emitter& emit, const Op& op, const WindowAttrs& window,
                         const Terms& place) {
  const absl::Span<const int64_t> dims = op.operand_type(0).dims();
  DimList sizes;
  for (const WindowDimension& w : window.dimensions) sizes.push_back(w.size);
  const Type element = WithDims(emit.context(), op.operand_type(0), {});
  const ValueList none = {emit.Constant(element, 0).value(), Index(emit, 0).value(),
                          emit.IntConstant(emit.context().Tensor({}, PRED), 0).value()};
  return CountedLoop(
      emit, Count(sizes), none, [&](Emitter& inside, Term tap, const ValueList& best) {
        Terms at = CoordinatesOf(tap, sizes);
        for (size_t d = 0; d < at.size(); ++d) {
          const WindowDimension& w = window.dimensions[d];
          const Term start = inside(place[d].value());
          at[d] = start * start.LikeInt(w.stride) + at[d] - start.LikeInt(w.padding_low);
        }
        const Bounded from = BoundTo(Yes(inside), at, dims);
        return If(inside, from.inside, best, [&](Emitter& then) {
          Terms here;
          for (const Term& term : from.at) here.push_back(then(term.value()));
          const Term value = ElementAt(then(op.operand(0)), here);
          const Term number = LinearOf(Index(then, 0), here, dims);
          const Term found = then(best[2]);
          const Term old = then(If(then, found, {found.value()}, [&](Emitter& both) {
            const Terms pair = {both(best[0]), both(value.value())};
            return ValueList{Call(both, *op.region(0)->block(), pair)[0].value()};
          })[0]);
          return ValueList{Select(old, then(best[0]), value).value(),
                           Select(old, then(best[1]), number).value(), Yes(then).value()};
        });
      });
}

bool SelectAndScatter(Emitter& emit, Op* op) {
  const std::optional<WindowAttrs> window = WindowAttrs::From(*op);
  if (!window.has_value()) return false;
  const absl::Span<const int64_t> dims = op->result_type().dims();
  const absl::Span<const int64_t> source_dims = op->operand_type(1).dims();
  ValueList arrays = Filled(emit, *op, 2);
  if (Count(source_dims) > 0 && Count(dims) > 0) {
    arrays = CountedLoop(
        emit, Count(source_dims), arrays,
        [&](Emitter& inside, Term count, const ValueList& carried) {
          const Terms place = CoordinatesOf(count, source_dims);
          const ValueList best = SelectInWindow(inside, *op, *window, place);
          const Terms at = CoordinatesOf(inside(best[1]), dims);
          const ValueList current = {ElementAt(inside(carried[0]), at).value()};
          const ValueList values = If(inside, inside(best[2]), current, [&](Emitter& then) {
            Terms here;
            for (const Term& term : place) here.push_back(then(term.value()));
            const Terms pair = {then(current[0]), ElementAt(then(op->operand(1)), here)};
            return ValueList{Call(then, *op->region(1)->block(), pair)[0].value()};
          });
          return ValueList{WithElementAt(inside(carried[0]), inside(values[0]), at).value()};
        });
  }
  ReplaceAndErase(op, arrays);
  return true;
}

// One pass of a merge sort: runs of `width` sorted elements become runs of twice as many.
ValueList Merge(Emitter& emit, const Block& comparator, int64_t length, Term width,
                const ValueList& lines) {
  const size_t n = lines.size();
  // The places in both runs, then the merged lines.
  ValueList carried = {Index(emit, 0).value(), Index(emit, 0).value()};
  carried.insert(carried.end(), lines.begin(), lines.end());
  carried =
      CountedLoop(emit, length, carried, [&](Emitter& inside, Term k, const ValueList& state) {
        const Term w = inside(width.value()), all = k.LikeInt(length);
        const Term behind = Remainder(k, w + w), start = k - behind;
        const Term middle = Min(start + w, all), end = Min(middle + w, all);
        const Term begins = behind == behind.LikeInt(0);
        const Term i = Select(begins, start, inside(state[0]));
        const Term j = Select(begins, middle, inside(state[1]));
        const Term has_left = i < middle, has_right = j < end;
        const Term last = k.LikeInt(length - 1);
        Terms left, right;
        for (Value* line : lines) {
          left.push_back(ElementAt(inside(line), {Min(i, last)}));
          right.push_back(ElementAt(inside(line), {Min(j, last)}));
        }
        // Of equal elements the left one comes first.
        const Term takes_right =
            inside(If(inside, has_left & has_right, {Not(has_left).value()}, [&](Emitter& then) {
              Terms pairs;
              for (size_t a = 0; a < n; ++a) {
                pairs.push_back(then(right[a].value()));
                pairs.push_back(then(left[a].value()));
              }
              return ValueList{Call(then, comparator, pairs)[0].value()};
            })[0]);
        const Term step = Convert(takes_right, S64);
        ValueList next = {(i + k.LikeInt(1) - step).value(), (j + step).value()};
        for (size_t a = 0; a < n; ++a) {
          next.push_back(
              WithElementAt(inside(state[2 + a]), Select(takes_right, right[a], left[a]), {k})
                  .value());
        }
        return next;
      });
  return ValueList(carried.begin() + 2, carried.end());
}

bool Sort(Emitter& emit, Op* op) {
  const size_t n = op->num_results();
  const Block& comparator = *op->region()->block();
  const absl::Span<const int64_t> dims = op->result_type().dims();
  if (dims.empty()) return false;
  int64_t dim = op->IntAttr("dimension", -1);
  if (dim < 0) dim += static_cast<int64_t>(dims.size());
  const int64_t length = dims[static_cast<size_t>(dim)];
  int64_t passes = 0;
  while (passes < 62 && int64_t{1} << passes < length) ++passes;
  ValueList arrays;
  for (size_t i = 0; i < n; ++i) arrays.push_back(op->operand(i));
  DimList lines(dims.begin(), dims.end()), slice(dims.size(), 1);
  lines[static_cast<size_t>(dim)] = 1;
  slice[static_cast<size_t>(dim)] = length;
  if (passes > 0 && Count(lines) > 0) {
    Context& context = emit.context();
    arrays = CountedLoop(
        emit, Count(lines), arrays, [&](Emitter& outer, Term count, const ValueList& carried) {
          const Terms at = CoordinatesOf(count, lines);
          ValueList state = {Index(outer, 1).value()};  // the width of sorted runs, then the lines
          for (Value* array : carried) {
            Op* line = outer.Make("stablehlo.dynamic_slice", OperandsAt({outer(array)}, at),
                                  {WithDims(context, array->type(), slice)},
                                  {{"slice_sizes", context.I64Array(slice)}});
            state.push_back(Reshape(outer(line->result()), {length}).value());
          }
          state =
              CountedLoop(outer, passes, state, [&](Emitter& inside, Term, const ValueList& runs) {
                const Term width = inside(runs[0]);
                ValueList next = Merge(inside, comparator, length, width,
                                       ValueList(runs.begin() + 1, runs.end()));
                next.insert(next.begin(), (width + width).value());
                return next;
              });
          ValueList next;
          for (size_t i = 0; i < n; ++i) {
            const Term line = Reshape(outer(state[1 + i]), slice);
            next.push_back(outer
                               .Make("stablehlo.dynamic_update_slice",
                                     OperandsAt({outer(carried[i]), line}, at),
                                     {carried[i]->type()})
                               ->result());
          }
          return next;
        });
  }
  ReplaceAndErase(op, arrays);
  return true;
}

}  // namespace

bool SerializeRegions(Module* module, Op* op) {
  Emitter emit(module, op);
  switch (op->opcode()) {
    case OpCode::kReduce:
      return Reduce(emit, op);
    case OpCode::kReduceWindow:
      return ReduceWindow(emit, op);
    case OpCode::kScatter:
      return Scatter(emit, op);
    case OpCode::kSelectAndScatter:
      return SelectAndScatter(emit, op);
    case OpCode::kSort:
      return Sort(emit, op);
    default:
      return false;
  }
}

}  // namespace pjrt::ir
