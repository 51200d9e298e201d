// SPDX-License-Identifier: Apache-2.0
//
// Powers, angles and remainders of bf16 and f16, from memory to memory: what power-inl.h computes,
// between loads and stores of its own. The bits are those that come by blocks of f32, which takes
// longer, above all from memory. With AVX-512 an element takes 0.15 to 0.23, 0.20 and 0.13 ns.
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/power-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// As many elements as two vectors of f32 have, and those vectors.
typedef uint32_t Words __attribute__((vector_size(sizeof(Floats))));
constexpr int64_t kWords = sizeof(Words) / sizeof(uint16_t);
struct TwoFloats {
  Floats first, second;
};

// Elements of 16 bits, the odd ones from `second`.
PJRT_INLINE Words OddFromSecond(Words first, Words second) {
#if defined(__AVX512F__)
  return (Words)_mm512_mask_mov_epi16((__m512i)first, 0xaaaaaaaau, (__m512i)second);
#else
  return (Words)_mm256_blend_epi16((__m256i)first, (__m256i)second, 0xaa);
#endif
}
// Even elements and odd ones: nothing has to cross lanes.
struct Bf16 {
  static constexpr uint32_t kKeptOfNan = 0xffff0000;
  PJRT_INLINE TwoFloats Load(const uint16_t* from) {
    Words x;
    __builtin_memcpy(&x, from, sizeof(x));
    return {(Floats)(x << 16), (Floats)(x & 0xffff0000u)};
  }
  // To the nearest, ties to even. The lower half of a NaN is 0, as in the operands, and it is
  // quiet.
  PJRT_INLINE Words Join(TwoFloats y) {
    const Words first = (Words)y.first, second = (Words)y.second;
    const Words upper = OddFromSecond(first >> 16, second);
    const Words lower = OddFromSecond(first, second << 16) | (upper & 0x10001);
#if defined(__AVX512F__)
    const __m512i half = _mm512_set1_epi16(static_cast<int16_t>(0x8000));
    const __mmask32 up = _mm512_cmpgt_epu16_mask((__m512i)lower, half);
    return (Words)_mm512_mask_sub_epi16((__m512i)upper, up, (__m512i)upper, _mm512_set1_epi16(-1));
#else
    const __m256i at_most =
        _mm256_subs_epu16((__m256i)lower, _mm256_set1_epi16(static_cast<int16_t>(0x8000)));
    return (Words)_mm256_sub_epi16((__m256i)upper,
                                   _mm256_cmpgt_epi16(at_most, _mm256_setzero_si256()));
#endif
  }
};
// One half and the other. From memory the instruction does without a permutation.
struct F16 {
  static constexpr uint32_t kKeptOfNan = 0xffffe000;
#if defined(__AVX512F__)
  PJRT_INLINE TwoFloats Load(const uint16_t* from) {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(from);
    return {_mm512_cvtph_ps(_mm256_loadu_si256(halves)),
            _mm512_cvtph_ps(_mm256_loadu_si256(halves + 1))};
  }
  PJRT_INLINE Words Join(TwoFloats y) {
    return (Words)_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(y.first, 0)),
                                     _mm512_cvtps_ph(y.second, 0), 1);
  }
#else
  PJRT_INLINE TwoFloats Load(const uint16_t* from) {
    const __m128i* const halves = reinterpret_cast<const __m128i*>(from);
    return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
  }
  PJRT_INLINE Words Join(TwoFloats y) {
    return (Words)_mm256_set_m128i(_mm256_cvtps_ph(y.second, 0), _mm256_cvtps_ph(y.first, 0));
  }
#endif
};

// An operand is elements in memory or, for all of them, one of f32.
template <class Type, bool kScalar>
struct Operand {
  const uint16_t* words;
  Floats each;

  explicit Operand(const void* operand)
      : words(static_cast<const uint16_t*>(operand)), each(All(kScalar ? Single(operand) : 0)) {}
  // A NaN comes without what a store leaves out: see Join.
  PJRT_INLINE float Single(const void* operand) {
    const float x = *static_cast<const float*>(operand);
    return x == x ? x : BitCast<float>((ToBits(x) & Type::kKeptOfNan) | 0x400000u);
  }
  PJRT_INLINE_MEMBER Words WordsAt(int64_t i) const {
    Words x;
    __builtin_memcpy(&x, words + i, sizeof(x));
    return x;
  }
  PJRT_INLINE_MEMBER TwoFloats At(int64_t i) const {
    if constexpr (kScalar) return {each, each};
    return Type::Load(words + i);
  }
  PJRT_INLINE_MEMBER TwoFloats Rest(int64_t i, int64_t n) const {
    if constexpr (kScalar) return {each, each};
    uint16_t rest[kWords] = {};
    __builtin_memcpy(rest, words + i, (n - i) * sizeof(uint16_t));
    return Type::Load(rest);
  }
};

