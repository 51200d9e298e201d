// SPDX-License-Identifier: Apache-2.0
//
// Short ways to build programs in tests of the program in memory, without the builder.
#ifndef PJRT_TESTS_IR_IR_TEST_UTIL_H_
#define PJRT_TESTS_IR_IR_TEST_UTIL_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Appends an op to `block`.
inline Op* AddOp(Block* block, absl::string_view name, const std::vector<Value*>& operands,
                 const std::vector<Type>& results,
                 const std::vector<NamedAttribute>& attributes = {}, size_t regions = 0,
                 Op* before = nullptr) {
  OpState state;
  state.name = name;
  state.operands = operands;
  state.result_types = results;
  state.attributes = attributes;
  state.num_regions = regions;
  return block->module()->Append(block, state, before);
}

// A region's new block with an argument of each type.
inline Block* AddBlock(Region* region, const std::vector<Type>& types) {
  Block* block = region->AddBlock();
  for (Type type : types) block->AddArgument(type);
  return block;
}

}  // namespace pjrt::ir

#endif  // PJRT_TESTS_IR_IR_TEST_UTIL_H_
