// SPDX-License-Identifier: Apache-2.0
//
// A program in memory: a Module holds ops, ops hold regions, regions blocks, blocks ops; values tie
// them together in SSA form.
//
//   Module
//     body: Block
//       func.func @main           an Op with one region; ir::Function is a handy view of it
//         Block (arguments)
//           stablehlo.add ...     Op: operands, results, attributes, regions
//           func.return
//
// Everything lives in the Module's arena and dies with it; pointers stay valid while the Module
// lives, erased ops included (their memory is not reused). A Module may be read by several threads,
// and changed by one while none reads.
//
// Nothing here is checked: indices are in range, values and ops belong to the same Module, and what
// a change leaves behind is for VerifyModule to judge. Nothing fails but for want of memory.
#ifndef PJRT_IR_MODULE_H_
#define PJRT_IR_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/context.h"
#include "pjrt/ir/opcode.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

class Block;
class Module;
class Op;
class Region;
class Value;

// Where an op stands in the text: 1-based line and column, 0 when unknown (built in C++). `attr` is
// the op's `loc(...)` where the text gave one.
struct Location {
  uint32_t line = 0;
  uint32_t column = 0;
  Attribute attr;
};

// One operand of an op: an edge from a value to the op that uses it. Uses of a value form a list.
class Use {
 public:
  Value* value() const { return value_; }
  Op* owner() const { return owner_; }
  unsigned operand_index() const;      // which of the owner's operands this is
  Use* next() const { return next_; }  // the next use of the same value

 private:
  friend class Module;
  friend class Op;
  friend class Value;
  void Link(Value* value);
  void Unlink();
  Value* value_ = nullptr;
  Op* owner_ = nullptr;
  Use* next_ = nullptr;
  Use** prev_ = nullptr;
};

// The result of an op or the argument of a block.
class Value {
 public:
  Type type() const { return type_; }
  // Changes this value's type alone: ops that use it, and the function that it is an argument of,
  // keep theirs.
  void set_type(Type type) { type_ = type; }

  // The op whose result this is; null for a block argument.
  Op* defining_op() const { return op_; }
  // The block of which this is an argument; null for a result.
  Block* argument_of() const { return block_; }
  // The block that the value is defined in, either way.
  Block* block() const;
  // Which result, or which argument.
  unsigned index() const { return index_; }

  bool has_uses() const { return first_use_ != nullptr; }
  bool HasOneUse() const { return first_use_ != nullptr && first_use_->next() == nullptr; }
  // The uses, in no particular order: follow Use::next(). Null without any.
  Use* first_use() const { return first_use_; }
  // Makes all that use this value use `other`, which takes time linear in their number. Types are
  // not looked at. Nothing happens when `other` is this value.
  void ReplaceAllUsesWith(Value* other);

  // The location of a block argument, as its text gave it.
  Attribute location() const { return location_; }
  void set_location(Attribute location) { location_ = location; }

  // A number that a pass may keep here while it runs, for example an index into its own table. No
  // meaning between passes.
  mutable int32_t scratch = -1;

 private:
  friend class Block;
  friend class Module;
  friend class Op;
  friend class Use;
  unsigned index_ = 0;
  Type type_;
  Op* op_ = nullptr;
  Block* block_ = nullptr;
  Use* first_use_ = nullptr;
  Attribute location_;
};

// An operation: what it is called, the values that it takes and makes, attributes, and regions. The
// numbers of operands, results and regions are fixed when it is made (Module::Append).
class Op {
 public:
  // OpCode::kUnknown for an op of a dialect that the op set does not hold; name() tells it.
  OpCode opcode() const { return opcode_; }
  bool Is(OpCode code) const { return opcode_ == code; }
  absl::string_view name() const { return name_; }  // "stablehlo.add"
  const Location& location() const { return location_; }
  void set_location(Location location) { location_ = location; }

  size_t num_operands() const { return num_operands_; }
  Value* operand(size_t i) const { return operands_[i].value(); }
  Type operand_type(size_t i) const { return operand(i)->type(); }
  void set_operand(size_t i, Value* value);
  // The operands as edges, in order: the values are use.value().
  absl::Span<const Use> operand_uses() const {
    return absl::MakeConstSpan(operands_, num_operands_);
  }

  size_t num_results() const { return num_results_; }
  Value* result(size_t i = 0) const { return &results_[i]; }
  Type result_type(size_t i = 0) const { return results_[i].type(); }
  // Whether anything uses some result.
  bool HasResultUses() const;

