// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/plan_builder.h"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pjrt::cpu {
namespace {

class NoStep final : public Step {
 public:
  absl::Status Run(const RunContext&) const override { return absl::OkStatus(); }
  std::string Describe() const override { return "nothing"; }
  double cost_ns() const override { return 0; }
};

void Emit(PlanBuilder& builder, Steps* steps, std::vector<BufferId> reads,
          std::vector<BufferId> writes, std::vector<PlanBuilder::Share> shares = {}) {
  builder.Emit(steps, std::make_unique<NoStep>(), reads, writes, shares);
}

struct Life {
  BufferId id;
  int64_t bytes;
  int first, last;  // steps, counted
};

bool Overlap(const Plan& plan, const Life& a, const Life& b) {
  const int64_t x = plan.buffers[a.id].offset, y = plan.buffers[b.id].offset;
  return x < y + b.bytes && y < x + a.bytes;
}

TEST(PlanBuilderTest, LiveBuffersNeverOverlap) {
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return random() % n; };
  for (int round = 0; round < 200; ++round) {
    PlanBuilder builder;
    Steps steps;
    std::vector<Life> lives;
    const int count = 2 + static_cast<int>(below(60));
    for (int s = 0; s < count; ++s) {
      std::vector<BufferId> reads;
      for (size_t r = below(4); r > 0 && !lives.empty(); --r) {
        Life& life = lives[lives.size() - 1 - below(std::min<size_t>(lives.size(), 10))];
        reads.push_back(life.id);
        life.last = s;
      }
      std::vector<BufferId> writes;
      for (size_t w = 1 + below(2); w > 0; --w) {
        const int64_t bytes =
            static_cast<int64_t>(below(3) == 0 ? below(5000) + 1 : 64 * (1 + below(8)));
        lives.push_back({builder.NewBuffer(bytes), bytes, s, s});
        writes.push_back(lives.back().id);
      }
      Emit(builder, &steps, reads, writes);
    }
    const Plan plan = builder.Finish();
    for (size_t i = 0; i < lives.size(); ++i) {
      EXPECT_EQ(plan.buffers[lives[i].id].offset % 64, 0);
      EXPECT_LE(plan.buffers[lives[i].id].offset + lives[i].bytes, plan.arena_bytes);
      for (size_t j = 0; j < i; ++j) {
        if (lives[i].first > lives[j].last || lives[j].first > lives[i].last) continue;
        ASSERT_FALSE(Overlap(plan, lives[i], lives[j]))
            << "round " << round << ": buffers " << lives[i].id << " and " << lives[j].id;
      }
    }
  }
}

TEST(PlanBuilderTest, AChainTakesTwoBuffersAtMost) {
  PlanBuilder builder;
  Steps steps;
  BufferId last = builder.NewBuffer(1000);
  Emit(builder, &steps, {}, {last});
  for (int i = 0; i < 20; ++i) {
    const BufferId next = builder.NewBuffer(1000);
    Emit(builder, &steps, {last}, {next});
    last = next;
  }
  EXPECT_EQ(builder.Finish().arena_bytes, 2 * 1024);
}

TEST(PlanBuilderTest, AResultTakesOverTheMemoryOfADyingOperandWhereItMay) {
  for (bool dies : {true, false}) {
    PlanBuilder builder;
    Steps steps;
    const BufferId a = builder.NewBuffer(256), b = builder.NewBuffer(256);
    Emit(builder, &steps, {}, {a});
    Emit(builder, &steps, {a}, {b}, {{b, a}});
    if (!dies) Emit(builder, &steps, {a, b}, {});
    const Plan plan = builder.Finish();
    EXPECT_EQ(plan.buffers[a].offset == plan.buffers[b].offset, dies);
  }
}

TEST(PlanBuilderTest, AResultDoesNotTakeOverWhatItIsMadeOfPartsOf) {
  for (bool reads_part : {true, false}) {
    PlanBuilder builder;
    Steps steps;
    const BufferId a = builder.NewBuffer(256);
    Emit(builder, &steps, {}, {a});
    const BufferId part = builder.NewPart(a, 128), inner = builder.NewPart(part, 64);
    EXPECT_TRUE(builder.IsPartOf(inner, a));
    EXPECT_FALSE(builder.IsPartOf(a, a));
    Emit(builder, &steps, {a}, {part});
    Emit(builder, &steps, {part}, {inner});
    const BufferId b = builder.NewBuffer(256);
    Emit(builder, &steps, {a, reads_part ? inner : a}, {b}, {{b, a}});
    const Plan plan = builder.Finish();
    EXPECT_EQ(plan.buffers[a].offset != plan.buffers[b].offset, reads_part);
  }
}

TEST(PlanBuilderTest, TwoResultsDoNotTakeOverOneOperand) {
  PlanBuilder builder;
  Steps steps;
  const BufferId a = builder.NewBuffer(256), b = builder.NewBuffer(256), c = builder.NewBuffer(256);
  Emit(builder, &steps, {}, {a});
  Emit(builder, &steps, {a}, {b, c}, {{b, a}, {c, a}});
  Emit(builder, &steps, {b, c}, {});
  const Plan plan = builder.Finish();
  EXPECT_NE(plan.buffers[b].offset, plan.buffers[c].offset);
}

