// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/window_step.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Runs behind the last window at least this long are worth vector code on their own.
constexpr int64_t kLongRun = 128;
constexpr int64_t kPieceBytes = 32 * 1024;
constexpr int64_t kWindowUnitElements = 16 * 1024;
constexpr int64_t kMaxRows = 1 << 16;
// Elements between the ends of a window, and what moves one: beyond, sums of products would grow
// out of their types, and scratch memory out of proportion.
constexpr int64_t kMaxReach = 1 << 20, kMaxStep = int64_t{1} << 31;
// Rows that one call combines.
constexpr int64_t kCombinedRows = 16;

bool IsPlain(const WindowParams::Dim& d) {
  return d.window == 1 && d.stride == 1 && d.padding_low == 0 && d.base_dilation == 1 &&
         d.input_size == d.output_size;
}

}  // namespace

struct WindowStep::Scratch {
  const char** rows;  // a null one, for the initial value, then those that meet in a line
  char* init;         // one element in the compute type
  char* init_run;     // as many as a piece sees
  char* line;         // what a piece sees
  char* folded;       // lines combined, before they are spread
  char* results;      // before they are stored
  char* loaded;       // elements in the compute type
  char* between;      // for conversions
};

bool WindowStep::Suits(const WindowParams& p, const Kernels& kernels) {
  const int type = static_cast<int>(ComputeTypeOf(p.type));
  int64_t rows = 1;
  for (const WindowParams::Dim& d : p.dims) {
    if (d.window > kMaxRows || rows > kMaxRows / d.window) return false;
    rows *= d.window;
    if (d.window > 1 && d.window_dilation > kMaxReach / (d.window - 1)) return false;
    for (const int64_t far : {d.stride, d.padding_low, -d.padding_low, d.base_dilation}) {
      if (far > kMaxStep) return false;
    }
  }
  return kernels.window->fold_rows[static_cast<int>(p.monoid)][type] != nullptr;
}

WindowStep::WindowStep(const WindowParams& params, const Kernels& kernels)
    : p_(params),
      compute_(ComputeTypeOf(params.type)),
      size_(ByteWidth(params.type)),
      compute_size_(kCTypeSize[static_cast<int>(compute_)]),
      fold_rows_(
          kernels.window->fold_rows[static_cast<int>(params.monoid)][static_cast<int>(compute_)]),
      fold_window_(
          kernels.window->fold_window[static_cast<int>(params.monoid)][static_cast<int>(compute_)]),
      fill_(kernels.block->fill[SizeLog2(compute_size_)]),
      ordered_(IsOrdered(params.monoid, params.type)),
      load_(TypeChange::Load(*kernels.block, params.type, compute_)),
      store_(TypeChange::Store(*kernels.block, compute_, params.type)),
      round_(ordered_ ? kernels.block->round_to[params.type] : nullptr) {
  outer_ = p_.dims;
  while (!outer_.empty() && IsPlain(outer_.back())) {
    inner_ *= outer_.back().input_size;
    outer_.pop_back();
  }
  has_along_ = !outer_.empty() && inner_ < kLongRun;
  if (has_along_) {
    along_ = outer_.back();
    outer_.pop_back();
  }
  for (const WindowParams::Dim& d : outer_) {
    rows_ *= d.window;
    lines_ *= d.output_size;
  }
  places_ = has_along_ ? along_.output_size : inner_;
  const int64_t each = has_along_ ? inner_ * along_.stride : 1;
  piece_ = std::clamp<int64_t>(kPieceBytes / (each * compute_size_), 1, places_);
  pieces_ = CeilDiv(places_, piece_);
  span_ = has_along_
              ? ((piece_ - 1) * along_.stride + (along_.window - 1) * along_.window_dilation + 1) *
                    inner_
              : piece_;
  pieces_per_unit_ = std::max<int64_t>(1, kWindowUnitElements / (piece_ * each * rows_));
}

int64_t WindowStep::scratch_bytes() const {
  return AlignUp((rows_ + 1) * static_cast<int64_t>(sizeof(char*))) + 64 + 6 * AlignUp(span_ * 16);
}

