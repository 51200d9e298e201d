// SPDX-License-Identifier: Apache-2.0
//
// Programs over single elements: what runs loops whose bodies compute a few scalars. A program is a
// list of instructions with jumps over registers of 64 bits; an instruction takes a nanosecond or
// two, where a loop program, made for blocks, takes some fifty for one element.
//
// A value stands in the low bytes of its register, in the representation of its type; what the
// bytes above hold is undefined.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_PROGRAM_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_PROGRAM_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

// X(name, operand type, result type, expression of x and y). The expressions give the bits that the
// block kernels give. DivShift divides by 2^y, RemMask by y + 1, a power of two.
#define PJRT_SCALAR_BINARY_OPS(X)                              \
  X(Add32, uint32_t, uint32_t, x + y)                          \
  X(Add64, uint64_t, uint64_t, x + y)                          \
  X(AddF32, float, float, x + y)                               \
  X(AddF64, double, double, x + y)                             \
  X(Sub32, uint32_t, uint32_t, x - y)                          \
  X(Sub64, uint64_t, uint64_t, x - y)                          \
  X(SubF32, float, float, x - y)                               \
  X(SubF64, double, double, x - y)                             \
  X(Mul32, uint32_t, uint32_t, x* y)                           \
  X(Mul64, uint64_t, uint64_t, x* y)                           \
  X(MulF32, float, float, x* y)                                \
  X(MulF64, double, double, x* y)                              \
  X(DivS32, int32_t, int32_t, Divide(x, y))                    \
  X(DivU32, uint32_t, uint32_t, Divide(x, y))                  \
  X(DivS64, int64_t, int64_t, Divide(x, y))                    \
  X(DivU64, uint64_t, uint64_t, Divide(x, y))                  \
  X(DivF32, float, float, x / y)                               \
  X(DivF64, double, double, x / y)                             \
  X(RemS32, int32_t, int32_t, Remainder(x, y))                 \
  X(RemU32, uint32_t, uint32_t, Remainder(x, y))               \
  X(RemS64, int64_t, int64_t, Remainder(x, y))                 \
  X(RemU64, uint64_t, uint64_t, Remainder(x, y))               \
  X(DivShiftS32, int32_t, int32_t, DivideShift(x, y))          \
  X(DivShiftS64, int64_t, int64_t, DivideShift(x, y))          \
  X(RemMaskS32, int32_t, int32_t, RemainderMask(x, y))         \
  X(RemMaskS64, int64_t, int64_t, RemainderMask(x, y))         \
  X(MaxS32, int32_t, int32_t, x > y ? x : y)                   \
  X(MaxU32, uint32_t, uint32_t, x > y ? x : y)                 \
  X(MaxS64, int64_t, int64_t, x > y ? x : y)                   \
  X(MaxU64, uint64_t, uint64_t, x > y ? x : y)                 \
  X(MaxF32, float, float, Maximum(x, y))                       \
  X(MaxF64, double, double, Maximum(x, y))                     \
  X(MinS32, int32_t, int32_t, x < y ? x : y)                   \
  X(MinU32, uint32_t, uint32_t, x < y ? x : y)                 \
  X(MinS64, int64_t, int64_t, x < y ? x : y)                   \
  X(MinU64, uint64_t, uint64_t, x < y ? x : y)                 \
  X(MinF32, float, float, Minimum(x, y))                       \
  X(MinF64, double, double, Minimum(x, y))                     \
  X(And, uint64_t, uint64_t, x& y)                             \
  X(Or, uint64_t, uint64_t, x | y)                             \
  X(Xor, uint64_t, uint64_t, x ^ y)                            \
  X(Shl32, uint32_t, uint32_t, y < 32 ? x << (y & 31) : 0)     \
  X(Shl64, uint64_t, uint64_t, y < 64 ? x << (y & 63) : 0)     \
  X(Shr32, uint32_t, uint32_t, y < 32 ? x >> (y & 31) : 0)     \
  X(Shr64, uint64_t, uint64_t, y < 64 ? x >> (y & 63) : 0)     \
  X(Sar32, uint32_t, int32_t, int32_t(x) >> (y < 32 ? y : 31)) \
  X(Sar64, uint64_t, int64_t, int64_t(x) >> (y < 64 ? y : 63))

