// SPDX-License-Identifier: Apache-2.0
//
// Each instruction of scalar programs gives the bits that the block kernels give.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Loops over the elements of the arguments and computes one result element an iteration. `body`
// makes %r from the scalars %x and %y.
std::string OneByOne(const std::string& body, const std::string& in, const std::string& out,
                     int64_t n) {
  return absl::StrReplaceAll(
      R"(func.func @main(%a: tensor<NxIN>, %b: tensor<NxIN>) -> tensor<NxOUT> {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %n = stablehlo.constant dense<N> : tensor<i32>
        %start = stablehlo.convert %a : (tensor<NxIN>) -> tensor<NxOUT>
        %w:2 = stablehlo.while(%i = %zero, %z = %start) : tensor<i32>, tensor<NxOUT>
        cond {
          %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %go : tensor<i1>
        } do {
          %x1 = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<NxIN>, tensor<i32>) -> tensor<1xIN>
          %y1 = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<NxIN>, tensor<i32>) -> tensor<1xIN>
          %x = stablehlo.reshape %x1 : (tensor<1xIN>) -> tensor<IN>
          %y = stablehlo.reshape %y1 : (tensor<1xIN>) -> tensor<IN>
          BODY
          %r1 = stablehlo.reshape %r : (tensor<OUT>) -> tensor<1xOUT>
          %u = stablehlo.dynamic_update_slice %z, %r1, %i : (tensor<NxOUT>, tensor<1xOUT>, tensor<i32>) -> tensor<NxOUT>
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next, %u : tensor<i32>, tensor<NxOUT>
        }
        return %w#1 : tensor<NxOUT>
      })",
      {{"BODY", absl::StrReplaceAll(body, {{"IN", absl::StrCat("tensor<", in, ">")},
                                           {"OUT", absl::StrCat("tensor<", out, ">")},
                                           {"PRED", "tensor<i1>"}})},
       {"IN", in},
       {"OUT", out},
       {"N", absl::StrCat(n)}});
}

// The same on whole arrays.
std::string AllAtOnce(const std::string& body, const std::string& in, const std::string& out,
                      int64_t n) {
  return absl::StrReplaceAll(
      absl::StrCat("func.func @main(%x: IN, %y: IN) -> OUT {\n", body, "\nreturn %r : OUT\n}"),
      {{"IN", TensorText({n}, in)},
       {"OUT", TensorText({n}, out)},
       {"PRED", TensorText({n}, "i1")}});
}

std::vector<double> Numbers(PrimitiveType type) {
  if (type == PRED) return {0, 1};
  std::vector<double> numbers = {0, 1, 2, 3, 7, 31, 32, 63, 64, 100};
  if (IsFloating(type)) {
    const double inf = std::numeric_limits<double>::infinity();
    numbers.insert(numbers.end(), {-0.0, 0.5, -1.5, -3, 6.25, inf, -inf,
                                   std::numeric_limits<double>::quiet_NaN()});
  } else if (IsSignedInteger(type)) {
    numbers.insert(numbers.end(), {-1, -2, -7, -64, std::ldexp(-1, BitWidth(type) - 1),
                                   std::ldexp(1, BitWidth(type) - 2)});
  } else {
    numbers.push_back(std::ldexp(1, BitWidth(type) - 1));
  }
  return numbers;
}

