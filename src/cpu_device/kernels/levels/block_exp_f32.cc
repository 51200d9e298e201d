// SPDX-License-Identifier: Apache-2.0
//
// Exponential and logarithmic functions of f32.
#include "src/cpu_device/kernels/floats-inl.h"
#include "src/cpu_device/kernels/math_wide-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// All in f32, at most half of the time that f64 would take. Largest errors seen over all inputs,
// with and without fused multiply-add: Exp 1.0, Expm1 1.3, Log 0.94 and 0.99, Log1p 0.97 and 1.01,
// Logistic 1.0 and 1.4 ULP; without, Tanh 1.4, Erf 1.2 and Erfc 2.5 ULP
// (tests/cpu/block_kernels_f32_math_test.cc).

constexpr float kInfinityF32 = __builtin_inff();

PJRT_INLINE float AbsF32(float x) { return BitCast<float>(ToBits(x) & 0x7fffffffu); }

constexpr float kLog2E = 0x1.715476p+0f, kShift = 0x1.8p+23f;
constexpr float kLn2High = 0x1.62ep-1f, kLn2Low = 0x1.0bfbe8p-15f;  // n * kLn2High is exact

// exp(x) = (1 + part) * first * second, for -105 <= x <= 89 or NaN.
struct ExpParts {
  float part, first, second;
};
PJRT_INLINE float ExpPolynomial(float r) {  // exp(r) - 1
  float g = kExpG[0];
  g = MulAdd(g, r, kExpG[1]);
  g = MulAdd(g, r, kExpG[2]);
  g = MulAdd(g, r, kExpG[3]);
  g = MulAdd(g, r, kExpG[4]);
  return MulAdd(r * r, g, r);
}
// 2^n in two factors, from kShift + n: n goes from -151 to 128. Of the products with them only the
// second can round.
struct Powers {
  float first, second;
};
PJRT_INLINE Powers PowersOf(float shifted) {
  // With both biases on n, its halves have one each.
  const int32_t biased = static_cast<int32_t>(ToBits(shifted) - (0x4b400000u - 2 * 127));
  const int32_t half = biased >> 1;
  return {BitCast<float>(static_cast<uint32_t>(half) << 23),
          BitCast<float>(static_cast<uint32_t>(biased - half) << 23)};
}
// With kShift + n and r for x = n log(2) + r.
PJRT_INLINE ExpParts ExpOfRest(float shifted, float r) {
  const Powers p = PowersOf(shifted);
  return {ExpPolynomial(r), p.first, p.second};
}
PJRT_INLINE ExpParts SplitExp(float x) {
  const float shifted = MulAdd(x, kLog2E, kShift);
  const float n = shifted - kShift;
  return ExpOfRest(shifted, MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x)));
}
PJRT_INLINE float ExpInside(float x) {
  const ExpParts e = SplitExp(x);
  return (1 + e.part) * e.first * e.second;
}

constexpr float kLowestExp = -104, kHighestExp = 89;  // beyond, the result is 0 and infinity

// What vanishes is not computed: products that underflow take three times as long as others, and
// masks ask for exp(-infinity). By bits, since compilers see through conditions and compute it all
// the same.
struct Exp {
  PJRT_INLINE float Run(float x) {
    const uint32_t keep = x < kLowestExp ? 0 : ~0u;
    const float kept = BitCast<float>(ToBits(x) & keep);
    const float power = ExpInside(kept > kHighestExp ? kHighestExp : kept);
    return BitCast<float>(ToBits(power) & keep);
  }
};

