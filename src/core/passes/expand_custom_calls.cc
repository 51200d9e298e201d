// SPDX-License-Identifier: Apache-2.0
//
// Custom calls that mean ordinary ops.
#include "src/core/passes/expand_custom_calls.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/verifier.h"
#include "src/core/passes/custom_call_targets.h"

namespace pjrt::ir {
namespace {

using Values = absl::InlinedVector<Value*, 6>;

// --- Annotations: nothing happens on one device ---

bool ExpandIdentity(Module*, Op* op) {
  if (op->num_results() == 0 || op->num_operands() < op->num_results()) return false;
  Values values;
  for (size_t i = 0; i < op->num_results(); ++i) {
    if (op->operand_type(i) != op->result_type(i)) return false;
    values.push_back(op->operand(i));
  }
  Replace(op, values);
  return true;
}

// An identity, or without results nothing.
bool ExpandAnnotation(Module* module, Op* op) {
  if (op->num_results() > 0) return ExpandIdentity(module, op);
  op->Erase();
  return true;
}

// The body of a computation that devices do each for their part: on one device, where the part is
// the whole, it is simply done.
void ExpandManualComputation(Op* op) {
  if (op->num_regions() != 1 || op->region()->num_blocks() != 1) return;
  Block* const body = op->region()->block();
  Op* const end = body->terminator();
  if (end == nullptr || body->num_arguments() != op->num_operands() ||
      end->num_operands() != op->num_results())
    return;
  for (size_t i = 0; i < op->num_operands(); ++i) {
    if (body->argument(i)->type() != op->operand_type(i)) return;
  }
  for (size_t i = 0; i < op->num_results(); ++i) {
    if (end->operand_type(i) != op->result_type(i)) return;
  }
  for (size_t i = 0; i < op->num_operands(); ++i)
    body->argument(i)->ReplaceAllUsesWith(op->operand(i));
  for (Op* inner : *body) {
    if (inner != end) inner->MoveBefore(op);
  }
  Values results;
  for (size_t i = 0; i < end->num_operands(); ++i) results.push_back(end->operand(i));
  Replace(op, results);
}

// The same with the body in a function.
bool ExpandManualCall(Module* module, Op* op) {
  const Attribute called = op->attr("called_computations");
  if (!called || called.elements().size() != 1) return false;
  const Function body = module->FindFunction(called.elements()[0].AsString());
  if (!body || body.body() == nullptr) return false;
  const Type type = body.type();
  if (type.inputs().size() != op->num_operands() || type.results().size() != op->num_results())
    return false;
  Values operands, results;
  for (size_t i = 0; i < op->num_operands(); ++i) {
    if (type.inputs()[i] != op->operand_type(i)) return false;
    operands.push_back(op->operand(i));
  }
  for (size_t i = 0; i < op->num_results(); ++i) {
    if (type.results()[i] != op->result_type(i)) return false;
  }
  Emitter emit(module, op);
  Op* call = emit.Make("func.call", operands, type.results(),
                       {{"callee", emit.context().Symbol(body.name())}});
  for (size_t i = 0; i < call->num_results(); ++i) results.push_back(call->result(i));
  Replace(op, results);
  return true;
}

// A function of the exporting process that gives no data, such as a debugging print: there is
// nobody to call. Its token follows from the one that it was given.
bool ExpandCallback(Module* module, Op* op) {
  for (size_t i = 0; i < op->num_results(); ++i) {
    if (!op->result_type(i).IsToken()) return false;
  }
  Value* token = nullptr;
  for (size_t i = 0; i < op->num_operands() && token == nullptr; ++i) {
    if (op->operand_type(i).IsToken()) token = op->operand(i);
  }
  Emitter emit(module, op);
  if (token == nullptr && op->num_results() > 0) {
    token = emit.Make("stablehlo.create_token", {}, {emit.context().Token()})->result();
  }
  Replace(op, Values(op->num_results(), token));
  return true;
}

// Storage that is not initialised.
bool ExpandAllocation(Module* module, Op* op) {
  if (op->num_results() != 1 || op->num_operands() != 0) return false;
  const Type type = op->result_type();
  if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(type.primitive_type()))
    return false;
  Emitter emit(module, op);
  Replace(op, {emit.Constant(type, 0).value()});
  return true;
}

// An assertion that certainly holds.
bool ExpandAssertion(Module*, Op* op) {
  if (op->num_operands() == 0 || op->num_results() != 0) return false;
  const Op* condition = op->operand(0)->defining_op();
  if (condition == nullptr || !condition->Is(OpCode::kConstant)) return false;
  const absl::Span<const char> data = condition->attr("value").raw_data();
  if (data.size() != 1 || data[0] == 0) return false;
  op->Erase();
  return true;
}

// --- Ops of other dialects ---

// A composite as its exporter's opset writes it.
bool ExpandCompositeCall(Module* module, Op* op) {
  const Attribute called = op->attr("called_computations");
  const Attribute config = op->attr("composite.backend_config");
  if (!called || called.elements().size() != 1) return false;
  Emitter emit(module, op);
  Context& context = emit.context();
  const Attribute name = config.Is(AttrKind::kDict) ? config.Get("name") : Attribute();
  const Attribute attributes = config.Is(AttrKind::kDict) ? config.Get("attributes") : Attribute();
  std::vector<NamedAttribute> all = {
      {"name", name.Is(AttrKind::kString) ? name : context.String("unnamed.composite")},
      {"decomposition", context.Symbol(called.elements()[0].AsString())}};
  if (attributes.Is(AttrKind::kDict)) all.push_back({"composite_attributes", attributes});
  Values operands;
  std::vector<Type> types;
  for (size_t i = 0; i < op->num_operands(); ++i) operands.push_back(op->operand(i));
  for (size_t i = 0; i < op->num_results(); ++i) types.push_back(op->result_type(i));
  Op* composite = emit.Make("stablehlo.composite", operands, types, all);
  Values results;
  for (size_t i = 0; i < types.size(); ++i) results.push_back(composite->result(i));
  Replace(op, results);
  return true;
}

// An op of CHLO, or one of StableHLO's by the name that it has in both dialects, in the place of
// `op`: same operands and results, `attributes` as they are. False, and no op, when it would not be
// valid.
bool ReplaceByOp(Module* module, Op* op, absl::string_view name,
                 absl::Span<const NamedAttribute> attributes) {
  Emitter emit(module, op);
  Values operands;
  std::vector<Type> types;
  for (size_t i = 0; i < op->num_operands(); ++i) operands.push_back(op->operand(i));
  for (size_t i = 0; i < op->num_results(); ++i) types.push_back(op->result_type(i));
  Op* made = emit.Make(name, operands, types, attributes);
  if (!KeepIfValid(made)) return false;
  Values results;
  for (size_t i = 0; i < types.size(); ++i) results.push_back(made->result(i));
  Replace(op, results);
  return true;
}

// The numbers of a ragged product, which attributes of other dialects give as six lists.
Attribute RaggedNumbers(Context& context, Attribute given) {
  if (!given.Is(AttrKind::kArray) || given.elements().size() != 6) return given;
  RaggedDotDimensionNumbers numbers;
  DimList* const lists[] = {
      &numbers.lhs_batching_dimensions,    &numbers.rhs_batching_dimensions,
      &numbers.lhs_contracting_dimensions, &numbers.rhs_contracting_dimensions,
      &numbers.lhs_ragged_dimensions,      &numbers.rhs_group_dimensions};
  for (size_t i = 0; i < 6; ++i) {
    if (!GetIntList(given.elements()[i], lists[i])) return given;
  }
  return numbers.ToAttr(context);
}

// precision_config as strings, as attributes of other dialects have it.
Attribute PrecisionConfig(Context& context, Attribute given) {
  if (!given.Is(AttrKind::kArray)) return given;
  std::vector<Attribute> values;
  for (Attribute value : given.elements()) {
    values.push_back(value.Is(AttrKind::kString) ? context.Enum("chlo.precision", value.AsString())
                                                 : value);
  }
  return context.Array(values);
}

// `name` is an op of CHLO without its dialect, `attributes` what the caller says of it.
bool ReplaceByChlo(Module* module, Op* op, absl::string_view name,
                   absl::Span<const NamedAttribute> attributes) {
  const std::string full = absl::StrCat("chlo.", name);
  const OpCode code = LookupOp(full);
  if (code == OpCode::kUnknown || GetOpInfo(code).max_regions != 0) return false;
  std::vector<NamedAttribute> known;
  for (const NamedAttribute& attribute : attributes) {
    // top_k's `largest`; the caller has looked at it.
    if (code == OpCode::kChloTopK && attribute.name != "k") continue;
    NamedAttribute own = attribute;
    if (own.name == "ragged_dot_dimension_numbers")
      own.value = RaggedNumbers(module->context(), own.value);
    if (own.name == "precision_config") own.value = PrecisionConfig(module->context(), own.value);
    known.push_back(own);
  }
  return ReplaceByOp(module, op, full, known);
}

// mhlo.erf, chlo.ragged_dot and the like: ops that the exporter had no other way to write.
bool ExpandForeignOp(Module* module, Op* op) {
  absl::string_view name = op->StringAttr("call_target_name");
  const bool is_chlo = absl::ConsumePrefix(&name, "chlo.");
  if (!is_chlo && !absl::ConsumePrefix(&name, "mhlo.")) return false;
  absl::Span<const NamedAttribute> entries;
  for (const absl::string_view place :
       {"mhlo.attributes", "mhlo.backend_config", "backend_config"}) {
    const Attribute dict = op->attr(place);
    if (dict.Is(AttrKind::kDict) && entries.empty()) entries = dict.entries();
  }
  const std::string full = absl::StrCat("stablehlo.", name);
  const OpCode code = LookupOp(full);
  if (!is_chlo && code != OpCode::kUnknown && GetOpInfo(code).max_regions == 0 &&
      ReplaceByOp(module, op, full, entries))
    return true;
  return ReplaceByChlo(module, op, name, entries);
}

struct Expansion {
  absl::string_view target;
  bool (*expand)(Module* module, Op* op);
};
constexpr Expansion kExpansions[] = {
    {"AllocateBuffer", ExpandAllocation},
    {"ApproxTopK", ExpandApproxTopK},
    {"CreateBuffer", ExpandAllocation},
    {"InspectSharding", ExpandAnnotation},
    {"LayoutConstraint", ExpandIdentity},
    {"MoveToDevice", ExpandIdentity},
    {"MoveToHost", ExpandIdentity},
    {"Pin", ExpandIdentity},
    {"PinToDevice", ExpandIdentity},
    {"PinToDeviceSram", ExpandIdentity},
    {"SPMDFullToShardShape", ExpandIdentity},
    {"SPMDShardToFullShape", ExpandIdentity},
    {"Sharding", ExpandIdentity},
    {"TopK", ExpandTopKCall},
    {"Unpin", ExpandIdentity},
    {"annotate_device_placement", ExpandIdentity},
    {"ducc_fft", ExpandFftCall},
    {"dynamic_ducc_fft", ExpandFftCall},
    {"mark_tensor", ExpandIdentity},
    {"mhlo.topk", ExpandTopKCall},
    {"pocketfft", ExpandFftCall},
    {"shape_assertion", ExpandAssertion},
    {"stablehlo.composite", ExpandCompositeCall},
    {"stablehlo.dynamic_approx_top_k", ExpandApproxTopK},
    {"stablehlo.dynamic_reduce_window", ExpandDynamicReduceWindow},
    {"stablehlo.dynamic_rng_bit_generator", ExpandDynamicRngBitGenerator},
    {"stablehlo.dynamic_top_k", ExpandTopKCall},
    {"stablehlo.shape_refinement_operand_wrapper", ExpandIdentity},
    {"xla.sdy.FuncResultSharding", ExpandIdentity},
    {"xla.sdy.GlobalToLocalShape", ExpandIdentity},
    {"xla.sdy.LocalToGlobalShape", ExpandIdentity},
    {"xla.sdy.ManualComputation", ExpandManualCall},
    {"xla.sdy.PropagationBarrier", ExpandIdentity},
    {"xla.sdy.ShardingGroup", ExpandAnnotation},
};

// --- The form of calls ---

// The parts of a value of a tuple type, in order, nested ones as well; a value of another type
// itself.
void Flatten(Emitter& emit, Value* value, Values* parts) {
  if (!value->type().Is(TypeKind::kTuple)) {
    parts->push_back(value);
    return;
  }
  const absl::Span<const Type> types = value->type().elements();
  for (size_t i = 0; i < types.size(); ++i) {
    const Attribute index = emit.context().I32(static_cast<int64_t>(i));
    Flatten(
        emit,
        emit.Make("stablehlo.get_tuple_element", {value}, {types[i]}, {{"index", index}})->result(),
        parts);
  }
}

void FlattenType(Type type, std::vector<Type>* parts) {
  if (!type.Is(TypeKind::kTuple)) {
    parts->push_back(type);
    return;
  }
  for (Type part : type.elements()) FlattenType(part, parts);
}

// A value of `type` of the flat parts from *next on.
Value* Assemble(Emitter& emit, Type type, const Op& flat, size_t* next) {
  if (!type.Is(TypeKind::kTuple)) return flat.result((*next)++);
  Values parts;
  for (Type part : type.elements()) parts.push_back(Assemble(emit, part, flat, next));
  return emit.Make("stablehlo.tuple", parts, {type})->result();
}

// Old exports give several results as one tuple: makes each a result of its own. Returns the call
// that took the place of `op`.
Op* SpreadTuples(Module* module, Op* op) {
  bool has_tuple = false;
  for (size_t i = 0; i < op->num_operands(); ++i)
    has_tuple |= op->operand_type(i).Is(TypeKind::kTuple);
  for (size_t i = 0; i < op->num_results(); ++i)
    has_tuple |= op->result_type(i).Is(TypeKind::kTuple);
  if (!has_tuple) return op;
  Emitter emit(module, op);
  Values operands;
  std::vector<Type> types;
  for (size_t i = 0; i < op->num_operands(); ++i) Flatten(emit, op->operand(i), &operands);
  for (size_t i = 0; i < op->num_results(); ++i) FlattenType(op->result_type(i), &types);
  std::vector<NamedAttribute> attributes;
  for (const NamedAttribute& attribute : op->attributes()) {
    // These count operands and results as they were; no backend needs them.
    if (attribute.name == "operand_layouts" || attribute.name == "result_layouts" ||
        attribute.name == "output_operand_aliases" || attribute.name == "xla_shape")
      continue;
    attributes.push_back(attribute);
  }
  Op* flat = emit.Make("stablehlo.custom_call", operands, types, attributes);
  // get_tuple_element of the whole takes a part; what else uses it gets a tuple of the parts.
  Values results;
  size_t next = 0;
  for (size_t i = 0; i < op->num_results(); ++i) {
    Value* const tuple = op->result(i);
    const size_t first = next;
    results.push_back(Assemble(emit, tuple->type(), *flat, &next));
    if (!tuple->type().Is(TypeKind::kTuple)) continue;
    const absl::Span<const Type> parts = tuple->type().elements();
    if (std::any_of(parts.begin(), parts.end(),
                    [](Type part) { return part.Is(TypeKind::kTuple); }))
      continue;
    std::vector<Op*> readers;
    for (const Use* use = tuple->first_use(); use != nullptr; use = use->next())
      if (use->owner()->Is(OpCode::kGetTupleElement)) readers.push_back(use->owner());
    for (Op* reader : readers)
      Replace(reader, {flat->result(first + static_cast<size_t>(reader->IntAttr("index")))});
  }
  Replace(op, results);
  for (Value* result : results) {
    Op* const made = result->defining_op();
    if (made->Is(OpCode::kTuple) && !made->HasResultUses()) made->Erase();
  }
  return flat;
}

// Operands that say nothing but the shapes of results, which are static.
Op* DropShapeOperands(Module* module, Op* op) {
  DimList indices;
  if (!GetIntList(op->attr("indices_of_shape_operands"), &indices)) return op;
  for (size_t i = 0; i < op->num_results(); ++i) {
    if (!op->result_type(i).HasStaticShape()) return op;
  }
  Emitter emit(module, op);
  Values operands, results;
  for (size_t i = 0; i < op->num_operands(); ++i) {
    if (std::find(indices.begin(), indices.end(), static_cast<int64_t>(i)) == indices.end())
      operands.push_back(op->operand(i));
  }
  std::vector<Type> types;
  for (size_t i = 0; i < op->num_results(); ++i) types.push_back(op->result_type(i));
  std::vector<NamedAttribute> attributes;
  for (const NamedAttribute& attribute : op->attributes()) {
    if (attribute.name == "indices_of_shape_operands" || attribute.name == "operand_layouts" ||
        attribute.name == "result_layouts" || attribute.name == "output_operand_aliases")
      continue;
    attributes.push_back(attribute);
  }
  Op* made = emit.Make("stablehlo.custom_call", operands, types, attributes);
  for (size_t i = 0; i < types.size(); ++i) results.push_back(made->result(i));
  Replace(op, results);
  return made;
}

// Buffers (memrefs) become tensors: what writes to one gives a new value.
void MakeTensor(Context& context, Value* value) {
  const Type type = value->type();
  if (type.Is(TypeKind::kMemRef)) value->set_type(context.Tensor(type.dims(), type.element_type()));
}

// --- Composites ---

// A composite that is an op of CHLO in all but form.
void ExpandComposite(Module* module, Op* op) {
  absl::string_view name = op->StringAttr("name");
  if (!absl::ConsumePrefix(&name, "chlo.") || op->IntAttr("version") > 1) return;
  const Attribute attributes = op->attr("composite_attributes");
  const absl::Span<const NamedAttribute> entries =
      attributes.Is(AttrKind::kDict) ? attributes.entries() : absl::Span<const NamedAttribute>();
  if (name == "top_k") {
    const Attribute largest = attributes ? attributes.Get("largest") : Attribute();
    if (largest && !largest.AsBool()) return;
  }
  ReplaceByChlo(module, op, name, entries);
}

}  // namespace

