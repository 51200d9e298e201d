// SPDX-License-Identifier: Apache-2.0
//
// Functions of bf16 and f16, from memory to memory. Of 65536 arguments, short polynomials give the
// same results as the functions of f32 rounded, which tests/cpu/narrow_functions_test.cc compares
// one by one: the coefficients are such that each result lies between the two numbers where
// rounding turns to its neighbours. An element takes 0.15 to 0.28 ns, and a third to two thirds of
// what the way through blocks of f32 takes. Levels without AVX-512 go that way.
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/floats-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/level_tables.h"
#include "src/cpu_device/kernels/narrow_pieces-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX512BW__)
namespace {

using Words = __m512i;  // 32 elements, or 16 integers of 32 bits
// Of integers of 32 bits.
typedef uint32_t Units __attribute__((vector_size(64)));
PJRT_INLINE Words ShiftLeft(Words x, int by) { return (Words)((Units)x << by); }
PJRT_INLINE Words ShiftRight(Words x, int by) { return (Words)((Units)x >> by); }
PJRT_INLINE Words EachWord(int word) { return _mm512_set1_epi16(static_cast<int16_t>(word)); }

struct TwoFloats {
  Floats first, second;
};
// Even elements and odd ones: nothing has to cross lanes.
struct Bf16 {
  static constexpr NarrowType kType = NarrowType::kBf16;
  static constexpr PrimitiveType kMemory = pjrt::BF16;
  static constexpr int kInfinity = 0x7f80, kQuiet = 0x40, kOne = 0x3f80;
  PJRT_INLINE TwoFloats Split(Words x) {
    return {(Floats)ShiftLeft(x, 16),
            (Floats)_mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000u)))};
  }
  PJRT_INLINE TwoFloats Load(const uint16_t* from) { return Split(_mm512_loadu_si512(from)); }
  // To nearest in the upper half. No result that must be rounded lies halfway.
  PJRT_INLINE Words Rounded(Floats x) {
    return _mm512_add_epi32((Words)x, _mm512_set1_epi32(0x8000));
  }
  // Results between the steps of a loop.
  using Kept = TwoFloats;
  PJRT_INLINE void Keep(Kept* kept, TwoFloats y) { *kept = y; }
  PJRT_INLINE Words Join(const Kept& y) {
    return _mm512_mask_mov_epi16(ShiftRight(Rounded(y.first), 16), 0xaaaaaaaau, Rounded(y.second));
  }
};
// One half and the other.
struct F16 {
  static constexpr NarrowType kType = NarrowType::kF16;
  static constexpr PrimitiveType kMemory = pjrt::F16;
  static constexpr int kInfinity = 0x7c00, kQuiet = 0x200, kOne = 0x3c00;
  PJRT_INLINE TwoFloats Split(Words x) {
    return {_mm512_cvtph_ps(_mm512_castsi512_si256(x)),
            _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1))};
  }
  // From memory and to it instructions do without a permutation.
  PJRT_INLINE TwoFloats Load(const uint16_t* from) {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(from);
    return {_mm512_cvtph_ps(_mm256_loadu_si256(halves)),
            _mm512_cvtph_ps(_mm256_loadu_si256(halves + 1))};
  }
  struct Kept {
    alignas(64) uint16_t words[32];
  };
  PJRT_INLINE void Keep(void* kept, TwoFloats y) {
    const __m256i first = _mm512_cvtps_ph(y.first, 0), second = _mm512_cvtps_ph(y.second, 0);
    __builtin_memcpy(kept, &first, sizeof(first));
    __builtin_memcpy(static_cast<char*>(kept) + sizeof(first), &second, sizeof(second));
  }
  PJRT_INLINE Words Join(const Kept& y) { return _mm512_load_si512(y.words); }
};
template <class Type>
inline constexpr bool kIsBf16 = Type::kType == NarrowType::kBf16;

// A function has three steps. Bound prepares arguments as words, of which there are 32 in a vector;
// Run computes; Fix mends results y of arguments x as words, where 0, infinity or NaN need it.
// `size` is x without signs. Of AnyWords there is nothing to prepare, of AnyResult nothing to mend.
struct AnyWords {};
struct AnyResult {};

