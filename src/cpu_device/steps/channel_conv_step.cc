// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/channel_conv_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// The lanes of a block, in bytes of the input laid out: longer runs copy faster.
constexpr int64_t kLaneBytes = 1024;
// Beyond this, windows are so large that products serve better.
constexpr int64_t kMaxChannelBytes = 8 << 20;
constexpr int64_t kMaxChannelTaps = 1 << 20;

int64_t Reach(const ConvParams::Spatial& s, int64_t places) {
  return (places - 1) * s.stride + (s.window - 1) * s.window_dilation + 1;
}

// Pixels that one place sees in all.
int64_t LeastPixels(const ConvParams& p) {
  int64_t pixels = p.channels;
  for (const ConvParams::Spatial& s : p.spatial) {
    pixels *= Reach(s, 1);
    if (pixels > kMaxChannelBytes) break;
  }
  return pixels;
}

template <typename T>
void SpreadPixels(char* to, const char* from, int64_t pixel_stride, const int64_t* lane_offsets,
                  int64_t pixels, int64_t lanes, int64_t to_stride) {
  T* const target = reinterpret_cast<T*>(to);
  const T* const source = reinterpret_cast<const T*>(from);
  if (pixel_stride == 1) {
    for (int64_t l = 0; l < lanes; ++l) {
      const T* const line = source + lane_offsets[l];
      for (int64_t x = 0; x < pixels; ++x) target[x * to_stride + l] = line[x];
    }
    return;
  }
  for (int64_t x = 0; x < pixels; ++x) {
    const T* const pixel = source + x * pixel_stride;
    for (int64_t l = 0; l < lanes; ++l) target[x * to_stride + l] = pixel[lane_offsets[l]];
  }
}

}  // namespace

bool ChannelConvStep::Suits(const ConvParams& p, CType compute, const Kernels& kernels) {
  const int type = static_cast<int>(compute);
  if (p.groups == 1 || kernels.window->channel_conv[type] == nullptr || p.spatial.empty())
    return false;
  for (const ConvParams::Spatial& s : p.spatial) {
    if (s.base_dilation != 1 || s.window == 0) return false;
  }
  if (p.channels == 0 || p.features * 4 > kernels.gemm->tile[type].nr || ByteWidth(p.type) > 8)
    return false;
  return p.PatchLength() <= kMaxChannelTaps &&
         LeastPixels(p) * kernels.window->channel_lanes[type] * kCTypeSize[type] <=
             kMaxChannelBytes;
}

int64_t ChannelConvStep::WeightBytes(const ConvParams& p, CType compute, const Kernels& kernels) {
  const int type = static_cast<int>(compute);
  return p.PatchLength() * AlignUp(p.groups * p.features, kernels.window->channel_lanes[type]) *
         kCTypeSize[type];
}

