// SPDX-License-Identifier: Apache-2.0
//
// Gathering and scattering by blocks of offsets.
#include "src/cpu_device/kernels/index_ops.h"

#include <cstring>

#include "src/cpu_device/kernels/complex-inl.h"
#include "src/cpu_device/kernels/copy_pieces-inl.h"
#include "src/cpu_device/kernels/float-inl.h"
#include "src/cpu_device/kernels/integer-inl.h"
#include "src/cpu_device/kernels/level_tables.h"
#include "src/cpu_device/kernels/small_float-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Rows this far ahead are asked for while one is copied.
constexpr int64_t kAhead = 6;

// An index as an int64; those of u64 beyond it become its maximum, which is beyond any array too.
template <typename T>
PJRT_INLINE int64_t ToSigned(T index) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    constexpr uint64_t kMax = static_cast<uint64_t>(-1) >> 1;
    return static_cast<int64_t>(index > kMax ? kMax : index);
  } else {
    return static_cast<int64_t>(index);
  }
}

template <typename T>
void AddClamped(int64_t* offsets, const void* index, int64_t index_stride, int64_t limit,
                int64_t step, int64_t n) {
  const T* const indices = static_cast<const T*>(index);
  const auto add = [&](int64_t i, int64_t at) {
    int64_t value = ToSigned(indices[at]);
    value = value < 0 ? 0 : value;
    value = value > limit ? limit : value;
    offsets[i] += value * step;
  };
  if (index_stride == 1) {
    for (int64_t i = 0; i < n; ++i) add(i, i);
  } else {
    for (int64_t i = 0; i < n; ++i) add(i, i * index_stride);
  }
}

template <typename T>
void AddChecked(int64_t* offsets, const void* index, int64_t index_stride, int64_t limit,
                int64_t step, int64_t n) {
  const T* const indices = static_cast<const T*>(index);
  const auto add = [&](int64_t i, int64_t at) {
    const int64_t value = ToSigned(indices[at]);
    // All ones where a sign says so: with comparisons this takes twice as long. The difference only
    // wraps around for a negative index, and a product of an index out of range, which may
    // overflow, is not formed.
    const int64_t above = static_cast<int64_t>(static_cast<uint64_t>(limit) - value);
    const int64_t out = (value | above | offsets[i]) >> 63;
    offsets[i] = (offsets[i] + (value & ~out) * step) | out;
  };
  if (index_stride == 1) {
    for (int64_t i = 0; i < n; ++i) add(i, i);
  } else {
    for (int64_t i = 0; i < n; ++i) add(i, i * index_stride);
  }
}

template <typename T>
void GatherPoints(void* dst, int64_t dst_stride, const void* src, const int64_t* offsets,
                  int64_t n) {
  T* const d = static_cast<T*>(dst);
  const T* const s = static_cast<const T*>(src);
  if (dst_stride == 1) {
    for (int64_t i = 0; i < n; ++i) d[i] = s[offsets[i]];
  } else {
    for (int64_t i = 0; i < n; ++i) d[i * dst_stride] = s[offsets[i]];
  }
}

void GatherRows(void* dst, int64_t dst_stride, const void* src, const int64_t* offsets,
                int64_t size, int64_t bytes, int64_t n) {
  char* const d = static_cast<char*>(dst);
  const char* const s = static_cast<const char*>(src);
  WithCopyOf(bytes, [=](auto copy) {
    for (int64_t i = 0; i < n; ++i) {
      const char* const ahead = s + offsets[i + kAhead < n ? i + kAhead : n - 1] * size;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + (bytes > 64 ? 64 : bytes - 1));
      copy.Run(d + i * dst_stride, s + offsets[i] * size, bytes);
    }
  });
}

