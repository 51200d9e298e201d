// SPDX-License-Identifier: Apache-2.0
#include "pjrt/compile_options.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "pjrt/key_value_store.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/option_text.h"

namespace pjrt {
namespace {

constexpr absl::string_view kCompileOptionsKind = "pjrt.compile_options.v1";

std::string BoolsText(const std::vector<bool>& values) {
  return absl::StrJoin(values, ",", [](std::string* out, bool v) { out->append(v ? "1" : "0"); });
}

absl::Status ReadBools(absl::string_view text, std::vector<bool>* values) {
  std::vector<int64_t> numbers;
  PJRT_RETURN_IF_ERROR(ReadInts(text, &numbers));
  values->assign(numbers.begin(), numbers.end());
  return absl::OkStatus();
}

// Texts that are numbers or truth values become such.
OptionValue TypedValue(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  int64_t integer;
  if (absl::SimpleAtoi(text, &integer)) return integer;
  double number;
  if (absl::SimpleAtod(text, &number)) return number;
  return text;
}

const std::vector<bool>& DefaultPropagation() {
  static const auto* const kNo = new std::vector<bool>{false};
  return *kNo;
}

}  // namespace

// ----- ExecutableBuildOptions -----

#define PJRT_SETTER_(name, Type, field)                                    \
  ExecutableBuildOptions& ExecutableBuildOptions::set_##name(Type value) { \
    field = std::move(value);                                              \
    return *this;                                                          \
  }
PJRT_SETTER_(device_ordinal, int, device_ordinal_)
PJRT_SETTER_(result_layout, Shape, result_layout_)
PJRT_SETTER_(num_replicas, int, num_replicas_)
PJRT_SETTER_(num_partitions, int, num_partitions_)
PJRT_SETTER_(device_assignment, DeviceAssignment, device_assignment_)
PJRT_SETTER_(use_spmd_partitioning, bool, use_spmd_partitioning_)
PJRT_SETTER_(use_auto_spmd_partitioning, bool, use_auto_spmd_partitioning_)
PJRT_SETTER_(auto_spmd_partitioning_mesh_shape, std::vector<int64_t>, auto_mesh_shape_)
PJRT_SETTER_(auto_spmd_partitioning_mesh_ids, std::vector<int64_t>, auto_mesh_ids_)
PJRT_SETTER_(use_shardy_partitioner, bool, use_shardy_partitioner_)
PJRT_SETTER_(allow_spmd_sharding_propagation_to_parameters, std::vector<bool>,
             propagate_to_parameters_)
PJRT_SETTER_(allow_spmd_sharding_propagation_to_output, std::vector<bool>, propagate_to_output_)
PJRT_SETTER_(optimization_level, int, optimization_level_)
PJRT_SETTER_(memory_fitting_level, int, memory_fitting_level_)
PJRT_SETTER_(deduplicate_hlo, bool, deduplicate_hlo_)
PJRT_SETTER_(alias_passthrough_params, bool, alias_passthrough_params_)
PJRT_SETTER_(run_backend_only, bool, run_backend_only_)
PJRT_SETTER_(compile_thread_pool, Executor*, compile_thread_pool_)
PJRT_SETTER_(fdo_profile, std::string, fdo_profile_)
PJRT_SETTER_(device_memory_size, int64_t, device_memory_size_)
PJRT_SETTER_(process_index, int, process_index_)
PJRT_SETTER_(process_count, int, process_count_)
PJRT_SETTER_(key_value_store, std::shared_ptr<KeyValueStoreInterface>, key_value_store_)
#undef PJRT_SETTER_

ExecutableBuildOptions& ExecutableBuildOptions::clear_device_assignment() {
  device_assignment_.reset();
  return *this;
}

std::string ExecutableBuildOptions::ToString() const {
  CompileOptions options;
  options.executable_build_options = *this;
  const std::string lines = options.Serialize();
  // Without the first line, which names the format.
  const size_t begin = lines.find('\n') + 1;
  std::string text = absl::StrReplaceAll(
      absl::string_view(lines).substr(begin, lines.size() - begin - (lines.size() > begin)),
      {{"\n", ", "}});
  return absl::StrCat("ExecutableBuildOptions{", text, "}");
}

// ----- CompileOptions -----

