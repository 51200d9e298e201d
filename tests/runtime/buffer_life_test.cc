// SPDX-License-Identifier: Apache-2.0
//
// Readiness, errors, deletion, references, and reading.
#include <atomic>
#include <thread>

#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

constexpr absl::string_view kPayloadUrl = "test/payload";

absl::Status ErrorWithPayload() {
  absl::Status error = absl::DataLossError("the disk is gone");
  error.SetPayload(kPayloadUrl, absl::Cord("details"));
  return error;
}

TEST(ReadinessTest, AReadyFutureIsOneForAll) {
  TestClient t;
  auto buffer = t.MakeIota(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j) EXPECT_OK(buffer->GetReadyFuture().Await());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ReadinessTest, AFutureTakenBeforeDeleteStillResolves) {
  TestClient t;
  Promise<> promise;
  auto buffer = t.MakePending({1}, &promise);
  Future<> ready = buffer->GetReadyFuture();
  buffer->Delete();
  EXPECT_FALSE(ready.IsReady());
  promise.Set();
  EXPECT_OK(ready.Await());
  EXPECT_THAT(buffer->GetReadyFuture().Await(),
              Fails(StatusCode::kInvalidArgument, "deleted or donated"));
}

TEST(ErrorBufferTest, KeepsShapeStatusAndPayloadInEveryMemorySpace) {
  TestClient t;
  for (PjRtMemorySpace* space : t.client->memory_spaces()) {
    auto buffer = *t.client->CreateErrorBuffer(ErrorWithPayload(), MakeShape(F32, {2, 3}), space);
    EXPECT_EQ(buffer->memory_space(), space);
    EXPECT_THAT(buffer->dimensions(), ElementsAre(2, 3));
    EXPECT_EQ(buffer->GetReadyFuture().Await(), ErrorWithPayload());
    EXPECT_EQ(buffer->ToLiteralSync().status(), ErrorWithPayload());
    EXPECT_TRUE(buffer->GetReadyFuture().Await().GetPayload(kPayloadUrl).has_value());
    EXPECT_EQ(t.client->UnsafeBufferPointer(buffer.get()).status(), ErrorWithPayload());
    auto copy = *buffer->CopyToMemorySpace(t.memory());
    EXPECT_EQ(copy->GetReadyFuture().Await(), ErrorWithPayload());
  }
  EXPECT_OK(t.client->CreateErrorBuffer(ErrorWithPayload(), MakeTokenShape(), t.memory()).status());
  EXPECT_EQ(
      t.client->CreateErrorBuffer(absl::OkStatus(), MakeShape(F32, {}), t.memory()).status().code(),
      StatusCode::kInvalidArgument);
}

TEST(ErrorBufferTest, AnArgumentInErrorPutsAllOutputsInErrorWithItsStatus) {
  TestClient t;
  auto error = *t.client->CreateErrorBuffer(ErrorWithPayload(), MakeShape(S32, {4}), t.memory());
  auto good = t.MakeIota(4);
  auto executable = t.Load(Add(4));
  std::optional<std::vector<Future<>>> futures(std::in_place);
  auto results = executable->Execute({{good.get(), error.get()}}, ExecuteOptions(), futures);
  ASSERT_OK(results.status());
  EXPECT_EQ((*results)[0][0]->GetReadyFuture().Await(), ErrorWithPayload());
  EXPECT_THAT((*results)[0][0]->dimensions(), ElementsAre(4));
  ASSERT_EQ(futures->size(), 1);
  EXPECT_EQ((*futures)[0].Await(), ErrorWithPayload());
  EXPECT_FALSE(error->IsDeleted());
}

TEST(ErrorBufferTest, AnErrorThatComesLaterTravelsWithItsCodeAndPayload) {
  TestClient t;
  Promise<> promise;
  auto pending = t.MakePending({1, 2}, &promise);
  auto executable = t.Load(AddOne(2));
  auto first = *RunOnce(*executable, {pending.get()});
  auto second = *RunOnce(*executable, {first[0].get()});
  promise.Set(ErrorWithPayload());
  EXPECT_EQ(second[0]->ToLiteralSync().status(), ErrorWithPayload());
  EXPECT_TRUE(second[0]->GetReadyFuture().Await().GetPayload(kPayloadUrl).has_value());
}

