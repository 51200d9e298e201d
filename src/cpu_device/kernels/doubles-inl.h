// SPDX-License-Identifier: Apache-2.0
//
// Doubles, as many numbers of f64 as a vector register of the level has, and what functions of them
// are made of, so that levels with AVX2 and AVX-512 share one source. They also have + - * /. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLES_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLES_INL_H_

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

#if defined(__AVX2__)
// As in intrinsics-inl.h: gcc's header again.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <int kEntries>
struct TableOf {
  alignas(64) double entry[kEntries];
};
// Tables that are asked for the same entries, such as a column for each coefficient of polynomials
// on pieces.
template <int kNumber, int kNumberOfEntries = 16>
struct Columns {
  static constexpr int kCount = kNumber, kEntries = kNumberOfEntries;
  TableOf<kEntries> column[kCount];
};

// What moves the integer next to a number below 2^51 into the low bits.
constexpr double kIntegerShift = 0x1.8p+52;

// Of a NaN and a number Larger and Smaller give the second. FusedLess is c - a b, and FusedFrom a b
// - c.
#if defined(__AVX512F__)
using Doubles = __m512d;
using Words = __m512i;
using Mask = __mmask8;
PJRT_INLINE Doubles All(double x) { return _mm512_set1_pd(x); }
PJRT_INLINE Words AllWords(uint64_t x) { return _mm512_set1_epi64(static_cast<int64_t>(x)); }
PJRT_INLINE Doubles Magnitude(Doubles x) { return _mm512_abs_pd(x); }
PJRT_INLINE Doubles Larger(Doubles a, Doubles b) { return _mm512_max_pd(a, b); }
PJRT_INLINE Doubles Smaller(Doubles a, Doubles b) { return _mm512_min_pd(a, b); }
PJRT_INLINE Doubles Fused(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
PJRT_INLINE Doubles FusedLess(Doubles a, Doubles b, Doubles c) { return _mm512_fnmadd_pd(a, b, c); }
PJRT_INLINE Doubles FusedFrom(Doubles a, Doubles b, Doubles c) { return _mm512_fmsub_pd(a, b, c); }
// Of whole numbers nearby the nearest, the one below or the one towards 0.
PJRT_INLINE Doubles Nearest(Doubles x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PJRT_INLINE Doubles Floor(Doubles x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
PJRT_INLINE Doubles Truncated(Doubles x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
template <int kPredicate>
PJRT_INLINE Mask Compare(Doubles a, Doubles b) {
  return _mm512_cmp_pd_mask(a, b, kPredicate);
}
// By the sign, also of zeros and NaNs: a mask for Choose.
PJRT_INLINE Mask IsNegative(Doubles x) { return _mm512_movepi64_mask((Words)x); }
PJRT_INLINE Mask Both(Mask a, Mask b) { return a & b; }
PJRT_INLINE Mask Either(Mask a, Mask b) { return a | b; }
PJRT_INLINE bool Any(Mask a, Mask b) { return !_kortestz_mask8_u8(a, b); }
PJRT_INLINE int Lanes(Mask mask) { return mask; }
PJRT_INLINE Doubles Choose(Mask mask, Doubles a, Doubles b) {
  return _mm512_mask_mov_pd(b, mask, a);
}
PJRT_INLINE Doubles Keep(Mask mask, Doubles a) { return _mm512_maskz_mov_pd(mask, a); }
PJRT_INLINE Doubles WithSign(Doubles size, Doubles x) {
  return (Doubles)_mm512_ternarylogic_epi64((Words)size, (Words)x, AllWords(uint64_t{1} << 63),
                                            0xd8);
}
// x with its sign changed where `sign` has one.
PJRT_INLINE Doubles Turned(Doubles x, Doubles sign) {
  return (Doubles)_mm512_ternarylogic_epi64((Words)x, (Words)sign, AllWords(uint64_t{1} << 63),
                                            0x78);
}
// The larger and the smaller one of both sizes; of a NaN and a number the number.
PJRT_INLINE Doubles LargestSize(Doubles a, Doubles b) {
  constexpr int kLarger = 3, kPositive = 2 << 2;
  return _mm512_range_pd(a, b, kLarger | kPositive);
}
PJRT_INLINE Doubles LeastSize(Doubles a, Doubles b) {
  constexpr int kSmaller = 2, kPositive = 2 << 2;
  return _mm512_range_pd(a, b, kSmaller | kPositive);
}
// The one of the larger size, with its sign: of the same sizes, the positive one.
PJRT_INLINE Doubles OfLargerSize(Doubles a, Doubles b) {
  constexpr int kLarger = 3, kOwnSign = 1 << 2;
  return _mm512_range_pd(a, b, kLarger | kOwnSign);
}
// -a, or b where the mask is not set.
PJRT_INLINE Doubles ChooseOpposite(Mask mask, Doubles a, Doubles b) {
  return _mm512_mask_xor_pd(b, mask, a, All(-0.0));
}
// pi / 2 where x is negative and 0 where it is positive, or `other` where the mask is not set.
PJRT_INLINE Doubles HalfPiIfNegative(Mask mask, Doubles x, Doubles other) {
  constexpr int kOfZero = 2, kOfOne = 3, kOfInfinity = 5, kOfNegative = 6, kOfPositive = 7;
  constexpr uint64_t kZero = 8, kHalfPi = 13;
  constexpr uint64_t kTable = kZero << 4 * kOfZero | kZero << 4 * kOfOne |
                              kZero << 4 * kOfInfinity | kHalfPi << 4 * kOfNegative |
                              kZero << 4 * kOfPositive;
  return _mm512_mask_fixupimm_pd(other, mask, x, AllWords(kTable), 0);
}
// Where the mask is set 1 for a negative x and 0 for a positive one, and otherwise 1/2.
PJRT_INLINE Doubles HalfTurnsOf(Mask mask, Doubles x) {
  constexpr int kOfZero = 2, kOfOne = 3, kOfInfinity = 5, kOfNegative = 6, kOfPositive = 7;
  constexpr uint64_t kZero = 8, kOne = 10;
  constexpr uint64_t kTable = kZero << 4 * kOfZero | kZero << 4 * kOfOne |
                              kZero << 4 * kOfInfinity | kOne << 4 * kOfNegative |
                              kZero << 4 * kOfPositive;
  return _mm512_mask_fixupimm_pd(All(0.5), mask, x, AllWords(kTable), 0);
}
// x where that is 0, and otherwise `value`.
PJRT_INLINE Doubles ZeroKept(Doubles value, Doubles x) {
  constexpr int kOfZero = 2, kItself = 1;
  return _mm512_fixupimm_pd(value, x, AllWords(kItself << 4 * kOfZero), 0);
}
// x, or `other` where that is 0.
PJRT_INLINE Doubles UnlessZero(Doubles x, Doubles other) {
  constexpr uint64_t kItself = 0x11111111;  // of all but zeros, which the third digit is for
  return _mm512_fixupimm_pd(other, x, AllWords(kItself ^ 0x100), 0);
}
// `value`, or 0 where x is 0 or 1.
PJRT_INLINE Doubles ZeroAtZeroAndOne(Doubles value, Doubles x) {
  constexpr int kOfZero = 2, kOfOne = 3, kZero = 8;
  return _mm512_fixupimm_pd(value, x, AllWords(kZero << 4 * kOfZero | kZero << 4 * kOfOne), 0);
}
// x | (~a & b).
PJRT_INLINE Words OrOthers(Words x, Words a, Words b) {
  return _mm512_ternarylogic_epi64(x, a, b, 0xf2);
}
// x | (a ^ b).
PJRT_INLINE Words OrDifferent(Words x, Words a, Words b) {
  return _mm512_ternarylogic_epi64(x, a, b, 0xf6);
}
template <int kShift>
PJRT_INLINE Words ShiftedRight(Words x) {
  return _mm512_srli_epi64(x, kShift);
}
template <int kShift>
PJRT_INLINE Words ShiftedLeft(Words x) {
  return _mm512_slli_epi64(x, kShift);
}
// Modulo 2^64, where + and - of words may not overflow.
PJRT_INLINE Words Plus(Words a, Words b) { return _mm512_add_epi64(a, b); }
PJRT_INLINE Words Minus(Words a, Words b) { return _mm512_sub_epi64(a, b); }
// The entries at one place of each table, for each element: by the last bits of `places`.
PJRT_INLINE Doubles Fetch(const TableOf<8>& table, Words places) {
  return _mm512_permutexvar_pd(places, _mm512_load_pd(table.entry));
}
PJRT_INLINE Doubles Fetch(const TableOf<16>& table, Words places) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table.entry), places,
                                _mm512_load_pd(table.entry + 8));
}
PJRT_INLINE Doubles Fetch(const TableOf<32>& table, Words places) {
  const auto half = [&](const double* entries) {
    return _mm512_permutex2var_pd(_mm512_load_pd(entries), places, _mm512_load_pd(entries + 8));
  };
  const Mask upper = _mm512_test_epi64_mask(places, AllWords(16));
  return Choose(upper, half(table.entry + 16), half(table.entry));
}
template <const auto& kColumns>
struct Entries {
  Words places;
  PJRT_INLINE_MEMBER Doubles operator[](int i) const { return Fetch(kColumns.column[i], places); }
};
template <const auto& kColumns>
PJRT_INLINE Entries<kColumns> EntriesAt(Words places) {
  return {places};
}
// 1 / x by f32, to 2^-23 of it, where that has the range; a division of f64 takes three times as
// long.
PJRT_INLINE Doubles RoughInverse(Doubles x) {
  return _mm512_cvtps_pd(_mm256_set1_ps(1) / _mm512_cvtpd_ps(x));
}
// For positive finite numbers: exponent and mantissa, between 1 and 2.
PJRT_INLINE Doubles ExponentOf(Doubles x) { return _mm512_getexp_pd(x); }
PJRT_INLINE Doubles MantissaOf(Doubles x) {
  return _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
}
PJRT_INLINE Doubles ExponentOfNormal(Doubles x) { return ExponentOf(x); }
PJRT_INLINE Mask IsZeroOrNotFinite(Doubles x) { return _mm512_fpclass_pd_mask(x, 0x9f); }
// x 2^floor(n), rounded once, for n from -2044 to 2046.
PJRT_INLINE Doubles Scaled(Doubles x, Doubles n) { return _mm512_scalef_pd(x, n); }
// The same where that is a normal power.
PJRT_INLINE Doubles ScaledByFloor(Doubles x, Doubles n) { return Scaled(x, n); }
// The same for an integer n.
PJRT_INLINE Doubles ScaledInside(Doubles x, Doubles n) { return Scaled(x, n); }
#else
using Doubles = __m256d;
using Words = __m256i;
using Mask = __m256d;
PJRT_INLINE Doubles All(double x) { return _mm256_set1_pd(x); }
PJRT_INLINE Words AllWords(uint64_t x) { return _mm256_set1_epi64x(static_cast<int64_t>(x)); }
PJRT_INLINE Doubles Magnitude(Doubles x) { return _mm256_andnot_pd(All(-0.0), x); }
PJRT_INLINE Doubles Larger(Doubles a, Doubles b) { return _mm256_max_pd(a, b); }
PJRT_INLINE Doubles Smaller(Doubles a, Doubles b) { return _mm256_min_pd(a, b); }
PJRT_INLINE Doubles Fused(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
PJRT_INLINE Doubles FusedLess(Doubles a, Doubles b, Doubles c) { return _mm256_fnmadd_pd(a, b, c); }
PJRT_INLINE Doubles FusedFrom(Doubles a, Doubles b, Doubles c) { return _mm256_fmsub_pd(a, b, c); }
PJRT_INLINE Doubles Nearest(Doubles x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PJRT_INLINE Doubles Floor(Doubles x) { return _mm256_floor_pd(x); }
PJRT_INLINE Doubles Truncated(Doubles x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
template <int kPredicate>
PJRT_INLINE Mask Compare(Doubles a, Doubles b) {
  return _mm256_cmp_pd(a, b, kPredicate);
}
PJRT_INLINE Mask IsNegative(Doubles x) { return x; }
PJRT_INLINE Mask Both(Mask a, Mask b) { return _mm256_and_pd(a, b); }
PJRT_INLINE Mask Either(Mask a, Mask b) { return _mm256_or_pd(a, b); }
PJRT_INLINE bool Any(Mask a, Mask b) { return _mm256_movemask_pd(Either(a, b)) != 0; }
PJRT_INLINE int Lanes(Mask mask) { return _mm256_movemask_pd(mask); }
PJRT_INLINE Doubles Choose(Mask mask, Doubles a, Doubles b) { return _mm256_blendv_pd(b, a, mask); }
PJRT_INLINE Doubles Keep(Mask mask, Doubles a) { return _mm256_and_pd(mask, a); }
PJRT_INLINE Doubles WithSign(Doubles size, Doubles x) {
  return _mm256_or_pd(Magnitude(size), _mm256_and_pd(x, All(-0.0)));
}
PJRT_INLINE Doubles Turned(Doubles x, Doubles sign) {
  return _mm256_xor_pd(x, _mm256_and_pd(sign, All(-0.0)));
}
// Of a NaN and a number the number, if that is the first one.
PJRT_INLINE Doubles LargestSize(Doubles a, Doubles b) { return Larger(Magnitude(b), Magnitude(a)); }
PJRT_INLINE Doubles LeastSize(Doubles a, Doubles b) { return Smaller(Magnitude(b), Magnitude(a)); }
PJRT_INLINE Doubles OfLargerSize(Doubles a, Doubles b) {
  // Where a is negative, b may have the same size.
  const __m256i below = _mm256_sub_epi64((__m256i)Magnitude(a), _mm256_srli_epi64((__m256i)a, 63));
  return Choose((Mask)_mm256_cmpgt_epi64((__m256i)Magnitude(b), below), b, a);
}
PJRT_INLINE Doubles ChooseOpposite(Mask mask, Doubles a, Doubles b) { return Choose(mask, -a, b); }
// `value` where x is negative, and otherwise 0.
PJRT_INLINE Doubles IfNegative(Doubles x, Doubles value) { return Choose(x, value, All(0)); }
PJRT_INLINE Doubles HalfPiIfNegative(Mask mask, Doubles x, Doubles other) {
  return Choose(mask, IfNegative(x, All(0x1.921fb54442d18p+0)), other);
}
PJRT_INLINE Doubles HalfTurnsOf(Mask mask, Doubles x) {
  return Choose(mask, IfNegative(x, All(1)), All(0.5));
}
PJRT_INLINE Doubles ZeroKept(Doubles value, Doubles x) {
  return Choose(Compare<_CMP_EQ_OQ>(x, All(0)), x, value);
}
PJRT_INLINE Doubles UnlessZero(Doubles x, Doubles other) {
  return Choose(Compare<_CMP_EQ_OQ>(x, All(0)), other, x);
}
PJRT_INLINE Doubles ZeroAtZeroAndOne(Doubles value, Doubles x) {
  return _mm256_and_pd(Compare<_CMP_NEQ_UQ>(x * x, x), value);
}
PJRT_INLINE Words OrOthers(Words x, Words a, Words b) { return x | _mm256_andnot_si256(a, b); }
PJRT_INLINE Words OrDifferent(Words x, Words a, Words b) { return x | (a ^ b); }
template <int kShift>
PJRT_INLINE Words ShiftedRight(Words x) {
  return _mm256_srli_epi64(x, kShift);
}
template <int kShift>
PJRT_INLINE Words ShiftedLeft(Words x) {
  return _mm256_slli_epi64(x, kShift);
}
PJRT_INLINE Words Plus(Words a, Words b) { return _mm256_add_epi64(a, b); }
PJRT_INLINE Words Minus(Words a, Words b) { return _mm256_sub_epi64(a, b); }
// With a row for each place: to read rows and turn them takes three instructions for each column,
// and permutations take seven.
template <int kCount, int kEntries>
struct Rows {
  alignas(64) double row[kEntries][kCount + kCount % 2] = {};
  constexpr explicit Rows(const Columns<kCount, kEntries>& columns) {
    for (int i = 0; i < kCount; ++i) {
      for (int j = 0; j < kEntries; ++j) row[j][i] = columns.column[i].entry[j];
    }
  }
};
template <const auto& kColumns>
constexpr Rows kRows = Rows(kColumns);
template <const auto& kColumns>
struct Entries {
  Doubles column[kColumns.kCount + 1];
  PJRT_INLINE_MEMBER Doubles operator[](int i) const { return column[i]; }
};
template <const auto& kColumns>
PJRT_INLINE Entries<kColumns> EntriesAt(Words places) {
  const auto& rows = kRows<kColumns>.row;
  const Words last = _mm256_and_si256(places, AllWords(kColumns.kEntries - 1));
  const double* const row[] = {
      rows[_mm256_extract_epi64(last, 0)], rows[_mm256_extract_epi64(last, 1)],
      rows[_mm256_extract_epi64(last, 2)], rows[_mm256_extract_epi64(last, 3)]};
  Entries<kColumns> entries;
#pragma GCC unroll 16
  for (int i = 0; i < kColumns.kCount; i += 2) {
    const Doubles even = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(row[0] + i)),
                                              _mm_load_pd(row[2] + i), 1);
    const Doubles odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(row[1] + i)),
                                             _mm_load_pd(row[3] + i), 1);
    entries.column[i] = _mm256_unpacklo_pd(even, odd);
    entries.column[i + 1] = _mm256_unpackhi_pd(even, odd);
  }
  return entries;
}
PJRT_INLINE Doubles RoughInverse(Doubles x) {
  return _mm256_cvtps_pd(_mm_set1_ps(1) / _mm256_cvtpd_ps(x));
}
PJRT_INLINE Doubles NormalOf(Doubles x, Mask small) { return Choose(small, x * All(0x1p+54), x); }
PJRT_INLINE Doubles ExponentOf(Doubles x) {
  const Mask small = Compare<_CMP_LT_OQ>(x, All(0x1p-1022));
  const Doubles exponent = (Doubles)ShiftedRight<52>((Words)NormalOf(x, small));
  return _mm256_or_pd(exponent, All(0x1p+52)) -
         Choose(small, All(0x1p+52 + 1077), All(0x1p+52 + 1023));
}
PJRT_INLINE Doubles MantissaOf(Doubles x) {
  const Mask small = Compare<_CMP_LT_OQ>(x, All(0x1p-1022));
  const Doubles digits = (Doubles)AllWords((uint64_t{1} << 52) - 1);
  return _mm256_or_pd(_mm256_and_pd(NormalOf(x, small), digits), All(1));
}
PJRT_INLINE Doubles ExponentOfNormal(Doubles x) {
  return (Doubles)((__m256i)ShiftedRight<52>((Words)x) | (Words)All(0x1p+52)) - All(0x1p+52 + 1023);
}
PJRT_INLINE Mask IsZeroOrNotFinite(Doubles x) {
  return Either(Compare<_CMP_EQ_OQ>(x, All(0)), Compare<_CMP_NEQ_UQ>(x - x, All(0)));
}
PJRT_INLINE Doubles ScaledInside(Doubles x, Doubles n) {
  return x * (Doubles)ShiftedLeft<52>((Words)(n + All(kIntegerShift + 1023)));
}
PJRT_INLINE Doubles ScaledByFloor(Doubles x, Doubles n) { return ScaledInside(x, Floor(n)); }
// In two steps, of which only the second can round.
PJRT_INLINE Doubles Scaled(Doubles x, Doubles n) {
  const Doubles whole = Floor(n), half = Floor(whole * All(0.5));
  return ScaledInside(ScaledInside(x, half), whole - half);
}
#endif

