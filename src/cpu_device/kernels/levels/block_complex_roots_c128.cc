// SPDX-License-Identifier: Apache-2.0
//
// Signs, square roots, inverse roots and cube roots of c128 numbers. Roots are those of f32, to
// 2^-20, or of inverse roots to 2^-30, and what they are wrong by, from a remainder that is taken
// with what its products lose. Levels without fused multiply-add have those of
// block_complex_c128.cc and block_complex_math.cc. Largest errors seen over some 10^7 numbers:
// Sign 1.5, Sqrt 0.7, Rsqrt 1.0, Cbrt 1.2 ULP. With AVX-512 they take 0.9, 1.6, 1.8 and 2.0 ns an
// element on an Emerald Rapids.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// As many f32 numbers as a group has elements.
#if defined(__AVX512F__)
static_assert(kWays == 2);
using Single = __m512;
PJRT_INLINE Single AllSingle(float x) { return _mm512_set1_ps(x); }
PJRT_INLINE Single Magnitude(Single x) { return _mm512_abs_ps(x); }
PJRT_INLINE Single Smaller(Single a, Single b) { return _mm512_min_ps(a, b); }
PJRT_INLINE Single Fused(Single a, Single b, Single c) { return _mm512_fmadd_ps(a, b, c); }
PJRT_INLINE Single FusedLess(Single a, Single b, Single c) { return _mm512_fnmadd_ps(a, b, c); }
PJRT_INLINE Single WhereNegative(Single x, Single a, Single b) {
  return _mm512_mask_mov_ps(b, _mm512_movepi32_mask((__m512i)x), a);
}
// The bits as numbers, and numbers as bits.
PJRT_INLINE Single FromBits(Single x) { return _mm512_cvtepi32_ps((__m512i)x); }
PJRT_INLINE Single AsBits(Single x) { return (Single)_mm512_cvtps_epi32(x); }
// x times a power of two.
PJRT_INLINE Single Raised(Single x, int power) {
  return (Single)_mm512_add_epi32((__m512i)x, _mm512_set1_epi32(power << 23));
}
PJRT_INLINE bool AnyNotAbove(Single x, float least) {
  return _mm512_cmp_ps_mask(x, AllSingle(least), _CMP_NGT_UQ) != 0;
}
// Parts in the order of LoadComplexes.
PJRT_INLINE void LoadNarrow(const C128* from, Single* re, Single* im) {
  const auto eight = [&](int i) {
    const double* const part = &from[i].re;
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(LoadDoubles(part))),
                              _mm512_cvtpd_ps(LoadDoubles(part + kDoubles)), 1);
  };
  const Single a = eight(0), b = eight(kDoubles);
  const __m512i of_re =
      _mm512_setr_epi32(0, 8, 2, 10, 4, 12, 6, 14, 16, 24, 18, 26, 20, 28, 22, 30);
  *re = _mm512_permutex2var_ps(a, of_re, b);
  *im = _mm512_permutex2var_ps(a, _mm512_or_si512(of_re, _mm512_set1_epi32(1)), b);
}
// From memory, where it needs no permutation.
PJRT_INLINE DoubleGroup Widen(const Single* x) {
  const float* const from = reinterpret_cast<const float*>(x);
  DoubleGroup wide;
  wide.v[0] = _mm512_cvtps_pd(_mm256_loadu_ps(from));
  wide.v[1] = _mm512_cvtps_pd(_mm256_loadu_ps(from + 8));
  return wide;
}
#else
using Single = __m128;
PJRT_INLINE Single AllSingle(float x) { return _mm_set1_ps(x); }
PJRT_INLINE Single Magnitude(Single x) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), x); }
PJRT_INLINE Single Smaller(Single a, Single b) { return _mm_min_ps(a, b); }
PJRT_INLINE Single Fused(Single a, Single b, Single c) { return _mm_fmadd_ps(a, b, c); }
PJRT_INLINE Single FusedLess(Single a, Single b, Single c) { return _mm_fnmadd_ps(a, b, c); }
PJRT_INLINE Single WhereNegative(Single x, Single a, Single b) { return _mm_blendv_ps(b, a, x); }
PJRT_INLINE Single FromBits(Single x) { return _mm_cvtepi32_ps((__m128i)x); }
PJRT_INLINE Single AsBits(Single x) { return (Single)_mm_cvtps_epi32(x); }
PJRT_INLINE Single Raised(Single x, int power) {
  return (Single)_mm_add_epi32((__m128i)x, _mm_set1_epi32(power << 23));
}
PJRT_INLINE bool AnyNotAbove(Single x, float least) {
  return _mm_movemask_ps(_mm_cmpngt_ps(x, AllSingle(least))) != 0;
}
PJRT_INLINE void LoadNarrow(const C128* from, Single* re, Single* im) {
  const ComplexGroup z = LoadComplexes(from);
  *re = _mm256_cvtpd_ps(z.re.v[0]);
  *im = _mm256_cvtpd_ps(z.im.v[0]);
}
PJRT_INLINE DoubleGroup Widen(const Single* x) {
  DoubleGroup wide;
  wide.v[0] = _mm256_cvtps_pd(*x);
  return wide;
}
#endif

