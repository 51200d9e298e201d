// SPDX-License-Identifier: Apache-2.0
//
// How the Builder makes functions, ops and regions. Its ops are in builder_ops.cc.
#include "pjrt/ir/builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/verifier.h"
#include "src/core/base/error.h"

namespace pjrt::ir {
namespace {

// "in @main: 'stablehlo.add' op" for an op that is about to land in `block`.
std::string Describe(const Block* block, absl::string_view name) {
  const ir::Op* at = block != nullptr ? block->parent_op() : nullptr;
  while (at != nullptr && !at->Is(OpCode::kFuncFunc)) at = at->parent();
  return at == nullptr ? absl::StrCat("'", name, "' op")
                       : absl::StrCat("in @", at->StringAttr("sym_name"), ": '", name, "' op");
}

void SortByName(std::vector<NamedAttribute>* attributes) {
  std::sort(attributes->begin(), attributes->end(),
            [](const NamedAttribute& a, const NamedAttribute& b) { return a.name < b.name; });
}

// Takes everything out of `from` and puts it into a new block of the empty region `to`.
void MoveBlock(Module* module, Block* from, Region* to) {
  Block* block = to->AddBlock();
  for (Value* argument : from->arguments()) {
    argument->ReplaceAllUsesWith(block->AddArgument(argument->type(), argument->location()));
  }
  // Ops move before another one, so the new block gets its terminator first.
  ir::Op* last = from->back();
  Values operands;
  for (size_t i = 0; i < last->num_operands(); ++i) operands.push_back(last->operand(i));
  OpState state;
  state.name = last->name();
  state.operands = operands;
  ir::Op* terminator = module->Append(block, state);
  last->Erase();
  for (ir::Op* op : *from) op->MoveBefore(terminator);
}

// Sets an entry of one dictionary in a list of `count` dictionaries, arg_attrs or res_attrs.
void SetInList(ir::Op* op, absl::string_view list_name, size_t count, size_t i,
               absl::string_view name, Attribute value) {
  Context& context = op->module()->context();
  std::vector<Attribute> list(count, context.Dict({}));
  const Attribute old = op->attr(list_name);
  for (size_t k = 0; old && k < old.elements().size() && k < count; ++k)
    list[k] = old.elements()[k];
  std::vector<NamedAttribute> entries(list[i].entries().begin(), list[i].entries().end());
  entries.push_back({name, value});
  list[i] = context.Dict(entries);
  op->SetAttr(list_name, context.Array(list));
}

}  // namespace

Values Results::ToValues() const {
  Values out;
  for (size_t i = 0; i < size(); ++i) out.push_back(op_->result(i));
  return out;
}

// --- Functions ---

Value* FunctionBuilder::Argument(PrimitiveType type, Dims dims) {
  if (op_ == nullptr) return nullptr;
  const Type element = builder_->context().ElementType(type);
  if (!element || !element.IsElementType()) {
    builder_->Fail(InvalidArgument("PJRT-I007",
                                   "arguments must be tensors; given an element type of ",
                                   PrimitiveTypeName(type)));
    return nullptr;
  }
  return Argument(builder_->context().Tensor(dims, element));
}

Value* FunctionBuilder::Argument(Type type) {
  if (op_ == nullptr || !builder_->status().ok()) return nullptr;
  Block* body = op_->region()->block();
  if (!type || body->terminator() != nullptr) {
    builder_->Fail(InvalidArgument("PJRT-I004", "arguments of @", op_->StringAttr("sym_name"),
                                   " must have a type and be added before its Return"));
    return nullptr;
  }
  return body->AddArgument(type);
}

void FunctionBuilder::Return(ValueSpan results) {
  if (op_ == nullptr || !builder_->status().ok()) return;
  Block* body = op_->region()->block();
  if (body->terminator() != nullptr || builder_->depth_ > 0) {
    builder_->Fail(InvalidArgument("PJRT-I004", "@", op_->StringAttr("sym_name"),
                                   " must have one Return, outside of regions"));
    return;
  }
  Block* const before = std::exchange(builder_->block_, body);
  if (!builder_->Usable("func.return", results)) return;
  std::vector<Type> inputs, outputs;
  for (const Value* v : body->arguments()) inputs.push_back(v->type());
  for (const Value* v : results) outputs.push_back(v->type());
  Context& context = builder_->context();
  op_->SetAttr("function_type", context.TypeAttr(context.Function(inputs, outputs)));
  OpState state;
  state.name = "func.return";
  state.operands = results;
  builder_->module_->Append(body, state);
  builder_->block_ = before == body ? nullptr : before;
}

void FunctionBuilder::SetArgAttr(size_t i, absl::string_view name, Attribute value) {
  if (op_ == nullptr || !builder_->status().ok()) return;
  const size_t count = op_->region()->block()->num_arguments();
  if (i >= count) {
    builder_->Fail(InvalidArgument("PJRT-I004", "@", op_->StringAttr("sym_name"),
                                   " has no argument ", i, " yet"));
    return;
  }
  SetInList(op_, "arg_attrs", count, i, name, value);
}

void FunctionBuilder::SetResultAttr(size_t i, absl::string_view name, Attribute value) {
  if (op_ == nullptr || !builder_->status().ok()) return;
  const size_t count = op_->attr("function_type").AsType().results().size();
  if (i >= count) {
    builder_->Fail(InvalidArgument("PJRT-I004", "@", op_->StringAttr("sym_name"), " has no result ",
                                   i, " yet"));
    return;
  }
  SetInList(op_, "res_attrs", count, i, name, value);
}

Builder::Builder() : module_(std::make_unique<Module>()) {}
Builder::~Builder() = default;

Context& Builder::context() { return module_->context(); }

FunctionBuilder Builder::Function(absl::string_view name, bool is_private) {
  if (!status_.ok()) return FunctionBuilder(this, nullptr);
  if (depth_ > 0) {
    Fail(InvalidArgument("PJRT-I004", "function @", name, " cannot begin inside of a region"));
    return FunctionBuilder(this, nullptr);
  }
  const ir::Function function = module_->AddFunction(name, context().Function({}, {}), is_private);
  block_ = function.body();
  return FunctionBuilder(this, function.op());
}

absl::StatusOr<std::unique_ptr<Module>> Builder::Build() {
  if (!status_.ok()) return status_;
  for (const ir::Op* op : *module_->body()) {
    if (op->Is(OpCode::kFuncFunc) && !op->region()->empty() &&
        op->region()->block()->terminator() == nullptr) {
      Fail(
          InvalidArgument("PJRT-I005", "function @", op->StringAttr("sym_name"), " has no Return"));
      return status_;
    }
  }
  if (!Fail(VerifyModule(*module_))) return status_;
  std::unique_ptr<Module> out = std::exchange(module_, std::make_unique<Module>());
  block_ = nullptr;
  status_ = InvalidArgument(
      "PJRT-I006", "the Builder has given its module away: a new program needs a new Builder");
  return out;
}

bool Builder::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return status_.ok();
}

