// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/shape.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "src/core/base/checked_math.h"
#include "src/core/base/error.h"
#include "src/core/base/pack_bits.h"
#include "src/core/base/shape_limits.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

constexpr int64_t kSaturated = std::numeric_limits<int64_t>::max();

const Layout& EmptyLayout() {
  static const Layout* const layout = new Layout;
  return *layout;
}

// Bits of one element in packed memory.
int64_t PackedElementBits(const Shape& shape) {
  if (shape.has_layout() && shape.layout().element_size_in_bits() > 0) {
    return shape.layout().element_size_in_bits();
  }
  return PackedBits(shape.element_type());
}

// The sum over all arrays of a shape of what `size` says of each.
template <typename Size>
int64_t SumOverArrays(const Shape& shape, const Size& size) {
  if (shape.IsArray()) return size(shape);
  int64_t sum = 0;
  for (const Shape& part : shape.tuple_shapes()) {
    sum = SaturatingAdd(sum, SumOverArrays(part, size));
  }
  return sum;
}

absl::Status ValidateArray(const Shape& shape) {
  const auto error = [&shape](const auto&... why) {
    return InvalidArgument("PJRT-B005", "shape ", Shorten(shape.ToString()), ": ", why...);
  };
  int64_t bytes = ByteWidth(shape.element_type());
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    const int64_t size = shape.dimensions(i);
    if (size == Shape::kUnboundedSize) {
      if (!shape.is_dynamic_dimension(i))
        return error("dimension ", i, " is unbounded but not marked dynamic");
      continue;
    }
    if (size < 0) return error("dimension ", i, " is ", size, "; expected at least 0");
    bytes = SaturatingMultiply(bytes, std::max<int64_t>(size, 1));
  }
  if (bytes == kSaturated) return error("its size in bytes does not fit in 63 bits");
  if (shape.has_layout()) {
    const absl::Status status = ValidateLayout(shape.layout(), shape.rank());
    if (!status.ok()) return WithContext(status, absl::StrCat("shape ", Shorten(shape.ToString())));
  }
  return absl::OkStatus();
}

absl::Status Validate(const Shape& shape, int depth) {
  if (shape.IsArray()) {
    if (shape.tuple_shapes_size() != 0) {
      return InvalidArgument("PJRT-B005", "shape ", Shorten(shape.ToString()),
                             ": an array has no tuple elements");
    }
    return ValidateArray(shape);
  }
  if (!shape.IsTuple() && !shape.IsToken() && !shape.IsOpaque()) {
    return InvalidArgument("PJRT-B005", "a shape has element type ",
                           static_cast<int>(shape.element_type()),
                           ", which is none; expected an array type, a tuple, a token or opaque");
  }
  if (shape.rank() != 0 || shape.has_layout()) {
    return InvalidArgument("PJRT-B005", "a ", PrimitiveTypeName(shape.element_type()),
                           " shape has dimensions or a layout, which only arrays have");
  }
  if (!shape.IsTuple() && shape.tuple_shapes_size() != 0) {
    return InvalidArgument("PJRT-B005", "a ", PrimitiveTypeName(shape.element_type()),
                           " shape has tuple elements");
  }
  if (depth >= kDeepestTuple) {
    return InvalidArgument("PJRT-B005", "a shape has more than ", kDeepestTuple,
                           " levels of tuples");
  }
  for (const Shape& part : shape.tuple_shapes()) {
    PJRT_RETURN_IF_ERROR(Validate(part, depth + 1));
  }
  return absl::OkStatus();
}

void VisitSubshapes(const Shape& shape, ShapeIndex& index,
                    absl::FunctionRef<void(const Shape&, const ShapeIndex&)> visit) {
  visit(shape, index);
  for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
    index.push_back(i);
    VisitSubshapes(shape.tuple_shapes(i), index, visit);
    index.pop_back();
  }
}

}  // namespace

Shape::Shape(PrimitiveType element_type, absl::Span<const int64_t> dimensions)
    : element_type_(element_type), dimensions_(dimensions.begin(), dimensions.end()) {
  dynamic_dimensions_.reserve(dimensions.size());
  for (const int64_t size : dimensions) dynamic_dimensions_.push_back(size == kUnboundedSize);
}

Shape::Shape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
             absl::Span<const bool> dynamic_dimensions)
    : Shape(element_type, dimensions) {
  const size_t flags = std::min(dynamic_dimensions.size(), dynamic_dimensions_.size());
  for (size_t i = 0; i < flags; ++i) dynamic_dimensions_[i] |= dynamic_dimensions[i];
}

