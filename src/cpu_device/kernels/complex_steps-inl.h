// SPDX-License-Identifier: Apache-2.0
//
// What functions of c64 numbers that are made of logarithms and angles share: tables, and loops
// over steps. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_STEPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_STEPS_INL_H_

#include "src/cpu_device/kernels/complex_floats-inl.h"
#include "src/cpu_device/kernels/complex_vectors-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// 1 / c and log(c) / 2 at the middle c of each sixteenth of [1, 2).
enum { kInverse, kHalfLog };
constexpr Columns<2> kMiddles = {
    {{{0x1.f07c1f07c1f08p-1, 0x1.d41d41d41d41dp-1, 0x1.bacf914c1badp-1, 0x1.a41a41a41a41ap-1,
       0x1.8f9c18f9c18fap-1, 0x1.7d05f417d05f4p-1, 0x1.6c16c16c16c17p-1, 0x1.5c9882b931057p-1,
       0x1.4e5e0a72f0539p-1, 0x1.4141414141414p-1, 0x1.3521cfb2b78c1p-1, 0x1.29e4129e4129ep-1,
       0x1.1f7047dc11f7p-1, 0x1.15b1e5f75270dp-1, 0x1.0c9714fbcda3bp-1, 0x1.041041041041p-1}},
     {{0x1.f829b0e7832f8p-7, 0x1.6f0d28ae56b4ep-5, 0x1.29552f81ff521p-4, 0x1.9525a9cf456b6p-4,
       0x1.fb9186d5e3e29p-4, 0x1.2e8e2bae11d31p-3, 0x1.5d1bdbf5809cap-3, 0x1.89a3386c1425bp-3,
       0x1.b44f77bcc8f64p-3, 0x1.dd46a04c1c4a1p-3, 0x1.02552a5a5d0ffp-2, 0x1.154c3d2f4d5eap-2,
       0x1.2795e1289b11bp-2, 0x1.393e0d3562a1ap-2, 0x1.4a4f85db03ebbp-2, 0x1.5ad404c359f2dp-2}}}};
// log(1 + r) / 2r for |r| < 0.0303, to 2^-31.
constexpr double kLog1p[] = {0x1.99fdfb8804e6fp-4, -0x1.00322fbc70a51p-3, 0x1.5555511e48542p-3,
                             -0x1.fffffd0cc1c74p-3, 0x1.00000000032bdp-1};
// arctan(t) / t for t beside each fifteenth of [0, 1], to 2^-31.
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

constexpr double kPi = 0x1.921fb54442d18p+1, kHalfPi = 0x1.921fb54442d18p+0;

// Coefficients with the highest power first.
template <int kCount>
PJRT_INLINE Doubles Polynomial(const double (&c)[kCount], Doubles x) {
  Doubles p = All(c[0]);
  for (int i = 1; i < kCount; ++i) p = Fused(p, x, All(c[i]));
  return p;
}

// A function's steps are loops of their own over the vectors of a piece, from one to the next by
// its State: what a processor looks ahead holds more vectors of a short step, and a power took 1.4
// ns instead of 1.7.

// Elements that a function takes at once, as Function::Operand: vectors whose parts are apart.
template <class Operand>
constexpr int64_t kElementsOf = sizeof(Operand) / (2 * sizeof(double));
template <>
constexpr int64_t kElementsOf<FloatParts> = kFloats;

PJRT_INLINE void LoadOperand(const C64* from, Parts* z) { *z = LoadParts(from); }
PJRT_INLINE void LoadOperand(const C64* from, FloatParts* z) { *z = LoadFloatParts(from); }
PJRT_INLINE void StoreResult(C64* to, const Parts& z) { StoreParts(to, z); }
PJRT_INLINE void StoreResult(C64* to, const FloatParts& z) { StoreFloatParts(to, z); }
PJRT_INLINE void StoreResult(float* to, Doubles x) { StoreReal(to, x); }
PJRT_INLINE void StoreResult(float* to, Floats x) { StoreReal(to, x); }

template <class Function>
PJRT_INLINE int StartAt(const C64* const (&x)[1], int64_t i, typename Function::State* state,
                        bool careful) {
  typename Function::Operand a;
  LoadOperand(x[0] + i, &a);
  return Function::Start(a, state, careful);
}
template <class Function>
PJRT_INLINE int StartAt(const C64* const (&x)[2], int64_t i, typename Function::State* state,
                        bool careful) {
  typename Function::Operand a, b;
  LoadOperand(x[0] + i, &a);
  LoadOperand(x[1] + i, &b);
  return Function::Start(a, b, state, careful);
}
template <class Function>
PJRT_INLINE auto CompleteAt(const C64* const (&x)[1], int64_t i) {
  return Function::Complete(x[0][i]);
}
template <class Function>
PJRT_INLINE auto CompleteAt(const C64* const (&x)[2], int64_t i) {
  return Function::Complete(x[0][i], x[1][i]);
}

