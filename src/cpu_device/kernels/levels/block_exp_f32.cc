// SPDX-License-Identifier: Apache-2.0
//
// Exponential and logarithmic functions of f32.
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/math_wide-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The hottest functions compute in f32 throughout, which is twice as fast as in f64 and costs half
// a unit in the last place. Largest errors seen: Exp 1.0, Log 0.8, Logistic 1.4, Tanh 1.4, Erf 1.2,
// Erfc 2.7 ULP (2.9 without fused multiply-add); those of the other functions of this file 0.501
// (tests/cpu/block_kernels_f32_math_test.cc).

constexpr float kInfinityF32 = __builtin_inff();

PJRT_INLINE float AbsF32(float x) { return BitCast<float>(ToBits(x) & 0x7fffffffu); }

constexpr float kLog2E = 0x1.715476p+0f, kShift = 0x1.8p+23f;
constexpr float kLn2High = 0x1.62ep-1f, kLn2Low = 0x1.0bfbe8p-15f;  // n * kLn2High is exact
// exp(r) = 1 + r + r^2 (1/2 + r g(r)), to 2^-28.
constexpr float kExpG[] = {0x1.6d7b86p-10f, 0x1.1239fep-7f, 0x1.5554bep-5f, 0x1.555492p-3f, 0.5f};

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
// With kShift + n and r for x = n log(2) + r.
PJRT_INLINE ExpParts ExpOfRest(float shifted, float r) {
  const float part = ExpPolynomial(r);
  // 2^n in two factors: n goes from -151 to 128. Only the second product can round. With both
  // biases on n, its halves have one each.
  const int32_t biased = static_cast<int32_t>(ToBits(shifted) - (0x4b400000u - 2 * 127));
  const int32_t half = biased >> 1;
  const float first = BitCast<float>(static_cast<uint32_t>(half) << 23);
  const float second = BitCast<float>(static_cast<uint32_t>(biased - half) << 23);
  return {part, first, second};
}
PJRT_INLINE ExpParts SplitExp(float x) {
  const float shifted = MulAdd(x, kLog2E, kShift);
  const float n = shifted - kShift;
  return ExpOfRest(shifted, MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x)));
}
// Of x + tail, a tail of at most 0.1.
PJRT_INLINE ExpParts SplitExp(float x, float tail) {
  const float shifted = MulAdd(x + tail, kLog2E, kShift);
  const float n = shifted - kShift;
  return ExpOfRest(shifted, MulAdd(n, -kLn2Low, MulAdd(n, -kLn2High, x)) + tail);
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
PJRT_INLINE __m512 All(float value) { return _mm512_set1_ps(value); }
struct ExpVectorParts {
  __m512 part, n;
};
PJRT_INLINE ExpVectorParts SplitExpVector(__m512 x) {
  const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, All(kLog2E), All(kShift)), All(kShift));
  const __m512 r = _mm512_fmadd_ps(n, All(-kLn2Low), _mm512_fmadd_ps(n, All(-kLn2High), x));
  __m512 g = _mm512_fmadd_ps(All(kExpG[0]), r, All(kExpG[1]));
  g = _mm512_fmadd_ps(g, r, All(kExpG[2]));
  g = _mm512_fmadd_ps(g, r, All(kExpG[3]));
  g = _mm512_fmadd_ps(g, r, All(kExpG[4]));
  return {_mm512_fmadd_ps(_mm512_mul_ps(r, r), g, r), n};
}
PJRT_INLINE __m512 ExpVector(__m512 x) {
  // Of a NaN and a number these give the second.
  const ExpVectorParts e =
      SplitExpVector(_mm512_min_ps(All(kHighestExp), _mm512_max_ps(All(kLowestExp), x)));
  return _mm512_scalef_ps(_mm512_add_ps(All(1), e.part), e.n);
}
template <__m512 (*kFunction)(__m512)>
void VectorLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  float* const d = static_cast<float*>(dst);
  const float* const x = static_cast<const float*>(a);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(d + i, kFunction(_mm512_loadu_ps(x + i)));
  if (i == n) return;
  const __mmask16 rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  _mm512_mask_storeu_ps(d + i, rest, kFunction(_mm512_maskz_loadu_ps(rest, x + i)));
}
#endif

