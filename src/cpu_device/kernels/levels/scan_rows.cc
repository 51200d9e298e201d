// SPDX-License-Identifier: Apache-2.0
//
// Running sums and the like along lines whose elements are neighbours.
//
// The order of operations is that of the definition, so a line is one long chain of dependent
// operations; a vector of lines is folded at once, by squares that are transposed in registers on
// the way in and on the way out. Floats of 16 bits are turned by pairs and become f32 in between.
#include "src/cpu_device/kernels/fold-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/small_float-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/window-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// A cell is what is turned: an element,
template <typename T>
struct Single {
  using Stored = T;
  using Cell = T;
  using Number = T;
  static constexpr int kPerCell = 1;

  template <class Op, bool kReverse, typename V>
  PJRT_INLINE V Fold(V cells, V* running) {
    return *running = Op::Apply(*running, cells);
  }
  PJRT_INLINE T Load(T x) { return x; }
  PJRT_INLINE T Store(T x) { return x; }
};

// or two floats of 16 bits, the lower half before the upper one.
template <class Float>
struct Pair {
  using Stored = uint16_t;
  using Cell = uint32_t;
  using Number = float;
  static constexpr int kPerCell = 2;

  template <class Op, bool kReverse, typename P, typename V>
  PJRT_INLINE P Fold(P cells, V* running) {
    V low, high;
    Float::Split(cells, &low, &high);
    V& first = kReverse ? high : low;
    V& second = kReverse ? low : high;
    first = Op::Apply(*running, first);
    *running = second = Op::Apply(first, second);
    return Float::template Join<P>(low, high);
  }
  PJRT_INLINE float Load(uint16_t x) {
    float value;
    LoadFloat<typename Float::Format>(&value, &x);
    return value;
  }
  PJRT_INLINE uint16_t Store(float x) {
    uint16_t value;
    StoreFloat<typename Float::Format>(&value, &x);
    return value;
  }
};

struct Bf16 {
  using Format = bfloat16;
  template <typename P, typename V>
  PJRT_INLINE void Split(P cells, V* low, V* high) {
    *low = (V)(cells << 16);
    *high = (V)(cells & 0xffff0000u);
  }
  template <typename P, typename V>
  PJRT_INLINE P Join(V low, V high) {
    return (Rounded((P)low) >> 16) | (Rounded((P)high) & 0xffff0000u);
  }
  // The upper halves are the result. A NaN comes from an operand of 16 bits or is the processor's
  // own: quiet, and nothing in its lower half to round.
  template <typename P>
  PJRT_INLINE P Rounded(P bits) {
    return bits + (((bits >> 16) & 1) + 0x7fffu);
  }
};

#if defined(__F16C__)
struct F16 {
  using Format = half;
  static constexpr int kPairs = PJRT_VECTOR_BYTES / 4;
  typedef uint16_t Words __attribute__((vector_size(PJRT_VECTOR_BYTES)));
  typedef uint16_t Half __attribute__((vector_size(PJRT_VECTOR_BYTES / 2)));

  template <typename P, typename V>
  PJRT_INLINE void Split(P cells, V* low, V* high) {
    const auto halves = BitCast<TwoHalves>(LowsFirst((Words)cells, kAllWords));
    *low = Widen<V>(halves.low);
    *high = Widen<V>(halves.high);
  }
  template <typename P, typename V>
  PJRT_INLINE P Join(V low, V high) {
    return (P)InTurn(BitCast<Words>(TwoHalves{Narrow(low), Narrow(high)}), kAllWords);
  }

 private:
  struct TwoHalves {
    Half low, high;
  };
  static constexpr std::make_integer_sequence<int, 2 * kPairs> kAllWords{};
  template <int... k>
  PJRT_INLINE Words LowsFirst(Words words, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(words, words, (k % kPairs * 2 + k / kPairs)...);
  }
  template <int... k>
  PJRT_INLINE Words InTurn(Words words, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(words, words, (k % 2 * kPairs + k / 2)...);
  }
  template <typename V>
  PJRT_INLINE V Widen(Half x) {
#if defined(__AVX512F__)
    return (V)_mm512_cvtph_ps((__m256i)x);
#else
    return (V)_mm256_cvtph_ps((__m128i)x);
#endif
  }
  template <typename V>
  PJRT_INLINE Half Narrow(V x) {
#if defined(__AVX512F__)
    return (Half)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT);
#else
    return (Half)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
#endif
  }
};
#endif

// As many lines as a vector has cells, as many cells of each.
template <class Op, class Source>
struct Square {
  using Stored = typename Source::Stored;
  using Number = typename Source::Number;
  using Vector = Lanes<typename Source::Cell, PJRT_VECTOR_BYTES>;
  using Running = typename Lanes<Number, PJRT_VECTOR_BYTES>::Row;
  static constexpr int kLines = Vector::kSide;
  static constexpr int kElements = kLines * Source::kPerCell;

  // The first `cells` cells of each line alone are folded: kLines of them, or fewer if kPart.
  template <bool kReverse, bool kPart>
  PJRT_INLINE void Scan(Stored* out, const Stored* in, int64_t stride, int64_t cells,
                        Running* running) {
    typename Vector::Row rows[kLines];
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) __builtin_memcpy(&rows[i], in + i * stride, sizeof(rows[i]));
    TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows);
