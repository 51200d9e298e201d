// SPDX-License-Identifier: Apache-2.0
//
// The angle of a point and the remainder of a division of f64. The largest error of an angle seen,
// over some 10^7 points, is 0.67 ULP; the remainder is exact. Levels without fused multiply-add
// have a formula of their own for the angle, and call the C library for the remainder.
#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX2__)
// arctan(c + t) = arctan(c) + t s + t^2 P(t) on each piece, a quarter of an octave. The last four
// bits of its number, that is of the exponent and the first two digits of a slope from 1/8 to 1,
// say where its numbers stand. The last of all are for the slopes below 1/8, where arctan(t) =
// t + t^3 P(t^2). Centers are numbers whose values are all but numbers of f64 themselves. To 2^-60.
// The columns are c, arctan(c), s and P's coefficients, the highest power first.
enum { kCenter, kValue, kSlope, kTerm };
constexpr Columns<kTerm + 9> kArctan = {
    {{{0x1.200d3977f2739p-3, 0x1.5fedce75b1c81p-3, 0x1.a00cb6ed4f8f6p-3, 0x1.e008810fb7d6p-3,
       0x1.200ef525aae5ap-2, 0x1.60133f9492b7p-2, 0x1.9ff1a060ea86ap-2, 0x1.dfe9b7cebca88p-2,
       0x1.1ffbcb5d486c6p-1, 0x1.600984f7db07bp-1, 0x1.a011eda498d4ep-1, 0x1.e01264ec13ffp-1, 0, 0,
       0, 0}},
     {{0x1.1e2ca77ead28fp-3, 0x1.5c8665f6e63d5p-3, 0x1.9a76c48673451p-3, 0x1.d7856da31166p-3,
       0x1.18cd36989e746p-2, 0x1.531c10550814ep-2, 0x1.8b187d271cddbp-2, 0x1.c0c907d030653p-2,
       0x1.0654b76ebf3bcp-1, 0x1.3465788e370a7p-1, 0x1.5d6364d7c7aa2p-1, 0x1.81a6d5789f464p-1, 0, 0,
       0, 0}},
     {{0x1.f6115e9f4f524p-1, 0x1.f15093624e90bp-1, 0x1.ebb519a26d6b8p-1, 0x1.e5560487a1f35p-1,
       0x1.da7464f0a2b61p-1, 0x1.c9df6e45a32f5p-1, 0x1.b77caf24c8ae6p-1, 0x1.a3cb2bbef53dbp-1,
       0x1.84f2c7188fb4cp-1, 0x1.5ba5c35706d79p-1, 0x1.345d08e6015c2p-1, 0x1.1075f70b798cap-1, 0, 0,
       0, 0x1p+0}},
     {{-0x1.6d916477c59e6p-4, -0x1.5ef0734d0a225p-4, -0x1.2fb1333b8d083p-4, -0x1.d2bd566389b82p-5,
       -0x1.b6070a28184d8p-6, 0x1.36e83e5312c96p-7, 0x1.f3c4167721126p-6, 0x1.1ea806cc31f1p-5,
       0x1.7c33a6391697ep-6, 0x1.f49f3b3510198p-9, -0x1.07f50d40a8efdp-8, -0x1.08fb799ff2ad5p-8, 0,
       0, 0, 0}},
     {{0x1.00c2dc8d82c6bp-5, 0x1.f67beaa53fc9ap-9, -0x1.5df49308a1531p-6, -0x1.5794f3acd1fadp-5,
       -0x1.f7c4270de579ap-5, -0x1.0f41ed2c80358p-4, -0x1.b09c02e1975bep-5, -0x1.02d1dbe94760ap-5,
       -0x1.bfa594f45ba95p-9, 0x1.9ba9fc250ad9bp-7, 0x1.6f6aee5301a1fp-7, 0x1.7774098e08d16p-8, 0,
       0, 0, 0}},
     {{0x1.a9ada162d7706p-4, 0x1.bdc928110e5b2p-4, 0x1.b34c4c48d849ap-4, 0x1.8e4b3757e23ecp-4,
       0x1.32a01277adf77p-4, 0x1.358f745e248c6p-5, 0x1.e8274d6518928p-9, -0x1.49f8ff29f45cfp-6,
       -0x1.16d833b974833p-5, -0x1.b0df06c18909bp-6, -0x1.8b826d4057154p-7, -0x1.4e71928159112p-9,
       0, 0, 0, -0x1.02abfa431a5e4p-4}},
     {{-0x1.312f606d543e7p-4, -0x1.879a82578e9a5p-5, -0x1.5366db60e42a5p-6, 0x1.3d0f00b40a3b2p-8,
       0x1.3255cc546ce28p-5, 0x1.0cfcd3d864b53p-4, 0x1.361a41114d387p-4, 0x1.233f31640ac6ep-4,
       0x1.93a0ebc67517dp-5, 0x1.1f5befeea5c66p-6, -0x1.989bdf540a3f2p-10, -0x1.116f47709cbbbp-7, 0,
       0, 0, 0x1.3ab8904e6bee9p-4}},
     {{-0x1.dea46a0631196p-4, -0x1.0ab63eabb1719p-3, -0x1.1a109b07ab282p-3, -0x1.1d89373b6f85bp-3,
       -0x1.0edc4f687f642p-3, -0x1.be909bcf47e6bp-4, -0x1.3d9b4dbac21bcp-4, -0x1.70af93c138de3p-5,
       -0x1.4281d222406b5p-8, 0x1.84fc8611c19b8p-6, 0x1.e636b128fdbbep-6, 0x1.93dbaef124443p-6, 0,
       0, 0, -0x1.745beaa6c55b8p-4}},
     {{0x1.2aa41af466c24p-3, 0x1.f635beb595962p-4, 0x1.8ebd3658314a4p-4, 0x1.23fbbfdf8b66fp-4,
       0x1.0ca9c258e4fcp-5, -0x1.a4d947c7e04edp-7, -0x1.884d08b569216p-5, -0x1.21f518153b5dbp-4,
       -0x1.58b6868aec467p-4, -0x1.349820dc4c519p-4, -0x1.bc746e31aa26bp-5, -0x1.12919bd5538ap-5, 0,
       0, 0, 0x1.c71c6fa4ecf07p-4}},
     {{0x1.0512cb096cd98p-3, 0x1.3001b04d1c623p-3, 0x1.534dcde12ae15p-3, 0x1.6e49697a0b037p-3,
       0x1.8734e69b11206p-3, 0x1.8d2021cf11bap-3, 0x1.791a0a332edc1p-3, 0x1.527db61eaa1a9p-3,
       0x1.064343a429f3p-3, 0x1.3b9f21fc22acep-4, 0x1.297a0f768505fp-5, 0x1.29b6cfd1a6897p-7, 0, 0,
       0, -0x1.2492492388a56p-3}},
     {{-0x1.2ec033fe15cb1p-2, -0x1.1d165bd2e6979p-2, -0x1.08e756c2d053fp-2, -0x1.e5a1e23d6799cp-3,
       -0x1.9e441417e13e7p-3, -0x1.3b16b7249602ep-3, -0x1.b41620a245b31p-4, -0x1.00aa30c838248p-4,
       -0x1.e75d15dbf1aadp-8, 0x1.658b9f065cd57p-5, 0x1.24a6087539f93p-4, 0x1.50eb0a8ceae01p-4, 0,
       0, 0, 0x1.99999999991fp-3}},
     {{-0x1.14fc0078ef258p-3, -0x1.4c07c23d01e99p-3, -0x1.7fb94db5d2991p-3, -0x1.af5630ee1080ap-3,
       -0x1.eeb8815369984p-3, -0x1.1991b6f91e3ep-2, -0x1.327822c9db8fcp-2, -0x1.429f48fe4f99ep-2,
       -0x1.4c629b59cd1edp-2, -0x1.449b32904b0a7p-2, -0x1.2dd800fcf8776p-2, -0x1.0fe5a019926fdp-2,
       0, 0, 0, -0x1.5555555555555p-2}}}};

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

