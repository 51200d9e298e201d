// SPDX-License-Identifier: Apache-2.0
//
// Custom calls that find eigenvalues and singular values, in all their spellings. What the kernels
// compute is tested with them; here, that each spelling reaches its kernel with the right operands,
// results and parameters.
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "src/core/base/error.h"
#include "tests/cpu/lapack_call_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Complex = std::complex<float>;

// Eigenvalues 1 and 3; what stands above the diagonal is not to be read.
const Literal& Symmetric() {
  static const Literal& a = *new Literal(Array<float>({2, 2}, {2, 99, 1, 2}));
  return a;
}

TEST(LapackEigenCall, EigenvaluesOfSymmetricMatricesInEverySpelling) {
  const std::vector<std::string> a = {"2x2xf32"}, out = {"2x2xf32", "2xf32", "i32"};
  std::vector<std::string> with_work = out;
  with_work.insert(with_work.end(), {"21xf32", "13xi32"});
  for (const std::string& text :
       {CallText("lapack_ssyevd_ffi", "mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}", a,
                 out),
        CallText("lapack_ssyevd", "mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}", a,
                 with_work),
        CallText("lapack_ssyevd", "api_version = 2 : i32", a, with_work,
                 {"1 i32", "1 i32", "2 i32"}),
        CallText("Eigh", "backend_config = \"1,1,100,1e-6\"", a, {"2x2xf32", "2xf32"})}) {
    const Literals results = RunAll(text, {&Symmetric()});
    ASSERT_GE(results.size(), 2u);
    if (results.size() > 3) {
      EXPECT_EQ(Elements<float>(*results[3]), std::vector<float>(21));  // a workspace
    }
    ExpectNear(*results[1], {1, 3});
    const absl::Span<const float> v = results[0]->data<float>();
    EXPECT_NEAR(std::abs(v[0]), std::sqrt(0.5), 1e-5);
    EXPECT_NEAR(v[0] + v[2], 0, 1e-5);
    EXPECT_NEAR(v[1] - v[3], 0, 1e-5);
  }
  const Literal upper = Array<float>({2, 2}, {2, 1, 99, 2});
  for (const std::string& text :
       {CallText("lapack_ssyevd_ffi", "mhlo.backend_config = {mode = 78 : ui8, uplo = 85 : ui8}", a,
                 out),
        CallText("lapack_ssyevd", "", a, with_work, {"0 i32", "1 i32", "2 i32"}),
        CallText("Eigh", "backend_config = \"0,1,100,1e-6\"", a, {"2x2xf32", "2xf32"})}) {
    ExpectNear(*RunAll(text, {&upper})[1], {1, 3});
  }
}

TEST(LapackEigenCall, EigenvaluesOfHermitianMatricesAreReal) {
  const Literal a = Array<Complex>({2, 1, 1}, {Complex(5, 0), Complex(-2, 0)});
  const Literals results = RunAll(
      CallText("lapack_cheevd", "api_version = 2 : i32", {"2x1x1xcomplex<f32>"},
               {"2x1x1xcomplex<f32>", "2x1xf32", "2xi32", "4xcomplex<f32>", "8xf32", "8xi32"},
               {"1 i32", "2 i32", "1 i32"}),
      {&a});
  ASSERT_EQ(results.size(), 6u);
  EXPECT_THAT(Elements<float>(*results[1]), ElementsAre(5, -2));
  EXPECT_THAT(Elements<int32_t>(*results[2]), ElementsAre(0, 0));
}

TEST(LapackEigenCall, NansGiveInfoForTheirMatrixAlone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Literal a = Array<float>({3, 1, 1}, {1, nan, 3});
  const Literals results = RunAll(
      CallText("lapack_ssyevd_ffi", "mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}",
               {"3x1x1xf32"}, {"3x1x1xf32", "3x1xf32", "3xi32"}),
      {&a});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[2]->data<int32_t>()[0], 0);
  EXPECT_GT(results[2]->data<int32_t>()[1], 0);
  EXPECT_EQ(results[2]->data<int32_t>()[2], 0);
}

