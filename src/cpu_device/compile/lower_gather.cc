// SPDX-License-Identifier: Apache-2.0
//
// gather and scatter. Both walk an index space and look at a window of an array for each of its
// points.
#include <algorithm>
#include <limits>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/index_ops.h"
#include "src/cpu_device/run/index_walk.h"
#include "src/cpu_device/steps/gather_step.h"
#include "src/cpu_device/steps/scatter_step.h"

namespace pjrt::cpu {
namespace {

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

absl::StatusOr<ArrayView> InBuffer(Lowering& lowering, const ir::Value* value, Steps* steps) {
  const ArrayView& view = lowering.view(value);
  if (view.kind == ArrayView::kBuffer) return view;
  return lowering.Dense(view, steps);
}

// The index space: the dims of the indices but index_vector_dim, paired with the window array's
// dims that are no window dims and with the array's batching dims.
IndexSpace MakeSpace(const ArrayView& indices, int64_t index_vector_dim, const ArrayView& windows,
                     absl::Span<const int64_t> window_dims, const ArrayView& array,
                     absl::Span<const int64_t> array_batching,
                     absl::Span<const int64_t> indices_batching) {
  IndexSpace space;
  int64_t window_dim = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(indices.dims.size()); ++d) {
    if (d == index_vector_dim) continue;
    while (Contains(window_dims, window_dim)) ++window_dim;
    space.dims.push_back(indices.dims[d]);
    space.index_strides.push_back(indices.strides[d]);
    space.window_strides.push_back(windows.strides[window_dim++]);
    int64_t array_stride = 0;
    for (size_t k = 0; k < indices_batching.size(); ++k) {
      if (indices_batching[k] == d) array_stride = array.strides[array_batching[k]];
    }
    space.array_strides.push_back(array_stride);
  }
  return space;
}

int64_t VectorStride(const ArrayView& indices, int64_t index_vector_dim) {
  return index_vector_dim < static_cast<int64_t>(indices.dims.size())
             ? indices.strides[index_vector_dim]
             : 0;
}

// How the region combines a value and an update: with the types at hand, by the simplest means.
absl::Status MakeCombiner(Lowering& lowering, const ir::Block& body, ScatterParams* p) {
  const BlockKernels& kernels = *lowering.kernels().block;
  p->kernels = &kernels;
  p->index_kernels = lowering.kernels().index;
  const ir::Op* end = body.terminator();
  const size_t n = p->arrays.size();
  const PrimitiveType type = p->arrays[0].type;
  bool replaces = true;
  for (size_t i = 0; i < n; ++i) replaces &= end->operand(i) == body.argument(n + i);
  if (replaces) {
    p->mode = ScatterParams::kReplace;
    if (n == 1) p->rows = lowering.kernels().index->replace_rows[SizeLog2(ByteWidth(type))];
    return absl::OkStatus();
  }
  if (std::optional<Monoid> monoid = n == 1 ? MatchMonoid(body) : std::nullopt) {
    const int compute_type = static_cast<int>(ComputeTypeOf(type));
    p->op = kernels.op[static_cast<int>(MonoidOp(*monoid))][compute_type][0];
    if (p->op != nullptr) {
      p->mode = ScatterParams::kOp;
      const IndexKernels& index = *lowering.kernels().index;
      const int which = static_cast<int>(*monoid);
      if (type == BF16) {
        p->rows = index.combine_bf16_rows[which];
      } else if (type == F16) {
        p->rows = index.combine_f16_rows[which];
      } else if (kernels.load[type] == nullptr && kernels.store[type] == nullptr) {
        p->rows = index.combine_rows[which][compute_type];
      }
      return absl::OkStatus();
    }
  }
  p->mode = ScatterParams::kBody;
  PJRT_ASSIGN_OR_RETURN(const std::shared_ptr<const LoopProgram> program,
                        lowering.Body(body, lowering.options().keep_f32));
  PJRT_ASSIGN_OR_RETURN(p->body, lowering.engine().CompileBody(*program));
  return absl::OkStatus();
}

// Adds a dim behind others, as one with the last where both arrays walk the two as one.
void AddOuter(GatherParams::OuterDim dim, std::vector<GatherParams::OuterDim>* outer) {
  if (!outer->empty() && outer->back().array_stride == dim.array_stride * dim.size &&
      outer->back().result_stride == dim.result_stride * dim.size) {
    dim.size *= outer->back().size;
    outer->pop_back();
  }
  outer->push_back(dim);
}

}  // namespace

