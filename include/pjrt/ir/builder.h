// SPDX-License-Identifier: Apache-2.0
//
// Writes programs in C++, with result types inferred:
//
//   ir::Builder b;
//   ir::FunctionBuilder f = b.Function("main");
//   ir::Value* a = f.Argument(F32, {});
//   ir::Value* x = f.Argument(F32, {1024});
//   ir::Value* y = f.Argument(F32, {1024});
//   f.Return({b.Add(b.Multiply(b.BroadcastInDim(a, {1024}, {}), x), y)});
//   absl::StatusOr<std::unique_ptr<ir::Module>> module = b.Build();
//
// Errors stick: the first one is kept, what comes after it does nothing and gives null values, and
// Build() reports it. Every method takes null values then, so no call needs a check of its own.
// Nothing is broadcast by itself: operands of Add and the like have one type.
#ifndef PJRT_IR_BUILDER_H_
#define PJRT_IR_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/context.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/types.h"

namespace pjrt {
class LiteralBase;
}

namespace pjrt::ir {

class Builder;

using Dims = absl::Span<const int64_t>;
using ValueSpan = absl::Span<Value* const>;
using Values = absl::InlinedVector<Value*, 4>;

// The results of an op. Null after an error, whichever index is asked for.
class Results {
 public:
  Results() = default;
  explicit Results(Op* op) : op_(op) {}
  size_t size() const { return op_ == nullptr ? 0 : op_->num_results(); }
  Value* operator[](size_t i) const { return i < size() ? op_->result(i) : nullptr; }
  // The first one.
  operator Value*() const { return (*this)[0]; }  // NOLINT(google-explicit-constructor)
  Values ToValues() const;
  Op* op() const { return op_; }  // null after an error

 private:
  Op* op_ = nullptr;
};

// What fills a region: called once, while the op is made, with the region's arguments; returns what
// the region returns. Ops made in it land in the region. It may use values from outside.
using Body = absl::FunctionRef<Values(Builder&, ValueSpan arguments)>;
// The same for regions of two scalars and one result: reducers, comparators, scatter combiners.
using BinaryBody = absl::FunctionRef<Value*(Builder&, Value* a, Value* b)>;
using NullaryBody = absl::FunctionRef<Values(Builder&)>;

struct RegionSpec;

// A function under construction; a small handle, valid while the Builder lives.
class FunctionBuilder {
 public:
  // Adds an argument. Arguments may be added until Return.
  Value* Argument(PrimitiveType type, Dims dims);
  Value* Argument(Type type);
  // Ends the function. Each function needs one Return.
  void Return(ValueSpan results);
  void Return(std::initializer_list<Value*> results) {
    Return(ValueSpan(results.begin(), results.size()));
  }
  // Sets an attribute of argument or result `i`, such as "tf.aliasing_output". Results have them
  // after Return.
  void SetArgAttr(size_t i, absl::string_view name, Attribute value);
  void SetResultAttr(size_t i, absl::string_view name, Attribute value);

 private:
  friend class Builder;
  FunctionBuilder(Builder* builder, ir::Op* op) : builder_(builder), op_(op) {}
  Builder* builder_;
  ir::Op* op_;  // null after an error
};

// Not thread-safe. Values and ops belong to the Builder's module and live as long as it.
class Builder {
 public:
  Builder();
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Begins a function; ops made from now on, outside of regions, land in it.
  FunctionBuilder Function(absl::string_view name, bool is_private = false);

  // The finished module, verified, which the caller owns. INVALID_ARGUMENT with the first error:
  // for a violated rule "[PJRT-Vnnn] in @main: 'stablehlo.add' op: rule; given ..., expected ...",
  // for a misuse of the Builder "[PJRT-Innn] ..." (a null value, a value of another Builder, a
  // function without Return, a second Build). The Builder makes nothing after this.
  absl::StatusOr<std::unique_ptr<Module>> Build();

  // The first error so far; Build() finds more.
  const absl::Status& status() const { return status_; }
  Context& context();

  Type TensorType(PrimitiveType type, Dims dims) { return context().Tensor(dims, type); }

  // Each method below makes the op of that name at the end of the function or region that is being
  // filled, and returns the op's result, or null after an error. What an op computes, and what its
  // operands and attributes must be, is said by the StableHLO specification, section "Ops", and
  // docs/ops.md; `dims` are the sizes of the result where operands don't give them.

  // --- Constants. T stands for an element type: float, int32_t, bool, half, ... ---

  template <typename T, typename = std::enable_if_t<PrimitiveTypeOf<T>() != INVALID>>
  Value* Constant(T value) {
    return RawConstant(PrimitiveTypeOf<T>(), {}, &value, sizeof(T));
  }
  // Row-major; as many values as `dims` say.
  template <typename T>
  Value* ConstantArray(Dims dims, absl::Span<const T> values) {
    return RawConstant(PrimitiveTypeOf<T>(), dims, values.data(), values.size() * sizeof(T));
  }
  template <typename T>
  Value* ConstantR1(absl::Span<const T> values) {
    return ConstantArray<T>({static_cast<int64_t>(values.size())}, values);
  }
  template <typename T>
  Value* ConstantR1(std::initializer_list<T> values) {
    return ConstantR1(absl::Span<const T>(values.begin(), values.size()));
  }
  // One value everywhere; takes the memory of one.
  template <typename T>
  Value* Splat(T value, Dims dims) {
    return RawSplat(PrimitiveTypeOf<T>(), dims, &value, sizeof(T));
  }
  // `value` everywhere, rounded or wrapped to the element type of a static tensor type.
  Value* Fill(Type tensor_type, double value);
  Value* Constant(const LiteralBase& literal);  // an array, not a tuple
  Value* Constant(Attribute dense);

