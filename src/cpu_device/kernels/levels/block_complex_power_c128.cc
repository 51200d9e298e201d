// SPDX-License-Identifier: Apache-2.0
//
// Powers of c128 numbers from tables of 16 entries and short polynomials between them. Levels
// without fused multiply-add have those of block_complex_c128.cc. Logarithms are to base 2 and
// angles in the same unit, log(2), so that one product with the exponent tells the power of 2.
// Largest errors seen, among some 10^6 numbers: 1.6 x 2^-53 of a power's size, and of parts above a
// tenth of it 4.1 ULP, or 6.6 with exponents of a thousand. On an Emerald Rapids one takes 3.7 ns.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/angle_groups-inl.h"
#include "src/cpu_device/kernels/complex_log_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The digits of c, an inverse of each 16th of an octave, without its exponent, and -log2(c) / 2, a
// multiple of 2^-42, to 2^-67. The octave begins at 33/32, so that numbers beside 1 belong to its
// end, where both are exact.
constexpr Columns<2> DigitsOf(Columns<2> columns) {
  constexpr uint64_t kDigits = (uint64_t{1} << 52) - 1;
  for (double& entry : columns.column[0].entry) {
    const uint64_t digits = __builtin_bit_cast(uint64_t, entry) & kDigits;
    entry = __builtin_bit_cast(double, digits);
  }
  return columns;
}
constexpr Columns<2> kHalfLog2s = DigitsOf(
    {{{{0x1.e1e1e1e39132ep-1, 0x1.c71c71bf01886p-1, 0x1.af286bc0a4f21p-1, 0x1.999999aac7f52p-1,
        0x1.86186186172d4p-1, 0x1.745d173efc5c9p-1, 0x1.642c858c59086p-1, 0x1.55555547a002bp-1,
        0x1.47ae147911946p-1, 0x1.3b13b13dcba22p-1, 0x1.2f684bb37b1c8p-1, 0x1.24924920ad5c0p-1,
        0x1.1a7b960e0facep-1, 0x1.11111112ecabfp-1, 0x1.0842109132429p-1, 0x1p-1}},
      {{0x1.663f6f97e8000p-5, 0x1.5c01a3d45c000p-4, 0x1.fbc16bd0fc000p-4, 0x1.49a7847eda000p-3,
        0x1.91bba891f6000p-3, 0x1.d6753e1e4a000p-3, 0x1.0c10501668000p-2, 0x1.2b803491a2000p-2,
        0x1.49a784c0e7000p-2, 0x1.66a008de19000p-2, 0x1.82809db9dc000p-2, 0x1.9d5d9fded6000p-2,
        0x1.b74948feb9000p-2, 0x1.d053f6cd5a000p-2, 0x1.e88c6b11a0000p-2, 0x1p-1}}}});

// As kArcs, with arctan(c) / log(2), a multiple of 2^-50.
constexpr Columns<2> kArcOctaves = {
    {{{-0x1.ca430c8a28bf4p-1, -0x1.87fde9a9c47bdp-1, -0x1.506a696e43e67p-1, -0x1.1f25b706d3936p-1,
       -0x1.cbd7f96fdbd56p-2, -0x1.89bc878f2043bp-2, -0x1.51adc85ddb520p-2, -0x1.1fbd5570212bcp-2,
       -0x1.cc86aa12473e9p-3, -0x1.8a68a4a8d7c70p-3, -0x1.521f28f521362p-3, -0x1.1fee5a6b23f36p-3,
       -0x1.ccba99e420449p-4, -0x1.8a99b28ae7e02p-4, -0x1.523e6e1a0767fp-4, 0}},
     {{0x1.0da2f419c2420p+0, 0x1.e2a70352f6a90p-1, 0x1.ad6681cc33fd8p-1, 0x1.798bdfeb75fe8p-1,
       0x1.37c5761449a50p-1, 0x1.0f25cb0dd05d8p-1, 0x1.d6940a366d500p-2, 0x1.94af4f0d7d1b0p-2,
       0x1.46c39ae12d260p-2, 0x1.191095eb99840p-2, 0x1.e3720c3bf1b00p-3, 0x1.9cb11bbf192e0p-3,
       0x1.4af45d83fa260p-3, 0x1.1bc4ae34af380p-3, 0x1.e6e0c6c1b6f80p-4, 0}}}};
