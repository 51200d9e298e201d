// SPDX-License-Identifier: Apache-2.0
//
// One pass over the line. What is above the k-th largest seen so far is collected; each time that
// the collection is full, it is cut to its k largest, which raises the mark. Blocks with nothing
// above the mark, nearly all of a long line, cost a vectorised comparison.
#include "src/cpu_device/steps/top_k_step.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kTopKBlock = 64;

template <typename Bits>
struct Candidate {
  Bits key;
  int32_t index;
  bool operator<(const Candidate& other) const {
    return key != other.key ? key > other.key : index < other.index;
  }
};

// A signed integer in the order of the value. Its own inverse for floats and signed integers; the
// bits of unsigned ones are moved by half their range.
enum class Order { kSigned, kUnsigned, kFloat };
template <typename Bits>
inline Bits KeyOf(Bits bits, Order order) {
  constexpr Bits kLow = std::numeric_limits<Bits>::max();  // all but the sign
  if (order == Order::kFloat)
    return static_cast<Bits>(bits ^ ((bits >> (8 * sizeof(Bits) - 1)) & kLow));
  if (order == Order::kUnsigned) return static_cast<Bits>(bits ^ std::numeric_limits<Bits>::min());
  return bits;
}

// Little beyond the k largest: cutting a few is cheap, and the sooner the mark is high, the fewer
// follow.
int64_t Capacity(int64_t k) { return 2 * k + kTopKBlock; }

// Collects from x[0, n); returns how many, the k largest among them.
template <Order kOrder, typename Bits>
int64_t Collect(const Bits* x, int64_t n, int64_t k, Candidate<Bits>* found) {
  int64_t count = 0;
  const int64_t capacity = Capacity(k);
  bool has_mark = false;
  Bits mark = 0;
  for (int64_t begin = 0; begin < n; begin += kTopKBlock) {
    const int64_t end = std::min(n, begin + kTopKBlock);
    if (has_mark && end - begin == kTopKBlock) {
      Bits above = 0;
      for (int64_t i = 0; i < kTopKBlock; ++i)
        above |= static_cast<Bits>(-(KeyOf(x[begin + i], kOrder) > mark));
      if (above == 0) continue;
    }
    for (int64_t i = begin; i < end; ++i) {
      const Bits key = KeyOf(x[i], kOrder);
      found[count] = {key, static_cast<int32_t>(i)};  // which of them stay is hard to foresee
      count += !has_mark || key > mark ? 1 : 0;
    }
    if (count + kTopKBlock <= capacity) continue;
    std::nth_element(found, found + (k - 1), found + count);
    count = k;
    has_mark = true;
    mark = found[k - 1].key;
  }
  return count;
}

}  // namespace

bool TopKStep::Takes(PrimitiveType type, int64_t length, int64_t k) {
  const bool is_known = (IsInteger(type) && !IsSubByte(type)) || type == F16 || type == BF16 ||
                        type == F32 || type == F64;
  // The selected are sorted by comparison, a whole line by radix.
  const bool is_few = k <= length / 16 || (k <= 256 && k <= length / 4);
  // A sort has those of so few in registers.
  const bool is_short = length <= 8 && ByteWidth(type) <= 4;
  return is_known && k > 0 && is_few && !is_short && length <= std::numeric_limits<int32_t>::max();
}

int64_t TopKStep::scratch_bytes() const {
  const int64_t entry = ByteWidth(type_) == 8 ? static_cast<int64_t>(sizeof(Candidate<int64_t>))
                                              : static_cast<int64_t>(sizeof(Candidate<int32_t>));
  return Capacity(k_) * entry;
}

template <typename Bits>
void TopKStep::SelectLine(const RunContext& context, int64_t line, char* scratch) const {
  const Bits* x = reinterpret_cast<const Bits*>(context.buffer(from_)) + line * length_;
  auto* const found = reinterpret_cast<Candidate<Bits>*>(scratch);
  const Order order = IsFloating(type_)        ? Order::kFloat
                      : IsSignedInteger(type_) ? Order::kSigned
                                               : Order::kUnsigned;
  const int64_t count = order == Order::kFloat ? Collect<Order::kFloat>(x, length_, k_, found)
                        : order == Order::kSigned
                            ? Collect<Order::kSigned>(x, length_, k_, found)
                            : Collect<Order::kUnsigned>(x, length_, k_, found);
  if (count > k_) std::nth_element(found, found + (k_ - 1), found + count);
  std::sort(found, found + k_);
  Bits* const values = reinterpret_cast<Bits*>(context.buffer(values_)) + line * k_;
  int32_t* const indices = reinterpret_cast<int32_t*>(context.buffer(indices_)) + line * k_;
  for (int64_t i = 0; i < k_; ++i) {
    values[i] = KeyOf(found[i].key, order);
    indices[i] = found[i].index;
  }
}

absl::Status TopKStep::Run(const RunContext& context) const {
  const auto select = [&](int64_t line, int member) {
    char* const scratch = context.member_scratch(member);
    switch (ByteWidth(type_)) {
      case 1:
        return SelectLine<int8_t>(context, line, scratch);
      case 2:
        return SelectLine<int16_t>(context, line, scratch);
      case 4:
        return SelectLine<int32_t>(context, line, scratch);
      default:
        return SelectLine<int64_t>(context, line, scratch);
    }
  };
  if (context.team != nullptr && lines_ > 1) {
    context.team->ParallelFor(lines_, select);
  } else {
    for (int64_t line = 0; line < lines_; ++line) select(line, 0);
  }
  return absl::OkStatus();
}

std::string TopKStep::Describe() const {
  return absl::StrCat("top_k ", lines_, " lines of ", length_, ": ", k_);
}

double TopKStep::cost_ns() const {
  return 100 + static_cast<double>(lines_) *
                   (0.5 * static_cast<double>(length_) + 60 * static_cast<double>(k_));
}

}  // namespace pjrt::cpu
