// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/scatter_step.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/run/index.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kSlot = 16;  // bytes an element takes in scratch at most

}  // namespace

ScatterStep::ScatterStep(ScatterParams params) : p_(std::move(params)) {
  points_ = p_.space.count();
  if (p_.body != nullptr) block_ = std::min(block_, p_.body->max_block());
  // For each array: current values, updates, results, and their memory types' bits.
  scratch_bytes_ = static_cast<int64_t>(p_.arrays.size()) * 4 * block_ * kSlot +
                   (p_.body != nullptr ? (p_.body->scratch_bytes() + 63) / 64 * 64 : 0);
}

double ScatterStep::cost_ns() const {
  double window = 1;
  for (const ScatterParams::Dim& dim : p_.dims) window *= static_cast<double>(dim.window_size);
  return 20 +
         static_cast<double>(points_) * (10 + window * (p_.mode == ScatterParams::kBody ? 10 : 1) *
                                                  static_cast<double>(p_.arrays.size()));
}

void ScatterStep::Combine(const RunContext& context, int64_t array_at, int64_t array_stride,
                          int64_t update_at, int64_t update_stride, int64_t n) const {
  const BlockKernels& k = *p_.kernels;
  if (p_.mode != ScatterParams::kBody) {
    for (const ScatterParams::Array& a : p_.arrays) {
      const int size = ByteWidth(a.type);
      char* to = context.buffer(a.result) + array_at * size;
      const char* from = context.buffer(a.update) + (a.update_offset + update_at) * size;
      const bool contiguous = (array_stride == 1 && update_stride == 1) || n == 1;
      if (p_.mode == ScatterParams::kReplace) {
        if (contiguous) {
          std::memcpy(to, from, n * size);
        } else {
          for (int64_t i = 0; i < n; ++i)
            std::memcpy(to + i * array_stride * size, from + i * update_stride * size, size);
        }
      } else if (contiguous) {
        p_.op(to, to, from, nullptr, n);
      } else {
        for (int64_t i = 0; i < n; ++i)
          p_.op(to + i * array_stride * size, to + i * array_stride * size,
                from + i * update_stride * size, nullptr, 1);
      }
    }
    return;
  }
  const size_t count = p_.arrays.size();
  char* const scratch = context.member_scratch(0);
  const auto slot = [&](int kind, size_t i) {
    return scratch +
           (static_cast<int64_t>(kind) * static_cast<int64_t>(count) + static_cast<int64_t>(i)) *
               block_ * kSlot;
  };
  absl::InlinedVector<const char*, 8> params(2 * count);
  absl::InlinedVector<char*, 4> results(count);
  for (int64_t done = 0; done < n; done += block_) {
    const int64_t m = std::min(block_, n - done);
    for (size_t i = 0; i < count; ++i) {
      const ScatterParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const auto load = [&](const char* from, int64_t stride, char* to) {
        if (ConvertFn convert = k.load[a.type]; convert != nullptr) {
          k.gather_stride[SizeLog2(size)](slot(3, i), from, stride, m);
          convert(to, slot(3, i), m);
        } else {
          k.gather_stride[SizeLog2(size)](to, from, stride, m);
        }
      };
      load(context.buffer(a.result) + (array_at + done * array_stride) * size, array_stride,
           slot(0, i));
      load(context.buffer(a.update) + (a.update_offset + update_at + done * update_stride) * size,
           update_stride, slot(1, i));
      params[i] = slot(0, i);
      params[count + i] = slot(1, i);
      results[i] = slot(2, i);
    }
    p_.body->Call(params.data(), results.data(), m,
                  scratch + static_cast<int64_t>(count) * 4 * block_ * kSlot);
    for (size_t i = 0; i < count; ++i) {
      const ScatterParams::Array& a = p_.arrays[i];
      const int size = ByteWidth(a.type);
      const char* from = results[i];
      if (ConvertFn convert = k.store[a.type]; convert != nullptr) {
        convert(slot(3, i), from, m);
        from = slot(3, i);
      }
      k.scatter_stride[SizeLog2(size)](
          context.buffer(a.result) + (array_at + done * array_stride) * size, from, array_stride,
          m);
    }
  }
}