// Some of them side by side: of a long chain of dependent instructions processors see too little.
constexpr int kSide = 4;
struct Singles {
  Single v[kSide];
  Singles() = default;
  PJRT_INLINE_MEMBER Singles(float x) {
    for (Single& each : v) each = AllSingle(x);
  }
};
template <typename F>
PJRT_INLINE Singles OfEach(F f) {
  Singles r;
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) r.v[i] = f(i);
  return r;
}
PJRT_INLINE Singles operator*(Singles a, Singles b) {
  return OfEach([&](int i) { return a.v[i] * b.v[i]; });
}
PJRT_INLINE Singles Magnitude(Singles x) {
  return OfEach([&](int i) { return Magnitude(x.v[i]); });
}
PJRT_INLINE Singles Smaller(Singles a, Singles b) {
  return OfEach([&](int i) { return Smaller(a.v[i], b.v[i]); });
}
PJRT_INLINE Singles Fused(Singles a, Singles b, Singles c) {
  return OfEach([&](int i) { return Fused(a.v[i], b.v[i], c.v[i]); });
}
PJRT_INLINE Singles FusedLess(Singles a, Singles b, Singles c) {
  return OfEach([&](int i) { return FusedLess(a.v[i], b.v[i], c.v[i]); });
}
PJRT_INLINE Singles WhereNegative(Singles x, Singles a, Singles b) {
  return OfEach([&](int i) { return WhereNegative(x.v[i], a.v[i], b.v[i]); });
}
PJRT_INLINE Singles FromBits(Singles x) {
  return OfEach([&](int i) { return FromBits(x.v[i]); });
}
PJRT_INLINE Singles AsBits(Singles x) {
  return OfEach([&](int i) { return AsBits(x.v[i]); });
}
struct SingleParts {
  Singles re, im;
};

// Whether a part is a NaN or infinite, both are below `low`, one is above `high`, or one is below
// 2^-500 and not 0.
PJRT_INLINE MaskGroup IsOutside(ComplexGroup z, double low, double high) {
  const DoubleGroup width = Magnitude(z.re), height = Magnitude(z.im);
  const DoubleGroup sum = width + height, smaller = Smaller(width, height);
  const MaskGroup far = Either(Compare<_CMP_NLT_UQ>(sum, high), Compare<_CMP_NGT_UQ>(sum, low));
  return Either(far, Both(Compare<_CMP_LT_OQ>(smaller, 0x1p-500), Compare<_CMP_GT_OQ>(smaller, 0)));
}
PJRT_INLINE MaskGroup IsRareRoot(ComplexGroup z) { return IsOutside(z, 0x1p-400, 0x1p+400); }
// Whether squares are outside of the range of f32, or nearly so.
PJRT_INLINE MaskGroup IsMarkedRoot(ComplexGroup z) { return IsOutside(z, 0x1p-57, 0x1p+62); }
PJRT_INLINE ComplexGroup ScaledInside(ComplexGroup z, DoubleGroup n) {
  return {ScaledInside(z.re, n), ScaledInside(z.im, n)};
}

