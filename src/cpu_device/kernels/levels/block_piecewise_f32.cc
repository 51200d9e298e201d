// SPDX-License-Identifier: Apache-2.0
//
// Odd functions of f32 that go to 1, by polynomials on pieces of their range whose coefficients a
// permutation fetches. Levels without such an instruction have those of block_exp_f32.cc. Largest
// errors over all inputs: Tanh 1.23, Erf 0.69 ULP. With AVX-512 tanh takes 0.13 ns an element,
// where an exponential and a division took 0.21.
#include "src/cpu_device/kernels/floats-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// f(c + t) = f(c) + t P(t) on each piece. A piece is half of an octave; the last four bits of its
// number, that is of the exponent and the first digit of |x|, say where its coefficients stand.
// From 2 on they are the first ones, and those from 1/4 to 2 the last ones. Before them stand those
// of f(t) = t + t P(t), for all that is below. Centers are numbers whose values are all but numbers
// of f32 themselves, so that nothing is lost by rounding f(c).
constexpr int kPieces = 16;
template <int kDegree>
struct Pieces {  // slopes: the highest power first
  alignas(64) float center[kPieces], value[kPieces], slope[kDegree][kPieces];
};

// To 2^-24.
constexpr float kLargestTanh = 10;  // from 9.02 on it rounds to 1
constexpr Pieces<6> kTanh = {
    {0x1.41369ep+1f, 0x1.c0986ap+1f, 0x1.40275ap+2f, 0x1.c10d1p+2f, 0x1.1f5c28p+3f, 0, 0, 0, 0, 0,
     0x1.40aec6p-2f, 0x1.c0e382p-2f, 0x1.3f9a3cp-1f, 0x1.c10af4p-1f, 0x1.411b32p+0f,
     0x1.c0fc66p+0f},
    {0x1.f9463ep-1f, 0x1.ff1362p-1f, 0x1.fff428p-1f, 0x1.ffffcap-1f, 0x1.fffffep-1f, 0, 0, 0, 0, 0,
     0x1.369844p-2f, 0x1.a62f86p-2f, 0x1.1baep-1f, 0x1.68eccep-1f, 0x1.b2f07ap-1f, 0x1.e23538p-1f},
    {
        {-0x1.6ce9d2p-11f, -0x1.4a8acep-13f, -0x1.3aa2cep-17f, -0x1.71dc84p-23f, 0x1.9f0df8p-21f, 0,
         0, 0, 0, -0x1.2eeb2cp-5f, -0x1.4bec8ap-4f, -0x1.7adb8cp-5f, -0x1.835746p-6f, 0x1.9be5fp-7f,
         0x1.ed07a8p-7f, 0x1.1372aep-9f},
        {0x1.75371ap-9f, 0x1.fd68f6p-12f, 0x1.da9a68p-16f, 0x1.0ecfc6p-21f, 0x1.39bac8p-27f, 0, 0,
         0, 0, 0x1.250978p-3f, 0x1.6d396p-5f, -0x1.1f17f6p-10f, -0x1.b97454p-5f, -0x1.e12396p-5f,
         -0x1.3c2a2cp-6f, 0x1.cf3d44p-9f},
        {-0x1.036434p-7f, -0x1.36e88cp-10f, -0x1.f0cf16p-15f, -0x1.19d932p-20f, -0x1.4b2c9p-20f, 0,
         0, 0, 0, -0x1.3650a4p-10f, 0x1.443da2p-3f, 0x1.5bf7f4p-3f, 0x1.1ad30ep-3f, 0x1.ed3452p-5f,
         -0x1.a9fd8p-7f, -0x1.805256p-6f},
        {0x1.11db38p-6f, 0x1.393618p-9f, 0x1.f05348p-14f, 0x1.1aff44p-19f, 0x1.6afe56p-25f, 0, 0, 0,
         0, -0x1.5544c8p-2f, -0x1.c0c5eep-3f, -0x1.15b9e2p-3f, -0x1.2b60ap-6f, 0x1.511eacp-4f,
         0x1.bacc3ep-4f, 0x1.004542p-4f},
        {-0x1.a5fe42p-6f, -0x1.d7f676p-9f, -0x1.7b60d2p-13f, -0x1.b0ac3ap-19f, 0x1.b989a6p-22f, 0,
         0, 0, 0, -0x1.268e0cp-20f, -0x1.1a0526p-2f, -0x1.5e6bc4p-2f, -0x1.893052p-2f,
         -0x1.6b246p-2f, -0x1.e449bp-3f, -0x1.b3e01ap-4f},
        {0x1.ab9d2ep-6f, 0x1.d8d0dep-9f, 0x1.7b8274p-13f, 0x1.b094fcp-19f, 0x1.10403cp-24f, 0, 0, 0,
         0, 0, 0x1.d0e55cp-1f, 0x1.a8f7eap-1f, 0x1.62d2ecp-1f, 0x1.01929p-1f, 0x1.1d0bb8p-2f,
         0x1.cece2cp-4f},
    }};
