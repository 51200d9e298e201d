// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/type_rules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pjrt::ir {

std::string DimsText(absl::Span<const int64_t> dims) {
  return absl::StrCat("[",
                      absl::StrJoin(dims, ", ",
                                    [](std::string* out, int64_t d) {
                                      if (d == kDynamic) {
                                        out->push_back('?');
                                      } else {
                                        absl::StrAppend(out, d);
                                      }
                                    }),
                      "]");
}

std::string TypesText(absl::Span<const Type> types) {
  return absl::StrJoin(types, ", ", [](std::string* out, Type t) { out->append(t.ToString()); });
}

int64_t ElementBits(Type element) {
  switch (element.kind()) {
    case TypeKind::kInteger:
    case TypeKind::kFloat:
      return element.bit_width();
    case TypeKind::kComplex:
      return 2 * element.element_type().bit_width();
    case TypeKind::kQuantized:
      return element.quantized().storage_type.bit_width();
    default:
      return 0;
  }
}

bool CompatibleElements(Type a, Type b) {
  if (SameType(a, b)) return true;
  if (!IsQuantized(a) || !IsQuantized(b)) return false;
  const QuantizedParams& p = a.quantized();
  const QuantizedParams& q = b.quantized();
  return p.IsPerTensor() == q.IsPerTensor() && SameType(p.storage_type, q.storage_type) &&
         SameType(p.expressed_type, q.expressed_type) && p.storage_min == q.storage_min &&
         p.storage_max == q.storage_max;
}

bool IsPromotable(Type from, Type to) {
  if (SameType(from, to)) return true;
  if (from.kind() != to.kind()) return false;
  switch (from.kind()) {
    case TypeKind::kInteger:
      return (from.bit_width() == 1) == (to.bit_width() == 1) && from.bit_width() <= to.bit_width();
    case TypeKind::kFloat:
      return from.bit_width() <= to.bit_width();
    case TypeKind::kComplex:
      return from.element_type().bit_width() <= to.element_type().bit_width();
    case TypeKind::kQuantized:
      return SameType(from.quantized().expressed_type, to.quantized().expressed_type) &&
             from.quantized().storage_type.bit_width() <= to.quantized().storage_type.bit_width();
    default:
      return false;
  }
}

bool CompatibleButPrecision(Type a, Type b) {
  return CompatibleElements(a, b) || (a.Is(TypeKind::kFloat) && b.Is(TypeKind::kFloat));
}

Extent ExtentOf(Type tensor, size_t dimension) {
  const absl::Span<const int64_t> bounds = tensor.bounds();
  Extent e;
  e.size = tensor.dims()[dimension];
  if (e.size == kDynamic && dimension < bounds.size() && bounds[dimension] >= 0)
    e.bound = bounds[dimension];
  return e;
}

Extents ExtentsOf(Type tensor) {
  Extents out;
  out.reserve(tensor.dims().size());
  for (size_t i = 0; i < tensor.dims().size(); ++i) out.push_back(ExtentOf(tensor, i));
  return out;
}

Type MakeTensor(Context& context, absl::Span<const Extent> extents, Type element) {
  DimList dims, bounds;
  bool bounded = false;
  for (const Extent& e : extents) {
    dims.push_back(e.size);
    bounds.push_back(e.IsDynamic() ? e.bound : kDynamic);
    bounded = bounded || bounds.back() != kDynamic;
  }
  if (!bounded) bounds.clear();
  return context.Tensor(dims, element, bounds);
}

Type WithElement(Context& context, Type tensor, Type element) {
  if (tensor.Is(TypeKind::kUnrankedTensor)) return context.UnrankedTensor(element);
  return context.Tensor(tensor.dims(), element, tensor.bounds());
}

Type Scalar(Context& context, Type element) {
  return context.Tensor(absl::Span<const int64_t>(), element);
}

bool CompatibleExtents(Extent a, Extent b) {
  if (!a.IsDynamic() && !b.IsDynamic()) return a.size == b.size;
  if (a.IsDynamic() && b.IsDynamic()) return true;
  const int64_t size = a.IsDynamic() ? b.size : a.size;
  const int64_t bound = a.IsDynamic() ? a.bound : b.bound;
  return bound == kDynamic || size <= bound;
}

bool CompatibleShapes(Type a, Type b) {
  if (a.Is(TypeKind::kUnrankedTensor) || b.Is(TypeKind::kUnrankedTensor)) return true;
  if (a.kind() != b.kind() || a.dims().size() != b.dims().size()) return false;
  for (size_t i = 0; i < a.dims().size(); ++i) {
    if (!CompatibleExtents(ExtentOf(a, i), ExtentOf(b, i))) return false;
  }
  return true;
}

bool CompatibleTypes(Type a, Type b) {
  absl::InlinedVector<std::pair<Type, Type>, 4> pending = {
      {a, b}};  // tuples may nest deeply: no recursion
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    if (x == y) continue;
    if (!x || !y) return false;
    const bool tensors = (x.IsTensor() || x.Is(TypeKind::kUnrankedTensor)) &&
                         (y.IsTensor() || y.Is(TypeKind::kUnrankedTensor));
    if (tensors) {
      if (!CompatibleElements(x.element_type(), y.element_type()) || !CompatibleShapes(x, y))
        return false;
    } else if (x.kind() != y.kind()) {
      return false;
    } else if (x.Is(TypeKind::kTuple) || x.Is(TypeKind::kFuture)) {
      if (x.elements().size() != y.elements().size()) return false;
      for (size_t i = 0; i < x.elements().size(); ++i)
        pending.push_back({x.elements()[i], y.elements()[i]});
    } else if (!Equal(x, y)) {
      return false;
    }
  }
  return true;
}

