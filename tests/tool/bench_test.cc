// SPDX-License-Identifier: Apache-2.0
//
// pjrt bench: a line of JSON for each workload, right or wrong.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "pjrt/base/literal.h"
#include "pjrt/base/npy.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class BenchTest : public ToolTest {
 protected:
  // A workload that adds iota and ones, with `tolerances` and the like in the output of its json.
  std::string WriteWorkload(const std::string& name, const Literal& want,
                            const std::string& tolerances,
                            const std::string& program = kAddProgram) {
    Write(name + "/program.mlir", program);
    EXPECT_TRUE(WriteNpyFile(Path(name + "/want.npy"), want).ok());
    Write(name + "/workload.json", absl::StrCat(R"({"name": ")", name, R"(", "inputs": [
        {"type": "f32", "shape": [4], "fill": {"kind": "iota"}},
        {"type": "f32", "shape": [4], "fill": {"kind": "ones"}}],
      "outputs": [{"type": "f32", "shape": [4], "file": "want.npy")",
                                                tolerances, "}]}"));
    return Path(name);
  }

  std::vector<Json> Bench(std::vector<std::string> args, int exit_code) {
    args.insert(args.begin(), {"bench", "--seconds", "0.01"});
    const ToolResult result = RunTool(args);
    EXPECT_EQ(result.exit_code, exit_code) << result;
    EXPECT_EQ(result.err, "");
    std::vector<Json> lines;
    for (absl::string_view line : absl::StrSplit(result.out, '\n', absl::SkipEmpty())) {
      lines.push_back(Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false));
      EXPECT_FALSE(lines.back().is_discarded()) << line;
    }
    return lines;
  }
};

TEST_F(BenchTest, AWorkloadIsMeasuredAndChecked) {
  const std::string folder = WriteWorkload("sum", CreateR1<float>({1, 2, 3, 4}), "");
  const std::vector<Json> lines = Bench({folder + "/"}, 0);
  ASSERT_EQ(lines.size(), 1u);
  const Json& line = lines[0];
  EXPECT_EQ(line["name"], "sum");
  EXPECT_EQ(line["runtime"], "pjrt");
  EXPECT_EQ(line["ok"], true) << line;
  EXPECT_EQ(line["max_err"], 0.0);
  for (const char* key : {"compile_ms", "first_run_us", "run_us", "run_min_us", "pipeline_us"}) {
    ASSERT_TRUE(line.contains(key) && line[key].is_number()) << key << line;
    EXPECT_GE(line[key].get<double>(), 0.0) << key;
  }
  EXPECT_LE(line["run_min_us"].get<double>(), line["run_us"].get<double>());
}

TEST_F(BenchTest, MaxErrIsTheErrorInUnitsOfTheTolerance) {
  const std::string folder =
      WriteWorkload("near", CreateR1<float>({1, 2, 3, 4.5}), R"(, "atol": 0.5, "rtol": 0.125)");
  const std::vector<Json> lines = Bench({folder}, 0);
  EXPECT_EQ(lines[0]["ok"], true);
  EXPECT_DOUBLE_EQ(lines[0]["max_err"].get<double>(), 0.5 / (0.5 + 0.125 * 4.5));
}

TEST_F(BenchTest, WrongOutputsAreReportedWithTheFirst) {
  const std::string folder =
      WriteWorkload("wrong", CreateR1<float>({1, 2, 7, 8}), R"(, "atol": 1)");
  const std::vector<Json> lines = Bench({folder}, 1);
  EXPECT_EQ(lines[0]["ok"], false);
  EXPECT_EQ(lines[0]["max_err"], 4.0);
  EXPECT_EQ(lines[0]["mismatches"], 2);
  EXPECT_EQ(lines[0]["first_mismatch"], "output 0: element 2: got 3, want 7");
  EXPECT_TRUE(lines[0]["run_us"].is_number());
}

TEST_F(BenchTest, AnErrorWithoutBoundIsNull) {
  const std::string folder = WriteWorkload("exact", CreateR1<float>({1, 2, 3, 5}), "");
  EXPECT_TRUE(Bench({folder}, 1)[0]["max_err"].is_null());
  EXPECT_EQ(Bench({folder}, 1)[0]["ok"], false);
}

TEST_F(BenchTest, SampledOutputsAreComparedAtTheirPlaces) {
  const std::string right =
      WriteWorkload("sampled", CreateR1<float>({1, 4}), R"(, "sample_step": 3)");
  EXPECT_EQ(Bench({right}, 0)[0]["ok"], true);
  const std::string wrong =
      WriteWorkload("sampled_wrong", CreateR1<float>({1, 5}), R"(, "sample_step": 3)");
  EXPECT_EQ(Bench({wrong}, 1)[0]["first_mismatch"], "output 0: element 3: got 4, want 5");
  const std::string short_file =
      WriteWorkload("sampled_short", CreateR1<float>({1}), R"(, "sample_step": 3)");
  EXPECT_THAT(Bench({short_file}, 2)[0]["error"].get<std::string>(), HasSubstr("want.npy"));
}

