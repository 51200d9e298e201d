// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/lowering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/core/base/pack_bits.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/scalar_runs.h"
#include "src/cpu_device/steps/copy_step.h"
#include "src/cpu_device/steps/loop_step.h"
#include "src/cpu_device/steps/move_step.h"
#include "src/cpu_device/steps/pack_step.h"

namespace pjrt::cpu {

using ir::OpCode;

namespace {

// Sizes in bytes, and sums of a few of them, then fit an int64 with room to spare; memory for more
// there is not.
constexpr int64_t kMaxElements = int64_t{1} << 42;

absl::Status CheckSize(ir::Type type, const ir::Op& op) {
  return type.IsTensor() && type.HasStaticShape() ? CheckElements(type.dims(), op)
                                                  : absl::OkStatus();
}

}  // namespace

Lowering::LowerFn Lowering::FindLowering(OpCode code) {
  struct Row {
    OpCode code;
    LowerFn fn;
  };
  static constexpr Row kRows[] = {
      {OpCode::kAfterAll, LowerToken},
      {OpCode::kBitcastConvert, LowerBitcastConvert},
      {OpCode::kBroadcastInDim, LowerBroadcastInDim},
      {OpCode::kCase, LowerCase},
      {OpCode::kCholesky, LowerCholesky},
      {OpCode::kChloTopK, LowerTopK},
      {OpCode::kComposite, LowerComposite},
      {OpCode::kConcatenate, LowerConcatenate},
      {OpCode::kConstant, LowerConstant},
      {OpCode::kConvolution, LowerConvolution},
      {OpCode::kCreateToken, LowerToken},
      {OpCode::kCustomCall, LowerCustomCall},
      {OpCode::kDotGeneral, LowerDotGeneral},
      {OpCode::kDynamicSlice, LowerDynamicSlice},
      {OpCode::kDynamicUpdateSlice, LowerDynamicUpdateSlice},
      {OpCode::kFft, LowerFft},
      {OpCode::kGather, LowerGather},
      {OpCode::kGetTupleElement, LowerGetTupleElement},
      {OpCode::kIf, LowerCase},
      {OpCode::kIota, LowerIota},
      {OpCode::kMap, LowerMap},
      {OpCode::kOptimizationBarrier, LowerIdentity},
      {OpCode::kPad, LowerPad},
      {OpCode::kPartitionId, LowerDeviceNumber},
      {OpCode::kReduceWindow, LowerReduceWindow},
      {OpCode::kReplicaId, LowerDeviceNumber},
      {OpCode::kReshape, LowerReshape},
      {OpCode::kReverse, LowerReverse},
      {OpCode::kRng, LowerRng},
      {OpCode::kRngBitGenerator, LowerRngBitGenerator},
      {OpCode::kScatter, LowerScatter},
      {OpCode::kSlice, LowerSlice},
      {OpCode::kSelectAndScatter, LowerSelectAndScatter},
      {OpCode::kSort, LowerSort},
      {OpCode::kTranspose, LowerTranspose},
      {OpCode::kTriangularSolve, LowerTriangularSolve},
      {OpCode::kTuple, LowerTuple},
      {OpCode::kWhile, LowerWhile},
  };
  for (const Row& row : kRows) {
    if (row.code == code) return row.fn;
  }
  return nullptr;
}

Lowering::Lowering(const ir::Module& module, const Kernels& kernels, const LoopEngine& engine,
                   const LoweringOptions& options)
    : module_(module), kernels_(kernels), engine_(engine), options_(options) {}

Lowering::Binding& Lowering::NewBinding(const ir::Value* value) {
  value->scratch = static_cast<int32_t>(bindings_.size());
  return bindings_.emplace_back();
}

void Lowering::Bind(const ir::Value* value, ArrayView view) {
  NewBinding(value).view = std::move(view);
}
void Lowering::BindToken(const ir::Value* value) { NewBinding(value); }
void Lowering::BindTuple(const ir::Value* value, std::vector<const ir::Value*> parts) {
  NewBinding(value).parts = std::move(parts);
}
void Lowering::BindSame(const ir::Value* value, const ir::Value* other) {
  value->scratch = other->scratch;
}

ArrayView Lowering::NewArray(PrimitiveType type, absl::Span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return DenseView(plan_.NewBuffer(count * ByteWidth(type)), type, dims);
}
ArrayView Lowering::NewArray(ir::Type type) { return NewArray(type.primitive_type(), type.dims()); }

absl::StatusOr<Plan> Lowering::Run(ir::Function function) {
  Steps steps;
  packed_results_ = function.body()->terminator();
  PJRT_RETURN_IF_ERROR(BindArguments(function, &steps));
  PJRT_RETURN_IF_ERROR(LowerBlock(*function.body(), &steps));
  PJRT_RETURN_IF_ERROR(PlaceResults(*packed_results_, /*packed=*/true, &steps));
  return FinishPlan(*function.body(), std::move(steps));
}

Plan Lowering::FinishPlan(const ir::Block& block, Steps steps) {
  packed_.DropUnread(&plan_, &steps);
  Plan plan = plan_.Finish();
  MakeScalarRuns(plan_, *kernels_.block, plan, &steps);
  plan.num_arguments = static_cast<int>(block.num_arguments());
  plan.num_results = static_cast<int>(block.terminator()->num_operands());
  for (const std::unique_ptr<Step>& step : steps) {
    plan.scratch_bytes = std::max(plan.scratch_bytes, step->scratch_bytes());
    plan.cost_ns += step->cost_ns();
  }
  plan.steps = std::move(steps);
  return plan;
}

absl::Status Lowering::BindArguments(ir::Function function, Steps* steps) {
  const ir::Block& body = *function.body();
  for (size_t i = 0; i < body.num_arguments(); ++i) {
    const ir::Value* argument = body.argument(i);
    const ir::Type type = argument->type();
    if (type.IsToken()) {
      BindToken(argument);
      continue;
    }
    if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(type.primitive_type())) {
      return UnsupportedOp(*function.op(),
                           absl::StrCat("argument ", i, " has type ", type.ToString()));
    }
    PJRT_RETURN_IF_ERROR(CheckSize(type, *function.op()));
    const PrimitiveType element = type.primitive_type();
    const int64_t count = type.element_count();
    const int packed_bits = PackedBits(element);
    if (packed_bits >= 8) {
      Bind(argument, DenseView(plan_.Argument(static_cast<int32_t>(i), count * ByteWidth(element)),
                               element, type.dims()));
      continue;
    }
    const BufferId packed = plan_.Argument(static_cast<int32_t>(i), (count * packed_bits + 7) / 8);
    ArrayView unpacked = NewArray(type);
    auto unpack = std::make_unique<UnpackStep>(packed, unpacked.buffer, count, packed_bits,
                                               IsSignedInteger(element), *kernels_.block);
    packed_.AddArgument(element, packed, unpacked.buffer, unpack.get());
    plan_.Emit(steps, std::move(unpack), {packed}, {unpacked.buffer});
    Bind(argument, std::move(unpacked));
  }
  return absl::OkStatus();
}

