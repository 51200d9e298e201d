// SPDX-License-Identifier: Apache-2.0
//
// What a caller may say about a compilation, and about loading its result. Spec: PJRT C++ API,
// section 1.9.
//
// All of these are plain values without locks: use one object from one thread at a time.
#ifndef PJRT_COMPILE_OPTIONS_H_
#define PJRT_COMPILE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/shape.h"
#include "pjrt/device_assignment.h"
#include "pjrt/device_dimensions.h"

namespace pjrt {

class Executor;
class KeyValueStoreInterface;

// How a program's devices are spread over slices (groups of devices with a fast network inside).
// Made by a platform that has slices; CPU has none.
class MultiSliceConfig {
 public:
  virtual ~MultiSliceConfig() = default;
  virtual int32_t NumSlices() const = 0;
  // The slice of this process, 0 .. NumSlices() - 1.
  virtual int32_t SliceId() const = 0;
  virtual absl::flat_hash_map<int32_t, int32_t> NumDevicesPerSlice() const = 0;
  // Bytes that the platform can read back.
  virtual std::string Serialize() const = 0;
};

// The value of a named option.
using OptionValue = std::variant<std::string, bool, int64_t, double>;

// Options of a backend's own, by name. Which names exist, with which types, is the backend's to
// say; a name or type that it doesn't know fails the compilation with INVALID_ARGUMENT.
using OptionMap = std::map<std::string, OptionValue>;

// How exact the products of a matrix unit have to be where a program doesn't say.
enum class MatrixUnitPrecision { kDefault = 0, kHigh = 1, kHighest = 2 };

// Options of the executable being built. Setters return *this, so that they chain:
//
//   options.executable_build_options.set_num_replicas(2).set_num_partitions(1);
class ExecutableBuildOptions {
 public:
  // The device to compile for, by ordinal; -1 (the default) leaves it to the device assignment.
  int device_ordinal() const { return device_ordinal_; }
  ExecutableBuildOptions& set_device_ordinal(int ordinal);

  // The shape, with layouts, that the result must have: a tuple shape for several results. Null
  // when the compiler may choose.
  const Shape* result_layout() const { return result_layout_ ? &*result_layout_ : nullptr; }
  ExecutableBuildOptions& set_result_layout(Shape shape_with_layout);

  // How many copies of the program run side by side, and into how many partitions each is split.
  // Both at least 1. Ignored when a device assignment is given: then its counts are used.
  int num_replicas() const { return num_replicas_; }
  ExecutableBuildOptions& set_num_replicas(int num_replicas);
  int num_partitions() const { return num_partitions_; }
  ExecutableBuildOptions& set_num_partitions(int num_partitions);

  // Which device runs which replica and partition; without one the client's default is used.
  bool has_device_assignment() const { return device_assignment_.has_value(); }
  const DeviceAssignment& device_assignment() const { return *device_assignment_; }
  ExecutableBuildOptions& set_device_assignment(DeviceAssignment assignment);
  ExecutableBuildOptions& clear_device_assignment();

  // Whether the compiler splits the program by the shardings annotated in it (one program for all
  // partitions).
  bool use_spmd_partitioning() const { return use_spmd_partitioning_; }
  ExecutableBuildOptions& set_use_spmd_partitioning(bool value);
  // Whether it also finds shardings by itself, on a mesh of this shape and these device ids.
  bool use_auto_spmd_partitioning() const { return use_auto_spmd_partitioning_; }
  ExecutableBuildOptions& set_use_auto_spmd_partitioning(bool value);
  const std::vector<int64_t>& auto_spmd_partitioning_mesh_shape() const { return auto_mesh_shape_; }
  ExecutableBuildOptions& set_auto_spmd_partitioning_mesh_shape(std::vector<int64_t> shape);
  const std::vector<int64_t>& auto_spmd_partitioning_mesh_ids() const { return auto_mesh_ids_; }
  ExecutableBuildOptions& set_auto_spmd_partitioning_mesh_ids(std::vector<int64_t> ids);
  // Whether shardings are read and propagated by Shardy's rules.
  bool use_shardy_partitioner() const { return use_shardy_partitioner_; }
  ExecutableBuildOptions& set_use_shardy_partitioner(bool value);
  // Whether propagation may change the shardings of parameters and results that have none: one flag
  // for all, or one for each.
  const std::vector<bool>& allow_spmd_sharding_propagation_to_parameters() const {
    return propagate_to_parameters_;
  }
  ExecutableBuildOptions& set_allow_spmd_sharding_propagation_to_parameters(
      std::vector<bool> allow);
  const std::vector<bool>& allow_spmd_sharding_propagation_to_output() const {
    return propagate_to_output_;
  }
  ExecutableBuildOptions& set_allow_spmd_sharding_propagation_to_output(std::vector<bool> allow);