absl::Status CompileOptions::ApplyOption(const std::string& key, const OptionValue& value) {
  if (key.empty()) return InvalidArgument("PJRT-R065", "an option needs a name");
  OptionMap& options = *executable_build_options.mutable_debug_options();
  const auto it = options.find(key);
  const auto* text = std::get_if<std::string>(&value);
  if (it == options.end() || text == nullptr || std::holds_alternative<std::string>(it->second)) {
    options[key] = value;
    return absl::OkStatus();
  }
  OptionValue typed = TypedValue(*text);
  if (std::holds_alternative<double>(it->second) && std::holds_alternative<int64_t>(typed)) {
    typed = static_cast<double>(std::get<int64_t>(typed));
  }
  if (typed.index() != it->second.index()) {
    return InvalidArgument("PJRT-R065", "option ", key, " given \"", *text,
                           "\"; its value so far is ", OptionValueText(it->second),
                           ", and the text is none of that type");
  }
  it->second = std::move(typed);
  return absl::OkStatus();
}

absl::Status CompileOptions::ApplyOptionFromString(const std::string& key,
                                                   const std::string& value) {
  const OptionMap& options = executable_build_options.debug_options();
  if (options.find(key) != options.end()) return ApplyOption(key, value);
  return ApplyOption(key, TypedValue(value));
}

absl::Status CompileOptions::ApplyAllOptionOverrides() {
  for (const auto& [key, value] : env_option_overrides) {
    PJRT_RETURN_IF_ERROR(ApplyOption(key, value));
  }
  return absl::OkStatus();
}

absl::StatusOr<CompileOptions::OptionOverrides> CompileOptions::LoadEnvOptionOverrides(
    const std::map<std::string, std::string>& overrides) {
  OptionOverrides typed;
  for (const auto& [key, value] : overrides) {
    if (key.empty()) return InvalidArgument("PJRT-R065", "an option needs a name");
    typed.emplace_back(key, TypedValue(value));
  }
  return typed;
}

std::string CompileOptions::Serialize() const {
  OptionWriter writer(kCompileOptionsKind);
  if (argument_layouts.has_value()) {
    writer.AddLine("argument_layouts",
                   absl::StrJoin(*argument_layouts, ";", [](std::string* out, const Shape& s) {
                     out->append(s.ToString());
                   }));
  }
  writer.AddBool("parameter_is_tupled_arguments", parameter_is_tupled_arguments, false);
  std::vector<int64_t> outputs(individually_defined_output_indices.begin(),
                               individually_defined_output_indices.end());
  std::sort(outputs.begin(), outputs.end());
  writer.AddInts("individually_defined_output_indices", outputs);

  const ExecutableBuildOptions& build = executable_build_options;
  writer.AddInt("device_ordinal", build.device_ordinal(), -1);
  if (build.result_layout() != nullptr) {
    writer.AddLine("result_layout", build.result_layout()->ToString());
  }
  writer.AddInt("num_replicas", build.num_replicas(), 1);
  writer.AddInt("num_partitions", build.num_partitions(), 1);
  if (build.has_device_assignment()) {
    writer.AddLine("device_assignment", build.device_assignment().Serialize());
  }
  writer.AddBool("use_spmd_partitioning", build.use_spmd_partitioning(), false);
  writer.AddBool("use_auto_spmd_partitioning", build.use_auto_spmd_partitioning(), false);
  writer.AddInts("auto_spmd_partitioning_mesh_shape", build.auto_spmd_partitioning_mesh_shape());
  writer.AddInts("auto_spmd_partitioning_mesh_ids", build.auto_spmd_partitioning_mesh_ids());
  writer.AddBool("use_shardy_partitioner", build.use_shardy_partitioner(), false);
  if (build.allow_spmd_sharding_propagation_to_parameters() != DefaultPropagation()) {
    writer.AddLine("allow_spmd_sharding_propagation_to_parameters",
                   BoolsText(build.allow_spmd_sharding_propagation_to_parameters()));
  }
  if (build.allow_spmd_sharding_propagation_to_output() != DefaultPropagation()) {
    writer.AddLine("allow_spmd_sharding_propagation_to_output",
                   BoolsText(build.allow_spmd_sharding_propagation_to_output()));
  }
  writer.AddInt("optimization_level", build.optimization_level(), -1);
  writer.AddInt("memory_fitting_level", build.memory_fitting_level(), -1);
  writer.AddBool("deduplicate_hlo", build.deduplicate_hlo(), false);
  writer.AddBool("alias_passthrough_params", build.alias_passthrough_params(), false);
  writer.AddBool("run_backend_only", build.run_backend_only(), false);
  writer.AddString("fdo_profile", build.fdo_profile());
  writer.AddInt("device_memory_size", build.device_memory_size(), 0);
  writer.AddInt("process_index", build.process_index(), 0);
  writer.AddInt("process_count", build.process_count(), 1);
  for (const auto& [key, value] : build.debug_options()) {
    writer.AddLine("debug_option", absl::StrCat(QuotedText(key), ",", OptionValueText(value)));
  }

  writer.AddBool("compile_portable_executable", compile_portable_executable, false);
  writer.AddInt("profile_version", profile_version, 0);
  if (serialized_multi_slice_config.empty() && multi_slice_config != nullptr) {
    writer.AddString("serialized_multi_slice_config", multi_slice_config->Serialize());
  } else {
    writer.AddString("serialized_multi_slice_config", serialized_multi_slice_config);
  }
  for (const auto& [key, value] : env_option_overrides) {
    writer.AddLine("env_option_override",
                   absl::StrCat(QuotedText(key), ",", OptionValueText(value)));
  }
  writer.AddBool("allow_in_place_mlir_modification", allow_in_place_mlir_modification, false);
  writer.AddInt("matrix_unit_operand_precision", static_cast<int>(matrix_unit_operand_precision),
                0);
  return writer.Take();
}

