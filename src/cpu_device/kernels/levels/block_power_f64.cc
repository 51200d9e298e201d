// SPDX-License-Identifier: Apache-2.0
//
// Power of f64. Largest error seen, over some 10^7 numbers, 0.84 ULP; levels without fused
// multiply-add have a formula of their own, 1.1 ULP. On an Emerald Rapids it takes 1.27 ns an
// element, and 1.44 where some bases are negative.
#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX2__)
// For x = 2^k m, m from 0.742 up to twice that, and the 32nd part of that octave's fractions in
// which m lies: 1 + z = m c with a c of so few bits that z is exact, below 0.02 in size, and
// -log(c), to 2^-65 of it, in three parts none of which has more than 20 bits behind the point.
// Numbers near 1 have c = 1.
enum { kInverse, kLog, kLogMiddle, kLogLow };
constexpr Columns<4, 32> kLogs = {
    {{{0x1.54p+0, 0x1.5p+0, 0x1.48p+0, 0x1.4p+0,  0x1.3cp+0, 0x1.34p+0, 0x1.3p+0,  0x1.28p+0,
       0x1.24p+0, 0x1.2p+0, 0x1.1cp+0, 0x1.14p+0, 0x1.1p+0,  0x1.0cp+0, 0x1.08p+0, 0x1.04p+0,
       0x1p+0,    0x1.fp-1, 0x1.ep-1,  0x1.d4p-1, 0x1.c8p-1, 0x1.b8p-1, 0x1.bp-1,  0x1.a4p-1,
       0x1.98p-1, 0x1.9p-1, 0x1.88p-1, 0x1.7cp-1, 0x1.74p-1, 0x1.6cp-1, 0x1.64p-1, 0x1.5cp-1}},
     {{-0x1.229420p-2,
       -0x1.1675d0p-2,
       -0x1.fb91c0p-3,
       -0x1.c8ff80p-3,
       -0x1.af3cd0p-3,
       -0x1.7ab890p-3,
       -0x1.5ff300p-3,
       -0x1.295530p-3,
       -0x1.0d7800p-3,
       -0x1.e27070p-4,
       -0x1.a926d0p-4,
       -0x1.341d90p-4,
       -0x1.f0a340p-5,
       -0x1.774590p-5,
       -0x1.f829b0p-6,
       -0x1.fc0a90p-7,
       0,
       0x1.0415e0p-5,
       0x1.085980p-4,
       0x1.700d30p-4,
       0x1.da7230p-4,
       0x1.365fb0p-3,
       0x1.5bf3c0p-3,
       0x1.95a5b0p-3,
       0x1.d10380p-3,
       0x1.f991c0p-3,
       0x1.1178f0p-2,
       0x1.314f20p-2,
       0x1.4718e0p-2,
       0x1.5d5ba0p-2,
       0x1.741d80p-2,
       0x1.8b6380p-2}},
     {{0x1.0c21a0p-28,
       0x1.515160p-24,
       0x1.c950e0p-22,
       0x1.c32b30p-26,
       0x1.d8bfa0p-22,
       -0x1.086c80p-30,
       -0x1.c29e50p-25,
       0x1.f802b0p-29,
       0x1.832f70p-23,
       -0x1.b8abd0p-26,
       -0x1.d256b0p-27,
       0x1.69e430p-24,
       0x1.9ff750p-24,
       0x1.39a460p-30,
       -0x1.cf0660p-31,
       0x1.3c0ff0p-29,
       0,
       -0x1.d862f0p-27,
       0x1.6b3c70p-25,
       0x1.5d5820p-29,
       0x1.18e0b0p-22,
       0x1.b01590p-23,
       0x1.1ad510p-21,
       -0x1.1847f0p-26,
       -0x1.b35430p-28,
       0x1.b2ced0p-25,
       -0x1.f76070p-24,
       -0x1.e2ca30p-26,
       -0x1.ec71e0p-25,
       0x1.efacb0p-21,
       0x1.db19f0p-24,
       0x1.a88b30p-22}},
     {{0x1.a5dbd0p-50,
       0x1.f1fc60p-46,
       0x1.d572b0p-47,
       -0x1.0d6130p-50,
       0x1.a4e630p-52,
       -0x1.237c70p-52,
       0x1.61bc60p-50,
       0x1.cb3fa0p-51,
       0x1.a69970p-47,
       0x1.1a1610p-48,
       0x1.3935f0p-49,
       -0x1.d092a0p-48,
       -0x1.5330c0p-48,
       0x1.dce580p-56,
       -0x1.33e3f0p-60,
       0x1.c30610p-55,
       0,
       0x1.11c060p-51,
       0x1.034450p-47,
       -0x1.f0b930p-52,
       0x1.86a250p-40,
       0x1.62fa80p-51,
       -0x1.270240p-46,
       -0x1.01baf0p-48,
       -0x1.29f9d0p-53,
       -0x1.0d04d0p-48,
       0x1.ef78d0p-48,
       -0x1.c4f5a0p-50,
       0x1.b063f0p-50,
       -0x1.a0b2a0p-47,
       -0x1.3a7b60p-48,
       -0x1.05ae20p-45}}}};
