// SPDX-License-Identifier: Apache-2.0
//
// Choosing from each of many rows. Of short ones some columns of as many rows as a vector has
// elements are turned in registers and folded one after the other; of long ones of 16-bit floats
// the elements of a vector follow each other.
#include "src/cpu_device/kernels/choose-inl.h"
#include "src/cpu_device/kernels/fold_source-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// What is at least so many bytes ahead is asked for to the L1 cache, and what is twice as far to
// the L2 cache, which can wait for more at a time: rows are read some columns at a time, which
// breaks their streams off.
constexpr int64_t kAhead = 8192;
// Rows that are read as they follow each other need their next lines in order, for the machine to
// fetch the others by itself.
constexpr int64_t kAheadInOrder = 2048;

// A vector of lanes that lie `stride` elements apart.
template <typename Row, typename T>
PJRT_INLINE Row LoadLanes(const T* from, [[maybe_unused]] int64_t stride) {
  Row row;
#if defined(__AVX2__)
  const auto two = [&](const T* at) {
    return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(at + stride),
                               reinterpret_cast<const __m128i*>(at));
  };
#if defined(__AVX512F__)
  row = (Row)_mm512_inserti64x4(_mm512_castsi256_si512(two(from)), two(from + 2 * stride), 1);
#else
  row = (Row)two(from);
#endif
#else
  static_assert(sizeof(row) == 16);
  __builtin_memcpy(&row, from, sizeof(row));
#endif
  return row;
}

// A vector of as many pieces as there are k, kCount lanes of them, of 2, 4 or 8 bytes each: piece i
// of lane l becomes piece kCount * i + l.
template <int kCount, typename V, int... k>
PJRT_INLINE V InRowOrder(V a, std::integer_sequence<int, k...>) {
  constexpr int kPieces = static_cast<int>(sizeof...(k)), kBytes = PJRT_VECTOR_BYTES / kPieces;
  using Piece = std::conditional_t<kBytes == 2, uint16_t,
                                   std::conditional_t<kBytes == 4, uint32_t, uint64_t>>;
  using Pieces = typename VectorOfBytes<Piece, PJRT_VECTOR_BYTES>::Type;
  return (V)__builtin_shufflevector((Pieces)a, (Pieces)a,
                                    (k % kCount * (kPieces / kCount) + k / kCount)...);
}

// What has been chosen from rows in the lanes of vectors, column by column: values of K, whose
// order `turn` turns to that of choosing.
template <class Source, typename Value, bool kEqualValue, bool kEqualPlace, NanRule kRule>
class ChosenByValue {
 public:
  using K = Value;
  using Bits = UnsignedOf<K>;
  using Stored = UnsignedOf<typename Source::Stored>;
  using L = Lanes<Stored, PJRT_VECTOR_BYTES>;

  // What is chosen from a first value is that value, in the first place.
  PJRT_INLINE_MEMBER ChosenByValue(const Choice& choice, Bits turn) : choice_(choice), turn_(turn) {
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
      for (int v = 0; v < kGroup; ++v) {
        best_[g].v[v] = V{} + Lowest();
        at_[g].v[v] = P{} + Bits{1};
      }
    }
  }

  PJRT_INLINE_MEMBER void Add(typename L::Row column) {
    place_ += 1;
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
      const Group<Source, V> y = Source::template LoadGroup<V>(
          reinterpret_cast<const typename Source::Stored*>(&column) + g * kWidth);
#pragma GCC unroll 2
      for (int v = 0; v < kGroup; ++v)
        ChooseNext<K, kEqualValue, kEqualPlace, kRule>(choice_, &best_[g].v[v], &at_[g].v[v],
                                                       (V)((P)y.v[v] ^ turn_), place_);
    }
  }

  // Whether a vector that was stored has become one of values.
  static constexpr bool kInPlace = sizeof(K) == sizeof(Stored);

  // Applies `order` to the vectors of values and places, where kInPlace.
  template <class Order>
  PJRT_INLINE_MEMBER void Reorder(const Order& order) {
    best_[0].v[0] = order(best_[0].v[0]);
    at_[0].v[0] = order(at_[0].v[0]);
  }

  // The rows are those of n values at a.
  PJRT_INLINE_MEMBER void Store(K* values, Bits* places, const Stored*, int64_t) {
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
      for (int v = 0; v < kGroup; ++v) best_[g].v[v] = (V)((P)best_[g].v[v] ^ turn_);
      best_[g] = Source::Ordered(best_[g]);
      at_[g] = Source::Ordered(at_[g]);
    }
    __builtin_memcpy(values, best_, sizeof(best_));
    __builtin_memcpy(places, at_, sizeof(at_));
  }

 private:
  using V = typename VectorOfBytes<K, PJRT_VECTOR_BYTES>::Type;
  using P = typename VectorOfBytes<Bits, PJRT_VECTOR_BYTES>::Type;
  static constexpr int kGroup = Source::kGroup;
  // So many groups are as many values as a vector stores.
  static constexpr int kGroups = static_cast<int>(sizeof(K) / sizeof(Stored)) / kGroup;
  static constexpr int kWidth = L::kSide / kGroups;  // of a group

  PJRT_INLINE K Lowest() {
    if constexpr (std::is_floating_point_v<K>) {
      return -static_cast<K>(__builtin_inff());
    } else {
      return BitCast<K>(kHighestBit<K>);
    }
  }

  const Choice& choice_;
  const Bits turn_;
  Group<Source, V> best_[kGroups];
  Group<Source, P> at_[kGroups];
  P place_ = {};
};

