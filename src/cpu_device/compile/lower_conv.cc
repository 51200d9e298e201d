// SPDX-License-Identifier: Apache-2.0
//
// convolution: views put batch, features and space in one order; kernels become a matrix a group,
// with reversal undone.
#include <algorithm>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/conv_step.h"

namespace pjrt::cpu {
namespace {

absl::StatusOr<std::unique_ptr<Gemm>> PatchProduct(const ConvParams& p, int64_t rows,
                                                   CType accumulate, const Kernels& kernels) {
  GemmProblem problem;
  problem.a_type = p.type;
  problem.b_type = p.kernel_type;
  problem.c_type = p.output_type;
  problem.accumulate = accumulate;
  problem.m = rows;
  problem.n = p.features;
  problem.k = ConvStep::PatchLength(p);
  problem.a_row_stride = problem.k;
  problem.b_row_stride = p.features;
  problem.c_row_stride = p.output_row_stride;
  return MakeGemm(problem, kernels);
}

}  // namespace

absl::Status LowerConvolution(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const std::optional<ir::ConvDimensionNumbers> numbers =
      ir::ConvDimensionNumbers::From(op.attr("dimension_numbers"));
  const std::optional<ir::WindowAttrs> window = ir::WindowAttrs::From(op);
  if (!numbers.has_value() || !window.has_value())
    return UnsupportedOp(op, "its attributes cannot be read");
  const int64_t groups = op.IntAttr("feature_group_count", 1);
  const int64_t batch_groups = op.IntAttr("batch_group_count", 1);
  const size_t rank = numbers->input_spatial_dimensions.size();
  ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  if (result.type == PRED) return UnsupportedOp(op, "convolutions of i1 tensors are not supported");
  ArrayView input = lowering.view(op.operand(0));
  if (input.kind != ArrayView::kBuffer) {
    PJRT_ASSIGN_OR_RETURN(input, lowering.Dense(input, steps));
  }

  ConvParams p;
  p.type = input.type;
  p.kernel_type = op.operand_type(1).primitive_type();
  p.output_type = result.type;
  p.groups = groups * batch_groups;
  // With batch groups, group g convolves its share of the batch with its share of the kernel's
  // features.
  p.batch = input.dims[numbers->input_batch_dimension] / batch_groups;
  p.channels = input.dims[numbers->input_feature_dimension] / groups;
  p.batch_stride = input.strides[numbers->input_batch_dimension];
  p.channel_stride = input.strides[numbers->input_feature_dimension];
  p.group_stride = batch_groups > 1 ? p.batch * p.batch_stride : p.channels * p.channel_stride;
  p.input = input.buffer;
  p.input_offset = input.offset;
  for (size_t i = 0; i < rank; ++i) {
    const ir::WindowDimension& w = window->dimensions[i];
    const int64_t d = numbers->input_spatial_dimensions[i];
    p.spatial.push_back({input.dims[d], input.strides[d],
                         result.dims[numbers->output_spatial_dimensions[i]], w.size, w.stride,
                         w.padding_low, w.base_dilation, w.window_dilation});
  }

  // The kernel as [group][window...][channel][feature of the group], dense.
  ArrayView kernel = lowering.view(op.operand(1));
  ir::DimList reversed;
  for (size_t i = 0; i < rank; ++i) {
    if (window->dimensions[i].reversal) reversed.push_back(numbers->kernel_spatial_dimensions[i]);
  }
  kernel = ReverseView(kernel, reversed);
  const int64_t all_features = kernel.dims[numbers->kernel_output_feature_dimension];
  p.features = all_features / p.groups;
  ArrayView arranged = kernel;
  arranged.dims.assign({p.groups});
  arranged.strides.assign({p.features * kernel.strides[numbers->kernel_output_feature_dimension]});
  for (size_t i = 0; i < rank; ++i) {
    arranged.dims.push_back(kernel.dims[numbers->kernel_spatial_dimensions[i]]);
    arranged.strides.push_back(kernel.strides[numbers->kernel_spatial_dimensions[i]]);
  }
  arranged.dims.push_back(p.channels);
  arranged.strides.push_back(kernel.strides[numbers->kernel_input_feature_dimension]);
  arranged.dims.push_back(p.features);
  arranged.strides.push_back(kernel.strides[numbers->kernel_output_feature_dimension]);
  PJRT_ASSIGN_OR_RETURN(arranged, lowering.Dense(arranged, steps));
  p.kernel = arranged.buffer;
  p.kernel_group_stride = ConvStep::PatchLength(p) * p.features;

  // The output as [batch][space...][features]: the result itself when its dims are in that order,
  // else copied to it.
  ir::DimList order = {numbers->output_batch_dimension};
  order.insert(order.end(), numbers->output_spatial_dimensions.begin(),
               numbers->output_spatial_dimensions.end());
  order.push_back(numbers->output_feature_dimension);
  const ArrayView wanted = TransposeView(result, order);
  const ArrayView output = wanted.IsDense() ? wanted : lowering.NewArray(result.type, wanted.dims);
  p.output = output.buffer;
  p.output_row_stride = all_features;

  const CType accumulate = ProductType(p.type, p.kernel_type, p.output_type);
  const int64_t places = ConvStep::Places(p);
  const int64_t rows = ConvStep::RowsPerBlock(p);
  absl::StatusOr<std::unique_ptr<Gemm>> gemm =
      PatchProduct(p, rows, accumulate, lowering.kernels());
  if (!gemm.ok()) return UnsupportedOp(op, gemm.status().message());
  std::unique_ptr<Gemm> last;
  if (places % rows != 0) {
    PJRT_ASSIGN_OR_RETURN(last, PatchProduct(p, places % rows, accumulate, lowering.kernels()));
  }
  const std::vector<BufferId> reads = {p.input, p.kernel};
  lowering.plan().Emit(
      steps, std::make_unique<ConvStep>(std::move(p), *std::move(gemm), std::move(last), rows),
      reads, {output.buffer});
  if (output.buffer != result.buffer) return lowering.Copy(output, wanted, steps);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
