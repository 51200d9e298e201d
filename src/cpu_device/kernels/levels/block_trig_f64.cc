// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine, tangent, arc tangent and cube root of f64 in vector loops, at most 0.8 ULP off.
// Angles up to 2^20 are reduced in the loop; for larger ones, which are rare, the C library is
// called. Power and remainder are the C library's too.
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

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
// The angle of (x, y): with a / b the smaller coordinate over the larger one, both positive, it is
// arctan(c) + arctan((a - c b) / (b + c a)) for c = 0, 1/2 or 1, so that the quotient is at most
// 1/4. What rounding loses on the way is added at the end: 0.6 ULP. Numbers whose quotients or
// squares might leave the range are rare.
struct Atan2 {
  PJRT_INLINE int IsRare(double y, double x) { return Far(y) | Far(x); }
  PJRT_INLINE int Far(double x) {
    const double size = wide::Abs(x);
    return (size > 0x1p+500) | ((size < 0x1p-500) & (size != 0));
  }
  PJRT_INLINE double RunRare(double y, double x) { return __builtin_atan2(y, x); }
  PJRT_INLINE double Run(double y, double x) {
    const double height = wide::Abs(y), width = wide::Abs(x);
    const bool steep = height > width, left = (ToBits(x) & wide::kSign) != 0;
    const double a = steep ? width : height, larger = steep ? height : width;
    const double b = larger == 0 ? 1.0 : larger;
    const bool some = a > 0.25 * b, most = a > 0.75 * b;
    const double c = most ? 1.0 : some ? 0.5 : 0.0;
    const double dividend = a - c * b;  // exact
    const double divisor = b + c * a, divisor_low = (b - divisor) + c * a;
    const double inverse = 1 / divisor;
    const double q = dividend * inverse, product = q * divisor;
    const double rest = (dividend - product) - f64::LostOfProduct(q, divisor, product);
    const double q_low = (rest - q * divisor_low) * inverse;
    // (arctan(q) - q) / q^3 on |q| <= 1/4; the angle to 2^-61.
    const double s = q * q, s2 = s * s;
    const double p12 = MulAdd(s, -0x1.24924923e94acp-3, 0x1.9999999998d6cp-3);
    const double p34 = MulAdd(s, -0x1.745cf492d815fp-4, 0x1.c71c71373e96ep-4);
    const double p56 = MulAdd(s, -0x1.109baaa2b7727p-4, 0x1.3b0e9f8de4fe2p-4);
    const double p78 = MulAdd(s, -0x1.478a9218b738dp-5, 0x1.d4f1b10759986p-5);
    const double p =
        MulAdd(MulAdd(MulAdd(MulAdd(p78, s2, p56), s2, p34), s2, p12), s, -0x1.5555555555553p-2);
    const double q_rest = MulAdd(q * s, p, q_low);
    // What the arc is added to or subtracted from: a multiple of pi / 2 and arctan(c).
    const uint64_t back = steep != left ? wide::kSign : 0;
    const auto turned = [back](double z) { return BitCast<double>(ToBits(z) ^ back); };
    const double quarters = steep ? 1.0 : left ? 2.0 : 0.0;
    const double arc = most ? 0x1.921fb54442d18p-1 : some ? 0x1.dac670561bb4fp-2 : 0.0;
    const double arc_low = most ? 0x1.1a62633145c07p-55 : some ? 0x1.a2b7f222f65e2p-56 : 0.0;
    const f64::Pair from = f64::Sum(quarters * wide::kHalfPi, turned(arc));
    const double from_low = from.low + (quarters * 0x1.1a62633145c07p-54 + turned(arc_low));
    const double sum = from.high + turned(q);
    const double lost = (from.high - sum) + turned(q);
    const double angle = sum + (lost + (turned(q_rest) + from_low));
    return ((x != x) | (y != y)) ? x + y : wide::CopySign(angle, y);
  }
};
struct Remainder {
  PJRT_INLINE double Run(double x, double y) { return __builtin_fmod(x, y); }
};

}  // namespace

void FillTrigF64(BlockKernels* k) {
  Entry(k, BlockOp::kSin, CType::kF64) = UnaryLoopWithRare<f64::Sin, double>;
  Entry(k, BlockOp::kCos, CType::kF64) = UnaryLoopWithRare<f64::Cos, double>;
  Entry(k, BlockOp::kTan, CType::kF64) = UnaryLoopWithRare<f64::Tan, double>;
  SetUnary<double, Cbrt, double, double>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kPower, CType::kF64) = BinaryLoop<Power, double, double>;
  Entry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Power, double, double>;
  Entry(k, BlockOp::kAtan2, CType::kF64) = BinaryLoopWithRare<Atan2, double, false>;
  Entry(k, BlockOp::kAtan2, CType::kF64, Scalars::kSecond) =
      BinaryLoopWithRare<Atan2, double, true>;
  Entry(k, BlockOp::kRemainder, CType::kF64) = BinaryLoop<Remainder, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Remainder, double, double>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
