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

  // What is made of the template for so long an %x.
  Program MakeProgram(int64_t size, Donation donation = Donation::kNever) {
    ProgramInfo info = AddOneInfo(size, donation);
    info.parameters.push_back({MakeShapeWithDescendingLayout(S32, {1}), Donation::kNever, "", ""});
    auto program = std::make_shared<KernelProgram>(std::move(info), AddOneKernel(size));
    return Program(
        static_cast<const CommonPjRtLoadedExecutable*>(test_.Load(std::move(program)).release()));
  }
  void Add(SeenPrograms& seen, std::vector<PjRtBuffer*> arguments, const Program& program) {
    const auto key = template_->KeyOf(arguments, test_.client.get());
    ASSERT_TRUE(key.ok()) << key.status();
    seen.Add(*key, arguments, program);
  }
  const CommonPjRtLoadedExecutable* FindForAll(const SeenPrograms& seen,
                                               const std::vector<std::vector<PjRtBuffer*>>& lists) {
    auto* const client = static_cast<CommonPjRtClient*>(test_.client.get());
    std::vector<std::unique_ptr<ArgumentHolds>> holds;
    std::vector<ArgumentHolds*> launches;
    for (const std::vector<PjRtBuffer*>& arguments : lists) {
      holds.push_back(std::make_unique<ArgumentHolds>(client));
      launches.push_back(holds.back().get());
      for (PjRtBuffer* const buffer : arguments) {
        EXPECT_TRUE(launches.back()->Add({static_cast<CommonPjRtBuffer*>(buffer)}));
      }
    }
    return seen.FindForAll(launches);
  }
  const CommonPjRtLoadedExecutable* Find(const SeenPrograms& seen,
                                         std::vector<PjRtBuffer*> arguments) {
    return FindForAll(seen, {std::move(arguments)});
  }

  TestClient test_;
  std::shared_ptr<const ProgramTemplate> template_;
};

TEST_F(SeenProgramsTest, ArgumentsOfTheSameTypesAndDecidingValuesFindTheProgram) {
  SeenPrograms seen(*template_);
  const Program program = MakeProgram(3);
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
  Add(seen, {x.get(), two.get()}, MakeProgram(3));
  EXPECT_EQ(Find(seen, {longer.get(), two.get()}), nullptr);
  EXPECT_EQ(Find(seen, {x.get(), three.get()}), nullptr);
}

TEST_F(SeenProgramsTest, ArgumentsOfSeveralDevicesFindAProgramThatIsForAllOfThem) {
  SeenPrograms seen(*template_);
  const Program program = MakeProgram(3), other = MakeProgram(4);
  const auto x = test_.MakeIota(3), longer = test_.MakeIota(4), n = test_.Make({2});
  const std::vector<PjRtBuffer*> arguments = {x.get(), n.get()}, others = {longer.get(), n.get()};
  Add(seen, arguments, program);
  Add(seen, others, other);
  EXPECT_EQ(FindForAll(seen, {arguments, arguments}), program.get());
  EXPECT_EQ(FindForAll(seen, {others, others}), other.get());
  EXPECT_EQ(FindForAll(seen, {arguments, others}), nullptr);
}

TEST_F(SeenProgramsTest, AnArgumentOfAnotherSizeThanTheProgramTakesFindsNothing) {
  auto module = ir::ParseModule(R"(
    func.func @main(%x: tensor<?xi32>, %y: tensor<2xi32>) -> tensor<?xi32> {
      return %x : tensor<?xi32>
    })");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto prepared = PrepareProgram(PjRtProgram(*std::move(module)), ir::PassOptions());
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  template_ = prepared->program_template;
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), one = test_.Make({1}), two = test_.Make({1, 2});
  // %y isn't what decides: it may be of the wrong size when the program is made.
  const Program program = MakeProgram(3);
  Add(seen, {x.get(), two.get()}, program);
  EXPECT_EQ(Find(seen, {x.get(), two.get()}), nullptr);
  EXPECT_EQ(Find(seen, {x.get(), one.get()}), program.get());
}

TEST_F(SeenProgramsTest, AProgramForOtherSizesThanItIsAddedForIsNotAdded) {
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  Add(seen, {x.get(), n.get()}, MakeProgram(4));
  EXPECT_EQ(seen.first(), nullptr);
}

