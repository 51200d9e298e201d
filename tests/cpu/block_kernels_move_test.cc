// SPDX-License-Identifier: Apache-2.0
//
// Instructions that move elements without reading them as numbers, and iota, at each level.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/cpu/guarded_memory.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// Elements of 1 << log2 bytes as bytes, all different from their neighbours.
std::vector<uint8_t> RandomBytes(int64_t elements, int log2, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<uint8_t> result(static_cast<size_t>(elements) << log2);
  for (uint8_t& byte : result) byte = static_cast<uint8_t>(random());
  return result;
}

TEST(MoveKernelsTest, StridedElementsAreGatheredFromEachSideOfTheFirst) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 5; ++log2) {
      const int size = 1 << log2;
      const std::vector<uint8_t> source = RandomBytes(2 * 7 * 100 + 1, log2);
      const uint8_t* const middle = source.data() + 7 * 100 * size;
      for (int64_t stride : {0, 1, 2, 3, 7, -1, -2, -7}) {
        for (int64_t n : {0, 1, 5, 32, 100}) {
          std::vector<uint8_t> result = Untouched<uint8_t>((n + 1) * size);
          kernels->gather_stride[log2](result.data(), middle, stride, n);
          for (int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(std::memcmp(&result[i * size], middle + i * stride * size, size), 0)
                << kernels->level << " size " << size << " stride " << stride;
          }
          ASSERT_EQ(result[n * size], 0x5a);
        }
      }
    }
  }
}

TEST(MoveKernelsTest, NothingBehindTheLastGatheredElementIsRead) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 5; ++log2) {
      const int64_t size = 1 << log2;
      for (int64_t stride = 1; stride <= 9; ++stride) {
        for (int64_t n = 1; n <= 70; ++n) {
          const int64_t bytes = ((n - 1) * stride + 1) * size;
          const Guarded source(bytes), target(n * size);
          char* const from = source.At(true);
          char* const to = target.At(true);
          for (int64_t i = 0; i < bytes; ++i) from[i] = static_cast<char>(i * 37 + i / 256);
          kernels->gather_stride[log2](to, from, stride, n);
          for (int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(std::memcmp(to + i * size, from + i * stride * size, size), 0)
                << kernels->level << " size " << size << " stride " << stride << " n " << n;
          }
        }
      }
    }
  }
}

TEST(MoveKernelsTest, ElementsAreScatteredAndWhatLiesBetweenStays) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 5; ++log2) {
      const int size = 1 << log2;
      const std::vector<uint8_t> source = RandomBytes(100, log2);
      for (int64_t stride : {1, 2, 7, -1, -2}) {
        for (int64_t n : {0, 1, 5, 100}) {
          std::vector<uint8_t> result = Untouched<uint8_t>(1401 * size), expected = result;
          kernels->scatter_stride[log2](&result[700 * size], source.data(), stride, n);
          for (int64_t i = 0; i < n; ++i)
            std::memcpy(&expected[(700 + i * stride) * size], &source[i * size], size);
          ASSERT_EQ(result, expected) << kernels->level << " size " << size << " stride " << stride;
        }
      }
    }
  }
}