double WindowStep::cost_ns() const {
  const double line = static_cast<double>(has_along_ ? along_.input_size * inner_ : inner_);
  const double results = static_cast<double>(places_ * (has_along_ ? inner_ : 1));
  return 100 + static_cast<double>(lines_) *
                   (30 + (line * static_cast<double>(rows_) +
                          results * static_cast<double>(has_along_ ? along_.window : 1)) /
                             8 * compute_size_ / 4);
}

std::string WindowStep::Describe() const {
  return absl::StrCat("window ", GetPrimitiveTypeInfo(p_.type).name, " ", lines_, " lines of ",
                      places_, " places, ", rows_, " x ", has_along_ ? along_.window : 1);
}

absl::Status WindowStep::Run(const RunContext& context) const {
  const int64_t all = lines_ * pieces_;
  const auto run = [&](int64_t unit, int member) {
    char* at = context.member_scratch(member);
    const auto take = [&](int64_t bytes) {
      char* const taken = at;
      at += AlignUp(bytes);
      return taken;
    };
    Scratch s;
    s.rows =
        reinterpret_cast<const char**>(take((rows_ + 1) * static_cast<int64_t>(sizeof(char*))));
    s.init = take(64);
    s.init_run = take(span_ * 16);
    s.line = take(span_ * 16);
    s.folded = take(span_ * 16);
    s.results = take(span_ * 16);
    s.loaded = take(span_ * 16);
    s.between = take(span_ * 16);
    const char* init = context.buffer(p_.init) + p_.init_offset * size_;
    if (load_.none()) {
      std::memcpy(s.init, init, size_);
    } else {
      load_.Run(s.init, init, 1, s.between);
    }
    fill_(s.init_run, s.init, span_);
    const int64_t end = std::min(all, (unit + 1) * pieces_per_unit_);
    for (int64_t i = unit * pieces_per_unit_; i < end; ++i) {
      const int64_t first = i % pieces_ * piece_;
      RunPiece(context, i / pieces_, first, std::min(piece_, places_ - first), s);
    }
  };
  const int64_t units = CeilDiv(all, pieces_per_unit_);
  if (context.team == nullptr || units <= 1) {
    for (int64_t unit = 0; unit < units; ++unit) run(unit, 0);
  } else {
    context.team->ParallelFor(units, run);
  }
  return absl::OkStatus();
}

void WindowStep::FindLines(const char* operand, int64_t line, const char** rows) const {
  const int rank = static_cast<int>(outer_.size());
  absl::InlinedVector<int64_t, 4> place(rank), tap(rank, 0);
  for (int d = rank - 1; d >= 0; --d) {
    place[d] = line % outer_[d].output_size * outer_[d].stride - outer_[d].padding_low;
    line /= outer_[d].output_size;
  }
  const int64_t line_bytes = (has_along_ ? along_.input_size : 1) * inner_ * size_;
  for (int64_t r = 0; r < rows_; ++r) {
    int64_t at = 0;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      const WindowParams::Dim& w = outer_[d];
      const int64_t dilated = place[d] + tap[d] * w.window_dilation;
      const int64_t i = w.base_dilation == 1 ? dilated : dilated / w.base_dilation;
      inside &= dilated >= 0 && i < w.input_size && i * w.base_dilation == dilated;
      at = at * w.input_size + i;
    }
    rows[r] = inside ? operand + at * line_bytes : nullptr;
    for (int d = rank - 1; d >= 0; --d) {
      if (++tap[d] < outer_[d].window) break;
      tap[d] = 0;
    }
  }
}

void WindowStep::Fold(const char* const* rows, int64_t row_count, int64_t skip, int64_t n, char* to,
                      const Scratch& s) const {
  if (n == 0) return;
  const void* batch[kCombinedRows];
  if (load_.none()) {
    for (int64_t r = 0; r < row_count;) {
      int64_t count = 0;
      if (r > 0) batch[count++] = to;
      for (; r < row_count && count < kCombinedRows; ++r)
        batch[count++] = rows[r] == nullptr ? s.init_run : rows[r] + skip * size_;
      fold_rows_(to, batch, count, n);
    }
    return;
  }
  for (int64_t r = 0; r < row_count; ++r) {
    char* const loaded = r == 0 ? to : s.loaded;
    if (rows[r] != nullptr) {
      load_.Run(loaded, rows[r] + skip * size_, n, s.between);
    } else {
      std::memcpy(loaded, s.init_run, n * compute_size_);
    }
    if (r == 0) continue;
    batch[0] = to;
    batch[1] = loaded;
    fold_rows_(to, batch, 2, n);
    if (round_ != nullptr) round_(to, to, n);
  }
}

