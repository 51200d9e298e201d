// SPDX-License-Identifier: Apache-2.0
//
// Keys become unsigned integers of the same order and are sorted by radix, least significant digit
// first, along with the elements' numbers; the arrays are then read in the order of the numbers. A
// radix sort keeps the order of equal keys, so keys of a lexicographic order are simply sorted one
// after the other, the least significant first. 11-bit digits: three passes for 32-bit keys, with
// counters that fit L1.
#include "src/cpu_device/steps/sort_step.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int kDigitBits = 11;
constexpr int kDigits = 1 << kDigitBits;
// Shorter lines are sorted by comparison: counting costs more than it saves.
constexpr int64_t kShortLine = 256;

struct Entry {
  uint64_t key;
  uint32_t number;
};

// An unsigned integer in the order of the value.
template <typename Bits>
uint64_t OrderedFloat(Bits bits, bool total) {
  constexpr int kWidth = 8 * sizeof(Bits);
  constexpr Bits kSign = Bits{1} << (kWidth - 1);
  if (!total && bits == kSign) bits = 0;
  return static_cast<Bits>(bits & kSign ? ~bits : bits | kSign);
}

template <typename Bits>
uint64_t OrderedSigned(Bits bits) {
  return static_cast<Bits>(bits ^ (Bits{1} << (8 * sizeof(Bits) - 1)));
}

enum class Order { kUnsigned, kSigned, kFloat };

template <typename Bits>
void LoadKeys(const char* array, int64_t stride, Order order, bool total, bool descending,
              Entry* entries, int64_t n) {
  const Bits* values = reinterpret_cast<const Bits*>(array);
  for (int64_t i = 0; i < n; ++i) {
    const Bits bits = values[static_cast<int64_t>(entries[i].number) * stride];
    const uint64_t key = order == Order::kFloat    ? OrderedFloat(bits, total)
                         : order == Order::kSigned ? OrderedSigned(bits)
                                                   : bits;
    entries[i].key = descending ? static_cast<Bits>(~key) : key;
  }
}

void RadixSort(Entry* entries, Entry* other, int64_t n, int bits) {
  Entry* const home = entries;
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    uint32_t counts[kDigits] = {};
    for (int64_t i = 0; i < n; ++i) ++counts[entries[i].key >> shift & (kDigits - 1)];
    // A digit that all keys share moves nothing.
    if (counts[entries[0].key >> shift & (kDigits - 1)] == static_cast<uint32_t>(n)) continue;
    uint32_t sum = 0;
    for (uint32_t& count : counts) {
      const uint32_t here = count;
      count = sum;
      sum += here;
    }
    for (int64_t i = 0; i < n; ++i)
      other[counts[entries[i].key >> shift & (kDigits - 1)]++] = entries[i];
    std::swap(entries, other);
  }
  if (entries != home) std::memcpy(home, entries, n * sizeof(Entry));
}

// 8-bit floats and narrower have no common bit order: sign and magnitude for all but the one
// without a sign.
Order OrderOf(PrimitiveType type) {
  if (type == F8E8M0FNU) return Order::kUnsigned;
  if (IsFloating(type)) return Order::kFloat;
  return IsSignedInteger(type) ? Order::kSigned : Order::kUnsigned;
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

}  // namespace

SortStep::SortStep(SortParams params) : p_(std::move(params)) {
  // Entries twice, and numbers; the comparator's values.
  scratch_bytes_ = p_.length * static_cast<int64_t>(2 * sizeof(Entry) + sizeof(uint32_t)) + 64 +
                   64 * static_cast<int64_t>(p_.arrays.size());
  if (p_.comparator != nullptr) scratch_bytes_ += p_.comparator->scratch_bytes() + 64;
}

double SortStep::cost_ns() const {
  const double per_element =
      p_.comparator != nullptr
          ? 2000
          : 10 * static_cast<double>(p_.keys.size()) + 3 * static_cast<double>(p_.arrays.size());
  return 50 +
         static_cast<double>(p_.outer * p_.inner) * static_cast<double>(p_.length) * per_element;
}

void SortStep::SortLine(const RunContext& context, int64_t line, char* scratch) const {
  const int64_t n = p_.length;
  const int64_t stride = p_.inner;
  const int64_t first = line / p_.inner * p_.inner * n + line % p_.inner;
  Entry* entries = reinterpret_cast<Entry*>(scratch);
  Entry* other = entries + n;
  uint32_t* numbers = reinterpret_cast<uint32_t*>(other + n);
  for (int64_t i = 0; i < n; ++i) entries[i].number = numbers[i] = static_cast<uint32_t>(i);
  if (p_.comparator == nullptr) {
    for (size_t k = p_.keys.size(); k-- > 0;) {
      const SortParams::Key& key = p_.keys[k];
      const int size = ByteWidth(key.type);
      const char* array = context.buffer(key.buffer) + first * size;
      const Order order = OrderOf(key.type);
      switch (size) {
        case 1:
          // f4 and f6 keep their sign below bit 7; a byte's worth is compared after moving it
          // there.
          if (order == Order::kFloat && BitWidth(key.type) < 8) {
            const int shift = 8 - BitWidth(key.type);
            for (int64_t i = 0; i < n; ++i) {
              const uint8_t bits = static_cast<uint8_t>(
                  reinterpret_cast<const uint8_t*>(array)[entries[i].number * stride] << shift);
              const uint64_t ordered = OrderedFloat(bits, key.is_total_order);
              entries[i].key = key.is_descending ? static_cast<uint8_t>(~ordered) : ordered;
            }
            break;
          }
          LoadKeys<uint8_t>(array, stride, order, key.is_total_order, key.is_descending, entries,
                            n);
          break;
        case 2:
          LoadKeys<uint16_t>(array, stride, order, key.is_total_order, key.is_descending, entries,
                             n);
          break;
        case 4:
          LoadKeys<uint32_t>(array, stride, order, key.is_total_order, key.is_descending, entries,
                             n);
          break;
        default:
          LoadKeys<uint64_t>(array, stride, order, key.is_total_order, key.is_descending, entries,
                             n);
      }
      if (n < kShortLine) {
        // Equal keys keep their order: that of `entries`, which a stable sort respects.
        std::stable_sort(entries, entries + n,
                         [](const Entry& a, const Entry& b) { return a.key < b.key; });
      } else {
        RadixSort(entries, other, n, 8 * size);
      }
    }
    for (int64_t i = 0; i < n; ++i) numbers[i] = entries[i].number;
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
    std::stable_sort(numbers, numbers + n, before);
  }
  for (const SortParams::Array& array : p_.arrays) {
    const int size = ByteWidth(array.type);
    const char* from = context.buffer(array.from) + first * size;
    char* to = context.buffer(array.to) + first * size;
    switch (size) {
      case 1:
        Permute<uint8_t>(to, from, numbers, stride, n);
        break;
      case 2:
        Permute<uint16_t>(to, from, numbers, stride, n);
        break;
      case 4:
        Permute<uint32_t>(to, from, numbers, stride, n);
        break;
      case 8:
        Permute<uint64_t>(to, from, numbers, stride, n);
        break;
      default:
        Permute<Bits128>(to, from, numbers, stride, n);
    }
  }
}

absl::Status SortStep::Run(const RunContext& context) const {
  const int64_t lines = p_.outer * p_.inner;
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
      "sort ", p_.outer * p_.inner, " lines of ", p_.length,
      p_.comparator != nullptr ? " by comparator" : absl::StrCat(" by ", p_.keys.size(), " keys"));
}

}  // namespace pjrt::cpu
