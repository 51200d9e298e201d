// SPDX-License-Identifier: Apache-2.0
//
// Loops over elements of 8 and 16 bits that look their results up, against the same loops on so few
// points that they compute them.
#include "src/cpu_device/loop/lookup_tables.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/loop/narrow_functions.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kMany = 20011, kManyWords = 300007;

LoopValue Append(LoopProgram* p, LoopInstr::Kind kind, CType type, LoopValue arg) {
  LoopInstr instr;
  instr.kind = kind;
  instr.type = type;
  instr.args[0] = arg;
  p->instrs.push_back(instr);
  return static_cast<LoopValue>(p->instrs.size()) - 1;
}
LoopValue AppendUnary(LoopProgram* p, BlockOp op, CType type, LoopValue arg) {
  p->instrs.push_back(LoopInstr::Op(op, type, type, arg, -1, -1));
  return static_cast<LoopValue>(p->instrs.size()) - 1;
}
void AppendStore(LoopProgram* p, LoopValue value, PrimitiveType type, const LoopView& view) {
  p->stores.push_back({value, type, view});
}

// A loop over n elements of `type` one after the other, with its input and no results yet.
LoopProgram Over(int64_t n, PrimitiveType type) {
  LoopProgram p;
  p.dims = {n};
  p.num_outer = 1;
  p.inputs.push_back({type, {0, {1}}});
  Append(&p, LoopInstr::kInput, ComputeTypeOf(type), -1);
  p.instrs[0].index = 0;
  return p;
}

// `op` of each number as f32, stored as `result`.
LoopProgram FunctionLoop(int64_t n, PrimitiveType type, BlockOp op, PrimitiveType result) {
  LoopProgram p = Over(n, type);
  LoopValue v = 0;
  if (ComputeTypeOf(type) != CType::kF32) v = Append(&p, LoopInstr::kConvert, CType::kF32, v);
  v = AppendUnary(&p, op, CType::kF32, v);
  if (const CType to = ComputeTypeOf(result); to != CType::kF32)
    v = Append(&p, LoopInstr::kConvert, to, v);
  AppendStore(&p, v, result, {0, {1}});
  return p;
}

// What each store of the program gives on `input`, and whether it was looked up.
struct Result {
  std::vector<Bytes> stored;
  bool looked_up = false;
};
Result RunLoop(const Kernels& level, const LoopProgram& program, const Bytes& input) {
  Result result;
  const auto compiled = MakeBlockEngine(level)->Compile(program);
  EXPECT_TRUE(compiled.ok()) << compiled.status();
  if (!compiled.ok()) return result;
  const LoopKernel& kernel = **compiled;
  result.looked_up = !kernel.program().tables.empty();
  for (const LoopStore& store : program.stores)
    result.stored.emplace_back(program.ElementCount() * ByteWidth(store.type));
  const std::vector<const char*> inputs(program.inputs.size(),
                                        reinterpret_cast<const char*>(input.data()));
  std::vector<char*> outputs;
  for (Bytes& stored : result.stored) outputs.push_back(reinterpret_cast<char*>(stored.data()));
  std::vector<char> scratch(kernel.scratch_bytes() + kAlignment);
  const int64_t address = reinterpret_cast<intptr_t>(scratch.data());
  kernel.Run(inputs.data(), outputs.data(), 0, kernel.num_units(),
             scratch.data() + (AlignUp(address) - address));
  return result;
}

Bytes EachByte() {
  Bytes bytes(256);
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}
uint16_t WordAt(const Bytes& words, int64_t i) {
  return static_cast<uint16_t>(words[2 * i] | words[2 * i + 1] << 8);
}
Bytes ManyWords(int64_t n, int64_t step) {
  Bytes words(2 * n);
  for (int64_t i = 0; i < n; ++i) {
    words[2 * i] = static_cast<uint8_t>(i * step);
    words[2 * i + 1] = static_cast<uint8_t>(i * step >> 8);
  }
  return words;
}
Bytes ManyBytes() {
  Bytes bytes(kMany);
  for (int64_t i = 0; i < kMany; ++i) bytes[i] = static_cast<uint8_t>(i * i / 7 + 31 * i);
  return bytes;
}

class LookupTablesTest : public testing::TestWithParam<const Kernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->supported())
      GTEST_SKIP() << "this machine lacks some of " << GetParam()->required;
  }

  // That a loop over many bytes looks up what one over each byte computes.
  void ExpectTables(const LoopProgram& many, const LoopProgram& each, const Bytes& bytes) {
    const Result want = RunLoop(*GetParam(), each, EachByte());
    ASSERT_FALSE(want.looked_up);
    const Result got = RunLoop(*GetParam(), many, bytes);
    EXPECT_TRUE(got.looked_up);
    ASSERT_EQ(got.stored.size(), want.stored.size());
    for (size_t store = 0; store < got.stored.size(); ++store) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        ASSERT_EQ(got.stored[store][i], want.stored[store][bytes[i]])
            << "store " << store << ", element " << i << ", of byte " << int{bytes[i]};
      }
    }
  }
};

