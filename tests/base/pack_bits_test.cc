// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/pack_bits.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pjrt {
namespace {

using ::testing::ElementsAre;
using Bytes = std::vector<uint8_t>;

Bytes Pack(const Bytes& elements, int bits, size_t bytes) {
  Bytes packed(bytes, 0xff);
  PackBits(elements.data(), elements.size(), bits, packed.data());
  return packed;
}

Bytes Unpack(const Bytes& packed, size_t count, int bits, bool is_signed) {
  Bytes elements(count);
  UnpackBits(packed.data(), count, bits, is_signed, elements.data());
  return elements;
}

TEST(PackBitsTest, OnlyWidthsThatFillBytesArePacked) {
  EXPECT_EQ(PackedBits(S1), 1);
  EXPECT_EQ(PackedBits(U2), 2);
  EXPECT_EQ(PackedBits(S4), 4);
  EXPECT_EQ(PackedBits(F4E2M1FN), 4);
  EXPECT_EQ(PackedBits(F6E2M3FN), 8);
  EXPECT_EQ(PackedBits(PRED), 8);
  EXPECT_EQ(PackedBits(BF16), 16);
  EXPECT_EQ(PackedBits(C128), 128);
  EXPECT_EQ(PackedBits(TUPLE), 0);
}

TEST(PackBitsTest, TheFirstElementLiesInTheLowestBitsAndRestsAreZero) {
  EXPECT_THAT(Pack({1, 2, 3}, 4, 2), ElementsAre(0x21, 0x03));
  EXPECT_THAT(Pack({3, 0, 1, 2, 1}, 2, 2), ElementsAre(0x93, 0x01));
  EXPECT_THAT(Pack({1, 0, 0, 1, 1, 1, 0, 0, 1}, 1, 2), ElementsAre(0x39, 0x01));
  // What does not fit the width is cut off.
  EXPECT_THAT(Pack({0xf7, 0x18}, 4, 1), ElementsAre(0x87));
}

TEST(PackBitsTest, UnpackingExtendsByTheSignWhereThereIsOne) {
  EXPECT_THAT(Unpack({0x87, 0x0f}, 3, 4, false), ElementsAre(7, 8, 15));
  EXPECT_THAT(Unpack({0x87, 0x0f}, 3, 4, true), ElementsAre(7, 0xf8, 0xff));
  EXPECT_THAT(Unpack({0x93}, 4, 2, true), ElementsAre(0xff, 0, 1, 0xfe));
  EXPECT_THAT(Unpack({0x02}, 2, 1, true), ElementsAre(0, 0xff));
}

}  // namespace
}  // namespace pjrt
