// SPDX-License-Identifier: Apache-2.0
//
// Functions that write the last block past the caches while they compute the next one: the same
// bits as those of loops that write through the caches, and no byte more than they were given.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"
#include "tests/cpu/level_test.h"
#include "tests/cpu/streaming_test.h"

namespace pjrt::cpu {
namespace {

constexpr PrimitiveType MemoryTypeOf(CType type) {
  return type == CType::kF64 ? F64 : type == CType::kC64 ? C64 : C128;
}

struct Function {
  BlockOp op;
  CType type;
  int operands;
};

class StreamedBesideTest : public StreamingTest {
 protected:
  void SetUp() override {
    StreamingTest::SetUp();
    if (IsSkipped()) return;
    for (int op = 0; op < kNumBlockOps; ++op) {
      for (int type = 0; type < kNumCTypes; ++type) {
        if (blocks_[0].works_beside[op][type])
          functions_.push_back(
              {static_cast<BlockOp>(op), static_cast<CType>(type), op < kNumUnaryBlockOps ? 1 : 2});
      }
    }
  }

  // Numbers of moderate size, and here and there zeros, infinities and the like.
  static LineMemory Numbers(CType type, int64_t bytes, uint32_t state) {
    LineMemory memory(bytes);
    const auto next = [&state] {
      state = state * 1664525u + 1013904223u;
      static constexpr double kRare[] = {0, -0.0, INFINITY, NAN, 1e30, -1e-30, 1, -1};
      if (state >> 18 == 5) return kRare[state >> 8 & 7];
      return 4 * (state / 0x1p+31 - 1);
    };
    const int64_t size = type == CType::kC64 ? sizeof(float) : sizeof(double);
    for (int64_t i = 0; i + size <= bytes; i += size) {
      const double wide = next();
      const auto narrow = static_cast<float>(wide);
      std::memcpy(memory.data() + i, size == 4 ? static_cast<const void*>(&narrow) : &wide, size);
    }
    return memory;
  }

  static LoopValue Append(LoopProgram* program, LoopInstr instr) {
    program->instrs.push_back(instr);
    return static_cast<LoopValue>(program->instrs.size()) - 1;
  }
  static LoopValue Load(LoopProgram* program, CType type, const LoopView& view) {
    program->inputs.push_back({MemoryTypeOf(type), view});
    LoopInstr instr;
    instr.kind = LoopInstr::kInput;
    instr.type = type;
    instr.index = static_cast<int32_t>(program->inputs.size()) - 1;
    return Append(program, instr);
  }
  static void Store(LoopProgram* program, LoopValue value, CType type, const LoopView& view) {
    LoopStore store;
    store.value = value;
    store.type = MemoryTypeOf(type);
    store.view = view;
    program->stores.push_back(store);
  }
  static LoopValue Apply(LoopProgram* program, const Function& f, LoopValue x, LoopValue y) {
    return Append(program, LoopInstr::Op(f.op, f.type, f.type, x, f.operands == 1 ? -1 : y, -1));
  }

  // The units from the last to the first, as threads might take them.
  static void Run(const LoopKernel& kernel, const std::vector<const char*>& inputs, char* output) {
    LineMemory scratch(kernel.scratch_bytes());
    for (int64_t unit = kernel.num_units(); unit-- > 0;)
      kernel.Run(inputs.data(), &output, unit, unit + 1, scratch.data());
  }
  void ExpectSameBits(const LoopProgram& program, const std::vector<LineMemory*>& in,
                      int64_t output_bytes, const std::string& what) {
    std::vector<const char*> inputs;
    for (LineMemory* memory : in) inputs.push_back(memory->data());
    LineMemory out[2] = {LineMemory(output_bytes), LineMemory(output_bytes)};
    for (const bool streams : {false, true}) {
      std::memset(out[streams].data(), 77, output_bytes);
      auto kernel = engines_[streams]->Compile(program);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      Run(**kernel, inputs, out[streams].data());
    }
    int64_t at = 0;
    while (at < output_bytes && out[false].data()[at] == out[true].data()[at]) ++at;
    EXPECT_EQ(at, output_bytes) << what;
  }

