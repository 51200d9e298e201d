// SPDX-License-Identifier: Apache-2.0
//
// The block engine on random loop programs, against an interpreter that takes one point at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

// A loop program with arrays for its inputs, whose elements are f32 or s32.
struct Sample {
  LoopProgram program;
  std::vector<std::vector<double>> inputs;  // by input, in array order
  std::vector<int64_t> output_sizes;        // of stores, then of the reduces' outputs
  std::vector<PrimitiveType> output_types;
};

class Sampler {
 public:
  explicit Sampler(uint32_t seed) : random_(seed) {}

  // Of several rows of some vectors.
  Sample MakeRows() {
    s_ = Sample();
    static constexpr int64_t kRows[] = {2, 3, 4, 6, 8, 11, 16, 40};
    Dims& dims = s_.program.dims;
    dims = {1 + Below(3), kRows[Below(8)], Below(2) == 0 ? int64_t{8} << Below(5) : 4 + Below(130)};
    while (s_.program.ElementCount() < 2048) dims[Below(2)] *= 2;
    s_.program.num_outer = 3;
    in_rows_ = true;
    Fill(/*with_reduction=*/false);
    return std::move(s_);
  }

  Sample Make(bool with_reduction) {
    s_ = Sample();
    LoopProgram& p = s_.program;
    static constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 17, 63, 64, 65, 130, 300, 1500};
    const int rank = Below(4) + (with_reduction ? 1 : 0);
    for (int d = 0; d < rank; ++d) p.dims.push_back(kSizes[Below(12)]);
    while (p.ElementCount() > 30000) *std::max_element(p.dims.begin(), p.dims.end()) = 1 + Below(5);
    if (Below(25) == 0 && rank > 0) p.dims[Below(rank)] = 0;
    p.num_outer = rank;
    if (with_reduction) {
      p.num_outer = Below(rank);
      p.num_reduced = 1 + Below(rank - p.num_outer);
    }
    Fill(with_reduction);
    return std::move(s_);
  }

 private:
  void Fill(bool with_reduction) {
    for (int i = 1 + Below(3); i > 0; --i) AddInput();
    if (Below(2) == 0) AddIota();
    AddConstant();
    for (int i = Below(12); i > 0; --i) AddOp();
    if (!with_reduction || Below(3) == 0) {
      for (int i = 1 + Below(2); i > 0; --i) AddStore();
    }
    if (with_reduction) {
      for (int i = 1 + Below(2); i > 0; --i) AddReduce();
    }
  }

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  LoopValue Any() { return Below(static_cast<int>(s_.program.instrs.size())); }
  LoopValue Any(CType type) {
    for (int tries = 0; tries < 50; ++tries) {
      const LoopValue v = Any();
      if (s_.program.instrs[v].type == type) return v;
    }
    return Convert(Any(), type);
  }
  LoopValue Append(LoopInstr instr) {
    s_.program.instrs.push_back(instr);
    return static_cast<LoopValue>(s_.program.instrs.size()) - 1;
  }
  LoopValue Convert(LoopValue v, CType type) {
    LoopInstr instr;
    instr.kind = LoopInstr::kConvert;
    instr.type = type;
    instr.args[0] = v;
    return Append(instr);
  }

  // Dense, permuted, broadcast, reversed or with gaps; `one_to_one` for outputs. Returns the size
  // of the array.
  int64_t RandomView(LoopView* view, bool one_to_one, const std::vector<bool>& skip) {
    const Dims& dims = s_.program.dims;
    const int rank = static_cast<int>(dims.size());
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (Below(2) == 0) std::shuffle(order.begin(), order.end() - (in_rows_ ? 1 : 0), random_);
    view->strides.assign(rank, 0);
    int64_t stride = !in_rows_ && Below(5) == 0 ? 2 : 1;
    view->offset = Below(2);
    int64_t last = view->offset;
    for (int k = rank - 1; k >= 0; --k) {
      const int d = order[k];
      const bool innermost = in_rows_ && k == rank - 1;
      if (skip[d] || (!one_to_one && Below(4) == 0)) continue;
      view->strides[d] = stride;
      last += (std::max<int64_t>(dims[d], 1) - 1) * stride;
      if (!innermost && Below(6) == 0) {  // backwards
        view->strides[d] = -stride;
        view->offset += (std::max<int64_t>(dims[d], 1) - 1) * stride;
      }
      stride *= std::max<int64_t>(dims[d], 1);
      if (Below(6) == 0) stride += Below(40);  // a gap
    }
    return last + 1;
  }

  void AddInput() {
    LoopInput input;
    input.type = Below(2) == 0 ? F32 : S32;
    const int64_t size =
        RandomView(&input.view, false, std::vector<bool>(s_.program.dims.size(), false));
    s_.program.inputs.push_back(input);
    std::vector<double>& array = s_.inputs.emplace_back(size);
    for (double& v : array) v = Below(9) - 4;
    LoopInstr instr;
    instr.kind = LoopInstr::kInput;
    instr.type = input.type == F32 ? CType::kF32 : CType::kS32;
    instr.index = static_cast<int32_t>(s_.program.inputs.size()) - 1;
    Append(instr);
  }

  void AddIota() {
    LoopView view;
    view.offset = Below(5) - 2;
    for (size_t d = 0; d < s_.program.dims.size(); ++d) view.strides.push_back(Below(4) - 1);
    s_.program.iotas.push_back(view);
    LoopInstr instr;
    instr.kind = LoopInstr::kIota;
    instr.type = Below(2) == 0 ? CType::kF32 : CType::kS32;
    instr.index = static_cast<int32_t>(s_.program.iotas.size()) - 1;
    Append(instr);
  }

  void AddConstant() {
    LoopInstr instr;
    instr.kind = LoopInstr::kConstant;
    instr.type = CType::kS32;
    const int32_t value = Below(7) - 3;
    std::memcpy(instr.bits, &value, sizeof(value));
    Append(instr);
  }

  void AddOp() {
    const CType type = Below(2) == 0 ? CType::kF32 : CType::kS32;
    LoopInstr instr;
    instr.kind = LoopInstr::kOp;
    instr.type = instr.operand_type = type;
    static constexpr BlockOp kBinary[] = {BlockOp::kAdd, BlockOp::kSubtract, BlockOp::kMultiply,
                                          BlockOp::kMaximum, BlockOp::kMinimum};
    switch (Below(8)) {
      case 0:
        instr.op = BlockOp::kNegate;
        instr.args[0] = Any(type);
        break;
      case 1: {
        LoopInstr compare = instr;
        compare.op = BlockOp::kCompareLt;
        compare.type = CType::kPred;
        compare.args[0] = Any(type);
        compare.args[1] = Any(type);
        const LoopValue condition = Append(compare);
        instr.op = BlockOp::kSelect;
        instr.args[0] = condition;
        instr.args[1] = Any(type);
        instr.args[2] = Any(type);
        break;
      }
      case 2:
        Convert(Any(), type);
        return;
      default:
        instr.op = kBinary[Below(5)];
        instr.args[0] = Any(type);
        instr.args[1] = Any(type);
        break;
    }
    Append(instr);
  }

  void AddStore() {
    LoopStore store;
    store.value = Any(Below(2) == 0 ? CType::kF32 : CType::kS32);
    store.type = s_.program.instrs[store.value].type == CType::kF32 ? F32 : S32;
    s_.output_sizes.push_back(
        RandomView(&store.view, true, std::vector<bool>(s_.program.dims.size(), false)));
    s_.output_types.push_back(store.type);
    s_.program.stores.push_back(store);
  }

  void AddReduce() {
    LoopProgram& p = s_.program;
    LoopReduce reduce;
    reduce.values.push_back(Any(CType::kS32));
    static constexpr Monoid kMonoids[] = {Monoid::kAdd, Monoid::kMaximum, Monoid::kMinimum,
                                          Monoid::kXor, Monoid::kMultiply};
    reduce.monoid = kMonoids[Below(5)];
    if (Below(2) == 0) {
      // a * b + a + b: associative, and no monoid that the engine knows.
      reduce.has_monoid = false;
      auto body = std::make_shared<LoopProgram>();
      for (int i = 0; i < 2; ++i) {
        LoopInstr parameter;
        parameter.kind = LoopInstr::kParameter;
        parameter.type = CType::kS32;
        parameter.index = i;
        body->instrs.push_back(parameter);
      }
      const auto op = [&](BlockOp which, LoopValue a, LoopValue b) {
        LoopInstr instr;
        instr.kind = LoopInstr::kOp;
        instr.op = which;
        instr.type = instr.operand_type = CType::kS32;
        instr.args[0] = a;
        instr.args[1] = b;
        body->instrs.push_back(instr);
        return static_cast<LoopValue>(body->instrs.size()) - 1;
      };
      const LoopValue product = op(BlockOp::kMultiply, 0, 1);
      const LoopValue sum = op(BlockOp::kAdd, 0, 1);
      body->results.push_back(op(BlockOp::kAdd, product, sum));
      reduce.body = body;
    }
    LoopInput init;
    init.type = S32;
    init.view.offset = 1;
    init.view.strides.assign(p.dims.size(), 0);
    p.inputs.push_back(init);
    s_.inputs.push_back({0.0, static_cast<double>(Below(9) - 4)});
    reduce.init_inputs.push_back(static_cast<int32_t>(p.inputs.size()) - 1);
    LoopReduce::Output output;
    output.type = S32;
    std::vector<bool> reduced(p.dims.size(), false);
    for (int d = p.num_outer; d < p.num_outer + p.num_reduced; ++d) reduced[d] = true;
    s_.output_sizes.push_back(RandomView(&output.view, true, reduced));
    s_.output_types.push_back(S32);
    reduce.outputs.push_back(output);
    p.reduces.push_back(reduce);
  }

  std::mt19937 random_;
  bool in_rows_ = false;  // elements of rows follow each other
  Sample s_;
};

