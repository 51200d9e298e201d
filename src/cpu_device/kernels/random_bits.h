// SPDX-License-Identifier: Apache-2.0
//
// The block functions of counter-based generators: Threefry-2x32 with 20 rounds and Philox-4x32
// with 10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3). A block
// depends on key and counter alone, so that any thread may make any block.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_RANDOM_BITS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_RANDOM_BITS_H_

#include <cstdint>

namespace pjrt::cpu {

// Up to so many blocks are made at a time, each in a lane of its own: a block is a long chain of
// dependent operations, so that a processor needs several vectors of them.
inline constexpr int kRandomLanes = 64;

// A 128-bit counter.
struct Counter128 {
  uint64_t low = 0, high = 0;
  Counter128 operator+(uint64_t n) const { return {low + n, high + (low + n < low ? 1 : 0)}; }
};

// One kernel level's functions, which all give the same bits. They make at least `blocks` blocks,
// from 1 to kRandomLanes, and write what they please behind those, where there must be room for
// kRandomLanes of them.
struct RandomKernels {
  // Blocks counter, counter + 1, ... of Threefry: w0[i] and w1[i] are the words of block i.
  void (*threefry)(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* w0, uint32_t* w1);
  // The same, each block's two words one after the other.
  void (*threefry_pairs)(uint64_t key, uint64_t counter, int64_t blocks, uint32_t* words);
  // Blocks counter, counter + 1, ... of Philox, their four words one after the other.
  void (*philox)(uint64_t key, Counter128 counter, int64_t blocks, uint32_t* words);
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_RANDOM_BITS_H_