  // --- Elementwise ---

  Value* Abs(Value* x);
  Value* Cbrt(Value* x);
  Value* Ceil(Value* x);
  Value* Cosine(Value* x);
  Value* CountLeadingZeros(Value* x);
  Value* Exponential(Value* x);
  Value* ExponentialMinusOne(Value* x);
  Value* Floor(Value* x);
  Value* Imag(Value* x);
  Value* IsFinite(Value* x);
  Value* Log(Value* x);
  Value* LogPlusOne(Value* x);
  Value* Logistic(Value* x);
  Value* Negate(Value* x);
  Value* Not(Value* x);
  Value* Popcnt(Value* x);
  Value* Real(Value* x);
  Value* RoundNearestAfz(Value* x);
  Value* RoundNearestEven(Value* x);
  Value* Rsqrt(Value* x);
  Value* Sign(Value* x);
  Value* Sine(Value* x);
  Value* Sqrt(Value* x);
  Value* Tan(Value* x);
  Value* Tanh(Value* x);

  Value* Add(Value* a, Value* b);
  Value* And(Value* a, Value* b);
  Value* Atan2(Value* y, Value* x);
  Value* Complex(Value* real, Value* imag);
  Value* Divide(Value* a, Value* b);
  Value* Maximum(Value* a, Value* b);
  Value* Minimum(Value* a, Value* b);
  Value* Multiply(Value* a, Value* b);
  Value* Or(Value* a, Value* b);
  Value* Power(Value* a, Value* b);
  Value* Remainder(Value* a, Value* b);
  Value* ShiftLeft(Value* a, Value* b);
  Value* ShiftRightArithmetic(Value* a, Value* b);
  Value* ShiftRightLogical(Value* a, Value* b);
  Value* Subtract(Value* a, Value* b);
  Value* Xor(Value* a, Value* b);

  // Without a type, floats compare as FLOAT, integers by their sign.
  Value* Compare(ComparisonDirection direction, Value* a, Value* b);
  Value* Compare(ComparisonDirection direction, Value* a, Value* b, ComparisonType type);
  // `pred` has the shape of the others or is a scalar; so `min` and `max`.
  Value* Select(Value* pred, Value* on_true, Value* on_false);
  Value* Clamp(Value* min, Value* x, Value* max);
  Value* Convert(Value* x, PrimitiveType type);
  Value* ReducePrecision(Value* x, int exponent_bits, int mantissa_bits);

  // --- Shapes ---

  Value* Iota(PrimitiveType type, Dims dims, int64_t dimension);
  Value* BitcastConvert(Value* x, PrimitiveType type, Dims dims);
  // Dimension i of `x` becomes dimension broadcast_dimensions[i] of a tensor of sizes `dims`.
  Value* BroadcastInDim(Value* x, Dims dims, Dims broadcast_dimensions);
  Value* Concatenate(ValueSpan inputs, int64_t dimension);
  Value* Concatenate(std::initializer_list<Value*> inputs, int64_t dimension) {
    return Concatenate(ValueSpan(inputs.begin(), inputs.size()), dimension);
  }
  Value* Pad(Value* x, Value* padding_value, Dims low, Dims high, Dims interior);
  Value* Reshape(Value* x, Dims dims);
  Value* Reverse(Value* x, Dims dimensions);
  Value* Transpose(Value* x, Dims permutation);
  Value* Slice(Value* x, Dims start, Dims limit, Dims strides);
  Value* DynamicSlice(Value* x, ValueSpan start_indices, Dims slice_sizes);
  Value* DynamicUpdateSlice(Value* x, Value* update, ValueSpan start_indices);
  Value* Gather(Value* x, Value* start_indices, const GatherDimensionNumbers& numbers,
                Dims slice_sizes, bool indices_are_sorted = false);
  Value* Scatter(Value* x, Value* indices, Value* updates, const ScatterDimensionNumbers& numbers,
                 BinaryBody combine, bool indices_are_sorted = false, bool unique_indices = false);
  Value* GetDimensionSize(Value* x, int64_t dimension);
  Value* SetDimensionSize(Value* x, Value* size, int64_t dimension);

  // --- Contractions, windows, reductions ---

