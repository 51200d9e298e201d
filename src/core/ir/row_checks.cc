// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/row_checks.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// The bit of a row's TypeSet that stands for an element type; 0 for types that no op computes with.
TypeSet ElementBit(Type element) {
  if (!element) return 0;
  switch (element.kind()) {
    case TypeKind::kIndex:
      return kIndex;
    case TypeKind::kInteger: {
      const int width = element.bit_width();
      if (element.signedness() == Signedness::kSigned) return 0;  // signless ones stand for those
      if (width == 1) return kB;
      if ((width & (width - 1)) != 0) return 0;
      return element.signedness() == Signedness::kUnsigned ? kUI : kSI;
    }
    case TypeKind::kFloat:
      return element.primitive_type() == PrimitiveType::PRIMITIVE_TYPE_INVALID ? 0 : kF;
    case TypeKind::kComplex:
      return element.primitive_type() == PrimitiveType::PRIMITIVE_TYPE_INVALID ? 0 : kC;
    case TypeKind::kQuantized: {
      const QuantizedParams& params = element.quantized();
      if (!(ElementBit(params.storage_type) & kI) || !(ElementBit(params.expressed_type) & kF))
        return 0;
      return params.IsPerTensor() ? kQ : kQA;
    }
    default:
      return 0;
  }
}

bool HasOneBoundedDimension(Type type) {
  size_t dynamic = 0;
  for (size_t d = 0; d < type.dims().size(); ++d) {
    const Extent e = ExtentOf(type, d);
    if (!e.IsDynamic()) continue;
    if (e.bound == kDynamic || ++dynamic > 1) return false;
  }
  return true;
}

bool IsAllowed(Type type, TypeSet set) {
  if ((set & kAnything) == kAnything) return true;
  switch (type.kind()) {
    case TypeKind::kTensor:
      if (!(ElementBit(type.element_type()) & set)) return false;
      if ((set & kRank0) && type.rank() != 0) return false;
      if ((set & kRank1) && type.rank() != 1) return false;
      if ((set & kStatic) && !type.HasStaticShape()) return false;
      return !(set & kBounded) || HasOneBoundedDimension(type);
    case TypeKind::kUnrankedTensor:
      return (set & kUnranked) && (ElementBit(type.element_type()) & set);
    case TypeKind::kToken:
      return set & kToken;
    case TypeKind::kTuple:
      return set & kTuple;
    case TypeKind::kFuture:
      return set & kFuture;
    case TypeKind::kMemRef:
      return set & kMemRef;
    default:
      return false;
  }
}

// "a scalar tensor of i1, signed integers or floats, or a token"
std::string SetText(TypeSet set) {
  struct NamedBit {
    TypeSet bit;
    absl::string_view text;
  };
  constexpr NamedBit kElements[] = {{kB, "i1"},
                                    {kSI, "signed integers"},
                                    {kUI, "unsigned integers"},
                                    {kF, "floats"},
                                    {kC, "complex numbers"},
                                    {kQ, "quantized values"},
                                    {kQA, "values quantized by axis"},
                                    {kIndex, "index"}};
  constexpr NamedBit kOthers[] = {
      {kToken, "a token"}, {kTuple, "a tuple"}, {kFuture, "a future"}, {kMemRef, "a memref"}};
  std::vector<absl::string_view> elements, parts;
  for (const NamedBit& n : kElements) {
    if (set & n.bit) elements.push_back(n.text);
  }
  std::string tensor;
  if (!elements.empty()) {
    tensor =
        absl::StrCat((set & kRank0) ? "a scalar tensor" : "a tensor",
                     (set & kRank1) ? " of rank 1" : "", (set & kStatic) ? " of static shape" : "",
                     (set & kBounded) ? " of static shape or with one bounded dimension" : "",
                     " of ", absl::StrJoin(elements, ", "));
    parts.push_back(tensor);
  }
  for (const NamedBit& n : kOthers) {
    if (set & n.bit) parts.push_back(n.text);
  }
  return absl::StrJoin(parts, " or ");
}