TEST(ErrorBufferTest, FailuresDontLeakIntoLaterRuns) {
  TestClient t;
  auto fail = std::make_shared<std::atomic<bool>>(false);
  auto executable = t.Load(std::make_shared<KernelProgram>(
      AddOneInfo(2), [fail](const KernelArgs& args) -> absl::Status {
        if (*fail) return absl::AbortedError("told to");
        return AddOneKernel(2)(args);
      }));
  auto input = t.MakeIota(2);
  ExecuteOptions options;
  options.execution_mode = ExecuteOptions::ExecutionMode::kAsynchronous;
  for (int i = 0; i < 10; ++i) {
    *fail = i % 2 == 0;
    auto results = *RunOnce(*executable, {input.get()}, options);
    EXPECT_EQ(results[0]->GetReadyFuture().Await().ok(), i % 2 == 1);
  }
}

TEST(DeleteTest, IsIdempotentAndKeepsTheShape) {
  TestClient t;
  auto buffer = t.MakeIota(4);
  EXPECT_FALSE(buffer->IsDeleted());
  buffer->Delete();
  buffer->Delete();
  EXPECT_TRUE(buffer->IsDeleted());
  EXPECT_EQ(buffer->element_type(), S32);
  EXPECT_THAT(buffer->dimensions(), ElementsAre(4));
  EXPECT_EQ(buffer->layout()->layout(), MakeDescendingLayout(1));
  EXPECT_EQ(buffer->memory_space(), t.memory());
}

TEST(DeleteTest, EverythingThatNeedsTheContentsFails) {
  TestClient t;
  auto buffer = t.MakeIota(4);
  auto other = t.MakeIota(4);
  buffer->Delete();
  const auto deleted = Fails(StatusCode::kInvalidArgument, "deleted or donated");
  Literal literal = *Literal::Make(MakeShape(S32, {4}));
  char bytes[16];
  EXPECT_THAT(buffer->ToLiteralSync(&literal), deleted);
  EXPECT_THAT(buffer->ToLiteralSync().status(), deleted);
  EXPECT_THAT(buffer->CopyRawToHost(bytes, 0, 4).Await(), deleted);
  EXPECT_THAT(buffer->CopyToMemorySpace(t.memory()).status(), deleted);
  EXPECT_THAT(buffer->CopyToMemorySpace(other.get()).status(), deleted);
  EXPECT_FALSE(other->IsDeleted());
  EXPECT_THAT(buffer->AcquireExternalReference().status(), deleted);
  EXPECT_THAT(buffer->Bitcast(F32, {4}, nullptr).status(), deleted);
  EXPECT_THAT(buffer->DonateWithControlDependency(absl::OkStatus()).status(), deleted);
  EXPECT_THAT(buffer->GetOnDeviceSizeInBytes().status(), deleted);
  EXPECT_THAT(RunOnce(*t.Load(AddOne(4)), {buffer.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "Invalid buffer passed to Execute()"));
}

TEST(DeleteTest, DoesntDisturbWorkThatIsEnqueued) {
  TestClient t;
  Promise<> promise;
  auto buffer = t.MakePending({1, 2, 3}, &promise);
  auto copy = *buffer->CopyToMemorySpace(t.memory());
  auto results = *RunOnce(*t.Load(AddOne(3)), {buffer.get()});
  auto literal = buffer->ToLiteral();
  buffer->Delete();
  promise.Set();
  EXPECT_THAT(*Values(copy.get()), ElementsAre(1, 2, 3));
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3, 4));
  EXPECT_THAT((*literal.Await())->data<int32_t>(), ElementsAre(1, 2, 3));
}

