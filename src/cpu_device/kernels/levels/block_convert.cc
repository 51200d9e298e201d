// SPDX-License-Identifier: Apache-2.0
//
// Conversions between compute types.
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/narrow-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<Complex<T>> = true;

// Float to integer: towards zero, ends of the range for what lies outside, 0 for NaN. The casts are
// of numbers inside the range only.
//
// To one of 8 or 16 bits: as an int32_t, whose conversion vectors have.
template <typename To, typename From>
struct TruncateBound {
  static constexpr From kLow =
      std::is_signed_v<To> ? -static_cast<From>(1 << (sizeof(To) * 8 - 1)) : From{0};
  static constexpr From kHigh =
      static_cast<From>((1 << (sizeof(To) * 8 - (std::is_signed_v<To> ? 1 : 0))) - 1);
};
template <typename To, typename From>
PJRT_INLINE int32_t TruncateTo32(From x) {
  using Bound = TruncateBound<To, From>;
  const From raised = x > Bound::kLow ? x : Bound::kLow;
  const From inside = raised < Bound::kHigh ? raised : Bound::kHigh;
  const int32_t cut = static_cast<int32_t>(inside);
  return x == x ? cut : 0;
}

template <typename To, typename From>
PJRT_INLINE To Truncate(From x) {
  if constexpr (sizeof(To) <= 2) {
    return static_cast<To>(TruncateTo32<To>(x));
  } else if constexpr (std::is_same_v<To, int32_t>) {
    constexpr From kEnd = From{2147483648.0};
    const bool inside = (x >= -kEnd) & (x < kEnd);
    const int32_t cut = static_cast<int32_t>(inside ? x : From{0});
    const int32_t low = x < -kEnd ? INT32_MIN : cut;
    return x >= kEnd ? INT32_MAX : low;
  } else if constexpr (std::is_same_v<To, uint32_t>) {
    // The upper half of the range is shifted into int32_t's.
    constexpr From kHalf = From{2147483648.0}, kEnd = From{4294967296.0};
    const bool inside = (x > 0) & (x < kEnd);
    const From number = inside ? x : From{0};
    const bool upper = number >= kHalf;
    const From shifted = upper ? number - kHalf : number;
    const uint32_t cut = static_cast<uint32_t>(static_cast<int32_t>(shifted));
    const uint32_t result = cut ^ (upper ? 0x80000000u : 0u);
    return x >= kEnd ? UINT32_MAX : result;
  } else if constexpr (std::is_same_v<To, int64_t>) {
    constexpr From kEnd = From{9223372036854775808.0};
    if (x >= kEnd) return INT64_MAX;
    if (x < -kEnd) return INT64_MIN;
    return x == x ? static_cast<int64_t>(x) : 0;
  } else {
    constexpr From kEnd = From{18446744073709551616.0};
    if (x >= kEnd) return UINT64_MAX;
    return x > 0 ? static_cast<uint64_t>(x) : 0;
  }
}

template <typename To, typename From>
PJRT_INLINE To ConvertReal(From x) {
  if constexpr (std::is_same_v<To, Pred>) {
    return static_cast<Pred>(static_cast<uint8_t>(x != From{0}));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return Truncate<To, From>(x);
  } else if constexpr (std::is_same_v<From, uint32_t> && std::is_same_v<To, float>) {
    return static_cast<float>(static_cast<double>(x));  // the double is exact
  } else {
    return static_cast<To>(x);
  }
}

template <typename To, typename From>
PJRT_INLINE To ConvertElement(From x) {
  if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>) {
      using Part = decltype(To::re);
      return {static_cast<Part>(x.re), static_cast<Part>(x.im)};
    } else {
      return ConvertReal<To>(x.re);
    }
  } else if constexpr (std::is_same_v<From, Pred>) {
    return ConvertElement<To, uint8_t>(static_cast<uint8_t>(x));
  } else if constexpr (kIsComplex<To>) {
    using Part = decltype(To::re);
    return {ConvertReal<Part>(x), Part{0}};
  } else {
    return ConvertReal<To>(x);
  }
}

template <typename To, typename From>
void ConvertLoop(void* dst, const void* src, int64_t n) {
  To* const d = static_cast<To*>(dst);
  const From* const s = static_cast<const From*>(src);
  ForEach<Narrower<To, From>>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = ConvertElement<To, From>(s[i]); });
}

