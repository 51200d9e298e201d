// SPDX-License-Identifier: Apache-2.0
//
// LoopProgram: the unit of fusion. A loop nest whose body is a straight-line list of elementwise
// instructions in SSA form over one element of the iteration space, with strided inputs, and stores
// and reductions as outputs. It serves elementwise fusion, reduce bodies, map, scatter combiners
// and comparators.
//
// What a loop program says is complete: an engine needs nothing else to run it, by interpreting it
// a block at a time (block_engine.cc) or by generating code.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_LOOP_PROGRAM_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_LOOP_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/fold_ops.h"

namespace pjrt::cpu {

using Dims = absl::InlinedVector<int64_t, 6>;

// Complex numbers are not.
inline bool IsFloat(CType type) { return type == CType::kF32 || type == CType::kF64; }

// How an array is seen from the iteration space: element (i0, i1, ...) stands at offset + i0 *
// strides[0] + ..., in elements. Stride 0 broadcasts.
struct LoopView {
  int64_t offset = 0;
  Dims strides;
};

// Whether elements lie next to each other in the order of an iteration space of `dims`.
bool IsDense(const LoopView& view, const Dims& dims);
// Whether it shows one element for all points.
bool IsScalarView(const LoopView& view, const Dims& dims);

// An array that the program reads. Inputs are numbered; the engine gets a pointer for each.
struct LoopInput {
  PrimitiveType type = F32;
  LoopView view;
  // A type of 1, 2 or 4 bits when elements lie in memory packed as such ones, INVALID when each
  // has bytes of its own. In a program that maps all of the array in order.
  PrimitiveType packed = INVALID;
};

// The id of an instruction's value is its index in LoopProgram::instrs.
using LoopValue = int32_t;

struct LoopInstr {
  enum Kind : uint8_t {
    kInput,      // the element of input `index`, in its compute type
    kParameter,  // parameter `index` of a body (a reducer, a comparator), from whoever calls it
    kConstant,   // `bits`, in the compute type's representation
    kIota,       // view iotas[index]'s offset + sum of coordinate * strides, an integer, converted
    // op(iotas[index], 0), a comparison; the sequence keeps within int64. The block engine's, which
    // makes it of comparisons.
    kCompareIota,
    kOp,               // op(args...)
    kConvert,          // args[0] from its type to this one
    kRoundTo,          // args[0] rounded or wrapped to memory type `memory_type` and back
    kReducePrecision,  // args[0] with `exponent_bits` and `mantissa_bits`
    kLookUp,           // tables[index][args[0]]; the block engine's (lookup_tables.h)
    // The element of input `index` (its view's offset) at linear element index args[0], an s32 or
    // s64 within bounds.
    kGather,
  };
  Kind kind = kConstant;
  BlockOp op = BlockOp::kCopy;
  CType type = CType::kF32;  // of the result
  // kOp: which of the op's functions, by the type of its operands that are no predicates.
  CType operand_type = CType::kF32;
  PrimitiveType memory_type = F32;
  int8_t exponent_bits = 0, mantissa_bits = 0;
  int32_t index = 0;
  LoopValue args[3] = {-1, -1, -1};
  char bits[16] = {};

  // A kOp; operands that the op lacks are -1.
  static LoopInstr Op(BlockOp op, CType type, CType operand_type, LoopValue a, LoopValue b,
                      LoopValue c);
};

// Writes a value to an array, once for each point of the iteration space. A program with reductions
// may store too.
struct LoopStore {
  LoopValue value = -1;
  PrimitiveType type = F32;
  LoopView view;
  PrimitiveType packed = INVALID;  // as in LoopInput; rows of bytes' whole numbers of elements
};

struct LoopProgram;

// What a body of two values computes when it chooses between pairs of a value and a companion by
// comparing values: values[value] and the other one. The rule holds for companions in the order in
// which the loop comes to them.
struct LoopChoice {
  Choice rule;
  int value = 0;
  // Whether the rule tells the pair of unequal values, none a NaN, for companions in any order.
  bool by_values = false;
  CType companion_type = CType::kS32;
  // The engine's: the iota that companions are where no block of them is made, -1 for none.
  int32_t counted_by = -1;
};

// Reduces values over the reduced dims. With a monoid there is one value; with a body, `body` has
// 2n parameters (n accumulated, then n new values) and yields n results, and is associative: the
// engine may regroup but not reorder.
struct LoopReduce {
  absl::InlinedVector<LoopValue, 2> values;
  bool has_monoid = true;
  Monoid monoid = Monoid::kAdd;
  bool of_squares = false;  // the engine's: what is added are the squares of the values
  std::shared_ptr<const LoopProgram> body;
  std::optional<LoopChoice> choice;  // the body as a choice, where it is known to be one
  // Arrays of one element each, inputs of the program by number: where the reduction starts from.
  // -1: there is no initial value (a partial result).
  absl::InlinedVector<int32_t, 2> init_inputs;
  struct Output {
    PrimitiveType type = F32;
    LoopView view;        // strides of the reduced dims are 0
    bool is_read = true;  // false: nothing need be written
  };
  absl::InlinedVector<Output, 2> outputs;
};

class BodyKernel;

// The bytes of a result for each of the 256 bytes, or of the 65,536 words of 16 bits.
using LookupTable = std::vector<char>;

struct LoopProgram {
  // The iteration space, outermost first: `num_outer` dims that are not reduced, `num_reduced` that
  // are, and the rest, not reduced again. Without reductions all dims are outer. A body has none.
  Dims dims;
  int num_outer = 0;
  int num_reduced = 0;
  std::vector<LoopInput> inputs;
  std::vector<LoopView> iotas;
  std::vector<LookupTable> tables;
  std::vector<LoopInstr> instrs;
  std::vector<LoopStore> stores;
  std::vector<LoopReduce> reduces;
  std::vector<LoopValue> results;  // of a body
  // A body that is no list of instructions is called; all else is empty then.
  std::shared_ptr<const BodyKernel> called;

  int64_t ElementCount() const;
  // A few lines, for inspection.
  std::string ToString() const;
};

// Calls fn on every view of the program: of inputs, iotas, stores and reductions' outputs.
void ForEachView(LoopProgram* program, absl::FunctionRef<void(LoopView*)> fn);

// Brings a program to the form that runs fastest: merges dims that all views walk as one, drops
// dims of size 1, what rounds to the type that it is stored as, and instructions and iotas that
// nothing uses.
void Simplify(LoopProgram* program);

// Estimated time of one element on one thread in nanoseconds, apart from memory traffic.
double ElementCostNs(const LoopProgram& program);
// The memory traffic: what one element's inputs and stores take, and the bytes in a nanosecond.
inline constexpr double kMemoryBytesPerNs = 10;
double ElementMemoryNs(const LoopProgram& program);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_LOOP_PROGRAM_H_
