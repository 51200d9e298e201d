// SPDX-License-Identifier: Apache-2.0
//
// reduce_window and select_and_scatter. A window that slides over an array is itself a view of it,
// with a dim for the window's place and one for the place within; so the op is a reduction of that
// view, over an operand that is first padded with the initial value. A window that grows with its
// place is a cumulative reduction.
#include <algorithm>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/scan_step.h"
#include "src/cpu_device/steps/select_and_scatter_step.h"
#include "src/cpu_device/steps/window_step.h"

namespace pjrt::cpu {
namespace {

// A reverse running sum that goes from the end on rounds otherwise than one that folds each suffix
// from its beginning, as the definition does. So many elements are folded that way, where digits
// that cancel show the difference; of longer lines it would take too long.
constexpr int64_t kExactSuffix = 32;

struct Combiner {
  std::optional<Monoid> monoid;
  std::shared_ptr<const LoopProgram> body;
};

absl::StatusOr<Combiner> MakeCombiner(Lowering& lowering, const ir::Block& block, size_t operands,
                                      bool keep_f32) {
  Combiner combiner;
  if (operands == 1) combiner.monoid = MatchMonoid(block);
  if (!combiner.monoid.has_value()) {
    PJRT_ASSIGN_OR_RETURN(combiner.body, lowering.Body(block, keep_f32));
  }
  return combiner;
}

// The dim that a cumulative reduction runs along, when the op is one: the window covers a whole dim
// and all its padding is on one side.
std::optional<int> CumulativeDim(const ir::WindowAttrs& window, const Dims& dims,
                                 bool* is_reverse) {
  int found = -1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const ir::WindowDimension& w = window.dimensions[d];
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return std::nullopt;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    if (found >= 0 || w.size != dims[d] || w.size < 4) return std::nullopt;
    if (w.padding_low == w.size - 1 && w.padding_high == 0) {
      *is_reverse = false;
    } else if (w.padding_low == 0 && w.padding_high == w.size - 1) {
      *is_reverse = true;
    } else {
      return std::nullopt;
    }
    found = static_cast<int>(d);
  }
  if (found < 0) return std::nullopt;
  return found;
}

absl::Status EmitScan(Lowering& lowering, const ir::Op& op, int dim, bool is_reverse,
                      const Combiner& combiner, Steps* steps) {
  const size_t n = op.num_results();
  ScanParams p;
  p.kernels = lowering.kernels().block;
  p.is_reverse = is_reverse;
  std::vector<BufferId> reads, writes;
  for (size_t i = 0; i < n; ++i) {
    PJRT_ASSIGN_OR_RETURN(const ArrayView from,
                          lowering.Dense(lowering.view(op.operand(i)), steps));
    PJRT_ASSIGN_OR_RETURN(const ArrayView init,
                          lowering.ScalarInBuffer(lowering.view(op.operand(n + i)), steps));
    const ArrayView to = lowering.NewArray(op.result_type(i));
    p.arrays.push_back({from.type, from.buffer, to.buffer, init.buffer, 0, init.offset});
    reads.push_back(from.buffer);
    reads.push_back(init.buffer);
    writes.push_back(to.buffer);
    if (i == 0) {
      p.length = from.dims[dim];
      p.scan_stride = from.strides[dim];
      // Behind the scanned dim lines are neighbours; when there are none, lines are the dims before
      // it.
      int64_t before = 1, behind = 1;
      for (int d = 0; d < static_cast<int>(from.dims.size()); ++d)
        (d < dim ? before : d > dim ? behind : p.length) *= d == dim ? 1 : from.dims[d];
      if (behind > 1) {
        p.outer = before;
        p.outer_stride = p.length * behind;
        p.inner = behind;
        p.line_stride = 1;
      } else {
        p.inner = before;
        p.line_stride = p.length;
      }
    }
    lowering.Bind(op.result(i), to);
  }
  if (combiner.monoid.has_value()) {
    const int type = static_cast<int>(ComputeTypeOf(p.arrays[0].type));
    p.op = p.kernels->op[static_cast<int>(MonoidOp(*combiner.monoid))][type][0];
    const WindowKernels& window = *lowering.kernels().window;
    const int monoid = static_cast<int>(*combiner.monoid);
    p.scan_rows = window.scan_rows[monoid][type];
    p.scans_stream = window.scans_stream;
    if (p.arrays[0].type == BF16 || p.arrays[0].type == F16) {
      const bool is_bf16 = p.arrays[0].type == BF16;
      p.scan_stored_rows = (is_bf16 ? window.scan_bf16_rows : window.scan_f16_rows)[monoid];
      p.stored_op = (is_bf16 ? window.fold_bf16 : window.fold_f16)[monoid];
    }
    if (p.op == nullptr) return UnsupportedOp(op, "no kernel for its reduction in this type");
    if (IsOrdered(*combiner.monoid, p.arrays[0].type))
      p.round = p.kernels->round_to[p.arrays[0].type];
  } else {
    PJRT_ASSIGN_OR_RETURN(p.body, lowering.engine().CompileBody(*combiner.body));
  }
  lowering.plan().Emit(steps, std::make_unique<ScanStep>(std::move(p)), reads, writes);
  return absl::OkStatus();
}

// The kernel of a body that is one comparison of its parameters, in their order and not the total
// order of floats.
BlockFn ComparisonOf(const ir::Block& block, CType type, const BlockKernels& kernels) {
  const ir::Op* op = block.front();
  const ir::Op* end = block.terminator();
  if (op == nullptr || op->next() != end || op->opcode() != ir::OpCode::kCompare ||
      op->operand(0) != block.argument(0) || op->operand(1) != block.argument(1) ||
      end->operand(0) != op->result() ||
      ir::EnumFrom<ir::ComparisonType>(op->attr("compare_type")) == ir::ComparisonType::kTotalOrder)
    return nullptr;
  using D = ir::ComparisonDirection;
  const std::optional<D> direction = ir::EnumFrom<D>(op->attr("comparison_direction"));
  if (direction != D::kGe && direction != D::kGt && direction != D::kLe && direction != D::kLt)
    return nullptr;
  const BlockOp compare = *direction == D::kGe   ? BlockOp::kCompareGe
                          : *direction == D::kGt ? BlockOp::kCompareGt
                          : *direction == D::kLe ? BlockOp::kCompareLe
                                                 : BlockOp::kCompareLt;
  return kernels.op[static_cast<int>(compare)][static_cast<int>(type)][0];
}

// One operand, reduced by a known operation. False when that has no kernel for the type.
absl::StatusOr<bool> EmitWindow(Lowering& lowering, const ir::Op& op, const ir::WindowAttrs& window,
                                Monoid monoid, Steps* steps) {
  WindowParams p;
  p.type = op.result_type().primitive_type();
  p.monoid = monoid;
  ArrayView operand = lowering.view(op.operand(0));
  if (operand.type != p.type) return false;
  // What a broadcast repeats along a dim without a window is the same for all of it: the windows of
  // a constant, as an average counts its terms, are computed once.
  Dims dims(op.result_type().dims().begin(), op.result_type().dims().end());
  for (size_t d = 0; d < dims.size(); ++d) {
    const ir::WindowDimension& w = window.dimensions[d];
    const bool has_window = w.size != 1 || w.stride != 1 || w.padding_low != 0 ||
                            w.padding_high != 0 || w.base_dilation != 1;
    const bool repeats = operand.kind == ArrayView::kSplat || operand.strides[d] == 0;
    if (!has_window && repeats && dims[d] > 1) dims[d] = operand.dims[d] = 1;
    p.dims.push_back({operand.dims[d], dims[d], w.size, w.stride, w.padding_low, w.base_dilation,
                      w.window_dilation});
  }
  if (!WindowStep::Suits(p, lowering.kernels())) return false;
  const ArrayView result = lowering.NewArray(p.type, dims);
  ArrayView bound = result;
  for (size_t d = 0; d < dims.size(); ++d) {
    bound.dims[d] = op.result_type().dim(static_cast<int>(d));
    if (bound.dims[d] != dims[d]) bound.strides[d] = 0;
  }
  lowering.Bind(op.result(), bound);
  if (result.ElementCount() == 0) return true;
  if (!operand.IsDense()) {
    PJRT_ASSIGN_OR_RETURN(operand, lowering.Dense(operand, steps));
  }
  PJRT_ASSIGN_OR_RETURN(const ArrayView init,
                        lowering.ScalarInBuffer(lowering.view(op.operand(1)), steps));
  p.operand = operand.buffer;
  p.operand_offset = operand.offset;
  p.init = init.buffer;
  p.init_offset = init.offset;
  p.result = result.buffer;
  lowering.plan().Emit(steps, std::make_unique<WindowStep>(p, lowering.kernels()),
                       {p.operand, p.init}, {p.result});
  return true;
}

// The operand with its padding and dilation, as an array that windows are views of.
absl::StatusOr<ArrayView> PadForWindow(Lowering& lowering, const ir::Op& op,
                                       const ArrayView& operand, const ArrayView& value,
                                       const ir::WindowAttrs& window, Steps* steps) {
  bool plain = true;
  Dims dims;
  Dims low, interior;
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    const ir::WindowDimension& w = window.dimensions[d];
    plain &= w.padding_low == 0 && w.padding_high == 0 && w.base_dilation == 1;
    dims.push_back(std::max<int64_t>(w.PaddedSize(operand.dims[d]), 0));
    low.push_back(w.padding_low);
    interior.push_back(w.base_dilation - 1);
  }
  if (plain) {
    if (operand.kind == ArrayView::kBuffer) return operand;
    return lowering.Dense(operand, steps);
  }
  PJRT_RETURN_IF_ERROR(CheckElements(dims, op));
  const ArrayView padded = lowering.NewArray(operand.type, dims);
  PJRT_RETURN_IF_ERROR(lowering.Pad(operand, value, low, interior, padded, steps));
  return padded;
}

}  // namespace

