// SPDX-License-Identifier: Apache-2.0
//
// Rows of control flow, tuples, tokens, calls out, and of the ops that talk to other devices.
#include "src/core/ir/op_functions.h"
#include "src/core/ir/op_rows.h"

namespace pjrt::ir {
namespace {

constexpr TypeSet kCarried = kAnyQ | kToken | kTuple | kMemRef | kIndex;

constexpr OpRow kControl[] = {
    Row(OpCode::kWhile, "runs the body as long as the condition holds")
        .Ins("operand", kCarried)
        .Outs("results", kCarried)
        .Regions(2)
        .Is(kControlFlow)
        .Asm("<while>")
        .Infer(InferWhile),
    Row(OpCode::kIf, "runs one of two branches")
        .In("pred", kB | kRank0)
        .Outs("results", kCarried)
        .Regions(2)
        .Is(kControlFlow)
        .Infer(InferBranches),
    Row(OpCode::kCase, "runs the branch of an index, the last one when it is out of range")
        .In("index", kSI | kRank0)
        .Outs("results", kCarried)
        .Regions(1, -1)
        .Is(kControlFlow)
        .Infer(InferBranches),
    Row(OpCode::kComposite, "an op made of others, which its decomposition spells out")
        .Ins("inputs", kAnything)
        .Outs("results", kAnything)
        .Attr("name", AttrType::kString)
        .Opt("composite_attributes", AttrType::kDict, "{}")
        .Attr("decomposition", AttrType::kSymbol)
        .Opt("version", AttrType::kI32, "0")
        .Regions(0, -1)
        .Asm("<composite>")
        .Verify(VerifyComposite),
    Row(OpCode::kCustomCall, "calls a function that the device or the application provides")
        .Ins("inputs", kAnything)
        .Outs("results", kAnything)
        .Attr("call_target_name", AttrType::kString)
        .Opt("has_side_effect", AttrType::kBool, "false")
        .Opt("backend_config", AttrType::kAnyAttr)
        .Opt("api_version", AttrType::kI32, "1")
        .Opt("called_computations", AttrType::kArray, "[]")
        .Opt("operand_layouts", AttrType::kArray)
        .Opt("result_layouts", AttrType::kArray)
        .Opt("output_operand_aliases", AttrType::kArray, "[]")
        .Opt("result_tilings", AttrType::kArray)
        .Asm("<custom-call>")
        .Verify(VerifyCustomCall),
    Row(OpCode::kReturn, "ends a region and gives its results")
        .Ins("results", kAnything)
        .Is(kTerminator)
        .Asm("<return>"),
    Row(OpCode::kOptimizationBarrier, "identity that no computation moves across")
        .Ins("operand", kCarried)
        .Outs("result", kCarried)
        .Asm("{} <barrier>")
        .Infer(InferOperands)
        .Verify(VerifyMoved),
    Row(OpCode::kTuple, "makes a tuple")
        .Ins("val", kAnything)
        .Out("result", kTuple)
        .Asm("$* {} : <tuple-type>")
        .Infer(InferTuple),
    Row(OpCode::kGetTupleElement, "takes an element of a tuple")
        .In("operand", kTuple)
        .Out("result", kAnything)
        .Attr("index", AttrType::kI32, "nonnegative")
        .Asm("$* [ @index:int ] {} : functional")
        .Infer(InferGetTupleElement),
    Row(OpCode::kAfterAll, "joins tokens")
        .Ins("inputs", kToken)
        .Out("result", kToken)
        .Asm("$* {} : type")
        .Infer(InferToken),
    Row(OpCode::kCreateToken, "makes a token")
        .Out("output", kToken)
        .Is(kDeprecated)
        .Asm("{} : result")
        .Infer(InferToken),
    Row(OpCode::kAsyncStart, "starts an op whose result async_done waits for")
        .Ins("operands", kAnyQ | kToken)
        .Out("result", kFuture)
        .Regions(1)
        .Is(kIsolated | kSideEffect)
        .Infer(InferAsyncStart)
        .Verify(VerifyAsyncStart),
    Row(OpCode::kAsyncDone, "waits for what async_start started")
        .In("operand", kFuture)
        .Outs("results", kAnyQ | kToken)
        .Is(kSideEffect)
        .Infer(InferAsyncDone),
    Row(OpCode::kInfeed, "reads what the host put into the infeed")
        .In("token", kToken)
        .Outs("results", kAnyQ | kToken | kTuple | kStatic)
        .Opt("infeed_config", AttrType::kString, "\"\"")
        .Opt("layout", AttrType::kArray)
        .Is(kSideEffect)
        .Verify(VerifyInfeed),
    Row(OpCode::kOutfeed, "hands data to the host through the outfeed")
        .Ins("inputs", kAnyQ | kTuple)
        .In("token", kToken)
        .Out("result", kToken)
        .Opt("outfeed_config", AttrType::kString, "\"\"")
        .Is(kSideEffect)
        .Infer(InferToken),
    Row(OpCode::kSend, "sends to another device or the host")
        .Ins("inputs", kAnyQ)
        .In("token", kToken)
        .Out("result", kToken)
        .Attr("channel_handle", AttrType::kStruct, "stablehlo.channel_handle")
        .Opt("is_host_transfer", AttrType::kBool, "false")
        .Opt("source_target_pairs", AttrType::kAnyAttr)
        .Is(kSideEffect | kCollective)
        .Infer(InferToken)
        .Verify(VerifySend),
    Row(OpCode::kRecv, "receives from another device or the host")
        .In("token", kToken)
        .Outs("results", kAnyQ | kToken | kStatic)
        .Attr("channel_handle", AttrType::kStruct, "stablehlo.channel_handle")
        .Opt("is_host_transfer", AttrType::kBool, "false")
        .Opt("source_target_pairs", AttrType::kAnyAttr)
        .Is(kSideEffect | kCollective)
        .Verify(VerifyRecv),
};

// `replica_groups` is dense<...> : tensor<NxMxi64> or #stablehlo.replica_group_mesh_axes<...>.
constexpr OpRow Grouped(OpRow row) {
  return row.Attr("replica_groups", AttrType::kAnyAttr)
      .Opt("channel_handle", AttrType::kStruct, "", "stablehlo.channel_handle")
      .Is(kCollective);
}

constexpr OpRow kCollectives[] = {
    Grouped(Row(OpCode::kAllGather, "concatenates what the devices of a group hold")
                .Ins("operands")
                .Outs("results")
                .Attr("all_gather_dim", AttrType::kI64, "nonnegative"))
        .Opt("use_global_device_ids", AttrType::kUnit)
        .Verify(VerifyAllGather),
    Grouped(Row(OpCode::kAllReduce, "folds what the devices of a group hold")
                .Ins("operands")
                .Outs("results")
                .Regions(1))
        .Opt("use_global_device_ids", AttrType::kUnit)
        .Infer(InferAllReduce)
        .Verify(VerifyAllReduce),
    Grouped(Row(OpCode::kAllToAll, "splits, exchanges within the group, concatenates")
                .Ins("operands")
                .Outs("results")
                .Attr("split_dimension", AttrType::kI64, "nonnegative")
                .Attr("concat_dimension", AttrType::kI64, "nonnegative")
                .Attr("split_count", AttrType::kI64, "positive"))
        .Infer(InferAllToAll),
    Grouped(
        Row(OpCode::kCollectiveBroadcast, "gives each device of a group what the first one holds")
            .Ins("operands")
            .Outs("results"))
        .Opt("has_dynamic_root", AttrType::kUnit)
        .Infer(InferCollectiveBroadcast),
    Grouped(
        Row(OpCode::kCollectiveReduce, "folds what the devices of a group hold onto one of them")
            .Ins("operands")
            .Outs("results")
            .Regions(1))
        .Opt("use_global_device_ids", AttrType::kUnit)
        .Opt("has_dynamic_root", AttrType::kUnit)
        .Infer(InferCollectiveReduce)
        .Verify(VerifyAllReduce),
    Row(OpCode::kCollectivePermute, "sends from device to device by pairs")
        .In("operand")
        .Out("result")
        .Attr("source_target_pairs", AttrType::kAnyAttr)
        .Opt("channel_handle", AttrType::kStruct, "", "stablehlo.channel_handle")
        .Is(kCollective)
        .Infer(InferCollectivePermute),
    Grouped(Row(OpCode::kReduceScatter,
                "folds what the devices of a group hold and splits the result among them")
                .In("operand")
                .Out("result")
                .Attr("scatter_dimension", AttrType::kI64, "nonnegative")
                .Regions(1))
        .Opt("use_global_device_ids", AttrType::kUnit)
        .Verify(VerifyReduceScatter),
    Row(OpCode::kCrossReplicaSum, "all_reduce with a sum")
        .In("operand")
        .Out("result")
        .Attr("replica_groups", AttrType::kAnyAttr)
        .Is(kCollective | kDeprecated)
        .Infer(InferOperands),
    Row(OpCode::kPartitionId, "the partition that runs")
        .Out("result", kUI)
        .Asm("{} : result")
        .Infer(InferDeviceId),
    Row(OpCode::kReplicaId, "the replica that runs")
        .Out("result", kUI)
        .Asm("{} : result")
        .Infer(InferDeviceId),
};

}  // namespace

absl::Span<const OpRow> ControlRows() { return kControl; }
absl::Span<const OpRow> CollectiveRows() { return kCollectives; }

}  // namespace pjrt::ir