// All pairs of a type's numbers, as f64 that the programs convert from.
std::pair<std::shared_ptr<Literal>, std::shared_ptr<Literal>> PairsOf(PrimitiveType type) {
  std::vector<double> a, b;
  for (double x : Numbers(type)) {
    for (double y : Numbers(type)) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const int64_t n = static_cast<int64_t>(a.size());
  const std::string name(GetPrimitiveTypeInfo(type).stablehlo_name);
  const std::string text =
      absl::StrCat("func.func @main(%x: ", TensorText({n}, "f64"), ") -> ", TensorText({n}, name),
                   " {\n%r = stablehlo.convert %x : (", TensorText({n}, "f64"), ") -> ",
                   TensorText({n}, name), "\nreturn %r : ", TensorText({n}, name), "\n}");
  const Literal x = Array<double>({n}, a), y = Array<double>({n}, b);
  return {RunAll(text, {&x})[0], RunAll(text, {&y})[0]};
}

bool SameBits(const Literal& a, const Literal& b, PrimitiveType type, std::string* where) {
  const int size = ByteWidth(type);
  const char* x = static_cast<const char*>(a.untyped_data());
  const char* y = static_cast<const char*>(b.untyped_data());
  for (int64_t i = 0; i < a.element_count(); ++i) {
    if (std::memcmp(x + i * size, y + i * size, size) == 0) continue;
    if (type == F32 && std::isnan(a.data<float>()[i]) && std::isnan(b.data<float>()[i])) continue;
    if (type == F64 && std::isnan(a.data<double>()[i]) && std::isnan(b.data<double>()[i])) continue;
    *where = absl::StrCat("element ", i);
    return false;
  }
  return true;
}

// `body` gives the same one element at a time and on arrays.
void Check(const std::string& body, PrimitiveType in, PrimitiveType out) {
  const auto [a, b] = PairsOf(in);
  const int64_t n = a->element_count();
  const std::string in_name(GetPrimitiveTypeInfo(in).stablehlo_name);
  const std::string out_name(GetPrimitiveTypeInfo(out).stablehlo_name);
  const auto scalar = RunAll(OneByOne(body, in_name, out_name, n), {a.get(), b.get()});
  const auto block = RunAll(AllAtOnce(body, in_name, out_name, n), {a.get(), b.get()});
  ASSERT_EQ(scalar.size(), 1u) << body;
  ASSERT_EQ(block.size(), 1u) << body;
  std::string where;
  EXPECT_TRUE(SameBits(*scalar[0], *block[0], out, &where))
      << body << " on " << in_name << " to " << out_name << ": " << where;
}

class ScalarOpTest : public ::testing::TestWithParam<PrimitiveType> {};

TEST_P(ScalarOpTest, GivesTheBitsOfTheBlockKernels) {
  const PrimitiveType type = GetParam();
  std::vector<std::string> binary = {"add", "multiply", "maximum", "minimum"};
  std::vector<std::string> unary;
  if (type != PRED) {
    for (const char* op : {"subtract", "divide", "remainder", "power"}) binary.push_back(op);
    unary = {"negate", "sign", "abs"};
    if (!IsFloating(type) && !IsSignedInteger(type)) unary = {"negate"};
  }
  if (IsFloating(type)) {
    for (const char* op : {"sqrt", "exponential", "floor", "tanh", "round_nearest_even"})
      unary.push_back(op);
  } else {
    for (const char* op : {"and", "or", "xor"}) binary.push_back(op);
    unary.push_back("not");
    if (type != PRED) {
      for (const char* op : {"shift_left", "shift_right_logical", "shift_right_arithmetic"})
        binary.push_back(op);
      for (const char* op : {"popcnt", "count_leading_zeros"}) unary.push_back(op);
    }
  }
  for (const std::string& op : binary)
    Check(absl::StrCat("%r = stablehlo.", op, " %x, %y : IN"), type, type);
  for (const std::string& op : unary)
    Check(absl::StrCat("%r = stablehlo.", op, " %x : IN"), type, type);
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    const std::string compare =
        absl::StrCat("stablehlo.compare ", direction, ", %x, %y : (IN, IN) -> ");
    Check(absl::StrCat("%r = ", compare, "OUT"), type, PRED);
  }
  Check("%r = stablehlo.clamp %y, %x, %x : IN", type, type);
  Check("%r = stablehlo.clamp %x, %y, %x : IN", type, type);
  for (PrimitiveType to : {PRED, S8, U8, S16, U16, S32, U32, S64, U64, F16, F32, F64})
    Check("%r = stablehlo.convert %x : (IN) -> OUT", type, to);
}

TEST_P(ScalarOpTest, GivesThemWhenOperationsFollowFromEachOther) {
  const PrimitiveType type = GetParam();
  if (type != S32 && type != U32 && type != S64 && type != F32 && type != F64) return;
  std::vector<std::string> ops = {"add", "subtract", "multiply"};
  if (IsFloating(type)) {
    ops.push_back("divide");
  } else {
    for (const char* op : {"and", "or", "xor", "shift_left", "shift_right_logical"})
      ops.push_back(op);
  }
  // Three, so that there is one behind each pair.
  for (const std::string& first : ops) {
    for (const std::string& second : ops) {
      const std::string& third = ops[(first.size() + second.size()) % ops.size()];
      Check(absl::StrCat("%s = stablehlo.", first, " %x, %y : IN\n%t = stablehlo.", second,
                         " %s, %y : IN\n%r = stablehlo.", third, " %x, %t : IN"),
            type, type);
      Check(absl::StrCat("%s = stablehlo.", first, " %x, %y : IN\n%t = stablehlo.", second,
                         " %x, %s : IN\n%r = stablehlo.", third, " %t, %y : IN"),
            type, type);
    }
  }
  Check(
      "%s = stablehlo.compare LT, %x, %y : (IN, IN) -> PRED\n"
      "%t = stablehlo.subtract %x, %y : IN\n%r = stablehlo.select %s, %t, %y : PRED, IN",
      type, type);
}

TEST_P(ScalarOpTest, GivesThemForDivisionsByPowersOfTwo) {
  const PrimitiveType type = GetParam();
  if (!IsInteger(type)) return;
  for (int power : {1, 2, 8, 64}) {
    for (const char* op : {"divide", "remainder"}) {
      Check(absl::StrCat("%p = stablehlo.constant dense<", power, "> : IN\n%r = stablehlo.", op,
                         " %x, %p : IN"),
            type, type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ScalarOpTest,
                         ::testing::Values(PRED, S8, U8, S16, U16, S32, U32, S64, U64, F16, BF16,
                                           F32, F64),
                         [](const auto& param_info) {
                           return std::string(GetPrimitiveTypeInfo(param_info.param).name);
                         });

}  // namespace
}  // namespace pjrt::cpu
