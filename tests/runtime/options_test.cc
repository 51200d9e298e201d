// SPDX-License-Identifier: Apache-2.0
//
// Compile and execute options, programs, support reports.
#include "gtest/gtest.h"
#include "pjrt/callbacks.h"
#include "pjrt/compile_options.h"
#include "pjrt/execute_options.h"
#include "pjrt/program.h"
#include "pjrt/support_report.h"

namespace pjrt {
namespace {

using absl::StatusCode;

TEST(CompileOptionsTest, DefaultsAreOneLine) {
  EXPECT_EQ(CompileOptions().Serialize(), "pjrt.compile_options.v1\n");
  EXPECT_TRUE(CompileOptions::Deserialize("pjrt.compile_options.v1\n").ok());
}

TEST(CompileOptionsTest, EveryFieldSurvivesTheRoundTrip) {
  CompileOptions options;
  options.argument_layouts = {MakeShapeWithLayout(F32, {2, 3}, {0, 1}), MakeShape(S4, {})};
  options.parameter_is_tupled_arguments = true;
  options.individually_defined_output_indices = {3, 1};
  options.compile_portable_executable = true;
  options.profile_version = 5;
  options.serialized_multi_slice_config = std::string("a\n\0\"b", 5);
  options.env_option_overrides = {{"x\"=,y", std::string("line\nbreak")}, {"z", 0.1}};
  options.allow_in_place_mlir_modification = true;
  options.matrix_unit_operand_precision = MatrixUnitPrecision::kHighest;
  ExecutableBuildOptions& build = options.executable_build_options;
  build.set_device_ordinal(2).set_num_replicas(3).set_num_partitions(4);
  build.set_result_layout(MakeTupleShape({MakeShapeWithLayout(F32, {2, 3}, {0, 1})}));
  build.set_device_assignment(*DeviceAssignment::Create(1, 2, {7, 8}));
  build.set_use_spmd_partitioning(true).set_use_auto_spmd_partitioning(true);
  build.set_auto_spmd_partitioning_mesh_shape({2, 2}).set_auto_spmd_partitioning_mesh_ids({0, 1});
  build.set_use_shardy_partitioner(true).set_optimization_level(3).set_memory_fitting_level(1);
  build.set_allow_spmd_sharding_propagation_to_parameters({true, false});
  build.set_allow_spmd_sharding_propagation_to_output({true});
  build.set_deduplicate_hlo(true).set_alias_passthrough_params(true).set_run_backend_only(true);
  build.set_fdo_profile("profile").set_device_memory_size(1 << 20);
  build.set_process_index(1).set_process_count(2);
  (*build.mutable_debug_options())["flag"] = true;
  (*build.mutable_debug_options())["count"] = int64_t{-3};
  (*build.mutable_debug_options())["ratio"] = 1.0 / 3;
  const std::string text = options.Serialize();
  const absl::StatusOr<CompileOptions> again = CompileOptions::Deserialize(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->Serialize(), text);
  EXPECT_EQ(again->argument_layouts, options.argument_layouts);
  EXPECT_EQ(again->serialized_multi_slice_config, options.serialized_multi_slice_config);
  EXPECT_EQ(again->env_option_overrides, options.env_option_overrides);
  EXPECT_EQ(again->executable_build_options.debug_options(), build.debug_options());
  EXPECT_EQ(again->executable_build_options.device_assignment(), build.device_assignment());
  EXPECT_EQ(*again->executable_build_options.result_layout(), *build.result_layout());
}

TEST(CompileOptionsTest, DamagedTextNamesTheLine) {
  for (const char* text :
       {"", "pjrt.compile_options.v2\n", "pjrt.compile_options.v1\nnum_replicas",
        "pjrt.compile_options.v1\nnum_replicas=x", "pjrt.compile_options.v1\nbogus=1",
        "pjrt.compile_options.v1\nresult_layout=f32[", "pjrt.compile_options.v1\ndebug_option=x",
        "pjrt.compile_options.v1\ndebug_option=\"x\",q:1",
        "pjrt.compile_options.v1\nmatrix_unit_operand_precision=9",
        "pjrt.compile_options.v1\nfdo_profile=\"abc"}) {
    const absl::Status status = CompileOptions::Deserialize(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(status.message().find("line "), absl::string_view::npos) << status;
  }
}

TEST(CompileOptionsTest, TextOptionsTakeTheTypeThatIsThereOrTheirOwn) {
  CompileOptions options;
  EXPECT_TRUE(options.ApplyOptionFromString("a", "true").ok());
  EXPECT_TRUE(options.ApplyOptionFromString("b", "12").ok());
  EXPECT_TRUE(options.ApplyOptionFromString("c", "0.5").ok());
  EXPECT_TRUE(options.ApplyOptionFromString("d", "text").ok());
  EXPECT_TRUE(options.ApplyOptionFromString("c", "2").ok());
  const OptionMap& map = options.executable_build_options.debug_options();
  EXPECT_EQ(map.at("a"), OptionValue(true));
  EXPECT_EQ(map.at("b"), OptionValue(int64_t{12}));
  EXPECT_EQ(map.at("c"), OptionValue(2.0));
  EXPECT_EQ(map.at("d"), OptionValue(std::string("text")));
  EXPECT_EQ(options.ApplyOptionFromString("a", "maybe").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(options.ApplyOption("", true).code(), StatusCode::kInvalidArgument);
}

TEST(CompileOptionsTest, TheLastOverrideWins) {
  CompileOptions options;
  options.env_option_overrides = {{"x", int64_t{1}}, {"x", int64_t{2}}};
  EXPECT_TRUE(options.ApplyAllOptionOverrides().ok());
  EXPECT_EQ(options.executable_build_options.debug_options().at("x"), OptionValue(int64_t{2}));
  const auto loaded = CompileOptions::LoadEnvOptionOverrides({{"k", "false"}, {"n", "7"}});
  EXPECT_EQ((*loaded)[0].second, OptionValue(false));
  EXPECT_EQ((*loaded)[1].second, OptionValue(int64_t{7}));
}

TEST(ExecuteOptionsTest, RoundTrip) {
  ExecuteOptions options;
  options.launch_id = -5;
  options.strict_shape_checking = true;
  options.use_major_to_minor_data_layout_for_callbacks = true;
  options.execution_mode = ExecuteOptions::ExecutionMode::kAsynchronous;
  options.non_donatable_input_indices = {4, 2};
  options.seed = int64_t{1} << 40;
  options.use_output_arena = true;
  const std::string text = *options.Serialize();
  const ExecuteOptions again = *ExecuteOptions::Deserialize(text);
  EXPECT_EQ(*again.Serialize(), text);
  EXPECT_EQ(again.non_donatable_input_indices, options.non_donatable_input_indices);
  EXPECT_EQ(again.seed, options.seed);
  EXPECT_EQ(again.execution_mode, options.execution_mode);
  EXPECT_EQ(*ExecuteOptions().Serialize(), "pjrt.execute_options.v1\n");
}

TEST(ExecuteOptionsTest, CallbacksAndUnknownModesAreUnimplemented) {
  ExecuteOptions options;
  const std::vector<std::vector<SendCallback>> send(1);
  options.send_callbacks = send;
  EXPECT_EQ(options.Serialize().status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(
      ExecuteOptions::Deserialize("pjrt.execute_options.v1\nexecution_mode=3").status().code(),
      StatusCode::kUnimplemented);
  EXPECT_EQ(ExecuteOptions::Deserialize("pjrt.execute_options.v1\nseed=1.5").status().code(),
            StatusCode::kInvalidArgument);
}

TEST(ProgramFormatTest, IsFoundFromTheFirstBytes) {
  EXPECT_EQ(*DetectProgramFormat("module {}"), ProgramFormat::kText);
  EXPECT_EQ(*DetectProgramFormat("  // HloModule in a comment\nmodule {}"), ProgramFormat::kText);
  EXPECT_EQ(*DetectProgramFormat("/* c */ HloModule m"), ProgramFormat::kHloText);
  EXPECT_EQ(*DetectProgramFormat("ML\xefR\x0d"), ProgramFormat::kBytecode);
  EXPECT_EQ(*DetectProgramFormat(absl::string_view("\x0a\x03"
                                                   "abc\x12\x00",
                                                   7)),
            ProgramFormat::kHloProto);
  EXPECT_EQ(DetectProgramFormat("").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DetectProgramFormat("// only a comment").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DetectProgramFormat(absl::string_view("\x00\x01\x02", 3)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(SupportReportTest, PrintsALineAReason) {
  SupportReport report;
  report.verdict = Support::kNo;
  report.reasons.push_back(
      {Support::kNo, "stablehlo.sort", "(tensor<2xf32>) -> ()", "m:1:2", "isn't there"});
  EXPECT_EQ(report.ToString(), "no\n  no: m:1:2: stablehlo.sort (tensor<2xf32>) -> () isn't there");
  EXPECT_FALSE(report.IsSupported());
}

}  // namespace
}  // namespace pjrt
