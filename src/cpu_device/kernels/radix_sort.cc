// SPDX-License-Identifier: Apache-2.0
//
// Least significant digit first. Digits of 8 bits have so few places to write to that the lines of
// all stay in the L1 cache; beyond some millions of entries, where each pass goes to memory, fewer
// passes by 11 bits are quicker.
#include "src/cpu_device/kernels/radix_sort.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pjrt::cpu {
namespace {

constexpr int kDigitBits = 8, kWideDigitBits = 11;
constexpr int64_t kManyBytes = int64_t{64} << 20;

// By the digits of key(entry), from bit `shift` to bit `end`.
template <int kBits, typename Entry, typename Key>
void SortByDigits(Entry* entries, Entry* other, int64_t n, int shift, int end, Key key) {
  constexpr uint32_t kDigits = 1 << kBits;
  constexpr int kMaxPasses = (64 + kBits - 1) / kBits;
  Entry* const home = entries;
  const int passes = (end - shift + kBits - 1) / kBits;
  uint32_t counts[kMaxPasses][kDigits] = {};
  const auto digit = [&](const Entry& entry, int pass) {
    return static_cast<uint32_t>(key(entry) >> (shift + pass * kBits)) & (kDigits - 1);
  };
  for (int64_t i = 0; i < n; ++i) {
    for (int pass = 0; pass < passes; ++pass) ++counts[pass][digit(entries[i], pass)];
  }
  for (int pass = 0; pass < passes; ++pass) {
    uint32_t* const places = counts[pass];
    // A digit that all keys share moves nothing.
    if (places[digit(entries[0], pass)] == static_cast<uint32_t>(n)) continue;
    uint32_t sum = 0;
    for (uint32_t d = 0; d < kDigits; ++d) sum += std::exchange(places[d], sum);
    for (int64_t i = 0; i < n; ++i) other[places[digit(entries[i], pass)]++] = entries[i];
    std::swap(entries, other);
  }
  if (entries != home) std::memcpy(home, entries, n * sizeof(Entry));
}

template <typename Entry, typename Key>
void SortEntries(Entry* entries, Entry* other, int64_t n, int shift, int end, Key key) {
  if (n == 0) return;
  if (n * static_cast<int64_t>(sizeof(Entry)) > kManyBytes) {
    SortByDigits<kWideDigitBits>(entries, other, n, shift, end, key);
  } else {
    SortByDigits<kDigitBits>(entries, other, n, shift, end, key);
  }
}

template <typename Bits, KeyOrder kOrder, typename Key>
void LoadKeysOf(const void* values, int64_t stride, KeyRule rule, Key* keys, int64_t n) {
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

template <typename Bits, typename Key>
void LoadKeysOf(const void* values, int64_t stride, KeyRule rule, Key* keys, int64_t n) {
  switch (rule.order) {
    case KeyOrder::kUnsigned:
      return LoadKeysOf<Bits, KeyOrder::kUnsigned>(values, stride, rule, keys, n);
    case KeyOrder::kSigned:
      return LoadKeysOf<Bits, KeyOrder::kSigned>(values, stride, rule, keys, n);
    case KeyOrder::kFloat:
      return LoadKeysOf<Bits, KeyOrder::kFloat>(values, stride, rule, keys, n);
  }
}

// The elements of keys that LoadKeysOf made with a total order.
template <typename Bits, typename Key>
void StoreKeysOf(const Key* keys, KeyRule rule, void* values, int64_t stride, int64_t n) {
  constexpr int kSignBit = 8 * sizeof(Bits) - 1;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << kSignBit);
  Bits* const to = static_cast<Bits*>(values);
  const Bits flip = static_cast<Bits>(rule.is_descending ? ~Bits{0} : Bits{0});
  const Bits sign = rule.order == KeyOrder::kUnsigned ? Bits{0} : kSign;
  const Bits is_float = static_cast<Bits>(rule.order == KeyOrder::kFloat ? ~Bits{0} : Bits{0});
  for (int64_t i = 0; i < n; ++i) {
    const Bits key = static_cast<Bits>(static_cast<Bits>(keys[i]) ^ flip);
    // The key of a negative float has its upper bit clear and all others inverted.
    const Bits negative = static_cast<Bits>(is_float & static_cast<Bits>((key >> kSignBit) - 1));
    to[i * stride] = static_cast<Bits>(key ^ static_cast<Bits>(negative | sign));
  }
}

// Equal elements look alike but for the zeros of floats, which take the order that they had.
template <typename Bits, typename Key>
void OrderZeros(const void* values, int64_t stride, KeyRule rule, const Key* keys, int64_t n,
                void* sorted, int64_t kept) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const Bits* const from = static_cast<const Bits*>(values);
  Bits* const to = static_cast<Bits*>(sorted);
  const Bits zeros[2] = {0, kSign};
  Key zero_keys[2];
  LoadKeysOf<Bits, KeyOrder::kFloat>(zeros, 1, rule, zero_keys, 2);
  const Key* const first = std::lower_bound(keys, keys + n, std::min(zero_keys[0], zero_keys[1]));
  const Key* const last = std::upper_bound(first, keys + n, std::max(zero_keys[0], zero_keys[1]));
  if (first == last || *first == last[-1]) return;
  int64_t at = first - keys;
  const int64_t end = std::min<int64_t>(last - keys, kept);
  for (int64_t i = 0; at < end; ++i) {
    const Bits bits = from[i * stride];
    if (static_cast<Bits>(bits & ~kSign) == 0) to[at++ * stride] = bits;
  }
}

template <typename Bits, typename Key>
void SortValuesOf(const void* values, int64_t stride, KeyRule rule, int64_t n, Key* keys,
                  void* sorted, int64_t kept) {
  constexpr int64_t kShort = 96;  // by comparison: counting costs more than it saves
  KeyRule total = rule;
  total.is_total = true;
  LoadKeysOf<Bits>(values, stride, total, keys, n);
  if (n <= kShort) {
    std::sort(keys, keys + n);
  } else {
    SortEntries(keys, keys + n, n, 0, 8 * static_cast<int>(sizeof(Bits)), [](Key k) { return k; });
  }
  StoreKeysOf<Bits>(keys, rule, sorted, stride, kept);
  if (rule.order == KeyOrder::kFloat && !rule.is_total)
    OrderZeros<Bits>(values, stride, total, keys, n, sorted, kept);
}

bool Before(const KeyedNumber& a, const KeyedNumber& b) {
  return a.key != b.key ? a.key < b.key : a.number < b.number;
}

}  // namespace

void RadixSort(KeyedNumber* entries, KeyedNumber* other, int64_t n, int bits) {
  SortEntries(entries, other, n, 0, bits, [](const KeyedNumber& entry) { return entry.key; });
}

void RadixSortUpper(uint64_t* entries, uint64_t* other, int64_t n, int bits) {
  SortEntries(entries, other, n, 32, 32 + bits, [](uint64_t entry) { return entry; });
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

void SortValues(const void* values, int size, int64_t stride, KeyRule rule, int64_t n,
                uint64_t* scratch, void* sorted, int64_t kept) {
  uint32_t* const narrow = reinterpret_cast<uint32_t*>(scratch);
  switch (size) {
    case 1:
      return SortValuesOf<uint8_t>(values, stride, rule, n, narrow, sorted, kept);
    case 2:
      return SortValuesOf<uint16_t>(values, stride, rule, n, narrow, sorted, kept);
    case 4:
      return SortValuesOf<uint32_t>(values, stride, rule, n, narrow, sorted, kept);
    default:
      return SortValuesOf<uint64_t>(values, stride, rule, n, scratch, sorted, kept);
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
