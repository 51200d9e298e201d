// SPDX-License-Identifier: Apache-2.0
//
// Writes a loop program from StableHLO's elementwise ops.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_LOOP_BUILDER_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_LOOP_BUILDER_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/ir/module.h"
#include "src/cpu_device/compile/array_view.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// True for ops that a loop program can hold as instructions: each result element depends on the
// operands' elements at the same place (scalar operands of select and clamp aside) and the types
// are supported.
bool IsLoopOp(const ir::Op& op);

// True for a gather of single elements from a list, by an index for each element of its result. A
// loop may hold it: it reads the indices element by element.
bool IsLoopGather(const ir::Op& op);

class LoopBuilder {
 public:
  // A loop over `dims`. `keep_f32`: bf16 values are not rounded between instructions, as XLA does
  // by default; f16 values are, since their range is so small that sums overflow.
  LoopBuilder(absl::Span<const int64_t> dims, bool keep_f32) : keep_f32_(keep_f32) {
    program_.dims.assign(dims.begin(), dims.end());
  }

  LoopProgram& program() { return program_; }
  // The buffers of program().inputs, in order.
  const std::vector<BufferId>& input_buffers() const { return input_buffers_; }

  // The value of an array at the point at hand; its dims must be the loop's, or empty for a scalar
  // that all points share. Equal views give the same value.
  LoopValue Load(const ArrayView& view);
  // An input that is not loaded by an instruction: a reduction's initial value.
  int32_t AddInput(const ArrayView& view);
  LoopValue Parameter(int index, PrimitiveType type);

  // The value of an elementwise op whose operands have the given values. UNIMPLEMENTED naming the
  // op and its types when IsLoopOp would be false.
  absl::StatusOr<LoopValue> Emit(const ir::Op& op, absl::Span<const LoopValue> operands);

  // The elements of `list`, a buffer's view of one dim, at indices of type `index_type`, which are
  // moved into its bounds.
  LoopValue Gather(const ArrayView& list, LoopValue index, PrimitiveType index_type);

  // The values of a region of scalar ops, given those of its arguments in `values`; the
  // terminator's operands have values afterwards. UNIMPLEMENTED for ops that a loop cannot hold.
  absl::Status EmitBody(const ir::Block& block,
                        absl::flat_hash_map<const ir::Value*, LoopValue>* values);

  LoopValue Op(BlockOp op, CType type, CType operand_type, LoopValue a, LoopValue b = -1,
               LoopValue c = -1);
  LoopValue Convert(LoopValue value, CType to);
  LoopValue RoundTo(LoopValue value, PrimitiveType type);
  CType type(LoopValue value) const { return program_.instrs[value].type; }

 private:
  absl::Status EmitBranches(const ir::Op& op, LoopValue chosen,
                            absl::flat_hash_map<const ir::Value*, LoopValue>* values);
  LoopValue Append(LoopInstr instr);
  LoopValue RoundResult(LoopValue value, PrimitiveType type, bool exact);
  LoopValue Constant(PrimitiveType type, int64_t value);
  LoopValue PrepareToNarrow(LoopValue value);
  LoopValue EmitReducePrecision(LoopValue value, PrimitiveType type, int64_t exponent_bits,
                                int64_t mantissa_bits);
  // Ops on 2- and 4-bit integers that must see no more than those bits.
  std::optional<LoopValue> EmitNarrowInt(const ir::Op& op, absl::Span<const LoopValue> operands);

  LoopProgram program_;
  std::vector<BufferId> input_buffers_;
  std::vector<std::pair<ArrayView, LoopValue>> loads_;
  bool keep_f32_;
};

// A body (see LoopProgram) from a region of scalar elementwise ops and branches of such, as a
// reducer is. UNIMPLEMENTED for other ops, and for values from outside that are not constants.
absl::StatusOr<std::shared_ptr<const LoopProgram>> BuildBody(const ir::Block& block, bool keep_f32);

// The monoid that a reducer computes, when it is one of the vectorised ones: (a, b) -> a op b.
std::optional<Monoid> MatchMonoid(const ir::Block& block);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_LOOP_BUILDER_H_
