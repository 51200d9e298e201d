// SPDX-License-Identifier: Apache-2.0
//
// Division and functions of complex numbers, with the branch cuts, signed zeros and infinities of
// C's <complex.h> (ISO C, Annex G), exponentials of infinities excepted.
//
// A function is computed in a wider type and rounded once: c64 in double, which leaves half an ulp,
// c128 in long double where the C library's double function is more than 3 ULP off. W is the wider
// type. Most arguments of the common functions go through the loops of complex_pieces-inl.h,
// block_complex_exp.cc, block_complex_log.cc and block_complex_power.cc instead.
#include "src/cpu_device/kernels/complex-inl.h"
#include "src/cpu_device/kernels/complex_complete-inl.h"
#include "src/cpu_device/kernels/complex_pieces-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename W>
struct CComplexOf;
template <>
struct CComplexOf<double> {
  typedef _Complex double Type;
};
template <>
struct CComplexOf<long double> {
  typedef _Complex long double Type;
};
// C's complex type, which its library takes by value.
template <typename W>
using CComplex = typename CComplexOf<W>::Type;

template <typename W>
PJRT_INLINE CComplex<W> ToC(Complex<W> z) {
  CComplex<W> result;
  __real__ result = z.re;
  __imag__ result = z.im;
  return result;
}

PJRT_INLINE C128 FromC(CComplex<double> z) { return {__real__ z, __imag__ z}; }
PJRT_INLINE Complex<long double> FromC(CComplex<long double> z) { return {__real__ z, __imag__ z}; }

