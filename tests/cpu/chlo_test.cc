// SPDX-License-Identifier: Apache-2.0
//
// Values of CHLO's ops on the CPU device: special functions against the C library at sampled points
// and at edges, others against small examples.
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/element_values.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

template <typename T>
const char* TypeName();
template <>
const char* TypeName<float>() {
  return "f32";
}
template <>
const char* TypeName<double>() {
  return "f64";
}

template <typename T>
std::vector<T> ApplyUnary(absl::string_view op, const std::vector<T>& x) {
  const Literal argument = Array<T>({static_cast<int64_t>(x.size())}, x);
  const std::string type = TensorText({static_cast<int64_t>(x.size())}, TypeName<T>());
  return RunOne<T>(absl::StrCat("func.func @main(%x: ", type, ") -> ", type, " {\n  %y = chlo.", op,
                                " %x : ", type, " -> ", type, "\n  return %y : ", type, "\n}\n"),
                   {&argument});
}

template <typename T>
std::vector<T> ApplyBinary(absl::string_view op, absl::string_view element, const std::vector<T>& x,
                           const std::vector<T>& y) {
  const Literal a = Array<T>({static_cast<int64_t>(x.size())}, x);
  const Literal b = Array<T>({static_cast<int64_t>(y.size())}, y);
  const std::string type = TensorText({static_cast<int64_t>(x.size())}, element);
  return RunOne<T>(absl::StrCat("func.func @main(%x: ", type, ", %y: ", type, ") -> ", type,
                                " {\n  %z = chlo.", op, " %x, %y : ", type, ", ", type, " -> ",
                                type, "\n  return %z : ", type, "\n}\n"),
                   {&a, &b});
}

// Units in the last place between two floats; a great number where one alone is not finite.
template <typename T>
double Units(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : 1e9;
  if (a == b) return 0;
  if (std::isinf(a) || std::isinf(b)) return 1e9;
  const T size = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) / (std::nextafter(size, static_cast<T>(kInf)) - size);
}

template <typename T>
void ExpectNearIn(absl::string_view op, const std::vector<double>& points,
                  const std::function<long double(long double)>& expected, double units = 3) {
  std::vector<T> x;
  for (double point : points) x.push_back(static_cast<T>(point));
  const std::vector<T> y = ApplyUnary<T>(op, x);
  ASSERT_EQ(y.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const T want = static_cast<T>(expected(x[i]));
    EXPECT_LE(Units(y[i], want), units)
        << op << " of " << TypeName<T>() << " " << x[i] << ": " << y[i] << ", expected " << want;
  }
}

void ExpectNearBoth(absl::string_view op, const std::vector<double>& points,
                    const std::function<long double(long double)>& expected) {
  ExpectNearIn<float>(op, points, expected);
  ExpectNearIn<double>(op, points, expected);
}

std::vector<double> Spread(double low, double high, int count) {
  std::vector<double> points;
  for (int i = 0; i <= count; ++i) points.push_back(low + (high - low) * i / count);
  return points;
}

std::vector<double> With(std::vector<double> points, const std::vector<double>& more) {
  points.insert(points.end(), more.begin(), more.end());
  return points;
}

TEST(ChloTest, ErrorFunctionsAreThoseOfTheCLibrary) {
  const auto points = With(Spread(-6, 6, 301), {0.0, 1e-20, -1e-20, kInf, -kInf, kNan, 1, -1});
  ExpectNearBoth("erf", points, [](long double x) { return std::erf(x); });
  ExpectNearBoth("erfc", With(points, Spread(6, 9, 50)),
                 [](long double x) { return std::erfc(x); });
}

