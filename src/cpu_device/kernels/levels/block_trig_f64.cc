// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine and cube root of f64 in vector loops, at most 0.8 ULP off. Angles up to 2^20 are
// reduced in the loop; for larger ones, which are rare, the C library is called. Tangent, power,
// arc tangent and remainder are the C library's too.
#include "src/cpu_device/kernels/math_wide-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// An angle as r + tail + quadrant * pi/2, |r| <= pi/4.
struct Angle {
  double r, tail;
  uint64_t quadrant;
};

// pi/2 in four parts. Products of the first three with 20 bits are exact, and what their
// subtraction rounds away is kept: numbers as near to a multiple of pi/2 as 2^-60 keep all their
// digits.
PJRT_INLINE Angle ReduceAngle(double x) {
  constexpr double kPart1 = 0x1.921fb544p+0, kPart2 = 0x1.0b4611a6p-34, kPart3 = 0x1.3198a2ep-69,
                   kPart4 = 0x1.b839a252049c1p-104;
  const wide::Rounded q = wide::Round(x * 0x1.45f306dc9c883p-1);
  const double a = x - q.value * kPart1;  // exact
  const double b = q.value * kPart2;
  const double ab = a - b;
  const double b_seen = a - ab;
  const double ab_lost = (a - (ab + b_seen)) + (b_seen - b);
  const double c = q.value * kPart3;
  const double abc = ab - c;
  const double c_seen = ab - abc;
  const double abc_lost = (ab - (abc + c_seen)) + (c_seen - c);
  const double low = (ab_lost + abc_lost) - q.value * kPart4;
  const double r = abc + low;
  return {r, (abc - r) + low, q.bits};
}

// To 2^-58.
PJRT_INLINE double SinPolynomial(double r, double tail) {
  const double s = r * r;
  double p = 0x1.5d9314b9aca38p-33;
  p = MulAdd(p, s, -0x1.ae5e667cf3ef8p-26);
  p = MulAdd(p, s, 0x1.71de357809cbbp-19);
  p = MulAdd(p, s, -0x1.a01a019c11f91p-13);
  p = MulAdd(p, s, 0x1.111111110f87dp-7);
  p = MulAdd(p, s, -0x1.5555555555549p-3);
  // The derivative of sine, 1 - s/2 + ..., times the tail.
  return r + MulAdd(r * s, p, tail - 0.5 * s * tail);
}
// To 2^-64; 1 - s/2 with what its rounding loses.
PJRT_INLINE double CosPolynomial(double r, double tail) {
  const double s = r * r;
  double p = -0x1.8faeb4d595a9bp-37;
  p = MulAdd(p, s, 0x1.1ee9ec16ceeebp-29);
  p = MulAdd(p, s, -0x1.27e4f80a31887p-22);
  p = MulAdd(p, s, 0x1.a01a019cb2143p-16);
  p = MulAdd(p, s, -0x1.6c16c16c15181p-10);
  p = MulAdd(p, s, 0x1.555555555554cp-5);
  const double half = 0.5 * s;
  const double most = 1 - half;
  return most + (((1 - most) - half) + MulAdd(s * s, p, -r * tail));
}

struct Sin {
  static constexpr double kLargest = 0x1p+20;
  PJRT_INLINE int IsRare(double x) { return wide::Abs(x) > kLargest; }
  PJRT_INLINE double RunRare(double x) { return __builtin_sin(x); }
  PJRT_INLINE double Value(Angle angle) {
    const double sine = SinPolynomial(angle.r, angle.tail);
    const double cosine = CosPolynomial(angle.r, angle.tail);
    const double value = (angle.quadrant & 1) != 0 ? cosine : sine;
    return BitCast<double>(ToBits(value) ^ ((angle.quadrant & 2) << 62));
  }
  // The polynomial would turn -0 into +0.
  PJRT_INLINE double Run(double x) { return x == 0 ? x : Value(ReduceAngle(x)); }
};
struct Cos {
  PJRT_INLINE int IsRare(double x) { return Sin::IsRare(x); }
  PJRT_INLINE double RunRare(double x) { return __builtin_cos(x); }
  PJRT_INLINE double Run(double x) {
    const Angle angle = ReduceAngle(x);
    return Sin::Value({angle.r, angle.tail, angle.quadrant + 1});
  }
};

struct Tan {
  PJRT_INLINE double Run(double x) { return __builtin_tan(x); }
};

// A third of the exponent's bits starts two steps of Halley's iteration; their result, cut to so
// few digits that its square is exact, goes through a third.
struct Cbrt {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    // Scaled so that fourth powers of the root stay in the range.
    const bool small = size<0x1p-600, large = size> 0x1p+600;
    const double a = size * (small ? 0x1p+600 : large ? 0x1p-600 : 1.0);
    const uint64_t third = ((ToBits(a) >> 32) * 0xaaaaaaab) >> 33;
    double y = BitCast<double>((third + 0x2a9f7893) << 32);
    for (int step = 0; step < 2; ++step) {
      const double cube = y * y * y;
      y = y * (a + a + cube) / (a + cube + cube);
    }
    y = BitCast<double>((ToBits(y) + 0x20000000) & 0xffffffffc0000000);
    const double ratio = a / (y * y);
    const double root = y + y * ((ratio - y) / (y + y + ratio));
    const double scaled = root * (small ? 0x1p-200 : large ? 0x1p+200 : 1.0);
    const bool itself = (size == 0) | !(size < wide::kInfinity);
    return wide::CopySign(itself ? size : scaled, x);
  }
};

struct Power {
  PJRT_INLINE double Run(double x, double y) { return __builtin_pow(x, y); }
};
struct Atan2 {
  PJRT_INLINE double Run(double y, double x) { return __builtin_atan2(y, x); }
};
struct Remainder {
  PJRT_INLINE double Run(double x, double y) { return __builtin_fmod(x, y); }
};

}  // namespace

void FillTrigF64(BlockKernels* k) {
  Entry(k, BlockOp::kSin, CType::kF64) = UnaryLoopWithRare<Sin, double>;
  Entry(k, BlockOp::kCos, CType::kF64) = UnaryLoopWithRare<Cos, double>;
  SetUnary<double, Tan, double, double>(k, BlockOp::kTan);
  SetUnary<double, Cbrt, double, double>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kPower, CType::kF64) = BinaryLoop<Power, double, double>;
  Entry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Power, double, double>;
  Entry(k, BlockOp::kAtan2, CType::kF64) = BinaryLoop<Atan2, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64) = BinaryLoop<Remainder, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Remainder, double, double>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
