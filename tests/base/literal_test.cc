// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/literal.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/base/machine_memory.h"
#include "tests/base/base_test_util.h"

namespace pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 0, 1, 2, ... in logical order, in memory as `minor_to_major` says.
Literal Counting(absl::Span<const int64_t> sizes, absl::Span<const int64_t> minor_to_major) {
  Literal literal = *Literal::Make(MakeShapeWithLayout(S32, sizes, minor_to_major));
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.SetLinear<int32_t>(i, static_cast<int32_t>(i));
  return literal;
}

TEST(LiteralTest, DefaultAndMovedFromAreTheEmptyTuple) {
  Literal literal;
  EXPECT_EQ(literal.shape().ToString(), "()");
  EXPECT_EQ(literal.element_count(), 0);
  EXPECT_EQ(literal.untyped_data(), nullptr);
  EXPECT_EQ(literal.ToString(), "()");
  Literal full = CreateR0(1.0f);
  const Literal taken = std::move(full);
  EXPECT_EQ(taken.Get<float>({}), 1.0f);
  EXPECT_EQ(full.shape().ToString(), "()");  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(full.untyped_data(), nullptr);
}

TEST(LiteralTest, NewLiteralsAreZeroAndRowMajor) {
  const absl::StatusOr<Literal> literal = Literal::Make(MakeShape(F32, {2, 3}));
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(literal->shape().ToString(), "f32[2,3]{1,0}");
  EXPECT_THAT(literal->data<float>(), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_EQ(literal->size_bytes(), 24);
}

TEST(LiteralTest, OnlyTheOrderOfALayoutIsKept) {
  const auto literal = Literal::Make(*Shape::Parse("s4[2,8]{0,1:T(8,128)E(4)S(5)}"));
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(literal->shape().ToString(), "s4[2,8]{0,1}");
  EXPECT_EQ(literal->size_bytes(), 16);
}

TEST(LiteralTest, MemoryIsAlignedForEveryArrayOfATuple) {
  Literal tuple = *Literal::Make(*Shape::Parse("(s8[3], f64[5], (u8[0], c64[7]))"));
  for (const ShapeIndex& index : {ShapeIndex{0}, ShapeIndex{1}, ShapeIndex{1}, ShapeIndex{2, 1}}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tuple.untyped_data(index)) % kLiteralAlignment, 0u);
  }
  EXPECT_EQ(tuple.untyped_data({2, 0}), nullptr);
}

TEST(LiteralTest, ImpossibleShapesAreErrors) {
  EXPECT_THAT(Message(Literal::Make(MakeShape(F32, {-1})).status()), HasSubstr("[PJRT-B005]"));
  EXPECT_THAT(Message(Literal::Make(MakeShape(F32, {kMaxInt64, kMaxInt64})).status()),
              HasSubstr("[PJRT-B005]"));
  EXPECT_THAT(Message(Literal::Make(MakeShape(F32, {5}, {true})).status()),
              HasSubstr("[PJRT-B007]"));
  EXPECT_THAT(Message(Literal::Make(MakeShape(F32, {Shape::kUnboundedSize})).status()),
              HasSubstr("[PJRT-B007]"));
  EXPECT_THAT(Message(Literal::Make(Shape()).status()), HasSubstr("[PJRT-B005]"));
}

TEST(LiteralTest, TooMuchMemoryIsAnErrorNotACrash) {
  for (const int64_t size :
       {MachineMemory() + 1, int64_t{1} << 60, kMaxInt64 - 1, kMaxInt64 / 2 - 8}) {
    const auto literal = Literal::Make(MakeShape(S8, {size}));
    EXPECT_EQ(literal.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(Message(literal.status()), HasSubstr("[PJRT-B008]"));
  }
  EXPECT_FALSE(Literal::Make(
                   MakeTupleShape({MakeShape(S8, {kMaxInt64 - 1}), MakeShape(S8, {kMaxInt64 - 1})}))
                   .ok());
}

TEST(LiteralTest, ScalarsVectorsAndMatricesAreMadeFromValues) {
  EXPECT_EQ(CreateR0(int32_t{7}).ToString(), "s32[] 7");
  EXPECT_EQ(CreateR1<float>({1, 2}).ToString(), "f32[2] {1, 2}");
  EXPECT_EQ(CreateR2<int8_t>({{1, 2, 3}, {4, 5, 6}}).ToString(), "s8[2,3] {{1, 2, 3}, {4, 5, 6}}");
  EXPECT_EQ(CreateR2<int8_t>({{1}, {2, 3}}).ToString(), "s8[2,2] {{1, 0}, {2, 3}}");
  EXPECT_EQ(CreateR1<bool>({true, false}).ToString(), "pred[2] {true, false}");
  EXPECT_EQ(CreateR0(half(0.5f)).ToString(), "f16[] 0.5");
  const std::vector<double> values = {1.5};
  EXPECT_EQ(CreateR1<double>(values).ToString(), "f64[1] {1.5}");
}

TEST(LiteralTest, FromSpanChecksTheCountAndTheStorageType) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Literal::FromSpan<float>({3, 2}, values)->ToString(),
            "f32[3,2] {{1, 2}, {3, 4}, {5, 6}}");
  EXPECT_THAT(Message(Literal::FromSpan<float>({4}, values).status()),
              HasSubstr("[PJRT-B006] 6 values"));
  EXPECT_THAT(Message(Literal::FromSpan<float>({kMaxInt64, 2}, values).status()),
              HasSubstr("[PJRT-B006]"));
  EXPECT_THAT(Message(Literal::FromSpan<float>(S32, {6}, values).status()),
              HasSubstr("[PJRT-B011]"));
}

