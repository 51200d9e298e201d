// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of all lines of an array along one dimension.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_FFT_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_FFT_STEP_H_

#include <memory>
#include <string>

#include "src/cpu_device/kernels/fft.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct FftParams {
  enum Kind : uint8_t {
    kForward,        // complex to complex
    kInverse,        // complex to complex, exponent of the other sign
    kRealToComplex,  // n real numbers to the first n / 2 + 1 of their transform
    // n / 2 + 1 numbers to n real ones; imaginary parts of the first and, for even n, of the last
    // are taken as 0.
    kComplexToReal,
  };
  Kind kind = kForward;
  bool is_double = false;
  int64_t length = 0;  // n, above 0
  // A line's elements are `inner` apart; lines differ first in what stands behind the dimension.
  int64_t lines = 1, inner = 1;
  double scale = 1;  // of the results
  // Dense; one buffer for both only where `kind` is complex to complex.
  BufferId from = kNoBuffer, to = kNoBuffer;
};

std::unique_ptr<Step> MakeFftStep(const FftParams& params, const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_FFT_STEP_H_
