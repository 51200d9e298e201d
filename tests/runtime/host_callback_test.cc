// SPDX-License-Identifier: Apache-2.0
//
// Chunks, streams of them, and host callbacks. Scenarios 200-202.
#include "pjrt/host_callback.h"

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "pjrt/chunk.h"
#include "src/core/base/error.h"
#include "src/core/base/machine_memory.h"

namespace pjrt {
namespace {

PjRtChunk ChunkOf(const std::vector<float>& values) {
  PjRtChunk chunk = PjRtChunk::AllocateDefault(values.size() * sizeof(float));
  std::memcpy(chunk.data(), values.data(), values.size() * sizeof(float));
  return chunk;
}

// Keeps what it is sent.
class CollectingStream : public CopyToDeviceStream {
 public:
  CollectingStream(int64_t total, int64_t granule, std::string* bytes)
      : CopyToDeviceStream(total, granule), bytes_(bytes) {}

  Future<> AddChunk(PjRtChunk chunk) override {
    const absl::StatusOr<int64_t> offset = Accept(chunk);
    if (!offset.ok()) return offset.status();
    EXPECT_EQ(*offset, static_cast<int64_t>(bytes_->size()));
    bytes_->append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
    return absl::OkStatus();
  }

 private:
  std::string* bytes_;
};

std::vector<float> Floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST(ChunkTest, DeleterRunsOnce) {
  int deleted = 0;
  char byte = 0;
  {
    PjRtChunk a(&byte, 1, [&](void* p) {
      EXPECT_EQ(p, &byte);
      ++deleted;
    });
    PjRtChunk b = std::move(a);
    EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(a.size(), 0);
    PjRtChunk c;
    c = std::move(b);
    EXPECT_EQ(c.size(), 1);
    EXPECT_EQ(deleted, 0);
    c = PjRtChunk();
    EXPECT_EQ(deleted, 1);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(ChunkTest, ReleasedMemoryIsNotFreed) {
  int deleted = 0;
  char byte = 0;
  {
    PjRtChunk chunk(&byte, 1, [&](void*) { ++deleted; });
    const std::function<void(void*)> deleter = chunk.deleter();
    chunk.release();
    EXPECT_EQ(chunk.data(), nullptr);
    EXPECT_EQ(deleted, 0);
    deleter(&byte);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(ChunkTest, DefaultMemoryIsAligned) {
  PjRtChunk chunk = PjRtChunk::AllocateDefault(100);
  EXPECT_EQ(chunk.size(), 100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(chunk.data()) % 64, 0u);
  EXPECT_EQ(PjRtChunk::AllocateDefault(0).data(), nullptr);
  EXPECT_EQ(PjRtChunk::AllocateDefault(static_cast<size_t>(MachineMemory()) + 1).data(), nullptr);
  PjRtChunk null_deleter(&chunk, 1, nullptr);
}

TEST(CopyToDeviceStreamTest, AcceptsChunksUpToTheTotal) {
  std::string bytes;
  CollectingStream stream(12, 4, &bytes);
  EXPECT_EQ(stream.total_bytes(), 12);
  EXPECT_EQ(stream.granule_size_in_bytes(), 4);
  EXPECT_TRUE(stream.empty());
  EXPECT_TRUE(stream.AddChunk(ChunkOf({1, 2})).Await().ok());
  EXPECT_EQ(stream.current_bytes(), 8);
  EXPECT_FALSE(stream.IsComplete());
  EXPECT_FALSE(stream.empty());
  EXPECT_TRUE(stream.AddChunk(ChunkOf({3})).Await().ok());
  EXPECT_TRUE(stream.IsComplete());
  EXPECT_EQ(Floats(bytes), (std::vector<float>{1, 2, 3}));
}

TEST(CopyToDeviceStreamTest, RejectsOverflowPartsOfGranulesAndMoreAfterTheEnd) {
  std::string bytes;
  CollectingStream stream(8, 4, &bytes);
  const auto add = [&](size_t size) {
    return stream.AddChunk(PjRtChunk::AllocateDefault(size)).Await();
  };
  EXPECT_EQ(ErrorId(add(12)), "PJRT-R008");
  EXPECT_EQ(ErrorId(add(3)), "PJRT-R008");
  EXPECT_TRUE(stream.empty());
  EXPECT_TRUE(add(8).ok());
  EXPECT_EQ(add(4).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorId(add(4)), "PJRT-R008");
  EXPECT_TRUE(stream.IsComplete());
  EXPECT_EQ(stream.current_bytes(), 8);
}

TEST(CopyToDeviceStreamTest, OddSizesAreTakenAsTheNearestGoodOnes) {
  std::string bytes;
  CollectingStream empty(-5, 0, &bytes);
  EXPECT_EQ(empty.total_bytes(), 0);
  EXPECT_EQ(empty.granule_size_in_bytes(), 1);
  EXPECT_TRUE(empty.IsComplete());
}

TEST(ChunkQueueTest, ChunksLeaveInOrderBeforeOrAfterThePop) {
  ThreadSafePjRtChunkQueue queue;
  Future<PjRtChunk> first = queue.Pop();
  Future<PjRtChunk> second = queue.Pop();
  EXPECT_FALSE(first.IsReady());
  for (int i = 1; i <= 4; ++i) queue.Push(PjRtChunk::AllocateDefault(i));
  EXPECT_EQ(first.Await()->size(), 1);
  EXPECT_EQ(second.Await()->size(), 2);
  EXPECT_EQ(queue.Pop().Await()->size(), 3);
  EXPECT_EQ(queue.Pop().Await()->size(), 4);
}

TEST(ChunkQueueTest, OpenPopsFailWithTheQueue) {
  Future<PjRtChunk> open;
  {
    ThreadSafePjRtChunkQueue queue;
    open = queue.Pop();
  }
  EXPECT_EQ(open.Await().status().code(), absl::StatusCode::kInternal);
}

TEST(ChunkQueueTest, ThreadsPushAndPop) {
  ThreadSafePjRtChunkQueue queue;
  constexpr int kChunks = 500;
  std::thread pusher([&] {
    for (int i = 1; i <= kChunks; ++i) queue.Push(PjRtChunk::AllocateDefault(i));
  });
  for (int i = 1; i <= kChunks; ++i) EXPECT_EQ(queue.Pop().Await()->size(), i);
  pusher.join();
}

TEST(HostCallbackTest, ScopesNestOnTheirThread) {
  EXPECT_FALSE(ThisThreadIsInsideHostCallback());
  {
    HostCallbackScope outer;
    {
      HostCallbackScope inner;
      EXPECT_TRUE(ThisThreadIsInsideHostCallback());
    }
    EXPECT_TRUE(ThisThreadIsInsideHostCallback());
    std::thread([] { EXPECT_FALSE(ThisThreadIsInsideHostCallback()); }).join();
  }
  EnterHostCallback();
  EXPECT_TRUE(ThisThreadIsInsideHostCallback());
  LeaveHostCallback();
  EXPECT_FALSE(ThisThreadIsInsideHostCallback());
}

// z = x + y on f32[2].
HostCallback AddCallback(absl::Status status = absl::OkStatus()) {
  const Shape shape(F32, {2});
  HostCallback callback;
  callback.operands = {{1, shape}, {2, shape}};
  callback.results = {{3, shape}};
  callback.callback = [status](void** results, void** operands) {
    EXPECT_TRUE(ThisThreadIsInsideHostCallback());
    auto* z = static_cast<float*>(results[0]);
    const auto* x = static_cast<const float*>(operands[0]);
    const auto* y = static_cast<const float*>(operands[1]);
    EXPECT_EQ(z[0], 0.0f);
    for (int i = 0; i < 2; ++i) z[i] = x[i] + y[i];
    return status;
  };
  return callback;
}

// The callbacks of one AddCallback, and the bytes that came back.
struct Fixture {
  explicit Fixture(HostCallback callback, PjRtHostMemoryForDeviceManager* manager = nullptr)
      : context(CreateHostCallbackStateAndAppendSendRecvCallbacks(
            std::move(callback), manager, sends, recvs, manager == nullptr)) {}
  absl::Status Send(int operand, PjRtChunk chunk) {
    const size_t size = static_cast<size_t>(chunk.size());
    return sends[operand].callback({Shape(F32, {2})}, std::move(chunk), size, true);
  }
  void Receive() {
    recvs[0].callback({Shape(F32, {2})}, std::make_unique<CollectingStream>(8, 4, &bytes));
  }
  std::vector<SendCallback> sends;
  std::vector<RecvCallback> recvs;
  std::unique_ptr<HostCallbackContext> context;
  std::string bytes;
};

TEST(HostCallbackTest, SendsAndReceivesRoundTrip) {
  Fixture f(AddCallback());
  ASSERT_EQ(f.sends.size(), 2u);
  ASSERT_EQ(f.recvs.size(), 1u);
  EXPECT_EQ(f.sends[1].channel_id, 2);
  EXPECT_EQ(f.recvs[0].channel_id, 3);
  EXPECT_TRUE(f.Send(1, ChunkOf({10, 20})).ok());
  EXPECT_TRUE(f.Send(0, ChunkOf({1, 2})).ok());
  f.Receive();
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{11, 22}));
}

TEST(HostCallbackTest, ReceiveBeforeSendDoesNotBlock) {
  Fixture f(AddCallback());
  f.Receive();
  EXPECT_TRUE(f.bytes.empty());
  EXPECT_TRUE(f.Send(0, ChunkOf({1, 2})).ok());
  EXPECT_TRUE(f.Send(1, ChunkOf({10, 20})).ok());
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{11, 22}));
}

TEST(HostCallbackTest, SuccessiveCallsPairUp) {
  Fixture f(AddCallback());
  for (float i = 0; i < 5; ++i) {
    EXPECT_TRUE(f.Send(0, ChunkOf({i, i})).ok());
    EXPECT_TRUE(f.Send(1, ChunkOf({1, 2})).ok());
    f.bytes.clear();
    f.Receive();
    EXPECT_EQ(Floats(f.bytes), (std::vector<float>{i + 1, i + 2}));
  }
}

TEST(HostCallbackTest, FailedCallbackSendsZeros) {
  Fixture f(AddCallback(absl::AbortedError("no")));
  EXPECT_TRUE(f.Send(0, ChunkOf({1, 2})).ok());
  EXPECT_EQ(f.Send(1, ChunkOf({3, 4})), absl::AbortedError("no"));
  f.Receive();
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{0, 0}));
}

