// SPDX-License-Identifier: Apache-2.0
//
// Attributes as text.
#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pjrt/ir/op_set.h"
#include "src/core/ir/element.h"
#include "src/core/ir/text.h"

namespace pjrt::ir {
namespace {

// Constants of more elements than this print as the hexadecimal digits of their bytes. Those of i1
// are always listed: MLIR read packed bits until late 2025, and reads a byte an element since.
constexpr int64_t kMostListedElements = 100;

// --- Dense constants ---

void AppendElement(Type element, const char* bytes, std::string* out) {
  switch (element.kind()) {
    case TypeKind::kFloat:
      AppendFloatBits(element, bytes, out);
      return;
    case TypeKind::kComplex: {
      const Type part = element.element_type();
      out->push_back('(');
      AppendElement(part, bytes, out);
      out->append(", ");
      AppendElement(part, bytes + ElementByteWidth(part), out);
      out->push_back(')');
      return;
    }
    default:
      AppendInt(element, DecodeInt(element, bytes), out);
  }
}

// Row-major elements as nested lists; `append` writes the element of an index.
template <typename Fn>
void AppendNested(absl::Span<const int64_t> dims, const Fn& append, std::string* out) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  absl::InlinedVector<int64_t, 6> position(dims.size(), 0);
  out->append(dims.size(), '[');
  for (int64_t i = 0; i < count; ++i) {
    append(i, out);
    // Carry from the last dimension on: each one that ends closes a bracket, and opens it again
    // unless all is done.
    size_t closed = 0;
    while (closed < dims.size()) {
      const size_t d = dims.size() - 1 - closed;
      if (++position[d] < dims[d]) break;
      position[d] = 0;
      ++closed;
    }
    out->append(closed, ']');
    if (i + 1 < count) {
      out->append(", ");
      out->append(closed, '[');
    }
  }
}

// The bytes of all elements, without what is above the bits of a type narrower than a byte.
void AppendBlob(Type element, absl::Span<const char> bytes, std::string* out) {
  static constexpr char kHexDigits[] = "0123456789ABCDEF";
  const auto append_byte = [out](unsigned byte) {
    out->push_back(kHexDigits[(byte >> 4) & 15]);
    out->push_back(kHexDigits[byte & 15]);
  };
  out->append("\"0x");
  const bool is_integer = element.Is(TypeKind::kInteger);
  const size_t width = ElementByteWidth(element);
  const int top_bits = is_integer ? element.bit_width() % 8 : 0;
  const unsigned top_mask = top_bits == 0 ? 0xffu : (1u << top_bits) - 1;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const unsigned byte = static_cast<unsigned char>(bytes[i]);
    append_byte(i % width + 1 == width ? byte & top_mask : byte);
  }
  out->push_back('"');
}

// dense<...> without the type behind it.
void AppendDense(Attribute attr, const TextOptions& options, std::string* out) {
  const Type type = attr.type();
  const Type element = type.element_type();
  const absl::Span<const char> bytes = attr.raw_data();
  const absl::Span<const Attribute> strings = attr.string_elements();
  const int64_t count = type.HasStaticShape() ? type.element_count() : 0;
  const size_t width = ElementByteWidth(element);
  if (count == 0) {
    out->append("dense<>");
    return;
  }
  const size_t whole = static_cast<size_t>(count);
  const bool has_data =
      attr.IsSplat() || strings.size() == whole || (width > 0 && bytes.size() / width == whole);
  const bool elided = options.elide_above >= 0 && count > options.elide_above && !attr.IsSplat();
  if (!has_data || elided) {
    out->append("dense_resource<__elided__>");
    return;
  }
  out->append("dense<");
  const auto append = [&](int64_t i, std::string* to) {
    const size_t index = static_cast<size_t>(i);
    if (!strings.empty()) {
      AppendAttribute(strings[index], options, to);
    } else {
      AppendElement(element, bytes.data() + index * width, to);
    }
  };
  if (attr.IsSplat()) {
    append(0, out);
  } else if (count > kMostListedElements && strings.empty() &&
             !(element.Is(TypeKind::kInteger) && element.bit_width() == 1)) {
    AppendBlob(element, bytes, out);
  } else {
    AppendNested(type.dims(), append, out);
  }
  out->push_back('>');
}

}  // namespace

// --- Structs ---