  std::vector<Function> functions_;
};

INSTANTIATE_TEST_SUITE_P(Levels, StreamedBesideTest, EachLevel(), LevelName);

std::string NameOf(const Function& f) {
  return "operation " + std::to_string(static_cast<int>(f.op)) + " of type " +
         std::to_string(static_cast<int>(f.type));
}

TEST_P(StreamedBesideTest, EachFunctionOfBlocksAndOfOneNumber) {
  for (const Function& f : functions_) {
    const int64_t size = kCTypeSize[static_cast<int>(f.type)], count = kStreamBytes / size + 77;
    LineMemory x = Numbers(f.type, count * size, 1), y = Numbers(f.type, count * size, 2);
    for (int one = -1; one < (f.operands == 1 ? 0 : 2); ++one) {
      LoopProgram p;
      p.dims = {count};
      p.num_outer = 1;
      const LoopValue a = Load(&p, f.type, {0, {one == 0 ? 0 : 1}});
      const LoopValue b = f.operands == 1 ? -1 : Load(&p, f.type, {0, {one == 1 ? 0 : 1}});
      Store(&p, Apply(&p, f, a, b), f.type, {0, {1}});
      ExpectSameBits(p, {&x, &y}, count * size, NameOf(f));
    }
  }
}

// Registers of values that are done hold others, while the last block is not written yet.
TEST_P(StreamedBesideTest, FunctionsOfFunctionsInRowsOfAnyLength) {
  struct Shape {
    int64_t rows, columns, apart;
  };
  for (const Function& f : functions_) {
    if (f.operands != 1 && f.op != BlockOp::kAtan2) continue;
    const int64_t size = kCTypeSize[static_cast<int>(f.type)];
    for (const Shape& s :
         {Shape{3, 700000, 700000}, Shape{1100, 1024, 1040}, Shape{2000, 1000, 1000}}) {
      if (f.op != BlockOp::kTanh && f.op != BlockOp::kAtan2 && s.rows != 3) continue;
      LineMemory x = Numbers(f.type, s.rows * s.columns * size, 3);
      LineMemory of_row = Numbers(f.type, s.rows * size, 4);
      LoopProgram p;
      p.dims = {s.rows, s.columns};
      p.num_outer = 2;
      const LoopValue a = Load(&p, f.type, {0, {s.columns, 1}});
      const LoopValue b = Load(&p, f.type, {0, {1, 0}});
      const LoopValue first = Apply(&p, f, a, b);
      const LoopValue sum = Append(&p, LoopInstr::Op(BlockOp::kAdd, f.type, f.type, first, a, -1));
      const LoopValue second = Apply(&p, f, sum, first);
      const LoopValue product =
          Append(&p, LoopInstr::Op(BlockOp::kMultiply, f.type, f.type, second, b, -1));
      Store(&p, product, f.type, {0, {s.apart, 1}});
      ExpectSameBits(p, {&x, &of_row}, s.rows * s.apart * size, NameOf(f));
    }
  }
}

TEST_P(StreamedBesideTest, AResultMayTakeTheMemoryOfAnOperand) {
  for (const Function& f : functions_) {
    if (f.op != BlockOp::kTanh && f.op != BlockOp::kPower) continue;
    const int64_t size = kCTypeSize[static_cast<int>(f.type)], count = kStreamBytes / size + 77;
    LoopProgram p;
    p.dims = {count};
    p.num_outer = 1;
    const LoopValue a = Load(&p, f.type, {0, {1}});
    Store(&p, Apply(&p, f, a, a), f.type, {0, {1}});
    LineMemory x = Numbers(f.type, count * size, 5), expected(count * size);
    for (const bool shares : {false, true}) {
      auto kernel = engines_[shares]->Compile(p);
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      Run(**kernel, {x.data()}, shares ? x.data() : expected.data());
    }
    EXPECT_EQ(std::memcmp(x.data(), expected.data(), count * size), 0) << NameOf(f);
  }
}

// What is asked for need not be there.
TEST_P(StreamedBesideTest, FunctionsDoSomeOfWhatTheyAreGivenAndNothingElse) {
  for (const Function& f : functions_) {
    const int64_t size = kCTypeSize[static_cast<int>(f.type)];
    const BlockFn run = blocks_[0].op[static_cast<int>(f.op)][static_cast<int>(f.type)][0];
    for (const int64_t count : {1, 15, 64, 200, 256}) {
      LineMemory x = Numbers(f.type, count * size, 6), y = Numbers(f.type, count * size, 7);
      LineMemory expected(count * size), result(count * size);
      const void* const second = f.operands == 1 ? nullptr : y.data();
      run(expected.data(), x.data(), second, nullptr, count);
      for (const int64_t bytes : {0, 64, 192, 1024, 2048, 4096}) {
        LineMemory from = Numbers(CType::kF64, bytes, 8), to(bytes + 64);
        std::memset(to.data(), 77, to.size());
        const Beside beside = {to.data(), from.data(), {x.data() + 4096, nullptr},
                               1 << 20,   bytes,       0};
        run(result.data(), x.data(), second, &beside, count);
        blocks_[0].end_stream();
        EXPECT_EQ(std::memcmp(expected.data(), result.data(), count * size), 0) << NameOf(f);
        ASSERT_LE(beside.done, bytes) << NameOf(f);
        EXPECT_EQ(beside.done % 64, 0) << NameOf(f);
        if (count == 256 && bytes % 1024 == 0) {
          EXPECT_GE(beside.done, std::min(bytes, count * size / 2)) << NameOf(f);
        }
        EXPECT_EQ(std::memcmp(to.data(), from.data(), beside.done), 0) << NameOf(f);
        for (int64_t i = beside.done; i < to.size(); ++i) ASSERT_EQ(to.data()[i], 77) << NameOf(f);
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
