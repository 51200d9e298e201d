// SPDX-License-Identifier: Apache-2.0
//
// Execute: checks, results, several devices.
#include <atomic>
#include <map>
#include <thread>

#include "pjrt/callbacks.h"
#include "pjrt/host_callback.h"
#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

CompileOptions OnDevices(int replicas, int partitions) {
  CompileOptions options;
  options.executable_build_options.set_num_replicas(replicas).set_num_partitions(partitions);
  return options;
}

CompileOptions Portable() {
  CompileOptions options;
  options.compile_portable_executable = true;
  return options;
}

TEST(ExecuteTest, RunsInEveryModeAndReturnsAFutureADevice) {
  TestClient t;
  auto executable = t.Load(AddOne(3));
  auto input = t.Make({1, 2, 3});
  for (const auto mode :
       {ExecuteOptions::ExecutionMode::kDefault, ExecuteOptions::ExecutionMode::kSynchronous,
        ExecuteOptions::ExecutionMode::kAsynchronous}) {
    ExecuteOptions options;
    options.execution_mode = mode;
    std::optional<std::vector<Future<>>> futures(std::in_place);
    auto results = executable->Execute({{input.get()}}, options, futures);
    ASSERT_OK(results.status());
    ASSERT_EQ(results->size(), 1);
    EXPECT_THAT(*Values((*results)[0][0].get()), ElementsAre(2, 3, 4));
    ASSERT_EQ(futures->size(), 1);
    EXPECT_OK((*futures)[0].Await());
  }
}

