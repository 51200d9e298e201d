// SPDX-License-Identifier: Apache-2.0
//
// Logarithms, roots, powers and arc tangents of c128 numbers in vector loops. Largest error seen in
// a part that does not nearly cancel: 1.5 ULP. Levels with fused multiply-add have those of
// block_complex_log_c128.cc, block_complex_roots_c128.cc and block_complex_atan2_c128.cc.
#include "src/cpu_device/kernels/complex_exp_c128-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
#if !defined(__AVX2__)
namespace {

using complexes::FastSum;
using complexes::ForPiece;
using complexes::Lanes;
using complexes::LostOfProduct;
using complexes::Pair;
using complexes::PairLanes;
using complexes::Piece;
using complexes::Product;
using complexes::Squares;
using complexes::Sum;
using complexes::Turned;

// Whether a part is below 2^-500 and not 0: its quotient by the other one, which is at most 2^400,
// may be a denormal.
PJRT_INLINE uint64_t HasTiny(double re, double im) {
  constexpr uint64_t kTiny = uint64_t{1023 - 500} << 52;
  const uint64_t x = ToBits(wide::Abs(re)) - 1, y = ToBits(wide::Abs(im)) - 1;
  return (x < y ? x : y) < kTiny ? 1 : 0;
}

struct Log {
  PJRT_INLINE uint64_t IsRare(double re, double im) {
    return complexes::IsFar(re, im) | HasTiny(re, im);
  }
  PJRT_INLINE void Run(const Piece& z, Piece* log) {
    Squares squares;
    complexes::SquaresOf(z, &squares);
    complexes::HalfLog(squares, log->re);
    PairLanes angle;
    complexes::AngleOf<false>(z, &angle);
    ForPiece([&](int64_t i) { log->im[i] = angle.high[i]; });
  }
};

// |1 + z|^2 = 1 + (2x + x^2 + y^2), whose terms may cancel and are summed with their rounding
// errors; where little is left of the 1, (1 + x)^2 + y^2.
struct Log1p {
  PJRT_INLINE uint64_t IsRare(double re, double im) {
    const double height = wide::Abs(im);
    const bool pole = (re == -1) & (height < 0x1p-400);
    return complexes::IsFar(re, im) | (pole ? 1 : 0);
  }
  PJRT_INLINE void Run(const Piece& z, Piece* log) {
    PairLanes total, lost;
    Lanes base;
    ForPiece([&](int64_t i) {
      const double x = z.re[i], y = z.im[i], shifted = 1 + x;
      const bool near = (x < -0.5) & (shifted * shifted + y * y < 0.5);
      const C128 term = {near ? shifted : x, y};
      const double large = complexes::Larger(term), small = complexes::Smaller(term);
      const Pair a = Product(large, large), b = Product(small, small);
      const Pair first = Sum(near ? 0.0 : 2 * x, a.high), second = Sum(first.high, b.high);
      const Pair p = Sum(first.low, second.low), q = Sum(a.low, b.low);
      total.Set(i, {second.high, p.high});
      lost.Set(i, {q.high, p.low + q.low});
      base[i] = near ? 0.0 : 1.0;
    });
    Squares squares;
    ForPiece([&](int64_t i) {
      const Pair r = Sum(total.low[i], lost.high[i]), s = Sum(total.high[i], r.high);
      const Pair sum = Sum(base[i], s.high);
      const Pair rest = Sum(sum.low, s.low + (r.low + lost.low[i]));
      squares.high[i] = sum.high;
      squares.middle[i] = rest.high;
      squares.low[i] = rest.low;
    });
    complexes::HalfLog(squares, log->re);
    PairLanes angle;
    complexes::AngleOf<true, false>(
        [&](int64_t i) {
          return Pair{z.im[i], 0};
        },
        [&](int64_t i) { return Sum(1, z.re[i]); }, &angle);
    ForPiece([&](int64_t i) { log->im[i] = angle.high[i]; });
  }
};

// The sum of the parts' squares, with what is lost but for the square of the smaller one's.
PJRT_INLINE Pair NormOf(C128 z) {
  const double large = complexes::Larger(z), small = complexes::Smaller(z);
  const Pair square = Product(large, large);
  const Pair sum = FastSum(square.high, small * small);
  return {sum.high, sum.low + square.low};
}

// a^(-1/2) to 2^-42: minus half of the exponent's bits starts it, with h = 1 - a r^2 below 0.07,
// and r (1 - h)^(-1/2) by the first terms in h makes it good.
PJRT_INLINE double InverseRoot(double a) {
  double r = BitCast<double>(0x5fe6eb50c7b537a9 - (ToBits(a) >> 1));
  double h = MulAdd(-a * r, r, 1.0);
  r = MulAdd(r * h, MulAdd(MulAdd(MulAdd(h, 35.0 / 128, 5.0 / 16), h, 3.0 / 8), h, 0.5), r);
  h = MulAdd(-a * r, r, 1.0);
  return MulAdd(r * h, 0.5, r);
}
// a - b^2, for numbers that nearly cancel.
PJRT_INLINE double LessSquare(double a, double b) {
  const double square = b * b;
  return (a - square) - LostOfProduct(b, b, square);
}

// With r = 1 / |z|, the larger part is the root of r (1 + |re| r) / 2 and the other one |im| r^2 /
// 2 over it.
struct Rsqrt {
  PJRT_INLINE uint64_t IsRare(double re, double im) {
    return complexes::IsFar(re, im) | HasTiny(re, im);
  }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    PairLanes norm, inverse, square, root;
    Lanes g;
    ForPiece([&](int64_t i) {
      const Pair n = NormOf({z.re[i], z.im[i]});
      norm.Set(i, n);
      inverse.high[i] = InverseRoot(n.high);
    });
    ForPiece([&](int64_t i) {
      const double r = inverse.high[i], half = 0.5 * r, width = wide::Abs(z.re[i]);
      const Pair size = Product(norm.high[i], r), one = Product(size.high, r);
      const double off = ((1 - one.high) - one.low) - MulAdd(norm.low[i], r, size.low) * r;
      const double r_low = half * off;
      const Pair cosine = Product(width, r), sum = FastSum(1, cosine.high);
      const double sum_low = sum.low + MulAdd(width, r_low, cosine.low);
      const Pair product = Product(half, sum.high);
      const double rest = MulAdd(0.5 * r_low, sum.high, product.low);
      inverse.low[i] = r_low;
      square.Set(i, {product.high, MulAdd(half, sum_low, rest)});
    });
    ForPiece([&](int64_t i) { g[i] = InverseRoot(square.high[i]); });
    ForPiece([&](int64_t i) {
      const double near = square.high[i] * g[i];
      const double rest = LessSquare(square.high[i], near) + square.low[i];
      root.Set(i, FastSum(near, 0.5 * g[i] * rest));
    });
    ForPiece([&](int64_t i) {
      const Pair unit = Product(root.high[i], g[i]);
      const double g_low = g[i] * (((1 - unit.high) - unit.low) - root.low[i] * g[i]);
      const Pair factor = Product(0.5 * inverse.high[i], g[i]);
      const double r_low = inverse.low[i], height = wide::Abs(z.im[i]);
      const double factor_low =
          MulAdd(0.5 * inverse.high[i], g_low, MulAdd(0.5 * r_low, g[i], factor.low));
      const Pair sine = Product(height, inverse.high[i]);
      const double sine_low = MulAdd(height, r_low, sine.low);
      const double other =
          MulAdd(sine.high, factor.high, MulAdd(sine.high, factor_low, sine_low * factor.high));
      const bool left = z.re[i] < 0;
      result->re[i] = left ? other : root.high[i];
      result->im[i] = wide::CopySign(left ? root.high[i] : other, -z.im[i]);
    });
  }
};

