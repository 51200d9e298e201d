// SPDX-License-Identifier: Apache-2.0
//
// Attributes of a program: the constants that ops, arguments and the module carry.
//
// As with types, an Attribute is a handle of pointer size to an immutable object that a Context
// owns. Attributes are interned too, except large dense constants (over 64 bytes), which are kept
// as they are: use Equal() to compare by value.
#ifndef PJRT_IR_ATTRIBUTES_H_
#define PJRT_IR_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

enum class AttrKind : uint8_t {
  kUnit,           // a key alone, or `unit`
  kBool,           // true, false
  kInteger,        // 3 : i64
  kFloat,          // 1.0 : f32
  kString,         // "bytes"
  kType,           // tensor<2xf32>
  kSymbol,         // @f, @a::@b
  kArray,          // [a, b]
  kDict,           // {a = 1, b}
  kDenseElements,  // dense<...> : tensor<...>, dense_resource<...>
  kDenseArray,     // array<i64: 1, 2>
  kEnum,           // #stablehlo<precision HIGH>
  kStruct,         // #stablehlo.gather<offset_dims = [0], ...>: those of StableHLO and CHLO
  kLocation,       // loc(...), kept as text
  kOpaque,         // any other `#dialect.name<...>`, affine_map<...>, ...: kept as text
};

struct AttributeStorage;
struct NamedAttribute;

// A handle of a constant; see the top of this file.
class Attribute {
 public:
  // The null attribute; only `operator bool`, == and ToString may be called on it.
  constexpr Attribute() = default;
  explicit constexpr Attribute(const AttributeStorage* storage) : storage_(storage) {}

  explicit operator bool() const { return storage_ != nullptr; }
  friend bool operator==(Attribute a, Attribute b) { return a.storage_ == b.storage_; }
  friend bool operator!=(Attribute a, Attribute b) { return a.storage_ != b.storage_; }
  template <typename H>
  friend H AbslHashValue(H h, Attribute a) {
    return H::combine(std::move(h), a.storage_);
  }

  AttrKind kind() const;
  bool Is(AttrKind k) const { return storage_ != nullptr && kind() == k; }

  // The accessors below ask for the kind named first and give an empty value (0, "", an empty span,
  // null) for others, so that a reader of unverified programs need not check twice.

  bool AsBool() const;                 // kBool; also kInteger != 0, kUnit is true
  int64_t AsInt() const;               // kInteger (bits of unsigned ones), kBool
  double AsFloat() const;              // kFloat, the value as a double
  absl::string_view AsString() const;  // kString, kSymbol (without @; nested ones joined by "::@")
  Type AsType() const;                 // kType
  // kInteger, kFloat: the type behind the colon. kDenseElements: the tensor type. kDenseArray: the
  // element type.
  Type type() const;

  absl::Span<const Attribute> elements() const;      // kArray
  absl::Span<const NamedAttribute> entries() const;  // kDict, kStruct; sorted by name
  Attribute Get(absl::string_view name) const;       // kDict, kStruct: the entry, null when absent

  // kDenseArray: the values of integers and bools, or of floats.
  absl::Span<const int64_t> ints() const;
  absl::Span<const double> floats() const;

  // kEnum: for `#stablehlo<precision HIGH>` "stablehlo.precision" and "HIGH". kStruct:
  // "stablehlo.gather" and "".
  absl::string_view name() const;
  absl::string_view enum_value() const;

  // kDenseElements. Elements are row-major, little-endian, ceil(bits / 8) bytes each: i1 and other
  // types below a byte take a byte (sign- or zero-extended), f4 and f6 the low bits of a byte,
  // index 8 bytes, complex re then im. A splat holds one element for all. A constant whose data the
  // text left out (dense_resource<__elided__>) has none although its tensor has elements. The bytes
  // begin at a multiple of 16.
  bool IsSplat() const;
  absl::Span<const char> raw_data() const;
  // kDenseElements of strings; empty for others.
  absl::Span<const Attribute> string_elements() const;

  // kOpaque, kLocation: the text as written.
  absl::string_view text() const;

  // As the text prints it, for example `array<i64: 1, 2>`.
  std::string ToString() const;

  const AttributeStorage* storage() const { return storage_; }

 private:
  const AttributeStorage* storage_ = nullptr;
};

// Equal by value, also for large dense constants and across Contexts.
bool Equal(Attribute a, Attribute b);
bool Equal(Type a, Type b);

// An attribute as an op, a dictionary or a struct holds it.
struct NamedAttribute {
  absl::string_view name;  // interned by the Context
  Attribute value;
};

// A list of integers in any of the spellings that programs use: array<i64: ...>, dense<...> :
// tensor<Nxi64> (also i1), or [1, 2]. False when `attr` is something else; `out` is then unchanged.
bool GetIntList(Attribute attr, absl::InlinedVector<int64_t, 6>* out);

}  // namespace pjrt::ir

#endif  // PJRT_IR_ATTRIBUTES_H_
