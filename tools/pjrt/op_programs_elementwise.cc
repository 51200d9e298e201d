// SPDX-License-Identifier: Apache-2.0
//
// Programs of the ops that work on one element at a time.
#include "absl/strings/str_cat.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {
namespace {

constexpr int64_t kLarge = 40000;

std::string Unary(absl::string_view op, absl::string_view attributes = "") {
  return absl::StrCat("func.func @main(%a: $X) -> $X {\n  %0 = \"", op, "\"(%a) ", attributes,
                      " : ($X) -> $X\n  return %0 : $X\n}\n");
}

std::string UnaryTo(absl::string_view op, absl::string_view result) {
  return absl::StrCat("func.func @main(%a: $X) -> ", result, " {\n  %0 = \"", op,
                      "\"(%a) : ($X) -> ", result, "\n  return %0 : ", result, "\n}\n");
}

std::string Binary(absl::string_view op) {
  return absl::StrCat("func.func @main(%a: $X, %b: $X) -> $X {\n  %0 = \"", op,
                      "\"(%a, %b) : ($X, $X) -> $X\n  return %0 : $X\n}\n");
}

// To each element type and back.
std::string Converts() {
  std::string text = "func.func @main(%a: $X) -> (";
  std::string body, types, names;
  for (const PrimitiveType type : StableHloTypes()) {
    const std::string to = absl::StrCat("tensor<{n}x", StableHloTypeName(type), ">");
    const int i = static_cast<int>(type);
    absl::StrAppend(&body, "  %t", i, " = stablehlo.convert %a : ($X) -> ", to, "\n  %b", i,
                    " = stablehlo.convert %t", i, " : (", to, ") -> $X\n");
    absl::StrAppend(&names, names.empty() ? "" : ", ", "%t", i, ", %b", i);
    absl::StrAppend(&types, types.empty() ? "" : ", ", to, ", $X");
  }
  return absl::StrCat(text, types, ") {\n", body, "  return ", names, " : ", types, "\n}\n");
}

// Six comparisons; total order where it is not "".
std::string Compares(absl::string_view order) {
  std::string body, names, types;
  for (const absl::string_view direction : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
    absl::StrAppend(&body, "  %", direction, " = stablehlo.compare ", direction, ", %a, %b", order,
                    " : ($X, $X) -> tensor<{n}xi1>\n");
    absl::StrAppend(&names, names.empty() ? "%" : ", %", direction);
    absl::StrAppend(&types, types.empty() ? "" : ", ", "tensor<{n}xi1>");
  }
  return absl::StrCat("func.func @main(%a: $X, %b: $X) -> (", types, ") {\n", body, "  return ",
                      names, " : ", types, "\n}\n");
}

}  // namespace

void AddElementwisePrograms(std::vector<OpProgram>* programs) {
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text) {
    programs->push_back({op, variant, std::move(text), true, kLarge});
  };
  for (const absl::string_view op : {"stablehlo.cbrt",
                                     "stablehlo.ceil",
                                     "stablehlo.cosine",
                                     "stablehlo.count_leading_zeros",
                                     "stablehlo.exponential",
                                     "stablehlo.exponential_minus_one",
                                     "stablehlo.floor",
                                     "stablehlo.log",
                                     "stablehlo.log_plus_one",
                                     "stablehlo.logistic",
                                     "stablehlo.negate",
                                     "stablehlo.not",
                                     "stablehlo.popcnt",
                                     "stablehlo.round_nearest_afz",
                                     "stablehlo.round_nearest_even",
                                     "stablehlo.rsqrt",
                                     "stablehlo.sign",
                                     "stablehlo.sine",
                                     "stablehlo.sqrt",
                                     "stablehlo.tan",
                                     "stablehlo.tanh"}) {
    add(op, "", Unary(op));
  }
  for (const absl::string_view op :
       {"stablehlo.add", "stablehlo.and", "stablehlo.atan2", "stablehlo.divide",
        "stablehlo.maximum", "stablehlo.minimum", "stablehlo.multiply", "stablehlo.or",
        "stablehlo.power", "stablehlo.remainder", "stablehlo.shift_left",
        "stablehlo.shift_right_arithmetic", "stablehlo.shift_right_logical", "stablehlo.subtract",
        "stablehlo.xor"}) {
    add(op, "", Binary(op));
  }
  for (const absl::string_view op : {"stablehlo.abs", "stablehlo.imag", "stablehlo.real"})
    add(op, "", UnaryTo(op, "tensor<{n}x$P>"));
  add("stablehlo.is_finite", "", UnaryTo("stablehlo.is_finite", "tensor<{n}xi1>"));
  add("stablehlo.reduce_precision", "",
      Unary("stablehlo.reduce_precision", "{exponent_bits = 3 : i32, mantissa_bits = 1 : i32}"));
  add("stablehlo.reduce_precision", "to no mantissa",
      Unary("stablehlo.reduce_precision", "{exponent_bits = 8 : i32, mantissa_bits = 0 : i32}"));
  add("stablehlo.exponential", "with a result_accuracy",
      Unary("stablehlo.exponential",
            "{result_accuracy = #stablehlo.result_accuracy<ulps = 10, mode = "
            "#stablehlo.result_accuracy_mode<TOLERANCE>>}"));
  add("stablehlo.convert", "to and from each type", Converts());
  add("stablehlo.compare", "", Compares(""));
  add("stablehlo.compare", "total order", Compares(", TOTALORDER"));
  add("stablehlo.complex", "", R"(func.func @main(%a: $X, %b: $X) -> tensor<{n}xcomplex<$T>> {
  %0 = stablehlo.complex %a, %b : ($X, $X) -> tensor<{n}xcomplex<$T>>
  return %0 : tensor<{n}xcomplex<$T>>
}
)");
  add("stablehlo.select", "", R"(func.func @main(%p: tensor<{n}xi1>, %a: $X, %b: $X) -> $X {
  %0 = stablehlo.select %p, %a, %b : tensor<{n}xi1>, $X
  return %0 : $X
}
)");
  add("stablehlo.select", "by a scalar", R"(func.func @main(%p: tensor<i1>, %a: $X, %b: $X) -> $X {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, $X
  return %0 : $X
}
)");
  add("stablehlo.clamp", "", R"(func.func @main(%l: $X, %a: $X, %h: $X) -> $X {
  %0 = stablehlo.clamp %l, %a, %h : $X
  return %0 : $X
}
)");
  add("stablehlo.clamp", "by scalars", R"(func.func @main(%l: $S, %a: $X, %h: $S) -> $X {
  %0 = "stablehlo.clamp"(%l, %a, %h) : ($S, $X, $S) -> $X
  return %0 : $X
}
)");
}

}  // namespace pjrt::tool
