// SPDX-License-Identifier: Apache-2.0
//
// Binary functions of bf16 and f16, from memory to memory: arithmetic and what power-inl.h
// computes, between loads and stores of its own, and extremes of the words themselves. The bits are
// those that come by blocks of f32, which takes longer, above all from memory. With AVX-512 an
// element takes 0.28 ns for a power and 0.35 where bases have signs, 0.31 for an angle and 0.24 for
// a remainder.
#include "src/cpu_device/kernels/bf16_vectors-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/power-inl.h"
#include "src/cpu_device/kernels/small_float-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// As many elements as two vectors of f32 have, and those vectors.
typedef uint32_t Words __attribute__((vector_size(sizeof(Floats))));
typedef int16_t Integers __attribute__((vector_size(sizeof(Words))));
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
  using Format = bfloat16;
  static constexpr int kInfinity = 0x7f80, kQuiet = 0x40;
#if defined(__AVX512F__)
  static constexpr int kDigits = 7, kNan = 0x7fc0;
  // By how much y's exponent is above that of 2^(kDigits - 15), or 0.
  PJRT_INLINE __m512i ExponentAbove(__m512i y) {
    constexpr int kBias = 127, kWithoutSign = 0xff00;
    const auto less = static_cast<int16_t>(kWithoutSign | (kBias + kDigits - 15));
    return _mm512_subs_epu8(_mm512_srli_epi16(y, kDigits), _mm512_set1_epi16(less));
  }
#endif
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
    const Words lower = OddFromSecond(first, second << 16);
    return (Words)bf16::RoundedWords((bf16::Words)upper, (bf16::Words)lower);
  }
  PJRT_INLINE void Store(uint16_t* to, TwoFloats y) {
    const Words words = Join(y);
    __builtin_memcpy(to, &words, sizeof(words));
  }
};
// One half and the other. From memory and to it instructions do without a permutation.
struct F16 {
  using Format = half;
  static constexpr int kInfinity = 0x7c00, kQuiet = 0x200;
  static constexpr uint32_t kKeptOfNan = 0xffffe000;
#if defined(__AVX512F__)
  static constexpr int kDigits = 10, kNan = 0x7e00;
  PJRT_INLINE __m512i ExponentAbove(__m512i y) {
    constexpr int kBias = 15;
    const __m512i exponent = _mm512_srli_epi16(_mm512_add_epi16(y, y), kDigits + 1);
    return _mm512_subs_epu16(exponent, _mm512_set1_epi16(kBias + kDigits - 15));
  }
  PJRT_INLINE TwoFloats Load(const uint16_t* from) {
    const __m256i* const halves = reinterpret_cast<const __m256i*>(from);
    return {_mm512_cvtph_ps(_mm256_loadu_si256(halves)),
            _mm512_cvtph_ps(_mm256_loadu_si256(halves + 1))};
  }
  PJRT_INLINE void Store(uint16_t* to, TwoFloats y) {
    const __m256i first = _mm512_cvtps_ph(y.first, 0), second = _mm512_cvtps_ph(y.second, 0);
    __builtin_memcpy(to, &first, sizeof(first));
    __builtin_memcpy(to + kWords / 2, &second, sizeof(second));
  }
#else
  PJRT_INLINE TwoFloats Load(const uint16_t* from) {
    const __m128i* const halves = reinterpret_cast<const __m128i*>(from);
    return {_mm256_cvtph_ps(_mm_loadu_si128(halves)), _mm256_cvtph_ps(_mm_loadu_si128(halves + 1))};
  }
  PJRT_INLINE void Store(uint16_t* to, TwoFloats y) {
    const __m128i first = _mm256_cvtps_ph(y.first, 0), second = _mm256_cvtps_ph(y.second, 0);
    __builtin_memcpy(to, &first, sizeof(first));
    __builtin_memcpy(to + kWords / 2, &second, sizeof(second));
  }
#endif
};

// An operand is elements in memory or, for all of them, one of f32.
template <class Type, bool kScalar>
struct Operand {
  const uint16_t* words;
  Floats each;
  Words each_word;

