// SPDX-License-Identifier: Apache-2.0
//
// Chains: several operations on blocks in one pass, with what lies between two of them in vector
// registers. A chain is a list of instructions for a machine with two registers of a group of
// elements, A and B, and a register M of a group of predicates; a group at a time, all instructions
// are run. Operands are blocks, one element ("scalar"), or B ("saved").
//
// A ChainFn (block_ops.h) runs `code`, which ends with kEnd, on `groups` groups of elements from
// the beginning of each block on; slots[i] is where the block or the one element with number i
// stands. A block that is written may overlap one that is read only where it is the same and no
// instruction reads it after the first that writes it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_CHAIN_OPS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_CHAIN_OPS_H_

#include <cstdint>

namespace pjrt::cpu {

// X(name), for each of Block, Scalar and Saved. Elements are what an operation takes them for:
// floats where nothing is said, integers of the same width in those that say so, and in And, Or,
// Xor and shifts.
#define PJRT_CHAIN_OPERAND_OPS(X)                          \
  X(Load) /* A = operand */                                \
  X(Add)  /* A = A + operand, and so on */                 \
  X(Subtract)                                              \
  X(SubtractFrom) /* A = operand - A */                    \
  X(Multiply)                                              \
  X(Divide)                                                \
  X(DivideInto) /* A = operand / A */                      \
  X(Maximum)                                               \
  X(Minimum)                                               \
  X(IntegerAdd)                                            \
  X(IntegerSubtract)                                       \
  X(IntegerSubtractFrom)                                   \
  X(IntegerMultiply)                                       \
  X(SignedMaximum)                                         \
  X(SignedMinimum)                                         \
  X(UnsignedMaximum)                                       \
  X(UnsignedMinimum)                                       \
  X(And)                                                   \
  X(Or)                                                    \
  X(Xor)                                                   \
  X(ShiftLeft)                                             \
  X(ShiftRightLogical)                                     \
  X(ShiftRightArithmetic)                                  \
  X(SelectElse) /* A = M ? A : operand */                  \
  X(SelectThen) /* A = M ? operand : A */                  \
  X(CompareEq)  /* M = A == operand; A stays, and so on */ \
  X(CompareNe)                                             \
  X(CompareLt)                                             \
  X(CompareLe)                                             \
  X(CompareGt)                                             \
  X(CompareGe)                                             \
  X(IntegerEq)                                             \
  X(IntegerNe)                                             \
  X(SignedLt)                                              \
  X(SignedLe)                                              \
  X(SignedGt)                                              \
  X(SignedGe)                                              \
  X(UnsignedLt)                                            \
  X(UnsignedLe)                                            \
  X(UnsignedGt)                                            \
  X(UnsignedGe)
// X(name), without such an operand.
#define PJRT_CHAIN_OWN_OPS(X)                                                             \
  X(Store)       /* block at slot = A */                                                  \
  X(Save)        /* B = A */                                                              \
  X(StoreB)      /* block at slot = B */                                                  \
  X(LoadB)       /* B = block at slot */                                                  \
  X(MultiplyAdd) /* A = A * B + scalar at slot; the product is rounded, too */            \
  X(IntegerMultiplyAdd)                                                                   \
  X(Exchange)      /* A = B and B = A */                                                  \
  X(AddToB)        /* B = B + A; A stays, and so on */                                    \
  X(SubtractFromB) /* B = B - A */                                                        \
  X(MultiplyB)                                                                            \
  X(IntegerAddToB)                                                                        \
  X(IntegerSubtractFromB)                                                                 \
  X(IntegerMultiplyB)                                                                     \
  X(AndToB)                                                                               \
  X(OrToB)                                                                                \
  X(XorToB)                                                                               \
  X(ShiftBoth) /* A = A << scalar at slot | A >> scalar at the next instruction's slot */ \
  X(Negate)                                                                               \
  X(IntegerNegate)                                                                        \
  X(Not) /* integers */                                                                   \
  X(Abs)                                                                                  \
  X(Sqrt)                                                                                 \
  X(Rsqrt)                                                                                \
  X(Sign)                                                                                 \
  X(Floor)                                                                                \
  X(Ceil)                                                                                 \
  X(RoundEven)                                                                            \
  X(LoadBf16)  /* f32, to StoreBf16: A = bf16 block at slot */                            \
  X(RoundBf16) /* A = A rounded to bf16 */                                                \
  X(StoreBf16) /* bf16 block at slot = A rounded; A stays */                              \
  X(LoadF16)   /* likewise, to StoreF16 */                                                \
  X(RoundF16)                                                                             \
  X(StoreF16)                                                                             \
  X(FloatFromSigned) /* A = A converted, and so on, as BlockKernels::convert does */      \
  X(FloatFromUnsigned)                                                                    \
  X(SignedFromFloat)                                                                      \
  X(FloatFromMask) /* A = M ? 1 : 0 */                                                    \
  X(IntegerFromMask)                                                                      \
  X(LoadMask)  /* M = predicates at slot */                                               \
  X(StoreMask) /* predicates at slot = M */                                               \
  X(AndMask)   /* M = M and predicates at slot */                                         \
  X(OrMask)                                                                               \
  X(XorMask)                                                                              \
  X(NotMask) /* M = not M */                                                              \
  X(End)

// kShiftBoth is followed by an instruction that only says a slot.
enum class ChainOp : uint16_t {
#define PJRT_X(name) k##name##Block, k##name##Scalar, k##name##Saved,
  PJRT_CHAIN_OPERAND_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) k##name,
      PJRT_CHAIN_OWN_OPS(PJRT_X)
#undef PJRT_X
};

struct ChainInstr {
  ChainOp op = ChainOp::kEnd;
  int32_t slot = 0;  // of the operand or the result, where it is in memory
};

// Where a group of rows finds a block whose rows do not follow each other, in elements. A group has
// kChainVectors vectors, a row some of them, which may overlap. Of one element a row, and of one
// for all, each vector has its own place, too; shifts take one for all.
inline constexpr int kChainVectors = 8;
struct ChainRows {
  int64_t step = 0;                // from a group to the next one
  int64_t at[kChainVectors] = {};  // of each vector, from the group's beginning on
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_CHAIN_OPS_H_
