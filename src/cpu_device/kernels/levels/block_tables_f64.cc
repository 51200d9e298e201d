// SPDX-License-Identifier: Apache-2.0
//
// Sine, cosine, tangent, exp(x), exp(x) - 1, tanh and the logistic function of f64 from tables of
// 16 entries, which a permutation fetches, and short polynomials between them. Levels without such
// an instruction have those of block_trig_f64.cc and block_exp_f64.cc. Largest errors seen, over
// some 10^7 arguments: Sin and Cos 0.65, Tan 0.67, Exp 0.77, Logistic 0.77, Expm1 1.01, Tanh 1.02
// ULP. Quotients come from inverses by f32 and in steps: on an Emerald Rapids Tan takes 0.97 ns an
// element, Logistic 0.85 and Tanh 1.0, where by divisions of f64 they took 1.24, 1.05 and 1.27; Exp
// takes 0.42, and without a table it took 0.88.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/angle_groups-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// sin(r + k pi / 16) = s + c r + s (cos(r) - 1) + c (sin(r) - r) with the table's s and c; the
// first sum is kept in two parts. The halves of a period differ in sign only.
PJRT_INLINE DoubleGroup SineOf(Angle angle, WordGroup k) {
  const auto far = EntriesAt<kAngles>(k);
  const DoubleGroup s = far[kSine], c = far[kCosine], r = angle.r;
  const auto [more_sine, less_cosine] = SmallAngleOf(r, angle.tail);
  const DoubleGroup high = Fused(c, r, s);
  const DoubleGroup lost = Fused(c, r, s - high) + far[kSineRest];
  const DoubleGroup low = Fused(s, less_cosine, Fused(c, more_sine, lost));
  return Turned(high + low, ShiftedLeft<59>(k));
}

struct Sin {
  static constexpr double kLargest = kLargestAngle;
  PJRT_INLINE double RunRare(double x) { return __builtin_sin(x); }
  // -0 would come out as 0.
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const Angle angle = ReduceAngle(x);
    return Choose(Compare<_CMP_EQ_OQ>(x, 0.0), x, SineOf(angle, angle.k));
  }
};
struct Cos {
  static constexpr double kLargest = kLargestAngle;
  PJRT_INLINE double RunRare(double x) { return __builtin_cos(x); }
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const Angle angle = ReduceAngle(x);
    return SineOf(angle, angle.k + 8);
  }
};

// (s + c t) / (c - s t) for t = tan(r), both in two parts.
struct Tan {
  static constexpr double kLargest = kLargestAngle;
  static constexpr int kSteps = 2, kKept = 4;
  PJRT_INLINE double RunRare(double x) { return __builtin_tan(x); }
  PJRT_INLINE void Begin(DoubleGroup x, Kept kept) {
    const PointAngle angle = PointAngleOf(x);
    const DoubleGroup s = angle.sine, c = angle.cosine, r = angle.r;
    const DoubleGroup r2 = r * r;
    const DoubleGroup p34 = Fused(r2, 0x1.2548eab8b8086p-7, 0x1.664c321f2de61p-6);
    const DoubleGroup p =
        Fused(Fused(Fused(p34, r2, 0x1.ba1ba316acd9dp-5), r2, 0x1.11111110f62ddp-3), r2,
              0x1.5555555555560p-2);
    const DoubleGroup more = Fused(r * r2, p, angle.tail);
    const DoubleGroup above = Fused(c, r, s), below = FusedLess(s, r, c);
    kept.Put(0, above);
    kept.Put(1, Fused(c, more, Fused(c, r, s - above)));
    kept.Put(2, below);
    kept.Put(3, FusedLess(s, more, FusedLess(s, r, c - below)));
  }
  PJRT_INLINE DoubleGroup End(DoubleGroup x, Kept kept) {
    const DoubleGroup above = kept[0], above_low = kept[1], below = kept[2], below_low = kept[3];
    const DoubleGroup divisor = below + below_low, rough = RoughInverse(divisor);
    const DoubleGroup inverse = Fused(rough, FusedLess(rough, divisor, 1.0), rough);
    const DoubleGroup ratio = above * inverse;
    const DoubleGroup rest =
        FusedLess(ratio, below, above) + FusedLess(ratio, below_low, above_low);
    return ZeroKept(Fused(rest, inverse, ratio), x);
  }
};

