// SPDX-License-Identifier: Apache-2.0
//
// Logarithms and angles of complex f64 numbers in vector loops, with what roundings lose: parts of
// results that are small beside the numbers on the way keep their digits. See level-inl.h for who
// may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_C128_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_C128_INL_H_

#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_pieces-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes {

using f64::LostOfProduct;
using f64::Pair;
using f64::Product;
using f64::Sum;

// The sum of a and of a b that is not larger.
PJRT_INLINE Pair FastSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// x, or -x where y is negative.
PJRT_INLINE double Turned(double x, double y) {
  return BitCast<double>(ToBits(x) ^ (ToBits(y) & wide::kSign));
}

// A number of each element of a piece.
struct Lanes {
  alignas(64) double value[kPiece];
  PJRT_INLINE_MEMBER double& operator[](int64_t i) { return value[i]; }
  PJRT_INLINE_MEMBER double operator[](int64_t i) const { return value[i]; }
};
struct PairLanes {
  Lanes high, low;
  PJRT_INLINE_MEMBER void Set(int64_t i, Pair x) {
    high[i] = x.high;
    low[i] = x.low;
  }
  PJRT_INLINE_MEMBER Pair operator[](int64_t i) const { return {high[i], low[i]}; }
};

// A function is cut into loops over a piece that are short enough for the core to have several
// iterations under way at once.
template <class Body>
PJRT_INLINE void ForPiece(Body body) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < kPiece; ++i) body(i);
}

// Whether a part is a NaN or infinite, or both are below 2^-400 or one is above 2^400, roughly.
PJRT_INLINE uint64_t IsFar(double re, double im) {
  constexpr uint64_t kLow = uint64_t{1023 - 400} << 52, kRange = uint64_t{800} << 52;
  return ToBits(wide::Abs(re) + wide::Abs(im)) - kLow > kRange ? 1 : 0;
}

// Fast::Run of pieces, and kComplete where Fast::IsRare.
template <class Fast, C128 (*kComplete)(C128)>
void UnaryStages(void* dst, const void* a, const void*, const void*, int64_t n) {
  C128* d = static_cast<C128*>(dst);
  const C128* x = static_cast<const C128*>(a);
  alignas(64) Piece in, out;
  for (; n > 0; n -= kPiece, d += kPiece, x += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    if (count < kPiece) FillPiece(&in, C128{1, 1});
    LoadPiece(&in, x, count);
    Fast::Run(in, &out);
    uint64_t rare = 0;
    for (int64_t i = 0; i < kPiece; ++i) rare |= Fast::IsRare(in.re[i], in.im[i]);
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) d[i] = {out.re[i], out.im[i]};
    for (int64_t i = 0; rare != 0 && i < count; ++i) {
      if (Fast::IsRare(in.re[i], in.im[i]) != 0) d[i] = kComplete(At<double>(in, i));
    }
  }
}

// The same of two operands, with marks. kFirst, kSecond: that operand is one element.
template <class Fast, C128 (*kComplete)(C128, C128), bool kFirst, bool kSecond>
void BinaryStages(void* dst, const void* a, const void* b, const void*, int64_t n) {
  C128* d = static_cast<C128*>(dst);
  const C128* x = static_cast<const C128*>(a);
  const C128* y = static_cast<const C128*>(b);
  if (n <= 0) return;
  alignas(64) Piece left, right, out;
  if (kFirst) FillPiece(&left, *x);
  if (kSecond) FillPiece(&right, *y);
  for (; n > 0; n -= kPiece, d += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    if (!kFirst && count < kPiece) FillPiece(&left, C128{1, 1});
    if (!kSecond && count < kPiece) FillPiece(&right, C128{2, 1});
    if (!kFirst) LoadPiece(&left, x, count);
    if (!kSecond) LoadPiece(&right, y, count);
    x += kFirst ? 0 : kPiece;
    y += kSecond ? 0 : kPiece;
    Fast::Run(left, right, &out);
    const auto is_rare = [&](int64_t i) {
      const uint64_t is_nan = out.re[i] != out.re[i] ? 1 : 0;
      return is_nan | Fast::IsRare(left.re[i], left.im[i], right.re[i], right.im[i]);
    };
    uint64_t rare = 0;
    for (int64_t i = 0; i < kPiece; ++i) rare |= is_rare(i);
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) d[i] = {out.re[i], out.im[i]};
    for (int64_t i = 0; rare != 0 && i < count; ++i) {
      if (is_rare(i) != 0) d[i] = kComplete(At<double>(left, i), At<double>(right, i));
    }
  }
}

// Sums of squares in three parts: so near to 1 that nothing is left of the first when 1 is taken
// away, the others still have all digits of the rest.
struct Squares {
  Lanes high, middle, low;
};
PJRT_INLINE void SquaresOf(const Piece& z, Squares* x) {
  ForPiece([&](int64_t i) {
    const double large = Larger({z.re[i], z.im[i]}), small = Smaller({z.re[i], z.im[i]});
    const Pair a = Product(large, large), b = Product(small, small);
    const Pair sum = FastSum(a.high, b.high), lost = Sum(a.low, b.low);
    const Pair middle = Sum(sum.low, lost.high);
    x->high[i] = sum.high;
    x->middle[i] = middle.high;
    x->low[i] = middle.low + lost.low;
  });
}

