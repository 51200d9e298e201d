// SPDX-License-Identifier: Apache-2.0
//
// What is computed on the bits of narrow floats, against float arithmetic, for every number of each
// type.
#include "src/cpu_device/loop/float_bits.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
class FloatBitsTest : public testing::Test {
 protected:
  static constexpr int64_t kCount = int64_t{1} << T::kBits;

  FloatBitsTest() {
    for (int64_t bits = 0; bits < kCount; ++bits)
      numbers_.push_back(T::FromBits(static_cast<typename T::Storage>(bits)));
    constants_ = {T(0.0f),          T(-0.0f),          T(1.0f),       T(-1.0f),
                  T::MinPositive(), -T::MinPositive(), T::Infinity(), -T::Infinity(),
                  T::Max(),         T::Lowest(),       T::NaN()};
  }

  std::string Element() const {
    return std::string(GetPrimitiveTypeInfo(PrimitiveTypeOf<T>()).stablehlo_name);
  }
  std::string Constant(T value) const {
    return absl::StrFormat("dense<0x%0*X>", T::kBits / 4, value.bits());
  }

  // The result of `body`, a text in which $0 is the array type, $1 that of predicates.
  template <typename R>
  std::vector<R> Run(const std::string& body, const std::string& result) const {
    const std::string array = TensorText({kCount}, Element());
    const std::string text =
        absl::Substitute(absl::StrCat("func.func @main(%x: $0) -> ", result, " {\n", body,
                                      "\n  return %r : ", result, "\n}\n"),
                         array, TensorText({kCount}, "i1"));
    const Literal x = Array<T>({kCount}, numbers_);
    return RunOne<R>(text, {&x});
  }
  void ExpectNumbers(const std::string& body, const std::function<float(float)>& want) const {
    const std::vector<T> got = Run<T>(body, "$0");
    ASSERT_EQ(got.size(), numbers_.size()) << body;
    for (size_t i = 0; i < got.size(); ++i) {
      const float value = want(numbers_[i].ToFloat()), result = got[i].ToFloat();
      if (std::isnan(value) ? std::isnan(result) : got[i].bits() == T(value).bits()) continue;
      FAIL() << body << " of " << numbers_[i].ToFloat() << ": " << result << ", not " << value;
    }
  }
  void ExpectPredicates(const std::string& body, const std::function<bool(float)>& want) const {
    const auto got = Run<bool>(body, "$1");
    ASSERT_EQ(got.size(), numbers_.size()) << body;
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i] == want(numbers_[i].ToFloat())) continue;
      FAIL() << body << " of " << numbers_[i].ToFloat() << ": " << got[i];
    }
  }

  std::vector<T> numbers_, constants_;
};

using NarrowFloats =
    testing::Types<bfloat16, half, float8_e5m2, float8_e4m3fn, float8_e3m4, float8_e4m3fnuz>;
TYPED_TEST_SUITE(FloatBitsTest, NarrowFloats);

TYPED_TEST(FloatBitsTest, SignsAndChoices) {
  this->ExpectNumbers("  %r = stablehlo.abs %x : $0", [](float x) { return std::fabs(x); });
  this->ExpectNumbers("  %r = stablehlo.negate %x : $0", [](float x) { return -x; });
  this->ExpectNumbers(
      "  %p = stablehlo.is_finite %x : ($0) -> $1\n  %n = stablehlo.negate %x : $0\n"
      "  %r = stablehlo.select %p, %n, %x : $1, $0",
      [](float x) { return std::isfinite(x) ? -x : x; });
  this->ExpectPredicates("  %r = stablehlo.is_finite %x : ($0) -> $1",
                         [](float x) { return std::isfinite(x); });
}

