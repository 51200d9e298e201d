// SPDX-License-Identifier: Apache-2.0
//
// The angle of a point and the remainder of a division of f64. The largest error of an angle seen,
// over some 10^7 points, is 0.90 ULP; the remainder is exact. Levels without fused multiply-add
// have a formula of their own for the angle, and call the C library for the remainder.
#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX2__)
// arctan(c + t) = arctan(c) + t s + t^2 P(t) around the multiples of 1/15, to 2^-55. Centers are
// numbers whose values are all but numbers of f64 themselves. The columns are c, arctan(c), s and
// P's coefficients, from the constant one on.
enum { kCenter, kValue, kSlope, kTerm };
constexpr Columns<kTerm + 8> kArctan = {
    {{{0, 0x1.7e4b3a6c1af65p-5, 0x1.eb85ba3be51f8p-4, 0x1.851f8a7330992p-3, 0x1.0da779baad89ap-2,
       0x1.51eb9b0ef3a5fp-2, 0x1.962fd903d1d13p-2, 0x1.da740ec7b28b7p-2, 0x1.0f5c389dd1906p-1,
       0x1.317e6428546b8p-1, 0x1.53a079321073ap-1, 0x1.75c2bf247027cp-1, 0x1.97e4bc5666fa6p-1,
       0x1.ba06f120d2b68p-1, 0x1.dc292422d9db3p-1, 0x1.f69d12522b02ap-1}},
     {{0, 0x1.7e0446be96269p-5, 0x1.e92ee7858be48p-4, 0x1.808a20aca718cp-3, 0x1.07ab15db89971p-2,
       0x1.4665d6776ec01p-2, 0x1.82b15d460f5aap-2, 0x1.bc4cbafc43e86p-2, 0x1.f30e3913ca104p-2,
       0x1.137035a57d1c0p-1, 0x1.2bdfc535c1b40p-1, 0x1.42db35a578021p-1, 0x1.586cd4a6cee6fp-1,
       0x1.6ca37292472e4p-1, 0x1.7f8ffb3b7da00p-1, 0x1.8d6329d506f21p-1}},
     {{1, 0x1.fee32c7f15cdbp-1, 0x1.f8bb56b8bb498p-1, 0x1.ee291748d7f70p-1, 0x1.decc3dc68a07dp-1,
       0x1.cdb7febac9ca9p-1, 0x1.ba6459d14e6f3p-1, 0x1.a582ce202b246p-1, 0x1.8fb802d5f792ep-1,
       0x1.7993e9509a88ap-1, 0x1.638d7d6f9367bp-1, 0x1.4e01c9b1e2ce0p-1, 0x1.39362341d8df7p-1,
       0x1.255a014e55e6dp-1, 0x1.128b907ef845ep-1, 0x1.04bc79b983bf5p-1}},
     {{0x1.4b718f67c430dp-61, -0x1.7ca2596dd7417p-5, -0x1.ddaa98ff9f0f1p-4, -0x1.6a7ab78440789p-3,
       -0x1.d7a1538a77649p-3, -0x1.12ced9e42f122p-2, -0x1.2f3ff29e3dc5fp-2, -0x1.41912021ec702p-2,
       -0x1.4ac8e282d49abp-2, -0x1.4c47e099ab6e8p-2, -0x1.479121d103f30p-2, -0x1.3e1f71cbb93dfp-2,
       -0x1.314a2b6dafa94p-2, -0x1.22365b1f7bee9p-2, -0x1.11d2e72146aecp-2, -0x1.04b10d11f9ae0p-2}},
     {{-0x1.555555555557cp-2, -0x1.50e5bd187db5ap-2, -0x1.38e02b44794aap-2, -0x1.11a5a785940b7p-2,
       -0x1.ba2445fc9f586p-3, -0x1.5115c5c9082d9p-3, -0x1.d10102b330f15p-4, -0x1.0f2f346ad7993p-4,
       -0x1.98c4aa798de46p-6, 0x1.2a0aa6e747459p-7, 0x1.24a9bcb3067b9p-5, 0x1.c5e0cb67d82bep-5,
       0x1.1a9213a5a6fdfp-4, 0x1.3d69f3583102ep-4, 0x1.4fb33362d7aeep-4, 0x1.54fa7fc1c5e5bp-4}},
     {{0x1.79cfca2b23132p-40, 0x1.7a28072485a3ap-5, 0x1.c98436c8cca93p-4, 0x1.45785b25a986cp-3,
       0x1.7fd81071d7a83p-3, 0x1.8e4a90c511636p-3, 0x1.7d8d9ec719eb1p-3, 0x1.5650dc6122a38p-3,
       0x1.21f4fef784d56p-3, 0x1.d17ef6906a19cp-4, 0x1.61d713a94a978p-4, 0x1.f9e62d5a63ba3p-5,
       0x1.4de5bd4551f11p-5, 0x1.842bd658801e6p-6, 0x1.545fac3aecd30p-7, 0x1.3a627f48d1f5ap-9}},
     {{0x1.9999998ebf3bdp-3, 0x1.8c5ad456a75bdp-3, 0x1.46d29cf49ac66p-3, 0x1.bae09c90305e2p-4,
       0x1.835ee6983fbdcp-5, -0x1.d06df9e637f03p-9, -0x1.62ce348587401p-5, -0x1.1be2bf85f68ccp-4,
       -0x1.500def93e0ff4p-4, -0x1.5834acb13fa3dp-4, -0x1.41c326a0b16a4p-4, -0x1.19903a09abae0p-4,
       -0x1.d3cb48753152fp-5, -0x1.73d7afdcfb3aap-5, -0x1.1be83c81e27b0p-5, -0x1.c02d6a4d18b64p-6}},
     {{0x1.352168009a409p-25, -0x1.76996786e6ed8p-5, -0x1.ad8e4a38a41f3p-4, -0x1.151981fbfd5ecp-3,
       -0x1.170c724bbc963p-3, -0x1.d7b4388e5db07p-4, -0x1.523c3a7e8eb2fp-4, -0x1.868dc17ed206ap-5,
       -0x1.184e76498ccbfp-6, 0x1.7924b9c33cacep-8, 0x1.4cddc46e0f09cp-6, 0x1.c5dff41c2f20fp-6,
       0x1.e797bba144806p-6, 0x1.d0d6277a31222p-6, 0x1.9b18d2a29a27cp-6, 0x1.68135640b1ea4p-6}},
     {{-0x1.24936ca88a375p-3, -0x1.130a64ed0e661p-3, -0x1.75224c57d83ffp-4, -0x1.0624caf03d39cp-5,
       0x1.a8f08e4f7c495p-6, 0x1.f3fba958082b5p-5, 0x1.3436e510ab3e3p-4, 0x1.269fd459d06fdp-4,
       0x1.da337ed0751e6p-5, 0x1.470ec45edb4b9p-5, 0x1.778d1755316b7p-6, 0x1.34881f6fe73a7p-7,
       0x1.7302d3fe1e966p-14, -0x1.673d6a4022f49p-8, -0x1.0bead96d54081p-7, -0x1.231de371f69c9p-7}},
     {{0x1.20901a930ca85p-14, 0x1.7602f7978edd1p-5, 0x1.8bd747b83e1ffp-4, 0x1.bb682d4a9cfe8p-4,
       0x1.595a03d1e6dcfp-4, 0x1.79bae5c091973p-5, 0x1.145aa7b614225p-7, -0x1.2f4de4f9f41bap-6,
       -0x1.04ddbd5f1c92dp-5, -0x1.15a7c90bb9c5cp-5, -0x1.dbe79376f1978p-6, -0x1.5ea374104eab7p-6,
       -0x1.c21e7a777fe09p-7, -0x1.e8947f2736483p-8, -0x1.84671f3964603p-9,
       -0x1.46c1651c1242dp-11}},
     {{0x1.c330fc5592d3ap-4, 0x1.795d9d11b37c9p-4, 0x1.4956fead29ee2p-5, -0x1.1d52f8c0bc212p-6,
       -0x1.d045e064c3f3fp-5, -0x1.1271fea8431f1p-4, -0x1.c169fd2605a0fp-5, -0x1.0a76a17e91b8bp-5,
       -0x1.671ee13a962f8p-7, 0x1.09b0d0f524dafp-8, 0x1.7aec576148826p-7, 0x1.b457b7bd3aeb1p-7,
       0x1.80f9ea7ba52c2p-7, 0x1.229a8418d2ad2p-7, 0x1.84250f3d03164p-8, 0x1.07e664140add2p-8}}}};