TEST_F(BenchTest, NoCheckMeasuresOnly) {
  const std::string folder = WriteWorkload("wrong", CreateR1<float>({9, 9, 9, 9}), "");
  const Json line = Bench({"--no-check", folder}, 0)[0];
  EXPECT_TRUE(line["ok"].is_null());
  EXPECT_TRUE(line["run_us"].is_number());
}

TEST_F(BenchTest, DonatedInputsAreMadeAnew) {
  const std::string folder = WriteWorkload("donated", CreateR1<float>({1, 2, 3, 4}), "", R"(
func.func @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>)
    -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
})");
  const Json line = Bench({folder}, 0)[0];
  EXPECT_EQ(line["ok"], true) << line;
  EXPECT_GE(line["runs"].get<int>(), 7);
}

TEST_F(BenchTest, AWrongShapeOrNumberOfOutputsIsNotOk) {
  Write("w/program.mlir", kAddProgram);
  ASSERT_TRUE(WriteNpyFile(Path("w/want.npy"), CreateR1<float>({1, 2})).ok());
  const std::string inputs = R"({"inputs": [
      {"type": "f32", "shape": [4], "fill": {"kind": "zeros"}},
      {"type": "f32", "shape": [4], "fill": {"kind": "zeros"}}], "outputs": )";
  Write("w/workload.json", inputs + R"([{"type": "f32", "shape": [2], "file": "want.npy"}]})");
  Json line = Bench({Path("w")}, 1)[0];
  EXPECT_EQ(line["name"], "w") << "the folder's name stands in";
  EXPECT_EQ(line["first_mismatch"], "output 0: got f32[4], want f32[2]");
  Write("w/workload.json", inputs + "[]}");
  EXPECT_EQ(Bench({Path("w")}, 1)[0]["ok"], false);
}

TEST_F(BenchTest, ABadWorkloadNeverStopsTheNext) {
  Write("no_json/program.mlir", kAddProgram);
  Write("bad_json/program.mlir", kAddProgram);
  Write("bad_json/workload.json", "{\"inputs\": [");
  Write("deep_json/workload.json", std::string(100000, '['));
  Write("no_program/workload.json", R"({"inputs": [], "outputs": []})");
  Write("bad_program/workload.json", R"({"inputs": [], "outputs": []})");
  Write("bad_program/program.mlir", "func.func");
  Write("few_inputs/workload.json", R"({"inputs": [], "outputs": []})");
  Write("few_inputs/program.mlir", kAddProgram);
  Write("bad_fill/workload.json",
        R"({"inputs": [{"type": "f32", "shape": [4], "fill": {"kind": "?"}}], "outputs": []})");
  Write("bad_fill/program.mlir", kAddProgram);
  Write("bad_type/workload.json", R"({"inputs": [{"type": "f33", "shape": [4]}], "outputs": []})");
  Write("bad_type/program.mlir", kAddProgram);
  const std::string good = WriteWorkload("good", CreateR1<float>({1, 2, 3, 4}), "");
  const std::vector<Json> lines = Bench(
      {Path("missing"), Path("no_json"), Path("bad_json"), Path("deep_json"), Path("no_program"),
       Path("bad_program"), Path("few_inputs"), Path("bad_fill"), Path("bad_type"), good},
      2);
  ASSERT_EQ(lines.size(), 10u);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(lines[i]["ok"], false) << lines[i];
    EXPECT_EQ(lines[i]["runtime"], "pjrt") << lines[i];
    EXPECT_TRUE(lines[i]["error"].is_string()) << lines[i];
  }
  EXPECT_EQ(lines[0]["name"], "missing");
  EXPECT_EQ(lines[9]["ok"], true) << lines[9];
}

TEST_F(BenchTest, ProgramsForSeveralDevicesNeedThem) {
  Write("multi/program.mlir", kAddProgram);
  Write("multi/workload.json", R"({"inputs": [], "outputs": [], "partitions": 2})");
  EXPECT_THAT(Bench({Path("multi")}, 2)[0]["error"].get<std::string>(), HasSubstr("--devices 2"));
}

TEST_F(BenchTest, ProgramsThatCannotRunAreVerified) {
  Write("parse/program.mlir", "func.func @main() { return }");
  Write("parse/workload.json", R"({"check": "parse_only"})");
  EXPECT_EQ(Bench({Path("parse")}, 0)[0]["ok"], true);
  Write("parse/program.mlir", "func.func @main() -> tensor<f32> { return }");
  EXPECT_EQ(Bench({Path("parse")}, 2)[0]["ok"], false);
}

}  // namespace
}  // namespace pjrt::testing
