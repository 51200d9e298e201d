// SPDX-License-Identifier: Apache-2.0
//
// Executions of the CPU device: threads, executors, donation, asynchrony, errors.
#include <cmath>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/base/executor.h"
#include "pjrt/base/future.h"
#include "pjrt/compile_options.h"
#include "pjrt/execute_options.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/level_test.h"

namespace pjrt::cpu {
namespace {

constexpr char kAxpy[] = R"(
  func.func @main(%a: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.multiply %0, %x : tensor<4xf32>
    %2 = stablehlo.add %1, %y : tensor<4xf32>
    return %2 : tensor<4xf32>
  })";

// Enough work for several threads: elementwise ops, a product, reductions of rows, columns and
// everything.
constexpr char kLarge[] = R"(
  func.func @main(%x: tensor<512x700xf32>, %y: tensor<700x300xf32>)
      -> (tensor<512x300xf32>, tensor<512xf32>, tensor<700xf32>, tensor<f32>, tensor<512x700xf32>) {
    %0 = stablehlo.multiply %x, %x : tensor<512x700xf32>
    %1 = stablehlo.exponential %x : tensor<512x700xf32>
    %2 = stablehlo.add %0, %1 : tensor<512x700xf32>
    %3 = stablehlo.dot_general %2, %y, contracting_dims = [1] x [0] : (tensor<512x700xf32>, tensor<700x300xf32>) -> tensor<512x300xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x700xf32>, tensor<f32>) -> tensor<512xf32>
    %5 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<512x700xf32>, tensor<f32>) -> tensor<700xf32>
    %6 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x700xf32>, tensor<f32>) -> tensor<f32>
    return %3, %4, %5, %6, %2 : tensor<512x300xf32>, tensor<512xf32>, tensor<700xf32>, tensor<f32>, tensor<512x700xf32>
  })";

std::vector<float> Noise(int64_t count, uint32_t seed) {
  std::vector<float> values(count);
  for (float& v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(seed) / 4294967296.0);
  }
  return values;
}

size_t ThreadCount() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

// Runs tasks on one thread of its own, in order.
class QueueExecutor final : public Executor {
 public:
  QueueExecutor() : thread_([this] { Work(); }) {}
  ~QueueExecutor() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  void Execute(Task task) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
      ++count_;
    }
    changed_.notify_one();
  }
  int count() {
    std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      std::move(task)();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool stop_ = false;
  int count_ = 0;
  std::thread thread_;
};

struct LargeInputs {
  Literal x = Array<float>({512, 700}, Noise(512 * 700, 1));
  Literal y = Array<float>({700, 300}, Noise(700 * 300, 2));
};

std::vector<std::shared_ptr<Literal>> RunLarge(PjRtClient& client, const LargeInputs& inputs) {
  auto results = RunProgram(client, kLarge, {&inputs.x, &inputs.y});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? *std::move(results) : std::vector<std::shared_ptr<Literal>>();
}

void ExpectSameBits(const std::vector<std::shared_ptr<Literal>>& a,
                    const std::vector<std::shared_ptr<Literal>>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(*a[i] == *b[i]) << what << ", result " << i;
}

TEST(ThreadsTest, OneThreadMakesNoThread) {
  const size_t before = ThreadCount();
  {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(1));
    EXPECT_EQ(ThreadCount(), before);
    RunLarge(*client, LargeInputs());
    EXPECT_EQ(ThreadCount(), before);
  }
  EXPECT_EQ(ThreadCount(), before);
}

TEST(ThreadsTest, AClientTakesItsThreadsAlong) {
  const size_t before = ThreadCount();
  { RunLarge(*MakeClient(WithThreads(3)), LargeInputs()); }
  EXPECT_EQ(ThreadCount(), before);
}

TEST(ThreadsTest, AnyNumberOfThreadsGivesTheSameBits) {
  const LargeInputs inputs;
  const auto expected = RunLarge(OneThreadClient(), inputs);
  for (int threads : {2, 3, 8}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    for (int run = 0; run < 3; ++run) {
      ExpectSameBits(RunLarge(*client, inputs), expected, absl::StrCat(threads, " threads"));
    }
  }
}

