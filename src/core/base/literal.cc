// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/literal.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <new>

#include "src/core/base/checked_math.h"
#include "src/core/base/error.h"
#include "src/core/base/logical_reader.h"
#include "src/core/base/machine_memory.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/strided_copy.h"

namespace pjrt {
namespace {

const Shape& NilShape() {
  static const Shape* const shape = new Shape(std::vector<Shape>{});
  return *shape;
}

// The shape with each array's layout cut down to an order.
Shape LiteralShape(const Shape& shape) {
  if (shape.IsArray()) {
    Shape result(shape.element_type(), shape.dimensions());
    result.set_layout(Layout(MinorToMajorOrDefault(shape)));
    return result;
  }
  if (!shape.IsTuple()) return shape;
  std::vector<Shape> parts;
  for (const Shape& part : shape.tuple_shapes()) parts.push_back(LiteralShape(part));
  return Shape(std::move(parts));
}

int64_t Aligned(int64_t bytes) {
  constexpr int64_t kStep = kLiteralAlignment;
  return SaturatingAdd(bytes, kStep - 1) / kStep * kStep;
}

std::shared_ptr<void> Allocate(size_t bytes) {
  constexpr auto kAlignment = static_cast<std::align_val_t>(kLiteralAlignment);
  void* memory = ::operator new(bytes, kAlignment, std::nothrow);
  if (memory == nullptr) return nullptr;
  return std::shared_ptr<void>(memory, [](void* p) { ::operator delete(p, kAlignment); });
}

absl::Status ShapesDiffer(const Shape& got, const Shape& wanted, absl::string_view what) {
  return InvalidArgument("PJRT-B009", "a literal of shape ", Shorten(got.ToString()), " cannot be ",
                         what, " ", Shorten(wanted.ToString()));
}

void CopyArray(const Shape& from_shape, const void* from, const Shape& to_shape, void* to) {
  const int bytes = ByteWidth(to_shape.element_type());
  if (from_shape.layout() == to_shape.layout()) {
    const auto size = static_cast<size_t>(ByteSize(to_shape));
    if (size != 0) std::memcpy(to, from, size);
    return;
  }
  StridedCopy(bytes, to_shape.dimensions(), from, ByteStrides(from_shape), to,
              ByteStrides(to_shape));
}

}  // namespace

namespace internal {

absl::Status WrongStorageType(const Shape& shape, PrimitiveType given) {
  return InvalidArgument("PJRT-B011", "values of type ", PrimitiveTypeName(given),
                         " given for a literal of shape ", Shorten(shape.ToString()));
}

absl::Status WrongElementCount(const Shape& shape, size_t given) {
  return InvalidArgument("PJRT-B006", given, " values given for a literal of shape ",
                         Shorten(shape.ToString()), "; expected ", ElementCount(shape));
}

}  // namespace internal

const Shape& LiteralBase::shape() const {
  return root_.shape != nullptr ? *root_.shape : NilShape();
}

LiteralBase::Piece LiteralBase::MakePieces(
    const Shape& shape, absl::FunctionRef<void*(const Shape& array)> next_buffer) {
  Piece piece;
  piece.shape = &shape;
  if (shape.IsArray()) piece.data = next_buffer(shape);
  piece.children.reserve(shape.tuple_shapes_size());
  for (const Shape& part : shape.tuple_shapes()) {
    piece.children.push_back(MakePieces(part, next_buffer));
  }
  return piece;
}

const LiteralBase::Piece* LiteralBase::FindPiece(const ShapeIndex& index) const {
  const Piece* piece = &root_;
  for (const int64_t i : index) {
    if (i < 0 || i >= static_cast<int64_t>(piece->children.size())) return nullptr;
    piece = &piece->children[i];
  }
  return piece->shape != nullptr ? piece : nullptr;
}

int64_t LiteralBase::PhysicalIndexIn(const Piece& piece, absl::Span<const int64_t> multi_index) {
  const Shape& shape = *piece.shape;
  if (!shape.IsArray() || static_cast<int64_t>(multi_index.size()) != shape.rank()) return -1;
  int64_t at = 0;
  int64_t stride = 1;
  for (const int64_t dimension : shape.layout().minor_to_major()) {
    const int64_t i = multi_index[dimension];
    const int64_t size = shape.dimensions(static_cast<int>(dimension));
    if (i < 0 || i >= size) return -1;
    at += i * stride;
    stride *= size;
  }
  return at;
}

int64_t LiteralBase::PhysicalIndexOfLinear(const Piece& piece, int64_t linear_index) {
  const Shape& shape = *piece.shape;
  if (linear_index < 0 || linear_index >= ElementCount(shape)) return -1;
  if (IsMonotonicWithDim0Major(shape.layout())) return linear_index;
  return PhysicalIndexIn(piece, MultiIndexOf(shape.dimensions(), linear_index));
}

int64_t LiteralBase::element_count(const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  return piece != nullptr ? ElementCount(*piece->shape) : 0;
}

int64_t LiteralBase::size_bytes(const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  return piece != nullptr ? ByteSize(*piece->shape) : 0;
}

const void* LiteralBase::untyped_data(const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  return piece != nullptr && ElementCount(*piece->shape) > 0 ? piece->data : nullptr;
}

void* MutableLiteralBase::untyped_data(const ShapeIndex& index) {
  return const_cast<void*>(LiteralBase::untyped_data(index));
}

int64_t LiteralBase::PhysicalIndex(absl::Span<const int64_t> multi_index,
                                   const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  return piece != nullptr ? PhysicalIndexIn(*piece, multi_index) : -1;
}

absl::StatusOr<Literal> Literal::MakeUninitialized(const Shape& shape) {
  PJRT_RETURN_IF_ERROR(ValidateShape(shape));
  if (shape.is_dynamic()) {
    return InvalidArgument("PJRT-B007", "shape ", Shorten(shape.ToString()),
                           " has dynamic dimensions; expected a static shape for a literal");
  }
  Literal literal;
  literal.owned_shape_ = std::make_unique<const Shape>(LiteralShape(shape));
  int64_t bytes = 0;
  ForEachSubshape(*literal.owned_shape_, [&bytes](const Shape& part, const ShapeIndex&) {
    if (part.IsArray()) bytes = SaturatingAdd(bytes, Aligned(ByteSize(part)));
  });
  Block block;
  if (bytes <= MachineMemory()) block = {Allocate(static_cast<size_t>(bytes)), bytes};
  if (block.memory == nullptr) {
    return ResourceExhausted("PJRT-B008", "no memory for a literal of shape ",
                             Shorten(shape.ToString()), ": ", bytes, " bytes");
  }
  char* next = static_cast<char*>(block.memory.get());
  literal.root_ = MakePieces(*literal.owned_shape_, [&next](const Shape& array) {
    void* data = next;
    next += Aligned(ByteSize(array));
    return data;
  });
  literal.blocks_.push_back(std::move(block));
  return literal;
}

absl::StatusOr<Literal> Literal::Make(const Shape& shape) {
  PJRT_ASSIGN_OR_RETURN(Literal literal, MakeUninitialized(shape));
  const Block& block = literal.blocks_.front();
  std::memset(block.memory.get(), 0, static_cast<size_t>(block.bytes));
  return literal;
}

void Literal::CollectBuffers(const Piece& piece, std::vector<void*>& buffers) {
  if (piece.shape != nullptr && piece.shape->IsArray()) buffers.push_back(piece.data);
  for (const Piece& child : piece.children) CollectBuffers(child, buffers);
}

Literal Literal::MakeTuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  std::vector<void*> buffers;
  Literal tuple;
  for (Literal& element : elements) {
    shapes.push_back(element.shape());
    CollectBuffers(element.root_, buffers);
    std::move(element.blocks_.begin(), element.blocks_.end(), std::back_inserter(tuple.blocks_));
    element = Literal();
  }
  tuple.owned_shape_ = std::make_unique<const Shape>(std::move(shapes));
  size_t next = 0;
  tuple.root_ = MakePieces(*tuple.owned_shape_, [&](const Shape&) { return buffers[next++]; });
  return tuple;
}

