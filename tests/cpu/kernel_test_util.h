// SPDX-License-Identifier: Apache-2.0
//
// What tests of block kernels share: the levels of this machine, calls of table entries on vectors,
// and distances in units of the last place.
#ifndef PJRT_TESTS_CPU_KERNEL_TEST_UTIL_H_
#define PJRT_TESTS_CPU_KERNEL_TEST_UTIL_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/functional/function_ref.h"
#include "gtest/gtest.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

using IntegerTypes =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
// The float types that kernels compute in.
using KernelFloats = testing::Types<float, double>;

using Bytes = std::vector<uint8_t>;

// The block kernels of each level that this machine can run.
inline std::vector<const BlockKernels*> SupportedBlockKernels() {
  std::vector<const BlockKernels*> result;
  for (const Kernels* level : AllKernels()) {
    if (level->supported()) result.push_back(level->block);
  }
  return result;
}

// The compute type of an element type. Predicates are bytes and have to be named by CType::kPred.
template <typename T>
CType CTypeOf();
template <>
inline CType CTypeOf<int8_t>() {
  return CType::kS8;
}
template <>
inline CType CTypeOf<uint8_t>() {
  return CType::kU8;
}
template <>
inline CType CTypeOf<int16_t>() {
  return CType::kS16;
}
template <>
inline CType CTypeOf<uint16_t>() {
  return CType::kU16;
}
template <>
inline CType CTypeOf<int32_t>() {
  return CType::kS32;
}
template <>
inline CType CTypeOf<uint32_t>() {
  return CType::kU32;
}
template <>
inline CType CTypeOf<int64_t>() {
  return CType::kS64;
}
template <>
inline CType CTypeOf<uint64_t>() {
  return CType::kU64;
}
template <>
inline CType CTypeOf<float>() {
  return CType::kF32;
}
template <>
inline CType CTypeOf<double>() {
  return CType::kF64;
}
template <>
inline CType CTypeOf<std::complex<float>>() {
  return CType::kC64;
}
template <>
inline CType CTypeOf<std::complex<double>>() {
  return CType::kC128;
}

inline BlockFn Find(const BlockKernels& kernels, BlockOp op, CType type,
                    Scalars scalars = Scalars::kNone) {
  return kernels.op[static_cast<int>(op)][static_cast<int>(type)][static_cast<int>(scalars)];
}

// op on all elements at once.
template <typename R, typename A>
std::vector<R> CallUnary(const BlockKernels& kernels, BlockOp op, CType type,
                         const std::vector<A>& a) {
  std::vector<R> result(a.size());
  Find(kernels, op, type)(result.data(), a.data(), nullptr, nullptr,
                          static_cast<int64_t>(a.size()));
  return result;
}
template <typename R, typename A>
std::vector<R> CallBinary(const BlockKernels& kernels, BlockOp op, CType type,
                          const std::vector<A>& a, const std::vector<A>& b) {
  std::vector<R> result(a.size());
  Find(kernels, op, type)(result.data(), a.data(), b.data(), nullptr,
                          static_cast<int64_t>(a.size()));
  return result;
}

// Elements of a narrow float type as f32.
template <typename T>
std::vector<float> Loaded(const BlockKernels& kernels, PrimitiveType type,
                          const std::vector<T>& elements) {
  std::vector<float> singles(elements.size());
  kernels.load[type](singles.data(), elements.data(), static_cast<int64_t>(elements.size()));
  return singles;
}

// The bits of an f32 or f64.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
T FromBits(BitsOf<T> bits) {
  T x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
template <typename T>
BitsOf<T> ToBits(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof(x));
  return bits;
}

