// SPDX-License-Identifier: Apache-2.0
//
// InMemoryKeyValueStore and the defaults of DistributedRuntimeClient. Scenarios 205 and 206.
#include "pjrt/key_value_store.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/distributed.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

using Result = absl::StatusOr<std::string>;

// Stores what AsyncGet answers, and how often.
struct Answer {
  std::atomic<int> calls{0};
  Result result = absl::UnknownError("not called");

  KeyValueStoreInterface::GetCallback Callback() {
    return [this](Result r) {
      result = std::move(r);
      ++calls;
    };
  }
};

TEST(KeyValueStoreTest, SetThenGet) {
  InMemoryKeyValueStore store;
  EXPECT_TRUE(store.Set("key", std::string("a\0b", 3)).ok());
  EXPECT_EQ(*store.Get("key", absl::ZeroDuration()), std::string("a\0b", 3));
  EXPECT_EQ(*store.TryGet("key"), std::string("a\0b", 3));
}

TEST(KeyValueStoreTest, OverwritingIsAnOption) {
  InMemoryKeyValueStore lenient, strict(/*allow_overwrite=*/false);
  EXPECT_TRUE(lenient.Set("k", "1").ok());
  EXPECT_TRUE(lenient.Set("k", "2").ok());
  EXPECT_EQ(*lenient.TryGet("k"), "2");
  EXPECT_TRUE(strict.Set("k", "1").ok());
  const absl::Status status = strict.Set("k", "2");
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(ErrorId(status), "PJRT-R006");
  EXPECT_EQ(*strict.TryGet("k"), "1");
}

TEST(KeyValueStoreTest, MissingKeysAreNotFound) {
  InMemoryKeyValueStore store;
  EXPECT_EQ(ErrorId(store.TryGet("k").status()), "PJRT-R005");
  for (absl::Duration timeout : {absl::Milliseconds(5), absl::ZeroDuration(), absl::Seconds(-1),
                                 -absl::InfiniteDuration()}) {
    const absl::Status status = store.Get("k", timeout).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(ErrorId(status), "PJRT-R005");
  }
}

TEST(KeyValueStoreTest, GetBlocksUntilTheKeyIsSet) {
  InMemoryKeyValueStore store;
  std::thread setter([&] {
    absl::SleepFor(absl::Milliseconds(5));
    EXPECT_TRUE(store.Set("k", "v").ok());
  });
  EXPECT_EQ(*store.Get("k", absl::InfiniteDuration()), "v");
  setter.join();
}

TEST(KeyValueStoreTest, DeleteRemovesADirectoryOnlyAtThePathBoundary) {
  InMemoryKeyValueStore store;
  for (const char* key : {"a", "a/b", "a/b/c", "a/z", "ab", "a0", "a.", "b/a"}) {
    EXPECT_TRUE(store.Set(key, key).ok());
  }
  EXPECT_TRUE(store.Delete("a").ok());
  for (const char* key : {"a", "a/b", "a/b/c", "a/z"}) EXPECT_FALSE(store.TryGet(key).ok()) << key;
  for (const char* key : {"ab", "a0", "a.", "b/a"}) EXPECT_TRUE(store.TryGet(key).ok()) << key;
  EXPECT_TRUE(store.Delete("never set").ok());
}

TEST(KeyValueStoreTest, DeletedKeyCanBeSetAgain) {
  InMemoryKeyValueStore store(/*allow_overwrite=*/false);
  EXPECT_TRUE(store.Set("k", "1").ok());
  EXPECT_TRUE(store.Delete("k").ok());
  EXPECT_TRUE(store.Set("k", "2").ok());
  EXPECT_EQ(*store.TryGet("k"), "2");
}

