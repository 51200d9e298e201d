// SPDX-License-Identifier: Apache-2.0
//
// f(concatenate(a, b), c) becomes concatenate(f(a, c'), f(b, c'')) with slices of c, so that
// nothing is put together only to be read once. Where c is computed for f alone, so are its slices.
// Padding of one dimension is a concatenation, and so are slices of those.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// A loop over fewer elements costs less than to begin it.
constexpr int64_t kMinElements = 2048;
// Pieces of this many elements in a row, in the mean, are read and written at full speed.
constexpr int64_t kMinRow = 16;
constexpr size_t kMaxPieces = 8;
constexpr int kMaxUsers = 8;
// Ops behind one concatenation: each is written once for each piece.
constexpr int kMaxOpsBehind = 64;

// Cuts of a dimension: where pieces begin, and the end of the last.
struct Cuts {
  int64_t dim = 0;
  absl::InlinedVector<int64_t, 8> at;
};

void AddCuts(const Op& concatenation, Cuts* cuts) {
  cuts->dim = concatenation.IntAttr("dimension");
  int64_t at = 0;
  cuts->at.push_back(at);
  for (const Use& use : concatenation.operand_uses())
    cuts->at.push_back(at += use.value()->type().dim(cuts->dim));
  std::sort(cuts->at.begin(), cuts->at.end());
  cuts->at.erase(std::unique(cuts->at.begin(), cuts->at.end()), cuts->at.end());
}

bool AreWide(const Cuts& cuts, Type type) {
  int64_t row = 1;
  for (int64_t d = cuts.dim; d < type.rank(); ++d) row *= type.dim(d);
  const int64_t pieces = static_cast<int64_t>(cuts.at.size()) - 1;
  return pieces >= 2 && cuts.at.size() - 1 <= kMaxPieces && row >= kMinRow * pieces &&
         type.element_count() >= kMinElements;
}

bool IsSharedScalar(const Value* operand, const Op& op) {
  return operand->type().rank() == 0 && op.result_type().rank() != 0;
}

bool IsUsedBy(const Value* value, const Op& op) {
  for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
    if (use->owner() != &op) return false;
  }
  return true;
}

class Sinker {
 public:
  explicit Sinker(Module* module) : module_(module) {}

  // In program order, so that a concatenation goes behind a whole chain in one walk.
  void Visit(Op* op) {
    if (op->Is(OpCode::kPad)) return ReplacePad(op);
    if (op->Is(OpCode::kSlice)) return ReplaceSlice(op);
    if (!ComputesByElement(*op)) return;
    for (const Use& use : op->operand_uses()) {
      const Op* const whole = MadeBy(use.value(), OpCode::kConcatenate);
      if (whole != nullptr && Sinks(*whole)) return Split(op, *whole);
    }
  }

 private:
  // Whether all that uses the concatenation can do without it.
  bool Sinks(const Op& whole) const {
    if (whole.num_operands() > kMaxPieces || !HasStaticOperands(whole)) return false;
    Cuts cuts;
    AddCuts(whole, &cuts);
    if (!AreWide(cuts, whole.result_type())) return false;
    const auto found = ops_behind_.find(&whole);
    if (found != ops_behind_.end() && found->second >= kMaxOpsBehind) return false;
    int users = 0;
    for (const Use* use = whole.result()->first_use(); use != nullptr; use = use->next()) {
      const Op* const user = use->owner();
      int budget = kMaxOpsBehind;
      if (++users > kMaxUsers || user->block() != whole.block() || !IsCuttable(*user, &budget))
        return false;
    }
    return true;
  }

  bool IsCuttable(const Op& op, int* budget) const {
    if (!ComputesByElement(op) || --*budget < 0) return false;
    return std::all_of(op.operand_uses().begin(), op.operand_uses().end(),
                       [&](const Use& use) { return IsCuttable(use.value(), op, budget); });
  }

