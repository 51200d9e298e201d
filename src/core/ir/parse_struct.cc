// SPDX-License-Identifier: Apache-2.0
//
// StableHLO's and CHLO's attributes with a fixed set of values (#stablehlo<precision HIGH>) or of
// fields
// (#stablehlo.gather<...>). Whatever the spelling, a struct ends up with all of its fields.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

std::string FieldNames(absl::Span<const AttrSpec> fields) {
  return absl::StrJoin(fields, ", ",
                       [](std::string* out, const AttrSpec& f) { absl::StrAppend(out, f.name); });
}

}  // namespace

// The bare name of a value, which it passes.
bool Parser::ParseEnumValue(absl::string_view enum_name, Attribute* attribute) {
  if (Is(TokenKind::kBareId)) {
    for (absl::string_view value : EnumValues(enum_name)) {
      if (value == tok_.text()) {
        *attribute = context_->Enum(enum_name, value);
        Next();
        return true;
      }
    }
  }
  std::string names;
  for (absl::string_view value : EnumValues(enum_name)) {
    if (!value.empty()) absl::StrAppend(&names, names.empty() ? "" : ", ", value);
  }
  return Fail(ParseError::kAttribute, tok_.begin, absl::StrCat("unknown value of ", enum_name),
              absl::StrCat("one of ", names), FoundToken());
}

bool Parser::ParseEnumBody(absl::string_view name, Attribute* attribute) {
  return ParseEnumValue(name, attribute) && Expect(TokenKind::kGreater, "to close the attribute");
}

Attribute Parser::DefaultField(const AttrSpec& field) {
  switch (field.type) {
    case AttrType::kI64:
      return context_->I64(0);
    case AttrType::kI64Array:
      return context_->I64Array({});
    case AttrType::kF64:
      return context_->Float(0.0, context_->Float("f64"));
    case AttrType::kBool:
      return context_->Bool(false);
    case AttrType::kEnum:
      return context_->Enum(field.detail, EnumValues(field.detail)[0]);
    default:
      return {};
  }
}

Attribute Parser::MakeStruct(absl::string_view name, absl::Span<const AttrSpec> fields,
                             const ParsedAttributes& given) {
  ParsedAttributes all = given;
  for (const AttrSpec& field : fields) {
    const bool present = std::any_of(given.begin(), given.end(),
                                     [&](const NamedAttribute& e) { return e.name == field.name; });
    if (present) continue;
    if (const Attribute value = DefaultField(field)) all.push_back({field.name, value});
  }
  return context_->Struct(name, all);
}

bool Parser::ParseField(const AttrSpec& field, Attribute* attribute) {
  switch (field.type) {
    case AttrType::kI64: {
      int64_t value;
      if (!ParsePlainInt(&value, "an integer")) return false;
      *attribute = context_->I64(value);
      return true;
    }
    case AttrType::kI64Array: {
      Int64List values;
      if (Is(TokenKind::kLSquare)) {
        if (!ParseIntList(&values)) return false;
      } else {
        const char* const at = tok_.begin;
        Attribute list;
        if (!IsWord("array") && !IsWord("dense"))
          return Unexpected("a list of integers such as [0, 1]");
        if (!ParseAttribute(&list)) return false;
        if (!GetIntList(list, &values)) {
          return Fail(ParseError::kAttribute, at, "malformed field",
                      "a list of integers such as [0, 1]", Quoted(at, tok_.begin));
        }
      }
      *attribute = context_->I64Array(values);
      return true;
    }
    case AttrType::kF64: {
      double value;
      if (!ParseDouble(&value, "a number such as 1.0e-5")) return false;
      if (Accept(TokenKind::kColon)) {
        Type type;
        if (!ParseType(&type)) return false;
      }
      *attribute = context_->Float(value, context_->Float("f64"));
      return true;
    }
    case AttrType::kBool:
      if (!IsWord("true") && !IsWord("false")) return Unexpected("'true' or 'false'");
      return ParseAttribute(attribute);
    case AttrType::kType:
      return ParseTypeAttribute(attribute);
    case AttrType::kEnum: {
      if (Is(TokenKind::kBareId)) return ParseEnumValue(field.detail, attribute);
      const char* const at = tok_.begin;
      if (!ParseAttribute(attribute)) return false;
      if (attribute->Is(AttrKind::kEnum) && attribute->name() == field.detail) return true;
      return Fail(ParseError::kAttribute, at, "malformed field",
                  absl::StrCat("a value of ", field.detail), Quoted(at, tok_.begin));
    }
    case AttrType::kString:
      if (!Is(TokenKind::kString)) return Unexpected("a string");
      return ParseAttribute(attribute);
    case AttrType::kArray:
      if (!Is(TokenKind::kLSquare)) return Unexpected("'['");
      return ParseArrayAttribute(attribute);
    default:
      // sub_axis_info is written (pre_size)size.
      if (Is(TokenKind::kLParen)) {
        const char* const begin = tok_.begin;
        int64_t pre_size, size;
        Next();
        if (!ParseInt64(&pre_size, "an integer") || !Expect(TokenKind::kRParen)) return false;
        const char* const end = tok_.end;
        if (!ParseInt64(&size, "an integer")) return false;
        *attribute = context_->Opaque(absl::string_view(begin, static_cast<size_t>(end - begin)));
        return true;
      }
      return ParseAttribute(attribute);
  }
}

bool Parser::ParseStructBody(absl::string_view name, const char* begin, Attribute* attribute) {
  return ReadStructBody(name, attribute) && Keeps(begin, "", CheckStruct(*attribute));
}

