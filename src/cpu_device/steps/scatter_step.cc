// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/scatter_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/index.h"
#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

// A thread that takes a piece of each row looks at all indices, so that a piece must be worth more
// than an index. Rows shared by where they go instead cost each thread a mispredicted branch a row:
// 64k rows of 64 bytes took 1.4 ms on two threads that way, 0.14 ms on one.
constexpr int64_t kMinPieceBytes = 256;
constexpr int64_t kMinSharedBytes = 256 * 1024;

// The length of a window that is one run of elements in results and updates alike; 0 for others.
int64_t RunLength(const std::vector<ScatterParams::Dim>& dims) {
  int64_t length = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    if (dims[d].window_size == 1) continue;
    if (dims[d].array_stride != length || dims[d].window_stride != length) return 0;
    length *= dims[d].window_size;
  }
  return length;
}

// Which offsets a batch has, in a hash table of memory that is given. Emptied by counting batches.
class SeenOffsets {
 public:
  // Memory for n offsets: so much that few of them meet.
  static int64_t Bytes(int64_t n) { return static_cast<int64_t>(Entries(n) * sizeof(uint64_t)); }

  SeenOffsets(char* memory, int64_t n)
      : table_(reinterpret_cast<uint64_t*>(memory)), entries_(Entries(n)) {
    std::memset(memory, 0, Bytes(n));
  }
  void Clear() {
    if (++batch_ < kBatches) return;
    std::memset(table_, 0, entries_ * sizeof(uint64_t));
    batch_ = 1;
  }
  // False when the offset, below 2^42 as all are, is there already.
  bool Add(int64_t offset) {
    const uint64_t entry = static_cast<uint64_t>(offset) * kBatches + batch_;
    uint64_t at = static_cast<uint64_t>(offset) * 0x9e3779b97f4a7c15u >> 40;
    for (;; ++at) {
      uint64_t& there = table_[at & (entries_ - 1)];
      if (there == entry) return false;
      if (there % kBatches != batch_) {
        there = entry;
        return true;
      }
    }
  }

 private:
  static constexpr uint64_t kBatches = uint64_t{1} << 21;
  static uint64_t Entries(int64_t n) {
    uint64_t entries = 16;
    while (entries < 8 * static_cast<uint64_t>(n)) entries *= 2;
    return entries;
  }
  uint64_t* table_;
  uint64_t entries_;
  uint64_t batch_ = 1;
};

}  // namespace

ScatterStep::ScatterStep(IndexWalk walk, ScatterParams params)
    : walk_(std::move(walk)), p_(std::move(params)) {
  for (const ScatterParams::Dim& dim : p_.dims) {
    window_count_ *= dim.window_size;
    may_be_partial_ |= dim.window_size > 1 && dim.index_offset >= 0;
  }
  if (p_.rows != nullptr) row_length_ = RunLength(p_.dims);
  const int64_t row_bytes = row_length_ * ByteWidth(p_.arrays[0].type);
  // Windows that are never partial are the same or apart, so that an element has one place in all
  // of them.
  if (!may_be_partial_ && walk_.num_points() * row_bytes >= kMinSharedBytes)
    max_parts_ = std::max<int64_t>(row_bytes / kMinPieceBytes, 1);
  if (p_.body != nullptr) block_ = std::min(block_, p_.body->max_block());
  const int64_t length = RunLength(p_.dims);
  if (row_length_ == 0 && (p_.mode == ScatterParams::kBody || IsConverted()) && !may_be_partial_ &&
      length > 0 && 2 * length <= block_ && walk_.num_points() > 1) {
    batch_length_ = length;
    max_batch_ = std::min(block_ / length, walk_.num_points());
    seen_bytes_ = SeenOffsets::Bytes(max_batch_);
  }
  // For each array: current values, updates, results, and their memory types' bits.
  scratch_bytes_ = static_cast<int64_t>(p_.arrays.size()) * 4 * block_ * kMaxElementBytes +
                   seen_bytes_ + (p_.body != nullptr ? AlignUp(p_.body->scratch_bytes()) : 0);
}

// Whether a known operation works on other types than lie in memory.
bool ScatterStep::IsConverted() const {
  const PrimitiveType type = p_.arrays[0].type;
  return p_.mode == ScatterParams::kOp &&
         (p_.kernels->load[type] != nullptr || p_.kernels->store[type] != nullptr);
}

// Kinds: 0 current values, 1 updates, 2 results, 3 bits of a memory type.
char* ScatterStep::Slot(char* scratch, int kind, size_t array) const {
  const int64_t slot = static_cast<int64_t>(kind) * static_cast<int64_t>(p_.arrays.size()) +
                       static_cast<int64_t>(array);
  return scratch + slot * block_ * kMaxElementBytes;
}

