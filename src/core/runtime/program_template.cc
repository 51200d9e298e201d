// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/program_template.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pjrt/client.h"
#include "pjrt/ir/verifier.h"
#include "src/core/base/error.h"
#include "src/core/base/memory_guard.h"
#include "src/core/base/status_macros.h"
#include "src/core/passes/shape_dependence.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/tensor_shape.h"

namespace pjrt {
namespace {

absl::StatusOr<Shape> ShapeOf(ir::Type type, absl::string_view what, size_t i) {
  if (type.IsToken()) return MakeTokenShape();
  Shape shape = type.IsTensor() ? TensorShape(type) : Shape();
  if (!shape.IsArray()) {
    return Unimplemented("PJRT-R070", what, " ", i, " of a program with dynamic shapes has type ",
                         type.ToString(),
                         "; expected tokens, and tensors of the element types of PrimitiveType");
  }
  shape.set_layout(MakeDescendingLayout(shape.rank()));
  return shape;
}

// The bytes of a dense array of integers.
class IntegerBytes {
 public:
  explicit IntegerBytes(const Shape& shape)
      : is_signed_(IsSignedInteger(shape.element_type())),
        width_(static_cast<size_t>(ByteWidth(shape.element_type()))),
        bytes_(width_ * static_cast<size_t>(ElementCount(shape))) {}

  absl::Span<char> bytes() { return absl::MakeSpan(bytes_); }
  size_t count() const { return bytes_.size() / width_; }
  int64_t at(size_t i) const {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes_.data() + i * width_, width_);
    const int spare = 64 - 8 * static_cast<int>(width_);
    return is_signed_ ? static_cast<int64_t>(bits << spare) >> spare : static_cast<int64_t>(bits);
  }

