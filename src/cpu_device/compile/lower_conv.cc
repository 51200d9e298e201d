// SPDX-License-Identifier: Apache-2.0
//
// convolution: views put batch, features and space in one order; kernels become a matrix a group,
// with reversal undone. A dilated input falls into phases: output places whose windows meet the
// same elements of the kernel make a convolution of an input without holes.
#include <algorithm>
#include <numeric>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/steps/channel_conv_step.h"
#include "src/cpu_device/steps/conv_step.h"
#include "src/cpu_device/steps/plane_conv_step.h"

namespace pjrt::cpu {
namespace {

using Spatial = ConvParams::Spatial;

// More phases than this are not worth their steps.
constexpr int64_t kMaxPhases = 64;
// Planes and windows for which depthwise convolutions run where the places lie.
constexpr int64_t kLargePlane = 512, kSmallWindow = 25;

// One convolution: kernel and result in the order that steps want.
struct Conv {
  ConvParams p;
  ArrayView kernel;  // [group][window...][channel][feature of the group]
  ArrayView result;  // [batch][space...][feature]
};

// The stride of dims that a view walks as one, the outermost first; nullopt when it does not.
struct SizeAndStride {
  int64_t size, stride;
};
std::optional<int64_t> MergedStride(absl::Span<const SizeAndStride> dims) {
  std::optional<int64_t> stride;
  int64_t expected = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i].size == 1) continue;
    if (!stride.has_value()) {
      stride = dims[i].stride;
    } else if (dims[i].stride != expected) {
      return std::nullopt;
    }
    expected = dims[i].stride * dims[i].size;
  }
  return stride.value_or(1);
}

// The dims of a [batch][space...][feature] result in the order of the rows of patches.
ArrayView InRowOrder(const ArrayView& result, bool batch_is_minor) {
  if (!batch_is_minor) return result;
  ir::DimList order;
  const int64_t rank = static_cast<int64_t>(result.dims.size());
  for (int64_t d = 1; d + 1 < rank; ++d) order.push_back(d);
  order.push_back(0);
  order.push_back(rank - 1);
  return TransposeView(result, order);
}

bool IsWhole(const ArrayView& view) { return view.offset == 0 && view.IsDense(); }

// How patches are written: by what is contiguous in the input for longest.
void ChooseSource(const ArrayView& result, ConvParams* p) {
  constexpr int64_t kLong = 16;
  p->batch_is_minor = !IsWhole(result) && IsWhole(InRowOrder(result, true));
  p->source = GemmProblem::kRows;
  const Spatial* last = p->spatial.empty() ? nullptr : &p->spatial.back();
  const bool plain = last != nullptr && last->base_dilation == 1 && last->window_dilation == 1;
  int64_t channels = p->channel_stride == 1 || p->channels == 1 ? p->channels : 1;
  if (plain && channels == p->channels && (last->input_stride == channels))
    channels *= last->window;
  const int64_t window = plain && last->input_stride == 1 ? last->window : 1;
  const int64_t batch = p->BatchRunsOverPlaces() ? p->batch * last->output_size
                        : p->batch_stride == 1   ? p->batch
                                                 : 1;
  const int64_t places =
      last != nullptr && last->base_dilation == 1 && last->stride * last->input_stride == 1
          ? last->output_size
          : 1;
  const int64_t best = std::min(kLong, std::max({channels, window, batch, places}));
  if (channels >= best) return;
  if (batch >= best) {
    p->batch_is_minor = true;
    p->source = GemmProblem::kPanels;
  } else if (places >= best) {
    p->batch_is_minor = false;
    p->source = GemmProblem::kPanels;
  } else {
    p->channels_are_major = true;
  }
}

