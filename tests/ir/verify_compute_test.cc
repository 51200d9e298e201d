// SPDX-License-Identifier: Apache-2.0
//
// What the verifier accepts and refuses: contractions, windows, reductions, linear algebra.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ir/verify_test_util.h"

namespace pjrt::ir {
namespace {

std::string DotGeneral(const std::string& lhs, const std::string& rhs, const std::string& numbers,
                       const std::string& result) {
  return Verdict(
      absl::StrCat("%a: ", lhs, ", %b: ", rhs),
      absl::StrCat("%0 = \"stablehlo.dot_general\"(%a, %b) {dot_dimension_numbers = ",
                   "#stablehlo.dot<", numbers, ">} : (", lhs, ", ", rhs, ") -> ", result));
}

TEST(VerifyComputeTest, DotGeneralPairsDimensionsOfOneSize) {
  const std::string l = "tensor<2x3x4xf32>", r = "tensor<2x4x5xf32>";
  const std::string batched =
      "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
      "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]";
  EXPECT_EQ(DotGeneral(l, r, batched, "tensor<2x3x5xf32>"), "ok");
  EXPECT_EQ(DotGeneral(l, r, batched, "tensor<2x3x5xf64>"), "ok");  // a wider result
  EXPECT_EQ(DotGeneral(l, r, batched, "tensor<2x5x3xf32>"), "V006");
  EXPECT_EQ(DotGeneral(l, "tensor<2x5x5xf32>", batched, "tensor<2x3x5xf32>"), "V011");
  EXPECT_EQ(DotGeneral(l, "tensor<3x4x5xf32>", batched, "tensor<2x3x5xf32>"), "V011");
  EXPECT_EQ(DotGeneral(l, "tensor<2x4x5xi32>", batched, "tensor<2x3x5xf32>"), "ok");  // two types
}

TEST(VerifyComputeTest, TheRhsOfDotGeneralHasNoZeroPoints) {
  const std::string l = "tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>";
  const std::string sums = "tensor<2x2x!quant.uniform<i32:f32, 0.25>>";
  const auto rhs = [](const std::string& scales) {
    return "tensor<3x2x!quant.uniform<i8:f32" + scales + ">>";
  };
  const std::string numbers = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]";
  EXPECT_EQ(DotGeneral(l, rhs(", 0.5"), numbers, sums), "ok");
  EXPECT_EQ(DotGeneral(l, rhs(", 0.5:1"), numbers, sums), "V009");
  const std::string floats = "tensor<2x3xf32>", result = "tensor<2x2xf32>";
  EXPECT_EQ(DotGeneral(floats, rhs(", 0.5:1"), numbers, result), "V009");
  EXPECT_EQ(DotGeneral(floats, rhs(":1, {0.5, 0.25}"), numbers, result), "ok");
  EXPECT_EQ(DotGeneral(floats, rhs(":1, {0.5, 0.25:-1}"), numbers, result), "V009");
}

TEST(VerifyComputeTest, DotGeneralNamesEachDimensionOnce) {
  const std::string t = "tensor<2x2xf32>";
  const auto verdict = [&](const std::string& numbers) {
    return DotGeneral(t, t, numbers, "tensor<2x2xf32>");
  };
  EXPECT_EQ(verdict("lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]"), "ok");
  EXPECT_EQ(verdict("lhs_contracting_dimensions = [1], rhs_contracting_dimensions = []"), "V010");
  EXPECT_EQ(verdict("lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]"), "V010");
  EXPECT_EQ(verdict("lhs_contracting_dimensions = [1, 1], rhs_contracting_dimensions = [0, 1]"),
            "V010");
  EXPECT_EQ(verdict("lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], "
                    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"),
            "V010");
}

TEST(VerifyComputeTest, ADotAlgorithmIsOneThatHardwareHas) {
  const auto verdict = [](const std::string& types, int primitives, const std::string& more) {
    return Verdict("%a: tensor<2x2xf32>",
                   absl::StrCat("%0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]",
                                more, ", algorithm = <", types,
                                ", lhs_component_count = 1, rhs_component_count = 1, ",
                                "num_primitive_operations = ", primitives,
                                ", allow_imprecise_accumulation = false> : ",
                                "(tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>"));
  };
  const std::string bf16 =
      "lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32";
  EXPECT_EQ(verdict(bf16, 3, ""), "ok");
  EXPECT_EQ(verdict(bf16, 9, ", precision = [DEFAULT, DEFAULT]"), "ok");
  EXPECT_NE(verdict(bf16, 2, ""), "ok");
  EXPECT_EQ(verdict(bf16, 3, ", precision = [HIGH, DEFAULT]"), "V005");
  EXPECT_NE(
      verdict("lhs_precision_type = i8, rhs_precision_type = i8, accumulation_type = f32", 1, ""),
      "ok");
}

TEST(VerifyComputeTest, DotTakesVectorsAndMatrices) {
  EXPECT_EQ(
      Verdict("%a: tensor<2x3xf32>, %v: tensor<3xf32>",
              "%0 = stablehlo.dot %a, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>"),
      "ok");
  EXPECT_EQ(
      Verdict("%a: tensor<2x3xf32>, %v: tensor<2xf32>",
              "%0 = stablehlo.dot %a, %v : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xf32>"),
      "V011");
  EXPECT_EQ(Verdict("%a: tensor<f32>",
                    "%0 = stablehlo.dot %a, %a : (tensor<f32>, tensor<f32>) -> tensor<f32>"),
            "V008");
}

TEST(VerifyComputeTest, EinsumFollowsItsLetters) {
  const auto verdict = [](const std::string& config, const std::string& result) {
    return Verdict("%a: tensor<2x3xf32>, %b: tensor<3x4xf32>",
                   "%0 = stablehlo.einsum %a, %b, config = \"" + config +
                       "\" : (tensor<2x3xf32>, tensor<3x4xf32>) -> " + result);
  };
  EXPECT_EQ(verdict("ab,bc->ca", "tensor<4x2xf32>"), "ok");
  EXPECT_EQ(verdict("ab,bc->ca", "tensor<2x4xf32>"), "V006");
  EXPECT_EQ(verdict("ab,ac->bc", "tensor<3x4xf32>"), "V011");
  EXPECT_EQ(verdict("ab,bc->ax", "tensor<2x4xf32>"), "V005");
  EXPECT_EQ(verdict("ab->a", "tensor<2xf32>"), "V005");
}

std::string Convolution(const std::string& lhs, const std::string& rhs, const std::string& numbers,
                        const std::string& window, const std::string& groups,
                        const std::string& result) {
  return Verdict(
      absl::StrCat("%x: ", lhs, ", %k: ", rhs),
      absl::StrCat("%0 = stablehlo.convolution(%x, %k) dim_numbers = ", numbers, ", window = {",
                   window, "} {", groups, "} : (", lhs, ", ", rhs, ") -> ", result));
}

TEST(VerifyComputeTest, ConvolutionWindowsGiveTheResultsSize) {
  const std::string one = "batch_group_count = 1 : i64, feature_group_count = 1 : i64";
  const std::string numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]";
  const auto verdict = [&](const std::string& window, const std::string& result) {
    return Convolution("tensor<2x9x3xf32>", "tensor<4x3x5xf32>", numbers, window, one, result);
  };
  EXPECT_EQ(verdict("", "tensor<2x6x5xf32>"), "ok");
  EXPECT_EQ(verdict("stride = [2], pad = [[1, 1]]", "tensor<2x4x5xf32>"), "ok");
  EXPECT_EQ(verdict("lhs_dilate = [2], rhs_dilate = [3]", "tensor<2x8x5xf32>"), "ok");
  EXPECT_EQ(verdict("pad = [[-6, 0]]", "tensor<2x0x5xf32>"), "ok");
  EXPECT_EQ(verdict("", "tensor<2x5x5xf32>"), "V006");
  EXPECT_EQ(verdict("stride = [0]", "tensor<2x6x5xf32>"), "V012");
  EXPECT_EQ(verdict("stride = [1, 1]", "tensor<2x6x5xf32>"), "V010");
}

TEST(VerifyComputeTest, ConvolutionGroupsDivideFeaturesOrBatch) {
  const std::string numbers = "[b, 0, f]x[0, i, o]->[b, 0, f]";
  const auto verdict = [&](const std::string& kernel, int features, int batch,
                           const std::string& result) {
    return Convolution("tensor<4x9x6xf32>", kernel, numbers, "",
                       absl::StrCat("batch_group_count = ", batch,
                                    " : i64, feature_group_count = ", features, " : i64"),
                       result);
  };
  EXPECT_EQ(verdict("tensor<1x2x9xf32>", 3, 1, "tensor<4x9x9xf32>"), "ok");
  EXPECT_EQ(verdict("tensor<1x6x8xf32>", 1, 2, "tensor<2x9x8xf32>"), "ok");
  EXPECT_EQ(verdict("tensor<1x3x9xf32>", 3, 1, "tensor<4x9x9xf32>"), "V011");
  EXPECT_EQ(verdict("tensor<1x2x8xf32>", 3, 1, "tensor<4x9x8xf32>"), "V011");
  EXPECT_EQ(verdict("tensor<1x6x8xf32>", 1, 3, "tensor<1x9x8xf32>"), "V011");
  EXPECT_EQ(verdict("tensor<1x3x8xf32>", 2, 2, "tensor<2x9x8xf32>"), "V005");
}

std::string Reduce(const std::string& body, const std::string& init, const std::string& dims,
                   const std::string& result) {
  return Verdict("%x: tensor<2x3xf32>, %z: " + init,
                 "%0 = \"stablehlo.reduce\"(%x, %z) ({\n" + body +
                     "\n}) {dimensions = array<i64: " + dims + ">} : (tensor<2x3xf32>, " + init +
                     ") -> " + result);
}

TEST(VerifyComputeTest, ReduceBodiesFoldScalars) {
  const std::string add =
      "^bb0(%p: tensor<f32>, %q: tensor<f32>):\n%s = stablehlo.add %p, %q : tensor<f32>\n"
      "stablehlo.return %s : tensor<f32>";
  EXPECT_EQ(Reduce(add, "tensor<f32>", "0", "tensor<3xf32>"), "ok");
  EXPECT_EQ(Reduce(add, "tensor<f32>", "0, 1", "tensor<f32>"), "ok");
  EXPECT_EQ(Reduce(add, "tensor<f32>", "0", "tensor<2xf32>"), "V006");
  EXPECT_EQ(Reduce(add, "tensor<f32>", "2", "tensor<2x3xf32>"), "V010");
  EXPECT_EQ(Reduce(add, "tensor<f32>", "0, 0", "tensor<3xf32>"), "V010");
  EXPECT_EQ(Reduce(add, "tensor<1xf32>", "0", "tensor<3xf32>"), "V014");
  EXPECT_EQ(Reduce(add, "tensor<i32>", "0", "tensor<3xf32>"), "V014");
}

TEST(VerifyComputeTest, ReduceMayAccumulateWider) {
  const std::string wide =
      "^bb0(%p: tensor<f64>, %q: tensor<f64>):\n%s = stablehlo.add %p, %q : tensor<f64>\n"
      "stablehlo.return %s : tensor<f64>";
  EXPECT_EQ(Reduce(wide, "tensor<f32>", "0", "tensor<3xf64>"), "ok");
  EXPECT_EQ(Reduce(wide, "tensor<f32>", "0", "tensor<3xf32>"), "V006");
}

// Integers must fit into what the region works with; floats are rounded.
TEST(VerifyComputeTest, ReduceMayWorkWithFloatsOfOtherPrecision) {
  const auto verdict = [](const std::string& input, const std::string& init,
                          const std::string& accumulator, const std::string& value) {
    return Verdict(
        "%x: tensor<2x3x" + input + ">, %z: tensor<" + init + ">, %r: tensor<" + accumulator + ">",
        "%0 = \"stablehlo.reduce\"(%x, %z) ({\n^bb0(%p: tensor<" + accumulator + ">, %q: tensor<" +
            value + ">):\nstablehlo.return %p : tensor<" + accumulator +
            ">\n}) {dimensions = array<i64: 0>} : (tensor<2x3x" + input + ">, tensor<" + init +
            ">) -> tensor<3x" + accumulator + ">");
  };
  EXPECT_EQ(verdict("f64", "f64", "f32", "f32"), "ok");
  EXPECT_EQ(verdict("f32", "f64", "f32", "f32"), "ok");
  EXPECT_EQ(verdict("f32", "f32", "f32", "f64"), "ok");
  EXPECT_EQ(verdict("f64", "f32", "f32", "bf16"), "ok");
  EXPECT_EQ(verdict("i8", "i8", "i32", "i32"), "ok");
  EXPECT_EQ(verdict("i64", "i32", "i32", "i32"), "V013");
  EXPECT_EQ(verdict("i32", "i64", "i32", "i32"), "V014");
  EXPECT_EQ(verdict("i32", "i32", "i32", "i64"), "V013");
  EXPECT_EQ(verdict("i32", "f32", "f32", "f32"), "V013");
  EXPECT_EQ(verdict("complex<f64>", "complex<f32>", "complex<f32>", "complex<f32>"), "V013");
}

TEST(VerifyComputeTest, ScattersMayWorkWithFloatsOfOtherPrecision) {
  const auto verdict = [](const std::string& input, const std::string& update,
                          const std::string& result) {
    return Verdict("%x: tensor<3x" + input + ">, %i: tensor<2x1xi32>, %u: tensor<2x" + update + ">",
                   "%0 = \"stablehlo.scatter\"(%x, %i, %u) ({\n^bb0(%p: tensor<" + result +
                       ">, %q: tensor<" + result + ">):\nstablehlo.return %q : tensor<" + result +
                       ">\n}) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims "
                       "= [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : "
                       "(tensor<3x" +
                       input + ">, tensor<2x1xi32>, tensor<2x" + update + ">) -> tensor<3x" +
                       result + ">");
  };
  EXPECT_EQ(verdict("f32", "f32", "f32"), "ok");
  EXPECT_EQ(verdict("f64", "f64", "f32"), "ok");
  EXPECT_EQ(verdict("f32", "f64", "f32"), "ok");
  EXPECT_EQ(verdict("f32", "i32", "f32"), "V008");
  EXPECT_EQ(verdict("i32", "i64", "i64"), "V008");
}

TEST(VerifyComputeTest, ReduceBodiesTakeAndReturnTheRightNumberOfValues) {
  EXPECT_EQ(Reduce("^bb0(%p: tensor<f32>):\nstablehlo.return %p : tensor<f32>", "tensor<f32>", "0",
                   "tensor<3xf32>"),
            "V013");
  EXPECT_EQ(Reduce("^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
                   "stablehlo.return %p, %q : tensor<f32>, tensor<f32>",
                   "tensor<f32>", "0", "tensor<3xf32>"),
            "V014");
  EXPECT_EQ(Reduce("^bb0(%p: tensor<f32>, %q: tensor<i32>):\nstablehlo.return %p : tensor<f32>",
                   "tensor<f32>", "0", "tensor<3xf32>"),
            "V013");
}

TEST(VerifyComputeTest, ReduceWindowMovesItsWindow) {
  const auto verdict = [](const std::string& attributes, const std::string& result) {
    return Verdict(
        "%x: tensor<8xf32>, %z: tensor<f32>",
        "%0 = \"stablehlo.reduce_window\"(%x, %z) ({\n^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "%s = stablehlo.add %p, %q : tensor<f32>\nstablehlo.return %s : tensor<f32>\n}) {" +
            attributes + "} : (tensor<8xf32>, tensor<f32>) -> " + result);
  };
  EXPECT_EQ(verdict("window_dimensions = array<i64: 3>", "tensor<6xf32>"), "ok");
  EXPECT_EQ(
      verdict("window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>",
              "tensor<8xf32>"),
      "ok");
  EXPECT_EQ(verdict("window_dimensions = array<i64: 9>", "tensor<0xf32>"), "ok");
  EXPECT_EQ(verdict("window_dimensions = array<i64: 0>", "tensor<9xf32>"), "V012");
  EXPECT_EQ(verdict("window_dimensions = array<i64: 3, 1>", "tensor<6xf32>"), "V010");
  EXPECT_EQ(verdict("window_dimensions = array<i64: 3>, window_strides = array<i64: -1>",
                    "tensor<6xf32>"),
            "V012");
  EXPECT_EQ(verdict("window_dimensions = array<i64: 3>, padding = dense<0> : tensor<2x2xi64>",
                    "tensor<6xf32>"),
            "V012");
}

