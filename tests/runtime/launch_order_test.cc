// SPDX-License-Identifier: Apache-2.0
//
// Execution modes, streams, limits, poisoning, launch ids.
#include <atomic>
#include <thread>

#include "pjrt/execute_context.h"
#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using Mode = ExecuteOptions::ExecutionMode;

ExecuteOptions WithMode(Mode mode) {
  ExecuteOptions options;
  options.execution_mode = mode;
  return options;
}

// x + 1 when the gate is open.
std::shared_ptr<const DeviceProgram> Gated(std::shared_ptr<Gate> gate) {
  return std::make_shared<KernelProgram>(AddOneInfo(1), [gate](const KernelArgs& args) {
    gate->Wait();
    return AddOneKernel(1)(args);
  });
}

TEST(ExecutionModeTest, SynchronousWithReadyInputsIsDoneOnReturn) {
  TestClient t;
  auto input = t.Make({1});
  auto results = *RunOnce(*t.Load(AddOne(1)), {input.get()}, WithMode(Mode::kSynchronous));
  EXPECT_TRUE(results[0]->GetReadyFuture().IsReady());
}

TEST(ExecutionModeTest, AsynchronousReturnsBeforeTheProgramHasRun) {
  TestClient t;
  auto gate = std::make_shared<Gate>();
  auto input = t.Make({1});
  std::optional<std::vector<Future<>>> futures(std::in_place);
  auto executable = t.Load(Gated(gate));
  auto results = *executable->Execute({{input.get()}}, WithMode(Mode::kAsynchronous), futures);
  EXPECT_FALSE(results[0][0]->GetReadyFuture().IsReady());
  EXPECT_FALSE((*futures)[0].IsReady());
  executable.reset();  // needn't outlive the run
  gate->Open();
  EXPECT_OK((*futures)[0].Await());
  EXPECT_THAT(*Values(results[0][0].get()), ElementsAre(2));
}

TEST(ExecutionModeTest, PendingInputsNeverBlockTheCall) {
  for (const Mode mode : {Mode::kDefault, Mode::kSynchronous, Mode::kAsynchronous}) {
    TestClient t;
    Promise<> promise;
    auto input = t.MakePending({1}, &promise);
    auto results = *RunOnce(*t.Load(AddOne(1)), {input.get()}, WithMode(mode));
    EXPECT_FALSE(results[0]->GetReadyFuture().IsReady());
    promise.Set();
    EXPECT_THAT(*Values(results[0].get()), ElementsAre(2));
  }
}

TEST(ExecutionModeTest, ABackendWithQueuesGetsLaunchesBeforeTheirInputs) {
  MemoryBackendOptions options;
  options.limits.queues_work = true;
  TestClient t(options);
  Promise<> promise;
  auto input = t.MakePending({1}, &promise);
  auto executable = t.Load(AddOne(1));
  const int64_t before = t.backend->num_allocations();
  auto results = *RunOnce(*executable, {input.get()});
  EXPECT_EQ(t.backend->num_allocations(), before + 1);  // launched: it has its output
  auto more = *RunOnce(*executable, {results[0].get()});
  promise.Set();
  EXPECT_THAT(*Values(more[0].get()), ElementsAre(3));
  auto bad = t.MakePending({1}, &promise);
  results = *RunOnce(*executable, {bad.get()});
  promise.Set(absl::AbortedError("x"));
  EXPECT_EQ(results[0]->GetReadyFuture().Await(), absl::AbortedError("x"));
}

