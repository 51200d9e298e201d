// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/scalar_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace pjrt::cpu {
namespace {

using O = ScalarOp;

template <typename T>
inline T Get(const uint64_t* r) {
  T value;
  std::memcpy(&value, r, sizeof(T));
  return value;
}
// The bytes above the value become 0, so that a register is always written whole.
template <typename T>
inline void Set(uint64_t* r, T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  *r = bits;
}

template <typename T>
inline T Divide(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    if (b == -1) return static_cast<T>(U{0} - static_cast<U>(a));
  }
  return a / b;
}
template <typename T>
inline T Remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return a % b;
}

// Towards zero: a negative number is rounded up.
template <typename T>
inline T DivideShift(T a, T shift) {
  using U = std::make_unsigned_t<T>;
  const U mask = (U{1} << shift) - 1;
  return static_cast<T>(static_cast<U>(a) + (static_cast<U>(a >> (8 * sizeof(T) - 1)) & mask)) >>
         shift;
}
template <typename T>
inline T RemainderMask(T a, T mask) {
  using U = std::make_unsigned_t<T>;
  const U up = static_cast<U>(a >> (8 * sizeof(T) - 1)) & static_cast<U>(mask);
  return static_cast<T>(((static_cast<U>(a) + up) & static_cast<U>(mask)) - up);
}

// NaN wins, the first of two; of zeros the maximum is the positive one.
template <typename T>
inline T Maximum(T a, T b) {
  if (a > b) return a;
  if (a < b) return b;
  if (a == b) return std::signbit(a) ? b : a;
  return a != a ? a : b;
}
template <typename T>
inline T Minimum(T a, T b) {
  if (a < b) return a;
  if (a > b) return b;
  if (a == b) return std::signbit(a) ? a : b;
  return a != a ? a : b;
}

// Without a jump, which could not be predicted.
inline uint64_t Chosen(bool yes, uint64_t a, uint64_t b) {
  return b ^ ((a ^ b) & (uint64_t{0} - uint64_t{yes}));
}

inline int64_t Offset(const uint64_t* r, const ScalarInstr& in) {
  return static_cast<int64_t>(r[in.b]);
}

inline uint64_t IndexAt(const uint64_t* r, const ScalarInstr& in, int64_t index) {
  const int64_t limit = static_cast<int64_t>(r[in.c]);
  const int64_t inside = index < 0 ? 0 : index > limit ? limit : index;
  return r[in.b] + static_cast<uint64_t>(in.u.imm) * static_cast<uint64_t>(inside);
}

template <typename T>
inline void Load(uint64_t* r, const ScalarInstr& in, int64_t offset) {
  const char* base = reinterpret_cast<const char*>(r[in.a]);
  Set<T>(&r[in.dst], Get<T>(reinterpret_cast<const uint64_t*>(base + offset)));
}
template <typename T>
inline void Store(const uint64_t* r, const ScalarInstr& in, int64_t offset, uint16_t value) {
  char* base = reinterpret_cast<char*>(r[in.a]);
  std::memcpy(base + offset, &r[value], sizeof(T));
}

// The operations of instructions that do two, on operands of one type.
template <typename T>
inline T Add(T x, T y) {
  return x + y;
}
template <typename T>
inline T Sub(T x, T y) {
  return x - y;
}
template <typename T>
inline T SubFrom(T x, T y) {
  return y - x;
}
template <typename T>
inline T Mul(T x, T y) {
  return x * y;
}
template <typename T>
inline T Div(T x, T y) {
  return x / y;
}
template <typename T>
inline T DivInto(T x, T y) {
  return y / x;
}
template <typename T>
inline T And(T x, T y) {
  return x & y;
}
template <typename T>
inline T Or(T x, T y) {
  return x | y;
}
template <typename T>
inline T Xor(T x, T y) {
  return x ^ y;
}
template <typename T>
inline T Shl(T x, T y) {
  constexpr T kBits = 8 * sizeof(T);
  return y < kBits ? x << (y & (kBits - 1)) : 0;
}
template <typename T>
inline T Shr(T x, T y) {
  constexpr T kBits = 8 * sizeof(T);
  return y < kBits ? x >> (y & (kBits - 1)) : 0;
}

