// SPDX-License-Identifier: Apache-2.0
//
// A block of lines is scanned at once, so that the fold is a vector operation whichever dim is
// scanned: element i of all lines is gathered, folded into the running values, and written.
#include "src/cpu_device/steps/scan_step.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kSlot = 16;
// Lines a block when they lie apart: their cache lines (64 bytes each) then stay in L1 from one
// element to the next.
constexpr int64_t kStridedLines = 128;
constexpr int64_t kContiguousLines = 1024;

}  // namespace

ScanStep::ScanStep(ScanParams params) : p_(std::move(params)) {
  lines_ = std::min(p_.inner, p_.line_stride == 1 ? kContiguousLines : kStridedLines);
  if (p_.body != nullptr) lines_ = std::min(lines_, p_.body->max_block());
  lines_ = std::max<int64_t>(lines_, 1);
  blocks_per_outer_ = (p_.inner + lines_ - 1) / lines_;
  scratch_bytes_ = static_cast<int64_t>(p_.arrays.size()) * 4 * lines_ * kSlot +
                   (p_.body != nullptr ? (p_.body->scratch_bytes() + 63) / 64 * 64 : 0);
}

double ScanStep::cost_ns() const {
  return 50 + static_cast<double>(p_.outer * p_.inner) * static_cast<double>(p_.length) *
                  static_cast<double>(p_.arrays.size()) *
                  ((p_.line_stride == 1 ? 0.4 : 1.5) + (p_.body != nullptr ? 2 : 0));
}

void ScanStep::RunBlock(const RunContext& context, int64_t block, char* scratch) const {
  const BlockKernels& k = *p_.kernels;
  const int64_t line = block % blocks_per_outer_ * lines_;
  const int64_t n = std::min(lines_, p_.inner - line);
  const int64_t base = block / blocks_per_outer_ * p_.outer_stride + line * p_.line_stride;
  const size_t count = p_.arrays.size();
  // Running values, new values, results of a body, bits of memory types.
  const auto slot = [&](int kind, size_t i) {
    return scratch +
           (static_cast<int64_t>(kind) * static_cast<int64_t>(count) + static_cast<int64_t>(i)) *
               lines_ * kSlot;
  };
  absl::InlinedVector<const char*, 8> params(2 * count);
  absl::InlinedVector<char*, 4> results(count);
  for (int64_t step = 0; step < p_.length; ++step) {
    const int64_t at = base + (p_.is_reverse ? p_.length - 1 - step : step) * p_.scan_stride;
    for (size_t i = 0; i < count; ++i) {
      const ScanParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const char* from = context.buffer(a.from) + (a.from_offset + at) * size;
      char* values = slot(1, i);
      ConvertFn load = k.load[a.type];
      k.gather_stride[SizeLog2(size)](load == nullptr ? values : slot(3, i), from, p_.line_stride,
                                      n);
      if (load != nullptr) load(values, slot(3, i), n);
      if (step == 0) {
        // The initial value comes first.
        char one[16];
        const char* init = context.buffer(a.init) + a.init_offset * size;
        if (load != nullptr) {
          load(one, init, 1);
          init = one;
        }
        k.fill[SizeLog2(kCTypeSize[static_cast<int>(ComputeTypeOf(a.type))])](slot(0, i), init, n);
      }
      params[i] = slot(0, i);
      params[count + i] = values;
      results[i] = slot(2, i);
    }
    if (p_.op != nullptr) {
      p_.op(slot(0, 0), slot(0, 0), slot(1, 0), nullptr, n);
    } else {
      p_.body->Call(params.data(), results.data(), n,
                    scratch + static_cast<int64_t>(count) * 4 * lines_ * kSlot);
      for (size_t i = 0; i < count; ++i)
        std::memcpy(slot(0, i), results[i],
                    n * kCTypeSize[static_cast<int>(ComputeTypeOf(p_.arrays[i].type))]);
    }
    for (size_t i = 0; i < count; ++i) {
      const ScanParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const char* values = slot(0, i);
      if (ConvertFn store = k.store[a.type]; store != nullptr) {
        store(slot(3, i), values, n);
        values = slot(3, i);
      }
      k.scatter_stride[SizeLog2(size)](context.buffer(a.to) + at * size, values, p_.line_stride, n);
    }
  }
}

absl::Status ScanStep::Run(const RunContext& context) const {
  const int64_t blocks = p_.outer * blocks_per_outer_;
  if (context.team == nullptr || blocks <= 1) {
    for (int64_t block = 0; block < blocks; ++block)
      RunBlock(context, block, context.member_scratch(0));
    return absl::OkStatus();
  }
  context.team->ParallelFor(blocks, [&](int64_t block, int member) {
    RunBlock(context, block, context.member_scratch(member));
  });
  return absl::OkStatus();
}

std::string ScanStep::Describe() const {
  return absl::StrCat("scan of ", p_.outer * p_.inner, " lines of ", p_.length);
}

}  // namespace pjrt::cpu