absl::Status LowerGather(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const std::optional<ir::GatherDimensionNumbers> numbers =
      ir::GatherDimensionNumbers::From(op.attr("dimension_numbers"));
  if (!numbers.has_value()) return UnsupportedOp(op, "its dimension_numbers cannot be read");
  const auto sizes = op.IntsAttr("slice_sizes");
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  PJRT_ASSIGN_OR_RETURN(const ArrayView array, InBuffer(lowering, op.operand(0), steps));
  PJRT_ASSIGN_OR_RETURN(const ArrayView indices, InBuffer(lowering, op.operand(1), steps));
  GatherParams p;
  p.element_size = ByteWidth(array.type);
  p.array = array.buffer;
  p.array_offset = array.offset * p.element_size;
  p.indices = indices.buffer;
  p.indices_offset = indices.offset * ByteWidth(indices.type);
  p.result = result.buffer;
  p.kernels = lowering.kernels().index;
  IndexSpace space =
      MakeSpace(indices, numbers->index_vector_dim, result, numbers->offset_dims, array,
                numbers->operand_batching_dims, numbers->start_indices_batching_dims);
  std::vector<IndexComponent> components;
  const int64_t stride = VectorStride(indices, numbers->index_vector_dim);
  for (size_t k = 0; k < numbers->start_index_map.size(); ++k) {
    const int64_t d = numbers->start_index_map[k];
    components.push_back(
        {static_cast<int64_t>(k) * stride, array.dims[d] - sizes[d], array.strides[d]});
  }
  int64_t points_stride = std::numeric_limits<int64_t>::max();
  for (size_t d = 0; d < space.dims.size(); ++d) {
    if (space.dims[d] > 1) points_stride = std::min(points_stride, space.window_strides[d]);
  }
  Dims window_dims, from_strides, to_strides;
  size_t offset_dim = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(array.dims.size()); ++d) {
    if (Contains(numbers->collapsed_slice_dims, d) || Contains(numbers->operand_batching_dims, d))
      continue;
    const int64_t to = result.strides[numbers->offset_dims[offset_dim++]];
    if (sizes[d] == 1) continue;
    if (to > points_stride) {
      AddOuter({sizes[d], array.strides[d], to}, &p.outer);
      continue;
    }
    window_dims.push_back(sizes[d]);
    from_strides.push_back(array.strides[d]);
    to_strides.push_back(to);
  }
  p.window =
      NdCopy(window_dims, from_strides, to_strides, p.element_size, *lowering.kernels().block);
  IndexWalk walk(std::move(space), std::move(components), indices.type, IndexWalk::kClamp,
                 *lowering.kernels().index);
  lowering.plan().Emit(steps, std::make_unique<GatherStep>(std::move(walk), std::move(p)),
                       {array.buffer, indices.buffer}, {result.buffer});
  return absl::OkStatus();
}

