// SPDX-License-Identifier: Apache-2.0
//
// Running sums and the like along lines whose elements are neighbours, and from one line to the
// next in floats of 16 bits.
//
// The order of operations is that of the definition, so a line is one long chain of dependent
// operations; a vector of lines is folded at once, by squares that are transposed in registers on
// the way in and on the way out. Floats of 16 bits are turned by pairs and become f32 in between.
#include "src/cpu_device/kernels/fold-inl.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/small_float-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/window-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr bool kStreams = PJRT_VECTOR_BYTES == kLine;

// A cell is what is turned: an element,
template <typename T>
struct Single {
  using Stored = T;
  using Cell = T;
  using Number = T;
  static constexpr int kPerCell = 1, kSideBySide = 1;

  template <class Op, bool kReverse, typename V>
  PJRT_INLINE V Fold(V cells, V* running) {
    return *running = Op::Apply(*running, cells);
  }
  template <class Op, typename V>
  PJRT_INLINE V FoldPart(V cells, V*) {
    return cells;
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
  static constexpr int kPerCell = 2, kSideBySide = Float::kSideBySide;

  template <class Op, bool kReverse, typename P, typename V>
  PJRT_INLINE P Fold(P cells, V* running) {
    V low, high;
    Float::Split(cells, &low, &high);
    const auto first = Float::Narrowed(Op::Apply(*running, kReverse ? high : low));
    const auto second =
        Float::Narrowed(Op::Apply(Float::template Widened<V>(first), kReverse ? low : high));
    *running = Float::template Widened<V>(second);
    return kReverse ? Float::template Join<P>(second, first)
                    : Float::template Join<P>(first, second);
  }
  // The lower half alone.
  template <class Op, typename P, typename V>
  PJRT_INLINE P FoldPart(P cells, V* running) {
    V low, high;
    Float::Split(cells, &low, &high);
    const auto only = Float::Narrowed(Op::Apply(*running, low));
    *running = Float::template Widened<V>(only);
    return Float::template Join<P>(only, Float::Narrowed(high));
  }
  // Those of a with those of b.
  template <class Op, typename V, typename P>
  PJRT_INLINE P FoldEach(P a, P b) {
    V a_low, a_high, b_low, b_high;
    Float::Split(a, &a_low, &a_high);
    Float::Split(b, &b_low, &b_high);
    return Float::template Join<P>(Float::Narrowed(Op::Apply(a_low, b_low)),
                                   Float::Narrowed(Op::Apply(a_high, b_high)));
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
  static constexpr int kSideBySide = 2;
  template <typename P, typename V>
  PJRT_INLINE void Split(P cells, V* low, V* high) {
    *low = (V)(cells << 16);
    *high = (V)(cells & 0xffff0000u);
  }
  // The upper halves are the result. A NaN comes from an operand of 16 bits or is the processor's
  // own: quiet, and nothing in its lower half to round.
  template <typename V>
  PJRT_INLINE V Narrowed(V x) {
    typedef uint32_t Bits __attribute__((vector_size(sizeof(V))));
    const Bits bits = (Bits)x;
    return (V)((bits + 0x7fffu + ((bits >> 16) & 1)) & 0xffff0000u);
  }
  template <typename V>
  PJRT_INLINE V Widened(V x) {
    return x;
  }
  template <typename P, typename V>
  PJRT_INLINE P Join(V low, V high) {
    return ((P)low >> 16) | (P)high;
  }
};

#if defined(__AVX512BW__)
struct F16 {
  using Format = half;
  static constexpr int kSideBySide = 4;
  static constexpr int kPairs = 16;
  typedef uint16_t Words __attribute__((vector_size(64)));
  typedef uint16_t Half __attribute__((vector_size(32)));

  template <typename P, typename V>
  PJRT_INLINE void Split(P cells, V* low, V* high) {
    const auto halves = BitCast<TwoHalves>(LowsFirst((Words)cells, kAllWords));
    *low = (V)_mm512_cvtph_ps((__m256i)halves.low);
    *high = (V)_mm512_cvtph_ps((__m256i)halves.high);
  }
  template <typename V>
  PJRT_INLINE Half Narrowed(V x) {
    return (Half)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT);
  }
  template <typename V>
  PJRT_INLINE V Widened(Half x) {
    return (V)_mm512_cvtph_ps((__m256i)x);
  }
  template <typename P>
  PJRT_INLINE P Join(Half low, Half high) {
    return (P)InTurn(low, high, kAllWords);
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
  PJRT_INLINE Words InTurn(Half low, Half high, std::integer_sequence<int, k...>) {
    return __builtin_shufflevector(low, high, (k % 2 * kPairs + k / 2)...);
  }
};
#elif defined(__F16C__)
struct F16 {
  using Format = half;
  static constexpr int kSideBySide = 4;

  template <typename P, typename V>
  PJRT_INLINE void Split(P cells, V* low, V* high) {
    // Lane by lane, four lower halves and four upper ones.
    const __m256i in_lanes = _mm256_packus_epi32((__m256i)(cells & 0xffff), (__m256i)(cells >> 16));
    const __m256i halves = _mm256_permute4x64_epi64(in_lanes, _MM_SHUFFLE(3, 1, 2, 0));
    *low = (V)_mm256_cvtph_ps(_mm256_castsi256_si128(halves));
    *high = (V)_mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1));
  }
  template <typename V>
  PJRT_INLINE __m128i Narrowed(V x) {
    return _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT);
  }
  template <typename V>
  PJRT_INLINE V Widened(__m128i x) {
    return (V)_mm256_cvtph_ps(x);
  }
  template <typename P>
  PJRT_INLINE P Join(__m128i low, __m128i high) {
    return (P)_mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high));
  }
};
#endif

