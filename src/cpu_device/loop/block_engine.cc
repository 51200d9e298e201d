// SPDX-License-Identifier: Apache-2.0
//
// The block engine. A kernel cuts the iteration space into blocks, points the slots of its code at
// the memory that the block covers, and runs the code.
//
// Points of the iteration space are numbered row-major. A block is a run of consecutive numbers. In
// "row" mode a block lies within one run of the innermost dim, so that an input with inner stride 1
// is a pointer and one with inner stride 0 a scalar; this is the fast mode. A block is then several
// rows of the next dim where chains can run on them. In "flat" mode, for short inner dims, blocks
// cross rows, and inputs that are not dense are moved piece by piece.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/block_code.h"
#include "src/cpu_device/loop/block_frame.h"
#include "src/cpu_device/loop/block_reduce.h"
#include "src/cpu_device/loop/compare_iotas.h"
#include "src/cpu_device/loop/float_bits.h"
#include "src/cpu_device/loop/lookup_tables.h"
#include "src/cpu_device/loop/loop_engine.h"

namespace pjrt::cpu {
namespace {

// A unit of work takes about this long, so that claiming it (some 50 ns) and an uneven split cost
// little.
constexpr double kUnitNs = 20000;

// A loop without reductions: every point is computed and stored.
class MapKernel final : public LoopKernel {
 public:
  MapKernel(LoopProgram program, const BlockKernels& kernels)
      : frame_(std::move(program), kernels) {}

  absl::Status Init() {
    const LoopProgram& p = frame_.program();
    frame_.ChooseMode(/*flat_rows=*/0);
    PJRT_ASSIGN_OR_RETURN(const bool in_rows, frame_.LowerToRows());
    if (!in_rows) PJRT_RETURN_IF_ERROR(frame_.Lower({}));
    points_ = p.ElementCount();
    const double point_ns = std::max(ElementCostNs(p), ElementMemoryNs(p));
    cost_ns_ = static_cast<double>(points_) * point_ns + 30 * static_cast<double>(p.instrs.size());
    const int64_t per_unit =
        std::max<int64_t>(frame_.smallest_unit(), static_cast<int64_t>(kUnitNs / point_ns));
    if (frame_.row_mode()) {
      // Whole rows to a unit, or a part of one row.
      const int64_t row = std::max<int64_t>(frame_.row_length(), 1);
      unit_points_ = row >= per_unit ? frame_.PartOfRow(per_unit) : per_unit / row * row;
    } else {
      unit_points_ = AlignUp(per_unit);  // begins a byte of what is packed, a line of what streams
    }
    unit_points_ = std::max<int64_t>(unit_points_, 1);
    if (frame_.row_mode() && unit_points_ < frame_.row_length()) {
      units_per_row_ = CeilDiv(frame_.row_length(), unit_points_);
      units_ = points_ / frame_.row_length() * units_per_row_;
    } else {
      units_ = CeilDiv(points_, unit_points_);
    }
    return absl::OkStatus();
  }

  int64_t num_units() const override { return units_; }
  int64_t scratch_bytes() const override { return frame_.scratch_bytes(); }
  double cost_ns() const override { return cost_ns_; }
  const LoopProgram& program() const override { return frame_.program(); }
  bool CanShare(int input, int output) const override { return frame_.CanShare(input, output); }

  void Run(const char* const* inputs, char* const* outputs, int64_t begin, int64_t end,
           char* scratch) const override {
    BlockFrame::State state(frame_, inputs, outputs, scratch);
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t from, to;
      if (units_per_row_ > 0) {
        const int64_t row = unit / units_per_row_;
        const int64_t part = unit % units_per_row_;
        from = row * frame_.row_length() + part * unit_points_;
        to = std::min(from + unit_points_, (row + 1) * frame_.row_length());
      } else {
        from = unit * unit_points_;
        to = std::min(from + unit_points_, points_);
      }
      if (units_per_row_ > 0 || !frame_.row_mode()) {
        state.EvaluateInRow(from, to);
        continue;
      }
      while (from < to) {
        const int64_t n = frame_.BlockAt(from, to);
        state.Evaluate(from, n);
        from += n;
      }
    }
    if (frame_.streams()) frame_.kernels().end_stream();
  }

