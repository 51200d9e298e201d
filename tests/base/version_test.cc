// SPDX-License-Identifier: Apache-2.0
#include "pjrt/version.h"

#include <gtest/gtest.h>

#include <string>

namespace pjrt {
namespace {

static_assert(Version{0, 9, 9} < Version{1, 0, 0});
static_assert(Version{1, 2, 9} < Version{1, 10, 0});
static_assert(!(Version{1, 2, 3} < Version{1, 2, 3}));

TEST(VersionTest, TheLibraryIsThatOfTheHeaders) {
  EXPECT_TRUE(LibraryVersion() == kVersion);
  EXPECT_FALSE(LibraryVersion() != kVersion);
}

TEST(VersionTest, TheTextIsMajorMinorPatch) {
  EXPECT_EQ(LibraryVersionString(), std::to_string(PJRT_VERSION_MAJOR) + "." +
                                        std::to_string(PJRT_VERSION_MINOR) + "." +
                                        std::to_string(PJRT_VERSION_PATCH));
}

}  // namespace
}  // namespace pjrt
