// SPDX-License-Identifier: Apache-2.0
//
// Dense constants. Their type stands behind their elements, so the elements are passed by first and
// read with a loop of their own once the type is known.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/element.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {

// Reads the numbers between `dense<` and `>`.
class ElementReader {
 public:
  ElementReader(Parser* parser, const char* begin, const char* end, Type type)
      : parser_(*parser),
        p_(begin),
        end_(end),
        dims_(type.dims()),
        element_(type.element_type()),
        part_(element_.Is(TypeKind::kComplex) ? element_.element_type() : element_),
        integer_(part_.Is(TypeKind::kQuantized) ? part_.quantized().storage_type : part_),
        width_(ElementByteWidth(part_)),
        is_float_(part_.Is(TypeKind::kFloat)) {}

  // One number for all elements, or lists in lists as the dimensions say.
  bool Read() {
    Skip();
    if (p_ == end_ || *p_ != '[') return ReadElement() && AtEnd();
    Int64List counts;  // of items in each list that is open
    for (;;) {
      // Here an item begins.
      Skip();
      if (p_ != end_ && *p_ == '[') {
        const char* const at = p_;
        if (counts.size() == dims_.size()) {
          return Fail(ParseError::kElements, at,
                      "lists are nested deeper than the tensor has dimensions",
                      absl::StrCat(dims_.size(), " levels"));
        }
        ++p_;
        Skip();
        counts.push_back(0);
        if (p_ != end_ && *p_ == ']') {
          if (dims_[counts.size() - 1] != 0) return WrongCount(0, counts.size() - 1);
        } else {
          continue;
        }
      } else {
        if (counts.size() < dims_.size()) {
          return Fail(ParseError::kElements, p_,
                      "lists are nested less deep than the tensor has dimensions",
                      absl::StrCat("'[' at level ", counts.size() + 1, " of ", dims_.size()));
        }
        if (!ReadElement() || !Count(&counts)) return false;
      }
      // Behind an item: lists end until a comma comes.
      for (;;) {
        Skip();
        if (p_ != end_ && *p_ == ',') {
          ++p_;
          break;
        }
        if (p_ == end_ || *p_ != ']')
          return Fail(ParseError::kElements, p_, "malformed elements", "',' or ']'");
        const size_t level = counts.size() - 1;
        if (counts[level] != dims_[level]) return WrongCount(counts[level], level);
        ++p_;
        counts.pop_back();
        if (counts.empty()) return AtEnd();
        if (!Count(&counts)) return false;
      }
    }
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void Skip() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r')) ++p_;
    if (p_ != end_ && *p_ == '/') p_ = std::min(parser_.lexer_.SkipBlanks(p_), end_);
  }

  bool Fail(ParseError error, const char* at, absl::string_view message,
            absl::string_view expected) {
    return parser_.Fail(error, at, message, expected, Parser::Quoted(at, WordEnd(at)));
  }

  const char* WordEnd(const char* at) const {
    const char* p = at;
    while (p != end_ && (IsSuffixChar(*p) || *p == '+')) ++p;
    return p == at && p != end_ ? p + 1 : p;
  }

  bool WrongCount(int64_t count, size_t level) {
    return parser_.Fail(ParseError::kElements, p_, "a list does not fit the tensor",
                        absl::StrCat(dims_[level], " items for dimension ", level),
                        count > dims_[level] ? "more" : absl::StrCat(count));
  }

  bool Count(Int64List* counts) {
    const size_t level = counts->size() - 1;
    if (++counts->back() > dims_[level]) return WrongCount(counts->back(), level);
    return true;
  }

  bool AtEnd() {
    Skip();
    return p_ == end_ ||
           Fail(ParseError::kElements, p_, "malformed elements", "'>' behind the elements");
  }

  bool ReadElement() {
    if (!element_.Is(TypeKind::kComplex)) return ReadNumber();
    const auto expect = [&](char c) {
      Skip();
      if (p_ == end_ || *p_ != c) {
        return Fail(ParseError::kElements, p_, "malformed complex number",
                    Parser::Quoted(absl::string_view(&c, 1)));
      }
      ++p_;
      Skip();
      return true;
    };
    return expect('(') && ReadNumber() && expect(',') && ReadNumber() && expect(')');
  }