// To 2^-26.
constexpr float kLargestErf = 0x1.fffffep+1f;  // from 3.92 on it rounds to 1
constexpr Pieces<7> kErf = {
    {0x1.3f26a4p+1f, 0x1.bf431ep+1f, 0, 0, 0, 0, 0, 0, 0, 0, 0x1.4049bcp-2f, 0x1.c105e4p-2f,
     0x1.4061fep-1f, 0x1.c0a254p-1f, 0x1.4066a2p+0f, 0x1.bf8dcap+0f},
    {0x1.ffc8bcp-1f, 0x1.ffffe6p-1f, 0, 0, 0, 0, 0, 0, 0, 0, 0x1.5df568p-2f, 0x1.dbfc0ap-2f,
     0x1.3f6436p-1f, 0x1.91c76p-1f, 0x1.d8b6d2p-1f, 0x1.f920fp-1f},
    {
        {0x1.9a4e56p-12f, 0x1.1bad92p-14f, 0, 0, 0, 0, 0, 0, 0, -0x1.09b334p-5f, -0x1.40c0fep+2f,
         -0x1.330ffp+1f, 0x1.c9d714p-5f, -0x1.ac4e1p-6f, 0x1.ee4c58p-9f, -0x1.85b736p-8f},
        {-0x1.5f3958p-9f, -0x1.99969ep-14f, 0, 0, 0, 0, 0, 0, 0, 0x1.414d44p-8f, -0x1.8b62b6p-7f,
         -0x1.97b2e6p-5f, -0x1.5358e2p-5f, -0x1.46961cp-7f, 0x1.52b09ap-6f, 0x1.2ab06cp-7f},
        {0x1.99e412p-8f, 0x1.5e4374p-14f, 0, 0, 0, 0, 0, 0, 0, 0x1.c81972p-4f, 0x1.9a1844p-4f,
         0x1.637088p-5f, -0x1.d81018p-6f, -0x1.0e6312p-4f, -0x1.80fa2ep-5f, 0x1.aba8cap-8f},
        {-0x1.21f1a6p-7f, -0x1.1b585p-14f, 0, 0, 0, 0, 0, 0, 0, 0x1.a6a9e8p-13f, 0x1.320c08p-3f,
         0x1.6c7514p-3f, 0x1.692fcap-3f, 0x1.caa71p-4f, -0x1.aa4346p-8f, -0x1.8a8b54p-5f},
        {0x1.1924a8p-7f, 0x1.70dd56p-15f, 0, 0, 0, 0, 0, 0, 0, -0x1.812a7ap-2f, -0x1.18ffa8p-2f,
         -0x1.873882p-3f, -0x1.c3a8ecp-5f, 0x1.7ed93cp-4f, 0x1.57084cp-3f, 0x1.72a89cp-4f},
        {-0x1.6fdf5ap-8f, -0x1.4b56c2p-16f, 0, 0, 0, 0, 0, 0, 0, 0x1.2111c4p-22f, -0x1.47b93ap-2f,
         -0x1.a20a04p-2f, -0x1.e8c458p-2f, -0x1.d5d124p-2f, -0x1.2df0fep-2f, -0x1.7c39bp-4f},
        {0x1.2721aep-9f, 0x1.7926ap-18f, 0, 0, 0, 0, 0, 0, 0, 0x1.06eba8p-3f, 0x1.05f174p+0f,
         0x1.dcaba6p-1f, 0x1.868bep-1f, 0x1.0c166p-1f, 0x1.e28056p-3f, 0x1.b2f9fep-5f},
    }};

constexpr float kNear = 0.25f, kBelowNear = 0x1.fffffep-3f;

template <int kDegree>
PJRT_INLINE Floats Evaluate(const Pieces<kDegree>& pieces, float largest, Floats x) {
  const Floats size = Smaller(All(largest), Magnitude(x));  // a NaN stays
  const Places places = PlacesOf<22>(Larger(size, All(kBelowNear)));
  const Floats t = size - Fetch(pieces.center, places);
  Floats p = Fetch(pieces.slope[0], places);
  for (int i = 1; i < kDegree; ++i) p = Fused(p, t, Fetch(pieces.slope[i], places));
  const Floats value =
      Choose(Compare<_CMP_LT_OQ>(size, All(kNear)), size, Fetch(pieces.value, places));
  return WithSign(Fused(p, t, value), x);
}

struct Tanh {
  PJRT_INLINE Floats Run(Floats x) { return Evaluate(kTanh, kLargestTanh, x); }
};
struct Erf {
  PJRT_INLINE Floats Run(Floats x) { return Evaluate(kErf, kLargestErf, x); }
};

}  // namespace

void FillPiecewiseF32(BlockKernels* k) {
  Entry(k, BlockOp::kTanh, CType::kF32) = FloatsLoop<Tanh>;
  Entry(k, BlockOp::kErf, CType::kF32) = FloatsLoop<Erf>;
}
#else
void FillPiecewiseF32(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
