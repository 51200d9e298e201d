// SPDX-License-Identifier: Apache-2.0
//
// The blocks of random_bits.h. All rounds of a lane are one body of a loop over lanes, which
// compilers vectorise: 64K words of Threefry took 127 us by SSE2 and four rounds at a time.
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

PJRT_INLINE Words ThreefryBlock(uint64_t key, uint64_t counter) {
  const uint32_t k0 = Low(key), k1 = High(key), k2 = k0 ^ k1 ^ 0x1BD11BDAu;
  Words w = Add({Low(counter), High(counter)}, k0, k1);
  w = Add(EvenRounds(w), k1, k2 + 1);
  w = Add(OddRounds(w), k2, k0 + 2);
  w = Add(EvenRounds(w), k0, k1 + 3);
  w = Add(OddRounds(w), k1, k2 + 4);
  return Add(EvenRounds(w), k2, k0 + 5);
}

void Threefry(uint64_t key, uint64_t counter, uint32_t* w0, uint32_t* w1) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int i = 0; i < kRandomLanes; ++i) {
    const Words w = ThreefryBlock(key, counter + static_cast<uint64_t>(i));
    w0[i] = w.a;
    w1[i] = w.b;
  }
}
void ThreefryPairs(uint64_t key, uint64_t counter, uint32_t* words) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int i = 0; i < kRandomLanes; ++i) {
    const Words w = ThreefryBlock(key, counter + static_cast<uint64_t>(i));
    words[2 * i] = w.a;
    words[2 * i + 1] = w.b;
  }
}

void Philox(uint64_t key, Counter128 counter, uint32_t* words) {
  const uint32_t k0 = Low(key), k1 = High(key);
  PJRT_INDEPENDENT_ITERATIONS
  for (int i = 0; i < kRandomLanes; ++i) {
    const Counter128 c = counter + static_cast<uint64_t>(i);
    uint32_t x0 = Low(c.low), x1 = High(c.low), x2 = Low(c.high), x3 = High(c.high);
#pragma GCC unroll 10
    for (uint32_t round = 0; round < 10; ++round) {
      const uint64_t p = uint64_t{x0} * 0xD2511F53u, q = uint64_t{x2} * 0xCD9E8D57u;
      x0 = High(q) ^ x1 ^ (k0 + round * 0x9E3779B9u);
      x1 = Low(q);
      x2 = High(p) ^ x3 ^ (k1 + round * 0xBB67AE85u);
      x3 = Low(p);
    }
    words[4 * i] = x0;
    words[4 * i + 1] = x1;
    words[4 * i + 2] = x2;
    words[4 * i + 3] = x3;
  }
}

}  // namespace

const RandomKernels* GetRandomKernels() {
  static const RandomKernels kernels = {Threefry, ThreefryPairs, Philox};
  return &kernels;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
