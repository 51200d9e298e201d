// SPDX-License-Identifier: Apache-2.0
//
// What the tool does with input that is wrong: one clear message, exit code 2, and no crash.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/base/npy.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Repeat(const std::string& text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

class BadInputTest : public ToolTest {
 protected:
  // Runs and expects exit code 2, nothing on stdout, and a message with `part` in it.
  void ExpectRefused(const std::vector<std::string>& args, const std::string& part,
                     const std::string& standard_input = "") {
    const ToolResult result = RunTool(args, standard_input);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(args) << result;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("pjrt: "));
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_LT(result.err.size(), 2000u) << "a message that nobody reads";
  }
};

TEST_F(BadInputTest, FilesThatCannotBeRead) {
  ExpectRefused({"run", Path("missing.mlir")}, "missing.mlir: can't be opened");
  Write("folder/readme", "");
  ExpectRefused({"run", Path("folder")}, "workload.json");
  ExpectRefused({"run", "/dev/zero"}, "is a device");
  ExpectRefused({"convert", "--to", "text", Path("missing")}, "can't be opened");
  ExpectRefused({"run", "-"}, "empty");
}

TEST_F(BadInputTest, ProgramsThatAreNone) {
  ExpectRefused({"run", "-"}, "no known format", std::string("\0\1\2\3\377\376", 6));
  ExpectRefused({"run", "-"}, "<stdin>:1:", "this is no program");
  ExpectRefused({"run", "-"}, "no function to run", "module { }");
}

TEST_F(BadInputTest, ErrorsNameTheFileAndTheLine) {
  const std::string program = Write("bad.mlir", R"(
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %undefined : tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  ExpectRefused({"run", program, "--input", "zeros"}, absl::StrCat(program, ":3:"));
}

TEST_F(BadInputTest, ProgramsThatBreakARule) {
  ExpectRefused({"run", "-", "--input", "zeros"}, "stablehlo.transpose", R"(
func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})");
}

TEST_F(BadInputTest, AProgramCutAnywhere) {
  const std::string whole = kAddProgram;
  for (size_t size = 1; size + 2 < whole.size(); size += 7) {
    const ToolResult result =
        RunTool({"run", "-", "--input", "zeros", "--input", "zeros"}, whole.substr(0, size));
    EXPECT_EQ(result.exit_code, 2) << size << result;
    EXPECT_NE(result.err, "") << size;
  }
}

TEST_F(BadInputTest, DeepNestingIsRefused) {
  constexpr size_t kDepth = 100000;
  const std::string arg = "func.func @main(%a: ";
  const std::vector<std::string> programs = {
      Repeat("(", kDepth),
      Repeat("[", kDepth),
      Repeat("{", kDepth),
      Repeat("<", kDepth),
      Repeat("module {", kDepth),
      arg + Repeat("tuple<", kDepth),
      arg + Repeat("tuple<", kDepth) + "i1" + Repeat(">", kDepth) + ") { return }",
      arg + "tensor<" + Repeat("complex<", kDepth),
      "module attributes {a = " + Repeat("[", kDepth) + Repeat("]", kDepth) + "} {}",
      "module attributes {a = " + Repeat("{b = ", kDepth) + "1" + Repeat("}", kDepth) + "} {}",
      "func.func @main() { \"a.b\"() " + Repeat("({ \"a.b\"() ", kDepth),
      "func.func @main() { %0 = stablehlo.constant dense<" + Repeat("[", kDepth) + "1" +
          Repeat("]", kDepth) + "> : tensor<f32> return }",
  };
  for (const std::string& program : programs) {
    for (const char* command : {"run", "convert"}) {
      std::vector<std::string> args = {command, "-"};
      if (args[0] == "convert") args.insert(args.end(), {"--to", "text"});
      const ToolResult result = RunTool(args, program);
      EXPECT_EQ(result.exit_code, 2) << program.substr(0, 60) << "\n" << result.exit_code;
      EXPECT_THAT(result.err, StartsWith("pjrt: ")) << program.substr(0, 60);
      EXPECT_LT(result.err.size(), 2000u) << program.substr(0, 60);
    }
  }
}

TEST_F(BadInputTest, DeepTextOfAnUnknownDialectIsNoDanger) {
  const std::string program = "#a = #x.y" + Repeat("<", 100000) + Repeat(">", 100000);
  const ToolResult result = RunTool({"verify", "-"}, program);
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 1) << result.exit_code;
}

TEST_F(BadInputTest, WrongNumbersOfInputs) {
  const std::string program = Write("add.mlir", kAddProgram);
  ExpectRefused({"run", program}, "takes 2 inputs; 0 were given");
  ExpectRefused({"run", program, "--input", "zeros"}, "takes 2 inputs; 1 were given");
  ExpectRefused({"run", program, "--input", "1", "--input", "1", "--input", "1"},
                "takes 2 inputs; 3 were given");
}

