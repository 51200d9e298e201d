// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/printer.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"
#include "tests/ir/ir_test_util.h"

namespace pjrt::ir {
namespace {

class PrinterTest : public ::testing::Test {
 protected:
  // A function @f(vector, scalar) -> () to put ops into.
  PrinterTest() {
    vector_ = c_.Tensor({4}, F32);
    scalar_ = c_.Tensor({}, F32);
    function_ = module_.AddFunction("f", c_.Function({vector_, scalar_}, {}));
    body_ = function_.body();
    x_ = body_->argument(0);
    y_ = body_->argument(1);
  }

  Op* Add(absl::string_view name, const std::vector<Value*>& operands,
          const std::vector<Type>& results, const std::vector<NamedAttribute>& attributes = {},
          size_t regions = 0) {
    return AddOp(body_, name, operands, results, attributes, regions);
  }

  // The module's text between the function's first line and its last, which must parse to an equal
  // module.
  std::string Body(const PrintOptions& options = {}) {
    const std::string text = PrintModule(module_, options);
    const auto again = ParseModule(text);
    EXPECT_TRUE(again.ok()) << again.status() << "\n" << text;
    EXPECT_TRUE(again.ok() && Equal(module_, **again)) << text;
    const size_t begin = text.find('\n', text.find("func")) + 1;
    const size_t end = text.rfind("\n  }");
    return end > begin ? text.substr(begin, end - begin) : text;
  }

