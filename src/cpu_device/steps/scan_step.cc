// SPDX-License-Identifier: Apache-2.0
//
// A block of lines is scanned at once, so that the fold is a vector operation whichever dim is
// scanned. Where lines are neighbours, row i of the result is row i - 1 of it and row i of the
// operand; of arrays too large for the caches the last row is kept apart. Where elements of a line
// are neighbours, a kernel turns squares of them in registers; of narrow types that it does not
// have, a stretch of each line is converted in a buffer before. Results too large for the caches
// are written past them: of lines that are whole cache lines by the kernel, where its vectors are,
// too; of short lines that follow each other, from a buffer, beside the next ones' computation; of
// others, a stretch of each line at a time from a buffer. For other types and for bodies, a tile of
// some elements of all lines is turned, scanned that way, and turned back. In other cases (several
// arrays, a body across lines) element i of all lines is gathered, folded into the running values,
// and written. The order of operations is the same in all: from the initial value on, one element
// after the other.
#include "src/cpu_device/steps/scan_step.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Lines a block when they lie apart: their cache lines (64 bytes each) then stay in L1 from one
// element to the next.
constexpr int64_t kStridedLines = 128;
// Lines a block when they are neighbours: fewer in arrays too large for the caches, down to rows
// that are still quick to read one by one, where that gives several threads something to do. In
// place, what is read of a row would wait for what was just written a page's multiple away: 4 MiB
// of 1024 columns took 0.5 ms by 256 lines, and 0.3 by 1024.
constexpr int64_t kContiguousLines = 1024;
constexpr int64_t kFewestBytes = 1024;
constexpr int64_t kFewBlocks = 4;
// What is written past the caches is read so many rows ahead: rows of a block lie apart, and no
// machine foresees the next. 256 MiB of 1024 columns took 36 ms in place and take 26.
constexpr int64_t kRowsAhead = 2;
// A tile: so many lines, so many elements of each.
constexpr int64_t kTileLines = 64;
constexpr int64_t kTileSteps = 64;
// So many bytes of each line are in the buffer at a time, and stand so far from those of the next.
constexpr int64_t kStretch = 1024;
constexpr int64_t kStretchStride = kStretch + 64;
// Lines that are shorter have no stretches.
constexpr int64_t kShortestStretched = 256;
// Lines that share cache lines and follow each other are streamed as one run, while the next ones
// are computed: a block of them has up to so many bytes, and so many are one unit of work. 256 MiB
// in rows of 300 bf16 took 58 ms when they were streamed afterwards, and take 41 (Emerald Rapids);
// in rows of 3001 they took 48 by stretches, and take 41.
constexpr int64_t kTogetherBytes = 192 * 1024;
constexpr int64_t kTogetherBlocks = 8;
// Lines a block where the kernel for lines has them: a vector's worth, the widest there is, or
// those that it folds side by side.
constexpr int64_t kVectorLines = 16;
constexpr int64_t kBf16Lines = 2 * kVectorLines, kF16Lines = 4 * kVectorLines;
// Where stretches come from memory, the lines of a block begin in pages of their own: a processor
// that reads ahead follows one line in a page. They begin at the same place of a cache line, so
// that what is done at their ends repeats.
constexpr int64_t kPage = 4096;

// Asks for memory that is read soon, after other lines, so that no machine foresees it.
void Prefetch(const char* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(from + at, 0, 2);
}

}  // namespace

