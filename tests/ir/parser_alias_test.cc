// SPDX-License-Identifier: Apache-2.0
//
// Aliases and locations.
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

using ::testing::HasSubstr;

std::string LocationOf(absl::string_view location) {
  const auto module = MustParse(absl::StrCat("\"a.b\"() : () -> () ", location));
  if (module == nullptr) return "";
  const Attribute attr = module->body()->front()->location().attr;
  return attr ? std::string(attr.text()) : "";
}

TEST(ParserAliasTest, AliasesStandBeforeOrBehindTheirUses) {
  for (const char* text :
       {"#a = 3 : i32\n!t = tensor<2xf32>\n\"x.y\"() {v = #a, t = !t} : () -> ()",
        "\"x.y\"() {v = #a, t = !t} : () -> ()\n#a = 3 : i32\n!t = tensor<2xf32>",
        "module {\n\"x.y\"() {v = #a, t = !t} : () -> ()\n} #a = 3 : i32 !t = tensor<2xf32>"}) {
    const auto module = MustParse(text);
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(module->body()->front()->IntAttr("v"), 3);
    EXPECT_EQ(module->body()->front()->attr("t").AsType().ToString(), "tensor<2xf32>");
  }
}

TEST(ParserAliasTest, AliasesMayBeMadeOfAliases) {
  const auto module = MustParse(
      "\"x.y\"() {v = #c} : () -> ()\n#c = [#b, #a]\n#b = [#a]\n#a = !t\n!t = tensor<!e>\n!e = i8");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->body()->front()->attr("v").ToString(), "[[tensor<i8>], tensor<i8>]");
}

TEST(ParserAliasTest, AnAliasOfAnEncodingGivesBounds) {
  const auto module =
      MustParse("#b = #stablehlo.bounds<3>\nfunc.func private @f(tensor<?xf32, #b>)");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->FindFunction("f").type().inputs()[0].bounds(), std::vector<int64_t>{3});
}

TEST(ParserAliasTest, AliasesAreDefinedOnceAndNotByThemselves) {
  ExpectErrorAt("\"x.y\"() {v = #a} : () -> ()", "P009", 1, 14,
                "undefined alias: expected a definition '#a = ...'");
  ExpectErrorAt("#a = 1\n#a = 2", "P009", 2, 1, "defined twice");
  ExpectErrorAt("#a = [#b]\n#b = [#a]", "P009", 2, 7, "part of its own value");
  ExpectErrorAt("!a = tuple<!a>", "P009", 1, 12, "part of its own value");
  ExpectErrorAt("#a.b = 1", "P009", 1, 1, "a name without dots");
  ExpectErrorAt("#a", "P001", 1, 3, "'=' and the value of the alias");
}

TEST(ParserAliasTest, AliasesOfAliasesDoNotGrowWithoutLimit) {
  std::string text = "#a0 = [1, 2]\n";
  for (int i = 1; i <= 60; ++i)
    absl::StrAppend(&text, "#a", i, " = [#a", i - 1, ", #a", i - 1, "]\n");
  EXPECT_THAT(ParseErrorOf(text), HasSubstr("[PJRT-P018]"));
}

TEST(ParserAliasTest, AliasesOfAliasesAreNotNestedTooDeeply) {
  std::string forward = "#a0 = [1]\n";
  std::string backward;
  for (int i = 1; i <= 100000; ++i) {
    absl::StrAppend(&forward, "#a", i, " = [#a", i - 1, "]\n");
    absl::StrAppend(&backward, "#a", i, " = [#a", i + 1, "]\n");
  }
  EXPECT_THAT(ParseErrorOf(forward), HasSubstr("[PJRT-P007]"));
  EXPECT_THAT(ParseErrorOf(backward), HasSubstr("[PJRT-P007]"));
}

TEST(ParserLocationTest, EveryFormIsKept) {
  for (const char* location :
       {"loc(unknown)", "loc(\"file.py\":3:14)", "loc(\"name\")", "loc(\"name\"(\"f\":1:2))",
        "loc(fused[\"a\", \"b\":1:2])", "loc(fused<\"meta\">[unknown])",
        "loc(callsite(\"f\":1:2 at \"g\":3:4))", "loc(\"f\":10:4 to :9)",
        "loc(\"f\":10:4 to 12:9)"}) {
    EXPECT_EQ(LocationOf(location), location);
  }
}

TEST(ParserLocationTest, AliasesAreSpelledOut) {
  EXPECT_EQ(LocationOf("loc(#loc2)\n#loc1 = loc(\"f\":1:2)\n#loc2 = loc(\"name\"(#loc1))"),
            "loc(\"name\"(\"f\":1:2))");
  EXPECT_EQ(LocationOf("loc(callsite(#loc1 at #loc))\n#loc = loc(unknown)\n#loc1 = loc(\"f\":1:2)"),
            "loc(callsite(\"f\":1:2 at unknown))");
}