TEST(VerifyComputeTest, ReduceWindowBodiesMayKeepDimensionsOfTheWindow) {
  const auto verdict = [](const std::string& type, const std::string& init) {
    return Verdict("%x: tensor<4x2xf32>, %z: " + init,
                   "%0 = \"stablehlo.reduce_window\"(%x, %z) ({\n^bb0(%p: " + type +
                       ", %q: " + type + "):\n%s = stablehlo.add %p, %q : " + type +
                       "\nstablehlo.return %s : " + type +
                       "\n}) {window_dimensions = array<i64: 5, 2>, padding = dense<[[2, 2], [0, "
                       "0]]> : tensor<2x2xi64>, window_strides = array<i64: 3, 1>} : "
                       "(tensor<4x2xf32>, " +
                       init + ") -> tensor<2x1xf32>");
  };
  for (const std::string type :
       {"tensor<f32>", "tensor<5xf32>", "tensor<2xf32>", "tensor<5x2xf32>"}) {
    EXPECT_EQ(verdict(type, type), "ok") << type;
  }
  for (const std::string type : {"tensor<3xf32>", "tensor<2x5xf32>", "tensor<5x2x1xf32>"}) {
    EXPECT_EQ(verdict(type, type), "V014") << type;
  }
  EXPECT_EQ(verdict("tensor<5xf32>", "tensor<f32>"), "V014");
  EXPECT_EQ(verdict("tensor<f32>", "tensor<5xf32>"), "V014");
}