ScanStep::ScanStep(ScanParams params) : p_(std::move(params)) {
  const PrimitiveType type = p_.arrays[0].type;
  const bool is_converted = p_.kernels->load[type] != nullptr || p_.kernels->store[type] != nullptr;
  const int64_t line_bytes = p_.length * ByteWidth(type);
  is_streamed_ = p_.outer * p_.inner * line_bytes >= kStreamBytes;
  const int64_t along = !is_converted ? kVectorLines : type == BF16 ? kBf16Lines : kF16Lines;
  // Few lines fill no vector: one by one, they are quicker to convert beforehand.
  const bool is_few = p_.inner < kVectorLines;
  if (!is_converted) {
    p_.scan_stored_rows = p_.scan_rows;
    p_.stored_op = p_.op;
  }
  if (p_.scan_stored_rows != nullptr && p_.scan_stride == 1 && !(is_converted && is_few)) {
    const bool is_long = line_bytes >= kShortestStretched;
    const bool fits_together = p_.line_stride == p_.length && along * line_bytes <= kTogetherBytes;
    method_ = is_few || !is_streamed_                   ? kAlongLines
              : is_long && line_bytes % kCacheLine == 0 ? kByStretches
              : fits_together                           ? kTogether
              : is_long                                 ? kByStretches
                                                        : kAlongLines;
  } else if (p_.scan_rows != nullptr && p_.scan_stride == 1 && p_.round == nullptr) {
    method_ = kByStretches;
    converts_ = true;
  } else if (p_.scan_stride == 1 && p_.arrays.size() == 1) {
    method_ = kTurned;
  } else if (p_.stored_op != nullptr && p_.line_stride == 1) {
    method_ = kRowByRow;
  }
  switch (method_) {
    case kAlongLines:
    case kTogether:
      lines_ = along;
      break;
    case kByStretches:
      lines_ = converts_ ? kVectorLines : along;
      break;
    case kTurned:
      lines_ = kTileLines;
      break;
    case kRowByRow:
    case kMoved:
      lines_ = p_.line_stride == 1 ? kContiguousLines : kStridedLines;
  }
  lines_ = std::min(p_.inner, lines_);
  if (p_.body != nullptr) lines_ = std::min(lines_, p_.body->max_block());
  lines_ = std::max<int64_t>(lines_, 1);
  if (method_ == kRowByRow && is_streamed_) {
    const int64_t parts = CeilDiv(kFewBlocks, std::max<int64_t>(p_.outer, 1));
    const int64_t fewest = kFewestBytes / ByteWidth(type);
    lines_ = std::min(lines_, std::max(fewest, AlignUp(CeilDiv(p_.inner, parts), kCacheLine)));
  }
  if (method_ == kTogether) {
    along_ = lines_;
    lines_ *= kTogetherBlocks;
  }
  blocks_per_outer_ = CeilDiv(p_.inner, lines_);
  if (method_ == kByStretches && is_streamed_ && line_bytes >= kShortestStretched)
    apart_ = AlignUp(CeilDiv(kPage, line_bytes), kCacheLine / std::gcd(kCacheLine, line_bytes));
  const int64_t body_bytes = p_.body != nullptr ? AlignUp(p_.body->scratch_bytes()) : 0;
  scratch_bytes_ =
      static_cast<int64_t>(p_.arrays.size()) * 4 * lines_ * kMaxElementBytes + body_bytes;
  // The running values, and two blocks of lines.
  if (method_ == kTogether) scratch_bytes_ = along_ * (kMaxElementBytes + 2 * line_bytes);
  // The stretches, and the running values.
  if (method_ == kByStretches) scratch_bytes_ = (kStretchStride + kMaxElementBytes) * lines_;
  // The tile in its compute type and in its memory type, the running values, and a body's result
  // and scratch, which begins at a multiple of 64 bytes.
  if (method_ == kTurned)
    scratch_bytes_ = (2 * kTileSteps + 4) * lines_ * kMaxElementBytes + body_bytes;
}

double ScanStep::cost_ns() const {
  return 50 + static_cast<double>(p_.outer * p_.inner) * static_cast<double>(p_.length) *
                  static_cast<double>(p_.arrays.size()) *
                  ((method_ != kMoved     ? 0.4
                    : p_.line_stride == 1 ? 0.8
                                          : 1.5) +
                   (p_.body != nullptr ? 2 : 0));
}

ScanStep::Lines ScanStep::LinesOf(int64_t block) const {
  const int64_t line = block % blocks_per_outer_ * lines_;
  return {std::min(lines_, p_.inner - line),
          block / blocks_per_outer_ * p_.outer_stride + line * p_.line_stride};
}

