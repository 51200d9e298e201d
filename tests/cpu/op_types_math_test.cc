// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops on narrow floats and narrow integers, against formulas in double that round once
// to the type, or in 64-bit integers that wrap. Of types of at most 8 bits every value is tried,
// of wider ones edge values: zeros, denormals, extremes, infinities, NaN. Wider types are tested
// natively in elementwise_test.cc.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/element_values.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

// Values of the type: all of them for up to 8 bits, or edges.
std::vector<Number> ValuesOf(PrimitiveType type, bool few) {
  std::vector<Number> values;
  if (IsInteger(type)) {
    const int64_t count = int64_t{1} << BitWidth(type);
    for (int64_t v = 0; v < count; ++v) values.push_back(Nearest(type, static_cast<double>(v)));
    return values;
  }
  if (BitWidth(type) <= 8) {
    const uint32_t codes = 1u << BitWidth(type);
    for (uint32_t code = 0; code < codes; code += few && codes > 64 ? 7 : 1)
      values.push_back(DecodeFloat(type, code));
    if (few) values.push_back(DecodeFloat(type, codes - 1));
    return values;
  }
  const double tiny = type == F16    ? std::ldexp(1, -24)
                      : type == BF16 ? std::ldexp(1, -133)
                      : type == F32  ? std::ldexp(1, -149)
                                     : std::numeric_limits<double>::denorm_min();
  const double least = type == F16                   ? std::ldexp(1, -14)
                       : type == F32 || type == BF16 ? std::ldexp(1, -126)
                                                     : std::numeric_limits<double>::min();
  const double largest = type == F16    ? 65504
                         : type == BF16 ? DecodeFloat(BF16, 0x7f7f)
                         : type == F32  ? std::numeric_limits<float>::max()
                                        : std::numeric_limits<double>::max();
  for (const double v : {0.0, tiny, 3 * tiny, least - tiny, least, 0.1, 0.5, 0.75, 1.0, 1.5, 2.5,
                         3.0, 100.5, 1000.0, largest / 2, largest, kInf}) {
    values.push_back(Nearest(type, v));
    values.push_back(Nearest(type, -v));
  }
  values.push_back(kNan);
  return values;
}

std::pair<std::vector<Number>, std::vector<Number>> PairsOf(const std::vector<Number>& values) {
  std::pair<std::vector<Number>, std::vector<Number>> pairs;
  for (const Number a : values) {
    for (const Number b : values) {
      pairs.first.push_back(a);
      pairs.second.push_back(b);
    }
  }
  return pairs;
}

// Runs `op` (with its attributes) on these operands; if `then_f32`, in one loop with a conversion
// to f32. Names without a dialect are StableHLO's.
std::vector<Number> RunOp(const std::string& op, PrimitiveType type,
                          const std::vector<std::vector<Number>>& operands, PrimitiveType result,
                          bool then_f32 = false) {
  const std::vector<int64_t> dims = {static_cast<int64_t>(operands[0].size())};
  const std::string in = TensorText(dims, StableHloTypeName(type));
  const std::string made = TensorText(dims, StableHloTypeName(result));
  const std::string out = then_f32 ? TensorText(dims, "f32") : made;
  std::vector<Literal> literals;
  std::vector<const Literal*> arguments;
  std::string header, names, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    literals.push_back(ArrayOf(type, dims, operands[i]));
    absl::StrAppend(&header, i > 0 ? ", " : "", "%a", i, ": ", in);
    absl::StrAppend(&names, i > 0 ? ", " : "", "%a", i);
    absl::StrAppend(&types, i > 0 ? ", " : "", in);
  }
  for (const Literal& literal : literals) arguments.push_back(&literal);
  const size_t space = op.find(' ');
  const std::string name = op.substr(0, space);
  const std::string text = absl::StrCat(
      "func.func @main(", header, ") -> ", out, " {\n  %r = \"",
      name.find('.') == std::string::npos ? "stablehlo." : "", name, "\"(", names, ")",
      space == std::string::npos ? "" : op.substr(space), " : (", types, ") -> ", made,
      then_f32 ? absl::StrCat("\n  %f = stablehlo.convert %r : (", made, ") -> ", out) : "",
      "\n  return ", then_f32 ? "%f" : "%r", " : ", out, "\n}\n");
  const auto results = RunAll(text, arguments);
  return results.size() == 1 ? ReadNumbers(*results[0]) : std::vector<Number>();
}