PJRT_INLINE Words WithSigns(Words size, Words x) {  // size has none
  return _mm512_ternarylogic_epi32(size, x, EachWord(0x8000), 0xf8);
}
template <class Type>
PJRT_INLINE Words SizeAtMost(Words size, int bf16, int f16) {
  return _mm512_min_epu16(size, EachWord(kIsBf16<Type> ? bf16 : f16));
}
// NaNs stay as they are, but for being quiet.
template <class Type>
PJRT_INLINE Words KeepNans(Words y, Words x, Words size) {
  const __mmask32 nan = _mm512_cmpgt_epu16_mask(size, EachWord(Type::kInfinity));
  return _mm512_mask_mov_epi16(y, nan, _mm512_or_si512(x, EachWord(Type::kQuiet)));
}
// Moves y where x is `argument`, whose result is so near to halfway between two numbers that f32
// ends on the other side.
PJRT_INLINE Words Mend(Words y, Words x, int argument, int more) {
  return _mm512_mask_add_epi16(y, _mm512_cmpeq_epi16_mask(x, EachWord(argument)), y,
                               EachWord(more));
}

// x or, beyond these bounds, one of them; a NaN stays.
PJRT_INLINE Floats Within(Floats x, float least, float most) {
  return Larger(All(least), Smaller(All(most), x));
}
// x - floor(x), which 2^x is Scaled from; 0 where x is infinite.
PJRT_INLINE Floats AboveFloor(Floats x) {
  return _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
// The way through f32, for arguments that are rare and have rules or reductions of their own.
template <class Type, BlockOp kOp>
__attribute__((noinline)) Words ByF32(Words x) {
  alignas(64) uint16_t words[32];
  alignas(64) float singles[32];
  const BlockKernels* const kernels = GetBlockKernels();
  _mm512_store_si512(words, x);
  kernels->load[Type::kMemory](singles, words, 32);
  kernels->op[static_cast<int>(kOp)][static_cast<int>(CType::kF32)][0](singles, singles, nullptr,
                                                                       nullptr, 32);
  kernels->store[Type::kMemory](words, singles, 32);
  return _mm512_load_si512(words);
}
PJRT_INLINE Floats Fetch(const float (&row)[1][16], Words piece) { return Fetch(row[0], piece); }
// The polynomial of the piece whose number is in the last bits, at t.
template <int kCount, int kParts, int kCut>
PJRT_INLINE Floats PolynomialOf(const Pieces<kCount, kParts, kCut>& pieces, Words piece, Floats t) {
  Floats p = Fetch(pieces.c[0], piece);
  for (int i = 1; i < kCount; ++i) p = Fused(p, t, Fetch(pieces.c[i], piece));
  return p;
}
// Of the piece of x.
template <int kCount, int kParts, int kCut>
PJRT_INLINE Floats Polynomial(const Pieces<kCount, kParts, kCut>& pieces, Words x, Floats t) {
  return PolynomialOf(pieces, ShiftRight(x, 23 - kCut), t);
}
PJRT_INLINE Words AtLeast(Floats x, float lowest) {
  return _mm512_max_epi32((Words)x, (Words)All(lowest));
}

// By pieces of the magnitude, up to where the result is 1.
template <class Type>
struct Tanh {
  PJRT_INLINE Words Bound(Words, Words size) { return SizeAtMost<Type>(size, 0x407f, 0x47ff); }
  PJRT_INLINE Floats Run(Floats x) {
    if constexpr (kIsBf16<Type>) return Polynomial(kTanhBf16, AtLeast(x, 0x1p-4f), x);
    return Polynomial(kTanhF16, AtLeast(x, 0x1p-5f), x);
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    return KeepNans<Type>(WithSigns(y, x), x, size);
  }
};
template <class Type>
struct Erf : Tanh<Type> {
  PJRT_INLINE Words Bound(Words, Words size) { return SizeAtMost<Type>(size, 0x407f, 0x43ff); }
  PJRT_INLINE Floats Run(Floats x) {
    if constexpr (kIsBf16<Type>) return Polynomial(kErfBf16, AtLeast(x, 0x1p-4f), x);
    return Polynomial(kErfF16, AtLeast(x, 0x1p-5f), x);
  }
};

constexpr float kLog2E = 0x1.715476p+0f, kLog2ELow = 0x1.4ae0cp-26f, kShift = 0x1.8p+23f;
constexpr float kLn2 = 0x1.62e43p-1f, kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
// y 2^n with kShift + n, where both are normal: units for integers have time.
PJRT_INLINE Floats TimesPower(Floats y, Floats shifted) {
  return (Floats)_mm512_add_epi32((Words)y, ShiftLeft((Words)shifted, 23));
}

constexpr float kExpBf16[] = {0x1.36f8c4p-7f, 0x1.c96042p-5f, 0x1.ec032ep-3f, 0x1.62e1a6p-1f,
                              0x1.00001ap+0f};
constexpr float kExpF16[] = {0x1.9e376ap-10f, 0x1.3d69dep-7f, 0x1.c64306p-5f,
                             0x1.ebf9f6p-3f,  0x1.62e47p-1f,  0x1p+0f};
// x log2(e) = n + r; 2^n times a polynomial of r.
template <class Type>
struct Exp : AnyWords, AnyResult {
  PJRT_INLINE Floats Run(Floats x) {
    constexpr float kMost = kIsBf16<Type> ? 104 : 20;
    x = Within(x, -kMost, kMost);
    if constexpr (kIsBf16<Type>) {
      const Floats n = Nearest(x * All(kLog2E));
      const Floats r = Fused(x, All(kLog2E), -n);
      return Scaled(Polynomial(kExpBf16, r), n);
    } else {
      const Floats shifted = Fused(x, All(kLog2E), All(kShift));
      const Floats n = shifted - All(kShift);
      const Floats r = Fused(x, All(kLog2ELow), Fused(x, All(kLog2E), -n));
      return TimesPower(Polynomial(kExpF16, r), shifted);
    }
  }
};

constexpr float kLogisticBf16[] = {0x1.ac69cep-37f, 0x1.b0fd1ap-35f, 0x1.ed878ap-33f,
                                   0x1.62dd36p-31f, 0x1.ffff8p-31f};
// For bf16 1 / (1 + exp(-x)), each of them times 2^-30, so that the divisor is finite where the
// result is a denormal; for f16 by pieces, of which that around 0 keeps results that lie halfway.
template <class Type>
struct Logistic : AnyWords, AnyResult {
  PJRT_INLINE Floats Run(Floats x) {
    if constexpr (kIsBf16<Type>) {
      constexpr float kUnit = 0x1p-30f;
      const Floats exponent = x * All(-kLog2E);
      const Floats power = Scaled(Polynomial(kLogisticBf16, AboveFloor(exponent)), exponent);
      return All(kUnit) / (All(kUnit) + power);
    } else {
      x = Within(x, -17.4f, 8.4f);
      constexpr float kWidth = 0.8125f;
      const Floats shifted = Fused(x, All(1 / kWidth), All(kShift));
      const Floats n = shifted - All(kShift);
      return PolynomialOf(kLogisticF16, (Words)shifted, Fused(n, All(-kWidth), x));
    }
  }
};

constexpr float kExpm1Bf16[] = {0x1.2c5afp-10f, 0x1.316018p-7f, 0x1.c6bf08p-5f, 0x1.ec1632p-3f,
                                0x1.62e416p-1f};
constexpr float kExpm1F16[] = {0x1.0c6e58p-7f, 0x1.5641a4p-5f, 0x1.555b46p-3f, 0x1.ffffep-2f};
// 2^n - 1 + 2^n (exp(r) - 1), where n is 0 near 0.
template <class Type>
struct Expm1 {
  PJRT_INLINE Words Bound(Words x, Words) {  // what is negative, then the rest
    const Words raised = _mm512_min_epu16(x, EachWord(kIsBf16<Type> ? 0xc1a0 : 0xcd00));
    return _mm512_min_epi16(raised, EachWord(kIsBf16<Type> ? 0x42b2 : 0x4d00));
  }
  PJRT_INLINE Floats Run(Floats x) {
    const Floats shifted = Fused(x, All(kLog2E), All(kShift));
    const Floats n = shifted - All(kShift);
    if constexpr (kIsBf16<Type>) {
      const Floats r = Fused(x, All(kLog2E), -n);
      const Floats rest = Polynomial(kExpm1Bf16, r) * r;
      // Half of everything, since n goes up to 128.
      const Floats power = TimesPower(All(0.5f), shifted);
      const Floats half = Fused(power, rest, power - All(0.5f));
      return half + half;
    } else {
      const Floats r = Fused(n, All(-kLn2Low), Fused(n, All(-kLn2High), x));
      const Floats rest = Fused(r * r, Polynomial(kExpm1F16, r), r);
      const Floats power = TimesPower(All(1), shifted);
      return Fused(power, rest, power - All(1));
    }
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    return KeepNans<Type>(WithSigns(y, x), x, size);
  }
};

constexpr float kLogBf16[] = {0x1.6a34ep-3f, -0x1.174102p-2f, 0x1.5718cap-2f, -0x1.ff3ffep-2f};
constexpr float kLogF16[] = {0x1.3f6c48p-4f,  -0x1.4d4ep-3f,  0x1.a636c8p-3f,
                             -0x1.0144d4p-2f, 0x1.55384ap-2f, -0x1.fff6fep-2f};
constexpr float kLog1pBf16[] = {-0x1.828222p-4f, 0x1.93d37ap-3f, -0x1.05d696p-2f, 0x1.55d6a8p-2f,
                                -0x1.ffdfa2p-2f};
constexpr float kLog1pF16[] = {-0x1.791feap-4f, 0x1.478868p-3f, -0x1.619d5cp-3f, 0x1.96290cp-3f,
                               -0x1.ff1c6ap-3f, 0x1.5565ep-2f,  -0x1.00013p-1f};
// k log(2) + log(1 + f) for -1/4 <= f < 1/2, from k / unit.
template <int kCount>
PJRT_INLINE Floats LogOfParts(Floats k, float unit, Floats f, const float (&c)[kCount]) {
  return Fused(k, All(kLn2 * unit), Fused(f * f, Polynomial(c, f), f));
}
// k for x = 2^k (1 + f), less 1; infinite where x is 0 or infinite.
PJRT_INLINE Floats BelowExponentOf(Floats x) { return _mm512_getexp_ps(x * All(0x1.555556p-1f)); }
template <class Type>
struct Log : AnyWords {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats k = BelowExponentOf(x) + All(1);
    const Floats m = _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
    const Floats f = m - All(1);
    if constexpr (kIsBf16<Type>) return LogOfParts(k, 1, f, kLogBf16);
    return LogOfParts(k, 1, f, kLogF16);
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words) {
    if constexpr (kIsBf16<Type>) y = Mend(y, x, 0x35e5, 1);
    const __mmask32 other = _mm512_cmpgt_epu16_mask(x, EachWord(Type::kInfinity));
    const __mmask32 nan = _mm512_mask_cmpneq_epu16_mask(other, x, EachWord(0x8000));
    return _mm512_mask_mov_epi16(y, nan, EachWord(Type::kInfinity | Type::kQuiet));
  }
};
// Of x + 1 = 2^k (1 + f): f = x 2^-k + (2^-k - 1) does not lose what the sum does.
template <class Type>
struct Log1p : AnyWords {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats sum = x + All(1);
    // 2^23 k
    const Words shifted = _mm512_and_si512(_mm512_sub_epi32((Words)sum, (Words)All(0.75f)),
                                           (Words)All(-__builtin_inff()));
    const Floats power = (Floats)_mm512_sub_epi32((Words)All(1), shifted);
    const Floats k = _mm512_cvtepi32_ps(shifted);
    constexpr float kUnit = 0x1p-23f;
    const Floats f = Fused(x, power, power - All(1));
    if constexpr (kIsBf16<Type>) return LogOfParts(k, kUnit, f, kLog1pBf16);
    return LogOfParts(k, kUnit, f, kLog1pF16);
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words) {
    // From -1 on to the left, and where 2^-k would be a denormal or x is not finite.
    constexpr int kMinusOne = 0x8000 | Type::kOne;
    const __mmask32 above = _mm512_cmpge_epi16_mask(x, EachWord(kIsBf16<Type> ? 0x7e80 : 0x7c00));
    const __mmask32 below = _mm512_cmpge_epu16_mask(x, EachWord(kMinusOne));
    if ((above | below) != 0) {
      const __mmask32 infinite = _mm512_cmpeq_epi16_mask(x, EachWord(Type::kInfinity)) |
                                 _mm512_cmpeq_epi16_mask(x, EachWord(kMinusOne));
      const __mmask32 rare = (above | below) & ~infinite;
      if (rare != 0) y = _mm512_mask_mov_epi16(y, rare, ByF32<Type, BlockOp::kLog1p>(x));
      y = _mm512_mask_mov_epi16(y, infinite, EachWord(Type::kInfinity));
    }
    return WithSigns(y, x);
  }
};