// Dense boxes of short rows are shuffled; others, and their ends, are not.
TEST(MoveKernelsTest, ABoxIsMovedWhateverItsStrides) {
  struct Strides {
    int64_t row, col;
  };
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 5; ++log2) {
      const int size = 1 << log2;
      const std::vector<uint8_t> source = RandomBytes(4001, log2);
      for (const int64_t cols : {1, 2, 3, 4, 5, 8, 16, 19}) {
        const Strides from[] = {{cols, 1}, {-cols, 1}, {cols, -1}, {1, 0},  {2, 0},
                                {0, 1},    {0, 0},     {1, 1},     {-1, 2}, {2 * cols, 2},
                                {1, 40},   {cols, 3},  {-2, -1}};
        for (const Strides& f : from) {
          for (const Strides& t : {Strides{cols, 1}, Strides{-cols, -1}, Strides{1, 40}}) {
            for (const int64_t rows : {0, 1, 2, 7, 40}) {
              std::vector<uint8_t> result = Untouched<uint8_t>(4001 * size), expected = result;
              for (int64_t r = 0; r < rows; ++r) {
                for (int64_t c = 0; c < cols; ++c) {
                  std::memcpy(&expected[(2000 + r * t.row + c * t.col) * size],
                              &source[(2000 + r * f.row + c * f.col) * size], size);
                }
              }
              kernels->move_box[log2](&result[2000 * size], t.row, t.col, &source[2000 * size],
                                      f.row, f.col, rows, cols);
              ASSERT_EQ(result, expected)
                  << kernels->level << " size " << size << " " << rows << "x" << cols << " from "
                  << f.row << "," << f.col << " to " << t.row << "," << t.col;
            }
          }
        }
      }
    }
  }
}

TEST(MoveKernelsTest, TinyRowsAreCopiedFromWhereverTheyAre) {
  const std::vector<uint8_t> source = RandomBytes(9000, 0);
  const uint8_t* const from = source.data() + 4500;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int64_t bytes = 0; bytes <= 9; ++bytes) {
      for (int64_t stride : {int64_t{0}, bytes, -bytes, 2 * bytes, bytes + 1, -3 * bytes}) {
        for (int64_t rows : {0, 1, 2, 3, 7, 8, 17, 100}) {
          std::vector<uint8_t> expected, result(rows * bytes + 1);
          for (int64_t i = 0; i < rows * bytes; ++i)
            expected.push_back(from[i / bytes * stride + i % bytes]);
          expected.push_back(0);
          kernels->copy_rows(result.data(), bytes, from, stride, bytes, rows);
          ASSERT_EQ(result, expected)
              << kernels->level << " " << bytes << " " << stride << " " << rows;
        }
      }
    }
  }
}

// No byte beyond the box's own is read.
TEST(MoveKernelsTest, ABoxThatFillsItsArrayIsMovedWithinIt) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int64_t rows = 1; rows < 40; ++rows) {
      const std::vector<uint8_t> source = RandomBytes(3 * rows, 0);
      std::vector<uint8_t> result(3 * rows), expected(3 * rows);
      for (int64_t i = 0; i < 3 * rows; ++i) expected[i] = source[i / 3 * 3 + 2 - i % 3];
      kernels->move_box[0](result.data(), 3, 1, source.data() + 2, 3, -1, rows, 3);
      EXPECT_EQ(result, expected);
      for (int64_t i = 0; i < 3 * rows; ++i) expected[i] = source[3 * (rows - 1 - i / 3) + i % 3];
      kernels->copy_rows(result.data(), 3, source.data() + 3 * (rows - 1), -3, 3, rows);
      EXPECT_EQ(result, expected);
      expected.assign(source.rbegin(), source.rend());
      kernels->move_box[0](result.data(), 3, 1, source.data() + 3 * rows - 1, -3, -1, rows, 3);
      EXPECT_EQ(result, expected);
    }
  }
}

TEST(MoveKernelsTest, FillRepeatsOneElementAndCopyRepeatsAll) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int type = 0; type < kNumCTypes; ++type) {
      const int size = kCTypeSize[type];
      const int log2 = __builtin_ctz(size);
      for (int64_t n : BlockLengths()) {
        const std::vector<uint8_t> source = RandomBytes(n + 1, log2);
        std::vector<uint8_t> result = Untouched<uint8_t>((n + 1) * size);
        kernels->fill[log2](result.data(), source.data(), n);
        for (int64_t i = 0; i < n; ++i)
          ASSERT_EQ(std::memcmp(&result[i * size], source.data(), size), 0);
        ASSERT_EQ(result[n * size], 0x5a);
        Find(*kernels, BlockOp::kCopy, static_cast<CType>(type))(result.data(), source.data(),
                                                                 nullptr, nullptr, n);
        ASSERT_EQ(std::memcmp(result.data(), source.data(), n * size), 0);
        ASSERT_EQ(result[n * size], 0x5a);
      }
    }
  }
}

