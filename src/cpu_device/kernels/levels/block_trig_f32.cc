// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric functions of f32. Angles up to 2^20 are reduced in the vector loop, larger ones one
// by one with as many bits of 2/pi as it takes.
#include "src/cpu_device/kernels/math_wide-inl.h"
#include "src/cpu_device/kernels/rare-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// 2/pi in binary, from the bit worth 2^7 on.
constexpr uint64_t kTwoOverPi[4] = {0x00a2f9836e4e4415, 0x29fc2757d1f534dd, 0xc0db6295993c4390,
                                    0x41fe5163abdebbc5};

// Finite |x| >= 2^20 as an angle. x is an integer of 24 bits times 2^e. Bits of 2/pi worth 4 / 2^e
// and more give whole turns; the 128 below them are enough for 2^-60 of a quadrant.
PJRT_INLINE wide::Angle ReduceHugeAngle(float x) {
  const uint32_t bits = ToBits(x);
  const uint64_t mantissa = (bits & 0x007fffffu) | 0x00800000u;
  const int e = static_cast<int>((bits >> 23) & 0xff) - 150;
  const int first = 6 + e, word = first / 64, shift = first % 64;
  uint64_t high = kTwoOverPi[word], low = kTwoOverPi[word + 1];
  if (shift != 0) {
    const uint64_t next = word + 2 < 4 ? kTwoOverPi[word + 2] : 0;
    high = (high << shift) | (low >> (64 - shift));
    low = (low << shift) | (next >> (64 - shift));
  }
  const uint64_t carried =
      static_cast<uint64_t>((static_cast<unsigned __int128>(mantissa) * low) >> 64);
  const uint64_t product = mantissa * high + carried;  // in units of 2^-62 quadrants, modulo 4
  const uint64_t quadrant = (product + (uint64_t{1} << 61)) >> 62;
  const int64_t rest = static_cast<int64_t>(product - (quadrant << 62));
  const double r = static_cast<double>(rest) * (wide::kHalfPi * 0x1p-62);
  return (bits >> 31) != 0 ? wide::Angle{-r, uint64_t{0} - quadrant} : wide::Angle{r, quadrant};
}

template <double (*kFunction)(wide::Angle)>
struct OfAngle {
  // Infinities are not: the reduction makes them NaN.
  PJRT_INLINE int IsRare(float x) {
    const uint32_t magnitude = ToBits(x) & 0x7fffffffu;
    return (magnitude > __builtin_bit_cast(uint32_t, wide::kLargestAngle)) &
           (magnitude < 0x7f800000u);
  }
  PJRT_INLINE float RunRare(float x) { return static_cast<float>(kFunction(ReduceHugeAngle(x))); }
  PJRT_INLINE float Run(float x) { return static_cast<float>(kFunction(wide::ReduceAngle(x))); }
};

}  // namespace

void FillTrigF32(BlockKernels* k) {
  Entry(k, BlockOp::kSin, CType::kF32) = UnaryLoopWithRare<OfAngle<wide::SinOf>, float>;
  Entry(k, BlockOp::kCos, CType::kF32) = UnaryLoopWithRare<OfAngle<wide::CosOf>, float>;
  Entry(k, BlockOp::kTan, CType::kF32) = UnaryLoopWithRare<OfAngle<wide::TanOf>, float>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
