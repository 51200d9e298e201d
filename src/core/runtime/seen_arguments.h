// SPDX-License-Identifier: Apache-2.0
//
// SeenArguments: what arguments of a program with dynamic shapes looked like, so that those of the
// same shapes are recognised at a glance.
#ifndef PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_
#define PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "pjrt/buffer.h"
#include "src/core/runtime/buffer_type.h"
#include "src/core/runtime/program_template.h"

namespace pjrt {

// Immutable.
class SeenArguments {
 public:
  // Of arguments for which `program` gave that key. None where the key doesn't follow from their
  // types and values.
  static std::optional<SeenArguments> Of(const ProgramTemplate& program,
                                         const SpecializationKey& key,
                                         absl::Span<PjRtBuffer* const> arguments);

  // Whether the program certainly gives the same key for these arguments too, as it does when
  // their types are the same objects and the values that count the same bytes. False where finding
  // out would take longer or means to wait. Whose buffers they are is looked at only where values
  // count; the rest is left to the execution.
  bool AreLike(absl::Span<PjRtBuffer* const> arguments, const PjRtClient* client) const {
    if (arguments.size() != num_arguments_) return false;
    for (const Look& look : looks_) {
      const PjRtBuffer* const given = arguments[look.index];
      if (given == nullptr || &given->on_device_shape() != look.shape) return false;
    }
    return values_.empty() || HaveTheValues(arguments, client);
  }

  // The same of several lists of arguments.
  template <typename Lists>
  bool AreLikeAllOf(const Lists& lists, const PjRtClient* client) const {
    for (const auto& list : lists) {
      if (!AreLike(list, client)) return false;
    }
    return true;
  }

  // Whether both recognise the same arguments.
  bool operator==(const SeenArguments& other) const;

 private:
  bool HaveTheValues(absl::Span<PjRtBuffer* const> arguments, const PjRtClient* client) const;

  struct Look {
    size_t index;  // of the argument
    const Shape* shape;
    bool operator==(const Look& o) const { return index == o.index && shape == o.shape; }
  };
  struct Values {
    size_t index;
    std::vector<char> bytes;
    bool operator==(const Values& o) const { return index == o.index && bytes == o.bytes; }
  };

  size_t num_arguments_ = 0;
  std::vector<Look> looks_;
  std::vector<Values> values_;
  std::vector<BufferTypeRef> types_;  // of looks_, alive, so that no other has their addresses
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_