// Expects the same numbers, or ones within a relative tolerance.
void ExpectNumbers(const std::string& what, PrimitiveType type,
                   const std::vector<std::vector<Number>>& operands,
                   const std::vector<Number>& actual, const std::vector<Number>& expected,
                   double tolerance = 0) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  int failures = 0;
  for (size_t i = 0; i < actual.size() && failures < 5; ++i) {
    const double error = std::abs(actual[i] - expected[i]);
    const bool close = tolerance > 0 && error <= tolerance * std::abs(expected[i]);
    if (SameNumber(actual[i], expected[i]) || close) continue;
    ++failures;
    std::string from;
    for (const auto& operand : operands) absl::StrAppend(&from, " ", NumberText(operand[i]));
    ADD_FAILURE() << what << " of " << PrimitiveTypeName(type) << from << ": "
                  << NumberText(actual[i]) << ", expected " << NumberText(expected[i]);
  }
}

double Sign(double x) { return std::isnan(x) || x == 0 ? x : x < 0 ? -1 : 1; }
double RoundEven(double x) { return std::nearbyint(x); }

struct FloatOp {
  const char* op;
  std::function<double(double, double)> value;  // exact; rounded once afterwards
  bool unary;
};
const std::vector<FloatOp>& ExactFloatOps() {
  static const auto* const kOps = new std::vector<FloatOp>{
      {"negate", [](double x, double) { return -x; }, true},
      {"abs", [](double x, double) { return std::fabs(x); }, true},
      {"sign", [](double x, double) { return Sign(x); }, true},
      {"floor", [](double x, double) { return std::floor(x); }, true},
      {"ceil", [](double x, double) { return std::ceil(x); }, true},
      {"round_nearest_even", [](double x, double) { return RoundEven(x); }, true},
      {"round_nearest_afz", [](double x, double) { return std::round(x); }, true},
      {"sqrt", [](double x, double) { return std::sqrt(x); }, true},
      {"real", [](double x, double) { return x; }, true},
      {"imag", [](double, double) { return 0.0; }, true},
      {"add", [](double x, double y) { return x + y; }, false},
      {"subtract", [](double x, double y) { return x - y; }, false},
      {"multiply", [](double x, double y) { return x * y; }, false},
      {"divide", [](double x, double y) { return x / y; }, false},
      {"remainder", [](double x, double y) { return std::fmod(x, y); }, false},
      {"maximum", [](double x, double y) { return Maximum(x, y); }, false},
      {"minimum", [](double x, double y) { return Minimum(x, y); }, false},
  };
  return *kOps;
}

class NarrowFloatTest : public ::testing::TestWithParam<PrimitiveType> {};

TEST_P(NarrowFloatTest, ArithmeticRoundsOnce) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> all = ValuesOf(type, false);
  const auto [a, b] = PairsOf(ValuesOf(type, true));
  for (const FloatOp& op : ExactFloatOps()) {
    const std::vector<std::vector<Number>> operands =
        op.unary ? std::vector<std::vector<Number>>{all} : std::vector<std::vector<Number>>{a, b};
    std::vector<Number> expected;
    for (size_t i = 0; i < operands[0].size(); ++i) {
      const double y = op.unary ? 0 : b[i].real();
      expected.push_back(Nearest(type, op.value(operands[0][i].real(), y)));
    }
    ExpectNumbers(op.op, type, operands, RunOp(op.op, type, operands, type), expected);
    if (BitWidth(type) == 16) continue;  // may stay f32
    ExpectNumbers(absl::StrCat(op.op, " and a conversion"), type, operands,
                  RunOp(op.op, type, operands, type, true), expected);
  }
}

// Within a value of the exact one rounded: functions are computed in f32.
TEST_P(NarrowFloatTest, FunctionsAreRight) {
  const PrimitiveType type = GetParam();
  if (type == F8E8M0FNU) GTEST_SKIP() << "neighbours are a factor of 2 apart";
  const std::vector<Number> values = ValuesOf(type, false);
  const std::vector<std::pair<const char*, double (*)(double)>> functions = {
      {"exponential", std::exp},
      {"exponential_minus_one", std::expm1},
      {"log", std::log},
      {"log_plus_one", std::log1p},
      {"tanh", std::tanh},
      {"cbrt", std::cbrt},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"sine", std::sin},
      {"cosine", std::cos},
  };
  for (const auto& [op, function] : functions) {
    std::vector<Number> expected, used;
    for (const Number x : values) {
      // Far arguments of periodic functions are a matter of the kernels' tests.
      if ((function == static_cast<double (*)(double)>(std::sin) ||
           function == static_cast<double (*)(double)>(std::cos)) &&
          std::fabs(x.real()) > 1e6)
        continue;
      used.push_back(x);
      expected.push_back(Nearest(type, function(x.real())));
    }
    ExpectNumbers(op, type, {used}, RunOp(op, type, {used}, type), expected, 0x1p-7);
  }
}