absl::Status Lowering::PlaceResults(const ir::Op& terminator, bool packed, Steps* steps) {
  for (size_t i = 0; i < terminator.num_operands(); ++i) {
    const ir::Value* value = terminator.operand(i);
    if (IsToken(value)) continue;
    const PrimitiveType element = value->type().primitive_type();
    if (!value->type().IsTensor() || !IsArrayType(element)) {
      return UnsupportedOp(terminator,
                           absl::StrCat("result ", i, " has type ", value->type().ToString()));
    }
    const ArrayView& from = view(value);
    const int32_t index = static_cast<int32_t>(i);
    const int64_t count = from.ElementCount();
    const int packed_bits = packed ? PackedBits(element) : 8;
    if (packed_bits < 8) {
      if (packed_.IsWritten(index)) continue;
      PJRT_ASSIGN_OR_RETURN(const ArrayView dense, Dense(from, steps));
      const BufferId result = plan_.Result(index, (count * packed_bits + 7) / 8);
      plan_.Emit(
          steps,
          std::make_unique<PackStep>(dense.buffer, result, count, packed_bits, *kernels_.block),
          {dense.buffer}, {result});
      continue;
    }
    const int64_t bytes = count * ByteWidth(element);
    if (from.IsDense() && from.offset == 0 && plan_.bytes(from.buffer) == bytes &&
        plan_.PlaceInResult(from.buffer, index))
      continue;
    PJRT_RETURN_IF_ERROR(
        Copy(from, DenseView(plan_.Result(index, bytes), element, from.dims), steps));
  }
  return absl::OkStatus();
}

