// SPDX-License-Identifier: Apache-2.0
//
// Default methods of Backend.
#include "pjrt/backend/backend.h"

#include "pjrt/base/literal.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/error.h"
#include "src/core/base/pack_bits.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {

void Backend::LaunchAll(absl::Span<const LaunchArgs> launches, absl::Span<Future<>> completions) {
  for (size_t i = 0; i < launches.size(); ++i) completions[i] = Launch(launches[i]);
}

ir::PassOptions Backend::pass_options() const { return {}; }

absl::StatusOr<Layout> Backend::GetDefaultLayout(PrimitiveType type,
                                                 absl::Span<const int64_t> dims) const {
  if (!IsArrayType(type)) {
    return InvalidArgument("PJRT-R018", "only arrays have layouts; given element type ",
                           PrimitiveTypeName(type));
  }
  Layout layout = MakeDescendingLayout(static_cast<int64_t>(dims.size()));
  const int bits = PackedBits(type);
  if (limits().packs_sub_byte_types && bits < 8) layout.set_element_size_in_bits(bits);
  return layout;
}

absl::Status Backend::CheckLayout(PrimitiveType, absl::Span<const int64_t> dims,
                                  const Layout& layout) const {
  PJRT_RETURN_IF_ERROR(ValidateLayout(layout, static_cast<int64_t>(dims.size())));
  if (!layout.tiles().empty()) {
    return Unimplemented("PJRT-R019", "Unsupported layout used for PjRt ", platform_name(),
                         " buffers: ", layout.ToString(), "; expected one without tiles");
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceAssignment> Backend::GetDefaultDeviceAssignment(int num_replicas,
                                                                     int num_partitions) const {
  PJRT_ASSIGN_OR_RETURN(DeviceAssignment assignment,
                        DeviceAssignment::Create(num_replicas, num_partitions));
  if (assignment.num_elements() > static_cast<int64_t>(devices().size())) {
    return ComputationPlacer().AssignDevices(num_replicas, num_partitions);
  }
  size_t next = 0;
  for (int r = 0; r < num_replicas; ++r) {
    for (int p = 0; p < num_partitions; ++p) assignment(r, p) = devices()[next++].id;
  }
  return assignment;
}

Future<> Backend::CopyHostToDevice(const void*, RawBuffer*, size_t, size_t) {
  return Future<>(UnimplementedMethod("Backend::CopyHostToDevice"));
}

Future<> Backend::CopyDeviceToHost(RawBuffer*, size_t, size_t, void*) {
  return Future<>(UnimplementedMethod("Backend::CopyDeviceToHost"));
}

Future<> Backend::CopyDeviceToDevice(RawBuffer*, RawBuffer*) {
  return Future<>(UnimplementedMethod("Backend::CopyDeviceToDevice"));
}

absl::StatusOr<std::shared_ptr<const DeviceProgram>> Backend::DeserializeProgram(
    absl::string_view, const CompileOptions&, const ResolvedAssignment&) {
  return UnimplementedMethod("Backend::DeserializeProgram");
}

absl::StatusOr<SupportReport> Backend::QuerySupport(const ir::Module&, SupportEffort) const {
  return UnimplementedMethod("Backend::QuerySupport");
}

absl::StatusOr<CostMap> Backend::GetCostAnalysis(const ir::Module&) const {
  return UnimplementedMethod("Backend::GetCostAnalysis");
}

absl::StatusOr<AllocatorStats> Backend::GetAllocatorStats(int) const {
  return UnimplementedMethod("Backend::GetAllocatorStats");
}

absl::Status Backend::ClearMemoryStats(int) {
  return UnimplementedMethod("Backend::ClearMemoryStats");
}

absl::Status Backend::TransferToInfeed(int, const LiteralSlice&) {
  return UnimplementedMethod("Backend::TransferToInfeed");
}

absl::Status Backend::TransferFromOutfeed(int, MutableBorrowingLiteral) {
  return UnimplementedMethod("Backend::TransferFromOutfeed");
}

absl::Status Backend::DmaMap(void*, size_t) { return UnimplementedMethod("Backend::DmaMap"); }

absl::Status Backend::DmaUnmap(void*) { return UnimplementedMethod("Backend::DmaUnmap"); }

}  // namespace pjrt