template <typename Function, class Type, Scalars kScalars>
void Loop(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  uint16_t* const d = static_cast<uint16_t*>(dst);
  const Operand<Type, kScalars == Scalars::kFirst> x(a);
  const Operand<Type, kScalars == Scalars::kSecond> y(b);
  const auto run = [](TwoFloats p, TwoFloats q) __attribute__((always_inline)) {
    return Type::Join({Function::Run(p.first, q.first), Function::Run(p.second, q.second)});
  };
  int64_t i = 0;
  for (; i + kWords <= n; i += kWords) {
    const Words result = run(x.At(i), y.At(i));
    __builtin_memcpy(d + i, &result, sizeof(result));
  }
  if (i == n) return;
  const Words result = run(x.Rest(i, n), y.Rest(i, n));
  __builtin_memcpy(d + i, &result, (n - i) * sizeof(uint16_t));
}

#if defined(__AVX512F__)
// NarrowPower::LogOf the 128 mantissas of bf16, by their digits: the upper halves of the bits, and
// the lower ones.
struct Bf16Logs {
  alignas(64) uint16_t upper[128] = {}, lower[128] = {};
  constexpr explicit Bf16Logs(const float (&log)[128]) {
    for (int i = 0; i < 128; ++i) {
      const uint32_t bits = __builtin_bit_cast(uint32_t, log[i]);
      upper[i] = static_cast<uint16_t>(bits >> 16);
      lower[i] = static_cast<uint16_t>(bits);
    }
  }
};
constexpr Bf16Logs kBf16Logs(
    {0x0p+0f,         0x1.6fe50ap-7f,  0x1.6e7966p-6f,  0x1.11cd1cp-5f,  0x1.6bad38p-5f,
     0x1.c4dfacp-5f,  0x1.0eb38cp-4f,  0x1.3aa3p-4f,    0x1.663f7p-4f,   0x1.918a16p-4f,
     0x1.bc8424p-4f,  0x1.e72ecp-4f,   0x1.08c588p-3f,  0x1.1dcd1ap-3f,  0x1.32ae9ep-3f,
     0x1.476aap-3f,   0x1.5c01a4p-3f,  0x1.70742ep-3f,  0x1.84c2bcp-3f,  0x1.98eddp-3f,
     0x1.acf5e2p-3f,  0x1.c0db6cp-3f,  0x1.d49ee4p-3f,  0x1.e840bep-3f,  0x1.fbc16cp-3f,
     0x1.0790aep-2f,  0x1.11307ep-2f,  0x1.1ac05cp-2f,  0x1.24407ap-2f,  0x1.2db11p-2f,
     0x1.37124cp-2f,  0x1.406464p-2f,  0x1.49a784p-2f,  0x1.52dbep-2f,   0x1.5c01a4p-2f,
     0x1.6518fep-2f,  0x1.6e221cp-2f,  0x1.771d2cp-2f,  0x1.800a56p-2f,  0x1.88e9c8p-2f,
     0x1.91bba8p-2f,  0x1.9a8024p-2f,  0x1.a3376p-2f,   0x1.abe188p-2f,  0x1.b47ecp-2f,
     0x1.bd0f2ep-2f,  0x1.c592fap-2f,  0x1.ce0a48p-2f,  0x1.d6753ep-2f,  0x1.ded3fep-2f,
     0x1.e726aap-2f,  0x1.ef6d68p-2f,  0x1.f7a856p-2f,  0x1.ffd79ap-2f,  0x1.03fda8p-1f,
     0x1.0809dp-1f,   0x1.0c105p-1f,   0x1.10113ap-1f,  0x1.140cap-1f,   0x1.18028cp-1f,
     0x1.1bf312p-1f,  0x1.1fde3ep-1f,  0x1.23c41ep-1f,  0x1.27a4cp-1f,   -0x1.a8ff98p-2f,
     -0x1.a152f2p-2f, -0x1.99b072p-2f, -0x1.9218p-2f,   -0x1.8a898p-2f,  -0x1.8304dap-2f,
     -0x1.7b89fp-2f,  -0x1.7418aep-2f, -0x1.6cb0f6p-2f, -0x1.6552b4p-2f, -0x1.5dfddp-2f,
     -0x1.56b22ep-2f, -0x1.4f6fbcp-2f, -0x1.48365ep-2f, -0x1.410602p-2f, -0x1.39de8ep-2f,
     -0x1.32bfeep-2f, -0x1.2baa0cp-2f, -0x1.249cd2p-2f, -0x1.1d982cp-2f, -0x1.169c06p-2f,
     -0x1.0fa848p-2f, -0x1.08bcep-2f,  -0x1.01d9bcp-2f, -0x1.f5fd8ap-3f, -0x1.e857d4p-3f,
     -0x1.dac22ep-3f, -0x1.cd3c72p-3f, -0x1.bfc67ap-3f, -0x1.b26024p-3f, -0x1.a5094cp-3f,
     -0x1.97c1ccp-3f, -0x1.8a898p-3f,  -0x1.7d604ap-3f, -0x1.704604p-3f, -0x1.633a8cp-3f,
     -0x1.563dc2p-3f, -0x1.494f86p-3f, -0x1.3c6fb6p-3f, -0x1.2f9e34p-3f, -0x1.22dadcp-3f,
     -0x1.162594p-3f, -0x1.097e38p-3f, -0x1.f9c95ep-4f, -0x1.e0b1aep-4f, -0x1.c7b528p-4f,
     -0x1.aed392p-4f, -0x1.960cbp-4f,  -0x1.7d604ap-4f, -0x1.64ce28p-4f, -0x1.4c561p-4f,
     -0x1.33f7cep-4f, -0x1.1bb32ap-4f, -0x1.0387fp-4f,  -0x1.d6ebd2p-5f, -0x1.a6f9c4p-5f,
     -0x1.77394ap-5f, -0x1.47aa06p-5f, -0x1.184b9p-5f,  -0x1.d23bp-6f,   -0x1.743eecp-6f,
     -0x1.16a22p-6f,  -0x1.72c7bcp-7f, -0x1.720d9cp-8f});