// Floats to integers of 8 and 16 bits.
#if !defined(__AVX512F__)
template <typename To, typename From>
void NarrowLoop(void* dst, const void* src, int64_t n) {
  const From* const s = static_cast<const From*>(src);
  StoreNarrow(
      static_cast<To*>(dst), n, [s](int64_t i) __attribute__((always_inline)) {
        return static_cast<uint32_t>(TruncateTo32<To, From>(s[i]));
      });
}

#else
// By instructions that saturate, in half the time, and from f64 in two fifths of it.
template <typename To>
PJRT_INLINE __m512i TruncateVector(__m512 x) {
  // Of a NaN and a number these give the second.
  const __m512 high = _mm512_set1_ps(TruncateBound<To, float>::kHigh);
  if constexpr (std::is_signed_v<To>) {
    const __mmask16 is_number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    const __m512 low = _mm512_set1_ps(TruncateBound<To, float>::kLow);
    return _mm512_maskz_cvttps_epi32(is_number, _mm512_max_ps(low, _mm512_min_ps(high, x)));
  } else {
    return _mm512_cvttps_epi32(_mm512_min_ps(high, _mm512_max_ps(x, _mm512_setzero_ps())));
  }
}
template <typename To>
PJRT_INLINE __m256i TruncateVector(__m512d x) {
  const __m512d high = _mm512_set1_pd(TruncateBound<To, double>::kHigh);
  if constexpr (std::is_signed_v<To>) {
    const __mmask8 is_number = _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
    const __m512d low = _mm512_set1_pd(TruncateBound<To, double>::kLow);
    return _mm512_maskz_cvttpd_epi32(is_number, _mm512_max_pd(low, _mm512_min_pd(high, x)));
  } else {
    return _mm512_cvttpd_epi32(_mm512_min_pd(high, _mm512_max_pd(x, _mm512_setzero_pd())));
  }
}
template <typename To>
PJRT_INLINE __m512i TruncateSixteen(const float* x) {
  return TruncateVector<To>(_mm512_loadu_ps(x));
}
template <typename To>
PJRT_INLINE __m512i TruncateSixteen(const double* x) {
  const __m256i first = TruncateVector<To>(_mm512_loadu_pd(x));
  return _mm512_inserti64x4(_mm512_castsi256_si512(first),
                            TruncateVector<To>(_mm512_loadu_pd(x + 8)), 1);
}
template <typename To, typename From>
void SaturateLoop(void* dst, const void* src, int64_t n) {
  To* const d = static_cast<To*>(dst);
  const From* const s = static_cast<const From*>(src);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) StoreNarrowed(d + i, TruncateSixteen<To>(s + i));
  for (; i < n; ++i) d[i] = static_cast<To>(TruncateTo32<To>(s[i]));
}
#endif

// To f32, of the two numbers beside one that it does not hold to the odd one: f32 then tells
// numbers from those halfway between two of a narrower type.
PJRT_INLINE float OddOf(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  const uint32_t beyond = x < 0 ? back < x : back > x;
  const uint32_t lost = (back < x) | (back > x);
  return BitCast<float>((ToBits(nearest) - beyond) | lost);
}
template <typename T>
PJRT_INLINE double DoubleOf(T x) {
  if constexpr (sizeof(T) == 4 || std::is_same_v<T, double>) {
    return x;
  } else {
    // Those with more than 53 digits lose 11, and the last one kept becomes odd, in two's
    // complement whatever the sign.
    constexpr bool kSigned = std::is_signed_v<T>;
    constexpr uint64_t kEnd = uint64_t{1} << 53;
    const uint64_t bits = static_cast<uint64_t>(x), low = bits & 0x7ff;
    const uint64_t kept = (bits - low) | (low != 0 ? uint64_t{0x800} : uint64_t{0});
    const bool fits = kSigned ? bits + kEnd < 2 * kEnd : bits < kEnd;
    const uint64_t exact = fits ? bits : kept;
    // By halves, since few processors convert vectors of 64 bits: 2^52 + the lower one and 2^84 +
    // 2^32 times the higher one, to which 2^31 is added if it has a sign.
    constexpr double kLowest = 0x1p+52, kHighest = kSigned ? 0x1p+84 + 0x1p+63 : 0x1p+84;
    const double lower = BitCast<double>((exact & 0xffffffff) | 0x4330000000000000) - kLowest;
    const double higher =
        BitCast<double>((exact >> 32) ^ (kSigned ? 0x4530000080000000 : 0x4530000000000000)) -
        kHighest;
    return higher + lower;
  }
}
#if defined(__AVX512F__)
PJRT_INLINE __m256i OddOf(__m256 down, __m256 up) {  // they are equal or neighbours
  const __m256i a = _mm256_castps_si256(down), b = _mm256_castps_si256(up);
  return _mm256_or_si256(_mm256_min_epu32(a, b),
                         _mm256_and_si256(_mm256_xor_si256(a, b), _mm256_set1_epi32(1)));
}
template <typename T>
PJRT_INLINE __m256i EightOddOf(const T* from) {
  constexpr int kDown = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  constexpr int kUp = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  if constexpr (std::is_same_v<T, int64_t>) {
    const __m512i x = _mm512_loadu_si512(from);
    return OddOf(_mm512_cvt_roundepi64_ps(x, kDown), _mm512_cvt_roundepi64_ps(x, kUp));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    const __m512i x = _mm512_loadu_si512(from);
    return OddOf(_mm512_cvt_roundepu64_ps(x, kDown), _mm512_cvt_roundepu64_ps(x, kUp));
  } else {
    __m512d x;
    if constexpr (std::is_same_v<T, double>) {
      x = _mm512_loadu_pd(from);
    } else {
      const __m256i integers = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
      x = std::is_signed_v<T> ? _mm512_cvtepi32_pd(integers) : _mm512_cvtepu32_pd(integers);
    }
    return OddOf(_mm512_cvt_roundpd_ps(x, kDown), _mm512_cvt_roundpd_ps(x, kUp));
  }
}
#endif
template <typename T>
void RoundOddLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  float* const d = static_cast<float*>(dst);
  const T* const x = static_cast<const T*>(a);
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d + i), EightOddOf(x + i));
  }
