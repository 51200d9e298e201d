// SPDX-License-Identifier: Apache-2.0
//
// Power of f64. Largest error seen, over some 10^7 numbers, 0.81 ULP; levels without fused
// multiply-add have a formula of their own, 1.1 ULP.
#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX2__)
// For x = 2^k m, m from 0.742 up to twice that, and the 32nd part of that octave's fractions in
// which m lies: 1 + z = m c with a c of so few bits that z is exact, below 0.02 in size, and
// -log(c) in two parts. Of these the first is a multiple of 2^-42, as that of log(2) is. From both
// parts 1023 log(2) is subtracted, since the exponents of f64 are biased. Numbers near 1 have c
// = 1.
constexpr Columns<3, 32> kLogs = {
    {{{0x1.54p+0, 0x1.5p+0, 0x1.48p+0, 0x1.4p+0,  0x1.3cp+0, 0x1.34p+0, 0x1.3p+0,  0x1.28p+0,
       0x1.24p+0, 0x1.2p+0, 0x1.1cp+0, 0x1.14p+0, 0x1.1p+0,  0x1.0cp+0, 0x1.08p+0, 0x1.04p+0,
       0x1p+0,    0x1.fp-1, 0x1.ep-1,  0x1.d4p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1,  0x1.a4p-1,
       0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.7cp-1, 0x1.74p-1, 0x1.6cp-1, 0x1.64p-1, 0x1.5cp-1}},
     {{-0x1.62afc9679f362p+9, -0x1.62ae459cfeee6p+9, -0x1.62ab2ffc14f56p+9, -0x1.62a806db6f31cp+9,
       -0x1.62a66aacf617ep+9, -0x1.62a3226ca9a8p+9,  -0x1.62a17614183ecp+9, -0x1.629e0c369fb72p+9,
       -0x1.629c4e622467ap+9, -0x1.629a8a675eacap+9, -0x1.6298c01a44bc8p+9, -0x1.629517cf72a5p+9,
       -0x1.6293396fd79b8p+9, -0x1.629153f9e523ep+9, -0x1.628f673709662p+9, -0x1.628d72ee32a6ep+9,
       -0x1.628b76e3a7972p+9, -0x1.6287668c451d4p+9, -0x1.628334174cc8p+9,  -0x1.627ff67a2221cp+9,
       -0x1.627ca34ff5d5p+9,  -0x1.627810e6f7818p+9, -0x1.6275b7a33c42ep+9, -0x1.62721c88caa02p+9,
       -0x1.626e66abb531cp+9, -0x1.626bddc73ae36p+9, -0x1.626947c6a3476p+9, -0x1.62654cffe3f06p+9,
       -0x1.626293c822b3ap+9, -0x1.625fcb67e8e46p+9, -0x1.625cf332ba0a2p+9, -0x1.625a0a705680cp+9}},
     {{-0x1.ede66026780a1p-35, -0x1.ef7b6c51c05d1p-35, -0x1.ee9c54b37bc92p-35,
       -0x1.ee5bc6a084e45p-35, -0x1.eeb8d96b0d63fp-35, -0x1.ee4a3d9c5e153p-35,
       -0x1.edf6e8656583p-35,  -0x1.ee0be09e85297p-35, -0x1.ef9f42479e7ap-35,
       -0x1.ee50db2d7ba26p-35, -0x1.ef64c70685f3bp-35, -0x1.ef483072f37e1p-35,
       -0x1.ee4445641a882p-35, -0x1.ee2d9cf6fb2cep-35, -0x1.ef1fac78195a8p-35,
       -0x1.eebd8fadc63cdp-35, -0x1.eeb9abde27626p-35, -0x1.efa89a1dca709p-35,
       -0x1.eee9779907758p-35, -0x1.eeb2a43abcfaep-35, -0x1.ee84995de8143p-35,
       -0x1.efb848e3a52dbp-35, -0x1.eede8c25fe339p-35, -0x1.eea1b9b5cec16p-35,
       -0x1.eed1f65c9d195p-35, -0x1.ef8214049348ap-35, -0x1.ee2a3017b5fa2p-35,
       -0x1.ef1d35c973e75p-35, -0x1.ee364b164d01cp-35, -0x1.eed3b7083006cp-35,
       -0x1.ef437fb8fff0ep-35, -0x1.eefb1765befe7p-35}}}};
constexpr double kLn2High = 0x1.62e42fefa3800p-1, kLn2Low = 0x1.ef35793c76800p-45;

