// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/compiler.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pjrt/base/layout.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/printer.h"
#include "src/core/base/error.h"
#include "src/core/base/fingerprint.h"
#include "src/core/base/pack_bits.h"
#include "src/core/base/status_macros.h"
#include "src/core/passes/count_costs.h"

namespace pjrt::cpu {
namespace {

absl::StatusOr<Shape> ShapeOf(ir::Type type, absl::string_view what) {
  if (type.IsToken()) return MakeTokenShape();
  if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(type.primitive_type())) {
    return Unimplemented("PJRT-C030",
                         absl::StrCat(what, " has type ", type.ToString(),
                                      "; the CPU device takes tensors of static shape, of the "
                                      "element types of PrimitiveType"));
  }
  Shape shape = MakeShape(type.primitive_type(), type.dims());
  Layout layout = MakeDescendingLayout(shape.rank());
  const int bits = PackedBits(type.primitive_type());
  if (bits < 8) layout.set_element_size_in_bits(bits);
  shape.set_layout(std::move(layout));
  return shape;
}

// A layout that the caller asks for must be the one that there is: row-major.
absl::Status CheckRequestedLayout(const Shape& requested, absl::string_view what) {
  if (!requested.has_layout()) return absl::OkStatus();
  const absl::Span<const int64_t> order = requested.layout().minor_to_major();
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(order.size() - 1 - i)) {
      return Unimplemented(
          "PJRT-C031",
          absl::StrCat(what, " is asked for with layout ", requested.layout().ToString(),
                       "; the CPU device's programs take and make row-major arrays"));
    }
  }
  return absl::OkStatus();
}

// Which arguments are given up, and for which result.
void ReadDonation(ir::Function function, ProgramInfo* info) {
  for (size_t i = 0; i < info->parameters.size(); ++i) {
    const ir::Attribute alias = function.ArgAttr(i, "tf.aliasing_output");
    if (alias.Is(ir::AttrKind::kInteger)) {
      const int64_t result = alias.AsInt();
      if (result < 0 || result >= static_cast<int64_t>(info->results.size())) continue;
      if (PackedByteSize(info->results[result].shape) != PackedByteSize(info->parameters[i].shape))
        continue;
      info->parameters[i].donation = Donation::kMay;
      info->results[result].aliased_parameter = static_cast<int>(i);
    } else if (const ir::Attribute donor = function.ArgAttr(i, "jax.buffer_donor");
               donor && donor.AsBool()) {
      info->parameters[i].donation = Donation::kMay;
      for (ProgramResult& result : info->results) {
        if (result.aliased_parameter >= 0 ||
            result.shape.element_type() != info->parameters[i].shape.element_type() ||
            PackedByteSize(result.shape) != PackedByteSize(info->parameters[i].shape)) {
          continue;
        }
        result.aliased_parameter = static_cast<int>(i);
        break;
      }
    }
  }
}

void FillMemoryStats(const Plan& plan, ProgramInfo* info) {
  CompiledMemoryStats& stats = info->memory_stats;
  for (const ProgramParameter& parameter : info->parameters)
    stats.argument_size_in_bytes += PackedByteSize(parameter.shape);
  for (const ProgramResult& result : info->results) {
    stats.output_size_in_bytes += PackedByteSize(result.shape);
    if (result.aliased_parameter >= 0) stats.alias_size_in_bytes += PackedByteSize(result.shape);
  }
  stats.temp_size_in_bytes = plan.arena_bytes;
  stats.generated_code_size_in_bytes = plan.constant_bytes;
  stats.peak_memory_in_bytes = stats.argument_size_in_bytes + stats.output_size_in_bytes -
                               stats.alias_size_in_bytes + stats.temp_size_in_bytes;
  stats.total_size_in_bytes = stats.peak_memory_in_bytes + stats.generated_code_size_in_bytes;
}

