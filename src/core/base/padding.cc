// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/padding.h"

#include <algorithm>

namespace pjrt {

PaddedPlaces PlacesOfPadded(int64_t size, int64_t low, int64_t interior, int64_t result_size) {
  using Wide = __int128;
  const Wide step = Wide{interior} + 1;
  const Wide room = Wide{result_size} - 1 - low;  // from element 0's place to the last
  const Wide begin = low >= 0 ? 0 : (step - 1 - low) / step;
  const Wide end = room < 0 ? 0 : std::min<Wide>(size, room / step + 1);
  PaddedPlaces places;
  if (begin >= end) return places;
  places.begin = static_cast<int64_t>(begin);
  places.end = static_cast<int64_t>(end);
  places.first = static_cast<int64_t>(low + begin * step);
  // Two elements in the result are less than its size apart.
  if (end - begin > 1) places.step = static_cast<int64_t>(step);
  return places;
}

}  // namespace pjrt
