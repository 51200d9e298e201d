// SPDX-License-Identifier: Apache-2.0
//
// Chains of operations in the block engine: random expressions of one element type, or of two of
// one width that take each other's bits, with values used several times, comparisons, selections
// and stores on the way, have the bits of the kernels' operations run one after the other on whole
// arrays; at every kernel level.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/chain_ops.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {
namespace {

struct ChainType {
  const char* name;
  CType compute;
  PrimitiveType memory;
  CType other;  // what operations may take the bits for as well
};
constexpr ChainType kChainTypes[] = {
    {"f32", CType::kF32, F32, CType::kF32},         {"f64", CType::kF64, F64, CType::kF64},
    {"s32", CType::kS32, S32, CType::kS32},         {"u32", CType::kU32, U32, CType::kU32},
    {"s64", CType::kS64, S64, CType::kS64},         {"u64", CType::kU64, U64, CType::kU64},
    {"f32 and u32", CType::kF32, F32, CType::kU32}, {"f32 and s32", CType::kF32, F32, CType::kS32},
    {"f64 and s64", CType::kF64, F64, CType::kS64}, {"u64 and f64", CType::kU64, U64, CType::kF64},
};

class ChainTest {
 public:
  ChainTest(const BlockKernels& kernels, const ChainType& type, uint32_t seed, int64_t n)
      : k_(kernels),
        type_(type),
        size_(ByteWidth(type.memory)),
        as_(type.compute),
        random_(seed),
        n_(n) {
    p_.dims.push_back(n);
    p_.num_outer = 1;
    for (int i = 0; i < 2; ++i) AddInput(/*scalar=*/false);
    AddInput(/*scalar=*/true);
    AddConstant();
    if (Below(2) == 0) AddPredicates();
    if (type_.memory == F32 && Below(2) == 0) AddBf16Input();
    for (int i = 3 + Below(30); i > 0; --i) {
      if (Below(3) == 0) as_ = Below(2) == 0 ? type_.compute : type_.other;
      Below(12) == 0 ? AddPolynomial() : AddOp();
    }
    for (int i = 1 + Below(3); i > 0; --i) AddStore();
  }

  void Run(const LoopEngine& engine) {
    auto kernel = engine.Compile(p_);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    std::vector<const char*> inputs;
    for (const std::vector<char>& input : inputs_) inputs.push_back(input.data());
    // Stores are written over inputs where the engine allows it.
    std::vector<std::vector<char>> arrays;
    std::vector<char*> outputs;
    std::vector<bool> taken(inputs_.size(), false);
    arrays.reserve(p_.stores.size());
    std::vector<std::vector<char>> shared = inputs_;
    for (size_t s = 0; s < p_.stores.size(); ++s) {
      outputs.push_back(nullptr);
      for (size_t i = 0; i < inputs_.size() && outputs[s] == nullptr; ++i) {
        if (taken[i] || !(*kernel)->CanShare(static_cast<int>(i), static_cast<int>(s))) continue;
        taken[i] = true;
        inputs[i] = outputs[s] = shared[i].data();
      }
      if (outputs[s] == nullptr)
        outputs[s] = arrays.emplace_back(n_ * ByteWidth(p_.stores[s].type) + kGuard, 'x').data();
    }
    std::vector<char> scratch((*kernel)->scratch_bytes() + 64);
    char* aligned = scratch.data();
    aligned += 64 - reinterpret_cast<uintptr_t>(aligned) % 64;
    (*kernel)->Run(inputs.data(), outputs.data(), 0, (*kernel)->num_units(), aligned);
    for (size_t s = 0; s < p_.stores.size(); ++s) {
      const int64_t bytes = n_ * ByteWidth(p_.stores[s].type);
      std::vector<char> want = values_[p_.stores[s].value];
      if (p_.stores[s].type == BF16) {
        want.resize(bytes);
        k_.store[BF16](want.data(), values_[p_.stores[s].value].data(), n_);
      }
      for (int64_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(outputs[s][i], want[i]) << type_.name << " store " << s << " byte " << i << "\n"
                                          << p_.ToString();
      }
    }
    for (const std::vector<char>& array : arrays)
      ASSERT_EQ(std::string(array.end() - kGuard, array.end()), std::string(kGuard, 'x'));
  }

