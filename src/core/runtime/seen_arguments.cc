// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/seen_arguments.h"

#include <utility>

#include "src/core/runtime/common_buffer.h"

namespace pjrt {

void SeenArguments::Remember(const ProgramTemplate& program, const SpecializationKey& key,
                             absl::Span<PjRtBuffer* const> arguments) {
  *this = SeenArguments();
  num_arguments_ = arguments.size();
  const auto add = [&](int index) -> const Shape& {
    const auto i = static_cast<size_t>(index);
    types_.push_back(static_cast<CommonPjRtBuffer*>(arguments[i])->type());
    const Shape& shape = types_.back()->shape;
    looks_.push_back({i, &shape});
    // Sizes that only the device knows may differ from one buffer of the type to the next.
    if (shape.is_dynamic()) num_arguments_ = kNone;
    return shape;
  };
  for (const int i : program.dynamic_parameters()) add(i);
  absl::Span<const int64_t> values = program.ValuesIn(key);
  for (const int i : program.deciding_parameters()) {
    std::vector<char> bytes(static_cast<size_t>(ByteSize(add(i))));
    values = program.TakeBytes(i, values, absl::MakeSpan(bytes));
    values_.push_back({static_cast<size_t>(i), std::move(bytes)});
  }
}

bool SeenArguments::AreLike(absl::Span<PjRtBuffer* const> arguments,
                            const PjRtClient* client) const {
  if (arguments.size() != num_arguments_) return false;
  for (const Look& look : looks_) {
    const PjRtBuffer* const given = arguments[look.index];
    if (given == nullptr || &given->on_device_shape() != look.shape) return false;
  }
  for (const Values& values : values_) {
    PjRtBuffer* const given = arguments[values.index];
    if (given->client() != client ||
        !static_cast<CommonPjRtBuffer*>(given)->BeginsWithNow(values.bytes)) {
      return false;
    }
  }
  return true;
}

}  // namespace pjrt
