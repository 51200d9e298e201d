// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/plan_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// Free memory of an arena that grows at its end. Best fit; neighbours merge.
class FreeList {
 public:
  int64_t Allocate(int64_t bytes) {
    auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) {
      const int64_t offset = end_;
      end_ += bytes;
      return offset;
    }
    const auto [size, offset] = *fit;
    by_size_.erase(fit);
    by_offset_.erase(offset);
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }

  void Free(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      by_size_.erase({next->second, next->first});
      next = by_offset_.erase(next);
    }
    if (next != by_offset_.begin()) {
      auto prev = std::prev(next);
      if (prev->first + prev->second == offset) {
        offset = prev->first;
        bytes += prev->second;
        by_size_.erase({prev->second, prev->first});
        by_offset_.erase(prev);
      }
    }
    if (offset + bytes == end_) {
      end_ = offset;
    } else {
      Insert(offset, bytes);
    }
    peak_ = std::max(peak_, end_);
  }

  int64_t peak() const { return std::max(peak_, end_); }
  void Note() { peak_ = std::max(peak_, end_); }

 private:
  void Insert(int64_t offset, int64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0, peak_ = 0;
};

}  // namespace

BufferId PlanBuilder::Add(Buffer buffer) {
  buffers_.push_back(buffer);
  shares_of_.emplace_back();
  return static_cast<BufferId>(buffers_.size()) - 1;
}

BufferId PlanBuilder::NewBuffer(int64_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  return Add(buffer);
}

BufferId PlanBuilder::Argument(int32_t index, int64_t bytes) {
  Buffer buffer;
  buffer.kind = BufferPlace::kArgument;
  buffer.index = index;
  buffer.bytes = bytes;
  buffer.first = 0;
  num_arguments_ = std::max(num_arguments_, index + 1);
  return Add(buffer);
}

BufferId PlanBuilder::NewPart(BufferId of, int64_t bytes) {
  Buffer buffer;
  buffer.kind = BufferPlace::kPart;
  buffer.index = static_cast<int32_t>(buffers_.size());
  buffer.bytes = bytes;
  buffer.part_of = of;
  return Add(buffer);
}

BufferId PlanBuilder::Result(int32_t index, int64_t bytes) {
  Buffer buffer;
  buffer.kind = BufferPlace::kResult;
  buffer.index = index;
  buffer.bytes = bytes;
  num_results_ = std::max(num_results_, index + 1);
  return Add(buffer);
}

BufferId PlanBuilder::Constant(absl::Span<const char> bytes) {
  const absl::string_view text(bytes.data(), bytes.size());
  std::vector<BufferId>& same_hash = constant_index_[absl::Hash<absl::string_view>()(text)];
  for (BufferId id : same_hash) {
    const Buffer& b = buffers_[id];
    if (b.bytes == static_cast<int64_t>(bytes.size()) &&
        std::memcmp(constants_.data() + b.offset, bytes.data(), bytes.size()) == 0)
      return id;
  }
  constants_.resize(AlignUp(static_cast<int64_t>(constants_.size())));
  Buffer buffer;
  buffer.kind = BufferPlace::kConstant;
  buffer.bytes = static_cast<int64_t>(bytes.size());
  buffer.offset = static_cast<int64_t>(constants_.size());
  constants_.insert(constants_.end(), bytes.begin(), bytes.end());
  const BufferId id = Add(buffer);
  same_hash.push_back(id);
  return id;
}

BufferId PlanBuilder::Root(BufferId id) const {
  while (buffers_[id].merged_into != kNoBuffer) id = buffers_[id].merged_into;
  return id;
}

BufferId PlanBuilder::WholeOf(BufferId id) const {
  while (buffers_[id].part_of != kNoBuffer) id = buffers_[id].part_of;
  return id;
}

bool PlanBuilder::IsPartOf(BufferId id, BufferId whole) const {
  do {
    id = buffers_[id].part_of;
  } while (id != kNoBuffer && id != whole);
  return id != kNoBuffer;
}

