// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/diagnostics.h"

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"

namespace pjrt::cpu {

std::string Place(const ir::Op& op) {
  std::string text;
  if (op.location().line > 0) {
    text = absl::StrCat(op.module()->source_name(), ":", op.location().line, ":",
                        op.location().column, ": ");
  }
  absl::StrAppend(&text, "'", op.name(), "' (");
  for (size_t i = 0; i < op.num_operands(); ++i)
    absl::StrAppend(&text, i > 0 ? ", " : "", op.operand_type(i).ToString());
  absl::StrAppend(&text, ") -> (");
  for (size_t i = 0; i < op.num_results(); ++i)
    absl::StrAppend(&text, i > 0 ? ", " : "", op.result_type(i).ToString());
  text.push_back(')');
  return text;
}

absl::Status UnsupportedOp(const ir::Op& op, absl::string_view reason) {
  return Unimplemented("PJRT-C003",
                       absl::StrCat("the CPU device cannot compile ", Place(op), ": ", reason));
}

}  // namespace pjrt::cpu
