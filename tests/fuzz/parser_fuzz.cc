// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a program: the parser gives a module or an error. A module is then checked and
// printed, and what is printed must parse again, to an equal module.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/printer.h"
#include "pjrt/ir/verifier.h"

namespace {

void Require(bool condition, const char* what, absl::string_view detail) {
  if (condition) return;
  std::fprintf(stderr, "%s\n%.*s\n", what, static_cast<int>(detail.size()), detail.data());
  std::abort();
}

void Check(absl::string_view text) {
  using namespace pjrt::ir;
  ParseOptions options;
  options.max_constant_bytes = size_t{1} << 24;
  const auto module = ParseModule(text, options);
  if (!module.ok()) {
    Require(absl::StartsWith(module.status().message(), "[PJRT-P"), "an error without an id",
            module.status().message());
    return;
  }
  VerifyModule(**module).IgnoreError();
  for (const bool generic : {false, true}) {
    PrintOptions print;
    print.generic = generic;
    print.locations = true;
    const std::string printed = PrintModule(**module, print);
    const auto again = ParseModule(printed);
    Require(again.ok(), "what is printed does not parse",
            again.ok() ? "" : again.status().message());
    Require(Equal(**module, **again), "what is printed is another module", printed);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // In a buffer of its exact size, so that a read behind the end is found.
  const auto text = std::make_unique<char[]>(size);
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(data[i]);
  for (const pjrt::ir::Chunk& chunk : pjrt::ir::SplitChunks({text.get(), size})) Check(chunk.text);
  return 0;
}
