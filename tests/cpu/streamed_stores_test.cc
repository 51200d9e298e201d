// SPDX-License-Identifier: Apache-2.0
//
// Results so large that they are written past the caches, where the processor reads lines before it
// writes them: the same bits as those of loops that write through the caches.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"
#include "tests/cpu/level_test.h"
#include "tests/cpu/streaming_test.h"

namespace pjrt::cpu {
namespace {

class StreamedStoresTest : public StreamingTest {
 protected:
  static LoopValue Append(LoopProgram* program, LoopInstr instr) {
    program->instrs.push_back(instr);
    return static_cast<LoopValue>(program->instrs.size()) - 1;
  }
  static LoopValue Load(LoopProgram* program, PrimitiveType type, const LoopView& view) {
    program->inputs.push_back({type, view});
    LoopInstr instr;
    instr.kind = LoopInstr::kInput;
    instr.type = ComputeTypeOf(type);
    instr.index = static_cast<int32_t>(program->inputs.size()) - 1;
    return Append(program, instr);
  }
  static void Store(LoopProgram* program, LoopValue value, PrimitiveType type,
                    const LoopView& view) {
    LoopStore store;
    store.value = value;
    store.type = type;
    store.view = view;
    program->stores.push_back(store);
  }

  std::unique_ptr<LoopKernel> Compile(bool streams, const LoopProgram& program) {
    auto kernel = engines_[streams]->Compile(program);
    EXPECT_TRUE(kernel.ok()) << kernel.status();
    return kernel.ok() ? *std::move(kernel) : nullptr;
  }
  // The units from the last to the first, as threads might take them.
  static void Run(const LoopKernel& kernel, const std::vector<const char*>& inputs,
                  const std::vector<char*>& outputs) {
    LineMemory scratch(kernel.scratch_bytes());
    for (int64_t unit = kernel.num_units(); unit-- > 0;)
      kernel.Run(inputs.data(), outputs.data(), unit, unit + 1, scratch.data());
  }