TEST(MoveKernelsTest, SelectTakesEachElementFromItsSideInAllForms) {
  const int64_t n = 1000;
  std::mt19937 random(2);
  std::vector<uint8_t> predicate(n);
  for (uint8_t& p : predicate) p = random() % 2;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int t = 0; t < kNumCTypes; ++t) {
      const CType type = static_cast<CType>(t);
      const int size = kCTypeSize[t], log2 = __builtin_ctz(size);
      const std::vector<uint8_t> b = RandomBytes(n, log2, 3), c = RandomBytes(n, log2, 4);
      struct {
        Scalars form;
        bool scalar[3];
      } const forms[] = {{Scalars::kNone, {false, false, false}},
                         {Scalars::kFirst, {true, false, false}},
                         {Scalars::kSecond, {false, true, false}},
                         {Scalars::kThird, {false, false, true}},
                         {Scalars::kBoth, {false, true, true}}};
      for (const auto& form : forms) {
        for (int64_t count : {int64_t{0}, int64_t{1}, int64_t{7}, n}) {
          std::vector<uint8_t> result = Untouched<uint8_t>((count + 1) * size);
          Find(*kernels, BlockOp::kSelect, type, form.form)(result.data(), predicate.data(),
                                                            b.data(), c.data(), count);
          for (int64_t i = 0; i < count; ++i) {
            const uint8_t* const expected = predicate[form.scalar[0] ? 0 : i] != 0
                                                ? &b[form.scalar[1] ? 0 : i * size]
                                                : &c[form.scalar[2] ? 0 : i * size];
            ASSERT_EQ(std::memcmp(&result[i * size], expected, size), 0)
                << kernels->level << " type " << t << " form " << static_cast<int>(form.form);
          }
          ASSERT_EQ(result[count * size], 0x5a);
        }
      }
      // In place of either side.
      std::vector<uint8_t> place = b, other = c;
      Find(*kernels, BlockOp::kSelect, type)(place.data(), predicate.data(), place.data(), c.data(),
                                             n);
      Find(*kernels, BlockOp::kSelect, type)(other.data(), predicate.data(), b.data(), other.data(),
                                             n);
      EXPECT_EQ(place, other);
    }
  }
}

// The source ends with its last element, and what surrounds the result stays.
void CheckTranspose(const BlockKernels& kernels, int log2, int64_t rows, int64_t cols,
                    int64_t gap) {
  constexpr int64_t kAround = 64;
  const int64_t size = int64_t{1} << log2, src_stride = cols + gap, dst_stride = rows + gap;
  const std::vector<uint8_t> source =
      RandomBytes(std::max<int64_t>(rows * src_stride - gap, 0), log2);
  std::vector<uint8_t> result = Untouched<uint8_t>(cols * dst_stride * size + 2 * kAround),
                       expected = result;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      std::memcpy(&expected[(c * dst_stride + r) * size + kAround],
                  &source[(r * src_stride + c) * size], size);
    }
  }
  kernels.transpose_2d[log2](&result[kAround], dst_stride, source.data(), src_stride, rows, cols);
  ASSERT_EQ(result, expected) << kernels.level << " size " << size << " " << rows << "x" << cols
                              << ", gap " << gap;
}

TEST(MoveKernelsTest, TransposeSwapsRowsAndColumnsOfAnyCount) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 5; ++log2) {
      const int64_t counts[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 22, 31, 33, 58, 64, 70, 130};
      for (int64_t rows : counts) {
        for (int64_t cols : counts) {
          for (int64_t gap : {0, 3}) CheckTranspose(*kernels, log2, rows, cols, gap);
        }
      }
    }
  }
}