// x^(-1/2): minus half of the bits, with h = 1 - x r^2 below 0.069, and (1 - h)^(-1/2).
PJRT_INLINE Singles InverseRoot(Singles x) {
  const Singles r = AsBits(Fused(FromBits(x), -0.5f, 0x1.7cdd2ep+30f));
  const Singles h = FusedLess(x * r, r, 1.0f);
  const Singles p23 = Fused(h, 0x1.195140p-2f, 0x1.417814p-2f);
  const Singles p123 = Fused(h, p23, 0x1.7fff96p-2f), p = Fused(h, p123, 0x1.ffff90p-2f);
  return Fused(r * h, p, r);
}

// x^(-1/2) to 2^-31, of which 2^-21 if !kMost: minus half of the bits, with 1 - x r^2 from 0.080 to
// 0.185, and a polynomial.
template <bool kMost = true>
PJRT_INLINE DoubleGroup InverseRoot(DoubleGroup x) {
  const WordGroup start = WordGroup(0x5fe50b50c7b537a9) - ShiftedRight<1>(ToWords(x));
  const DoubleGroup r = ToDoubles(start), d = FusedLess(x * r, r, 1.0);
  if constexpr (!kMost) {
    const DoubleGroup p = Fused(d, 0x1.08452f2a90e46p-1, 0x1.5330ef793e800p-2);
    return r * Fused(d, Fused(d, p, 0x1.01f9714bf5f86p-1), 0x1.fff01d0e90d92p-1);
  }
  const DoubleGroup p01 = Fused(d, 0x1.000d98d0bdb59p-1, 0x1.ffffb7bc841aep-1);
  const DoubleGroup p23 = Fused(d, 0x1.54ff6a1fe8565p-2, 0x1.7dec208a4a24ep-2);
  const DoubleGroup p45 = Fused(d, 0x1.152f2023954f4p-1, 0x1.4bd75904f0892p-3), d2 = d * d;
  return r * Fused(d2, Fused(d2, p45, p23), p01);
}
// Whether the larger part is a NaN or about below 2^-400 or above 2^360, or the smaller one is
// below 2^-500 and not 0. `square` is about the larger one's square.
PJRT_INLINE MaskGroup IsFar(DoubleGroup smaller, DoubleGroup square) {
  // That of 0 is a NaN; squares above 2^723 become NaNs or negative.
  const DoubleGroup nonzero = ToDoubles(ToWords(smaller) - uint64_t{1});
  const DoubleGroup lifted = ToDoubles(ToWords(square) + (uint64_t{300} << 52));
  return Compare<_CMP_NGT_UQ>(Smaller(nonzero, lifted), 0x1p-500);
}

// z / |z|.
struct Sign {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) {
    return IsFar(Smaller(Magnitude(z.im), Magnitude(z.re)), Fused(z.re, z.re, z.im * z.im));
  }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const DoubleGroup width = Magnitude(z.re), height = Magnitude(z.im);
    const PairGroup n = SumOfSquares(Larger(width, height), Smaller(width, height));
    const DoubleGroup r = InverseRoot<false>(n.high), product = n.high * r;
    // 1 - n r^2.
    const DoubleGroup lost = Fused(n.low, r, Fused(n.high, r, -product));
    const DoubleGroup h = FusedLess(lost, r, FusedLess(product, r, 1.0));
    const DoubleGroup inverse = Fused(r * h, Fused(h, 0.375, 0.5), r);
    return {z.re * inverse, z.im * inverse};
  }
};

