// SPDX-License-Identifier: Apache-2.0
//
// Power of f64. Largest error seen, over some 10^7 numbers, 1.13 ULP, for bases near 1 whose powers
// are near the ends of the range, else 0.8; levels without fused multiply-add have a formula of
// their own, 1.1 ULP. On an Emerald Rapids it takes 1.18 ns an element, and 1.37 where some bases
// are negative.
#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX2__)
// For x = 2^k m, m from 1 to 2, and the 32nd part of these numbers in which m lies: 1 + z = m c
// with a c of so few bits that z is exact, within 2^-5, and -log(c), to 2^-63 of log(x), in three
// parts none of which has more than 20 bits behind the point. Numbers near 1 have c = 1 and, as
// those near 2, c = 1/2, whose parts are those of log(2).
enum { kInverse, kLog, kLogMiddle, kLogLow };
constexpr Columns<4, 32> kLogs = {
    {{{0x1p+0,    0x1.e8p-1, 0x1.d8p-1, 0x1.dp-1,  0x1.cp-1,  0x1.b4p-1, 0x1.a8p-1, 0x1.ap-1,
       0x1.94p-1, 0x1.8cp-1, 0x1.8p-1,  0x1.78p-1, 0x1.7p-1,  0x1.68p-1, 0x1.6p-1,  0x1.58p-1,
       0x1.5p-1,  0x1.4cp-1, 0x1.44p-1, 0x1.4p-1,  0x1.38p-1, 0x1.34p-1, 0x1.2cp-1, 0x1.28p-1,
       0x1.2p-1,  0x1.1cp-1, 0x1.18p-1, 0x1.14p-1, 0x1.1p-1,  0x1.0cp-1, 0x1p-1,    0x1p-1}},
     {{0,
       0x1.894aap-5,
       0x1.4d309p-4,
       0x1.9335ep-4,
       0x1.1178fp-3,
       0x1.4913ep-3,
       0x1.823c1p-3,
       0x1.a93edp-3,
       0x1.e530fp-3,
       0x1.07138p-2,
       0x1.26962p-2,
       0x1.3c252p-2,
       0x1.522aep-2,
       0x1.68ac8p-2,
       0x1.7fafap-2,
       0x1.973a3p-2,
       0x1.af529p-2,
       0x1.bb961p-2,
       0x1.d48e4p-2,
       0x1.e148ap-2,
       0x1.fb359p-2,
       0x1.04349p-1,
       0x1.11af8p-1,
       0x1.188eep-1,
       0x1.26962p-1,
       0x1.2dbf2p-1,
       0x1.35019p-1,
       0x1.3c608p-1,
       0x1.43dap-1,
       0x1.4b6fdp-1,
       0x1.62e43p-1,
       0x1.62e43p-1}},
     {{0,
       0x1.49fb3p-29,
       0x1.0ba41p-21,
       0x1.75652p-26,
       -0x1.f7607p-25,
       -0x1.f3313p-25,
       0x1.95469p-25,
       0x1.e456dp-26,
       -0x1.8eff1p-35,
       0x1.81356p-24,
       0x1.134dcp-26,
       0x1.dccccp-24,
       0x1.ce289p-28,
       0x1.f4e35p-25,
       0x1.dec0bp-25,
       0x1.0c4d4p-24,
       0x1.49233p-24,
       0x1.b80e3p-26,
       0x1.e46dfp-18,
       0x1.a2723p-26,
       -0x1.4216ep-24,
       0x1.7be76p-17,
       0x1.1e3adp-24,
       0x1.03c8fp-23,
       0x1.134dcp-25,
       0x1.abd87p-20,
       0x1.f5b3bp-18,
       0x1.86d7fp-26,
       -0x1.a0db8p-26,
       0x1.be5c3p-23,
       -0x1.05c61p-29,
       -0x1.05c61p-29}},
     {{0,
       0x1.0cd46p-51,
       -0x1.53a26p-48,
       0x1.88ae2p-48,
       0x1.ef78dp-49,
       0x1.60de5p-47,
       -0x1.f2246p-50,
       -0x1.c90d4p-51,
       0x1.8913bp-54,
       0x1.89cdbp-48,
       -0x1.b61f1p-48,
       0x1.83b55p-46,
       0x1.97ce1p-46,
       0x1.41a65p-50,
       -0x1.c8243p-47,
       0x1.ab73bp-44,
       0x1.d0675p-46,
       -0x1.3d206p-52,
       -0x1.65228p-44,
       0x1.e6ca7p-45,
       0x1.085fap-47,
       0x1.d6774p-44,
       0x1.4f371p-46,
       0x1.4cc4fp-46,
       -0x1.b61f1p-47,
       -0x1.7a6e5p-46,
       0x1.90b84p-42,
       0x1.a9193p-48,
       -0x1.d984fp-48,
       0x1.f7116p-49,
       -0x1.950d8p-54,
       -0x1.950d8p-54}}}};
