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

// Regions see the names of the regions around them and must not define them again; what they define
// ends with them. An isolated region sees nothing of what is around it. Names are slices of the
// text.
class ValueScopes {
 public:
  // What a name stands for: `count` values in a row from `first` on, which are results of one op
  // when there are several.
  struct Binding {
    Value* first = nullptr;  // null when the name is not in scope
    uint32_t count = 0;
    uint32_t level = 0;
  };

  // Null when no value of that name is visible.
  const Binding* Find(absl::string_view name) const {
    const uint32_t index = IndexOf(name);
    if (index == kNoIndex) return nullptr;
    const Binding& binding = bindings_[index];
    return binding.first != nullptr && binding.level == level_ ? &binding : nullptr;
  }

  // False when a value of that name is visible already.
  bool Define(absl::string_view name, Value* first, uint32_t count) {
    uint32_t index = IndexOf(name);
    if (index == kNoIndex) index = AddIndex(name);
    Binding& binding = bindings_[index];
    if (binding.first != nullptr && binding.level == level_) return false;
    undo_.push_back({index, binding});
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
  static constexpr uint32_t kNoIndex = 0xffffffffu;

  struct Undo {
    uint32_t index;
    Binding before;
  };

  // The number that a name of digits alone is, kNoIndex for other names and for 010 or long ones.
  static uint32_t NumberOf(absl::string_view name) {
    if (name.size() > 7 || (name[0] == '0' && name.size() > 1)) return kNoIndex;
    uint32_t number = 0;
    for (char c : name) {
      if (c < '0' || c > '9') return kNoIndex;
      number = number * 10 + static_cast<uint32_t>(c - '0');
    }
    return number;
  }

  // Where in bindings_ the name is; kNoIndex when it has not been seen.
  uint32_t IndexOf(absl::string_view name) const {
    const uint32_t number = NumberOf(name);
    if (number < numbers_.size() && numbers_[number] != kNoIndex) return numbers_[number];
    const auto it = names_.find(name);
    return it == names_.end() ? kNoIndex : it->second;
  }

  uint32_t AddIndex(absl::string_view name) {
    const auto index = static_cast<uint32_t>(bindings_.size());
    bindings_.emplace_back();
    const size_t number = NumberOf(name);
    if (number < 2 * bindings_.size() + 1024) {  // the table stays in proportion to the names
      if (number >= numbers_.size()) numbers_.resize(2 * number + 64, kNoIndex);
      numbers_[number] = index;
    } else {
      names_.emplace(name, index);
    }
    return index;
  }

  std::vector<uint32_t> numbers_;                           // indices into bindings_ of %0, %1, ...
  absl::flat_hash_map<absl::string_view, uint32_t> names_;  // of all others
  std::vector<Binding> bindings_;
  std::vector<Undo> undo_;
  uint32_t level_ = 0;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_VALUE_SCOPES_H_
