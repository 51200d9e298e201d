// SPDX-License-Identifier: Apache-2.0
//
// Arguments that are given up to the program.
#include <thread>

#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

TEST(DonationTest, ADonatedArgumentIsDeletedAndItsMemoryReused) {
  TestClient t;
  auto executable = t.Load(AddOne(2, Donation::kMay));
  auto buffer = t.Make({1, 2});
  const uintptr_t address = *t.client->UnsafeBufferPointer(buffer.get());
  auto results = *RunOnce(*executable, {buffer.get()});
  EXPECT_TRUE(buffer->IsDeleted());
  EXPECT_EQ(*t.client->UnsafeBufferPointer(results[0].get()), address);
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3));
}

TEST(DonationTest, AVetoKeepsTheArgument) {
  TestClient t;
  auto executable = t.Load(AddOne(2, Donation::kMay));
  auto buffer = t.Make({1, 2});
  ExecuteOptions options;
  options.non_donatable_input_indices = {0};
  auto results = *RunOnce(*executable, {buffer.get()}, options);
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(1, 2));
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3));
}

TEST(DonationTest, AMustAliasArgumentCantBeVetoed) {
  TestClient t;
  auto executable = t.Load(AddOne(2, Donation::kMust));
  auto buffer = t.Make({1, 2});
  ExecuteOptions options;
  options.non_donatable_input_indices = {0};
  EXPECT_THAT(RunOnce(*executable, {buffer.get()}, options).status(),
              Fails(StatusCode::kInvalidArgument, "must-alias"));
  EXPECT_FALSE(buffer->IsDeleted());
}

TEST(DonationTest, AnExternalReferenceTurnsDonationIntoACopy) {
  TestClient t;
  auto executable = t.Load(AddOne(2, Donation::kMay));
  auto buffer = t.Make({1, 2});
  auto reference = *buffer->AcquireExternalReference();
  auto results = *RunOnce(*executable, {buffer.get()});
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(1, 2));
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3));
  reference.reset();
  results = *RunOnce(*executable, {buffer.get()});
  EXPECT_TRUE(buffer->IsDeleted());
}

TEST(DonationTest, OrIsRefusedWhereTheBackendSaysSo) {
  MemoryBackendOptions options;
  options.limits.copies_when_donation_is_blocked = false;
  TestClient t(options);
  auto buffer = t.Make({1, 2});
  auto reference = *buffer->AcquireExternalReference();
  EXPECT_THAT(
      RunOnce(*t.Load(AddOne(2, Donation::kMay)), {buffer.get()}).status(),
      Fails(StatusCode::kInvalidArgument, "Donation requested for buffer with external reference"));
  EXPECT_FALSE(buffer->IsDeleted());
}

TEST(DonationTest, ABufferCantBeDonatedAndUsedInOneCall) {
  TestClient t;
  auto buffer = t.Make({1, 2});
  auto donates_second = t.Load(Add(2, Donation::kMay));
  EXPECT_THAT(RunOnce(*donates_second, {buffer.get(), buffer.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "f(a as argument 0, donate(a) as argument 1)"));
  ProgramInfo both;
  both.name = "both";
  const Shape shape = MakeShapeWithDescendingLayout(S32, {2});
  both.parameters.assign(2, {shape, Donation::kMay, "", ""});
  auto donates_both = t.Load(
      std::make_shared<KernelProgram>(both, [](const KernelArgs&) { return absl::OkStatus(); }));
  EXPECT_THAT(
      RunOnce(*donates_both, {buffer.get(), buffer.get()}).status(),
      Fails(StatusCode::kInvalidArgument, "f(donate(a) as argument 0, donate(a) as argument 1)"));
  both.parameters[1].donation = Donation::kNever;
  auto donates_first = t.Load(
      std::make_shared<KernelProgram>(both, [](const KernelArgs&) { return absl::OkStatus(); }));
  EXPECT_THAT(RunOnce(*donates_first, {buffer.get(), buffer.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "f(donate(a) as argument 0, a as argument 1)"));
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(1, 2));
  // Without donation it is fine.
  auto results = *RunOnce(*t.Load(Add(2)), {buffer.get(), buffer.get()});
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 4));
}

TEST(DonationTest, ClashesAreFoundAmongManyArgumentsToo) {
  TestClient t;
  ProgramInfo info;
  const Shape shape = MakeShapeWithDescendingLayout(S32, {1});
  info.parameters.assign(40, {shape, Donation::kNever, "", ""});
  info.parameters[39].donation = Donation::kMay;
  auto executable = t.Load(
      std::make_shared<KernelProgram>(info, [](const KernelArgs&) { return absl::OkStatus(); }));
  auto buffer = t.Make({1});
  auto last = t.Make({2});
  std::vector<PjRtBuffer*> arguments(40, buffer.get());
  EXPECT_THAT(RunOnce(*executable, arguments).status(),
              Fails(StatusCode::kInvalidArgument, "donate"));
  arguments[39] = last.get();
  EXPECT_OK(RunOnce(*executable, arguments).status());
  EXPECT_TRUE(last->IsDeleted());
}

TEST(DonationTest, AFailingProgramStillConsumesItsArgument) {
  TestClient t;
  for (const auto mode : {ExecuteOptions::ExecutionMode::kSynchronous,
                          ExecuteOptions::ExecutionMode::kAsynchronous}) {
    auto executable = t.Load(std::make_shared<KernelProgram>(
        AddOneInfo(2, Donation::kMay),
        [](const KernelArgs&) -> absl::Status { return absl::AbortedError("boom"); }));
    auto buffer = t.Make({1, 2});
    ExecuteOptions options;
    options.execution_mode = mode;
    auto results = RunOnce(*executable, {buffer.get()}, options);
    if (mode == ExecuteOptions::ExecutionMode::kSynchronous) {
      EXPECT_EQ(results.status(), absl::AbortedError("boom"));
    } else {
      EXPECT_EQ((*results)[0]->GetReadyFuture().Await(), absl::AbortedError("boom"));
    }
    EXPECT_TRUE(buffer->IsDeleted());
    EXPECT_THAT(RunOnce(*executable, {buffer.get()}).status(),
                Fails(StatusCode::kInvalidArgument, "Buffer has been deleted or donated."));
  }
}

