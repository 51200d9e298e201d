// SPDX-License-Identifier: Apache-2.0
//
// What every kernel source of a level starts from: the element types, bit casts, multiply-add, and
// the loops that turn a function of elements into a BlockFn. Only files in levels/ include it, and
// they are compiled once per level.
//
// Nothing here or in such a file may leave a weak symbol outside of pjrt::cpu::<level>: no function
// of the standard library, no inline function of another namespace. The C library's functions are
// fine.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LEVEL_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LEVEL_INL_H_

#include <cstdint>
#include <type_traits>

#include "src/cpu_device/kernels/block_ops.h"

#ifndef PJRT_KERNEL_LEVEL
#error "kernel sources are compiled per level; see cmake/KernelLevels.cmake"
#endif

#define PJRT_INLINE static inline __attribute__((always_inline))
// The same for members that are not static.
#define PJRT_INLINE_MEMBER inline __attribute__((always_inline))

// A function of which there is one copy, so that all its calls give the same bits: of two NaNs,
// compilers choose by place which one a sum keeps.
#if defined(__clang__)
#define PJRT_ONE_COPY __attribute__((noinline))
#else
#define PJRT_ONE_COPY __attribute__((noinline, noclone))
#endif

// Before a loop: its iterations are independent of each other. A block may still be changed in
// place, because an iteration reads its elements before it writes them.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // a loop that stays scalar is no error
#define PJRT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define PJRT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

// Bytes of the widest vector register.
#if defined(__AVX512F__)
#define PJRT_VECTOR_BYTES 64
#elif defined(__AVX__)
#define PJRT_VECTOR_BYTES 32
#else
#define PJRT_VECTOR_BYTES 16
#endif

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// An element of kPred: a byte, 0 or 1.
enum class Pred : uint8_t {};

template <typename T>
struct Complex {
  T re, im;
};
using C64 = Complex<float>;
using C128 = Complex<double>;

// 16 bytes whose meaning is of no interest.
struct Bits128 {
  uint64_t low, high;
};

// kCType<T>: the enumerator of an element type.
template <typename T>
inline constexpr CType kCType = CType::kPred;
template <>
inline constexpr CType kCType<int8_t> = CType::kS8;
template <>
inline constexpr CType kCType<uint8_t> = CType::kU8;
template <>
inline constexpr CType kCType<int16_t> = CType::kS16;
template <>
inline constexpr CType kCType<uint16_t> = CType::kU16;
template <>
inline constexpr CType kCType<int32_t> = CType::kS32;
template <>
inline constexpr CType kCType<uint32_t> = CType::kU32;
template <>
inline constexpr CType kCType<int64_t> = CType::kS64;
template <>
inline constexpr CType kCType<uint64_t> = CType::kU64;
template <>
inline constexpr CType kCType<float> = CType::kF32;
template <>
inline constexpr CType kCType<double> = CType::kF64;
template <>
inline constexpr CType kCType<C64> = CType::kC64;
template <>
inline constexpr CType kCType<C128> = CType::kC128;

template <typename T, int kBytes>
struct VectorOfBytes {
  typedef T Type __attribute__((vector_size(kBytes)));
};

// The integers as wide as a number.
template <typename T>
struct BitsOf {
  using Unsigned = std::make_unsigned_t<T>;
  using Signed = std::make_signed_t<T>;
};
template <>
struct BitsOf<float> {
  using Unsigned = uint32_t;
  using Signed = int32_t;
};
template <>
struct BitsOf<double> {
  using Unsigned = uint64_t;
  using Signed = int64_t;
};
template <typename T>
using UnsignedOf = typename BitsOf<T>::Unsigned;
template <typename T>
using SignedOf = typename BitsOf<T>::Signed;

template <typename To, typename From>
PJRT_INLINE To BitCast(From from) {
  return __builtin_bit_cast(To, from);
}

template <typename T>
PJRT_INLINE UnsignedOf<T> ToBits(T x) {
  return __builtin_bit_cast(UnsignedOf<T>, x);
}