// 2^(i / 16), and what the entries lost, over them.
constexpr Columns<2> kPowers = {
    {{{0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
       0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
       0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
       0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0}},
     {{0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
       0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54,
       -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
       0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56,
       -0x1.ff7128fd391f0p-55}}}};

constexpr int64_t kDoubles = sizeof(Doubles) / sizeof(double);

PJRT_INLINE Doubles LoadDoubles(const double* from) {
  Doubles x;
  __builtin_memcpy(&x, from, sizeof(x));
  return x;
}
PJRT_INLINE void StoreDoubles(double* to, Doubles x) { __builtin_memcpy(to, &x, sizeof(x)); }

// run(d, x, y, count) for all whole vectors, and for a vector that has the last elements and ones.
// kScalar: y is one element.
template <bool kScalar, class Run>
PJRT_INLINE void OverVectors(void* dst, const void* a, const void* b, int64_t n, Run run) {
  double* const d = static_cast<double*>(dst);
  const double* const x = static_cast<const double*>(a);
  const double* const y = static_cast<const double*>(b);
  const int64_t count = n / kDoubles, i = count * kDoubles;
  if (count > 0) run(d, x, y, count);
  if (i == n) return;
  double rest[2][kDoubles];
  for (int64_t j = 0; j < kDoubles; ++j) rest[0][j] = rest[1][j] = 1;
  const size_t bytes = (n - i) * sizeof(double);
  __builtin_memcpy(rest[0], x + i, bytes);
  if (!kScalar) __builtin_memcpy(rest[1], y + i, bytes);
  run(rest[0], rest[0], rest[1], 1);
  __builtin_memcpy(d + i, rest[0], bytes);
}

