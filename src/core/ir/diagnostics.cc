// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/diagnostics.h"

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"

namespace pjrt::ir {

std::string DescribeOp(const Op& op) {
  const std::string name = absl::StrCat("'", op.name(), "' op");
  const Location& location = op.location();
  if (location.line > 0) {
    const std::string& source = op.module() != nullptr ? op.module()->source_name() : std::string();
    return absl::StrCat(source.empty() ? "<input>" : source, ":", location.line, ":",
                        location.column, ": ", name);
  }
  const Op* at = op.parent();
  while (at != nullptr && !at->Is(OpCode::kFuncFunc)) at = at->parent();
  return at == nullptr ? name : absl::StrCat("in @", at->StringAttr("sym_name"), ": ", name);
}

absl::Status AtOp(const Op& op, const absl::Status& status) {
  return status.ok() ? status : WithContext(status, DescribeOp(op));
}

}  // namespace pjrt::ir
