// SPDX-License-Identifier: Apache-2.0
//
// sort. Most comparators compare the same function of both sides, first one key, then another where
// the first are equal; those are sorted by keys, which are computed once for every element. Others
// are called.
#include <algorithm>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/constants.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/sort_step.h"

namespace pjrt::cpu {
namespace {

using ir::OpCode;

struct SortKey {
  const ir::Value* left;  // the key of the left side, in the comparator
  bool is_descending;
  bool is_total_order;
};

class KeyMatcher {
 public:
  explicit KeyMatcher(const ir::Block& block) : block_(block) {}

  // The keys that `value` orders by, appended; false when it is no such order.
  bool Match(const ir::Value* value, std::vector<SortKey>* keys) {
    const ir::Op* op = value->defining_op();
    if (op == nullptr || op->block() != &block_) return false;
    if (std::optional<SortKey> key = MatchCompare(*op)) {
      keys->push_back(*key);
      return true;
    }
    // less(a) or (equal(a) and rest), in any order of operands.
    if (op->Is(OpCode::kOr))
      return MatchLexicographic(op->operand(0), op->operand(1), keys) ||
             MatchLexicographic(op->operand(1), op->operand(0), keys);
    // select(equal(a), rest, less(a))
    if (op->Is(OpCode::kSelect)) {
      const ir::Op* less = op->operand(2)->defining_op();
      if (less == nullptr) return false;
      const std::optional<SortKey> key = MatchCompare(*less);
      if (!key.has_value() || !IsEqualityOf(op->operand(0), *less)) return false;
      keys->push_back(*key);
      return Match(op->operand(1), keys);
    }
    return false;
  }

 private:
  bool MatchLexicographic(const ir::Value* less_value, const ir::Value* rest,
                          std::vector<SortKey>* keys) {
    const ir::Op* less = less_value->defining_op();
    const ir::Op* both = rest->defining_op();
    if (less == nullptr || both == nullptr || !both->Is(OpCode::kAnd)) return false;
    const std::optional<SortKey> key = MatchCompare(*less);
    if (!key.has_value()) return false;
    for (int side = 0; side < 2; ++side) {
      if (!IsEqualityOf(both->operand(side), *less)) continue;
      const size_t before = keys->size();
      keys->push_back(*key);
      if (Match(both->operand(1 - side), keys)) return true;
      keys->resize(before);
    }
    return false;
  }

  static std::optional<ir::ComparisonDirection> Direction(const ir::Op& op) {
    return op.Is(OpCode::kCompare)
               ? ir::EnumFrom<ir::ComparisonDirection>(op.attr("comparison_direction"))
               : std::nullopt;
  }

  std::optional<SortKey> MatchCompare(const ir::Op& op) {
    const auto direction = Direction(op);
    using D = ir::ComparisonDirection;
    if (direction != D::kLt && direction != D::kGt) return std::nullopt;
    const bool total = ir::EnumFrom<ir::ComparisonType>(op.attr("compare_type")) ==
                       ir::ComparisonType::kTotalOrder;
    if (IsComplex(op.operand_type(0).primitive_type())) return std::nullopt;
    if (SidesMatch(op.operand(0), op.operand(1), 0))
      return SortKey{op.operand(0), direction == D::kGt, total};
    if (SidesMatch(op.operand(1), op.operand(0), 0))
      return SortKey{op.operand(1), direction == D::kLt, total};
    return std::nullopt;
  }

  // `value` says that the operands of `less` are equal.
  static bool IsEqualityOf(const ir::Value* value, const ir::Op& less) {
    const ir::Op* op = value->defining_op();
    if (op == nullptr || Direction(*op) != ir::ComparisonDirection::kEq) return false;
    return (op->operand(0) == less.operand(0) && op->operand(1) == less.operand(1)) ||
           (op->operand(0) == less.operand(1) && op->operand(1) == less.operand(0));
  }

  // `left` is of the left arguments what `right` is of the right ones.
  bool SidesMatch(const ir::Value* left, const ir::Value* right, int depth) {
    if (depth > 32) return false;
    if (left->argument_of() == &block_)
      return right->argument_of() == &block_ && left->index() % 2 == 0 &&
             right->index() == left->index() + 1;
    const ir::Op* a = left->defining_op();
    const ir::Op* b = right->defining_op();
    if (a == nullptr || b == nullptr) return false;
    if (a == b) return a->Is(OpCode::kConstant);
    if (a->opcode() != b->opcode() || a->num_operands() != b->num_operands() ||
        a->num_results() != 1 || a->num_regions() > 0)
      return false;
    if (a->attributes().size() != b->attributes().size() || a->result_type() != b->result_type())
      return false;
    for (const ir::NamedAttribute& attribute : a->attributes()) {
      const ir::Attribute other = b->attr(attribute.name);
      if (!other || !ir::Equal(attribute.value, other)) return false;
    }
    if (a->num_operands() == 0) return a->Is(OpCode::kConstant);
    if (!IsLoopOp(*a)) return false;
    for (size_t i = 0; i < a->num_operands(); ++i) {
      if (!SidesMatch(a->operand(i), b->operand(i), depth + 1)) return false;
    }
    return true;
  }

