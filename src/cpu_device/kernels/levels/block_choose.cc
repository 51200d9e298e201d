// SPDX-License-Identifier: Apache-2.0
//
// Choosing between pairs by a comparison, and finding an element in a row: what it takes to find
// the largest element and where it stands.
#include "src/cpu_device/kernels/choose-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// What is done about NaNs: there are none, or the second pair is always chosen; TakesFirstNan();
// anything else.
enum class NanRule { kSecond, kFirstNan, kOther };

// All bits of an integer as wide as T, or none.
template <typename T>
PJRT_INLINE UnsignedOf<T> Lane(bool on) {
  return on ? static_cast<UnsignedOf<T>>(-1) : UnsignedOf<T>{0};
}

template <typename T, typename C, bool kOneJ, NanRule kRule>
void ChooseBy(const Choice& choice, T* values, C* companions, const T* bs, const C* js, int64_t n) {
  using Bits = UnsignedOf<T>;
  const Bits greater = Lane<T>(choice.greater), less = static_cast<Bits>(~greater);
  const Bits equal_value = Lane<T>(choice.first_of_equal_values);
  const Bits equal_companion = Lane<T>(choice.first_of_equal_companions);
  const Bits first_nan = Lane<T>(choice.first_if_first_nan);
  const Bits second_nan = Lane<T>(choice.first_if_second_nan);
  const Bits both_nan = Lane<T>(choice.first_if_both_nan);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t k = 0; k < n; ++k) {
    const T a = values[k], b = bs[k];
    const Bits same = Lane<T>(a == b);
    Bits first = static_cast<Bits>((Lane<T>(a > b) & greater) | (Lane<T>(a < b) & less));
    if constexpr (kRule == NanRule::kFirstNan) first |= Lane<T>(a != a);
    if constexpr (kRule == NanRule::kOther) {
      const Bits a_nan = Lane<T>(a != a), b_nan = Lane<T>(b != b);
      first |=
          (a_nan & ~b_nan & first_nan) | (~a_nan & b_nan & second_nan) | (a_nan & b_nan & both_nan);
    }
    const Bits first_value = static_cast<Bits>(first | (same & equal_value));
    const Bits first_companion = static_cast<Bits>(first | (same & equal_companion));
    const C i = companions[k], j = js[kOneJ ? 0 : k];
    values[k] = first_value != 0 ? a : b;
    companions[k] = first_companion != 0 ? i : j;
  }
}

template <typename T, typename C, bool kOneJ>
void Choose(const Choice& choice, void* values, void* companions, const void* b, const void* j,
            int64_t n) {
  T* const v = static_cast<T*>(values);
  C* const c = static_cast<C*>(companions);
  const T* const w = static_cast<const T*>(b);
  const C* const d = static_cast<const C*>(j);
  if constexpr (std::is_floating_point_v<T>) {
    if (choice.TakesFirstNan())
      return ChooseBy<T, C, kOneJ, NanRule::kFirstNan>(choice, v, c, w, d, n);
    if (choice.first_if_first_nan || choice.first_if_second_nan || choice.first_if_both_nan)
      return ChooseBy<T, C, kOneJ, NanRule::kOther>(choice, v, c, w, d, n);
  }
  ChooseBy<T, C, kOneJ, NanRule::kSecond>(choice, v, c, w, d, n);
}

// Whether a[i] is what is looked for.
template <typename T>
PJRT_INLINE bool Matches(T a, T x) {
  return a == x || (a != a && x != x);
}

// Pieces of kPiece elements are looked through without a branch, short rows in smaller ones.
constexpr int kPiece = 64, kSmallPiece = 16;

template <int kCount, typename T>
PJRT_INLINE bool PieceMatches(const T* a, T x) {
  UnsignedOf<T> found = 0;
  if (x != x) {
    for (int i = 0; i < kCount; ++i) found |= Lane<T>(a[i] != a[i]);
  } else {
    for (int i = 0; i < kCount; ++i) found |= Lane<T>(a[i] == x);
  }
  return found != 0;
}

// The place of the first match in a piece that has one.
template <int kCount, typename T>
PJRT_INLINE int64_t FirstInPiece(const T* a, T x) {
  UnsignedOf<T> place = kCount - 1;
  for (int i = 0; i < kCount; ++i) {
    const auto here = static_cast<UnsignedOf<T>>(i) | Lane<T>(!Matches(a[i], x));
    place = here < place ? static_cast<UnsignedOf<T>>(here) : place;
  }
  return place;
}
// The same for the last match.
template <int kCount, typename T>
PJRT_INLINE int64_t LastInPiece(const T* a, T x) {
  UnsignedOf<T> place = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto here = static_cast<UnsignedOf<T>>(i) & Lane<T>(Matches(a[i], x));
    place = here > place ? static_cast<UnsignedOf<T>>(here) : place;
  }
  return place;
}

template <typename T>
int64_t FindFirst(const void* a, const void* x, int64_t n) {
  const T* const s = static_cast<const T*>(a);
  const T value = *static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + kPiece <= n; i += kPiece) {
    if (PieceMatches<kPiece>(s + i, value)) return i + FirstInPiece<kPiece>(s + i, value);
  }
  for (; i + kSmallPiece <= n; i += kSmallPiece) {
    if (PieceMatches<kSmallPiece>(s + i, value)) return i + FirstInPiece<kSmallPiece>(s + i, value);
  }
  for (; i < n; ++i) {
    if (Matches(s[i], value)) return i;
  }
  return -1;
}

template <typename T>
int64_t FindLast(const void* a, const void* x, int64_t n) {
  const T* const s = static_cast<const T*>(a);
  const T value = *static_cast<const T*>(x);
  for (; n >= kPiece; n -= kPiece) {
    const T* const piece = s + n - kPiece;
    if (PieceMatches<kPiece>(piece, value)) return n - kPiece + LastInPiece<kPiece>(piece, value);
  }
  for (; n >= kSmallPiece; n -= kSmallPiece) {
    const T* const piece = s + n - kSmallPiece;
    if (PieceMatches<kSmallPiece>(piece, value))
      return n - kSmallPiece + LastInPiece<kSmallPiece>(piece, value);
  }
  while (n > 0) {
    --n;
    if (Matches(s[n], value)) return n;
  }
  return -1;
}

// T compares as the elements of type `type` do.
template <typename T>
void Set(FoldKernels* k, CType type) {
  const int t = static_cast<int>(type);
  k->choose[t][0][0] = Choose<T, uint32_t, false>;
  k->choose[t][0][1] = Choose<T, uint32_t, true>;
  k->choose[t][1][0] = Choose<T, uint64_t, false>;
  k->choose[t][1][1] = Choose<T, uint64_t, true>;
  k->find_first[t] = FindFirst<T>;
  k->find_last[t] = FindLast<T>;
}

}  // namespace

void FillChoose(FoldKernels* k) {
  Set<uint8_t>(k, CType::kPred);
  Set<int8_t>(k, CType::kS8);
  Set<uint8_t>(k, CType::kU8);
  Set<int16_t>(k, CType::kS16);
  Set<uint16_t>(k, CType::kU16);
  Set<int32_t>(k, CType::kS32);
  Set<uint32_t>(k, CType::kU32);
  Set<int64_t>(k, CType::kS64);
  Set<uint64_t>(k, CType::kU64);
  Set<float>(k, CType::kF32);
  Set<double>(k, CType::kF64);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
