// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/compare_iotas.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace pjrt::cpu {
namespace {

struct Range {
  __int128 least, most;
  bool Holds(const Range& other) const { return least <= other.least && other.most <= most; }
};

// offset + sum of coordinate * strides, exactly.
struct Affine {
  __int128 offset = 0;
  absl::InlinedVector<__int128, 6> strides;
};

bool IsComparison(BlockOp op) { return op >= BlockOp::kCompareEq && op <= BlockOp::kCompareGe; }
bool IsInteger(CType type) { return type >= CType::kS8 && type <= CType::kU64; }
bool IsSigned(CType type) {
  return type == CType::kS8 || type == CType::kS16 || type == CType::kS32 || type == CType::kS64;
}
int BitsOf(CType type) { return 8 * kCTypeSize[static_cast<int>(type)]; }

Range RangeOf(CType type) {
  const __int128 span = __int128{1} << BitsOf(type);
  return IsSigned(type) ? Range{-span / 2, span / 2 - 1} : Range{0, span - 1};
}

class ComparisonRewriter {
 public:
  explicit ComparisonRewriter(LoopProgram* program) : p_(*program), values_(p_.instrs.size()) {}

  void Run() {
    for (size_t v = 0; v < p_.instrs.size(); ++v) {
      LoopInstr& instr = p_.instrs[v];
      if (instr.kind == LoopInstr::kOp && IsComparison(instr.op)) {
        Compare(&instr);
      } else if (IsInteger(instr.type)) {
        std::optional<Affine> value = ValueOf(instr);
        // A number that its type does not hold wraps around.
        if (value.has_value() && RangeOf(instr.type).Holds(RangeOf(*value)))
          values_[v] = std::move(value);
      }
    }
  }

 private:
  Range RangeOf(const Affine& value) const {
    Range range{value.offset, value.offset};
    for (size_t d = 0; d < p_.dims.size(); ++d) {
      const __int128 last = value.strides[d] * (p_.dims[d] - 1);
      (last < 0 ? range.least : range.most) += last;
    }
    return range;
  }
  static Range RangeOf(CType type) { return pjrt::cpu::RangeOf(type); }

  std::optional<Affine> ValueOf(const LoopInstr& instr) const {
    Affine value;
    value.strides.assign(p_.dims.size(), 0);
    switch (instr.kind) {
      case LoopInstr::kConstant: {
        uint64_t bits = 0;
        std::memcpy(&bits, instr.bits, BitsOf(instr.type) / 8);
        value.offset = bits;
        if (IsSigned(instr.type) && bits >> (BitsOf(instr.type) - 1) != 0)
          value.offset -= __int128{1} << BitsOf(instr.type);
        return value;
      }
      case LoopInstr::kIota: {
        const LoopView& view = p_.iotas[instr.index];
        value.offset = view.offset;
        // A dim without a second point has no step.
        for (size_t d = 0; d < p_.dims.size(); ++d)
          value.strides[d] = p_.dims[d] > 1 ? view.strides[d] : 0;
        return value;
      }
      case LoopInstr::kConvert:
        return values_[instr.args[0]];
      case LoopInstr::kOp:
        if (instr.op != BlockOp::kAdd && instr.op != BlockOp::kSubtract) return std::nullopt;
        return Sum(instr, instr.op == BlockOp::kAdd ? 1 : -1);
      default:
        return std::nullopt;
    }
  }

  // The first operand and `sign` times the second.
  std::optional<Affine> Sum(const LoopInstr& instr, int sign) const {
    const std::optional<Affine>&a = values_[instr.args[0]], &b = values_[instr.args[1]];
    if (!a.has_value() || !b.has_value()) return std::nullopt;
    Affine sum = *a;
    sum.offset += sign * b->offset;
    for (size_t d = 0; d < sum.strides.size(); ++d) sum.strides[d] += sign * b->strides[d];
    return sum;
  }

  void Compare(LoopInstr* instr) {
    const std::optional<Affine> difference = Sum(*instr, -1);
    if (!difference.has_value()) return;
    // Half of int64, so that a step fits, too.
    constexpr __int128 kMost = std::numeric_limits<int64_t>::max() / 2;
    if (!Range{-kMost, kMost}.Holds(RangeOf(*difference))) return;
    LoopView view;
    view.offset = static_cast<int64_t>(difference->offset);
    for (const __int128 stride : difference->strides)
      view.strides.push_back(static_cast<int64_t>(stride));
    LoopInstr compare;
    compare.kind = LoopInstr::kCompareIota;
    compare.op = instr->op;
    compare.type = CType::kPred;
    compare.index = static_cast<int32_t>(p_.iotas.size());
    p_.iotas.push_back(std::move(view));
    *instr = compare;
  }

  LoopProgram& p_;
  std::vector<std::optional<Affine>> values_;
};

}  // namespace

void CompareIotas(LoopProgram* program) {
  // Without points there are no ranges.
  if (program->ElementCount() == 0) return;
  const bool any =
      std::any_of(program->instrs.begin(), program->instrs.end(), [&](const LoopInstr& instr) {
        return instr.kind == LoopInstr::kOp && IsComparison(instr.op) &&
               IsInteger(instr.operand_type);
      });
  if (any && !program->iotas.empty()) ComparisonRewriter(program).Run();
}

void FillComparison(char* dst, BlockOp op, int64_t first, int64_t stride, int64_t count) {
  if (op == BlockOp::kCompareEq || op == BlockOp::kCompareNe) {
    const char hit = op == BlockOp::kCompareEq, miss = !hit;
    if (stride == 0) {
      std::memset(dst, first == 0 ? hit : miss, count);
      return;
    }
    std::memset(dst, miss, count);
    const int64_t at = -first / stride;
    if (at >= 0 && at < count && first + at * stride == 0) dst[at] = hit;
    return;
  }
  // x < bound, or its opposite.
  const int64_t bound = op == BlockOp::kCompareLe || op == BlockOp::kCompareGt;
  const char below = op == BlockOp::kCompareLt || op == BlockOp::kCompareLe, above = !below;
  if (stride == 0) {
    std::memset(dst, first < bound ? below : above, count);
    return;
  }
  // So many numbers lie on the side where the first one does.
  const bool starts_below = first < bound;
  int64_t same = count;
  if (starts_below && stride > 0) {
    same = std::min(count, (bound - 1 - first) / stride + 1);
  } else if (!starts_below && stride < 0) {
    same = std::min(count, (first - bound) / -stride + 1);
  }
  std::memset(dst, starts_below ? below : above, same);
  std::memset(dst + same, starts_below ? above : below, count - same);
}

}  // namespace pjrt::cpu
