// SPDX-License-Identifier: Apache-2.0
//
// Between packed elements of 1, 2 and 4 bits and a byte each.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/core/base/pack_bits.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

std::vector<uint8_t> SomeBytes(size_t count, int seed) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * 37 + i / 256 + seed);
  return bytes;
}

TEST(PackTest, ElementsAreThoseOfPackBits) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 3; ++log2) {
      const int bits = 1 << log2;
      for (int n = 0; n <= 3000; n += n < 300 ? 1 : 77) {
        SCOPED_TRACE(absl::StrCat(kernels->level, ", ", n, " of ", bits, " bits"));
        const std::vector<uint8_t> bytes = SomeBytes(n + 1, n);
        std::vector<uint8_t> got(n + 1, 0x55), want = got;
        kernels->pack[log2](got.data(), bytes.data(), n);
        PackBits(bytes.data(), n, bits, want.data());
        ASSERT_EQ(got, want);
        for (const bool is_signed : {false, true}) {
          kernels->unpack[log2][is_signed](got.data(), bytes.data(), n);
          UnpackBits(bytes.data(), n, bits, is_signed, want.data());
          ASSERT_EQ(got, want) << is_signed;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
