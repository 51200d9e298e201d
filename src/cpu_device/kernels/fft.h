// SPDX-License-Identifier: Apache-2.0
//
// Discrete Fourier transforms of one length, for several lines at a time.
//
// Lengths whose prime factors are small are taken apart by Stockham's autosorting algorithm with
// radices 4 and the primes up to 17; lengths with larger primes go by Bluestein's convolution, in
// double. Roots of unity are computed in double from arguments reduced by integer arithmetic, so
// that each is within an ulp or so.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FFT_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FFT_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/cpu_device/kernels/fft_kernels.h"

namespace pjrt::cpu {

// Complex numbers with their parts in arrays of their own. Swapping the two turns a forward
// transform into an inverse one.
template <typename T>
struct SplitComplex {
  T* re = nullptr;
  T* im = nullptr;
  SplitComplex Swapped() const { return {im, re}; }
};

// exp(-2 pi i k / n), for 0 <= k < n.
std::complex<double> RootOfUnity(int64_t k, int64_t n);

// Immutable; any thread may use it. T: float, double.
template <typename T>
class Fft {
 public:
  // Length n > 0. `kernels` outlives the transform.
  Fft(int64_t n, const FftKernels& kernels);
  ~Fft();

  int64_t length() const { return n_; }
  const FftKernelsOf<T>& kernels() const { return kernels_; }
  // How many lines a call of Forward takes at most.
  int64_t max_lines() const { return bluestein_ == nullptr ? kMaxLines : 1; }
  // Bytes of `work` for Forward of so many lines.
  int64_t WorkBytes(int64_t lines) const;

  // X[k] = sum over j of x[j] exp(-2 pi i j k / n), not scaled. Element j of line c stands at j *
  // lines + c. Destroys x; the result is in x or in `work`, which is aligned to 64: where it is, is
  // returned.
  SplitComplex<T> Forward(SplitComplex<T> x, char* work, int64_t lines) const;

  static constexpr int64_t kMaxLines = 16;

 private:
  struct Stage {
    int64_t radix,
        groups;  // groups: transforms of `radix` points for each point of what is already done
    std::vector<T> roots;   // re[groups], im[groups] for each factor 1, ..., radix - 1
    std::vector<T> matrix;  // re, im of the radix-th roots, for primes beyond 5
  };
  struct Bluestein;

  SplitComplex<T> Convolve(SplitComplex<T> x, char* work) const;

  int64_t n_;
  const FftKernelsOf<T>& kernels_;
  std::vector<Stage> stages_;
  std::unique_ptr<Bluestein> bluestein_;
};

extern template class Fft<float>;
extern template class Fft<double>;

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FFT_H_