TEST_P(LookupTablesTest, FunctionsOfNarrowFloatsAreLookedUp) {
  for (const PrimitiveType type :
       {F8E5M2, F8E4M3, F8E3M4, F8E4M3FN, F8E4M3FNUZ, F8E5M2FNUZ, F8E4M3B11FNUZ, F8E8M0FNU}) {
    for (const BlockOp op : {BlockOp::kExp, BlockOp::kTanh, BlockOp::kSqrt}) {
      SCOPED_TRACE(testing::Message() << "type " << int{type} << ", op " << static_cast<int>(op));
      ExpectTables(FunctionLoop(kMany, type, op, type), FunctionLoop(256, type, op, type),
                   ManyBytes());
    }
  }
}

// x * f(x), which no level has a kernel for.
LoopProgram OwnFunction(int64_t n, PrimitiveType type, BlockOp op, PrimitiveType result) {
  LoopProgram p = FunctionLoop(n, type, op, result);
  const auto of_x = static_cast<LoopValue>(p.instrs.size());
  p.instrs.push_back(
      LoopInstr::Op(BlockOp::kMultiply, CType::kF32, CType::kF32, p.stores[0].value, 0, -1));
  p.stores[0].value = of_x;
  return p;
}

TEST_P(LookupTablesTest, FunctionsOfFloatsOf16BitsAreLookedUp) {
  for (const auto& [type, result] : {std::pair{BF16, BF16}, {F16, F16}, {BF16, F16}}) {
    SCOPED_TRACE(testing::Message() << "type " << int{type});
    // 16411 and 65536 have no common divisor: the words are all different ones up to 65536.
    const Bytes words = ManyWords(kManyWords, 16411);
    const LoopProgram many = OwnFunction(kManyWords, type, BlockOp::kLogistic, result);
    const Result got = RunLoop(*GetParam(), many, words);
    ASSERT_TRUE(got.looked_up);
    const LoopProgram each = OwnFunction(65536, type, BlockOp::kLogistic, result);
    const Result want = RunLoop(*GetParam(), each, ManyWords(65536, 1));
    ASSERT_FALSE(want.looked_up);
    for (int64_t i = 0; i < kManyWords; ++i) {
      ASSERT_EQ(WordAt(got.stored[0], i), WordAt(want.stored[0], WordAt(words, i)))
          << "element " << i << ", of word " << WordAt(words, i);
    }
  }
}

TEST_P(LookupTablesTest, FunctionsOfIntegersOfAByteAreLookedUp) {
  for (const PrimitiveType type : {U8, S8, S4, U2}) {
    SCOPED_TRACE(testing::Message() << "type " << int{type});
    ExpectTables(FunctionLoop(kMany, type, BlockOp::kCbrt, type),
                 FunctionLoop(256, type, BlockOp::kCbrt, type), ManyBytes());
  }
}

TEST_P(LookupTablesTest, EachResultHasItsTable) {
  const auto several = [](int64_t n) {
    LoopProgram p = FunctionLoop(n, F8E4M3FN, BlockOp::kSin, F8E5M2);
    AppendStore(&p, Append(&p, LoopInstr::kConvert, CType::kS8, 1), S8, {0, {1}});
    p.instrs.push_back(LoopInstr::Op(BlockOp::kIsFinite, CType::kPred, CType::kF32, 0, -1, -1));
    AppendStore(&p, static_cast<LoopValue>(p.instrs.size()) - 1, PRED, {0, {1}});
    return p;
  };
  ExpectTables(several(kMany), several(256), ManyBytes());
}

TEST_P(LookupTablesTest, BytesAreReadAsTheInputLies) {
  constexpr int64_t kRows = 160, kColumns = 125;
  const Bytes input = ManyBytes();
  const Bytes want =
      RunLoop(*GetParam(), FunctionLoop(256, U8, BlockOp::kLog1p, U8), EachByte()).stored[0];
  LoopProgram p = FunctionLoop(0, U8, BlockOp::kLog1p, U8);
  p.dims = {kRows, kColumns};
  p.num_outer = 2;
  p.stores[0].view = {0, {kColumns, 1}};
  for (const LoopView& view : {LoopView{0, {1, kRows}}, LoopView{kMany - 1, {-kColumns, -1}},
                               LoopView{3, {0, 1}}, LoopView{5, {7, 0}}}) {
    p.inputs[0].view = view;
    const Result got = RunLoop(*GetParam(), p, input);
    EXPECT_TRUE(got.looked_up);
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) {
        ASSERT_EQ(got.stored[0][i * kColumns + j],
                  want[input[view.offset + i * view.strides[0] + j * view.strides[1]]])
            << i << ", " << j;
      }
    }
  }
}

