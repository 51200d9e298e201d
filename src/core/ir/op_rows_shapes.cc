// SPDX-License-Identifier: Apache-2.0
//
// Rows of the ops that make, move and reshape data without computing with it.
#include "src/core/ir/op_functions.h"
#include "src/core/ir/op_rows.h"

namespace pjrt::ir {
namespace {

constexpr TypeSet kDimension = kI | kIndex;                // operands that hold sizes or indices
constexpr TypeSet kShape = kDimension | kRank1 | kStatic;  // a size for each dimension

constexpr OpRow kShapeRows[] = {
    Row(OpCode::kConstant, "a constant")
        .Out("output", kAnyQ | kIndex | kStatic)
        .Attr("value", AttrType::kElements)
        .Is(kElementTypeGiven)
        .Asm("<constant>")
        .Infer(InferConstant)
        .Verify(VerifyConstant),
    Row(OpCode::kIota, "counts up along one dimension")
        .Out("output", kI | kF | kC | kQ | kStatic)
        .Attr("iota_dimension", AttrType::kI64, "nonnegative")
        .Asm("dim = @iota_dimension:int {} : result")
        .Verify(VerifyIota),
    Row(OpCode::kDynamicIota, "iota of a shape given by an operand")
        .In("output_shape", kShape)
        .Out("result", kI | kF | kC | kQ)
        .Attr("iota_dimension", AttrType::kI64, "nonnegative")
        .Is(kShapeOperands)
        .Asm("$* , dim = @iota_dimension:int {} : functional")
        .Verify(VerifyDynamicIota),
    Row(OpCode::kBitcastConvert,
        "the same bits as another element type; widths may differ in the last dimension")
        .In("operand", kAnyQ)
        .Out("result", kAnyQ)
        .Asm("$* {} : functional")
        .Verify(VerifyBitcastConvert),
    Row(OpCode::kBroadcast, "repeats along new leading dimensions")
        .In("operand")
        .Out("result")
        .Attr("broadcast_sizes", AttrType::kI64Array)
        .Is(kDeprecated)
        .Asm("$* , sizes = @broadcast_sizes:ints {} : functional")
        .Infer(InferBroadcast)
        .Verify(VerifyMoved),
    Row(OpCode::kBroadcastInDim,
        "maps dimensions to those of the result, expands those of size 1 and repeats")
        .In("operand", kAnyQ)
        .Out("result", kAnyQ | kBounded)
        .Attr("broadcast_dimensions", AttrType::kI64Array)
        .Asm("$* , dims = @broadcast_dimensions:ints {} : functional")
        .Verify(VerifyBroadcastInDim),
    Row(OpCode::kDynamicBroadcastInDim, "broadcast_in_dim to a shape given by an operand")
        .In("operand", kAnyQ)
        .In("output_dimensions", kShape)
        .Out("result", kAnyQ)
        .Attr("broadcast_dimensions", AttrType::kI64Array)
        .Opt("known_expanding_dimensions", AttrType::kI64Array)
        .Opt("known_nonexpanding_dimensions", AttrType::kI64Array)
        .Is(kShapeOperands)
        .Asm("$* , dims = @broadcast_dimensions:ints {} : functional")
        .Verify(VerifyDynamicBroadcastInDim),
    Row(OpCode::kConcatenate, "joins along one dimension")
        .Ins("inputs")
        .Out("result")
        .Attr("dimension", AttrType::kI64, "nonnegative")
        .Asm("$* , dim = @dimension:int {} : functional")
        .Infer(InferConcatenate)
        .Verify(VerifyMoved),
    Row(OpCode::kPad, "adds or removes elements at the edges and between elements")
        .In("operand")
        .In("padding_value", kAny | kRank0)
        .Out("result")
        .Attr("edge_padding_low", AttrType::kI64Array)
        .Attr("edge_padding_high", AttrType::kI64Array)
        .Attr("interior_padding", AttrType::kI64Array)
        .Asm("$* , low = @edge_padding_low:ints , high = @edge_padding_high:ints , interior = "
             "@interior_padding:ints {} : functional")
        .Infer(InferPad)
        .Verify(VerifyMoved),
    Row(OpCode::kDynamicPad, "pad by amounts given by operands")
        .In("operand")
        .In("padding_value", kAny | kRank0)
        .In("edge_padding_low", kShape)
        .In("edge_padding_high", kShape)
        .In("interior_padding", kShape)
        .Out("result")
        .Is(kShapeOperands)
        .Asm("$* {} : functional")
        .Verify(VerifyDynamicPad),
    Row(OpCode::kReshape, "the same elements in another shape")
        .In("operand", kAnyQ)
        .Out("result", kAnyQ | kBounded)
        .Asm("$* {} : functional")
        .Verify(VerifyReshape),
    Row(OpCode::kDynamicReshape, "reshape to a shape given by an operand")
        .In("operand", kAnyQ)
        .In("output_shape", kShape)
        .Out("result", kAnyQ)
        .Is(kShapeOperands)
        .Asm("$* {} : functional")
        .Verify(VerifyDynamicReshape),
    Row(OpCode::kReverse, "reverses the order along dimensions")
        .In("operand")
        .Out("result")
        .Attr("dimensions", AttrType::kI64Array)
        .Asm("$* , dims = @dimensions:ints {} : type")
        .Infer(InferReverse)
        .Verify(VerifyMoved),
    Row(OpCode::kTranspose, "permutes dimensions")
        .In("operand", kAnyQ)
        .Out("result", kAnyQ)
        .Attr("permutation", AttrType::kI64Array)
        .Asm("$* , dims = @permutation:ints {} : functional")
        .Infer(InferTranspose)
        .Verify(VerifyTranspose),
    Row(OpCode::kSlice, "the part between start and limit, by strides")
        .In("operand")
        .Out("result")
        .Attr("start_indices", AttrType::kI64Array)
        .Attr("limit_indices", AttrType::kI64Array)
        .Attr("strides", AttrType::kI64Array)
        .Asm("<slice>")
        .Infer(InferSlice)
        .Verify(VerifyMoved),
    Row(OpCode::kDynamicSlice,
        "a part of given size from a start given by operands, clamped into the operand")
        .In("operand")
        .Ins("start_indices", kI | kRank0)
        .Out("result")
        .Attr("slice_sizes", AttrType::kI64Array)
        .Asm("$* , sizes = @slice_sizes:ints {} : functional")
        .Infer(InferDynamicSlice)
        .Verify(VerifyMoved),
    Row(OpCode::kDynamicUpdateSlice,
        "the operand with a part replaced, at a start given by operands")
        .In("operand")
        .In("update")
        .Ins("start_indices", kI | kRank0)
        .Out("result")
        .Asm("$* {} : functional")
        .Infer(InferDynamicUpdateSlice)
        .Verify(VerifyMoved),
    Row(OpCode::kRealDynamicSlice, "slice by starts, limits and strides given by operands")
        .In("operand")
        .In("start_indices", kShape)
        .In("limit_indices", kShape)
        .In("strides", kShape)
        .Out("result")
        .Is(kShapeOperands | kDeprecated)
        .Asm("$* {} : functional")
        .Verify(VerifyRealDynamicSlice),
    Row(OpCode::kGather, "collects slices at indices given by an operand")
        .In("operand")
        .In("start_indices", kDimension)
        .Out("result")
        .Attr("dimension_numbers", AttrType::kStruct, "stablehlo.gather")
        .Attr("slice_sizes", AttrType::kI64Array)
        .Opt("indices_are_sorted", AttrType::kBool, "false")
        .Infer(InferGather)
        .Verify(VerifyMoved),
    Row(OpCode::kDynamicGather, "gather with slice sizes given by an operand")
        .In("operand")
        .In("start_indices", kDimension)
        .In("slice_sizes", kShape)
        .Out("result")
        .Attr("dimension_numbers", AttrType::kStruct, "stablehlo.gather")
        .Opt("indices_are_sorted", AttrType::kBool, "false")
        .Is(kShapeOperands)
        .Infer(InferDynamicGather)
        .Verify(VerifyMoved),
    Row(OpCode::kScatter, "combines updates into the inputs at indices given by an operand")
        .Ins("inputs")
        .In("scatter_indices", kDimension)
        .Ins("updates")
        .Outs("results")
        .Attr("scatter_dimension_numbers", AttrType::kStruct, "stablehlo.scatter")
        .Opt("indices_are_sorted", AttrType::kBool, "false")
        .Opt("unique_indices", AttrType::kBool, "false")
        .Regions(1)
        .Infer(InferScatter),
    Row(OpCode::kTorchIndexSelect, "gathers whole slices along one dimension")
        .In("operand")
        .In("index", kI)
        .Out("result")
        .Attr("dim", AttrType::kI64)
        .Attr("batch_dims", AttrType::kI64)
        .Is(kDeprecated)
        .Infer(InferTorchIndexSelect),
    Row(OpCode::kGetDimensionSize, "the size of a dimension at run time")
        .In("operand", kAnyQ)
        .Out("result", kSI)
        .Attr("dimension", AttrType::kI64, "nonnegative")
        .Asm("$* , dim = @dimension:int {} : functional")
        .Infer(InferGetDimensionSize),
    Row(OpCode::kSetDimensionSize, "gives a bounded dimension its size")
        .In("operand")
        .In("size", kSI | kRank0)
        .Out("result")
        .Attr("dimension", AttrType::kI64, "nonnegative")
        .Asm("$* , dim = @dimension:int {} : functional")
        .Infer(InferSetDimensionSize),
};

}  // namespace

absl::Span<const OpRow> ShapeRows() { return kShapeRows; }

}  // namespace pjrt::ir
