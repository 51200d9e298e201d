// SPDX-License-Identifier: Apache-2.0
//
// The instructions of a loop program: what they compute on one element, and the shape of the
// functions that compute them on a block of elements. Kernels know nothing of programs: pointers
// and counts come in, values go out.
//
// Values live in one of 13 compute types. Every other element type of StableHLO is stored in memory
// only: it is converted to its compute type when loaded and back when stored (BlockKernels::load
// and store). f16, bf16 and all f8, f6, f4 types compute in f32; s1, s2, s4 in s8; u1, u2, u4 in
// u8. Rounding or wrapping to the narrow type between two instructions is BlockKernels::round_to.
//
// What is computed: f32 functions are within 1.5 ULP of the exact result over all inputs (erfc
// within 3), f64 ones within 2, complex ones within 3 per part except where a part nearly
// cancels. A kernel gives the same bits wherever an element stands and whatever n is. The levels
// give the same bits for everything but the mathematical functions, where a level without fused
// multiply-add may differ in the last place.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_BLOCK_OPS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_BLOCK_OPS_H_

#include <cstdint>

namespace pjrt {
enum PrimitiveType : uint8_t;
}

namespace pjrt::cpu {

// Memory types with functions of their own (BlockKernels::narrow).
enum class NarrowType : uint8_t {
  kBf16,
  kF16,
  kF8E5M2,
  kF8E4M3,
  kF8E3M4,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kF8E4M3B11FNUZ,
  kF8E8M0FNU,
  kF6E2M3FN,
  kF6E3M2FN,
  kF4E2M1FN,
};
inline constexpr int kNumNarrowTypes = 13;

// kPrimitiveTypeLimit. Kernel sources do without the header of PrimitiveType, which is heavy.
inline constexpr int kNumMemoryTypes = 37;

enum class CType : uint8_t {
  kPred,
  kS8,
  kU8,
  kS16,
  kU16,
  kS32,
  kU32,
  kS64,
  kU64,
  kF32,
  kF64,
  kC64,
  kC128,
};
inline constexpr int kNumCTypes = 13;
// Bytes of an element: 1 1 1 2 2 4 4 8 8 4 8 8 16. kPred is a byte, 0 or 1.
inline constexpr int kCTypeSize[kNumCTypes] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};

// X(name): operands all of the instruction's type, result of the same type unless noted. "ints" are
// kS8 to kU64, "floats" kF32 and kF64, "complex" kC64 and kC128. Integers wrap around. Division by
// zero gives -1 (all ones), INT_MIN / -1 gives INT_MIN, x rem 0 is x, INT_MIN rem -1 is 0.
//
// Unary:
#define PJRT_UNARY_BLOCK_OPS(X)                                                                 \
  X(Copy)      /* all */                                                                        \
  X(Negate)    /* ints, floats, complex */                                                      \
  X(Not)       /* pred (logical), ints (bitwise) */                                             \
  X(Abs)       /* signed ints (INT_MIN stays), floats; complex -> its part type, no overflow */ \
  X(Sign)      /* signed ints; floats: NaN stays, +-0 stays; complex z/|z|, 0 for 0 */          \
  X(Popcnt)    /* ints */                                                                       \
  X(Clz)       /* ints */                                                                       \
  X(Real)      /* complex -> part */                                                            \
  X(Imag)      /* complex -> part */                                                            \
  X(Conj)      /* complex */                                                                    \
  X(IsFinite)  /* floats -> pred */                                                             \
  X(Ceil)      /* floats */                                                                     \
  X(Floor)     /* floats */                                                                     \
  X(RoundAfz)  /* floats, halves away from zero */                                              \
  X(RoundEven) /* floats, halves to even */                                                     \
  X(Sqrt)      /* floats (correctly rounded), complex */                                        \
  X(Rsqrt)     /* floats, complex */                                                            \
  X(Cbrt)      /* floats, complex */                                                            \
  X(Exp)       /* floats, complex: these and the following too */                               \
  X(Expm1)                                                                                      \
  X(Log)                                                                                        \
  X(Log1p)                                                                                      \
  X(Logistic)                                                                                   \
  X(Tanh)                                                                                       \
  X(Sin)                                                                                        \
  X(Cos)                                                                                        \
  X(Tan)                                                                                        \
  X(Erf) /* floats: these too */                                                                \
  X(Erfc)                                                                                       \
  X(RoundOdd) /* ints of 4 and 8 bytes, f64 -> f32: of the two numbers beside one, the odd one */