double ScatterStep::cost_ns() const {
  const double window = static_cast<double>(window_count_);
  const double point = row_length_ > 0 ? 1.5 + window * 0.2
                       : batch_length_ > 0
                           ? 8 + window * 2 * static_cast<double>(p_.arrays.size())
                           : 10 + window * (p_.mode == ScatterParams::kBody ? 10 : 1) *
                                      static_cast<double>(p_.arrays.size());
  return 20 + static_cast<double>(walk_.num_points()) * point;
}

void ScatterStep::Combine(const RunContext& context, int64_t array_at, int64_t array_stride,
                          int64_t update_at, int64_t update_stride, int64_t n) const {
  if (p_.mode == ScatterParams::kBody || IsConverted()) {
    CombineLoaded(context, array_at, array_stride, update_at, update_stride, n);
    return;
  }
  for (const ScatterParams::Array& a : p_.arrays) {
    const int size = ByteWidth(a.type);
    char* to = context.buffer(a.result) + array_at * size;
    const char* from = context.buffer(a.update) + (a.update_offset + update_at) * size;
    const bool contiguous = (array_stride == 1 && update_stride == 1) || n == 1;
    if (p_.mode == ScatterParams::kReplace) {
      if (contiguous) {
        std::memcpy(to, from, n * size);
      } else {
        for (int64_t i = 0; i < n; ++i)
          std::memcpy(to + i * array_stride * size, from + i * update_stride * size, size);
      }
    } else if (contiguous) {
      p_.op(to, to, from, nullptr, n);
    } else {
      for (int64_t i = 0; i < n; ++i)
        p_.op(to + i * array_stride * size, to + i * array_stride * size,
              from + i * update_stride * size, nullptr, 1);
    }
  }
}

void ScatterStep::CombineLoaded(const RunContext& context, int64_t array_at, int64_t array_stride,
                                int64_t update_at, int64_t update_stride, int64_t n) const {
  const BlockKernels& k = *p_.kernels;
  const size_t count = p_.arrays.size();
  char* const scratch = context.member_scratch(0);
  const auto slot = [&](int kind, size_t i) { return Slot(scratch, kind, i); };
  for (int64_t done = 0; done < n; done += block_) {
    const int64_t m = std::min(block_, n - done);
    for (size_t i = 0; i < count; ++i) {
      const ScatterParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const auto load = [&](const char* from, int64_t stride, char* to) {
        if (ConvertFn convert = k.load[a.type]; convert != nullptr) {
          if (stride != 1 && m > 1) {
            k.gather_stride[SizeLog2(size)](slot(3, i), from, stride, m);
            from = slot(3, i);
          }
          convert(to, from, m);
        } else {
          k.gather_stride[SizeLog2(size)](to, from, stride, m);
        }
      };
      load(context.buffer(a.result) + (array_at + done * array_stride) * size, array_stride,
           slot(0, i));
      load(context.buffer(a.update) + (a.update_offset + update_at + done * update_stride) * size,
           update_stride, slot(1, i));
    }
    CombineSlots(scratch, m);
    for (size_t i = 0; i < count; ++i) {
      const ScatterParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const char* from = slot(2, i);
      if (ConvertFn convert = k.store[a.type]; convert != nullptr) {
        convert(slot(3, i), from, m);
        from = slot(3, i);
      }
      k.scatter_stride[SizeLog2(size)](
          context.buffer(a.result) + (array_at + done * array_stride) * size, from, array_stride,
          m);
    }
  }
}

void ScatterStep::CombineSlots(char* scratch, int64_t n) const {
  if (p_.mode == ScatterParams::kOp) {
    p_.op(Slot(scratch, 2, 0), Slot(scratch, 0, 0), Slot(scratch, 1, 0), nullptr, n);
    return;
  }
  const size_t count = p_.arrays.size();
  absl::InlinedVector<const char*, 8> params(2 * count);
  absl::InlinedVector<char*, 4> results(count);
  for (size_t i = 0; i < count; ++i) {
    params[i] = Slot(scratch, 0, i);
    params[count + i] = Slot(scratch, 1, i);
    results[i] = Slot(scratch, 2, i);
  }
  p_.body->Call(params.data(), results.data(), n, Slot(scratch, 4, 0) + seen_bytes_);
}

