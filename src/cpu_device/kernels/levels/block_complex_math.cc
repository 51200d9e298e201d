// SPDX-License-Identifier: Apache-2.0
//
// Functions of complex numbers, with the branch cuts, signed zeros and infinities of C's <complex.h>
// (ISO C, Annex G). c128 by the C library where it has the function; c64 in f64, rounded once.
#include "src/cpu_device/kernels/complex-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

typedef _Complex double CComplex;

PJRT_INLINE CComplex ToC(C128 z) {
  CComplex result;
  __real__ result = z.re;
  __imag__ result = z.im;
  return result;
}
PJRT_INLINE C128 FromC(CComplex z) { return {__real__ z, __imag__ z}; }

PJRT_INLINE bool IsFinite(double x) { return x - x == 0; }
PJRT_INLINE bool IsInfinite(double x) { return __builtin_fabs(x) == __builtin_inf(); }

// x * 2^n.
PJRT_INLINE double Scale(double x, int n) { return __builtin_scalbn(x, n); }

// A sum and what its rounding lost.
struct Exact {
  double value, error;
};
PJRT_INLINE Exact ExactSum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
// Valid where the square neither overflows nor has denormal parts.
PJRT_INLINE Exact ExactSquare(double a) {
  const double spread = a * 134217729.0;  // 2^27 + 1
  const double high = spread - (spread - a);
  const double low = a - high;
  const double square = a * a;
  return {square, ((high * high - square) + 2 * high * low) + low * low};
}

// Division after both numbers are scaled so that the divisor's larger part is near 1; then the zeros and
// infinities of Annex G.
struct Divide {
  PJRT_INLINE C128 Run(C128 a, C128 b) {
    const double larger = __builtin_fmax(__builtin_fabs(b.re), __builtin_fabs(b.im));
    int scale = 0;
    double c = b.re, d = b.im;
    if (IsFinite(larger) && larger != 0) {
      scale = -__builtin_ilogb(larger);
      c = Scale(c, scale);
      d = Scale(d, scale);
    }
    const double norm = c * c + d * d;
    // The dividend too, so that its products do not overflow before they cancel.
    const double dividend = __builtin_fmax(__builtin_fabs(a.re), __builtin_fabs(a.im));
    int dividend_scale = 0;
    double x = a.re, y = a.im;
    if (IsFinite(dividend) && dividend != 0) {
      dividend_scale = -__builtin_ilogb(dividend);
      x = Scale(x, dividend_scale);
      y = Scale(y, dividend_scale);
    }
    double re = Scale((x * c + y * d) / norm, scale - dividend_scale);
    double im = Scale((y * c - x * d) / norm, scale - dividend_scale);
    if (re != re && im != im) {
      if (norm == 0 && (a.re == a.re || a.im == a.im)) {
        const double infinity = __builtin_copysign(__builtin_inf(), b.re);
        re = infinity * a.re;
        im = infinity * a.im;
      } else if ((IsInfinite(a.re) || IsInfinite(a.im)) && IsFinite(b.re) && IsFinite(b.im)) {
        const double u = __builtin_copysign(IsInfinite(a.re) ? 1.0 : 0.0, a.re);
        const double v = __builtin_copysign(IsInfinite(a.im) ? 1.0 : 0.0, a.im);
        re = __builtin_inf() * (u * b.re + v * b.im);
        im = __builtin_inf() * (v * b.re - u * b.im);
      } else if ((IsInfinite(b.re) || IsInfinite(b.im)) && IsFinite(a.re) && IsFinite(a.im)) {
        const double u = __builtin_copysign(IsInfinite(b.re) ? 1.0 : 0.0, b.re);
        const double v = __builtin_copysign(IsInfinite(b.im) ? 1.0 : 0.0, b.im);
        re = 0.0 * (a.re * u + a.im * v);
        im = 0.0 * (a.im * u - a.re * v);
      }
    }
    return {re, im};
  }
};

struct Exp {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_cexp(ToC(z))); }
};
struct Log {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_clog(ToC(z))); }
};
struct Sqrt {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_csqrt(ToC(z))); }
};
struct Sin {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_csin(ToC(z))); }
};
struct Cos {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_ccos(ToC(z))); }
};
struct Tan {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_ctan(ToC(z))); }
};
struct Tanh {
  PJRT_INLINE C128 Run(C128 z) { return FromC(__builtin_ctanh(ToC(z))); }
};