// a * b + c, rounded once where the level has the instruction, twice elsewhere. For approximations
// whose accuracy does not depend on it.
PJRT_INLINE float MulAdd(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
PJRT_INLINE double MulAdd(double a, double b, double c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Calls body(i) for each i of [begin, n), fewer than 2 * kStep of them, in steps of kStep, half of
// that and so on.
template <int64_t kStep, class Body>
PJRT_INLINE void ForEachOfSteps(int64_t begin, int64_t n, Body body) {
  if constexpr (kStep >= 1) {
    if (n - begin >= kStep) {
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < kStep; ++k) body(begin + k);
      begin += kStep;
    }
    ForEachOfSteps<kStep / 2>(begin, n, body);
  }
}
// Calls body(i) for each i of [0, n); iterations are independent of each other, and the narrowest
// element that they touch is a T. Of a loop on bytes gcc 12 makes one on whole vectors, one on half
// of one, and leaves up to 31 bytes to be done one by one: a sum of 126 took 23 ns with AVX-512,
// and takes 6 by shorter and shorter steps.
template <typename T, class Body>
PJRT_INLINE void ForEach(int64_t n, Body body) {
  constexpr int64_t kVector = PJRT_VECTOR_BYTES / sizeof(T);
  if constexpr (sizeof(T) == 1 && kVector > 16) {
    const int64_t whole = n > 0 ? n & -kVector : 0;
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < whole; ++i) body(i);
    ForEachOfSteps<kVector / 2>(whole, n, body);
  } else {
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) body(i);
  }
}
template <typename A, typename B>
using Narrower = std::conditional_t<(sizeof(A) < sizeof(B)), A, B>;

// Loops. Op::Run takes elements and gives one; the operands' types are A, B, C, the result's R.
template <class Op, typename R, typename A>
void UnaryLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  R* const d = static_cast<R*>(dst);
  const A* const x = static_cast<const A*>(a);
  ForEach<Narrower<R, A>>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = Op::Run(x[i]); });
}

template <class Op, typename R, typename A>
void BinaryLoop(void* dst, const void* a, const void* b, const void*, int64_t n) {
  R* const d = static_cast<R*>(dst);
  const A* const x = static_cast<const A*>(a);
  const A* const y = static_cast<const A*>(b);
  ForEach<Narrower<R, A>>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = Op::Run(x[i], y[i]); });
}

template <class Op, typename R, typename A>
void BinaryLoopFirstScalar(void* dst, const void* a, const void* b, const void*, int64_t n) {
  R* const d = static_cast<R*>(dst);
  if (n <= 0) return;
  const A x = *static_cast<const A*>(a);
  const A* const y = static_cast<const A*>(b);
  ForEach<Narrower<R, A>>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = Op::Run(x, y[i]); });
}

template <class Op, typename R, typename A>
void BinaryLoopSecondScalar(void* dst, const void* a, const void* b, const void*, int64_t n) {
  R* const d = static_cast<R*>(dst);
  if (n <= 0) return;
  const A* const x = static_cast<const A*>(a);
  const A y = *static_cast<const A*>(b);
  ForEach<Narrower<R, A>>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = Op::Run(x[i], y); });
}

// `Loop`, a form whose second operand is one element, for a first operand that is one element:
// right when the operation commutes.
template <BlockFn kLoop>
void Swapped(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  kLoop(dst, b, a, c, n);
}

// Op::Run(a, b, c), and the form for bounds: a and c are one element each.
template <class Op, typename T>
void TernaryLoop(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  T* const d = static_cast<T*>(dst);
  const T* const x = static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  const T* const z = static_cast<const T*>(c);
  ForEach<T>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = Op::Run(x[i], y[i], z[i]); });
}
template <class Op, typename T>
void TernaryLoopScalarBounds(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  T* const d = static_cast<T*>(dst);
  const T x = *static_cast<const T*>(a);
  const T* const y = static_cast<const T*>(b);
  const T z = *static_cast<const T*>(c);
  ForEach<T>(
      n, [&](int64_t i) __attribute__((always_inline)) { d[i] = Op::Run(x, y[i], z); });
}

// min(max(x, low), high) from the two operations.
template <class Maximum, class Minimum>
struct ClampOp {
  template <typename T>
  PJRT_INLINE T Run(T low, T x, T high) {
    return Minimum::Run(Maximum::Run(x, low), high);
  }
};

