// SPDX-License-Identifier: Apache-2.0
//
// What stands behind the handles Type and Attribute. Only the files that make, compare and read
// them include this.
#ifndef PJRT_CORE_IR_STORAGE_H_
#define PJRT_CORE_IR_STORAGE_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

// One struct for all kinds; each uses the members that its comment names. Everything pointed to
// lives in the arena of the Context that owns the object.
struct TypeStorage {
  TypeKind kind = TypeKind::kNone;
  Signedness signedness = Signedness::kSignless;  // kInteger
  PrimitiveType primitive = INVALID;              // as Type::primitive_type() answers
  bool static_shape = true;                       // as Type::HasStaticShape() answers
  int bit_width = 0;                              // kInteger, kFloat
  const void* owner = nullptr;                    // the Context
  Type element;                      // kComplex, kTensor, kUnrankedTensor, kMemRef, kVector
  absl::Span<const int64_t> dims;    // kTensor, kMemRef, kVector
  int64_t element_count = 1;         // of dims, when static
  absl::Span<const int64_t> bounds;  // kTensor
  Attribute encoding;                // kTensor, kMemRef
  absl::Span<const Type> elements;   // kTuple, kFuture; kFunction: inputs
  absl::Span<const Type> results;    // kFunction
  const QuantizedParams* quantized = nullptr;  // kQuantized
  absl::string_view text;                      // kFloat: the name; kOpaque: the whole text
};

struct AttributeStorage {
  AttrKind kind = AttrKind::kUnit;
  bool flag = false;  // kBool: the value. kDenseElements: a splat. kDenseArray: of floats.
  const void* owner = nullptr;  // the Context
  Type type;  // kInteger, kFloat, kType, kDenseElements (the tensor), kDenseArray (the element)
  uint64_t bits = 0;       // kInteger: the value. kFloat: the bits of the double.
  absl::string_view text;  // kString, kSymbol, kOpaque, kLocation: the text. kEnum: the value.
  absl::string_view name;  // kEnum, kStruct: "stablehlo.precision"

  // What `data` points to, `count` of them: Attribute (kArray, kDenseElements of strings),
  // NamedAttribute (kDict, kStruct), char (kDenseElements), int64_t or double (kDenseArray).
  enum class Data : uint8_t { kNothing, kAttributes, kEntries, kBytes, kInts, kFloats };
  Data data_kind = Data::kNothing;
  const void* data = nullptr;
  size_t count = 0;

  template <typename T>
  absl::Span<const T> Get(Data kind_of_data) const {
    if (data_kind != kind_of_data) return {};
    return absl::MakeConstSpan(static_cast<const T*>(data), count);
  }
  template <typename T>
  void Set(Data kind_of_data, absl::Span<const T> values) {
    data_kind = kind_of_data;
    data = values.data();
    count = values.size();
  }
  absl::Span<const Attribute> attributes() const { return Get<Attribute>(Data::kAttributes); }
  absl::Span<const NamedAttribute> entries() const { return Get<NamedAttribute>(Data::kEntries); }
  absl::Span<const char> bytes() const { return Get<char>(Data::kBytes); }
  absl::Span<const int64_t> ints() const { return Get<int64_t>(Data::kInts); }
  absl::Span<const double> floats() const { return Get<double>(Data::kFloats); }
};

// Dense constants of more bytes than this are not interned.
inline constexpr size_t kLargestInternedConstant = 64;

// A splat may claim any number of elements; one that stands for a list of integers has no more than
// this.
inline constexpr size_t kLongestSplatList = size_t{1} << 20;

// The value of the entry called `name` in a list sorted by name; null when there is none.
Attribute FindByName(absl::Span<const NamedAttribute> sorted, absl::string_view name);

// Doubles count as equal when their bits are.
bool SameBits(absl::Span<const double> a, absl::Span<const double> b);

// Sorts by name; of entries with one name the last stays.
using EntryList = absl::InlinedVector<NamedAttribute, 8>;
void SortEntries(EntryList* entries);

// A sorted list with the entry set or removed; in the Context's memory when anything changes.
absl::Span<const NamedAttribute> WithEntry(Context* context,
                                           absl::Span<const NamedAttribute> entries,
                                           absl::string_view name, Attribute value);
absl::Span<const NamedAttribute> WithoutEntry(Context* context,
                                              absl::Span<const NamedAttribute> entries,
                                              absl::string_view name);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_STORAGE_H_