TEST(VerifyComputeTest, SelectAndScatterBodiesTakeScalars) {
  const auto verdict = [](const std::string& select, const std::string& scatter) {
    const std::string type = "tensor<" + scatter + ">";
    return Verdict("%x: tensor<4xf32>, %s: tensor<2xf32>, %z: " + type + ", %c: tensor<i1>",
                   "%0 = \"stablehlo.select_and_scatter\"(%x, %s, %z) ({\n^bb0(%p: " + select +
                       ", %q: " + select + "):\nstablehlo.return %c : tensor<i1>\n}, {\n^bb0(%p: " +
                       type + ", %q: " + type + "):\n%t = stablehlo.add %p, %q : " + type +
                       "\nstablehlo.return %t : " + type +
                       "\n}) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : "
                       "(tensor<4xf32>, tensor<2xf32>, " +
                       type + ") -> tensor<4xf32>");
  };
  EXPECT_EQ(verdict("tensor<f32>", "f32"), "ok");
  EXPECT_EQ(verdict("tensor<bf16>", "f32"), "ok");
  EXPECT_EQ(verdict("tensor<2xf32>", "f32"), "V013");
  EXPECT_EQ(verdict("tensor<i32>", "f32"), "V013");
  EXPECT_EQ(verdict("tensor<f32>", "2xf32"), "V014");
}

