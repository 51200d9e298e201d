// SPDX-License-Identifier: Apache-2.0
//
// Writing past the caches: for results much larger than they are, which need not be read before
// they are written and would only push out what is of use. Only files in levels/ include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_STREAM_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_STREAM_INL_H_

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

constexpr int kLine = 64;

// Writes the 64 bytes at src to the cache line at dst.
PJRT_INLINE void StreamLine(void* dst, const void* src) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(dst), _mm512_loadu_si512(src));
#elif defined(__AVX__)
  for (int i = 0; i < 2; ++i) {
    _mm256_stream_si256(static_cast<__m256i*>(dst) + i,
                        _mm256_loadu_si256(static_cast<const __m256i*>(src) + i));
  }
#elif defined(__SSE2__)
  for (int i = 0; i < 4; ++i) {
    _mm_stream_si128(static_cast<__m128i*>(dst) + i,
                     _mm_loadu_si128(static_cast<const __m128i*>(src) + i));
  }
#else
  __builtin_memcpy(dst, src, kLine);
#endif
}

// What a function is given in the place of its third operand.
const Beside kNothingBeside = {};
PJRT_INLINE const Beside& BesideOf(const void* c) {
  return c != nullptr ? *static_cast<const Beside*>(c) : kNothingBeside;
}
// The lines that the next `kBytes` fill or begin, if there are so many: a few at a time, since a
// processor has room for a dozen or so that are under way.
template <int64_t kBytes>
PJRT_INLINE void GoOn(const Beside& beside) {
  const int64_t from = beside.done, to = from + (kBytes + kLine - 1) / kLine * kLine;
  if (to > beside.bytes) return;
  beside.done = to;
  for (int64_t i = from; i < to; i += kLine) StreamLine(beside.to + i, beside.from + i);
  for (const char* asked : beside.asked) {
    if (asked == nullptr) continue;
    for (int64_t i = from; i < to; i += kLine) {
      __builtin_prefetch(asked + i, 0);
      __builtin_prefetch(asked + i + beside.far, 0, 2);
    }
  }
}
// Of two steps the first one's part in whole lines; the second one has the rest. Twice as many as
// there are would be written in bursts: signs of c64 took 35 ms instead of 31 for 256 MiB.
template <int64_t kBytes>
constexpr int64_t kFirstHalf = kBytes / (2 * kLine) * kLine;

// After the last line: what was written is seen before what the thread writes next.
PJRT_INLINE void EndStream() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// At most kMost bytes, a whole line or a vector, by two pieces of known size that may overlap.
template <int64_t kMost = kLine>
PJRT_INLINE void CopyInLine(void* to, const void* from, int64_t bytes) {
  char* const d = static_cast<char*>(to);
  const char* const s = static_cast<const char*>(from);
  if (kMost == kLine && bytes == kLine) {
    __builtin_memcpy(d, s, kLine);
  } else if (kMost >= 32 && bytes >= 32) {
    __builtin_memcpy(d, s, 32);
    __builtin_memcpy(d + bytes - 32, s + bytes - 32, 32);
  } else if (bytes >= 16) {
    __builtin_memcpy(d, s, 16);
    __builtin_memcpy(d + bytes - 16, s + bytes - 16, 16);
  } else if (bytes >= 8) {
    __builtin_memcpy(d, s, 8);
    __builtin_memcpy(d + bytes - 8, s + bytes - 8, 8);
  } else if (bytes >= 4) {
    __builtin_memcpy(d, s, 4);
    __builtin_memcpy(d + bytes - 4, s + bytes - 4, 4);
  } else {
    for (int64_t i = 0; i < bytes; ++i) d[i] = s[i];
  }
}

// Any number of bytes: up to the first whole line, whole lines by `stream(to, from, bytes)`, and
// what is left. A line is written in one way only: one that is under way past the caches must not
// be fetched back.
template <class StreamLines>
PJRT_INLINE void StreamBytesBy(StreamLines stream, char* to, const char* from, int64_t bytes) {
  if (const int64_t whole = -reinterpret_cast<intptr_t>(to) & (kLine - 1); whole > 0) {
    const int64_t n = whole < bytes ? whole : bytes;
    CopyInLine(to, from, n);
    to += n;
    from += n;
    bytes -= n;
  }
  const int64_t rest = bytes & (kLine - 1);
  bytes -= rest;
  stream(to, from, bytes);
  if (rest > 0) CopyInLine(to + bytes, from + bytes, rest);
}
PJRT_INLINE void StreamBytes(char* to, const char* from, int64_t bytes) {
  const auto lines = [](char* d, const char* s, int64_t n) {
    for (int64_t i = 0; i < n; i += kLine) StreamLine(d + i, s + i);
  };
  StreamBytesBy(lines, to, from, bytes);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_STREAM_INL_H_
