// SPDX-License-Identifier: Apache-2.0
//
// Conversions between compute types, and between memory types and compute types, at each level.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "pjrt/base/primitive_type.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// A predicate in memory.
struct Pred {
  uint8_t value;
};

template <typename T>
CType TypeOf() {
  if constexpr (std::is_same_v<T, Pred>) {
    return CType::kPred;
  } else {
    return CTypeOf<T>();
  }
}
template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

// One conversion by the definition.
template <typename To, typename From>
To Expected(From x) {
  if constexpr (std::is_same_v<From, Pred>) {
    return Expected<To>(x.value);
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>) {
      using Part = typename To::value_type;
      return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
    } else {
      return Expected<To>(x.real());
    }
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<typename To::value_type>(x), 0);
  } else if constexpr (std::is_same_v<To, Pred>) {
    return Pred{static_cast<uint8_t>(x != 0)};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x)) return 0;
    const long double cut = std::trunc(static_cast<long double>(x));
    if (cut <= static_cast<long double>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    if (cut >= static_cast<long double>(std::numeric_limits<To>::max()))
      return std::numeric_limits<To>::max();
    return static_cast<To>(cut);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From>
std::vector<From> Numbers() {
  std::vector<From> result;
  std::mt19937_64 random(17);
  if constexpr (std::is_same_v<From, Pred>) {
    for (int i = 0; i < 300; ++i) result.push_back({static_cast<uint8_t>(random() % 2)});
  } else if constexpr (kIsComplex<From>) {
    using Part = typename From::value_type;
    const std::vector<Part> parts = Numbers<Part>();
    for (size_t i = 0; i < parts.size(); ++i)
      result.emplace_back(parts[i], parts[(i + 7) % parts.size()]);
  } else if constexpr (std::is_integral_v<From>) {
    using Limits = std::numeric_limits<From>;
    result = {0,
              1,
              static_cast<From>(-1),
              Limits::min(),
              Limits::max(),
              static_cast<From>(Limits::max() - 1),
              static_cast<From>(Limits::max() / 2 + 1),
              static_cast<From>(0x1000001),
              static_cast<From>(0x1000003),
              static_cast<From>(0x20000000000001),
              static_cast<From>(0x8000008000000001),
              static_cast<From>(0xfffffe80),
              static_cast<From>(0xffffff7fffffffff)};
    for (int i = 0; i < 500; ++i) result.push_back(static_cast<From>(random() >> (random() % 60)));
  } else {
    using Limits = std::numeric_limits<From>;
    result = {0,
              From(0.5),
              From(0.99999),
              1,
              From(1.5),
              From(127.9),
              128,
              From(128.5),
              From(255.9),
              256,
              32767,
              32768,
              From(65535.5),
              65536,
              From(2147483520.0),
              From(2147483647.0),
              From(2147483648.0),
              From(2147483649.5),
              From(4294967040.0),
              From(4294967295.0),
              From(4294967296.0),
              From(9223371487098961920.0),
              From(9223372036854774784.0),
              From(9223372036854775808.0),
              From(18446742974197923840.0),
              From(18446744073709549568.0),
              From(18446744073709551616.0),
              From(1e30),
              Limits::max(),
              Limits::min(),
              Limits::denorm_min(),
              Limits::infinity(),
              From(16777217.0),
              From(1.00000005960464477539),
              From(65504)};
    const size_t positive = result.size();
    for (size_t i = 0; i < positive; ++i) result.push_back(-result[i]);
    result.push_back(Limits::quiet_NaN());
    std::uniform_real_distribution<double> exponent(-20, 70);
    for (int i = 0; i < 1000; ++i) {
      const double x = std::exp2(exponent(random));
      result.push_back(static_cast<From>(i % 2 != 0 ? x : -x));
    }
  }
  return result;
}

template <typename T>
bool Same(T a, T b) {
  if constexpr (std::is_same_v<T, Pred>) {
    return a.value == b.value;
  } else {
    return SameValue(a, b);
  }
}

template <typename To, typename From>
void CheckConvert() {
  const std::vector<From> all = Numbers<From>();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const ConvertFn convert =
        kernels->convert[static_cast<int>(TypeOf<To>())][static_cast<int>(TypeOf<From>())];
    ASSERT_NE(convert, nullptr);
    for (size_t n : {size_t{0}, size_t{1}, size_t{9}, all.size()}) {
      std::vector<To> result(n + 1);
      convert(result.data(), all.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(Same(result[i], Expected<To>(all[i])))
            << kernels->level << " from " << static_cast<int>(TypeOf<From>()) << " to "
            << static_cast<int>(TypeOf<To>()) << ", element " << i << " of " << n;
      }
    }
  }
}

