// SPDX-License-Identifier: Apache-2.0
//
// Fusion by levels. A value that is read from memory is available one level above the loop or
// kernel that makes it; an elementwise op that reads values of its own shape straight from the loop
// that computes them stays on that loop's level. Loops of one level then never wait for each other,
// so any of them that have the same shape may become one loop without making a cycle. Linear in the
// number of ops but for the sort.
//
//   1. In program order, each op joins the loops of its operands where it can.
//   2. In reverse order, an op whose users all sit in one later loop sinks into it, so that its
//   result needs no memory.
//   3. Loops of one level and shape that read the same array, or are small, become one: one pass
//   over the array, one dispatch.
#include "src/cpu_device/compile/fusion.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "pjrt/ir/op_set.h"
#include "src/cpu_device/compile/loop_builder.h"

namespace pjrt::cpu {
namespace {

using ir::OpCode;

// Longer loops gain nothing: their values would not stay in registers or L1 anyway.
constexpr int kMaxLoopOps = 256;
// Loops of at most this many elements are merged whatever they read: a dispatch costs more than the
// elements.
constexpr int64_t kSmallLoop = 2048;
constexpr int kMaxMergedOps = 64;

bool IsScalarOperandOp(const ir::Op& op) { return op.Is(OpCode::kSelect) || op.Is(OpCode::kClamp); }

// The shape that the op's loop runs over.
absl::Span<const int64_t> LoopDims(const ir::Op& op) {
  return op.Is(OpCode::kReduce) ? op.operand_type(0).dims() : op.result_type().dims();
}

// True for a reduce that a loop program can hold.
bool IsLoopReduce(const ir::Op& op) {
  if (!op.Is(OpCode::kReduce) || op.num_operands() < 2 || op.region()->block() == nullptr)
    return false;
  // A reducer of arrays folds slices, not elements; others may work with floats of other precision.
  const ir::Block& body = *op.region()->block();
  for (size_t i = 0; i < body.num_arguments(); ++i) {
    const ir::Type argument = body.argument(i)->type();
    const size_t n = op.num_results();
    if (argument.rank() != 0 ||
        argument.primitive_type() != op.result_type(i % n).primitive_type() ||
        argument.primitive_type() != op.operand_type((i + n) % (2 * n)).primitive_type()) {
      return false;
    }
  }
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const ir::Type type = op.operand_type(i);
    if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(type.primitive_type()))
      return false;
  }
  return true;
}

struct Loop {
  int level = 0;
  absl::Span<const int64_t> dims;
  absl::InlinedVector<int64_t, 6> reduced;  // empty: no reduction yet
  bool reduces = false;
  int count = 0;
  int parent = -1;  // union-find
};

class Planner {
 public:
  Planner(const ir::Block& block, bool fuse) : block_(block), fuse_(fuse) {
    for (ir::Op* op : block) {
      if (op == block.terminator()) break;
      op->scratch = static_cast<int32_t>(ops_.size());
      ops_.push_back(op);
    }
  }

  std::vector<Unit> Run() {
    loop_of_.assign(ops_.size(), -1);
    available_.assign(ops_.size(), 0);
    for (size_t i = 0; i < ops_.size(); ++i) Join(static_cast<int>(i));
    if (fuse_) {
      for (size_t i = ops_.size(); i-- > 0;) Sink(static_cast<int>(i));
      MergeSiblings();
    }
    return Order();
  }

 private:
  int Find(int loop) {
    while (loops_[loop].parent >= 0) loop = loops_[loop].parent;
    return loop;
  }

  // The number of the op of this block that defines the value; -1 for arguments and values from
  // outside.
  int Definer(const ir::Value* value) const {
    const ir::Op* op = value->defining_op();
    return op != nullptr && op->block() == &block_ ? op->scratch : -1;
  }

  // Ops that only change how an array is seen, or make something without a step.
  static bool IsFree(const ir::Op& op) {
    switch (op.opcode()) {
      case OpCode::kConstant:
      case OpCode::kIota:
      case OpCode::kReshape:
      case OpCode::kBroadcastInDim:
      case OpCode::kTranspose:
      case OpCode::kSlice:
      case OpCode::kReverse:
      case OpCode::kTuple:
      case OpCode::kGetTupleElement:
      case OpCode::kOptimizationBarrier:
        return true;
      default:
        return false;
    }
  }

  // True when operand i of a loop op is read element for element, so that it may come from the same
  // loop.
  static bool ReadsElementwise(const ir::Op& op, size_t i) {
    if (op.Is(OpCode::kReduce)) return i < op.num_operands() / 2;
    if (op.Is(OpCode::kGather)) return i == 1;
    return !IsScalarOperandOp(op) || op.operand_type(i).rank() == op.result_type().rank();
  }

