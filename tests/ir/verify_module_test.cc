// SPDX-License-Identifier: Apache-2.0
//
// What the verifier accepts and refuses: control flow, calls, functions, scopes, devices, custom
// calls.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/ir/builder.h"
#include "pjrt/ir/op_set.h"
#include "tests/ir/verify_test_util.h"

namespace pjrt::ir {
namespace {

TEST(VerifyModuleTest, AWhileCarriesItsOperands) {
  const auto loop = [](const std::string& condition, const std::string& body) {
    return Verdict("%a: tensor<i32>, %p: tensor<i1>", "%0 = \"stablehlo.while\"(%a) ({\n" +
                                                          condition + "\n}, {\n" + body +
                                                          "\n}) : (tensor<i32>) -> tensor<i32>");
  };
  const std::string yes = "^bb0(%x: tensor<i32>):\nstablehlo.return %p : tensor<i1>";
  const std::string same = "^bb0(%x: tensor<i32>):\nstablehlo.return %x : tensor<i32>";
  EXPECT_EQ(loop(yes, same), "ok");
  EXPECT_EQ(loop(same, same), "V014");
  EXPECT_EQ(loop(yes, yes), "V014");
  EXPECT_EQ(loop("^bb0(%x: tensor<i64>):\nstablehlo.return %p : tensor<i1>", same), "V013");
  EXPECT_EQ(loop("stablehlo.return %p : tensor<i1>", same), "V013");
}

TEST(VerifyModuleTest, BranchesReturnTheSameTypes) {
  const auto branch = [](const std::string& first, const std::string& second) {
    return Verdict("%p: tensor<i1>, %a: tensor<f32>, %b: tensor<2xf32>",
                   "%0 = \"stablehlo.if\"(%p) ({\n" + first + "\n}, {\n" + second +
                       "\n}) : (tensor<i1>) -> tensor<f32>");
  };
  const std::string a = "stablehlo.return %a : tensor<f32>";
  EXPECT_EQ(branch(a, a), "ok");
  EXPECT_EQ(branch(a, "stablehlo.return %b : tensor<2xf32>"), "V014");
  EXPECT_EQ(branch(a, "stablehlo.return"), "V014");
  EXPECT_EQ(branch(a, "^bb0(%x: tensor<f32>):\nstablehlo.return %x : tensor<f32>"), "V013");
  EXPECT_NE(Verdict("%i: tensor<i32>", "\"stablehlo.case\"(%i) : (tensor<i32>) -> ()"), "ok");
  EXPECT_EQ(Verdict("%i: tensor<1xi32>",
                    "\"stablehlo.case\"(%i) ({\nstablehlo.return\n}) : (tensor<1xi32>) -> ()"),
            "V002");
  EXPECT_EQ(Verdict("%i: tensor<i64>",
                    "\"stablehlo.case\"(%i) ({\nstablehlo.return\n}) : (tensor<i64>) -> ()"),
            "V002");
}

TEST(VerifyModuleTest, RegionsEndInTheirTerminator) {
  EXPECT_EQ(Verdict("%p: tensor<i1>",
                    "\"stablehlo.if\"(%p) ({\n}, {\nstablehlo.return\n}) : (tensor<i1>) -> ()"),
            "V015");
  EXPECT_EQ(Verdict("%p: tensor<i1>",
                    "\"stablehlo.if\"(%p) ({\n%0 = stablehlo.not %p : tensor<i1>\n}, "
                    "{\nstablehlo.return\n}) : (tensor<i1>) -> ()"),
            "V015");
  EXPECT_EQ(
      ModuleVerdict("func.func @f(%a: tensor<f32>) {\n%0 = stablehlo.abs %a : tensor<f32>\n}"),
      "V015");
  EXPECT_EQ(ModuleVerdict("func.func @f() {\nreturn\n\"my.op\"() : () -> ()\nreturn\n}"), "V015");
}

TEST(VerifyModuleTest, FunctionsReturnWhatTheyDeclare) {
  EXPECT_EQ(
      ModuleVerdict("func.func @f(%a: tensor<f32>) -> tensor<f32> {\nreturn %a : tensor<f32>\n}"),
      "ok");
  EXPECT_EQ(
      ModuleVerdict("func.func @f(%a: tensor<f32>) -> tensor<f64> {\nreturn %a : tensor<f32>\n}"),
      "V019");
  EXPECT_EQ(ModuleVerdict("func.func @f(%a: tensor<f32>) -> tensor<f32> {\nreturn\n}"), "V019");
  EXPECT_EQ(ModuleVerdict("func.func private @f(tensor<f32>) -> tensor<f32>"), "ok");
  EXPECT_EQ(ModuleVerdict("func.func @f(tensor<f32>) -> tensor<f32>"), "V019");
}

TEST(VerifyModuleTest, CallsMatchTheFunction) {
  const auto call = [](const std::string& text) {
    return ModuleVerdict(
        "func.func @g(%x: tensor<f32>) -> tensor<f32> {\nreturn %x : tensor<f32>\n}\n"
        "func.func @main(%a: tensor<f32>, %b: tensor<2xf32>) {\n" +
        text + "\nreturn\n}");
  };
  EXPECT_EQ(call("%0 = call @g(%a) : (tensor<f32>) -> tensor<f32>"), "ok");
  EXPECT_EQ(call("%0 = call @g(%b) : (tensor<2xf32>) -> tensor<f32>"), "V017");
  EXPECT_EQ(call("%0 = call @g(%a) : (tensor<f32>) -> tensor<2xf32>"), "V017");
  EXPECT_EQ(call("call @g(%a) : (tensor<f32>) -> ()"), "V017");
  EXPECT_EQ(call("%0 = call @h(%a) : (tensor<f32>) -> tensor<f32>"), "V016");
  EXPECT_EQ(call("%0 = stablehlo.composite \"my.op\" %a {decomposition = @g} : (tensor<f32>) -> "
                 "tensor<f32>"),
            "ok");
  EXPECT_EQ(call("%0 = stablehlo.composite \"my.op\" %b {decomposition = @g} : (tensor<2xf32>) -> "
                 "tensor<f32>"),
            "V017");
  EXPECT_EQ(
      call(
          "%0 = stablehlo.composite \"op\" %a {decomposition = @g} : (tensor<f32>) -> tensor<f32>"),
      "V005");
}

TEST(VerifyModuleTest, NoFunctionCallsItself) {
  EXPECT_EQ(ModuleVerdict("func.func @f() {\ncall @f() : () -> ()\nreturn\n}"), "V018");
  EXPECT_EQ(ModuleVerdict("func.func @f() {\ncall @g() : () -> ()\nreturn\n}\n"
                          "func.func @g() {\ncall @h() : () -> ()\nreturn\n}\n"
                          "func.func @h() {\ncall @f() : () -> ()\nreturn\n}"),
            "V018");
  // A diamond is no circle.
  EXPECT_EQ(
      ModuleVerdict("func.func @f() {\ncall @g() : () -> ()\ncall @h() : () -> ()\nreturn\n}\n"
                    "func.func @g() {\ncall @h() : () -> ()\nreturn\n}\n"
                    "func.func @h() {\nreturn\n}"),
      "ok");
}

TEST(VerifyModuleTest, AGridTakesAndGivesWhatItsFunctionsDo) {
  const auto grid = [](const std::string& attributes, const std::string& results) {
    return ModuleVerdict(
        "func.func @f(%x: tensor<i32>) -> tensor<i32> {\nreturn %x : tensor<i32>\n}\n"
        "func.func @g() {\nreturn\n}\n"
        "func.func @two(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {\n"
        "return %x, %x : tensor<i32>, tensor<i32>\n}\n"
        "func.func @token(%t: !stablehlo.token) -> !stablehlo.token {\n"
        "return %t : !stablehlo.token\n}\n"
        "func.func @main(%a: tensor<i32>) {\n\"interpreter.run_parallel\"(%a) {" +
        attributes + "} : (tensor<i32>) -> " + results + "\nreturn\n}");
  };
  const std::string one = "tensor<i32>", both = "(tensor<i32>, tensor<i32>)";
  EXPECT_EQ(grid("programs = [[@f]]", one), "ok");
  EXPECT_EQ(grid("programs = [[@f, @g], [@g, @g]]", one), "ok");
  EXPECT_EQ(grid("programs = [[@two]]", both), "ok");
  EXPECT_EQ(grid("programs = [[@f, @f]]", both), "V017");
  EXPECT_EQ(grid("programs = [[@f]]", both), "V017");
  EXPECT_EQ(grid("programs = [[@g]]", "()"), "V017");
  EXPECT_EQ(grid("programs = [[@f, @g], [@g]]", one), "V005");
  EXPECT_EQ(grid("programs = []", one), "V005");
  EXPECT_EQ(grid("programs = [[]]", one), "V005");
  EXPECT_EQ(grid("programs = [[@f], []]", one), "V005");
  EXPECT_EQ(grid("programs = [@f]", one), "V004");
  EXPECT_EQ(grid("programs = [[\"f\"]]", one), "V004");
  EXPECT_EQ(grid("programs = [[[@f]]]", one), "V004");
  EXPECT_EQ(grid("programs = @f", one), "V004");
  EXPECT_EQ(grid("foo = 1", one), "V003");
  EXPECT_EQ(grid("programs = [[@none]]", one), "V016");
  EXPECT_EQ(grid("programs = [[@f::@g]]", one), "V016");
  EXPECT_EQ(grid("programs = [[@f]], infeed = [@f, @f]", one), "ok");
  EXPECT_EQ(grid("programs = [[@f]], infeed = []", one), "V005");
  EXPECT_EQ(grid("programs = [[@f]], infeed = @f", one), "V004");
  EXPECT_EQ(grid("programs = [[@f]], infeed = [1]", one), "V004");
  EXPECT_EQ(grid("programs = [[@f]], infeed = [@none]", one), "V016");
  EXPECT_EQ(grid("programs = [[@f]], infeed = [@g]", one), "V017");
  EXPECT_EQ(grid("programs = [[@f]], infeed = [@two]", one), "V017");
  EXPECT_EQ(grid("programs = [[@f]], infeed = [@token]", one), "V017");
  EXPECT_EQ(grid("programs = [[@main]]", "()"), "V018");
}

TEST(VerifyModuleTest, AChainOfCallsMayBeLong) {
  std::string text = "func.func @f0() {\nreturn\n}\n";
  for (int i = 1; i < 20000; ++i) {
    absl::StrAppend(&text, "func.func @f", i, "() {\ncall @f", i - 1, "() : () -> ()\nreturn\n}\n");
  }
  EXPECT_EQ(ModuleVerdict(text), "ok");
}

TEST(VerifyModuleTest, ValuesAreUsedAfterAndInsideOfTheirScope) {
  // The parser refuses such texts, so these are built: a use before the definition, and one from
  // another function.
  Module module;
  Context& context = module.context();
  const Type type = context.Tensor({}, F32);
  const Function f = module.AddFunction("f", context.Function({type}, {}));
  const Function g = module.AddFunction("g", context.Function({type}, {}));
  const auto append = [&](Block* block, absl::string_view name, absl::Span<Value* const> operands,
                          absl::Span<const Type> results) {
    OpState state;
    state.name = name;
    state.operands = operands;
    state.result_types = results;
    return module.Append(block, state);
  };
  Op* first = append(f.body(), "stablehlo.abs", {f.body()->argument(0)}, {type});
  Op* second = append(f.body(), "stablehlo.sine", {first->result()}, {type});
  append(f.body(), "func.return", {}, {});
  Op* foreign = append(g.body(), "stablehlo.abs", {g.body()->argument(0)}, {type});
  append(g.body(), "func.return", {}, {});
  EXPECT_TRUE(VerifyModule(module).ok());
  foreign->set_operand(0, first->result());
  EXPECT_EQ(VerifyModule(module).message().substr(0, 11), "[PJRT-V020]");
  foreign->set_operand(0, g.body()->argument(0));
  second->MoveBefore(first);
  EXPECT_EQ(VerifyModule(module).message().substr(0, 11), "[PJRT-V020]");
}

TEST(VerifyModuleTest, UnknownDialectsPass) {
  EXPECT_EQ(Verdict("%a: tensor<f32>", "%0 = \"my.op\"(%a) {x = 1} : (tensor<f32>) -> !my.type"),
            "ok");
}

TEST(VerifyModuleTest, KnownDialectsHaveTheirOpsOnly) {
  EXPECT_EQ(Verdict("%a: tensor<f32>",
                    "%0 = \"stablehlo.ad\"(%a, %a) : (tensor<f32>, tensor<f32>) "
                    "-> tensor<f32>"),
            "V024");
  EXPECT_EQ(Verdict("%a: tensor<f32>", "\"chlo.nothing\"(%a) : (tensor<f32>) -> ()"), "V024");
}

TEST(VerifyModuleTest, DeepNestingNeedsNoStack) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Value* p = f.Argument(PRED, {});
  Values result = {p};
  struct Nest {
    static Values Make(Builder& nested, Value* pred, int depth) {
      if (depth == 0) return {nested.Not(pred)};
      return nested
          .If(
              pred, [&](Builder& t) { return Make(t, pred, depth - 1); },
              [&](Builder&) { return Values{pred}; })
          .ToValues();
    }
  };
  f.Return(Nest::Make(b, p, 60));
  EXPECT_TRUE(b.Build().ok());
}

TEST(VerifyModuleTest, TuplesAndTheirElements) {
  const std::string arg = "%t: tuple<tensor<f32>, tensor<2xi32>>";
  EXPECT_EQ(Verdict(arg,
                    "%0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<2xi32>>) "
                    "-> tensor<2xi32>"),
            "ok");
  EXPECT_EQ(Verdict(arg,
                    "%0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<2xi32>>) "
                    "-> tensor<2xi32>"),
            "V006");
  EXPECT_EQ(Verdict(arg,
                    "%0 = stablehlo.get_tuple_element %t[2] : (tuple<tensor<f32>, tensor<2xi32>>) "
                    "-> tensor<2xi32>"),
            "V010");
}

TEST(VerifyModuleTest, AnAsyncBodyIsOneOpAndTheReturnOfItsResults) {
  const auto start = [](const std::string& body) {
    return Verdict("%a: tensor<4xf32>",
                   "%0 = \"stablehlo.async_start\"(%a) ({\n^bb0(%x: tensor<4xf32>):\n" + body +
                       "\n}) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>");
  };
  const std::string slice = "%1 = stablehlo.slice %x [0:4] : (tensor<4xf32>) -> tensor<4xf32>\n";
  EXPECT_EQ(start(slice + "stablehlo.return %1 : tensor<4xf32>"), "ok");
  EXPECT_EQ(start(slice + "stablehlo.return %x : tensor<4xf32>"), "V015");
  EXPECT_EQ(start("stablehlo.return %x : tensor<4xf32>"), "V015");
  EXPECT_EQ(start(slice + "%2 = stablehlo.slice %x [0:4] : (tensor<4xf32>) -> tensor<4xf32>\n"
                          "stablehlo.return %2 : tensor<4xf32>"),
            "V015");
  EXPECT_EQ(start("%1 = stablehlo.abs %x : tensor<4xf32>\nstablehlo.return %1 : tensor<4xf32>"),
            "V005");
}

TEST(VerifyModuleTest, ReplicaGroupsHoldEachDeviceOnce) {
  const auto gather = [](const std::string& groups, const std::string& out) {
    return Verdict(
        "%a: tensor<2x3xf32>",
        "%0 = \"stablehlo.all_gather\"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<" +
            groups + ">} : (tensor<2x3xf32>) -> " + out);
  };
  EXPECT_EQ(gather("[[0, 1]]> : tensor<1x2xi64", "tensor<4x3xf32>"), "ok");
  EXPECT_EQ(gather("[[0, 0]]> : tensor<1x2xi64", "tensor<4x3xf32>"), "V021");
  EXPECT_EQ(gather("[[0, 2]]> : tensor<1x2xi64", "tensor<4x3xf32>"), "V021");
  EXPECT_EQ(gather("[[0, -1]]> : tensor<1x2xi64", "tensor<4x3xf32>"), "V021");
  EXPECT_EQ(gather("[0, 1]> : tensor<2xi64", "tensor<4x3xf32>"), "V021");
  EXPECT_EQ(gather("[[0, 1]]> : tensor<1x2xi32", "tensor<4x3xf32>"), "V021");
  EXPECT_EQ(gather("[[0, 1]]> : tensor<1x2xi64", "tensor<5x3xf32>"), "V011");
  EXPECT_EQ(gather("[[0, 1]]> : tensor<1x2xi64", "tensor<4x4xf32>"), "V011");
}

TEST(VerifyModuleTest, ReplicaGroupsByAxesNameAxesOfTheirMesh) {
  const auto gather = [](const std::string& mesh, const std::string& axes) {
    return Verdict("%a: tensor<2x3xf32>",
                   "%0 = \"stablehlo.all_gather\"(%a) {all_gather_dim = 0 : i64, replica_groups = "
                   "#stablehlo.replica_group_mesh_axes<mesh = " +
                       mesh + ", axes = [" + axes + "]>} : (tensor<2x3xf32>) -> tensor<4x3xf32>");
  };
  const std::string x = "#stablehlo.axis_ref<name = \"x\">";
  const std::string y = "#stablehlo.axis_ref<name = \"y\">";
  const std::string axis = "#stablehlo.mesh_axis<name = \"x\", size = 2>";
  const std::string mesh = "#stablehlo.mesh<axes = [" + axis + "]>";
  EXPECT_EQ(gather("@mesh", x + ", " + y), "ok");
  EXPECT_EQ(gather(mesh, x), "ok");
  EXPECT_EQ(gather(mesh, ""), "ok");
  EXPECT_EQ(gather("@mesh", "0 : i64, 1 : i64"), "ok");
  EXPECT_EQ(gather(mesh, "0 : i64"), "ok");
  EXPECT_EQ(gather(mesh, x + ", " + y), "V021");
  EXPECT_EQ(gather("\"mesh\"", x), "V004");
  EXPECT_EQ(gather(x, x), "V004");
  EXPECT_EQ(gather("@mesh", "\"x\""), "V004");
  EXPECT_EQ(gather("@mesh", axis), "V004");
  EXPECT_EQ(gather("#stablehlo.mesh<axes = [\"x\"]>", x), "V004");
}

TEST(VerifyModuleTest, GroupsByAxesThatAProgramMakesAreChecked) {
  Module module;
  Context& context = module.context();
  const Attribute empty = context.Struct("stablehlo.replica_group_mesh_axes", {});
  EXPECT_FALSE(CheckStruct(empty).ok());
  const NamedAttribute axes[] = {{"axes", context.Array({})},
                                 {"mesh", context.Struct("stablehlo.mesh", {})}};
  EXPECT_FALSE(CheckStruct(context.Struct("stablehlo.replica_group_mesh_axes", axes)).ok());
}

TEST(VerifyModuleTest, PermutesHaveEachSourceAndTargetOnce) {
  const auto permute = [](const std::string& pairs) {
    return Verdict("%a: tensor<2xf32>",
                   "%0 = \"stablehlo.collective_permute\"(%a) {source_target_pairs = dense<" +
                       pairs + ">} : (tensor<2xf32>) -> tensor<2xf32>");
  };
  EXPECT_EQ(permute("[[0, 1], [1, 0]]> : tensor<2x2xi64"), "ok");
  EXPECT_EQ(permute("[[0, 1], [0, 2]]> : tensor<2x2xi64"), "V021");
  EXPECT_EQ(permute("[[0, 1], [2, 1]]> : tensor<2x2xi64"), "V021");
  EXPECT_EQ(permute("[[0, 1, 2]]> : tensor<1x3xi64"), "V021");
  EXPECT_EQ(permute("[[0, 1]]> : tensor<1x2xi32"), "V021");
}

TEST(VerifyModuleTest, ChannelsSayWhereDataGoes) {
  const auto send = [](int type, const std::string& host) {
    return Verdict("%a: tensor<2xf32>, %t: !stablehlo.token",
                   absl::StrCat("%0 = \"stablehlo.send\"(%a, %t) {channel_handle = "
                                "#stablehlo.channel_handle<handle = 5, type = ",
                                type, ">, is_host_transfer = ", host,
                                "} : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token"));
  };
  EXPECT_EQ(send(2, "true"), "ok");
  EXPECT_EQ(send(1, "false"), "ok");
  EXPECT_EQ(send(2, "false"), "V021");
  EXPECT_EQ(send(3, "true"), "V021");
}

TEST(VerifyModuleTest, CustomCallsHaveLayoutsForAllOrNone) {
  const auto call = [](const std::string& attributes) {
    return Verdict("%a: tensor<2x3xf32>",
                   "%0 = \"stablehlo.custom_call\"(%a) {call_target_name = \"f\", " + attributes +
                       "} : (tensor<2x3xf32>) -> tensor<4xf32>");
  };
  const std::string operand = "operand_layouts = [dense<[0, 1]> : tensor<2xindex>]";
  const std::string result = "result_layouts = [dense<0> : tensor<1xindex>]";
  EXPECT_EQ(call(operand + ", " + result), "ok");
  EXPECT_EQ(call(operand), "V022");
  EXPECT_EQ(call("operand_layouts = [], " + result), "V022");
  EXPECT_EQ(call("operand_layouts = [dense<[0, 2]> : tensor<2xindex>], " + result), "V022");
  EXPECT_EQ(call("operand_layouts = [dense<[0, 1]> : tensor<2xi64>], " + result), "V004");
  EXPECT_EQ(call("api_version = 4 : i32, backend_config = {a = 1 : i32}"), "ok");
  EXPECT_EQ(call("api_version = 4 : i32, backend_config = \"text\""), "V022");
  EXPECT_EQ(call("api_version = 2 : i32, backend_config = {a = 1 : i32}"), "V022");
  EXPECT_EQ(
      call("output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], "
           "operand_index = 1, operand_tuple_indices = []>]"),
      "V022");
  const std::string alias =
      "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], "
      "operand_index = 0, operand_tuple_indices = []>]";
  const auto aliased = [&](const std::string& in, const std::string& out) {
    return Verdict("%a: " + in,
                   "%0 = stablehlo.custom_call @f(%a) {" + alias + "} : (" + in + ") -> " + out);
  };
  EXPECT_EQ(aliased("tensor<2xf32>", "tensor<2xf32>"), "ok");
  EXPECT_EQ(aliased("tensor<2xf32>", "tensor<?xf32>"), "V022");
}

TEST(VerifyModuleTest, OneOpIsVerifiedAlone) {
  Module module;
  Context& context = module.context();
  const Type type = context.Tensor({2}, F32);
  const Function f = module.AddFunction("f", context.Function({type}, {}));
  OpState state;
  state.name = "stablehlo.abs";
  Value* const operand = f.body()->argument(0);
  state.operands = absl::MakeConstSpan(&operand, 1);
  const Type wrong = context.Tensor({3}, F32);
  state.result_types = absl::MakeConstSpan(&wrong, 1);
  const Op* op = module.Append(f.body(), state);
  EXPECT_EQ(
      VerifyOp(*op).message(),
      "[PJRT-V006] in @f: 'stablehlo.abs' op: result 0 is not of the type that follows from the "
      "operands; given tensor<3xf32>, expected tensor<2xf32>");
}

}  // namespace
}  // namespace pjrt::ir