// Where the index `x` of an indexed instruction leads, beside register `sum`.
inline int64_t Indexed(const uint64_t* r, const ScalarInstr& in, int64_t x, uint16_t sum) {
  const int64_t limit = static_cast<int64_t>(r[in.c]);
  const int64_t inside = x < 0 ? 0 : x > limit ? limit : x;
  return in.u.at.offset + static_cast<int64_t>(r[sum]) + in.u.at.scale * inside;
}
inline int64_t Scaled(const uint64_t* r, const ScalarInstr& in) {
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(in.u.at.scale)) * r[in.b] +
                              r[in.c]) +
         in.u.at.offset;
}

// Runs `code`, or with `targets` tells where the instructions of each op begin.
//
// Each instruction ends with a jump of its own to the next one's code: the processor then predicts
// what follows an instruction, where it could not predict what one common jump goes to. The result
// of a float operation stays in a variable, too, for the next instruction.
void Interpret(const ScalarInstr* code, uint64_t* r, const void* const** targets) {
  static const void* const kTargets[] = {
#define PJRT_X(name, ...) &&L_##name,
      PJRT_SCALAR_BINARY_OPS(PJRT_X) PJRT_SCALAR_UNARY_OPS(PJRT_X) PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name, ...) &&L_JumpIf##name, &&L_JumpUnless##name,
          PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name, ...) &&L_Select##name,
              PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) &&L_##first##Then##second##F32,
                  PJRT_SCALAR_FLOAT_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) &&L_##first##Then##second##F64,
                      PJRT_SCALAR_FLOAT_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) &&L_##first##Then##second##32,
                          PJRT_SCALAR_INTEGER_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) &&L_##first##Then##second##64,
                              PJRT_SCALAR_INTEGER_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) &&L_Last##name##F32,
                                  PJRT_SCALAR_FLOAT_CHAINED(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) &&L_Last##name##F64,
                                      PJRT_SCALAR_FLOAT_CHAINED(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) &&L_Last##first##Then##second##F32,
                                          PJRT_SCALAR_FLOAT_CHAINED_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second) &&L_Last##first##Then##second##F64,
                                              PJRT_SCALAR_FLOAT_CHAINED_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name) &&L_##name,
                                                  PJRT_SCALAR_OTHER_OPS(PJRT_X)
#undef PJRT_X
  };
  if (targets != nullptr) {
    *targets = kTargets;
    return;
  }
  const ScalarInstr* in = code;
  float last_f32 = 0;
  double last_f64 = 0;
#define PJRT_DISPATCH() goto*(in->code)
#define PJRT_NEXT() \
  ++in;             \
  PJRT_DISPATCH()
#define PJRT_TAKE() \
  in += in->u.imm;  \
  PJRT_DISPATCH()
  PJRT_DISPATCH();

// What a float operation leaves for the next instruction.
#define PJRT_KEEP_float(value) last_f32 = value;
#define PJRT_KEEP_double(value) last_f64 = value;
#define PJRT_KEEP_uint8_t(value)
#define PJRT_KEEP_int32_t(value)
#define PJRT_KEEP_uint32_t(value)
#define PJRT_KEEP_int64_t(value)
#define PJRT_KEEP_uint64_t(value)
#define PJRT_X(name, T, R, expression)                    \
  L_##name : {                                            \
    const T x = Get<T>(&r[in->a]), y = Get<T>(&r[in->b]); \
    const R result = static_cast<R>(expression);          \
    PJRT_KEEP_##R(result);                                \
    Set<R>(&r[in->dst], result);                          \
    PJRT_NEXT();                                          \
  }
  PJRT_SCALAR_BINARY_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name, T, R, expression)           \
  L_##name : {                                   \
    const T x = Get<T>(&r[in->a]);               \
    const R result = static_cast<R>(expression); \
    PJRT_KEEP_##R(result);                       \
    Set<R>(&r[in->dst], result);                 \
    PJRT_NEXT();                                 \
  }
  PJRT_SCALAR_UNARY_OPS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name, T, expression)                       \
  L_##name : {                                            \
    const T x = Get<T>(&r[in->a]), y = Get<T>(&r[in->b]); \
    r[in->dst] = (expression) ? 1 : 0;                    \
    PJRT_NEXT();                                          \
  }                                                       \
  L_JumpIf##name : {                                      \
    const T x = Get<T>(&r[in->a]), y = Get<T>(&r[in->b]); \
    if (expression) {                                     \
      PJRT_TAKE();                                        \
    }                                                     \
    PJRT_NEXT();                                          \
  }                                                       \
  L_JumpUnless##name : {                                  \
    const T x = Get<T>(&r[in->a]), y = Get<T>(&r[in->b]); \
    if (!(expression)) {                                  \
      PJRT_TAKE();                                        \
    }                                                     \
    PJRT_NEXT();                                          \
  }                                                       \
  L_Select##name : {                                      \
    const T x = Get<T>(&r[in->a]), y = Get<T>(&r[in->b]); \
    r[in->dst] = Chosen(expression, r[in->c], r[in->d]);  \
    PJRT_NEXT();                                          \
  }
  PJRT_SCALAR_COMPARE_OPS(PJRT_X)
