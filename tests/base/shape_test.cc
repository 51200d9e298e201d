// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/shape.h"

#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/base/base_test_util.h"

namespace pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ShapeTest, DefaultIsNoShape) {
  const Shape shape;
  EXPECT_EQ(shape.element_type(), INVALID);
  EXPECT_FALSE(shape.IsArray() || shape.IsTuple() || shape.IsToken() || shape.IsOpaque());
  EXPECT_FALSE(ValidateShape(shape).ok());
}

TEST(ShapeTest, ArraysHaveTypeAndSizes) {
  const Shape shape = MakeShape(F32, {2, 3});
  EXPECT_TRUE(shape.IsArray());
  EXPECT_EQ(shape.rank(), 2);
  EXPECT_THAT(shape.dimensions(), ElementsAre(2, 3));
  EXPECT_TRUE(shape.is_static());
  EXPECT_FALSE(shape.has_layout());
  EXPECT_THAT(shape.layout().minor_to_major(), IsEmpty());
}

TEST(ShapeTest, UnboundedSizesAreDynamicByThemselves) {
  Shape shape = MakeShape(F32, {2, Shape::kUnboundedSize});
  EXPECT_TRUE(shape.is_dynamic_dimension(1));
  EXPECT_TRUE(shape.is_unbounded_dynamic_dimension(1));
  EXPECT_TRUE(shape.is_unbounded_dynamic());
  EXPECT_FALSE(shape.is_bounded_dynamic_dimension(1));
  shape.set_dimensions(0, Shape::kUnboundedSize);
  EXPECT_TRUE(shape.is_dynamic_dimension(0));
}

TEST(ShapeTest, BoundedDimensionsKeepTheirBound) {
  const Shape shape = MakeShape(F32, {5, 2}, {true, false});
  EXPECT_TRUE(shape.is_bounded_dynamic_dimension(0));
  EXPECT_FALSE(shape.is_unbounded_dynamic());
  EXPECT_TRUE(shape.is_dynamic());
  EXPECT_EQ(ElementCount(shape), 10);
  EXPECT_EQ(StaticShape(shape), MakeShape(F32, {5, 2}));
}

TEST(ShapeTest, DynamicElementsMakeATupleDynamic) {
  const Shape tuple = MakeTupleShape({MakeScalarShape(F32), MakeShape(S8, {4}, {true})});
  EXPECT_TRUE(tuple.is_dynamic());
  EXPECT_FALSE(tuple.is_unbounded_dynamic());
  EXPECT_TRUE(MakeTupleShape({MakeShape(S8, {Shape::kUnboundedSize})}).is_unbounded_dynamic());
}

TEST(ShapeTest, TextFormReadsBackTheSame) {
  for (const char* text :
       {"f32[]", "f32[2,3]", "f32[2,3]{1,0}", "s32[0]", "pred[7]{0}", "f32[<=5,?]",
        "f32[<=5,?]{0,1}", "()", "(f32[2], token[])", "((), (s4[8]{0:E(4)}, opaque[]))", "token[]",
        "opaque[]", "c128[1,2,3,4]{3,2,1,0:S(5)}", "f8e4m3b11fnuz[2]",
        "bf16[9223372036854775807,0]", "f32[]{:S(5)}"}) {
    const auto shape = Shape::Parse(text);
    if (std::string(text).find("9223372036854775807") != std::string::npos) {
      EXPECT_FALSE(shape.ok());
      continue;
    }
    ASSERT_TRUE(shape.ok()) << text << ": " << shape.status();
    EXPECT_EQ(shape->ToString(), text);
    EXPECT_EQ(*Shape::Parse(shape->ToString()), *shape);
  }
}

TEST(ShapeTest, LayoutsCanBeLeftOutOfTheText) {
  EXPECT_EQ(Shape::Parse("(f32[2,3]{0,1}, s8[1]{0})")->ToString(/*print_layout=*/false),
            "(f32[2,3], s8[1])");
}

TEST(ShapeTest, BlanksAndCommentsDoNotMatterToTheParser) {
  EXPECT_EQ(Shape::Parse(" ( f32 [ 2 , 3 ] { 1 , 0 } , /*index=1*/ token [ ] ) ")->ToString(),
            "(f32[2,3]{1,0}, token[])");
}

