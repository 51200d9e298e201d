// SPDX-License-Identifier: Apache-2.0
//
// How the processes of a distributed program coordinate. Spec: PJRT C++ API, section 1.19.
//
// This header declares the interfaces; the library brings no coordination service of its own. A
// program supplies a DistributedRuntimeClient over its own transport, or hands the runtime a
// KeyValueStoreInterface, and exchanges topologies as described at TopologyExchangeOptions.
#ifndef PJRT_DISTRIBUTED_H_
#define PJRT_DISTRIBUTED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "pjrt/ids.h"
#include "pjrt/key_value_store.h"

namespace pjrt {

// A process's connection to the coordination service. Every method that an implementation leaves
// out returns UNIMPLEMENTED [PJRT-R011] naming class and method.
//
// Thread safety: all methods may be called by any thread. Those with a timeout block up to it and
// then return DEADLINE_EXCEEDED.
class DistributedRuntimeClient {
 public:
  struct Options {
    // This process, from 0; -1 is not a valid id.
    int32_t node_id = -1;
    // The time that a single call to the service may take.
    absl::Duration rpc_timeout = absl::Seconds(120);
    // How long Connect keeps trying; 0 tries once.
    absl::Duration init_timeout = absl::ZeroDuration();
    // How long Shutdown waits for the other processes to shut down too.
    absl::Duration shutdown_timeout = absl::Minutes(5);
    // How much longer to wait after a failure for the service's own account of it.
    absl::Duration extra_error_propagation_time = absl::Seconds(5);
    // After this time without a sign of life a process counts as dead.
    absl::Duration heartbeat_timeout = absl::Seconds(100);
    // Called once when the service is lost or reports that another process died. (PJRT kills the
    // process by default; here the default does nothing and later calls fail.)
    std::function<void(absl::Status)> missed_heartbeat_callback;
    // Whether the destructor calls Shutdown.
    bool shutdown_on_destruction = true;
    // Whether to ask the service for errors of other processes from the start on.
    bool poll_for_error_from_service_at_startup = true;
    // Whether the process may come back after a failure, with a new incarnation.
    bool recoverable = false;
    // Whether to encrypt and to check the credentials of the service.
    bool verify_secure_credentials = false;
  };

  virtual ~DistributedRuntimeClient() = default;

  // Joins the program: blocks until all processes have connected. Once, before any other call.
  virtual absl::Status Connect();
  // Leaves it: waits for the others up to the timeout. Once, and nothing may be called after it.
  virtual absl::Status Shutdown();

  // The value of `key`, for which it waits.
  virtual absl::StatusOr<std::string> BlockingKeyValueGet(absl::string_view key,
                                                          absl::Duration timeout);
  // As KeyValueStoreInterface::AsyncGet. The default calls `done` with the error.
  virtual std::shared_ptr<KeyValueStoreInterface::CallOptions> AsyncKeyValueGet(
      absl::string_view key, KeyValueStoreInterface::GetCallback done);
  // The value of `key`, or NOT_FOUND at once.
  virtual absl::StatusOr<std::string> KeyValueTryGet(absl::string_view key);
  // Adds `increment` to the decimal number at `key` (0 if there is none) and returns the sum.
  virtual absl::StatusOr<int64_t> KeyValueIncrement(absl::string_view key, int64_t increment);
  // All keys in the directory `key`, in sub-directories too, with their values.
  virtual absl::StatusOr<std::vector<std::pair<std::string, std::string>>> KeyValueDirGet(
      absl::string_view key);
  // Sets a key. ALREADY_EXISTS if it has a value, unless `allow_overwrite`.
  virtual absl::Status KeyValueSet(absl::string_view key, absl::string_view value,
                                   bool allow_overwrite = false);
  // Removes a key or a directory.
  virtual absl::Status KeyValueDelete(absl::string_view key);

  // Blocks until all processes (or those in `nodes`) wait at the barrier of this name, which can be
  // used once. FAILED_PRECONDITION if it was passed before.
  virtual absl::Status WaitAtBarrier(absl::string_view barrier_id, absl::Duration timeout,
                                     std::optional<absl::Span<const int32_t>> nodes);
  // Those of `nodes` that live.
  virtual absl::StatusOr<std::vector<int32_t>> GetLiveNodes(absl::Span<const int32_t> nodes);
  // The same, with their incarnations.
  virtual absl::StatusOr<std::vector<std::pair<int32_t, IncarnationId>>>
  GetLiveNodesWithIncarnations(absl::Span<const int32_t> nodes);
};

// The key-value store of a DistributedRuntimeClient, with `key_prefix` put before each key, so that
// several users of the service don't meet. The client is shared; calls are passed on, and Set
// allows no overwriting.
std::shared_ptr<KeyValueStoreInterface> GetDistributedKeyValueStore(
    std::shared_ptr<DistributedRuntimeClient> client, std::string key_prefix);

// A device as its process describes it to the others.
struct DeviceTopology {
  // Its index among the devices of its process.
  int32_t local_device_ordinal = 0;
  std::string name;
  std::string vendor;
  // Its id among the devices of all processes; assigned by the exchange.
  int32_t global_device_id = 0;
  // The group of devices with a fast network between them; assigned by the exchange.
  int32_t partition_index = 0;
  // The NUMA node of the host that it is near to; -1 if unknown.
  int32_t numa_node = -1;
  std::string compute_capability;
  int32_t core_count = 0;
  std::string device_kind;
  std::string to_string;
  std::string debug_string;
  std::vector<std::pair<std::string, PjRtDeviceAttribute>> attributes;
  // Names the fast network that the device is attached to; empty if there is none.
  std::string fabric_uuid;
  int64_t device_memory_bytes_limit = 0;
};

// The devices of one process.
struct LocalTopology {
  int32_t process_id = 0;
  // Names one boot of the host: equal for processes on one machine.
  std::string boot_id;
  // The host's place in the network, from near to far; used to put near hosts next to each other.
  std::vector<std::string> network_nodes;
  std::vector<DeviceTopology> devices;
  // The partition of all devices of this process, where the program says so itself. Either all
  // processes set it or none does.
  std::optional<int32_t> partition_index;
};

// The devices of all processes, in the order of their ids.
struct GlobalTopology {
  std::vector<LocalTopology> processes;
};

// How processes exchange topologies. The protocol, over any KeyValueStoreInterface: each process
// writes its LocalTopology at "local_topology/<platform>/<process>"; process 0 waits for all of
// them, assigns global ids and partitions (by fabric_uuid, else boot_id, else the given
// partition_index) and writes the result at "global_topology/<platform>"; all others wait for that.
// A single process needs no exchange: its global ids are its local ones.
struct TopologyExchangeOptions {
  std::string platform;
  int32_t process_index = 0;
  int32_t process_count = 1;
  // How long process 0 waits for each LocalTopology, and the others for the GlobalTopology.
  absl::Duration get_local_timeout = absl::Minutes(2);
  absl::Duration get_global_timeout = absl::Minutes(5);
  // Whether to number the devices of all processes from 0; else their ids are taken as they are.
  bool assign_global_device_ids = true;
};

// Runs the exchange. Not part of this release: returns UNIMPLEMENTED [PJRT-R011], except for a
// single process, whose topology is returned with the ids filled in. `kv_store` may be null in that
// case.
absl::StatusOr<GlobalTopology> ExchangeTopologies(const TopologyExchangeOptions& options,
                                                  LocalTopology local,
                                                  KeyValueStoreInterface* kv_store);

}  // namespace pjrt

#endif  // PJRT_DISTRIBUTED_H_
