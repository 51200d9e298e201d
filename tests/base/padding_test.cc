// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/padding.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace pjrt {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Of each place of the result the element that stands there, -1 for padding.
std::vector<int64_t> Shown(int64_t size, int64_t low, int64_t interior, int64_t result_size) {
  std::vector<int64_t> shown(static_cast<size_t>(result_size), -1);
  const PaddedPlaces at = PlacesOfPadded(size, low, interior, result_size);
  for (int64_t i = at.begin; i < at.end; ++i)
    shown.at(static_cast<size_t>(at.first + (i - at.begin) * at.step)) = i;
  return shown;
}

TEST(PaddingTest, ElementsStandWhereTheDefinitionPutsThem) {
  for (int64_t size = 0; size <= 4; ++size) {
    for (int64_t low = -6; low <= 4; ++low) {
      for (int64_t interior = 0; interior <= 3; ++interior) {
        for (int64_t result_size = 0; result_size <= 9; ++result_size) {
          std::vector<int64_t> expected(static_cast<size_t>(result_size), -1);
          for (int64_t i = 0; i < size; ++i) {
            const int64_t place = low + i * (interior + 1);
            if (place >= 0 && place < result_size) expected[static_cast<size_t>(place)] = i;
          }
          ASSERT_EQ(Shown(size, low, interior, result_size), expected)
              << size << " " << low << " " << interior;
        }
      }
    }
  }
}

TEST(PaddingTest, NumbersOfAnySizeDoNotOverflow) {
  using Places = std::vector<int64_t>;
  EXPECT_EQ(Shown(1, 1, kMost, 3), Places({-1, 0, -1}));
  EXPECT_EQ(Shown(2, -(int64_t{1} << 62), int64_t{1} << 62, 3), Places({-1, 1, -1}));
  EXPECT_EQ(Shown(3, -kMost, kMost - 1, 2), Places({1, -1}));
  for (const int64_t low : {kLeast, -kMost, kMost}) {
    for (const int64_t interior : {int64_t{0}, int64_t{1}, kMost - 1, kMost})
      EXPECT_EQ(Shown(1, low, interior, 2), Places({-1, -1})) << low << " " << interior;
  }
}

}  // namespace
}  // namespace pjrt
