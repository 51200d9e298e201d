// SPDX-License-Identifier: Apache-2.0
//
// Functions of c64 made of exponentials, sines and cosines, in f32 numbers in two parts, twice as
// many at a time as of f64, or in f64 where sums cancel or parts are large or tiny. Levels without
// AVX2 have those of complex_pieces-inl.h. Largest errors of a part seen in some 10^8 numbers: 0.58
// ULP of exponentials, 0.56 of sines and cosines, 0.64 of tangents, and 0.64 of all of these beside
// zeros of angles beyond 250. On an Emerald Rapids exponentials, sines and tangents took 0.97, 1.13
// and 1.3 ns an element by f64 alone and take 0.63, 0.78 and 1.1.
#include "src/cpu_device/kernels/complex_exp_wide-inl.h"
#include "src/cpu_device/kernels/complex_pairs-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// Sizes of a part that go in f32, beside 0.
struct Sizes {
  float least, largest;
};
// Of an angle or an exponent of which products are made, so that no second part vanishes.
constexpr float kLeast = 0x1p-30f;
constexpr Sizes kAngles = {kLeast, kLargestFloatAngle};

struct Exp {
  using Wide = doubles::Exp;
  static constexpr Sizes kRe = {0, kLargestFloatExponent}, kIm = kAngles;
  struct State {
    FloatExp exp;
    FloatAngle angle;
  };
  PJRT_INLINE State Start(FloatParts z, FloatParts) { return {ExpOf(z.re), ReduceAngle(z.im)}; }
  PJRT_INLINE const State& Continue(const State& state) { return state; }
  // power (1 + part) (high - less)
  PJRT_INLINE Floats Times(const FloatExp& e, Pair x) {
    const Floats less = FusedLess(e.part, x.high - x.less, x.less);
    return Fused(e.power, x.high, -(e.power * less));
  }
  PJRT_INLINE FloatParts Finish(const State& s) {
    const SineCosine angle = SineCosineOf(s.angle);
    return {Times(s.exp, angle.cosine), Times(s.exp, angle.sine)};
  }
};

// Of the sign of the height.
template <class Wide_>
struct SinOrCos {
  using Wide = Wide_;
  static constexpr Sizes kRe = kAngles, kIm = {kLeast, kLargestHyperbolic};
  struct State {
    Hyperbolic hyperbolic;
    FloatAngle angle;
    Floats sign;
  };
  PJRT_INLINE State Start(FloatParts z, FloatParts size) {
    return {HyperbolicOf(size.im), ReduceAngle(z.re), z.im};
  }
  PJRT_INLINE const State& Continue(const State& state) { return state; }
};
struct Sin : SinOrCos<doubles::Sin> {
  PJRT_INLINE FloatParts Finish(const State& s) {
    const SineCosine angle = SineCosineOf(s.angle);
    return {Product(angle.sine, s.hyperbolic.cosh),
            Turned(ProductOrZero(angle.cosine, s.hyperbolic.sinh), s.sign)};
  }
};
struct Cos : SinOrCos<doubles::Cos> {
  PJRT_INLINE FloatParts Finish(const State& s) {
    const SineCosine angle = SineCosineOf(s.angle);
    return {Product(angle.cosine, s.hyperbolic.cosh),
            Turned(ProductOrZero(angle.sine, s.hyperbolic.sinh), -s.sign)};
  }
};

