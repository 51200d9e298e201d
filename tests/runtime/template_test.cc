// SPDX-License-Identifier: Apache-2.0
//
// Programs with dynamic shapes over any backend: what is compiled when, what is kept, and what the
// backend gets to see.
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt/ir/module.h"
#include "src/core/runtime/template_executable.h"
#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using ::testing::ElementsAre;

constexpr char kAddOne[] = R"(
  func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xi32>) -> tensor<i32>
    %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %ones = stablehlo.dynamic_broadcast_in_dim %one, %n1, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %y = stablehlo.add %x, %ones : tensor<?xi32>
    return %y : tensor<?xi32>
  })";

// Compiles what comes as y = x + 1 on the size that the module's signature shows.
MemoryBackendOptions Compiling(std::vector<int64_t>* sizes, int devices = 1) {
  MemoryBackendOptions options = Devices(devices);
  options.compile = [sizes](const ir::Module& module) {
    const ir::Type input = module.EntryFunction().type().inputs()[0];
    EXPECT_TRUE(input.HasStaticShape());
    sizes->push_back(input.dim(0));
    return AddOne(input.dim(0));
  };
  return options;
}

TEST(TemplateTest, EachShapeIsCompiledOnceAtItsFirstExecution) {
  std::vector<int64_t> sizes;
  const TestClient test(Compiling(&sizes));
  const auto executable = test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  // One size of its own, to see whether the backend takes the program.
  EXPECT_THAT(sizes, ElementsAre(2));
  for (const int64_t size : {3, 2, 3, 2, 5, 3}) {
    const auto x = test.MakeIota(size);
    const auto outputs = RunOnce(**executable, {x.get()});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    std::vector<int32_t> expected(static_cast<size_t>(size));
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(*Values((*outputs)[0].get()), expected);
  }
  EXPECT_THAT(sizes, ElementsAre(2, 3, 2, 5));
}

TEST(TemplateTest, TheFirstSizesStayCompiledHoweverManyComeAfterThem) {
  std::vector<int64_t> sizes;
  const TestClient test(Compiling(&sizes));
  const auto executable = test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  constexpr int64_t kMany = 3 * TemplatePjRtLoadedExecutable::kMaxPrograms;
  const auto run = [&](int64_t size) {
    const auto outputs = RunOnce(**executable, {test.MakeIota(size).get()});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    EXPECT_EQ(Values((*outputs)[0].get())->back(), size);
  };
  for (int64_t size = 1; size <= kMany; ++size) run(size);
  sizes.clear();
  for (int64_t size = 1; size <= 4; ++size) run(size);
  EXPECT_THAT(sizes, ElementsAre());
  // Those in the middle had to go, the last ones are there.
  run(kMany);
  EXPECT_THAT(sizes, ElementsAre());
  run(kMany / 2);
  EXPECT_THAT(sizes, ElementsAre(kMany / 2));
}

TEST(TemplateTest, ThreadsWithSizesOfTheirOwnGetTheirResults) {
  MemoryBackendOptions options;
  options.compile = [](const ir::Module& module) {
    return AddOne(module.EntryFunction().type().inputs()[0].dim(0));
  };
  const TestClient test(options);
  const auto executable = test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int64_t size = 1 + (i * (t + 1)) % 70;
        const auto outputs = RunOnce(**executable, {test.MakeIota(size).get()});
        ASSERT_TRUE(outputs.ok()) << outputs.status();
        EXPECT_EQ(Values((*outputs)[0].get())->back(), size);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TemplateTest, WhatTheBackendRefusesForEverySizeIsRefusedAtOnce) {
  std::vector<int64_t> sizes;
  MemoryBackendOptions options;
  int64_t least = 0;
  options.compile =
      [&](const ir::Module& module) -> absl::StatusOr<std::shared_ptr<const DeviceProgram>> {
    sizes.push_back(module.EntryFunction().type().inputs()[0].dim(0));
    if (sizes.back() < least) return absl::UnimplementedError("too small");
    return AddOne(sizes.back());
  };
  const TestClient test(options);
  const auto compile = [&] {
    sizes.clear();
    return test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), {}).status();
  };
  least = 4;
  EXPECT_TRUE(compile().ok());
  EXPECT_THAT(sizes, ElementsAre(2, 1, 4));
  least = 1000;
  EXPECT_THAT(compile(), Fails(absl::StatusCode::kUnimplemented,
                               "too small (when 2 is put for all that is unknown)"));
  EXPECT_THAT(sizes, ElementsAre(2, 1, 4, 12));
}