#undef PJRT_X

// Of `first` and the result that it makes of x and y, `second` with register c.
#define PJRT_PAIR(label, T, first, second, x, y)                   \
  label : {                                                        \
    const T result = second<T>(first<T>(x, y), Get<T>(&r[in->c])); \
    PJRT_KEEP_##T(result);                                         \
    Set<T>(&r[in->dst], result);                                   \
    PJRT_NEXT();                                                   \
  }
#define PJRT_A(T) Get<T>(&r[in->a])
#define PJRT_B(T) Get<T>(&r[in->b])
#define PJRT_X(first, second)                                                                 \
  PJRT_PAIR(L_##first##Then##second##F32, float, first, second, PJRT_A(float), PJRT_B(float)) \
  PJRT_PAIR(L_##first##Then##second##F64, double, first, second, PJRT_A(double), PJRT_B(double))
  PJRT_SCALAR_FLOAT_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second)                                                                \
  PJRT_PAIR(L_Last##first##Then##second##F32, float, first, second, last_f32, PJRT_B(float)) \
  PJRT_PAIR(L_Last##first##Then##second##F64, double, first, second, last_f64, PJRT_B(double))
  PJRT_SCALAR_FLOAT_CHAINED_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(first, second)                                                       \
  PJRT_PAIR(L_##first##Then##second##32, uint32_t, first, second, PJRT_A(uint32_t), \
            PJRT_B(uint32_t))                                                       \
  PJRT_PAIR(L_##first##Then##second##64, uint64_t, first, second, PJRT_A(uint64_t), \
            PJRT_B(uint64_t))
  PJRT_SCALAR_INTEGER_PAIRS(PJRT_X)
#undef PJRT_X
#define PJRT_X(name)                                   \
  L_Last##name##F32 : {                                \
    last_f32 = name<float>(last_f32, PJRT_B(float));   \
    Set<float>(&r[in->dst], last_f32);                 \
    PJRT_NEXT();                                       \
  }                                                    \
  L_Last##name##F64 : {                                \
    last_f64 = name<double>(last_f64, PJRT_B(double)); \
    Set<double>(&r[in->dst], last_f64);                \
    PJRT_NEXT();                                       \
  }
  PJRT_SCALAR_FLOAT_CHAINED(PJRT_X)
#undef PJRT_X

L_Select:
  r[in->dst] = Chosen(Get<uint8_t>(&r[in->a]) != 0, r[in->b], r[in->c]);
  PJRT_NEXT();
L_CallOp:
  in->u.op(&r[in->dst], &r[in->a], &r[in->b], nullptr, 1);
  last_f32 = 0;
  last_f64 = 0;
  PJRT_NEXT();
L_CallTernary:
  in->u.op(&r[in->dst], &r[in->a], &r[in->b], &r[in->c], 1);
  last_f32 = 0;
  last_f64 = 0;
  PJRT_NEXT();
L_CallConvert:
  in->u.convert(&r[in->dst], &r[in->a], 1);
  last_f32 = 0;
  last_f64 = 0;
  PJRT_NEXT();
L_Jump:
  PJRT_TAKE();
L_JumpIf:
  if (Get<uint8_t>(&r[in->a]) != 0) {
    PJRT_TAKE();
  }
  PJRT_NEXT();
L_JumpUnless:
  if (Get<uint8_t>(&r[in->a]) == 0) {
    PJRT_TAKE();
  }
  PJRT_NEXT();
#define PJRT_X(bits)                                                             \
  L_AddJumpIfLtS##bits : {                                                       \
    const uint##bits##_t sum = PJRT_A(uint##bits##_t) + PJRT_B(uint##bits##_t);  \
    Set<uint##bits##_t>(&r[in->dst], sum);                                       \
    if (static_cast<int##bits##_t>(sum) < Get<int##bits##_t>(&r[in->c])) {       \
      PJRT_TAKE();                                                               \
    }                                                                            \
    PJRT_NEXT();                                                                 \
  }                                                                              \
  L_WrapS##bits : {                                                              \
    const uint##bits##_t x = PJRT_A(uint##bits##_t);                             \
    const uint##bits##_t sign = x >> (bits - 1);                                 \
    Set<uint##bits##_t>(&r[in->dst], x + (PJRT_B(uint##bits##_t) & (0 - sign))); \
    PJRT_NEXT();                                                                 \
  }
  PJRT_X(32)
  PJRT_X(64)