// Binary:
#define PJRT_BINARY_BLOCK_OPS(X)                                                                 \
  X(Add)       /* pred (or), ints, floats, complex */                                            \
  X(Subtract)  /* ints, floats, complex */                                                       \
  X(Multiply)  /* pred (and), ints, floats, complex */                                           \
  X(Divide)    /* ints (towards zero), floats, complex */                                        \
  X(Remainder) /* ints, floats (exact fmod, sign of the dividend) */                             \
  X(Maximum)   /* pred (or), ints; floats: NaN wins, -0 < +0; complex lexicographic (re, im) */  \
  X(Minimum)   /* likewise */                                                                    \
  X(Power)     /* ints (exponent < 0: 0 unless |base| = 1), floats, complex */                   \
  X(Atan2)     /* floats, complex */                                                             \
  X(And)       /* pred, ints */                                                                  \
  X(Or)        /* pred, ints */                                                                  \
  X(Xor)       /* pred, ints */                                                                  \
  X(ShiftLeft) /* ints: amount read as unsigned, >= width gives 0 */                             \
  X(ShiftRightLogical)    /* ints, likewise */                                                   \
  X(ShiftRightArithmetic) /* ints: >= width gives all sign bits (of the bits read as signed) */  \
  X(Complex)   /* f32 -> c64, f64 -> c128: operands and the entry's type are the parts' */       \
  X(CompareEq) /* pred, ints, floats, complex -> pred; IEEE: NaN is unequal */                   \
  X(CompareNe)                                                                                   \
  X(CompareLt) /* pred, ints, floats; complex lexicographic */                                   \
  X(CompareLe)                                                                                   \
  X(CompareGt)                                                                                   \
  X(CompareGe)                                                                                   \
  X(TotalEq) /* floats: total order, -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN, by bits */ \
  X(TotalLt)                                                                                     \
  X(TotalLe)                                                                                     \
  X(NarrowPower) /* f32: good enough for results that are rounded to f16 or less */              \
  X(NarrowAtan2) /* likewise */
// Ternary:
#define PJRT_TERNARY_BLOCK_OPS(X)         \
  X(Select) /* all: first operand pred */ \
  X(Clamp)  /* pred, ints, floats, complex: min(max(x, lo), hi), operands in the order lo, x, hi */

enum class BlockOp : uint8_t {
#define PJRT_X(name) k##name,
  PJRT_UNARY_BLOCK_OPS(PJRT_X) PJRT_BINARY_BLOCK_OPS(PJRT_X) PJRT_TERNARY_BLOCK_OPS(PJRT_X)
#undef PJRT_X
};
#define PJRT_X(name) +1
inline constexpr int kNumUnaryBlockOps = 0 PJRT_UNARY_BLOCK_OPS(PJRT_X);
inline constexpr int kNumBinaryBlockOps = 0 PJRT_BINARY_BLOCK_OPS(PJRT_X);
inline constexpr int kNumTernaryBlockOps = 0 PJRT_TERNARY_BLOCK_OPS(PJRT_X);
#undef PJRT_X
inline constexpr int kNumBlockOps = kNumUnaryBlockOps + kNumBinaryBlockOps + kNumTernaryBlockOps;

// So much does not stay in a cache, and is written past it.
inline constexpr int64_t kStreamBytes = int64_t{16} << 20;

// dst[i] = op(a[i], b[i], c[i]) for i < n. Unused operands are null, but for a Beside in the place
// of the third one, which only functions of BlockKernels::works_beside look at. dst may equal an
// operand of the same element size (in place); otherwise dst overlaps no operand. Pointers are
// aligned to their element size at least. n >= 0. The result of an element does not depend on n or
// on where in the block it stands.
using BlockFn = void (*)(void* dst, const void* a, const void* b, const void* c, int64_t n);

// Which operands are one element for the whole block instead of n.
enum class Scalars : uint8_t {
  kNone,    // all operands are blocks
  kFirst,   // a is one element
  kSecond,  // b is one element
  kBoth,    // kSelect only: b and c are one element each
  kThird,   // kSelect only: c is one element
  kBounds,  // kClamp only: a and c are one element each
};
inline constexpr int kNumScalars = 6;

// The monoids with a vectorised reduction.
enum class Monoid : uint8_t { kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, kXor };
inline constexpr int kNumMonoids = 7;
// The operation of a monoid on two elements.
constexpr BlockOp MonoidOp(Monoid monoid) {
  constexpr BlockOp kOps[kNumMonoids] = {BlockOp::kAdd,     BlockOp::kMultiply, BlockOp::kMaximum,
                                         BlockOp::kMinimum, BlockOp::kAnd,      BlockOp::kOr,
                                         BlockOp::kXor};
  return kOps[static_cast<int>(monoid)];
}