  int AvailableAt(const ir::Value* value) const {
    const int definer = Definer(value);
    return definer < 0 ? 0 : available_[definer];
  }

  void Join(int i) {
    const ir::Op& op = *ops_[i];
    const bool reduce = IsLoopReduce(op);
    if (!reduce && !IsLoopOp(op) && !IsLoopGather(op)) {
      int level = 0;
      ForEachInput(op, [&](ir::Value* v) { level = std::max(level, AvailableAt(v)); });
      available_[i] = IsFree(op) ? level : level + 1;
      return;
    }
    const absl::Span<const int64_t> dims = LoopDims(op);
    // The level that the operands allow, then the loops on it that feed the op.
    int level = 0;
    absl::InlinedVector<int, 4> feeding;
    for (size_t k = 0; k < op.num_operands(); ++k) {
      const int definer = Definer(op.operand(k));
      const int loop = definer < 0 || !fuse_ ? -1 : loop_of_[definer];
      const bool direct = loop >= 0 && ReadsElementwise(op, k) &&
                          !ops_[definer]->Is(OpCode::kReduce) && loops_[Find(loop)].dims == dims;
      level = std::max(level, direct ? loops_[Find(loop)].level : AvailableAt(op.operand(k)));
      if (direct) feeding.push_back(Find(loop));
    }
    Loop mine;
    mine.level = level;
    mine.dims = dims;
    mine.count = 1;
    if (reduce) {
      mine.reduces = true;
      mine.reduced = op.IntsAttr("dimensions");
      std::sort(mine.reduced.begin(), mine.reduced.end());
    }
    absl::InlinedVector<int, 4> joined;
    bool fits = true;
    Loop merged = mine;
    for (int loop : feeding) {
      if (loops_[loop].level != level ||
          std::find(joined.begin(), joined.end(), loop) != joined.end())
        continue;
      fits = fits && Combine(&merged, loops_[loop], kMaxLoopOps);
      joined.push_back(loop);
    }
    if (!fits) {
      // It reads its operands from memory instead.
      merged = mine;
      merged.level = level + 1;
      joined.clear();
    }
    const int id = static_cast<int>(loops_.size());
    loops_.push_back(merged);
    for (int loop : joined) loops_[loop].parent = id;
    loop_of_[i] = id;
    available_[i] = merged.level + 1;
  }

  // Adds loop b to a, of the same shape and level, when one loop can hold both.
  static bool Combine(Loop* a, const Loop& b, int max_ops) {
    if (a->count + b.count > max_ops) return false;
    if (a->reduces && b.reduces && a->reduced != b.reduced) return false;
    if (b.reduces) {
      a->reduces = true;
      a->reduced = b.reduced;
    }
    a->count += b.count;
    return true;
  }

  void Sink(int i) {
    const ir::Op& op = *ops_[i];
    if (loop_of_[i] < 0 || op.Is(OpCode::kReduce)) return;
    const int mine = Find(loop_of_[i]);
    int target = -1;
    for (ir::Use* use = op.result()->first_use(); use != nullptr; use = use->next()) {
      const ir::Op* user = use->owner();
      if (user->block() != &block_ || user == block_.terminator() || loop_of_[user->scratch] < 0)
        return;
      if (!ReadsElementwise(*user, use->operand_index())) return;
      const int loop = Find(loop_of_[user->scratch]);
      if (target >= 0 && loop != target) return;
      target = loop;
    }
    if (target < 0 || target == mine || loops_[target].dims != loops_[mine].dims ||
        loops_[target].count >= kMaxLoopOps)
      return;
    if (loops_[target].level <= loops_[mine].level) return;
    --loops_[mine].count;
    ++loops_[target].count;
    loop_of_[i] = target;
  }

