// SPDX-License-Identifier: Apache-2.0
//
// Logarithms of f64 without quotients, by a table of inverses and their logarithms that a
// permutation reads. On an Emerald Rapids Log takes 0.8 ns an element and Log1p 0.9, where by
// quotients they took 1.3. Levels without fused multiply-add have those of block_exp_f64.cc.
// Largest errors seen, over some 10^7 arguments: Log 0.72, Log1p 1.12 ULP.
#include "src/cpu_device/kernels/log_groups-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// What SplitLog and halves serve.
constexpr double kLeast = 0x1p-1022, kMost = 0x1p+1020;
PJRT_INLINE MaskGroup IsBeyond(DoubleGroup x) {
  return Either(Compare<_CMP_NGE_UQ>(x, kLeast), Compare<_CMP_NLE_UQ>(x, kMost));
}
// The logarithm of 1 + 2 (h + tail) times the number of which the split has the logarithm.
PJRT_INLINE DoubleGroup LogOf(const LogSplit& split, DoubleGroup h, DoubleGroup tail) {
  const DoubleGroup sum = split.whole + h, lost = (split.whole - sum) + h;
  const DoubleGroup more = LogSeries(h + tail, Fused(split.k, kHalfLn2Low, tail));
  const DoubleGroup half = sum + (lost + more);
  return half + half;
}
PJRT_INLINE DoubleGroup LogOf(const LogSplit& split, DoubleGroup x) {
  const DoubleGroup product = x * split.inverse;
  return LogOf(split, product - 0.5, Fused(x, split.inverse, -product));
}
constexpr double kInfinity = __builtin_inf();
// Of what is not a positive finite number.
PJRT_INLINE DoubleGroup LogOfSpecial(DoubleGroup x) {
  const DoubleGroup below = Choose(Compare<_CMP_EQ_OQ>(x, 0.0), -kInfinity, __builtin_nan(""));
  return Choose(Compare<_CMP_LE_OQ>(x, 0.0), below, x);
}
// Of any numbers.
__attribute__((noinline)) DoubleGroup LogOfAny(DoubleGroup x) {
  constexpr double kStep = 54;
  const MaskGroup small = Compare<_CMP_LT_OQ>(x, kLeast), large = Compare<_CMP_GT_OQ>(x, kMost);
  const DoubleGroup inside = Choose(small, x * 0x1p+54, Choose(large, x * 0x1p-54, x));
  const DoubleGroup step = Keep(large, kStep) - Keep(small, kStep);
  LogSplit split = SplitLog(inside);
  split.k = split.k + step;
  split.whole = Fused(step, kHalfLn2, split.whole);  // exact
  const MaskGroup finite = Both(Compare<_CMP_LT_OQ>(0.0, x), Compare<_CMP_LT_OQ>(x, kInfinity));
  return Choose(finite, LogOf(split, inside), LogOfSpecial(x));
}
// The logarithm of x from what LogOf gave for it.
#if defined(__AVX512F__)
PJRT_INLINE Doubles WithSpecials(Doubles log, Doubles x) {
  // Of NaNs and infinity they themselves, of zeros minus infinity.
  constexpr int kQuietNan = 0, kSignalingNan = 1, kZero = 2, kPlusInfinity = 5;
  constexpr int kItself = 1, kMinusInfinite = 4;
  constexpr uint64_t kResults = kItself << 4 * kQuietNan | kItself << 4 * kSignalingNan |
                                kMinusInfinite << 4 * kZero | kItself << 4 * kPlusInfinity;
  constexpr int kNegative = 0x40 | 0x10;
  return _mm512_mask_mov_pd(_mm512_fixupimm_pd(log, x, AllWords(kResults), 0),
                            _mm512_fpclass_pd_mask(x, kNegative), All(__builtin_nan("")));
}
PJRT_INLINE Mask IsDenormal(Doubles x) { return _mm512_fpclass_pd_mask(x, 0x20); }
PJRT_INLINE DoubleGroup Mended(DoubleGroup x, DoubleGroup log) {
  if (__builtin_expect(!AnyOf(IsBeyond(x)), 1)) return log;
  const MaskGroup others =
      Either(PJRT_EACH(MaskGroup, IsDenormal(x.v[i])), Compare<_CMP_GT_OQ>(x, kMost));
  if (__builtin_expect(AnyOf(others), 0)) log = Choose(others, LogOfAny(x), log);
  return PJRT_EACH(DoubleGroup, WithSpecials(log.v[i], x.v[i]));
}
#else
PJRT_INLINE DoubleGroup Mended(DoubleGroup x, DoubleGroup log) {
  const MaskGroup beyond = IsBeyond(x);
  if (__builtin_expect(!AnyOf(beyond), 1)) return log;
  const MaskGroup finite = Both(Compare<_CMP_LT_OQ>(0.0, x), Compare<_CMP_LT_OQ>(x, kInfinity));
  return Choose(beyond, AnyOf(Both(beyond, finite)) ? LogOfAny(x) : LogOfSpecial(x), log);
}
#endif

struct Log {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) { return Mended(x, LogOf(SplitLog(x), x)); }
};

// log(sum + low), where both are 1 + x. Zeros and the smallest ones, of which halves may lose
// digits, stay.
PJRT_INLINE DoubleGroup LogOfSum(DoubleGroup x, DoubleGroup sum, DoubleGroup low) {
  const LogSplit split = SplitLog(sum);
  const DoubleGroup log = LogOf(split, Fused(sum, split.inverse, -0.5), low * split.inverse);
  return Choose(Compare<_CMP_LT_OQ>(Magnitude(x), 0x1p-60), x, log);
}
struct Log1p {
  PJRT_INLINE DoubleGroup Run(DoubleGroup x) {
    const DoubleGroup sum = x + 1;
    const DoubleGroup low = Smaller(x, 1.0) - (sum - Larger(x, 1.0));  // what it lost
    return Mended(sum, LogOfSum(x, sum, low));
  }
};

}  // namespace

void FillLogsF64(BlockKernels* k) {
  BesideEntry(k, BlockOp::kLog, CType::kF64) = DoublesLoop<Log>;
  BesideEntry(k, BlockOp::kLog1p, CType::kF64) = DoublesLoop<Log1p>;
}
#else
void FillLogsF64(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
