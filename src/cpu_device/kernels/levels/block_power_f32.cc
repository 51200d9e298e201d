// SPDX-License-Identifier: Apache-2.0
//
// Power, cube root, arc tangent and remainder of f32.
#include "src/cpu_device/kernels/math_wide-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr uint32_t kSign = 0x80000000;

// exp(y log|x|), then the rules of C's pow.
struct Power {
  PJRT_INLINE float Run(float base, float exponent) {
    const double x = base, y = exponent;
    const double size = wide::Abs(x);
    const double result = wide::Exp(wide::Bound(y * wide::Log(size), -160, 160));
    // Numbers beyond 2^24 are even integers.
    const double y_size = wide::Bound(wide::Abs(y), 0, 0x1p+25);
    const double half = y_size * 0.5;
    const bool integer = wide::Round(y_size).value == y_size;
    const bool odd = integer & (wide::Round(half).value != half);
    const double signed_result =
        BitCast<double>(ToBits(result) ^ (ToBits(x) & wide::kSign & (uint64_t{0} - uint64_t{odd})));
    const bool undefined = (x < 0) & (size < wide::kInfinity) & !integer;
    const double power = wide::Choose(undefined, wide::kNan, signed_result);
    const bool one = (x == 1) | (y == 0) | ((size == 1) & (wide::Abs(y) == wide::kInfinity));
    return static_cast<float>(wide::Choose(one, 1.0, power));
  }
};

// A third of the bits starts z near a^(-1/3), within 4%; with e = 1 - a z^3 the polynomial makes it
// z (1 - e)^(-1/3), to 2^-18. A step of Newton's method makes a z^2 the root, without a division.
// Largest error 0.75 ULP, 0.97 without fused multiply-add.
struct Cbrt {
  PJRT_INLINE float Run(float x) {
    const float size = BitCast<float>(ToBits(x) & ~kSign);
    // Scaled so that neither small nor large numbers leave the range.
    const bool small = size < 0x1p-120f;
    const float a = size * (small ? 0x1p+24f : 0x1p-3f);
    const float bits = static_cast<float>(static_cast<int32_t>(ToBits(a)));
    const float guess =
        BitCast<float>(static_cast<int32_t>(MulAdd(bits, -0x1.555556p-2f, 0x1.5288p+30f)));
    const float e = MulAdd(-a * guess, guess * guess, 1.0f);
    float p = 0x1.6526d4p-3f;
    p = MulAdd(p, e, 0x1.c9bac2p-3f);
    p = MulAdd(p, e, 0x1.55542ep-2f);
    const float z = MulAdd(guess * e, p, guess);
    const float square = z * z, y = a * square;
    const float root = MulAdd(MulAdd(-(y * y), y, a), square * 0x1.555556p-2f, y);
    const float scaled = root * (small ? 0x1p-8f : 2.0f);
    const float result = size < __builtin_inff() ? scaled : size;
    return BitCast<float>(ToBits(result) | (ToBits(x) & kSign));
  }
};

// With t = smaller / larger of |y| and |x|: arctan(t) = t + t^3 P(t^2), added to a multiple of pi/2
// or subtracted from it. What t lost is known from the remainder; a reciprocal within 12% is enough
// for it. Largest error seen 1.3 ULP, 1.4 without fused multiply-add.
struct Atan2 {
  PJRT_INLINE float Run(float y, float x) {
    // Integers order magnitudes as floats do, and NaNs above all.
    const int32_t height = static_cast<int32_t>(ToBits(y) & ~kSign);
    const int32_t width = static_cast<int32_t>(ToBits(x) & ~kSign);
    const bool steep = height > width;
    const int32_t larger = steep ? height : width, smaller = steep ? width : height;
    // Remainders of tiny numbers would vanish. 0 is divided by something.
    const float scale = wide::Choose(larger < (27 << 23), 0x1p+64f, 1.0f);
    const float divisor = BitCast<float>(larger < 1 ? 1 : larger) * scale;
    const float dividend = BitCast<float>(smaller) * scale;
    const float ratio = dividend / divisor;
    const float t = wide::Choose(dividend == divisor, 1.0f, ratio);  // also of infinities
    const float rest = wide::ExactMulAdd(-t, divisor, dividend);
    const float four_by = BitCast<float>(0x7ff311c7u - ToBits(divisor));  // 4 / divisor
    const float lost = wide::Choose(divisor < __builtin_inff(), 0.25f * rest * four_by, 0.0f);
    const float s = t * t;
    float p = -0x1.d35bd4p-10f;
    p = MulAdd(p, s, 0x1.642558p-7f);
    p = MulAdd(p, s, -0x1.fd7e48p-6f);
    p = MulAdd(p, s, 0x1.da2a14p-5f);
    p = MulAdd(p, s, -0x1.58091cp-4f);
    p = MulAdd(p, s, 0x1.c08c4ep-4f);
    p = MulAdd(p, s, -0x1.242086p-3f);
    p = MulAdd(p, s, 0x1.9991e4p-3f);
    p = MulAdd(p, s, -0x1.55553ep-2f);
    const float low = MulAdd(t * s, p, lost);
    constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;
    const bool left = static_cast<int32_t>(ToBits(x)) < 0;
    const float turn = wide::Choose(steep, 1.0f, wide::Choose(left, 2.0f, 0.0f));
    const uint32_t back = (ToBits(x) & kSign) ^ (static_cast<uint32_t>(steep) << 31);
    const float signed_t = BitCast<float>(ToBits(t) ^ back);
    const float signed_low = BitCast<float>(ToBits(low) ^ back);
    const float angle = MulAdd(turn, kHalfPi, signed_t + MulAdd(turn, kHalfPiLow, signed_low));
    return BitCast<float>(ToBits(angle) | (ToBits(y) & kSign));
  }
};

// x - trunc(x / y) y, exact while the quotient has less than 29 bits. Rounding can make it one too
// large.
struct Remainder {
  PJRT_INLINE int IsRare(float x, float y) {
    return !(wide::Abs(x) < wide::Abs(y) * 0x1p+29);  // y = 0 and NaNs as well
  }
  PJRT_INLINE float RunRare(float x, float y) { return __builtin_fmodf(x, y); }
  PJRT_INLINE float Run(float dividend, float divisor) {
    const double x = wide::Abs(dividend), y = wide::Abs(divisor);
    const double whole = static_cast<double>(static_cast<int32_t>(x / y));
    const double rest = x - whole * y;
    const double fixed = rest < 0 ? rest + y : rest;
    return static_cast<float>(wide::CopySign(y == wide::kInfinity ? x : fixed, dividend));
  }
};

}  // namespace

void FillPowerF32(BlockKernels* k) {
  Entry(k, BlockOp::kPower, CType::kF32) = BinaryLoop<Power, float, float>;
  SetUnary<float, Cbrt, float, float>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kAtan2, CType::kF32) = BinaryLoop<Atan2, float, float>;
  Entry(k, BlockOp::kRemainder, CType::kF32) = BinaryLoopWithRare<Remainder, float, false>;
  Entry(k, BlockOp::kRemainder, CType::kF32, Scalars::kSecond) =
      BinaryLoopWithRare<Remainder, float, true>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
