// SPDX-License-Identifier: Apache-2.0
//
// What tests of custom calls of linear algebra share.
#ifndef PJRT_TESTS_CPU_LAPACK_CALL_TEST_UTIL_H_
#define PJRT_TESTS_CPU_LAPACK_CALL_TEST_UTIL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {

using Literals = std::vector<std::shared_ptr<Literal>>;

// A program of one call. Operands and results are types without "tensor<>"; parameters, constants
// that stand before the operands, are "value type".
inline std::string CallText(absl::string_view target, absl::string_view attributes,
                            const std::vector<std::string>& operands,
                            const std::vector<std::string>& results,
                            const std::vector<std::string>& parameters = {}) {
  std::string arguments, names, types, outs, returned, body;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const size_t blank = parameters[i].find(' ');
    const std::string type = absl::StrCat("tensor<", parameters[i].substr(blank + 1), ">");
    absl::StrAppend(&body, "  %p", i, " = stablehlo.constant dense<",
                    parameters[i].substr(0, blank), "> : ", type, "\n");
    absl::StrAppend(&names, names.empty() ? "" : ", ", "%p", i);
    absl::StrAppend(&types, types.empty() ? "" : ", ", type);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    absl::StrAppend(&arguments, i > 0 ? ", " : "", "%x", i, ": tensor<", operands[i], ">");
    absl::StrAppend(&names, names.empty() ? "" : ", ", "%x", i);
    absl::StrAppend(&types, types.empty() ? "" : ", ", "tensor<", operands[i], ">");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    absl::StrAppend(&outs, i > 0 ? ", " : "", "tensor<", results[i], ">");
    absl::StrAppend(&returned, i > 0 ? ", " : "", "%0",
                    results.size() > 1 ? absl::StrCat("#", i) : "");
  }
  return absl::StrCat("func.func @main(", arguments, ") -> (", outs, ") {\n", body, "  %0",
                      results.size() > 1 ? absl::StrCat(":", results.size()) : "",
                      " = stablehlo.custom_call @", target, "(", names, ") {", attributes, "} : (",
                      types, ") -> (", outs, ")\n  return ", returned, " : ", outs, "\n}");
}

// Of any numbers that a double holds.
inline void ExpectNear(const LiteralBase& got, const std::vector<double>& want,
                       double bound = 1e-5) {
  const absl::StatusOr<Literal> wide = got.Convert(F64);
  ASSERT_TRUE(wide.ok());
  ASSERT_EQ(wide->data<double>().size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(wide->data<double>()[i], want[i], bound) << "element " << i;
}

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_LAPACK_CALL_TEST_UTIL_H_