// The cube root of the size at a third of the angle. The root is made from r = |z|^(-1/3), which
// starts as that of InverseRoot, and is cut to so few digits that its square is exact.
struct Cbrt {
  PJRT_INLINE uint64_t IsRare(double re, double im) {
    return complexes::IsFar(re, im) | HasTiny(re, im);
  }
  PJRT_INLINE void Run(const Piece& z, Piece* result) {
    PairLanes norm, angle;
    PairLanes size;
    Lanes inverse;
    ForPiece([&](int64_t i) {
      const Pair sum = NormOf({z.re[i], z.im[i]});
      const double n = sum.high;
      const uint64_t sixth = ((ToBits(n) >> 32) * 0xaaaaaaab) >> 34;
      const double r = BitCast<double>((0x4a9715a0 - sixth) << 32), cube = r * r * r;
      const double h = MulAdd(-n * cube, cube, 1.0);  // below 0.19
      const double series = MulAdd(MulAdd(h, 91.0 / 1296, 7.0 / 72), h, 1.0 / 6);
      norm.Set(i, sum);
      inverse[i] = MulAdd(r * h, series, r);
    });
    ForPiece([&](int64_t i) {
      const double r = inverse[i], cube = r * r * r;
      const double h = MulAdd(-norm.high[i] * cube, cube, 1.0);
      inverse[i] = MulAdd(r * h, MulAdd(h, 7.0 / 72, 1.0 / 6), r);
    });
    ForPiece([&](int64_t i) {
      const double n = norm.high[i], r = inverse[i], square = r * r, cube = square * r;
      const double y = BitCast<double>(ToBits(n * cube * square) & 0xfffffffff8000000);
      const Pair power = Product(y * y, y);
      const double left =
          LessSquare(n, power.high) + MulAdd(-2 * power.high, power.low, norm.low[i]);
      const double part = left * (cube * cube);  // of |z|^2
      size.Set(i, FastSum(y, y * part * MulAdd(part, 7.0 / 72, 1.0 / 6)));
    });
    complexes::AngleOf<false>(z, &angle);
    PairLanes third;
    ForPiece([&](int64_t i) {
      constexpr double kThird = 0x1.5555555555555p-2, kThirdLow = 0x1.5555555555555p-56;
      const Pair product = Product(angle.high[i], kThird);
      const double rest = MulAdd(angle.high[i], kThirdLow, product.low);
      third.Set(i, {product.high, MulAdd(angle.low[i], kThird, rest)});
    });
    // Sine and cosine of up to pi/3, to 2^-62.
    ForPiece([&](int64_t i) {
      const double t = third.high[i], s = t * t, s2 = s * s;
      const double p12 = MulAdd(s, 0x1.1111111111048p-7, -0x1.5555555555555p-3);
      const double p34 = MulAdd(s, 0x1.71de3a3eea893p-19, -0x1.a01a01a0019f4p-13);
      const double p56 = MulAdd(s, 0x1.611840380dd54p-33, -0x1.ae64403b0393fp-26);
      const double p567 = MulAdd(s2, -0x1.a7a20b5796db5p-41, p56);
      const double p = MulAdd(MulAdd(p567, s2, p34), s2, p12);
      const double tail = MulAdd(-0.5 * s, third.low[i], third.low[i]);
      const double im = complexes::TimesRounded(size[i], FastSum(t, MulAdd(t * s, p, tail)));
      result->im[i] = wide::CopySign(im, z.im[i]);  // of 0, too
    });
    ForPiece([&](int64_t i) {
      const double t = third.high[i], s = t * t, s2 = s * s;
      const double p12 = MulAdd(s, -0x1.6c16c16c16b1ep-10, 0x1.5555555555555p-5);
      const double p34 = MulAdd(s, -0x1.27e4fb66b8ab7p-22, 0x1.a01a01a00360dp-16);
      const double p56 = MulAdd(s, -0x1.9389f94818284p-37, 0x1.1eed80f719c1fp-29);
      const double p567 = MulAdd(s2, 0x1.a7c6896b7f82dp-45, p56);
      const double p = MulAdd(MulAdd(p567, s2, p34), s2, p12);
      const double half = 0.5 * s, most = 1 - half;
      const double slope = MulAdd(t * s, 1.0 / 6, -t);
      const double tail = MulAdd(third.low[i], slope, -0.5 * LostOfProduct(t, t, s));
      const double rest = ((1 - most) - half) + MulAdd(s2, p, tail);
      result->re[i] = complexes::TimesRounded(size[i], FastSum(most, rest));
    });
  }
};