TEST(DeleteTest, RacingWithExecuteGivesRightDataOrADeletedError) {
  TestClient t;
  auto executable = t.Load(AddOne(3));
  for (int round = 0; round < 50; ++round) {
    auto buffer = t.Make({1, 2, 3});
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        auto results = RunOnce(*executable, {buffer.get()});
        if (results.ok()) {
          EXPECT_THAT(*Values((*results)[0].get()), ElementsAre(2, 3, 4));
        } else {
          EXPECT_THAT(results.status(), Fails(StatusCode::kInvalidArgument, "deleted or donated"));
        }
      });
    }
    buffer->Delete();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(ReleaseTest, HandsTheMemoryOutAndDeletes) {
  TestClient t;
  auto buffer = t.Make({5});
  const uintptr_t address = *t.client->UnsafeBufferPointer(buffer.get());
  auto memory = *buffer->ReleaseDeviceMemoryOwnership(false);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->OpaqueDeviceMemoryDataPointer()), address);
  EXPECT_TRUE(buffer->IsDeleted());
  EXPECT_EQ(*static_cast<int32_t*>(memory->OpaqueDeviceMemoryDataPointer()), 5);
  auto again = buffer->ReleaseDeviceMemoryOwnership(false);
  ASSERT_OK(again.status());
  EXPECT_EQ(*again, nullptr);
}

TEST(ReleaseTest, WithWaitingFailsForContentsInError) {
  TestClient t;
  Promise<> promise;
  auto buffer = t.MakePending({5}, &promise);
  promise.Set(absl::AbortedError("x"));
  EXPECT_EQ(buffer->ReleaseDeviceMemoryOwnership(true).status().code(), StatusCode::kInternal);
}

TEST(ExternalReferenceTest, KeepsTheMemoryReadableAfterDelete) {
  TestClient t;
  auto buffer = t.Make({5, 6});
  auto reference = *buffer->AcquireExternalReference();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(reference->OpaqueDeviceMemoryDataPointer()),
            *t.client->UnsafeBufferPointer(buffer.get()));
  const int64_t before = t.backend->bytes_in_use();
  buffer.reset();
  EXPECT_EQ(t.backend->bytes_in_use(), before);
  EXPECT_EQ(static_cast<int32_t*>(reference->OpaqueDeviceMemoryDataPointer())[1], 6);
  EXPECT_EQ(reference->WaitUntilBufferReadyOnStream(0).code(), StatusCode::kUnimplemented);
  reference.reset();
  EXPECT_LT(t.backend->bytes_in_use(), before);
}

// ----- Reading -----

