// SPDX-License-Identifier: Apache-2.0
//
// Roots of c128 numbers: those of f32, to 2^-20, and what they are wrong by to the second order,
// from a remainder that is taken with what its products lose. Levels without fused multiply-add
// have those of block_complex_c128.cc. Largest errors seen over some 10^6 numbers: Rsqrt 0.6, Cbrt
// 1.1 ULP. With AVX-512 they take 1.1 and 1.35 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// As many f32 numbers as a group has elements.
#if defined(__AVX512F__)
static_assert(kWays == 2);
using Singles = __m512;
PJRT_INLINE Singles AllSingles(float x) { return _mm512_set1_ps(x); }
PJRT_INLINE Singles Magnitude(Singles x) { return _mm512_abs_ps(x); }
PJRT_INLINE Singles Fused(Singles a, Singles b, Singles c) { return _mm512_fmadd_ps(a, b, c); }
PJRT_INLINE Singles FusedLess(Singles a, Singles b, Singles c) { return _mm512_fnmadd_ps(a, b, c); }
PJRT_INLINE Singles WhereNegative(Singles x, Singles a, Singles b) {
  return _mm512_mask_mov_ps(b, _mm512_movepi32_mask((__m512i)x), a);
}
// The bits as numbers, and numbers as bits.
PJRT_INLINE Singles FromBits(Singles x) { return _mm512_cvtepi32_ps((__m512i)x); }
PJRT_INLINE Singles AsBits(Singles x) { return (Singles)_mm512_cvtps_epi32(x); }
PJRT_INLINE Singles Narrow(const DoubleGroup& x) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(x.v[0])),
                            _mm512_cvtpd_ps(x.v[1]), 1);
}
PJRT_INLINE DoubleGroup Widen(Singles x) {
  DoubleGroup wide;
  wide.v[0] = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
  wide.v[1] = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
  return wide;
}
#else
using Singles = __m128;
PJRT_INLINE Singles AllSingles(float x) { return _mm_set1_ps(x); }
PJRT_INLINE Singles Magnitude(Singles x) { return _mm_andnot_ps(_mm_set1_ps(-0.0f), x); }
PJRT_INLINE Singles Fused(Singles a, Singles b, Singles c) { return _mm_fmadd_ps(a, b, c); }
PJRT_INLINE Singles FusedLess(Singles a, Singles b, Singles c) { return _mm_fnmadd_ps(a, b, c); }
PJRT_INLINE Singles WhereNegative(Singles x, Singles a, Singles b) {
  return _mm_blendv_ps(b, a, x);
}
PJRT_INLINE Singles FromBits(Singles x) { return _mm_cvtepi32_ps((__m128i)x); }
PJRT_INLINE Singles AsBits(Singles x) { return (Singles)_mm_cvtps_epi32(x); }
PJRT_INLINE Singles Narrow(const DoubleGroup& x) { return _mm256_cvtpd_ps(x.v[0]); }
PJRT_INLINE DoubleGroup Widen(Singles x) {
  DoubleGroup wide;
  wide.v[0] = _mm256_cvtps_pd(x);
  return wide;
}
#endif
PJRT_INLINE Singles Fused(Singles a, Singles b, float c) { return Fused(a, b, AllSingles(c)); }
PJRT_INLINE Singles Fused(Singles a, float b, float c) {
  return Fused(a, AllSingles(b), AllSingles(c));
}

// Whether a part is a NaN or infinite, both are below `low`, one is above `high`, or one is below
// 2^-500 and not 0.
PJRT_INLINE MaskGroup IsOutside(DoubleGroup width, DoubleGroup height, double low, double high) {
  const DoubleGroup sum = width + height, smaller = Smaller(width, height);
  const MaskGroup far = Either(Compare<_CMP_NLT_UQ>(sum, high), Compare<_CMP_NGT_UQ>(sum, low));
  return Either(far, Both(Compare<_CMP_LT_OQ>(smaller, 0x1p-500), Compare<_CMP_GT_OQ>(smaller, 0)));
}
PJRT_INLINE MaskGroup IsRareRoot(ComplexGroup z) {
  return IsOutside(Magnitude(z.re), Magnitude(z.im), 0x1p-400, 0x1p+400);
}
// Whether squares are outside of the range of f32.
PJRT_INLINE MaskGroup IsMarkedRoot(DoubleGroup width, DoubleGroup height) {
  return IsOutside(width, height, 0x1p-60, 0x1p+60);
}
PJRT_INLINE ComplexGroup ScaledInside(ComplexGroup z, DoubleGroup n) {
  return {ScaledInside(z.re, n), ScaledInside(z.im, n)};
}