template <typename To>
void CheckConvertTo() {
  CheckConvert<To, Pred>();
  CheckConvert<To, int8_t>();
  CheckConvert<To, uint8_t>();
  CheckConvert<To, int16_t>();
  CheckConvert<To, uint16_t>();
  CheckConvert<To, int32_t>();
  CheckConvert<To, uint32_t>();
  CheckConvert<To, int64_t>();
  CheckConvert<To, uint64_t>();
  CheckConvert<To, float>();
  CheckConvert<To, double>();
  CheckConvert<To, std::complex<float>>();
  CheckConvert<To, std::complex<double>>();
}

TEST(ConvertKernelsTest, ToPredicateIsUnequalZero) { CheckConvertTo<Pred>(); }
TEST(ConvertKernelsTest, ToSignedIntegersWrapIntegersAndSaturateFloats) {
  CheckConvertTo<int8_t>();
  CheckConvertTo<int16_t>();
  CheckConvertTo<int32_t>();
  CheckConvertTo<int64_t>();
}
TEST(ConvertKernelsTest, ToUnsignedIntegersWrapIntegersAndSaturateFloats) {
  CheckConvertTo<uint8_t>();
  CheckConvertTo<uint16_t>();
  CheckConvertTo<uint32_t>();
  CheckConvertTo<uint64_t>();
}
TEST(ConvertKernelsTest, ToFloatsRoundsOnce) {
  CheckConvertTo<float>();
  CheckConvertTo<double>();
}
TEST(ConvertKernelsTest, ToComplexKeepsOrAddsTheImaginaryPart) {
  CheckConvertTo<std::complex<float>>();
  CheckConvertTo<std::complex<double>>();
}

// A number of f32, or of its two neighbours in f32 the odd one.
template <typename From>
float ExpectedOdd(From x) {
  if (x != x) return std::numeric_limits<float>::quiet_NaN();
  constexpr float kMax = std::numeric_limits<float>::max();
  const long double wide = x, size = std::fabs(wide);
  if (std::isinf(wide)) return static_cast<float>(wide);
  float cut = size > kMax ? kMax : static_cast<float>(size);
  if (cut > size) cut = std::nextafter(cut, 0.0f);
  uint32_t bits;
  std::memcpy(&bits, &cut, sizeof(bits));
  if (cut != size) bits |= 1;
  std::memcpy(&cut, &bits, sizeof(bits));
  return std::signbit(wide) ? -cut : cut;
}
template <typename From>
void CheckRoundOdd() {
  std::vector<From> all = Numbers<From>();
  std::mt19937_64 random(5);
  for (int i = 0; i < 100000; ++i) {  // numbers of all sizes, some of few digits and a trace
    const uint64_t bits = random(), size = bits >> random() % 64;
    const uint64_t kept = i % 2 == 0 ? size : size & ~(uint64_t{0xffffff} << random() % 32);
    if constexpr (std::is_same_v<From, double>) {
      const double number = static_cast<double>(static_cast<int64_t>(kept));
      all.push_back(std::ldexp(number, static_cast<int>(random() % 300) - 200));
    } else {
      all.push_back(static_cast<From>(i % 3 == 0 ? uint64_t{0} - kept : kept));
    }
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (size_t n : {size_t{0}, size_t{1}, size_t{9}, all.size()}) {
      std::vector<float> result(n + 1);
      Find(*kernels, BlockOp::kRoundOdd, TypeOf<From>())(result.data(), all.data(), nullptr,
                                                         nullptr, static_cast<int64_t>(n));
      for (size_t i = 0; i < n; ++i) {
        ASSERT_TRUE(SameValue(result[i], ExpectedOdd(all[i])))
            << kernels->level << ", of " << static_cast<long double>(all[i]) << ": " << result[i];
      }
    }
  }
}

