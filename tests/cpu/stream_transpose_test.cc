// SPDX-License-Identifier: Apache-2.0
//
// Matrices that are transposed past the caches one after the other, at each kernel level, in memory
// whose neighbours must not be touched.
#include "src/cpu_device/kernels/stream_transpose.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/run/nd_copy.h"
#include "tests/cpu/guarded_memory.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// Matrices of rows x cols elements, `count` of them. In the source they stand behind each other,
// with `gap` bytes behind each row; in the target they are side by side: each row of it has as many
// elements of each matrix, `apart` elements between them, and `gap` bytes behind all.
struct Sequence {
  int64_t count, rows, cols, apart, gap;
};

void Check(const Sequence& q, int log2, int64_t offset) {
  const int64_t size = 1 << log2, src_stride = q.cols * size + q.gap;
  const int64_t dst_stride = q.count * (q.rows + q.apart) * size + q.gap;
  const int64_t src_bytes = q.count * q.rows * src_stride;
  const int64_t dst_bytes = q.cols * dst_stride + offset;
  const Guarded source(src_bytes), target(dst_bytes);
  std::mt19937 random(7);
  for (const bool at_end : {false, true}) {
    char* const src = source.At(at_end);
    std::generate_n(src, src_bytes, [&] { return static_cast<char>(random()); });
    std::vector<char> expected(static_cast<size_t>(dst_bytes), 'x');
    std::vector<StreamedMatrix> matrices;
    for (int64_t i = 0; i < q.count; ++i) {
      const int64_t to = offset + i * (q.rows + q.apart) * size, from = i * q.rows * src_stride;
      matrices.push_back(
          {src + from, target.At(at_end) + to, src_stride, dst_stride, q.rows, q.cols * size});
      for (int64_t r = 0; r < q.rows; ++r) {
        for (int64_t c = 0; c < q.cols; ++c)
          std::memcpy(&expected[static_cast<size_t>(to + c * dst_stride + r * size)],
                      src + from + r * src_stride + c * size, static_cast<size_t>(size));
      }
    }
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      // All in a row, or with an end after each.
      for (const bool together : {false, true}) {
        std::memset(target.At(at_end), 'x', static_cast<size_t>(dst_bytes));
        const auto scratch = std::make_unique<StreamTransposeScratch>();
        for (size_t i = 0; i < matrices.size(); ++i) {
          const bool has_next = together && i + 1 < matrices.size();
          kernels->stream_transpose[log2](matrices[i], has_next ? &matrices[i + 1] : nullptr,
                                          scratch.get());
        }
        kernels->end_stream();
        ASSERT_EQ(std::memcmp(target.At(at_end), expected.data(), expected.size()), 0)
            << kernels->level << " size " << size << ", " << q.count << " of " << q.rows << "x"
            << q.cols << ", " << q.apart << " apart, offset " << offset << ", gap " << q.gap;
      }
    }
  }
}

TEST(StreamTransposeTest, EveryElementGetsToItsPlaceAndNothingElseIsTouched) {
  // In bytes: tiles that end with a block, within one, with little left, and one tile alone.
  for (const int64_t rows : {256, 257, 320, 383, 576, 643, 1100}) {
    for (const int64_t cols : {256, 259, 384, 513, 640, 1031}) {
      for (int log2 = 0; log2 < 3; ++log2) {
        const int64_t n = (rows + (1 << log2) - 1) >> log2, m = (cols + (1 << log2) - 1) >> log2;
        Check({1, n, m, 0, 0}, log2, (rows + cols) % 3 == 0 ? 0 : rows % 64);
        Check({2, n, m, 0, rows % 2 == 0 ? 64 : 48}, log2, 0);
      }
    }
  }
}

TEST(StreamTransposeTest, MatricesGoOnWithinTheLinesInWhichOthersEnd) {
  for (int log2 = 0; log2 < 3; ++log2) {
    const int64_t size = 1 << log2;
    for (const int64_t rows : {257, 300, 643}) {
      for (const int64_t cols : {260, 512, 513, 900}) {
        Check({5, rows, cols, 0, 0}, log2, 0);
        Check({3, rows, cols, 0, 16}, log2, size);
        Check({3, rows, cols, 1, 0}, log2, size);
      }
    }
  }
}

// Boxes whose pieces are such matrices, cut along either side, by as many units as threads take.
TEST(StreamTransposeTest, LargeBoxesAreTransposedByUnitsInAnyOrder) {
  const struct {
    std::vector<int64_t> dims;   // of the target
    std::vector<int64_t> order;  // of the source, outermost first
    int size;
  } boxes[] = {
      {{4099, 4111}, {1, 0}, 1},
      {{2048, 8192}, {1, 0}, 1},
      {{300, 290, 301}, {2, 1, 0}, 1},
      {{1100, 64, 300}, {2, 1, 0}, 1},
      {{260, 16, 515, 9}, {2, 3, 1, 0}, 1},
      {{7, 1501, 1003}, {0, 2, 1}, 2},
      {{130, 150, 257}, {2, 1, 0}, 4},
      {{512, 33, 256}, {2, 1, 0}, 4},
      {{2051, 1030}, {1, 0}, 8},
      {{90, 130, 100}, {2, 1, 0}, 16},
      // Rows that are cut, with parts at their ends that are shorter than a line, and go on.
      {{256, 63, 4112}, {2, 1, 0}, 1},
      {{256, 17, 1028}, {2, 1, 0}, 4},
      // Rows that go on within lines, though all of them begin with lines.
      {{300, 56, 1096}, {2, 1, 0}, 1}};
  for (const auto& box : boxes) {
    const size_t rank = box.dims.size();
    std::vector<int64_t> from(rank), to(rank);
    int64_t count = 1;
    for (size_t d = rank; d-- > 0;) {
      to[d] = count;
      count *= box.dims[d];
    }
    int64_t stride = 1;
    for (size_t i = rank; i-- > 0;) {
      from[static_cast<size_t>(box.order[i])] = stride;
      stride *= box.dims[static_cast<size_t>(box.order[i])];
    }
    const int64_t bytes = count * box.size;
    ASSERT_GE(bytes, kStreamBytes);
    const Guarded source(bytes), target(bytes);
    std::mt19937 random(5);
    std::generate_n(source.At(true), bytes, [&] { return static_cast<char>(random()); });
    std::vector<char> expected(static_cast<size_t>(bytes));
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const NdCopy copy(box.dims, from, to, box.size, *kernels);
      if (kernels == SupportedBlockKernels()[0]) {
        copy.ForEachElement([&](int64_t at, int64_t place) {
          std::memcpy(&expected[static_cast<size_t>(place * box.size)],
                      source.At(true) + at * box.size, static_cast<size_t>(box.size));
        });
      }
      for (const bool by_units : {false, true}) {
        std::memset(target.At(true), 'x', static_cast<size_t>(bytes));
        if (by_units) {
          for (int64_t unit = copy.num_units(); unit-- > 0;)
            copy.RunUnit(unit, source.At(true), target.At(true));
        } else {
          copy.Run(source.At(true), target.At(true));
        }
        ASSERT_EQ(std::memcmp(target.At(true), expected.data(), expected.size()), 0)
            << kernels->level << " " << copy.Describe();
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