// Function::Run of vectors.
template <typename Function, bool kScalar>
void BinaryDoublesLoop(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  const Doubles y0 = All(*static_cast<const double*>(b));
  const Beside& beside = BesideOf(c);
  const auto run = [&beside, y0](double* d, const double* x, const double* y, int64_t count) {
    for (int64_t i = 0; i < count * kDoubles; i += kDoubles) {
      StoreDoubles(d + i, Function::Run(LoadDoubles(x + i), kScalar ? y0 : LoadDoubles(y + i)));
      GoOn<sizeof(Doubles)>(beside);
    }
  };
  OverVectors<kScalar>(dst, a, b, n, run);
}
// Function::End of what Function::Begin gave two vectors before, which is quicker where that
// divides: divisions overlap with what else there is.
template <typename Function, bool kScalar>
void BinaryDoublesLoopBehind(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  constexpr int64_t kBehind = 2, kKept = 4;
  const Doubles y0 = All(*static_cast<const double*>(b));
  const Beside& beside = BesideOf(c);
  const auto run = [&beside, y0](double* d, const double* x, const double* y, int64_t count) {
    typename Function::Half half[kKept];
    for (int64_t i = 0; i < count + kBehind; ++i) {
      if (i < count) {
        half[i % kKept] = Function::Begin(LoadDoubles(x + i * kDoubles),
                                          kScalar ? y0 : LoadDoubles(y + i * kDoubles));
        GoOn<sizeof(Doubles)>(beside);
      }
      const int64_t from = i - kBehind;
      if (from < 0) continue;
      const Doubles second = kScalar ? y0 : LoadDoubles(y + from * kDoubles);
      StoreDoubles(d + from * kDoubles,
                   Function::End(LoadDoubles(x + from * kDoubles), second, half[from % kKept]));
    }
  };
  OverVectors<kScalar>(dst, a, b, n, run);
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLES_INL_H_