// The singular values of [[3, 0, 0], [0, 0, -2]] are 3 and 2.
TEST(LapackEigenCall, SingularValuesInEverySpelling) {
  const Literal a = Array<float>({2, 3}, {3, 0, 0, 0, 0, -2});
  const std::vector<std::string> in = {"2x3xf32"};
  const auto results_of = [](const char* u, const char* vt, bool work) {
    std::vector<std::string> all = {"2x3xf32", "2xf32", u, vt, "i32"};
    if (work) all.insert(all.end(), {"16xi32", "100xf32"});
    return all;
  };
  for (const char* vt : {"2x3xf32", "3x3xf32"}) {
    const bool full = vt[0] == '3';
    const std::string mode =
        absl::StrCat("mhlo.backend_config = {mode = ", full ? 65 : 83, " : ui8}");
    for (const std::string& text :
         {CallText("lapack_sgesdd_ffi", mode, in, results_of("2x2xf32", vt, false)),
          CallText("lapack_sgesvd_ffi", mode, in, results_of("2x2xf32", vt, false)),
          CallText("lapack_sgesdd", mode, in, results_of("2x2xf32", vt, true)),
          CallText("lapack_sgesdd", "api_version = 2 : i32", in, results_of("2x2xf32", vt, true),
                   {full ? "1 i32" : "0 i32", "1 i32", "1 i32", "2 i32", "3 i32", "100 i32"})}) {
      const Literals results = RunAll(text, {&a});
      ASSERT_GE(results.size(), 5u);
      ExpectNear(*results[1], {3, 2});
      const absl::Span<const float> u = results[2]->data<float>(), v = results[3]->data<float>();
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
          EXPECT_NEAR(3 * u[2 * i] * v[j] + 2 * u[2 * i + 1] * v[3 + j], a.data<float>()[3 * i + j],
                      1e-5);
        }
      }
    }
  }
  for (const std::string& text :
       {CallText("lapack_sgesdd_ffi", "mhlo.backend_config = {mode = 78 : ui8}", in,
                 results_of("2x2xf32", "3x3xf32", false)),
        CallText("lapack_sgesdd", "", in, results_of("2x2xf32", "2x3xf32", true),
                 {"0 i32", "0 i32", "1 i32", "2 i32", "3 i32", "100 i32"})}) {
    const Literals results = RunAll(text, {&a});
    ASSERT_GE(results.size(), 5u);
    ExpectNear(*results[1], {3, 2});
    ExpectNear(*results[2], {0, 0, 0, 0});
  }
}

// [[1, 2], [0, 3]] is its own Schur form up to signs.
TEST(LapackEigenCall, SchurFormsInEverySpelling) {
  const Literal a = Array<float>({2, 2}, {1, 2, 0, 3});
  const std::vector<std::string> in = {"2x2xf32"};
  const std::string config = "mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8}";
  const std::vector<std::string> present = {"2x2xf32", "2x2xf32", "2xf32", "2xf32", "i32", "i32"};
  const std::vector<std::string> old = {"2x2xf32", "2xf32", "2xf32", "2x2xf32", "i32", "i32"};
  struct Case {
    std::string text;
    size_t z, w;
  };
  for (const Case& c : std::vector<Case>{{CallText("lapack_sgees_ffi", config, in, present), 1, 2},
                                         {CallText("lapack_sgees", config, in, old), 3, 1},
                                         {CallText("lapack_sgees", "api_version = 2 : i32", in, old,
                                                   {"1 i32", "2 i32", "86 ui8", "78 ui8"}),
                                          3, 1}}) {
    const Literals results = RunAll(c.text, {&a});
    ASSERT_EQ(results.size(), 6u);
    ExpectNear(*results[c.w], {1, 3});
    ExpectNear(*results[c.w + 1], {0, 0});
    const absl::Span<const float> z = results[c.z]->data<float>(), t = results[0]->data<float>();
    EXPECT_NEAR(std::abs(z[0] * t[0] * z[0] + z[0] * t[1] * z[1]), 1, 1e-5);
    EXPECT_THAT(Elements<int32_t>(*results[4]), ElementsAre(0));
    EXPECT_THAT(Elements<int32_t>(*results[5]), ElementsAre(0));
  }
  const Literal complex = Array<Complex>({1, 1}, {Complex(1, 2)});
  const std::vector<std::string> one = {"1x1xcomplex<f32>"};
  for (const Case& c : std::vector<Case>{
           {CallText("lapack_cgees_ffi", config, one,
                     {"1x1xcomplex<f32>", "1x1xcomplex<f32>", "1xcomplex<f32>", "i32", "i32"}),
            1, 2},
           {CallText(
                "lapack_cgees", config, one,
                {"1x1xcomplex<f32>", "1xcomplex<f32>", "1x1xcomplex<f32>", "i32", "i32", "1xf32"}),
            2, 1},
           {CallText(
                "lapack_cgees", "", one,
                {"1x1xcomplex<f32>", "1xf32", "1xcomplex<f32>", "1x1xcomplex<f32>", "i32", "i32"},
                {"1 i32", "1 i32", "86 ui8", "78 ui8"}),
            3, 2}}) {
    const Literals results = RunAll(c.text, {&complex});
    ASSERT_GE(results.size(), 5u);
    EXPECT_EQ(results[c.w]->data<Complex>()[0], Complex(1, 2));
    EXPECT_NEAR(std::abs(results[c.z]->data<Complex>()[0]), 1, 1e-6);
  }
}