// The matrix of patches is the input itself when windows are single elements at equal distances.
std::optional<int64_t> PatchesInMemory(ConvParams* p) {
  for (const Spatial& s : p->spatial) {
    if (s.window != 1 || s.base_dilation != 1 || s.padding_low != 0 ||
        (s.output_size - 1) * s.stride >= s.input_size)
      return std::nullopt;
  }
  absl::InlinedVector<SizeAndStride, 4> rows;
  if (!p->batch_is_minor) rows.push_back({p->batch, p->batch_stride});
  for (const Spatial& s : p->spatial) rows.push_back({s.output_size, s.stride * s.input_stride});
  if (p->batch_is_minor) rows.push_back({p->batch, p->batch_stride});
  return MergedStride(rows);
}

absl::Status EmitProduct(Lowering& lowering, const ir::Op& op, Conv conv, Steps* steps) {
  ConvParams& p = conv.p;
  ChooseSource(conv.result, &p);
  GemmProblem problem;
  problem.a_type = p.type;
  problem.b_type = p.kernel_type;
  problem.c_type = p.output_type;
  problem.accumulate = ProductType(p.type, p.kernel_type, p.output_type);
  problem.batch = p.groups;
  problem.m = p.batch * p.Places();
  problem.n = p.features;
  problem.k = p.PatchLength();
  problem.a_source = p.source;
  if (const std::optional<int64_t> stride = PatchesInMemory(&p)) {
    problem.a_source = GemmProblem::kMemory;
    problem.a_row_stride = *stride;
    problem.a_col_stride = p.channel_stride;
  }

  // The kernel's rows in the order of a patch. Where they are at equal distances it stays where it
  // is.
  ArrayView kernel = conv.kernel;
  const int64_t rank = static_cast<int64_t>(kernel.dims.size());
  if (p.channels_are_major) {
    ir::DimList order = {0, rank - 2};
    for (int64_t d = 1; d < rank - 2; ++d) order.push_back(d);
    order.push_back(rank - 1);
    kernel = TransposeView(kernel, order);
  }
  const auto rows_of = [](const ArrayView& view) {
    absl::InlinedVector<SizeAndStride, 6> rows;
    for (size_t d = 1; d + 1 < view.dims.size(); ++d)
      rows.push_back({view.dims[d], view.strides[d]});
    return MergedStride(rows);
  };
  if (problem.k > 0 && (kernel.kind != ArrayView::kBuffer || !rows_of(kernel).has_value())) {
    const ArrayView dense = lowering.NewArray(kernel.type, kernel.dims);
    PJRT_RETURN_IF_ERROR(lowering.Copy(kernel, dense, steps));
    kernel = dense;
  }
  p.kernel = problem.k > 0 ? kernel.buffer : p.input;
  p.kernel_offset = problem.k > 0 ? kernel.offset : 0;
  p.kernel_group_stride = kernel.strides.front();
  problem.b_row_stride = rows_of(kernel).value_or(0);
  problem.b_col_stride = kernel.strides.back();

  const ArrayView wanted = InRowOrder(conv.result, p.batch_is_minor);
  const ArrayView output = IsWhole(wanted) ? wanted : lowering.NewArray(wanted.type, wanted.dims);
  p.output = output.buffer;
  p.output_row_stride = wanted.dims.back();
  problem.c_row_stride = p.output_row_stride;

  absl::StatusOr<std::unique_ptr<Gemm>> gemm = MakeGemm(problem, lowering.kernels());
  if (!gemm.ok()) return UnsupportedOp(op, gemm.status().message());
  const BufferId shared =
      (*gemm)->shared_bytes() > 0 ? lowering.plan().NewBuffer((*gemm)->shared_bytes()) : kNoBuffer;
  const std::vector<BufferId> reads = {p.input, p.kernel};
  std::vector<BufferId> writes = {output.buffer};
  if (shared != kNoBuffer) writes.push_back(shared);
  lowering.plan().Emit(steps, std::make_unique<ConvStep>(std::move(p), *std::move(gemm), shared),
                       reads, writes);
  if (output.buffer != conv.result.buffer) return lowering.Copy(output, wanted, steps);
  return absl::OkStatus();
}

