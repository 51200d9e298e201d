// SPDX-License-Identifier: Apache-2.0
//
// dynamic_slice and dynamic_update_slice.
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/index.h"
#include "src/cpu_device/steps/dynamic_slice_step.h"
#include "src/cpu_device/steps/slice_pieces_step.h"

namespace pjrt::cpu {
namespace {

// The start indices are the op's operands from `first` on; the box has `sizes` and moves in an
// array of `dims` and `strides`.
absl::StatusOr<SliceStart> ReadStart(Lowering& lowering, const ir::Op& op, size_t first,
                                     const Dims& dims, const Dims& strides, const Dims& sizes,
                                     std::vector<BufferId>* reads, Steps* steps) {
  SliceStart start;
  for (size_t d = 0; d < dims.size(); ++d) {
    SliceStart::Index index;
    index.limit = dims[d] - sizes[d];
    index.stride = strides[d];
    ArrayView view = lowering.view(op.operand(first + d));
    index.type = view.type;
    if (view.kind == ArrayView::kSplat) {
      index.constant = ReadIndex(view.type, view.bits, 0);
    } else {
      if (view.kind == ArrayView::kIota) {
        PJRT_ASSIGN_OR_RETURN(view, lowering.Dense(view, steps));
      }
      index.buffer = view.buffer;
      index.offset = view.offset;
      reads->push_back(view.buffer);
    }
    start.indices.push_back(index);
  }
  return start;
}

// Whether the slice, of `array`, is read where it is instead of being copied: in a loop, from an
// array of outside, which keeps its memory and its values while the loop runs. Only what is
// contiguous there, and as aligned as a buffer of its own wherever it begins. Small ones may become
// part of a scalar program.
bool IsReadInPlace(const ir::Op& slice, const ArrayView& array) {
  constexpr int64_t kSmall = 1024;  // bytes
  const ir::Op* const loop = slice.block()->parent_op();
  if (loop == nullptr || !loop->Is(ir::OpCode::kWhile) ||
      slice.operand(0)->block() == slice.block())
    return false;
  const int64_t size = ByteWidth(array.type);
  const absl::Span<const int64_t> sizes = slice.result_type().dims();
  bool is_aligned = array.offset * size % kAlignment == 0;
  int64_t run = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] < array.dims[d]) is_aligned &= array.strides[d] * size % kAlignment == 0;
    if (sizes[d] == 1) continue;
    if (array.strides[d] != run) return false;
    run *= sizes[d];
  }
  return is_aligned && run * size >= kSmall;
}

absl::Status LowerSlicePieces(Lowering& lowering, const ir::Op& op, const ir::Op& concatenation,
                              Steps* steps) {
  const int64_t dim = concatenation.IntAttr("dimension");
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  const absl::Span<const int64_t> dims = concatenation.result_type().dims();
  Dims counted(dims.size(), 0);  // what a step along each dim counts for
  counted[dim] = 1;
  int64_t rows = 1, point_bytes = ByteWidth(result.type);
  for (int64_t d = 0; d < dim; ++d) rows *= dims[d];
  for (size_t d = static_cast<size_t>(dim) + 1; d < dims.size(); ++d) point_bytes *= dims[d];
  std::vector<BufferId> reads;
  PJRT_ASSIGN_OR_RETURN(SliceStart start, ReadStart(lowering, op, 1, Dims(dims.begin(), dims.end()),
                                                    counted, result.dims, &reads, steps));
  std::vector<SlicePiecesStep::Piece> pieces;
  for (size_t i = 0; i < concatenation.num_operands(); ++i) {
    const ArrayView& piece = lowering.view(concatenation.operand(i));
    pieces.push_back(
        {piece.buffer, piece.offset * ByteWidth(piece.type), piece.dims[dim] * point_bytes});
    reads.push_back(piece.buffer);
  }
  lowering.plan().Emit(
      steps,
      std::make_unique<SlicePiecesStep>(std::move(start), std::move(pieces), rows, point_bytes,
                                        result.dims[dim] * point_bytes, result.buffer,
                                        *lowering.kernels().block),
      reads, {result.buffer});
  return absl::OkStatus();
}

}  // namespace