TEST(LiteralTest, SubByteValuesKeepTheirLowBits) {
  const std::vector<int8_t> values = {7, 8, -8, -9, 15};
  EXPECT_EQ(Literal::FromSpan<int8_t>(S4, {5}, values)->ToString(), "s4[5] {7, -8, -8, 7, -1}");
  const std::vector<uint8_t> unsigned_values = {3, 4, 7};
  EXPECT_EQ(Literal::FromSpan<uint8_t>(U2, {3}, unsigned_values)->ToString(), "u2[3] {3, 0, 3}");
  Literal bits = *Literal::Make(MakeShape(S1, {2}));
  bits.Set<int8_t>({1}, 1);
  EXPECT_EQ(bits.ToString(), "s1[2] {0, -1}");
}

TEST(LiteralTest, ElementsAreFoundByIndexWhateverTheLayout) {
  for (const std::vector<int64_t>& order :
       std::vector<std::vector<int64_t>>{{2, 1, 0}, {0, 1, 2}, {1, 2, 0}}) {
    const Literal literal = Counting({2, 3, 4}, order);
    int32_t expected = 0;
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 3; ++j) {
        for (int64_t k = 0; k < 4; ++k) {
          EXPECT_EQ(literal.Get<int32_t>({i, j, k}), expected);
          EXPECT_EQ(literal.GetLinear<int32_t>(expected), expected);
          ++expected;
        }
      }
    }
  }
  EXPECT_THAT(Counting({2, 3}, {0, 1}).data<int32_t>(), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(Counting({2, 3}, {0, 1}).PhysicalIndex({1, 2}), 5);
  EXPECT_EQ(Counting({2, 3}, {0, 1}).PhysicalIndex({0, 1}), 2);
}

TEST(LiteralTest, WrongIndicesAndTypesNeverTouchMemory) {
  Literal literal = CreateR2<float>({{1, 2}, {3, 4}});
  for (const DimensionVector& index :
       {DimensionVector{2, 0}, DimensionVector{0, -1}, DimensionVector{0}, DimensionVector{},
        DimensionVector{0, 0, 0}, DimensionVector{kMaxInt64, kMaxInt64}}) {
    EXPECT_EQ(literal.Get<float>(index), 0.0f);
    EXPECT_EQ(literal.PhysicalIndex(index), -1);
    EXPECT_EQ(literal.GetAsDouble(index), std::nullopt);
    EXPECT_EQ(literal.GetAsString(index), "");
    literal.Set<float>(index, 9);
  }
  literal.SetLinear<float>(4, 9);
  literal.SetLinear<float>(-1, 9);
  EXPECT_EQ(literal.GetLinear<float>(4), 0.0f);
  EXPECT_EQ(literal.Get<int32_t>({0, 0}), 0);
  literal.Set<int32_t>({0, 0}, 9);
  EXPECT_THAT(literal.data<double>(), IsEmpty());
  EXPECT_EQ(literal.Get<float>({0, 0}, {0}), 0.0f);
  EXPECT_EQ(literal.untyped_data({3}), nullptr);
  EXPECT_EQ(literal, CreateR2<float>({{1, 2}, {3, 4}}));
}

TEST(LiteralTest, EmptyArraysHaveNoElements) {
  Literal literal = *Literal::Make(MakeShape(F32, {2, 0, 3}));
  EXPECT_EQ(literal.element_count(), 0);
  EXPECT_EQ(literal.size_bytes(), 0);
  EXPECT_EQ(literal.untyped_data(), nullptr);
  EXPECT_THAT(literal.data<float>(), IsEmpty());
  EXPECT_EQ(literal, *literal.Clone());
  EXPECT_EQ(literal.GetFirstElement<float>(), 0.0f);
  EXPECT_TRUE(literal.IsAllZero());
}