// X(name, operand type, expression): results are 0 or 1. Each has two forms that jump, when it
// holds and when it does not, and one that selects: dst = a compares with b ? c : d.
#define PJRT_SCALAR_COMPARE_OPS(X) \
  X(Eq8, uint8_t, x == y)          \
  X(Eq32, uint32_t, x == y)        \
  X(Eq64, uint64_t, x == y)        \
  X(EqF32, float, x == y)          \
  X(EqF64, double, x == y)         \
  X(Ne8, uint8_t, x != y)          \
  X(Ne32, uint32_t, x != y)        \
  X(Ne64, uint64_t, x != y)        \
  X(NeF32, float, x != y)          \
  X(NeF64, double, x != y)         \
  X(LtU8, uint8_t, x < y)          \
  X(LtS32, int32_t, x < y)         \
  X(LtU32, uint32_t, x < y)        \
  X(LtS64, int64_t, x < y)         \
  X(LtU64, uint64_t, x < y)        \
  X(LtF32, float, x < y)           \
  X(LtF64, double, x < y)          \
  X(LeU8, uint8_t, x <= y)         \
  X(LeS32, int32_t, x <= y)        \
  X(LeU32, uint32_t, x <= y)       \
  X(LeS64, int64_t, x <= y)        \
  X(LeU64, uint64_t, x <= y)       \
  X(LeF32, float, x <= y)          \
  X(LeF64, double, x <= y)

// X(name, operand type, result type, expression of x).
#define PJRT_SCALAR_UNARY_OPS(X)                                      \
  X(Move, uint64_t, uint64_t, x)                                      \
  X(Neg32, uint32_t, uint32_t, 0 - x)                                 \
  X(Neg64, uint64_t, uint64_t, 0 - x)                                 \
  X(NegF32, float, float, -x)                                         \
  X(NegF64, double, double, -x)                                       \
  X(Not, uint64_t, uint64_t, ~x)                                      \
  X(NotPred, uint8_t, uint8_t, x ^ 1)                                 \
  X(AbsS32, int32_t, uint32_t, x < 0 ? 0 - uint32_t(x) : uint32_t(x)) \
  X(AbsS64, int64_t, uint64_t, x < 0 ? 0 - uint64_t(x) : uint64_t(x)) \
  X(AbsF32, uint32_t, uint32_t, x & 0x7fffffffu)                      \
  X(AbsF64, uint64_t, uint64_t, x & 0x7fffffffffffffffu)              \
  X(SignS32, int32_t, int32_t, (x > 0) - (x < 0))                     \
  X(SignS64, int64_t, int64_t, (x > 0) - (x < 0))                     \
  X(SqrtF32, float, float, std::sqrt(x))                              \
  X(SqrtF64, double, double, std::sqrt(x))                            \
  X(WidenPred, uint8_t, uint64_t, x)                                  \
  X(WidenS32, int32_t, int64_t, x)                                    \
  X(WidenU32, uint32_t, uint64_t, x)                                  \
  X(PredToF32, uint8_t, float, float(x))                              \
  X(PredToF64, uint8_t, double, double(x))                            \
  X(S32ToF32, int32_t, float, float(x))                               \
  X(S32ToF64, int32_t, double, double(x))                             \
  X(U32ToF32, uint32_t, float, float(x))                              \
  X(U32ToF64, uint32_t, double, double(x))                            \
  X(S64ToF32, int64_t, float, float(x))                               \
  X(S64ToF64, int64_t, double, double(x))                             \
  X(F32ToF64, float, double, double(x))                               \
  X(F64ToF32, double, float, float(x))

// Two operations on numbers in one instruction: dst = second(first(a, b), c), each rounded as it is
// alone. X(first, second) for floats and for integers; a second one called From or Into has its
// operands swapped.
#define PJRT_SCALAR_FLOAT_SECONDS(X, first) \
  X(first, Add) X(first, Sub) X(first, SubFrom) X(first, Mul) X(first, Div) X(first, DivInto)
