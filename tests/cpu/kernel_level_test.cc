// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/kernel_level.h"

#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {
namespace {

using testing::HasSubstr;

TEST(KernelLevelTest, TheFirstLevelRunsOnEveryMachine) {
  ASSERT_FALSE(AllKernels().empty());
  EXPECT_TRUE(AllKernels().front()->supported());
}

TEST(KernelLevelTest, ALevelHasItsTablesExactlyWhereTheMachineSupportsIt) {
  for (const Kernels* level : AllKernels()) {
    EXPECT_EQ(level->block != nullptr, level->supported()) << level->name;
    if (level->block != nullptr) {
      EXPECT_STREQ(level->block->level, level->name);
    }
  }
}

TEST(KernelLevelTest, WithoutANameTheWidestSupportedLevelIsChosen) {
  const Kernels* widest = nullptr;
  for (const Kernels* level : AllKernels()) {
    if (level->supported()) widest = level;
  }
  const auto chosen = ChooseKernels();
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_EQ(*chosen, widest);
}

TEST(KernelLevelTest, ALevelIsChosenByNameOrRefusedWithWhatItNeeds) {
  for (const Kernels* level : AllKernels()) {
    const auto chosen = ChooseKernels(level->name);
    if (level->supported()) {
      ASSERT_TRUE(chosen.ok()) << chosen.status();
      EXPECT_EQ(*chosen, level);
    } else {
      EXPECT_EQ(chosen.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(chosen.status().message()), HasSubstr(level->required));
    }
  }
}

TEST(KernelLevelTest, AnUnknownNameIsAnsweredWithTheNamesThatExist) {
  const auto chosen = ChooseKernels("avx10");
  EXPECT_EQ(chosen.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("[PJRT-C001]"));
  for (const Kernels* level : AllKernels()) {
    EXPECT_THAT(std::string(chosen.status().message()), HasSubstr(level->name));
  }
}

}  // namespace
}  // namespace pjrt::cpu
