// SPDX-License-Identifier: Apache-2.0
//
// Exponential and logarithmic functions of f64, in vector loops. The methods are those of
// block_exp_f32.cc with longer polynomials. Largest errors seen, over some 10^7 arguments each:
// Exp 0.9, Tanh 1.4, Log 0.8, Log1p 0.8, Expm1 1.2, Logistic 1.4, Erf 1.2, Erfc 1.5 ULP.
#include "src/cpu_device/kernels/math_f64-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if !defined(__AVX2__)  // the other levels have all by tables, in other files
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

// c[0] + c[1] x + ..., by the square of x: half as long a chain of products.
template <int kCount>
PJRT_INLINE double Polynomial(double x, const double (&c)[kCount]) {
  const double square = x * x;
  constexpr int kFirst = (kCount - 1) / 2 * 2;
  double p = kFirst + 1 < kCount ? MulAdd(c[kCount - 1], x, c[kFirst]) : c[kFirst];
#pragma GCC unroll 16
  for (int i = kFirst - 2; i >= 0; i -= 2) p = MulAdd(p, square, MulAdd(c[i + 1], x, c[i]));
  return p;
}

// (tanh(x) - x) / x^3 on |x| <= 0.625 by x^2, to 2^-61.
constexpr double kTanhNear[] = {
    -0x1.5555555555552p-2,  0x1.1111111110c38p-3,  -0x1.ba1ba1b9d10edp-5,  0x1.664f4870bff25p-6,
    -0x1.226e32d11c475p-7,  0x1.d6d35aa3e3fc7p-9,  -0x1.7d9c3a0f76a95p-10, 0x1.350bcc5c4ff1dp-11,
    -0x1.f116977607643p-13, 0x1.8027da504abb6p-14, -0x1.faf964a09daa8p-16, 0x1.966361d50eb15p-18};

// What the exponential gives for sizes that it does not serve is not used; to bound them first
// costs a tenth of the time.
struct Tanh {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    const double far = 1 - 2 / (f64::ExpOfModerate(2 * size) + 1);
    const double s = size * size;
    const double p = Polynomial(s, kTanhNear);
    const double near = MulAdd(size * s, p, size);
    const double outer = size > 22 ? 1.0 : far;
    return wide::CopySign(size < 0.625 ? near : outer, x);
  }
};

// (log(1 + f) - 2 s) / s^3 for s = f / (2 + f) by s^2.
constexpr double kLogSeries[] = {0x1.5555555555592p-1, 0x1.999999997fd71p-2, 0x1.24924941f588fp-2,
                                 0x1.c71c520583997p-3, 0x1.74663fbee0689p-3, 0x1.39a1a3fd19d03p-3,
                                 0x1.2f0653008afe9p-3};
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
  const double r = Polynomial(z, kLogSeries);
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

// erf(x) / x - 1 for |x| <= 1 by x^2, to 2^-56.
constexpr double kErfNear[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b20p-4,  -0x1.b82ce3128499cp-6,
    0x1.565bcd0db02c7p-8,  -0x1.c02db3d8ecdbep-11, 0x1.f9a321a116d34p-14, -0x1.f4d1df38db4aep-17,
    0x1.b9def1995c1e6p-20, -0x1.5f1d36a3432d6p-23, 0x1.f7a4112daf135p-27, -0x1.386abe81bc097p-30,
    0x1.0579a69d4bb26p-34};
// log(1 - erf(x)) for 1 <= x <= kErfIsOne by x - 1; with it erf to 2^-58.
constexpr double kErfIsOne = 5.9375;
constexpr double kErfFar[] = {
    -0x1.d97fbf27aa2a1p+0,  -0x1.51c9b0006c23dp+1,  -0x1.afabc11a28f3ep-1,  -0x1.5477f09ca8a9cp-5,
    0x1.48c9d40be93aep-7,   -0x1.033f69916b1c1p-9,  0x1.f1b4bb127a4c6p-13,  0x1.b8be4dc062f96p-16,
    -0x1.c7596caea19a7p-16, 0x1.41571faec1e90p-17,  -0x1.0ebcabcebbf01p-19, 0x1.aeaa917d3a535p-24,
    0x1.16f4b624b0f4cp-23,  -0x1.2fb17fa86d69bp-24, 0x1.8c1a0aecb62d2p-26,  -0x1.7b07cf53a3180p-28,
    0x1.126377e628664p-30,  -0x1.26b407bdf9224p-33, 0x1.bbde7b3ac5a06p-37,  -0x1.a1f43a818a807p-41,
    0x1.717882c5d0ffep-46};
