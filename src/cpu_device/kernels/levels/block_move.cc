// SPDX-License-Identifier: Apache-2.0
//
// Elements copied, filled, counted, gathered and scattered with a stride.
#include <cstring>
#include <utility>

#include "src/cpu_device/kernels/anywhere.h"
#include "src/cpu_device/kernels/copy_pieces-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/shuffle-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T>
void Copy(void* dst, const void* a, const void*, const void*, int64_t n) {
  if (dst != a && n > 0) memcpy(dst, a, static_cast<size_t>(n) * sizeof(T));
}

template <typename T>
void FillBlock(void* dst, const void* src, int64_t n) {
  Anywhere<T>* const d = static_cast<Anywhere<T>*>(dst);
  const T value = *static_cast<const Anywhere<T>*>(src);
  for (int64_t i = 0; i < n; ++i) d[i] = value;
}

PJRT_INLINE int64_t Below(int64_t n, int64_t stride) { return stride < 0 ? n * stride : 0; }
PJRT_INLINE int64_t Above(int64_t n, int64_t stride) { return stride > 0 ? n * stride : 0; }

// Elements that a vector of 16 bytes has room for, several rows of them or a part of one, are
// shuffled from a vector of the source: the pattern is the same wherever both sides move on by as
// much. Copies a box that is dense in dst; false where a row takes more than a vector. Rows for
// which no whole vector can be read or written are left to single elements.
template <typename T>
bool ShuffleRows(Anywhere<T>* dst, const Anywhere<T>* src, int64_t row, int64_t col, int64_t rows,
                 int64_t cols) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kPlaces = kShuffled / kSize;
  // From the lowest to the highest element of n rows.
  const auto span = [&](int64_t n) {
    return Above(n - 1, row) + Above(cols - 1, col) - Below(n - 1, row) - Below(cols - 1, col) + 1;
  };
  if (!kHasShuffle || cols > kPlaces || span(1) > kPlaces || span(rows) < kPlaces) return false;
  int64_t together = 1;
  while (together < rows && (together + 1) * cols <= kPlaces && span(together + 1) <= kPlaces)
    ++together;
  // A vector begins with the lowest element of its rows or ends with the highest, so that what it
  // has more of belongs to the next rows.
  const int64_t begin = row >= 0 ? Below(cols - 1, col) : Above(cols - 1, col) + 1 - kPlaces;
  uint8_t pattern[kShuffled] = {};
  int64_t places = 0;
  for (int64_t r = 0; r < together; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      for (int64_t i = 0; i < kSize; ++i)
        pattern[places++] = static_cast<uint8_t>((r * row + c * col - begin) * kSize + i);
    }
  }
  const int64_t lowest = Below(rows - 1, row) + Below(cols - 1, col);
  const int64_t highest = Above(rows - 1, row) + Above(cols - 1, col);
  const auto fits = [&](int64_t step) {
    const int64_t at = begin + step * together * row;
    return at >= lowest && at + kPlaces <= highest + 1 &&
           step * together * cols + kPlaces <= rows * cols;
  };
  int64_t steps = rows / together;
  while (steps > 0 && !fits(steps - 1)) --steps;
  const Bytes16 shuffle = Load16(pattern);
  const char* from = reinterpret_cast<const char*>(src + begin);
  char* to = reinterpret_cast<char*>(dst);
  for (int64_t i = 0; i < steps; ++i, from += together * row * kSize, to += places)
    Store16(to, Shuffle(Load16(from), shuffle));
  for (int64_t r = steps * together; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) dst[r * cols + c] = src[r * row + c * col];
  }
  return true;
}

