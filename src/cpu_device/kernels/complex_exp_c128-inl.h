// SPDX-License-Identifier: Apache-2.0
//
// Exponentials and angles' sines and cosines over pieces of f64 numbers, as pairs. See level-inl.h
// for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_EXP_C128_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_EXP_C128_INL_H_

#include "src/cpu_device/kernels/complex_c128-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes {

// exp(x) = scale * (1 + more) with a power of two for |x| < 700 and |more| < 0.42; if kFar for
// |x| < 1000, in two factors: scale * second. To
// 2^-58, or 2^-60 if kPrecise, for what nearly cancels. `x` gives pairs.
struct Exponential {
  PairLanes more;
  Lanes scale, second;
};
template <bool kPrecise, bool kFar, class X>
PJRT_INLINE void ExpOf(X x, Exponential* e) {
  PairLanes r;
  ForPiece([&](int64_t i) {
    const Pair exponent = x(i);
    const wide::Rounded n = wide::Round(exponent.high, 0x1.71547652b82fep+0);
    const double high = MulAdd(n.value, -f64::kLn2High, exponent.high);
    const double low = MulAdd(n.value, f64::kLn2Low, -exponent.low);
    const double sum = high - low;
    r.Set(i, {sum, (high - sum) - low});
    if constexpr (kFar) {
      const wide::Rounded half = wide::Round(n.value * 0.5);
      const wide::Rounded rest = wide::Round(n.value - half.value);
      e->scale[i] = BitCast<double>((half.bits + 1023) << 52);
      e->second[i] = BitCast<double>((rest.bits + 1023) << 52);
    } else {
      e->scale[i] = BitCast<double>((n.bits + 1023) << 52);
    }
  });
  ForPiece([&](int64_t i) {
    const double t = r.high[i], tail = MulAdd(r.low[i], MulAdd(0.5 * t, t, t), r.low[i]);
    const Pair square = Product(t, t);
    const double t2 = square.high, t4 = t2 * t2;
    const Pair sum = FastSum(t, 0.5 * t2);
    const double low = sum.low + MulAdd(0.5, square.low, tail);
    // (exp(r) - 1 - r - r^2 / 2 - r^3 / 6) / r^4.
    const double p01 = MulAdd(t, 0x1.1111111111111p-7, 0x1.5555555555555p-5);
    const double p23 = MulAdd(t, 0x1.a01a01a019872p-13, 0x1.6c16c16c167dep-10);
    const double p45 = MulAdd(t, 0x1.71de3a5a4b130p-19, 0x1.a01a01a47dd3cp-16);
    const double p67 = MulAdd(t, 0x1.ae642d38e7cf8p-26, 0x1.27e4e1e9af6b9p-22);
    const double p89 = MulAdd(t, 0x1.61bfca555c529p-33, 0x1.1f66f92565855p-29);
    const double p0123 = MulAdd(t2, p23, p01), p4567 = MulAdd(t2, p67, p45);
    const double p = MulAdd(t4, MulAdd(t4, p89, p4567), p0123);
    constexpr double kSixth = 0x1.5555555555555p-3, kSixthLow = 0x1.5555555555555p-57;
    if constexpr (kPrecise) {
      const Pair cube = Product(t2, t);
      const Pair third =
          PowerTimes({cube.high, MulAdd(square.low, t, cube.low)}, kSixth, kSixthLow, t * p);
      const Pair more = FastSum(sum.high, third.high);
      e->more.Set(i, FastSum(more.high, more.low + (third.low + low)));
    } else {
      e->more.Set(i, FastSum(sum.high, MulAdd(t2 * t, MulAdd(t, p, kSixth), low)));
    }
  });
}
// 1 + e.more.
PJRT_INLINE Pair OneMore(const Exponential& e, int64_t i) {
  const Pair sum = FastSum(1, e.more.high[i]);
  return {sum.high, sum.low + e.more.low[i]};
}

// exp(x), without kFar.
PJRT_INLINE Pair PowerOf(const Exponential& e, int64_t i) {
  const Pair one = OneMore(e, i);
  return {one.high * e.scale[i], one.low * e.scale[i]};
}

