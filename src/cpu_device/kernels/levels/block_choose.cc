// SPDX-License-Identifier: Apache-2.0
//
// Choosing between pairs by a comparison, and finding an element in a row: what it takes to find
// the largest element and where it stands.
#include "src/cpu_device/kernels/choose-inl.h"
#include "src/cpu_device/kernels/fold_source-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T, typename C, NanRule kRule>
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
    const C i = companions[k], j = js[k];
    values[k] = first_value != 0 ? a : b;
    companions[k] = first_companion != 0 ? i : j;
  }
}

template <typename T, typename C>
void Choose(const Choice& choice, void* values, void* companions, const void* b, const void* j,
            int64_t n) {
  T* const v = static_cast<T*>(values);
  C* const c = static_cast<C*>(companions);
  const T* const w = static_cast<const T*>(b);
  const C* const d = static_cast<const C*>(j);
  if constexpr (std::is_floating_point_v<T>) {
    if (choice.TakesFirstNan()) return ChooseBy<T, C, NanRule::kFirstNan>(choice, v, c, w, d, n);
    if (!choice.TakesSecondByNan()) return ChooseBy<T, C, NanRule::kOther>(choice, v, c, w, d, n);
  }
  ChooseBy<T, C, NanRule::kSecond>(choice, v, c, w, d, n);
}

// So many bytes of several runs are chosen from at a time: as many are asked for meanwhile, and the
// L1 cache must hold both.
constexpr int64_t kBytesTogether = PJRT_VECTOR_BYTES > 32 ? 16384 : 65536;

// Values of K, whose order is turned where the smallest is looked for.
template <class Source, typename K, bool kEqualValue, bool kEqualPlace, NanRule kRule>
struct PlaceChoice {
  using Stored = typename Source::Stored;
  using Bits = UnsignedOf<K>;

  // Strips of four lines with AVX-512, and of so many vectors else, which leaves registers.
  static constexpr int kStripGroups =
      PJRT_VECTOR_BYTES > 32 ? static_cast<int>(4 * sizeof(K) / sizeof(Stored)) / Source::kGroup
                             : 4 / Source::kGroup;

  const Choice& choice;
  const Stored* b;
  int64_t runs, n, stride;
  Bits first;
  Bits turn;  // flips the bits of an element that turn the order

