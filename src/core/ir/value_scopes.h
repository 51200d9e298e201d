// SPDX-License-Identifier: Apache-2.0
//
// The names of SSA values while a text is read.
#ifndef PJRT_CORE_IR_VALUE_SCOPES_H_
#define PJRT_CORE_IR_VALUE_SCOPES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Regions see the names of the regions around them and must not define them again; what they define ends with them. An isolated
// region sees nothing of what is around it. Names are slices of the text.
class ValueScopes {
 public:
  // What a name stands for: `count` values in a row from `first` on, which are results of one op when there are several.
  struct Binding {
    Value* first = nullptr;  // null when the name is not in scope
    uint32_t count = 0;
    uint32_t level = 0;
  };

  // Null when no value of that name is visible.
  const Binding* Find(absl::string_view name) const {
    const auto it = names_.find(name);
    if (it == names_.end()) return nullptr;
    const Binding& binding = bindings_[it->second];
    return binding.first != nullptr && binding.level == level_ ? &binding : nullptr;
  }

  // False when a value of that name is visible already.
  bool Define(absl::string_view name, Value* first, uint32_t count) {
    const auto [it, is_new] = names_.try_emplace(name, static_cast<uint32_t>(bindings_.size()));
    if (is_new) bindings_.emplace_back();
    Binding& binding = bindings_[it->second];
    if (binding.first != nullptr && binding.level == level_) return false;
    undo_.push_back({it->second, binding});
    binding = {first, count, level_};
    return true;
  }

  // A region from construction to destruction.
  class Region {
   public:
    Region(ValueScopes* scopes, bool isolated)
        : scopes_(scopes), mark_(scopes->undo_.size()), isolated_(isolated) {
      if (isolated_) ++scopes_->level_;
    }
    ~Region() {
      auto& undo = scopes_->undo_;
      for (; undo.size() > mark_; undo.pop_back()) {
        scopes_->bindings_[undo.back().index] = undo.back().before;
      }
      if (isolated_) --scopes_->level_;
    }
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;

   private:
    ValueScopes* scopes_;
    size_t mark_;
    bool isolated_;
  };

 private:
  struct Undo {
    uint32_t index;
    Binding before;
  };
  absl::flat_hash_map<absl::string_view, uint32_t> names_;  // to an index into bindings_
  std::vector<Binding> bindings_;
  std::vector<Undo> undo_;
  uint32_t level_ = 0;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_VALUE_SCOPES_H_