#define PJRT_REAL_FUNCTION(Name, function)                              \
  PJRT_INLINE double Name(double x) { return __builtin_##function(x); } \
  PJRT_INLINE long double Name(long double x) { return __builtin_##function##l(x); }
#define PJRT_REAL_FUNCTION_2(Name, function)                                         \
  PJRT_INLINE double Name(double x, double y) { return __builtin_##function(x, y); } \
  PJRT_INLINE long double Name(long double x, long double y) {                       \
    return __builtin_##function##l(x, y);                                            \
  }
#define PJRT_COMPLEX_FUNCTION(Name, function)                                   \
  PJRT_INLINE C128 Name(C128 z) { return FromC(__builtin_##function(ToC(z))); } \
  PJRT_INLINE Complex<long double> Name(Complex<long double> z) {               \
    return FromC(__builtin_##function##l(ToC(z)));                              \
  }

PJRT_REAL_FUNCTION(RealAbs, fabs)
PJRT_REAL_FUNCTION(RealSin, sin)
PJRT_REAL_FUNCTION(RealCos, cos)
PJRT_REAL_FUNCTION(RealExpm1, expm1)
PJRT_REAL_FUNCTION(RealCbrt, cbrt)
PJRT_REAL_FUNCTION_2(RealAtan2, atan2)
PJRT_REAL_FUNCTION_2(RealHypot, hypot)
PJRT_REAL_FUNCTION_2(RealCopySign, copysign)
PJRT_COMPLEX_FUNCTION(ComplexExp, cexp)
PJRT_COMPLEX_FUNCTION(ComplexLog, clog)
PJRT_COMPLEX_FUNCTION(ComplexSqrt, csqrt)
PJRT_COMPLEX_FUNCTION(ComplexTan, ctan)
PJRT_COMPLEX_FUNCTION(ComplexTanh, ctanh)

template <typename W>
PJRT_INLINE bool IsFinite(W x) {
  return x - x == 0;
}
template <typename W>
PJRT_INLINE bool IsInfinite(W x) {
  return RealAbs(x) == W{__builtin_inf()};
}
template <typename W>
PJRT_INLINE bool IsInfinite(Complex<W> z) {
  return IsInfinite(z.re) || IsInfinite(z.im);
}
template <typename W>
PJRT_INLINE bool IsFinite(Complex<W> z) {
  return IsFinite(z.re) && IsFinite(z.im);
}

PJRT_INLINE double Difference(double a, double b) { return complexes::Difference(a, b); }
PJRT_INLINE long double Difference(long double a, long double b) { return a - b; }

// The quotient by the textbook, for numbers whose squares stay in the range.
template <typename W>
PJRT_INLINE Complex<W> PlainQuotient(Complex<W> a, Complex<W> b) {
  const W norm = b.re * b.re + b.im * b.im;
  return {(a.re * b.re + a.im * b.im) / norm, Difference(a.im * b.re, a.re * b.im) / norm};
}
// The same after the zeros and infinities for which the textbook gives NaN twice.
template <typename W>
PJRT_INLINE Complex<W> OrSpecial(Complex<W> a, Complex<W> b, Complex<W> quotient) {
  constexpr W kInfinity = __builtin_inf();
  if (quotient.re == quotient.re || quotient.im == quotient.im) return quotient;
  if (b.re == 0 && b.im == 0 && (a.re == a.re || a.im == a.im)) {
    const W infinity = RealCopySign(kInfinity, b.re);
    return {infinity * a.re, infinity * a.im};
  }
  if (IsInfinite(a) && IsFinite(b)) {
    const W u = RealCopySign(W{IsInfinite(a.re) ? 1.0 : 0.0}, a.re);
    const W v = RealCopySign(W{IsInfinite(a.im) ? 1.0 : 0.0}, a.im);
    return {kInfinity * (u * b.re + v * b.im), kInfinity * (v * b.re - u * b.im)};
  }
  if (IsInfinite(b) && IsFinite(a)) {
    const W u = RealCopySign(W{IsInfinite(b.re) ? 1.0 : 0.0}, b.re);
    const W v = RealCopySign(W{IsInfinite(b.im) ? 1.0 : 0.0}, b.im);
    return {W{0} * (a.re * u + a.im * v), W{0} * (a.im * u - a.re * v)};
  }
  return quotient;
}

struct Divide {
  PJRT_INLINE bool IsModerate(double size) { return size > 0x1p-400 && size < 0x1p+400; }
  PJRT_INLINE C128 Scaled(C128 z, int n) {
    return {__builtin_scalbn(z.re, n), __builtin_scalbn(z.im, n)};
  }
  PJRT_INLINE C128 Run(C128 a, C128 b) {
    const double dividend = complexes::Larger(a), divisor = complexes::Larger(b);
    if (IsModerate(dividend) && IsModerate(divisor)) return PlainQuotient(a, b);
    if (IsFinite(dividend) && IsFinite(divisor) && dividend != 0 && divisor != 0) {
      // Both are brought near 1 first.
      const int p = -__builtin_ilogb(dividend), q = -__builtin_ilogb(divisor);
      return Scaled(PlainQuotient(Scaled(a, p), Scaled(b, q)), q - p);
    }
    return OrSpecial(a, b, PlainQuotient(a, b));
  }
  // Squares of f32 numbers are in the range of f64.
  PJRT_INLINE C64 Run(C64 a, C64 b) {
    const C128 x = complexes::Widen(a), y = complexes::Widen(b);
    return complexes::Narrow(OrSpecial(x, y, PlainQuotient(x, y)));
  }
};

// The quotients of c64 numbers, part by part for as many as make loops that compilers vectorise;
// where there is a NaN, one at a time. kFirst, kSecond: that operand is one element.
template <bool kFirst, bool kSecond>
void DivideC64(void* dst, const void* a, const void* b, const void*, int64_t n) {
  constexpr int64_t kPiece = 64;
  C64* d = static_cast<C64*>(dst);
  const C64* x = static_cast<const C64*>(a);
  const C64* y = static_cast<const C64*>(b);
  if (n <= 0) return;
  const C64 x0 = *x, y0 = *y;
  float re[kPiece], im[kPiece];
  for (; n > 0; n -= kPiece, d += kPiece, x += kFirst ? 0 : kPiece, y += kSecond ? 0 : kPiece) {
    const int64_t count = n < kPiece ? n : kPiece;
    int special = 0;
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) {
      const C64 quotient = complexes::Narrow(PlainQuotient(complexes::Widen(kFirst ? x0 : x[i]),
                                                           complexes::Widen(kSecond ? y0 : y[i])));
      re[i] = quotient.re;
      im[i] = quotient.im;
    }
    for (int64_t i = 0; i < count; ++i) special |= (re[i] != re[i]) & (im[i] != im[i]);
    if (special != 0) {
      for (int64_t i = 0; i < count; ++i)
        d[i] = Divide::Run(kFirst ? x0 : x[i], kSecond ? y0 : y[i]);
      continue;
    }
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) d[i] = {re[i], im[i]};
  }
}

// exp(x) cos y + i exp(x) sin y by the formula, where C has a zero for exp(-inf +- i inf) and an
// infinity for exp(inf +- i inf).
struct Exp {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    if (!IsFinite(z.im)) return {z.im - z.im, z.im - z.im};
    return ComplexExp(z);
  }
};
struct Log {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    return ComplexLog(z);
  }
};
struct Sqrt {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    return ComplexSqrt(z);
  }
};
struct Sin {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_csin(ToC(z))); }
};
struct Cos {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_ccos(ToC(z))); }
};
struct Tan {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    return ComplexTan(z);
  }
};
struct Tanh {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    return ComplexTanh(z);
  }
};

