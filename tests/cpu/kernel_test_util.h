// SPDX-License-Identifier: Apache-2.0
//
// What tests of block kernels share: the levels of this machine, calls of table entries on vectors, and
// distances in units of the last place.
#ifndef PJRT_TESTS_CPU_KERNEL_TEST_UTIL_H_
#define PJRT_TESTS_CPU_KERNEL_TEST_UTIL_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

// The block kernels of each level that this machine can run.
inline std::vector<const BlockKernels*> SupportedBlockKernels() {
  std::vector<const BlockKernels*> result;
  for (const Kernels* level : AllKernels()) {
    if (level->supported()) result.push_back(level->block);
  }
  return result;
}

template <typename T>
CType CTypeOf();
template <> inline CType CTypeOf<bool>() { return CType::kPred; }
template <> inline CType CTypeOf<int8_t>() { return CType::kS8; }
template <> inline CType CTypeOf<uint8_t>() { return CType::kU8; }
template <> inline CType CTypeOf<int16_t>() { return CType::kS16; }
template <> inline CType CTypeOf<uint16_t>() { return CType::kU16; }
template <> inline CType CTypeOf<int32_t>() { return CType::kS32; }
template <> inline CType CTypeOf<uint32_t>() { return CType::kU32; }
template <> inline CType CTypeOf<int64_t>() { return CType::kS64; }
template <> inline CType CTypeOf<uint64_t>() { return CType::kU64; }
template <> inline CType CTypeOf<float>() { return CType::kF32; }
template <> inline CType CTypeOf<double>() { return CType::kF64; }
template <> inline CType CTypeOf<std::complex<float>>() { return CType::kC64; }
template <> inline CType CTypeOf<std::complex<double>>() { return CType::kC128; }

inline BlockFn Find(const BlockKernels& kernels, BlockOp op, CType type,
                    Scalars scalars = Scalars::kNone) {
  return kernels.op[static_cast<int>(op)][static_cast<int>(type)][static_cast<int>(scalars)];
}

// Elements in memory of their own size. Not std::vector<bool>: predicates are uint8_t here.
template <typename R, typename A>
std::vector<R> CallUnary(const BlockKernels& kernels, BlockOp op, CType type, const std::vector<A>& a) {
  std::vector<R> result(a.size());
  Find(kernels, op, type)(result.data(), a.data(), nullptr, nullptr, static_cast<int64_t>(a.size()));
  return result;
}
template <typename R, typename A>
std::vector<R> CallBinary(const BlockKernels& kernels, BlockOp op, CType type, const std::vector<A>& a,
                          const std::vector<A>& b) {
  std::vector<R> result(a.size());
  Find(kernels, op, type)(result.data(), a.data(), b.data(), nullptr, static_cast<int64_t>(a.size()));
  return result;
}

// Units in the last place of T at `expected`, which is given in a wider type, that `actual` is away:
// 0 for the same NaN-ness or infinity, infinite when only one side is NaN or infinite.
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

template <typename T>
std::string Bits(T value) {
  uint64_t bits = 0;
  static_assert(sizeof(T) <= sizeof(bits));
  std::memcpy(&bits, &value, sizeof(T));
  char text[32];
  std::snprintf(text, sizeof(text), "%0*llx", static_cast<int>(2 * sizeof(T)), static_cast<unsigned long long>(bits));
  return text;
}

// The same bits, or two NaNs of whatever bits.
template <typename T>
bool SameValue(T a, T b) {
  if (a != a || b != b) return a != a && b != b;
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_KERNEL_TEST_UTIL_H_