void ScatterStep::CombineBatch(const RunContext& context, const int64_t* offsets,
                               const int64_t* updates, int64_t n) const {
  char* const scratch = context.member_scratch(0);
  const BlockKernels& k = *p_.kernels;
  const int64_t length = batch_length_;
  for (size_t i = 0; i < p_.arrays.size(); ++i) {
    const ScatterParams::Array& a = p_.arrays[i];
    const int size = ByteWidth(a.type);
    const auto load = [&](const char* array, const int64_t* at, char* to) {
      const ConvertFn convert = k.load[a.type];
      char* const bits = convert == nullptr ? to : Slot(scratch, 3, i);
      if (length == 1) {
        p_.index_kernels->gather_points[SizeLog2(size)](bits, 1, array, at, n);
      } else {
        p_.index_kernels->gather_rows(bits, length * size, array, at, size, length * size, n);
      }
      if (convert != nullptr) convert(to, bits, n * length);
    };
    load(context.buffer(a.result), offsets, Slot(scratch, 0, i));
    load(context.buffer(a.update) + a.update_offset * size, updates, Slot(scratch, 1, i));
  }
  CombineSlots(scratch, n * length);
  for (size_t i = 0; i < p_.arrays.size(); ++i) {
    const ScatterParams::Array& a = p_.arrays[i];
    const char* from = Slot(scratch, 2, i);
    if (ConvertFn convert = k.store[a.type]; convert != nullptr) {
      convert(Slot(scratch, 3, i), from, n * length);
      from = Slot(scratch, 3, i);
    }
    p_.index_kernels->replace_rows[SizeLog2(ByteWidth(a.type))](context.buffer(a.result), offsets,
                                                                from, length, length, n);
  }
}

void ScatterStep::RunBatches(const RunContext& context) const {
  SeenOffsets seen(Slot(context.member_scratch(0), 4, 0), max_batch_);
  absl::InlinedVector<int64_t, 256> offsets(max_batch_), updates(max_batch_);
  int64_t n = 0;
  const auto combine = [&] {
    CombineBatch(context, offsets.data(), updates.data(), n);
    n = 0;
    seen.Clear();
  };
  walk_.ForEachBlock(context.buffer(p_.indices) + p_.indices_offset, 0, walk_.num_points(),
                     [&](const IndexWalk::Block& block) {
                       for (int64_t i = 0; i < block.n; ++i) {
                         const int64_t offset = block.offsets[i];
                         if (offset < 0) continue;
                         if (!seen.Add(offset)) {
                           combine();
                           seen.Add(offset);
                         }
                         offsets[n] = offset;
                         updates[n++] = block.window + i * block.window_stride;
                         if (n == max_batch_) combine();
                       }
                     });
  if (n > 0) combine();
}

void ScatterStep::RunWindow(const RunContext& context, int64_t index, int64_t update_at,
                            int64_t array_at) const {
  const char* indices = context.buffer(p_.indices) + p_.indices_offset;
  const size_t dims = p_.dims.size();
  absl::InlinedVector<int64_t, 6> first(dims), last(dims), position(dims, 0);
  for (size_t d = 0; d < dims; ++d) {
    const ScatterParams::Dim& dim = p_.dims[d];
    if (dim.size < 0) {
      first[d] = 0;
      last[d] = 1;
      continue;
    }
    const int64_t start =
        dim.index_offset < 0 ? 0 : ReadIndex(p_.index_type, indices, index + dim.index_offset);
    // start + i in [0, size): written so that no sum overflows.
    first[d] = start >= 0 ? 0 : start < -dim.window_size ? dim.window_size : -start;
    last[d] = start >= dim.size ? 0
                                : std::min(dim.window_size,
                                           dim.size - std::max<int64_t>(start, -dim.window_size));
    if (first[d] >= last[d]) return;
    array_at += (start + first[d]) * dim.array_stride;
    update_at += first[d] * dim.window_stride;
  }
  // Runs along the innermost dim that has more than one element.
  int inner = static_cast<int>(dims) - 1;
  while (inner > 0 && last[inner] - first[inner] == 1) --inner;
  const int64_t n = dims == 0 ? 1 : last[inner] - first[inner];
  const int64_t array_stride = dims == 0 ? 1 : p_.dims[inner].array_stride;
  const int64_t update_stride = dims == 0 ? 1 : p_.dims[inner].window_stride;
  while (true) {
    Combine(context, array_at, array_stride, update_at, update_stride, n);
    int d = inner - 1;
    for (; d >= 0; --d) {
      array_at += p_.dims[d].array_stride;
      update_at += p_.dims[d].window_stride;
      if (++position[d] < last[d] - first[d]) break;
      array_at -= p_.dims[d].array_stride * position[d];
      update_at -= p_.dims[d].window_stride * position[d];
      position[d] = 0;
    }
    if (d < 0) return;
  }
}

