// SPDX-License-Identifier: Apache-2.0
//
// Writes a scalar program (loop/scalar_program.h) from steps that compute a few elements.
//
// A run of steps is emitted twice. The first time the assembler surveys: it learns which buffers
// the run touches, how, and whether every step can be written this way. The second time it emits.
// A buffer of a few elements that is touched at known places only lives in registers for the whole
// run, an element a register: it is read from memory before the first instruction where it lived
// before, and written back behind the last where it lives on. Every other buffer stays in memory.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SCALAR_ASSEMBLER_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SCALAR_ASSEMBLER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/loop/scalar_program.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// What surrounds a run, of one buffer.
struct ScalarBuffer {
  BufferId root = kNoBuffer;  // buffers that are one memory by intent have one root
  BufferPlace place;
  int64_t bytes = 0;
  bool live_in = false;            // it may hold a value before the run
  bool live_out = false;           // its value may be read behind the run
  const char* constant = nullptr;  // its bytes, where they never change
};

// A scalar program ready to run, with how it meets the plan's memory.
struct ScalarProgram {
  struct Transfer {
    uint16_t reg = 0;
    uint8_t size = 8;
    BufferId buffer = kNoBuffer;
    int64_t offset = 0;
  };
  std::vector<uint64_t> constants;                      // registers 0, 1, ...
  std::vector<std::pair<uint16_t, BufferId>> pointers;  // registers that hold a buffer's address
  std::vector<Transfer> loads, stores;
  std::vector<ScalarInstr> code;
  int num_registers = 0;
};

class ScalarAssembler {
 public:
  // A register, or none.
  using Reg = int32_t;
  static constexpr Reg kNoReg = -1;
  using Label = int32_t;
  // More elements than this are not worth an instruction each.
  static constexpr int64_t kMaxElements = 8;

  // `describe` gives what surrounds the run for a buffer; it and `kernels` outlive the assembler.
  ScalarAssembler(const BlockKernels& kernels, absl::FunctionRef<ScalarBuffer(BufferId)> describe)
      : kernels_(kernels), describe_(describe) {}

  // Between survey and emission. False when the survey has found too much to do.
  bool EndSurvey();
  // About how many instructions the survey has seen.
  int64_t survey_size() const { return survey_size_; }
  // Behind emission. False when the program is too long.
  bool Finish(ScalarProgram* program);

  // --- For steps ---

  const BlockKernels& kernels() const { return kernels_; }

  // Every step begins with this: registers of the steps before are free again.
  void BeginStep();

  Reg Constant(const void* bits, int size);
  Reg Integer(int64_t value) { return Constant(&value, 8); }
  // The bits of a register that holds a constant; null for others.
  const uint64_t* AsConstant(Reg reg) const;

  // The element of `size` bytes at byte `offset`.
  Reg Read(BufferId buffer, int64_t offset, int size);
  void Write(BufferId buffer, int64_t offset, int size, Reg value);
  // The register that the element lives in, to be written by the step; kNoReg when it is in memory.
  Reg Target(BufferId buffer, int64_t offset, int size);
  // The same at `offset` plus what register `at`, an s64, holds.
  Reg ReadAt(BufferId buffer, int64_t offset, Reg at, int size);
  void WriteAt(BufferId buffer, int64_t offset, Reg at, int size, Reg value);
  // Copies bytes, elements of `size`. False for more than it is worth.
  bool Copy(BufferId from, int64_t from_offset, BufferId to, int64_t to_offset, int64_t bytes,
            int size);