namespace {

bool IsDefault(const AttrSpec& field, Attribute value) {
  switch (field.type) {
    case AttrType::kI64Array:
      return value.Is(AttrKind::kDenseArray) && value.ints().empty();
    case AttrType::kI64:
      return value.Is(AttrKind::kInteger) && value.AsInt() == 0;
    case AttrType::kF64:
      return value.Is(AttrKind::kFloat) && value.AsFloat() == 0;
    default:
      return false;
  }
}

// The value of a field, bare where its type follows from the field.
void AppendField(const AttrSpec& field, Attribute value, const TextOptions& options,
                 std::string* out) {
  if (field.type == AttrType::kI64Array && value.Is(AttrKind::kDenseArray)) {
    AppendInts(value.ints(), out);
  } else if (field.type == AttrType::kI64 && value.Is(AttrKind::kInteger)) {
    absl::StrAppend(out, value.AsInt());
  } else if (field.type == AttrType::kF64 && value.Is(AttrKind::kFloat)) {
    AppendFloat(value.type(), value.AsFloat(), out);
  } else {
    AppendAttribute(value, options, out);
  }
}

// [b, 0, 1, f]: what stands at each dimension. False when the fields leave a dimension open or name
// one twice.
bool AppendConvDims(Attribute attr, absl::string_view prefix, absl::string_view first_field,
                    char first_letter, absl::string_view second_field, char second_letter,
                    std::string* out) {
  const Attribute first = attr.Get(absl::StrCat(prefix, first_field));
  const Attribute second = attr.Get(absl::StrCat(prefix, second_field));
  const Attribute spatial = attr.Get(absl::StrCat(prefix, "spatial_dimensions"));
  if (!first.Is(AttrKind::kInteger) || !second.Is(AttrKind::kInteger) ||
      !spatial.Is(AttrKind::kDenseArray)) {
    return false;
  }
  const size_t rank = spatial.ints().size() + 2;
  absl::InlinedVector<std::string, 6> letters(rank);
  const auto place = [&letters](int64_t dimension, std::string letter) {
    if (dimension < 0 || static_cast<size_t>(dimension) >= letters.size()) return false;
    std::string& at = letters[static_cast<size_t>(dimension)];
    const bool is_free = at.empty();
    at = std::move(letter);
    return is_free;
  };
  if (!place(first.AsInt(), std::string(1, first_letter)) ||
      !place(second.AsInt(), std::string(1, second_letter))) {
    return false;
  }
  for (size_t i = 0; i < spatial.ints().size(); ++i) {
    if (!place(spatial.ints()[i], absl::StrCat(i))) return false;
  }
  for (size_t i = 0; i < rank; ++i) absl::StrAppend(out, i == 0 ? "[" : ", ", letters[i]);
  out->push_back(']');
  return true;
}

}  // namespace

bool AppendConvDimensions(Attribute attr, std::string* out) {
  std::string text;
  if (!AppendConvDims(attr, "input_", "batch_dimension", 'b', "feature_dimension", 'f', &text))
    return false;
  text.push_back('x');
  if (!AppendConvDims(attr, "kernel_", "input_feature_dimension", 'i', "output_feature_dimension",
                      'o', &text)) {
    return false;
  }
  text.append("->");
  if (!AppendConvDims(attr, "output_", "batch_dimension", 'b', "feature_dimension", 'f', &text))
    return false;
  out->append(text);
  return true;
}

void AppendStructBody(Attribute attr, const TextOptions& options, std::string* out) {
  const absl::string_view name = attr.name();
  const absl::Span<const AttrSpec> fields = StructFields(name);
  out->push_back('<');
  bool is_first = true;
  const auto separate = [&is_first, out] {
    if (!is_first) out->append(", ");
    is_first = false;
  };
  if (name == "stablehlo.conv") {
    if (AppendConvDimensions(attr, out)) {
      out->push_back('>');
      return;
    }
    out->append("raw ");
  }
  const bool keeps_all = name == "stablehlo.channel_handle" ||
                         name == "stablehlo.output_operand_alias" || name == "stablehlo.conv";
  for (const AttrSpec& field : fields) {
    const Attribute value = attr.Get(field.name);
    if (!value || (field.optional && !keeps_all && field.name != "index_vector_dim" &&
                   IsDefault(field, value))) {
      continue;
    }
    separate();
    absl::StrAppend(out, field.name, " = ");
    AppendField(field, value, options, out);
  }
  for (const NamedAttribute& entry : attr.entries()) {
    if (std::any_of(fields.begin(), fields.end(),
                    [&](const AttrSpec& f) { return f.name == entry.name; }))
      continue;
    separate();
    absl::StrAppend(out, entry.name, " = ");
    AppendAttribute(entry.value, options, out);
  }
  out->push_back('>');
}

