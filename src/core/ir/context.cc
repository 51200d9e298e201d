// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/context.h"

#include <limits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "src/core/ir/context_impl.h"

namespace pjrt::ir {
namespace {

// The product of `dims`, saturated; 1 when one of them is dynamic.
int64_t CountElements(absl::Span<const int64_t> dims, bool* is_static) {
  int64_t count = 1;
  bool overflow = false;
  *is_static = true;
  for (int64_t d : dims) {
    if (d == kDynamic) *is_static = false;
    if (d == 0) count = 0;
  }
  if (!*is_static) return 1;
  for (int64_t d : dims) {
    if (__builtin_mul_overflow(count, d, &count)) overflow = true;
    if (overflow) count = std::numeric_limits<int64_t>::max();
  }
  return count;
}

PrimitiveType IntegerPrimitive(int width, Signedness signedness) {
  if (width == 1 && signedness == Signedness::kSignless) return PRED;
  const bool is_unsigned = signedness == Signedness::kUnsigned;
  switch (width) {
    case 1:
      return is_unsigned ? U1 : S1;
    case 2:
      return is_unsigned ? U2 : S2;
    case 4:
      return is_unsigned ? U4 : S4;
    case 8:
      return is_unsigned ? U8 : S8;
    case 16:
      return is_unsigned ? U16 : S16;
    case 32:
      return is_unsigned ? U32 : S32;
    case 64:
      return is_unsigned ? U64 : S64;
    default:
      return INVALID;
  }
}

}  // namespace

Context::Context() : impl_(std::make_unique<Impl>(this)) {}
Context::~Context() = default;

void* Context::Allocate(size_t bytes, size_t alignment) {
  return impl_->arena.Allocate(bytes, alignment);
}

absl::string_view Context::Intern(absl::string_view s) {
  auto found = impl_->strings.find(s);
  if (found != impl_->strings.end()) return *found;
  const absl::string_view copy = impl_->CopyText(s);
  impl_->strings.insert(copy);
  return copy;
}

// --- Types ---

Type Context::None() {
  TypeStorage t;
  t.kind = TypeKind::kNone;
  return impl_->InternType(t);
}

Type Context::Index() {
  TypeStorage t;
  t.kind = TypeKind::kIndex;
  return impl_->InternType(t);
}

Type Context::Integer(int width, Signedness signedness) {
  const bool common = width >= 1 && width <= 64;
  Type& cached =
      impl_->integers[static_cast<size_t>(signedness)][common ? static_cast<size_t>(width) : 0];
  if (common && cached) return cached;
  TypeStorage t;
  t.kind = TypeKind::kInteger;
  t.bit_width = width;
  t.signedness = signedness;
  t.primitive = IntegerPrimitive(width, signedness);
  const Type type = impl_->InternType(t);
  if (common) cached = type;
  return type;
}

Type Context::Float(absl::string_view name) {
  TypeStorage t;
  t.kind = TypeKind::kFloat;
  t.text = name;
  for (int i = 0; i < kPrimitiveTypeLimit; ++i) {
    const auto primitive = static_cast<PrimitiveType>(i);
    if (IsFloating(primitive) && StableHloTypeName(primitive) == name) {
      Type& cached = impl_->element_types[static_cast<size_t>(i)];
      if (cached) return cached;
      t.primitive = primitive;
      t.bit_width = BitWidth(primitive);
      return cached = impl_->InternType(t);
    }
  }
  constexpr std::pair<absl::string_view, int> kOthers[] = {
      {"tf32", 19}, {"f80", 80}, {"f128", 128}};
  for (const auto& [other, width] : kOthers) {
    if (other == name) {
      t.bit_width = width;
      return impl_->InternType(t);
    }
  }
  return Type();
}

Type Context::Complex(Type part) {
  TypeStorage t;
  t.kind = TypeKind::kComplex;
  t.element = part;
  const PrimitiveType of = part ? part.primitive_type() : INVALID;
  t.primitive = of == F32 ? C64 : of == F64 ? C128 : INVALID;
  return impl_->InternType(t);
}

Type Context::Quantized(const QuantizedParams& params) {
  TypeStorage t;
  t.kind = TypeKind::kQuantized;
  t.quantized = &params;
  return impl_->InternType(t);
}

Type Context::ElementType(PrimitiveType type) {
  if (type >= kPrimitiveTypeLimit) return Type();
  Type& cached = impl_->element_types[static_cast<size_t>(type)];
  if (cached) return cached;
  Type made;
  if (type == PRED) {
    made = Integer(1);
  } else if (type == S1) {
    made = Integer(1, Signedness::kSigned);
  } else if (IsSignedInteger(type)) {
    made = Integer(BitWidth(type));
  } else if (IsUnsignedInteger(type)) {
    made = Integer(BitWidth(type), Signedness::kUnsigned);
  } else if (IsFloating(type)) {
    made = Float(StableHloTypeName(type));
  } else if (IsComplex(type)) {
    made = Complex(ElementType(ComplexComponent(type)));
  } else if (type == TOKEN) {
    made = Token();
  }
  return cached = made;
}

Type Context::Tensor(absl::Span<const int64_t> dims, Type element, absl::Span<const int64_t> bounds,
                     Attribute encoding) {
  TypeStorage t;
  t.kind = TypeKind::kTensor;
  t.element = element;
  t.primitive = element ? element.primitive_type() : INVALID;
  t.dims = dims;
  t.element_count = CountElements(dims, &t.static_shape);
  t.bounds = bounds;
  t.encoding = encoding;
  return impl_->InternType(t);
}

Type Context::UnrankedTensor(Type element) {
  TypeStorage t;
  t.kind = TypeKind::kUnrankedTensor;
  t.element = element;
  t.primitive = element ? element.primitive_type() : INVALID;
  t.static_shape = false;
  return impl_->InternType(t);
}

Type Context::MemRef(absl::Span<const int64_t> dims, Type element, Attribute encoding) {
  TypeStorage t;
  t.kind = TypeKind::kMemRef;
  t.element = element;
  t.primitive = element ? element.primitive_type() : INVALID;
  t.dims = dims;
  t.element_count = CountElements(dims, &t.static_shape);
  t.encoding = encoding;
  return impl_->InternType(t);
}

Type Context::Vector(absl::Span<const int64_t> dims, Type element) {
  TypeStorage t;
  t.kind = TypeKind::kVector;
  t.element = element;
  t.primitive = element ? element.primitive_type() : INVALID;
  t.dims = dims;
  t.element_count = CountElements(dims, &t.static_shape);
  return impl_->InternType(t);
}

Type Context::Tuple(absl::Span<const Type> elements) {
  TypeStorage t;
  t.kind = TypeKind::kTuple;
  t.primitive = TUPLE;
  t.elements = elements;
  for (Type e : elements) t.static_shape = t.static_shape && e && e.HasStaticShape();
  return impl_->InternType(t);
}

Type Context::Function(absl::Span<const Type> inputs, absl::Span<const Type> results) {
  TypeStorage t;
  t.kind = TypeKind::kFunction;
  t.elements = inputs;
  t.results = results;
  return impl_->InternType(t);
}

Type Context::Token() {
  TypeStorage t;
  t.kind = TypeKind::kToken;
  t.primitive = TOKEN;
  return impl_->InternType(t);
}

Type Context::Future(absl::Span<const Type> elements) {
  TypeStorage t;
  t.kind = TypeKind::kFuture;
  t.elements = elements;
  for (Type e : elements) t.static_shape = t.static_shape && e && e.HasStaticShape();
  return impl_->InternType(t);
}

Type Context::OpaqueType(absl::string_view text) {
  TypeStorage t;
  t.kind = TypeKind::kOpaque;
  t.text = text;
  return impl_->InternType(t);
}

// --- Import ---

Type Context::Import(Type type) {
  if (!type || type.storage()->owner == this) return type;
  TypeStorage t = *type.storage();
  t.element = Import(t.element);
  t.encoding = Import(t.encoding);
  absl::InlinedVector<Type, 8> elements, results;
  for (Type e : t.elements) elements.push_back(Import(e));
  for (Type r : t.results) results.push_back(Import(r));
  t.elements = elements;
  t.results = results;
  QuantizedParams params;
  if (t.quantized != nullptr) {
    params = *t.quantized;
    params.storage_type = Import(params.storage_type);
    params.expressed_type = Import(params.expressed_type);
    t.quantized = &params;
  }
  return impl_->InternType(t);
}

Attribute Context::Import(Attribute attr) {
  if (!attr || attr.storage()->owner == this) return attr;
  AttributeStorage a = *attr.storage();
  a.type = Import(a.type);
  a.name = Intern(a.name);
  absl::InlinedVector<Attribute, 8> elements;
  EntryList entries;
  if (a.data_kind == AttributeStorage::Data::kAttributes) {
    for (Attribute e : a.attributes()) elements.push_back(Import(e));
    a.Set(AttributeStorage::Data::kAttributes, absl::MakeConstSpan(elements));
  } else if (a.data_kind == AttributeStorage::Data::kEntries) {
    for (const NamedAttribute& e : a.entries())
      entries.push_back({Intern(e.name), Import(e.value)});
    a.Set(AttributeStorage::Data::kEntries, absl::MakeConstSpan(entries));
  }
  if (a.data_kind == AttributeStorage::Data::kBytes && a.count > kLargestInternedConstant) {
    return impl_->StoreAttribute(a);
  }
  return impl_->InternAttribute(a);
}

}  // namespace pjrt::ir
