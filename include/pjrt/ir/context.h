// SPDX-License-Identifier: Apache-2.0
//
// The owner of a program's types, attributes and strings.
#ifndef PJRT_IR_CONTEXT_H_
#define PJRT_IR_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

// Makes and interns types and attributes and keeps them, and the arena that a Module's ops live in,
// until it is destroyed. Each Module has one of its own. Not thread-safe: as a Module, it is
// changed by one thread at a time; what it has handed out may be read by many.
//
// The makers do not check what the verifier checks (a tensor of tensors can be made); they never
// fail.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // --- Types ---
  Type None();
  Type Index();
  Type Integer(int width, Signedness signedness = Signedness::kSignless);
  Type I1() { return Integer(1); }
  // `name` as the text has it: "f32", "bf16", "f8E4M3FN", "tf32". Null when it is no float type's
  // name.
  Type Float(absl::string_view name);
  Type Complex(Type part);
  Type Quantized(const QuantizedParams& params);
  // The element type for a runtime type: PRED is i1, U8 ui8, TOKEN the token type. Null for TUPLE,
  // OPAQUE_TYPE and INVALID.
  Type ElementType(PrimitiveType type);
  Type Tensor(absl::Span<const int64_t> dims, Type element, absl::Span<const int64_t> bounds = {},
              Attribute encoding = {});
  Type Tensor(absl::Span<const int64_t> dims, PrimitiveType element) {
    return Tensor(dims, ElementType(element));
  }
  Type UnrankedTensor(Type element);
  Type MemRef(absl::Span<const int64_t> dims, Type element, Attribute encoding = {});
  Type Vector(absl::Span<const int64_t> dims, Type element);
  Type Tuple(absl::Span<const Type> elements);
  Type Function(absl::Span<const Type> inputs, absl::Span<const Type> results);
  Type Token();
  Type Future(absl::Span<const Type> elements);
  Type OpaqueType(absl::string_view text);

  // --- Attributes ---
  Attribute Unit();
  Attribute Bool(bool value);
  // Wrapped to the width of the integer or index type; of i1, the same as Bool.
  Attribute Int(int64_t value, Type type);
  Attribute I64(int64_t value) { return Int(value, Integer(64)); }
  Attribute I32(int64_t value) { return Int(value, Integer(32)); }
  // Rounded to the float type; as it is for tf32, f80 and f128.
  Attribute Float(double value, Type type);
  Attribute String(absl::string_view bytes);
  Attribute TypeAttr(Type type);
  Attribute Symbol(absl::string_view name);
  Attribute Array(absl::Span<const Attribute> elements);
  // Entries in any order, names unique (the last of equal ones counts).
  Attribute Dict(absl::Span<const NamedAttribute> entries);
  // The same for a struct attribute. Optional fields of a struct that the op set knows
  // (StructFields) and that are not given are added: integers and floats as 0, lists as array<i64>.
  Attribute Struct(absl::string_view name, absl::Span<const NamedAttribute> entries);
  Attribute Enum(absl::string_view name, absl::string_view value);
  Attribute I64Array(absl::Span<const int64_t> values);
  Attribute DenseArray(Type element, absl::Span<const int64_t> values);
  Attribute DenseFloatArray(Type element, absl::Span<const double> values);
  // `bytes` as Attribute::raw_data() describes; one element's size makes a splat (also of a tensor
  // of one element), and so do elements that are all equal. No bytes for a tensor that has elements
  // make a constant without data (dense_resource<__elided__>). The bytes are copied.
  Attribute Dense(Type tensor_type, absl::Span<const char> bytes);
  Attribute DenseStrings(Type tensor_type, absl::Span<const Attribute> strings);
  // dense<value> with the value rounded or wrapped to the element type; complex types get a zero
  // imaginary part.
  Attribute DenseSplat(Type tensor_type, double value);
  Attribute DenseSplatInt(Type tensor_type, int64_t value);
  Attribute DenseI64(absl::Span<const int64_t> dims, absl::Span<const int64_t> values);
  Attribute Location(absl::string_view text);
  Attribute Opaque(absl::string_view text);

  // A copy of `s` that lives as long as the Context; equal strings give the same pointer.
  absl::string_view Intern(absl::string_view s);

  // The same type or attribute, owned by this Context, for one that belongs to another.
  Type Import(Type type);
  Attribute Import(Attribute attr);

  // Uninitialised memory that lives as long as the Context. `alignment` is a power of two, at
  // most 16.
  void* Allocate(size_t bytes, size_t alignment = 8);
  template <typename T, typename... Args>
  T* New(Args&&... args) {
    return new (Allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <typename T>
  absl::Span<T> CopySpan(absl::Span<const T> from);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <typename T>
absl::Span<T> Context::CopySpan(absl::Span<const T> from) {
  if (from.empty()) return {};
  T* to = static_cast<T*>(Allocate(sizeof(T) * from.size(), alignof(T)));
  for (size_t i = 0; i < from.size(); ++i) new (to + i) T(from[i]);
  return absl::MakeSpan(to, from.size());
}

}  // namespace pjrt::ir

#endif  // PJRT_IR_CONTEXT_H_
