// SPDX-License-Identifier: Apache-2.0
//
// Devices, memory spaces, device assignments and layouts of the common client.
#include <set>

#include "pjrt/host_memory_spaces.h"
#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {
namespace {

using absl::StatusCode;

TEST(ClientTest, AllDevicesAreAddressableAndCountsAgree) {
  TestClient t(Devices(3));
  EXPECT_EQ(t.client->device_count(), 3);
  EXPECT_EQ(t.client->addressable_device_count(), 3);
  EXPECT_EQ(t.client->devices(), t.client->addressable_devices());
  for (PjRtDevice* device : t.client->devices()) {
    EXPECT_TRUE(device->IsAddressable());
    EXPECT_EQ(device->client(), t.client.get());
    EXPECT_EQ(device->process_index(), t.client->process_index());
    EXPECT_GE(device->local_hardware_id().value(), 0);
    EXPECT_FALSE(device->DebugString().empty());
    EXPECT_FALSE(device->ToString().empty());
  }
}

TEST(ClientTest, LookupFindsTheListedDeviceAndNamesAMissingId) {
  TestClient t(Devices(2));
  for (PjRtDevice* device : t.client->devices()) {
    EXPECT_EQ(*t.client->LookupDevice(device->global_device_id()), device);
    EXPECT_EQ(*t.client->LookupAddressableDevice(device->local_device_id()), device);
  }
  for (const int id : {-1, 2, 1000}) {
    const std::string text = absl::StrCat("No matching device found for device_id ", id);
    EXPECT_THAT(t.client->LookupDevice(GlobalDeviceId(id)).status(),
                Fails(StatusCode::kInvalidArgument, text));
    EXPECT_THAT(t.client->LookupAddressableDevice(LocalDeviceId(id)).status(),
                Fails(StatusCode::kInvalidArgument, "local_device_id"));
  }
}

TEST(ClientTest, PlatformIdIsThatOfItsName) {
  TestClient t;
  EXPECT_EQ(t.client->platform_name(), "memory");
  EXPECT_EQ(t.client->platform_id(), PlatformIdFromName("memory"));
}

TEST(ClientTest, MemorySpacesBelongToOneDeviceAndHaveDistinctIds) {
  TestClient t(Devices(2));
  std::set<int> ids;
  for (PjRtMemorySpace* space : t.client->memory_spaces()) {
    EXPECT_TRUE(ids.insert(space->id()).second);
    ASSERT_EQ(space->devices().size(), 1);
    EXPECT_EQ(*space->devices()[0]->memory_space_by_kind(space->kind()), space);
  }
  EXPECT_EQ(ids.size(), 4);
  EXPECT_EQ(t.memory(1)->kind(), "device");
  EXPECT_EQ(t.memory(1)->devices()[0], t.device(1));
  EXPECT_THAT(t.device()->memory_space_by_kind("bogus").status(),
              Fails(StatusCode::kInternal, "No memory space found (kind: bogus)"));
}

TEST(ClientTest, DescriptionsListTheKindsOfMemory) {
  TestClient t;
  const auto kinds = t.device()->description().memory_spaces();
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_EQ(kinds[0]->kind(), "device");
  EXPECT_EQ(kinds[1]->kind_id(), FingerprintKind("pinned_host"));
  EXPECT_EQ(*t.device()->description().default_memory_space(), kinds[0]);
}

TEST(ClientTest, ADeviceOfAnotherProcessHasNoMemory) {
  MemoryBackendOptions options;
  options.num_foreign_devices = 1;
  TestClient t(options);
  EXPECT_EQ(t.client->device_count(), 2);
  EXPECT_EQ(t.client->addressable_device_count(), 1);
  PjRtDevice* foreign = *t.client->LookupDevice(GlobalDeviceId(1));
  EXPECT_FALSE(foreign->IsAddressable());
  EXPECT_TRUE(foreign->memory_spaces().empty());
  EXPECT_EQ(foreign->default_memory_space().status().code(), StatusCode::kFailedPrecondition);
}

TEST(ClientTest, DefaultLayoutIsRowMajorAndOnlyForArrays) {
  TestClient t;
  EXPECT_EQ(*t.client->GetDefaultLayout(F32, {2, 3, 4}), MakeDescendingLayout(3));
  EXPECT_EQ(t.client->GetDefaultLayout(S4, {2})->element_size_in_bits(), 4);
  EXPECT_EQ(t.client->GetDefaultLayout(TOKEN, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(t.client->GetDefaultLayout(TUPLE, {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(ClientTest, MethodsThatABackendLeavesOutNameThemselves) {
  TestClient t;
  EXPECT_THAT(t.client->DmaMap(nullptr, 0), Fails(StatusCode::kUnimplemented, "DmaMap"));
  EXPECT_THAT(t.client->RuntimeAbiVersion().status(),
              Fails(StatusCode::kUnimplemented, "PjRtClient::RuntimeAbiVersion"));
  EXPECT_THAT(t.client->GetTopologyDescription().status(),
              Fails(StatusCode::kUnimplemented, "PjRtClient::GetTopologyDescription"));
  EXPECT_THAT(t.device()->ClearMemoryStats(),
              Fails(StatusCode::kUnimplemented, "ClearMemoryStats"));
  EXPECT_THAT(t.client->CrossHostSendBuffers({}, {}, {}).status(),
              Fails(StatusCode::kUnimplemented, "PjRtClient::CrossHostSendBuffers"));
}

TEST(ClientTest, AllocatorStatsFollowBuffers) {
  TestClient t;
  const int64_t before = t.device()->GetAllocatorStats()->bytes_in_use;
  auto buffer = t.MakeIota(256);
  EXPECT_EQ(t.device()->GetAllocatorStats()->bytes_in_use, before + 1024);
  buffer->Delete();
  EXPECT_EQ(t.device()->GetAllocatorStats()->bytes_in_use, before);
}

TEST(ClientTest, OptionsOutOfRangeAreNamed) {
  CommonClientOptions options;
  options.max_inflight_computations_per_device = 0;
  EXPECT_THAT(MakeCommonPjRtClient(std::make_unique<MemoryBackend>(MemoryBackendOptions()), options)
                  .status(),
              Fails(StatusCode::kInvalidArgument, "max_inflight_computations_per_device is 0"));
  EXPECT_EQ(MakeCommonPjRtClient(nullptr, {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(ClientTest, ObjectsOfAnotherClientAreRejected) {
  TestClient a;
  TestClient b;
  EXPECT_THAT(a.client->CreateErrorBuffer(absl::InternalError("x"), MakeShape(F32, {1}), b.memory())
                  .status(),
              Fails(StatusCode::kInvalidArgument, "another client"));
  EXPECT_THAT(a.client->CreateUninitializedBuffer(MakeShape(F32, {1}), nullptr).status(),
              Fails(StatusCode::kInvalidArgument, "null"));
  auto buffer = b.MakeIota(4);
  EXPECT_THAT(RunOnce(*a.Load(AddOne(4)), {buffer.get()}).status(),
              Fails(StatusCode::kInvalidArgument, "another client"));
}

// ----- Device assignments -----

TEST(DefaultDeviceAssignmentTest, FillsTheMatrixWithDistinctExistingDevices) {
  TestClient t(Devices(4));
  const auto assignment = t.client->GetDefaultDeviceAssignment(2, 2);
  ASSERT_OK(assignment.status());
  std::set<int64_t> ids(assignment->device_ids().begin(), assignment->device_ids().end());
  EXPECT_EQ(ids, (std::set<int64_t>{0, 1, 2, 3}));
}

TEST(DefaultDeviceAssignmentTest, RejectsCountsBelowOneAndOverflow) {
  TestClient t;
  for (const auto& [r, p] : {std::pair<int, int>{0, 1}, {1, 0}, {-1, 1}, {1 << 30, 1 << 30}}) {
    EXPECT_EQ(t.client->GetDefaultDeviceAssignment(r, p).status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(DefaultDeviceAssignmentTest, MoreThanThereAreFailsOnlyWhenLoaded) {
  TestClient t(Devices(2));
  EXPECT_OK(t.client->GetDefaultDeviceAssignment(2, 2).status());
  CompileOptions options;
  options.executable_build_options.set_num_replicas(2).set_num_partitions(2);
  EXPECT_THAT(LoadDeviceProgram(t.client.get(), AddOne(4), options).status(),
              Fails(StatusCode::kInvalidArgument, "No matching device found"));
}

TEST(DeviceAssignmentTest, AnExplicitAssignmentBeatsTheCounts) {
  TestClient t(Devices(2));
  CompileOptions options;
  options.executable_build_options.set_num_replicas(7).set_device_assignment(
      *DeviceAssignment::Create(1, 2, {1, 0}));
  auto executable = t.Load(AddOne(4), options);
  EXPECT_EQ(executable->num_replicas(), 1);
  EXPECT_EQ(executable->num_partitions(), 2);
  ASSERT_EQ(executable->addressable_devices().size(), 2);
  EXPECT_EQ(executable->addressable_devices()[0], t.device(1));
  EXPECT_EQ(executable->addressable_device_logical_ids()[1].replica, 0);
  EXPECT_EQ(executable->addressable_device_logical_ids()[1].partition, 1);
  EXPECT_EQ(executable->device_assignment().device_ids(),
            absl::MakeConstSpan({int64_t{1}, int64_t{0}}));
}

TEST(DeviceAssignmentTest, APortableCompilationTakesNeitherAssignmentNorCounts) {
  TestClient t;
  CompileOptions options;
  options.compile_portable_executable = true;
  options.executable_build_options.set_num_replicas(2);
  EXPECT_EQ(LoadDeviceProgram(t.client.get(), AddOne(4), options).status().code(),
            StatusCode::kInvalidArgument);
  options.executable_build_options.set_num_replicas(1).set_device_assignment(
      *DeviceAssignment::Create(1, 1, {0}));
  EXPECT_EQ(LoadDeviceProgram(t.client.get(), AddOne(4), options).status().code(),
            StatusCode::kInvalidArgument);
  options.executable_build_options.clear_device_assignment();
  EXPECT_TRUE(t.Load(AddOne(4), options)->addressable_devices().empty());
}

}  // namespace
}  // namespace pjrt::testing
