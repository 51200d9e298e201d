// SPDX-License-Identifier: Apache-2.0
//
// Whole programs: results have the same bits with 1, 2, 3 and 8 threads, and, where nothing in a
// program may use fused multiply-adds (docs/architecture.md), at every kernel level.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/base/shape.h"
#include "src/core/base/status_macros.h"
#include "tests/support/shared_dir.h"
#include "tests/tool/bits_util.h"
#include "tools/pjrt/program_file.h"
#include "tools/pjrt/workload.h"

namespace pjrt::tool {
namespace {

struct Sample {
  const char* name;
  bool fuses_multiply_adds;  // functions of reals, products of real matrices
  const char* text;
};

// Large enough that threads share the work.
constexpr Sample kSamples[] = {
    {"softmax", true, R"(
func.func @main(%x: tensor<300x700xf32>) -> tensor<300x700xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<300x700xf32>, tensor<f32>) -> tensor<300xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<300xf32>) -> tensor<300x700xf32>
  %d = stablehlo.subtract %x, %mb : tensor<300x700xf32>
  %e = stablehlo.exponential %d : tensor<300x700xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x700xf32>, tensor<f32>) -> tensor<300xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<300xf32>) -> tensor<300x700xf32>
  %r = stablehlo.divide %e, %sb : tensor<300x700xf32>
  return %r : tensor<300x700xf32>
})"},
    {"mean_and_variance", false, R"(
func.func @main(%x: tensor<500x1100xf32>) -> (tensor<500xf32>, tensor<1100xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<1100.0> : tensor<500xf32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<500x1100xf32>, tensor<f32>) -> tensor<500xf32>
  %mean = stablehlo.divide %s, %n : tensor<500xf32>
  %b = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<500xf32>) -> tensor<500x1100xf32>
  %d = stablehlo.subtract %x, %b : tensor<500x1100xf32>
  %q = stablehlo.multiply %d, %d : tensor<500x1100xf32>
  %rows = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<500x1100xf32>, tensor<f32>) -> tensor<500xf32>
  %columns = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<500x1100xf32>, tensor<f32>) -> tensor<1100xf32>
  %all = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<500x1100xf32>, tensor<f32>) -> tensor<f32>
  return %rows, %columns, %all : tensor<500xf32>, tensor<1100xf32>, tensor<f32>
})"},
    {"sums_of_narrow_floats", false, R"(
func.func @main(%x: tensor<40000x9xbf16>, %y: tensor<3x100000xf16>) -> (tensor<9xbf16>, tensor<3xf16>) {
  %a = stablehlo.constant dense<0.0> : tensor<bf16>
  %b = stablehlo.constant dense<1.0> : tensor<f16>
  %s = stablehlo.reduce(%x init: %a) applies stablehlo.add across dimensions = [0] : (tensor<40000x9xbf16>, tensor<bf16>) -> tensor<9xbf16>
  %t = stablehlo.reduce(%y init: %b) applies stablehlo.add across dimensions = [1] : (tensor<3x100000xf16>, tensor<f16>) -> tensor<3xf16>
  return %s, %t : tensor<9xbf16>, tensor<3xf16>
})"},
    {"a_reducer_that_is_no_known_operation", false, R"(
func.func @main(%x: tensor<200000xf64>, %y: tensor<200000xi32>) -> (tensor<f64>, tensor<i32>) {
  %a = stablehlo.constant dense<1.5> : tensor<f64>
  %i = stablehlo.constant dense<-1> : tensor<i32>
  %r:2 = "stablehlo.reduce"(%x, %y, %a, %i) ({
  ^bb0(%p: tensor<f64>, %pi: tensor<i32>, %q: tensor<f64>, %qi: tensor<i32>):
    %h = stablehlo.constant dense<0.5> : tensor<f64>
    %s = stablehlo.add %p, %q : tensor<f64>
    %t = stablehlo.multiply %s, %h : tensor<f64>
    %m = stablehlo.maximum %pi, %qi : tensor<i32>
    stablehlo.return %t, %m : tensor<f64>, tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<200000xf64>, tensor<200000xi32>, tensor<f64>, tensor<i32>) -> (tensor<f64>, tensor<i32>)
  return %r#0, %r#1 : tensor<f64>, tensor<i32>
})"},
    {"cumulative_sums", false, R"(
func.func @main(%x: tensor<64x3000xf32>) -> (tensor<64x3000xf32>, tensor<64x3000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3000>, padding = dense<[[0, 0], [2999, 0]]> : tensor<2x2xi64>} : (tensor<64x3000xf32>, tensor<f32>) -> tensor<64x3000xf32>
  %t = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 3, 5>, padding = dense<[[1, 1], [2, 2]]> : tensor<2x2xi64>} : (tensor<64x3000xf32>, tensor<f32>) -> tensor<64x3000xf32>
  return %r, %t : tensor<64x3000xf32>, tensor<64x3000xf32>
})"},
    {"scatter_of_sums", false, R"(
func.func @main(%x: tensor<1000x16xf32>, %k: tensor<60000xi32>, %u: tensor<60000x16xf32>) -> tensor<1000x16xf32> {
  %c = stablehlo.constant dense<331> : tensor<60000xi32>
  %n = stablehlo.iota dim = 0 : tensor<60000xi32>
  %p = stablehlo.multiply %n, %c : tensor<60000xi32>
  %q = stablehlo.add %p, %k : tensor<60000xi32>
  %m = stablehlo.constant dense<1003> : tensor<60000xi32>
  %i = stablehlo.remainder %q, %m : tensor<60000xi32>
  %at = stablehlo.reshape %i : (tensor<60000xi32>) -> tensor<60000x1xi32>
  %r = "stablehlo.scatter"(%x, %at, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<1000x16xf32>, tensor<60000x1xi32>, tensor<60000x16xf32>) -> tensor<1000x16xf32>
  return %r : tensor<1000x16xf32>
})"},
    {"sort_with_values", false, R"(
func.func @main(%x: tensor<50000xf32>) -> (tensor<50000xf32>, tensor<50000xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<50000xi32>
  %r:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<50000xf32>, tensor<50000xi32>) -> (tensor<50000xf32>, tensor<50000xi32>)
  return %r#0, %r#1 : tensor<50000xf32>, tensor<50000xi32>
})"},
    {"products_of_matrices", true, R"(
func.func @main(%a: tensor<3x130x515xf32>, %b: tensor<3x515x77xf32>, %v: tensor<515xf64>, %m: tensor<901x515xf64>, %h: tensor<200x300xbf16>, %g: tensor<300x100xbf16>) -> (tensor<3x130x77xf32>, tensor<901xf64>, tensor<200x100xbf16>) {
  %p = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x130x515xf32>, tensor<3x515x77xf32>) -> tensor<3x130x77xf32>
  %q = stablehlo.dot_general %m, %v, contracting_dims = [1] x [0] : (tensor<901x515xf64>, tensor<515xf64>) -> tensor<901xf64>
  %r = stablehlo.dot_general %h, %g, contracting_dims = [1] x [0] : (tensor<200x300xbf16>, tensor<300x100xbf16>) -> tensor<200x100xbf16>
  return %p, %q, %r : tensor<3x130x77xf32>, tensor<901xf64>, tensor<200x100xbf16>
})"},
    {"products_of_complex_matrices_and_of_integers", false, R"(
func.func @main(%a: tensor<90x200xcomplex<f32>>, %b: tensor<200x70xcomplex<f32>>, %c: tensor<100x300xi8>, %d: tensor<300x90xi8>) -> (tensor<90x70xcomplex<f32>>, tensor<100x90xi32>) {
  %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<90x200xcomplex<f32>>, tensor<200x70xcomplex<f32>>) -> tensor<90x70xcomplex<f32>>
  %q = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<100x300xi8>, tensor<300x90xi8>) -> tensor<100x90xi32>
  return %p, %q : tensor<90x70xcomplex<f32>>, tensor<100x90xi32>
})"},
    {"convolutions", true, R"(
func.func @main(%x: tensor<2x40x40x24xf32>, %k: tensor<3x3x24x40xf32>, %g: tensor<3x3x1x24xf32>) -> (tensor<2x20x20x40xf32>, tensor<2x40x40x24xf32>) {
  %p = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x40x40x24xf32>, tensor<3x3x24x40xf32>) -> tensor<2x20x20x40xf32>
  %q = stablehlo.convolution(%x, %g) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 24 : i64} : (tensor<2x40x40x24xf32>, tensor<3x3x1x24xf32>) -> tensor<2x40x40x24xf32>
  return %p, %q : tensor<2x20x20x40xf32>, tensor<2x40x40x24xf32>
})"},
    {"fourier_transforms", true, R"(
func.func @main(%x: tensor<64x1000xcomplex<f32>>, %y: tensor<50000xf64>) -> (tensor<64x1000xcomplex<f32>>, tensor<25001xcomplex<f64>>) {
  %p = stablehlo.fft %x, type = FFT, length = [1000] : (tensor<64x1000xcomplex<f32>>) -> tensor<64x1000xcomplex<f32>>
  %q = stablehlo.fft %y, type = RFFT, length = [50000] : (tensor<50000xf64>) -> tensor<25001xcomplex<f64>>
  return %p, %q : tensor<64x1000xcomplex<f32>>, tensor<25001xcomplex<f64>>
})"},
    {"factors_and_solutions", true, R"(
func.func @main(%x: tensor<6x60x60xf32>, %y: tensor<6x60x20xf32>) -> tensor<6x60x20xf32> {
  %p = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<6x60x60xf32>, tensor<6x60x60xf32>) -> tensor<6x60x60xf32>
  %l = stablehlo.cholesky %p, lower = true : tensor<6x60x60xf32>
  %r = "stablehlo.triangular_solve"(%l, %y) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<6x60x60xf32>, tensor<6x60x20xf32>) -> tensor<6x60x20xf32>
  return %r : tensor<6x60x20xf32>
})"},
    {"random_bits_in_a_loop", false, R"(
func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<30000xui32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<30000xui32>
  %w:3 = stablehlo.while(%i = %zero, %state = %s, %sum = %none) : tensor<i32>, tensor<2xui64>, tensor<30000xui32>
  cond {
    %p = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n, %bits = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<30000xui32>)
    %j = stablehlo.add %i, %one : tensor<i32>
    %x = stablehlo.xor %sum, %bits : tensor<30000xui32>
    stablehlo.return %j, %n, %x : tensor<i32>, tensor<2xui64>, tensor<30000xui32>
  }
  return %w#1, %w#2 : tensor<2xui64>, tensor<30000xui32>
})"},
    {"gather_and_select_and_scatter", false, R"(
func.func @main(%t: tensor<5000x64xf32>, %k: tensor<4000x1xi32>, %x: tensor<8x64x64xf32>, %y: tensor<8x32x32xf32>) -> (tensor<4000x64xf32>, tensor<8x64x64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %g = "stablehlo.gather"(%t, %k) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>} : (tensor<5000x64xf32>, tensor<4000x1xi32>) -> tensor<4000x64xf32>
  %s = "stablehlo.select_and_scatter"(%x, %y, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>, padding = dense<[[0, 0], [1, 0], [1, 0]]> : tensor<3x2xi64>} : (tensor<8x64x64xf32>, tensor<8x32x32xf32>, tensor<f32>) -> tensor<8x64x64xf32>
  return %g, %s : tensor<4000x64xf32>, tensor<8x64x64xf32>
})"},
    {"special_functions", true, R"(
func.func @main(%x: tensor<40000xf32>, %z: tensor<20000xcomplex<f64>>) -> (tensor<40000xf32>, tensor<20000xcomplex<f64>>) {
  %a = chlo.lgamma %x : tensor<40000xf32> -> tensor<40000xf32>
  %b = chlo.erf %a : tensor<40000xf32> -> tensor<40000xf32>
  %c = chlo.asinh %z : tensor<20000xcomplex<f64>> -> tensor<20000xcomplex<f64>>
  return %b, %c : tensor<40000xf32>, tensor<20000xcomplex<f64>>
})"},
};

