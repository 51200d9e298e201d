// SPDX-License-Identifier: Apache-2.0
//
// ExecuteContext: what an application hands to one execution, for custom calls to find. Spec: PJRT
// C++ API, section 1.11.
#ifndef PJRT_EXECUTE_CONTEXT_H_
#define PJRT_EXECUTE_CONTEXT_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pjrt {

namespace ffi {

// Data of the application, at most one object of each type. Objects are destroyed in the reverse
// order of their insertion.
//
//   context.ffi_context().Emplace<MyState>(1, 2);   // The application, before Execute.
//   absl::StatusOr<MyState*> s = ctx.Lookup<MyState>();  // A custom call, while it runs.
//
// Thread safety: const members may run concurrently, insertion may not run beside anything else.
// The objects themselves are not synchronized.
class ExecutionContext {
 public:
  ExecutionContext() = default;
  ~ExecutionContext();
  ExecutionContext(const ExecutionContext&) = delete;
  ExecutionContext& operator=(const ExecutionContext&) = delete;

  // Adds a T(args...) that the context owns. ALREADY_EXISTS [PJRT-R009] if it has a T.
  template <typename T, typename... Args>
  absl::Status Emplace(Args&&... args) {
    if (Find(IdOf<T>()) != nullptr) return AlreadyHasType();
    return Add(IdOf<T>(), new T(std::forward<Args>(args)...),
               [](void* object) { delete static_cast<T*>(object); });
  }

  // Adds an object that the caller owns and keeps alive for as long as the context is in use; not
  // null (INVALID_ARGUMENT [PJRT-R009]). ALREADY_EXISTS if the context has a T.
  template <typename T>
  absl::Status Insert(T* object) {
    return Add(IdOf<T>(), object, nullptr);
  }

  // The object of type T, or NOT_FOUND [PJRT-R009].
  template <typename T>
  absl::StatusOr<T*> Lookup() const {
    void* const object = Find(IdOf<T>());
    if (object == nullptr) return NoSuchType();
    return static_cast<T*>(object);
  }

 private:
  using TypeId = const void*;
  using Deleter = void (*)(void*);
  struct Entry {
    TypeId type;
    void* object;
    Deleter deleter;  // Null if the caller owns the object.
  };

  // One address a type stands for it: RTTI may be off.
  template <typename T>
  struct Type {
    static constexpr char kId = 0;
  };
  template <typename T>
  static TypeId IdOf() {
    return &Type<T>::kId;
  }

  void* Find(TypeId type) const;
  absl::Status Add(TypeId type, void* object, Deleter deleter);
  static absl::Status AlreadyHasType();
  static absl::Status NoSuchType();

  std::vector<Entry> entries_;
};

}  // namespace ffi

// Per-call data of an execution, given by ExecuteOptions::context; must outlive the execution. A
// backend may derive from it and then knows its own by kind().
class ExecuteContext {
 public:
  ExecuteContext() = default;
  virtual ~ExecuteContext() = default;
  ExecuteContext(const ExecuteContext&) = delete;
  ExecuteContext& operator=(const ExecuteContext&) = delete;

  // Which class this is: "base" here. Stands for a dynamic_cast.
  virtual absl::string_view kind() const { return "base"; }

  // The data that custom calls see.
  ffi::ExecutionContext& ffi_context() { return ffi_context_; }
  const ffi::ExecutionContext& ffi_context() const { return ffi_context_; }

 private:
  ffi::ExecutionContext ffi_context_;
};

}  // namespace pjrt

#endif  // PJRT_EXECUTE_CONTEXT_H_
