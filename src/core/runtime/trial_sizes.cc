// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/trial_sizes.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/btree_set.h"
#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/op_set.h"
#include "src/core/passes/shape_dependence.h"
#include "src/core/passes/static_ops.h"

namespace pjrt {
namespace {

// Nothing is computed of no elements, whatever the program says. Larger sizes than this could make
// the trial itself expensive.
constexpr int64_t kLargestSize = int64_t{1} << 16;
constexpr size_t kMostValues = 64;

// The unknown size that a value is, whatever its integer type; -1 for another one.
int SizeOf(const ir::Value* value, absl::Span<const UnknownSize> unknown) {
  const ir::Op* op = value->defining_op();
  while (op != nullptr && (op->Is(ir::OpCode::kConvert) || op->Is(ir::OpCode::kReshape))) {
    value = op->operand(0);
    op = value->defining_op();
  }
  int64_t dimension = -1;
  if (op != nullptr) {
    if (!op->Is(ir::OpCode::kGetDimensionSize)) return -1;
    dimension = op->IntAttr("dimension");
    value = op->operand(0);
    if (value->defining_op() != nullptr) return -1;
  }
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (unknown[i].argument == static_cast<int>(value->index()) &&
        unknown[i].dimension == dimension && (dimension >= 0 || unknown[i].is_scalar)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// The unknown sizes, those together that the program's assertions say are equal.
std::vector<std::vector<size_t>> Classes(const ir::Module& module,
                                         absl::Span<const UnknownSize> unknown) {
  std::vector<size_t> class_of(unknown.size());
  std::iota(class_of.begin(), class_of.end(), size_t{0});
  for (ir::Op* op = module.EntryFunction().body()->front(); op != nullptr; op = op->next()) {
    if (!ir::IsShapeAssertion(*op) || op->num_operands() == 0) continue;
    const ir::Op* const test = op->operand(0)->defining_op();
    if (test == nullptr || !test->Is(ir::OpCode::kCompare) ||
        ir::EnumFrom<ir::ComparisonDirection>(test->attr("comparison_direction")) !=
            ir::ComparisonDirection::kEq) {
      continue;
    }
    const int a = SizeOf(test->operand(0), unknown), b = SizeOf(test->operand(1), unknown);
    if (a < 0 || b < 0) continue;
    std::replace(class_of.begin(), class_of.end(), class_of[static_cast<size_t>(a)],
                 class_of[static_cast<size_t>(b)]);
  }
  std::map<size_t, std::vector<size_t>> classes;
  for (size_t i = 0; i < unknown.size(); ++i) classes[class_of[i]].push_back(i);
  std::vector<std::vector<size_t>> result;
  for (auto& [name, members] : classes) result.push_back(std::move(members));
  return result;
}

// Sizes to try, ascending.
std::vector<int64_t> Values(const ir::Module& module) {
  absl::btree_set<int64_t> values;
  const auto add = [&](int64_t value) {
    if (value > 0 && value <= kLargestSize && values.size() < kMostValues) values.insert(value);
  };
  for (const int64_t value : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 120, 128, 256, 720})
    add(value);
  module.Walk([&](ir::Op* op) {
    for (size_t i = 0; i < op->num_results(); ++i) {
      const ir::Type type = op->result_type(i);
      if (!type.IsTensor()) continue;
      for (const int64_t size : type.dims()) add(size);
      if (!op->Is(ir::OpCode::kConstant) || !type.HasStaticShape() || type.rank() > 1) continue;
      const std::optional<ir::DimList> constants = ir::ConstantIntegers(op->result(i));
      if (!constants || constants->size() > 8) continue;
      for (const int64_t c : *constants) {
        if (c < 0 || c > kLargestSize) continue;
        for (const int64_t value : {c, c + 1, c - 1, 2 * c}) add(value);
      }
    }
  });
  return std::vector<int64_t>(values.begin(), values.end());
}

}  // namespace

std::vector<int64_t> FindSizes(const ir::Module& module, absl::Span<const UnknownSize> unknown,
                               std::vector<int64_t> start,
                               absl::FunctionRef<int64_t(absl::Span<const int64_t>)> left) {
  constexpr int64_t kMostTrials = 400, kMostWork = 200000;
  int64_t num_ops = 1;
  module.Walk([&](ir::Op*) { ++num_ops; });
  int64_t trials = std::clamp<int64_t>(kMostWork / num_ops, 8, kMostTrials);
  const std::vector<std::vector<size_t>> classes = Classes(module, unknown);
  const std::vector<int64_t> values = Values(module);
  std::vector<int64_t> best = std::move(start);
  int64_t least = left(best);
  for (bool is_better = true; is_better && least > 0;) {
    is_better = false;
    for (const std::vector<size_t>& members : classes) {
      // Whatever is best of a class's values, so that one that satisfies an assertion doesn't hide
      // another that satisfies the next as well.
      std::vector<int64_t> best_of_class = best;
      for (const int64_t value : values) {
        std::vector<int64_t> tried = best;
        for (const size_t i : members) tried[i] = std::min(value, unknown[i].most);
        if (tried == best) continue;
        if (trials-- == 0) return best_of_class;
        const int64_t remaining = left(tried);
        if (remaining >= least) continue;
        least = remaining;
        best_of_class = std::move(tried);
        is_better = true;
        if (least == 0) return best_of_class;
      }
      best = std::move(best_of_class);
    }
  }
  return best;
}

}  // namespace pjrt
