// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/seen_programs.h"

#include <cstdint>
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

size_t SeenPrograms::SlotOf(const Shape& shape) {
  // Types are allocated one by one: the low bits tell nothing, some of the next ones do.
  const auto address = reinterpret_cast<uintptr_t>(&shape);
  return (address >> 4 ^ address >> 10) % kSlots;
}

const SeenPrograms::Seen* SeenPrograms::Find(absl::Span<PjRtBuffer* const> arguments,
                                             const PjRtClient* client) const {
  if (index_ >= arguments.size() || arguments[index_] == nullptr) return nullptr;
  size_t slot = SlotOf(arguments[index_]->on_device_shape());
  for (size_t i = 0; i < kMaxProbes; ++i, slot = (slot + 1) % kSlots) {
    const Seen* const seen = slots_[slot].load(std::memory_order_acquire);
    if (seen == nullptr) return nullptr;
    if (seen->arguments.AreLike(arguments, client)) return seen;
  }
  return nullptr;
}

void SeenPrograms::Add(const SpecializationKey& key, absl::Span<PjRtBuffer* const> arguments,
                       const std::shared_ptr<const CommonPjRtLoadedExecutable>& program) {
  if (index_ >= arguments.size()) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (seen_.size() == kMaxPrograms) return;
  std::optional<SeenArguments> look = SeenArguments::Of(template_, key, arguments);
  if (!look.has_value()) return;
  size_t slot = SlotOf(arguments[index_]->on_device_shape());
  for (size_t i = 0; i < kMaxProbes; ++i, slot = (slot + 1) % kSlots) {
    const Seen* const there = slots_[slot].load(std::memory_order_relaxed);
    if (there == nullptr) {
      seen_.push_back(std::make_unique<const Seen>(Seen{*std::move(look), program}));
      slots_[slot].store(seen_.back().get(), std::memory_order_release);
      return;
    }
    if (there->arguments == *look) return;  // another thread came first
  }
}

}  // namespace pjrt
