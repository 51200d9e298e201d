// SPDX-License-Identifier: Apache-2.0
//
// Shapes as text, both ways.
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "pjrt/base/shape.h"
#include "src/core/base/layout_parser.h"
#include "src/core/base/shape_limits.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/text_scanner.h"

namespace pjrt {
namespace {

constexpr absl::string_view kId = "PJRT-B004";

void Print(const Shape& shape, bool print_layout, std::string& out) {
  if (shape.IsTuple()) {
    out += '(';
    for (int i = 0; i < shape.tuple_shapes_size(); ++i) {
      if (i != 0) out += ", ";
      Print(shape.tuple_shapes(i), print_layout, out);
    }
    out += ')';
    return;
  }
  absl::StrAppend(&out, PrimitiveTypeName(shape.element_type()), "[");
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (i != 0) out += ',';
    if (shape.is_unbounded_dynamic_dimension(i)) {
      out += '?';
    } else {
      absl::StrAppend(&out, shape.is_dynamic_dimension(i) ? "<=" : "", shape.dimensions(i));
    }
  }
  out += ']';
  // A scalar's layout says nothing unless it has more than an order.
  if (print_layout && shape.has_layout() && (shape.rank() > 0 || shape.layout() != Layout())) {
    out += shape.layout().ToString();
  }
}

absl::Status Error(TextScanner& scanner, absl::string_view expected) {
  return scanner.Error(kId, "shape", expected);
}

absl::StatusOr<Shape> ParseShape(TextScanner& scanner, int depth) {
  if (scanner.Consume('(')) {
    if (depth >= kDeepestTuple) {
      return Error(scanner, absl::StrCat("at most ", kDeepestTuple, " levels of tuples"));
    }
    Shape tuple(std::vector<Shape>{});
    if (scanner.Consume(')')) return tuple;
    do {
      PJRT_ASSIGN_OR_RETURN(Shape part, ParseShape(scanner, depth + 1));
      tuple.add_tuple_shape(std::move(part));
    } while (scanner.Consume(','));
    if (!scanner.Consume(')')) return Error(scanner, "\",\" or \")\"");
    return tuple;
  }

  TextScanner at_type = scanner;
  const absl::StatusOr<PrimitiveType> type = ParsePrimitiveType(scanner.ConsumeWord());
  if (!type.ok() || *type == TUPLE)
    return Error(at_type, "an element type, token, opaque or \"(\"");
  if (!scanner.Consume('[')) return Error(scanner, "\"[\"");
  Shape shape(*type, {});
  if (!scanner.Consume(']')) {
    if (!IsArrayType(*type)) return Error(scanner, "\"]\"");
    do {
      if (scanner.Consume('?')) {
        shape.add_dimensions(Shape::kUnboundedSize);
        continue;
      }
      const bool bounded = scanner.Consume("<=");
      const std::optional<int64_t> size = scanner.ConsumeInteger();
      if (!size.has_value() || *size < 0)
        return Error(scanner, "a size, \"<=\" and a size, or \"?\"");
      shape.add_dimensions(*size, bounded);
    } while (scanner.Consume(','));
    if (!scanner.Consume(']')) return Error(scanner, "\",\" or \"]\"");
  }
  if (shape.IsArray() && scanner.Peek() == '{') {
    PJRT_ASSIGN_OR_RETURN(Layout layout, ParseLayout(scanner, kId, "shape"));
    shape.set_layout(std::move(layout));
  }
  return shape;
}

}  // namespace

std::string Shape::ToString(bool print_layout) const {
  std::string out;
  Print(*this, print_layout, out);
  return out;
}

absl::StatusOr<Shape> Shape::Parse(absl::string_view text) {
  TextScanner scanner(text);
  PJRT_ASSIGN_OR_RETURN(Shape shape, ParseShape(scanner, 0));
  if (!scanner.AtEnd()) return Error(scanner, "nothing more");
  PJRT_RETURN_IF_ERROR(ValidateShape(shape));
  return shape;
}

}  // namespace pjrt