namespace {

// `"key",type:value`.
absl::Status ReadNamedOption(absl::string_view text, std::string* key, OptionValue* value) {
  const size_t end = text.find("\",", 1);
  if (end == absl::string_view::npos) {
    return InvalidArgument("PJRT-R064", "given ", text, "; expected a name in quotes and a value");
  }
  PJRT_RETURN_IF_ERROR(ReadString(text.substr(0, end + 1), key));
  PJRT_ASSIGN_OR_RETURN(*value, ParseOptionValue(text.substr(end + 2)));
  return absl::OkStatus();
}

// Reads a value and hands it to a setter of the build options.
template <typename T, typename Read>
absl::Status SetBuildOption(ExecutableBuildOptions* build, absl::string_view text, Read read,
                            ExecutableBuildOptions& (ExecutableBuildOptions::*set)(T)) {
  T value{};
  PJRT_RETURN_IF_ERROR(read(text, &value));
  (build->*set)(std::move(value));
  return absl::OkStatus();
}

struct BuildOptionReader {
  absl::string_view name;
  absl::Status (*read)(ExecutableBuildOptions* build, absl::string_view text);
};

#define PJRT_READER_(name, Type, read_value)                                              \
  {                                                                                       \
#name, [](ExecutableBuildOptions* build, absl::string_view text) {                      \
      return SetBuildOption<Type>(                                                          \
          build, text, [](absl::string_view t, Type* v) { return read_value(t, v); },       \
          &ExecutableBuildOptions::set_##name);                                             \
    } \
  }

absl::Status ReadShape(absl::string_view text, Shape* shape) {
  PJRT_ASSIGN_OR_RETURN(*shape, Shape::Parse(text));
  return absl::OkStatus();
}
absl::Status ReadAssignment(absl::string_view text, DeviceAssignment* assignment) {
  PJRT_ASSIGN_OR_RETURN(*assignment, DeviceAssignment::Deserialize(text));
  return absl::OkStatus();
}

constexpr BuildOptionReader kBuildOptionReaders[] = {
    PJRT_READER_(device_ordinal, int, ReadInt),
    PJRT_READER_(result_layout, Shape, ReadShape),
    PJRT_READER_(num_replicas, int, ReadInt),
    PJRT_READER_(num_partitions, int, ReadInt),
    PJRT_READER_(device_assignment, DeviceAssignment, ReadAssignment),
    PJRT_READER_(use_spmd_partitioning, bool, ReadBool),
    PJRT_READER_(use_auto_spmd_partitioning, bool, ReadBool),
    PJRT_READER_(auto_spmd_partitioning_mesh_shape, std::vector<int64_t>, ReadInts),
    PJRT_READER_(auto_spmd_partitioning_mesh_ids, std::vector<int64_t>, ReadInts),
    PJRT_READER_(use_shardy_partitioner, bool, ReadBool),
    PJRT_READER_(allow_spmd_sharding_propagation_to_parameters, std::vector<bool>, ReadBools),
    PJRT_READER_(allow_spmd_sharding_propagation_to_output, std::vector<bool>, ReadBools),
    PJRT_READER_(optimization_level, int, ReadInt),
    PJRT_READER_(memory_fitting_level, int, ReadInt),
    PJRT_READER_(deduplicate_hlo, bool, ReadBool),
    PJRT_READER_(alias_passthrough_params, bool, ReadBool),
    PJRT_READER_(run_backend_only, bool, ReadBool),
    PJRT_READER_(fdo_profile, std::string, ReadString),
    PJRT_READER_(device_memory_size, int64_t, ReadInt),
    PJRT_READER_(process_index, int, ReadInt),
    PJRT_READER_(process_count, int, ReadInt),
};
#undef PJRT_READER_

absl::Status ReadCompileOption(CompileOptions* options, absl::string_view name,
                               absl::string_view value) {
  for (const BuildOptionReader& reader : kBuildOptionReaders) {
    if (reader.name == name) return reader.read(&options->executable_build_options, value);
  }
  if (name == "argument_layouts") {
    options->argument_layouts.emplace();
    if (value.empty()) return absl::OkStatus();
    for (const absl::string_view text : absl::StrSplit(value, ';')) {
      PJRT_RETURN_IF_ERROR(ReadShape(text, &options->argument_layouts->emplace_back()));
    }
    return absl::OkStatus();
  }
  if (name == "individually_defined_output_indices") {
    std::vector<int64_t> indices;
    PJRT_RETURN_IF_ERROR(ReadInts(value, &indices));
    options->individually_defined_output_indices.insert(indices.begin(), indices.end());
    return absl::OkStatus();
  }
  if (name == "parameter_is_tupled_arguments") {
    return ReadBool(value, &options->parameter_is_tupled_arguments);
  }
  if (name == "compile_portable_executable") {
    return ReadBool(value, &options->compile_portable_executable);
  }
  if (name == "allow_in_place_mlir_modification") {
    return ReadBool(value, &options->allow_in_place_mlir_modification);
  }
  if (name == "profile_version") return ReadInt(value, &options->profile_version);
  if (name == "serialized_multi_slice_config") {
    return ReadString(value, &options->serialized_multi_slice_config);
  }
  if (name == "matrix_unit_operand_precision") {
    int precision;
    PJRT_RETURN_IF_ERROR(ReadInt(value, &precision));
    if (precision < 0 || precision > static_cast<int>(MatrixUnitPrecision::kHighest)) {
      return InvalidArgument("PJRT-R064", "precision ", precision, "; expected 0, 1 or 2");
    }
    options->matrix_unit_operand_precision = static_cast<MatrixUnitPrecision>(precision);
    return absl::OkStatus();
  }
  if (name == "debug_option" || name == "env_option_override") {
    std::string key;
    OptionValue option;
    PJRT_RETURN_IF_ERROR(ReadNamedOption(value, &key, &option));
    if (name == "debug_option") {
      (*options->executable_build_options.mutable_debug_options())[key] = std::move(option);
    } else {
      options->env_option_overrides.emplace_back(std::move(key), std::move(option));
    }
    return absl::OkStatus();
  }
  return InvalidArgument("PJRT-R064", "unknown option ", name);
}

}  // namespace

