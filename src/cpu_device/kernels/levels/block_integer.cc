// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic, bits and shifts of integers, and the logic of predicates. Operations that do not care
// for the sign are compiled once for both types of a width.
#include "src/cpu_device/kernels/bytes-inl.h"
#include "src/cpu_device/kernels/integer-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

struct Negate {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return static_cast<T>(T{0} - x);
  }
};
struct BitNot {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return static_cast<T>(~x);
  }
};
struct PredNot {
  PJRT_INLINE uint8_t Run(uint8_t x) { return x ^ 1; }
};
struct Abs {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    using U = UnsignedOf<T>;
    return x < 0 ? static_cast<T>(U{0} - static_cast<U>(x)) : x;
  }
};
struct Sign {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
// Without the instruction, which vectors have at few levels: sums of bits in ever wider fields.
struct Popcnt {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    constexpr T k5 = static_cast<T>(0x5555555555555555u), k3 = static_cast<T>(0x3333333333333333u);
    constexpr T kF = static_cast<T>(0x0f0f0f0f0f0f0f0fu);
    x = static_cast<T>(x - ((x >> 1) & k5));
    x = static_cast<T>((x & k3) + ((x >> 2) & k3));
    x = static_cast<T>((x + (x >> 4)) & kF);
    if constexpr (sizeof(T) >= 2) x = static_cast<T>(x + (x >> 8));
    if constexpr (sizeof(T) >= 4) x = static_cast<T>(x + (x >> 16));
    if constexpr (sizeof(T) >= 8) x = static_cast<T>(x + (x >> 32));
    return static_cast<T>(x & 0x7f);
  }
};
// Without an instruction, the ones of the number whose highest one has been spread to the right.
struct Clz {
  template <typename T>
  PJRT_INLINE T Run(T x) {
#if defined(__AVX512CD__)
    if constexpr (sizeof(T) == 4) return x == 0 ? T{32} : static_cast<T>(__builtin_clz(x));
    if constexpr (sizeof(T) == 8) return x == 0 ? T{64} : static_cast<T>(__builtin_clzll(x));
#endif
    x = static_cast<T>(x | (x >> 1));
    x = static_cast<T>(x | (x >> 2));
    x = static_cast<T>(x | (x >> 4));
    if constexpr (sizeof(T) >= 2) x = static_cast<T>(x | (x >> 8));
    if constexpr (sizeof(T) >= 4) x = static_cast<T>(x | (x >> 16));
    if constexpr (sizeof(T) >= 8) x = static_cast<T>(x | (x >> 32));
    return Popcnt::Run(static_cast<T>(~x));
  }
};

#if defined(__AVX512F__)
// Where the machine has the instruction for vectors.
template <typename T>
__attribute__((target("avx512vpopcntdq"))) void CountOnes(void* dst, const void* a, const void*,
                                                          const void*, int64_t n) {
  T* const d = static_cast<T*>(dst);
  const T* const x = static_cast<const T*>(a);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    d[i] = static_cast<T>(sizeof(T) == 4 ? __builtin_popcount(x[i]) : __builtin_popcountll(x[i]));
  }
}
#endif

// Powers wrap around.
//
// Square and multiply by the lowest kPowerBits bits of the exponent. What an odd number has become
// then is 1 + k 2^s with 2 s not below the width, so that its m-th power is 1 + m k 2^s; an even
// one has become 0.
template <typename U>
inline constexpr int kPowerBits = sizeof(U) == 1 ? 3 : sizeof(U) * 4 - 2;

// Whether vectors have a product of this width. Without, numbers are taken one at a time: of 64
// bits that is twice as fast as products of halves.
template <typename U>
inline constexpr bool kVectorProduct = sizeof(U) <= 2;
#if defined(__AVX2__) || defined(__aarch64__)
template <>
inline constexpr bool kVectorProduct<uint32_t> = true;
#endif
#if defined(__AVX512DQ__)
template <>
inline constexpr bool kVectorProduct<uint64_t> = true;
#endif

