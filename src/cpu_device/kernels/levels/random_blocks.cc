// SPDX-License-Identifier: Apache-2.0
//
// The blocks of random_bits.h, a lane for each, by loops that compilers vectorise.
#include "src/cpu_device/kernels/random_bits.h"

#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/level_tables.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

PJRT_INLINE uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
PJRT_INLINE uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

struct Words {
  uint32_t a, b;
};
template <int kRotation>
PJRT_INLINE Words Round(Words w) {
  const uint32_t a = w.a + w.b;
  return {a, (w.b << kRotation | w.b >> (32 - kRotation)) ^ a};
}
PJRT_INLINE Words EvenRounds(Words w) { return Round<6>(Round<26>(Round<15>(Round<13>(w)))); }
PJRT_INLINE Words OddRounds(Words w) { return Round<24>(Round<16>(Round<29>(Round<17>(w)))); }
PJRT_INLINE Words Add(Words w, uint32_t a, uint32_t b) { return {w.a + a, w.b + b}; }

// All rounds in one body of the loop over lanes: 64K words take 30 us by AVX-512, and took 127 by
// SSE2 and four rounds at a time.
template <int kLanes>
PJRT_INLINE void ThreefryLanes(uint64_t key, uint64_t counter, uint32_t* w0, uint32_t* w1) {
  const uint32_t k0 = Low(key), k1 = High(key), k2 = k0 ^ k1 ^ 0x1BD11BDAu;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t c = counter + static_cast<uint64_t>(i);
    w0[i] = Low(c);
    w1[i] = High(c);
  }
  PJRT_INDEPENDENT_ITERATIONS
  for (int i = 0; i < kLanes; ++i) {
    Words w = Add({w0[i], w1[i]}, k0, k1);
    w = Add(EvenRounds(w), k1, k2 + 1);
    w = Add(OddRounds(w), k2, k0 + 2);
    w = Add(EvenRounds(w), k0, k1 + 3);
    w = Add(OddRounds(w), k1, k2 + 4);
    w = Add(EvenRounds(w), k2, k0 + 5);
    w0[i] = w.a;
    w1[i] = w.b;
  }
}
template <int kLanes>
PJRT_INLINE void ThreefryPairLanes(uint64_t key, uint64_t counter, uint32_t* words) {
  uint32_t w0[kLanes], w1[kLanes];
  ThreefryLanes<kLanes>(key, counter, w0, w1);
  for (int i = 0; i < kLanes; ++i) {
    words[2 * i] = w0[i];
    words[2 * i + 1] = w1[i];
  }
}
// Round by round: as one body of a loop over lanes, compilers vectorise it with AVX-512 alone, and
// so they do where rounds are unrolled.
template <int kLanes>
PJRT_INLINE void PhiloxLanes(uint64_t key, Counter128 counter, uint32_t* words) {
  uint32_t k0 = Low(key), k1 = High(key);
  uint32_t x0[kLanes], x1[kLanes], x2[kLanes], x3[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    const Counter128 c = counter + static_cast<uint64_t>(i);
    x0[i] = Low(c.low);
    x1[i] = High(c.low);
    x2[i] = Low(c.high);
    x3[i] = High(c.high);
  }
#pragma GCC unroll 1
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t p = uint64_t{x0[i]} * 0xD2511F53u, q = uint64_t{x2[i]} * 0xCD9E8D57u;
      x0[i] = High(q) ^ x1[i] ^ k0;
      x1[i] = Low(q);
      x2[i] = High(p) ^ x3[i] ^ k1;
      x3[i] = Low(p);
    }
  }
  for (int i = 0; i < kLanes; ++i) {
    words[4 * i] = x0[i];
    words[4 * i + 1] = x1[i];
    words[4 * i + 2] = x2[i];
    words[4 * i + 3] = x3[i];
  }
}

// Few blocks are made by fewer lanes.
constexpr int kFew = 16;

void Threefry(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* w0, uint32_t* w1) {
  if (blocks <= kFew) return ThreefryLanes<kFew>(key, counter, w0, w1);
  ThreefryLanes<kRandomLanes>(key, counter, w0, w1);
}
void ThreefryPairs(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* words) {
  if (blocks <= kFew) return ThreefryPairLanes<kFew>(key, counter, words);
  ThreefryPairLanes<kRandomLanes>(key, counter, words);
}
void Philox(uint64_t key, Counter128 counter, int64_t blocks, uint32_t* words) {
  if (blocks <= kFew) return PhiloxLanes<kFew>(key, counter, words);
  PhiloxLanes<kRandomLanes>(key, counter, words);
}

}  // namespace

const RandomKernels* GetRandomKernels() {
  static const RandomKernels kernels = {Threefry, ThreefryPairs, Philox};
  return &kernels;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