  Module module_;
  Context& c_ = module_.context();
  Type vector_, scalar_;
  Function function_;
  Block* body_;
  Value* x_;
  Value* y_;
};

TEST_F(PrinterTest, ModulesAndFunctionsPrintTheirAttributes) {
  module_.set_name("jit f");
  module_.SetAttr("mhlo.num_replicas", c_.I32(1));
  Op* f = function_.op();
  f->SetAttr("sym_visibility", c_.String("public"));
  f->SetAttr("function_type", c_.TypeAttr(c_.Function({vector_, scalar_}, {vector_})));
  f->SetAttr("arg_attrs", c_.Array({c_.Dict({{"tf.aliasing_output", c_.I32(0)}}), c_.Dict({})}));
  f->SetAttr("res_attrs", c_.Array({c_.Dict({{"jax.result_info", c_.String("")}})}));
  f->SetAttr("x", c_.Unit());
  Add("func.return", {x_}, {});
  const std::string expected =
      "module @\"jit f\" attributes {mhlo.num_replicas = 1 : i32} {\n"
      "  func.func public @f(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: "
      "tensor<f32>) -> "
      "(tensor<4xf32> {jax.result_info = \"\"}) attributes {x} {\n"
      "    return %arg0 : tensor<4xf32>\n"
      "  }\n"
      "}\n";
  EXPECT_EQ(PrintModule(module_), expected);
  Body();
}

TEST_F(PrinterTest, DeclarationsHaveNoBody) {
  Add("func.return", {}, {});
  OpState state;
  const NamedAttribute attributes[] = {
      {"function_type", c_.TypeAttr(c_.Function({vector_}, {scalar_, scalar_}))},
      {"sym_name", c_.String("g")},
      {"sym_visibility", c_.String("private")}};
  state.name = "func.func";
  state.attributes = attributes;
  state.num_regions = 1;
  module_.Append(module_.body(), state);
  EXPECT_TRUE(
      absl::StrContains(PrintModule(module_),
                        "  func.func private @g(tensor<4xf32>) -> (tensor<f32>, tensor<f32>)\n}"));
  Body();
}

TEST_F(PrinterTest, ValuesAreNumberedByFunctionAndNestedRegionsGoOn) {
  Op* two = Add("a.b", {x_}, {scalar_, scalar_}, {}, 2);
  for (size_t i = 0; i < 2; ++i) {
    Block* inner = AddBlock(two->region(i), {scalar_});
    AddOp(inner, "a.c", {inner->argument(0), x_}, {scalar_});
  }
  Op* last = Add("a.d", {two->result(0), two->result(1)}, {scalar_});
  Add("func.return", {}, {});
  Function g = module_.AddFunction("g", c_.Function({scalar_}, {}));
  AddOp(g.body(), "a.e", {g.body()->argument(0)}, {scalar_});
  AddOp(g.body(), "func.return", {}, {});
  EXPECT_FALSE(last->HasResultUses());
  const std::string text = PrintModule(module_);
  EXPECT_TRUE(absl::StrContains(
      text,
      "    %0:2 = \"a.b\"(%arg0) ({\n"
      "    ^bb0(%arg2: tensor<f32>):\n"
      "      %2 = \"a.c\"(%arg2, %arg0) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>\n"
      "    }, {\n"
      "    ^bb0(%arg2: tensor<f32>):\n"
      "      %2 = \"a.c\"(%arg2, %arg0) : (tensor<f32>, tensor<4xf32>) -> tensor<f32>\n"
      "    }) : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)\n"
      "    %1 = \"a.d\"(%0#0, %0#1) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"))
      << text;
  EXPECT_TRUE(absl::StrContains(text, "    %0 = \"a.e\"(%arg0) : (tensor<f32>) -> tensor<f32>\n"))
      << text;
  Body();
}

TEST_F(PrinterTest, PrettyFormsSayOpsBriefly) {
  Add("stablehlo.add", {x_, x_}, {vector_});
  Add("stablehlo.add", {x_, x_}, {c_.Tensor({kDynamic}, F32)}, {{"k", c_.I64(1)}});
  Add("stablehlo.iota", {}, {vector_}, {{"iota_dimension", c_.I64(0)}});
  Add("stablehlo.broadcast_in_dim", {y_}, {vector_}, {{"broadcast_dimensions", c_.I64Array({})}});
  Add("stablehlo.custom_call", {x_}, {},
      {{"call_target_name", c_.String("a b")}, {"api_version", c_.I32(4)}});
  Add("func.call", {x_, y_}, {}, {{"callee", c_.Symbol("f")}});
  Add("stablehlo.reduce_precision", {x_}, {vector_},
      {{"exponent_bits", c_.I32(5)}, {"mantissa_bits", c_.I32(10)}});
  Add("chlo.top_k", {x_}, {vector_, c_.Tensor({4}, S32)}, {{"k", c_.I64(4)}});
  Add("func.return", {}, {});
  EXPECT_EQ(
      Body(),
      "    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>\n"
      "    %1 = stablehlo.add %arg0, %arg0 {k = 1 : i64} : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<?xf32>\n"
      "    %2 = stablehlo.iota dim = 0 : tensor<4xf32>\n"
      "    %3 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
      "    stablehlo.custom_call @\"a b\"(%arg0) {api_version = 4 : i32} : (tensor<4xf32>) -> ()\n"
      "    call @f(%arg0, %arg1) : (tensor<4xf32>, tensor<f32>) -> ()\n"
      "    %4 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>\n"
      "    %5:2 = chlo.top_k(%arg0, k = 4) : tensor<4xf32> -> (tensor<4xf32>, tensor<4xi32>)\n"
      "    return");
}

// What a pretty form cannot say comes in the generic form.
TEST_F(PrinterTest, OpsThatTheirPrettyFormDoesNotFitPrintGenerically) {
  Add("stablehlo.iota", {}, {vector_}, {{"iota_dimension", c_.I32(0)}});
  Add("stablehlo.broadcast_in_dim", {y_}, {vector_},
      {{"broadcast_dimensions", c_.DenseI64({0}, {})}});
  Add("stablehlo.broadcast_in_dim", {y_}, {vector_});
  Add("stablehlo.add", {x_}, {vector_});
  Add("stablehlo.add", {x_, x_}, {vector_, vector_});
  Add("stablehlo.compare", {x_, x_}, {c_.Tensor({4}, PRED)},
      {{"comparison_direction", c_.Enum("stablehlo.precision", "HIGH")}});
  Add("stablehlo.slice", {x_}, {vector_}, {{"start_indices", c_.I64Array({0})}});
  Add("stablehlo.constant", {}, {vector_}, {{"value", c_.Opaque("#a.b<1>")}});
  Add("stablehlo.return", {}, {}, {{"k", c_.Unit()}});
  Add("stablehlo.while", {x_}, {vector_}, {}, 2);
  Add("stablehlo.reduce", {x_, y_}, {scalar_}, {{"dimensions", c_.I64Array({0})}}, 1);
  Add("sdy.mesh", {}, {}, {{"sym_name", c_.String("m")}, {"mesh", c_.Opaque("#other.mesh<[]>")}});
  Add("func.return", {}, {});
  const std::string text = Body();
  for (
      const char* line :
      {"\"stablehlo.iota\"() <{iota_dimension = 0 : i32}> : () -> tensor<4xf32>",
       "\"stablehlo.broadcast_in_dim\"(%arg1) <{broadcast_dimensions = dense<> : tensor<0xi64>}> :",
       "\"stablehlo.broadcast_in_dim\"(%arg1) : (tensor<f32>)", "\"stablehlo.add\"(%arg0) :",
       ":2 = \"stablehlo.add\"(%arg0, %arg0) :", "\"stablehlo.compare\"(", "\"stablehlo.slice\"(",
       "\"stablehlo.constant\"(", "\"stablehlo.return\"() {k} : () -> ()",
       "\"stablehlo.while\"(%arg0) ({\n    }, {\n    }) :",
       "\"stablehlo.reduce\"(%arg0, %arg1) <{dimensions = array<i64: 0>}> ({\n", "\"sdy.mesh\"("}) {
    EXPECT_TRUE(absl::StrContains(text, line)) << line << " in\n" << text;
  }
}

TEST_F(PrinterTest, RegionsThatAreEmptyAndBlocksThatAreEmptyAreTold) {
  Op* op = Add("a.b", {}, {}, {}, 3);
  AddBlock(op->region(1), {});
  AddBlock(op->region(2), {});
  Block* second = AddBlock(op->region(2), {scalar_, scalar_});
  AddOp(second, "a.c", {second->argument(1)}, {});
  Add("func.return", {}, {});
  EXPECT_EQ(Body(),
            "    \"a.b\"() ({\n"
            "    }, {\n"
            "    ^bb0:\n"
            "    }, {\n"
            "    ^bb0:\n"
            "    ^bb1(%arg2: tensor<f32>, %arg3: tensor<f32>):\n"
            "      \"a.c\"(%arg3) : (tensor<f32>) -> ()\n"
            "    }) : () -> ()\n"
            "    return");
}

TEST_F(PrinterTest, TheGenericFormShowsPropertiesAndAttributes) {
  Add("stablehlo.iota", {}, {vector_},
      {{"iota_dimension", c_.I64(0)}, {"mhlo.sharding", c_.String("{replicated}")}});
  Add("func.return", {}, {});
  PrintOptions options;
  options.generic = true;
  const std::string text = PrintModule(module_, options);
  EXPECT_EQ(text,
            "module {\n"
            "  \"func.func\"() <{function_type = (tensor<4xf32>, tensor<f32>) -> (), sym_name = "
            "\"f\"}> ({\n"
            "  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<f32>):\n"
            "    %0 = \"stablehlo.iota\"() <{iota_dimension = 0 : i64}> {mhlo.sharding = "
            "\"{replicated}\"} : () -> "
            "tensor<4xf32>\n"
            "    \"func.return\"() : () -> ()\n"
            "  }) : () -> ()\n"
            "}\n");
  Body(options);
}

TEST_F(PrinterTest, LocationsPrintWhenAskedFor) {
  x_->set_location(c_.Location("loc(\"x\")"));
  Op* op = Add("stablehlo.negate", {x_}, {vector_});
  op->set_location({1, 2, c_.Location("loc(\"file.py\":3:4)")});
  Add("func.return", {}, {});
  EXPECT_FALSE(absl::StrContains(PrintModule(module_), "loc("));
  PrintOptions options;
  options.locations = true;
  const std::string text = PrintModule(module_, options);
  EXPECT_TRUE(absl::StrContains(text, "@f(%arg0: tensor<4xf32> loc(\"x\"), %arg1: tensor<f32>) {"))
      << text;
  EXPECT_TRUE(
      absl::StrContains(text, "stablehlo.negate %arg0 : tensor<4xf32> loc(\"file.py\":3:4)\n"))
      << text;
  Body(options);
}

TEST_F(PrinterTest, ConstantsAreElidedWhenAskedFor) {
  Add("stablehlo.constant", {}, {c_.Tensor({2}, S64)}, {{"value", c_.DenseI64({2}, {1, 2})}});
  Add("func.return", {}, {});
  PrintOptions options;
  options.elide_constants_above = 1;
  EXPECT_TRUE(absl::StrContains(PrintModule(module_, options),
                                "stablehlo.constant dense_resource<__elided__> : tensor<2xi64>"));
}

TEST_F(PrinterTest, ReductionsWithASimpleBodyAreOneLine) {
  const auto reduce = [this](absl::string_view name, bool swap) {
    Op* op = Add("stablehlo.reduce", {x_, y_}, {scalar_}, {{"dimensions", c_.I64Array({0})}}, 1);
    Block* block = AddBlock(op->region(), {scalar_, scalar_});
    Op* inner = AddOp(block, name, {block->argument(swap ? 1 : 0), block->argument(swap ? 0 : 1)},
                      {scalar_});
    AddOp(block, "stablehlo.return", {inner->result()}, {});
  };
  reduce("stablehlo.maximum", false);
  reduce("stablehlo.maximum", true);
  reduce("stablehlo.subtract", false);
  Add("func.return", {}, {});
  EXPECT_EQ(Body(),
            "    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across "
            "dimensions = [0] : "
            "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
            "    %1 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : "
            "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
            "    reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {\n"
            "      %3 = stablehlo.maximum %arg3, %arg2 : tensor<f32>\n"
            "      stablehlo.return %3 : tensor<f32>\n"
            "    }\n"
            "    %2 = stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : "
            "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
            "    reducer(%arg2: tensor<f32>, %arg3: tensor<f32>) {\n"
            "      %3 = stablehlo.subtract %arg2, %arg3 : tensor<f32>\n"
            "      stablehlo.return %3 : tensor<f32>\n"
            "    }\n"
            "    return");
}

TEST_F(PrinterTest, ALoneOpNamesWhatComesFromOutside) {
  Op* outside = Add("a.b", {}, {scalar_, scalar_});
  Op* loop = Add("stablehlo.while", {outside->result(1)}, {scalar_}, {}, 2);
  for (size_t i = 0; i < 2; ++i) {
    Block* block = AddBlock(loop->region(i), {scalar_});
    AddOp(block, "stablehlo.return", {i == 0 ? y_ : block->argument(0)}, {});
  }
  EXPECT_EQ(PrintOp(*loop),
            "%1 = stablehlo.while(%arg1 = %0#1) : tensor<f32>\n"
            "cond {\n"
            "  stablehlo.return %arg0 : tensor<f32>\n"
            "} do {\n"
            "  stablehlo.return %arg1 : tensor<f32>\n"
            "}");
  EXPECT_EQ(PrintOp(*outside), "%0:2 = \"a.b\"() : () -> (tensor<f32>, tensor<f32>)");
}

TEST_F(PrinterTest, ModulesThatNoParserMadeStillPrint) {
  Add("stablehlo.add", {nullptr, x_}, {vector_});
  Module other;
  Function g =
      other.AddFunction("g", other.context().Function({other.context().Tensor({}, F32)}, {}));
  Add("a.b", {g.body()->argument(0)}, {});
  Add("stablehlo.negate", {x_}, {vector_}, {}, 1);
  const std::string text = PrintModule(module_);
  EXPECT_TRUE(absl::StrContains(text, "\"stablehlo.add\"(<null>, %arg0)")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\"a.b\"(%unknown)")) << text;
  EXPECT_TRUE(absl::StrContains(text, "\"stablehlo.negate\"(%arg0) ({\n    }) :")) << text;
}

TEST_F(PrinterTest, AReturnInTheMiddleDoesNotTakeTheNextLineForItsOperands) {
  Add("func.return", {}, {});
  Add("a.b", {}, {scalar_});
  EXPECT_EQ(Body(),
            "    \"func.return\"() : () -> ()\n"
            "    %0 = \"a.b\"() : () -> tensor<f32>");
}

// A shardy program, whose forms are seen nowhere else in these tests.
TEST(PrinterTextTest, TheFormsOfSdyReadBack) {
  constexpr absl::string_view kText = R"(module {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
      %3 = stablehlo.negate %arg1 : tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    sdy.sharding_group %2 group_id=21 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
)";
  const auto module = ParseModule(kText);
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(PrintModule(**module), kText);
}

}  // namespace
}  // namespace pjrt::ir