  bool Word(absl::string_view word) {
    const absl::string_view rest(p_, static_cast<size_t>(end_ - p_));
    if (!absl::StartsWith(rest, word) ||
        (rest.size() > word.size() && IsBareChar(rest[word.size()])))
      return false;
    p_ += word.size();
    return true;
  }

  bool ReadNumber() {
    const char* const at = p_;
    Parser::Integer integer;
    integer.at = at;
    if (p_ != end_ && *p_ == '-') {
      integer.negative = true;
      ++p_;
      Skip();
    }
    const char* const digits = p_;
    if (p_ == end_ || *p_ < '0' || *p_ > '9') {
      if (!is_float_ && !integer.negative) {
        if (Word("true")) return WriteInt(1);
        if (Word("false")) return WriteInt(0);
      }
      return Fail(ParseError::kElements, p_, "malformed element",
                  is_float_ ? "a number such as 1.0" : "an integer");
    }
    // The extent of the token, as the lexer sees it.
    if (*p_ == '0' && end_ - p_ > 2 && p_[1] == 'x') {
      p_ += 2;
      while (p_ != end_ && HexValue(*p_) >= 0) ++p_;
    } else {
      while (p_ != end_ && *p_ >= '0' && *p_ <= '9') ++p_;
      if (p_ != end_ && *p_ == '.') {
        do ++p_;
        while (p_ != end_ && *p_ >= '0' && *p_ <= '9');
        if (p_ != end_ && (*p_ == 'e' || *p_ == 'E')) {
          ++p_;
          if (p_ != end_ && (*p_ == '+' || *p_ == '-')) ++p_;
          while (p_ != end_ && *p_ >= '0' && *p_ <= '9') ++p_;
        }
        if (!is_float_)
          return Fail(ParseError::kNumber, at, "a floating-point number is no integer",
                      "an integer");
        double value = 0;
        if (!ReadDouble(digits, p_, &value)) {
          return Fail(ParseError::kElements, at, "malformed element", "a number such as 1.0e-5");
        }
        return WriteFloat(integer.negative ? -value : value);
      }
    }
    if (!parser_.ReadInteger({TokenKind::kInteger, digits, p_}, &integer)) return false;
    integer.at = at;
    if (is_float_) {
      if (!integer.hex) {
        return Fail(ParseError::kNumber, at, "an integer has a float type",
                    "a number with a dot, or hexadecimal bits");
      }
      double checked;
      if (!parser_.FloatFromBits(integer, part_, &checked)) return false;
      char bits[8];  // of a NaN they say more than the double does
      StoreLittleEndian(integer.magnitude, width_, bits);
      bytes_.append(bits, width_);
      return true;
    }
    int64_t value;
    return parser_.IntegerFits(integer, integer_, &value) && WriteInt(value);
  }

  bool WriteInt(int64_t value) {
    char bytes[8];
    EncodeInt(part_, value, bytes);
    bytes_.append(bytes, width_);
    return true;
  }

  bool WriteFloat(double value) {
    char bytes[8];
    EncodeFloat(part_, value, bytes);
    bytes_.append(bytes, width_);
    return true;
  }

  Parser& parser_;
  const char* p_;
  const char* const end_;
  const absl::Span<const int64_t> dims_;
  const Type element_;
  const Type part_;     // of a complex number, else the element
  const Type integer_;  // of a quantized element, else the part
  const size_t width_;
  const bool is_float_;
  std::string bytes_;
};

bool Parser::CountConstantBytes(const char* at, size_t bytes) {
  constant_bytes_ += bytes;
  if (constant_bytes_ <= options_.max_constant_bytes) return true;
  return Fail(ParseError::kTooLarge, at, "the constants are too large",
              absl::StrCat("at most ", options_.max_constant_bytes, " bytes in all"), "more");
}

bool Parser::CheckDenseType(const char* at, Type type) {
  if (!type.IsTensor() && !type.Is(TypeKind::kVector)) {
    return Fail(ParseError::kElements, at, "malformed type of a constant", "a tensor type",
                Quoted(type.ToString()));
  }
  for (int64_t dim : type.dims()) {
    if (dim == kDynamic) {
      return Fail(ParseError::kElements, at, "malformed type of a constant", "static dimensions",
                  Quoted(type.ToString()));
    }
  }
  return true;
}

