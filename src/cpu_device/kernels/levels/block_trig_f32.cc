// SPDX-License-Identifier: Apache-2.0
//
// Trigonometric functions of f32. Angles up to 2^20 are reduced in the vector loop, larger ones one
// by one with as many bits of 2/pi as it takes. With fused multiply-add the loops compute in f32,
// in half the time that f64 takes.
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

#if defined(__FMA__) || defined(__aarch64__)
// Largest errors: sine and cosine 0.91, tangent 1.09 ULP.

// An angle as r - tail + quadrant * pi/2; the quadrant modulo 4 in the low bits. |r| is at most
// pi/4 and what the rounding of 2/pi adds: 0.83 at 2^20, where the polynomials end.
struct ShortAngle {
  float r, tail;
  uint32_t quadrant;
};
// x + kFirst * pi/2, for |x| <= wide::kLargestAngle; infinities and NaN give NaN.
template <int kFirst>
PJRT_INLINE ShortAngle ReduceShortAngle(float x) {
  // pi/2 in three parts. kA and kB are below it, so that no step changes the sign of a zero.
  constexpr float kA = 0x1.921fb4p+0f, kB = 0x1.4442d2p-24f, kC = -0x1.ee59dap-50f;
  constexpr float kShift = 0x1.8p+23f + kFirst;
  const float shifted = MulAdd(x, 0x1.45f306p-1f, kShift);
  const float n = shifted - kShift;
  // Exact: a multiple of 2^-24 or, for small x, x itself. So is r - a, and with the product rounded
  // alike in both, the tail has all that r lacks, near multiples of pi/2 too.
  const float a = MulAdd(n, -kA, x);
  const float r = a + n * -kB;
  return {r, MulAdd(n, kC, MulAdd(n, kB, r - a)), ToBits(shifted)};
}

// sin(x + kFirst * pi/2).
template <int kFirst>
struct SinFrom {
  PJRT_INLINE float Run(float x) {
    const ShortAngle angle = ReduceShortAngle<kFirst>(x);
    const float r = angle.r, s = r * r;
    // (r - sin(r)) / r^3, to 2^-27 of the sine.
    float p = 0x1.9862bp-13f;
    p = MulAdd(p, s, -0x1.110486p-7f);
    p = MulAdd(p, s, 0x1.55553ep-3f);
    const float sine = r - MulAdd(s * r, p, angle.tail);
    // (1 - cos(r)) / (r^2 / 2), to 2^-32 of 1. The factor r^2 / 2 is rounded once, tail included.
    float q = -0x1.9938c4p-15f;
    q = MulAdd(q, s, 0x1.6c09bap-9f);
    q = MulAdd(q, s, -0x1.555546p-4f);
    q = MulAdd(q, s, 1.0f);
    const float half_square = MulAdd(0.5f * r, r, -(r * angle.tail));
    const float cosine = MulAdd(-half_square, q, 1.0f);
    const float value = (angle.quadrant & 1) != 0 ? cosine : sine;
    return BitCast<float>(ToBits(value) ^ ((angle.quadrant & 2) << 30));
  }
};
using Sin = SinFrom<0>;
using Cos = SinFrom<1>;

struct Tan {
  PJRT_INLINE float Run(float x) {
    const ShortAngle angle = ReduceShortAngle<0>(x);
    const float r = angle.r, s = r * r, cube = s * r;
    // (tan(r) - r) / r^3, to 2^-28 of the tangent; the last coefficient is added for itself.
    float p = 0x1.4a8448p-8f;
    p = MulAdd(p, s, -0x1.555146p-10f);
    p = MulAdd(p, s, 0x1.880a8cp-7f);
    p = MulAdd(p, s, 0x1.555e8ap-6f);
    p = MulAdd(p, s, 0x1.bb957ep-5f);
    p = MulAdd(p, s, 0x1.110962p-3f);
    // The tail times the derivative, about 1 + 1.5 r^2.
    const float tail = MulAdd(1.5f * angle.tail, s, angle.tail);
    const float rest = MulAdd(cube, 0x1.55557p-2f, MulAdd(cube * s, p, -tail));
    const float tangent = r + rest;
    // -1 / tan(r), from what `tangent` has and what its rounding lost.
    const float lost = rest - (tangent - r);
    const float inverse = -1 / tangent;
    const float error = MulAdd(inverse, lost, MulAdd(inverse, tangent, 1.0f));
    const float cotangent = MulAdd(inverse, error, inverse);
    return (angle.quadrant & 1) != 0 ? cotangent : tangent;
  }
};
#else
template <double (*kFunction)(wide::Angle)>
struct OfWideAngle {
  PJRT_INLINE float Run(float x) { return static_cast<float>(kFunction(wide::ReduceAngle(x))); }
};
using Sin = OfWideAngle<wide::SinOf>;
using Cos = OfWideAngle<wide::CosOf>;
using Tan = OfWideAngle<wide::TanOf>;
#endif

template <class Op, double (*kFunction)(wide::Angle)>
struct OfAngle : Op {
  // Infinities are not: the reduction makes them NaN.
  PJRT_INLINE int IsRare(float x) {
    const uint32_t magnitude = ToBits(x) & 0x7fffffffu;
    return (magnitude > __builtin_bit_cast(uint32_t, wide::kLargestAngle)) &
           (magnitude < 0x7f800000u);
  }
  PJRT_INLINE float RunRare(float x) { return static_cast<float>(kFunction(ReduceHugeAngle(x))); }
};

}  // namespace

void FillTrigF32(BlockKernels* k) {
  Entry(k, BlockOp::kSin, CType::kF32) = UnaryLoopWithRare<OfAngle<Sin, wide::SinOf>, float>;
  Entry(k, BlockOp::kCos, CType::kF32) = UnaryLoopWithRare<OfAngle<Cos, wide::CosOf>, float>;
  Entry(k, BlockOp::kTan, CType::kF32) = UnaryLoopWithRare<OfAngle<Tan, wide::TanOf>, float>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
