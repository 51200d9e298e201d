// SPDX-License-Identifier: Apache-2.0
//
// Literals whose elements are wanted as another type.
#include <algorithm>
#include <limits>
#include <memory>

#include "pjrt/base/literal.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/wide_elements.h"

namespace pjrt {
namespace {

// The element at `at`, which is inside.
void LoadOne(const Shape& shape, const void* data, int64_t at, WideBlock& to) {
  const PrimitiveType type = shape.element_type();
  LoadWide(type, static_cast<const char*>(data) + at * ByteWidth(type), 1, to);
}

Literal ScalarFromWide(PrimitiveType type, const WideBlock& value) {
  if (!IsArrayType(type)) return Literal();
  absl::StatusOr<Literal> literal = Literal::MakeUninitialized(MakeScalarShape(type));
  if (!literal.ok()) return Literal();
  StoreWide(value, 1, type, literal->untyped_data());
  return *std::move(literal);
}

}  // namespace

std::optional<double> LiteralBase::GetAsDouble(absl::Span<const int64_t> multi_index,
                                               const ShapeIndex& index) const {
  const std::optional<std::complex<double>> value = GetAsComplex(multi_index, index);
  if (!value.has_value() || IsComplex(FindPiece(index)->shape->element_type())) return std::nullopt;
  return value->real();
}

std::optional<int64_t> LiteralBase::GetAsInt64(absl::Span<const int64_t> multi_index,
                                               const ShapeIndex& index) const {
  const int64_t at = PhysicalIndex(multi_index, index);
  if (at < 0) return std::nullopt;
  const Piece* piece = FindPiece(index);
  WideBlock value;
  LoadOne(*piece->shape, piece->data, at, value);
  switch (value.type) {
    case WideType::kInt64:
      return value.int64s[0];
    case WideType::kUint64:
      if (value.uint64s[0] > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return std::nullopt;
      }
      return static_cast<int64_t>(value.uint64s[0]);
    case WideType::kDouble:
    case WideType::kComplex:
      break;
  }
  return std::nullopt;
}

std::optional<std::complex<double>> LiteralBase::GetAsComplex(absl::Span<const int64_t> multi_index,
                                                              const ShapeIndex& index) const {
  const int64_t at = PhysicalIndex(multi_index, index);
  if (at < 0) return std::nullopt;
  const Piece* piece = FindPiece(index);
  WideBlock value;
  LoadOne(*piece->shape, piece->data, at, value);
  switch (value.type) {
    case WideType::kInt64:
      return static_cast<double>(value.int64s[0]);
    case WideType::kUint64:
      return static_cast<double>(value.uint64s[0]);
    case WideType::kDouble:
      return value.doubles[0];
    case WideType::kComplex:
      break;
  }
  return value.Complex(0);
}

absl::StatusOr<Literal> LiteralBase::Convert(PrimitiveType type) const {
  if (!shape().IsArray() || !IsArrayType(type)) {
    return InvalidArgument("PJRT-B010", "a literal of shape ", Shorten(shape().ToString()),
                           " cannot be converted to ", PrimitiveTypeName(type),
                           "; expected an array and an array's element type");
  }
  if (type == shape().element_type()) return Clone();
  Shape wanted = shape();
  wanted.set_element_type(type);
  PJRT_ASSIGN_OR_RETURN(Literal result, Literal::MakeUninitialized(wanted));
  const char* from = static_cast<const char*>(root_.data);
  char* to = static_cast<char*>(result.root_.data);
  auto block = std::make_unique<WideBlock>();
  const int64_t count = element_count();
  for (int64_t done = 0; done < count; done += WideBlock::kSize) {
    const int64_t step = std::min(WideBlock::kSize, count - done);
    LoadWide(shape().element_type(), from, step, *block);
    StoreWide(*block, step, type, to);
    from += step * ByteWidth(shape().element_type());
    to += step * ByteWidth(type);
  }
  return result;
}

bool LiteralBase::IsAllZero() const {
  if (!shape().IsArray()) return false;
  const char* from = static_cast<const char*>(root_.data);
  auto block = std::make_unique<WideBlock>();
  const int64_t count = element_count();
  for (int64_t done = 0; done < count; done += WideBlock::kSize) {
    const int64_t step = std::min(WideBlock::kSize, count - done);
    LoadWide(shape().element_type(), from, step, *block);
    for (int64_t i = 0; i < step; ++i) {
      const bool zero = block->type == WideType::kInt64    ? block->int64s[i] == 0
                        : block->type == WideType::kUint64 ? block->uint64s[i] == 0
                        : block->type == WideType::kDouble ? block->doubles[i] == 0
                                                           : block->Complex(i) == 0.0;
      if (!zero) return false;
    }
    from += step * ByteWidth(shape().element_type());
  }
  return true;
}

Literal CreateScalar(PrimitiveType type, double value) {
  WideBlock wide;
  wide.type = WideType::kDouble;
  wide.doubles[0] = value;
  return ScalarFromWide(type, wide);
}

Literal CreateScalar(PrimitiveType type, int64_t value) {
  WideBlock wide;
  wide.type = WideType::kInt64;
  wide.int64s[0] = value;
  return ScalarFromWide(type, wide);
}

}  // namespace pjrt