ConvOutput OutputOf(const ArrayView& result) {
  ConvOutput output;
  output.offset = result.offset;
  output.batch_stride = result.strides.front();
  output.feature_stride = result.strides.back();
  output.space_strides.assign(result.strides.begin() + 1, result.strides.end() - 1);
  return output;
}

// Groups with few features.
absl::Status EmitByChannels(Lowering& lowering, const Conv& conv, CType compute, Steps* steps) {
  ConvParams p = conv.p;
  const int64_t rank = static_cast<int64_t>(p.spatial.size());
  // [group][window...][channel][feature] to [window...][channel][group][feature].
  ir::DimList order;
  for (int64_t d = 1; d <= rank + 1; ++d) order.push_back(d);
  order.push_back(0);
  order.push_back(rank + 2);
  ArrayView kernel = TransposeView(conv.kernel, order);
  if (!kernel.IsDense()) {
    PJRT_ASSIGN_OR_RETURN(kernel, lowering.Dense(kernel, steps));
  }
  p.kernel = kernel.buffer;
  p.kernel_offset = kernel.offset;
  const ArrayView output = conv.result.strides.back() == 1
                               ? conv.result
                               : lowering.NewArray(conv.result.type, conv.result.dims);
  p.output = output.buffer;
  const BufferId weights =
      lowering.plan().NewBuffer(ChannelConvStep::WeightBytes(p, compute, lowering.kernels()));
  const std::vector<BufferId> reads = {p.input, p.kernel};
  lowering.plan().Emit(steps,
                       std::make_unique<ChannelConvStep>(std::move(p), OutputOf(output), compute,
                                                         lowering.kernels(), weights),
                       reads, {output.buffer, weights});
  if (output.buffer != conv.result.buffer) return lowering.Copy(output, conv.result, steps);
  return absl::OkStatus();
}

// The time that a product of patches and kernels takes, roughly.
double ProductNs(const Conv& conv, CType compute, const Kernels& kernels) {
  const ConvParams& p = conv.p;
  const GemmTile& tile = kernels.gemm->tile[static_cast<int>(compute)];
  const double lanes = kernels.window->channel_lanes[static_cast<int>(compute)];
  const double columns = static_cast<double>(AlignUp(p.features, tile.nr));
  // Tiles of small types multiply several elements at once.
  const double group = BitWidth(p.type) < 32 && IsInteger(p.type)           ? 4
                       : p.type == BF16 && kernels.gemm->bf16.fn != nullptr ? 2
                                                                            : 1;
  // Short runs of a patch take long to write.
  const Spatial& last = p.spatial.back();
  double pack = 1.5;
  if (last.stride * last.input_stride != 1) {
    const bool by_channels = p.channel_stride == 1 && p.channels > 1;
    const int64_t run = !by_channels                      ? last.window
                        : last.input_stride == p.channels ? p.channels * last.window
                                                          : p.channels;
    pack = 0.6 + 40 / static_cast<double>(run);
  }
  const double cycles =
      static_cast<double>(p.PatchLength()) * (columns / lanes / group + pack) +
      static_cast<double>(p.features) * (conv.result.strides.back() == 1 ? 0 : 0.5);
  return cycles * static_cast<double>(p.batch * p.groups) * static_cast<double>(p.Places()) /
         kCyclesPerNs;
}

// Whether places side by side suit a convolution better than its product, or than channels side by
// side.
bool SuitsPlanes(const Conv& conv, CType compute, const Kernels& kernels) {
  const ConvParams& p = conv.p;
  if (!PlaneConvStep::Can(p, compute, kernels)) return false;
  if (ChannelConvStep::Suits(p, compute, kernels)) {
    const int64_t lanes = kernels.window->channel_lanes[static_cast<int>(compute)];
    if (p.groups * p.features * 2 <= lanes) return true;
    if (p.spatial.back().input_stride != 1) return p.channels > 1 && p.features > 1;
    // A single channel and feature: where planes are small, or windows large, transposing pays.
    return p.features > 1 || (ComputeTypeOf(p.type) == compute && p.Places() >= kLargePlane &&
                              p.PatchLength() <= kSmallWindow && BitWidth(p.type) >= 32);
  }
  if (p.PatchLength() == p.channels && p.spatial.back().input_stride != 1) return false;
  return PlaneConvStep(p, OutputOf(conv.result), compute, kernels).cost_ns() <
         ProductNs(conv, compute, kernels);
}

