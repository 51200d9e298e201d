// SPDX-License-Identifier: Apache-2.0
//
// Ops in the generic form, functions, modules, regions, names of values.
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

using ::testing::HasSubstr;

TEST(ParserOpTest, UnknownDialectsParseInTheGenericForm) {
  const auto module = MustParse(R"(
      %0:2, %1 = "foo.bar"() <{a = 1 : i32}> ({
        "foo.inner"() : () -> ()
      }, {}) {b = "x"} : () -> (i32, f32, !foo.t<i32>)
      %2 = "foo.baz"(%0#1, %1, %0) : (f32, !foo.t<i32>, i32) -> i32)");
  ASSERT_NE(module, nullptr);
  Op* bar = module->body()->front();
  EXPECT_EQ(bar->opcode(), OpCode::kUnknown);
  EXPECT_EQ(bar->name(), "foo.bar");
  EXPECT_EQ(bar->num_results(), 3u);
  EXPECT_EQ(bar->num_regions(), 2u);
  EXPECT_EQ(bar->region(0)->block()->front()->name(), "foo.inner");
  EXPECT_TRUE(bar->region(1)->empty());
  EXPECT_EQ(bar->IntAttr("a"), 1);
  EXPECT_EQ(bar->StringAttr("b"), "x");
  const Op* baz = bar->next();
  EXPECT_EQ(baz->operand(0), bar->result(1));
  EXPECT_EQ(baz->operand(1), bar->result(2));
  EXPECT_EQ(baz->operand(2), bar->result(0)) << "%0 means %0#0";
}

TEST(ParserOpTest, AnAttributeStandsInPropertiesOrDictionary) {
  ExpectErrorAt(R"("a.b"() <{x = 1}> {x = 2} : () -> ())", "P015", 1, 20, "given twice");
}

TEST(ParserOpTest, ATextWithOneModuleIsThatModule) {
  const auto module = MustParse(
      "module @m attributes {mhlo.num_replicas = 1 : i32,\n a} {\n func.func private @f()\n}");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->name(), "m");
  EXPECT_EQ(module->attr("mhlo.num_replicas").AsInt(), 1);
  EXPECT_TRUE(module->attr("a").Is(AttrKind::kUnit));
  EXPECT_EQ(module->body()->front()->opcode(), OpCode::kFuncFunc);
  EXPECT_TRUE(Equal(*module,
                    *MustParse(R"("builtin.module"() <{sym_name = "m"}> ({ func.func private @f() })
                                           {a, mhlo.num_replicas = 1 : i32} : () -> ())")));
}

TEST(ParserOpTest, OpsWithoutAModuleAreInOne) {
  const auto module = MustParse("func.func private @f()\nfunc.func private @g()");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->op_count(), 2u);
  const auto two = MustParse("module @a {}\nmodule @b {}");
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(two->name(), "");
  EXPECT_EQ(two->body()->front()->opcode(), OpCode::kModule);
  EXPECT_EQ(MustParse("")->op_count(), 0u);
  EXPECT_EQ(MustParse("// nothing\n")->op_count(), 0u);
}

TEST(ParserOpTest, ModulesNest) {
  const auto module =
      MustParse("module { module @inner { func.func private @f() } func.func private @f() }");
  ASSERT_NE(module, nullptr);
  const Op* inner = module->body()->front();
  EXPECT_EQ(inner->StringAttr("sym_name"), "inner");
  EXPECT_EQ(inner->region()->block()->front()->StringAttr("sym_name"), "f");
}

TEST(ParserOpTest, FunctionsHaveNamesTypesAndAttributes) {
  const auto module = MustParse(R"(
      func.func public @main(%arg0: tensor<f32> {mhlo.sharding = ""}, %arg1: i32) -> (tensor<f32> {jax.result_info = "[0]"}, i32)
          attributes {note} {
        return %arg0, %arg1 : tensor<f32>, i32
      }
      func.func private @declared(tensor<f32>, i32 {a}) -> (i32 {b})
      func @older() -> ()
      func.func nested @"odd name"() -> tensor<f32>)");
  ASSERT_NE(module, nullptr);
  const Function main = module->EntryFunction();
  EXPECT_EQ(main.name(), "main");
  EXPECT_FALSE(main.IsPrivate());
  EXPECT_EQ(main.op()->StringAttr("sym_visibility"), "public");
  EXPECT_TRUE(main.op()->HasAttr("note"));
  EXPECT_EQ(main.ArgAttr(0, "mhlo.sharding").AsString(), "");
  EXPECT_TRUE(main.ArgAttr(0, "mhlo.sharding").Is(AttrKind::kString));
  EXPECT_FALSE(main.arg_attrs(1));
  EXPECT_EQ(main.ResultAttr(0, "jax.result_info").AsString(), "[0]");
  EXPECT_EQ(main.body()->num_arguments(), 2u);
  const Function declared = module->FindFunction("declared");
  EXPECT_TRUE(declared.IsPrivate());
  EXPECT_EQ(declared.body(), nullptr);
  EXPECT_TRUE(declared.ArgAttr(1, "a").Is(AttrKind::kUnit));
  EXPECT_TRUE(declared.ResultAttr(0, "b").Is(AttrKind::kUnit));
  EXPECT_FALSE(module->FindFunction("older").op()->HasAttr("sym_visibility"));
  EXPECT_TRUE(module->FindFunction("odd name"));
}

TEST(ParserOpTest, AFunctionHasAGenericForm) {
  const auto pretty = MustParse(
      "func.func public @main(%a: tensor<f32> {x}) -> tensor<f32> { return %a : tensor<f32> }");
  const auto generic = MustParse(R"(
      "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "main", arg_attrs = [{x}], sym_visibility = "public"}> ({
      ^bb0(%a: tensor<f32>):
        "func.return"(%a) : (tensor<f32>) -> ()
      }) : () -> ())");
  ASSERT_TRUE(pretty != nullptr && generic != nullptr);
  EXPECT_TRUE(Equal(*pretty, *generic));
}

