// SPDX-License-Identifier: Apache-2.0
//
// The passes that every backend wants, in order.
#include "pjrt/ir/passes.h"
#include "src/core/base/status_macros.h"

namespace pjrt::ir {
namespace {

// As a row of the table wants it: one type for all.
template <void (*kPass)(Module*)>
absl::Status Always(Module* module, const PassOptions&) {
  kPass(module);
  return absl::OkStatus();
}

absl::Status InlineAll(Module* module, const PassOptions& options) {
  return InlineCalls(module, kMaxInlinedOps, options);
}

absl::Status FoldSmall(Module* module, const PassOptions&) {
  FoldConstants(module);
  return absl::OkStatus();
}

absl::Status DropIfAlone(Module* module, const PassOptions& options) {
  if (options.one_device) DropCollectives(module);
  return absl::OkStatus();
}

constexpr Pass kPasses[] = {
    {"expand-custom-calls", "Writes custom calls that mean ordinary ops in those",
     ExpandCustomCalls},
    {"inline-calls", "Puts the bodies of called functions in the place of their calls", InlineAll},
    {"flatten-tuples", "Takes tuples apart that functions, loops and branches pass on",
     Always<FlattenTuples>},
    {"remove-unused-ops", "Removes what nothing uses before work goes into it",
     Always<RemoveDeadOps>},
    {"expand-chlo", "Writes the ops of CHLO in those of StableHLO", ExpandChlo},
    {"expand-quantized", "Computes quantized types with stored integers and floats",
     Always<ExpandQuantized>},
    {"drop-collectives", "Replaces exchanges with nobody by what they give", DropIfAlone},
    {"decompose-ops", "Writes ops that are short for others in those", Always<DecomposeOps>},
    {"unroll-loops", "Writes out short loops of a known number of iterations", Always<UnrollLoops>},
    {"fold-constants", "Computes small constants from constants", FoldSmall},
    {"simplify", "Removes what changes nothing and decides what constants decide",
     Always<Simplify>},
    {"linearize-gathers", "Gathers single elements by one index each", Always<LinearizeGathers>},
    {"simplify-ranges", "Decides what the ranges of integers decide", Always<SimplifyRanges>},
    {"sink-shape-ops", "Computes before it broadcasts", Always<SinkShapeOps>},
    {"sink-concatenations", "Computes pieces before it puts them together",
     Always<SinkConcatenations>},
    {"hoist-loop-invariants", "Takes out of loops what is the same each time around",
     Always<HoistLoopInvariants>},
    {"merge-equal-ops", "Computes what is computed twice once", Always<MergeEqualOps>},
    {"isolate-regions", "Makes what regions on elements use from outside operands of their ops",
     Always<IsolateRegions>},
    {"remove-dead-ops", "Removes what nothing uses", Always<RemoveDeadOps>},
};

}  // namespace

absl::Span<const Pass> StandardPasses() { return kPasses; }

absl::Status RunPasses(Module* module, absl::Span<const Pass> passes, const PassOptions& options) {
  for (const Pass& pass : passes) PJRT_RETURN_IF_ERROR(pass.run(module, options));
  return absl::OkStatus();
}

}  // namespace pjrt::ir