  // Whether an operand of `user` can be had in pieces without being computed twice, and without
  // being kept in memory where it was not before.
  bool IsCuttable(const Value* operand, const Op& user, int* budget) const {
    if (IsSharedScalar(operand, user)) return true;
    if (operand->type().dims() != user.result_type().dims()) return false;
    const Op* const maker = operand->defining_op();
    if (maker == nullptr || maker->block() != user.block()) return true;
    if (maker->Is(OpCode::kGather)) return false;
    if (!ComputesByElement(*maker)) return true;
    if (IsUsedBy(operand, user)) return IsCuttable(*maker, budget);
    int users = 0;
    for (const Use* use = operand->first_use(); use != nullptr; use = use->next()) {
      if (!ComputesByElement(*use->owner())) return true;  // it is in memory
      if (++users > kMaxUsers) return false;
    }
    return false;
  }

  void Split(Op* op, const Op& whole) {
    Cuts cuts;
    AddCuts(whole, &cuts);
    int ops = 1;
    for (const Use& use : op->operand_uses()) {
      const Op* const other = MadeBy(use.value(), OpCode::kConcatenate);
      if (other == nullptr) continue;
      if (const auto found = ops_behind_.find(other); found != ops_behind_.end())
        ops += found->second;
      Cuts both = cuts;
      if (other == &whole || other->IntAttr("dimension") != cuts.dim) continue;
      AddCuts(*other, &both);
      if (AreWide(both, whole.result_type())) cuts = std::move(both);
    }
    Emitter emit(module_, op);
    absl::InlinedVector<Term, 8> pieces;
    for (size_t i = 0; i + 1 < cuts.at.size(); ++i) {
      Piece piece{cuts.dim, cuts.at[i], cuts.at[i + 1], {}};
      pieces.push_back(emit(Compute(*op, &piece, emit)));
    }
    const Term result = Concatenate(pieces, cuts.dim);
    ops_behind_[result.value()->defining_op()] = ops;
    op->result()->ReplaceAllUsesWith(result.value());
    EraseUnused(op);
  }

  void ReplacePad(Op* op) {
    if (!IsPlain(*op) || op->result_type().element_count() < kMinElements ||
        !ElementsAlone(op->result()))
      return;
    const auto low = op->IntsAttr("edge_padding_low"), high = op->IntsAttr("edge_padding_high"),
               interior = op->IntsAttr("interior_padding");
    int64_t dim = -1;
    for (size_t d = 0; d < low.size(); ++d) {
      if (low[d] == 0 && high[d] == 0 && interior[d] == 0) continue;
      if (dim >= 0 || interior[d] != 0) return;
      dim = static_cast<int64_t>(d);
    }
    if (dim < 0) return;
    Value* const operand = op->operand(0);
    const int64_t begin = std::max<int64_t>(-low[dim], 0);
    const int64_t count = operand->type().dim(dim) - begin - std::max<int64_t>(-high[dim], 0);
    if (count <= 0) return;
    Emitter emit(module_, op);
    absl::InlinedVector<Term, 3> pieces;
    const auto fill = [&](int64_t size) {
      if (size <= 0) return;
      const Type type = WithSize(operand->type(), dim, size);
      Value* const splat = Respread(op->operand(1), type, emit);
      pieces.push_back(splat != nullptr ? emit(splat)
                                        : Broadcast(emit(op->operand(1)), type.dims(), {}));
    };
    fill(low[dim]);
    pieces.push_back(emit(Slice(operand, dim, begin, WithSize(operand->type(), dim, count), emit)));
    fill(high[dim]);
    if (pieces.size() == 1) return;
    op->result()->ReplaceAllUsesWith(Concatenate(pieces, dim).value());
    op->Erase();
  }