bool CompatibleTypeLists(absl::Span<const Type> a, absl::Span<const Type> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), CompatibleTypes);
}

Extent MostSpecific(Extent a, Extent b) {
  if (!a.IsDynamic()) return a;
  if (!b.IsDynamic()) return b;
  if (a.bound == kDynamic) return b;
  if (b.bound == kDynamic) return a;
  return a.bound < b.bound ? a : b;
}

Extent LeastSpecific(Extent a, Extent b) {
  if (!a.IsDynamic() && a.size == b.size) return a;
  Extent out;
  if (a.Limit() != kDynamic && b.Limit() != kDynamic && (a.IsDynamic() || b.IsDynamic())) {
    out.bound = std::max(a.Limit(), b.Limit());
  }
  return out;
}

int64_t AddSizes(int64_t a, int64_t b) {
  if (a == kDynamic || b == kDynamic) return kDynamic;
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : kDynamic + 1;
}

int64_t MultiplySizes(int64_t a, int64_t b) {
  if (a == kDynamic || b == kDynamic) return kDynamic;
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? std::numeric_limits<int64_t>::max() : kDynamic + 1;
}

absl::Status CheckDims(absl::string_view name, absl::Span<const int64_t> list, int64_t rank,
                       unsigned rules) {
  for (size_t i = 0; i < list.size(); ++i) {
    if ((rules & kInRange) && (list[i] < 0 || list[i] >= rank)) {
      return InvalidArgument(rule::kDimensions, name, " must hold dimensions in [0, ", rank,
                             "); given ", DimsText(list));
    }
    if ((rules & kSorted) && i > 0 && list[i] < list[i - 1]) {
      return InvalidArgument(rule::kDimensions, name, " must be sorted; given ", DimsText(list));
    }
  }
  if (rules & kUnique) {
    DimList sorted(list.begin(), list.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      return InvalidArgument(rule::kDimensions, name, " must not repeat a dimension; given ",
                             DimsText(list));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLength(absl::string_view name, size_t length, int64_t expected,
                         absl::string_view what) {
  if (static_cast<int64_t>(length) == expected) return absl::OkStatus();
  return InvalidArgument(rule::kDimensions, name, " must have as many values as ", what, "; given ",
                         length, ", expected ", expected);
}

absl::Status CheckDisjoint(absl::string_view name_a, absl::Span<const int64_t> a,
                           absl::string_view name_b, absl::Span<const int64_t> b) {
  DimList sorted(a.begin(), a.end());
  std::sort(sorted.begin(), sorted.end());
  for (int64_t d : b) {
    if (std::binary_search(sorted.begin(), sorted.end(), d)) {
      return InvalidArgument(rule::kDimensions, name_a, " and ", name_b,
                             " must not share a dimension; given ", d, " in both");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDimension(absl::string_view name, int64_t dimension, int64_t rank) {
  if (dimension >= 0 && dimension < rank) return absl::OkStatus();
  return InvalidArgument(rule::kDimensions, name, " must be a dimension in [0, ", rank, "); given ",
                         dimension);
}

absl::Status CheckSameShape(absl::string_view name_a, Type a, absl::string_view name_b, Type b) {
  if (CompatibleShapes(a, b)) return absl::OkStatus();
  return InvalidArgument(rule::kAgree, name_a, " and ", name_b,
                         " must have compatible shapes; given ", a.ToString(), " and ",
                         b.ToString());
}

absl::Status CheckSameElement(absl::string_view name_a, Type a, absl::string_view name_b, Type b) {
  if (CompatibleElements(ElementOf(a), ElementOf(b))) return absl::OkStatus();
  return InvalidArgument(rule::kAgree, name_a, " and ", name_b,
                         " must have the same element type; given ", a.ToString(), " and ",
                         b.ToString());
}

absl::Status CheckRank(absl::string_view name, Type tensor, int64_t rank) {
  if (tensor.rank() == rank) return absl::OkStatus();
  return InvalidArgument(rule::kAgree, name, " must have rank ", rank, "; given ",
                         tensor.ToString());
}

bool Contains(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

DimList Ints(const InferInput& in, absl::string_view name) {
  DimList out;
  GetIntList(in.attr(name), &out);
  return out;
}

int64_t Int(const InferInput& in, absl::string_view name, int64_t otherwise) {
  const Attribute attr = in.attr(name);
  return attr.Is(AttrKind::kInteger) ? attr.AsInt() : otherwise;
}

std::optional<DimList> ConstantInts(const Value* value) {
  const Op* op = value->defining_op();
  if (op == nullptr || !op->Is(OpCode::kConstant)) return std::nullopt;
  const Attribute attr = op->attr("value");
  if (!attr.Is(AttrKind::kDenseElements) || !attr.type().element_type().Is(TypeKind::kInteger))
    return std::nullopt;
  DimList out;
  int64_t rows, columns;
  if (!GetIntList(attr, &out) && !GetIntMatrix(attr, &out, &rows, &columns)) return std::nullopt;
  return out;
}

absl::InlinedVector<Type, 6> ArgumentTypes(const Region& region) {
  absl::InlinedVector<Type, 6> out;
  if (const Block* block = region.block()) {
    for (const Value* v : block->arguments()) out.push_back(v->type());
  }
  return out;
}

absl::InlinedVector<Type, 4> ReturnTypes(const Region& region) {
  absl::InlinedVector<Type, 4> out;
  const Op* last = region.block() != nullptr ? region.block()->terminator() : nullptr;
  if (last == nullptr) return out;
  for (size_t i = 0; i < last->num_operands(); ++i) out.push_back(last->operand_type(i));
  return out;
}

}  // namespace pjrt::ir