  // Inherent and discardable attributes together, sorted by name.
  absl::Span<const NamedAttribute> attributes() const { return attributes_; }
  // Null when absent.
  Attribute attr(absl::string_view name) const;
  bool HasAttr(absl::string_view name) const { return static_cast<bool>(attr(name)); }
  // The value of an integer, bool or string attribute, or `otherwise` when it is absent.
  int64_t IntAttr(absl::string_view name, int64_t otherwise = 0) const;
  bool BoolAttr(absl::string_view name, bool otherwise = false) const;
  absl::string_view StringAttr(absl::string_view name, absl::string_view otherwise = "") const;
  // The integers of a list attribute in any spelling (see GetIntList); empty when absent.
  absl::InlinedVector<int64_t, 6> IntsAttr(absl::string_view name) const;
  // Adds an attribute, or replaces the one of that name.
  void SetAttr(absl::string_view name, Attribute value);
  // Nothing happens when there is none of that name.
  void RemoveAttr(absl::string_view name);

  size_t num_regions() const { return num_regions_; }
  Region* region(size_t i = 0) const;

  // The block that the op is in; null once it is erased.
  Block* block() const { return block_; }
  Module* module() const { return module_; }
  // The op that the block of this op belongs to; null at the top of the module.
  Op* parent() const;
  // Its neighbours in the block; null at the ends.
  Op* next() const { return next_; }
  Op* prev() const { return prev_; }
  // Whether it ends a block, as func.return and stablehlo.return do.
  bool IsTerminator() const;

  // Moves the op before `other`, of any block of the same module.
  void MoveBefore(Op* other);
  // Takes the op out of its block and drops its operands' uses and its regions. Its results must
  // have no uses.
  void Erase();
  bool IsErased() const { return block_ == nullptr; }

  // A number that a pass may keep here while it runs. No meaning between passes.
  mutable int32_t scratch = -1;

 private:
  friend class Block;
  friend class Module;
  friend class Region;
  void Link(Block* block, Op* before);
  void Unlink();
  OpCode opcode_ = OpCode::kUnknown;
  absl::string_view name_;
  Location location_;
  Use* operands_ = nullptr;
  Value* results_ = nullptr;
  Region* regions_ = nullptr;
  uint32_t num_operands_ = 0, num_results_ = 0, num_regions_ = 0;
  absl::Span<const NamedAttribute> attributes_;
  Block* block_ = nullptr;
  Module* module_ = nullptr;
  Op *next_ = nullptr, *prev_ = nullptr;
};

inline unsigned Use::operand_index() const {
  return static_cast<unsigned>(this - owner_->operand_uses().data());
}

// A list of ops with arguments. Iterate with `for (Op* op : *block)`; the op at hand may be erased
// or moved meanwhile.
class Block {
 public:
  class Iterator {
   public:
    explicit Iterator(Op* op) : op_(op), next_(op ? op->next() : nullptr) {}
    Op* operator*() const { return op_; }
    Iterator& operator++() {
      op_ = next_;
      next_ = op_ ? op_->next() : nullptr;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return op_ != other.op_; }

   private:
    Op* op_;
    Op* next_;
  };
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(nullptr); }
  bool empty() const { return first_ == nullptr; }
  // The first and the last op; null in an empty block.
  Op* front() const { return first_; }
  Op* back() const { return last_; }
  // The last op when it is a terminator, else null.
  Op* terminator() const { return last_ != nullptr && last_->IsTerminator() ? last_ : nullptr; }

  size_t num_arguments() const { return num_arguments_; }
  Value* argument(size_t i) const { return arguments_[i]; }
  absl::Span<Value* const> arguments() const {
    return absl::MakeConstSpan(arguments_, num_arguments_);
  }
  // Adds an argument behind those that there are. The type of a function doesn't follow.
  Value* AddArgument(Type type, Attribute location = {});
  // The argument must have no uses; those behind it move up.
  void EraseArgument(size_t i);

  Region* parent() const { return parent_; }
  // The op whose region holds the block; null for the module's body.
  Op* parent_op() const;
  Module* module() const { return module_; }
  // The next block of the same region; null at its end.
  Block* next() const { return next_; }

 private:
  friend class Module;
  friend class Op;
  friend class Region;
  Op *first_ = nullptr, *last_ = nullptr;
  Value** arguments_ = nullptr;
  uint32_t num_arguments_ = 0, argument_capacity_ = 0;
  Region* parent_ = nullptr;
  Module* module_ = nullptr;
  Block* next_ = nullptr;
};