TEST(HostCallbackTest, ChunkOfTheWrongSizeSendsZerosWithoutACall) {
  HostCallback callback = AddCallback();
  callback.callback = [](void**, void**) -> absl::Status {
    ADD_FAILURE() << "called with an operand missing";
    return absl::OkStatus();
  };
  Fixture f(std::move(callback));
  EXPECT_EQ(ErrorId(f.Send(0, ChunkOf({1, 2, 3}))), "PJRT-R010");
  EXPECT_EQ(ErrorId(f.Send(1, ChunkOf({3, 4}))), "PJRT-R010");
  f.Receive();
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{0, 0}));
}

TEST(HostCallbackTest, IndicesOutOfRangeHaveNoEffect) {
  Fixture f(AddCallback());
  EXPECT_EQ(ErrorId(f.context->OnSend(-1, {}, ChunkOf({1, 2}))), "PJRT-R010");
  EXPECT_EQ(ErrorId(f.context->OnSend(2, {}, ChunkOf({1, 2}))), "PJRT-R010");
  f.context->Receive(1, {}, std::make_unique<CollectingStream>(8, 4, &f.bytes));
  EXPECT_TRUE(f.Send(0, ChunkOf({1, 2})).ok());
  EXPECT_TRUE(f.Send(1, ChunkOf({10, 20})).ok());
  f.Receive();
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{11, 22}));
}

