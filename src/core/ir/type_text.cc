// SPDX-License-Identifier: Apache-2.0
//
// Types as text.
#include "absl/strings/str_cat.h"
#include "pjrt/ir/context.h"
#include "src/core/ir/element.h"
#include "src/core/ir/storage.h"
#include "src/core/ir/text.h"

namespace pjrt::ir {
namespace {

void AppendDims(absl::Span<const int64_t> dims, std::string* out) {
  for (int64_t d : dims) {
    if (d == kDynamic) {
      out->append("?x");
    } else {
      absl::StrAppend(out, d, "x");
    }
  }
}

void AppendTypes(absl::Span<const Type> types, std::string* out) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendType(types[i], out);
  }
}

void AppendBounds(absl::Span<const int64_t> bounds, std::string* out) {
  out->append(", #stablehlo.bounds<");
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (i > 0) out->append(", ");
    if (bounds[i] == kDynamic) {
      out->push_back('?');
    } else {
      absl::StrAppend(out, bounds[i]);
    }
  }
  out->push_back('>');
}

// `scale` or `scale:zero_point`.
void AppendScale(const QuantizedParams& q, size_t i, std::string* out) {
  // A scale is a double whatever the expressed type is.
  AppendFloat(Type(), q.scales[i], out);
  if (i < q.zero_points.size() && q.zero_points[i] != 0)
    absl::StrAppend(out, ":", q.zero_points[i]);
}

// The scales of a block-quantized type, in nested braces as scale_dims says; `next` counts them
// off.
void AppendScales(const QuantizedParams& q, size_t depth, size_t* next, std::string* out) {
  if (depth == q.scale_dims.size()) {
    if (*next < q.scales.size()) AppendScale(q, *next, out);
    ++*next;
    return;
  }
  out->push_back('{');
  for (int64_t i = 0; i < q.scale_dims[depth] && *next < q.scales.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendScales(q, depth + 1, next, out);
  }
  out->push_back('}');
}

void AppendQuantized(const QuantizedParams& q, std::string* out) {
  const bool is_unsigned = q.storage_type.signedness() == Signedness::kUnsigned;
  const int width = q.storage_type.bit_width();
  absl::StrAppend(out, "!quant.uniform<", is_unsigned ? "u" : "i", width);
  int64_t lowest = 0;
  int64_t highest = 0;
  DefaultStorageRange(q.storage_type, &lowest, &highest);
  if (q.storage_min != lowest || q.storage_max != highest) {
    absl::StrAppend(out, "<", q.storage_min, ":", q.storage_max, ">");
  }
  out->push_back(':');
  AppendType(q.expressed_type, out);
  if (q.IsPerTensor()) {
    out->append(", ");
    AppendScale(q, 0, out);
  } else if (q.IsPerAxis()) {
    absl::StrAppend(out, ":", q.axes[0], ", {");
    for (size_t i = 0; i < q.scales.size(); ++i) {
      if (i > 0) out->append(", ");
      AppendScale(q, i, out);
    }
    out->push_back('}');
  } else {
    out->append(":{");
    for (size_t i = 0; i < q.axes.size(); ++i) {
      absl::StrAppend(out, i > 0 ? ", " : "", q.axes[i], ":", q.block_sizes[i]);
    }
    out->append("}, ");
    size_t next = 0;
    AppendScales(q, 0, &next, out);
  }
  out->push_back('>');
}

}  // namespace

void AppendTypesBehindArrow(absl::Span<const Type> types, std::string* out) {
  // A function type behind an arrow would take what follows for its own results.
  if (types.size() == 1 && !types[0].Is(TypeKind::kFunction)) {
    AppendType(types[0], out);
    return;
  }
  out->push_back('(');
  AppendTypes(types, out);
  out->push_back(')');
}

void AppendType(Type type, std::string* out) {
  if (!type) {
    out->append("<null>");
    return;
  }
  switch (type.kind()) {
    case TypeKind::kNone:
      out->append("none");
      return;
    case TypeKind::kIndex:
      out->append("index");
      return;
    case TypeKind::kInteger:
      absl::StrAppend(out,
                      type.signedness() == Signedness::kUnsigned ? "ui"
                      : type.signedness() == Signedness::kSigned ? "si"
                                                                 : "i",
                      type.bit_width());
      return;
    case TypeKind::kFloat:
    case TypeKind::kOpaque:
      absl::StrAppend(out, type.storage()->text);
      return;
    case TypeKind::kComplex:
      out->append("complex<");
      AppendType(type.element_type(), out);
      out->push_back('>');
      return;
    case TypeKind::kQuantized:
      AppendQuantized(type.quantized(), out);
      return;
    case TypeKind::kTensor:
      out->append("tensor<");
      AppendDims(type.dims(), out);
      AppendType(type.element_type(), out);
      if (!type.bounds().empty()) {
        AppendBounds(type.bounds(), out);
      } else if (type.encoding()) {
        out->append(", ");
        AppendAttribute(type.encoding(), TextOptions(), out);
      }
      out->push_back('>');
      return;
    case TypeKind::kUnrankedTensor:
      out->append("tensor<*x");
      AppendType(type.element_type(), out);
      out->push_back('>');
      return;
    case TypeKind::kMemRef:
      out->append("memref<");
      AppendDims(type.dims(), out);
      AppendType(type.element_type(), out);
      if (type.encoding()) {
        out->append(", ");
        AppendAttribute(type.encoding(), TextOptions(), out);
      }
      out->push_back('>');
      return;
    case TypeKind::kVector:
      out->append("vector<");
      AppendDims(type.dims(), out);
      AppendType(type.element_type(), out);
      out->push_back('>');
      return;
    case TypeKind::kTuple:
      out->append("tuple<");
      AppendTypes(type.elements(), out);
      out->push_back('>');
      return;
    case TypeKind::kFunction:
      out->push_back('(');
      AppendTypes(type.inputs(), out);
      out->append(") -> ");
      AppendTypesBehindArrow(type.results(), out);
      return;
    case TypeKind::kToken:
      out->append("!stablehlo.token");
      return;
    case TypeKind::kFuture:
      out->append("!stablehlo.future<");
      AppendTypes(type.elements(), out);
      out->push_back('>');
      return;
  }
}

std::string Type::ToString() const {
  std::string text;
  AppendType(*this, &text);
  return text;
}

}  // namespace pjrt::ir
