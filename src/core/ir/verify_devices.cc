// SPDX-License-Identifier: Apache-2.0
//
// Ops that talk to other devices or to the host: collectives, infeed, outfeed, send, recv.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

enum class GroupRule {
  kPadded,   // groups may be of different sizes, filled up with -1; all ids below the largest occur
  kEven,     // all groups have the same size
  kPartial,  // some devices may be in no group
};

// The groups of a collective. Groups by axes of a mesh are left to partitioning.
absl::Status CheckReplicaGroups(Attribute attr, GroupRule rule_of_op, int64_t* group_size) {
  *group_size = kDynamic;
  if (attr.Is(AttrKind::kStruct) && attr.name() == "stablehlo.replica_group_mesh_axes")
    return CheckStruct(attr);
  if (!attr.Is(AttrKind::kDenseElements) || attr.type().rank() != 2) {
    return InvalidArgument(rule::kDevices,
                           "replica_groups must be a matrix of i64, a group a row; given ",
                           attr.ToString());
  }
  DimList ids;
  int64_t rows = 0;
  if (!IsInteger(attr.type().element_type(), 64) || !GetIntMatrix(attr, &ids, &rows, group_size)) {
    return InvalidArgument(rule::kDevices,
                           "replica_groups must be a matrix of i64, a group a row; given ",
                           attr.ToString());
  }
  DimList sorted;
  for (int64_t id : ids) {
    if (id == -1 && rule_of_op == GroupRule::kPadded) continue;
    if (id < 0)
      return InvalidArgument(rule::kDevices, "ids in replica_groups must not be negative; given ",
                             id);
    sorted.push_back(id);
  }
  if (sorted.empty() && rule_of_op != GroupRule::kPartial && ids.empty() && rows == 0 &&
      *group_size > 0) {
    return InvalidArgument(rule::kDevices, "replica_groups must not be empty; given ",
                           attr.type().ToString());
  }
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return InvalidArgument(rule::kDevices, "replica_groups must hold each id once; given ", *twice,
                           " more than once");
  }
  for (size_t i = 0; rule_of_op != GroupRule::kPartial && i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) {
      return InvalidArgument(rule::kDevices, "replica_groups must hold all ids from 0 on; ", i,
                             " is missing");
    }
  }
  return absl::OkStatus();
}

// With global device ids, a channel must be named.
absl::Status CheckGlobalIds(const Op& op, bool zero_allowed) {
  if (!op.HasAttr("use_global_device_ids") || !op.BoolAttr("use_global_device_ids", true))
    return absl::OkStatus();
  const ChannelHandle channel =
      ChannelHandle::From(op.attr("channel_handle")).value_or(ChannelHandle());
  if (channel.handle > 0 || (zero_allowed && channel.handle == 0)) return absl::OkStatus();
  return InvalidArgument(
      rule::kDevices,
      "the handle of channel_handle must be positive beside use_global_device_ids; given ",
      channel.handle);
}

absl::Status CheckPairs(Attribute attr) {
  if (!attr) return absl::OkStatus();
  DimList values;
  int64_t rows = 0, columns = 0;
  const bool empty = attr.Is(AttrKind::kDenseElements) && attr.type().HasStaticShape() &&
                     attr.type().element_count() == 0;
  if (empty) return absl::OkStatus();
  if (!GetIntMatrix(attr, &values, &rows, &columns) || columns != 2 ||
      !IsInteger(attr.type().element_type(), 64)) {
    return InvalidArgument(rule::kDevices,
                           "source_target_pairs must be a matrix of i64 in two columns; given ",
                           attr.ToString());
  }
  for (int64_t column : {0, 1}) {
    DimList ids;
    for (int64_t r = 0; r < rows; ++r) ids.push_back(values[static_cast<size_t>(2 * r + column)]);
    std::sort(ids.begin(), ids.end());
    if (!ids.empty() && ids.front() < 0) {
      return InvalidArgument(
          rule::kDevices, "ids in source_target_pairs must not be negative; given ", ids.front());
    }
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
      return InvalidArgument(rule::kDevices, "source_target_pairs must hold each ",
                             column == 0 ? "source" : "target", " once; given ", attr.ToString());
    }
  }
  return absl::OkStatus();
}

