// SPDX-License-Identifier: Apache-2.0
//
// What the files of EvaluateOp share: each family of ops in its own, tied together by the table in
// evaluate.cc.
#ifndef PJRT_CORE_PASSES_EVALUATE_H_
#define PJRT_CORE_PASSES_EVALUATE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// A constant's elements as Attribute::raw_data() lays them out: all of them, or one for all.
struct ConstantView {
  Type type;
  absl::Span<const char> bytes;
  bool is_splat = false;

  // Null (no type) for an attribute that is no dense constant with data.
  static ConstantView From(Attribute attr);
};

// One op to evaluate, its operands known, and where the result goes. Types are static.
struct Evaluation {
  const Op* op = nullptr;
  std::vector<ConstantView> operands;
  Type result;
  size_t element_bytes = 0;  // of the result
  int64_t max_elements = 0;
  // What the function makes: one element stands for all of them.
  std::vector<char> bytes;

  // Room for all elements of the result, zeros. Null when it has more than `max_elements`.
  char* Allocate();
  // Room for one element that stands for all, whatever their number.
  char* AllocateSplat();
  bool AllSplat() const;
};

// False when the op cannot be evaluated: an element type, or a value, for which a device might
// compute other bits.
using EvaluateFn = bool (*)(Evaluation& e);

// The element type that arithmetic on `element` is done in: that of the runtime, S64 for index.
// INVALID for what nothing here computes with (quantized and opaque types among them).
PrimitiveType ArithmeticType(Type element);

// evaluate_elements.cc. Elementwise functions, compare, select, clamp, convert; reduce of integers.
bool EvaluateElementwise(Evaluation& e);
bool EvaluateCompare(Evaluation& e);
bool EvaluateSelect(Evaluation& e);
bool EvaluateClamp(Evaluation& e);
bool EvaluateConvert(Evaluation& e);
bool EvaluateReduce(Evaluation& e);
// Whether EvaluateElementwise knows the op.
bool IsEvaluatedElementwise(OpCode code);

// evaluate_moves.cc. What moves elements and computes nothing.
bool EvaluateReshape(Evaluation& e);
bool EvaluateBitcastConvert(Evaluation& e);
bool EvaluateBroadcastInDim(Evaluation& e);
bool EvaluateTranspose(Evaluation& e);
bool EvaluateSlice(Evaluation& e);
bool EvaluateDynamicSlice(Evaluation& e);
bool EvaluateDynamicUpdateSlice(Evaluation& e);
bool EvaluateReverse(Evaluation& e);
bool EvaluateConcatenate(Evaluation& e);
bool EvaluatePad(Evaluation& e);
bool EvaluateGather(Evaluation& e);
bool EvaluateIota(Evaluation& e);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EVALUATE_H_