// 2^n times the root of x / 8^n. For f16 n comes from a third of the bits: no argument is a
// denormal of f32.
template <class Type>
struct Cbrt {
  PJRT_INLINE Words Bound(Words, Words size) { return size; }
  PJRT_INLINE Floats Run(Floats x) {
    if constexpr (kIsBf16<Type>) {
      const Floats shifted = Fused(_mm512_getexp_ps(x), All(0x1.555556p-2f), All(kShift));
      const Floats n = shifted - All(kShift);
      const Floats m = Scaled(x, n * All(-3));
      return TimesPower(Polynomial(kCbrtBf16, (Words)m, m), shifted);
    } else {
      const Floats bits = _mm512_cvtepi32_ps((Words)x);
      const Floats shifted = Fused(bits, All(0x1.555556p-25f), All(kShift - 42));
      const Words n = ShiftLeft((Words)shifted, 23);
      const Words m = _mm512_sub_epi32(_mm512_sub_epi32((Words)x, n), _mm512_add_epi32(n, n));
      return TimesPower(Polynomial(kCbrtF16, m, (Floats)m), shifted);
    }
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    // 0 and infinities stay, too.
    const __mmask32 kept =
        _mm512_cmpge_epu16_mask(_mm512_sub_epi16(size, EachWord(1)), EachWord(Type::kInfinity - 1));
    y = WithSigns(y, x);
    return kept == 0 ? y : KeepNans<Type>(_mm512_mask_mov_epi16(y, kept, x), x, size);
  }
};

