// SPDX-License-Identifier: Apache-2.0
//
// Simplify on signed division that rounds down, as exporters write it.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// A function of %x and %y that returns %r. In `ops`, $0 stands for tensors of `type`, $1 for those
// of predicates, and $2 for the divisor.
std::string Division(const std::string& type, int divisor, absl::string_view ops) {
  const std::string format =
      absl::StrCat("func.func @main(%x: $0, %y: $0) -> $0 {\n", ops, " return %r : $0\n}");
  return absl::Substitute(format, absl::StrCat("tensor<", type, ">"),
                          absl::StrCat("tensor<", type.substr(0, type.find('i')), "i1>"), divisor);
}

void ExpectSimpleDivision(const std::string& type, int divisor, absl::string_view ops,
                          absl::string_view simple) {
  SCOPED_TRACE(absl::StrCat(type, " by ", divisor));
  ExpectBecomes(SimplifyAndClean, Division(type, divisor, ops), Division(type, divisor, simple));
}

constexpr char kQuotient[] = R"(
  %n = stablehlo.constant dense<$2> : $0
  %one = stablehlo.constant dense<1> : $0
  %d = stablehlo.divide %x, %n : $0
  %s = stablehlo.sign %x : $0
  %p = stablehlo.compare NE, %s, %one, SIGNED : ($0, $0) -> $1
  %q = stablehlo.remainder %x, %n : $0
  %zero = stablehlo.constant dense<0> : $0
  %z = stablehlo.compare NE, %q, %zero, SIGNED : ($0, $0) -> $1
  %w = stablehlo.and %p, %z : $1
  %less = stablehlo.subtract %d, %one : $0
  %r = stablehlo.select %w, %less, %d : $1, $0
)";
constexpr char kRemainder[] = R"(
  %n = stablehlo.constant dense<$2> : $0
  %zero = stablehlo.constant dense<0> : $0
  %q = stablehlo.remainder %x, %n : $0
  %z = stablehlo.compare NE, %q, %zero, SIGNED : ($0, $0) -> $1
  %p = stablehlo.compare LT, %q, %zero, SIGNED : ($0, $0) -> $1
  %w = stablehlo.and %p, %z : $1
  %more = stablehlo.add %q, %n : $0
  %r = stablehlo.select %w, %more, %q : $1, $0
)";

// What the two amount to.
constexpr char kSimpleQuotient[] = R"(
  %n = stablehlo.constant dense<$2> : $0
  %one = stablehlo.constant dense<1> : $0
  %d = stablehlo.divide %x, %n : $0
  %q = stablehlo.remainder %x, %n : $0
  %zero = stablehlo.constant dense<0> : $0
  %p = stablehlo.compare LT, %q, %zero, SIGNED : ($0, $0) -> $1
  %less = stablehlo.subtract %d, %one : $0
  %r = stablehlo.select %p, %less, %d : $1, $0
)";
constexpr char kSimpleRemainder[] = R"(
  %n = stablehlo.constant dense<$2> : $0
  %zero = stablehlo.constant dense<0> : $0
  %q = stablehlo.remainder %x, %n : $0
  %p = stablehlo.compare LT, %q, %zero, SIGNED : ($0, $0) -> $1
  %more = stablehlo.add %q, %n : $0
  %r = stablehlo.select %p, %more, %q : $1, $0
)";

TEST(SimplifyFloorDivisionTest, TheCorrectionAsksOnlyForANegativeRemainder) {
  for (const char* type : {"4xi32", "i64", "2x3xi8"}) {
    ExpectSimpleDivision(type, 7, kQuotient, kSimpleQuotient);
    ExpectSimpleDivision(type, 7, kRemainder, kSimpleRemainder);
  }
}

TEST(SimplifyFloorDivisionTest, PowersOfTwoTakeAShiftAndAMask) {
  for (const char* type : {"4xi32", "i64", "i16"}) {
    ExpectSimpleDivision(type, 8, kQuotient, R"(
  %k = stablehlo.constant dense<3> : $0
  %r = stablehlo.shift_right_arithmetic %x, %k : $0
)");
    ExpectSimpleDivision(type, 8, kRemainder, R"(
  %k = stablehlo.constant dense<7> : $0
  %r = stablehlo.and %x, %k : $0
)");
  }
}

TEST(SimplifyFloorDivisionTest, WhatOnlyLooksLikeItStays) {
  const auto expect_unchanged = [](int divisor, absl::string_view ops) {
    ExpectSimpleDivision("4xi32", divisor, ops, ops);
  };
  // Negative divisors, and numbers that are not the ones divided.
  expect_unchanged(-8, kQuotient);
  expect_unchanged(8, absl::StrReplaceAll(kQuotient, {{"sign %x", "sign %y"}}));
  expect_unchanged(8, absl::StrReplaceAll(kSimpleRemainder, {{"add %q, %n", "add %q, %y"}}));
  expect_unchanged(8, absl::StrReplaceAll(kSimpleQuotient, {{"divide %x", "divide %y"}}));
}

}  // namespace
}  // namespace pjrt::ir