TEST(LiteralTest, EqualityIsOfBitsAndShapesNotOfLayouts) {
  EXPECT_EQ(Counting({2, 3, 4}, {2, 1, 0}), Counting({2, 3, 4}, {1, 0, 2}));
  EXPECT_EQ(Counting({40, 50}, {0, 1}), Counting({40, 50}, {1, 0}));
  Literal changed = Counting({40, 50}, {0, 1});
  changed.Set<int32_t>({39, 48}, -1);
  EXPECT_NE(changed, Counting({40, 50}, {1, 0}));
  EXPECT_NE(CreateR1<float>({1, 2}), CreateR1<float>({1, 3}));
  EXPECT_NE(CreateR1<float>({1}), CreateR0<float>(1));
  EXPECT_NE(CreateR0(1.0f), CreateR0(int32_t{1}));
  EXPECT_NE(CreateR0(0.0f), CreateR0(-0.0f));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(CreateR0(nan), CreateR0(nan));
}

TEST(LiteralTest, RelayoutMovesElementsAndKeepsTheirIndices) {
  const Literal row_major = Counting({3, 4, 5}, {2, 1, 0});
  for (const std::vector<int64_t>& order :
       std::vector<std::vector<int64_t>>{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}) {
    const auto other = row_major.Relayout(Layout(order));
    ASSERT_TRUE(other.ok());
    EXPECT_THAT(other->shape().layout().minor_to_major(), testing::ElementsAreArray(order));
    EXPECT_EQ(*other, row_major);
    EXPECT_EQ(*other->Relayout(MakeDescendingLayout(3)), row_major);
    EXPECT_EQ(other->Get<int32_t>({2, 3, 4}), 59);
  }
  EXPECT_THAT(Message(row_major.Relayout(Layout({0, 1})).status()), HasSubstr("[PJRT-B003]"));
  EXPECT_THAT(Message(row_major.Relayout(MakeShape(S32, {60})).status()), HasSubstr("[PJRT-B009]"));
  EXPECT_FALSE(Literal().Relayout(Layout()).ok());
}

TEST(LiteralTest, ReshapeKeepsTheLogicalOrder) {
  const Literal literal = Counting({3, 4}, {0, 1});
  const auto flat = literal.Reshape({12});
  ASSERT_TRUE(flat.ok());
  EXPECT_THAT(flat->data<int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(Message(literal.Reshape({13}).status()), HasSubstr("[PJRT-B009]"));
  EXPECT_FALSE(literal.Reshape({kMaxInt64, kMaxInt64}).ok());
}

TEST(LiteralTest, TuplesAreMadeFromTheirElementsAndTakenApartAgain) {
  std::vector<Literal> elements;
  elements.push_back(CreateR0(1.5f));
  elements.push_back(CreateR1<int32_t>({1, 2}));
  elements.push_back(CreateToken());
  elements.push_back(*Literal::Make(MakeShape(F32, {0})));
  const void* data = elements[1].untyped_data();
  Literal tuple = Literal::MakeTuple(std::move(elements));
  EXPECT_EQ(tuple.shape().ToString(/*print_layout=*/false), "(f32[], s32[2], token[], f32[0])");
  EXPECT_EQ(tuple.untyped_data({1}), data);
  EXPECT_EQ(tuple.Get<int32_t>({1}, {1}), 2);
  EXPECT_EQ(tuple.size_bytes(), 12);

  std::vector<Literal> parts = tuple.DecomposeTuple();
  EXPECT_EQ(tuple.ToString(), "()");
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].ToString(), "f32[] 1.5");
  EXPECT_EQ(parts[1].untyped_data(), data);
  EXPECT_EQ(parts[2].ToString(), "token[]");
  EXPECT_EQ(parts[3].ToString(), "f32[0] {}");
  EXPECT_EQ(CreateR0(2.0f).DecomposeTuple().at(0), CreateR0(2.0f));
}

TEST(LiteralTest, ElementsOutliveTheTupleTheyCameFrom) {
  Literal part;
  {
    Literal tuple = *Literal::Make(*Shape::Parse("(f32[1000], (s32[1000], s8[3]))"));
    ASSERT_TRUE(tuple.CopyFrom(Counting({1000}, {0}), {1, 0}).ok());
    std::vector<Literal> parts = tuple.DecomposeTuple();
    part = std::move(parts[1].DecomposeTuple()[0]);
  }
  EXPECT_EQ(part, Counting({1000}, {0}));
}

TEST(LiteralTest, NestedTuplesAreAccessedByIndex) {
  std::vector<Literal> inner;
  inner.push_back(CreateR0(int32_t{5}));
  std::vector<Literal> outer;
  outer.push_back(Literal::MakeTuple(std::move(inner)));
  outer.push_back(CreateR0(2.0f));
  Literal tuple = Literal::MakeTuple(std::move(outer));
  EXPECT_EQ(tuple.Get<int32_t>({}, {0, 0}), 5);
  tuple.Set<int32_t>({}, 6, {0, 0});
  EXPECT_EQ(tuple.ToString(), "((s32[] 6), f32[] 2)");
  const auto copy = tuple.Clone();
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(*copy, tuple);
  EXPECT_NE(copy->untyped_data({1}), tuple.untyped_data({1}));
}

