// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine, tangent and cube root of f64 in vector loops, at most 0.8 ULP off. Angles up to
// 2^20 are reduced in the loop; for larger ones, which are rare, the C library is called. Power,
// arc tangent and remainder are the C library's too.
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// A third of the exponent's bits starts two steps of Halley's iteration; their result, cut to so
// few digits that its square is exact, goes through a third.
struct Cbrt {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    // Scaled so that fourth powers of the root stay in the range.
    const bool small = size<0x1p-600, large = size> 0x1p+600;
    const double a = size * (small ? 0x1p+600 : large ? 0x1p-600 : 1.0);
    const uint64_t third = ((ToBits(a) >> 32) * 0xaaaaaaab) >> 33;
    double y = BitCast<double>((third + 0x2a9f7893) << 32);
    for (int step = 0; step < 2; ++step) {
      const double cube = y * y * y;
      y = y * (a + a + cube) / (a + cube + cube);
    }
    y = BitCast<double>((ToBits(y) + 0x20000000) & 0xffffffffc0000000);
    const double ratio = a / (y * y);
    const double root = y + y * ((ratio - y) / (y + y + ratio));
    const double scaled = root * (small ? 0x1p-200 : large ? 0x1p+200 : 1.0);
    const bool itself = (size == 0) | !(size < wide::kInfinity);
    return wide::CopySign(itself ? size : scaled, x);
  }
};

struct Power {
  PJRT_INLINE double Run(double x, double y) { return __builtin_pow(x, y); }
};
struct Atan2 {
  PJRT_INLINE double Run(double y, double x) { return __builtin_atan2(y, x); }
};
struct Remainder {
  PJRT_INLINE double Run(double x, double y) { return __builtin_fmod(x, y); }
};

}  // namespace

void FillTrigF64(BlockKernels* k) {
  Entry(k, BlockOp::kSin, CType::kF64) = UnaryLoopWithRare<f64::Sin, double>;
  Entry(k, BlockOp::kCos, CType::kF64) = UnaryLoopWithRare<f64::Cos, double>;
  Entry(k, BlockOp::kTan, CType::kF64) = UnaryLoopWithRare<f64::Tan, double>;
  SetUnary<double, Cbrt, double, double>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kPower, CType::kF64) = BinaryLoop<Power, double, double>;
  Entry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Power, double, double>;
  Entry(k, BlockOp::kAtan2, CType::kF64) = BinaryLoop<Atan2, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64) = BinaryLoop<Remainder, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Remainder, double, double>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
