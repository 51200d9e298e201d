// SPDX-License-Identifier: Apache-2.0
//
// Floats narrower than 32 bits: half, bfloat16, and the FP8, FP6 and FP4 formats.
//
// A small float is a value type of one or two bytes. Arithmetic converts to float, computes, and
// rounds back. Conversion to float and double is exact. Conversion from float, double and integers
// rounds once, to nearest, ties to the even encoding, and what a format cannot hold becomes:
//
//   format              bits  bias  largest  overflow, infinity    NaN
//   half                16    15    65504    infinity              IEEE
//   bfloat16            16    127   3.39e38  infinity              IEEE
//   float8_e5m2         8     15    57344    infinity              IEEE
//   float8_e4m3         8     7     240      infinity              IEEE
//   float8_e3m4         8     3     15.5     infinity              IEEE
//   float8_e4m3fn       8     7     448      NaN                   0x7f, 0xff
//   float8_e4m3fnuz     8     8     240      NaN                   0x80; there is no -0
//   float8_e5m2fnuz     8     16    57344    NaN                   0x80; there is no -0
//   float8_e4m3b11fnuz  8     11    30       NaN                   0x80; there is no -0
//   float6_e2m3fn       6     1     7.5      largest, sign kept    none: NaN becomes -0
//   float6_e3m2fn       6     3     28       largest, sign kept    none: NaN becomes -0
//   float4_e2m1fn       4     1     6        largest, sign kept    none: NaN becomes -0
//   float8_e8m0fnu      8     127   2^127    NaN; negatives too    0xff; 0 becomes 2^-127
//
// Overflow is judged after rounding: 464 lies halfway between 448 and the next step and rounds to
// 448 in e4m3fn. IEEE NaNs keep their sign and leading payload bits and become quiet. Denormals are
// exact in both directions, whatever the processor's flush-to-zero flags say.
//
// Every function here is forced inline: code that includes this header leaves no out-of-line copy
// behind, so that objects built for different instruction sets can be linked together.
#ifndef PJRT_BASE_SMALL_FLOAT_H_
#define PJRT_BASE_SMALL_FLOAT_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(_MSC_VER) && !defined(__clang__)
#define PJRT_FORCE_INLINE_ __forceinline
#else
#define PJRT_FORCE_INLINE_ __attribute__((always_inline)) inline
#endif

namespace pjrt {

// What the encodings beyond the finite numbers mean.
enum class FloatSpecials : uint8_t {
  kIeee,          // the largest exponent is for infinities and NaNs
  kNanOnly,       // all ones is NaN; no infinity ("FN" of FP8)
  kUnsignedZero,  // the encoding of -0 is NaN, the only one; no infinity ("FNUZ")
  kFiniteOnly,    // neither ("FN" of FP6 and FP4)
};

namespace internal {

// 2^exponent, for exponents of normal floats.
PJRT_FORCE_INLINE_ constexpr float FloatPowerOfTwo(int exponent) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(exponent + 127) << 23);
}

// An integer as a double, rounded to odd: when bits are lost the last one kept is 1. Rounding such
// a double once more to a narrow format gives what rounding the integer itself gives.
PJRT_FORCE_INLINE_ constexpr double MagnitudeToDoubleRoundedToOdd(uint64_t magnitude) {
  if (magnitude >> 53 != 0) {
    const uint64_t lost = magnitude & 0x7ff;
    magnitude = (magnitude & ~uint64_t{0x7ff}) | (lost != 0 ? 0x800 : 0);
  }
  return static_cast<double>(magnitude);
}

template <typename T>
PJRT_FORCE_INLINE_ constexpr double IntegerToDoubleRoundedToOdd(T value) {
  if constexpr (std::is_signed_v<T>) {
    if (value < 0) {
      return -MagnitudeToDoubleRoundedToOdd(uint64_t{0} - static_cast<uint64_t>(value));
    }
  }
  return MagnitudeToDoubleRoundedToOdd(static_cast<uint64_t>(value));
}

}  // namespace internal