// The first NaN of each of `rows` rows that have one.
template <class Source, uint16_t kInfinity>
__attribute__((noinline)) void ChooseFirstNans(float* values, uint32_t* places, const uint16_t* a,
                                               int64_t rows, int64_t n) {
  for (int64_t row = 0; row < rows; ++row, a += n) {
    for (int64_t k = 0; k < n; ++k) {
      if ((a[k] & 0x7FFF) <= kInfinity) continue;
      values[row] = Source::One(a[k]);
      places[row] = static_cast<uint32_t>(k + 1);
      break;
    }
  }
}

// The same of 16-bit floats, the bits of whose infinity are kInfinity, by integers in their order:
// a vector has twice as many. The first NaN is chosen.
template <class Source, uint16_t kInfinity, bool kEqualValue, bool kEqualPlace>
class ChosenByKey {
 public:
  using K = float;
  using Bits = uint32_t;
  using Stored = uint16_t;
  using L = Lanes<Stored, PJRT_VECTOR_BYTES>;
  using Words = typename L::Row;

  PJRT_INLINE_MEMBER ChosenByKey(const Choice&, Bits turn)
      : turn_(static_cast<uint16_t>(turn >> 16)) {}

  PJRT_INLINE_MEMBER void Add(Words column) {
    const Keys key = KeyOf((Keys)(column ^ turn_));
    place_ += 1;
    at_ = (kEqualPlace ? key > best_ : key >= best_) ? place_ : at_;
    value_ = (kEqualValue ? key > best_ : key >= best_) ? column : value_;
    best_ = key > best_ ? key : best_;
    least_ = key < least_ ? key : least_;
  }

  static constexpr bool kInPlace = true;

  template <class Order>
  PJRT_INLINE_MEMBER void Reorder(const Order& order) {
    value_ = order(value_);
    at_ = order(at_);
  }

  // Of the lanes together, where lane l of what was added k-th, from 1 on, is element l + kSide * k
  // - `back` of the row at a, but for k = 1: element l.
  PJRT_INLINE_MEMBER void StoreRow(float* value, uint32_t* place, const uint16_t* a, int64_t n,
                                   int32_t back) {
    if (HasNans()) return ChooseFirstNans<Source, kInfinity>(value, place, a, 1, n);
    int16_t best[L::kSide], most = kLowest;
    __builtin_memcpy(best, &best_, sizeof(best));
    for (int l = 0; l < L::kSide; ++l) most = best[l] > most ? best[l] : most;
    const Keys equal = best_ == Keys{} + most;
    uint64_t fours[kBytes / 8];
    __builtin_memcpy(fours, &equal, sizeof(fours));
    uint16_t at[L::kSide];
    __builtin_memcpy(at, &at_, sizeof(at));
    int32_t chosen = kEqualPlace ? INT32_MAX : -1;
    for (int i = 0; i < kBytes / 8; ++i) {
      for (uint64_t four = fours[i]; four != 0;) {
        const int lane = __builtin_ctzll(four) / 16, l = 4 * i + lane;
        four &= ~(uint64_t{0xFFFF} << 16 * lane);
        const int32_t element = l + (at[l] == 1 ? 0 : L::kSide * at[l] - back);
        chosen = (kEqualPlace ? element < chosen : element > chosen) ? element : chosen;
      }
    }
    *place = static_cast<uint32_t>(chosen + 1);
    // Only zeros are equal and differ.
    if (kEqualValue != kEqualPlace && most == 0) {
      chosen = kEqualValue ? 0 : static_cast<int32_t>(n - 1);
      while ((a[chosen] & 0x7FFF) != 0) chosen += kEqualValue ? 1 : -1;
    }
    *value = Source::One(a[chosen]);
  }

