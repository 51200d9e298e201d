// SPDX-License-Identifier: Apache-2.0
//
// Keys become unsigned integers of the same order and are sorted by radix along with the elements'
// numbers; the arrays are then read in the order of the numbers. A radix sort keeps the order of
// equal keys, so keys of a lexicographic order are simply sorted one after the other, the least
// significant first. An array that is its own key needs no numbers: its keys alone are sorted, and
// turned back. Keys of up to 32 bits and a number make one 64-bit integer; where one array is
// sorted that fits the place of the number, its elements stand there instead. Lines of a few
// elements go by exchanges in registers, many lines at a time.
#include "src/cpu_device/steps/sort_step.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/radix_sort.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Shorter lines are sorted by comparison: counting costs more than it saves.
constexpr int64_t kShortLine = 256;
constexpr int64_t kSortChunk = 256;
// Of so few, each counts how many come before it: no branch depends on what they are.
constexpr int64_t kCounted = 16;

// Sorts n entries by key, equal ones in the order that they have. `other` has room for them, too.
template <typename T, class Key>
void SortShortLine(T* entries, T* other, int64_t n, const Key& key) {
  if (n > kCounted) {
    std::stable_sort(entries, entries + n, [&](const T& a, const T& b) { return key(a) < key(b); });
    return;
  }
  int64_t places[kCounted] = {};
  for (int64_t i = 0; i < n; ++i) {
    other[i] = entries[i];
    for (int64_t j = 0; j < i; ++j) {
      const int64_t is_before = key(other[i]) < key(other[j]) ? 1 : 0;
      places[j] += is_before;
      places[i] += 1 - is_before;
    }
  }
  for (int64_t i = 0; i < n; ++i) entries[places[i]] = other[i];
}

// 8-bit floats and narrower have no common bit order: sign and magnitude for all but the one
// without a sign.
KeyOrder OrderOf(PrimitiveType type) {
  if (type == F8E8M0FNU) return KeyOrder::kUnsigned;
  if (IsFloating(type)) return KeyOrder::kFloat;
  return IsSignedInteger(type) ? KeyOrder::kSigned : KeyOrder::kUnsigned;
}

KeyRule RuleOf(const SortParams::Key& key) {
  return {OrderOf(key.type), key.is_total_order, key.is_descending};
}

// f4 and f6 keep their sign below bit 7; a byte's worth is compared after moving it there.
int ShiftOf(const SortParams::Key& key) {
  return IsFloating(key.type) && BitWidth(key.type) < 8 && key.type != F8E8M0FNU
             ? 8 - BitWidth(key.type)
             : 0;
}

// The keys of n elements that stand `stride` apart.
void LoadKeysOf(const SortParams::Key& key, const char* values, int64_t stride, uint64_t* keys,
                int64_t n) {
  const int size = ByteWidth(key.type);
  const int shift = ShiftOf(key);
  if (shift == 0) {
    LoadKeys(values, size, stride, RuleOf(key), keys, n);
    return;
  }
  uint8_t shifted[kSortChunk];
  for (int64_t done = 0; done < n; done += kSortChunk) {
    const int64_t m = std::min(kSortChunk, n - done);
    for (int64_t i = 0; i < m; ++i)
      shifted[i] = static_cast<uint8_t>(static_cast<uint8_t>(values[(done + i) * stride]) << shift);
    LoadKeys(shifted, 1, 1, RuleOf(key), keys + done, m);
  }
}

uint32_t ReadSmall(const char* value, int size) {
  uint32_t bits = 0;
  std::memcpy(&bits, value, size);
  return bits;
}

template <typename T>
void Permute(char* to, const char* from, const uint32_t* numbers, int64_t stride, int64_t n) {
  T* target = reinterpret_cast<T*>(to);
  const T* source = reinterpret_cast<const T*>(from);
  for (int64_t i = 0; i < n; ++i)
    target[i * stride] = source[static_cast<int64_t>(numbers[i]) * stride];
}

struct Bits128 {
  uint64_t low, high;
};

void PermuteElements(int size, char* to, const char* from, const uint32_t* numbers, int64_t stride,
                     int64_t n) {
  switch (size) {
    case 1:
      return Permute<uint8_t>(to, from, numbers, stride, n);
    case 2:
      return Permute<uint16_t>(to, from, numbers, stride, n);
    case 4:
      return Permute<uint32_t>(to, from, numbers, stride, n);
    case 8:
      return Permute<uint64_t>(to, from, numbers, stride, n);
    default:
      return Permute<Bits128>(to, from, numbers, stride, n);
  }
}

