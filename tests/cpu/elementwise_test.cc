// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops on every element type, against formulas on scalars. How exact the mathematical
// functions are is tested with the kernels; here it matters that each op of each type reaches the
// right one.
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// All pairs of these values, as two arrays.
template <typename T>
std::pair<std::vector<T>, std::vector<T>> AllPairs(const std::vector<T>& values) {
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (T a : values) {
    for (T b : values) {
      pairs.first.push_back(a);
      pairs.second.push_back(b);
    }
  }
  return pairs;
}

std::string BinaryText(const std::string& op, const std::string& type, const std::string& result) {
  return absl::StrCat("func.func @main(%a: ", type, ", %b: ", type, ") -> ", result,
                      " {\n  %0 = ", op, " : (", type, ", ", type, ") -> ", result,
                      "\n  return %0 : ", result, "\n}");
}

std::string UnaryText(const std::string& op, const std::string& type, const std::string& result) {
  return absl::StrCat("func.func @main(%a: ", type, ") -> ", result, " {\n  %0 = \"stablehlo.", op,
                      "\"(%a) : (", type, ") -> ", result, "\n  return %0 : ", result, "\n}");
}

template <typename T>
std::string ElementText() {
  return std::string(GetPrimitiveTypeInfo(PrimitiveTypeOf<T>()).stablehlo_name);
}

// What the op gives of each pair, and of each element.
template <typename T>
std::vector<T> RunBinary(const std::string& op, const std::vector<T>& a, const std::vector<T>& b) {
  const std::vector<int64_t> dims = {static_cast<int64_t>(a.size())};
  const std::string type = TensorText(dims, ElementText<T>());
  const Literal x = Array<T>(dims, a), y = Array<T>(dims, b);
  return RunOne<T>(BinaryText(absl::StrCat("\"stablehlo.", op, "\"(%a, %b)"), type, type),
                   {&x, &y});
}
template <typename T>
std::vector<T> RunUnary(const std::string& op, const std::vector<T>& a) {
  const std::vector<int64_t> dims = {static_cast<int64_t>(a.size())};
  const std::string type = TensorText(dims, ElementText<T>());
  const Literal x = Array<T>(dims, a);
  return RunOne<T>(UnaryText(op, type, type), {&x});
}

template <typename T>
class IntegerTest : public ::testing::Test {
 protected:
  static std::vector<T> EdgeValues() {
    using L = std::numeric_limits<T>;
    std::vector<T> values = {0,
                             1,
                             2,
                             3,
                             7,
                             8,
                             31,
                             64,
                             L::max(),
                             static_cast<T>(L::max() - 1),
                             L::min(),
                             static_cast<T>(L::min() + 1),
                             static_cast<T>(L::max() / 2)};
    if (L::is_signed)
      values.insert(values.end(), {static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-7)});
    return values;
  }

  void Binary(const std::string& op, const std::function<T(T, T)>& expected) {
    const auto [a, b] = AllPairs(EdgeValues());
    const std::vector<T> result = RunBinary<T>(op, a, b);
    ASSERT_EQ(result.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(+result[i], +expected(a[i], b[i]))
          << op << " of " << +a[i] << " and " << +b[i] << " as " << ElementText<T>();
    }
  }

  void Unary(const std::string& op, const std::function<T(T)>& expected) {
    const std::vector<T> a = EdgeValues();
    const std::vector<T> result = RunUnary<T>(op, a);
    ASSERT_EQ(result.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(+result[i], +expected(a[i])) << op << " of " << +a[i] << " as " << ElementText<T>();
  }
};

TYPED_TEST_SUITE(IntegerTest, IntegerTypes);

TYPED_TEST(IntegerTest, ArithmeticWrapsAround) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  this->Binary("add",
               [](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
  this->Binary("subtract",
               [](T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); });
  this->Binary("multiply", [](T a, T b) {
    return static_cast<T>(uint64_t{static_cast<U>(a)} * uint64_t{static_cast<U>(b)});
  });
  this->Binary("maximum", [](T a, T b) { return a > b ? a : b; });
  this->Binary("minimum", [](T a, T b) { return a < b ? a : b; });
  this->Unary("negate", [](T a) { return static_cast<T>(-static_cast<uint64_t>(a)); });
}

TYPED_TEST(IntegerTest, DivisionIsDefinedEverywhere) {
  using T = TypeParam;
  constexpr bool kSigned = std::numeric_limits<T>::is_signed;
  const auto overflows = [](T a, T b) {
    return kSigned && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
  };
  this->Binary("divide", [&](T a, T b) {
    return b == 0 ? static_cast<T>(-1) : overflows(a, b) ? a : static_cast<T>(a / b);
  });
  this->Binary("remainder", [&](T a, T b) {
    return b == 0 ? a : overflows(a, b) ? T{0} : static_cast<T>(a % b);
  });
}

