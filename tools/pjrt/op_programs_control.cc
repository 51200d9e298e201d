// SPDX-License-Identifier: Apache-2.0
//
// Programs of control flow, tuples and tokens, and of the ops between devices.
#include "absl/strings/str_cat.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {
namespace {

constexpr absl::string_view kSumRegion = R"(({
  ^bb0(%x: $S, %y: $S):
    %z = stablehlo.add %x, %y : $S
    stablehlo.return %z : $S
  }))";

// An op between devices on a group of one.
std::string Collective(absl::string_view op, absl::string_view region,
                       absl::string_view attributes) {
  return absl::StrCat("func.func @main(%a: $X) -> $X {\n  %0 = \"", op, "\"(%a) ", region, " {",
                      attributes, "} : ($X) -> $X\n  return %0 : $X\n}\n");
}

}  // namespace

void AddControlPrograms(std::vector<OpProgram>* programs) {
  const auto add = [&](absl::string_view op, absl::string_view variant, std::string text,
                       int64_t large = 20000) {
    programs->push_back({op, variant, std::move(text), true, large});
  };
  add("stablehlo.constant", "", R"(func.func @main(%a: $X) -> $X {
  %0 = stablehlo.constant dense<> : tensor<0x$T>
  %1 = stablehlo.concatenate %0, %a, dim = 0 : (tensor<0x$T>, $X) -> $X
  return %1 : $X
}
)");
  add("stablehlo.if", "", R"(func.func @main(%p: tensor<i1>, %a: $X, %b: $X) -> $X {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %a : $X
  }, {
    %1 = stablehlo.add %a, %b : $X
    stablehlo.return %1 : $X
  }) : (tensor<i1>) -> $X
  return %0 : $X
}
)");
  add("stablehlo.case", "", R"(func.func @main(%i: tensor<i32>, %a: $X, %b: $X) -> $X {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : $X
  }, {
    stablehlo.return %b : $X
  }, {
    %1 = stablehlo.add %a, %b : $X
    stablehlo.return %1 : $X
  }) : (tensor<i32>) -> $X
  return %0 : $X
}
)");
  add("stablehlo.while", "", R"(func.func @main(%a: $X) -> $X {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, $X
  cond {
    %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.add %x, %a : $X
    stablehlo.return %j, %y : tensor<i32>, $X
  }
  return %0#1 : $X
}
)");
  add("stablehlo.composite", "", R"(func.func private @twice(%x: $X) -> $X {
  %0 = stablehlo.add %x, %x : $X
  return %0 : $X
}
func.func @main(%a: $X) -> $X {
  %0 = stablehlo.composite "test.twice" %a {decomposition = @twice} : ($X) -> $X
  return %0 : $X
}
)");
  add("stablehlo.optimization_barrier", "", R"(func.func @main(%a: $X, %b: $S) -> ($X, $S) {
  %0, %1 = stablehlo.optimization_barrier %a, %b : $X, $S
  return %0, %1 : $X, $S
}
)");
  add("stablehlo.tuple", "", R"(func.func @main(%a: $X, %b: $S) -> $S {
  %0 = stablehlo.tuple %a, %b : tuple<$X, $S>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<$X, $S>) -> $S
  return %1 : $S
}
)");
  add("stablehlo.get_tuple_element", "of an argument", R"(func.func @main(%t: tuple<$X, $S>) -> $S {
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<$X, $S>) -> $S
  return %0 : $S
}
)");
  add("stablehlo.tuple", "as a result", R"(func.func @main(%a: $X, %b: $S) -> tuple<$X, $S> {
  %0 = stablehlo.tuple %a, %b : tuple<$X, $S>
  return %0 : tuple<$X, $S>
}
)");
  add("stablehlo.after_all", "", R"(func.func @main(%t: !stablehlo.token) -> !stablehlo.token {
  %0 = stablehlo.after_all : !stablehlo.token
  %1 = stablehlo.after_all %t, %0 : !stablehlo.token
  return %1 : !stablehlo.token
}
)");
  add("stablehlo.create_token", "", R"(func.func @main() -> !stablehlo.token {
  %0 = stablehlo.create_token : !stablehlo.token
  return %0 : !stablehlo.token
}
)");
  for (const absl::string_view op : {"stablehlo.partition_id", "stablehlo.replica_id"}) {
    add(op, "",
        absl::StrCat("func.func @main() -> tensor<ui32> {\n  %0 = ", op,
                     " : tensor<ui32>\n  return %0 : tensor<ui32>\n}\n"));
  }
  constexpr absl::string_view kGroups = "replica_groups = dense<[[0]]> : tensor<1x1xi64>";
  add("stablehlo.all_gather", "",
      Collective("stablehlo.all_gather", "", absl::StrCat("all_gather_dim = 0 : i64, ", kGroups)));
  add("stablehlo.all_reduce", "", Collective("stablehlo.all_reduce", kSumRegion, kGroups));
  add("stablehlo.all_to_all", "",
      Collective("stablehlo.all_to_all", "",
                 absl::StrCat("split_dimension = 0 : i64, concat_dimension = 0 : i64, "
                              "split_count = 1 : i64, ",
                              kGroups)));
  add("stablehlo.collective_broadcast", "",
      Collective("stablehlo.collective_broadcast", "", kGroups));
  add("stablehlo.collective_permute", "",
      Collective("stablehlo.collective_permute", "",
                 "source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>"));
  add("stablehlo.collective_reduce", "",
      Collective("stablehlo.collective_reduce", kSumRegion, kGroups));
  add("stablehlo.reduce_scatter", "",
      Collective("stablehlo.reduce_scatter", kSumRegion,
                 absl::StrCat("scatter_dimension = 0 : i64, ", kGroups)));
  add("stablehlo.cross-replica-sum", "", Collective("stablehlo.cross-replica-sum", "", kGroups));
  add("stablehlo.async_start", "", R"(func.func @main(%a: $X) -> tensor<2x$T> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%x: $X):
    %1 = stablehlo.slice %x [0:2] : ($X) -> tensor<2x$T>
    stablehlo.return %1 : tensor<2x$T>
  }) : ($X) -> !stablehlo.future<tensor<2x$T>>
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<2x$T>>) -> tensor<2x$T>
  return %2 : tensor<2x$T>
}
)");
  add("stablehlo.infeed", "", R"(func.func @main() -> $X {
  %t = stablehlo.after_all : !stablehlo.token
  %0:2 = "stablehlo.infeed"(%t) {infeed_config = ""}
      : (!stablehlo.token) -> ($X, !stablehlo.token)
  return %0#0 : $X
}
)");
  add("stablehlo.outfeed", "", R"(func.func @main(%a: $X) {
  %t = stablehlo.after_all : !stablehlo.token
  %0 = "stablehlo.outfeed"(%a, %t) {outfeed_config = ""} : ($X, !stablehlo.token) -> !stablehlo.token
  return
}
)");
  add("stablehlo.send", "", R"(func.func @main(%a: $X) {
  %t = stablehlo.after_all : !stablehlo.token
  %0 = "stablehlo.send"(%a, %t) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true
  } : ($X, !stablehlo.token) -> !stablehlo.token
  return
}
)");
  add("stablehlo.recv", "", R"(func.func @main() -> $X {
  %t = stablehlo.after_all : !stablehlo.token
  %0:2 = "stablehlo.recv"(%t) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true
  } : (!stablehlo.token) -> ($X, !stablehlo.token)
  return %0#0 : $X
}
)");
}

}  // namespace pjrt::tool
