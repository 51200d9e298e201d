// SPDX-License-Identifier: Apache-2.0
//
// Buffers whose contents arrive later and in pieces.
#include <atomic>

#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

absl::string_view Bytes(const std::vector<int32_t>& values) {
  return absl::string_view(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}

class AsyncTransferTest : public ::testing::Test {
 protected:
  std::unique_ptr<AsyncHostToDeviceTransferManager> Manager(std::vector<Shape> shapes) {
    auto manager = t.client->CreateBuffersForAsyncHostToDevice(shapes, t.memory());
    EXPECT_OK(manager.status());
    return *std::move(manager);
  }
  static std::vector<Shape> TwoInts() { return {MakeShape(S32, {2})}; }
  TestClient t;
  const std::vector<int32_t> data = {3, 4};
};

TEST_F(AsyncTransferTest, KnowsItsBuffers) {
  auto manager = Manager({MakeShape(S32, {2}), MakeShape(S4, {3})});
  EXPECT_EQ(manager->buffer_count(), 2);
  EXPECT_EQ(manager->buffer_size(0), 8);
  EXPECT_EQ(manager->buffer_size(1), 2);
  EXPECT_EQ(manager->device(), t.device());
  EXPECT_NE(manager->RetrieveBuffer(0), nullptr);
  EXPECT_EQ(manager->RetrieveBuffer(0), nullptr);
  EXPECT_EQ(manager->RetrieveBuffer(2), nullptr);
  EXPECT_EQ(manager->RetrieveBuffer(-1), nullptr);
}

TEST_F(AsyncTransferTest, ABufferIsReadyAfterItsDataAndItsCallback) {
  auto manager = Manager(TwoInts());
  auto buffer = manager->RetrieveBuffer(0);
  Future<> ready = buffer->GetReadyFuture();
  EXPECT_FALSE(ready.IsReady());
  bool ready_in_callback = true;
  ASSERT_OK(manager->TransferRawDataToBuffer(0, Bytes(data),
                                             [&] { ready_in_callback = ready.IsReady(); }));
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(3, 4));
  EXPECT_FALSE(ready_in_callback);
}

