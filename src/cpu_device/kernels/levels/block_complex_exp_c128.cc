// SPDX-License-Identifier: Apache-2.0
//
// Exponential and trigonometric functions of c128 numbers in vector loops. Largest errors seen in a
// part that does not nearly cancel: 2.1 ULP. Levels with fused multiply-add have those of
// block_complex_tables_c128.cc and block_complex_tanh_c128.cc.
#include "src/cpu_device/kernels/complex_exp_c128-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
#if !defined(__AVX2__)
namespace {

using complexes::BySecondBit;
using complexes::Exponential;
using complexes::FastSum;
using complexes::ForPiece;
using complexes::OneMore;
using complexes::Pair;
using complexes::PairLanes;
using complexes::Piece;
using complexes::PowerOf;
using complexes::Signed;
using complexes::SignedTimes;
using complexes::SineCosine;
using complexes::Sum;
using complexes::TimesPair;
using f64::Choose;

constexpr double kLargestAngle = 0x1p+20;

struct OneLess {  // exp(-x) of x >= 0, and what it is less than 1
  PairLanes u, v;
};
PJRT_INLINE void OneLessOf(const Exponential& e, OneLess* less) {
  ForPiece([&](int64_t i) {
    const Pair one = OneMore(e, i);
    const double first = e.scale[i], second = e.second[i], scale = first * second;
    less->u.Set(i, {one.high * first * second, one.low * first * second});
    const Pair base = FastSum(1, -scale), sum = FastSum(base.high, -scale * e.more.high[i]);
    less->v.Set(i, FastSum(sum.high, MulAdd(-scale, e.more.low[i], sum.low + base.low)));
  });
}
// Whether |x| is not below `bound`, or an angle is large.
PJRT_INLINE uint64_t IsOutside(double x, double bound, double angle) {
  const double size = wide::Abs(x), turn = wide::Abs(angle);
  const bool inside = (size < bound) & (turn <= kLargestAngle);
  return inside ? 0 : 1;
}
constexpr double kAnySize = 1e300;  // exp(-2 |x|) is bounded
// 1 / (1 + exp(-z)): with u = exp(-|x|), v = 1 - u and w = 1 + cos y, over v^2 + 2 u w, the parts
// are v + u w, left of 0 u (u + cos y), and u sin y.
struct Logistic {
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(re, kAnySize, im); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    Exponential e;
    complexes::ExpOf<true, true>(
        [&](int64_t i) {
          return Pair{-wide::Bound(wide::Abs(z.re[i]), 0, 746), 0};
        },
        &e);
    SineCosine sc;
    complexes::SineCosineOf<true>([&](int64_t i) { return Pair{z.im[i], 0}; }, &sc);
    OneLess less;
    OneLessOf(e, &less);
    PairLanes divisor, real, imaginary;
    ForPiece([&](int64_t i) {
      const Pair u = less.u[i], v = less.v[i], one = OneMore(e, i), cosine = Signed<true>(sc, i);
      const Pair above = FastSum(1, cosine.high), turned = sc.less[i];
      const bool opposite = (sc.quadrant[i] & 3) == 2;  // where w may be small
      const Pair w =
          Choose(opposite, {-turned.high, -turned.low}, {above.high, above.low + cosine.low});
      const Pair a = TimesPair(v, v), b = TimesPair(u, w), sum = Sum(a.high, 2 * b.high);
      divisor.Set(i, {sum.high, sum.low + MulAdd(2, b.low, a.low)});
      const bool left = z.re[i] < 0;
      const Pair first = Choose(left, Choose(opposite, w, u), b);
      const Pair below = Choose(opposite, {-v.high, -v.low}, cosine);  // u + cos y = w - v
      const Pair second = Choose(left, below, v);
      const Pair total = Sum(first.high, second.high);
      const Pair part = {total.high, total.low + (first.low + second.low)};
      real.Set(i, TimesPair(part, Choose(left, one, {1, 0})));
      imaginary.Set(i, TimesPair(one, Signed<false>(sc, i)));
    });
    ForPiece([&](int64_t i) {
      const double inverse = 1 / divisor.high[i];
      const bool left = z.re[i] < 0;
      const double quotient = f64::Quotient(real[i], divisor[i], inverse);
      const double re = quotient * (left ? e.scale[i] : 1.0) * (left ? e.second[i] : 1.0);
      const double turning = f64::Quotient(imaginary[i], divisor[i], inverse);
      const double im = turning * e.scale[i] * e.second[i];
      result->re[i] = re;
      result->im[i] = turning == 0 ? wide::CopySign(0.0, z.im[i]) : im;  // of tiny angles, too
    });
  }
};