PJRT_INLINE Words Fetch(const uint16_t (&table)[128], Words places) {
  const auto half = [&](const uint16_t* entries) {
    return _mm512_permutex2var_epi16(_mm512_load_si512(entries), (__m512i)places,
                                     _mm512_load_si512(entries + 32));
  };
  const __mmask32 upper = _mm512_test_epi16_mask((__m512i)places, _mm512_set1_epi16(64));
  return (Words)_mm512_mask_mov_epi16(half(table), upper, half(table + 64));
}
#endif

// NarrowPower in two steps: of two short loops more iterations overlap than of a long one, and an
// element takes a quarter less.
template <class Type, Scalars kScalars>
struct Powers {
  Operand<Type, kScalars == Scalars::kFirst> bases;
  Operand<Type, kScalars == Scalars::kSecond> exponents;
#if defined(__AVX512F__)
  static constexpr bool kByTable = std::is_same_v<Type, Bf16> && kScalars != Scalars::kFirst;
#endif

  PJRT_INLINE_MEMBER TwoFloats Products(int64_t i) const {
    const TwoFloats x = bases.At(i), y = exponents.At(i);
#if defined(__AVX512F__)
    if constexpr (kByTable) {
      const Words digits = bases.WordsAt(i);
      const Words upper = Fetch(kBf16Logs.upper, digits), lower = Fetch(kBf16Logs.lower, digits);
      const TwoFloats log = {(Floats)OddFromSecond(lower, upper << 16),
                             (Floats)OddFromSecond(lower >> 16, upper)};
      return {y.first * (NearOneOf(x.first).exponent + log.first),
              y.second * (NearOneOf(x.second).exponent + log.second)};
    }
#endif
    return {NarrowPower::Begin(x.first, y.first), NarrowPower::Begin(x.second, y.second)};
  }
  PJRT_INLINE_MEMBER Words Results(int64_t i, TwoFloats product) const {
    using P = NarrowPower;
    const TwoFloats x = bases.At(i), y = exponents.At(i);
    const TwoFloats whole = {Nearest(product.first), Nearest(product.second)};
    const TwoFloats f = {product.first - whole.first, product.second - whole.second};
    bool rare = Any(Compare<_CMP_UNORD_Q>(f.first, f.second));
#if defined(__AVX512F__)
    if constexpr (kByTable) {
      // The table has no denormal numbers.
      const __m512i words = (__m512i)bases.WordsAt(i);
      const __mmask32 small = _mm512_testn_epi16_mask(words, _mm512_set1_epi16(0x7f80));
      rare = rare | (small != 0);
      if (__builtin_expect(rare, 0) &&
          _mm512_mask_test_epi16_mask(small, words, _mm512_set1_epi16(0x7fff)) != 0)
        product = {P::Begin(x.first, y.first), P::Begin(x.second, y.second)};
    }
#endif
    if (__builtin_expect(rare, 0))
      return Type::Join({P::RunAny(x.first, y.first, product.first),
                         P::RunAny(x.second, y.second, product.second)});
    return Type::Join({P::Result(f.first, whole.first, x.first, y.first),
                       P::Result(f.second, whole.second, x.second, y.second)});
  }
  // n: of whole vectors.
  __attribute__((noinline)) void Run(uint16_t* to, int64_t n) const {
    constexpr int64_t kTogether = 16 * kWords;
    TwoFloats products[kTogether / kWords];
    for (int64_t from = 0; from < n; from += kTogether) {
      const int64_t end = from + kTogether < n ? from + kTogether : n;
      for (int64_t i = from; i < end; i += kWords) products[(i - from) / kWords] = Products(i);
      for (int64_t i = from; i < end; i += kWords) {
        const Words results = Results(i, products[(i - from) / kWords]);
        __builtin_memcpy(to + i, &results, sizeof(results));
      }
    }
  }
};
template <class Type, Scalars kScalars>
void PowersLoop(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  const int64_t most = n / kWords * kWords;
  uint16_t* const d = static_cast<uint16_t*>(dst);
  const auto run = [](uint16_t* to, const void* x, const void* y, int64_t count) {
    const Powers<Type, kScalars> powers = {decltype(powers.bases)(x),
                                           decltype(powers.exponents)(y)};
    powers.Run(to, count);
  };
  run(d, a, b, most);
  if (most == n) return;
  uint16_t rest[2][kWords];
  for (int i = 0; i < kWords; ++i) rest[0][i] = rest[1][i] = 0x3c00;  // usual ones
  const int64_t bytes = (n - most) * sizeof(uint16_t);
  if (kScalars != Scalars::kFirst)
    __builtin_memcpy(rest[0], static_cast<const uint16_t*>(a) + most, bytes);
  if (kScalars != Scalars::kSecond)
    __builtin_memcpy(rest[1], static_cast<const uint16_t*>(b) + most, bytes);
  run(rest[0], kScalars == Scalars::kFirst ? a : rest[0],
      kScalars == Scalars::kSecond ? b : rest[1], kWords);
  __builtin_memcpy(d + most, rest[0], bytes);
}

