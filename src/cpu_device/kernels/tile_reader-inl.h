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
    from_ = tile.from;
    run_ = tile.shape->runs;
    end_ = run_ + tile.shape->num_runs;
    num_ = tile.shape->num_runs;
    // The first ones were asked for beside the tile before.
    asked_from_ = from_;
    asked_ = run_ + (kAhead < num_ ? kAhead : num_);
    asked_end_ = end_;
    if (after.shape != nullptr) {
      after_from_ = after.from;
      after_ = after.shape->runs;
      after_end_ = after_ + after.shape->num_runs;
    }
    if (tile.shape->stays || (tile.shape->is_one_run && after.shape != nullptr &&
                              EndOf(after) - EndOf(tile) >= TurnScratch::kSlack)) {
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
    while (run_ != end_) ReadRun();
  }

 private:
  using Run = TurnedShape::Run;

  // Runs that are asked for before they are read, to the second cache.
  static constexpr int64_t kAhead = 16;

  static const char* EndOf(const TurnedTile& tile) {
    const Run& last = tile.shape->runs[tile.shape->num_runs - 1];
    return tile.from + last.at + last.bytes;
  }
  __attribute__((always_inline)) void Ask() {
    if (asked_ == asked_end_) {
      if (after_ == after_end_) return;
      asked_from_ = after_from_;
      asked_ = after_;
      asked_end_ = after_ = after_end_;
    }
    const char* const from = asked_from_ + asked_->at;
    const int64_t bytes = asked_++->bytes;
    for (int64_t i = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(from) % kLine); i < bytes;
         i += kLine)
      __builtin_prefetch(from + i, 0, 2);
  }
  // Not inlined, for the sake of its callers' registers.
  __attribute__((noinline)) void ReadRun() {
    if (run_ == end_) return;
    Ask();
    const Run& run = *run_++;
    if (to_ == nullptr) return;
    const char* const from = from_ + run.at;
    char* const to = to_ + run.buffer_at;
    int64_t i = 0;
    for (; i + kLine <= run.bytes; i += kLine) __builtin_memcpy(to + i, from + i, kLine);
    if (i < run.bytes) CopyInLine(to + i, from + i, run.bytes - i);
  }

  const char *from_ = nullptr, *asked_from_ = nullptr, *after_from_ = nullptr;
  char* to_ = nullptr;  // null where the tile stays where it is
  const Run *run_ = nullptr, *end_ = nullptr;
  const Run *asked_ = nullptr, *asked_end_ = nullptr;
  const Run *after_ = nullptr, *after_end_ = nullptr;
  int64_t num_ = 0, due_ = 0;
  const int64_t steps_;
};

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TILE_READER_INL_H_