TYPED_TEST(FloatBitsTest, ComparisonsWithConstants) {
  struct Direction {
    const char* name;
    std::function<bool(float, float)> holds;
  };
  const Direction directions[] = {
      {"EQ", std::equal_to<float>()}, {"NE", std::not_equal_to<float>()},
      {"LT", std::less<float>()},     {"LE", std::less_equal<float>()},
      {"GT", std::greater<float>()},  {"GE", std::greater_equal<float>()},
  };
  for (const Direction& direction : directions) {
    const auto compare = [&](const char* a, const char* b) {
      return absl::StrCat("  %r = stablehlo.compare ", direction.name, ", ", a, ", ", b,
                          " : ($0, $0) -> $1");
    };
    this->ExpectPredicates(compare("%x", "%x"), [&](float x) { return direction.holds(x, x); });
    for (TypeParam c : this->constants_) {
      const std::string constant =
          absl::StrCat("  %c = stablehlo.constant ", this->Constant(c), " : $0\n");
      const float value = c.ToFloat();
      this->ExpectPredicates(constant + compare("%x", "%c"),
                             [&](float x) { return direction.holds(x, value); });
      this->ExpectPredicates(constant + compare("%c", "%x"),
                             [&](float x) { return direction.holds(value, x); });
    }
  }
}

TYPED_TEST(FloatBitsTest, BoundsThatAreConstants) {
  for (TypeParam c : this->constants_) {
    const std::string constant =
        absl::StrCat("  %c = stablehlo.constant ", this->Constant(c), " : $0\n");
    const float value = c.ToFloat();
    for (const char* operands : {"%x, %c", "%c, %x"}) {
      this->ExpectNumbers(absl::StrCat(constant, "  %r = stablehlo.maximum ", operands, " : $0"),
                          [&](float x) { return MaximumOf(x, value); });
      this->ExpectNumbers(absl::StrCat(constant, "  %r = stablehlo.minimum ", operands, " : $0"),
                          [&](float x) { return MinimumOf(x, value); });
    }
    for (TypeParam d : this->constants_) {
      const std::string other =
          absl::StrCat("  %d = stablehlo.constant ", this->Constant(d), " : $0\n");
      this->ExpectNumbers(absl::StrCat(constant, other, "  %r = stablehlo.clamp %c, %x, %d : $0"),
                          [&](float x) { return MinimumOf(MaximumOf(x, value), d.ToFloat()); });
    }
  }
}

TYPED_TEST(FloatBitsTest, NumbersThatAreAlsoComputedWith) {
  this->ExpectNumbers(
      "  %z = stablehlo.constant dense<0.0> : $0\n  %n = stablehlo.negate %x : $0\n"
      "  %p = stablehlo.compare GT, %x, %z : ($0, $0) -> $1\n  %s = stablehlo.add %x, %x : $0\n"
      "  %r = stablehlo.select %p, %n, %s : $1, $0",
      [](float x) { return x > 0 ? -x : TypeParam(x + x).ToFloat(); });
}

// -x where x > 0.
LoopProgram NegatedWherePositive() {
  LoopProgram program;
  program.dims = {8};
  program.num_outer = 1;
  program.inputs = {{BF16, {0, {1}}}};
  program.instrs.resize(5);
  program.instrs[0].kind = LoopInstr::kInput;
  for (int v : {2, 3, 4}) program.instrs[v].kind = LoopInstr::kOp;
  program.instrs[2].op = BlockOp::kCompareGt;
  program.instrs[2].type = CType::kPred;
  program.instrs[2].args[0] = 0;
  program.instrs[2].args[1] = 1;  // zero
  program.instrs[3].op = BlockOp::kNegate;
  program.instrs[3].args[0] = 0;
  program.instrs[4].op = BlockOp::kSelect;
  program.instrs[4].args[0] = 2;
  program.instrs[4].args[1] = 3;
  program.instrs[4].args[2] = 0;
  program.stores = {{4, BF16, {0, {1}}}};
  return program;
}

int CountFloats(LoopProgram program) {
  ComputeOnBits(*SupportedBlockKernels().front(), &program);
  Simplify(&program);
  int floats = 0;
  for (const LoopInstr& instr : program.instrs) floats += instr.type == CType::kF32;
  return floats;
}

TEST(ComputeOnBitsTest, LeavesNoFloatsWhereNothingIsCalculated) {
  EXPECT_EQ(CountFloats(NegatedWherePositive()), 0);
}

TEST(ComputeOnBitsTest, LeavesNumbersWhoseStoreHasAnotherType) {
  LoopProgram program = NegatedWherePositive();
  program.stores[0].type = F32;
  EXPECT_EQ(CountFloats(program), 4);
}

}  // namespace
}  // namespace pjrt::cpu