absl::Status LowerReduceWindow(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const size_t n = op.num_results();
  const std::optional<ir::WindowAttrs> window = ir::WindowAttrs::From(op);
  if (!window.has_value()) return UnsupportedOp(op, "its window cannot be read");
  const ir::Block& body = *op.region()->block();
  PJRT_RETURN_IF_ERROR(CheckFolds(op, body, n, 0));
  const Dims operand_dims(lowering.view(op.operand(0)).dims);
  bool is_reverse = false;
  if (std::optional<int> dim = CumulativeDim(*window, operand_dims, &is_reverse)) {
    // Each running value is a result too, so it has the precision of its type.
    PJRT_ASSIGN_OR_RETURN(const Combiner scan, MakeCombiner(lowering, body, n, /*keep_f32=*/false));
    const bool is_ordered =
        scan.monoid.has_value() && IsOrdered(*scan.monoid, op.result_type().primitive_type());
    if (!(is_reverse && is_ordered && operand_dims[*dim] <= kExactSuffix))
      return EmitScan(lowering, op, *dim, is_reverse, scan, steps);
  }
  PJRT_ASSIGN_OR_RETURN(const Combiner combiner,
                        MakeCombiner(lowering, body, n, lowering.options().keep_f32));

  if (combiner.monoid.has_value()) {
    PJRT_ASSIGN_OR_RETURN(const bool done,
                          EmitWindow(lowering, op, *window, *combiner.monoid, steps));
    if (done) return absl::OkStatus();
  }

  const ir::Type result_type = op.result_type();
  const int rank = static_cast<int>(result_type.rank());
  // The loop's dims: the places of the window but the last dim's, the window's elements, the last
  // dim's places.
  Dims dims;
  for (int d = 0; d + 1 < rank; ++d) dims.push_back(result_type.dim(d));
  for (int d = 0; d < rank; ++d) dims.push_back(window->dimensions[d].size);
  if (rank > 0) dims.push_back(result_type.dim(rank - 1));
  PJRT_RETURN_IF_ERROR(CheckElements(dims, op));
  LoopBuilder builder(dims, lowering.options().keep_f32);
  LoopProgram& program = builder.program();
  program.num_outer = std::max(rank - 1, 0);
  program.num_reduced = rank;
  LoopReduce reduce;
  reduce.has_monoid = combiner.monoid.has_value();
  if (reduce.has_monoid) reduce.monoid = *combiner.monoid;
  reduce.body = combiner.body;
  std::vector<BufferId> outputs;
  for (size_t i = 0; i < n; ++i) {
    PJRT_ASSIGN_OR_RETURN(const ArrayView init,
                          lowering.ScalarInBuffer(lowering.view(op.operand(n + i)), steps));
    PJRT_ASSIGN_OR_RETURN(
        const ArrayView padded,
        PadForWindow(lowering, op, lowering.view(op.operand(i)), init, *window, steps));
    ArrayView windows = padded;
    windows.dims = dims;
    windows.strides.clear();
    // Where there is one step alone, its length does not matter: it may be any number.
    const auto step = [&](int d, int64_t count, int64_t length) {
      windows.strides.push_back(count > 1 ? padded.strides[d] * length : 0);
    };
    for (int d = 0; d + 1 < rank; ++d) step(d, result_type.dim(d), window->dimensions[d].stride);
    for (int d = 0; d < rank; ++d)
      step(d, window->dimensions[d].size, window->dimensions[d].window_dilation);
    if (rank > 0) step(rank - 1, result_type.dim(rank - 1), window->dimensions[rank - 1].stride);
    reduce.values.push_back(builder.Load(windows));
    reduce.init_inputs.push_back(builder.AddInput(init));
    const ArrayView result = lowering.NewArray(op.result_type(i));
    lowering.Bind(op.result(i), result);
    LoopReduce::Output output;
    output.type = result.type;
    for (int d = 0; d + 1 < rank; ++d) output.view.strides.push_back(result.strides[d]);
    output.view.strides.insert(output.view.strides.end(), rank, 0);
    if (rank > 0) output.view.strides.push_back(result.strides[rank - 1]);
    reduce.outputs.push_back(std::move(output));
    outputs.push_back(result.buffer);
  }
  if (result_type.element_count() == 0) return absl::OkStatus();
  program.reduces.push_back(std::move(reduce));
  std::vector<BufferId> inputs = builder.input_buffers();
  return lowering.EmitLoop(std::move(program), std::move(inputs), std::move(outputs),
                           "reduce_window", steps);
}