TEST(TemplateTest, TheProgramThatRanLastIsTakenForItsShapesOnly) {
  std::vector<int64_t> sizes;
  const TestClient test(Compiling(&sizes));
  const TestClient other(Compiling(&sizes));
  const auto executable = test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto x = test.MakeIota(2), longer = test.MakeIota(3), foreign = other.MakeIota(2);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  for (int round = 0; round < 2; ++round) {
    for (PjRtBuffer* const argument : {x.get(), x.get(), longer.get()}) {
      const auto outputs = RunOnce(**executable, {argument});
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      EXPECT_EQ((*outputs)[0]->dimensions(), argument->dimensions());
      // What is refused leaves it as it was.
      EXPECT_THAT(RunOnce(**executable, {foreign.get()}).status(), Fails(invalid, "[PJRT-R050]"));
      EXPECT_THAT(RunOnce(**executable, {nullptr}).status(), Fails(invalid, "[PJRT-R050]"));
      EXPECT_THAT(RunOnce(**executable, {}).status(), Fails(invalid, "[PJRT-R054]"));
    }
  }
  const auto gone = test.MakeIota(3);
  gone->Delete();
  EXPECT_THAT(RunOnce(**executable, {gone.get()}).status(), Fails(invalid, "[PJRT-R055]"));
  EXPECT_THAT(sizes, ElementsAre(2, 2, 3));
}

// A buffer of somebody else that shows the shape of one of ours.
class Disguise final : public PjRtBuffer {
 public:
  explicit Disguise(PjRtBuffer* inner) : inner_(inner) {}
  const Shape& on_device_shape() const override { return inner_->on_device_shape(); }
  PjRtMemorySpace* memory_space() const override { return nullptr; }
  PjRtDevice* device() const override { return nullptr; }
  PjRtClient* client() const override { return nullptr; }
  Future<> ToLiteral(MutableLiteralBase*) override { return absl::OkStatus(); }
  absl::StatusOr<size_t> GetOnDeviceSizeInBytes() const override { return 0; }
  void Delete() override {}
  bool IsDeleted() const override { return false; }
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CopyToMemorySpace(PjRtMemorySpace*) override {
    return absl::UnimplementedError("");
  }
  Future<> GetReadyFuture() override { return absl::OkStatus(); }
  bool IsOnCpu() const override { return true; }

 private:
  PjRtBuffer* const inner_;
};

constexpr char kManyOnes[] = R"(
  func.func @main(%n: tensor<1xi32>) -> tensor<?xi32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ones = stablehlo.dynamic_broadcast_in_dim %one, %n, dims = [] : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    return %ones : tensor<?xi32>
  })";