constexpr double kInRange = 700;  // exp(x) of more may leave the range

// exp(x) cos y - 1 = g cos y + (cos y - 1) with g = exp(x) - 1.
struct Expm1 {
  // Cutting an exponential of more than 2^996 in two leaves the range.
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(re, 690, im); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    Exponential e;
    complexes::ExpOf<true, false>([&](int64_t i) { return Pair{z.re[i], 0}; }, &e);
    SineCosine sc;
    complexes::SineCosineOf<true>([&](int64_t i) { return Pair{z.im[i], 0}; }, &sc);
    ForPiece([&](int64_t i) {
      const double scale = e.scale[i];
      const Pair base = Sum(scale, -1), sum = Sum(base.high, scale * e.more.high[i]);
      const Pair grown = FastSum(sum.high, MulAdd(scale, e.more.low[i], sum.low + base.low));
      const Pair cosine = Signed<true>(sc, i), below = FastSum(1, -cosine.high);
      const bool near = (sc.quadrant[i] & 3) == 0;
      const Pair less = Choose(near, sc.less[i], {-below.high, cosine.low - below.low});
      const Pair product = TimesPair(grown, cosine), total = Sum(product.high, less.high);
      const double re = total.high + (total.low + (product.low + less.low));
      // Of x = 0 the real part is -y^2 / 2, however small.
      result->re[i] = z.im[i] == 0 ? wide::CopySign(grown.high, z.re[i]) : re == 0 ? -0.0 : re;
      const double im = SignedTimes<false>(sc, i, PowerOf(e, i));
      result->im[i] = z.im[i] == 0 ? z.im[i] : im;
    });
  }
};

// With u = exp(-2 |x|) and v = 1 - u, (v (1 + u) + 4 u i sin y cos y) / (v^2 + 4 u cos(y)^2): no
// term overflows, and none is taken away.
template <class X, class Y>
PJRT_INLINE void TanhOf(X x, Y y, double (&re)[complexes::kPiece],
                        double (&im)[complexes::kPiece]) {
  Exponential e;
  complexes::ExpOf<false, true>(
      [&](int64_t i) {
        return Pair{-wide::Bound(2 * wide::Abs(x(i)), 0, 746), 0};
      },
      &e);
  SineCosine sc;
  complexes::SineCosineOf<false>([&](int64_t i) { return Pair{y(i), 0}; }, &sc);
  OneLess less;
  OneLessOf(e, &less);
  PairLanes divisor, real, imaginary;
  ForPiece([&](int64_t i) {
    const Pair u = less.u[i], v = less.v[i], one = OneMore(e, i);
    const Pair cosine = Choose((sc.quadrant[i] & 1) != 0, sc.sine[i], sc.cosine[i]);
    const Pair a = TimesPair(v, v), square = TimesPair(cosine, cosine);
    const Pair b = TimesPair({4 * u.high, 4 * u.low}, square);
    const Pair sum = Sum(a.high, b.high), above = FastSum(1, u.high);
    divisor.Set(i, {sum.high, sum.low + (a.low + b.low)});
    real.Set(i, TimesPair(v, {above.high, above.low + u.low}));
    imaginary.Set(i, TimesPair({4 * one.high, 4 * one.low}, TimesPair(sc.sine[i], sc.cosine[i])));
  });
  ForPiece([&](int64_t i) {
    const double inverse = 1 / divisor.high[i];
    re[i] = wide::CopySign(f64::Quotient(real[i], divisor[i], inverse), x(i));
    const double quotient = f64::Quotient(imaginary[i], divisor[i], inverse);
    const double part = quotient * e.scale[i] * e.second[i];
    im[i] = y(i) == 0 ? y(i) : BySecondBit(part, sc.quadrant[i] << 1);
  });
}
struct Tanh {
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(re, kAnySize, im); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    TanhOf([&](int64_t i) { return z.re[i]; }, [&](int64_t i) { return z.im[i]; }, result->re,
           result->im);
  }
};
// tan(z) = -i tanh(iz).
struct Tan {
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(im, kAnySize, re); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    TanhOf([&](int64_t i) { return z.im[i]; }, [&](int64_t i) { return z.re[i]; }, result->im,
           result->re);
  }
};

