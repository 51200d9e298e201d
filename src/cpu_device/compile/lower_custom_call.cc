// SPDX-License-Identifier: Apache-2.0
//
// custom_call: functions of the application, the built-in ones, and calls of what is not there.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pjrt/cpu/custom_call.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/wide_elements.h"
#include "src/core/passes/custom_call_targets.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/custom_calls/checks.h"
#include "src/cpu_device/custom_calls/json_config.h"
#include "src/cpu_device/custom_calls/lapack.h"
#include "src/cpu_device/steps/custom_call_step.h"

namespace pjrt::cpu {
namespace {

// A constant in an attribute is a parameter, not data.
constexpr int64_t kLargestAttribute = 1 << 20;

// Dictionaries in dictionaries; the parser takes no more.
constexpr int kDeepestDict = 200;

custom_call::Attribute Decode(ir::Attribute from, int depth);

custom_call::Attribute DecodeText(std::string text) {
  return custom_call::Attribute(custom_call::Attribute::Value(std::move(text)));
}

custom_call::Dict DecodeDict(ir::Attribute from, int depth) {
  custom_call::Dict dict;
  for (const ir::NamedAttribute& entry : from.entries())
    dict.Set(entry.name, Decode(entry.value, depth + 1));
  return dict;
}

// Lists of one kind of number are vectors of it.
custom_call::Attribute DecodeList(ir::Attribute from, int depth) {
  std::vector<int64_t> ints;
  std::vector<double> floats;
  for (ir::Attribute element : from.elements()) {
    if (element.Is(ir::AttrKind::kInteger) || element.Is(ir::AttrKind::kBool)) {
      ints.push_back(element.AsInt());
    } else if (element.Is(ir::AttrKind::kFloat)) {
      floats.push_back(element.AsFloat());
    }
  }
  const size_t count = from.elements().size();
  if (count > 0 && ints.size() == count) return custom_call::Attribute(std::move(ints));
  if (count > 0 && floats.size() == count) return custom_call::Attribute(std::move(floats));
  std::vector<custom_call::Attribute> any;
  for (ir::Attribute element : from.elements()) any.push_back(Decode(element, depth + 1));
  return custom_call::Attribute(std::move(any));
}

// Constants of numbers that are there and not too many; others as text.
custom_call::Attribute DecodeDense(ir::Attribute from) {
  const ir::Type type = from.type();
  const int64_t count = type.element_count();
  const bool is_index = type.element_type().Is(ir::TypeKind::kIndex);
  const PrimitiveType element = is_index ? S64 : type.primitive_type();
  const absl::Span<const char> data = from.raw_data();
  const bool fits = IsArrayType(element) && !IsComplex(element) && count <= kLargestAttribute &&
                    (count == 0 || !data.empty());
  if (!fits) return DecodeText(type.ToString());
  std::vector<int64_t> ints;
  std::vector<double> floats;
  const int64_t step = from.IsSplat() ? 0 : ByteWidth(element);
  WideBlock wide;
  wide.type = WideTypeOf(element);
  for (int64_t i = 0; i < count; ++i) {
    LoadWide(element, data.data() + i * step, 1, wide);
    if (wide.type == WideType::kDouble) {
      floats.push_back(wide.doubles[0]);
    } else {
      ints.push_back(wide.int64s[0]);
    }
  }
  return wide.type == WideType::kDouble ? custom_call::Attribute(std::move(floats))
                                        : custom_call::Attribute(std::move(ints));
}

custom_call::Attribute Decode(ir::Attribute from, int depth) {
  using ir::AttrKind;
  if (!from || depth > kDeepestDict) return DecodeText("");
  switch (from.kind()) {
    case AttrKind::kUnit:
    case AttrKind::kBool:
      return custom_call::Attribute(from.AsBool());
    case AttrKind::kInteger:
      return custom_call::Attribute(from.AsInt());
    case AttrKind::kFloat:
      return custom_call::Attribute(from.AsFloat());
    case AttrKind::kString:
    case AttrKind::kSymbol:
      return DecodeText(std::string(from.AsString()));
    case AttrKind::kArray:
      return DecodeList(from, depth);
    case AttrKind::kDict:
      return custom_call::Attribute(DecodeDict(from, depth));
    case AttrKind::kDenseElements:
      return DecodeDense(from);
    case AttrKind::kDenseArray: {
      if (from.type().Is(ir::TypeKind::kFloat)) {
        return custom_call::Attribute(
            std::vector<double>(from.floats().begin(), from.floats().end()));
      }
      return custom_call::Attribute(std::vector<int64_t>(from.ints().begin(), from.ints().end()));
    }
    default:
      return DecodeText(from.ToString());
  }
}

absl::string_view BackendConfigText(const ir::Op& op) {
  for (const absl::string_view name : {"backend_config", "mhlo.backend_config"}) {
    const ir::Attribute text = op.attr(name);
    if (text.Is(ir::AttrKind::kString)) return text.AsString();
  }
  return {};
}

custom_call::Dict AttributesOf(const ir::Op& op) {
  std::optional<custom_call::Dict> json = ParseJsonConfig(BackendConfigText(op));
  custom_call::Dict all = json.has_value() ? *std::move(json) : custom_call::Dict();
  for (const absl::string_view name :
       {"mhlo.attributes", "mhlo.backend_config", "backend_config"}) {
    const ir::Attribute dict = op.attr(name);
    if (!dict.Is(ir::AttrKind::kDict)) continue;
    for (const ir::NamedAttribute& entry : dict.entries())
      all.Set(entry.name, Decode(entry.value, 0));
  }
  return all;
}

// "model.mlir:12:8: custom call @target"
std::string CallPlace(const ir::Op& op, absl::string_view target) {
  std::string text;
  if (op.location().line > 0) {
    text = absl::StrCat(op.module()->source_name(), ":", op.location().line, ":",
                        op.location().column, ": ");
  }
  return absl::StrCat(text, "custom call @", Shorten(target));
}

// Whether the op is another platform's: exports for several platforms hold the calls of all of
// them, in branches, and choose when they run.
bool IsOfOtherPlatform(const ir::Op& op) {
  if (ir::TargetPlatform(op.StringAttr("call_target_name")).empty()) return false;
  for (const ir::Op* parent = op.parent(); parent != nullptr; parent = parent->parent()) {
    if (parent->Is(ir::OpCode::kCase) || parent->Is(ir::OpCode::kIf)) return true;
  }
  return false;
}

absl::Status UnknownTarget(const ir::Op& op) {
  const absl::string_view target = op.StringAttr("call_target_name");
  const absl::string_view platform = ir::TargetPlatform(target);
  std::string reason;
  if (!platform.empty()) {
    reason = absl::StrCat("this program was lowered for ",
                          platform == "gpu" ? "a GPU" : absl::string_view(platform));
  } else if (ir::IsPythonCallback(target)) {
    reason = "it calls a function of the Python process that exported the program";
  } else if (ir::IsPartitioning(target)) {
    reason = "it is part of a program for several devices";
  } else {
    reason =
        "the CPU device has no such function, and none of this name is registered in "
        "CpuClientOptions::custom_calls";
  }
  return Unimplemented("PJRT-K001", CallPlace(op, target), " (", Place(op), "): ", reason);
}

// Gives the results memory and meaning.
std::vector<CustomCallStep::Slot> BindResults(Lowering& lowering, const ir::Op& op) {
  std::vector<CustomCallStep::Slot> results;
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (op.result_type(i).IsToken()) {
      lowering.BindToken(op.result(i));
      continue;
    }
    const ArrayView view = lowering.NewArray(op.result_type(i));
    results.push_back({view.type, {view.dims.begin(), view.dims.end()}, view.buffer});
    lowering.Bind(op.result(i), view);
  }
  return results;
}

std::vector<BufferId> BuffersOf(const std::vector<CustomCallStep::Slot>& slots) {
  std::vector<BufferId> buffers;
  for (const CustomCallStep::Slot& slot : slots) buffers.push_back(slot.buffer);
  return buffers;
}

// Pairs of the kernel's that may really share: an operand that stands there only once.
std::vector<PlanBuilder::Share> SharesOf(const custom_call::Kernel& kernel,
                                         const std::vector<CustomCallStep::Slot>& operands,
                                         const std::vector<CustomCallStep::Slot>& results,
                                         const PlanBuilder& plan) {
  std::vector<PlanBuilder::Share> shares;
  for (const custom_call::Kernel::InPlace& pair : kernel.in_place) {
    const BufferId from = operands[static_cast<size_t>(pair.operand)].buffer;
    const BufferId to = results[static_cast<size_t>(pair.result)].buffer;
    int uses = 0;
    for (const CustomCallStep::Slot& operand : operands) uses += operand.buffer == from;
    if (uses == 1 && plan.bytes(from) == plan.bytes(to)) shares.push_back({to, from});
  }
  return shares;
}

// What is called.
struct CallSite {
  absl::string_view target;
  custom_call::Factory factory;
  custom_call::Dict attributes;
  absl::string_view backend_config;
};

absl::Status LowerAssertion(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const absl::string_view target = op.StringAttr("call_target_name");
  const bool is_text = op.attr("error_message").Is(ir::AttrKind::kString);
  const absl::string_view message =
      is_text ? op.StringAttr("error_message") : BackendConfigText(op);
  bool fits = op.num_operands() > 0 && op.num_results() == 0;
  for (size_t i = 0; i < op.num_operands() && fits; ++i) {
    const ir::Type type = op.operand_type(i);
    fits = type.IsTensor() && type.rank() == 0 && (i > 0 || type.primitive_type() == PRED);
  }
  if (!fits) {
    return InvalidArgument("PJRT-K002", CallPlace(op, target),
                           ": expected an i1 and numbers, all of rank 0, and no result; given ",
                           Place(op));
  }
  std::vector<AssertStep::Value> values;
  std::vector<BufferId> reads;
  for (size_t i = 0; i < op.num_operands(); ++i) {
    PJRT_ASSIGN_OR_RETURN(const ArrayView view,
                          lowering.Dense(lowering.view(op.operand(i)), steps));
    reads.push_back(view.buffer);
    if (i > 0) values.push_back({view.type, view.buffer});
  }
  lowering.plan().Emit(steps,
                       std::make_unique<AssertStep>(std::string(message), CallPlace(op, target),
                                                    reads[0], std::move(values)),
                       reads, {});
  return absl::OkStatus();
}

// The application's function of that name; null when there is none.
custom_call::Factory FindRegistered(const Lowering& lowering, absl::string_view name) {
  const CustomCallRegistry* own = lowering.options().custom_calls;
  const custom_call::Factory* factory = own != nullptr ? own->Find(name) : nullptr;
  return factory != nullptr ? *factory : nullptr;
}

absl::Status LowerCall(Lowering& lowering, const ir::Op& op, const CallSite& site, Steps* steps) {
  std::vector<CustomCallStep::Slot> operands;
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (lowering.IsToken(op.operand(i))) continue;
    if (!op.operand_type(i).IsTensor())
      return UnsupportedOp(op, "only tensors and tokens can be given to a custom call");
    PJRT_ASSIGN_OR_RETURN(const ArrayView view,
                          lowering.Dense(lowering.view(op.operand(i)), steps));
    operands.push_back({view.type, {view.dims.begin(), view.dims.end()}, view.buffer});
  }
  std::vector<CustomCallStep::Slot> results = BindResults(lowering, op);