  explicit Operand(const void* operand)
      : words(static_cast<const uint16_t*>(operand)), each(All(kScalar ? Single(operand) : 0)) {
    if constexpr (kScalar) {
      uint16_t word;
      const float single = Single(operand);
      StoreFloat<typename Type::Format>(&word, &single);
      each_word = (Words)(Integers{} + static_cast<int16_t>(word));
    }
  }
  // A NaN comes without what a store leaves out.
  PJRT_INLINE float Single(const void* operand) {
    const float x = *static_cast<const float*>(operand);
    return x == x ? x : BitCast<float>((ToBits(x) & Type::kKeptOfNan) | 0x400000u);
  }
  PJRT_INLINE_MEMBER Words WordsAt(int64_t i) const {
    if constexpr (kScalar) return each_word;
    Words x;
    __builtin_memcpy(&x, words + i, sizeof(x));
    return x;
  }
  PJRT_INLINE_MEMBER TwoFloats At(int64_t i) const {
    if constexpr (kScalar) return {each, each};
    return Type::Load(words + i);
  }
};

template <typename Function>
PJRT_INLINE TwoFloats RunTwo(TwoFloats x, TwoFloats y) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<Function, NarrowAtan2>) {
    const auto [first, second] = NarrowAtan2::RunTwo(x.first, x.second, y.first, y.second);
    return {first, second};
  }
#endif
  return {Function::Run(x.first, y.first), Function::Run(x.second, y.second)};
}

// What CallOnAll runs, a vector after the other; of powers there are steps, below.
template <class Each>
struct EachVector {
  template <class Type, Scalars kScalars>
  PJRT_ONE_COPY static void Run(uint16_t* to, const void* a, const void* b, int64_t n) {
    const Operand<Type, kScalars == Scalars::kFirst> x(a);
    const Operand<Type, kScalars == Scalars::kSecond> y(b);
    for (int64_t i = 0; i < n; i += kWords) Each::template Run<Type>(to + i, x, y, i);
  }
};

template <typename Function>
struct OfFloats {
  template <class Type, class X, class Y>
  PJRT_INLINE void Run(uint16_t* to, const X& x, const Y& y, int64_t i) {
    Type::Store(to, RunTwo<Function>(x.At(i), y.At(i)));
  }
};
struct AddFloats {
  PJRT_INLINE Floats Run(Floats x, Floats y) { return x + y; }
};
struct SubtractFloats {
  PJRT_INLINE Floats Run(Floats x, Floats y) { return x - y; }
};
struct MultiplyFloats {
  PJRT_INLINE Floats Run(Floats x, Floats y) { return x * y; }
};
struct DivideFloats {
  PJRT_INLINE Floats Run(Floats x, Floats y) { return x / y; }
};

// The larger or the smaller of two by their words, as floats::Maximum and Minimum define them: as
// integers with a sign, words are in the order of their numbers once those of negative ones are
// turned.
PJRT_INLINE Integers WordOrder(Integers x) { return x ^ ((x >> 15) & 0x7fff); }
template <class Type>
PJRT_INLINE Integers KeepNan(Integers result, Integers x) {
  constexpr int16_t kInfinity = Type::kInfinity, kQuiet = Type::kQuiet;
  return (x & 0x7fff) > kInfinity ? x | kQuiet : result;
}
template <class Type, bool kLargest>
PJRT_INLINE Words Extreme(Words x, Words y) {
  const Integers a = WordOrder((Integers)x), b = WordOrder((Integers)y);
  const Integers extreme = WordOrder(kLargest ? (a > b ? a : b) : (a < b ? a : b));
  return (Words)KeepNan<Type>(KeepNan<Type>(extreme, (Integers)y), (Integers)x);
}
template <bool kLargest>
struct OfWords {
  template <class Type, class X, class Y>
  PJRT_INLINE void Run(uint16_t* to, const X& x, const Y& y, int64_t i) {
    const Words extreme = Extreme<Type, kLargest>(x.WordsAt(i), y.WordsAt(i));
    __builtin_memcpy(to, &extreme, sizeof(extreme));
  }
};

