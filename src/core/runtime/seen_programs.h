// SPDX-License-Identifier: Apache-2.0
//
// SeenPrograms: programs that were made of one with dynamic shapes, by what their arguments looked
// like, so that arguments of the same shapes find theirs at a glance.
#ifndef PJRT_CORE_RUNTIME_SEEN_PROGRAMS_H_
#define PJRT_CORE_RUNTIME_SEEN_PROGRAMS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/program_template.h"
#include "src/core/runtime/seen_arguments.h"

namespace pjrt {

// Thread-safe. It only grows, up to a limit, so that whoever looks something up takes no lock,
// writes nothing and needs no share in what it finds: that lives as long as the table.
class SeenPrograms {
 public:
  struct Seen {
    SeenArguments arguments;
    std::shared_ptr<const CommonPjRtLoadedExecutable> program;
  };
  static constexpr size_t kMaxPrograms = 32;

  // Of specialisations of that template, which must outlive it.
  explicit SeenPrograms(const ProgramTemplate& program);

  // The one whose arguments certainly had the key of these, as SeenArguments says; null when there
  // is none or finding out would take longer.
  const Seen* Find(absl::Span<PjRtBuffer* const> arguments, const PjRtClient* client) const;

  // Adds the program that was made for that key, the arguments' key. Nothing happens where it can't
  // be recognised by them, where it is there, and where there is no room.
  void Add(const SpecializationKey& key, absl::Span<PjRtBuffer* const> arguments,
           const std::shared_ptr<const CommonPjRtLoadedExecutable>& program);

 private:
  // A slot is found by the address of one argument's shape; the next few take what it has no room
  // for.
  static constexpr size_t kSlots = 2 * kMaxPrograms;
  static constexpr size_t kMaxProbes = 8;
  static size_t SlotOf(const Shape& shape);

  const ProgramTemplate& template_;
  const size_t index_;  // of the argument whose shape is looked up
  std::array<std::atomic<const Seen*>, kSlots> slots_{};
  std::mutex mutex_;
  std::vector<std::unique_ptr<const Seen>> seen_;  // guarded by mutex_
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_SEEN_PROGRAMS_H_
