// SPDX-License-Identifier: Apache-2.0
//
// Numbers, strings and lists of integers.
#include <cstdint>
#include <limits>
#include <system_error>

#include "absl/strings/charconv.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/element.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {

bool ReadDouble(const char* begin, const char* end, double* value) {
  const absl::from_chars_result result = absl::from_chars(begin, end, *value);
  if (result.ec == std::errc::result_out_of_range && *value > 1) {
    *value = std::numeric_limits<double>::infinity();
  }
  return result.ptr == end;
}

bool Parser::ReadInteger(const Token& token, Integer* integer) {
  absl::string_view digits = token.text();
  integer->at = token.begin;
  integer->magnitude = 0;
  integer->hex = digits.size() > 2 && digits[1] == 'x';
  uint64_t base = 10;
  if (integer->hex) {
    digits.remove_prefix(2);
    base = 16;
  }
  for (char c : digits) {
    const uint64_t digit = static_cast<uint64_t>(HexValue(c));
    if (integer->magnitude > (std::numeric_limits<uint64_t>::max() - digit) / base) {
      return Fail(ParseError::kNumber, token.begin, "an integer is too large", "at most 64 bits",
                  Quoted(token.text()));
    }
    integer->magnitude = integer->magnitude * base + digit;
  }
  return true;
}

bool Parser::ParseInteger(Integer* integer, absl::string_view what) {
  integer->negative = Accept(TokenKind::kMinus);
  if (!Is(TokenKind::kInteger)) return Unexpected(what);
  if (!ReadInteger(tok_, integer)) return false;
  Next();
  return true;
}

bool Parser::IntegerFits(const Integer& integer, Type type, int64_t* bits) {
  const int width = type.Is(TypeKind::kIndex) ? 64 : type.bit_width();
  const bool is_unsigned =
      type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kUnsigned;
  const bool is_signed = type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kSigned;
  // What has a sign holds -2^(n-1) to 2^(n-1)-1; what is signless takes the unsigned numbers as
  // well.
  const uint64_t highest =
      is_signed ? (uint64_t{1} << (width - 1)) - 1 : ~uint64_t{0} >> (64 - width);
  const uint64_t lowest = is_unsigned ? 0 : uint64_t{1} << (width - 1);
  if (integer.magnitude > (integer.negative ? lowest : highest)) {
    return Fail(
        ParseError::kNumber, integer.at, "an integer does not fit its type",
        absl::StrCat(lowest == 0 ? "" : "-", lowest, " to ", highest, " for ", type.ToString()),
        absl::StrCat(integer.negative ? "-" : "", integer.magnitude));
  }
  const uint64_t value = integer.negative ? ~integer.magnitude + 1 : integer.magnitude;
  *bits = WrapInt(type, static_cast<int64_t>(value));
  return true;
}

bool Parser::FloatFromBits(const Integer& integer, Type type, double* value) {
  if (integer.negative) {
    return Fail(ParseError::kNumber, integer.at, "a bit pattern has a sign of its own",
                "no '-' before it", "");
  }
  if (!IsCodedFloat(type)) {
    return Fail(ParseError::kNumber, integer.at, "no bit patterns of this type", "a decimal number",
                Quoted(type.ToString()));
  }
  if (type.bit_width() < 64 && integer.magnitude >> type.bit_width() != 0) {
    return Fail(ParseError::kNumber, integer.at, "a bit pattern does not fit its type",
                absl::StrCat("at most ", type.bit_width(), " bits for ", type.ToString()),
                absl::StrCat("0x", absl::Hex(integer.magnitude)));
  }
  char bytes[8];
  StoreLittleEndian(integer.magnitude, 8, bytes);
  *value = DecodeFloat(type, bytes);
  return true;
}

bool Parser::ParseInt64(int64_t* value, absl::string_view what) {
  Integer integer;
  return ParseInteger(&integer, what) && IntegerFits(integer, i64_, value);
}

bool Parser::ParsePlainInt(int64_t* value, absl::string_view what) {
  if (!ParseInt64(value, what)) return false;
  Type type;
  return !Accept(TokenKind::kColon) || ParseType(&type);
}

bool Parser::ParseDouble(double* value, absl::string_view what) {
  const bool negative = Accept(TokenKind::kMinus);
  if (!Is(TokenKind::kFloat)) return Unexpected(what);
  ReadDouble(tok_.begin, tok_.end, value);
  if (negative) *value = -*value;
  Next();
  return true;
}

bool Parser::ParseIntList(Int64List* values, bool words) {
  return ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "a list of integers", [&] {
    values->emplace_back();
    if (words && (IsWord("true") || IsWord("false"))) {
      values->back() = IsWord("true") ? 1 : 0;
      Next();
      return true;
    }
    return ParseInt64(&values->back(), "an integer");
  });
}

bool Parser::Unescape(absl::string_view quoted, std::string* bytes) {
  const absl::string_view body = quoted.substr(1, quoted.size() - 2);
  bytes->clear();
  bytes->reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      *bytes += body[i];
      continue;
    }
    const char c = body[++i];  // the lexer never ends a string behind a backslash
    if (c == '"' || c == '\\') {
      *bytes += c;
    } else if (c == 'n') {
      *bytes += '\n';
    } else if (c == 't') {
      *bytes += '\t';
    } else if (i + 1 < body.size() && HexValue(c) >= 0 && HexValue(body[i + 1]) >= 0) {
      *bytes += static_cast<char>(HexValue(c) * 16 + HexValue(body[i + 1]));
      ++i;
    } else {
      return Fail(ParseError::kLexical, body.data() + i - 1, "unknown escape in a string",
                  "\\\", \\\\, \\n, \\t or two hexadecimal digits", Quoted(body.substr(i - 1, 2)));
    }
  }
  return true;
}

bool Parser::ParseStringToken(std::string* bytes) {
  if (!Is(TokenKind::kString)) return Unexpected("a string");
  if (!Unescape(tok_.text(), bytes)) return false;
  Next();
  return true;
}

}  // namespace pjrt::ir
