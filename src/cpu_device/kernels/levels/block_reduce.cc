// SPDX-License-Identifier: Apache-2.0
//
// Reductions of rows of contiguous elements, and of columns of several rows. The order of the
// operations depends on the length of the row, or the number of rows, alone, so that each level,
// and each split of the rest, gives the same bits; but maxima and minima of floats may have another
// of several NaNs.
#include <utility>

#include "src/cpu_device/kernels/choose-inl.h"
#include "src/cpu_device/kernels/complex-inl.h"
#include "src/cpu_device/kernels/fold-inl.h"
#include "src/cpu_device/kernels/fold_ops.h"
#include "src/cpu_device/kernels/fold_source-inl.h"
#include "src/cpu_device/kernels/level_tables.h"
#include "src/cpu_device/kernels/transpose-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kLanes = 32;

// The lanes of one reduction in vector registers.
template <typename T>
struct RowLanes {
  static constexpr int kVectorBytes =
      PJRT_VECTOR_BYTES < kLanes * sizeof(T) ? PJRT_VECTOR_BYTES : kLanes * sizeof(T);
  static constexpr int kVectors = kLanes * sizeof(T) / kVectorBytes;
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
};

// Folds lanes [0, count), count <= kLanes: lane j with j + 16, then 8, 4, 2, 1, where there is one.
template <class Op, typename T>
PJRT_INLINE T FoldLanes(T* lanes, int64_t count) {
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j + half < count; ++j) lanes[j] = Op::Run(lanes[j], lanes[j + half]);
    if (count > half) count = half;
  }
  return lanes[0];
}

template <int kHalf, typename V, int... k>
PJRT_INLINE V UpperHalf(V v, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(v, v, ((k + kHalf) % static_cast<int>(sizeof...(k)))...);
}
// The same for the first 2 * kHalf lanes of one vector.
template <class Op, typename T, int kHalf, typename V>
PJRT_INLINE T FoldVector(V v) {
  constexpr std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(T))> kAll;
  v = Op::Apply(v, UpperHalf<kHalf>(v, kAll));
  if constexpr (kHalf > 1) {
    return FoldVector<Op, T, kHalf / 2>(v);
  } else {
    return v[0];
  }
}

// The same for all lanes, by vectors: of a row of 128 elements, one by one took most of the time,
// and a comparison that goes either way costs more than all others.
template <class Op, typename T, int kHalf = kLanes / 2>
PJRT_INLINE T FoldAllLanes(T* lanes) {
  constexpr int kBytes = kHalf * static_cast<int>(sizeof(T));
  if constexpr (kBytes < 16) {
    typedef T Vector __attribute__((vector_size(2 * kBytes)));
    Vector all;
    __builtin_memcpy(&all, lanes, sizeof(all));
    return FoldVector<Op, T, kHalf>(all);
  } else {
    constexpr int kVectorBytes = kBytes < PJRT_VECTOR_BYTES ? kBytes : PJRT_VECTOR_BYTES;
    constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
#pragma GCC unroll 16
    for (int j = 0; j < kHalf; j += kWidth) {
      Vector low, high;
      __builtin_memcpy(&low, lanes + j, sizeof(low));
      __builtin_memcpy(&high, lanes + kHalf + j, sizeof(high));
      low = Op::Apply(low, high);
      __builtin_memcpy(lanes + j, &low, sizeof(low));
    }
    return FoldAllLanes<Op, T, kHalf / 2>(lanes);
  }
}

template <class Op, class G>
PJRT_INLINE G ApplyToGroups(G a, const G& b) {
#pragma GCC unroll 2
  for (int i = 0; i < static_cast<int>(sizeof(a.v) / sizeof(a.v[0])); ++i)
    a.v[i] = Op::Apply(a.v[i], b.v[i]);
  return a;
}