// From `dense` on.
bool Parser::ParseDense(Attribute* attribute) {
  Next();
  if (!Is(TokenKind::kLess)) return Unexpected("'<' behind 'dense'");
  const char* const begin = tok_.end;
  const char* p = begin;
  const char* const end = lexer_.end();
  while (p != end && *p != '>') {
    if (*p == '"') {
      const char* after = lexer_.SkipString(p);
      if (after == nullptr)
        return Fail(ParseError::kLexical, p, "a string does not end on its line", "'\"'", "");
      p = after;
    } else if (*p == '/') {
      const char* after = lexer_.SkipBlanks(p);
      p = after == p ? p + 1 : after;
    } else {
      ++p;
    }
  }
  if (p == end) {
    return Fail(ParseError::kUnbalanced, tok_.begin, "a constant is never closed", "'>'",
                "the end of the text");
  }
  const char* const close = p;
  lexer_.Advance(close + 1);
  Next();
  if (!Expect(TokenKind::kColon, "and the type of the constant")) return false;
  const char* const type_at = tok_.begin;
  Type type;
  return ParseType(&type) && CheckDenseType(type_at, type) &&
         ParseDenseBody(begin, close, type, attribute);
}

bool Parser::ParseDenseBody(const char* begin, const char* end, Type type, Attribute* attribute) {
  begin = std::min(lexer_.SkipBlanks(begin), end);
  const Type element = type.element_type();
  if (ElementByteWidth(element) == 0) return ParseStringElements(begin, end, type, attribute);
  if (begin == end) {
    if (type.element_count() != 0) {
      return Fail(ParseError::kElements, begin, "a constant has no elements",
                  absl::StrCat("elements for ", type.ToString()), "");
    }
    *attribute = context_->Dense(type, {});
    return true;
  }
  if (*begin == '"') {
    const char* after = lexer_.SkipString(begin);
    if (std::min(lexer_.SkipBlanks(after), end) != end) {
      return Fail(ParseError::kElements, after, "malformed elements", "'>' behind the string", "");
    }
    return ParseBlob(begin, absl::string_view(begin, static_cast<size_t>(after - begin)), type,
                     attribute);
  }
  ElementReader reader(this, begin, end, type);
  if (!reader.Read() || !CountConstantBytes(begin, reader.bytes().size())) return false;
  // A splat of nothing says no more than nothing.
  *attribute =
      context_->Dense(type, type.element_count() == 0 ? absl::Span<const char>() : reader.bytes());
  return true;
}

// A string with its quotes: "0x" and bytes.
bool Parser::ParseBlob(const char* at, absl::string_view quoted, Type type, Attribute* attribute) {
  const absl::string_view hex = quoted.substr(1, quoted.size() - 2);
  if (!absl::StartsWith(hex, "0x") || hex.size() % 2 != 0) {
    return Fail(ParseError::kElements, at, "malformed bytes of a constant",
                "0x and an even number of hexadecimal digits", Quoted(hex));
  }
  if (!CountConstantBytes(at, hex.size() / 2 - 1)) return false;
  std::string bytes(hex.size() / 2 - 1, '\0');
  const char* p = hex.data() + 2;
  for (char& byte : bytes) {
    const int high = HexValue(*p++), low = HexValue(*p++);
    if ((high | low) < 0) {
      return Fail(ParseError::kElements, p - 2, "malformed bytes of a constant",
                  "hexadecimal digits", Quoted(p - 2, p));
    }
    byte = static_cast<char>(high * 16 + low);
  }
  return MakeDenseFromRaw(at, bytes, type, attribute);
}