  // Runs a program both ways on inputs of bytes that count, and compares outputs of so many bytes.
  void ExpectSameBits(const LoopProgram& program, const std::vector<int64_t>& input_bytes,
                      const std::vector<int64_t>& output_bytes) {
    std::vector<LineMemory> in;
    std::vector<const char*> inputs;
    for (const int64_t bytes : input_bytes) {
      in.emplace_back(bytes);
      uint32_t state = 1;
      for (int64_t i = 0; i < bytes; ++i) {
        state = state * 1664525u + 1013904223u;
        in.back().data()[i] = static_cast<char>(state >> 24);
      }
    }
    for (LineMemory& lines : in) inputs.push_back(lines.data());
    std::vector<LineMemory> out[2];
    for (const bool streams : {false, true}) {
      std::vector<char*> outputs;
      for (const int64_t bytes : output_bytes) out[streams].emplace_back(bytes);
      for (LineMemory& lines : out[streams]) {
        std::memset(lines.data(), 77, lines.size());
        outputs.push_back(lines.data());
      }
      const std::unique_ptr<LoopKernel> kernel = Compile(streams, program);
      ASSERT_NE(kernel, nullptr);
      Run(*kernel, inputs, outputs);
    }
    for (size_t i = 0; i < output_bytes.size(); ++i)
      EXPECT_EQ(std::memcmp(out[false][i].data(), out[true][i].data(), output_bytes[i]), 0) << i;
  }
};

INSTANTIATE_TEST_SUITE_P(Levels, StreamedStoresTest, EachLevel(), LevelName);

TEST_P(StreamedStoresTest, OneOperationOnALineOfAnyLength) {
  const int64_t least = kStreamBytes / 4;
  for (const int64_t count : {least, least + 1, least + 1000003}) {
    LoopProgram p;
    p.dims = {count};
    p.num_outer = 1;
    const LoopValue x = Load(&p, U32, {0, {1}}), y = Load(&p, U32, {0, {1}});
    const LoopValue sum =
        Append(&p, LoopInstr::Op(BlockOp::kAdd, CType::kU32, CType::kU32, x, y, -1));
    Store(&p, sum, U32, {0, {1}});
    ExpectSameBits(p, {count * 4, count * 4}, {count * 4});
  }
}

TEST_P(StreamedStoresTest, ResultsOfSeveralWidthsAndOneThatIsSmall) {
  const int64_t count = kStreamBytes + 4321;
  LoopProgram p;
  p.dims = {count};
  p.num_outer = 1;
  const LoopValue x = Load(&p, U8, {0, {1}});
  const LoopValue changed =
      Append(&p, LoopInstr::Op(BlockOp::kNot, CType::kU8, CType::kU8, x, -1, -1));
  LoopInstr widen;
  widen.kind = LoopInstr::kConvert;
  widen.type = CType::kU32;
  widen.args[0] = changed;
  const LoopValue wide = Append(&p, widen);
  Store(&p, changed, U8, {0, {1}});
  Store(&p, wide, U32, {0, {1}});
  Store(&p, x, U8, {0, {1}});
  ExpectSameBits(p, {count}, {count, count * 4, count});
}

// Rows of whole lines, of parts of lines, and behind each other with gaps; short ones are in blocks
// that cross rows.
TEST_P(StreamedStoresTest, RowsWithAnElementOrARowForAll) {
  struct Shape {
    int64_t rows, columns, apart, offset;
  };
  for (const Shape& s :
       {Shape{5000, 1024, 1024, 0}, Shape{5000, 1000, 1000, 0}, Shape{5000, 1024, 1040, 16},
        Shape{5000, 1024, 1030, 3}, Shape{200000, 24, 24, 0}, Shape{60000, 80, 80, 0}}) {
    LoopProgram p;
    p.dims = {s.rows, s.columns};
    p.num_outer = 2;
    const LoopValue x = Load(&p, U32, {0, {s.columns, 1}});
    const LoopValue of_row = Load(&p, U32, {0, {1, 0}}), of_column = Load(&p, U32, {0, {0, 1}});
    const LoopValue sum =
        Append(&p, LoopInstr::Op(BlockOp::kAdd, CType::kU32, CType::kU32, x, of_row, -1));
    const LoopValue product =
        Append(&p, LoopInstr::Op(BlockOp::kMultiply, CType::kU32, CType::kU32, sum, of_column, -1));
    Store(&p, product, U32, {s.offset, {s.apart, 1}});
    ExpectSameBits(p, {s.rows * s.columns * 4, s.rows * 4, s.columns * 4},
                   {(s.offset + s.rows * s.apart) * 4});
  }
}

TEST_P(StreamedStoresTest, AResultMayTakeTheMemoryOfAnInput) {
  const int64_t count = kStreamBytes / 4 + 77;
  LoopProgram p;
  p.dims = {count};
  p.num_outer = 1;
  const LoopValue x = Load(&p, U32, {0, {1}});
  const LoopValue square =
      Append(&p, LoopInstr::Op(BlockOp::kMultiply, CType::kU32, CType::kU32, x, x, -1));
  Store(&p, square, U32, {0, {1}});
  const std::unique_ptr<LoopKernel> kernel = Compile(true, p);
  ASSERT_NE(kernel, nullptr);
  ASSERT_TRUE(kernel->CanShare(0, 0));
  LineMemory array(count * 4);
  auto* const elements = reinterpret_cast<uint32_t*>(array.data());
  for (int64_t i = 0; i < count; ++i) elements[i] = static_cast<uint32_t>(i) * 2654435769u;
  Run(*kernel, {array.data()}, {array.data()});
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t before = static_cast<uint32_t>(i) * 2654435769u;
    ASSERT_EQ(elements[i], before * before) << i;
  }
}

TEST_P(StreamedStoresTest, MoreInputsThanAreAskedForOfAllWidths) {
  const int64_t count = kStreamBytes / 8 + 1234;
  LoopProgram p;
  p.dims = {count};
  p.num_outer = 1;
  std::vector<int64_t> input_bytes;
  LoopValue sum = -1;
  for (int i = 0; i < kMostAsked + 3; ++i) {
    const PrimitiveType type = i % 3 == 0 ? U8 : i % 3 == 1 ? U32 : U64;
    input_bytes.push_back(count * ByteWidth(type));
    LoopInstr widen;
    widen.kind = LoopInstr::kConvert;
    widen.type = CType::kU64;
    widen.args[0] = Load(&p, type, {0, {1}});
    const LoopValue x = type == U64 ? widen.args[0] : Append(&p, widen);
    sum = sum < 0 ? x
                  : Append(&p, LoopInstr::Op(BlockOp::kXor, CType::kU64, CType::kU64, sum, x, -1));
  }
  Store(&p, sum, U64, {0, {1}});
  ExpectSameBits(p, input_bytes, {count * 8});
}

// What is asked for need not be there, and what lies beside the bytes stays.
TEST_P(StreamedStoresTest, BytesAreWrittenWhateverIsAskedForMeanwhile) {
  const BlockKernels& k = *GetParam()->block;
  const std::vector<char> source(2000, 7);
  for (const int64_t bytes : {0, 1, 63, 64, 65, 256, 1000, 1024}) {
    for (const int64_t offset : {0, 1, 32, 63}) {
      for (int64_t count = 0; count <= kMostAsked; ++count) {
        for (const int64_t step : {1, 24, 64, 512}) {
          std::vector<AskedMemory> asked;
          for (int64_t i = 0; i < count; ++i)
            asked.push_back({source.data() + 1000 * i, 6000 * i, i % 2 == 0 ? step : 64});
          LineMemory result(1200);
          std::memset(result.data(), 77, result.size());
          k.stream_asking(result.data() + offset, source.data() + 3, bytes, asked.data(), count);
          k.end_stream();
          for (int64_t i = 0; i < count; ++i) {
            const int64_t moved = bytes * (i % 2 == 0 ? step : 64) / 64;
            EXPECT_EQ(asked[i].next, source.data() + 1000 * i + moved);
          }
          for (int64_t i = 0; i < result.size(); ++i) {
            ASSERT_EQ(result.data()[i], i >= offset && i < offset + bytes ? 7 : 77)
                << bytes << " at " << offset << ", " << count << " arrays, byte " << i;
          }
        }
      }
    }
  }
}

// Stored packed, streamed or not, and read packed again.
TEST_P(StreamedStoresTest, PackedResults) {
  for (const PrimitiveType type : {S4, U4, S2, U2}) {
    const int bits = BitWidth(type);
    const int64_t count = kStreamBytes * 8 / bits + 11;
    LoopProgram p;
    p.dims = {count};
    p.num_outer = 1;
    const LoopValue x = Load(&p, type, {0, {1}}), y = Load(&p, type, {0, {1}});
    p.inputs[0].packed = p.inputs[1].packed = type;
    const CType byte = ComputeTypeOf(type);
    Store(&p, Append(&p, LoopInstr::Op(BlockOp::kAdd, byte, byte, x, y, -1)), type, {0, {1}});
    p.stores[0].packed = type;
    const int64_t bytes = CeilDiv(count * bits, 8);
    ExpectSameBits(p, {bytes, bytes}, {bytes});
  }
}

}  // namespace
}  // namespace pjrt::cpu