// The product of pairs, rounded and not.
PJRT_INLINE double TimesRounded(Pair a, Pair b) {
  return MulAdd(a.high, b.high, MulAdd(a.high, b.low, a.low * b.high));
}
PJRT_INLINE Pair TimesPair(Pair a, Pair b) {
  const Pair product = Product(a.high, b.high);
  return {product.high, MulAdd(a.high, b.low, MulAdd(a.low, b.high, product.low))};
}
// x^n (c + x p) for a constant c in two parts and a p that is not wholly accurate; x^n as a pair.
PJRT_INLINE Pair PowerTimes(Pair power, double c, double c_low, double more) {
  const Pair factor = FastSum(c, more), product = Product(power.high, factor.high);
  const double low = MulAdd(power.high, factor.low + c_low, product.low);
  return {product.high, MulAdd(power.low, factor.high, low)};
}

// log(x) = k log(2) + 2 artanh(s) with s = f / (2 + f), f = 2^-k x - 1 at most sqrt(2) - 1.
PJRT_INLINE void SplitLog(const Squares& x, Lanes* k, PairLanes* s) {
  PairLanes f;
  ForPiece([&](int64_t i) {
    constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
    const uint64_t exponent = (ToBits(x.high[i]) + (kOne - kSqrtHalf)) >> 52;
    const double scale = BitCast<double>((2046 - exponent) << 52);
    const Pair less_one = FastSum(MulAdd(x.high[i], scale, -1.0), scale * x.middle[i]);
    (*k)[i] = BitCast<double>(exponent | 0x4330000000000000) - (0x1p+52 + 1023);
    f.Set(i, {less_one.high, MulAdd(scale, x.low[i], less_one.low)});
  });
  ForPiece([&](int64_t i) {
    const double divisor = 2 + f.high[i];
    const double divisor_low = (f.high[i] - (divisor - 2)) + f.low[i];
    const double inverse = 1 / divisor;
    const double quotient = f.high[i] * inverse, product = quotient * divisor;
    const double rest = (f.high[i] - product) - LostOfProduct(quotient, divisor, product);
    s->Set(i, {quotient, (MulAdd(-quotient, divisor_low, rest) + f.low[i]) * inverse});
  });
}
// Half the logarithm, which is log|z| of |z|^2, 0.6 ULP.
PJRT_INLINE void HalfLog(const Squares& x, double (&result)[kPiece]) {
  Lanes k;
  PairLanes s;
  SplitLog(x, &k, &s);
  ForPiece([&](int64_t i) {
    const double z = s.high[i] * s.high[i], z2 = z * z;
    const double q01 = MulAdd(z, 0x1.999999998ff4ep-3, 0x1.5555555555555p-2);
    const double q23 = MulAdd(z, 0x1.c71c5ab41c27ap-4, 0x1.24924935d9667p-3);
    const double q45 = MulAdd(z, 0x1.39c7d5fcd3494p-4, 0x1.7464a388cbaaap-4);
    const double q456 = MulAdd(z2, 0x1.2da02615b2b73p-4, q45);
    const double q = MulAdd(MulAdd(q456, z2, q23), z2, q01);
    const Pair sum = FastSum(k[i] * (0.5 * f64::kLn2High), s.high[i]);
    const double low = MulAdd(k[i], 0.5 * f64::kLn2Low, s.low[i] + sum.low);
    result[i] = sum.high + MulAdd(s.high[i] * z, q, low);
  });
}

// The same to 2^-64.
PJRT_INLINE void PreciseHalfLog(const Squares& x, PairLanes* result) {
  Lanes k;
  PairLanes s;
  SplitLog(x, &k, &s);
  ForPiece([&](int64_t i) {
    const Pair square = Product(s.high[i], s.high[i]);
    const double z = square.high, z2 = z * z;
    const double q01 = MulAdd(z, 0x1.2492492457dd1p-3, 0x1.9999999999b30p-3);
    const double q23 = MulAdd(z, 0x1.745ce9e70566cp-4, 0x1.c71c722d5be12p-4);
    const double q45 = MulAdd(z, 0x1.0f7ff9346f9c3p-4, 0x1.3b1eeb605a1bep-4);
    const double q456 = MulAdd(z2, 0x1.0e421b4cc22f2p-4, q45);
    const double q = MulAdd(MulAdd(q456, z2, q23), z2, q01);
    constexpr double kThird = 0x1.5555555555555p-2, kThirdLow = 0x1.5555555555555p-56;
    const Pair cube = Product(s.high[i], z);
    const double cube_low = MulAdd(3 * z, s.low[i], MulAdd(s.high[i], square.low, cube.low));
    const Pair more = PowerTimes({cube.high, cube_low}, kThird, kThirdLow, z * q);
    const Pair sum = FastSum(k[i] * (0.5 * f64::kLn2High), s.high[i]);
    const Pair log = FastSum(sum.high, more.high);
    const double low = MulAdd(k[i], 0.5 * f64::kLn2Low, s.low[i] + more.low);
    result->Set(i, FastSum(log.high, low + (sum.low + log.low)));
  });
}