void PlanBuilder::Touch(BufferId id) {
  for (; id != kNoBuffer; id = buffers_[id].part_of) {
    Buffer& b = buffers_[id];
    if (b.first < 0) b.first = position_;
    b.last = std::max(b.last, position_);
  }
}

void PlanBuilder::Emit(Steps* steps, std::unique_ptr<Step> step, absl::Span<const BufferId> reads,
                       absl::Span<const BufferId> writes, absl::Span<const Share> shares) {
  for (BufferId id : reads) {
    Touch(id);
    for (BufferId read = id; read != kNoBuffer; read = buffers_[read].part_of)
      buffers_[read].last_read = position_;
  }
  for (BufferId id : writes) Touch(id);
  for (const Share& share : shares) {
    const bool reads_parts = std::any_of(reads.begin(), reads.end(),
                                         [&](BufferId id) { return IsPartOf(id, share.from); });
    if (!reads_parts && buffers_[share.to].first == position_ &&
        buffers_[share.to].bytes == buffers_[share.from].bytes)
      shares_of_[share.to].push_back(share.from);
  }
  positions_[step.get()] = position_;
  steps->push_back(std::move(step));
  ++position_;
}

void PlanBuilder::ExtendOverLoop(int32_t begin) {
  for (Buffer& b : buffers_) {
    const bool before = b.kind == BufferPlace::kArgument || (b.first >= 0 && b.first < begin);
    if (before && b.last >= begin) b.last = std::max(b.last, position_);
  }
}

bool PlanBuilder::TryMerge(BufferId from, BufferId to, int32_t region_begin) {
  if (!MayMerge(from, to, region_begin)) return false;
  Merge(from, to);
  // What `from` takes over from, in the same region, may be in that place from the beginning: a
  // value that is changed in several steps is then changed where it is.
  for (BufferId taken = from; taken != kNoBuffer;) {
    const int32_t first = buffers_[taken].first;
    const std::vector<BufferId>& shares = shares_of_[taken];
    const auto next = std::find_if(shares.begin(), shares.end(), [&](BufferId id) {
      return buffers_[id].last == first && MayMerge(id, to, region_begin);
    });
    taken = next == shares.end() ? kNoBuffer : *next;
    if (taken != kNoBuffer) Merge(taken, to);
  }
  return true;
}

bool PlanBuilder::MayMerge(BufferId from, BufferId to, int32_t region_begin) const {
  const Buffer& f = buffers_[from];
  const Buffer& t = buffers_[to];
  if (from == to || f.kind != BufferPlace::kArena || f.pinned || f.merged_into != kNoBuffer ||
      f.bytes != t.bytes || f.first < region_begin)
    return false;
  if (t.kind != BufferPlace::kArena && t.kind != BufferPlace::kResult) return false;
  if (t.last_read < f.first) return true;
  const std::vector<BufferId>& shares = shares_of_[from];
  return t.last_read == f.first && std::find(shares.begin(), shares.end(), to) != shares.end();
}

void PlanBuilder::Merge(BufferId from, BufferId to) {
  Buffer& f = buffers_[from];
  Buffer& t = buffers_[to];
  f.merged_into = to;
  f.pinned = true;
  // Written as early as that, when `to` is merged into another one in its turn.
  t.first = t.first < 0 ? f.first : std::min(t.first, f.first);
}

bool PlanBuilder::PlaceInResult(BufferId id, int32_t index) {
  Buffer& b = buffers_[Root(id)];
  if (b.kind != BufferPlace::kArena) return false;
  b.kind = BufferPlace::kResult;
  b.index = index;
  b.pinned = true;
  num_results_ = std::max(num_results_, index + 1);
  return true;
}

