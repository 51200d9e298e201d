// SPDX-License-Identifier: Apache-2.0
//
// Roots, logarithms and what follows from them of c64 numbers, in f64, by vectors whose parts are
// apart. Polynomials are short because tables that a permutation fetches divide their range; good
// to 2^-31 or better and rounded once. Largest errors seen: 0.51 ULP of each part, but for powers,
// whose error is 2^-24 of their size. Levels without fused multiply-add have those of
// complex_pieces-inl.h. Rare arguments, such as zeros, infinities and NaNs, go one at a time to the
// complete functions.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_vectors-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// 1 / c and log(c) / 2 at the middle c of each sixteenth of [1, 2), and 1 / c's sixth root.
enum { kInverse, kHalfLog, kSixthRoot };
constexpr Columns<3> kMiddles = {
    {{{0x1.f07c1f07c1f08p-1, 0x1.d41d41d41d41dp-1, 0x1.bacf914c1badp-1, 0x1.a41a41a41a41ap-1,
       0x1.8f9c18f9c18fap-1, 0x1.7d05f417d05f4p-1, 0x1.6c16c16c16c17p-1, 0x1.5c9882b931057p-1,
       0x1.4e5e0a72f0539p-1, 0x1.4141414141414p-1, 0x1.3521cfb2b78c1p-1, 0x1.29e4129e4129ep-1,
       0x1.1f7047dc11f7p-1, 0x1.15b1e5f75270dp-1, 0x1.0c9714fbcda3bp-1, 0x1.041041041041p-1}},
     {{0x1.f829b0e7832f8p-7, 0x1.6f0d28ae56b4ep-5, 0x1.29552f81ff521p-4, 0x1.9525a9cf456b6p-4,
       0x1.fb9186d5e3e29p-4, 0x1.2e8e2bae11d31p-3, 0x1.5d1bdbf5809cap-3, 0x1.89a3386c1425bp-3,
       0x1.b44f77bcc8f64p-3, 0x1.dd46a04c1c4a1p-3, 0x1.02552a5a5d0ffp-2, 0x1.154c3d2f4d5eap-2,
       0x1.2795e1289b11bp-2, 0x1.393e0d3562a1ap-2, 0x1.4a4f85db03ebbp-2, 0x1.5ad404c359f2dp-2}},
     {{0x1.0150f8d070fbbp+0, 0x1.03da264ff2702p+0, 0x1.06451daa58144p+0, 0x1.0894cd0bdfa57p+0,
       0x1.0acbb7ccebd3fp+0, 0x1.0cec0a0befd09p+0, 0x1.0ef7a7f342d0ap+0, 0x1.10f039c554af7p+0,
       0x1.12d73578e7715p+0, 0x1.14ade677907afp+0, 0x1.167573ea26e58p+0, 0x1.182ee5e367d9dp+0,
       0x1.19db29a56d583p+0, 0x1.1b7b15303d4ep+0, 0x1.1d0f6a3d227f9p+0, 0x1.1e98d8c29b59dp+0}}}};
// log(1 + r) / 2r for |r| < 0.0303, to 2^-31 and 2^-38, and the sixth root of 1 + r, to 2^-34.
constexpr double kLog1p[] = {0x1.99fdfb8804e6fp-4, -0x1.00322fbc70a51p-3, 0x1.5555511e48542p-3,
                             -0x1.fffffd0cc1c74p-3, 0x1.00000000032bdp-1};
constexpr double kLog1pFine[] = {-0x1.55bc987886c65p-4, 0x1.9a00da26c7a23p-4,
                                 -0x1.fffff43cfec9cp-4, 0x1.555550c7ee225p-3,
                                 -0x1.0000000014eefp-2, 0x1.0000000003ce4p-1};
constexpr double kRoot1p[] = {-0x1.ed0746f7595e8p-6, 0x1.5bdf05741956bp-5, -0x1.1c71c341fddd5p-4,
                              0x1.55555484776cbp-3, 0x1.fffffffffd9cep-1};
// 2^(i / 6), for i from -3 to 3.
constexpr Columns<1> kSixths = {
    {{{1, 0x1.1f59ac3c7d6cp+0, 0x1.428a2f98d728bp+0, 0x1.6a09e667f3bcdp+0, 0, 0, 0, 0, 0, 0, 0, 0,
       0, 0x1.6a09e667f3bcdp-1, 0x1.965fea53d6e3dp-1, 0x1.c823e074ec129p-1}}}};

