// SPDX-License-Identifier: Apache-2.0
//
// Programs of the ops that combine many elements: products, reductions, windows, sorts, transforms,
// solvers and random numbers.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {
namespace {

constexpr absl::string_view kConvolution =
    R"(func.func @main(%a: tensor<2x{n}x5x4x$T>, %k: tensor<3x2x$Fx6x$T>)
    -> tensor<$Bx{n}x4x6x$O> {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[1, 1], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1],
                reverse = [$R, 0]}
      {feature_group_count = $G : i64, batch_group_count = $H : i64}
      : (tensor<2x{n}x5x4x$T>, tensor<3x2x$Fx6x$T>) -> tensor<$Bx{n}x4x6x$O>
  return %0 : tensor<$Bx{n}x4x6x$O>
}
)";

std::string Convolution(absl::string_view features, absl::string_view groups,
                        absl::string_view batch, absl::string_view batch_groups,
                        absl::string_view output) {
  return absl::StrReplaceAll(kConvolution, {{"$F", features},
                                            {"$G", groups},
                                            {"$B", batch},
                                            {"$H", batch_groups},
                                            {"$O", output},
                                            {"$R", groups == "1" ? "0" : "1"}});
}

// Windows of 3 x 2 that overlap, with padding and, in the second form, dilations.
constexpr absl::string_view kReduceWindow =
    R"(func.func @main(%a: tensor<{n}x5x$T>, %i: $S) -> tensor<{n}x$Wx$T> {
  %0 = "stablehlo.reduce_window"(%a, %i) ({
  ^bb0(%x: $S, %y: $S):
    $B
    stablehlo.return %z : $S
  }) {window_dimensions = array<i64: 3, 2>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>,
      base_dilations = array<i64: 1, $D>, window_dilations = array<i64: 1, $D>}
      : (tensor<{n}x5x$T>, $S) -> tensor<{n}x$Wx$T>
  return %0 : tensor<{n}x$Wx$T>
}
)";

// %x and %y of type $S to %z: a monoid, and what is none.
constexpr absl::string_view kSum = "%z = stablehlo.add %x, %y : $S";
constexpr absl::string_view kBody =
    "%w = stablehlo.maximum %x, %y : $S\n    %z = stablehlo.add %w, %w : $S";

std::string ReduceWindow(absl::string_view body, bool dilated) {
  return absl::StrReplaceAll(
      kReduceWindow, {{"$B", body}, {"$D", dilated ? "2" : "1"}, {"$W", dilated ? "7" : "4"}});
}

std::string Reduce(absl::string_view body) {
  return absl::StrCat(R"(func.func @main(%a: tensor<{n}x9x$T>, %i: $S) -> tensor<9x$T> {
  %0 = "stablehlo.reduce"(%a, %i) ({
  ^bb0(%x: $S, %y: $S):
    )",
                      body, R"(
    stablehlo.return %z : $S
  }) {dimensions = array<i64: 0>} : (tensor<{n}x9x$T>, $S) -> tensor<9x$T>
  return %0 : tensor<9x$T>
}
)");
}

std::string DotGeneral(absl::string_view result, absl::string_view attributes = "") {
  return absl::StrCat("func.func @main(%a: tensor<2x{n}x7x$T>, %b: tensor<2x7x{n}x$T>)\n    -> ",
                      "tensor<2x{n}x{n}x", result, "> {\n", "  %0 = stablehlo.dot_general %a, %b, ",
                      "batching_dims = [0] x [0], contracting_dims = [2] x [1]", attributes,
                      "\n      : (tensor<2x{n}x7x$T>, tensor<2x7x{n}x$T>) -> tensor<2x{n}x{n}x",
                      result, ">\n  return %0 : tensor<2x{n}x{n}x", result, ">\n}\n");
}

std::string Sort(absl::string_view comparator) {
  return absl::StrCat(R"(func.func @main(%a: tensor<3x{n}x$T>, %b: tensor<3x{n}xi32>)
    -> (tensor<3x{n}x$T>, tensor<3x{n}xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) ({
  ^bb0(%x: $S, %y: $S, %s: tensor<i32>, %t: tensor<i32>):
    )",
                      comparator, R"(
    stablehlo.return %z : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true}
      : (tensor<3x{n}x$T>, tensor<3x{n}xi32>) -> (tensor<3x{n}x$T>, tensor<3x{n}xi32>)
  return %0#0, %0#1 : tensor<3x{n}x$T>, tensor<3x{n}xi32>
}
)");
}