#if defined(__AVX512F__)
// `a` by b where the mask says so.
PJRT_INLINE Doubles TimesWhere(Mask mask, Doubles a, Doubles b) {
  return _mm512_mask_mul_pd(a, mask, a, b);
}
PJRT_INLINE Doubles PlusWhere(Mask mask, Doubles a, Doubles b) {
  return _mm512_mask_add_pd(a, mask, a, b);
}
#else
PJRT_INLINE Doubles TimesWhere(Mask mask, Doubles a, Doubles b) {
  return a * Choose(mask, b, All(1));
}
PJRT_INLINE Doubles PlusWhere(Mask mask, Doubles a, Doubles b) { return a + Keep(mask, b); }
#endif

// Function::RunRare for the elements of `lanes`, one at a time.
template <class Function>
__attribute__((noinline)) Doubles WithRare(Doubles results, Doubles a, Doubles b, int lanes) {
  double result[kDoubles], x[kDoubles], y[kDoubles];
  StoreDoubles(result, results);
  StoreDoubles(x, a);
  StoreDoubles(y, b);
  for (int i = 0; i < kDoubles; ++i) {
    if ((lanes >> i & 1) != 0) result[i] = Function::RunRare(x[i], y[i]);
  }
  return LoadDoubles(result);
}

// The slope is the smaller coordinate over the larger one, both positive; its arc is added to a
// multiple of pi / 2, and the size of the sum is the angle's. What the slope lost by rounding is
// added to the arc.
struct Atan2 {
  PJRT_INLINE double RunRare(double y, double x) { return __builtin_atan2(y, x); }
  struct Half {
    Doubles slope, lost, quarters, smaller, larger;
  };
  static constexpr double kFarOut = 0x1p+500, kNear = 0x1p-500;
  PJRT_INLINE Half Begin(Doubles y, Doubles x) {
    const Doubles height = Magnitude(y), width = Magnitude(x);
    // The first is a NaN where the height is one, and the second where the width is.
    const Doubles smaller = Smaller(width, height), larger = Larger(height, width);
    const Doubles b = Larger(All(kNear), larger);
    const Doubles inverse = All(1) / b, slope = smaller * inverse;
    // Steep slopes turn back from the y axis, others left of it from the negative x axis.
    const Mask steep = Compare<_CMP_GT_OQ>(height, width);
    const Doubles quarters =
        Choose(steep, Turned(All(-1), x), Choose(IsNegative(x), All(-2), All(0)));
    return {slope, FusedLess(slope, b, smaller) * inverse, quarters, smaller, larger};
  }
  PJRT_INLINE Doubles End(Doubles y, Doubles x, const Half& half) {
    const Doubles angle = Angle(y, half);
    const Mask far = Compare<_CMP_NLE_UQ>(half.larger, All(kFarOut));
    const Mask close = Both(Compare<_CMP_NGE_UQ>(half.smaller, All(kNear)),
                            Compare<_CMP_NEQ_UQ>(half.smaller, All(0)));
    if (Any(far, close)) return WithRare<Atan2>(angle, y, x, Lanes(Either(far, close)));
    return angle;
  }
  PJRT_INLINE Doubles Angle(Doubles y, const Half& half) {
    const auto piece = EntriesAt<kArctan>((Words)Fused(half.slope, All(15), All(kIntegerShift)));
    const Doubles t = half.slope - piece[kCenter], square = t * t;
    const Doubles p01 = Fused(piece[kTerm + 1], t, piece[kTerm]);
    const Doubles p23 = Fused(piece[kTerm + 3], t, piece[kTerm + 2]);
    const Doubles p45 = Fused(piece[kTerm + 5], t, piece[kTerm + 4]);
    const Doubles p67 = Fused(piece[kTerm + 7], t, piece[kTerm + 6]);
    const Doubles p = Fused(Fused(Fused(p67, square, p45), square, p23), square, p01);
    const Doubles s = piece[kSlope], arc = piece[kValue], q = half.quarters;
    const Doubles arc_low = Fused(s, t, Fused(square, p, s * half.lost));
    constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
    const Doubles sum = Fused(q, All(wide::kHalfPi), arc);
    const Doubles rest = Fused(q, All(wide::kHalfPi), -sum) + arc;
    return WithSign(sum + (Fused(q, All(kHalfPiLow), rest) + arc_low), y);
  }
};