#undef PJRT_X
L_Switch : {
  const int64_t number = Get<int32_t>(&r[in->a]);
  in += number >= 0 && number < in->u.imm ? number + 1 : in->u.imm;
  PJRT_DISPATCH();
}
#define PJRT_X(bits)                                                                             \
  L_Load##bits : Load<uint##bits##_t>(r, *in, in->u.imm);                                        \
  PJRT_NEXT();                                                                                   \
  L_Store##bits : Store<uint##bits##_t>(r, *in, in->u.imm, in->b);                               \
  PJRT_NEXT();                                                                                   \
  L_LoadAt##bits : Load<uint##bits##_t>(r, *in, in->u.imm + Offset(r, *in));                     \
  PJRT_NEXT();                                                                                   \
  L_StoreAt##bits : Store<uint##bits##_t>(r, *in, in->u.imm + Offset(r, *in), in->c);            \
  PJRT_NEXT();                                                                                   \
  L_LoadScaled##bits : Load<uint##bits##_t>(r, *in, Scaled(r, *in));                             \
  PJRT_NEXT();                                                                                   \
  L_StoreScaled##bits : Store<uint##bits##_t>(r, *in, Scaled(r, *in), in->d);                    \
  PJRT_NEXT();                                                                                   \
  L_LoadIndexS32x##bits : Load<uint##bits##_t>(r, *in, Indexed(r, *in, PJRT_B(int32_t), in->d)); \
  PJRT_NEXT();                                                                                   \
  L_LoadIndexS64x##bits : Load<uint##bits##_t>(r, *in, Indexed(r, *in, PJRT_B(int64_t), in->d)); \
  PJRT_NEXT();                                                                                   \
  L_StoreIndexS32x##bits                                                                         \
      : Store<uint##bits##_t>(r, *in, Indexed(r, *in, PJRT_B(int32_t), in->d), in->dst);         \
  PJRT_NEXT();                                                                                   \
  L_StoreIndexS64x##bits                                                                         \
      : Store<uint##bits##_t>(r, *in, Indexed(r, *in, PJRT_B(int64_t), in->d), in->dst);         \
  PJRT_NEXT();
  PJRT_X(8)
  PJRT_X(16)
  PJRT_X(32)
  PJRT_X(64)
#undef PJRT_X
#define PJRT_X(name, T)                                                                  \
  L_Index##name : r[in->dst] = IndexAt(r, *in, static_cast<int64_t>(Get<T>(&r[in->a]))); \
  PJRT_NEXT();
  PJRT_X(S32, int32_t)
  PJRT_X(S64, int64_t)
  PJRT_X(U32, uint32_t)
#undef PJRT_X
L_IndexU64:
  // A number beyond an s64 is beyond any array.
  r[in->dst] = IndexAt(r, *in, static_cast<int64_t>(std::min<uint64_t>(r[in->a], INT64_MAX)));
  PJRT_NEXT();