TEST(ThreadsTest, SynchronousClientsGiveTheSameBits) {
  const LargeInputs inputs;
  CpuClientOptions options = WithThreads(3);
  options.asynchronous = false;
  ExpectSameBits(RunLarge(*MakeClient(options), inputs), RunLarge(OneThreadClient(), inputs),
                 "synchronous");
}

TEST(ThreadsTest, KernelLevelsDifferInRoundingOnly) {
  const LargeInputs inputs;
  const auto expected = RunLarge(OneThreadClient(), inputs);
  ASSERT_EQ(expected.size(), 5u);
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    const auto actual = RunLarge(*MakeClientOf(*level), inputs);
    ASSERT_EQ(actual.size(), 5u);
    for (size_t r = 0; r < 5; ++r) {
      const auto a = actual[r]->data<float>(), e = expected[r]->data<float>();
      for (size_t i = 0; i < e.size(); ++i) {
        ASSERT_NEAR(a[i], e[i], 2e-4 * (1 + std::abs(e[i])))
            << level->name << " result " << r << " at " << i;
      }
    }
  }
}

TEST(ThreadsTest, TheApplicationsExecutorDoesTheWork) {
  QueueExecutor executor;
  const LargeInputs inputs;
  CpuClientOptions options;
  options.executor = &executor;
  options.executor_concurrency = 2;
  const size_t before = ThreadCount();
  {
    const std::unique_ptr<PjRtClient> client = MakeClient(options);
    EXPECT_EQ(ThreadCount(), before);
    ExpectSameBits(RunLarge(*client, inputs), RunLarge(OneThreadClient(), inputs), "own executor");
    EXPECT_EQ(ThreadCount(), before);
  }
  EXPECT_GT(executor.count(), 0);
}