// Units in the last place of T at `expected`, which is given in a wider type, that `actual` is
// away: 0 for the same NaN-ness or infinity, infinite when only one side is NaN or infinite.
template <typename T, typename Wide>
double UlpError(T actual, Wide expected) {
  if (std::isnan(expected) || std::isnan(actual)) {
    return std::isnan(expected) && std::isnan(actual) ? 0 : std::numeric_limits<double>::infinity();
  }
  const T nearest = static_cast<T>(expected);
  if (std::isinf(nearest) || std::isinf(actual)) {
    if (nearest == actual) return 0;
    // A number next to the end of the range may round to either side of it.
    const T largest = std::numeric_limits<T>::max();
    if (std::isinf(expected) || std::fabs(std::isinf(nearest) ? actual : nearest) < largest) {
      return std::numeric_limits<double>::infinity();
    }
  }
  int exponent = 0;
  std::frexp(expected, &exponent);
  const int digits = std::numeric_limits<T>::digits;
  const int lowest = std::numeric_limits<T>::min_exponent - digits;
  const int unit = exponent - digits > lowest ? exponent - digits : lowest;
  return static_cast<double>(std::ldexp(std::fabs(static_cast<Wide>(actual) - expected), -unit));
}

// What references of complex functions are computed in.
using WideComplex = std::complex<long double>;

// A NaN wins, and -0 is below 0.
template <typename T>
T MaximumOf(T x, T y) {
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<T>::quiet_NaN();
  if (x == 0 && y == 0) return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
template <typename T>
T MinimumOf(T x, T y) {
  return -MaximumOf(-x, -y);
}

// The same bits, or two NaNs of whatever bits.
template <typename T>
bool SameValue(T a, T b) {
  if (a != a || b != b) return a != a && b != b;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T>
bool SameValue(std::complex<T> a, std::complex<T> b) {
  return SameValue(a.real(), b.real()) && SameValue(a.imag(), b.imag());
}

template <typename T>
std::string Show(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.9g (%a)", static_cast<double>(value),
                  static_cast<double>(value));
    return text;
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    return "(" + Show(value.real()) + ", " + Show(value.imag()) + ")";
  }
}

// Block lengths around the widths of vectors.
inline const std::vector<int64_t>& BlockLengths() {
  static const auto* const lengths =
      new std::vector<int64_t>{0, 1, 2, 7, 8, 15, 33, 64, 100, 127, 1000};
  return *lengths;
}

// Fills a result with a pattern first, so that an element that is not written, or one too many,
// shows.
template <typename R>
std::vector<R> Untouched(size_t size) {
  std::vector<R> result(size);
  if (size > 0) std::memset(static_cast<void*>(result.data()), 0x5a, size * sizeof(R));
  return result;
}

// Checks `op` on `type` at one level for blocks of each length, at each place of the data, in place
// too when the result is as wide as the operand. expected(x) gives the result of one element.
template <typename R, typename A>
void CheckUnaryOp(const BlockKernels& kernels, BlockOp op, CType type, const std::vector<A>& a,
                  absl::FunctionRef<R(A)> expected) {
  const BlockFn function = Find(kernels, op, type);
  ASSERT_NE(function, nullptr) << kernels.level;
  const auto check = [&](const std::vector<R>& results, size_t first, int64_t n, const char* how) {
    for (int64_t i = 0; i < n; ++i) {
      const R want = expected(a[first + i]);
      ASSERT_TRUE(SameValue(results[i], want))
          << kernels.level << " " << how << ", n = " << n << ", i = " << i << ": f("
          << Show(a[first + i]) << ") = " << Show(results[i]) << ", expected " << Show(want);
    }
    const R untouched = Untouched<R>(1)[0];
    ASSERT_EQ(std::memcmp(&results[n], &untouched, sizeof(R)), 0) << "wrote behind the block";
  };
  size_t first = 0;
  for (int64_t n : BlockLengths()) {
    if (first + n > a.size()) first = 0;
    n = std::min(n, static_cast<int64_t>(a.size() - first));
    std::vector<R> results = Untouched<R>(n + 1);
    function(results.data(), a.data() + first, nullptr, nullptr, n);
    check(results, first, n, "block");
    if (sizeof(R) == sizeof(A)) {
      results = Untouched<R>(n + 1);
      if (n > 0) std::memcpy(static_cast<void*>(results.data()), a.data() + first, n * sizeof(A));
      function(results.data(), results.data(), nullptr, nullptr, n);
      check(results, first, n, "in place");
    }
    first += n;
  }
  const int64_t all = static_cast<int64_t>(a.size());
  std::vector<R> results = Untouched<R>(all + 1);
  function(results.data(), a.data(), nullptr, nullptr, all);
  check(results, 0, all, "block");
}

