// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/module.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ir/ir_test_util.h"
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

// func.func @main(%arg0: f32) { %0 = add; while with regions; return }
class ModuleTest : public testing::Test {
 protected:
  ModuleTest() {
    scalar_ = context().Tensor({}, F32);
    pred_ = context().Tensor({}, PRED);
    function_ = module_.AddFunction("main", context().Function({scalar_}, {scalar_}));
    argument_ = body()->argument(0);
    add_ = AddOp(body(), "stablehlo.add", {argument_, argument_}, {scalar_});
    loop_ = AddOp(body(), "stablehlo.while", {add_->result()}, {scalar_}, {}, 2);
    condition_ = AddBlock(loop_->region(0), {scalar_});
    Op* less =
        AddOp(condition_, "stablehlo.compare", {condition_->argument(0), argument_}, {pred_},
              {{"comparison_direction", context().Enum("stablehlo.comparison_direction", "LT")}});
    AddOp(condition_, "stablehlo.return", {less->result()}, {});
    loop_body_ = AddBlock(loop_->region(1), {scalar_});
    AddOp(loop_body_, "stablehlo.return", {loop_body_->argument(0)}, {});
    return_ = AddOp(body(), "func.return", {loop_->result()}, {});
  }

  Context& context() { return module_.context(); }
  Block* body() { return function_.body(); }

  static std::vector<std::string> Names(const Module& module) {
    std::vector<std::string> names;
    module.Walk([&names](Op* op) { names.emplace_back(op->name()); });
    return names;
  }

  Module module_;
  Type scalar_, pred_;
  Function function_;
  Value* argument_;
  Op* add_;
  Op* loop_;
  Block* condition_;
  Block* loop_body_;
  Op* return_;
};

TEST_F(ModuleTest, WalkVisitsAnOpBeforeWhatIsInside) {
  EXPECT_EQ(Names(module_),
            (std::vector<std::string>{"func.func", "stablehlo.add", "stablehlo.while",
                                      "stablehlo.compare", "stablehlo.return", "stablehlo.return",
                                      "func.return"}));
  EXPECT_EQ(module_.op_count(), 7u);
}

TEST_F(ModuleTest, OpsKnowTheirSurroundings) {
  EXPECT_EQ(add_->opcode(), OpCode::kAdd);
  EXPECT_EQ(add_->parent(), function_.op());
  EXPECT_EQ(add_->next(), loop_);
  EXPECT_EQ(loop_->prev(), add_);
  EXPECT_EQ(add_->prev(), nullptr);
  EXPECT_EQ(function_.op()->parent(), nullptr);
  EXPECT_EQ(condition_->parent_op(), loop_);
  EXPECT_EQ(condition_->parent(), loop_->region(0));
  EXPECT_EQ(condition_->front()->parent(), loop_);
  EXPECT_EQ(condition_->terminator(), condition_->back());
  EXPECT_EQ(body()->terminator(), return_);
  EXPECT_EQ(module_.body()->terminator(), nullptr);
  EXPECT_EQ(argument_->argument_of(), body());
  EXPECT_EQ(argument_->block(), body());
  EXPECT_EQ(add_->result()->defining_op(), add_);
  EXPECT_EQ(add_->result()->block(), body());
}

TEST(EntryFunctionTest, IsMainOrTheOnlyOneThatIsNotPrivate) {
  const auto entry = [](absl::string_view text) {
    const std::unique_ptr<Module> module = MustParse(text);
    const Function function = module->EntryFunction();
    return function ? std::string(function.name()) : "";
  };
  const std::string f = "func.func @f() { return }\n", g = "func.func @g() { return }\n";
  const std::string p = "func.func private @p() { return }\n";
  const std::string q = "func.func private @q() { return }\n";
  EXPECT_EQ(entry(f + g + "func.func private @main() { return }"), "main");
  EXPECT_EQ(entry(f), "f");
  EXPECT_EQ(entry(p), "p");
  EXPECT_EQ(entry(f + p + q), "f");
  EXPECT_EQ(entry(p + q + f), "f");
  EXPECT_EQ(entry(p + f + q), "f");
  EXPECT_EQ(entry(f + g), "");
  EXPECT_EQ(entry(f + g + p), "");
  EXPECT_EQ(entry(p + f + g), "");
  EXPECT_EQ(entry(p + q), "");
}

TEST_F(ModuleTest, OpsOfUnknownDialectsKeepTheirName) {
  Op* op = AddOp(body(), "foo.bar", {}, {});
  EXPECT_EQ(op->opcode(), OpCode::kUnknown);
  EXPECT_EQ(op->name(), "foo.bar");
  EXPECT_FALSE(op->IsTerminator());
}

