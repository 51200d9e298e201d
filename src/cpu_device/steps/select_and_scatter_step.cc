// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/select_and_scatter_step.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/copy_bytes.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kMaxLanes = 256;

// Elements at[i], for each lane i, to or from neighbours.
template <typename T>
void GatherLanes(char* to, const char* from, const int64_t* at, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[at[i]];
}
template <typename T>
void ScatterLanes(char* to, const char* from, const int64_t* at, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(to)[at[i]] = reinterpret_cast<const T*>(from)[i];
}
struct Bytes16 {
  uint64_t low, high;
};
using MoveLanesFn = void (*)(char*, const char*, const int64_t*, int64_t);
constexpr MoveLanesFn kGather[] = {GatherLanes<uint8_t>, GatherLanes<uint16_t>,
                                   GatherLanes<uint32_t>, GatherLanes<uint64_t>,
                                   GatherLanes<Bytes16>};
constexpr MoveLanesFn kScatter[] = {ScatterLanes<uint8_t>, ScatterLanes<uint16_t>,
                                    ScatterLanes<uint32_t>, ScatterLanes<uint64_t>,
                                    ScatterLanes<Bytes16>};

// Lanes one after the other, as some may go to the same element.
template <typename T>
void AddLanes(char* to, const char* from, const int64_t* at, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(to)[at[i]] += reinterpret_cast<const T*>(from)[i];
}

bool IsPlain(const SelectAndScatterParams::Dim& d) {
  return d.window == 1 && d.stride == 1 && d.padding_low == 0 && d.size == d.places;
}

}  // namespace

// Lanes [lane, lane + lanes) behind each of the places [first, first + count) along a line.
struct SelectAndScatterStep::Piece {
  int64_t first, count, lane, lanes;
};

// Working memory of one piece, and which of its places have seen an element of the operand.
struct SelectAndScatterStep::Scratch {
  char *best, *candidate, *loaded, *folded, *current, *bits, *keep, *body;
  int64_t* best_at;  // where the best of a lane stands, less the lane's own distance
  int64_t seen_begin = 0, seen_end = 0;
};

SelectAndScatterStep::SelectAndScatterStep(SelectAndScatterParams params) : p_(std::move(params)) {
  outer_ = p_.dims;
  while (!outer_.empty() && IsPlain(outer_.back())) {
    inner_ *= outer_.back().size;
    outer_.pop_back();
  }
  if (!outer_.empty()) {
    along_ = outer_.back();
    outer_.pop_back();
  }
  for (int64_t tap = 0; tap < along_.window; ++tap) {
    const int64_t x = tap - along_.padding_low;
    const int64_t begin = std::clamp<int64_t>(CeilDiv(-x, along_.stride), 0, along_.places);
    shown_.push_back(
        {begin, std::clamp(CeilDiv(along_.size - x, along_.stride), begin, along_.places)});
  }
  for (const SelectAndScatterParams::Dim& d : outer_) places_ *= d.places;
  const int64_t most = std::min({kMaxLanes, p_.select->max_block(), p_.scatter->max_block()});
  lanes_ = std::min(inner_, most);
  // Places of a line that lies within the padding may see elements in no order: one at a time.
  line_places_ = inner_ > most || along_.size < along_.stride
                     ? 1
                     : std::min(along_.places, std::max<int64_t>(most / inner_, 1));
  if (!outer_.empty()) {
    inner_places_ = places_ / std::max<int64_t>(outer_[0].places, 1);
    splits_outer_ = outer_[0].window <= outer_[0].stride;
  }
  body_bytes_ = AlignUp(std::max(p_.select->scratch_bytes(), p_.scatter->scratch_bytes()));
}

int64_t SelectAndScatterStep::scratch_bytes() const {
  const int64_t lanes = lanes_ * line_places_;
  return 6 * AlignUp(lanes * kMaxElementBytes) +
         AlignUp(lanes * static_cast<int64_t>(sizeof(int64_t))) + AlignUp(lanes) + body_bytes_;
}

double SelectAndScatterStep::cost_ns() const {
  double window = static_cast<double>(along_.window);
  for (const SelectAndScatterParams::Dim& d : outer_) window *= static_cast<double>(d.window);
  const double elements = static_cast<double>(places_ * along_.places * inner_);
  const double pieces = elements / static_cast<double>(lanes_ * line_places_);
  return 50 + pieces * (window * 30 + 40) + elements * (window / 4 + 1);
}