TEST(MoveKernelsTest, TransposeOfFewRowsOrColumnsReadsAndWritesNothingElse) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 2; ++log2) {
      for (int64_t few = 1; few <= 65; ++few) {
        for (int64_t many : {8, 13, 16, 31, 32, 60, 63, 64, 65, 100, 128, 252}) {
          for (int64_t gap : {0, 1, 20}) {
            CheckTranspose(*kernels, log2, few, many, gap);
            CheckTranspose(*kernels, log2, many, few, gap);
          }
        }
      }
    }
  }
}

TEST(MoveKernelsTest, TransposeOfShortElementsReadsAndWritesNothingElse) {
  const int64_t counts[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 33, 70};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int64_t bytes = 3; bytes <= 7; ++bytes) {
      for (int64_t rows : counts) {
        for (int64_t cols : counts) {
          for (int64_t gap : {0, 5}) {
            const int64_t src_stride = cols * bytes + gap, dst_stride = rows * bytes + gap;
            // Both end with the last element.
            const std::vector<uint8_t> source =
                RandomBytes(std::max<int64_t>(rows * src_stride - gap, 0), 0);
            std::vector<uint8_t> result = Untouched<uint8_t>(
                                     std::max<int64_t>(cols * dst_stride - gap, 0)),
                                 expected = result;
            for (int64_t r = 0; r < rows; ++r) {
              for (int64_t c = 0; c < cols; ++c) {
                std::memcpy(&expected[c * dst_stride + r * bytes],
                            &source[r * src_stride + c * bytes], bytes);
              }
            }
            kernels->transpose_short(result.data(), dst_stride, source.data(), src_stride, rows,
                                     cols, bytes);
            ASSERT_EQ(result, expected)
                << kernels->level << " " << bytes << " bytes, " << rows << "x" << cols;
          }
        }
      }
    }
  }
}

template <typename T>
void CheckIota() {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const IotaFn iota = kernels->iota[static_cast<int>(CTypeOf<T>())];
    ASSERT_NE(iota, nullptr);
    struct {
      int64_t start, step;
    } const cases[] = {{0, 1},
                       {5, 0},
                       {-3, 2},
                       {100, -1},
                       {250, 1},
                       {16777210, 1},
                       {2147483640, 1},
                       {-9007199254740999, 7},
                       {0, 1099511627776},
                       {4294967290, 1}};
    for (const auto& c : cases) {
      for (int64_t n : BlockLengths()) {
        std::vector<T> result = Untouched<T>(n + 1);
        iota(result.data(), c.start, c.step, n);
        for (int64_t i = 0; i < n; ++i) {
          T expected;
          const int64_t value = c.start + i * c.step;
          if constexpr (std::is_arithmetic_v<T>) {
            expected = static_cast<T>(value);
          } else {
            expected = T(static_cast<typename T::value_type>(value), 0);
          }
          ASSERT_TRUE(SameValue(result[i], expected))
              << kernels->level << " " << c.start << " + " << i << " * " << c.step;
        }
        const T untouched = Untouched<T>(1)[0];
        ASSERT_EQ(std::memcmp(&result[n], &untouched, sizeof(T)), 0);
      }
    }
  }
}

TEST(MoveKernelsTest, IotaCountsAndWrapsOrRounds) {
  CheckIota<int8_t>();
  CheckIota<uint8_t>();
  CheckIota<int16_t>();
  CheckIota<uint16_t>();
  CheckIota<int32_t>();
  CheckIota<uint32_t>();
  CheckIota<int64_t>();
  CheckIota<uint64_t>();
  CheckIota<float>();
  CheckIota<double>();
  CheckIota<std::complex<float>>();
  CheckIota<std::complex<double>>();
}

}  // namespace
}  // namespace pjrt::cpu
