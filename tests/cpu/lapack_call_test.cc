// SPDX-License-Identifier: Apache-2.0
//
// Custom calls of linear algebra that factorise and solve, in all their spellings. What the kernels
// compute is tested with them; here, that each spelling reaches its kernel with the right operands,
// results and parameters.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "tests/cpu/lapack_call_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 4 2; 2 10 is L L^T with L = 2 0; 1 3.
const Literal& Definite() {
  static const Literal& a = *new Literal(Array<float>({2, 2}, {4, 2, 2, 10}));
  return a;
}

TEST(LapackCall, CholeskyInEverySpelling) {
  const std::vector<std::string> a = {"2x2xf32"}, out = {"2x2xf32", "i32"};
  for (const std::string& text :
       {CallText("lapack_spotrf_ffi", "mhlo.backend_config = {uplo = 76 : ui8}", a, out),
        CallText("lapack_spotrf_ffi",
                 "api_version = 4 : i32, backend_config = {uplo = 76 : ui8}, operand_layouts = "
                 "[dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
                 "tensor<2xindex>, dense<> : tensor<0xindex>]",
                 a, out),
        CallText("lapack_spotrf", "mhlo.backend_config = {uplo = 76 : ui8}", a, out),
        CallText("lapack_spotrf", "api_version = 2 : i32", a, out, {"1 i32", "1 i32", "2 i32"})}) {
    const Literals results = RunAll(text, {&Definite()});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_NEAR(results[0]->data<float>()[0], 2, 1e-6);
    EXPECT_NEAR(results[0]->data<float>()[2], 1, 1e-6);
    EXPECT_NEAR(results[0]->data<float>()[3], 3, 1e-6);
    EXPECT_EQ(results[1]->data<int32_t>()[0], 0);
  }
  for (const std::string& text :
       {CallText("lapack_spotrf_ffi", "mhlo.backend_config = {uplo = 85 : ui8}", a, out),
        CallText("lapack_spotrf", "api_version = 2 : i32", a, out, {"0 i32", "1 i32", "2 i32"})}) {
    EXPECT_NEAR(RunAll(text, {&Definite()})[0]->data<float>()[1], 1, 1e-6);
  }
}

TEST(LapackCall, AnInfoForEachMatrixOfABatch) {
  const Literal a = Array<double>({2, 2, 1, 1}, {4, -1, 9, 0});
  const Literals results =
      RunAll(CallText("lapack_dpotrf_ffi", "mhlo.backend_config = {uplo = 76 : ui8}",
                      {"2x2x1x1xf64"}, {"2x2x1x1xf64", "2x2xi32"}),
             {&a});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(results[0]->data<double>()[2], 3);
}

TEST(LapackCall, EmptyMatricesAndBatchesSucceed) {
  const Literal none = Array<float>({0, 0}, {}), batch = Array<float>({2, 0, 0}, {});
  const Literal empty = Array<float>({0, 3, 3}, {});
  const std::string config = "mhlo.backend_config = {uplo = 76 : ui8}";
  EXPECT_THAT(
      Elements<int32_t>(*RunAll(
          CallText("lapack_spotrf_ffi", config, {"0x0xf32"}, {"0x0xf32", "i32"}), {&none})[1]),
      ElementsAre(0));
  EXPECT_THAT(Elements<int32_t>(*RunAll(
                  CallText("lapack_spotrf_ffi", config, {"2x0x0xf32"}, {"2x0x0xf32", "2xi32"}),
                  {&batch})[1]),
              ElementsAre(0, 0));
  EXPECT_EQ(
      RunAll(CallText("lapack_spotrf_ffi", config, {"0x3x3xf32"}, {"0x3x3xf32", "0xi32"}), {&empty})
          .size(),
      2u);
}

TEST(LapackCall, LuInEverySpelling) {
  const Literal a = Array<double>({2, 3}, {1, 2, 4, 2, 8, 6});
  const std::vector<std::string> in = {"2x3xf64"}, out = {"2x3xf64", "2xi32", "i32"};
  for (const std::string& text :
       {CallText("lapack_dgetrf_ffi", "mhlo.backend_config = {}", in, out),
        CallText("lapack_dgetrf", "api_version = 2 : i32", in, out, {"1 i32", "2 i32", "3 i32"})}) {
    const Literals results = RunAll(text, {&a});
    ASSERT_EQ(results.size(), 3u);
    ExpectNear(*results[0], {2, 8, 6, 0.5, -2, 1});
    EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAre(2, 2));
    EXPECT_THAT(Elements<int32_t>(*results[2]), ElementsAre(0));
  }
  const Literals portable =
      RunAll(CallText("LuDecomposition", "", in, {"2x3xf64", "2xi32", "2xi32"}), {&a});
  ASSERT_EQ(portable.size(), 3u);
  EXPECT_THAT(Elements<int32_t>(*portable[1]), ElementsAre(1, 1));
  EXPECT_THAT(Elements<int32_t>(*portable[2]), ElementsAre(1, 0));
}