 private:
  static constexpr int kGuard = 256;  // bytes behind what is written

  static bool IsFloat(CType type) { return type == CType::kF32 || type == CType::kF64; }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  void Number(char* to) {
    if (IsFloat(type_.compute)) {
      // No NaN: which of two an operation gives is not promised to be the same everywhere.
      static constexpr double kNumbers[] = {0.0, -0.0, 1, -1, 0.5, 3, -7.25, 1e30, -1e-30, 100};
      const double x = kNumbers[Below(10)];
      const float y = static_cast<float>(x);
      std::memcpy(to, type_.compute == CType::kF32 ? static_cast<const void*>(&y) : &x, size_);
    } else {
      static constexpr int64_t kNumbers[] = {0,  1,  -1, 2,         31,        32,
                                             33, 63, 64, INT64_MIN, INT64_MAX, INT32_MIN};
      const int64_t x = Below(4) == 0 ? static_cast<int64_t>(random_()) : kNumbers[Below(12)];
      std::memcpy(to, &x, size_);
    }
  }

  LoopValue Append(LoopInstr instr, std::vector<char> value) {
    p_.instrs.push_back(instr);
    values_.push_back(std::move(value));
    (instr.type == CType::kPred ? preds_ : numbers_)
        .push_back(static_cast<LoopValue>(p_.instrs.size()) - 1);
    return static_cast<LoopValue>(p_.instrs.size()) - 1;
  }

  void AddInput(bool scalar) {
    LoopInput input;
    input.type = type_.memory;
    input.view.strides.push_back(scalar ? 0 : 1);
    std::vector<char> array((scalar ? 1 : n_) * size_), value(n_ * size_);
    for (size_t i = 0; i < array.size(); i += size_) Number(array.data() + i);
    for (int64_t i = 0; i < n_; ++i)
      std::memcpy(value.data() + i * size_, array.data() + (scalar ? 0 : i) * size_, size_);
    p_.inputs.push_back(input);
    inputs_.push_back(array);
    LoopInstr instr;
    instr.kind = LoopInstr::kInput;
    instr.type = type_.compute;
    instr.index = static_cast<int32_t>(p_.inputs.size()) - 1;
    Append(instr, value);
  }

  void AddPredicates() {
    std::vector<char> array(n_);
    for (char& x : array) x = static_cast<char>(Below(2));
    AppendInput(PRED, CType::kPred, array, array);
  }

  void AddBf16Input() {
    std::vector<char> array(n_ * 2), value(n_ * 4), numbers(n_ * 4);
    for (int64_t i = 0; i < n_; ++i) Number(numbers.data() + 4 * i);
    k_.store[BF16](array.data(), numbers.data(), n_);
    k_.load[BF16](value.data(), array.data(), n_);
    AppendInput(BF16, CType::kF32, std::move(array), std::move(value));
  }

  void AppendInput(PrimitiveType type, CType compute, std::vector<char> array,
                   std::vector<char> value) {
    LoopInput input;
    input.type = type;
    input.view.strides.push_back(1);
    p_.inputs.push_back(input);
    inputs_.push_back(std::move(array));
    LoopInstr instr;
    instr.kind = LoopInstr::kInput;
    instr.type = compute;
    instr.index = static_cast<int32_t>(p_.inputs.size()) - 1;
    Append(instr, std::move(value));
  }

  void AddConstant() {
    LoopInstr instr;
    instr.kind = LoopInstr::kConstant;
    instr.type = type_.compute;
    Number(instr.bits);
    std::vector<char> value(n_ * size_);
    for (int64_t i = 0; i < n_; ++i) std::memcpy(value.data() + i * size_, instr.bits, size_);
    Append(instr, value);
  }

  // The bits of a number as another type.
  LoopValue As(CType type, LoopValue v) {
    if (p_.instrs[v].type == type) return v;
    LoopInstr instr;
    instr.kind = LoopInstr::kOp;
    instr.op = BlockOp::kCopy;
    instr.type = type;
    instr.operand_type = p_.instrs[v].type;
    instr.args[0] = v;
    std::vector<char> value = values_[v];
    return Append(instr, std::move(value));
  }