// arctan(t) / t for t beside each fifteenth of [0, 1], to 2^-31 and 2^-37.
constexpr Columns<5> kAtan = {
    {{{0x1.983d8b59f7826p-3, 0x1.85e38b52d18dbp-3, 0x1.5005aaf33c5aep-3, 0x1.0107adf205ee8p-3,
       0x1.4b8a6ffb2de63p-4, 0x1.2c3adb9945064p-5, -0x1.3ecf764473eb2p-9, -0x1.10e3aa1c68656p-5,
       -0x1.c22392653157ap-5, -0x1.15c87078bba3p-4, -0x1.2c4efd6676f04p-4, -0x1.2bea08d07ca44p-4,
       -0x1.1bccf83716cb9p-4, -0x1.022c10e17e9cdp-4, -0x1.c7baaf770c19ap-5, -0x1.98672810e91e2p-5}},
     {{0x1.b5c8a6beb9398p-16, 0x1.b0e5505733774p-10, 0x1.99b4c931b6fbp-7, 0x1.3ac111fb25673p-5,
       0x1.47fc1696d4a2dp-4, 0x1.10b7aec329cfdp-3, 0x1.85cc1231f301bp-3, 0x1.f303d23242b17p-3,
       0x1.259d7b315225ep-2, 0x1.434dd1f7f0242p-2, 0x1.516cbad997ecdp-2, 0x1.510b17ed54a37p-2,
       0x1.449f001f44f6fp-2, 0x1.2f39b9f773c93p-2, 0x1.13eec3875a32cp-2, 0x1.fa75a0d5a6feap-3}},
     {{-0x1.55556d2146104p-2, -0x1.55739f49c4cddp-2, -0x1.5734d7e3b77ap-2, -0x1.5df2d8fcac42ap-2,
       -0x1.6cf64f2b5bd26p-2, -0x1.857567985454cp-2, -0x1.a5a01b7518a83p-2, -0x1.c908fb2a5300bp-2,
       -0x1.e9fe3c8401b0ap-2, -0x1.018bcc236a4c6p-1, -0x1.083034f10b10fp-1, -0x1.07eec96e03551p-1,
       -0x1.00bf7149ec3d7p-1, -0x1.e6b1b79061165p-2, -0x1.c1d1167ec0bd3p-2, -0x1.a123d567a82a7p-2}},
     {{0x1.ba59ebef6cd9cp-30, 0x1.ef8dd2c373f0ep-19, 0x1.089097afa9f27p-13, 0x1.cae79b6d7e4f5p-11,
       0x1.a09dda08390a3p-9, 0x1.058b8ae197a03p-7, 0x1.00adc001467f6p-6, 0x1.a42760d2a162fp-6,
       0x1.29b828dbda583p-5, 0x1.7537971869ab8p-5, 0x1.a1acf4d397c67p-5, 0x1.9f5aadb0f18c1p-5,
       0x1.643ae59f95992p-5, 0x1.d9a3f7877c6c1p-6, 0x1.dcd4c15f4cdd9p-8, -0x1.ae93a41d2bfa8p-7}},
     {{0x1.fffffffffd75fp-1, 0x1.fffffe8364f9cp-1, 0x1.ffff8eb6f9a3ep-1, 0x1.fffb5660a14f8p-1,
       0x1.ffe97b3ad5d46p-1, 0x1.ffb9f5bfe854fp-1, 0x1.ff5d661594de1p-1, 0x1.fecfb7525e479p-1,
       0x1.fe20c27de9dbbp-1, 0x1.fd76510d1c139p-1, 0x1.fd06ab604c2fbp-1, 0x1.fd0e53f9e6016p-1,
       0x1.fdc4d698c60f9p-1, 0x1.ff53fa0071927p-1, 0x1.00e96fbe5f16ap+0, 0x1.022a7c6a162c7p+0}}}};