// --- Attributes ---

namespace {

// `1 : i64`, or `1` where the type goes without saying: in lists, for i64 and f64.
void AppendNumber(Attribute attr, bool in_list, std::string* out) {
  const Type type = attr.type();
  if (attr.Is(AttrKind::kFloat)) {
    AppendFloat(type, attr.AsFloat(), out);
    if (in_list && type.primitive_type() == F64) return;
  } else {
    AppendInt(type, attr.AsInt(), out);
    if (in_list && type.primitive_type() == S64 && type.signedness() == Signedness::kSignless)
      return;
  }
  out->append(" : ");
  AppendType(type, out);
}

void AppendDenseArray(Attribute attr, std::string* out) {
  const Type element = attr.type();
  out->append("array<");
  AppendType(element, out);
  for (size_t i = 0; i < attr.ints().size(); ++i) {
    out->append(i == 0 ? ": " : ", ");
    AppendInt(element, attr.ints()[i], out);
  }
  for (size_t i = 0; i < attr.floats().size(); ++i) {
    out->append(i == 0 ? ": " : ", ");
    AppendFloat(element, attr.floats()[i], out);
  }
  out->push_back('>');
}

// #stablehlo<precision HIGH>, and with a dot for the one enum that is written so.
void AppendEnum(Attribute attr, std::string* out) {
  const absl::string_view name = attr.name();
  if (absl::EndsWith(name, ".result_accuracy_mode")) {
    absl::StrAppend(out, "#", name, "<", attr.enum_value(), ">");
    return;
  }
  const size_t dot = std::min(name.find('.'), name.size());
  absl::StrAppend(out, "#", name.substr(0, dot), "<", name.substr(std::min(dot + 1, name.size())),
                  " ", attr.enum_value(), ">");
}

void Append(Attribute attr, const TextOptions& options, bool in_list, std::string* out) {
  if (!attr) {
    out->append("<null>");
    return;
  }
  switch (attr.kind()) {
    case AttrKind::kUnit:
      out->append("unit");
      return;
    case AttrKind::kBool:
      out->append(attr.AsBool() ? "true" : "false");
      return;
    case AttrKind::kInteger:
    case AttrKind::kFloat:
      AppendNumber(attr, in_list, out);
      return;
    case AttrKind::kString:
      AppendQuoted(attr.AsString(), out);
      return;
    case AttrKind::kType:
      AppendType(attr.AsType(), out);
      return;
    case AttrKind::kSymbol:
      AppendSymbol(attr.AsString(), out);
      return;
    case AttrKind::kArray:
      out->push_back('[');
      for (size_t i = 0; i < attr.elements().size(); ++i) {
        if (i > 0) out->append(", ");
        Append(attr.elements()[i], options, /*in_list=*/true, out);
      }
      out->push_back(']');
      return;
    case AttrKind::kDict:
      AppendDict(attr.entries(), options, out);
      return;
    case AttrKind::kDenseElements:
      AppendDense(attr, options, out);
      out->append(" : ");
      AppendType(attr.type(), out);
      return;
    case AttrKind::kDenseArray:
      AppendDenseArray(attr, out);
      return;
    case AttrKind::kEnum:
      AppendEnum(attr, out);
      return;
    case AttrKind::kStruct:
      absl::StrAppend(out, "#", attr.name());
      AppendStructBody(attr, options, out);
      return;
    case AttrKind::kLocation:
    case AttrKind::kOpaque:
      absl::StrAppend(out, attr.text());
      return;
  }
}

}  // namespace

void AppendDict(absl::Span<const NamedAttribute> entries, const TextOptions& options,
                std::string* out) {
  out->push_back('{');
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendKey(entries[i].name, out);
    if (entries[i].value.Is(AttrKind::kUnit)) continue;
    out->append(" = ");
    Append(entries[i].value, options, /*in_list=*/false, out);
  }
  out->push_back('}');
}

void AppendAttribute(Attribute attr, const TextOptions& options, std::string* out) {
  Append(attr, options, /*in_list=*/false, out);
}

std::string Attribute::ToString() const {
  std::string text;
  AppendAttribute(*this, TextOptions(), &text);
  return text;
}

}  // namespace pjrt::ir