void Lowering::NoteIfPackedResult(const ir::Value* value, BufferId bytes,
                                  const absl::flat_hash_set<const ir::Op*>& members) {
  const PrimitiveType type = value->type().primitive_type();
  if (packed_results_ == nullptr || PackedBits(type) >= 8) return;
  const ir::Use* only = nullptr;
  for (const ir::Use* use = value->first_use(); use != nullptr; use = use->next()) {
    if (members.contains(use->owner())) continue;
    if (only != nullptr || use->owner() != packed_results_) return;
    only = use;
  }
  if (only != nullptr) packed_.AddResult(type, static_cast<int32_t>(only->operand_index()), bytes);
}

absl::StatusOr<ArrayView> Lowering::Dense(const ArrayView& view, Steps* steps) {
  if (view.IsDense() && view.offset == 0) return view;
  ArrayView dense = NewArray(view.type, view.dims);
  PJRT_RETURN_IF_ERROR(Copy(view, dense, steps));
  return dense;
}

absl::StatusOr<ArrayView> Lowering::ScalarInBuffer(const ArrayView& scalar, Steps* steps) {
  if (scalar.kind == ArrayView::kBuffer) return scalar;
  if (scalar.kind == ArrayView::kIota) return Dense(scalar, steps);
  return DenseView(plan_.Constant(absl::MakeConstSpan(scalar.bits, ByteWidth(scalar.type))),
                   scalar.type, {});
}

absl::Status Lowering::Copy(const ArrayView& from, const ArrayView& to, Steps* steps) {
  const int size = ByteWidth(from.type);
  // In one place nothing is left to do; shifted within it, source and destination would overlap.
  if (from.IsDense() && to.IsDense() && from.offset == to.offset) {
    plan_.Emit(steps,
               std::make_unique<CopyStep>(from.buffer, from.offset * size, to.buffer,
                                          to.offset * size, from.ElementCount() * size, size),
               {from.buffer}, {to.buffer}, {{to.buffer, from.buffer}});
    return absl::OkStatus();
  }
  if (from.kind == ArrayView::kBuffer) {
    NdCopy copy(from.dims, from.strides, to.strides, size, *kernels_.block);
    plan_.Emit(steps,
               std::make_unique<MoveStep>(std::move(copy), from.buffer, from.offset * size,
                                          to.buffer, to.offset * size),
               {from.buffer}, {to.buffer});
    return absl::OkStatus();
  }
  // Bits are moved as integers of their width, so that no type is converted on the way.
  LoopBuilder builder(from.dims, /*keep_f32=*/true);
  ArrayView source = from;
  const PrimitiveType bits = size == 1   ? U8
                             : size == 2 ? U16
                             : size == 4 ? U32
                             : size == 8 ? U64
                                         : C128;
  if (source.kind != ArrayView::kIota) source.type = bits;
  LoopStore store;
  store.value = builder.Load(source);
  store.type = source.kind == ArrayView::kIota ? from.type : bits;
  store.view.offset = to.offset;
  store.view.strides = to.strides;
  builder.program().stores.push_back(std::move(store));
  builder.program().num_outer = static_cast<int>(from.dims.size());
  return EmitLoop(std::move(builder.program()), builder.input_buffers(), {to.buffer}, "copy",
                  steps);
}