TEST(ToLiteralTest, HonoursTheLiteralsLayout) {
  TestClient t;
  const int32_t source[] = {1, 2, 3, 4};
  auto buffer = *t.client->BufferFromHostBuffer(source, S32, {2, 2}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                t.memory(), nullptr);
  Literal literal = *Literal::Make(MakeShapeWithLayout(S32, {2, 2}, {0, 1}));
  EXPECT_OK(buffer->ToLiteralSync(&literal));
  EXPECT_THAT(literal.data<int32_t>(), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(literal.Get<int32_t>({0, 1}), 2);
}

TEST(ToLiteralTest, AnIncompatibleLiteralIsRejected) {
  TestClient t;
  auto buffer = t.MakeIota(4);
  Literal wrong = *Literal::Make(MakeShape(S32, {2, 2}));
  EXPECT_THAT(buffer->ToLiteralSync(&wrong),
              Fails(StatusCode::kInternal, "Shape mismatch during ToLiteral conversion"));
  EXPECT_EQ(buffer->ToLiteral(nullptr).Await().code(), StatusCode::kInvalidArgument);
}

TEST(ToLiteralTest, EnqueuedBeforeTheDataIsThereItResolvesLater) {
  TestClient t;
  Promise<> promise;
  auto buffer = t.MakePending({1, 2}, &promise);
  Future<std::shared_ptr<Literal>> literal = buffer->ToLiteral();
  EXPECT_FALSE(literal.IsReady());
  promise.Set();
  EXPECT_THAT((*literal.Await())->data<int32_t>(), ElementsAre(1, 2));
}

TEST(ToLiteralTest, LazyAsksForTheDestinationOnceAndPassesItsErrorOn) {
  TestClient t;
  auto buffer = t.Make({1, 2});
  Literal literal = *Literal::Make(MakeShape(S32, {2}));
  auto [promise, destination] = MakePromise<MutableLiteralBase*>();
  int calls = 0;
  Future<> copied = buffer->LazyToLiteral([&, d = std::move(destination)]() mutable {
    ++calls;
    return std::move(d);
  });
  EXPECT_FALSE(copied.IsReady());
  promise.Set(&literal);
  EXPECT_OK(copied.Await());
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(literal.data<int32_t>(), ElementsAre(1, 2));
  Future<> failed = buffer->LazyToLiteral(
      []() -> Future<MutableLiteralBase*> { return absl::AbortedError("no room"); });
  EXPECT_EQ(failed.Await(), absl::AbortedError("no room"));
}

TEST(ToLiteralTest, ManyAtOnce) {
  TestClient t;
  auto buffer = t.MakeIota(100000);
  std::vector<Future<std::shared_ptr<Literal>>> literals;
  for (int i = 0; i < 16; ++i) literals.push_back(buffer->ToLiteral());
  for (auto& literal : literals) EXPECT_EQ((*literal.Await())->data<int32_t>()[99999], 99999);
}

TEST(CopyRawToHostTest, CopiesAnyPartAndRejectsBadRanges) {
  TestClient t;
  auto buffer = t.Make({1, 2, 3});
  int32_t out[3] = {};
  EXPECT_OK(buffer->CopyRawToHost(out, 0, 12).Await());
  EXPECT_THAT(out, ElementsAre(1, 2, 3));
  EXPECT_OK(buffer->CopyRawToHost(out, 8, 4).Await());
  EXPECT_EQ(out[0], 3);
  EXPECT_OK(buffer->CopyRawToHost(out, 12, 0).Await());
  for (const auto& [offset, size] :
       {std::pair<int64_t, int64_t>{-1, 1}, {0, -1}, {13, 0}, {8, 5}, {1, INT64_MAX}}) {
    EXPECT_EQ(buffer->CopyRawToHost(out, offset, size).Await().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(CopyRawToHostTest, ALateDestinationMayComeAfterDelete) {
  TestClient t;
  auto buffer = t.Make({1, 2});
  auto [promise, destination] = MakePromise<void*>();
  Future<> copied = buffer->CopyRawToHostFuture(std::move(destination), 0, 8);
  buffer.reset();
  int32_t out[2];
  promise.Set(out);
  EXPECT_OK(copied.Await());
  EXPECT_THAT(out, ElementsAre(1, 2));
  EXPECT_EQ(t.Make({1})->CopyRawToHostFuture(absl::AbortedError("x"), 0, 4).Await(),
            absl::AbortedError("x"));
}

TEST(DynamicShapeTest, SizesBehindTheElementsSayHowManyThereAre) {
  TestClient t;
  const Shape bounded = MakeShape(S32, {2, 3}, {false, true});
  auto buffer = *t.client->CreateUninitializedBuffer(bounded, t.memory());
  EXPECT_EQ(*buffer->GetOnDeviceSizeInBytes(), 24 + 8);
  EXPECT_TRUE(buffer->has_dynamic_dimensions());
  EXPECT_THAT(buffer->is_dynamic_dimension(), ElementsAre(false, true));
  auto* memory = reinterpret_cast<int32_t*>(*t.client->UnsafeBufferPointer(buffer.get()));
  for (int i = 0; i < 4; ++i) memory[i] = i;
  memory[6] = 2;
  memory[7] = 2;
  EXPECT_THAT(*buffer->logical_dimensions(), ElementsAre(2, 2));
  EXPECT_EQ(*buffer->HostShape(), MakeShapeWithDescendingLayout(S32, {2, 2}));
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(0, 1, 2, 3));
  memory[7] = 4;
  EXPECT_EQ(buffer->logical_dimensions().status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace pjrt::testing