// Results much larger than the caches are written past them.
void StreamGatherRows(void* dst, int64_t dst_stride, const void* src, const int64_t* offsets,
                      int64_t size, int64_t bytes, int64_t n) {
  constexpr int64_t kRowsAhead = 8, kMostAhead = 1024;
  if (bytes < 4 * kLine) return GatherRows(dst, dst_stride, src, offsets, size, bytes, n);
  char* const d = static_cast<char*>(dst);
  const char* const s = static_cast<const char*>(src);
  for (int64_t i = 0; i < n; ++i) {
    const char* const ahead = s + offsets[i + kRowsAhead < n ? i + kRowsAhead : n - 1] * size;
    for (int64_t line = 0; line < bytes && line < kMostAhead; line += kLine)
      __builtin_prefetch(ahead + line);
    StreamBytes(d + i * dst_stride, s + offsets[i] * size, bytes);
  }
  EndStream();
}

struct Replace {
  template <typename T>
  PJRT_INLINE T Run(T, T update) {
    return update;
  }
};

template <class Op>
constexpr bool kIsMaximum =
    std::is_same_v<Op, floats::Maximum> || std::is_same_v<Op, integer::Maximum>;
template <class Op>
constexpr bool kIsMinimum =
    std::is_same_v<Op, floats::Minimum> || std::is_same_v<Op, integer::Minimum>;

// True when Op::Run(a, b) is surely a, so that nothing need be stored: most updates of an extreme.
template <class Op, typename T>
PJRT_INLINE bool Keeps(T a, T b) {
  if constexpr (kIsMaximum<Op>) {
    return a > b;
  } else if constexpr (kIsMinimum<Op>) {
    return a < b;
  } else {
    return false;
  }
}

// Op::Run(a, b) without a branch that depends on which float is greater: one of either order, and
// the bits that both orders have, or that one has, where they are equal.
template <class Op, typename T>
PJRT_INLINE T Combined(T a, T b) {
  if constexpr (std::is_floating_point_v<T> && (kIsMaximum<Op> || kIsMinimum<Op>)) {
    if (__builtin_expect(__builtin_isunordered(a, b), 0)) return Op::Run(a, b);
    const auto x = ToBits(kIsMaximum<Op> ? (a > b ? a : b) : (a < b ? a : b));
    const auto y = ToBits(kIsMaximum<Op> ? (b > a ? b : a) : (b < a ? b : a));
    return BitCast<T>(kIsMaximum<Op> ? x & y : x | y);
  } else {
    return Op::Run(a, b);
  }
}

// Whether updates of one element mostly follow each other, as those of sorted segments do: whether
// the first ones do.
PJRT_INLINE bool FollowEachOther(const int64_t* offsets, int64_t n) {
  constexpr int64_t kSample = 32;
  const int64_t count = n < kSample ? n : kSample;
  int64_t same = 0;
  for (int64_t i = 1; i < count; ++i) same += offsets[i] == offsets[i - 1];
  return 4 * same > 3 * count;
}

// Updates of single elements. Sums of sorted segments need not wait for memory: 32,768 of 512 take
// 56 us, and took 109 (Zen 3). Of other updates, which one is greater cannot be foreseen: as many
// of 16,384 maxima take 63 us, and took 184 with a branch on it.
template <class Op, typename T>
void CombineElements(T* dst, const int64_t* offsets, const T* updates, int64_t update_stride,
                     int64_t n) {
  if (FollowEachOther(offsets, n)) {
    int64_t last = -1;
    T value = {};
    for (int64_t i = 0; i < n; ++i) {
      const int64_t offset = offsets[i];
      if (offset < 0) continue;
      if (offset != last) {
        last = offset;
        value = dst[offset];
      }
      const T update = updates[i * update_stride];
      if (Keeps<Op>(value, update)) continue;
      dst[offset] = value = Op::Run(value, update);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      if (offsets[i] < 0) continue;
      T* const at = dst + offsets[i];
      *at = Combined<Op>(*at, updates[i * update_stride]);
    }
  }
}

