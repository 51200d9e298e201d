// SPDX-License-Identifier: Apache-2.0
//
// Copying arrays between memory orders.
#ifndef PJRT_CORE_BASE_STRIDED_COPY_H_
#define PJRT_CORE_BASE_STRIDED_COPY_H_

#include <cstdint>

#include "absl/types/span.h"

namespace pjrt {

// Copies an array of the given sizes, whose elements take `element_bytes` bytes (1, 2, 4, 8 or 16),
// from one set of byte strides to another. Strides may be negative or, for the source, 0; `source`
// and `destination` are where the element with all indices 0 lies. Neither side needs alignment.
// The memory must not overlap. Sizes and strides are trusted.
void StridedCopy(int element_bytes, absl::Span<const int64_t> dimensions, const void* source,
                 absl::Span<const int64_t> source_strides, void* destination,
                 absl::Span<const int64_t> destination_strides);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_STRIDED_COPY_H_
