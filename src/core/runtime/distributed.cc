// SPDX-License-Identifier: Apache-2.0
#include "pjrt/distributed.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

absl::Status LeftOut(absl::string_view method) {
  return Unimplemented("PJRT-R011", "DistributedRuntimeClient::", method,
                       " isn't implemented by this client");
}

class NothingToCancel : public KeyValueStoreInterface::CallOptions {
 public:
  void StartCancel() override {}
};

// A DistributedRuntimeClient as a store.
class DistributedKeyValueStore : public KeyValueStoreInterface {
 public:
  DistributedKeyValueStore(std::shared_ptr<DistributedRuntimeClient> client, std::string prefix)
      : client_(std::move(client)), prefix_(std::move(prefix)) {}

  absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) override {
    return client_->BlockingKeyValueGet(Name(key), timeout);
  }
  absl::StatusOr<std::string> TryGet(absl::string_view key) override {
    return client_->KeyValueTryGet(Name(key));
  }
  absl::Status Set(absl::string_view key, absl::string_view value) override {
    return client_->KeyValueSet(Name(key), value);
  }
  absl::Status Delete(absl::string_view key) override { return client_->KeyValueDelete(Name(key)); }
  std::shared_ptr<CallOptions> AsyncGet(absl::string_view key, GetCallback done) override {
    return client_->AsyncKeyValueGet(Name(key), std::move(done));
  }

 private:
  std::string Name(absl::string_view key) const { return absl::StrCat(prefix_, key); }

  const std::shared_ptr<DistributedRuntimeClient> client_;
  const std::string prefix_;
};

}  // namespace

absl::Status DistributedRuntimeClient::Connect() { return LeftOut("Connect"); }

absl::Status DistributedRuntimeClient::Shutdown() { return LeftOut("Shutdown"); }

absl::StatusOr<std::string> DistributedRuntimeClient::BlockingKeyValueGet(
    absl::string_view /*key*/, absl::Duration /*timeout*/) {
  return LeftOut("BlockingKeyValueGet");
}

std::shared_ptr<KeyValueStoreInterface::CallOptions> DistributedRuntimeClient::AsyncKeyValueGet(
    absl::string_view /*key*/, KeyValueStoreInterface::GetCallback done) {
  std::move(done)(LeftOut("AsyncKeyValueGet"));
  return std::make_shared<NothingToCancel>();
}

absl::StatusOr<std::string> DistributedRuntimeClient::KeyValueTryGet(absl::string_view /*key*/) {
  return LeftOut("KeyValueTryGet");
}

absl::StatusOr<int64_t> DistributedRuntimeClient::KeyValueIncrement(absl::string_view /*key*/,
                                                                    int64_t /*increment*/) {
  return LeftOut("KeyValueIncrement");
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>>
DistributedRuntimeClient::KeyValueDirGet(absl::string_view /*key*/) {
  return LeftOut("KeyValueDirGet");
}

absl::Status DistributedRuntimeClient::KeyValueSet(absl::string_view /*key*/,
                                                   absl::string_view /*value*/,
                                                   bool /*allow_overwrite*/) {
  return LeftOut("KeyValueSet");
}

absl::Status DistributedRuntimeClient::KeyValueDelete(absl::string_view /*key*/) {
  return LeftOut("KeyValueDelete");
}

absl::Status DistributedRuntimeClient::WaitAtBarrier(
    absl::string_view /*barrier_id*/, absl::Duration /*timeout*/,
    std::optional<absl::Span<const int32_t>> /*nodes*/) {
  return LeftOut("WaitAtBarrier");
}

absl::StatusOr<std::vector<int32_t>> DistributedRuntimeClient::GetLiveNodes(
    absl::Span<const int32_t> /*nodes*/) {
  return LeftOut("GetLiveNodes");
}

absl::StatusOr<std::vector<std::pair<int32_t, IncarnationId>>>
DistributedRuntimeClient::GetLiveNodesWithIncarnations(absl::Span<const int32_t> /*nodes*/) {
  return LeftOut("GetLiveNodesWithIncarnations");
}

std::shared_ptr<KeyValueStoreInterface> GetDistributedKeyValueStore(
    std::shared_ptr<DistributedRuntimeClient> client, std::string key_prefix) {
  return std::make_shared<DistributedKeyValueStore>(std::move(client), std::move(key_prefix));
}

absl::StatusOr<GlobalTopology> ExchangeTopologies(const TopologyExchangeOptions& options,
                                                  LocalTopology local,
                                                  KeyValueStoreInterface* /*kv_store*/) {
  if (options.process_count != 1) {
    return Unimplemented("PJRT-R011", "ExchangeTopologies between ", options.process_count,
                         " processes isn't implemented");
  }
  if (options.assign_global_device_ids) {
    for (DeviceTopology& device : local.devices) {
      device.global_device_id = device.local_device_ordinal;
    }
  }
  GlobalTopology global;
  global.processes.push_back(std::move(local));
  return global;
}

}  // namespace pjrt
