// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/scalar_optimizer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "src/cpu_device/loop/scalar_facts.h"
#include "src/cpu_device/loop/scalar_pairs.h"

namespace pjrt::cpu {
namespace {

using O = ScalarOp;
using Effect = ScalarEffect;
using Facts = ScalarFacts;

// Further apart than this, two instructions are not looked at together.
constexpr int kReach = 64;
// Words of all blocks' sets of live registers: larger programs stay as they are.
constexpr int64_t kMaxLiveWords = 1 << 18;

class Optimizer {
 public:
  Optimizer(absl::Span<const uint64_t> constants, absl::Span<const uint16_t> live_out,
            int num_registers, std::vector<ScalarInstr>* code)
      : constants_(constants), live_out_(live_out), num_registers_(num_registers), code_(*code) {}

  void Run() {
    const int size = static_cast<int>(code_.size());
    gone_.assign(size, false);
    joined_.assign(size, false);
    facts_.reserve(size);
    for (const ScalarInstr& in : code_) facts_.push_back(FactsOf(in.op));
    FindBlocks();
    words_ = (num_registers_ + 63) / 64;
    if (static_cast<int64_t>(blocks_.size()) * words_ > kMaxLiveWords) return;
    defined_at_.assign(num_registers_, -1);
    for (const Block& block : blocks_) Propagate(block);
    FindLiveRegisters();
    for (const Block& block : blocks_) {
      DropUnused(block);
      Trace(block);
      for (int i = block.begin; i < block.end; ++i) {
        if (!gone_[i] && code_[i].op == O::kMove) DropMove(i);
      }
      Trace(block);
      for (int i = block.begin; i < block.end; ++i) {
        if (!gone_[i]) Join(i);
      }
      ChainFloats(block, ScalarKept::kF32);
      ChainFloats(block, ScalarKept::kF64);
    }
    Compact();
  }

 private:
  struct Block {
    int begin = 0, end = 0;
    int next = -1, taken = -1;  // the blocks that may follow; of a switch, next is the first case
  };
  // The registers that an instruction reads.
  static constexpr int kMaxReads = 5;
  struct Reads {
    std::array<uint16_t*, kMaxReads> regs;
    int count = 0;
    void Add(uint16_t* reg) { regs[count++] = reg; }
    uint16_t** begin() { return regs.data(); }
    uint16_t** end() { return regs.data() + count; }
  };
  Reads ReadsOf(int i) {
    Reads reads;
    ScalarInstr& in = code_[i];
    const Facts& f = facts_[i];
    if (f.a) reads.Add(&in.a);
    if (f.b) reads.Add(&in.b);
    if (f.c) reads.Add(&in.c);
    if (f.d) reads.Add(&in.d);
    if (f.dst) reads.Add(&in.dst);
    return reads;
  }
  bool ReadsReg(int i, uint16_t reg) {
    for (const uint16_t* r : ReadsOf(i)) {
      if (*r == reg) return true;
    }
    return false;
  }
  bool Writes(int i, uint16_t reg) const { return facts_[i].writes && code_[i].dst == reg; }
  bool IsConstant(uint16_t reg) const { return reg < constants_.size(); }
  bool IsConstant(uint16_t reg, uint64_t value) const {
    return IsConstant(reg) && constants_[reg] == value;
  }

  static int TargetOf(int i, const ScalarInstr& in) { return i + static_cast<int>(in.u.imm); }
  static bool Jumps(Effect effect) { return effect == Effect::kJump || effect == Effect::kGoto; }

