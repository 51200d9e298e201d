// SPDX-License-Identifier: Apache-2.0
//
// What the parser's tests have in common.
#ifndef PJRT_TESTS_IR_PARSER_TEST_UTIL_H_
#define PJRT_TESTS_IR_PARSER_TEST_UTIL_H_

#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/parser.h"

namespace pjrt::ir {

// The module, or null after a failure of the test.
inline std::unique_ptr<Module> MustParse(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? std::move(module).value() : nullptr;
}

// The message of the error that `text` must give.
inline std::string ParseErrorOf(absl::string_view text, const ParseOptions& options = {}) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text, options);
  EXPECT_FALSE(module.ok()) << "parsed: " << text.substr(0, 200);
  if (module.ok()) return "";
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(module.status().message());
}

// `text` must fail with that id, at that place, with `what` in the message.
inline void ExpectErrorAt(absl::string_view text, absl::string_view id, int line, int column,
                          absl::string_view what) {
  const std::string message = ParseErrorOf(text);
  EXPECT_TRUE(
      absl::StartsWith(message, absl::StrCat("[PJRT-", id, "] <input>:", line, ":", column, ": ")))
      << message;
  EXPECT_TRUE(absl::StrContains(message, what)) << message << "\nlacks: " << what;
}

// `ops` in a function with arguments of many types, whose names tell them: %f and %g tensor<4xf32>,
// %i tensor<4xi32>, and so on.
inline std::string InFunction(absl::string_view ops) {
  return absl::StrCat(
      "func.func @main(%f: tensor<4xf32>, %g: tensor<4xf32>, %i: tensor<4xi32>, %b: tensor<4xi1>, "
      "%c: tensor<4xcomplex<f32>>, %m: tensor<2x4xf32>, %n: tensor<4x3xf32>, %s: tensor<f32>, %p: "
      "tensor<i1>, "
      "%x: tensor<i32>, %shape: tensor<1xi64>, %token: !stablehlo.token, %img: "
      "tensor<1x8x8x2xf32>, "
      "%ker: tensor<3x3x2x5xf32>, %dyn: tensor<?xf32>) {\n",
      ops, "\nreturn\n}\n");
}

// The first op of the function's body.
inline Op* FirstOp(const Module& module) { return module.EntryFunction().body()->front(); }

}  // namespace pjrt::ir

#endif  // PJRT_TESTS_IR_PARSER_TEST_UTIL_H_
