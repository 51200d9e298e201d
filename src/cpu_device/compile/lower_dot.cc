// SPDX-License-Identifier: Apache-2.0
//
// dot_general as matrix products: free dims of the left side are rows, those of the right side
// columns, contracted dims run along both. A group of dims that a view walks as one dim is one
// index of the matrix; an operand whose groups are not like that is copied first.
#include <algorithm>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/gemm_step.h"

namespace pjrt::cpu {
namespace {

struct Group {
  int64_t size = 1;
  int64_t stride = 0;
  bool is_one = true;  // the view walks the group as one dim
};

Group MergeDims(const ArrayView& view, absl::Span<const int64_t> dims) {
  Group group;
  int64_t expected = 0;
  bool first = true;
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t d = dims[i];
    group.size *= view.dims[d];
    if (view.dims[d] == 1) continue;
    if (first) {
      group.stride = view.strides[d];
    } else if (view.strides[d] != expected) {
      group.is_one = false;
    }
    first = false;
    expected = view.strides[d] * view.dims[d];
  }
  return group;
}

// One operand: its view with dims in the order batch, free, contracted.
struct Side {
  ArrayView view;
  ir::DimList batch, free, contracted;
  Group free_group, contracted_group;
};

absl::Status Prepare(Lowering& lowering, const ArrayView& operand, absl::Span<const int64_t> batch,
                     absl::Span<const int64_t> contracted, bool contracted_first, Side* side,
                     Steps* steps) {
  side->view = operand;
  side->batch.assign(batch.begin(), batch.end());
  side->contracted.assign(contracted.begin(), contracted.end());
  for (int64_t d = 0; d < static_cast<int64_t>(operand.dims.size()); ++d) {
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracted.begin(), contracted.end(), d) == contracted.end())
      side->free.push_back(d);
  }
  side->free_group = MergeDims(side->view, side->free);
  side->contracted_group = MergeDims(side->view, side->contracted);
  if (operand.kind == ArrayView::kBuffer && side->free_group.is_one &&
      side->contracted_group.is_one)
    return absl::OkStatus();
  // A dense copy in the order batch, free, contracted (or batch, contracted, free for the right
  // side).
  ir::DimList order = side->batch;
  const ir::DimList& second = contracted_first ? side->contracted : side->free;
  const ir::DimList& third = contracted_first ? side->free : side->contracted;
  order.insert(order.end(), second.begin(), second.end());
  order.insert(order.end(), third.begin(), third.end());
  const ArrayView permuted = TransposeView(operand, order);
  ArrayView dense = lowering.NewArray(operand.type, permuted.dims);
  PJRT_RETURN_IF_ERROR(lowering.Copy(permuted, dense, steps));
  side->view = dense;
  const auto renumber = [&](ir::DimList* dims) {
    for (int64_t& d : *dims) d = std::find(order.begin(), order.end(), d) - order.begin();
  };
  renumber(&side->batch);
  renumber(&side->free);
  renumber(&side->contracted);
  side->free_group = MergeDims(side->view, side->free);
  side->contracted_group = MergeDims(side->view, side->contracted);
  return absl::OkStatus();
}

}  // namespace

CType ProductType(PrimitiveType a, PrimitiveType b, PrimitiveType c) {
  const auto wider = [](PrimitiveType type) { return type == F64 || type == C128; };
  if (IsComplex(a) || IsComplex(b) || IsComplex(c))
    return wider(a) || wider(b) || wider(c) ? CType::kC128 : CType::kC64;
  if (IsFloating(a) || IsFloating(b) || IsFloating(c))
    return wider(a) || wider(b) || wider(c) ? CType::kF64 : CType::kF32;
  const bool wide = BitWidth(c) > 32;
  if (IsUnsignedInteger(c)) return wide ? CType::kU64 : CType::kU32;
  return wide ? CType::kS64 : CType::kS32;
}

absl::Status LowerDotGeneral(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const std::optional<ir::DotDimensionNumbers> dims =
      ir::DotDimensionNumbers::From(op.attr("dot_dimension_numbers"));
  if (!dims.has_value()) return UnsupportedOp(op, "its dot_dimension_numbers cannot be read");
  Side a, b;
  PJRT_RETURN_IF_ERROR(Prepare(lowering, lowering.view(op.operand(0)),
                               dims->lhs_batching_dimensions, dims->lhs_contracting_dimensions,
                               false, &a, steps));
  PJRT_RETURN_IF_ERROR(Prepare(lowering, lowering.view(op.operand(1)),
                               dims->rhs_batching_dimensions, dims->rhs_contracting_dimensions,
                               true, &b, steps));
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  // Whether any of the ands holds: their number is not 0.
  const ArrayView c = result.type == PRED ? lowering.NewArray(S64, result.dims) : result;

  GemmProblem problem;
  problem.a_type = a.view.type;
  problem.b_type = b.view.type;
  problem.c_type = c.type;
  problem.accumulate = ProductType(a.view.type, b.view.type, c.type);
  problem.m = a.free_group.size;
  problem.n = b.free_group.size;
  problem.k = a.contracted_group.size;
  problem.a_row_stride = a.free_group.stride;
  problem.a_col_stride = a.contracted_group.stride;
  problem.b_row_stride = b.contracted_group.stride;
  problem.b_col_stride = b.free_group.stride;
  problem.c_row_stride = problem.n;
  Dims batch_dims;
  BatchView at_a, at_b, at_c;
  at_a.buffer = a.view.buffer;
  at_a.offset = a.view.offset * ByteWidth(a.view.type);
  at_b.buffer = b.view.buffer;
  at_b.offset = b.view.offset * ByteWidth(b.view.type);
  at_c.buffer = c.buffer;
  for (size_t i = 0; i < a.batch.size(); ++i) {
    const int64_t size = a.view.dims[a.batch[i]];
    if (size == 1) continue;
    problem.batch *= size;
    batch_dims.push_back(size);
    at_a.strides.push_back(a.view.strides[a.batch[i]] * ByteWidth(a.view.type));
    at_b.strides.push_back(b.view.strides[b.batch[i]] * ByteWidth(b.view.type));
    at_c.strides.push_back(c.strides[i] * ByteWidth(c.type));
  }
  const Group a_batch = MergeDims(a.view, a.batch), b_batch = MergeDims(b.view, b.batch);
  problem.even_batch = a_batch.is_one && b_batch.is_one;
  problem.a_batch_stride = a_batch.stride;
  problem.b_batch_stride = b_batch.stride;
  problem.c_batch_stride = problem.m * problem.n;
  absl::StatusOr<std::unique_ptr<Gemm>> gemm = MakeGemm(problem, lowering.kernels());
  if (!gemm.ok()) return UnsupportedOp(op, gemm.status().message());
  const BufferId shared =
      (*gemm)->shared_bytes() > 0 ? lowering.plan().NewBuffer((*gemm)->shared_bytes()) : kNoBuffer;
  std::vector<BufferId> writes = {c.buffer};
  if (shared != kNoBuffer) writes.push_back(shared);
  auto step = std::make_unique<GemmStep>(problem, *std::move(gemm), std::move(batch_dims),
                                         std::move(at_a), std::move(at_b), std::move(at_c), shared);
  lowering.plan().Emit(steps, std::move(step), {a.view.buffer, b.view.buffer}, writes);
  if (result.type == PRED) return lowering.Convert(c, result, steps);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
