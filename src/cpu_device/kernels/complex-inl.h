// SPDX-License-Identifier: Apache-2.0
//
// Complex arithmetic that blocks and reductions share. See level-inl.h for who may include it.
//
// c64 products and quotients are formed in f64 and rounded once: nothing overflows or cancels on
// the way. No fused multiply-add here: the levels give the same bits.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes {

PJRT_INLINE C64 Narrow(C128 z) { return {static_cast<float>(z.re), static_cast<float>(z.im)}; }
PJRT_INLINE C128 Widen(C64 z) { return {z.re, z.im}; }

template <typename T>
PJRT_INLINE bool IsNan(Complex<T> z) {
  return (z.re != z.re) | (z.im != z.im);
}

struct Add {
  template <typename T>
  PJRT_INLINE Complex<T> Run(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct Subtract {
  template <typename T>
  PJRT_INLINE Complex<T> Run(Complex<T> a, Complex<T> b) {
    return {a.re - b.re, a.im - b.im};
  }
};
// a - b for two products. Of a difference beside a sum of products gcc 12 makes a fused instruction
// even under -ffp-contract=off; not of this.
PJRT_INLINE double Difference(double a, double b) {
  return a + BitCast<double>(ToBits(b) ^ (uint64_t{1} << 63));
}

struct Multiply {
  PJRT_INLINE C128 Run(C128 a, C128 b) {
    return {Difference(a.re * b.re, a.im * b.im), a.re * b.im + a.im * b.re};
  }
  PJRT_INLINE C64 Run(C64 a, C64 b) { return Narrow(Run(Widen(a), Widen(b))); }
};

// The order of words in a dictionary; a number with a NaN wins, the first of two.
struct Maximum {
  template <typename T>
  PJRT_INLINE Complex<T> Run(Complex<T> a, Complex<T> b) {
    const bool larger = a.re > b.re || (a.re == b.re && a.im >= b.im);
    return IsNan(a) || (larger && !IsNan(b)) ? a : b;
  }
};
struct Minimum {
  template <typename T>
  PJRT_INLINE Complex<T> Run(Complex<T> a, Complex<T> b) {
    const bool smaller = a.re < b.re || (a.re == b.re && a.im <= b.im);
    return IsNan(a) || (smaller && !IsNan(b)) ? a : b;
  }
};

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_INL_H_