  const ir::Block& block_;
};

// The key of each element: the comparator's ops on the left arguments, over whole arrays.
absl::StatusOr<ArrayView> ComputeKey(Lowering& lowering, const ir::Block& block,
                                     const ir::Value* key, absl::Span<const ArrayView> arrays,
                                     Steps* steps) {
  if (key->argument_of() == &block) return arrays[key->index() / 2];
  LoopBuilder builder(arrays[0].dims, /*keep_f32=*/false);
  absl::flat_hash_map<const ir::Value*, LoopValue> values;
  // Ops are in order, so that one pass defines what the key needs.
  std::vector<const ir::Op*> needed;
  std::vector<const ir::Value*> stack = {key};
  while (!stack.empty()) {
    const ir::Value* value = stack.back();
    stack.pop_back();
    if (value->argument_of() == &block) {
      if (!values.contains(value)) values[value] = builder.Load(arrays[value->index() / 2]);
      continue;
    }
    const ir::Op* op = value->defining_op();
    if (op->block() != &block || std::find(needed.begin(), needed.end(), op) != needed.end())
      continue;
    needed.push_back(op);
    for (size_t i = 0; i < op->num_operands(); ++i) stack.push_back(op->operand(i));
  }
  for (const ir::Op* op : block) {
    if (std::find(needed.begin(), needed.end(), op) == needed.end() || op->Is(OpCode::kConstant))
      continue;
    if (!IsLoopOp(*op))
      return UnsupportedOp(*op, "only elementwise ops on scalars can stand in a comparator");
    std::vector<LoopValue> operands;
    for (size_t i = 0; i < op->num_operands(); ++i) {
      const ir::Value* operand = op->operand(i);
      if (!values.contains(operand)) {
        const std::optional<ArrayView> splat =
            operand->defining_op() != nullptr && operand->defining_op()->Is(OpCode::kConstant)
                ? SplatConstant(*operand->defining_op())
                : std::nullopt;
        if (!splat.has_value())
          return UnsupportedOp(*op,
                               "it uses a value from outside its region that is not a constant");
        values[operand] = builder.Load(SplatView(splat->type, {}, splat->bits));
      }
      operands.push_back(values[operand]);
    }
    PJRT_ASSIGN_OR_RETURN(const LoopValue value, builder.Emit(*op, operands));
    values[op->result()] = value;
  }
  const ArrayView result = lowering.NewArray(key->type().primitive_type(), arrays[0].dims);
  LoopStore store;
  store.value = values[key];
  store.type = result.type;
  store.view.strides = result.strides;
  builder.program().stores.push_back(std::move(store));
  builder.program().num_outer = static_cast<int>(result.dims.size());
  std::vector<BufferId> inputs = builder.input_buffers();
  PJRT_RETURN_IF_ERROR(lowering.EmitLoop(std::move(builder.program()), std::move(inputs),
                                         {result.buffer}, "sort keys", steps));
  return result;
}

// How many elements at the beginning of each sorted line the program looks at: all, unless every
// use of every result is a slice.
int64_t UsedLength(const ir::Op& op, int64_t dim, int64_t length) {
  int64_t used = 1;
  for (size_t i = 0; i < op.num_results(); ++i) {
    for (ir::Use* use = op.result(i)->first_use(); use != nullptr; use = use->next()) {
      if (!use->owner()->Is(OpCode::kSlice)) return length;
      used = std::max(used, use->owner()->IntsAttr("limit_indices")[dim]);
    }
  }
  return used;
}

}  // namespace

absl::Status LowerSort(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const int64_t rank = op.operand_type(0).rank();
  int64_t dim = op.IntAttr("dimension", -1);
  if (dim < 0) dim += rank;
  const ir::Block& comparator = *op.region()->block();
  std::vector<ArrayView> arrays;
  SortParams p;
  p.kernels = lowering.kernels().block;
  const ir::Type type = op.operand_type(0);
  if (type.element_count() == 0) {
    for (size_t i = 0; i < op.num_results(); ++i)
      lowering.Bind(op.result(i), lowering.NewArray(op.result_type(i)));
    return absl::OkStatus();
  }
  if (rank == 0) return UnsupportedOp(op, "scalars cannot be sorted");
  p.length = type.dim(dim);
  if (p.length > int64_t{1} << 31)
    return UnsupportedOp(op, "lines of more than 2^31 elements cannot be sorted");
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dim) (d < dim ? p.outer : p.inner) *= type.dim(d);
  }
  std::vector<SortKey> keys;
  const bool has_keys = KeyMatcher(comparator).Match(comparator.terminator()->operand(0), &keys);
  // Selecting a few costs less than sorting all; it needs a key.
  p.kept = p.length;
  if (const int64_t used = UsedLength(op, dim, p.length);
      keys.size() == 1 && has_keys && used <= p.length / 8)
    p.kept = used;
  std::vector<BufferId> reads, writes;
  for (size_t i = 0; i < op.num_operands(); ++i) {
    PJRT_ASSIGN_OR_RETURN(const ArrayView array,
                          lowering.Dense(lowering.view(op.operand(i)), steps));
    // Lines that are cut short keep the dims of whole ones: nothing reads behind their ends.
    Dims dims = array.dims;
    dims[dim] = p.kept;
    ArrayView result = lowering.NewArray(array.type, dims);
    result.dims = array.dims;
    arrays.push_back(array);
    p.arrays.push_back({array.type, array.buffer, result.buffer});
    reads.push_back(array.buffer);
    writes.push_back(result.buffer);
    lowering.Bind(op.result(i), result);
  }
  if (has_keys) {
    for (const SortKey& key : keys) {
      PJRT_ASSIGN_OR_RETURN(const ArrayView array,
                            ComputeKey(lowering, comparator, key.left, arrays, steps));
      p.keys.push_back({array.type, array.buffer, key.is_descending, key.is_total_order});
      reads.push_back(array.buffer);
    }
  } else {
    PJRT_ASSIGN_OR_RETURN(const std::shared_ptr<const LoopProgram> body,
                          lowering.Body(comparator, /*keep_f32=*/true));
    PJRT_ASSIGN_OR_RETURN(p.comparator, lowering.engine().CompileBody(*body));
  }
  lowering.plan().Emit(steps, std::make_unique<SortStep>(std::move(p)), reads, writes);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
