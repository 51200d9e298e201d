// SPDX-License-Identifier: Apache-2.0
//
// Power of f64. Largest error seen, over some 10^7 numbers, 0.81 ULP; levels without fused
// multiply-add have a formula of their own, 1.1 ULP. On an Emerald Rapids it takes 1.35 ns an
// element, and 1.5 where some bases are negative.
#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX2__)
// For x = 2^k m, m from 0.742 up to twice that, and the 32nd part of that octave's fractions in
// which m lies: 1 + z = m c with a c of so few bits that z is exact, below 0.02 in size, and
// -log(c) in two parts. Of these the first is a multiple of 2^-22, as that of log(2) is. Numbers
// near 1 have c = 1.
enum { kInverse, kLog, kLogLow };
constexpr Columns<3, 32> kLogs = {
    {{{0x1.54p+0, 0x1.5p+0, 0x1.48p+0, 0x1.4p+0,  0x1.3cp+0, 0x1.34p+0, 0x1.3p+0,  0x1.28p+0,
       0x1.24p+0, 0x1.2p+0, 0x1.1cp+0, 0x1.14p+0, 0x1.1p+0,  0x1.0cp+0, 0x1.08p+0, 0x1.04p+0,
       0x1p+0,    0x1.fp-1, 0x1.ep-1,  0x1.d4p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1,  0x1.a4p-1,
       0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.7cp-1, 0x1.74p-1, 0x1.6cp-1, 0x1.64p-1, 0x1.5cp-1}},
     {{-0x1.229420p-2,
       -0x1.1675d0p-2,
       -0x1.fb9180p-3,
       -0x1.c8ff80p-3,
       -0x1.af3ca0p-3,
       -0x1.7ab8a0p-3,
       -0x1.5ff300p-3,
       -0x1.295520p-3,
       -0x1.0d77e0p-3,
       -0x1.e27080p-4,
       -0x1.a926c0p-4,
       -0x1.341d80p-4,
       -0x1.f0a300p-5,
       -0x1.774580p-5,
       -0x1.f82a00p-6,
       -0x1.fc0a00p-7,
       0,
       0x1.041600p-5,
       0x1.085980p-4,
       0x1.700d40p-4,
       0x1.da7280p-4,
       0x1.365fc0p-3,
       0x1.5bf400p-3,
       0x1.95a5a0p-3,
       0x1.d10380p-3,
       0x1.f991c0p-3,
       0x1.1178f0p-2,
       0x1.314f20p-2,
       0x1.4718e0p-2,
       0x1.5d5be0p-2,
       0x1.741d80p-2,
       0x1.8b63a0p-2}},
     {{0x1.0c21a6976f5ebp-28,
       0x1.515167c7f18cep-24,
       -0x1.b578f8aa35552p-25,
       0x1.c32b2ef29ed14p-26,
       0x1.62fe801a4e634p-24,
       0x1.fbde4dedc8393p-24,
       -0x1.c29e4f4f21cf9p-25,
       -0x1.f03fea46980bcp-24,
       -0x1.f34239659a5dcp-25,
       0x1.23aa1a342c2afp-25,
       -0x1.3a4ad563650bdp-24,
       0x1.a790b8bdb599fp-26,
       -0x1.8022c54cc2f99p-26,
       -0x1.ec65b9f88c69ep-26,
       0x1.3c61f33fecc1cp-24,
       -0x1.161f807c79f3ep-24,
       0,
       -0x1.3b0c5dddc7f46p-24,
       0x1.6b3c740d11480p-25,
       -0x1.ea2a7e3e17256p-25,
       -0x1.38f772bb5ff03p-25,
       0x1.602b202c5f504p-24,
       0x1.ad50f6c7ee0a5p-25,
       0x1.b9ee02fe450b1p-24,
       -0x1.b3543094fceb7p-28,
       0x1.b2cecde5f6650p-25,
       -0x1.f7606e108731dp-24,
       -0x1.e2ca31c4f5a64p-26,
       -0x1.ec71df27ce096p-25,
       -0x1.05350682ca823p-25,
       0x1.db19eec584a4fp-24,
       -0x1.5dd3482d70f2fp-24}}}};