  void FindBlocks() {
    const int size = static_cast<int>(code_.size());
    std::vector<char> begins(size + 1, 0);
    begins[0] = begins[size] = 1;
    for (int i = 0; i < size; ++i) {
      const Effect effect = facts_[i].effect;
      if (Jumps(effect)) begins[TargetOf(i, code_[i])] = 1;
      if (Jumps(effect) || effect == Effect::kSwitch || effect == Effect::kEnd) begins[i + 1] = 1;
    }
    block_of_.assign(size, 0);
    for (int i = 0; i < size; ++i) {
      if (begins[i]) blocks_.emplace_back().begin = i;
      blocks_.back().end = i + 1;
      block_of_[i] = static_cast<int>(blocks_.size()) - 1;
    }
    for (size_t b = 0; b < blocks_.size(); ++b) {
      Block& block = blocks_[b];
      const int last = block.end - 1;
      const Effect effect = facts_[last].effect;
      if (Jumps(effect)) block.taken = block_of_[TargetOf(last, code_[last])];
      if (effect != Effect::kGoto && effect != Effect::kEnd) block.next = static_cast<int>(b) + 1;
    }
  }

  // --- Copies and what is computed twice, forwards ---

  // A value in a register: which, and where in the block it was written (-1: before it).
  struct Value {
    uint16_t reg = 0;
    int at = -1;
    friend bool operator==(const Value& x, const Value& y) {
      return x.reg == y.reg && x.at == y.at;
    }
  };
  struct Computation {
    O op;
    Value a, b, c;
    int64_t imm;
    int memory;
    friend bool operator==(const Computation& x, const Computation& y) {
      return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && x.imm == y.imm &&
             x.memory == y.memory;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Computation& x) {
      return H::combine(std::move(h), x.op, x.a.reg, x.a.at, x.b.reg, x.b.at, x.c.reg, x.c.at,
                        x.imm, x.memory);
    }
  };

  Value ValueOf(uint16_t reg) const { return {reg, defined_at_[reg]}; }

  void Propagate(const Block& block) {
    absl::flat_hash_map<Computation, Value> known;
    absl::flat_hash_map<uint16_t, Value> copies;  // of registers, as long as both stay
    int memory = 0;
    for (int i = block.begin; i < block.end; ++i) {
      ScalarInstr& in = code_[i];
      const Facts& f = facts_[i];
      for (uint16_t* reg : ReadsOf(i)) {
        const auto it = copies.find(*reg);
        if (it != copies.end() && ValueOf(it->second.reg) == it->second) *reg = it->second.reg;
      }
      if (f.effect == Effect::kStore) ++memory;
      if (!f.writes) continue;
      std::optional<Computation> computation;
      if ((f.effect == Effect::kNone || f.effect == Effect::kLoad) && in.op != O::kMove) {
        computation = Computation{in.op,
                                  ValueOf(in.a),
                                  f.b ? ValueOf(in.b) : Value{},
                                  f.c ? ValueOf(in.c) : Value{},
                                  in.u.imm,
                                  f.effect == Effect::kLoad ? memory : 0};
        const auto it = known.find(*computation);
        if (it != known.end() && ValueOf(it->second.reg) == it->second) {
          in.op = O::kMove;
          in.a = it->second.reg;
          in.u.imm = 0;
          facts_[i] = FactsOf(O::kMove);
        }
      }
      if (in.op == O::kMove && in.a == in.dst) {
        gone_[i] = true;
        continue;
      }
      copies.erase(in.dst);
      if (in.op == O::kMove) copies[in.dst] = ValueOf(in.a);
      defined_at_[in.dst] = i;
      if (in.op != O::kMove && computation.has_value()) known[*computation] = ValueOf(in.dst);
    }
    for (int i = block.begin; i < block.end; ++i) {
      if (facts_[i].writes) defined_at_[code_[i].dst] = -1;
    }
  }

  // --- What is never read ---

  using Words = absl::Span<uint64_t>;
  Words LiveIn(int block) { return absl::MakeSpan(live_).subspan(int64_t{block} * words_, words_); }
  static bool Test(Words words, uint16_t reg) { return (words[reg / 64] >> (reg % 64) & 1) != 0; }
  static void Put(Words words, uint16_t reg) { words[reg / 64] |= uint64_t{1} << (reg % 64); }
  static void Drop(Words words, uint16_t reg) { words[reg / 64] &= ~(uint64_t{1} << (reg % 64)); }