#if defined(__AVX512F__)
PJRT_INLINE Doubles NumbersOf(Words small) { return _mm512_cvtepu64_pd(small); }
PJRT_INLINE Mask IsSpecial(Doubles x) {
  constexpr int kNan = 0x81, kZero = 0x06, kInfinity = 0x18, kDenormal = 0x20;
  return _mm512_fpclass_pd_mask(x, kNan | kZero | kInfinity | kDenormal);
}
// `power`, that of |x|, with C's rules for the sign and for what does not exist.
PJRT_INLINE Doubles WithSignOfPower(Doubles power, Doubles x, Doubles y) {
  const Mask whole = Compare<_CMP_EQ_OQ>(Nearest(y), y);
  // Large numbers, which are even, have a last bit of 0 here as well.
  const Words odd = _mm512_maskz_slli_epi64(whole, _mm512_cvtpd_epi64(y), 63);
  const Doubles result =
      (Doubles)_mm512_ternarylogic_epi64((Words)power, (Words)x, odd, 0x78);  // a ^ (b & c)
  constexpr int kNegativeFinite = 0x40;
  const Mask undefined = _mm512_mask_fpclass_pd_mask(static_cast<Mask>(~whole), x, kNegativeFinite);
  return _mm512_mask_mov_pd(result, undefined, All(__builtin_nan("")));
}
#else
PJRT_INLINE Doubles NumbersOf(Words small) {
  return (Doubles)_mm256_or_si256(small, (Words)All(0x1p+52)) - All(0x1p+52);
}
PJRT_INLINE Mask IsSpecial(Doubles x) {
  const Doubles size = Magnitude(x);
  return Either(Compare<_CMP_LT_OQ>(size, All(0x1p-1022)),
                Compare<_CMP_NLT_UQ>(size, All(__builtin_inf())));
}
PJRT_INLINE Doubles WithSignOfPower(Doubles power, Doubles x, Doubles y) {
  const Doubles half = y * All(0.5);
  const Mask whole = Compare<_CMP_EQ_OQ>(Nearest(y), y);
  const Mask odd = Both(whole, Compare<_CMP_NEQ_UQ>(Nearest(half), half));
  const Doubles result = Turned(power, Keep(odd, x));
  const Mask negative = Both(Compare<_CMP_LT_OQ>(x, All(0)),  //
                             Compare<_CMP_GT_OQ>(x, All(-__builtin_inf())));
  return Choose(_mm256_andnot_pd(whole, negative), All(__builtin_nan("")), result);
}
#endif

struct Parts {
  Doubles high, low;
};
// log(size) for positive numbers without the denormals, with `less` subtracted from the exponent;
// to 2^-65 of it. The low part is below 2^-12 of the high one.
PJRT_INLINE Parts Log(Doubles size, Doubles less) {
  // The octave's ends, and a half of the part around 1.
  constexpr uint64_t kUp = (uint64_t{1} << 51) + (uint64_t{1} << 46);
  constexpr uint64_t kLeast = 0x3fe7c00000000000;
  const Words lifted = Plus((Words)size, AllWords(kUp));
  const Doubles k = NumbersOf(ShiftedRight<52>(lifted)) - less;
  const Doubles m = (Doubles)Plus(lifted & AllWords((uint64_t{1} << 52) - 1), AllWords(kLeast));
  const auto part = EntriesAt<kLogs>(ShiftedRight<47>(lifted));
  const Doubles inverse = part[0], part_high = part[1], part_low = part[2];
  const Doubles z = Fused(m, inverse, All(-1));
  const Doubles whole = Fused(k, All(kLn2High), part_high);  // exact
  // z - z^2 / 2 - z^3 p / 2
  const Doubles half = z * All(-0.5), square = half * z;
  const Doubles square_low = Fused(half, z, -square);
  const Doubles p01 = Fused(z, All(0x1.ffffffffffeeap-2), All(-0x1.5555555555555p-1));
  const Doubles p23 = Fused(z, All(-0x1.5555555a2fea2p-1), All(0x1.99999999a6ecfp-1));
  const Doubles p45 = Fused(z, All(0x1.ffff2f3258e65p-1), All(-0x1.24924709f9ccep+0));
  const Doubles p67 = Fused(z, All(-0x1.9f1ff7f1b5de1p+0), All(0x1.c75f934ab4a7cp+0));
  const Doubles p0123 = Fused(p23, square, p01), p4567 = Fused(p67, square, p45);
  const Doubles p = Fused(p4567, square * square, p0123);
  // Each number is larger than the next, or 0.
  const Doubles sum = whole + z, sum_low = (whole - sum) + z;
  const Doubles high = sum + square, high_low = (sum - high) + square;
  const Doubles low = (Fused(k, All(kLn2Low), part_low) + sum_low) + (square_low + high_low);
  return {high, Fused(square * z, p, low)};
}
// exp(high + low) for numbers below 1000, `sum` being their sum.
PJRT_INLINE Doubles Exp(Doubles sum, Doubles high, Doubles low) {
  constexpr double kShift = 0x1.8p+48;
  const Doubles shifted = Fused(sum, All(0x1.71547652b82fep+0), All(kShift));
  const Doubles n = shifted - All(kShift);
  const auto part = EntriesAt<kPowers>((Words)shifted);
  const Doubles power = part[0], power_rest = part[1];
  const Doubles rest = FusedLess(n, All(0x1.62e42fefa0000p-1), high) + low;
  const Doubles r = FusedLess(n, All(0x1.cf79abc9e3b3ap-40), rest), r2 = r * r;
  const Doubles p01 = Fused(r, All(0x1.555555555555ap-3), All(0x1.0000000000004p-1));
  const Doubles p23 = Fused(r, All(0x1.111111107c1f6p-7), All(0x1.555555547eac7p-5));
  const Doubles p45 = Fused(r, All(0x1.a01ba06bac419p-13), All(0x1.6c184223e5875p-10));
  const Doubles p = Fused(Fused(p45, r2, p23), r2, p01);
  return Scaled(Fused(Fused(p, r2, r + power_rest), power, power), n);
}