// A float with a sign bit, `kExponent` exponent bits and `kMantissa` mantissa bits in the low bits
// of its storage.
template <int kExponent, int kMantissa, int kExponentBias, FloatSpecials kSpecialValues>
class SmallFloat {
 public:
  static constexpr int kExponentBits = kExponent;
  static constexpr int kMantissaBits = kMantissa;
  static constexpr int kBias = kExponentBias;
  static constexpr FloatSpecials kSpecials = kSpecialValues;
  static constexpr int kBits = 1 + kExponent + kMantissa;
  static constexpr bool kHasInfinity = kSpecials == FloatSpecials::kIeee;
  static constexpr bool kHasNan = kSpecials != FloatSpecials::kFiniteOnly;
  using Storage = std::conditional_t<(kBits > 8), uint16_t, uint8_t>;

  SmallFloat() = default;  // indeterminate, as for float; SmallFloat{} is 0

  // From any arithmetic type but long double, rounded once. The cheapest is float.
  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, long double>>>
  PJRT_FORCE_INLINE_ explicit constexpr SmallFloat(T value) : bits_(Encode(value)) {}

  // From another small float, rounded once.
  template <int e, int m, int b, FloatSpecials s>
  PJRT_FORCE_INLINE_ explicit constexpr SmallFloat(SmallFloat<e, m, b, s> other)
      : bits_(Encode(other.ToFloat())) {}

  // To any arithmetic type: to float and double exact, to bool "is not zero", to integers as from
  // float.
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  PJRT_FORCE_INLINE_ explicit constexpr operator T() const {
    if constexpr (std::is_same_v<T, bool>) {
      return ToFloat() != 0.0f;
    } else {
      return static_cast<T>(ToFloat());
    }
  }

  // Bits above kBits are ignored.
  PJRT_FORCE_INLINE_ static constexpr SmallFloat FromBits(Storage bits) {
    SmallFloat result{};
    result.bits_ = static_cast<Storage>(bits & kAllBits);
    return result;
  }
  PJRT_FORCE_INLINE_ constexpr Storage bits() const { return bits_; }

  PJRT_FORCE_INLINE_ constexpr float ToFloat() const {
    const uint32_t sign = static_cast<uint32_t>(bits_ & kSignBit) << (32 - kBits);
    const uint32_t magnitude = bits_ & kMagnitudeBits;
    if constexpr (kExponent == 8 && kBias == 127 && kSpecials == FloatSpecials::kIeee) {
      const uint32_t wide = magnitude << (23 - kMantissa);
      return __builtin_bit_cast(float, sign | wide | (magnitude > kInfinityBits ? 0x400000u : 0u));
    } else {
      if constexpr (kSpecials == FloatSpecials::kUnsignedZero) {
        if ((bits_ & kAllBits) == kSignBit) return __builtin_bit_cast(float, 0x7fc00000u);
      }
      uint32_t wide = 0;
      if (kSpecials == FloatSpecials::kIeee && magnitude >= kInfinityBits) {
        wide = 0x7f800000u | (magnitude << (23 - kMantissa)) |
               (magnitude > kInfinityBits ? 0x400000u : 0u);
      } else if (kSpecials == FloatSpecials::kNanOnly && magnitude == kMagnitudeBits) {
        wide = 0x7fc00000u;
      } else if (magnitude < (1u << kMantissa)) {
        wide = __builtin_bit_cast(uint32_t, static_cast<float>(static_cast<int32_t>(magnitude)) *
                                                internal::FloatPowerOfTwo(1 - kBias - kMantissa));
      } else {
        wide = (magnitude << (23 - kMantissa)) + (static_cast<uint32_t>(127 - kBias) << 23);
      }
      return __builtin_bit_cast(float, sign | wide);
    }
  }
  PJRT_FORCE_INLINE_ constexpr double ToDouble() const { return static_cast<double>(ToFloat()); }