// Takes the lanes below `count` from `changed`, in the vector that begins with lane `first`.
template <typename T, typename V, int... k>
PJRT_INLINE V TakeLanes(V old, V changed, int first, int count, std::integer_sequence<int, k...>) {
  using Places = typename VectorOfBytes<SignedOf<T>, static_cast<int>(sizeof(V))>::Type;
  constexpr Places kPlaces = {static_cast<SignedOf<T>>(k)...};
  return kPlaces < static_cast<SignedOf<T>>(count - first) ? changed : old;
}

#if defined(__AVX512DQ__)
// Maxima and minima may be taken in any order. One instruction that knows NaNs and signed zeros
// takes so long that the lanes alone would wait for it: they keep this many vectors.
constexpr int kVectorsInAnyOrder = 8;
// Their memory is asked for so many bytes ahead: maxima of rows of 1024 in 256 MiB come at .77 of
// memcpy's bandwidth on a Zen 5, where they came at .54.
constexpr int64_t kBytesAhead = 4096;
template <class Op>
inline constexpr bool kIsInAnyOrder = false;
template <typename T>
inline constexpr bool kIsInAnyOrder<VectorMaximum<T>> = std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsInAnyOrder<VectorMinimum<T>> = std::is_floating_point_v<T>;

// The lanes where a or b is a NaN.
template <typename T, typename V>
PJRT_INLINE __mmask16 NansOf(V a, V b) {
  if constexpr (std::is_same_v<T, float>) {
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q);
  } else {
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q);
  }
}

// Folds groups of elements from i to `end`, kAll side by side; as if there were no NaNs where
// kNumbers. Returns whether there are.
template <class Op, class Source, bool kNumbers, int kAll, typename Vector>
PJRT_INLINE bool FoldSideBySide(Group<Source, Vector>* all, const typename Source::Stored* a,
                                int64_t i, int64_t end, int64_t width) {
  using T = std::remove_reference_t<decltype(all->v[0][0])>;
  constexpr int kVectors = kAll * Source::kGroup;
#pragma GCC unroll 8
  for (int g = 0; g < kAll; ++g) all[g] = Source::template LoadGroup<Vector>(a + i + g * width);
  __mmask16 nans = 0;
  const auto look = [&](const Group<Source, Vector>* at) {
#pragma GCC unroll 8
    for (int v = 0; kNumbers && v < kVectors; v += 2) {
      nans |= NansOf<T>(at[v / Source::kGroup].v[v % Source::kGroup],
                        at[(v + 1) / Source::kGroup].v[(v + 1) % Source::kGroup]);
    }
  };
  look(all);
  for (i += kAll * width; i < end; i += kAll * width) {
    Group<Source, Vector> next[kAll];
#pragma GCC unroll 8
    for (int g = 0; g < kAll; ++g) {
      const typename Source::Stored* const at = a + i + g * width;
      __builtin_prefetch(reinterpret_cast<const char*>(at) + kBytesAhead, 0, 3);
      next[g] = Source::template LoadGroup<Vector>(at);
#pragma GCC unroll 2
      for (int v = 0; v < Source::kGroup; ++v) {
        all[g].v[v] = kNumbers ? Op::ApplyToNumbers(all[g].v[v], next[g].v[v])
                               : Op::Apply(all[g].v[v], next[g].v[v]);
      }
    }
    look(next);
  }
  return nans != 0;
}

// Onto the groups of lanes, elements from i on, kTimes times the lanes at once. Returns where it
// stopped. To look for NaNs, of two vectors at a time, takes less than to put each in its place.
template <class Op, class Source, int kTimes, int kGroups, typename Vector>
PJRT_INLINE int64_t FoldInAnyOrder(Group<Source, Vector>* groups, const typename Source::Stored* a,
                                   int64_t i, int64_t n) {
  constexpr int kWidth = kLanes / kGroups, kAll = kTimes * kGroups;
  const int64_t end = i + (n - i) / (kTimes * kLanes) * (kTimes * kLanes);
  if (end <= i) return i;
  Group<Source, Vector> all[kAll];
  if (FoldSideBySide<Op, Source, true, kAll>(all, a, i, end, kWidth))
    FoldSideBySide<Op, Source, false, kAll>(all, a, i, end, kWidth);
#pragma GCC unroll 8
  for (int g = 0; g < kAll; ++g)
    groups[g % kGroups] = ApplyToGroups<Op>(groups[g % kGroups], all[g]);
  return end;
}
#endif