TEST(ThreadsTest, SeveralClientsRunSideBySide) {
  const LargeInputs inputs;
  const auto expected = RunLarge(OneThreadClient(), inputs);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(1 + t));
      for (int run = 0; run < 2; ++run)
        ExpectSameBits(RunLarge(*client, inputs), expected, "side by side");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadsTest, OneExecutableRunsOnManyThreadsAtOnce) {
  const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(2));
  const LargeInputs inputs;
  const auto expected = RunLarge(OneThreadClient(), inputs);
  auto executable = client->Compile(kLarge, CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto buffers = ToDevice(*client, {&inputs.x, &inputs.y});
  const std::vector<PjRtBuffer*> pointers = Pointers(buffers);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int run = 0; run < 3; ++run) {
        auto results = (*executable)->Execute({pointers}, ExecuteOptions());
        ASSERT_TRUE(results.ok()) << results.status();
        for (size_t i = 0; i < expected.size(); ++i) {
          auto literal = (*results)[0][i]->ToLiteralSync();
          ASSERT_TRUE(literal.ok()) << literal.status();
          EXPECT_TRUE(**literal == *expected[i]) << i;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DonationTest, ADonatedArgumentsMemoryHoldsTheResult) {
  PjRtClient& client = OneThreadClient();
  auto executable = client.Compile(R"(
    func.func @main(%x: tensor<1000xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<1000xf32>) -> tensor<1000xf32> {
      %0 = stablehlo.add %x, %y : tensor<1000xf32>
      return %0 : tensor<1000xf32>
    })",
                                   CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({1000}, Counting<float>(1000)),
                y = Array<float>({1000}, std::vector<float>(1000, 2));
  auto buffers = ToDevice(client, {&x, &y});
  const auto before = client.UnsafeBufferPointer(buffers[0].get());
  ASSERT_TRUE(before.ok()) << before.status();
  const std::vector<PjRtBuffer*> pointers = Pointers(buffers);
  auto results = (*executable)->Execute({pointers}, ExecuteOptions());
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE(buffers[0]->IsDeleted());
  EXPECT_FALSE(buffers[1]->IsDeleted());
  EXPECT_EQ(*client.UnsafeBufferPointer((*results)[0][0].get()), *before);
  EXPECT_EQ(Elements<float>(**(*results)[0][0]->ToLiteralSync()), Counting<float>(1000, 2));
}

TEST(DonationTest, AnAliasThatIsNoNumberGivesNothingUp) {
  PjRtClient& client = OneThreadClient();
  auto executable = client.Compile(R"(
    func.func @main(%x: tensor<2xf32> {tf.aliasing_output = "0"}) -> tensor<2xf32> {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
                                   CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({2}, {1, 2});
  auto buffers = ToDevice(client, {&x});
  ASSERT_TRUE((*executable)->Execute({Pointers(buffers)}, ExecuteOptions()).ok());
  EXPECT_FALSE(buffers[0]->IsDeleted());
}

TEST(DonationTest, AnArgumentThatIsReadLaterIsNotOverwritten) {
  // x is read by the product after the first result is known.
  PjRtClient& client = OneThreadClient();
  auto executable = client.Compile(R"(
    func.func @main(%x: tensor<2x2xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
      %0 = stablehlo.add %x, %x : tensor<2x2xf32>
      %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %0, %1 : tensor<2x2xf32>, tensor<2x2xf32>
    })",
                                   CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({2, 2}, {1, 2, 3, 4});
  auto buffers = ToDevice(client, {&x});
  auto results = (*executable)->Execute({{buffers[0].get()}}, ExecuteOptions());
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE(buffers[0]->IsDeleted());
  EXPECT_EQ(Elements<float>(**(*results)[0][0]->ToLiteralSync()), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(Elements<float>(**(*results)[0][1]->ToLiteralSync()),
            (std::vector<float>{14, 20, 30, 44}));
}

TEST(DonationTest, TransposedIntoItselfStaysRight) {
  PjRtClient& client = OneThreadClient();
  auto executable = client.Compile(R"(
    func.func @main(%x: tensor<64x64xi32> {tf.aliasing_output = 0 : i32}) -> tensor<64x64xi32> {
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x64xi32>) -> tensor<64x64xi32>
      return %0 : tensor<64x64xi32>
    })",
                                   CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<int32_t>({64, 64}, Counting<int32_t>(64 * 64));
  auto buffers = ToDevice(client, {&x});
  auto results = (*executable)->Execute({{buffers[0].get()}}, ExecuteOptions());
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<int32_t> out = Elements<int32_t>(**(*results)[0][0]->ToLiteralSync());
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 64; ++j) ASSERT_EQ(out[i * 64 + j], j * 64 + i);
  }
}

TEST(AsyncTest, APoisonedInputPoisonsTheResult) {
  for (int threads : {1, 2}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    auto executable = client->Compile(kAxpy, CompileOptions());
    ASSERT_TRUE(executable.ok()) << executable.status();
    const Literal a = Scalar<float>(2), y = Array<float>({4}, {1, 2, 3, 4});
    auto buffers = ToDevice(*client, {&a, &y});
    auto bad = client->CreateErrorBuffer(absl::DataLossError("the disk is full"),
                                         MakeShape(F32, {4}), DefaultMemory(*client));
    ASSERT_TRUE(bad.ok()) << bad.status();
    auto results =
        (*executable)
            ->Execute({{buffers[0].get(), bad->get(), buffers[1].get()}}, ExecuteOptions());
    if (!results.ok()) {
      EXPECT_TRUE(absl::StrContains(results.status().message(), "the disk is full"));
      continue;
    }
    const auto literal = (*results)[0][0]->ToLiteralSync();
    EXPECT_EQ(literal.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(absl::StrContains(literal.status().message(), "the disk is full"))
        << literal.status();
  }
}

TEST(AsyncTest, ExecutionWaitsForInputsThatAreNotThereYet) {
  for (int threads : {1, 2}) {
    const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(threads));
    auto executable = client->Compile(kAxpy, CompileOptions());
    ASSERT_TRUE(executable.ok()) << executable.status();
    const Literal a = Scalar<float>(2), x = Array<float>({4}, {1, 2, 3, 4}),
                  y = Array<float>({4}, {10, 20, 30, 40});
    auto buffers = ToDevice(*client, {&a, &x, &y});
    auto alias = client->CreateAliasBuffer(buffers[1]->on_device_shape(), DefaultMemory(*client));
    ASSERT_TRUE(alias.ok()) << alias.status();
    auto results =
        (*executable)
            ->Execute({{buffers[0].get(), alias->first.get(), buffers[2].get()}}, ExecuteOptions());
    ASSERT_TRUE(results.ok()) << results.status();
    Future<> ready = (*results)[0][0]->GetReadyFuture();
    EXPECT_FALSE(ready.IsReady());
    ASSERT_TRUE(std::move(alias->second)(buffers[1].get()).ok());
    EXPECT_TRUE(ready.Await().ok());
    EXPECT_EQ(Elements<float>(**(*results)[0][0]->ToLiteralSync()),
              (std::vector<float>{12, 24, 36, 48}));
  }
}

TEST(AsyncTest, ALongChainOfExecutionsGivesItsLastResult) {
  const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(3));
  auto executable = client->Compile(R"(
    func.func @main(%x: tensor<100000xf32>) -> tensor<100000xf32> {
      %one = stablehlo.constant dense<1.0> : tensor<100000xf32>
      %0 = stablehlo.add %x, %one : tensor<100000xf32>
      %1 = stablehlo.sqrt %0 : tensor<100000xf32>
      %2 = stablehlo.multiply %1, %1 : tensor<100000xf32>
      %3 = stablehlo.round_nearest_even %2 : tensor<100000xf32>
      return %3 : tensor<100000xf32>
    })",
                                    CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal zeros = Array<float>({100000}, std::vector<float>(100000, 0));
  auto buffers = ToDevice(*client, {&zeros});
  std::unique_ptr<PjRtBuffer> buffer = std::move(buffers[0]);
  for (int i = 0; i < 100; ++i) {
    auto results = (*executable)->Execute({{buffer.get()}}, ExecuteOptions());
    ASSERT_TRUE(results.ok()) << results.status();
    buffer = std::move((*results)[0][0]);  // the input is deleted while it may be in use
  }
  EXPECT_EQ(Elements<float>(**buffer->ToLiteralSync()), std::vector<float>(100000, 100));
}

