// SPDX-License-Identifier: Apache-2.0
//
// Calls whose operands are shapes and windows: ordinary ops once those are known.
#include <cstring>
#include <vector>

#include "src/core/passes/expand_custom_calls.h"

namespace pjrt::ir {
namespace {

// The integers of a constant of integers, row-major.
bool ReadConstant(const Value* value, size_t count, DimList* out) {
  const Op* op = value->defining_op();
  if (op == nullptr || !op->Is(OpCode::kConstant)) return false;
  const Attribute data = op->attr("value");
  const Type type = data.type();
  if (!type.HasStaticShape() || type.element_count() != static_cast<int64_t>(count)) return false;
  const PrimitiveType element = type.primitive_type();
  if (element != S32 && element != S64) return false;
  const size_t width = static_cast<size_t>(ByteWidth(element));
  const size_t step = data.IsSplat() ? 0 : width;
  const absl::Span<const char> bytes = data.raw_data();
  if (count > 0 && bytes.size() < (step == 0 ? width : width * count)) return false;
  out->clear();
  for (size_t i = 0; i < count; ++i) {
    if (element == S32) {
      int32_t number;
      std::memcpy(&number, bytes.data() + i * step, sizeof(number));
      out->push_back(number);
    } else {
      int64_t number;
      std::memcpy(&number, bytes.data() + i * step, sizeof(number));
      out->push_back(number);
    }
  }
  return true;
}

}  // namespace

// The shape is that of the result.
bool ExpandDynamicRngBitGenerator(Module* module, Op* op) {
  if (op->num_operands() < 1 || op->num_results() != 2 || !op->result_type(1).HasStaticShape())
    return false;
  Emitter emit(module, op);
  Attribute algorithm = CallAttr(*op, "rng_algorithm");
  if (!algorithm) algorithm = EnumToAttr(emit.context(), RngAlgorithm::kDefault);
  Op* made = emit.Make("stablehlo.rng_bit_generator", {op->operand(0)},
                       {op->result_type(0), op->result_type(1)}, {{"rng_algorithm", algorithm}});
  if (!KeepIfValid(made)) return false;
  Replace(op, {made->result(0), made->result(1)});
  return true;
}

// N inputs and N initial values, then window dimensions, window strides, base dilations, window
// dilations and padding.
bool ExpandDynamicReduceWindow(Module* module, Op* op) {
  if (op->num_operands() < 7 || op->num_operands() % 2 == 0) return false;
  const size_t n = (op->num_operands() - 5) / 2;
  if (op->num_results() != n || !op->operand_type(0).HasStaticShape()) return false;
  const size_t rank = static_cast<size_t>(op->operand_type(0).rank());
  Emitter emit(module, op);
  Context& context = emit.context();
  std::vector<NamedAttribute> attributes;
  static constexpr absl::string_view kNames[] = {"window_dimensions", "window_strides",
                                                 "base_dilations", "window_dilations"};
  for (size_t i = 0; i < 4; ++i) {
    DimList list;
    if (!ReadConstant(op->operand(2 * n + i), rank, &list)) return false;
    attributes.push_back({kNames[i], context.I64Array(list)});
  }
  DimList padding;
  if (!ReadConstant(op->operand(2 * n + 4), 2 * rank, &padding)) return false;
  attributes.push_back({"padding", context.DenseI64({static_cast<int64_t>(rank), 2}, padding)});
  std::vector<Value*> operands, results;
  std::vector<Type> types, scalars;
  for (size_t i = 0; i < 2 * n; ++i) operands.push_back(op->operand(i));
  for (size_t i = 0; i < n; ++i) types.push_back(op->result_type(i));
  for (size_t i = 0; i < 2 * n; ++i) scalars.push_back(op->operand_type(n + i % n));
  Op* made = emit.Make("stablehlo.reduce_window", operands, types, attributes, 1);
  if (!CopyComputation(*op, made, scalars, absl::MakeConstSpan(scalars).subspan(0, n))) {
    made->Erase();
    return false;
  }
  if (!KeepIfValid(made)) return false;
  for (size_t i = 0; i < n; ++i) results.push_back(made->result(i));
  Replace(op, results);
  return true;
}

}  // namespace pjrt::ir
