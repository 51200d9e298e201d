// SPDX-License-Identifier: Apache-2.0
//
// Ops that change how an array is seen, or copy pieces of arrays into a new one.
#include <algorithm>

#include "src/core/base/padding.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/constants.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/bitcast_step.h"
#include "src/cpu_device/steps/interleave_step.h"

namespace pjrt::cpu {

absl::Status LowerConstant(Lowering& lowering, const ir::Op& op, Steps*) {
  PJRT_ASSIGN_OR_RETURN(ArrayView view, ConstantView(op, &lowering.plan()));
  lowering.Bind(op.result(), std::move(view));
  return absl::OkStatus();
}

absl::Status LowerIota(Lowering& lowering, const ir::Op& op, Steps*) {
  const ir::Type type = op.result_type();
  lowering.Bind(op.result(),
                IotaView(type.primitive_type(), type.dims(), op.IntAttr("iota_dimension")));
  return absl::OkStatus();
}

absl::Status LowerReshape(Lowering& lowering, const ir::Op& op, Steps* steps) {
  ArrayView operand = lowering.view(op.operand(0));
  std::optional<ArrayView> view = ReshapeView(operand, op.result_type().dims());
  if (!view.has_value()) {
    PJRT_ASSIGN_OR_RETURN(operand, lowering.Dense(operand, steps));
    view = ReshapeView(operand, op.result_type().dims());
  }
  lowering.Bind(op.result(), *std::move(view));
  return absl::OkStatus();
}

absl::Status LowerBroadcastInDim(Lowering& lowering, const ir::Op& op, Steps*) {
  lowering.Bind(op.result(), BroadcastView(lowering.view(op.operand(0)), op.result_type().dims(),
                                           op.IntsAttr("broadcast_dimensions")));
  return absl::OkStatus();
}

// A program runs on one device, which is the first of its kind.
absl::Status LowerDeviceNumber(Lowering& lowering, const ir::Op& op, Steps*) {
  const char zero[16] = {};
  lowering.Bind(op.result(), SplatView(op.result_type().primitive_type(), {}, zero));
  return absl::OkStatus();
}

absl::Status LowerTranspose(Lowering& lowering, const ir::Op& op, Steps*) {
  lowering.Bind(op.result(),
                TransposeView(lowering.view(op.operand(0)), op.IntsAttr("permutation")));
  return absl::OkStatus();
}

absl::Status LowerSlice(Lowering& lowering, const ir::Op& op, Steps*) {
  lowering.Bind(op.result(), SliceView(lowering.view(op.operand(0)), op.IntsAttr("start_indices"),
                                       op.IntsAttr("limit_indices"), op.IntsAttr("strides")));
  return absl::OkStatus();
}

absl::Status LowerReverse(Lowering& lowering, const ir::Op& op, Steps*) {
  lowering.Bind(op.result(), ReverseView(lowering.view(op.operand(0)), op.IntsAttr("dimensions")));
  return absl::OkStatus();
}

namespace {

// The elements of a row of a concatenation, of all dims from the concatenated one on.
int64_t RowWidth(const ir::Op& concatenation) {
  const absl::Span<const int64_t> dims = concatenation.result_type().dims();
  int64_t width = 1;
  for (size_t d = concatenation.IntAttr("dimension"); d < dims.size(); ++d) width *= dims[d];
  return width;
}

}  // namespace

// Where rows are a few elements of many arrays.
bool InterleavesColumns(const ir::Op& concatenation) {
  constexpr int64_t kMaxWidth = 16, kMaxPiece = 2, kMinPoints = 64;
  const int64_t width = RowWidth(concatenation);
  const int64_t operands = static_cast<int64_t>(concatenation.num_operands());
  return width >= 2 && width <= kMaxWidth && width <= kMaxPiece * operands &&
         concatenation.result_type().element_count() >= kMinPoints * width &&
         ByteWidth(concatenation.result_type().primitive_type()) <= 8;
}

namespace {

// The columns of a concatenation that interleaves them; empty where an operand is no array.
std::vector<InterleaveStep::Column> ColumnsOf(Lowering& lowering, const ir::Op& op) {
  const absl::Span<const int64_t> dims = op.result_type().dims();
  const size_t dim = static_cast<size_t>(op.IntAttr("dimension"));
  const int64_t rows = op.result_type().element_count() / RowWidth(op);
  const Dims points(dims.begin(), dims.begin() + static_cast<int64_t>(dim));
  std::vector<InterleaveStep::Column> columns;
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const ArrayView& operand = lowering.view(op.operand(i));
    if (operand.kind != ArrayView::kBuffer) return {};
    LoopView view;
    view.strides.assign(operand.strides.begin(),
                        operand.strides.begin() + static_cast<int64_t>(dim));
    const int64_t count = operand.ElementCount() / rows;
    for (int64_t column = 0; column < count; ++column) {
      view.offset = operand.offset;
      int64_t rest = column;
      for (size_t d = dims.size(); d-- > dim;) {
        view.offset += rest % operand.dims[d] * operand.strides[d];
        rest /= operand.dims[d];
      }
      columns.push_back({operand.buffer, ViewWalk(view, points)});
    }
  }
  return columns;
}

// True when `view`, of the dims of `place`, shows the same memory.
bool IsAt(const ArrayView& view, const ArrayView& place) {
  if (view.kind != ArrayView::kBuffer || view.buffer != place.buffer || view.offset != place.offset)
    return false;
  for (size_t d = 0; d < place.dims.size(); ++d) {
    if (place.dims[d] != 1 && view.strides[d] != place.strides[d]) return false;
  }
  return true;
}

}  // namespace