std::string Fft(absl::string_view type, absl::string_view from, absl::string_view to) {
  return absl::StrCat("func.func @main(%a: ", from, ") -> ", to, " {\n  %0 = stablehlo.fft %a, ",
                      "type = ", type, ", length = [{2n}] : (", from, ") -> ", to,
                      "\n  return %0 : ", to, "\n}\n");
}

void AddProducts(std::vector<OpProgram>* programs) {
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text,
                       int64_t large) {
    programs->push_back({op, variant, std::move(text), true, large});
  };
  add("stablehlo.dot_general", "", DotGeneral("$T"), 150);
  add("stablehlo.dot_general", "to f32", DotGeneral("f32"), 150);
  add("stablehlo.dot_general", "to i32", DotGeneral("i32"), 150);
  add("stablehlo.dot_general", "with a precision",
      DotGeneral("$T", ", precision = [HIGHEST, HIGHEST]"), 150);
  add("stablehlo.dot_general", "with an algorithm",
      DotGeneral("f32",
                 ", algorithm = <lhs_precision_type = $T, rhs_precision_type = $T, "
                 "accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, "
                 "num_primitive_operations = 1, allow_imprecise_accumulation = false>"),
      150);
  add("stablehlo.dot", "",
      R"(func.func @main(%a: tensor<{n}x7x$T>, %b: tensor<7x{n}x$T>) -> tensor<{n}x{n}x$T> {
  %0 = stablehlo.dot %a, %b : (tensor<{n}x7x$T>, tensor<7x{n}x$T>) -> tensor<{n}x{n}x$T>
  return %0 : tensor<{n}x{n}x$T>
}
)",
      200);
  add("stablehlo.einsum", "",
      R"(func.func @main(%a: tensor<{n}x7x$T>, %b: tensor<7x{n}x$T>) -> tensor<{n}x{n}x$T> {
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac"
      : (tensor<{n}x7x$T>, tensor<7x{n}x$T>) -> tensor<{n}x{n}x$T>
  return %0 : tensor<{n}x{n}x$T>
}
)",
      200);
  add("stablehlo.unary_einsum", "", R"(func.func @main(%a: tensor<{n}x7x$T>) -> $X {
  %0 = stablehlo.unary_einsum %a, config = "ab->a" : (tensor<{n}x7x$T>) -> $X
  return %0 : $X
}
)",
      4000);
  add("stablehlo.convolution", "", Convolution("4", "1", "2", "1", "$T"), 500);
  add("stablehlo.convolution", "grouped and reversed", Convolution("2", "2", "2", "1", "$T"), 500);
  add("stablehlo.convolution", "with batch groups", Convolution("4", "1", "1", "2", "$T"), 500);
  add("stablehlo.convolution", "to f32", Convolution("4", "1", "2", "1", "f32"), 500);
  add("stablehlo.convolution", "to i32", Convolution("4", "1", "2", "1", "i32"), 500);
  add("stablehlo.dynamic_conv", "",
      R"(func.func @main(%a: tensor<1x{n}x2x$T>, %k: tensor<3x2x2x$T>) -> tensor<1x{n}x2x$T> {
  %p = stablehlo.constant dense<1> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%a, %k, %p) {
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    feature_group_count = 1 : i64, batch_group_count = 1 : i64
  } : (tensor<1x{n}x2x$T>, tensor<3x2x2x$T>, tensor<1x2xi64>) -> tensor<1x{n}x2x$T>
  return %0 : tensor<1x{n}x2x$T>
}
)",
      4000);
}

