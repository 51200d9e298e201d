// SPDX-License-Identifier: Apache-2.0
//
// Programs of the ops that move elements, make them, or read them as another type.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {

void AddShapePrograms(std::vector<OpProgram>* programs) {
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text,
                       int64_t large = 20000) {
    programs->push_back({op, variant, std::move(text), true, large});
  };
  add("stablehlo.bitcast_convert", "to the same type", R"(func.func @main(%a: $X) -> $X {
  %0 = stablehlo.bitcast_convert %a : ($X) -> $X
  return %0 : $X
}
)");
  // Which of these fit is a matter of the type's width; an op's types are those that one fits.
  for (const int parts : {2, 3, 4, 8, 16, 32, 64}) {
    for (const absl::string_view other : {"ui2", "ui4", "ui8", "i1"}) {
      const std::string split = absl::StrCat("tensor<{n}x", parts, "x", other, ">");
      add("stablehlo.bitcast_convert", "to parts and back",
          absl::StrCat("func.func @main(%a: $X) -> (", split, ", $X) {\n",
                       "  %0 = stablehlo.bitcast_convert %a : ($X) -> ", split, "\n",
                       "  %1 = stablehlo.bitcast_convert %0 : (", split, ") -> $X\n",
                       "  return %0, %1 : ", split, ", $X\n}\n"));
    }
  }
  for (const int parts : {2, 4}) {
    const std::string split = absl::StrCat("tensor<{n}x", parts, "x$T>");
    add("stablehlo.bitcast_convert", "to bytes and back",
        absl::StrCat("func.func @main(%a: ", split, ") -> (tensor<{n}xui8>, ", split, ") {\n",
                     "  %0 = stablehlo.bitcast_convert %a : (", split, ") -> tensor<{n}xui8>\n",
                     "  %1 = stablehlo.bitcast_convert %0 : (tensor<{n}xui8>) -> ", split, "\n",
                     "  return %0, %1 : tensor<{n}xui8>, ", split, "\n}\n"));
  }
  add("stablehlo.broadcast", "", R"(func.func @main(%a: $X) -> tensor<2x{n}x$T> {
  %0 = stablehlo.broadcast %a, sizes = [2] : ($X) -> tensor<2x{n}x$T>
  return %0 : tensor<2x{n}x$T>
}
)");
  add("stablehlo.broadcast_in_dim", "",
      R"(func.func @main(%a: tensor<{n}x1x$T>) -> tensor<{n}x3x2x$T> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<{n}x1x$T>) -> tensor<{n}x3x2x$T>
  return %0 : tensor<{n}x3x2x$T>
}
)");
  add("stablehlo.concatenate", "",
      R"(func.func @main(%a: tensor<3x{n}x$T>, %b: tensor<3x2x$T>) -> tensor<3x{n+2}x$T> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<3x{n}x$T>, tensor<3x2x$T>) -> tensor<3x{n+2}x$T>
  return %0 : tensor<3x{n+2}x$T>
}
)");
  add("stablehlo.dynamic_slice", "",
      R"(func.func @main(%a: tensor<{n}x5x$T>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<{n-2}x3x$T> {
  %0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [{n-2}, 3]
      : (tensor<{n}x5x$T>, tensor<i32>, tensor<i32>) -> tensor<{n-2}x3x$T>
  return %0 : tensor<{n-2}x3x$T>
}
)");
  add("stablehlo.dynamic_slice", "by indices of the type",
      R"(func.func @main(%a: tensor<{n}xf32>, %i: $S) -> tensor<2xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<{n}xf32>, $S) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
)");
  add("stablehlo.dynamic_update_slice", "",
      R"(func.func @main(%a: tensor<{n}x5x$T>, %u: tensor<{n-2}x3x$T>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<{n}x5x$T> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %j
      : (tensor<{n}x5x$T>, tensor<{n-2}x3x$T>, tensor<i32>, tensor<i32>) -> tensor<{n}x5x$T>
  return %0 : tensor<{n}x5x$T>
}
)");
  add("stablehlo.dynamic_update_slice", "by indices of the type",
      R"(func.func @main(%a: tensor<{n}xf32>, %u: tensor<2xf32>, %i: $S) -> tensor<{n}xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i
      : (tensor<{n}xf32>, tensor<2xf32>, $S) -> tensor<{n}xf32>
  return %0 : tensor<{n}xf32>
}
)");
  constexpr absl::string_view kGather =
      R"(func.func @main(%a: tensor<{n}x3x$A>, %i: tensor<{n}x1x$I>)
    -> tensor<{n}x3x$A> {
  %0 = "stablehlo.gather"(%a, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                                          start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>
  } : (tensor<{n}x3x$A>, tensor<{n}x1x$I>) -> tensor<{n}x3x$A>
  return %0 : tensor<{n}x3x$A>
}
)";
  add("stablehlo.gather", "", absl::StrReplaceAll(kGather, {{"$A", "$T"}, {"$I", "i32"}}));
  add("stablehlo.gather", "by indices of the type",
      absl::StrReplaceAll(kGather, {{"$A", "f32"}, {"$I", "$T"}}));
  constexpr absl::string_view kScatter =
      R"(func.func @main(%a: tensor<{n}x3x$A>, %i: tensor<{n}x1x$I>,
                %u: tensor<{n}x3x$A>) -> tensor<{n}x3x$A> {
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<$A>, %y: tensor<$A>):
    $B
    stablehlo.return %z : tensor<$A>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>
  } : (tensor<{n}x3x$A>, tensor<{n}x1x$I>, tensor<{n}x3x$A>) -> tensor<{n}x3x$A>
  return %0 : tensor<{n}x3x$A>
}
)";
  const absl::string_view kAdd = "%z = stablehlo.add %x, %y : tensor<$A>";
  // No monoid: a body that has to be called.
  const absl::string_view kBody =
      "%w = stablehlo.maximum %x, %y : tensor<$A>\n    %z = stablehlo.minimum %w, %x : tensor<$A>";
  add("stablehlo.scatter", "",
      absl::StrReplaceAll(absl::StrReplaceAll(kScatter, {{"$B", kAdd}}),
                          {{"$A", "$T"}, {"$I", "i32"}}));
  add("stablehlo.scatter", "by a body",
      absl::StrReplaceAll(absl::StrReplaceAll(kScatter, {{"$B", kBody}}),
                          {{"$A", "$T"}, {"$I", "i32"}}));
  add("stablehlo.scatter", "by indices of the type",
      absl::StrReplaceAll(absl::StrReplaceAll(kScatter, {{"$B", kAdd}}),
                          {{"$A", "f32"}, {"$I", "$T"}}));
  add("stablehlo.get_dimension_size", "", R"(func.func @main(%a: tensor<3x{n}x$T>) -> tensor<i32> {
  %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<3x{n}x$T>) -> tensor<i32>
  return %0 : tensor<i32>
}
)");
  add("stablehlo.iota", "", R"(func.func @main() -> tensor<3x{n}x$T> {
  %0 = stablehlo.iota dim = 1 : tensor<3x{n}x$T>
  return %0 : tensor<3x{n}x$T>
}
)");
  add("stablehlo.pad", "", R"(func.func @main(%a: tensor<3x{n}x$T>, %v: $S) -> tensor<3x{2n-1}x$T> {
  %0 = stablehlo.pad %a, %v, low = [1, -1], high = [-1, 1], interior = [0, 1]
      : (tensor<3x{n}x$T>, $S) -> tensor<3x{2n-1}x$T>
  return %0 : tensor<3x{2n-1}x$T>
}
)");
  add("stablehlo.reshape", "", R"(func.func @main(%a: tensor<{n}x6x$T>) -> tensor<2x{3n}x$T> {
  %0 = stablehlo.reshape %a : (tensor<{n}x6x$T>) -> tensor<2x{3n}x$T>
  return %0 : tensor<2x{3n}x$T>
}
)");
  add("stablehlo.reverse", "", R"(func.func @main(%a: tensor<3x{n}x$T>) -> tensor<3x{n}x$T> {
  %0 = stablehlo.reverse %a, dims = [1] : tensor<3x{n}x$T>
  return %0 : tensor<3x{n}x$T>
}
)");
  add("stablehlo.slice", "", R"(func.func @main(%a: tensor<3x{2n}x$T>) -> tensor<2x{n}x$T> {
  %0 = stablehlo.slice %a [1:3, 0:{2n}:2] : (tensor<3x{2n}x$T>) -> tensor<2x{n}x$T>
  return %0 : tensor<2x{n}x$T>
}
)");
  add("stablehlo.transpose", "", R"(func.func @main(%a: tensor<3x{n}x2x$T>) -> tensor<2x3x{n}x$T> {
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<3x{n}x2x$T>) -> tensor<2x3x{n}x$T>
  return %0 : tensor<2x3x{n}x$T>
}
)");
  add("stablehlo.torch_index_select", "",
      R"(func.func @main(%a: tensor<{n}x3x$T>, %i: tensor<5xi32>) -> tensor<5x3x$T> {
  %0 = "stablehlo.torch_index_select"(%a, %i) {dim = 0 : i64, batch_dims = 0 : i64}
      : (tensor<{n}x3x$T>, tensor<5xi32>) -> tensor<5x3x$T>
  return %0 : tensor<5x3x$T>
}
)");
  add("stablehlo.set_dimension_size", "", R"(func.func @main(%a: $X) -> $X {
  %n = stablehlo.constant dense<{n}> : tensor<i32>
  %0 = stablehlo.set_dimension_size %a, %n, dim = 0 : ($X, tensor<i32>) -> $X
  return %0 : $X
}
)");
  add("stablehlo.dynamic_broadcast_in_dim", "", R"(func.func @main(%a: $X) -> tensor<3x{n}x$T> {
  %s = stablehlo.constant dense<[3, {n}]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1]
      : ($X, tensor<2xi64>) -> tensor<3x{n}x$T>
  return %0 : tensor<3x{n}x$T>
}
)");
  add("stablehlo.dynamic_iota", "", R"(func.func @main() -> tensor<3x{n}x$T> {
  %s = stablehlo.constant dense<[3, {n}]> : tensor<2xi64>
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<3x{n}x$T>
  return %0 : tensor<3x{n}x$T>
}
)");
  add("stablehlo.dynamic_pad", "", R"(func.func @main(%a: $X, %v: $S) -> tensor<{n+3}x$T> {
  %l = stablehlo.constant dense<1> : tensor<1xi64>
  %h = stablehlo.constant dense<2> : tensor<1xi64>
  %i = stablehlo.constant dense<0> : tensor<1xi64>
  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i
      : ($X, $S, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<{n+3}x$T>
  return %0 : tensor<{n+3}x$T>
}
)");
  add("stablehlo.dynamic_reshape", "",
      R"(func.func @main(%a: tensor<{n}x6x$T>) -> tensor<2x{3n}x$T> {
  %s = stablehlo.constant dense<[2, {3n}]> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<{n}x6x$T>, tensor<2xi64>) -> tensor<2x{3n}x$T>
  return %0 : tensor<2x{3n}x$T>
}
)");
  add("stablehlo.dynamic_gather", "",
      R"(func.func @main(%a: tensor<{n}x3x$T>, %i: tensor<{n}x1xi32>) -> tensor<{n}x3x$T> {
  %s = stablehlo.constant dense<[1, 3]> : tensor<2xi64>
  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
                                          start_index_map = [0], index_vector_dim = 1>
  } : (tensor<{n}x3x$T>, tensor<{n}x1xi32>, tensor<2xi64>) -> tensor<{n}x3x$T>
  return %0 : tensor<{n}x3x$T>
}
)");
  add("stablehlo.real_dynamic_slice", "", R"(func.func @main(%a: $X) -> tensor<2x$T> {
  %b = stablehlo.constant dense<1> : tensor<1xi64>
  %e = stablehlo.constant dense<3> : tensor<1xi64>
  %s = stablehlo.constant dense<1> : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %a, %b, %e, %s
      : ($X, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x$T>
  return %0 : tensor<2x$T>
}
)");
}

}  // namespace pjrt::tool