TEST(KeyValueStoreTest, AsyncGetAnswersAtOnceOrWhenTheKeyIsSet) {
  InMemoryKeyValueStore store;
  Answer late, late_too, early;
  store.AsyncGet("k", late.Callback());
  store.AsyncGet("k", late_too.Callback());
  EXPECT_EQ(late.calls, 0);
  EXPECT_TRUE(store.Set("k", "v").ok());
  EXPECT_EQ(*late.result, "v");
  EXPECT_EQ(*late_too.result, "v");
  store.AsyncGet("k", early.Callback());
  EXPECT_EQ(*early.result, "v");
  EXPECT_TRUE(store.Set("k", "w").ok());
  EXPECT_EQ(late.calls + late_too.calls + early.calls, 3);
}

TEST(KeyValueStoreTest, CallbackMayUseTheStore) {
  InMemoryKeyValueStore store;
  Answer second;
  store.AsyncGet("a", [&](Result r) {
    EXPECT_TRUE(store.Set("b", *r + "!").ok());
    store.AsyncGet("b", second.Callback());
  });
  EXPECT_TRUE(store.Set("a", "v").ok());
  EXPECT_EQ(*second.result, "v!");
}

TEST(KeyValueStoreTest, CancelledGetGetsNoValue) {
  InMemoryKeyValueStore store;
  Answer cancelled, other;
  auto options = store.AsyncGet("k", cancelled.Callback());
  store.AsyncGet("k", other.Callback());
  options->StartCancel();
  EXPECT_EQ(cancelled.result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ErrorId(cancelled.result.status()), "PJRT-R007");
  options->StartCancel();
  EXPECT_TRUE(store.Set("k", "v").ok());
  EXPECT_EQ(cancelled.calls, 1);
  EXPECT_EQ(*other.result, "v");
}

TEST(KeyValueStoreTest, CancelAfterTheAnswerHasNoEffect) {
  InMemoryKeyValueStore store;
  Answer answer;
  auto options = store.AsyncGet("k", answer.Callback());
  EXPECT_TRUE(store.Set("k", "v").ok());
  options->StartCancel();
  EXPECT_EQ(answer.calls, 1);
  EXPECT_EQ(*answer.result, "v");
}

TEST(KeyValueStoreTest, DestructionCancelsWhatIsPending) {
  auto store = std::make_unique<InMemoryKeyValueStore>();
  Answer a, b;
  auto options = store->AsyncGet("a", a.Callback());
  store->AsyncGet("b", b.Callback());
  store.reset();
  EXPECT_EQ(a.result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(b.result.status().code(), absl::StatusCode::kCancelled);
  options->StartCancel();  // Outlives the store.
  EXPECT_EQ(a.calls, 1);
}

TEST(KeyValueStoreTest, DestructionWakesABlockedGet) {
  auto store = std::make_unique<InMemoryKeyValueStore>();
  std::thread getter([raw = store.get()] {
    EXPECT_EQ(raw->Get("never", absl::InfiniteDuration()).status().code(),
              absl::StatusCode::kCancelled);
  });
  absl::SleepFor(absl::Milliseconds(50));  // The Get has begun.
  store.reset();
  getter.join();
}

TEST(KeyValueStoreTest, ThreadsSeeEachOthersKeys) {
  InMemoryKeyValueStore store(/*allow_overwrite=*/false);
  constexpr int kThreads = 4, kKeys = 100;
  std::atomic<int> right{0}, answered{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kKeys; ++i) {
        const std::string next = absl::StrCat("key/", (t + 1) % kThreads, "/", i);
        auto options = store.AsyncGet(next, [&](Result) { ++answered; });
        if (i % 3 == 0) options->StartCancel();
        EXPECT_TRUE(store.Set(absl::StrCat("key/", t, "/", i), absl::StrCat(i)).ok());
        right += *store.Get(next, absl::InfiniteDuration()) == absl::StrCat(i);
        refused += !store.Set("one", "1").ok();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kKeys);
  EXPECT_EQ(answered, kThreads * kKeys);
  EXPECT_EQ(refused, kThreads * kKeys - 1);
}

TEST(KeyValueStoreTest, SetRacingWithTimeoutAndCancelAnswersOnce) {
  for (int round = 0; round < 200; ++round) {
    InMemoryKeyValueStore store;
    Answer answer;
    auto options = store.AsyncGet("k", answer.Callback());
    std::thread setter([&] { EXPECT_TRUE(store.Set("k", "v").ok()); });
    std::thread canceller([&] { options->StartCancel(); });
    const Result got = store.Get("k", absl::Microseconds(round));
    EXPECT_TRUE(got.ok() || got.status().code() == absl::StatusCode::kNotFound);
    setter.join();
    canceller.join();
    EXPECT_EQ(answer.calls, 1);
  }
}

TEST(DistributedTest, MethodsLeftOutSaySo) {
  DistributedRuntimeClient client;
  Answer answer;
  client.AsyncKeyValueGet("k", answer.Callback())->StartCancel();
  EXPECT_EQ(answer.calls, 1);
  const std::vector<absl::Status> statuses = {
      client.Connect(),
      client.Shutdown(),
      client.BlockingKeyValueGet("k", absl::ZeroDuration()).status(),
      answer.result.status(),
      client.KeyValueTryGet("k").status(),
      client.KeyValueIncrement("k", 1).status(),
      client.KeyValueDirGet("k").status(),
      client.KeyValueSet("k", "v"),
      client.KeyValueDelete("k"),
      client.WaitAtBarrier("b", absl::ZeroDuration(), std::nullopt),
      client.GetLiveNodes({}).status(),
      client.GetLiveNodesWithIncarnations({}).status(),
  };
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(ErrorId(status), "PJRT-R011") << status;
    EXPECT_NE(status.message().find("DistributedRuntimeClient::"), absl::string_view::npos);
  }
}