ChannelConvStep::ChannelConvStep(ConvParams params, ConvOutput output, CType compute,
                                 const Kernels& kernels, BufferId weights)
    : p_(std::move(params)),
      output_(std::move(output)),
      size_(kCTypeSize[static_cast<int>(compute)]),
      kernel_(kernels.window->channel_conv[static_cast<int>(compute)]),
      block_kernels_(*kernels.block),
      load_(TypeChange::Load(*kernels.block, p_.type, compute)),
      load_weight_(TypeChange::Load(*kernels.block, p_.kernel_type, compute)),
      store_(TypeChange::Store(*kernels.block, compute, p_.output_type)),
      weights_(weights) {
  const int64_t vector = kernels.window->channel_lanes[static_cast<int>(compute)];
  const int rank = static_cast<int>(p_.spatial.size());
  lanes_ = p_.groups * p_.features;
  padded_lanes_ = AlignUp(lanes_, vector);
  taps_ = p_.PatchLength();
  const auto fits = [&](int64_t pixels, int64_t bytes) {
    return pixels * p_.channels * block_lanes_ * size_ <= bytes;
  };
  block_lanes_ = std::min(padded_lanes_, kLaneBytes / size_ / vector * vector);
  while (block_lanes_ > vector && !fits(LeastPixels(p_) / p_.channels, 2 * kConvBlockBytes))
    block_lanes_ = AlignUp(block_lanes_ / 2, vector);
  block_places_.assign(rank, 1);
  extent_.resize(rank);
  const auto pixels = [&] {
    int64_t count = 1;
    for (int d = 0; d < rank; ++d) count *= Reach(p_.spatial[d], block_places_[d]);
    return count;
  };
  // Whole lines first, then several of them: neighbours share what they see.
  for (int d = rank - 1; d >= 0; --d) {
    while (block_places_[d] < p_.spatial[d].output_size) {
      const int64_t before = block_places_[d];
      block_places_[d] = std::min(p_.spatial[d].output_size, 2 * before);
      if (fits(pixels(), kConvBlockBytes)) continue;
      block_places_[d] = before;
      break;
    }
    if (block_places_[d] < p_.spatial[d].output_size) break;
  }
  pixels_ = 1;
  num_units_ = p_.batch;
  for (int d = 0; d < rank; ++d) {
    const int64_t size = p_.spatial[d].output_size;
    const int64_t blocks = CeilDiv(size, block_places_[d]);
    block_places_[d] = CeilDiv(size, blocks);
    extent_[d] = Reach(p_.spatial[d], block_places_[d]);
    pixels_ *= extent_[d];
    units_.push_back(blocks);
    num_units_ *= blocks;
  }
  lane_blocks_ = CeilDiv(padded_lanes_, block_lanes_);
  num_units_ *= lane_blocks_;

  // The kernel's order: window elements, then channels.
  for (int64_t t = 0; t < taps_; ++t) {
    int64_t rest = t / p_.channels, pixel = 0, stride = 1;
    for (int d = rank - 1; d >= 0; --d) {
      pixel += rest % p_.spatial[d].window * p_.spatial[d].window_dilation * stride;
      rest /= p_.spatial[d].window;
      stride *= extent_[d];
    }
    offsets_.push_back((t % p_.channels * pixels_ + pixel) * block_lanes_);
  }
  for (int64_t l = 0; l < lanes_; ++l) lane_offsets_.push_back(l / p_.features * p_.group_stride);
}

int64_t ChannelConvStep::scratch_bytes() const {
  // The staged input | a line of it in memory's type | results | conversions.
  const int64_t line = extent_.back() * block_lanes_;
  return AlignUp(p_.channels * pixels_ * block_lanes_ * size_) + AlignUp(line * 8) +
         AlignUp(block_places_.back() * block_lanes_ * size_) +
         AlignUp(std::max(line, padded_lanes_) * 16);
}

double ChannelConvStep::cost_ns() const {
  const double places = static_cast<double>(p_.batch) * static_cast<double>(p_.Places());
  return 200 +
         places * static_cast<double>(padded_lanes_) * static_cast<double>(taps_) * (size_ / 4.0) /
             16 +
         static_cast<double>(num_units_) * static_cast<double>(p_.channels * pixels_) *
             static_cast<double>(block_lanes_) / (p_.features == 1 ? 8 : 2);
}

std::string ChannelConvStep::Describe() const {
  return absl::StrCat("convolution by channels ", p_.batch, " x ", p_.Places(), " places, ", taps_,
                      " taps, ", lanes_, " lanes");
}

ChannelConvStep::Block ChannelConvStep::BlockOf(int64_t unit) const {
  Block block;
  block.lane = unit % lane_blocks_ * block_lanes_;
  unit /= lane_blocks_;
  block.lanes = std::min(block_lanes_, lanes_ - block.lane);
  const int rank = static_cast<int>(units_.size());
  block.first.resize(rank);
  block.count.resize(rank);
  for (int d = rank - 1; d >= 0; --d) {
    block.first[d] = unit % units_[d] * block_places_[d];
    block.count[d] = std::min(block_places_[d], p_.spatial[d].output_size - block.first[d]);
    unit /= units_[d];
  }
  block.batch = unit;
  return block;
}