constexpr Columns<6> kAtanFine = {
    {{{-0x1.d300b24f5879cp-7, -0x1.c442eb9f16eafp-5, -0x1.9aa1854f8a3d2p-4, -0x1.06349e785662ap-3,
       -0x1.16fd0f38665eep-3, -0x1.044da0fbd6fa1p-3, -0x1.b1e6bc901b3bcp-4, -0x1.43013febee896p-4,
       -0x1.a39e008ef341fp-5, -0x1.b572178cf9a3fp-6, -0x1.d65fb01819df4p-8, 0x1.c39405ef15922p-8,
       0x1.05b6d133c1c04p-6, 0x1.57fd0abad01f3p-6, 0x1.78b7d4b56cc02p-6, 0x1.7a75cb66a8847p-6}},
     {{0x1.9ab17c1d14127p-3, 0x1.aba74a947bf5dp-3, 0x1.d8f64b0957378p-3, 0x1.03a3d3503a9ep-2,
       0x1.0ce3b79282bc4p-2, 0x1.fce709bd269ddp-3, 0x1.ace992035a2aap-3, 0x1.3499a5f4ec31cp-3,
       0x1.4e60bf009a68ap-4, 0x1.920dc841dd8ebp-7, -0x1.94b656e26e2c5p-5, -0x1.9370413c923adp-4,
       -0x1.10c6018f772b2p-3, -0x1.3b6d257a23e58p-3, -0x1.4db1f29c48b07p-3, -0x1.4eb28be58499fp-3}},
     {{-0x1.3566d2561c3eap-17, -0x1.81a368df4e235p-11, -0x1.548cea1d59472p-8, -0x1.9dd65b7b05152p-7,
       -0x1.104c9922f1f7ap-6, -0x1.027aeea797227p-7, 0x1.57eaa4d444365p-6, 0x1.271b819522c88p-4,
       0x1.2106d2b3beb85p-3, 0x1.c1e3090935144p-3, 0x1.30cc53d81944cp-2, 0x1.770199737a08ep-2,
       0x1.ad4f4a6350671p-2, 0x1.d0b3b5900146ap-2, 0x1.e105932a30786p-2, 0x1.e1f169861d2c8p-2}},
     {{-0x1.555550803dcf4p-2, -0x1.554c83250fc89p-2, -0x1.54d3a7f4a8da2p-2, -0x1.53907c7b3bf9dp-2,
       -0x1.52a8ec57b0cfp-2, -0x1.556edcb643169p-2, -0x1.6062bbd4f6bbfp-2, -0x1.7722c23996bbfp-2,
       -0x1.9a8e4d11febbbp-2, -0x1.c82121d8d55bbp-2, -0x1.faa604d9e546bp-2, -0x1.15d9b1cbc4243p-1,
       -0x1.2a9c3845da858p-1, -0x1.394ca05cd3db6p-1, -0x1.409737e52e688p-1, -0x1.410366b6e9bdcp-1}},
     {{-0x1.c4486d3e85415p-33, -0x1.ac5d0446961d9p-21, -0x1.a61ea15f2410fp-16,
       -0x1.0d23753b2dc22p-13, -0x1.daa31bcb8bda4p-13, 0x1.978cf4a796cfdp-13, 0x1.1d8c2fb592414p-9,
       0x1.cbfb9150cd45ap-8, 0x1.010777745cc74p-6, 0x1.cfc78acdb35ddp-6, 0x1.67d02f9f25efdp-5,
       0x1.f0f879523ade9p-5, 0x1.38010148e72d4p-4, 0x1.68cb31ac42328p-4, 0x1.82dcb715069e1p-4,
       0x1.8468efef1a253p-4}},
     {{0x1.00000000001adp+0, 0x1.00000020da285p+0, 0x1.000008ef39968p+0, 0x1.000043666cb9ap+0,
       0x1.00008c852197bp+0, 0x1.fffdaabce9f71p-1, 0x1.ffea55b268d99p-1, 0x1.ffb2f9adbae99p-1,
       0x1.ff40f3072c217p-1, 0x1.fe85358e5e3d3p-1, 0x1.fd81e6df2f77ep-1, 0x1.fc4eee0b515c8p-1,
       0x1.fb17d6a818726p-1, 0x1.fa147492cff16p-1, 0x1.f97f4ab2690efp-1, 0x1.f9763dd866973p-1}}}};

