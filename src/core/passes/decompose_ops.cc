// SPDX-License-Identifier: Apache-2.0
//
// DecomposeOps: which op becomes what, and those that take a few lines.
#include "src/core/passes/decompose_ops.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/strip.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/counted_loop.h"
#include "src/core/passes/quantized_arithmetic.h"

namespace pjrt::ir {
namespace {

bool ReplaceBy(Op* op, Value* value) {
  op->result()->ReplaceAllUsesWith(value);
  return true;
}

bool DecomposeBroadcast(Emitter& emit, Op* op) {
  DimList dims;
  const int64_t rank = op->operand_type(0).rank();
  for (int64_t d = 0; d < rank; ++d) dims.push_back(op->result_type().rank() - rank + d);
  return ReplaceBy(op, Broadcast(emit(op->operand(0)), op->result_type().dims(), dims).value());
}

// Of complex numbers: a - trunc(a / b) b, where trunc drops the fractions of both parts.
bool DecomposeRemainder(Emitter& emit, Op* op) {
  const Term a = emit(op->operand(0)), b = emit(op->operand(1));
  if (!IsComplex(a.element())) return false;
  const auto trunc = [](Term x) { return CopySign(Floor(Abs(x)), x); };
  const Term quotient = a / b;
  const Term whole = MakeComplex(trunc(Real(quotient)), trunc(Imag(quotient)));
  return ReplaceBy(op, (a - whole * b).value());
}

bool DecomposeCrossReplicaSum(Emitter& emit, Op* op) {
  const Type type = op->result_type();
  Op* reduce = emit.Make("stablehlo.all_reduce", {op->operand(0)}, {type},
                         {{"replica_groups", op->attr("replica_groups")}}, 1);
  Block* body = reduce->region()->AddBlock();
  const Type scalar = WithDims(emit.context(), type, {});
  Value* a = body->AddArgument(scalar);
  Value* b = body->AddArgument(scalar);
  Emitter inside(emit.module(), body, op->location());
  inside.Return({(inside(a) + inside(b)).value()});
  return ReplaceBy(op, reduce->result());
}

// operand[batch, ..., index[batch, ...], ...]: a gather of slices with one place along `dim`.
bool DecomposeTorchIndexSelect(Emitter& emit, Op* op) {
  const Type operand = op->operand_type(0), index = op->operand_type(1);
  const int64_t dim = op->IntAttr("dim"), batches = op->IntAttr("batch_dims");
  GatherDimensionNumbers numbers;
  DimList slice_sizes(operand.dims().begin(), operand.dims().end());
  for (int64_t d = 0; d < batches; ++d) {
    if (operand.dim(d) != index.dim(d)) return false;
    numbers.operand_batching_dims.push_back(d);
    numbers.start_indices_batching_dims.push_back(d);
    slice_sizes[static_cast<size_t>(d)] = 1;
  }
  slice_sizes[static_cast<size_t>(dim)] = 1;
  numbers.collapsed_slice_dims = {dim};
  numbers.start_index_map = {dim};
  numbers.index_vector_dim = index.rank();
  const int64_t index_dims = index.rank() - batches;
  for (int64_t d = batches; d < op->result_type().rank(); ++d) {
    if (d < dim || d >= dim + index_dims) numbers.offset_dims.push_back(d);
  }
  Context& context = emit.context();
  const Op* gather =
      emit.Make("stablehlo.gather", {op->operand(0), op->operand(1)}, {op->result_type()},
                {{"dimension_numbers", numbers.ToAttr(context)},
                 {"slice_sizes", context.I64Array(slice_sizes)}});
  return ReplaceBy(op, gather->result());
}

// An op that has begun is done at once: its region runs where it starts, and whoever waits for it
// gets what the region returns.
bool DecomposeAsyncStart(Emitter& emit, Op* op) {
  const Block* body = op->region()->block();
  std::vector<Op*> waiting;
  for (const Use* use = op->result()->first_use(); use != nullptr; use = use->next()) {
    if (!use->owner()->Is(OpCode::kAsyncDone)) return false;
    waiting.push_back(use->owner());
  }
  std::vector<Value*> operands;
  for (const Use& use : op->operand_uses()) operands.push_back(use.value());
  if (body == nullptr || body->num_arguments() != operands.size()) return false;
  const std::vector<Value*> results = emit.Inline(*body, operands);
  for (Op* done : waiting) {
    for (size_t i = 0; i < done->num_results() && i < results.size(); ++i)
      done->result(i)->ReplaceAllUsesWith(results[i]);
    done->Erase();
  }
  return true;
}

// As a call of the function that has the op's name, with its bounds: "check.expect_close".
bool DecomposeCheck(Emitter& emit, Op* op) {
  Context& context = emit.context();
  std::vector<Value*> operands;
  for (const Use& use : op->operand_uses()) operands.push_back(use.value());
  if (operands.size() == 1) {
    // What the constant holds may be of another shape: then the call is refused, not the constant.
    const Attribute value = op->attr("value");
    const Type type = IsQuantizedTensor(operands[0]->type()) ? operands[0]->type() : value.type();
    operands.push_back(emit.Make1("stablehlo.constant", {}, type, {{"value", value}}).value());
  }
  std::vector<NamedAttribute> bounds;
  for (const absl::string_view name : {"tolerance", "max_ulp_difference", "min_ulp_difference"}) {
    if (op->attr(name)) bounds.push_back({name, op->attr(name)});
  }
  if (op->Is(OpCode::kCheckExpectAlmostEq) || op->Is(OpCode::kCheckExpectAlmostEqConst)) {
    if (bounds.empty()) bounds.push_back({"tolerance", context.Float(1e-4, context.Float("f64"))});
  }
  emit.Make("stablehlo.custom_call", operands, {},
            {{"call_target_name", context.String(absl::StripSuffix(op->name(), "_const"))},
             {"has_side_effect", context.Bool(true)},
             {"api_version", context.I32(4)},
             {"backend_config", context.Dict(bounds)}});
  return true;
}

// --- Regions that compute with wider elements than the operands have, or with other floats ---

void ConvertOperand(Emitter& emit, Op* op, size_t i, Type element) {
  const PrimitiveType type = element.primitive_type();
  if (op->operand_type(i).primitive_type() != type)
    op->set_operand(i, Convert(emit(op->operand(i)), type).value());
}

// Operands get the element types of the region's arguments, which are one group for those at
// `first` and one for those at `second`, or none.
void ConvertOperands(Emitter& emit, Op* op, size_t n, size_t first, size_t second) {
  const Block* body = op->region()->block();
  if (body == nullptr || body->num_arguments() != 2 * n) return;
  for (size_t i = 0; i < n; ++i) {
    ConvertOperand(emit, op, first + i, body->argument(i)->type());
    ConvertOperand(emit, op, second + i, body->argument(n + i)->type());
  }
}

// Whether `to` holds each value of `from`, which the verifier has let into its place.
bool KeepsValues(PrimitiveType from, PrimitiveType to) {
  if (from == to || !IsFloating(from) || !IsFloating(to)) return true;
  return to == F64 || (to == F32 && from != F64);
}

// All operands of a select_and_scatter get the result's element type, too; its regions are given
// elements of the types that they take. Left alone where these would be rounded on the way.
bool WidenSelectAndScatter(Emitter& emit, Op* op) {
  const Type wide = op->result_type();
  const PrimitiveType type = wide.primitive_type();
  bool same = op->operand_type(2).primitive_type() == type, exact = true;
  for (const size_t r : {0, 1}) {
    const PrimitiveType from = op->operand_type(r).primitive_type();
    same = same && from == type;
    for (const Value* argument : op->region(r)->block()->arguments()) {
      const bool is_type = argument->type().primitive_type() == type;
      same = same && is_type;
      exact = exact && (is_type || KeepsValues(from, type));
    }
  }
  if (same || !exact) return false;
  std::vector<Value*> operands;
  for (const Use& use : op->operand_uses())
    operands.push_back(Convert(emit(use.value()), type).value());
  Op* made = emit.Make(op->name(), operands, {wide}, op->attributes(), 2);
  for (const size_t r : {0, 1}) {
    const Block& from = *op->region(r)->block();
    Block* to = made->region(r)->AddBlock();
    Emitter inside(emit.module(), to, op->location());
    std::vector<Value*> arguments;
    for (const Value* argument : from.arguments()) {
      Value* element = to->AddArgument(WithDims(emit.context(), wide, {}));
      arguments.push_back(Convert(inside(element), argument->type().primitive_type()).value());
    }
    inside.Return(inside.Inline(from, arguments));
  }
  return ReplaceBy(op, made->result());
}

// --- map ---

bool IsScalarOp(const Op& op) {
  if (op.num_regions() > 0) return false;
  for (const Use& use : op.operand_uses()) {
    if (!use.value()->type().IsTensor() || use.value()->type().rank() > 0) return false;
  }
  if (op.num_results() != 1 || !op.result_type().IsTensor() || op.result_type().rank() > 0)
    return false;
  return op.Is(OpCode::kConstant) || op.Is(OpCode::kBitcastConvert) || op.Is(OpCode::kConvert) ||
         (!op.Is(OpCode::kUnknown) && GetOpInfo(op.opcode()).Has(kElementwise));
}

// A body of scalar operations is the same operations on arrays; what it takes from outside and its
// constants are the same at every place.
bool MapByArrays(Emitter& emit, Op* op) {
  const Block& body = *op->region()->block();
  const Op* last = body.terminator();
  for (Op* inner : body) {
    if (inner != last && !IsScalarOp(*inner)) return false;
  }
  const absl::Span<const int64_t> dims = op->result_type().dims();
  absl::flat_hash_map<const Value*, Value*> arrays;
  for (size_t i = 0; i < body.num_arguments(); ++i) arrays[body.argument(i)] = op->operand(i);
  const auto array = [&](Value* value) {
    const auto found = arrays.find(value);
    if (found != arrays.end()) return found->second;
    return arrays[value] = Broadcast(emit(value), dims, {}).value();
  };
  for (Op* inner : body) {
    if (inner == last) break;
    std::vector<Value*> operands;
    for (const Use& use : inner->operand_uses()) operands.push_back(array(use.value()));
    const bool constant = inner->Is(OpCode::kConstant);
    const Type type =
        constant ? inner->result_type() : WithDims(emit.context(), inner->result_type(), dims);
    Op* made = emit.Make(inner->name(), operands, {type}, inner->attributes());
    arrays[inner->result()] =
        constant ? Broadcast(emit(made->result()), dims, {}).value() : made->result();
  }
  return ReplaceBy(op, array(last->operand(0)));
}

// Any other body runs once for each element.
bool MapByLoop(Emitter& emit, Op* op) {
  const Type result = op->result_type();
  const int64_t count = result.element_count();
  std::vector<Term> flat;
  for (const Use& use : op->operand_uses()) flat.push_back(Reshape(emit(use.value()), {count}));
  const Type flat_result = WithDims(emit.context(), result, {count});
  const ValueList inits = {emit.Constant(flat_result, 0).value()};
  if (count == 0) return ReplaceBy(op, Reshape(emit(inits[0]), result.dims()).value());
  const ValueList mapped =
      CountedLoop(emit, count, inits, [&](Emitter& inside, Term at, const ValueList& carried) {
        ValueList arguments;
        for (const Term& x : flat) arguments.push_back(SliceAt(inside(x.value()), at, 0).value());
        const ValueList values = inside.Inline(*op->region()->block(), arguments);
        return ValueList{UpdateAt(inside(carried[0]), inside(values[0]), at, 0).value()};
      });
  return ReplaceBy(op, Reshape(emit(mapped[0]), result.dims()).value());
}

bool Decompose(Emitter& emit, Op* op) {
  switch (op->opcode()) {
    case OpCode::kAsyncStart:
      return DecomposeAsyncStart(emit, op);
    case OpCode::kBatchNormGrad:
      return DecomposeBatchNormGrad(emit, op);
    case OpCode::kBatchNormInference:
      return DecomposeBatchNormInference(emit, op);
    case OpCode::kBatchNormTraining:
      return DecomposeBatchNormTraining(emit, op);
    case OpCode::kBroadcast:
      return DecomposeBroadcast(emit, op);
    case OpCode::kCheckExpectAlmostEq:
    case OpCode::kCheckExpectAlmostEqConst:
    case OpCode::kCheckExpectClose:
    case OpCode::kCheckExpectEq:
    case OpCode::kCheckExpectEqConst:
      return DecomposeCheck(emit, op);
    case OpCode::kCreateToken:
      return ReplaceBy(op, emit.Make("stablehlo.after_all", {}, {op->result_type()})->result());
    case OpCode::kCrossReplicaSum:
      return DecomposeCrossReplicaSum(emit, op);
    case OpCode::kDot:
      return DecomposeDot(emit, op);
    case OpCode::kDotGeneral:
      return DecomposeOuterProduct(emit, op);
    case OpCode::kEinsum:
    case OpCode::kUnaryEinsum:
      return DecomposeEinsum(emit, op);
    case OpCode::kMap:
      return MapByArrays(emit, op) || MapByLoop(emit, op);
    case OpCode::kRemainder:
      return DecomposeRemainder(emit, op);
    case OpCode::kReduce:
    case OpCode::kReduceWindow:
      // The initial value is what is accumulated to, the first argument.
      ConvertOperands(emit, op, op->num_results(), op->num_results(), 0);
      return false;
    case OpCode::kScatter:
      ConvertOperands(emit, op, op->num_results(), 0, op->num_results() + 1);
      return false;
    case OpCode::kSelectAndScatter:
      return WidenSelectAndScatter(emit, op);
    case OpCode::kTorchIndexSelect:
      return DecomposeTorchIndexSelect(emit, op);
    default:
      return false;
  }
}

// Types that a decomposition can be written for. Futures and tokens have no shape to mind.
bool IsPlain(Type type) {
  return !type.IsTensor() ||
         (type.HasStaticShape() && !type.element_type().Is(TypeKind::kQuantized));
}

bool HasPlainTypes(const Op& op) {
  for (const Use& use : op.operand_uses()) {
    if (!IsPlain(use.value()->type())) return false;
  }
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (!IsPlain(op.result_type(i))) return false;
  }
  return true;
}

}  // namespace

void DecomposeOps(Module* module) {
  std::vector<Op*> ops;
  module->Walk([&](Op* op) { ops.push_back(op); });
  // Inner ops first: bodies are copied.
  for (size_t i = ops.size(); i-- > 0;) {
    Op* op = ops[i];
    if (op->IsErased() || op->block() == module->body() || !HasPlainTypes(*op)) continue;
    Emitter emit(module, op);
    if (Decompose(emit, op)) op->Erase();
  }
}

}  // namespace pjrt::ir