template <class Function, int kOperands>
using ResultOf =
    decltype(CompleteAt<Function>(*static_cast<const C64* const (*)[kOperands]>(nullptr), 0));

// Function::Wide, where there is one, does what is rare for a function in f32 in f64.
template <class Function, class = void>
constexpr bool kHasWide = false;
template <class Function>
constexpr bool kHasWide<Function, std::void_t<typename Function::Wide>> = true;

// Function::Outside, where there is one, tells lanes of what is rare by sizes alone.
template <class Function, class = void>
constexpr bool kHasOutside = false;
template <class Function>
constexpr bool kHasOutside<Function, std::void_t<decltype(&Function::Outside)>> = true;

// Function::RareAtEnd, where there is one, tells lanes that turn out to be rare when Continue is
// done. Start then needs no careful second turn: Function::Replace and ReplaceAtEnd put common
// numbers in the place of what is rare, so that it makes no denormals, which take very long.
template <class Function, class = void>
constexpr bool kTellsAtEnd = false;
template <class Function>
constexpr bool kTellsAtEnd<Function, std::void_t<decltype(&Function::RareAtEnd)>> = true;

template <class Function>
__attribute__((noinline)) bool AllOutside(const C64* x, int count) {
  int all = -1;
  for (int i = 0; i < count; ++i) all &= Function::Outside(LoadFloatParts(x + i * kFloats));
  return (all & ((1 << kFloats) - 1)) == (1 << kFloats) - 1;
}

template <class Function, int kOperands>
bool RunPiece(ResultOf<Function, kOperands>* d, const C64* const (&x)[kOperands], int count,
              const Beside& beside = kNothingBeside, bool ask = false);

// Function::Wide of what is rare in `count` vectors, by vectors of those alone.
template <class Function, int kOperands>
PJRT_INLINE int RunGathered(ResultOf<Function, kOperands>* wide, const C64* const (&x)[kOperands],
                            const int* rare, int count, int64_t* places) {
  C64 few[kOperands][Function::kPiece * kFloats];
  const C64* from[kOperands];
  int found = 0;
  for (int i = 0; i < count; ++i) {
    for (int lanes = rare[i]; lanes != 0; lanes &= lanes - 1)
      places[found++] = i * kFloats + ElementOfFloats(__builtin_ctz(lanes));
  }
  const int vectors = (found + kDoubles - 1) / kDoubles;
  for (int k = 0; k < kOperands; ++k) {
    for (int i = 0; i < found; ++i) few[k][i] = x[k][places[i]];
    for (int i = found; i < vectors * kDoubles; ++i) few[k][i] = {1, 1};
    from[k] = few[k];
  }
  RunPiece<typename Function::Wide>(wide, from, vectors);
  return found;
}