// Of an exponent of at most kBits bits. Bytes are widened once instead of for each product.
template <int kBits, typename T>
PJRT_INLINE T PowerOf(T x, T y) {
  using U = std::conditional_t<sizeof(T) == 1, uint16_t, T>;
  constexpr int kSteps = kBits < kPowerBits<T> ? kBits : kPowerBits<T>;
  U result = 1, square = x, exponent = y;
#pragma GCC unroll 32
  for (int step = 0; step < kSteps; ++step) {
    if (step > 0) square = integer::Multiply::Run(square, square);
    U factor = (exponent & 1) != 0 ? square : U{1};
    if (!kVectorProduct<U>) asm("" : "+r"(factor));  // neither in vectors nor by a branch
    result = integer::Multiply::Run(result, factor);
    exponent = static_cast<U>(exponent >> 1);
  }
  if constexpr (kBits >= kPowerBits<T>) {
    square = integer::Multiply::Run(square, square);
    const U odd = static_cast<U>(integer::Multiply::Run(exponent, static_cast<U>(square - 1)) + 1);
    const U even = exponent == 0 ? U{1} : U{0};
    result = integer::Multiply::Run(result, (x & 1) != 0 ? odd : even);
  }
  return static_cast<T>(result);
}
// Of a negative exponent: the reciprocal cut to an integer, 0 except for 1 and -1.
template <typename U>
PJRT_INLINE U NegativePower(U x, U exponent) {
  const bool one = (static_cast<U>(x + 1) & static_cast<U>(~U{2})) == 0;
  return one ? ((exponent & 1) != 0 ? x : U{1}) : U{0};
}

template <int kBits, typename U, bool kScalar>
void PowersUpTo(U* d, const U* x, const U* y, int64_t n) {
  const U y0 = *y;
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) d[i] = PowerOf<kBits>(x[i], kScalar ? y0 : y[i]);
}
template <typename S>
void SignedPowers(UnsignedOf<S>* d, const UnsignedOf<S>* x, const UnsignedOf<S>* y, int64_t n) {
  using U = UnsignedOf<S>;
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const U power = PowerOf<kPowerBits<U>>(x[i], y[i]), other = NegativePower(x[i], y[i]);
    d[i] = static_cast<S>(y[i]) < 0 ? other : power;
  }
}
// By as many bits as `bits` has, which those of all exponents are in.
template <int kBits, typename T, bool kScalar, typename U>
void PowersBy(U bits, U* d, const U* x, const U* y, int64_t n) {
  if constexpr (kBits < kPowerBits<U>) {
    if (bits >> kBits != 0) return PowersBy<kBits * 2, T, kScalar>(bits, d, x, y, n);
  } else if constexpr (std::is_signed_v<T>) {
    if (static_cast<T>(bits) < 0) return SignedPowers<T>(d, x, y, n);
  }
  PowersUpTo<kBits, U, kScalar>(d, x, y, n);
}

template <typename T>
void Powers(void* dst, const void* a, const void* b, const void*, int64_t n) {
  using U = UnsignedOf<T>;
  constexpr int64_t kPiece = 256;
  U* d = static_cast<U*>(dst);
  const U *x = static_cast<const U*>(a), *y = static_cast<const U*>(b);
  for (; n > 0; n -= kPiece, d += kPiece, x += kPiece, y += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    U bits = 0;
    for (int64_t i = 0; i < count; ++i) bits = static_cast<U>(bits | y[i]);
    PowersBy<2, T, false>(bits, d, x, y, count);
  }
}