TEST(UnsupportedTest, IsRefusedWhenCompiledAndSaysWhatAndWhere) {
  const auto executable = OneThreadClient().Compile(R"(module {
  func.func @main(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    %0 = stablehlo.custom_call @no_such_thing(%x) : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %0 : tensor<8xcomplex<f32>>
  }
})",
                                                    CompileOptions());
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.status().code(), absl::StatusCode::kUnimplemented);
  const std::string message(executable.status().message());
  EXPECT_TRUE(absl::StrContains(message, "custom_call")) << message;
  EXPECT_TRUE(absl::StrContains(message, "tensor<8xcomplex<f32>>")) << message;
  EXPECT_TRUE(absl::StrContains(message, ":3:")) << message;
}

TEST(UnsupportedTest, AReductionOfWholeArraysIsRefusedWhenCompiled) {
  // Once alone, and once with a value from outside of its region.
  for (const absl::string_view term : {"%b", "%y"}) {
    for (const absl::string_view op :
         {R"("stablehlo.reduce"(%x, %y) <{dimensions = array<i64: 0>}>)",
          R"("stablehlo.reduce_window"(%x, %y) <{window_dimensions = array<i64: 3, 4>}>)"}) {
      const absl::string_view result =
          absl::StrContains(op, "window") ? "tensor<1x1xf32>" : "tensor<4xf32>";
      const auto executable =
          OneThreadClient().Compile(absl::StrCat(R"(
            func.func @main(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> )",
                                                 result, " {\n%0 = ", op, R"( ({
              ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
                %1 = stablehlo.add %a, )",
                                                 term, R"( : tensor<4xf32>
                stablehlo.return %1 : tensor<4xf32>
              }) : (tensor<3x4xf32>, tensor<4xf32>) -> )",
                                                 result, "\nreturn %0 : ", result, "\n}"),
                                    CompileOptions());
      ASSERT_FALSE(executable.ok());
      EXPECT_EQ(executable.status().code(), absl::StatusCode::kUnimplemented);
      EXPECT_TRUE(absl::StrContains(executable.status().message(), "must take scalars"))
          << executable.status();
    }
  }
}