// `count` vectors. Results may take the place of operands. Says whether all was outside, which may
// be asked before much is done: f32 numbers would take very long where they become denormals.
template <class Function, int kOperands>
bool RunPiece(ResultOf<Function, kOperands>* d, const C64* const (&x)[kOperands], int count,
              const Beside& beside, [[maybe_unused]] bool ask) {
  using Operand = typename Function::Operand;
  constexpr int64_t kElements = kElementsOf<Operand>, kBytes = kElements * sizeof(C64);
  if constexpr (kHasOutside<Function>) {
    if (ask && AllOutside<Function>(x[0], count)) {
      RunPiece<typename Function::Wide>(d, x, 2 * count);
      return true;
    }
  }
  typename Function::State states[Function::kPiece];
  int rare[Function::kPiece], any = 0;
  for (int i = 0; i < count; ++i) {
    const int lanes = StartAt<Function>(x, i * kElements, &states[i], false);
    if constexpr (kTellsAtEnd<Function>) rare[i] = lanes;
    any |= lanes;
    GoOn<kFirstHalf<kBytes>>(beside);
  }
  const auto found = [&] {
    int number = 0;
    for (int i = 0; i < count; ++i) number += __builtin_popcount(static_cast<unsigned>(rare[i]));
    return number;
  };
  if (any != 0) {
    if constexpr (kHasOutside<Function>) {
      if (!ask && AllOutside<Function>(x[0], count)) {
        RunPiece<typename Function::Wide>(d, x, 2 * count);
        return true;
      }
    }
    if constexpr (kTellsAtEnd<Function>) {
      if (found() == count * kElements) {
        RunPiece<typename Function::Wide>(d, x, 2 * count);
        return false;
      }
      for (int i = 0; i < count; ++i) Function::Replace(&states[i]);
    } else {
      any = 0;
      for (int i = 0; i < count; ++i)
        any |= rare[i] = StartAt<Function>(x, i * kElements, &states[i], true);
    }
  }
  Function::Continue(states, count);
  if constexpr (kTellsAtEnd<Function>) {
    int more = 0;
    for (int i = 0; i < count; ++i) more |= Function::RareAtEnd(states[i]);
    if (more != 0) {
      any |= more;
      for (int i = 0; i < count; ++i) {
        rare[i] |= Function::RareAtEnd(states[i]);
        Function::ReplaceAtEnd(&states[i]);
      }
    }
  }
  C64 copies[kOperands][Function::kPiece * kElements];
  [[maybe_unused]] ResultOf<Function, kOperands> wide[Function::kPiece * kElements];
  [[maybe_unused]] int64_t places[Function::kPiece * kElements];
  [[maybe_unused]] int gathered = 0;
  if (any != 0) {
    if constexpr (kHasWide<Function>) {
      static_assert(Function::Wide::kPiece == 2 * Function::kPiece);
      gathered = RunGathered<Function>(wide, x, rare, count, places);
    } else {
      for (int k = 0; k < kOperands; ++k)
        __builtin_memcpy(copies[k], x[k], count * kElements * sizeof(C64));
    }
  }
  for (int i = 0; i < count; ++i) {
    StoreResult(d + i * kElements, Function::Finish(states[i]));
    GoOn<kBytes - kFirstHalf<kBytes>>(beside);
  }
  if (any == 0) return false;
  if constexpr (kHasWide<Function>) {
    for (int i = 0; i < gathered; ++i) d[places[i]] = wide[i];
  } else {
    const C64* from[kOperands];
    for (int k = 0; k < kOperands; ++k) from[k] = copies[k];
    for (int i = 0; i < count; ++i) {
      for (int lanes = rare[i]; lanes != 0; lanes &= lanes - 1) {
        const int lane = __builtin_ctz(lanes);
        const int64_t at =
            i * kElements + (kElements == kDoubles ? ElementOf(lane) : ElementOfFloats(lane));
        d[at] = CompleteAt<Function>(from, at);
      }
    }
  }
  return false;
}

// kOne: the number of the operand that is one element, or none of them.
template <class Function, int kOperands, int kOne>
void Pieces(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  constexpr int64_t kVector = kElementsOf<typename Function::Operand>;
  constexpr int64_t kElements = Function::kPiece * kVector;
  if (n <= 0) return;
  const C64* const from[] = {static_cast<const C64*>(a), static_cast<const C64*>(b)};
  C64 rest[kOperands][kElements];
  if constexpr (kOne >= 0) {
    for (int64_t i = 0; i < kElements; ++i) rest[kOne][i] = *from[kOne];
  }
  using Result = ResultOf<Function, kOperands>;
  Result* d = static_cast<Result*>(dst);
  const C64* x[kOperands];
  for (int k = 0; k < kOperands; ++k) x[k] = k == kOne ? rest[k] : from[k];
  const Beside& beside = BesideOf(c);
  bool outside = false;
  for (; n >= kElements; n -= kElements, d += kElements) {
    outside = RunPiece<Function>(d, x, Function::kPiece, beside, outside);
    for (int k = 0; k < kOperands; ++k) x[k] += k == kOne ? 0 : kElements;
  }
  if (n == 0) return;
  for (int k = 0; k < kOperands; ++k) {
    if (k != kOne) {
      __builtin_memcpy(rest[k], x[k], n * sizeof(C64));
      for (int64_t i = n; i < kElements; ++i) rest[k][i] = {1, 1};  // which is not rare
    }
    x[k] = rest[k];
  }
  Result result[kElements];
  RunPiece<Function>(result, x, static_cast<int>((n + kVector - 1) / kVector));
  __builtin_memcpy(d, result, n * sizeof(Result));
}

template <class Function>
PJRT_INLINE void SetUnaryPieces(BlockKernels* k, BlockOp op) {
  BesideEntry(k, op, CType::kC64) = Pieces<Function, 1, -1>;
}
template <class Function>
PJRT_INLINE void SetBinaryPieces(BlockKernels* k, BlockOp op) {
  BesideEntry(k, op, CType::kC64) = Pieces<Function, 2, -1>;
  BesideEntry(k, op, CType::kC64, Scalars::kFirst) = Pieces<Function, 2, 0>;
  BesideEntry(k, op, CType::kC64, Scalars::kSecond) = Pieces<Function, 2, 1>;
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_STEPS_INL_H_