// Types of operands or results, `type_of(i)` each, against the row's specs.
template <typename TypeOf>
absl::Status CheckTypes(absl::Span<const OperandSpec> specs, size_t count, TypeOf type_of,
                        Attribute segments, absl::string_view what) {
  absl::InlinedVector<size_t, 6> sizes;
  if (!SplitOperands(specs, count, segments, &sizes)) {
    size_t least = 0;
    for (const OperandSpec& s : specs) least += s.arity == Arity::kOne;
    const bool open = least != specs.size();
    return InvalidArgument(rule::kCount, "the number of ", what, "s is wrong; given ", count,
                           ", expected ", open ? "at least " : "", least);
  }
  size_t i = 0;
  for (size_t s = 0; s < specs.size(); ++s) {
    for (size_t k = 0; k < sizes[s]; ++k, ++i) {
      const Type type = type_of(i);
      if (!type || !IsAllowed(type, specs[s].types)) {
        return InvalidArgument(rule::kType, what, " ", i, " (", specs[s].name,
                               ") has a type that the op does not take; given ", type.ToString(),
                               ", expected ", SetText(specs[s].types));
      }
    }
  }
  return absl::OkStatus();
}

bool IsEnum(Attribute attr, absl::string_view enum_name) {
  if (!attr.Is(AttrKind::kEnum) || attr.name() != enum_name) return false;
  const absl::Span<const absl::string_view> values = EnumValues(enum_name);
  return !attr.enum_value().empty() &&
         std::find(values.begin(), values.end(), attr.enum_value()) != values.end();
}

bool IsTypedInteger(Attribute attr, int width, Signedness signedness) {
  return attr.Is(AttrKind::kInteger) && IsInteger(attr.type(), width) &&
         attr.type().signedness() == signedness;
}

bool HoldsInts(Attribute attr, int width) {
  const bool dense = attr.Is(AttrKind::kDenseElements) || attr.Is(AttrKind::kDenseArray);
  if (dense && !IsInteger(ElementOf(attr.type()), width)) return false;
  DimList values;
  return (dense || attr.Is(AttrKind::kArray)) && GetIntList(attr, &values);
}

bool Matches(const AttrSpec& spec, Attribute attr) {
  switch (spec.type) {
    case AttrType::kI64:
      return IsTypedInteger(attr, 64, Signedness::kSignless);
    case AttrType::kI32:
      return IsTypedInteger(attr, 32, Signedness::kSignless);
    case AttrType::kUI64:
      return IsTypedInteger(attr, 64, Signedness::kUnsigned);
    case AttrType::kUI32:
      return IsTypedInteger(attr, 32, Signedness::kUnsigned);
    case AttrType::kF32:
      return attr.Is(AttrKind::kFloat) && IsFloat(attr.type(), 32);
    case AttrType::kF64:
      return attr.Is(AttrKind::kFloat) && IsFloat(attr.type(), 64);
    case AttrType::kBool:
      return attr.Is(AttrKind::kBool);
    case AttrType::kUnit:
      return attr.Is(AttrKind::kUnit) || attr.Is(AttrKind::kBool);
    case AttrType::kString:
      return attr.Is(AttrKind::kString);
    case AttrType::kSymbol:
      return attr.Is(AttrKind::kSymbol);
    case AttrType::kType:
      return attr.Is(AttrKind::kType);
    case AttrType::kI64Array:
      return HoldsInts(attr, 64);
    case AttrType::kBoolArray:
      return HoldsInts(attr, 1);
    case AttrType::kI64Matrix:
      return attr.Is(AttrKind::kDenseElements) && IsInteger(ElementOf(attr.type()), 64);
    case AttrType::kElements:
      return attr.Is(AttrKind::kDenseElements);
    case AttrType::kEnum:
      return IsEnum(attr, spec.detail);
    case AttrType::kEnumArray: {
      if (!attr.Is(AttrKind::kArray)) return false;
      const absl::Span<const Attribute> list = attr.elements();
      return std::all_of(list.begin(), list.end(),
                         [&](Attribute a) { return IsEnum(a, spec.detail); });
    }
    case AttrType::kStruct:
      return attr.Is(AttrKind::kStruct) && attr.name() == spec.detail;
    case AttrType::kArray:
      return attr.Is(AttrKind::kArray);
    case AttrType::kDict:
      return attr.Is(AttrKind::kDict);
    case AttrType::kAnyAttr:
      return true;
  }
  return false;
}