int64_t Position(const LoopView& view, const std::vector<int64_t>& at) {
  int64_t position = view.offset;
  for (size_t d = 0; d < at.size(); ++d) position += at[d] * view.strides[d];
  return position;
}

std::string NameOf(BlockOp op) {
  switch (op) {
    case BlockOp::kAdd:
      return "add";
    case BlockOp::kSubtract:
      return "subtract";
    case BlockOp::kMultiply:
      return "multiply";
    case BlockOp::kMaximum:
      return "maximum";
    default:
      return "minimum";
  }
}

double Fold(const LoopReduce& reduce, double a, double b) {
  if (!reduce.has_monoid) {
    const double product = Apply("multiply", S32, a, b);
    return Apply("add", S32, product, Apply("add", S32, a, b));
  }
  switch (reduce.monoid) {
    case Monoid::kAdd:
      return Apply("add", S32, a, b);
    case Monoid::kMultiply:
      return Apply("multiply", S32, a, b);
    case Monoid::kMaximum:
      return std::max(a, b);
    case Monoid::kMinimum:
      return std::min(a, b);
    default:
      return Apply("xor", S32, a, b);
  }
}

constexpr double kUntouched = 77;

std::vector<std::vector<double>> Interpret(const Sample& s) {
  const LoopProgram& p = s.program;
  std::vector<std::vector<double>> outputs;
  for (int64_t size : s.output_sizes) outputs.emplace_back(size, kUntouched);
  const std::vector<int64_t> dims(p.dims.begin(), p.dims.end());
  std::vector<int64_t> kept = dims;
  for (int d = p.num_outer; d < p.num_outer + p.num_reduced; ++d) kept[d] = 1;
  for (size_t r = 0; r < p.reduces.size(); ++r) {
    const LoopReduce& reduce = p.reduces[r];
    for (int64_t i = 0; i < Product(kept); ++i) {
      outputs[p.stores.size() + r][Position(reduce.outputs[0].view, Coordinates(i, kept))] =
          s.inputs[reduce.init_inputs[0]][1];
    }
  }
  for (int64_t i = 0; i < p.ElementCount(); ++i) {
    const std::vector<int64_t> at = Coordinates(i, dims);
    std::vector<double> v(p.instrs.size());
    for (size_t k = 0; k < p.instrs.size(); ++k) {
      const LoopInstr& instr = p.instrs[k];
      const PrimitiveType type = instr.operand_type == CType::kF32 ? F32 : S32;
      const auto arg = [&](int a) { return v[instr.args[a]]; };
      switch (instr.kind) {
        case LoopInstr::kInput:
          v[k] = s.inputs[instr.index][Position(p.inputs[instr.index].view, at)];
          break;
        case LoopInstr::kIota:
          v[k] = static_cast<double>(Position(p.iotas[instr.index], at));
          break;
        case LoopInstr::kConstant: {
          int32_t value;
          std::memcpy(&value, instr.bits, sizeof(value));
          v[k] = value;
          break;
        }
        case LoopInstr::kConvert:
          // f32 to s32 saturates; to pred and back is not made here.
          v[k] = instr.type == CType::kF32 ? RoundTo(F32, arg(0))
                 : std::isnan(arg(0))
                     ? 0
                     : std::trunc(std::clamp(arg(0), -2147483648.0, 2147483647.0)) + 0.0;
          break;
        default:
          if (instr.op == BlockOp::kNegate) {
            v[k] = type == F32 ? -arg(0) : Apply("subtract", S32, 0, arg(0));
          } else if (instr.op == BlockOp::kCompareLt) {
            v[k] = arg(0) < arg(1);
          } else if (instr.op == BlockOp::kSelect) {
            v[k] = arg(0) != 0 ? arg(1) : arg(2);
          } else {
            v[k] = RoundTo(type, Apply(NameOf(instr.op), type, arg(0), arg(1)));
          }
      }
    }
    for (size_t k = 0; k < p.stores.size(); ++k)
      outputs[k][Position(p.stores[k].view, at)] = v[p.stores[k].value];
    for (size_t r = 0; r < p.reduces.size(); ++r) {
      double& sum = outputs[p.stores.size() + r][Position(p.reduces[r].outputs[0].view, at)];
      sum = Fold(p.reduces[r], sum, v[p.reduces[r].values[0]]);
    }
  }
  return outputs;
}