// One exponent, most often a small one: the products that its own bits ask for.
template <typename T>
void PowersSecondScalar(void* dst, const void* a, const void* b, const void*, int64_t n) {
  using U = UnsignedOf<T>;
  constexpr int64_t kPiece = 1024 / sizeof(U);
  if (n <= 0) return;
  U* d = static_cast<U*>(dst);
  const U *x = static_cast<const U*>(a), exponent = *static_cast<const U*>(b);
  if (std::is_signed_v<T> && static_cast<T>(exponent) < 0) {
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) d[i] = NegativePower(x[i], exponent);
    return;
  }
  if (exponent < 2 || exponent >> kPowerBits<U> != 0) {
    return PowersBy<2, U, true>(exponent, d, x, &exponent, n);
  }
  const int top = 63 - __builtin_clzll(uint64_t{exponent});
  U powers[kPiece];
  for (; n > 0; n -= kPiece, d += kPiece, x += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    const U* from = x;
    for (int bit = top - 1; bit >= 0; --bit) {
      U* const to = bit == 0 ? d : powers;
      if ((exponent >> bit & 1) != 0) {
        PJRT_INDEPENDENT_ITERATIONS
        for (int64_t i = 0; i < count; ++i) {
          to[i] = integer::Multiply::Run(integer::Multiply::Run(from[i], from[i]), x[i]);
        }
      } else {
        PJRT_INDEPENDENT_ITERATIONS
        for (int64_t i = 0; i < count; ++i) to[i] = integer::Multiply::Run(from[i], from[i]);
      }
      from = powers;
    }
  }
}

template <typename T>
inline constexpr unsigned kWidth = sizeof(T) * 8;

// By an amount below the width. Vectors have no shift of bytes, each by an amount of its own: a
// byte is shifted by what each bit of the amount stands for.
template <typename T, class Shift>
PJRT_INLINE T ShiftWithin(T x, UnsignedOf<T> amount, Shift shift) {
  if constexpr (sizeof(T) == 1) {
    x = (amount & 1) != 0 ? shift(x, UnsignedOf<T>{1}) : x;
    x = (amount & 2) != 0 ? shift(x, UnsignedOf<T>{2}) : x;
    return (amount & 4) != 0 ? shift(x, UnsignedOf<T>{4}) : x;
  } else {
    return shift(x, amount);
  }
}

// The amount is unsigned. Masked first, so that no shift is undefined, then judged.
struct ShiftLeft {
  template <typename T>
  PJRT_INLINE T Run(T x, T amount) {
    const T shifted = ShiftWithin(x, static_cast<T>(amount & (kWidth<T> - 1)),
                                  [](T y, T by) { return static_cast<T>(y << by); });
    return amount < kWidth<T> ? shifted : T{0};
  }
};
struct ShiftRightLogical {
  template <typename T>
  PJRT_INLINE T Run(T x, T amount) {
    const T shifted = ShiftWithin(x, static_cast<T>(amount & (kWidth<T> - 1)),
                                  [](T y, T by) { return static_cast<T>(y >> by); });
    return amount < kWidth<T> ? shifted : T{0};
  }
};
struct ShiftRightArithmetic {
  template <typename T>
  PJRT_INLINE T Run(T x, T amount) {
    using S = SignedOf<T>;
    const T inside = amount < kWidth<T> ? amount : static_cast<T>(kWidth<T> - 1);
    return static_cast<T>(
        ShiftWithin(static_cast<S>(x), inside, [](S y, T by) { return static_cast<S>(y >> by); }));
  }
};

// What both types of a width share. U is the unsigned one, T either.
template <typename T, typename U>
void FillShared(BlockKernels* k) {
  SetUnary<T, Negate, U, U>(k, BlockOp::kNegate);
  SetUnary<T, BitNot, U, U>(k, BlockOp::kNot);
  SetUnary<T, Popcnt, U, U>(k, BlockOp::kPopcnt);
  SetUnary<T, Clz, U, U>(k, BlockOp::kClz);
  SetCommutative<T, integer::Add, U, U>(k, BlockOp::kAdd);
  SetBinary<T, integer::Subtract, U, U>(k, BlockOp::kSubtract);
  SetCommutative<T, integer::Multiply, U, U>(k, BlockOp::kMultiply);
  SetCommutative<T, integer::And, U, U>(k, BlockOp::kAnd);
  SetCommutative<T, integer::Or, U, U>(k, BlockOp::kOr);
  SetCommutative<T, integer::Xor, U, U>(k, BlockOp::kXor);
  SetBinary<T, ShiftLeft, U, U>(k, BlockOp::kShiftLeft);
  SetBinary<T, ShiftRightLogical, U, U>(k, BlockOp::kShiftRightLogical);
  SetBinary<T, ShiftRightArithmetic, U, U>(k, BlockOp::kShiftRightArithmetic);
}