// 1 / log(2), and pi / log(2) as a multiple of 2^-50 and a rest.
constexpr double kLog2E = 0x1.71547652b82fep+0, kLog2ELow = 0x1.777d0ffda0d24p-56;
constexpr double kHalfTurn = 0x1.22123045b5decp+2, kHalfTurnLow = -0x1.8eb19cc5f4fe4p-52;

// kAngles, with what adds nothing even to a zero of any sign.
constexpr Columns<4> kTurns = [] {
  Columns<4> angles = kAngles;
  angles.column[kSineRest].entry[0] = -0.0;
  return angles;
}();

// A sum of two parts, and what it is nearly, which is known long before the second part is.
struct Split {
  DoubleGroup near, high, low;
};
// log2(x) / 2 to 2^-64, and of a number near 1 to 2^-59.
PJRT_INLINE Split HalfLog2(PairGroup x) {
  constexpr double kSlope = kLog2E / 8, kSlopeLow = kLog2ELow / 8, kSecond = -kLog2E / 64;
  constexpr uint64_t kDown = uint64_t{1} << 47, kExponent = uint64_t{0x7ff} << 52;
  const WordGroup lowered = ToWords(x.high) - kDown;
  const auto entry = EntriesAt<kHalfLog2s>(ShiftedRight<48>(lowered));
  // 4 c 2^-k: its exponent's bits are those of k, inverted.
  const DoubleGroup inverse = ToDoubles(OrOthers(ToWords(entry[0]), lowered, kExponent));
  const DoubleGroup whole = Fused(ExponentOfNormal(ToDoubles(lowered)), 0.5, entry[1]);
  const DoubleGroup part = x.high * inverse, h = part - 4.0;
  const DoubleGroup h_low = Fused(x.low, inverse, FusedFrom(x.high, inverse, part));
  const DoubleGroup log = Fused(h, kSlope, whole), lost = FusedFrom(h, kSlope, log - whole);
  DoubleGroup p = Fused(h, -0x1.25fc2ee563d25p-24, 0x1.48e5552f992b2p-22);
  p = Fused(h, p, -0x1.71554a2098c4ap-20);
  p = Fused(h, p, 0x1.a6174406c53e9p-18);
  p = Fused(h, p, -0x1.ec709da208bbfp-16);
  p = Fused(h, p, 0x1.2776c5102dfccp-13);
  p = Fused(h, p, -0x1.71547652b918dp-11);
  p = Fused(h, p, 0x1.ec709dc3a0384p-9);
  p = Fused(h, Fused(h, p, kSecond), kSlopeLow);
  return {Fused(h * h, kSecond, log), log,
          Fused(h, p, Fused(h_low, FusedLess(h, kSlope / 4, kSlope), lost))};
}

// The angle of z in units of log(2), to 2^-63. The tangent of its arc back to an axis is p / q.
PJRT_INLINE Split OctavesOf(ComplexGroup z, MaskGroup flat, DoubleGroup p, DoubleGroup q) {
  const auto near = ArcNear<kArcOctaves>(p, q);
  const WordGroup side = ToWords(p) ^ ToWords(q);
  const DoubleGroup c = Turned(near[0], side), product = c * q, dividend = p + product;
  const DoubleGroup divisor = FusedLess(c, p, q), divisor_low = FusedLess(c, p, q - divisor);
  const DoubleGroup inverse = DoubleGroup(1.0) / divisor, t = dividend * inverse;
  const DoubleGroup lost = FusedLess(t, divisor, dividend) + FusedFrom(c, q, product);
  const DoubleGroup t_low = FusedLess(t, divisor_low, lost) * inverse, t2 = t * t;
  DoubleGroup series = Fused(t2, 0x1.bd650a5171d03p-4, -0x1.0c8fbf4e3854dp-3);
  series = Fused(t2, series, 0x1.484b07593f70cp-3);
  series = Fused(t2, series, -0x1.a61762a054b9fp-3);
  series = Fused(t2, series, 0x1.2776c50ef8c08p-2);
  constexpr double kThird = -0x1.ec709dc3a03fcp-2;
  series = Fused(t2, series, kThird);
  const DoubleGroup turns = WithSign(HalfTurnsOf(flat, z.re), z.im);
  // This sum is exact.
  const DoubleGroup start = FusedFrom(turns, kHalfTurn, Turned(near[1], side));
  const DoubleGroup angle = FusedLess(t, kLog2E, start);
  const DoubleGroup more = Fused(t_low, kLog2E, Fused(t, kLog2E, angle - start));
  const DoubleGroup low = FusedFrom(turns, kHalfTurnLow, more);
  return {FusedLess(t * t2, kThird, angle), angle, FusedLess(t, Fused(t2, series, kLog2ELow), low)};
}

