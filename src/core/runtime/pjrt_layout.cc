// SPDX-License-Identifier: Apache-2.0
#include "pjrt/pjrt_layout.h"

#include <utility>

#include "src/core/base/status_macros.h"

namespace pjrt {

PjRtLayout::PjRtLayout(Layout layout) : layout_(std::move(layout)) {
  layout_.set_memory_space(kDefaultMemorySpace);
}

absl::StatusOr<std::shared_ptr<const PjRtLayout>> PjRtLayout::Deserialize(absl::string_view text) {
  PJRT_ASSIGN_OR_RETURN(Layout layout, Layout::Parse(text));
  return std::make_shared<const PjRtLayout>(std::move(layout));
}

}  // namespace pjrt