TEST(ShapeTest, MalformedTextIsRefusedWithThePlace) {
  for (const char* text : {"",
                           "f32",
                           "f32[",
                           "f32[2",
                           "f32[2,",
                           "f32[2,]",
                           "f32[-2]",
                           "f32[<=]",
                           "f32[<=?]",
                           "f32[2]x",
                           "float[2]",
                           "(f32[2]",
                           "(f32[2],)",
                           "(,)",
                           "token[2]",
                           "tuple[]",
                           "f32[99999999999999999999]",
                           "f32[2]{0,1}x",
                           "f32[2]{1}",
                           "invalid[]",
                           "f32[2 3]",
                           "/* never ends f32[2]"}) {
    const auto shape = Shape::Parse(text);
    ASSERT_FALSE(shape.ok()) << text;
    EXPECT_THAT(std::string(shape.status().message()), HasSubstr("[PJRT-B004]"));
    EXPECT_THAT(std::string(shape.status().message()), HasSubstr("character"));
  }
}

TEST(ShapeTest, WhatParsesIsValid) {
  EXPECT_THAT(std::string(Shape::Parse("f32[2,3]{0}").status().message()),
              HasSubstr("[PJRT-B003]"));
  EXPECT_THAT(std::string(Shape::Parse("f32[4294967296,4294967296]").status().message()),
              HasSubstr("[PJRT-B005]"));
}

TEST(ShapeTest, DeeplyNestedTextIsRefusedWithoutDescending) {
  EXPECT_FALSE(Shape::Parse(std::string(100000, '(')).ok());
  const std::string deep = std::string(100, '(') + std::string(100, ')');
  EXPECT_TRUE(Shape::Parse(deep).ok());
  EXPECT_FALSE(Shape::Parse("(" + deep + ")").ok());
}

TEST(ShapeTest, ElementCountsSaturateInsteadOfOverflowing) {
  EXPECT_EQ(ElementCount(MakeShape(F32, {})), 1);
  EXPECT_EQ(ElementCount(MakeShape(F32, {2, 3, 4})), 24);
  EXPECT_EQ(ElementCount(MakeShape(F32, {kMaxInt64, 2})), kMaxInt64);
  EXPECT_EQ(ElementCount(MakeShape(F32, {kMaxInt64, kMaxInt64, kMaxInt64})), kMaxInt64);
  EXPECT_EQ(ElementCount(MakeShape(F32, {kMaxInt64, kMaxInt64, 0})), 0);
  EXPECT_EQ(ElementCount(MakeShape(F32, {-3, 4})), 0);
  EXPECT_EQ(ElementCount(MakeShape(F32, {Shape::kUnboundedSize, 4})), kMaxInt64);
  EXPECT_EQ(ElementCount(MakeShape(F32, {Shape::kUnboundedSize, 0})), 0);
  EXPECT_EQ(ElementCount(MakeTokenShape()), 0);
}

TEST(ShapeTest, ByteSizesCountUnpackedElements) {
  EXPECT_EQ(ByteSize(MakeShape(F32, {2, 3})), 24);
  EXPECT_EQ(ByteSize(MakeShape(S4, {3})), 3);
  EXPECT_EQ(ByteSize(MakeShape(C128, {2})), 32);
  EXPECT_EQ(ByteSize(MakeShape(PRED, {})), 1);
  EXPECT_EQ(ByteSize(MakeShape(F64, {kMaxInt64 / 4})), kMaxInt64);
  EXPECT_EQ(ByteSize(MakeTupleShape(
                {MakeShape(F32, {2}), MakeTokenShape(), MakeTupleShape({MakeShape(S8, {3})})})),
            11);
  EXPECT_EQ(ByteSize(MakeTupleShape({MakeShape(S8, {kMaxInt64}), MakeShape(S8, {kMaxInt64})})),
            kMaxInt64);
}