// A rotation by 90 degrees has the eigenvalues i and -i.
TEST(LapackEigenCall, EigenvaluesOfAnyMatrixInEverySpelling) {
  const Literal a = Array<float>({2, 2}, {0, -1, 1, 0});
  const std::vector<std::string> in = {"2x2xf32"};
  const std::string config =
      "mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}";
  const std::vector<std::string> parts = {"2xf32", "2xf32", "2x2xcomplex<f32>", "2x2xcomplex<f32>",
                                          "i32"};
  std::vector<std::string> before = {"2x2xf32", "2x2xf32", "2x2xf32"}, after = parts;
  before.insert(before.end(), parts.begin(), parts.end());
  after.insert(after.end(), {"2x2xf32", "2x2xf32", "2x2xf32"});
  struct Case {
    std::string text;
    size_t first;
  };
  for (const Case& c : std::vector<Case>{{CallText("lapack_sgeev_ffi", config, in, parts), 0},
                                         {CallText("lapack_sgeev", config, in, after), 0},
                                         {CallText("lapack_sgeev", "api_version = 2 : i32", in,
                                                   before, {"1 i32", "2 i32", "78 ui8", "86 ui8"}),
                                          3}}) {
    const Literals results = RunAll(c.text, {&a});
    ASSERT_GE(results.size(), c.first + 5);
    ExpectNear(*results[c.first], {0, 0});
    ExpectNear(*results[c.first + 1], {1, -1});
    EXPECT_EQ(Elements<Complex>(*results[c.first + 2]), std::vector<Complex>(4));
    // a v = i v: (-v1, v0) = (i v0, i v1).
    const absl::Span<const Complex> v = results[c.first + 3]->data<Complex>();
    EXPECT_NEAR(std::abs(-v[2] - Complex(0, 1) * v[0]), 0, 1e-5);
    EXPECT_NEAR(std::abs(v[0]), std::sqrt(0.5), 1e-5);
    EXPECT_THAT(Elements<int32_t>(*results[c.first + 4]), ElementsAre(0));
  }
  const Literal complex = Array<Complex>({1, 1}, {Complex(1, 2)});
  const std::string one = "1x1xcomplex<f32>", w = "1xcomplex<f32>";
  for (const Case& c : std::vector<Case>{
           {CallText("lapack_cgeev_ffi", config, {one}, {w, one, one, "i32"}), 0},
           {CallText("lapack_cgeev", config, {one}, {w, one, one, "i32", one, "2xf32"}), 0},
           {CallText("lapack_cgeev", "", {one}, {one, "2xf32", w, one, one, "i32"},
                     {"1 i32", "1 i32", "86 ui8", "86 ui8"}),
            2}}) {
    const Literals results = RunAll(c.text, {&complex});
    ASSERT_GE(results.size(), c.first + 4);
    EXPECT_EQ(results[c.first]->data<Complex>()[0], Complex(1, 2));
    EXPECT_NEAR(std::abs(results[c.first + 2]->data<Complex>()[0]), 1, 1e-6);
  }
}

TEST(LapackEigenCall, ResultsThatAreNotComputedAreZero) {
  const Literal a = Array<float>({1, 1}, {std::numeric_limits<float>::infinity()});
  const Literals results = RunAll(
      CallText("lapack_sgeev_ffi",
               "mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8}",
               {"1x1xf32"}, {"1xf32", "1xf32", "1x1xcomplex<f32>", "1x1xcomplex<f32>", "i32"}),
      {&a});
  ASSERT_EQ(results.size(), 5u);
  ExpectNear(*results[0], {0});
  EXPECT_EQ(results[3]->data<Complex>()[0], Complex(0, 0));
  EXPECT_THAT(Elements<int32_t>(*results[4]), ElementsAre(-4));
}