bool Parser::ReadStructBody(absl::string_view name, Attribute* attribute) {
  const absl::Span<const AttrSpec> fields = StructFields(name);
  ParsedAttributes given;
  if (name == "stablehlo.conv") {
    if (Is(TokenKind::kLSquare)) {
      if (!ParseConvDims(&given)) return false;
      *attribute = MakeStruct(name, fields, given);
      return Expect(TokenKind::kGreater, "to close the attribute");
    }
    if (!ExpectWord("raw", "or '[' and the first list of dimensions")) return false;
  }
  const char* const at = tok_.begin;
  if (!Is(TokenKind::kGreater)) {
    do {
      if (!given.empty() && Is(TokenKind::kGreater)) break;  // a comma may end the list
      const Token key = tok_;
      const AttrSpec* field = nullptr;
      if (Is(TokenKind::kBareId)) {
        for (const AttrSpec& f : fields) {
          if (f.name == key.text()) field = &f;
        }
      }
      if (field == nullptr) {
        return Fail(ParseError::kAttribute, key.begin, absl::StrCat("unknown field of ", name),
                    absl::StrCat("one of ", FieldNames(fields)), FoundToken());
      }
      for (const NamedAttribute& e : given) {
        if (e.name != field->name) continue;
        return Fail(ParseError::kDuplicateKey, key.begin,
                    absl::StrCat("a field of ", name, " is given twice"), "each field once",
                    Quoted(key.text()));
      }
      Next();
      Attribute value;
      if (!Expect(TokenKind::kEqual) || !ParseField(*field, &value)) return false;
      given.push_back({field->name, value});
    } while (Accept(TokenKind::kComma));
  }
  if (!Is(TokenKind::kGreater)) return Unexpected("',' or '>' in the attribute");
  for (const AttrSpec& field : fields) {
    const bool present = std::any_of(given.begin(), given.end(),
                                     [&](const NamedAttribute& e) { return e.name == field.name; });
    if (!present && !field.optional) {
      return Fail(ParseError::kAttribute, at, absl::StrCat("a field of ", name, " is missing"),
                  Quoted(field.name), "");
    }
  }
  Next();
  *attribute = MakeStruct(name, fields, given);
  return true;
}

// One of the three lists of a convolution: `[b, 0, 1, f]`. The letters' places go to `places`,
// those of 0, 1, ... to `spatial`.
bool Parser::ParseConvDimList(absl::string_view letters, int64_t places[2], Int64List* spatial) {
  const char* const list_at = tok_.begin;
  places[0] = places[1] = -1;
  int64_t place = 0;
  struct Spatial {
    int64_t number, place;
  };
  absl::InlinedVector<Spatial, 6> numbers;
  if (!ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "the dimensions", [&] {
        const Token token = tok_;
        const auto fail = [&](absl::string_view message) {
          return Fail(ParseError::kAttribute, token.begin, message,
                      absl::StrCat("'", letters.substr(0, 1), "', '", letters.substr(1),
                                   "' and the numbers of the spatial dimensions, each once"),
                      FoundToken());
        };
        if (Is(TokenKind::kBareId)) {
          const size_t which =
              token.text().size() == 1 ? letters.find(token.text()[0]) : absl::string_view::npos;
          if (which == absl::string_view::npos) return fail("unknown dimension");
          if (places[which] >= 0) return fail("a dimension is given twice");
          places[which] = place++;
          Next();
          return true;
        }
        int64_t number;
        if (!Is(TokenKind::kInteger)) return fail("unknown dimension");
        if (!ParseInt64(&number, "a dimension")) return false;
        numbers.push_back({number, place++});
        return true;
      })) {
    return false;
  }
  if (places[0] < 0 || places[1] < 0) {
    return Fail(ParseError::kAttribute, list_at, "a dimension is missing",
                Quoted(letters.substr(places[0] < 0 ? 0 : 1, 1)), "");
  }
  std::sort(numbers.begin(), numbers.end(),
            [](Spatial a, Spatial b) { return a.number < b.number; });
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i].number != static_cast<int64_t>(i)) {
      return Fail(ParseError::kAttribute, list_at, "the spatial dimensions have gaps or repeat",
                  absl::StrCat("0 to ", numbers.size() - 1, ", each once"),
                  absl::StrCat(numbers[i].number));
    }
    spatial->push_back(numbers[i].place);
  }
  return true;
}

// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
bool Parser::ParseConvDims(ParsedAttributes* entries) {
  const auto add = [&](absl::string_view first, absl::string_view second,
                       absl::string_view spatial_name, const int64_t places[2],
                       const Int64List& spatial) {
    entries->push_back({first, context_->I64(places[0])});
    entries->push_back({second, context_->I64(places[1])});
    entries->push_back({spatial_name, context_->I64Array(spatial)});
  };
  int64_t places[2];
  Int64List input, kernel, output;
  if (!ParseConvDimList("bf", places, &input)) return false;
  add("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", places,
      input);
  if (!ExpectWord("x", "and the dimensions of the kernel") ||
      !ParseConvDimList("io", places, &kernel))
    return false;
  add("kernel_input_feature_dimension", "kernel_output_feature_dimension",
      "kernel_spatial_dimensions", places, kernel);
  if (!Expect(TokenKind::kArrow, "and the dimensions of the output") ||
      !ParseConvDimList("bf", places, &output)) {
    return false;
  }
  add("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", places,
      output);
  return true;
}

}  // namespace pjrt::ir