Shape::Shape(std::vector<Shape> tuple_shapes)
    : element_type_(TUPLE), tuple_shapes_(std::move(tuple_shapes)) {}

Shape::Shape(const Shape&) = default;
Shape::Shape(Shape&&) noexcept = default;
Shape& Shape::operator=(const Shape&) = default;
Shape& Shape::operator=(Shape&&) noexcept = default;
Shape::~Shape() = default;

void Shape::set_dimensions(int i, int64_t size) {
  dimensions_[i] = size;
  if (size == kUnboundedSize) dynamic_dimensions_[i] = true;
}

void Shape::add_dimensions(int64_t size, bool is_dynamic) {
  dimensions_.push_back(size);
  dynamic_dimensions_.push_back(is_dynamic || size == kUnboundedSize);
}

bool Shape::is_static() const {
  return std::none_of(dynamic_dimensions_.begin(), dynamic_dimensions_.end(),
                      [](bool is_dynamic) { return is_dynamic; }) &&
         std::all_of(tuple_shapes_.begin(), tuple_shapes_.end(),
                     [](const Shape& part) { return part.is_static(); });
}

bool Shape::is_unbounded_dynamic() const {
  return std::any_of(dimensions_.begin(), dimensions_.end(),
                     [](int64_t size) { return size == kUnboundedSize; }) ||
         std::any_of(tuple_shapes_.begin(), tuple_shapes_.end(),
                     [](const Shape& part) { return part.is_unbounded_dynamic(); });
}

void Shape::add_tuple_shape(Shape shape) { tuple_shapes_.push_back(std::move(shape)); }

const Layout& Shape::layout() const { return layout_.has_value() ? *layout_ : EmptyLayout(); }

Layout* Shape::mutable_layout() {
  if (!layout_.has_value()) layout_.emplace();
  return &*layout_;
}

void Shape::clear_layout() {
  layout_.reset();
  for (Shape& part : tuple_shapes_) part.clear_layout();
}

bool Shape::Equal::operator()(const Shape& a, const Shape& b) const {
  const bool same_type =
      a.element_type() == b.element_type() ||
      (a.IsArray() && b.IsArray() &&
       (ignore_element_type_ ||
        (ignore_float_precision_ && IsFloating(a.element_type()) && IsFloating(b.element_type()))));
  if (!same_type || a.dimensions() != b.dimensions()) return false;
  if (!ignore_dynamic_ && a.dynamic_dimensions() != b.dynamic_dimensions()) return false;
  if (a.IsArray() && !ignore_layout_) {
    if (minor_to_major_only_) {
      if (MinorToMajorOrDefault(a) != MinorToMajorOrDefault(b)) return false;
    } else if (a.has_layout() != b.has_layout()) {
      return false;
    } else if (a.has_layout() && a.layout() != b.layout()) {
      if (!ignore_memory_space_) return false;
      Layout moved = b.layout();
      moved.set_memory_space(a.layout().memory_space());
      if (a.layout() != moved) return false;
    }
  }
  if (a.tuple_shapes_size() != b.tuple_shapes_size()) return false;
  for (int i = 0; i < a.tuple_shapes_size(); ++i) {
    if (!(*this)(a.tuple_shapes(i), b.tuple_shapes(i))) return false;
  }
  return true;
}

Shape MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  return Shape(type, dimensions);
}

Shape MakeShape(PrimitiveType type, absl::Span<const int64_t> dimensions,
                absl::Span<const bool> dynamic_dimensions) {
  return Shape(type, dimensions, dynamic_dimensions);
}

Shape MakeShapeWithLayout(PrimitiveType type, absl::Span<const int64_t> dimensions,
                          absl::Span<const int64_t> minor_to_major) {
  Shape shape(type, dimensions);
  shape.set_layout(Layout(minor_to_major));
  return shape;
}

Shape MakeShapeWithDescendingLayout(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  Shape shape(type, dimensions);
  shape.set_layout(MakeDescendingLayout(shape.rank()));
  return shape;
}

Shape MakeScalarShape(PrimitiveType type) { return Shape(type, {}); }

Shape MakeTupleShape(absl::Span<const Shape> shapes) {
  return Shape(std::vector<Shape>(shapes.begin(), shapes.end()));
}

