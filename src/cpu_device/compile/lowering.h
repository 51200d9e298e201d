// SPDX-License-Identifier: Apache-2.0
//
// From a module to a plan. A table says which function lowers which op; elementwise ops and
// reductions are lowered in loops (fusion.h).
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_LOWERING_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_LOWERING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/ir/module.h"
#include "src/cpu_device/compile/array_view.h"
#include "src/cpu_device/compile/fusion.h"
#include "src/cpu_device/compile/loop_builder.h"
#include "src/cpu_device/compile/packed_arrays.h"
#include "src/cpu_device/compile/plan_builder.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt {
class CustomCallRegistry;
}

namespace pjrt::cpu {

struct LoweringOptions {
  bool fuse = true;
  bool keep_f32 = true;
  const CustomCallRegistry* custom_calls = nullptr;  // the application's; null for none
};

class Lowering {
 public:
  // `module` must have passed the verifier and hold no calls; it, `kernels` and `engine` outlive
  // the lowering.
  Lowering(const ir::Module& module, const Kernels& kernels, const LoopEngine& engine,
           const LoweringOptions& options);

  // The plan of a function. UNIMPLEMENTED for what the device lacks.
  absl::StatusOr<Plan> Run(ir::Function function);

  // True when result `index` of the plan just made may be written over argument `argument`.
  bool ResultMayAlias(int32_t index, int32_t argument) const {
    return plan_.ResultMayAlias(index, argument);
  }

  // --- For the functions that lower ops ---

  PlanBuilder& plan() { return plan_; }
  const Kernels& kernels() const { return kernels_; }
  const LoopEngine& engine() const { return engine_; }
  const LoweringOptions& options() const { return options_; }

  // The array that a tensor value is. The value must have been lowered.
  const ArrayView& view(const ir::Value* value) const { return bindings_[value->scratch].view; }
  void Bind(const ir::Value* value, ArrayView view);
  // A value without data: a token.
  void BindToken(const ir::Value* value);
  void BindTuple(const ir::Value* value, std::vector<const ir::Value*> parts);
  // Makes `value` stand for the same as `other`.
  void BindSame(const ir::Value* value, const ir::Value* other);
  const std::vector<const ir::Value*>& tuple_parts(const ir::Value* value) const {
    return bindings_[value->scratch].parts;
  }
  bool IsToken(const ir::Value* value) const { return value->type().IsToken(); }

  // A new dense buffer for a tensor type, and its view.
  ArrayView NewArray(ir::Type type);
  ArrayView NewArray(PrimitiveType type, absl::Span<const int64_t> dims);
  // Where to write `value`, by steps that can write to any view: its place in the concatenation
  // that alone uses it, else a new array.
  ArrayView PlaceFor(const ir::Value* value);

  // `view` itself when it is dense and begins its buffer, else a dense copy.
  absl::StatusOr<ArrayView> Dense(const ArrayView& view, Steps* steps);
  // Writes the elements of `from` to `to`, of the same dims and type, a buffer's view.
  absl::Status Copy(const ArrayView& from, const ArrayView& to, Steps* steps);

  // Writes `operand`, padded with the scalar `value` (low edge and between elements; the high edge
  // follows from the result's size), to `result`, any view of a buffer.
  absl::Status Pad(ArrayView operand, const ArrayView& value, absl::Span<const int64_t> low,
                   absl::Span<const int64_t> interior, const ArrayView& result, Steps* steps);

  // A buffer that holds the one value of a scalar view.
  absl::StatusOr<ArrayView> ScalarInBuffer(const ArrayView& scalar, Steps* steps);

  // Writes the values of `from` to `to`, of the same dims, converted by way of their compute types:
  // each of both conversions may round or wrap.
  absl::Status Convert(const ArrayView& from, const ArrayView& to, Steps* steps);

  // A region that is called on elements: a straight line of instructions where it is one (see
  // BuildBody), else a plan that is run for each element. UNIMPLEMENTED for a region of arrays,
  // with side effects, or that uses arrays from outside.
  absl::StatusOr<std::shared_ptr<const LoopProgram>> Body(const ir::Block& block, bool keep_f32);

  // Compiles a loop and emits its step. `outputs`: the buffers of its stores, then of its
  // reductions.
  absl::Status EmitLoop(LoopProgram program, std::vector<BufferId> inputs,
                        std::vector<BufferId> outputs, std::string what, Steps* steps);

  // All ops of a block but the terminator. Meanwhile the `scratch` of each is the number of its
  // unit (fusion.h) in the order in which they run.
  absl::Status LowerBlock(const ir::Block& block, Steps* steps);

