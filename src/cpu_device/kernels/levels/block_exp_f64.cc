// SPDX-License-Identifier: Apache-2.0
//
// Exponential and logarithmic functions of f64, in vector loops. The methods are those of
// block_exp_f32.cc with longer polynomials. Largest errors seen, over some 10^7 arguments each:
// Exp 0.9, Expm1 1.2, Logistic 1.3, Tanh 1.4, Log 0.8, Log1p 0.8 ULP.
#include "src/cpu_device/kernels/math_f64-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) left of 0. e and the divisor are kept in two
// parts, and the first quotient is corrected by what the second parts add.
struct Logistic {
  PJRT_INLINE double Run(double x) {
    const uint64_t keep = x < f64::kExpVanishes ? 0 : ~uint64_t{0};
    const double kept = BitCast<double>(ToBits(x) & keep);
    const f64::ExpParts p = f64::SplitExp(-wide::Abs(kept > 50 ? 50 : kept));
    const double part = p.r + p.rest, power = 1 + part;
    const double high = power * p.first * p.second;
    const double low = (part - (power - 1)) * p.first * p.second;
    const double divisor = 1 + high;
    const double divisor_low = (high - (divisor - 1)) + low;
    const bool negative = x < 0;
    const double quotient = (negative ? high : 1.0) / divisor;
    const double reciprocal = negative ? 1 - quotient : quotient;
    const double value = quotient + ((negative ? low : 0.0) - quotient * divisor_low) * reciprocal;
    return BitCast<double>(ToBits(value) & keep);
  }
};

struct Tanh {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    const double far = 1 - 2 / (f64::ExpOfModerate(2 * wide::Bound(size, 0, 22)) + 1);
    // (tanh(x) - x) / x^3 on |x| <= 0.625, to 2^-61.
    const double s = size * size;
    double p = 0x1.966361d50eb15p-18;
    p = MulAdd(p, s, -0x1.faf964a09daa8p-16);
    p = MulAdd(p, s, 0x1.8027da504abb6p-14);
    p = MulAdd(p, s, -0x1.f116977607643p-13);
    p = MulAdd(p, s, 0x1.350bcc5c4ff1dp-11);
    p = MulAdd(p, s, -0x1.7d9c3a0f76a95p-10);
    p = MulAdd(p, s, 0x1.d6d35aa3e3fc7p-9);
    p = MulAdd(p, s, -0x1.226e32d11c475p-7);
    p = MulAdd(p, s, 0x1.664f4870bff25p-6);
    p = MulAdd(p, s, -0x1.ba1ba1b9d10edp-5);
    p = MulAdd(p, s, 0x1.1111111110c38p-3);
    p = MulAdd(p, s, -0x1.5555555555552p-2);
    const double near = MulAdd(size * s, p, size);
    return wide::CopySign(size < 0.625 ? near : far, x);
  }
};

// log(x + tail) for a positive normal x, plus k_offset log(2); tail is below x's last bit.
PJRT_INLINE double LogOfNormal(double x, double tail, double k_offset) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
  const uint64_t lifted = ToBits(x) + (kOne - kSqrtHalf);
  const double exponent = BitCast<double>((lifted >> 52) | 0x4330000000000000) - (0x1p+52 + 1023);
  const double k = exponent + k_offset;
  const double whole = BitCast<double>((lifted & 0x000fffffffffffff) + kSqrtHalf) - 1;
  // Near 1 the tail belongs to the number itself, elsewhere it is a correction.
  const double f = whole + (k == 0 ? tail : 0);
  const double correction = k == 0 ? 0 : tail / x;
  const double s = f / (2 + f);
  const double z = s * s;
  double r = 0x1.2f0653008afe9p-3;
  r = MulAdd(r, z, 0x1.39a1a3fd19d03p-3);
  r = MulAdd(r, z, 0x1.74663fbee0689p-3);
  r = MulAdd(r, z, 0x1.c71c520583997p-3);
  r = MulAdd(r, z, 0x1.24924941f588fp-2);
  r = MulAdd(r, z, 0x1.999999997fd71p-2);
  r = MulAdd(r, z, 0x1.5555555555592p-1);
  const double half_square = 0.5 * f * f;
  const double low = MulAdd(s, MulAdd(r, z, half_square), MulAdd(k, f64::kLn2Low, correction));
  return MulAdd(k, f64::kLn2High, f - (half_square - low));
}

struct Log {
  PJRT_INLINE double Run(double x) {
    const bool denormal = x < 0x1p-1022;
    const double log = LogOfNormal(denormal ? x * 0x1p+54 : x, 0, denormal ? -54 : 0);
    return wide::LogSpecials(x, log);
  }
};

struct Log1p {
  PJRT_INLINE double Run(double x) {
    const double sum = 1 + x;
    // What the sum lost. The larger of the two comes first.
    const double tail = x < 1 ? x - (sum - 1) : 1 - (sum - x);
    const double log = wide::LogSpecials(sum, LogOfNormal(sum, tail, 0));
    return x == 0 ? x : log;
  }
};

}  // namespace

void FillExpF64(BlockKernels* k) {
  SetUnary<double, f64::Exp, double, double>(k, BlockOp::kExp);
  SetUnary<double, f64::Expm1, double, double>(k, BlockOp::kExpm1);
  SetUnary<double, Logistic, double, double>(k, BlockOp::kLogistic);
  SetUnary<double, Tanh, double, double>(k, BlockOp::kTanh);
  SetUnary<double, Log, double, double>(k, BlockOp::kLog);
  SetUnary<double, Log1p, double, double>(k, BlockOp::kLog1p);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
