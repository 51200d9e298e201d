// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/random_bits.h"

namespace pjrt::cpu {
namespace {

constexpr uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

// Four rounds of Threefry, then a share of the key. The rotations are constants, so that the loop
// over lanes becomes vector code.
template <int R0, int R1, int R2, int R3>
inline void FourRounds(uint32_t* __restrict x0, uint32_t* __restrict x1, uint32_t add0,
                       uint32_t add1) {
  const auto round = [](uint32_t& a, uint32_t& b, int r) {
    a += b;
    b = (b << r | b >> (32 - r)) ^ a;
  };
  for (int i = 0; i < kRandomLanes; ++i) {
    uint32_t a = x0[i], b = x1[i];
    round(a, b, R0);
    round(a, b, R1);
    round(a, b, R2);
    round(a, b, R3);
    x0[i] = a + add0;
    x1[i] = b + add1;
  }
}

}  // namespace

void ThreefryBlocks(uint64_t key, uint64_t counter, uint32_t w0[kRandomLanes],
                    uint32_t w1[kRandomLanes]) {
  const uint32_t k0 = Low(key), k1 = High(key), k2 = k0 ^ k1 ^ 0x1BD11BDAu;
  for (int i = 0; i < kRandomLanes; ++i) {
    const uint64_t c = counter + static_cast<uint64_t>(i);
    w0[i] = Low(c) + k0;
    w1[i] = High(c) + k1;
  }
  FourRounds<13, 15, 26, 6>(w0, w1, k1, k2 + 1);
  FourRounds<17, 29, 16, 24>(w0, w1, k2, k0 + 2);
  FourRounds<13, 15, 26, 6>(w0, w1, k0, k1 + 3);
  FourRounds<17, 29, 16, 24>(w0, w1, k1, k2 + 4);
  FourRounds<13, 15, 26, 6>(w0, w1, k2, k0 + 5);
}

void PhiloxBlocks(uint64_t key, Counter128 counter, uint32_t words[4 * kRandomLanes]) {
  uint32_t x0[kRandomLanes], x1[kRandomLanes], x2[kRandomLanes], x3[kRandomLanes];
  for (int i = 0; i < kRandomLanes; ++i) {
    const Counter128 c = counter + static_cast<uint64_t>(i);
    x0[i] = Low(c.low);
    x1[i] = High(c.low);
    x2[i] = Low(c.high);
    x3[i] = High(c.high);
  }
  uint32_t k0 = Low(key), k1 = High(key);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kRandomLanes; ++i) {
      const uint64_t p = uint64_t{x0[i]} * 0xD2511F53u, q = uint64_t{x2[i]} * 0xCD9E8D57u;
      x0[i] = High(q) ^ x1[i] ^ k0;
      x1[i] = Low(q);
      x2[i] = High(p) ^ x3[i] ^ k1;
      x3[i] = Low(p);
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < kRandomLanes; ++i) {
    words[4 * i] = x0[i];
    words[4 * i + 1] = x1[i];
    words[4 * i + 2] = x2[i];
    words[4 * i + 3] = x3[i];
  }
}

}  // namespace pjrt::cpu