void WindowStep::FoldWindows(char* to, const char* line, int64_t places, const char* init) const {
  const int64_t tap_stride = along_.window_dilation * inner_;
  const int64_t at_once = round_ == nullptr ? along_.window : 1;
  for (int64_t tap = 0; tap < along_.window; tap += at_once) {
    fold_window_(to, line + tap * tap_stride * compute_size_, places, along_.stride * inner_,
                 at_once, tap_stride, inner_, tap == 0 ? init : nullptr);
    if (round_ != nullptr) round_(to, to, places * inner_);
  }
}

void WindowStep::Store(char* to, char* from, int64_t n, const Scratch& s) const {
  if (!store_.none()) store_.Run(to, from, n, s.between);
}

const char* WindowStep::Line(const char* const* rows, int64_t row_count, int64_t begin,
                             int64_t span, const Scratch& s) const {
  const int64_t dilation = along_.base_dilation;
  const int64_t low = std::clamp<int64_t>(CeilDiv(begin, dilation), 0, along_.input_size);
  const int64_t high = std::clamp<int64_t>(CeilDiv(begin + span, dilation), low, along_.input_size);
  if (row_count == 1) {
    if (rows[0] == nullptr) return s.init_run;
    if (load_.none() && dilation == 1 && low == begin && high == begin + span)
      return rows[0] + low * inner_ * size_;
  }
  const int64_t bytes = inner_ * compute_size_;
  if (dilation > 1 || high - low < span) {
    // Padding has been combined over the rows too.
    const char* padding = s.init;
    if (row_count > 1) {
      const void* pair[2] = {s.loaded, s.init};
      std::memcpy(s.loaded, s.init, compute_size_);
      for (int64_t r = 1; r < row_count; ++r) fold_rows_(s.loaded, pair, 2, 1);
      padding = s.loaded;
    }
    if (dilation > 1) {
      fill_(s.line, padding, span * inner_);
    } else {
      const int64_t before = std::clamp<int64_t>(low - begin, 0, span);
      const int64_t behind = span - before - (high - low);
      fill_(s.line, padding, before * inner_);
      fill_(s.line + (span - behind) * bytes, padding, behind * inner_);
    }
  }
  if (dilation == 1) {
    Fold(rows, row_count, low * inner_, (high - low) * inner_,
         s.line + std::clamp<int64_t>(low - begin, 0, span) * bytes, s);
    return s.line;
  }
  Fold(rows, row_count, low * inner_, (high - low) * inner_, s.folded, s);
  for (int64_t i = low; i < high; ++i)
    std::memcpy(s.line + (i * dilation - begin) * bytes, s.folded + (i - low) * bytes, bytes);
  return s.line;
}

void WindowStep::RunPiece(const RunContext& context, int64_t line, int64_t first, int64_t count,
                          const Scratch& s) const {
  const char* const operand = context.buffer(p_.operand) + p_.operand_offset * size_;
  s.rows[0] = nullptr;
  const char** const rows = s.rows + 1;
  FindLines(operand, line, rows);
  const int64_t each = has_along_ ? inner_ : 1;
  char* const target = context.buffer(p_.result) + (line * places_ + first) * each * size_;
  // Results are made where they belong, or in scratch memory that is converted.
  char* const results = store_.none() ? target : s.results;
  if (!has_along_) {
    Fold(s.rows, rows_ + 1, first, count, results, s);
    return Store(target, results, count, s);
  }
  const int64_t begin = first * along_.stride - along_.padding_low;
  const int64_t span =
      (count - 1) * along_.stride + (along_.window - 1) * along_.window_dilation + 1;
  const int64_t at_once = ordered_ ? 1 : rows_;
  for (int64_t r = 0; r < rows_; r += at_once) {
    FoldWindows(results, Line(rows + r, at_once, begin, span, s), count, r == 0 ? s.init : nullptr);
  }
  Store(target, results, count * inner_, s);
}

}  // namespace pjrt::cpu
