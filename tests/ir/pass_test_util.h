// SPDX-License-Identifier: Apache-2.0
//
// Runs a pass on text and gives text back.
#ifndef PJRT_TESTS_IR_PASS_TEST_UTIL_H_
#define PJRT_TESTS_IR_PASS_TEST_UTIL_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/printer.h"
#include "pjrt/ir/verifier.h"
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {

// What `pass` makes of a program, verified before and after.
inline std::string After(absl::FunctionRef<void(Module*)> pass, absl::string_view text) {
  const std::unique_ptr<Module> module = MustParse(text);
  if (module == nullptr) return "";
  const absl::Status before = VerifyModule(*module);
  EXPECT_TRUE(before.ok()) << before;
  pass(module.get());
  const absl::Status after = VerifyModule(*module);
  EXPECT_TRUE(after.ok()) << after << "\n" << PrintModule(*module);
  return PrintModule(*module);
}

// `pass` must turn the one program into the other.
inline void ExpectBecomes(absl::FunctionRef<void(Module*)> pass, absl::string_view text,
                          absl::string_view expected) {
  const std::unique_ptr<Module> wanted = MustParse(expected);
  if (wanted == nullptr) return;
  EXPECT_EQ(After(pass, text), PrintModule(*wanted));
}

// Simplify, and what it left without a use is gone.
inline void SimplifyAndClean(Module* module) {
  Simplify(module);
  RemoveDeadOps(module);
}

}  // namespace pjrt::ir

#endif  // PJRT_TESTS_IR_PASS_TEST_UTIL_H_