// With e = exp(-|x|): 1 / (1 + e), or e / (1 + e) left of 0. e and the divisor are kept in two
// parts, and the first quotient is corrected by what the second parts add.
struct Logistic {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const ExpParts p = SplitExp(-(size > 104.0f ? 104.0f : size));
    const float power = 1 + p.part;
    const float high = power * p.first * p.second;
    const float low = (p.part - (power - 1)) * p.first * p.second;
    const float divisor = 1 + high;
    const float divisor_low = (high - (divisor - 1)) + low;
    const bool negative = x < 0;
    const float quotient = (negative ? high : 1.0f) / divisor;
    const float reciprocal = negative ? 1 - quotient : quotient;
    return quotient + ((negative ? low : 0.0f) - quotient * divisor_low) * reciprocal;
  }
};

// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), and with s = f / (2 + f):
// log(1 + f) = 2s + s R(s^2) = f - (f^2/2 - s (f^2/2 + R)).
struct Log {
  PJRT_INLINE float Run(float x) {
    constexpr uint32_t kSqrtHalf = 0x3f3504f3, kOne = 0x3f800000;
    const bool denormal = x < 0x1p-126f;
    const float normal = denormal ? x * 0x1p+24f : x;
    const uint32_t lifted = ToBits(normal) + (kOne - kSqrtHalf);
    const int32_t exponent = static_cast<int32_t>(lifted >> 23) - (denormal ? 127 + 24 : 127);
    const float k = static_cast<float>(exponent);
    const float f = BitCast<float>((lifted & 0x007fffffu) + kSqrtHalf) - 1;
    const float s = f / (2 + f);
    const float z = s * s;
    const float r = z * MulAdd(z, MulAdd(z, 0x1.31e342p-2f, 0x1.995eb8p-2f), 0x1.55557ap-1f);
    const float half_square = 0.5f * f * f;
    const float low = MulAdd(s, half_square + r, k * kLn2Low);
    const float log = MulAdd(k, kLn2High, f - (half_square - low));
    const float at_most_zero = x == 0 ? -kInfinityF32 : __builtin_nanf("");
    const float above = x < kInfinityF32 ? log : kInfinityF32;
    return x > 0 ? above : at_most_zero;
  }
};

// (erf(x) - x) / x for |x| < 1, from x^2.
PJRT_INLINE float ErfNear(float square) {
  float p = 0x1.4a569p-14f;
  p = MulAdd(p, square, -0x1.a45088p-11f);
  p = MulAdd(p, square, 0x1.54127p-8f);
  p = MulAdd(p, square, -0x1.b7fabap-6f);
  p = MulAdd(p, square, 0x1.ce2d1p-4f);
  p = MulAdd(p, square, -0x1.81273ep-2f);
  return MulAdd(p, square, 0x1.06eba8p-3f);
}

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

// Near 0 an odd polynomial, elsewhere 1 - exp(L(|x| - 1)), up to 4, from where on it rounds to 1.
struct Erf {
  PJRT_INLINE float Run(float x) {
    const float size = AbsF32(x);
    const float near = MulAdd(size, ErfNear(size * size), size);
    const float t = (size > 4.0f ? 4.0f : size) - 1;
    float p = 0x1.b7783p-20f;
    p = MulAdd(p, t, -0x1.147ed8p-15f);
    p = MulAdd(p, t, 0x1.4fcba8p-12f);
    p = MulAdd(p, t, -0x1.0d42e6p-9f);
    p = MulAdd(p, t, 0x1.4a3ac8p-7f);
    p = MulAdd(p, t, -0x1.5496a6p-5f);
    p = MulAdd(p, t, -0x1.afab6cp-1f);
    p = MulAdd(p, t, -0x1.51c9b2p+1f);
    p = MulAdd(p, t, -0x1.d97fcp+0f);
    const float far = 1 - ExpOfModerate(p);
    const float result = size < 1.0f ? near : far;
    return BitCast<float>(ToBits(result) | (ToBits(x) & 0x80000000u));
  }
};
#endif