  PJRT_INLINE_MEMBER void Store(float* values, uint32_t* places, const uint16_t* a, int64_t n) {
    const auto* const value = reinterpret_cast<const uint16_t*>(&value_);
    const auto* const at = reinterpret_cast<const uint16_t*>(&at_);
    constexpr int kHalf = L::kSide / 2;
#pragma GCC unroll 2
    for (int i = 0; i < L::kSide; i += kHalf) {
      const auto wide_value = Source::template Load<VectorOfBytes<float, kBytes>::Type>(value + i);
      const auto wide_at = WidenWords<typename VectorOfBytes<uint32_t, kBytes>::Type>(at + i);
      __builtin_memcpy(values + i, &wide_value, kBytes);
      __builtin_memcpy(places + i, &wide_at, kBytes);
    }
    if (HasNans()) ChooseFirstNans<Source, kInfinity>(values, places, a, L::kSide, n);
  }

 private:
  static constexpr int kBytes = PJRT_VECTOR_BYTES;
  static constexpr int16_t kLowest = INT16_MIN;  // below all keys
  using Keys = typename VectorOfBytes<int16_t, kBytes>::Type;

  // Zeros of either sign are the same. NaNs are above or below all others.
  PJRT_INLINE Keys KeyOf(Keys bits) {
#if defined(__AVX512BW__)
    const __m512i b = (__m512i)bits;
    return (Keys)_mm512_mask_sub_epi16(b, _mm512_movepi16_mask(b), _mm512_set1_epi16(kLowest), b);
#else
    return bits < 0 ? (Keys)(static_cast<uint16_t>(kLowest) - (Words)bits) : bits;
#endif
  }

  PJRT_INLINE_MEMBER bool HasNans() const {
    constexpr int16_t kMost = kInfinity;
    const Keys nans = (best_ > kMost) | (least_ < static_cast<int16_t>(-kMost));
#if defined(__AVX512BW__)
    return _mm512_movepi16_mask((__m512i)nans) != 0;
#else
    uint64_t words[kBytes / 8], any = 0;
    __builtin_memcpy(words, &nans, sizeof(words));
    for (uint64_t word : words) any |= word;
    return any != 0;
#endif
  }

  const uint16_t turn_;
  Keys best_ = Keys{} + kLowest, least_ = {};
  Words value_ = {}, at_ = {}, place_ = {};
};

template <class Chosen>
struct RowChoice {
  using K = typename Chosen::K;
  using Bits = typename Chosen::Bits;
  using Stored = typename Chosen::Stored;
  using L = typename Chosen::L;
  static constexpr int kRows = L::kSide;

  const Choice& choice;
  const Bits turn;

  // kRows rows of n values, which are read kColumns columns at a time, from column `first` on at
  // first: columns before 0 and from n on are not looked at. A lane of what is read holds one row,
  // or kPerLane / kColumns rows where they have kColumns values (kWhole). These are read as they
  // follow each other, and put in order at the end: it takes less than to bring lanes together.
  template <int kColumns, bool kWhole>
  PJRT_INLINE_MEMBER void Choose(K* values, Bits* places, const Stored* a, int64_t n,
                                 int64_t first) const {
    Chosen chosen(choice, turn);
    constexpr bool kFollow = kWhole && Chosen::kInPlace;
    const int64_t row = kColumns < L::kPerLane ? L::kPerLane : n;  // or a lane of some
    const int64_t bytes = kRows * n * static_cast<int64_t>(sizeof(Stored));
    const int64_t ahead = kFollow ? kAheadInOrder : bytes < kAhead ? kAhead : bytes;
    const char* next = reinterpret_cast<const char*>(a) + ahead;
    int64_t begin = first;
    for (int64_t c = 0; c < n; c += kColumns) {
      typename L::Row columns[kColumns];
#pragma GCC unroll 16
      for (int i = 0; i < kColumns; i += kLine / PJRT_VECTOR_BYTES) {
        __builtin_prefetch(next + i * PJRT_VECTOR_BYTES, 0, 3);
        if (!kFollow) __builtin_prefetch(next + i * PJRT_VECTOR_BYTES + ahead, 0, 2);
      }
      next += kColumns * PJRT_VECTOR_BYTES;
#pragma GCC unroll 16
      for (int i = 0; i < kColumns; ++i) {
        if constexpr (kFollow) {
          __builtin_memcpy(&columns[i], a + i * L::kSide, sizeof(columns[i]));
        } else {
          columns[i] = LoadLanes<typename L::Row>(a + begin + i * row, kColumns * row);
        }
      }
      TransposeLanes<Stored, PJRT_VECTOR_BYTES, kColumns>(columns);
#pragma GCC unroll 16
      for (int k = 0; k < kColumns; ++k) {
        if (begin + k >= c && begin + k < n) chosen.Add(columns[k]);
      }
      begin = c + 2 * kColumns <= n ? c + kColumns : n - kColumns;
    }
    if constexpr (kFollow) {
      constexpr std::make_integer_sequence<int, L::kCount * kColumns> kPieces;
      chosen.Reorder([&](auto v) { return InRowOrder<L::kCount>(v, kPieces); });
    }
    chosen.Store(values, places, a, n);
  }

