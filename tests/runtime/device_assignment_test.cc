// SPDX-License-Identifier: Apache-2.0
//
// DeviceAssignment and ComputationPlacer. Scenarios 19 and 21-23.
#include "pjrt/device_assignment.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

using LogicalID = DeviceAssignment::LogicalID;

DeviceAssignment Make(int replicas, int computations, std::vector<int64_t> ids) {
  return *DeviceAssignment::Create(replicas, computations, ids);
}

TEST(DeviceAssignmentTest, NewAssignmentIsUnset) {
  const DeviceAssignment assignment = *DeviceAssignment::Create(2, 3);
  EXPECT_EQ(assignment.replica_count(), 2);
  EXPECT_EQ(assignment.computation_count(), 3);
  EXPECT_EQ(assignment.num_elements(), 6);
  EXPECT_TRUE(assignment.IsAll(-1));
  EXPECT_EQ(DeviceAssignment().num_elements(), 0);
}

TEST(DeviceAssignmentTest, CountsBelowOneOrTooLargeAreRejected) {
  for (auto [r, c] : std::vector<std::pair<int, int>>{
           {0, 1}, {1, 0}, {-1, 1}, {1, -1}, {INT32_MIN, INT32_MIN}, {65536, 65536}}) {
    const absl::Status status = DeviceAssignment::Create(r, c).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << r << "x" << c;
    EXPECT_EQ(ErrorId(status), "PJRT-R002") << status;
  }
  EXPECT_FALSE(DeviceAssignment::Create(1, 2, {0}).ok());
  EXPECT_FALSE(DeviceAssignment::Create(1, 2, {0, 1, 2}).ok());
}

TEST(DeviceAssignmentTest, RowsAreReplicas) {
  DeviceAssignment assignment = Make(2, 3, {0, 1, 2, 10, 11, 12});
  EXPECT_EQ(assignment(0, 2), 2);
  EXPECT_EQ(assignment(1, 0), 10);
  assignment(1, 0) = 20;
  EXPECT_EQ(assignment.DeviceId(1, 0), GlobalDeviceId(20));
  EXPECT_EQ(assignment.device_ids(), (std::vector<int64_t>{0, 1, 2, 20, 11, 12}));
  for (auto [r, c] : std::vector<std::pair<int, int>>{{-1, 0}, {0, -1}, {2, 0}, {0, 3}}) {
    EXPECT_EQ(assignment.DeviceId(r, c), GlobalDeviceId(-1));
  }
}

TEST(DeviceAssignmentTest, DevicesAreFoundByTheirId) {
  const DeviceAssignment assignment = Make(2, 2, {5, 6, 8, 7});
  EXPECT_EQ(*assignment.LogicalIdForDevice(GlobalDeviceId(8)), (LogicalID{1, 0}));
  EXPECT_EQ(*assignment.LogicalIdForDevice(GlobalDeviceId(6)), (LogicalID{0, 1}));
  EXPECT_EQ(*assignment.ReplicaIdForDevice(GlobalDeviceId(7)), 1);
  EXPECT_EQ(*assignment.PartitionIdForDevice(GlobalDeviceId(7)), 1);
  const auto map = assignment.GetDeviceToLogicalIdMap();
  ASSERT_EQ(map.size(), 4u);
  EXPECT_EQ(map.at(7), (LogicalID{1, 1}));
}

TEST(DeviceAssignmentTest, AbsentAndRepeatedDevicesAreInternalErrors) {
  const DeviceAssignment assignment = Make(2, 2, {5, 6, 5, 7});
  for (int id : {4, 5}) {
    for (const absl::Status& status :
         {assignment.LogicalIdForDevice(GlobalDeviceId(id)).status(),
          assignment.ReplicaIdForDevice(GlobalDeviceId(id)).status(),
          assignment.PartitionIdForDevice(GlobalDeviceId(id)).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
      EXPECT_EQ(ErrorId(status), "PJRT-R003") << status;
    }
  }
}

TEST(DeviceAssignmentTest, IotaMayBeginAnywhere) {
  EXPECT_TRUE(DeviceAssignment().IsIota());
  EXPECT_TRUE(Make(2, 2, {0, 1, 2, 3}).IsIota());
  EXPECT_TRUE(Make(2, 2, {7, 8, 9, 10}).IsIota());
  EXPECT_FALSE(Make(2, 2, {0, 2, 1, 3}).IsIota());
  EXPECT_FALSE(Make(1, 2, {INT64_MAX, INT64_MIN}).IsIota());
}

TEST(DeviceAssignmentTest, AllMeansEveryOne) {
  EXPECT_TRUE(DeviceAssignment().IsAll(3));
  EXPECT_TRUE(Make(1, 2, {3, 3}).IsAll(3));
  EXPECT_FALSE(Make(1, 2, {3, 4}).IsAll(3));
}

TEST(DeviceAssignmentTest, TextRoundTrips) {
  const DeviceAssignment assignment = Make(2, 3, {0, 1, 2, 10, 11, -1});
  EXPECT_EQ(assignment.Serialize(), "2x3:0,1,2,10,11,-1");
  EXPECT_EQ(*DeviceAssignment::Deserialize(assignment.Serialize()), assignment);
  EXPECT_NE(*DeviceAssignment::Deserialize("3x2:0,1,2,10,11,-1"), assignment);
}

TEST(DeviceAssignmentTest, MalformedTextIsRejected) {
  for (const char* text : {"", "2x2", "2:0,1", "0x1:", "-1x1:0", "2x2:0,1,2", "1x1:a", "1x1x1:0",
                           "ax1:0", "1x2:0,,1", "99999999999x1:0", "65536x65536:0"}) {
    EXPECT_EQ(DeviceAssignment::Deserialize(text).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(DeviceAssignmentTest, PrintsComputationsWithTheirReplicas) {
  EXPECT_EQ(Make(2, 2, {0, 2, 1, 3}).ToString(),
            "DeviceAssignment{replicas=2, computations=2, computation 0: [0 1], "
            "computation 1: [2 3]}");
}

TEST(ComputationPlacerTest, DevicesCountUpAlongReplicas) {
  const ComputationPlacer placer;
  const DeviceAssignment assignment = *placer.AssignDevices(2, 3);
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 3; ++c) EXPECT_EQ(assignment(r, c), c * 2 + r);
  }
  EXPECT_EQ(*placer.DeviceId(1, 2, 2, 3), 5);
}

TEST(ComputationPlacerTest, PlacesOutsideOfTheCountsAreRejected) {
  const ComputationPlacer placer;
  EXPECT_FALSE(placer.AssignDevices(0, 1).ok());
  EXPECT_FALSE(placer.DeviceId(2, 0, 2, 3).ok());
  EXPECT_FALSE(placer.DeviceId(0, -1, 2, 3).ok());
}

}  // namespace
}  // namespace pjrt
