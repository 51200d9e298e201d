// SPDX-License-Identifier: Apache-2.0
//
// Kernels of Fourier transforms. Complex numbers have their parts in arrays of their own, unless
// said otherwise.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FFT_KERNELS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FFT_KERNELS_H_

#include <cstdint>

namespace pjrt::cpu {

template <typename T>
struct FftKernelsOf {
  // The largest prime with a butterfly of its own.
  static constexpr int kMaxRadix = 17;
  // One stage of radix R from x to y, by R; null for others than primes and 4. Point q < stride of
  // group p < groups and leg k < R is read at q + stride * (p + k * groups) and written at q +
  // stride * (R * p + k), leg k > 0 multiplied by a root of unity: real parts at roots[(2k - 2) *
  // groups + p], imaginary ones at roots[(2k - 1) * groups + p]. matrix: re, im of the R-th roots,
  // for R > 5.
  void (*stage[kMaxRadix + 1])(const T* xr, const T* xi, T* yr, T* yi, int64_t groups,
                               int64_t stride, const T* roots, const T* matrix);
  // n numbers with their parts side by side to arrays of their own, and back, multiplied by
  // `scale`.
  void (*split)(T* re, T* im, const T* from, int64_t n);
  void (*join)(T* to, const T* re, const T* im, T scale, int64_t n);
  // (re[i], im[i]) *= (wr[i], wi[i]).
  void (*multiply)(T* re, T* im, const T* wr, const T* wi, int64_t n);
  // Element k of twice the transform of 2h real numbers, from elements k (z) and h - k (y) of the
  // transform of h complex ones made of them; w = exp(-pi i k / h). And the other way, not halved.
  // For n lines.
  void (*half_from_whole)(T* re, T* im, const T* zr, const T* zi, T wr, T wi, const T* yr,
                          const T* yi, int64_t n);
  void (*whole_from_half)(T* re, T* im, const T* xr, const T* xi, T wr, T wi, const T* yr,
                          const T* yi, int64_t n);
};

struct FftKernels {
  FftKernelsOf<float> f32;
  FftKernelsOf<double> f64;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FFT_KERNELS_H_