  PJRT_FORCE_INLINE_ constexpr bool IsNan() const {
    switch (kSpecials) {
      case FloatSpecials::kIeee:
        return (bits_ & kMagnitudeBits) > kInfinityBits;
      case FloatSpecials::kNanOnly:
        return (bits_ & kMagnitudeBits) == kMagnitudeBits;
      case FloatSpecials::kUnsignedZero:
        return (bits_ & kAllBits) == kSignBit;
      case FloatSpecials::kFiniteOnly:
        return false;
    }
    return false;
  }
  PJRT_FORCE_INLINE_ constexpr bool IsInf() const {
    return kHasInfinity && (bits_ & kMagnitudeBits) == kInfinityBits;
  }
  PJRT_FORCE_INLINE_ constexpr bool IsFinite() const { return !IsNan() && !IsInf(); }
  PJRT_FORCE_INLINE_ constexpr bool SignBit() const { return (bits_ & kSignBit) != 0; }

  // Landmarks. Max is the largest finite number, Lowest its negative; Infinity exists when
  // kHasInfinity, and a quiet NaN when kHasNan: the functions give Max and -0 otherwise, as
  // conversions do.
  PJRT_FORCE_INLINE_ static constexpr SmallFloat Max() { return FromBits(kMaxBits); }
  PJRT_FORCE_INLINE_ static constexpr SmallFloat Lowest() { return FromBits(kSignBit | kMaxBits); }
  PJRT_FORCE_INLINE_ static constexpr SmallFloat MinPositiveNormal() {
    return FromBits(static_cast<Storage>(1 << kMantissa));
  }
  PJRT_FORCE_INLINE_ static constexpr SmallFloat MinPositive() { return FromBits(1); }
  PJRT_FORCE_INLINE_ static constexpr SmallFloat Infinity() {
    return FromBits(kHasInfinity ? kInfinityBits : kMaxBits);
  }
  PJRT_FORCE_INLINE_ static constexpr SmallFloat NaN() { return FromBits(kNanBits); }

  // Flips the sign, of NaN too, except where the format has one NaN and no -0: those stay.
  PJRT_FORCE_INLINE_ constexpr SmallFloat operator-() const {
    if (kSpecials == FloatSpecials::kUnsignedZero && (bits_ & kMagnitudeBits) == 0) return *this;
    return FromBits(static_cast<Storage>(bits_ ^ kSignBit));
  }
  PJRT_FORCE_INLINE_ constexpr SmallFloat operator+() const { return *this; }

  PJRT_FORCE_INLINE_ friend constexpr SmallFloat operator+(SmallFloat a, SmallFloat b) {
    return SmallFloat(a.ToFloat() + b.ToFloat());
  }
  PJRT_FORCE_INLINE_ friend constexpr SmallFloat operator-(SmallFloat a, SmallFloat b) {
    return SmallFloat(a.ToFloat() - b.ToFloat());
  }
  PJRT_FORCE_INLINE_ friend constexpr SmallFloat operator*(SmallFloat a, SmallFloat b) {
    return SmallFloat(a.ToFloat() * b.ToFloat());
  }
  PJRT_FORCE_INLINE_ friend constexpr SmallFloat operator/(SmallFloat a, SmallFloat b) {
    return SmallFloat(a.ToFloat() / b.ToFloat());
  }
  PJRT_FORCE_INLINE_ constexpr SmallFloat& operator+=(SmallFloat b) { return *this = *this + b; }
  PJRT_FORCE_INLINE_ constexpr SmallFloat& operator-=(SmallFloat b) { return *this = *this - b; }
  PJRT_FORCE_INLINE_ constexpr SmallFloat& operator*=(SmallFloat b) { return *this = *this * b; }
  PJRT_FORCE_INLINE_ constexpr SmallFloat& operator/=(SmallFloat b) { return *this = *this / b; }

