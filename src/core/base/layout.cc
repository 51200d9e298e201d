// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/layout.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/core/base/error.h"
#include "src/core/base/layout_parser.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/text_scanner.h"

namespace pjrt {
namespace {

// True when `order` lists each of 0 .. size-1 once.
bool IsPermutation(absl::Span<const int64_t> order) {
  const int64_t size = static_cast<int64_t>(order.size());
  absl::InlinedVector<bool, 16> seen(order.size(), false);
  for (const int64_t dimension : order) {
    if (dimension < 0 || dimension >= size || seen[dimension]) return false;
    seen[dimension] = true;
  }
  return true;
}

// Reads `(N)`.
std::optional<int64_t> ConsumeParenthesized(TextScanner& scanner) {
  if (!scanner.Consume('(')) return std::nullopt;
  const std::optional<int64_t> value = scanner.ConsumeInteger();
  if (!value.has_value() || *value < 0 || !scanner.Consume(')')) return std::nullopt;
  return value;
}

// Reads `(8,128)`, where a size may be `*`.
std::optional<Tile> ConsumeTile(TextScanner& scanner) {
  DimensionVector sizes;
  if (!scanner.Consume('(')) return std::nullopt;
  if (!scanner.Consume(')')) {
    do {
      if (scanner.Consume('*')) {
        sizes.push_back(Tile::kCombineDimension);
        continue;
      }
      const std::optional<int64_t> size = scanner.ConsumeInteger();
      if (!size.has_value() || *size <= 0) return std::nullopt;
      sizes.push_back(*size);
    } while (scanner.Consume(','));
    if (!scanner.Consume(')')) return std::nullopt;
  }
  return Tile(sizes);
}

}  // namespace

std::string Tile::ToString() const {
  return absl::StrCat("(",
                      absl::StrJoin(dimensions_, ",",
                                    [](std::string* out, int64_t size) {
                                      if (size == kCombineDimension) {
                                        out->append("*");
                                      } else {
                                        absl::StrAppend(out, size);
                                      }
                                    }),
                      ")");
}

bool operator==(const Layout& a, const Layout& b) {
  return a.minor_to_major_ == b.minor_to_major_ && a.tiles_ == b.tiles_ &&
         a.element_size_in_bits_ == b.element_size_in_bits_ && a.memory_space_ == b.memory_space_ &&
         a.dynamic_shape_metadata_prefix_bytes_ == b.dynamic_shape_metadata_prefix_bytes_ &&
         a.tail_padding_alignment_in_elements_ == b.tail_padding_alignment_in_elements_;
}

std::string Layout::ToString() const {
  std::string properties;
  if (!tiles_.empty()) {
    properties += "T";
    for (const Tile& tile : tiles_) properties += tile.ToString();
  }
  const auto add = [&properties](absl::string_view letter, int64_t value, int64_t usual) {
    if (value != usual) absl::StrAppend(&properties, letter, "(", value, ")");
  };
  add("L", tail_padding_alignment_in_elements_, 1);
  add("E", element_size_in_bits_, 0);
  add("S", memory_space_, kDefaultMemorySpace);
  add("M", dynamic_shape_metadata_prefix_bytes_, 0);
  return absl::StrCat("{", absl::StrJoin(minor_to_major_, ","), properties.empty() ? "" : ":",
                      properties, "}");
}

absl::StatusOr<Layout> ParseLayout(TextScanner& scanner, absl::string_view id,
                                   absl::string_view what) {
  Layout layout;
  if (!scanner.Consume('{')) return scanner.Error(id, what, "\"{\"");
  if (scanner.Peek() != '}' && scanner.Peek() != ':') {
    do {
      const std::optional<int64_t> dimension = scanner.ConsumeInteger();
      if (!dimension.has_value()) return scanner.Error(id, what, "a dimension number");
      layout.mutable_minor_to_major()->push_back(*dimension);
    } while (scanner.Consume(','));
  }
  if (!IsPermutation(layout.minor_to_major())) {
    return scanner.Error(id, what,
                         absl::StrCat("each of 0 to ", layout.minor_to_major().size() - 1,
                                      " once as dimension numbers"));
  }
  if (scanner.Consume(':')) {
    while (scanner.Peek() != '}') {
      std::optional<int64_t> value;
      if (scanner.Consume('T')) {
        do {
          std::optional<Tile> tile = ConsumeTile(scanner);
          if (!tile.has_value()) return scanner.Error(id, what, "a tile such as (8,128)");
          layout.mutable_tiles()->push_back(*std::move(tile));
        } while (scanner.Peek() == '(');
        continue;
      }
      const char letter = scanner.Peek();
      if (letter == 'L' || letter == 'E' || letter == 'S' || letter == 'M') {
        scanner.Consume(letter);
        value = ConsumeParenthesized(scanner);
        if (!value.has_value()) return scanner.Error(id, what, "a number in parentheses");
      }
      switch (letter) {
        case 'L':
          layout.set_tail_padding_alignment_in_elements(*value);
          break;
        case 'E':
          layout.set_element_size_in_bits(*value);
          break;
        case 'S':
          layout.set_memory_space(*value);
          break;
        case 'M':
          layout.set_dynamic_shape_metadata_prefix_bytes(*value);
          break;
        default:
          return scanner.Error(id, what, "one of T, L, E, S, M or \"}\"");
      }
    }
  }
  if (!scanner.Consume('}')) return scanner.Error(id, what, "\",\", \":\" or \"}\"");
  return layout;
}

absl::StatusOr<Layout> Layout::Parse(absl::string_view text) {
  TextScanner scanner(text);
  PJRT_ASSIGN_OR_RETURN(Layout layout, ParseLayout(scanner, "PJRT-B002", "layout"));
  if (!scanner.AtEnd()) return scanner.Error("PJRT-B002", "layout", "nothing more");
  return layout;
}

Layout MakeDescendingLayout(int64_t rank) {
  Layout layout;
  for (int64_t i = rank - 1; i >= 0; --i) layout.mutable_minor_to_major()->push_back(i);
  return layout;
}

Layout MakeAscendingLayout(int64_t rank) {
  Layout layout;
  for (int64_t i = 0; i < rank; ++i) layout.mutable_minor_to_major()->push_back(i);
  return layout;
}

Layout MakeLayoutFromMajorToMinor(absl::Span<const int64_t> major_to_minor) {
  Layout layout;
  layout.mutable_minor_to_major()->assign(major_to_minor.rbegin(), major_to_minor.rend());
  return layout;
}

bool IsMonotonicWithDim0Major(const Layout& layout) {
  int64_t expected = static_cast<int64_t>(layout.minor_to_major().size());
  for (const int64_t dimension : layout.minor_to_major()) {
    if (dimension != --expected) return false;
  }
  return true;
}

bool IsMonotonicWithDim0Minor(const Layout& layout) {
  int64_t expected = 0;
  for (const int64_t dimension : layout.minor_to_major()) {
    if (dimension != expected++) return false;
  }
  return true;
}

absl::Status ValidateLayout(const Layout& layout, int64_t rank) {
  const auto error = [&layout](const auto&... why) {
    return InvalidArgument("PJRT-B003", "layout ", Shorten(layout.ToString()), ": ", why...);
  };
  const int64_t listed = static_cast<int64_t>(layout.minor_to_major().size());
  if (listed != rank) return error("lists ", listed, " dimensions; the shape has ", rank);
  if (!IsPermutation(layout.minor_to_major())) {
    return error("must list each dimension from 0 to ", rank - 1, " once");
  }
  for (const Tile& tile : layout.tiles()) {
    for (const int64_t size : tile.dimensions()) {
      if (size <= 0 && size != Tile::kCombineDimension) {
        return error("has a tile of size ", size, "; expected a positive size");
      }
    }
  }
  if (layout.element_size_in_bits() < 0) return error("has a negative element size");
  if (layout.memory_space() < 0) return error("has a negative memory space");
  if (layout.dynamic_shape_metadata_prefix_bytes() < 0) return error("has a negative prefix size");
  if (layout.tail_padding_alignment_in_elements() < 1) {
    return error("has a tail padding alignment below 1");
  }
  return absl::OkStatus();
}

}  // namespace pjrt
