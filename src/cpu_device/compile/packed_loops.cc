// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/packed_loops.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/steps/loop_step.h"
#include "src/cpu_device/steps/pack_step.h"
#include "src/cpu_device/steps/packed_loop_step.h"

namespace pjrt::cpu {
namespace {

template <typename T>
const T* As(const Steps& steps, size_t i) {
  return i < steps.size() ? dynamic_cast<const T*>(steps[i].get()) : nullptr;
}

bool IsDense(const LoopView& view) { return view.offset == 0 && view.strides == Dims{1}; }

}  // namespace

// No step lies between those that are joined but others of theirs: an argument is read as soon, and
// a result written as late, that one may lie in the memory of the other.
void JoinPackedLoop(const PlanBuilder& builder, const LoopEngine& engine, Steps* steps) {
  size_t first = 0;
  while (As<UnpackStep>(*steps, first) != nullptr) ++first;
  const LoopStep* const loop = As<LoopStep>(*steps, first);
  if (loop == nullptr || !PackedLoopStep::Serves(loop->kernel().program())) return;
  const LoopProgram& program = loop->kernel().program();

  std::vector<char> joined(steps->size(), 0);
  double cost_ns = loop->cost_ns();
  std::string what = loop->Describe();
  const auto join = [&](size_t i, BufferId packed, int bits, ConvertFn convert,
                        PackedLoopStep::Array* array) {
    *array = {packed, bits, convert};
    joined[i] = 1;
    cost_ns += (*steps)[i]->cost_ns();
    absl::StrAppend(&what, ", ", (*steps)[i]->Describe());
  };
  std::vector<PackedLoopStep::Array> inputs, outputs;
  for (BufferId id : loop->inputs()) inputs.push_back({id});
  for (BufferId id : loop->outputs()) outputs.push_back({id});
  for (size_t i = 0; i < first; ++i) {
    const UnpackStep& unpack = *As<UnpackStep>(*steps, i);
    const auto life = builder.LifeOf(unpack.to());
    const auto input = std::find(loop->inputs().begin(), loop->inputs().end(), unpack.to());
    if (life.root != unpack.to() || life.last != builder.PositionOf(*loop) ||
        std::count(input, loop->inputs().end(), unpack.to()) != 1)
      continue;
    const size_t place = input - loop->inputs().begin();
    if (IsDense(program.inputs[place].view))
      join(i, unpack.from(), unpack.bits(), unpack.unpack(), &inputs[place]);
  }
  for (size_t i = first + 1; As<PackStep>(*steps, i) != nullptr; ++i) {
    const PackStep& pack = *As<PackStep>(*steps, i);
    const auto life = builder.LifeOf(pack.from());
    const auto output = std::find(loop->outputs().begin(), loop->outputs().end(), pack.from());
    if (life.root != pack.from() || life.first != builder.PositionOf(*loop) ||
        life.last != builder.PositionOf(pack) || output == loop->outputs().end())
      break;
    const size_t place = output - loop->outputs().begin();
    if (outputs[place].bits != 0 || !IsDense(program.stores[place].view)) break;
    join(i, pack.to(), pack.bits(), pack.pack(), &outputs[place]);
  }
  if (std::find(joined.begin(), joined.end(), 1) == joined.end()) return;
  auto step = PackedLoopStep::Make(engine, program, std::move(inputs), std::move(outputs), cost_ns,
                                   std::move(what));
  if (!step.ok()) return;
  (*steps)[first] = *std::move(step);
  size_t kept = 0;
  for (size_t i = 0; i < joined.size(); ++i) {
    if (!joined[i]) (*steps)[kept++] = std::move((*steps)[i]);
  }
  steps->resize(kept);
}

}  // namespace pjrt::cpu