  // Columns [i, n) of runs [begin, end), as far as strips of kGroups groups of vectors of kBytes
  // go. What is `ahead` is asked for, if not null.
  template <int kBytes, int kGroups>
  PJRT_INLINE_MEMBER int64_t Strips(K* values, Bits* places, int64_t begin, int64_t end, int64_t i,
                                    RunsAhead* ahead) const {
    using V = typename VectorOfBytes<K, kBytes>::Type;
    using P = typename VectorOfBytes<Bits, kBytes>::Type;
    constexpr int kVectors = Source::kGroup;
    constexpr int64_t kWidth = kVectors * kBytes / sizeof(K);
    for (; i + kGroups * kWidth <= n; i += kGroups * kWidth) {
      Group<Source, V> best[kGroups];
      Group<Source, P> at[kGroups];
      LoadGroups<Source, kGroups>(best, values + i);
      LoadGroups<Source, kGroups>(at, places + i);
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) best[g].v[v] = (V)((P)best[g].v[v] ^ turn);
      }
      const Stored* from = b + begin * stride + i;
      P place = P{} + static_cast<Bits>(first + begin);
      for (int64_t r = begin; r < end; ++r, from += stride, place += 1) {
        if (ahead != nullptr) ahead->Ask<kGroups * kWidth * sizeof(Stored)>();
#pragma GCC unroll 8
        for (int g = 0; g < kGroups; ++g) {
          const Group<Source, V> next = Source::template LoadGroup<V>(from + g * kWidth);
#pragma GCC unroll 2
          for (int v = 0; v < kVectors; ++v) {
            ChooseNext<K, kEqualValue, kEqualPlace, kRule>(choice, &best[g].v[v], &at[g].v[v],
                                                           (V)((P)next.v[v] ^ turn), place);
          }
        }
      }
#pragma GCC unroll 8
      for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) best[g].v[v] = (V)((P)best[g].v[v] ^ turn);
      }
      StoreGroups<Source, kGroups>(values + i, best);
      StoreGroups<Source, kGroups>(places + i, at);
    }
    return i;
  }

  // Runs [begin, end). Not inline: there would be two of all that this file has.
  __attribute__((noinline)) void Runs(K* values, Bits* places, int64_t begin, int64_t end,
                                      RunsAhead* ahead) const {
    int64_t i = 0;
    if constexpr (kRule != NanRule::kOther) {
      constexpr int kBytes = PJRT_VECTOR_BYTES;
      i = Strips<kBytes, kStripGroups>(values, places, begin, end, i, ahead);
      if constexpr (kStripGroups > 1) i = Strips<kBytes, 1>(values, places, begin, end, i, ahead);
    }
    if constexpr (PJRT_VECTOR_BYTES > 16) i = Strips<16, 1>(values, places, begin, end, i, nullptr);
    for (; i < n; ++i) {
      K best = Turned(values[i]);
      Bits at = places[i];
      for (int64_t r = begin; r < end; ++r) {
        const K x = best, y = Turned(BitCast<K>(Source::One(b[r * stride + i])));
        best = Keep<kEqualValue, kRule>(choice, x, y, x, y);
        at = Keep<kEqualPlace, kRule>(choice, x, y, at, static_cast<Bits>(first + r));
      }
      values[i] = Turned(best);
      places[i] = at;
    }
  }

  PJRT_INLINE_MEMBER void Run(K* values, Bits* places) const {
    if (n <= 0) return;
    const int64_t bytes = n * static_cast<int64_t>(sizeof(Stored));
    const int64_t together = 2 * bytes < kBytesTogether ? kBytesTogether / bytes : 2;
    int64_t r = 0;
    for (; r + together < runs; r += together) {
      RunsAhead ahead(b + (r + together) * stride, bytes, stride * sizeof(Stored));
      Runs(values, places, r, r + together, &ahead);
    }
    Runs(values, places, r, runs, nullptr);
  }
  PJRT_INLINE_MEMBER K Turned(K x) const { return BitCast<K>(static_cast<Bits>(ToBits(x) ^ turn)); }
};

template <class Source, typename K, bool kEqualValue, bool kEqualPlace, NanRule kRule>
void ChoosePlacesBy(const Choice& choice, void* values, void* places, const void* b, int64_t first,
                    int64_t runs, int64_t n, int64_t stride, UnsignedOf<K> turn) {
  using Bits = UnsignedOf<K>;
  const PlaceChoice<Source, K, kEqualValue, kEqualPlace, kRule> it{
      choice, static_cast<const typename Source::Stored*>(b),
      runs,   n,
      stride, static_cast<Bits>(first),
      turn};
  it.Run(static_cast<K*>(values), static_cast<Bits*>(places));
}

template <class Source, typename K, bool kEqualValue, bool kEqualPlace>
PJRT_INLINE auto FloatPlacesBy(const Choice& choice) {
  if (choice.TakesFirstNan())
    return ChoosePlacesBy<Source, K, kEqualValue, kEqualPlace, NanRule::kFirstNan>;
  if (!choice.TakesSecondByNan())
    return ChoosePlacesBy<Source, K, kEqualValue, kEqualPlace, NanRule::kOther>;
  return ChoosePlacesBy<Source, K, kEqualValue, kEqualPlace, NanRule::kSecond>;
}
template <class Source, typename K>
void ChooseFloatPlaces(const Choice& choice, void* values, void* places, const void* b,
                       int64_t first, int64_t runs, int64_t n, int64_t stride) {
  const bool value = choice.first_of_equal_values, place = choice.first_of_equal_companions;
  const auto choose = value ? (place ? FloatPlacesBy<Source, K, true, true>(choice)
                                     : FloatPlacesBy<Source, K, true, false>(choice))
                            : (place ? FloatPlacesBy<Source, K, false, true>(choice)
                                     : FloatPlacesBy<Source, K, false, false>(choice));
  choose(choice, values, places, b, first, runs, n, stride, TurnOf<K>(choice));
}