TEST(ChloTest, ErfInvUndoesErf) {
  for (double x : Spread(-0.999, 0.999, 100)) {
    const std::vector<double> y = ApplyUnary<double>("erf_inv", {x});
    ASSERT_EQ(y.size(), 1u);
    EXPECT_NEAR(std::erf(y[0]), x, 4e-16);
  }
  const std::vector<float> edges = ApplyUnary<float>("erf_inv", {1, -1, 0, 2});
  EXPECT_EQ(edges[0], static_cast<float>(kInf));
  EXPECT_EQ(edges[1], -static_cast<float>(kInf));
  EXPECT_EQ(edges[2], 0);
  EXPECT_TRUE(std::isnan(edges[3]));
}

TEST(ChloTest, AcoshAndErfInvOfF32AreCloseWhereTheirErrorsAreLargest) {
  const std::vector<float> inverses =
      ApplyUnary<float>("erf_inv", {-0.8329618f, -0.99215454f, 0.3493f, 0.99999994f, 1e-30f});
  const double expected[] = {-0.977068447328952, -1.8799488497663583, 0.320170842304, 3.8325068569,
                             8.862269e-31};
  for (size_t i = 0; i < inverses.size(); ++i)
    EXPECT_LE(Units<float>(inverses[i], static_cast<float>(expected[i])), 3) << expected[i];
  const std::vector<float> arcs = ApplyUnary<float>("acosh", {1.0019301f, 1.0f, 1e19f, -3.0f});
  EXPECT_LE(Units<float>(arcs[0], 0.06212080221891989f), 3);
  EXPECT_EQ(arcs[1], 0);
  EXPECT_LE(Units<float>(arcs[2], 44.442265f), 3);
  EXPECT_TRUE(std::isnan(arcs[3]));
}

TEST(ChloTest, LgammaIsThatOfTheCLibraryAlsoNearItsZeros) {
  const std::vector<double> edges = {1,   2,  0.999999, 1.000001, 1.999999, 2.000001, 1e-30,
                                     2.5, 10, 1e30,     kInf,     -kInf,    kNan,     0,
                                     -1,  -2, -0.5,     -1e-9,    171.5,    0.75,     8.5};
  ExpectNearBoth("lgamma", With(Spread(0.01, 30, 400), edges),
                 [](long double x) { return std::lgamma(x); });
  ExpectNearIn<float>("lgamma", Spread(-2.4, -0.1, 57),
                      [](long double x) { return std::lgamma(x); });
}

TEST(ChloTest, DigammaHasKnownValuesAndObeysItsRecurrence) {
  constexpr long double kEuler = 0.57721566490153286060651209L;
  const std::vector<double> y =
      ApplyUnary<double>("digamma", {1, 2, 0.5, 10, kInf, 0, -1, 1.4616321449683623});
  ASSERT_EQ(y.size(), 8u);
  EXPECT_LE(Units<double>(y[0], -kEuler), 3);
  EXPECT_LE(Units<double>(y[1], 1 - kEuler), 3);
  EXPECT_LE(Units<double>(y[2], -kEuler - 2 * std::log(2.0L)), 3);
  EXPECT_LE(Units<double>(y[3], 7129.0L / 2520 - kEuler), 3);
  EXPECT_EQ(y[4], kInf);
  EXPECT_TRUE(std::isnan(y[5]) && std::isnan(y[6]));
  EXPECT_LT(std::abs(y[7]), 1e-15);
  for (double x : {-3.7, -0.3, 0.2, 2.9, 9.7}) {
    const std::vector<double> pair = ApplyUnary<double>("digamma", {x, x + 1});
    EXPECT_NEAR(pair[1] - pair[0], 1 / x, 4e-15 * (std::abs(pair[0]) + std::abs(pair[1])));
  }
}