  LoopValue Constant(int64_t number) {
    LoopInstr instr;
    instr.kind = LoopInstr::kConstant;
    instr.type = as_;
    std::memcpy(instr.bits, &number, size_);
    std::vector<char> value(n_ * size_);
    for (int64_t i = 0; i < n_; ++i) std::memcpy(value.data() + i * size_, instr.bits, size_);
    return Append(instr, value);
  }

  LoopValue Binary(BlockOp op, LoopValue a, LoopValue b) {
    LoopInstr instr;
    instr.kind = LoopInstr::kOp;
    instr.op = op;
    instr.type = instr.operand_type = as_;
    instr.args[0] = a;
    instr.args[1] = b;
    std::vector<char> value(n_ * size_);
    k_.op[static_cast<int>(op)][static_cast<int>(as_)][0](value.data(), values_[a].data(),
                                                          values_[b].data(), nullptr, n_);
    return Append(instr, std::move(value));
  }

  // (x << n) | (x >> m), for n + m = width or not; they may be any numbers.
  void AddShifts() {
    const LoopValue x = As(as_, numbers_[numbers_.size() - 1 - Below(2)]), one = As(as_, 2);
    const int width = 8 * size_;
    LoopValue left, right;
    const int kind = Below(3);
    if (kind == 0) {
      const int n = Below(width + 1);
      left = Constant(n);
      right = Constant(width - n);
    } else if (kind == 1) {
      left = Below(2) == 0 ? one : Constant(Below(width + 2));
      right = Below(2) == 0 ? one : Constant(Below(width + 2));
    } else {
      left = one;
      right = Binary(BlockOp::kSubtract, Constant(width), left);
    }
    if (Below(2) == 0) std::swap(left, right);
    const LoopValue high = Binary(BlockOp::kShiftLeft, x, left);
    const LoopValue low = Binary(BlockOp::kShiftRightLogical, x, right);
    if (Below(2) == 0) {
      Binary(BlockOp::kOr, high, low);
    } else {
      Binary(BlockOp::kOr, low, high);
    }
  }

  // A number, or a predicate, converted to the type.
  void AddConversion() {
    LoopInstr instr;
    instr.kind = LoopInstr::kConvert;
    instr.type = as_;
    if (!preds_.empty() && Below(2) == 0) {
      instr.args[0] = preds_[Below(static_cast<int>(preds_.size()))];
    } else {
      const CType from = as_ == type_.compute ? type_.other : type_.compute;
      if (from == as_) return;
      instr.args[0] = As(from, numbers_[numbers_.size() - 1 - Below(2)]);
    }
    const CType from = p_.instrs[instr.args[0]].type;
    std::vector<char> value(n_ * size_);
    k_.convert[static_cast<int>(as_)][static_cast<int>(from)](value.data(),
                                                              values_[instr.args[0]].data(), n_);
    Append(instr, std::move(value));
  }

  // A value as bf16 would hold it.
  void AddRounding() {
    LoopInstr instr;
    instr.kind = LoopInstr::kRoundTo;
    instr.type = CType::kF32;
    instr.memory_type = BF16;
    instr.args[0] = As(as_, numbers_[numbers_.size() - 1 - Below(2)]);
    std::vector<char> value(n_ * size_);
    k_.round_to[BF16](value.data(), values_[instr.args[0]].data(), n_);
    Append(instr, std::move(value));
  }

  void AddLogic() {
    static constexpr BlockOp kOps[] = {BlockOp::kAnd, BlockOp::kOr,        BlockOp::kXor,
                                       BlockOp::kNot, BlockOp::kCompareEq, BlockOp::kCompareNe};
    LoopInstr instr;
    instr.kind = LoopInstr::kOp;
    instr.op = kOps[Below(6)];
    instr.type = instr.operand_type = CType::kPred;
    const auto pred = [&] { return preds_[Below(static_cast<int>(preds_.size()))]; };
    instr.args[0] = pred();
    if (instr.op != BlockOp::kNot) instr.args[1] = pred();
    std::vector<char> value(n_);
    k_.op[static_cast<int>(instr.op)][static_cast<int>(CType::kPred)][0](
        value.data(), values_[instr.args[0]].data(),
        instr.args[1] < 0 ? nullptr : values_[instr.args[1]].data(), nullptr, n_);
    Append(instr, std::move(value));
  }