TEST(ParserOpTest, FunctionsMayBeCalledBeforeTheyAreDefined) {
  EXPECT_NE(
      MustParse(
          "func.func @main() { call @f() : () -> ()\n return }\nfunc.func private @f() { return }"),
      nullptr);
}

TEST(ParserOpTest, SymbolsAreUniqueInAModule) {
  ExpectErrorAt("func.func private @f()\nfunc.func private @f()", "P010", 2, 1,
                "each name once in a module, found '@f'");
  ExpectErrorAt("sdy.mesh @f = <[]>\nmodule { } func.func private @f()", "P010", 2, 12, "'@f'");
  ExpectErrorAt(
      "module {\nmodule {\n func.func private @f()\n \"a.b\"() {sym_name = \"f\"} : () -> ()\n}\n}",
      "P010", 4, 2, "'@f'");
  EXPECT_NE(MustParse("module { func.func private @f() }\nmodule { func.func private @f() }"),
            nullptr);
}

// --- Values and regions ---

TEST(ParserScopeTest, RegionsSeeTheValuesAroundThem) {
  const auto module = MustParse(InFunction(R"(
      %0 = "stablehlo.if"(%p) ({
        %1 = stablehlo.add %s, %s : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }, {
        %1 = stablehlo.negate %s : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      %1 = stablehlo.abs %0 : tensor<f32>)"));
  EXPECT_NE(module, nullptr) << "names may be used again in sibling regions and after them";
}

TEST(ParserScopeTest, IsolatedOpsSeeNothingAround) {
  ExpectErrorAt(
      "%0 = stablehlo.constant dense<1> : tensor<i32>\nfunc.func @f() {\n  return %0 : "
      "tensor<i32>\n}",
      "P004", 3, 10, "undefined value");
  EXPECT_NE(MustParse("%0 = stablehlo.constant dense<1> : tensor<i32>\nfunc.func @f() {\n %0 = "
                      "stablehlo.constant dense<1> : tensor<i32>\n return\n}\n"
                      "%1 = stablehlo.abs %0 : tensor<i32>"),
            nullptr);
}

TEST(ParserScopeTest, AUseFollowsItsDefinition) {
  ExpectErrorAt(
      "func.func @f() {\n  %1 = stablehlo.abs %0 : tensor<i32>\n  %0 = stablehlo.iota dim = 0 : "
      "tensor<i32>\n return\n}",
      "P004", 2, 22, "a value defined before this place, in this region or around it, found '%0'");
  ExpectErrorAt("%0 = \"a.b\"(%0) : (i32) -> i32", "P004", 1, 12, "'%0'");
  ExpectErrorAt(
      "\"a.b\"() ({\n %0 = \"a.c\"() : () -> i32\n}) : () -> ()\n\"a.d\"(%0) : (i32) -> ()", "P004",
      4, 7, "'%0'");
}

TEST(ParserScopeTest, AValueIsDefinedOnce) {
  ExpectErrorAt("%0 = \"a.b\"() : () -> i32\n%0 = \"a.b\"() : () -> i32", "P005", 2, 1,
                "a value is defined twice");
  ExpectErrorAt(
      "%0 = \"a.b\"() : () -> i32\n\"a.b\"() ({\n  %0 = \"a.b\"() : () -> i32\n}) : () -> ()",
      "P005", 3, 3, "'%0'");
  ExpectErrorAt("func.func @f(%a: i32, %a: i32) { return }", "P005", 1, 23, "'%a'");
  ExpectErrorAt("\"a.b\"() ({\n^bb0:\n^bb0:\n}) : () -> ()", "P005", 3, 1, "each label once");
}

TEST(ParserScopeTest, ResultsAreNumbered) {
  ExpectErrorAt("%0:2 = \"a.b\"() : () -> (i32, i32)\n\"a.c\"(%0#2) : (i32) -> ()", "P004", 2, 7,
                "at most #1 of '%0', found '%0#2'");
  ExpectErrorAt("%0 = \"a.b\"() : () -> (i32)\n\"a.c\"(%0#x) : (i32) -> ()", "P001", 2, 9,
                "the number of a result");
  ExpectErrorAt("%0:3 = \"a.b\"() : () -> (i32, i32)", "P020", 1, 1,
                "2 results of a.b, found 3 names");
  ExpectErrorAt("%0 = \"a.b\"() : () -> ()", "P020", 1, 1, "0 results");
  ExpectErrorAt("%0:0 = \"a.b\"() : () -> ()", "P020", 1, 4, "at least 1");
  EXPECT_NE(MustParse("\"a.b\"() : () -> (i32, i32)"), nullptr) << "results need no names";
}

TEST(ParserScopeTest, OperandsHaveTheTypesTheyAreSaidToHave) {
  ExpectErrorAt(InFunction("%0 = stablehlo.abs %f : tensor<5xf32>"), "P006", 2, 20,
                "expected tensor<5xf32>, found tensor<4xf32>");
  ExpectErrorAt("\"a.b\"() : (i32) -> ()", "P006", 1, 11, "0 types of operands, found 1");
  ExpectErrorAt(InFunction("%0 = stablehlo.add %f, %i : tensor<4xf32>"), "P006", 2, 24,
                "operand 1 of stablehlo.add");
  ExpectErrorAt(InFunction("stablehlo.return %f : tensor<4xf32>, tensor<4xf32>"), "P006", 2, 23,
                "1 types of operands, found 2");
}

TEST(ParserScopeTest, BlocksHaveArguments) {
  const auto module = MustParse(
      "\"a.b\"() ({\n^first(%a: i32, %b: f32):\n \"a.c\"(%b) : (f32) -> ()\n^second:\n \"a.d\"(%a) "
      ": (i32) -> ()\n}) : () -> ()");
  ASSERT_NE(module, nullptr);
  const Region* region = module->body()->front()->region();
  EXPECT_EQ(region->num_blocks(), 2u);
  EXPECT_EQ(region->block(0)->num_arguments(), 2u);
  EXPECT_EQ(region->block(1)->front()->operand(0), region->block(0)->argument(0));
}

TEST(ParserScopeTest, BranchesAreRefused) {
  ExpectErrorAt("\"a.b\"() ({\n \"cf.br\"()[^bb1] : () -> ()\n^bb1:\n}) : () -> ()", "P019", 2, 11,
                "branches between blocks");
}

TEST(ParserScopeTest, OpsHaveTheRegionsThatTheirRowSays) {
  ExpectErrorAt("\"func.func\"() {sym_name = \"f\", function_type = () -> ()} : () -> ()", "P020",
                1, 1, "1 region");
  ExpectErrorAt("\"stablehlo.add\"() ({}) : () -> ()", "P020", 1, 1, "no region");
  ExpectErrorAt("\"func.func\"() ({}) {sym_name = \"f\"} : () -> ()", "P020", 1, 1,
                "function_type");
}

TEST(ParserOpTest, UnknownOpsAreErrorsInThePrettyForm) {
  ExpectErrorAt("foo.bar", "P003", 1, 1,
                "unknown op: expected an op with a pretty form, or the generic form");
  ExpectErrorAt("stablehlo.gather", "P003", 1, 1, "the generic form \"stablehlo.gather\"(...)");
  ExpectErrorAt("frobnicate", "P003", 1, 1, "'frobnicate'");
  ExpectErrorAt("\"a b\"() : () -> ()", "P003", 1, 1, "a name such as \"dialect.op\"");
}

TEST(ParserOpTest, ASelectNamesTwoTypes) {
  ExpectErrorAt(InFunction("%0 = stablehlo.select %b, %f, %f : tensor<4xi1>"), "P006", 2, 36,
                "two types, of the predicate and of the values, found 'tensor<4xi1>'");
}

TEST(ParserOpTest, TheShortReduceAppliesCommutativeOps) {
  const auto reduce = [](absl::string_view op) {
    return InFunction(
        absl::StrCat("%0 = stablehlo.reduce(%f init: %s) applies ", op,
                     " across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>"));
  };
  for (const char* op : {"add", "multiply", "maximum", "minimum", "and", "or", "xor"})
    MustParse(reduce(absl::StrCat("stablehlo.", op)));
  ExpectErrorAt(reduce("stablehlo.divide"), "P020", 2, 44, "a commutative op of two operands");
  ExpectErrorAt(reduce("chlo.broadcast_add"), "P020", 2, 44, "'chlo.broadcast_add'");
  ExpectErrorAt(InFunction("%0:2 = stablehlo.reduce(%f init: %s), (%f init: %s) applies "
                           "stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, "
                           "tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)"),
                "P020", 2, 61, "expected one, found 2");
}

TEST(ParserOpTest, ChunksAreSplitAtTheirMark) {
  const absl::string_view text = "a\n// -----\nb\n  // -----  \n// ----- not\nc";
  const std::vector<Chunk> chunks = SplitChunks(text);
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].text, "a\n");
  EXPECT_EQ(chunks[1].text, "b\n");
  EXPECT_EQ(chunks[1].first_line, 3u);
  EXPECT_EQ(chunks[2].text, "// ----- not\nc");
  EXPECT_EQ(chunks[2].first_line, 5u);
  EXPECT_EQ(SplitChunks("").size(), 1u);
  EXPECT_EQ(SplitChunks("x // -----\n").size(), 1u);
  EXPECT_NE(MustParse("func.func private @f()\n// -----\nfunc.func private @g()"), nullptr)
      << "a comment to the parser";
}

}  // namespace
}  // namespace pjrt::ir