TEST(VerifyComputeTest, SortComparatorsDecideByPairs) {
  const auto verdict = [](int dimension, const std::string& arguments, const std::string& ret) {
    return Verdict("%x: tensor<4x5xf32>",
                   absl::StrCat("%0 = \"stablehlo.sort\"(%x) ({\n^bb0(", arguments,
                                "):\n%c = stablehlo.compare LT, %p, %p : (tensor<f32>, "
                                "tensor<f32>) -> tensor<i1>\nstablehlo.return ",
                                ret, "\n}) {dimension = ", dimension,
                                " : i64} : (tensor<4x5xf32>) -> tensor<4x5xf32>"));
  };
  const std::string pair = "%p: tensor<f32>, %q: tensor<f32>";
  EXPECT_EQ(verdict(-2, pair, "%c : tensor<i1>"), "ok");
  EXPECT_EQ(verdict(-3, pair, "%c : tensor<i1>"), "V010");
  EXPECT_EQ(verdict(0, pair, "%p : tensor<f32>"), "V014");
  EXPECT_EQ(verdict(0, "%p: tensor<f32>", "%c : tensor<i1>"), "V013");
  EXPECT_EQ(verdict(0, "%p: tensor<f32>, %q: tensor<i32>", "%c : tensor<i1>"), "V013");
}