TEST(LapackEigenCall, HessenbergFormsInEverySpelling) {
  const Literal a = Array<double>({3, 3}, {1, 2, 3, 3, 4, 5, 4, 6, 8});
  const std::vector<std::string> in = {"3x3xf64"}, out = {"3x3xf64", "2xf64", "i32"};
  std::vector<std::string> with_work = out;
  with_work.push_back("96xf64");
  for (const std::string& text :
       {CallText("lapack_dgehrd_ffi", "mhlo.backend_config = {low = 1 : i32, high = 3 : i32}", in,
                 out),
        CallText("lapack_dgehrd", "mhlo.backend_config = {low = 1 : i32, high = 3 : i32}", in,
                 with_work),
        CallText("lapack_dgehrd", "api_version = 2 : i32", in, with_work,
                 {"3 i32", "1 i32", "3 i32", "3 i32", "1 i32", "96 i32"})}) {
    const Literals results = RunAll(text, {&a});
    ASSERT_GE(results.size(), 3u);
    EXPECT_NEAR(results[0]->data<double>()[3], -5, 1e-12);  // the norm of (3, 4)
    EXPECT_THAT(Elements<int32_t>(*results[2]), ElementsAre(0));
  }
}

TEST(LapackEigenCall, TridiagonalFormsInEverySpelling) {
  const Literal a = Array<double>({2, 2}, {1, 99, 2, 3});
  const std::vector<std::string> in = {"2x2xf64"};
  struct Case {
    std::string text;
    size_t d, e;
  };
  for (const Case& c :
       std::vector<Case>{{CallText("lapack_dsytrd_ffi", "mhlo.backend_config = {uplo = 76 : ui8}",
                                   in, {"2x2xf64", "2xf64", "1xf64", "1xf64", "i32"}),
                          1, 2},
                         {CallText("lapack_dsytrd", "mhlo.backend_config = {uplo = 76 : ui8}", in,
                                   {"2x2xf64", "1xf64", "2xf64", "1xf64", "i32", "64xf64"}),
                          2, 3},
                         {CallText("lapack_dsytrd", "api_version = 2 : i32", in,
                                   {"2x2xf64", "2xf64", "1xf64", "1xf64", "i32", "64xf64"},
                                   {"2 i32", "1 i32", "2 i32", "1 i32", "64 i32"}),
                          1, 2}}) {
    const Literals results = RunAll(c.text, {&a});
    ASSERT_GE(results.size(), 5u);
    ExpectNear(*results[c.d], {1, 3}, 1e-12);
    EXPECT_NEAR(std::abs(results[c.e]->data<double>()[0]), 2, 1e-12);
    EXPECT_THAT(Elements<int32_t>(*results[4]), ElementsAre(0));
  }
}

TEST(LapackEigenCall, RefusesWhatTheRoutineHasNot) {
  struct Case {
    std::string text, says;
  };
  for (const Case& c :
       std::vector<Case>{{CallText("lapack_ssyevd_ffi", "mhlo.backend_config = {mode = 86 : ui8}",
                                   {"2x2xf32"}, {"2x2xf32", "2xf32", "i32"}),
                          "'uplo' is missing"},
                         {CallText("lapack_cheevd_ffi", "", {"2x2xcomplex<f32>"},
                                   {"2x2xcomplex<f32>", "2xcomplex<f32>", "i32"}),
                          "expected f32[2]"},
                         {CallText("lapack_sgesdd_ffi", "mhlo.backend_config = {mode = 79 : ui8}",
                                   {"2x3xf32"}, {"2x3xf32", "2xf32", "2x2xf32", "2x3xf32", "i32"}),
                          "none of the codes"},
                         {CallText("lapack_sgesdd_ffi", "mhlo.backend_config = {mode = 83 : ui8}",
                                   {"2x3xf32"}, {"2x3xf32", "2xf32", "3x2xf32", "2x3xf32", "i32"}),
                          "expected f32[2,2]"}}) {
    const absl::Status status = RunProgram(OneThreadClient(), c.text).status();
    EXPECT_EQ(ErrorId(status), "PJRT-K002") << c.text << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says)) << c.text;
  }
}

}  // namespace
}  // namespace pjrt::cpu