// 32-bit numbers by one divisor: times its reciprocal in f64, made larger by a few units in the
// last place. Of an exact quotient the product is then at least that, and of another one less than
// the next integer, since a quotient is 1 / |b| away from it. A fifth of the time of divisions.
template <typename T, bool kRemainder>
void DivideInDouble(T* d, const T* x, T divisor, int64_t n) {
  using U = UnsignedOf<T>;
  const double reciprocal = 1.0 / static_cast<double>(divisor) * (1 + 0x1p-50);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    // Below 2^31, for unsigned numbers, too.
    const U quotient = static_cast<U>(static_cast<int32_t>(static_cast<double>(x[i]) * reciprocal));
    d[i] = static_cast<T>(kRemainder ? static_cast<U>(x[i]) - quotient * static_cast<U>(divisor)
                                     : quotient);
  }
}

// The high half of a product; of 64 bits from products of halves, which vectors have.
template <typename U>
PJRT_INLINE U HighProduct(U x, U y) {
  if constexpr (sizeof(U) < 8) {
    using Double = std::conditional_t<(sizeof(U) == 1), uint16_t, uint32_t>;
    return static_cast<U>((static_cast<Double>(x) * static_cast<Double>(y)) >> (8 * sizeof(U)));
  } else {
    constexpr uint64_t kLow = 0xffffffffu;
    const uint64_t x_low = x & kLow, x_high = x >> 32, low = y & kLow, high = y >> 32;
    const uint64_t middle = x_high * low + ((x_low * low) >> 32);
    const uint64_t other = x_low * high + (middle & kLow);
    return x_high * high + (middle >> 32) + (other >> 32);
  }
}

// Numbers of other sizes by one divisor, as Granlund and Montgomery have it: the high half of the
// product with a reciprocal of one bit more than the numbers, whose highest one is added by itself.
// Signs are put aside.
template <typename T, bool kRemainder>
void DivideByReciprocal(T* d, const T* x, T divisor, int64_t n) {
  using U = UnsignedOf<T>;
  using Wide = std::conditional_t<(sizeof(T) == 8), unsigned __int128, uint64_t>;
  constexpr int kBits = 8 * sizeof(T);
  // All ones for a negative number, of signed types.
  const auto sign = [](T y) { return static_cast<U>(std::is_signed_v<T> && y < 0 ? ~U{0} : U{0}); };
  const U by_sign = sign(divisor);
  const U by = static_cast<U>((static_cast<U>(divisor) ^ by_sign) - by_sign);
  const int shift = 63 - __builtin_clzll(by - uint64_t{1});  // 2^shift < by <= 2^(shift + 1)
  const U rest = static_cast<U>((Wide{1} << (shift + 1)) - by);
  const U reciprocal = static_cast<U>((static_cast<Wide>(rest) << kBits) / by + 1);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const U number = static_cast<U>(x[i]);
    const U x_sign = sign(x[i]), q_sign = x_sign ^ by_sign;
    const U size = static_cast<U>((number ^ x_sign) - x_sign);
    const U part = HighProduct<U>(size, reciprocal);
    const U half = static_cast<U>(static_cast<U>(size - part) >> 1);
    const U magnitude = static_cast<U>(static_cast<U>(half + part) >> shift);
    const U quotient = static_cast<U>((magnitude ^ q_sign) - q_sign);
    d[i] = static_cast<T>(
        kRemainder
            ? static_cast<U>(number - integer::Multiply::Run(quotient, static_cast<U>(divisor)))
            : quotient);
  }
}