// The lanes of a row of n >= kLanes elements, which do not fill them again at the end: those beyond
// it are read as well where `goes_on` says that another row follows.
template <class Op, typename T, class Source>
PJRT_INLINE void LanesOfRow(typename RowLanes<T>::Vector* sums, const typename Source::Stored* a,
                            int64_t n, bool goes_on) {
  using Vector = typename RowLanes<T>::Vector;
  constexpr int kGroups = RowLanes<T>::kVectors / Source::kGroup, kWidth = kLanes / kGroups;
  constexpr int kVectorWidth = kWidth / Source::kGroup;
  Group<Source, Vector> groups[kGroups];
#pragma GCC unroll 32
  for (int g = 0; g < kGroups; ++g) groups[g] = Source::template LoadGroup<Vector>(a + g * kWidth);
  int64_t i = kLanes;
#if defined(__AVX512DQ__)
  constexpr int kTimes = kVectorsInAnyOrder / RowLanes<T>::kVectors;
  if constexpr (kIsInAnyOrder<Op> && kTimes > 1)
    i = FoldInAnyOrder<Op, Source, kTimes, kGroups>(groups, a, i, n);
#endif
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 32
    for (int g = 0; g < kGroups; ++g)
      groups[g] =
          ApplyToGroups<Op>(groups[g], Source::template LoadGroup<Vector>(a + i + g * kWidth));
  }
#pragma GCC unroll 32
  for (int g = 0; g < kGroups; ++g) groups[g] = Source::Ordered(groups[g]);
  const int left = static_cast<int>(n - i);
  typename Source::Stored end[kLanes];
  const typename Source::Stored* from = a + i;
  if (left > 0 && !goes_on) {
    __builtin_memset(end, 0, sizeof(end));
    __builtin_memcpy(end, from, left * sizeof(*from));
    from = end;
  }
#pragma GCC unroll 32
  for (int g = 0; g < kGroups; ++g) {
    if (g * kWidth >= left) break;
    const auto next = Source::Ordered(Source::template LoadGroup<Vector>(from + g * kWidth));
#pragma GCC unroll 2
    for (int v = 0; v < Source::kGroup; ++v) {
      groups[g].v[v] = TakeLanes<T>(groups[g].v[v], Op::Apply(groups[g].v[v], next.v[v]),
                                    g * kWidth + v * kVectorWidth, left,
                                    std::make_integer_sequence<int, kVectorWidth>());
    }
  }
  __builtin_memcpy(sums, groups, sizeof(groups));
}

template <class Op, typename T, class Source>
PJRT_INLINE T ReduceRow(const typename Source::Stored* a, int64_t n, bool goes_on) {
  if (n < kLanes) {
    T lanes[kLanes];
    for (int64_t j = 0; j < n; ++j) lanes[j] = Source::One(a[j]);
    return FoldLanes<Op>(lanes, n);
  }
  typename RowLanes<T>::Vector sums[RowLanes<T>::kVectors];
  LanesOfRow<Op, T, Source>(sums, a, n, goes_on);
  T lanes[kLanes];
  __builtin_memcpy(lanes, sums, sizeof(lanes));
  return FoldAllLanes<Op>(lanes);
}

// Vectors whose lanes are rows of 2 * kHalf elements: the lower, or upper, halves of the rows of p,
// then of q.
template <int kHalf, int kFrom, typename V, int... k>
PJRT_INLINE V HalvesOf(V p, V q, std::integer_sequence<int, k...>) {
  return __builtin_shufflevector(p, q, (k / kHalf * 2 * kHalf + k % kHalf + kFrom)...);
}
// 2 * kHalf vectors, all in all as many rows of 2 * kHalf elements as a vector has lanes: folds
// each row to one element of the first vector.
template <class Op, typename T, int kHalf, typename V>
PJRT_INLINE void FoldSquare(V* rows) {
  using Numbers = std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(T))>;