// Halves, for angles and logarithms that are to be halved.
constexpr Columns<5> kAtanHalf = [] {
  Columns<5> half = kAtan;
  for (auto& column : half.column) {
    for (double& entry : column.entry) entry /= 2;
  }
  return half;
}();
constexpr Columns<3> kMiddlesHalf = [] {
  Columns<3> half = kMiddles;
  for (double& entry : half.column[kHalfLog].entry) entry /= 2;
  return half;
}();
constexpr double kLog1pHalf[] = {kLog1p[0] / 2, kLog1p[1] / 2, kLog1p[2] / 2, kLog1p[3] / 2,
                                 kLog1p[4] / 2};

// sin(x / 3) / x and cos(x / 3) by x^2, for |x| <= pi, to 2^-33 and 2^-38.
constexpr double kSinThird[] = {0x1.2c382574a920ep-33, -0x1.85866a093521p-24, 0x1.1fac9c75af601p-15,
                                -0x1.948b0f374a741p-8, 0x1.55555554dadd7p-2};
constexpr double kCosThird[] = {-0x1.40140c3f595cbp-38, 0x1.03ad59e4fc1bcp-28,
                                -0x1.ff6babdd9fabp-20,  0x1.0db209ee5b138p-11,
                                -0x1.c71c71c4ebd4cp-5,  0x1.fffffffffab6fp-1};
// sin(x) / x and cos(x) by x^2, for |x| <= pi/16, to 2^-31 and 2^-41, and both of i pi/8.
constexpr double kSinSmall[] = {0x1.10b0a1f694e5bp-7, -0x1.55553ef799da2p-3, 0x1.fffffffcec4abp-1};
constexpr double kCosSmall[] = {-0x1.6b9615f74129fp-10, 0x1.55553c719f011p-5, -0x1.fffffff9d4e3ep-2,
                                0x1.ffffffffff0bp-1};
constexpr Columns<2> kAngles = MakeAngles(0);
// (exp(r) - 1) / r for |r| <= ln(2) / 32, to 2^-32.
constexpr double kExpm1[] = {0x1.55555555b56c5p-5, 0x1.55576238ca865p-3, 0x1.00000001a463ap-1,
                             0x1.fffffffe078aep-1};

constexpr double kPi = 0x1.921fb54442d18p+1, kHalfPi = 0x1.921fb54442d18p+0;

// Coefficients with the highest power first.
template <int kCount>
PJRT_INLINE Doubles Polynomial(const double (&c)[kCount], Doubles x) {
  Doubles p = All(c[0]);
  for (int i = 1; i < kCount; ++i) p = Fused(p, x, All(c[i]));
  return p;
}

// A function's steps are loops of their own over the vectors of a piece, from one to the next by
// its State: what a processor looks ahead holds more vectors of a short step, and a power takes 1.4
// ns instead of 1.7, a cube root 0.9 instead of 1.15.

// log(square) / 2 in two steps; excess is square - 1, exact where it is small.
struct LogState {
  Doubles r, far;
};
// Or half of that, with kMiddlesHalf and kLog1pHalf.
template <const auto& kTable = kMiddles>
PJRT_INLINE LogState StartLog(Doubles square, Doubles excess) {
  constexpr double kHalfLn2 = 0x1.62e42fefa39efp-2, kUnit = &kTable == &kMiddles ? 1 : 0.5;
  const auto middle = EntriesAt<kTable>(ShiftedRight<48>((Words)square));
  const Mask far = Compare<_CMP_NLT_UQ>(Magnitude(excess), All(0.03));
  const Doubles rest = Fused(MantissaOf(square), middle[kInverse], All(-1));
  const Doubles log = Fused(ExponentOf(square), All(kUnit * kHalfLn2), middle[kHalfLog]);
  return {Choose(far, rest, excess), Keep(far, log)};
}
template <int kCount>
PJRT_INLINE Doubles FinishLog(LogState log, const double (&log1p)[kCount]) {
  return Fused(log.r, Polynomial(log1p, log.r), log.far);
}