// a b + c d; where they nearly cancel, the second part may overlap the first one's digits.
PJRT_INLINE Pair SumOfProducts(double a, double b, double c, double d) {
  const Pair first = Product(a, b), second = Product(c, d);
  const Pair sum = Sum(first.high, second.high);
  return {sum.high, sum.low + (first.low + second.low)};
}

// exp(b log a), with the product of pairs.
struct Power {
  PJRT_INLINE uint64_t IsRare(double a_re, double a_im, double b_re, double b_im) {
    const bool plain = ((b_re == 0) | (b_re == 1)) & (b_im == 0);
    return complexes::IsFar(a_re, a_im) | HasTiny(a_re, a_im) | (plain ? 1 : 0);
  }
  PJRT_INLINE void Run(const Piece& a, const Piece& b, Piece* result) {
    Squares squares;
    complexes::SquaresOf(a, &squares);
    PairLanes log, angle, re, im;
    complexes::PreciseHalfLog(squares, &log);
    complexes::AngleOf<true>(a, &angle);
    ForPiece([&](int64_t i) {
      const double x = b.re[i], y = b.im[i];
      const Pair first = SumOfProducts(x, log.high[i], -y, angle.high[i]);
      const double first_low = MulAdd(x, log.low[i], MulAdd(-y, angle.low[i], first.low));
      const Pair second = SumOfProducts(x, angle.high[i], y, log.high[i]);
      const double second_low = MulAdd(x, angle.low[i], MulAdd(y, log.low[i], second.low));
      re.Set(i, FastSum(first.high, first_low));
      const Pair sum = FastSum(second.high, second_low);
      im.Set(i, {second_low == 0 ? second.high : sum.high, sum.low});  // a -0 stays
    });
    complexes::Exponential e;
    complexes::ExpOf<false, false>([&](int64_t i) { return re[i]; }, &e);
    complexes::SineCosine sc;
    complexes::SineCosineOf<false>([&](int64_t i) { return im[i]; }, &sc);
    ForPiece([&](int64_t i) {
      const Pair power = complexes::PowerOf(e, i);
      const double exponent = wide::Abs(re.high[i]), turn = wide::Abs(im.high[i]);
      const bool inside = (exponent < 700) & (turn <= 0x1p+20);
      const double real = complexes::SignedTimes<true>(sc, i, power);
      const double imaginary = complexes::SignedTimes<false>(sc, i, power);
      result->re[i] = inside ? real : wide::kNan;
      result->im[i] = im.high[i] == 0 ? im.high[i] : imaginary;
    });
  }
};