TEST(ParserLocationTest, LocationsStandBehindOpsArgumentsFunctionsAndModules) {
  const auto module = MustParse(R"(#loc = loc("whole.py":1:1)
      module @m {
        func.func @main(%arg0: tensor<i1> {jax.arg_info = "x"} loc("x")) -> tensor<i1> {
          %0 = "a.b"() ({
          ^bb0(%a: tensor<f32> loc("y"), %b: tensor<f32>):
            "a.c"() : () -> () loc("inner")
          }) : () -> tensor<i1> loc("op")
          return %0 : tensor<i1> loc(#loc1)
        } loc("function")
      } loc(#loc)
      #loc1 = loc("return"(#loc)))");
  ASSERT_NE(module, nullptr);
  Op* op = FirstOp(*module);
  EXPECT_EQ(op->location().attr.text(), "loc(\"op\")");
  EXPECT_EQ(op->region()->block()->argument(0)->location().text(), "loc(\"y\")");
  EXPECT_FALSE(op->region()->block()->argument(1)->location());
  EXPECT_EQ(module->EntryFunction().body()->argument(0)->location().text(), "loc(\"x\")");
  EXPECT_EQ(module->EntryFunction().op()->location().attr.text(), "loc(\"function\")");
  EXPECT_EQ(op->next()->location().attr.text(), "loc(\"return\"(\"whole.py\":1:1))");
}

TEST(ParserLocationTest, OpsKnowTheirLineAndColumn) {
  const auto module = MustParse(
      "module {\n  func.func @main() {\n    %0 = stablehlo.iota dim = 0 : tensor<4xi32>\n    "
      "return\n  }\n}");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(FirstOp(*module)->location().line, 3u);
  EXPECT_EQ(FirstOp(*module)->location().column, 10u);
  EXPECT_EQ(FirstOp(*module)->next()->location().line, 4u);
  EXPECT_EQ(module->EntryFunction().op()->location().line, 2u);
}

TEST(ParserLocationTest, OpsInRegionsOfTheGenericFormKnowTheirLine) {
  const auto module = MustParse(
      "\"a.b\"() ({\n  \"c.d\"() {s = \"{\\22\"} : () -> ()\n  // }\n  \"e.f\"() : () -> ()\n}) : "
      "() -> ()\n\"g.h\"() : () -> ()");
  ASSERT_NE(module, nullptr);
  const Op* outer = module->body()->front();
  EXPECT_EQ(outer->region()->block()->front()->location().line, 2u);
  EXPECT_EQ(outer->region()->block()->back()->location().line, 4u);
  EXPECT_EQ(outer->next()->location().line, 6u);
}

TEST(ParserLocationTest, DeepChainsOfCallsAreCutShort) {
  std::string nested;
  for (int i = 0; i < 100000; ++i) nested += "callsite(\"f\":1:1 at ";
  nested += "unknown" + std::string(100000, ')');
  const std::string cut = LocationOf(absl::StrCat("loc(", nested, ")"));
  EXPECT_LT(cut.size(), 2000u);
  EXPECT_EQ(LocationOf(cut), cut);
}

TEST(ParserLocationTest, LongChainsOfAliasesAreCutShort) {
  std::string forward = "#loc0 = loc(\"f\":1:1)\n";
  std::string backward;
  for (int i = 1; i < 20000; ++i) {
    const auto line = [i](int of) {
      return absl::StrCat("#loc", i, " = loc(callsite(\"f\":", i, ":1 at #loc", of, "))\n");
    };
    forward += line(i - 1);
    backward += line(i + 1);
  }
  backward += "#loc20000 = loc(\"f\":1:1)\n";
  for (const std::string& text :
       {LocationOf("loc(#loc19999)\n" + forward), LocationOf("loc(#loc1)\n" + backward)}) {
    EXPECT_THAT(text, HasSubstr("callsite(\"f\":"));
    EXPECT_LT(text.size(), 2000u);
  }
}

TEST(ParserLocationTest, MalformedLocationsSayWhatIsExpected) {
  ExpectErrorAt("\"a.b\"() : () -> () loc(\"f\":1)", "P001", 1, 29, "':' and a column");
  ExpectErrorAt("\"a.b\"() : () -> () loc(callsite(\"f\" to \"g\"))", "P001", 1, 37,
                "'at' and the caller");
  ExpectErrorAt("\"a.b\"() : () -> () loc(fused[])", "P001", 1, 30, "a location");
  ExpectErrorAt("\"a.b\"() : () -> () loc(3)", "P001", 1, 24, "a location");
  ExpectErrorAt("\"a.b\"() : () -> () loc(\"x\"(\"y\"", "P001", 1, 31, "')' to close the location");
  ExpectErrorAt("#a = 3\n\"a.b\"() : () -> () loc(#a)", "P009", 2, 24, "an alias is no location");
}

}  // namespace
}  // namespace pjrt::ir