// exp(x) cos y - 1 is expm1(x) cos y + (cos y - 1), and cos y - 1 = -2 sin(y/2)^2.
struct Expm1 {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    const W grown = RealExpm1(z.re);
    if (z.im == 0) return {grown, z.im};
    const Complex<W> power = ComplexExp(z);
    if (!IsFinite(grown) || !IsFinite(z.im)) return {power.re - 1, power.im};
    const W half_sine = RealSin(z.im / 2);
    return {grown * RealCos(z.im) - 2 * half_sine * half_sine, power.im};
  }
};

// Half of log1p(|1 + z|^2 - 1), where 2x + x^2 + y^2 may nearly cancel and is summed with its
// rounding errors; far from |1 + z| = 1 simply log|1 + z|.
struct Log1p {
  PJRT_INLINE C128 Run(C128 z) {
    const double x = z.re, y = z.im;
    const double size = complexes::Larger(z);
    // 1 is nothing beside it; infinities and NaNs.
    if (!(size < 0x1p+60)) return ComplexLog(C128{IsFinite(x) ? x + 1 : x, y});
    const double angle = RealAtan2(y, 1 + x);
    if (size < 0x1p-400) {  // the terms may cancel
      return {static_cast<double>(x + static_cast<long double>(y) * y / 2), angle};
    }
    const f64::Pair xx = f64::Product(x, x), yy = f64::Product(y, y);
    const f64::Pair first = f64::Sum(RealAbs(y) > RealAbs(x) ? yy.high : xx.high, 2 * x);
    const f64::Pair second = f64::Sum(first.high, RealAbs(y) > RealAbs(x) ? xx.high : yy.high);
    const f64::Pair sums = f64::Sum(first.low, second.low), squares = f64::Sum(xx.low, yy.low);
    const f64::Pair errors = f64::Sum(sums.high, squares.high);
    const f64::Pair total = f64::Sum(second.high, errors.high);
    const double excess = total.high + (total.low + (errors.low + sums.low + squares.low));
    if (excess > -0.5 && excess < 3) return {0.5 * __builtin_log1p(excess), angle};
    return {__builtin_log(RealHypot(1 + x, y)), angle};
  }
};

struct Rsqrt {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    if (z.re == 0 && z.im == 0) return {W{__builtin_inf()}, RealCopySign(W{0}, -z.im)};
    if (IsInfinite(z)) return {W{0}, z.im == z.im ? RealCopySign(W{0}, -z.im) : W{0}};
    const Complex<W> one = {1, 0}, root = ComplexSqrt(z);
    const Complex<W> result = OrSpecial(one, root, PlainQuotient(one, root));
    return {result.re, z.im == 0 && z.re > 0 ? -z.im : result.im};
  }
};