// Whether the program calls a function of the application for its effects: executions then keep
// their order.
bool CallsForEffect(const ir::Module& module, const CustomCallRegistry* custom_calls) {
  bool found = false;
  if (custom_calls == nullptr) return found;
  module.Walk([&](const ir::Op* op) {
    found = found || (op->Is(ir::OpCode::kCustomCall) && op->BoolAttr("has_side_effect") &&
                      ClaimsOp(*op, custom_calls));
  });
  return found;
}

std::string ShardingText(ir::Attribute attr) {
  return attr.Is(ir::AttrKind::kString) ? std::string(attr.AsString())
         : attr                         ? attr.ToString()
                                        : "";
}

}  // namespace

absl::StatusOr<CompiledModule> CompileModule(std::unique_ptr<ir::Module> module,
                                             const CompileOptions& options, const Kernels& kernels,
                                             const LoopEngine& engine,
                                             const LoweringOptions& lowering_options) {
  CompiledModule compiled;
  ProgramInfo& info = compiled.info;
  info.name = std::string(module->name());
  info.fingerprint = Fingerprint({ir::PrintModule(*module), options.Serialize()});
  ir::PassOptions passes;
  passes.claims = [&](const ir::Op& op) { return ClaimsOp(op, lowering_options.custom_calls); };
  passes.one_device = true;
  PJRT_RETURN_IF_ERROR(ir::RunPasses(module.get(), ir::StandardPasses(), passes));
  info.has_side_effects = CallsForEffect(*module, lowering_options.custom_calls);
  const ir::Function entry = module->EntryFunction();
  if (!entry || entry.body() == nullptr) {
    return InvalidArgument("PJRT-C032",
                           "the module has no entry function: expected a function called main, or "
                           "just one that is not private, with a body");
  }
  if (info.name.empty()) info.name = std::string(entry.name());

  const ir::Type signature = entry.type();
  for (size_t i = 0; i < signature.inputs().size(); ++i) {
    ProgramParameter& parameter = info.parameters.emplace_back();
    PJRT_ASSIGN_OR_RETURN(parameter.shape,
                          ShapeOf(signature.inputs()[i], absl::StrCat("argument ", i)));
    parameter.sharding = ShardingText(entry.ArgAttr(i, "mhlo.sharding"));
    if (options.argument_layouts.has_value() && i < options.argument_layouts->size()) {
      PJRT_RETURN_IF_ERROR(
          CheckRequestedLayout((*options.argument_layouts)[i], absl::StrCat("argument ", i)));
    }
  }
  for (size_t i = 0; i < signature.results().size(); ++i) {
    ProgramResult& result = info.results.emplace_back();
    PJRT_ASSIGN_OR_RETURN(result.shape,
                          ShapeOf(signature.results()[i], absl::StrCat("result ", i)));
    result.sharding = ShardingText(entry.ResultAttr(i, "mhlo.sharding"));
  }
  info.result_is_tuple = info.results.size() != 1;

  Lowering lowering(*module, kernels, engine, lowering_options);
  PJRT_ASSIGN_OR_RETURN(compiled.plan, lowering.Run(entry));
  ReadDonation(entry, &info);
  for (size_t r = 0; r < info.results.size(); ++r) {
    // Where the plan reads the argument after it writes the result, the result gets memory of its
    // own.
    int& parameter = info.results[r].aliased_parameter;
    if (parameter >= 0 && !lowering.ResultMayAlias(static_cast<int32_t>(r), parameter))
      parameter = -1;
  }
  FillMemoryStats(compiled.plan, &info);
  const ir::Costs costs = ir::CountCosts(*module);
  info.cost = {{"flops", static_cast<float>(costs.flops)},
               {"transcendentals", static_cast<float>(costs.transcendentals)},
               {"bytes accessed", static_cast<float>(costs.bytes_accessed)}};
  info.module = std::shared_ptr<const ir::Module>(std::move(module));
  return compiled;
}

}  // namespace pjrt::cpu
