// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/context.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/arena.h"
#include "src/core/ir/element.h"
#include "src/core/ir/storage.h"

namespace pjrt::ir {
namespace {

template <typename H>
H HashParams(H h, const QuantizedParams& p) {
  h = H::combine(std::move(h), p.storage_type, p.expressed_type, p.storage_min, p.storage_max,
                 p.axes, p.block_sizes, p.scale_dims, p.zero_points);
  for (double scale : p.scales) h = H::combine(std::move(h), absl::bit_cast<uint64_t>(scale));
  return h;
}

bool SameBits(absl::Span<const double> a, absl::Span<const double> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

bool SameParams(const QuantizedParams& a, const QuantizedParams& b) {
  return a.storage_type == b.storage_type && a.expressed_type == b.expressed_type &&
         a.storage_min == b.storage_min && a.storage_max == b.storage_max && a.axes == b.axes &&
         a.block_sizes == b.block_sizes && a.scale_dims == b.scale_dims &&
         a.zero_points == b.zero_points && SameBits(a.scales, b.scales);
}

// Content of a type or attribute whose parts are interned already: hash and equality for the sets,
// which are also asked with candidates on the stack.
struct Content {
  const TypeStorage* type = nullptr;
  const AttributeStorage* attribute = nullptr;

  template <typename H>
  friend H AbslHashValue(H h, const Content& c) {
    return c.type != nullptr ? HashType(std::move(h), *c.type)
                             : HashAttribute(std::move(h), *c.attribute);
  }

  template <typename H>
  static H HashType(H h, const TypeStorage& t) {
    h = H::combine(std::move(h), t.kind, t.signedness, t.bit_width, t.element, t.dims, t.bounds,
                   t.encoding.storage(), t.elements, t.results, t.text);
    return t.quantized != nullptr ? HashParams(std::move(h), *t.quantized) : std::move(h);
  }

  template <typename H>
  static H HashAttribute(H h, const AttributeStorage& a) {
    h = H::combine(std::move(h), a.kind, a.flag, a.type, a.bits, a.text, a.name, a.count);
    switch (a.data_kind) {
      case AttributeStorage::Data::kNothing:
        break;
      case AttributeStorage::Data::kAttributes:
        for (Attribute e : a.attributes()) h = H::combine(std::move(h), e.storage());
        break;
      case AttributeStorage::Data::kEntries:
        for (const NamedAttribute& e : a.entries())
          h = H::combine(std::move(h), e.name, e.value.storage());
        break;
      case AttributeStorage::Data::kBytes:
      case AttributeStorage::Data::kInts:
      case AttributeStorage::Data::kFloats: {
        const size_t width = a.data_kind == AttributeStorage::Data::kBytes ? 1 : sizeof(int64_t);
        h = H::combine_contiguous(std::move(h), static_cast<const unsigned char*>(a.data),
                                  a.count * width);
        break;
      }
    }
    return h;
  }
};

struct ContentHash {
  using is_transparent = void;
  size_t operator()(const Content& c) const { return absl::Hash<Content>()(c); }
  size_t operator()(const TypeStorage* t) const { return (*this)(Content{t, nullptr}); }
  size_t operator()(const AttributeStorage* a) const { return (*this)(Content{nullptr, a}); }
};

struct ContentEqual {
  using is_transparent = void;
  bool operator()(const TypeStorage* a, const TypeStorage* b) const {
    return a->kind == b->kind && a->signedness == b->signedness && a->bit_width == b->bit_width &&
           a->element == b->element && a->dims == b->dims && a->bounds == b->bounds &&
           a->encoding == b->encoding && a->elements == b->elements && a->results == b->results &&
           a->text == b->text &&
           (a->quantized == b->quantized || (a->quantized != nullptr && b->quantized != nullptr &&
                                             SameParams(*a->quantized, *b->quantized)));
  }
  bool operator()(const AttributeStorage* a, const AttributeStorage* b) const {
    if (a->kind != b->kind || a->flag != b->flag || a->type != b->type || a->bits != b->bits ||
        a->text != b->text || a->name != b->name || a->data_kind != b->data_kind ||
        a->count != b->count) {
      return false;
    }
    switch (a->data_kind) {
      case AttributeStorage::Data::kNothing:
        return true;
      case AttributeStorage::Data::kAttributes:
        return a->attributes() == b->attributes();
      case AttributeStorage::Data::kEntries:
        return std::equal(a->entries().begin(), a->entries().end(), b->entries().begin(),
                          [](const NamedAttribute& x, const NamedAttribute& y) {
                            return x.value == y.value && x.name == y.name;
                          });
      case AttributeStorage::Data::kBytes:
        return a->count == 0 || std::memcmp(a->data, b->data, a->count) == 0;
      case AttributeStorage::Data::kInts:
        return a->ints() == b->ints();
      case AttributeStorage::Data::kFloats:
        return SameBits(a->floats(), b->floats());
    }
    return false;
  }
};

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

struct Context::Impl {
  explicit Impl(const Context* owner_in) : owner(owner_in) {}

  const Context* owner;
  Arena arena;
  absl::flat_hash_set<const TypeStorage*, ContentHash, ContentEqual> types;
  absl::flat_hash_set<const AttributeStorage*, ContentHash, ContentEqual> attributes;
  absl::flat_hash_set<absl::string_view> strings;

  // What programs ask for all the time, found without hashing.
  std::array<std::array<Type, 65>, 3> integers;
  std::array<Type, kPrimitiveTypeLimit> element_types;

  template <typename T>
  absl::Span<const T> Copy(absl::Span<const T> from) {
    if (from.empty()) return {};
    T* to = static_cast<T*>(arena.Allocate(sizeof(T) * from.size(), alignof(T)));
    std::uninitialized_copy(from.begin(), from.end(), to);
    return absl::MakeConstSpan(to, from.size());
  }

  absl::string_view CopyText(absl::string_view text) {
    if (text.empty()) return {};
    char* to = static_cast<char*>(arena.Allocate(text.size(), 1));
    std::memcpy(to, text.data(), text.size());
    return absl::string_view(to, text.size());
  }

  // The interned type equal to `candidate`, which may point to the caller's memory.
  Type InternType(TypeStorage candidate) {
    auto found = types.find(&candidate);
    if (found != types.end()) return Type(*found);
    candidate.owner = owner;
    candidate.dims = Copy(candidate.dims);
    candidate.bounds = Copy(candidate.bounds);
    candidate.elements = Copy(candidate.elements);
    candidate.results = Copy(candidate.results);
    candidate.text = CopyText(candidate.text);
    if (candidate.quantized != nullptr) {
      auto* params = new (arena.Allocate(sizeof(QuantizedParams), alignof(QuantizedParams)))
          QuantizedParams(*candidate.quantized);
      params->axes = Copy(params->axes);
      params->block_sizes = Copy(params->block_sizes);
      params->scale_dims = Copy(params->scale_dims);
      params->scales = Copy(params->scales);
      params->zero_points = Copy(params->zero_points);
      candidate.quantized = params;
    }
    auto* storage =
        new (arena.Allocate(sizeof(TypeStorage), alignof(TypeStorage))) TypeStorage(candidate);
    types.insert(storage);
    return Type(storage);
  }

  Attribute StoreAttribute(AttributeStorage candidate) {
    candidate.owner = owner;
    candidate.text = CopyText(candidate.text);
    switch (candidate.data_kind) {
      case AttributeStorage::Data::kNothing:
        break;
      case AttributeStorage::Data::kAttributes:
        candidate.data = Copy(candidate.attributes()).data();
        break;
      case AttributeStorage::Data::kEntries:
        candidate.data = Copy(candidate.entries()).data();
        break;
      case AttributeStorage::Data::kBytes: {
        // Aligned for whoever reads the elements where they are.
        char* to = static_cast<char*>(arena.Allocate(candidate.count, 16));
        if (candidate.count > 0) std::memcpy(to, candidate.data, candidate.count);
        candidate.data = to;
        break;
      }
      case AttributeStorage::Data::kInts:
        candidate.data = Copy(candidate.ints()).data();
        break;
      case AttributeStorage::Data::kFloats:
        candidate.data = Copy(candidate.floats()).data();
        break;
    }
    return Attribute(new (arena.Allocate(sizeof(AttributeStorage), alignof(AttributeStorage)))
                         AttributeStorage(candidate));
  }

  Attribute InternAttribute(const AttributeStorage& candidate) {
    auto found = attributes.find(&candidate);
    if (found != attributes.end()) return Attribute(*found);
    const Attribute made = StoreAttribute(candidate);
    attributes.insert(made.storage());
    return made;
  }
};

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

// --- Attributes ---

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

Attribute Context::Struct(absl::string_view name, absl::Span<const NamedAttribute> entries) {
  EntryList sorted(entries.begin(), entries.end());
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
