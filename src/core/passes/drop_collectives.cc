// SPDX-License-Identifier: Apache-2.0
//
// DropCollectives: what a device that is alone exchanges with itself.
#include <vector>

#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {
namespace {

enum class Share { kKeeps, kGetsNothing, kUnclear };

// What device 0 gets of an exchange in which nobody else takes part. Rows that name other devices
// are for the device to refuse.
Share ShareOf(const Op& op) {
  // Those of sdy change where parts of an array are, never the array.
  if (op.HasAttr("out_sharding")) return Share::kKeeps;
  const bool by_pairs = op.Is(OpCode::kCollectivePermute);
  const Attribute attr = op.attr(by_pairs ? "source_target_pairs" : "replica_groups");
  if (!attr.Is(AttrKind::kDenseElements) || !attr.type().HasStaticShape()) return Share::kUnclear;
  if (attr.type().element_count() == 0) {
    // No groups stand for one of all devices, except where only those named get something.
    return by_pairs || op.Is(OpCode::kCollectiveBroadcast) ? Share::kGetsNothing : Share::kKeeps;
  }
  DimList values;
  int64_t rows = 0, columns = 0;
  if (!GetIntMatrix(attr, &values, &rows, &columns)) return Share::kUnclear;
  const DimList alone(by_pairs ? 2 : 1, 0);
  return rows == 1 && values == alone ? Share::kKeeps : Share::kUnclear;
}

bool Drop(Module* module, Op* op) {
  if (op->num_results() != op->num_operands()) return false;
  for (size_t i = 0; i < op->num_results(); ++i) {
    const Type type = op->result_type(i);
    if (op->operand_type(i) != type || !type.IsTensor() || !type.HasStaticShape() ||
        type.element_type().Is(TypeKind::kQuantized)) {
      return false;
    }
  }
  const Share share = ShareOf(*op);
  if (share == Share::kUnclear) return false;
  Emitter emit(module, op);
  for (size_t i = 0; i < op->num_results(); ++i) {
    Value* value =
        share == Share::kKeeps ? op->operand(i) : emit.Constant(op->result_type(i), 0).value();
    op->result(i)->ReplaceAllUsesWith(value);
  }
  return true;
}

}  // namespace

void DropCollectives(Module* module) {
  std::vector<Op*> ops;
  module->Walk([&](Op* op) {
    if (!op->Is(OpCode::kUnknown) && GetOpInfo(op->opcode()).Has(kCollective)) ops.push_back(op);
  });
  // Inner ops first: an op that goes takes its region along.
  for (size_t i = ops.size(); i-- > 0;) {
    if (Drop(module, ops[i])) ops[i]->Erase();
  }
}

}  // namespace pjrt::ir
