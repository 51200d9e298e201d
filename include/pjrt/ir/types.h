// SPDX-License-Identifier: Apache-2.0
//
// Types of a program: what StableHLO's and MLIR's texts call `tensor<2x?xf32>`, `!stablehlo.token`,
// `(T) -> U`.
//
// A Type is a handle of pointer size to an immutable object that a Context owns and interns: two
// types of the same Context are equal exactly when their handles are. Handles are cheap to copy,
// valid as long as their Context (that is, their Module) lives, and may be read from any thread.
#ifndef PJRT_IR_TYPES_H_
#define PJRT_IR_TYPES_H_

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"

namespace pjrt::ir {

class Attribute;
class Context;

// The size of a `?` dimension, and the bound of a dimension that has none.
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

enum class TypeKind : uint8_t {
  kNone,            // none
  kIndex,           // index
  kInteger,         // i1, i32, si8, ui64: any width from 1 to 64
  kFloat,           // f32, bf16, f8E4M3FN, ..., and tf32, f80, f128, which nothing computes with
  kComplex,         // complex<f32>, complex<f64>
  kQuantized,       // !quant.uniform<i8:f32, 0.5:3>, per tensor, per axis or per block
  kTensor,          // tensor<2x?xf32, encoding>
  kUnrankedTensor,  // tensor<*xf32>
  kMemRef,          // memref<4xf32>
  kVector,          // vector<4xf32>
  kTuple,           // tuple<T, U>
  kFunction,        // (T, U) -> (V)
  kToken,           // !stablehlo.token
  kFuture,          // !stablehlo.future<T, U>
  kOpaque,          // any other `!dialect.name<...>`, kept as text
};

// How integers say their sign in the text. StableHLO's `i32` is signless and means signed; `ui32`
// is unsigned.
enum class Signedness : uint8_t { kSignless, kSigned, kUnsigned };

struct TypeStorage;
struct QuantizedParams;

// A handle of a type; see the top of this file. Accessors that name kinds are for those kinds.
class Type {
 public:
  // The null type; only `operator bool`, == and ToString (which says "<null>") may be called on it.
  constexpr Type() = default;
  explicit constexpr Type(const TypeStorage* storage) : storage_(storage) {}

  explicit operator bool() const { return storage_ != nullptr; }
  friend bool operator==(Type a, Type b) { return a.storage_ == b.storage_; }
  friend bool operator!=(Type a, Type b) { return a.storage_ != b.storage_; }
  template <typename H>
  friend H AbslHashValue(H h, Type t) {
    return H::combine(std::move(h), t.storage_);
  }

  TypeKind kind() const;
  bool Is(TypeKind k) const { return storage_ != nullptr && kind() == k; }
  bool IsTensor() const { return Is(TypeKind::kTensor); }
  bool IsToken() const { return Is(TypeKind::kToken); }
  // An element type of tensors: kIndex, kInteger, kFloat, kComplex, kQuantized (or an opaque one,
  // which nothing computes with).
  bool IsElementType() const;

  // The runtime's name of an element type, or of a tensor's element type: i1 is PRED, i32 S32, ui8
  // U8. A token gives TOKEN, a tuple TUPLE. INVALID where the runtime has no such type (index, i3,
  // f128, quantized, opaque).
  PrimitiveType primitive_type() const;

  // kInteger and kFloat: the width in bits. 0 for others.
  int bit_width() const;
  // kInteger only.
  Signedness signedness() const;

  // kTensor, kUnrankedTensor, kMemRef, kVector: the element type. kComplex: the type of a part.
  // Null for others.
  Type element_type() const;

  // kTensor, kMemRef, kVector: the sizes, kDynamic where the text says `?`. Empty for others.
  absl::Span<const int64_t> dims() const;
  int64_t rank() const { return static_cast<int64_t>(dims().size()); }
  int64_t dim(int64_t i) const { return dims()[static_cast<size_t>(i)]; }
  // No `?` dimension (a tensor), no unranked tensor; true for scalars, tokens; all parts of a
  // tuple.
  bool HasStaticShape() const;
  // The product of the dims of a static tensor, saturated at INT64_MAX; 1 for rank 0.
  int64_t element_count() const;

  // The `#stablehlo.bounds<...>` of a tensor: one entry a dimension, kDynamic where it has no
  // bound. Empty when the tensor has no bounds. The text may say a negative number, which bounds
  // nothing.
  absl::Span<const int64_t> bounds() const;
  // Any other encoding of a tensor (or the memory space and layout of a memref), null without one.
  Attribute encoding() const;

  // kTuple, kFuture: the parts. kFunction: the inputs. Empty for others.
  absl::Span<const Type> elements() const;
  absl::Span<const Type> inputs() const { return elements(); }
  // kFunction only.
  absl::Span<const Type> results() const;

  // kQuantized only.
  const QuantizedParams& quantized() const;

  // kOpaque: the whole text, from `!` on.
  absl::string_view opaque_text() const;

  // As the text prints it, for example `tensor<2x?xf32>`.
  std::string ToString() const;

  const TypeStorage* storage() const { return storage_; }

 private:
  const TypeStorage* storage_ = nullptr;
};

// `!quant.uniform<storage[<min:max>]:expressed[:axis], scale:zero_point>`. value = (stored -
// zero_point) * scale.
struct QuantizedParams {
  Type storage_type;        // an integer type; its signedness says how storage is read
  Type expressed_type;      // a float type
  int64_t storage_min = 0;  // the range of stored values, the whole of storage_type by default
  int64_t storage_max = 0;
  // Empty: per tensor, one scale. One entry: per axis, one scale an index of that dimension. More,
  // or any with a block size other than 1: per block; entry i is a dimension and block_sizes[i] how
  // many indices share a scale.
  absl::Span<const int64_t> axes;
  absl::Span<const int64_t> block_sizes;  // empty for per tensor and per axis
  absl::Span<const int64_t> scale_dims;   // per block: the shape of `scales`; empty otherwise
  absl::Span<const double> scales;        // row-major
  absl::Span<const int64_t> zero_points;  // as many as scales
  bool IsPerTensor() const { return axes.empty(); }
  bool IsPerAxis() const { return axes.size() == 1 && block_sizes.empty(); }
};

}  // namespace pjrt::ir

#endif  // PJRT_IR_TYPES_H_
