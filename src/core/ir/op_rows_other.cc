// SPDX-License-Identifier: Apache-2.0
//
// Rows of func and builtin, of the testing dialects check and interpreter, and of the few sdy and
// mhlo ops in programs.
#include "src/core/ir/op_functions.h"
#include "src/core/ir/op_rows.h"

namespace pjrt::ir {
namespace {

constexpr OpRow Check(OpCode code, absl::string_view summary) {
  return Row(code, summary).In("lhs", kAnyQ).In("rhs", kAnyQ).Is(kSideEffect);
}

// An op of sdy that says how its operand is laid out on the mesh.
constexpr OpRow Sharded(OpCode code, absl::string_view summary) {
  return Row(code, summary)
      .In("tensor", kAnyQ)
      .Out("result", kAnyQ)
      .Attr("out_sharding", AttrType::kAnyAttr, "sdy.sharding");
}

constexpr OpRow kOtherDialectRows[] = {
    Row(OpCode::kFuncFunc, "a function")
        .Attr("sym_name", AttrType::kString)
        .Attr("function_type", AttrType::kType)
        .Opt("sym_visibility", AttrType::kString)
        .Opt("arg_attrs", AttrType::kArray)
        .Opt("res_attrs", AttrType::kArray)
        .Opt("no_inline", AttrType::kUnit)
        .Regions(1)
        .Is(kIsolated)
        .Asm("<func>"),
    Row(OpCode::kFuncCall, "calls a function")
        .Ins("operands", kAnything)
        .Outs("results", kAnything)
        .Attr("callee", AttrType::kSymbol)
        .Opt("arg_attrs", AttrType::kArray)
        .Opt("res_attrs", AttrType::kArray)
        .Opt("no_inline", AttrType::kUnit)
        .Asm("@callee:symbol ( $* ) {} : functional"),
    Row(OpCode::kFuncReturn, "ends a function and gives its results")
        .Ins("operands", kAnything)
        .Is(kTerminator)
        .Asm("<return>"),
    Row(OpCode::kModule, "a module inside of another")
        .Opt("sym_name", AttrType::kString)
        .Opt("sym_visibility", AttrType::kString)
        .Regions(1)
        .Is(kIsolated)
        .Asm("<module>"),
    Row(OpCode::kUnrealizedConversionCast, "a change of types that something else makes real")
        .Ins("inputs", kAnything)
        .Outs("outputs", kAnything)
        .Asm("<cast> {}"),

    Check(OpCode::kCheckExpectEq, "fails unless the operands are equal").Asm("$* {} : type"),
    Check(OpCode::kCheckExpectAlmostEq, "fails unless the operands differ by at most the tolerance")
        .Opt("tolerance", AttrType::kF64, "0.0001")
        .Asm("$* ?( , tolerance = @tolerance:float ) {} : type"),
    Check(OpCode::kCheckExpectClose,
          "fails unless the operands differ by a number of ULPs within the bounds")
        .Opt("max_ulp_difference", AttrType::kUI64, "3")
        .Opt("min_ulp_difference", AttrType::kUI64, "0")
        .Asm("$* ?( , max_ulp_difference = @max_ulp_difference:int ) ?( , min_ulp_difference = "
             "@min_ulp_difference:int ) {} : operand-types"),
    Row(OpCode::kCheckExpectEqConst, "fails unless the operand is equal to the constant")
        .In("lhs", kAnyQ)
        .Attr("value", AttrType::kElements)
        .Is(kSideEffect)
        .Asm("$* , @value:elements {}"),
    Row(OpCode::kCheckExpectAlmostEqConst,
        "fails unless the operand differs from the constant by at most the tolerance")
        .In("lhs", kAnyQ)
        .Attr("value", AttrType::kElements)
        .Opt("tolerance", AttrType::kF64, "0.0001")
        .Is(kSideEffect)
        .Asm("$* , @value:elements ?( , tolerance = @tolerance:float ) {}"),
    Row(OpCode::kCheckExpectSerializedEq, "fails unless the operand is what a probe wrote")
        .In("expected", kAnyQ)
        .Attr("probe_id", AttrType::kString)
        .Opt("iteration", AttrType::kUI32, "1")
        .Is(kSideEffect)
        .Asm("$* , probe_id = @probe_id:string ?( , iter = @iteration:int ) {} : type"),
    Row(OpCode::kInterpreterRunParallel, "runs a grid of programs, replicas by partitions")
        .Ins("inputs", kAnything)
        .Outs("results", kAnything)
        .Opt("infeed", AttrType::kArray)
        .Attr("programs", AttrType::kArray)
        .Is(kSideEffect)
        .Verify(VerifyRunParallel),
    Row(OpCode::kInterpreterPrint, "prints the operand")
        .In("operand", kAnyQ)
        .Is(kSideEffect)
        .Asm("$* {} : type"),
    Row(OpCode::kInterpreterProbe, "identity that keeps a copy of the operand")
        .In("operand", kAnyQ)
        .Out("result", kAnyQ)
        .Attr("probe_id", AttrType::kString)
        .Is(kSideEffect)
        .Asm("$* , probe_id = @probe_id:string {} : type")
        .Infer(InferOperands),

    Row(OpCode::kSdyMesh, "names and sizes of the axes that devices are arranged in")
        .Attr("sym_name", AttrType::kString)
        .Attr("mesh", AttrType::kAnyAttr, "sdy.mesh")
        .Asm("@sym_name:symbol = @mesh:balanced {}"),
    Row(OpCode::kSdyShardingConstraint, "identity that demands a sharding")
        .In("input", kAnyQ)
        .Out("result", kAnyQ)
        .Attr("sharding", AttrType::kAnyAttr, "sdy.sharding")
        .Asm("$* @sharding:balanced {} : type")
        .Infer(InferOperands),
    Row(OpCode::kSdyReshard, "identity that changes the sharding")
        .In("input", kAnyQ)
        .Out("result", kAnyQ)
        .Attr("sharding", AttrType::kAnyAttr, "sdy.sharding")
        .Asm("$* @sharding:balanced {} : type")
        .Infer(InferOperands),
    Row(OpCode::kSdyManualComputation, "a body that works on the shards of one device")
        .Ins("tensors", kAnyQ | kToken)
        .Outs("results", kAnyQ | kToken)
        .Attr("in_shardings", AttrType::kAnyAttr, "sdy.sharding_per_value")
        .Attr("out_shardings", AttrType::kAnyAttr, "sdy.sharding_per_value")
        .Attr("manual_axes", AttrType::kAnyAttr, "sdy.manual_axes")
        .Regions(1)
        .Is(kIsolated)
        .Asm("<manual-computation>"),
    Row(OpCode::kSdyNamedComputation, "a body with a name")
        .Ins("operands", kAnything)
        .Outs("results", kAnything)
        .Attr("name", AttrType::kString)
        .Opt("in_shardings", AttrType::kAnyAttr, "", "sdy.sharding_per_value")
        .Opt("out_shardings", AttrType::kAnyAttr, "", "sdy.sharding_per_value")
        .Regions(1)
        .Is(kIsolated)
        .Asm("<named-computation>"),
    Row(OpCode::kSdyShardingGroup, "values that are to be sharded alike")
        .In("input", kAnyQ)
        .Attr("group_id", AttrType::kI64)
        .Is(kSideEffect)
        .Asm("$* group_id = @group_id:int {} : operand-types"),
    Row(OpCode::kSdyPropagationBarrier, "identity that shardings do not pass")
        .In("input", kAnyQ)
        .Out("result", kAnyQ)
        .Attr("allowed_direction", AttrType::kEnum, "sdy.propagation_direction")
        .Asm("$* allowed_direction = @allowed_direction:enum {} : type")
        .Infer(InferOperands),
    Row(OpCode::kSdyConstant, "a constant")
        .Out("output", kAnyQ | kStatic)
        .Attr("value", AttrType::kElements)
        .Is(kElementTypeGiven)
        .Asm("<constant>")
        .Infer(InferConstant)
        .Verify(VerifyConstant),
    Row(OpCode::kSdyDataFlowEdge, "identity on a value that a region carries")
        .In("input", kAnything)
        .Out("result", kAnything)
        .Opt("sharding", AttrType::kAnyAttr, "", "sdy.sharding")
        .Asm("$* ?( sharding = @sharding:balanced ) {} : type")
        .Infer(InferOperands),
    Row(OpCode::kSdyReturn, "ends a region of an sdy op and gives its results")
        .Ins("results", kAnything)
        .Is(kTerminator)
        .Asm("<return>"),
    Sharded(OpCode::kSdyAllGather, "gathers along axes of the mesh")
        .Attr("gathering_axes", AttrType::kAnyAttr, "sdy.list_of_axis_ref_lists")
        .Is(kCollective)
        .Asm("@gathering_axes:balanced $* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyAllSlice, "slices along axes of the mesh")
        .Attr("slicing_axes", AttrType::kAnyAttr, "sdy.list_of_axis_ref_lists")
        .Is(kCollective)
        .Asm("@slicing_axes:balanced $* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyAllToAll, "moves axes of the mesh from one dimension to another")
        .Attr("params", AttrType::kAnyAttr, "sdy.all_to_all_param_list")
        .Is(kCollective)
        .Asm("@params:balanced $* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyAllReduce, "sums over axes of the mesh")
        .Attr("reduction_axes", AttrType::kAnyAttr, "sdy.axis_ref_list")
        .Is(kCollective)
        .Asm("@reduction_axes:balanced $* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyReduceScatter, "sums over axes of the mesh and slices")
        .Attr("reduce_scatter_axes", AttrType::kAnyAttr, "sdy.list_of_axis_ref_lists")
        .Is(kCollective)
        .Asm("@reduce_scatter_axes:balanced $* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyCollectivePermute, "changes the order of the mesh's axes")
        .Is(kCollective)
        .Asm("$* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyReplicatedToUnreduced, "makes axes unreduced that were replicated")
        .Attr("axes", AttrType::kAnyAttr, "sdy.axis_ref_list")
        .Is(kCollective)
        .Asm("@axes:balanced $* out_sharding = @out_sharding:balanced {} : type"),
    Sharded(OpCode::kSdyShardedToUnreduced, "makes axes unreduced that sharded a dimension")
        .Attr("axes", AttrType::kAnyAttr, "sdy.list_of_axis_ref_lists")
        .Is(kCollective)
        .Asm("@axes:balanced $* out_sharding = @out_sharding:balanced {} : type"),

    Row(OpCode::kMhloTopk, "the k largest or smallest of the last dimension and their indices")
        .In("operand")
        .Out("values")
        .Out("indices", kSI)
        .Attr("k", AttrType::kI64)
        .Opt("largest", AttrType::kBool, "true")
        .Infer(InferTopK)
        .Asm("( $* , k = @k:int ?( , largest = @largest:bool ) ) {} : arrow"),
    Row(OpCode::kMhloErf, "error function")
        .In("operand", kF)
        .Out("result", kF)
        .Is(kElementwise | kSameTypes)
        .Asm("$* {} : type")
        .Infer(InferSame),
    Row(OpCode::kMhloTan, "tangent")
        .In("operand", kF | kC)
        .Out("result", kF | kC)
        .Is(kElementwise | kSameTypes)
        .Asm("$* {} : type")
        .Infer(InferSame),
};

}  // namespace

absl::Span<const OpRow> OtherDialectRows() { return kOtherDialectRows; }

}  // namespace pjrt::ir
