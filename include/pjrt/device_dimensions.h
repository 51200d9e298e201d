// SPDX-License-Identifier: Apache-2.0
//
// PjRtDeviceDimensions: bounds of, or coordinates in, a mesh of devices. Spec: PJRT C++ API,
// section 1.0.
#ifndef PJRT_DEVICE_DIMENSIONS_H_
#define PJRT_DEVICE_DIMENSIONS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace pjrt {

// A short list of int32 numbers, one a mesh dimension. A value: copied, compared
// (lexicographically) and hashed as its elements. Immutable but for assignment and the mutable
// operator[].
class PjRtDeviceDimensions {
 public:
  using const_iterator = const int32_t*;

  PjRtDeviceDimensions() = default;
  PjRtDeviceDimensions(std::initializer_list<int32_t> dimensions) : dims_(dimensions) {}
  explicit PjRtDeviceDimensions(absl::Span<const int32_t> dimensions)
      : dims_(dimensions.begin(), dimensions.end()) {}

  size_t size() const { return dims_.size(); }
  bool empty() const { return dims_.empty(); }
  // Precondition: index < size().
  int32_t operator[](size_t index) const { return dims_[index]; }
  int32_t& operator[](size_t index) { return dims_[index]; }
  const_iterator begin() const { return dims_.data(); }
  const_iterator end() const { return dims_.data() + dims_.size(); }
  absl::Span<const int32_t> AsSpan() const { return dims_; }

  // The numbers in decimal with `separator` between: "2,2,4". Empty list: "".
  std::string ToString(absl::string_view separator = ",") const;

  // Reads ToString's text back, with "," as separator; blanks around numbers are allowed. What is
  // not a list of int32 numbers gives INVALID_ARGUMENT [PJRT-R001].
  static absl::StatusOr<PjRtDeviceDimensions> FromString(absl::string_view text);

  // The stable text form for storage: ToString(). Deserialize is FromString.
  std::string Serialize() const { return ToString(); }
  static absl::StatusOr<PjRtDeviceDimensions> Deserialize(absl::string_view text) {
    return FromString(text);
  }

  friend bool operator==(const PjRtDeviceDimensions& a, const PjRtDeviceDimensions& b) {
    return a.dims_ == b.dims_;
  }
  friend bool operator!=(const PjRtDeviceDimensions& a, const PjRtDeviceDimensions& b) {
    return !(a == b);
  }
  friend bool operator<(const PjRtDeviceDimensions& a, const PjRtDeviceDimensions& b) {
    return a.dims_ < b.dims_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const PjRtDeviceDimensions& d) {
    return H::combine(std::move(h), d.dims_);
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, const PjRtDeviceDimensions& d) {
    sink.Append(d.ToString());
  }
  friend std::ostream& operator<<(std::ostream& os, const PjRtDeviceDimensions& d) {
    return os << d.ToString();
  }

 private:
  absl::InlinedVector<int32_t, 4> dims_;
};

// The text forms of a command-line flag, found by abseil's flags library through these names.
bool AbslParseFlag(absl::string_view text, PjRtDeviceDimensions* dimensions, std::string* error);
std::string AbslUnparseFlag(const PjRtDeviceDimensions& dimensions);

}  // namespace pjrt

#endif  // PJRT_DEVICE_DIMENSIONS_H_
