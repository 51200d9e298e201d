// SPDX-License-Identifier: Apache-2.0
//
// Sines and cosines, and powers of e and their inverses, from tables at points that are so near to
// multiples of pi / 16 and log(2) / 16 that both functions there are f64 numbers but for 2^-61: no
// second parts are to be fetched. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_EXACT_TABLES_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_EXACT_TABLES_INL_H_

#include "src/cpu_device/kernels/angle_groups-inl.h"
#include "src/cpu_device/kernels/complex_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// A sine and a cosine but for a sign that `turn` has for both. The sign of a zero is right. Second
// parts are up to 2^-7 of the first.
struct UnitPoint {
  PairGroup sine, cosine;
  WordGroup turn;
};
PJRT_INLINE UnitPoint UnitPointOf(DoubleGroup x) {
  const PointAngle angle = PointAngleOf(x);
  const DoubleGroup s = angle.sine, c = angle.cosine, r = angle.r;
  const auto [more_sine, less_cosine] = SmallAngleOf(r, angle.tail);
  const DoubleGroup sine = Fused(c, r, s), cosine = FusedLess(s, r, c);
  const DoubleGroup sine_lost = Fused(c, r, s - sine), cosine_lost = FusedLess(s, r, c - cosine);
  return {{sine, Fused(s, less_cosine, Fused(c, more_sine, sine_lost))},
          {cosine, Fused(c, less_cosine, FusedLess(s, more_sine, cosine_lost))},
          angle.turn};
}

// exp(k log(2) / 16 + offset) and its inverse, and the offset, of so few digits that its
// subtraction is exact. The last bit of exponentials and the last four of their inverses are 0, so
// that sums and differences of both are exact for k < 32.
enum { kUp, kDown, kPowerOffset };
constexpr Columns<3> kExactPowers = {
    {{{1, 0x1.0b5586cf93862p+0, 0x1.172b83c7d3b6cp+0, 0x1.2387a6e75ac6ap+0, 0x1.306fe0a31c48ep+0,
       0x1.3dea64c12221cp+0, 0x1.4bfdad53619bp+0, 0x1.5ab07dd48c266p+0, 0x1.6a09e6aedc68ap+0,
       0x1.7a11473eaa64ep+0, 0x1.8ace5422ab47p+0, 0x1.9c49182a49fe4p+0, 0x1.ae89f995b15d2p+0,
       0x1.c199bdd8521b2p+0, 0x1.d5818dcfb3c54p+0, 0x1.ea4afa2a493b6p+0}},
     {{1, 0x1.ea4afa2a524dp-1, 0x1.d5818dcfbc9ap-1, 0x1.c199bdd84e03p-1, 0x1.ae89f995ac0ap-1,
       0x1.9c49182a407fp-1, 0x1.8ace5422ab47p-1, 0x1.7a11473ea895p-1, 0x1.6a09e6210b11p-1,
       0x1.5ab07dd48a7dp-1, 0x1.4bfdad53619bp-1, 0x1.3dea64c11acfp-1, 0x1.306fe0a31885p-1,
       0x1.2387a6e7581fp-1, 0x1.172b83c7d8f7p-1, 0x1.0b5586cf9878p-1}},
     {{0, -0x1.3507p-38, -0x1.43a32p-40, 0x1.049b18p-38, 0x1.6a834p-41, -0x1.d0724p-41,
       -0x1.96498p-41, 0x1.459ap-38, 0x1.911f03dp-27, -0x1.ee26ep-39, 0x1.96498p-41, 0x1.b376dp-38,
       0x1.3aa1ap-39, -0x1.bda08p-40, -0x1.c685dp-39, 0x1.7e74p-44}}}};