constexpr double kLn2High = 0x1.62e43p-1, kLn2Low = -0x1.05c610ca86cp-29;

// Moves sixteenths into the low bits, with 2^11 for the sign.
constexpr double kShift = 0x1.8p+48 + 0x1p+11;
constexpr double kFar = 1200;  // 2^n with a larger n overflows, with one below -1200 is 0

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
// By the first five digits behind the point.
PJRT_INLINE LogEntries LogEntriesAt(Doubles m) {
  const Words upper = ShiftedRight<15>((Words)m);
  return {FetchUpper(kInverses, upper), FetchUpper(kFirstLogs, upper),
          FetchUpper(kMiddleLogs, upper), FetchUpper(kLastLogs, upper)};
}
PJRT_INLINE Doubles ExponentOfSize(Doubles x) { return _mm512_getexp_pd(x); }
PJRT_INLINE Doubles MantissaOfSize(Doubles x) { return MantissaOf(x); }
// Not 0 where the exponent is beyond 2^11, or none: then `shifted` has bits above those of the
// integer, or in its exponent, that kShift has not. It may miss some far below, whose exponentials
// are 0. Logarithms of 0 and of what is not finite have infinite or no exponents.
PJRT_INLINE Words FarBits(Doubles, Doubles shifted) {
  constexpr uint64_t kOthers = ~(__builtin_bit_cast(uint64_t, kShift) | ((uint64_t{1} << 16) - 1));
  return (Words)shifted & AllWords(kOthers);
}
PJRT_INLINE bool AnyBits(Words x) { return _mm512_test_epi64_mask(x, x) != 0; }
// `power`, that of |x|, with C's rules for the sign and for what does not exist.
PJRT_INLINE Doubles WithSignOfPower(Doubles power, Doubles x, Doubles y) {
  // Large numbers, which are even, have a last bit of 0 here as well.
  const Words odd = ShiftedLeft<63>(_mm512_cvtpd_epi64(y));
  const Doubles result =
      (Doubles)_mm512_ternarylogic_epi64((Words)power, (Words)x, odd, 0x78);  // a ^ (b & c)
  const Doubles fraction = _mm512_reduce_pd(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  constexpr int kOfNegative = 6, kOfPositive = 7, kNan = 3;
  return _mm512_mask_fixupimm_pd(
      result, IsNegative(x), fraction,
      AllWords(uint64_t{kNan} << 4 * kOfNegative | uint64_t{kNan} << 4 * kOfPositive), 0);
}
#else
struct LogEntries {
  Doubles inverse, high, middle, low;
};
PJRT_INLINE LogEntries LogEntriesAt(Doubles m) {
  const auto entries = EntriesAt<kLogs>(ShiftedRight<47>((Words)m));
  return {entries[kInverse], entries[kLog], entries[kLogMiddle], entries[kLogLow]};
}
PJRT_INLINE Doubles ExponentOfSize(Doubles x) { return ExponentOfNormal(Magnitude(x)); }
PJRT_INLINE Doubles MantissaOfSize(Doubles x) {
  const Words digits = (Words)x & AllWords((uint64_t{1} << 52) - 1);
  return (Doubles)(digits | (Words)All(1));
}
// Not 0 where the exponent is beyond kFar, or none, or x is 0, denormal or not finite.
PJRT_INLINE Words FarBits(Doubles x, Doubles shifted) {
  const Mask far = Compare<_CMP_NLT_UQ>(Magnitude(shifted - All(kShift)), All(kFar));
  // The bits of normal numbers are from kLeast up to the sign bit; those of others are less, or
  // negative.
  constexpr uint64_t kLeast = uint64_t{0x0020} << 48;
  const Words lifted = Plus((Words)Magnitude(x), AllWords(uint64_t{0x0010} << 48));
  return (Words)far | _mm256_cmpgt_epi64(AllWords(kLeast), lifted);
}
PJRT_INLINE bool AnyBits(Words x) { return !_mm256_testz_si256(x, x); }
PJRT_INLINE Doubles WithSignOfPower(Doubles power, Doubles x, Doubles y) {
  const Doubles half = y * All(0.5);
  const Mask whole = Compare<_CMP_EQ_OQ>(Nearest(y), y);
  const Mask odd = Both(whole, Compare<_CMP_NEQ_UQ>(Nearest(half), half));
  const Doubles result = Turned(power, Keep(odd, x));
  return Choose(_mm256_andnot_pd(whole, x), All(-__builtin_nan("")), result);
}
#endif

// log|x| = whole + log(1 + z) + low.
struct LogParts {
  Doubles z, whole, low;
};
// With `less` subtracted from the exponent; with AVX2 not for denormals.
PJRT_INLINE LogParts Split(Doubles x, Doubles less) {
  const Doubles k = ExponentOfSize(x) - less, m = MantissaOfSize(x);
  const LogEntries part = LogEntriesAt(m);
  return {Fused(m, part.inverse, All(-1)), Fused(k, All(kLn2High), part.high),
          Fused(k, All(kLn2Low), part.middle) + part.low};
}
struct Parts {
  Doubles high, low;
};
// To 2^-63 of it. The low part is below 2^-11 of the high one.
PJRT_INLINE Parts Log(LogParts part) {
  const Doubles z = part.z, whole = part.whole;
  // z - z^2 / 2 - z^3 p / 2
  const Doubles half = z * All(-0.5), square = half * z;
  const Doubles p01 = Fused(z, All(0x1.ffffffffffed9p-2), All(-0x1.5555555555555p-1));
  const Doubles p23 = Fused(z, All(-0x1.55555557ac461p-1), All(0x1.9999999999561p-1));
  const Doubles p45 = Fused(z, All(0x1.ffffcda0c2130p-1), All(-0x1.2492492941954p+0));
  const Doubles p67 = Fused(z, All(-0x1.9a76bb3347717p+0), All(0x1.c71c2a5f2636bp+0));
  const Doubles p68 = Fused(square, All(-0x1.755315252bf14p+1), p67);
  const Doubles p = Fused(Fused(Fused(p68, square, p45), square, p23), square, p01);
  // Each number is larger than the next, or 0.
  const Doubles sum = whole + z, sum_low = (whole - sum) + z;
  const Doubles high = Fused(half, z, sum), high_low = Fused(half, z, sum - high);
  return {high, Fused(square * z, p, (part.low + sum_low) + high_low)};
}
// s 2^(j / 16), for an s such that these are all but numbers of f64.
constexpr Columns<1> kPowerTable = {
    {{{0x1.0001502fc2c00p+0, 0x1.0b56e5e1b9948p+0, 0x1.172cf265076b8p+0, 0x1.238925bfc4e24p+0,
       0x1.3071706ebe6acp+0, 0x1.3dec064017623p+0, 0x1.4bff614e4641fp+0, 0x1.5ab2451cd88e6p+0,
       0x1.6a0bc1d87d619p+0, 0x1.7a1337bbe6637p+0, 0x1.8ad05a9b20b52p+0, 0x1.9c4b359719d08p+0,
       0x1.ae8c2efb17ab9p+0, 0x1.c19c0c45ff974p+0, 0x1.d583f6615c5e7p+0, 0x1.ea4d7e082a259p+0}}}};
// y log(x) = n log(2) + r for sixteenths n, which kShift moved into the low bits.
struct Exponent {
  Doubles shifted, n, r;
};
PJRT_INLINE Exponent ExponentOf(Doubles y, Parts log) {
  const Doubles shifted = Fused(y * All(0x1.71547652b82fep+0), log.high + log.low, All(kShift));
  const Doubles n = shifted - All(kShift);
  const Doubles most = Fused(y, log.high, n * All(-0x1.62e42fefa0000p-1));
  return {shifted, n, FusedLess(n, All(0x1.cf79abc9e3b3ap-40), Fused(y, log.low, most))};
}
// 2^n exp(r).
PJRT_INLINE Doubles Exp(Exponent exponent) {
  const Doubles r = exponent.r, power = EntriesAt<kPowerTable>((Words)exponent.shifted)[0];
  // exp(r) / s - 1, to 2^-56.
  const Doubles p56 = Fused(r, All(0x1.6c1641800e30dp-10), All(0x1.111108ad03b6cp-7));
  const Doubles p34 = Fused(Fused(p56, r, All(0x1.555395174b37cp-5)), r, All(0x1.55539516a2cb3p-3));
  const Doubles p12 = Fused(Fused(p34, r, All(0x1.fffd5fa3ed76ap-2)), r, All(0x1.fffd5fa3ed779p-1));
  return Scaled(Fused(Fused(p12, r, All(-0x1.502e0944dba2ep-16)), power, power), exponent.n);
}

// exp(y log|x|), then the rules of C's pow, for all numbers.
__attribute__((noinline)) Doubles PowerOfAny(Doubles x, Doubles y) {
  constexpr double kInfinity = __builtin_inf();
  const Doubles size = Magnitude(x);
  const Mask small = Compare<_CMP_LT_OQ>(size, All(0x1p-1022));
  const Mask zero = Compare<_CMP_EQ_OQ>(size, All(0));
  const Mask infinite = Compare<_CMP_EQ_OQ>(size, All(kInfinity));
  const Parts log = Log(Split(Choose(small, size * All(0x1p+54), size), Keep(small, All(54))));
  // Larger ones overflow as this one does.
  const Exponent each = ExponentOf(Smaller(All(0x1p+70), Larger(All(-0x1p+70), y)), log);
  const Doubles of_zero = Turned(WithSign(All(kFar), y), All(-0.0));
  const Doubles bounded = Smaller(All(kFar), Larger(All(-kFar), each.n));
  const Doubles n = Choose(infinite, WithSign(All(kFar), y), Choose(zero, of_zero, bounded));
  // Products that underflow take a hundred times as long as others by AVX2, so none is formed.
  const Mask some = Compare<_CMP_GE_OQ>(n, All(-1076));
  const Mask same = Both(some, Compare<_CMP_EQ_OQ>(n, each.n));
  const Doubles kept = Keep(some, n);
  const Doubles power = Keep(some, Exp({kept + All(kShift), kept, Keep(same, each.r)}));
  // -0 and minus infinity have a sign for odd exponents only.
  const Mask no_sign = Both(Either(zero, infinite), Compare<_CMP_NEQ_UQ>(Nearest(y), y));
  const Doubles with_sign = WithSignOfPower(power, Choose(no_sign, size, x), y);
  const Doubles result = Choose(Compare<_CMP_UNORD_Q>(x, y), x + y, with_sign);
  const Mask one = Either(Compare<_CMP_EQ_OQ>(x, All(1)), Compare<_CMP_EQ_OQ>(y, All(0)));
  return Choose(one, All(1), result);
}

// In steps, each of them for several vectors: of short loops more iterations overlap than of a long
// one, which made powers 1.60 -> 1.37 ns an element. Each piece asks once whether it has negative
// bases, or any that PowerOfAny is for.
template <bool kScalar>
void PowerLoop(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  constexpr int64_t kTogether = 16;
  const Doubles y0 = All(*static_cast<const double*>(b));
  const Beside& beside = BesideOf(c);
  const auto run = [&beside, y0](double* d, const double* x, const double* y, int64_t count) {
    const auto base = [&](int64_t i) { return LoadDoubles(x + i * kDoubles); };
    const auto second = [&](int64_t i) { return kScalar ? y0 : LoadDoubles(y + i * kDoubles); };
    LogParts part[kTogether];
    Parts log[kTogether];
    Exponent exponent[kTogether];
    for (int64_t from = 0; from < count; from += kTogether) {
      const int64_t end = from + kTogether < count ? from + kTogether : count;
      Words signs = AllWords(0), far = AllWords(0);
      for (int64_t i = from; i < end; ++i) {
        part[i - from] = Split(base(i), All(0));
        signs = signs | (Words)base(i);
      }
      for (int64_t i = from; i < end; ++i) {
        log[i - from] = Log(part[i - from]);
        GoOn<sizeof(Doubles)>(beside);
      }
      for (int64_t i = from; i < end; ++i) {
        exponent[i - from] = ExponentOf(second(i), log[i - from]);
        far = far | FarBits(base(i), exponent[i - from].shifted);
      }
      if (__builtin_expect(AnyBits(far), 0)) {
        for (int64_t i = from; i < end; ++i) {
          const Exponent& e = exponent[i - from];
          const bool any = AnyBits(FarBits(base(i), e.shifted));
          StoreDoubles(d + i * kDoubles, any ? PowerOfAny(base(i), second(i))
                                             : WithSignOfPower(Exp(e), base(i), second(i)));
        }
      } else if (Lanes(IsNegative((Doubles)signs)) != 0) {
#pragma GCC unroll 1
        for (int64_t i = from; i < end; ++i) {
          StoreDoubles(d + i * kDoubles,
                       WithSignOfPower(Exp(exponent[i - from]), base(i), second(i)));
        }
      } else {
#pragma GCC unroll 1
        for (int64_t i = from; i < end; ++i)
          StoreDoubles(d + i * kDoubles, Exp(exponent[i - from]));
      }
    }
  };
  OverVectors<kScalar>(dst, a, b, n, run);
}

}  // namespace

void FillPowerF64(BlockKernels* k) {
  BesideEntry(k, BlockOp::kPower, CType::kF64) = PowerLoop<false>;
  BesideEntry(k, BlockOp::kPower, CType::kF64, Scalars::kSecond) = PowerLoop<true>;
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
