// SPDX-License-Identifier: Apache-2.0
//
// Exponential and trigonometric functions of c128 numbers from tables of 16 entries, which a
// permutation fetches, and short polynomials between them. Levels without such an instruction have
// those of block_complex_exp_c128.cc. Largest errors seen in a part that does not nearly cancel,
// over some 10^5 numbers: Exp, Sin and Cos 0.7, Tan and Tanh 0.8, Expm1 0.6 ULP. With AVX-512
// they take 0.98 to 1.8 ns an element, where functions without tables took 1.5 to 2.6.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/angle_groups-inl.h"
#include "src/cpu_device/kernels/complex_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The sine and cosine of an angle, but for a sign that `turn` has for both: see SineOf in
// block_tables_f64.cc. The sign of a zero is right. If kNearOne, `middle` belongs between the
// cosine's parts, so that the cosine less 1 keeps its digits.
struct SineCosine {
  PairGroup sine, cosine;
  DoubleGroup middle;
  WordGroup turn;
};
template <bool kNearOne = false>
PJRT_INLINE SineCosine SineCosineOf(DoubleGroup x) {
  const Angle angle = ReduceAngle(x);
  const auto turn = EntriesAt<kAngles>(angle.k);
  const DoubleGroup s = turn[kSine], c = turn[kCosine], r = angle.r;
  const DoubleGroup r2 = r * r, r4 = r2 * r2, cubed = r * r2;
  const DoubleGroup sine01 = Fused(r2, 0x1.1111111110471p-7, -0x1.5555555555555p-3);
  const DoubleGroup sine23 = Fused(r2, 0x1.71cda2e53bfc4p-19, -0x1.a01a0139c25adp-13);
  const DoubleGroup cosine01 = Fused(r2, 0x1.555555555329dp-5, -0.5);
  const DoubleGroup cosine23 = Fused(r2, 0x1.a003317cef198p-16, -0x1.6c16c0df5ef68p-10);
  const DoubleGroup more_sine = Fused(cubed, Fused(r4, sine23, sine01), angle.tail);
  const DoubleGroup less_cosine = r2 * Fused(r4, cosine23, cosine01);
  const DoubleGroup sine = Fused(c, r, s), cosine = FusedLess(s, r, c);
  const DoubleGroup sine_lost = Fused(c, r, s - sine) + turn[kSineRest];
  const DoubleGroup cosine_lost = FusedLess(s, r, c - cosine) + turn[kCosineRest];
  const DoubleGroup cosine_rest = FusedLess(s, more_sine, cosine_lost);
  SineCosine result = {{sine, Fused(s, less_cosine, Fused(c, more_sine, sine_lost))},
                       {cosine, Fused(c, less_cosine, cosine_rest)},
                       0.0,
                       ShiftedLeft<59>(angle.k)};
  if constexpr (kNearOne) {
    const DoubleGroup half = r * -0.5, most = half * r;
    const DoubleGroup lost = FusedLess(r, angle.tail, Fused(half, r, -most));
    const DoubleGroup p01 = Fused(r2, -0x1.6c16c16c1639fp-10, 0x1.5555555555555p-5);
    const DoubleGroup p23 = Fused(r2, -0x1.27d9e62454ea1p-22, 0x1.a01a015b99554p-16);
    const DoubleGroup less = Fused(r4, Fused(r4, p23, p01), lost);
    result.middle = c * most;
    const DoubleGroup middle_lost = Fused(c, most, -result.middle);
    const DoubleGroup of_rests = FusedLess(turn[kSineRest], r, turn[kCosineRest] * most);
    result.cosine.low = Fused(c, less, cosine_rest + (middle_lost + of_rests));
  }
  return result;
}