void ScanStep::RunBlock(const RunContext& context, int64_t block, char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const auto [n, base] = LinesOf(block);
  const size_t count = p_.arrays.size();
  // Running values, new values, results of a body, bits of memory types.
  const auto slot = [&](int kind, size_t i) {
    return scratch +
           (static_cast<int64_t>(kind) * static_cast<int64_t>(count) + static_cast<int64_t>(i)) *
               lines_ * kMaxElementBytes;
  };
  absl::InlinedVector<const char*, 8> params(2 * count);
  absl::InlinedVector<char*, 4> results(count);
  for (int64_t step = 0; step < p_.length; ++step) {
    const int64_t at = base + (p_.is_reverse ? p_.length - 1 - step : step) * p_.scan_stride;
    for (size_t i = 0; i < count; ++i) {
      const ScanParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const char* from = context.buffer(a.from) + (a.from_offset + at) * size;
      char* values = slot(1, i);
      ConvertFn load = k.load[a.type];
      if (load != nullptr && p_.line_stride == 1) {
        load(values, from, n);
      } else {
        k.gather_stride[SizeLog2(size)](load == nullptr ? values : slot(3, i), from, p_.line_stride,
                                        n);
        if (load != nullptr) load(values, slot(3, i), n);
      }
      if (step == 0) {
        // The initial value comes first.
        char one[16];
        const char* init = context.buffer(a.init) + a.init_offset * size;
        if (load != nullptr) {
          load(one, init, 1);
          init = one;
        }
        k.fill[SizeLog2(kCTypeSize[static_cast<int>(ComputeTypeOf(a.type))])](slot(0, i), init, n);
      }
      // What a body takes first comes before the other in the order of elements.
      params[p_.is_reverse ? count + i : i] = slot(0, i);
      params[p_.is_reverse ? i : count + i] = values;
      results[i] = slot(2, i);
    }
    if (p_.op != nullptr) {
      p_.op(slot(0, 0), slot(0, 0), slot(1, 0), nullptr, n);
      if (p_.round != nullptr) p_.round(slot(0, 0), slot(0, 0), n);
    } else {
      p_.body->Call(params.data(), results.data(), n,
                    scratch + static_cast<int64_t>(count) * 4 * lines_ * kMaxElementBytes);
      for (size_t i = 0; i < count; ++i)
        std::memcpy(slot(0, i), results[i],
                    n * kCTypeSize[static_cast<int>(ComputeTypeOf(p_.arrays[i].type))]);
    }
    for (size_t i = 0; i < count; ++i) {
      const ScanParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const char* values = slot(0, i);
      if (ConvertFn store = k.store[a.type]; store != nullptr) {
        if (p_.line_stride == 1) {
          store(context.buffer(a.to) + at * size, values, n);
          continue;
        }
        store(slot(3, i), values, n);
        values = slot(3, i);
      }
      k.scatter_stride[SizeLog2(size)](context.buffer(a.to) + at * size, values, p_.line_stride, n);
    }
  }
}

void ScanStep::FillInit(const RunContext& context, char* to, int64_t n, bool is_stored) const {
  const ScanParams::Array& a = p_.arrays[0];
  const char* init = context.buffer(a.init) + a.init_offset * ByteWidth(a.type);
  char one[16];
  int size = ByteWidth(a.type);
  if (ConvertFn load = p_.kernels->load[a.type]; load != nullptr && !is_stored) {
    load(one, init, 1);
    init = one;
    size = kCTypeSize[static_cast<int>(ComputeTypeOf(a.type))];
  }
  p_.kernels->fill[SizeLog2(size)](to, init, n);
}

void ScanStep::RunRowByRow(const RunContext& context, int64_t block, char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const ScanParams::Array& a = p_.arrays[0];
  const int64_t size = ByteWidth(a.type);
  const auto [n, base] = LinesOf(block);
  const char* from = context.buffer(a.from) + (a.from_offset + base) * size;
  char* to = context.buffer(a.to) + base * size;
  int64_t stride = p_.scan_stride * size;
  if (p_.is_reverse) {
    from += (p_.length - 1) * stride;
    to += (p_.length - 1) * stride;
    stride = -stride;
  }
  FillInit(context, scratch, n, /*is_stored=*/true);
  const char* before = scratch;
  for (int64_t step = 0; step < p_.length; ++step, from += stride, to += stride) {
    if (!is_streamed_) {
      p_.stored_op(to, before, from, nullptr, n);
      before = to;
      continue;
    }
    if (step + kRowsAhead < p_.length) Prefetch(from + kRowsAhead * stride, n * size);
    p_.stored_op(scratch, scratch, from, nullptr, n);
    k.stream_rows(to, 0, scratch, 0, n * size, 1);
  }
  if (is_streamed_) k.end_stream();
}

