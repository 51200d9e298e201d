// SPDX-License-Identifier: Apache-2.0
//
// BufferFromHostBuffer, BufferFromHostLiteral and the other ways to make a buffer.
#include <atomic>

#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

constexpr Semantics kAllSemantics[] = {Semantics::kImmutableOnlyDuringCall,
                                       Semantics::kImmutableUntilTransferCompletes,
                                       Semantics::kImmutableZeroCopy, Semantics::kMutableZeroCopy};

struct alignas(64) AlignedInts {
  int32_t data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
};

std::vector<int32_t> RawBytesAsInts(PjRtBuffer* buffer) {
  std::vector<int32_t> ints(*buffer->GetOnDeviceSizeInBytes() / 4);
  EXPECT_OK(buffer->CopyRawToHost(ints.data(), 0, static_cast<int64_t>(ints.size() * 4)).Await());
  return ints;
}

// All on memory that the host can reach, and on memory that it can't.
class HostToDeviceTest : public ::testing::TestWithParam<bool> {
 protected:
  static MemoryBackendOptions Options() {
    MemoryBackendOptions options;
    options.is_host_accessible = GetParam();
    options.limits.async_copy_bytes = 64;  // so that small copies are asynchronous too
    return options;
  }
  TestClient t{Options()};
};
INSTANTIATE_TEST_SUITE_P(Memory, HostToDeviceTest, ::testing::Bool(), [](const auto& param) {
  return param.param ? "HostAccessible" : "DeviceOnly";
});

TEST_P(HostToDeviceTest, DataComesBackUnderAllSemanticsAndTheCallbackRunsOnce) {
  for (const Semantics semantics : kAllSemantics) {
    for (const size_t offset : {0, 1}) {  // the second is unaligned
      AlignedInts source;
      std::atomic<int> calls{0};
      auto buffer = t.client->BufferFromHostBuffer(
          source.data + offset, S32, {15}, std::nullopt, semantics, [&] { ++calls; }, t.memory(),
          nullptr);
      ASSERT_OK(buffer.status());
      if (semantics == Semantics::kImmutableOnlyDuringCall) {
        EXPECT_EQ(calls, 1);
      }
      EXPECT_THAT(*Values(buffer->get()), ::testing::ElementsAreArray(source.data + offset, 15));
      buffer->reset();
      EXPECT_EQ(calls, 1);
    }
  }
}

TEST_P(HostToDeviceTest, ANullCallbackIsAccepted) {
  for (const Semantics semantics : kAllSemantics) {
    AlignedInts source;
    auto buffer = t.client->BufferFromHostBuffer(source.data, S32, {16}, std::nullopt, semantics,
                                                 nullptr, t.memory(), nullptr);
    ASSERT_OK(buffer.status());
    EXPECT_EQ((*Values(buffer->get()))[15], 16);
  }
}

TEST_P(HostToDeviceTest, OnlyDuringCallMayScribbleAfterwards) {
  std::vector<int32_t> source(1000, 7);
  auto buffer = t.client->BufferFromHostBuffer(source.data(), S32, {1000}, std::nullopt,
                                               Semantics::kImmutableOnlyDuringCall, nullptr,
                                               t.memory(), nullptr);
  std::fill(source.begin(), source.end(), -1);
  EXPECT_THAT(*Values(buffer->get()), ::testing::Each(7));
}

TEST_P(HostToDeviceTest, UntilTransferCompletesMayOverwriteInTheCallback) {
  auto source = std::make_shared<std::vector<int32_t>>(1000, 7);
  auto buffer = t.client->BufferFromHostBuffer(
      source->data(), S32, {1000}, std::nullopt, Semantics::kImmutableUntilTransferCompletes,
      [source] { std::fill(source->begin(), source->end(), -1); }, t.memory(), nullptr);
  EXPECT_THAT(*Values(buffer->get()), ::testing::Each(7));
}

