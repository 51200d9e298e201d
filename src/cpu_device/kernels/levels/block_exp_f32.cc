// SPDX-License-Identifier: Apache-2.0
//
// Exponential and logarithmic functions of f32.
#include "src/cpu_device/kernels/math_wide-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The hottest functions compute in f32 throughout, which is twice as fast as in f64 and costs half
// a unit in the last place. Largest errors seen: Exp 1.0, Log 0.8, Logistic 1.4, Tanh 1.4 ULP;
// those of the other functions of this file 0.501 (tests/cpu/block_kernels_f32_math_test.cc).

constexpr float kInfinityF32 = __builtin_inff();

PJRT_INLINE float AbsF32(float x) { return BitCast<float>(ToBits(x) & 0x7fffffffu); }

// exp(x) = (1 + part) * first * second, for -104 <= x <= 89 or NaN.
struct ExpParts {
  float part, first, second;
};
PJRT_INLINE ExpParts SplitExp(float x) {
  constexpr float kLog2E = 0x1.715476p+0f, kShift = 0x1.8p+23f;
  constexpr float kLn2High = 0x1.62ep-1f, kLn2Low = 0x1.0bfbe8p-15f;  // n * kLn2High is exact
  const float shifted = MulAdd(x, kLog2E, kShift);
  const float n = shifted - kShift;
  const float r = MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x));
  // exp(r) = 1 + r + r^2 (1/2 + r g(r)), to 2^-28.
  float g = 0x1.6d7b86p-10f;
  g = MulAdd(g, r, 0x1.1239fep-7f);
  g = MulAdd(g, r, 0x1.5554bep-5f);
  g = MulAdd(g, r, 0x1.555492p-3f);
  g = MulAdd(g, r, 0.5f);
  const float part = MulAdd(r * r, g, r);
  // 2^n in two factors: n goes from -150 to 128. Only the second product can round.
  const int32_t exponent = static_cast<int32_t>(ToBits(shifted)) - static_cast<int32_t>(0x4b400000);
  const int32_t half = exponent >> 1;
  const float first = BitCast<float>(static_cast<uint32_t>(half + 127) << 23);
  const float second = BitCast<float>(static_cast<uint32_t>(exponent - half + 127) << 23);
  return {part, first, second};
}
PJRT_INLINE float ExpInside(float x) {
  const ExpParts e = SplitExp(x);
  return (1 + e.part) * e.first * e.second;
}

struct Exp {
  PJRT_INLINE float Run(float x) {
    const float raised = x < -104.0f ? -104.0f : x;
    return ExpInside(raised > 89.0f ? 89.0f : raised);
  }
};

// Near 0 an odd polynomial, elsewhere 1 - 2 / (exp(2|x|) + 1).
struct Tanh {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const float bounded = size > 10.0f ? 10.0f : size;
    const float far = 1 - 2 / (ExpInside(2 * bounded) + 1);
    // (tanh(x) - x) / x^3 on |x| <= 0.625, to 2^-32.
    const float s = size * size;
    float p = 0x1.197b7cp-9f;
    p = MulAdd(p, s, -0x1.0c2146p-7f);
    p = MulAdd(p, s, 0x1.6394dap-6f);
    p = MulAdd(p, s, -0x1.b9ef7cp-5f);
    p = MulAdd(p, s, 0x1.11106cp-3f);
    p = MulAdd(p, s, -0x1.555554p-2f);
    const float near = MulAdd(size * s, p, size);
    const float result = size < 0.625f ? near : far;
    return BitCast<float>(ToBits(result) | (ToBits(x) & 0x80000000u));
  }
};

// With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) left of 0. e and the divisor are kept in two
// parts, and the first quotient is corrected by what the second parts add.
struct Logistic {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const ExpParts p = SplitExp(-(size > 104.0f ? 104.0f : size));
    const float power = 1 + p.part;
    const float high = power * p.first * p.second;
    const float low = (p.part - (power - 1)) * p.first * p.second;
    const float divisor = 1 + high;
    const float divisor_low = (high - (divisor - 1)) + low;
    const bool negative = x < 0;
    const float quotient = (negative ? high : 1.0f) / divisor;
    const float reciprocal = negative ? 1 - quotient : quotient;
    return quotient + ((negative ? low : 0.0f) - quotient * divisor_low) * reciprocal;
  }
};

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and with s = f / (2 + f):
// log(1 + f) = 2s + s R(s^2) = f - (f^2/2 - s (f^2/2 + R)).
struct Log {
  PJRT_INLINE float Run(float x) {
    constexpr float kLn2High = 0x1.62ep-1f, kLn2Low = 0x1.0bfbe8p-15f;
    constexpr uint32_t kSqrtHalf = 0x3f3504f3, kOne = 0x3f800000;
    const bool denormal = x < 0x1p-126f;
    const float normal = denormal ? x * 0x1p+24f : x;
    const uint32_t lifted = ToBits(normal) + (kOne - kSqrtHalf);
    const int32_t exponent = static_cast<int32_t>(lifted >> 23) - (denormal ? 127 + 24 : 127);
    const float k = static_cast<float>(exponent);
    const float f = BitCast<float>((lifted & 0x007fffffu) + kSqrtHalf) - 1;
    const float s = f / (2 + f);
    const float z = s * s;
    const float r = z * MulAdd(z, MulAdd(z, 0x1.31e342p-2f, 0x1.995eb8p-2f), 0x1.55557ap-1f);
    const float half_square = 0.5f * f * f;
    const float low = MulAdd(s, half_square + r, k * kLn2Low);
    const float log = MulAdd(k, kLn2High, f - (half_square - low));
    const float at_most_zero = x == 0 ? -kInfinityF32 : __builtin_nanf("");
    const float above = x < kInfinityF32 ? log : kInfinityF32;
    return x > 0 ? above : at_most_zero;
  }
};

// Beyond these the result in f32 is 0 and infinity.
constexpr double kExpLow = -104, kExpHigh = 89;

struct Expm1 {
  PJRT_INLINE float Run(float x) {
    const double result = wide::Expm1(wide::Bound(x, kExpLow, kExpHigh));
    return static_cast<float>(wide::CopySign(result, x));
  }
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