TEST_P(NarrowFloatTest, ComparisonsAndClampsAreExact) {
  const PrimitiveType type = GetParam();
  const auto [a, b] = PairsOf(ValuesOf(type, true));
  const std::vector<std::pair<const char*, bool (*)(double, double)>> directions = {
      {"EQ", [](double x, double y) { return x == y; }},
      {"NE", [](double x, double y) { return x != y; }},
      {"LT", [](double x, double y) { return x < y; }},
      {"LE", [](double x, double y) { return x <= y; }},
      {"GT", [](double x, double y) { return x > y; }},
      {"GE", [](double x, double y) { return x >= y; }},
  };
  for (const auto& [direction, holds] : directions) {
    std::vector<Number> expected;
    for (size_t i = 0; i < a.size(); ++i)
      expected.push_back(holds(a[i].real(), b[i].real()) ? 1 : 0);
    const std::string op = absl::StrCat(
        "compare {comparison_direction = #stablehlo<comparison_direction ", direction, ">}");
    ExpectNumbers(op, type, {a, b}, RunOp(op, type, {a, b}, PRED), expected);
  }
  std::vector<Number> finite, clamped;
  for (size_t i = 0; i < a.size(); ++i) {
    finite.push_back(std::isfinite(a[i].real()) ? 1 : 0);
    clamped.push_back(Minimum(Maximum(b[i].real(), a[0].real()), a[i].real()));
  }
  ExpectNumbers("is_finite", type, {a}, RunOp("is_finite", type, {a}, PRED), finite);
  const std::vector<Number> low(a.size(), a[0]);
  ExpectNumbers("clamp", type, {low, b, a}, RunOp("clamp", type, {low, b, a}, type), clamped);
}

TEST_P(NarrowFloatTest, ConversionsToEachTypeRoundOnce) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> values = ValuesOf(type, false);
  for (const PrimitiveType to : AllElementTypes()) {
    std::vector<Number> expected;
    for (const Number x : values) {
      double v = x.real();
      if (to == PRED) {
        v = v != 0;
      } else if (IsInteger(to)) {
        // Truncated, then the nearest that the type has; NaN is 0.
        const int bits = BitWidth(to) - (IsSignedInteger(to) ? 1 : 0);
        const double high = std::ldexp(1, bits), low = IsSignedInteger(to) ? -high : 0;
        if (BitWidth(to) == 64 && std::fabs(v) >= 0x1p62) continue;  // no double holds the bounds
        v = std::isnan(v) ? 0 : std::fmax(low, std::fmin(high - 1, std::trunc(v))) + 0.0;
      }
      expected.push_back(IsInteger(to) ? Number(v) : Nearest(to, v));
    }
    std::vector<Number> used;
    for (const Number x : values) {
      if (IsInteger(to) && BitWidth(to) == 64 && std::fabs(x.real()) >= 0x1p62) continue;
      used.push_back(x);
    }
    ExpectNumbers(absl::StrCat("convert to ", PrimitiveTypeName(to)), type, {used},
                  RunOp("convert", type, {used}, to), expected);
  }
}

struct FloatFormat {
  PrimitiveType type;
  int exponent_bits, mantissa_bits, bias;
};
constexpr FloatFormat kFormats[] = {
    {F4E2M1FN, 2, 1, 1}, {F6E2M3FN, 2, 3, 1},    {F6E3M2FN, 3, 2, 3},    {F8E3M4, 3, 4, 3},
    {F8E4M3, 4, 3, 7},   {F8E4M3FN, 4, 3, 7},    {F8E4M3FNUZ, 4, 3, 8},  {F8E4M3B11FNUZ, 4, 3, 11},
    {F8E5M2, 5, 2, 15},  {F8E5M2FNUZ, 5, 2, 16}, {F8E8M0FNU, 8, 0, 127}, {BF16, 8, 7, 127},
    {F16, 5, 10, 15},
};