// A number as k log(2) / 16 + r + tail, with k in the low bits of `shifted`.
struct Multiple {
  DoubleGroup shifted, k, r, tail;
};
PJRT_INLINE Multiple MultipleOf(DoubleGroup x) {
  // log(2) / 16 in two parts, of which the first has 36 bits.
  constexpr double kStep = 0x1.62e42fefap-5, kStepLow = 0x1.cf79abc9e3b3ap-44;
  const DoubleGroup shifted = Fused(x, 0x1.71547652b82fep+4, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift, most = FusedLess(k, kStep, x);
  const DoubleGroup r = FusedLess(k, kStepLow, most);
  return {shifted, k, r, FusedLess(k, kStepLow, most - r)};
}

// sinh and cosh of |x| < 700, which is k log(2) / 16 + r: for S and C, those of k log(2) / 16, sinh
// is S + C r + S (cosh(r) - 1) + C (sinh(r) - r), the first sum in two parts. If kScaled, both
// over 2^n, a power near cosh.
struct Hyperbolic {
  PairGroup sinh, cosh;
  DoubleGroup n;
};
template <bool kScaled>
PJRT_INLINE Hyperbolic HyperbolicOf(DoubleGroup x) {
  const Multiple m = MultipleOf(Magnitude(x));
  const DoubleGroup k = m.k, r = m.r, opposite = DoubleGroup(kIntegerShift) - k;
  const auto up = EntriesAt<kPowers>(ToWords(m.shifted));
  const auto down = EntriesAt<kPowers>(ToWords(opposite));
  const DoubleGroup n = Floor(k * 0x1p-4), minus_n = Floor(k * -0x1p-4);
  const DoubleGroup half = up[0] * 0.5, opposite_half = down[0] * 0.5;
  const DoubleGroup p = kScaled ? half : ScaledInside(half, n);
  const DoubleGroup inverse = ScaledInside(opposite_half, minus_n);
  const DoubleGroup q = kScaled ? ScaledInside(inverse, -n) : inverse;
  const DoubleGroup p_low = p * up[1], q_rest = down[1];
  const DoubleGroup s = p - q, s_low = FusedLess(q, q_rest, ((p - s) - q) + p_low);
  const DoubleGroup c = p + q, c_low = Fused(q, q_rest, ((p - c) + q) + p_low);
  const DoubleGroup r2 = r * r, cubed = r * r2;
  const DoubleGroup sinh12 = Fused(r2, 0x1.a01b118a75c35p-13, 0x1.11111110df174p-7);
  const DoubleGroup cosh12 = Fused(r2, 0x1.6c17f353d3ca1p-10, 0x1.55555554e4e34p-5);
  const DoubleGroup more_sinh = Fused(cubed, Fused(r2, sinh12, 0x1.5555555555556p-3), m.tail);
  const DoubleGroup less_cosh = r2 * Fused(r2, cosh12, 0.5);
  const DoubleGroup sinh = Fused(c, r, s), cosh = Fused(s, r, c);
  const DoubleGroup sinh_lost = Fused(c, r, s - sinh) + Fused(c_low, r, s_low);
  const DoubleGroup cosh_lost = Fused(s, r, c - cosh) + c_low;
  return {{sinh, Fused(s, less_cosh, Fused(c, more_sinh, sinh_lost))},
          {cosh, Fused(c, less_cosh, Fused(s, more_sinh, cosh_lost))},
          n};
}

// exp(x) = 2^n power (1 + (r + more)), to 2^-64.
struct PreciseExp {
  DoubleGroup n, power, r, more;
};
PJRT_INLINE PreciseExp PreciseExpOf(DoubleGroup x) {
  const Multiple m = MultipleOf(x);
  const auto powers = EntriesAt<kPowers>(ToWords(m.shifted));
  const DoubleGroup r = m.r, r2 = r * r;
  const DoubleGroup g01 = Fused(r, 0x1.5555555555556p-3, 0.5);
  const DoubleGroup g23 = Fused(r, 0x1.11111110e10a7p-7, 0x1.55555554e9466p-5);
  const DoubleGroup g45 = Fused(r, 0x1.a01b0c2efda80p-13, 0x1.6c17ed4cebd18p-10);
  const DoubleGroup g = Fused(r2, Fused(r2, g45, g23), g01), rest = powers[1];
  return {Floor(m.k * 0x1p-4), powers[0], r, Fused(r2, g, Fused(rest, r, rest) + m.tail)};
}

// Whether exp(x) may leave the range, or an angle is large.
PJRT_INLINE MaskGroup IsOutside(DoubleGroup x, DoubleGroup angle) {
  return Either(Compare<_CMP_NLT_UQ>(Magnitude(x), 700),
                Compare<_CMP_NLE_UQ>(Magnitude(angle), kLargestAngle));
}

struct Exp {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutside(z.re, z.im); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const TableExp e = ExpByTable(z.re, 0.0);
    const SineCosine sc = SineCosineOf(z.im);
    const DoubleGroup power = ScaledInside(e.power, Floor(e.n)), more = power * e.part;
    const auto times = [&](PairGroup x) {
      const DoubleGroup product = power * x.high, lost = Fused(power, x.high, -product);
      const DoubleGroup value = product + Fused(more, x.high + x.low, Fused(power, x.low, lost));
      return WithSign(value, Turned(x.high, sc.turn));
    };
    return {times(sc.cosine), times(sc.sine)};
  }
};

