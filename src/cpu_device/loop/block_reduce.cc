// SPDX-License-Identifier: Apache-2.0
//
// Blocks of values are computed as in a map, then folded into accumulators: reduce_rows.cc and
// reduce_columns.cc say how. Where a body would be called for a few accumulators at a time, outer
// dims become inner ones first: a call costs as much as it takes to fold a hundred of them.
//
// Each order of folding depends on the sizes alone, so that a result has the same bits however the
// work is split. Folds with a body (rather than a monoid) keep the order of the elements, as an
// associative function may demand.
#include "src/cpu_device/loop/block_reduce.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/loop/block_fold.h"
#include "src/cpu_device/loop/reduce_kernel.h"

namespace pjrt::cpu {
namespace {

// So many rows of one accumulator each are worth reading along columns.
constexpr int64_t kManyRows = 16;
// So many points of a column are worth a walk of their own.
constexpr int64_t kManyPoints = 256;

// Whether a choice from so many points of so many columns goes without its body: rows do, and many
// points of columns whose companions are numbers.
bool ChoosesWithoutBody(const LoopProgram& program, const LoopReduce& reduce, int64_t reduced,
                        int64_t inner) {
  if (!reduce.choice.has_value()) return false;
  const LoopValue companion = reduce.values[1 - reduce.choice->value];
  return inner == 1 ||
         (reduced >= kManyPoints && program.instrs[companion].kind == LoopInstr::kIota);
}

// Makes inner dims of the outer ones where a body would be called for a few accumulators at a time.
LoopProgram WithManyAccumulators(LoopProgram program) {
  const int reduced_begin = program.num_outer, reduced_end = reduced_begin + program.num_reduced;
  int64_t outer = 1, reduced = 1, inner = 1;
  for (int d = 0; d < static_cast<int>(program.dims.size()); ++d)
    (d < reduced_begin ? outer : d < reduced_end ? reduced : inner) *= program.dims[d];
  bool has_body = false, has_monoid = false;
  for (const LoopReduce& reduce : program.reduces) {
    has_monoid |= reduce.has_monoid;
    has_body |= !reduce.has_monoid && !ChoosesWithoutBody(program, reduce, reduced, inner);
  }
  // Monoids fold many points pairwise, which loses less of a sum.
  if (!has_body || (has_monoid && reduced > ReduceKernel::kFewPoints)) return program;
  if (outer < 2 || inner >= ReduceKernel::kFewAccumulators) return program;
  if (inner == 1 && (outer < kManyRows || reduced >= ReduceKernel::kLongRow)) return program;
  const auto rotate = [&](Dims* dims) {
    std::rotate(dims->begin(), dims->begin() + reduced_begin, dims->begin() + reduced_end);
  };
  rotate(&program.dims);
  ForEachView(&program, [&](LoopView* view) { rotate(&view->strides); });
  program.num_outer = 0;
  Simplify(&program);
  return program;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoopKernel>> MakeReduceKernel(LoopProgram program,
                                                             const Kernels& kernels,
                                                             const LoopEngine& engine) {
  program = WithManyAccumulators(std::move(program));
  std::vector<PrimitiveType> reads_narrow = SimplifyValues(*kernels.fold, &program);
  int64_t inner = 1;
  for (size_t d = program.num_outer + program.num_reduced; d < program.dims.size(); ++d)
    inner *= program.dims[d];
  const auto make = inner == 1 ? MakeRowReduction : MakeColumnReduction;
  std::unique_ptr<ReduceKernel> kernel = make(std::move(program), std::move(reads_narrow), kernels);
  PJRT_RETURN_IF_ERROR(kernel->Init(engine));
  return std::unique_ptr<LoopKernel>(std::move(kernel));
}

}  // namespace pjrt::cpu