TEST(ConvertKernelsTest, RoundOddKeepsATraceOfWhatIsLost) {
  CheckRoundOdd<int32_t>();
  CheckRoundOdd<uint32_t>();
  CheckRoundOdd<int64_t>();
  CheckRoundOdd<uint64_t>();
  CheckRoundOdd<double>();
}

// f32 numbers around each number of a format and each middle between two of them, and random bits.
template <class Format>
std::vector<float> AroundNumbersOf() {
  std::vector<float> result;
  const int step = Format::kBits > 8 ? 5 : 1;
  for (uint32_t bits = 0; bits < 1u << Format::kBits; bits += step) {
    const float x = Format::FromBits(static_cast<typename Format::Storage>(bits)).ToFloat();
    const float y = Format::FromBits(static_cast<typename Format::Storage>(bits + 1)).ToFloat();
    const float inf = std::numeric_limits<float>::infinity();
    for (float z :
         {x, x / 2 + y / 2, std::nextafter(x / 2 + y / 2, inf), std::nextafter(x / 2 + y / 2, -inf),
          std::nextafter(x, inf), std::nextafter(x, -inf)}) {
      result.push_back(z);
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t bits = random();
    float x;
    std::memcpy(&x, &bits, sizeof(x));
    result.push_back(x);
  }
  for (float x :
       {0.0f, 464.0f, 464.00003f, 240.0f, 247.99998f, 248.0f, 65519.996f, 65520.0f, 3.3961775e38f,
        1e30f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(),
        std::numeric_limits<float>::denorm_min()}) {
    result.push_back(x);
    result.push_back(-x);
  }
  return result;
}

template <class Format>
void CheckMemoryFloat(PrimitiveType type) {
  using Storage = typename Format::Storage;
  EXPECT_EQ(ComputeTypeOf(type), CType::kF32);
  std::vector<Storage> all;
  for (uint32_t bits = 0; bits < 1u << Format::kBits; ++bits)
    all.push_back(static_cast<Storage>(bits));
  const std::vector<float> numbers = AroundNumbersOf<Format>();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    SCOPED_TRACE(testing::Message() << kernels->level << ", " << GetPrimitiveTypeInfo(type).name);
    std::vector<float> loaded(all.size());
    kernels->load[type](loaded.data(), all.data(), static_cast<int64_t>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_TRUE(SameValue(loaded[i], Format::FromBits(all[i]).ToFloat()))
          << "bits " << i << ": " << loaded[i];
    }
    std::vector<Storage> stored(numbers.size());
    std::vector<float> rounded(numbers.size());
    kernels->store[type](stored.data(), numbers.data(), static_cast<int64_t>(numbers.size()));
    kernels->round_to[type](rounded.data(), numbers.data(), static_cast<int64_t>(numbers.size()));
    for (size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(stored[i], Format(numbers[i]).bits()) << Show(numbers[i]);
      ASSERT_TRUE(SameValue(rounded[i], Format(numbers[i]).ToFloat()))
          << Show(numbers[i]) << " to " << Show(rounded[i]);
    }
    // Tails, and in place.
    for (int64_t n = 0; n < 20; ++n) {
      std::vector<Storage> few(n + 1, Storage{0x55});
      kernels->store[type](few.data(), numbers.data() + 1000, n);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(few[i], Format(numbers[1000 + i]).bits()) << n;
      ASSERT_EQ(few[n], Storage{0x55});
      std::vector<float> place(numbers.begin(), numbers.begin() + n);
      kernels->round_to[type](place.data(), place.data(), n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_TRUE(SameValue(place[i], Format(numbers[i]).ToFloat()));
      const int64_t patterns = std::min(n, static_cast<int64_t>(all.size()));
      kernels->load[type](place.data(), all.data(), patterns);
      for (int64_t i = 0; i < patterns; ++i)
        ASSERT_TRUE(SameValue(place[i], Format::FromBits(all[i]).ToFloat()));
    }
  }
}

TEST(MemoryTypesTest, HalvesLoadExactlyAndStoreRoundedToEven) {
  CheckMemoryFloat<half>(F16);
  CheckMemoryFloat<bfloat16>(BF16);
}
TEST(MemoryTypesTest, Fp8LoadExactlyAndStoreRoundedToEven) {
  CheckMemoryFloat<float8_e5m2>(F8E5M2);
  CheckMemoryFloat<float8_e4m3>(F8E4M3);
  CheckMemoryFloat<float8_e3m4>(F8E3M4);
  CheckMemoryFloat<float8_e4m3fn>(F8E4M3FN);
  CheckMemoryFloat<float8_e4m3fnuz>(F8E4M3FNUZ);
  CheckMemoryFloat<float8_e5m2fnuz>(F8E5M2FNUZ);
  CheckMemoryFloat<float8_e4m3b11fnuz>(F8E4M3B11FNUZ);
  CheckMemoryFloat<float8_e8m0fnu>(F8E8M0FNU);
}
TEST(MemoryTypesTest, Fp6AndFp4LoadExactlyAndStoreRoundedToEven) {
  CheckMemoryFloat<float6_e2m3fn>(F6E2M3FN);
  CheckMemoryFloat<float6_e3m2fn>(F6E3M2FN);
  CheckMemoryFloat<float4_e2m1fn>(F4E2M1FN);
}

TEST(MemoryTypesTest, NarrowIntegersWrapWhenStoredAndAreTheirOwnComputeTypeWhenLoaded) {
  std::vector<uint8_t> all(256);
  for (int i = 0; i < 256; ++i) all[i] = static_cast<uint8_t>(i);
  struct {
    PrimitiveType type;
    int bits;
    bool is_signed;
  } const cases[] = {{S1, 1, true},  {S2, 2, true},  {S4, 4, true},
                     {U1, 1, false}, {U2, 2, false}, {U4, 4, false}};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (const auto& c : cases) {
      EXPECT_EQ(ComputeTypeOf(c.type), c.is_signed ? CType::kS8 : CType::kU8);
      EXPECT_EQ(kernels->load[c.type], nullptr);
      for (ConvertFn function : {kernels->store[c.type], kernels->round_to[c.type]}) {
        std::vector<uint8_t> result(256);
        function(result.data(), all.data(), 256);
        for (int i = 0; i < 256; ++i) {
          const int low = i % (1 << c.bits);
          const int expected = c.is_signed && low >= 1 << (c.bits - 1) ? low - (1 << c.bits) : low;
          ASSERT_EQ(result[i], static_cast<uint8_t>(expected)) << kernels->level;
        }
      }
    }
  }
}

TEST(MemoryTypesTest, TypesThatComputeAsThemselvesNeedNoConversion) {
  for (PrimitiveType type :
       {PRED, S8, U8, S16, U16, S32, U32, S64, U64, F32, F64, PrimitiveType::C64, C128}) {
    EXPECT_EQ(kCTypeSize[static_cast<int>(ComputeTypeOf(type))] * 8,
              type == PRED ? 8 : GetPrimitiveTypeInfo(type).bit_width);
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      EXPECT_EQ(kernels->load[type], nullptr);
      EXPECT_EQ(kernels->store[type], nullptr);
      EXPECT_EQ(kernels->round_to[type], nullptr);
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
