// SPDX-License-Identifier: Apache-2.0
//
// Functions of c64 made of exponentials, sines and cosines, in f32 numbers in two parts, twice as
// many at a time as of f64, or in f64 where sums cancel or parts are large or tiny. Levels without
// AVX2 have those of complex_pieces-inl.h. Largest errors of a part seen in some 10^8 numbers: 0.58
// ULP of exponentials, 0.56 of sines and cosines, 0.64 of tangents, and 0.64 of all of these beside
// zeros of angles beyond 250; of logistic functions 0.56, and where terms of exp(x) + cos y cancel
// down to a 64th 4.3 of a part and 1.3 of the whole. On an Emerald Rapids exponentials, sines,
// tangents and logistic functions took 0.97, 1.13, 1.3 and 1.46 ns an element by f64 alone and take
// 0.63, 0.78, 1.1 and 1.17.
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

  const Floats large = OfLargerSize(sinh.high, cosine.high);
  const Floats small = OfSmallerSize(sinh.high, cosine.high);
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

// p (v + i sin y) / (v^2 + sin(y)^2) with p = exp(x) and v = p + cos y, by f64 where v nearly
// vanishes, as it does beside the poles.
struct LogisticState {
  Floats power, r;  // p = power exp(r)
  FloatAngle angle;
};
struct LogisticSums {
  Floats power, part;  // p = power (1 + part)
  Floats v, v_low, sine, sine_less, sine_all, divisor, divisor_low;
};
struct Logistic {
  using Wide = doubles::Logistic;
  static constexpr Sizes kRe = {0, 40}, kIm = kAngles;
  // Smaller sums lose too many digits, but where so small a p tells that cos y is beside a zero of
  // its own and has all of them.
  static constexpr float kLeastSum = 0x1p-6f;
  PJRT_INLINE FloatMask Cancel(const LogisticSums& s) {
    return Compare<_CMP_LT_OQ>(Magnitude(s.v),
                               Smaller(s.power, AllFloats(0.125f)) * AllFloats(8 * kLeastSum));
  }
  using State = LogisticState;
  PJRT_INLINE State Start(FloatParts z, FloatParts) {
    const Floats shift = AllFloats(kFloatShift);
    const Floats shifted = Fused(z.re, AllFloats(0x1.715476p+5f), shift), n = shifted - shift;
    const FloatEntries<2> place = FetchEntries<kFloatPowers>((FloatBits)shifted);
    // log(2) / 32 in two parts, the first short enough for exact products.
    const Floats near = FusedLess(n, AllFloats(0x1.62e42ep-6f), z.re);
    return {(Floats)Plus32((FloatBits)place[0], BitsLeft<18>(shifted)),
            near + FusedLess(n, AllFloats(0x1.efa39ep-30f), place[1]), ReduceAngle(z.im)};
  }
  PJRT_INLINE LogisticSums Continue(const State& state) {
    // exp(e) - 1 for |e| <= log(2) / 64, to 2^-33.
    const Floats e = state.r, power = state.power;
    const Floats half = Fused(e, AllFloats(0x1.5555d2p-3f), AllFloats(0x1.000088p-1f));
    const Floats part = Fused(e * half, e, e);
    const FloatAngle& angle = state.angle;
    const SmallAngle small = SmallAngleOf(angle);
    const Floats s = angle.sine, c = angle.cosine, r = angle.r;
    const Pair sine = SineOf(angle, small);
    const Floats sine_all = sine.high - sine.less;

    // What the sum of the tables' loses goes into the rests.
    const Floats far = power + c, of_c = far - power, most = FusedLess(s, r, far);
    const Floats exp_rest = Fused(power, part, power - (far - of_c));
    const Floats cosine_rest = Fused(s, small.sine_less, FusedLess(c, small.cosine_less, c - of_c));
    const Floats rest = (exp_rest + cosine_rest) + FusedLess(s, r, far - most);
    const Floats v = most + rest, v_low = rest - (v - most);

    const Floats large = OfLargerSize(v, sine.high), little = OfSmallerSize(v, sine.high);
    const Floats first = large * large, sum = Fused(little, little, first);
    const Floats sum_lost = Fused(little, little, first - sum);
    const Floats first_lost = Fused(large, large, -first);
    const Floats sine_low = FusedLess(sine.less, sine.high + sine_all, first_lost);
    const Floats low = Fused(v + v, v_low, sine_low) + sum_lost;
    return {power, part, v, v_low, sine.high, sine.less, sine_all, sum, low};
  }
  PJRT_INLINE FloatParts Finish(const LogisticSums& s) {
    const Floats one = AllFloats(1), inverse = one / (s.divisor + s.divisor_low);
    const Floats rest = FusedLess(inverse, s.divisor_low, FusedLess(inverse, s.divisor, one));
    const Floats factor = s.power * inverse;
    const Floats factor_low = Fused(factor, rest + s.part, Fused(s.power, inverse, -factor));
    const Floats re_low = Fused(factor, s.v_low, factor_low * s.v);
    // 0, not -0, beside a zero.
    const Floats im_less = FusedLess(factor_low, s.sine_all, factor * s.sine_less);
    return {Fused(factor, s.v, re_low), Fused(factor, s.sine, -im_less)};
  }
};