// Of lines of kCount keys of up to 32 bits, the numbers of the first `kept` elements of each in
// order, counted from the first line on.
template <int kCount>
void SortFew(const uint64_t* keys, int64_t lines, int64_t kept, uint32_t* numbers) {
  for (int64_t first = 0; first < lines * kCount; first += kCount, numbers += kept) {
    uint64_t entries[kCount];
#pragma GCC unroll 8
    for (int i = 0; i < kCount; ++i)
      entries[i] = keys[first + i] << 32 | static_cast<uint64_t>(first + i);
#pragma GCC unroll 8
    for (int i = 1; i < kCount; ++i) {
#pragma GCC unroll 8
      for (int j = i; j > 0; --j) {
        // Compilers make branches of a minimum and a maximum, which go either way.
        const uint64_t a = entries[j - 1], b = entries[j];
        const uint64_t swap = (a ^ b) & (uint64_t{0} - static_cast<uint64_t>(b < a));
        entries[j - 1] = a ^ swap;
        entries[j] = b ^ swap;
      }
    }
    for (int64_t i = 0; i < kept; ++i) numbers[i] = static_cast<uint32_t>(entries[i]);
  }
}
using SortFewFn = void (*)(const uint64_t*, int64_t, int64_t, uint32_t*);
constexpr SortFewFn kSortFew[] = {nullptr,    nullptr,    SortFew<2>, SortFew<3>, SortFew<4>,
                                  SortFew<5>, SortFew<6>, SortFew<7>, SortFew<8>};
constexpr int64_t kLongestSortFew = 8;
// So many elements are sorted at a time.
constexpr int64_t kFewTogether = 512;

}  // namespace

SortStep::SortStep(SortParams params) : p_(std::move(params)) {
  if (p_.kept == 0) p_.kept = p_.length;
  int key_bits = 0;
  for (const SortParams::Key& key : p_.keys) key_bits = std::max(key_bits, 8 * ByteWidth(key.type));
  const bool has_one_key = p_.keys.size() == 1;
  const bool is_alone = has_one_key && p_.arrays.size() == 1 && ShiftOf(p_.keys[0]) == 0 &&
                        p_.keys[0].buffer == p_.arrays[0].from &&
                        p_.keys[0].type == p_.arrays[0].type;
  if (p_.comparator != nullptr) {
    method_ = kComparator;
  } else if (has_one_key && !is_alone && p_.inner == 1 && key_bits <= 32 && p_.length >= 2 &&
             p_.length <= kLongestSortFew) {
    method_ = kShortLines;
  } else if (p_.kept < p_.length && has_one_key && ShiftOf(p_.keys[0]) == 0) {
    method_ = kSelection;
  } else if (is_alone) {
    method_ = kKeysAlone;
  } else if (key_bits > 32) {
    method_ = kWideKeys;
  } else if (p_.keys.size() == 1 && p_.arrays.size() == 1 && ByteWidth(p_.arrays[0].type) <= 4) {
    method_ = kKeysWithElements;
  } else {
    method_ = kKeysWithNumbers;
  }
  // Entries twice, and numbers; the comparator's values.
  const int64_t entries = method_ == kSelection    ? SelectionRoom(p_.kept)
                          : method_ == kShortLines ? kFewTogether
                                                   : 2 * p_.length;
  scratch_bytes_ = entries * static_cast<int64_t>(sizeof(KeyedNumber)) +
                   p_.length * static_cast<int64_t>(sizeof(uint32_t)) + 64 +
                   64 * static_cast<int64_t>(p_.arrays.size());
  if (p_.comparator != nullptr) scratch_bytes_ += p_.comparator->scratch_bytes() + 64;
}

double SortStep::cost_ns() const {
  const double per_element =
      method_ == kComparator  ? 2000
      : method_ == kSelection ? 1
      : method_ == kShortLines
          ? 3
          : 10 * static_cast<double>(p_.keys.size()) + 3 * static_cast<double>(p_.arrays.size());
  return 50 +
         static_cast<double>(p_.outer * p_.inner) * static_cast<double>(p_.length) * per_element;
}

// Sorts `entries`: a key in the upper half of each, in the lower half what goes along.
void SortStep::SortPacked(uint64_t* entries, uint64_t* other, int bits) const {
  if (p_.length < kShortLine) {
    SortShortLine(entries, other, p_.length, [](uint64_t entry) { return entry >> 32; });
  } else {
    RadixSortUpper(entries, other, p_.length, bits);
  }
}