// 2^-(i / 16), and what the entries lost, over them.
constexpr Columns<2> kInversePowers = {
    {{{0x1.0000000000000p+0, 0x1.ea4afa2a490dap-1, 0x1.d5818dcfba487p-1, 0x1.c199bdd85529cp-1,
       0x1.ae89f995ad3adp-1, 0x1.9c49182a3f090p-1, 0x1.8ace5422aa0dbp-1, 0x1.7a11473eb0187p-1,
       0x1.6a09e667f3bcdp-1, 0x1.5ab07dd485429p-1, 0x1.4bfdad5362a27p-1, 0x1.3dea64c123422p-1,
       0x1.306fe0a31b715p-1, 0x1.2387a6e756238p-1, 0x1.172b83c7d517bp-1, 0x1.0b5586cf9890fp-1}},
     {{0, -0x1.ff7128fd391f0p-55, 0x1.4a385a63d07a7p-56, 0x1.36eae30af0cb3p-56,
       0x1.c1a7792cb3387p-55, 0x1.1affc2b91ce27p-56, 0x1.db72fc1f0eab4p-55, -0x1.b32dcb94da51dp-56,
       -0x1.3b3efbf5e2228p-54, 0x1.063e1e21c5409p-54, 0x1.690cebb7aafb0p-56, 0x1.59f48a72a4c6dp-55,
       0x1.34d754db0abb6p-55, 0x1.68efde3a8a894p-54, -0x1.01b15eaa59348p-55,
       0x1.79aa65d837b6dp-54}}}};
// 2^(floor(n) - 1) for a normal one.
#if defined(__AVX512F__)
PJRT_INLINE DoubleGroup ScaledHalf(DoubleGroup n) { return Scaled(0.5, n); }
#else
PJRT_INLINE DoubleGroup ScaledHalf(DoubleGroup n) { return ScaledInside(0.5, Floor(n)); }
#endif
constexpr double kSixteenthShift = 0x1.8p+48;  // moves sixteenths into the low bits

// 2^n / (2^n + e) with e = 2^n exp(-x) between 1/2 and 1. `off` is what the rough inverse times the
// divisor, which has two parts, lacks of 1.
struct Logistic {
  static constexpr int kSteps = 2, kKept = 3;
  PJRT_INLINE void Begin(DoubleGroup x, Kept kept) {
    // 1 from 37.4 on, and 0 from -745.2 on. A NaN stays.
    const DoubleGroup inside = Smaller(40.0, Larger(-745.2, x));
    const DoubleGroup shifted = Fused(inside, 0x1.71547652b82fep+0, kSixteenthShift);
    const DoubleGroup n = shifted - kSixteenthShift;
    const auto powers = EntriesAt<kInversePowers>(ToWords(shifted));
    const DoubleGroup power = powers[0];
    const DoubleGroup r = Fused(n, 0x1.cf79abc9e3b3ap-40, FusedFrom(n, 0x1.62e42fefap-1, inside));
    const DoubleGroup r2 = r * r;
    // exp(r) - 1 to 2^-56.
    const DoubleGroup p01 = Fused(r, 0x1.55555554047aap-3, 0x1.0000000000003p-1);
    const DoubleGroup p23 = Fused(r, 0x1.11126f4650f62p-7, 0x1.55555554ace81p-5);
    const DoubleGroup p = Fused(Fused(r2, 0x1.6c181fa13138ep-10, p23), r2, p01);
    const DoubleGroup part = Fused(p, r2, Fused(r, 0x1.000000000000ap+0, powers[1]));
    const DoubleGroup scale = Scaled(1.0, n);
    const DoubleGroup larger = Larger(scale, power), smaller = Smaller(scale, power);
    const DoubleGroup most = larger + smaller, most_low = (larger - most) + smaller;
    const DoubleGroup divisor = Fused(power, part, most);
    kept.Put(0, divisor);
    kept.Put(1, Fused(power, part, most - divisor) + most_low);
    kept.Put(2, n);
  }
  PJRT_INLINE DoubleGroup End(DoubleGroup, Kept kept) {
    const DoubleGroup divisor = kept[0], rough = RoughInverse(divisor);
    const DoubleGroup off = FusedLess(rough, kept[1], FusedLess(rough, divisor, 1.0));
    return Scaled(Fused(rough, Fused(off, off, off), rough), kept[2]);
  }
};

// 2^n times a power of the table times 1 + part. Where it is 0 no product is formed, since those
// that underflow take a hundred times as long as others.
struct Exp {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const MaskGroup some = Compare<_CMP_NLT_UQ>(x, -745.14);
    const DoubleGroup inside =
        Smaller(710.0, Keep(some, x));  // infinity from 709.8 on; a NaN stays
    const DoubleGroup shifted = Fused(inside, 0x1.71547652b82fep+0, kSixteenthShift);
    const DoubleGroup n = shifted - kSixteenthShift;
    const auto powers = EntriesAt<kPowers>(ToWords(shifted));
    const DoubleGroup power = powers[0];
    const DoubleGroup r =
        FusedLess(n, 0x1.cf79abc9e3b3ap-40, FusedLess(n, 0x1.62e42fefap-1, inside));
    const DoubleGroup r2 = r * r;
    // exp(r) - 1 to 2^-56.
    const DoubleGroup p01 = Fused(r, 0x1.55555554047aap-3, 0x1.0000000000003p-1);
    const DoubleGroup p23 = Fused(r, 0x1.11126f4650f62p-7, 0x1.55555554ace81p-5);
    const DoubleGroup p = Fused(Fused(r2, 0x1.6c181fa13138ep-10, p23), r2, p01);
    const DoubleGroup part = Fused(p, r2, Fused(r, 0x1.000000000000ap+0, powers[1]));
    return Keep(some, Scaled(Fused(power, part, power), n));
  }
};

