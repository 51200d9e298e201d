// SPDX-License-Identifier: Apache-2.0
//
// Layout: how the elements of an array lie in memory.
#ifndef PJRT_BASE_LAYOUT_H_
#define PJRT_BASE_LAYOUT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace pjrt {

// Sizes, indices or strides, one a dimension.
using DimensionVector = absl::InlinedVector<int64_t, 6>;

// Memory spaces that layouts name. What they mean is the device's affair; a CPU has only the
// default one.
inline constexpr int64_t kDefaultMemorySpace = 0;
inline constexpr int64_t kGenericFastMemorySpace = 1;
inline constexpr int64_t kHostMemorySpace = 5;
inline constexpr int64_t kUnpinnedHostMemorySpace = 6;

// One level of tiling: the most minor dimensions of the array are cut into tiles of these sizes,
// most major first. Kept as data: nothing in the base library computes addresses from tiles.
class Tile {
 public:
  // Stands for "join this dimension with the next more minor one"; printed as `*`.
  static constexpr int64_t kCombineDimension = INT64_MIN;

  Tile() = default;
  explicit Tile(absl::Span<const int64_t> dimensions)
      : dimensions_(dimensions.begin(), dimensions.end()) {}

  absl::Span<const int64_t> dimensions() const { return dimensions_; }

  std::string ToString() const;  // "(8,128)", "(*,2)"

  friend bool operator==(const Tile& a, const Tile& b) { return a.dimensions_ == b.dimensions_; }
  friend bool operator!=(const Tile& a, const Tile& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Tile& tile) {
    return H::combine(std::move(h), tile.dimensions_);
  }

 private:
  absl::InlinedVector<int64_t, 2> dimensions_;
};

// A value type; thread-safe as a plain struct is. Nothing here is checked against a shape:
// ValidateLayout does that.
//
// Text form, as in XLA: `{1,0}`, `{1,0:T(8,128)(2,1)}`, `{0:E(4)S(5)}`. After the colon, in this
// order and each only when it differs from the default: T tiles, L tail padding alignment in
// elements, E element size in bits, S memory space, M dynamic shape metadata prefix in bytes.
class Layout {
 public:
  Layout() = default;
  explicit Layout(absl::Span<const int64_t> minor_to_major)
      : minor_to_major_(minor_to_major.begin(), minor_to_major.end()) {}
  Layout(absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles,
         int64_t element_size_in_bits = 0, int64_t memory_space = kDefaultMemorySpace)
      : minor_to_major_(minor_to_major.begin(), minor_to_major.end()),
        tiles_(tiles.begin(), tiles.end()),
        element_size_in_bits_(element_size_in_bits),
        memory_space_(memory_space) {}

  // Logical dimension numbers, the fastest varying in memory first: {1,0} is row-major for a
  // matrix.
  absl::Span<const int64_t> minor_to_major() const { return minor_to_major_; }
  int64_t minor_to_major(int i) const { return minor_to_major_[i]; }
  DimensionVector* mutable_minor_to_major() { return &minor_to_major_; }

  absl::Span<const Tile> tiles() const { return tiles_; }
  std::vector<Tile>* mutable_tiles() { return &tiles_; }

  // Bits from one element to the next in packed memory: 4 packs two S4 in a byte, the first in the
  // low bits. 0 means unpacked: ByteWidth(type) bytes each.
  int64_t element_size_in_bits() const { return element_size_in_bits_; }
  Layout& set_element_size_in_bits(int64_t value) {
    element_size_in_bits_ = value;
    return *this;
  }

  int64_t memory_space() const { return memory_space_; }
  Layout& set_memory_space(int64_t value) {
    memory_space_ = value;
    return *this;
  }

  // Bytes before the elements that hold the run-time sizes of dynamic dimensions.
  int64_t dynamic_shape_metadata_prefix_bytes() const {
    return dynamic_shape_metadata_prefix_bytes_;
  }
  Layout& set_dynamic_shape_metadata_prefix_bytes(int64_t value) {
    dynamic_shape_metadata_prefix_bytes_ = value;
    return *this;
  }

  // The buffer's element count is rounded up to a multiple of this; 1 by default.
  int64_t tail_padding_alignment_in_elements() const { return tail_padding_alignment_in_elements_; }
  Layout& set_tail_padding_alignment_in_elements(int64_t value) {
    tail_padding_alignment_in_elements_ = value;
    return *this;
  }

  std::string ToString() const;

  // Reads the text form; blanks are allowed between tokens. INVALID_ARGUMENT [PJRT-B002], naming
  // the place, for anything else, a minor_to_major that is not a permutation and trailing
  // characters included.
  static absl::StatusOr<Layout> Parse(absl::string_view text);

  friend bool operator==(const Layout& a, const Layout& b);
  friend bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Layout& l) {
    return H::combine(std::move(h), l.minor_to_major_, l.tiles_, l.element_size_in_bits_,
                      l.memory_space_, l.dynamic_shape_metadata_prefix_bytes_,
                      l.tail_padding_alignment_in_elements_);
  }

 private:
  DimensionVector minor_to_major_;
  std::vector<Tile> tiles_;
  int64_t element_size_in_bits_ = 0;
  int64_t memory_space_ = kDefaultMemorySpace;
  int64_t dynamic_shape_metadata_prefix_bytes_ = 0;
  int64_t tail_padding_alignment_in_elements_ = 1;
};

// {rank-1, ..., 1, 0}: row-major, the default of every array.
Layout MakeDescendingLayout(int64_t rank);
// {0, 1, ..., rank-1}: column-major.
Layout MakeAscendingLayout(int64_t rank);
// {order reversed}: `major_to_minor` lists the slowest varying dimension first.
Layout MakeLayoutFromMajorToMinor(absl::Span<const int64_t> major_to_minor);

// True for {rank-1, ..., 0}: dimension 0 is the slowest varying (row-major). True for rank 0 and 1
// as well.
bool IsMonotonicWithDim0Major(const Layout& layout);
// True for {0, ..., rank-1}: dimension 0 is the fastest varying (column-major). True for rank 0 and
// 1 as well.
bool IsMonotonicWithDim0Minor(const Layout& layout);

// OK when minor_to_major is a permutation of 0 .. rank-1 and no other field is negative (tile sizes
// other than kCombineDimension must be positive). INVALID_ARGUMENT [PJRT-B003] otherwise.
absl::Status ValidateLayout(const Layout& layout, int64_t rank);

}  // namespace pjrt

#endif  // PJRT_BASE_LAYOUT_H_