TEST_P(HostToDeviceTest, StridesMayTransposeBroadcastAndGoBackwards) {
  const int32_t source[] = {1, 2, 3, 4, 5, 6};
  const auto make = [&](const int32_t* data, std::vector<int64_t> dims,
                        std::vector<int64_t> strides) {
    return *t.client->BufferFromHostBuffer(data, S32, dims, absl::MakeConstSpan(strides),
                                           Semantics::kImmutableUntilTransferCompletes, nullptr,
                                           t.memory(), nullptr);
  };
  EXPECT_THAT(*Values(make(source, {3, 2}, {4, 12}).get()), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(*Values(make(source, {2, 3}, {0, 4}).get()), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(*Values(make(source + 5, {6}, {-4}).get()), ElementsAre(6, 5, 4, 3, 2, 1));
  EXPECT_THAT(*Values(make(source + 3, {2, 3}, {-12, 4}).get()), ElementsAre(4, 5, 6, 1, 2, 3));
  EXPECT_THAT(*Values(make(source, {2, 3}, {12, 4}).get()), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_P(HostToDeviceTest, AColumnMajorLayoutIsKeptAndContentsStayLogical) {
  const int32_t source[] = {1, 2, 3, 4, 5, 6};
  const Layout column_major = MakeAscendingLayout(2);
  for (const Semantics semantics : kAllSemantics) {
    auto buffer = *t.client->BufferFromHostBuffer(source, S32, {2, 3}, std::nullopt, semantics,
                                                  nullptr, t.memory(), &column_major);
    EXPECT_EQ(buffer->on_device_shape().layout(), column_major);
    EXPECT_EQ(buffer->layout()->layout(), column_major);
    EXPECT_THAT(RawBytesAsInts(buffer.get()), ElementsAre(1, 4, 2, 5, 3, 6));
    Literal literal = *Literal::Make(MakeShapeWithDescendingLayout(S32, {2, 3}));
    EXPECT_OK(buffer->ToLiteralSync(&literal));
    EXPECT_THAT(literal.data<int32_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST_P(HostToDeviceTest, ALargeTransposeIsSharedAmongThreads) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kColumns = 777;
  std::vector<int32_t> source(kRows * kColumns);
  std::iota(source.begin(), source.end(), 0);
  const int64_t strides[] = {4, 4 * kColumns};
  auto buffer = *t.client->BufferFromHostBuffer(
      source.data(), S32, {kColumns, kRows}, absl::MakeConstSpan(strides),
      Semantics::kImmutableOnlyDuringCall, nullptr, t.memory(), nullptr);
  const std::vector<int32_t> transposed = *Values(buffer.get());
  for (int64_t c = 0; c < kColumns; ++c) {
    for (int64_t r = 0; r < kRows; ++r) {
      ASSERT_EQ(transposed[c * kRows + r], r * kColumns + c);
    }
  }
}

TEST_P(HostToDeviceTest, ATiledLayoutIsUnimplemented) {
  const Tile tile({8, 128});
  const Layout tiled({1, 0}, {&tile, 1});
  const int32_t source[4] = {};
  EXPECT_THAT(
      t.client
          ->BufferFromHostBuffer(source, S32, {2, 2}, std::nullopt,
                                 Semantics::kImmutableOnlyDuringCall, nullptr, t.memory(), &tiled)
          .status(),
      Fails(StatusCode::kUnimplemented, "Unsupported layout used for PjRt memory buffers"));
}

TEST_P(HostToDeviceTest, FourBitIntegersArePackedLowestBitsFirst) {
  const int8_t source[] = {1, -2, 7, -8};
  auto buffer = *t.client->BufferFromHostBuffer(source, S4, {4}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                t.memory(), nullptr);
  EXPECT_EQ(*buffer->GetOnDeviceSizeInBytes(), 2);
  uint8_t raw[2];
  EXPECT_OK(buffer->CopyRawToHost(raw, 0, 2).Await());
  EXPECT_THAT(raw, ElementsAre(0xe1, 0x87));
  auto literal = *buffer->ToLiteralSync();
  EXPECT_THAT(literal->data<int8_t>(), ElementsAre(1, -2, 7, -8));
  // The same, transposed by strides.
  const int64_t strides[] = {1, 2};
  auto transposed =
      *t.client->BufferFromHostBuffer(source, S4, {2, 2}, absl::MakeConstSpan(strides),
                                      Semantics::kImmutableZeroCopy, nullptr, t.memory(), nullptr);
  EXPECT_THAT((*transposed->ToLiteralSync())->data<int8_t>(), ElementsAre(1, 7, -2, -8));
}

TEST_P(HostToDeviceTest, LiteralsOfEveryTypeRoundTrip) {
  for (int number = 1; number < kPrimitiveTypeLimit; ++number) {
    const auto type = static_cast<PrimitiveType>(number);
    if (!IsArrayType(type)) continue;
    Literal source = *Literal::Make(MakeShape(type, {5}));
    auto* bytes = static_cast<uint8_t*>(source.untyped_data());
    for (int64_t i = 0; i < source.size_bytes(); ++i) {
      bytes[i] = static_cast<uint8_t>(type == PRED || BitWidth(type) == 1 ? 0 : i % 2);
    }
    auto buffer = t.client->BufferFromHostLiteral(source, t.memory());
    ASSERT_OK(buffer.status()) << PrimitiveTypeName(type);
    EXPECT_TRUE(**(*buffer)->ToLiteralSync() == source) << PrimitiveTypeName(type);
  }
}

TEST_P(HostToDeviceTest, ALiteralInAnotherLayoutIsConverted) {
  Literal source = CreateR2<int32_t>({{1, 2, 3}, {4, 5, 6}});
  Literal column_major = *source.Relayout(MakeAscendingLayout(2));
  auto buffer = *t.client->BufferFromHostLiteral(column_major, t.memory());
  EXPECT_THAT(RawBytesAsInts(buffer.get()), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_P(HostToDeviceTest, TokensCarryNoBytes) {
  Literal token = CreateToken();
  auto buffer = *t.client->BufferFromHostLiteral(token, t.memory());
  EXPECT_EQ(*buffer->GetOnDeviceSizeInBytes(), 0);
  EXPECT_OK(buffer->GetReadyFuture().Await());
  EXPECT_OK(buffer->ToLiteralSync(&token));
  EXPECT_TRUE((*buffer->ToLiteralSync())->shape().IsToken());
}

TEST_P(HostToDeviceTest, EmptyArraysAndScalarsWork) {
  const double scalar = 2.5;
  auto buffer = *t.client->BufferFromHostBuffer(&scalar, F64, {}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                t.memory(), nullptr);
  EXPECT_EQ(*buffer->GetOnDeviceSizeInBytes(), 8);
  EXPECT_EQ((*buffer->ToLiteralSync())->GetFirstElement<double>(), 2.5);
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{0}, {2, 0, 3}}) {
    for (const Semantics semantics : kAllSemantics) {
      int calls = 0;
      auto empty = t.client->BufferFromHostBuffer(
          nullptr, F32, dims, std::nullopt, semantics, [&] { ++calls; }, t.memory(), nullptr);
      ASSERT_OK(empty.status());
      EXPECT_EQ(*(*empty)->GetOnDeviceSizeInBytes(), 0);
      EXPECT_OK((*empty)->ToLiteralSync().status());
      empty->reset();
      EXPECT_EQ(calls, 1);
    }
  }
}

TEST_P(HostToDeviceTest, MalformedRequestsFailWithoutTheCallback) {
  const int32_t source[4] = {};
  bool called = false;
  const int64_t strides[] = {4};
  const auto make = [&](const void* data, PrimitiveType type, std::vector<int64_t> dims,
                        std::optional<absl::Span<const int64_t>> byte_strides) {
    return t.client
        ->BufferFromHostBuffer(
            data, type, dims, byte_strides, Semantics::kImmutableOnlyDuringCall,
            [&] { called = true; }, t.memory(), nullptr)
        .status();
  };
  EXPECT_EQ(make(source, S32, {-1}, std::nullopt).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make(source, TUPLE, {}, std::nullopt).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make(source, INVALID, {1}, std::nullopt).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make(nullptr, S32, {4}, std::nullopt).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(make(source, S32, {2, 2}, absl::MakeConstSpan(strides)).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(make(source, S32, {int64_t{1} << 40, int64_t{1} << 40}, std::nullopt).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(t.client->CreateUninitializedBuffer(MakeTupleShape({}), t.memory()).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_FALSE(called);
}

TEST_P(HostToDeviceTest, ADonatedDestinationGivesItsStorageAndIsDeleted) {
  auto destination = t.MakeIota(4);
  const uintptr_t address = *t.client->UnsafeBufferPointer(destination.get());
  const int32_t source[] = {9, 8, 7, 6};
  const auto make = [&](PjRtBuffer* target, int64_t size) {
    return t.client->BufferFromHostBuffer(source, S32, {size}, std::nullopt,
                                          Semantics::kImmutableOnlyDuringCall, nullptr, target,
                                          nullptr);
  };
  EXPECT_EQ(make(destination.get(), 3).status().code(), StatusCode::kInvalidArgument);
  TestClient other;
  EXPECT_EQ(make(other.MakeIota(4).get(), 4).status().code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE(destination->IsDeleted());
  auto buffer = make(destination.get(), 4);
  ASSERT_OK(buffer.status());
  EXPECT_TRUE(destination->IsDeleted());
  EXPECT_EQ(*t.client->UnsafeBufferPointer(buffer->get()), address);
  EXPECT_THAT(*Values(buffer->get()), ElementsAre(9, 8, 7, 6));
  EXPECT_EQ(make(destination.get(), 4).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(HostToDeviceTest, ABusyDonatedDestinationIsWrittenLaterFromACopy) {
  Promise<> promise;
  auto destination = t.MakePending({0, 0, 0}, &promise);
  std::vector<int32_t> source = {1, 2, 3};
  auto buffer = *t.client->BufferFromHostBuffer(source.data(), S32, {3}, std::nullopt,
                                                Semantics::kImmutableOnlyDuringCall, nullptr,
                                                destination.get(), nullptr);
  std::fill(source.begin(), source.end(), -1);
  EXPECT_FALSE(buffer->GetReadyFuture().IsReady());
  promise.Set();
  EXPECT_THAT(*Values(buffer.get()), ElementsAre(1, 2, 3));
}

TEST(ZeroCopyTest, AnAlignedArrayBecomesTheBuffer) {
  TestClient t;
  for (const Semantics semantics : {Semantics::kImmutableZeroCopy, Semantics::kMutableZeroCopy}) {
    AlignedInts source;
    int calls = 0;
    const int64_t dense[] = {16, 4};
    auto buffer = *t.client->BufferFromHostBuffer(
        source.data, S32, {4, 4}, absl::MakeConstSpan(dense), semantics, [&] { ++calls; },
        t.memory(), nullptr);
    EXPECT_EQ(*t.client->UnsafeBufferPointer(buffer.get()),
              reinterpret_cast<uintptr_t>(source.data));
    EXPECT_EQ(calls, 0);
    buffer->Delete();
    EXPECT_EQ(calls, 1);
  }
}

TEST(ZeroCopyTest, AnUnalignedArrayIsCopied) {
  TestClient t;
  AlignedInts source;
  int calls = 0;
  auto buffer = *t.client->BufferFromHostBuffer(
      source.data + 1, S32, {4}, std::nullopt, Semantics::kImmutableZeroCopy, [&] { ++calls; },
      t.memory(), nullptr);
  EXPECT_NE(*t.client->UnsafeBufferPointer(buffer.get()),
            reinterpret_cast<uintptr_t>(source.data + 1));
  EXPECT_OK(buffer->GetReadyFuture().Await());
  EXPECT_EQ(calls, 1);
}

TEST(ZeroCopyTest, TheCallbackWaitsForExecutionsThatReadTheDeletedBuffer) {
  TestClient t;
  AlignedInts source;
  auto gate = std::make_shared<Gate>();
  std::atomic<int> calls{0};
  auto buffer = *t.client->BufferFromHostBuffer(
      source.data, S32, {16}, std::nullopt, Semantics::kImmutableZeroCopy, [&] { ++calls; },
      t.memory(), nullptr);
  auto executable =
      t.Load(std::make_shared<KernelProgram>(AddOneInfo(16), [gate](const KernelArgs& a) {
        gate->Wait();
        return AddOneKernel(16)(a);
      }));
  ExecuteOptions options;
  options.execution_mode = ExecuteOptions::ExecutionMode::kAsynchronous;
  auto results = *RunOnce(*executable, {buffer.get()}, options);
  buffer.reset();
  EXPECT_EQ(calls, 0);
  gate->Open();
  EXPECT_EQ((*Values(results[0].get()))[15], 17);
  EXPECT_EQ(calls, 1);
}

TEST(ViewTest, AViewIsTheMemoryAndItsCallbackRunsOnceAtTheEnd) {
  TestClient t;
  AlignedInts source;
  int calls = 0;
  auto view = *t.client->CreateViewOfDeviceBuffer(source.data, MakeShape(S32, {16}), t.memory(),
                                                  [&] { ++calls; });
  EXPECT_EQ(*t.client->UnsafeBufferPointer(view.get()), reinterpret_cast<uintptr_t>(source.data));
  EXPECT_EQ((*Values(view.get()))[3], 4);
  auto copy = *view->CopyToMemorySpace(t.memory());
  EXPECT_OK(copy->GetReadyFuture().Await());
  view.reset();
  EXPECT_EQ(calls, 1);
}

TEST(ViewTest, UnalignedMemoryAndStreamsAreRejected) {
  TestClient t;
  AlignedInts source;
  bool called = false;
  EXPECT_THAT(t.client
                  ->CreateViewOfDeviceBuffer(source.data + 1, MakeShape(S32, {4}), t.memory(),
                                             [&] { called = true; })
                  .status(),
              Fails(StatusCode::kInvalidArgument, "unaligned data"));
  EXPECT_THAT(t.client
                  ->CreateViewOfDeviceBuffer(
                      source.data, MakeShape(S32, {4}), t.memory(), [&] { called = true; }, 1)
                  .status(),
              Fails(StatusCode::kUnimplemented, "CreateDeviceEventForStream is not supported"));
  EXPECT_FALSE(called);
}

TEST(AllocationTest, RunningOutOfMemoryIsResourceExhausted) {
  MemoryBackendOptions options;
  options.max_bytes = 1024;
  TestClient t(options);
  EXPECT_THAT(t.client->CreateUninitializedBuffer(MakeShape(S32, {1000}), t.memory()).status(),
              Fails(StatusCode::kResourceExhausted, "Out of memory allocating 4000 bytes."));
  auto buffer = t.MakeIota(200);
  EXPECT_EQ(RunOnce(*t.Load(AddOne(200)), {buffer.get()}).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_FALSE(buffer->IsDeleted());
}

TEST(AllocationTest, AnUninitializedBufferHasItsShapeAndIsReady) {
  TestClient t;
  const Shape shape = MakeShapeWithLayout(F32, {3, 5}, {0, 1});
  auto buffer = *t.client->CreateUninitializedBuffer(shape, t.memory());
  EXPECT_EQ(buffer->on_device_shape(), shape);
  EXPECT_OK(buffer->GetReadyFuture().Await());
}

}  // namespace
}  // namespace pjrt::testing