// A client whose keys are those of a store.
class StoreClient : public DistributedRuntimeClient {
 public:
  Result BlockingKeyValueGet(absl::string_view key, absl::Duration timeout) override {
    return store.Get(key, timeout);
  }
  Result KeyValueTryGet(absl::string_view key) override { return store.TryGet(key); }
  absl::Status KeyValueSet(absl::string_view key, absl::string_view value, bool) override {
    return store.Set(key, value);
  }
  absl::Status KeyValueDelete(absl::string_view key) override { return store.Delete(key); }
  std::shared_ptr<KeyValueStoreInterface::CallOptions> AsyncKeyValueGet(
      absl::string_view key, KeyValueStoreInterface::GetCallback done) override {
    return store.AsyncGet(key, std::move(done));
  }
  InMemoryKeyValueStore store;
};

TEST(DistributedTest, StoreOfAClientPrefixesItsKeys) {
  auto client = std::make_shared<StoreClient>();
  const auto store = GetDistributedKeyValueStore(client, "cpu:");
  Answer answer;
  store->AsyncGet("k", answer.Callback());
  EXPECT_TRUE(store->Set("k", "v").ok());
  EXPECT_EQ(*answer.result, "v");
  EXPECT_EQ(*client->store.TryGet("cpu:k"), "v");
  EXPECT_EQ(*store->Get("k", absl::ZeroDuration()), "v");
  EXPECT_EQ(*store->TryGet("k"), "v");
  EXPECT_TRUE(store->Delete("k").ok());
  EXPECT_FALSE(client->store.TryGet("cpu:k").ok());
}

TEST(DistributedTest, SingleProcessNeedsNoExchange) {
  LocalTopology local;
  local.devices.resize(2);
  local.devices[1].local_device_ordinal = 1;
  TopologyExchangeOptions options;
  const absl::StatusOr<GlobalTopology> global = ExchangeTopologies(options, local, nullptr);
  ASSERT_TRUE(global.ok());
  ASSERT_EQ(global->processes.size(), 1u);
  EXPECT_EQ(global->processes[0].devices[1].global_device_id, 1);
  options.process_count = 2;
  EXPECT_EQ(ExchangeTopologies(options, local, nullptr).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace pjrt
