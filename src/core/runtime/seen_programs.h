// SPDX-License-Identifier: Apache-2.0
//
// SeenPrograms: programs that were made of one with dynamic shapes, by what their arguments looked
// like, so that arguments of the same shapes find theirs at a glance.
#ifndef PJRT_CORE_RUNTIME_SEEN_PROGRAMS_H_
#define PJRT_CORE_RUNTIME_SEEN_PROGRAMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/types/span.h"
#include "src/core/runtime/argument_holds.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/program_template.h"
#include "src/core/runtime/seen_arguments.h"

namespace pjrt {

// Thread-safe. It only grows, up to a limit, so that whoever looks something up takes no lock and
// needs no share in what it finds: that lives as long as the table.
class SeenPrograms {
 public:
  using Program = std::shared_ptr<const CommonPjRtLoadedExecutable>;
  static constexpr size_t kMaxPrograms = 32;

  // Of specialisations of that template, which must outlive it.
  explicit SeenPrograms(const ProgramTemplate& program);

  // The one whose arguments certainly had the key of these, and which takes their sizes, as
  // SeenArguments says; null when there is none or finding out would take longer. The arguments are
  // held, and as many as the template has parameters.
  const CommonPjRtLoadedExecutable* Find(absl::Span<const HeldArgument> arguments) const {
    size_t slot =
        SlotOf(index_ < arguments.size() ? arguments.data()[index_].buffer->type().get() : nullptr);
    for (size_t i = 0; i < kMaxProbes; ++i, slot = (slot + 1) % kSlots) {
      const Seen* const seen = slots_[slot].load(std::memory_order_acquire);
      if (seen == nullptr) break;
      if (seen->arguments.AreLike(arguments.data())) return Found(seen);
    }
    return Found(nullptr);
  }
  // The one for several devices, of whose arguments each list is such a one.
  const CommonPjRtLoadedExecutable* FindForAll(absl::Span<ArgumentHolds* const> launches) const;

  // Adds the program that was made for that key, the arguments' key. Nothing happens where it can't
  // be recognised by them, where it is launched in another way than the first, where it is there,
  // and where there is no room.
  void Add(const SpecializationKey& key, absl::Span<PjRtBuffer* const> arguments,
           const Program& program);

  // The one that was added first; null before.
  const CommonPjRtLoadedExecutable* first() const { return first_.load(std::memory_order_acquire); }
  // What was found last; null when that was nothing.
  Program last() const;

 private:
  struct Seen {
    SeenArguments arguments;
    Program program;
  };
  // A slot is found by the address of one argument's type; the next few take what it has no room
  // for.
  static constexpr size_t kSlots = 2 * kMaxPrograms;
  static constexpr size_t kMaxProbes = 8;
  static size_t SlotOf(const BufferType* type) {
    // Types are allocated one by one: the low bits tell nothing, some of the next ones do.
    const auto address = reinterpret_cast<uintptr_t>(type);
    return (address >> 4 ^ address >> 10) % kSlots;
  }

  const CommonPjRtLoadedExecutable* Found(const Seen* seen) const {
    // Only what changes is written: threads that run the same program share no line in vain.
    if (last_.load(std::memory_order_relaxed) != seen) {
      last_.store(seen, std::memory_order_release);
    }
    return seen == nullptr ? nullptr : seen->program.get();
  }

  const ProgramTemplate& template_;
  const size_t index_;  // of the argument whose type is looked up
  std::array<std::atomic<const Seen*>, kSlots> slots_{};
  std::atomic<const CommonPjRtLoadedExecutable*> first_{nullptr};
  mutable std::atomic<const Seen*> last_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Seen>> seen_;  // guarded by mutex_
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_SEEN_PROGRAMS_H_