TEST_F(ModuleTest, UsesFormAListThatFollowsEveryChange) {
  const auto count = [](const Value* value) {
    int n = 0;
    for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
      EXPECT_EQ(use->value(), value);
      EXPECT_EQ(use->owner()->operand(use->operand_index()), value);
      ++n;
    }
    return n;
  };
  EXPECT_EQ(count(argument_), 3);
  EXPECT_TRUE(add_->result()->HasOneUse());
  add_->set_operand(1, condition_->argument(0));
  EXPECT_EQ(count(argument_), 2);
  EXPECT_EQ(count(condition_->argument(0)), 2);
  add_->result()->ReplaceAllUsesWith(argument_);
  EXPECT_FALSE(add_->result()->has_uses());
  EXPECT_FALSE(add_->HasResultUses());
  EXPECT_EQ(count(argument_), 3);
  EXPECT_EQ(loop_->operand(0), argument_);
  argument_->ReplaceAllUsesWith(argument_);
  EXPECT_EQ(count(argument_), 3);
}

TEST_F(ModuleTest, OperandsMayBeSetLater) {
  Op* op = AddOp(body(), "stablehlo.negate", {nullptr}, {scalar_}, {}, 0, return_);
  EXPECT_EQ(op->operand(0), nullptr);
  op->set_operand(0, argument_);
  EXPECT_EQ(op->operand(0), argument_);
  EXPECT_EQ(argument_->first_use()->owner(), op);
  op->set_operand(0, nullptr);
  EXPECT_NE(argument_->first_use()->owner(), op);
}

TEST_F(ModuleTest, EraseDropsTheUsesOfWhatIsInside) {
  return_->set_operand(0, argument_);
  Op* nested = condition_->front();
  loop_->Erase();
  EXPECT_TRUE(loop_->IsErased());
  EXPECT_TRUE(nested->IsErased());
  EXPECT_FALSE(add_->HasResultUses());
  EXPECT_EQ(add_->next(), return_);
  EXPECT_EQ(return_->prev(), add_);
  EXPECT_EQ(module_.op_count(), 3u) << "function, add, return";
  EXPECT_TRUE(argument_->HasOneUse() == false);
  return_->Erase();
  add_->Erase();
  EXPECT_TRUE(body()->empty());
  EXPECT_FALSE(argument_->has_uses());
}

TEST_F(ModuleTest, WalkGoesOnWhenTheOpAtHandIsErased) {
  return_->set_operand(0, argument_);
  std::vector<std::string> visited;
  module_.Walk([&](Op* op) {
    visited.emplace_back(op->name());
    if (op == loop_) op->Erase();
  });
  EXPECT_EQ(visited, (std::vector<std::string>{"func.func", "stablehlo.add", "stablehlo.while",
                                               "func.return"}));
}

TEST_F(ModuleTest, BlocksMayBeChangedWhileTheyAreIterated) {
  std::vector<Op*> seen;
  for (Op* op : *body()) {
    seen.push_back(op);
    if (op == loop_) op->MoveBefore(add_);
  }
  EXPECT_EQ(seen, (std::vector<Op*>{add_, loop_, return_}));
  EXPECT_EQ(body()->front(), loop_);
  EXPECT_EQ(loop_->next(), add_);
  EXPECT_EQ(add_->next(), return_);
}

TEST_F(ModuleTest, MoveBeforeCrossesBlocks) {
  add_->MoveBefore(condition_->back());
  EXPECT_EQ(add_->block(), condition_);
  EXPECT_EQ(condition_->back()->prev(), add_);
  EXPECT_EQ(body()->front(), loop_);
  add_->MoveBefore(add_);
  EXPECT_EQ(add_->block(), condition_);
}

TEST_F(ModuleTest, AppendInsertsBeforeAnOp) {
  Op* op = AddOp(body(), "stablehlo.negate", {argument_}, {scalar_}, {}, 0, add_);
  EXPECT_EQ(body()->front(), op);
  EXPECT_EQ(op->next(), add_);
  EXPECT_EQ(add_->prev(), op);
}

TEST_F(ModuleTest, AttributesAreSortedSetAndRemoved) {
  Op* op = AddOp(body(), "foo.bar", {}, {},
                 {{"b", context().I64(1)}, {"a", context().Bool(true)}, {"b", context().I64(2)}});
  ASSERT_EQ(op->attributes().size(), 2u);
  EXPECT_EQ(op->attributes()[0].name, "a");
  EXPECT_EQ(op->IntAttr("b"), 2);
  op->SetAttr("aa", context().String("x"));
  op->SetAttr("b", context().I64Array({3, 4}));
  ASSERT_EQ(op->attributes().size(), 3u);
  EXPECT_EQ(op->attributes()[1].name, "aa");
  EXPECT_EQ(op->StringAttr("aa"), "x");
  EXPECT_EQ(op->IntsAttr("b"), (absl::InlinedVector<int64_t, 6>{3, 4}));
  op->RemoveAttr("a");
  op->RemoveAttr("none");
  EXPECT_EQ(op->attributes().size(), 2u);
  EXPECT_FALSE(op->HasAttr("a"));
}

TEST_F(ModuleTest, AbsentAttributesGiveTheOtherValue) {
  EXPECT_EQ(add_->IntAttr("x", 5), 5);
  EXPECT_TRUE(add_->BoolAttr("x", true));
  EXPECT_EQ(add_->StringAttr("x", "y"), "y");
  EXPECT_TRUE(add_->IntsAttr("x").empty());
  add_->SetAttr("x", context().String("text"));
  EXPECT_EQ(add_->IntAttr("x", 5), 5) << "of another kind";
}

