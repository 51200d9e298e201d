// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/interleave_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// What a block gathers stays in the L1 cache.
constexpr int64_t kInterleaveBlockBytes = 16 * 1024;
// One thread takes some 20 us for so many bytes.
constexpr int64_t kInterleaveUnitBytes = 128 * 1024;

}  // namespace

InterleaveStep::InterleaveStep(std::vector<Column> columns, int64_t points, int element_size,
                               BufferId result, const BlockKernels& kernels)
    : columns_(std::move(columns)),
      points_(points),
      size_(element_size),
      block_(kInterleaveBlockBytes / (static_cast<int64_t>(columns_.size()) * element_size) / 64 *
             64),
      result_(result),
      kernels_(kernels) {
  block_ = std::clamp<int64_t>(block_, 64, std::max<int64_t>(points, 64));
}

int64_t InterleaveStep::scratch_bytes() const {
  return static_cast<int64_t>(columns_.size()) * block_ * size_;
}

double InterleaveStep::cost_ns() const {
  return 20 + static_cast<double>(points_) * static_cast<double>(columns_.size()) * 0.3;
}

// Columns become rows of the scratch memory, whose transpose the result is.
void InterleaveStep::RunBlock(const RunContext& context, int64_t from, int64_t n,
                              char* scratch) const {
  const int log2 = SizeLog2(static_cast<int>(size_));
  char* row = scratch;
  for (const Column& column : columns_) {
    const char* const array = context.buffer(column.buffer);
    char* to = row;
    column.walk.ForEachPiece(
        from, n,
        [&](int64_t offset, int64_t rows, int64_t row_stride, int64_t count, int64_t stride) {
          kernels_.move_box[log2](to, count, 1, array + offset * size_, row_stride, stride, rows,
                                  count);
          to += rows * count * size_;
        });
    row += block_ * size_;
  }
  const int64_t width = static_cast<int64_t>(columns_.size());
  kernels_.transpose_2d[log2](context.buffer(result_) + from * width * size_, width, scratch,
                              block_, width, n);
}

absl::Status InterleaveStep::Run(const RunContext& context) const {
  const int64_t blocks = CeilDiv(points_, block_);
  const int64_t per_unit = std::max<int64_t>(kInterleaveUnitBytes / scratch_bytes(), 1);
  const int64_t units = CeilDiv(blocks, per_unit);
  const auto run = [&](int64_t unit, int member) {
    const int64_t end = std::min(points_, (unit + 1) * per_unit * block_);
    for (int64_t from = unit * per_unit * block_; from < end; from += block_)
      RunBlock(context, from, std::min(block_, end - from), context.member_scratch(member));
  };
  if (units > 1 && context.team != nullptr) {
    context.team->ParallelFor(units, run);
  } else {
    for (int64_t unit = 0; unit < units; ++unit) run(unit, 0);
  }
  return absl::OkStatus();
}

std::string InterleaveStep::Describe() const {
  return absl::StrCat("interleave ", columns_.size(), " columns of ", points_, " elements of ",
                      size_, " bytes");
}

}  // namespace pjrt::cpu