template <class Op, typename T>
void ScatterRows(void* dst, const int64_t* offsets, const void* updates, int64_t update_stride,
                 int64_t length, int64_t n) {
  T* const d = static_cast<T*>(dst);
  const T* const u = static_cast<const T*>(updates);
  if (length == 1) return CombineElements<Op>(d, offsets, u, update_stride, n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t next = offsets[i + kAhead < n ? i + kAhead : n - 1];
    __builtin_prefetch(d + (next < 0 ? 0 : next), 1);
    if (offsets[i] < 0) continue;
    T* const row = d + offsets[i];
    const T* const update = u + i * update_stride;
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t k = 0; k < length; ++k) row[k] = Op::Run(row[k], update[k]);
  }
}

// Rows of floats that compute in f32. Each update is rounded, as if it were the only one.
template <class Op, class Format>
void ScatterNarrowRows(void* dst, const int64_t* offsets, const void* updates,
                       int64_t update_stride, int64_t length, int64_t n) {
  constexpr int64_t kPiece = 128;
  uint16_t* const d = static_cast<uint16_t*>(dst);
  const uint16_t* const u = static_cast<const uint16_t*>(updates);
  if (length == 1) {
    for (int64_t i = 0; i < n; ++i) {
      if (offsets[i] < 0) continue;
      float value, added;
      LoadFloat<Format>(&value, d + offsets[i]);
      LoadFloat<Format>(&added, u + i * update_stride);
      value = Op::Run(value, added);
      StoreFloat<Format>(d + offsets[i], &value);
    }
    return;
  }
  float values[kPiece], added[kPiece];
  // The greater of two bf16 numbers is one: its bits are the upper half of an f32's.
  constexpr bool kIsExact =
      std::is_same_v<Format, bfloat16> &&
      (std::is_same_v<Op, floats::Maximum> || std::is_same_v<Op, floats::Minimum>);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t next = offsets[i + kAhead < n ? i + kAhead : n - 1];
    __builtin_prefetch(d + (next < 0 ? 0 : next), 1);
    if (offsets[i] < 0) continue;
    uint16_t* row = d + offsets[i];
    const uint16_t* update = u + i * update_stride;
    if constexpr (kIsExact) {
      const auto widen = [](uint16_t bits) { return BitCast<float>(uint32_t{bits} << 16); };
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < length; ++k)
        row[k] = static_cast<uint16_t>(ToBits(Op::Run(widen(row[k]), widen(update[k]))) >> 16);
      continue;
    }
    for (int64_t left = length; left > 0; left -= kPiece, row += kPiece, update += kPiece) {
      const int64_t count = left < kPiece ? left : kPiece;
      LoadFloats<Format>(values, row, count);
      LoadFloats<Format>(added, update, count);
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < count; ++k) values[k] = Op::Run(values[k], added[k]);
      StoreFloats<Format>(row, values, count);
    }
  }
}

struct FloatAdd {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a + b;
  }
};
struct FloatMultiply {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a * b;
  }
};

template <typename T>
PJRT_INLINE ScatterRowsFn& Combine(IndexKernels* k, Monoid monoid) {
  return k->combine_rows[static_cast<int>(monoid)][static_cast<int>(kCType<T>)];
}

// U: the unsigned integer of T's width, on which sums and products wrap.
template <typename T>
void FillInteger(IndexKernels* k, IndexType index) {
  using U = UnsignedOf<T>;
  Combine<T>(k, Monoid::kAdd) = ScatterRows<integer::Add, U>;
  Combine<T>(k, Monoid::kMultiply) = ScatterRows<integer::Multiply, U>;
  Combine<T>(k, Monoid::kMaximum) = ScatterRows<integer::Maximum, T>;
  Combine<T>(k, Monoid::kMinimum) = ScatterRows<integer::Minimum, T>;
  Combine<T>(k, Monoid::kAnd) = ScatterRows<integer::And, U>;
  Combine<T>(k, Monoid::kOr) = ScatterRows<integer::Or, U>;
  Combine<T>(k, Monoid::kXor) = ScatterRows<integer::Xor, U>;
  k->add_clamped[static_cast<int>(index)] = AddClamped<T>;
  k->add_checked[static_cast<int>(index)] = AddChecked<T>;
}

