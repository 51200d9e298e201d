// SPDX-License-Identifier: Apache-2.0
//
// Logarithms in groups of vectors. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LOG_GROUPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LOG_GROUPS_INL_H_

#include "src/cpu_device/kernels/double_groups-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// c and -log(c) / 2 for a c near the inverse of each 16th of an octave's fractions; that octave
// begins at 0.734. The logarithms are multiples of 2^-42, to 2^-67, and c is over 2 and times
// 2^1023, so that an exponent's bits can be subtracted from it.
constexpr Columns<2> kHalfLogs = {
    {{{0x1.5555550c2ec25p+1022, 0x1.47ae14521cecep+1022, 0x1.3b13b11502367p+1022,
       0x1.2f684bb47c774p+1022, 0x1.249248dca5638p+1022, 0x1.1a7b95e8c7684p+1022,
       0x1.111110c68a6cdp+1022, 0x1.084210516379bp+1022, 0x1p+1022, 0x1.e1e1e16eb9c65p+1021,
       0x1.c71c71bb4a936p+1021, 0x1.af286b493dbc2p+1021, 0x1.9999997c4c53ap+1021,
       0x1.86186150326e1p+1021, 0x1.745d173ebc55ep+1021, 0x1.642c8589c0593p+1021}},
     {{-0x1.26962037da000p-3, -0x1.f991c5cc70000p-4, -0x1.a93ed2d13c000p-4, -0x1.5bf405b78c000p-4,
       -0x1.1178e62b04000p-4, -0x1.9335e384e0000p-5, -0x1.085986fc00000p-5, -0x1.0415d27980000p-6,
       0, 0x1.f0a313a6c0000p-6, 0x1.e270774d10000p-5, 0x1.5ff3096e94000p-4, 0x1.c8ff7d0c2c000p-4,
       0x1.1675cb4836000p-3, 0x1.4618bc3540000p-3, 0x1.739d7f7fb4000p-3}}}};
constexpr double kHalfLn2 = 0x1.62e42fefa3p-2, kHalfLn2Low = 0x1.3de6af278ece6p-43;
constexpr double kHalfLn2Near = 0x1.62e42fefa39efp-2;

// A positive number that is not a denormal is 2^k times what `inverse` is half the inverse of, and
// a rest; `whole` is the logarithm of its root but for that rest.
struct LogSplit {
  DoubleGroup k, inverse, whole;
};
template <const auto& kLogs = kHalfLogs>
PJRT_INLINE LogSplit SplitLog(DoubleGroup x, double half_ln2 = kHalfLn2) {
  constexpr uint64_t kUp = (uint64_t{1} << 51) + (uint64_t{1} << 47);
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
  const WordGroup lifted = ToWords(x) + kUp;
  const auto part = EntriesAt<kLogs>(ShiftedRight<48>(lifted));
  const DoubleGroup k = ExponentOfNormal(ToDoubles(lifted));
  return {k, ToDoubles(ToWords(part[0]) - (lifted & kExponent)), Fused(k, half_ln2, part[1])};
}
// log(1 + 2h) / 2 - h for h up to 2^-6, with `more` added.
PJRT_INLINE DoubleGroup LogSeries(DoubleGroup h, DoubleGroup more) {
  const DoubleGroup h2 = h * h, h4 = h2 * h2;
  const DoubleGroup p01 = Fused(h, 0x1.555555555554ap+0, -0x1.ffffffffffff3p-1);
  const DoubleGroup p23 = Fused(h, 0x1.9999999a5415cp+1, -0x1.0000000066907p+1);
  const DoubleGroup p45 = Fused(h, 0x1.24923a9363fa9p+3, -0x1.5555454f53a61p+2);
  const DoubleGroup p67 = Fused(h, 0x1.c7d6d687e6d35p+4, -0x1.006683c32b386p+4);
  const DoubleGroup p = Fused(h4, Fused(h2, p67, p45), Fused(h2, p23, p01));
  return Fused(h2, p, more);
}
// Half the logarithm of x + low.
PJRT_INLINE DoubleGroup HalfLog(const LogSplit& split, DoubleGroup x, DoubleGroup low) {
  const DoubleGroup h = Fused(x, split.inverse, -0.5), tail = low * split.inverse;
  const DoubleGroup more = LogSeries(h + tail, Fused(split.k, kHalfLn2Low, tail));
  return split.whole + (h + more);
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LOG_GROUPS_INL_H_
