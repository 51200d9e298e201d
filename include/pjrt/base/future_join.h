// SPDX-License-Identifier: Apache-2.0
//
// JoinFutures: one future for several. Spec: PJRT C++ API, section 1.12.
//
// The rules are the same for all forms. The result is ready when all inputs are, errors or not. Its
// status is OK if all are, else that of the input which failed first in time. If any input is
// invalid, so is the result. It inherits the blocking hooks of all inputs, but no executor. No call
// blocks.
#ifndef PJRT_BASE_FUTURE_JOIN_H_
#define PJRT_BASE_FUTURE_JOIN_H_

#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "pjrt/base/future.h"

namespace pjrt {

// Joins any number of Future<>s: ready and OK if there are none, the future itself if there is one.
Future<> JoinFutures(absl::Span<const Future<>> futures);

namespace internal {

// Joins the states of futures of any types; null stands for an invalid future.
Future<> JoinHandles(absl::Span<const FutureHandle* const> handles);

// Joins the futures of [begin, end) into the vector of their values, in order.
template <typename T>
Future<std::vector<T>> JoinToVector(std::vector<Future<T>> futures) {
  std::vector<const FutureHandle*> handles;
  handles.reserve(futures.size());
  for (const Future<T>& future : futures) handles.push_back(&FutureAccess::Handle(future));
  Future<> all = JoinHandles(handles);
  if (!all.IsValid()) return {};
  return std::move(all).template Map<std::vector<T>>([fs = std::move(futures)]() mutable {
    std::vector<T> values;
    values.reserve(fs.size());
    for (Future<T>& future : fs) values.push_back(*std::move(future).Await());
    return values;
  });
}

// The value of a ready future in a tuple: one element, none for void.
template <typename T>
auto TakeAsTuple(Future<T>& future) {
  if constexpr (std::is_void_v<T>) {
    return std::tuple<>();
  } else {
    return std::tuple<T>(*std::move(future).Await());
  }
}
template <typename... Ts>
using ValuesTuple = decltype(std::tuple_cat(
    std::declval<std::conditional_t<std::is_void_v<Ts>, std::tuple<>, std::tuple<Ts>>>()...));

}  // namespace internal

// Joins futures of one type, T not void: the vector of their values in the order of the inputs. The
// first form copies the values; the second consumes the inputs and moves what only they hold, and
// is the one for move-only types. Write JoinFutures(absl::MakeConstSpan(v)) or (absl::MakeSpan(v)),
// or pass the vector itself, as an lvalue or an rvalue.
template <typename T, std::enable_if_t<!std::is_void_v<T>, int> = 0>
Future<std::vector<T>> JoinFutures(absl::Span<const Future<T>> futures) {
  return internal::JoinToVector(std::vector<Future<T>>(futures.begin(), futures.end()));
}
template <typename T, std::enable_if_t<!std::is_void_v<T>, int> = 0>
Future<std::vector<T>> JoinFutures(absl::Span<Future<T>> futures) {
  return internal::JoinToVector(std::vector<Future<T>>(std::make_move_iterator(futures.begin()),
                                                       std::make_move_iterator(futures.end())));
}
template <typename T, std::enable_if_t<!std::is_void_v<T>, int> = 0>
Future<std::vector<T>> JoinFutures(const std::vector<Future<T>>& futures) {
  return internal::JoinToVector(futures);
}
template <typename T, std::enable_if_t<!std::is_void_v<T>, int> = 0>
Future<std::vector<T>> JoinFutures(std::vector<Future<T>>&& futures) {
  return internal::JoinToVector(std::move(futures));
}

// Joins one or more futures of any types, which are taken over; pass std::move(f) for move-only
// values.
//
// Without R: the Future<std::tuple<...>> of their values in order, where Future<>s leave no
// element; if all are Future<>s, a Future<>. With R: the Future<R> of R{values...}.
template <typename R = void, typename T, typename... Ts>
auto JoinFutures(Future<T> first, Future<Ts>... rest) {
  using Values = internal::ValuesTuple<T, Ts...>;
  constexpr bool kAllVoid = std::tuple_size_v<Values> == 0;
  using Result =
      std::conditional_t<std::is_void_v<R>, std::conditional_t<kAllVoid, void, Values>, R>;

  const internal::FutureHandle* const handles[] = {&internal::FutureAccess::Handle(first),
                                                   &internal::FutureAccess::Handle(rest)...};
  Future<> all = internal::JoinHandles(handles);
  if constexpr (std::is_void_v<Result>) {
    return all;
  } else {
    if (!all.IsValid()) return Future<Result>();
    return std::move(all).template Map<Result>(
        [futures = std::make_tuple(std::move(first), std::move(rest)...)]() mutable -> Result {
          Values values = std::apply(
              [](auto&... f) { return std::tuple_cat(internal::TakeAsTuple(f)...); }, futures);
          if constexpr (std::is_void_v<R>) {
            return values;
          } else {
            return std::apply([](auto&&... v) { return R{std::move(v)...}; }, std::move(values));
          }
        });
  }
}

}  // namespace pjrt

#endif  // PJRT_BASE_FUTURE_JOIN_H_