// -i log((x + iy) / sqrt(x^2 + y^2)), part by part: with p = x + iy and m = x - iy the argument of
// the quotient is half that of p conj(m) = |x|^2 - |y|^2 + 2i Re(x conj(y)), or opposite; the other
// part is a quarter of log(|m|^2 / |p|^2), and |m|^2 - |p|^2 = 4 t with t = Im(conj(x) y).
struct Atan2 {
  PJRT_INLINE uint64_t IsRare(double y_re, double y_im, double x_re, double x_im) {
    return complexes::IsFar(y_re, y_im) | complexes::IsFar(x_re, x_im);
  }
  PJRT_INLINE void Run(const Piece& of_y, const Piece& of_x, Piece* result) {
    // Times one power of two, so that neither cubes overflow nor products underflow.
    alignas(64) Piece y, x;
    ForPiece([&](int64_t i) {
      const double y_size = complexes::Larger({of_y.re[i], of_y.im[i]});
      const double x_size = complexes::Larger({of_x.re[i], of_x.im[i]});
      constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
      const uint64_t exponent = ToBits(x_size > y_size ? x_size : y_size) & kExponent;
      const double scale = BitCast<double>((uint64_t{2046 + 300} << 52) - exponent);
      y.re[i] = of_y.re[i] * scale;
      y.im[i] = of_y.im[i] * scale;
      x.re[i] = of_x.re[i] * scale;
      x.im[i] = of_x.im[i] * scale;
    });
    PairLanes along, across, turned, nearer;
    ForPiece([&](int64_t i) {
      const Pair a = SumOfProducts(x.re[i], x.re[i], -y.re[i], y.re[i]);
      const Pair b = SumOfProducts(x.im[i], x.im[i], -y.im[i], y.im[i]);
      const Pair sum = Sum(a.high, b.high);
      along.Set(i, FastSum(sum.high, sum.low + (a.low + b.low)));
      const Pair half = SumOfProducts(x.re[i], y.re[i], x.im[i], y.im[i]);
      across.Set(i, FastSum(2 * half.high, 2 * half.low));
    });
    ForPiece([&](int64_t i) {
      const Pair products = SumOfProducts(x.re[i], y.im[i], -x.im[i], y.re[i]);
      const Pair t = FastSum(products.high, products.low);
      turned.Set(i, t);
      // The smaller one of |p|^2 and |m|^2.
      const Pair re = Sum(x.re[i], -Turned(y.im[i], t.high));
      const Pair im = Sum(x.im[i], Turned(y.re[i], t.high));
      const Pair squares = SumOfProducts(re.high, re.high, im.high, im.high);
      const double cross = MulAdd(re.high, re.low, im.high * im.low);
      nearer.Set(i, {squares.high, MulAdd(2, cross, squares.low)});
    });
    // The larger square over the smaller one.
    Squares ratio;
    ForPiece([&](int64_t i) {
      const Pair t = turned[i], divisor = nearer[i];
      const double dividend = 4 * wide::Abs(t.high), low = 4 * Turned(t.low, t.high);
      const double inverse = 1 / divisor.high, quotient = dividend * inverse;
      const double product = quotient * divisor.high;
      const double rest = (dividend - product) - LostOfProduct(quotient, divisor.high, product);
      const Pair sum = Sum(1, quotient);
      ratio.high[i] = sum.high;
      ratio.middle[i] = sum.low;
      ratio.low[i] = MulAdd(-quotient, divisor.low, rest + low) * inverse;
    });
    complexes::HalfLog(ratio, result->im);
    PairLanes angle;
    complexes::AngleOf<true, false>([&](int64_t i) { return across[i]; },
                                    [&](int64_t i) { return along[i]; }, &angle);
    ForPiece([&](int64_t i) {
      result->im[i] = wide::CopySign(0.5 * result->im[i], turned.high[i]);
      // Whether p over the root of s = p m is on the side of half the angle. Of the root some
      // degrees are enough to know.
      const C128 p = {x.re[i] - y.im[i], x.im[i] + y.re[i]};
      const C128 m = {x.re[i] + y.im[i], x.im[i] - y.re[i]};
      const double s_re = MulAdd(p.re, m.re, -(p.im * m.im));
      const double s_im = MulAdd(p.re, m.im, p.im * m.re);
      const double large = complexes::Larger({s_re, s_im}),
                   small = complexes::Smaller({s_re, s_im});
      const double longer = large + 0.4 * small + wide::Abs(s_re);
      const bool right = s_re >= 0;
      const double root_re = right ? longer : wide::Abs(s_im);
      const double root_im = right ? s_im : wide::CopySign(longer, s_im);
      const double cosine = MulAdd(p.re, root_re, p.im * root_im);
      const double sine = MulAdd(p.im, root_re, -(p.re * root_im));
      const double half = 0.5 * angle.high[i], half_low = 0.5 * angle.low[i];
      const double side = along.high[i] > 0 ? cosine : Turned(sine, half);
      const double sign = Turned(-1.0, half);
      const Pair opposite = FastSum(sign * wide::kPi, half);
      const double rest = MulAdd(sign, 0x1.1a62633145c07p-53, opposite.low + half_low);
      // Beside the root's cut or where x^2 + y^2 is nearly 0 that is too little.
      const double across_cut = wide::Abs(s_im);
      const bool clear =
          (right | (across_cut > 0x1p-40 * large)) & (nearer.high[i] > 0) & (half != 0);
      const double re = side < 0 ? opposite.high + rest : half;
      result->re[i] = clear ? re : wide::kNan;
    });
  }
};