void ScanStep::RunAlongLines(const RunContext& context, int64_t block, char* scratch) const {
  const ScanParams::Array& a = p_.arrays[0];
  const int64_t size = ByteWidth(a.type);
  const auto [n, base] = LinesOf(block);
  FillInit(context, scratch, n);
  p_.scan_stored_rows(context.buffer(a.to) + base * size, p_.line_stride,
                      context.buffer(a.from) + (a.from_offset + base) * size, p_.line_stride,
                      scratch, n, p_.length, p_.is_reverse, nullptr);
}

void ScanStep::RunTogether(const RunContext& context, int64_t block, char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const ScanParams::Array& a = p_.arrays[0];
  const int64_t size = ByteWidth(a.type);
  const auto [n, base] = LinesOf(block);
  const char* from = context.buffer(a.from) + (a.from_offset + base) * size;
  char* to = context.buffer(a.to) + base * size;
  char* const running = scratch;
  char* results = scratch + along_ * kMaxElementBytes;
  char* others = results + along_ * p_.length * size;
  ScanStream stream;
  for (int64_t done = 0; done < n; done += along_) {
    const int64_t lines = std::min(along_, n - done), bytes = lines * p_.length * size;
    FillInit(context, running, lines);
    stream.next = from + bytes;
    p_.scan_stored_rows(results, p_.length, from, p_.length, running, lines, p_.length,
                        p_.is_reverse, &stream);
    if (stream.bytes > 0) k.stream_rows(stream.to, 0, stream.from, 0, stream.bytes, 1);
    stream.to = to;
    stream.from = results;
    stream.bytes = bytes;
    // Lent memory that does not begin a cache line.
    if (reinterpret_cast<uintptr_t>(to) % kCacheLine != 0) {
      k.stream_rows(to, 0, results, 0, bytes, 1);
      stream.bytes = 0;
    }
    from += bytes;
    to += bytes;
    std::swap(results, others);
  }
  if (stream.bytes > 0) k.stream_rows(stream.to, 0, stream.from, 0, stream.bytes, 1);
  k.end_stream();
}

void ScanStep::RunByStretches(const RunContext& context, int64_t block, char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const ScanParams::Array& a = p_.arrays[0];
  const int64_t size = ByteWidth(a.type);
  // In the buffer elements are as wide as the kernel has them.
  const int64_t wide = converts_ ? kCTypeSize[static_cast<int>(ComputeTypeOf(a.type))] : size;
  const ConvertFn load = converts_ ? k.load[a.type] : nullptr;
  const ConvertFn store = converts_ ? k.store[a.type] : nullptr;
  const ScanRowsFn scan = converts_ ? p_.scan_rows : p_.scan_stored_rows;
  const CopyRowsFn copy = is_streamed_ ? k.stream_rows : k.copy_rows;
  // The lines of apart_ blocks in turn, as far as there are so many; then a block has neighbours.
  const int64_t in_outer = block % blocks_per_outer_;
  const int64_t turn = in_outer / apart_ * apart_;
  const bool is_apart = (turn + apart_) * lines_ <= p_.inner;
  const int64_t line = is_apart ? turn * lines_ + in_outer % apart_ : in_outer * lines_;
  const int64_t line_stride = is_apart ? p_.line_stride * apart_ : p_.line_stride;
  const int64_t n = std::min(lines_, p_.inner - line);
  const int64_t base = block / blocks_per_outer_ * p_.outer_stride + line * p_.line_stride;
  const int64_t stride = line_stride * size;
  char* const stretch = scratch;
  char* const running = scratch + kStretchStride * lines_;
  FillInit(context, running, n);
  // Vectors that go to memory one by one do so while the next ones are computed: 256 MiB of f64
  // took 31 ms by the buffer and take 24, of f32 36 and 29 (Emerald Rapids). Memory that a caller
  // lends need not begin a cache line.
  const bool is_aligned =
      (reinterpret_cast<uintptr_t>(context.buffer(a.to)) | p_.length * size) % kCacheLine == 0;
  const bool streams_itself = is_streamed_ && p_.scans_stream && !converts_ && is_aligned;
  ScanStream stream;
  stream.results = streams_itself;
  const int64_t most = kStretch / wide;
  for (int64_t done = 0; done < p_.length; done += most) {
    const int64_t steps = std::min(most, p_.length - done);
    const int64_t next = std::min(most, p_.length - done - steps);
    const int64_t first = p_.is_reverse ? p_.length - done - steps : done;
    const char* const from = context.buffer(a.from) + (a.from_offset + base + first) * size;
    char* const to = context.buffer(a.to) + (base + first) * size;
    for (int64_t l = 0; load != nullptr && l < n; ++l) {
      const char* const row = from + l * stride;
      Prefetch(row + (p_.is_reverse ? -next : steps) * size, next * size);
      load(stretch + l * kStretchStride, row, steps);
    }
    if (streams_itself) {
      scan(to, line_stride, from, line_stride, running, n, steps, p_.is_reverse, &stream);
      continue;
    }
    const bool is_in_place = load != nullptr;
    scan(stretch, kStretchStride / wide, is_in_place ? stretch : from,
         is_in_place ? kStretchStride / wide : line_stride, running, n, steps, p_.is_reverse,
         nullptr);
    if (store == nullptr) {
      copy(to, stride, stretch, kStretchStride, steps * size, n);
      continue;
    }
    for (int64_t l = 0; l < n; ++l) store(to + l * stride, stretch + l * kStretchStride, steps);
  }
  if (is_streamed_) k.end_stream();
}

