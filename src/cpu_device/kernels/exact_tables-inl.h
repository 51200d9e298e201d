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

// Half of exp(k log(2) / 16 + offset) and of its inverse, as the bits of which k << 48 is taken
// away or added, and the offset.
enum { kUp, kDown, kPowerOffset };
constexpr Columns<3> kExactPowers = {
    {{{1, 0x1.0b5586cf78913p+0, 0x1.172b83c7b9007p+0, 0x1.2387a6e76e976p+0, 0x1.306fe0a318520p+0,
       0x1.3dea64c103fd4p+0, 0x1.4bfdad537bc4bp+0, 0x1.5ab07dd4a4c19p+0, 0x1.6a09e6aeaf0afp+0,
       0x1.7a11473e8dbfbp+0, 0x1.8ace54228c2a1p+0, 0x1.9c49182a67961p+0, 0x1.ae89f995b1a54p+0,
       0x1.c199bdd823491p+0, 0x1.d5818dcfade5fp+0, 0x1.ea4afa2a83bd6p+0}},
     {{1, 0x1.ea4afa2a83bd6p-1, 0x1.d5818dcfe986ap-1, 0x1.c199bdd82f73cp-1, 0x1.ae89f995b1a54p-1,
       0x1.9c49182a67961p-1, 0x1.8ace54228c2a1p-1, 0x1.7a11473e8dbfbp-1, 0x1.6a09e621386ebp-1,
       0x1.5ab07dd4a4c19p-1, 0x1.4bfdad537bc4bp-1, 0x1.3dea64c103fd4p-1, 0x1.306fe0a318520p-1,
       0x1.2387a6e7767b0p-1, 0x1.172b83c7dc74ep-1, 0x1.0b5586cf78913p-1}},
     {{0, -0x1.ea47840000000p-36, -0x1.9c265c0000000p-36, 0x1.578f000000000p-36,
       -0x1.5013000000000p-39, -0x1.92de5c0000000p-36, 0x1.3617ac0000000p-36, 0x1.741cf00000000p-36,
       0x1.901e62e000000p-27, -0x1.741cf00000000p-36, -0x1.3617ac0000000p-36, 0x1.92de5c0000000p-36,
       0x1.5013000000000p-39, -0x1.c666c40000000p-36, -0x1.b02ee00000000p-38,
       0x1.ea47840000000p-36}}}};
constexpr Columns<3> MakeHalfPowers() {
  Columns<3> bits = kExactPowers;
  for (uint64_t i = 0; i < 16; ++i) {
    const double up = bits.column[kUp].entry[i] / 2, down = bits.column[kDown].entry[i] / 2;
    bits.column[kUp].entry[i] =
        __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, up) - (i << 48));
    bits.column[kDown].entry[i] =
        __builtin_bit_cast(double, __builtin_bit_cast(uint64_t, down) + (i << 48));
  }
  return bits;
}
constexpr Columns<3> kHalfPowers = MakeHalfPowers();

// sinh and cosh of |x| < 700. Second parts are up to 0.03 of a cosh, and 0.6 of a sinh or all of
// it.
struct HyperbolicPoint {
  PairGroup sinh, cosh;
};
PJRT_INLINE HyperbolicPoint HyperbolicPointOf(DoubleGroup x) {
  // log(2) / 16 in two parts, of which the first has 36 bits.
  constexpr double kStep = 0x1.62e42fefap-5, kStepLow = 0x1.cf79abc9e3b3ap-44;
  const DoubleGroup size = Magnitude(x);
  const DoubleGroup shifted = Fused(size, 0x1.71547652b82fep+4, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const auto power = EntriesAt<kHalfPowers>(ToWords(shifted));
  const WordGroup n = ShiftedLeft<48>(ToWords(shifted));
  const DoubleGroup p = ToDoubles(ToWords(power[kUp]) + n);
  const DoubleGroup q = ToDoubles(ToWords(power[kDown]) - n);
  const DoubleGroup most = FusedLess(k, kStep, size) - power[kPowerOffset];
  const DoubleGroup r = FusedLess(k, kStepLow, most), tail = FusedLess(k, kStepLow, most - r);
  const DoubleGroup s = p - q, s_low = (p - s) - q, c = p + q, c_low = (p - c) + q;
  const DoubleGroup r2 = r * r, cubed = r * r2;
  const DoubleGroup sinh12 = Fused(r2, 0x1.a01b118a75c35p-13, 0x1.11111110df174p-7);
  const DoubleGroup cosh12 = Fused(r2, 0x1.6c17f353d3ca1p-10, 0x1.55555554e4e34p-5);
  const DoubleGroup more_sinh = Fused(cubed, Fused(r2, sinh12, 0x1.5555555555556p-3), tail);
  const DoubleGroup less_cosh = r2 * Fused(r2, cosh12, 0.5), sinh = Fused(c, r, s);
  const DoubleGroup sinh_lost = Fused(c, r, s - sinh) + s_low;
  return {{sinh, Fused(s, less_cosh, Fused(c, more_sinh, sinh_lost))},
          {c, Fused(c, less_cosh, Fused(s, r + more_sinh, c_low))}};
}
PJRT_INLINE DoubleGroup RoundedProduct(PairGroup a, PairGroup b) {
  return Fused(a.high, b.high, Fused(a.low, b.high + b.low, a.high * b.low));
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_EXACT_TABLES_INL_H_