// a = Q R and Q^T Q = 1 for the calls that make them.
void ExpectQr(const std::string& factor, const std::string& product) {
  const Literal a = Array<float>({3, 2}, {3, 1, 4, 2, 0, 2});
  const Literals packed = RunAll(factor, {&a});
  ASSERT_GE(packed.size(), 2u);
  const Literals full = RunAll(product, {packed[0].get(), packed[1].get()});
  ASSERT_GE(full.size(), 1u);
  const absl::Span<const float> qr = packed[0]->data<float>(), q = full[0]->data<float>();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      float sum = q[2 * i] * qr[j];
      if (j == 1) sum += q[2 * i + 1] * qr[3];
      EXPECT_NEAR(sum, a.data<float>()[2 * i + j], 1e-5);
    }
  }
  EXPECT_NEAR(q[0] * q[1] + q[2] * q[3] + q[4] * q[5], 0, 1e-6);
}

TEST(LapackCall, QrInEverySpelling) {
  const std::vector<std::string> a = {"3x2xf32"}, in = {"3x2xf32", "2xf32"};
  ExpectQr(CallText("lapack_sgeqrf_ffi", "mhlo.backend_config = {}", a, in),
           CallText("lapack_sorgqr_ffi", "mhlo.backend_config = {}", in, {"3x2xf32"}));
  ExpectQr(CallText("lapack_sgeqrf", "mhlo.backend_config = {}", a,
                    {"3x2xf32", "2xf32", "i32", "64xf32"}),
           CallText("lapack_sorgqr", "mhlo.backend_config = {}", in, {"3x2xf32", "i32", "64xf32"}));
  ExpectQr(CallText("lapack_sgeqrf", "api_version = 2 : i32", a,
                    {"3x2xf32", "2xf32", "i32", "64xf32"}, {"1 i32", "3 i32", "2 i32", "64 i32"}),
           CallText("lapack_sorgqr", "api_version = 2 : i32", in, {"3x2xf32", "i32", "64xf32"},
                    {"1 i32", "3 i32", "2 i32", "2 i32", "64 i32"}));
  ExpectQr(CallText("Qr", "", a, in),
           CallText("ProductOfElementaryHouseholderReflectors", "", in, {"3x2xf32"}));
}

TEST(LapackCall, PivotedQrPutsTheLargestColumnFirst) {
  const Literal a = Array<float>({2, 3}, {1, 0, 0, 0, 0, 5});
  const Literal free = Array<int32_t>({3}, {0, 0, 0});
  const std::vector<std::string> in = {"2x3xf32", "3xi32"};
  for (const std::string& text : {CallText("lapack_sgeqp3_ffi", "mhlo.backend_config = {}", in,
                                           {"2x3xf32", "3xi32", "2xf32"}),
                                  CallText("lapack_sgeqp3", "api_version = 2 : i32", in,
                                           {"2x3xf32", "3xi32", "2xf32", "i32", "10xf32"},
                                           {"1 i32", "2 i32", "3 i32", "10 i32"})}) {
    const Literals results = RunAll(text, {&a, &free});
    ASSERT_GE(results.size(), 3u);
    EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAre(3, 1, 2));
    EXPECT_NEAR(std::abs(results[0]->data<float>()[0]), 5, 1e-6);
  }
}

TEST(LapackCall, ProductsWithTheOrthogonalFactorUndoThemselves) {
  const Literal a = Array<double>({2, 1}, {0, 0.5});
  const Literal taus = Array<double>({1}, {1.6});
  const Literal c = Array<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto text = [](bool transpose) {
    return CallText("lapack_dormqr_ffi",
                    absl::StrCat("mhlo.backend_config = {left = true, transpose = ",
                                 transpose ? "true" : "false", "}"),
                    {"2x1xf64", "1xf64", "2x3xf64"}, {"2x3xf64"});
  };
  const Literals there = RunAll(text(false), {&a, &taus, &c});
  ASSERT_EQ(there.size(), 1u);
  // H = I - 1.6 v v^T with v = (1, 0.5).
  EXPECT_NEAR(there[0]->data<double>()[0], 1 - 1.6 * (1 + 0.5 * 4), 1e-12);
  const Literals back = RunAll(text(true), {&a, &taus, there[0].get()});
  ASSERT_EQ(back.size(), 1u);
  ExpectNear(*back[0], {1, 2, 3, 4, 5, 6}, 1e-12);
}