  custom_call::Signature signature;
  std::vector<custom_call::Array> arrays;
  for (const auto* slots : {&operands, &results}) {
    for (const CustomCallStep::Slot& slot : *slots) arrays.push_back({slot.type, slot.dims});
  }
  signature.target = site.target;
  signature.operands = absl::MakeConstSpan(arrays).subspan(0, operands.size());
  signature.results = absl::MakeConstSpan(arrays).subspan(operands.size());
  signature.attributes = &site.attributes;
  signature.backend_config = site.backend_config;
  signature.has_side_effect = op.BoolAttr("has_side_effect");
  absl::StatusOr<custom_call::Kernel> kernel = site.factory(signature);
  const std::string place = CallPlace(op, site.target);
  if (!kernel.ok()) {
    const absl::Status& status = kernel.status();
    if (!ErrorId(status).empty()) return WithContext(status, place);
    return MakeError(status.code(), "PJRT-K002", absl::StrCat(place, ": ", status.message()));
  }
  bool is_usable = kernel->run != nullptr && kernel->scratch_bytes >= 0;
  for (const custom_call::Kernel::InPlace& pair : kernel->in_place) {
    is_usable = is_usable && pair.result >= 0 && pair.operand >= 0 &&
                static_cast<size_t>(pair.result) < results.size() &&
                static_cast<size_t>(pair.operand) < operands.size();
  }
  if (!is_usable) {
    return Internal("PJRT-K002", place,
                    ": its factory gives no function to run, negative scratch memory, or pairs "
                    "in_place of operands and results that it has not");
  }