// The blocks of an op's region. StableHLO's regions have at most one block; programs with more
// parse and print, nothing else.
class Region {
 public:
  bool empty() const { return first_ == nullptr; }
  // The first block, null for an empty region `{}`.
  Block* block() const { return first_; }
  // Adds an empty block behind those that there are.
  Block* AddBlock();
  size_t num_blocks() const;
  Block* block(size_t i) const;  // null for i >= num_blocks()
  Op* parent() const { return parent_; }

 private:
  friend class Block;
  friend class Module;
  friend class Op;
  Block* first_ = nullptr;
  Op* parent_ = nullptr;
};

// What a new op is made of.
struct OpState {
  absl::string_view name;  // "stablehlo.add"; the opcode follows from it
  Location location;
  // Null ones must be set with set_operand before anything reads them.
  absl::Span<Value* const> operands;
  absl::Span<const Type> result_types;
  absl::Span<const NamedAttribute> attributes;  // any order; names need not be interned
  size_t num_regions = 0;
};

// A view of a `func.func` op, cheap to copy. A null Function answers `operator bool` and op()
// alone.
class Function {
 public:
  explicit Function(Op* op = nullptr) : op_(op) {}
  explicit operator bool() const { return op_ != nullptr; }
  Op* op() const { return op_; }
  absl::string_view name() const { return op_->StringAttr("sym_name"); }
  bool IsPrivate() const { return op_->StringAttr("sym_visibility") == "private"; }
  // A declaration has no body; null then.
  Block* body() const { return op_->region()->block(); }
  Type type() const { return op_->attr("function_type").AsType(); }
  // The attribute dictionary of an argument or result; null when there is none.
  Attribute arg_attrs(size_t i) const;
  Attribute result_attrs(size_t i) const;
  // One attribute of an argument or result by name; null when there is none.
  Attribute ArgAttr(size_t i, absl::string_view name) const;
  Attribute ResultAttr(size_t i, absl::string_view name) const;

 private:
  Op* op_;
};

// A program. See the top of this file for ownership and threads.
class Module {
 public:
  // An empty module without a name.
  Module();
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Context& context() { return context_; }
  const Context& context() const { return context_; }

  // The name behind `module @`, "" without one.
  absl::string_view name() const { return name_; }
  void set_name(absl::string_view name) { name_ = context_.Intern(name); }
  // The module's own attributes, sorted by name.
  absl::Span<const NamedAttribute> attributes() const { return attributes_; }
  Attribute attr(absl::string_view name) const;  // null when absent
  void SetAttr(absl::string_view name, Attribute value);

  // The top-level ops: functions, meshes, whatever the text holds.
  Block* body() { return &body_; }
  const Block* body() const { return &body_; }

  // The function of that name; a null Function when there is none.
  Function FindFunction(absl::string_view name) const;
  // What runs: `main`, or the only function that is not private, or the only one; null without.
  Function EntryFunction() const;

  // Makes an op, with its regions empty, and appends it to `block` (before `before` when that is
  // not null). The number of regions and the results' types are fixed from then on.
  Op* Append(Block* block, const OpState& state, Op* before = nullptr);
  // Appends func.func @name with a body block whose arguments have the types of `function_type`,
  // and without ops. Whether the name is taken isn't looked at.
  Function AddFunction(absl::string_view name, Type function_type, bool is_private = false);

  // Copies `op` and all it holds to `block` (before `before` when not null). `map` gives the value
  // in the copy for each value that is used but not defined inside `op`; null keeps the value as it
  // is. Types and attributes are imported when the modules differ.
  Op* CloneOp(const Op* op, Block* block, absl::FunctionRef<Value*(Value*)> map,
              Op* before = nullptr);
  // A copy that shares nothing with this module.
  std::unique_ptr<Module> Clone() const;

  // Calls `fn` on each op in program order, on those inside of an op's regions after the op itself.
  // `fn` may erase or move the op at hand; ops that it puts right behind it are not visited. Uses
  // no recursion, so deep nesting is safe.
  void Walk(absl::FunctionRef<void(Op*)> fn) const;

  // The number of ops, nested ones included.
  size_t op_count() const;

  // What error messages call the text that the module was parsed from; empty when built in C++.
  const std::string& source_name() const { return source_name_; }
  void set_source_name(std::string name) { source_name_ = std::move(name); }

 private:
  friend class Block;
  friend class Op;
  friend class Region;
  Context context_;
  Region top_;
  Block body_;
  absl::string_view name_;
  absl::Span<const NamedAttribute> attributes_;
  std::string source_name_;
};

// Equal up to the names of values and locations: the same ops in the same order, with equal
// attributes, types and regions.
bool Equal(const Module& a, const Module& b);

}  // namespace pjrt::ir

#endif  // PJRT_IR_MODULE_H_