bool Builder::Usable(absl::string_view op, ValueSpan operands) {
  if (!status_.ok()) return false;
  if (block_ == nullptr) {
    return Fail(InvalidArgument("PJRT-I003", "'", op,
                                "' op: no function has begun, or the last one has returned"));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) {
      return Fail(InvalidArgument("PJRT-I001", Describe(block_, op), ": operand ", i, " is null"));
    }
    const Block* home = operands[i]->block();
    if (home == nullptr || home->module() != module_.get()) {
      return Fail(InvalidArgument("PJRT-I002", Describe(block_, op), ": operand ", i,
                                  " is a value of another Builder"));
    }
  }
  return true;
}

// --- Ops ---

bool Builder::FillRegion(Region* region, const RegionSpec& spec) {
  Block* block = region->AddBlock();
  Values arguments;
  for (Type type : spec.argument_types) arguments.push_back(block->AddArgument(type));
  Block* const before = std::exchange(block_, block);
  ++depth_;
  const Values returned = spec.body(*this, arguments);
  --depth_;
  block_ = block;  // a body may not change it, but may have failed
  const absl::string_view terminator =
      absl::StartsWith(region->parent()->name(), "sdy.") ? "sdy.return" : "stablehlo.return";
  const bool usable = Usable(terminator, returned);
  if (usable) {
    OpState state;
    state.name = terminator;
    state.operands = returned;
    module_->Append(block, state);
  }
  block_ = before;
  return usable;
}

