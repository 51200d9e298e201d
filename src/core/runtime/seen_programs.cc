// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/seen_programs.h"

#include <optional>
#include <utility>

namespace pjrt {
namespace {

// The parameter whose argument tells most: one with dynamic sizes where there is one.
size_t TellingParameter(const ProgramTemplate& program) {
  if (!program.dynamic_parameters().empty()) return program.dynamic_parameters()[0];
  if (!program.deciding_parameters().empty()) return program.deciding_parameters()[0];
  return 0;
}

}  // namespace

SeenPrograms::SeenPrograms(const ProgramTemplate& program)
    : template_(program), index_(TellingParameter(program)) {}

void SeenPrograms::Add(const SpecializationKey& key, absl::Span<PjRtBuffer* const> arguments,
                       const Program& program) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (seen_.size() == kMaxPrograms) return;
  if (!seen_.empty() && !program->IsLaunchedLike(*seen_.front()->program)) return;
  std::optional<SeenArguments> look =
      SeenArguments::Of(template_, key, arguments, program->parameter_bytes());
  if (!look.has_value()) return;
  size_t slot = SlotOf(index_ < arguments.size()
                           ? static_cast<CommonPjRtBuffer*>(arguments[index_])->type().get()
                           : nullptr);
  for (size_t i = 0; i < kMaxProbes; ++i, slot = (slot + 1) % kSlots) {
    const Seen* const there = slots_[slot].load(std::memory_order_relaxed);
    if (there == nullptr) {
      seen_.push_back(std::make_unique<const Seen>(Seen{*std::move(look), program}));
      slots_[slot].store(seen_.back().get(), std::memory_order_release);
      first_.store(seen_.front()->program.get(), std::memory_order_release);
      return;
    }
    if (there->arguments == *look) return;  // another thread came first
  }
}

const CommonPjRtLoadedExecutable* SeenPrograms::FindForAll(
    absl::Span<ArgumentHolds* const> launches) const {
  const CommonPjRtLoadedExecutable* const found = Find(launches[0]->arguments());
  for (const ArgumentHolds* launch : launches.subspan(1)) {
    if (Find(launch->arguments()) != found) return nullptr;
  }
  return found;
}

SeenPrograms::Program SeenPrograms::last() const {
  const Seen* const seen = last_.load(std::memory_order_acquire);
  return seen == nullptr ? nullptr : seen->program;
}

}  // namespace pjrt
