// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/rng_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kBlocksPerUnit = 8192;  // a multiple of kRandomLanes

void ForEachUnit(const RunContext& context, int64_t blocks,
                 absl::FunctionRef<void(int64_t begin, int64_t end)> fn) {
  const int64_t units = CeilDiv(blocks, kBlocksPerUnit);
  if (units <= 1 || context.team == nullptr) {
    if (blocks > 0) fn(0, blocks);
    return;
  }
  context.team->ParallelFor(units, [&](int64_t unit, int) {
    fn(unit * kBlocksPerUnit, std::min(blocks, (unit + 1) * kBlocksPerUnit));
  });
}

uint64_t StateWord(const RunContext& context, BufferId state, int word) {
  uint64_t value;
  std::memcpy(&value, context.buffer(state) + 8 * word, 8);
  return value;
}

// Leaves the low `bits` of each word, as a value of fewer than 8 bits is stored: sign-extended or
// with zeros above.
void Narrow(uint32_t* words, int count, int bits, bool is_signed) {
  const int shift = 32 - bits;
  if (is_signed) {
    for (int i = 0; i < count; ++i)
      words[i] = static_cast<uint32_t>(static_cast<int32_t>(words[i] << shift) >> shift);
  } else {
    for (int i = 0; i < count; ++i) words[i] = words[i] << shift >> shift;
  }
}

// Elements from `first` on take the low bytes of a word each.
template <typename T>
void Put(char* result, int64_t first, const uint32_t* words, int64_t count) {
  T* to = reinterpret_cast<T*>(result) + first;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(words[i]);
}

void PutWords(int element_bytes, char* result, int64_t first, const uint32_t* words,
              int64_t count) {
  if (element_bytes == 4) return Put<uint32_t>(result, first, words, count);
  if (element_bytes == 2) return Put<uint16_t>(result, first, words, count);
  Put<uint8_t>(result, first, words, count);
}

}  // namespace

RandomBitsStep::RandomBitsStep(const RandomBitsParams& params) : p_(params) {
  elements_ = p_.outer * p_.size * p_.inner;
  const bool wide = BitWidth(p_.type) == 64;
  if (p_.is_threefry) {
    blocks_ = wide ? elements_ : p_.outer * ((p_.size + 1) / 2) * p_.inner;
  } else {
    const int64_t per_block = wide ? 2 : 4;
    blocks_ = CeilDiv(elements_, per_block);
  }
}

double RandomBitsStep::cost_ns() const {
  return 20 + (p_.is_threefry ? 1.0 : 3.0) * static_cast<double>(blocks_);
}

std::string RandomBitsStep::Describe() const {
  return absl::StrCat("random bits ", p_.is_threefry ? "threefry " : "philox ",
                      PrimitiveTypeName(p_.type), " ", elements_);
}

// The result is the stream of words in row-major order; on this little-endian layout a 64-bit
// element is two of them.
void RandomBitsStep::Philox(const RunContext& context, int64_t begin, int64_t end) const {
  const uint64_t key = StateWord(context, p_.state, 0);
  const Counter128 counter{StateWord(context, p_.state, 1),
                           p_.state_words == 3 ? StateWord(context, p_.state, 2) : key};
  char* result = context.buffer(p_.result);
  const int bits = BitWidth(p_.type), bytes = ByteWidth(p_.type);
  const int64_t total = elements_ * std::max(1, bytes / 4);
  uint32_t words[4 * kRandomLanes];
  for (int64_t block = begin; block < end; block += kRandomLanes) {
    const int64_t blocks = std::min<int64_t>(kRandomLanes, end - block), first = 4 * block;
    p_.kernels->philox(key, counter + static_cast<uint64_t>(block), blocks, words);
    const int64_t count = std::min(4 * blocks, total - first);
    if (bits < 8) Narrow(words, 4 * kRandomLanes, bits, IsSignedInteger(p_.type));
    if (bits >= 32) {
      std::memcpy(result + 4 * first, words, 4 * count);
    } else {
      PutWords(bytes, result, first, words, count);
    }
  }
}

