// SPDX-License-Identifier: Apache-2.0
//
// Recognising arguments of shapes that were seen before: which program they find, and which not.
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt/ir/parser.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/seen_programs.h"
#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using Program = std::shared_ptr<const CommonPjRtLoadedExecutable>;

// A template whose first argument has any size and whose second decides one.
constexpr char kText[] = R"(
  func.func @main(%x: tensor<?xi32>, %n: tensor<1xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
    %y = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
    return %x, %y : tensor<?xi32>, tensor<?xi32>
  })";

class SeenProgramsTest : public ::testing::Test {
 protected:
  SeenProgramsTest() {
    auto module = ir::ParseModule(kText);
    EXPECT_TRUE(module.ok()) << module.status();
    auto prepared = PrepareProgram(PjRtProgram(*std::move(module)), ir::PassOptions());
    EXPECT_TRUE(prepared.ok()) << prepared.status();
    template_ = prepared->program_template;
  }

  Program MakeProgram() {
    return Program(static_cast<const CommonPjRtLoadedExecutable*>(test_.Load(AddOne(1)).release()));
  }
  void Add(SeenPrograms& seen, std::vector<PjRtBuffer*> arguments, const Program& program) {
    const auto key = template_->KeyOf(arguments, test_.client.get());
    ASSERT_TRUE(key.ok()) << key.status();
    seen.Add(*key, arguments, program);
  }
  const CommonPjRtLoadedExecutable* Find(const SeenPrograms& seen,
                                         std::vector<PjRtBuffer*> arguments) {
    const SeenPrograms::Seen* const found = seen.Find(arguments, test_.client.get());
    return found == nullptr ? nullptr : found->program.get();
  }

  TestClient test_;
  std::shared_ptr<const ProgramTemplate> template_;
};

TEST_F(SeenProgramsTest, ArgumentsOfTheSameTypesAndDecidingValuesFindTheProgram) {
  SeenPrograms seen(*template_);
  const Program program = MakeProgram();
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  EXPECT_EQ(Find(seen, {x.get(), n.get()}), nullptr);
  Add(seen, {x.get(), n.get()}, program);
  const auto other = test_.Make({7, 8, 9}), same = test_.Make({2});
  EXPECT_EQ(Find(seen, {other.get(), same.get()}), program.get());
}

TEST_F(SeenProgramsTest, OtherSizesAndOtherDecidingValuesFindNothing) {
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), longer = test_.MakeIota(4);
  const auto two = test_.Make({2}), three = test_.Make({3});
  Add(seen, {x.get(), two.get()}, MakeProgram());
  EXPECT_EQ(Find(seen, {longer.get(), two.get()}), nullptr);
  EXPECT_EQ(Find(seen, {x.get(), three.get()}), nullptr);
}

TEST_F(SeenProgramsTest, ListsThatNoExecutionTakesFindNothing) {
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  Add(seen, {x.get(), n.get()}, MakeProgram());
  EXPECT_EQ(Find(seen, {}), nullptr);
  EXPECT_EQ(Find(seen, {x.get()}), nullptr);
  EXPECT_EQ(Find(seen, {nullptr, n.get()}), nullptr);
  EXPECT_EQ(Find(seen, {x.get(), nullptr}), nullptr);
  EXPECT_EQ(Find(seen, {x.get(), n.get(), n.get()}), nullptr);
}

TEST_F(SeenProgramsTest, DecidingValuesThatAreNotThereYetFindNothing) {
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  Add(seen, {x.get(), n.get()}, MakeProgram());
  Promise<> promise;
  const auto pending = test_.MakePending({2}, &promise);
  EXPECT_EQ(Find(seen, {x.get(), pending.get()}), nullptr);
  promise.Set();
  EXPECT_NE(Find(seen, {x.get(), pending.get()}), nullptr);
}

TEST_F(SeenProgramsTest, WhatIsThereIsNotReplaced) {
  SeenPrograms seen(*template_);
  const Program first = MakeProgram(), second = MakeProgram();
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  Add(seen, {x.get(), n.get()}, first);
  Add(seen, {x.get(), n.get()}, second);
  EXPECT_EQ(Find(seen, {x.get(), n.get()}), first.get());
}

TEST_F(SeenProgramsTest, HoldsNoMoreProgramsThanItSays) {
  SeenPrograms seen(*template_);
  const Program program = MakeProgram();
  const auto n = test_.Make({2});
  std::vector<std::unique_ptr<PjRtBuffer>> xs;
  for (size_t i = 0; i < 3 * SeenPrograms::kMaxPrograms; ++i) {
    xs.push_back(test_.MakeIota(static_cast<int64_t>(i) + 1));
    Add(seen, {xs.back().get(), n.get()}, program);
  }
  size_t found = 0;
  for (const auto& x : xs) found += Find(seen, {x.get(), n.get()}) != nullptr;
  EXPECT_GT(found, SeenPrograms::kMaxPrograms / 4);
  EXPECT_LE(found, SeenPrograms::kMaxPrograms);
}

TEST_F(SeenProgramsTest, MayBeAskedWhileItGrows) {
  SeenPrograms seen(*template_);
  const Program program = MakeProgram();
  const auto n = test_.Make({2});
  std::vector<std::unique_ptr<PjRtBuffer>> xs;
  for (int64_t size = 1; size <= 12; ++size) xs.push_back(test_.MakeIota(size));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < xs.size(); ++i) {
        PjRtBuffer* const x = xs[(i + 4 * t) % xs.size()].get();
        if (Find(seen, {x, n.get()}) == nullptr) Add(seen, {x, n.get()}, program);
        const CommonPjRtLoadedExecutable* const found = Find(seen, {x, n.get()});
        EXPECT_TRUE(found == nullptr || found == program.get());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pjrt::testing
