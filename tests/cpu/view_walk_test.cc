// SPDX-License-Identifier: Apache-2.0
//
// The pieces of a view, and inputs that repeat a pattern, against one element at a time.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/loop/view_walk.h"

namespace pjrt::cpu {
namespace {

int64_t OffsetOf(const LoopView& view, const Dims& dims, int64_t point) {
  int64_t offset = view.offset;
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    offset += point % dims[d] * view.strides[d];
    point /= dims[d];
  }
  return offset;
}

TEST(ViewWalkTest, PiecesAreTheElementsInOrder) {
  std::mt19937 random(3);
  const auto below = [&](int n) { return static_cast<int64_t>(random() % n); };
  for (int sample = 0; sample < 2000; ++sample) {
    Dims dims;
    LoopView view;
    view.offset = below(5);
    int64_t points = 1;
    for (int64_t rank = below(5); rank > 0; --rank) {
      dims.push_back(1 + below(5));
      points *= dims.back();
      view.strides.push_back(below(3) == 0 ? 0 : below(40) - 10);
    }
    if (below(2) == 0) {  // dense, at least within
      int64_t stride = 1;
      for (int64_t d = static_cast<int64_t>(dims.size()) - 1; d >= 0 && below(4) != 0; --d) {
        view.strides[d] = stride;
        stride *= dims[d];
      }
    }
    const int64_t from = below(static_cast<int>(points));
    const int64_t n = 1 + below(static_cast<int>(points - from));
    std::vector<int64_t> got;
    ViewWalk(view, dims)
        .ForEachPiece(
            from, n,
            [&](int64_t offset, int64_t rows, int64_t row_stride, int64_t count, int64_t stride) {
              for (int64_t row = 0; row < rows; ++row) {
                for (int64_t i = 0; i < count; ++i)
                  got.push_back(offset + row * row_stride + i * stride);
              }
            });
    std::vector<int64_t> want;
    for (int64_t i = 0; i < n; ++i) want.push_back(OffsetOf(view, dims, from + i));
    ASSERT_EQ(got, want) << "sample " << sample;
  }
}

// out = dense + repeated, for patterns whose period divides no block.
void CheckRepeats(const Dims& dims, const Dims& strides) {
  LoopProgram program;
  program.dims = dims;
  program.num_outer = static_cast<int>(dims.size());
  LoopView dense;
  int64_t points = 1;
  dense.strides.resize(dims.size());
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    dense.strides[d] = points;
    points *= dims[d];
  }
  const LoopView repeated{2, strides};
  for (const LoopView& view : {dense, repeated}) {
    program.inputs.push_back({S32, view});
    LoopInstr load;
    load.kind = LoopInstr::kInput;
    load.type = CType::kS32;
    load.index = static_cast<int32_t>(program.instrs.size());
    program.instrs.push_back(load);
  }
  LoopInstr add;
  add.kind = LoopInstr::kOp;
  add.op = BlockOp::kAdd;
  add.type = add.operand_type = CType::kS32;
  add.args[0] = 0;
  add.args[1] = 1;
  program.instrs.push_back(add);
  program.stores.push_back({2, S32, dense});
  std::vector<int32_t> a(points), b(10000), got(points);
  for (int64_t i = 0; i < points; ++i) a[i] = static_cast<int32_t>(i * 7);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int32_t>(i * i);
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const std::unique_ptr<LoopEngine> engine = MakeBlockEngine(*kernels);
    auto kernel = engine->Compile(program);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::vector<char> scratch((*kernel)->scratch_bytes() + 64);
    char* aligned = scratch.data();
    aligned += 64 - reinterpret_cast<uintptr_t>(aligned) % 64;
    const char* inputs[] = {reinterpret_cast<const char*>(a.data()),
                            reinterpret_cast<const char*>(b.data())};
    char* outputs[] = {reinterpret_cast<char*>(got.data())};
    // Units one by one and backwards: each finds its pattern.
    for (int64_t unit = (*kernel)->num_units() - 1; unit >= 0; --unit)
      (*kernel)->Run(inputs, outputs, unit, unit + 1, aligned);
    for (int64_t i = 0; i < points; ++i)
      ASSERT_EQ(got[i], a[i] + b[OffsetOf(repeated, dims, i)]) << kernels->name << " point " << i;
    std::fill(got.begin(), got.end(), 0);
    (*kernel)->Run(inputs, outputs, 0, (*kernel)->num_units(), aligned);
    for (int64_t i = 0; i < points; ++i)
      ASSERT_EQ(got[i], a[i] + b[OffsetOf(repeated, dims, i)]) << kernels->name << " point " << i;
  }
}

TEST(BlockEngineTest, RowsThatRepeatAreAdded) {
  CheckRepeats({40000, 3}, {0, 1});
  CheckRepeats({3000, 63}, {0, 1});
  CheckRepeats({900, 200}, {0, 1});
  CheckRepeats({100, 2000}, {0, 1});
}

TEST(BlockEngineTest, PatternsChangeWithOuterCoordinates) {
  CheckRepeats({5, 700, 8, 8}, {8, 0, 1, 0});
  CheckRepeats({3, 999, 3}, {-1, 0, 1});  // offsets from 2 down
  CheckRepeats({3, 500, 5, 30}, {100, 0, 0, 3});
  CheckRepeats({4, 10, 7}, {7, 0, 1});  // too short a stretch
}

}  // namespace
}  // namespace pjrt::cpu
