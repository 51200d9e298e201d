// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/op_set.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "pjrt/ir/module.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_rows.h"
#include "src/core/ir/row_checks.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

constexpr size_t kCount = static_cast<size_t>(OpCode::kCount);

constexpr absl::string_view kNames[kCount] = {
    "",
#define PJRT_OP(enumerator, name) name,
#include "pjrt/ir/opcodes.inc"
#undef PJRT_OP
};

// The rows of all families in the order of OpCode.
struct Table {
  std::array<OpInfo, kCount> ops;
  absl::flat_hash_map<absl::string_view, OpCode> by_name;

  Table() {
    for (auto family : {ElementwiseRows, ShapeRows, ComputeRows, ControlRows, CollectiveRows,
                        ChloRows, OtherDialectRows}) {
      for (const OpRow& row : family()) Add(row);
    }
    by_name.reserve(kCount);
    for (size_t i = 1; i < kCount; ++i) by_name.emplace(kNames[i], static_cast<OpCode>(i));
  }

  void Add(const OpRow& row) {
    const size_t i = static_cast<size_t>(row.code);
    OpInfo& op = ops[i];
    op.code = row.code;
    op.name = kNames[i];
    op.summary = row.summary;
    op.operands = absl::MakeConstSpan(row.operands, row.num_operands);
    op.results = absl::MakeConstSpan(row.results, row.num_results);
    op.attributes = absl::MakeConstSpan(row.attributes, row.num_attributes);
    op.min_regions = row.min_regions;
    op.max_regions = row.max_regions;
    op.traits = row.traits;
    op.format = row.format;
    op.infer = row.infer;
    op.verify = row.verify;
  }
};

const Table& GetTable() {
  static const Table* const table =
      new Table();  // never destroyed: other statics may still read it at exit
  return *table;
}

}  // namespace

const OpInfo& GetOpInfo(OpCode code) {
  const size_t i = static_cast<size_t>(code);
  return GetTable().ops[i < kCount ? i : 0];
}

OpCode LookupOp(absl::string_view name) {
  const auto& by_name = GetTable().by_name;
  const auto it = by_name.find(name);
  return it == by_name.end() ? OpCode::kUnknown : it->second;
}

absl::Span<const OpInfo> AllOps() { return absl::MakeConstSpan(GetTable().ops).subspan(1); }

Attribute InferInput::attr(absl::string_view name) const {
  const auto it =
      std::lower_bound(attributes.begin(), attributes.end(), name,
                       [](const NamedAttribute& a, absl::string_view n) { return a.name < n; });
  return it != attributes.end() && it->name == name ? it->value : Attribute();
}

Type InferInput::operand_type(size_t i) const {
  return i < operands.size() ? operands[i]->type() : Type();
}

absl::Status InferResultTypes(const InferInput& in, TypeList* out) {
  const OpInfo& info = GetOpInfo(in.code);
  if (info.infer == nullptr) {
    return Unimplemented(rule::kNoInference, "the result types of '", info.name,
                         "' do not follow from its operands: give them");
  }
  PJRT_RETURN_IF_ERROR(CheckInputs(info, in));
  return info.infer(in, out);
}

}  // namespace pjrt::ir
