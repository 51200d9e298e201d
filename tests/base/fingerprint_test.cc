// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/fingerprint.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace pjrt {
namespace {

TEST(FingerprintTest, IsTheSameInEveryProcess) {
  // Values that were printed once: a change would make caches on disk useless.
  EXPECT_EQ(Fingerprint({}), "f8bb92c91b3f5cc0");
  EXPECT_EQ(Fingerprint({"pjrt"}), "5275542819fe6c54");
  EXPECT_EQ(Fingerprint({"longer than eight bytes", "\xff"}), "6678f6c122109620");
}

TEST(FingerprintTest, TellsTextsApart) {
  std::set<std::string> seen;
  int texts = 0;
  const auto add = [&](const std::string& fingerprint) {
    EXPECT_EQ(fingerprint.size(), 16u);
    seen.insert(fingerprint);
    ++texts;
  };
  const std::string text(40, 'x');
  for (size_t length = 0; length <= text.size(); ++length) {
    add(Fingerprint({text.substr(0, length)}));
    add(Fingerprint({text.substr(0, length), text.substr(length)}));
    add(Fingerprint({std::string(length + 1, '\0')}));
  }
  for (size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[at] = static_cast<char>(other[at] ^ (1 << bit));
      add(Fingerprint({other}));
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(texts));
}

}  // namespace
}  // namespace pjrt