// Reduces `rows` runs of `n` contiguous elements: out[r] = a[r*n] op a[r*n+1] op ..., n >= 1. The
// order is a tree that depends on n alone and is the same at every level: of 32 lanes, lane j takes
// elements j, j + 32, j + 64, ... in order; then lanes 16 apart combine, then 8, 4, 2, 1. n < 32
// uses the first n lanes, and a lane without a partner stays as it is.
using ReduceRowsFn = void (*)(void* out, const void* a, int64_t rows, int64_t n);

// Conversion between a memory type and a compute type on contiguous elements, or between two
// compute types (StableHLO convert: float to int truncates towards zero and saturates, NaN to 0;
// int to int wraps; anything to pred is x != 0; complex to real drops the imaginary part; float to
// float rounds to nearest even, once).
using ConvertFn = void (*)(void* dst, const void* src, int64_t n);

// dst[i] = src[i * stride] for i < n: elements of 1, 2, 4, 8, 16 bytes, aligned or not, as below.
using GatherStrideFn = void (*)(void* dst, const void* src, int64_t stride, int64_t n);
// dst[i * stride] = src[i].
using ScatterStrideFn = void (*)(void* dst, const void* src, int64_t stride, int64_t n);
// dst[i] = value (one element at src) for i < n.
using FillFn = void (*)(void* dst, const void* src, int64_t n);
// dst[i] = start + i * step, wrapped to the compute type (ints), or that integer converted to it
// (floats, complex).
using IotaFn = void (*)(void* dst, int64_t start, int64_t step, int64_t n);
// Rows x cols transpose of elements of one size: dst[c * dst_stride + r] = src[r * src_stride + c],
// strides in elements. The elements need not be aligned.
using Transpose2dFn = void (*)(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                               int64_t rows, int64_t cols);
// The same; the rows of src that are transposed next begin at `next`, unless it is null.
using StreamTranspose2dFn = void (*)(void* dst, int64_t dst_stride, const void* src,
                                     int64_t src_stride, int64_t rows, int64_t cols,
                                     const void* next);
// The same for matrices much larger than the caches (stream_transpose.h), one after the other: what
// the next call with this scratch transposes is `next`, unless it is null. Of elements of 1, 2 and
// 4 bytes: a line of larger ones is so few that they need no more than stream_transpose_2d.
struct StreamedMatrix;
struct StreamTransposeScratch;
using StreamTransposeFn = void (*)(const StreamedMatrix& matrix, const StreamedMatrix* next,
                                   StreamTransposeScratch* scratch);
// The same for elements of 3 to 7 bytes: the one at src[r * src_stride + c * bytes] goes to
// dst[c * dst_stride + r * bytes], strides in bytes.
using TransposeShortFn = void (*)(void* dst, int64_t dst_stride, const void* src,
                                  int64_t src_stride, int64_t rows, int64_t cols, int64_t bytes);

// A box of elements: dst[r * dst_row + c * dst_col] = src[r * src_row + c * src_col], strides in
// elements, of any sign, 0 in src only. No element of dst is one of src.
using MoveBoxFn = void (*)(void* dst, int64_t dst_row, int64_t dst_col, const void* src,
                           int64_t src_row, int64_t src_col, int64_t rows, int64_t cols);

// Rows of `bytes` contiguous bytes, copied one after the other; strides in bytes, of any sign.
using CopyRowsFn = void (*)(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                            int64_t bytes, int64_t rows);
// Memory to be asked for while something else is written: for each line written `step` bytes more,
// from `next` on, and into the second cache those `far` bytes further on, unless that is 0 for all.
struct AskedMemory {
  const char* next;
  int64_t far, step;
};
// Writes bytes past the caches, asks for parts of at most kMostAsked arrays, and moves their `next`
// behind these.
constexpr int64_t kMostAsked = 8;
using StreamAskingFn = void (*)(void* dst, const void* src, int64_t bytes, AskedMemory* asked,
                                int64_t count);

// What a function that computes for longer than memory takes does beside: it writes `bytes`, whole
// cache lines, from `from` on to `to`, past the caches, and asks for as many at each of `asked`
// that is not null, and into the second cache for those `far` bytes further on. `done` is how many
// it came to; the caller does the others.
struct Beside {
  char* to;
  const char* from;
  const char* asked[2];
  int64_t far, bytes;
  mutable int64_t done;
};

// Turns a tile (turned_tile.h) of elements of one size and writes it; reads `next` meanwhile and
// asks for what is read after it. Tiles follow each other with the same scratch.
struct TurnedTile;
struct TurnScratch;
using TurnTileFn = void (*)(const TurnedTile& tile, const TurnedTile& next, const TurnedTile& after,
                            TurnScratch* scratch);

