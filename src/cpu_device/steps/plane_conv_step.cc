// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/plane_conv_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/copy_bytes.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Beyond this, what one place sees is so much that products of matrices serve better.
constexpr int64_t kMaxPlaneBytes = 1 << 20;
constexpr int64_t kMaxPlaneTaps = 1 << 16;
// From so many neighbouring channels on, lines of pixels are transposed rather than gathered.
constexpr int64_t kTransposedChannels = 4;

// Where an element of a window stands in a plane.
struct Tap {
  int64_t remainder, shift;
};
Tap TapOf(const ConvParams::Spatial& s, int64_t t) {
  const int64_t at = t * s.window_dilation;
  return {at % s.stride, at / s.stride};
}

}  // namespace

PlaneConvStep::DimPlans PlaneConvStep::PlanDims(const ConvParams& params) {
  DimPlans dims;
  for (const ConvParams::Spatial& s : params.spatial) {
    DimPlan dim;
    for (int64_t t = 0; t < s.window; ++t) {
      const Tap tap = TapOf(s, t);
      dim.reach = std::max(dim.reach, tap.shift);
      if (std::find(dim.remainders.begin(), dim.remainders.end(), tap.remainder) ==
          dim.remainders.end())
        dim.remainders.push_back(tap.remainder);
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

bool PlaneConvStep::Can(const ConvParams& p, CType compute, const Kernels& kernels) {
  const int type = static_cast<int>(compute);
  if (kernels.window->plane_conv[type] == nullptr || p.spatial.empty() || p.channels == 0 ||
      ByteWidth(p.type) > 8)
    return false;
  int64_t taps = p.channels, bytes = p.channels * kCTypeSize[type];
  for (const ConvParams::Spatial& s : p.spatial) {
    if (s.base_dilation != 1 || s.window == 0) return false;
    taps *= s.window;
    if (taps > kMaxPlaneTaps) return false;
  }
  for (const DimPlan& dim : PlanDims(p)) {
    bytes *= static_cast<int64_t>(dim.remainders.size()) * (dim.reach + 1);
    if (bytes > kMaxPlaneBytes) return false;
  }
  return true;
}

PlaneConvStep::PlaneConvStep(ConvParams params, ConvOutput output, CType compute,
                             const Kernels& kernels)
    : p_(std::move(params)),
      output_(std::move(output)),
      size_(kCTypeSize[static_cast<int>(compute)]),
      kernel_(kernels.window->plane_conv[static_cast<int>(compute)]),
      block_kernels_(*kernels.block),
      load_(TypeChange::Load(*kernels.block, p_.type, compute)),
      store_(TypeChange::Store(*kernels.block, compute, p_.output_type)),
      dims_(PlanDims(p_)) {
  const int rank = static_cast<int>(dims_.size());
  lanes_ = kernels.window->channel_lanes[static_cast<int>(compute)];
  const int64_t row_blocks = CeilDiv(p_.features, kernels.window->plane_rows);
  rows_ = CeilDiv(p_.features, row_blocks);
  for (const DimPlan& dim : dims_) planes_ *= static_cast<int64_t>(dim.remainders.size());
  const auto bytes = [&] {
    int64_t pixels = 1;
    for (const DimPlan& dim : dims_) pixels *= dim.places + dim.reach;
    return pixels * (p_.channels * planes_ + rows_) * size_;
  };
  // Whole lines first, then several of them: neighbours share what they see.
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t size = p_.spatial[d].output_size;
    while (dims_[d].places < size) {
      const int64_t before = dims_[d].places;
      dims_[d].places = std::min(size, 2 * before);
      if (bytes() <= kConvBlockBytes) continue;
      dims_[d].places = before;
      break;
    }
    if (dims_[d].places < size) break;
  }
  num_units_ = p_.batch * p_.groups;
  for (int d = 0; d < rank; ++d) {
    DimPlan& dim = dims_[d];
    const int64_t size = p_.spatial[d].output_size;
    dim.blocks = CeilDiv(size, dim.places);
    dim.places = CeilDiv(size, dim.blocks);
    dim.extent = dim.places + dim.reach;
    plane_size_ *= dim.extent;
    num_units_ *= dim.blocks;
  }

  // The kernel's order: channels, then window elements.
  const int64_t window = p_.PatchLength() / p_.channels;
  for (int64_t t = 0; t < p_.PatchLength(); ++t) {
    int64_t rest = t % window, pixel = 0, stride = 1, plane = 0, planes = 1;
    for (int d = rank - 1; d >= 0; --d) {
      const DimPlan& dim = dims_[d];
      const Tap tap = TapOf(p_.spatial[d], rest % p_.spatial[d].window);
      rest /= p_.spatial[d].window;
      pixel += tap.shift * stride;
      stride *= dim.extent;
      plane += (std::find(dim.remainders.begin(), dim.remainders.end(), tap.remainder) -
                dim.remainders.begin()) *
               planes;
      planes *= static_cast<int64_t>(dim.remainders.size());
    }
    offsets_.push_back((t / window * planes_ + plane) * plane_size_ + pixel);
  }
}

int64_t PlaneConvStep::scratch_bytes() const {
  // The staged input, and what a last vector sees beyond | results | lines before conversions or
  // transposition | conversions.
  const int64_t line = dims_.back().extent;
  return AlignUp((p_.channels * planes_ * plane_size_ + lanes_) * size_) +
         AlignUp(rows_ * AlignUp(plane_size_, lanes_) * size_) +
         AlignUp(std::max(p_.channels, rows_) * line * 8) + AlignUp(line * 16);
}

double PlaneConvStep::cost_ns() const {
  const ConvParams::Spatial& last = p_.spatial.back();
  int64_t run = 1, pitch = 1;
  for (size_t d = dims_.size(); d-- > 0;) {
    run += (dims_[d].places - 1) * pitch;
    pitch *= dims_[d].extent;
  }
  const double places = static_cast<double>(run);
  const double vectors = std::ceil(places / static_cast<double>(lanes_));
  const double planes = static_cast<double>(p_.channels * planes_);
  const double lines = static_cast<double>(plane_size_) / static_cast<double>(dims_.back().extent);
  const double row_blocks =
      std::ceil(static_cast<double>(p_.features) / static_cast<double>(rows_));
  const double fill = last.stride * last.input_stride == 1 ? 0.1 : p_.channel_stride == 1 ? 0.4 : 1;
  const double store = output_.space_strides.back() == 1 ? 0.1 : 0.5;
  const double cycles = 200 + planes * (fill * static_cast<double>(plane_size_) + 10 * lines) +
                        static_cast<double>(p_.PatchLength()) * vectors * row_blocks *
                            (std::max(static_cast<double>(rows_), 2.0) + 0.15) +
                        static_cast<double>(p_.features) * (store * places + 10 * lines);
  return static_cast<double>(num_units_) * cycles / kCyclesPerNs;
}

std::string PlaneConvStep::Describe() const {
  return absl::StrCat("convolution by planes ", p_.batch, " x ", p_.groups, " groups x ",
                      p_.Places(), " places, ", p_.PatchLength(), " taps, ", p_.features,
                      " features");
}

PlaneConvStep::Block PlaneConvStep::BlockOf(int64_t unit) const {
  Block block;
  const int rank = static_cast<int>(dims_.size());
  block.first.resize(rank);
  block.count.resize(rank);
  for (int d = rank - 1; d >= 0; --d) {
    block.first[d] = unit % dims_[d].blocks * dims_[d].places;
    block.count[d] = std::min(dims_[d].places, p_.spatial[d].output_size - block.first[d]);
    unit /= dims_[d].blocks;
  }
  block.group = unit % p_.groups;
  block.batch = unit / p_.groups;
  return block;
}

absl::Status PlaneConvStep::Run(const RunContext& context) const {
  const auto run = [&](int64_t unit, int member) {
    RunBlock(context, unit, context.member_scratch(member));
  };
  if (context.team == nullptr || num_units_ <= 1) {
    for (int64_t unit = 0; unit < num_units_; ++unit) run(unit, 0);
  } else {
    context.team->ParallelFor(num_units_, run);
  }
  return absl::OkStatus();
}

// The input places of a dim that a plane shows, and where they stand in it.
PlaneConvStep::Shown PlaneConvStep::ShownOf(const Block& block, int d, int64_t remainder) const {
  const ConvParams::Spatial& s = p_.spatial[d];
  const int64_t x = block.first[d] * s.stride + remainder - s.padding_low;
  const int64_t wanted = block.count[d] + dims_[d].reach;
  Shown shown;
  shown.begin = std::clamp<int64_t>(CeilDiv(-x, s.stride), 0, wanted);
  shown.end = std::clamp<int64_t>(CeilDiv(s.input_size - x, s.stride), shown.begin, wanted);
  shown.offset = (x + shown.begin * s.stride) * s.input_stride;
  return shown;
}

// `count` places of `lines` lines, the first at `from`, for each channel, to the plane of the first
// channel at `to`.
void PlaneConvStep::FillLines(const char* from, int64_t from_stride, int64_t lines, int64_t count,
                              char* to, const Scratch& scratch) const {
  const ConvParams::Spatial& last = p_.spatial.back();
  const int size = ByteWidth(p_.type);
  const int64_t step = last.stride * last.input_stride, to_stride = dims_.back().extent * size_;
  const int64_t channel_elements = planes_ * plane_size_;
  from_stride *= size;
  if (p_.channel_stride == 1 && p_.channels >= kTransposedChannels) {
    const Transpose2dFn transpose = block_kernels_.transpose_2d[SizeLog2(size)];
    for (int64_t i = 0; i < lines; ++i, from += from_stride, to += to_stride) {
      if (load_.none()) {
        transpose(to, channel_elements, from, step, count, p_.channels);
        continue;
      }
      transpose(scratch.line, count, from, step, count, p_.channels);
      for (int64_t c = 0; c < p_.channels; ++c)
        load_.Run(to + c * channel_elements * size_, scratch.line + c * count * size, count,
                  scratch.between);
    }
    return;
  }
  const GatherStrideFn gather = block_kernels_.gather_stride[SizeLog2(size)];
  for (int64_t c = 0; c < p_.channels; ++c) {
    const char* source = from + c * p_.channel_stride * size;
    char* target = to + c * channel_elements * size_;
    for (int64_t i = 0; i < lines; ++i, source += from_stride, target += to_stride) {
      if (load_.none() && step == 1) {
        CopyBytes(target, source, count * size_);
      } else if (load_.none()) {
        gather(target, source, step, count);
      } else if (step == 1) {
        load_.Run(target, source, count, scratch.between);
      } else {
        gather(scratch.line, source, step, count);
        load_.Run(target, scratch.line, count, scratch.between);
      }
    }
  }
}

void PlaneConvStep::FillInput(const char* input, const Block& block, const Scratch& scratch) const {
  const int rank = static_cast<int>(dims_.size());
  const int size = ByteWidth(p_.type);
  absl::InlinedVector<Shown, 3> shown(rank);
  for (int64_t plane = 0; plane < planes_; ++plane) {
    // Elements of the plane that are elements of the input; the last dim but one makes lines, each
    // combination of those before it a sheet of them.
    int64_t rest = plane, sheets = 1, from = 0, to = plane * plane_size_, pitch = 1;
    bool is_whole = true;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t count = static_cast<int64_t>(dims_[d].remainders.size());
      shown[d] = ShownOf(block, d, dims_[d].remainders[rest % count]);
      rest /= count;
      is_whole &= shown[d].begin == 0 && shown[d].end == dims_[d].extent;
      from += shown[d].offset;
      to += shown[d].begin * pitch;
      pitch *= dims_[d].extent;
      if (d < rank - 2) sheets *= shown[d].end - shown[d].begin;
    }
    for (int64_t c = 0; !is_whole && c < p_.channels; ++c)
      std::memset(scratch.staged + (c * planes_ + plane) * plane_size_ * size_, 0,
                  plane_size_ * size_);
    const Shown& places = shown[rank - 1];
    const int64_t count = places.end - places.begin;
    const int64_t lines = rank > 1 ? shown[rank - 2].end - shown[rank - 2].begin : 1;
    const int64_t line_stride =
        rank > 1 ? p_.spatial[rank - 2].stride * p_.spatial[rank - 2].input_stride : 0;
    if (count == 0 || lines == 0) continue;
    for (int64_t sheet = 0; sheet < sheets; ++sheet) {
      int64_t offset = from, target = to, stride = 1;
      rest = sheet;
      for (int d = rank - 1; d >= 0; --d) {
        if (d < rank - 2) {
          const int64_t at = rest % (shown[d].end - shown[d].begin);
          rest /= shown[d].end - shown[d].begin;
          offset += at * p_.spatial[d].stride * p_.spatial[d].input_stride;
          target += at * stride;
        }
        stride *= dims_[d].extent;
      }
      FillLines(input + offset * size, line_stride, lines, count, scratch.staged + target * size_,
                scratch);
    }
  }
}

// One line of results, `stride` elements apart for each of `rows` features.
void PlaneConvStep::StoreLine(const char* from, int64_t stride, int rows, int64_t count, char* to,
                              const Scratch& scratch) const {
  const int out_size = ByteWidth(p_.output_type);
  const int64_t out_stride = output_.space_strides.back();
  if (out_stride == 1) {
    for (int r = 0; r < rows; ++r) {
      char* const at = to + r * output_.feature_stride * out_size;
      const char* const line = from + r * stride * size_;
      if (store_.none()) {
        CopyBytes(at, line, count * size_);
      } else {
        store_.Run(at, line, count, scratch.between);
      }
    }
    return;
  }
  if (!store_.none()) {
    for (int r = 0; r < rows; ++r)
      store_.Run(scratch.line + r * count * out_size, from + r * stride * size_, count,
                 scratch.between);
    from = scratch.line;
    stride = count;
  }
  if (output_.feature_stride == 1 && rows > 1)
    return block_kernels_.transpose_2d[SizeLog2(out_size)](to, out_stride, from, stride, rows,
                                                           count);
  for (int r = 0; r < rows; ++r)
    block_kernels_.scatter_stride[SizeLog2(out_size)](to + r * output_.feature_stride * out_size,
                                                      from + r * stride * out_size, out_stride,
                                                      count);
}

// `rows` features of the block, `stride` elements apart in the results, to where they belong.
void PlaneConvStep::StoreLines(const Block& block, int64_t stride, int rows, char* to,
                               const Scratch& scratch) const {
  const int rank = static_cast<int>(dims_.size());
  const int out_size = ByteWidth(p_.output_type);
  const int64_t lines = rank > 1 ? block.count[rank - 2] : 1;
  const int64_t from_stride = dims_.back().extent * size_;
  const int64_t to_stride = rank > 1 ? output_.space_strides[rank - 2] * out_size : 0;
  int64_t sheets = 1;
  for (int d = 0; d < rank - 2; ++d) sheets *= block.count[d];
  for (int64_t sheet = 0; sheet < sheets; ++sheet) {
    int64_t from = 0, offset = 0, pitch = 1, rest = sheet;
    for (int d = rank - 1; d >= 0; --d) {
      if (d < rank - 2) {
        const int64_t place = rest % block.count[d];
        rest /= block.count[d];
        from += place * pitch;
        offset += place * output_.space_strides[d];
      }
      pitch *= dims_[d].extent;
    }
    const char* source = scratch.results + from * size_;
    char* target = to + offset * out_size;
    for (int64_t i = 0; i < lines; ++i, source += from_stride, target += to_stride)
      StoreLine(source, stride, rows, block.count.back(), target, scratch);
  }
}

void PlaneConvStep::RunBlock(const RunContext& context, int64_t unit, char* memory) const {
  const Block block = BlockOf(unit);
  const int rank = static_cast<int>(dims_.size());
  const int64_t staged = p_.channels * planes_ * plane_size_;
  Scratch scratch;
  scratch.staged = memory;
  scratch.results = scratch.staged + AlignUp((staged + lanes_) * size_);
  scratch.line = scratch.results + AlignUp(rows_ * AlignUp(plane_size_, lanes_) * size_);
  scratch.between = scratch.line + AlignUp(std::max(p_.channels, rows_) * dims_.back().extent * 8);
  FillInput(context.buffer(p_.input) +
                (p_.input_offset + block.batch * p_.batch_stride + block.group * p_.group_stride) *
                    ByteWidth(p_.type),
            block, scratch);
  std::memset(scratch.staged + staged * size_, 0, lanes_ * size_);

  int64_t places = 1, pitch = 1, out = output_.offset + block.batch * output_.batch_stride;
  for (int d = rank - 1; d >= 0; --d) {
    places += (block.count[d] - 1) * pitch;
    pitch *= dims_[d].extent;
    out += block.first[d] * output_.space_strides[d];
  }
  places = AlignUp(places, lanes_);
  const int64_t taps = static_cast<int64_t>(offsets_.size());
  const char* const weights =
      context.buffer(p_.kernel) + (p_.kernel_offset + block.group * taps * p_.features) * size_;
  for (int64_t f = 0; f < p_.features; f += rows_) {
    const int rows = static_cast<int>(std::min(rows_, p_.features - f));
    kernel_(scratch.results, places, scratch.staged, offsets_.data(), weights + f * size_,
            p_.features, taps, rows, places);
    const int64_t at = out + (block.group * p_.features + f) * output_.feature_stride;
    StoreLines(block, places, rows, context.buffer(p_.output) + at * ByteWidth(p_.output_type),
               scratch);
  }
}

}  // namespace pjrt::cpu