  // How hard to try: 0 to 3, -1 for the backend's default. `memory_fitting_level` is about fitting
  // into memory.
  int optimization_level() const { return optimization_level_; }
  ExecutableBuildOptions& set_optimization_level(int level);
  int memory_fitting_level() const { return memory_fitting_level_; }
  ExecutableBuildOptions& set_memory_fitting_level(int level);

  // Whether equal parts of the program are to be compiled once.
  bool deduplicate_hlo() const { return deduplicate_hlo_; }
  ExecutableBuildOptions& set_deduplicate_hlo(bool value);
  // Whether a parameter that is returned unchanged may share its memory with the result.
  bool alias_passthrough_params() const { return alias_passthrough_params_; }
  ExecutableBuildOptions& set_alias_passthrough_params(bool value);
  // Whether the program is already optimized, so that only the backend's last phase runs.
  bool run_backend_only() const { return run_backend_only_; }
  ExecutableBuildOptions& set_run_backend_only(bool value);

  // Where the compiler may run work in parallel; not owned, null for the compiler's own choice.
  Executor* compile_thread_pool() const { return compile_thread_pool_; }
  ExecutableBuildOptions& set_compile_thread_pool(Executor* executor);

  // A profile of earlier runs for the compiler to use, in the backend's own format.
  const std::string& fdo_profile() const { return fdo_profile_; }
  ExecutableBuildOptions& set_fdo_profile(std::string profile);

  // Bytes of device memory to plan for; 0 for what the device has.
  int64_t device_memory_size() const { return device_memory_size_; }
  ExecutableBuildOptions& set_device_memory_size(int64_t bytes);

  // The place of this process among those that compile the same program together, and the store
  // through which they exchange results; null when alone.
  int process_index() const { return process_index_; }
  ExecutableBuildOptions& set_process_index(int index);
  int process_count() const { return process_count_; }
  ExecutableBuildOptions& set_process_count(int count);
  const std::shared_ptr<KeyValueStoreInterface>& key_value_store() const {
    return key_value_store_;
  }
  ExecutableBuildOptions& set_key_value_store(std::shared_ptr<KeyValueStoreInterface> store);

  // Options of the backend's own.
  const OptionMap& debug_options() const { return debug_options_; }
  OptionMap* mutable_debug_options() { return &debug_options_; }

  // One line, for people.
  std::string ToString() const;

 private:
  int device_ordinal_ = -1;
  int num_replicas_ = 1;
  int num_partitions_ = 1;
  int optimization_level_ = -1;
  int memory_fitting_level_ = -1;
  int process_index_ = 0;
  int process_count_ = 1;
  bool use_spmd_partitioning_ = false;
  bool use_auto_spmd_partitioning_ = false;
  bool use_shardy_partitioner_ = false;
  bool deduplicate_hlo_ = false;
  bool alias_passthrough_params_ = false;
  bool run_backend_only_ = false;
  int64_t device_memory_size_ = 0;
  std::optional<Shape> result_layout_;
  std::optional<DeviceAssignment> device_assignment_;
  std::vector<int64_t> auto_mesh_shape_;
  std::vector<int64_t> auto_mesh_ids_;
  std::vector<bool> propagate_to_parameters_ = {false};
  std::vector<bool> propagate_to_output_ = {false};
  Executor* compile_thread_pool_ = nullptr;
  std::string fdo_profile_;
  std::shared_ptr<KeyValueStoreInterface> key_value_store_;
  OptionMap debug_options_;
};

// Options of a compilation. The defaults compile for one device.
struct CompileOptions {
  // The layouts wanted for the arguments, one shape a parameter; a shape without layout leaves that
  // one to the compiler.
  std::optional<std::vector<Shape>> argument_layouts;