struct Exp {
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(re, kInRange, im); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    Exponential e;
    complexes::ExpOf<false, false>([&](int64_t i) { return Pair{z.re[i], 0}; }, &e);
    SineCosine sc;
    complexes::SineCosineOf<false>([&](int64_t i) { return Pair{z.im[i], 0}; }, &sc);
    ForPiece([&](int64_t i) {
      const Pair power = PowerOf(e, i);
      result->re[i] = SignedTimes<true>(sc, i, power);
      const double im = SignedTimes<false>(sc, i, power);
      result->im[i] = z.im[i] == 0 ? z.im[i] : im;
    });
  }
};

// sinh and cosh of |x| < 700, by g = exp(|x|) - 1 and g / (1 + g).
struct Hyperbolic {
  PairLanes sinh, cosh;
};
template <class X>
PJRT_INLINE void HyperbolicOf(X x, Hyperbolic* h) {
  Exponential e;
  complexes::ExpOf<false, false>([&](int64_t i) { return Pair{wide::Abs(x(i)), 0}; }, &e);
  ForPiece([&](int64_t i) {
    const double scale = e.scale[i];
    const Pair base = FastSum(scale, -1), sum = FastSum(base.high, scale * e.more.high[i]);
    const Pair grown = {sum.high, MulAdd(scale, e.more.low[i], sum.low + base.low)};
    const Pair power = PowerOf(e, i);
    const double inverse = 1 / power.high;
    const double part = grown.high * inverse;
    const Pair odd = FastSum(grown.high, part), left = FastSum(1, -part);
    const Pair even = FastSum(power.high, left.high);
    h->sinh.Set(i, {0.5 * odd.high, 0.5 * (odd.low + grown.low)});
    h->cosh.Set(i, {0.5 * even.high, 0.5 * (even.low + (power.low + left.low))});
  });
}

struct Sin {
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(im, kInRange, re); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    Hyperbolic h;
    HyperbolicOf([&](int64_t i) { return z.im[i]; }, &h);
    SineCosine sc;
    complexes::SineCosineOf<false>([&](int64_t i) { return Pair{z.re[i], 0}; }, &sc);
    ForPiece([&](int64_t i) {
      const double re = SignedTimes<false>(sc, i, h.cosh[i]);
      result->re[i] = z.re[i] == 0 ? z.re[i] : re;
      result->im[i] = complexes::Turned(SignedTimes<true>(sc, i, h.sinh[i]), z.im[i]);
    });
  }
};
// sin(z + pi/2) = cos x cosh y - i sin x sinh y.
struct Cos {
  PJRT_INLINE uint64_t IsRare(double re, double im) { return IsOutside(im, kInRange, re); }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    Hyperbolic h;
    HyperbolicOf([&](int64_t i) { return z.im[i]; }, &h);
    SineCosine sc;
    complexes::SineCosineOf<false>([&](int64_t i) { return Pair{z.re[i], 0}; }, &sc);
    ForPiece([&](int64_t i) {
      const double sine = SignedTimes<false>(sc, i, h.sinh[i]);
      result->re[i] = SignedTimes<true>(sc, i, h.cosh[i]);
      result->im[i] = complexes::Turned(z.re[i] == 0 ? z.re[i] : sine, -z.im[i]);
    });
  }
};
}  // namespace
#endif

void FillComplexExpC128(BlockKernels* k) {
#if defined(__AVX2__)
  FillComplexTablesC128(k);
  FillComplexTanhC128(k);
#else
  using namespace complexes;
  Entry(k, BlockOp::kExp, CType::kC128) = UnaryStages<Exp, CompleteExp>;
  Entry(k, BlockOp::kExpm1, CType::kC128) = UnaryStages<Expm1, CompleteExpm1>;
  Entry(k, BlockOp::kLogistic, CType::kC128) = UnaryStages<Logistic, CompleteLogistic>;
  Entry(k, BlockOp::kSin, CType::kC128) = UnaryStages<Sin, CompleteSin>;
  Entry(k, BlockOp::kCos, CType::kC128) = UnaryStages<Cos, CompleteCos>;
  Entry(k, BlockOp::kTanh, CType::kC128) = UnaryStages<Tanh, CompleteTanh>;
  Entry(k, BlockOp::kTan, CType::kC128) = UnaryStages<Tan, CompleteTan>;
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