#if defined(__AVX512F__)
// The same bits, here and below, with the instruction that scales by powers of two, which does the
// work of nine: 0.21 ns an element in place of 0.29, and softmax spends most of its time here.
struct ExpOfFloats {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats bounded = Smaller(All(kHighestExp), Larger(All(kLowestExp), x));  // a NaN stays
    const Floats n = Fused(bounded, All(kLog2E), All(kShift)) - All(kShift);
    const Floats r = Fused(n, All(-kLn2Low), Fused(n, All(-kLn2High), bounded));
    return Scaled(All(1) + ExpLessOne(r), n);
  }
};
#elif defined(__AVX2__)
// The same bits, here and below, where no result is denormal or infinite. Without the care for
// those exp takes 0.43 ns an element in place of 0.61, and logistic 0.7 in place of 1.1 (Zen 3).
PJRT_INLINE Floats PowerOf(Floats shifted) {  // 0 in place of 2^-127
  return (Floats)_mm256_add_epi32(_mm256_slli_epi32((__m256i)shifted, 23), (__m256i)All(1));
}
constexpr float kLeastModerate = -87;  // down to which n is -126 or more
constexpr float kPowerless = -88.03f;  // n is -127, for which PowerOf gives 0
struct ModerateExp {
  PJRT_INLINE Mask IsExtreme(Floats x) {
    return Compare<_CMP_NLE_UQ>(Magnitude(x), All(-kLeastModerate));
  }
  PJRT_INLINE Floats Run(Floats x) {
    const Floats bounded = Larger(All(kPowerless), x);
    const Floats shifted = Fused(bounded, All(kLog2E), All(kShift));
    const Floats n = shifted - All(kShift);
    const Floats r = Fused(n, All(-kLn2Low), Fused(n, All(-kLn2High), bounded));
    return (All(1) + ExpLessOne(r)) * PowerOf(shifted);
  }
};
// Moderate for groups of vectors that have no other elements but what vanishes, as masks do, and
// Function for the rest.
template <typename Function, typename Moderate>
void ModerateLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  constexpr int kVectors = 4;
  constexpr int64_t kGroup = kVectors * kFloats;
  float* const d = static_cast<float*>(dst);
  const float* const x = static_cast<const float*>(a);
  int64_t i = 0;
  for (; i + kGroup <= n; i += kGroup) {
    Floats group[kVectors];
    Mask extreme[kVectors], some = {};
    for (int v = 0; v < kVectors; ++v) {
      group[v] = LoadFloats(x + i + v * kFloats);
      extreme[v] = Moderate::IsExtreme(group[v]);
      some = _mm256_or_ps(some, extreme[v]);
    }
    if (Any(some)) {
      some = Mask{};
      for (int v = 0; v < kVectors; ++v) {
        const Mask stays = Compare<_CMP_NLT_UQ>(group[v], All(kLowestExp));
        some = _mm256_or_ps(some, Both(extreme[v], stays));
      }
    }
    if (__builtin_expect(Any(some), 0)) {
      for (int64_t k = i; k < i + kGroup; ++k) d[k] = Function::Run(x[k]);
    } else {
      for (int v = 0; v < kVectors; ++v) StoreFloats(d + i + v * kFloats, Moderate::Run(group[v]));
    }
  }
  for (; i < n; ++i) d[i] = Function::Run(x[i]);
}
#endif

// For x = n log(2) - r: 2^n / (2^n + exp(r)), whose divisor is kept in two parts. The quotient is
// corrected by what the second part and its rounding amount to.
struct Logistic {
  PJRT_INLINE float Run(float x) {
    const uint32_t keep = x < kLowestExp ? 0 : ~0u;
    const float kept = BitCast<float>(ToBits(x) & keep);
    const float bounded = wide::Choose(kept > 20.0f, 20.0f, kept);  // 1 from 17.4 on
    const float shifted = MulAdd(bounded, kLog2E, kShift);
    const float n = shifted - kShift;
    const float r = MulAdd(n, kLn2Low, MulAdd(n, kLn2High, -bounded));
    const float part = ExpPolynomial(r);
    const Powers p = PowersOf(shifted);
    const float enough = wide::Choose(shifted < kShift - 100, kShift - 100, shifted);
    const float power = BitCast<float>((ToBits(enough) << 23) + 0x3f800000u);
    const float most = 1 + power, divisor = most + part;
    const float divisor_low = ((most - divisor) + part) + ((1 - most) + power);
    const float quotient = 1 / divisor;
    const float rest = MulAdd(-quotient, divisor_low, MulAdd(-quotient, divisor, 1.0f));
    const float result = MulAdd(quotient, rest, quotient) * p.first * p.second;
    return BitCast<float>(ToBits(result) & keep);
  }
};