bool Parser::MakeDenseFromRaw(const char* at, absl::string_view raw, Type type,
                              Attribute* attribute) {
  const Type element = type.element_type();
  const size_t width = ElementByteWidth(element);
  const auto count = static_cast<uint64_t>(type.element_count());
  const bool is_bool = element.Is(TypeKind::kInteger) && element.bit_width() == 1;
  std::string bytes(raw.data(), raw.size());
  if (count == 0 && (raw.empty() || raw.size() == width)) {
    bytes.clear();
  } else if (is_bool && raw.size() == 1 && (raw[0] == '\xff' || count > 8)) {
    bytes[0] = raw[0] == 0 ? 0 : 1;             // a splat
  } else if (is_bool && raw.size() == count) {  // MLIR of late 2025 and after: a byte each
    for (char& byte : bytes) byte = byte == 0 ? 0 : 1;
  } else if (is_bool && raw.size() == count / 8 + (count % 8 != 0 ? 1 : 0)) {
    if (!CountConstantBytes(at, count)) return false;
    bytes.resize(count);
    for (size_t i = 0; i < count; ++i) {
      bytes[i] = static_cast<char>(static_cast<unsigned char>(raw[i / 8]) >> (i % 8) & 1);
    }
  } else if (is_bool || raw.size() % width != 0 ||
             (raw.size() != width && raw.size() / width != count)) {
    return Fail(
        ParseError::kElements, at, "the bytes do not fit the type",
        is_bool ? absl::StrCat(count / 8 + (count % 8 != 0 ? 1 : 0), " bytes of packed bits or ",
                               count, " bytes for ", type.ToString())
                : absl::StrCat(count, " elements of ", width, " bytes for ", type.ToString()),
        absl::StrCat(raw.size(), " bytes"));
  } else if (element.Is(TypeKind::kInteger) || element.Is(TypeKind::kQuantized)) {
    for (size_t i = 0; i < bytes.size(); i += width) {  // bits above the width say nothing
      EncodeInt(element, static_cast<int64_t>(LoadLittleEndian(&bytes[i], width)), &bytes[i]);
    }
  } else if (element.Is(TypeKind::kFloat) && element.bit_width() < 8) {
    for (char& byte : bytes) byte = static_cast<char>(byte & ((1 << element.bit_width()) - 1));
  }
  *attribute = context_->Dense(type, bytes);
  return true;
}

// "one" or ["a", "b"], lists in lists for more dimensions.
bool Parser::ParseStringElements(const char* begin, const char* end, Type type,
                                 Attribute* attribute) {
  if (!type.element_type().Is(TypeKind::kOpaque)) {
    return Fail(ParseError::kElements, begin, "no constants of this type",
                "a type with a known representation", Quoted(type.ToString()));
  }
  std::vector<Attribute> strings;
  Int64List counts;
  const absl::Span<const int64_t> dims = type.dims();
  const char* p = begin;
  const auto skip = [&] { p = std::min(lexer_.SkipBlanks(p), end); };
  const auto malformed = [&](absl::string_view expected) {
    return Fail(ParseError::kElements, p, "malformed strings of a constant", expected,
                p == end ? "'>'" : Quoted(p, p + 1));
  };
  bool item = begin != end;
  while (item) {
    skip();
    if (p != end && *p == '[') {
      if (counts.size() == dims.size())
        return malformed("a string, since the tensor has no more dimensions");
      counts.push_back(0);
      ++p;
      skip();
      if (p == end || *p != ']') continue;
    } else if (p != end && *p == '"') {
      if (!counts.empty() && counts.size() < dims.size()) return malformed("'['");
      const char* after = lexer_.SkipString(p);
      if (!Unescape(absl::string_view(p, static_cast<size_t>(after - p)), &scratch_)) return false;
      strings.push_back(context_->String(scratch_));
      p = after;
      if (!counts.empty()) ++counts.back();
    } else {
      return malformed("a string");
    }
    item = false;
    while (!counts.empty() && !item) {
      skip();
      if (p != end && *p == ',') {
        item = true;
      } else if (p == end || *p != ']') {
        return malformed("',' or ']'");
      } else {
        if (counts.back() != dims[counts.size() - 1]) {
          return malformed(
              absl::StrCat(dims[counts.size() - 1], " items for dimension ", counts.size() - 1));
        }
        counts.pop_back();
        if (!counts.empty()) ++counts.back();
      }
      ++p;
    }
  }
  skip();
  if (p != end) return malformed("'>' behind the strings");
  if (strings.size() != 1 && static_cast<uint64_t>(type.element_count()) != strings.size()) {
    return malformed(absl::StrCat(type.element_count(), " strings"));
  }
  *attribute = context_->DenseStrings(type, strings);
  return true;
}

}  // namespace pjrt::ir
