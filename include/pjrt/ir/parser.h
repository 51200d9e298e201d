// SPDX-License-Identifier: Apache-2.0
//
// Reads MLIR text: StableHLO, CHLO, func and whatever else a program may carry along.
#ifndef PJRT_IR_PARSER_H_
#define PJRT_IR_PARSER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

struct ParseOptions {
  std::string source_name = "<input>";  // what error messages call the text
  // Regions, types and attributes nested deeper than this are refused, so that no text overflows
  // the stack. More than 500 counts as 500.
  int max_depth = 200;
  // Bytes that dense constants may expand to in all (a splat counts one element).
  size_t max_constant_bytes = size_t{16} << 30;
};

// Parses one module (or top-level ops without one, which are wrapped). Checks what is needed to
// build the program: syntax, that values are defined before use and once, that types agree with the
// uses, symbols unique; the verifier checks the rest. INVALID_ARGUMENT otherwise, with
// "[PJRT-Pnnn] name:line:column: what is wrong: expected ..., found ...", the source line and a
// caret below it. Rules of the verifier about an attribute alone are checked where it stands, with
// their own ids ("[PJRT-V005] ...").
//
// Pretty and generic form of an op give the same module. Struct attributes have all their fields,
// whatever the text left out. Locations are kept as text with their aliases spelled out, the far
// end of long ones as `unknown`. A dense_resource whose data the text does not hold stays an opaque
// attribute.
//
// Blocks; needs time and memory linear in the text. Safe to call from several threads.
absl::StatusOr<std::unique_ptr<Module>> ParseModule(absl::string_view text,
                                                    const ParseOptions& options = {});

// A piece of a file between `// -----` lines.
struct Chunk {
  absl::string_view text;
  size_t first_line = 1;  // of the file
};
// Splits at the lines that hold `// -----` and nothing else but blanks. A file without such lines
// is one chunk.
std::vector<Chunk> SplitChunks(absl::string_view text);

// Parses one type or attribute into `context`, all of the text. INVALID_ARGUMENT as above.
absl::StatusOr<Type> ParseType(absl::string_view text, Context* context);
absl::StatusOr<Attribute> ParseAttribute(absl::string_view text, Context* context);

}  // namespace pjrt::ir

#endif  // PJRT_IR_PARSER_H_
