// SPDX-License-Identifier: Apache-2.0
//
// Executables of programs with dynamic shapes. They hold the template; an execution runs a program
// that is specialised for its arguments, which is made at the first such execution and kept.
#ifndef PJRT_CORE_RUNTIME_TEMPLATE_EXECUTABLE_H_
#define PJRT_CORE_RUNTIME_TEMPLATE_EXECUTABLE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/executable.h"
#include "src/core/runtime/assigned_executable.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/program_template.h"
#include "src/core/runtime/seen_programs.h"
#include "src/core/runtime/specialization_cache.h"

namespace pjrt {

// A template with the options that it is compiled with. Reports dynamic shapes, whatever it has run
// for. What it costs to run and what memory it takes follows from the sizes of an execution: once
// loaded and executed, it reports the figures of a program that it made; for others, compile the
// program that ir::RefineArguments and ir::RefineShapes make for given sizes. SerializeExecutable
// writes the template, whatever has been made of it: an executable that reads it makes its programs
// anew.
class TemplatePjRtExecutable final : public PjRtExecutable {
 public:
  TemplatePjRtExecutable(std::shared_ptr<const ProgramTemplate> program, CompileOptions options,
                         int num_replicas, int num_partitions, std::string platform_name)
      : program_(std::move(program)),
        options_(std::move(options)),
        num_replicas_(num_replicas),
        num_partitions_(num_partitions),
        platform_name_(std::move(platform_name)) {}

  int num_replicas() const override { return num_replicas_; }
  int num_partitions() const override { return num_partitions_; }
  absl::string_view name() const override { return program_->name(); }
  int64_t SizeOfGeneratedCodeInBytes() const override { return -1; }
  absl::StatusOr<std::vector<Shape>> GetOutputShapes() const override;
  absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetParameterLayouts()
      const override;
  absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> GetModules() const override {
    return std::vector<std::shared_ptr<const ir::Module>>{program_->module()};
  }
  std::optional<std::vector<std::string>> GetParameterShardings() const override;
  std::optional<std::vector<std::string>> GetOutputShardings() const override;
  // UNIMPLEMENTED [PJRT-R073]: see above.
  absl::StatusOr<CompiledMemoryStats> GetCompiledMemoryStats() const override;
  absl::StatusOr<CostMap> GetCostAnalysis() const override;
  absl::StatusOr<std::string> SerializeExecutable() const override;
  absl::StatusOr<std::string> FingerprintExecutable() const override;
  absl::StatusOr<CompileOptions> GetCompileOptions() const override { return options_; }
  const void* class_id() const override { return ClassId(); }

  // What class_id() of this class returns.
  static const void* ClassId();
  const std::shared_ptr<const ProgramTemplate>& program() const { return program_; }
  const CompileOptions& options() const { return options_; }
  const std::string& platform_name() const { return platform_name_; }

 private:
  absl::Status FollowsFromSizes(absl::string_view what) const;

  std::shared_ptr<const ProgramTemplate> program_;
  CompileOptions options_;
  int num_replicas_;
  int num_partitions_;
  std::string platform_name_;
};

class TemplatePjRtLoadedExecutable final : public AssignedExecutable {
 public:
  // How many specialised programs one executable keeps: the first ones for as long as it lives, as
  // many as SeenPrograms has room for, and of the others those used last.
  static constexpr size_t kMaxPrograms = 64;

  static absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> Create(
      CommonPjRtClient* client, std::shared_ptr<TemplatePjRtExecutable> executable,
      ResolvedAssignment assignment);

  absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>> Execute(
      absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
      std::optional<std::vector<Future<>>>& returned_futures) const override;
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteSharded(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future,
      bool fill_future) const override;
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecutePortable(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future,
      bool fill_future) const override;
  using PjRtLoadedExecutable::Execute;
  using PjRtLoadedExecutable::ExecutePortable;
  using PjRtLoadedExecutable::ExecuteSharded;
  PjRtExecutable* GetExecutable() const override { return executable_.get(); }
  // Those of the program whose sizes came last, where several take turns; UNIMPLEMENTED [PJRT-R073]
  // before the first execution.
  absl::StatusOr<CompiledMemoryStats> GetCompiledMemoryStats() const override;
  absl::StatusOr<CostMap> GetCostAnalysis() const override;

 private:
  TemplatePjRtLoadedExecutable(CommonPjRtClient* client,
                               std::shared_ptr<TemplatePjRtExecutable> executable,
                               ResolvedAssignment assignment);
  // What `run` returns for the program of these arguments, one list a device, which all have the
  // same key. It is called with one that was seen, and the choice among those, and, if there is
  // none for these arguments, with the right one and null.
  template <typename Lists, typename Run>
  auto RunSpecialized(const Lists& arguments, Run run) const
      -> decltype(run(std::declval<const CommonPjRtLoadedExecutable&>(), nullptr));
  // The program for these arguments, made if need be, which is seen from then on.
  template <typename Lists>
  absl::StatusOr<SpecializationCache::Program> Find(const Lists& arguments) const;
  // The key of these arguments.
  template <typename Lists>
  absl::StatusOr<SpecializationKey> KeyOf(const Lists& arguments) const;
  absl::StatusOr<SpecializationCache::Program> Get(const SpecializationKey& key) const;
  // The program whose sizes came last; null before the first.
  SpecializationCache::Program Latest() const;

  const std::shared_ptr<TemplatePjRtExecutable> executable_;
  mutable SpecializationCache programs_{kMaxPrograms - SeenPrograms::kMaxPrograms};
  mutable SeenPrograms seen_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_TEMPLATE_EXECUTABLE_H_