Results Builder::Op(absl::string_view name, ValueSpan operands,
                    absl::Span<const NamedAttribute> attributes,
                    absl::Span<const Type> result_types, absl::Span<const RegionSpec> regions) {
  if (!Usable(name, operands)) return Results();
  const OpCode code = LookupOp(name);
  const OpInfo& info = GetOpInfo(code);
  const std::string where = Describe(block_, name);
  std::vector<NamedAttribute> sorted;
  for (const NamedAttribute& a : attributes) {
    if (a.value) sorted.push_back(a);
  }
  SortByName(&sorted);

  // Regions come first, in an op that stands in: what they return decides how many results there
  // are, and of which types.
  ir::Op* stand_in = nullptr;
  absl::InlinedVector<Region*, 2> filled;
  if (!regions.empty()) {
    OpState state;
    state.name = absl::StartsWith(name, "sdy.") ? "sdy.regions" : "builder.regions";
    state.num_regions = regions.size();
    stand_in = module_->Append(block_, state);
    for (size_t i = 0; i < regions.size(); ++i) {
      if (!FillRegion(stand_in->region(i), regions[i])) return Results();
      filled.push_back(stand_in->region(i));
    }
  }

  TypeList types(result_types.begin(), result_types.end());
  for (Type type : types) {
    if (!type || (type.IsTensor() && !type.element_type())) {
      Fail(InvalidArgument("PJRT-I007", where, ": a result must have a type; given ",
                           type.ToString()));
      return Results();
    }
  }
  const bool infers = result_types.empty() && info.infer != nullptr;
  if (infers) {
    InferInput in;
    in.context = &context();
    in.code = code;
    in.operands = operands;
    in.attributes = sorted;
    in.regions = filled;
    if (!Fail(WithContext(InferResultTypes(in, &types), where))) return Results();
  }
  OpState state;
  state.name = name;
  state.operands = operands;
  state.result_types = types;
  state.attributes = sorted;
  state.num_regions = regions.size();
  ir::Op* op = module_->Append(block_, state);
  for (size_t i = 0; i < regions.size(); ++i)
    MoveBlock(module_.get(), filled[i]->block(), op->region(i));
  if (stand_in != nullptr) stand_in->Erase();
  if (!infers && !Fail(VerifyOp(*op))) return Results();
  return Results(op);
}

Value* Builder::Unary(absl::string_view name, Value* x) { return Op(name, {x}); }
Value* Builder::Binary(absl::string_view name, Value* a, Value* b) { return Op(name, {a, b}); }

// --- Constants ---

Value* Builder::ConstantOf(PrimitiveType type, Dims dims, absl::Span<const char> bytes) {
  return Constant(context().Dense(TensorType(type, dims), bytes));
}

Value* Builder::RawConstant(PrimitiveType type, Dims dims, const void* bytes, size_t size) {
  if (!Usable("stablehlo.constant", {})) return nullptr;
  const Type tensor = TensorType(type, dims);
  const size_t expected =
      static_cast<size_t>(tensor.element_count()) * static_cast<size_t>(ByteWidth(type));
  if (!tensor.HasStaticShape() || size != expected) {
    Fail(InvalidArgument("PJRT-I007", "a constant must have as many values as its shape; given ",
                         size, " bytes for ", tensor.ToString(), ", expected ", expected));
    return nullptr;
  }
  return ConstantOf(type, dims, absl::MakeConstSpan(static_cast<const char*>(bytes), size));
}

Value* Builder::RawSplat(PrimitiveType type, Dims dims, const void* bytes, size_t size) {
  if (!Usable("stablehlo.constant", {})) return nullptr;
  const Type tensor = TensorType(type, dims);
  if (!tensor.HasStaticShape()) {
    Fail(InvalidArgument("PJRT-I007", "constants have static shapes; given ", tensor.ToString()));
    return nullptr;
  }
  const bool empty = tensor.element_count() == 0;
  return ConstantOf(type, dims,
                    absl::MakeConstSpan(static_cast<const char*>(bytes), empty ? 0 : size));
}

Value* Builder::Fill(Type tensor_type, double value) {
  if (!Usable("stablehlo.constant", {})) return nullptr;
  if (!tensor_type.IsTensor() || !tensor_type.HasStaticShape()) {
    Fail(InvalidArgument("PJRT-I007", "constants have static shapes; given ",
                         tensor_type.ToString()));
    return nullptr;
  }
  return Constant(context().DenseSplat(tensor_type, value));
}

Value* Builder::Constant(Attribute dense) {
  return Op("stablehlo.constant", {}, {{"value", dense}});
}

}  // namespace pjrt::ir