  // The program's one parameter is a tuple. Execute still takes its leaves, in order.
  bool parameter_is_tupled_arguments = false;

  // Results that should become ready each on its own and not with the rest. A backend may ignore
  // it.
  absl::flat_hash_set<int> individually_defined_output_indices;

  ExecutableBuildOptions executable_build_options;

  // Makes an executable for ExecutePortable: it has no device assignment and runs on whichever
  // device each call names. Needs 1 replica, 1 partition, and no device assignment; otherwise
  // INVALID_ARGUMENT.
  bool compile_portable_executable = false;

  // The version of the profile to compile with, where the backend keeps several.
  int64_t profile_version = 0;

  // Not owned; must outlive the compilation. The serialized form is what travels with Serialize();
  // when both are there it wins.
  const MultiSliceConfig* multi_slice_config = nullptr;
  std::string serialized_multi_slice_config;

  // Overrides of executable_build_options.debug_options() by name, applied in order by
  // ApplyAllOptionOverrides().
  using OptionOverrides = std::vector<std::pair<std::string, OptionValue>>;
  OptionOverrides env_option_overrides;

  // The compiler may take the program's module apart instead of working on a copy.
  bool allow_in_place_mlir_modification = false;

  MatrixUnitPrecision matrix_unit_operand_precision = MatrixUnitPrecision::kDefault;

  // Sets one option of the backend's own. A string value for an option that was set before as a
  // bool, integer or double is converted to that type; INVALID_ARGUMENT, naming key and value, when
  // it can't be.
  absl::Status ApplyOption(const std::string& key, const OptionValue& value);
  // The same for text: "true", "false", an integer or a floating-point number become that type when
  // the option isn't set before; anything else stays a string.
  absl::Status ApplyOptionFromString(const std::string& key, const std::string& value);
  // Applies env_option_overrides in order (so that the last one wins) and leaves them in place.
  absl::Status ApplyAllOptionOverrides();

  // The overrides that a map of texts asks for, in the map's order, each typed as by
  // ApplyOptionFromString.
  static absl::StatusOr<OptionOverrides> LoadEnvOptionOverrides(
      const std::map<std::string, std::string>& overrides);

  // The options as text that Deserialize reads back: a first line "pjrt.compile_options.v1", then
  // one line `name=value` for each option that differs from its default, in the order above, with
  // texts quoted and escaped as C string literals. Pointers (the executor, the key-value store) and
  // multi_slice_config aren't in it; of the latter its Serialize() is. Equal options give equal
  // text.
  std::string Serialize() const;
  // INVALID_ARGUMENT, with the line number, for text that Serialize doesn't write.
  static absl::StatusOr<CompileOptions> Deserialize(absl::string_view text);
};

// What a program should run on: the result of resolving CompileOptions against a client.
struct ResolvedAssignment {
  int num_replicas = 1;
  int num_partitions = 1;
  std::shared_ptr<const DeviceAssignment> device_assignment;  // null for a portable executable
};

// Finds replica and partition counts and the device assignment that `options` mean. A portable
// compilation with an assignment, or with counts other than 1, is INVALID_ARGUMENT; without an
// assignment `default_assignment` is asked for one; the counts returned are those of the
// assignment.
absl::StatusOr<ResolvedAssignment> ResolveDeviceAssignment(
    const CompileOptions& options,
    const std::function<absl::StatusOr<DeviceAssignment>(int num_replicas, int num_partitions)>&
        default_assignment);

// Options of loading an executable into a client.
struct LoadOptions {
  // Where in the topology the computation begins, for platforms whose devices form a mesh.
  std::optional<PjRtDeviceDimensions> computation_origin;
  // Not owned; must outlive the call.
  const MultiSliceConfig* multi_slice_config = nullptr;
};

}  // namespace pjrt

#endif  // PJRT_COMPILE_OPTIONS_H_
