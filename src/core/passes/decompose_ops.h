// SPDX-License-Identifier: Apache-2.0
//
// What the files of DecomposeOps share.
#ifndef PJRT_CORE_PASSES_DECOMPOSE_OPS_H_
#define PJRT_CORE_PASSES_DECOMPOSE_OPS_H_

#include "pjrt/ir/module.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

// Each writes ops that compute what `op` does, replaces all uses of its results and says true; or
// says false and changes nothing that the program computes.

// decompose_batch_norm.cc
bool DecomposeBatchNormInference(Emitter& emit, Op* op);
bool DecomposeBatchNormTraining(Emitter& emit, Op* op);
bool DecomposeBatchNormGrad(Emitter& emit, Op* op);

// decompose_contractions.cc
bool DecomposeDot(Emitter& emit, Op* op);
// A dot_general that sums nothing: its contracted dimensions have one element, or there are none.
bool DecomposeOuterProduct(Emitter& emit, Op* op);
bool DecomposeEinsum(Emitter& emit, Op* op);  // unary_einsum as well

// The others are in decompose_ops.cc.

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_DECOMPOSE_OPS_H_
