// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/count_costs.h"

#include <algorithm>
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/op_set.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

double Elements(Type type) {
  return type.IsTensor() && type.HasStaticShape() ? static_cast<double>(type.element_count()) : 0;
}

double BytesAccessed(Type type) {
  return type.IsTensor() ? Elements(type) * ElementBits(type.element_type()) / 8 : 0;
}

// Whether an element of the result takes one operation.
bool IsArithmetic(const Op& op) {
  const OpInfo& info = GetOpInfo(op.opcode());
  return (info.Has(kElementwise) && !info.Has(kTranscendental)) || op.Is(OpCode::kSelect) ||
         op.Is(OpCode::kClamp);
}

// How often the regions of an op run.
double Runs(const Op& op) {
  switch (op.opcode()) {
    case OpCode::kReduce:
      return std::max(0., Elements(op.operand_type(0)) - Elements(op.result_type(0)));
    case OpCode::kMap:
      return Elements(op.result_type(0));
    case OpCode::kScatter:
      return Elements(op.operand_type(op.num_operands() - 1));
    case OpCode::kSelectAndScatter:
      return Elements(op.operand_type(0));
    case OpCode::kReduceWindow: {
      const std::optional<WindowAttrs> window = WindowAttrs::From(op);
      double runs = Elements(op.result_type(0));
      if (window) {
        for (const WindowDimension& d : window->dimensions) runs *= static_cast<double>(d.size);
      }
      return runs;
    }
    case OpCode::kSort:
      return 0;
    default:
      return 1;
  }
}

// A multiplication and an addition for each term of each element of the result.
double FlopsOfProduct(const Op& op) {
  double terms = 1;
  if (op.Is(OpCode::kConvolution)) {
    const auto numbers = ConvDimensionNumbers::From(op.attr("dimension_numbers"));
    if (!numbers) return 0;
    const Type kernel = op.operand_type(1);
    terms = Elements(kernel) / static_cast<double>(std::max<int64_t>(
                                   1, kernel.dim(numbers->kernel_output_feature_dimension)));
  } else {
    const auto numbers = DotDimensionNumbers::From(op.attr("dot_dimension_numbers"));
    if (!numbers) return 0;
    for (const int64_t d : numbers->lhs_contracting_dimensions)
      terms *= static_cast<double>(op.operand_type(0).dim(d));
  }
  return 2 * terms * Elements(op.result_type());
}

}  // namespace

Costs CountCosts(const Module& module) {
  Costs costs;
  module.Walk([&](Op* op) {
    const bool is_product = op->Is(OpCode::kDotGeneral) || op->Is(OpCode::kConvolution);
    const bool is_arithmetic = IsArithmetic(*op);
    const bool is_transcendental = GetOpInfo(op->opcode()).Has(kTranscendental);
    if (!is_product && !is_arithmetic && !is_transcendental) return;
    double times = 1;
    for (const Op* at = op->parent(); at != nullptr; at = at->parent()) times *= Runs(*at);
    if (is_product) {
      costs.flops += times * FlopsOfProduct(*op);
    } else {
      (is_arithmetic ? costs.flops : costs.transcendentals) += times * Elements(op->result_type());
    }
  });
  const Function entry = module.EntryFunction();
  if (!entry) return costs;
  for (const Type type : entry.type().inputs()) costs.bytes_accessed += BytesAccessed(type);
  for (const Type type : entry.type().results()) costs.bytes_accessed += BytesAccessed(type);
  return costs;
}

}  // namespace pjrt::ir