  // What is read behind a block.
  void FindLiveOut(const Block& block, Words live) {
    std::fill(live.begin(), live.end(), 0);
    const auto join = [&](int other) {
      const Words from = LiveIn(other);
      for (int w = 0; w < words_; ++w) live[w] |= from[w];
    };
    const Effect effect = facts_[block.end - 1].effect;
    if (effect == Effect::kEnd) {
      for (uint16_t reg : live_out_) Put(live, reg);
    } else if (effect == Effect::kSwitch) {
      // Its cases are blocks of one jump each.
      for (int64_t k = 0; k < code_[block.end - 1].u.imm; ++k)
        join(block.next + static_cast<int>(k));
    } else {
      if (block.next >= 0) join(block.next);
      if (block.taken >= 0) join(block.taken);
    }
  }

  void Step(int i, Words live) {
    if (facts_[i].writes) Drop(live, code_[i].dst);
    for (const uint16_t* reg : ReadsOf(i)) Put(live, *reg);
  }

  void FindLiveRegisters() {
    live_.assign(blocks_.size() * words_, 0);
    scratch_.assign(words_, 0);
    const Words live = absl::MakeSpan(scratch_);
    for (bool changed = true; changed;) {
      changed = false;
      for (int b = static_cast<int>(blocks_.size()) - 1; b >= 0; --b) {
        FindLiveOut(blocks_[b], live);
        for (int i = blocks_[b].end - 1; i >= blocks_[b].begin; --i) {
          if (!gone_[i]) Step(i, live);
        }
        const Words before = LiveIn(b);
        if (!std::equal(live.begin(), live.end(), before.begin())) {
          std::copy(live.begin(), live.end(), before.begin());
          changed = true;
        }
      }
    }
  }

  void DropUnused(const Block& block) {
    const Words live = absl::MakeSpan(scratch_);
    FindLiveOut(block, live);
    for (int i = block.end - 1; i >= block.begin; --i) {
      if (gone_[i]) continue;
      if (facts_[i].writes && !Test(live, code_[i].dst)) {
        gone_[i] = true;
        continue;
      }
      Step(i, live);
    }
  }

  // --- Who uses what within a block ---

  struct Use {
    int uses = 0;          // reads of the value that the instruction writes
    int last = -1;         // the last of them
    bool escapes = false;  // it is read behind the block
  };

  // Notes for each instruction of a block where its value is used, and which instruction writes
  // what it reads (-1: none in this block).
  void Trace(const Block& block) {
    use_.resize(code_.size());
    source_.resize(code_.size());
    for (int i = block.begin; i < block.end; ++i) {
      use_[i] = {};
      source_[i].fill(-1);
      if (gone_[i]) continue;
      int k = 0;
      for (const uint16_t* reg : ReadsOf(i)) {
        const int from = defined_at_[*reg];
        source_[i][k++] = from;
        if (from >= 0) {
          ++use_[from].uses;
          use_[from].last = i;
        }
      }
      if (facts_[i].writes) defined_at_[code_[i].dst] = i;
    }
    const Words live = absl::MakeSpan(scratch_);
    FindLiveOut(block, live);
    for (int i = block.begin; i < block.end; ++i) {
      if (gone_[i] || !facts_[i].writes) continue;
      const uint16_t reg = code_[i].dst;
      if (defined_at_[reg] >= 0) {
        use_[defined_at_[reg]].escapes = Test(live, reg);
        defined_at_[reg] = -1;
      }
    }
  }