std::vector<Literal> Literal::DecomposeTuple() {
  std::vector<Literal> elements;
  if (!shape().IsTuple()) {
    elements.push_back(std::move(*this));
    return elements;
  }
  for (const Piece& child : root_.children) {
    Literal element;
    std::vector<void*> buffers;
    CollectBuffers(child, buffers);
    element.owned_shape_ = std::make_unique<const Shape>(*child.shape);
    size_t next = 0;
    element.root_ =
        MakePieces(*element.owned_shape_, [&](const Shape&) { return buffers[next++]; });
    for (const Block& block : blocks_) {
      const char* begin = static_cast<const char*>(block.memory.get());
      const auto inside = [&](void* buffer) {
        return std::less_equal<const char*>()(begin, static_cast<char*>(buffer)) &&
               std::less_equal<const char*>()(static_cast<char*>(buffer), begin + block.bytes);
      };
      if (std::any_of(buffers.begin(), buffers.end(), inside)) element.blocks_.push_back(block);
    }
    elements.push_back(std::move(element));
  }
  *this = Literal();
  return elements;
}

absl::StatusOr<Literal> LiteralBase::Clone() const { return Relayout(shape()); }

absl::StatusOr<Literal> LiteralBase::Relayout(const Layout& layout) const {
  if (!shape().IsArray()) return ShapesDiffer(shape(), shape(), "laid out as one array; it is");
  Shape wanted = shape();
  wanted.set_layout(Layout(layout.minor_to_major()));
  return Relayout(wanted);
}

