// SPDX-License-Identifier: Apache-2.0
//
// Copies of programs, and when two programs are equal.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/printer.h"
#include "tests/ir/ir_test_util.h"

namespace pjrt::ir {
namespace {

// A function with a reduction whose body captures a value from outside, and whatever `change` does
// to it.
std::unique_ptr<Module> Make(const std::function<void(Module*, Op* reduce)>& change = {}) {
  auto module = std::make_unique<Module>();
  Context& c = module->context();
  const Type vector = c.Tensor({4}, F32);
  const Type scalar = c.Tensor({}, F32);
  module->set_name("m");
  module->set_source_name("file.mlir");
  module->SetAttr("mhlo.num_replicas", c.I32(1));
  Function f = module->AddFunction("main", c.Function({vector, scalar}, {scalar}));
  Op* negate = AddOp(f.body(), "stablehlo.negate", {f.body()->argument(1)}, {scalar});
  Op* reduce = AddOp(f.body(), "stablehlo.reduce", {f.body()->argument(0), f.body()->argument(1)},
                     {scalar}, {{"dimensions", c.I64Array({0})}}, 1);
  Block* body = AddBlock(reduce->region(), {scalar, scalar});
  Op* add = AddOp(body, "stablehlo.add", {body->argument(0), body->argument(1)}, {scalar});
  Op* more = AddOp(body, "stablehlo.add", {add->result(), negate->result()}, {scalar});
  AddOp(body, "stablehlo.return", {more->result()}, {});
  AddOp(f.body(), "func.return", {reduce->result()}, {});
  if (change) change(module.get(), reduce);
  return module;
}

TEST(EqualTest, ProgramsBuiltAlikeAreEqual) {
  EXPECT_TRUE(Equal(*Make(), *Make()));
  EXPECT_TRUE(Equal(Module(), Module()));
  EXPECT_FALSE(Equal(*Make(), Module()));
}

TEST(EqualTest, LocationsSourceNamesAndScratchDoNotCount) {
  EXPECT_TRUE(Equal(*Make(), *Make([](Module* m, Op* reduce) {
    reduce->set_location({3, 4, m->context().Location("loc(\"x\")")});
    reduce->region()->block()->argument(0)->set_location(m->context().Location("loc(\"y\")"));
    m->set_source_name("elsewhere");
    reduce->scratch = 3;
  })));
}

TEST(EqualTest, EveryOtherDifferenceCounts) {
  const std::function<void(Module*, Op*)> changes[] = {
      [](Module* m, Op*) { m->set_name("n"); },
      [](Module* m, Op*) { m->SetAttr("mhlo.num_replicas", m->context().I32(2)); },
      [](Module* m, Op*) { m->SetAttr("x", m->context().Unit()); },
      [](Module* m, Op* reduce) { reduce->SetAttr("dimensions", m->context().I64Array({1})); },
      [](Module*, Op* reduce) { reduce->RemoveAttr("dimensions"); },
      [](Module*, Op* reduce) { reduce->set_operand(0, reduce->operand(1)); },
      [](Module* m, Op* reduce) { reduce->result()->set_type(m->context().Tensor({}, F64)); },
      [](Module* m, Op* reduce) {
        reduce->region()->block()->argument(0)->set_type(m->context().Tensor({}, F64));
      },
      [](Module* m, Op* reduce) { reduce->region()->block()->AddArgument(m->context().I1()); },
      [](Module*, Op* reduce) { reduce->region()->AddBlock(); },
      [](Module*, Op* reduce) {
        Block* body = reduce->region()->block();
        body->front()->set_operand(0, body->argument(1));
      },
      [](Module*, Op* reduce) { AddOp(reduce->region()->block(), "stablehlo.return", {}, {}); },
      [](Module*, Op* reduce) { reduce->region()->block()->back()->Erase(); },
      [](Module*, Op* reduce) { reduce->prev()->MoveBefore(reduce->next()); },
  };
  int i = 0;
  for (const auto& change : changes)
    EXPECT_FALSE(Equal(*Make(), *Make(change))) << "change " << i++;
}

TEST(EqualTest, ValuesThatAreSwappedDiffer) {
  const auto make = [](bool swap) {
    auto m = std::make_unique<Module>();
    const Type t = m->context().Tensor({}, F32);
    Function f = m->AddFunction("main", m->context().Function({t, t}, {t, t}));
    Block* b = f.body();
    AddOp(b, "func.return", {b->argument(swap ? 1 : 0), b->argument(swap ? 0 : 1)}, {});
    return m;
  };
  EXPECT_TRUE(Equal(*make(true), *make(true)));
  EXPECT_FALSE(Equal(*make(true), *make(false)));
}

TEST(EqualTest, LargeConstantsAreComparedByTheirBytes) {
  const auto make = [](int64_t last) {
    auto m = std::make_unique<Module>();
    std::vector<int64_t> values(100, 1);
    values.back() = last;
    const Type t = m->context().Tensor({100}, S64);
    AddOp(m->body(), "stablehlo.constant", {}, {t},
          {{"value", m->context().DenseI64({100}, values)}});
    return m;
  };
  EXPECT_TRUE(Equal(*make(2), *make(2)));
  EXPECT_FALSE(Equal(*make(2), *make(3)));
}

TEST(CloneTest, AModulesCloneIsEqualAndSharesNothing) {
  std::unique_ptr<Module> module = Make();
  const std::string text = PrintModule(*module);
  const std::unique_ptr<Module> clone = module->Clone();
  EXPECT_TRUE(Equal(*module, *clone));
  EXPECT_EQ(clone->source_name(), "file.mlir");
  module.reset();
  EXPECT_EQ(PrintModule(*clone), text);
}

TEST(CloneTest, LocationsAreCopied) {
  const std::unique_ptr<Module> module = Make([](Module* m, Op* reduce) {
    reduce->set_location({3, 4, m->context().Location("loc(\"x\")")});
  });
  const std::unique_ptr<Module> clone = module->Clone();
  const Op* reduce = clone->FindFunction("main").body()->front()->next();
  EXPECT_EQ(reduce->location().line, 3u);
  EXPECT_EQ(reduce->location().column, 4u);
  EXPECT_EQ(reduce->location().attr.text(), "loc(\"x\")");
}

TEST(CloneTest, ValuesFromOutsideAreMapped) {
  const std::unique_ptr<Module> module = Make();
  Block* body = module->FindFunction("main").body();
  Op* negate = body->front();
  Op* reduce = negate->next();
  std::vector<Value*> asked;
  Op* copy = module->CloneOp(
      reduce, body,
      [&](Value* value) -> Value* {
        asked.push_back(value);
        return value == body->argument(0) ? nullptr : body->argument(1);
      },
      reduce);
  EXPECT_EQ(copy->next(), reduce);
  EXPECT_EQ(copy->operand(0), body->argument(0)) << "null keeps the value";
  EXPECT_EQ(copy->operand(1), body->argument(1));
  EXPECT_EQ(asked, (std::vector<Value*>{body->argument(0), body->argument(1), negate->result()}));
  Block* inner = copy->region()->block();
  EXPECT_EQ(inner->front()->operand(0), inner->argument(0))
      << "values from inside are those of the copy";
  EXPECT_EQ(inner->front()->next()->operand(1), body->argument(1));
  EXPECT_TRUE(reduce->HasResultUses());
  EXPECT_FALSE(copy->HasResultUses());
}

TEST(CloneTest, OpsGoToOtherModulesWithTheirTypes) {
  const std::unique_ptr<Module> module = Make();
  Op* function = module->FindFunction("main").op();
  Module other;
  other.CloneOp(function, other.body(), [](Value*) -> Value* { return nullptr; });
  other.set_name("m");
  other.SetAttr("mhlo.num_replicas", other.context().I32(1));
  EXPECT_TRUE(Equal(*module, other));
  EXPECT_EQ(
      other.FindFunction("main").type(),
      other.context().Function({other.context().Tensor({4}, F32), other.context().Tensor({}, F32)},
                               {other.context().Tensor({}, F32)}));
}

}  // namespace
}  // namespace pjrt::ir
