// SPDX-License-Identifier: Apache-2.0
//
// Mathematical functions of f64, by the C library's.
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#define PJRT_C_FUNCTION(Name, function)                           \
  struct Name {                                                   \
    PJRT_INLINE double Run(double x) { return function(x); }      \
  };
#define PJRT_C_FUNCTION_2(Name, function)                                                \
  struct Name {                                                                          \
    PJRT_INLINE double Run(double x, double y) { return function(x, y); }                \
  };
PJRT_C_FUNCTION(Exp, __builtin_exp)
PJRT_C_FUNCTION(Expm1, __builtin_expm1)
PJRT_C_FUNCTION(Log, __builtin_log)
PJRT_C_FUNCTION(Log1p, __builtin_log1p)
PJRT_C_FUNCTION(Tanh, __builtin_tanh)
PJRT_C_FUNCTION(Sin, __builtin_sin)
PJRT_C_FUNCTION(Cos, __builtin_cos)
PJRT_C_FUNCTION(Tan, __builtin_tan)
PJRT_C_FUNCTION(Cbrt, __builtin_cbrt)
PJRT_C_FUNCTION_2(Power, __builtin_pow)
PJRT_C_FUNCTION_2(Atan2, __builtin_atan2)
PJRT_C_FUNCTION_2(Remainder, __builtin_fmod)

struct Logistic {
  PJRT_INLINE double Run(double x) { return 1 / (1 + __builtin_exp(-x)); }
};

template <typename T>
void Fill(BlockKernels* k) {
  SetUnary<T, Exp, T, T>(k, BlockOp::kExp);
  SetUnary<T, Expm1, T, T>(k, BlockOp::kExpm1);
  SetUnary<T, Log, T, T>(k, BlockOp::kLog);
  SetUnary<T, Log1p, T, T>(k, BlockOp::kLog1p);
  SetUnary<T, Logistic, T, T>(k, BlockOp::kLogistic);
  SetUnary<T, Tanh, T, T>(k, BlockOp::kTanh);
  SetUnary<T, Sin, T, T>(k, BlockOp::kSin);
  SetUnary<T, Cos, T, T>(k, BlockOp::kCos);
  SetUnary<T, Tan, T, T>(k, BlockOp::kTan);
  SetUnary<T, Cbrt, T, T>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kPower, kCType<T>) = BinaryLoop<Power, T, T>;
  Entry(k, BlockOp::kPower, kCType<T>, Scalars::kSecond) = BinaryLoopSecondScalar<Power, T, T>;
  Entry(k, BlockOp::kAtan2, kCType<T>) = BinaryLoop<Atan2, T, T>;
  Entry(k, BlockOp::kRemainder, kCType<T>) = BinaryLoop<Remainder, T, T>;
  Entry(k, BlockOp::kRemainder, kCType<T>, Scalars::kSecond) = BinaryLoopSecondScalar<Remainder, T, T>;
}

}  // namespace

void FillMathF64(BlockKernels* k) {
  Fill<double>(k);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
