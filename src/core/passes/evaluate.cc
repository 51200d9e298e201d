// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/evaluate.h"

#include <algorithm>

#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/ir/element.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

struct OpEvaluation {
  OpCode code;
  EvaluateFn evaluate;
};

// Ops on dynamic shapes stand beside the static ones: their shape operands only say what the
// result's type says as well.
constexpr OpEvaluation kEvaluations[] = {
    {OpCode::kBitcastConvert, EvaluateBitcastConvert},
    {OpCode::kBroadcastInDim, EvaluateBroadcastInDim},
    {OpCode::kClamp, EvaluateClamp},
    {OpCode::kCompare, EvaluateCompare},
    {OpCode::kConcatenate, EvaluateConcatenate},
    {OpCode::kConvert, EvaluateConvert},
    {OpCode::kDynamicBroadcastInDim, EvaluateBroadcastInDim},
    {OpCode::kDynamicIota, EvaluateIota},
    {OpCode::kDynamicReshape, EvaluateReshape},
    {OpCode::kDynamicSlice, EvaluateDynamicSlice},
    {OpCode::kDynamicUpdateSlice, EvaluateDynamicUpdateSlice},
    {OpCode::kGather, EvaluateGather},
    {OpCode::kIota, EvaluateIota},
    {OpCode::kPad, EvaluatePad},
    {OpCode::kReduce, EvaluateReduce},
    {OpCode::kReshape, EvaluateReshape},
    {OpCode::kReverse, EvaluateReverse},
    {OpCode::kSelect, EvaluateSelect},
    {OpCode::kSlice, EvaluateSlice},
    {OpCode::kTranspose, EvaluateTranspose},
};

EvaluateFn FindEvaluation(OpCode code) {
  // By opcode; never destroyed, since others may still read it at exit.
  static const std::vector<EvaluateFn>* const table = [] {
    auto* const functions = new std::vector<EvaluateFn>(AllOps().size() + 1, nullptr);
    for (const OpInfo& info : AllOps()) {
      if (IsEvaluatedElementwise(info.code)) {
        (*functions)[static_cast<size_t>(info.code)] = EvaluateElementwise;
      }
    }
    for (const OpEvaluation& row : kEvaluations)
      (*functions)[static_cast<size_t>(row.code)] = row.evaluate;
    return functions;
  }();
  const size_t i = static_cast<size_t>(code);
  return i < table->size() ? (*table)[i] : nullptr;
}

bool IsStaticTensor(Type type) { return type.IsTensor() && type.HasStaticShape(); }

Attribute DimensionSize(const Op& op) {
  const Type operand = op.operand_type(0);
  const int64_t dimension = op.IntAttr("dimension");
  if (!operand.IsTensor() || dimension < 0 || dimension >= operand.rank()) return {};
  const int64_t size = operand.dim(dimension);
  if (size == kDynamic) return {};
  return op.module()->context().DenseSplatInt(op.result_type(), size);
}

}  // namespace

ConstantView ConstantView::From(Attribute attr) {
  ConstantView view;
  if (!attr.Is(AttrKind::kDenseElements) || !IsStaticTensor(attr.type())) return view;
  const size_t width = ElementByteWidth(attr.type().element_type());
  const absl::Span<const char> bytes = attr.raw_data();
  const int64_t count = attr.type().element_count();
  const bool is_whole = bytes.size() == (attr.IsSplat() ? width : width * count);
  if (width == 0 || !is_whole) return view;
  view.type = attr.type();
  view.bytes = bytes;
  view.is_splat = attr.IsSplat();
  return view;
}

char* Evaluation::Allocate() {
  const int64_t count = result.element_count();
  if (count > max_elements) return nullptr;
  bytes.assign(std::max<size_t>(static_cast<size_t>(count) * element_bytes, 1), 0);
  bytes.resize(static_cast<size_t>(count) * element_bytes);
  return bytes.data();
}

char* Evaluation::AllocateSplat() {
  bytes.assign(element_bytes, 0);
  return bytes.data();
}

bool Evaluation::AllSplat() const {
  return !operands.empty() && std::all_of(operands.begin(), operands.end(),
                                          [](const ConstantView& v) { return v.is_splat; });
}

PrimitiveType ArithmeticType(Type element) {
  return element.Is(TypeKind::kIndex) ? S64 : element.primitive_type();
}

bool CanEvaluate(const Op& op) {
  return op.Is(OpCode::kConstant) || op.Is(OpCode::kGetDimensionSize) ||
         (op.num_results() == 1 && FindEvaluation(op.opcode()) != nullptr);
}

Attribute EvaluateOp(const Op& op, absl::Span<const Attribute> operands, int64_t max_elements) {
  if (op.num_results() != 1) return {};
  if (op.Is(OpCode::kConstant)) return op.attr("value");
  if (op.Is(OpCode::kGetDimensionSize)) return DimensionSize(op);
  const EvaluateFn evaluate = FindEvaluation(op.opcode());
  const Type result = op.result_type();
  if (evaluate == nullptr || !IsStaticTensor(result) || operands.size() != op.num_operands()) {
    return {};
  }
  Evaluation e;
  e.op = &op;
  e.result = result;
  e.element_bytes = ElementByteWidth(result.element_type());
  if (e.element_bytes == 0) return {};
  e.max_elements = max_elements;
  for (Attribute operand : operands) {
    e.operands.push_back(ConstantView::From(operand));
    if (!e.operands.back().type) return {};
  }
  if (!evaluate(e)) return {};
  return op.module()->context().Dense(result, e.bytes);
}

}  // namespace pjrt::ir
