// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex numbers in vector loops. A block is taken in pieces whose parts are laid out
// apart, in f64. A function's Run serves all arguments but those that IsRare tells, which go one
// at a time to the complete function of block_complex_math.cc. See level-inl.h for who may include
// this.
//
// c64 functions are computed in f64 to 2^-34 or better and rounded once; c128 ones are algebraic
// and at most 3 ULP off. The other ones of c128 are in levels/block_complex_*_c128.cc and
// block_complex_c128.cc.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_PIECES_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_PIECES_INL_H_

#include "src/cpu_device/kernels/complex-inl.h"
#include "src/cpu_device/kernels/math_f64-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes {

// Elements of a piece.
constexpr int64_t kPiece = 64;

struct Piece {
  double re[kPiece], im[kPiece];
};

template <typename T>
PJRT_INLINE void LoadPiece(Piece* to, const Complex<T>* from, int64_t count) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < count; ++i) {
    to->re[i] = from[i].re;
    to->im[i] = from[i].im;
  }
}
template <typename T>
PJRT_INLINE void FillPiece(Piece* to, Complex<T> from) {
  for (int64_t i = 0; i < kPiece; ++i) {
    to->re[i] = from.re;
    to->im[i] = from.im;
  }
}
template <typename T>
PJRT_INLINE Complex<T> At(const Piece& piece, int64_t i) {
  return {static_cast<T>(piece.re[i]), static_cast<T>(piece.im[i])};
}
template <typename T>
PJRT_INLINE void Store(Complex<T>* to, C128 z) {
  *to = {static_cast<T>(z.re), static_cast<T>(z.im)};
}
template <typename T>
PJRT_INLINE void Store(T* to, double x) {
  *to = static_cast<T>(x);
}

// R from Complex<T> by Fast::Run, and by Slow::Run where Fast::IsRare.
template <class Fast, class Slow, typename R, typename T>
void UnaryPieces(void* dst, const void* a, const void*, const void*, int64_t n) {
  R* d = static_cast<R*>(dst);
  const Complex<T>* x = static_cast<const Complex<T>*>(a);
  Piece in;
  for (; n > 0; n -= kPiece, d += kPiece, x += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    LoadPiece(&in, x, count);
    int rare = 0;
    for (int64_t i = 0; i < count; ++i) rare |= Fast::IsRare({in.re[i], in.im[i]});
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) Store(&d[i], Fast::Run({in.re[i], in.im[i]}));
    for (int64_t i = 0; rare != 0 && i < count; ++i) {
      if (Fast::IsRare({in.re[i], in.im[i]})) d[i] = Slow::Run(At<T>(in, i));
    }
  }
}

// The same of two operands. kFirst, kSecond: that operand is one element.
template <class Fast, class Slow, typename T, bool kFirst, bool kSecond>
void BinaryPieces(void* dst, const void* a, const void* b, const void*, int64_t n) {
  Complex<T>* d = static_cast<Complex<T>*>(dst);
  const Complex<T>* x = static_cast<const Complex<T>*>(a);
  const Complex<T>* y = static_cast<const Complex<T>*>(b);
  if (n <= 0) return;
  Piece left, right;
  if (kFirst) FillPiece(&left, *x);
  if (kSecond) FillPiece(&right, *y);
  for (; n > 0; n -= kPiece, d += kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    if (!kFirst) LoadPiece(&left, x, count);
    if (!kSecond) LoadPiece(&right, y, count);
    x += kFirst ? 0 : kPiece;
    y += kSecond ? 0 : kPiece;
    int rare = 0;
    for (int64_t i = 0; i < count; ++i)
      rare |= Fast::IsRare({left.re[i], left.im[i]}, {right.re[i], right.im[i]});
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i)
      Store(&d[i], Fast::Run({left.re[i], left.im[i]}, {right.re[i], right.im[i]}));
    for (int64_t i = 0; rare != 0 && i < count; ++i) {
      if (Fast::IsRare({left.re[i], left.im[i]}, {right.re[i], right.im[i]}))
        d[i] = Slow::Run(At<T>(left, i), At<T>(right, i));
    }
  }
}