// Few features, or places that are neighbours.
absl::Status EmitByPlanes(Lowering& lowering, const Conv& conv, CType compute, Steps* steps) {
  ConvParams p = conv.p;
  const int64_t rank = static_cast<int64_t>(p.spatial.size());
  // [group][window...][channel][feature] to [group][channel][window...][feature].
  ir::DimList order = {0, rank + 1};
  for (int64_t d = 1; d <= rank; ++d) order.push_back(d);
  order.push_back(rank + 2);
  ArrayView kernel = TransposeView(conv.kernel, order);
  if (const PrimitiveType type = MemoryType(compute); kernel.type != type) {
    const ArrayView converted = lowering.NewArray(type, kernel.dims);
    PJRT_RETURN_IF_ERROR(lowering.Convert(kernel, converted, steps));
    kernel = converted;
  } else if (!kernel.IsDense()) {
    PJRT_ASSIGN_OR_RETURN(kernel, lowering.Dense(kernel, steps));
  }
  p.kernel = kernel.buffer;
  p.kernel_offset = kernel.offset;
  p.output = conv.result.buffer;
  const std::vector<BufferId> reads = {p.input, p.kernel};
  lowering.plan().Emit(steps,
                       std::make_unique<PlaneConvStep>(std::move(p), OutputOf(conv.result), compute,
                                                       lowering.kernels()),
                       reads, {conv.result.buffer});
  return absl::OkStatus();
}

absl::Status EmitConv(Lowering& lowering, const ir::Op& op, Conv conv, Steps* steps) {
  const CType compute = ProductType(conv.p.type, conv.p.kernel_type, conv.p.output_type);
  if (SuitsPlanes(conv, compute, lowering.kernels()))
    return EmitByPlanes(lowering, conv, compute, steps);
  if (ChannelConvStep::Suits(conv.p, compute, lowering.kernels()))
    return EmitByChannels(lowering, conv, compute, steps);
  return EmitProduct(lowering, op, std::move(conv), steps);
}

// The phases of one spatial dim: output place period * q + phase, for all q, sees window elements
// first, first + step, ... at neighbouring elements of the input.
struct Phase {
  int64_t phase, period, first, step;
  Spatial spatial;
};

std::vector<Phase> PhasesOf(const Spatial& s) {
  if (s.base_dilation == 1) return {{0, 1, 0, 1, s}};
  std::vector<Phase> phases;
  const int64_t period = s.base_dilation / std::gcd(s.stride, s.base_dilation);
  const int64_t step = s.base_dilation / std::gcd(s.window_dilation, s.base_dilation);
  for (int64_t phase = 0; phase < std::min(period, s.output_size); ++phase) {
    Phase result{phase, period, 0, step, s};
    Spatial& at = result.spatial;
    const auto place = [&](int64_t tap) {
      return phase * s.stride - s.padding_low + tap * s.window_dilation;
    };
    while (result.first < std::min(step, s.window) && place(result.first) % s.base_dilation != 0)
      ++result.first;
    const bool any = result.first < std::min(step, s.window);
    at.window = any ? (s.window - result.first - 1) / step + 1 : 0;
    at.output_size = (s.output_size - phase - 1) / period + 1;
    at.stride = s.stride / std::gcd(s.stride, s.base_dilation);
    at.padding_low = any ? -(place(result.first) / s.base_dilation) : 0;
    at.window_dilation = s.window_dilation / std::gcd(s.window_dilation, s.base_dilation);
    at.base_dilation = 1;
    phases.push_back(result);
  }
  return phases;
}