// The first elements of lines that are shorter than a vector: where the level has them, by loads
// and stores that leave lanes out, since a vector that was stored in pieces is slow to load.
template <typename T, typename Row>
class Part {
 public:
#if defined(__AVX512BW__)
  static constexpr bool kIsQuick = true;

  PJRT_INLINE_MEMBER explicit Part(int64_t elements) : mask_((uint64_t{1} << elements) - 1) {}

  PJRT_INLINE_MEMBER Row Load(const T* from) const {
    if constexpr (sizeof(T) == 2)
      return (Row)_mm512_maskz_loadu_epi16(static_cast<__mmask32>(mask_), from);
    if constexpr (sizeof(T) == 4)
      return (Row)_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask_), from);
    if constexpr (sizeof(T) == 8)
      return (Row)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask_), from);
  }
  PJRT_INLINE_MEMBER void Store(T* to, Row row) const {
    if constexpr (sizeof(T) == 2)
      _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(mask_), (__m512i)row);
    if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(mask_), (__m512i)row);
    if constexpr (sizeof(T) == 8)
      _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(mask_), (__m512i)row);
  }

 private:
  const uint64_t mask_;
#else
  static constexpr bool kIsQuick = false;

  PJRT_INLINE_MEMBER explicit Part(int64_t elements)
      : bytes_(elements * static_cast<int64_t>(sizeof(T))) {}

  PJRT_INLINE_MEMBER Row Load(const T* from) const {
    Row row = {};
    CopyInLine<sizeof(Row)>(&row, from, bytes_);
    return row;
  }
  PJRT_INLINE_MEMBER void Store(T* to, Row row) const { CopyInLine<sizeof(Row)>(to, &row, bytes_); }

 private:
  const int64_t bytes_;
#endif
};

// Calls function(is_reverse) with a constant.
template <class Function>
PJRT_INLINE void InDirection(bool is_reverse, Function function) {
  if (is_reverse) {
    function(std::true_type());
  } else {
    function(std::false_type());
  }
}

// As many lines as a vector has cells, as many cells of each. Only the folding has code of its own
// for each direction: that to turn squares is most of it.
template <class Op, class Source>
struct Square {
  using Stored = typename Source::Stored;
  using Number = typename Source::Number;
  using Vector = Lanes<typename Source::Cell, PJRT_VECTOR_BYTES>;
  using Running = typename Lanes<Number, PJRT_VECTOR_BYTES>::Row;
  using LinePart = Part<Stored, typename Vector::Row>;
  static constexpr int kLines = Vector::kSide;
  static constexpr int kElements = kLines * Source::kPerCell;
  // Squares of a line that are asked for before they are read: more lines than a processor follows
  // by itself take turns. What is in the second cache, as results are that the kernel does not
  // stream, is asked for a square before: sums of f16 in rows of 300 took 0.30 ns an element there,
  // and take 0.23.
  static constexpr int kAhead = 3;

