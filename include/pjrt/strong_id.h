// SPDX-License-Identifier: Apache-2.0
//
// StrongId: an integer that stands for one kind of thing and converts to no other.
#ifndef PJRT_STRONG_ID_H_
#define PJRT_STRONG_ID_H_

#include <ostream>
#include <string>
#include <utility>

namespace pjrt {

// An id of type `Rep`. `Tag` tells the kinds apart; it is a type that need not be complete. Ids are
// made explicitly, compared and hashed as their numbers, and printed as such by absl::StrCat
// (through `id.value()` before abseil 2023) and by streams. Zero by default.
template <typename Tag, typename Rep>
class StrongId {
 public:
  using ValueType = Rep;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }

  friend constexpr bool operator==(StrongId a, StrongId b) { return a.value_ == b.value_; }
  friend constexpr bool operator!=(StrongId a, StrongId b) { return a.value_ != b.value_; }
  friend constexpr bool operator<(StrongId a, StrongId b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(StrongId a, StrongId b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(StrongId a, StrongId b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(StrongId a, StrongId b) { return a.value_ >= b.value_; }

  template <typename H>
  friend H AbslHashValue(H h, StrongId id) {
    return H::combine(std::move(h), id.value_);
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, StrongId id) {
    sink.Append(std::to_string(id.value_));
  }
  friend std::ostream& operator<<(std::ostream& os, StrongId id) { return os << +id.value_; }

 private:
  Rep value_ = 0;
};

}  // namespace pjrt

#endif  // PJRT_STRONG_ID_H_