absl::Status ScatterStep::Run(const RunContext& context) const {
  const IndexSpace& space = p_.space;
  const char* indices = context.buffer(p_.indices);
  const int rank = static_cast<int>(space.dims.size());
  const size_t dims = p_.dims.size();
  absl::InlinedVector<int64_t, 6> at(rank, 0);
  int64_t index = p_.indices_offset, window = 0, base = 0;
  absl::InlinedVector<int64_t, 6> first(dims), last(dims), position(dims);
  for (int64_t point = 0; point < points_; ++point) {
    // The part of the window that lies within the array: elements outside are dropped one by one.
    int64_t array_at = base, update_at = window;
    bool any = true;
    for (size_t d = 0; d < dims; ++d) {
      const ScatterParams::Dim& dim = p_.dims[d];
      if (dim.size < 0) {
        first[d] = 0;
        last[d] = 1;
        continue;
      }
      const int64_t start =
          dim.index_offset < 0 ? 0 : ReadIndex(p_.index_type, indices, index + dim.index_offset);
      // start + i in [0, size): written so that no sum overflows.
      first[d] = start >= 0 ? 0 : start < -dim.window_size ? dim.window_size : -start;
      last[d] = start >= dim.size ? 0
                                  : std::min(dim.window_size,
                                             dim.size - std::max<int64_t>(start, -dim.window_size));
      if (first[d] >= last[d]) {
        any = false;
        break;
      }
      array_at += (start + first[d]) * dim.array_stride;
      update_at += first[d] * dim.window_stride;
    }
    if (any) {
      // Runs along the innermost dim that has more than one element.
      int inner = static_cast<int>(dims) - 1;
      while (inner > 0 && last[inner] - first[inner] == 1) --inner;
      const int64_t n = dims == 0 ? 1 : last[inner] - first[inner];
      const int64_t array_stride = dims == 0 ? 1 : p_.dims[inner].array_stride;
      const int64_t update_stride = dims == 0 ? 1 : p_.dims[inner].window_stride;
      std::fill(position.begin(), position.end(), 0);
      while (true) {
        Combine(context, array_at, array_stride, update_at, update_stride, n);
        int d = inner - 1;
        for (; d >= 0; --d) {
          array_at += p_.dims[d].array_stride;
          update_at += p_.dims[d].window_stride;
          if (++position[d] < last[d] - first[d]) break;
          array_at -= p_.dims[d].array_stride * position[d];
          update_at -= p_.dims[d].window_stride * position[d];
          position[d] = 0;
        }
        if (d < 0) break;
      }
    }
    for (int d = rank - 1; d >= 0; --d) {
      index += space.index_strides[d];
      window += space.window_strides[d];
      base += space.array_strides[d];
      if (++at[d] < space.dims[d]) break;
      index -= space.index_strides[d] * space.dims[d];
      window -= space.window_strides[d] * space.dims[d];
      base -= space.array_strides[d] * space.dims[d];
      at[d] = 0;
    }
  }
  return absl::OkStatus();
}

// One update of one element.
bool ScatterStep::EmitScalar(ScalarAssembler* assembler) const {
  if (points_ != 1 || p_.mode == ScatterParams::kBody) return false;
  for (const ScatterParams::Array& a : p_.arrays) {
    if (ByteWidth(a.type) > 8) return false;
  }
  const int bytes = ByteWidth(p_.index_type);
  const ScalarAssembler::Label outside = assembler->NewLabel();
  ScalarAssembler::Reg at = assembler->Integer(0);
  for (const ScatterParams::Dim& dim : p_.dims) {
    if (dim.window_size != 1) return false;
    if (dim.size < 0 || dim.index_offset < 0) continue;
    const ScalarAssembler::Reg index = assembler->WideIndex(
        p_.index_type,
        assembler->Read(p_.indices, (p_.indices_offset + dim.index_offset) * bytes, bytes));
    assembler->JumpUnlessBelow(index, assembler->Integer(dim.size), outside);
    at = assembler->MulAdd(index, dim.array_stride, at);
  }
  for (const ScatterParams::Array& a : p_.arrays) {
    const int size = ByteWidth(a.type);
    const ScalarAssembler::Reg offset = assembler->MulAdd(at, size, assembler->Integer(0));
    ScalarAssembler::Reg value = assembler->Read(a.update, a.update_offset * size, size);
    if (p_.mode == ScatterParams::kOp)
      value = assembler->CallOp(p_.op, assembler->ReadAt(a.result, 0, offset, size), value);
    assembler->WriteAt(a.result, 0, offset, size, value);
  }
  assembler->Bind(outside);
  return true;
}

std::string ScatterStep::Describe() const {
  return absl::StrCat("scatter ", points_, " windows into ", p_.arrays.size(), " arrays");
}

}  // namespace pjrt::cpu