// One division serves both results.
TYPED_TEST(IntegerTest, ARemainderBesideItsQuotientIsTheSameAsAlone) {
  using T = TypeParam;
  const auto [a, b] = AllPairs(this->EdgeValues());
  const int64_t count = static_cast<int64_t>(a.size());
  const Literal x = Array<T>({count}, a), y = Array<T>({count}, b);
  const std::string type = TensorText({count}, ElementText<T>());
  const std::string types = absl::StrCat("(", type, ", ", type, ")");
  const std::vector<std::shared_ptr<Literal>> results =
      RunAll(absl::StrCat("func.func @main(%x: ", type, ", %y: ", type, ") -> ", types,
                          " {\n%q = stablehlo.divide %x, %y : ", type,
                          "\n%r = stablehlo.remainder %x, %y : ", type, "\nreturn %q, %r : ", type,
                          ", ", type, "\n}"),
             {&x, &y});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<T>(*results[0]), RunBinary<T>("divide", a, b));
  EXPECT_EQ(Elements<T>(*results[1]), RunBinary<T>("remainder", a, b));
}

TYPED_TEST(IntegerTest, BitsAndShifts) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr int kWidth = 8 * sizeof(T);
  using S = std::make_signed_t<T>;
  this->Binary("and", [](T a, T b) { return static_cast<T>(a & b); });
  this->Binary("or", [](T a, T b) { return static_cast<T>(a | b); });
  this->Binary("xor", [](T a, T b) { return static_cast<T>(a ^ b); });
  this->Unary("not", [](T a) { return static_cast<T>(~a); });
  const auto far = [](T b) { return static_cast<U>(b) >= static_cast<U>(kWidth); };
  this->Binary("shift_left", [&](T a, T b) {
    return far(b) ? T{0} : static_cast<T>(static_cast<uint64_t>(static_cast<U>(a)) << b);
  });
  this->Binary("shift_right_logical",
               [&](T a, T b) { return far(b) ? T{0} : static_cast<T>(static_cast<U>(a) >> b); });
  this->Binary("shift_right_arithmetic", [&](T a, T b) {
    return static_cast<T>(static_cast<S>(a) >> (far(b) ? kWidth - 1 : static_cast<int>(b)));
  });
  this->Unary("popcnt", [](T a) {
    int count = 0;
    for (U bits = static_cast<U>(a); bits != 0; bits = static_cast<U>(bits & (bits - 1))) ++count;
    return static_cast<T>(count);
  });
  this->Unary("count_leading_zeros", [](T a) {
    int count = 0;
    while (count < kWidth && (static_cast<U>(a) >> (kWidth - 1 - count) & 1) == 0) ++count;
    return static_cast<T>(count);
  });
}

TYPED_TEST(IntegerTest, ComparesAsItsOwnType) {
  using T = TypeParam;
  const auto [a, b] = AllPairs(this->EdgeValues());
  const std::vector<int64_t> dims = {static_cast<int64_t>(a.size())};
  const Literal x = Array<T>(dims, a), y = Array<T>(dims, b);
  const std::vector<std::pair<std::string, std::function<bool(T, T)>>> directions = {
      {"EQ", std::equal_to<T>()}, {"NE", std::not_equal_to<T>()},
      {"LT", std::less<T>()},     {"LE", std::less_equal<T>()},
      {"GT", std::greater<T>()},  {"GE", std::greater_equal<T>()}};
  for (const auto& [direction, expected] : directions) {
    const auto results =
        RunAll(BinaryText(absl::StrCat("stablehlo.compare ", direction, ", %a, %b"),
                          TensorText(dims, ElementText<T>()), TensorText(dims, "i1")),
               {&x, &y});
    ASSERT_EQ(results.size(), 1u);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(results[0]->template data<bool>()[i], expected(a[i], b[i]))
          << direction << " of " << +a[i] << " and " << +b[i];
    }
  }
}

template <typename T>
class FloatTest : public ::testing::Test {
 protected:
  static std::vector<T> EdgeValues() {
    using L = std::numeric_limits<T>;
    std::vector<T> values;
    for (double v : {0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, -2.5, 3.0, 7.0, 100.25, -1000.0})
      values.push_back(T(static_cast<float>(v)));
    values.insert(values.end(), {L::max(), L::lowest(), L::min(), L::denorm_min(), L::infinity(),
                                 -L::infinity(), L::quiet_NaN()});
    return values;
  }
  // T's value as the type that it is computed in.
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;

