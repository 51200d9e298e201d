// SPDX-License-Identifier: Apache-2.0
//
// Sorting by unsigned keys: radix sorts, which keep the order of equal keys, and the selection of a
// few smallest.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_RADIX_SORT_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_RADIX_SORT_H_

#include <cstdint>

#include "absl/types/span.h"

namespace pjrt::cpu {

// How the bits of an element are ordered.
enum class KeyOrder : uint8_t { kUnsigned, kSigned, kFloat };

// How elements become keys: unsigned integers of their width in the same order.
struct KeyRule {
  KeyOrder order = KeyOrder::kUnsigned;
  bool is_total = false;  // floats: -0 before +0; otherwise they have the same key
  bool is_descending = false;
};

// A 64-bit key with the number of its element.
struct KeyedNumber {
  uint64_t key;
  uint32_t number;
};

// Sorts by the low `bits` bits of the keys. `other`: as much memory again.
void RadixSort(KeyedNumber* entries, KeyedNumber* other, int64_t n, int bits);
// Sorts by the low `bits` bits of the upper half; the lower half goes along.
void RadixSortUpper(uint64_t* entries, uint64_t* other, int64_t n, int bits);

// keys[i] = the key of the element of `size` bytes (1, 2, 4, 8) at values + i * stride * size.
void LoadKeys(const void* values, int size, int64_t stride, KeyRule rule, uint64_t* keys,
              int64_t n);

// sorted[i * stride] = the i-th of the n elements of `size` bytes (1, 2, 4, 8) at values + i *
// stride * size in the order of their keys, for i < kept; elements of equal keys stay in order.
// `scratch` has room for 2 * n keys.
void SortValues(const void* values, int size, int64_t stride, KeyRule rule, int64_t n,
                uint64_t* scratch, void* sorted, int64_t kept);

// The k smallest of the keys that LoadKeys gives, 0 < k <= n, in order and with equal keys in the
// order of their numbers, in entries[0..k). `entries` has room for SelectionRoom(k).
void SelectSmallest(const void* values, int size, int64_t stride, KeyRule rule, int64_t n,
                    int64_t k, KeyedNumber* entries);
int64_t SelectionRoom(int64_t k);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_RADIX_SORT_H_