TEST(UnsupportedTest, ARegionOnFloatsOfTwoPrecisionsIsRefusedWhenCompiled) {
  for (const absl::string_view op :
       {R"("stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}>)",
        R"("stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 3>}>)"}) {
    const absl::string_view result =
        absl::StrContains(op, "window") ? "tensor<1xf32>" : "tensor<f32>";
    const auto executable =
        OneThreadClient().Compile(absl::StrCat(R"(
          func.func @main(%x: tensor<3xf64>, %z: tensor<f32>) -> )",
                                               result, " {\n%0 = ", op, R"( ({
            ^bb0(%a: tensor<f32>, %b: tensor<f64>):
              %1 = stablehlo.convert %b : (tensor<f64>) -> tensor<f32>
              %2 = stablehlo.add %a, %1 : tensor<f32>
              stablehlo.return %2 : tensor<f32>
            }) : (tensor<3xf64>, tensor<f32>) -> )",
                                               result, "\nreturn %0 : ", result, "\n}"),
                                  CompileOptions());
    ASSERT_FALSE(executable.ok());
    EXPECT_EQ(executable.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_TRUE(absl::StrContains(executable.status().message(), "element type"))
        << executable.status();
  }
}

TEST(OptionsTest, ImpossibleOptionsAreNamed) {
  CpuClientOptions threads;
  threads.threads = -1;
  EXPECT_TRUE(absl::StrContains(GetCpuClient(threads).status().message(), "threads"));
  CpuClientOptions devices;
  devices.cpu_device_count = 0;
  EXPECT_TRUE(absl::StrContains(GetCpuClient(devices).status().message(), "cpu_device_count"));
  CpuClientOptions level;
  level.kernel_level = "mmx";
  EXPECT_EQ(GetCpuClient(level).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(GetCpuClient(level).status().message(), "mmx"));
}

TEST(MemoryTest, TheApplicationsAllocatorMayRefuse) {
  CpuClientOptions options = WithThreads(1);
  options.allocator = [](size_t size, size_t) -> absl::StatusOr<std::unique_ptr<CpuMemory>> {
    return absl::ResourceExhaustedError(absl::StrCat("no room for ", size));
  };
  const std::unique_ptr<PjRtClient> client = MakeClient(options);
  const auto buffer =
      client->CreateUninitializedBuffer(MakeShape(F32, {16}), DefaultMemory(*client));
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kResourceExhausted) << buffer.status();
}

TEST(CpuClientTest, FingerprintsTellProgramsAndOptionsApart) {
  const auto fingerprint = [](const char* op, bool is_portable) {
    CompileOptions options;
    options.compile_portable_executable = is_portable;
    const std::string text =
        absl::StrCat("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.", op,
                     " %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}");
    const auto executable =
        OneThreadClient().CompileAndLoad(PjRtProgram(text, ProgramFormat::kText), options);
    EXPECT_TRUE(executable.ok()) << executable.status();
    return executable.ok() ? *(*executable)->FingerprintExecutable() : std::string();
  };
  EXPECT_FALSE(fingerprint("negate", false).empty());
  EXPECT_EQ(fingerprint("negate", false), fingerprint("negate", false));
  EXPECT_NE(fingerprint("negate", false), fingerprint("abs", false));
  EXPECT_NE(fingerprint("negate", false), fingerprint("negate", true));
}

}  // namespace
}  // namespace pjrt::cpu