TEST(ChloTest, ZetaAndPolygammaHaveKnownValues) {
  const double pi = std::acos(-1.0);
  const std::vector<double> zeta =
      ApplyBinary<double>("zeta", "f64", {2, 4, 3, 1, 0.5, 2, 3}, {1, 1, 0.5, 2, 1, 0, -1});
  ASSERT_EQ(zeta.size(), 7u);
  EXPECT_LE(Units<double>(zeta[0], pi * pi / 6), 3);
  EXPECT_LE(Units<double>(zeta[1], std::pow(pi, 4) / 90), 3);
  EXPECT_LE(Units<double>(zeta[2], 7 * 1.2020569031595942854), 3);
  EXPECT_EQ(zeta[3], kInf);
  EXPECT_TRUE(std::isnan(zeta[4]));
  EXPECT_EQ(zeta[5], kInf);
  EXPECT_TRUE(std::isnan(zeta[6]));
  const std::vector<double> poly =
      ApplyBinary<double>("polygamma", "f64", {1, 2, 0, 0.5, -1}, {1, 1, 2, 1, 1});
  ASSERT_EQ(poly.size(), 5u);
  EXPECT_LE(Units<double>(poly[0], pi * pi / 6), 3);
  EXPECT_LE(Units<double>(poly[1], -2 * 1.2020569031595942854), 3);
  EXPECT_LE(Units<double>(poly[2], 0.42278433509846713939), 3);
  EXPECT_TRUE(std::isnan(poly[3]) && std::isnan(poly[4]));
}

TEST(ChloTest, HyperbolicFunctionsAreThoseOfTheCLibrary) {
  const auto points =
      With(Spread(-88.6, 88.6, 300), {0.0, 0.5, -0.9, 1e-10, 89, -89, kInf, -kInf, kNan});
  ExpectNearBoth("sinh", points, [](long double x) { return std::sinh(x); });
  ExpectNearBoth("cosh", points, [](long double x) { return std::cosh(x); });
  ExpectNearIn<double>("sinh", {709.9, 710.4, -710.4}, [](long double x) { return std::sinh(x); });
}

TEST(ChloTest, InverseFunctionsAreThoseOfTheCLibrary) {
  const auto unit = With(Spread(-1, 1, 200), {0.0, 1e-12, -1e-12, 2, kNan});
  const auto line = With(Spread(-20, 20, 200), {0.0, 1e-12, 1e30, -1e30, kInf, -kInf, kNan});
  ExpectNearBoth("asin", unit, [](long double x) { return std::asin(x); });
  ExpectNearBoth("acos", unit, [](long double x) { return std::acos(x); });
  ExpectNearBoth("atanh", unit, [](long double x) { return std::atanh(x); });
  ExpectNearBoth("atan", line, [](long double x) { return std::atan(x); });
  ExpectNearBoth("asinh", line, [](long double x) { return std::asinh(x); });
  ExpectNearBoth("acosh", With(Spread(1, 30, 200), {1.0001, 1e30, kInf, 0.5, kNan}),
                 [](long double x) { return std::acosh(x); });
  ExpectNearBoth("tan", Spread(-20, 20, 200), [](long double x) { return std::tan(x); });
}

TEST(ChloTest, OddFunctionsKeepTheSignOfZero) {
  for (const char* op : {"asin", "asinh", "atan", "atanh", "sinh", "erf", "tan", "bessel_i1e"}) {
    const std::vector<double> y = ApplyUnary<double>(op, {-0.0, 0.0});
    ASSERT_EQ(y.size(), 2u);
    EXPECT_TRUE(y[0] == 0 && std::signbit(y[0])) << op;
    EXPECT_TRUE(y[1] == 0 && !std::signbit(y[1])) << op;
  }
}

TEST(ChloTest, BesselI1eIsTheScaledBesselFunction) {
  const auto expected = [](long double x) {
    const long double value = std::cyl_bessel_il(1, std::abs(x)) * std::exp(-std::abs(x));
    return x < 0 ? -value : value;
  };
  ExpectNearBoth("bessel_i1e", With(Spread(-30, 30, 121), {8, -8, 1e-10}), expected);
}