std::string SpecText(const AttrSpec& spec) {
  switch (spec.type) {
    case AttrType::kI64:
      return "an i64";
    case AttrType::kI32:
      return "an i32";
    case AttrType::kUI64:
      return "a ui64";
    case AttrType::kUI32:
      return "a ui32";
    case AttrType::kF32:
      return "an f32";
    case AttrType::kF64:
      return "an f64";
    case AttrType::kBool:
      return "true or false";
    case AttrType::kUnit:
      return "unit";
    case AttrType::kString:
      return "a string";
    case AttrType::kSymbol:
      return "a symbol";
    case AttrType::kType:
      return "a type";
    case AttrType::kI64Array:
      return "array<i64: ...>";
    case AttrType::kBoolArray:
      return "array<i1: ...>";
    case AttrType::kI64Matrix:
      return "dense<...> : tensor<NxMxi64>";
    case AttrType::kElements:
      return "dense<...>";
    case AttrType::kEnum:
      return absl::StrCat(spec.detail, ", one of ", absl::StrJoin(EnumValues(spec.detail), " "));
    case AttrType::kEnumArray:
      return absl::StrCat("a list of ", spec.detail);
    case AttrType::kStruct:
      return absl::StrCat("#", spec.detail, "<...>");
    case AttrType::kArray:
      return "an array";
    case AttrType::kDict:
      return "a dictionary";
    case AttrType::kAnyAttr:
      return "an attribute";
  }
  return "";
}

}  // namespace

absl::Status CheckAttribute(const AttrSpec& spec, Attribute attr) {
  if (!attr) {
    if (spec.optional) return absl::OkStatus();
    return InvalidArgument(rule::kMissing, "attribute '", spec.name, "' is missing; expected ",
                           SpecText(spec));
  }
  if (!Matches(spec, attr)) {
    return InvalidArgument(rule::kAttribute, "attribute '", spec.name,
                           "' is of the wrong kind; given ", attr.ToString(), ", expected ",
                           SpecText(spec));
  }
  if (spec.type == AttrType::kI64 || spec.type == AttrType::kI32) {
    const int64_t least = spec.detail == "positive" ? 1 : 0;
    if (!spec.detail.empty() && attr.AsInt() < least) {
      return InvalidArgument(rule::kValue, "attribute '", spec.name, "' must be ",
                             least == 1 ? "positive" : "0 or more", "; given ", attr.AsInt());
    }
  }
  return spec.type == AttrType::kStruct ? CheckStruct(attr) : absl::OkStatus();
}