#pragma GCC unroll 16
  for (int i = 0; i < kHalf; ++i) {
    const V p = rows[2 * i], q = rows[2 * i + 1];
    rows[i] =
        Op::Apply(HalvesOf<kHalf, 0>(p, q, Numbers()), HalvesOf<kHalf, kHalf>(p, q, Numbers()));
  }
  if constexpr (kHalf > 1) FoldSquare<Op, T, kHalf / 2>(rows);
}

// So many rows at a time that their results fill a vector: rows of as many elements as it has
// lanes, or of at least kLanes. Returns the number of rows that it folded.
template <class Op, typename T, class Source>
PJRT_INLINE int64_t ReduceSquares(T* out, const typename Source::Stored* a, int64_t rows,
                                  int64_t n) {
  using Vector = typename RowLanes<T>::Vector;
  constexpr int kVectors = RowLanes<T>::kVectors, kWidth = kLanes / kVectors;
  if (n < kLanes && n != kWidth) return 0;
  int64_t r = 0;
  for (; r + kWidth <= rows; r += kWidth) {
    Vector square[kWidth];
    for (int k = 0; k < kWidth; ++k) {
      const typename Source::Stored* const row = a + (r + k) * n;
      if (n == kWidth) {
        square[k] = Source::template Load<Vector>(row);
        continue;
      }
      Vector sums[kVectors];
      LanesOfRow<Op, T, Source>(sums, row, n, r + k + 1 < rows);
#pragma GCC unroll 8
      for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (int v = 0; v < half; ++v) sums[v] = Op::Apply(sums[v], sums[v + half]);
      }
      square[k] = sums[0];
    }
    FoldSquare<Op, T, kWidth / 2>(square);
    __builtin_memcpy(out + r, &square[0], sizeof(Vector));
  }
  return r;
}

// Rows that are shorter than the lanes are folded many at a time, at least kFewRows, which make
// squares to transpose: lane j of all of them is an array.
constexpr int kManyRows = 64, kFewRows = 4;

// to[j * kManyRows + r] = from[r * n + j] for r < rows. Alike for all operations and types of a
// size: for unsigned T, whatever the bits are of.
template <typename T, int kCount>
void SplitLanesOf(T* __restrict to, const T* __restrict from, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int j = 0; j < kCount; ++j)
      __builtin_memcpy(to + j * kManyRows + r, from + r * kCount + j, sizeof(T));
  }
}
template <typename T>
__attribute__((noinline)) void SplitLanes(T* __restrict to, const T* __restrict from, int64_t n,
                                          int64_t rows) {
  switch (n) {
    case 0:
      return;
    case 1:
      return SplitLanesOf<T, 1>(to, from, rows);
    case 2:
      return SplitLanesOf<T, 2>(to, from, rows);
    case 3:
      return SplitLanesOf<T, 3>(to, from, rows);
    case 4:
      return SplitLanesOf<T, 4>(to, from, rows);
    case 8:
      if constexpr (sizeof(T) <= 2) return SplitLanesOf<T, 8>(to, from, rows);
      [[fallthrough]];
    default:
      TransposeEdge<T>(to, kManyRows, from, n, rows, n);
  }
}

template <class Op, typename T, class Source>
PJRT_INLINE void ReduceManyRows(T* out, const typename Source::Stored* a, int64_t n, int64_t rows) {
  using Stored = typename Source::Stored;
  using Bits = UnsignedOf<Stored>;
  T lanes[kLanes * kManyRows];
  if constexpr (std::is_same_v<Source, Direct<T>>) {
    SplitLanes<Bits>(reinterpret_cast<Bits*>(lanes), reinterpret_cast<const Bits*>(a), n, rows);
  } else {
    Stored stored[kLanes * kManyRows];
    SplitLanes<Bits>(reinterpret_cast<Bits*>(stored), reinterpret_cast<const Bits*>(a), n, rows);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t r = j * kManyRows; r < j * kManyRows + rows; ++r)
        lanes[r] = Source::One(stored[r]);
    }
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (int64_t j = 0; j + half < n; ++j) {
      T* const x = lanes + j * kManyRows;
      const T* const y = x + half * kManyRows;
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t r = 0; r < rows; ++r) x[r] = Op::Run(x[r], y[r]);
    }
    if (n > half) n = half;
  }
  __builtin_memcpy(out, lanes, rows * sizeof(T));
}