// 2^n (power - 2^-n + power part): the difference is exact but for what `lost` has, and for 2^-n
// beyond power's last bit.
struct Expm1 {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    // -1 below -37.5, and infinity from 709.8 on. A NaN stays.
    const TableExp e = ExpByTable(Smaller(710.0, Larger(-50.0, x)));
    const DoubleGroup n = Floor(e.n), one = Scaled(1.0, -n);
    const DoubleGroup base = e.power - one, lost = e.power - (base + one);
    const DoubleGroup high = Fused(e.power, e.part, base);
    const DoubleGroup low = Fused(e.power, e.part, base - high) + Fused(e.power, e.part_low, lost);
    return WithSign(Scaled(high + low, n), x);
  }
};

// (p - 1) / (p + 1) with p = exp(2 |x|), both over 2^(n + 1), in two parts.
struct Tanh {
  static constexpr int kSteps = 2, kKept = 4;
  PJRT_INLINE void Begin(DoubleGroup x, Kept kept) {
    const DoubleGroup size = Smaller(22.0, Magnitude(x));  // 1 from there on; a NaN stays
    const DoubleGroup shifted = FusedLess(size, 0x1.71547652b82fep+1, kSixteenthShift);
    const DoubleGroup n = shifted - kSixteenthShift;
    const auto powers = EntriesAt<kInversePowers>(ToWords(shifted));
    const DoubleGroup power = powers[0], half = ScaledHalf(n);
    const DoubleGroup most = Fused(n, 0x1.62e42fefap-2, size), tail = n * 0x1.cf79abc9e3b3ap-41;
    const DoubleGroup r = most + tail, r2 = r * r;
    const DoubleGroup g01 = Fused(r, 4 * 0x1.5555555555556p-3, 2 * 0.5);
    const DoubleGroup g23 = Fused(r, 16 * 0x1.11111110e10a7p-7, 8 * 0x1.55555554e9466p-5);
    const DoubleGroup g45 = Fused(r, 64 * 0x1.a01b0c2efda80p-13, 32 * 0x1.6c17ed4cebd18p-10);
    const DoubleGroup g = Fused(r2, Fused(r2, g45, g23), g01);
    const DoubleGroup more = Fused(r2, g, Fused(powers[1], 0.5, tail));
    const DoubleGroup base = FusedFrom(power, 0.5, half), high = Fused(power, most, base);
    const DoubleGroup low = Fused(power, more, Fused(power, most, base - high));
    const DoubleGroup divisor = Fused(half, 2.0, high);
    kept.Put(0, high);
    kept.Put(1, low);
    kept.Put(2, divisor);
    kept.Put(3, (FusedFrom(half, 2.0, divisor) + high) + low);
  }
  PJRT_INLINE DoubleGroup End(DoubleGroup x, Kept kept) {
    const DoubleGroup high = kept[0], low = kept[1], divisor = kept[2], divisor_low = kept[3];
    const DoubleGroup whole = divisor + divisor_low, rough = RoughInverse(whole);
    const DoubleGroup inverse = Fused(rough, FusedLess(rough, whole, 1.0), rough);
    const DoubleGroup quotient = high * inverse;
    const DoubleGroup rest =
        FusedLess(quotient, divisor, high) + FusedLess(quotient, divisor_low, low);
    return WithSign(Fused(rest, inverse, quotient), x);
  }
};

}  // namespace

void FillTablesF64(BlockKernels* k) {
  // Exponentials compute for less long than memory takes: 25 ms for 256 MiB, 27 beside.
  Entry(k, BlockOp::kExp, CType::kF64) = DoublesLoop<Exp>;
  BesideEntry(k, BlockOp::kExpm1, CType::kF64) = DoublesLoop<Expm1>;
  BesideEntry(k, BlockOp::kSin, CType::kF64) = DoublesLoop<Sin, true>;
  BesideEntry(k, BlockOp::kCos, CType::kF64) = DoublesLoop<Cos, true>;
  BesideEntry(k, BlockOp::kTan, CType::kF64) = LoopInSteps<Tan, true>;
  BesideEntry(k, BlockOp::kTanh, CType::kF64) = LoopInSteps<Tanh>;
  BesideEntry(k, BlockOp::kLogistic, CType::kF64) = LoopInSteps<Logistic>;
}
#else
void FillTablesF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
