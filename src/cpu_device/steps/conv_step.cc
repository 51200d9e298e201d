// SPDX-License-Identifier: Apache-2.0
//
// A patch is what a window sees: (window elements, channels), zero where it looks at padding or
// between dilated elements. Patches of a block of places are the rows of a matrix in scratch memory
// that is multiplied by the kernel while it is in cache; the whole matrix never exists.
#include "src/cpu_device/steps/conv_step.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Patches of a block: half of a 1 MiB L2.
constexpr int64_t kBlockBytes = 256 * 1024;

int64_t AlignUp(int64_t n) { return (n + 63) / 64 * 64; }

class OneProduct final : public Gemm::Batch {
 public:
  OneProduct(const char* a, const char* b, char* c) : operands_{a, b, c} {}
  Gemm::Operands operands(int64_t) const override { return operands_; }

 private:
  Gemm::Operands operands_;
};

template <typename T>
void CopyStrided(char* to, const char* from, int64_t stride, int64_t n) {
  T* target = reinterpret_cast<T*>(to);
  const T* source = reinterpret_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i) target[i] = source[i * stride];
}

void CopyChannels(char* to, const char* from, int64_t stride, int64_t n, int size) {
  if (stride == 1) {
    std::memcpy(to, from, n * size);
    return;
  }
  switch (size) {
    case 1:
      return CopyStrided<uint8_t>(to, from, stride, n);
    case 2:
      return CopyStrided<uint16_t>(to, from, stride, n);
    case 4:
      return CopyStrided<uint32_t>(to, from, stride, n);
    case 8:
      return CopyStrided<uint64_t>(to, from, stride, n);
    default:
      for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * size, from + i * stride * size, size);
  }
}

}  // namespace

int64_t ConvStep::Places(const ConvParams& params) {
  int64_t places = 1;
  for (const ConvParams::Spatial& s : params.spatial) places *= s.output_size;
  return places;
}

int64_t ConvStep::PatchLength(const ConvParams& params) {
  int64_t length = params.channels;
  for (const ConvParams::Spatial& s : params.spatial) length *= s.window;
  return length;
}

int64_t ConvStep::RowsPerBlock(const ConvParams& params) {
  const int64_t row_bytes = std::max<int64_t>(PatchLength(params) * ByteWidth(params.type), 1);
  return std::clamp<int64_t>(kBlockBytes / row_bytes / 14 * 14, 1,
                             std::max<int64_t>(Places(params), 1));
}

ConvStep::ConvStep(ConvParams params, std::unique_ptr<Gemm> gemm, std::unique_ptr<Gemm> last,
                   int64_t rows)
    : p_(std::move(params)),
      gemm_(std::move(gemm)),
      last_(std::move(last)),
      rows_(rows),
      places_(Places(p_)),
      patch_length_(PatchLength(p_)) {
  blocks_ = (places_ + rows_ - 1) / rows_;
  patch_bytes_ = AlignUp(rows_ * patch_length_ * ByteWidth(p_.type));
  shared_bytes_ =
      AlignUp(std::max(gemm_->shared_bytes(), last_ == nullptr ? 0 : last_->shared_bytes()));
  scratch_bytes_ =
      patch_bytes_ + shared_bytes_ +
      AlignUp(std::max(gemm_->scratch_bytes(), last_ == nullptr ? 0 : last_->scratch_bytes()));
}

double ConvStep::cost_ns() const {
  return static_cast<double>(p_.batch * p_.groups) * static_cast<double>(blocks_) *
         (gemm_->cost_ns() + static_cast<double>(patch_bytes_) / 8);
}

void ConvStep::FillPatches(const char* input, int64_t first, int64_t rows, char* patches) const {
  const int size = ByteWidth(p_.type);
  const int rank = static_cast<int>(p_.spatial.size());
  const int64_t run = p_.channels * size;
  absl::InlinedVector<int64_t, 3> place(rank), tap(rank);
  int64_t rest = first;
  for (int d = rank - 1; d >= 0; --d) {
    place[d] = rest % p_.spatial[d].output_size;
    rest /= p_.spatial[d].output_size;
  }
  for (int64_t row = 0; row < rows; ++row) {
    std::fill(tap.begin(), tap.end(), 0);
    while (true) {
      // The input position that this tap sees, if there is one.
      int64_t at = 0;
      bool inside = true;
      for (int d = 0; d < rank; ++d) {
        const ConvParams::Spatial& s = p_.spatial[d];
        const int64_t dilated = place[d] * s.stride + tap[d] * s.window_dilation - s.padding_low;
        const int64_t i = s.base_dilation == 1 ? dilated : dilated / s.base_dilation;
        if (dilated < 0 || i >= s.input_size ||
            (s.base_dilation != 1 && dilated % s.base_dilation != 0)) {
          inside = false;
          break;
        }
        at += i * s.input_stride;
      }
      if (inside) {
        CopyChannels(patches, input + at * size, p_.channel_stride, p_.channels, size);
      } else {
        std::memset(patches, 0, run);
      }
      patches += run;
      int d = rank - 1;
      for (; d >= 0; --d) {
        if (++tap[d] < p_.spatial[d].window) break;
        tap[d] = 0;
      }
      if (d < 0) break;
    }
    for (int d = rank - 1; d >= 0; --d) {
      if (++place[d] < p_.spatial[d].output_size) break;
      place[d] = 0;
    }
  }
}

void ConvStep::RunBlock(const RunContext& context, int64_t unit, char* scratch) const {
  const int64_t block = unit % blocks_;
  const int64_t group = unit / blocks_ % p_.groups;
  const int64_t entry = unit / blocks_ / p_.groups;
  const int64_t first = block * rows_;
  const int64_t rows = std::min(rows_, places_ - first);
  const char* input =
      context.buffer(p_.input) +
      (p_.input_offset + entry * p_.batch_stride + group * p_.group_stride) * ByteWidth(p_.type);
  const char* kernel =
      context.buffer(p_.kernel) +
      (p_.kernel_offset + group * p_.kernel_group_stride) * ByteWidth(p_.kernel_type);
  char* output = context.buffer(p_.output) +
                 ((entry * places_ + first) * p_.output_row_stride + group * p_.features) *
                     ByteWidth(p_.output_type);
  FillPatches(input, first, rows, scratch);
  const Gemm& gemm = rows == rows_ ? *gemm_ : *last_;
  const OneProduct product(scratch, kernel, output);
  char* const shared = scratch + patch_bytes_;
  for (int phase = 0; phase < gemm.num_phases(); ++phase) {
    for (int64_t u = 0; u < gemm.num_units(phase); ++u)
      gemm.Run(product, phase, u, shared, shared + shared_bytes_);
  }
}

absl::Status ConvStep::Run(const RunContext& context) const {
  const int64_t units = p_.batch * p_.groups * blocks_;
  if (context.team == nullptr || units <= 1) {
    for (int64_t unit = 0; unit < units; ++unit) RunBlock(context, unit, context.member_scratch(0));
    return absl::OkStatus();
  }
  context.team->ParallelFor(units, [&](int64_t unit, int member) {
    RunBlock(context, unit, context.member_scratch(member));
  });
  return absl::OkStatus();
}

std::string ConvStep::Describe() const {
  return absl::StrCat("convolution ", p_.batch, " x ", p_.groups, " groups x ", places_,
                      " places, patches of ", patch_length_, ": ", gemm_->description());
}

}  // namespace pjrt::cpu