template <class Op, typename T, class Source>
void ReduceRows(void* out, const void* a, int64_t rows, int64_t n) {
  T* const d = static_cast<T*>(out);
  const typename Source::Stored* const s = static_cast<const typename Source::Stored*>(a);
  int64_t r = 0;
  if constexpr (sizeof(T) >= 4) r = ReduceSquares<Op, T, Source>(d, s, rows, n);
  if (n < kLanes) {
    for (; r + kManyRows <= rows; r += kManyRows)
      ReduceManyRows<Op, T, Source>(d + r, s + r * n, n, kManyRows);
    if (rows - r >= kFewRows) {
      ReduceManyRows<Op, T, Source>(d + r, s + r * n, n, rows - r);
      return;
    }
  }
  for (; r < rows; ++r) d[r] = ReduceRow<Op, T, Source>(s + r * n, n, r + 1 < rows);
}

// The same tree for types that no vector holds.
template <class Op, typename T>
void ReduceRowsPlain(void* out, const void* a, int64_t rows, int64_t n) {
  T* const d = static_cast<T*>(out);
  const T* s = static_cast<const T*>(a);
  for (int64_t r = 0; r < rows; ++r, s += n) {
    T lanes[kLanes];
    const int64_t first = n < kLanes ? n : kLanes;
    for (int64_t j = 0; j < first; ++j) lanes[j] = s[j];
    int64_t i = kLanes;
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t j = 0; j < kLanes; ++j) lanes[j] = Op::Run(lanes[j], s[i + j]);
    }
    for (int64_t j = 0; i + j < n; ++j) lanes[j] = Op::Run(lanes[j], s[i + j]);
    d[r] = FoldLanes<Op>(lanes, first);
  }
}

// Onto `sums`, kGroups groups of each of `points` points, one after the other.
template <class Op, class Source, int kGroups, typename V>
PJRT_INLINE void FoldInOrder(Group<Source, V>* sums, const typename Source::Stored* a,
                             int64_t points, int64_t stride) {
  constexpr int64_t kWidth = sizeof(Group<Source, V>) / sizeof(sums->v[0][0]);
  for (int64_t p = 0; p < points; ++p, a += stride) {
#pragma GCC unroll 16
    for (int g = 0; g < kGroups; ++g)
      sums[g] = ApplyToGroups<Op>(sums[g], Source::template LoadGroup<V>(a + g * kWidth));
  }
}

// Columns [i, n) as far as strips of kGroups groups of vectors of kBytes go.
template <class Op, typename T, class Source, int kBytes, int kGroups = 1>
PJRT_INLINE int64_t FoldStrips(T* to, const typename Source::Stored* a, int64_t points, int64_t n,
                               int64_t stride, int64_t i, bool in_order) {
  using V = typename VectorOfBytes<T, kBytes>::Type;
  constexpr int64_t kWidth = Source::kGroup * kBytes / sizeof(T);
  for (; i + kGroups * kWidth <= n; i += kGroups * kWidth) {
    Group<Source, V> sums[kGroups];
    LoadGroups<Source, kGroups>(sums, to + i);
    if (in_order) {
      FoldInOrder<Op, Source, kGroups>(sums, a + i, points, stride);
    } else {
      for (int64_t p = 0; p < points; p += kPointsTogether) {
        const typename Source::Stored* const at = a + p * stride + i;
        const int64_t together = points - p < kPointsTogether ? points - p : kPointsTogether;
        Group<Source, V> parts[kGroups];
#pragma GCC unroll 16
        for (int g = 0; g < kGroups; ++g) parts[g] = Source::template LoadGroup<V>(at + g * kWidth);
        FoldInOrder<Op, Source, kGroups>(parts, at + stride, together - 1, stride);
#pragma GCC unroll 16
        for (int g = 0; g < kGroups; ++g) sums[g] = ApplyToGroups<Op>(sums[g], parts[g]);
      }
    }
    StoreGroups<Source, kGroups>(to + i, sums);
  }
  return i;
}