// Unsigned numbers are in the order of signed ones once the highest bit is flipped, and equal ones
// are the same.
template <typename T>
void ChooseIntPlaces(const Choice& choice, void* values, void* places, const void* b, int64_t first,
                     int64_t runs, int64_t n, int64_t stride) {
  using Bits = UnsignedOf<T>;
  using Source = Direct<Bits>;
  using Key = SignedOf<T>;
  const auto choose = choice.first_of_equal_companions
                          ? ChoosePlacesBy<Source, Key, true, true, NanRule::kSecond>
                          : ChoosePlacesBy<Source, Key, false, false, NanRule::kSecond>;
  choose(choice, values, places, b, first, runs, n, stride, TurnOf<T>(choice));
}

template <typename P, typename C>
void TakePlaces(void* companions, const void* places, int64_t companion, int64_t step, int64_t n) {
  C* const c = static_cast<C*>(companions);
  const P* const p = static_cast<const P*>(places);
  const C from = static_cast<C>(companion), by = static_cast<C>(step);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t k = 0; k < n; ++k) {
    const C place = static_cast<C>(p[k]), taken = static_cast<C>(from + place * by);
    c[k] = place != 0 ? taken : c[k];
  }
}

// What is looked for among elements of T.
template <typename T>
struct Equal {
  T x;
  PJRT_INLINE_MEMBER UnsignedOf<T> Match(T a) const { return Lane<T>(a == x); }
};
template <typename T>
struct AnyNan {
  PJRT_INLINE_MEMBER UnsignedOf<T> Match(T a) const { return Lane<T>(a != a); }
};
// A 16-bit float of either sign, by its bits.
struct OfSize {
  uint16_t least, most;
  PJRT_INLINE_MEMBER uint16_t Match(uint16_t a) const {
    const uint16_t size = a & 0x7FFF;
    return Lane<uint16_t>(size >= least) & Lane<uint16_t>(size <= most);
  }
};

// Pieces of kPiece elements are looked through without a branch, short rows in smaller ones.
constexpr int kPiece = 64, kSmallPiece = 16;

template <int kCount, class What, typename T>
PJRT_INLINE bool PieceMatches(const T* a, What what) {
  UnsignedOf<T> found = 0;
  for (int i = 0; i < kCount; ++i) found |= what.Match(a[i]);
  return found != 0;
}

// The place of the first match in a piece that has one.
template <int kCount, class What, typename T>
PJRT_INLINE int64_t FirstInPiece(const T* a, What what) {
  UnsignedOf<T> place = kCount - 1;
  for (int i = 0; i < kCount; ++i) {
    const auto here = static_cast<UnsignedOf<T>>(i | static_cast<UnsignedOf<T>>(~what.Match(a[i])));
    place = here < place ? here : place;
  }
  return place;
}
// The same for the last match.
template <int kCount, class What, typename T>
PJRT_INLINE int64_t LastInPiece(const T* a, What what) {
  UnsignedOf<T> place = 0;
  for (int i = 0; i < kCount; ++i) {
    const auto here = static_cast<UnsignedOf<T>>(i & what.Match(a[i]));
    place = here > place ? here : place;
  }
  return place;
}

// Of n >= kCount elements, by pieces. The one at the end overlaps another, which has no match.
template <bool kFirst, int kCount, class What, typename T>
PJRT_INLINE int64_t FindInPieces(const T* a, What what, int64_t n) {
  const int64_t last = n - kCount;
  for (int64_t i = 0;; i += kCount) {
    const int64_t done = i < last ? i : last, at = kFirst ? done : last - done;
    if (PieceMatches<kCount>(a + at, what))
      return at + (kFirst ? FirstInPiece<kCount>(a + at, what) : LastInPiece<kCount>(a + at, what));
    if (done == last) return -1;
  }
}