BlockFn* Forms(BlockKernels* k, NarrowType type, BlockOp op) {
  return k->narrow_binary[static_cast<int>(type)][static_cast<int>(op) - kNumUnaryBlockOps];
}
template <class Type>
void SetPower(BlockFn* forms) {
  forms[static_cast<int>(Scalars::kNone)] = PowersLoop<Type, Scalars::kNone>;
  forms[static_cast<int>(Scalars::kFirst)] = PowersLoop<Type, Scalars::kFirst>;
  forms[static_cast<int>(Scalars::kSecond)] = PowersLoop<Type, Scalars::kSecond>;
}
template <typename Function, class Type>
void SetOf(BlockFn* forms) {
  forms[static_cast<int>(Scalars::kNone)] = Loop<Function, Type, Scalars::kNone>;
  forms[static_cast<int>(Scalars::kFirst)] = Loop<Function, Type, Scalars::kFirst>;
  forms[static_cast<int>(Scalars::kSecond)] = Loop<Function, Type, Scalars::kSecond>;
}
template <typename Function>
void Set(BlockKernels* k, BlockOp op) {
  SetOf<Function, Bf16>(Forms(k, NarrowType::kBf16, op));
  SetOf<Function, F16>(Forms(k, NarrowType::kF16, op));
}

}  // namespace

void FillNarrowBinary(BlockKernels* k) {
  SetPower<Bf16>(Forms(k, NarrowType::kBf16, BlockOp::kNarrowPower));
  SetPower<F16>(Forms(k, NarrowType::kF16, BlockOp::kNarrowPower));
  Set<NarrowAtan2>(k, BlockOp::kNarrowAtan2);
  Set<Remainder>(k, BlockOp::kRemainder);
}
#else
void FillNarrowBinary(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
