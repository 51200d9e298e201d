// SPDX-License-Identifier: Apache-2.0
#include "pjrt/device_dimensions.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/core/base/error.h"

namespace pjrt {

std::string PjRtDeviceDimensions::ToString(absl::string_view separator) const {
  return absl::StrJoin(dims_, separator);
}

absl::StatusOr<PjRtDeviceDimensions> PjRtDeviceDimensions::FromString(absl::string_view text) {
  std::vector<int32_t> dimensions;
  if (absl::StripAsciiWhitespace(text).empty()) return PjRtDeviceDimensions(dimensions);
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    int32_t value;
    if (!absl::SimpleAtoi(part, &value)) {
      return InvalidArgument("PJRT-R001", "'", part, "' in device dimensions '", text,
                             "' is no int32; expected numbers with commas between, like 2,2,4");
    }
    dimensions.push_back(value);
  }
  return PjRtDeviceDimensions(dimensions);
}

bool AbslParseFlag(absl::string_view text, PjRtDeviceDimensions* dimensions, std::string* error) {
  absl::StatusOr<PjRtDeviceDimensions> parsed = PjRtDeviceDimensions::FromString(text);
  if (!parsed.ok()) {
    *error = std::string(parsed.status().message());
    return false;
  }
  *dimensions = *std::move(parsed);
  return true;
}

std::string AbslUnparseFlag(const PjRtDeviceDimensions& dimensions) {
  return dimensions.ToString();
}

}  // namespace pjrt