#pragma GCC unroll 16
    for (int k = 0; k < kLines; ++k) {
      const int i = kReverse ? kLines - 1 - k : k;
      if (!kPart || i < cells) rows[i] = Source::template Fold<Op, kReverse>(rows[i], running);
    }
    TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) __builtin_memcpy(out + i * stride, &rows[i], sizeof(rows[i]));
  }

  // Of lines with fewer cells than a square.
  template <bool kReverse>
  PJRT_INLINE void ScanPart(Stored* out, const Stored* in, int64_t stride, int64_t cells,
                            Running* running) {
    const int64_t bytes = cells * static_cast<int64_t>(sizeof(typename Source::Cell));
    alignas(PJRT_VECTOR_BYTES) Stored part[kLines * kElements] = {};
    for (int i = 0; i < kLines; ++i) CopyInLine(part + i * kElements, in + i * stride, bytes);
    Scan<kReverse, true>(part, part, kElements, cells, running);
    for (int i = 0; i < kLines; ++i) CopyInLine(out + i * stride, part + i * kElements, bytes);
  }
};

// One line.
template <class Op, class Source>
void ScanLine(typename Source::Stored* out, const typename Source::Stored* in,
              typename Source::Number* running, int64_t n, bool is_reverse) {
  typename Source::Number value = *running;
  if (is_reverse) {
    for (int64_t i = n; i-- > 0;)
      out[i] = Source::Store(value = Op::Run(value, Source::Load(in[i])));
  } else {
    for (int64_t i = 0; i < n; ++i)
      out[i] = Source::Store(value = Op::Run(value, Source::Load(in[i])));
  }
  *running = value;
}

// As many lines as a vector has cells.
template <class Op, class Source, bool kReverse>
void ScanVector(typename Source::Stored* out, const typename Source::Stored* in, int64_t stride,
                typename Source::Number* running, int64_t n) {
  using S = Square<Op, Source>;
  // Some cells more are turned as well where each element by itself takes longer.
  constexpr int64_t kFewCells = Source::kPerCell > 1 ? 3 : S::kLines;
  const int64_t whole = n / S::kElements * S::kElements;
  const int64_t cells = (n - whole) / Source::kPerCell;
  const int64_t turned = whole + (cells > kFewCells ? cells * Source::kPerCell : 0);
  const auto scan_rest = [&] {
    for (int l = 0; l < S::kLines; ++l) {
      ScanLine<Op, Source>(out + l * stride + turned, in + l * stride + turned, running + l,
                           n - turned, kReverse);
    }
  };
  if (kReverse) scan_rest();
  typename S::Running values;
  __builtin_memcpy(&values, running, sizeof(values));
  const auto scan_part = [&] {
    if (turned > whole)
      S::template ScanPart<kReverse>(out + whole, in + whole, stride, cells, &values);
  };
  if (kReverse) scan_part();
  for (int64_t i = 0; i < whole; i += S::kElements) {
    const int64_t at = kReverse ? whole - S::kElements - i : i;
    S::template Scan<kReverse, false>(out + at, in + at, stride, S::kLines, &values);
  }
  if (!kReverse) scan_part();
  __builtin_memcpy(running, &values, sizeof(values));
  if (!kReverse) scan_rest();
}

template <class Op, class Source>
void ScanRows(void* out, const void* in, int64_t stride, void* running, int64_t lines, int64_t n,
              bool is_reverse) {
  constexpr int kLines = Square<Op, Source>::kLines;
  auto* const d = static_cast<typename Source::Stored*>(out);
  const auto* const s = static_cast<const typename Source::Stored*>(in);
  auto* const r = static_cast<typename Source::Number*>(running);
  int64_t l = 0;
  for (; l + kLines <= lines; l += kLines) {
    (is_reverse ? ScanVector<Op, Source, true>
                : ScanVector<Op, Source, false>)(d + l * stride, s + l * stride, stride, r + l, n);
  }
  for (; l < lines; ++l) ScanLine<Op, Source>(d + l * stride, s + l * stride, r + l, n, is_reverse);
}

struct Scans {
  WindowKernels* kernels;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    kernels->scan_rows[static_cast<int>(monoid)][static_cast<int>(kCType<T>)] =
        ScanRows<Op, Single<R>>;
  }
};
template <class Float>
struct NarrowScans {
  ScanRowsFn* by_monoid;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    by_monoid[static_cast<int>(monoid)] = ScanRows<Op, Pair<Float>>;
  }
};

}  // namespace

void FillScans(WindowKernels* kernels) {
  const Scans scans{kernels};
  ForEachFoldOfWidth<int32_t, uint32_t>(scans);
  ForEachFoldOfWidth<int64_t, uint64_t>(scans);
  ForEachFoldOfFloat<float>(scans);
  ForEachFoldOfFloat<double>(scans);
  ForEachFoldOfFloat<float>(NarrowScans<Bf16>{kernels->scan_bf16_rows});
#if defined(__F16C__)
  ForEachFoldOfFloat<float>(NarrowScans<F16>{kernels->scan_f16_rows});
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