std::vector<char> ToBytes(PrimitiveType type, const std::vector<double>& values) {
  std::vector<char> bytes(values.size() * 4);
  for (size_t i = 0; i < values.size(); ++i) {
    const float f = static_cast<float>(values[i]);
    const int32_t n = type == S32 ? static_cast<int32_t>(values[i]) : 0;
    std::memcpy(&bytes[4 * i], type == F32 ? static_cast<const void*>(&f) : &n, 4);
  }
  return bytes;
}

// Runs the units one by one, the last first, and compares.
void Check(const Sample& s, const Kernels& kernels, const std::string& what) {
  const std::unique_ptr<LoopEngine> engine = MakeBlockEngine(kernels);
  auto kernel = engine->Compile(s.program);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::vector<std::vector<char>> input_bytes, output_bytes;
  std::vector<const char*> inputs;
  std::vector<char*> outputs;
  for (size_t i = 0; i < s.inputs.size(); ++i)
    input_bytes.push_back(ToBytes(s.program.inputs[i].type, s.inputs[i]));
  for (size_t i = 0; i < s.output_sizes.size(); ++i) {
    output_bytes.push_back(
        ToBytes(s.output_types[i], std::vector<double>(s.output_sizes[i], kUntouched)));
  }
  for (const std::vector<char>& bytes : input_bytes) inputs.push_back(bytes.data());
  for (std::vector<char>& bytes : output_bytes) outputs.push_back(bytes.data());
  const int64_t scratch_bytes = ((*kernel)->scratch_bytes() + 127) / 64 * 64;
  const std::unique_ptr<char, decltype(&std::free)> scratch(
      static_cast<char*>(std::aligned_alloc(64, scratch_bytes)), &std::free);
  for (int64_t unit = (*kernel)->num_units(); unit-- > 0;) {
    std::memset(scratch.get(), 0x5a, scratch_bytes);
    (*kernel)->Run(inputs.data(), outputs.data(), unit, unit + 1, scratch.get());
  }
  const std::vector<std::vector<double>> expected = Interpret(s);
  for (size_t o = 0; o < expected.size(); ++o) {
    for (size_t i = 0; i < expected[o].size(); ++i) {
      float f;
      int32_t n;
      std::memcpy(&f, &output_bytes[o][4 * i], 4);
      std::memcpy(&n, &output_bytes[o][4 * i], 4);
      const double actual = s.output_types[o] == F32 ? static_cast<double>(f) : n;
      ASSERT_TRUE(actual == expected[o][i] || (std::isnan(actual) && std::isnan(expected[o][i])))
          << what << ", output " << o << " at " << i << ": expected " << expected[o][i] << ", got "
          << actual << "\n"
          << s.program.ToString();
    }
  }
}