  // By value, here and below: gcc copies a vector from memory to memory by halves, or by general
  // registers. On a Zen 3 sums of 4 MiB of bf16 took 1.1 ms so and take 0.75.
  PJRT_INLINE typename Vector::Row LoadRow(const Stored* in) {
    typename Vector::Row row;
    __builtin_memcpy(&row, in, sizeof(row));
    return row;
  }
  // A vector that is a cache line can be streamed.
  PJRT_INLINE void StoreRow(Stored* out, typename Vector::Row row, bool streams) {
    if (kStreams && streams) {
      StreamLine(out, &row);
    } else {
      __builtin_memcpy(out, &row, sizeof(row));
    }
  }

  // What is written and asked for beside kSquares, in as many steps as they have vectors: the
  // processor has room for a dozen or so of lines that are under way, and computes nothing while
  // more wait.
  template <int kSquares>
  class SquareBeside {
   public:
    PJRT_INLINE_MEMBER explicit SquareBeside(const ScanStream& stream)
        : to_(stream.to),
          from_(stream.from),
          next_(stream.next),
          bytes_(stream.bytes < kMost ? stream.bytes & -int64_t{kLine} : kMost) {}

    PJRT_INLINE_MEMBER bool is_active() const { return bytes_ > 0; }
    PJRT_INLINE_MEMBER void Step(int i) const {
      const int64_t at = int64_t{i} * PJRT_VECTOR_BYTES;
      if (at % kLine != 0 || at >= bytes_) return;
      StreamLine(to_ + at, from_ + at);
      __builtin_prefetch(next_ + at, 0, 2);
    }
    PJRT_INLINE_MEMBER void End(ScanStream* stream) const {
      if (!is_active()) return;
      stream->to += bytes_;
      stream->from += bytes_;
      stream->next += bytes_;
      stream->bytes -= bytes_;
    }

   private:
    // Squares of the shortest vectors are less than a line.
    static constexpr int64_t kBytes = kSquares * kLines * PJRT_VECTOR_BYTES;
    static constexpr int64_t kMost = kBytes < kLine ? int64_t{kLine} : kBytes;
    char* const to_;
    const char *const from_, *const next_;
    const int64_t bytes_;
  };

  PJRT_INLINE void Scan(Stored* out, int64_t out_stride, const Stored* in, int64_t in_stride,
                        Running* running, bool is_reverse, ScanStream* stream) {
    const SquareBeside<1> beside(*stream);
    typename Vector::Row rows[kLines];
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) rows[i] = LoadRow(in + i * in_stride);
    TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows);
    InDirection(
        is_reverse, [&](auto reverse) __attribute__((always_inline)) {
#pragma GCC unroll 16
          for (int k = 0; k < kLines; ++k) {
            const int i = reverse ? kLines - 1 - k : k;
            rows[i] = Source::template Fold<Op, reverse>(rows[i], running);
            if (beside.is_active()) beside.Step(k);
          }
        });
    TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) StoreRow(out + i * out_stride, rows[i], stream->results);
    beside.End(stream);
  }

  // Squares of different lines, whose chains of operations run side by side: four make sums of f16
  // 0.47 -> 0.22 ns an element in the cache, two those of bf16 0.24 -> 0.21. They pass through
  // memory: registers hold one.
  template <int kSquares>
  PJRT_INLINE void ScanSeveral(Stored* out, int64_t out_stride, const Stored* in, int64_t in_stride,
                               Running* running, bool is_reverse, ScanStream* stream) {
    const bool streams = kStreams && stream->results;
    const SquareBeside<kSquares> beside(*stream);
    const int64_t next = is_reverse ? -kElements : kElements;
    const Stored* const ahead = in + kAhead * next;
    typename Vector::Row rows[kSquares][kLines];
#pragma GCC unroll 1
    for (int g = 0; g < kSquares; ++g) {
#pragma GCC unroll 16
      for (int i = 0; i < kLines; ++i) rows[g][i] = LoadRow(in + (g * kLines + i) * in_stride);
      TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows[g]);
    }
    const Stored* const in_soon = in + next;
    const Stored* const out_soon = out + next;
    const auto fold = [&](auto is_beside, auto is_kept) __attribute__((always_inline)) {
      InDirection(
          is_reverse, [&](auto reverse) __attribute__((always_inline)) {
#pragma GCC unroll 1
            for (int k = 0; k < kLines; ++k) {
              const int i = reverse ? kLines - 1 - k : k;
#pragma GCC unroll 4
              for (int g = 0; g < kSquares; ++g) {
                rows[g][i] = Source::template Fold<Op, reverse>(rows[g][i], &running[g]);
                const int step = k * kSquares + g;
                if constexpr (is_beside) {
                  beside.Step(step);
                  __builtin_prefetch(in_soon + step * in_stride, 0, 3);
                } else {
                  __builtin_prefetch(ahead + step * in_stride, 0, 2);
                }
                if constexpr (is_kept) __builtin_prefetch(out_soon + step * out_stride, 1, 3);
              }
            }
          });
    };
    if (beside.is_active()) {
      fold(std::true_type(), std::true_type());
    } else if (streams) {
      fold(std::false_type(), std::false_type());
    } else {
      fold(std::false_type(), std::true_type());
    }
