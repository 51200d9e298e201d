// SPDX-License-Identifier: Apache-2.0
//
// What a Context holds: the arena, and the sets of what has been interned.
#ifndef PJRT_CORE_IR_CONTEXT_IMPL_H_
#define PJRT_CORE_IR_CONTEXT_IMPL_H_

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/context.h"
#include "src/core/ir/arena.h"
#include "src/core/ir/storage.h"

namespace pjrt::ir {

// Hash and equality of the content of types and attributes whose parts are interned already. The
// sets are asked with candidates that point to the caller's memory.
struct ContentHash {
  size_t operator()(const TypeStorage* t) const;
  size_t operator()(const AttributeStorage* a) const;
};
struct ContentEqual {
  bool operator()(const TypeStorage* a, const TypeStorage* b) const;
  bool operator()(const AttributeStorage* a, const AttributeStorage* b) const;
};

struct Context::Impl {
  explicit Impl(const Context* owner_in) : owner(owner_in) {}

  const Context* owner;
  Arena arena;
  absl::flat_hash_set<const TypeStorage*, ContentHash, ContentEqual> types;
  absl::flat_hash_set<const AttributeStorage*, ContentHash, ContentEqual> attributes;
  absl::flat_hash_set<absl::string_view> strings;

  // What programs ask for all the time, found without hashing.
  std::array<std::array<Type, 65>, 3> integers;
  std::array<Type, kPrimitiveTypeLimit> element_types;

  template <typename T>
  absl::Span<const T> Copy(absl::Span<const T> from) {
    if (from.empty()) return {};
    T* to = static_cast<T*>(arena.Allocate(sizeof(T) * from.size(), alignof(T)));
    std::uninitialized_copy(from.begin(), from.end(), to);
    return absl::MakeConstSpan(to, from.size());
  }
  absl::string_view CopyText(absl::string_view text);

  // The interned object equal to `candidate`.
  Type InternType(const TypeStorage& candidate);
  Attribute InternAttribute(const AttributeStorage& candidate);
  // A copy in the arena, not interned.
  Attribute StoreAttribute(AttributeStorage candidate);
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_CONTEXT_IMPL_H_
