// SPDX-License-Identifier: Apache-2.0
//
// Folds of several points at a time, and of narrow floats where they lie, against their definition.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/base/small_float.h"
#include "src/cpu_device/kernels/fold_ops.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// The order of the interface, literally.
template <typename T, typename Op>
T FoldByDefinition(T to, const std::vector<T>& values, bool in_order, Op op) {
  for (size_t p = 0; p < values.size();) {
    const size_t end = in_order ? values.size() : std::min(values.size(), p + 64);
    T part = in_order ? op(to, values[p]) : values[p];
    for (++p; p < end; ++p) part = op(part, values[p]);
    to = in_order ? part : op(to, part);
  }
  return to;
}

template <typename T>
std::vector<T> Numbers(int64_t count) {
  std::vector<T> numbers(count);
  uint32_t state = 7;
  for (T& x : numbers) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<T>(static_cast<double>(static_cast<int32_t>(state) >> 20) / 3);
  }
  return numbers;
}

template <typename T, typename Op>
void CheckPoints(Monoid monoid, Op op) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    const FoldPointsFn fold =
        level->fold->points[static_cast<int>(monoid)][static_cast<int>(CTypeOf<T>())];
    ASSERT_NE(fold, nullptr);
    for (int64_t n : {1, 2, 5, 8, 16, 31, 64, 77, 300, 533, 1061}) {
      for (int64_t points : {0, 1, 2, 40, 63, 64, 65, 129}) {
        for (const auto& [gap, in_order] :
             {std::pair(0, false), {0, true}, {3, false}, {3, true}}) {
          const int64_t stride = n + gap;
          const std::vector<T> a = Numbers<T>(stride * points + n);
          std::vector<T> to(a.end() - n, a.end());
          fold(to.data(), a.data(), points, n, stride, in_order);
          for (int64_t i = 0; i < n; ++i) {
            std::vector<T> column;
            for (int64_t p = 0; p < points; ++p) column.push_back(a[p * stride + i]);
            const T expected = FoldByDefinition(a[stride * points + i], column, in_order, op);
            ASSERT_TRUE(SameValue(to[i], expected)) << level->name << " " << n << " " << points;
          }
        }
      }
    }
  }
}

TEST(FoldKernelsTest, PointsAreFoldedInTheOrderOfTheInterface) {
  const auto add = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
  const auto larger = [](auto a, auto b) { return a > b ? a : b; };
  CheckPoints<float>(Monoid::kAdd, add);
  CheckPoints<double>(Monoid::kAdd, add);
  CheckPoints<int8_t>(Monoid::kMaximum, larger);
  CheckPoints<int16_t>(Monoid::kAdd, add);
  CheckPoints<int64_t>(Monoid::kAdd, add);
  CheckPoints<std::complex<float>>(Monoid::kAdd, add);
}

// Each fold of narrow values gives what it gives of the same values as f32.
template <typename Narrow>
void CheckNarrow(PrimitiveType type) {
  constexpr int kF32 = static_cast<int>(CType::kF32);
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    for (Monoid monoid : {Monoid::kAdd, Monoid::kMultiply, Monoid::kMaximum, Monoid::kMinimum}) {
      const int m = static_cast<int>(monoid);
      const FoldKernels::Narrow& folds = (type == BF16 ? level->fold->bf16 : level->fold->f16)[m];
      if (folds.op == nullptr) continue;
      for (int64_t n : {1, 3, 8, 10, 16, 31, 32, 33, 64, 100, 1061}) {
        constexpr int64_t kRows = 70;
        std::vector<Narrow> values;
        for (float x : Numbers<float>(kRows * n)) values.push_back(static_cast<Narrow>(x / 100));
        values[values.size() / 2] = static_cast<Narrow>(std::numeric_limits<float>::quiet_NaN());
        values[values.size() / 3] = static_cast<Narrow>(-std::numeric_limits<float>::infinity());
        std::vector<float> wide;
        for (Narrow x : values) wide.push_back(static_cast<float>(x));
        std::vector<float> result(kRows), expected(kRows);
        folds.rows(result.data(), values.data(), kRows, n);
        level->block->reduce_rows[m][kF32](expected.data(), wide.data(), kRows, n);
        for (int64_t r = 0; r < kRows; ++r)
          ASSERT_TRUE(SameValue(result[r], expected[r])) << level->name << " rows of " << n;
        for (bool in_order : {false, true}) {
          std::vector<float> onto = Numbers<float>(n), reference = onto;
          folds.points(onto.data(), values.data(), kRows, n, n, in_order);
          level->fold->points[m][kF32](reference.data(), wide.data(), kRows, n, n, in_order);
          folds.op(onto.data(), onto.data(), values.data(), nullptr, n);
          const BlockFn op = level->block->op[static_cast<int>(MonoidOp(monoid))][kF32][0];
          op(reference.data(), reference.data(), wide.data(), nullptr, n);
          for (int64_t i = 0; i < n; ++i)
            ASSERT_TRUE(SameValue(onto[i], reference[i])) << level->name << " columns " << n;
        }
      }
    }
  }
}

TEST(FoldKernelsTest, NarrowFloatsFoldAsTheirWideValuesDo) {
  CheckNarrow<bfloat16>(BF16);
  CheckNarrow<half>(F16);
}

}  // namespace
}  // namespace pjrt::cpu