// The operand's elements that one element of the window sees, as the compute type holds them:
// those of places [begin, end) of the piece. `at`: of the piece's first lane.
const char* SelectAndScatterStep::Candidates(const char* operand, const Piece& piece, int64_t at,
                                             int64_t begin, int64_t end, const Scratch& s) const {
  const BlockKernels& k = *p_.kernels;
  const int size = ByteWidth(p_.type);
  const ConvertFn load = k.load[p_.type];
  const int64_t step = along_.stride * inner_;
  const int64_t n = (end - begin) * piece.lanes;
  const char* from = operand + (at + begin * step) * size;
  if (end - begin > 1 && step != piece.lanes) {
    char* const to = load != nullptr ? s.loaded : s.candidate;
    if (piece.lanes == 1) {
      k.gather_stride[SizeLog2(size)](to, from, step, n);
    } else {
      for (int64_t i = 0; i < end - begin; ++i)
        CopyBytes(to + i * piece.lanes * size, from + i * step * size, piece.lanes * size);
    }
    from = to;
  }
  if (load == nullptr) return from;
  load(s.candidate, from, n);
  return s.candidate;
}

// One element of the window, at `at` for the first lane, for places [begin, end).
void SelectAndScatterStep::Select(const char* operand, const Piece& piece, int64_t at,
                                  int64_t begin, int64_t end, Scratch* s) const {
  if (begin == end) return;
  const int compute = static_cast<int>(ComputeTypeOf(p_.type));
  const int64_t size = kCTypeSize[compute];
  const char* const values = Candidates(operand, piece, at, begin, end, *s);
  if (s->seen_begin == s->seen_end) s->seen_begin = s->seen_end = end;
  // Places in front of those that have seen something before take what they see.
  const int64_t old = std::clamp(s->seen_begin, begin, end);
  const int64_t fresh = (old - begin) * piece.lanes, first = begin * piece.lanes;
  std::memcpy(s->best + first * size, values, fresh * size);
  std::fill(s->best_at + first, s->best_at + first + fresh, at);
  if (const int64_t n = (end - old) * piece.lanes; n > 0) {
    char* const best = s->best + (first + fresh) * size;
    const char* const candidate = values + fresh * size;
    if (p_.select_op != nullptr) {
      p_.select_op(s->keep, best, candidate, nullptr, n);
    } else {
      const char* params[2] = {best, candidate};
      char* results[1] = {s->keep};
      p_.select->Call(params, results, n, s->body);
    }
    const auto* const choose = p_.kernels->op[static_cast<int>(BlockOp::kSelect)];
    choose[compute][static_cast<int>(Scalars::kNone)](best, s->keep, best, candidate, n);
    int64_t* const best_at = s->best_at + first + fresh;
    choose[static_cast<int>(CType::kS64)][static_cast<int>(Scalars::kThird)](best_at, s->keep,
                                                                             best_at, &at, n);
  }
  s->seen_begin = std::min(s->seen_begin, begin);
}

// n lanes that go to different elements.
void SelectAndScatterStep::Scatter(char* result, const char* source, const int64_t* at, int64_t n,
                                   const Scratch& s) const {
  const int size = ByteWidth(p_.type);
  const ConvertFn load = p_.kernels->load[p_.type], store = p_.kernels->store[p_.type];
  kGather[SizeLog2(size)](s.bits, result, at, n);
  const char* params[2] = {s.bits, source};
  if (load != nullptr) {
    load(s.current, s.bits, n);
    load(s.candidate, source, n);
    params[0] = s.current;
    params[1] = s.candidate;
  }
  if (p_.scatter_op != nullptr) {
    p_.scatter_op(s.folded, params[0], params[1], nullptr, n);
  } else {
    char* results[1] = {s.folded};
    p_.scatter->Call(params, results, n, s.body);
  }
  if (store != nullptr) store(s.bits, s.folded, n);
  kScatter[SizeLog2(size)](result, store != nullptr ? s.bits : s.folded, at, n);
}