bool PlanBuilder::ResultMayAlias(int32_t index, int32_t argument) const {
  int32_t written = INT32_MAX, read = -1;
  BufferId result_id = kNoBuffer, argument_id = kNoBuffer;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& b = buffers_[i];
    const Buffer& root = buffers_[Root(static_cast<BufferId>(i))];
    if (root.kind == BufferPlace::kResult && root.index == index && b.first >= 0 &&
        b.first < written) {
      written = b.first;
      result_id = static_cast<BufferId>(i);
    }
    if (b.kind == BufferPlace::kArgument && b.index == argument) {
      read = std::max(read, b.last);
      argument_id = static_cast<BufferId>(i);
    }
  }
  if (argument_id == kNoBuffer || result_id == kNoBuffer ||
      buffers_[result_id].bytes != buffers_[argument_id].bytes)
    return false;
  if (read != written) return read < written;
  const std::vector<BufferId>& shares = shares_of_[result_id];
  return std::find(shares.begin(), shares.end(), argument_id) != shares.end();
}

bool PlanBuilder::DropUnread(BufferId id) {
  Buffer& b = buffers_[id];
  if (b.kind != BufferPlace::kArena || b.pinned || b.last != b.first || b.last_read >= 0)
    return false;
  b.first = b.last = -1;
  return true;
}

PlanBuilder::Life PlanBuilder::LifeOf(BufferId id) const {
  const BufferId root = Root(id);
  const Buffer& b = buffers_[root];
  return {root, b.bytes, b.first, b.last};
}

void PlanBuilder::AssignOffsets() {
  // The life of a merged buffer belongs to the one it was merged into.
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const BufferId root = Root(static_cast<BufferId>(i));
    if (root == static_cast<BufferId>(i) || buffers_[i].first < 0) continue;
    Buffer& r = buffers_[root];
    r.first = r.first < 0 ? buffers_[i].first : std::min(r.first, buffers_[i].first);
    r.last = std::max(r.last, buffers_[i].last);
  }
  std::vector<std::vector<BufferId>> begins(position_ + 1), ends(position_ + 1);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& b = buffers_[i];
    if (b.kind != BufferPlace::kArena || b.merged_into != kNoBuffer || b.first < 0) continue;
    begins[b.first].push_back(static_cast<BufferId>(i));
    ends[b.last].push_back(static_cast<BufferId>(i));
  }
  FreeList free;
  std::vector<char> handed_over(buffers_.size(), 0);
  for (int32_t position = 0; position <= position_; ++position) {
    for (BufferId id : begins[position]) {
      Buffer& b = buffers_[id];
      bool shared = false;
      for (BufferId from : shares_of_[id]) {
        const BufferId root = Root(from);
        const Buffer& f = buffers_[root];
        if (f.kind == BufferPlace::kArena && root != id && f.last == position &&
            f.first < position && !handed_over[root] && AlignUp(f.bytes) == AlignUp(b.bytes)) {
          b.offset = f.offset;
          handed_over[root] = 1;
          shared = true;
          break;
        }
      }
      if (!shared) b.offset = free.Allocate(std::max<int64_t>(AlignUp(b.bytes), kAlignment));
    }
    free.Note();
    for (BufferId id : ends[position]) {
      if (!handed_over[id])
        free.Free(buffers_[id].offset, std::max<int64_t>(AlignUp(buffers_[id].bytes), kAlignment));
    }
  }
  arena_bytes_ = free.peak();
}

Plan PlanBuilder::Finish() {
  AssignOffsets();
  Plan plan;
  plan.arena_bytes = arena_bytes_;
  plan.num_arguments = num_arguments_;
  plan.num_results = num_results_;
  plan.constant_bytes = AlignUp(static_cast<int64_t>(constants_.size()));
  if (plan.constant_bytes > 0) {
    char* memory = static_cast<char*>(std::aligned_alloc(kAlignment, plan.constant_bytes));
    if (memory != nullptr) std::memcpy(memory, constants_.data(), constants_.size());
    plan.constants = std::shared_ptr<char>(memory, [](char* p) { std::free(p); });
  }
  plan.buffers.reserve(buffers_.size());
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& root = buffers_[Root(static_cast<BufferId>(i))];
    BufferPlace place;
    place.kind = root.kind;
    place.index = root.index;
    place.offset = root.offset;
    plan.buffers.push_back(place);
  }
  return plan;
}

}  // namespace pjrt::cpu