// The larger part is the root of (|re| + |z|) / 2, and the other one |im| / 2 over it. Both to
// 2^-30, and z less their square over twice the root.
struct Sqrt {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return Sign::IsRare(z); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const DoubleGroup x = Magnitude(z.re), y = Magnitude(z.im), n = Fused(x, x, y * y);
    const DoubleGroup r = InverseRoot(n), size = n * r, half = r * 0.5;
    const DoubleGroup square = Fused(n, half, x * 0.5), g = InverseRoot(square);
    const DoubleGroup a = square * g, b = (y * 0.5) * g;
    const DoubleGroup d_re = Fused(b, b, FusedLess(a, a, x)), d_im = FusedLess(a + a, b, y);
    // 1 / 2 |z|.
    const DoubleGroup k = Fused(half * 0.5, FusedLess(size, r, 1.0), half);
    const DoubleGroup large = Fused(Fused(d_re, a, d_im * b), k, a);
    const DoubleGroup small = Fused(FusedLess(d_re, b, d_im * a), k, b);
    const MaskGroup left = IsNegative(z.re);
    return {Choose(left, small, large), WithSign(Choose(left, large, small), z.im)};
  }
};

// Roots of f32, of which the second part may be a factor of the imaginary one, and whether an
// element may be marked: also where a part is 0 or nearly as small as what is marked.
struct Roots {
  Singles a, b;
  bool may_be_marked[kSide];
};
PJRT_INLINE Roots RootsOf(Singles width, Singles height, Singles square, Singles a, Singles b) {
  const Singles smaller = Smaller(width, height);
  const auto may_be_marked = [&](int i) {
    // Squares from 2^122 up become NaNs or negative.
    return AnyNotAbove(Smaller(smaller.v[i], Raised(square.v[i], 7)), 0x1p-105f);
  };
  Roots roots = {a, b, {}};
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) roots.may_be_marked[i] = may_be_marked(i);
  return roots;
}
template <class Function>
PJRT_INLINE ComplexGroup RootOf(ComplexGroup z) {
  C128 same[kLanes];
  StoreComplexes(same, z);
  SingleParts parts = {1.0f, 1.0f};
  LoadNarrow(same, &parts.re.v[0], &parts.im.v[0]);
  const Roots roots = Function::Begin(parts);
  return Function::End(z, roots.a.v[0], roots.b.v[0]);
}

// For |z| = 1 / r the larger part is the root of r (1 + |re| r) / 2, and the other one |im| r^2 / 2
// over it.
struct Rsqrt {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsRareRoot(z); }
  PJRT_INLINE MaskGroup IsMarked(ComplexGroup z) { return IsMarkedRoot(z); }
  PJRT_INLINE Roots Begin(SingleParts z) {
    const Singles width = Magnitude(z.re), height = Magnitude(z.im);
    const Singles n = Fused(width, width, height * height), r = InverseRoot(n);
    const Singles half = r * 0.5f, square = Fused(half * width, r, half);
    const Singles g = InverseRoot(square);
    return RootsOf(width, height, n, square * g, half * r * g);
  }
  PJRT_INLINE ComplexGroup End(ComplexGroup z, const Single& of_a, const Single& of_b) {
    const DoubleGroup x = Magnitude(z.re), y = Magnitude(z.im);
    const DoubleGroup a = Widen(&of_a), b = CutOff<24>(y * Widen(&of_b));
    // d = (x + iy) (a - ib)^2 - 1.
    const DoubleGroup a2 = a * a, b2 = b * b, s = (a + a) * b;
    const DoubleGroup c = a2 - b2, c_low = (a2 - c) - b2;
    const DoubleGroup xs = x * s, xs_low = Fused(x, s, -xs);
    const DoubleGroup d_re = Fused(x, c_low, Fused(y, s, Fused(x, c, -1.0)));
    const DoubleGroup d_im = Fused(y, c, -xs) + Fused(y, c_low, -xs_low);
    // 1 - (1 + d)^(-1/2).
    const DoubleGroup e_im = d_im * Fused(d_re, -0.75, 0.5);
    const DoubleGroup e_re = Fused(d_im * 0.375, d_im, d_re * Fused(d_re, -0.375, 0.5));
    const DoubleGroup large = a - Fused(a, e_re, b * e_im);
    const DoubleGroup small = b + FusedLess(b, e_re, a * e_im);
    const MaskGroup left = IsNegative(z.re);
    return {Choose(left, small, large), WithSign(Choose(left, large, small), -z.im)};
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const DoubleGroup n = Floor(ExponentOf(Magnitude(z.re) + Magnitude(z.im)) * 0.5);
    const ComplexGroup scaled = ScaledInside(z, n * -2.0);
    return ScaledInside(RootOf<Rsqrt>(scaled), -n);
  }
};

