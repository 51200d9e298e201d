// SPDX-License-Identifier: Apache-2.0
//
// What inference and verification share: error ids, extents with bounds, compatibility and merging
// of types, checks of lists.
//
// Types of different Contexts may meet here (the verifier infers into a Context of its own), so
// types are compared by value.
#ifndef PJRT_CORE_IR_TYPE_RULES_H_
#define PJRT_CORE_IR_TYPE_RULES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/context.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/types.h"
#include "src/core/base/error.h"

namespace pjrt::ir {

// One id for each kind of rule; docs/errors.md explains them.
namespace rule {
inline constexpr char kCount[] = "PJRT-V001";         // number of operands, results, regions
inline constexpr char kType[] = "PJRT-V002";          // a type that the op's row does not allow
inline constexpr char kMissing[] = "PJRT-V003";       // a mandatory attribute is absent
inline constexpr char kAttribute[] = "PJRT-V004";     // an attribute of the wrong kind
inline constexpr char kValue[] = "PJRT-V005";         // an attribute's value
inline constexpr char kResult[] = "PJRT-V006";        // a result type other than inferred
inline constexpr char kNoInference[] = "PJRT-V007";   // results that must be given
inline constexpr char kAgree[] = "PJRT-V008";         // types that must agree
inline constexpr char kQuantized[] = "PJRT-V009";     // quantization
inline constexpr char kDimensions[] = "PJRT-V010";    // lists of dimension numbers
inline constexpr char kSizes[] = "PJRT-V011";         // sizes of dimensions that must fit together
inline constexpr char kWindow[] = "PJRT-V012";        // slices, padding, windows
inline constexpr char kRegion[] = "PJRT-V013";        // a region's arguments
inline constexpr char kRegionResult[] = "PJRT-V014";  // what a region returns
inline constexpr char kTerminator[] = "PJRT-V015";    // terminators and blocks
inline constexpr char kSymbol[] = "PJRT-V016";        // symbols
inline constexpr char kCall[] = "PJRT-V017";          // calls and decompositions
inline constexpr char kRecursion[] = "PJRT-V018";     // functions that call themselves
inline constexpr char kFunction[] = "PJRT-V019";      // a function's type against its body
inline constexpr char kScope[] = "PJRT-V020";         // values used where they are not visible
inline constexpr char kDevices[] = "PJRT-V021";     // replica groups, channels, source-target pairs
inline constexpr char kCustomCall[] = "PJRT-V022";  // custom_call's layouts, aliases, config
inline constexpr char kBounds[] = "PJRT-V023";      // bounds of dynamic dimensions
inline constexpr char kUnknownOp[] = "PJRT-V024";   // an op that its dialect does not have
}  // namespace rule

// --- Text for messages ---

// "[2, ?, 3]"
std::string DimsText(absl::Span<const int64_t> dims);
// "tensor<2xf32>, tensor<i1>"
std::string TypesText(absl::Span<const Type> types);

// --- Element types ---

inline bool SameType(Type a, Type b) { return a == b || Equal(a, b); }
inline bool IsQuantized(Type element) { return element.Is(TypeKind::kQuantized); }
inline bool IsInteger(Type element, int width) {
  return element.Is(TypeKind::kInteger) && element.bit_width() == width;
}
inline bool IsFloat(Type element, int width) {
  return element.Is(TypeKind::kFloat) && element.bit_width() == width;
}
// The element type of a tensor; any other type itself.
inline Type ElementOf(Type type) {
  return type && type.element_type() && !type.Is(TypeKind::kComplex) ? type.element_type() : type;
}
// The part of a complex type; any other type itself.
inline Type RealPart(Type element) {
  return element.Is(TypeKind::kComplex) ? element.element_type() : element;
}
// The bits of a value: twice the part's for complex types, the storage's for quantized ones. 0 for
// index and others.
int64_t ElementBits(Type element);
// Equal, or both quantized with the same granularity, storage and expressed type (scales may
// differ).
bool CompatibleElements(Type a, Type b);
// Values of `from` fit in `to`, as accumulators of reductions: the same kind and at least as wide.
bool IsPromotable(Type from, Type to);
// What regions that fold values must keep: compatible elements, or floats of any precision.
bool CompatibleButPrecision(Type a, Type b);

// --- Shapes ---

// The size of one dimension, and its bound where it is dynamic; kDynamic for unknown.
struct Extent {
  int64_t size = kDynamic;
  int64_t bound = kDynamic;
  bool IsDynamic() const { return size == kDynamic; }
  // The largest size known: the size, the bound or kDynamic.
  int64_t Limit() const { return IsDynamic() ? bound : size; }
};
using Extents = absl::InlinedVector<Extent, 6>;

Extents ExtentsOf(Type tensor);
Extent ExtentOf(Type tensor, size_t dimension);
Type MakeTensor(Context& context, absl::Span<const Extent> extents, Type element);
// `tensor` with another element type.
Type WithElement(Context& context, Type tensor, Type element);
Type Scalar(Context& context, Type element);

inline bool CompatibleSizes(int64_t a, int64_t b) {
  return a == b || a == kDynamic || b == kDynamic;
}
// Equal, or one is dynamic with a bound, if any, that the other keeps.
bool CompatibleExtents(Extent a, Extent b);
// Tensors of the same rank whose extents are compatible. An unranked tensor is compatible with any.
bool CompatibleShapes(Type a, Type b);
// What a result declared as `b` may be where `a` was inferred. Tuples and futures: part by part.
bool CompatibleTypes(Type a, Type b);
bool CompatibleTypeLists(absl::Span<const Type> a, absl::Span<const Type> b);

// The most that is known when two compatible extents are the same: a static size, else the smaller
// bound.
Extent MostSpecific(Extent a, Extent b);
// The least that holds when an extent may be either.
Extent LeastSpecific(Extent a, Extent b);

// a * b and so on, kDynamic when one is, saturated.
int64_t AddSizes(int64_t a, int64_t b);
int64_t MultiplySizes(int64_t a, int64_t b);

// --- Checks ---

enum ListRule : unsigned { kInRange = 1, kUnique = 2, kSorted = 4 };
// The values of `list` are in [0, rank), differ, ascend, as `rules` demands.
absl::Status CheckDims(absl::string_view name, absl::Span<const int64_t> list, int64_t rank,
                       unsigned rules);
absl::Status CheckLength(absl::string_view name, size_t length, int64_t expected,
                         absl::string_view what);
absl::Status CheckDisjoint(absl::string_view name_a, absl::Span<const int64_t> a,
                           absl::string_view name_b, absl::Span<const int64_t> b);
absl::Status CheckDimension(absl::string_view name, int64_t dimension, int64_t rank);
absl::Status CheckSameShape(absl::string_view name_a, Type a, absl::string_view name_b, Type b);
absl::Status CheckSameElement(absl::string_view name_a, Type a, absl::string_view name_b, Type b);
absl::Status CheckRank(absl::string_view name, Type tensor, int64_t rank);

bool Contains(absl::Span<const int64_t> list, int64_t value);

// --- Reading inputs (after the row's checks, so that attributes have the right kinds) ---

DimList Ints(const InferInput& in, absl::string_view name);
int64_t Int(const InferInput& in, absl::string_view name, int64_t otherwise = 0);
// The values of a small integer constant, when `value` is the result of one.
std::optional<DimList> ConstantInts(const Value* value);

// --- Regions ---

// The types of a region's arguments, and of what its terminator returns. Empty for a region without
// a block.
absl::InlinedVector<Type, 6> ArgumentTypes(const Region& region);
absl::InlinedVector<Type, 4> ReturnTypes(const Region& region);

// A region that folds values: it takes N accumulators and N values and returns N accumulators of
// the same types. `inputs` are the types of the values that it folds, `inits` those of the initial
// accumulators (`inputs` again where there are none): their elements must be promotable to what the
// region works with. Of floats, the precision may differ in all of these but between accumulators
// and what is returned. `elements` gets the element types it returns.
//
// Accumulators are scalars, but for a reduce whose body keeps dimensions of its result, or a
// reduce_window whose body keeps those of its window: `kept_dims` then names the sizes that may
// occur, in order.
absl::Status CheckReducer(const Region& body, absl::Span<const Type> inputs,
                          absl::Span<const Type> inits, TypeList* elements,
                          absl::Span<const Extent> kept_dims = {});

// Inputs of one shape: their most specific extents.
absl::Status MergeInputShapes(absl::Span<const Type> inputs, Extents* out);

// What dot, dot_general and the convolutions demand of quantized types. -1 for feature dimensions
// that the op does not have.
absl::Status CheckContractionQuantization(const Op& op,
                                          absl::Span<const int64_t> summed_rhs_dimensions,
                                          int64_t rhs_feature, int64_t result_feature);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_TYPE_RULES_H_
