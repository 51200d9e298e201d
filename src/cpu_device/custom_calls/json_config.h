// SPDX-License-Identifier: Apache-2.0
#ifndef PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_JSON_CONFIG_H_
#define PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_JSON_CONFIG_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "pjrt/cpu/custom_call.h"

namespace pjrt::cpu {

// The entries of a JSON object: what some exporters write as the backend_config of a call. Numbers
// without fraction and exponent that fit are int64_t, others double; lists of one kind of number
// are vectors of it; entries that are null are left out. nullopt for any other text.
std::optional<custom_call::Dict> ParseJsonConfig(absl::string_view text);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_JSON_CONFIG_H_