  void ReplaceSlice(Op* op) {
    const Op* const whole = MadeBy(op->operand(0), OpCode::kConcatenate);
    if (whole == nullptr || !IsOnlySliced(*whole)) return;
    const int64_t dim = whole->IntAttr("dimension");
    const auto starts = op->IntsAttr("start_indices"), limits = op->IntsAttr("limit_indices");
    Emitter emit(module_, op);
    absl::InlinedVector<Term, 8> pieces;
    int64_t at = 0;
    for (const Use& use : whole->operand_uses()) {
      Value* const piece = use.value();
      const int64_t size = piece->type().dim(dim);
      DimList from(starts.begin(), starts.end()), to(limits.begin(), limits.end());
      from[dim] = std::max<int64_t>(starts[dim] - at, 0);
      to[dim] = std::min(limits[dim] - at, size);
      at += size;
      if (from[dim] >= to[dim]) continue;
      const Type type = WithSize(op->result_type(), dim, to[dim] - from[dim]);
      pieces.push_back(emit(SliceOf(piece, from, to, type, emit)));
    }
    op->result()->ReplaceAllUsesWith(Concatenate(pieces, dim).value());
    EraseUnused(op);
  }

  // Whether a concatenation is not needed but in parts: each within a piece, or put together for
  // what computes by element, or a piece of another concatenation.
  static bool IsOnlySliced(const Op& whole) {
    if (!IsPlain(whole) || HasManyUsers(whole.result())) return false;
    Cuts cuts;
    AddCuts(whole, &cuts);
    for (const Use* use = whole.result()->first_use(); use != nullptr; use = use->next()) {
      const Op* const slice = use->owner();
      if (!slice->Is(OpCode::kSlice) || slice->block() != whole.block() ||
          slice->result_type().element_count() == 0)
        return false;
      const auto strides = slice->IntsAttr("strides");
      if (!std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 1; }))
        return false;
      const int64_t begin = slice->IntsAttr("start_indices")[cuts.dim];
      const int64_t end = slice->IntsAttr("limit_indices")[cuts.dim];
      const bool crosses = std::any_of(cuts.at.begin(), cuts.at.end(),
                                       [&](int64_t at) { return begin < at && at < end; });
      if (crosses && !ElementsAlone(slice->result()) && !IsPieceAlone(*slice)) return false;
    }
    return true;
  }

  // Whether an op's result is put together with others, not for what computes by element: that
  // takes pieces whole.
  static bool IsPieceAlone(const Op& op) {
    if (!op.result()->HasOneUse()) return false;
    const Op& user = *op.result()->first_use()->owner();
    if (!user.Is(OpCode::kConcatenate) || user.block() != op.block() || HasManyUsers(user.result()))
      return false;
    for (const Use* use = user.result()->first_use(); use != nullptr; use = use->next()) {
      if (ComputesByElement(*use->owner())) return false;
    }
    return true;
  }

  static bool IsPlain(const Op& op) {
    return op.result_type().IsTensor() && op.result_type().HasStaticShape() &&
           op.result_type().primitive_type() != PrimitiveType::INVALID && HasStaticOperands(op);
  }
  static bool HasStaticOperands(const Op& op) {
    return std::all_of(op.operand_uses().begin(), op.operand_uses().end(),
                       [](const Use& use) { return use.value()->type().HasStaticShape(); });
  }

  // More than are looked at, so that time stays linear.
  static bool HasManyUsers(const Value* value) {
    int users = 0;
    for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
      if (++users > kMaxUsers) return true;
    }
    return false;
  }

  // Whether all that uses `value` computes by element.
  static bool ElementsAlone(const Value* value) {
    if (HasManyUsers(value)) return false;
    for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
      if (!ComputesByElement(*use->owner())) return false;
    }
    return true;
  }

  Type WithSize(Type type, int64_t dim, int64_t size) const {
    DimList dims(type.dims().begin(), type.dims().end());
    dims[dim] = size;
    return WithDims(module_->context(), type, dims);
  }

  // A part of a dimension, and the values that have been made for it.
  struct Piece {
    int64_t dim, begin, end;
    absl::flat_hash_map<const Value*, Value*> made;
  };

  Type TypeIn(const Piece& piece, Type type) const {
    return WithSize(type, piece.dim, piece.end - piece.begin);
  }

  Value* Compute(const Op& op, Piece* piece, Emitter& emit) const {
    absl::InlinedVector<Value*, 4> operands;
    for (const Use& use : op.operand_uses()) {
      Value* const operand = use.value();
      if (IsSharedScalar(operand, op)) {
        operands.push_back(operand);
        continue;
      }
      if (const auto known = piece->made.find(operand); known != piece->made.end()) {
        operands.push_back(known->second);
        continue;
      }
      Value* const part = PartOf(operand, op, piece, emit);
      piece->made[operand] = part;
      operands.push_back(part);
    }
    return emit.Make(op.name(), operands, {TypeIn(*piece, op.result_type())}, op.attributes())
        ->result();
  }

  Value* PartOf(Value* value, const Op& user, Piece* piece, Emitter& emit) const {
    const Type type = TypeIn(*piece, value->type());
    if (Value* const splat = Respread(value, type, emit)) return splat;
    const Op* const maker = value->defining_op();
    if (maker != nullptr && maker->block() == user.block()) {
      if (ComputesByElement(*maker) && IsUsedBy(value, user)) return Compute(*maker, piece, emit);
      if (maker->Is(OpCode::kConcatenate) && maker->IntAttr("dimension") == piece->dim &&
          Sinks(*maker)) {
        int64_t at = 0;
        for (const Use& use : maker->operand_uses()) {
          const int64_t size = use.value()->type().dim(piece->dim);
          if (piece->begin >= at && piece->end <= at + size)
            return Slice(use.value(), piece->dim, piece->begin - at, type, emit);
          at += size;
        }
      }
    }
    return Slice(value, piece->dim, piece->begin, type, emit);
  }

  static Value* Slice(Value* value, int64_t dim, int64_t begin, Type type, Emitter& emit) {
    DimList starts(type.rank(), 0), limits(type.dims().begin(), type.dims().end());
    starts[dim] = begin;
    limits[dim] += begin;
    return SliceOf(value, starts, limits, type, emit);
  }

  static Value* SliceOf(Value* value, absl::Span<const int64_t> starts,
                        absl::Span<const int64_t> limits, Type type, Emitter& emit) {
    if (value->type() == type) return value;
    if (Value* const splat = Respread(value, type, emit)) return splat;
    return emit
        .Make1("stablehlo.slice", {emit(value)}, type,
               {{"limit_indices", emit.context().I64Array(limits)},
                {"start_indices", emit.context().I64Array(starts)},
                {"strides", emit.context().I64Array(DimList(type.rank(), 1))}})
        .value();
  }

  // Erases an op, and what was made for it alone: other rules count uses.
  static void EraseUnused(Op* op) {
    absl::InlinedVector<Op*, 8> unused = {op};
    while (!unused.empty()) {
      Op* const next = unused.back();
      unused.pop_back();
      absl::InlinedVector<Op*, 4> makers;
      for (const Use& use : next->operand_uses()) {
        Op* const maker = use.value()->defining_op();
        if (maker != nullptr && std::find(makers.begin(), makers.end(), maker) == makers.end())
          makers.push_back(maker);
      }
      next->Erase();
      for (Op* const maker : makers) {
        if ((ComputesByElement(*maker) || maker->Is(OpCode::kConcatenate)) &&
            maker->result()->first_use() == nullptr)
          unused.push_back(maker);
      }
    }
  }

  Module* const module_;
  absl::flat_hash_map<const Op*, int> ops_behind_;  // of the concatenations made here
};

}  // namespace

void SinkConcatenations(Module* module) {
  Sinker sinker(module);
  module->Walk([&](Op* op) { sinker.Visit(op); });
}

}  // namespace pjrt::ir