// a * b + c with the product exact, for what roundings lost.
PJRT_INLINE float ExactMulAdd(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(double{a} * b + c);
#endif
}

// Near 0 1 - erf(x), elsewhere exp(-x^2) s P(s) with s = 1 / (|x| + 1/4). x^2 is taken in two
// parts, since exp would make much of an error; what s, P and the product lose by rounding is added
// in the end.
struct Erfc {
  PJRT_INLINE float Run(float x) {
    constexpr float kNear = 0.75f;
    const float size = AbsF32(x);
    const float near = 1 - MulAdd(x, ErfNear(size * size), x);
    const float raised = size < kNear ? kNear : size;
    const float y = raised > 10.2f ? 10.2f : raised;  // 0 from 10.06 on
    const float sum = y + 0.25f, s = 1 / sum;
    const float lost_of_s = MulAdd((sum - 0.25f) - y, s, ExactMulAdd(-s, sum, 1.0f));
    const float t = s - 0x1.18p-1f;
    float p = 0x1.344062p-3f;
    p = MulAdd(p, t, -0x1.351844p-3f);
    p = MulAdd(p, t, -0x1.165dcep-7f);
    p = MulAdd(p, t, 0x1.9bccfp-4f);
    p = MulAdd(p, t, -0x1.d2ce94p-4f);
    p = MulAdd(p, t, 0x1.562adp-4f);
    p = MulAdd(p, t, -0x1.59a252p-7f);
    p = MulAdd(p, t, -0x1.4cda0ep-4f);
    p = MulAdd(p, t, 0x1.22d81cp-3f);
    p = MulAdd(p, t, -0x1.b2319ep-4f);
    p = MulAdd(p, t, -0x1.a5d3d8p-4f);
    const float slope = p;
    constexpr float kFirst = 0x1.217784p-1f;
    p = MulAdd(slope, t, kFirst);
    const float lost_of_p = MulAdd(slope, t, kFirst - p);
    const float factor = p * s;
    const float lost = MulAdd(lost_of_p, s, ExactMulAdd(p, s, -factor));
    const float high = BitCast<float>(ToBits(y) & 0xfffff000u);  // its square is exact
    const ExpParts e = SplitExp(-(high * high), (high - y) * (high + y));
    const float value = (factor + MulAdd(factor, e.part + lost_of_s, lost)) * e.first * e.second;
    const float far = x < 0 ? 2 - value : value;
    return size < kNear ? near : far;
  }
};

// Beyond these the result in f32 is 0 and infinity.
constexpr double kExpLow = kLowestExp, kExpHigh = kHighestExp;

struct Expm1 {
  PJRT_INLINE float Run(float x) {
    const double result = wide::Expm1(wide::Bound(x, kExpLow, kExpHigh));
    return static_cast<float>(wide::CopySign(result, x));
  }
};
struct Log1p {
  PJRT_INLINE float Run(float x) {
    const double wide_x = x, sum = 1 + wide_x;
    const double tail = wide_x - (sum - 1);  // what the sum lost
    const double log = wide::LogSpecials(sum, wide::LogOfNormal(sum, tail));
    return static_cast<float>(wide_x == 0 ? wide_x : log);
  }
};

}  // namespace

void FillExpF32(BlockKernels* k) {
  SetUnary<float, Exp, float, float>(k, BlockOp::kExp);
#if defined(__AVX512F__)
  Entry(k, BlockOp::kExp, CType::kF32) = VectorLoop<ExpVector>;
#endif
  SetUnary<float, Erfc, float, float>(k, BlockOp::kErfc);
  SetUnary<float, Expm1, float, float>(k, BlockOp::kExpm1);
  SetUnary<float, Logistic, float, float>(k, BlockOp::kLogistic);
  SetUnary<float, Log, float, float>(k, BlockOp::kLog);
  SetUnary<float, Log1p, float, float>(k, BlockOp::kLog1p);
#if !defined(__AVX2__)
  SetUnary<float, Tanh, float, float>(k, BlockOp::kTanh);
  SetUnary<float, Erf, float, float>(k, BlockOp::kErf);
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