class ProgramBitsTest : public ::testing::TestWithParam<Sample> {};

TEST_P(ProgramBitsTest, AnyNumberOfThreadsComputesTheSame) {
  const Sample& sample = GetParam();
  const auto arguments = SmallArguments(sample.text);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  const auto expected = RunOn(ClientWith(1).get(), sample.text, *arguments);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const int threads : {2, 3, 8}) {
    const std::unique_ptr<PjRtClient> client = ClientWith(threads);
    for (int i = 0; i < 3; ++i) {
      const auto actual = RunOn(client.get(), sample.text, *arguments);
      ASSERT_TRUE(actual.ok()) << actual.status();
      EXPECT_TRUE(SameBits(*expected, *actual)) << threads << " threads";
    }
  }
}

TEST_P(ProgramBitsTest, EachKernelLevelComputesTheSameButForFusedMultiplyAdds) {
  const Sample& sample = GetParam();
  if (sample.fuses_multiply_adds) return;
  const auto arguments = SmallArguments(sample.text);
  ASSERT_TRUE(arguments.ok()) << arguments.status();
  const auto expected = RunOn(ClientWith(1).get(), sample.text, *arguments);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const absl::string_view level : kLevels) {
    const std::unique_ptr<PjRtClient> client = ClientWith(3, std::string(level));
    if (client == nullptr) continue;  // the machine lacks it
    const auto actual = RunOn(client.get(), sample.text, *arguments);
    ASSERT_TRUE(actual.ok()) << actual.status();
    EXPECT_TRUE(SameBits(*expected, *actual)) << "level " << level;
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, ProgramBitsTest, ::testing::ValuesIn(kSamples),
                         [](const ::testing::TestParamInfo<Sample>& sample) {
                           return std::string(sample.param.name);
                         });