absl::Status LowerSelectAndScatter(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const std::optional<ir::WindowAttrs> window = ir::WindowAttrs::From(op);
  if (!window.has_value()) return UnsupportedOp(op, "its window cannot be read");
  PJRT_RETURN_IF_ERROR(CheckFolds(op, *op.region(0)->block(), 0, 0));
  PJRT_RETURN_IF_ERROR(CheckFolds(op, *op.region(1)->block(), 2, 1));
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  PJRT_ASSIGN_OR_RETURN(const ArrayView operand,
                        lowering.Dense(lowering.view(op.operand(0)), steps));
  PJRT_ASSIGN_OR_RETURN(const ArrayView source,
                        lowering.Dense(lowering.view(op.operand(1)), steps));
  PJRT_RETURN_IF_ERROR(
      lowering.Copy(BroadcastView(lowering.view(op.operand(2)), result.dims, {}), result, steps));
  SelectAndScatterParams p;
  p.type = result.type;
  p.kernels = lowering.kernels().block;
  p.operand = operand.buffer;
  p.source = source.buffer;
  p.result = result.buffer;
  for (size_t d = 0; d < result.dims.size(); ++d) {
    const ir::WindowDimension& w = window->dimensions[d];
    p.dims.push_back({result.dims[d], source.dims[d], w.size, w.stride, w.padding_low});
  }
  PJRT_ASSIGN_OR_RETURN(const std::shared_ptr<const LoopProgram> select,
                        lowering.Body(*op.region(0)->block(), /*keep_f32=*/true));
  PJRT_ASSIGN_OR_RETURN(const std::shared_ptr<const LoopProgram> scatter,
                        lowering.Body(*op.region(1)->block(), lowering.options().keep_f32));
  PJRT_ASSIGN_OR_RETURN(p.select, lowering.engine().CompileBody(*select));
  PJRT_ASSIGN_OR_RETURN(p.scatter, lowering.engine().CompileBody(*scatter));
  const CType compute = ComputeTypeOf(p.type);
  p.select_op = ComparisonOf(*op.region(0)->block(), compute, *p.kernels);
  if (const std::optional<Monoid> monoid = MatchMonoid(*op.region(1)->block())) {
    p.scatter_adds = *monoid == Monoid::kAdd;
    p.scatter_op = p.kernels->op[static_cast<int>(MonoidOp(*monoid))][static_cast<int>(compute)][0];
  }
  if (source.ElementCount() == 0) return absl::OkStatus();
  lowering.plan().Emit(steps, std::make_unique<SelectAndScatterStep>(std::move(p)),
                       {operand.buffer, source.buffer}, {result.buffer});
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