// The inputs are copied to the results unless they die here; updates are then combined into them.
absl::Status LowerScatter(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const std::optional<ir::ScatterDimensionNumbers> numbers =
      ir::ScatterDimensionNumbers::From(op.attr("scatter_dimension_numbers"));
  if (!numbers.has_value())
    return UnsupportedOp(op, "its scatter_dimension_numbers cannot be read");
  const size_t n = op.num_results();
  PJRT_RETURN_IF_ERROR(CheckFolds(op, *op.region()->block(), 0, n + 1));
  ScatterParams p;
  std::vector<BufferId> reads, writes;
  PJRT_ASSIGN_OR_RETURN(const ArrayView indices, InBuffer(lowering, op.operand(n), steps));
  std::vector<ArrayView> results, updates;
  for (size_t i = 0; i < n; ++i) {
    results.push_back(lowering.NewArray(op.result_type(i)));
    PJRT_ASSIGN_OR_RETURN(ArrayView update, InBuffer(lowering, op.operand(n + 1 + i), steps));
    const ArrayView& input = lowering.view(op.operand(i));
    // What is read here must not lie in memory that a result takes over.
    for (size_t k = 0; k < n; ++k) {
      const ArrayView& other = lowering.view(op.operand(k));
      if (other.kind == ArrayView::kBuffer && other.buffer == update.buffer) {
        const ArrayView saved = lowering.NewArray(update.type, update.dims);
        PJRT_RETURN_IF_ERROR(lowering.Copy(update, saved, steps));
        update = saved;
        break;
      }
    }
    if (results[i].ElementCount() > 0)
      PJRT_RETURN_IF_ERROR(lowering.Copy(input, results[i], steps));
    updates.push_back(update);
  }
  for (size_t i = 0; i < n; ++i) lowering.Bind(op.result(i), results[i]);
  if (results[0].ElementCount() == 0 || updates[0].ElementCount() == 0) return absl::OkStatus();
  const ArrayView& array = results[0];
  const ArrayView& update = updates[0];
  p.index_type = indices.type;
  p.indices = indices.buffer;
  p.indices_offset = indices.offset * ByteWidth(indices.type);
  IndexSpace space =
      MakeSpace(indices, numbers->index_vector_dim, update, numbers->update_window_dims, array,
                numbers->input_batching_dims, numbers->scatter_indices_batching_dims);
  std::vector<IndexComponent> components;
  const int64_t stride = VectorStride(indices, numbers->index_vector_dim);
  // Window dims of the array, in order, are the update's window dims.
  size_t window_dim = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(array.dims.size()); ++d) {
    const bool is_window =
        !Contains(numbers->inserted_window_dims, d) && !Contains(numbers->input_batching_dims, d);
    const int64_t update_dim = is_window ? numbers->update_window_dims[window_dim++] : -1;
    const auto mapped = std::find(numbers->scatter_dims_to_operand_dims.begin(),
                                  numbers->scatter_dims_to_operand_dims.end(), d);
    ScatterParams::Dim dim;
    dim.size = array.dims[d];
    dim.array_stride = array.strides[d];
    dim.window_size = is_window ? update.dims[update_dim] : 1;
    dim.window_stride = is_window ? update.strides[update_dim] : 0;
    dim.index_offset = mapped == numbers->scatter_dims_to_operand_dims.end()
                           ? -1
                           : (mapped - numbers->scatter_dims_to_operand_dims.begin()) * stride;
    if (dim.index_offset >= 0)
      components.push_back({dim.index_offset, dim.size - dim.window_size, dim.array_stride});
    if (Contains(numbers->input_batching_dims, d)) dim.size = -1;
    p.dims.push_back(dim);
  }
  for (size_t i = 0; i < n; ++i) {
    ScatterParams::Array a;
    a.type = results[i].type;
    a.result = results[i].buffer;
    a.update = updates[i].buffer;
    a.update_offset = updates[i].offset;
    if (updates[i].strides != update.strides) {
      PJRT_ASSIGN_OR_RETURN(const ArrayView dense, lowering.Dense(updates[i], steps));
      a.update = dense.buffer;
      a.update_offset = 0;
      if (dense.strides != update.strides)
        return UnsupportedOp(op, "its updates lie in memory in different orders");
    }
    p.arrays.push_back(a);
    reads.push_back(a.update);
    writes.push_back(a.result);
  }
  reads.push_back(indices.buffer);
  const ir::Block& body = *op.region()->block();
  PJRT_RETURN_IF_ERROR(MakeCombiner(lowering, body, &p));
  IndexWalk walk(std::move(space), std::move(components), indices.type, IndexWalk::kCheck,
                 *lowering.kernels().index);
  lowering.plan().Emit(steps, std::make_unique<ScatterStep>(std::move(walk), std::move(p)), reads,
                       writes);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