// The angle of a number in two steps: arctan(t) + base. `divisor` is the larger part, `dividend`
// the other one or its opposite.
struct AngleState {
  Doubles dividend, divisor, base;
};
PJRT_INLINE AngleState StartAngle(Parts z) {
  const Mask left = IsNegative(z.re);
  const Mask steep = Compare<_CMP_LT_OQ>(Magnitude(z.re), Magnitude(z.im));
  const Doubles turn = Choose(steep, All(kHalfPi), Choose(left, All(kPi), All(0)));
  return {Choose(steep, -z.re, z.im), Choose(steep, z.im, z.re), WithSign(turn, z.im)};
}
// Half of the angle, or half of it and a half turn.
PJRT_INLINE AngleState StartHalfAngle(Parts z, Mask opposite) {
  const Mask left = IsNegative(z.re);
  const Mask steep = Compare<_CMP_LT_OQ>(Magnitude(z.re), Magnitude(z.im));
  const Doubles turn = Choose(steep, All(kHalfPi / 2), Choose(left, All(kHalfPi), All(0)));
  const Doubles base = Choose(opposite, turn - All(kPi), turn);
  return {Choose(steep, -z.re, z.im), Choose(steep, z.im, z.re), Turned(base, z.im)};
}
template <const auto& kArctan>
PJRT_INLINE Doubles FinishAngle(Doubles t, Doubles base) {
  const Doubles size = Magnitude(t);
  const auto coefficients = EntriesAt<kArctan>((Words)Fused(size, All(15), All(kIntegerShift)));
  Doubles p = coefficients[0];
#pragma GCC unroll 16
  for (int i = 1; i < kArctan.kCount; ++i) p = Fused(p, size, coefficients[i]);
  return Fused(p, t, base);
}

// Functions. Start gives the lanes that are rare, for Complete; unless it is to be careful, it may
// give more.
struct Sqrt {
  struct State {
    Doubles size, re, im;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteSqrt(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool) {
    const Doubles square = Fused(z.re, z.re, z.im * z.im);
    *state = {SquareRoot(square), z.re, z.im};
    return Lanes(IsZeroOrNotFinite(square));
  }
  PJRT_INLINE void Continue(State*, int) {}
  // The larger part is a root, and from it follows the other.
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles root = SquareRoot(All(0.5) * (Magnitude(s.re) + s.size));
    const Doubles other = All(0.5) * Magnitude(s.im) / root;
    const Mask left = IsNegative(s.re);
    return {Choose(left, other, root), WithSign(Choose(left, root, other), s.im)};
  }
};

// The conjugate of the root over the size.
struct Rsqrt {
  using State = Sqrt::State;
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteRsqrt(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool careful) {
    return Sqrt::Start(z, state, careful);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles square = All(0.5) * (Magnitude(s.re) + s.size);
    const Doubles inverse = All(1) / (SquareRoot(square) * s.size);
    const Doubles root = square * inverse, other = All(0.5) * Magnitude(s.im) * inverse;
    const Mask left = IsNegative(s.re);
    return {Choose(left, other, root), WithSign(Choose(left, root, other), -s.im)};
  }
};