  // A copy k <- t at `m` becomes part of what computes t.
  void DropMove(int m) {
    const int i = source_[m][0];
    const uint16_t t = code_[m].a, k = code_[m].dst;
    if (i < 0 || gone_[i] || code_[i].dst != t || use_[i].escapes) return;
    const int last = use_[i].last;
    if (last - i > kReach) return;
    // Kernels may read and write one register only where they know of it.
    const bool in_place = facts_[i].effect == Effect::kCall && ReadsReg(i, k);
    // By writing k at once, where nobody uses k until then.
    bool at_once = !in_place;
    for (int j = i + 1; j <= last && at_once; ++j) {
      if (gone_[j] || j == m) continue;
      at_once = !Writes(j, k) && !(j < m && ReadsReg(j, k));
    }
    if (at_once) {
      code_[i].dst = k;
      for (int j = i + 1; j <= last; ++j) {
        if (gone_[j]) continue;
        for (uint16_t* reg : ReadsOf(j)) {
          if (*reg == t) *reg = k;
        }
      }
      gone_[m] = true;
      use_[i].escapes = use_[m].escapes;
      use_[i].last = std::max(last, use_[m].last);
      for (int j = m + 1; j <= use_[m].last; ++j) {
        for (int& from : source_[j]) {
          if (from == m) from = i;
        }
      }
      return;
    }
    // By computing it where the copy stands, when nobody uses it until then.
    if (facts_[i].effect != Effect::kNone || !Stay(i, m)) return;
    for (int j = i + 1; j <= last; ++j) {
      if (!gone_[j] && (j < m ? ReadsReg(j, t) : j > m && Writes(j, k))) return;
    }
    code_[m] = code_[i];
    code_[m].dst = k;
    facts_[m] = facts_[i];
    source_[m] = source_[i];
    gone_[i] = true;
    for (int from : source_[m]) {
      if (from >= 0) use_[from].last = std::max(use_[from].last, m);
    }
    for (int j = m + 1; j <= last; ++j) {
      if (gone_[j]) continue;
      for (uint16_t* reg : ReadsOf(j)) {
        if (*reg == t) *reg = k;
      }
      for (int& from : source_[j]) {
        if (from == i) from = m;
      }
    }
    use_[m].last = std::max(use_[m].last, last);
  }

  // True when what `i` reads is the same at `j`, if `i` is not done before that.
  bool Stay(int i, int j) {
    if (j - i > kReach) return false;
    const Reads reads = ReadsOf(i);
    for (int k = i + 1; k < j; ++k) {
      if (gone_[k] || !facts_[k].writes) continue;
      for (int r = 0; r < reads.count; ++r) {
        if (*reads.regs[r] == code_[k].dst) return false;
      }
    }
    return true;
  }

  // --- Several instructions as one ---

  // The instruction that makes operand number `k` of `j` for it alone, which can be done at `j` as
  // well; -1 when there is none.
  int PartOf(int j, int k) {
    const int i = source_[j][k];
    if (i < 0 || gone_[i] || joined_[i] || use_[i].uses != 1 || use_[i].escapes ||
        facts_[i].effect != Effect::kNone || !Stay(i, j))
      return -1;
    return i;
  }

  // `joined` stands in the place of `j` and of its part `i`.
  void Replace(int j, int i, const ScalarInstr& joined) {
    code_[j] = joined;
    facts_[j] = FactsOf(joined.op);
    joined_[j] = true;
    gone_[i] = true;
  }

  void Join(int j) {
    const O op = code_[j].op;
    if (op == O::kSelect) {
      JoinSelect(j);
    } else if (op == O::kJumpIf || op == O::kJumpUnless) {
      JoinJump(j);
    } else if (op == O::kJumpIfLtS32) {
      JoinCount(j, O::kAdd32, O::kAddJumpIfLtS32);
    } else if (op == O::kJumpIfLtS64) {
      JoinCount(j, O::kAdd64, O::kAddJumpIfLtS64);
    } else if (IsBetween(op, O::kLoadAt8, O::kLoadAt64)) {
      JoinIndex(j, Number(op) - Number(O::kLoadAt8), /*is_store=*/false);
    } else if (IsBetween(op, O::kStoreAt8, O::kStoreAt64)) {
      JoinIndex(j, Number(op) - Number(O::kStoreAt8), /*is_store=*/true);
    } else {
      JoinPair(j);
    }
  }

