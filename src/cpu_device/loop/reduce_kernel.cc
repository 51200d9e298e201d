// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/reduce_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
ReduceKernel::ReduceKernel(LoopProgram program, std::vector<PrimitiveType> reads_narrow,
                           const Kernels& kernels)
    : frame_(std::move(program), *kernels.block),
      k_(*kernels.block),
      folder_(kernels, frame_.program()),
      folds_(folder_.folds()),
      reads_narrow_(std::move(reads_narrow)) {
  const LoopProgram& p = frame_.program();
  for (int d = 0; d < static_cast<int>(p.dims.size()); ++d)
    (d < p.num_outer ? outer_ : d < p.num_outer + p.num_reduced ? reduced_ : inner_) *= p.dims[d];
}

absl::Status ReduceKernel::Init(const LoopEngine& engine) {
  const LoopProgram& p = frame_.program();
  frame_.ChooseMode(FlatRows());
  PJRT_RETURN_IF_ERROR(folder_.Init(engine, reads_narrow_));
  std::vector<LoopValue> blocks;
  for (const LoopReduce& reduce : p.reduces)
    blocks.insert(blocks.end(), reduce.values.begin(), reduce.values.end());
  PJRT_RETURN_IF_ERROR(frame_.Lower(blocks));
  has_monoids_ = true;
  // Choices alone fold without their bodies, whose blocks are small: strips of a few columns of
  // many rows are slow to read.
  const bool only_choices = std::all_of(folds_.begin(), folds_.end(),
                                        [](const Fold& fold) { return fold.choice != nullptr; });
  for (const Fold& fold : folds_) {
    if (fold.body == nullptr) continue;
    has_monoids_ = false;
    if (!only_choices) block_ = std::min(block_, fold.body->max_block());
  }
  block_ = std::min(block_, frame_.block_size());
  // The folds' scratch lies behind the frame's.
  scratch_bytes_ = AlignUp(frame_.scratch_bytes()) + folder_.LayOut(ChooseWay());
  cost_ns_ = static_cast<double>(p.ElementCount()) * PointNs() + 50;
  if (outer_ != 0 && inner_ != 0) units_ = CutInUnits();
  for (const LoopReduce& reduce : p.reduces) {
    for (const LoopReduce::Output& output : reduce.outputs)
      streams_ |= output.is_read && outer_ * inner_ * ByteWidth(output.type) >= kStreamBytes;
  }
  return absl::OkStatus();
}

void ReduceKernel::Run(const char* const* inputs, char* const* outputs, int64_t begin, int64_t end,
                       char* scratch) const {
  BlockFrame::State state(frame_, inputs, outputs, scratch);
  Work w{inputs, outputs, scratch + AlignUp(frame_.scratch_bytes()), &state};
  for (int64_t unit = begin; unit < end; ++unit) RunUnit(&w, unit);
  if (streams_) k_.end_stream();
}

double ReduceKernel::BytesPerPoint() const {
  double bytes = 0;
  for (const LoopInput& input : frame_.program().inputs) bytes += ByteWidth(input.type);
  return bytes;
}
double ReduceKernel::PointNs() const {
  return std::max(ElementCostNs(frame_.program()), BytesPerPoint() / kMemoryBytesPerNs);
}

bool ReduceKernel::FindStreams(int d) {
  const LoopProgram& p = frame_.program();
  for (Fold& fold : folds_) {
    if (fold.body != nullptr && !fold.CountsCompanions()) return false;
    const size_t v = fold.value();
    const int input = frame_.InputOfBlock(fold.first_block + v);
    if (input < 0) return false;
    const Dims& strides = p.inputs[input].view.strides;
    fold.stream_stride = strides[d] * fold.value_sizes[v];
    fold.outer_stride = strides[0] * fold.value_sizes[v];
  }
  return p.stores.empty();
}