  // The product of matrices, of a matrix and a vector, of vectors: the last dimension of `a` with
  // the first of `b`.
  Value* Dot(Value* a, Value* b, Precision precision = Precision::kDefault);
  // `result_type` INVALID: that of the operands.
  Value* DotGeneral(Value* a, Value* b, const DotDimensionNumbers& numbers,
                    Precision precision = Precision::kDefault, PrimitiveType result_type = INVALID);
  // `window` has an entry for each spatial dimension; its sizes are the kernel's and not read.
  Value* Convolution(Value* x, Value* kernel, const ConvDimensionNumbers& numbers,
                     const WindowAttrs& window, int64_t feature_group_count = 1,
                     int64_t batch_group_count = 1, Precision precision = Precision::kDefault,
                     PrimitiveType result_type = INVALID);

  // `body(accumulator, element)`.
  Value* Reduce(Value* x, Value* init, Dims dimensions, BinaryBody body);
  // `body` takes an accumulator for each input, then an element of each.
  Results Reduce(ValueSpan inputs, ValueSpan inits, Dims dimensions, Body body);
  Value* ReduceSum(Value* x, Dims dimensions);
  // Of integers and of floats of 16 bits or more; the least integer or -inf where nothing is
  // reduced.
  Value* ReduceMax(Value* x, Dims dimensions);
  Value* ReduceWindow(Value* x, Value* init, const WindowAttrs& window, BinaryBody body);
  Value* SelectAndScatter(Value* x, Value* source, Value* init, const WindowAttrs& window,
                          BinaryBody select, BinaryBody scatter);
  // `body` takes an element of each input.
  Value* Map(ValueSpan inputs, Body body);
  // `less(a, b)`: whether a comes first.
  Value* Sort(Value* x, int64_t dimension, bool is_stable, BinaryBody less);
  // `comparator` takes two elements of each input: l0, r0, l1, r1, ...
  Results Sort(ValueSpan inputs, int64_t dimension, bool is_stable, Body comparator);

  // --- Linear algebra, normalization, random numbers ---

  Value* Cholesky(Value* a, bool lower);
  Value* TriangularSolve(Value* a, Value* b, bool left_side, bool lower, bool unit_diagonal,
                         ir::Transpose transpose_a);
  Value* Fft(Value* x, FftType type, Dims length);
  Value* BatchNormInference(Value* x, Value* scale, Value* offset, Value* mean, Value* variance,
                            float epsilon, int64_t feature_index);
  Results BatchNormTraining(Value* x, Value* scale, Value* offset, float epsilon,
                            int64_t feature_index);
  Results BatchNormGrad(Value* x, Value* scale, Value* mean, Value* variance, Value* grad_output,
                        float epsilon, int64_t feature_index);
  // Uniform in [a, b), or normal with mean a and deviation b.
  Value* Rng(Value* a, Value* b, Dims dims, RngDistribution distribution);
  // The next state and the bits.
  Results RngBitGenerator(Value* state, RngAlgorithm algorithm, PrimitiveType type, Dims dims);

  // --- Control flow, calls, tuples ---

  // `condition` returns one scalar i1; both take values of the types of `init`, and `body` returns
  // them.
  Results While(ValueSpan init, Body condition, Body body);
  Results If(Value* pred, NullaryBody on_true, NullaryBody on_false);
  // The last branch also stands for indices out of range.
  Results Case(Value* index, absl::Span<const NullaryBody> branches);
  // A function that has been built before, Return included.
  Results Call(absl::string_view function, ValueSpan operands);
  Results CustomCall(absl::string_view target, ValueSpan operands,
                     absl::Span<const Type> result_types,
                     absl::Span<const NamedAttribute> attributes = {});
  Value* Tuple(ValueSpan elements);
  Value* GetTupleElement(Value* tuple, int64_t index);
  Results OptimizationBarrier(ValueSpan values);
  Value* CreateToken();
  Value* AfterAll(ValueSpan tokens);

  // Any op of the op table, or one of another dialect. Results are inferred unless `result_types`
  // are given; ops whose results cannot be inferred need them. Regions get a terminator by
  // themselves.
  Results Op(absl::string_view name, ValueSpan operands,
             absl::Span<const NamedAttribute> attributes = {},
             absl::Span<const Type> result_types = {}, absl::Span<const RegionSpec> regions = {});

 private:
  friend class FunctionBuilder;
  bool Fail(absl::Status status);  // keeps the first error; false
  bool Usable(absl::string_view op, ValueSpan operands);
  Value* Unary(absl::string_view name, Value* x);
  Value* Binary(absl::string_view name, Value* a, Value* b);
  Value* RawConstant(PrimitiveType type, Dims dims, const void* bytes, size_t size);
  Value* RawSplat(PrimitiveType type, Dims dims, const void* bytes, size_t size);
  Value* ConstantOf(PrimitiveType type, Dims dims, absl::Span<const char> bytes);
  bool FillRegion(Region* region, const RegionSpec& spec);
  Type ScalarOf(Value* value);
  Type Retyped(Value* value, PrimitiveType type);

  std::unique_ptr<Module> module_;
  absl::Status status_;
  Block* block_ = nullptr;  // where ops land
  int depth_ = 0;           // regions being filled
};

// A region for Builder::Op(): the types of its arguments and what fills it.
struct RegionSpec {
  std::vector<Type> argument_types;
  Body body;
};

}  // namespace pjrt::ir

#endif  // PJRT_IR_BUILDER_H_
