// SPDX-License-Identifier: Apache-2.0
//
// Small helpers on futures of operations.
#ifndef PJRT_CORE_RUNTIME_FUTURE_UTIL_H_
#define PJRT_CORE_RUNTIME_FUTURE_UTIL_H_

#include <utility>

#include "absl/status/status.h"
#include "pjrt/base/future.h"

namespace pjrt {

// Ready and OK as soon as `future` is ready, whatever its status.
inline Future<> WhenSettled(const Future<>& future) {
  if (future.IsReady()) return absl::OkStatus();
  auto [promise, settled] = MakePromise<>();
  future.OnReady([p = std::move(promise)](const absl::Status&) mutable { p.Set(); });
  return FutureHelpers::WithHooksOf(std::move(settled), future);
}

// `future`, with `object` kept alive until it is ready.
template <typename T>
Future<> KeepAliveUntilReady(Future<> future, T object) {
  if (!future.IsReady()) {
    future.OnReady([kept = std::move(object)](const absl::Status&) mutable {
      // Gone before whoever waits for the future behind us sees it ready.
      T released = std::move(kept);
    });
  }
  return future;
}

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_FUTURE_UTIL_H_
