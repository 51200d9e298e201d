// SPDX-License-Identifier: Apache-2.0
//
// What errors look like, and texts that mean harm.
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

using ::testing::HasSubstr;

std::string Repeat(absl::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text.append(piece.data(), piece.size());
  return text;
}

TEST(ParserErrorTest, AMessageHasIdPlaceSourceLineAndCaret) {
  ParseOptions options;
  options.source_name = "dir/file.mlir";
  EXPECT_EQ(ParseErrorOf("module {\n  func.func @f(%a: tensor<2xf32>,) { return }\n}\n", options),
            "[PJRT-P001] dir/file.mlir:2:34: unexpected token: expected an argument such as %arg0, "
            "as before, found ')'\n"
            "  func.func @f(%a: tensor<2xf32>,) { return }\n"
            "                                 ^");
}

TEST(ParserErrorTest, ALongLineIsCutAroundThePlace) {
  const std::string message = ParseErrorOf(absl::StrCat("\"a.b\"() {x = [", Repeat("1, ", 1000),
                                                        "?", Repeat(", 1", 1000), "]} : () -> ()"));
  EXPECT_THAT(message, HasSubstr("[PJRT-P001] <input>:1:3015: "));
  const std::vector<std::string> lines = [&] {
    std::vector<std::string> all;
    for (size_t at = 0; at <= message.size();) {
      const size_t end = std::min(message.find('\n', at), message.size());
      all.push_back(message.substr(at, end - at));
      at = end + 1;
    }
    return all;
  }();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_LT(lines[1].size(), 130u);
  EXPECT_EQ(lines[1].substr(0, 3), "...");
  EXPECT_EQ(lines[1][lines[2].size() - 1], '?');
}

TEST(ParserErrorTest, CharactersThatDisturbAreLeftOut) {
  const std::string message = ParseErrorOf("\t\x01\xc3\xa9 x");
  EXPECT_THAT(message, HasSubstr("[PJRT-P002] <input>:1:2: "));
  EXPECT_THAT(message, HasSubstr("\n  ?? x\n ^"));
}

TEST(ParserErrorTest, TheEndOfTheTextIsShownOnItsLastLine) {
  EXPECT_EQ(ParseErrorOf("module {\n  func.func @f() {\n\n\n"),
            "[PJRT-P001] <input>:2:19: unexpected token: expected an op or '}', found the end of "
            "the text\n"
            "  func.func @f() {\n"
            "                  ^");
}

TEST(ParserErrorTest, WhatIsMissingAtTheEndOfALineIsMissingThere) {
  EXPECT_EQ(ParseErrorOf("func.func @f(%a: tensor<2xf32>) {\n"
                         "  %0 = stablehlo.abs %a  // no type\n\n"
                         "  return\n}\n"),
            "[PJRT-P001] <input>:2:24: unexpected token: expected ':', found 'return'\n"
            "  %0 = stablehlo.abs %a  // no type\n"
            "                       ^");
}

TEST(ParserErrorTest, UnreadableCharactersHaveAnIdOfTheirOwn) {
  ExpectErrorAt("$", "P002", 1, 1, "a character that begins nothing");
  ExpectErrorAt(absl::string_view("module {\n\0}", 11), "P002", 2, 1, "a zero byte");
  ExpectErrorAt("%", "P002", 1, 1, "a name is missing");
  ExpectErrorAt("module @\"open", "P002", 1, 8, "closing quote");
  ExpectErrorAt("\"a.b\"() {x = .} : () -> ()", "P002", 1, 14, "a '.' stands alone");
}

TEST(ParserErrorTest, EveryPrefixOfAProgramIsAnErrorOrAProgram) {
  const std::string text = InFunction(R"(
    %0 = stablehlo.reduce(%m init: %s) applies stablehlo.add across dimensions = [1] {a = "x\22"} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32> loc("f":1:2)
    %1:2 = stablehlo.while(%k = %x, %l = %s) : tensor<i32>, tensor<f32> cond { stablehlo.return %p : tensor<i1> } do { stablehlo.return %k, %l : tensor<i32>, tensor<f32> }
    %2 = "stablehlo.gather"(%f, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0]>, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
    %3 = stablehlo.constant dense<[[1.0, 0x7F800000], [(2.0), 3.0]]> : tensor<2x2x!quant.uniform<i8:f32:0, {1.0:2, 3.0}>>
    %4 = stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 1], [2, 3]]} {a = #sdy.sharding<@m, [{"x"}]>} : (tensor<1x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x6x6x5xf32>)");
  for (size_t size = 0; size < text.size(); ++size) {
    const auto module = ParseModule(absl::string_view(text).substr(0, size));
    if (module.ok()) continue;  // nothing at all, or a declaration
    EXPECT_EQ(module.status().message().substr(0, 7), "[PJRT-P") << module.status().message();
  }
}

class ParserDepthTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ParserDepthTest, AHundredThousandBracketsGiveOneError) {
  const std::string text = Repeat(GetParam(), 100000);
  for (const char* before :
       {"", "\"a.b\"() {x = ", "!t = ", "#a = ", "\"a.b\"() ", "\"a.b\"() ({",
        "func.func @f(%a: ", "\"a.b\"() {x = dense<", "\"a.b\"() {x = #a.b<",
        "\"a.b\"() : () -> () loc(", "{-# a: ", "module attributes ",
        "\"a.b\"() {x = !quant.uniform<i8:f32:{0:1}, ", "%0 = stablehlo.constant "}) {
    const auto module = ParseModule(before + text);
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.status().message().substr(0, 7), "[PJRT-P");
    EXPECT_LT(module.status().message().size(), 1000u);
  }
}

INSTANTIATE_TEST_SUITE_P(Brackets, ParserDepthTest,
                         ::testing::Values("(", "[", "{", "<", ")", "]", "}", ">", "[[", "tuple<",
                                           "tensor<", "complex<", "() -> (", "[{a = ", "module {",
                                           "\"a.b\"() ({", "func.func @f() {", "callsite(",
                                           "fused[", "\"x\"(", "!foo<", "#foo<",
                                           "!stablehlo.future<", "stablehlo.while() cond {",
                                           "dense<", "array<", "^a:", "{-#", "loc(",
                                           "#stablehlo<gather<", "@a::", "-", "%0 = ", "%0:", "\"",
                                           "a = {", "memref<", "vector<"));

TEST(ParserLimitTest, NestingIsLimitedByTheCaller) {
  const auto nested = [](int depth) {
    return absl::StrCat("\"a.b\"() {x = ", Repeat("[", depth), Repeat("]", depth), "} : () -> ()");
  };
  ParseOptions options;
  options.max_depth = 10;
  EXPECT_TRUE(ParseModule(nested(9), options).ok());  // and the dictionary
  EXPECT_THAT(ParseErrorOf(nested(10), options),
              HasSubstr("[PJRT-P007] <input>:1:23: nested too deeply: expected at most 10 levels"));
  EXPECT_TRUE(ParseModule(nested(199)).ok());
  EXPECT_FALSE(ParseModule(nested(200)).ok());
}

TEST(ParserLimitTest, RegionsNestAsFarAsTheLimit) {
  const auto nested = [](int depth) {
    return Repeat("\"a.b\"() ({", depth) + Repeat("}) : () -> ()", depth);
  };
  EXPECT_TRUE(ParseModule(nested(200)).ok());
  EXPECT_THAT(ParseErrorOf(nested(201)), HasSubstr("[PJRT-P007]"));
}

TEST(ParserLimitTest, LongListsAreFine) {
  const int n = 100000;
  std::string text =
      absl::StrCat("\"a.b\"() {x = [", Repeat("1, ", n), "1], y = array<i64: ", Repeat("1, ", n),
                   "1>, z = dense<[", Repeat("1, ", n), "1]> : tensor<", n + 1, "xi8>} : () -> (",
                   Repeat("i32, ", n), "i32)\n");
  text += "%0:100000 = \"a.c\"() : () -> (" + Repeat("i32, ", n - 1) + "i32)\n";
  for (int i = 0; i < n; ++i)
    absl::StrAppend(&text, "%v", i, " = \"a.d\"(%0#", i, ") {k", i, "} : (i32) -> i32\n");
  const auto module = MustParse(text);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->op_count(), 100002u);
}

TEST(ParserLimitTest, BlocksOfARegionAreLimited) {
  std::string text = "\"a.b\"() ({\n";
  for (int i = 0; i < 1001; ++i) absl::StrAppend(&text, "^bb", i, ":\n");
  EXPECT_THAT(ParseErrorOf(text + "}) : () -> ()"), HasSubstr("[PJRT-P019]"));
}

TEST(ParserLimitTest, AttributesOfAModuleAreLimited) {
  std::string text = "module attributes {";
  for (int i = 0; i < 100000; ++i) absl::StrAppend(&text, "k", i, ", ");
  EXPECT_THAT(ParseErrorOf(text + "k} {}"), HasSubstr("[PJRT-P018]"));
}