const ir::Op* SlicedPieces(const Lowering& lowering, const ir::Op& slice) {
  constexpr int64_t kLarge = 4096;  // bytes; what has fewer may become part of a scalar program
  const ir::Op* const made = slice.operand(0)->defining_op();
  if (made == nullptr || !made->Is(ir::OpCode::kConcatenate) || !made->result()->HasOneUse() ||
      made->block() != slice.block())
    return nullptr;
  const absl::Span<const int64_t> dims = made->result_type().dims();
  const absl::Span<const int64_t> sizes = slice.result_type().dims();
  for (size_t d = 0; d < dims.size(); ++d) {
    if (static_cast<int64_t>(d) != made->IntAttr("dimension") && dims[d] != sizes[d])
      return nullptr;
  }
  if (slice.result_type().element_count() * ByteWidth(slice.result_type().primitive_type()) <
      kLarge)
    return nullptr;
  for (size_t i = 0; i < made->num_operands(); ++i) {
    if (!lowering.view(made->operand(i)).IsDense()) return nullptr;
  }
  return made;
}

absl::Status LowerDynamicSlice(Lowering& lowering, const ir::Op& op, Steps* steps) {
  if (const ir::Op* concatenation = SlicedPieces(lowering, op))
    return LowerSlicePieces(lowering, op, *concatenation, steps);
  ArrayView operand = lowering.view(op.operand(0));
  if (operand.kind != ArrayView::kBuffer) {
    PJRT_ASSIGN_OR_RETURN(operand, lowering.Dense(operand, steps));
  }
  std::vector<BufferId> reads = {operand.buffer};
  if (lowering.options().fuse && IsReadInPlace(op, operand)) {
    ArrayView part = operand;
    part.dims.assign(op.result_type().dims().begin(), op.result_type().dims().end());
    part.offset = 0;
    PJRT_ASSIGN_OR_RETURN(SliceStart start, ReadStart(lowering, op, 1, operand.dims,
                                                      operand.strides, part.dims, &reads, steps));
    const int size = ByteWidth(operand.type);
    part.buffer = lowering.plan().NewPart(operand.buffer, part.ElementCount() * size);
    lowering.plan().Emit(steps,
                         std::make_unique<FindSliceStep>(std::move(start), operand.buffer,
                                                         operand.offset, part.buffer, size),
                         reads, {part.buffer});
    lowering.Bind(op.result(), std::move(part));
    return absl::OkStatus();
  }
  const ArrayView result = lowering.PlaceFor(op.result());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  PJRT_ASSIGN_OR_RETURN(SliceStart start, ReadStart(lowering, op, 1, operand.dims, operand.strides,
                                                    result.dims, &reads, steps));
  const int size = ByteWidth(operand.type);
  lowering.plan().Emit(
      steps,
      std::make_unique<DynamicSliceStep>(
          std::move(start),
          NdCopy(result.dims, operand.strides, result.strides, size, *lowering.kernels().block),
          operand.buffer, operand.offset, result.buffer, result.offset, /*is_update=*/false, size),
      reads, {result.buffer});
  return absl::OkStatus();
}

// The operand is copied unless it dies here and its memory can be taken over; then the update is
// written into it.
absl::Status LowerDynamicUpdateSlice(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const ArrayView operand = lowering.view(op.operand(0));
  ArrayView update = lowering.view(op.operand(1));
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  if (update.kind != ArrayView::kBuffer) {
    PJRT_ASSIGN_OR_RETURN(update, lowering.Dense(update, steps));
  }
  // Views of the operand's own buffer must be saved before that is written.
  if (operand.kind == ArrayView::kBuffer && update.buffer == operand.buffer) {
    const ArrayView saved = lowering.NewArray(update.type, update.dims);
    PJRT_RETURN_IF_ERROR(lowering.Copy(update, saved, steps));
    update = saved;
  }
  PJRT_RETURN_IF_ERROR(lowering.Copy(operand, result, steps));
  if (update.ElementCount() == 0) return absl::OkStatus();
  std::vector<BufferId> reads = {update.buffer};
  PJRT_ASSIGN_OR_RETURN(SliceStart start, ReadStart(lowering, op, 2, result.dims, result.strides,
                                                    update.dims, &reads, steps));
  const int size = ByteWidth(result.type);
  lowering.plan().Emit(
      steps,
      std::make_unique<DynamicSliceStep>(
          std::move(start),
          NdCopy(update.dims, update.strides, result.strides, size, *lowering.kernels().block),
          update.buffer, update.offset, result.buffer, 0, /*is_update=*/true, size),
      reads, {result.buffer});
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