// x^(-1/2): minus half of the bits, with h = 1 - x r^2 below 0.069, and (1 - h)^(-1/2).
PJRT_INLINE Singles InverseRoot(Singles x) {
  const Singles r = AsBits(Fused(FromBits(x), -0.5f, 0x1.7cdd2ep+30f));
  const Singles h = FusedLess(x * r, r, AllSingles(1));
  const Singles p23 = Fused(h, 0x1.195140p-2f, 0x1.417814p-2f);
  const Singles p123 = Fused(h, p23, 0x1.7fff96p-2f), p = Fused(h, p123, 0x1.ffff90p-2f);
  return Fused(r * h, p, r);
}

// A root of f32, of which the second part may be a factor of the imaginary one.
struct Root {
  Singles a, b;
};

// For |z| = 1 / r the larger part is the root of r (1 + |re| r) / 2, and the other one |im| r^2 / 2
// over it.
struct Rsqrt {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsRareRoot(z); }
  using Half = Root;
  PJRT_INLINE Root Begin(ComplexGroup z) {
    const Singles width = Magnitude(Narrow(z.re)), height = Narrow(z.im);
    const Singles r = InverseRoot(Fused(width, width, height * height));
    const Singles half = r * AllSingles(0.5f), square = Fused(half * width, r, half);
    const Singles g = InverseRoot(square);
    return {square * g, half * r * g};
  }
  PJRT_INLINE ComplexGroup End(ComplexGroup z, Root root, MaskGroup* marked) {
    const DoubleGroup x = Magnitude(z.re), y = Magnitude(z.im);
    const DoubleGroup a = Widen(root.a), b = CutOff<24>(y * Widen(root.b));
    // d = (x + iy) (a - ib)^2 - 1.
    const DoubleGroup a2 = a * a, b2 = b * b, s = (a + a) * b;
    const DoubleGroup c = a2 - b2, c_low = (a2 - c) - b2;
    const DoubleGroup xc = x * c, xs = x * s, less = xc - 1.0, less_low = xc - (less + 1.0);
    const DoubleGroup xc_low = Fused(x, c, -xc), xs_low = Fused(x, s, -xs);
    const DoubleGroup d_re = Fused(y, s, less) + (Fused(x, c_low, xc_low) + less_low);
    const DoubleGroup d_im = Fused(y, c, -xs) + Fused(y, c_low, -xs_low);
    // 1 - (1 + d)^(-1/2).
    const DoubleGroup e_im = d_im * Fused(d_re, -0.75, 0.5);
    const DoubleGroup e_re = Fused(d_im * 0.375, d_im, d_re * Fused(d_re, -0.375, 0.5));
    const DoubleGroup large = a - Fused(a, e_re, b * e_im);
    const DoubleGroup small = b + FusedLess(b, e_re, a * e_im);
    const MaskGroup left = IsNegative(z.re);
    *marked = IsMarkedRoot(x, y);
    return {Choose(left, small, large), WithSign(Choose(left, large, small), -z.im)};
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const DoubleGroup n = Floor(ExponentOf(Magnitude(z.re) + Magnitude(z.im)) * 0.5);
    MaskGroup marked;
    const ComplexGroup scaled = ScaledInside(z, n * -2.0);
    return ScaledInside(End(scaled, Begin(scaled), &marked), -n);
  }
};

