// SPDX-License-Identifier: Apache-2.0
//
// The Builder: functions, errors that stick, regions.
#include "pjrt/ir/builder.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/printer.h"

namespace pjrt::ir {
namespace {

// The text of what was built, or the error.
std::string Text(Builder& b) {
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  return module.ok() ? PrintModule(**module) : std::string(module.status().message());
}

std::unique_ptr<Module> Parsed(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? std::move(module).value() : std::make_unique<Module>();
}

TEST(BuilderTest, AxpyIsTheProgramThatItsTextSays) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* a = f.Argument(F32, {});
  Value* x = f.Argument(F32, {1024});
  Value* y = f.Argument(F32, {1024});
  f.Return({b.Add(b.Multiply(b.BroadcastInDim(a, {1024}, {}), x), y)});
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Equal(**module, *Parsed(R"(
    func.func @main(%a: tensor<f32>, %x: tensor<1024xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<1024xf32>
      %1 = stablehlo.multiply %0, %x : tensor<1024xf32>
      %2 = stablehlo.add %1, %y : tensor<1024xf32>
      return %2 : tensor<1024xf32>
    })")))
      << PrintModule(**module);
}

TEST(BuilderTest, AFunctionMayReturnNothingOrSeveralValues) {
  Builder b;
  b.Function("nothing", /*is_private=*/true).Return({});
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(S32, {2});
  f.Return({x, x});
  EXPECT_TRUE(
      absl::StrContains(Text(b), "@main(%arg0: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)"));
}

TEST(BuilderTest, ArgumentsAndResultsCarryAttributes) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(S32, {2});
  f.Argument(S32, {2});
  f.SetArgAttr(1, "tf.aliasing_output", b.context().I32(0));
  f.Return({x});
  f.SetResultAttr(0, "jax.result_info", b.context().String("r"));
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  const Function main = (*module)->EntryFunction();
  EXPECT_FALSE(main.ArgAttr(0, "tf.aliasing_output"));
  EXPECT_TRUE(main.ArgAttr(1, "tf.aliasing_output"));
  EXPECT_EQ(main.ResultAttr(0, "jax.result_info").AsString(), "r");
}

TEST(BuilderTest, TheFirstErrorSticksAndLaterCallsGiveNull) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(F32, {2});
  Value* y = f.Argument(F32, {3});
  Value* bad = b.Add(x, y);
  EXPECT_EQ(bad, nullptr);
  EXPECT_EQ(b.Multiply(bad, x), nullptr);
  EXPECT_EQ(b.Constant(1.0f), nullptr);
  Results none = b.While(
      {bad}, [](Builder&, ValueSpan v) { return Values{v[0]}; },
      [](Builder&, ValueSpan v) { return Values{v[0]}; });
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none[3], nullptr);
  f.Return({bad});
  EXPECT_EQ(Text(b),
            "[PJRT-V008] in @main: 'stablehlo.add' op: all operands must have compatible types; "
            "given tensor<2xf32> and "
            "tensor<3xf32>");
}

TEST(BuilderTest, NullOperandsAreRefused) {
  Builder b;
  b.Function("main");
  EXPECT_EQ(b.Negate(nullptr), nullptr);
  EXPECT_EQ(Text(b), "[PJRT-I001] in @main: 'stablehlo.negate' op: operand 0 is null");
}

TEST(BuilderTest, ValuesOfAnotherBuilderAreRefused) {
  Builder other;
  Value* foreign = other.Function("main").Argument(F32, {});
  Builder b;
  b.Function("main").Return({foreign});
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-I002]"));
}

TEST(BuilderTest, OpsNeedAFunctionThatHasNotReturned) {
  Builder none;
  none.Constant(1.0f);
  EXPECT_TRUE(absl::StartsWith(Text(none), "[PJRT-I003]"));
  Builder b;
  FunctionBuilder f = b.Function("main");
  f.Return({});
  b.Constant(1.0f);
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-I003]"));
}

TEST(BuilderTest, AFunctionReturnsOnce) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  f.Return({});
  f.Return({});
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-I004]"));
  Builder never;
  never.Function("main");
  EXPECT_TRUE(absl::StartsWith(Text(never), "[PJRT-I005]"));
}

TEST(BuilderTest, AModuleIsBuiltOnce) {
  Builder b;
  b.Function("main").Return({});
  EXPECT_TRUE(b.Build().ok());
  EXPECT_EQ(b.Function("again").Argument(F32, {}), nullptr);
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-I006]"));
}

TEST(BuilderTest, TypesThatAreNoTensorsAreRefused) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  EXPECT_EQ(f.Argument(TUPLE, {}), nullptr);
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-I007]"));
  Builder c;
  c.Function("main");
  EXPECT_EQ(c.Iota(OPAQUE_TYPE, {2}, 0), nullptr);
  EXPECT_TRUE(absl::StartsWith(Text(c), "[PJRT-I007]"));
}

