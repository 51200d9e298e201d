// SPDX-License-Identifier: Apache-2.0
//
// The kernels of running sums along lines, at each level of this machine.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/window.h"

namespace pjrt::cpu {
namespace {

template <typename T>
T Combine(Monoid monoid, T a, T b) {
  switch (monoid) {
    case Monoid::kAdd:
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
      } else {
        return a + b;
      }
    case Monoid::kMaximum:
      return a != a ? a : b != b ? b : a > b ? a : b;
    default:
      return a != a ? a : b != b ? b : a < b ? a : b;
  }
}

// Lines of n elements, `stride` apart, in an array and in place; what is between them stays.
template <typename T>
void Check(CType type, const std::vector<T>& pattern) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    for (Monoid monoid : {Monoid::kAdd, Monoid::kMaximum, Monoid::kMinimum}) {
      const ScanRowsFn scan =
          level->window->scan_rows[static_cast<int>(monoid)][static_cast<int>(type)];
      ASSERT_NE(scan, nullptr);
      for (int64_t lines : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33}) {
        for (int64_t n : {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 50}) {
          for (bool is_reverse : {false, true}) {
            const int64_t stride = n + 3;
            std::vector<T> in(lines * stride + 1), expected, starts(lines + 1), running;
            for (size_t i = 0; i < in.size(); ++i) in[i] = pattern[(i * 7 + n) % pattern.size()];
            for (size_t i = 0; i < starts.size(); ++i) starts[i] = pattern[(i + 3) % 5];
            expected = in;
            running = starts;
            for (int64_t l = 0; l < lines; ++l) {
              for (int64_t k = 0; k < n; ++k) {
                const int64_t at = l * stride + (is_reverse ? n - 1 - k : k);
                expected[at] = running[l] = Combine(monoid, running[l], in[at]);
              }
            }
            const std::string what =
                absl::StrCat(level->name, " type ", static_cast<int>(type), " monoid ",
                             static_cast<int>(monoid), ", ", lines, " lines of ", n);
            std::vector<T> out = in, values = starts;
            scan(out.data(), in.data(), stride, values.data(), lines, n, is_reverse);
            EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0) << what;
            EXPECT_EQ(std::memcmp(values.data(), running.data(), values.size() * sizeof(T)), 0)
                << what;
            values = starts;
            scan(in.data(), in.data(), stride, values.data(), lines, n, is_reverse);
            EXPECT_EQ(std::memcmp(in.data(), expected.data(), in.size() * sizeof(T)), 0)
                << what << " in place";
          }
        }
      }
    }
  }
}

TEST(ScanRowsTest, FloatsAreFoldedOneAfterTheOther) {
  const float inf = std::numeric_limits<float>::infinity();
  Check<float>(CType::kF32, {0.1f, -3.7f, 1e8f, 2.5e-7f, 1.0f / 3, -1e8f, 17});
  Check<float>(CType::kF32, {1, inf, 2, -5, 3, 8});
  Check<double>(CType::kF64, {0.1, -3.7, 1e17, 2.5e-17, 1.0 / 3, -1e17, 17});
}

TEST(ScanRowsTest, IntegersWrapAround) {
  Check<int32_t>(CType::kS32, {2000000000, -7, 5, 2147483647, -2147483647 - 1, 12});
  Check<uint32_t>(CType::kU32, {4000000000u, 7, 5, 2147483648u, 0, 12});
  Check<int64_t>(CType::kS64, {INT64_MAX, -7, 5, INT64_MIN, 1, 12});
  Check<uint64_t>(CType::kU64, {UINT64_MAX, 7, 5, uint64_t{1} << 63, 0, 12});
}

}  // namespace
}  // namespace pjrt::cpu