// exp(x) cos y - 1 is expm1(x) cos y + (cos y - 1), and cos y - 1 = -2 sin(y/2)^2.
struct Expm1 {
  PJRT_INLINE C128 Run(C128 z) {
    if (z.im == 0) return {__builtin_expm1(z.re), z.im};
    if (!IsFinite(z.re) || !IsFinite(z.im)) {
      const C128 exp = Exp::Run(z);
      return {exp.re - 1, exp.im};
    }
    const double grown = __builtin_expm1(z.re), half_sine = __builtin_sin(z.im / 2);
    if (IsInfinite(grown)) return Exp::Run(z);
    return {grown * __builtin_cos(z.im) - 2 * half_sine * half_sine,
            Exp::Run(z).im};
  }
};

// |1 + z|^2 - 1 = 2x + x^2 + y^2, whose terms may nearly cancel: summed with their rounding errors.
struct Log1p {
  PJRT_INLINE C128 Run(C128 z) {
    const double x = z.re, y = z.im;
    const double size = __builtin_fmax(__builtin_fabs(x), __builtin_fabs(y));
    if (!(size < 0x1p+60)) {
      // 1 is nothing beside it; infinities and NaNs.
      return Log::Run(C128{IsFinite(x) ? x + 1 : x, y});
    }
    const double angle = __builtin_atan2(y, 1 + x);
    double excess;
    if (size < 0x1p-400) {
      excess = 2 * x;  // squares are nothing beside it, unless x is much smaller still
      if (__builtin_fabs(x) < 0x1p-800) excess += y * y;
    } else {
      const Exact xx = ExactSquare(x), yy = ExactSquare(y);
      // From the largest term to the smallest.
      const bool y_first = __builtin_fabs(y) > __builtin_fabs(x);
      const Exact big = y_first ? yy : xx, small = y_first ? xx : yy;
      const Exact first = ExactSum(big.value, 2 * x);
      const Exact second = ExactSum(first.value, small.value);
      excess = second.value + (second.error + first.error + big.error + small.error);
    }
    if (excess < 1e15) return {0.5 * __builtin_log1p(excess), angle};
    return {__builtin_log(__builtin_hypot(1 + x, y)), angle};
  }
};

struct Reciprocal {
  PJRT_INLINE C128 Run(C128 z) { return Divide::Run(C128{1, 0}, z); }
};
struct Rsqrt {
  PJRT_INLINE C128 Run(C128 z) {
    if (z.re == 0 && z.im == 0) return {__builtin_inf(), __builtin_copysign(0.0, -z.im)};
    if (IsInfinite(z.re) || IsInfinite(z.im)) {
      return {0.0, z.im == z.im ? __builtin_copysign(0.0, -z.im) : 0.0};
    }
    return Reciprocal::Run(Sqrt::Run(z));
  }
};

// 1 / (1 + exp(-z)). Far left exp(z) itself, which does not overflow.
struct Logistic {
  PJRT_INLINE C128 Run(C128 z) {
    if (z.re < -40) return Exp::Run(z);
    const C128 grown = Exp::Run(C128{-z.re, -z.im});
    return Reciprocal::Run(C128{1 + grown.re, grown.im});
  }
};

struct Abs {
  PJRT_INLINE double Run(C128 z) { return __builtin_hypot(z.re, z.im); }
};
struct Sign {
  PJRT_INLINE C128 Run(C128 z) {
    if (z.re == 0 && z.im == 0) return z;
    double x = z.re, y = z.im;
    const double larger = __builtin_fmax(__builtin_fabs(x), __builtin_fabs(y));
    if (IsFinite(larger)) {
      const int scale = -__builtin_ilogb(larger);
      x = Scale(x, scale);
      y = Scale(y, scale);
    }
    const double size = __builtin_hypot(x, y);
    return {x / size, y / size};
  }
};