TEST_F(AsyncTransferTest, LiteralsOfAnyLayoutAndTokens) {
  auto manager = Manager({MakeShape(S32, {2, 2}), MakeShape(S4, {4}), MakeTokenShape()});
  auto matrix = manager->RetrieveBuffer(0);
  auto nibbles = manager->RetrieveBuffer(1);
  auto token = manager->RetrieveBuffer(2);
  Literal column_major = *CreateR2<int32_t>({{1, 2}, {3, 4}}).Relayout(MakeAscendingLayout(2));
  EXPECT_EQ(manager->TransferLiteralToBuffer(0, CreateR1<int32_t>({1}), nullptr).code(),
            StatusCode::kInvalidArgument);
  ASSERT_OK(manager->TransferLiteralToBuffer(0, column_major, nullptr));
  Literal small = *Literal::FromSpan<int8_t>(S4, {4}, {1, -3, 0, 7});
  ASSERT_OK(manager->TransferLiteralToBuffer(1, small, nullptr));
  Literal empty = CreateToken();
  ASSERT_OK(manager->TransferLiteralToBuffer(2, empty, nullptr));
  EXPECT_THAT(*Values(matrix.get()), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT((*nibbles->ToLiteralSync())->data<int8_t>(), ElementsAre(1, -3, 0, 7));
  EXPECT_OK(token->GetReadyFuture().Await());
}

TEST_F(AsyncTransferTest, PiecesMayComeInAnyOrder) {
  const absl::string_view bytes = Bytes(data);
  for (const bool tail_first : {false, true}) {
    auto manager = Manager(TwoInts());
    auto buffer = manager->RetrieveBuffer(0);
    const auto head = [&](bool is_last) {
      return manager->TransferRawDataToSubBuffer(0, bytes.data(), 0, 7, is_last, nullptr);
    };
    const auto tail = [&](bool is_last) {
      return manager->TransferRawDataToSubBuffer(0, bytes.data() + 7, 7, 1, is_last, nullptr);
    };
    ASSERT_OK(tail_first ? tail(false) : head(false));
    EXPECT_FALSE(buffer->GetReadyFuture().IsReady());
    ASSERT_OK(tail_first ? head(true) : tail(true));
    EXPECT_THAT(*Values(buffer.get()), ElementsAre(3, 4));
  }
}

TEST_F(AsyncTransferTest, LargePiecesInFlightAreWaitedFor) {
  auto manager = Manager({MakeShape(S32, {200000})});
  auto buffer = manager->RetrieveBuffer(0);
  std::vector<int32_t> large(200000);
  std::iota(large.begin(), large.end(), 0);
  std::atomic<int> calls{0};
  const char* bytes = reinterpret_cast<const char*>(large.data());
  for (int i = 3; i >= 0; --i) {
    ASSERT_OK(manager->TransferRawDataToSubBuffer(0, bytes + i * 200000, i * 200000, 200000, i == 0,
                                                  [&] { ++calls; }));
  }
  EXPECT_EQ((*Values(buffer.get()))[199999], 199999);
  EXPECT_EQ(calls, 4);
}

TEST_F(AsyncTransferTest, TransfersAfterTheLastAndOutsideOfTheBufferAreRejected) {
  auto manager = Manager(TwoInts());
  bool called = false;
  const auto note = [&] { called = true; };
  EXPECT_EQ(manager->TransferRawDataToBuffer(1, Bytes(data), note).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(manager->TransferRawDataToBuffer(0, "abc", note).code(), StatusCode::kInvalidArgument);
  for (const auto& [offset, size] : {std::pair<int, int>{-1, 1}, {0, -1}, {8, 1}, {0, 9}}) {
    EXPECT_EQ(manager->TransferRawDataToSubBuffer(0, data.data(), offset, size, false, note).code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE(called);
  ASSERT_OK(manager->TransferRawDataToBuffer(0, Bytes(data), nullptr));
  EXPECT_THAT(manager->TransferRawDataToBuffer(0, Bytes(data), note),
              Fails(StatusCode::kInvalidArgument, "already been fully transferred"));
  EXPECT_FALSE(called);
}

TEST_F(AsyncTransferTest, DestroyedBeforeTheDataItPutsBuffersInError) {
  auto manager = Manager(TwoInts());
  auto buffer = manager->RetrieveBuffer(0);
  manager.reset();
  EXPECT_THAT(buffer->GetReadyFuture().Await(),
              Fails(StatusCode::kInternal,
                    "Async transfer object was deleted before transfers completed."));
}

TEST_F(AsyncTransferTest, ACallbackMayDestroyTheManager) {
  auto manager = Manager(TwoInts());
  auto buffer = manager->RetrieveBuffer(0);
  AsyncHostToDeviceTransferManager* raw = manager.get();
  ASSERT_OK(raw->TransferRawDataToBuffer(0, Bytes(data),
                                         [m = std::move(manager)]() mutable { m.reset(); }));
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(3, 4));
}

TEST_F(AsyncTransferTest, SetBufferErrorPoisonsOnce) {
  auto manager = Manager(TwoInts());
  auto buffer = manager->RetrieveBuffer(0);
  auto results = *RunOnce(*t.Load(AddOne(2)), {buffer.get()});
  manager->SetBufferError(0, absl::OkStatus());
  EXPECT_FALSE(buffer->GetReadyFuture().IsReady());
  manager->SetBufferError(0, absl::AbortedError("x"));
  manager->SetBufferError(0, absl::AbortedError("y"));
  EXPECT_EQ(buffer->ToLiteralSync().status(), absl::AbortedError("x"));
  EXPECT_EQ(results[0]->GetReadyFuture().Await(), absl::AbortedError("x"));
  EXPECT_EQ(manager->TransferRawDataToBuffer(0, Bytes(data), nullptr).code(),
            StatusCode::kInvalidArgument);
}

TEST_F(AsyncTransferTest, AProgramMayBeEnqueuedBeforeTheData) {
  auto manager = Manager(TwoInts());
  auto buffer = manager->RetrieveBuffer(0);
  auto results = *RunOnce(*t.Load(AddOne(2)), {buffer.get()});
  buffer.reset();
  ASSERT_OK(manager->TransferRawDataToBuffer(0, Bytes(data), nullptr));
  EXPECT_THAT(*Values(results[0].get()), ElementsAre(4, 5));
}

TEST_F(AsyncTransferTest, LayoutsAreHonouredAndCounted) {
  const PjRtClient::ShapeSpec spec = {S32, {2, 2}};
  const std::optional<Layout> layouts[] = {MakeAscendingLayout(2), std::nullopt};
  EXPECT_EQ(
      t.client
          ->CreateBuffersForAsyncHostToDevice({&spec, 1}, absl::MakeConstSpan(layouts), t.memory())
          .status()
          .code(),
      StatusCode::kInvalidArgument);
  auto manager = *t.client->CreateBuffersForAsyncHostToDevice(
      {&spec, 1}, absl::MakeConstSpan(layouts, 1), t.memory());
  auto buffer = manager->RetrieveBuffer(0);
  EXPECT_EQ(buffer->layout()->layout(), MakeAscendingLayout(2));
  const std::vector<int32_t> column_major = {1, 3, 2, 4};
  ASSERT_OK(manager->TransferRawDataToBuffer(0, Bytes(column_major), nullptr));
  Literal literal = *Literal::Make(MakeShapeWithDescendingLayout(S32, {2, 2}));
  EXPECT_OK(buffer->ToLiteralSync(&literal));
  EXPECT_THAT(literal.data<int32_t>(), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace pjrt::testing