absl::Status LowerConcatenate(Lowering& lowering, const ir::Op& op, Steps* steps) {
  if (const ir::Use* use = op.result()->first_use(); use != nullptr &&
                                                     use->owner()->Is(ir::OpCode::kDynamicSlice) &&
                                                     SlicedPieces(lowering, *use->owner()) == &op)
    return absl::OkStatus();
  if (InterleavesColumns(op)) {
    if (std::vector<InterleaveStep::Column> columns = ColumnsOf(lowering, op); !columns.empty()) {
      const ArrayView result = lowering.NewArray(op.result_type());
      const int64_t points = result.ElementCount() / static_cast<int64_t>(columns.size());
      std::vector<BufferId> reads;
      for (const InterleaveStep::Column& column : columns) reads.push_back(column.buffer);
      lowering.plan().Emit(
          steps,
          std::make_unique<InterleaveStep>(std::move(columns), points, ByteWidth(result.type),
                                           result.buffer, *lowering.kernels().block),
          reads, {result.buffer});
      lowering.Bind(op.result(), result);
      return absl::OkStatus();
    }
  }
  const size_t dim = static_cast<size_t>(op.IntAttr("dimension"));
  const ArrayView result = lowering.PlaceFor(op.result());
  ArrayView place = result;
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const ArrayView& operand = lowering.view(op.operand(i));
    place.dims = operand.dims;
    if (operand.ElementCount() > 0 && !IsAt(operand, place))
      PJRT_RETURN_IF_ERROR(lowering.Copy(operand, place, steps));
    place.offset += operand.dims[dim] * result.strides[dim];
  }
  lowering.Bind(op.result(), result);
  return absl::OkStatus();
}

absl::Status LowerPad(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const ArrayView result = lowering.PlaceFor(op.result());
  lowering.Bind(op.result(), result);
  return lowering.Pad(lowering.view(op.operand(0)), lowering.view(op.operand(1)),
                      op.IntsAttr("edge_padding_low"), op.IntsAttr("interior_padding"), result,
                      steps);
}