// The sine and cosine of an angle's distance from the nearest multiple of pi / 2, by the quadrant's
// last bits, for angles up to 2^20; to 2^-56, or 2^-60 if kPrecise. `y` gives pairs. `less` is the
// cosine less 1.
struct SineCosine {
  PairLanes sine, cosine, less;
  uint64_t quadrant[kPiece];
};
template <bool kPrecise, class Y>
PJRT_INLINE void SineCosineOf(Y y, SineCosine* sc) {
  PairLanes r;
  ForPiece([&](int64_t i) {
    // pi / 2 in three parts. The products of the first with 20 bits are exact, and so is what the
    // subtraction of the second leaves.
    constexpr double kPart1 = 0x1.921fb544p+0, kPart2 = 0x1.0b4611a626331p-34,
                     kPart3 = 0x1.1701b839a2520p-88;
    const Pair angle = y(i);
    const wide::Rounded q = wide::Round(angle.high, 0x1.45f306dc9c883p-1);
    const double first = MulAdd(-q.value, kPart1, angle.high);
    const Pair second = Product(q.value, kPart2), sum = Sum(first, -second.high);
    const double rest = MulAdd(-q.value, kPart3, (sum.low - second.low) + angle.low);
    r.Set(i, FastSum(sum.high, rest));
    sc->quadrant[i] = q.bits;
  });
  ForPiece([&](int64_t i) {
    const double t = r.high[i], tail = r.low[i];
    const Pair square = Product(t, t);
    const double s = square.high, s2 = s * s, s_low = MulAdd(2 * t, tail, square.low);
    const double p01 = MulAdd(s, -0x1.a01a01a019386p-13, 0x1.111111111110fp-7);
    const double p23 = MulAdd(s, -0x1.ae645342b3c9bp-26, 0x1.71de3a53d04aep-19);
    const double p45 = MulAdd(s, -0x1.aad031fc08ef2p-41, 0x1.6120f2e5a1edep-33);
    const double p = s * MulAdd(MulAdd(p45, s2, p23), s2, p01);
    constexpr double kSixth = -0x1.5555555555555p-3, kSixthLow = -0x1.5555555555555p-57;
    if constexpr (kPrecise) {
      const Pair cube = Product(t, s);
      const double cube_low = MulAdd(tail, s, MulAdd(t, s_low, cube.low));
      const Pair third = PowerTimes({cube.high, cube_low}, kSixth, kSixthLow, p);
      const Pair sum = FastSum(t, third.high);
      sc->sine.Set(i, FastSum(sum.high, sum.low + (third.low + tail)));
    } else {
      sc->sine.Set(i, FastSum(t, MulAdd(t * s, p + kSixth, MulAdd(-0.5 * s, tail, tail))));
    }
  });
  ForPiece([&](int64_t i) {
    const double t = r.high[i];
    const Pair square = Product(t, t);
    const double s = square.high, s_low = MulAdd(2 * t, r.low[i], square.low);
    const Pair fourth = Product(s, s);
    const double s2 = fourth.high;
    const double p01 = MulAdd(s, 0x1.a01a01a018dd6p-16, -0x1.6c16c16c16c10p-10);
    const double p23 = MulAdd(s, 0x1.1eed8ca229f73p-29, -0x1.27e4fb75fc24fp-22);
    const double p45 = MulAdd(s, 0x1.aac4e4633193bp-45, -0x1.939336896789ep-37);
    const double p = s * MulAdd(MulAdd(p45, s2, p23), s2, p01);
    constexpr double k24th = 0x1.5555555555555p-5, k24thLow = 0x1.5555555555555p-59;
    Pair less;
    if constexpr (kPrecise) {
      const Pair more = PowerTimes({s2, MulAdd(2 * s, s_low, fourth.low)}, k24th, k24thLow, p);
      const Pair sum = FastSum(-0.5 * s, more.high);
      less = FastSum(sum.high, sum.low + MulAdd(-0.5, s_low, more.low));
    } else {
      less = FastSum(-0.5 * s, MulAdd(s2, p + k24th, -0.5 * s_low));
    }
    const Pair sum = FastSum(1, less.high);
    sc->less.Set(i, less);
    sc->cosine.Set(i, {sum.high, sum.low + less.low});
  });
}

// x with the sign that `bits` has in its second last bit: that of sines by their quadrant.
PJRT_INLINE double BySecondBit(double x, uint64_t bits) {
  return BitCast<double>(ToBits(x) ^ ((bits & 2) << 62));
}
PJRT_INLINE Pair BySecondBit(Pair x, uint64_t bits) {
  return {BySecondBit(x.high, bits), BySecondBit(x.low, bits)};
}
// Of the angle itself the sine, or the cosine if kCosine.
template <bool kCosine>
PJRT_INLINE Pair Unsigned(const SineCosine& sc, int64_t i) {
  const bool odd = (sc.quadrant[i] & 1) != 0;
  return kCosine ? f64::Choose(odd, sc.sine[i], sc.cosine[i])
                 : f64::Choose(odd, sc.cosine[i], sc.sine[i]);
}
template <bool kCosine>
PJRT_INLINE Pair Signed(const SineCosine& sc, int64_t i) {
  return BySecondBit(Unsigned<kCosine>(sc, i), sc.quadrant[i] + (kCosine ? 1 : 0));
}
// The same times a positive number; 0 keeps the sign that the product has.
template <bool kCosine>
PJRT_INLINE double SignedTimes(const SineCosine& sc, int64_t i, Pair factor) {
  const Pair value = Unsigned<kCosine>(sc, i);
  const double product = wide::CopySign(TimesRounded(factor, value), value.high);
  return BySecondBit(product, sc.quadrant[i] + (kCosine ? 1 : 0));
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_EXP_C128_INL_H_