  // As for float: NaN differs from everything, -0 equals 0.
  PJRT_FORCE_INLINE_ friend constexpr bool operator==(SmallFloat a, SmallFloat b) {
    return a.ToFloat() == b.ToFloat();
  }
  PJRT_FORCE_INLINE_ friend constexpr bool operator!=(SmallFloat a, SmallFloat b) {
    return a.ToFloat() != b.ToFloat();
  }
  PJRT_FORCE_INLINE_ friend constexpr bool operator<(SmallFloat a, SmallFloat b) {
    return a.ToFloat() < b.ToFloat();
  }
  PJRT_FORCE_INLINE_ friend constexpr bool operator<=(SmallFloat a, SmallFloat b) {
    return a.ToFloat() <= b.ToFloat();
  }
  PJRT_FORCE_INLINE_ friend constexpr bool operator>(SmallFloat a, SmallFloat b) {
    return a.ToFloat() > b.ToFloat();
  }
  PJRT_FORCE_INLINE_ friend constexpr bool operator>=(SmallFloat a, SmallFloat b) {
    return a.ToFloat() >= b.ToFloat();
  }

 private:
  static constexpr Storage kAllBits = static_cast<Storage>((1u << kBits) - 1);
  static constexpr Storage kSignBit = static_cast<Storage>(1u << (kBits - 1));
  static constexpr Storage kMagnitudeBits = static_cast<Storage>(kSignBit - 1);
  // The largest exponent with mantissa 0; infinity where there is one.
  static constexpr Storage kInfinityBits =
      static_cast<Storage>(kMagnitudeBits & ~((1u << kMantissa) - 1));
  static constexpr Storage kMaxBits =
      static_cast<Storage>(kSpecials == FloatSpecials::kIeee      ? kInfinityBits - 1
                           : kSpecials == FloatSpecials::kNanOnly ? kMagnitudeBits - 1
                                                                  : kMagnitudeBits);
  static constexpr Storage kNanBits = static_cast<Storage>(
      kSpecials == FloatSpecials::kIeee      ? kInfinityBits | (1u << (kMantissa - 1))
      : kSpecials == FloatSpecials::kNanOnly ? kMagnitudeBits
                                             : kSignBit);

  template <typename T>
  PJRT_FORCE_INLINE_ static constexpr Storage Encode(T value) {
    if constexpr (std::is_same_v<T, float>) {
      return EncodeBits<uint32_t, 23, 127>(__builtin_bit_cast(uint32_t, value));
    } else if constexpr (std::is_same_v<T, double>) {
      return EncodeBits<uint64_t, 52, 1023>(__builtin_bit_cast(uint64_t, value));
    } else {
      return Encode(internal::IntegerToDoubleRoundedToOdd(value));
    }
  }

