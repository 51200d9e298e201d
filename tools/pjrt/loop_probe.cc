// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/loop_probe.h"

#include "src/core/passes/counted_loop.h"
#include "src/core/passes/emitter.h"

namespace pjrt::tool {
namespace {

// A loop in the place of `loop` that carries `extra` values, too.
ir::Op* WithCarried(ir::Module* module, ir::Op* loop, const ir::ValueList& extra) {
  ir::ValueList operands;
  for (const ir::Use& use : loop->operand_uses()) operands.push_back(use.value());
  operands.insert(operands.end(), extra.begin(), extra.end());
  std::vector<ir::Type> types;
  for (const ir::Value* value : operands) types.push_back(value->type());
  ir::Op* const made =
      ir::Emitter(module, loop)
          .Make(loop->name(), operands, types, loop->attributes(), loop->num_regions());
  for (size_t r = 0; r < loop->num_regions(); ++r) {
    ir::Block *from = loop->region(r)->block(), *to = made->region(r)->AddBlock();
    for (size_t i = 0; i < types.size(); ++i) {
      ir::Value* const argument = to->AddArgument(types[i]);
      if (i < loop->num_operands()) from->argument(i)->ReplaceAllUsesWith(argument);
    }
    MoveOps(module, from, to);
  }
  for (size_t i = 0; i < loop->num_results(); ++i)
    loop->result(i)->ReplaceAllUsesWith(made->result(i));
  loop->Erase();
  return made;
}

}  // namespace

std::vector<LoopProbe> CarryProbes(ir::Module* module, absl::Span<ir::Op* const> probes,
                                   absl::Span<const int64_t> kept) {
  ir::Op* const old_loop = probes[0]->block()->parent_op();
  const size_t carried = old_loop->num_operands();
  ir::Emitter before(module, old_loop);
  const ir::Type counter = module->context().Tensor({}, S64);
  ir::ValueList extra;
  for (size_t i = 0; i < probes.size(); ++i) {
    const ir::Type type = probes[i]->operand_type(0);
    std::vector<int64_t> dims = {kept[i]};
    dims.insert(dims.end(), type.dims().begin(), type.dims().end());
    extra.push_back(before.IntConstant(counter, 0).value());
    extra.push_back(before.Constant(WithDims(module->context(), type, dims), 0).value());
  }
  ir::Op* const loop = WithCarried(module, old_loop, extra);

  ir::Block* const body = loop->region(1)->block();
  ir::Op* const old_return = body->terminator();
  ir::ValueList next;
  for (const ir::Use& use : old_return->operand_uses()) next.push_back(use.value());
  std::vector<LoopProbe> results;
  for (size_t i = 0; i < probes.size(); ++i) {
    ir::Op* const probe = probes[i];
    const size_t at = carried + 2 * i;
    ir::Emitter emit(module, probe);
    const ir::Term count = emit(body->argument(at)), values = emit(body->argument(at + 1));
    const ir::Term with_value = UpdateAt(values, emit(probe->operand(0)), count, 0);
    next.push_back((count + count.LikeInt(1)).value());
    next.push_back(Select(count < count.LikeInt(kept[i]), with_value, values).value());
    results.push_back({loop->result(at), loop->result(at + 1)});
  }
  ir::Emitter(module, old_return).Make(old_return->name(), next, {}, old_return->attributes());
  old_return->Erase();
  for (ir::Op* probe : probes) {
    probe->result()->ReplaceAllUsesWith(probe->operand(0));
    probe->Erase();
  }
  return results;
}

}  // namespace pjrt::tool