// Roots begin with 14 bits of the inverse one, and a step of Newton's method makes them twice as
// many: the instructions for roots and quotients take three times as long on a Xeon.
template <class Type>
PJRT_INLINE Words FixRoot(Words y, Words x, Words size, Words of_zero, Words of_infinity) {
  const __mmask32 rare =
      _mm512_cmpge_epu16_mask(_mm512_sub_epi16(x, EachWord(1)), EachWord(Type::kInfinity - 1));
  if (rare == 0) return y;
  const __mmask32 negative = _mm512_cmpgt_epu16_mask(x, EachWord(0x8000));
  y = _mm512_mask_mov_epi16(y, negative, EachWord(0x8000 | Type::kInfinity | Type::kQuiet));
  y = _mm512_mask_mov_epi16(y, _mm512_cmpeq_epi16_mask(x, EachWord(Type::kInfinity)), of_infinity);
  y = _mm512_mask_mov_epi16(y, _mm512_testn_epi16_mask(size, size), WithSigns(of_zero, x));
  return KeepNans<Type>(y, x, size);
}
template <class Type>
struct Sqrt : AnyWords {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats inverse = _mm512_rsqrt14_ps(x), root = x * inverse;
    return Fused(All(0.5f) * inverse, Fused(-root, root, x), root);
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    return FixRoot<Type>(y, x, size, EachWord(0), EachWord(Type::kInfinity));
  }
};
template <class Type>
struct Rsqrt : AnyWords {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats inverse = _mm512_rsqrt14_ps(x);
    return Fused(All(0.5f) * inverse, Fused(-(x * inverse), inverse, All(1)), inverse);
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    return FixRoot<Type>(y, x, size, EachWord(Type::kInfinity), EachWord(0));
  }
};