// 1 / (1 + exp(-z)). Far left exp(z) itself, which does not overflow.
struct Logistic {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    if (z.re < -50) return ComplexExp(z);
    const Complex<W> power = ComplexExp(Complex<W>{-z.re, -z.im});
    const Complex<W> one = {1, 0}, sum = {1 + power.re, power.im};
    const Complex<W> result = OrSpecial(one, sum, PlainQuotient(one, sum));
    return {result.re, z.im == 0 ? z.im : result.im};
  }
};

struct Abs {
  PJRT_INLINE double Run(C128 z) { return RealHypot(z.re, z.im); }
  PJRT_INLINE float Run(C64 z) { return static_cast<float>(Run(complexes::Widen(z))); }
};
struct Sign {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    if (z.re == 0 && z.im == 0) return z;
    const W size = RealHypot(z.re, z.im);
    return {z.re / size, z.im / size};
  }
};

// The cube root of the size at a third of the angle.
struct Cbrt {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> z) {
    const W size = RealCbrt(RealHypot(z.re, z.im));
    if (z.im == 0 && z.re >= 0) return {size, z.im};
    const W angle = RealAtan2(z.im, z.re) / 3;
    return {size * RealCos(angle), size * RealSin(angle)};
  }
};

struct Power {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> a, Complex<W> b) {
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (b.re == 1 && b.im == 0) return a;
    if (a.re == 0 && a.im == 0 && b.re > 0) return {0, 0};
    const Complex<W> log = ComplexLog(a);
    return ComplexExp(Complex<W>{b.re * log.re - b.im * log.im, b.re * log.im + b.im * log.re});
  }
};

// -i log((x + iy) / sqrt(x^2 + y^2)): the arc tangent of y / x that keeps the quadrant.
struct Atan2 {
  template <typename W>
  PJRT_INLINE Complex<W> Run(Complex<W> y, Complex<W> x) {
    if constexpr (sizeof(W) > sizeof(double)) return RunPrecisely(y, x);
    return ByLogarithm(y, x);
  }
  template <typename W>
  PJRT_INLINE Complex<W> ByLogarithm(Complex<W> y, Complex<W> x) {
    const Complex<W> squares = {(x.re * x.re - x.im * x.im) + (y.re * y.re - y.im * y.im),
                                2 * (x.re * x.im + y.re * y.im)};
    const Complex<W> direction = {x.re - y.im, x.im + y.re}, size = ComplexSqrt(squares);
    const Complex<W> log = ComplexLog(OrSpecial(direction, size, PlainQuotient(direction, size)));
    return {log.im, -log.re};
  }
  // As in block_complex_atan2_c128.cc: beside the poles and of small quotients and large ones the
  // logarithm loses digits. At the cuts it tells the side.
  template <typename W>
  PJRT_INLINE Complex<W> RunPrecisely(Complex<W> y, Complex<W> x) {
    const Complex<W> p = {x.re - y.im, x.im + y.re}, m = {x.re + y.im, x.im - y.re};
    const W of_p = p.re * p.re + p.im * p.im, of_m = m.re * m.re + m.im * m.im;
    const W less = of_p < of_m ? of_p : of_m, t = x.re * y.im - x.im * y.re;
    if (!(less > 0 && IsFinite(of_p + of_m))) return ByLogarithm(y, x);
    const W log = __builtin_log1pl(4 * RealAbs(t) / less) / 4, im = t < 0 ? -log : log;
    const bool near = less < 0x1p-10 * (of_p + of_m);
    const W across = near ? p.im * m.re - p.re * m.im : 2 * (x.re * y.re + x.im * y.im);
    if (across == 0) return {ByLogarithm(y, x).re, im};
    const W half = RealAtan2(across, p.re * m.re + p.im * m.im) / 2;
    const W opposite = half - RealCopySign(RealAtan2(W{0}, W{-1}), half);
    // The sine of the sum of the sizes of the arguments of p and m.
    const bool alike = (p.im < 0) == (m.im < 0);
    const W first = alike ? x.re * x.im : x.re * y.re, second = alike ? y.re * y.im : x.im * y.im;
    const W sine = first + second;
    if (p.im != 0 && m.im != 0 && RealAbs(sine) > 0x1p-60 * RealAbs(first))
      return {(sine < 0) == (p.im < 0) ? half : opposite, im};
    return {RealAbs(ByLogarithm(y, x).re - half) < 1 ? half : opposite, im};
  }
};