template <typename T>
void FillFloat(IndexKernels* k) {
  Combine<T>(k, Monoid::kAdd) = ScatterRows<FloatAdd, T>;
  Combine<T>(k, Monoid::kMultiply) = ScatterRows<FloatMultiply, T>;
  Combine<T>(k, Monoid::kMaximum) = ScatterRows<floats::Maximum, T>;
  Combine<T>(k, Monoid::kMinimum) = ScatterRows<floats::Minimum, T>;
}

template <class Format>
void FillNarrow(ScatterRowsFn* combine) {
  combine[static_cast<int>(Monoid::kAdd)] = ScatterNarrowRows<FloatAdd, Format>;
  combine[static_cast<int>(Monoid::kMultiply)] = ScatterNarrowRows<FloatMultiply, Format>;
  combine[static_cast<int>(Monoid::kMaximum)] = ScatterNarrowRows<floats::Maximum, Format>;
  combine[static_cast<int>(Monoid::kMinimum)] = ScatterNarrowRows<floats::Minimum, Format>;
}

template <typename T>
void FillComplexType(IndexKernels* k) {
  Combine<T>(k, Monoid::kAdd) = ScatterRows<complexes::Add, T>;
  Combine<T>(k, Monoid::kMultiply) = ScatterRows<complexes::Multiply, T>;
  Combine<T>(k, Monoid::kMaximum) = ScatterRows<complexes::Maximum, T>;
  Combine<T>(k, Monoid::kMinimum) = ScatterRows<complexes::Minimum, T>;
}

IndexKernels MakeTable() {
  IndexKernels k = {};
  FillInteger<int8_t>(&k, IndexType::kS8);
  FillInteger<uint8_t>(&k, IndexType::kU8);
  FillInteger<int16_t>(&k, IndexType::kS16);
  FillInteger<uint16_t>(&k, IndexType::kU16);
  FillInteger<int32_t>(&k, IndexType::kS32);
  FillInteger<uint32_t>(&k, IndexType::kU32);
  FillInteger<int64_t>(&k, IndexType::kS64);
  FillInteger<uint64_t>(&k, IndexType::kU64);
  FillFloat<float>(&k);
  FillFloat<double>(&k);
  FillNarrow<bfloat16>(k.combine_bf16_rows);
  FillNarrow<half>(k.combine_f16_rows);
  FillComplexType<C64>(&k);
  FillComplexType<C128>(&k);
  // Bytes of 0 and 1.
  const Monoid or_monoids[] = {Monoid::kAdd, Monoid::kMaximum, Monoid::kOr};
  for (Monoid monoid : or_monoids) Combine<Pred>(&k, monoid) = ScatterRows<integer::Or, uint8_t>;
  const Monoid and_monoids[] = {Monoid::kMultiply, Monoid::kMinimum, Monoid::kAnd};
  for (Monoid monoid : and_monoids) Combine<Pred>(&k, monoid) = ScatterRows<integer::And, uint8_t>;
  Combine<Pred>(&k, Monoid::kXor) = ScatterRows<integer::Xor, uint8_t>;
  k.gather_points[0] = GatherPoints<uint8_t>;
  k.gather_points[1] = GatherPoints<uint16_t>;
  k.gather_points[2] = GatherPoints<uint32_t>;
  k.gather_points[3] = GatherPoints<uint64_t>;
  k.gather_points[4] = GatherPoints<Bits128>;
  k.gather_rows = GatherRows;
  k.stream_gather_rows = StreamGatherRows;
  k.replace_rows[0] = ScatterRows<Replace, uint8_t>;
  k.replace_rows[1] = ScatterRows<Replace, uint16_t>;
  k.replace_rows[2] = ScatterRows<Replace, uint32_t>;
  k.replace_rows[3] = ScatterRows<Replace, uint64_t>;
  k.replace_rows[4] = ScatterRows<Replace, Bits128>;
  return k;
}

}  // namespace

const IndexKernels* GetIndexKernels() {
  static const IndexKernels table = MakeTable();
  return &table;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