// Each operand, folded with the region of two scalars.
absl::Status FoldOperands(const InferInput& in, size_t count, TypeList* out) {
  out->clear();
  for (size_t i = 0; i < count; ++i) {
    const Type type = in.operand_type(i);
    TypeList elements;
    PJRT_RETURN_IF_ERROR(CheckReducer(*in.regions[0], {type}, {type}, &elements));
    out->push_back(WithElement(*in.context, type, elements[0]));
  }
  return absl::OkStatus();
}

// With has_dynamic_root, the last operand holds the root of each of the others.
absl::Status CheckRoot(const InferInput& in, size_t* data_operands) {
  const size_t count = in.operands.size();
  const Attribute attr = in.attr("has_dynamic_root");
  if (!attr || !attr.AsBool()) {
    *data_operands = count;
    if (count > 0) return absl::OkStatus();
    return InvalidArgument(rule::kCount, "there must be an operand; given none");
  }
  if (count < 2) {
    return InvalidArgument(rule::kCount,
                           "with has_dynamic_root there must be data and a root; given ", count,
                           " operands");
  }
  const Type root = in.operand_type(count - 1);
  if (!root.IsTensor() || root.rank() != 1 || !IsInteger(root.element_type(), 32)) {
    return InvalidArgument(rule::kType, "the root must be a tensor of rank 1 of i32; given ",
                           root.ToString());
  }
  if (!CompatibleSizes(root.dim(0), static_cast<int64_t>(count) - 1)) {
    return InvalidArgument(rule::kSizes, "the root must have a value for each data operand; given ",
                           root.ToString(), " for ", count - 1);
  }
  *data_operands = count - 1;
  return absl::OkStatus();
}