// NarrowPower in steps: of short loops more iterations overlap than of a long one, and an element
// takes a quarter less.
template <class Type, Scalars kScalars>
struct Powers {
  Operand<Type, kScalars == Scalars::kFirst> bases;
  Operand<Type, kScalars == Scalars::kSecond> exponents;
  static constexpr int64_t kTogether = 16 * kWords;

  PJRT_INLINE_MEMBER TwoFloats Products(int64_t i) const {
    const TwoFloats x = bases.At(i), y = exponents.At(i);
    return {NarrowPower::Begin(x.first, y.first), NarrowPower::Begin(x.second, y.second)};
  }
  PJRT_INLINE_MEMBER void StoreResults(uint16_t* to, int64_t i, TwoFloats product) const {
    const TwoFloats x = bases.At(i), y = exponents.At(i);
    Type::Store(to + i, {NarrowPower::End(x.first, y.first, product.first),
                         NarrowPower::End(x.second, y.second, product.second)});
  }
#if defined(__AVX512F__)
  // Of `powers`, where bases and exponents are numbers, and bases not 0: what WithSignOfUsualPower
  // makes of them.
  PJRT_INLINE_MEMBER __m512i WithSigns(int64_t i, __m512i powers) const {
    constexpr int kOne = 1 << Type::kDigits;
    const auto each = [](int word) { return _mm512_set1_epi16(static_cast<int16_t>(word)); };
    __mmask32 negative = ~__mmask32{0}, signs, undefined;
    __m512i sign = each(0x8000);
    if constexpr (kScalars != Scalars::kFirst)
      negative = _mm512_movepi16_mask((__m512i)bases.WordsAt(i));
    if constexpr (kScalars == Scalars::kSecond) {
      const Floats y = exponents.each;
      signs = Any(IsNegative((Floats)_mm512_slli_epi32(_mm512_cvtps_epi32(y), 31))) ? negative : 0;
      undefined = Any(Compare<_CMP_NEQ_UQ>(Nearest(y), y)) ? negative : 0;
    } else {
      // The digits of y with ones at the sign: of integers nothing else is left.
      const __m512i y = (__m512i)exponents.WordsAt(i);
      const __m512i digits =
          _mm512_ternarylogic_epi32(y, each(kOne - 1), each(kOne), 0xea);  // a & b | c
      sign = _mm512_sllv_epi16(digits, Type::ExponentAbove(y));
      signs = _mm512_mask_test_epi16_mask(negative, y, each(0x7fff));
      undefined = _mm512_mask_test_epi16_mask(signs, sign, each(0x7fff));
    }
    const __m512i result = _mm512_mask_add_epi16(powers, signs, powers, sign);
    return _mm512_mask_mov_epi16(result, undefined, each(Type::kNan));
  }
  PJRT_INLINE_MEMBER void RunTogether(uint16_t* to, int64_t from, int64_t end) const {
    TwoFloats products[kTogether / kWords];
    Floats all = All(1);  // no number once a product is none
    __m512i signs = _mm512_setzero_si512();
    if constexpr (kScalars == Scalars::kFirst) signs = _mm512_srai_epi32((__m512i)bases.each, 31);
    for (int64_t i = from; i < end; i += kWords) {
      const TwoFloats product = Products(i);
      products[(i - from) / kWords] = product;
      all = Fused(product.first, product.second, all);
      if constexpr (kScalars != Scalars::kFirst)
        signs = _mm512_or_si512(signs, (__m512i)bases.WordsAt(i));
    }
    if (__builtin_expect(Any(IsNoNumber(all, all)), 0)) {
      for (int64_t i = from; i < end; i += kWords)
        StoreResults(to, i, products[(i - from) / kWords]);
      return;
    }
    const bool negative = _mm512_movepi16_mask(signs) != 0;
    alignas(64) uint16_t powers[kTogether];
    uint16_t* const unsigned_to = negative ? powers : to + from;
    for (int64_t i = 0; i < end - from; i += kWords) {
      const auto [first, second] = products[i / kWords];
      Type::Store(unsigned_to + i, {NarrowPower::Exp(LeftOf(first), first),
                                    NarrowPower::Exp(LeftOf(second), second)});
    }
    if (!negative) return;
    for (int64_t i = from; i < end; i += kWords)
      _mm512_storeu_si512(to + i, WithSigns(i, _mm512_load_si512(powers + (i - from))));
  }
#else
  PJRT_INLINE_MEMBER void RunTogether(uint16_t* to, int64_t from, int64_t end) const {
    TwoFloats products[kTogether / kWords];
    for (int64_t i = from; i < end; i += kWords) products[(i - from) / kWords] = Products(i);
    for (int64_t i = from; i < end; i += kWords) StoreResults(to, i, products[(i - from) / kWords]);
  }
#endif
};
struct InSteps {
  template <class Type, Scalars kScalars>
  PJRT_ONE_COPY static void Run(uint16_t* to, const void* a, const void* b, int64_t n) {
    using P = Powers<Type, kScalars>;
    const P powers = {decltype(P::bases)(a), decltype(P::exponents)(b)};
    for (int64_t from = 0; from < n; from += P::kTogether)
      powers.RunTogether(to, from, from + P::kTogether < n ? from + P::kTogether : n);
  }
};