constexpr double kLn2High = 0x1.62e43p-1, kLn2Low = -0x1.05c610ca86c39p-29;

// Moves sixteenths into the low bits, with 2^11 for the sign.
constexpr double kShift = 0x1.8p+48 + 0x1p+11;
constexpr double kFar = 900;  // exp of more overflows, of less than -900 is 0

#if defined(__AVX512F__)
// The upper halves of a column's entries, which have no others.
struct UpperHalves {
  alignas(64) uint32_t half[32] = {};
  constexpr explicit UpperHalves(const TableOf<32>& table) {
    for (int i = 0; i < 32; ++i) half[i] = __builtin_bit_cast(uint64_t, table.entry[i]) >> 32;
  }
};
constexpr UpperHalves kInverses(kLogs.column[kInverse]), kFirstLogs(kLogs.column[kLog]),
    kMiddleLogs(kLogs.column[kLogMiddle]), kLastLogs(kLogs.column[kLogLow]);
// By the last bits of the upper halves of `places`: one permutation, where 32 whole numbers take
// two and a choice.
PJRT_INLINE Doubles FetchUpper(const UpperHalves& table, Words places) {
  constexpr int kUpper = 0xaaaa;
  return (Doubles)_mm512_maskz_permutex2var_epi32(kUpper, _mm512_load_si512(table.half), places,
                                                  _mm512_load_si512(table.half + 16));
}
struct LogEntries {
  Doubles inverse, high, middle, low;
};
// By five bits from the 47th on.
PJRT_INLINE LogEntries LogEntriesAt(Words lifted) {
  const Words upper = ShiftedRight<15>(lifted);
  return {FetchUpper(kInverses, upper), FetchUpper(kFirstLogs, upper),
          FetchUpper(kMiddleLogs, upper), FetchUpper(kLastLogs, upper)};
}
// The exponent; infinite or a NaN for what has none.
PJRT_INLINE Doubles ExponentOfBits(Words x) { return _mm512_getexp_pd((Doubles)x); }
// Whether `shifted` is not within 2^11 of kShift: the bits above those of the integer, and those of
// the exponent that kShift's has not. It may miss some far below, whose exponentials are 0.
PJRT_INLINE Mask IsFar(Doubles, Doubles shifted) {
  constexpr uint64_t kOthers = ~(__builtin_bit_cast(uint64_t, kShift) | ((uint64_t{1} << 16) - 1));
  return _mm512_test_epi64_mask((Words)shifted, AllWords(kOthers));
}
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
  Doubles inverse, high, middle, low;
};
PJRT_INLINE LogEntries LogEntriesAt(Words lifted) {
  const auto entries = EntriesAt<kLogs>(ShiftedRight<47>(lifted));
  return {entries[kInverse], entries[kLog], entries[kLogMiddle], entries[kLogLow]};
}
PJRT_INLINE Doubles ExponentOfBits(Words x) {
  return (Doubles)_mm256_or_si256(ShiftedRight<52>(x), (Words)All(0x1p+52)) - All(0x1p+52 + 1023);
}
PJRT_INLINE Mask IsSpecial(Doubles x) {
  const Doubles size = Magnitude(x);
  return Either(Compare<_CMP_LT_OQ>(size, All(0x1p-1022)),
                Compare<_CMP_NLT_UQ>(size, All(__builtin_inf())));
}
PJRT_INLINE Mask IsFar(Doubles sum, Doubles) {
  return Compare<_CMP_NLT_UQ>(Magnitude(sum), All(kFar));
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
  const Doubles low = (Fused(k, All(kLn2Low), part.middle) + (part.low + sum_low)) + high_low;
  return {high, Fused(square * z, p, low)};
}
// s 2^(j / 16), for an s such that these are all but numbers of f64.
constexpr Columns<1> kPowerTable = {
    {{{0x1.0001502fc2c00p+0, 0x1.0b56e5e1b9948p+0, 0x1.172cf265076b8p+0, 0x1.238925bfc4e24p+0,
       0x1.3071706ebe6acp+0, 0x1.3dec064017623p+0, 0x1.4bff614e4641fp+0, 0x1.5ab2451cd88e6p+0,
       0x1.6a0bc1d87d619p+0, 0x1.7a1337bbe6637p+0, 0x1.8ad05a9b20b52p+0, 0x1.9c4b359719d08p+0,
       0x1.ae8c2efb17ab9p+0, 0x1.c19c0c45ff974p+0, 0x1.d583f6615c5e7p+0, 0x1.ea4d7e082a259p+0}}}};
