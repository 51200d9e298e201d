// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/slice_pieces_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kSliceUnitBytes = 128 * 1024;

}  // namespace

absl::Status SlicePiecesStep::Run(const RunContext& context) const {
  const int64_t start = start_.Offset(context) * point_bytes_;
  char* const to = context.buffer(to_);
  // A unit is some rows of the result, or a part of one.
  const int64_t unit_rows = std::clamp<int64_t>(kSliceUnitBytes / window_, 1, rows_);
  const int64_t part =
      std::min(window_, AlignUp(CeilDiv(window_, CeilDiv(window_, kSliceUnitBytes))));
  const int64_t parts = CeilDiv(window_, part);
  const auto run = [&](int64_t unit, int) {
    const int64_t row = unit / parts * unit_rows;
    const int64_t rows = std::min(unit_rows, rows_ - row);
    const int64_t first = start + unit % parts * part;
    const int64_t end = std::min(first + part, start + window_);
    int64_t at = 0;  // of the piece in a row of all
    for (const Piece& piece : pieces_) {
      const int64_t low = std::max(first, at), high = std::min(end, at + piece.bytes);
      if (low < high) {
        copy_rows_(to + row * window_ + low - start, window_,
                   context.buffer(piece.buffer) + piece.offset + row * piece.bytes + low - at,
                   piece.bytes, high - low, rows);
      }
      at += piece.bytes;
    }
  };
  const int64_t units = CeilDiv(rows_, unit_rows) * parts;
  if (units > 1 && context.team != nullptr) {
    context.team->ParallelFor(units, run);
  } else {
    for (int64_t unit = 0; unit < units; ++unit) run(unit, 0);
  }
  return absl::OkStatus();
}

std::string SlicePiecesStep::Describe() const {
  return absl::StrCat("dynamic_slice of ", pieces_.size(), " pieces, ", rows_, " rows of ", window_,
                      " bytes");
}

}  // namespace pjrt::cpu