// exp(b log(a)) in two steps: of short loops more iterations overlap than of a long one.
struct Power {
  PJRT_INLINE C128 RunRare(C128 a, C128 b) { return complexes::CompletePower(a, b); }
  // The size is 2^(n + r), with 16 n in the last bits of `octaves`, and the angle k pi / 16 and
  // `rest` times log(2), with k in those of `turns`. To keep n takes less time than to find it
  // again.
  struct Half {
    DoubleGroup octaves, n, r, turns, rest;
  };
  static constexpr double kLeast = 0x1p-400, kMostOctaves = 1010, kMostTurns = 0x1p+22;
  static constexpr double kOctaveShift = kIntegerShift / 16;
  // Sums of squares of the exponent's parts, and the least one of what may not be small.
  struct Watched {
    DoubleGroup octaves = 0.0, turns = 0.0, least = 1.0;
  };
  PJRT_INLINE MaskGroup MayBeOutside(const Watched& x) {
    return Either(Compare<_CMP_NLT_UQ>(x.octaves, kMostOctaves * kMostOctaves),
                  Either(Compare<_CMP_NLE_UQ>(x.turns, kMostTurns * kMostTurns),
                         Compare<_CMP_NGE_UQ>(x.least, kLeast)));
  }
  PJRT_INLINE void Begin(ComplexGroup a, ComplexGroup b, Half* half, Watched* watched) {
    const DoubleGroup q = OfLargerSize(a.re, a.im);
    const MaskGroup flat = Compare<_CMP_EQ_OQ>(q, a.re);
    const DoubleGroup p = ChooseOpposite(flat, a.im, a.re);
    const Split log = HalfLog2(SumOfSquares(q, p)), angle = OctavesOf(a, flat, p, q);
    // The products' sum in two parts, of which the first is a multiple of 1/16.
    const DoubleGroup re_log = Fused(b.re, log.near, kOctaveShift);
    const DoubleGroup octaves = FusedLess(b.im, angle.near, re_log);
    const DoubleGroup re_log_rest = FusedFrom(b.re, log.high, re_log - kOctaveShift);
    const DoubleGroup im_angle_rest = FusedLess(b.im, angle.high, re_log - octaves);
    const DoubleGroup r = Fused(b.re, log.low, re_log_rest + im_angle_rest);
    const DoubleGroup n = octaves - kOctaveShift;
    half->octaves = octaves;
    half->n = n;
    half->r = FusedLess(b.im, angle.low, r);
    // The same, of a multiple of 2^-12, which is reduced without a rounding. Zeros keep their
    // signs, as `away` is never -0.
    constexpr double kShift = 0x1.8p+40, kStep = kHalfTurn / 16, kStepLow = kHalfTurnLow / 16;
    const DoubleGroup re_angle = Fused(b.re, angle.near, kShift);
    const DoubleGroup both = Fused(b.im, log.near, re_angle), sum = both - kShift;
    const DoubleGroup re_angle_rest = FusedFrom(b.re, angle.high, re_angle - kShift);
    const DoubleGroup im_log_rest = FusedFrom(b.im, log.high, both - re_angle);
    const DoubleGroup turns = Fused(sum, 1 / kStep, kIntegerShift);
    const DoubleGroup k = turns - kIntegerShift;
    DoubleGroup away = Fused(k, kStepLow, FusedFrom(k, kStep, sum));
    away = FusedLess(b.im, log.low, FusedLess(b.re, angle.low, away));
    half->turns = turns;
    half->rest = (re_angle_rest + im_log_rest) - away;
    watched->octaves = Fused(n, n, watched->octaves);
    watched->turns = Fused(k, k, watched->turns);
    watched->least = LeastSize(ZeroAtZeroAndOne(watched->least, b.re), UnlessZero(p, q));
  }
  // Whether squares of parts or quotients of them may leave the range, or the exponent is large, or
  // rules for it hold.
  PJRT_INLINE MaskGroup IsOutside(const Half& x, ComplexGroup a, ComplexGroup b) {
    const DoubleGroup width = Magnitude(a.re), height = Magnitude(a.im);
    const DoubleGroup least = UnlessZero(Smaller(width, height), Larger(height, width));
    const DoubleGroup zero = 0.0;
    const MaskGroup small = Compare<_CMP_NGE_UQ>(least, kLeast);
    const MaskGroup plain =
        Both(Compare<_CMP_EQ_OQ>(b.im, zero), Compare<_CMP_EQ_OQ>(b.re * b.re, b.re));
    const DoubleGroup n = Magnitude(x.n), k = Magnitude(x.turns - kIntegerShift);
    return Either(Either(small, plain), Either(Compare<_CMP_NLT_UQ>(n, kMostOctaves),
                                               Compare<_CMP_NLE_UQ>(k, kMostTurns)));
  }
  PJRT_INLINE DoubleGroup SizeOf(const Half& x) {
    const auto powers = EntriesAt<kPowers>(ToWords(x.octaves));
    const DoubleGroup r = x.r, power = powers[0];
    DoubleGroup g = Fused(r, 0x1.ffe4d9fbc3f98p-17, 0x1.430e6b6cd70cap-13);
    g = Fused(r, g, 0x1.5d87fe2ad9ba6p-10);
    g = Fused(r, g, 0x1.3b2ab6ef2b799p-7);
    g = Fused(r, g, 0x1.c6b08d704b5aep-5);
    g = Fused(r, g, 0x1.ebfbdff82c7a3p-3);
    g = Fused(r, g, 0x1.62e42fefa39efp-1);
    return ScaledByFloor(Fused(power, Fused(r, g, powers[1]), power), x.n);
  }
  PJRT_INLINE ComplexGroup End(const Half& x) {
    const auto turn = EntriesAt<kTurns>(ToWords(x.turns));
    const DoubleGroup s = turn[kSine], c = turn[kCosine], r = x.rest, r2 = r * r;
    DoubleGroup sine = Fused(r2, 0x1.ace20142a747fp-24, -0x1.ffcb2bd39c7a2p-17);
    sine = Fused(r2, sine, 0x1.5d87fe7184d7ep-10);
    sine = Fused(r2, sine, -0x1.c6b08d7049a93p-5);
    sine = r * Fused(r2, sine, 0x1.62e42fefa39efp-1);
    DoubleGroup less = Fused(r2, 0x1.62a8729cf03e9p-20, -0x1.4309122d7bfcdp-13);
    less = Fused(r2, less, 0x1.3b2ab6fb9f9e2p-7);
    // Not -0 of 0, so that a zero keeps its sign.
    less = Fused(r2, Fused(r2, less, -0x1.ebfbdff82c58cp-3), 0.0);
    const DoubleGroup more_im = Fused(c, sine, Fused(s, less, turn[kSineRest]));
    const DoubleGroup more_re = FusedLess(s, sine, Fused(c, less, turn[kCosineRest]));
    const DoubleGroup size = Turned(SizeOf(x), ShiftedLeft<59>(ToWords(x.turns)));
    return {Fused(size, c, size * more_re), Fused(size, s, size * more_im)};
  }
};

}  // namespace

void FillComplexPowerC128(BlockKernels* k) { SetBinaryComplex<Power>(k, BlockOp::kPower); }

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
