// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/text_index.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace pjrt::ir {

TextIndex::TextIndex(absl::string_view text) {
  const Lexer lexer(text);
  const char* const end = lexer.end();
  const char* line_start = text.data();
  uint32_t line = 1;
  std::vector<size_t> open;  // braces_ that wait for their end
  for (const char* p = text.data(); p != end;) {
    switch (*p) {
      case '\n':
        ++p;
        ++line;
        line_start = p;
        break;
      case '"': {
        const char* after = lexer.SkipString(p);
        p = after == nullptr ? p + 1 : after;
        break;
      }
      case '/':
        if (end - p >= 2 && p[1] == '/') {
          const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
          p = newline == nullptr ? end : static_cast<const char*>(newline);
        } else {
          ++p;
        }
        break;
      case '{':
        if (open.empty() && end - p >= 3 && p[1] == '-' && p[2] == '#') {
          resources_ = p;
          return;  // nothing that matters follows
        }
        open.push_back(braces_.size());
        braces_.push_back({p, {nullptr, nullptr, 0}});
        ++p;
        break;
      case '}':
        if (!open.empty()) {
          braces_[open.back()].close = {p, line_start, line};
          open.pop_back();
        }
        ++p;
        break;
      case '#':
      case '!': {
        const char* name = p++;
        if (!open.empty()) break;
        while (p != end && IsBareChar(*p) && *p != '.') ++p;
        const char* equal = lexer.SkipBlanks(p);
        if (p - name > 1 && equal != end && *equal == '=') {
          const absl::string_view alias(name, static_cast<size_t>(p - name));
          if (aliases_.try_emplace(alias, equal + 1).second)
            definitions_.push_back({alias, equal + 1});
        }
        break;
      }
      default:
        ++p;
    }
  }
}

const Lexer::Position* TextIndex::ClosingBrace(const char* open) const {
  const auto it = std::lower_bound(braces_.begin(), braces_.end(), open,
                                   [](const Braces& b, const char* p) { return b.open < p; });
  if (it == braces_.end() || it->open != open || it->close.at == nullptr) return nullptr;
  return &it->close;
}

const char* TextIndex::AliasDefinition(absl::string_view name) const {
  const auto it = aliases_.find(name);
  return it == aliases_.end() ? nullptr : it->second;
}

}  // namespace pjrt::ir
