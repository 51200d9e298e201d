// SPDX-License-Identifier: Apache-2.0
//
// SeenArguments: what the last arguments of a program with dynamic shapes looked like, so that
// those of the same shapes are recognised at a glance.
#ifndef PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_
#define PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_

#include <cstddef>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "pjrt/buffer.h"
#include "src/core/runtime/buffer_type.h"
#include "src/core/runtime/program_template.h"

namespace pjrt {

// A plain value: one thread at a time.
class SeenArguments {
 public:
  // Remembers arguments of `program` for which it gave that key, and forgets those before.
  void Remember(const ProgramTemplate& program, const SpecializationKey& key,
                absl::Span<PjRtBuffer* const> arguments);

  // Whether the program certainly gives the remembered key for these arguments too, as it does when
  // their types are the same objects and the values that count the same bytes. False where finding
  // out would take longer or means to wait. Whose buffers they are is looked at only where values
  // count; the rest is left to the execution.
  bool AreLike(absl::Span<PjRtBuffer* const> arguments, const PjRtClient* client) const;

 private:
  struct Look {
    size_t index;  // of the argument
    const Shape* shape;
  };
  struct Values {
    size_t index;
    std::vector<char> bytes;
  };
  static constexpr size_t kNone = ~size_t{0};

  size_t num_arguments_ = kNone;  // kNone: there are none that could be recognised
  absl::InlinedVector<Look, 4> looks_;
  std::vector<Values> values_;
  std::vector<BufferTypeRef> types_;  // of looks_, alive, so that no other has their addresses
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_
