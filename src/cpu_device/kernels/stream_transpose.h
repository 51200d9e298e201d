// SPDX-License-Identifier: Apache-2.0
//
// Matrices much larger than the caches, transposed one after the other.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_STREAM_TRANSPOSE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_STREAM_TRANSPOSE_H_

#include <cstdint>

namespace pjrt::cpu {

// Row r begins at src + r * src_stride and has row_bytes bytes; its element c goes to dst + c *
// dst_stride + r elements. Strides in bytes. What has rows of less than kShortest bytes, of src or
// of dst, is better done otherwise.
struct StreamedMatrix {
  static constexpr int64_t kShortest = 256;

  const char* src;
  char* dst;
  int64_t src_stride, dst_stride, rows, row_bytes;
};

// What a thread keeps from one matrix to the next: some 230 KB.
struct StreamTransposeScratch {
  static constexpr int64_t kTileBytes = 144 * 576, kTargetBytes = 64 * 320 + 64;
  // A matrix that has no more columns may begin within the lines in which the one before ends.
  static constexpr int64_t kMostColumns = 768;  // more than a tile has

  alignas(64) char source[2][kTileBytes];
  alignas(64) char target[kTargetBytes];
  alignas(64) char carried[kMostColumns][64];  // the last bytes of each row of the target
  int current = 0;
  bool is_read = false;      // the first tile of the next matrix is in source[current]
  bool has_carried = false;  // so are the bytes before each of its rows in `carried`
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_STREAM_TRANSPOSE_H_
