// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/gather_step.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/index.h"
#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

constexpr double kUnitNs = 20000;

template <typename T>
void CopyOne(char* to, const char* from) {
  std::memcpy(to, from, sizeof(T));
}

}  // namespace

GatherStep::GatherStep(GatherParams params) : p_(std::move(params)) {
  points_ = p_.space.count();
  points_per_unit_ = std::max<int64_t>(
      1, static_cast<int64_t>(kUnitNs /
                              (cost_ns() / static_cast<double>(std::max<int64_t>(points_, 1)))));
}

double GatherStep::cost_ns() const {
  return 20 + static_cast<double>(points_) * (4 + 2 * static_cast<double>(p_.components.size()) +
                                              static_cast<double>(p_.window.bytes()) / 8);
}

void GatherStep::RunPoints(const RunContext& context, int64_t begin, int64_t end) const {
  const IndexSpace& space = p_.space;
  const char* array = context.buffer(p_.array) + p_.array_offset * p_.element_size;
  const char* indices = context.buffer(p_.indices);
  char* result = context.buffer(p_.result);
  // The coordinates of the first point; then an odometer.
  const int rank = static_cast<int>(space.dims.size());
  absl::InlinedVector<int64_t, 6> at(rank);
  int64_t index = p_.indices_offset, window = 0, base = 0, rest = begin;
  for (int d = rank - 1; d >= 0; --d) {
    at[d] = rest % space.dims[d];
    rest /= space.dims[d];
    index += at[d] * space.index_strides[d];
    window += at[d] * space.window_strides[d];
    base += at[d] * space.array_strides[d];
  }
  const bool single = p_.window.count() == 1;
  for (int64_t point = begin; point < end; ++point) {
    int64_t offset = base;
    for (const IndexComponent& c : p_.components) {
      offset += std::clamp<int64_t>(ReadIndex(p_.index_type, indices, index + c.index_offset), 0,
                                    c.limit) *
                c.stride;
    }
    const char* from = array + offset * p_.element_size;
    char* to = result + window * p_.element_size;
    if (!single) {
      p_.window.Run(from, to);
    } else if (p_.element_size == 4) {
      CopyOne<uint32_t>(to, from);
    } else if (p_.element_size == 8) {
      CopyOne<uint64_t>(to, from);
    } else {
      std::memcpy(to, from, p_.element_size);
    }
    for (int d = rank - 1; d >= 0; --d) {
      index += space.index_strides[d];
      window += space.window_strides[d];
      base += space.array_strides[d];
      if (++at[d] < space.dims[d]) break;
      index -= space.index_strides[d] * space.dims[d];
      window -= space.window_strides[d] * space.dims[d];
      base -= space.array_strides[d] * space.dims[d];
      at[d] = 0;
    }
  }
}

absl::Status GatherStep::Run(const RunContext& context) const {
  const int64_t units = (points_ + points_per_unit_ - 1) / points_per_unit_;
  if (units <= 1 || context.team == nullptr) {
    RunPoints(context, 0, points_);
    return absl::OkStatus();
  }
  context.team->ParallelFor(units, [&](int64_t unit, int) {
    RunPoints(context, unit * points_per_unit_, std::min(points_, (unit + 1) * points_per_unit_));
  });
  return absl::OkStatus();
}

// One window of one element.
bool GatherStep::EmitScalar(ScalarAssembler* assembler) const {
  const int size = p_.element_size;
  if (points_ != 1 || p_.window.count() != 1 || size > 8) return false;
  ScalarAssembler::Reg at = assembler->Integer(0);
  const int bytes = ByteWidth(p_.index_type);
  for (const IndexComponent& c : p_.components) {
    const ScalarAssembler::Reg index =
        assembler->Read(p_.indices, (p_.indices_offset + c.index_offset) * bytes, bytes);
    at = assembler->Index(p_.index_type, index, c.limit, c.stride * size, at);
  }
  assembler->Write(p_.result, 0, size,
                   assembler->ReadAt(p_.array, p_.array_offset * size, at, size));
  return true;
}

std::string GatherStep::Describe() const {
  return absl::StrCat("gather ", points_, " windows of ", p_.window.count(), " elements");
}

}  // namespace pjrt::cpu