// A function of C128 or Complex<W> for narrower numbers.
template <class Op>
struct InF64 {
  PJRT_INLINE C64 Run(C64 a) { return complexes::Narrow(Op::Run(complexes::Widen(a))); }
  PJRT_INLINE C64 Run(C64 a, C64 b) {
    return complexes::Narrow(Op::Run(complexes::Widen(a), complexes::Widen(b)));
  }
};
template <class Op>
struct InLongDouble {
  using Z = Complex<long double>;
  PJRT_INLINE C128 Narrow(Z z) { return {static_cast<double>(z.re), static_cast<double>(z.im)}; }
  PJRT_INLINE C128 Run(C128 a) { return Narrow(Op::Run(Z{a.re, a.im})); }
  PJRT_INLINE C128 Run(C128 a, C128 b) { return Narrow(Op::Run(Z{a.re, a.im}, Z{b.re, b.im})); }
};

// Of c128 numbers whose squares stay in the range; no rarer than that.
struct DivideModerate {
  PJRT_INLINE int IsRare(C128 a, C128 b) {
    const int dividend = Divide::IsModerate(complexes::Larger(a));
    const int divisor = Divide::IsModerate(complexes::Larger(b));
    return (dividend & divisor) == 0;
  }
  PJRT_INLINE C128 Run(C128 a, C128 b) { return PlainQuotient(a, b); }
};

// By vectors, but for what is rare.
template <class Fast, class Slow, typename T, typename R = Complex<T>>
PJRT_INLINE void UnaryByPieces(BlockKernels* k, BlockOp op) {
  Entry(k, op, kCType<Complex<T>>) = complexes::UnaryPieces<Fast, Slow, R, T>;
}
template <class Fast, class Slow, typename T>
PJRT_INLINE void BinaryByPieces(BlockKernels* k, BlockOp op) {
  constexpr CType kType = kCType<Complex<T>>;
  Entry(k, op, kType) = complexes::BinaryPieces<Fast, Slow, T, false, false>;
  Entry(k, op, kType, Scalars::kFirst) = complexes::BinaryPieces<Fast, Slow, T, true, false>;
  Entry(k, op, kType, Scalars::kSecond) = complexes::BinaryPieces<Fast, Slow, T, false, true>;
}

}  // namespace

namespace complexes {

C64 CompleteExp(C64 z) { return InF64<Exp>::Run(z); }
C64 CompleteExpm1(C64 z) { return InF64<Expm1>::Run(z); }
C64 CompleteSin(C64 z) { return InF64<Sin>::Run(z); }
C64 CompleteCos(C64 z) { return InF64<Cos>::Run(z); }
C64 CompleteTan(C64 z) { return InF64<Tan>::Run(z); }
C64 CompleteTanh(C64 z) { return InF64<Tanh>::Run(z); }
C64 CompleteLogistic(C64 z) { return InF64<Logistic>::Run(z); }
C64 CompleteSqrt(C64 z) { return InF64<Sqrt>::Run(z); }
C64 CompleteRsqrt(C64 z) { return InF64<Rsqrt>::Run(z); }
float CompleteAbs(C64 z) { return Abs::Run(z); }
C64 CompleteSign(C64 z) { return InF64<Sign>::Run(z); }
C64 CompleteLog(C64 z) { return InF64<Log>::Run(z); }
C64 CompleteLog1p(C64 z) { return InF64<Log1p>::Run(z); }
C64 CompleteCbrt(C64 z) { return InF64<Cbrt>::Run(z); }
C64 CompletePower(C64 a, C64 b) { return InF64<Power>::Run(a, b); }
C64 CompleteAtan2(C64 y, C64 x) { return InF64<Atan2>::Run(y, x); }

C128 CompleteSign(C128 z) { return InLongDouble<Sign>::Run(z); }
C128 CompleteSqrt(C128 z) { return Sqrt::Run(z); }
C128 CompleteLog(C128 z) { return Log::Run(z); }
C128 CompleteLog1p(C128 z) { return Log1p::Run(z); }
C128 CompleteRsqrt(C128 z) { return InLongDouble<Rsqrt>::Run(z); }
C128 CompleteCbrt(C128 z) { return InLongDouble<Cbrt>::Run(z); }
C128 CompleteExp(C128 z) { return Exp::Run(z); }
C128 CompleteExpm1(C128 z) { return InLongDouble<Expm1>::Run(z); }
C128 CompleteLogistic(C128 z) { return InLongDouble<Logistic>::Run(z); }
C128 CompleteTanh(C128 z) { return InLongDouble<Tanh>::Run(z); }
C128 CompleteTan(C128 z) { return InLongDouble<Tan>::Run(z); }
C128 CompleteSin(C128 z) { return Sin::Run(z); }
C128 CompleteCos(C128 z) { return Cos::Run(z); }
C128 CompletePower(C128 a, C128 b) { return InLongDouble<Power>::Run(a, b); }
C128 CompleteAtan2(C128 y, C128 x) { return InLongDouble<Atan2>::Run(y, x); }

}  // namespace complexes

