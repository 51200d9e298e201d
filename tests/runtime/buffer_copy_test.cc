// SPDX-License-Identifier: Apache-2.0
//
// Copies between memory spaces, bitcasts, alias buffers.
#include <thread>

#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

TEST(CopyTest, ToAnotherDeviceTheSourceMayGoAtOnce) {
  for (const bool accessible : {true, false}) {
    MemoryBackendOptions options;
    options.num_devices = 2;
    options.is_host_accessible = accessible;
    options.limits.async_copy_bytes = 16;
    TestClient t(options);
    std::vector<std::unique_ptr<PjRtBuffer>> copies;
    for (int i = 0; i < 16; ++i) {
      auto source = t.Make({i, 1, 2, 3, 4, 5, 6, 7});
      copies.push_back(*source->CopyToMemorySpace(t.memory(1)));
    }
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(copies[i]->device(), t.device(1));
      EXPECT_EQ((*Values(copies[i].get()))[0], i);
    }
  }
}

TEST(CopyTest, WithinAMemorySpaceMakesASecondBuffer) {
  TestClient t;
  auto source = t.Make({1, 2});
  const int64_t before = t.backend->num_allocations();
  auto copy = *source->CopyToMemorySpace(t.memory());
  EXPECT_EQ(t.backend->num_allocations(), before + 1);
  EXPECT_NE(*t.client->UnsafeBufferPointer(source.get()),
            *t.client->UnsafeBufferPointer(copy.get()));
  EXPECT_THAT(*Values(copy.get()), ElementsAre(1, 2));
  EXPECT_EQ(source->CopyToMemorySpace(static_cast<PjRtMemorySpace*>(nullptr)).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(CopyTest, KeepsACustomLayout) {
  TestClient t;
  const Layout column_major = MakeAscendingLayout(2);
  const int32_t data[] = {1, 2, 3, 4};
  auto source = *t.client->BufferFromHostBuffer(data, S32, {2, 2}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                t.memory(), &column_major);
  auto copy = *source->CopyToMemorySpace(*t.device()->memory_space_by_kind("pinned_host"));
  EXPECT_EQ(copy->on_device_shape(), source->on_device_shape());
  Literal literal = *Literal::Make(MakeShapeWithDescendingLayout(S32, {2, 2}));
  EXPECT_OK(copy->ToLiteralSync(&literal));
  EXPECT_THAT(literal.data<int32_t>(), ElementsAre(1, 2, 3, 4));
}

TEST(CopyTest, ToAnotherClientGoesThroughTheHost) {
  TestClient a;
  TestClient b;
  Promise<> promise;
  auto source = a.MakePending({1, 2}, &promise);
  auto copy = *source->CopyToMemorySpace(b.memory());
  EXPECT_EQ(copy->client(), b.client.get());
  promise.Set();
  EXPECT_THAT(*Values(copy.get()), ElementsAre(1, 2));
  auto error =
      *a.client->CreateErrorBuffer(absl::AbortedError("x"), MakeShape(S32, {1}), a.memory());
  auto bad = *error->CopyToMemorySpace(b.memory());
  EXPECT_EQ(bad->GetReadyFuture().Await(), absl::AbortedError("x"));
}

TEST(CopyTest, IntoADonatedDestinationReusesItsStorage) {
  TestClient t;
  auto source = t.Make({1, 2});
  auto destination = t.Make({0, 0});
  const uintptr_t address = *t.client->UnsafeBufferPointer(destination.get());
  const int64_t before = t.backend->num_allocations();
  auto copy = *source->CopyToMemorySpace(destination.get());
  EXPECT_EQ(t.backend->num_allocations(), before);
  EXPECT_TRUE(destination->IsDeleted());
  EXPECT_FALSE(source->IsDeleted());
  EXPECT_EQ(*t.client->UnsafeBufferPointer(copy.get()), address);
  EXPECT_THAT(*Values(copy.get()), ElementsAre(1, 2));
}

TEST(CopyTest, IntoItselfMovesTheOwnership) {
  TestClient t;
  auto source = t.Make({1, 2});
  const uintptr_t address = *t.client->UnsafeBufferPointer(source.get());
  auto moved = *source->CopyToMemorySpace(source.get());
  EXPECT_TRUE(source->IsDeleted());
  EXPECT_EQ(*t.client->UnsafeBufferPointer(moved.get()), address);
  EXPECT_THAT(*Values(moved.get()), ElementsAre(1, 2));
}

TEST(CopyTest, ABadDonatedDestinationStaysAsItIs) {
  TestClient t;
  TestClient other;
  auto source = t.Make({1, 2});
  auto small = t.Make({0});
  auto foreign = other.Make({0, 0});
  auto referenced = t.Make({0, 0});
  auto reference = *referenced->AcquireExternalReference();
  for (PjRtBuffer* bad : {small.get(), foreign.get(), referenced.get()}) {
    EXPECT_EQ(source->CopyToMemorySpace(bad).status().code(), StatusCode::kInvalidArgument);
    EXPECT_FALSE(bad->IsDeleted());
  }
  EXPECT_EQ(source->CopyToMemorySpace(static_cast<PjRtBuffer*>(nullptr)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_FALSE(source->IsDeleted());
}

TEST(CopyTest, ADonatedViewIsNeverWritten) {
  TestClient t;
  alignas(64) int32_t imported[2] = {7, 7};
  auto view =
      *t.client->CreateViewOfDeviceBuffer(imported, MakeShape(S32, {2}), t.memory(), nullptr);
  auto copy = *t.Make({1, 2})->CopyToMemorySpace(view.get());
  EXPECT_THAT(*Values(copy.get()), ElementsAre(1, 2));
  EXPECT_TRUE(view->IsDeleted());
  EXPECT_THAT(imported, ElementsAre(7, 7));
}

TEST(CopyTest, OppositeDonationsDontBlockEachOther) {
  TestClient t;
  for (int round = 0; round < 200; ++round) {
    auto a = t.Make({1});
    auto b = t.Make({2});
    std::thread other([&] { (void)a->CopyToMemorySpace(b.get()); });
    (void)b->CopyToMemorySpace(a.get());
    other.join();
  }
}

TEST(BitcastTest, ReinterpretsTheSameMemory) {
  TestClient t;
  const int32_t one = 1;
  auto scalar = *t.client->BufferFromHostBuffer(&one, S32, {}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                t.memory(), nullptr);
  const uintptr_t address = *t.client->UnsafeBufferPointer(scalar.get());
  auto vector = *scalar->Bitcast(S32, {1}, nullptr);
  EXPECT_TRUE(scalar->IsDeleted());
  EXPECT_EQ(*t.client->UnsafeBufferPointer(vector.get()), address);
  EXPECT_THAT(*Values(vector.get()), ElementsAre(1));
  auto bytes = *vector->Bitcast(U8, {4}, nullptr);
  EXPECT_THAT((*bytes->ToLiteralSync())->data<uint8_t>(), ElementsAre(1, 0, 0, 0));
}

TEST(BitcastTest, OtherSizesAndNonArraysAreRejectedAndChangeNothing) {
  TestClient t;
  auto buffer = t.Make({1, 2});
  EXPECT_EQ(buffer->Bitcast(S32, {3}, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(buffer->Bitcast(TOKEN, {}, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(buffer->Bitcast(TUPLE, {}, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(buffer->Bitcast(S32, {-2, -1}, nullptr).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(1, 2));
}

class AliasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = t.client->CreateAliasBuffer(MakeShapeWithDescendingLayout(S32, {2}), t.memory());
    ASSERT_OK(made.status());
    alias = std::move(made->first);
    fulfil = std::move(made->second);
  }
  TestClient t;
  std::unique_ptr<PjRtBuffer> alias;
  PjRtFulfillAliasBufferCallback fulfil;
};

TEST_F(AliasTest, ConsumersEnqueuedBeforeRunAfterwards) {
  auto results = *RunOnce(*t.Load(AddOne(2)), {alias.get()});
  auto literal = alias->ToLiteral();
  EXPECT_FALSE(results[0]->GetReadyFuture().IsReady());
  auto source = t.Make({1, 2});
  EXPECT_OK(fulfil(source.get()));
  EXPECT_TRUE(source->IsDeleted());
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3));
  EXPECT_THAT((*literal.Await())->data<int32_t>(), ElementsAre(1, 2));
  EXPECT_EQ(fulfil(source.get()).code(), StatusCode::kInvalidArgument);
}

TEST_F(AliasTest, ADonatedAliasGivesItsMemoryToTheResult) {
  auto results = *RunOnce(*t.Load(AddOne(2, Donation::kMay)), {alias.get()});
  EXPECT_TRUE(alias->IsDeleted());
  auto source = t.Make({1, 2});
  const uintptr_t address = *t.client->UnsafeBufferPointer(source.get());
  EXPECT_OK(fulfil(source.get()));
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(2, 3));
  EXPECT_EQ(*t.client->UnsafeBufferPointer(results[0].get()), address);
}

TEST_F(AliasTest, AnErrorPoisons) {
  auto results = *RunOnce(*t.Load(AddOne(2)), {alias.get()});
  EXPECT_EQ(fulfil(absl::AbortedError("x")), absl::AbortedError("x"));
  EXPECT_EQ(results[0]->GetReadyFuture().Await(), absl::AbortedError("x"));
  EXPECT_EQ(t.client->UnsafeBufferPointer(alias.get()).status(), absl::AbortedError("x"));
}

TEST_F(AliasTest, AnotherShapePoisonsAndIsReported) {
  auto source = t.Make({1, 2, 3});
  EXPECT_EQ(fulfil(source.get()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(alias->GetReadyFuture().Await().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(source->IsDeleted());
}

TEST_F(AliasTest, AnotherMemorySpacePoisonsAndIsReported) {
  auto source =
      *t.Make({1, 2})->CopyToMemorySpace(*t.device()->memory_space_by_kind("pinned_host"));
  EXPECT_EQ(fulfil(source.get()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(alias->GetReadyFuture().Await().code(), StatusCode::kInvalidArgument);
}

TEST_F(AliasTest, NeverFulfilledItIsInErrorAndDoesntHang) {
  fulfil = nullptr;
  EXPECT_EQ(alias->GetReadyFuture().Await().code(), StatusCode::kInternal);
}

TEST_F(AliasTest, APendingSourceForwardsItsDefinition) {
  Promise<> promise;
  auto source = t.MakePending({4, 5}, &promise);
  EXPECT_OK(fulfil(source.get()));
  EXPECT_FALSE(alias->GetReadyFuture().IsReady());
  promise.Set();
  EXPECT_THAT(*Values(alias.get()), ElementsAre(4, 5));
}

}  // namespace
}  // namespace pjrt::testing
