// SPDX-License-Identifier: Apache-2.0
//
// How turned tiles are read, while others are turned and written. See level-inl.h for who may
// include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TILE_READER_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TILE_READER_INL_H_

#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/turned_tile.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {  // callers keep vectors in registers across calls that nobody else can make

// Reads a tile in so many steps, and asks for the one after it. What is one run stays where it is
// if memory behind it may be read, too.
class TileReader {
 public:
  TileReader(const TurnedTile& tile, const TurnedTile& after, TurnScratch* scratch, int64_t steps)
      : steps_(steps) {
    if (tile.shape == nullptr) {
      scratch->read = nullptr;
      return;
    }
    runs_ = tile.shape->runs;
    from_ = tile.from;
    num_all_ = num_ = tile.shape->num_runs;
    if (after.shape != nullptr) {
      after_runs_ = after.shape->runs;
      after_from_ = after.from;
      num_all_ += after.shape->num_runs;
    }
    asked_ = kAhead < num_ ? kAhead : num_;
    if (tile.shape->is_one_run && after.shape != nullptr &&
        EndOf(after) - EndOf(tile) >= TurnScratch::kSlack) {
      scratch->read = tile.from;
    } else {
      scratch->read = to_ = scratch->source[scratch->current];
      scratch->current ^= 1;
    }
  }
  // Several steps at once where what is done meanwhile is little: each waits for the one before.
  __attribute__((always_inline)) void Step(int64_t steps = 1) {
    for (due_ += steps * num_; due_ >= steps_; due_ -= steps_) ReadRun();
  }
  void Rest() {
    while (read_ < num_) ReadRun();
  }

 private:
  // Runs that are asked for before they are read, to the first cache, which has almost as many
  // ways. Asked for in the second one they are no sooner there, whether that is all or comes first.
  static constexpr int64_t kAhead = 16;

  static const char* EndOf(const TurnedTile& tile) {
    const TurnedShape::Run& last = tile.shape->runs[tile.shape->num_runs - 1];
    return tile.from + last.at + last.bytes;
  }
  __attribute__((noinline)) void ReadRun() {
    if (read_ == num_) return;
    // A call to what only asks for lines would be one that compilers leave out.
    for (; asked_ <= read_ + kAhead && asked_ < num_all_; ++asked_) {
      const bool is_after = asked_ >= num_;
      const TurnedShape::Run run = is_after ? after_runs_[asked_ - num_] : runs_[asked_];
      const char* const from = (is_after ? after_from_ : from_) + run.at;
      for (int64_t i = 0; i < run.bytes; i += kLine) __builtin_prefetch(from + i, 0, 3);
      __builtin_prefetch(from + run.bytes - 1, 0, 3);
    }
    const TurnedShape::Run run = runs_[read_++];
    if (to_ == nullptr) return;
    const char* const from = from_ + run.at;
    char* const to = to_ + run.buffer_at;
    int64_t i = 0;
    for (; i + kLine <= run.bytes; i += kLine) __builtin_memcpy(to + i, from + i, kLine);
    if (i < run.bytes) CopyInLine(to + i, from + i, run.bytes - i);
  }

  const TurnedShape::Run *runs_ = nullptr, *after_runs_ = nullptr;
  const char *from_ = nullptr, *after_from_ = nullptr;
  char* to_ = nullptr;  // null where the tile stays where it is
  int64_t num_ = 0, num_all_ = 0, asked_ = 0, read_ = 0, due_ = 0;
  const int64_t steps_;
};

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TILE_READER_INL_H_