struct Log {
  struct State {
    Doubles t, base;
    LogState log;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteLog(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool) {
    const AngleState angle = StartAngle(z);
    const Doubles large = angle.divisor, small = angle.dividend;
    const Doubles small_square = small * small, square = Fused(large, large, small_square);
    // Near 1 the square of an f32 number less 1 is exact.
    const Doubles excess = Fused(large, large, All(-1)) + small_square;
    *state = {small / large, angle.base, StartLog(square, excess)};
    return Lanes(IsZeroOrNotFinite(square));
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Parts Finish(const State& s) {
    return {FinishLog(s.log, kLog1p), FinishAngle<kAtan>(s.t, s.base)};
  }
  PJRT_INLINE Parts FinishFine(const State& s) {
    return {FinishLog(s.log, kLog1pFine), FinishAngle<kAtanFine>(s.t, s.base)};
  }
};

// Half the log of |1 + z|^2 = 1 + (2x + x^2 + y^2), whose terms are exact and may cancel.
struct Log1p {
  using State = Log::State;
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteLog1p(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool) {
    const Parts w = {All(1) + z.re, z.im};
    const Doubles height_square = z.im * z.im, twice = z.re + z.re;
    const Doubles square = Fused(w.re, w.re, height_square);
    // What the sum loses: where terms cancel, it is exact or the first one is the larger one.
    const Doubles sum = twice + height_square, added = sum - twice;
    const Doubles excess = Fused(z.re, z.re, sum) + (height_square - added);
    const AngleState angle = StartAngle(w);
    *state = {angle.dividend / angle.divisor, angle.base, StartLog(square, excess)};
    return Lanes(IsZeroOrNotFinite(square));
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Parts Finish(const State& s) { return Log::Finish(s); }
};

// The sixth root of the square at a third of the angle.
struct Cbrt {
  struct State {
    Doubles t, base, r, size;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteCbrt(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool) {
    const Doubles square = Fused(z.re, z.re, z.im * z.im);
    // square = 2^(6 whole + sixths) c (1 + r)
    const auto middle = EntriesAt<kMiddles>(ShiftedRight<48>((Words)square));
    const Doubles exponent = ExponentOf(square);
    const Doubles r = Fused(MantissaOf(square), middle[kInverse], All(-1));
    const Doubles shifted = Fused(exponent, All(1.0 / 6), All(kIntegerShift));
    const Doubles sixths = Fused(shifted - All(kIntegerShift), All(-6), exponent);
    const auto power = EntriesAt<kSixths>((Words)(sixths + All(kIntegerShift)));
    const Doubles root = power[0] * middle[kSixthRoot];
    const AngleState angle = StartAngle(z);
    *state = {angle.dividend / angle.divisor, angle.base, r,
              (Doubles)Plus((Words)root, ShiftedLeft<52>((Words)shifted))};
    return Lanes(IsZeroOrNotFinite(square));
  }
  PJRT_INLINE void Continue(State* states, int count) {
    for (int i = 0; i < count; ++i) {
      State& s = states[i];
      s.size = s.size * Polynomial(kRoot1p, s.r);
      s.t = FinishAngle<kAtan>(s.t, s.base);
    }
  }
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles angle = s.t, square = angle * angle;
    return {s.size * Polynomial(kCosThird, square), s.size * angle * Polynomial(kSinThird, square)};
  }
};

// exp(b log a). Large exponents would enlarge the error of the logarithm.
struct Power {
  struct State {
    Log::State log;
    Parts b;  // then the exponent
    Doubles size, angle, sixteenths;
  };
  PJRT_INLINE C64 Complete(C64 a, C64 b) { return complexes::CompletePower(a, b); }
  PJRT_INLINE int Start(Parts a, Parts b, State* state, bool careful) {
    const int rare = Log::Start(a, &state->log, careful);
    state->b = b;
    const Doubles square = b.re * b.re;
    const Mask moderate = Compare<_CMP_LT_OQ>(Fused(b.im, b.im, square), All(10000));
    const int real = Lanes(Compare<_CMP_EQ_OQ>(b.im, All(0)));
    const int plain =
        real != 0 ? real & Lanes(Compare<_CMP_EQ_OQ>(square, b.re)) : 0;  // b is 0 or 1
    return rare | plain | (Lanes(moderate) ^ ((1 << kDoubles) - 1));
  }
  PJRT_INLINE void Continue(State* states, int count) {
    for (int i = 0; i < count; ++i) {
      const Parts log = Log::FinishFine(states[i].log), b = states[i].b;
      states[i].b = {Fused(b.re, log.re, -(b.im * log.im)), Fused(b.re, log.im, b.im * log.re)};
    }
    for (int i = 0; i < count; ++i) {
      State& s = states[i];
      // exp(x) = 2^(n / 16) (1 + (exp(r) - 1))
      const Doubles x = Larger(Smaller(s.b.re, All(650)), All(-650));
      const Doubles n = Fused(x, All(0x1.71547652b82fep+4), All(kIntegerShift));
      const Doubles r = Fused(n - All(kIntegerShift), All(-0x1.62e42fefa39efp-5), x);
      const Doubles bits = EntriesAt<kPowerBits>((Words)n)[0];
      const Doubles power = (Doubles)Plus((Words)bits, ShiftedLeft<48>((Words)n));
      s.size = Fused(power * r, Polynomial(kExpm1, r), power);
      s.sixteenths = Fused(s.b.im, All(8 / kPi), All(kIntegerShift));
      s.angle = Fused(s.sixteenths - All(kIntegerShift), All(-kPi / 8), s.b.im);
    }
  }
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles square = s.angle * s.angle;
    const Doubles cosine = s.size * Polynomial(kCosSmall, square);
    const Doubles sine = s.size * s.angle * Polynomial(kSinSmall, square);
    const auto far = EntriesAt<kAngles>((Words)s.sixteenths);
    const Doubles im = Fused(far[0], cosine, far[1] * sine);
    const Mask real = Compare<_CMP_EQ_OQ>(s.b.im, All(0));
    return {Fused(far[1], cosine, -(far[0] * sine)), Choose(real, s.b.im, im)};
  }
};

// -i log((x + iy) / sqrt(x^2 + y^2)), part by part: the argument of the quotient is half that of
// (x + iy) conj(x - iy), or opposite, and its size the root of |x + iy| / |x - iy|. Products of f32
// numbers are exact, so that small parts keep their digits.
struct Atan2 {
  struct State {
    Doubles t, base, excess;
  };
  PJRT_INLINE C64 Complete(C64 y, C64 x) { return complexes::CompleteAtan2(y, x); }
  PJRT_INLINE int Start(Parts y, Parts x, State* state, bool careful) {
    const Parts plus = {x.re - y.im, x.im + y.re}, minus = {x.re + y.im, x.im - y.re};
    const Doubles plus_square = Fused(plus.re, plus.re, plus.im * plus.im);
    const Doubles minus_square = Fused(minus.re, minus.re, minus.im * minus.im);
    const Doubles smaller_square = Smaller(plus_square, minus_square);
    const Doubles turned = Fused(x.re, y.im, -(x.im * y.re));
    const Doubles half_sine = Fused(x.re, y.re, x.im * y.im);
    Parts turn = {Fused(plus.re, minus.re, plus.im * minus.im), half_sine + half_sine};
    // The quotient's argument is that of plus less half of that of plus times minus. It is half of
    // the angle where neither the sum nor the difference of their arguments leaves (-pi, pi], which
    // the sum does only where they have one sign, and the difference only where they have not.
    const Doubles squares_im = Fused(x.re, x.im, y.re * y.im);
    const Mask apart = IsNegative(Turned(plus.im, minus.im));
    Doubles side = Turned(Choose(apart, half_sine, squares_im), plus.im);
    const Mask cut = Compare<_CMP_EQ_OQ>(side * half_sine, All(0));
    Mask rare = IsZeroOrNotFinite(smaller_square);
    if (careful) {
      const Doubles x_size = Larger(Magnitude(x.re), Magnitude(x.im));
      const Doubles y_size = Larger(Magnitude(y.re), Magnitude(y.im));
      const Mask zero = Compare<_CMP_EQ_OQ>(Smaller(x_size, y_size), All(0));
      rare = Either(rare, Both(cut, zero));
      // Where the sum and the difference are real, the angle of the quotient is 0 or pi/2.
      const Doubles opposite = -Turned(squares_im, half_sine);
      const Doubles flat = Turned(plus.re, Choose(IsNegative(turn.re), opposite, All(0)));
      const Doubles height = Larger(Magnitude(side), Magnitude(plus.im));
      side = Choose(Compare<_CMP_EQ_OQ>(height, All(0)), flat, side);
      // 0 or pi rather than -0 or -pi.
      const Mask real =
          Both(Compare<_CMP_EQ_OQ>(turn.im, All(0)), Compare<_CMP_LT_OQ>(All(0), turn.re));
      turn.im = Choose(real, WithSign(All(0), side), turn.im);
    } else {
      rare = Either(rare, cut);
    }
    const AngleState angle = StartHalfAngle(turn, IsNegative(side));
    *state = {angle.dividend / angle.divisor, angle.base, All(4) * turned / smaller_square};
    return Lanes(rare);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles excess = Magnitude(s.excess);
    const Doubles im = FinishLog(StartLog<kMiddlesHalf>(All(1) + excess, excess), kLog1pHalf);
    return {FinishAngle<kAtanHalf>(s.t, s.base), WithSign(im, s.excess)};
  }
};

// Vectors of a piece.
constexpr int kPiece = 4;

template <class Function>
PJRT_INLINE int StartAt(const C64* const (&x)[1], int i, typename Function::State* state,
                        bool careful) {
  return Function::Start(LoadParts(x[0] + i), state, careful);
}
template <class Function>
PJRT_INLINE int StartAt(const C64* const (&x)[2], int i, typename Function::State* state,
                        bool careful) {
  return Function::Start(LoadParts(x[0] + i), LoadParts(x[1] + i), state, careful);
}
template <class Function>
PJRT_INLINE C64 CompleteAt(const C64 (&x)[1][kPiece * kDoubles], int i) {
  return Function::Complete(x[0][i]);
}
template <class Function>
PJRT_INLINE C64 CompleteAt(const C64 (&x)[2][kPiece * kDoubles], int i) {
  return Function::Complete(x[0][i], x[1][i]);
}

// `count` vectors. Results may take the place of operands.
template <class Function, int kOperands>
void RunPiece(C64* d, const C64* const (&x)[kOperands], int count) {
  typename Function::State states[kPiece];
  unsigned char rare[kPiece];
  int any = 0;
  for (int i = 0; i < count; ++i) any |= StartAt<Function>(x, i * kDoubles, &states[i], false);
  for (int i = 0; any != 0 && i < count; ++i)
    rare[i] = static_cast<unsigned char>(StartAt<Function>(x, i * kDoubles, &states[i], true));
  C64 copies[kOperands][kPiece * kDoubles];
  for (int k = 0; any != 0 && k < kOperands; ++k)
    __builtin_memcpy(copies[k], x[k], count * kDoubles * sizeof(C64));
  Function::Continue(states, count);
  for (int i = 0; i < count; ++i) StoreParts(d + i * kDoubles, Function::Finish(states[i]));
  for (int i = 0; any != 0 && i < count * kDoubles; ++i) {
    if ((rare[i / kDoubles] >> (i % kDoubles) & 1) == 0) continue;
    const int64_t at = i / kDoubles * kDoubles + ElementOf(i % kDoubles);
    d[at] = CompleteAt<Function>(copies, at);
  }
}

// kOne: the number of the operand that is one element, or none of them.
template <class Function, int kOperands, int kOne>
void Pieces(void* dst, const void* a, const void* b, const void*, int64_t n) {
  constexpr int64_t kElements = kPiece * kDoubles;
  if (n <= 0) return;
  const C64* const from[] = {static_cast<const C64*>(a), static_cast<const C64*>(b)};
  C64 rest[kOperands][kElements];
  for (int k = 0; k < kOperands; ++k) {  // 1 + i is not rare
    for (int64_t i = 0; i < kElements; ++i) rest[k][i] = k == kOne ? *from[k] : C64{1, 1};
  }
  C64* d = static_cast<C64*>(dst);
  const C64* x[kOperands];
  for (int k = 0; k < kOperands; ++k) x[k] = k == kOne ? rest[k] : from[k];
  for (; n >= kElements; n -= kElements, d += kElements) {
    RunPiece<Function>(d, x, kPiece);
    for (int k = 0; k < kOperands; ++k) x[k] += k == kOne ? 0 : kElements;
  }
  if (n == 0) return;
  for (int k = 0; k < kOperands; ++k) {
    if (k != kOne) __builtin_memcpy(rest[k], x[k], n * sizeof(C64));
    x[k] = rest[k];
  }
  C64 result[kElements];
  RunPiece<Function>(result, x, static_cast<int>((n + kDoubles - 1) / kDoubles));
  __builtin_memcpy(d, result, n * sizeof(C64));
}

template <class Function>
PJRT_INLINE void SetUnaryPieces(BlockKernels* k, BlockOp op) {
  Entry(k, op, CType::kC64) = Pieces<Function, 1, -1>;
}
template <class Function>
PJRT_INLINE void SetBinaryPieces(BlockKernels* k, BlockOp op) {
  Entry(k, op, CType::kC64) = Pieces<Function, 2, -1>;
  Entry(k, op, CType::kC64, Scalars::kFirst) = Pieces<Function, 2, 0>;
  Entry(k, op, CType::kC64, Scalars::kSecond) = Pieces<Function, 2, 1>;
}

}  // namespace

void FillComplexLog(BlockKernels* k) {
  SetUnaryPieces<Sqrt>(k, BlockOp::kSqrt);
  SetUnaryPieces<Rsqrt>(k, BlockOp::kRsqrt);
  SetUnaryPieces<Log>(k, BlockOp::kLog);
  SetUnaryPieces<Log1p>(k, BlockOp::kLog1p);
  SetUnaryPieces<Cbrt>(k, BlockOp::kCbrt);
  SetBinaryPieces<Power>(k, BlockOp::kPower);
  SetBinaryPieces<Atan2>(k, BlockOp::kAtan2);
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
