// SPDX-License-Identifier: Apache-2.0
//
// The kernel that folds windows along a line, against a loop over places and elements, at every
// level: each way through it is chosen by the shape alone.
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/window.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// Sums in an order that shows: each element is added to what came before it.
template <typename T>
void CheckWindows(const WindowKernels& kernels) {
  const FoldWindowFn fold =
      kernels.fold_window[static_cast<int>(Monoid::kAdd)][static_cast<int>(CTypeOf<T>())];
  for (const int64_t inner : {1, 2, 3, 4, 5, 7, 20}) {
    for (const int64_t step : {1, 2, 3, 4, 5, 9}) {
      for (const int64_t dilation : {1, 2, 3}) {
        for (const int64_t taps : {1, 2, 3, 5, 11, 40}) {
          for (const int64_t places : {1, 2, 17, 300}) {
            const int64_t span = (places - 1) * step + (taps - 1) * dilation + 1;
            std::vector<T> in(span * inner), out(places * inner + 1, T(9)), expected;
            for (size_t i = 0; i < in.size(); ++i)
              in[i] = static_cast<T>(i % 13) / T(7) + T(1) / static_cast<T>(i + 1);
            const T init = T(3) / T(11);
            for (int64_t p = 0; p < places; ++p) {
              for (int64_t i = 0; i < inner; ++i) {
                T sum = init;
                for (int64_t t = 0; t < taps; ++t)
                  sum = static_cast<T>(sum + in[(p * step + t * dilation) * inner + i]);
                expected.push_back(sum);
              }
            }
            expected.push_back(T(9));
            fold(out.data(), in.data(), places, step * inner, taps, dilation * inner, inner, &init);
            ASSERT_EQ(out, expected) << inner << " elements, windows of " << taps << " by "
                                     << dilation << ", " << places << " places by " << step;
            // Onto what is there.
            fold(out.data(), in.data(), 1, step * inner, taps, dilation * inner, inner, nullptr);
            for (int64_t i = 0; i < inner; ++i) {
              T sum = expected[i];
              for (int64_t t = 0; t < taps; ++t)
                sum = static_cast<T>(sum + in[t * dilation * inner + i]);
              ASSERT_EQ(out[i], sum);
            }
          }
        }
      }
    }
  }
}

TEST(WindowKernelsTest, EachPlaceFoldsItsWindowInOrder) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    CheckWindows<float>(*level->window);
    CheckWindows<double>(*level->window);
    CheckWindows<int32_t>(*level->window);
  }
}

}  // namespace
}  // namespace pjrt::cpu
