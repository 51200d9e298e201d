// SPDX-License-Identifier: Apache-2.0
//
// The rules of Simplify, by family. A rule looks at one op and gives the values that take the place
// of its results, or none to leave it as it is. New ops go before the op, through `emit`. The
// values must be the same bit for bit.
#ifndef PJRT_CORE_PASSES_SIMPLIFY_H_
#define PJRT_CORE_PASSES_SIMPLIFY_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "pjrt/ir/module.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

using Replacement = absl::InlinedVector<Value*, 2>;
using SimplifyRule = Replacement (*)(const Op& op, Emitter& emit);

// `value` in the place of the only result; null leaves the op as it is.
inline Replacement One(Value* value) {
  return value == nullptr ? Replacement() : Replacement({value});
}

// True for a constant all of whose elements are `number`, as the element type rounds or wraps it; a
// zero's sign counts.
bool IsSplatOf(const Value* value, double number);
bool IsSplatOfInt(const Value* value, int64_t number);
// The integer or boolean that all elements of a constant are; nullopt for a ui64 above int64_t.
std::optional<int64_t> SplatInt(const Value* value);
// The same of a constant of one element.
std::optional<int64_t> ScalarInt(const Value* value);
// The op of that code which makes `value`, or null.
const Op* MadeBy(const Value* value, OpCode code);
// True for the same value, and for constants of the same bits.
bool AreEqual(const Value* a, const Value* b);
// The comparison in that direction which makes `predicate`, or null.
const Op* ComparisonIn(const Value* predicate, ComparisonDirection direction);

// --- simplify_elementwise.cc ---
Replacement SimplifyAdd(const Op& op, Emitter& emit);
Replacement SimplifySubtract(const Op& op, Emitter& emit);
Replacement SimplifyMultiply(const Op& op, Emitter& emit);
Replacement SimplifyDivide(const Op& op, Emitter& emit);
Replacement SimplifyRemainder(const Op& op, Emitter& emit);
Replacement SimplifyPower(const Op& op, Emitter& emit);
Replacement SimplifyAnd(const Op& op, Emitter& emit);
Replacement SimplifyOr(const Op& op, Emitter& emit);
Replacement SimplifyXor(const Op& op, Emitter& emit);
Replacement SimplifyShift(const Op& op, Emitter& emit);
Replacement SimplifyExtremum(const Op& op, Emitter& emit);
Replacement SimplifyInvolution(const Op& op, Emitter& emit);
Replacement SimplifyIdempotent(const Op& op, Emitter& emit);
Replacement SimplifyCompare(const Op& op, Emitter& emit);
Replacement SimplifySelect(const Op& op, Emitter& emit);
Replacement SimplifyConvert(const Op& op, Emitter& emit);
Replacement SimplifyComplexPart(const Op& op, Emitter& emit);
Replacement SimplifyComplex(const Op& op, Emitter& emit);

// --- simplify_floor_division.cc ---
// Of a conjunction that says that a remainder is negative.
Replacement SimplifyNegativeRemainder(const Op& op, Emitter& emit);
// Of a selection.
Replacement SimplifyFloorDivision(const Op& op, Emitter& emit);

// --- simplify_interleaved.cc ---
// Of an operation on two arrays of the same shape.
Replacement SimplifyInterleaved(const Op& op, Emitter& emit);

// --- simplify_shapes.cc ---
// Of a constant with one value everywhere: the constant of that value in `type`, or null.
Value* Respread(const Value* value, Type type, Emitter& emit);
Replacement SimplifyReshape(const Op& op, Emitter& emit);
Replacement SimplifyTranspose(const Op& op, Emitter& emit);
Replacement SimplifyBroadcast(const Op& op, Emitter& emit);
Replacement SimplifySlice(const Op& op, Emitter& emit);
Replacement SimplifyReverse(const Op& op, Emitter& emit);
Replacement SimplifyPad(const Op& op, Emitter& emit);
Replacement SimplifyConcatenate(const Op& op, Emitter& emit);
Replacement SimplifyDynamicSlice(const Op& op, Emitter& emit);
Replacement SimplifyDynamicUpdateSlice(const Op& op, Emitter& emit);
Replacement SimplifySort(const Op& op, Emitter& emit);
Replacement SimplifyReduce(const Op& op, Emitter& emit);
Replacement SimplifyGetTupleElement(const Op& op, Emitter& emit);

// --- scatter_slice.cc ---
// One window is a slice.
Replacement SimplifyGather(const Op& op, Emitter& emit);

// --- simplify_control.cc. These move ops out of regions ---
Replacement SimplifyIf(const Op& op, Emitter& emit);
Replacement SimplifyCase(const Op& op, Emitter& emit);
Replacement SimplifyWhile(const Op& op, Emitter& emit);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_SIMPLIFY_H_
