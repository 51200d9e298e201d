// SPDX-License-Identifier: Apache-2.0
//
// Least significant digit first, 11 bits a digit: three passes for 32-bit keys, with counters that
// fit L1.
#include "src/cpu_device/kernels/radix_sort.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pjrt::cpu {
namespace {

constexpr int kDigitBits = 11;
constexpr uint32_t kDigits = 1 << kDigitBits;

// By the digits of key(entry), from bit `shift` to bit `end`.
template <typename Entry, typename Key>
void SortByDigits(Entry* entries, Entry* other, int64_t n, int shift, int end, Key key) {
  Entry* const home = entries;
  if (n == 0) return;
  for (; shift < end; shift += kDigitBits) {
    uint32_t counts[kDigits] = {};
    const auto digit = [&](const Entry& entry) { return key(entry) >> shift & (kDigits - 1); };
    for (int64_t i = 0; i < n; ++i) ++counts[digit(entries[i])];
    // A digit that all keys share moves nothing.
    if (counts[digit(entries[0])] == static_cast<uint32_t>(n)) continue;
    uint32_t sum = 0;
    for (uint32_t& count : counts) {
      const uint32_t here = count;
      count = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; ++i) other[counts[digit(entries[i])]++] = entries[i];
    std::swap(entries, other);
  }
  if (entries != home) std::memcpy(home, entries, n * sizeof(Entry));
}

template <typename Bits, KeyOrder kOrder>
void LoadKeysOf(const void* values, int64_t stride, KeyRule rule, uint64_t* keys, int64_t n) {
  constexpr int kSignBit = 8 * sizeof(Bits) - 1;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << kSignBit);
  const Bits* const from = static_cast<const Bits*>(values);
  // Without branches: data decide nothing but bits.
  const Bits flip = static_cast<Bits>(rule.is_descending ? ~Bits{0} : Bits{0});
  const Bits negative_zero = rule.is_total ? Bits{0} : kSign;
  for (int64_t i = 0; i < n; ++i) {
    Bits bits = from[i * stride];
    if constexpr (kOrder == KeyOrder::kFloat) {
      bits = static_cast<Bits>(bits == negative_zero ? Bits{0} : bits);
      const Bits negative = static_cast<Bits>(Bits{0} - static_cast<Bits>(bits >> kSignBit));
      bits = static_cast<Bits>(bits ^ static_cast<Bits>(negative | kSign));
    } else if constexpr (kOrder == KeyOrder::kSigned) {
      bits = static_cast<Bits>(bits ^ kSign);
    }
    keys[i] = static_cast<Bits>(bits ^ flip);
  }
}

template <typename Bits>
void LoadKeysOf(const void* values, int64_t stride, KeyRule rule, uint64_t* keys, int64_t n) {
  switch (rule.order) {
    case KeyOrder::kUnsigned:
      return LoadKeysOf<Bits, KeyOrder::kUnsigned>(values, stride, rule, keys, n);
    case KeyOrder::kSigned:
      return LoadKeysOf<Bits, KeyOrder::kSigned>(values, stride, rule, keys, n);
    case KeyOrder::kFloat:
      return LoadKeysOf<Bits, KeyOrder::kFloat>(values, stride, rule, keys, n);
  }
}

bool Before(const KeyedNumber& a, const KeyedNumber& b) {
  return a.key != b.key ? a.key < b.key : a.number < b.number;
}

}  // namespace

void RadixSort(KeyedNumber* entries, KeyedNumber* other, int64_t n, int bits) {
  SortByDigits(entries, other, n, 0, bits, [](const KeyedNumber& entry) { return entry.key; });
}

void RadixSortUpper(uint64_t* entries, uint64_t* other, int64_t n, int bits) {
  SortByDigits(entries, other, n, 32, 32 + bits, [](uint64_t entry) { return entry; });
}

void LoadKeys(const void* values, int size, int64_t stride, KeyRule rule, uint64_t* keys,
              int64_t n) {
  switch (size) {
    case 1:
      return LoadKeysOf<uint8_t>(values, stride, rule, keys, n);
    case 2:
      return LoadKeysOf<uint16_t>(values, stride, rule, keys, n);
    case 4:
      return LoadKeysOf<uint32_t>(values, stride, rule, keys, n);
    default:
      return LoadKeysOf<uint64_t>(values, stride, rule, keys, n);
  }
}

int64_t SelectionRoom(int64_t k) { return 2 * k + 512; }

// Candidates are collected until there is no room; then the k smallest of them stay, and their
// largest key is a bar that a later element must get under: an equal one comes behind.
void SelectSmallest(const void* values, int size, int64_t stride, KeyRule rule, int64_t n,
                    int64_t k, KeyedNumber* entries) {
  constexpr int64_t kChunk = 256;
  const int64_t room = SelectionRoom(k);
  uint64_t keys[kChunk];
  int64_t count = 0;
  bool has_bar = false;
  uint64_t bar = 0;
  const auto cut = [&] {
    std::nth_element(entries, entries + (k - 1), entries + count, Before);
    bar = entries[k - 1].key;
    has_bar = true;
    count = k;
  };
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t m = std::min(kChunk, n - begin);
    LoadKeys(static_cast<const char*>(values) + begin * stride * size, size, stride, rule, keys, m);
    if (has_bar) {
      // Mostly nothing gets under it.
      uint64_t under = 0;
      for (int64_t i = 0; i < m; ++i) under += keys[i] < bar ? 1 : 0;
      if (under == 0) continue;
    }
    if (count + m > room) cut();
    for (int64_t i = 0; i < m; ++i) {
      entries[count] = {keys[i], static_cast<uint32_t>(begin + i)};
      count += !has_bar || keys[i] < bar ? 1 : 0;
    }
  }
  if (count > k) cut();
  std::sort(entries, entries + k, Before);
}

}  // namespace pjrt::cpu