absl::Status CheckInputs(const OpInfo& info, const InferInput& in) {
  PJRT_RETURN_IF_ERROR(CheckTypes(
      info.operands, in.operands.size(), [&](size_t i) { return in.operand_type(i); },
      in.attr("operandSegmentSizes"), "operand"));
  for (const AttrSpec& spec : info.attributes)
    PJRT_RETURN_IF_ERROR(CheckAttribute(spec, in.attr(spec.name)));
  const size_t regions = in.regions.size();
  const bool too_many = info.max_regions >= 0 && regions > static_cast<size_t>(info.max_regions);
  if (regions < static_cast<size_t>(info.min_regions) || too_many) {
    return InvalidArgument(rule::kCount, "the number of regions is wrong; given ", regions,
                           ", expected ", info.max_regions < 0 ? "at least " : "",
                           info.min_regions);
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const OpInfo& info, absl::Span<const Type> results,
                          Attribute segment_sizes) {
  return CheckTypes(
      info.results, results.size(), [&](size_t i) { return results[i]; }, segment_sizes, "result");
}

absl::Status CheckInferred(const OpInfo& info, absl::Span<const Type> inferred,
                           absl::Span<const Type> declared) {
  if (inferred.size() != declared.size()) {
    return InvalidArgument(rule::kCount, "the number of results is wrong; given ", declared.size(),
                           ", expected ", inferred.size());
  }
  for (size_t i = 0; i < inferred.size(); ++i) {
    const bool same = info.Has(kElementTypeGiven) ? CompatibleShapes(inferred[i], declared[i])
                                                  : CompatibleTypes(inferred[i], declared[i]);
    if (!same) {
      return InvalidArgument(rule::kResult, "result ", i,
                             " is not of the type that follows from the operands; given ",
                             declared[i].ToString(), ", expected ", inferred[i].ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBounds(Type type) {
  if (!type.IsTensor() || type.bounds().empty()) return absl::OkStatus();
  if (type.bounds().size() != type.dims().size()) {
    return InvalidArgument(rule::kBounds, "there must be a bound for each dimension; given ",
                           type.bounds().size(), " for ", type.ToString());
  }
  for (size_t d = 0; d < type.dims().size(); ++d) {
    if (type.bounds()[d] != kDynamic && type.dims()[d] != kDynamic) {
      return InvalidArgument(rule::kBounds,
                             "only dynamic dimensions may have a bound; given one for dimension ",
                             d, " of ", type.ToString());
    }
  }
  return absl::OkStatus();
}

namespace {

// Per axis: the tensor has the axis, with a scale an index. Per block: each dimension falls into as
// many blocks as there are scales along it.
absl::Status CheckScales(Type type) {
  if (!IsQuantized(type.element_type())) return absl::OkStatus();
  const QuantizedParams& params = type.element_type().quantized();
  for (const int64_t zero_point : params.zero_points) {
    if (zero_point >= params.storage_min && zero_point <= params.storage_max) continue;
    return InvalidArgument(rule::kQuantized, "zero points must be in the range of stored values, ",
                           params.storage_min, " to ", params.storage_max, "; given ", zero_point,
                           " in ", type.ToString());
  }
  if (params.IsPerTensor()) return absl::OkStatus();
  for (const int64_t axis : params.axes) {
    if (axis >= 0 && axis < type.rank()) continue;
    return InvalidArgument(rule::kQuantized, "the quantized dimension must be below the rank, ",
                           type.rank(), "; given ", axis, " in ", type.ToString());
  }
  const size_t rank = type.dims().size();
  DimList given(rank, 1), blocks(type.dims().begin(), type.dims().end());
  if (params.IsPerAxis()) {
    const size_t axis = static_cast<size_t>(params.axes[0]);
    given[axis] = static_cast<int64_t>(params.scales.size());
    blocks[axis] = 1;
  } else if (params.scale_dims.size() != rank) {
    return InvalidArgument(rule::kQuantized, "scales of blocks must have ", rank,
                           " dimensions, as the tensor; given ", params.scale_dims.size(), " in ",
                           type.ToString());
  } else {
    given.assign(params.scale_dims.begin(), params.scale_dims.end());
    for (size_t i = 0; i < params.axes.size(); ++i)
      blocks[static_cast<size_t>(params.axes[i])] = params.block_sizes[i];
  }
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = type.dims()[d];
    if (size == kDynamic || (size == 0 && given[d] == 1)) continue;
    if (blocks[d] > 0 && size % blocks[d] == 0 && size / blocks[d] == given[d]) continue;
    return InvalidArgument(rule::kQuantized, "dimension ", d, " of ", size,
                           " indices must have a scale for each ", blocks[d], "; given ", given[d],
                           " in ", type.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTensor(Type type) {
  PJRT_RETURN_IF_ERROR(CheckBounds(type));
  return type.IsTensor() ? CheckScales(type) : absl::OkStatus();
}

bool SplitOperands(absl::Span<const OperandSpec> specs, size_t count, Attribute segment_sizes,
                   absl::InlinedVector<size_t, 6>* sizes) {
  sizes->clear();
  DimList given;
  if (segment_sizes && GetIntList(segment_sizes, &given)) {
    if (given.size() != specs.size()) return false;
    size_t sum = 0;
    for (size_t s = 0; s < specs.size(); ++s) {
      if (given[s] < 0 || static_cast<size_t>(given[s]) > count) return false;
      if (specs[s].arity == Arity::kOne && given[s] != 1) return false;
      sum += static_cast<size_t>(given[s]);
      sizes->push_back(static_cast<size_t>(given[s]));
    }
    return sum == count;
  }
  size_t ones = 0, open = 0;
  for (const OperandSpec& s : specs) (s.arity == Arity::kOne ? ones : open)++;
  if (count < ones || (open == 0 && count != ones)) return false;
  const size_t rest = count - ones;
  if (open > 0 && rest % open != 0) return false;
  for (const OperandSpec& s : specs) {
    const size_t size = s.arity == Arity::kOne ? 1 : rest / open;
    if (s.arity == Arity::kOptional && size > 1) return false;
    sizes->push_back(size);
  }
  return true;
}

}  // namespace pjrt::ir