  void MergeSiblings() {
    std::map<std::pair<int, std::vector<int64_t>>, std::vector<int>> groups;
    absl::flat_hash_map<int, absl::flat_hash_set<const ir::Value*>> reads;
    std::vector<bool> grouped(loops_.size());
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (loop_of_[i] < 0) continue;
      const int loop = Find(loop_of_[i]);
      absl::flat_hash_set<const ir::Value*>& set = reads[loop];
      for (size_t k = 0; k < ops_[i]->num_operands(); ++k) {
        const int definer = Definer(ops_[i]->operand(k));
        if (definer >= 0 && loop_of_[definer] >= 0 && Find(loop_of_[definer]) == loop) continue;
        if (definer >= 0 && ops_[definer]->Is(OpCode::kConstant)) continue;
        if (ops_[i]->operand_type(k).rank() == 0) continue;
        set.insert(ops_[i]->operand(k));
      }
      if (grouped[loop]) continue;
      grouped[loop] = true;
      groups[{loops_[loop].level,
              std::vector<int64_t>(loops_[loop].dims.begin(), loops_[loop].dims.end())}]
          .push_back(loop);
    }
    for (auto& [key, group] : groups) {
      int64_t elements = 1;
      for (int64_t d : key.second) elements *= d;
      // Each loop joins the first of the group that it fits.
      std::vector<int> kept;
      for (int loop : group) {
        bool merged = false;
        for (size_t k = 0; k < kept.size() && k < 8 && !merged; ++k) {
          const auto& theirs = reads[kept[k]];
          const bool related = elements <= kSmallLoop ||
                               std::any_of(reads[loop].begin(), reads[loop].end(),
                                           [&](const ir::Value* v) { return theirs.contains(v); });
          if (!related || !Combine(&loops_[kept[k]], loops_[loop], kMaxMergedOps)) continue;
          loops_[loop].parent = kept[k];
          reads[kept[k]].insert(reads[loop].begin(), reads[loop].end());
          merged = true;
        }
        if (!merged) kept.push_back(loop);
      }
    }
  }

  // Topological order, by the first op of each unit as far as data flow allows.
  std::vector<Unit> Order() {
    std::vector<Unit> units;
    std::vector<int> unit_of(ops_.size(), -1);
    absl::flat_hash_map<int, int> unit_of_loop;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (loop_of_[i] >= 0) {
        auto [it, added] =
            unit_of_loop.try_emplace(Find(loop_of_[i]), static_cast<int>(units.size()));
        if (added) units.push_back({true, {}});
        unit_of[i] = it->second;
      } else {
        unit_of[i] = static_cast<int>(units.size());
        units.push_back({false, {}});
      }
      units[unit_of[i]].ops.push_back(ops_[i]);
    }
    std::vector<std::vector<int>> users(units.size());
    std::vector<int> waiting(units.size(), 0);
    const auto depend = [&](int on, int unit) {
      if (on == unit) return;
      users[on].push_back(unit);
      ++waiting[unit];
    };
    int last_effect = -1;
    for (size_t i = 0; i < ops_.size(); ++i) {
      ForEachInput(*ops_[i], [&](ir::Value* v) {
        if (const int definer = Definer(v); definer >= 0) depend(unit_of[definer], unit_of[i]);
      });
      if (HasSideEffect(*ops_[i])) {
        if (last_effect >= 0) depend(last_effect, unit_of[i]);
        last_effect = unit_of[i];
      }
    }
    std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
    for (size_t u = 0; u < units.size(); ++u) {
      if (waiting[u] == 0) ready.push(static_cast<int>(u));
    }
    std::vector<Unit> ordered;
    ordered.reserve(units.size());
    while (!ready.empty()) {
      const int u = ready.top();
      ready.pop();
      ordered.push_back(std::move(units[u]));
      for (int user : users[u]) {
        if (--waiting[user] == 0) ready.push(user);
      }
    }
    return ordered;
  }

  static bool HasSideEffect(const ir::Op& op) {
    if (op.Is(OpCode::kCustomCall)) return op.BoolAttr("has_side_effect");
    if (ir::GetOpInfo(op.opcode()).Has(ir::kSideEffect)) return true;
    for (size_t r = 0; r < op.num_regions(); ++r) {
      const ir::Block* block = op.region(r)->block();
      if (block == nullptr) continue;
      for (const ir::Op* inner : *block) {
        if (HasSideEffect(*inner)) return true;
      }
    }
    return false;
  }

  const ir::Block& block_;
  const bool fuse_;
  std::vector<ir::Op*> ops_;
  std::vector<Loop> loops_;
  std::vector<int> loop_of_;    // by op; -1: not in a loop
  std::vector<int> available_;  // by op: the level at which its results can be read from memory
};

}  // namespace

std::vector<Unit> PlanUnits(const ir::Block& block, bool fuse) {
  return Planner(block, fuse).Run();
}

void ForEachInput(const ir::Op& op, absl::FunctionRef<void(ir::Value*)> fn) {
  for (size_t i = 0; i < op.num_operands(); ++i) fn(op.operand(i));
  if (op.num_regions() == 0) return;
  std::vector<const ir::Block*> blocks;
  const auto add_regions = [&](const ir::Op& of) {
    for (size_t r = 0; r < of.num_regions(); ++r) {
      if (of.region(r)->block() != nullptr) blocks.push_back(of.region(r)->block());
    }
  };
  add_regions(op);
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const ir::Op* inner : *blocks[b]) add_regions(*inner);
  }
  const absl::flat_hash_set<const ir::Block*> inside(blocks.begin(), blocks.end());
  for (const ir::Block* block : blocks) {
    for (const ir::Op* inner : *block) {
      for (const ir::Use& use : inner->operand_uses()) {
        if (!inside.contains(use.value()->block())) fn(use.value());
      }
    }
  }
}

}  // namespace pjrt::cpu