constexpr float kSinBf16[] = {-0x1.9731a6p-13f, 0x1.112bbcp-7f, -0x1.555848p-3f};
constexpr float kSinF16[] = {0x1.79e51p-19f, -0x1.a0f7cep-13f, 0x1.111484p-7f, -0x1.555562p-3f};
constexpr float kCosBf16[] = {-0x1.7fa7e8p-13f, 0x1.105366p-7f, -0x1.55538ep-3f};
constexpr float kCosF16[] = {0x1.80e49ap-19f, -0x1.a2733cp-13f, 0x1.112458p-7f, -0x1.555612p-3f};
constexpr float kTanBf16[] = {0x1.0f3392p-5f, 0x1.a2ad06p-5f, 0x1.10fc64p-3f, 0x1.555d96p-2f};
constexpr float kTanF16[] = {-0x1.9b428ep-7f, 0x1.37515p-5f,  0x1.03a5e2p-8f,
                             0x1.e1d3b8p-5f,  0x1.0fe902p-3f, 0x1.555afap-2f};
constexpr float kPiHigh = 0x1.921fb4p+1f, kPiLow = 0x1.4442d2p-23f, kByPi = 0x1.45f306p-2f;
// r + r^3 P(r^2)
template <int kCount>
PJRT_INLINE Floats OddPolynomial(const float (&c)[kCount], Floats r) {
  const Floats s = r * r;
  return Fused(s, Polynomial(c, s), All(1)) * r;
}
PJRT_INLINE Floats NegativeWhereOdd(Floats x, Floats shifted) {
  return (Floats)_mm512_xor_si512((Words)x, ShiftLeft((Words)shifted, 31));
}
template <class Type, BlockOp kOp>
struct Angle : AnyWords {
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    if constexpr (kIsBf16<Type>) {
      constexpr int kFirst = 0x4981;
      const __mmask32 huge = _mm512_cmplt_epu16_mask(_mm512_sub_epi16(size, EachWord(kFirst)),
                                                     EachWord(Type::kInfinity - kFirst));
      if (huge != 0) y = _mm512_mask_mov_epi16(y, huge, ByF32<Type, kOp>(x));
    }
    return y;
  }
};
// x = n pi + r.
template <class Type>
struct Sin : Angle<Type, BlockOp::kSin> {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats shifted = Fused(x, All(kByPi), All(kShift));
    const Floats n = shifted - All(kShift);
    const Floats r = Fused(n, All(-kPiLow), Fused(n, All(-kPiHigh), x));
    if constexpr (kIsBf16<Type>) return NegativeWhereOdd(OddPolynomial(kSinBf16, r), shifted);
    return NegativeWhereOdd(OddPolynomial(kSinF16, r), shifted);
  }
};
// x = (n - 1/2) pi + r.
template <class Type>
struct Cos : Angle<Type, BlockOp::kCos> {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats turns = Fused(x, All(kByPi), All(-0.5f));
    const Floats shifted = turns + All(kShift + 1);
    const Floats n = shifted - All(kShift) - All(0.5f);
    const Floats r = Fused(n, All(-kPiLow), Fused(n, All(-kPiHigh), x));
    if constexpr (kIsBf16<Type>) return NegativeWhereOdd(OddPolynomial(kCosBf16, r), shifted);
    return NegativeWhereOdd(OddPolynomial(kCosF16, r), shifted);
  }
};
// x = n pi/2 + r.
template <class Type>
struct Tan : Angle<Type, BlockOp::kTan> {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats shifted = Fused(x, All(2 * kByPi), All(kShift));
    const Floats n = shifted - All(kShift);
    const Floats r = Fused(n, All(-kPiLow / 2), Fused(n, All(-kPiHigh / 2), x));
    Floats tangent;
    if constexpr (kIsBf16<Type>) {
      tangent = OddPolynomial(kTanBf16, r);
    } else {
      tangent = OddPolynomial(kTanF16, r);
    }
    const __mmask16 odd = _mm512_test_epi32_mask((Words)shifted, _mm512_set1_epi32(1));
    return _mm512_mask_div_ps(tangent, odd, All(-1), tangent);
  }
  PJRT_INLINE Words Fix(Words y, Words x, Words size) {
    if constexpr (!kIsBf16<Type>) y = Mend(y, size, 0x499d, 1);
    return Angle<Type, BlockOp::kTan>::Fix(y, x, size);
  }
};