// The places of `piece` on the line of outer place `number`, whose coordinates are `place`.
void SelectAndScatterStep::RunPiece(const RunContext& context, int64_t number,
                                    absl::Span<const int64_t> place, const Piece& piece,
                                    Scratch* s) const {
  const int size = ByteWidth(p_.type);
  const int rank = static_cast<int>(outer_.size());
  absl::InlinedVector<int64_t, 6> tap(rank, 0);
  s->seen_begin = s->seen_end = 0;
  for (bool more = true; more;) {
    int64_t line = 0;
    bool inside = true;
    for (int d = 0; d < rank; ++d) {
      const int64_t i = place[d] * outer_[d].stride + tap[d] - outer_[d].padding_low;
      inside &= i >= 0 && i < outer_[d].size;
      line = line * outer_[d].size + i;
    }
    for (int64_t t = 0; inside && t < along_.window; ++t) {
      const int64_t x = piece.first * along_.stride + t - along_.padding_low;
      Select(context.buffer(p_.operand), piece, (line * along_.size + x) * inner_ + piece.lane,
             std::clamp<int64_t>(shown_[t].begin - piece.first, 0, piece.count),
             std::clamp<int64_t>(shown_[t].end - piece.first, 0, piece.count), s);
    }
    more = false;
    for (int d = rank - 1; d >= 0 && !more; --d) {
      more = ++tap[d] < outer_[d].window;
      if (!more) tap[d] = 0;
    }
  }

  // Places that saw padding alone scatter nothing.
  const int64_t first = s->seen_begin * piece.lanes, end = s->seen_end * piece.lanes;
  for (int64_t i = s->seen_begin; i < s->seen_end; ++i) {
    for (int64_t l = 0; l < piece.lanes; ++l)
      s->best_at[i * piece.lanes + l] += i * along_.stride * inner_ + l;
  }
  char* const result = context.buffer(p_.result);
  const char* const source = context.buffer(p_.source) +
                             ((number * along_.places + piece.first) * inner_ + piece.lane) * size;
  if (along_.window <= along_.stride || piece.count == 1)
    return Scatter(result, source + first * size, s->best_at + first, end - first, *s);
  if (p_.scatter_adds && p_.type == F32)
    return AddLanes<float>(result, source + first * size, s->best_at + first, end - first);
  if (p_.scatter_adds && p_.type == F64)
    return AddLanes<double>(result, source + first * size, s->best_at + first, end - first);
  for (int64_t i = first; i < end; i += piece.lanes)
    Scatter(result, source + i * size, s->best_at + i, piece.lanes, *s);
}

void SelectAndScatterStep::RunPlaces(const RunContext& context, int64_t begin, int64_t end,
                                     char* memory) const {
  const int64_t lanes = lanes_ * line_places_;
  const auto take = [&](int64_t bytes) {
    char* const taken = memory;
    memory += AlignUp(bytes);
    return taken;
  };
  Scratch s;
  for (char** slot : {&s.best, &s.candidate, &s.loaded, &s.folded, &s.current, &s.bits})
    *slot = take(lanes * kMaxElementBytes);
  s.best_at = reinterpret_cast<int64_t*>(take(lanes * static_cast<int64_t>(sizeof(int64_t))));
  s.keep = take(lanes);
  s.body = take(body_bytes_);
  absl::InlinedVector<int64_t, 6> place(outer_.size(), 0);
  for (int64_t number = begin; number < end; ++number) {
    int64_t rest = number;
    for (size_t d = outer_.size(); d-- > 0;) {
      place[d] = rest % outer_[d].places;
      rest /= outer_[d].places;
    }
    for (int64_t first = 0; first < along_.places; first += line_places_) {
      for (int64_t lane = 0; lane < inner_; lane += lanes_) {
        const Piece piece = {first, std::min(line_places_, along_.places - first), lane,
                             std::min(lanes_, inner_ - lane)};
        RunPiece(context, number, place, piece, &s);
      }
    }
  }
}

absl::Status SelectAndScatterStep::Run(const RunContext& context) const {
  if (context.team == nullptr || !splits_outer_ || outer_[0].places <= 1) {
    RunPlaces(context, 0, places_, context.member_scratch(0));
    return absl::OkStatus();
  }
  context.team->ParallelFor(outer_[0].places, [&](int64_t unit, int member) {
    RunPlaces(context, unit * inner_places_, (unit + 1) * inner_places_,
              context.member_scratch(member));
  });
  return absl::OkStatus();
}

std::string SelectAndScatterStep::Describe() const {
  return absl::StrCat("select_and_scatter ", places_ * along_.places * inner_, " places, ",
                      lanes_ * line_places_, " at once");
}

}  // namespace pjrt::cpu