template <typename T>
void ExpectComplexNear(absl::string_view op, const char* element,
                       std::complex<long double> (*expected)(const std::complex<long double>&)) {
  std::vector<std::complex<T>> z;
  for (double re : {-1e5, -3.0, -1.0, -0.5, 1e-9, 0.25, 1.0, 2.5, 1e10}) {
    for (double im : {-7.0, -1.0, -1e-6, 1e-9, 0.75, 1.5, 1e6}) z.emplace_back(re, im);
  }
  const Literal argument = Array<std::complex<T>>({static_cast<int64_t>(z.size())}, z);
  const std::string type = TensorText({static_cast<int64_t>(z.size())}, element);
  const auto w = RunOne<std::complex<T>>(
      absl::StrCat("func.func @main(%x: ", type, ") -> ", type, " {\n  %y = chlo.", op,
                   " %x : ", type, " -> ", type, "\n  return %y : ", type, "\n}\n"),
      {&argument});
  ASSERT_EQ(w.size(), z.size());
  for (size_t i = 0; i < z.size(); ++i) {
    const std::complex<long double> want =
        expected(std::complex<long double>(z[i].real(), z[i].imag()));
    EXPECT_LE(Units<T>(w[i].real(), static_cast<T>(want.real())), 3) << op << z[i] << w[i] << want;
    EXPECT_LE(Units<T>(w[i].imag(), static_cast<T>(want.imag())), 3) << op << z[i] << w[i] << want;
  }
}

TEST(ChloTest, ComplexArcFunctionsAreThoseOfTheCLibrary) {
  using C = std::complex<long double>;
  struct Row {
    const char* op;
    C (*expected)(const C&);
  };
  for (const Row& row :
       {Row{"asin", std::asin<long double>}, Row{"acos", std::acos<long double>},
        Row{"asinh", std::asinh<long double>}, Row{"acosh", std::acosh<long double>}}) {
    ExpectComplexNear<float>(row.op, "complex<f32>", row.expected);
    ExpectComplexNear<double>(row.op, "complex<f64>", row.expected);
  }
}

// e^100 is beyond f32; its product with a sine as small as these is not.
TEST(ChloTest, ComplexHyperbolicFunctionsOverflowNoSoonerThanTheirResults) {
  using C = std::complex<float>;
  const std::vector<C> z = {C(100, 1e-30f), C(-100, 1e-30f), C(120, -1e-38f), C(92, 0.5f)};
  const Literal argument = Array<C>({4}, z);
  for (const char* op : {"sinh", "cosh"}) {
    const auto w = RunOne<C>(
        absl::StrCat("func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {\n"
                     "  %y = chlo.",
                     op, " %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>\n",
                     "  return %y : tensor<4xcomplex<f32>>\n}\n"),
        {&argument});
    ASSERT_EQ(w.size(), z.size());
    for (size_t i = 0; i < z.size(); ++i) {
      const std::complex<double> wide = z[i];
      const std::complex<double> want = *op == 's' ? std::sinh(wide) : std::cosh(wide);
      EXPECT_LE(Units<float>(w[i].real(), static_cast<float>(want.real())), 4) << op << z[i];
      EXPECT_LE(Units<float>(w[i].imag(), static_cast<float>(want.imag())), 4) << op << z[i];
    }
  }
}

TEST(ChloTest, ComplexAcoshNearOneKeepsTheRootOfTheSmallestNumber) {
  using C = std::complex<double>;
  const double tiny = std::numeric_limits<double>::denorm_min();
  const Literal argument = Array<C>({1}, {C(1, tiny)});
  const auto w = RunOne<C>(R"(
func.func @main(%x: tensor<1xcomplex<f64>>) -> tensor<1xcomplex<f64>> {
  %y = chlo.acosh %x : tensor<1xcomplex<f64>> -> tensor<1xcomplex<f64>>
  return %y : tensor<1xcomplex<f64>>
})",
                           {&argument});
  ASSERT_EQ(w.size(), 1u);
  EXPECT_DOUBLE_EQ(w[0].real(), std::sqrt(tiny));
  EXPECT_DOUBLE_EQ(w[0].imag(), std::sqrt(tiny));
}

