// SPDX-License-Identifier: Apache-2.0
//
// Operations and comparisons of two numbers of f8, f6 or f4, from memory to memory. The bits are
// those that come by blocks of f32.
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/float-inl.h"
#include "src/cpu_device/kernels/floats-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/small_float-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

constexpr int64_t kBytes = sizeof(Floats);  // of a vector, and numbers that are computed together
typedef uint8_t Bytes __attribute__((vector_size(kBytes)));
typedef int8_t SignedBytes __attribute__((vector_size(kBytes)));
typedef uint16_t Words __attribute__((vector_size(kBytes)));
typedef uint32_t Bits __attribute__((vector_size(kBytes)));
typedef int32_t SignedBits __attribute__((vector_size(kBytes)));

struct FourFloats {
  Floats part[4];
};
struct FourBits {
  Bits part[4];
};

// These but Listed work within lanes of 16 bytes, so that packing what was unpacked gives the order
// back.
#if defined(__AVX512F__)
// Only processors that permute bytes by an instruction have functions of this level: to compute
// what they look up takes as long again.
#define PJRT_PERMUTES_BYTES __attribute__((target("avx512vbmi,avx512vbmi2")))
// By the last seven bits.
PJRT_INLINE PJRT_PERMUTES_BYTES Bytes Listed(const uint8_t (&list)[128], Bytes places) {
  return (Bytes)_mm512_permutex2var_epi8(_mm512_load_si512(list), (__m512i)places,
                                         _mm512_load_si512(list + 64));
}
PJRT_INLINE Words LowerWords(Bytes lower, Bytes upper) {
  return (Words)_mm512_unpacklo_epi8((__m512i)lower, (__m512i)upper);
}
PJRT_INLINE Words UpperWords(Bytes lower, Bytes upper) {
  return (Words)_mm512_unpackhi_epi8((__m512i)lower, (__m512i)upper);
}
PJRT_INLINE Floats LowerFloats(Words words) {
  return (Floats)_mm512_unpacklo_epi16(_mm512_setzero_si512(), (__m512i)words);
}
PJRT_INLINE Floats UpperFloats(Words words) {
  return (Floats)_mm512_unpackhi_epi16(_mm512_setzero_si512(), (__m512i)words);
}
PJRT_INLINE Words PackSigns(Bits a, Bits b) {
  return (Words)_mm512_packs_epi32((__m512i)a, (__m512i)b);
}
PJRT_INLINE Bytes PackWords(Words a, Words b) {
  return (Bytes)_mm512_packus_epi16((__m512i)a, (__m512i)b);
}
PJRT_INLINE Bytes PackSigns(Words a, Words b) {
  return (Bytes)_mm512_packs_epi16((__m512i)a, (__m512i)b);
}
PJRT_INLINE Words HalvesOf(Floats a, Floats b) {
  return (Words)_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtps_ph(a, 0)),
                                   _mm512_cvtps_ph(b, 0), 1);
}
// Of what PackWords makes of HalvesOf FourFloats.
PJRT_INLINE Bytes InOrder(Bytes x) {
  const __m512i places = _mm512_setr_epi32(0, 8, 2, 10, 1, 9, 3, 11, 4, 12, 6, 14, 5, 13, 7, 15);
  return (Bytes)_mm512_permutexvar_epi32(places, (__m512i)x);
}
// From memory to what packing FourFloats gives: dwords by lanes, and by places within them.
PJRT_INLINE Bytes ToLanes(Bytes x) {
  const __m512i places = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return (Bytes)_mm512_permutexvar_epi32(places, (__m512i)x);
}
// The last bytes of four numbers side by side, or their signs with seven bits that do not matter;
// and from there to the order of packing, and to memory.
PJRT_INLINE PJRT_PERMUTES_BYTES Bytes JoinLast(const FourBits& x) {
  __m512i joined = _mm512_slli_epi32((__m512i)x.part[0], 24);
  for (int i = 1; i < 4; ++i) joined = _mm512_shrdi_epi32(joined, (__m512i)x.part[i], 8);
  return (Bytes)joined;
}
PJRT_INLINE PJRT_PERMUTES_BYTES Bytes JoinSigns(const FourFloats& x) {
  __m512i joined = _mm512_srli_epi32((__m512i)x.part[3], 24);
  for (int i = 3; i-- > 0;) joined = _mm512_shldi_epi32(joined, (__m512i)x.part[i], 8);
  return (Bytes)joined;
}
PJRT_INLINE Bytes PackJoined(Bytes x) {
  const __m128i places = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return (Bytes)_mm512_shuffle_epi8((__m512i)x, _mm512_broadcast_i32x4(places));
}
struct JoinedPlaces {
  alignas(kBytes) uint8_t at[kBytes];
};
constexpr JoinedPlaces kJoinedPlaces = [] {
  JoinedPlaces places = {};
  for (int i = 0; i < kBytes; ++i) places.at[i] = static_cast<uint8_t>(i % 16 * 4 + i / 16);
  return places;
}();
PJRT_INLINE PJRT_PERMUTES_BYTES Bytes FromJoined(Bytes x) {
  return (Bytes)_mm512_permutexvar_epi8(_mm512_load_si512(kJoinedPlaces.at), (__m512i)x);
}
PJRT_INLINE Words Smaller(Words a, Words b) {
  return (Words)_mm512_min_epu16((__m512i)a, (__m512i)b);
}
PJRT_INLINE Words Above(Words a, Words b) {
  return (Words)_mm512_subs_epu16((__m512i)a, (__m512i)b);
}
PJRT_INLINE Bytes Above(Bytes a, Bytes b) {
  return (Bytes)_mm512_subs_epu8((__m512i)a, (__m512i)b);
}
PJRT_INLINE Bytes BoundedSum(Bytes a, Bytes b) {
  return (Bytes)_mm512_adds_epu8((__m512i)a, (__m512i)b);
}
#else
#define PJRT_PERMUTES_BYTES
// Any of them for a place above 15.
PJRT_INLINE Bytes Listed(const uint8_t (&list)[16], Bytes places) {
  const __m128i lane = _mm_loadu_si128(reinterpret_cast<const __m128i*>(list));
  return (Bytes)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(lane), (__m256i)places);
}
PJRT_INLINE Words LowerWords(Bytes lower, Bytes upper) {
  return (Words)_mm256_unpacklo_epi8((__m256i)lower, (__m256i)upper);
}
PJRT_INLINE Words UpperWords(Bytes lower, Bytes upper) {
  return (Words)_mm256_unpackhi_epi8((__m256i)lower, (__m256i)upper);
}
PJRT_INLINE Floats LowerFloats(Words words) {
  return (Floats)_mm256_unpacklo_epi16(_mm256_setzero_si256(), (__m256i)words);
}
PJRT_INLINE Floats UpperFloats(Words words) {
  return (Floats)_mm256_unpackhi_epi16(_mm256_setzero_si256(), (__m256i)words);
}
PJRT_INLINE Words PackSigns(Bits a, Bits b) {
  return (Words)_mm256_packs_epi32((__m256i)a, (__m256i)b);
}
PJRT_INLINE Bytes PackWords(Words a, Words b) {
  return (Bytes)_mm256_packus_epi16((__m256i)a, (__m256i)b);
}
PJRT_INLINE Bytes PackSigns(Words a, Words b) {
  return (Bytes)_mm256_packs_epi16((__m256i)a, (__m256i)b);
}
PJRT_INLINE Words HalvesOf(Floats a, Floats b) {
  return (Words)_mm256_set_m128i(_mm256_cvtps_ph(b, 0), _mm256_cvtps_ph(a, 0));
}
PJRT_INLINE Bytes InOrder(Bytes x) {
  return (Bytes)_mm256_permutevar8x32_epi32((__m256i)x, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
}
PJRT_INLINE Bytes ToLanes(Bytes x) {
  return (Bytes)_mm256_permutevar8x32_epi32((__m256i)x, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
}
PJRT_INLINE Bytes JoinLast(const FourBits& x) {
  __m256i last[4];
  for (int i = 0; i < 4; ++i) last[i] = (__m256i)(x.part[i] & 0xff);
  return (Bytes)_mm256_packus_epi16(_mm256_packus_epi32(last[0], last[1]),
                                    _mm256_packus_epi32(last[2], last[3]));
}
PJRT_INLINE Bytes JoinSigns(const FourFloats& x) {
  return PackSigns(PackSigns((Bits)x.part[0], (Bits)x.part[1]),
                   PackSigns((Bits)x.part[2], (Bits)x.part[3]));
}
PJRT_INLINE Bytes PackJoined(Bytes x) { return x; }
PJRT_INLINE Bytes FromJoined(Bytes x) {
  return (Bytes)_mm256_permutevar8x32_epi32((__m256i)x, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
PJRT_INLINE Words Smaller(Words a, Words b) {
  return (Words)_mm256_min_epu16((__m256i)a, (__m256i)b);
}
PJRT_INLINE Words Above(Words a, Words b) {
  return (Words)_mm256_subs_epu16((__m256i)a, (__m256i)b);
}
PJRT_INLINE Bytes Above(Bytes a, Bytes b) {
  return (Bytes)_mm256_subs_epu8((__m256i)a, (__m256i)b);
}
PJRT_INLINE Bytes BoundedSum(Bytes a, Bytes b) {
  return (Bytes)_mm256_adds_epu8((__m256i)a, (__m256i)b);
}
#endif

PJRT_INLINE FourFloats FloatsOf(Bytes lower, Bytes upper) {
  const Words first = LowerWords(lower, upper), second = UpperWords(lower, upper);
  return {{LowerFloats(first), UpperFloats(first), LowerFloats(second), UpperFloats(second)}};
}

// Numbers of a format as f32, of which the upper half alone is not 0, and back.
template <class Format>
struct Codec {
  using L = Layout<Format>;
  // Numbers by 2^kToHalf have denormals where f16 has them, so that it rounds these: every result
  // of one operation comes out as if it had been rounded once. One format has more exponents.
  static constexpr int kToHalf = L::kBias - 15;
  static constexpr bool kHasHalf = kToHalf <= 0;

  // The bytes of the upper halves of the first numbers by 2^kScale: of all but the signs of f8 or,
  // where they are computed, of those of exponent 0.
#if defined(__AVX512F__)
  static constexpr int kListed = 128;
#else
  static constexpr int kListed = 16;
#endif
  struct Uppers {
    alignas(kBytes) uint8_t lower[kListed], upper[kListed];
  };
  static constexpr Uppers MakeUppers(int scale) {
    Uppers d = {};
    for (int i = 0; i < kListed; ++i) {
      uint32_t bits =
          __builtin_bit_cast(uint32_t, Format::FromBits(static_cast<uint8_t>(i)).ToFloat());
      const uint32_t size = bits & 0x7fffffffu;
      if (size != 0 && size < kInfinityF32) bits += static_cast<uint32_t>(scale) << 23;
      d.lower[i] = static_cast<uint8_t>(bits >> 16);
      d.upper[i] = static_cast<uint8_t>(bits >> 24);
    }
    return d;
  }
  template <int kScale>
  static constexpr Uppers kUppers = MakeUppers(kScale);

#if defined(__AVX512F__)
  template <int kScale>
  PJRT_INLINE PJRT_PERMUTES_BYTES FourFloats Load(Bytes x) {
    const Uppers& uppers = kUppers<kScale>;
    Bytes lower = Listed(uppers.lower, x), upper = Listed(uppers.upper, x);
    if constexpr (Format::kBits == 8) upper |= x & 0x80;
    if constexpr (L::kUnsignedZero) {
      const SignedBytes nan = (SignedBytes)x == static_cast<int8_t>(L::kNan);
      lower = nan ? Bytes{} + 0xc0 : lower;
      upper = nan ? Bytes{} + 0x7f : upper;
    }
    return FloatsOf(lower, upper);
  }
#else
  template <int kScale>
  PJRT_INLINE FourFloats Load(Bytes x) {
    const Bytes size = x & static_cast<uint8_t>(L::kMagnitude);
    // Exponent and mantissa where f32 has them, and the difference of the biases.
    constexpr int kLeft = 7 - L::kMantissa, kRight = L::kMantissa + 1;
    constexpr int kToBias = 127 - L::kBias + kScale, kOdd = kToBias & 1;
    const Bytes kept = (Bytes)((Words)size << kLeft) & static_cast<uint8_t>(0xff << kLeft);
    const Bytes normal_lower = kept ^ static_cast<uint8_t>(kOdd << 7);
    const Bytes carried = size + static_cast<uint8_t>(kOdd << L::kMantissa);
    const Bytes exponent = (Bytes)((Words)carried >> kRight) & static_cast<uint8_t>(0xff >> kRight);
    const Bytes normal_upper = exponent + static_cast<uint8_t>(kToBias >> 1);
    const SignedBytes is_normal = (SignedBytes)size > static_cast<int8_t>((1 << L::kMantissa) - 1);
    const Uppers& uppers = kUppers<kScale>;
    Bytes lower = is_normal ? normal_lower : Listed(uppers.lower, size);
    Bytes upper = is_normal ? normal_upper : Listed(uppers.upper, size);
    if constexpr (L::kIeee) {
      const SignedBytes special = (SignedBytes)size > static_cast<int8_t>(L::kInfinity - 1);
      const SignedBytes nan = (SignedBytes)size > static_cast<int8_t>(L::kInfinity);
      lower |= ((Bytes)special & 0x80) | ((Bytes)nan & 0x40);
      upper |= (Bytes)special & 0x7f;
    } else if constexpr (!L::kFiniteOnly) {
      const SignedBytes nan =
          (SignedBytes)(L::kUnsignedZero ? x : size) == static_cast<int8_t>(L::kNan);
      lower = nan ? Bytes{} + 0xc0 : lower;
      // Where the sign alone is the NaN, it is none of its own.
      upper |= (Bytes)nan & static_cast<uint8_t>(L::kUnsignedZero ? 0xff : 0x7f);
    }
    upper ^= (Bytes)((Words)x << (8 - Format::kBits)) & 0x80;
    return FloatsOf(lower, upper);
  }
#endif

  PJRT_INLINE Bytes WithSigns(Bytes code, Bytes signs) {
    Bytes sign = (Bytes)((Words)signs >> (8 - Format::kBits)) & static_cast<uint8_t>(L::kSign);
    if constexpr (L::kUnsignedZero) sign = code != 0 ? sign : Bytes{};
    return code | sign;
  }

  // Beyond the largest number come infinity or NaN or, where there are neither, the number itself.
  static constexpr uint32_t kLast = L::kFiniteOnly ? L::kMax : L::kMax + 1;

  // Of numbers by 2^kToHalf.
  PJRT_INLINE Words CodeOfHalves(Words halves) {
    constexpr int kShift = 10 - L::kMantissa;
    constexpr uint16_t kInfinity = 0x7c00;
    const Words size = halves & 0x7fff;
    const Words last = (size >> kShift) & 1;
    constexpr uint16_t kHalf = 1 << (kShift - 1);
    const Words rounded = (size + last + static_cast<uint16_t>(kHalf - 1)) >> kShift;
    if constexpr (L::kIeee && kToHalf == 0) return rounded;
    Words code = Smaller(rounded, Words{} + static_cast<uint16_t>(kLast));
    if constexpr (L::kIeee) code += Above(size, Words{} + kInfinity) >> kShift;
    if constexpr (L::kFiniteOnly) code = size > kInfinity ? Words{} + uint16_t{L::kNan} : code;
    return code;
  }
  PJRT_INLINE Bytes StoreByHalves(const FourFloats& x) {
    const Words first = HalvesOf(x.part[0], x.part[1]), second = HalvesOf(x.part[2], x.part[3]);
    const Bytes code = PackWords(CodeOfHalves(first), CodeOfHalves(second));
    return InOrder(WithSigns(code, PackSigns(first, second)));
  }

  // As EncodeIeeeLike, whose sum is a product with 2^kShift added here. Of the result the last byte
  // alone is meant, to which the sum's exponent adds nothing; the power's adds the excess, which
  // the product takes away: an even number of the sum's last digits, which changes no rounding.
  PJRT_INLINE Bits Code(Floats x) {
    constexpr int32_t kInfinity = kInfinityF32;
    constexpr int kShift = 23 - L::kMantissa;
    constexpr uint32_t kFirstNormal = static_cast<uint32_t>(128 - L::kBias) << 23;
    constexpr uint32_t kLimit = kFirstNormal + ((kLast - (1u << L::kMantissa)) << kShift);
    constexpr uint32_t kExcess = (kFirstNormal >> kShift) & 0xff;
    static_assert(kExcess % 2 == 0);
    constexpr uint32_t kFactor = (static_cast<uint32_t>(127 + kShift) << 23) + (0x100 - kExcess);
    const Floats magnitude = Magnitude(x);
    const Floats bounded = Smaller(magnitude, All(__builtin_bit_cast(float, kLimit)));
    const Floats power = Larger((Floats)((SignedBits)bounded & kInfinity),
                                All(__builtin_bit_cast(float, kFirstNormal)));
    const Floats sum = Fused(power, All(__builtin_bit_cast(float, kFactor)), bounded);
    Bits code = (Bits)sum + ((Bits)power >> kShift);
    const SignedBits size = (SignedBits)magnitude;
    if constexpr (L::kIeee)
      code += (Bits)(size > kInfinity ? (size - kInfinity) | 0x400000 : SignedBits{}) >> kShift;
    if constexpr (L::kFiniteOnly) code = size > kInfinity ? Bits{} + L::kNan : code;
    return code;
  }
  // Joined.
  PJRT_INLINE PJRT_PERMUTES_BYTES Bytes Store(const FourFloats& x) {
    FourBits code;
    for (int i = 0; i < 4; ++i) code.part[i] = Code(x.part[i]);
    return WithSigns(JoinLast(code), JoinSigns(x));
  }
};

// Powers of two: an exponent alone, halves rounded upwards.
template <>
struct Codec<float8_e8m0fnu> {
  static constexpr bool kHasHalf = false;
  template <int kScale>
  PJRT_INLINE FourFloats Load(Bytes x) {
    static_assert(kScale == 0);
    const SignedBytes smallest = x == 0, nan = x == 0xff;
    Bytes lower = (Bytes)((Words)x << 7) & 0x80;
    lower = smallest | nan ? lower | 0x40 : lower;
    return FloatsOf(lower, (Bytes)((Words)x >> 1) & 0x7f);
  }
  PJRT_INLINE Bits Code(Floats x) {
    constexpr int32_t kInfinity = kInfinityF32;
    const SignedBits size = (SignedBits)((Bits)x & 0x7fffffffu);
    const SignedBits bounded = size < kInfinity ? size : SignedBits{} + kInfinity;  // NaN's code
    const Bits rounded = (Bits)(size > 0x5fffff ? bounded : SignedBits{}) + 0x400000u;
    const SignedBits negative = ((SignedBits)x < 0) & (size > 0);
    return negative ? Bits{} + 0xff : rounded >> 23;
  }
  PJRT_INLINE PJRT_PERMUTES_BYTES Bytes Store(const FourFloats& x) {
    FourBits code;
    for (int i = 0; i < 4; ++i) code.part[i] = Code(x.part[i]);
    return JoinLast(code);
  }
};

// What a function gives: numbers by the power of two by which both operands are, or the first one
// alone, or all bits where it is true.
enum class Gives { kScaleOfBoth, kScaleOfFirst, kPredicates };
struct Add {
  static constexpr Gives kGives = Gives::kScaleOfBoth;
  PJRT_INLINE Floats Run(Floats a, Floats b) { return a + b; }
};
struct Subtract {
  static constexpr Gives kGives = Gives::kScaleOfBoth;
  PJRT_INLINE Floats Run(Floats a, Floats b) { return a - b; }
};
struct Multiply {
  static constexpr Gives kGives = Gives::kScaleOfFirst;
  PJRT_INLINE Floats Run(Floats a, Floats b) { return a * b; }
};
struct Divide {
  static constexpr Gives kGives = Gives::kScaleOfFirst;
  PJRT_INLINE Floats Run(Floats a, Floats b) { return a / b; }
};
struct Largest {
  static constexpr Gives kGives = Gives::kScaleOfBoth;
  PJRT_INLINE Floats Run(Floats a, Floats b) { return floats::MaximumOf<float>(a, b); }
};
struct Smallest {
  static constexpr Gives kGives = Gives::kScaleOfBoth;
  PJRT_INLINE Floats Run(Floats a, Floats b) { return floats::MinimumOf<float>(a, b); }
};
struct Equal {
  static constexpr Gives kGives = Gives::kPredicates;
  PJRT_INLINE Bits Run(Floats a, Floats b) { return (Bits)(a == b); }
};
struct Unequal {
  static constexpr Gives kGives = Gives::kPredicates;
  PJRT_INLINE Bits Run(Floats a, Floats b) { return (Bits)(a != b); }
};
struct Less {
  static constexpr Gives kGives = Gives::kPredicates;
  PJRT_INLINE Bits Run(Floats a, Floats b) { return (Bits)(a < b); }
};
struct LessEqual {
  static constexpr Gives kGives = Gives::kPredicates;
  PJRT_INLINE Bits Run(Floats a, Floats b) { return (Bits)(a <= b); }
};

template <typename Function, class Format>
PJRT_INLINE PJRT_PERMUTES_BYTES Bytes Result(Bytes x, Bytes y) {
  using C = Codec<Format>;
  // Products and quotients of powers of two have the sums and differences of exponents. As f32,
  // whose denormals take long, they take three times as long.
  constexpr bool kMultiplies = std::is_same_v<Function, Multiply>;
  if constexpr (std::is_same_v<Format, float8_e8m0fnu> &&
                (kMultiplies || std::is_same_v<Function, Divide>)) {
    const Bytes bias = Bytes{} + 127, above = Above(y, bias), below = Above(bias, y);
    const Bytes code =
        Above(BoundedSum(x, kMultiplies ? above : below), kMultiplies ? below : above);
    const SignedBytes nan = (SignedBytes)((x == 0xff) | (y == 0xff));
    return code | (Bytes)nan;
  }
  const auto run = [](const FourFloats& p, const FourFloats& q) __attribute__((always_inline)) {
    FourFloats r;
    for (int i = 0; i < 4; ++i) r.part[i] = (Floats)Function::Run(p.part[i], q.part[i]);
    return r;
  };
  constexpr Gives kGives = Function::kGives;
  if constexpr (kGives == Gives::kPredicates) {
    const FourFloats r = run(C::template Load<0>(x), C::template Load<0>(y));
    return PackSigns(PackSigns((Bits)r.part[0], (Bits)r.part[1]),
                     PackSigns((Bits)r.part[2], (Bits)r.part[3])) &
           1;
  } else if constexpr (C::kHasHalf) {
    constexpr int kSecond = kGives == Gives::kScaleOfBoth ? C::kToHalf : 0;
    return C::StoreByHalves(run(C::template Load<C::kToHalf>(x), C::template Load<kSecond>(y)));
  } else {
    return PackJoined(C::Store(run(C::template Load<0>(x), C::template Load<0>(y))));
  }
}

// Whole vectors. An operand goes on by one, or by nothing where it is one vector for all.
using VectorLoop = void (*)(uint8_t* d, const uint8_t* a, int64_t a_step, const uint8_t* b,
                            int64_t b_step, int64_t n);
template <typename Function, class Format>
PJRT_PERMUTES_BYTES void Loop(uint8_t* d, const uint8_t* a, int64_t a_step, const uint8_t* b,
                              int64_t b_step, int64_t n) {
  for (int64_t i = 0; i < n; i += kBytes, a += a_step, b += b_step) {
    Bytes x, y;
    __builtin_memcpy(&x, a, sizeof(x));
    __builtin_memcpy(&y, b, sizeof(y));
    const Bytes result = Result<Function, Format>(x, y);
    __builtin_memcpy(d + i, &result, sizeof(result));
  }
}
// The code that runs is the same for all forms and places: compilers order operands as they like,
// and with them which of two NaNs comes out. Not inline: 396 functions would have a copy.
__attribute__((noinline)) void RunLoop(VectorLoop loop, void* dst, const void* first,
                                       bool first_is_one, const void* second, bool second_is_one,
                                       int64_t n) {
  __asm__("" : "+r"(loop));  // not to be known
  if (n <= 0) return;
  uint8_t* const d = static_cast<uint8_t*>(dst);
  const uint8_t* a = static_cast<const uint8_t*>(first);
  const uint8_t* b = static_cast<const uint8_t*>(second);
  uint8_t each[kBytes], last[3][kBytes] = {};
  if (first_is_one || second_is_one) __builtin_memset(each, first_is_one ? *a : *b, sizeof(each));
  if (first_is_one) a = each;
  if (second_is_one) b = each;
  const int64_t rest = n % kBytes, whole = n - rest;
  loop(d, a, first_is_one ? 0 : kBytes, b, second_is_one ? 0 : kBytes, whole);
  if (rest == 0) return;
  __builtin_memcpy(last[0], a + (first_is_one ? 0 : whole), rest);
  __builtin_memcpy(last[1], b + (second_is_one ? 0 : whole), rest);
  loop(last[2], last[0], kBytes, last[1], kBytes, kBytes);
  __builtin_memcpy(d + whole, last[2], rest);
}
template <typename Function, class Format, Scalars kScalars, bool kSwapped>
void Call(void* dst, const void* a, const void* b, const void*, int64_t n) {
  constexpr bool kFirst = kScalars == Scalars::kFirst, kSecond = kScalars == Scalars::kSecond;
  if constexpr (kSwapped) {
    RunLoop(Loop<Function, Format>, dst, b, kSecond, a, kFirst, n);
  } else {
    RunLoop(Loop<Function, Format>, dst, a, kFirst, b, kSecond, n);
  }
}

// Conversions: BlockKernels::load, store and round_to. Of whole vectors, then of the rest as one.
PJRT_INLINE FourFloats LoadFour(const float* s) {
  return {{LoadFloats(s), LoadFloats(s + kFloats), LoadFloats(s + 2 * kFloats),
           LoadFloats(s + 3 * kFloats)}};
}
PJRT_INLINE void StoreFour(float* d, const FourFloats& x) {
  for (int i = 0; i < 4; ++i) StoreFloats(d + i * kFloats, x.part[i]);
}
template <class Format>
struct Load {
  using From = uint8_t;
  using To = float;
  PJRT_INLINE PJRT_PERMUTES_BYTES void Run(float* d, const uint8_t* s) {
    Bytes x;
    __builtin_memcpy(&x, s, sizeof(x));
    StoreFour(d, Codec<Format>::template Load<0>(ToLanes(x)));
  }
};
template <class Format>
struct Store {
  using From = float;
  using To = uint8_t;
  PJRT_INLINE PJRT_PERMUTES_BYTES void Run(uint8_t* d, const float* s) {
    const Bytes y = FromJoined(Codec<Format>::Store(LoadFour(s)));
    __builtin_memcpy(d, &y, sizeof(y));
  }
};
template <class Format>
struct RoundTo {
  using From = float;
  using To = float;
  PJRT_INLINE PJRT_PERMUTES_BYTES void Run(float* d, const float* s) {
    StoreFour(d, Codec<Format>::template Load<0>(PackJoined(Codec<Format>::Store(LoadFour(s)))));
  }
};
template <class Conversion>
PJRT_PERMUTES_BYTES void Convert(void* dst, const void* src, int64_t n) {
  using To = typename Conversion::To;
  using From = typename Conversion::From;
  To* const d = static_cast<To*>(dst);
  const From* const s = static_cast<const From*>(src);
  int64_t i = 0;
  for (; i + kBytes <= n; i += kBytes) Conversion::Run(d + i, s + i);
  if (i >= n) return;
  From from[kBytes] = {};
  To to[kBytes];
  __builtin_memcpy(from, s + i, (n - i) * sizeof(From));
  Conversion::Run(to, from);
  __builtin_memcpy(d + i, to, (n - i) * sizeof(To));
}

template <typename Function, class Format, bool kSwapped = false>
void Set(BlockKernels* k, NarrowType type, BlockOp op) {
  BlockFn* const forms =
      k->narrow_binary[static_cast<int>(type)][static_cast<int>(op) - kNumUnaryBlockOps];
  forms[static_cast<int>(Scalars::kNone)] = Call<Function, Format, Scalars::kNone, kSwapped>;
  forms[static_cast<int>(Scalars::kFirst)] = Call<Function, Format, Scalars::kFirst, kSwapped>;
  forms[static_cast<int>(Scalars::kSecond)] = Call<Function, Format, Scalars::kSecond, kSwapped>;
}
template <class Format>
void SetAll(BlockKernels* k, NarrowType type, PrimitiveType memory) {
  k->load[memory] = Convert<Load<Format>>;
  k->store[memory] = Convert<Store<Format>>;
  k->round_to[memory] = Convert<RoundTo<Format>>;
  Set<Add, Format>(k, type, BlockOp::kAdd);
  Set<Subtract, Format>(k, type, BlockOp::kSubtract);
  Set<Multiply, Format>(k, type, BlockOp::kMultiply);
  Set<Divide, Format>(k, type, BlockOp::kDivide);
  Set<Largest, Format>(k, type, BlockOp::kMaximum);
  Set<Smallest, Format>(k, type, BlockOp::kMinimum);
  Set<Equal, Format>(k, type, BlockOp::kCompareEq);
  Set<Unequal, Format>(k, type, BlockOp::kCompareNe);
  Set<Less, Format>(k, type, BlockOp::kCompareLt);
  Set<LessEqual, Format>(k, type, BlockOp::kCompareLe);
  Set<Less, Format, /*kSwapped=*/true>(k, type, BlockOp::kCompareGt);
  Set<LessEqual, Format, /*kSwapped=*/true>(k, type, BlockOp::kCompareGe);
}

}  // namespace

void FillSmallBinary(BlockKernels* k) {
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512vbmi") || !__builtin_cpu_supports("avx512vbmi2")) return;
#endif
  SetAll<float8_e5m2>(k, NarrowType::kF8E5M2, F8E5M2);
  SetAll<float8_e4m3>(k, NarrowType::kF8E4M3, F8E4M3);
  SetAll<float8_e3m4>(k, NarrowType::kF8E3M4, F8E3M4);
  SetAll<float8_e4m3fn>(k, NarrowType::kF8E4M3FN, F8E4M3FN);
  SetAll<float8_e4m3fnuz>(k, NarrowType::kF8E4M3FNUZ, F8E4M3FNUZ);
  SetAll<float8_e5m2fnuz>(k, NarrowType::kF8E5M2FNUZ, F8E5M2FNUZ);
  SetAll<float8_e4m3b11fnuz>(k, NarrowType::kF8E4M3B11FNUZ, F8E4M3B11FNUZ);
  SetAll<float8_e8m0fnu>(k, NarrowType::kF8E8M0FNU, F8E8M0FNU);
  SetAll<float6_e2m3fn>(k, NarrowType::kF6E2M3FN, F6E2M3FN);
  SetAll<float6_e3m2fn>(k, NarrowType::kF6E3M2FN, F6E3M2FN);
  SetAll<float4_e2m1fn>(k, NarrowType::kF4E2M1FN, F4E2M1FN);
}
#else
void FillSmallBinary(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