// Both words of each block, in row-major order: 64-bit elements, and narrower ones whose pairs are
// neighbours in memory.
void RandomBitsStep::ThreefryStream(const RunContext& context, int64_t begin, int64_t end) const {
  const uint64_t key = StateWord(context, p_.state, 0), counter = StateWord(context, p_.state, 1);
  char* result = context.buffer(p_.result);
  const int bits = BitWidth(p_.type), bytes = ByteWidth(p_.type);
  const int64_t total = elements_ * std::max(1, bytes / 4);
  uint32_t words[2 * kRandomLanes];
  for (int64_t block = begin; block < end; block += kRandomLanes) {
    const int64_t blocks = std::min<int64_t>(kRandomLanes, end - block), first = 2 * block;
    p_.kernels->threefry_pairs(key, counter + static_cast<uint64_t>(block), blocks, words);
    const int64_t count = std::min(2 * blocks, total - first);
    if (bits < 8) Narrow(words, 2 * kRandomLanes, bits, IsSignedInteger(p_.type));
    if (bits >= 32) {
      std::memcpy(result + 4 * first, words, 4 * count);
    } else {
      PutWords(bytes, result, first, words, count);
    }
  }
}

// Block ((o, j), i) gives elements (o, 2j, i) and (o, 2j + 1, i); the latter is missing at an odd
// end.
void RandomBitsStep::ThreefryRows(const RunContext& context, int64_t begin, int64_t end) const {
  const uint64_t key = StateWord(context, p_.state, 0), counter = StateWord(context, p_.state, 1);
  char* result = context.buffer(p_.result);
  const int bits = BitWidth(p_.type), bytes = ByteWidth(p_.type);
  const int64_t half = (p_.size + 1) / 2;
  uint32_t w0[kRandomLanes], w1[kRandomLanes];
  for (int64_t block = begin; block < end; block += kRandomLanes) {
    const int64_t count = std::min<int64_t>(kRandomLanes, end - block);
    p_.kernels->threefry(key, counter + static_cast<uint64_t>(block), count, w0, w1);
    if (bits < 8) {
      Narrow(w0, kRandomLanes, bits, IsSignedInteger(p_.type));
      Narrow(w1, kRandomLanes, bits, IsSignedInteger(p_.type));
    }
    for (int64_t k = 0; k < count;) {
      const int64_t i = (block + k) % p_.inner, row = (block + k) / p_.inner, j = 2 * (row % half);
      const int64_t run = std::min(count - k, p_.inner - i);
      const int64_t first = (row / half * p_.size + j) * p_.inner + i;
      PutWords(bytes, result, first, w0 + k, run);
      if (j + 1 < p_.size) PutWords(bytes, result, first + p_.inner, w1 + k, run);
      k += run;
    }
  }
}

void RandomBitsStep::WriteNextState(const RunContext& context) const {
  uint64_t next[3] = {StateWord(context, p_.state, 0), StateWord(context, p_.state, 1), 0};
  if (p_.state_words == 3) next[2] = StateWord(context, p_.state, 2);
  const Counter128 counter = Counter128{next[1], next[2]} + static_cast<uint64_t>(blocks_);
  next[1] = counter.low;
  next[2] = counter.high;
  std::memcpy(context.buffer(p_.next_state), next, 8 * p_.state_words);
}

absl::Status RandomBitsStep::Run(const RunContext& context) const {
  if (!p_.is_threefry) {
    ForEachUnit(context, blocks_, [&](int64_t begin, int64_t end) { Philox(context, begin, end); });
  } else if (BitWidth(p_.type) == 64 || (p_.inner == 1 && (p_.size % 2 == 0 || p_.outer == 1))) {
    ForEachUnit(context, blocks_,
                [&](int64_t begin, int64_t end) { ThreefryStream(context, begin, end); });
  } else {
    ForEachUnit(context, blocks_,
                [&](int64_t begin, int64_t end) { ThreefryRows(context, begin, end); });
  }
  WriteNextState(context);
  return absl::OkStatus();
}