L_MulAdd:
  r[in->dst] = r[in->a] * static_cast<uint64_t>(in->u.imm) + r[in->b];
  PJRT_NEXT();
L_End:
  return;
#undef PJRT_A
#undef PJRT_B
#undef PJRT_PAIR
#undef PJRT_TAKE
#undef PJRT_NEXT
#undef PJRT_DISPATCH
}

}  // namespace

void LinkScalarCode(absl::Span<ScalarInstr> code) {
  const void* const* targets = nullptr;
  Interpret(nullptr, nullptr, &targets);
  for (ScalarInstr& in : code) in.code = targets[static_cast<int>(in.op)];
}

void RunScalarCode(const ScalarInstr* code, uint64_t* registers) {
  Interpret(code, registers, nullptr);
}

std::optional<ScalarOpChoice> FindScalarOp(BlockOp op, CType type) {
  constexpr O kNone = O::kEnd;
  struct Row {
    BlockOp op;
    O pred, s32, u32, s64, u64, f32, f64;
    bool swap = false;
  };
  static constexpr Row kRows[] = {
      {BlockOp::kAdd, O::kOr, O::kAdd32, O::kAdd32, O::kAdd64, O::kAdd64, O::kAddF32, O::kAddF64},
      {BlockOp::kSubtract, kNone, O::kSub32, O::kSub32, O::kSub64, O::kSub64, O::kSubF32,
       O::kSubF64},
      {BlockOp::kMultiply, O::kAnd, O::kMul32, O::kMul32, O::kMul64, O::kMul64, O::kMulF32,
       O::kMulF64},
      {BlockOp::kDivide, kNone, O::kDivS32, O::kDivU32, O::kDivS64, O::kDivU64, O::kDivF32,
       O::kDivF64},
      {BlockOp::kRemainder, kNone, O::kRemS32, O::kRemU32, O::kRemS64, O::kRemU64, kNone, kNone},
      {BlockOp::kMaximum, O::kOr, O::kMaxS32, O::kMaxU32, O::kMaxS64, O::kMaxU64, O::kMaxF32,
       O::kMaxF64},
      {BlockOp::kMinimum, O::kAnd, O::kMinS32, O::kMinU32, O::kMinS64, O::kMinU64, O::kMinF32,
       O::kMinF64},
      {BlockOp::kAnd, O::kAnd, O::kAnd, O::kAnd, O::kAnd, O::kAnd, kNone, kNone},
      {BlockOp::kOr, O::kOr, O::kOr, O::kOr, O::kOr, O::kOr, kNone, kNone},
      {BlockOp::kXor, O::kXor, O::kXor, O::kXor, O::kXor, O::kXor, kNone, kNone},
      {BlockOp::kShiftLeft, kNone, O::kShl32, O::kShl32, O::kShl64, O::kShl64, kNone, kNone},
      {BlockOp::kShiftRightLogical, kNone, O::kShr32, O::kShr32, O::kShr64, O::kShr64, kNone,
       kNone},
      {BlockOp::kShiftRightArithmetic, kNone, O::kSar32, O::kSar32, O::kSar64, O::kSar64, kNone,
       kNone},
      {BlockOp::kCompareEq, O::kEq8, O::kEq32, O::kEq32, O::kEq64, O::kEq64, O::kEqF32, O::kEqF64},
      {BlockOp::kCompareNe, O::kNe8, O::kNe32, O::kNe32, O::kNe64, O::kNe64, O::kNeF32, O::kNeF64},
      {BlockOp::kCompareLt, O::kLtU8, O::kLtS32, O::kLtU32, O::kLtS64, O::kLtU64, O::kLtF32,
       O::kLtF64},
      {BlockOp::kCompareLe, O::kLeU8, O::kLeS32, O::kLeU32, O::kLeS64, O::kLeU64, O::kLeF32,
       O::kLeF64},
      {BlockOp::kCompareGt, O::kLtU8, O::kLtS32, O::kLtU32, O::kLtS64, O::kLtU64, O::kLtF32,
       O::kLtF64, /*swap=*/true},
      {BlockOp::kCompareGe, O::kLeU8, O::kLeS32, O::kLeU32, O::kLeS64, O::kLeU64, O::kLeF32,
       O::kLeF64, /*swap=*/true},
      {BlockOp::kNegate, kNone, O::kNeg32, O::kNeg32, O::kNeg64, O::kNeg64, O::kNegF32, O::kNegF64},
      {BlockOp::kNot, O::kNotPred, O::kNot, O::kNot, O::kNot, O::kNot, kNone, kNone},
      {BlockOp::kAbs, kNone, O::kAbsS32, kNone, O::kAbsS64, kNone, O::kAbsF32, O::kAbsF64},
      {BlockOp::kSign, kNone, O::kSignS32, kNone, O::kSignS64, kNone, kNone, kNone},
      {BlockOp::kSqrt, kNone, kNone, kNone, kNone, kNone, O::kSqrtF32, O::kSqrtF64},
      {BlockOp::kCopy, O::kMove, O::kMove, O::kMove, O::kMove, O::kMove, O::kMove, O::kMove},
      {BlockOp::kSelect, O::kSelect, O::kSelect, O::kSelect, O::kSelect, O::kSelect, O::kSelect,
       O::kSelect},
  };
  for (const Row& row : kRows) {
    if (row.op != op) continue;
    O chosen = kNone;
    switch (type) {
      case CType::kPred:
        chosen = row.pred;
        break;
      case CType::kS32:
        chosen = row.s32;
        break;
      case CType::kU32:
        chosen = row.u32;
        break;
      case CType::kS64:
        chosen = row.s64;
        break;
      case CType::kU64:
        chosen = row.u64;
        break;
      case CType::kF32:
        chosen = row.f32;
        break;
      case CType::kF64:
        chosen = row.f64;
        break;
      default:
        if (op == BlockOp::kSelect || op == BlockOp::kCopy || op == BlockOp::kAnd ||
            op == BlockOp::kOr || op == BlockOp::kXor)
          chosen = row.u64;
    }
    if (chosen == kNone) return std::nullopt;
    return ScalarOpChoice{chosen, row.swap};
  }
  return std::nullopt;
}

