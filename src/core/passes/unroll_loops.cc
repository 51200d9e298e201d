// SPDX-License-Identifier: Apache-2.0
//
// Writes short loops out: a loop carries its values through memory, where what follows each other
// can be one pass over the elements, with what is constant in an iteration known.
#include <cstdint>
#include <optional>
#include <vector>

#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/trip_count.h"

namespace pjrt::ir {
namespace {

constexpr int64_t kMaxTrips = 8;
// Ops of one loop, and of all that are written out.
constexpr int64_t kMaxLoopOps = 512;
constexpr int64_t kMaxUnrolledOps = 8192;

// Ops whose own work outweighs what a loop around them costs, as far as unrolling goes: the others
// compute or move elements one by one.
bool IsHeavy(const Op& op) {
  switch (op.opcode()) {
    case OpCode::kCholesky:
    case OpCode::kComposite:
    case OpCode::kConvolution:
    case OpCode::kCustomCall:
    case OpCode::kDotGeneral:
    case OpCode::kFft:
    case OpCode::kTriangularSolve:
      return true;
    default:
      return op.num_regions() > 0 || !IsPure(op);
  }
}

// The iterations of a loop that may be written out; 0 for one that stays. `ops` becomes the ops of
// all of them.
int64_t TripsToUnroll(const Op& loop, int64_t* ops) {
  for (size_t i = 0; i < loop.num_results(); ++i) {
    if (!loop.result_type(i).IsTensor()) return 0;
  }
  for (const Op* op : *loop.region(0)->block()) {
    if (!op->IsTerminator() && !IsPure(*op)) return 0;
  }
  const std::optional<int64_t> trips = TripCount(loop);
  if (!trips.has_value() || *trips < 2 || *trips > kMaxTrips) return 0;
  *ops = 0;
  for (const Op* op : *loop.region(1)->block()) {
    if (op->IsTerminator()) continue;
    *ops += *trips;
    if (IsHeavy(*op) || *ops > kMaxLoopOps) return 0;
  }
  return *trips;
}

}  // namespace

void UnrollLoops(Module* module) {
  std::vector<Op*> loops;
  module->Walk([&](Op* op) {
    if (op->Is(OpCode::kWhile)) loops.push_back(op);
  });
  int64_t budget = kMaxUnrolledOps;
  for (Op* loop : loops) {
    int64_t ops = 0;
    const int64_t trips = TripsToUnroll(*loop, &ops);
    if (trips == 0 || ops > budget) continue;
    budget -= ops;
    Emitter emit(module, loop);
    std::vector<Value*> values;
    for (const Use& use : loop->operand_uses()) values.push_back(use.value());
    for (int64_t i = 0; i < trips; ++i) values = emit.Inline(*loop->region(1)->block(), values);
    for (size_t i = 0; i < values.size(); ++i) loop->result(i)->ReplaceAllUsesWith(values[i]);
    loop->Erase();
  }
}

}  // namespace pjrt::ir
