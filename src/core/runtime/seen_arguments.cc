// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/seen_arguments.h"

#include <utility>

namespace pjrt {

std::optional<SeenArguments> SeenArguments::Of(const ProgramTemplate& program,
                                               const SpecializationKey& key,
                                               absl::Span<PjRtBuffer* const> arguments,
                                               absl::Span<const size_t> parameter_bytes) {
  if (arguments.size() != parameter_bytes.size()) return std::nullopt;
  SeenArguments seen;
  std::vector<bool> is_looked_at(arguments.size());
  // Sizes that only the device knows may differ from one buffer of the type to the next.
  bool follows = true;
  const auto add = [&](int index) -> const Shape& {
    const auto i = static_cast<size_t>(index);
    seen.looks_.push_back({i, static_cast<CommonPjRtBuffer*>(arguments[i])->type()});
    is_looked_at[i] = true;
    const BufferType& type = *seen.looks_.back().type;
    follows &= !type.shape.is_dynamic() && type.bytes == parameter_bytes[i];
    return type.shape;
  };
  for (const int i : program.dynamic_parameters()) add(i);
  absl::Span<const int64_t> values = program.ValuesIn(key);
  for (const int i : program.deciding_parameters()) {
    std::vector<char> bytes(static_cast<size_t>(ByteSize(add(i))));
    values = program.TakeBytes(i, values, absl::MakeSpan(bytes));
    seen.values_.push_back({static_cast<size_t>(i), std::move(bytes)});
  }
  if (!follows) return std::nullopt;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!is_looked_at[i]) seen.sizes_.push_back({i, parameter_bytes[i]});
  }
  return seen;
}

bool SeenArguments::HaveTheValues(const HeldArgument* arguments) const {
  for (const Values& values : values_) {
    if (!arguments[values.index].buffer->BeginsWithNow(values.bytes)) return false;
  }
  return true;
}

bool SeenArguments::operator==(const SeenArguments& other) const {
  return looks_ == other.looks_ && sizes_ == other.sizes_ && values_ == other.values_;
}

}  // namespace pjrt
