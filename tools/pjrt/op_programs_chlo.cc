// SPDX-License-Identifier: Apache-2.0
//
// Programs of CHLO's ops.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {

void AddChloPrograms(std::vector<OpProgram>* programs) {
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text,
                       int64_t large = 20000) {
    programs->push_back({op, variant, std::move(text), true, large});
  };
  for (const absl::string_view op :
       {"chlo.acos",       "chlo.acosh",      "chlo.asin", "chlo.asinh",  "chlo.atan",
        "chlo.atanh",      "chlo.bessel_i1e", "chlo.conj", "chlo.cosh",   "chlo.digamma",
        "chlo.erf",        "chlo.erf_inv",    "chlo.erfc", "chlo.is_inf", "chlo.is_neg_inf",
        "chlo.is_pos_inf", "chlo.lgamma",     "chlo.sinh", "chlo.square", "chlo.tan"}) {
    const std::string result = absl::StartsWith(op, "chlo.is_") ? "tensor<{n}xi1>" : "$X";
    add(op, "",
        absl::StrCat("func.func @main(%a: $X) -> ", result, " {\n  %0 = ", op, " %a : $X -> ",
                     result, "\n  return %0 : ", result, "\n}\n"));
  }
  for (const absl::string_view op :
       {"chlo.mulhi", "chlo.next_after", "chlo.polygamma", "chlo.zeta"}) {
    add(op, "",
        absl::StrCat("func.func @main(%a: $X, %b: $X) -> $X {\n  %0 = ", op,
                     " %a, %b : $X, $X -> $X\n  return %0 : $X\n}\n"));
  }
  for (const absl::string_view op :
       {"chlo.broadcast_add", "chlo.broadcast_and", "chlo.broadcast_atan2", "chlo.broadcast_divide",
        "chlo.broadcast_maximum", "chlo.broadcast_minimum", "chlo.broadcast_multiply",
        "chlo.broadcast_next_after", "chlo.broadcast_or", "chlo.broadcast_polygamma",
        "chlo.broadcast_power", "chlo.broadcast_remainder", "chlo.broadcast_shift_left",
        "chlo.broadcast_shift_right_arithmetic", "chlo.broadcast_shift_right_logical",
        "chlo.broadcast_subtract", "chlo.broadcast_xor", "chlo.broadcast_zeta"}) {
    add(op, "",
        absl::StrCat("func.func @main(%a: tensor<3x1x$T>, %b: $X) -> tensor<3x{n}x$T> {\n  %0 = ",
                     op, " %a, %b : (tensor<3x1x$T>, $X) -> tensor<3x{n}x$T>\n",
                     "  return %0 : tensor<3x{n}x$T>\n}\n"));
  }
  add("chlo.broadcast_complex", "",
      R"(func.func @main(%a: tensor<3x1x$T>, %b: $X) -> tensor<3x{n}xcomplex<$T>> {
  %0 = chlo.broadcast_complex %a, %b : (tensor<3x1x$T>, $X) -> tensor<3x{n}xcomplex<$T>>
  return %0 : tensor<3x{n}xcomplex<$T>>
}
)");
  add("chlo.broadcast_compare", "",
      R"(func.func @main(%a: tensor<3x1x$T>, %b: $X) -> tensor<3x{n}xi1> {
  %0 = "chlo.broadcast_compare"(%a, %b) {
    comparison_direction = #chlo<comparison_direction LT>
  } : (tensor<3x1x$T>, $X) -> tensor<3x{n}xi1>
  return %0 : tensor<3x{n}xi1>
}
)");
  add("chlo.broadcast_select", "",
      R"(func.func @main(%p: tensor<3x1xi1>, %a: $X, %b: $S) -> tensor<3x{n}x$T> {
  %0 = "chlo.broadcast_select"(%p, %a, %b) : (tensor<3x1xi1>, $X, $S) -> tensor<3x{n}x$T>
  return %0 : tensor<3x{n}x$T>
}
)");
  add("chlo.top_k", "",
      R"(func.func @main(%a: tensor<3x{n}x$T>) -> (tensor<3x2x$T>, tensor<3x2xi32>) {
  %0:2 = chlo.top_k(%a, k = 2) : tensor<3x{n}x$T> -> (tensor<3x2x$T>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2x$T>, tensor<3x2xi32>
}
)",
      8000);
  add("chlo.scan", "", R"(func.func @main(%a: tensor<3x{n}x$T>, %c: tensor<3x$T>)
    -> (tensor<3x{n}x$T>, tensor<3x$T>) {
  %0:2 = chlo.scan(%a) inits (%c) dimension=1 {
  ^bb0(%x: tensor<3x$T>, %s: tensor<3x$T>):
    %n = stablehlo.add %s, %x : tensor<3x$T>
    stablehlo.return %n, %n : tensor<3x$T>, tensor<3x$T>
  } : (tensor<3x{n}x$T>, tensor<3x$T>) -> (tensor<3x{n}x$T>, tensor<3x$T>)
  return %0#0, %0#1 : tensor<3x{n}x$T>, tensor<3x$T>
}
)",
      64);
  add("chlo.ragged_dot", "",
      R"(func.func @main(%a: tensor<6x{n}x$T>, %b: tensor<2x{n}x5x$T>, %g: tensor<2xi64>)
    -> tensor<6x5x$T> {
  %0 = "chlo.ragged_dot"(%a, %b, %g) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  } : (tensor<6x{n}x$T>, tensor<2x{n}x5x$T>, tensor<2xi64>) -> tensor<6x5x$T>
  return %0 : tensor<6x5x$T>
}
)",
      2000);
}

}  // namespace pjrt::tool
