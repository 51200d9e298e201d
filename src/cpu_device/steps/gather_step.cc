// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/gather_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

constexpr double kGatherUnitNs = 20000;
// Of several places of the outer dims so many points make a unit at most.
constexpr int64_t kPointsAtPlaces = 1024;
// Few points at several places are moved by one call of a kernel, up to so many: a block of the
// walk at least.
constexpr int64_t kExpanded = IndexWalk::kBlock;

// What the points of a block leave of the array at some places should still be at hand for those of
// the next block: they take so many bytes together.
constexpr int64_t kHeldBytes = 256 * 1024;

}  // namespace

GatherStep::GatherStep(IndexWalk walk, GatherParams params)
    : walk_(std::move(walk)), p_(std::move(params)) {
  for (const GatherParams::OuterDim& dim : p_.outer) places_ *= dim.size;
  const int64_t points = std::max<int64_t>(walk_.num_points(), 1);
  is_streamed_ = points * places_ * p_.window.bytes() >= kStreamBytes;
  const double one_ns = cost_ns() / static_cast<double>(points * places_);
  const int64_t per_unit = std::max<int64_t>(1, static_cast<int64_t>(kGatherUnitNs / one_ns));
  points_per_unit_ = places_ == 1 ? per_unit : std::min(points, kPointsAtPlaces);
  held_places_ = places_;
  if (places_ > 1 && points > IndexWalk::kBlock) {
    const int64_t place_bytes = p_.outer.back().array_stride * p_.element_size;
    held_places_ = std::max<int64_t>(kHeldBytes / std::max<int64_t>(place_bytes, 1), 1);
  }
  places_per_unit_ = places_ == 1 ? 1 : std::max<int64_t>(1, per_unit / points_per_unit_);
}

double GatherStep::cost_ns() const {
  const double point = p_.window.count() > 1 ? 2 + p_.window.cost_ns() : places_ > 1 ? 0.7 : 1.5;
  return 20 + static_cast<double>(walk_.num_points() * places_) * point;
}

// The windows, without outer dims, at n offsets.
void GatherStep::Move(const char* array, char* result, int64_t result_stride,
                      const int64_t* offsets, int64_t n) const {
  const int64_t size = p_.element_size;
  if (p_.window.count() == 1) {
    p_.kernels->gather_points[SizeLog2(p_.element_size)](result, result_stride, array, offsets, n);
  } else if (p_.window.is_contiguous()) {
    (is_streamed_ ? p_.kernels->stream_gather_rows : p_.kernels->gather_rows)(
        result, result_stride * size, array, offsets, size, p_.window.bytes(), n);
  } else {
    for (int64_t i = 0; i < n; ++i)
      p_.window.Run(array + offsets[i] * size, result + i * result_stride * size);
  }
}

void GatherStep::RunPoints(const RunContext& context, int64_t begin, int64_t end, int64_t first,
                           int64_t last) const {
  const char* const array = context.buffer(p_.array) + p_.array_offset;
  char* const result = context.buffer(p_.result);
  const int64_t size = p_.element_size;
  const char* const indices = context.buffer(p_.indices) + p_.indices_offset;
  if (p_.outer.empty()) {
    walk_.ForEachBlock(indices, begin, end, [&](const IndexWalk::Block& block) {
      Move(array, result + block.window * size, block.window_stride, block.offsets, block.n);
    });
    return;
  }
  const GatherParams::OuterDim& inner = p_.outer.back();
  int64_t expanded[kExpanded];
  walk_.ForEachBlock(indices, begin, end, [&](const IndexWalk::Block& block) {
    // Where the points of a place end, those of the next begin: they are as one longer row.
    const int64_t together = inner.result_stride == block.n * block.window_stride
                                 ? std::min(kExpanded / block.n, inner.size)
                                 : 1;
    const int64_t* offsets = block.offsets;
    if (together > 1) {
      for (int64_t r = 0; r < together; ++r) {
        for (int64_t i = 0; i < block.n; ++i)
          expanded[r * block.n + i] = block.offsets[i] + r * inner.array_stride;
      }
      offsets = expanded;
    }
    int64_t count;
    for (int64_t place = first; place < last; place += count) {
      const int64_t at = place % inner.size;
      count = std::min({together, inner.size - at, last - place});
      int64_t from = at * inner.array_stride, to = block.window + at * inner.result_stride;
      int64_t rest = place / inner.size;
      for (size_t d = p_.outer.size() - 1; d-- > 0 && rest > 0;) {
        const GatherParams::OuterDim& dim = p_.outer[d];
        from += rest % dim.size * dim.array_stride;
        to += rest % dim.size * dim.result_stride;
        rest /= dim.size;
      }
      Move(array + from * size, result + to * size, block.window_stride, offsets, count * block.n);
    }
  });
}

absl::Status GatherStep::Run(const RunContext& context) const {
  const int64_t points = walk_.num_points();
  const int64_t parts = CeilDiv(points, points_per_unit_);
  const int64_t units = parts * CeilDiv(places_, places_per_unit_);
  if (units <= 1 || context.team == nullptr || context.team->size() == 1) {
    for (int64_t first = 0; first < places_; first += held_places_)
      RunPoints(context, 0, points, first, std::min(places_, first + held_places_));
    return absl::OkStatus();
  }
  context.team->ParallelFor(units, [&](int64_t unit, int) {
    const int64_t begin = unit % parts * points_per_unit_;
    const int64_t first = unit / parts * places_per_unit_;
    RunPoints(context, begin, std::min(points, begin + points_per_unit_), first,
              std::min(places_, first + places_per_unit_));
  });
  return absl::OkStatus();
}

// One window of one element.
bool GatherStep::EmitScalar(ScalarAssembler* assembler) const {
  const int size = p_.element_size;
  if (walk_.num_points() != 1 || places_ != 1 || p_.window.count() != 1 || size > 8) return false;
  ScalarAssembler::Reg at = assembler->Integer(0);
  const PrimitiveType type = walk_.index_type();
  const int bytes = ByteWidth(type);
  for (const IndexComponent& c : walk_.components()) {
    const ScalarAssembler::Reg index =
        assembler->Read(p_.indices, p_.indices_offset + c.index_offset * bytes, bytes);
    at = assembler->Index(type, index, c.limit, c.stride * size, at);
  }
  assembler->Write(p_.result, 0, size, assembler->ReadAt(p_.array, p_.array_offset, at, size));
  return true;
}

std::string GatherStep::Describe() const {
  return absl::StrCat("gather ", walk_.num_points(), " windows of ", p_.window.count(), " elements",
                      places_ > 1 ? absl::StrCat(" at ", places_, " places") : "");
}

}  // namespace pjrt::cpu