// A device that stores f32[2] the other way round.
class Reverser : public PjRtHostMemoryForDeviceManager {
 public:
  absl::StatusOr<PjRtChunk> ToDeviceLayout(const void* src, size_t size, const Shape&,
                                           const Shape&) override {
    if (fail) return absl::DataLossError("to device");
    const auto* x = static_cast<const float*>(src);
    EXPECT_EQ(size, 8u);
    return ChunkOf({x[1], x[0]});
  }
  absl::Status ToHostLayout(const void* src, size_t, const Shape&, void* dst, size_t size,
                            const Shape&) override {
    if (fail) return absl::DataLossError("to host");
    EXPECT_EQ(size, 8u);
    static_cast<float*>(dst)[0] = static_cast<const float*>(src)[1];
    static_cast<float*>(dst)[1] = static_cast<const float*>(src)[0];
    return absl::OkStatus();
  }
  bool fail = false;
};

TEST(HostCallbackTest, LayoutsAreConverted) {
  Reverser reverser;
  HostCallback callback = AddCallback();
  callback.callback = [](void** results, void** operands) {
    EXPECT_EQ(static_cast<const float*>(operands[0])[0], 1.0f);
    static_cast<float*>(results[0])[0] = 5;
    return absl::OkStatus();
  };
  Fixture f(std::move(callback), &reverser);
  EXPECT_TRUE(f.Send(0, ChunkOf({2, 1})).ok());
  EXPECT_TRUE(f.Send(1, ChunkOf({0, 0})).ok());
  f.Receive();
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{0, 5}));
}

TEST(HostCallbackTest, FailedConversionSendsZeros) {
  Reverser reverser;
  reverser.fail = true;
  Fixture f(AddCallback(), &reverser);
  EXPECT_EQ(f.Send(0, ChunkOf({2, 1})), absl::DataLossError("to host"));
  EXPECT_EQ(f.Send(1, ChunkOf({0, 0})), absl::DataLossError("to host"));
  f.Receive();
  EXPECT_EQ(Floats(f.bytes), (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace pjrt