TEST(DonationTest, AFailedCheckLeavesArgumentsIntact) {
  TestClient t;
  auto executable = t.Load(Add(2, Donation::kMay));
  auto first = t.Make({1});  // wrong size
  auto second = t.Make({1, 2});
  EXPECT_EQ(RunOnce(*executable, {first.get(), second.get()}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_THAT(*Values(second.get()), ElementsAre(1, 2));
  auto good = t.Make({3, 4});
  EXPECT_OK(RunOnce(*executable, {good.get(), second.get()}).status());
}

TEST(DonationTest, ImportedMemoryIsNotWritten) {
  TestClient t;
  alignas(64) int32_t memory[2] = {1, 2};
  auto view = *t.client->CreateViewOfDeviceBuffer(memory, MakeShape(S32, {2}), t.memory(), nullptr);
  auto results = *RunOnce(*t.Load(AddOne(2, Donation::kMay)), {view.get()});
  EXPECT_TRUE(view->IsDeleted());
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3));
  EXPECT_THAT(memory, ElementsAre(1, 2));

  auto immutable = *t.client->BufferFromHostBuffer(
      memory, S32, {2}, std::nullopt, Semantics::kImmutableZeroCopy, nullptr, t.memory(), nullptr);
  results = *RunOnce(*t.Load(AddOne(2, Donation::kMay)), {immutable.get()});
  EXPECT_THAT(memory, ElementsAre(1, 2));

  auto writable = *t.client->BufferFromHostBuffer(
      memory, S32, {2}, std::nullopt, Semantics::kMutableZeroCopy, nullptr, t.memory(), nullptr);
  results = *RunOnce(*t.Load(AddOne(2, Donation::kMay)), {writable.get()});
  EXPECT_THAT(memory, ElementsAre(2, 3));
  EXPECT_EQ(*t.client->UnsafeBufferPointer(results[0].get()), reinterpret_cast<uintptr_t>(memory));
}

TEST(DonationTest, WaitsForReadersThatWereThereFirst) {
  TestClient t;
  auto gate = std::make_shared<Gate>();
  auto slow_reader =
      t.Load(std::make_shared<KernelProgram>(AddOneInfo(2), [gate](const KernelArgs& a) {
        gate->Wait();
        return AddOneKernel(2)(a);
      }));
  auto buffer = t.Make({1, 2});
  ExecuteOptions options;
  options.execution_mode = ExecuteOptions::ExecutionMode::kAsynchronous;
  auto read = *RunOnce(*slow_reader, {buffer.get()}, options);
  auto donated = *RunOnce(*t.Load(AddOne(2, Donation::kMay)), {buffer.get()});
  EXPECT_FALSE(donated[0]->GetReadyFuture().IsReady());
  gate->Open();
  EXPECT_THAT(*Values(read[0].get()), ElementsAre(2, 3));
  EXPECT_THAT(*Values(donated[0].get()), ElementsAre(2, 3));
}

TEST(DonationTest, ConcurrentReadersSucceedOrFindTheBufferGone) {
  TestClient t;
  auto reader = t.Load(AddOne(2));
  auto donor = t.Load(AddOne(2, Donation::kMay));
  for (int round = 0; round < 20; ++round) {
    auto buffer = t.Make({1, 2});
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 4; ++j) {
          auto results = RunOnce(*reader, {buffer.get()});
          if (!results.ok()) continue;
          EXPECT_THAT(*Values((*results)[0].get()), ElementsAre(2, 3));
        }
      });
    }
    auto donated = RunOnce(*donor, {buffer.get()});
    EXPECT_OK(donated.status());
    EXPECT_THAT(*Values((*donated)[0].get()), ElementsAre(2, 3));
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(DonationTest, LaunchesThatWantTheSameBuffersInOtherRolesDontBlockEachOther) {
  TestClient t;
  auto executable = t.Load(Add(1, Donation::kMay));  // f(x, donate(y))
  for (int round = 0; round < 300; ++round) {
    auto a = t.Make({1});
    auto b = t.Make({2});
    std::thread other([&] { (void)RunOnce(*executable, {a.get(), b.get()}); });
    (void)RunOnce(*executable, {b.get(), a.get()});
    other.join();
    EXPECT_TRUE(a->IsDeleted() || b->IsDeleted());
  }
}

TEST(ControlDependencyTest, TheResultWaitsForBothAndTheSourceIsGone) {
  TestClient t;
  auto source = t.Make({1, 2});
  auto [promise, dependency] = MakePromise<>();
  auto buffer = *source->DonateWithControlDependency(std::move(dependency));
  EXPECT_TRUE(source->IsDeleted());
  source.reset();
  EXPECT_FALSE(buffer->GetReadyFuture().IsReady());
  promise.Set();
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(1, 2));
}

TEST(ControlDependencyTest, AnErrorOfTheDependencyPoisons) {
  TestClient t;
  auto buffer = *t.Make({1})->DonateWithControlDependency(absl::AbortedError("x"));
  EXPECT_EQ(buffer->ToLiteralSync().status(), absl::AbortedError("x"));
}

}  // namespace
}  // namespace pjrt::testing