  // Rows shorter than what is read of one are read together with the end of the row before, but
  // for those that begin `a`.
  template <int kColumns, bool kWhole>
  PJRT_INLINE_MEMBER void Run(K* values, Bits* places, const Stored* a, int64_t rows,
                              int64_t n) const {
    const int64_t first = n < kColumns ? n - kColumns : 0;
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t at = row + kRows <= rows ? row : rows - kRows;
      Choose<kColumns, kWhole>(values + at, places + at, a + at * n, n, at == 0 ? 0 : first);
    }
  }
};

template <class Chosen>
void ChooseRowsBy(const Choice& choice, typename Chosen::Bits turn, void* values, void* places,
                  const void* a, int64_t rows, int64_t n) {
  constexpr int kPerLane = Chosen::L::kPerLane;
  const RowChoice<Chosen> it{choice, turn};
  auto* const v = static_cast<typename Chosen::K*>(values);
  auto* const p = static_cast<typename Chosen::Bits*>(places);
  const auto* const s = static_cast<const typename Chosen::Stored*>(a);
  if constexpr (kPerLane > 2) {
    if (n == 2) return it.template Run<2, true>(v, p, s, rows, n);
  }
  if constexpr (kPerLane > 4) {
    if (n == 4) return it.template Run<4, true>(v, p, s, rows, n);
  }
  if constexpr (kPerLane > 8) {
    if (n == 8) return it.template Run<8, true>(v, p, s, rows, n);
  }
  if constexpr (Chosen::kInPlace &&
                sizeof(*s) > 1) {  // there is no quick way to put bytes in order
    if (n == kPerLane) return it.template Run<kPerLane, true>(v, p, s, rows, n);
  }
  it.template Run<kPerLane, false>(v, p, s, rows, n);
}

// One row after the other. 256 MiB in rows of 1024 bf16 took 25 ms by their maxima, which were then
// looked for, and take 18 (Emerald Rapids).
template <class Chosen>
void ChooseLongRowsBy(const Choice& choice, typename Chosen::Bits turn, void* values, void* places,
                      const void* a, int64_t rows, int64_t n) {
  using Row = typename Chosen::L::Row;
  constexpr int64_t kSide = Chosen::L::kSide;
  static_assert(kSide <= kMostPlaces && kLongestRow <= kSide * UINT16_MAX);
  const auto* from = static_cast<const typename Chosen::Stored*>(a);
  auto* const v = static_cast<typename Chosen::K*>(values);
  auto* const p = static_cast<typename Chosen::Bits*>(places);
  const int64_t rest = n % kSide, second = rest == 0 ? kSide : rest;
  for (int64_t row = 0; row < rows; ++row, from += n) {
    Chosen chosen(choice, turn);
    for (int64_t i = 0; i < n; i += i == 0 ? second : kSide) {
      Row elements;
      __builtin_memcpy(&elements, from + i, sizeof(elements));
      __builtin_prefetch(reinterpret_cast<const char*>(from + i) + kAheadInOrder, 0, 3);
      __builtin_prefetch(reinterpret_cast<const char*>(from + i) + kAhead, 0, 2);
      chosen.Add(elements);
    }
    chosen.StoreRow(v + row, p + row, from, n, static_cast<int32_t>(2 * kSide - second));
  }
}