PJRT_INLINE double Larger(C128 z) {
  const double x = wide::Abs(z.re), y = wide::Abs(z.im);
  return x > y ? x : y;
}
PJRT_INLINE double Smaller(C128 z) {
  const double x = wide::Abs(z.re), y = wide::Abs(z.im);
  return x > y ? y : x;
}
// Neither part is a NaN and the larger one lies between.
PJRT_INLINE int IsBetween(C128 z, double low, double high) {
  const double larger = Larger(z);
  return (larger > low) & (larger < high) & (z.re == z.re) & (z.im == z.im);
}

// --- c64: parts are f32 numbers ---

constexpr double kLargestAngle = wide::kLargestAngle;

// sinh and cosh of |x| < 700.
struct Hyperbolic {
  double sinh, cosh;
};
PJRT_INLINE Hyperbolic HyperbolicOf(double x) {
  const double grown = wide::Expm1(wide::Abs(x)), power = grown + 1, inverse = 1 / power;
  return {wide::CopySign(0.5 * MulAdd(grown, inverse, grown), x), 0.5 * (power + inverse)};
}

// r (cos y + i sin y).
PJRT_INLINE C128 Polar(double r, double y) {
  const wide::Angle angle = wide::ReduceAngle(y);
  return {r * wide::CosOf(angle), r * wide::SinOf(angle)};
}

// log of a number that is neither 0 nor infinite. Near the unit circle from |z|^2 - 1, whose terms
// are exact.
PJRT_INLINE C128 LogOf(C128 z) {
  const double large = Larger(z), small = Smaller(z);
  const double square = large * large + small * small;
  const double excess = (large - 1) * (large + 1) + small * small;
  const double sum = 1 + excess;
  const int above = large > 0.5, below = large < 1.5, near = above & below;
  const double tail = near ? excess - (sum - 1) : 0.0;
  return {0.5 * wide::LogOfNormal(near ? sum : square, tail), wide::Atan2(z.im, z.re)};
}

