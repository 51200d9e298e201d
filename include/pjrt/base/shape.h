// SPDX-License-Identifier: Apache-2.0
//
// Shape: element type and sizes of an array, or a tuple of shapes, a token, or an opaque value.
#ifndef PJRT_BASE_SHAPE_H_
#define PJRT_BASE_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/layout.h"
#include "pjrt/base/primitive_type.h"

namespace pjrt {

// A path into nested tuples: {} is the whole, {1, 0} the first element of the second element.
using ShapeIndex = absl::InlinedVector<int64_t, 2>;

// A value type; thread-safe as a plain struct is. It may hold anything, sizes from a hostile file
// included: only ValidateShape says whether it makes sense, and the functions below are safe on all
// of them.
//
// A dimension is static (a size), bounded (its size is the upper bound and its dynamic flag is set)
// or unbounded (its size is kUnboundedSize and its dynamic flag is set).
//
// Text form: `f32[2,3]`, `f32[2,3]{1,0}`, `s32[]`, `f32[<=5,?]`, `(f32[2], token[])`, `opaque[]`.
class Shape {
 public:
  static constexpr int64_t kUnboundedSize = INT64_MIN;

  // INVALID, rank 0: no shape at all.
  Shape() = default;
  // An array. A size of kUnboundedSize makes its dimension dynamic.
  Shape(PrimitiveType element_type, absl::Span<const int64_t> dimensions);
  // `dynamic_dimensions` is as long as `dimensions`, or empty: all static but the unbounded ones.
  Shape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
        absl::Span<const bool> dynamic_dimensions);
  // A tuple.
  explicit Shape(std::vector<Shape> tuple_shapes);
  // Not inline, which makes sources that use shapes quicker to compile.
  Shape(const Shape&);
  Shape(Shape&&) noexcept;
  Shape& operator=(const Shape&);
  Shape& operator=(Shape&&) noexcept;
  ~Shape();

  PrimitiveType element_type() const { return element_type_; }
  void set_element_type(PrimitiveType type) { element_type_ = type; }

  bool IsArray() const { return IsArrayType(element_type_); }
  bool IsTuple() const { return element_type_ == TUPLE; }
  bool IsToken() const { return element_type_ == TOKEN; }
  bool IsOpaque() const { return element_type_ == OPAQUE_TYPE; }

  // Number of dimensions; 0 for scalars and for what is not an array.
  int64_t rank() const { return static_cast<int64_t>(dimensions_.size()); }
  int dimensions_size() const { return static_cast<int>(dimensions_.size()); }
  absl::Span<const int64_t> dimensions() const { return dimensions_; }
  int64_t dimensions(int i) const { return dimensions_[i]; }
  // Changes a size and leaves the dynamic flag, except that kUnboundedSize sets it.
  void set_dimensions(int i, int64_t size);
  void add_dimensions(int64_t size, bool is_dynamic = false);

  // One flag a dimension; true for bounded and unbounded ones.
  absl::Span<const bool> dynamic_dimensions() const { return dynamic_dimensions_; }
  bool is_dynamic_dimension(int i) const { return dynamic_dimensions_[i]; }
  bool is_unbounded_dynamic_dimension(int i) const { return dimensions_[i] == kUnboundedSize; }
  bool is_bounded_dynamic_dimension(int i) const {
    return dynamic_dimensions_[i] && dimensions_[i] != kUnboundedSize;
  }
  void set_dynamic_dimension(int i, bool is_dynamic) { dynamic_dimensions_[i] = is_dynamic; }
  // True when no dimension is dynamic, in any element of a tuple.
  bool is_static() const;
  bool is_dynamic() const { return !is_static(); }
  // True when some dimension is unbounded, in any element of a tuple.
  bool is_unbounded_dynamic() const;

  // Elements of a tuple; empty for anything else.
  absl::Span<const Shape> tuple_shapes() const { return tuple_shapes_; }
  const Shape& tuple_shapes(int i) const { return tuple_shapes_[i]; }
  int tuple_shapes_size() const { return static_cast<int>(tuple_shapes_.size()); }
  Shape* mutable_tuple_shapes(int i) { return &tuple_shapes_[i]; }
  void add_tuple_shape(Shape shape);

  // An array may carry a layout; without one it stands for row-major where memory is concerned.
  bool has_layout() const { return layout_.has_value(); }
  // The layout; an empty one when has_layout() is false.
  const Layout& layout() const;
  // Makes an empty layout when there is none.
  Layout* mutable_layout();
  void set_layout(Layout layout) { layout_ = std::move(layout); }
  // Removes the layout, and those of a tuple's elements.
  void clear_layout();

  // `print_layout` false leaves out every layout.
  std::string ToString(bool print_layout = true) const;

  // Reads the text form; blanks are allowed between tokens. INVALID_ARGUMENT [PJRT-B004], naming
  // the place, for anything else: trailing characters, sizes that do not fit, over 100 levels of
  // tuples. What it returns passes ValidateShape.
  static absl::StatusOr<Shape> Parse(absl::string_view text);

