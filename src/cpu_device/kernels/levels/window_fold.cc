// SPDX-License-Identifier: Apache-2.0
//
// Reductions over windows, and the level's table of window kernels.
#include <algorithm>
#include <utility>

#include "src/cpu_device/kernels/fold-inl.h"
#include "src/cpu_device/kernels/level_tables.h"
#include "src/cpu_device/kernels/window-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T>
struct VectorOf {
  typedef T Type __attribute__((vector_size(PJRT_VECTOR_BYTES)));
  static constexpr int kWidth = PJRT_VECTOR_BYTES / static_cast<int>(sizeof(T));
};

template <typename T>
PJRT_INLINE typename VectorOf<T>::Type Load(const T* from) {
  typename VectorOf<T>::Type vector;
  __builtin_memcpy(&vector, from, sizeof(vector));
  return vector;
}

// kVectors vectors of results at `out`: first op from(0) op from(1) op ..., each a place in memory.
template <class Op, typename T, int kVectors, class From>
PJRT_INLINE void FoldVectors(T* out, typename VectorOf<T>::Type* sums, int64_t begin, int64_t end,
                             From from) {
  constexpr int kWidth = VectorOf<T>::kWidth;
  for (int64_t t = begin; t < end; ++t) {
    const T* const next = from(t);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[v] = Op::Apply(sums[v], Load(next + v * kWidth));
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) __builtin_memcpy(out + v * kWidth, &sums[v], sizeof(sums[v]));
}

template <class Op, typename T>
void FoldRows(void* out, const void* const* rows, int64_t count, int64_t n) {
  constexpr int kVectors = 4, kWidth = VectorOf<T>::kWidth;
  T* const d = static_cast<T*>(out);
  typename VectorOf<T>::Type sums[kVectors];
  int64_t i = 0;
  const auto from = [&](int64_t t) { return static_cast<const T*>(rows[t]) + i; };
  for (; i + kVectors * kWidth <= n; i += kVectors * kWidth) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[v] = Load(from(0) + v * kWidth);
    FoldVectors<Op, T, kVectors>(d + i, sums, 1, count, from);
  }
  for (; i + kWidth <= n; i += kWidth) {
    sums[0] = Load(from(0));
    FoldVectors<Op, T, 1>(d + i, sums, 1, count, from);
  }
  for (; i < n; ++i) {
    T sum = *from(0);
    for (int64_t t = 1; t < count; ++t) sum = Op::Run(sum, *from(t));
    d[i] = sum;
  }
}

// n neighbours, each with a window whose elements are tap_stride apart. Not inline: with a copy of
// it, and of CopyPlaces, for each caller this file took twice as long to compile.
template <class Op, typename T>
__attribute__((noinline)) void FoldRun(T* out, const T* in, int64_t taps, int64_t tap_stride,
                                       int64_t n, const T* init) {
  constexpr int kVectors = 4, kWidth = VectorOf<T>::kWidth;
  using Vector = typename VectorOf<T>::Type;
  Vector sums[kVectors], first = {};
  if (init != nullptr) {
#pragma GCC unroll 64
    for (int l = 0; l < kWidth; ++l) first[l] = *init;
  }
  int64_t i = 0;
  const auto from = [&](int64_t t) { return in + t * tap_stride + i; };
  for (; i + kVectors * kWidth <= n; i += kVectors * kWidth) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[v] = init != nullptr ? first : Load(out + i + v * kWidth);
    FoldVectors<Op, T, kVectors>(out + i, sums, 0, taps, from);
  }
  for (; i + kWidth <= n; i += kWidth) {
    sums[0] = init != nullptr ? first : Load(out + i);
    FoldVectors<Op, T, 1>(out + i, sums, 0, taps, from);
  }
  for (; i < n; ++i) {
    T sum = init != nullptr ? *init : out[i];
    for (int64_t t = 0; t < taps; ++t) sum = Op::Run(sum, *from(t));
    out[i] = sum;
  }
}

// Places a known distance apart, one element each: the loop over places is vector code that
// shuffles what it loads.
template <class Op, typename T, int kStride>
PJRT_INLINE void FoldSteps(T* __restrict out, const T* __restrict in, int64_t places, int64_t taps,
                           int64_t tap_stride, const T* init) {
  for (int64_t p = 0; init != nullptr && p < places; ++p) out[p] = *init;
  for (int64_t t = 0; t < taps; ++t) {
    const T* const next = in + t * tap_stride;
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t p = 0; p < places; ++p) out[p] = Op::Run(out[p], next[p * kStride]);
  }
}

// Every other element of two vectors.
template <typename T, int... kIndex>
PJRT_INLINE typename VectorOf<T>::Type EvenElements(typename VectorOf<T>::Type low,
                                                    typename VectorOf<T>::Type high,
                                                    std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(low, high, 2 * kIndex...);
}