struct ExpC64 {
  PJRT_INLINE int IsRare(C128 z) {
    const int re = wide::Abs(z.re) < 650, im = wide::Abs(z.im) <= kLargestAngle;
    return (re & im) == 0;
  }
  PJRT_INLINE C128 Run(C128 z) { return Polar(wide::Exp(z.re), z.im); }
};
struct LogC64 {
  PJRT_INLINE int IsRare(C128 z) { return !IsBetween(z, 0, wide::kInfinity); }
  PJRT_INLINE C128 Run(C128 z) { return LogOf(z); }
};
struct SinC64 {
  PJRT_INLINE int IsRare(C128 z) { return ExpC64::IsRare({z.im, z.re}); }
  PJRT_INLINE C128 Run(C128 z) {
    const wide::Angle angle = wide::ReduceAngle(z.re);
    const Hyperbolic h = HyperbolicOf(z.im);
    return {wide::SinOf(angle) * h.cosh, wide::CosOf(angle) * h.sinh};
  }
};
struct CosC64 {
  PJRT_INLINE int IsRare(C128 z) { return SinC64::IsRare(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const wide::Angle angle = wide::ReduceAngle(z.re);
    const Hyperbolic h = HyperbolicOf(z.im);
    return {wide::CosOf(angle) * h.cosh, -wide::SinOf(angle) * h.sinh};
  }
};
// (sinh x cosh x + i sin y cos y) / (sinh(x)^2 + cos(y)^2).
struct TanhC64 {
  PJRT_INLINE int IsRare(C128 z) {
    const int re = wide::Abs(z.re) < 300, im = wide::Abs(z.im) <= kLargestAngle;
    return (re & im) == 0;
  }
  PJRT_INLINE C128 Run(C128 z) {
    const wide::Angle angle = wide::ReduceAngle(z.im);
    const double sine = wide::SinOf(angle), cosine = wide::CosOf(angle);
    const Hyperbolic h = HyperbolicOf(z.re);
    const double inverse = 1 / (h.sinh * h.sinh + cosine * cosine);
    return {h.sinh * h.cosh * inverse, sine * cosine * inverse};
  }
};
// tan(z) = -i tanh(iz).
struct TanC64 {
  PJRT_INLINE int IsRare(C128 z) { return TanhC64::IsRare({z.im, z.re}); }
  PJRT_INLINE C128 Run(C128 z) {
    const C128 turned = TanhC64::Run({-z.im, z.re});
    return {turned.im, -turned.re};
  }
};
// exp(x) cos y - 1 = g cos y + (cos y - 1) with g = exp(x) - 1: no digits of a small cosine are
// lost.
struct Expm1C64 {
  PJRT_INLINE int IsRare(C128 z) { return ExpC64::IsRare(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const wide::Angle angle = wide::ReduceAngle(z.im);
    const double cosine = wide::CosOf(angle);
    const bool near = (angle.quadrant & 3) == 0;
    const double less = near ? wide::CosLessOne(angle.r) : cosine - 1;
    const wide::ExpParts e = wide::SplitExp(z.re);
    const double grown = wide::CopySign(MulAdd(e.scale, e.part, e.scale - 1), z.re);
    const double power = MulAdd(e.scale, e.part, e.scale);
    return {MulAdd(grown, cosine, less), power * wide::SinOf(angle)};
  }
};
// 1 / (1 + exp(-z)).
struct LogisticC64 {
  PJRT_INLINE int IsRare(C128 z) { return TanhC64::IsRare(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const C128 power = Polar(wide::Exp(-z.re), -z.im);
    const double re = 1 + power.re, inverse = 1 / (re * re + power.im * power.im);
    return {re * inverse, -power.im * inverse};
  }
};
// Half the log of |1 + z|^2 = 1 + (2x + x^2 + y^2), whose terms are exact and may cancel; where
// little is left of the 1, of (1 + x)^2 + y^2.
struct Log1pC64 {
  PJRT_INLINE int IsRare(C128 z) {
    const int pole = (z.re == -1) & (z.im == 0);
    return (IsBetween(z, 0, 0x1p+60) == 0) | pole;
  }
  PJRT_INLINE C128 Run(C128 z) {
    const double x = 1 + z.re, square = z.im * z.im;
    const f64::Pair first = f64::Sum(2 * z.re, square);
    const f64::Pair second = f64::Sum(first.high, z.re * z.re);
    const double excess = second.high + (first.low + second.low), sum = 1 + excess;
    const bool far = excess < -0.5;
    const double size = far ? x * x + square : sum, tail = far ? 0.0 : excess - (sum - 1);
    return {0.5 * wide::LogOfNormal(size, tail), wide::Atan2(z.im, x)};
  }
};
// The cube root of the size at a third of the angle.
struct CbrtC64 {
  PJRT_INLINE int IsRare(C128 z) { return LogC64::IsRare(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const double square = z.re * z.re + z.im * z.im;
    const double size = wide::Exp(wide::LogOfNormal(square, 0) * (1.0 / 6));
    return Polar(size, wide::Atan2(z.im, z.re) * (1.0 / 3));
  }
};
// exp(b log a). Large exponents would enlarge the error of the logarithm.
struct PowerC64 {
  PJRT_INLINE int IsRare(C128 a, C128 b) {
    const bool plain = ((b.re != 0) | (b.im != 0)) & ((b.re != 1) | (b.im != 0));
    return LogC64::IsRare(a) | !(Larger(b) < 100) | (b.re != b.re) | (b.im != b.im) | !plain;
  }
  PJRT_INLINE C128 Run(C128 a, C128 b) {
    const C128 log = LogOf(a);
    const C128 product = Multiply::Run(b, log);
    return Polar(wide::Exp(wide::Bound(product.re, -650, 650)), product.im);
  }
};

// --- Algebraic ones, for both types ---

// Squares and their sums keep all their digits.
PJRT_INLINE int HasSquares(C128 z) { return IsBetween(z, 0x1p-400, 0x1p+400); }
PJRT_INLINE double SizeOf(C128 z) { return __builtin_sqrt(z.re * z.re + z.im * z.im); }

struct AbsOf {
  PJRT_INLINE int IsRare(C128 z) { return !HasSquares(z); }
  PJRT_INLINE double Run(C128 z) { return SizeOf(z); }
};
struct SignC64 {
  PJRT_INLINE int IsRare(C128 z) { return !HasSquares(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const double inverse = 1 / SizeOf(z);
    return {z.re * inverse, z.im * inverse};
  }
};
struct SignC128 {
  PJRT_INLINE int IsRare(C128 z) { return !HasSquares(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const double size = SizeOf(z);
    return {z.re / size, z.im / size};
  }
};
// With the root of the larger part, from which the other follows by a division.
struct SqrtOf {
  PJRT_INLINE int IsRare(C128 z) { return !HasSquares(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const double root = __builtin_sqrt(0.5 * (wide::Abs(z.re) + SizeOf(z)));
    const double other = wide::Abs(z.im) / (root + root);  // half of it may vanish
    const bool left = z.re < 0;
    return {left ? other : root, wide::CopySign(left ? root : other, z.im)};
  }
};

// -i log((x + iy) / sqrt(x^2 + y^2)), part by part: the argument of the quotient is half that of
// (x + iy) conj(x - iy), or opposite, and its size the root of |x + iy| / |x - iy|. Products of f32
// numbers are exact, so that small parts keep their digits.
struct Atan2C64 {
  PJRT_INLINE C128 Squares(C128 y, C128 x) {
    const C128 a = Multiply::Run(x, x), b = Multiply::Run(y, y);
    return {a.re + b.re, a.im + b.im};
  }
  PJRT_INLINE int IsRare(C128 y, C128 x) {
    const int parts = IsBetween(y, 0, wide::kInfinity) & IsBetween(x, 0, wide::kInfinity);
    return !(parts & HasSquares(Squares(y, x)));
  }
  PJRT_INLINE C128 Run(C128 y, C128 x) {
    const C128 plus = {x.re - y.im, x.im + y.re}, minus = {x.re + y.im, x.im - y.re};
    const double across = 2 * (x.re * y.re + x.im * y.im);
    const double along = plus.re * minus.re + plus.im * minus.im;
    const double half = 0.5 * wide::Atan2(across, along);
    // Whether the quotient is on the side of `half` or opposite.
    const C128 root = SqrtOf::Run(Squares(y, x));
    const double cosine = plus.re * root.re + plus.im * root.im;
    const double sine = Difference(plus.im * root.re, plus.re * root.im);
    const double side = along > 0 ? cosine : half < 0 ? -sine : sine;
    const double turn = half > 0 ? -wide::kPi : wide::kPi;
    const double re = half + (side < 0 ? turn : 0.0);
    const double size_plus = plus.re * plus.re + plus.im * plus.im;
    const double size_minus = minus.re * minus.re + minus.im * minus.im;
    const double turned = Difference(x.re * y.im, x.im * y.re);
    const double excess = 4 * wide::Abs(turned) / (size_plus < size_minus ? size_plus : size_minus);
    const double sum = 1 + excess;
    const double im = 0.25 * wide::LogOfNormal(sum, excess - (sum - 1));
    return {re, wide::CopySign(im, turned)};
  }
};

// The conjugate of the root over the size of z, in f64 for c64.
struct RsqrtC64 {
  PJRT_INLINE int IsRare(C128 z) { return !HasSquares(z); }
  PJRT_INLINE C128 Run(C128 z) {
    const C128 root = SqrtOf::Run(z);
    const double size = SizeOf(z);
    return {root.re / size, -root.im / size};
  }
};

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complexes

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_PIECES_INL_H_