// Of parts whose squares, or whose length, leave the range. atan(z) = -i atanh(i z).
template <typename T>
void ExpectFarArcTangents(const char* element) {
  using Z = std::complex<T>;
  const T max = std::numeric_limits<T>::max(), root = std::sqrt(max);
  std::vector<Z> z;
  for (const T far : {max, max / 2, max / 3, T(0.7) * max, root * 1000, root, root * 20}) {
    for (const T near : {far, far / 2, far / 3, far / 1024, root, T{1}, T(1e-30),
                         std::numeric_limits<T>::denorm_min(), T{0}}) {
      for (const T x : {far, -far}) {
        for (const T y : {near, -near}) {
          z.emplace_back(x, y);
          z.emplace_back(y, x);
        }
      }
    }
  }
  const Literal argument = Array<Z>({static_cast<int64_t>(z.size())}, z);
  const std::string type = TensorText({static_cast<int64_t>(z.size())}, element);
  for (const bool turned : {false, true}) {
    const auto w =
        RunOne<Z>(absl::StrCat("func.func @main(%x: ", type, ") -> ", type, " {\n  %y = chlo.",
                               turned ? "atan" : "atanh", " %x : ", type, " -> ", type,
                               "\n  return %y : ", type, "\n}\n"),
                  {&argument});
    ASSERT_EQ(w.size(), z.size());
    for (size_t i = 0; i < z.size(); ++i) {
      const long double x = turned ? -z[i].imag() : z[i].real();
      const long double y = turned ? z[i].real() : z[i].imag();
      const T part = static_cast<T>(x / (x * x + y * y));
      const T angle = std::copysign(T(1.57079632679489661923L), y < 0 ? T{-1} : T{1});
      const Z got = turned ? Z(-w[i].imag(), w[i].real()) : w[i];
      EXPECT_LE(Units<T>(got.real(), part), 3) << turned << z[i] << w[i];
      EXPECT_EQ(std::signbit(got.real()), std::signbit(static_cast<T>(x))) << turned << z[i];
      EXPECT_LE(Units<T>(got.imag(), angle), 3) << turned << z[i] << w[i];
    }
  }
}
TEST(ChloTest, ComplexArcTangentsKeepTheirSmallPartUpToTheLargestNumbers) {
  ExpectFarArcTangents<float>("complex<f32>");
  ExpectFarArcTangents<double>("complex<f64>");
}

TEST(ChloTest, BranchCutsOfComplexArcFunctionsTakeANegativeZeroForAZero) {
  using C = std::complex<float>;
  const Literal argument = Array<C>({2}, {C(3, -0.0f), C(-3, -0.0f)});
  const auto run = [](const std::string& op, const Literal& z) {
    return RunOne<C>(
        "func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {\n"
        "  %y = chlo." +
            op +
            " %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>\n"
            "  return %y : tensor<2xcomplex<f32>>\n}\n",
        {&z});
  };
  const float height = std::acosh(3.0f);
  for (const C& w : run("asin", argument)) EXPECT_NEAR(w.imag(), height, 1e-6);
  for (const C& w : run("acos", argument)) EXPECT_NEAR(w.imag(), -height, 1e-6);
  EXPECT_NEAR(run("acosh", argument)[1].imag(), std::acos(-1.0f), 1e-6);
  const Literal turned = Array<C>({2}, {C(-0.0f, 3), C(-0.0f, -3)});
  for (const C& w : run("asinh", turned)) EXPECT_NEAR(w.real(), height, 1e-6);
  const Literal far = Array<C>({2}, {C(1e20f, -0.0f), C(-1e20f, -0.0f)});
  for (const C& w : run("atanh", far)) EXPECT_NEAR(w.imag(), std::asin(1.0f), 1e-6);
}