TEST(BuilderTest, ConstantsOfManyKinds) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* s = b.Constant(1.5f);
  Value* v = b.ConstantR1<int32_t>({1, 2, 3});
  Value* m = b.ConstantArray<double>({2, 1}, absl::Span<const double>({0.5, 0.25}));
  Value* p = b.Splat(true, {2, 2});
  Value* z = b.Fill(b.TensorType(BF16, {3}), 2);
  Value* l = b.Constant(CreateR1<uint8_t>({7, 8}));
  f.Return({s, v, m, p, z, l});
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Equal(**module, *Parsed(R"(
    func.func @main() -> (tensor<f32>, tensor<3xi32>, tensor<2x1xf64>, tensor<2x2xi1>, tensor<3xbf16>, tensor<2xui8>) {
      %0 = stablehlo.constant dense<1.5> : tensor<f32>
      %1 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
      %2 = stablehlo.constant dense<[[0.5], [0.25]]> : tensor<2x1xf64>
      %3 = stablehlo.constant dense<true> : tensor<2x2xi1>
      %4 = stablehlo.constant dense<2.0> : tensor<3xbf16>
      %5 = stablehlo.constant dense<[7, 8]> : tensor<2xui8>
      return %0, %1, %2, %3, %4, %5 : tensor<f32>, tensor<3xi32>, tensor<2x1xf64>, tensor<2x2xi1>, tensor<3xbf16>, tensor<2xui8>
    })")))
      << PrintModule(**module);
}

TEST(BuilderTest, AConstantOfTheWrongNumberOfValuesIsRefused) {
  Builder b;
  b.Function("main");
  EXPECT_EQ(b.ConstantArray<float>({3}, absl::Span<const float>({1, 2})), nullptr);
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-I007]"));
}

TEST(BuilderTest, RegionsAreWhatTheirFunctionsMake) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(F32, {4, 5});
  Value* zero = b.Constant(0.0f);
  f.Return(
      {b.Reduce(x, zero, {0}, [](Builder& body, Value* p, Value* q) { return body.Add(p, q); })});
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Equal(**module, *Parsed(R"(
    func.func @main(%x: tensor<4x5xf32>) -> tensor<5xf32> {
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    })")))
      << PrintModule(**module);
}

TEST(BuilderTest, AWhileCountsWithValuesFromOutside) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* limit = f.Argument(S32, {});
  Value* zero = b.Constant(int32_t{0});
  Results loop = b.While(
      {zero},
      [&](Builder& c, ValueSpan v) {
        return Values{c.Compare(ComparisonDirection::kLt, v[0], limit)};
      },
      [](Builder& c, ValueSpan v) { return Values{c.Add(v[0], c.Constant(int32_t{1}))}; });
  f.Return({loop[0]});
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_TRUE(Equal(**module, *Parsed(R"(
    func.func @main(%n: tensor<i32>) -> tensor<i32> {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %0 = stablehlo.while(%i = %z) : tensor<i32> cond {
        %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.constant dense<1> : tensor<i32>
        %2 = stablehlo.add %i, %1 : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }
      return %0 : tensor<i32>
    })")))
      << PrintModule(**module);
}

TEST(BuilderTest, BranchesNestAndDecideTheResults) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* p = f.Argument(PRED, {});
  Value* i = f.Argument(S32, {});
  Value* x = f.Argument(F32, {2});
  Results out = b.If(
      p,
      [&](Builder& t) {
        return Values{t.Negate(x), p};
      },
      [&](Builder& e) {
        Results inner = e.Case(i, {[&](Builder& c) { return Values{c.Sine(x)}; },
                                   [&](Builder& c) { return Values{c.Cosine(x)}; }});
        return Values{inner[0], p};
      });
  ASSERT_EQ(out.size(), 2u) << b.status();
  f.Return(out.ToValues());
  absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ((*module)->op_count(), 11u);
}

TEST(BuilderTest, AnErrorInARegionIsReported) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(F32, {4});
  f.Return({b.Reduce(x, b.Constant(0.0f), {0},
                     [&](Builder& body, Value* p, Value*) { return body.Add(p, x); })});
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-V008] in @main: 'stablehlo.add' op"));
}

TEST(BuilderTest, AValueOfARegionMayNotLeaveIt) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* p = f.Argument(PRED, {});
  Value* leaked = nullptr;
  const auto branch = [&](Builder& t) {
    leaked = t.Not(p);
    return Values{leaked};
  };
  b.If(p, branch, branch);
  f.Return({leaked});
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-V020]"));
}

TEST(BuilderTest, CallsNeedABuiltFunction) {
  Builder b;
  FunctionBuilder g = b.Function("twice", true);
  Value* x = g.Argument(F32, {2});
  g.Return({b.Add(x, x)});
  FunctionBuilder f = b.Function("main");
  Value* y = f.Argument(F32, {2});
  f.Return({b.Call("twice", {y})[0]});
  EXPECT_TRUE(absl::StrContains(Text(b), "call @twice"));
  Builder missing;
  missing.Function("main");
  EXPECT_EQ(missing.Call("nowhere", {}).size(), 0u);
  EXPECT_TRUE(absl::StartsWith(Text(missing), "[PJRT-I003]"));
}

TEST(BuilderTest, AnyOpIsMadeByName) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(F32, {4, 8});
  Results top = b.Op("chlo.top_k", {x}, {{"k", b.context().I64(2)}});
  ASSERT_EQ(top.size(), 2u) << b.status();
  EXPECT_EQ(top[1]->type().ToString(), "tensor<4x2xi32>");
  Results other = b.Op("mine.op", {x}, {{"key", b.context().Unit()}}, {b.TensorType(S8, {1})});
  EXPECT_EQ(other[0]->type().ToString(), "tensor<1xi8>");
  EXPECT_EQ(b.Op("stablehlo.abs", {x}, {}, {b.TensorType(F32, {3})}).size(), 0u);
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-V006]"));
}

TEST(BuilderTest, WhatCannotBeInferredMustBeGiven) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* x = f.Argument(F32, {4});
  EXPECT_EQ(b.Op("stablehlo.reshape", {x}).size(), 0u);
  EXPECT_TRUE(absl::StartsWith(Text(b), "[PJRT-V001]"));
}

}  // namespace
}  // namespace pjrt::ir
