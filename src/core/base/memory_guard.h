// SPDX-License-Identifier: Apache-2.0
//
// The library throws nothing, but containers do when memory runs out. What may need much of it,
// because a program says so, runs inside of this.
#ifndef PJRT_CORE_BASE_MEMORY_GUARD_H_
#define PJRT_CORE_BASE_MEMORY_GUARD_H_

#include <new>
#include <stdexcept>
#include <utility>

#include "absl/strings/string_view.h"
#include "src/core/base/error.h"

namespace pjrt {

// What `fn` returns, a Status or StatusOr; RESOURCE_EXHAUSTED [PJRT-B026] when memory runs out in
// it. `what` says what it does: "compiling the program".
template <typename Fn>
auto WithMemoryGuard(absl::string_view what, Fn&& fn) -> decltype(std::forward<Fn>(fn)()) {
  try {
    return std::forward<Fn>(fn)();
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // a container of more elements than there are addresses
  }
  return ResourceExhausted("PJRT-B026", "out of memory while ", what);
}

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_MEMORY_GUARD_H_