TEST(VerifyComputeTest, MatricesAreSquareAndFit) {
  EXPECT_EQ(Verdict("%a: tensor<2x3x3xf32>",
                    "%0 = stablehlo.cholesky %a, lower = true : tensor<2x3x3xf32>"),
            "ok");
  EXPECT_EQ(Verdict("%a: tensor<3x2xf32>", "%0 = stablehlo.cholesky %a : tensor<3x2xf32>"), "V011");
  const auto solve = [](const std::string& b, bool left, const std::string& transpose) {
    return Verdict("%a: tensor<3x3xf32>, %b: " + b,
                   absl::StrCat("%0 = \"stablehlo.triangular_solve\"(%a, %b) {left_side = ",
                                left ? "true" : "false",
                                ", lower = true, unit_diagonal = false, transpose_a = "
                                "#stablehlo<transpose ",
                                transpose, ">} : (tensor<3x3xf32>, ", b, ") -> ", b));
  };
  EXPECT_EQ(solve("tensor<3x5xf32>", true, "ADJOINT"), "ok");
  EXPECT_EQ(solve("tensor<5x3xf32>", false, "NO_TRANSPOSE"), "ok");
  EXPECT_EQ(solve("tensor<3x5xf32>", false, "NO_TRANSPOSE"), "V011");
  EXPECT_EQ(solve("tensor<3x5xf32>", true, "TRANSPOSE_INVALID"), "V005");
  EXPECT_EQ(solve("tensor<3xf32>", true, "NO_TRANSPOSE"), "V008");
}