template <class Fast, C128 (*kComplete)(C128, C128)>
PJRT_INLINE void SetBinary(BlockKernels* k, BlockOp op) {
  using complexes::BinaryStages;
  constexpr CType kType = CType::kC128;
  Entry(k, op, kType) = BinaryStages<Fast, kComplete, false, false>;
  Entry(k, op, kType, Scalars::kFirst) = BinaryStages<Fast, kComplete, true, false>;
  Entry(k, op, kType, Scalars::kSecond) = BinaryStages<Fast, kComplete, false, true>;
}

}  // namespace
#endif

void FillComplexC128(BlockKernels* k) {
#if defined(__AVX2__)
  FillComplexLogC128(k);
  FillComplexPowerC128(k);
  FillComplexRootsC128(k);
  FillComplexAtan2C128(k);
#else
  using namespace complexes;
  Entry(k, BlockOp::kLog, CType::kC128) = UnaryStages<Log, CompleteLog>;
  Entry(k, BlockOp::kLog1p, CType::kC128) = UnaryStages<Log1p, CompleteLog1p>;
  Entry(k, BlockOp::kRsqrt, CType::kC128) = UnaryStages<Rsqrt, CompleteRsqrt>;
  Entry(k, BlockOp::kCbrt, CType::kC128) = UnaryStages<Cbrt, CompleteCbrt>;
  SetBinary<Power, CompletePower>(k, BlockOp::kPower);
  SetBinary<Atan2, CompleteAtan2>(k, BlockOp::kAtan2);
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
