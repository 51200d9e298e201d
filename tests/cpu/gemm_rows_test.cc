// SPDX-License-Identifier: Apache-2.0
//
// A few rows times a matrix, at each kernel level, in memory whose neighbours must not be touched.
#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "tests/cpu/guarded_memory.h"
#include "tests/cpu/linalg_test_util.h"

namespace pjrt::cpu {
namespace {

// Small numbers, so that any order of a sum gives the same.
template <typename T>
void Check(CType type, int rows, int64_t k, int64_t n, int64_t gap, bool accumulate) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  const int64_t stride = n + gap;
  const auto bytes = [&](int64_t lines, int64_t length) {
    return ((lines - 1) * (length + gap) + length) * kSize;
  };
  const Guarded a(bytes(rows, k)), b(bytes(k, n)), c(bytes(rows, n));
  T* const x = reinterpret_cast<T*>(a.At(true));
  T* const y = reinterpret_cast<T*>(b.At(true));
  T* const sums = reinterpret_cast<T*>(c.At(true));
  for (int64_t i = 0; i < bytes(rows, k) / kSize; ++i) x[i] = static_cast<T>(i % 7 + 1);
  for (int64_t i = 0; i < bytes(k, n) / kSize; ++i) y[i] = static_cast<T>(i % 5 + 2);
  for (const Kernels* kernels : SupportedKernels()) {
    std::vector<T> expected;
    for (int64_t i = 0; i < bytes(rows, n) / kSize; ++i) expected.push_back(static_cast<T>(i % 3));
    std::memcpy(sums, expected.data(), bytes(rows, n));
    for (int r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < n; ++j) {
        T& sum = expected[r * stride + j];
        if (!accumulate) sum = T{0};
        for (int64_t p = 0; p < k; ++p) sum += x[r * (k + gap) + p] * y[p * stride + j];
      }
    }
    kernels->gemm->rows[static_cast<int>(type)].rows[rows - 1](sums, stride, x, k + gap, y, stride,
                                                               k, n, accumulate);
    EXPECT_EQ(std::vector<T>(sums, sums + expected.size()), expected)
        << kernels->name << ", " << rows << " rows, k " << k << ", n " << n << ", gap " << gap
        << (accumulate ? ", accumulated" : "");
  }
}

TEST(GemmRowsTest, RowsOfAnyLengthTouchNothingElse) {
  for (int rows = 1; rows <= 4; ++rows) {
    for (const int64_t k : {1, 2, 3, 4, 9}) {
      for (int64_t n = 1; n <= 21; ++n) {
        for (const int64_t gap : {0, 3}) {
          for (const bool accumulate : {false, true}) {
            Check<float>(CType::kF32, rows, k, n, gap, accumulate);
            Check<double>(CType::kF64, rows, k, n, gap, accumulate);
            Check<uint32_t>(CType::kS32, rows, k, n, gap, accumulate);
            Check<uint64_t>(CType::kU64, rows, k, n, gap, accumulate);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