#define PJRT_SCALAR_FLOAT_PAIRS(X)  \
  PJRT_SCALAR_FLOAT_SECONDS(X, Add) \
  PJRT_SCALAR_FLOAT_SECONDS(X, Sub) \
  PJRT_SCALAR_FLOAT_SECONDS(X, Mul) \
  PJRT_SCALAR_FLOAT_SECONDS(X, Div)
#define PJRT_SCALAR_INTEGER_SECONDS(X, first) \
  X(first, Add)                               \
  X(first, Sub)                               \
  X(first, SubFrom)                           \
  X(first, Mul) X(first, And) X(first, Or) X(first, Xor) X(first, Shl) X(first, Shr)
#define PJRT_SCALAR_INTEGER_PAIRS(X)  \
  PJRT_SCALAR_INTEGER_SECONDS(X, Add) \
  PJRT_SCALAR_INTEGER_SECONDS(X, Sub) \
  PJRT_SCALAR_INTEGER_SECONDS(X, Mul) \
  PJRT_SCALAR_INTEGER_SECONDS(X, And) \
  PJRT_SCALAR_INTEGER_SECONDS(X, Or)  \
  PJRT_SCALAR_INTEGER_SECONDS(X, Xor) \
  PJRT_SCALAR_INTEGER_SECONDS(X, Shl) \
  PJRT_SCALAR_INTEGER_SECONDS(X, Shr)
// What a float operation can do to the last one's result in the place of operand a, which spares
// the way through a register: that takes longer than the operation.
#define PJRT_SCALAR_FLOAT_CHAINED(X) X(Add) X(Sub) X(SubFrom) X(Mul) X(Div) X(DivInto)
#define PJRT_SCALAR_FLOAT_CHAINED_PAIRS(X) \
  PJRT_SCALAR_FLOAT_SECONDS(X, Add)        \
  PJRT_SCALAR_FLOAT_SECONDS(X, Sub)        \
  PJRT_SCALAR_FLOAT_SECONDS(X, SubFrom)    \
  PJRT_SCALAR_FLOAT_SECONDS(X, Mul)        \
  PJRT_SCALAR_FLOAT_SECONDS(X, Div)        \
  PJRT_SCALAR_FLOAT_SECONDS(X, DivInto)

#define PJRT_SCALAR_OTHER_OPS(X)                                                                  \
  X(Select)      /* dst = a (a predicate) ? b : c */                                              \
  X(CallOp)      /* u.op(dst, a, b, null, 1) */                                                   \
  X(CallTernary) /* u.op(dst, a, b, c, 1) */                                                      \
  X(CallConvert) /* u.convert(dst, a, 1) */                                                       \
  X(Jump)        /* by u.imm instructions */                                                      \
  X(JumpIf)      /* when the predicate a holds */                                                 \
  X(JumpUnless)  /* when it does not */                                                           \
  X(Switch)      /* to number a, an s32, of the u.imm instructions that follow, or to the last */ \
  X(Load8)       /* dst = the bytes at pointer a + u.imm */                                       \
  X(Load16)                                                                                       \
  X(Load32)                                                                                       \
  X(Load64)                                                                                       \
  X(Store8) /* the bytes at pointer a + u.imm = b */                                              \
  X(Store16)                                                                                      \
  X(Store32)                                                                                      \
  X(Store64)                                                                                      \
  X(LoadAt8) /* dst = the bytes at pointer a + offset b + u.imm */                                \
  X(LoadAt16)                                                                                     \
  X(LoadAt32)                                                                                     \
  X(LoadAt64)                                                                                     \
  X(StoreAt8) /* the bytes at pointer a + offset b + u.imm = c */                                 \
  X(StoreAt16)                                                                                    \
  X(StoreAt32)                                                                                    \
  X(StoreAt64)                                                                                    \
  X(IndexS32) /* dst = b + u.imm * (a clamped to [0, c]); b and c are s64 */                      \
  X(IndexS64)                                                                                     \
  X(IndexU32)                                                                                     \
  X(IndexU64)                                                                                     \
  X(MulAdd)          /* dst = a * u.imm + b, s64 */                                               \
  X(LoadIndexS32x8)  /* dst = the bytes at pointer a + u.at.offset + d + u.at.scale * (b */       \
  X(LoadIndexS32x16) /* clamped to [0, c]); c and d are s64 */                                    \
  X(LoadIndexS32x32)                                                                              \
  X(LoadIndexS32x64)                                                                              \
  X(LoadIndexS64x8)                                                                               \
  X(LoadIndexS64x16)                                                                              \
  X(LoadIndexS64x32)                                                                              \
  X(LoadIndexS64x64)                                                                              \
  X(StoreIndexS32x8) /* the bytes there = dst, which is read */                                   \
  X(StoreIndexS32x16)                                                                             \
  X(StoreIndexS32x32)                                                                             \
  X(StoreIndexS32x64)                                                                             \
  X(StoreIndexS64x8)                                                                              \
  X(StoreIndexS64x16)                                                                             \
  X(StoreIndexS64x32)                                                                             \
  X(StoreIndexS64x64)                                                                             \
  X(LoadScaled8) /* dst = the bytes at pointer a + u.at.offset + c + u.at.scale * b, s64 */       \
  X(LoadScaled16)                                                                                 \
  X(LoadScaled32)                                                                                 \
  X(LoadScaled64)                                                                                 \
  X(StoreScaled8) /* the bytes there = d */                                                       \
  X(StoreScaled16)                                                                                \
  X(StoreScaled32)                                                                                \
  X(StoreScaled64)                                                                                \
  X(WrapS32) /* dst = a < 0 ? a + b : a */                                                        \
  X(WrapS64)                                                                                      \
  X(AddJumpIfLtS32) /* dst = a + b, then jump by u.imm when that is below c */                    \
  X(AddJumpIfLtS64)                                                                               \
  X(End)