TEST_F(BadInputTest, InputsOfTheWrongShape) {
  const std::string program = Write("add.mlir", kAddProgram);
  ASSERT_TRUE(WriteNpyFile(Path("three.npy"), CreateR1<float>({1, 2, 3})).ok());
  for (const std::string& input :
       std::vector<std::string>{"1", "[1,2,3]", "[[1,2,3,4]]", Path("three.npy")}) {
    ExpectRefused({"run", program, "--input", input, "--input", "zeros"}, "expected f32[4]");
  }
}

TEST_F(BadInputTest, InputsOfTheWrongType) {
  ASSERT_TRUE(WriteNpyFile(Path("f64.npy"), CreateR1<double>({1, 2, 3, 4})).ok());
  const std::string program = Write("add.mlir", kAddProgram);
  ExpectRefused({"run", program, "--input", Path("f64.npy"), "--input", "zeros"}, "f64.npy");
  const std::string bytes =
      "func.func @main(%a: tensor<i8>) -> tensor<i8> { return %a : tensor<i8> }";
  for (const char* input : {"3.5", "128", "-129", "true", "x", "(1,2)"}) {
    ExpectRefused({"run", "-", "--input", input}, absl::StrCat("'", input, "' is no s8"), bytes);
  }
}

TEST_F(BadInputTest, InputsThatAreNoArrays) {
  const std::string program = Write("add.mlir", kAddProgram);
  for (const char* input :
       {"", "[", "]", "[1,2", "[1,2,3,4]]", "[[1,2],[3]]", "[1,[2]]", "[[1],2]", "[1,,2]", "[,1]",
        "1,2", "(1,2", "[1 2]", "random:", "random:-1", "random:x"}) {
    const ToolResult result = RunTool({"run", program, "--input", input, "--input", "zeros"});
    EXPECT_EQ(result.exit_code, 2) << input << result;
    EXPECT_THAT(result.err, StartsWith("pjrt: [PJRT-T00")) << input;
  }
  const ToolResult deep =
      RunTool({"run", program, "--input", Repeat("[", 100000), "--input", "zeros"});
  EXPECT_EQ(deep.exit_code, 2);
  EXPECT_THAT(deep.err, HasSubstr("nested too deep"));
}

TEST_F(BadInputTest, NpyFilesThatAreDamaged) {
  ASSERT_TRUE(WriteNpyFile(Path("a.npy"), CreateR1<float>({1, 2, 3, 4})).ok());
  const std::string whole = ReadWholeFile(Path("a.npy"));
  const std::string program = Write("add.mlir", kAddProgram);
  for (size_t size : {size_t{0}, size_t{5}, size_t{40}, whole.size() - 1}) {
    const std::string cut = Write("cut.npy", whole.substr(0, size));
    ExpectRefused({"run", program, "--input", cut, "--input", "zeros"}, "cut.npy");
  }
  ExpectRefused({"run", program, "--input", Path("none.npy"), "--input", "zeros"}, "none.npy");
}

TEST_F(BadInputTest, ResultsThatCannotBeStored) {
  const std::string program = Write("add.mlir", kAddProgram);
  const std::string file = Write("file", "");
  ExpectRefused({"run", program, "--input", "ones", "--input", "ones", "--output-dir", file + "/x"},
                "can't be made");
  ExpectRefused({"convert", "--to", "text", program, "-o", file + "/x"}, "can't be written");
}

TEST_F(BadInputTest, ValidProgramsThatAreNotSupportedAreExitCodeThree) {
  const ToolResult bytecode = RunTool({"convert", "--to", "text", "-"}, "ML\xefR\x01");
  EXPECT_EQ(bytecode.exit_code, 3) << bytecode;
  EXPECT_THAT(bytecode.err, HasSubstr("bytecode"));
  const ToolResult custom_call = RunTool({"run", "-", "--input", "1"}, R"(
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @not_there(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
})");
  EXPECT_EQ(custom_call.exit_code, 3) << custom_call;
  EXPECT_THAT(custom_call.err, HasSubstr("custom_call"));
  const ToolResult dynamic = RunTool({"run", "-", "--input", "[1.0]"}, R"(
func.func @main(%a: tensor<1xf32>) -> tensor<?xf32> {
  %0 = stablehlo.exponential %a : tensor<1xf32>
  %1 = stablehlo.convert %0 : (tensor<1xf32>) -> tensor<1xi32>
  %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
})");
  EXPECT_EQ(dynamic.exit_code, 3) << dynamic;
  EXPECT_THAT(dynamic.err, HasSubstr("dynamic_iota"));
}

TEST_F(BadInputTest, ArraysLargerThanMemoryAreRefused) {
  const ToolResult result = RunTool({"run", "-", "--input", "zeros"}, R"(
func.func @main(%a: tensor<1000000000000000xf32>) -> tensor<1000000000000000xf32> {
  return %a : tensor<1000000000000000xf32>
})");
  EXPECT_EQ(result.exit_code, 2) << result;
}

}  // namespace
}  // namespace pjrt::testing