#if defined(__AVX512F__)
struct LogisticOfFloats {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats bounded = Smaller(All(20), Larger(All(kLowestExp), x));  // a NaN stays
    const Floats n = Fused(bounded, All(kLog2E), All(kShift)) - All(kShift);
    const Floats r = Fused(n, All(kLn2Low), Fused(n, All(kLn2High), -bounded));
    const Floats part = ExpLessOne(r), power = Scaled(All(1), n);
    const Floats most = All(1) + power, divisor = most + part;
    const Floats divisor_low = ((most - divisor) + part) + ((All(1) - most) + power);
    const Floats quotient = All(1) / divisor;
    const Floats rest = FusedLess(quotient, divisor_low, FusedLess(quotient, divisor, All(1)));
    return Scaled(Fused(quotient, rest, quotient), n);
  }
};
#elif defined(__AVX2__)
struct ModerateLogistic {
  PJRT_INLINE Mask IsExtreme(Floats x) { return Compare<_CMP_NGE_UQ>(x, All(kLeastModerate)); }
  PJRT_INLINE Floats Run(Floats x) {
    const Floats bounded = Smaller(All(20), Larger(All(kPowerless), x));
    const Floats shifted = Fused(bounded, All(kLog2E), All(kShift));
    const Floats n = shifted - All(kShift);
    const Floats r = Fused(n, All(kLn2Low), Fused(n, All(kLn2High), -bounded));
    const Floats part = ExpLessOne(r), power = PowerOf(shifted);
    const Floats most = All(1) + power, divisor = most + part;
    const Floats divisor_low = ((most - divisor) + part) + ((All(1) - most) + power);
    const Floats quotient = All(1) / divisor;
    const Floats rest = FusedLess(quotient, divisor_low, FusedLess(quotient, divisor, All(1)));
    return Fused(quotient, rest, quotient) * power;
  }
};
#endif

// k log(2) + log(1 + f) for -1/4 <= f < 1/2: log(1 + f) = f + f^2 P(f). A division would shorten P,
// and takes longer.
PJRT_INLINE float LogOfParts(float k, float f) {
  const float f2 = f * f;
  float odd = MulAdd(f2, 0x1.acf4a8p-4f, 0x1.28807ap-3f);
  odd = MulAdd(odd, f2, 0x1.99699ep-3f);
  odd = MulAdd(odd, f2, 0x1.5555a4p-2f);
  float even = MulAdd(f2, -0x1.71e32cp-5f, -0x1.0d98fp-3f);
  even = MulAdd(even, f2, -0x1.54ed96p-3f);
  even = MulAdd(even, f2, -0x1.00004ap-2f);
  const float p = MulAdd(MulAdd(even, f, odd), f, -0.5f);
  return MulAdd(k, kLn2High, f + MulAdd(f2, p, k * kLn2Low));
}
// What the logarithm of x is where x is not a positive finite number; `log` elsewhere.
PJRT_INLINE float LogSpecials(float x, float log) {
  const float at_most_zero = x == 0 ? -kInfinityF32 : __builtin_nanf("");
  const float above = x < kInfinityF32 ? log : kInfinityF32;
  return x > 0 ? above : at_most_zero;
}
constexpr uint32_t kLowestPart = 0x3f400000, kOne = 0x3f800000;  // 3/4 and 1

// x = 2^k (1 + f) with 1 + f in [3/4, 3/2).
struct Log {
  PJRT_INLINE float Run(float x) {
    const bool denormal = x < 0x1p-126f;
    const float normal = denormal ? x * 0x1p+24f : x;
    const uint32_t lifted = ToBits(normal) - kLowestPart;
    const int32_t exponent = (static_cast<int32_t>(lifted) >> 23) - (denormal ? 24 : 0);
    const float m = BitCast<float>((lifted & 0x7fffff) + kLowestPart);
    return LogSpecials(x, LogOfParts(static_cast<float>(exponent), m - 1));
  }
};

// The same of 1 + x; f is exact while k is small.
struct Log1p {
  PJRT_INLINE float Run(float x) {
    const float sum = 1 + x, tail = x - (sum - 1);  // exact below 2^24
    const int32_t lifted = static_cast<int32_t>(ToBits(sum) - kLowestPart);
    const int32_t scale = lifted & ~0x7fffff;
    const float m = BitCast<float>(ToBits(sum) - static_cast<uint32_t>(scale));
    const int32_t bounded = scale > (126 << 23) ? 126 << 23 : scale;
    const float inverse = BitCast<float>(kOne - static_cast<uint32_t>(bounded));  // 2^-k
    const float log = LogOfParts(static_cast<float>(lifted >> 23), MulAdd(tail, inverse, m - 1));
    return BitCast<float>(ToBits(LogSpecials(sum, log)) | (ToBits(x) & 0x80000000u));
  }
};

