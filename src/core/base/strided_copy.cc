// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/container/inlined_vector.h"

namespace pjrt {
namespace {

struct Dimension {
  int64_t size;
  int64_t from;  // byte stride of the source
  int64_t to;    // byte stride of the destination
};
using Dimensions = absl::InlinedVector<Dimension, 6>;

template <int kBytes>
void CopyElement(char* to, const char* from) {
  std::memcpy(to, from, kBytes);
}

// One row along the destination's fastest dimension.
template <int kBytes>
void CopyRow(const Dimension& row, const char* from, char* to) {
  if (row.from == kBytes && row.to == kBytes) {
    std::memcpy(to, from, static_cast<size_t>(row.size) * kBytes);
    return;
  }
  for (int64_t i = 0; i < row.size; ++i) CopyElement<kBytes>(to + i * row.to, from + i * row.from);
}

// A plane whose source runs fastest along `other` and whose destination runs fastest along `row`:
// in square tiles, so that cache lines of both are used while they are near.
template <int kBytes>
void CopyPlane(const Dimension& other, const Dimension& row, const char* from, char* to) {
  constexpr int64_t kTile = 16;
  for (int64_t i = 0; i < other.size; i += kTile) {
    const int64_t i_end = std::min(i + kTile, other.size);
    for (int64_t j = 0; j < row.size; j += kTile) {
      const int64_t j_end = std::min(j + kTile, row.size);
      for (int64_t y = i; y < i_end; ++y) {
        const char* source = from + y * other.from;
        char* destination = to + y * other.to;
        for (int64_t x = j; x < j_end; ++x) {
          CopyElement<kBytes>(destination + x * row.to, source + x * row.from);
        }
      }
    }
  }
}

// Joins neighbours that are one run in both memories, drops dimensions of size 1, and puts the
// destination's slowest dimension first.
Dimensions Simplify(absl::Span<const int64_t> sizes, absl::Span<const int64_t> from,
                    absl::Span<const int64_t> to) {
  Dimensions all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) all.push_back({sizes[i], from[i], to[i]});
  }
  std::stable_sort(all.begin(), all.end(), [](const Dimension& a, const Dimension& b) {
    return std::abs(a.to) > std::abs(b.to);
  });
  Dimensions joined;
  for (const Dimension& inner : all) {
    if (!joined.empty()) {
      Dimension& outer = joined.back();
      if (outer.from == inner.from * inner.size && outer.to == inner.to * inner.size) {
        outer = {outer.size * inner.size, inner.from, inner.to};
        continue;
      }
    }
    joined.push_back(inner);
  }
  return joined;
}

template <int kBytes>
void Copy(Dimensions dimensions, const char* from, char* to) {
  if (dimensions.empty()) return CopyElement<kBytes>(to, from);
  const Dimension row = dimensions.back();
  dimensions.pop_back();

  // The dimension along which the source runs fastest, when that is another one.
  const auto fastest = std::min_element(
      dimensions.begin(), dimensions.end(),
      [](const Dimension& a, const Dimension& b) { return std::abs(a.from) < std::abs(b.from); });
  bool planes = false;
  Dimension other{1, 0, 0};
  if (fastest != dimensions.end() && std::abs(fastest->from) < std::abs(row.from)) {
    planes = true;
    other = *fastest;
    dimensions.erase(fastest);
  }

  absl::InlinedVector<int64_t, 6> index(dimensions.size(), 0);
  while (true) {
    if (planes) {
      CopyPlane<kBytes>(other, row, from, to);
    } else {
      CopyRow<kBytes>(row, from, to);
    }
    int64_t d = static_cast<int64_t>(dimensions.size()) - 1;
    for (; d >= 0; --d) {
      from += dimensions[d].from;
      to += dimensions[d].to;
      if (++index[d] < dimensions[d].size) break;
      from -= dimensions[d].from * dimensions[d].size;
      to -= dimensions[d].to * dimensions[d].size;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace

void StridedCopy(int element_bytes, absl::Span<const int64_t> dimensions, const void* source,
                 absl::Span<const int64_t> source_strides, void* destination,
                 absl::Span<const int64_t> destination_strides) {
  if (std::any_of(dimensions.begin(), dimensions.end(), [](int64_t size) { return size <= 0; })) {
    return;
  }
  Dimensions simple = Simplify(dimensions, source_strides, destination_strides);
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(destination);
  switch (element_bytes) {
    case 1:
      return Copy<1>(std::move(simple), from, to);
    case 2:
      return Copy<2>(std::move(simple), from, to);
    case 4:
      return Copy<4>(std::move(simple), from, to);
    case 8:
      return Copy<8>(std::move(simple), from, to);
    case 16:
      return Copy<16>(std::move(simple), from, to);
    default:
      return;
  }
}

}  // namespace pjrt