// Whether any of `count` vectors of numbers seems to be rare, as a zero of a part with a least size
// does: sizes as integers, less the least one, have one bound.
template <class Function>
PJRT_INLINE bool SeemRare(const C64* x, int64_t count) {
  constexpr Sizes kRe = Function::kRe, kIm = Function::kIm;
  const FloatBits least = Alternate(ToBits(kRe.least), ToBits(kIm.least));
  FloatBits excess = AllBits(0);
  for (int64_t i = 0; i < 2 * count; ++i) {
    const Floats size = Magnitude(LoadFloats(&x->re + i * kFloats));
    excess = Larger32(excess, Minus32((FloatBits)size, least));
  }
  return AnyAbove(excess, Alternate(ToBits(kRe.largest) - ToBits(kRe.least),
                                    ToBits(kIm.largest) - ToBits(kIm.least)));
}
// Whether any is: of all sizes less 1 a zero has the largest.
template <class Function>
PJRT_INLINE bool AreRare(const C64* x, int64_t count) {
  constexpr Sizes kRe = Function::kRe, kIm = Function::kIm;
  constexpr auto kBefore = [](float least) { return ToBits(least) - (least > 0); };
  FloatBits largest = AllBits(0), least = AllBits(-1);
  for (int64_t i = 0; i < 2 * count; ++i) {
    const FloatBits size = (FloatBits)Magnitude(LoadFloats(&x->re + i * kFloats));
    largest = Larger32(largest, size);
    least = Smaller32(least, Minus32(size, AllBits(1)));
  }
  return AnyAbove(largest, Alternate(ToBits(kRe.largest), ToBits(kIm.largest))) ||
         AnyAbove(Alternate(kBefore(kRe.least), kBefore(kIm.least)), least);
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

// Where there is a Function::kLeastSum terms of smaller sums v may cancel: Function::Cancel tells
// of which they do, and f64 does those.
template <class Function, class = void>
constexpr bool kMayCancel = false;
template <class Function>
constexpr bool kMayCancel<Function, std::void_t<decltype(Function::kLeastSum)>> = true;

template <class Function>
using EndOf = std::decay_t<decltype(Function::Continue(typename Function::State()))>;
template <class Function>
PJRT_INLINE void FinishAll(const EndOf<Function>* ends, C64* d, int64_t count) {
  for (int64_t i = 0; i < count; ++i) StoreFloatParts(d + i * kFloats, Function::Finish(ends[i]));
}
template <class Function>
__attribute__((noinline)) void FinishWithCancelled(const EndOf<Function>* ends, C64* d,
                                                   const C64* x, int64_t count) {
  C64 wide[kPiece];
  int64_t places[kPiece], found = 0;
  for (int64_t i = 0; i < count; ++i) {
    for (int lanes = Lanes(Function::Cancel(ends[i])); lanes != 0; lanes &= lanes - 1) {
      places[found] = i * kFloats + ElementOfFloats(__builtin_ctz(lanes));
      wide[found] = x[places[found]];
      ++found;
    }
  }
  doubles::Loop<typename Function::Wide>(wide, wide, nullptr, nullptr, found);
  FinishAll<Function>(ends, d, count);
  for (int64_t i = 0; i < found; ++i) d[places[i]] = wide[i];
}
template <class Function>
PJRT_INLINE void FinishPiece(const typename Function::State* states, C64* d, const C64* x,
                             int64_t count, const Beside& beside) {
  EndOf<Function> ends[kVectors];
  for (int64_t i = 0; i < count; ++i) {
    ends[i] = Function::Continue(states[i]);
    GoOn<kFloats * sizeof(C64)>(beside);
  }
  if constexpr (kMayCancel<Function>) {
    Floats least = AllFloats(1);
    for (int64_t i = 0; i < count; ++i) least = LeastSize(least, ends[i].v);
    if (__builtin_expect(Lanes(Compare<_CMP_LT_OQ>(least, AllFloats(Function::kLeastSum))) != 0,
                         0)) {
      FinishWithCancelled<Function>(ends, d, x, count);
      return;
    }
  }
  FinishAll<Function>(ends, d, count);
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
  if (!AreRare<Function>(x, count)) return false;
  FloatMask rare[kVectors];
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    rare[i] = IsRare<Function>(LoadFloatParts(x + i * kFloats));
    found += __builtin_popcount(static_cast<unsigned>(Lanes(rare[i])));
  }
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
  FinishPiece<Function>(states, d, x, count, kNothingBeside);
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
  if (__builtin_expect(SeemRare<Function>(x, count), 0) && RunRarePiece<Function>(d, x, count))
    return;
  typename Function::State states[kVectors];
  for (int64_t i = 0; i < count; ++i) {
    const FloatParts z = LoadFloatParts(x + i * kFloats);
    states[i] = Function::Start(z, SizesOf(z));
  }
  FinishPiece<Function>(states, d, x, count, beside);
}

template <class Function>
void FloatsLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  C64* d = static_cast<C64*>(dst);
  const C64* x = static_cast<const C64*>(a);
  for (; n >= kPiece; n -= kPiece, d += kPiece, x += kPiece)
    RunPiece<Function>(d, x, kVectors, BesideOf(c));
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
  BesideEntry(k, BlockOp::kLogistic, CType::kC64) = FloatsLoop<Logistic>;
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
