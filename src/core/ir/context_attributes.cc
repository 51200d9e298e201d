// SPDX-License-Identifier: Apache-2.0
//
// The makers of attributes.
#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/base/casts.h"
#include "absl/container/inlined_vector.h"
#include "pjrt/ir/op_set.h"
#include "src/core/ir/context_impl.h"
#include "src/core/ir/element.h"

namespace pjrt::ir {

Attribute Context::Unit() {
  AttributeStorage a;
  a.kind = AttrKind::kUnit;
  return impl_->InternAttribute(a);
}

Attribute Context::Bool(bool value) {
  AttributeStorage a;
  a.kind = AttrKind::kBool;
  a.flag = value;
  return impl_->InternAttribute(a);
}

Attribute Context::Int(int64_t value, Type type) {
  if (type == I1()) return Bool((value & 1) != 0);
  AttributeStorage a;
  a.kind = AttrKind::kInteger;
  a.bits = static_cast<uint64_t>(type ? WrapInt(type, value) : value);
  a.type = type;
  return impl_->InternAttribute(a);
}

Attribute Context::Float(double value, Type type) {
  if (IsCodedFloat(type)) {
    char bytes[8];
    EncodeFloat(type, value, bytes);
    value = DecodeFloat(type, bytes);
  }
  AttributeStorage a;
  a.kind = AttrKind::kFloat;
  a.bits = absl::bit_cast<uint64_t>(value);
  a.type = type;
  return impl_->InternAttribute(a);
}

Attribute Context::String(absl::string_view bytes) {
  AttributeStorage a;
  a.kind = AttrKind::kString;
  a.text = bytes;
  return impl_->InternAttribute(a);
}

Attribute Context::TypeAttr(Type type) {
  AttributeStorage a;
  a.kind = AttrKind::kType;
  a.type = type;
  return impl_->InternAttribute(a);
}

Attribute Context::Symbol(absl::string_view name) {
  AttributeStorage a;
  a.kind = AttrKind::kSymbol;
  a.text = name;
  return impl_->InternAttribute(a);
}

Attribute Context::Array(absl::Span<const Attribute> elements) {
  AttributeStorage a;
  a.kind = AttrKind::kArray;
  a.Set(AttributeStorage::Data::kAttributes, elements);
  return impl_->InternAttribute(a);
}

Attribute Context::Dict(absl::Span<const NamedAttribute> entries) {
  EntryList sorted(entries.begin(), entries.end());
  SortEntries(&sorted);
  for (NamedAttribute& entry : sorted) entry.name = Intern(entry.name);
  AttributeStorage a;
  a.kind = AttrKind::kDict;
  a.Set(AttributeStorage::Data::kEntries, absl::MakeConstSpan(sorted));
  return impl_->InternAttribute(a);
}

namespace {

// What an absent field of a struct attribute stands for; null when nothing does.
Attribute DefaultField(Context* context, const AttrSpec& field) {
  if (!field.optional) return {};
  switch (field.type) {
    case AttrType::kI64:
      return context->I64(0);
    case AttrType::kI64Array:
      return context->I64Array({});
    case AttrType::kF64:
      return context->Float(0, context->ElementType(F64));
    default:
      return {};
  }
}

}  // namespace

Attribute Context::Struct(absl::string_view name, absl::Span<const NamedAttribute> entries) {
  EntryList sorted(entries.begin(), entries.end());
  for (const AttrSpec& field : StructFields(name)) {
    const bool given =
        std::any_of(entries.begin(), entries.end(),
                    [&field](const NamedAttribute& e) { return e.name == field.name; });
    const Attribute value = given ? Attribute() : DefaultField(this, field);
    if (value) sorted.push_back({field.name, value});
  }
  SortEntries(&sorted);
  for (NamedAttribute& entry : sorted) entry.name = Intern(entry.name);
  AttributeStorage a;
  a.kind = AttrKind::kStruct;
  a.name = Intern(name);
  a.Set(AttributeStorage::Data::kEntries, absl::MakeConstSpan(sorted));
  return impl_->InternAttribute(a);
}

Attribute Context::Enum(absl::string_view name, absl::string_view value) {
  AttributeStorage a;
  a.kind = AttrKind::kEnum;
  a.name = Intern(name);
  a.text = value;
  return impl_->InternAttribute(a);
}

Attribute Context::I64Array(absl::Span<const int64_t> values) {
  return DenseArray(Integer(64), values);
}

Attribute Context::DenseArray(Type element, absl::Span<const int64_t> values) {
  AttributeStorage a;
  a.kind = AttrKind::kDenseArray;
  a.type = element;
  absl::InlinedVector<int64_t, 8> wrapped;
  if (element.bit_width() < 64) {
    for (int64_t value : values) wrapped.push_back(WrapInt(element, value));
    values = wrapped;
  }
  a.Set(AttributeStorage::Data::kInts, values);
  return impl_->InternAttribute(a);
}

Attribute Context::DenseFloatArray(Type element, absl::Span<const double> values) {
  AttributeStorage a;
  a.kind = AttrKind::kDenseArray;
  a.flag = true;
  a.type = element;
  a.Set(AttributeStorage::Data::kFloats, values);
  return impl_->InternAttribute(a);
}

Attribute Context::Dense(Type tensor_type, absl::Span<const char> bytes) {
  const size_t width = ElementByteWidth(tensor_type.element_type());
  if (tensor_type.HasStaticShape() && tensor_type.element_count() == 0) bytes = {};
  // All elements equal: each byte equals the one that is an element further on.
  if (width > 0 && bytes.size() > width &&
      std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0) {
    bytes = bytes.first(width);
  }
  AttributeStorage a;
  a.kind = AttrKind::kDenseElements;
  a.flag = width > 0 && bytes.size() == width;
  a.type = tensor_type;
  a.Set(AttributeStorage::Data::kBytes, bytes);
  return bytes.size() <= kLargestInternedConstant ? impl_->InternAttribute(a)
                                                  : impl_->StoreAttribute(a);
}

Attribute Context::DenseStrings(Type tensor_type, absl::Span<const Attribute> strings) {
  if (!strings.empty() &&
      std::all_of(strings.begin(), strings.end(), [&](Attribute s) { return s == strings[0]; })) {
    strings = strings.first(1);
  }
  AttributeStorage a;
  a.kind = AttrKind::kDenseElements;
  a.flag = strings.size() == 1;
  a.type = tensor_type;
  a.Set(AttributeStorage::Data::kAttributes, strings);
  return impl_->InternAttribute(a);
}

Attribute Context::DenseSplat(Type tensor_type, double value) {
  const Type element = tensor_type.element_type();
  char bytes[16] = {};
  const size_t width = std::min(sizeof(bytes), ElementByteWidth(element));
  if (element.Is(TypeKind::kComplex)) {
    EncodeFloat(element.element_type(), value, bytes);
  } else if (element.Is(TypeKind::kFloat)) {
    EncodeFloat(element, value, bytes);
  } else {
    // Out of int64_t's range there is nothing to wrap; the nearest end stands for it, 0 for NaN.
    const int64_t whole = !(value == value)  ? 0
                          : value >= 0x1p63  ? std::numeric_limits<int64_t>::max()
                          : value <= -0x1p63 ? std::numeric_limits<int64_t>::min()
                                             : static_cast<int64_t>(value);
    EncodeInt(element, whole, bytes);
  }
  return Dense(tensor_type, absl::MakeConstSpan(bytes, width));
}

Attribute Context::DenseSplatInt(Type tensor_type, int64_t value) {
  const Type element = tensor_type.element_type();
  if (element.Is(TypeKind::kComplex) || element.Is(TypeKind::kFloat)) {
    return DenseSplat(tensor_type, static_cast<double>(value));
  }
  char bytes[8] = {};
  const size_t width = std::min(sizeof(bytes), ElementByteWidth(element));
  EncodeInt(element, value, bytes);
  return Dense(tensor_type, absl::MakeConstSpan(bytes, width));
}

Attribute Context::DenseI64(absl::Span<const int64_t> dims, absl::Span<const int64_t> values) {
  absl::InlinedVector<char, 64> bytes(values.size() * 8);
  for (size_t i = 0; i < values.size(); ++i)
    StoreLittleEndian(static_cast<uint64_t>(values[i]), 8, &bytes[i * 8]);
  return Dense(Tensor(dims, Integer(64)), bytes);
}

Attribute Context::Location(absl::string_view text) {
  AttributeStorage a;
  a.kind = AttrKind::kLocation;
  a.text = text;
  return impl_->InternAttribute(a);
}

Attribute Context::Opaque(absl::string_view text) {
  AttributeStorage a;
  a.kind = AttrKind::kOpaque;
  a.text = text;
  return impl_->InternAttribute(a);
}

}  // namespace pjrt::ir