// Every kStride-th element of kStride vectors that follow each other, as one vector: `taken` has
// those of the first kTaken vectors, and `from` is where the next one lies.
template <int kStride, int kTaken, typename Row, typename T, int... kIndex>
PJRT_INLINE Row TakeEvery(Row taken, const T* from, std::integer_sequence<int, kIndex...> all) {
  constexpr int kSide = static_cast<int>(sizeof...(kIndex));
  if constexpr (kTaken == kStride) {
    return taken;
  } else {
    Row next;
    __builtin_memcpy(&next, from, sizeof(next));
    taken = __builtin_shufflevector(
        taken, next,
        (kIndex * kStride / kSide == kTaken ? kSide + kIndex * kStride % kSide : kIndex)...);
    return TakeEvery<kStride, kTaken + 1>(taken, from + kSide, all);
  }
}
// The first elements, by whole vectors none of which reaches beyond the last element; how many.
// One coordinate of points of three takes 0.13 ns at AVX2 (Zen 3), where single elements took 0.21.
template <typename T, int kStride>
int64_t GatherNear(T* dst, const T* src, int64_t n) {
  typedef T Row __attribute__((vector_size(PJRT_VECTOR_BYTES)));
  constexpr int kSide = PJRT_VECTOR_BYTES / static_cast<int>(sizeof(T));
  int64_t i = 0;
  for (; (i + kSide) * kStride <= (n - 1) * kStride + 1; i += kSide) {
    const Row row =
        TakeEvery<kStride, 0>(Row{}, src + i * kStride, std::make_integer_sequence<int, kSide>());
    __builtin_memcpy(dst + i, &row, sizeof(row));
  }
  return i;
}

template <typename T>
void GatherStride(void* dst, const void* src, int64_t stride, int64_t n) {
  Anywhere<T>* const d = static_cast<Anywhere<T>*>(dst);
  const Anywhere<T>* const s = static_cast<const Anywhere<T>*>(src);
  if (stride == 1) {
    if (n > 0) memcpy(d, s, static_cast<size_t>(n) * sizeof(T));
  } else if (stride == 2) {
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) d[i] = s[i * 2];
  } else if (stride == -1) {
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) d[i] = s[-i];
  } else {
    // Several to a vector, where they are near each other.
    int64_t i = 0;
    if constexpr (sizeof(T) <= 2) {
      constexpr int64_t kPlaces = kShuffled / static_cast<int64_t>(sizeof(T));
      const int64_t apart = stride < 0 ? -stride : stride;
      const int64_t together = apart < kPlaces && apart > 0 ? 1 + (kPlaces - 1) / apart : 1;
      const int64_t rows = n / together;
      if (together > 2 && ShuffleRows<T>(d, s, together * stride, stride, rows, together))
        i = rows * together;
    } else if constexpr (sizeof(T) == 4) {
      T* const to = static_cast<T*>(dst);
      const T* const from = static_cast<const T*>(src);
      if (stride == 3) i = GatherNear<T, 3>(to, from, n);
      if (stride == 4) i = GatherNear<T, 4>(to, from, n);
      if (stride == 5) i = GatherNear<T, 5>(to, from, n);
    }
    for (; i < n; ++i) d[i] = s[i * stride];
  }
}

template <typename T>
void ScatterStride(void* dst, const void* src, int64_t stride, int64_t n) {
  Anywhere<T>* const d = static_cast<Anywhere<T>*>(dst);
  const Anywhere<T>* const s = static_cast<const Anywhere<T>*>(src);
  if (stride == 1) {
    if (n > 0) memcpy(d, s, static_cast<size_t>(n) * sizeof(T));
  } else {
    for (int64_t i = 0; i < n; ++i) d[i * stride] = s[i];
  }
}

// Strides in elements. Rows and columns change places where that makes the inner loop longer.
template <typename T>
void MoveBox(void* dst, int64_t dst_row, int64_t dst_col, const void* src, int64_t src_row,
             int64_t src_col, int64_t rows, int64_t cols) {
  if (rows <= 0 || cols <= 0) return;
  if constexpr (sizeof(T) < kShuffled) {
    if (dst_col == 1 && dst_row == cols && cols > 1 &&
        ShuffleRows<T>(static_cast<Anywhere<T>*>(dst), static_cast<const Anywhere<T>*>(src),
                       src_row, src_col, rows, cols))
      return;
  }
  if (cols < 8 && cols < rows) {
    MoveBox<T>(dst, dst_col, dst_row, src, src_col, src_row, cols, rows);
    return;
  }
  Anywhere<T>* d = static_cast<Anywhere<T>*>(dst);
  const Anywhere<T>* s = static_cast<const Anywhere<T>*>(src);
  for (int64_t r = 0; r < rows; ++r, d += dst_row, s += src_row) {
    if (dst_col == 1 && src_col == 0) {
      FillBlock<T>(d, s, cols);
    } else if (dst_col == 1) {
      GatherStride<T>(d, s, src_col, cols);
    } else if (src_col == 1) {
      ScatterStride<T>(d, s, dst_col, cols);
    } else {
      for (int64_t c = 0; c < cols; ++c) d[c * dst_col] = s[c * src_col];
    }
  }
}