TEST(ParserErrorTest, WordsOfThePrettyFormsAreNamed) {
  ExpectErrorAt(InFunction("%0 = stablehlo.iota dimension = 0 : tensor<4xi32>"), "P001", 2, 21,
                "expected 'dim', found 'dimension'");
  ExpectErrorAt(
      InFunction(
          "%0 = stablehlo.compare LESS, %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>"),
      "P014", 2, 24, "one of EQ, NE, GE, GT, LE, LT, found 'LESS'");
  ExpectErrorAt(InFunction("%0 = stablehlo.slice %f [0-4] : (tensor<4xf32>) -> tensor<4xf32>"),
                "P001", 2, 27, "':' and a limit");
  ExpectErrorAt(InFunction("%0 = stablehlo.reduce(%f ini: %s)"), "P001", 2, 26, "'init'");
  ExpectErrorAt(InFunction("%0 = stablehlo.dot_general %f, %g, contract = [0] x [0]"), "P001", 2,
                36, "batching_dims, contracting_dims");
  ExpectErrorAt(InFunction("%0 = stablehlo.reduce_precision %f, format = e5 : tensor<4xf32>"),
                "P001", 2, 46, "a format such as e5m10");
  ExpectErrorAt(InFunction("%0 = stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, "
                           "1, i, o]->[b, 0, 1, f], window = {stide = [1]}"),
                "P001", 2, 105, "stride, pad, lhs_dilate, rhs_dilate or reverse, found 'stide'");
  ExpectErrorAt(InFunction("%0 = stablehlo.custom_call @f(%f) : tensor<4xf32>"), "P001", 2, 37,
                "types such as (tensor<f32>) -> tensor<f32>");
  ExpectErrorAt(InFunction("%0 = stablehlo.constant 3 : i32"), "P001", 2, 25,
                "a constant such as dense<0>");
  ExpectErrorAt(InFunction("%0 = stablehlo.slice %f [0:4] {strides = array<i64: 1>} : "
                           "(tensor<4xf32>) -> tensor<4xf32>"),
                "P015", 2, 32, "given twice");
}

TEST(ParserErrorTest, ARuleOfAnAttributeIsReportedWhereTheAttributeBegins) {
  const std::string fields =
      "lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32,\n"
      "lhs_component_count = 0, rhs_component_count = 1, num_primitive_operations = 1, "
      "allow_imprecise_accumulation = false>";
  ExpectErrorAt(InFunction("%0 = \"stablehlo.dot_general\"(%m, %n) <{\n"
                           "  dot_dimension_numbers = #stablehlo.dot<>,\n"
                           "  algorithm = #stablehlo.dot_algorithm<\n" +
                           fields + "}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>"),
                "V005", 4, 15, "dot_algorithm must be positive");
  ExpectErrorAt(InFunction("%0 = stablehlo.dot_general %m, %n,\n"
                           " contracting_dims = [1] x [0],\n"
                           " algorithm = <\n" +
                           fields + " : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>"),
                "V005", 4, 14, "dot_algorithm must be positive");
  ExpectErrorAt(InFunction("%0 = \"my.op\"() {\na = #stablehlo<result_accuracy<rtol = -1.0, "
                           "mode = #stablehlo.result_accuracy_mode<TOLERANCE>>>} : () -> i32"),
                "V005", 3, 5, "must not be negative");
}

TEST(ParserErrorTest, AWrongAttributeOfAPrettyFormIsReportedWhereTheDictionaryBegins) {
  const auto convolution = [](absl::string_view count) {
    return InFunction(absl::StrCat(
        "%0 = stablehlo.convolution(%img, %ker)\n"
        " dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}\n"
        "  {\n  batch_group_count = 1 : i64,\n  feature_group_count = ",
        count, "} : (tensor<1x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x6x6x5xf32>"));
  };
  MustParse(convolution("1 : i64"));
  ExpectErrorAt(convolution("0 : i64"), "V005", 4, 3,
                "'stablehlo.convolution' op: attribute 'feature_group_count' must be positive");
  ExpectErrorAt(convolution("1 : i32"), "V004", 4, 3, "'feature_group_count' is of the wrong kind");
  // Attributes that the op does not know may be anything.
  MustParse(InFunction("%0 = stablehlo.abs %f {feature_group_count = 0 : i64} : tensor<4xf32>"));
}

TEST(ParserErrorTest, ConflictsOfRegionsAndTheirTypesAreFound) {
  ExpectErrorAt("func.func @f(tensor<f32>) { return }", "P020", 1, 1, "names such as %arg0");
  ExpectErrorAt("func.func @f() {}", "P020", 1, 17, "at least its return");
  ExpectErrorAt("func.func @f(%a: i32, i32) { return }", "P001", 1, 23,
                "an argument such as %arg0, as before");
  ExpectErrorAt("\"a.b\"() ({ \"c.d\"() : () -> () ) : () -> ()", "P008", 1, 10,
                "a region is never closed");
}

}  // namespace
}  // namespace pjrt::ir
