// SPDX-License-Identifier: Apache-2.0
//
// What to multiply for a product of a few elements is a matter of where they are: with the operands
// of some products in registers, a shuffle brings each lane of the results its factors, whatever
// the strides. The lanes of all shuffles follow from the problem.
#include "src/cpu_device/kernels/gemm_tiny.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// Groups of entries in a unit.
constexpr int64_t kUnitGroups = 1024;
// A product that takes more shuffles than these for an element is quicker by rows.
constexpr int64_t kMaxShuffles = 4;
// Fewer groups are not worth setting up the shuffles.
constexpr int64_t kMinGroups = 4;
constexpr double kNsPerShuffle = 0.4;

class TinyGemm final : public Gemm {
 public:
  // `each`: one entry, whose batch is what a group takes; `outer` of these batches.
  TinyGemm(const GemmProblem& each, int64_t outer, const GemmTinyGroup& group, int64_t vectors,
           const Kernels& kernels)
      : group_(group),
        fn_(kernels.gemm->tiny[static_cast<int>(each.accumulate)].fn),
        outer_(outer),
        entries_(each.batch),
        unit_entries_(group.entries * kUnitGroups),
        units_(CeilDiv(entries_, unit_entries_)),
        a_bytes_(group.a_step * ByteWidth(each.a_type)),
        b_bytes_(group.b_step * ByteWidth(each.b_type)),
        c_bytes_(group.c_step * ByteWidth(each.c_type)),
        cost_ns_(50 + static_cast<double>(outer * entries_ / group.entries + 1) *
                          static_cast<double>(2 * group.k * vectors + 8) * kNsPerShuffle),
        description_(absl::StrCat("gemm ", GetPrimitiveTypeInfo(each.a_type).name, " ",
                                  outer * entries_, "x", each.m, "x", each.n, "x", each.k, ", ",
                                  kernels.name, " tiny, ", group.entries, " at once")) {}

  int num_phases() const override { return 1; }
  int64_t num_units(int) const override { return outer_ * units_; }
  int64_t scratch_bytes() const override { return 0; }
  int64_t shared_bytes() const override { return 0; }
  double cost_ns() const override { return cost_ns_; }
  const char* description() const override { return description_.c_str(); }

  void Run(const Batch& batch, int, int64_t unit, char*, char*) const override {
    const int64_t outer = unit / units_, first = (unit - outer * units_) * unit_entries_;
    const Operands at = batch.operands(outer);
    fn_(at.c + first * c_bytes_, at.a + first * a_bytes_, at.b + first * b_bytes_, group_,
        std::min(unit_entries_, entries_ - first));
  }

 private:
  const GemmTinyGroup group_;
  const GemmTinyFn fn_;
  const int64_t outer_, entries_, unit_entries_;
  const int64_t units_;  // of an outer batch
  const int64_t a_bytes_, b_bytes_, c_bytes_;
  const double cost_ns_;
  const std::string description_;
};

// `each`: one entry and a batch of such, evenly apart.
std::unique_ptr<Gemm> Make(const GemmProblem& each, int64_t outer, const Kernels& kernels) {
  const GemmTinyKernel& kernel = kernels.gemm->tiny[static_cast<int>(each.accumulate)];
  const int64_t lanes = 2 * kernel.lanes;
  const int64_t strides[] = {each.a_row_stride, each.a_col_stride,   each.b_row_stride,
                             each.b_col_stride, each.a_batch_stride, each.b_batch_stride};
  if (each.k > GemmTinyGroup::kMaxK || each.m > lanes || each.n > lanes ||
      (each.m > 1 && each.c_row_stride != each.n) || each.c_batch_stride != each.m * each.n ||
      *std::min_element(std::begin(strides), std::end(strides)) < 0)
    return nullptr;
  // The first strides are of few elements: a large one does not fit, and a product of the two does
  // not overflow.
  if (*std::max_element(strides, strides + 4) > lanes) return nullptr;
  GemmTinyGroup group;
  group.k = static_cast<int>(each.k);
  group.a_step = each.a_batch_stride;
  group.b_step = each.b_batch_stride;
  group.c_step = each.m * each.n;
  group.a_count = (each.m - 1) * each.a_row_stride + (each.k - 1) * each.a_col_stride + 1;
  group.b_count = (each.k - 1) * each.b_row_stride + (each.n - 1) * each.b_col_stride + 1;
  group.c_count = group.c_step;
  if (std::max({group.a_count, group.b_count, group.c_count}) > lanes) return nullptr;
  // Entries behind the first: as many as all operands have room for.
  const auto room = [&](int64_t count, int64_t step) {
    return step == 0 ? lanes : (lanes - count) / step;
  };
  group.entries = static_cast<int>(
      1 + std::min({room(group.a_count, group.a_step), room(group.b_count, group.b_step),
                    room(group.c_count, group.c_step)}));
  // A second vector of results has to be worth its shuffles.
  const int64_t in_one = kernel.lanes / group.c_count;
  if (group.entries > in_one && 2 * group.entries <= 3 * in_one)
    group.entries = static_cast<int>(in_one);
  const int64_t vectors = group.entries * group.c_count > kernel.lanes ? 2 : 1;
  if (each.batch < kMinGroups * group.entries ||
      2 * each.k * vectors > kMaxShuffles * group.entries * group.c_count)
    return nullptr;
  for (int64_t p = 0; p < each.k; ++p) {
    for (int64_t lane = 0; lane < group.entries * group.c_count; ++lane) {
      const int64_t entry = lane / group.c_count, element = lane % group.c_count;
      const int64_t row = element / each.n, column = element % each.n;
      group.a_lane[p][lane] = static_cast<uint8_t>(entry * group.a_step + row * each.a_row_stride +
                                                   p * each.a_col_stride);
      group.b_lane[p][lane] = static_cast<uint8_t>(entry * group.b_step + p * each.b_row_stride +
                                                   column * each.b_col_stride);
    }
  }
  return std::make_unique<TinyGemm>(each, outer, group, vectors, kernels);
}

}  // namespace

std::unique_ptr<Gemm> MakeTinyGemm(const GemmProblem& problem, const Kernels& kernels) {
  const auto plain = [&](PrimitiveType type) {
    return kernels.block->load[type] == nullptr && ComputeTypeOf(type) == problem.accumulate;
  };
  if (kernels.gemm->tiny[static_cast<int>(problem.accumulate)].fn == nullptr ||
      problem.a_source != GemmProblem::kMemory || !plain(problem.a_type) ||
      !plain(problem.b_type) || !plain(problem.c_type) || problem.k == 0)
    return nullptr;
  if (problem.even_batch) {
    if (std::unique_ptr<Gemm> whole = Make(problem, 1, kernels)) return whole;
  }
  // Rows of A, each times the same matrix.
  GemmProblem row = problem;
  row.m = 1;
  row.a_row_stride = 0;
  row.batch = problem.m;
  row.a_batch_stride = problem.a_row_stride;
  row.b_batch_stride = 0;
  row.c_batch_stride = problem.c_row_stride;
  return Make(row, problem.batch, kernels);
}

}  // namespace pjrt::cpu
