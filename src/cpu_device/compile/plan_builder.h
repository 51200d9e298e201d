// SPDX-License-Identifier: Apache-2.0
//
// Collects a plan's buffers and steps, then gives every buffer its memory.
//
// Steps have positions in program order, those of nested regions between the positions before and
// after them. A buffer lives from the position that defines it to the last that reads or writes it;
// buffers that don't live at the same time share memory.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_PLAN_BUILDER_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_PLAN_BUILDER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class PlanBuilder {
 public:
  // A buffer of `bytes` in the arena, defined by the step emitted next.
  BufferId NewBuffer(int64_t bytes);
  // The program's argument `index`; read-only unless a result is placed in it.
  BufferId Argument(int32_t index, int64_t bytes);
  // A part of `of` that the step emitted next finds; it is only read. `of` lives as long.
  BufferId NewPart(BufferId of, int64_t bytes);
  // The buffer that `id` is a part of a part of..., `id` itself where it is no part.
  BufferId WholeOf(BufferId id) const;
  // Whether `id` is a part of `whole`, or of such a part.
  bool IsPartOf(BufferId id, BufferId whole) const;
  // Constant data, copied; equal bytes share a place.
  BufferId Constant(absl::Span<const char> bytes);

  int64_t bytes(BufferId id) const { return buffers_[id].bytes; }

  // `to` may take over the memory of `from` when `from` dies at the step emitted next, but for
  // steps that read a part of it.
  struct Share {
    BufferId to, from;
  };
  // Appends a step to `steps` at the next position.
  void Emit(Steps* steps, std::unique_ptr<Step> step, absl::Span<const BufferId> reads,
            absl::Span<const BufferId> writes, absl::Span<const Share> shares = {});
  // The position of the next step. A control step calls it before its regions and Emit()s itself
  // behind them.
  int32_t position() const { return position_; }
  // Buffers that lived before `begin` and are used in [begin, now) live until now: a loop may come
  // back to their uses.
  void ExtendOverLoop(int32_t begin);
  // Marks `id` as used at the next position, for what is read or written by a step under
  // construction.
  void Touch(BufferId id);

  // Makes `to` the same memory as `from`, so that the copy of `from` to `to` that ends an
  // iteration, a branch or the program has nothing to do. Done where the lives of both allow it.
  // `region_begin` is the first position of the region in which `from` must have been defined. What
  // else the region's end uses must have been touched before.
  bool TryMerge(BufferId from, BufferId to, int32_t region_begin);
  // Places an arena buffer in the memory of result `index`. False when it is not in the arena or
  // already placed.
  bool PlaceInResult(BufferId id, int32_t index);
  BufferId Result(int32_t index, int64_t bytes);
  // True when result `index` may be written over argument `argument`: everything reads the argument
  // before, or as, the result is written.
  bool ResultMayAlias(int32_t index, int32_t argument) const;

  // Takes the arena memory from a buffer that one step writes and no other touches; false for any
  // other buffer.
  bool DropUnread(BufferId id);

  // The life of a buffer, for those who look at the plan's steps once it is finished.
  struct Life {
    BufferId root = kNoBuffer;  // the buffer that it was merged into, or itself
    int64_t bytes = 0;
    int32_t first = -1, last = -1;  // positions: of the step that defines it, of its last use
  };
  Life LifeOf(BufferId id) const;
  // The position that `step` was emitted at.
  int32_t PositionOf(const Step& step) const { return positions_.at(&step); }

  // Gives every arena buffer its offset and returns the plan without its steps.
  Plan Finish();

 private:
  struct Buffer {
    BufferPlace::Kind kind = BufferPlace::kArena;
    int32_t index = 0;
    int64_t bytes = 0;
    int64_t offset = 0;
    int32_t first = -1;      // position that defines it
    int32_t last = -1;       // last position that uses it, loops included
    int32_t last_read = -1;  // last position of a step that reads it
    BufferId part_of = kNoBuffer;
    BufferId merged_into = kNoBuffer;
    BufferId share = kNoBuffer;  // may take over this one's memory at `first`
    bool pinned = false;         // placed in a result or merged with another
  };

  BufferId Add(Buffer buffer);
  BufferId Root(BufferId id) const;
  bool MayMerge(BufferId from, BufferId to, int32_t region_begin) const;
  void Merge(BufferId from, BufferId to);
  void AssignOffsets();

  std::vector<Buffer> buffers_;
  std::vector<char> constants_;
  absl::flat_hash_map<uint64_t, std::vector<BufferId>> constant_index_;
  std::vector<std::vector<BufferId>> shares_of_;  // by `to`
  absl::flat_hash_map<const Step*, int32_t> positions_;
  int32_t position_ = 0;
  int64_t arena_bytes_ = 0;
  int num_arguments_ = 0, num_results_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_PLAN_BUILDER_H_
