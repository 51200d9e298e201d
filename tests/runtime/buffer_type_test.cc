// SPDX-License-Identifier: Apache-2.0
//
// BufferTypeTable, and what a client makes of it.
#include "src/core/runtime/buffer_type.h"

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

BufferTypeRef MakeType(PrimitiveType type, std::vector<int64_t> dims) {
  return std::make_shared<const BufferType>(MakeShapeWithDescendingLayout(type, dims), false);
}

TEST(BufferTypeTableTest, KeepsTheFirstOfEqualTypes) {
  BufferTypeTable table;
  EXPECT_EQ(table.Find(F32, {2, 3}), nullptr);
  const BufferTypeRef first = MakeType(F32, {2, 3});
  EXPECT_EQ(table.FindOrAdd(first), first);
  EXPECT_EQ(table.FindOrAdd(MakeType(F32, {2, 3})), first);
  EXPECT_EQ(table.Find(F32, {2, 3}), first);
}

TEST(BufferTypeTableTest, TellsElementTypesAndDimensionsApart) {
  BufferTypeTable table;
  table.FindOrAdd(MakeType(F32, {2, 3}));
  EXPECT_EQ(table.Find(S32, {2, 3}), nullptr);
  EXPECT_EQ(table.Find(F32, {3, 2}), nullptr);
  EXPECT_EQ(table.Find(F32, {2}), nullptr);
  EXPECT_EQ(table.Find(F32, {2, 3, 1}), nullptr);
  EXPECT_EQ(table.Find(F32, {}), nullptr);
}

TEST(BufferTypeTableTest, HasTheTypeAskedForHoweverManyThereAre) {
  BufferTypeTable table;
  for (int round = 0; round < 2; ++round) {
    for (int64_t size = 0; size < 1000; ++size) {
      const BufferTypeRef found = table.Find(F32, {size});
      if (found != nullptr) {
        EXPECT_EQ(found->shape.dimensions(0), size);
      }
      EXPECT_EQ(table.FindOrAdd(MakeType(F32, {size}))->shape.dimensions(0), size);
      EXPECT_EQ(table.Find(F32, {size})->bytes, 4 * size);
    }
  }
}

TEST(BufferTypeTableTest, ServesSeveralThreads) {
  BufferTypeTable table;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int64_t i = 0; i < 3000; ++i) {
        const int64_t size = i % 300;
        EXPECT_EQ(table.FindOrAdd(MakeType(F32, {size}))->shape.dimensions(0), size);
        const BufferTypeRef found = table.Find(F32, {size});
        if (found != nullptr) {
          EXPECT_EQ(found->shape.dimensions(0), size);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BufferTypeTest, BuffersAndResultsOfOneShapeShareIt) {
  const TestClient test;
  const auto a = test.MakeIota(4), b = test.MakeIota(4), other = test.MakeIota(5);
  EXPECT_EQ(&a->on_device_shape(), &b->on_device_shape());
  EXPECT_NE(&a->on_device_shape(), &other->on_device_shape());
  const auto outputs = RunOnce(*test.Load(AddOne(4)), {a.get()});
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_EQ(&(*outputs)[0]->on_device_shape(), &a->on_device_shape());
}

TEST(BufferTypeTest, AnotherLayoutIsAnotherType) {
  const TestClient test;
  const auto make = [&](std::vector<int64_t> minor_to_major) {
    const int32_t values[6] = {};
    const Layout layout = Layout(minor_to_major);
    auto buffer = test.client->BufferFromHostBuffer(
        values, S32, {2, 3}, std::nullopt, Semantics::kImmutableOnlyDuringCall, nullptr,
        test.memory(), minor_to_major.empty() ? nullptr : &layout);
    EXPECT_OK(buffer.status());
    return *std::move(buffer);
  };
  const auto usual = make({}), row_major = make({1, 0}), column_major = make({0, 1});
  EXPECT_EQ(&usual->on_device_shape(), &row_major->on_device_shape());
  EXPECT_NE(&usual->on_device_shape(), &column_major->on_device_shape());
  EXPECT_EQ(column_major->on_device_shape().layout(), Layout(std::vector<int64_t>{0, 1}));
  EXPECT_EQ(&make({})->on_device_shape(), &usual->on_device_shape());
}

}  // namespace
}  // namespace pjrt::testing