// Right of 0 for |z| = n^(1/2) the root is n^(1/6) (C(w) + i h U(w)) with w = |re| n^(-1/2), h =
// |im| n^(-1/2), C(cos t) = cos(t/3) and U(cos t) = sin(t/3) / sin(t). Left of 0 it is a sixth of
// the circle less this root of -conj(z).
struct Cbrt {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsRareRoot(z); }
  using Half = Root;
  PJRT_INLINE Root Begin(ComplexGroup z) {
    const Singles re = Narrow(z.re), width = Magnitude(re), height = Magnitude(Narrow(z.im));
    const Singles n = Fused(width, width, height * height);
    // n^(-1/6), from a sixth of the bits.
    const Singles g = AsBits(Fused(FromBits(n), -0x1.555556p-3f, 0x1.2836dep+30f));
    const Singles cubed = g * g * g, h = FusedLess(n * cubed, cubed, AllSingles(1));
    const Singles h2 = h * h;
    const Singles g01 = Fused(h, 0x1.8e2638p-4f, 0x1.55556cp-3f);
    const Singles g23 = Fused(h, 0x1.d62800p-5f, 0x1.1f6faap-4f);
    const Singles root =
        Fused(g * h, Fused(h2, Fused(h2, AllSingles(0x1.8e6ebcp-5f), g23), g01), g);
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
    const Singles turned = Fused(s, AllSingles(0x1.bb67aep-1f), c * AllSingles(0.5f));
    const Singles turned_im = Fused(c, AllSingles(0x1.bb67aep-1f), s * AllSingles(-0.5f));
    return {WhereNegative(re, turned, c), WhereNegative(re, turned_im, u)};
  }
  PJRT_INLINE ComplexGroup End(ComplexGroup z, Root root, MaskGroup* marked) {
    const DoubleGroup x = z.re, y = Magnitude(z.im), a = Widen(root.a), factor = Widen(root.b);
    const DoubleGroup b = Choose(IsNegative(x), factor, CutOff<24>(y * factor));
    // e = z - (a + ib)^3.
    const DoubleGroup a2 = a * a, b2 = b * b, d = (a + a) * b;
    const DoubleGroup a2_3 = a2 + (a2 + a2), b2_3 = b2 + (b2 + b2);
    const DoubleGroup q = a2_3 - b2, q_low = (a2_3 - q) - b2;
    const DoubleGroup e_re = FusedLess(a, a2 - b2_3, x);
    const DoubleGroup e_im = FusedLess(b, q_low, FusedLess(b, q, y));
    // v = e / (3 (a + ib)^2), and v - v^2 / (a + ib).
    const DoubleGroup less = a2 - b2, inverse_norm = DoubleGroup(1.0) / (a2 + b2);
    const DoubleGroup k = inverse_norm * (inverse_norm * 0x1.5555555555555p-2);
    const DoubleGroup v_re = Fused(e_re, less, e_im * d) * k;
    const DoubleGroup v_im = FusedLess(e_re, d, e_im * less) * k;
    const DoubleGroup v2_re = FusedLess(v_im, v_im, v_re * v_re), v2_im = (v_re + v_re) * v_im;
    const DoubleGroup more_re = FusedLess(Fused(v2_re, a, v2_im * b), inverse_norm, v_re);
    const DoubleGroup more_im = FusedLess(FusedLess(v2_re, b, v2_im * a), inverse_norm, v_im);
    *marked = IsMarkedRoot(Magnitude(x), y);
    return {a + more_re, WithSign(b + more_im, z.im)};
  }
  PJRT_INLINE ComplexGroup RunCarefully(ComplexGroup z) {
    const DoubleGroup exponent = ExponentOf(Magnitude(z.re) + Magnitude(z.im));
    const DoubleGroup n = Floor(exponent * 0x1.5555555555555p-2);
    MaskGroup marked;
    const ComplexGroup scaled = ScaledInside(z, n * -3.0);
    return ScaledInside(End(scaled, Begin(scaled), &marked), n);
  }
};

}  // namespace

void FillComplexRootsC128(BlockKernels* k) {
  using namespace complexes;
  Entry(k, BlockOp::kRsqrt, CType::kC128) = LoopInTwo<Rsqrt, CompleteRsqrt>;
  Entry(k, BlockOp::kCbrt, CType::kC128) = LoopInTwo<Cbrt, CompleteCbrt>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