#pragma GCC unroll 1
    for (int g = 0; g < kSquares; ++g) {
      TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows[g]);
#pragma GCC unroll 16
      for (int i = 0; i < kLines; ++i)
        StoreRow(out + (g * kLines + i) * out_stride, rows[g][i], streams);
    }
    beside.End(stream);
  }

  // Of lines with fewer elements than a square.
  PJRT_INLINE void ScanPart(Stored* out, int64_t out_stride, const Stored* in, int64_t in_stride,
                            int64_t elements, Running* running, bool is_reverse,
                            ScanStream* stream) {
    const LinePart part(elements);
    const SquareBeside<1> beside(*stream);
    const int64_t cells = elements / Source::kPerCell;
    const bool has_part = elements % Source::kPerCell != 0;
    typename Vector::Row rows[kLines];
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) rows[i] = part.Load(in + i * in_stride);
    TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows);
    InDirection(
        is_reverse, [&](auto reverse) __attribute__((always_inline)) {
#pragma GCC unroll 16
          for (int k = 0; k < kLines; ++k) {
            const int i = reverse ? kLines - 1 - k : k;
            if (i < cells) {
              rows[i] = Source::template Fold<Op, reverse>(rows[i], running);
            } else if (i == cells && has_part) {
              rows[i] = Source::template FoldPart<Op>(rows[i], running);
            }
            if (beside.is_active()) beside.Step(k);
          }
        });
    TransposeRows<typename Source::Cell, PJRT_VECTOR_BYTES>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) part.Store(out + i * out_stride, rows[i]);
    beside.End(stream);
  }
};

// One line.
template <class Op, class Source>
PJRT_INLINE void FoldElement(typename Source::Stored* out, const typename Source::Stored* in,
                             typename Source::Number* running) {
  *out = Source::Store(Op::Run(*running, Source::Load(*in)));
  *running = Source::Load(*out);
}
template <class Op, class Source>
void ScanLine(typename Source::Stored* out, const typename Source::Stored* in,
              typename Source::Number* running, int64_t n, bool is_reverse) {
  typename Source::Number value = *running;
  if (is_reverse) {
    for (int64_t i = n; i-- > 0;) FoldElement<Op, Source>(out + i, in + i, &value);
  } else {
    for (int64_t i = 0; i < n; ++i) FoldElement<Op, Source>(out + i, in + i, &value);
  }
  *running = value;
}

// As many lines as kVectors vectors have cells.
template <class Op, class Source, int kVectors>
void ScanVectors(typename Source::Stored* out, int64_t out_stride,
                 const typename Source::Stored* in, int64_t in_stride,
                 typename Source::Number* running, int64_t n, bool is_reverse, ScanStream* stream) {
  using S = Square<Op, Source>;
  // Some elements more are turned as well where each by itself takes longer.
  constexpr int64_t kFew = S::LinePart::kIsQuick ? 2 : Source::kPerCell > 1 ? 7 : S::kElements;
  const int64_t whole = n / S::kElements * S::kElements;
  const int64_t turned = n - whole > kFew ? n : whole;
  const auto scan_rest = [&] {
    for (int l = 0; l < kVectors * S::kLines; ++l) {
      ScanLine<Op, Source>(out + l * out_stride + turned, in + l * in_stride + turned, running + l,
                           n - turned, is_reverse);
    }
  };
  if (is_reverse) scan_rest();
  typename S::Running values[kVectors];
  __builtin_memcpy(values, running, sizeof(values));
  const auto scan_part = [&] {
    if constexpr (kFew < S::kElements) {
      for (int g = 0; turned > whole && g < kVectors; ++g) {
        const int64_t line = g * S::kLines;
        S::ScanPart(out + line * out_stride + whole, out_stride, in + line * in_stride + whole,
                    in_stride, n - whole, &values[g], is_reverse, stream);
      }
    }
  };
  if (is_reverse) scan_part();
  const int64_t step = is_reverse ? -S::kElements : S::kElements;
  int64_t at = is_reverse ? whole - S::kElements : 0;
  for (int64_t i = 0; i < whole; i += S::kElements, at += step) {
    if constexpr (kVectors > 1) {
      S::template ScanSeveral<kVectors>(out + at, out_stride, in + at, in_stride, values,
                                        is_reverse, stream);
    } else {
      S::Scan(out + at, out_stride, in + at, in_stride, values, is_reverse, stream);
    }
  }
  if (!is_reverse) scan_part();
  __builtin_memcpy(running, values, sizeof(values));
  if (!is_reverse) scan_rest();
}

