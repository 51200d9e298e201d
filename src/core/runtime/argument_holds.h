// SPDX-License-Identifier: Apache-2.0
//
// ArgumentHolds: the holds of one launch on its arguments.
#ifndef PJRT_CORE_RUNTIME_ARGUMENT_HOLDS_H_
#define PJRT_CORE_RUNTIME_ARGUMENT_HOLDS_H_

#include <cstddef>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/core/runtime/common_buffer.h"

namespace pjrt {

struct HeldArgument {
  CommonPjRtBuffer* buffer = nullptr;
  bool is_exclusive = false;  // held for donation
  bool is_donated = false;    // will be consumed; implies is_exclusive
};

// Takes holds without ever blocking while it has some, unless in the order of addresses: so two
// launches that want the same buffers in different roles can't wait for each other.
class ArgumentHolds {
 public:
  explicit ArgumentHolds(CommonPjRtClient* client) : client_(client) {}
  ~ArgumentHolds() { Release(); }
  ArgumentHolds(const ArgumentHolds&) = delete;
  ArgumentHolds& operator=(const ArgumentHolds&) = delete;

  // Notes an argument, and takes its hold if nobody stands in the way. False when the buffer is
  // dead.
  bool Add(const HeldArgument& argument);
  // Waits for the holds that could not be had, of all launches of one computation together, or says
  // which argument of which launch is dead; then nothing is held.
  struct Dead {
    size_t launch;
    size_t argument;
  };
  static std::optional<Dead> TakeTheRest(absl::Span<ArgumentHolds* const> launches);

  // The arguments, in order; held once TakeTheRest has found none dead.
  absl::Span<HeldArgument> arguments() { return absl::MakeSpan(arguments_); }
  absl::Span<const HeldArgument> arguments() const { return arguments_; }

  // Whether the inputs are there.
  struct Readiness {
    bool is_ready = true;
    Future<> error;  // valid if an input is in error already
  };
  // Of held arguments; donated ones also have to be done with by others.
  Readiness CheckReadiness() const;

  // Drops all holds, but those of arguments that were consumed.
  void Release();
  // Consumes a donated argument.
  BufferContents Consume(HeldArgument* argument);

 private:
  void Drop(const HeldArgument& held);

  CommonPjRtClient* const client_;
  absl::InlinedVector<HeldArgument, 8> arguments_;
  // What is held: parallel to `arguments_` if each has its own hold; one entry a buffer after
  // waiting.
  absl::InlinedVector<HeldArgument, 8> held_;
  bool is_blocked_ = false;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_ARGUMENT_HOLDS_H_
