// SPDX-License-Identifier: Apache-2.0
//
// pjrt run: inputs of every kind, results printed and stored.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/base/npy.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A program that returns its one argument.
std::string Identity(const std::string& type) {
  return absl::StrCat("func.func @main(%a: ", type, ") -> ", type, " { return %a : ", type, " }");
}

class RunTest : public ToolTest {
 protected:
  std::string RunIdentity(const std::string& type, const std::string& input) {
    const ToolResult result = RunTool({"run", "-", "--input", input}, Identity(type));
    EXPECT_EQ(result.exit_code, 0) << type << " " << input << "\n" << result;
    return result.out;
  }
};

TEST_F(RunTest, LiteralsAreAddedAndPrinted) {
  const std::string program = Write("add.mlir", kAddProgram);
  const ToolResult result =
      RunTool({"run", program, "--input", "[1,2,3,4]", "--input", "[10, 20, 30, 40.5]"});
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.out, "f32[4] {11, 22, 33, 44.5}\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(RunTest, InputsOfDynamicProgramsSayTheirSizes) {
  EXPECT_EQ(RunIdentity("tensor<?x2xf32>", "[[1,2],[3,4],[5,6]]"),
            "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}\n");
  EXPECT_EQ(RunIdentity("tensor<?xi32, #stablehlo.bounds<3>>", "[7]"), "s32[1] {7}\n");
  const std::string program = Identity("tensor<?x2xf32>");
  ToolResult result = RunTool({"run", "-", "--input", "[[1,2,3]]"}, program);
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("PJRT-T005"));
  result = RunTool({"run", "-", "--input", "zeros"}, program);
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("says no size for f32[?,2]"));
}

TEST_F(RunTest, EachResultIsALine) {
  const ToolResult result = RunTool({"run", "-", "--input", "7"}, R"(
func.func @main(%a: tensor<i32>) -> (tensor<i32>, tensor<i1>) {
  %0 = stablehlo.constant dense<3> : tensor<i32>
  %1 = stablehlo.compare LT, %a, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0, %1 : tensor<i32>, tensor<i1>
})");
  EXPECT_EQ(result.out, "s32[] 3\npred[] false\n") << result;
}

TEST_F(RunTest, InputsAreMadeByRule) {
  EXPECT_EQ(RunIdentity("tensor<2x2xi32>", "iota"), "s32[2,2] {{0, 1}, {2, 3}}\n");
  EXPECT_EQ(RunIdentity("tensor<3xf32>", "ones"), "f32[3] {1, 1, 1}\n");
  EXPECT_EQ(RunIdentity("tensor<2xcomplex<f32>>", "zeros"), "c64[2] {(0, 0), (0, 0)}\n");
  EXPECT_EQ(RunIdentity("tensor<3xi1>", "iota"), "pred[3] {false, true, true}\n");
}

TEST_F(RunTest, RandomInputsAreTheDocumentedSequence) {
  const std::string first = RunIdentity("tensor<4xf32>", "random:5");
  EXPECT_EQ(first, RunIdentity("tensor<4xf32>", "random:5"));
  EXPECT_NE(first, RunIdentity("tensor<4xf32>", "random:6"));
}

TEST_F(RunTest, LiteralsOfEveryKindOfTypeAreRead) {
  EXPECT_EQ(RunIdentity("tensor<f64>", "-3.5"), "f64[] -3.5\n");
  EXPECT_EQ(RunIdentity("tensor<2xi1>", "[true,0]"), "pred[2] {true, false}\n");
  EXPECT_EQ(RunIdentity("tensor<2xui8>", "[255, 0]"), "u8[2] {255, 0}\n");
  EXPECT_EQ(RunIdentity("tensor<2xcomplex<f64>>", "[(1,-2), 3]"), "c128[2] {(1, -2), (3, 0)}\n");
  EXPECT_EQ(RunIdentity("tensor<2xbf16>", "[1.5,inf]"), "bf16[2] {1.5, inf}\n");
}

TEST_F(RunTest, ArraysComeFromFilesAndGoToFiles) {
  const Literal array = CreateR1<float>({1, -2, 3, 0.25});
  ASSERT_TRUE(WriteNpyFile(Path("a.npy"), array).ok());
  const std::string program = Write("add.mlir", kAddProgram);
  const ToolResult result = RunTool({"run", program, "--input", Path("a.npy"), "--input",
                                     Path("a.npy"), "--output-dir", Path("results")});
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.out, "");
  const absl::StatusOr<Literal> sum = ReadNpyFile(Path("results/out0.npy"));
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_THAT(sum->data<float>(), ElementsAre(2, -4, 6, 0.5));
}

TEST_F(RunTest, PrintAsWellAsStore) {
  const ToolResult result = RunTool(
      {"run", "-", "--input", "1", "--output-dir", Path("o"), "--print"}, Identity("tensor<f32>"));
  EXPECT_EQ(result.out, "f32[] 1\n") << result;
  EXPECT_TRUE(ReadNpyFile(Path("o/out0.npy")).ok());
}

TEST_F(RunTest, LongResultsAreShortened) {
  const std::string out = RunIdentity("tensor<100000xf32>", "iota");
  EXPECT_LT(out.size(), 1000u);
  EXPECT_THAT(out, HasSubstr("..."));
}

TEST_F(RunTest, AWorkloadBringsItsInputs) {
  Write("w/program.mlir", kAddProgram);
  Write("w/workload.json", R"({"name": "w", "rtol": 0, "atol": 0, "inputs": [
    {"type": "f32", "shape": [4], "fill": {"kind": "iota"}},
    {"type": "f32", "shape": [4], "fill": {"kind": "ones"}}], "outputs": []})");
  EXPECT_EQ(RunTool({"run", Path("w")}).out, "f32[4] {1, 2, 3, 4}\n");
  EXPECT_EQ(RunTool({"run", Path("w"), "--input", "zeros", "--input", "iota"}).out,
            "f32[4] {0, 1, 2, 3}\n");
}

TEST_F(RunTest, ThreadsDevicesAndQuietAreTaken) {
  const ToolResult result = RunTool({"run", "-", "--input", "2", "--threads", "1", "--devices", "2",
                                     "--device", "cpu", "--quiet"},
                                    Identity("tensor<i8>"));
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.out, "s8[] 2\n");
}

}  // namespace
}  // namespace pjrt::testing
