// SPDX-License-Identifier: Apache-2.0
//
// The blocks of random_bits.h, a lane for each.
#include "src/cpu_device/kernels/random_bits.h"

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/level_tables.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

PJRT_INLINE uint32_t Low(uint64_t x) { return static_cast<uint32_t>(x); }
PJRT_INLINE uint32_t High(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

typedef uint32_t Vector __attribute__((vector_size(PJRT_VECTOR_BYTES)));
constexpr int kWidth = PJRT_VECTOR_BYTES / 4;

template <int kRotation>
PJRT_INLINE Vector Rotated(Vector x) {
#if defined(__AVX512F__)
  return (Vector)_mm512_rol_epi32((__m512i)x, kRotation);
#else
  return x << kRotation | x >> (32 - kRotation);
#endif
}

// Four vectors of blocks side by side, since each round waits for the one before: 64K words take 22
// us by AVX-512, where one vector after the other took 30.
constexpr int kSide = 4;
struct Threefry2x32 {
  Vector a[kSide], b[kSide];

  template <int kRotation>
  PJRT_INLINE_MEMBER void Round() {
#pragma GCC unroll 4
    for (int v = 0; v < kSide; ++v) {
      a[v] += b[v];
      b[v] = Rotated<kRotation>(b[v]) ^ a[v];
    }
  }
  template <int... kRotations>
  PJRT_INLINE_MEMBER void Rounds() {
    (Round<kRotations>(), ...);
  }
  PJRT_INLINE_MEMBER void EvenRounds() { Rounds<13, 15, 26, 6>(); }
  PJRT_INLINE_MEMBER void OddRounds() { Rounds<17, 29, 16, 24>(); }
  PJRT_INLINE_MEMBER void Add(uint32_t x, uint32_t y) {
#pragma GCC unroll 4
    for (int v = 0; v < kSide; ++v) {
      a[v] += x;
      b[v] += y;
    }
  }
  PJRT_INLINE_MEMBER void Run(uint64_t key) {
    const uint32_t k0 = Low(key), k1 = High(key), k2 = k0 ^ k1 ^ 0x1BD11BDAu;
    Add(k0, k1);
    EvenRounds();
    Add(k1, k2 + 1);
    OddRounds();
    Add(k2, k0 + 2);
    EvenRounds();
    Add(k0, k1 + 3);
    OddRounds();
    Add(k1, k2 + 4);
    EvenRounds();
    Add(k2, k0 + 5);
  }
};

constexpr int kThreefryLanes = kSide * kWidth;  // 64, 32, 16
static_assert(kRandomLanes % kThreefryLanes == 0);

PJRT_INLINE void ThreefryLanes(uint64_t key, uint64_t counter, uint32_t* w0, uint32_t* w1) {
  for (int i = 0; i < kThreefryLanes; ++i) {
    const uint64_t c = counter + static_cast<uint64_t>(i);
    w0[i] = Low(c);
    w1[i] = High(c);
  }
  Threefry2x32 words;
  __builtin_memcpy(words.a, w0, sizeof(words.a));
  __builtin_memcpy(words.b, w1, sizeof(words.b));
  words.Run(key);
  __builtin_memcpy(w0, words.a, sizeof(words.a));
  __builtin_memcpy(w1, words.b, sizeof(words.b));
}
void Threefry(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* w0, uint32_t* w1) {
  for (int64_t i = 0; i < blocks; i += kThreefryLanes)
    ThreefryLanes(key, counter + static_cast<uint64_t>(i), w0 + i, w1 + i);
}
void ThreefryPairs(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* words) {
  for (int64_t i = 0; i < blocks; i += kThreefryLanes, words += 2 * kThreefryLanes) {
    uint32_t w0[kThreefryLanes], w1[kThreefryLanes];
    ThreefryLanes(key, counter + static_cast<uint64_t>(i), w0, w1);
    for (int k = 0; k < kThreefryLanes; ++k) {
      words[2 * k] = w0[k];
      words[2 * k + 1] = w1[k];
    }
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