namespace {

constexpr uint64_t kKey = 0x452821E638D01377u;  // digits of pi
constexpr double kTwoPi = 6.283185307179586477;

// In [0, 1).
double UnitBelowOne(uint32_t word) { return word * 0x1p-32; }
double UnitBelowOne(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }
// In (0, 1].
double UnitAboveZero(uint32_t word) { return (word + 1.0) * 0x1p-32; }
double UnitAboveZero(uint64_t word) { return static_cast<double>((word >> 11) + 1) * 0x1p-53; }

// The largest value below a number that has one.
template <typename T>
T Below(T value) {
  using Bits = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  Bits bits;
  std::memcpy(&bits, &value, sizeof(T));
  const double number = static_cast<double>(value);
  if (number > 0) {
    --bits;
  } else if (number < 0) {
    ++bits;
  } else {
    const T denormal = static_cast<T>(-1.0);  // for its sign bit
    const T one = static_cast<T>(1.0);
    Bits minus, plus;
    std::memcpy(&minus, &denormal, sizeof(T));
    std::memcpy(&plus, &one, sizeof(T));
    bits = static_cast<Bits>((minus ^ plus) | 1);
  }
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

template <typename T>
struct UniformFloat {
  T low, high, below;
  double a, width;
  bool ordered;
  UniformFloat(T a_in, T b_in)
      : low(a_in),
        high(b_in),
        below(a_in),
        a(static_cast<double>(a_in)),
        width(static_cast<double>(b_in) - a),
        ordered(width > 0) {
    if (ordered) below = Below(high);
  }
  template <typename W>
  T operator()(W word) const {
    if (!ordered) return low;
    const double u = UnitBelowOne(word);
    // The width of a pair of large doubles may overflow; the number between them does not.
    const double x =
        std::isinf(width) ? a * (1 - u) + static_cast<double>(high) * u : a + u * width;
    const T value = static_cast<T>(x);
    return static_cast<double>(value) < static_cast<double>(high) ? value : below;
  }
};

// The high word of the product.
uint64_t MultiplyHigh(uint64_t x, uint64_t y) {
  const uint64_t x0 = x & 0xffffffffu, x1 = x >> 32, y0 = y & 0xffffffffu, y1 = y >> 32;
  const uint64_t middle = x1 * y0 + (x0 * y0 >> 32), other = x0 * y1 + (middle & 0xffffffffu);
  return x1 * y1 + (middle >> 32) + (other >> 32);
}

// `bits`: the type's width; values of fewer than 8 are kept as they are stored. The word, as a
// fraction of 2^64, times the number of values: what is uneven is spread over all of them.
template <typename T>
struct UniformInteger {
  uint64_t a, width, mask;
  int shift;
  UniformInteger(T a_in, T b_in, int bits)
      : a(static_cast<uint64_t>(a_in)),
        mask(bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1),
        shift(64 - bits) {
    width = (static_cast<uint64_t>(b_in) - a) & mask;
  }
  T operator()(uint64_t word) const {
    const uint64_t value = (a + (width == 0 ? word : MultiplyHigh(word, width))) << shift;
    return std::is_signed_v<T> ? static_cast<T>(static_cast<int64_t>(value) >> shift)
                               : static_cast<T>(value >> shift);
  }
};

// Calls put(first, words, n) with the words, all of a stream of Philox, for elements first to first
// + n.
template <typename W, typename Fn>
void ForEachWord(const RandomKernels& kernels, const RunContext& context, uint64_t key,
                 uint64_t draw, int64_t count, Fn put) {
  constexpr int64_t kPerBlock = 16 / sizeof(W);
  ForEachUnit(context, CeilDiv(count, kPerBlock), [&](int64_t begin, int64_t end) {
    uint32_t words[4 * kRandomLanes];
    W values[kPerBlock * kRandomLanes];
    for (int64_t block = begin; block < end; block += kRandomLanes) {
      const int64_t blocks = std::min<int64_t>(kRandomLanes, end - block);
      kernels.philox(key, Counter128{static_cast<uint64_t>(block), draw}, blocks, words);
      std::memcpy(values, words, static_cast<size_t>(blocks) * 16);
      const int64_t first = block * kPerBlock;
      put(first, values, std::min(count - first, kPerBlock * blocks));
    }
  });
}

template <typename T>
void Fill(const RandomParams& p, const RunContext& context, uint64_t key, uint64_t draw) {
  using W = std::conditional_t<sizeof(T) == 8 || std::is_integral_v<T>, uint64_t, uint32_t>;
  const T a = *reinterpret_cast<const T*>(context.buffer(p.a)),
          b = *reinterpret_cast<const T*>(context.buffer(p.b));
  T* to = reinterpret_cast<T*>(context.buffer(p.result));
  if constexpr (std::is_integral_v<T>) {
    const UniformInteger<T> number(a, b, p.type == PRED ? 1 : BitWidth(p.type));
    ForEachWord<W>(*p.kernels, context, key, draw, p.count,
                   [&](int64_t first, const W* words, int64_t n) {
                     for (int64_t i = 0; i < n; ++i) to[first + i] = number(words[i]);
                   });
  } else if (!p.is_normal) {
    const UniformFloat<T> number(a, b);
    ForEachWord<W>(*p.kernels, context, key, draw, p.count,
                   [&](int64_t first, const W* words, int64_t n) {
                     for (int64_t i = 0; i < n; ++i) to[first + i] = number(words[i]);
                   });
  } else {
    const double mean = static_cast<double>(a), deviation = static_cast<double>(b);
    // Words come in whole blocks, so that the last element of an odd number has a partner too.
    ForEachWord<W>(
        *p.kernels, context, key, draw, p.count, [&](int64_t first, const W* words, int64_t n) {
          for (int64_t i = 0; i < n; i += 2) {
            const double r = deviation * std::sqrt(-2 * std::log(UnitAboveZero(words[i]))),
                         t = kTwoPi * UnitBelowOne(words[i + 1]);
            to[first + i] = static_cast<T>(mean + r * std::sin(t));
            if (i + 1 < n) to[first + i + 1] = static_cast<T>(mean + r * std::cos(t));
          }
        });
  }
}

using RandomFillFn = void (*)(const RandomParams&, const RunContext&, uint64_t key, uint64_t draw);

RandomFillFn FindFill(PrimitiveType type) {
  switch (type) {
    case PRED:
      return Fill<uint8_t>;
    case S1:
    case S2:
    case S4:
    case S8:
      return Fill<int8_t>;
    case S16:
      return Fill<int16_t>;
    case S32:
      return Fill<int32_t>;
    case S64:
      return Fill<int64_t>;
    case U1:
    case U2:
    case U4:
    case U8:
      return Fill<uint8_t>;
    case U16:
      return Fill<uint16_t>;
    case U32:
      return Fill<uint32_t>;
    case U64:
      return Fill<uint64_t>;
    case F4E2M1FN:
      return Fill<float4_e2m1fn>;
    case F6E2M3FN:
      return Fill<float6_e2m3fn>;
    case F6E3M2FN:
      return Fill<float6_e3m2fn>;
    case F8E3M4:
      return Fill<float8_e3m4>;
    case F8E4M3:
      return Fill<float8_e4m3>;
    case F8E4M3FN:
      return Fill<float8_e4m3fn>;
    case F8E4M3FNUZ:
      return Fill<float8_e4m3fnuz>;
    case F8E4M3B11FNUZ:
      return Fill<float8_e4m3b11fnuz>;
    case F8E5M2:
      return Fill<float8_e5m2>;
    case F8E5M2FNUZ:
      return Fill<float8_e5m2fnuz>;
    case F8E8M0FNU:
      return Fill<float8_e8m0fnu>;
    case BF16:
      return Fill<bfloat16>;
    case F16:
      return Fill<half>;
    case F32:
      return Fill<float>;
    case F64:
      return Fill<double>;
    default:
      return nullptr;
  }
}

}  // namespace

bool CanDrawRandom(PrimitiveType type) { return FindFill(type) != nullptr; }

absl::Status RandomStep::Run(const RunContext& context) const {
  const uint64_t key = kKey ^ static_cast<uint64_t>(context.info->seed);
  FindFill(p_.type)(p_, context, key, (*context.rng_draws)++);
  return absl::OkStatus();
}

double RandomStep::cost_ns() const {
  return 20 + static_cast<double>(p_.count) * (p_.is_normal ? 25 : 4);
}

std::string RandomStep::Describe() const {
  return absl::StrCat("random ", p_.is_normal ? "normal " : "uniform ", PrimitiveTypeName(p_.type),
                      " ", p_.count);
}

}  // namespace pjrt::cpu