// Right of 0 for |z| = n^(1/2) the root is n^(1/6) (C(w) + i h U(w)) with w = |re| n^(-1/2), h =
// |im| n^(-1/2), C(cos t) = cos(t/3) and U(cos t) = sin(t/3) / sin(t). Left of 0 it is a sixth of
// the circle less this root of -conj(z).
struct Cbrt {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsRareRoot(z); }
  PJRT_INLINE MaskGroup IsMarked(ComplexGroup z) { return IsMarkedRoot(z); }
  PJRT_INLINE Roots Begin(SingleParts z) {
    const Singles width = Magnitude(z.re), height = Magnitude(z.im);
    const Singles n = Fused(width, width, height * height);
    // n^(-1/6), from a sixth of the bits.
    const Singles g = AsBits(Fused(FromBits(n), -0x1.555556p-3f, 0x1.2836dep+30f));
    const Singles cubed = g * g * g, h = FusedLess(n * cubed, cubed, 1.0f);
    const Singles h2 = h * h;
    const Singles g01 = Fused(h, 0x1.8e2638p-4f, 0x1.55556cp-3f);
    const Singles g23 = Fused(h, 0x1.d62800p-5f, 0x1.1f6faap-4f);
    const Singles root = Fused(g * h, Fused(h2, Fused(h2, 0x1.8e6ebcp-5f, g23), g01), g);
    const Singles root2 = root * root, inverse = root2 * root, size = n * inverse * root2;
    const Singles w = width * inverse, w2 = w * w, w4 = w2 * w2;
    const Singles c01 = Fused(w, 0x1.5540eep-3f, 0x1.bb67bep-1f);
    const Singles c23 = Fused(w, 0x1.6a02e8p-6f, -0x1.85e6c8p-5f);
    const Singles c45 = Fused(w, 0x1.0adfd2p-9f, -0x1.2d1c78p-7f);
    const Singles u01 = Fused(w, -0x1.2793f8p-2f, 0x1.fffff4p-2f);
    const Singles u23 = Fused(w, -0x1.754b40p-3f, 0x1.c5fae4p-3f);
    const Singles u45 = Fused(w, -0x1.7568a4p-4f, 0x1.249e40p-3f);
    const Singles u67 = Fused(w, -0x1.f06f22p-8f, 0x1.3af226p-5f);
    const Singles c = Fused(w2, Fused(w2, c45, c23), c01) * size;
    const Singles u = Fused(w4, Fused(w2, u67, u45), Fused(w2, u23, u01)) * (size * inverse);
    const Singles s = u * height;
    const Singles turned = Fused(s, 0x1.bb67aep-1f, c * 0.5f);
    const Singles turned_im = Fused(c, 0x1.bb67aep-1f, s * -0.5f);
    return RootsOf(width, height, n, WhereNegative(z.re, turned, c),
                   WhereNegative(z.re, turned_im, u));
  }
  PJRT_INLINE ComplexGroup End(ComplexGroup z, const Single& of_a, const Single& of_b) {
    const DoubleGroup x = z.re, y = Magnitude(z.im),
                      inverse = DoubleGroup(1.0) / Fused(x, x, y * y);
    const DoubleGroup a = Widen(&of_a), factor = Widen(&of_b);
    const DoubleGroup b = Choose(IsNegative(x), factor, CutOff<24>(y * factor));
    // e = z - (a + ib)^3, s = e / z.
    const DoubleGroup a2 = a * a, b2 = b * b, a2_3 = a2 * 3.0, q = a2_3 - b2;
    const DoubleGroup q_low = (a2_3 - q) - b2;
    const DoubleGroup e_re = FusedLess(a, FusedLess(b2, 3.0, a2), x);
    const DoubleGroup e_im = FusedLess(b, q_low, FusedLess(b, q, y));
    const DoubleGroup s_re = Fused(e_re, x, e_im * y) * inverse;
    const DoubleGroup s_im = FusedLess(e_re, y, e_im * x) * inverse;
    // (1 - s)^(-1/3) - 1.
    constexpr double kThird = 0x1.5555555555555p-2, kNinths = 0x1.c71c71c71c71cp-3;
    const DoubleGroup g_re = FusedLess(s_im * kNinths, s_im, s_re * Fused(s_re, kNinths, kThird));
    const DoubleGroup g_im = s_im * Fused(s_re, 2 * kNinths, kThird);
    return {a + FusedLess(b, g_im, a * g_re), WithSign(b + Fused(b, g_re, a * g_im), z.im)};
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const DoubleGroup exponent = ExponentOf(Magnitude(z.re) + Magnitude(z.im));
    const DoubleGroup n = Floor(exponent * 0x1.5555555555555p-2);
    const ComplexGroup scaled = ScaledInside(z, n * -3.0);
    return ScaledInside(RootOf<Cbrt>(scaled), n);
  }
};

