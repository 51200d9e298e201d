// SPDX-License-Identifier: Apache-2.0
//
// Where values are written. What a concatenation alone uses, but for slices, is computed in its
// place there, so that nothing is left to copy.
#include <optional>
#include <utility>

#include "src/cpu_device/compile/lowering.h"

namespace pjrt::cpu {
namespace {

using ir::OpCode;

// The op that alone uses `value`, in the block of its definition; null for none.
const ir::Op* OnlyUser(const ir::Value* value) {
  if (!value->HasOneUse()) return nullptr;
  const ir::Op* const user = value->first_use()->owner();
  return user->block() == value->block() ? user : nullptr;
}

// The use that alone needs the whole of `value`, in the block of its definition, beside slices,
// which read it wherever it is; null for none.
const ir::Use* WholeUse(const ir::Value* value) {
  const ir::Use* whole = nullptr;
  for (const ir::Use* use = value->first_use(); use != nullptr; use = use->next()) {
    if (use->owner()->block() != value->block()) return nullptr;
    if (use->owner()->Is(OpCode::kSlice)) continue;
    if (whole != nullptr) return nullptr;
    whole = use;
  }
  return whole;
}

bool HasPlaces(const ir::Op& concatenation) {
  const ir::Type type = concatenation.result_type();
  if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(type.primitive_type()) ||
      !CheckElements(type.dims(), concatenation).ok() || InterleavesColumns(concatenation))
    return false;
  // One that is only cut need not be made.
  const ir::Op* const user = OnlyUser(concatenation.result());
  return user == nullptr || !user->Is(OpCode::kDynamicSlice);
}

// True for an operand that is much smaller than most: copying it costs less than the memory for all
// of them from when it is computed on.
bool IsSmallIn(const ir::Op& concatenation, const ir::Value& operand) {
  const double all = static_cast<double>(concatenation.result_type().element_count());
  return 2.0 * static_cast<double>(operand.type().element_count()) *
             static_cast<double>(concatenation.num_operands()) <
         all;
}

}  // namespace

std::optional<ArrayView> Lowering::PlaceInUser(const ir::Value* value, int depth) {
  const ir::Use* const use = options_.fuse && depth > 0 ? WholeUse(value) : nullptr;
  if (use == nullptr) return std::nullopt;
  const ir::Op* const user = use->owner();
  if (user->Is(OpCode::kReshape)) {
    const std::optional<ArrayView> place = PlaceInUser(user->result(), depth - 1);
    return place.has_value() ? ReshapeView(*place, value->type().dims()) : std::nullopt;
  }
  if (!user->Is(OpCode::kConcatenate) || !HasPlaces(*user) || IsSmallIn(*user, *value))
    return std::nullopt;
  const ir::Value* const whole = user->result();
  auto known = wholes_.find(whole);
  if (known == wholes_.end()) {
    Whole made;
    std::optional<ArrayView> outer = PlaceInUser(whole, depth - 1);
    made.array = outer.has_value() ? *std::move(outer) : NewArray(whole->type());
    const int64_t dim = user->IntAttr("dimension");
    int64_t at = made.array.offset;
    for (size_t i = 0; i < user->num_operands(); ++i) {
      made.offsets.push_back(at);
      at += user->operand_type(i).dims()[dim] * made.array.strides[dim];
    }
    known = wholes_.emplace(whole, std::move(made)).first;
  }
  ArrayView place = known->second.array;
  place.offset = known->second.offsets[use->operand_index()];
  place.dims.assign(value->type().dims().begin(), value->type().dims().end());
  return place;
}

ArrayView Lowering::PlaceFor(const ir::Value* value) {
  constexpr int kDepth = 8;  // of concatenations of concatenations
  if (const auto known = wholes_.find(value); known != wholes_.end()) return known->second.array;
  std::optional<ArrayView> place = PlaceInUser(value, kDepth);
  return place.has_value() ? *std::move(place) : NewArray(value->type());
}

}  // namespace pjrt::cpu