Attribute CallAttr(const Op& op, absl::string_view name) {
  for (const absl::string_view place :
       {"backend_config", "mhlo.backend_config", "mhlo.attributes"}) {
    const Attribute dict = op.attr(place);
    if (!dict.Is(AttrKind::kDict)) continue;
    if (const Attribute value = dict.Get(name)) return value;
  }
  return op.attr(name);
}

void Replace(Op* op, absl::Span<Value* const> values) {
  for (size_t i = 0; i < values.size(); ++i) op->result(i)->ReplaceAllUsesWith(values[i]);
  op->Erase();
}

bool KeepIfValid(Op* op) {
  if (VerifyOp(*op).ok()) return true;
  op->Erase();
  return false;
}

bool CopyComputation(const Op& call, Op* to, absl::Span<const Type> arguments,
                     absl::Span<const Type> results) {
  const Attribute called = call.attr("called_computations");
  if (!called || called.elements().size() != 1) return false;
  Module* const module = to->module();
  const Function function = module->FindFunction(called.elements()[0].AsString());
  if (!function || function.body() == nullptr || function.body()->terminator() == nullptr)
    return false;
  const Block& body = *function.body();
  const Op& end = *body.terminator();
  if (body.num_arguments() != arguments.size() || end.num_operands() != results.size())
    return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (body.argument(i)->type() != arguments[i]) return false;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (end.operand_type(i) != results[i]) return false;
  }
  Block* const block = to->region()->AddBlock();
  for (const Type type : arguments) block->AddArgument(type);
  Emitter inside(module, block, call.location());
  inside.Return(inside.Inline(body, block->arguments()));
  return true;
}