absl::Status Lowering::Convert(const ArrayView& from, const ArrayView& to, Steps* steps) {
  LoopBuilder builder(from.dims, /*keep_f32=*/true);
  LoopStore store;
  store.value = builder.Convert(builder.Load(from), ComputeTypeOf(to.type));
  store.type = to.type;
  store.view.offset = to.offset;
  store.view.strides = to.strides;
  builder.program().stores.push_back(std::move(store));
  builder.program().num_outer = static_cast<int>(from.dims.size());
  std::vector<BufferId> inputs = builder.input_buffers();
  return EmitLoop(std::move(builder.program()), std::move(inputs), {to.buffer}, "convert", steps);
}

absl::Status Lowering::EmitLoop(LoopProgram program, std::vector<BufferId> inputs,
                                std::vector<BufferId> outputs, std::string what, Steps* steps) {
  packed_.UseIn(&plan_, &program, &inputs, &outputs);
  absl::StatusOr<std::unique_ptr<LoopKernel>> kernel = engine_.Compile(program);
  if (!kernel.ok())
    return absl::Status(kernel.status().code(),
                        absl::StrCat(kernel.status().message(), " (in a loop of ", what, ")"));
  std::vector<PlanBuilder::Share> shares;
  for (size_t out = 0; out < program.stores.size(); ++out) {
    for (size_t in = 0; in < inputs.size(); ++in) {
      // Every view of the input's buffer must allow it.
      bool all = true;
      for (size_t other = 0; other < inputs.size(); ++other) {
        if (inputs[other] == inputs[in])
          all &= (*kernel)->CanShare(static_cast<int>(other), static_cast<int>(out));
      }
      if (all) shares.push_back({outputs[out], inputs[in]});
    }
  }
  std::vector<BufferId> reads = inputs, writes = outputs;
  auto step = std::make_unique<LoopStep>(*std::move(kernel), std::move(inputs), std::move(outputs),
                                         std::move(what));
  plan_.Emit(steps, std::move(step), reads, writes, shares);
  return absl::OkStatus();
}

absl::Status CheckElements(absl::Span<const int64_t> dims, const ir::Op& op) {
  int64_t count = 1;
  bool fits = true;
  for (int64_t d : dims) {
    const int64_t size = std::max<int64_t>(d, 1);
    fits = fits && count <= kMaxElements / size;
    if (fits) count *= size;
  }
  if (fits) return absl::OkStatus();
  return ResourceExhausted("PJRT-C004",
                           absl::StrCat(Place(op), " needs an array of more than 2^42 elements"));
}

absl::Status Lowering::LowerBlock(const ir::Block& block, Steps* steps) {
  const std::vector<Unit> units = PlanUnits(block, options_.fuse);
  for (size_t u = 0; u < units.size(); ++u) {
    for (const ir::Op* op : units[u].ops) op->scratch = static_cast<int32_t>(u);
  }
  for (const Unit& unit : units) {
    for (const ir::Op* op : unit.ops) {
      for (size_t i = 0; i < op->num_results(); ++i)
        PJRT_RETURN_IF_ERROR(CheckSize(op->result_type(i), *op));
    }
    // A gather with nothing else in its loop has a step of its own.
    if (unit.is_loop && (unit.ops.size() > 1 || !unit.ops[0]->Is(OpCode::kGather))) {
      PJRT_RETURN_IF_ERROR(LowerLoop(unit, steps));
      continue;
    }
    const ir::Op& op = *unit.ops[0];
    const LowerFn fn = FindLowering(op.opcode());
    if (fn == nullptr) {
      if (op.Is(OpCode::kReduce))
        PJRT_RETURN_IF_ERROR(CheckFolds(op, *op.region()->block(), op.num_results(), 0));
      return UnsupportedOp(op, "the CPU device has no kernel for it");
    }
    for (size_t i = 0; i < op.num_results(); ++i) {
      const ir::Type type = op.result_type(i);
      if (type.IsTensor() && (!type.HasStaticShape() || !IsArrayType(type.primitive_type())))
        return UnsupportedOp(op, "its result type is not supported");
    }
    PJRT_RETURN_IF_ERROR(fn(*this, op, steps));
  }
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