  // Rounds an IEEE number of a wider format, given by its bits.
  template <typename Bits, int kFromMantissa, int kFromBias>
  PJRT_FORCE_INLINE_ static constexpr Storage EncodeBits(Bits from) {
    constexpr int kFromBits = static_cast<int>(sizeof(Bits)) * 8;
    constexpr Bits kFromMagnitude = ~Bits{0} >> 1;
    constexpr Bits kFromInfinity = kFromMagnitude & ~((Bits{1} << kFromMantissa) - 1);
    constexpr int kShift = kFromMantissa - kMantissa;
    // The smallest source exponent whose numbers are normal here.
    constexpr int kFirstNormal = 1 + kFromBias - kBias;

    const Bits magnitude = from & kFromMagnitude;
    const Storage sign = static_cast<Storage>((from >> (kFromBits - 1)) << (kBits - 1));
    if (magnitude > kFromInfinity) {
      switch (kSpecials) {
        case FloatSpecials::kIeee:
          return static_cast<Storage>(sign | kNanBits |
                                      ((magnitude >> kShift) & ((Bits{1} << kMantissa) - 1)));
        case FloatSpecials::kNanOnly:
          return static_cast<Storage>(sign | kNanBits);
        case FloatSpecials::kUnsignedZero:
        case FloatSpecials::kFiniteOnly:
          return kNanBits;
      }
    }

    const int exponent = static_cast<int>(magnitude >> kFromMantissa);
    Bits rounded = 0;
    if (kFirstNormal <= 1 || exponent >= kFirstNormal) {
      const Bits odd = (magnitude >> kShift) & 1;
      rounded = ((magnitude + ((Bits{1} << (kShift - 1)) - 1) + odd) >> kShift) -
                (static_cast<Bits>(kFromBias - kBias) << kMantissa);
    } else {
      // A denormal of this format, or 0: units of the smallest denormal. Further right than one bit
      // below the leading one everything rounds to 0 alike.
      const Bits fraction = (magnitude & ((Bits{1} << kFromMantissa) - 1)) |
                            (exponent == 0 ? Bits{0} : Bits{1} << kFromMantissa);
      const int wanted = kShift + kFirstNormal - (exponent == 0 ? 1 : exponent);
      const int shift = wanted < kFromMantissa + 2 ? wanted : kFromMantissa + 2;
      const Bits odd = (fraction >> shift) & 1;
      rounded = (fraction + ((Bits{1} << (shift - 1)) - 1) + odd) >> shift;
    }

    if (rounded > kMaxBits) {
      switch (kSpecials) {
        case FloatSpecials::kIeee:
          return static_cast<Storage>(sign | kInfinityBits);
        case FloatSpecials::kNanOnly:
          return static_cast<Storage>(sign | kNanBits);
        case FloatSpecials::kUnsignedZero:
          return kNanBits;
        case FloatSpecials::kFiniteOnly:
          return static_cast<Storage>(sign | kMaxBits);
      }
    }
    if (kSpecials == FloatSpecials::kUnsignedZero && rounded == 0) return 0;
    return static_cast<Storage>(sign | rounded);
  }

  Storage bits_;
};

// A scale factor: the value is 2^(bits - 127), and 0xff is NaN. It has no sign, no zero and no
// mantissa. From other numbers: to the nearest power of two, halfway cases upwards (as one-digit
// significands, 1 is odd and 2 even); 0 and everything below 2^-127 to 2^-127, as StableHLO reads a
// literal of 0; negative numbers, infinities, NaN and what rounds to 2^128 to NaN.
class float8_e8m0fnu {
 public:
  static constexpr int kExponentBits = 8;
  static constexpr int kMantissaBits = 0;
  static constexpr int kBias = 127;
  static constexpr int kBits = 8;
  static constexpr bool kHasInfinity = false;
  static constexpr bool kHasNan = true;
  using Storage = uint8_t;

  float8_e8m0fnu() = default;

  template <typename T,
            typename = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, long double>>>
  PJRT_FORCE_INLINE_ explicit constexpr float8_e8m0fnu(T value) : bits_(Encode(value)) {}
  template <int e, int m, int b, FloatSpecials s>
  PJRT_FORCE_INLINE_ explicit constexpr float8_e8m0fnu(SmallFloat<e, m, b, s> other)
      : bits_(Encode(other.ToFloat())) {}

  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  PJRT_FORCE_INLINE_ explicit constexpr operator T() const {
    if constexpr (std::is_same_v<T, bool>) {
      return true;
    } else {
      return static_cast<T>(ToFloat());
    }
  }

  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu FromBits(uint8_t bits) {
    float8_e8m0fnu result{};
    result.bits_ = bits;
    return result;
  }
  PJRT_FORCE_INLINE_ constexpr uint8_t bits() const { return bits_; }

  PJRT_FORCE_INLINE_ constexpr float ToFloat() const {
    const uint32_t wide = bits_ == 0xff ? 0x7fc00000u
                          : bits_ == 0  ? 0x00400000u
                                        : uint32_t{bits_} << 23;
    return __builtin_bit_cast(float, wide);
  }
  PJRT_FORCE_INLINE_ constexpr double ToDouble() const {
    const uint64_t wide =
        bits_ == 0xff ? 0x7ff8000000000000u : (uint64_t{bits_} + (1023 - 127)) << 52;
    return __builtin_bit_cast(double, wide);
  }

