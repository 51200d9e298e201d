// SPDX-License-Identifier: Apache-2.0
//
// Types, attributes and their parts as MLIR text, appended to a string.
#ifndef PJRT_CORE_IR_TEXT_H_
#define PJRT_CORE_IR_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

struct TextOptions {
  // Dense constants of more elements than this lose their data: dense_resource<__elided__>. -1:
  // none does.
  int64_t elide_above = -1;
};

void AppendType(Type type, std::string* out);
void AppendAttribute(Attribute attr, const TextOptions& options, std::string* out);
// {a = 1 : i64, b}, of entries in the order given.
void AppendDict(absl::Span<const NamedAttribute> entries, const TextOptions& options,
                std::string* out);
// The <...> of a struct attribute, without its name.
void AppendStructBody(Attribute attr, const TextOptions& options, std::string* out);
// [b, 0, f]x[0, i, o]->[b, 0, f] for a stablehlo.conv attribute. False, with nothing appended, when
// its fields do not give each dimension one meaning.
bool AppendConvDimensions(Attribute attr, std::string* out);

// `T`, `(T, U)` or `()`: what stands behind an arrow.
void AppendTypesBehindArrow(absl::Span<const Type> types, std::string* out);

// "..." with \", \\ and \HH for what is no printable character.
void AppendQuoted(absl::string_view bytes, std::string* out);
// An identifier as it is where the syntax allows it, else quoted: keys of dictionaries.
void AppendKey(absl::string_view name, std::string* out);
// @name, @"any name", @a::@b.
void AppendSymbol(absl::string_view name, std::string* out);

// [1, 2] and [true, false].
void AppendInts(absl::Span<const int64_t> values, std::string* out);
void AppendBools(absl::Span<const int64_t> values, std::string* out);

// An integer as the type has it: unsigned ones without a sign, i1 as true and false.
void AppendInt(Type type, int64_t value, std::string* out);
// The shortest decimal that reads back as the same bits (a reader makes a double of it and rounds
// that to the type); 0x and the bits where no decimal does. Of a type that IsCodedFloat does not
// know, the shortest decimal of the double.
void AppendFloat(Type type, double value, std::string* out);
// The same for the bits of one element of a dense constant.
void AppendFloatBits(Type type, const char* bytes, std::string* out);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_TEXT_H_