void FillComplexMath(BlockKernels* k) {
#if defined(__AVX2__)
  FillComplexExp(k);
  FillComplexLog(k);
  FillComplexPower(k);
  FillComplexAtan2(k);
#else
  UnaryByPieces<complexes::ExpC64, InF64<Exp>, float>(k, BlockOp::kExp);
  UnaryByPieces<complexes::Expm1C64, InF64<Expm1>, float>(k, BlockOp::kExpm1);
  UnaryByPieces<complexes::SinC64, InF64<Sin>, float>(k, BlockOp::kSin);
  UnaryByPieces<complexes::CosC64, InF64<Cos>, float>(k, BlockOp::kCos);
  UnaryByPieces<complexes::TanC64, InF64<Tan>, float>(k, BlockOp::kTan);
  UnaryByPieces<complexes::TanhC64, InF64<Tanh>, float>(k, BlockOp::kTanh);
  UnaryByPieces<complexes::LogisticC64, InF64<Logistic>, float>(k, BlockOp::kLogistic);
  UnaryByPieces<complexes::LogC64, InF64<Log>, float>(k, BlockOp::kLog);
  UnaryByPieces<complexes::SqrtOf, InF64<Sqrt>, float>(k, BlockOp::kSqrt);
  UnaryByPieces<complexes::RsqrtC64, InF64<Rsqrt>, float>(k, BlockOp::kRsqrt);
  UnaryByPieces<complexes::Log1pC64, InF64<Log1p>, float>(k, BlockOp::kLog1p);
  UnaryByPieces<complexes::CbrtC64, InF64<Cbrt>, float>(k, BlockOp::kCbrt);
  BinaryByPieces<complexes::PowerC64, InF64<Power>, float>(k, BlockOp::kPower);
  BinaryByPieces<complexes::Atan2C64, InF64<Atan2>, float>(k, BlockOp::kAtan2);
  UnaryByPieces<complexes::AbsOf, Abs, float, float>(k, BlockOp::kAbs);
  UnaryByPieces<complexes::SignC64, InF64<Sign>, float>(k, BlockOp::kSign);

  UnaryByPieces<complexes::SqrtOf, Sqrt, double>(k, BlockOp::kSqrt);
  UnaryByPieces<complexes::SignC128, InLongDouble<Sign>, double>(k, BlockOp::kSign);
#endif
  Entry(k, BlockOp::kDivide, CType::kC64) = DivideC64<false, false>;
  Entry(k, BlockOp::kDivide, CType::kC64, Scalars::kFirst) = DivideC64<true, false>;
  Entry(k, BlockOp::kDivide, CType::kC64, Scalars::kSecond) = DivideC64<false, true>;

  UnaryByPieces<complexes::AbsOf, Abs, double, double>(k, BlockOp::kAbs);
  BinaryByPieces<DivideModerate, Divide, double>(k, BlockOp::kDivide);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