absl::Status EmitPhases(Lowering& lowering, const ir::Op& op, const Conv& conv, Steps* steps) {
  const size_t rank = conv.p.spatial.size();
  std::vector<std::vector<Phase>> phases;
  int64_t count = 1;
  for (const Spatial& s : conv.p.spatial) {
    if (std::min(s.base_dilation, s.output_size) > kMaxPhases)
      return EmitConv(lowering, op, conv, steps);
    phases.push_back(PhasesOf(s));
    count *= static_cast<int64_t>(phases.back().size());
    if (count > kMaxPhases) return EmitConv(lowering, op, conv, steps);
  }
  for (int64_t i = 0; i < count; ++i) {
    Conv part = conv;
    int64_t rest = i;
    for (size_t d = 0; d < rank; ++d) {
      const Phase& phase = phases[d][rest % phases[d].size()];
      rest /= static_cast<int64_t>(phases[d].size());
      part.p.spatial[d] = phase.spatial;
      part.kernel.dims[d + 1] = phase.spatial.window;
      part.kernel.offset += phase.first * part.kernel.strides[d + 1];
      part.kernel.strides[d + 1] *= phase.step;
      part.result.dims[d + 1] = phase.spatial.output_size;
      part.result.offset += phase.phase * part.result.strides[d + 1];
      part.result.strides[d + 1] *= phase.period;
    }
    PJRT_RETURN_IF_ERROR(EmitConv(lowering, op, std::move(part), steps));
  }
  return absl::OkStatus();
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
  const ArrayView bound = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), bound);
  if (bound.ElementCount() == 0) return absl::OkStatus();
  // Of i1: whether any of the ands holds, so that their number is not 0.
  const ArrayView result = bound.type == PRED ? lowering.NewArray(S64, bound.dims) : bound;
  ArrayView input = lowering.view(op.operand(0));
  if (input.kind != ArrayView::kBuffer) {
    PJRT_ASSIGN_OR_RETURN(input, lowering.Dense(input, steps));
  }

  Conv conv;
  ConvParams& p = conv.p;
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

  ArrayView kernel = lowering.view(op.operand(1));
  if (kernel.kind != ArrayView::kBuffer) {
    PJRT_ASSIGN_OR_RETURN(kernel, lowering.Dense(kernel, steps));
  }
  ir::DimList reversed;
  for (size_t i = 0; i < rank; ++i) {
    if (window->dimensions[i].reversal) reversed.push_back(numbers->kernel_spatial_dimensions[i]);
  }
  kernel = ReverseView(kernel, reversed);
  const int64_t features = numbers->kernel_output_feature_dimension;
  p.features = kernel.dims[features] / p.groups;
  conv.kernel = kernel;
  conv.kernel.dims.assign({p.groups});
  conv.kernel.strides.assign({p.features * kernel.strides[features]});
  for (size_t i = 0; i < rank; ++i) {
    conv.kernel.dims.push_back(kernel.dims[numbers->kernel_spatial_dimensions[i]]);
    conv.kernel.strides.push_back(kernel.strides[numbers->kernel_spatial_dimensions[i]]);
  }
  conv.kernel.dims.push_back(p.channels);
  conv.kernel.strides.push_back(kernel.strides[numbers->kernel_input_feature_dimension]);
  conv.kernel.dims.push_back(p.features);
  conv.kernel.strides.push_back(kernel.strides[features]);

  ir::DimList order = {numbers->output_batch_dimension};
  order.insert(order.end(), numbers->output_spatial_dimensions.begin(),
               numbers->output_spatial_dimensions.end());
  order.push_back(numbers->output_feature_dimension);
  conv.result = TransposeView(result, order);
  PJRT_RETURN_IF_ERROR(EmitPhases(lowering, op, conv, steps));
  return bound.type == PRED ? lowering.Convert(result, bound, steps) : absl::OkStatus();
}

}  // namespace pjrt::cpu
