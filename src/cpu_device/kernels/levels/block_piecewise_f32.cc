// SPDX-License-Identifier: Apache-2.0
//
// Functions of f32 by polynomials on pieces of their range whose coefficients a permutation
// fetches. Levels without such an instruction have those of block_exp_f32.cc. Largest errors over
// all inputs: Tanh 1.23, Erf 0.69, Erfc 1.7 ULP. With AVX-512 tanh takes 0.13 ns an element, where
// an exponential and a division took 0.21, and erfc 0.26, where they took 0.43.
// With AVX2, where a fetch takes three instructions, tanh takes 1.2 ns and could take 0.9 (Zen 3);
// but AVX2 and AVX-512 give the same bits.
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

// exp(x^2) erfc(x) = v + t P(t), on quarters of the octaves of |x| + 3/4, to 2^-27. The center of
// the first piece is 0, whose value is 1.
constexpr float kLargestErfc = 10.1f;  // from 10.06 on it rounds to 0
constexpr float kErfcShift = 0.75f;
constexpr Pieces<6> kErfc = {
    {0x1.7ffefp+0f, 0x1.0000dp+1f, 0x1.3ffecap+1f, 0x1.7ffff2p+1f, 0x1.e0044cp+1f, 0x1.2ff908p+2f,
     0x1.70013ep+2f, 0x1.aff8dp+2f, 0x1.07f9e6p+3f, 0x1.47fa5ep+3f, 0x0p+0f, 0x1.7fff0ap-3f,
     0x1.80091cp-2f, 0x1.3ffd6ep-1f, 0x1.c009fp-1f, 0x1.200abap+0f},
    {0x1.494e62p-2f, 0x1.0585cp-2f, 0x1.afbcbp-3f, 0x1.6e9834p-3f, 0x1.2a287p-3f, 0x1.dc6ab6p-4f,
     0x1.8c12b8p-4f, 0x1.52bd92p-4f, 0x1.161f52p-4f, 0x1.c0d33ep-5f, 0x1p+0f, 0x1.a36beep-1f,
     0x1.5f25e2p-1f, 0x1.1d17d2p-1f, 0x1.db6e38p-2f, 0x1.9527aap-2f},
    {{0x1.f4671ap-10f, 0x1.3a8354p-11f, 0x1.c00d74p-13f, 0x1.6154eap-14f, 0x1.a49ea4p-16f,
      0x1.9d84c6p-18f, 0x1.f8be34p-20f, 0x1.67e29p-21f, 0x1.8870ccp-23f, 0x1.13ded4p-24f,
      0x1.dced8cp-5f, 0x1.62093ap-4f, 0x1.7d6aeap-5f, 0x1.54b328p-6f, 0x1.492a36p-7f,
      0x1.4db2d6p-8f},
     {-0x1.5604b4p-8f, -0x1.e5b8f2p-10f, -0x1.85a7d4p-11f, -0x1.57236ap-12f, -0x1.da2cdap-14f,
      -0x1.172d28p-15f, -0x1.8dff52p-17f, -0x1.44b44ap-18f, -0x1.a8c2dp-20f, -0x1.adfdc6p-22f,
      -0x1.120d88p-2f, -0x1.566ce8p-3f, -0x1.7d7d76p-4f, -0x1.70a27p-5f, -0x1.7ad666p-6f,
      -0x1.942a8cp-7f},
     {0x1.b6579ep-7f, 0x1.6487e4p-8f, 0x1.435cd4p-9f, 0x1.409b48p-10f, 0x1.ffc7d6p-12f,
      0x1.6ce2a2p-13f, 0x1.31d652p-14f, 0x1.21966p-15f, 0x1.bdf322p-17f, 0x1.3ac778p-18f,
      0x1.fb9e24p-2f, 0x1.2804b2p-2f, 0x1.610d74p-3f, 0x1.72db04p-4f, 0x1.981b38p-5f,
      0x1.d4af86p-6f},
     {-0x1.0dc234p-5f, -0x1.fa92d8p-7f, -0x1.06317ap-7f, -0x1.258e56p-8f, -0x1.142106p-9f,
      -0x1.dc3a88p-11f, -0x1.d65734p-12f, -0x1.00f594p-12f, -0x1.dc0cd4p-14f, -0x1.994c0cp-15f,
      -0x1.810566p-1f, -0x1.db6fe2p-2f, -0x1.2e7a2ap-2f, -0x1.59c7acp-3f, -0x1.9d45e2p-4f,
      -0x1.011f34p-4f},
     {0x1.37ebd6p-4f, 0x1.567052p-5f, 0x1.989944p-6f, 0x1.043ffap-6f, 0x1.22e978p-7f,
      0x1.318f86p-8f, 0x1.653198p-9f, 0x1.c3afeep-10f, 0x1.f8e594p-11f, 0x1.0b283ap-11f,
      0x1.ffff18p-1f, 0x1.549698p-1f, 0x1.d283fep-2f, 0x1.2579dcp-2f, 0x1.80e388p-3f,
      0x1.05d6fep-3f},
     {-0x1.4f1ad6p-3f, -0x1.b56e0ap-4f, -0x1.3088c8p-4f, -0x1.bd6b02p-5f, -0x1.2aa174p-5f,
      -0x1.81254p-6f, -0x1.0bc2b2p-6f, -0x1.892196p-7f, -0x1.09e4bcp-7f, -0x1.5b115ep-8f,
      -0x1.20dd74p+0f, -0x1.a472d6p-1f, -0x1.3a5842p-1f, -0x1.bacp-2f, -0x1.43627ep-2f,
      -0x1.e77544p-3f}}};

