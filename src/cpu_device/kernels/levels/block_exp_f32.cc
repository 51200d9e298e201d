// SPDX-License-Identifier: Apache-2.0
//
// Exponential and logarithmic functions of f32.
#include "src/cpu_device/kernels/math_wide-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Beyond these the result in f32 is 0 and infinity.
constexpr double kExpLow = -104, kExpHigh = 89;

struct Exp {
  PJRT_INLINE float Run(float x) {
    return static_cast<float>(wide::Exp(wide::Bound(x, kExpLow, kExpHigh)));
  }
};
struct Expm1 {
  PJRT_INLINE float Run(float x) {
    const double result = wide::Expm1(wide::Bound(x, kExpLow, kExpHigh));
    return static_cast<float>(wide::CopySign(result, x));
  }
};
struct Logistic {
  PJRT_INLINE float Run(float x) {
    return static_cast<float>(1 / (1 + wide::Exp(wide::Bound(-static_cast<double>(x), -104, 104))));
  }
};
// m / (m + 2) with m = exp(2|x|) - 1.
struct Tanh {
  PJRT_INLINE float Run(float x) {
    const double grown = wide::Expm1(wide::Bound(2 * wide::Abs(x), 0, 40));
    return static_cast<float>(wide::CopySign(grown / (grown + 2), x));
  }
};
struct Log {
  PJRT_INLINE float Run(float x) { return static_cast<float>(wide::Log(x)); }
};
struct Log1p {
  PJRT_INLINE float Run(float x) {
    const double wide_x = x, sum = 1 + wide_x;
    const double tail = wide_x - (sum - 1);  // what the sum lost
    const double log = wide::LogSpecials(sum, wide::LogOfNormal(sum, tail));
    return static_cast<float>(wide_x == 0 ? wide_x : log);
  }
};

}  // namespace

void FillExpF32(BlockKernels* k) {
  SetUnary<float, Exp, float, float>(k, BlockOp::kExp);
  SetUnary<float, Expm1, float, float>(k, BlockOp::kExpm1);
  SetUnary<float, Logistic, float, float>(k, BlockOp::kLogistic);
  SetUnary<float, Tanh, float, float>(k, BlockOp::kTanh);
  SetUnary<float, Log, float, float>(k, BlockOp::kLog);
  SetUnary<float, Log1p, float, float>(k, BlockOp::kLog1p);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