TEST(ChloTest, NextAfterStepsByOneImage) {
  const float least = std::numeric_limits<float>::denorm_min();
  const float inf = static_cast<float>(kInf);
  const std::vector<float> x = {1,   1, -1, 0, 0, -0.0f, least, std::numeric_limits<float>::max(),
                                inf, 2};
  const std::vector<float> to = {2, 0, 0, 1, -1, 1, 0, inf, 0, 2};
  std::vector<float> want;
  for (size_t i = 0; i < x.size(); ++i) want.push_back(std::nextafter(x[i], to[i]));
  EXPECT_THAT(ApplyBinary<float>("next_after", "f32", x, to), ElementsAreArray(want));
  EXPECT_TRUE(std::isnan(ApplyBinary<double>("next_after", "f64", {kNan}, {1.0})[0]));
  EXPECT_TRUE(std::isnan(ApplyBinary<double>("next_after", "f64", {1.0}, {kNan})[0]));
}

TEST(ChloTest, MulhiIsTheHighHalfOfTheProduct) {
  const std::vector<int64_t> a = {INT64_MIN, INT64_MIN, -1, 1234567890123456789, INT64_MAX, -7};
  const std::vector<int64_t> b = {INT64_MIN, INT64_MAX, 1, -987654321987654321, INT64_MAX, 3};
  std::vector<int64_t> want;
  std::vector<uint64_t> ua, ub, unsigned_want;
  for (size_t i = 0; i < a.size(); ++i) {
    want.push_back(static_cast<int64_t>((static_cast<__int128>(a[i]) * b[i]) >> 64));
    ua.push_back(static_cast<uint64_t>(a[i]));
    ub.push_back(static_cast<uint64_t>(b[i]));
    unsigned_want.push_back(
        static_cast<uint64_t>((static_cast<unsigned __int128>(ua[i]) * ub[i]) >> 64));
  }
  EXPECT_THAT(ApplyBinary<int64_t>("mulhi", "i64", a, b), ElementsAreArray(want));
  EXPECT_THAT(ApplyBinary<uint64_t>("mulhi", "ui64", ua, ub), ElementsAreArray(unsigned_want));
  EXPECT_THAT(ApplyBinary<int8_t>("mulhi", "i8", {-128, -128, 100, -1}, {-128, 127, 100, 1}),
              ElementsAre(64, -64, 39, -1));
  EXPECT_THAT(ApplyBinary<uint32_t>("mulhi", "ui32", {0xffffffffu, 3}, {0xffffffffu, 5}),
              ElementsAre(0xfffffffeu, 0u));
}

TEST(ChloTest, TopKTakesTheFirstOfEqualOnes) {
  const Literal x = Array<int32_t>({2, 4}, {3, 9, 9, 1, 5, 5, 5, 7});
  const auto results = RunAll(R"(
func.func @main(%x: tensor<2x4xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
  %v, %i = chlo.top_k(%x, k = 3) : tensor<2x4xi32> -> (tensor<2x3xi32>, tensor<2x3xi32>)
  return %v, %i : tensor<2x3xi32>, tensor<2x3xi32>
})",
                              {&x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int32_t>(*results[0]), ElementsAre(9, 9, 3, 7, 5, 5));
  EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAre(1, 2, 0, 3, 0, 1));
}

TEST(ChloTest, ScanBackwardsAddsFromTheEnd) {
  const Literal x = Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto results = RunAll(R"(
func.func @main(%x: tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2xi32>) {
  %c = stablehlo.constant dense<10> : tensor<2xi32>
  %0:2 = chlo.scan(%x) inits(%c) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %1 = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x3xi32>, tensor<2xi32>
})",
                              {&x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int32_t>(*results[0]), ElementsAre(16, 15, 13, 25, 21, 16));
  EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAre(16, 25));
}

std::string RaggedProgram(absl::string_view lhs, absl::string_view rhs, absl::string_view result,
                          absl::string_view numbers) {
  return absl::StrCat("func.func @main(%a: ", lhs, ", %b: ", rhs, ", %g: tensor<2xi32>) -> ",
                      result,
                      " {\n  %0 = \"chlo.ragged_dot\"(%a, %b, %g) {ragged_dot_dimension_numbers = "
                      "#chlo.ragged_dot<",
                      numbers, ">} : (", lhs, ", ", rhs, ", tensor<2xi32>) -> ", result,
                      "\n  return %0 : ", result, "\n}\n");
}