// Function::End of all elements, from what Function::Begin makes of several groups in f32, and then
// as MarkingLoop: of two short loops more iterations overlap than of a long one.
template <class Function, C128 (*kComplete)(C128)>
__attribute__((noinline)) void EndMarked(C128* to, const C128* from, const Single& a,
                                         const Single& b) {
  const ComplexGroup z = LoadComplexes(from);
  const MaskGroup marked = Function::IsMarked(z);
  StoreComplexes(to, Function::End(z, a, b));
  if (AnyOf(marked)) ReplaceMarked<Function, kComplete>(to, z, marked);
}
template <class Function, C128 (*kComplete)(C128)>
PJRT_INLINE void RunRoots(C128* to, const C128* from, int64_t count, const Beside& beside) {
  constexpr int64_t kTogether = 16;
  Roots roots[kTogether / kSide];
  for (; count > 0; count -= kTogether) {
    const int64_t now = count < kTogether ? count : kTogether;
    for (int64_t i = 0; i < now; i += kSide) {
      SingleParts z;
#pragma GCC unroll 4
      for (int64_t j = 0; j < kSide; ++j) {
        const int64_t at = i + j < now ? i + j : i;
        LoadNarrow(from + at * kLanes, &z.re.v[j], &z.im.v[j]);
      }
      roots[i / kSide] = Function::Begin(z);
    }
    for (int64_t i = 0; i < now; ++i, to += kLanes, from += kLanes) {
      const Roots& some = roots[i / kSide];
      const Single& a = some.a.v[i % kSide];
      const Single& b = some.b.v[i % kSide];
      GoOn<kGroupBytes>(beside);
      if (__builtin_expect(some.may_be_marked[i % kSide], 0)) {
        EndMarked<Function, kComplete>(to, from, a, b);
      } else {
        StoreComplexes(to, Function::End(LoadComplexes(from), a, b));
      }
    }
  }
}
template <class Function, C128 (*kComplete)(C128)>
void RootsLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  OverGroups<RunRoots<Function, kComplete>>(dst, a, c, n);
}

}  // namespace

void FillComplexRootsC128(BlockKernels* k) {
  using namespace complexes;
  BesideEntry(k, BlockOp::kSign, CType::kC128) = ComplexesLoop<Sign, CompleteSign>;
  BesideEntry(k, BlockOp::kSqrt, CType::kC128) = ComplexesLoop<Sqrt, CompleteSqrt>;
  BesideEntry(k, BlockOp::kRsqrt, CType::kC128) = RootsLoop<Rsqrt, CompleteRsqrt>;
  BesideEntry(k, BlockOp::kCbrt, CType::kC128) = RootsLoop<Cbrt, CompleteCbrt>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