// Places two elements apart, a vector of them: their windows stay in registers. `sums` is what they
// begin with; reads two vectors for each element of the window.
template <class Op, typename T>
PJRT_INLINE typename VectorOf<T>::Type FoldPairsVector(const T* in, int64_t taps,
                                                       int64_t tap_stride,
                                                       typename VectorOf<T>::Type sums) {
  constexpr int kWidth = VectorOf<T>::kWidth;
  for (int64_t t = 0; t < taps; ++t) {
    const T* const next = in + t * tap_stride;
    sums = Op::Apply(sums, EvenElements<T>(Load(next), Load(next + kWidth),
                                           std::make_integer_sequence<int, kWidth>()));
  }
  return sums;
}

template <class Op, typename T>
PJRT_INLINE void FoldPairs(T* out, const T* in, int64_t places, int64_t taps, int64_t tap_stride,
                           const T* init) {
  constexpr int kWidth = VectorOf<T>::kWidth;
  constexpr int64_t kReach = 64;
  using Vector = typename VectorOf<T>::Type;
  Vector first = {};
  if (init != nullptr) {
#pragma GCC unroll 64
    for (int l = 0; l < kWidth; ++l) first[l] = *init;
  }
  int64_t p = 0;
  for (; p + kWidth < places; p += kWidth) {
    const Vector sums =
        FoldPairsVector<Op>(in + 2 * p, taps, tap_stride, init != nullptr ? first : Load(out + p));
    __builtin_memcpy(out + p, &sums, sizeof(sums));
  }
  const int64_t left = places - p, reach = taps == 0 ? 0 : (taps - 1) * tap_stride;
  if (kWidth > 2 && left > 2 && left <= kWidth && reach <= kReach) {
    // The last vector would read beyond the last window: from a copy.
    T seen[2 * kWidth + kReach] = {}, results[kWidth] = {};
    __builtin_memcpy(seen, in + 2 * p, (2 * left - 1 + reach) * sizeof(T));
    if (init == nullptr) __builtin_memcpy(results, out + p, left * sizeof(T));
    const Vector sums =
        FoldPairsVector<Op>(seen, taps, tap_stride, init != nullptr ? first : Load(results));
    __builtin_memcpy(results, &sums, sizeof(sums));
    __builtin_memcpy(out + p, results, left * sizeof(T));
    return;
  }
  for (; p < places; ++p) {
    T sum = init != nullptr ? *init : out[p];
    for (int64_t t = 0; t < taps; ++t) sum = Op::Run(sum, in[2 * p + t * tap_stride]);
    out[p] = sum;
  }
}

// Few elements at each place: all places for an element of the window, then the next one.
template <class Op, typename T>
PJRT_INLINE void FoldShortRuns(T* __restrict out, const T* __restrict in, int64_t places,
                               int64_t place_stride, int64_t taps, int64_t tap_stride,
                               int64_t inner, const T* init) {
  for (int64_t i = 0; init != nullptr && i < places * inner; ++i) out[i] = *init;
  for (int64_t t = 0; t < taps; ++t) {
    const T* const next = in + t * tap_stride;
    for (int64_t p = 0; p < places; ++p) {
      for (int64_t i = 0; i < inner; ++i)
        out[p * inner + i] = Op::Run(out[p * inner + i], next[p * place_stride + i]);
    }
  }
}

// `count` places of kInner elements, `stride` elements apart, next to each other; 0: of `inner`.
template <int kInner, typename T>
PJRT_INLINE void CopyPlacesOf(T* to, const T* from, int64_t count, int64_t stride, int64_t inner) {
  const int64_t n = kInner == 0 ? inner : kInner;
  for (int64_t p = 0; p < count; ++p) {
    for (int64_t i = 0; i < n; ++i)
      __builtin_memcpy(to + p * n + i, from + p * stride + i, sizeof(T));
  }
}
// Alike for all operations and types of a size: for unsigned T, whatever the bits are of.
template <typename T>
__attribute__((noinline)) void CopyPlaces(T* to, const T* from, int64_t count, int64_t stride,
                                          int64_t inner) {
  if (inner == 3) return CopyPlacesOf<3>(to, from, count, stride, inner);
  if (inner == 2) return CopyPlacesOf<2>(to, from, count, stride, inner);
  if (inner == 4) return CopyPlacesOf<4>(to, from, count, stride, inner);
  CopyPlacesOf<0>(to, from, count, stride, inner);
}