TEST(ChloTest, RaggedDotOfRowsUsesTheSliceOfTheGroupAndLeavesOthersZero) {
  const Literal a = Array<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Literal b = Array<float>({2, 2, 1}, {1, 1, 10, 100});
  const Literal g = Array<int32_t>({2}, {1, 2});
  EXPECT_THAT(
      RunOne<float>(RaggedProgram("tensor<4x2xf32>", "tensor<2x2x1xf32>", "tensor<4x1xf32>",
                                  "lhs_contracting_dimensions = [1], "
                                  "rhs_contracting_dimensions = [1], "
                                  "lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]"),
                    {&a, &b, &g}),
      ElementsAre(3, 430, 650, 0));
}

TEST(ChloTest, RaggedDotOfAContractionGivesAProductForEachGroup) {
  const Literal a = Array<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal b = Array<float>({3, 1}, {1, 10, 100});
  const Literal g = Array<int32_t>({2}, {2, 1});
  EXPECT_THAT(RunOne<float>(RaggedProgram("tensor<2x3xf32>", "tensor<3x1xf32>", "tensor<2x2x1xf32>",
                                          "lhs_contracting_dimensions = [1], "
                                          "rhs_contracting_dimensions = [0], "
                                          "lhs_ragged_dimensions = [1]"),
                            {&a, &b, &g}),
              ElementsAre(21, 54, 300, 600));
}

TEST(ChloTest, RaggedDotOfBatchesIsADotGeneral) {
  const Literal a = Array<float>({2, 1, 2}, {1, 2, 3, 4});
  const Literal b = Array<float>({2, 2, 1}, {1, 10, 100, 1000});
  const Literal g = Array<int32_t>({2}, {1, 1});
  EXPECT_THAT(
      RunOne<float>(RaggedProgram("tensor<2x1x2xf32>", "tensor<2x2x1xf32>", "tensor<2x1x1xf32>",
                                  "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                                  "lhs_contracting_dimensions = [2], "
                                  "rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]"),
                    {&a, &b, &g}),
      ElementsAre(21, 4300));
}

// Of 0 and 1 as numbers of one bit, which wrap; 1 stands for -1 where the divisor is 0.
TEST(ChloTest, ArithmeticThatBooleansLackIsThatOfOneBit) {
  const Literal a = Preds({4}, {0, 0, 1, 1}), b = Preds({2, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  const auto apply = [&](absl::string_view op) {
    return RunOne<bool>(
        absl::StrCat("func.func @main(%a: tensor<4xi1>, %b: tensor<2x4xi1>) -> tensor<2x4xi1> {\n"
                     "  %r = chlo.broadcast_",
                     op, " %a, %b : (tensor<4xi1>, tensor<2x4xi1>) -> tensor<2x4xi1>\n",
                     "  return %r : tensor<2x4xi1>\n}"),
        {&a, &b});
  };
  EXPECT_THAT(apply("subtract"), ElementsAre(0, 1, 1, 0, 0, 1, 1, 0));
  EXPECT_THAT(apply("divide"), ElementsAre(1, 0, 1, 1, 1, 0, 1, 1));
  EXPECT_THAT(apply("remainder"), ElementsAre(0, 0, 1, 0, 0, 0, 1, 0));
  EXPECT_THAT(apply("power"), ElementsAre(1, 0, 1, 1, 1, 0, 1, 1));
}

TEST(ChloTest, BroadcastingFollowsNumPy) {
  const Literal a = Array<float>({2, 1}, {1, 2});
  const Literal b = Array<float>({3}, {10, 20, 30});
  EXPECT_THAT(RunOne<float>(R"(
func.func @main(%a: tensor<2x1xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = chlo.broadcast_subtract %b, %a : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})",
                            {&a, &b}),
              ElementsAre(9, 19, 29, 8, 18, 28));
}

}  // namespace
}  // namespace pjrt::cpu
