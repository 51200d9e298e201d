// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and rounding of f32 and f64: all results are exact or correctly rounded, except
// rsqrt's.
#include "src/cpu_device/kernels/inverse_root-inl.h"
#include "src/cpu_device/kernels/mask-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T>
struct Format;
template <>
struct Format<float> {
  static constexpr int kExponentBits = 8, kMantissaBits = 23;
};
template <>
struct Format<double> {
  static constexpr int kExponentBits = 11, kMantissaBits = 52;
};

PJRT_INLINE float Floor1(float x) { return __builtin_floorf(x); }
PJRT_INLINE double Floor1(double x) { return __builtin_floor(x); }
PJRT_INLINE float Ceil1(float x) { return __builtin_ceilf(x); }
PJRT_INLINE double Ceil1(double x) { return __builtin_ceil(x); }
PJRT_INLINE float Trunc1(float x) { return __builtin_truncf(x); }
PJRT_INLINE double Trunc1(double x) { return __builtin_trunc(x); }
PJRT_INLINE float Rint1(float x) { return __builtin_rintf(x); }
PJRT_INLINE double Rint1(double x) { return __builtin_rint(x); }
PJRT_INLINE float Sqrt1(float x) { return __builtin_sqrtf(x); }
PJRT_INLINE double Sqrt1(double x) { return __builtin_sqrt(x); }

template <typename T>
inline constexpr UnsignedOf<T> kSignBit = UnsignedOf<T>{1} << (sizeof(T) * 8 - 1);

struct Add {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a / b;
  }
};
struct Negate {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return BitCast<T>(ToBits(x) ^ kSignBit<T>);
  }
};
struct Abs {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return BitCast<T>(ToBits(x) & ~kSignBit<T>);
  }
};
struct Sign {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    const T below = x < 0 ? T{-1} : x;
    return x > 0 ? T{1} : below;
  }
};
struct IsFinite {
  template <typename T>
  PJRT_INLINE uint8_t Run(T x) {
    constexpr auto kInfinity = ((UnsignedOf<T>{1} << Format<T>::kExponentBits) - 1)
                               << Format<T>::kMantissaBits;
    return (ToBits(x) & kInfinity) != kInfinity;
  }
};
struct Floor {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return Floor1(x);
  }
};
struct Ceil {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return Ceil1(x);
  }
};
struct RoundEven {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return Rint1(x);
  }
};
// The fraction x - trunc(x) is exact; adding 1/2 before cutting would not be.
struct RoundAfz {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    const T whole = Trunc1(x);
    const T fraction = Abs::Run(x - whole);
    const T magnitude = Abs::Run(whole) + (fraction >= T{0.5} ? T{1} : T{0});
    return BitCast<T>(ToBits(magnitude) | (ToBits(x) & kSignBit<T>));
  }
};
struct Sqrt {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return Sqrt1(x);
  }
};
// Two roundings: at most 1 ULP. Levels with fused multiply-add have f64's from inverse_root-inl.h.
struct Rsqrt {
  template <typename T>
  PJRT_INLINE T Run(T x) {
    return T{1} / Sqrt1(x);
  }
};

// The number rounded to fewer mantissa bits, halves to even; then what exceeds the exponent's range
// becomes an infinity and what falls below it, denormals included, a zero. A NaN stays when there
// is a mantissa bit to tell it from an infinity.
template <typename T>
void ReducePrecision(T* dst, const T* a, int exponent_bits, int mantissa_bits, int64_t n) {
  using Bits = UnsignedOf<T>;
  constexpr int kMantissa = Format<T>::kMantissaBits, kExponent = Format<T>::kExponentBits;
  constexpr Bits kInfinity = ((Bits{1} << kExponent) - 1) << kMantissa;
  const int dropped = mantissa_bits < kMantissa ? kMantissa - mantissa_bits : 0;
  const Bits half = dropped > 0 ? (Bits{1} << (dropped - 1)) - 1 : 0;
  const Bits odd_mask = dropped > 0 ? 1 : 0;
  const Bits kept = ~((Bits{1} << dropped) - 1);
  // Biased exponents above `largest` overflow, up to `smallest` underflow.
  const bool narrow = exponent_bits < kExponent;
  const Bits bias = (Bits{1} << (kExponent - 1)) - 1;
  const Bits reduced_bias = (Bits{1} << ((narrow ? exponent_bits : kExponent) - 1)) - 1;
  const Bits overflow = (narrow ? bias + reduced_bias + 1 : (Bits{1} << kExponent) - 1)
                        << kMantissa;
  const Bits underflow = narrow ? (bias - reduced_bias + 1) << kMantissa : 0;
  const Bits nan_mask = mantissa_bits > 0 ? ~Bits{0} : 0;
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const Bits from = ToBits(a[i]);
    const Bits sign = from & kSignBit<T>;
    const Bits magnitude = from & ~kSignBit<T>;
    const Bits rounded = (magnitude + half + ((magnitude >> dropped) & odd_mask)) & kept;
    const Bits small = rounded < underflow ? Bits{0} : rounded;
    const Bits finite = small >= overflow ? kInfinity : small;
    const Bits nan = (from & nan_mask) | kInfinity;
    const Bits result = magnitude > kInfinity ? nan : finite;
    dst[i] = BitCast<T>(result | sign);
  }
}