// Rounded to `mantissa_bits` in the type's own format, of whose denormals bits are dropped as of
// other numbers; halfway to the one whose last bit is 0, which is the exponent's where no mantissa
// is left. Fewer exponents than the type's own have no denormals.
double Reduced(const FloatFormat& own, double x, int exponent_bits, int mantissa_bits) {
  if (std::isnan(x)) return mantissa_bits > 0 ? x : kInf;
  if (std::isinf(x) || x == 0) return x;
  const int exponent = std::max(std::ilogb(x), 1 - own.bias);
  const int digits = std::min(mantissa_bits, own.mantissa_bits);
  const double unit = std::ldexp(1, exponent - digits);
  double rounded = RoundEven(x / unit) * unit;
  if (digits == 0 && std::fabs(x) == 1.5 * unit && (exponent + own.bias) % 2 == 0)
    rounded = std::copysign(unit, x);
  if (exponent_bits >= own.exponent_bits) return rounded;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  if (std::fabs(rounded) < std::ldexp(1, 1 - bias)) return std::copysign(0.0, x);
  return std::fabs(rounded) >= std::ldexp(1, bias + 1) ? std::copysign(kInf, x) : rounded;
}

TEST_P(NarrowFloatTest, ReducePrecisionRoundsToAFormat) {
  const PrimitiveType type = GetParam();
  const auto* const own = std::find_if(std::begin(kFormats), std::end(kFormats),
                                       [&](const FloatFormat& f) { return f.type == type; });
  ASSERT_NE(own, std::end(kFormats));
  const std::vector<Number> values = ValuesOf(type, false);
  for (const int exponent_bits : {1, 2, 3, 4, 5, 6, 8, 11}) {
    for (const int mantissa_bits : {0, 1, 2, 3, 4, 7, 10, 52}) {
      std::vector<Number> expected;
      for (const Number x : values)
        expected.push_back(Nearest(type, Reduced(*own, x.real(), exponent_bits, mantissa_bits)));
      const std::string op = absl::StrCat("reduce_precision {exponent_bits = ", exponent_bits,
                                          " : i32, mantissa_bits = ", mantissa_bits, " : i32}");
      ExpectNumbers(op, type, {values}, RunOp(op, type, {values}, type), expected);
      if (BitWidth(type) == 16) continue;
      ExpectNumbers(absl::StrCat(op, " and a conversion"), type, {values},
                    RunOp(op, type, {values}, type, true), expected);
    }
  }
}

TEST_P(NarrowFloatTest, InfinitiesAreToldFromOtherNumbers) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> values = ValuesOf(type, false);
  const std::vector<std::pair<const char*, bool (*)(double)>> tests = {
      {"chlo.is_inf", [](double x) { return std::isinf(x); }},
      {"chlo.is_pos_inf", [](double x) { return x == kInf; }},
      {"chlo.is_neg_inf", [](double x) { return x == -kInf; }},
  };
  for (const auto& [op, holds] : tests) {
    std::vector<Number> expected;
    for (const Number x : values) expected.push_back(holds(x.real()) ? 1 : 0);
    ExpectNumbers(op, type, {values}, RunOp(op, type, {values}, PRED), expected);
  }
}

bool IsNarrowFloat(PrimitiveType type) { return IsFloating(type) && BitWidth(type) <= 16; }
INSTANTIATE_TEST_SUITE_P(All, NarrowFloatTest, ::testing::ValuesIn(ElementTypes(IsNarrowFloat)),
                         TypeCase);

class NarrowIntegerTest : public ::testing::TestWithParam<PrimitiveType> {};