TEST_F(SeenProgramsTest, AProgramThatTakesOtherHoldsThanTheFirstIsNotAdded) {
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), longer = test_.MakeIota(4), n = test_.Make({2});
  const Program first = MakeProgram(3);
  const Program second = MakeProgram(4, Donation::kMay);
  EXPECT_FALSE(first->IsLaunchedLike(*second));
  EXPECT_TRUE(first->IsLaunchedLike(*MakeProgram(4)));
  Add(seen, {x.get(), n.get()}, first);
  Add(seen, {longer.get(), n.get()}, second);
  EXPECT_EQ(Find(seen, {x.get(), n.get()}), first.get());
  EXPECT_EQ(Find(seen, {longer.get(), n.get()}), nullptr);
}

TEST_F(SeenProgramsTest, TheFirstAddedAndTheLastFoundAreToBeHad) {
  SeenPrograms seen(*template_);
  const Program one = MakeProgram(3), two = MakeProgram(4);
  const auto x = test_.MakeIota(3), longer = test_.MakeIota(4), n = test_.Make({2});
  EXPECT_EQ(seen.first(), nullptr);
  EXPECT_EQ(seen.last(), nullptr);
  Add(seen, {x.get(), n.get()}, one);
  Add(seen, {longer.get(), n.get()}, two);
  EXPECT_EQ(seen.first(), one.get());
  EXPECT_EQ(seen.last(), nullptr);
  EXPECT_EQ(Find(seen, {longer.get(), n.get()}), two.get());
  EXPECT_EQ(seen.last(), two);
  EXPECT_EQ(seen.first(), one.get());
}

TEST_F(SeenProgramsTest, DecidingValuesThatAreNotThereYetFindNothing) {
  SeenPrograms seen(*template_);
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  Add(seen, {x.get(), n.get()}, MakeProgram(3));
  Promise<> promise;
  const auto pending = test_.MakePending({2}, &promise);
  EXPECT_EQ(Find(seen, {x.get(), pending.get()}), nullptr);
  promise.Set();
  EXPECT_NE(Find(seen, {x.get(), pending.get()}), nullptr);
}

TEST_F(SeenProgramsTest, WhatIsThereIsNotReplaced) {
  SeenPrograms seen(*template_);
  const Program first = MakeProgram(3), second = MakeProgram(3);
  const auto x = test_.MakeIota(3), n = test_.Make({2});
  Add(seen, {x.get(), n.get()}, first);
  Add(seen, {x.get(), n.get()}, second);
  EXPECT_EQ(Find(seen, {x.get(), n.get()}), first.get());
}

TEST_F(SeenProgramsTest, HoldsNoMoreProgramsThanItSays) {
  SeenPrograms seen(*template_);
  const auto n = test_.Make({2});
  std::vector<std::unique_ptr<PjRtBuffer>> xs;
  for (int64_t size = 1; size <= 3 * int64_t{SeenPrograms::kMaxPrograms}; ++size) {
    xs.push_back(test_.MakeIota(size));
    Add(seen, {xs.back().get(), n.get()}, MakeProgram(size));
  }
  size_t found = 0;
  for (const auto& x : xs) found += Find(seen, {x.get(), n.get()}) != nullptr;
  EXPECT_GT(found, SeenPrograms::kMaxPrograms / 4);
  EXPECT_LE(found, SeenPrograms::kMaxPrograms);
}

TEST_F(SeenProgramsTest, MayBeAskedWhileItGrows) {
  SeenPrograms seen(*template_);
  const auto n = test_.Make({2});
  std::vector<std::unique_ptr<PjRtBuffer>> xs;
  std::vector<Program> programs;
  for (int64_t size = 1; size <= 12; ++size) {
    xs.push_back(test_.MakeIota(size));
    programs.push_back(MakeProgram(size));
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < xs.size(); ++i) {
        const size_t k = (i + 4 * t) % xs.size();
        PjRtBuffer* const x = xs[k].get();
        if (Find(seen, {x, n.get()}) == nullptr) Add(seen, {x, n.get()}, programs[k]);
        const CommonPjRtLoadedExecutable* const found = Find(seen, {x, n.get()});
        EXPECT_TRUE(found == nullptr || found == programs[k].get());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace pjrt::testing