  const std::vector<BufferId> reads = BuffersOf(operands), writes = BuffersOf(results);
  const std::vector<PlanBuilder::Share> shares =
      SharesOf(*kernel, operands, results, lowering.plan());
  lowering.plan().Emit(steps,
                       std::make_unique<CustomCallStep>(*std::move(kernel), place,
                                                        std::move(operands), std::move(results)),
                       reads, writes, shares);
  return absl::OkStatus();
}

}  // namespace

absl::Status LowerCustomCall(Lowering& lowering, const ir::Op& op, Steps* steps) {
  CallSite site;
  site.target = op.StringAttr("call_target_name");
  site.factory = FindRegistered(lowering, site.target);
  if (site.factory == nullptr && site.target == "shape_assertion")
    return LowerAssertion(lowering, op, steps);
  if (site.factory == nullptr) site.factory = FindLapack(site.target, lowering.kernels());
  if (site.factory == nullptr) site.factory = FindCheck(site.target);
  if (site.factory == nullptr) {
    absl::Status unknown = UnknownTarget(op);
    if (!IsOfOtherPlatform(op)) return unknown;
    const std::vector<BufferId> writes = BuffersOf(BindResults(lowering, op));
    lowering.plan().Emit(steps, std::make_unique<FailStep>(std::move(unknown)), {}, writes);
    return absl::OkStatus();
  }
  site.attributes = AttributesOf(op);
  site.backend_config = BackendConfigText(op);
  return LowerCall(lowering, op, site, steps);
}

// A composite that the application has registered a function for.
absl::Status LowerComposite(Lowering& lowering, const ir::Op& op, Steps* steps) {
  CallSite site;
  site.target = op.StringAttr("name");
  site.factory = FindRegistered(lowering, site.target);
  if (site.factory == nullptr) return UnsupportedOp(op, "nothing is registered under its name");
  const ir::Attribute attributes = op.attr("composite_attributes");
  if (attributes.Is(ir::AttrKind::kDict)) site.attributes = DecodeDict(attributes, 0);
  return LowerCall(lowering, op, site, steps);
}

}  // namespace pjrt::cpu