  // Instructions. `dst`: kNoReg for a new register. An op whose operands are constants is computed
  // now. Op returns kNoReg, and emits nothing, for what has no kernel.
  Reg Op(BlockOp op, CType type, CType operand_type, Reg a, Reg b, Reg c, Reg dst = kNoReg);
  Reg Convert(CType to, CType from, Reg a, Reg dst = kNoReg);
  Reg CallConvert(ConvertFn convert, Reg a, int result_size, Reg dst = kNoReg);
  // A new register with op(a, b).
  Reg CallOp(BlockFn op, Reg a, Reg b);
  void Move(Reg to, Reg from);
  Reg Copied(Reg from) { return Emit(ScalarOp::kMove, NewTemp(), from); }
  // `sum` + stride * (`index`, of an integer type, clamped to [0, limit]). kNoReg for a type that
  // is no index.
  Reg Index(PrimitiveType type, Reg index, int64_t limit, int64_t stride, Reg sum);
  // `sum` + stride * a, of s64.
  Reg MulAdd(Reg a, int64_t stride, Reg sum);

  Label NewLabel();
  void Bind(Label label);
  void Jump(Label label);
  // Jumps when `index`, of an integer type, is not in [0, size).
  void JumpUnlessIndex(PrimitiveType type, Reg index, int64_t size, Label label);
  // Jumps when the predicate in `buffer` is (not) true.
  void JumpIf(BufferId buffer, bool when, Label label);
  // Jumps to labels[number], the last where there is no such label.
  void Switch(BufferId number, absl::Span<const Label> labels);

 private:
  struct Root {
    ScalarBuffer buffer;
    int unit = 0;  // bytes of its elements; 0: not known
    bool in_memory = false;
    int reads = 0, branch_reads = 0;
    Reg base = kNoReg;  // of its first element, or of its address
    bool defined = false;
  };

  Root& RootOf(BufferId buffer);
  // False for an access at a known place outside of the buffer, which is code that never runs: a
  // check stands before it.
  bool IsInside(BufferId buffer, int64_t offset, int size);
  // The register that an element lives in; kNoReg when it is in memory, or not known yet.
  Reg Place(Root* root, int64_t offset, int size);
  Reg NewTemp() { return kTemp | num_temps_++; }
  Reg NewKept() { return kKept | num_kept_++; }
  Reg Address(Root* root);
  Reg WideIndex(PrimitiveType type, Reg index);  // as an s64
  // A division or remainder by a power of two; kNoReg for what is none.
  Reg PowerOfTwoOp(ScalarOp op, Reg a, uint64_t b, Reg dst);
  Reg Emit(ScalarOp op, Reg dst, Reg a = kNoReg, Reg b = kNoReg, Reg c = kNoReg, int64_t imm = 0);
  uint16_t Final(Reg reg) const;

  // A register's number, and what kind it is: they are laid out one kind after the other.
  static constexpr Reg kConstant = 1 << 24, kKept = 2 << 24, kTemp = 3 << 24,
                       kNumber = kConstant - 1;
  static Reg KindOf(Reg reg) { return reg & ~kNumber; }

  struct Pending {
    ScalarInstr instr;
    Reg dst, a, b, c;
    Label label = -1;
  };

  const BlockKernels& kernels_;
  absl::FunctionRef<ScalarBuffer(BufferId)> describe_;
  bool surveying_ = true;
  int64_t survey_size_ = 0;
  absl::node_hash_map<BufferId, Root> roots_;
  absl::flat_hash_map<BufferId, BufferId> root_of_;
  std::vector<std::pair<BufferId, BufferId>> copies_;  // of a size that says nothing of elements
  absl::flat_hash_map<uint64_t, Reg> constant_index_;
  std::vector<uint64_t> constants_;
  int32_t num_kept_ = 0, num_temps_ = 0, most_temps_ = 0;
  std::vector<std::pair<Reg, BufferId>> addresses_;
  std::vector<Pending> code_;
  std::vector<int32_t> labels_;
  int32_t last_label_at_ = -1;  // the place of the last label: what stands before it stays
};

// Writes a loop program of a few elements; false when it holds what a scalar program does not.
// `outputs`: the buffers of its stores.
bool EmitScalarLoop(const LoopProgram& program, absl::Span<const BufferId> inputs,
                    absl::Span<const BufferId> outputs, ScalarAssembler* assembler);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SCALAR_ASSEMBLER_H_