  PJRT_FORCE_INLINE_ constexpr bool IsNan() const { return bits_ == 0xff; }
  PJRT_FORCE_INLINE_ constexpr bool IsInf() const { return false; }
  PJRT_FORCE_INLINE_ constexpr bool IsFinite() const { return bits_ != 0xff; }
  PJRT_FORCE_INLINE_ constexpr bool SignBit() const { return false; }

  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu Max() { return FromBits(0xfe); }
  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu Lowest() { return FromBits(0); }
  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu MinPositiveNormal() { return FromBits(0); }
  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu MinPositive() { return FromBits(0); }
  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu Infinity() { return FromBits(0xff); }
  PJRT_FORCE_INLINE_ static constexpr float8_e8m0fnu NaN() { return FromBits(0xff); }

  PJRT_FORCE_INLINE_ constexpr float8_e8m0fnu operator-() const { return NaN(); }
  PJRT_FORCE_INLINE_ constexpr float8_e8m0fnu operator+() const { return *this; }

#define PJRT_E8M0_OPERATOR_(op)                                                      \
  PJRT_FORCE_INLINE_ friend constexpr float8_e8m0fnu operator op(float8_e8m0fnu a,   \
                                                                 float8_e8m0fnu b) { \
    return float8_e8m0fnu(a.ToDouble() op b.ToDouble());                             \
  }                                                                                  \
  PJRT_FORCE_INLINE_ constexpr float8_e8m0fnu& operator op##=(float8_e8m0fnu b) {    \
    return *this = *this op b;                                                       \
  }
  PJRT_E8M0_OPERATOR_(+)
  PJRT_E8M0_OPERATOR_(-)
  PJRT_E8M0_OPERATOR_(*)
  PJRT_E8M0_OPERATOR_(/)
#undef PJRT_E8M0_OPERATOR_

#define PJRT_E8M0_COMPARISON_(op)                                                            \
  PJRT_FORCE_INLINE_ friend constexpr bool operator op(float8_e8m0fnu a, float8_e8m0fnu b) { \
    return a.ToDouble() op b.ToDouble();                                                     \
  }
  PJRT_E8M0_COMPARISON_(==)
  PJRT_E8M0_COMPARISON_(!=)
  PJRT_E8M0_COMPARISON_(<)
  PJRT_E8M0_COMPARISON_(<=)
  PJRT_E8M0_COMPARISON_(>)
  PJRT_E8M0_COMPARISON_(>=)
#undef PJRT_E8M0_COMPARISON_

 private:
  template <typename T>
  PJRT_FORCE_INLINE_ static constexpr uint8_t Encode(T value) {
    if constexpr (std::is_same_v<T, double>) {
      // The exponent of 2^-127, the smallest number, is 896 in a double.
      const uint64_t from = __builtin_bit_cast(uint64_t, value);
      if (from << 1 == 0) return 0;
      if (from > 0x7ff0000000000000u) return 0xff;  // negative, or NaN
      const uint64_t rounded = (from + (uint64_t{1} << 51)) >> 52;
      if (rounded <= 896) return 0;
      return rounded - 896 > 0xfe ? uint8_t{0xff} : static_cast<uint8_t>(rounded - 896);
    } else if constexpr (std::is_same_v<T, float>) {
      return Encode(static_cast<double>(value));
    } else {
      return Encode(internal::IntegerToDoubleRoundedToOdd(value));
    }
  }

  uint8_t bits_;
};