// The same for two operands, in all forms that the table has: blocks, first or second operand one
// element, in place of either.
template <typename R, typename A>
void CheckBinaryOp(const BlockKernels& kernels, BlockOp op, CType type, const std::vector<A>& a,
                   const std::vector<A>& b, absl::FunctionRef<R(A, A)> expected) {
  ASSERT_NE(Find(kernels, op, type), nullptr) << kernels.level;
  const auto check = [&](const std::vector<R>& results, const A* x, bool x_scalar, const A* y,
                         bool y_scalar, int64_t n, const char* how) {
    for (int64_t i = 0; i < n; ++i) {
      const A p = x[x_scalar ? 0 : i], q = y[y_scalar ? 0 : i];
      const R want = expected(p, q);
      ASSERT_TRUE(SameValue(results[i], want))
          << kernels.level << " " << how << ", n = " << n << ", i = " << i << ": f(" << Show(p)
          << ", " << Show(q) << ") = " << Show(results[i]) << ", expected " << Show(want);
    }
    const R untouched = Untouched<R>(1)[0];
    ASSERT_EQ(std::memcmp(&results[n], &untouched, sizeof(R)), 0) << "wrote behind the block";
  };
  size_t first = 0;
  std::vector<int64_t> lengths = BlockLengths();
  lengths.push_back(static_cast<int64_t>(a.size()));
  for (int64_t n : lengths) {
    if (first + n > a.size()) first = 0;
    n = std::min(n, static_cast<int64_t>(a.size() - first));
    const A *x = a.data() + first, *y = b.data() + first;
    std::vector<R> results = Untouched<R>(n + 1);
    Find(kernels, op, type)(results.data(), x, y, nullptr, n);
    check(results, x, false, y, false, n, "blocks");
    if (const BlockFn function = Find(kernels, op, type, Scalars::kFirst)) {
      results = Untouched<R>(n + 1);
      function(results.data(), x, y, nullptr, n);
      check(results, x, true, y, false, n, "first operand one element");
    }
    if (const BlockFn function = Find(kernels, op, type, Scalars::kSecond)) {
      results = Untouched<R>(n + 1);
      function(results.data(), x, y, nullptr, n);
      check(results, x, false, y, true, n, "second operand one element");
    }
    if (sizeof(R) == sizeof(A) && n > 0) {
      results = Untouched<R>(n + 1);
      std::memcpy(static_cast<void*>(results.data()), x, n * sizeof(A));
      Find(kernels, op, type)(results.data(), results.data(), y, nullptr, n);
      check(results, x, false, y, false, n, "in place of the first operand");
      results = Untouched<R>(n + 1);
      std::memcpy(static_cast<void*>(results.data()), y, n * sizeof(A));
      Find(kernels, op, type)(results.data(), x, results.data(), nullptr, n);
      check(results, x, false, y, false, n, "in place of the second operand");
    }
    first += n;
  }
}

// Numbers of all sizes, with the ends of the range, and each pair of the landmarks.
template <typename T>
struct Operands {
  std::vector<T> a, b;
};
template <typename T>
Operands<T> Pairs(const std::vector<T>& landmarks, const std::vector<T>& others) {
  Operands<T> result;
  for (T x : landmarks) {
    for (T y : landmarks) {
      result.a.push_back(x);
      result.b.push_back(y);
    }
  }
  for (size_t i = 0; i + 1 < others.size(); ++i) {
    result.a.push_back(others[i]);
    result.b.push_back(others[i + 1]);
  }
  return result;
}

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_KERNEL_TEST_UTIL_H_