// exp(high + low) for numbers below 1000, whose sum was shifted.
PJRT_INLINE Doubles Shifted(Doubles sum) {
  return Fused(sum, All(0x1.71547652b82fep+0), All(kShift));
}
PJRT_INLINE Doubles Exp(Doubles shifted, Doubles high, Doubles low) {
  const Doubles n = shifted - All(kShift);
  const Doubles power = EntriesAt<kPowerTable>((Words)shifted)[0];
  const Doubles rest = FusedLess(n, All(0x1.62e42fefa0000p-1), high) + low;
  const Doubles r = FusedLess(n, All(0x1.cf79abc9e3b3ap-40), rest);
  // exp(r) / s - 1, to 2^-56.
  const Doubles p56 = Fused(r, All(0x1.6c1641800e30dp-10), All(0x1.111108ad03b6cp-7));
  const Doubles p34 = Fused(Fused(p56, r, All(0x1.555395174b37cp-5)), r, All(0x1.55539516a2cb3p-3));
  const Doubles p12 = Fused(Fused(p34, r, All(0x1.fffd5fa3ed76ap-2)), r, All(0x1.fffd5fa3ed779p-1));
  return Scaled(Fused(Fused(p12, r, All(-0x1.502e0944dba2ep-16)), power, power), n);
}

// exp(y log|x|), then the rules of C's pow.
struct Power {
  using Half = Parts;  // y log|x|
  PJRT_INLINE Parts Begin(Doubles x, Doubles y) {
    const Parts log = Log(Magnitude(x), All(0));
    const Doubles high = y * log.high;
    return {high, Fused(y, log.low, Fused(y, log.high, -high))};
  }
  PJRT_INLINE Doubles End(Doubles x, Doubles y, Parts exponent) {
    const Doubles sum = exponent.high + exponent.low;
    const Doubles shifted = Shifted(sum);
    const Mask far = IsFar(sum, shifted);
    if (__builtin_expect(Any(IsUnusual(x), far), 0)) {
      if (Any(IsSpecial(x), far)) return RunAll(x, y);
      return WithSignOfPower(Exp(shifted, exponent.high, exponent.low), x, y);
    }
    return Exp(shifted, exponent.high, exponent.low);
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
    const Doubles power = Keep(some, Exp(Shifted(Keep(some, inside)),
                                         Keep(some, Choose(same, high, inside)), Keep(same, low)));
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
  BesideEntry(k, BlockOp::kPower, CType::kF64) = BinaryDoublesLoopInTwo<Power, false>;
  BesideEntry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) =
      BinaryDoublesLoopInTwo<Power, true>;
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