TEST_P(NarrowIntegerTest, ArithmeticWraps) {
  const PrimitiveType type = GetParam();
  const int bits = BitWidth(type);
  const bool is_signed = IsSignedInteger(type);
  const int64_t mask = (int64_t{1} << bits) - 1;
  const auto low = [&](int64_t x) { return x & mask; };
  const std::vector<std::pair<const char*, std::function<int64_t(int64_t, int64_t)>>> ops = {
      {"add", [](uint64_t x, uint64_t y) { return static_cast<int64_t>(x + y); }},
      {"subtract", [](uint64_t x, uint64_t y) { return static_cast<int64_t>(x - y); }},
      {"multiply", [](uint64_t x, uint64_t y) { return static_cast<int64_t>(x * y); }},
      {"divide", [](int64_t x, int64_t y) { return y == 0 ? -1 : x / y; }},
      {"remainder", [](int64_t x, int64_t y) { return y == 0 ? x : x % y; }},
      {"maximum", [](int64_t x, int64_t y) { return std::max(x, y); }},
      {"minimum", [](int64_t x, int64_t y) { return std::min(x, y); }},
      {"and", [](int64_t x, int64_t y) { return x & y; }},
      {"or", [](int64_t x, int64_t y) { return x | y; }},
      {"xor", [](int64_t x, int64_t y) { return x ^ y; }},
      {"shift_left",
       [&](int64_t x, int64_t y) {
         const uint64_t shifted = static_cast<uint64_t>(x) << (low(y) & 63);
         return low(y) >= bits ? 0 : static_cast<int64_t>(shifted);
       }},
      {"shift_right_logical",
       [&](int64_t x, int64_t y) { return low(y) >= bits ? 0 : low(x) >> low(y); }},
      {"shift_right_arithmetic",
       [&](int64_t x, int64_t y) {
         const int64_t with_sign = (low(x) >> (bits - 1)) != 0 ? low(x) | ~mask : low(x);
         return with_sign >> std::min<int64_t>(low(y), bits);
       }},
      {"power",
       [&](int64_t x, int64_t y) {
         if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : int64_t{0};
         int64_t result = 1;
         for (int64_t i = 0; i < y; ++i) result = (result * x) & 0xffff;
         return result;
       }},
  };
  const auto [a, b] = PairsOf(ValuesOf(type, false));
  for (const auto& [op, value] : ops) {
    std::vector<Number> expected;
    for (size_t i = 0; i < a.size(); ++i)
      expected.push_back(
          Nearest(type, static_cast<double>(value(static_cast<int64_t>(a[i].real()),
                                                  static_cast<int64_t>(b[i].real())))));
    ExpectNumbers(op, type, {a, b}, RunOp(op, type, {a, b}, type), expected);
  }
  const std::vector<std::pair<const char*, std::function<int64_t(int64_t)>>> unary = {
      {"not", [](int64_t x) { return ~x; }},
      {"negate", [](int64_t x) { return -x; }},
      {"popcnt", [&](int64_t x) { return __builtin_popcountll(low(x)); }},
      {"count_leading_zeros",
       [&](int64_t x) { return low(x) == 0 ? bits : __builtin_clzll(low(x)) - 64 + bits; }},
      {"abs", [](int64_t x) { return x < 0 ? -x : x; }},
      {"sign", [](int64_t x) { return x < 0   ? -1
                                      : x > 0 ? 1
                                              : 0; }},
  };
  const std::vector<Number> values = ValuesOf(type, false);
  for (const auto& [op, value] : unary) {
    const std::string name = op;
    if (!is_signed && (name == "abs" || name == "sign")) continue;
    std::vector<Number> expected;
    for (const Number x : values)
      expected.push_back(Nearest(type, static_cast<double>(value(static_cast<int64_t>(x.real())))));
    ExpectNumbers(op, type, {values}, RunOp(op, type, {values}, type), expected);
  }
}

TEST_P(NarrowIntegerTest, ConversionsToEachTypeKeepOrWrap) {
  const PrimitiveType type = GetParam();
  const std::vector<Number> values = ValuesOf(type, false);
  for (const PrimitiveType to : AllElementTypes()) {
    std::vector<Number> expected;
    for (const Number x : values) expected.push_back(Nearest(to, x));
    ExpectNumbers(absl::StrCat("convert to ", PrimitiveTypeName(to)), type, {values},
                  RunOp("convert", type, {values}, to), expected);
  }
}

// The 2 that these count is -2 in two bits, also where a conversion reads it in the same loop.
TEST(NarrowIntegerLoopTest, CountsThatDoNotFitWrapBeforeTheyAreConverted) {
  const Literal x = ArrayOf(S2, {4}, {0, 1, -2, -1});
  for (const auto& [op, expected] :
       {std::pair<std::string, std::vector<Number>>("popcnt", {0, 1, 1, -2}),
        std::pair<std::string, std::vector<Number>>("count_leading_zeros", {-2, 1, 0, 0})}) {
    const auto results = RunAll(
        "func.func @main(%x: tensor<4xi2>) -> tensor<4xi32> {\n  %y = stablehlo." + op +
            " %x : tensor<4xi2>\n  %r = stablehlo.convert %y : (tensor<4xi2>) -> tensor<4xi32>\n" +
            "  return %r : tensor<4xi32>\n}",
        {&x});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(ReadNumbers(*results[0]), expected) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowIntegerTest, ::testing::Values(S2, S4, U2, U4), TypeCase);

}  // namespace
}  // namespace pjrt::cpu