TEST(ShapeTest, PackedByteSizesPackWhatDividesAByte) {
  EXPECT_EQ(PackedByteSize(MakeShape(S4, {4})), 2);
  EXPECT_EQ(PackedByteSize(MakeShape(S4, {5})), 3);
  EXPECT_EQ(PackedByteSize(MakeShape(U2, {5})), 2);
  EXPECT_EQ(PackedByteSize(MakeShape(U1, {9})), 2);
  EXPECT_EQ(PackedByteSize(MakeShape(F4E2M1FN, {3})), 2);
  EXPECT_EQ(PackedByteSize(MakeShape(F6E2M3FN, {3})), 3);
  EXPECT_EQ(PackedByteSize(MakeShape(F32, {3})), 12);
  EXPECT_EQ(PackedByteSize(MakeShape(S4, {0})), 0);
  EXPECT_EQ(PackedByteSize(MakeShape(S4, {kMaxInt64})), kMaxInt64);
  EXPECT_EQ(PackedByteSize(*Shape::Parse("s4[4]{0:E(8)}")), 4);
  EXPECT_EQ(PackedByteSize(*Shape::Parse("s8[4]{0:E(4)}")), 2);
  EXPECT_EQ(PackedByteSize(MakeTupleShape({MakeShape(S4, {3}), MakeShape(S4, {3})})), 4);
}

TEST(ShapeTest, ValidationNamesWhatIsWrong) {
  const auto message = [](const Shape& shape) {
    return std::string(ValidateShape(shape).message());
  };
  EXPECT_TRUE(ValidateShape(MakeShape(F32, {2, 0, 3})).ok());
  EXPECT_TRUE(ValidateShape(MakeShape(F32, {Shape::kUnboundedSize})).ok());
  EXPECT_TRUE(ValidateShape(MakeTupleShape({})).ok());
  EXPECT_THAT(message(MakeShape(F32, {2, -3})), HasSubstr("dimension 1 is -3"));
  EXPECT_THAT(message(MakeShape(F32, {kMaxInt64, 3})), HasSubstr("63 bits"));
  EXPECT_THAT(message(MakeShape(F32, {kMaxInt64, 3, 0})), HasSubstr("63 bits"));
  EXPECT_THAT(message(MakeShape(TOKEN, {2})), HasSubstr("only arrays"));
  EXPECT_THAT(message(MakeShape(static_cast<PrimitiveType>(99), {})), HasSubstr("99"));
  EXPECT_THAT(message(MakeTupleShape({MakeShape(F32, {-1})})), HasSubstr("dimension 0"));
  EXPECT_THAT(message(MakeShapeWithLayout(F32, {2}, {1})),
              HasSubstr("[PJRT-B003] shape f32[2]{1}"));
  Shape unmarked = MakeShape(F32, {Shape::kUnboundedSize});
  unmarked.set_dynamic_dimension(0, false);
  EXPECT_THAT(message(unmarked), HasSubstr("not marked dynamic"));
  Shape nested = MakeTupleShape({});
  for (int i = 0; i < 200; ++i) nested = MakeTupleShape({nested});
  EXPECT_THAT(message(nested), HasSubstr("levels"));
}

TEST(ShapeTest, ErrorsAboutShapesOfHugeRankStayShort) {
  std::vector<int64_t> sizes(100000, 1);
  sizes.back() = -1;
  EXPECT_LT(ValidateShape(MakeShape(F32, sizes)).message().size(), 400u);
}

TEST(ShapeTest, EqualityCountsEverythingUnlessToldOtherwise) {
  const Shape a = MakeShapeWithLayout(F32, {2, 3}, {1, 0});
  const Shape b = MakeShapeWithLayout(F32, {2, 3}, {0, 1});
  const Shape none = MakeShape(F32, {2, 3});
  EXPECT_NE(a, b);
  EXPECT_NE(a, none);
  EXPECT_TRUE(Shape::Equal().IgnoreLayout()(a, b));
  EXPECT_TRUE(Shape::Equal().MinorToMajorOnly()(a, none));
  EXPECT_FALSE(Shape::Equal().MinorToMajorOnly()(b, none));
  EXPECT_TRUE(Compatible(a, b));
  EXPECT_FALSE(Compatible(a, MakeShape(F32, {3, 2})));
  EXPECT_FALSE(Compatible(a, MakeShape(F16, {2, 3})));
  EXPECT_TRUE(CompatibleIgnoringElementType(a, MakeShape(S8, {2, 3})));
  EXPECT_FALSE(CompatibleIgnoringElementType(MakeScalarShape(F32), MakeTokenShape()));
  EXPECT_TRUE(Shape::Equal().IgnoreLayout().IgnoreFloatPrecision()(a, MakeShape(BF16, {2, 3})));
  EXPECT_FALSE(Shape::Equal().IgnoreLayout().IgnoreFloatPrecision()(a, MakeShape(S32, {2, 3})));
}

