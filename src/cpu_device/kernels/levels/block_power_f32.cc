// SPDX-License-Identifier: Apache-2.0
//
// Power, cube root, arc tangent and remainder of f32.
#include "src/cpu_device/kernels/math_wide-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// exp(y log|x|), then the rules of C's pow.
struct Power {
  PJRT_INLINE float Run(float base, float exponent) {
    const double x = base, y = exponent;
    const double size = wide::Abs(x);
    const double result = wide::Exp(wide::Bound(y * wide::Log(size), -160, 160));
    // Numbers beyond 2^24 are even integers.
    const double y_size = wide::Bound(wide::Abs(y), 0, 0x1p+25);
    const double half = y_size * 0.5;
    const bool integer = wide::Round(y_size).value == y_size;
    const bool odd = integer & (wide::Round(half).value != half);
    const double signed_result =
        BitCast<double>(ToBits(result) ^ (ToBits(x) & wide::kSign & (uint64_t{0} - uint64_t{odd})));
    const bool undefined = (x < 0) & (size < wide::kInfinity) & !integer;
    const double power = wide::Choose(undefined, wide::kNan, signed_result);
    const bool one = (x == 1) | (y == 0) | ((size == 1) & (wide::Abs(y) == wide::kInfinity));
    return static_cast<float>(wide::Choose(one, 1.0, power));
  }
};

// A third of the exponent's bits starts two steps of Halley's iteration.
struct Cbrt {
  PJRT_INLINE float Run(float x) {
    const float size = BitCast<float>(ToBits(x) & 0x7fffffffu);
    const bool denormal = size < 0x1p-126f;
    const float normal = denormal ? size * 0x1p+24f : size;
    const double a = normal;
    double y = BitCast<float>(ToBits(normal) / 3 + 0x2a5119f2u);
    for (int step = 0; step < 2; ++step) {
      const double cube = y * y * y;
      y = y * (a + a + cube) / (a + cube + cube);
    }
    const double root = denormal ? y * 0x1p-8 : y;
    const bool itself = (size == 0) | !(size < __builtin_inff());
    return static_cast<float>(wide::CopySign(itself ? size : root, x));
  }
};

struct Atan2 {
  PJRT_INLINE float Run(float y, float x) { return static_cast<float>(wide::Atan2(y, x)); }
};

// x - trunc(x / y) y, exact while the quotient has less than 29 bits. Rounding can make it one too
// large.
struct Remainder {
  PJRT_INLINE int IsRare(float x, float y) {
    return !(wide::Abs(x) < wide::Abs(y) * 0x1p+29);  // y = 0 and NaNs as well
  }
  PJRT_INLINE float RunRare(float x, float y) { return __builtin_fmodf(x, y); }
  PJRT_INLINE float Run(float dividend, float divisor) {
    const double x = wide::Abs(dividend), y = wide::Abs(divisor);
    const double whole = static_cast<double>(static_cast<int32_t>(x / y));
    const double rest = x - whole * y;
    const double fixed = rest < 0 ? rest + y : rest;
    return static_cast<float>(wide::CopySign(y == wide::kInfinity ? x : fixed, dividend));
  }
};

}  // namespace

void FillPowerF32(BlockKernels* k) {
  Entry(k, BlockOp::kPower, CType::kF32) = BinaryLoop<Power, float, float>;
  SetUnary<float, Cbrt, float, float>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kAtan2, CType::kF32) = BinaryLoop<Atan2, float, float>;
  Entry(k, BlockOp::kRemainder, CType::kF32) = BinaryLoopWithRare<Remainder, float, false>;
  Entry(k, BlockOp::kRemainder, CType::kF32, Scalars::kSecond) =
      BinaryLoopWithRare<Remainder, float, true>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