// Shapes that are the same but along `dimension`, where `larger` is a multiple of `smaller`.
absl::Status CheckMultiple(absl::string_view name, int64_t dimension, Type larger, Type smaller) {
  PJRT_RETURN_IF_ERROR(CheckRank("result", larger, smaller.rank()));
  PJRT_RETURN_IF_ERROR(CheckDimension(name, dimension, smaller.rank()));
  for (size_t d = 0; d < larger.dims().size(); ++d) {
    const Extent a = ExtentOf(larger, d), b = ExtentOf(smaller, d);
    if (static_cast<int64_t>(d) != dimension) {
      if (CompatibleExtents(a, b)) continue;
      return InvalidArgument(rule::kSizes, "operand and result must have the same shape but along ",
                             name, "; given ", smaller.ToString(), " and ", larger.ToString());
    }
    if (a.IsDynamic() || b.IsDynamic()) continue;
    if (b.size == 0 || a.size == 0 || a.size % b.size != 0) {
      return InvalidArgument(rule::kSizes, "along ", name,
                             " one size must be a multiple, not 0, of the other; given ", a.size,
                             " and ", b.size);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferAllReduce(const InferInput& in, TypeList* out) {
  return FoldOperands(in, in.operands.size(), out);
}

absl::Status InferCollectiveReduce(const InferInput& in, TypeList* out) {
  size_t count = 0;
  PJRT_RETURN_IF_ERROR(CheckRoot(in, &count));
  return FoldOperands(in, count, out);
}

absl::Status InferCollectiveBroadcast(const InferInput& in, TypeList* out) {
  size_t count = 0;
  int64_t group_size = 0;
  PJRT_RETURN_IF_ERROR(CheckRoot(in, &count));
  PJRT_RETURN_IF_ERROR(
      CheckReplicaGroups(in.attr("replica_groups"), GroupRule::kPartial, &group_size));
  out->clear();
  for (size_t i = 0; i < count; ++i) out->push_back(in.operand_type(i));
  return absl::OkStatus();
}

absl::Status InferCollectivePermute(const InferInput& in, TypeList* out) {
  PJRT_RETURN_IF_ERROR(CheckPairs(in.attr("source_target_pairs")));
  out->assign(1, in.operand_type(0));
  return absl::OkStatus();
}

absl::Status InferAllToAll(const InferInput& in, TypeList* out) {
  const int64_t split = Int(in, "split_dimension"), concat = Int(in, "concat_dimension"),
                count = Int(in, "split_count");
  int64_t group_size = 0;
  PJRT_RETURN_IF_ERROR(
      CheckReplicaGroups(in.attr("replica_groups"), GroupRule::kEven, &group_size));
  if (!CompatibleSizes(group_size, count)) {
    return InvalidArgument(rule::kDevices,
                           "groups of replica_groups must have split_count members; given ",
                           group_size, ", expected ", count);
  }
  out->clear();
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const Type operand = in.operand_type(i);
    PJRT_RETURN_IF_ERROR(CheckDimension("split_dimension", split, operand.rank()));
    PJRT_RETURN_IF_ERROR(CheckDimension("concat_dimension", concat, operand.rank()));
    Extents extents = ExtentsOf(operand);
    Extent& s = extents[static_cast<size_t>(split)];
    if (!s.IsDynamic() && s.size % count != 0) {
      return InvalidArgument(rule::kSizes,
                             "the split dimension must be a multiple of split_count; given ",
                             s.size, " and ", count);
    }
    if (!s.IsDynamic()) s.size /= count;
    if (s.bound != kDynamic) s.bound = s.bound / count + (s.bound % count != 0);
    Extent& c = extents[static_cast<size_t>(concat)];
    c = {MultiplySizes(c.size, count), MultiplySizes(c.bound, count)};
    out->push_back(MakeTensor(*in.context, extents, operand.element_type()));
  }
  return absl::OkStatus();
}

absl::Status VerifyAllReduce(const Op& op) {
  int64_t group_size = 0;
  PJRT_RETURN_IF_ERROR(
      CheckReplicaGroups(op.attr("replica_groups"), GroupRule::kPadded, &group_size));
  return CheckGlobalIds(op, false);
}

absl::Status VerifyAllGather(const Op& op) {
  int64_t group_size = 0;
  PJRT_RETURN_IF_ERROR(
      CheckReplicaGroups(op.attr("replica_groups"), GroupRule::kEven, &group_size));
  PJRT_RETURN_IF_ERROR(CheckGlobalIds(op, true));
  if (op.num_operands() != op.num_results()) {
    return InvalidArgument(rule::kCount, "there must be a result for each operand; given ",
                           op.num_results(), ", expected ", op.num_operands());
  }
  for (size_t i = 0; i < op.num_operands(); ++i) {
    PJRT_RETURN_IF_ERROR(
        CheckSameElement("operand", op.operand_type(i), "result", op.result_type(i)));
    PJRT_RETURN_IF_ERROR(CheckMultiple("all_gather_dim", op.IntAttr("all_gather_dim"),
                                       op.result_type(i), op.operand_type(i)));
  }
  return absl::OkStatus();
}

absl::Status VerifyReduceScatter(const Op& op) {
  int64_t group_size = 0;
  PJRT_RETURN_IF_ERROR(
      CheckReplicaGroups(op.attr("replica_groups"), GroupRule::kEven, &group_size));
  PJRT_RETURN_IF_ERROR(CheckGlobalIds(op, false));
  TypeList elements;
  PJRT_RETURN_IF_ERROR(
      CheckReducer(*op.region(), {op.operand_type(0)}, {op.operand_type(0)}, &elements));
  if (!SameType(elements[0], op.result_type().element_type())) {
    return InvalidArgument(rule::kResult,
                           "the result must have the element type that the region returns; given ",
                           op.result_type().ToString(), ", expected ", elements[0].ToString());
  }
  return CheckMultiple("scatter_dimension", op.IntAttr("scatter_dimension"), op.operand_type(0),
                       op.result_type());
}

namespace {

// Results of infeed and recv: tensors, then a token.
absl::Status CheckTensorsAndToken(const Op& op) {
  if (op.num_results() == 0)
    return InvalidArgument(rule::kCount,
                           "there must be a token as the last result; given no result");
  const Type last = op.result_type(op.num_results() - 1);
  if (!last.Is(TypeKind::kToken)) {
    return InvalidArgument(rule::kType, "the last result must be a token; given ", last.ToString());
  }
  for (size_t i = 0; i + 1 < op.num_results(); ++i) {
    if (op.result_type(i).Is(TypeKind::kToken)) {
      return InvalidArgument(rule::kType, "all results but the last must be tensors; given ",
                             op.result_type(i).ToString());
    }
  }
  return absl::OkStatus();
}

// The channel's type says in which direction data goes.
absl::Status CheckChannelType(const Op& op, int64_t host_type, absl::string_view host_name) {
  PJRT_RETURN_IF_ERROR(CheckPairs(op.attr("source_target_pairs")));
  const bool host = op.BoolAttr("is_host_transfer");
  const int64_t type =
      ChannelHandle::From(op.attr("channel_handle")).value_or(ChannelHandle()).type;
  if (type == (host ? host_type : 1)) return absl::OkStatus();
  return InvalidArgument(
      rule::kDevices, "the type of channel_handle must fit is_host_transfer; given ", type,
      ", expected ", host ? host_type : 1,
      host ? absl::StrCat(" (", host_name, ")") : std::string(" (device to device)"));
}

}  // namespace

absl::Status VerifyInfeed(const Op& op) {
  PJRT_RETURN_IF_ERROR(CheckTensorsAndToken(op));
  const Attribute layout = op.attr("layout");
  if (!layout) return absl::OkStatus();
  if (layout.elements().size() != op.num_results() - 1) {
    return InvalidArgument(rule::kValue,
                           "layout must have an array for each result but the token; given ",
                           layout.elements().size(), ", expected ", op.num_results() - 1);
  }
  for (Attribute list : layout.elements()) {
    DimList dims;
    if (!list.Is(AttrKind::kArray) || !GetIntList(list, &dims)) {
      return InvalidArgument(rule::kAttribute, "layout must hold arrays of integers; given ",
                             list.ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyRecv(const Op& op) {
  PJRT_RETURN_IF_ERROR(CheckTensorsAndToken(op));
  return CheckChannelType(op, 3, "host to device");
}

namespace {

absl::Status CheckSymbols(absl::string_view name, Attribute list) {
  const absl::Span<const Attribute> symbols =
      list.Is(AttrKind::kArray) ? list.elements() : absl::Span<const Attribute>();
  if (symbols.empty()) {
    return InvalidArgument(rule::kValue, name, " must hold names of functions; given ",
                           list.ToString());
  }
  for (Attribute symbol : symbols) {
    if (symbol.Is(AttrKind::kSymbol)) continue;
    return InvalidArgument(rule::kAttribute, name, " must hold symbols such as @f; given ",
                           symbol.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

// The form of the lists; the verifier of the module knows the functions that they name.
absl::Status VerifyRunParallel(const Op& op) {
  const Attribute programs = op.attr("programs");
  const absl::Span<const Attribute> rows =
      programs.Is(AttrKind::kArray) ? programs.elements() : absl::Span<const Attribute>();
  if (rows.empty()) {
    return InvalidArgument(rule::kValue, "programs must have a list for each replica; given ",
                           programs.ToString());
  }
  for (Attribute row : rows) {
    if (!row.Is(AttrKind::kArray)) {
      return InvalidArgument(rule::kAttribute,
                             "programs must hold a list of symbols for each replica; given ",
                             row.ToString());
    }
    PJRT_RETURN_IF_ERROR(CheckSymbols("each list of programs", row));
    if (row.elements().size() != rows[0].elements().size()) {
      return InvalidArgument(rule::kValue, "lists of programs must have the same length; given ",
                             programs.ToString());
    }
  }
  const Attribute infeed = op.attr("infeed");
  return infeed ? CheckSymbols("infeed", infeed) : absl::OkStatus();
}

absl::Status VerifySend(const Op& op) { return CheckChannelType(op, 2, "device to host"); }

}  // namespace pjrt::ir