void ScatterStep::RunRows(const RunContext& context, int64_t first, int64_t last) const {
  const ScatterParams::Array& a = p_.arrays[0];
  const int64_t size = ByteWidth(a.type);
  char* const result = context.buffer(a.result) + first * size;
  const char* const updates = context.buffer(a.update) + (a.update_offset + first) * size;
  walk_.ForEachBlock(context.buffer(p_.indices) + p_.indices_offset, 0, walk_.num_points(),
                     [&](const IndexWalk::Block& block) {
                       const auto rows = [&](int64_t from, int64_t to) {
                         p_.rows(result, block.offsets + from,
                                 updates + (block.window + from * block.window_stride) * size,
                                 block.window_stride, last - first, to - from);
                       };
                       if (!may_be_partial_) {
                         rows(0, block.n);
                         return;
                       }
                       // Windows that are not wholly inside are looked at one by one, in their
                       // turn.
                       int64_t done = 0;
                       for (int64_t i = 0; i < block.n; ++i) {
                         if (block.offsets[i] >= 0) continue;
                         if (done < i) rows(done, i);
                         RunWindow(context, block.index + i * block.index_stride,
                                   block.window + i * block.window_stride,
                                   block.base + i * block.array_stride);
                         done = i + 1;
                       }
                       if (done < block.n) rows(done, block.n);
                     });
}

absl::Status ScatterStep::Run(const RunContext& context) const {
  if (batch_length_ > 0) {
    RunBatches(context);
    return absl::OkStatus();
  }
  if (row_length_ == 0) {
    walk_.ForEachBlock(context.buffer(p_.indices) + p_.indices_offset, 0, walk_.num_points(),
                       [&](const IndexWalk::Block& block) {
                         for (int64_t i = 0; i < block.n; ++i) {
                           if (block.offsets[i] < 0 && !may_be_partial_) continue;
                           RunWindow(context, block.index + i * block.index_stride,
                                     block.window + i * block.window_stride,
                                     block.base + i * block.array_stride);
                         }
                       });
    return absl::OkStatus();
  }
  const int64_t parts =
      context.team == nullptr ? 1 : std::min<int64_t>(max_parts_, context.team->size());
  if (parts == 1) {
    RunRows(context, 0, row_length_);
    return absl::OkStatus();
  }
  // Pieces begin at lines of the row.
  const int64_t line = std::max<int64_t>(kCacheLine / ByteWidth(p_.arrays[0].type), 1);
  const auto begin = [&](int64_t part) {
    return part == parts ? row_length_ : row_length_ * part / parts / line * line;
  };
  context.team->ParallelFor(
      parts, [&](int64_t part, int) { RunRows(context, begin(part), begin(part + 1)); });
  return absl::OkStatus();
}

// One update of one element.
bool ScatterStep::EmitScalar(ScalarAssembler* assembler) const {
  if (walk_.num_points() != 1 || window_count_ != 1 || p_.mode == ScatterParams::kBody)
    return false;
  for (const ScatterParams::Array& a : p_.arrays) {
    if (ByteWidth(a.type) > 8) return false;
    // An operation takes values as they are computed with, not as they are stored.
    if (p_.mode == ScatterParams::kOp && (p_.kernels->load[a.type] || p_.kernels->store[a.type]))
      return false;
  }
  const int bytes = ByteWidth(p_.index_type);
  const ScalarAssembler::Label outside = assembler->NewLabel();
  std::vector<ScalarAssembler::Reg> indices;  // of each dim, where it has one
  for (const ScatterParams::Dim& dim : p_.dims) {
    indices.push_back(ScalarAssembler::kNoReg);
    if (dim.size < 0 || dim.index_offset < 0) continue;
    indices.back() =
        assembler->Read(p_.indices, p_.indices_offset + dim.index_offset * bytes, bytes);
    assembler->JumpUnlessIndex(p_.index_type, indices.back(), dim.size, outside);
  }
  for (const ScatterParams::Array& a : p_.arrays) {
    const int size = ByteWidth(a.type);
    ScalarAssembler::Reg offset = assembler->Integer(0);
    for (size_t d = 0; d < p_.dims.size(); ++d) {
      const ScatterParams::Dim& dim = p_.dims[d];
      if (indices[d] == ScalarAssembler::kNoReg) continue;
      offset = assembler->Index(p_.index_type, indices[d], dim.size - 1, dim.array_stride * size,
                                offset);
    }
    ScalarAssembler::Reg value = assembler->Read(a.update, a.update_offset * size, size);
    if (p_.mode == ScatterParams::kOp)
      value = assembler->CallOp(p_.op, assembler->ReadAt(a.result, 0, offset, size), value);
    assembler->WriteAt(a.result, 0, offset, size, value);
  }
  assembler->Bind(outside);
  return true;
}

std::string ScatterStep::Describe() const {
  return absl::StrCat("scatter ", walk_.num_points(), " windows of ", window_count_,
                      " elements into ", p_.arrays.size(), " arrays",
                      row_length_ > 0     ? " by rows"
                      : batch_length_ > 0 ? " by batches"
                                          : "");
}

}  // namespace pjrt::cpu