  static void ExpectSame(T actual, C expected, const std::string& what) {
    const T rounded = T(expected);
    const C a = static_cast<C>(actual), e = static_cast<C>(rounded);
    if (std::isnan(e)) {
      EXPECT_TRUE(std::isnan(a)) << what << ": expected NaN, got " << a;
    } else {
      EXPECT_TRUE(a == e && std::signbit(a) == std::signbit(e))
          << what << ": expected " << e << ", got " << a;
    }
  }

  void Binary(const std::string& op, const std::function<C(C, C)>& expected) {
    const auto [a, b] = AllPairs(EdgeValues());
    const std::vector<T> result = RunBinary<T>(op, a, b);
    ASSERT_EQ(result.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const C u = static_cast<C>(a[i]), v = static_cast<C>(b[i]);
      ExpectSame(result[i], expected(u, v),
                 absl::StrCat(op, " of ", u, " and ", v, " as ", ElementText<T>()));
    }
  }

  // `tolerance`: relative, 0 for exact.
  void Unary(const std::string& op, const std::function<double(double)>& expected,
             double tolerance = 0) {
    const std::vector<T> a = EdgeValues();
    const std::vector<T> result = RunUnary<T>(op, a);
    ASSERT_EQ(result.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      const double value = static_cast<double>(a[i]), e = expected(value);
      const std::string what = absl::StrCat(op, " of ", value, " as ", ElementText<T>());
      if (tolerance == 0) {
        ExpectSame(result[i], static_cast<C>(e), what);
        continue;
      }
      const double actual = static_cast<double>(result[i]),
                   rounded = static_cast<double>(T(static_cast<C>(e)));
      if (std::isnan(e) || std::isinf(rounded)) {
        EXPECT_TRUE(std::isnan(e) ? std::isnan(actual) : actual == rounded)
            << what << ": expected " << e << ", got " << actual;
      } else {
        EXPECT_NEAR(
            actual, rounded,
            tolerance * std::fabs(rounded) + static_cast<double>(std::numeric_limits<T>::min()))
            << what;
      }
    }
  }
};

using FloatTypes = ::testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(FloatTest, FloatTypes);

TYPED_TEST(FloatTest, ArithmeticRoundsOnce) {
  using V = typename TestFixture::C;
  this->Binary("add", [](V a, V b) { return a + b; });
  this->Binary("subtract", [](V a, V b) { return a - b; });
  this->Binary("multiply", [](V a, V b) { return a * b; });
  this->Binary("divide", [](V a, V b) { return a / b; });
  this->Binary("remainder", [](V a, V b) { return std::fmod(a, b); });
  const auto maximum = [](V a, V b) {
    return std::isnan(a) || std::isnan(b) ? V(NAN)
           : a == b                       ? (std::signbit(a) ? b : a)
                                          : std::max(a, b);
  };
  const auto minimum = [](V a, V b) {
    return std::isnan(a) || std::isnan(b) ? V(NAN)
           : a == b                       ? (std::signbit(a) ? a : b)
                                          : std::min(a, b);
  };
  this->Binary("maximum", maximum);
  this->Binary("minimum", minimum);
}

TYPED_TEST(FloatTest, RoundingAndSignsAreExact) {
  this->Unary("negate", [](double a) { return -a; });
  this->Unary("abs", [](double a) { return std::fabs(a); });
  this->Unary("floor", [](double a) { return std::floor(a); });
  this->Unary("ceil", [](double a) { return std::ceil(a); });
  this->Unary("round_nearest_afz", [](double a) { return std::round(a); });
  this->Unary("round_nearest_even", [](double a) { return std::nearbyint(a); });
  this->Unary("sign", [](double a) { return std::isnan(a) || a == 0 ? a : a > 0 ? 1.0 : -1.0; });
  this->Unary("sqrt", [](double a) { return std::sqrt(a); });
  this->Unary("real", [](double a) { return a; });
  this->Unary("imag", [](double) { return 0.0; });  // of infinities and NaN, too
}