absl::StatusOr<Literal> LiteralBase::Relayout(const Shape& wanted) const {
  if (!Compatible(shape(), wanted)) return ShapesDiffer(shape(), wanted, "laid out as");
  PJRT_ASSIGN_OR_RETURN(Literal result, Literal::MakeUninitialized(wanted));
  PJRT_RETURN_IF_ERROR(result.CopyFrom(*this));
  return result;
}

absl::StatusOr<Literal> LiteralBase::Reshape(absl::Span<const int64_t> dimensions) const {
  const Shape wanted = MakeShapeWithDescendingLayout(shape().element_type(), dimensions);
  if (!shape().IsArray() || ElementCount(wanted) != element_count()) {
    return ShapesDiffer(shape(), wanted, "reshaped to");
  }
  PJRT_ASSIGN_OR_RETURN(Literal result, Literal::MakeUninitialized(wanted));
  const Shape row_major =
      MakeShapeWithDescendingLayout(shape().element_type(), shape().dimensions());
  CopyArray(shape(), root_.data, row_major, result.root_.data);
  return result;
}

absl::Status MutableLiteralBase::CopyFrom(const LiteralBase& source, const ShapeIndex& destination,
                                          const ShapeIndex& source_index) {
  const LiteralSlice from(source, source_index);
  const MutableBorrowingLiteral to(this, destination);
  if (!Compatible(from.shape(), to.shape())) {
    return ShapesDiffer(from.shape(), to.shape(), "copied into a literal of shape");
  }
  ForEachSubshape(to.shape(), [&](const Shape& part, const ShapeIndex& index) {
    if (!part.IsArray()) return;
    const Piece* from_piece = from.FindPiece(index);
    CopyArray(*from_piece->shape, from_piece->data, part, to.FindPiece(index)->data);
  });
  return absl::OkStatus();
}

bool LiteralBase::operator==(const LiteralBase& other) const {
  if (!Compatible(shape(), other.shape())) return false;
  bool equal = true;
  ForEachSubshape(shape(), [&](const Shape& part, const ShapeIndex& index) {
    if (!equal || !part.IsArray()) return;
    equal = SameElements(part, FindPiece(index)->data, *other.FindPiece(index)->shape,
                         other.FindPiece(index)->data);
  });
  return equal;
}

LiteralSlice::LiteralSlice(const LiteralBase& literal) { root_ = literal.root_; }

LiteralSlice::LiteralSlice(const LiteralBase& literal, const ShapeIndex& index) {
  const Piece* piece = literal.FindPiece(index);
  if (piece != nullptr) root_ = *piece;
}

MutableBorrowingLiteral::MutableBorrowingLiteral(MutableLiteralBase* literal)
    : MutableBorrowingLiteral(literal, {}) {}

MutableBorrowingLiteral::MutableBorrowingLiteral(MutableLiteralBase* literal,
                                                 const ShapeIndex& index) {
  const Piece* piece = static_cast<LiteralBase*>(literal)->FindPiece(index);
  if (piece != nullptr) root_ = *piece;
}

namespace {

// What a literal over foreign memory of that shape would need; null when such a literal cannot be.
std::shared_ptr<const Shape> BorrowedShape(const Shape& shape, size_t buffers) {
  if (!ValidateShape(shape).ok() || shape.is_dynamic()) return nullptr;
  size_t arrays = 0;
  ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex&) { arrays += part.IsArray(); });
  if (arrays != buffers) return nullptr;
  return std::make_shared<const Shape>(LiteralShape(shape));
}

}  // namespace

BorrowingLiteral::BorrowingLiteral(const void* data, const Shape& shape)
    : BorrowingLiteral(absl::Span<const void* const>(&data, 1), shape) {}

BorrowingLiteral::BorrowingLiteral(absl::Span<const void* const> data, const Shape& shape)
    : owned_shape_(BorrowedShape(shape, data.size())) {
  if (owned_shape_ == nullptr) return;
  size_t next = 0;
  root_ = MakePieces(*owned_shape_, [&](const Shape&) { return const_cast<void*>(data[next++]); });
}

MutableBorrowingLiteral::MutableBorrowingLiteral(void* data, const Shape& shape)
    : MutableBorrowingLiteral(absl::Span<void* const>(&data, 1), shape) {}

MutableBorrowingLiteral::MutableBorrowingLiteral(absl::Span<void* const> data, const Shape& shape)
    : owned_shape_(BorrowedShape(shape, data.size())) {
  if (owned_shape_ == nullptr) return;
  size_t next = 0;
  root_ = MakePieces(*owned_shape_, [&](const Shape&) { return data[next++]; });
}

Literal CreateToken() {
  absl::StatusOr<Literal> literal = Literal::MakeUninitialized(MakeTokenShape());
  return literal.ok() ? *std::move(literal) : Literal();
}

}  // namespace pjrt