  void AddOp() {
    static constexpr BlockOp kFloats[] = {
        BlockOp::kAdd,    BlockOp::kSubtract,  BlockOp::kMultiply, BlockOp::kMaximum,
        BlockOp::kDivide, BlockOp::kMinimum,   BlockOp::kNegate,   BlockOp::kAbs,
        BlockOp::kFloor,  BlockOp::kCeil,      BlockOp::kSqrt,     BlockOp::kRsqrt,
        BlockOp::kSign,   BlockOp::kRoundEven, BlockOp::kRoundAfz};
    static constexpr BlockOp kIntegers[] = {BlockOp::kAdd,
                                            BlockOp::kSubtract,
                                            BlockOp::kMultiply,
                                            BlockOp::kMaximum,
                                            BlockOp::kMinimum,
                                            BlockOp::kAnd,
                                            BlockOp::kOr,
                                            BlockOp::kXor,
                                            BlockOp::kNot,
                                            BlockOp::kShiftLeft,
                                            BlockOp::kShiftRightLogical,
                                            BlockOp::kShiftRightArithmetic,
                                            BlockOp::kNegate,
                                            BlockOp::kPopcnt};
    static constexpr BlockOp kCompares[] = {BlockOp::kCompareEq, BlockOp::kCompareNe,
                                            BlockOp::kCompareLt, BlockOp::kCompareLe,
                                            BlockOp::kCompareGt, BlockOp::kCompareGe};
    const bool is_float = IsFloat(as_);
    LoopInstr instr;
    instr.kind = LoopInstr::kOp;
    instr.type = instr.operand_type = as_;
    const auto number = [&] {
      // Values just made are likely operands.
      const int count = static_cast<int>(numbers_.size());
      return As(as_,
                numbers_[Below(3) == 0 ? Below(count) : count - 1 - Below(std::min(count, 3))]);
    };
    const int kind = Below(11);
    if (kind == 10) return AddConversion();
    if (kind == 3 && !is_float) return AddShifts();
    if (kind == 3 && as_ == CType::kF32 && Below(2) == 0) return AddRounding();
    if (kind == 4 && !preds_.empty()) return AddLogic();
    if (kind == 0) {
      instr.op = kCompares[Below(6)];
      instr.type = CType::kPred;
      instr.args[0] = number();
      instr.args[1] = number();
    } else if (kind == 1 && !preds_.empty()) {
      instr.op = BlockOp::kSelect;
      instr.args[0] = preds_[Below(static_cast<int>(preds_.size()))];
      instr.args[1] = number();
      instr.args[2] = number();
    } else if (kind == 2) {
      instr.op = BlockOp::kClamp;
      for (LoopValue& arg : instr.args) arg = number();
    } else {
      instr.op = is_float ? kFloats[Below(15)] : kIntegers[Below(14)];
      instr.args[0] = number();
      if (static_cast<int>(instr.op) >= kNumUnaryBlockOps) instr.args[1] = number();
    }
    Compute(instr);
  }

  // Appends the instruction unless it gives a NaN.
  bool Compute(const LoopInstr& instr) {
    std::vector<char> value(n_ * kCTypeSize[static_cast<int>(instr.type)]);
    const auto operand = [&](int i) {
      return instr.args[i] < 0 ? nullptr : values_[instr.args[i]].data();
    };
    k_.op[static_cast<int>(instr.op)][static_cast<int>(instr.operand_type)][0](
        value.data(), operand(0), operand(1), operand(2), n_);
    if (IsFloat(instr.type) && HasNan(value)) return false;
    Append(instr, std::move(value));
    return true;
  }

  // A polynomial, whose variable is read again and again.
  void AddPolynomial() {
    const LoopValue x = As(as_, numbers_[Below(static_cast<int>(numbers_.size()))]);
    const LoopValue c = As(as_, numbers_[3]);
    LoopValue sum = x;
    for (int i = 2 + Below(10); i > 0; --i) {
      LoopInstr instr;
      instr.kind = LoopInstr::kOp;
      instr.type = instr.operand_type = as_;
      instr.op = i % 2 == 0 ? BlockOp::kMultiply : BlockOp::kAdd;
      instr.args[0] = sum;
      instr.args[1] = i % 2 == 0 ? x : c;
      if (!Compute(instr)) return;
      sum = numbers_.back();
    }
  }