TYPED_TEST(FloatTest, FunctionsComeNearTheExactResult) {
  // A few units in the last place; the kernels' own tests measure more exactly.
  const double ulps = 2 * static_cast<double>(std::numeric_limits<TypeParam>::epsilon());
  this->Unary(
      "exponential", [](double a) { return std::exp(a); }, ulps);
  this->Unary(
      "exponential_minus_one", [](double a) { return std::expm1(a); }, ulps);
  this->Unary(
      "log", [](double a) { return std::log(a); }, ulps);
  this->Unary(
      "log_plus_one", [](double a) { return std::log1p(a); }, ulps);
  this->Unary(
      "logistic", [](double a) { return 1 / (1 + std::exp(-a)); }, ulps);
  this->Unary(
      "tanh", [](double a) { return std::tanh(a); }, ulps);
  this->Unary(
      "cosine", [](double a) { return std::cos(a); }, ulps);
  this->Unary(
      "sine", [](double a) { return std::sin(a); }, ulps);
  this->Unary(
      "tan", [](double a) { return std::tan(a); }, ulps);
  this->Unary(
      "cbrt", [](double a) { return std::cbrt(a); }, ulps);
  this->Unary(
      "rsqrt", [](double a) { return 1 / std::sqrt(a); }, ulps);
}

TYPED_TEST(FloatTest, IsFiniteTellsNumbersFromTheRest) {
  using T = TypeParam;
  const std::vector<T> a = this->EdgeValues();
  const std::vector<int64_t> dims = {static_cast<int64_t>(a.size())};
  const Literal x = Array<T>(dims, a);
  const auto results = RunAll(
      UnaryText("is_finite", TensorText(dims, ElementText<T>()), TensorText(dims, "i1")), {&x});
  ASSERT_EQ(results.size(), 1u);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(results[0]->template data<bool>()[i], std::isfinite(static_cast<double>(a[i]))) << i;
}

template <typename T>
class ComplexTest : public ::testing::Test {};
using ComplexParts = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexTest, ComplexParts);

TYPED_TEST(ComplexTest, ArithmeticAndParts) {
  using Z = std::complex<TypeParam>;
  const std::vector<Z> values = {{0, 0},  {1, 0},      {0, 1},      {-1, 2},
                                 {3, -4}, {0.5, 0.25}, {-7, -0.125}};
  const auto [a, b] = AllPairs(values);
  const std::vector<int64_t> dims = {static_cast<int64_t>(a.size())};
  const std::string element = absl::StrCat("complex<", ElementText<TypeParam>(), ">");
  const std::string type = TensorText(dims, element),
                    part = TensorText(dims, ElementText<TypeParam>());
  const Literal x = Array<Z>(dims, a);
  const std::vector<std::pair<std::string, std::function<Z(Z, Z)>>> ops = {
      {"add", [](Z u, Z v) { return u + v; }},
      {"subtract", [](Z u, Z v) { return u - v; }},
      {"multiply", [](Z u, Z v) { return u * v; }}};
  for (const auto& [op, expected] : ops) {
    const std::vector<Z> result = RunBinary<Z>(op, a, b);
    ASSERT_EQ(result.size(), a.size());
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_LE(std::abs(result[i] - expected(a[i], b[i])), 1e-6)
          << op << " of " << a[i] << " and " << b[i];
  }
  const std::vector<TypeParam> real = RunOne<TypeParam>(UnaryText("real", type, part), {&x});
  const std::vector<TypeParam> imag = RunOne<TypeParam>(UnaryText("imag", type, part), {&x});
  const std::vector<TypeParam> abs = RunOne<TypeParam>(UnaryText("abs", type, part), {&x});
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(real[i], a[i].real());
    EXPECT_EQ(imag[i], a[i].imag());
    EXPECT_NEAR(abs[i], std::abs(a[i]), 1e-5);
  }
  const Literal re = Array<TypeParam>(dims, real), im = Array<TypeParam>(dims, imag);
  EXPECT_EQ(RunOne<Z>(BinaryText("\"stablehlo.complex\"(%a, %b)", part, type), {&re, &im}), a);
}

TEST(PredTest, LogicOnBits) {
  const Literal a = Preds({4}, {0, 0, 1, 1}), b = Preds({4}, {0, 1, 0, 1});
  const auto run = [&](const std::string& op) {
    const auto results = RunAll(
        BinaryText(absl::StrCat("\"stablehlo.", op, "\"(%a, %b)"), "tensor<4xi1>", "tensor<4xi1>"),
        {&a, &b});
    std::string bits;
    for (bool bit : results[0]->data<bool>()) bits += bit ? '1' : '0';
    return bits;
  };
  EXPECT_EQ(run("and"), "0001");
  EXPECT_EQ(run("or"), "0111");
  EXPECT_EQ(run("xor"), "0110");
  EXPECT_EQ(run("maximum"), "0111");
  EXPECT_EQ(run("minimum"), "0001");
}

}  // namespace
}  // namespace pjrt::cpu