absl::Status ChannelConvStep::Run(const RunContext& context) const {
  const auto each = [&](int64_t units, auto fn) {
    if (context.team == nullptr || units <= 1) {
      for (int64_t unit = 0; unit < units; ++unit) fn(unit, 0);
    } else {
      context.team->ParallelFor(units, fn);
    }
  };
  constexpr int64_t kRows = 64;
  each(CeilDiv(taps_, kRows), [&](int64_t unit, int member) {
    const int64_t end = std::min(taps_, (unit + 1) * kRows);
    for (int64_t row = unit * kRows; row < end; ++row)
      PackWeights(context, row, context.member_scratch(member));
  });
  each(num_units_,
       [&](int64_t unit, int member) { RunBlock(context, unit, context.member_scratch(member)); });
  return absl::OkStatus();
}

void ChannelConvStep::PackWeights(const RunContext& context, int64_t row, char* scratch) const {
  const char* from =
      context.buffer(p_.kernel) + (p_.kernel_offset + row * lanes_) * ByteWidth(p_.kernel_type);
  char* to = context.buffer(weights_) + row * padded_lanes_ * size_;
  if (load_weight_.none()) {
    std::memcpy(to, from, lanes_ * size_);
  } else {
    load_weight_.Run(to, from, lanes_, scratch);
  }
  std::memset(to + lanes_ * size_, 0, (padded_lanes_ - lanes_) * size_);
}

// `pixels` pixels of a line of the input, lanes innermost, in memory's type.
void ChannelConvStep::FillLine(const char* from, const Block& block, int64_t x, int64_t pixels,
                               char* to) const {
  const int size = ByteWidth(p_.type);
  const int64_t pixel_stride = p_.spatial.back().input_stride;
  const char* source = from + x * pixel_stride * size;
  if (p_.features == 1 && (p_.group_stride == 1 || block.lanes == 1)) {
    source += block.lane * p_.group_stride * size;
    if (block.lanes == block_lanes_ && pixel_stride == block_lanes_) {
      std::memcpy(to, source, pixels * block_lanes_ * size);
      return;
    }
    for (int64_t i = 0; i < pixels; ++i)
      std::memcpy(to + i * block_lanes_ * size, source + i * pixel_stride * size,
                  block.lanes * size);
    return;
  }
  if (p_.features == 1 && pixel_stride == 1) {
    block_kernels_.transpose_2d[SizeLog2(size)](to, block_lanes_,
                                                source + block.lane * p_.group_stride * size,
                                                p_.group_stride, block.lanes, pixels);
    return;
  }
  const int64_t* const offsets = lane_offsets_.data() + block.lane;
  switch (size) {
    case 1:
      return SpreadPixels<uint8_t>(to, source, pixel_stride, offsets, pixels, block.lanes,
                                   block_lanes_);
    case 2:
      return SpreadPixels<uint16_t>(to, source, pixel_stride, offsets, pixels, block.lanes,
                                    block_lanes_);
    case 4:
      return SpreadPixels<uint32_t>(to, source, pixel_stride, offsets, pixels, block.lanes,
                                    block_lanes_);
    default:
      return SpreadPixels<uint64_t>(to, source, pixel_stride, offsets, pixels, block.lanes,
                                    block_lanes_);
  }
}