// (sinh x cosh x + i sin y cos y) / (sinh(x)^2 + cos(y)^2), of which no terms cancel, and the first
// of |x|.
struct TanhState {
  Hyperbolic hyperbolic;
  FloatAngle angle;
  Floats sign;
};
struct TanhQuotients {
  Floats re, re_less, im, im_less, divisor, less, sign;
};
PJRT_INLINE TanhQuotients ContinueTanh(const TanhState& state) {
  const SineCosine angle = SineCosineOf(state.angle);
  const Pair sinh = state.hyperbolic.sinh, cosh = state.hyperbolic.cosh;
  const Pair sine = angle.sine, cosine = angle.cosine;
  const Floats sinh_all = sinh.high - sinh.less, cosine_all = cosine.high - cosine.less;
  const Floats re = sinh.high * cosh.high, im = sine.high * cosine.high;
  const Floats re_lost = FusedLess(sinh.high, cosh.high, re);
  const Floats im_lost = FusedLess(sine.high, cosine.high, im);
  const Floats re_less = Fused(cosh.less, sinh_all, Fused(cosh.high, sinh.less, re_lost));
  const Floats im_less = Fused(sine.less, cosine_all, Fused(sine.high, cosine.less, im_lost));

  const Floats size = Magnitude(cosine.high);
  const Floats large = Larger(sinh.high, size), small = Smaller(sinh.high, size);
  const Floats most = large * large, divisor = Fused(small, small, most);
  const Floats lost = FusedLess(small, small, divisor - most) + FusedLess(large, large, most);
  const Floats less =
      Fused(cosine.less, cosine.high + cosine_all, Fused(sinh.less, sinh.high + sinh_all, lost));
  return {re, re_less, im, im_less, divisor, less, state.sign};
}
PJRT_INLINE FloatParts FinishTanh(const TanhQuotients& q) {
  const Floats inverse = AllFloats(1) / (q.divisor - q.less);
  // What is to be added to its product with the divisor for 1.
  const Floats rest = Fused(inverse, q.less, FusedLess(inverse, q.divisor, AllFloats(1)));
  const Floats re_rest = inverse * FusedLess(rest, q.re, q.re_less);
  const Floats im_rest = inverse * FusedLess(rest, q.im, q.im_less);
  return {Turned(Fused(inverse, q.re, -re_rest), q.sign), Fused(inverse, q.im, -im_rest)};
}
struct Tanh {
  using Wide = doubles::Tanh;
  static constexpr Sizes kRe = {kLeast, kLargestHyperbolic}, kIm = kAngles;
  using State = TanhState;
  PJRT_INLINE State Start(FloatParts z, FloatParts size) {
    return {HyperbolicOf(size.re), ReduceAngle(z.im), z.re};
  }
  PJRT_INLINE TanhQuotients Continue(const State& state) { return ContinueTanh(state); }
  PJRT_INLINE FloatParts Finish(const TanhQuotients& q) { return FinishTanh(q); }
};
// tan(z) = -i tanh(iz)
struct Tan {
  using Wide = doubles::Tan;
  static constexpr Sizes kRe = kAngles, kIm = {kLeast, kLargestHyperbolic};
  using State = TanhState;
  PJRT_INLINE State Start(FloatParts z, FloatParts size) {
    return {HyperbolicOf(size.im), ReduceAngle(z.re), z.im};
  }
  PJRT_INLINE TanhQuotients Continue(const State& state) { return ContinueTanh(state); }
  PJRT_INLINE FloatParts Finish(const TanhQuotients& q) {
    const FloatParts z = FinishTanh(q);
    return {z.im, z.re};
  }
};

// Sizes as integers, less the least one, so that one bound tells what is rare. A zero seems to be.
PJRT_INLINE FloatBits Excess(Floats size, Sizes sizes) {
  return Minus32((FloatBits)size, AllBits(static_cast<int>(ToBits(sizes.least))));
}
PJRT_INLINE bool AnyBeyond(FloatBits excess, Sizes sizes) {
  return AnyAbove(excess, ToBits(sizes.largest) - ToBits(sizes.least));
}
PJRT_INLINE FloatMask IsRare(Floats size, Sizes sizes) {
  return Either(Compare<_CMP_NLE_UQ>(size, AllFloats(sizes.largest)),
                Both(Compare<_CMP_LT_OQ>(size, AllFloats(sizes.least)),
                     Compare<_CMP_NEQ_UQ>(size, AllFloats(0))));
}

// Vectors that are looked at together.
constexpr int64_t kVectors = 4, kPiece = kVectors * kFloats;