TEST(ExecuteTest, CountsOfArgumentsListsAndCallbacksAreChecked) {
  TestClient t;
  auto executable = t.Load(AddOne(3));
  auto input = t.Make({1, 2, 3});
  EXPECT_THAT(RunOnce(*executable, {}).status(),
              Fails(StatusCode::kInvalidArgument,
                    "Execution supplied 0 arguments but compiled program expected 1"));
  EXPECT_THAT(RunOnce(*executable, {input.get(), input.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "supplied 2 arguments"));
  EXPECT_THAT(executable->Execute({}, ExecuteOptions()).status(),
              Fails(StatusCode::kInvalidArgument, "0 argument lists when 1"));
  ExecuteOptions options;
  const std::vector<std::vector<SendCallback>> send(2);
  options.send_callbacks = send;
  EXPECT_THAT(RunOnce(*executable, {input.get()}, options).status(),
              Fails(StatusCode::kInvalidArgument,
                    "The number of send callback vectors does not match the number of devices"));
  EXPECT_THAT(RunOnce(*executable, {nullptr}).status(),
              Fails(StatusCode::kInvalidArgument, "null"));
}

TEST(ExecuteTest, AFailureClearsTheReturnedFutures) {
  TestClient t;
  std::optional<std::vector<Future<>>> futures(std::in_place);
  EXPECT_FALSE(t.Load(AddOne(3))->Execute({{}}, ExecuteOptions(), futures).ok());
  EXPECT_TRUE(futures->empty());
}

TEST(ExecuteTest, AnArgumentOnAnotherDeviceIsNamed) {
  TestClient t(Devices(2));
  auto elsewhere = t.Make({1, 2, 3}, 1);
  const absl::Status status = RunOnce(*t.Load(AddOne(3)), {elsewhere.get()}).status();
  EXPECT_THAT(status, Fails(StatusCode::kInvalidArgument, "argument 0 to replica 0"));
  EXPECT_THAT(status, Fails(StatusCode::kInvalidArgument, "memory:1"));
  EXPECT_THAT(status, Fails(StatusCode::kInvalidArgument, "memory:0"));
}

TEST(ExecuteTest, AnyMemorySpaceOfTheDeviceWillDoUnlessTheProgramSaysOtherwise) {
  TestClient t;
  auto input =
      *t.Make({1, 2, 3})->CopyToMemorySpace(*t.device()->memory_space_by_kind("pinned_host"));
  EXPECT_OK(RunOnce(*t.Load(AddOne(3)), {input.get()}).status());
  ProgramInfo info = AddOneInfo(3);
  info.parameters[0].memory_kind = "device";
  info.results[0].memory_kind = "pinned_host";
  auto executable = t.Load(std::make_shared<KernelProgram>(info, AddOneKernel(3)));
  EXPECT_THAT(RunOnce(*executable, {input.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "memory of kind pinned_host"));
  auto moved = *input->CopyToMemorySpace(t.memory());
  auto results = *RunOnce(*executable, {moved.get()});
  EXPECT_EQ(results[0]->memory_space()->kind(), "pinned_host");
  EXPECT_THAT((*executable->GetOutputMemoryKinds())[0], ElementsAre("pinned_host"));
}

TEST(ExecuteTest, SizesMustAgreeAndShapesOnlyWhenStrict) {
  TestClient t;
  auto executable = t.Load(AddOne(4));
  EXPECT_THAT(RunOnce(*executable, {t.MakeIota(3).get()}).status(),
              Fails(StatusCode::kInvalidArgument, "E0102: RuntimeProgramInputMismatch"));
  const int32_t data[4] = {1, 2, 3, 4};
  auto square = *t.client->BufferFromHostBuffer(data, S32, {2, 2}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                t.memory(), nullptr);
  EXPECT_OK(RunOnce(*executable, {square.get()}).status());
  ExecuteOptions strict;
  strict.strict_shape_checking = true;
  EXPECT_THAT(RunOnce(*executable, {square.get()}, strict).status(),
              Fails(StatusCode::kInvalidArgument, "unexpected shape"));
  EXPECT_OK(RunOnce(*executable, {t.MakeIota(4).get()}, strict).status());
}

TEST(ExecuteTest, ADynamicBufferMustHaveTheParametersBound) {
  TestClient t;
  ProgramInfo info = AddOneInfo(1);
  info.parameters[0].shape = MakeShape(S32, {10}, {true});
  auto executable = t.Load(
      std::make_shared<KernelProgram>(info, [](const KernelArgs&) { return absl::OkStatus(); }));
  auto wide = *t.client->CreateUninitializedBuffer(MakeShape(S32, {15}, {true}), t.memory());
  auto fits = *t.client->CreateUninitializedBuffer(MakeShape(S32, {10}, {true}), t.memory());
  EXPECT_THAT(RunOnce(*executable, {wide.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "E0102"));
  EXPECT_OK(RunOnce(*executable, {fits.get()}).status());
  // A static parameter of the bound's size takes the elements.
  EXPECT_OK(RunOnce(*t.Load(AddOne(10)), {fits.get()}).status());
}

TEST(ExecuteTest, NoOutputsIsAnEmptyList) {
  TestClient t;
  ProgramInfo info;
  info.result_is_tuple = true;
  auto executable = t.Load(
      std::make_shared<KernelProgram>(info, [](const KernelArgs&) { return absl::OkStatus(); }));
  auto results = *executable->Execute({{}}, ExecuteOptions());
  ASSERT_EQ(results.size(), 1);
  EXPECT_TRUE(results[0].empty());
}

TEST(ExecuteTest, NestedTupleResultsAreRejectedWhenLoaded) {
  TestClient t;
  ProgramInfo info;
  info.results.push_back({MakeTupleShape({}), -1, "", ""});
  EXPECT_EQ(LoadDeviceProgram(t.client.get(), std::make_shared<KernelProgram>(info, nullptr), {})
                .status()
                .code(),
            StatusCode::kInternal);
}

TEST(ExecuteTest, AfterDeleteItFails) {
  TestClient t;
  auto executable = t.Load(AddOne(1));
  auto input = t.Make({1});
  executable->Delete();
  EXPECT_TRUE(executable->IsDeleted());
  EXPECT_EQ(RunOnce(*executable, {input.get()}).status().code(), StatusCode::kFailedPrecondition);
}

TEST(ExecuteTest, ThePortableEntriesCheckWhatTheyAreGiven) {
  MemoryBackendOptions options;
  options.num_devices = 2;
  options.num_foreign_devices = 1;
  TestClient t(options);
  auto portable = t.Load(AddOne(1), Portable());
  auto assigned = t.Load(AddOne(1));
  auto input = t.Make({1});
  auto input_on_1 = t.Make({5}, 1);
  PjRtBuffer* const arguments[] = {input.get()};
  PjRtBuffer* const arguments_on_1[] = {input_on_1.get()};
  EXPECT_THAT(RunOnce(*portable, {input.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "Execute expects a non-null device_assignment"));
  EXPECT_EQ(portable->ExecuteSharded(arguments, t.device(), {}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(assigned->ExecutePortable(arguments, t.device(), {}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(assigned->ExecuteSharded(arguments, t.device(1), {}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(portable->ExecutePortable(arguments, nullptr, {}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(portable->ExecutePortable(arguments, *t.client->LookupDevice(GlobalDeviceId(2)), {})
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  std::optional<Future<>> future;
  auto results = portable->ExecutePortable(arguments_on_1, t.device(1), {}, future);
  ASSERT_OK(results.status());
  EXPECT_OK(future->Await());
  EXPECT_THAT(*Values((*results)[0].get()), ElementsAre(6));
  auto sharded = assigned->ExecuteSharded(arguments, t.device(), {}, future);
  ASSERT_OK(sharded.status());
  EXPECT_THAT(*Values((*sharded)[0].get()), ElementsAre(2));
}

TEST(ExecuteTest, InsideAHostCallbackItRunsInTheCallOrIsRefused) {
  for (const bool allows : {true, false}) {
    MemoryBackendOptions options;
    options.limits.allows_recursion = allows;
    TestClient t(options);
    auto executable = t.Load(AddOne(1));
    auto input = t.Make({1});
    HostCallbackScope scope;
    auto results = RunOnce(*executable, {input.get()});
    if (allows) {
      ASSERT_OK(results.status());
      EXPECT_TRUE((*results)[0]->GetReadyFuture().IsReady());
    } else {
      EXPECT_EQ(results.status().code(), StatusCode::kInvalidArgument);
    }
  }
}

// ----- Several devices -----

TEST(ExecuteOnSeveralTest, EachDeviceGetsItsReplicaAndPartition) {
  TestClient t(Devices(4));
  ProgramInfo info;
  info.results.push_back({MakeShapeWithDescendingLayout(S32, {2}), -1, "", ""});
  auto executable =
      t.Load(std::make_shared<KernelProgram>(info,
                                             [](const KernelArgs& args) {
                                               args.output<int32_t>(0)[0] = args.launch->replica;
                                               args.output<int32_t>(0)[1] = args.launch->partition;
                                               return absl::OkStatus();
                                             }),
             OnDevices(2, 2));
  std::optional<std::vector<Future<>>> futures(std::in_place);
  auto results = executable->Execute({{}, {}, {}, {}}, ExecuteOptions(), futures);
  ASSERT_OK(results.status());
  EXPECT_EQ(futures->size(), 4);
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(*Values((*results)[i][0].get()), ElementsAre(i / 2, i % 2));
    EXPECT_EQ((*results)[i][0]->device(), executable->addressable_devices()[i]);
  }
}

TEST(ExecuteOnSeveralTest, AFailedCheckOnOneDeviceStartsNothingAndSaysWhich) {
  TestClient t(Devices(2));
  auto runs = std::make_shared<std::atomic<int>>(0);
  auto executable = t.Load(std::make_shared<KernelProgram>(AddOneInfo(2, Donation::kMay),
                                                           [runs](const KernelArgs&) {
                                                             ++*runs;
                                                             return absl::OkStatus();
                                                           }),
                           OnDevices(2, 1));
  auto good = t.Make({1, 2}, 0);
  auto bad = t.Make({1, 2, 3}, 1);
  const absl::Status status =
      executable->Execute({{good.get()}, {bad.get()}}, ExecuteOptions()).status();
  EXPECT_THAT(status, Fails(StatusCode::kInvalidArgument, "E0102"));
  EXPECT_THAT(status, Fails(StatusCode::kInvalidArgument, "while running replica 1"));
  EXPECT_EQ(*runs, 0);
  EXPECT_FALSE(good->IsDeleted());
}

// Devices add up what each of them has; each waits for all.
std::shared_ptr<const DeviceProgram> AllReduce(int devices) {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<int64_t, std::pair<int, int32_t>> sums;  // by run id: how many came, and the sum
  };
  auto meeting = std::make_shared<Meeting>();
  ProgramInfo info = AddOneInfo(1);
  info.name = "all_reduce";
  info.has_collectives = true;
  return std::make_shared<KernelProgram>(info, [meeting, devices](const KernelArgs& args) {
    std::unique_lock<std::mutex> lock(meeting->mutex);
    auto& [count, sum] = meeting->sums[args.launch->run_id];
    sum += args.input<int32_t>(0)[0];
    ++count;
    meeting->changed.notify_all();
    meeting->changed.wait(lock, [&, &c = count] { return c >= devices; });
    args.output<int32_t>(0)[0] = sum;
    return absl::OkStatus();
  });
}

TEST(CollectivesTest, ManyLaunchesFromTwoThreadsNeverBlockEachOther) {
  MemoryBackendOptions options;
  options.num_devices = 3;
  options.threads = 3;  // as many as participants: two launches at once would starve each other
  TestClient t(options);
  auto executable = t.Load(AllReduce(3), OnDevices(3, 1));
  std::vector<std::unique_ptr<PjRtBuffer>> inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(t.Make({i + 1}, i));
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) {
      auto results = executable->Execute({{inputs[0].get()}, {inputs[1].get()}, {inputs[2].get()}},
                                         ExecuteOptions());
      ASSERT_OK(results.status());
      for (auto& result : *results) EXPECT_THAT(*Values(result[0].get()), ElementsAre(6));
    }
  };
  std::thread other(run);
  run();
  other.join();
}

TEST(CollectivesTest, ShardedCallsMeetByTheirLaunchId) {
  MemoryBackendOptions options;
  options.num_devices = 2;
  TestClient t(options);
  auto executable = t.Load(AllReduce(2), OnDevices(1, 2));
  auto a = t.Make({1}, 0);
  auto b = t.Make({2}, 1);
  PjRtBuffer* const args_a[] = {a.get()};
  PjRtBuffer* const args_b[] = {b.get()};
  EXPECT_THAT(executable->ExecuteSharded(args_a, t.device(0), {}).status(),
              Fails(StatusCode::kInvalidArgument, "launch_id"));
  for (int id = 1; id <= 5; ++id) {
    ExecuteOptions with_id;
    with_id.launch_id = id;
    auto ra = executable->ExecuteSharded(args_a, t.device(0), with_id);
    auto rb = executable->ExecuteSharded(args_b, t.device(1), with_id);
    EXPECT_THAT(*Values((*ra)[0].get()), ElementsAre(3));
    EXPECT_THAT(*Values((*rb)[0].get()), ElementsAre(3));
  }
}

TEST(CollectivesTest, AnErrorOnOneDeviceReachesAllInsteadOfLeavingThemWaiting) {
  TestClient t(Devices(2));
  auto executable = t.Load(AllReduce(2), OnDevices(2, 1));
  auto good = t.Make({1}, 0);
  auto bad =
      *t.client->CreateErrorBuffer(absl::AbortedError("x"), MakeShape(S32, {1}), t.memory(1));
  auto results = *executable->Execute({{good.get()}, {bad.get()}}, ExecuteOptions());
  EXPECT_EQ(results[0][0]->GetReadyFuture().Await(), absl::AbortedError("x"));
  EXPECT_EQ(results[1][0]->GetReadyFuture().Await(), absl::AbortedError("x"));
}

// ----- What an executable knows of itself -----

TEST(ExecutableTest, AnswersFromItsProgram) {
  TestClient t;
  ProgramInfo info = AddOneInfo(3);
  info.fingerprint = "abc";
  info.cost = {{"flops", 3.0f}};
  info.memory_stats.argument_size_in_bytes = 12;
  auto executable = t.Load(std::make_shared<KernelProgram>(info, AddOneKernel(3)));
  EXPECT_EQ(executable->name(), "add_one");
  EXPECT_EQ(*executable->FingerprintExecutable(), "abc");
  EXPECT_THAT(*executable->GetOutputShapes(), ElementsAre(info.results[0].shape));
  EXPECT_THAT((*executable->GetOutputElementTypes())[0], ElementsAre(S32));
  EXPECT_THAT((*executable->GetOutputDimensions())[0][0], ElementsAre(3));
  EXPECT_EQ((*executable->GetParameterLayouts())[0]->layout(), MakeDescendingLayout(1));
  EXPECT_EQ((*executable->GetOutputLayouts())[0]->layout(), MakeDescendingLayout(1));
  EXPECT_EQ(executable->GetParameterShardings(), std::nullopt);
  EXPECT_EQ(std::get<float>((*executable->GetCostAnalysis())["flops"]), 3.0f);
  EXPECT_EQ(executable->GetCompiledMemoryStats()->argument_size_in_bytes, 12);
  EXPECT_EQ(executable->GetModules().status().code(), StatusCode::kUnimplemented);
}

TEST(ExecutableTest, SerializedItLoadsAgainElsewhere) {
  TestClient t(Devices(2));
  t.backend->AddProgram(AddOne(1));
  const std::string bytes = *t.Load(AddOne(1))->SerializeExecutable();
  auto again = t.client->LoadSerializedExecutable(bytes, std::nullopt, LoadOptions());
  ASSERT_OK(again.status());
  EXPECT_THAT(*Values((*RunOnce(**again, {t.Make({1}).get()}))[0].get()), ElementsAre(2));
  CompileOptions on_1;
  on_1.executable_build_options.set_device_assignment(*DeviceAssignment::Create(1, 1, {1}));
  auto moved = t.client->LoadSerializedExecutable(bytes, on_1, LoadOptions());
  ASSERT_OK(moved.status());
  EXPECT_EQ((*moved)->addressable_devices()[0], t.device(1));
  EXPECT_THAT(*Values((*RunOnce(**moved, {t.Make({1}, 1).get()}))[0].get()), ElementsAre(2));
}

TEST(ExecutableTest, DamagedBytesAreRejected) {
  TestClient t;
  t.backend->AddProgram(AddOne(1));
  const std::string bytes = *t.Load(AddOne(1))->SerializeExecutable();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(
        t.client->LoadSerializedExecutable(bytes.substr(0, size), std::nullopt, LoadOptions())
            .ok());
  }
}

TEST(ExecutableTest, AnUnloadedExecutableLoadsTwice) {
  TestClient t;
  t.backend->AddProgram(AddOne(1));
  const std::string bytes = *t.Load(AddOne(1))->SerializeExecutable();
  std::shared_ptr<PjRtExecutable> unloaded = *t.client->DeserializeExecutable(bytes, std::nullopt);
  auto first = *t.client->Load(unloaded, LoadOptions());
  auto second = *t.client->Load(unloaded, LoadOptions());
  EXPECT_THAT(*Values((*RunOnce(*first, {t.Make({1}).get()}))[0].get()), ElementsAre(2));
  EXPECT_THAT(*Values((*RunOnce(*second, {t.Make({2}).get()}))[0].get()), ElementsAre(3));
  std::shared_ptr<PjRtExecutable> foreign = std::make_shared<PjRtExecutableForwarder>(first.get());
  EXPECT_EQ(t.client->Load(foreign, LoadOptions()).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace pjrt::testing