void ReduceKernel::Store(const Work& w, const Fold& fold, int64_t point, int64_t n) const {
  for (size_t i = 0; i < fold.sizes.size(); ++i) {
    const LoopReduce::Output& output = fold.reduce->outputs[i];
    if (!output.is_read) continue;
    const char* from = folder_.Accumulator(w.memory, fold, i);
    if (ConvertFn store = k_.store[output.type]; store != nullptr) {
      store(folder_.Temporary(w.memory, i), from, n);
      from = folder_.Temporary(w.memory, i);
    }
    Scatter(output, w.outputs[fold.first_output + i], from, point, n);
  }
}

// Writes n elements, consecutive over the dims that are not reduced, from point number `point` on
// (a point with reduced coordinates 0).
void ReduceKernel::Scatter(const LoopReduce::Output& output, char* array, const char* from,
                           int64_t point, int64_t n) const {
  const int size = ByteWidth(output.type);
  const LoopProgram& p = frame_.program();
  const int rank = static_cast<int>(p.dims.size());
  // Coordinates over the kept dims.
  absl::InlinedVector<int64_t, 6> dims, strides, at;
  int64_t rest = point;
  for (int d = rank - 1; d >= 0; --d) {
    const int64_t q = rest / p.dims[d];
    if (d < p.num_outer || d >= p.num_outer + p.num_reduced) {
      dims.push_back(p.dims[d]);
      strides.push_back(output.view.strides[d]);
      at.push_back(rest - q * p.dims[d]);
    }
    rest = q;
  }
  int64_t offset = output.view.offset;
  for (size_t d = 0; d < dims.size(); ++d) offset += at[d] * strides[d];
  if (dims.empty()) {
    std::memcpy(array + offset * size, from, size);
    return;
  }
  while (n > 0) {
    const int64_t piece = std::min(n, dims[0] - at[0]);
    if (strides[0] == 1 && streams_) {
      k_.stream_rows(array + offset * size, 0, from, 0, piece * size, 1);
    } else if (strides[0] == 1) {
      std::memcpy(array + offset * size, from, piece * size);
    } else {
      k_.scatter_stride[SizeLog2(size)](array + offset * size, from, strides[0], piece);
    }
    n -= piece;
    from += piece * size;
    at[0] += piece;
    offset += piece * strides[0];
    for (size_t d = 0; d + 1 < dims.size() && at[d] == dims[d]; ++d) {
      offset += strides[d + 1] - at[d] * strides[d];
      at[d] = 0;
      ++at[d + 1];
    }
  }
}

void ReduceKernel::FinishEmpty(const Work& w, int64_t o, int64_t i, int64_t n) const {
  const LoopProgram& p = frame_.program();
  for (const Fold& fold : folds_) {
    for (size_t v = 0; v < fold.sizes.size(); ++v) {
      const LoopReduce::Output& output = fold.reduce->outputs[v];
      const int size = ByteWidth(output.type);
      // Initial values have the memory type of the output.
      const LoopInput& init = p.inputs[fold.reduce->init_inputs[v]];
      const char* source =
          w.inputs[fold.reduce->init_inputs[v]] + init.view.offset * ByteWidth(init.type);
      for (int64_t k = 0; k < n; ++k) {
        int64_t rest_outer = o, rest_inner = i + k, offset = output.view.offset;
        for (int d = static_cast<int>(p.dims.size()) - 1; d >= p.num_outer + p.num_reduced; --d) {
          offset += rest_inner % p.dims[d] * output.view.strides[d];
          rest_inner /= p.dims[d];
        }
        for (int d = p.num_outer - 1; d >= 0; --d) {
          offset += rest_outer % p.dims[d] * output.view.strides[d];
          rest_outer /= p.dims[d];
        }
        std::memcpy(w.outputs[fold.first_output + v] + offset * size, source, size);
      }
    }
  }
}

ReduceKernel::Blocks ReduceKernel::BlocksAt(const Work& w, const Fold& fold,
                                            int64_t element) const {
  Blocks values;
  for (size_t i = 0; i < fold.sizes.size(); ++i)
    values.push_back(w.state->block(fold.first_block + i) + element * fold.value_sizes[i]);
  return values;
}

}  // namespace pjrt::cpu
