// SPDX-License-Identifier: Apache-2.0
//
// Literals as text.
#include <charconv>
#include <cstring>
#include <limits>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pjrt/base/literal.h"
#include "src/core/base/logical_reader.h"
#include "src/core/base/type_dispatch.h"

namespace pjrt {
namespace {

// More dimensions than these are printed as one list: nested text would help nobody.
constexpr int64_t kMostNested = 32;
// Elements shown at both ends of a dimension that is cut.
constexpr int64_t kEdge = 3;

template <typename T>
bool SameValue(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// The shortest text that reads back as `value`.
template <typename T>
std::string Shortest(T value) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

// A short decimal number that reads back as `value` of its own format.
template <typename T>
std::string FloatText(T value) {
  const double wide = static_cast<double>(value);
  if (wide != wide) return "nan";
  if (wide == std::numeric_limits<double>::infinity()) return "inf";
  if (wide == -std::numeric_limits<double>::infinity()) return "-inf";
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return Shortest(value);
  } else {
    // The fewest digits that tell the number from its neighbours.
    for (int digits = 1; digits < std::numeric_limits<float>::max_digits10; ++digits) {
      char text[64];
      const std::to_chars_result end =
          std::to_chars(text, text + sizeof(text), wide, std::chars_format::scientific, digits - 1);
      double rounded = 0;
      if (absl::SimpleAtod(absl::string_view(text, static_cast<size_t>(end.ptr - text)),
                           &rounded) &&
          SameValue(T(rounded), value)) {
        return Shortest(rounded);
      }
    }
    return Shortest(wide);
  }
}

std::string ElementText(PrimitiveType type, const void* element) {
  return VisitArrayType(type, [&](auto t) -> std::string {
    using T = typename NativeTypeOf<t()>::type;
    if constexpr (t() == PRED) {
      return *static_cast<const uint8_t*>(element) != 0 ? "true" : "false";
    } else {
      const T value = *static_cast<const T*>(element);
      if constexpr (IsInteger(t())) {
        return absl::StrCat(value);
      } else if constexpr (IsComplex(t())) {
        return absl::StrCat("(", FloatText(value.real()), ", ", FloatText(value.imag()), ")");
      } else {
        return FloatText(value);
      }
    }
  });
}

// Prints one array.
class ArrayPrinter {
 public:
  ArrayPrinter(const Shape& shape, const void* data, int64_t max_elements, std::string& out)
      : shape_(shape),
        data_(static_cast<const char*>(data)),
        strides_(ByteStrides(shape)),
        cut_(ElementCount(shape) > max_elements),
        left_(max_elements < 1 ? 1 : max_elements),
        out_(out) {}

  void Print() {
    absl::StrAppend(&out_, shape_.ToString(/*print_layout=*/false), " ");
    if (shape_.rank() == 0) {
      PrintElement(0);
    } else if (ElementCount(shape_) == 0) {
      out_ += "{}";
    } else if (shape_.rank() > kMostNested) {
      PrintFlat();
    } else {
      PrintDimension(0, 0);
    }
  }

 private:
  void PrintElement(int64_t offset) {
    out_ += ElementText(shape_.element_type(), data_ + offset);
    --left_;
  }

  void PrintDimension(int d, int64_t offset) {
    const int64_t size = shape_.dimensions(d);
    out_ += '{';
    for (int64_t i = 0; i < size; ++i) {
      if (i != 0) out_ += ", ";
      if (left_ <= 0) {
        out_ += "...";
        break;
      }
      if (cut_ && i == kEdge && size > 2 * kEdge) {
        out_ += "..., ";
        i = size - kEdge;
      }
      if (d + 1 == shape_.dimensions_size()) {
        PrintElement(offset + i * strides_[d]);
      } else {
        PrintDimension(d + 1, offset + i * strides_[d]);
      }
    }
    out_ += '}';
  }

  void PrintFlat() {
    const int64_t count = ElementCount(shape_);
    out_ += '{';
    for (int64_t i = 0; i < count; ++i) {
      if (i != 0) out_ += ", ";
      if (left_ <= 0) {
        out_ += "...";
        break;
      }
      const DimensionVector index = MultiIndexOf(shape_.dimensions(), i);
      int64_t offset = 0;
      for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides_[d];
      PrintElement(offset);
    }
    out_ += '}';
  }

  const Shape& shape_;
  const char* data_;
  const DimensionVector strides_;
  const bool cut_;
  int64_t left_;  // elements that may still be printed
  std::string& out_;
};

}  // namespace

std::string LiteralBase::GetAsString(absl::Span<const int64_t> multi_index,
                                     const ShapeIndex& index) const {
  const int64_t at = PhysicalIndex(multi_index, index);
  if (at < 0) return "";
  const Piece* piece = FindPiece(index);
  const PrimitiveType type = piece->shape->element_type();
  return ElementText(type, static_cast<const char*>(piece->data) + at * ByteWidth(type));
}

void LiteralBase::PrintPiece(const Piece& piece, int64_t max_elements, std::string& out) {
  const Shape& shape = piece.shape != nullptr ? *piece.shape : Literal().shape();
  if (shape.IsArray()) {
    ArrayPrinter(shape, piece.data, max_elements, out).Print();
  } else if (shape.IsTuple()) {
    out += '(';
    for (size_t i = 0; i < piece.children.size(); ++i) {
      if (i != 0) out += ", ";
      PrintPiece(piece.children[i], max_elements, out);
    }
    out += ')';
  } else {
    out += shape.ToString();
  }
}

std::string LiteralBase::ToString(int64_t max_elements) const {
  std::string out;
  PrintPiece(root_, max_elements, out);
  return out;
}

}  // namespace pjrt