TEST(VerifyComputeTest, FftLengthsFitTheOperand) {
  const auto fft = [](const std::string& in, const std::string& type, const std::string& length,
                      const std::string& out) {
    return Verdict("%a: " + in, "%0 = stablehlo.fft %a, type = " + type + ", length = [" + length +
                                    "] : (" + in + ") -> " + out);
  };
  EXPECT_EQ(fft("tensor<3x8xf32>", "RFFT", "8", "tensor<3x5xcomplex<f32>>"), "ok");
  EXPECT_EQ(fft("tensor<3x5xcomplex<f32>>", "IRFFT", "8", "tensor<3x8xf32>"), "ok");
  EXPECT_EQ(fft("tensor<3x5xcomplex<f32>>", "IRFFT", "9", "tensor<3x9xf32>"), "ok");
  EXPECT_EQ(fft("tensor<3x8xf32>", "RFFT", "9", "tensor<3x5xcomplex<f32>>"), "V011");
  EXPECT_EQ(fft("tensor<3x8xf32>", "FFT", "8", "tensor<3x8xf32>"), "V002");
  EXPECT_EQ(fft("tensor<8xf16>", "RFFT", "8", "tensor<5xcomplex<f32>>"), "V002");
  EXPECT_EQ(fft("tensor<8xcomplex<f32>>", "FFT", "8, 8", "tensor<8xcomplex<f32>>"), "V010");
}

TEST(VerifyComputeTest, RandomStatesHaveTheSizeOfTheAlgorithm) {
  const auto rng = [](const std::string& state, const std::string& algorithm) {
    return Verdict("%s: " + state,
                   "%0:2 = stablehlo.rng_bit_generator %s, algorithm = " + algorithm + " : (" +
                       state + ") -> (" + state + ", tensor<4xui32>)");
  };
  EXPECT_EQ(rng("tensor<2xui64>", "THREE_FRY"), "ok");
  EXPECT_EQ(rng("tensor<3xui64>", "PHILOX"), "ok");
  EXPECT_EQ(rng("tensor<3xui64>", "THREE_FRY"), "V011");
}

TEST(VerifyComputeTest, RandomNumbersHaveAShapeThatIsKnown) {
  const auto bits = [](const std::string& output) {
    return Verdict("%s: tensor<2xui64>",
                   "%0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : "
                   "(tensor<2xui64>) -> (tensor<2xui64>, " +
                       output + ")");
  };
  EXPECT_EQ(bits("tensor<4xui32>"), "ok");
  EXPECT_EQ(bits("tensor<?xui32>"), "V002");
  EXPECT_EQ(bits("tensor<?xui32, #stablehlo.bounds<4>>"), "V002");
  const auto rng = [](const std::string& shape) {
    return Verdict("%a: tensor<f32>, %s: " + shape,
                   "%0 = stablehlo.rng %a, %a, %s, distribution = UNIFORM : (tensor<f32>, "
                   "tensor<f32>, " +
                       shape + ") -> tensor<2x?xf32>");
  };
  EXPECT_EQ(rng("tensor<2xi64>"), "ok");
  EXPECT_EQ(rng("tensor<?xi64>"), "V002");
}