 private:
  bool is_signed_;
  size_t width_;
  absl::InlinedVector<char, 64> bytes_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const ProgramTemplate>> ProgramTemplate::Make(
    std::unique_ptr<ir::Module> module, ir::ShapeDependence dependence) {
  std::shared_ptr<ProgramTemplate> made(new ProgramTemplate());
  const ir::Type signature = module->EntryFunction().type();
  for (const ir::Type type : signature.inputs()) {
    PJRT_ASSIGN_OR_RETURN(Shape shape, ShapeOf(type, "argument", made->parameters_.size()));
    if (shape.is_dynamic()) {
      made->dynamic_parameters_.push_back(static_cast<int>(made->parameters_.size()));
    }
    made->parameters_.push_back(std::move(shape));
  }
  for (const ir::Type type : signature.results()) {
    PJRT_ASSIGN_OR_RETURN(Shape shape, ShapeOf(type, "result", made->results_.size()));
    made->results_.push_back(std::move(shape));
  }
  made->deciding_parameters_ = std::move(dependence.deciding_arguments);
  made->platform_index_ = dependence.platform_index;
  made->num_platforms_ = dependence.num_platforms;
  made->module_ = std::move(module);
  return std::shared_ptr<const ProgramTemplate>(std::move(made));
}

absl::string_view ProgramTemplate::name() const {
  return module_->name().empty() ? module_->EntryFunction().name() : module_->name();
}

absl::StatusOr<SpecializationKey> ProgramTemplate::KeyOf(absl::Span<PjRtBuffer* const> arguments,
                                                         const PjRtClient* client) const {
  if (arguments.size() != parameters_.size()) {
    return InvalidArgument("PJRT-R054", "Execution supplied ", arguments.size(),
                           " arguments but compiled program expected ", parameters_.size());
  }
  const auto check = [&](int i) -> absl::Status {
    PjRtBuffer* const buffer = arguments[i];
    if (buffer == nullptr || buffer->client() != client) {
      return InvalidArgument("PJRT-R050", "argument ", i, " of Execute() is ",
                             buffer == nullptr ? "null" : "a buffer of another client");
    }
    const Shape& given = buffer->on_device_shape();
    if (given.element_type() == parameters_[i].element_type() &&
        given.rank() == parameters_[i].rank()) {
      return absl::OkStatus();
    }
    return InvalidArgument("PJRT-R071", "argument ", i, " of Execute() has unexpected shape ",
                           given.ToString(/*print_layout=*/false), "; the program ", name(),
                           " expects ", parameters_[i].ToString(/*print_layout=*/false));
  };
  SpecializationKey key;
  for (const int i : dynamic_parameters_) {
    PJRT_RETURN_IF_ERROR(check(i));
    if (arguments[i]->has_dynamic_dimensions()) {
      PJRT_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, arguments[i]->logical_dimensions());
      key.insert(key.end(), sizes.begin(), sizes.end());
    } else {
      const absl::Span<const int64_t> sizes = arguments[i]->dimensions();
      key.insert(key.end(), sizes.begin(), sizes.end());
    }
  }
  for (const int i : deciding_parameters_) {
    PJRT_RETURN_IF_ERROR(check(i));
    if (arguments[i]->dimensions() != parameters_[i].dimensions() ||
        arguments[i]->has_dynamic_dimensions()) {
      return InvalidArgument("PJRT-R071", "argument ", i, " of Execute() has unexpected shape ",
                             arguments[i]->on_device_shape().ToString(/*print_layout=*/false),
                             "; the program ", name(), " expects ",
                             parameters_[i].ToString(/*print_layout=*/false));
    }
    IntegerBytes values(parameters_[i]);
    const absl::Span<char> bytes = values.bytes();
    PJRT_RETURN_IF_ERROR(
        arguments[i]->CopyRawToHost(bytes.data(), 0, static_cast<int64_t>(bytes.size())).Await());
    for (size_t e = 0; e < values.count(); ++e) key.push_back(values.at(e));
  }
  return key;
}

absl::Span<const int64_t> ProgramTemplate::ValuesIn(const SpecializationKey& key) const {
  size_t sizes = 0;
  for (const int i : dynamic_parameters_) sizes += static_cast<size_t>(parameters_[i].rank());
  return absl::MakeConstSpan(key).subspan(sizes);
}

absl::Span<const int64_t> ProgramTemplate::TakeBytes(int parameter,
                                                     absl::Span<const int64_t> values,
                                                     absl::Span<char> bytes) const {
  const auto width = static_cast<size_t>(ByteWidth(parameters_[parameter].element_type()));
  const size_t count = bytes.size() / width;
  for (size_t e = 0; e < count; ++e) std::memcpy(&bytes[e * width], &values[e], width);
  return values.subspan(count);
}

absl::Status ProgramTemplate::Specialize(const SpecializationKey& key,
                                         const ir::PassOptions& options,
                                         std::unique_ptr<ir::Module>* made) const {
  *made = module_->Clone();
  ir::Module* const module = made->get();
  ir::Context& context = module->context();
  const ir::Type signature = module->EntryFunction().type();
  std::vector<ir::ArgumentRefinement> refinements(parameters_.size());
  absl::Span<const int64_t> rest = key;
  for (const int i : dynamic_parameters_) {
    const size_t rank = static_cast<size_t>(parameters_[i].rank());
    refinements[i].type =
        context.Tensor(rest.subspan(0, rank), signature.inputs()[i].element_type());
    rest.remove_prefix(rank);
  }
  for (const int i : deciding_parameters_) {
    std::vector<char> bytes(static_cast<size_t>(ByteSize(parameters_[i])));
    rest = TakeBytes(i, rest, absl::MakeSpan(bytes));
    refinements[i].value = context.Dense(signature.inputs()[i], bytes);
  }
  PJRT_RETURN_IF_ERROR(ir::RefineArguments(module, refinements));
  PJRT_RETURN_IF_ERROR(ir::RefineShapes(module, options));
  return ir::VerifyModule(*module);
}

absl::StatusOr<std::shared_ptr<const DeviceProgram>> ProgramTemplate::Compile(
    const SpecializationKey& key, Backend* backend, const CompileOptions& options,
    const ResolvedAssignment& assignment) const {
  std::unique_ptr<ir::Module> module;
  PJRT_RETURN_IF_ERROR(WithMemoryGuard("making the program's shapes static", [&] {
    return Specialize(key, backend->pass_options(), &module);
  }));
  return backend->Compile(std::move(module), options, assignment);
}

std::vector<UnknownSize> ProgramTemplate::UnknownSizes() const {
  std::vector<UnknownSize> unknown;
  for (const int i : dynamic_parameters_) {
    const Shape& shape = parameters_[i];
    for (int d = 0; d < shape.dimensions_size(); ++d) {
      if (!shape.is_dynamic_dimension(d)) continue;
      unknown.push_back({i, d, false,
                         shape.is_unbounded_dynamic_dimension(d)
                             ? std::numeric_limits<int64_t>::max()
                             : shape.dimensions(d)});
    }
  }
  for (const int i : deciding_parameters_) {
    if (i == platform_index_) continue;
    const auto count = static_cast<size_t>(ElementCount(parameters_[i]));
    unknown.insert(unknown.end(), count, {i, -1, count == 1, std::numeric_limits<int64_t>::max()});
  }
  return unknown;
}

SpecializationKey ProgramTemplate::KeyFor(absl::Span<const int64_t> sizes, int platform) const {
  SpecializationKey key;
  const int64_t* next = sizes.data();
  for (const int i : dynamic_parameters_) {
    const Shape& shape = parameters_[i];
    for (int d = 0; d < shape.dimensions_size(); ++d) {
      key.push_back(shape.is_dynamic_dimension(d) ? *next++ : shape.dimensions(d));
    }
  }
  for (const int i : deciding_parameters_) {
    for (int64_t e = 0; e < ElementCount(parameters_[i]); ++e) {
      key.push_back(i == platform_index_ ? platform : *next++);
    }
  }
  return key;
}

int64_t ProgramTemplate::LeftToRefine(const SpecializationKey& key,
                                      const ir::PassOptions& options) const {
  std::unique_ptr<ir::Module> module;
  if (Specialize(key, options, &module).ok()) return 0;
  int64_t left = 1;
  const ir::Function entry = module->EntryFunction();
  for (ir::Op* op = entry.body()->front(); op != nullptr; op = op->next()) {
    left += ir::IsShapeAssertion(*op);
    for (size_t i = 0; i < op->num_results(); ++i) left += ir::IsDynamicType(op->result_type(i));
  }
  return left;
}

absl::Status ProgramTemplate::Check(Backend* backend, const CompileOptions& options,
                                    const ResolvedAssignment& assignment) const {
  return WithMemoryGuard("trying the program for some sizes",
                         [&] { return TryForSizes(backend, options, assignment); });
}

absl::Status ProgramTemplate::TryForSizes(Backend* backend, const CompileOptions& options,
                                          const ResolvedAssignment& assignment) const {
  // Programs ask for multiples and for least sizes.
  constexpr int64_t kSizes[] = {2, 1, 4, 12};
  constexpr int kMostPlatforms = 8;
  const ir::PassOptions& passes = backend->pass_options();
  const std::vector<UnknownSize> unknown = UnknownSizes();
  bool has_static_form = false;
  absl::Status refusal;
  // Whether the backend takes the program for these sizes; keeps the first refusal.
  const auto runs_for = [&](absl::Span<const int64_t> sizes, absl::string_view said) {
    for (int platform = 0; platform < std::min(num_platforms_, kMostPlatforms); ++platform) {
      std::unique_ptr<ir::Module> module;
      absl::Status status = Specialize(KeyFor(sizes, platform), passes, &module);
      if (status.ok()) {
        has_static_form = true;
        status = backend->Compile(std::move(module), options, assignment).status();
      }
      if (status.ok()) return true;
      if (!refusal.ok() || !absl::IsUnimplemented(status)) continue;
      refusal = absl::UnimplementedError(absl::StrCat(status.message(), " (when ", said, ")"));
    }
    return false;
  };
  std::vector<int64_t> last;
  for (const int64_t size : kSizes) {
    std::vector<int64_t> sizes;
    for (const UnknownSize& one : unknown) sizes.push_back(std::min(size, one.most));
    if (size != kSizes[0] && sizes == last) continue;
    if (runs_for(sizes, absl::StrCat(size, " is put for all that is unknown"))) {
      return absl::OkStatus();
    }
    last = std::move(sizes);
  }
  if (has_static_form) return refusal;
  const std::vector<int64_t> found = FindSizes(
      *module_, unknown, last,
      [&](absl::Span<const int64_t> sizes) { return LeftToRefine(KeyFor(sizes, 0), passes); });
  if (runs_for(found, absl::StrCat(absl::StrJoin(found, ", "), " are put for what is unknown"))) {
    return absl::OkStatus();
  }
  return refusal;
}

namespace {

absl::StatusOr<PreparedProgram> Prepare(PjRtProgram program, const ir::PassOptions& options) {
  PJRT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Module> module, std::move(program).TakeModule());
  PJRT_RETURN_IF_ERROR(ir::VerifyModule(*module));
  PreparedProgram prepared;
  const ir::Function entry = module->EntryFunction();
  if (entry && entry.body() != nullptr && ir::HasShapesToRefine(*module)) {
    PJRT_RETURN_IF_ERROR(ir::InlineCalls(module.get(), ir::kMaxInlinedOps, options));
    ir::MergeEqualOps(module.get());
    ir::RemoveDeadOps(module.get());
    PJRT_ASSIGN_OR_RETURN(ir::ShapeDependence dependence, ir::AnalyzeShapeDependence(*module));
    if (dependence.IsTemplate()) {
      PJRT_ASSIGN_OR_RETURN(prepared.program_template,
                            ProgramTemplate::Make(std::move(module), std::move(dependence)));
      return prepared;
    }
    PJRT_RETURN_IF_ERROR(ir::RefineShapes(module.get(), options));
    PJRT_RETURN_IF_ERROR(ir::VerifyModule(*module));
  }
  prepared.module = std::move(module);
  return prepared;
}

}  // namespace

absl::StatusOr<PreparedProgram> PrepareProgram(PjRtProgram program,
                                               const ir::PassOptions& options) {
  return WithMemoryGuard("reading the program",
                         [&] { return Prepare(std::move(program), options); });
}

}  // namespace pjrt
