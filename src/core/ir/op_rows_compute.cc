// SPDX-License-Identifier: Apache-2.0
//
// Rows of the ops that contract, reduce, sort, transform and draw random numbers.
#include "src/core/ir/op_functions.h"
#include "src/core/ir/op_rows.h"

namespace pjrt::ir {
namespace {

constexpr TypeSet kVector = kF | kQ | kRank1;

constexpr OpRow kComputeRows[] = {
    Row(OpCode::kDot, "product of vectors and matrices")
        .In("lhs")
        .In("rhs", kAny | kQA)
        .Out("result", kAny | kQA)
        .Opt("precision_config", AttrType::kEnumArray, "DEFAULT", "stablehlo.precision")
        .Is(kDeprecated | kElementTypeGiven)
        .Asm("$* ?( , precision = @precision_config:enums ) {} : functional")
        .Infer(InferDot)
        .Verify(VerifyDot),
    Row(OpCode::kDotGeneral, "sums of products over contracting dimensions, per batch")
        .In("lhs")
        .In("rhs", kAny | kQA)
        .Out("result", kAny | kQA)
        .Attr("dot_dimension_numbers", AttrType::kStruct, "stablehlo.dot")
        .Opt("precision_config", AttrType::kEnumArray, "DEFAULT", "stablehlo.precision")
        .Opt("algorithm", AttrType::kStruct, "", "stablehlo.dot_algorithm")
        .Is(kElementTypeGiven)
        .Asm("<dot-general>")
        .Infer(InferDotGeneral)
        .Verify(VerifyDotGeneral),
    Row(OpCode::kEinsum, "einsum of two operands")
        .In("lhs")
        .In("rhs")
        .Out("result")
        .Attr("einsum_config", AttrType::kString)
        .Is(kDeprecated | kElementTypeGiven)
        .Asm("$* , config = @einsum_config:string {} : functional")
        .Infer(InferEinsum),
    Row(OpCode::kUnaryEinsum, "einsum of one operand")
        .In("operand")
        .Out("result")
        .Attr("einsum_config", AttrType::kString)
        .Is(kDeprecated)
        .Asm("$* , config = @einsum_config:string {} : functional")
        .Infer(InferEinsum),
    Row(OpCode::kConvolution, "dot products of windows of lhs with rhs")
        .In("lhs")
        .In("rhs", kAny | kQA)
        .Out("result", kAny | kQA)
        .Opt("window_strides", AttrType::kI64Array, "ones")
        .Opt("padding", AttrType::kI64Matrix, "zeros")
        .Opt("lhs_dilation", AttrType::kI64Array, "ones")
        .Opt("rhs_dilation", AttrType::kI64Array, "ones")
        .Opt("window_reversal", AttrType::kBoolArray, "false")
        .Attr("dimension_numbers", AttrType::kStruct, "stablehlo.conv")
        .Attr("feature_group_count", AttrType::kI64, "positive")
        .Attr("batch_group_count", AttrType::kI64, "positive")
        .Opt("precision_config", AttrType::kEnumArray, "DEFAULT", "stablehlo.precision")
        .Is(kElementTypeGiven)
        .Asm("<convolution>")
        .Infer(InferConvolution)
        .Verify(VerifyConvolution),
    Row(OpCode::kDynamicConv, "convolution with padding given by an operand")
        .In("lhs")
        .In("rhs", kAny | kQA)
        .In("padding", kI)
        .Out("result", kAny | kQA)
        .Opt("window_strides", AttrType::kI64Array, "ones")
        .Opt("lhs_dilation", AttrType::kI64Array, "ones")
        .Opt("rhs_dilation", AttrType::kI64Array, "ones")
        .Opt("window_reversal", AttrType::kBoolArray, "false")
        .Attr("dimension_numbers", AttrType::kStruct, "stablehlo.conv")
        .Attr("feature_group_count", AttrType::kI64, "positive")
        .Attr("batch_group_count", AttrType::kI64, "positive")
        .Opt("precision_config", AttrType::kEnumArray, "DEFAULT", "stablehlo.precision")
        .Is(kShapeOperands | kElementTypeGiven)
        .Infer(InferConvolution)
        .Verify(VerifyConvolution),

    Row(OpCode::kReduce, "folds dimensions with the body")
        .Ins("inputs")
        .Ins("init_values")
        .Outs("results")
        .Attr("dimensions", AttrType::kI64Array)
        .Regions(1)
        .Asm("<reduce>")
        .Infer(InferReduce),
    Row(OpCode::kReduceWindow, "folds each window with the body")
        .Ins("inputs")
        .Ins("init_values")
        .Outs("results")
        .Attr("window_dimensions", AttrType::kI64Array)
        .Opt("window_strides", AttrType::kI64Array, "ones")
        .Opt("base_dilations", AttrType::kI64Array, "ones")
        .Opt("window_dilations", AttrType::kI64Array, "ones")
        .Opt("padding", AttrType::kI64Matrix, "zeros")
        .Regions(1)
        .Infer(InferReduceWindow),
    Row(OpCode::kSelectAndScatter, "scatters source to the element that each window selects")
        .In("operand")
        .In("source")
        .In("init_value")
        .Out("result")
        .Opt("window_dimensions", AttrType::kI64Array)
        .Opt("window_strides", AttrType::kI64Array, "ones")
        .Opt("padding", AttrType::kI64Matrix, "zeros")
        .Regions(2)
        .Infer(InferSelectAndScatter),
    Row(OpCode::kMap, "applies the body to each element of the inputs")
        .Ins("inputs")
        .Out("result")
        .Attr("dimensions", AttrType::kI64Array)
        .Regions(1)
        .Infer(InferMap),
    Row(OpCode::kSort, "sorts the inputs together along one dimension by the comparator")
        .Ins("inputs")
        .Outs("results")
        .Opt("dimension", AttrType::kI64, "-1")
        .Opt("is_stable", AttrType::kBool, "false")
        .Regions(1)
        .Infer(InferSort)
        .Verify(VerifyMoved),

    Row(OpCode::kBatchNormGrad, "gradients of batch_norm_training")
        .In("operand", kF | kQ)
        .In("scale", kVector)
        .In("mean", kVector)
        .In("variance", kVector)
        .In("grad_output", kF | kQ)
        .Out("grad_operand", kF | kQ)
        .Out("grad_scale", kVector)
        .Out("grad_offset", kVector)
        .Attr("epsilon", AttrType::kF32)
        .Attr("feature_index", AttrType::kI64, "nonnegative")
        .Infer(InferBatchNormGrad),
    Row(OpCode::kBatchNormInference, "normalizes with given mean and variance")
        .In("operand", kF | kQ)
        .In("scale", kVector)
        .In("offset", kVector)
        .In("mean", kVector)
        .In("variance", kVector)
        .Out("result", kF | kQ)
        .Attr("epsilon", AttrType::kF32)
        .Attr("feature_index", AttrType::kI64, "nonnegative")
        .Infer(InferBatchNormInference),
    Row(OpCode::kBatchNormTraining, "normalizes and gives the batch's mean and variance")
        .In("operand", kF | kQ)
        .In("scale", kVector)
        .In("offset", kVector)
        .Out("output", kF | kQ)
        .Out("batch_mean", kVector)
        .Out("batch_var", kVector)
        .Attr("epsilon", AttrType::kF32)
        .Attr("feature_index", AttrType::kI64, "nonnegative")
        .Infer(InferBatchNormTraining),

    Row(OpCode::kCholesky, "Cholesky factor of symmetric or Hermitian matrices")
        .In("a", kF | kC | kQ)
        .Out("result", kF | kC | kQ)
        .Opt("lower", AttrType::kBool, "false")
        .Asm("$* ?( , lower = @lower:bool ) {} : type")
        .Infer(InferCholesky),
    Row(OpCode::kTriangularSolve, "solves systems with triangular matrices")
        .In("a", kF | kC | kQ)
        .In("b", kF | kC | kQ)
        .Out("result", kF | kC | kQ)
        .Attr("left_side", AttrType::kBool)
        .Attr("lower", AttrType::kBool)
        .Attr("unit_diagonal", AttrType::kBool)
        .Attr("transpose_a", AttrType::kEnum, "stablehlo.transpose")
        .Infer(InferTriangularSolve),
    Row(OpCode::kFft, "discrete Fourier transform over the last 1 to 3 dimensions")
        .In("operand", kF | kC)
        .Out("result", kF | kC)
        .Attr("fft_type", AttrType::kEnum, "stablehlo.fft_type")
        .Attr("fft_length", AttrType::kI64Array)
        .Asm("$* , type = @fft_type:enum , length = @fft_length:ints {} : functional")
        .Infer(InferFft),

    Row(OpCode::kRng, "random numbers from a state that the device hides")
        .In("a", kB | kI | kF | kRank0)
        .In("b", kB | kI | kF | kRank0)
        .In("shape", kI | kIndex | kRank1 | kStatic)
        .Out("result", kB | kI | kF)
        .Attr("rng_distribution", AttrType::kEnum, "stablehlo.rng_distribution")
        .Is(kSideEffect | kShapeOperands)
        .Asm("$* , distribution = @rng_distribution:enum {} : functional")
        .Verify(VerifyRng),
    Row(OpCode::kRngBitGenerator, "random bits from a state, and the next state")
        .In("initial_state", kI | kF)
        .Out("output_state", kI | kF)
        .Out("output", kI | kF | kStatic)
        .Attr("rng_algorithm", AttrType::kEnum, "stablehlo.rng_algorithm")
        .Asm("$* , algorithm = @rng_algorithm:enum {} : functional")
        .Verify(VerifyRngBitGenerator),
};

}  // namespace

absl::Span<const OpRow> ComputeRows() { return kComputeRows; }

}  // namespace pjrt::ir