// Entries of the table.
PJRT_INLINE BlockFn& Entry(BlockKernels* kernels, BlockOp op, CType type,
                           Scalars scalars = Scalars::kNone) {
  return kernels->op[static_cast<int>(op)][static_cast<int>(type)][static_cast<int>(scalars)];
}

// The same of a function that takes a Beside.
PJRT_INLINE BlockFn& BesideEntry(BlockKernels* kernels, BlockOp op, CType type,
                                 Scalars scalars = Scalars::kNone) {
  kernels->works_beside[static_cast<int>(op)][static_cast<int>(type)] = true;
  return Entry(kernels, op, type, scalars);
}

// `op` on T, computed as on R <- A: types of the same bits may share a function.
template <typename T, class Op, typename R, typename A>
PJRT_INLINE void SetUnary(BlockKernels* kernels, BlockOp op) {
  Entry(kernels, op, kCType<T>) = UnaryLoop<Op, R, A>;
}
template <typename T, class Op, typename R, typename A>
PJRT_INLINE void SetBinary(BlockKernels* kernels, BlockOp op) {
  Entry(kernels, op, kCType<T>) = BinaryLoop<Op, R, A>;
  Entry(kernels, op, kCType<T>, Scalars::kFirst) = BinaryLoopFirstScalar<Op, R, A>;
  Entry(kernels, op, kCType<T>, Scalars::kSecond) = BinaryLoopSecondScalar<Op, R, A>;
}
template <typename T, class Op, typename R, typename A>
PJRT_INLINE void SetCommutative(BlockKernels* kernels, BlockOp op) {
  Entry(kernels, op, kCType<T>) = BinaryLoop<Op, R, A>;
  Entry(kernels, op, kCType<T>, Scalars::kFirst) = Swapped<BinaryLoopSecondScalar<Op, R, A>>;
  Entry(kernels, op, kCType<T>, Scalars::kSecond) = BinaryLoopSecondScalar<Op, R, A>;
}

template <typename T, class Op, typename A>
PJRT_INLINE void SetClamp(BlockKernels* kernels) {
  Entry(kernels, BlockOp::kClamp, kCType<T>) = TernaryLoop<Op, A>;
  Entry(kernels, BlockOp::kClamp, kCType<T>, Scalars::kBounds) = TernaryLoopScalarBounds<Op, A>;
}

// Each source of levels/ fills its part of a level's table.
void FillMove(BlockKernels* kernels);
void FillStreamTranspose(BlockKernels* kernels);
void FillTranspose(BlockKernels* kernels);
void FillTurn(BlockKernels* kernels);
void FillChain(BlockKernels* kernels);
void FillIntegers(BlockKernels* kernels);
void FillFloats(BlockKernels* kernels);
void FillCompare(BlockKernels* kernels);
void FillSelect(BlockKernels* kernels);
void FillConvert(BlockKernels* kernels);
void FillSmallTypes(BlockKernels* kernels);
void FillLookup(BlockKernels* kernels);
void FillReduce(BlockKernels* kernels);
void FillComplex(BlockKernels* kernels);
void FillComplexMath(BlockKernels* kernels);
void FillComplexC128(BlockKernels* kernels);
void FillComplexExpC128(BlockKernels* kernels);
void FillExpF32(BlockKernels* kernels);
void FillPiecewiseF32(BlockKernels* kernels);
void FillTrigF32(BlockKernels* kernels);
void FillPowerF32(BlockKernels* kernels);
void FillExpF64(BlockKernels* kernels);
void FillTrigF64(BlockKernels* kernels);
void FillPowerF64(BlockKernels* kernels);
void FillAtan2F64(BlockKernels* kernels);
void FillPiecesF64(BlockKernels* kernels);
void FillTablesF64(BlockKernels* kernels);
void FillLogsF64(BlockKernels* kernels);
void FillNarrow(BlockKernels* kernels);
void FillNarrowBinary(BlockKernels* kernels);
void FillPack(BlockKernels* kernels);
void FillSmallBinary(BlockKernels* kernels);

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LEVEL_INL_H_
