// SPDX-License-Identifier: Apache-2.0
//
// Floats, as many numbers of f32 as a vector register of the level has, and what functions of them
// are made of, so that levels with AVX2 and AVX-512 share one source. They also have + - * /. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FLOATS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FLOATS_INL_H_

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// exp(r) = 1 + r + r^2 (1/2 + r g(r)), to 2^-28, for |r| <= log(2) / 2.
constexpr float kExpG[] = {0x1.6d7b86p-10f, 0x1.1239fep-7f, 0x1.5554bep-5f, 0x1.555492p-3f, 0.5f};

#if defined(__AVX2__)
// Of a NaN and a number Larger and Smaller give the second. FusedLess is c - a b. The last bits
// of a place choose from a table.
#if defined(__AVX512F__)
using Floats = __m512;
using Places = __m512i;
using Mask = __mmask16;
PJRT_INLINE Floats All(float x) { return _mm512_set1_ps(x); }
PJRT_INLINE Floats Magnitude(Floats x) { return _mm512_abs_ps(x); }
PJRT_INLINE Floats Larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
PJRT_INLINE Floats Smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
PJRT_INLINE Floats Fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
PJRT_INLINE Floats FusedLess(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
template <int kShift>
PJRT_INLINE Places PlacesOf(Floats x) {
  return _mm512_srli_epi32(_mm512_castps_si512(x), kShift);
}
PJRT_INLINE Floats Fetch(const float (&table)[16], Places places) {
  return _mm512_permutexvar_ps(places, _mm512_load_ps(table));
}
PJRT_INLINE Floats Fetch(const float (&table)[2][16], Places places) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table[0]), places, _mm512_load_ps(table[1]));
}
template <int kPredicate>
PJRT_INLINE Mask Compare(Floats a, Floats b) {
  return _mm512_cmp_ps_mask(a, b, kPredicate);
}
PJRT_INLINE Mask Both(Mask a, Mask b) { return a & b; }
PJRT_INLINE bool Any(Mask mask) { return mask != 0; }
PJRT_INLINE Floats Choose(Mask mask, Floats a, Floats b) { return _mm512_mask_mov_ps(b, mask, a); }
PJRT_INLINE Floats Keep(Mask mask, Floats a) { return _mm512_maskz_mov_ps(mask, a); }
PJRT_INLINE Floats WithSign(Floats size, Floats x) {
  return (Floats)_mm512_ternarylogic_epi32((__m512i)size, (__m512i)x, _mm512_set1_epi32(1 << 31),
                                           0xd8);
}
// x with its sign changed where `sign` has one.
PJRT_INLINE Floats Turned(Floats x, Floats sign) {
  return (Floats)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)sign, _mm512_set1_epi32(1 << 31),
                                           0x78);
}
PJRT_INLINE Mask IsNegative(Floats x) { return _mm512_movepi32_mask((__m512i)x); }
PJRT_INLINE Floats Nearest(Floats x) {  // integer
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
// What Nearest leaves; some number where x is infinite.
PJRT_INLINE Floats Fraction(Floats x) {
  return _mm512_reduce_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PJRT_INLINE Floats Truncated(Floats x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
// x 2^floor(n), rounded once, for n from -252 to 254, beyond which an x near 1 becomes 0 or
// infinity.
PJRT_INLINE Floats Scaled(Floats x, Floats n) { return _mm512_scalef_ps(x, n); }
#else
using Floats = __m256;
using Places = __m256i;
using Mask = __m256;
PJRT_INLINE Floats All(float x) { return _mm256_set1_ps(x); }
PJRT_INLINE Floats Magnitude(Floats x) { return _mm256_andnot_ps(All(-0.0f), x); }
PJRT_INLINE Floats Larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
PJRT_INLINE Floats Smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
PJRT_INLINE Floats Fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
PJRT_INLINE Floats FusedLess(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
template <int kShift>
PJRT_INLINE Places PlacesOf(Floats x) {
  return _mm256_srli_epi32(_mm256_castps_si256(x), kShift);
}
// The last three bits of a place choose from eight entries, the ones above choose those.
PJRT_INLINE Floats Fetch(const float (&table)[16], Places places) {
  const Floats half = _mm256_castsi256_ps(_mm256_slli_epi32(places, 28));
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_load_ps(table), places),
                          _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), places), half);
}
PJRT_INLINE Floats Fetch(const float (&table)[2][16], Places places) {
  const Floats half = _mm256_castsi256_ps(_mm256_slli_epi32(places, 27));
  return _mm256_blendv_ps(Fetch(table[0], places), Fetch(table[1], places), half);
}
template <int kPredicate>
PJRT_INLINE Mask Compare(Floats a, Floats b) {
  return _mm256_cmp_ps(a, b, kPredicate);
}
PJRT_INLINE Mask Both(Mask a, Mask b) { return _mm256_and_ps(a, b); }
PJRT_INLINE bool Any(Mask mask) { return _mm256_movemask_ps(mask) != 0; }
PJRT_INLINE Floats Choose(Mask mask, Floats a, Floats b) { return _mm256_blendv_ps(b, a, mask); }
PJRT_INLINE Floats Keep(Mask mask, Floats a) { return _mm256_and_ps(mask, a); }
PJRT_INLINE Floats WithSign(Floats size, Floats x) {
  return _mm256_or_ps(Magnitude(size), _mm256_and_ps(x, All(-0.0f)));
}
PJRT_INLINE Floats Turned(Floats x, Floats sign) {
  return _mm256_xor_ps(x, _mm256_and_ps(sign, All(-0.0f)));
}
PJRT_INLINE Mask IsNegative(Floats x) { return (Mask)_mm256_srai_epi32((__m256i)x, 31); }
PJRT_INLINE Floats Nearest(Floats x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PJRT_INLINE Floats Fraction(Floats x) { return Smaller(Larger(x - Nearest(x), All(-1)), All(1)); }
PJRT_INLINE Floats Truncated(Floats x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
PJRT_INLINE __m256i IntegerOf(Floats n) {  // the next one
  return _mm256_cvtps_epi32(Smaller(Larger(n, All(-252)), All(254)));
}
// By two factors, of which only the second can make the product inexact; NaN where n is.
PJRT_INLINE Floats ScaledBy(__m256i whole, Floats x, Floats n) {
  const __m256i half = _mm256_srai_epi32(whole, 1), one = (__m256i)All(1);
  const __m256i rest = _mm256_sub_epi32(whole, half);
  const Floats first = (Floats)_mm256_add_epi32(_mm256_slli_epi32(half, 23), one);
  const Floats second = (Floats)_mm256_add_epi32(_mm256_slli_epi32(rest, 23), one);
  return Choose(Compare<_CMP_UNORD_Q>(n, n), n, x * first * second);
}
PJRT_INLINE Floats Scaled(Floats x, Floats n) {
  return ScaledBy(IntegerOf(_mm256_floor_ps(n)), x, n);
}
#endif

constexpr int64_t kFloats = sizeof(Floats) / sizeof(float);

PJRT_INLINE Floats LoadFloats(const float* from) {
  Floats x;
  __builtin_memcpy(&x, from, sizeof(x));
  return x;
}
PJRT_INLINE void StoreFloats(float* to, Floats x) { __builtin_memcpy(to, &x, sizeof(x)); }
// The first `count` ones, fewer than a vector has; the others are 0.
#if defined(__AVX512F__)
PJRT_INLINE Mask FirstOnes(int64_t count) { return static_cast<Mask>((1u << count) - 1); }
PJRT_INLINE Floats LoadSome(const float* from, int64_t count) {
  return _mm512_maskz_loadu_ps(FirstOnes(count), from);
}
PJRT_INLINE void StoreSome(float* to, Floats x, int64_t count) {
  _mm512_mask_storeu_ps(to, FirstOnes(count), x);
}
#else
PJRT_INLINE Floats LoadSome(const float* from, int64_t count) {
  float some[kFloats] = {};
  __builtin_memcpy(some, from, count * sizeof(float));
  return LoadFloats(some);
}
PJRT_INLINE void StoreSome(float* to, Floats x, int64_t count) {
  __builtin_memcpy(to, &x, count * sizeof(float));
}
#endif

// The highest power comes first.
template <int kCount>
PJRT_INLINE Floats Polynomial(const float (&c)[kCount], Floats x) {
  Floats p = All(c[0]);
  for (int i = 1; i < kCount; ++i) p = Fused(p, x, All(c[i]));
  return p;
}
PJRT_INLINE Floats ExpLessOne(Floats r) { return Fused(r * r, Polynomial(kExpG, r), r); }

template <typename Function>
void FloatsLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  float* const d = static_cast<float*>(dst);
  const float* const x = static_cast<const float*>(a);
  int64_t i = 0;
  for (; i + kFloats <= n; i += kFloats) StoreFloats(d + i, Function::Run(LoadFloats(x + i)));
  if (i < n) StoreSome(d + i, Function::Run(LoadSome(x + i, n - i)), n - i);
}
template <typename Function, Scalars kScalars>
void BinaryFloatsLoop(void* dst, const void* a, const void* b, const void*, int64_t n) {
  if (n <= 0) return;
  constexpr bool kFirst = kScalars == Scalars::kFirst, kSecond = kScalars == Scalars::kSecond;
  float* const d = static_cast<float*>(dst);
  const float* const x = static_cast<const float*>(a);
  const float* const y = static_cast<const float*>(b);
  const Floats x0 = All(*x), y0 = All(*y);
  int64_t i = 0;
  for (; i + kFloats <= n; i += kFloats) {
    StoreFloats(d + i,
                Function::Run(kFirst ? x0 : LoadFloats(x + i), kSecond ? y0 : LoadFloats(y + i)));
  }
  if (i == n) return;
  const Floats last = kFirst ? x0 : LoadSome(x + i, n - i);
  StoreSome(d + i, Function::Run(last, kSecond ? y0 : LoadSome(y + i, n - i)), n - i);
}

template <typename Function>
PJRT_INLINE void SetBinaryFloats(BlockKernels* k, BlockOp op) {
  Entry(k, op, CType::kF32) = BinaryFloatsLoop<Function, Scalars::kNone>;
  Entry(k, op, CType::kF32, Scalars::kFirst) = BinaryFloatsLoop<Function, Scalars::kFirst>;
  Entry(k, op, CType::kF32, Scalars::kSecond) = BinaryFloatsLoop<Function, Scalars::kSecond>;
}

#endif

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FLOATS_INL_H_