// Runs::Run of whole vectors; what is left is filled up to one with usual numbers.
template <class Runs, class Type, Scalars kScalars>
void CallOnAll(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  const int64_t whole = n / kWords * kWords;
  uint16_t* const d = static_cast<uint16_t*>(dst);
  Runs::template Run<Type, kScalars>(d, a, b, whole);
  if (whole == n) return;
  uint16_t rest[2][kWords];
  for (int i = 0; i < kWords; ++i) rest[0][i] = rest[1][i] = 0x3c00;
  const int64_t bytes = (n - whole) * sizeof(uint16_t);
  if (kScalars != Scalars::kFirst)
    __builtin_memcpy(rest[0], static_cast<const uint16_t*>(a) + whole, bytes);
  if (kScalars != Scalars::kSecond)
    __builtin_memcpy(rest[1], static_cast<const uint16_t*>(b) + whole, bytes);
  Runs::template Run<Type, kScalars>(rest[0], kScalars == Scalars::kFirst ? a : rest[0],
                                     kScalars == Scalars::kSecond ? b : rest[1], kWords);
  __builtin_memcpy(d + whole, rest[0], bytes);
}

template <class Runs, class Type>
void SetOf(BlockKernels* k, NarrowType type, BlockOp op) {
  BlockFn* const forms =
      k->narrow_binary[static_cast<int>(type)][static_cast<int>(op) - kNumUnaryBlockOps];
  forms[static_cast<int>(Scalars::kNone)] = CallOnAll<Runs, Type, Scalars::kNone>;
  forms[static_cast<int>(Scalars::kFirst)] = CallOnAll<Runs, Type, Scalars::kFirst>;
  forms[static_cast<int>(Scalars::kSecond)] = CallOnAll<Runs, Type, Scalars::kSecond>;
}
template <class Runs>
void Set(BlockKernels* k, BlockOp op) {
  SetOf<Runs, Bf16>(k, NarrowType::kBf16, op);
  SetOf<Runs, F16>(k, NarrowType::kF16, op);
}

}  // namespace

void FillNarrowBinary(BlockKernels* k) {
  Set<EachVector<OfFloats<AddFloats>>>(k, BlockOp::kAdd);
  Set<EachVector<OfFloats<SubtractFloats>>>(k, BlockOp::kSubtract);
  Set<EachVector<OfFloats<MultiplyFloats>>>(k, BlockOp::kMultiply);
  Set<EachVector<OfFloats<DivideFloats>>>(k, BlockOp::kDivide);
  Set<EachVector<OfFloats<Remainder>>>(k, BlockOp::kRemainder);
  Set<EachVector<OfFloats<NarrowAtan2>>>(k, BlockOp::kNarrowAtan2);
  Set<EachVector<OfWords</*kLargest=*/true>>>(k, BlockOp::kMaximum);
  Set<EachVector<OfWords</*kLargest=*/false>>>(k, BlockOp::kMinimum);
  Set<InSteps>(k, BlockOp::kNarrowPower);
}
#else
void FillNarrowBinary(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
