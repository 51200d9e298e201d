// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/select_and_scatter_step.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kMaxLanes = 256;
constexpr int64_t kSlot = 16;

// Elements at + i, for each lane i, to or from neighbours.
template <typename T>
void GatherLanes(char* to, const char* from, const int64_t* at, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(from)[at[i] + i];
}
template <typename T>
void ScatterLanes(char* to, const char* from, const int64_t* at, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reinterpret_cast<T*>(to)[at[i] + i] = reinterpret_cast<const T*>(from)[i];
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

}  // namespace

SelectAndScatterStep::SelectAndScatterStep(SelectAndScatterParams params) : p_(std::move(params)) {
  const size_t rank = p_.dims.size();
  int64_t lane_places = 1;
  if (rank > 0) {
    const SelectAndScatterParams::Dim& last = p_.dims.back();
    if (last.window == 1 && last.stride == 1 && last.padding_low == 0) lane_places = last.places;
  }
  lanes_ = std::min({lane_places, kMaxLanes, p_.select->max_block(), p_.scatter->max_block()});
  lane_groups_ = (lane_places + lanes_ - 1) / lanes_;
  for (size_t d = 0; d < rank; ++d)
    places_ *= d + 1 == rank && lane_places > 1 ? 1 : p_.dims[d].places;
  if (rank > 1) {
    inner_places_ = places_ / std::max<int64_t>(p_.dims[0].places, 1);
    splits_outer_ = p_.dims[0].window <= p_.dims[0].stride;
  }
  // Best values and candidates, a predicate, where the best stand, and bits of the memory type.
  scratch_bytes_ =
      lanes_ * (5 * kSlot + 1 + static_cast<int64_t>(sizeof(int64_t))) + 128 +
      (std::max(p_.select->scratch_bytes(), p_.scatter->scratch_bytes()) + 63) / 64 * 64;
}

double SelectAndScatterStep::cost_ns() const {
  double window = 1;
  for (const SelectAndScatterParams::Dim& dim : p_.dims) window *= static_cast<double>(dim.window);
  return 50 + static_cast<double>(places_ * lane_groups_) *
                  (window * (40 + static_cast<double>(lanes_)) + 40 * static_cast<double>(lanes_));
}

void SelectAndScatterStep::RunPlaces(const RunContext& context, int64_t begin, int64_t end,
                                     char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const int size = ByteWidth(p_.type);
  const MoveLanesFn gather = kGather[SizeLog2(size)], scatter = kScatter[SizeLog2(size)];
  const auto* const choose = k.op[static_cast<int>(BlockOp::kSelect)];
  const BlockFn choose_value =
      choose[static_cast<int>(ComputeTypeOf(p_.type))][static_cast<int>(Scalars::kNone)];
  const BlockFn choose_place =
      choose[static_cast<int>(CType::kS64)][static_cast<int>(Scalars::kThird)];
  const ConvertFn load = k.load[p_.type];
  const ConvertFn store = k.store[p_.type];
  const int rank = static_cast<int>(p_.dims.size());
  const char* operand = context.buffer(p_.operand);
  const char* source = context.buffer(p_.source);
  char* result = context.buffer(p_.result);
  char* const best = scratch;
  char* const candidate = best + lanes_ * kSlot;
  char* const folded = candidate + lanes_ * kSlot;
  char* const current = folded + lanes_ * kSlot;
  char* const bits = current + lanes_ * kSlot;
  int64_t* const best_at = reinterpret_cast<int64_t*>(bits + lanes_ * kSlot);
  char* const keep = reinterpret_cast<char*>(best_at + lanes_);
  char* const body_scratch =
      scratch +
      (scratch_bytes_ -
       (std::max(p_.select->scratch_bytes(), p_.scatter->scratch_bytes()) + 63) / 64 * 64) /
          64 * 64;
  const bool has_lanes = lanes_ > 1 || lane_groups_ > 1;
  const int place_rank = has_lanes ? rank - 1 : rank;
  absl::InlinedVector<int64_t, 6> place(rank, 0), tap(rank, 0);
  for (int64_t number = begin; number < end; ++number) {
    int64_t rest = number;
    for (int d = place_rank - 1; d >= 0; --d) {
      place[d] = rest % p_.dims[d].places;
      rest /= p_.dims[d].places;
    }
    for (int64_t group = 0; group < lane_groups_; ++group) {
      const int64_t lane = group * lanes_;
      const int64_t n = has_lanes ? std::min(lanes_, p_.dims.back().places - lane) : 1;
      bool first = true;
      std::fill(tap.begin(), tap.end(), 0);
      while (true) {
        int64_t at = 0;
        bool inside = true;
        for (int d = 0; d < rank && inside; ++d) {
          const SelectAndScatterParams::Dim& dim = p_.dims[d];
          const int64_t i =
              d < place_rank ? place[d] * dim.stride + tap[d] - dim.padding_low : lane;
          inside = i >= 0 && i < dim.size;
          at = at * dim.size + i;
        }
        if (inside) {
          const char* from = operand + at * size;
          char* values = first ? best : candidate;
          if (load != nullptr) {
            load(values, from, n);
          } else {
            std::memcpy(values, from, n * size);
          }
          if (first) {
            std::fill(best_at, best_at + n, at);
          } else {
            if (p_.select_op != nullptr) {
              p_.select_op(keep, best, candidate, nullptr, n);
            } else {
              const char* params[2] = {best, candidate};
              char* results[1] = {keep};
              p_.select->Call(params, results, n, body_scratch);
            }
            choose_value(best, keep, best, candidate, n);
            choose_place(best_at, keep, best_at, &at, n);
          }
          first = false;
        }
        int d = place_rank - 1;
        for (; d >= 0; --d) {
          if (++tap[d] < p_.dims[d].window) break;
          tap[d] = 0;
        }
        if (d < 0) break;
      }
      if (first) continue;  // the window saw padding only
      int64_t source_at = 0;
      for (int d = 0; d < rank; ++d)
        source_at = source_at * p_.dims[d].places + (d < place_rank ? place[d] : lane);
      // Lanes go to different elements: their windows have one element in the lanes' dim.
      gather(bits, result, best_at, n);
      const char* params[2];
      if (load != nullptr) {
        load(current, bits, n);
        load(candidate, source + source_at * size, n);
        params[0] = current;
        params[1] = candidate;
      } else {
        params[0] = bits;
        params[1] = source + source_at * size;
      }
      if (p_.scatter_op != nullptr) {
        p_.scatter_op(folded, params[0], params[1], nullptr, n);
      } else {
        char* results[1] = {folded};
        p_.scatter->Call(params, results, n, body_scratch);
      }
      const char* values = folded;
      if (store != nullptr) {
        store(bits, folded, n);
        values = bits;
      }
      scatter(result, values, best_at, n);
    }
  }
}

absl::Status SelectAndScatterStep::Run(const RunContext& context) const {
  if (context.team == nullptr || !splits_outer_ || p_.dims[0].places <= 1) {
    RunPlaces(context, 0, places_, context.member_scratch(0));
    return absl::OkStatus();
  }
  context.team->ParallelFor(p_.dims[0].places, [&](int64_t unit, int member) {
    RunPlaces(context, unit * inner_places_, (unit + 1) * inner_places_,
              context.member_scratch(member));
  });
  return absl::OkStatus();
}

std::string SelectAndScatterStep::Describe() const {
  return absl::StrCat("select_and_scatter ", places_, " x ", lanes_, " places");
}

}  // namespace pjrt::cpu