// The same where windows overlap, so that one element is read for several places. What elements of
// the window with the same remainder by `step`, the places from one window to the next, read is
// copied next to each other: then each of them is a run. False where that is not worth it.
template <class Op, typename T>
PJRT_INLINE bool FoldPhases(T* out, const T* in, int64_t places, int64_t place_stride, int64_t taps,
                            int64_t tap_stride, int64_t inner, const T* init) {
  using Bits = UnsignedOf<T>;
  constexpr int64_t kElements = 8192 / sizeof(T), kMaxStep = 8;
  const int64_t step = place_stride / inner, dilation = tap_stride / inner;
  const int64_t more = (taps - 1) * dilation / step;  // places that a window reaches beyond its own
  const int64_t together = kElements / (kMaxStep * inner) - more;
  if (step > kMaxStep || taps < 2 * step || together < places / 2 + 1) return false;
  T phases[kElements];
  for (int64_t first = 0; first < places; first += together) {
    const int64_t count = std::min(together, places - first), phase = (count + more) * inner;
    // The places of a phase end with the last one that a window reads.
    for (int64_t f = 0; f < step; ++f) {
      int64_t last = -1;
      for (int64_t t = 0; t < taps; ++t) {
        if (t * dilation % step == f) last = t * dilation / step;
      }
      if (last < 0) continue;
      CopyPlaces(reinterpret_cast<Bits*>(phases + f * phase),
                 reinterpret_cast<const Bits*>(in + first * place_stride + f * inner), count + last,
                 place_stride, inner);
    }
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t at = t * dilation;
      FoldRun<Op>(out + first * inner, phases + at % step * phase + at / step * inner, 1, 0,
                  count * inner, t == 0 ? init : nullptr);
    }
  }
  return true;
}

template <class Op, typename T>
void FoldWindow(void* out, const void* in, int64_t places, int64_t place_stride, int64_t taps,
                int64_t tap_stride, int64_t inner, const void* init) {
  T* const d = static_cast<T*>(out);
  const T* const s = static_cast<const T*>(in);
  const T* const first = static_cast<const T*>(init);
  if (place_stride == inner) return FoldRun<Op>(d, s, taps, tap_stride, places * inner, first);
  if (inner == 1 && place_stride == 2) return FoldPairs<Op>(d, s, places, taps, tap_stride, first);
  if (inner == 1 && place_stride == 3)
    return FoldSteps<Op, T, 3>(d, s, places, taps, tap_stride, first);
  if (inner == 1 && place_stride == 4)
    return FoldSteps<Op, T, 4>(d, s, places, taps, tap_stride, first);
  if (inner < VectorOf<T>::kWidth) {
    if (FoldPhases<Op>(d, s, places, place_stride, taps, tap_stride, inner, first)) return;
    return FoldShortRuns<Op>(d, s, places, place_stride, taps, tap_stride, inner, first);
  }
  for (int64_t p = 0; p < places; ++p)
    FoldRun<Op>(d + p * inner, s + p * place_stride, taps, tap_stride, inner, first);
}

// The same for types that no vector holds.
template <class Op, typename T>
void FoldRowsPlain(void* out, const void* const* rows, int64_t count, int64_t n) {
  T* const d = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    T sum = static_cast<const T*>(rows[0])[i];
    for (int64_t t = 1; t < count; ++t) sum = Op::Run(sum, static_cast<const T*>(rows[t])[i]);
    d[i] = sum;
  }
}
template <class Op, typename T>
void FoldWindowPlain(void* out, const void* in, int64_t places, int64_t place_stride, int64_t taps,
                     int64_t tap_stride, int64_t inner, const void* init) {
  T* const d = static_cast<T*>(out);
  for (int64_t p = 0; p < places; ++p) {
    for (int64_t i = 0; i < inner; ++i) {
      const T* const s = static_cast<const T*>(in) + p * place_stride + i;
      T sum = init != nullptr ? *static_cast<const T*>(init) : d[p * inner + i];
      for (int64_t t = 0; t < taps; ++t) sum = Op::Run(sum, s[t * tap_stride]);
      d[p * inner + i] = sum;
    }
  }
}

struct Folds {
  WindowKernels* kernels;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    const int m = static_cast<int>(monoid), type = static_cast<int>(kCType<T>);
    if constexpr (IsComplexType<R>) {
      kernels->fold_rows[m][type] = FoldRowsPlain<Op, R>;
      kernels->fold_window[m][type] = FoldWindowPlain<Op, R>;
    } else {
      kernels->fold_rows[m][type] = FoldRows<Op, R>;
      kernels->fold_window[m][type] = FoldWindow<Op, R>;
    }
  }
};

}  // namespace

const WindowKernels* GetWindowKernels() {
  static const WindowKernels kernels = [] {
    WindowKernels k{};
    ForEachFold(Folds{&k});
    FillChannelConvolutions(&k);
    FillPlaneConvolutions(&k);
    FillScans(&k);
    return k;
  }();
  return &kernels;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