// The padding value everywhere, then the operand's elements at their places; negative padding cuts
// elements off.
absl::Status Lowering::Pad(ArrayView operand, const ArrayView& value, absl::Span<const int64_t> low,
                           absl::Span<const int64_t> interior, const ArrayView& result,
                           Steps* steps) {
  if (result.ElementCount() == 0) return absl::OkStatus();
  const auto fill = [&](const ArrayView& place) {
    return Copy(BroadcastView(value, place.dims, {}), place, steps);
  };
  constexpr int64_t kFewBytes = 16 * 1024;  // not worth several steps
  bool fills_all = result.ElementCount() * ByteWidth(result.type) <= kFewBytes;
  ArrayView place = result;
  Dims first;
  for (size_t d = 0; d < result.dims.size(); ++d) {
    const PaddedPlaces at = PlacesOfPadded(operand.dims[d], low[d], interior[d], result.dims[d]);
    const int64_t count = at.end - at.begin;
    if (count == 0) return fill(result);
    fills_all |= at.step > 1;
    first.push_back(at.first);
    operand.offset += at.begin * operand.strides[d];
    operand.dims[d] = count;
    place.offset += at.first * result.strides[d];
    place.dims[d] = count;
    place.strides[d] = result.strides[d] * at.step;
  }
  if (fills_all) {
    PJRT_RETURN_IF_ERROR(fill(result));
    return Copy(operand, place, steps);
  }
  // What lies before and behind the operand's elements, dim by dim; of the dims before that, only
  // theirs.
  ArrayView around = result;
  for (size_t d = 0; d < result.dims.size(); ++d) {
    ArrayView part = around;
    part.dims[d] = first[d];
    if (part.dims[d] > 0) PJRT_RETURN_IF_ERROR(fill(part));
    part.offset += (first[d] + place.dims[d]) * result.strides[d];
    part.dims[d] = result.dims[d] - first[d] - place.dims[d];
    if (part.dims[d] > 0) PJRT_RETURN_IF_ERROR(fill(part));
    around.offset += first[d] * result.strides[d];
    around.dims[d] = place.dims[d];
  }
  return Copy(operand, place, steps);
}

absl::Status LowerTuple(Lowering& lowering, const ir::Op& op, Steps*) {
  std::vector<const ir::Value*> parts;
  for (size_t i = 0; i < op.num_operands(); ++i) parts.push_back(op.operand(i));
  lowering.BindTuple(op.result(), std::move(parts));
  return absl::OkStatus();
}

absl::Status LowerGetTupleElement(Lowering& lowering, const ir::Op& op, Steps*) {
  const std::vector<const ir::Value*>& parts = lowering.tuple_parts(op.operand(0));
  const int64_t index = op.IntAttr("index");
  if (index < 0 || index >= static_cast<int64_t>(parts.size()))
    return UnsupportedOp(op, "the tuple's parts are not known");
  lowering.BindSame(op.result(), parts[index]);
  return absl::OkStatus();
}

absl::Status LowerIdentity(Lowering& lowering, const ir::Op& op, Steps*) {
  for (size_t i = 0; i < op.num_results(); ++i) lowering.BindSame(op.result(i), op.operand(i));
  return absl::OkStatus();
}

absl::Status LowerToken(Lowering& lowering, const ir::Op& op, Steps*) {
  lowering.BindToken(op.result());
  return absl::OkStatus();
}

// The same bytes read as another type: elements of other widths are parts, or groups, of the
// operand's, along a last dim that one side lacks.
absl::Status LowerBitcastConvert(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const PrimitiveType from = op.operand_type(0).primitive_type();
  const PrimitiveType to = op.result_type().primitive_type();
  if (from == to) {
    lowering.BindSame(op.result(), op.operand(0));
    return absl::OkStatus();
  }
  PJRT_ASSIGN_OR_RETURN(const ArrayView operand,
                        lowering.Dense(lowering.view(op.operand(0)), steps));
  if (BitcastBits(from) < 8 || BitcastBits(to) < 8) {
    const ArrayView result = lowering.NewArray(op.result_type());
    lowering.Bind(op.result(), result);
    lowering.plan().Emit(steps,
                         std::make_unique<BitcastStep>(
                             from, to, std::min(operand.ElementCount(), result.ElementCount()),
                             operand.buffer, result.buffer),
                         {operand.buffer}, {result.buffer});
    return absl::OkStatus();
  }
  lowering.Bind(op.result(), DenseView(operand.buffer, to, op.result_type().dims()));
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