// Columns [i, n). Not inline: each of its callers would have a copy.
template <class Op, typename T, class Source>
__attribute__((noinline)) void FoldColumns(T* d, const typename Source::Stored* s, int64_t points,
                                           int64_t n, int64_t stride, int64_t i, bool in_order) {
  if constexpr (!IsComplexType<T>) {
    constexpr int kBytes = PJRT_VECTOR_BYTES;
    i = FoldStrips<Op, T, Source, kBytes>(d, s, points, n, stride, i, in_order);
    if constexpr (kBytes > 32)
      i = FoldStrips<Op, T, Source, 32>(d, s, points, n, stride, i, in_order);
    if constexpr (kBytes > 16)
      i = FoldStrips<Op, T, Source, 16>(d, s, points, n, stride, i, in_order);
  }
  for (; i < n; ++i) {
    T sum = d[i];
    for (int64_t p = 0; p < points;) {
      const int64_t end = in_order || points - p < kPointsTogether ? points : p + kPointsTogether;
      T part = in_order ? sum : Source::One(s[p++ * stride + i]);
      for (; p < end; ++p) part = Op::Run(part, Source::One(s[p * stride + i]));
      sum = in_order ? part : Op::Run(sum, part);
    }
    d[i] = sum;
  }
}

// So many vectors of a row are read before the next row, which suits the memory better than one.
// Rows that follow each other are read whole where there are registers for them: sums over the
// middle of 1024 x 256 x 256 take 12.5 ms for 27. In two such strips they take 1.5 times as long.
constexpr int kStripVectors = PJRT_VECTOR_BYTES > 32 ? 4 : 8;

// So many long runs are folded at a time, and as many asked for meanwhile: maxima of columns of
// 65536 x 1024 take 7.3 ms for 12.7.
constexpr int kRunsTogether = 4;

// Long runs in order, but for the last ones of `points`. Returns how many it folded.
template <class Op, typename T, class Source>
PJRT_INLINE int64_t FoldLongRuns(T* to, const typename Source::Stored* a, int64_t points, int64_t n,
                                 int64_t stride) {
  using Stored = typename Source::Stored;
  constexpr int kBytes = PJRT_VECTOR_BYTES, kNarrow = sizeof(T) / sizeof(Stored);
  constexpr int kVectors = kBytes > 32 ? kStripVectors * kNarrow : kStripVectors;
  using V = typename VectorOfBytes<T, kBytes>::Type;
  constexpr int kGroups = kVectors / Source::kGroup;
  constexpr int64_t kWidth = kVectors * kBytes / sizeof(T);
  int64_t p = 0;
  for (; p + kRunsTogether < points; p += kRunsTogether) {
    const Stored* const from = a + p * stride;
    RunsAhead ahead(from + kRunsTogether * stride, n * sizeof(Stored), stride * sizeof(Stored));
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      Group<Source, V> sums[kGroups];
      LoadGroups<Source, kGroups>(sums, to + i);
      for (int r = 0; r < kRunsTogether; ++r) {
        ahead.Ask<kWidth * sizeof(Stored)>();
        FoldInOrder<Op, Source, kGroups>(sums, from + r * stride + i, 1, stride);
      }
      StoreGroups<Source, kGroups>(to + i, sums);
    }
    FoldColumns<Op, T, Source>(to, from, kRunsTogether, n, stride, i, true);
  }
  return p;
}

