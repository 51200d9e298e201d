// SPDX-License-Identifier: Apache-2.0
//
// The inference and verification functions that rows of the op table name. Inference runs after the
// row's own checks and reports what keeps it from going on; verification runs after inference and
// the comparison with the declared results.
#ifndef PJRT_CORE_IR_OP_FUNCTIONS_H_
#define PJRT_CORE_IR_OP_FUNCTIONS_H_

#include "absl/status/status.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

#define PJRT_INFER(Name) absl::Status Name(const InferInput& in, TypeList* out)
#define PJRT_VERIFY(Name) absl::Status Name(const Op& op)

// infer_elementwise.cc
PJRT_INFER(InferSame);       // the most specific type of all operands
PJRT_INFER(InferSum);        // the same; quantized by axis if one of them is
PJRT_INFER(InferRealPart);   // operand 0 with the parts of complex elements: abs, real, imag
PJRT_INFER(InferPredicate);  // i1 of operand 0's shape
PJRT_INFER(InferCompare);
PJRT_INFER(InferComplex);
PJRT_INFER(InferSelect);
PJRT_INFER(InferClamp);
PJRT_INFER(InferDequantize);
PJRT_VERIFY(VerifyQuantizedBinary);
PJRT_VERIFY(VerifyCompare);
PJRT_VERIFY(VerifyConvert);
PJRT_VERIFY(VerifyQuantize);
PJRT_VERIFY(VerifyBitcastConvert);

// infer_shapes.cc, verify_shapes.cc
PJRT_INFER(InferConstant);
PJRT_INFER(InferBroadcast);
PJRT_INFER(InferConcatenate);
PJRT_INFER(InferPad);
PJRT_INFER(InferReverse);
PJRT_INFER(InferTranspose);
PJRT_INFER(InferSlice);
PJRT_INFER(InferDynamicSlice);
PJRT_INFER(InferDynamicUpdateSlice);
PJRT_INFER(InferGetDimensionSize);
PJRT_INFER(InferSetDimensionSize);
PJRT_VERIFY(VerifyConstant);
PJRT_VERIFY(VerifyIota);
PJRT_VERIFY(VerifyDynamicIota);
PJRT_VERIFY(VerifyBroadcastInDim);
PJRT_VERIFY(VerifyDynamicBroadcastInDim);
PJRT_VERIFY(VerifyDynamicPad);
// The only result is made of elements of all operands, or each result of those of its own operand:
// they keep their quantization.
PJRT_VERIFY(VerifyMoved);
PJRT_VERIFY(VerifyReshape);
PJRT_VERIFY(VerifyTranspose);
PJRT_VERIFY(VerifyDynamicReshape);
PJRT_VERIFY(VerifyRealDynamicSlice);

// infer_gather_scatter.cc
PJRT_INFER(InferGather);
PJRT_INFER(InferDynamicGather);
PJRT_INFER(InferScatter);
PJRT_INFER(InferTorchIndexSelect);

// infer_contractions.cc, infer_convolution.cc
PJRT_INFER(InferDot);
PJRT_INFER(InferDotGeneral);
PJRT_VERIFY(VerifyDotGeneral);
PJRT_INFER(InferConvolution);
PJRT_VERIFY(VerifyDot);
PJRT_VERIFY(VerifyConvolution);
PJRT_INFER(InferEinsum);

// infer_reductions.cc
PJRT_INFER(InferReduce);
PJRT_INFER(InferReduceWindow);
PJRT_INFER(InferSelectAndScatter);
PJRT_INFER(InferMap);
PJRT_INFER(InferSort);

// infer_linear_algebra.cc
PJRT_INFER(InferBatchNormInference);
PJRT_INFER(InferBatchNormTraining);
PJRT_INFER(InferBatchNormGrad);
PJRT_INFER(InferCholesky);
PJRT_INFER(InferTriangularSolve);
PJRT_INFER(InferFft);
PJRT_VERIFY(VerifyRng);
PJRT_VERIFY(VerifyRngBitGenerator);

// infer_control.cc
PJRT_INFER(InferOperands);  // each result has its operand's type
PJRT_INFER(InferWhile);
PJRT_INFER(InferBranches);  // if, case
PJRT_INFER(InferTuple);
PJRT_INFER(InferGetTupleElement);
PJRT_INFER(InferToken);
PJRT_INFER(InferDeviceId);  // partition_id, replica_id
PJRT_INFER(InferAsyncStart);
PJRT_INFER(InferAsyncDone);
PJRT_VERIFY(VerifyAsyncStart);
PJRT_VERIFY(VerifyComposite);

// verify_devices.cc, verify_custom_call.cc
PJRT_INFER(InferAllReduce);
PJRT_INFER(InferAllToAll);
PJRT_INFER(InferCollectiveBroadcast);
PJRT_INFER(InferCollectiveReduce);
PJRT_INFER(InferCollectivePermute);
PJRT_VERIFY(VerifyAllGather);
PJRT_VERIFY(VerifyAllReduce);
PJRT_VERIFY(VerifyReduceScatter);
PJRT_VERIFY(VerifyInfeed);
PJRT_VERIFY(VerifySend);
PJRT_VERIFY(VerifyRecv);
PJRT_VERIFY(VerifyCustomCall);
PJRT_VERIFY(VerifyRunParallel);

// infer_chlo.cc
PJRT_INFER(InferBroadcastBinary);
PJRT_INFER(InferBroadcastCompare);
PJRT_INFER(InferBroadcastComplex);
PJRT_INFER(InferBroadcastSelect);
PJRT_INFER(InferRaggedDot);
PJRT_INFER(InferScan);
PJRT_INFER(InferTopK);
PJRT_VERIFY(VerifyConstantLike);

#undef PJRT_INFER
#undef PJRT_VERIFY

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_OP_FUNCTIONS_H_