TEST_P(LookupTablesTest, OtherLoopsCompute) {
  const auto looks_up = [&](const LoopProgram& p) { return IsWorthTables(p, *GetParam()->block); };
  ASSERT_TRUE(looks_up(FunctionLoop(kMany, U8, BlockOp::kExp, U8)));
  // Few points; wider elements; predicates, which are but two bytes.
  EXPECT_FALSE(looks_up(FunctionLoop(1000, U8, BlockOp::kExp, U8)));
  EXPECT_FALSE(looks_up(FunctionLoop(kMany, U8, BlockOp::kExp, F16)));
  EXPECT_FALSE(looks_up(FunctionLoop(kMany, BF16, BlockOp::kExp, U8)));
  EXPECT_FALSE(looks_up(FunctionLoop(kMany, PRED, BlockOp::kExp, U8)));
  // Words that are few, or soon computed, or have a kernel.
  const auto own = [](int64_t n) { return OwnFunction(n, BF16, BlockOp::kTanh, BF16); };
  EXPECT_TRUE(looks_up(own(kManyWords)));
  EXPECT_FALSE(looks_up(own(kMany)));
  LoopProgram words = Over(kManyWords, U16);
  AppendStore(&words, AppendUnary(&words, BlockOp::kNegate, CType::kU16, 0), U16, {0, {1}});
  EXPECT_FALSE(looks_up(words));
  EXPECT_NE(looks_up(FunctionLoop(kManyWords, BF16, BlockOp::kTanh, BF16)),
            HasNarrowFunction(*GetParam()->block, BF16, BlockOp::kTanh));
  // A kernel for bytes takes longer.
  LoopProgram square = Over(kMany, F8E4M3FN);
  square.instrs.push_back(LoopInstr::Op(BlockOp::kMultiply, CType::kF32, CType::kF32, 0, 0, -1));
  AppendStore(&square, 1, F8E4M3FN, {0, {1}});
  EXPECT_TRUE(looks_up(square));
  // One byte for all points.
  LoopProgram one = FunctionLoop(kMany, U8, BlockOp::kExp, U8);
  one.inputs[0].view.strides = {0};
  EXPECT_FALSE(looks_up(one));
  // Integers of a byte, which are quick.
  LoopProgram bytes = Over(kMany, U8);
  AppendStore(&bytes, AppendUnary(&bytes, BlockOp::kNegate, CType::kU8, 0), U8, {0, {1}});
  EXPECT_FALSE(looks_up(bytes));
  // Another input.
  LoopProgram two = FunctionLoop(kMany, F8E5M2, BlockOp::kExp, F8E5M2);
  two.inputs.push_back(two.inputs[0]);
  const LoopValue other = Append(&two, LoopInstr::kInput, CType::kF32, -1);
  two.instrs[other].index = 1;
  two.instrs.push_back(
      LoopInstr::Op(BlockOp::kAdd, CType::kF32, CType::kF32, two.stores[0].value, other, -1));
  two.stores[0].value = other + 1;
  EXPECT_FALSE(looks_up(two));
  // A coordinate.
  LoopProgram counted = FunctionLoop(kMany, F8E5M2, BlockOp::kExp, F8E5M2);
  counted.iotas.push_back({0, {1}});
  const LoopValue iota = Append(&counted, LoopInstr::kIota, CType::kF32, -1);
  counted.instrs[iota].index = 0;
  EXPECT_FALSE(looks_up(counted));
}

// Lengths that fill no vector, in place, and no byte beyond them.
TEST_P(LookupTablesTest, TheKernelTakesAnyNumberOfBytes) {
  Bytes table(256);
  for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i * 77 + 5);
  const Bytes input = ManyBytes();
  for (int64_t n = 0; n < 200; ++n) {
    Bytes got(input.begin(), input.begin() + 300);
    GetParam()->block->look_up[0](got.data() + 3, got.data() + 3, table.data(), nullptr, n);
    for (int64_t i = 0; i < 300; ++i) {
      const bool inside = i >= 3 && i < 3 + n;
      ASSERT_EQ(got[i], inside ? table[input[i]] : input[i]) << n << " bytes, at " << i;
    }
  }
}

TEST_P(LookupTablesTest, TheKernelTakesAnyNumberOfWords) {
  const Bytes table = ManyWords(65536, 40503), input = ManyWords(100, 16411);
  for (int64_t n = 0; n < 60; ++n) {
    Bytes got = input;
    GetParam()->block->look_up[1](&got[6], &got[6], table.data(), nullptr, n);
    for (int64_t i = 0; i < 100; ++i) {
      const bool inside = i >= 3 && i < 3 + n;
      ASSERT_EQ(WordAt(got, i), inside ? WordAt(table, WordAt(input, i)) : WordAt(input, i))
          << n << " words, at " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, LookupTablesTest, testing::ValuesIn(AllKernels()),
                         [](const testing::TestParamInfo<const Kernels*>& level) {
                           return std::string(level.param->name);
                         });

}  // namespace
}  // namespace pjrt::cpu
