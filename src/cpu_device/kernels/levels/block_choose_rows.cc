// SPDX-License-Identifier: Apache-2.0
//
// Choosing from each of many short rows. Some columns of as many rows as a vector has elements are
// turned in registers and folded one after the other.
#include "src/cpu_device/kernels/choose-inl.h"
#include "src/cpu_device/kernels/fold_source-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// What is at least so many bytes ahead is asked for to the L1 cache, and what is twice as far to
// the L2 cache, which can wait for more at a time: rows are read some columns at a time, which
// breaks their streams off.
constexpr int64_t kAhead = 8192;

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

// Values of K, whose order `turn` turns to that of choosing.
template <class Source, typename K, bool kEqualValue, bool kEqualPlace, NanRule kRule>
struct RowChoice {
  using Bits = UnsignedOf<K>;
  using Stored = UnsignedOf<typename Source::Stored>;
  using L = Lanes<Stored, PJRT_VECTOR_BYTES>;
  using V = typename VectorOfBytes<K, PJRT_VECTOR_BYTES>::Type;
  using P = typename VectorOfBytes<Bits, PJRT_VECTOR_BYTES>::Type;
  static constexpr int kGroup = Source::kGroup;
  // So many groups are as many values as a vector stores.
  static constexpr int kGroups = static_cast<int>(sizeof(K) / sizeof(Stored)) / kGroup;
  static constexpr int kWidth = L::kSide / kGroups;  // of a group
  static constexpr int kRows = L::kSide;

  const Choice& choice;
  Bits turn;

  // kRows rows of n values, which are read kColumns columns at a time, from column `first` on at
  // first: columns before 0 and from n on are not looked at. A lane of what is read holds one row,
  // or kPerLane / kColumns rows where they have kColumns values.
  template <int kColumns>
  PJRT_INLINE_MEMBER void Choose(K* values, Bits* places, const Stored* a, int64_t n,
                                 int64_t first) const {
    Group<Source, V> best[kGroups];
    Group<Source, P> at[kGroups];
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
      for (int v = 0; v < kGroup; ++v) {
        best[g].v[v] = V{} + Lowest();
        at[g].v[v] = P{} + Bits{1};
      }
    }
    const int64_t row = kColumns < L::kPerLane ? L::kPerLane : n;  // or a lane of some
    const int64_t bytes = kRows * n * static_cast<int64_t>(sizeof(Stored));
    const int64_t ahead = bytes < kAhead ? kAhead : bytes;
    const char* next = reinterpret_cast<const char*>(a) + ahead;
    int64_t begin = first;
    for (int64_t c = 0; c < n; c += kColumns) {
      typename L::Row columns[kColumns];
#pragma GCC unroll 16
      for (int i = 0; i < kColumns; i += kLine / PJRT_VECTOR_BYTES) {
        __builtin_prefetch(next + i * PJRT_VECTOR_BYTES, 0, 3);
        __builtin_prefetch(next + i * PJRT_VECTOR_BYTES + ahead, 0, 2);
      }
      next += kColumns * PJRT_VECTOR_BYTES;
#pragma GCC unroll 16
      for (int i = 0; i < kColumns; ++i)
        columns[i] = LoadLanes<typename L::Row>(a + begin + i * row, kColumns * row);
      TransposeLanes<Stored, PJRT_VECTOR_BYTES, kColumns>(columns);
#pragma GCC unroll 16
      for (int k = 0; k < kColumns; ++k) {
        if (begin + k < c || begin + k >= n) continue;
        const P place = P{} + static_cast<Bits>(begin + k + 1);
#pragma GCC unroll 2
        for (int g = 0; g < kGroups; ++g) {
          const Group<Source, V> y = Source::template LoadGroup<V>(
              reinterpret_cast<const typename Source::Stored*>(&columns[k]) + g * kWidth);
#pragma GCC unroll 2
          for (int v = 0; v < kGroup; ++v)
            ChooseNext<K, kEqualValue, kEqualPlace, kRule>(choice, &best[g].v[v], &at[g].v[v],
                                                           (V)((P)y.v[v] ^ turn), place);
        }
      }
      begin = c + 2 * kColumns <= n ? c + kColumns : n - kColumns;
    }
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
#pragma GCC unroll 2
      for (int v = 0; v < kGroup; ++v) best[g].v[v] = (V)((P)best[g].v[v] ^ turn);
      best[g] = Source::Ordered(best[g]);
      at[g] = Source::Ordered(at[g]);
    }
    __builtin_memcpy(values, best, sizeof(best));
    __builtin_memcpy(places, at, sizeof(at));
  }

  // What is chosen from a first value is that value, in the first place.
  PJRT_INLINE K Lowest() {
    if constexpr (std::is_floating_point_v<K>) {
      return -static_cast<K>(__builtin_inff());
    } else {
      return BitCast<K>(kHighestBit<K>);
    }
  }

  // Rows shorter than what is read of one are read together with the end of the row before, but
  // for those that begin `a`.
  template <int kColumns>
  PJRT_INLINE_MEMBER void Run(K* values, Bits* places, const Stored* a, int64_t rows,
                              int64_t n) const {
    const int64_t first = n < kColumns ? n - kColumns : 0;
    for (int64_t row = 0; row < rows; row += kRows) {
      const int64_t at = row + kRows <= rows ? row : rows - kRows;
      Choose<kColumns>(values + at, places + at, a + at * n, n, at == 0 ? 0 : first);
    }
  }
};