void AddReductions(std::vector<OpProgram>* programs) {
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text,
                       int64_t large) {
    programs->push_back({op, variant, std::move(text), true, large});
  };
  add("stablehlo.reduce", "", Reduce(kSum), 20000);
  add("stablehlo.reduce", "by a body", Reduce(kBody), 20000);
  add("stablehlo.reduce", "of two operands",
      R"(func.func @main(%a: tensor<{n}x9x$T>, %b: tensor<{n}x9xi32>, %i: $S, %j: tensor<i32>)
    -> (tensor<9x$T>, tensor<9xi32>) {
  %0:2 = stablehlo.reduce(%a init: %i), (%b init: %j) across dimensions = [0]
      : (tensor<{n}x9x$T>, tensor<{n}x9xi32>, $S, tensor<i32>) -> (tensor<9x$T>, tensor<9xi32>)
      reducer(%x: $S, %y: $S) (%s: tensor<i32>, %t: tensor<i32>) {
    %g = stablehlo.compare GE, %x, %y : ($S, $S) -> tensor<i1>
    %v = stablehlo.select %g, %x, %y : tensor<i1>, $S
    %w = stablehlo.select %g, %s, %t : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : $S, tensor<i32>
  }
  return %0#0, %0#1 : tensor<9x$T>, tensor<9xi32>
}
)",
      20000);
  add("stablehlo.reduce", "by a body with a branch",
      Reduce(R"(%p = stablehlo.compare GT, %x, %y : ($S, $S) -> tensor<i1>
    %z = "stablehlo.if"(%p) ({
      stablehlo.return %x : $S
    }, {
      %w = stablehlo.add %x, %y : $S
      stablehlo.return %w : $S
    }) : (tensor<i1>) -> $S)"),
      500);
  add("stablehlo.map", "", R"(func.func @main(%a: $X, %b: $X) -> $X {
  %0 = "stablehlo.map"(%a, %b) ({
  ^bb0(%x: $S, %y: $S):
    %m = stablehlo.maximum %x, %y : $S
    %z = stablehlo.add %m, %y : $S
    stablehlo.return %z : $S
  }) {dimensions = array<i64: 0>} : ($X, $X) -> $X
  return %0 : $X
}
)",
      40000);
  add("stablehlo.reduce_window", "", ReduceWindow(kSum, false), 5000);
  add("stablehlo.reduce_window", "by a body", ReduceWindow(kBody, false), 5000);
  add("stablehlo.reduce_window", "dilated", ReduceWindow(kSum, true), 5000);
  add("stablehlo.reduce_window", "cumulative",
      R"(func.func @main(%a: tensor<3x{n}x$T>, %i: $S) -> tensor<3x{n}x$T> {
  %0 = "stablehlo.reduce_window"(%a, %i) ({
  ^bb0(%x: $S, %y: $S):
    %z = stablehlo.add %x, %y : $S
    stablehlo.return %z : $S
  }) {window_dimensions = array<i64: 1, {n}>,
      padding = dense<[[0, 0], [{n-1}, 0]]> : tensor<2x2xi64>}
      : (tensor<3x{n}x$T>, $S) -> tensor<3x{n}x$T>
  return %0 : tensor<3x{n}x$T>
}
)",
      20000);
  add("stablehlo.select_and_scatter", "",
      R"(func.func @main(%a: tensor<{2n}x4x$T>, %s: tensor<{n}x2x$T>, %i: $S) -> tensor<{2n}x4x$T> {
  %0 = "stablehlo.select_and_scatter"(%a, %s, %i) ({
  ^bb0(%x: $S, %y: $S):
    %p = stablehlo.compare GE, %x, %y : ($S, $S) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%x: $S, %y: $S):
    %z = stablehlo.add %x, %y : $S
    stablehlo.return %z : $S
  }) {window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}
      : (tensor<{2n}x4x$T>, tensor<{n}x2x$T>, $S) -> tensor<{2n}x4x$T>
  return %0 : tensor<{2n}x4x$T>
}
)",
      4000);
  add("stablehlo.sort", "", Sort("%z = stablehlo.compare LT, %x, %y : ($S, $S) -> tensor<i1>"),
      8000);
  add("stablehlo.sort", "total order, descending",
      Sort("%z = stablehlo.compare GT, %x, %y, TOTALORDER : ($S, $S) -> tensor<i1>"), 8000);
  add("stablehlo.sort", "by a comparator that is called",
      Sort("%e = stablehlo.compare NE, %s, %t : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
           "    %l = stablehlo.compare LE, %y, %x : ($S, $S) -> tensor<i1>\n"
           "    %z = stablehlo.and %e, %l : tensor<i1>"),
      2000);
}

}  // namespace