// kInfinity: the bits of the infinity of 16-bit floats, 0 for wider ones.
template <class Source, typename K, uint16_t kInfinity, bool kEqualValue, bool kEqualPlace>
PJRT_INLINE auto FloatRowsBy(const Choice& choice) {
  if (!choice.TakesFirstNan())
    return ChooseRowsBy<ChosenByValue<Source, K, kEqualValue, kEqualPlace, NanRule::kSecond>>;
  if constexpr (kInfinity != 0) {
    return ChooseRowsBy<ChosenByKey<Source, kInfinity, kEqualValue, kEqualPlace>>;
  } else {
    return ChooseRowsBy<ChosenByValue<Source, K, kEqualValue, kEqualPlace, NanRule::kFirstNan>>;
  }
}
template <class Source, typename K, uint16_t kInfinity = 0>
void ChooseFloatRows(const Choice& choice, void* values, void* places, const void* a, int64_t rows,
                     int64_t n) {
  const bool value = choice.first_of_equal_values, place = choice.first_of_equal_companions;
  const auto choose = value ? (place ? FloatRowsBy<Source, K, kInfinity, true, true>(choice)
                                     : FloatRowsBy<Source, K, kInfinity, true, false>(choice))
                            : (place ? FloatRowsBy<Source, K, kInfinity, false, true>(choice)
                                     : FloatRowsBy<Source, K, kInfinity, false, false>(choice));
  choose(choice, TurnOf<K>(choice), values, places, a, rows, n);
}
template <class Source, uint16_t kInfinity>
void ChooseLongNarrowRows(const Choice& choice, void* values, void* places, const void* a,
                          int64_t rows, int64_t n) {
  const auto choose = choice.first_of_equal_values
                          ? (choice.first_of_equal_companions
                                 ? ChooseLongRowsBy<ChosenByKey<Source, kInfinity, true, true>>
                                 : ChooseLongRowsBy<ChosenByKey<Source, kInfinity, true, false>>)
                          : (choice.first_of_equal_companions
                                 ? ChooseLongRowsBy<ChosenByKey<Source, kInfinity, false, true>>
                                 : ChooseLongRowsBy<ChosenByKey<Source, kInfinity, false, false>>);
  choose(choice, TurnOf<float>(choice), values, places, a, rows, n);
}
template <typename T>
void ChooseIntRows(const Choice& choice, void* values, void* places, const void* a, int64_t rows,
                   int64_t n) {
  using Source = Direct<UnsignedOf<T>>;
  using Key = SignedOf<T>;
  const auto choose =
      choice.first_of_equal_companions
          ? ChooseRowsBy<ChosenByValue<Source, Key, true, true, NanRule::kSecond>>
          : ChooseRowsBy<ChosenByValue<Source, Key, false, false, NanRule::kSecond>>;
  choose(choice, TurnOf<T>(choice), values, places, a, rows, n);
}

}  // namespace

void FillChooseRows(FoldKernels* k) {
  const auto of = [&](CType type) -> ChooseRowsFn& {
    return k->choice[static_cast<int>(type)].choose_rows;
  };
  of(CType::kPred) = ChooseIntRows<uint8_t>;
  of(CType::kS8) = ChooseIntRows<int8_t>;
  of(CType::kU8) = ChooseIntRows<uint8_t>;
  of(CType::kS16) = ChooseIntRows<int16_t>;
  of(CType::kU16) = ChooseIntRows<uint16_t>;
  of(CType::kS32) = ChooseIntRows<int32_t>;
  of(CType::kU32) = ChooseIntRows<uint32_t>;
  of(CType::kS64) = ChooseIntRows<int64_t>;
  of(CType::kU64) = ChooseIntRows<uint64_t>;
  of(CType::kF32) = ChooseFloatRows<Direct<float>, float>;
  of(CType::kF64) = ChooseFloatRows<Direct<double>, double>;
  k->bf16_choice.choose_rows = ChooseFloatRows<FromBf16, float, 0x7F80>;
  k->bf16_choice.choose_long_rows = ChooseLongNarrowRows<FromBf16, 0x7F80>;
#if defined(__F16C__)
  k->f16_choice.choose_rows = ChooseFloatRows<FromF16, float, 0x7C00>;
  k->f16_choice.choose_long_rows = ChooseLongNarrowRows<FromF16, 0x7C00>;
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