// Runs chains (chain_ops.h).
struct ChainInstr;
struct ChainRows;
using ChainFn = void (*)(const ChainInstr* code, char* const* slots, int64_t groups);
using ChainRestFn = void (*)(const ChainInstr* code, char* const* slots, int64_t from, int64_t n);
using ChainRowsFn = void (*)(const ChainInstr* code, char* const* slots, const ChainRows* rows,
                             int64_t groups);

// One kernel level's functions. Entries are null for combinations that StableHLO does not have, and
// for scalar-operand forms that are not worth having (the engine then fills a block).
struct BlockKernels {
  const char* level;  // "baseline", "avx2", "avx512", "neon"
  BlockFn op[kNumBlockOps][kNumCTypes][kNumScalars];
  bool works_beside[kNumBlockOps][kNumCTypes];  // functions of one or two operands of its type
  ReduceRowsFn reduce_rows[kNumMonoids][kNumCTypes];
  ConvertFn convert[kNumCTypes][kNumCTypes];  // [to][from]
  // Memory type to compute type, and back: rounded once (floats) or wrapped (ints). Null where both
  // are the same bits.
  ConvertFn load[kNumMemoryTypes];
  ConvertFn store[kNumMemoryTypes];
  // Compute type to itself through the memory type: the value that a store followed by a load
  // gives. Null where that changes nothing.
  ConvertFn round_to[kNumMemoryTypes];
  // Packed elements of 1, 2 and 4 bits, by log2 of these, to a byte each, [true] with their signs,
  // and the low bits of bytes back. The first of n elements begins a byte; bits left over become 0.
  ConvertFn unpack[3][2];
  ConvertFn pack[3];
  // dst[i] = b[a[i]] on bytes, for a table b of 256 of them, and on 16-bit words, for one of
  // 65,536; in place, too. By log2 of the element size.
  BlockFn look_up[2];
  // What takes longer than this by ElementCostNs (loop_program.h), which is about other levels,
  // takes longer than looking up.
  double look_up_ns[2];
  // Of narrow floats in memory, operations without the way through blocks of f32: the bits that
  // load, op[...][kF32] and store give, for each element; comparisons give predicates. Null where
  // there is nothing quicker. Binary ones have the forms up to kSecond; an operand that is one
  // element for all is one of f32 where the type is bf16 or f16, and of the type where it is less.
  BlockFn narrow[kNumNarrowTypes][kNumUnaryBlockOps];
  BlockFn narrow_binary[kNumNarrowTypes][kNumBinaryBlockOps][3];
  // reduce_precision for f32 and f64.
  void (*reduce_precision_f32)(float* dst, const float* a, int exponent_bits, int mantissa_bits,
                               int64_t n);
  void (*reduce_precision_f64)(double* dst, const double* a, int exponent_bits, int mantissa_bits,
                               int64_t n);
  GatherStrideFn gather_stride[5];  // by log2 of the element size
  ScatterStrideFn scatter_stride[5];
  MoveBoxFn move_box[5];
  FillFn fill[5];
  IotaFn iota[kNumCTypes];
  Transpose2dFn transpose_2d[5];
  TransposeShortFn transpose_short;
  TurnTileFn turn_tile[5];
  // Bytes of the vectors of which they put small blocks together, 0 where they do not, and the most
  // that such a block has.
  int64_t shuffle_bytes, largest_block;
  // Whether tiles may be streamed by columns.
  bool streams_columns;
  CopyRowsFn copy_rows;
  // The same for targets much larger than the caches, which are written past them. After the last
  // of them end_stream makes what they wrote seen before what the thread writes next.
  StreamTranspose2dFn stream_transpose_2d[5];
  StreamTransposeFn stream_transpose[3];
  CopyRowsFn stream_rows;
  StreamAskingFn stream_asking;
  void (*end_stream)();
  // Whether the processor reads a line of memory before it writes it even where all of it is
  // written (Intel's do), so that other results than copies are written past the caches, too.
  bool stores_read_lines;
  // By compute type; types of 4 and 8 bytes that are not complex have one, others null. A group is
  // chain_group_bytes of elements.
  ChainFn chain[kNumCTypes];
  int chain_group_bytes;
  int chain_vector_bytes;
  // On `groups` groups of rows; rows[i] says how those of slots[i] lie.
  ChainRowsFn chain_rows[kNumCTypes];
  // For the n elements from `from` on, fewer than a group; null at levels that have no loads and
  // stores of parts of vectors.
  ChainRestFn chain_rest[kNumCTypes];
};

// The compute type of a memory type; kPred for types without one (tokens), which callers exclude.
CType ComputeTypeOf(PrimitiveType type);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_BLOCK_OPS_H_