  // Equality that may look away from some things:
  //   Shape::Equal().IgnoreLayout()(a, b)
  // By default everything counts, and a missing layout equals only a missing layout.
  class Equal {
   public:
    bool operator()(const Shape& a, const Shape& b) const;
    Equal& IgnoreLayout() {
      ignore_layout_ = true;
      return *this;
    }
    // Of a layout, only minor_to_major counts, and a missing layout is row-major.
    Equal& MinorToMajorOnly() {
      minor_to_major_only_ = true;
      return *this;
    }
    Equal& IgnoreMemorySpace() {
      ignore_memory_space_ = true;
      return *this;
    }
    Equal& IgnoreElementType() {
      ignore_element_type_ = true;
      return *this;
    }
    // A float type equals every other float type.
    Equal& IgnoreFloatPrecision() {
      ignore_float_precision_ = true;
      return *this;
    }
    // The dynamic flag does not count; sizes and bounds do.
    Equal& IgnoreDynamicDimensions() {
      ignore_dynamic_ = true;
      return *this;
    }

   private:
    bool ignore_layout_ = false;
    bool minor_to_major_only_ = false;
    bool ignore_memory_space_ = false;
    bool ignore_element_type_ = false;
    bool ignore_float_precision_ = false;
    bool ignore_dynamic_ = false;
  };

  friend bool operator==(const Shape& a, const Shape& b) { return Equal()(a, b); }
  friend bool operator!=(const Shape& a, const Shape& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), static_cast<uint8_t>(s.element_type_), s.dimensions_,
                      s.dynamic_dimensions_, s.tuple_shapes_, s.has_layout(), s.layout());
  }

 private:
  PrimitiveType element_type_ = INVALID;
  DimensionVector dimensions_;
  absl::InlinedVector<bool, 8> dynamic_dimensions_;
  std::vector<Shape> tuple_shapes_;
  std::optional<Layout> layout_;
};

// Makers. None of them checks sizes; see ValidateShape.
Shape MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions);
Shape MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions,
                absl::Span<const bool> dynamic_dimensions);
Shape MakeShapeWithLayout(PrimitiveType type, absl::Span<const int64_t> dimensions,
                          absl::Span<const int64_t> minor_to_major);
// With the row-major layout spelled out.
Shape MakeShapeWithDescendingLayout(PrimitiveType type, absl::Span<const int64_t> dimensions);
Shape MakeScalarShape(PrimitiveType type);
Shape MakeTupleShape(absl::Span<const Shape> shapes);
Shape MakeTokenShape();
Shape MakeOpaqueShape();

// OK when the shape can exist: a known element type; sizes that are not negative (or kUnboundedSize
// with the flag set); a size in bytes that fits in int64_t, counting a size of 0 as 1; a layout, if
// there is one, that fits the rank; the same for the elements of a tuple, at most 100 levels deep.
// INVALID_ARGUMENT [PJRT-B005] names what is wrong otherwise.
absl::Status ValidateShape(const Shape& shape);

// Number of elements of an array, bounded dimensions counted at their bound; 1 for a scalar, 0 for
// what is not an array. INT64_MAX when the number does not fit or a dimension is unbounded, but 0
// when some size is 0 or negative.
int64_t ElementCount(const Shape& shape);
int64_t ElementCount(absl::Span<const int64_t> dimensions);

// Bytes of the elements at ByteWidth(type) each; for a tuple the sum over its elements (0 for
// tokens and opaque values). INT64_MAX when that does not fit or a dimension is unbounded.
int64_t ByteSize(const Shape& shape);

// The same with each array of a sub-byte type packed at the layout's element_size_in_bits, or at
// BitWidth(type) when the layout gives none, rounded up to a byte an array. F6 types are not
// packed: their elements take a byte.
int64_t PackedByteSize(const Shape& shape);

// True when shapes are equal apart from layouts.
bool Compatible(const Shape& a, const Shape& b);
// True when also element types may differ.
bool CompatibleIgnoringElementType(const Shape& a, const Shape& b);

// The layout's minor_to_major, or row-major when the shape has no layout.
DimensionVector MinorToMajorOrDefault(const Shape& shape);

// Distance in elements between neighbours along each dimension, in the shape's layout (tiles not
// counted). Sizes of 0 count as 1. The shape must be valid, an array, and without unbounded
// dimensions.
DimensionVector ElementStrides(const Shape& shape);
// Byte strides for unpacked elements, likewise.
DimensionVector ByteStrides(const Shape& shape);

// The shape with each bounded dimension made static at its bound.
Shape StaticShape(const Shape& shape);

// The shape with every array given the row-major layout, where it has none.
Shape WithDefaultLayouts(const Shape& shape);

// The part of `shape` at `index`, or null when there is none.
const Shape* FindSubshape(const Shape& shape, absl::Span<const int64_t> index);

// Calls `visit` for every part, the whole first, then each tuple element with its parts in order.
void ForEachSubshape(const Shape& shape,
                     absl::FunctionRef<void(const Shape& part, const ShapeIndex& index)> visit);

}  // namespace pjrt

#endif  // PJRT_BASE_SHAPE_H_