void AddComputePrograms(std::vector<OpProgram>* programs) {
  AddProducts(programs);
  AddReductions(programs);
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text,
                       int64_t large) {
    programs->push_back({op, variant, std::move(text), true, large});
  };
  constexpr absl::string_view kComplex = "tensor<5x{2n}x$T>";
  add("stablehlo.fft", "FFT", Fft("FFT", kComplex, kComplex), 2000);
  add("stablehlo.fft", "IFFT", Fft("IFFT", kComplex, kComplex), 2000);
  add("stablehlo.fft", "RFFT", Fft("RFFT", kComplex, "tensor<5x{n+1}xcomplex<$T>>"), 2000);
  add("stablehlo.fft", "IRFFT", Fft("IRFFT", "tensor<5x{n+1}x$T>", "tensor<5x{2n}x$P>"), 2000);
  add("stablehlo.cholesky", "",
      R"(func.func @main(%a: tensor<3x{n}x{n}x$T>) -> tensor<3x{n}x{n}x$T> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x{n}x{n}x$T>
  return %0 : tensor<3x{n}x{n}x$T>
}
)",
      40);
  add("stablehlo.triangular_solve", "",
      R"(func.func @main(%a: tensor<3x{n}x{n}x$T>, %b: tensor<3x{n}x5x$T>) -> tensor<3x{n}x5x$T> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {
    left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>
  } : (tensor<3x{n}x{n}x$T>, tensor<3x{n}x5x$T>) -> tensor<3x{n}x5x$T>
  return %0 : tensor<3x{n}x5x$T>
}
)",
      40);
  add("stablehlo.rng", "uniform", R"(func.func @main(%a: $S, %b: $S) -> $X {
  %s = stablehlo.constant dense<[{n}]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : ($S, $S, tensor<1xi64>) -> $X
  return %0 : $X
}
)",
      40000);
  add("stablehlo.rng", "normal", R"(func.func @main(%a: $S, %b: $S) -> $X {
  %s = stablehlo.constant dense<[{n}]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = NORMAL : ($S, $S, tensor<1xi64>) -> $X
  return %0 : $X
}
)",
      40000);
  for (const absl::string_view algorithm : {"DEFAULT", "THREE_FRY", "PHILOX"}) {
    add("stablehlo.rng_bit_generator", algorithm,
        absl::StrReplaceAll(R"(func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, $X) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = $A : (tensor<2xui64>) -> (tensor<2xui64>, $X)
  return %0, %1 : tensor<2xui64>, $X
}
)",
                            {{"$A", algorithm}}),
        40000);
  }
  add("stablehlo.batch_norm_inference", "",
      R"(func.func @main(%a: tensor<{n}x3x$T>, %s: tensor<3x$T>, %o: tensor<3x$T>, %m: tensor<3x$T>,
                %v: tensor<3x$T>) -> tensor<{n}x3x$T> {
  %0 = "stablehlo.batch_norm_inference"(%a, %s, %o, %m, %v)
      {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>, tensor<3x$T>, tensor<3x$T>) -> tensor<{n}x3x$T>
  return %0 : tensor<{n}x3x$T>
}
)",
      20000);
  add("stablehlo.batch_norm_training", "",
      R"(func.func @main(%a: tensor<{n}x3x$T>, %s: tensor<3x$T>, %o: tensor<3x$T>)
    -> (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>) {
  %0:3 = "stablehlo.batch_norm_training"(%a, %s, %o)
      {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>)
      -> (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>)
  return %0#0, %0#1, %0#2 : tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>
}
)",
      20000);
  add("stablehlo.batch_norm_grad", "",
      R"(func.func @main(%a: tensor<{n}x3x$T>, %s: tensor<3x$T>, %m: tensor<3x$T>, %v: tensor<3x$T>,
                %g: tensor<{n}x3x$T>) -> (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>) {
  %0:3 = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g)
      {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>, tensor<3x$T>, tensor<{n}x3x$T>)
      -> (tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>)
  return %0#0, %0#1, %0#2 : tensor<{n}x3x$T>, tensor<3x$T>, tensor<3x$T>
}
)",
      20000);
}

}  // namespace pjrt::tool