constexpr float kErfcPowerBf16[] = {0x1.3f96bep-4f, 0x1.cefc5cp-3f, 0x1.644444p-1f, 0x1.fff634p-1f};
// Of the magnitude: for bf16 2 to a power that pieces give, which reaches to denormals and 0; for
// f16 by pieces alone, whose polynomials begin in their middle.
template <class Type>
struct Erfc : AnyWords, AnyResult {
  PJRT_INLINE Floats Run(Floats x) {
    const Floats size = Smaller(All(kIsBf16<Type> ? 15.9375f : 0x1.ffcp+1f), Magnitude(x));
    Floats y;
    if constexpr (kIsBf16<Type>) {
      const Floats power = Polynomial(kErfcBf16, AtLeast(size, 0x1p-4f), size);
      y = Scaled(Polynomial(kErfcPowerBf16, AboveFloor(power)), power);
    } else {
      const Words bits = AtLeast(size, 0x1p-2f);
      constexpr int kHalfPiece = 1 << 19;
      const Floats middle = (Floats)_mm512_ternarylogic_epi32(
          bits, _mm512_set1_epi32(-2 * kHalfPiece), _mm512_set1_epi32(kHalfPiece), 0xea);
      y = Polynomial(kErfcF16, bits, size - middle);
    }
    return Choose(IsNegative(x), All(2) - y, y);
  }
};