  bool HasNan(const std::vector<char>& value) const {
    for (int64_t i = 0; i < n_; ++i) {
      if (size_ == 4) {
        float x;
        std::memcpy(&x, value.data() + i * 4, 4);
        if (std::isnan(x)) return true;
      } else {
        double x;
        std::memcpy(&x, value.data() + i * 8, 8);
        if (std::isnan(x)) return true;
      }
    }
    return false;
  }

  void AddStore() {
    LoopStore store;
    const bool pred = !preds_.empty() && Below(4) == 0;
    store.value =
        pred ? preds_.back() : As(type_.compute, numbers_[numbers_.size() - 1 - Below(3)]);
    store.type = pred ? PRED : type_.memory == F32 && Below(3) == 0 ? BF16 : type_.memory;
    store.view.strides.push_back(1);
    p_.stores.push_back(store);
  }

  const BlockKernels& k_;
  const ChainType& type_;
  const int size_;
  CType as_;  // what the next operation takes numbers for
  std::mt19937 random_;
  const int64_t n_;
  LoopProgram p_;
  std::vector<std::vector<char>> inputs_, values_;  // values_: of each instruction, one an element
  std::vector<LoopValue> numbers_, preds_;
};

TEST(BlockChainTest, HaveTheBitsOfTheirOperations) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const std::unique_ptr<LoopEngine> engine = MakeBlockEngine(*kernels);
    for (const ChainType& type : kChainTypes) {
      for (uint32_t seed = 0; seed < 120; ++seed) {
        static constexpr int64_t kSizes[] = {1, 7, 33, 64, 90, 127, 128, 130, 500, 1024, 2500};
        SCOPED_TRACE(std::string(kernels->name) + " seed " + std::to_string(seed));
        ChainTest(*kernels->block, type, seed, kSizes[seed % 11]).Run(*engine);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

// Bounds that are NaN or a zero with a sign are not special to anybody who looks at the result.
TEST(BlockChainTest, BoundsAndNansAreAsInTheKernels) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {nan, -0.0f, 0.0f, 1, -1, INFINITY, -INFINITY};
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const BlockKernels& k = *kernels->block;
    for (float bound : {0.0f, -0.0f, 1.0f, -1.0f, nan}) {
      for (BlockOp op : {BlockOp::kMaximum, BlockOp::kMinimum}) {
        const std::vector<float> bounds(x.size(), bound);
        std::vector<float> blocks(x.size()), scalar(x.size()), chained(128), padded(128, 2.0f);
        const BlockFn* forms = k.op[static_cast<int>(op)][static_cast<int>(CType::kF32)];
        forms[0](blocks.data(), x.data(), bounds.data(), nullptr, x.size());
        forms[static_cast<int>(Scalars::kSecond)](scalar.data(), x.data(), &bound, nullptr,
                                                  x.size());
        std::copy(x.begin(), x.end(), padded.begin());
        const ChainOp chain_op =
            op == BlockOp::kMaximum ? ChainOp::kMaximumScalar : ChainOp::kMinimumScalar;
        const ChainInstr code[] = {
            {ChainOp::kLoadBlock, 0}, {chain_op, 1}, {ChainOp::kStore, 2}, {ChainOp::kEnd, 0}};
        char* slots[] = {reinterpret_cast<char*>(padded.data()), reinterpret_cast<char*>(&bound),
                         reinterpret_cast<char*>(chained.data())};
        const int64_t groups =
            static_cast<int64_t>(padded.size() * sizeof(float)) / k.chain_group_bytes;
        k.chain[static_cast<int>(CType::kF32)](code, slots, groups);
        for (size_t i = 0; i < x.size(); ++i) {
          for (float got : {scalar[i], chained[i]}) {
            EXPECT_EQ(std::isnan(got), std::isnan(blocks[i])) << kernels->name << x[i] << bound;
            if (std::isnan(got)) continue;
            EXPECT_EQ(got, blocks[i]) << kernels->name << " " << x[i] << " " << bound;
            EXPECT_EQ(std::signbit(got), std::signbit(blocks[i])) << x[i] << " " << bound;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