// The cube root of the size at a third of the angle.
struct Cbrt {
  PJRT_INLINE C128 Run(C128 z) {
    if (z.re == 0 && z.im == 0) return z;
    double x = z.re, y = z.im, scale = 1;
    const double larger = __builtin_fmax(__builtin_fabs(x), __builtin_fabs(y));
    if (larger > 0x1p+1000) {
      x *= 0x1p-30, y *= 0x1p-30, scale = 0x1p+10;
    } else if (larger < 0x1p-1000) {
      x *= 0x1p+90, y *= 0x1p+90, scale = 0x1p-30;
    }
    const double size = __builtin_cbrt(__builtin_hypot(x, y)) * scale;
    const double angle = __builtin_atan2(z.im, z.re) / 3;
    return {size * __builtin_cos(angle), size * __builtin_sin(angle)};
  }
};

struct Power {
  PJRT_INLINE C128 Run(C128 a, C128 b) {
    if (b.re == 0 && b.im == 0) return {1, 0};
    if (a.re == 0 && a.im == 0 && b.re > 0) return {0, 0};
    if (b.re == 1 && b.im == 0) return a;
    return FromC(__builtin_cpow(ToC(a), ToC(b)));
  }
};

// -i log((x + iy) / sqrt(x^2 + y^2)), the arc tangent of y / x that keeps the quadrant.
struct Atan2 {
  PJRT_INLINE C128 Run(C128 y, C128 x) {
    const C128 squares = complexes::Add::Run(complexes::Multiply::Run(x, x), complexes::Multiply::Run(y, y));
    const C128 direction = Divide::Run(C128{x.re - y.im, x.im + y.re}, Sqrt::Run(squares));
    const C128 log = Log::Run(direction);
    return {log.im, -log.re};
  }
};

// A function of c128 for c64.
template <class Op>
struct InF64 {
  PJRT_INLINE C64 Run(C64 a) { return complexes::Narrow(Op::Run(complexes::Widen(a))); }
  PJRT_INLINE C64 Run(C64 a, C64 b) {
    return complexes::Narrow(Op::Run(complexes::Widen(a), complexes::Widen(b)));
  }
};
struct AbsC64 {
  PJRT_INLINE float Run(C64 z) { return static_cast<float>(Abs::Run(complexes::Widen(z))); }
};

template <class Op>
PJRT_INLINE void Unary(BlockKernels* k, BlockOp op) {
  SetUnary<C64, InF64<Op>, C64, C64>(k, op);
  SetUnary<C128, Op, C128, C128>(k, op);
}
template <class Op>
PJRT_INLINE void Binary(BlockKernels* k, BlockOp op) {
  Entry(k, op, CType::kC64) = BinaryLoop<InF64<Op>, C64, C64>;
  Entry(k, op, CType::kC128) = BinaryLoop<Op, C128, C128>;
  Entry(k, op, CType::kC64, Scalars::kSecond) = BinaryLoopSecondScalar<InF64<Op>, C64, C64>;
  Entry(k, op, CType::kC128, Scalars::kSecond) = BinaryLoopSecondScalar<Op, C128, C128>;
}

}  // namespace

void FillComplexMath(BlockKernels* k) {
  SetUnary<C64, AbsC64, float, C64>(k, BlockOp::kAbs);
  SetUnary<C128, Abs, double, C128>(k, BlockOp::kAbs);
  Unary<Sign>(k, BlockOp::kSign);
  Unary<Sqrt>(k, BlockOp::kSqrt);
  Unary<Rsqrt>(k, BlockOp::kRsqrt);
  Unary<Cbrt>(k, BlockOp::kCbrt);
  Unary<Exp>(k, BlockOp::kExp);
  Unary<Expm1>(k, BlockOp::kExpm1);
  Unary<Log>(k, BlockOp::kLog);
  Unary<Log1p>(k, BlockOp::kLog1p);
  Unary<Logistic>(k, BlockOp::kLogistic);
  Unary<Tanh>(k, BlockOp::kTanh);
  Unary<Sin>(k, BlockOp::kSin);
  Unary<Cos>(k, BlockOp::kCos);
  Unary<Tan>(k, BlockOp::kTan);
  Binary<Divide>(k, BlockOp::kDivide);
  Binary<Power>(k, BlockOp::kPower);
  Binary<Atan2>(k, BlockOp::kAtan2);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
