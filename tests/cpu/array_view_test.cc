// SPDX-License-Identifier: Apache-2.0
//
// Views against the definitions of the ops, on random views of views.
#include "src/cpu_device/compile/array_view.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

std::vector<int64_t> Vec(const Dims& dims) {
  return std::vector<int64_t>(dims.begin(), dims.end());
}

// The buffer positions that a view shows, in row-major order of its dims.
std::vector<int64_t> Positions(const ArrayView& view) {
  std::vector<int64_t> positions;
  const std::vector<int64_t> dims = Vec(view.dims);
  for (int64_t i = 0; i < view.ElementCount(); ++i) {
    const std::vector<int64_t> at = Coordinates(i, dims);
    int64_t position = view.offset;
    for (size_t d = 0; d < at.size(); ++d) position += at[d] * view.strides[d];
    positions.push_back(position);
  }
  return positions;
}

class RandomViews {
 public:
  explicit RandomViews(uint32_t seed) : random_(seed) {}

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }

  ArrayView Make() {
    std::vector<int64_t> dims(Below(5));
    for (int64_t& d : dims) d = Below(20) == 0 ? 0 : 1 + Below(6);
    ArrayView view = DenseView(3, F32, dims);
    for (int64_t steps = Below(4); steps > 0; --steps) view = Change(view);
    return view;
  }

  std::vector<int64_t> Permutation(size_t rank) {
    std::vector<int64_t> permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random_);
    return permutation;
  }

  void SliceArguments(const ArrayView& view, std::vector<int64_t>* starts,
                      std::vector<int64_t>* limits, std::vector<int64_t>* strides) {
    for (int64_t d : view.dims) {
      starts->push_back(Below(d + 1));
      limits->push_back(starts->back() + Below(d - starts->back() + 1));
      strides->push_back(1 + Below(3));
    }
  }

  ArrayView Change(const ArrayView& view) {
    switch (Below(3)) {
      case 0:
        return TransposeView(view, Permutation(view.dims.size()));
      case 1: {
        std::vector<int64_t> starts, limits, strides;
        SliceArguments(view, &starts, &limits, &strides);
        return SliceView(view, starts, limits, strides);
      }
      default: {
        std::vector<int64_t> dims;
        for (size_t d = 0; d < view.dims.size(); ++d) {
          if (Below(2) == 0) dims.push_back(static_cast<int64_t>(d));
        }
        return ReverseView(view, dims);
      }
    }
  }

 private:
  std::mt19937 random_;
};

TEST(ArrayViewTest, TransposePermutesCoordinates) {
  RandomViews random(1);
  for (int i = 0; i < 300; ++i) {
    const ArrayView view = random.Make();
    const std::vector<int64_t> permutation = random.Permutation(view.dims.size());
    const ArrayView result = TransposeView(view, permutation);
    const std::vector<int64_t> before = Positions(view), after = Positions(result);
    ASSERT_EQ(before.size(), after.size());
    for (size_t k = 0; k < after.size(); ++k) {
      const std::vector<int64_t> to = Coordinates(static_cast<int64_t>(k), Vec(result.dims));
      std::vector<int64_t> from(to.size());
      for (size_t d = 0; d < to.size(); ++d) from[permutation[d]] = to[d];
      ASSERT_EQ(after[k], before[Linear(from, Vec(view.dims))]);
    }
  }
}

TEST(ArrayViewTest, SliceTakesEveryStrideThElement) {
  RandomViews random(2);
  for (int i = 0; i < 300; ++i) {
    const ArrayView view = random.Make();
    std::vector<int64_t> starts, limits, strides;
    random.SliceArguments(view, &starts, &limits, &strides);
    const ArrayView result = SliceView(view, starts, limits, strides);
    const std::vector<int64_t> before = Positions(view), after = Positions(result);
    for (size_t d = 0; d < starts.size(); ++d)
      ASSERT_EQ(result.dims[d], (limits[d] - starts[d] + strides[d] - 1) / strides[d]);
    for (size_t k = 0; k < after.size(); ++k) {
      std::vector<int64_t> from = Coordinates(static_cast<int64_t>(k), Vec(result.dims));
      for (size_t d = 0; d < from.size(); ++d) from[d] = starts[d] + from[d] * strides[d];
      ASSERT_EQ(after[k], before[Linear(from, Vec(view.dims))]);
    }
  }
}

TEST(ArrayViewTest, ASliceOfAnyStrideTakesTheFirstElement) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t stride : {int64_t{2}, int64_t{3}, kMost / 2, kMost - 1, kMost}) {
    const ArrayView view = SliceView(DenseView(0, F32, {3}), {1}, {3}, {stride});
    EXPECT_EQ(Positions(view), std::vector<int64_t>({1})) << stride;
  }
}