TEST(LiteralTest, CopyFromConvertsBetweenLayoutsAndChecksShapes) {
  Literal target = *Literal::Make(*Shape::Parse("(s32[3,4]{0,1}, f32[])"));
  ASSERT_TRUE(target.CopyFrom(Counting({3, 4}, {1, 0}), {0}).ok());
  EXPECT_EQ(LiteralSlice(target, {0}), Counting({3, 4}, {1, 0}));
  ASSERT_TRUE(target.CopyFrom(CreateR0(3.0f), {1}).ok());
  EXPECT_EQ(target.Get<float>({}, {1}), 3.0f);
  EXPECT_THAT(Message(target.CopyFrom(CreateR0(3.0f), {0})), HasSubstr("[PJRT-B009]"));
  EXPECT_FALSE(target.CopyFrom(CreateR0(3.0f), {7}).ok());
  const Literal whole = *target.Clone();
  ASSERT_TRUE(target.CopyFrom(whole).ok());
  Literal scalar = CreateR0(0.0f);
  ASSERT_TRUE(scalar.CopyFrom(whole, {}, {1}).ok());
  EXPECT_EQ(scalar.GetFirstElement<float>(), 3.0f);
}

TEST(LiteralTest, PopulateWritesEveryElement) {
  Literal literal = *Literal::Make(MakeShape(U4, {3}));
  ASSERT_TRUE(literal.PopulateWithValue<uint8_t>(0x1f).ok());
  EXPECT_THAT(literal.data<uint8_t>(), ElementsAre(15, 15, 15));
  EXPECT_THAT(Message(literal.PopulateWithValue<float>(1)), HasSubstr("[PJRT-B011]"));
}

TEST(LiteralTest, SlicesViewTheWholeOrAPart) {
  Literal tuple = *Literal::Make(*Shape::Parse("(f32[2], s32[])"));
  tuple.Set<float>({1}, 4, {0});
  const LiteralSlice part(tuple, {0});
  EXPECT_EQ(part.data<float>().data(), tuple.data<float>({0}).data());
  EXPECT_EQ(part.ToString(), "f32[2] {0, 4}");
  const LiteralSlice copy = part;
  EXPECT_EQ(copy.Get<float>({1}), 4.0f);
  EXPECT_EQ(LiteralSlice(tuple), tuple);
  EXPECT_EQ(LiteralSlice(tuple, {9}).ToString(), "()");
}

TEST(LiteralTest, BorrowedMemoryIsReadAndWrittenInPlace) {
  std::vector<float> memory = {1, 2, 3, 4};
  const BorrowingLiteral view(memory.data(), MakeShapeWithLayout(F32, {2, 2}, {0, 1}));
  EXPECT_EQ(view.Get<float>({0, 1}), 3.0f);
  MutableBorrowingLiteral writable(memory.data(), MakeShape(F32, {4}));
  writable.Set<float>({2}, 9);
  EXPECT_THAT(memory, ElementsAre(1, 2, 9, 4));
  EXPECT_EQ(view.Get<float>({0, 1}), 9.0f);
  const BorrowingLiteral copy = view;
  EXPECT_EQ(copy, view);
}

TEST(LiteralTest, BorrowedTuplesTakeOnePointerAnArray) {
  float a = 1;
  int32_t b[2] = {2, 3};
  const Shape shape = *Shape::Parse("(f32[], token[], s32[2])");
  const BorrowingLiteral view({&a, b}, shape);
  EXPECT_EQ(view.ToString(), "(f32[] 1, token[], s32[2] {2, 3})");
  MutableBorrowingLiteral writable(std::vector<void*>{&a, b}, shape);
  writable.Set<int32_t>({0}, 7, {2});
  EXPECT_EQ(b[0], 7);
  EXPECT_EQ(BorrowingLiteral(&a, shape).ToString(), "()");
  EXPECT_EQ(BorrowingLiteral(&a, MakeShape(F32, {5}, {true})).ToString(), "()");
}

TEST(LiteralTest, MutableBorrowingLiteralWritesToTheLiteralItViews) {
  Literal tuple = *Literal::Make(*Shape::Parse("(f32[2], s32[])"));
  MutableBorrowingLiteral whole(&tuple);
  whole.Set<int32_t>({}, 3, {1});
  MutableBorrowingLiteral part(&tuple, {0});
  ASSERT_TRUE(part.CopyFrom(CreateR1<float>({1, 2})).ok());
  EXPECT_EQ(tuple.ToString(), "(f32[2] {1, 2}, s32[] 3)");
}

}  // namespace
}  // namespace pjrt