TEST(VerifyComputeTest, BatchNormHasAValueForEachFeature) {
  const auto norm = [](const std::string& vector, int index) {
    return Verdict("%x: tensor<2x4xf32>, %s: " + vector,
                   absl::StrCat("%0 = \"stablehlo.batch_norm_inference\"(%x, %s, %s, %s, %s) "
                                "{epsilon = 1.0e-3 : f32, feature_index = ",
                                index, " : i64} : (tensor<2x4xf32>, ", vector, ", ", vector, ", ",
                                vector, ", ", vector, ") -> tensor<2x4xf32>"));
  };
  EXPECT_EQ(norm("tensor<4xf32>", 1), "ok");
  EXPECT_EQ(norm("tensor<4xf32>", 0), "V011");
  EXPECT_EQ(norm("tensor<4xf32>", 2), "V010");
  EXPECT_EQ(norm("tensor<1x4xf32>", 1), "V002");
  EXPECT_EQ(norm("tensor<4xf64>", 1), "V008");
}

TEST(VerifyComputeTest, ChloBroadcastsSizesOfOne) {
  const auto add = [](const std::string& a, const std::string& b, const std::string& more,
                      const std::string& out) {
    return Verdict("%a: " + a + ", %b: " + b, "%0 = chlo.broadcast_add %a, %b " + more + " : (" +
                                                  a + ", " + b + ") -> " + out);
  };
  EXPECT_EQ(add("tensor<3x1xf32>", "tensor<4xf32>", "", "tensor<3x4xf32>"), "ok");
  EXPECT_EQ(add("tensor<3x4xf32>", "tensor<3xf32>", "{broadcast_dimensions = array<i64: 0>}",
                "tensor<3x4xf32>"),
            "ok");
  EXPECT_EQ(add("tensor<3x2xf32>", "tensor<4xf32>", "", "tensor<3x4xf32>"), "V011");
  EXPECT_EQ(add("tensor<3xf32>", "tensor<3xi32>", "", "tensor<3xf32>"), "V008");
  EXPECT_EQ(add("tensor<*xf32>", "tensor<3xf32>", "", "tensor<*xf32>"), "ok");
}

TEST(VerifyComputeTest, AConstantLikeHasAValueOfTheResultsType) {
  const auto verdict = [](const std::string& value, const std::string& result) {
    return Verdict("%a: tensor<2xf32>", "%0 = \"chlo.constant_like\"(%a) {value = " + value +
                                            "} : (tensor<2xf32>) -> " + result);
  };
  EXPECT_EQ(verdict("1.0 : f32", "tensor<2xf32>"), "ok");
  EXPECT_EQ(verdict("1.0 : f64", "tensor<2xf32>"), "V008");
  EXPECT_EQ(verdict("#complex.number<:f32 1.0, -2.0>", "tensor<2xcomplex<f32>>"), "ok");
  EXPECT_EQ(verdict("#complex.number<:f64 1.0, 2.0e-3>", "tensor<2xcomplex<f64>>"), "ok");
  EXPECT_EQ(verdict("#complex.number<:f64 1.0, 2.0>", "tensor<2xcomplex<f32>>"), "V008");
  EXPECT_EQ(verdict("#complex.number<:f32 1.0, 2.0>", "tensor<2xf32>"), "V008");
  EXPECT_EQ(verdict("#complex.number<:f32 1.0, 2.0>", "tensor<3xcomplex<f32>>"), "V008");
  for (const std::string text : {"", ":f32", ":f32 1.0", ":f32 1.0,", ":f32 1.0, 2.0, 3.0",
                                 ":f32 a, b", ":f32 --1.0, 2.0", ": 1.0, 2.0"}) {
    EXPECT_EQ(verdict("#complex.number<" + text + ">", "tensor<2xcomplex<f32>>"), "V008") << text;
  }
}

TEST(VerifyComputeTest, TopKFitsTheLastDimension) {
  const auto top = [](int k, const std::string& out) {
    return Verdict("%a: tensor<4x8xf32>",
                   absl::StrCat("%0:2 = chlo.top_k(%a, k = ", k, ") : tensor<4x8xf32> -> ", out));
  };
  EXPECT_EQ(top(8, "(tensor<4x8xf32>, tensor<4x8xi32>)"), "ok");
  EXPECT_EQ(top(9, "(tensor<4x9xf32>, tensor<4x9xi32>)"), "V011");
  EXPECT_EQ(top(2, "(tensor<4x2xf32>, tensor<4x2xi64>)"), "V006");
}

}  // namespace
}  // namespace pjrt::ir
