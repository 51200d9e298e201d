// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine, tangent and cube root of f64 in vector loops, at most 1.1 ULP off, for levels
// without AVX2: the others have those of block_tables_f64.cc and block_pieces_f64.cc. Angles up to
// 2^20 are reduced in the loop; for larger ones, which are rare, the C library is called.
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if !defined(__AVX2__)
namespace {

// By the reciprocal of the root, which takes no divisions: minus a third of the exponent's bits
// starts it, with h = 1 - a r^3 below 0.11, and r (1 - h)^(-1/3) by the first terms in h twice
// makes it good to 2^-45. The root, cut to so few digits that its third power is exact, is made
// good by the power's distance from the number.
struct Cbrt {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    // Scaled where the reciprocal's powers might leave the range.
    const bool small = size < 0x1p-900;
    const double a = small ? size * 0x1p+300 : size;
    const uint64_t third = ((ToBits(a) >> 32) * 0xaaaaaaab) >> 33;
    double r = BitCast<double>((0x553ee940 - third) << 32);
    double h = MulAdd(-a * r, r * r, 1.0);
    r = MulAdd(r * h, MulAdd(MulAdd(MulAdd(h, 35.0 / 243, 14.0 / 81), h, 2.0 / 9), h, 1.0 / 3), r);
    h = MulAdd(-a * r, r * r, 1.0);
    r = MulAdd(r * h, MulAdd(h, 2.0 / 9, 1.0 / 3), r);
    const double square = r * r, near = a * square;
    const double y = BitCast<double>(ToBits(near) & 0xfffffff000000000);
    const double left = (a - y * y * y) * (square * r);  // over a
    const double more = MulAdd(MulAdd(left, 14.0 / 81, 2.0 / 9), left, 1.0 / 3);
    const double root = MulAdd(y * left, more, y);
    const double scaled = small ? root * 0x1p-100 : root;
    const bool itself = (size == 0) | !(size < wide::kInfinity);
    return wide::CopySign(itself ? size : scaled, x);
  }
};

}  // namespace

void FillTrigF64(BlockKernels* k) {
  Entry(k, BlockOp::kSin, CType::kF64) = UnaryLoopWithRare<f64::Sin, double>;
  Entry(k, BlockOp::kCos, CType::kF64) = UnaryLoopWithRare<f64::Cos, double>;
  Entry(k, BlockOp::kTan, CType::kF64) = UnaryLoopWithRare<f64::Tan, double>;
  SetUnary<double, Cbrt, double, double>(k, BlockOp::kCbrt);
}
#else
void FillTrigF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
