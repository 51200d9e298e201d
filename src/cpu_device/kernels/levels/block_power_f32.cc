// SPDX-License-Identifier: Apache-2.0
//
// Power, cube root, arc tangent and remainder of f32.
#include "src/cpu_device/kernels/math_wide-inl.h"
#include "src/cpu_device/kernels/power-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr uint32_t kSign = 0x80000000;

#if defined(__AVX2__)
// For x = 2^k m, 1 <= m < 2, and the 32nd part of [1, 2) in which m lies: 1 + r = m c with a c of
// seven bits, such that r is exact and below 2^-5 in size, and -log(c) in two parts, of which the
// first is a multiple of 2^-17, as that of log(2) is. The last c, 1/2, makes numbers just below a
// power of two the same as those above it: what k and c contribute then cancels.
alignas(64) constexpr float kInverse[2][16] = {
    {0x1p+0f, 0x1.e8p-1f, 0x1.d8p-1f, 0x1.dp-1f, 0x1.cp-1f, 0x1.b8p-1f, 0x1.a8p-1f, 0x1.ap-1f,
     0x1.98p-1f, 0x1.88p-1f, 0x1.8p-1f, 0x1.78p-1f, 0x1.7p-1f, 0x1.68p-1f, 0x1.6p-1f, 0x1.58p-1f},
    {0x1.5p-1f, 0x1.48p-1f, 0x1.48p-1f, 0x1.4p-1f, 0x1.38p-1f, 0x1.3p-1f, 0x1.3p-1f, 0x1.28p-1f,
     0x1.2p-1f, 0x1.2p-1f, 0x1.18p-1f, 0x1.1p-1f, 0x1.1p-1f, 0x1.08p-1f, 0x1.08p-1f, 0x1p-1f}};
alignas(64) constexpr float kLogHigh[2][16] = {
    {0x0p+0f, 0x1.895p-5f, 0x1.4d3p-4f, 0x1.9338p-4f, 0x1.1178p-3f, 0x1.366p-3f, 0x1.823cp-3f,
     0x1.a94p-3f, 0x1.d104p-3f, 0x1.1178p-2f, 0x1.2696p-2f, 0x1.3c26p-2f, 0x1.522ap-2f,
     0x1.68acp-2f, 0x1.7fbp-2f, 0x1.973ap-2f},
    {0x1.af52p-2f, 0x1.c8p-2f, 0x1.c8p-2f, 0x1.e148p-2f, 0x1.fb36p-2f, 0x1.0ae7p-1f, 0x1.0ae7p-1f,
     0x1.188fp-1f, 0x1.2696p-1f, 0x1.2696p-1f, 0x1.3503p-1f, 0x1.43dap-1f, 0x1.43dap-1f,
     0x1.5323p-1f, 0x1.5323p-1f, 0x1.62e4p-1f}};
alignas(64) constexpr float kLogLow[2][16] = {
    {0x0p+0f, -0x1.57ad82p-19f, 0x1.15d208p-20f, -0x1.0d1536p-19f, 0x1.d044fcp-20f,
     -0x1.a7f538p-22f, 0x1.6551a4p-23f, -0x1.2c3752p-19f, -0x1.01b354p-20f, 0x1.d044fcp-19f,
     0x1.089a6ep-21f, -0x1.b1199ap-19f, 0x1.c0e714p-19f, 0x1.07d38ep-19f, -0x1.7109fap-20f,
     0x1.a189acp-21f},
    {0x1.2a491ap-19f, -0x1.8e2eaap-20f, -0x1.8e2eaap-20f, 0x1.4344e4p-19f, -0x1.d4216ep-20f,
     0x1.b8b416p-19f, 0x1.b8b416p-19f, -0x1.bf0dc4p-21f, 0x1.089a6ep-20f, 0x1.089a6ep-20f,
     -0x1.d4989cp-19f, -0x1.a0db88p-26f, -0x1.a0db88p-26f, -0x1.d97988p-21f, -0x1.d97988p-21f,
     0x1.7f7d1cp-20f}};
constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
// 2^(i/16) in two parts.
alignas(64) constexpr float kRoot[16] = {
    0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f, 0x1.306fep+0f,  0x1.3dea64p+0f,
    0x1.4bfdaep+0f, 0x1.5ab07ep+0f, 0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
alignas(64) constexpr float kRootLow[16] = {
    0x0p+0f,          0x1.9f3122p-25f,  -0x1.c15742p-27f, 0x1.ceac48p-25f,
    0x1.4636e2p-25f,  0x1.824684p-25f,  -0x1.593abcp-25f, -0x1.5bd5ecp-27f,
    0x1.9fcef4p-26f,  -0x1.829fdp-25f,  0x1.15506ep-27f,  0x1.51f848p-27f,
    -0x1.a94b14p-26f, -0x1.3d56b2p-27f, -0x1.822dbcp-27f, 0x1.52486cp-27f};

// exp(y log|x|) with the logarithm and the product in two parts, then the rules of C's pow. Largest
// error seen 0.76 ULP. With AVX-512 0.32 ns an element, where f64 took 1.45.
struct Power {
  struct Half {
    Floats high, low;
  };
  PJRT_INLINE Half Log(Floats x) {
    const Normal normal = NormalOf(x);
    const Places part = PlacesOf<18>(normal.mantissa);
    const Floats r = Fused(normal.mantissa, Fetch(kInverse, part), All(-1));
    const Floats whole = Fused(normal.exponent, All(kLn2High), Fetch(kLogHigh, part));  // exact
    const Floats whole_low = Fused(normal.exponent, All(kLn2Low), Fetch(kLogLow, part));
    // log(1 + r) = r - r^2 / 2, in two parts, + r^3 q(r), to 2^-38.
    const Floats half = r * All(-0.5f);
    const Floats head = Fused(half, r, r);
    const Floats tail = Fused(half, r, r - head);
    const Floats q =
        Polynomial({-0x1.4f326ap-3f, 0x1.99cc44p-3f, -0x1.00004ep-2f, 0x1.555554p-2f}, r);
    const Floats log = whole + head;
    return {log, ((whole - log) + head) + (whole_low + Fused(r * r * r, q, tail))};
  }
  PJRT_INLINE Half Product(Floats y, Half log) {
    const Floats high = y * log.high;
    return {high, Fused(y, log.low, Fused(y, log.high, -high))};
  }
  // kAny: infinities and what they make of s leave through n.
  template <bool kAny>
  PJRT_INLINE Floats Exp(Half x) {
    // x = n log(2) / 16 + s
    constexpr float kShift = 0x1.8p+23f;
    const Floats shifted = Fused(x.high, All(0x1.715476p+4f), All(kShift));
    const Floats n = shifted - All(kShift);
    const Floats rest =
        Fused(n, All(-0x1.62ep-5f), x.high) + Fused(n, All(-0x1.0bfbe8p-19f), x.low);
    const Floats s = kAny ? Smaller(Larger(rest, All(-1)), All(1)) : rest;
    // exp(s) = 1 + s + s^2 g(s) for |s| < 0.056, to 2^-30; r^3 q is not in the product's first
    // part.
    const Floats g = Fused(Fused(All(0x1.555dc6p-5f), s, All(0x1.556112p-3f)), s, All(0.5f));
    const Floats grown = Fused(s * s, g, s);
    const Places sixteenth = PlacesOf<0>(shifted);
    const Floats root = Fetch(kRoot, sixteenth);
    const Floats power = root + Fused(root, grown, Fetch(kRootLow, sixteenth));
    return Scaled(power, n * All(0x1p-4f));
  }
  PJRT_INLINE Floats RunAny(Floats x, Floats y, Half product) {
    const Half some = {KeepSome(x, y, product.high), KeepSome(x, y, product.low)};
    return WithRulesOfPower(Exp<true>(some), x, y);
  }
  PJRT_INLINE Half Begin(Floats x, Floats y) { return Product(y, Log(x)); }
  PJRT_INLINE Floats End(Floats x, Floats y, Half product) {
    const Mask rare = Compare<_CMP_NLT_UQ>(Magnitude(product.high), All(0x1p+17f));
    if (__builtin_expect(Any(rare), 0)) return RunAny(x, y, product);
    return WithSignOfUsualPower(Exp<false>(product), x, y);
  }
};

// Function::End of what Function::Begin gives: of two short loops more iterations overlap than of a
// long one.
template <typename Function, Scalars kScalars>
void BinaryFloatsLoopInTwo(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  constexpr bool kFirst = kScalars == Scalars::kFirst, kSecond = kScalars == Scalars::kSecond;
  constexpr int64_t kTogether = 16 * kFloats;
  float* const d = static_cast<float*>(dst);
  const float* const x = static_cast<const float*>(a);
  const float* const y = static_cast<const float*>(b);
  const Floats x0 = All(*x), y0 = All(*y);
  const auto first = [&](int64_t i) { return kFirst ? x0 : LoadFloats(x + i); };
  const auto second = [&](int64_t i) { return kSecond ? y0 : LoadFloats(y + i); };
  typename Function::Half half[kTogether / kFloats];
  const int64_t most = n / kFloats * kFloats;
  for (int64_t from = 0; from < most; from += kTogether) {
    const int64_t end = from + kTogether < most ? from + kTogether : most;
    for (int64_t i = from; i < end; i += kFloats)
      half[(i - from) / kFloats] = Function::Begin(first(i), second(i));
    for (int64_t i = from; i < end; i += kFloats)
      StoreFloats(d + i, Function::End(first(i), second(i), half[(i - from) / kFloats]));
  }
  if (most == n) return;
  const Floats last = kFirst ? x0 : LoadSome(x + most, n - most);
  const Floats other = kSecond ? y0 : LoadSome(y + most, n - most);
  StoreSome(d + most, Function::End(last, other, Function::Begin(last, other)), n - most);
}
template <typename Function>
void SetInTwo(BlockKernels* k, BlockOp op) {
  Entry(k, op, CType::kF32) = BinaryFloatsLoopInTwo<Function, Scalars::kNone>;
  Entry(k, op, CType::kF32, Scalars::kFirst) = BinaryFloatsLoopInTwo<Function, Scalars::kFirst>;
  Entry(k, op, CType::kF32, Scalars::kSecond) = BinaryFloatsLoopInTwo<Function, Scalars::kSecond>;
}
#else
// The same in f64, for levels without fused multiply-add.
struct Power {
  PJRT_INLINE float Run(float base, float exponent) {
    const double x = base, y = exponent;
    const double size = wide::Abs(x);
    const double result = wide::Exp(wide::Bound(y * wide::Log(size), -160, 160));
    // Numbers beyond 2^24 are even integers.
    const double y_size = wide::Bound(wide::Abs(y), 0, 0x1p+25);
    const double half = y_size * 0.5;
    const bool integer = wide::Round(y_size).value == y_size;
    const bool odd = integer & (wide::Round(half).value != half);
    const double signed_result =
        BitCast<double>(ToBits(result) ^ (ToBits(x) & wide::kSign & (uint64_t{0} - uint64_t{odd})));
    const bool undefined = (x < 0) & (size < wide::kInfinity) & !integer;
    const double power = wide::Choose(undefined, wide::kNan, signed_result);
    const bool one = (x == 1) | (y == 0) | ((size == 1) & (wide::Abs(y) == wide::kInfinity));
    return static_cast<float>(wide::Choose(one, 1.0, power));
  }
};
#endif

// A third of the bits starts z near a^(-1/3), within 4%; with e = 1 - a z^3 the polynomial makes it
// z (1 - e)^(-1/3), to 2^-18. A step of Newton's method makes a z^2 the root, without a division.
// Largest error 0.75 ULP, 0.97 without fused multiply-add.
struct Cbrt {
  PJRT_INLINE float Run(float x) {
    const float size = BitCast<float>(ToBits(x) & ~kSign);
    // Scaled so that neither small nor large numbers leave the range.
    const bool small = size < 0x1p-120f;
    const float a = size * (small ? 0x1p+24f : 0x1p-3f);
    const float bits = static_cast<float>(static_cast<int32_t>(ToBits(a)));
    const float guess =
        BitCast<float>(static_cast<int32_t>(MulAdd(bits, -0x1.555556p-2f, 0x1.5288p+30f)));
    const float e = MulAdd(-a * guess, guess * guess, 1.0f);
    float p = 0x1.6526d4p-3f;
    p = MulAdd(p, e, 0x1.c9bac2p-3f);
    p = MulAdd(p, e, 0x1.55542ep-2f);
    const float z = MulAdd(guess * e, p, guess);
    const float square = z * z, y = a * square;
    const float root = MulAdd(MulAdd(-(y * y), y, a), square * 0x1.555556p-2f, y);
    const float scaled = root * (small ? 0x1p-8f : 2.0f);
    const float result = size < __builtin_inff() ? scaled : size;
    return BitCast<float>(ToBits(result) | (ToBits(x) & kSign));
  }
};

// With t = smaller / larger of |y| and |x|: arctan(t) = t + t^3 P(t^2), added to a multiple of pi/2
// or subtracted from it. What t lost is known from the remainder; a reciprocal within 12% is enough
// for it. Largest error seen 1.3 ULP, 1.4 without fused multiply-add.
struct Atan2 {
  PJRT_INLINE float Run(float y, float x) {
    // Integers order magnitudes as floats do, and NaNs above all.
    const int32_t height = static_cast<int32_t>(ToBits(y) & ~kSign);
    const int32_t width = static_cast<int32_t>(ToBits(x) & ~kSign);
    const bool steep = height > width;
    const int32_t larger = steep ? height : width, smaller = steep ? width : height;
    // Remainders of tiny numbers would vanish. 0 is divided by something.
    const float scale = wide::Choose(larger < (27 << 23), 0x1p+64f, 1.0f);
    const float divisor = BitCast<float>(larger < 1 ? 1 : larger) * scale;
    const float dividend = BitCast<float>(smaller) * scale;
    const float ratio = dividend / divisor;
    const float t = wide::Choose(dividend == divisor, 1.0f, ratio);  // also of infinities
    const float rest = wide::ExactMulAdd(-t, divisor, dividend);
    const float four_by = BitCast<float>(0x7ff311c7u - ToBits(divisor));  // 4 / divisor
    const float lost = wide::Choose(divisor < __builtin_inff(), 0.25f * rest * four_by, 0.0f);
    const float s = t * t;
    float p = -0x1.d35bd4p-10f;
    p = MulAdd(p, s, 0x1.642558p-7f);
    p = MulAdd(p, s, -0x1.fd7e48p-6f);
    p = MulAdd(p, s, 0x1.da2a14p-5f);
    p = MulAdd(p, s, -0x1.58091cp-4f);
    p = MulAdd(p, s, 0x1.c08c4ep-4f);
    p = MulAdd(p, s, -0x1.242086p-3f);
    p = MulAdd(p, s, 0x1.9991e4p-3f);
    p = MulAdd(p, s, -0x1.55553ep-2f);
    const float low = MulAdd(t * s, p, lost);
    constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;
    const bool left = static_cast<int32_t>(ToBits(x)) < 0;
    const float turn = wide::Choose(steep, 1.0f, wide::Choose(left, 2.0f, 0.0f));
    const uint32_t back = (ToBits(x) & kSign) ^ (static_cast<uint32_t>(steep) << 31);
    const float signed_t = BitCast<float>(ToBits(t) ^ back);
    const float signed_low = BitCast<float>(ToBits(low) ^ back);
    const float angle = MulAdd(turn, kHalfPi, signed_t + MulAdd(turn, kHalfPiLow, signed_low));
    return BitCast<float>(ToBits(angle) | (ToBits(y) & kSign));
  }
};

#if !defined(__AVX2__)
// x - trunc(x / y) y in f64, exact while the quotient has less than 29 bits. Rounding can make it
// one too large.
struct Remainder {
  PJRT_INLINE int IsRare(float x, float y) {
    return !(wide::Abs(x) < wide::Abs(y) * 0x1p+29);  // y = 0 and NaNs as well
  }
  PJRT_INLINE float RunRare(float x, float y) { return __builtin_fmodf(x, y); }
  PJRT_INLINE float Run(float dividend, float divisor) {
    const double x = wide::Abs(dividend), y = wide::Abs(divisor);
    const double whole = static_cast<double>(static_cast<int32_t>(x / y));
    const double rest = x - whole * y;
    const double fixed = rest < 0 ? rest + y : rest;
    return static_cast<float>(wide::CopySign(y == wide::kInfinity ? x : fixed, dividend));
  }
};
#endif

}  // namespace

void FillPowerF32(BlockKernels* k) {
#if defined(__AVX2__)
  SetInTwo<Power>(k, BlockOp::kPower);
  SetInTwo<NarrowPower>(k, BlockOp::kNarrowPower);
  SetBinaryFloats<NarrowAtan2>(k, BlockOp::kNarrowAtan2);
  SetBinaryFloats<Remainder>(k, BlockOp::kRemainder);
#else
  Entry(k, BlockOp::kPower, CType::kF32) = BinaryLoop<Power, float, float>;
  Entry(k, BlockOp::kNarrowPower, CType::kF32) = BinaryLoop<Power, float, float>;
  Entry(k, BlockOp::kNarrowAtan2, CType::kF32) = BinaryLoop<Atan2, float, float>;
  Entry(k, BlockOp::kRemainder, CType::kF32) = BinaryLoopWithRare<Remainder, float, false>;
  Entry(k, BlockOp::kRemainder, CType::kF32, Scalars::kSecond) =
      BinaryLoopWithRare<Remainder, float, true>;
#endif
  SetUnary<float, Cbrt, float, float>(k, BlockOp::kCbrt);
  Entry(k, BlockOp::kAtan2, CType::kF32) = BinaryLoop<Atan2, float, float>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