enum class ScalarOp : uint16_t {
#define PJRT_X(name, ...) k##name,
  PJRT_SCALAR_BINARY_OPS(PJRT_X) PJRT_SCALAR_UNARY_OPS(PJRT_X) PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name, ...) kJumpIf##name, kJumpUnless##name,
      PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name, ...) kSelect##name,
          PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) k##first##Then##second##F32,
              PJRT_SCALAR_FLOAT_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) k##first##Then##second##F64,
                  PJRT_SCALAR_FLOAT_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) k##first##Then##second##32,
                      PJRT_SCALAR_INTEGER_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) k##first##Then##second##64,
                          PJRT_SCALAR_INTEGER_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) kLast##name##F32,
                              PJRT_SCALAR_FLOAT_CHAINED(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) kLast##name##F64,
                                  PJRT_SCALAR_FLOAT_CHAINED(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) kLast##first##Then##second##F32,
                                      PJRT_SCALAR_FLOAT_CHAINED_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) kLast##first##Then##second##F64,
                                          PJRT_SCALAR_FLOAT_CHAINED_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) k##name,
                                              PJRT_SCALAR_OTHER_OPS(PJRT_X)
#undef PJRT_X
};

struct ScalarInstr {
  const void* code = nullptr;  // of the interpreter, for `op`: see LinkScalarCode
  ScalarOp op = ScalarOp::kEnd;
  uint16_t dst = 0, a = 0, b = 0, c = 0, d = 0;  // registers
  union {
    int64_t imm;
    struct {
      int32_t scale, offset;
    } at;
    BlockFn op;
    ConvertFn convert;
  } u = {0};
};

// Makes code ready to run: to be called when its instructions are final.
void LinkScalarCode(absl::Span<ScalarInstr> code);
// Runs linked `code`, which ends with kEnd, on `registers`.
void RunScalarCode(const ScalarInstr* code, uint64_t* registers);

// The instruction for a loop program's op on operands of `type`; nullopt where there is none, and a
// block kernel must be called. `swap`: with a and b swapped.
struct ScalarOpChoice {
  ScalarOp op;
  bool swap = false;
};
std::optional<ScalarOpChoice> FindScalarOp(BlockOp op, CType type);
// The same for a conversion.
std::optional<ScalarOp> FindScalarConvert(CType to, CType from);

// The comparison `op` as a jump when it holds, or when it does not; nullopt for other ops.
std::optional<ScalarOp> CompareAsJump(ScalarOp op, bool when);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_PROGRAM_H_