Shape MakeTokenShape() { return Shape(TOKEN, {}); }

Shape MakeOpaqueShape() { return Shape(OPAQUE_TYPE, {}); }

absl::Status ValidateShape(const Shape& shape) { return Validate(shape, 0); }

int64_t ElementCount(absl::Span<const int64_t> dimensions) {
  int64_t count = 1;
  for (const int64_t size : dimensions) {
    if (size == Shape::kUnboundedSize) {
      count = count == 0 ? 0 : kSaturated;
    } else if (size <= 0) {
      return 0;
    } else {
      count = SaturatingMultiply(count, size);
    }
  }
  return count;
}

int64_t ElementCount(const Shape& shape) {
  return shape.IsArray() ? ElementCount(shape.dimensions()) : 0;
}

int64_t ByteSize(const Shape& shape) {
  return SumOverArrays(shape, [](const Shape& array) {
    return SaturatingMultiply(ElementCount(array), ByteWidth(array.element_type()));
  });
}

int64_t PackedByteSize(const Shape& shape) {
  return SumOverArrays(shape, [](const Shape& array) {
    const int64_t bits = PackedElementBits(array);
    const int64_t count = ElementCount(array);
    // Whole bytes' worth of elements first, so that the number of bits need not fit.
    if (bits % 8 == 0) return SaturatingMultiply(count, bits / 8);
    const int64_t whole = SaturatingMultiply(count / 8, bits);
    return count == kSaturated ? kSaturated : SaturatingAdd(whole, (count % 8 * bits + 7) / 8);
  });
}

bool Compatible(const Shape& a, const Shape& b) { return Shape::Equal().IgnoreLayout()(a, b); }

bool CompatibleIgnoringElementType(const Shape& a, const Shape& b) {
  return Shape::Equal().IgnoreLayout().IgnoreElementType()(a, b);
}

DimensionVector MinorToMajorOrDefault(const Shape& shape) {
  if (static_cast<int64_t>(shape.layout().minor_to_major().size()) == shape.rank()) {
    const absl::Span<const int64_t> order = shape.layout().minor_to_major();
    return DimensionVector(order.begin(), order.end());
  }
  DimensionVector order;
  for (int64_t i = shape.rank() - 1; i >= 0; --i) order.push_back(i);
  return order;
}

DimensionVector ElementStrides(const Shape& shape) {
  DimensionVector strides(shape.dimensions_size(), 1);
  int64_t stride = 1;
  for (const int64_t dimension : MinorToMajorOrDefault(shape)) {
    strides[dimension] = stride;
    stride = SaturatingMultiply(stride, std::max<int64_t>(shape.dimensions(dimension), 1));
  }
  return strides;
}

DimensionVector ByteStrides(const Shape& shape) {
  DimensionVector strides = ElementStrides(shape);
  for (int64_t& stride : strides)
    stride = SaturatingMultiply(stride, ByteWidth(shape.element_type()));
  return strides;
}

Shape StaticShape(const Shape& shape) {
  Shape result = shape;
  for (int i = 0; i < result.dimensions_size(); ++i) {
    if (result.dimensions(i) != Shape::kUnboundedSize) result.set_dynamic_dimension(i, false);
  }
  for (int i = 0; i < result.tuple_shapes_size(); ++i) {
    *result.mutable_tuple_shapes(i) = StaticShape(shape.tuple_shapes(i));
  }
  return result;
}

Shape WithDefaultLayouts(const Shape& shape) {
  Shape result = shape;
  if (result.IsArray() && !result.has_layout()) {
    result.set_layout(MakeDescendingLayout(result.rank()));
  }
  for (int i = 0; i < result.tuple_shapes_size(); ++i) {
    *result.mutable_tuple_shapes(i) = WithDefaultLayouts(shape.tuple_shapes(i));
  }
  return result;
}

const Shape* FindSubshape(const Shape& shape, absl::Span<const int64_t> index) {
  const Shape* part = &shape;
  for (const int64_t i : index) {
    if (i < 0 || i >= part->tuple_shapes_size()) return nullptr;
    part = &part->tuple_shapes(static_cast<int>(i));
  }
  return part;
}

void ForEachSubshape(const Shape& shape,
                     absl::FunctionRef<void(const Shape& part, const ShapeIndex& index)> visit) {
  ShapeIndex index;
  VisitSubshapes(shape, index, visit);
}

}  // namespace pjrt
