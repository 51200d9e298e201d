// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine, tangent, arc tangent, cube root and power of f64 in vector loops, at most 1.1 ULP
// off. Angles up to 2^20 are reduced in the loop; for larger ones, which are rare, the C library is
// called. The remainder is the C library's too.
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// By the reciprocal of the root, which takes no divisions: minus a third of the exponent's bits
// starts it, with h = 1 - a r^3 below 0.11, and r (1 - h)^(-1/3) by the first terms in h twice
// makes it good to 2^-45. The root, cut to so few digits that its third power is exact, is made
// good by the power's distance from the number.
struct Cbrt {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    // Scaled where the reciprocal's powers might leave the range.
    const bool small = size < 0x1p-900;
    const double a = small ? size * 0x1p+300 : size;
    const uint64_t third = ((ToBits(a) >> 32) * 0xaaaaaaab) >> 33;
    double r = BitCast<double>((0x553ee940 - third) << 32);
    double h = MulAdd(-a * r, r * r, 1.0);
    r = MulAdd(r * h, MulAdd(MulAdd(MulAdd(h, 35.0 / 243, 14.0 / 81), h, 2.0 / 9), h, 1.0 / 3), r);
    h = MulAdd(-a * r, r * r, 1.0);
    r = MulAdd(r * h, MulAdd(h, 2.0 / 9, 1.0 / 3), r);
    const double square = r * r, near = a * square;
    const double y = BitCast<double>(ToBits(near) & 0xfffffff000000000);
    const double left = (a - y * y * y) * (square * r);  // over a
    const double more = MulAdd(MulAdd(left, 14.0 / 81, 2.0 / 9), left, 1.0 / 3);
    const double root = MulAdd(y * left, more, y);
    const double scaled = small ? root * 0x1p-100 : root;
    const bool itself = (size == 0) | !(size < wide::kInfinity);
    return wide::CopySign(itself ? size : scaled, x);
  }
};

// log(x) to 2^-64 of it, for a positive normal x: 2 artanh(s) with s = (m - 1) / (m + 1) and
// artanh(s) = s (1 + s^2 (1/3 + s^2 q)), in pairs but for q.
PJRT_INLINE f64::Pair PreciseLog(double x) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
  const uint64_t lifted = ToBits(x) + (kOne - kSqrtHalf);
  const double k = BitCast<double>((lifted >> 52) | 0x4330000000000000) - (0x1p+52 + 1023);
  const double m = BitCast<double>((lifted & 0x000fffffffffffff) + kSqrtHalf);
  const double f = m - 1, divisor = m + 1, divisor_low = m - (divisor - 1);
  const double inverse = 1 / divisor;
  const double s = f * inverse, product = s * divisor;
  const double rest = (f - product) - f64::LostOfProduct(s, divisor, product);
  const double s_low = (rest - s * divisor_low) * inverse;
  const double z = s * s, z_low = f64::LostOfProduct(s, s, z) + 2 * s * s_low;
  const double z2 = z * z;
  const double q01 = MulAdd(z, 0x1.2492492493032p-3, 0x1.9999999999996p-3);
  const double q23 = MulAdd(z, 0x1.745d1832379e9p-4, 0x1.c71c71c580b0ep-4);
  const double q45 = MulAdd(z, 0x1.1120b4ed3df21p-4, 0x1.3b1362bbd0aa1p-4);
  const double q67 = MulAdd(z, 0x1.eb107fe937499p-5, 0x1.de338824e9833p-5);
  const double zq = z * MulAdd(MulAdd(MulAdd(q67, z2, q45), z2, q23), z2, q01);
  constexpr double kThird = 0x1.5555555555555p-2, kThirdLow = 0x1.5555555555555p-56;
  const double c = kThird + zq, c_low = ((kThird - c) + zq) + kThirdLow;
  const double w = z * c;
  const double w_low = f64::LostOfProduct(z, c, w) + (z * c_low + z_low * c);
  const double twice = 2 * s, more = twice * w;
  const double more_low =
      f64::LostOfProduct(twice, w, more) + (twice * w_low + 2 * s_low * w) + 2 * s_low;
  // Each number is larger than the next, or 0.
  const double whole = k * f64::kLn2High;
  const double sum = whole + twice, sum_low = (whole - sum) + twice;
  const double log = sum + more, log_low = (sum - log) + more;
  return {log, (sum_low + log_low) + (more_low + k * f64::kLn2Low)};
}

// exp(y log|x|) with the logarithm in two numbers, 1.1 ULP; powers that are numbers themselves come
// out exactly.
struct Power {
  static constexpr double kOutside = 800;  // exp of more overflows, of less than -800 is 0
  PJRT_INLINE int IsRare(double x, double y) {
    const double size = wide::Abs(x);
    const bool normal = (size >= 0x1p-1022) & (size < wide::kInfinity);
    return !((normal | (size == 0)) & (wide::Abs(y) < 0x1p+900));
  }
  PJRT_INLINE double RunRare(double x, double y) { return __builtin_pow(x, y); }
  // Whether a positive number has no digits behind the point.
  PJRT_INLINE bool IsWhole(double x) { return (x >= 0x1p+52) | ((x + 0x1p+52) - 0x1p+52 == x); }
  PJRT_INLINE double Run(double x, double y) {
    const double size = wide::Abs(x), y_size = wide::Abs(y);
    const f64::Pair log = PreciseLog(size == 0 ? 1.0 : size);
    const double product = y * log.high;
    const double tail = f64::LostOfProduct(y, log.high, product) + y * log.low;
    const double of_zero = y == 0 ? 0.0 : wide::CopySign(kOutside, -y);
    const double exponent = size == 0 ? of_zero : product;
    const uint64_t keep = exponent < f64::kExpVanishes ? 0 : ~uint64_t{0};
    const double kept = BitCast<double>(ToBits(exponent) & keep);
    const f64::ExpParts e = f64::SplitExp(kept, tail);
    const double inside = (1 + (e.r + e.rest)) * e.first * e.second;
    const double power = exponent > 710 ? wide::kInfinity : inside;
    // As masks, since the exponent may be the same for all.
    const bool whole = IsWhole(y_size), is_odd = whole & !IsWhole(0.5 * y_size);
    const uint64_t odd = wide::kSign & (uint64_t{0} - uint64_t{is_odd});
    const uint64_t undefined = ToBits(wide::kNan) & (uint64_t{0} - uint64_t{!whole});
    const uint64_t value = (ToBits(power) & keep) | (ToBits(x) & odd);
    return BitCast<double>(value | (x < 0 ? undefined : 0));
  }
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
  Entry(k, BlockOp::kPower, CType::kF64) = BinaryLoopWithRare<Power, double, false>;
  Entry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) =
      BinaryLoopWithRare<Power, double, true>;
  Entry(k, BlockOp::kAtan2, CType::kF64) = BinaryLoopWithRare<Atan2, double, false>;
  Entry(k, BlockOp::kAtan2, CType::kF64, Scalars::kSecond) =
      BinaryLoopWithRare<Atan2, double, true>;
  Entry(k, BlockOp::kRemainder, CType::kF64) = BinaryLoop<Remainder, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Remainder, double, double>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
