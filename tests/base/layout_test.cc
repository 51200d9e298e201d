// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/layout.h"

#include <string>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(LayoutTest, DefaultIsEmptyAndInTheDefaultMemorySpace) {
  const Layout layout;
  EXPECT_THAT(layout.minor_to_major(), IsEmpty());
  EXPECT_EQ(layout.memory_space(), kDefaultMemorySpace);
  EXPECT_EQ(layout.element_size_in_bits(), 0);
  EXPECT_EQ(layout.tail_padding_alignment_in_elements(), 1);
  EXPECT_EQ(layout.ToString(), "{}");
}

TEST(LayoutTest, DescendingIsRowMajorAndAscendingColumnMajor) {
  EXPECT_THAT(MakeDescendingLayout(3).minor_to_major(), ElementsAre(2, 1, 0));
  EXPECT_THAT(MakeAscendingLayout(3).minor_to_major(), ElementsAre(0, 1, 2));
  EXPECT_THAT(MakeLayoutFromMajorToMinor({1, 0, 2}).minor_to_major(), ElementsAre(2, 0, 1));
  EXPECT_THAT(MakeDescendingLayout(0).minor_to_major(), IsEmpty());
}

TEST(LayoutTest, MonotonicLayoutsAreRecognized) {
  EXPECT_TRUE(IsMonotonicWithDim0Major(MakeDescendingLayout(3)));
  EXPECT_FALSE(IsMonotonicWithDim0Minor(MakeDescendingLayout(3)));
  EXPECT_TRUE(IsMonotonicWithDim0Minor(MakeAscendingLayout(3)));
  EXPECT_FALSE(IsMonotonicWithDim0Major(Layout({1, 2, 0})));
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(IsMonotonicWithDim0Major(MakeAscendingLayout(rank)));
    EXPECT_TRUE(IsMonotonicWithDim0Minor(MakeDescendingLayout(rank)));
  }
}

TEST(LayoutTest, TextFormReadsBackTheSame) {
  for (const char* text :
       {"{}", "{0}", "{1,0}", "{0,2,1}", "{1,0:T(8,128)}", "{1,0:T(8,128)(2,1)E(4)S(5)}",
        "{0:T(*,2)}", "{:S(1)}", "{0:L(1024)}", "{0:E(4)}", "{2,1,0:S(5)M(256)}", "{0:T()}"}) {
    const auto layout = Layout::Parse(text);
    ASSERT_TRUE(layout.ok()) << text << ": " << layout.status();
    EXPECT_EQ(layout->ToString(), text);
  }
}

TEST(LayoutTest, ParsingFillsEveryField) {
  const auto layout = Layout::Parse(" { 1 , 0 : T ( 8 , * ) L(16) E(4) S(5) M(8) } ");
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_THAT(layout->minor_to_major(), ElementsAre(1, 0));
  ASSERT_EQ(layout->tiles().size(), 1u);
  EXPECT_THAT(layout->tiles()[0].dimensions(), ElementsAre(8, Tile::kCombineDimension));
  EXPECT_EQ(layout->tail_padding_alignment_in_elements(), 16);
  EXPECT_EQ(layout->element_size_in_bits(), 4);
  EXPECT_EQ(layout->memory_space(), kHostMemorySpace);
  EXPECT_EQ(layout->dynamic_shape_metadata_prefix_bytes(), 8);
}

TEST(LayoutTest, MalformedTextIsRefusedWithThePlace) {
  for (const char* text : {"", "{", "1,0", "{1,0", "{1,}", "{1,0}x", "{2,0}", "{0,0}", "{-1}",
                           "{1,0:", "{1,0:T}", "{1,0:T(}", "{1,0:T(0)}", "{1,0:E}", "{1,0:E(-4)}",
                           "{1,0:Q(4)}", "{99999999999999999999}", "{1,0:S(5)T(8", "{x}"}) {
    const auto layout = Layout::Parse(text);
    ASSERT_FALSE(layout.ok()) << text;
    EXPECT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(layout.status().message()), HasSubstr("[PJRT-B002]"));
    EXPECT_THAT(std::string(layout.status().message()), HasSubstr("character"));
  }
}

TEST(LayoutTest, HugeTextIsQuotedShort) {
  EXPECT_LT(Layout::Parse(std::string(1000000, '{')).status().message().size(), 400u);
}

TEST(LayoutTest, EveryFieldCountsForEqualityAndHash) {
  const Layout base({1, 0});
  const absl::Hash<Layout> hash;
  EXPECT_EQ(base, Layout({1, 0}));
  EXPECT_EQ(hash(base), hash(Layout({1, 0})));
  EXPECT_NE(base, Layout({0, 1}));
  EXPECT_NE(base, Layout({1, 0}, {Tile({2})}));
  EXPECT_NE(base, Layout({1, 0}, {}, 4));
  EXPECT_NE(base, Layout({1, 0}, {}, 0, kHostMemorySpace));
  EXPECT_NE(base, Layout({1, 0}).set_dynamic_shape_metadata_prefix_bytes(4));
  EXPECT_NE(base, Layout({1, 0}).set_tail_padding_alignment_in_elements(2));
}

TEST(LayoutTest, ValidationWantsAPermutationOfTheRank) {
  EXPECT_TRUE(ValidateLayout(Layout({1, 0}), 2).ok());
  EXPECT_TRUE(ValidateLayout(Layout(), 0).ok());
  for (const Layout& layout :
       {Layout({1, 0}), Layout({0, 0, 1}), Layout({0, 1, 3}), Layout({0, 1, -1}),
        Layout({0, 1, 2}, {Tile({0})}), Layout({0, 1, 2}, {}, -1), Layout({0, 1, 2}, {}, 0, -2),
        Layout({0, 1, 2}).set_tail_padding_alignment_in_elements(0)}) {
    const absl::Status status = ValidateLayout(layout, 3);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << layout.ToString();
    EXPECT_THAT(std::string(status.message()), HasSubstr("[PJRT-B003]"));
  }
}

}  // namespace
}  // namespace pjrt