TEST(TemplateTest, ValuesThatDecideShapesAreComparedInBuffersOfTheClientOnly) {
  MemoryBackendOptions options;
  int compiled = 0;
  options.compile = [&](const ir::Module&) {
    ++compiled;
    return AddOne(1);
  };
  const TestClient test(options);
  const auto executable = test.client->Compile(PjRtProgram(kManyOnes, ProgramFormat::kText), {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto two = test.Make({2}), three = test.Make({3}), two_again = test.Make({2});
  Disguise disguise(two.get());
  const auto invalid = absl::StatusCode::kInvalidArgument;
  for (int round = 0; round < 2; ++round) {
    compiled = 0;
    EXPECT_OK(RunOnce(**executable, {two.get()}).status());
    EXPECT_OK(RunOnce(**executable, {two_again.get()}).status());
    EXPECT_EQ(compiled, round == 0 ? 1 : 0);
    EXPECT_THAT(RunOnce(**executable, {&disguise}).status(), Fails(invalid, "[PJRT-R050]"));
    EXPECT_OK(RunOnce(**executable, {three.get()}).status());
    EXPECT_EQ(compiled, round == 0 ? 2 : 0);
  }
  const auto gone = test.Make({3});
  gone->Delete();
  EXPECT_FALSE(RunOnce(**executable, {gone.get()}).ok());
}

TEST(TemplateTest, ResultsOfPendingInputsFollowThem) {
  std::vector<int64_t> sizes;
  const TestClient test(Compiling(&sizes));
  const auto executable = test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  Promise<> promise;
  const auto x = test.MakePending({1, 2}, &promise);
  // Shapes are known before values: nothing waits.
  const auto outputs = RunOnce(**executable, {x.get()});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_FALSE((*outputs)[0]->GetReadyFuture().IsReady());
  promise.Set();
  EXPECT_EQ(*Values((*outputs)[0].get()), std::vector<int32_t>({2, 3}));
}

TEST(TemplateTest, AllDevicesOfALaunchHaveTheSameShapes) {
  std::vector<int64_t> sizes;
  const TestClient test(Compiling(&sizes, 2));
  CompileOptions options;
  options.executable_build_options.set_num_replicas(2);
  const auto executable = test.client->Compile(PjRtProgram(kAddOne, ProgramFormat::kText), options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ((*executable)->addressable_devices().size(), 2u);
  EXPECT_EQ((*executable)->addressable_device_logical_ids()[1].replica, 1);
  const auto a = test.MakeIota(2), b = test.Make({5, 6}, 1), longer = test.Make({5, 6, 7}, 1);
  const std::vector<std::vector<PjRtBuffer*>> same = {{a.get()}, {b.get()}};
  const auto outputs = (*executable)->Execute(same, ExecuteOptions());
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(*Values((*outputs)[1][0].get()), std::vector<int32_t>({6, 7}));
  const std::vector<std::vector<PjRtBuffer*>> other = {{a.get()}, {longer.get()}};
  std::optional<std::vector<Future<>>> futures(std::in_place);
  EXPECT_THAT((*executable)->Execute(other, ExecuteOptions(), futures).status(),
              Fails(absl::StatusCode::kInvalidArgument, "[PJRT-R072]"));
  EXPECT_TRUE(futures->empty());
  EXPECT_THAT((*executable)->Execute({}, ExecuteOptions()).status(),
              Fails(absl::StatusCode::kInvalidArgument, "[PJRT-R060]"));
}

TEST(TemplateTest, StaticProgramsReachTheBackendWithoutDynamicOps) {
  int dynamic_ops = -1;
  MemoryBackendOptions options;
  options.compile = [&](const ir::Module& module) {
    dynamic_ops = 0;
    module.Walk([&](ir::Op* op) { dynamic_ops += op->Is(ir::OpCode::kDynamicReshape); });
    return AddOne(4);
  };
  const TestClient test(options);
  const auto executable = test.client->Compile(PjRtProgram(R"(
    func.func @main(%x: tensor<2x2xi32>) -> tensor<4xi32> {
      %shape = stablehlo.constant dense<4> : tensor<1xi32>
      %y = stablehlo.dynamic_reshape %x, %shape : (tensor<2x2xi32>, tensor<1xi32>) -> tensor<4xi32>
      return %y : tensor<4xi32>
    })",
                                                           ProgramFormat::kText),
                                               {});
  ASSERT_TRUE(executable.ok()) << executable.status();
  EXPECT_EQ(dynamic_ops, 0);
}

// ----- The cache -----

class SpecializationCacheTest : public ::testing::Test {
 protected:
  SpecializationCache::Program Program() {
    return SpecializationCache::Program(
        static_cast<const CommonPjRtLoadedExecutable*>(test_.Load(AddOne(1)).release()));
  }
  // Asks for a key; true when it had to be made.
  bool IsMade(SpecializationCache& cache, int64_t key) {
    bool is_made = false;
    const auto program = cache.Get({key}, [&]() -> absl::StatusOr<SpecializationCache::Program> {
      is_made = true;
      return Program();
    });
    EXPECT_TRUE(program.ok());
    return is_made;
  }
  TestClient test_;
};

TEST_F(SpecializationCacheTest, DropsWhatWasUsedLeastRecently) {
  SpecializationCache cache(2);
  EXPECT_TRUE(IsMade(cache, 1));
  EXPECT_TRUE(IsMade(cache, 2));
  EXPECT_FALSE(IsMade(cache, 1));
  EXPECT_TRUE(IsMade(cache, 3));
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_FALSE(IsMade(cache, 1));
  EXPECT_TRUE(IsMade(cache, 2));
  EXPECT_FALSE(IsMade(cache, 2));
}

TEST_F(SpecializationCacheTest, KeepsNoErrors) {
  SpecializationCache cache(2);
  const auto failed = cache.Get({1}, []() -> absl::StatusOr<SpecializationCache::Program> {
    return absl::InvalidArgumentError("no");
  });
  EXPECT_THAT(failed.status(), Fails(absl::StatusCode::kInvalidArgument, "no"));
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_TRUE(IsMade(cache, 1));
}

TEST_F(SpecializationCacheTest, MakesAProgramOnceForAllThreads) {
  SpecializationCache cache(4);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto program = cache.Get({7}, [&]() -> absl::StatusOr<SpecializationCache::Program> {
        ++made;
        return Program();
      });
      EXPECT_TRUE(program.ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made.load(), 1);
}

}  // namespace
}  // namespace pjrt::testing