// One key and one array: its elements go along with the keys.
void SortStep::SortElements(const RunContext& context, int64_t first, int64_t first_kept,
                            char* scratch) const {
  const int64_t n = p_.length, stride = p_.inner;
  uint64_t* const entries = reinterpret_cast<uint64_t*>(scratch);
  const SortParams::Key& key = p_.keys[0];
  const SortParams::Array& array = p_.arrays[0];
  const int key_size = ByteWidth(key.type), size = ByteWidth(array.type);
  LoadKeysOf(key, context.buffer(key.buffer) + first * key_size, stride, entries, n);
  const char* from = context.buffer(array.from) + first * size;
  if (size == 4) {
    const uint32_t* values = reinterpret_cast<const uint32_t*>(from);
    for (int64_t i = 0; i < n; ++i) entries[i] = entries[i] << 32 | values[i * stride];
  } else {
    for (int64_t i = 0; i < n; ++i)
      entries[i] = entries[i] << 32 | ReadSmall(from + i * stride * size, size);
  }
  SortPacked(entries, entries + n, 8 * key_size);
  char* to = context.buffer(array.to) + first_kept * size;
  if (size == 4) {
    uint32_t* values = reinterpret_cast<uint32_t*>(to);
    for (int64_t i = 0; i < p_.kept; ++i) values[i * stride] = static_cast<uint32_t>(entries[i]);
  } else {
    for (int64_t i = 0; i < p_.kept; ++i) {
      const uint32_t bits = static_cast<uint32_t>(entries[i]);
      std::memcpy(to + i * stride * size, &bits, size);
    }
  }
}

// The numbers of the elements in the order of the keys.
void SortStep::SortNumbers(const RunContext& context, int64_t first, char* scratch,
                           uint32_t* numbers) const {
  const int64_t n = p_.length, stride = p_.inner;
  for (size_t k = p_.keys.size(); k-- > 0;) {
    const SortParams::Key& key = p_.keys[k];
    const int size = ByteWidth(key.type);
    const char* values = context.buffer(key.buffer) + first * size;
    const bool in_order = k + 1 == p_.keys.size();  // not sorted by another key yet
    const auto key_at = [&](uint32_t number) {
      uint64_t one;
      LoadKeysOf(key, values + static_cast<int64_t>(number) * stride * size, 1, &one, 1);
      return one;
    };
    if (method_ == kWideKeys) {
      KeyedNumber* const entries = reinterpret_cast<KeyedNumber*>(scratch);
      if (in_order) {
        uint64_t keys[kSortChunk];
        for (int64_t done = 0; done < n; done += kSortChunk) {
          const int64_t m = std::min(kSortChunk, n - done);
          LoadKeysOf(key, values + done * stride * size, stride, keys, m);
          for (int64_t i = 0; i < m; ++i)
            entries[done + i] = {keys[i], static_cast<uint32_t>(done + i)};
        }
      } else {
        for (int64_t i = 0; i < n; ++i) entries[i].key = key_at(entries[i].number);
      }
      if (n < kShortLine) {
        SortShortLine(entries, entries + n, n, [](const KeyedNumber& entry) { return entry.key; });
      } else {
        RadixSort(entries, entries + n, n, 8 * size);
      }
      if (k == 0)
        for (int64_t i = 0; i < n; ++i) numbers[i] = entries[i].number;
      continue;
    }
    uint64_t* const entries = reinterpret_cast<uint64_t*>(scratch);
    if (in_order) {
      LoadKeysOf(key, values, stride, entries, n);
      for (int64_t i = 0; i < n; ++i) entries[i] = entries[i] << 32 | static_cast<uint64_t>(i);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        const uint32_t number = static_cast<uint32_t>(entries[i]);
        entries[i] = key_at(number) << 32 | number;
      }
    }
    SortPacked(entries, entries + n, 8 * size);
    if (k == 0)
      for (int64_t i = 0; i < n; ++i) numbers[i] = static_cast<uint32_t>(entries[i]);
  }
}

