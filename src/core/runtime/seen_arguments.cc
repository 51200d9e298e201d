// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/seen_arguments.h"

#include <utility>

#include "src/core/runtime/common_buffer.h"

namespace pjrt {

void SeenArguments::Remember(const ProgramTemplate& program, const SpecializationKey& key,
                             absl::Span<PjRtBuffer* const> arguments) {
  seen_.clear();
  num_arguments_ = arguments.size();
  has_any_ = true;
  const auto add = [&](int index) -> Seen& {
    const auto i = static_cast<size_t>(index);
    const BufferTypeRef& type = static_cast<CommonPjRtBuffer*>(arguments[i])->type();
    // Sizes that only the device knows may differ from one buffer of the type to the next.
    has_any_ &= type->shape.is_static();
    seen_.push_back({i, type, {}});
    return seen_.back();
  };
  for (const int i : program.dynamic_parameters()) add(i);
  absl::Span<const int64_t> values = program.ValuesIn(key);
  for (const int i : program.deciding_parameters()) {
    Seen& seen = add(i);
    seen.values.resize(static_cast<size_t>(ByteSize(seen.type->shape)));
    values = program.TakeBytes(i, values, absl::MakeSpan(seen.values));
  }
}

bool SeenArguments::AreLike(absl::Span<PjRtBuffer* const> arguments,
                            const PjRtClient* client) const {
  if (!has_any_ || arguments.size() != num_arguments_) return false;
  for (const Seen& seen : seen_) {
    PjRtBuffer* const given = arguments[seen.index];
    if (given == nullptr || &given->on_device_shape() != &seen.type->shape) return false;
    if (seen.values.empty()) continue;
    if (given->client() != client ||
        !static_cast<CommonPjRtBuffer*>(given)->BeginsWithNow(seen.values)) {
      return false;
    }
  }
  return true;
}

}  // namespace pjrt
