// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/types.h"

#include <limits>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/context.h"

namespace pjrt::ir {
namespace {

TEST(TypesTest, EqualTypesOfOneContextAreOneObject) {
  Context c;
  EXPECT_EQ(c.Integer(32), c.Integer(32));
  EXPECT_EQ(c.Float("f32"), c.ElementType(F32));
  EXPECT_EQ(c.Tensor({2, kDynamic}, F32), c.Tensor({2, kDynamic}, c.Float("f32")));
  EXPECT_EQ(c.Tuple({c.Token(), c.I1()}), c.Tuple({c.Token(), c.I1()}));
  EXPECT_EQ(c.Function({c.I1()}, {}), c.Function({c.I1()}, {}));
}

TEST(TypesTest, TypesThatDifferInOnePartAreDifferent) {
  Context c;
  const Type f32 = c.Float("f32");
  EXPECT_NE(c.Integer(32), c.Integer(32, Signedness::kUnsigned));
  EXPECT_NE(c.Integer(32), c.Integer(32, Signedness::kSigned));
  EXPECT_NE(c.Tensor({2}, f32), c.Tensor({2, 1}, f32));
  EXPECT_NE(c.Tensor({kDynamic}, f32), c.Tensor({kDynamic}, f32, {4}));
  EXPECT_NE(c.Tensor({2}, f32), c.Tensor({2}, f32, {}, c.Opaque("#sparse.x")));
  EXPECT_NE(c.Tensor({2}, f32), c.MemRef({2}, f32));
  EXPECT_NE(c.Tensor({2}, f32), c.Vector({2}, f32));
  EXPECT_NE(c.Function({f32}, {}), c.Function({}, {f32}));
  EXPECT_NE(c.Tuple({f32}), c.Future({f32}));
}

TEST(TypesTest, EqualComparesTypesOfDifferentContexts) {
  Context a, b;
  const auto make = [](Context& c) {
    return c.Function({c.Tensor({2, kDynamic}, c.Float("bf16"), {kDynamic, 5})},
                      {c.Tuple({c.Token(), c.Tensor({}, C64)})});
  };
  EXPECT_NE(make(a), make(b));
  EXPECT_TRUE(Equal(make(a), make(b)));
  EXPECT_FALSE(Equal(make(a), b.Token()));
  EXPECT_FALSE(Equal(make(a), Type()));
  EXPECT_TRUE(Equal(Type(), Type()));
  EXPECT_EQ(b.Import(make(a)), make(b));
}

TEST(TypesTest, ElementTypesHaveTheRuntimesNames) {
  Context c;
  EXPECT_EQ(c.I1().primitive_type(), PRED);
  EXPECT_EQ(c.Integer(8).primitive_type(), S8);
  EXPECT_EQ(c.Integer(8, Signedness::kSigned).primitive_type(), S8);
  EXPECT_EQ(c.Integer(2, Signedness::kUnsigned).primitive_type(), U2);
  EXPECT_EQ(c.Float("f8E4M3FN").primitive_type(), F8E4M3FN);
  EXPECT_EQ(c.Complex(c.Float("f64")).primitive_type(), C128);
  EXPECT_EQ(c.Tensor({3}, S4).primitive_type(), S4);
  EXPECT_EQ(c.Token().primitive_type(), TOKEN);
  EXPECT_EQ(c.Tuple({}).primitive_type(), TUPLE);
}

TEST(TypesTest, TypesThatTheRuntimeDoesNotComputeWithHaveNoName) {
  Context c;
  EXPECT_EQ(c.Index().primitive_type(), INVALID);
  EXPECT_EQ(c.Integer(3).primitive_type(), INVALID);
  EXPECT_EQ(c.Float("tf32").primitive_type(), INVALID);
  EXPECT_EQ(c.Float("f128").primitive_type(), INVALID);
  EXPECT_EQ(c.OpaqueType("!a.b").primitive_type(), INVALID);
}

TEST(TypesTest, ElementTypeUndoesPrimitiveType) {
  Context c;
  for (int i = 0; i < kPrimitiveTypeLimit; ++i) {
    const auto primitive = static_cast<PrimitiveType>(i);
    const Type type = c.ElementType(primitive);
    if (IsArrayType(primitive) || primitive == TOKEN) {
      ASSERT_TRUE(type) << PrimitiveTypeName(primitive);
      EXPECT_EQ(type.primitive_type(), primitive);
    } else {
      EXPECT_FALSE(type) << PrimitiveTypeName(primitive);
    }
  }
}

TEST(TypesTest, FloatIsNullForOtherNames) {
  Context c;
  EXPECT_FALSE(c.Float("f33"));
  EXPECT_FALSE(c.Float("i32"));
  EXPECT_FALSE(c.Float(""));
  EXPECT_EQ(c.Float("f80").bit_width(), 80);
  EXPECT_EQ(c.Float("f6E2M3FN").bit_width(), 6);
}

TEST(TypesTest, ShapesKnowTheirSizes) {
  Context c;
  EXPECT_EQ(c.Tensor({}, F32).element_count(), 1);
  EXPECT_EQ(c.Tensor({2, 3, 4}, F32).element_count(), 24);
  EXPECT_EQ(c.Tensor({1 << 20, 0, 1 << 30, 1 << 30}, F32).element_count(), 0);
  EXPECT_EQ(c.Tensor({int64_t{1} << 40, int64_t{1} << 40}, F32).element_count(),
            std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(c.Tensor({2}, F32).HasStaticShape());
  EXPECT_FALSE(c.Tensor({2, kDynamic}, F32).HasStaticShape());
  EXPECT_FALSE(c.UnrankedTensor(c.I1()).HasStaticShape());
  EXPECT_TRUE(c.Token().HasStaticShape());
  EXPECT_FALSE(c.Tuple({c.Tensor({kDynamic}, F32), c.Token()}).HasStaticShape());
}

TEST(TypesTest, TypesPrintAsTheTextHasThem) {
  Context c;
  const Type f32 = c.Float("f32");
  const std::pair<Type, const char*> cases[] = {
      {Type(), "<null>"},
      {c.None(), "none"},
      {c.Index(), "index"},
      {c.I1(), "i1"},
      {c.Integer(4, Signedness::kUnsigned), "ui4"},
      {c.Integer(64, Signedness::kSigned), "si64"},
      {c.Float("f8E4M3B11FNUZ"), "f8E4M3B11FNUZ"},
      {c.Complex(f32), "complex<f32>"},
      {c.Tensor({}, F32), "tensor<f32>"},
      {c.Tensor({0, 4}, F32), "tensor<0x4xf32>"},
      {c.Tensor({kDynamic, 3}, f32, {5, kDynamic}), "tensor<?x3xf32, #stablehlo.bounds<5, ?>>"},
      {c.Tensor({2}, f32, {}, c.Opaque("#sparse_tensor.encoding<{}>")),
       "tensor<2xf32, #sparse_tensor.encoding<{}>>"},
      {c.Tensor({2}, f32, {}, c.String("x")), "tensor<2xf32, \"x\">"},
      {c.UnrankedTensor(f32), "tensor<*xf32>"},
      {c.MemRef({4, kDynamic}, f32), "memref<4x?xf32>"},
      {c.MemRef({4}, f32, c.I64(1)), "memref<4xf32, 1 : i64>"},
      {c.Vector({4}, f32), "vector<4xf32>"},
      {c.Tuple({}), "tuple<>"},
      {c.Tuple({c.Tensor({}, F32), c.Token()}), "tuple<tensor<f32>, !stablehlo.token>"},
      {c.Future({c.Tensor({2}, F32)}), "!stablehlo.future<tensor<2xf32>>"},
      {c.OpaqueType("!shape.shape"), "!shape.shape"},
      {c.Function({}, {}), "() -> ()"},
      {c.Function({f32}, {f32}), "(f32) -> f32"},
      {c.Function({f32, c.I1()}, {f32, c.I1()}), "(f32, i1) -> (f32, i1)"},
      {c.Function({}, {c.Function({}, {f32})}), "() -> (() -> f32)"},
  };
  for (const auto& [type, text] : cases) EXPECT_EQ(type.ToString(), text);
}

QuantizedParams Quantized(Context& c, int width, absl::string_view expressed,
                          Signedness signedness = Signedness::kSignless) {
  QuantizedParams q;
  q.storage_type = c.Integer(width, signedness);
  q.expressed_type = c.Float(expressed);
  const bool is_unsigned = signedness == Signedness::kUnsigned;
  q.storage_min = is_unsigned ? 0 : -(int64_t{1} << (width - 1));
  q.storage_max = (int64_t{1} << (is_unsigned ? width : width - 1)) - 1;
  return q;
}

TEST(TypesTest, QuantizedTypesPerTensorPrintScaleAndZeroPoint) {
  Context c;
  const std::vector<double> scales = {0.5};
  std::vector<int64_t> zero_points = {0};
  QuantizedParams q = Quantized(c, 8, "f32");
  q.scales = scales;
  q.zero_points = zero_points;
  EXPECT_EQ(c.Quantized(q).ToString(), "!quant.uniform<i8:f32, 0.5>");
  zero_points[0] = -3;
  EXPECT_EQ(c.Quantized(q).ToString(), "!quant.uniform<i8:f32, 0.5:-3>");
  q.storage_min = -127;
  EXPECT_EQ(c.Quantized(q).ToString(), "!quant.uniform<i8<-127:127>:f32, 0.5:-3>");
  EXPECT_TRUE(c.Quantized(q).quantized().IsPerTensor());

  QuantizedParams u = Quantized(c, 4, "bf16", Signedness::kUnsigned);
  u.scales = scales;
  zero_points[0] = 15;
  u.zero_points = zero_points;
  EXPECT_EQ(c.Quantized(u).ToString(), "!quant.uniform<u4:bf16, 0.5:15>");
}

TEST(TypesTest, QuantizedTypesPerAxisAndPerBlockPrintAllScales) {
  Context c;
  const std::vector<double> scales = {2.0, 3e20, 0.1, 1.0};
  const std::vector<int64_t> zero_points = {15, 0, -1, 0};
  const std::vector<int64_t> axis = {1};
  QuantizedParams q = Quantized(c, 8, "f32");
  q.axes = axis;
  q.scales = absl::MakeConstSpan(scales).first(2);
  q.zero_points = absl::MakeConstSpan(zero_points).first(2);
  EXPECT_EQ(c.Quantized(q).ToString(), "!quant.uniform<i8:f32:1, {2.0:15, 3.0e+20}>");
  EXPECT_TRUE(c.Quantized(q).quantized().IsPerAxis());

  const std::vector<int64_t> axes = {0, 1};
  const std::vector<int64_t> blocks = {1, 2};
  const std::vector<int64_t> dims = {2, 2};
  q.axes = axes;
  q.block_sizes = blocks;
  q.scale_dims = dims;
  q.scales = scales;
  q.zero_points = zero_points;
  EXPECT_EQ(c.Quantized(q).ToString(),
            "!quant.uniform<i8:f32:{0:1, 1:2}, {{2.0:15, 3.0e+20}, {0.1:-1, 1.0}}>");
}

TEST(TypesTest, QuantizedTypesAreInternedByTheirParameters) {
  Context c, other;
  std::vector<double> scales = {0.5};
  const std::vector<int64_t> zero_points = {1};
  QuantizedParams q = Quantized(c, 8, "f32");
  q.scales = scales;
  q.zero_points = zero_points;
  const Type first = c.Quantized(q);
  EXPECT_EQ(first, c.Quantized(q));
  EXPECT_TRUE(Equal(first, other.Import(first)));
  scales[0] = 0.25;
  EXPECT_NE(first, c.Quantized(q));
  EXPECT_EQ(first.quantized().scales[0], 0.5) << "the context keeps a copy of its own";
  EXPECT_FALSE(Equal(first, other.Import(c.Quantized(q))));
}

TEST(TypesTest, ElementTypesAreThoseOfTensors) {
  Context c;
  EXPECT_TRUE(c.I1().IsElementType());
  EXPECT_TRUE(c.Index().IsElementType());
  EXPECT_TRUE(c.Complex(c.Float("f32")).IsElementType());
  EXPECT_TRUE(c.OpaqueType("!tf.resource").IsElementType());
  EXPECT_FALSE(c.Tensor({}, F32).IsElementType());
  EXPECT_FALSE(c.Token().IsElementType());
  EXPECT_FALSE(c.Tuple({}).IsElementType());
}

}  // namespace
}  // namespace pjrt::ir