TEST(LapackCall, TriangularSolvesInEverySpelling) {
  const Literal a = Array<float>({2, 2}, {2, 9, 1, 4}), b = Array<float>({2, 1}, {2, 9});
  const Literal alpha = Scalar<float>(0.5f);
  const std::string config =
      "mhlo.backend_config = {side = 76 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8, diag = 78 : "
      "ui8}";
  const std::vector<std::string> in = {"2x2xf32", "2x1xf32"}, out = {"2x1xf32"};
  ExpectNear(*RunAll(CallText("lapack_strsm_ffi", config, in, out), {&a, &b})[0], {1, 2});
  ExpectNear(
      *RunAll(CallText("blas_strsm", "api_version = 2 : i32", in, out,
                       {"1 i32", "1 i32", "0 i32", "0 i32", "2 i32", "1 i32", "1 i32", "2.0 f32"}),
              {&a, &b})[0],
      {2, 4});
  for (const char* target : {"lapack_strsm_ffi", "blas_strsm_ffi"}) {
    ExpectNear(
        *RunAll(CallText(target, config, {"2x2xf32", "2x1xf32", "f32"}, out), {&a, &b, &alpha})[0],
        {0.5, 1});
  }
  // x a^T = b with the upper triangle and a unit diagonal: x = (2 - 9 * 9, 9).
  const Literal row = Array<float>({1, 2}, {2, 9});
  ExpectNear(*RunAll(CallText("lapack_strsm_ffi",
                              "mhlo.backend_config = {side = 82 : ui8, uplo = 85 : ui8, trans_x = "
                              "84 : ui8, diag = 85 : ui8}",
                              {"2x2xf32", "1x2xf32"}, {"1x2xf32"}),
                     {&a, &row})[0],
             {2 - 81, 9});
}

TEST(LapackCall, ComplexTransposesAreConjugatedWhereTheyAreAdjoint) {
  using C = std::complex<double>;
  const Literal a = Array<C>({1, 1}, {C(0, 2)}), b = Array<C>({1, 1}, {C(4, 0)});
  const auto solve = [&](int trans) {
    return RunAll(CallText("lapack_ztrsm_ffi",
                           absl::StrCat("mhlo.backend_config = {side = 76 : ui8, uplo = 76 : ui8, "
                                        "trans_x = ",
                                        trans, " : ui8, diag = 78 : ui8}"),
                           {"1x1xcomplex<f64>", "1x1xcomplex<f64>"}, {"1x1xcomplex<f64>"}),
                  {&a, &b})[0]
        ->data<C>()[0];
  };
  EXPECT_EQ(solve('T'), C(0, -2));
  EXPECT_EQ(solve('C'), C(0, 2));
}

TEST(LapackCall, TridiagonalSystems) {
  const Literal dl = Array<double>({3}, {0, 1, 1}), d = Array<double>({3}, {2, 2, 2});
  const Literal du = Array<double>({3}, {1, 1, 0}), b = Array<double>({3, 1}, {3, 4, 3});
  const std::vector<std::string> in = {"3xf64", "3xf64", "3xf64", "3x1xf64"};
  std::vector<std::string> out = in;
  out.push_back("i32");
  const Literals results =
      RunAll(CallText("lapack_dgtsv_ffi", "mhlo.backend_config = {}", in, out), {&dl, &d, &du, &b});
  ASSERT_EQ(results.size(), 5u);
  ExpectNear(*results[3], {1, 1, 1}, 1e-12);
  EXPECT_EQ(results[4]->data<int32_t>()[0], 0);
  ExpectNear(*RunAll(CallText("tridiagonal_solve_perturbed_ffi", "mhlo.backend_config = {}", in,
                              {"3x1xf64"}),
                     {&dl, &d, &du, &b})[0],
             {1, 1, 1}, 1e-12);
}

