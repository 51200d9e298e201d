// SPDX-License-Identifier: Apache-2.0
//
// PjRtLayout: the layout of a buffer as the runtime hands it around. Spec: PJRT C++ API, section
// 1.15.
#ifndef PJRT_PJRT_LAYOUT_H_
#define PJRT_PJRT_LAYOUT_H_

#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/base/layout.h"

namespace pjrt {

// An immutable Layout whose memory space is always the default one: the memory space of a buffer is
// told by PjRtBuffer::memory_space(). Shared by std::shared_ptr<const PjRtLayout>, never copied;
// safe to use from any thread. Compares and hashes as its Layout.
class PjRtLayout {
 public:
  // Takes any layout and sets its memory space to kDefaultMemorySpace.
  explicit PjRtLayout(Layout layout);
  PjRtLayout(const PjRtLayout&) = delete;
  PjRtLayout& operator=(const PjRtLayout&) = delete;

  // The layout; lives with this object. Both names mean the same.
  const Layout& layout() const { return layout_; }
  const Layout& xla_layout() const { return layout_; }

  // The text form of the layout, "{1,0:T(8,128)}". Both are the same text.
  std::string ToString() const { return layout_.ToString(); }
  std::string Serialize() const { return layout_.ToString(); }

  // Reads that text back. INVALID_ARGUMENT as Layout::Parse.
  static absl::StatusOr<std::shared_ptr<const PjRtLayout>> Deserialize(absl::string_view text);

  friend bool operator==(const PjRtLayout& a, const PjRtLayout& b) {
    return a.layout_ == b.layout_;
  }
  friend bool operator!=(const PjRtLayout& a, const PjRtLayout& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const PjRtLayout& l) {
    return H::combine(std::move(h), l.layout_);
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, const PjRtLayout& l) {
    sink.Append(l.ToString());
  }
  friend std::ostream& operator<<(std::ostream& os, const PjRtLayout& l) {
    return os << l.ToString();
  }

 private:
  Layout layout_;
};

}  // namespace pjrt

#endif  // PJRT_PJRT_LAYOUT_H_