// exp(x^2) (1 + 2 x) erfc(x) for kErfcJoint <= x <= kErfcVanishes, between 1.1 and 1.3, by
// t = (x - 3) / (x + 3): kErfcMiddle in two parts and t times the polynomial; to 2^-55.
constexpr double kErfcJoint = 0.75, kErfcVanishes = 27.3;
constexpr double kErfcMiddle = 0x1.40c522d7e4987p+0, kErfcMiddleLow = 0x1.a19969d5cf11fp-55;
constexpr double kErfcFar[] = {
    -0x1.15c084bb9e8fep-3,  -0x1.85a15c58aa604p-5,  0x1.098366a5b4da4p-3,  -0x1.e88b803a48f8bp-4,
    0x1.17ca2877c9c63p-4,   -0x1.8574c40bb2f0dp-6,  0x1.4b884ea9c3267p-9,  0x1.ef1bdce4b38adp-10,
    -0x1.98db62e38d92ep-11, -0x1.b9120a5d52670p-14, 0x1.065c0b65269cdp-13, 0x1.4beb7cb8a17b5p-18,
    -0x1.5174daf1cb0dbp-16, -0x1.7f92c54130cbfp-21, 0x1.d61cdbe1eba69p-19, 0x1.4b86c91dd9826p-22,
    -0x1.5d037839bf190p-21, -0x1.2093b00f9674ap-24, 0x1.d0866ca9974a5p-24, -0x1.79343f078c9fap-27};

struct Erf {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    const double near = MulAdd(size, Polynomial(size * size, kErfNear), size);
    const double far = 1 - f64::ExpOfModerate(Polynomial(size - 1, kErfFar));
    const double outer = size > kErfIsOne ? 1.0 : far;
    return wide::CopySign(size < 1 ? near : outer, x);
  }
};

// exp's argument, the square, has a tail; what the divisor, the dividend and their quotient lose by
// rounding is made good.
struct Erfc {
  PJRT_INLINE double Run(double x) {
    const double size = wide::Abs(x);
    const bool inner = size < kErfcJoint;
    const bool gone = size > kErfcVanishes;
    const double rest = 1 - x, lost_of_rest = (1 - rest) - x;
    const double near = rest + MulAdd(-x, Polynomial(x * x, kErfNear), lost_of_rest);
    const double z = (inner | gone) ? 1.0 : size;
    const double square = z * z;
    const f64::ExpParts e = f64::SplitExp(-square, -f64::LostOfProduct(z, z, square));
    const double divisor = 1 + 2 * z, shifted = z + 3;
    const double inverses = 1 / (divisor * shifted), inverse = inverses * shifted;
    const double t = (z - 3) * (inverses * divisor);
    const double rise = t * Polynomial(t, kErfcFar), dividend = kErfcMiddle + rise;
    const f64::Pair above = {dividend, (rise - (dividend - kErfcMiddle)) + kErfcMiddleLow};
    const f64::Pair below = {divisor, 2 * z - (divisor - 1)};
    const double ratio = above.high * inverse, product = ratio * divisor;
    const double left = (above.high - product) - f64::LostOfProduct(ratio, divisor, product);
    const double ratio_low = ((left + above.low) - ratio * below.low) * inverse;
    const double low = MulAdd(ratio, e.rest, MulAdd(ratio_low, e.r + e.rest, ratio_low));
    const double value = (ratio + MulAdd(ratio, e.r, low)) * e.first * e.second;
    const double right = gone ? 0.0 : value;
    const double outer = x < 0 ? 2 - right : right;
    return inner ? near : outer;
  }
};
#endif

}  // namespace

#if !defined(__AVX2__)
void FillExpF64(BlockKernels* k) {
  SetUnary<double, f64::Exp, double, double>(k, BlockOp::kExp);
  SetUnary<double, Log, double, double>(k, BlockOp::kLog);
  SetUnary<double, Log1p, double, double>(k, BlockOp::kLog1p);
  SetUnary<double, Tanh, double, double>(k, BlockOp::kTanh);
  SetUnary<double, f64::Expm1, double, double>(k, BlockOp::kExpm1);
  SetUnary<double, Logistic, double, double>(k, BlockOp::kLogistic);
  SetUnary<double, Erf, double, double>(k, BlockOp::kErf);
  SetUnary<double, Erfc, double, double>(k, BlockOp::kErfc);
}
#else
void FillExpF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
