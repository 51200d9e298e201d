// SPDX-License-Identifier: Apache-2.0
//
// Where things stand in a text that the parser needs before it gets there: the definitions of
// aliases, the end of each pair of braces, the resource section.
#ifndef PJRT_CORE_IR_TEXT_INDEX_H_
#define PJRT_CORE_IR_TEXT_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "src/core/ir/lexer.h"

namespace pjrt::ir {

// One pass over the characters, which knows strings and comments and nothing else.
class TextIndex {
 public:
  explicit TextIndex(absl::string_view text);

  // The place of the `}` that closes the `{` at `open`, ready to be the next token; null when
  // nothing closes it.
  const Lexer::Position* ClosingBrace(const char* open) const;

  // The character behind the `=` of `#name = ...` or `!name = ...`, outside of all braces; `name`
  // includes the # or !. Null when there is no definition.
  const char* AliasDefinition(absl::string_view name) const;

  // All of them in the order of the text.
  struct Definition {
    absl::string_view name;
    const char* value;
  };
  const std::vector<Definition>& definitions() const { return definitions_; }

  // The `{-#` outside of all braces; null without one.
  const char* resources() const { return resources_; }

 private:
  struct Braces {
    const char* open;
    Lexer::Position close;  // `at` is null when nothing closes them
  };
  std::vector<Braces> braces_;  // by `open`
  std::vector<Definition> definitions_;
  absl::flat_hash_map<absl::string_view, const char*> aliases_;
  const char* resources_ = nullptr;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_TEXT_INDEX_H_
