// SPDX-License-Identifier: Apache-2.0
//
// Control flow, tuples, tokens, futures and composites.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

absl::InlinedVector<Type, 6> OperandTypes(const InferInput& in) {
  absl::InlinedVector<Type, 6> out;
  for (const Value* v : in.operands) out.push_back(v->type());
  return out;
}

// What holds of a value that comes from either of two branches.
Type MergeBranches(Context& context, Type a, Type b) {
  if (SameType(a, b) || !a.IsTensor() || !b.IsTensor()) return a;
  Extents extents = ExtentsOf(a);
  for (size_t d = 0; d < extents.size(); ++d)
    extents[d] = LeastSpecific(extents[d], ExtentOf(b, d));
  return MakeTensor(context, extents, a.element_type());
}

bool IsNameStart(char c) { return absl::ascii_isalpha(c); }
bool IsNameRest(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$'; }

// "namespace.name", parts of letters, digits, `_` and `$`; the first begins with a letter.
bool IsNamespaced(absl::string_view name) {
  if (name.empty() || !IsNameStart(name[0])) return false;
  size_t dots = 0, part = 0;
  for (char c : name) {
    if (c == '.') {
      if (part == 0) return false;
      ++dots;
      part = 0;
    } else if (IsNameRest(c)) {
      ++part;
    } else {
      return false;
    }
  }
  return dots > 0 && part > 0;
}

}  // namespace

absl::Status InferOperands(const InferInput& in, TypeList* out) {
  const auto types = OperandTypes(in);
  out->assign(types.begin(), types.end());
  return absl::OkStatus();
}

absl::Status InferWhile(const InferInput& in, TypeList* out) {
  const auto operands = OperandTypes(in);
  for (size_t i : {0, 1}) {
    const auto arguments = ArgumentTypes(*in.regions[i]);
    if (!CompatibleTypeLists(arguments, operands)) {
      return InvalidArgument(rule::kRegion, "the ", i == 0 ? "condition" : "body",
                             " must take the operands; given (", TypesText(arguments),
                             "), expected (", TypesText(operands), ")");
    }
  }
  const auto condition = ReturnTypes(*in.regions[0]);
  if (condition.size() != 1 || !condition[0].IsTensor() || condition[0].rank() != 0 ||
      !IsInteger(condition[0].element_type(), 1)) {
    return InvalidArgument(rule::kRegionResult, "the condition must return tensor<i1>; given (",
                           TypesText(condition), ")");
  }
  const auto body = ReturnTypes(*in.regions[1]);
  if (!CompatibleTypeLists(body, operands)) {
    return InvalidArgument(rule::kRegionResult, "the body must return the operands' types; given (",
                           TypesText(body), "), expected (", TypesText(operands), ")");
  }
  out->assign(operands.begin(), operands.end());
  return absl::OkStatus();
}

absl::Status InferBranches(const InferInput& in, TypeList* out) {
  if (in.code == OpCode::kCase && !IsInteger(in.operand_type(0).element_type(), 32)) {
    return InvalidArgument(rule::kType, "the index must be a tensor<i32>; given ",
                           in.operand_type(0).ToString());
  }
  for (size_t i = 0; i < in.regions.size(); ++i) {
    const auto arguments = ArgumentTypes(*in.regions[i]);
    if (!arguments.empty()) {
      return InvalidArgument(rule::kRegion, "branches take no arguments; given ", arguments.size(),
                             " for branch ", i);
    }
    const auto returns = ReturnTypes(*in.regions[i]);
    if (i == 0) {
      out->assign(returns.begin(), returns.end());
      continue;
    }
    if (!CompatibleTypeLists(*out, returns)) {
      return InvalidArgument(rule::kRegionResult,
                             "all branches must return the same types; given (", TypesText(*out),
                             ") from branch 0 and (", TypesText(returns), ") from branch ", i);
    }
    for (size_t r = 0; r < returns.size(); ++r)
      (*out)[r] = MergeBranches(*in.context, (*out)[r], returns[r]);
  }
  return absl::OkStatus();
}

absl::Status InferTuple(const InferInput& in, TypeList* out) {
  out->assign(1, in.context->Tuple(OperandTypes(in)));
  return absl::OkStatus();
}

absl::Status InferGetTupleElement(const InferInput& in, TypeList* out) {
  const absl::Span<const Type> elements = in.operand_type(0).elements();
  const int64_t index = Int(in, "index");
  if (index < 0 || static_cast<size_t>(index) >= elements.size()) {
    return InvalidArgument(rule::kDimensions, "index must be in [0, ", elements.size(), "); given ",
                           index);
  }
  out->assign(1, elements[static_cast<size_t>(index)]);
  return absl::OkStatus();
}

absl::Status InferToken(const InferInput& in, TypeList* out) {
  out->assign(1, in.context->Token());
  return absl::OkStatus();
}

absl::Status InferDeviceId(const InferInput& in, TypeList* out) {
  out->assign(1, Scalar(*in.context, in.context->Integer(32, Signedness::kUnsigned)));
  return absl::OkStatus();
}

absl::Status InferAsyncStart(const InferInput& in, TypeList* out) {
  const auto arguments = ArgumentTypes(*in.regions[0]);
  const auto operands = OperandTypes(in);
  if (!CompatibleTypeLists(arguments, operands)) {
    return InvalidArgument(rule::kRegion, "the body must take the operands; given (",
                           TypesText(arguments), "), expected (", TypesText(operands), ")");
  }
  out->assign(1, in.context->Future(ReturnTypes(*in.regions[0])));
  return absl::OkStatus();
}

absl::Status InferAsyncDone(const InferInput& in, TypeList* out) {
  const absl::Span<const Type> elements = in.operand_type(0).elements();
  out->assign(elements.begin(), elements.end());
  return absl::OkStatus();
}

absl::Status VerifyAsyncStart(const Op& op) {
  constexpr OpCode kAllowed[] = {OpCode::kAllReduce,
                                 OpCode::kAllGather,
                                 OpCode::kAllToAll,
                                 OpCode::kCollectivePermute,
                                 OpCode::kReduceScatter,
                                 OpCode::kCollectiveBroadcast,
                                 OpCode::kSlice,
                                 OpCode::kDynamicSlice,
                                 OpCode::kDynamicUpdateSlice};
  const Block* body = op.region()->block();
  const Op* first = body != nullptr ? body->front() : nullptr;
  const Op* last = first != nullptr ? first->next() : nullptr;
  bool returns_results = last != nullptr && last == body->back() && last->IsTerminator() &&
                         last->num_operands() == first->num_results();
  for (size_t i = 0; returns_results && i < first->num_results(); ++i)
    returns_results = last->operand(i) == first->result(i);
  if (!returns_results) {
    return InvalidArgument(rule::kTerminator,
                           "the body must be one op and the return of its results");
  }
  if (std::find(std::begin(kAllowed), std::end(kAllowed), first->opcode()) == std::end(kAllowed)) {
    return InvalidArgument(
        rule::kValue,
        "the body must be a collective, slice, dynamic_slice or dynamic_update_slice; given ",
        first->name());
  }
  return absl::OkStatus();
}

absl::Status VerifyComposite(const Op& op) {
  const absl::string_view name = op.StringAttr("name");
  if (!IsNamespaced(name)) {
    return InvalidArgument(rule::kValue,
                           "name must be a namespace and a name, as in \"math.sinc\"; given \"",
                           name, "\"");
  }
  return absl::OkStatus();
}

}  // namespace pjrt::ir
