// SPDX-License-Identifier: Apache-2.0
//
// interpreter.probe in the bodies of loops.
#ifndef PJRT_TOOLS_PJRT_LOOP_PROBE_H_
#define PJRT_TOOLS_PJRT_LOOP_PROBE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pjrt/ir/module.h"

namespace pjrt::tool {

// What a loop's probe has seen, as results of the loop.
struct LoopProbe {
  ir::Value* count = nullptr;   // an s64 of rank 0: how often it ran
  ir::Value* values = nullptr;  // of the first times, one behind the other along dimension 0
};

// Puts another loop in the place of the while whose body `probes` stand in: one that carries the
// values of the first kept[i] times of each, at least one, which are arrays of a static shape. The
// probes and the old loop are gone.
std::vector<LoopProbe> CarryProbes(ir::Module* module, absl::Span<ir::Op* const> probes,
                                   absl::Span<const int64_t> kept);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_LOOP_PROBE_H_