// The angle of (x, y): with a / b the smaller coordinate over the larger one, both positive, it is
// arctan(c) + arctan((a - c b) / (b + c a)) for c = 0, 1/2 or 1, so that the quotient is at most
// 1/4. `y` and `x` give pairs; without kTails their low parts are 0.
template <bool kTails, bool kPrecise, class Y, class X>
PJRT_INLINE void AngleOf(Y y, X x, PairLanes* angle) {
  PairLanes dividend, divisor, from;
  ForPiece([&](int64_t i) {
    const Pair height = y(i), width = x(i);
    const double h = wide::Abs(height.high), w = wide::Abs(width.high);
    const bool steep = h > w, left = (ToBits(width.high) & wide::kSign) != 0;
    const double a = steep ? w : h, b = steep ? h : w;
    const bool some = a > 0.25 * b, most = a > 0.75 * b;
    const double c = most ? 1.0 : some ? 0.5 : 0.0;
    const double part = c * a, sum = b + part, rest = (b - sum) + part;
    // What the arc is added to: a multiple of pi / 2 and arctan(c).
    const uint64_t back = steep != left ? wide::kSign : 0;
    const auto turned = [back](double z) { return BitCast<double>(ToBits(z) ^ back); };
    dividend.high[i] = turned(a - c * b);
    divisor.Set(i, {sum, rest});
    if constexpr (kTails) {
      const double h_low = Turned(height.low, height.high), w_low = Turned(width.low, width.high);
      const double a_low = steep ? w_low : h_low, b_low = steep ? h_low : w_low;
      dividend.low[i] = turned(a_low - c * b_low);
      divisor.low[i] = rest + (b_low + c * a_low);
    }
    const double quarters = steep ? 1.0 : left ? 2.0 : 0.0;
    const double arc = most ? 0x1.921fb54442d18p-1 : some ? 0x1.dac670561bb4fp-2 : 0.0;
    const double arc_low = most ? 0x1.1a62633145c07p-55 : some ? 0x1.a2b7f222f65e2p-56 : 0.0;
    const Pair start = FastSum(quarters * wide::kHalfPi, turned(arc));
    const double start_low = MulAdd(quarters, 0x1.1a62633145c07p-54, start.low + turned(arc_low));
    from.Set(i, {start.high, start_low});
  });
  PairLanes quotient;
  ForPiece([&](int64_t i) {
    const double inverse = 1 / divisor.high[i];
    const double q = dividend.high[i] * inverse, product = q * divisor.high[i];
    const double rest = (dividend.high[i] - product) - LostOfProduct(q, divisor.high[i], product);
    const double left = kTails ? rest + dividend.low[i] : rest;
    quotient.Set(i, {q, MulAdd(-q, divisor.low[i], left) * inverse});
  });
  ForPiece([&](int64_t i) {
    // ((arctan(q) - q) / q^3 + 1/3) / q^2 on |q| <= 1/4, to 2^-63 of the angle.
    const double q = quotient.high[i];
    const Pair square = Product(q, q);
    const double s = square.high, s2 = s * s;
    const double p12 = MulAdd(s, -0x1.24924924352bep-3, 0x1.9999999999556p-3);
    const double p34 = MulAdd(s, -0x1.745cfc66b8891p-4, 0x1.c71c716502104p-4);
    const double p56 = MulAdd(s, -0x1.10a7c27e03b39p-4, 0x1.3b0f6ab59098dp-4);
    const double p78 = MulAdd(s, -0x1.4a3ebb8463cfap-5, 0x1.d5b9a5fffa109p-5);
    const double p = MulAdd(MulAdd(MulAdd(p78, s2, p56), s2, p34), s2, p12);
    constexpr double kThird = -0x1.5555555555555p-2, kThirdLow = -0x1.5555555555555p-56;
    Pair arc = {q, quotient.low[i]};
    if constexpr (kPrecise) {
      const Pair cube = Product(q, s);
      const double cube_low = MulAdd(3 * s, quotient.low[i], MulAdd(q, square.low, cube.low));
      const Pair more = PowerTimes({cube.high, cube_low}, kThird, kThirdLow, s * p);
      const Pair sum = FastSum(q, more.high);
      arc = {sum.high, sum.low + (more.low + quotient.low[i])};
    } else {
      arc.low = MulAdd(q * s, MulAdd(s, p, kThird), quotient.low[i]);
    }
    const Pair sum = FastSum(from.high[i], arc.high);
    const Pair total = FastSum(sum.high, sum.low + (arc.low + from.low[i]));
    const double sign = y(i).high;
    angle->Set(i, {wide::CopySign(total.high, sign), Turned(total.low, sign)});
  });
}
template <bool kPrecise>
PJRT_INLINE void AngleOf(const Piece& z, PairLanes* angle) {
  AngleOf<false, kPrecise>(
      [&](int64_t i) {
        return Pair{z.im[i], 0};
      },
      [&](int64_t i) {
        return Pair{z.re[i], 0};
      },
      angle);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_C128_INL_H_