std::optional<ScalarOp> FindScalarConvert(CType to, CType from) {
  const bool to32 = to == CType::kS32 || to == CType::kU32;
  const bool to64 = to == CType::kS64 || to == CType::kU64;
  switch (from) {
    case CType::kPred:
      if (to == CType::kF32) return O::kPredToF32;
      if (to == CType::kF64) return O::kPredToF64;
      if (static_cast<int>(to) <= static_cast<int>(CType::kU64)) return O::kWidenPred;
      break;
    case CType::kS32:
      if (to32) return O::kMove;
      if (to64) return O::kWidenS32;
      if (to == CType::kF32) return O::kS32ToF32;
      if (to == CType::kF64) return O::kS32ToF64;
      break;
    case CType::kU32:
      if (to32) return O::kMove;
      if (to64) return O::kWidenU32;
      if (to == CType::kF32) return O::kU32ToF32;
      if (to == CType::kF64) return O::kU32ToF64;
      break;
    case CType::kS64:
      if (to == CType::kF32) return O::kS64ToF32;
      if (to == CType::kF64) return O::kS64ToF64;
      [[fallthrough]];
    case CType::kU64:
      if (to32 || to64) return O::kMove;
      break;
    case CType::kF32:
      if (to == CType::kF64) return O::kF32ToF64;
      break;
    case CType::kF64:
      if (to == CType::kF32) return O::kF64ToF32;
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::optional<ScalarOp> CompareAsJump(ScalarOp op, bool when) {
  constexpr int kFirst = static_cast<int>(ScalarOp::kEq8);
  constexpr int kFirstJump = static_cast<int>(ScalarOp::kJumpIfEq8);
  const int number = static_cast<int>(op) - kFirst;
  if (number < 0 || kFirst + number >= kFirstJump) return std::nullopt;
  return static_cast<ScalarOp>(kFirstJump + 2 * number + (when ? 0 : 1));
}

}  // namespace pjrt::cpu