#if !defined(__AVX2__)  // block_piecewise_f32.cc has these for the other levels
// For |x| < 87.
PJRT_INLINE float ExpOfModerate(float x) {
  const float shifted = MulAdd(x, kLog2E, kShift);
  const float n = shifted - kShift;
  const float r = MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x));
  const float power = BitCast<float>((ToBits(shifted) << 23) + 0x3f800000u);
  return (1 + ExpPolynomial(r)) * power;
}

// Near 0 an odd polynomial, elsewhere 1 - 2 / (exp(2|x|) + 1).
constexpr float kNearTanh = 0.625f;
// (tanh(x) - x) / x^3 near 0, from x^2, to 2^-32: the highest power first.
constexpr float kTanhP[] = {0x1.197b7cp-9f,  -0x1.0c2146p-7f, 0x1.6394dap-6f,
                            -0x1.b9ef7cp-5f, 0x1.11106cp-3f,  -0x1.555554p-2f};
struct Tanh {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const float bounded = size > 10.0f ? 10.0f : size;
    const float far = 1 - 2 / (ExpOfModerate(2 * bounded) + 1);
    const float s = size * size;
    float p = kTanhP[0];
    p = MulAdd(p, s, kTanhP[1]);
    p = MulAdd(p, s, kTanhP[2]);
    p = MulAdd(p, s, kTanhP[3]);
    p = MulAdd(p, s, kTanhP[4]);
    p = MulAdd(p, s, kTanhP[5]);
    const float near = MulAdd(size * s, p, size);
    const float result = size < kNearTanh ? near : far;
    return BitCast<float>(ToBits(result) | (ToBits(x) & 0x80000000u));
  }
};

// Near 0 x + x E(x^2), elsewhere 1 - exp(L(|x|)), up to 4, from where on it rounds to 1.
struct Erf {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const float square = size * size;
    float e = -0x1.6a9306p-11f;
    e = MulAdd(e, square, 0x1.50726ep-8f);
    e = MulAdd(e, square, -0x1.b7c996p-6f);
    e = MulAdd(e, square, 0x1.ce2c2p-4f);
    e = MulAdd(e, square, -0x1.81273ep-2f);
    e = MulAdd(e, square, 0x1.06eba8p-3f);
    const float near = MulAdd(size, e, size);
    const float t = (size > 4.0f ? 4.0f : size) - 0x1.acp-1f;
    float p = 0x1.d07616p-13f;
    p = MulAdd(p, t, -0x1.1c13f4p-9f);
    p = MulAdd(p, t, 0x1.801926p-7f);
    p = MulAdd(p, t, -0x1.8ee818p-5f);
    p = MulAdd(p, t, -0x1.a4524cp-1f);
    p = MulAdd(p, t, -0x1.2ed49ep+1f);
    p = MulAdd(p, t, -0x1.706c4ap+0f);
    const float far = 1 - ExpOfModerate(p);
    const float result = size < 0.6875f ? near : far;
    return BitCast<float>(ToBits(result) | (ToBits(x) & 0x80000000u));
  }
};

