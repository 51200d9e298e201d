// SPDX-License-Identifier: Apache-2.0
//
// How values lie in memory that are folded: as themselves, or as narrower ones that are widened
// when they are loaded. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_SOURCE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_SOURCE_INL_H_

#include <utility>

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/narrow-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// So many vectors that a source loads together. Their elements may be in an order of its own.
template <class Source, typename V>
struct Group {
  V v[Source::kGroup];
};

// kGroups groups between memory, in its order, and vector registers: vector by vector, since what
// is copied as a whole stays in memory.
template <class Source, int kGroups, typename T, typename V>
PJRT_INLINE void LoadGroups(Group<Source, V>* groups, const T* from) {
#pragma GCC unroll 16
  for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
    for (int i = 0; i < Source::kGroup; ++i, from += sizeof(V) / sizeof(T)) {
      V v;
      __builtin_memcpy(&v, from, sizeof(v));
      groups[g].v[i] = v;
    }
    if constexpr (Source::kGroup > 1) groups[g] = Source::Unordered(groups[g]);
  }
}
template <class Source, int kGroups, typename T, typename V>
PJRT_INLINE void StoreGroups(T* to, Group<Source, V>* groups) {
#pragma GCC unroll 16
  for (int g = 0; g < kGroups; ++g) {
    if constexpr (Source::kGroup > 1) groups[g] = Source::Ordered(groups[g]);
#pragma GCC unroll 2
    for (int i = 0; i < Source::kGroup; ++i, to += sizeof(V) / sizeof(T)) {
      const V v = groups[g].v[i];
      __builtin_memcpy(to, &v, sizeof(v));
    }
  }
}

// What sources share whose groups are one vector, in the order of memory.
template <class Source>
struct LoadsVectors {
  static constexpr int kGroup = 1;
  template <typename V, typename S>
  PJRT_INLINE Group<Source, V> LoadGroup(const S* from) {
    return {{Source::template Load<V>(from)}};
  }
  // A group with its elements in the order of memory, and back.
  template <typename G>
  PJRT_INLINE G Ordered(G group) {
    return group;
  }
  template <typename G>
  PJRT_INLINE G Unordered(G group) {
    return group;
  }
};
// Elements of T as themselves.
template <typename T>
struct Direct : LoadsVectors<Direct<T>> {
  using Stored = T;
  template <typename V>
  PJRT_INLINE V Load(const T* from) {
    V value;
    __builtin_memcpy(&value, from, sizeof(V));
    return value;
  }
  PJRT_INLINE T One(T x) { return x; }
};

// Every other element of a, then of b, from element kFrom on; and, of a and b in turn, the elements
// from kFrom on.
template <int kFrom, typename V, int... k>
PJRT_INLINE V EveryOther(V a, V b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, (2 * k + kFrom)...);
}
template <int kFrom, typename V, int... k>
PJRT_INLINE V InTurn(V a, V b, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(a, b, (k % 2 * static_cast<int>(sizeof...(k)) + kFrom + k / 2)...);
}

// f32 from bf16. The even elements of a group are one vector, the odd ones the other: it takes one
// instruction each to make f32 of them.
struct FromBf16 {
  using Stored = uint16_t;
  static constexpr int kGroup = 2;
  template <typename V>
  PJRT_INLINE V Load(const uint16_t* from) {
    using Wide = typename VectorOfBytes<uint32_t, static_cast<int>(sizeof(V))>::Type;
    return (V)(WidenWords<Wide>(from) << 16);
  }
  template <typename V>
  PJRT_INLINE Group<FromBf16, V> LoadGroup(const uint16_t* from) {
    typename VectorOfBytes<uint32_t, static_cast<int>(sizeof(V))>::Type pairs;
    __builtin_memcpy(&pairs, from, sizeof(pairs));
    return {{(V)(pairs << 16), (V)(pairs & 0xFFFF0000u)}};
  }
  template <typename V>
  PJRT_INLINE Group<FromBf16, V> Ordered(Group<FromBf16, V> group) {
    constexpr int kWidth = static_cast<int>(sizeof(V) / sizeof(float));
    constexpr std::make_integer_sequence<int, kWidth> kAll;
    return {{InTurn<0>(group.v[0], group.v[1], kAll),
             InTurn<kWidth / 2>(group.v[0], group.v[1], kAll)}};
  }
  template <typename V>
  PJRT_INLINE Group<FromBf16, V> Unordered(Group<FromBf16, V> group) {
    constexpr std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(float))> kAll;
    return {
        {EveryOther<0>(group.v[0], group.v[1], kAll), EveryOther<1>(group.v[0], group.v[1], kAll)}};
  }
  PJRT_INLINE float One(uint16_t x) { return BitCast<float>(static_cast<uint32_t>(x) << 16); }
};
#if defined(__F16C__)
// f32 from f16.
struct FromF16 : LoadsVectors<FromF16> {
  using Stored = uint16_t;
  template <typename V>
  PJRT_INLINE V Load(const uint16_t* from) {
    if constexpr (sizeof(V) == 64) {
#if defined(__AVX512F__)
      return (V)_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#endif
    } else if constexpr (sizeof(V) == 32) {
      return (V)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    } else {
      return (V)_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    }
  }
  PJRT_INLINE float One(uint16_t x) { return _cvtsh_ss(x); }
};
#endif

// The squares of what another source loads.
template <class Source>
struct SquaresOf {
  using Stored = typename Source::Stored;
  static constexpr int kGroup = Source::kGroup;
  template <typename V>
  using Squares = Group<SquaresOf, V>;

  template <typename V>
  PJRT_INLINE V Load(const Stored* from) {
    const V value = Source::template Load<V>(from);
    return value * value;
  }
  template <typename V>
  PJRT_INLINE Squares<V> LoadGroup(const Stored* from) {
    const Group<Source, V> group = Source::template LoadGroup<V>(from);
    Squares<V> squares;
#pragma GCC unroll 2
    for (int i = 0; i < kGroup; ++i) squares.v[i] = group.v[i] * group.v[i];
    return squares;
  }
  template <typename V>
  PJRT_INLINE Squares<V> Ordered(Squares<V> squares) {
    return BitCast<Squares<V>>(Source::Ordered(BitCast<Group<Source, V>>(squares)));
  }
  template <typename V>
  PJRT_INLINE Squares<V> Unordered(Squares<V> squares) {
    return BitCast<Squares<V>>(Source::Unordered(BitCast<Group<Source, V>>(squares)));
  }
  PJRT_INLINE auto One(Stored x) {
    const auto value = Source::One(x);
    return value * value;
  }
};

// Asks for runs of `bytes` bytes, begun `stride` bytes apart, line by line: strips read some
// columns of several runs at a time, which breaks streams off, but memory is quickest in order.
class RunsAhead {
 public:
  PJRT_INLINE_MEMBER RunsAhead(const void* first, int64_t bytes, int64_t stride)
      : at_(static_cast<const char*>(first)), end_(at_ + bytes), bytes_(bytes), stride_(stride) {}
  // The next kBytes.
  template <int kBytes>
  PJRT_INLINE_MEMBER void Ask() {
#pragma GCC unroll 8
    for (int at = 0; at < kBytes; at += 64) __builtin_prefetch(at_ + at, 0, 3);
    at_ += kBytes;
    if (at_ < end_) return;
    at_ = end_ - bytes_ + stride_;
    end_ += stride_;
  }

 private:
  const char *at_, *end_;
  const int64_t bytes_, stride_;
};

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_SOURCE_INL_H_