absl::StatusOr<CompileOptions> CompileOptions::Deserialize(absl::string_view text) {
  CompileOptions options;
  PJRT_RETURN_IF_ERROR(
      ReadOptions(text, kCompileOptionsKind, [&](absl::string_view name, absl::string_view value) {
        return ReadCompileOption(&options, name, value);
      }));
  return options;
}

absl::StatusOr<ResolvedAssignment> ResolveDeviceAssignment(
    const CompileOptions& options,
    const std::function<absl::StatusOr<DeviceAssignment>(int num_replicas, int num_partitions)>&
        default_assignment) {
  const ExecutableBuildOptions& build = options.executable_build_options;
  ResolvedAssignment resolved;
  if (options.compile_portable_executable) {
    if (build.has_device_assignment()) {
      return InvalidArgument(
          "PJRT-R066", "compile_portable_executable is set, but a device assignment is given");
    }
    if (build.num_replicas() != 1 || build.num_partitions() != 1) {
      return InvalidArgument("PJRT-R066", "compile_portable_executable is set, but there are ",
                             build.num_replicas(), " replicas and ", build.num_partitions(),
                             " partitions; expected 1 of each");
    }
    return resolved;
  }
  if (build.has_device_assignment()) {
    resolved.device_assignment =
        std::make_shared<const DeviceAssignment>(build.device_assignment());
  } else {
    PJRT_ASSIGN_OR_RETURN(DeviceAssignment assignment,
                          default_assignment(build.num_replicas(), build.num_partitions()));
    resolved.device_assignment = std::make_shared<const DeviceAssignment>(std::move(assignment));
  }
  resolved.num_replicas = resolved.device_assignment->replica_count();
  resolved.num_partitions = resolved.device_assignment->computation_count();
  if (resolved.num_replicas < 1 || resolved.num_partitions < 1) {
    return InvalidArgument("PJRT-R066", "the device assignment is empty");
  }
  return resolved;
}

}  // namespace pjrt