// x - n y with n the quotient cut to an integer, which is exact.
struct Remainder {
  static constexpr double kExact = 0x1p+53;  // larger quotients are not cut, but rounded
  PJRT_INLINE Doubles Run(Doubles x, Doubles y) {
    const Doubles a = Magnitude(x), b = Magnitude(y);
    const Doubles quotient = a / b;
    const Mask far = Compare<_CMP_NLT_UQ>(quotient, All(kExact));
    if (Any(far, far)) return RunAll(x, y);
    return Last(x, a, b, quotient, a);
  }
  // x's remainder from that of `rest`, which has the same. The quotient may be rounded to an
  // integer that is one too large.
  PJRT_INLINE Doubles Last(Doubles x, Doubles a, Doubles b, Doubles quotient, Doubles rest) {
    const Doubles r = FusedLess(Truncated(quotient), b, rest);
    const Doubles positive = PlusWhere(Compare<_CMP_LT_OQ>(r, All(0)), r, b);
    return WithSign(Choose(Compare<_CMP_LT_OQ>(a, b), a, positive), x);
  }
  // What a - q b leaves for a rounded quotient q is exact too, and at least 2^53 times smaller.
  static __attribute__((noinline)) Doubles RunAll(Doubles x, Doubles y) {
    const Doubles a = Magnitude(x), b = Magnitude(y);
    const Mask defined = Both(Compare<_CMP_LT_OQ>(a, All(wide::kInfinity)),  //
                              Compare<_CMP_GT_OQ>(b, All(0)));
    Doubles rest = Keep(defined, a);
    for (;;) {
      const Mask far = Both(defined, Compare<_CMP_GE_OQ>(Magnitude(rest), b * All(kExact)));
      if (!Any(far, far)) break;
      // Where the quotient leaves the range, multiples of b are subtracted first.
      Doubles divisor = b, quotient = rest / divisor;
      for (;;) {
        const Mask beyond = Compare<_CMP_EQ_OQ>(Magnitude(quotient), All(wide::kInfinity));
        if (!Any(beyond, beyond)) break;
        divisor = TimesWhere(beyond, divisor, All(0x1p+700));
        quotient = rest / divisor;
      }
      rest = Choose(far, FusedLess(quotient, divisor, rest), rest);
    }
    return Choose(defined, Last(x, a, b, rest / b, rest), All(wide::kNan));
  }
};

}  // namespace

void FillAtan2F64(BlockKernels* k) {
  BesideEntry(k, BlockOp::kAtan2, CType::kF64) = BinaryDoublesLoopBehind<Atan2, false>;
  BesideEntry(k, BlockOp::kAtan2, CType::kF64, Scalars::kSecond) =
      BinaryDoublesLoopBehind<Atan2, true>;
  BesideEntry(k, BlockOp::kRemainder, CType::kF64) = BinaryDoublesLoop<Remainder, false>;
  BesideEntry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) =
      BinaryDoublesLoop<Remainder, true>;
}
#else
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

void FillAtan2F64(BlockKernels* k) {
  Entry(k, BlockOp::kAtan2, CType::kF64) = BinaryLoopWithRare<Atan2, double, false>;
  Entry(k, BlockOp::kAtan2, CType::kF64, Scalars::kSecond) =
      BinaryLoopWithRare<Atan2, double, true>;
  Entry(k, BlockOp::kRemainder, CType::kF64) = BinaryLoop<Remainder, double, double>;
  Entry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) =
      BinaryLoopSecondScalar<Remainder, double, double>;
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