PJRT_INLINE FloatParts SizesOf(FloatParts z) { return {Magnitude(z.re), Magnitude(z.im)}; }
PJRT_INLINE FloatParts Choose(FloatMask mask, FloatParts a, FloatParts b) {
  return {Choose(mask, a.re, b.re), Choose(mask, a.im, b.im)};
}
template <class Function>
PJRT_INLINE void FinishPiece(const typename Function::State* states, C64* d, int64_t count,
                             const Beside& beside) {
  std::decay_t<decltype(Function::Continue(states[0]))> ends[kVectors];
  for (int64_t i = 0; i < count; ++i) ends[i] = Function::Continue(states[i]);
  for (int64_t i = 0; i < count; ++i) {
    StoreFloatParts(d + i * kFloats, Function::Finish(ends[i]));
    GoOn<kFloats * sizeof(C64)>(beside);
  }
}
template <class Function>
PJRT_INLINE FloatMask IsRare(FloatParts z) {
  const FloatParts size = SizesOf(z);
  return Either(IsRare(size.re, Function::kRe), IsRare(size.im, Function::kIm));
}
// What is rare goes in f64, and a common number takes its place in f32, where products of tiny
// numbers would take very long. Few elements are gathered before. False if nothing is rare.
template <class Function>
__attribute__((noinline)) bool RunRarePiece(C64* d, const C64* x, int64_t count) {
  using Wide = typename Function::Wide;
  static_assert(kPiece % doubles::kPiece == 0);
  FloatMask rare[kVectors];
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    rare[i] = IsRare<Function>(LoadFloatParts(x + i * kFloats));
    found += __builtin_popcount(static_cast<unsigned>(Lanes(rare[i])));
  }
  if (found == 0) return false;
  if (found == count * kFloats) {
    doubles::Loop<Wide>(d, x, nullptr, nullptr, found);
    return true;
  }
  const bool few = found <= kPiece / 4;
  typename Function::State states[kVectors];
  C64 wide[kPiece];
  int64_t places[kPiece / 4], filled = 0;
  for (int64_t i = 0; i < count; ++i) {
    const FloatParts z = LoadFloatParts(x + i * kFloats);
    const FloatParts common = Choose(rare[i], {AllFloats(1), AllFloats(1)}, z);
    states[i] = Function::Start(common, SizesOf(common));
    for (int lanes = few ? Lanes(rare[i]) : 0; lanes != 0; lanes &= lanes - 1) {
      const int64_t at = i * kFloats + ElementOfFloats(__builtin_ctz(lanes));
      places[filled] = at;
      wide[filled++] = x[at];
    }
  }
  // Whole pieces take no copies.
  for (; few && filled % doubles::kPiece != 0; ++filled) wide[filled] = {1, 1};
  doubles::Loop<Wide>(wide, few ? wide : x, nullptr, nullptr, few ? filled : count * kFloats);
  FinishPiece<Function>(states, d, count, kNothingBeside);
  for (int64_t i = 0; few && i < found; ++i) d[places[i]] = wide[i];
  for (int64_t i = 0; !few && i < count * kFloats; i += kFloats) {
    const FloatParts common = LoadFloatParts(d + i), other = LoadFloatParts(wide + i);
    StoreFloatParts(d + i, Choose(rare[i / kFloats], other, common));
  }
  return true;
}

// `count` vectors. Results may take the place of operands.
template <class Function>
PJRT_INLINE void RunPiece(C64* d, const C64* x, int64_t count, const Beside& beside) {
  FloatBits excess_re = AllBits(0), excess_im = excess_re;
  for (int64_t i = 0; i < count; ++i) {
    const FloatParts size = SizesOf(LoadFloatParts(x + i * kFloats));
    excess_re = Larger32(excess_re, Excess(size.re, Function::kRe));
    excess_im = Larger32(excess_im, Excess(size.im, Function::kIm));
  }
  const bool beyond = AnyBeyond(excess_re, Function::kRe) || AnyBeyond(excess_im, Function::kIm);
  if (__builtin_expect(beyond, 0) && RunRarePiece<Function>(d, x, count)) return;
  typename Function::State states[kVectors];
  for (int64_t i = 0; i < count; ++i) {
    const FloatParts z = LoadFloatParts(x + i * kFloats);
    states[i] = Function::Start(z, SizesOf(z));
  }
  FinishPiece<Function>(states, d, count, beside);
}

template <class Function>
void FloatsLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  C64* d = static_cast<C64*>(dst);
  const C64* x = static_cast<const C64*>(a);
  for (; n >= kPiece; n -= kPiece, d += kPiece, x += kPiece) RunPiece<Function>(d, x, kVectors, BesideOf(c));
  if (n <= 0) return;
  C64 rest[kPiece];
  for (int64_t i = 0; i < kPiece; ++i) rest[i] = i < n ? x[i] : C64{1, 1};
  RunPiece<Function>(rest, rest, (n + kFloats - 1) / kFloats, kNothingBeside);
  __builtin_memcpy(d, rest, n * sizeof(C64));
}

}  // namespace

void FillComplexExp(BlockKernels* k) {
  BesideEntry(k, BlockOp::kExp, CType::kC64) = FloatsLoop<Exp>;
  BesideEntry(k, BlockOp::kExpm1, CType::kC64) = doubles::Loop<doubles::Expm1>;
  BesideEntry(k, BlockOp::kSin, CType::kC64) = FloatsLoop<Sin>;
  BesideEntry(k, BlockOp::kCos, CType::kC64) = FloatsLoop<Cos>;
  BesideEntry(k, BlockOp::kTan, CType::kC64) = FloatsLoop<Tan>;
  BesideEntry(k, BlockOp::kTanh, CType::kC64) = FloatsLoop<Tanh>;
  BesideEntry(k, BlockOp::kLogistic, CType::kC64) = doubles::Loop<doubles::Logistic>;
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
