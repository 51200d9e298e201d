// SPDX-License-Identifier: Apache-2.0
//
// Elements copied, filled, counted, gathered and scattered with a stride.
#include <cstring>

#include "src/cpu_device/kernels/anywhere.h"
#include "src/cpu_device/kernels/level-inl.h"
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
    for (int64_t i = 0; i < n; ++i) d[i] = s[i * stride];
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

// Rows of at most 2 * kHalf bytes and at least kHalf, as two pieces that may overlap.
template <int kHalf>
void CopyShortRows(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                   int64_t bytes, int64_t rows) {
  struct Piece {
    char bytes[kHalf];
  };
  for (int64_t r = 0; r < rows; ++r, dst += dst_stride, src += src_stride) {
    Piece first, last;
    __builtin_memcpy(&first, src, kHalf);
    __builtin_memcpy(&last, src + bytes - kHalf, kHalf);
    __builtin_memcpy(dst, &first, kHalf);
    __builtin_memcpy(dst + bytes - kHalf, &last, kHalf);
  }
}

// Rows of more than kLine bytes, a cache line at a time; the last piece overlaps the one before.
void CopyLineRows(char* dst, int64_t dst_stride, const char* src, int64_t src_stride, int64_t bytes,
                  int64_t rows) {
  struct Piece {
    char bytes[kLine];
  };
  for (int64_t r = 0; r < rows; ++r, dst += dst_stride, src += src_stride) {
    Piece piece;
    for (int64_t i = 0; i < bytes - kLine; i += kLine) {
      __builtin_memcpy(&piece, src + i, kLine);
      __builtin_memcpy(dst + i, &piece, kLine);
    }
    __builtin_memcpy(&piece, src + bytes - kLine, kLine);
    __builtin_memcpy(dst + bytes - kLine, &piece, kLine);
  }
}

void CopyRows(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t bytes,
              int64_t rows) {
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  if (bytes > 1024) {
    for (int64_t r = 0; r < rows; ++r)
      memcpy(d + r * dst_stride, s + r * src_stride, static_cast<size_t>(bytes));
  } else if (bytes > 128) {
    CopyLineRows(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes >= 64) {
    CopyShortRows<64>(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes >= 32) {
    CopyShortRows<32>(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes >= 16) {
    CopyShortRows<16>(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes >= 8) {
    CopyShortRows<8>(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes >= 4) {
    CopyShortRows<4>(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes >= 2) {
    CopyShortRows<2>(d, dst_stride, s, src_stride, bytes, rows);
  } else if (bytes == 1) {
    for (int64_t r = 0; r < rows; ++r) d[r * dst_stride] = s[r * src_stride];
  }
}

void StreamRows(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t bytes,
                int64_t rows) {
  if (bytes < 4 * kLine) {
    CopyRows(dst, dst_stride, src, src_stride, bytes, rows);
    return;
  }
  char* d = static_cast<char*>(dst);
  const char* s = static_cast<const char*>(src);
  for (int64_t r = 0; r < rows; ++r, d += dst_stride, s += src_stride) {
    // Up to the first whole line, whole lines, and what is left. A line is written in one way only:
    // one that is under way past the caches must not be fetched back.
    int64_t i = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(d) % kLine);
    CopyInLine(d, s, i);
    for (; i + kLine <= bytes; i += kLine) StreamLine(d + i, s + i);
    CopyInLine(d + i, s + i, bytes - i);
  }
  EndStream();
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