struct Tanh {
  PJRT_INLINE Floats Run(Floats x) { return Evaluate(kTanh, kLargestTanh, x); }
};
struct Erf {
  PJRT_INLINE Floats Run(Floats x) { return Evaluate(kErf, kLargestErf, x); }
};
// exp(-x^2) = 2^n (1 + e), from an exact square, as exp would make much of an error. v is exact
// too, and (v + t P)(1 + e) = v + (t P + e (v + t P)) makes little of the errors of the others.
struct Erfc {
  PJRT_INLINE Floats Run(Floats x) {
    constexpr float kLn2High = 0x1.62ep-1f, kLn2Low = 0x1.0bfbe8p-15f, kShift = 0x1.8p+23f;
    const Floats size = Smaller(All(kLargestErfc), Magnitude(x));  // a NaN stays
    const Places places = PlacesOf<21>(size + All(kErfcShift));
    const Floats t = size - Fetch(kErfc.center, places);
    Floats p = Fetch(kErfc.slope[0], places);
    for (int i = 1; i < 6; ++i) p = Fused(p, t, Fetch(kErfc.slope[i], places));
    const Floats v = Fetch(kErfc.value, places), change = p * t;
    const Floats square = size * size;
    const Floats n = Fused(square, All(-0x1.715476p+0f), All(kShift)) - All(kShift);
    const Floats r = Fused(n, All(-kLn2Low), FusedLess(size, size, n * All(-kLn2High)));
    const Floats e = ExpLessOne(r);
    const Floats result = Scaled(v + Fused(e, v + change, change), n);
    return Choose(Compare<_CMP_LT_OQ>(x, All(0)), All(2) - result, result);
  }
};

}  // namespace

void FillPiecewiseF32(BlockKernels* k) {
  Entry(k, BlockOp::kTanh, CType::kF32) = FloatsLoop<Tanh>;
  Entry(k, BlockOp::kErf, CType::kF32) = FloatsLoop<Erf>;
  Entry(k, BlockOp::kErfc, CType::kF32) = FloatsLoop<Erfc>;
}
#else
void FillPiecewiseF32(BlockKernels*) {}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