TEST(LapackCall, SparseRowsTimesADenseMatrix) {
  const Literal data = Array<int32_t>({3}, {5, 6, 7}), starts = Array<int32_t>({3}, {0, 1, 3});
  const Literal columns = Array<int32_t>({3}, {1, 0, 2}), x = Array<int32_t>({3}, {1, 10, 100});
  EXPECT_THAT(
      Elements<int32_t>(*RunAll(CallText("cpu_csr_sparse_dense_ffi", "mhlo.backend_config = {}",
                                         {"3xi32", "3xi32", "3xi32", "3xi32"}, {"2xi32"}),
                                {&data, &starts, &columns, &x})[0]),
      ElementsAre(50, 706));
}

TEST(LapackCall, SparseRowsMayHaveIndicesOf64Bits) {
  const Literal data = Array<float>({3}, {5, 6, 7}), starts = Array<int64_t>({3}, {0, 1, 3});
  const Literal columns = Array<int64_t>({3}, {1, 0, 2}), x = Array<float>({3}, {1, 10, 100});
  EXPECT_THAT(
      Elements<float>(*RunAll(CallText("cpu_csr_sparse_dense_ffi", "mhlo.backend_config = {}",
                                       {"3xf32", "3xi64", "3xi64", "3xf32"}, {"2xf32"}),
                              {&data, &starts, &columns, &x})[0]),
      ElementsAre(50, 706));
}

TEST(LapackCall, RefusesWhatTheRoutineHasNot) {
  const std::string uplo = "mhlo.backend_config = {uplo = 76 : ui8}";
  struct Case {
    std::string text, says;
  };
  for (const Case& c : std::vector<Case>{
           {CallText("lapack_spotrf_ffi", uplo, {"2x3xf32"}, {"2x3xf32", "i32"}), "square"},
           {CallText("lapack_spotrf_ffi", uplo, {"2x2xf64"}, {"2x2xf64", "i32"}), "expected f32"},
           {CallText("lapack_spotrf_ffi", uplo, {"2x2xf32"}, {"2x2xf32", "1xi32"}),
            "expected s32[]"},
           {CallText("lapack_spotrf_ffi", uplo, {"4xf32"}, {"4xf32", "i32"}), "rank 2"},
           {CallText("lapack_spotrf_ffi", uplo, {"2x2xf32"}, {"2x2xf32"}), "no form"},
           {CallText("lapack_spotrf_ffi", "", {"2x2xf32"}, {"2x2xf32", "i32"}),
            "'uplo' is missing"},
           {CallText("lapack_spotrf_ffi", "mhlo.backend_config = {uplo = 77 : ui8}", {"2x2xf32"},
                     {"2x2xf32", "i32"}),
            "none of the codes"},
           {CallText("lapack_sgetrf_ffi", "", {"2x3xf32"}, {"2x3xf32", "3xi32", "i32"}),
            "expected s32[2]"},
           {CallText("lapack_sorgqr_ffi", "", {"3x2xf32", "3xf32"}, {"3x2xf32"}), "too many taus"},
           {CallText("cpu_csr_sparse_dense_ffi", "", {"3xf32", "3xi64", "3xi32", "3xf32"},
                     {"2xf32"}),
            "an operand is s32[3]; expected s64[3]"},
           {CallText("cpu_csr_sparse_dense_ffi", "", {"3xf32", "3xi16", "3xi16", "3xf32"},
                     {"2xf32"}),
            "an operand is s16[3]; expected s32[3]"},
           {CallText("Qr", "", {"2x2xi32"}, {"2x2xi32", "2xi32"}), "elements of type s32"},
           {CallText("blas_strsm", "", {"2x2xf32", "2x1xf32"}, {"2x1xf32"},
                     {"1 i32", "1 i32", "0 i32", "0 i32", "2 i32", "1 i32", "1 i32", "2 i32"}),
            "operand 7"}}) {
    const absl::Status status = RunProgram(OneThreadClient(), c.text).status();
    EXPECT_EQ(ErrorId(status), "PJRT-K002") << c.text << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says)) << c.text;
  }
}

TEST(LapackCall, RefusesASideThatOnlyTheValueOfAParameterTells) {
  const Literal a = Array<float>({2, 2}, {1, 0, 0, 1}), b = Array<float>({2, 1}, {2, 9});
  const absl::Status status =
      RunProgram(
          OneThreadClient(),
          CallText("blas_strsm", "", {"2x2xf32", "2x1xf32"}, {"2x1xf32"},
                   {"0 i32", "1 i32", "0 i32", "0 i32", "2 i32", "1 i32", "1 i32", "1.0 f32"}),
          {&a, &b})
          .status();
  EXPECT_EQ(ErrorId(status), "PJRT-K002") << status;
}

}  // namespace
}  // namespace pjrt::cpu