TEST(ArrayViewTest, ReverseCountsBackwards) {
  RandomViews random(3);
  for (int i = 0; i < 300; ++i) {
    const ArrayView view = random.Make();
    std::vector<int64_t> dims;
    for (size_t d = 0; d < view.dims.size(); d += 2) dims.push_back(static_cast<int64_t>(d));
    const ArrayView result = ReverseView(view, dims);
    const std::vector<int64_t> before = Positions(view), after = Positions(result);
    for (size_t k = 0; k < after.size(); ++k) {
      std::vector<int64_t> from = Coordinates(static_cast<int64_t>(k), Vec(view.dims));
      for (int64_t d : dims) from[d] = view.dims[d] - 1 - from[d];
      ASSERT_EQ(after[k], before[Linear(from, Vec(view.dims))]);
    }
  }
}

TEST(ArrayViewTest, BroadcastRepeats) {
  RandomViews random(4);
  for (int i = 0; i < 300; ++i) {
    const ArrayView view = random.Make();
    std::vector<int64_t> dims, map;
    for (size_t d = 0; d < view.dims.size(); ++d) {
      if (random.Below(2) == 0) dims.push_back(1 + random.Below(3));
      map.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(view.dims[d] == 1 && random.Below(2) == 0 ? 4 : view.dims[d]);
    }
    const ArrayView result = BroadcastView(view, dims, map);
    const std::vector<int64_t> before = Positions(view), after = Positions(result);
    ASSERT_EQ(static_cast<int64_t>(after.size()), Product(dims));
    for (size_t k = 0; k < after.size(); ++k) {
      const std::vector<int64_t> to = Coordinates(static_cast<int64_t>(k), dims);
      std::vector<int64_t> from;
      for (size_t d = 0; d < map.size(); ++d) from.push_back(view.dims[d] == 1 ? 0 : to[map[d]]);
      ASSERT_EQ(after[k], before[Linear(from, Vec(view.dims))]);
    }
  }
}

// A random way to write `count` as a product.
std::vector<int64_t> Factors(RandomViews& random, int64_t count) {
  std::vector<int64_t> dims;
  if (count == 0) return {3, 0};
  for (int64_t f = 2; count > 1;) {
    if (count % f != 0) {
      ++f;
      continue;
    }
    count /= f;
    if (!dims.empty() && random.Below(2) == 0) {
      dims[random.Below(static_cast<int64_t>(dims.size()))] *= f;
    } else {
      dims.insert(dims.begin() + random.Below(static_cast<int64_t>(dims.size()) + 1), f);
    }
  }
  if (random.Below(2) == 0)
    dims.insert(dims.begin() + random.Below(static_cast<int64_t>(dims.size()) + 1), 1);
  return dims;
}

TEST(ArrayViewTest, ReshapeKeepsTheOrderOfElements) {
  RandomViews random(5);
  int possible = 0;
  for (int i = 0; i < 2000; ++i) {
    const ArrayView view = random.Make();
    const std::vector<int64_t> dims = Factors(random, view.ElementCount());
    const std::optional<ArrayView> result = ReshapeView(view, dims);
    if (!result.has_value()) continue;
    ++possible;
    ASSERT_EQ(Vec(result->dims), dims);
    ASSERT_EQ(Positions(*result), Positions(view));
  }
  EXPECT_GT(possible, 500);
}

// Whether any strides at all show the positions that way: each dim's stride follows from its first
// step.
TEST(ArrayViewTest, ReshapeFindsAViewWheneverThereIsOne) {
  RandomViews random(6);
  for (int i = 0; i < 2000; ++i) {
    const ArrayView view = random.Make();
    if (view.ElementCount() == 0) continue;
    const std::vector<int64_t> dims = Factors(random, view.ElementCount());
    const std::vector<int64_t> positions = Positions(view);
    ArrayView guess = DenseView(3, F32, dims);
    guess.offset = positions[0];
    for (size_t d = 0; d < dims.size(); ++d) {
      std::vector<int64_t> step(dims.size(), 0);
      step[d] = 1;
      guess.strides[d] = dims[d] == 1 ? 0 : positions[Linear(step, dims)] - positions[0];
    }
    ASSERT_EQ(ReshapeView(view, dims).has_value(), Positions(guess) == positions);
  }
}

TEST(ArrayViewTest, ADenseArrayIsDenseInAnyShape) {
  RandomViews random(7);
  for (int i = 0; i < 300; ++i) {
    const ArrayView view = DenseView(3, F32, Factors(random, 1 + random.Below(60)));
    const std::optional<ArrayView> result = ReshapeView(view, Factors(random, view.ElementCount()));
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(result->IsDense());
  }
}

TEST(ArrayViewTest, IsDenseSaysWhetherPositionsCountUp) {
  RandomViews random(8);
  for (int i = 0; i < 1000; ++i) {
    const ArrayView view = random.Make();
    if (view.ElementCount() == 0) continue;
    const std::vector<int64_t> positions = Positions(view);
    bool counts = true;
    for (size_t k = 1; k < positions.size(); ++k) counts &= positions[k] == positions[k - 1] + 1;
    EXPECT_EQ(view.IsDense(), counts);
  }
}

}  // namespace
}  // namespace pjrt::cpu
