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
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// What a backend says of the passes that it runs.
struct PassOptions {
  // Whether the backend implements an op itself. Asked of composites (name, version, attributes and
  // types are the op's), of ops of CHLO and of custom calls; those that it claims stay as they are.
  // Null for none.
  std::function<bool(const Op& op)> claims;
  // Whether the program runs on one device alone, as one replica of one partition.
  bool one_device = false;
};

// A pass by name. `run` may be called by several threads at once on different modules.
struct Pass {
  absl::string_view name;     // "inline-calls": what `pjrt inspect --after` takes
  absl::string_view summary;  // one line
  absl::Status (*run)(Module* module, const PassOptions& options);
};

// The passes of the pipeline in the order in which they run.
absl::Span<const Pass> StandardPasses();

// Runs `passes` one after the other. The first error ends it, and leaves the module fit for nothing
// but destruction.
absl::Status RunPasses(Module* module, absl::Span<const Pass> passes,
                       const PassOptions& options = {});

// Replaces custom calls that mean ordinary ops by those: annotations of sharding, placement and
// layout (which are nothing on one device), ops of other dialects (mhlo.erf, chlo.ragged_dot,
// composites as calls), selections, transforms of old exports, stablehlo.dynamic_* calls whose
// shapes are known, assertions that hold; calls back into the exporting process that give no data
// are dropped. Results in a tuple become results of their own, operands that only tell shapes go,
// buffers (memrefs) become tensors. Composites named after an op of CHLO become that op. What has
// another form than expected stays as it is. Never fails on a verified module.
absl::Status ExpandCustomCalls(Module* module, const PassOptions& options = {});

// Replaces each func.call, and each stablehlo.composite, reachable from the entry function by the
// body of what it calls, and removes the functions that nothing names any more. RESOURCE_EXHAUSTED
// when the result would have more than `max_ops` ops: calls of calls can double a program at each
// level.
inline constexpr int64_t kMaxInlinedOps = 4 << 20;
absl::Status InlineCalls(Module* module, int64_t max_ops = kMaxInlinedOps,
                         const PassOptions& options = {});

// Replaces the tuples that functions take and return, that loops carry and that branches and
// optimization barriers pass on by their parts, those of nested tuples too: a function with an
// argument of type tuple<A, tuple<B, C>> has three afterwards. What remains of tuples belongs to
// custom calls and other ops that take or make them.
void FlattenTuples(Module* module);

// Replaces each op of CHLO by StableHLO ops that compute the same: special functions within 3 units
// in the last place of f32 and f64 (of lgamma, digamma, zeta and polygamma where the argument is
// not close to a zero of the function among negative arguments), narrower floats in f32 or f64 and
// rounded once; top_k, scan, ragged_dot; ops that broadcast by themselves. Ops on dynamic shapes,
// and on element types that have no expansion, stay as they are. Never fails on a verified module.
absl::Status ExpandChlo(Module* module, const PassOptions& options = {});

// Replaces quantized types by their storage types and ops on them by ops on stored integers and
// floats, which compute what the StableHLO specification says of quantized types: per tensor, per
// axis and per block.
//
// * Quantizing is round_nearest_even(clamp(min, x / scale + zero_point, max)), each step in the
//   expressed type; NaN becomes 0, or the end of the stored range next to it. Dequantizing is
//   (stored - zero_point) * scale with an exact difference. Changing the quantization is the one
//   after the other.
// * Arithmetic dequantizes, computes in the expressed type and quantizes the result. Integers are
//   computed with where the result is provably the same: sums, differences, maxima and comparisons
//   of one quantization with at most 16 bits.
// * Products of matrices and convolutions of two quantized operands are exact sums of integers,
//   (lhs - lhs_zero_point) * (rhs - rhs_zero_point), of 32 bits, or of up to 53 in f64. They are
//   scaled by lhs_scale * rhs_scale / result_scale in f64, the zero point is added, and this is
//   rounded to even and clamped. Floats times quantized weights are floats times dequantized ones;
//   so are products of blocks that share scales, and sums that could exceed 53 bits.
// * Ops that move values move stored integers. Regions are rewritten like the rest, so that a
//   reduction quantizes what it has so far after each step, as its body says.
// * Arguments and results of functions are stored integers: tensor<2x!quant.uniform<i8:f32, ...>>
//   becomes tensor<2xi8>.
//
// A program with quantized tensors of dynamic shapes stays as it is.
void ExpandQuantized(Module* module);

// Replaces ops that are short for others, so that a backend needs not know them:
//
// * batch_norm_inference, _training and _grad by the formulas of the specification; floats narrower
//   than 32 bits are computed in f32 and rounded once,
// * dot, einsum and unary_einsum ("..." included) by dot_general, with sums, diagonals and
//   transposes where the letters ask for them,
// * broadcast, create_token, cross-replica-sum and torch_index_select by the ops that took their
//   place,
// * remainder of complex numbers by a - trunc(a / b) b, where trunc drops the fractions of both
// parts,
// * map by its body's operations on arrays, or by a loop where the body has others,
// * operands of reduce, reduce_window, scatter and select_and_scatter whose regions compute with
//   wider elements by their conversions,
// * async_start and async_done by what the region does,
// * check.expect_eq and its like by custom calls of those names, with their bounds as attributes.
//
// Ops on quantized types (see ExpandQuantized) and dynamic shapes stay as they are.
void DecomposeOps(Module* module);

// For a program that runs on one device alone (PassOptions::one_device; the pipeline asks):
// replaces collectives by what the device gets of an exchange with itself, its own operands, or
// zeros where nobody sends to it. Those that name other devices, or change shapes, stay as they
// are.
void DropCollectives(Module* module);