// exp(-x^2) s P(s) with s = 1 / (|x| + 3). x^2 has two parts, since exp would make much of an
// error, and P(s) exp(-x^2) / 2^n has two. What s lost goes into the exponent. Most of P is a sum
// of short polynomials: a chain of dependent instructions takes longer. Its highest coefficient is
// such that erfc(0) is 1.
struct Erfc {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const float y = wide::Choose(size > 10.1f, 10.1f, size);  // 0 from 10.06 on
    const float sum = y + 3, s = 1 / sum;
    const float lost = MulAdd((sum - 3) - y, s, wide::ExactMulAdd(-s, sum, 1.0f));
    const float weight = MulAdd(s, 8.2f, 0.6f);  // of s in the result, as a power, to 0.1
    const float t = s - 0x1.844p-3f, t2 = t * t;
    constexpr float kFirst = 0x1.351a4p+0f, kSecond = 0x1.98c816p+2f;
    const float p = MulAdd(t, kSecond, kFirst);
    const float p23 = MulAdd(t, 0x1.49506ep+6f, 0x1.a5e994p+4f);
    const float p45 = MulAdd(t, 0x1.7dd9dep+7f, 0x1.63f96cp+7f);
    const float p67 = MulAdd(t, -0x1.db63b4p+9f, -0x1.97c904p+7f);
    const float p89 = MulAdd(t, 0x1.a09cfp+11f, -0x1.1e8294p+7f);
    const float p2to9 = MulAdd(t2 * t2, MulAdd(t2, p89, p67), MulAdd(t2, p45, p23));
    const float p_low = MulAdd(t2, p2to9, MulAdd(t, kSecond, kFirst - p));
    const float square = y * y, square_low = wide::ExactMulAdd(y, y, -square);
    const float shifted = MulAdd(square, -kLog2E, kShift);
    const float n = shifted - kShift;
    const ExpParts e =
        ExpOfRest(shifted, MulAdd(n, -kLn2High, -square) +
                               MulAdd(n, -kLn2Low, MulAdd(lost, weight, -square_low)));
    const float more = MulAdd(p, e.part, MulAdd(p_low, e.part, p_low));
    const float high = p + more, low = (p - high) + more;
    const float value = MulAdd(high, s, low * s) * e.first * e.second;
    return x < 0 ? 2 - value : value;
  }
};
#endif

// With x = n log(2) + r: (2^n - 1) + 2^n (exp(r) - 1), where the middle term is exact or small
// beside the result and r is in two parts.
struct Expm1 {
  PJRT_INLINE float Run(float x) {
    const float raised = x < -20.0f ? -20.0f : x;  // -1 from -17.4 on
    const float bounded = raised > kHighestExp ? kHighestExp : raised;
    const float shifted = MulAdd(bounded, kLog2E, kShift);
    const float n = shifted - kShift;
    const float high = MulAdd(n, -kLn2High, bounded);  // exact
    const float r = MulAdd(n, -kLn2Low, high);
    const float lost = MulAdd(n, -kLn2Low, high - r);
    float g = 0x1.9e6e76p-13f;
    g = MulAdd(g, r, 0x1.6d3a44p-10f);
    g = MulAdd(g, r, 0x1.1112dap-7f);
    g = MulAdd(g, r, 0x1.5554f8p-5f);
    g = MulAdd(g, r, 0x1.555554p-3f);
    g = MulAdd(g, r, 0.5f);
    const float rest = MulAdd(r * r, g, lost);
    // Half of everything, since n goes up to 128.
    const float scale = BitCast<float>((ToBits(shifted) << 23) + 0x3f000000u);
    const float half = MulAdd(scale, rest, MulAdd(scale, r, scale - 0.5f));
    return AbsF32(x) < 0x1p-25f ? x : half + half;
  }
};

}  // namespace

void FillExpF32(BlockKernels* k) {
  SetUnary<float, Exp, float, float>(k, BlockOp::kExp);
#if defined(__AVX512F__)
  Entry(k, BlockOp::kExp, CType::kF32) = FloatsLoop<ExpOfFloats>;
#elif defined(__AVX2__)
  Entry(k, BlockOp::kExp, CType::kF32) = ModerateLoop<Exp, ModerateExp>;
#endif
  SetUnary<float, Expm1, float, float>(k, BlockOp::kExpm1);
  SetUnary<float, Logistic, float, float>(k, BlockOp::kLogistic);
#if defined(__AVX512F__)
  Entry(k, BlockOp::kLogistic, CType::kF32) = FloatsLoop<LogisticOfFloats>;
#elif defined(__AVX2__)
  Entry(k, BlockOp::kLogistic, CType::kF32) = ModerateLoop<Logistic, ModerateLogistic>;
#endif
  SetUnary<float, Log, float, float>(k, BlockOp::kLog);
  SetUnary<float, Log1p, float, float>(k, BlockOp::kLog1p);
#if !defined(__AVX2__)
  SetUnary<float, Tanh, float, float>(k, BlockOp::kTanh);
  SetUnary<float, Erf, float, float>(k, BlockOp::kErf);
  SetUnary<float, Erfc, float, float>(k, BlockOp::kErfc);
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