  void JoinSelect(int j) {
    const int i = PartOf(j, 0);
    if (i < 0 || !IsBetween(code_[i].op, O::kEq8, O::kLeF64)) return;
    ScalarInstr in = code_[j];
    const ScalarInstr& compare = code_[i];
    const int sum = PartOf(j, 1);
    const bool is32 = compare.op == O::kLtS32;
    // x < 0 ? x + n : x
    if ((is32 || compare.op == O::kLtS64) && IsConstant(compare.b, 0) && compare.a == in.c &&
        source_[i][0] == source_[j][2] && sum >= 0 &&
        code_[sum].op == (is32 ? O::kAdd32 : O::kAdd64)) {
      const int k = code_[sum].a == in.c ? 0 : 1;
      const uint16_t x = k == 0 ? code_[sum].a : code_[sum].b;
      if (x == in.c && source_[sum][k] == source_[j][2]) {
        in.b = k == 0 ? code_[sum].b : code_[sum].a;
        in.a = x;
        in.op = is32 ? O::kWrapS32 : O::kWrapS64;
        gone_[sum] = true;
        Replace(j, i, in);
        return;
      }
    }
    in.op = Behind(O::kSelectEq8, Number(compare.op) - Number(O::kEq8));
    in.d = in.c;
    in.c = in.b;
    in.a = compare.a;
    in.b = compare.b;
    Replace(j, i, in);
  }

  void JoinJump(int j) {
    const int i = PartOf(j, 0);
    if (i < 0) return;
    const bool when = code_[j].op == O::kJumpIf;
    if (code_[i].op == O::kAnd || code_[i].op == O::kOr) return SplitJump(j, i, when);
    ScalarInstr in = code_[j];
    const auto jump = CompareAsJump(code_[i].op, when);
    if (!jump.has_value()) return;
    in.op = *jump;
    in.a = code_[i].a;
    in.b = code_[i].b;
    Replace(j, i, in);
  }

  // A jump by p & q or p | q, computed at `i` right before it, as two: p alone may decide.
  void SplitJump(int j, int i, bool when) {
    if (std::find(gone_.begin() + i + 1, gone_.begin() + j, 0) != gone_.begin() + j) return;
    const ScalarInstr both = code_[i];
    const bool is_and = both.op == O::kAnd;
    const int target = TargetOf(j, code_[j]);
    const int p = PartOf(i, 0), q = PartOf(i, 1);
    const bool p_joins = p >= 0 && CompareAsJump(code_[p].op, when).has_value();
    const bool q_joins = q >= 0 && CompareAsJump(code_[q].op, when).has_value();
    if (!p_joins && !q_joins) return;
    PutJump(i, p_joins ? p : -1, both.a, !is_and, when == is_and ? j + 1 : target);
    PutJump(j, q_joins ? q : -1, both.b, when, target);
  }

  // Puts a jump at `at` that is taken when the predicate in `reg` is `when`, the comparison that
  // makes it included, unless `compare` is -1.
  void PutJump(int at, int compare, uint16_t reg, bool when, int target) {
    ScalarInstr in;
    if (compare >= 0) {
      in = code_[compare];
      in.op = *CompareAsJump(in.op, when);
      gone_[compare] = true;
    } else {
      in.op = when ? O::kJumpIf : O::kJumpUnless;
      in.a = reg;
    }
    in.u.imm = target - at;
    code_[at] = in;
    facts_[at] = FactsOf(in.op);
    joined_[at] = true;
  }

  // The end of a loop that counts.
  void JoinCount(int j, O add, O joined) {
    const int i = source_[j][0];
    if (i < 0 || gone_[i] || joined_[i] || code_[i].op != add || code_[j].b == code_[i].dst ||
        !Stay(i, j))
      return;
    for (int k = i + 1; k < j; ++k) {
      if (!gone_[k] && ReadsReg(k, code_[i].dst)) return;
    }
    ScalarInstr in = code_[j];
    in.op = joined;
    in.dst = code_[i].dst;
    in.a = code_[i].a;
    in.c = in.b;
    in.b = code_[i].b;
    Replace(j, i, in);
  }

