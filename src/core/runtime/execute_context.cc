// SPDX-License-Identifier: Apache-2.0
#include "pjrt/execute_context.h"

#include "src/core/base/error.h"

namespace pjrt::ffi {

ExecutionContext::~ExecutionContext() {
  while (!entries_.empty()) {
    const Entry entry = entries_.back();
    entries_.pop_back();
    if (entry.deleter != nullptr) entry.deleter(entry.object);
  }
}

void* ExecutionContext::Find(TypeId type) const {
  for (const Entry& entry : entries_) {
    if (entry.type == type) return entry.object;
  }
  return nullptr;
}

absl::Status ExecutionContext::Add(TypeId type, void* object, Deleter deleter) {
  if (object == nullptr) return InvalidArgument("PJRT-R009", "the user data is null");
  if (Find(type) != nullptr) return AlreadyHasType();
  entries_.push_back({type, object, deleter});
  return absl::OkStatus();
}

absl::Status ExecutionContext::AlreadyHasType() {
  return AlreadyExists("PJRT-R009", "the execution context has user data of this type already");
}

absl::Status ExecutionContext::NoSuchType() {
  return NotFound("PJRT-R009", "the execution context has no user data of this type");
}

}  // namespace pjrt::ffi