void ScanStep::RunTurned(const RunContext& context, int64_t block, char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const ScanParams::Array& a = p_.arrays[0];
  const int64_t size = ByteWidth(a.type);
  const int64_t wide = kCTypeSize[static_cast<int>(ComputeTypeOf(a.type))];
  const ConvertFn load = k.load[a.type], store = k.store[a.type];
  const auto [n, base] = LinesOf(block);
  const char* from = context.buffer(a.from) + (a.from_offset + base) * size;
  char* to = context.buffer(a.to) + base * size;
  const Transpose2dFn turn = k.transpose_2d[SizeLog2(static_cast<int>(size))];
  char* const tile = scratch;
  char* const narrow = load == nullptr ? tile : tile + kTileSteps * lines_ * kMaxElementBytes;
  char* const running = tile + 2 * kTileSteps * lines_ * kMaxElementBytes;
  FillInit(context, running, n);
  for (int64_t done = 0; done < p_.length; done += kTileSteps) {
    const int64_t steps = std::min(kTileSteps, p_.length - done);
    const int64_t first = p_.is_reverse ? p_.length - done - steps : done;
    turn(narrow, n, from + first * size, p_.line_stride, n, steps);
    if (load != nullptr) load(tile, narrow, n * steps);
    const char* before = running;
    for (int64_t step = 0; step < steps; ++step) {
      char* const row = tile + (p_.is_reverse ? steps - 1 - step : step) * n * wide;
      if (p_.op != nullptr) {
        p_.op(row, before, row, nullptr, n);
        if (p_.round != nullptr) p_.round(row, row, n);
      } else {
        const char* const params[] = {p_.is_reverse ? row : before, p_.is_reverse ? before : row};
        char* result = running + lines_ * kMaxElementBytes;
        p_.body->Call(params, &result, n, running + 4 * lines_ * kMaxElementBytes);
        std::memcpy(row, result, n * wide);
      }
      before = row;
    }
    std::memcpy(running, before, n * wide);
    if (store != nullptr) store(narrow, tile, n * steps);
    turn(to + first * size, p_.line_stride, narrow, n, steps, n);
  }
}

absl::Status ScanStep::Run(const RunContext& context) const {
  const int64_t blocks = p_.outer * blocks_per_outer_;
  const auto run = [&](int64_t block, int member) {
    char* const scratch = context.member_scratch(member);
    switch (method_) {
      case kRowByRow:
        return RunRowByRow(context, block, scratch);
      case kAlongLines:
        return RunAlongLines(context, block, scratch);
      case kTogether:
        return RunTogether(context, block, scratch);
      case kByStretches:
        return RunByStretches(context, block, scratch);
      case kTurned:
        return RunTurned(context, block, scratch);
      case kMoved:
        return RunBlock(context, block, scratch);
    }
  };
  if (context.team == nullptr || blocks <= 1) {
    for (int64_t block = 0; block < blocks; ++block) run(block, 0);
    return absl::OkStatus();
  }
  context.team->ParallelFor(blocks, run);
  return absl::OkStatus();
}

std::string ScanStep::Describe() const {
  return absl::StrCat("scan of ", p_.outer * p_.inner, " lines of ", p_.length);
}

}  // namespace pjrt::cpu