// The slope is the smaller coordinate over the larger one, both positive, and its arc is added to a
// multiple of pi / 2 or subtracted from it. What the slope lost by rounding is added to the arc.
struct Atan2 {
  PJRT_INLINE double RunRare(double y, double x) { return __builtin_atan2(y, x); }
  struct Half {
    Doubles slope, lost;
  };
  static constexpr double kFarOut = 0x1p+500, kNear = 0x1p-500;
  PJRT_INLINE Half Begin(Doubles y, Doubles x) {
    const Doubles height = Magnitude(y), width = Magnitude(x);
    const Doubles a = Smaller(width, height), b = Larger(Larger(height, width), All(kNear));
    const Doubles inverse = All(1) / b, slope = a * inverse;
    return {slope, FusedLess(slope, b, a) * inverse};
  }
  PJRT_INLINE Doubles End(Doubles y, Doubles x, Half half) {
    const Doubles height = Magnitude(y), width = Magnitude(x);
    // One of these is a NaN where a coordinate is.
    const Doubles smaller = Smaller(width, height), larger = Larger(height, width);
    const Mask far = Compare<_CMP_NLE_UQ>(larger, All(kFarOut));
    const Mask close =
        Both(Compare<_CMP_NGE_UQ>(smaller, All(kNear)), Compare<_CMP_NEQ_UQ>(smaller, All(0)));
    const Doubles angle = Angle(y, x, half.slope, half.lost, Compare<_CMP_GT_OQ>(height, width));
    if (Any(far, close)) return WithRare<Atan2>(angle, y, x, Lanes(Either(far, close)));
    return angle;
  }
  PJRT_INLINE Doubles Angle(Doubles y, Doubles x, Doubles slope, Doubles lost, Mask steep) {
    // Rounding may make a slope of 1 larger.
    const Doubles inside =
        Smaller(Larger(slope, All(0x1.fffffffffffffp-4)), All(0x1.fffffffffffffp-1));
    const auto piece = EntriesAt<kArctan>(ShiftedRight<50>((Words)inside));
    const Doubles t = slope - piece[kCenter], square = t * t;
    const Mask flat = Compare<_CMP_LT_OQ>(slope, All(0.125));
    const Doubles of = Choose(flat, square, t), of2 = of * of;
    const Doubles p01 = Fused(piece[kTerm + 7], of, piece[kTerm + 8]);
    const Doubles p23 = Fused(piece[kTerm + 5], of, piece[kTerm + 6]);
    const Doubles p45 = Fused(piece[kTerm + 3], of, piece[kTerm + 4]);
    const Doubles p67 = Fused(piece[kTerm + 1], of, piece[kTerm + 2]);
    const Doubles p678 = Fused(piece[kTerm], of2, p67);
    const Doubles p = Fused(Fused(Fused(p678, of2, p45), of2, p23), of2, p01);
    const Doubles s = piece[kSlope];
    const Doubles more = Fused(TimesWhere(flat, square, t), p, s * lost);
    const Doubles arc_low = Fused(s, t, more);
    // Steep slopes turn back from the y axis, others left of it from the negative x axis.
    const Doubles back = Turned(x, Keep(steep, All(-0.0)));
    const Mask left = IsNegative(x);
    const Doubles from = Choose(steep, All(wide::kHalfPi), Choose(left, All(wide::kPi), All(0)));
    constexpr double kHalfPiLow = 0x1.1a62633145c07p-54;
    const Doubles from_low =
        Choose(steep, All(kHalfPiLow), Choose(left, All(2 * kHalfPiLow), All(0)));
    const Doubles value = Turned(piece[kValue], back);
    const Doubles sum = from + value, rest = (from - sum) + value;
    return WithSign(sum + ((rest + from_low) + Turned(arc_low, back)), y);
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
  Entry(k, BlockOp::kAtan2, CType::kF64) = BinaryDoublesLoopInTwo<Atan2, false>;
  Entry(k, BlockOp::kAtan2, CType::kF64, Scalars::kSecond) = BinaryDoublesLoopInTwo<Atan2, true>;
  Entry(k, BlockOp::kRemainder, CType::kF64) = BinaryDoublesLoop<Remainder, false>;
  Entry(k, BlockOp::kRemainder, CType::kF64, Scalars::kSecond) = BinaryDoublesLoop<Remainder, true>;
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
