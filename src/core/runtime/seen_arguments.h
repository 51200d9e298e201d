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
#include "src/core/runtime/argument_holds.h"
#include "src/core/runtime/buffer_type.h"
#include "src/core/runtime/program_template.h"

namespace pjrt {

// Immutable.
class SeenArguments {
 public:
  // Of arguments for which `program` gave that key, of which a program was made that takes so many
  // bytes for each. None where the key doesn't follow from their types and values.
  static std::optional<SeenArguments> Of(const ProgramTemplate& program,
                                         const SpecializationKey& key,
                                         absl::Span<PjRtBuffer* const> arguments,
                                         absl::Span<const size_t> parameter_bytes);

  // Whether the program certainly gives the same key for these arguments too, as many as it has
  // parameters, and what was made for it takes their sizes: so it is when the types that count are
  // the same objects, the values that count the same bytes, and the others have so many bytes.
  // False where finding out would take longer or means to wait.
  bool AreLike(const HeldArgument* arguments) const {
    for (const Look& look : looks_) {
      if (arguments[look.index].buffer->type() != look.type) return false;
    }
    for (const Size& size : sizes_) {
      if (arguments[size.index].buffer->type()->bytes != size.bytes) return false;
    }
    return values_.empty() || HaveTheValues(arguments);
  }

  // Whether both recognise the same arguments.
  bool operator==(const SeenArguments& other) const;

 private:
  bool HaveTheValues(const HeldArgument* arguments) const;

  struct Look {
    size_t index;        // of the argument
    BufferTypeRef type;  // alive, so that no other has its address
    bool operator==(const Look& o) const { return index == o.index && type == o.type; }
  };
  struct Size {
    size_t index;
    size_t bytes;
    bool operator==(const Size& o) const { return index == o.index && bytes == o.bytes; }
  };
  struct Values {
    size_t index;
    std::vector<char> bytes;
    bool operator==(const Values& o) const { return index == o.index && bytes == o.bytes; }
  };

  std::vector<Look> looks_;  // whose shapes or values the program leaves open
  std::vector<Size> sizes_;  // the others
  std::vector<Values> values_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_SEEN_ARGUMENTS_H_