TEST(ConcurrencyTest, SixteenRunsOverOneInputFromFourThreads) {
  TestClient t;
  auto input = t.Make({1, 2, 3});
  auto executable = t.Load(AddOne(3));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 4; ++j) {
        auto results = RunOnce(*executable, {input.get()},
                               WithMode(i % 2 ? Mode::kAsynchronous : Mode::kDefault));
        EXPECT_THAT(*Values((*results)[0].get()), ElementsAre(2, 3, 4));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Programs with side effects: each notes that it ran.
struct Journal {
  std::mutex mutex;
  std::vector<int> entries;
  std::vector<int> Read() {
    std::lock_guard<std::mutex> lock(mutex);
    return entries;
  }
};

std::shared_ptr<const DeviceProgram> Noting(std::shared_ptr<Journal> journal, int number,
                                            std::shared_ptr<Gate> gate = nullptr) {
  ProgramInfo info;
  info.name = "noting";
  info.has_side_effects = true;
  return std::make_shared<KernelProgram>(info, [=](const KernelArgs&) {
    if (gate != nullptr) gate->Wait();
    std::lock_guard<std::mutex> lock(journal->mutex);
    journal->entries.push_back(number);
    return absl::OkStatus();
  });
}

TEST(StreamTest, SideEffectsOfOneStreamKeepTheirOrder) {
  TestClient t;
  auto journal = std::make_shared<Journal>();
  auto gate = std::make_shared<Gate>();
  ExecuteOptions options = WithMode(Mode::kAsynchronous);
  auto first = t.Load(Noting(journal, 1, gate));
  auto second = t.Load(Noting(journal, 2));
  std::optional<std::vector<Future<>>> futures(std::in_place);
  ASSERT_OK(first->Execute({{}}, options).status());
  // Even one that could run in the call waits.
  ASSERT_OK(second->Execute({{}}, ExecuteOptions(), futures).status());
  EXPECT_THAT(journal->Read(), ElementsAre());
  gate->Open();
  EXPECT_OK((*futures)[0].Await());
  EXPECT_THAT(journal->Read(), ElementsAre(1, 2));
}

TEST(StreamTest, AnotherStreamDoesntWait) {
  TestClient t;
  auto journal = std::make_shared<Journal>();
  auto gate = std::make_shared<Gate>();
  ExecuteOptions options = WithMode(Mode::kAsynchronous);
  std::optional<std::vector<Future<>>> first_futures(std::in_place);
  std::optional<std::vector<Future<>>> futures(std::in_place);
  auto first = t.Load(Noting(journal, 1, gate));
  auto second = t.Load(Noting(journal, 2));
  ASSERT_OK(first->Execute({{}}, options, first_futures).status());
  options.execution_stream_id = 7;
  ASSERT_OK(second->Execute({{}}, options, futures).status());
  EXPECT_OK((*futures)[0].Await());
  EXPECT_THAT(journal->Read(), ElementsAre(2));
  gate->Open();
  EXPECT_OK((*first_futures)[0].Await());
}

TEST(StreamTest, AFailureBeforeDoesntStopTheNext) {
  TestClient t;
  auto journal = std::make_shared<Journal>();
  ProgramInfo info;
  info.has_side_effects = true;
  auto failing = t.Load(std::make_shared<KernelProgram>(
      info, [](const KernelArgs&) -> absl::Status { return absl::AbortedError("x"); }));
  auto next = t.Load(Noting(journal, 2));
  std::optional<std::vector<Future<>>> futures(std::in_place);
  ASSERT_OK(failing->Execute({{}}, WithMode(Mode::kAsynchronous)).status());
  ASSERT_OK(next->Execute({{}}, WithMode(Mode::kAsynchronous), futures).status());
  EXPECT_OK((*futures)[0].Await());
  EXPECT_THAT(journal->Read(), ElementsAre(2));
}

TEST(InFlightLimitTest, BlocksTheNextCallUntilOneEnds) {
  CommonClientOptions client_options;
  client_options.max_inflight_computations_per_device = 2;
  TestClient t({}, client_options);
  auto executable = t.Load(AddOne(1));
  Promise<> promise;
  auto input = t.MakePending({1}, &promise);
  auto first = *RunOnce(*executable, {input.get()});
  auto second = *RunOnce(*executable, {input.get()});
  std::atomic<bool> returned{false};
  std::thread caller([&] {
    auto third = *RunOnce(*executable, {input.get()});
    returned = true;
    EXPECT_THAT(*Values(third[0].get()), ElementsAre(2));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(returned);
  // What is ready still runs, on the caller: the limit can't keep us from what ends the wait.
  auto ready = t.Make({5});
  EXPECT_THAT(*Values((*RunOnce(*executable, {ready.get()}))[0].get()), ElementsAre(6));
  promise.Set();
  caller.join();
  EXPECT_THAT(*Values(second[0].get()), ElementsAre(2));
}

TEST(PoisonTest, PutsABlockedRunInErrorAndKeepsPayloads) {
  TestClient t;
  Promise<> promise;
  auto input = t.MakePending({1}, &promise);
  ExecuteOptions options;
  options.launch_id = 123;
  std::optional<std::vector<Future<>>> futures(std::in_place);
  auto results = *t.Load(AddOne(1))->Execute({{input.get()}}, options, futures);
  absl::Status error = absl::CancelledError("enough");
  error.SetPayload("u", absl::Cord("p"));
  EXPECT_FALSE(*t.device()->PoisonExecution(122, error));
  EXPECT_TRUE(*t.device()->PoisonExecution(123, error));
  EXPECT_EQ(results[0][0]->GetReadyFuture().Await(), error);
  EXPECT_FALSE((*futures)[0].IsReady());  // the run itself hasn't ended
  // A later error of the input doesn't replace it.
  promise.Set(absl::AbortedError("late"));
  EXPECT_EQ(results[0][0]->ToLiteralSync().status(), error);
  EXPECT_FALSE((*futures)[0].Await().ok());
  EXPECT_FALSE(*t.device()->PoisonExecution(123, error));
  EXPECT_EQ(t.device()->PoisonExecution(1, absl::OkStatus()).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(PoisonTest, ARunningProgramIsPoisonedAndStillEnds) {
  TestClient t;
  auto gate = std::make_shared<Gate>();
  auto input = t.Make({1});
  ExecuteOptions options = WithMode(Mode::kAsynchronous);
  options.launch_id = 5;
  std::optional<std::vector<Future<>>> futures(std::in_place);
  auto results = *t.Load(Gated(gate))->Execute({{input.get()}}, options, futures);
  EXPECT_TRUE(*t.device()->PoisonExecution(5, absl::CancelledError("enough")));
  EXPECT_EQ(results[0][0]->GetReadyFuture().Await(), absl::CancelledError("enough"));
  EXPECT_FALSE((*futures)[0].IsReady());
  gate->Open();
  EXPECT_OK((*futures)[0].Await());
}

TEST(PoisonTest, RunsThatEndedOrRanInTheCallCantBe) {
  TestClient t;
  auto input = t.Make({1});
  ExecuteOptions options = WithMode(Mode::kSynchronous);
  options.launch_id = 9;
  ASSERT_OK(RunOnce(*t.Load(AddOne(1)), {input.get()}, options).status());
  EXPECT_FALSE(*t.device()->PoisonExecution(9, absl::CancelledError("x")));
}

TEST(LaunchTest, TheLaunchIdBecomesTheRunIdAndSeedAndContextArrive) {
  TestClient t;
  int64_t run_id = 0;
  int64_t seed = 0;
  const ExecuteContext* seen = nullptr;
  auto executable =
      t.Load(std::make_shared<KernelProgram>(ProgramInfo(), [&](const KernelArgs& args) {
        run_id = args.launch->run_id;
        seed = args.launch->options->seed;
        seen = args.launch->options->context;
        return absl::OkStatus();
      }));
  ExecuteContext context;
  ExecuteOptions options;
  options.launch_id = 42;
  options.seed = 17;
  options.context = &context;
  ASSERT_OK(executable->Execute({{}}, options).status());
  EXPECT_EQ(run_id, 42);
  EXPECT_EQ(seed, 17);
  EXPECT_EQ(seen, &context);
  options.launch_id = 0;
  ASSERT_OK(executable->Execute({{}}, options).status());
  const int64_t fresh = run_id;
  ASSERT_OK(executable->Execute({{}}, options).status());
  EXPECT_NE(fresh, 0);
  EXPECT_NE(run_id, fresh);
}

TEST(LaunchTest, DeletingTheExecutableLetsRunsFinish) {
  TestClient t;
  auto gate = std::make_shared<Gate>();
  auto input = t.Make({1});
  auto executable = t.Load(Gated(gate));
  auto results = *RunOnce(*executable, {input.get()}, WithMode(Mode::kAsynchronous));
  executable->Delete();
  gate->Open();
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2));
}

TEST(LaunchTest, WithoutThreadsEverythingHappensOnTheThreadAtHand) {
  MemoryBackendOptions options;
  options.threads = 0;
  TestClient t(options);
  const std::thread::id here = std::this_thread::get_id();
  auto executable =
      t.Load(std::make_shared<KernelProgram>(AddOneInfo(1), [here](const KernelArgs& args) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        return AddOneKernel(1)(args);
      }));
  Promise<> promise;
  auto input = t.MakePending({1}, &promise);
  auto results = *RunOnce(*executable, {input.get()}, WithMode(Mode::kAsynchronous));
  promise.Set();
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2));
}

}  // namespace
}  // namespace pjrt::testing
