// SPDX-License-Identifier: Apache-2.0
//
// Comparisons: two elements in, a predicate out.
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Real and imaginary parts in order, like words in a dictionary.
template <typename T>
PJRT_INLINE bool Equal(T a, T b) {
  return a == b;
}
template <typename T>
PJRT_INLINE bool Equal(Complex<T> a, Complex<T> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <typename T>
PJRT_INLINE bool Less(T a, T b) {
  return a < b;
}
template <typename T>
PJRT_INLINE bool Less(Complex<T> a, Complex<T> b) {
  return (a.re < b.re) | ((a.re == b.re) & (a.im < b.im));
}
template <typename T>
PJRT_INLINE bool LessEqual(T a, T b) {
  return a <= b;
}
template <typename T>
PJRT_INLINE bool LessEqual(Complex<T> a, Complex<T> b) {
  return (a.re < b.re) | ((a.re == b.re) & (a.im <= b.im));
}

struct Eq {
  template <typename T>
  PJRT_INLINE uint8_t Run(T a, T b) {
    return Equal(a, b);
  }
};
struct Ne {
  template <typename T>
  PJRT_INLINE uint8_t Run(T a, T b) {
    return !Equal(a, b);
  }
};
struct Lt {
  template <typename T>
  PJRT_INLINE uint8_t Run(T a, T b) {
    return Less(a, b);
  }
};
struct Le {
  template <typename T>
  PJRT_INLINE uint8_t Run(T a, T b) {
    return LessEqual(a, b);
  }
};

// The bits of a float as an integer that is ordered like the numbers, NaNs outermost.
template <typename S>
PJRT_INLINE S TotalOrderKey(S bits) {
  using U = UnsignedOf<S>;
  return static_cast<S>(bits ^ static_cast<S>(static_cast<U>(bits >> (sizeof(S) * 8 - 1)) >> 1));
}
struct TotalLt {
  template <typename S>
  PJRT_INLINE uint8_t Run(S a, S b) {
    return TotalOrderKey(a) < TotalOrderKey(b);
  }
};
struct TotalLe {
  template <typename S>
  PJRT_INLINE uint8_t Run(S a, S b) {
    return TotalOrderKey(a) <= TotalOrderKey(b);
  }
};

// a > b is b < a: `op` on T is the loops of Op with operands exchanged.
template <typename T, class Op, typename A>
void SetReversed(BlockKernels* k, BlockOp op) {
  Entry(k, op, kCType<T>) = Swapped<BinaryLoop<Op, uint8_t, A>>;
  Entry(k, op, kCType<T>, Scalars::kFirst) = Swapped<BinaryLoopSecondScalar<Op, uint8_t, A>>;
  Entry(k, op, kCType<T>, Scalars::kSecond) = Swapped<BinaryLoopFirstScalar<Op, uint8_t, A>>;
}

// Equality of numbers that are equal when their bits are: A is the unsigned type of that width.
template <typename T, typename A>
void FillEquality(BlockKernels* k) {
  SetCommutative<T, Eq, uint8_t, A>(k, BlockOp::kCompareEq);
  SetCommutative<T, Ne, uint8_t, A>(k, BlockOp::kCompareNe);
}
template <typename T, typename A>
void FillOrder(BlockKernels* k) {
  SetBinary<T, Lt, uint8_t, A>(k, BlockOp::kCompareLt);
  SetBinary<T, Le, uint8_t, A>(k, BlockOp::kCompareLe);
  SetReversed<T, Lt, A>(k, BlockOp::kCompareGt);
  SetReversed<T, Le, A>(k, BlockOp::kCompareGe);
}
template <typename T>
void FillTotalOrder(BlockKernels* k) {
  using S = SignedOf<T>;
  SetCommutative<T, Eq, uint8_t, UnsignedOf<T>>(k, BlockOp::kTotalEq);
  SetBinary<T, TotalLt, uint8_t, S>(k, BlockOp::kTotalLt);
  SetBinary<T, TotalLe, uint8_t, S>(k, BlockOp::kTotalLe);
}

template <typename T>
void FillInteger(BlockKernels* k) {
  FillEquality<T, UnsignedOf<T>>(k);
  FillOrder<T, T>(k);
}
template <typename T>
void FillOther(BlockKernels* k) {
  FillEquality<T, T>(k);
  FillOrder<T, T>(k);
}

}  // namespace

void FillCompare(BlockKernels* k) {
  FillEquality<Pred, uint8_t>(k);
  FillOrder<Pred, uint8_t>(k);
  FillInteger<int8_t>(k);
  FillInteger<uint8_t>(k);
  FillInteger<int16_t>(k);
  FillInteger<uint16_t>(k);
  FillInteger<int32_t>(k);
  FillInteger<uint32_t>(k);
  FillInteger<int64_t>(k);
  FillInteger<uint64_t>(k);
  FillOther<float>(k);
  FillOther<double>(k);
  FillOther<C64>(k);
  FillOther<C128>(k);
  FillTotalOrder<float>(k);
  FillTotalOrder<double>(k);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