TEST(ShapeTest, EqualityCanLookAwayFromMemorySpaceAndDynamicFlags) {
  const Shape a = *Shape::Parse("f32[2]{0:S(5)}");
  const Shape b = *Shape::Parse("f32[2]{0}");
  EXPECT_NE(a, b);
  EXPECT_TRUE(Shape::Equal().IgnoreMemorySpace()(a, b));
  EXPECT_FALSE(Shape::Equal().IgnoreMemorySpace()(a, *Shape::Parse("f32[2]{0:E(4)}")));
  EXPECT_NE(MakeShape(F32, {5}, {true}), MakeShape(F32, {5}));
  EXPECT_TRUE(
      Shape::Equal().IgnoreDynamicDimensions()(MakeShape(F32, {5}, {true}), MakeShape(F32, {5})));
}

TEST(ShapeTest, TuplesAreComparedElementByElement) {
  const Shape a = MakeTupleShape({MakeShape(F32, {2}), MakeTokenShape()});
  EXPECT_EQ(a, MakeTupleShape({MakeShape(F32, {2}), MakeTokenShape()}));
  EXPECT_NE(a, MakeTupleShape({MakeShape(F32, {3}), MakeTokenShape()}));
  EXPECT_NE(a, MakeTupleShape({MakeShape(F32, {2})}));
  EXPECT_NE(MakeTokenShape(), MakeOpaqueShape());
}

TEST(ShapeTest, EqualShapesHashAlike) {
  const absl::Hash<Shape> hash;
  EXPECT_EQ(hash(*Shape::Parse("(f32[<=2]{0}, token[])")),
            hash(*Shape::Parse("(f32[<=2]{0}, token[])")));
  EXPECT_NE(hash(*Shape::Parse("f32[<=2]")), hash(*Shape::Parse("f32[2]")));
}

TEST(ShapeTest, StridesFollowTheLayout) {
  EXPECT_THAT(ElementStrides(MakeShape(F32, {2, 3, 4})), ElementsAre(12, 4, 1));
  EXPECT_THAT(ElementStrides(MakeShapeWithLayout(F32, {2, 3, 4}, {0, 1, 2})), ElementsAre(1, 2, 6));
  EXPECT_THAT(ByteStrides(MakeShapeWithLayout(F64, {2, 3, 4}, {1, 2, 0})), ElementsAre(96, 8, 24));
  EXPECT_THAT(ElementStrides(MakeShape(F32, {2, 0, 4})), ElementsAre(4, 4, 1));
  EXPECT_THAT(ElementStrides(MakeScalarShape(F32)), IsEmpty());
}

TEST(ShapeTest, DefaultLayoutsGoWhereThereIsNone) {
  const Shape shape = WithDefaultLayouts(*Shape::Parse("(f32[2,3], s8[2,3]{0,1}, token[])"));
  EXPECT_EQ(shape.ToString(), "(f32[2,3]{1,0}, s8[2,3]{0,1}, token[])");
}

TEST(ShapeTest, ClearingTheLayoutReachesIntoTuples) {
  Shape shape = *Shape::Parse("(f32[2]{0}, (s8[1]{0}))");
  shape.clear_layout();
  EXPECT_EQ(shape.ToString(), "(f32[2], (s8[1]))");
}

TEST(ShapeTest, SubshapesAreFoundByIndexAndVisitedInOrder) {
  const Shape shape = *Shape::Parse("(f32[2], (s8[1], token[]))");
  EXPECT_EQ(*FindSubshape(shape, {}), shape);
  EXPECT_EQ(*FindSubshape(shape, {1, 0}), MakeShape(S8, {1}));
  EXPECT_EQ(FindSubshape(shape, {2}), nullptr);
  EXPECT_EQ(FindSubshape(shape, {0, 0}), nullptr);
  EXPECT_EQ(FindSubshape(shape, {-1}), nullptr);
  std::vector<std::string> seen;
  ForEachSubshape(shape,
                  [&](const Shape& part, const ShapeIndex&) { seen.push_back(part.ToString()); });
  EXPECT_THAT(seen, ElementsAre("(f32[2], (s8[1], token[]))", "f32[2]", "(s8[1], token[])", "s8[1]",
                                "token[]"));
}

}  // namespace
}  // namespace pjrt
