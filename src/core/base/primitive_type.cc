// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/primitive_type.h"

#include "absl/strings/escaping.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

// Finds the type whose `field` is `name`. The first row, INVALID, does not count.
absl::StatusOr<PrimitiveType> FindByName(absl::string_view name,
                                         const char* PrimitiveTypeInfo::*field,
                                         absl::string_view example) {
  if (!name.empty()) {
    for (int i = 1; i < kPrimitiveTypeLimit; ++i) {
      if (name == internal::kPrimitiveTypeTable.rows[i].*field)
        return static_cast<PrimitiveType>(i);
    }
  }
  return InvalidArgument("PJRT-B001", "\"", absl::CHexEscape(name.substr(0, 60)),
                         "\" names no element type; expected a name such as ", example);
}

}  // namespace

absl::StatusOr<PrimitiveType> ParsePrimitiveType(absl::string_view name) {
  return FindByName(name, &PrimitiveTypeInfo::name, "f32, s8, pred or c64");
}

absl::StatusOr<PrimitiveType> ParseStableHloType(absl::string_view name) {
  return FindByName(name, &PrimitiveTypeInfo::stablehlo_name, "f32, i8, ui8, i1 or complex<f32>");
}

}  // namespace pjrt