// Maximum, minimum and clamp by vectors, for which there are instructions that loops over elements
// do not become.
struct Largest {
  template <typename T, typename V>
  PJRT_INLINE V Run(V a, V b) {
    return floats::MaximumOf<T>(a, b);
  }
};
struct Smallest {
  template <typename T, typename V>
  PJRT_INLINE V Run(V a, V b) {
    return floats::MinimumOf<T>(a, b);
  }
};

// kStep elements at once, the last few in a vector of their own.
template <typename T, class Fn>
PJRT_INLINE void ByVectors(T* d, const T* x, const T* y, int64_t n, Fn fn) {
  constexpr int64_t kStep = PJRT_VECTOR_BYTES / sizeof(T);
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep)
    StoreVector(d + i, fn(LoadVector(x + i), y == nullptr ? Vector<T>{} : LoadVector(y + i)));
  if (i == n) return;
  T a[kStep] = {}, b[kStep] = {};
  for (int64_t j = i; j < n; ++j) a[j - i] = x[j];
  for (int64_t j = i; j < n && y != nullptr; ++j) b[j - i] = y[j];
  StoreVector(a, fn(LoadVector(a), LoadVector(b)));
  for (int64_t j = i; j < n; ++j) d[j] = a[j - i];
}

template <class Op, typename T>
void OrderLoop(void* dst, const void* a, const void* b, const void*, int64_t n) {
  ByVectors(static_cast<T*>(dst), static_cast<const T*>(a), static_cast<const T*>(b), n,
            [](Vector<T> x, Vector<T> y) { return Op::template Run<T>(x, y); });
}
template <class Op, typename T>
void OrderLoopSecondScalar(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  const Vector<T> second = Broadcast(*static_cast<const T*>(b));
  ByVectors<T>(static_cast<T*>(dst), static_cast<const T*>(a), nullptr, n,
               [second](Vector<T> x, Vector<T>) { return Op::template Run<T>(x, second); });
}
template <typename T>
void ClampLoopScalarBounds(void* dst, const void* low, const void* x, const void* high, int64_t n) {
  if (n <= 0) return;
  const Vector<T> l = Broadcast(*static_cast<const T*>(low));
  const Vector<T> h = Broadcast(*static_cast<const T*>(high));
  ByVectors<T>(
      static_cast<T*>(dst), static_cast<const T*>(x), nullptr, n,
      [l, h](Vector<T> v, Vector<T>) { return Smallest::Run<T>(Largest::Run<T>(v, l), h); });
}

#if defined(__AVX2__)
void RsqrtLoopF64(void* dst, const void* a, const void*, const void*, int64_t n) {
  ByVectors<double>(static_cast<double*>(dst), static_cast<const double*>(a), nullptr, n,
                    [](Vector<double> x, Vector<double>) { return f64::InverseRoot(x); });
}
#endif

template <class Op, typename T>
void SetOrder(BlockKernels* k, BlockOp op) {
  Entry(k, op, kCType<T>) = OrderLoop<Op, T>;
  Entry(k, op, kCType<T>, Scalars::kFirst) = Swapped<OrderLoopSecondScalar<Op, T>>;
  Entry(k, op, kCType<T>, Scalars::kSecond) = OrderLoopSecondScalar<Op, T>;
}

template <typename T>
void Fill(BlockKernels* k) {
  SetCommutative<T, Add, T, T>(k, BlockOp::kAdd);
  SetBinary<T, Subtract, T, T>(k, BlockOp::kSubtract);
  SetCommutative<T, Multiply, T, T>(k, BlockOp::kMultiply);
  SetBinary<T, Divide, T, T>(k, BlockOp::kDivide);
  SetOrder<Largest, T>(k, BlockOp::kMaximum);
  SetOrder<Smallest, T>(k, BlockOp::kMinimum);
  SetClamp<T, ClampOp<floats::Maximum, floats::Minimum>, T>(k);
  Entry(k, BlockOp::kClamp, kCType<T>, Scalars::kBounds) = ClampLoopScalarBounds<T>;
  SetUnary<T, Negate, T, T>(k, BlockOp::kNegate);
  SetUnary<T, Abs, T, T>(k, BlockOp::kAbs);
  SetUnary<T, Sign, T, T>(k, BlockOp::kSign);
  SetUnary<T, IsFinite, uint8_t, T>(k, BlockOp::kIsFinite);
  SetUnary<T, Floor, T, T>(k, BlockOp::kFloor);
  SetUnary<T, Ceil, T, T>(k, BlockOp::kCeil);
  SetUnary<T, RoundEven, T, T>(k, BlockOp::kRoundEven);
  SetUnary<T, RoundAfz, T, T>(k, BlockOp::kRoundAfz);
  SetUnary<T, Sqrt, T, T>(k, BlockOp::kSqrt);
  SetUnary<T, Rsqrt, T, T>(k, BlockOp::kRsqrt);
}

}  // namespace

void FillFloats(BlockKernels* k) {
  Fill<float>(k);
  Fill<double>(k);
#if defined(__AVX2__)
  Entry(k, BlockOp::kRsqrt, CType::kF64) = RsqrtLoopF64;
#endif
  k->reduce_precision_f32 = ReducePrecision<float>;
  k->reduce_precision_f64 = ReducePrecision<double>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
