// SPDX-License-Identifier: Apache-2.0
//
// Folds of several points at a time, and of narrow values where they lie: what reductions use
// beside BlockKernels.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_OPS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_OPS_H_

#include <cstdint>

#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

// Folds `points` runs of n contiguous elements, each begun `stride` elements behind the one before,
// onto to[0..n): one after the other if `in_order`, else kPointsTogether at a time, one after the
// other, and the result onto `to`. The result depends on these arguments alone, at every level.
inline constexpr int64_t kPointsTogether = 64;
// Many runs of at least so many bytes, in order, are best folded, or chosen from, by one call.
inline constexpr int64_t kLongRunBytes = 2048;
using FoldPointsFn = void (*)(void* to, const void* a, int64_t points, int64_t n, int64_t stride,
                              bool in_order);

// A choice between two pairs of a value and a companion, as the largest value and its place are
// found: the first pair (a, i) or the second (b, j), by how a and b compare. `greater`: the first
// when a > b and the second when a < b, or the other way round. When a == b, the value and the
// companion may come from different pairs. The last three say what happens where one is a NaN.
struct Choice {
  bool greater = true;
  bool first_of_equal_values = true;
  bool first_of_equal_companions = true;
  bool first_if_first_nan = false;
  bool first_if_second_nan = false;
  bool first_if_both_nan = false;

  // Any NaN is chosen, of two the first.
  bool TakesFirstNan() const {
    return first_if_first_nan && !first_if_second_nan && first_if_both_nan;
  }
  // The second pair is chosen where there is a NaN.
  bool TakesSecondByNan() const {
    return !first_if_first_nan && !first_if_second_nan && !first_if_both_nan;
  }
};
// (values[k], companions[k]), k < n, become the choice between themselves and (b[k], j[k]).
using ChooseFn = void (*)(const Choice& choice, void* values, void* companions, const void* b,
                          const void* j, int64_t n);
// The same where companions follow from the numbers of `runs` runs of n contiguous values each,
// begun `stride` elements behind the one before, the first at b: (values[k], places[k]) become the
// choice between themselves and those of each run, one after the other. The place of run r is
// `first` + r. Places are unsigned integers as wide as `values`, which all these numbers must fit.
using ChoosePlacesFn = void (*)(const Choice& choice, void* values, void* places, const void* b,
                                int64_t first, int64_t runs, int64_t n, int64_t stride);
inline constexpr int64_t kMostPlaces = 255;  // fit any type
// Chooses from each of `rows` contiguous rows of n elements: (values[row], places[row]) are what
// was chosen and its place, counted from 1 on. 2 <= n <= kMostPlaces; a column has
// kLeastColumnBytes bytes or more; the rule TakesFirstNan() or TakesSecondByNan().
using ChooseRowsFn = void (*)(const Choice& choice, void* values, void* places, const void* a,
                              int64_t rows, int64_t n);
inline constexpr int64_t kLeastColumnBytes = 128;
// The same of longer rows, with n up to this, any number of them, and a rule that TakesFirstNan().
inline constexpr int64_t kLongestRow = 1 << 18;
// companions[k] = companion + places[k] * step where places[k] is not 0.
using TakePlacesFn = void (*)(void* companions, const void* places, int64_t companion, int64_t step,
                              int64_t n);
// The number of the first, or last, of n elements that equals *x, or is a NaN where *x is one; -1
// where there is none.
using FindFn = int64_t (*)(const void* a, const void* x, int64_t n);

// What chooses among values of a type.
struct ChoiceKernels {
  ChooseFn choose[2] = {};  // by whether companions have 8 bytes or 4
  ChoosePlacesFn choose_places = nullptr;
  ChooseRowsFn choose_rows = nullptr;
  ChooseRowsFn choose_long_rows = nullptr;  // null where it is as quick to find the extreme first
  FindFn find_first = nullptr, find_last = nullptr;
};

// One kernel level's functions.
struct FoldKernels {
  FoldPointsFn points[kNumMonoids][kNumCTypes];  // null where the monoid has no such type
  // Of values as they lie in memory, folded as f32: with the results of loading them first. Null
  // for monoids that floats lack, and where the level has no instruction for it.
  struct Narrow {
    BlockFn op;         // dst[i] = dst[i] op b[i]; dst are f32
    ReduceRowsFn rows;  // out are f32
    FoldPointsFn points;
  };
  Narrow bf16[kNumMonoids];
  Narrow f16[kNumMonoids];
  // Sums of the squares of values as they lie in memory, f32 but for those of f64. A square is
  // rounded before it is added.
  struct {
    Narrow f32, f64, bf16, f16;
  } squares;
  ChoiceKernels choice[kNumCTypes];  // predicates and all that is not complex
  // Among values as they lie in memory, where those that have been chosen are f32. Null where the
  // level has no instruction for it.
  ChoiceKernels bf16_choice;
  ChoiceKernels f16_choice;
  TakePlacesFn take_places[4][2];  // by log2 of a place's bytes, then as `choose`
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_OPS_H_
