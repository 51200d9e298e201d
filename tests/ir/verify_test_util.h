// SPDX-License-Identifier: Apache-2.0
//
// What the verifier says of a few ops.
#ifndef PJRT_TESTS_IR_VERIFY_TEST_UTIL_H_
#define PJRT_TESTS_IR_VERIFY_TEST_UTIL_H_

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/verifier.h"

namespace pjrt::ir {

// "ok", the id of the rule broken ("V008"), be it found by the parser or the verifier, or the
// parser's whole message.
inline std::string ModuleVerdict(absl::string_view text) {
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  const absl::Status status = module.ok() ? VerifyModule(**module) : module.status();
  if (status.ok()) return "ok";
  const std::string message(status.message());
  if (!module.ok() && message.rfind("[PJRT-V", 0) != 0) return absl::StrCat("parser: ", message);
  return message.rfind("[PJRT-", 0) == 0 ? message.substr(6, 4) : message;
}

// The same for ops in a function with these arguments: Verdict("%a: tensor<2xf32>", "%0 =
// stablehlo.abs %a : tensor<2xf32>").
inline std::string Verdict(absl::string_view arguments, absl::string_view ops) {
  return ModuleVerdict(absl::StrCat("func.func @f(", arguments, ") {\n", ops, "\nreturn\n}"));
}

}  // namespace pjrt::ir

#endif  // PJRT_TESTS_IR_VERIFY_TEST_UTIL_H_
