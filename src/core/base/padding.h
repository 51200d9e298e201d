// SPDX-License-Identifier: Apache-2.0
//
// Where the op `pad` puts elements, along one dimension.
#ifndef PJRT_CORE_BASE_PADDING_H_
#define PJRT_CORE_BASE_PADDING_H_

#include <cstdint>

namespace pjrt {

// The operand's elements [begin, end) land within the result: the first of them at `first`, each
// next one `step` further on. begin == end when none does; the rest then means nothing.
struct PaddedPlaces {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t first = 0;
  int64_t step = 1;
};

// `size` elements behind `low` places of padding (which cuts elements off where it is negative),
// with `interior` >= 0 places between them, in a result of `result_size`. Any numbers may be given:
// nothing overflows.
PaddedPlaces PlacesOfPadded(int64_t size, int64_t low, int64_t interior, int64_t result_size);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_PADDING_H_