// Rows of a few bytes to where they lie together: several to a vector, or each as one element.
// False: none of both.
bool CopyTinyRows(char* dst, const char* src, int64_t src_stride, int64_t bytes, int64_t rows) {
  using Byte = Anywhere<uint8_t>;
  if (ShuffleRows<uint8_t>(reinterpret_cast<Byte*>(dst), reinterpret_cast<const Byte*>(src),
                           src_stride, 1, rows, bytes))
    return true;
  if (src_stride % bytes != 0) return false;
  const int64_t stride = src_stride / bytes;
  if (bytes == 8) {
    MoveBox<uint64_t>(dst, 0, 1, src, 0, stride, 1, rows);
  } else if (bytes == 4) {
    MoveBox<uint32_t>(dst, 0, 1, src, 0, stride, 1, rows);
  } else if (bytes == 2) {
    MoveBox<uint16_t>(dst, 0, 1, src, 0, stride, 1, rows);
  } else {
    return false;
  }
  return true;
}

void CopyRows(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t bytes,
              int64_t rows) {
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  if (rows <= 0 || bytes <= 0) return;
  if (bytes <= 8 && dst_stride == bytes && CopyTinyRows(d, s, src_stride, bytes, rows)) return;
  // Not by memcpy: where that is the processor's own instruction for strings, it is ten times
  // slower when source and target are a few bytes apart modulo a page, as in a shift or a roll.
  WithCopyOf(bytes, [=](auto copy) {
    for (int64_t r = 0; r < rows; ++r) copy.Run(d + r * dst_stride, s + r * src_stride, bytes);
  });
}

void StreamRows(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t bytes,
                int64_t rows) {
  if (bytes < 4 * kLine) {
    CopyRows(dst, dst_stride, src, src_stride, bytes, rows);
    return;
  }
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  for (int64_t r = 0; r < rows; ++r, d += dst_stride, s += src_stride) StreamBytes(d, s, bytes);
}

// Lines are asked for beside each line that is written, not many at once: a processor has room for
// a dozen or so of both that are under way, and what comes then waits and computes nothing. kEven:
// as many lines of each array as are written. kCount: of the arrays, or 0 for any number.
template <int kCount, bool kEven>
void StreamAndAsk(char* to, const char* from, int64_t bytes, const AskedMemory* asked,
                  int64_t count) {
  if constexpr (kEven) {
    const bool asks_far = asked[0].far > 0;
    const char *near[kCount], *far[kCount];
    for (int k = 0; k < kCount; ++k) {
      near[k] = asked[k].next;
      far[k] = asked[k].next + asked[k].far;
    }
#pragma GCC unroll 4
    for (int64_t i = 0; i < bytes; i += kLine) {
      StreamLine(to + i, from + i);
      for (int k = 0; k < kCount; ++k) {
        __builtin_prefetch(near[k] + i, 0);
        if (asks_far) __builtin_prefetch(far[k] + i, 0, 2);
      }
    }
  } else {
    const bool asks_far = count > 0 && asked[0].far > 0;
    const char *next[kMostAsked], *until[kMostAsked];
    if (kCount > 0) count = kCount;
    for (int64_t k = 0; k < count; ++k) next[k] = until[k] = asked[k].next;
    for (int64_t i = 0; i < bytes; i += kLine) {
      StreamLine(to + i, from + i);
      for (int64_t k = 0; k < count; ++k) {
        until[k] += asked[k].step;
        for (; next[k] < until[k]; next[k] += kLine) {
          __builtin_prefetch(next[k], 0);
          if (asks_far) __builtin_prefetch(next[k] + asked[k].far, 0, 2);
        }
      }
    }
  }
}
void StreamAsking(void* dst, const void* src, int64_t bytes, AskedMemory* asked, int64_t count) {
  const bool even = count > 0 && asked[0].step == kLine && asked[count - 1].step == kLine;
  const auto stream = count == 1   ? (even ? StreamAndAsk<1, true> : StreamAndAsk<1, false>)
                      : count == 2 ? (even ? StreamAndAsk<2, true> : StreamAndAsk<2, false>)
                                   : StreamAndAsk<0, false>;
  const auto lines = [&](char* d, const char* s, int64_t n) { stream(d, s, n, asked, count); };
  StreamBytesBy(lines, static_cast<char*>(dst), static_cast<const char*>(src), bytes);
  for (int64_t k = 0; k < count; ++k) asked[k].next += bytes * asked[k].step / kLine;
}