namespace {

void ExpandCustomCall(Module* module, Op* op) {
  op = DropShapeOperands(module, SpreadTuples(module, op));
  absl::string_view target = op->StringAttr("call_target_name");
  absl::ConsumePrefix(&target, "local_");  // TensorFlow's copies of xla.sdy
  const auto row = std::lower_bound(
      std::begin(kExpansions), std::end(kExpansions), target,
      [](const Expansion& entry, absl::string_view name) { return entry.target < name; });
  if (row != std::end(kExpansions) && row->target == target) {
    row->expand(module, op);
  } else if (IsPythonCallback(target)) {
    ExpandCallback(module, op);
  } else {
    ExpandForeignOp(module, op);
  }
}

}  // namespace

absl::Status ExpandCustomCalls(Module* module, const PassOptions& options) {
  std::vector<Op*> ops;
  module->Walk([&](Op* op) {
    for (size_t i = 0; i < op->num_results(); ++i) MakeTensor(module->context(), op->result(i));
    for (size_t r = 0; r < op->num_regions() && !op->Is(OpCode::kFuncFunc); ++r) {
      const Block* block = op->region(r)->block();
      if (block == nullptr) continue;
      for (Value* argument : block->arguments()) MakeTensor(module->context(), argument);
    }
    switch (op->opcode()) {
      case OpCode::kCustomCall:
      case OpCode::kComposite:
      case OpCode::kMhloErf:
      case OpCode::kMhloTan:
      case OpCode::kMhloTopk:
      case OpCode::kSdyShardingConstraint:
      case OpCode::kSdyReshard:
      case OpCode::kSdyPropagationBarrier:
      case OpCode::kSdyDataFlowEdge:
      case OpCode::kSdyShardingGroup:
      case OpCode::kSdyConstant:
      case OpCode::kSdyManualComputation:
      case OpCode::kSdyNamedComputation:
        ops.push_back(op);
        break;
      case OpCode::kUnknown:  // as exporters that canonicalise with MLIR's own patterns leave it
        if (op->name() == "arith.constant" && op->HasAttr("value")) ops.push_back(op);
        break;
      default:
        break;
    }
  });
  for (Op* op : ops) {
    if (options.claims && options.claims(*op)) {
      if (op->Is(OpCode::kCustomCall)) DropShapeOperands(module, SpreadTuples(module, op));
      continue;
    }
    switch (op->opcode()) {
      case OpCode::kCustomCall:
        ExpandCustomCall(module, op);
        break;
      case OpCode::kComposite:
        ExpandComposite(module, op);
        break;
      case OpCode::kMhloErf:
        ReplaceByOp(module, op, "chlo.erf", {});
        break;
      case OpCode::kMhloTan:
        ReplaceByOp(module, op, "stablehlo.tan", {});
        break;
      case OpCode::kMhloTopk:
        ExpandTopKOp(module, op);
        break;
      case OpCode::kSdyManualComputation:
      case OpCode::kSdyNamedComputation:
        ExpandManualComputation(op);
        break;
      case OpCode::kSdyConstant:
      case OpCode::kUnknown:
        ReplaceByOp(module, op, "stablehlo.constant", {{"value", op->attr("value")}});
        break;
      default:
        ExpandAnnotation(module, op);
    }
  }
  return absl::OkStatus();
}

}  // namespace pjrt::ir