  // `size`: 0 for a byte, 1, 2, 3.
  void JoinIndex(int j, int size, bool is_store) {
    const int i = PartOf(j, 1);
    if (i < 0) return;
    ScalarInstr in = code_[j];
    const ScalarInstr& index = code_[i];
    const int64_t scale = index.u.imm, offset = in.u.imm;
    if (static_cast<int32_t>(scale) != scale || static_cast<int32_t>(offset) != offset) return;
    const uint16_t value = in.c;
    if (index.op == O::kMulAdd) {
      in.op = Behind(is_store ? O::kStoreScaled8 : O::kLoadScaled8, size);
      in.c = index.b;
      in.d = value;
    } else if (index.op == O::kIndexS32 || index.op == O::kIndexS64) {
      in.op = Behind(is_store ? O::kStoreIndexS32x8 : O::kLoadIndexS32x8,
                     (index.op == O::kIndexS64 ? 4 : 0) + size);
      in.c = index.c;
      in.d = index.b;
      if (is_store) in.dst = value;
    } else {
      return;
    }
    in.b = index.a;
    in.u.at.scale = static_cast<int32_t>(scale);
    in.u.at.offset = static_cast<int32_t>(offset);
    Replace(j, i, in);
  }

  void JoinPair(int j) {
    ScalarInstr in = code_[j];
    // The later of two parts: the result of the earlier one has been there for longer.
    int best = -1;
    for (int k = 0; k < 2; ++k) {
      const int i = source_[j][k];
      if (i <= best) continue;
      const std::optional<O> pair = PairOf(code_[i].op, code_[j].op, k);
      if (!pair.has_value() || PartOf(j, k) < 0) continue;
      best = i;
      in.op = *pair;
      in.c = k == 0 ? code_[j].b : code_[j].a;
    }
    if (best < 0) return;
    in.a = code_[best].a;
    in.b = code_[best].b;
    Replace(j, best, in);
  }

  // --- Floats that go from one instruction to the next ---

  void ChainFloats(const Block& block, ScalarKept type) {
    int last = -1;  // the register of the last result, as long as it holds that
    for (int i = block.begin; i < block.end; ++i) {
      if (gone_[i]) continue;
      ScalarInstr& in = code_[i];
      if (last >= 0 && (in.a == last) != (in.b == last)) {
        const bool is_first = in.a == last;
        if (const std::optional<O> form = FormOnKept(in.op, type, is_first ? 0 : 1)) {
          if (!is_first) in.b = in.a;
          in.op = *form;
          facts_[i] = FactsOf(in.op);
        }
      }
      if (facts_[i].effect == Effect::kCall) last = -1;
      if (facts_[i].writes && in.dst == last) last = -1;
      if (KeptBy(in.op) == type) last = in.dst;
    }
  }

  // --- The end ---

  void Compact() {
    const int size = static_cast<int>(code_.size());
    std::vector<int> place(size + 1, 0);
    for (int i = 0; i < size; ++i) place[i + 1] = place[i] + (gone_[i] ? 0 : 1);
    for (int i = 0; i < size; ++i) {
      if (gone_[i]) continue;
      ScalarInstr in = code_[i];
      if (Jumps(facts_[i].effect)) in.u.imm = place[TargetOf(i, in)] - place[i];
      code_[place[i]] = in;
    }
    code_.resize(place[size]);
  }

  const absl::Span<const uint64_t> constants_;
  const absl::Span<const uint16_t> live_out_;
  const int num_registers_;
  std::vector<ScalarInstr>& code_;
  std::vector<Facts> facts_;
  std::vector<char> gone_, joined_;
  std::vector<Block> blocks_;
  std::vector<int> block_of_;
  std::vector<int> defined_at_;  // by register, within the block that is looked at
  int words_ = 0;
  std::vector<uint64_t> live_, scratch_;
  std::vector<Use> use_;
  std::vector<std::array<int, kMaxReads>> source_;
};

}  // namespace

void OptimizeScalarCode(absl::Span<const uint64_t> constants, absl::Span<const uint16_t> live_out,
                        int num_registers, std::vector<ScalarInstr>* code) {
  Optimizer(constants, live_out, num_registers, code).Run();
}

}  // namespace pjrt::cpu