void SortStep::SortLine(const RunContext& context, int64_t line, char* scratch) const {
  const int64_t n = p_.length;
  const int64_t stride = p_.inner;
  const int64_t first = line / p_.inner * p_.inner * n + line % p_.inner;
  const int64_t first_kept = line / p_.inner * p_.inner * p_.kept + line % p_.inner;
  if (method_ == kKeysAlone) {
    const SortParams::Key& key = p_.keys[0];
    const int size = ByteWidth(key.type);
    SortValues(context.buffer(key.buffer) + first * size, size, stride, RuleOf(key), n,
               reinterpret_cast<uint64_t*>(scratch),
               context.buffer(p_.arrays[0].to) + first_kept * size, p_.kept);
    return;
  }
  if (method_ == kKeysWithElements) {
    SortElements(context, first, first_kept, scratch);
    return;
  }
  const int64_t entries = method_ == kSelection ? SelectionRoom(p_.kept) : 2 * n;
  uint32_t* numbers =
      reinterpret_cast<uint32_t*>(scratch + entries * static_cast<int64_t>(sizeof(KeyedNumber)));
  if (method_ == kSelection) {
    const SortParams::Key& key = p_.keys[0];
    const int size = ByteWidth(key.type);
    KeyedNumber* const found = reinterpret_cast<KeyedNumber*>(scratch);
    SelectSmallest(context.buffer(key.buffer) + first * size, size, stride, RuleOf(key), n, p_.kept,
                   found);
    for (int64_t i = 0; i < p_.kept; ++i) numbers[i] = found[i].number;
  } else if (method_ != kComparator) {
    SortNumbers(context, first, scratch, numbers);
  } else {
    const size_t count = p_.arrays.size();
    char* values = reinterpret_cast<char*>(numbers + n);
    values += (64 - reinterpret_cast<uintptr_t>(values) % 64) % 64;
    char* const body_scratch = values + 32 * count + (64 - 32 * count % 64) % 64;
    absl::InlinedVector<const char*, 8> params(2 * count);
    const auto before = [&](uint32_t a, uint32_t b) {
      for (size_t i = 0; i < count; ++i) {
        const SortParams::Array& array = p_.arrays[i];
        const int size = ByteWidth(array.type);
        const char* base = context.buffer(array.from) + first * size;
        const char* elements[2] = {base + a * stride * size, base + b * stride * size};
        for (int side = 0; side < 2; ++side) {
          params[2 * i + side] = elements[side];
          if (ConvertFn load = p_.kernels->load[array.type]; load != nullptr) {
            char* value = values + 32 * i + 16 * side;
            load(value, elements[side], 1);
            params[2 * i + side] = value;
          }
        }
      }
      char result = 0;
      char* results[1] = {&result};
      p_.comparator->Call(params.data(), results, 1, body_scratch);
      return result != 0;
    };
    for (int64_t i = 0; i < n; ++i) numbers[i] = static_cast<uint32_t>(i);
    std::stable_sort(numbers, numbers + n, before);
  }
  for (const SortParams::Array& array : p_.arrays) {
    const int size = ByteWidth(array.type);
    const char* from = context.buffer(array.from) + first * size;
    char* to = context.buffer(array.to) + first_kept * size;
    PermuteElements(size, to, from, numbers, stride, p_.kept);
  }
}

// Lines that follow each other.
void SortStep::SortLines(const RunContext& context, int64_t first, int64_t lines,
                         char* scratch) const {
  const int64_t n = p_.length;
  const SortParams::Key& key = p_.keys[0];
  uint64_t* const keys = reinterpret_cast<uint64_t*>(scratch);
  uint32_t* const numbers = reinterpret_cast<uint32_t*>(keys + kFewTogether);
  LoadKeysOf(key, context.buffer(key.buffer) + first * n * ByteWidth(key.type), 1, keys, lines * n);
  kSortFew[n](keys, lines, p_.kept, numbers);
  for (const SortParams::Array& array : p_.arrays) {
    const int size = ByteWidth(array.type);
    PermuteElements(size, context.buffer(array.to) + first * p_.kept * size,
                    context.buffer(array.from) + first * n * size, numbers, 1, lines * p_.kept);
  }
}

absl::Status SortStep::Run(const RunContext& context) const {
  const int64_t lines = p_.outer * p_.inner;
  if (method_ == kShortLines) {
    const int64_t together = kFewTogether / p_.length, blocks = CeilDiv(lines, together);
    const auto sort = [&](int64_t block, int member) {
      const int64_t first = block * together;
      SortLines(context, first, std::min(together, lines - first), context.member_scratch(member));
    };
    if (context.team == nullptr || blocks <= 1) {
      for (int64_t block = 0; block < blocks; ++block) sort(block, 0);
    } else {
      context.team->ParallelFor(blocks, sort);
    }
    return absl::OkStatus();
  }
  if (context.team == nullptr || lines <= 1) {
    for (int64_t line = 0; line < lines; ++line) SortLine(context, line, context.member_scratch(0));
    return absl::OkStatus();
  }
  context.team->ParallelFor(lines, [&](int64_t line, int member) {
    SortLine(context, line, context.member_scratch(member));
  });
  return absl::OkStatus();
}

std::string SortStep::Describe() const {
  return absl::StrCat(
      p_.kept < p_.length ? absl::StrCat("first ", p_.kept, " of sorted ") : "sort ",
      p_.outer * p_.inner, " lines of ", p_.length,
      p_.comparator != nullptr ? " by comparator" : absl::StrCat(" by ", p_.keys.size(), " keys"));
}

}  // namespace pjrt::cpu
