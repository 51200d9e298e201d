// SPDX-License-Identifier: Apache-2.0
//
// Exponentials, sines and cosines of c128 numbers from tables of 16 entries, which a permutation
// fetches, and short polynomials between them. Levels without such an instruction have those of
// block_complex_exp_c128.cc. Largest errors seen in a part that does not nearly cancel, over some
// 10^7 numbers: 0.6 ULP. On an Emerald Rapids they take 1.65 to 2.1 ns an element.
#define PJRT_VECTORS_AT_ONCE 2
#include "src/cpu_device/kernels/complex_tables_c128-inl.h"
#include "src/cpu_device/kernels/exact_tables-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Whether an element may be IsOutside.
PJRT_INLINE bool AnyOutside(DoubleGroup x, DoubleGroup angle) {
  // Sums have the NaNs of all.
  const DoubleGroup size = Fused(Magnitude(x), kLargestAngle / 700, Magnitude(angle));
  Doubles sum = size.v[0];
  if constexpr (kWays > 1) sum = sum + size.v[kWays - 1];
  return Lanes(Compare<_CMP_NLT_UQ>(sum, All(kLargestAngle))) != 0;
}

struct Exp {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutside(z.re, z.im); }
  PJRT_INLINE bool AnyRare(ComplexGroup z) { return AnyOutside(z.re, z.im); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const TableExp e = ExpByTable(z.re);
    const UnitPoint a = UnitPointOf(z.im);
    const DoubleGroup power = ScaledInside(e.power, Floor(e.n));
    const PairGroup size = {power, power * e.part};
    return {Turned(RoundedProduct(a.cosine, size), a.turn),
            WithSign(RoundedProduct(a.sine, size), Turned(a.sine.high, a.turn))};
  }
};

struct Sin {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return IsOutside(z.im, z.re); }
  PJRT_INLINE bool AnyRare(ComplexGroup z) { return AnyOutside(z.im, z.re); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const UnitPoint a = UnitPointOf(z.re);
    const HyperbolicPoint h = HyperbolicPointOf(z.im);
    const DoubleGroup re = RoundedProduct(a.sine, h.cosh), im = RoundedProduct(a.cosine, h.sinh);
    const WordGroup side = ToWords(a.cosine.high) ^ ToWords(z.im) ^ a.turn;
    return {WithSign(re, Turned(a.sine.high, a.turn)), WithSign(im, ToDoubles(side))};
  }
};
// cos x cosh y - i sin x sinh y.
struct Cos {
  PJRT_INLINE MaskGroup IsRare(ComplexGroup z) { return Sin::IsRare(z); }
  PJRT_INLINE bool AnyRare(ComplexGroup z) { return Sin::AnyRare(z); }
  PJRT_INLINE ComplexGroup Run(ComplexGroup z) {
    const UnitPoint a = UnitPointOf(z.re);
    const HyperbolicPoint h = HyperbolicPointOf(z.im);
    const DoubleGroup re = RoundedProduct(a.cosine, h.cosh), im = RoundedProduct(a.sine, h.sinh);
    const WordGroup side = ToWords(a.sine.high) ^ ToWords(-z.im) ^ a.turn;
    return {Turned(re, a.turn), WithSign(im, ToDoubles(side))};
  }
};

}  // namespace

void FillComplexTablesC128(BlockKernels* k) {
  using namespace complexes;
  BesideEntry(k, BlockOp::kExp, CType::kC128) = CheckedLoop<Exp, CompleteExp>;
  BesideEntry(k, BlockOp::kSin, CType::kC128) = CheckedLoop<Sin, CompleteSin>;
  BesideEntry(k, BlockOp::kCos, CType::kC128) = CheckedLoop<Cos, CompleteCos>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif
