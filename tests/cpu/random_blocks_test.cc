// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the counter-based generators, at each level: published words of zeros and ones, and
// every lane against the definition one block at a time.
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/random_bits.h"

namespace pjrt::cpu {
namespace {

constexpr uint64_t kOnes = ~uint64_t{0};

std::vector<const Kernels*> Supported() {
  std::vector<const Kernels*> result;
  for (const Kernels* level : AllKernels()) {
    if (level->supported()) result.push_back(level);
  }
  return result;
}

// Threefry-2x32 as the paper has it: rotations that repeat after eight rounds, and a share of the
// key after each fourth.
std::vector<uint32_t> ThreefryBlock(uint64_t key, uint64_t counter) {
  constexpr int kRotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  const uint32_t k[3] = {
      static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32),
      static_cast<uint32_t>(key) ^ static_cast<uint32_t>(key >> 32) ^ 0x1BD11BDAu};
  uint32_t a = static_cast<uint32_t>(counter) + k[0];
  uint32_t b = static_cast<uint32_t>(counter >> 32) + k[1];
  for (uint32_t round = 0; round < 20; ++round) {
    const int r = kRotations[round % 8];
    a += b;
    b = (b << r | b >> (32 - r)) ^ a;
    if (round % 4 == 3) {
      const uint32_t share = round / 4 + 1;
      a += k[share % 3];
      b += k[(share + 1) % 3] + share;
    }
  }
  return {a, b};
}

std::vector<uint32_t> PhiloxBlock(uint64_t key, Counter128 counter) {
  uint32_t k[2] = {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)};
  std::vector<uint32_t> x = {
      static_cast<uint32_t>(counter.low), static_cast<uint32_t>(counter.low >> 32),
      static_cast<uint32_t>(counter.high), static_cast<uint32_t>(counter.high >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p = uint64_t{x[0]} * 0xD2511F53u, q = uint64_t{x[2]} * 0xCD9E8D57u;
    x = {static_cast<uint32_t>(q >> 32) ^ x[1] ^ k[0], static_cast<uint32_t>(q),
         static_cast<uint32_t>(p >> 32) ^ x[3] ^ k[1], static_cast<uint32_t>(p)};
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return x;
}

TEST(RandomBlocksTest, FirstBlocksAreThePublishedOnes) {
  for (const Kernels* level : Supported()) {
    uint32_t w0[kRandomLanes], w1[kRandomLanes], words[4 * kRandomLanes];
    level->random->threefry(0, 0, 1, w0, w1);
    EXPECT_EQ(w0[0], 0x6b200159u) << level->name;
    EXPECT_EQ(w1[0], 0x99ba4efeu) << level->name;
    level->random->threefry(kOnes, kOnes, 1, w0, w1);
    EXPECT_EQ(w0[0], 0x1cb996fcu) << level->name;
    EXPECT_EQ(w1[0], 0xbb002be7u) << level->name;
    level->random->philox(0, {0, 0}, 1, words);
    EXPECT_EQ(std::vector<uint32_t>(words, words + 4),
              (std::vector<uint32_t>{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}))
        << level->name;
    level->random->philox(kOnes, {kOnes, kOnes}, 1, words);
    EXPECT_EQ(std::vector<uint32_t>(words, words + 4),
              (std::vector<uint32_t>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}))
        << level->name;
  }
}

TEST(RandomBlocksTest, EachLaneIsTheBlockOfItsCounter) {
  // The last ones carry into the upper words.
  const uint64_t counters[] = {0, 12345, 0xffffffe0u, kOnes - 20};
  constexpr uint64_t kKey = 0x0123456789abcdefu;
  for (const Kernels* level : Supported()) {
    for (const uint64_t counter : counters) {
      for (const int blocks : {1, 16, 17, kRandomLanes}) {
        uint32_t w0[kRandomLanes], w1[kRandomLanes], pairs[2 * kRandomLanes],
            words[4 * kRandomLanes];
        level->random->threefry(kKey, counter, blocks, w0, w1);
        level->random->threefry_pairs(kKey, counter, blocks, pairs);
        const Counter128 wide = {counter, 77};
        level->random->philox(kKey, wide, blocks, words);
        for (int i = 0; i < blocks; ++i) {
          const uint64_t lane = static_cast<uint64_t>(i);
          const std::vector<uint32_t> threefry = ThreefryBlock(kKey, counter + lane);
          EXPECT_EQ(w0[i], threefry[0]) << level->name << " " << counter << " + " << i;
          EXPECT_EQ(w1[i], threefry[1]) << level->name << " " << counter << " + " << i;
          EXPECT_EQ(pairs[2 * i], threefry[0]) << level->name << " " << counter << " + " << i;
          EXPECT_EQ(pairs[2 * i + 1], threefry[1]) << level->name << " " << counter << " + " << i;
          EXPECT_EQ(std::vector<uint32_t>(words + 4 * i, words + 4 * i + 4),
                    PhiloxBlock(kKey, wide + lane))
              << level->name << " " << counter << " + " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