constexpr double kLn2High = 0x1.62e43p-1, kLn2Low = -0x1.05c610ca86c39p-29;

#if defined(__AVX512F__)
// The upper halves of a column's entries, which have no others.
struct UpperHalves {
  alignas(64) uint32_t half[32] = {};
  constexpr explicit UpperHalves(const TableOf<32>& table) {
    for (int i = 0; i < 32; ++i) half[i] = __builtin_bit_cast(uint64_t, table.entry[i]) >> 32;
  }
};
constexpr UpperHalves kInverses(kLogs.column[kInverse]), kUpperLogs(kLogs.column[kLog]);
// By the last bits of the upper halves of `places`: one permutation, where 32 whole numbers take
// two and a choice.
PJRT_INLINE Doubles FetchUpper(const UpperHalves& table, Words places) {
  constexpr int kUpper = 0xaaaa;
  return (Doubles)_mm512_maskz_permutex2var_epi32(kUpper, _mm512_load_si512(table.half), places,
                                                  _mm512_load_si512(table.half + 16));
}
struct LogEntries {
  Doubles inverse, high, low;
};
// By five bits from the 47th on.
PJRT_INLINE LogEntries LogEntriesAt(Words lifted) {
  const Words upper = ShiftedRight<15>(lifted);
  return {FetchUpper(kInverses, upper), FetchUpper(kUpperLogs, upper),
          Fetch(kLogs.column[kLogLow], ShiftedRight<47>(lifted))};
}
// The exponent; infinite or a NaN for what has none.
PJRT_INLINE Doubles ExponentOfBits(Words x) { return _mm512_getexp_pd((Doubles)x); }
PJRT_INLINE Mask IsUnusual(Doubles x) {
  constexpr int kNan = 0x81, kZero = 0x06, kInfinity = 0x18, kDenormal = 0x20, kNegative = 0x40;
  return _mm512_fpclass_pd_mask(x, kNan | kZero | kInfinity | kDenormal | kNegative);
}
PJRT_INLINE Mask IsSpecial(Doubles x) {
  constexpr int kNan = 0x81, kZero = 0x06, kInfinity = 0x18, kDenormal = 0x20;
  return _mm512_fpclass_pd_mask(x, kNan | kZero | kInfinity | kDenormal);
}
// `power`, that of |x|, with C's rules for the sign and for what does not exist, for finite numbers
// x other than 0.
PJRT_INLINE Doubles WithSignOfPower(Doubles power, Doubles x, Doubles y) {
  constexpr int kNegativeFinite = 0x40;
  const Doubles fraction = _mm512_reduce_pd(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const Mask undefined = _mm512_mask_cmp_pd_mask(_mm512_fpclass_pd_mask(x, kNegativeFinite),
                                                 fraction, All(0), _CMP_NEQ_UQ);
  // Large numbers, which are even, have a last bit of 0 here as well.
  const Words odd = ShiftedLeft<63>(_mm512_cvtpd_epi64(y));
  const Doubles result =
      (Doubles)_mm512_ternarylogic_epi64((Words)power, (Words)x, odd, 0x78);  // a ^ (b & c)
  return _mm512_mask_mov_pd(result, undefined, All(__builtin_nan("")));
}
#else
struct LogEntries {
  Doubles inverse, high, low;
};
PJRT_INLINE LogEntries LogEntriesAt(Words lifted) {
  const auto entries = EntriesAt<kLogs>(ShiftedRight<47>(lifted));
  return {entries[kInverse], entries[kLog], entries[kLogLow]};
}
PJRT_INLINE Doubles ExponentOfBits(Words x) {
  return (Doubles)_mm256_or_si256(ShiftedRight<52>(x), (Words)All(0x1p+52)) - All(0x1p+52 + 1023);
}
PJRT_INLINE Mask IsSpecial(Doubles x) {
  const Doubles size = Magnitude(x);
  return Either(Compare<_CMP_LT_OQ>(size, All(0x1p-1022)),
                Compare<_CMP_NLT_UQ>(size, All(__builtin_inf())));
}
// Negative ones, too.
PJRT_INLINE Mask IsUnusual(Doubles x) {
  return Either(Compare<_CMP_NGE_UQ>(x, All(0x1p-1022)),
                Compare<_CMP_EQ_OQ>(x, All(__builtin_inf())));
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
// log(size) for positive numbers without the denormals and those from 2^1023 on, with `less`
// subtracted from the exponent; to 2^-65 of it. The low part is below 2^-12 of the high one.
PJRT_INLINE Parts Log(Doubles size, Doubles less) {
  // The octave's ends, and a half of the part around 1.
  constexpr uint64_t kUp = (uint64_t{1} << 51) + (uint64_t{1} << 46);
  constexpr uint64_t kLeast = 0x3fe7c00000000000;
  const Words lifted = Plus((Words)size, AllWords(kUp));
  const Doubles k = ExponentOfBits(lifted) - less;
  const Doubles m = (Doubles)Plus(lifted & AllWords((uint64_t{1} << 52) - 1), AllWords(kLeast));
  const LogEntries part = LogEntriesAt(lifted);
  const Doubles z = Fused(m, part.inverse, All(-1));
  const Doubles whole = Fused(k, All(kLn2High), part.high);  // exact
  // z - z^2 / 2 - z^3 p / 2
  const Doubles half = z * All(-0.5), square = half * z;
  const Doubles p01 = Fused(z, All(0x1.ffffffffffeeap-2), All(-0x1.5555555555555p-1));
  const Doubles p23 = Fused(z, All(-0x1.5555555a2fea2p-1), All(0x1.99999999a6ecfp-1));
  const Doubles p45 = Fused(z, All(0x1.ffff2f3258e65p-1), All(-0x1.24924709f9ccep+0));
  const Doubles p67 = Fused(z, All(-0x1.9f1ff7f1b5de1p+0), All(0x1.c75f934ab4a7cp+0));
  const Doubles p = Fused(Fused(Fused(p67, square, p45), square, p23), square, p01);
  // Each number is larger than the next, or 0.
  const Doubles sum = whole + z, sum_low = (whole - sum) + z;
  const Doubles high = Fused(half, z, sum), high_low = Fused(half, z, sum - high);
  const Doubles low = (Fused(k, All(kLn2Low), part.low) + sum_low) + high_low;
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
  const Doubles p01 = Fused(r, All(0x1.55555554047aap-3), All(0x1.0000000000003p-1));
  const Doubles p23 = Fused(r, All(0x1.11126f4650f62p-7), All(0x1.55555554ace81p-5));
  const Doubles p = Fused(Fused(r2, All(0x1.6c181fa13138ep-10), p23), r2, p01);
  const Doubles linear = Fused(r, All(0x1.000000000000ap+0), power_rest);
  return Scaled(Fused(Fused(p, r2, linear), power, power), n);
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
    if (__builtin_expect(Any(IsUnusual(x), far), 0)) {
      if (Any(IsSpecial(x), far)) return RunAll(x, y);
      return WithSignOfPower(Exp(sum, exponent.high, exponent.low), x, y);
    }
    return Exp(sum, exponent.high, exponent.low);
  }
  static __attribute__((noinline)) Doubles RunAll(Doubles x, Doubles y) {
    constexpr double kInfinity = __builtin_inf();
    const Doubles size = Magnitude(x);
    const Mask small = Compare<_CMP_LT_OQ>(size, All(0x1p-1022));
    const Mask zero = Compare<_CMP_EQ_OQ>(size, All(0));
    const Mask infinite = Compare<_CMP_EQ_OQ>(size, All(kInfinity));
    const Mask large = Compare<_CMP_GE_OQ>(size, All(0x1p+1023));
    const Parts log = Log(Choose(small, size * All(0x1p+54), Choose(large, size * All(0.5), size)),
                          Choose(large, All(-1), Keep(small, All(54))));
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
    // -0 and minus infinity have a sign for odd exponents only.
    const Mask no_sign = Both(Either(zero, infinite), Compare<_CMP_NEQ_UQ>(Nearest(y), y));
    const Doubles with_sign = WithSignOfPower(power, Choose(no_sign, size, x), y);
    const Doubles result = Choose(Compare<_CMP_UNORD_Q>(x, y), x + y, with_sign);
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