// exp(y log|x|), then the rules of C's pow.
struct Power {
  static constexpr double kFar = 900;  // exp of more overflows, of less than -900 is 0
  using Half = Parts;                  // y log|x|
  PJRT_INLINE Parts Begin(Doubles x, Doubles y) {
    const Parts log = Log(Magnitude(x), All(0));
    const Doubles high = y * log.high;
    return {high, Fused(y, log.low, Fused(y, log.high, -high))};
  }
  PJRT_INLINE Doubles End(Doubles x, Doubles y, Parts exponent) {
    const Doubles sum = exponent.high + exponent.low;
    const Mask far = Compare<_CMP_NLT_UQ>(Magnitude(sum), All(kFar));
    if (Any(IsSpecial(x), far)) return RunAll(x, y);
    return WithSignOfPower(Exp(sum, exponent.high, exponent.low), x, y);
  }
  static __attribute__((noinline)) Doubles RunAll(Doubles x, Doubles y) {
    constexpr double kInfinity = __builtin_inf();
    const Doubles size = Magnitude(x);
    const Mask small = Compare<_CMP_LT_OQ>(size, All(0x1p-1022));
    const Mask zero = Compare<_CMP_EQ_OQ>(size, All(0));
    const Mask infinite = Compare<_CMP_EQ_OQ>(size, All(kInfinity));
    const Parts log = Log(Choose(small, size * All(0x1p+54), size), Keep(small, All(54)));
    // Larger ones overflow as this one does.
    const Doubles exponent = Smaller(All(0x1p+70), Larger(All(-0x1p+70), y));
    const Doubles high = exponent * log.high;
    const Doubles low = Fused(exponent, log.low, Fused(exponent, log.high, -high));
    const Doubles sum = high + low;
    const Doubles of_zero = Turned(WithSign(All(kFar), y), All(-0.0));
    const Doubles bounded = Smaller(All(kFar), Larger(All(-kFar), sum));
    const Doubles inside = Choose(infinite, WithSign(All(kFar), y), Choose(zero, of_zero, bounded));
    // Products that underflow take a hundred times as long as others by AVX2, so none is formed.
    const Mask some = Compare<_CMP_GE_OQ>(inside, All(f64::kExpVanishes));
    const Mask same = Both(some, Compare<_CMP_EQ_OQ>(inside, sum));
    const Doubles power = Keep(
        some, Exp(Keep(some, inside), Keep(some, Choose(same, high, inside)), Keep(same, low)));
    const Doubles result = Choose(Compare<_CMP_UNORD_Q>(x, y), x + y, WithSignOfPower(power, x, y));
    const Mask one = Either(Compare<_CMP_EQ_OQ>(x, All(1)), Compare<_CMP_EQ_OQ>(y, All(0)));
    return Choose(one, All(1), result);
  }
};

}  // namespace

void FillPowerF64(BlockKernels* k) {
  Entry(k, BlockOp::kPower, CType::kF64) = BinaryDoublesLoopInTwo<Power, false>;
  Entry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) = BinaryDoublesLoopInTwo<Power, true>;
}
#else
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

}  // namespace

void FillPowerF64(BlockKernels* k) {
  Entry(k, BlockOp::kPower, CType::kF64) = BinaryLoopWithRare<Power, double, false>;
  Entry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) =
      BinaryLoopWithRare<Power, double, true>;
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
