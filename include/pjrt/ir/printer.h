// SPDX-License-Identifier: Apache-2.0
//
// Writes a program as MLIR text that ParseModule reads back to an equal module.
#ifndef PJRT_IR_PRINTER_H_
#define PJRT_IR_PRINTER_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

struct PrintOptions {
  bool generic = false;    // every op in the generic form; the module itself stays `module {`
  bool locations = false;  // keep `loc(...)`
  // Dense constants of more elements than this print as `dense_resource<__elided__>`, which no
  // parser turns back into data. -1: never.
  int64_t elide_constants_above = -1;
};

// The text has the names %0, %1, ... and %arg0, %arg1, ... whatever the program was parsed from.
// Every module that a parser has made, or that a verifier accepts, can be printed; values from
// nowhere come as %unknown.
std::string PrintModule(const Module& module, const PrintOptions& options = {});
// One op, its regions included; operands are named as far as they are known inside it, `%arg` and
// numbers otherwise.
std::string PrintOp(const Op& op, const PrintOptions& options = {});

}  // namespace pjrt::ir

#endif  // PJRT_IR_PRINTER_H_