// Those of the first `lines` that make blocks of kVectors vectors; the rest for fewer.
template <class Op, class Source, int kVectors>
void ScanBlocks(typename Source::Stored* out, int64_t out_stride, const typename Source::Stored* in,
                int64_t in_stride, typename Source::Number* running, int64_t lines, int64_t n,
                bool is_reverse, ScanStream* stream) {
  constexpr int kLines = Square<Op, Source>::kLines * kVectors;
  for (; lines >= kLines; lines -= kLines) {
    ScanVectors<Op, Source, kVectors>(out, out_stride, in, in_stride, running, n, is_reverse,
                                      stream);
    out += kLines * out_stride;
    in += kLines * in_stride;
    running += kLines;
  }
  if constexpr (kVectors > 1) {
    ScanBlocks<Op, Source, kVectors / 2>(out, out_stride, in, in_stride, running, lines, n,
                                         is_reverse, stream);
  } else {
    for (int64_t l = 0; l < lines; ++l)
      ScanLine<Op, Source>(out + l * out_stride, in + l * in_stride, running + l, n, is_reverse);
  }
}
template <class Op, class Source>
void ScanRows(void* out, int64_t out_stride, const void* in, int64_t in_stride, void* running,
              int64_t lines, int64_t n, bool is_reverse, ScanStream* stream) {
  using Stored = typename Source::Stored;
  ScanStream none;
  if (stream == nullptr) stream = &none;
  ScanBlocks<Op, Source, Source::kSideBySide>(
      static_cast<Stored*>(out), out_stride, static_cast<const Stored*>(in), in_stride,
      static_cast<typename Source::Number*>(running), lines, n, is_reverse, stream);
}

// Element by element, without a third operand.
template <class Op, class Source>
void FoldElements(void* out, const void* a, const void* b, const void*, int64_t n) {
  using S = Square<Op, Source>;
  using Row = typename S::Vector::Row;
  using Stored = typename Source::Stored;
  auto* const d = static_cast<Stored*>(out);
  const auto* const x = static_cast<const Stored*>(a);
  const auto* const y = static_cast<const Stored*>(b);
  int64_t i = 0;
  for (; i + S::kElements <= n; i += S::kElements) {
    Row left, right;
    __builtin_memcpy(&left, x + i, sizeof(left));
    __builtin_memcpy(&right, y + i, sizeof(right));
    const Row folded = Source::template FoldEach<Op, typename S::Running>(left, right);
    __builtin_memcpy(d + i, &folded, sizeof(folded));
  }
  for (; i < n; ++i) d[i] = Source::Store(Op::Run(Source::Load(x[i]), Source::Load(y[i])));
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
  ScanRowsFn* rows;
  BlockFn* folds;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    rows[static_cast<int>(monoid)] = ScanRows<Op, Pair<Float>>;
    folds[static_cast<int>(monoid)] = FoldElements<Op, Pair<Float>>;
  }
};

}  // namespace

void FillScans(WindowKernels* kernels) {
  kernels->scans_stream = kStreams;
  const Scans scans{kernels};
  ForEachFoldOfWidth<int32_t, uint32_t>(scans);
  ForEachFoldOfWidth<int64_t, uint64_t>(scans);
  ForEachFoldOfFloat<float>(scans);
  ForEachFoldOfFloat<double>(scans);
  ForEachFoldOfFloat<float>(NarrowScans<Bf16>{kernels->scan_bf16_rows, kernels->fold_bf16});
#if defined(__F16C__)
  ForEachFoldOfFloat<float>(NarrowScans<F16>{kernels->scan_f16_rows, kernels->fold_f16});
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
