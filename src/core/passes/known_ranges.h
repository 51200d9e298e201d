// SPDX-License-Identifier: Apache-2.0
//
// Between which numbers the elements of an integer tensor lie.
#ifndef PJRT_CORE_PASSES_KNOWN_RANGES_H_
#define PJRT_CORE_PASSES_KNOWN_RANGES_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Both ends belong to it. Booleans are 0 and 1.
struct KnownRange {
  int64_t least = 0, most = 0;
};

// What is known of the values of a function. To be told of its ops in program order, of the ops of
// regions after the op that has them.
class KnownRanges {
 public:
  // Nullopt when the type has none.
  std::optional<KnownRange> Of(const Value* value) const;
  // Notes what is known of the results of `op`, and of the arguments of its regions.
  void Learn(const Op& op);

 private:
  void LearnLoop(const Op& loop);
  void Note(const Value* value, __int128 least, __int128 most);

  absl::flat_hash_map<const Value*, KnownRange> ranges_;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_KNOWN_RANGES_H_