// start + i * step modulo 2^64, as a signed integer.
PJRT_INLINE int64_t CountAt(int64_t start, int64_t step, int64_t i) {
  return static_cast<int64_t>(static_cast<uint64_t>(start) +
                              static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
}

template <typename T>
void IotaInteger(void* dst, int64_t start, int64_t step, int64_t n) {
  using U = UnsignedOf<T>;
  U* const d = static_cast<U*>(dst);
  // The low bits of a product are the product of the low bits.
  using Wide = std::conditional_t<(sizeof(U) < 4), uint32_t, U>;
  const Wide first = static_cast<Wide>(start), by = static_cast<Wide>(step);
  for (int64_t i = 0; i < n; ++i) d[i] = static_cast<U>(first + static_cast<Wide>(i) * by);
}

template <typename T>
void IotaFloat(void* dst, int64_t start, int64_t step, int64_t n) {
  T* const d = static_cast<T*>(dst);
  constexpr int64_t kLimit = 1 << 30;
  // Usually all numbers fit 32 bits, whose conversion is a vector instruction at each level.
  if (n < kLimit && start > -kLimit && start < kLimit && step > -kLimit && step < kLimit &&
      step * n > -kLimit && step * n < kLimit) {
    const int32_t first = static_cast<int32_t>(start), by = static_cast<int32_t>(step);
    const int32_t count = static_cast<int32_t>(n);
    for (int32_t i = 0; i < count; ++i) d[i] = static_cast<T>(first + i * by);
  } else {
    for (int64_t i = 0; i < n; ++i) d[i] = static_cast<T>(CountAt(start, step, i));
  }
}

template <typename T>
void IotaComplex(void* dst, int64_t start, int64_t step, int64_t n) {
  Complex<T>* const d = static_cast<Complex<T>*>(dst);
  for (int64_t i = 0; i < n; ++i) d[i] = {static_cast<T>(CountAt(start, step, i)), T{0}};
}

template <typename T>
void FillSize(BlockKernels* k, int log2) {
  for (int type = 0; type < kNumCTypes; ++type) {
    if (kCTypeSize[type] == static_cast<int>(sizeof(T))) {
      Entry(k, BlockOp::kCopy, static_cast<CType>(type)) = Copy<T>;
    }
  }
  k->fill[log2] = FillBlock<T>;
  k->gather_stride[log2] = GatherStride<T>;
  k->scatter_stride[log2] = ScatterStride<T>;
  k->move_box[log2] = MoveBox<T>;
}

template <typename T>
PJRT_INLINE void SetIota(BlockKernels* k, IotaFn function) {
  k->iota[static_cast<int>(kCType<T>)] = function;
}

}  // namespace

void FillMove(BlockKernels* k) {
  FillSize<uint8_t>(k, 0);
  FillSize<uint16_t>(k, 1);
  FillSize<uint32_t>(k, 2);
  FillSize<uint64_t>(k, 3);
  typedef uint64_t Pair __attribute__((vector_size(16)));
  FillSize<Pair>(k, 4);
  k->copy_rows = CopyRows;
  k->stream_rows = StreamRows;
  k->stream_asking = StreamAsking;
  k->end_stream = [] { EndStream(); };
#if defined(__x86_64__)
  k->stores_read_lines = __builtin_cpu_is("intel");
#endif
  SetIota<int8_t>(k, IotaInteger<uint8_t>);
  SetIota<uint8_t>(k, IotaInteger<uint8_t>);
  SetIota<int16_t>(k, IotaInteger<uint16_t>);
  SetIota<uint16_t>(k, IotaInteger<uint16_t>);
  SetIota<int32_t>(k, IotaInteger<uint32_t>);
  SetIota<uint32_t>(k, IotaInteger<uint32_t>);
  SetIota<int64_t>(k, IotaInteger<uint64_t>);
  SetIota<uint64_t>(k, IotaInteger<uint64_t>);
  SetIota<float>(k, IotaFloat<float>);
  SetIota<double>(k, IotaFloat<double>);
  SetIota<C64>(k, IotaComplex<float>);
  SetIota<C128>(k, IotaComplex<double>);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