// Workloads on one device whose inputs are not large.
bool IsQuick(const Workload& workload) {
  int64_t elements = 0;
  for (const WorkloadInput& input : workload.inputs) {
    int64_t count = 1;
    for (const int64_t d : input.shape.dimensions()) count *= d;
    elements += count;
  }
  return workload.partitions == 1 && !workload.parse_only && elements <= 2000000;
}

TEST(WorkloadBitsTest, AnyNumberOfThreadsComputesTheSame) {
  const std::optional<std::string> shared = pjrt::testing::SharedDir();
  if (!shared.has_value()) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(*shared + "/workloads")) {
    if (entry.is_directory()) folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  const std::unique_ptr<PjRtClient> one = ClientWith(1);
  const std::unique_ptr<PjRtClient> others[] = {ClientWith(2), ClientWith(3), ClientWith(8)};
  int compared = 0;
  for (const std::string& folder : folders) {
    const auto program = ReadProgram(folder);
    ASSERT_TRUE(program.ok()) << program.status();
    if (!IsQuick(*program->workload)) continue;
    const auto inputs = MakeInputs(*program->workload);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    const auto start = std::chrono::steady_clock::now();
    const auto expected = RunOn(one.get(), program->bytes, *inputs);
    // Slow ones are left to whoever measures them.
    if (!expected.ok() || std::chrono::steady_clock::now() - start > std::chrono::milliseconds(150))
      continue;
    for (const auto& client : others) {
      const auto actual = RunOn(client.get(), program->bytes, *inputs);
      ASSERT_TRUE(actual.ok()) << folder << ": " << actual.status();
      EXPECT_TRUE(SameBits(*expected, *actual)) << folder;
    }
    ++compared;
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace pjrt::tool