 private:
  BlockFrame frame_;
  int64_t points_ = 0, units_ = 0, unit_points_ = 1, units_per_row_ = 0;
  double cost_ns_ = 0;
};

class BlockBody final : public BodyKernel {
 public:
  BlockBody(LoopProgram program, const BlockKernels& kernels)
      : frame_(std::move(program), kernels) {}
  absl::Status Init() { return frame_.Lower({}); }
  int64_t scratch_bytes() const override { return frame_.scratch_bytes(); }
  int64_t max_block() const override { return frame_.block_size(); }
  void Call(const char* const* params, char* const* results, int64_t n,
            char* scratch) const override {
    BlockFrame::State state(frame_, nullptr, nullptr, scratch);
    state.Call(params, results, n);
  }

 private:
  BlockFrame frame_;
};

// What a body that is called stands for.
class CalledBody final : public BodyKernel {
 public:
  explicit CalledBody(std::shared_ptr<const BodyKernel> kernel) : kernel_(std::move(kernel)) {}
  int64_t scratch_bytes() const override { return kernel_->scratch_bytes(); }
  int64_t max_block() const override { return kernel_->max_block(); }
  void Call(const char* const* params, char* const* results, int64_t n,
            char* scratch) const override {
    kernel_->Call(params, results, n, scratch);
  }

 private:
  std::shared_ptr<const BodyKernel> kernel_;
};

class BlockEngine final : public LoopEngine {
 public:
  explicit BlockEngine(const Kernels& kernels) : kernels_(kernels) {}

  absl::StatusOr<std::unique_ptr<LoopKernel>> Compile(const LoopProgram& program) const override {
    LoopProgram simplified = program;
    CompareIotas(&simplified);
    ComputeOnBits(*kernels_.block, &simplified);
    Simplify(&simplified);
    if (!simplified.reduces.empty())
      return MakeReduceKernel(std::move(simplified), kernels_, *this);
    if (IsWorthTables(simplified, *kernels_.block)) PJRT_RETURN_IF_ERROR(MakeTables(&simplified));
    auto kernel = std::make_unique<MapKernel>(std::move(simplified), *kernels_.block);
    PJRT_RETURN_IF_ERROR(kernel->Init());
    return std::unique_ptr<LoopKernel>(std::move(kernel));
  }

  absl::StatusOr<std::unique_ptr<BodyKernel>> CompileBody(const LoopProgram& body) const override {
    if (body.called != nullptr) return std::make_unique<CalledBody>(body.called);
    auto kernel = std::make_unique<BlockBody>(body, *kernels_.block);
    PJRT_RETURN_IF_ERROR(kernel->Init());
    return std::unique_ptr<BodyKernel>(std::move(kernel));
  }

 private:
  absl::Status MakeTables(LoopProgram* program) const {
    MapKernel kernel(OnAllElements(*program), *kernels_.block);
    PJRT_RETURN_IF_ERROR(kernel.Init());
    const std::vector<char> elements = AllElements(*program);
    const std::vector<const char*> inputs(program->inputs.size(), elements.data());
    std::vector<LookupTable> tables(program->stores.size(), LookupTable(elements.size()));
    std::vector<char*> outputs;
    for (LookupTable& table : tables) outputs.push_back(table.data());
    std::vector<char> scratch(kernel.scratch_bytes() + kAlignment);
    const int64_t address = reinterpret_cast<intptr_t>(scratch.data());
    kernel.Run(inputs.data(), outputs.data(), 0, kernel.num_units(),
               scratch.data() + (AlignUp(address) - address));
    LookUp(std::move(tables), program);
    return absl::OkStatus();
  }

  const Kernels& kernels_;
};

}  // namespace

std::unique_ptr<LoopEngine> MakeBlockEngine(const Kernels& kernels) {
  return std::make_unique<BlockEngine>(kernels);
}

}  // namespace pjrt::cpu
