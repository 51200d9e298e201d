// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/gather_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

constexpr double kUnitNs = 20000;

}  // namespace

GatherStep::GatherStep(IndexWalk walk, GatherParams params)
    : walk_(std::move(walk)), p_(std::move(params)) {
  const int64_t points = std::max<int64_t>(walk_.num_points(), 1);
  points_per_unit_ = std::max<int64_t>(
      1, static_cast<int64_t>(kUnitNs / (cost_ns() / static_cast<double>(points))));
}

double GatherStep::cost_ns() const {
  const double point = p_.window.count() == 1 ? 1.5 : 2 + p_.window.cost_ns();
  return 20 + static_cast<double>(walk_.num_points()) * point;
}

void GatherStep::RunPoints(const RunContext& context, int64_t begin, int64_t end) const {
  const char* array = context.buffer(p_.array) + p_.array_offset;
  char* result = context.buffer(p_.result);
  const int64_t size = p_.element_size;
  const GatherPointsFn gather_points = p_.kernels->gather_points[SizeLog2(p_.element_size)];
  walk_.ForEachBlock(context.buffer(p_.indices) + p_.indices_offset, begin, end,
                     [&](const IndexWalk::Block& block) {
                       char* to = result + block.window * size;
                       const int64_t stride = block.window_stride;
                       if (p_.window.count() == 1) {
                         gather_points(to, stride, array, block.offsets, block.n);
                       } else if (p_.window.is_contiguous()) {
                         p_.kernels->gather_rows(to, stride * size, array, block.offsets, size,
                                                 p_.window.bytes(), block.n);
                       } else {
                         for (int64_t i = 0; i < block.n; ++i)
                           p_.window.Run(array + block.offsets[i] * size, to + i * stride * size);
                       }
                     });
}

absl::Status GatherStep::Run(const RunContext& context) const {
  const int64_t points = walk_.num_points();
  const int64_t units = (points + points_per_unit_ - 1) / points_per_unit_;
  if (units <= 1 || context.team == nullptr) {
    RunPoints(context, 0, points);
    return absl::OkStatus();
  }
  context.team->ParallelFor(units, [&](int64_t unit, int) {
    RunPoints(context, unit * points_per_unit_, std::min(points, (unit + 1) * points_per_unit_));
  });
  return absl::OkStatus();
}

// One window of one element.
bool GatherStep::EmitScalar(ScalarAssembler* assembler) const {
  const int size = p_.element_size;
  if (walk_.num_points() != 1 || p_.window.count() != 1 || size > 8) return false;
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
  return absl::StrCat("gather ", walk_.num_points(), " windows of ", p_.window.count(),
                      " elements");
}

}  // namespace pjrt::cpu