void ChannelConvStep::FillInput(const char* input, const Block& block, char* staged,
                                char* raw) const {
  const int rank = static_cast<int>(p_.spatial.size());
  const int size = ByteWidth(p_.type);
  const ConvParams::Spatial& last = p_.spatial.back();
  const int64_t line_pixels = extent_.back(), line = line_pixels * block_lanes_;
  const int64_t lines = pixels_ / line_pixels;
  const int64_t wanted = Reach(last, block.count[rank - 1]);
  const int64_t x = block.first[rank - 1] * last.stride - last.padding_low;
  const int64_t low = std::clamp<int64_t>(-x, 0, wanted);
  const int64_t high = std::clamp<int64_t>(last.input_size - x, low, wanted);
  char* const between = raw + AlignUp(line * 8);
  for (int64_t c = 0; c < p_.channels; ++c) {
    for (int64_t i = 0; i < lines; ++i) {
      char* const to = staged + (c * lines + i) * line * size_;
      int64_t offset = c * p_.channel_stride, rest = i;
      bool inside = high > low;
      for (int d = rank - 2; d >= 0; --d) {
        const ConvParams::Spatial& s = p_.spatial[d];
        const int64_t at = block.first[d] * s.stride - s.padding_low + rest % extent_[d];
        inside &= at >= 0 && at < s.input_size && rest % extent_[d] < Reach(s, block.count[d]);
        offset += at * s.input_stride;
        rest /= extent_[d];
      }
      if (!inside) {
        std::memset(to, 0, wanted * block_lanes_ * size_);
        continue;
      }
      std::memset(to, 0, low * block_lanes_ * size_);
      char* const pixels = to + low * block_lanes_ * size_;
      if (load_.none()) {
        FillLine(input + offset * size, block, x + low, high - low, pixels);
      } else {
        FillLine(input + offset * size, block, x + low, high - low, raw);
        load_.Run(pixels, raw, (high - low) * block_lanes_, between);
      }
      std::memset(to + high * block_lanes_ * size_, 0, (wanted - high) * block_lanes_ * size_);
    }
  }
}

void ChannelConvStep::RunBlock(const RunContext& context, int64_t unit, char* scratch) const {
  const Block block = BlockOf(unit);
  const int rank = static_cast<int>(units_.size());
  const int64_t line = extent_.back() * block_lanes_;
  char* const raw = scratch + AlignUp(p_.channels * pixels_ * block_lanes_ * size_);
  // Where FillInput converts nothing is kept beyond it, so results may lie there.
  char* const between = raw + AlignUp(line * 8);
  char* const results = between + AlignUp(std::max(line, padded_lanes_) * 16);
  const char* input = context.buffer(p_.input) +
                      (p_.input_offset + block.batch * p_.batch_stride) * ByteWidth(p_.type);
  FillInput(input, block, scratch, raw);

  const char* weights = context.buffer(weights_) + block.lane * size_;
  const int64_t lanes = std::min(block_lanes_, padded_lanes_ - block.lane);
  const bool direct = store_.none() && lanes == block.lanes;
  const int out_size = ByteWidth(p_.output_type);
  const int64_t places = block.count[rank - 1];
  const int64_t out_stride = output_.space_strides.back();
  int64_t lines = 1;
  for (int d = 0; d + 1 < rank; ++d) lines *= block.count[d];
  for (int64_t i = 0; i < lines; ++i) {
    int64_t to = output_.offset + block.batch * output_.batch_stride +
                 block.first[rank - 1] * out_stride + block.lane;
    int64_t from = 0, rest = i, stride = extent_.back();
    for (int d = rank - 2; d >= 0; --d) {
      const int64_t place = rest % block.count[d];
      rest /= block.count[d];
      to += (block.first[d] + place) * output_.space_strides[d];
      from += place * p_.spatial[d].stride * stride;
      stride *= extent_[d];
    }
    char* const target = context.buffer(p_.output) + to * out_size;
    kernel_(direct ? target : results, direct ? out_stride : block_lanes_,
            scratch + from * block_lanes_ * size_, p_.spatial.back().stride * block_lanes_,
            offsets_.data(), weights, padded_lanes_, taps_, places, lanes);
    if (direct) continue;
    for (int64_t place = 0; place < places; ++place) {
      char* const at = target + place * out_stride * out_size;
      const char* const result = results + place * block_lanes_ * size_;
      if (store_.none()) {
        std::memcpy(at, result, block.lanes * size_);
      } else {
        store_.Run(at, result, block.lanes, between);
      }
    }
  }
}

}  // namespace pjrt::cpu
