// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/attributes.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "pjrt/ir/context.h"

namespace pjrt::ir {
namespace {

using Ints = absl::InlinedVector<int64_t, 6>;

TEST(AttributesTest, EqualAttributesOfOneContextAreOneObject) {
  Context c;
  EXPECT_EQ(c.I64(3), c.I64(3));
  EXPECT_EQ(c.String("a"), c.String("a"));
  EXPECT_EQ(c.I64Array({1, 2}), c.I64Array({1, 2}));
  EXPECT_EQ(c.Array({c.Unit(), c.I32(1)}), c.Array({c.Unit(), c.I32(1)}));
  EXPECT_EQ(c.DenseI64({2}, {1, 2}), c.DenseI64({2}, {1, 2}));
  EXPECT_EQ(c.Dict({{"b", c.I64(1)}, {"a", c.Unit()}}), c.Dict({{"a", c.Unit()}, {"b", c.I64(1)}}));
}

TEST(AttributesTest, AttributesOfDifferentKindOrTypeAreDifferent) {
  Context c;
  EXPECT_NE(c.I64(3), c.I32(3));
  EXPECT_NE(c.String("a"), c.Symbol("a"));
  EXPECT_NE(c.Opaque("a"), c.Location("a"));
  EXPECT_NE(c.I64Array({1}), c.DenseArray(c.Integer(32), {1}));
  EXPECT_NE(c.DenseI64({2, 1}, {1, 2}), c.DenseI64({1, 2}, {1, 2}));
  EXPECT_NE(c.Float(0.0, c.Float("f32")), c.Float(-0.0, c.Float("f32")));
  EXPECT_NE(c.Enum("a.b", "X"), c.Enum("a.b", "Y"));
}

TEST(AttributesTest, LargeConstantsAreComparedByValue) {
  Context c, other;
  std::vector<int64_t> values(20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i);
  const Attribute a = c.DenseI64({20}, values);
  const Attribute b = c.DenseI64({20}, values);
  EXPECT_NE(a, b);
  EXPECT_TRUE(Equal(a, b));
  EXPECT_TRUE(Equal(c.Array({a}), c.Array({b})));
  EXPECT_TRUE(Equal(a, other.Import(a)));
  values[19] = 0;
  EXPECT_FALSE(Equal(a, c.DenseI64({20}, values)));
}

TEST(AttributesTest, EqualComparesAttributesOfDifferentContexts) {
  Context a, b;
  const auto make = [](Context& c) {
    return c.Dict(
        {{"list", c.Array({c.I64(1), c.Float(0.5, c.Float("f16")), c.TypeAttr(c.Token())})},
         {"struct", c.Struct("stablehlo.dot", {})},
         {"floats", c.DenseFloatArray(c.Float("f32"), {1.0, -0.0})}});
  };
  EXPECT_NE(make(a), make(b));
  EXPECT_TRUE(Equal(make(a), make(b)));
  EXPECT_EQ(b.Import(make(a)), make(b));
  EXPECT_FALSE(Equal(make(a), b.Unit()));
  EXPECT_FALSE(Equal(Attribute(), b.Unit()));
}

TEST(AttributesTest, IntegersWrapToTheirType) {
  Context c;
  EXPECT_EQ(c.Int(255, c.Integer(8)).AsInt(), -1);
  EXPECT_EQ(c.Int(255, c.Integer(8)), c.Int(-1, c.Integer(8)));
  EXPECT_EQ(c.Int(-1, c.Integer(8, Signedness::kUnsigned)).AsInt(), 255);
  EXPECT_EQ(c.Int(-1, c.Integer(64, Signedness::kUnsigned)).AsInt(), -1) << "the bits";
  EXPECT_EQ(c.Int(7, c.Integer(2)).AsInt(), -1);
  EXPECT_EQ(c.Int(-5, c.Index()).AsInt(), -5);
  EXPECT_EQ(c.Int(1, c.I1()), c.Bool(true));
}

TEST(AttributesTest, FloatsAreRoundedToTheirType) {
  Context c;
  EXPECT_EQ(c.Float(0.1, c.Float("f32")).AsFloat(), static_cast<double>(0.1f));
  EXPECT_EQ(c.Float(0.1, c.Float("f64")).AsFloat(), 0.1);
  EXPECT_EQ(c.Float(1e6, c.Float("f16")).AsFloat(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(c.Float(0.1, c.Float("f80")).AsFloat(), 0.1);
}

TEST(AttributesTest, AccessorsGiveEmptyValuesForOtherKinds) {
  Context c;
  const Attribute unit = c.Unit();
  EXPECT_TRUE(unit.AsBool());
  EXPECT_EQ(unit.AsInt(), 0);
  EXPECT_EQ(unit.AsFloat(), 0.0);
  EXPECT_EQ(unit.AsString(), "");
  EXPECT_FALSE(unit.AsType());
  EXPECT_FALSE(unit.type());
  EXPECT_TRUE(unit.elements().empty());
  EXPECT_TRUE(unit.entries().empty());
  EXPECT_TRUE(unit.ints().empty());
  EXPECT_TRUE(unit.raw_data().empty());
  EXPECT_FALSE(unit.Get("x"));
  EXPECT_EQ(unit.text(), "");
  EXPECT_FALSE(
      c.DenseStrings(c.Tensor({1}, c.OpaqueType("!a.b")), {c.String("x")}).elements().data());
  EXPECT_TRUE(c.I64(2).AsBool());
  EXPECT_EQ(c.Bool(true).AsInt(), 1);
}

TEST(AttributesTest, DictionariesAreSortedAndTheLastOfEqualNamesCounts) {
  Context c;
  const Attribute dict =
      c.Dict({{"b", c.I64(1)}, {"c", c.I64(2)}, {"a", c.I64(3)}, {"b", c.I64(4)}});
  ASSERT_EQ(dict.entries().size(), 3u);
  EXPECT_EQ(dict.entries()[0].name, "a");
  EXPECT_EQ(dict.entries()[1].name, "b");
  EXPECT_EQ(dict.entries()[2].name, "c");
  EXPECT_EQ(dict.Get("b"), c.I64(4));
  EXPECT_FALSE(dict.Get("d"));
  EXPECT_FALSE(dict.Get(""));
}

TEST(AttributesTest, StructsOfTheOpSetHaveAllTheirOptionalFields) {
  Context c;
  const Attribute dot =
      c.Struct("stablehlo.dot", {{"lhs_contracting_dimensions", c.I64Array({1})}});
  EXPECT_EQ(dot.name(), "stablehlo.dot");
  EXPECT_EQ(dot.entries().size(), 4u);
  EXPECT_EQ(dot.Get("lhs_contracting_dimensions"), c.I64Array({1}));
  EXPECT_EQ(dot.Get("rhs_batching_dimensions"), c.I64Array({}));
  EXPECT_EQ(c.Struct("stablehlo.gather", {}).Get("index_vector_dim"), c.I64(0));
  EXPECT_TRUE(c.Struct("other.dialect", {}).entries().empty());
}

TEST(AttributesTest, ConstantsWhoseElementsAreAllEqualAreSplats) {
  Context c;
  const Attribute splat = c.DenseI64({3}, {7, 7, 7});
  EXPECT_TRUE(splat.IsSplat());
  EXPECT_EQ(splat.raw_data().size(), 8u);
  EXPECT_EQ(splat, c.DenseSplatInt(c.Tensor({3}, S64), 7));
  EXPECT_FALSE(c.DenseI64({2}, {7, 8}).IsSplat());
  EXPECT_TRUE(c.DenseI64({}, {7}).IsSplat());
  EXPECT_FALSE(c.DenseI64({0}, {}).IsSplat());
  EXPECT_EQ(c.DenseSplatInt(c.Tensor({0}, S64), 7), c.DenseI64({0}, {}));
}

TEST(AttributesTest, SplatsRoundAndWrapToTheElementType) {
  Context c;
  const auto bytes = [&](PrimitiveType type, double value) {
    const absl::Span<const char> data = c.DenseSplat(c.Tensor({2}, type), value).raw_data();
    std::vector<int> numbers;
    for (char byte : data) numbers.push_back(static_cast<unsigned char>(byte));
    return numbers;
  };
  using Bytes = std::vector<int>;
  EXPECT_EQ(bytes(F32, 1.0), (Bytes{0x00, 0x00, 0x80, 0x3f}));
  EXPECT_EQ(bytes(BF16, 1.0), (Bytes{0x80, 0x3f}));
  EXPECT_EQ(bytes(F8E4M3FN, 1.0), (Bytes{0x38}));
  EXPECT_EQ(bytes(F4E2M1FN, -6.0), (Bytes{0x0f}));
  EXPECT_EQ(bytes(S4, -1), (Bytes{0xff}));
  EXPECT_EQ(bytes(U4, -1), (Bytes{0x0f}));
  EXPECT_EQ(bytes(PRED, 1), (Bytes{0x01}));
  EXPECT_EQ(bytes(S16, 70000), (Bytes{0x70, 0x11}));
  EXPECT_EQ(bytes(C64, 1.0), (Bytes{0, 0, 0x80, 0x3f, 0, 0, 0, 0}));
  EXPECT_EQ(bytes(S8, std::nan("")), (Bytes{0}));
  EXPECT_EQ(bytes(S64, 1e300), (Bytes{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}));
}

TEST(AttributesTest, BytesOfConstantsAreAlignedForTheirReaders) {
  Context c;
  for (int i = 1; i < 20; ++i) {
    c.Intern(std::string(static_cast<size_t>(i), 'x'));
    std::vector<int64_t> values = {1, i};
    const Attribute a = c.DenseI64({2}, values);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.raw_data().data()) % 16, 0u);
  }
}

TEST(AttributesTest, GetIntListReadsEverySpelling) {
  Context c;
  Ints out;
  EXPECT_TRUE(GetIntList(c.I64Array({1, -2}), &out));
  EXPECT_EQ(out, (Ints{1, -2}));
  EXPECT_TRUE(GetIntList(c.DenseArray(c.I1(), {1, 0}), &out));
  EXPECT_EQ(out, (Ints{1, 0}));
  EXPECT_TRUE(GetIntList(c.DenseI64({3}, {4, 5, 6}), &out));
  EXPECT_EQ(out, (Ints{4, 5, 6}));
  EXPECT_TRUE(GetIntList(c.DenseSplatInt(c.Tensor({2}, c.I1()), 1), &out));
  EXPECT_EQ(out, (Ints{1, 1}));
  EXPECT_TRUE(GetIntList(c.DenseSplatInt(c.Tensor({2}, c.Integer(4)), -3), &out));
  EXPECT_EQ(out, (Ints{-3, -3}));
  EXPECT_TRUE(GetIntList(c.Array({c.I64(7), c.Bool(true)}), &out));
  EXPECT_EQ(out, (Ints{7, 1}));
  EXPECT_TRUE(GetIntList(c.DenseI64({0}, {}), &out));
  EXPECT_TRUE(out.empty());
}

TEST(AttributesTest, GetIntListLeavesItsResultAloneForOtherAttributes) {
  Context c;
  Ints out = {42};
  EXPECT_FALSE(GetIntList(Attribute(), &out));
  EXPECT_FALSE(GetIntList(c.I64(1), &out));
  EXPECT_FALSE(GetIntList(c.String("1"), &out));
  EXPECT_FALSE(GetIntList(c.Array({c.I64(1), c.String("2")}), &out));
  EXPECT_FALSE(GetIntList(c.DenseI64({1, 2}, {1, 2}), &out));
  EXPECT_FALSE(GetIntList(c.DenseSplat(c.Tensor({2}, F32), 1), &out));
  EXPECT_FALSE(GetIntList(c.DenseFloatArray(c.Float("f32"), {1}), &out));
  EXPECT_FALSE(GetIntList(c.DenseSplatInt(c.Tensor({int64_t{1} << 40}, S64), 1), &out))
      << "a splat may claim more elements than memory holds";
  EXPECT_FALSE(GetIntList(c.Dense(c.Tensor({2}, S64), {}), &out)) << "the data is missing";
  EXPECT_EQ(out, (Ints{42}));
}

}  // namespace
}  // namespace pjrt::ir
