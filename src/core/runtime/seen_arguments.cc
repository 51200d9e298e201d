// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/seen_arguments.h"

#include <utility>

#include "src/core/runtime/common_buffer.h"

namespace pjrt {

std::optional<SeenArguments> SeenArguments::Of(const ProgramTemplate& program,
                                               const SpecializationKey& key,
                                               absl::Span<PjRtBuffer* const> arguments) {
  SeenArguments seen;
  seen.num_arguments_ = arguments.size();
  // Sizes that only the device knows may differ from one buffer of the type to the next.
  bool follows = true;
  const auto add = [&](int index) -> const Shape& {
    const auto i = static_cast<size_t>(index);
    seen.types_.push_back(static_cast<CommonPjRtBuffer*>(arguments[i])->type());
    const Shape& shape = seen.types_.back()->shape;
    seen.looks_.push_back({i, &shape});
    follows &= !shape.is_dynamic();
    return shape;
  };
  for (const int i : program.dynamic_parameters()) add(i);
  absl::Span<const int64_t> values = program.ValuesIn(key);
  for (const int i : program.deciding_parameters()) {
    std::vector<char> bytes(static_cast<size_t>(ByteSize(add(i))));
    values = program.TakeBytes(i, values, absl::MakeSpan(bytes));
    seen.values_.push_back({static_cast<size_t>(i), std::move(bytes)});
  }
  if (!follows) return std::nullopt;
  return seen;
}

bool SeenArguments::HaveTheValues(absl::Span<PjRtBuffer* const> arguments,
                                  const PjRtClient* client) const {
  for (const Values& values : values_) {
    PjRtBuffer* const given = arguments[values.index];
    if (given->client() != client ||
        !static_cast<CommonPjRtBuffer*>(given)->BeginsWithNow(values.bytes)) {
      return false;
    }
  }
  return true;
}

bool SeenArguments::operator==(const SeenArguments& other) const {
  return num_arguments_ == other.num_arguments_ && looks_ == other.looks_ &&
         values_ == other.values_;
}

}  // namespace pjrt