#endif
  PJRT_INDEPENDENT_ITERATIONS
  for (; i < n; ++i) d[i] = OddOf(DoubleOf(x[i]));
}
template <typename T>
void SetRoundOdd(BlockKernels* k) {
  Entry(k, BlockOp::kRoundOdd, kCType<T>) = RoundOddLoop<T>;
}

// Integers narrow and change sign by bits alone: the source's sign matters only where it is
// extended.
template <typename To, typename From>
constexpr ConvertFn ConvertOf() {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if constexpr (sizeof(To) <= sizeof(From)) {
      return ConvertLoop<UnsignedOf<To>, UnsignedOf<From>>;
    } else {
      return ConvertLoop<UnsignedOf<To>, From>;
    }
  } else if constexpr (std::is_same_v<To, Pred> && std::is_integral_v<From>) {
    return ConvertLoop<To, UnsignedOf<From>>;
  } else if constexpr (std::is_same_v<From, Pred> && std::is_integral_v<To>) {
    return ConvertLoop<UnsignedOf<To>, uint8_t>;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                       sizeof(To) <= 2) {
#if defined(__AVX512F__)
    return SaturateLoop<To, From>;
#else
    return NarrowLoop<To, From>;
#endif
  } else {
    return ConvertLoop<To, From>;
  }
}

template <typename To, typename From>
void Set(BlockKernels* k) {
  k->convert[static_cast<int>(kCType<To>)][static_cast<int>(kCType<From>)] = ConvertOf<To, From>();
}
template <typename To>
void FillTo(BlockKernels* k) {
  Set<To, Pred>(k);
  Set<To, int8_t>(k);
  Set<To, uint8_t>(k);
  Set<To, int16_t>(k);
  Set<To, uint16_t>(k);
  Set<To, int32_t>(k);
  Set<To, uint32_t>(k);
  Set<To, int64_t>(k);
  Set<To, uint64_t>(k);
  Set<To, float>(k);
  Set<To, double>(k);
  Set<To, C64>(k);
  Set<To, C128>(k);
}

}  // namespace

void FillConvert(BlockKernels* k) {
  FillTo<Pred>(k);
  FillTo<int8_t>(k);
  FillTo<uint8_t>(k);
  FillTo<int16_t>(k);
  FillTo<uint16_t>(k);
  FillTo<int32_t>(k);
  FillTo<uint32_t>(k);
  FillTo<int64_t>(k);
  FillTo<uint64_t>(k);
  FillTo<float>(k);
  FillTo<double>(k);
  FillTo<C64>(k);
  FillTo<C128>(k);
  SetRoundOdd<int32_t>(k);
  SetRoundOdd<uint32_t>(k);
  SetRoundOdd<int64_t>(k);
  SetRoundOdd<uint64_t>(k);
  SetRoundOdd<double>(k);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