// Quotients by one divisor, or what they leave. By 0, 1 and -1, which reciprocals do not serve,
// each number is divided.
template <typename T, bool kRemainder>
void DivideBySecond(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  const T divisor = *static_cast<const T*>(b);
  if (divisor == 0 || divisor == 1 || divisor == static_cast<T>(-1)) {
    using Op = std::conditional_t<kRemainder, integer::Remainder, integer::Divide>;
    return BinaryLoopSecondScalar<Op, T, T>(dst, a, b, c, n);
  }
  T* const d = static_cast<T*>(dst);
  const T* const x = static_cast<const T*>(a);
  if constexpr (sizeof(T) == 4) {
    DivideInDouble<T, kRemainder>(d, x, divisor, n);
  } else {
    DivideByReciprocal<T, kRemainder>(d, x, divisor, n);
  }
}

template <typename T>
void FillOwn(BlockKernels* k) {
  if constexpr (std::is_signed_v<T>) {
    SetUnary<T, Abs, T, T>(k, BlockOp::kAbs);
    SetUnary<T, Sign, T, T>(k, BlockOp::kSign);
  }
  SetBinary<T, integer::Divide, T, T>(k, BlockOp::kDivide);
  SetBinary<T, integer::Remainder, T, T>(k, BlockOp::kRemainder);
  Entry(k, BlockOp::kDivide, kCType<T>, Scalars::kSecond) = DivideBySecond<T, false>;
  Entry(k, BlockOp::kRemainder, kCType<T>, Scalars::kSecond) = DivideBySecond<T, true>;
  SetCommutative<T, integer::Maximum, T, T>(k, BlockOp::kMaximum);
  SetCommutative<T, integer::Minimum, T, T>(k, BlockOp::kMinimum);
  SetClamp<T, ClampOp<integer::Maximum, integer::Minimum>, T>(k);
  Entry(k, BlockOp::kPower, kCType<T>) = Powers<T>;
  Entry(k, BlockOp::kPower, kCType<T>, Scalars::kSecond) = PowersSecondScalar<T>;
}

template <typename S, typename U>
void FillWidth(BlockKernels* k) {
  FillShared<S, U>(k);
  FillShared<U, U>(k);
  FillOwn<S>(k);
  FillOwn<U>(k);
}

}  // namespace

void FillIntegers(BlockKernels* k) {
  FillWidth<int8_t, uint8_t>(k);
  FillWidth<int16_t, uint16_t>(k);
  FillWidth<int32_t, uint32_t>(k);
  FillWidth<int64_t, uint64_t>(k);
#if defined(__AVX512F__)
  bytes::Set<int8_t>(k);
  bytes::Set<uint8_t>(k);
  if (__builtin_cpu_supports("avx512vpopcntdq")) {
    Entry(k, BlockOp::kPopcnt, CType::kS32) = CountOnes<uint32_t>;
    Entry(k, BlockOp::kPopcnt, CType::kU32) = CountOnes<uint32_t>;
    Entry(k, BlockOp::kPopcnt, CType::kS64) = CountOnes<uint64_t>;
    Entry(k, BlockOp::kPopcnt, CType::kU64) = CountOnes<uint64_t>;
  }
#endif
  // Predicates: the byte is 0 or 1 before and after.
  SetUnary<Pred, PredNot, uint8_t, uint8_t>(k, BlockOp::kNot);
  const BlockOp or_ops[] = {BlockOp::kAdd, BlockOp::kMaximum, BlockOp::kOr};
  for (BlockOp op : or_ops) {
    SetCommutative<Pred, integer::Or, uint8_t, uint8_t>(k, op);
  }
  const BlockOp and_ops[] = {BlockOp::kMultiply, BlockOp::kMinimum, BlockOp::kAnd};
  for (BlockOp op : and_ops) {
    SetCommutative<Pred, integer::And, uint8_t, uint8_t>(k, op);
  }
  SetCommutative<Pred, integer::Xor, uint8_t, uint8_t>(k, BlockOp::kXor);
  SetClamp<Pred, ClampOp<integer::Or, integer::And>, uint8_t>(k);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