void CheckMany(bool with_reduction, uint32_t first_seed, int count) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    for (int i = 0; i < count; ++i) {
      Sampler sampler(first_seed + i);
      Check(sampler.Make(with_reduction), *kernels,
            std::string(kernels->name) + ", seed " + std::to_string(first_seed + i));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(BlockEngineTest, MapsComputeEveryPoint) { CheckMany(false, 1000, 200); }

TEST(BlockEngineTest, RowsThatLieApartAreComputedInGroups) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    for (uint32_t seed = 4000; seed < 4400; ++seed) {
      Check(Sampler(seed).MakeRows(), *kernels,
            std::string(kernels->name) + ", seed " + std::to_string(seed));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(BlockEngineTest, ReductionsFoldEveryPoint) { CheckMany(true, 2000, 300); }

TEST(BlockEngineTest, SimplifyChangesNoResult) {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Sampler sampler(seed);
    Sample s = sampler.Make(seed % 2 == 0);
    const std::vector<std::vector<double>> before = Interpret(s);
    Simplify(&s.program);
    const std::vector<std::vector<double>> after = Interpret(s);
    ASSERT_EQ(before.size(), after.size());
    for (size_t o = 0; o < before.size(); ++o) {
      for (size_t i = 0; i < before[o].size(); ++i) {
        ASSERT_TRUE(before[o][i] == after[o][i] ||
                    (std::isnan(before[o][i]) && std::isnan(after[o][i])))
            << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