// Writes out loops of a known number of iterations, at most 8, whose bodies compute and move
// elements and are small: what was carried through memory then meets in one op or pass, and what
// depends on the iteration's number is a constant. Bodies with products, solvers, custom calls,
// regions or side effects stay loops.
void UnrollLoops(Module* module);

// Canonical forms and algebra that keep every bit: x * 1, x & 0, reshapes of reshapes, slices of
// slices, conversions there and back, selections and branches that a constant decides, loops that
// run at most once, unsigned division by powers of two, sums of arrays that padding makes take
// turns, and the like. Ops on dynamic shapes and on quantized types stay as they are.
void Simplify(Module* module);

// Decides comparisons, selections, extremes and the like of integers by the ranges of what they are
// computed from: constants, iota, the counters and conditions of loops, and arithmetic on these.
// Gathers and scatters whose indices are surely within bounds become ones of windows and slices.
void SimplifyRanges(Module* module);

// Writes gathers of single elements as gathers from a list, by one index each, with the arithmetic
// on several indices, their bounds included, as ops of their own: where a program makes each index
// of a vector apart, or there is but one. Gathers of one element stay.
void LinearizeGathers(Module* module);

// Moves broadcasts behind the elementwise ops that follow them, which then compute each element
// once, and reshapes and transposes likewise where this lets elementwise ops meet.
void SinkShapeOps(Module* module);

// Moves concatenations behind the elementwise ops that follow them, which then read the pieces
// where they are and write them where they belong: f(concatenate(a, b), c) becomes concatenate(f(a,
// c'), f(b, c'')) with slices of c. Small ones stay, and those of narrow pieces.
void SinkConcatenations(Module* module);

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

// --- Dynamic shapes ---
//
// A program with `?` dimensions is made static for given arguments:
//
//   PJRT_RETURN_IF_ERROR(ir::RefineArguments(module.get(), {{static_type, {}}, {{}, dim_value}}));
//   PJRT_RETURN_IF_ERROR(ir::RefineShapes(module.get()));

// Whether RefineShapes would change anything: some type is dynamic, some op takes its shape from
// operands (dynamic_*, real_dynamic_slice, set_dimension_size), asks for a size or asserts one; or
// the program asks which platform it runs on. One walk.
bool HasShapesToRefine(const Module& module);

// On what the shapes of a program depend.
struct ShapeDependence {
  // Some argument, or what is computed, has a shape that the module leaves open.
  bool is_dynamic = false;
  // The arguments of the entry function, ascending, whose values decide shapes: static integer (of
  // 8 bits or more) or boolean scalars and vectors of at most 64 elements. Among them is the
  // platform's index, below, where something depends on it.
  std::vector<int> deciding_arguments;
  // Exports for several platforms take the index of the one that they run on: an argument with
  // jax.global_constant = "_platform_index". The argument and how many indices there are; -1 and 1
  // for other programs.
  int platform_index = -1;
  int num_platforms = 1;
  // Whether shapes follow only once arguments are known.
  bool IsTemplate() const { return is_dynamic || !deciding_arguments.empty(); }
};

// Finds out. The module must have no calls (InlineCalls); equal values are best one value
// (MergeEqualOps). UNIMPLEMENTED [PJRT-I032], naming the op and what it depends on, when a shape
// depends on data in a way that is known only while the program runs. Shapes that change from one
// iteration of a loop to the next, or from branch to branch, are found by RefineShapes alone, for
// the sizes at hand.
absl::StatusOr<ShapeDependence> AnalyzeShapeDependence(const Module& module);

// What is known of an argument.
struct ArgumentRefinement {
  Type type;        // static, of the module's context; null: stays as it is
  Attribute value;  // a dense constant of the argument's (static) type; null: not known
};

// Gives the entry function's arguments their types; uses of those with a value become uses of a
// constant. INVALID_ARGUMENT [PJRT-I030], naming the argument, for a type or value that contradicts
// the program's: another rank, element type or size, a size above the bound. The module verifies
// again only after RefineShapes.
absl::Status RefineArguments(Module* module, absl::Span<const ArgumentRefinement> arguments);

// Makes every type static, given static arguments: inlines calls, folds what sizes are computed
// with, and writes ops whose shapes are given by operands as their static counterparts, also where
// those operands are computed at run time while the result's type is static. Shape assertions that
// hold go; those about data are left to the device. A tensor whose dimension's size is set
// (set_dimension_size) becomes that part of it. Leaves a module that may be wrong where the program
// contradicts itself: verify it.
//
// INVALID_ARGUMENT: [PJRT-I031] with an assertion's message, its values filled in, when one does
// not hold; [PJRT-I033] or one of the verifier's ids when shapes contradict each other.
// UNIMPLEMENTED [PJRT-I032], naming the op, for a shape that depends on data; [PJRT-I034] for
// regions nested over 1000 deep.
//
// Composites that `options` claims stay: each that has dynamic results gets a decomposition of its
// own, with the types of its operands.
absl::Status RefineShapes(Module* module, const PassOptions& options = {});

// Makes scalars that the regions of map, reduce, reduce_window, scatter and sort use from outside
// operands of those ops, repeated for each element, and gives those regions, and
// select_and_scatter's, copies of the constants that they use. Where a region uses an array from
// outside that is no constant, or has effects, loops over the elements take the place of the op;
// they run its regions for one element after the other, in row-major order.
void IsolateRegions(Module* module);

// Removes what neither a side effect nor a function's result is computed from: ops, those of
// regions included, loops however often they run, results of branches, and what a loop carries for
// itself alone. A loop or branch that loses results is replaced by one without them.
void RemoveDeadOps(Module* module);

}  // namespace pjrt::ir

#endif  // PJRT_IR_PASSES_H_