template <class Source, typename K, bool kEqualValue, bool kEqualPlace, NanRule kRule>
void ChooseRowsBy(const Choice& choice, UnsignedOf<K> turn, void* values, void* places,
                  const void* a, int64_t rows, int64_t n) {
  using Chooser = RowChoice<Source, K, kEqualValue, kEqualPlace, kRule>;
  constexpr int kPerLane = Chooser::L::kPerLane;
  const Chooser it{choice, turn};
  K* const v = static_cast<K*>(values);
  auto* const p = static_cast<typename Chooser::Bits*>(places);
  const auto* const s = static_cast<const typename Chooser::Stored*>(a);
  if constexpr (kPerLane > 2) {
    if (n == 2) return it.template Run<2>(v, p, s, rows, n);
  }
  if constexpr (kPerLane > 4) {
    if (n == 4) return it.template Run<4>(v, p, s, rows, n);
  }
  if constexpr (kPerLane > 8) {
    if (n == 8) return it.template Run<8>(v, p, s, rows, n);
  }
  it.template Run<kPerLane>(v, p, s, rows, n);
}

template <class Source, typename K, bool kEqualValue, bool kEqualPlace>
PJRT_INLINE auto FloatRowsBy(const Choice& choice) {
  return choice.TakesFirstNan()
             ? ChooseRowsBy<Source, K, kEqualValue, kEqualPlace, NanRule::kFirstNan>
             : ChooseRowsBy<Source, K, kEqualValue, kEqualPlace, NanRule::kSecond>;
}
template <class Source, typename K>
void ChooseFloatRows(const Choice& choice, void* values, void* places, const void* a, int64_t rows,
                     int64_t n) {
  const bool value = choice.first_of_equal_values, place = choice.first_of_equal_companions;
  const auto choose = value ? (place ? FloatRowsBy<Source, K, true, true>(choice)
                                     : FloatRowsBy<Source, K, true, false>(choice))
                            : (place ? FloatRowsBy<Source, K, false, true>(choice)
                                     : FloatRowsBy<Source, K, false, false>(choice));
  choose(choice, TurnOf<K>(choice), values, places, a, rows, n);
}
template <typename T>
void ChooseIntRows(const Choice& choice, void* values, void* places, const void* a, int64_t rows,
                   int64_t n) {
  using Source = Direct<UnsignedOf<T>>;
  using Key = SignedOf<T>;
  const auto choose = choice.first_of_equal_companions
                          ? ChooseRowsBy<Source, Key, true, true, NanRule::kSecond>
                          : ChooseRowsBy<Source, Key, false, false, NanRule::kSecond>;
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
  k->bf16_choice.choose_rows = ChooseFloatRows<FromBf16, float>;
#if defined(__F16C__)
  k->f16_choice.choose_rows = ChooseFloatRows<FromF16, float>;
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