TEST_F(ModuleTest, BlockArgumentsAreAddedAndErased) {
  Block* block = AddBlock(loop_->region(0), {});
  for (int i = 0; i < 9; ++i) block->AddArgument(context().Tensor({i}, F32));
  block->EraseArgument(0);
  block->EraseArgument(7);
  ASSERT_EQ(block->num_arguments(), 7u);
  for (unsigned i = 0; i < 7; ++i) {
    EXPECT_EQ(block->argument(i)->index(), i);
    EXPECT_EQ(block->argument(i)->type().dim(0), i + 1);
  }
}

TEST_F(ModuleTest, RegionsListTheirBlocks) {
  Region* region = loop_->region(0);
  EXPECT_EQ(region->num_blocks(), 1u);
  Block* second = region->AddBlock();
  EXPECT_EQ(region->num_blocks(), 2u);
  EXPECT_EQ(region->block(0), condition_);
  EXPECT_EQ(region->block(1), second);
  EXPECT_EQ(region->block(2), nullptr);
  EXPECT_EQ(condition_->next(), second);
  EXPECT_EQ(region->parent(), loop_);
}

TEST_F(ModuleTest, TheEntryIsMainOrTheOnlyFunction) {
  EXPECT_EQ(module_.EntryFunction().op(), function_.op());
  module_.AddFunction("other", context().Function({}, {}), /*is_private=*/true);
  EXPECT_EQ(module_.EntryFunction().op(), function_.op());
  EXPECT_TRUE(module_.FindFunction("other").IsPrivate());
  EXPECT_FALSE(module_.FindFunction("none"));

  Module only;
  EXPECT_FALSE(only.EntryFunction());
  only.AddFunction("f", only.context().Function({}, {}));
  EXPECT_EQ(only.EntryFunction().name(), "f");
  only.AddFunction("g", only.context().Function({}, {}));
  EXPECT_FALSE(only.EntryFunction());
}

TEST_F(ModuleTest, FunctionsShowTheAttributesOfArgumentsAndResults) {
  Context& c = context();
  EXPECT_FALSE(function_.arg_attrs(0));
  function_.op()->SetAttr("arg_attrs", c.Array({c.Dict({{"jax.buffer_donor", c.Bool(true)}})}));
  function_.op()->SetAttr("res_attrs", c.Array({c.Dict({})}));
  EXPECT_EQ(function_.ArgAttr(0, "jax.buffer_donor"), c.Bool(true));
  EXPECT_FALSE(function_.ArgAttr(0, "x"));
  EXPECT_FALSE(function_.ArgAttr(1, "jax.buffer_donor"));
  EXPECT_FALSE(function_.result_attrs(0)) << "an empty dictionary is none";
  EXPECT_EQ(function_.type(), c.Function({scalar_}, {scalar_}));
  EXPECT_EQ(function_.name(), "main");
}

TEST_F(ModuleTest, ModuleAttributesAreSet) {
  module_.SetAttr("mhlo.num_replicas", context().I32(2));
  module_.SetAttr("a", context().Unit());
  module_.SetAttr("a", context().Bool(true));
  ASSERT_EQ(module_.attributes().size(), 2u);
  EXPECT_EQ(module_.attr("a"), context().Bool(true));
  EXPECT_FALSE(module_.attr("b"));
}

TEST(ModuleScaleTest, DeepNestingNeedsNoStack) {
  Module module;
  Op* op = AddOp(module.body(), "a.b", {}, {}, {}, 1);
  Op* const top = op;
  for (int i = 0; i < 100000; ++i) op = AddOp(AddBlock(op->region(), {}), "a.b", {}, {}, {}, 1);
  EXPECT_EQ(module.op_count(), 100001u);
  const std::unique_ptr<Module> clone = module.Clone();
  EXPECT_TRUE(Equal(module, *clone));
  top->Erase();
  EXPECT_EQ(module.op_count(), 0u);
  EXPECT_FALSE(Equal(module, *clone));
}

TEST(ModuleScaleTest, MemoryHoldsManyOpsAndLargeConstants) {
  Module module;
  Context& c = module.context();
  const Type type = c.Tensor({}, F32);
  Function f = module.AddFunction("main", c.Function({type}, {type}));
  Value* value = f.body()->argument(0);
  for (int i = 0; i < 100000; ++i) {
    value = AddOp(f.body(), "stablehlo.add", {value, value}, {type})->result();
  }
  std::vector<char> bytes(1 << 22);
  bytes[17] = 1;
  const Attribute large = c.Dense(c.Tensor({1 << 22}, S8), bytes);
  EXPECT_EQ(large.raw_data()[17], 1);
  EXPECT_EQ(large.raw_data().size(), bytes.size());
  EXPECT_EQ(module.op_count(), 100001u);
  EXPECT_EQ(f.body()->argument(0)->first_use()->owner(), f.body()->front());
}

}  // namespace
}  // namespace pjrt::ir
