// SPDX-License-Identifier: Apache-2.0
//
// Complex arithmetic and parts. The functions are in block_complex_math.cc.
#include "src/cpu_device/kernels/complex-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

struct Negate {
  template <typename T>
  PJRT_INLINE Complex<T> Run(Complex<T> z) {
    return {-z.re, -z.im};
  }
};
struct Conj {
  template <typename T>
  PJRT_INLINE Complex<T> Run(Complex<T> z) {
    return {z.re, -z.im};
  }
};
struct Real {
  template <typename T>
  PJRT_INLINE T Run(Complex<T> z) {
    return z.re;
  }
};
struct Imag {
  template <typename T>
  PJRT_INLINE T Run(Complex<T> z) {
    return z.im;
  }
};
struct MakeComplex {
  template <typename T>
  PJRT_INLINE Complex<T> Run(T re, T im) {
    return {re, im};
  }
};

template <typename T>
void Fill(BlockKernels* k) {
  using Z = Complex<T>;
  SetUnary<Z, Negate, Z, Z>(k, BlockOp::kNegate);
  SetUnary<Z, Conj, Z, Z>(k, BlockOp::kConj);
  SetUnary<Z, Real, T, Z>(k, BlockOp::kReal);
  SetUnary<Z, Imag, T, Z>(k, BlockOp::kImag);
  SetBinary<T, MakeComplex, Z, T>(k, BlockOp::kComplex);
  SetCommutative<Z, complexes::Add, Z, Z>(k, BlockOp::kAdd);
  SetBinary<Z, complexes::Subtract, Z, Z>(k, BlockOp::kSubtract);
  SetCommutative<Z, complexes::Multiply, Z, Z>(k, BlockOp::kMultiply);
  Entry(k, BlockOp::kMaximum, kCType<Z>) = BinaryLoop<complexes::Maximum, Z, Z>;
  Entry(k, BlockOp::kMinimum, kCType<Z>) = BinaryLoop<complexes::Minimum, Z, Z>;
  SetClamp<Z, ClampOp<complexes::Maximum, complexes::Minimum>, Z>(k);
}

}  // namespace

void FillComplex(BlockKernels* k) {
  Fill<float>(k);
  Fill<double>(k);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