template <bool kFirst, class What, typename T>
int64_t FindMatch(const T* a, What what, int64_t n) {
  if (n >= kPiece) return FindInPieces<kFirst, kPiece>(a, what, n);
  if (n >= kSmallPiece) return FindInPieces<kFirst, kSmallPiece>(a, what, n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = kFirst ? i : n - 1 - i;
    if (what.Match(a[at]) != 0) return at;
  }
  return -1;
}

template <bool kFirst, typename T>
int64_t Find(const void* a, const void* x, int64_t n) {
  const T* const s = static_cast<const T*>(a);
  const T value = *static_cast<const T*>(x);
  if (value != value) return FindMatch<kFirst>(s, AnyNan<T>{}, n);
  return FindMatch<kFirst>(s, Equal<T>{value}, n);
}
// Of 16-bit floats, the bits of whose infinity are kInfinity.
template <bool kFirst, uint16_t kInfinity>
int64_t FindNarrow(const void* a, const void* x, int64_t n) {
  const uint16_t* const s = static_cast<const uint16_t*>(a);
  const uint16_t bits = *static_cast<const uint16_t*>(x), size = bits & 0x7FFF;
  if (size > kInfinity) return FindMatch<kFirst>(s, OfSize{kInfinity + 1, 0x7FFF}, n);
  if (size == 0) return FindMatch<kFirst>(s, OfSize{0, 0}, n);
  return FindMatch<kFirst>(s, Equal<uint16_t>{bits}, n);
}

// T compares as the elements of a type do.
template <typename T>
ChoiceKernels KernelsOf() {
  ChoiceKernels k = {{Choose<T, uint32_t>, Choose<T, uint64_t>}};
  k.find_first = Find<true, T>;
  k.find_last = Find<false, T>;
  if constexpr (std::is_floating_point_v<T>) {
    k.choose_places = ChooseFloatPlaces<Direct<T>, T>;
  } else {
    k.choose_places = ChooseIntPlaces<T>;
  }
  return k;
}
// The same of 16-bit floats.
template <class Source, uint16_t kInfinity>
ChoiceKernels KernelsOfNarrow() {
  ChoiceKernels k = {{Choose<float, uint32_t>, Choose<float, uint64_t>}};
  k.choose_places = ChooseFloatPlaces<Source, float>;
  k.find_first = FindNarrow<true, kInfinity>;
  k.find_last = FindNarrow<false, kInfinity>;
  return k;
}
template <typename P>
void SetTakePlaces(TakePlacesFn* by_companion) {
  by_companion[0] = TakePlaces<P, uint32_t>;
  by_companion[1] = TakePlaces<P, uint64_t>;
}

}  // namespace

void FillChoose(FoldKernels* k) {
  const auto of = [&](CType type) -> ChoiceKernels& { return k->choice[static_cast<int>(type)]; };
  of(CType::kPred) = KernelsOf<uint8_t>();
  of(CType::kS8) = KernelsOf<int8_t>();
  of(CType::kU8) = KernelsOf<uint8_t>();
  of(CType::kS16) = KernelsOf<int16_t>();
  of(CType::kU16) = KernelsOf<uint16_t>();
  of(CType::kS32) = KernelsOf<int32_t>();
  of(CType::kU32) = KernelsOf<uint32_t>();
  of(CType::kS64) = KernelsOf<int64_t>();
  of(CType::kU64) = KernelsOf<uint64_t>();
  of(CType::kF32) = KernelsOf<float>();
  of(CType::kF64) = KernelsOf<double>();
  k->bf16_choice = KernelsOfNarrow<FromBf16, 0x7F80>();
#if defined(__F16C__)
  k->f16_choice = KernelsOfNarrow<FromF16, 0x7C00>();
#endif
  SetTakePlaces<uint8_t>(k->take_places[0]);
  SetTakePlaces<uint16_t>(k->take_places[1]);
  SetTakePlaces<uint32_t>(k->take_places[2]);
  SetTakePlaces<uint64_t>(k->take_places[3]);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
