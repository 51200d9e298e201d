// SPDX-License-Identifier: Apache-2.0
//
// The memory that the CPU device keeps for reuse.
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "src/core/base/machine_memory.h"
#include "src/cpu_device/backend/cpu_memory.h"

namespace pjrt::cpu {
namespace {

constexpr size_t kLimit = 1 << 20;

CachingAllocator::Block Allocate(CachingAllocator& allocator, size_t bytes) {
  absl::StatusOr<CachingAllocator::Block> block = allocator.Allocate(bytes);
  EXPECT_TRUE(block.ok()) << block.status();
  return block.ok() ? *block : CachingAllocator::Block();
}

TEST(CachingAllocatorTest, FreedMemoryIsGivenOutAgain) {
  CachingAllocator allocator(kLimit, nullptr);
  const CachingAllocator::Block first = Allocate(allocator, 5000);
  allocator.Free(first);
  EXPECT_EQ(allocator.stats().bytes_reserved, static_cast<int64_t>(first.bytes));
  const CachingAllocator::Block second = Allocate(allocator, 4999);
  EXPECT_EQ(second.data, first.data);
  allocator.Free(second);
}

TEST(CachingAllocatorTest, WhatIsLargerThanTheLimitIsNotKept) {
  CachingAllocator allocator(kLimit, nullptr);
  allocator.Free(Allocate(allocator, kLimit + 1));
  EXPECT_EQ(allocator.stats().bytes_reserved, 0);
}

// Systems may promise it all the same, and end the process that uses it.
TEST(CachingAllocatorTest, WhatIsLargerThanTheMachineIsRefused) {
  CachingAllocator allocator(kLimit, nullptr);
  const auto block = allocator.Allocate(static_cast<size_t>(MachineMemory()) + 1);
  EXPECT_EQ(block.status().code(), absl::StatusCode::kResourceExhausted) << block.status();
}

TEST(CachingAllocatorTest, SizesNotAskedForAnyMoreMakeRoomForThoseThatAre) {
  CachingAllocator allocator(kLimit, nullptr);
  // Two sizes that fill the cache together; the first is used again and again.
  const CachingAllocator::Block half = Allocate(allocator, kLimit / 2);
  const CachingAllocator::Block quarter = Allocate(allocator, kLimit / 4);
  const CachingAllocator::Block other_quarter = Allocate(allocator, kLimit / 4);
  allocator.Free(half);
  allocator.Free(quarter);
  allocator.Free(other_quarter);
  EXPECT_EQ(allocator.stats().bytes_reserved, static_cast<int64_t>(kLimit));
  // A third size takes the place of the second, after a while.
  size_t third_bytes = 0;
  for (int i = 0; i < 40; ++i) {
    const CachingAllocator::Block third = Allocate(allocator, kLimit / 16 * 7);
    third_bytes = third.bytes;
    allocator.Free(third);
    const CachingAllocator::Block again = Allocate(allocator, kLimit / 2);
    EXPECT_EQ(again.data, half.data);
    allocator.Free(again);
  }
  EXPECT_EQ(allocator.stats().bytes_reserved, static_cast<int64_t>(half.bytes + third_bytes));
}

TEST(CachingAllocatorTest, OfSizesTakenInTurnThoseThatFitStay) {
  CachingAllocator allocator(kLimit, nullptr);
  const char* first = nullptr;
  for (int i = 0; i < 100; ++i) {
    for (const size_t bytes : {kLimit / 16 * 7, kLimit / 2, kLimit / 8 * 3}) {
      const CachingAllocator::Block block = Allocate(allocator, bytes);
      if (bytes == kLimit / 16 * 7) {
        if (first != nullptr) {
          EXPECT_EQ(block.data, first);
        }
        first = block.data;
      }
      allocator.Free(block);
    }
  }
}

TEST(CachingAllocatorTest, ThreadsMayEvictWhatOthersTake) {
  CachingAllocator allocator(kLimit, nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&allocator, t] {
      std::vector<CachingAllocator::Block> held;
      for (size_t i = 0; i < 3000; ++i) {
        held.push_back(Allocate(allocator, 300 + (i * 7919 + t * 104729) % (kLimit / 3)));
        if (held.size() < 4) continue;
        for (const CachingAllocator::Block& block : held) allocator.Free(block);
        held.clear();
      }
      for (const CachingAllocator::Block& block : held) allocator.Free(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator.stats().bytes_in_use, 0);
  EXPECT_LE(allocator.stats().bytes_reserved, static_cast<int64_t>(kLimit));
}

}  // namespace
}  // namespace pjrt::cpu
