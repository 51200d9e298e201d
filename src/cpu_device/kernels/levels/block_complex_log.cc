// SPDX-License-Identifier: Apache-2.0
//
// Roots, logarithms and what follows from them of c64 numbers, in f64 or f32 numbers in two parts,
// by vectors whose parts are apart. Polynomials are short because tables that a permutation fetches
// divide their range; good to 2^-31 or better and rounded once. Largest errors seen: 0.51 ULP of
// each part, of logarithms 0.56. Levels without fused multiply-add have those of
// complex_pieces-inl.h. Rare arguments, such as zeros, infinities and NaNs, go one at a time to the
// complete functions.
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_float_logs-inl.h"
#include "src/cpu_device/kernels/complex_steps-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX2__)
namespace {

// log(square) / 2 in two steps; excess is square - 1, exact where it is small.
struct LogState {
  Doubles r, far;
};
PJRT_INLINE LogState StartLog(Doubles square, Doubles excess) {
  constexpr double kHalfLn2 = 0x1.62e42fefa39efp-2;
  const auto middle = EntriesAt<kMiddles>(ShiftedRight<48>((Words)square));
  const Mask far = Compare<_CMP_NLT_UQ>(Magnitude(excess), All(0.03));
  const Doubles rest = Fused(MantissaOf(square), middle[kInverse], All(-1));
  const Doubles log = Fused(ExponentOf(square), All(kHalfLn2), middle[kHalfLog]);
  return {Choose(far, rest, excess), Keep(far, log)};
}
PJRT_INLINE Doubles FinishLog(LogState log) {
  return Fused(log.r, Polynomial(kLog1p, log.r), log.far);
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
PJRT_INLINE Doubles FinishAngle(Doubles t, Doubles base) {
  const Doubles size = Magnitude(t);
  const auto coefficients = EntriesAt<kAtan>((Words)Fused(size, All(15), All(kIntegerShift)));
  Doubles p = coefficients[0];
#pragma GCC unroll 16
  for (int i = 1; i < kAtan.kCount; ++i) p = Fused(p, size, coefficients[i]);
  return Fused(p, t, base);
}

// 1 / sqrt(x) to 2^-31, x normal or 0, for which it is finite: halving the exponent's bits gives 4
// bits, and a polynomial of d = 1 - x y^2 the others. The instructions for roots and quotients take
// five times as long on a Xeon.
PJRT_INLINE Doubles InverseRoot(Doubles x) {
  constexpr double kSeries[] = {0x1.152f4c952704cp-1, 0x1.4bd7918e7e2b6p-3, 0x1.54ff4b437c3bfp-2,
                                0x1.7dec279587daep-2, 0x1.000d987eaed32p-1, 0x1.ffffb7bf2c81cp-1};
  const Doubles y = (Doubles)(AllWords(0x5fe50b50c7b537a9) - ((Words)x >> 1));
  const Doubles d = FusedLess(x * y, y, All(1));
  return y * Polynomial(kSeries, d);
}
PJRT_INLINE int LanesNotFinite(Doubles square) {
  return Lanes(Compare<_CMP_NLT_UQ>(square, All(__builtin_inf())));
}

// Functions. Start gives the lanes that are rare, for Complete; unless it is to be careful, it may
// give more.
struct WideSqrt {
  using Operand = Parts;
  static constexpr int kPiece = 8;
  struct State {
    Doubles square, re, im;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteSqrt(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool) {
    const Doubles square = Fused(z.re, z.re, z.im * z.im);
    *state = {square, z.re, z.im};
    return Lanes(IsZeroOrNotFinite(square));
  }
  PJRT_INLINE void Continue(State*, int) {}
  // The larger part is a root, and from it follows the other.
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles size = s.square * InverseRoot(s.square);
    const Doubles square = All(0.5) * (Magnitude(s.re) + size), inverse = InverseRoot(square);
    const Doubles root = square * inverse, other = All(0.5) * Magnitude(s.im) * inverse;
    const Mask left = IsNegative(s.re);
    return {Choose(left, other, root), WithSign(Choose(left, root, other), s.im)};
  }
};

// The conjugate of the root over the size.
struct WideRsqrt {
  using Operand = Parts;
  static constexpr int kPiece = 8;
  using State = WideSqrt::State;
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteRsqrt(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool careful) {
    return WideSqrt::Start(z, state, careful);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles inverse_size = InverseRoot(s.square);
    const Doubles square = All(0.5) * (Magnitude(s.re) + s.square * inverse_size);
    const Doubles inverse = InverseRoot(square) * inverse_size;
    const Doubles root = square * inverse, other = All(0.5) * Magnitude(s.im) * inverse;
    const Mask left = IsNegative(s.re);
    return {Choose(left, other, root), WithSign(Choose(left, root, other), -s.im)};
  }
};

// The same in f32, twice as many numbers at a time, by numbers in two parts: what each rounding
// loses goes into the second one, and results are all but correctly rounded. On an Emerald Rapids
// that made roots 1.25 -> 0.8 ns an element, inverse roots 1.3 -> 0.95 and sizes 0.57 -> 0.4.
// Numbers beyond a range in which no second part vanishes go the way above.

// 1 / sqrt(x) to 2^-21, as that of f64: second parts make good what it lacks.
PJRT_INLINE Floats InverseRoot(Floats x) {
  constexpr float kSeries[] = {0x1.084558p-1f, 0x1.533104p-2f, 0x1.01f96cp-1f, 0x1.fff01ep-1f};
  const Floats y = (Floats)Minus32(AllBits(0x5f285a86), BitsRight<1>(x));
  return y * Polynomial(kSeries, FusedLess(x * y, y, AllFloats(1)));
}
// Roots of x + low: x / sqrt(x) and what it lacks.
struct Root {
  Floats high, low, inverse;
};
PJRT_INLINE Root RootOf(Floats x, Floats low) {
  const Floats inverse = InverseRoot(x), root = x * inverse;
  const Floats rest = FusedLess(root, root, x) + low;
  return {root, rest * (AllFloats(0.5f) * inverse), inverse};
}
PJRT_INLINE Root SizeOf(FloatParts z) {
  const Floats width = Magnitude(z.re), height = Magnitude(z.im);
  // Of a NaN and a number the second operand: one of both is the NaN.
  const Floats large = Larger(width, height), small = Smaller(height, width);
  const Floats most = large * large, most_low = Fused(large, large, -most);
  const Floats square = Fused(small, small, most);
  return RootOf(square, Fused(small, small, most - square) + most_low);
}
// Numbers of sizes beyond 2^-30 and 2^30, or with an imaginary part that is small beside that.
PJRT_INLINE int LanesNotModerate(Floats size) {
  return Lanes(Either(Compare<_CMP_NGE_UQ>(size, AllFloats(0x1p-30f)),
                      Compare<_CMP_NLE_UQ>(size, AllFloats(0x1p+30f))));
}
PJRT_INLINE int LanesNotModerate(FloatParts z, Floats size) {
  const Floats height = Magnitude(z.im);
  return LanesNotModerate(size) | Lanes(Both(Compare<_CMP_LT_OQ>(height, AllFloats(0x1p-60f)),
                                             Compare<_CMP_NEQ_UQ>(height, AllFloats(0))));
}
// The larger part of a root and the smaller one.
struct RootParts {
  Floats large, large_low, small, small_low;
};
PJRT_INLINE RootParts RootPartsOf(FloatParts z, Floats size, Floats size_low) {
  const Floats half = AllFloats(0.5f), width = Magnitude(z.re);
  const Floats sum = size + width, low = ((size - sum) + width) + size_low;
  const Root root = RootOf(half * sum, half * low);
  const Floats height = half * Magnitude(z.im), other = height * root.inverse;
  const Floats rest = FusedLess(other, root.low, FusedLess(other, root.high, height));
  return {root.high, root.low, other, rest * root.inverse};
}
PJRT_INLINE FloatParts InOrder(FloatParts z, Floats large, Floats small) {
  const FloatMask left = IsNegative(z.re);
  return {Choose(left, small, large), WithSign(Choose(left, large, small), z.im)};
}

struct Sqrt {
  using Operand = FloatParts;
  using Wide = WideSqrt;
  static constexpr int kPiece = 4;
  struct State {
    FloatParts z;
    Floats size, size_low;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteSqrt(z); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool) {
    const Root size = SizeOf(z);
    *state = {z, size.high, size.low};
    return LanesNotModerate(z, size.high);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE FloatParts Finish(const State& s) {
    const RootParts r = RootPartsOf(s.z, s.size, s.size_low);
    return InOrder(s.z, r.large + r.large_low, r.small + r.small_low);
  }
};
// The conjugate of the root over the size.
struct Rsqrt {
  using Operand = FloatParts;
  using Wide = WideRsqrt;
  static constexpr int kPiece = 4;
  struct State {
    FloatParts z;
    Floats size, size_low, inverse, inverse_low;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteRsqrt(z); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool) {
    const Root size = SizeOf(z);
    const Floats rest =
        FusedLess(size.low, size.inverse, FusedLess(size.high, size.inverse, AllFloats(1)));
    *state = {z, size.high, size.low, size.inverse, rest * size.inverse};
    return LanesNotModerate(z, size.high);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Floats OverSize(Floats x, Floats x_low, const State& s) {
    const Floats product = x * s.inverse, lost = Fused(x, s.inverse, -product);
    return product + Fused(x, s.inverse_low, Fused(x_low, s.inverse, lost));
  }
  PJRT_INLINE FloatParts Finish(const State& s) {
    const RootParts r = RootPartsOf(s.z, s.size, s.size_low);
    return InOrder({s.z.re, -s.z.im}, OverSize(r.large, r.large_low, s),
                   OverSize(r.small, r.small_low, s));
  }
};

// Zeros stay: their inverse roots are finite.
struct WideAbs {
  using Operand = Parts;
  static constexpr int kPiece = 8;
  struct State {
    Doubles square;
  };
  PJRT_INLINE float Complete(C64 z) { return complexes::CompleteAbs(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool) {
    *state = {Fused(z.re, z.re, z.im * z.im)};
    return LanesNotFinite(state->square);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Doubles Finish(const State& s) { return s.square * InverseRoot(s.square); }
};
struct Abs {
  using Operand = FloatParts;
  using Wide = WideAbs;
  static constexpr int kPiece = 4;
  struct State {
    Floats size;
  };
  PJRT_INLINE float Complete(C64 z) { return complexes::CompleteAbs(z); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool) {
    const Root size = SizeOf(z);
    *state = {size.high + size.low};
    return LanesNotModerate(state->size);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Floats Finish(const State& s) { return s.size; }
};
struct Sign {
  using Operand = Parts;
  static constexpr int kPiece = 4;
  using State = WideSqrt::State;
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteSign(z); }
  PJRT_INLINE int Start(Parts z, State* state, bool careful) {
    WideSqrt::Start(z, state, careful);
    return LanesNotFinite(state->square);
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE Parts Finish(const State& s) {
    const Doubles inverse = InverseRoot(s.square);
    return {s.re * inverse, s.im * inverse};
  }
};

struct WideLog {
  using Operand = Parts;
  static constexpr int kPiece = 4;
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
  PJRT_INLINE Parts Finish(const State& s) { return {FinishLog(s.log), FinishAngle(s.t, s.base)}; }
};

// A quotient that is 0 or not so small that digits of its rest would be lost or, beside 1, of
// squares.
PJRT_INLINE FloatMask IsModerate(const FloatAngle& angle) {
  return IsNotBetween(Magnitude(angle.t), 1, ((127 - 50) << 23) - 1);
}
// What is neither that nor has a moderate logarithm, told by sizes with some room: a size that is
// not between 2^-46 and 2^46, or a quotient below 2^-51.
PJRT_INLINE int OutsideOfModerate(FloatParts z) {
  const Floats width = Magnitude(z.re), height = Magnitude(z.im);
  const Floats large = Larger(width, height), small = Smaller(width, height);
  const Floats apart = (Floats)Minus32((FloatBits)large, (FloatBits)small);
  const FloatMask tiny = Both(IsNotBetween(apart, 0, 52 << 23), IsNotBetween(small, 0, 0));
  return Lanes(Either(tiny, IsNotBetween(large, (127 - 46) << 23, (127 + 46) << 23)));
}
struct Log {
  using Operand = FloatParts;
  using Wide = WideLog;
  static constexpr int kPiece = 2;
  struct State {
    FloatAngle angle;
    HalfLog log;
  };
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteLog(z); }
  PJRT_INLINE int Outside(FloatParts z) { return OutsideOfModerate(z); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool careful) {
    const FloatMask steep = Compare<_CMP_LT_OQ>(Magnitude(z.re), Magnitude(z.im));
    const Floats dividend = ChooseOpposite(steep, z.re, z.im), divisor = Choose(steep, z.im, z.re);
    const Floats turn = Choose(steep, AllFloats(kPiHigh / 2),
                               Choose(IsNegative(z.re), AllFloats(kPiHigh), AllFloats(0)));
    const Floats inverse = AllFloats(1) / divisor, t = dividend * inverse;
    state->angle = {t, Fused(t, divisor, -dividend) * inverse, WithSign(turn, z.im)};
    const SquareSum square = SumOfSquares(divisor, dividend);
    const HalfLog log = StartHalfLog(square.sum, square.low);
    state->log = log;
    const FloatMask moderate = IsModerate(state->angle);
    if (!careful) return OtherLanes(Both(moderate, IsModerateAndNotNearZero(log)));
    const Floats zero = AllFloats(0);  // what is not moderate would make denormals
    const HalfLog near = StartLogOfSizeNearOne(divisor, Choose(moderate, dividend, zero));
    state->angle.t = Choose(moderate, t, zero);
    state->log = Choose(IsNearZero(log), near, log);
    return OtherLanes(Both(moderate, IsModerate(log)));
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE FloatParts Finish(const State& s) {
    return {FinishHalfLog(s.log), FinishAngle(s.angle)};
  }
};

// Half the log of |1 + z|^2 = 1 + (2x + x^2 + y^2), whose terms are exact and may cancel.
struct WideLog1p {
  using Operand = Parts;
  static constexpr int kPiece = 4;
  using State = WideLog::State;
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
  PJRT_INLINE Parts Finish(const State& s) { return WideLog::Finish(s); }
};

// The sum 1 + re has two parts, and so has its square.
struct Log1p {
  using Operand = FloatParts;
  using Wide = WideLog1p;
  static constexpr int kPiece = 2;
  using State = Log::State;
  PJRT_INLINE C64 Complete(C64 z) { return complexes::CompleteLog1p(z); }
  PJRT_INLINE int Outside(FloatParts z) { return OutsideOfModerate({z.re + AllFloats(1), z.im}); }
  PJRT_INLINE int Start(FloatParts z, State* state, bool careful) {
    const FloatPair re = SumOf(z.re, AllFloats(1));
    const FloatMask steep = Compare<_CMP_LT_OQ>(Magnitude(re.high), Magnitude(z.im));
    const Floats dividend = ChooseOpposite(steep, re.high, z.im);
    const Floats divisor = Choose(steep, z.im, re.high);
    const Floats turn = Choose(steep, AllFloats(kPiHigh / 2),
                               Choose(IsNegative(re.high), AllFloats(kPiHigh), AllFloats(0)));
    const Floats inverse = AllFloats(1) / divisor, t = dividend * inverse;
    const Floats low_times = Choose(steep, AllFloats(1), t);
    const Floats over = Fused(re.low, low_times, Fused(t, divisor, -dividend));
    state->angle = {t, over * inverse, WithSign(turn, z.im)};
    const SquareSum square = SumOfSquares(divisor, dividend);
    const HalfLog log = StartHalfLog(square.sum, Fused(re.high + re.high, re.low, square.low));
    state->log = log;
    const FloatMask moderate = IsModerate(state->angle);
    if (!careful) return OtherLanes(Both(moderate, IsModerateAndNotNearZero(log)));
    // Half the log of 1 + (2x + (x^2 + y^2)), unless most of that cancels. Squares that would be
    // denormals do not matter.
    const Floats zero = AllFloats(0), half = AllFloats(0.5f);
    state->angle.t = Choose(moderate, t, zero);
    const Floats height = Choose(moderate, Magnitude(z.im), zero);
    const FloatMask visible = Compare<_CMP_GE_OQ>(Magnitude(z.re), AllFloats(0x1p-60f));
    const Floats width = Choose(visible, Magnitude(z.re), zero);
    const SquareSum size = SumOfSquares(Larger(width, height), Smaller(width, height));
    const FloatPair sum = SumOf(z.re + z.re, size.sum);
    const FloatPair excess = SumOf(sum.high, sum.low + size.low);
    const Floats h = half * excess.high;
    const FloatMask near = IsNearZero(log);
    const FloatMask kept = Compare<_CMP_GE_OQ>(Magnitude(h), AllFloats(0x1p-17f) * size.sum);
    state->log = Choose(near, {h, half * excess.low, h}, log);
    return OtherLanes(Both(moderate, Either(Both(near, kept), IsModerateAndNotNearZero(log))));
  }
  PJRT_INLINE void Continue(State*, int) {}
  PJRT_INLINE FloatParts Finish(const State& s) { return Log::Finish(s); }
};

}  // namespace

void FillComplexLog(BlockKernels* k) {
  SetUnaryPieces<Sqrt>(k, BlockOp::kSqrt);
  SetUnaryPieces<Rsqrt>(k, BlockOp::kRsqrt);
  Entry(k, BlockOp::kAbs, CType::kC64) = Pieces<Abs, 1, -1>;
  SetUnaryPieces<Sign>(k, BlockOp::kSign);
  SetUnaryPieces<Log>(k, BlockOp::kLog);
  SetUnaryPieces<Log1p>(k, BlockOp::kLog1p);
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
