// SPDX-License-Identifier: Apache-2.0
//
// Passes: rewrites of a program that pay on every backend. Each takes a verified module and leaves
// a verified module that computes the same values, bit for bit. A pass works in place, allocates in
// the module's arena, and takes time linear in the number of ops.
//
// StandardPasses() is the pipeline that a backend runs before it lowers a program:
//
//   PJRT_RETURN_IF_ERROR(ir::RunPasses(module.get(), ir::StandardPasses()));
#ifndef PJRT_IR_PASSES_H_
#define PJRT_IR_PASSES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// A pass by name. `run` may be called by several threads at once on different modules.
struct Pass {
  absl::string_view name;     // "inline-calls": what `pjrt inspect --after` takes
  absl::string_view summary;  // one line
  absl::Status (*run)(Module* module);
};

// The passes of the pipeline in the order in which they run.
absl::Span<const Pass> StandardPasses();

// Runs `passes` one after the other. The first error ends it, and leaves the module fit for nothing
// but destruction.
absl::Status RunPasses(Module* module, absl::Span<const Pass> passes);

// Replaces each func.call, and each stablehlo.composite, reachable from the entry function by the
// body of what it calls, and removes the functions that nothing names any more. RESOURCE_EXHAUSTED
// when the result would have more than `max_ops` ops: calls of calls can double a program at each
// level.
absl::Status InlineCalls(Module* module, int64_t max_ops = 4 << 20);

// Replaces each op of CHLO by StableHLO ops that compute the same: special functions within 3 units
// in the last place of f32 and f64 (of lgamma, digamma, zeta and polygamma where the argument is
// not close to a zero of the function among negative arguments), narrower floats in f32 or f64 and
// rounded once; top_k, scan, ragged_dot; ops that broadcast by themselves. Ops on dynamic shapes,
// and on element types that have no expansion, stay as they are. Never fails on a verified module.
absl::Status ExpandChlo(Module* module);

// Replaces quantized types by their storage types and ops on them by ops on stored integers and
// floats, which compute what the specification says, section "Quantized types": per tensor, per
// axis and per block.
//
// * Quantizing is round_nearest_even(clamp(min, x / scale + zero_point, max)), each step in the
//   expressed type; NaN becomes 0, or the end of the stored range next to it. Dequantizing is
//   (stored - zero_point) * scale with an exact difference. Changing the quantization is the one
//   after the other.
// * Arithmetic dequantizes, computes in the expressed type and quantizes the result: products of
//   matrices and convolutions are products of floats. Integers are computed with where the result
//   is provably the same: sums, differences, maxima and comparisons of one quantization with at
//   most 16 bits.
// * Ops that move values move stored integers. Regions are rewritten like the rest, so that a
//   reduction quantizes what it has so far after each step, as its body says.
// * Arguments and results of functions are stored integers: tensor<2x!quant.uniform<i8:f32, ...>>
//   becomes tensor<2xi8>.
//
// A program with quantized tensors of dynamic shapes stays as it is.
void ExpandQuantized(Module* module);

// Canonical forms and algebra that keep every bit: x * 1, x & 0, reshapes of reshapes, slices of
// slices, conversions there and back, selections and branches that a constant decides, loops that
// run at most once, unsigned division by powers of two, and the like. Ops on dynamic shapes and on
// quantized types stay as they are.
void Simplify(Module* module);

// Moves broadcasts behind the elementwise ops that follow them, which then compute each element
// once, and reshapes and transposes likewise where this lets elementwise ops meet.
void SinkShapeOps(Module* module);

// Takes out of stablehlo.while what is the same each time around: ops without side effects on
// values from outside, unless they would keep more memory than they read, and values that the loop
// carries without changing them.
void HoistLoopInvariants(Module* module);

// Of ops that compute the same from the same operands, keeps the first: common subexpressions. Ops
// with regions are the same when their regions are. An op in a region may be replaced by one of a
// block around it, never the other way around. Ops with side effects stay.
void MergeEqualOps(Module* module);

// The value of an op whose operands are these constants (dense attributes), in the context of the
// op's module. Its result types must be static and right. Null when the op cannot be evaluated: an
// operand is null, the op isn't among those that CanEvaluate names, what is read or made has more
// than `max_elements` elements (but for splats, which stay splats), or a device could give other
// bits.
//
// Evaluated are ops of one result: integers and booleans of every width as a device computes them
// (wrapping, x / 0 = -1, ...); floats where IEEE arithmetic says each bit (+ - * / sqrt, rounding,
// comparisons, conversions) and no NaN comes out; everything that only moves elements. A
// get_dimension_size needs its operand's type alone.
Attribute EvaluateOp(const Op& op, absl::Span<const Attribute> operands, int64_t max_elements);

// Whether EvaluateOp knows the op. It may still refuse element types and values.
bool CanEvaluate(const Op& op);

// Replaces ops whose operands are constants by constants of at most `max_elements` elements, and
// conditionals whose choice is constant by the branch chosen, in every function. What became
// useless stays for RemoveDeadOps.
void FoldConstants(Module* module, int64_t max_elements = 1024);

// Removes ops without side effects whose results nothing uses, regions of others included.
void RemoveDeadOps(Module* module);

}  // namespace pjrt::ir

#endif  // PJRT_IR_PASSES_H_