// Both steps of a loop: of two short ones more iterations overlap than of a long one, and an
// element takes up to a fifth less.
template <class Function, class Type>
PJRT_INLINE TwoFloats RunOn(const uint16_t* from) {
  TwoFloats parts;
  if constexpr (std::is_base_of_v<AnyWords, Function>) {
    parts = Type::Load(from);
  } else {
    const Words x = _mm512_loadu_si512(from);
    parts = Type::Split(Function::Bound(x, _mm512_and_si512(x, EachWord(0x7fff))));
  }
  return {Function::Run(parts.first), Function::Run(parts.second)};
}
template <class Function>
PJRT_INLINE Words FixOn(Words y, Words x) {
  if constexpr (std::is_base_of_v<AnyResult, Function>)
    return y;
  else
    return Function::Fix(y, x, _mm512_and_si512(x, EachWord(0x7fff)));
}
template <class Function, class Type>
void Loop(void* dst, const void* a, const void*, const void*, int64_t n) {
  uint16_t* const d = static_cast<uint16_t*>(dst);
  const uint16_t* const x = static_cast<const uint16_t*>(a);
  constexpr int64_t kTogether = 8;
  typename Type::Kept y[kTogether];
  int64_t i = 0;
  for (; i + 32 * kTogether <= n; i += 32 * kTogether) {
    if constexpr (!kIsBf16<Type> && std::is_base_of_v<AnyResult, Function>) {
      for (int j = 0; j < kTogether; ++j)
        Type::Keep(d + i + 32 * j, RunOn<Function, Type>(x + i + 32 * j));
      continue;
    }
    for (int j = 0; j < kTogether; ++j) Type::Keep(&y[j], RunOn<Function, Type>(x + i + 32 * j));
    for (int j = 0; j < kTogether; ++j) {
      const Words words = _mm512_loadu_si512(x + i + 32 * j);
      _mm512_storeu_si512(d + i + 32 * j, FixOn<Function>(Type::Join(y[j]), words));
    }
  }
  for (; i < n; i += 32) {
    const __mmask32 rest = n - i < 32 ? (__mmask32{1} << (n - i)) - 1 : ~__mmask32{0};
    const Words last = _mm512_maskz_loadu_epi16(rest, x + i);
    uint16_t words[32];
    _mm512_storeu_si512(words, last);
    Type::Keep(&y[0], RunOn<Function, Type>(words));
    _mm512_mask_storeu_epi16(d + i, rest, FixOn<Function>(Type::Join(y[0]), last));
  }
}

template <template <class> class Function>
void Set(BlockKernels* k, BlockOp op) {
  k->narrow[static_cast<int>(NarrowType::kBf16)][static_cast<int>(op)] = Loop<Function<Bf16>, Bf16>;
  k->narrow[static_cast<int>(NarrowType::kF16)][static_cast<int>(op)] = Loop<Function<F16>, F16>;
}

}  // namespace

void FillNarrow(BlockKernels* k) {
  Set<Cbrt>(k, BlockOp::kCbrt);
  Set<Sqrt>(k, BlockOp::kSqrt);
  Set<Rsqrt>(k, BlockOp::kRsqrt);
  Set<Exp>(k, BlockOp::kExp);
  Set<Expm1>(k, BlockOp::kExpm1);
  Set<Log>(k, BlockOp::kLog);
  Set<Log1p>(k, BlockOp::kLog1p);
  Set<Logistic>(k, BlockOp::kLogistic);
  Set<Tanh>(k, BlockOp::kTanh);
  Set<Sin>(k, BlockOp::kSin);
  Set<Cos>(k, BlockOp::kCos);
  Set<Tan>(k, BlockOp::kTan);
  Set<Erf>(k, BlockOp::kErf);
  Set<Erfc>(k, BlockOp::kErfc);
}
#else
void FillNarrow(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