 private:
  struct Binding {
    ArrayView view;
    std::vector<const ir::Value*> parts;
  };
  // A concatenation whose operands are written to their places: where it is, and they begin.
  struct Whole {
    ArrayView array;
    std::vector<int64_t> offsets;
  };
  using LowerFn = absl::Status (*)(Lowering& lowering, const ir::Op& op, Steps* steps);
  static LowerFn FindLowering(ir::OpCode code);

  // The place of `value` in what uses it, through `depth` ops at most.
  std::optional<ArrayView> PlaceInUser(const ir::Value* value, int depth);
  absl::Status LowerLoop(const Unit& unit, Steps* steps);
  absl::Status EmitSplitReduction(LoopProgram program, int chunk_dims, std::vector<BufferId> inputs,
                                  std::vector<BufferId> stores, std::vector<BufferId> results,
                                  std::string what, Steps* steps);
  absl::Status BindArguments(ir::Function function, Steps* steps);
  // Packed results lie in memory as the caller of a program wants them.
  absl::Status PlaceResults(const ir::Op& terminator, bool packed, Steps* steps);
  // Notes that `bytes` is computed for a packed result, where `value` is nothing else outside of
  // the loop of `members`.
  void NoteIfPackedResult(const ir::Value* value, BufferId bytes,
                          const absl::flat_hash_set<const ir::Op*>& members);
  Plan FinishPlan(const ir::Block& block, Steps steps);
  absl::StatusOr<Plan> RunBody(const ir::Block& block);
  Binding& NewBinding(const ir::Value* value);

  const ir::Module& module_;
  const Kernels& kernels_;
  const LoopEngine& engine_;
  const LoweringOptions options_;
  PlanBuilder plan_;
  PackedArrays packed_;
  const ir::Op* packed_results_ = nullptr;  // the terminator whose operands are packed results
  std::vector<Binding> bindings_;
  absl::flat_hash_map<const ir::Value*, Whole> wholes_;  // by their results
};

// Whether the device implements an op itself that the passes of core could replace: composites and
// custom calls that the application has registered, selections that beat a sort.
bool ClaimsOp(const ir::Op& op, const CustomCallRegistry* custom_calls);

// RESOURCE_EXHAUSTED, naming the op, for an array, or the points of a loop, of more than 2^42
// elements: more than a machine holds, and sizes in bytes stay far from overflow below that. Sizes
// of 0 count as 1, since strides are products of the others.
absl::Status CheckElements(absl::Span<const int64_t> dims, const ir::Op& op);

// True when there are kernels for the ops of `program` from instruction `first` on.
bool HasKernels(const LoopProgram& program, size_t first, const BlockKernels& kernels);

// UNIMPLEMENTED unless a region that folds elements takes scalars of the result's types, and the
// operands that it is given, which begin at `first` and `second`, have these types as well.
absl::Status CheckFolds(const ir::Op& op, const ir::Block& body, size_t first, size_t second);

// The type in which products of a and b are computed and summed to c. Floats narrower than f32 are
// multiplied exactly in f32 and summed there, integers in 32 or 64 bits: wrapping makes that the
// same as in the result's own width.
CType ProductType(PrimitiveType a, PrimitiveType b, PrimitiveType c);

// The type whose elements in memory are those that kernels compute with.
PrimitiveType MemoryType(CType type);

// The concatenation that a dynamic_slice cuts along its dimension alone, and nothing else uses: it
// is not made where it is large, the slice reads its pieces. Null for other slices.
const ir::Op* SlicedPieces(const Lowering& lowering, const ir::Op& slice);

// True for a concatenation of so narrow operands that one step writes them all.
bool InterleavesColumns(const ir::Op& concatenation);

// Families of lowering functions, one file each.
absl::Status LowerConstant(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerIota(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerDeviceNumber(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerReshape(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerBroadcastInDim(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerTranspose(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerSlice(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerReverse(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerConcatenate(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerPad(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerTuple(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerGetTupleElement(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerIdentity(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerToken(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerBitcastConvert(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerConvolution(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerDotGeneral(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerDynamicSlice(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerDynamicUpdateSlice(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerFft(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerGather(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerMap(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerRng(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerRngBitGenerator(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerScatter(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerReduceWindow(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerSelectAndScatter(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerCholesky(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerTriangularSolve(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerSort(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerComposite(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerCustomCall(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerTopK(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerWhile(Lowering& lowering, const ir::Op& op, Steps* steps);
absl::Status LowerCase(Lowering& lowering, const ir::Op& op, Steps* steps);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_LOWERING_H_