using half = SmallFloat<5, 10, 15, FloatSpecials::kIeee>;
using bfloat16 = SmallFloat<8, 7, 127, FloatSpecials::kIeee>;
using float8_e5m2 = SmallFloat<5, 2, 15, FloatSpecials::kIeee>;
using float8_e4m3 = SmallFloat<4, 3, 7, FloatSpecials::kIeee>;
using float8_e3m4 = SmallFloat<3, 4, 3, FloatSpecials::kIeee>;
using float8_e4m3fn = SmallFloat<4, 3, 7, FloatSpecials::kNanOnly>;
using float8_e4m3fnuz = SmallFloat<4, 3, 8, FloatSpecials::kUnsignedZero>;
using float8_e5m2fnuz = SmallFloat<5, 2, 16, FloatSpecials::kUnsignedZero>;
using float8_e4m3b11fnuz = SmallFloat<4, 3, 11, FloatSpecials::kUnsignedZero>;
using float6_e2m3fn = SmallFloat<2, 3, 1, FloatSpecials::kFiniteOnly>;
using float6_e3m2fn = SmallFloat<3, 2, 3, FloatSpecials::kFiniteOnly>;
using float4_e2m1fn = SmallFloat<2, 1, 1, FloatSpecials::kFiniteOnly>;

// True for the types of this header.
template <typename T>
struct IsSmallFloat : std::false_type {};
template <int e, int m, int b, FloatSpecials s>
struct IsSmallFloat<SmallFloat<e, m, b, s>> : std::true_type {};
template <>
struct IsSmallFloat<float8_e8m0fnu> : std::true_type {};

}  // namespace pjrt

// The members that generic code asks for, with the meaning of the standard.
#define PJRT_SMALL_FLOAT_LIMITS_(Type)                                                           \
  static constexpr bool is_specialized = true;                                                   \
  static constexpr bool is_integer = false;                                                      \
  static constexpr bool is_exact = false;                                                        \
  static constexpr bool has_infinity = Type::kHasInfinity;                                       \
  static constexpr bool has_quiet_NaN = Type::kHasNan;                                           \
  static constexpr bool has_signaling_NaN = false;                                               \
  static constexpr bool is_bounded = true;                                                       \
  static constexpr bool is_modulo = false;                                                       \
  static constexpr int radix = 2;                                                                \
  static constexpr int digits = Type::kMantissaBits + 1;                                         \
  static constexpr float_round_style round_style = round_to_nearest;                             \
  static constexpr bool traps = false;                                                           \
  static constexpr bool tinyness_before = false;                                                 \
  static constexpr int digits10 = (digits - 1) * 301 / 1000;                                     \
  static constexpr int max_digits10 = digits * 301 / 1000 + 2;                                   \
  PJRT_FORCE_INLINE_ static constexpr Type min() noexcept { return Type::MinPositiveNormal(); }  \
  PJRT_FORCE_INLINE_ static constexpr Type max() noexcept { return Type::Max(); }                \
  PJRT_FORCE_INLINE_ static constexpr Type lowest() noexcept { return Type::Lowest(); }          \
  PJRT_FORCE_INLINE_ static constexpr Type denorm_min() noexcept { return Type::MinPositive(); } \
  PJRT_FORCE_INLINE_ static constexpr Type infinity() noexcept { return Type::Infinity(); }      \
  PJRT_FORCE_INLINE_ static constexpr Type quiet_NaN() noexcept { return Type::NaN(); }          \
  PJRT_FORCE_INLINE_ static constexpr Type epsilon() noexcept {                                  \
    return Type(::pjrt::internal::FloatPowerOfTwo(-Type::kMantissaBits));                        \
  }

namespace std {

template <int e, int m, int b, ::pjrt::FloatSpecials s>
class numeric_limits<::pjrt::SmallFloat<e, m, b, s>> {
 public:
  using Type = ::pjrt::SmallFloat<e, m, b, s>;
  static constexpr bool is_signed = true;
  static constexpr bool is_iec559 = s == ::pjrt::FloatSpecials::kIeee;
  PJRT_SMALL_FLOAT_LIMITS_(Type)
};

template <>
class numeric_limits<::pjrt::float8_e8m0fnu> {
 public:
  using Type = ::pjrt::float8_e8m0fnu;
  static constexpr bool is_signed = false;
  static constexpr bool is_iec559 = false;
  PJRT_SMALL_FLOAT_LIMITS_(Type)
};

}  // namespace std

#undef PJRT_SMALL_FLOAT_LIMITS_

#endif  // PJRT_BASE_SMALL_FLOAT_H_