// The same, times `scale`, as the bits of which k << 48 is taken away or added.
constexpr Columns<3> PowersTimes(double scale) {
  Columns<3> bits = kExactPowers;
  for (uint64_t i = 0; i < 16; ++i) {
    const double up = bits.column[kUp].entry[i] * scale, down = bits.column[kDown].entry[i] * scale;
    bits.column[kUp].entry[i] =
        __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, up) - (i << 48));
    bits.column[kDown].entry[i] =
        __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, down) + (i << 48));
  }
  return bits;
}
constexpr Columns<3> kHalfPowers = PowersTimes(0.5), kWholePowers = PowersTimes(1);

// Those of a point, with their signs, and what takes r further: sin(r) - r and cos(r) - 1. The sign
// of c r + s is right where the sine is 0.
struct TurnedAngle {
  DoubleGroup sine, cosine, r, more_sine, less_cosine;
};
template <bool kTail>
PJRT_INLINE TurnedAngle TurnedAngleOf(DoubleGroup x) {
  const PointAngle angle = PointAngleOf<kTail>(x);
  const auto [more_sine, less_cosine] = SmallAngleOf(angle.r, angle.tail);
  return {Turned(angle.sine, angle.turn), Turned(angle.cosine, angle.turn), angle.r, more_sine,
          less_cosine};
}

// exp(x) for |x| < 700 as `up` exp(r), its inverse as `down` exp(-r), and sinh(r) - r and
// cosh(r) - 1; or half of both, by kHalfPowers.
struct SplitPower {
  DoubleGroup up, down, r, more_sinh, less_cosh;
};
template <const auto& kTable, bool kTail = false>
PJRT_INLINE SplitPower SplitPowerOf(DoubleGroup x) {
  // log(2) / 16 in two parts, of which the first has 36 bits.
  constexpr double kStep = 0x1.62e42fefap-5, kStepLow = 0x1.cf79abc9e3b3ap-44;
  const DoubleGroup shifted = Fused(x, 0x1.71547652b82fep+4, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const auto power = EntriesAt<kTable>(ToWords(shifted));
  const WordGroup n = ShiftedLeft<48>(ToWords(shifted));
  const DoubleGroup most = FusedLess(k, kStep, x) - power[kPowerOffset];
  const DoubleGroup r = FusedLess(k, kStepLow, most), r2 = r * r;
  DoubleGroup tail = 0.0;
  if constexpr (kTail) tail = FusedLess(k, kStepLow, most - r);
  const DoubleGroup sinh12 = Fused(r2, 0x1.a01b118a75c35p-13, 0x1.11111110df174p-7);
  const DoubleGroup cosh12 = Fused(r2, 0x1.6c17f353d3ca1p-10, 0x1.55555554e4e34p-5);
  return {ToDoubles(ToWords(power[kUp]) + n), ToDoubles(ToWords(power[kDown]) - n), r,
          Fused(r * r2, Fused(r2, sinh12, 0x1.5555555555556p-3), tail),
          r2 * Fused(r2, cosh12, 0.5)};
}

// sinh and cosh of |x| < 700. Second parts are up to 0.03 of a cosh, and 0.6 of a sinh or all of
// it.
struct HyperbolicPoint {
  PairGroup sinh, cosh;
};
PJRT_INLINE HyperbolicPoint HyperbolicPointOf(DoubleGroup x) {
  const SplitPower h = SplitPowerOf<kHalfPowers, true>(Magnitude(x));
  const DoubleGroup p = h.up, q = h.down, r = h.r;
  const DoubleGroup s = p - q, s_low = (p - s) - q, c = p + q, c_low = (p - c) + q;
  const DoubleGroup sinh = Fused(c, r, s), sinh_lost = Fused(c, r, s - sinh) + s_low;
  return {{sinh, Fused(s, h.less_cosh, Fused(c, h.more_sinh, sinh_lost))},
          {c, Fused(c, h.less_cosh, Fused(s, r + h.more_sinh, c_low))}};
}
PJRT_INLINE DoubleGroup RoundedProduct(PairGroup a, PairGroup b) {
  return Fused(a.high, b.high, Fused(a.low, b.high + b.low, a.high * b.low));
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_EXACT_TABLES_INL_H_
