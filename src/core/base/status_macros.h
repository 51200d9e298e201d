// SPDX-License-Identifier: Apache-2.0
//
// Macros that pass an error on to the caller. Private to the library: public headers never include
// this file.
#ifndef PJRT_CORE_BASE_STATUS_MACROS_H_
#define PJRT_CORE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Evaluates `expr`, an absl::Status, and returns it from the enclosing function unless it is OK.
#define PJRT_RETURN_IF_ERROR(expr)                                   \
  do {                                                               \
    ::absl::Status pjrt_status_ = (expr);                            \
    if (ABSL_PREDICT_FALSE(!pjrt_status_.ok())) return pjrt_status_; \
  } while (false)

// Evaluates `expr`, an absl::StatusOr<T>. Returns its status from the enclosing function unless it
// is OK; otherwise moves the value into `lhs`, which may declare a variable:
//
//   PJRT_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
//
// A type with a comma in it needs parentheses or `auto`. Not usable as the single statement of an
// `if`.
#define PJRT_ASSIGN_OR_RETURN(lhs, ...) \
  PJRT_ASSIGN_OR_RETURN_IMPL_(PJRT_STATUS_CONCAT_(pjrt_statusor_, __LINE__), lhs, (__VA_ARGS__))

#define PJRT_STATUS_CONCAT_(a, b) PJRT_STATUS_CONCAT_IMPL_(a, b)
#define PJRT_STATUS_CONCAT_IMPL_(a, b) a##b
#define PJRT_ASSIGN_OR_RETURN_IMPL_(statusor, lhs, expr)                       \
  auto statusor = expr;                                                        \
  if (ABSL_PREDICT_FALSE(!statusor.ok())) return std::move(statusor).status(); \
  lhs = std::move(statusor).value()

#endif  // PJRT_CORE_BASE_STATUS_MACROS_H_