template <class Op, typename T, class Source>
void FoldPoints(void* to, const void* a, int64_t points, int64_t n, int64_t stride, bool in_order) {
  using Stored = typename Source::Stored;
  T* const d = static_cast<T*>(to);
  const Stored* s = static_cast<const Stored*>(a);
  int64_t i = 0;
  if constexpr (!IsComplexType<T>) {
    constexpr int kBytes = PJRT_VECTOR_BYTES;
    constexpr int kGroups = kStripVectors / Source::kGroup;
    if (in_order && n * static_cast<int64_t>(sizeof(Stored)) >= kLongRunBytes) {
      const int64_t folded = FoldLongRuns<Op, T, Source>(d, s, points, n, stride);
      points -= folded;
      s += folded * stride;
    }
    if constexpr (kBytes > 32) {
      constexpr int64_t kWhole = 4 * kStripVectors * kBytes / sizeof(T);
      if (stride == n && n < 2 * kWhole)
        i = FoldStrips<Op, T, Source, kBytes, 4 * kGroups>(d, s, points, n, stride, i, in_order);
    }
    i = FoldStrips<Op, T, Source, kBytes, kGroups>(d, s, points, n, stride, i, in_order);
  } else if (in_order) {
    // Some rows at a time, whose lines stay at hand from column to column.
    constexpr int64_t kTogether = 16;
    for (; points > kTogether; points -= kTogether, s += kTogether * stride)
      FoldColumns<Op, T, Source>(d, s, kTogether, n, stride, 0, true);
  }
  FoldColumns<Op, T, Source>(d, s, points, n, stride, i, in_order);
}

// to[i] = to[i] op a[i], where a is what the source loads.
template <class Op, typename T, class Source>
void FoldSource(void* to, const void*, const void* a, const void*, int64_t n) {
  FoldPoints<Op, T, Source>(to, a, 1, n, n, true);
}

// to[i] += a[i] * a[i].
template <typename T>
void AddSquares(void* to, const void*, const void* a, const void*, int64_t n) {
  T* const d = static_cast<T*>(to);
  const T* const x = static_cast<const T*>(a);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) d[i] += x[i] * x[i];
}

template <class Op, typename T, class Source>
FoldKernels::Narrow FoldsOf() {
  return {FoldSource<Op, T, Source>, ReduceRows<Op, T, Source>, FoldPoints<Op, T, Source>};
}

struct Reductions {
  BlockKernels* kernels;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    ReduceRowsFn& entry =
        kernels->reduce_rows[static_cast<int>(monoid)][static_cast<int>(kCType<T>)];
    if constexpr (IsComplexType<R>) {
      entry = ReduceRowsPlain<Op, R>;
    } else {
      entry = ReduceRows<Op, R, Direct<R>>;
    }
  }
};

struct PointFolds {
  FoldKernels* kernels;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    kernels->points[static_cast<int>(monoid)][static_cast<int>(kCType<T>)] =
        FoldPoints<Op, R, Direct<R>>;
  }
};

template <class Source>
struct NarrowFolds {
  FoldKernels::Narrow* of_monoid;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    of_monoid[static_cast<int>(monoid)] = FoldsOf<Op, R, Source>();
  }
};

FoldKernels MakeFolds() {
  FoldKernels folds = {};
  ForEachFold(PointFolds{&folds});
  FillChoose(&folds);
  FillChooseRows(&folds);
  ForEachFoldOfFloat<float>(NarrowFolds<FromBf16>{folds.bf16});
  folds.squares.f32 = FoldsOf<VectorAdd, float, SquaresOf<Direct<float>>>();
  folds.squares.f64 = FoldsOf<VectorAdd, double, SquaresOf<Direct<double>>>();
  folds.squares.f32.op = AddSquares<float>;
  folds.squares.f64.op = AddSquares<double>;
  folds.squares.bf16 = FoldsOf<VectorAdd, float, SquaresOf<FromBf16>>();
#if defined(__F16C__)
  ForEachFoldOfFloat<float>(NarrowFolds<FromF16>{folds.f16});
  folds.squares.f16 = FoldsOf<VectorAdd, float, SquaresOf<FromF16>>();
#endif
  return folds;
}

}  // namespace

void FillReduce(BlockKernels* k) { ForEachFold(Reductions{k}); }

const FoldKernels* GetFoldKernels() {
  static const FoldKernels folds = MakeFolds();
  return &folds;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