TEST(PlanBuilderTest, WhatALoopReadsLivesAsLongAsTheLoop) {
  PlanBuilder builder;
  Steps steps, body;
  const BufferId outside = builder.NewBuffer(128), early = builder.NewBuffer(128),
                 late = builder.NewBuffer(128);
  Emit(builder, &steps, {}, {outside});
  const int32_t begin = builder.position();
  Emit(builder, &body, {outside}, {early});
  Emit(builder, &body, {early},
       {late});  // would fit into `outside`, which the next iteration needs
  builder.ExtendOverLoop(begin);
  Emit(builder, &steps, {}, {});
  const Plan plan = builder.Finish();
  EXPECT_NE(plan.buffers[outside].offset, plan.buffers[early].offset);
  EXPECT_NE(plan.buffers[outside].offset, plan.buffers[late].offset);
}

TEST(PlanBuilderTest, MergedBuffersShareAPlaceUnlessTheOldValueIsStillRead) {
  for (bool read_later : {false, true}) {
    PlanBuilder builder;
    Steps steps;
    const BufferId carried = builder.NewBuffer(64), next = builder.NewBuffer(64),
                   other = builder.NewBuffer(64);
    Emit(builder, &steps, {}, {carried});
    const int32_t begin = builder.position();
    if (!read_later) Emit(builder, &steps, {carried}, {other});
    Emit(builder, &steps, {}, {next});
    if (read_later) Emit(builder, &steps, {carried}, {other});
    EXPECT_EQ(builder.TryMerge(next, carried, begin), !read_later);
    Emit(builder, &steps, {carried, other}, {});
    const Plan plan = builder.Finish();
    EXPECT_EQ(plan.buffers[next].offset == plan.buffers[carried].offset, !read_later);
    EXPECT_NE(plan.buffers[other].offset, plan.buffers[carried].offset);
  }
}

TEST(PlanBuilderTest, AMergedBufferIsWrittenAsEarlyAsItsParts) {
  // part is merged into whole; carried is read after part is made, so whole may not go where
  // carried is.
  PlanBuilder builder;
  Steps steps;
  const BufferId carried = builder.NewBuffer(64), part = builder.NewBuffer(64),
                 whole = builder.NewBuffer(64), other = builder.NewBuffer(64);
  Emit(builder, &steps, {}, {carried});
  const int32_t begin = builder.position();
  Emit(builder, &steps, {}, {part});
  Emit(builder, &steps, {carried}, {other});
  EXPECT_TRUE(builder.TryMerge(part, whole, begin));
  Emit(builder, &steps, {}, {whole, other});
  EXPECT_FALSE(builder.TryMerge(whole, carried, begin));
}

TEST(PlanBuilderTest, AValueChangedInSeveralStepsStaysInTheCarriedPlace) {
  // carried -> first -> second, each written over what it is made of where that dies.
  for (bool first_is_used : {false, true}) {
    PlanBuilder builder;
    Steps steps;
    const BufferId carried = builder.NewBuffer(64), first = builder.NewBuffer(64),
                   second = builder.NewBuffer(64);
    Emit(builder, &steps, {}, {carried});
    const int32_t begin = builder.position();
    Emit(builder, &steps, {carried}, {first}, {{first, carried}});
    Emit(builder, &steps, {first}, {second}, {{second, first}});
    if (first_is_used) builder.Touch(first);
    EXPECT_TRUE(builder.TryMerge(second, carried, begin));
    Emit(builder, &steps, {carried}, {});
    const Plan plan = builder.Finish();
    EXPECT_EQ(plan.buffers[second].offset, plan.buffers[carried].offset);
    EXPECT_EQ(plan.buffers[first].offset == plan.buffers[carried].offset, !first_is_used);
  }
}

TEST(PlanBuilderTest, AValueFromBeforeTheLoopKeepsItsOwnPlace) {
  PlanBuilder builder;
  Steps steps;
  const BufferId carried = builder.NewBuffer(64), outside = builder.NewBuffer(64),
                 next = builder.NewBuffer(64);
  Emit(builder, &steps, {}, {outside});
  Emit(builder, &steps, {}, {carried});
  const int32_t begin = builder.position();
  Emit(builder, &steps, {carried, outside}, {next}, {{next, outside}, {next, carried}});
  EXPECT_TRUE(builder.TryMerge(next, carried, begin));
  builder.ExtendOverLoop(begin);
  Emit(builder, &steps, {carried}, {});
  const Plan plan = builder.Finish();
  EXPECT_EQ(plan.buffers[next].offset, plan.buffers[carried].offset);
  EXPECT_NE(plan.buffers[outside].offset, plan.buffers[carried].offset);
}

TEST(PlanBuilderTest, EqualConstantsAreKeptOnce) {
  PlanBuilder builder;
  const std::vector<char> a(100, 1), b(100, 2);
  const BufferId first = builder.Constant(a), second = builder.Constant(b);
  EXPECT_EQ(builder.Constant(a), first);
  const Plan plan = builder.Finish();
  EXPECT_EQ(plan.buffers[first].kind, BufferPlace::kConstant);
  EXPECT_EQ(plan.constants.get()[plan.buffers[first].offset], 1);
  EXPECT_EQ(plan.constants.get()[plan.buffers[second].offset + 99], 2);
}

TEST(PlanBuilderTest, AResultMayLieOnAnArgumentThatIsReadBefore) {
  for (bool read_later : {false, true}) {
    PlanBuilder builder;
    Steps steps;
    const BufferId argument = builder.Argument(0, 64), middle = builder.NewBuffer(64),
                   result = builder.NewBuffer(64), other = builder.NewBuffer(64);
    Emit(builder, &steps, {argument}, {middle});
    Emit(builder, &steps, {middle}, {result});
    if (read_later) Emit(builder, &steps, {argument}, {other});
    EXPECT_TRUE(builder.PlaceInResult(result, 0));
    builder.Finish();
    EXPECT_EQ(builder.ResultMayAlias(0, 0), !read_later);
  }
}

}  // namespace
}  // namespace pjrt::cpu