// The product of both functions' parts, less 1. Much of the sums may cancel, so that they are taken
// with what they lose.
struct Expm1 {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutside(z.re, z.im); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const PreciseExp e = PreciseExpOf(z.re);
    const SineCosine sc = SineCosineOf<true>(z.im);
    const DoubleGroup power = ScaledInside(e.power, e.n), more = power * e.more;
    const DoubleGroup c = Turned(sc.cosine.high, sc.turn), d = Turned(sc.cosine.low, sc.turn);
    const DoubleGroup middle = Turned(sc.middle, sc.turn);
    const DoubleGroup first = power * c, first_low = Fused(power, c, -first);
    const DoubleGroup linear = power * e.r, linear_low = Fused(power, e.r, -linear);
    const DoubleGroup second = linear * c, second_low = Fused(linear, c, -second);
    const PairGroup less = AnySum(first, -1.0), third = AnySum(less.high, power * middle);
    const PairGroup sum = AnySum(third.high, second);
    const DoubleGroup after = middle + d;
    const DoubleGroup lost = Fused(linear, after, first_low + second_low);
    const DoubleGroup rest = Fused(linear_low + more, c + after, Fused(power, d, lost));
    const DoubleGroup re = sum.high + ((sum.low + less.low) + (third.low + rest));
    const DoubleGroup s = sc.sine.high, product = power * s, s_lost = Fused(power, s, -product);
    const DoubleGroup im =
        product + Fused(linear + more, s + sc.sine.low, Fused(power, sc.sine.low, s_lost));
    // Of x = 0 the real part is -y^2 / 2, however small.
    const DoubleGroup zero = Choose(Compare<_CMP_EQ_OQ>(z.im, 0.0), z.re, -0.0);
    return {Choose(Compare<_CMP_EQ_OQ>(re, 0.0), zero, re), WithSign(im, Turned(s, sc.turn))};
  }
};

struct Sin {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutside(z.im, z.re); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const SineCosine sc = SineCosineOf(z.re);
    const Hyperbolic h = HyperbolicOf<false>(z.im);
    const DoubleGroup re = Rounded(Times(sc.sine, h.cosh)), im = Rounded(Times(sc.cosine, h.sinh));
    const DoubleGroup side = Turned(sc.cosine.high, ToWords(z.im));
    return {WithSign(re, Turned(sc.sine.high, sc.turn)), WithSign(im, Turned(side, sc.turn))};
  }
};
// cos x cosh y - i sin x sinh y.
struct Cos {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return Sin::IsRare(z); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const SineCosine sc = SineCosineOf(z.re);
    const Hyperbolic h = HyperbolicOf<false>(z.im);
    const DoubleGroup re = Rounded(Times(sc.cosine, h.cosh)), im = Rounded(Times(sc.sine, h.sinh));
    const DoubleGroup side = Turned(sc.sine.high, ToWords(-z.im));
    return {WithSign(re, Turned(sc.cosine.high, sc.turn)), WithSign(im, Turned(side, sc.turn))};
  }
};

constexpr double kVanishes = 375;  // from here on the imaginary part is 0

// (sinh x cosh x + i sin y cos y) / (sinh(x)^2 + cos(y)^2), all but the sine over powers of 2.
PJRT_INLINE ComplexGroup TanhOf(DoubleGroup x, DoubleGroup y) {
  const SineCosine sc = SineCosineOf(y);
  const Hyperbolic h = HyperbolicOf<true>(Smaller(kVanishes, Magnitude(x)));
  const PairGroup cosine = {ScaledInside(sc.cosine.high, -h.n), ScaledInside(sc.cosine.low, -h.n)};
  const PairGroup divisor = Sum(Square(h.sinh), Square(cosine));
  const DoubleGroup inverse = DoubleGroup(1.0) / divisor.high;
  const DoubleGroup re = Quotient(Times(h.sinh, h.cosh), divisor, inverse);
  const DoubleGroup im = ScaledInside(Quotient(Times(sc.sine, cosine), divisor, inverse), -h.n);
  return {WithSign(re, x), WithSign(im, Turned(sc.sine.high, ToWords(sc.cosine.high)))};
}
PJRT_INLINE MaskGroup IsOutsideOfTanh(DoubleGroup x, DoubleGroup angle) {
  return Either(Compare<_CMP_NLT_UQ>(Magnitude(x), 1e300),
                Compare<_CMP_NLE_UQ>(Magnitude(angle), kLargestAngle));
}
struct Tanh {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutsideOfTanh(z.re, z.im); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) { return TanhOf(z.re, z.im); }
};
// tan(z) = -i tanh(iz).
struct Tan {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutsideOfTanh(z.im, z.re); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const ComplexGroup turned = TanhOf(z.im, z.re);
    return {turned.im, turned.re};
  }
};

}  // namespace

void FillComplexTablesC128(BlockKernels* k) {
  using namespace complexes;
  Entry(k, BlockOp::kExp, CType::kC128) = ComplexesLoop<Exp, CompleteExp>;
  Entry(k, BlockOp::kExpm1, CType::kC128) = ComplexesLoop<Expm1, CompleteExpm1>;
  Entry(k, BlockOp::kSin, CType::kC128) = ComplexesLoop<Sin, CompleteSin>;
  Entry(k, BlockOp::kCos, CType::kC128) = ComplexesLoop<Cos, CompleteCos>;
  Entry(k, BlockOp::kTanh, CType::kC128) = ComplexesLoop<Tanh, CompleteTanh>;
  Entry(k, BlockOp::kTan, CType::kC128) = ComplexesLoop<Tan, CompleteTan>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
