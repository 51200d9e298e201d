// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/strided_copy.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/shape.h"

namespace pjrt {
namespace {

using testing::ElementsAre;

TEST(StridedCopyTest, ScalarsAndRunsAreCopied) {
  int32_t from = 7;
  int32_t to = 0;
  StridedCopy(4, {}, &from, {}, &to, {});
  EXPECT_EQ(to, 7);
  const std::vector<int16_t> source = {1, 2, 3, 4};
  std::vector<int16_t> target(4);
  StridedCopy(2, {2, 2}, source.data(), {4, 2}, target.data(), {4, 2});
  EXPECT_EQ(target, source);
}

TEST(StridedCopyTest, EmptyArraysTouchNothing) {
  StridedCopy(4, {3, 0}, nullptr, {0, 4}, nullptr, {0, 4});
}

TEST(StridedCopyTest, ZeroStridesRepeatAndNegativeOnesReverse) {
  const std::vector<int32_t> source = {1, 2, 3};
  std::vector<int32_t> target(6);
  StridedCopy(4, {2, 3}, source.data(), {0, 4}, target.data(), {12, 4});
  EXPECT_THAT(target, ElementsAre(1, 2, 3, 1, 2, 3));
  StridedCopy(4, {3}, source.data() + 2, {-4}, target.data(), {4});
  EXPECT_THAT(target, ElementsAre(3, 2, 1, 1, 2, 3));
}

TEST(StridedCopyTest, GapsInTheTargetStayAsTheyWere) {
  const std::vector<int8_t> source = {1, 2, 3};
  std::vector<int8_t> target(6, 9);
  StridedCopy(1, {3}, source.data(), {1}, target.data(), {2});
  EXPECT_THAT(target, ElementsAre(1, 9, 2, 9, 3, 9));
}

TEST(StridedCopyTest, NeitherSideNeedsAlignment) {
  std::vector<char> source(33);
  std::vector<char> target(33);
  std::iota(source.begin(), source.end(), 'A');
  StridedCopy(8, {2, 2}, source.data() + 1, {8, 16}, target.data() + 1, {16, 8});
  EXPECT_EQ(std::memcmp(target.data() + 9, source.data() + 17, 8), 0);
  EXPECT_EQ(std::memcmp(target.data() + 17, source.data() + 9, 8), 0);
}

template <typename T>
class StridedCopyOfTest : public testing::Test {};
using Widths = testing::Types<int8_t, int16_t, int32_t, int64_t, std::complex<double>>;
TYPED_TEST_SUITE(StridedCopyOfTest, Widths);

TYPED_TEST(StridedCopyOfTest, AnyOrderGoesToAnyOther) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const size_t rank = random() % 5;
    std::vector<int64_t> sizes;
    std::vector<int64_t> from_order;
    for (size_t i = 0; i < rank; ++i) {
      sizes.push_back(random() % 4 == 0 ? 1 : random() % (rank < 3 ? 40 : 7) + 1);
      from_order.push_back(static_cast<int64_t>(i));
    }
    std::vector<int64_t> to_order = from_order;
    std::shuffle(from_order.begin(), from_order.end(), random);
    std::shuffle(to_order.begin(), to_order.end(), random);
    const PrimitiveType type = sizeof(TypeParam) == 16 ? C128 : PrimitiveTypeOf<TypeParam>();
    const Shape from_shape = MakeShapeWithLayout(type, sizes, from_order);
    const Shape to_shape = MakeShapeWithLayout(type, sizes, to_order);
    std::vector<TypeParam> from(static_cast<size_t>(ElementCount(from_shape)));
    for (size_t i = 0; i < from.size(); ++i)
      from[i] = static_cast<TypeParam>(static_cast<int8_t>(i * 37));
    std::vector<TypeParam> to(from.size());
    StridedCopy(sizeof(TypeParam), sizes, from.data(), ByteStrides(from_shape), to.data(),
                ByteStrides(to_shape));

    // Visits the elements one by one in logical order.
    std::vector<int64_t> index(rank, 0);
    const DimensionVector from_strides = ElementStrides(from_shape);
    const DimensionVector to_strides = ElementStrides(to_shape);
    for (size_t n = 0; n < from.size(); ++n) {
      const int64_t a =
          std::inner_product(index.begin(), index.end(), from_strides.begin(), int64_t{0});
      const int64_t b =
          std::inner_product(index.begin(), index.end(), to_strides.begin(), int64_t{0});
      ASSERT_EQ(from[static_cast<size_t>(a)], to[static_cast<size_t>(b)])
          << round << ": " << from_shape.ToString();
      for (size_t d = rank; d-- > 0;) {
        if (++index[d] < sizes[d]) break;
        index[d] = 0;
      }
    }
  }
}

}  // namespace
}  // namespace pjrt
