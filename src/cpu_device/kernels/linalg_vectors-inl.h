// SPDX-License-Identifier: Apache-2.0
//
// Loops over contiguous vectors of real or complex numbers, for the sources of linear algebra in
// levels/. A loop runs on whole vector registers and finishes on halves, quarters, ... of one.
//
// A complex vector is seen as real numbers, re and im in turn. With s(x) for x with the parts of
// each number swapped, a product by a complex number is ca * x + cb * s(x) with two real vectors ca
// and cb, which also say whether a factor is conjugated.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_VECTORS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_VECTORS_INL_H_

#include <utility>

#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/linalg_vectors.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

template <typename T>
struct Part {
  using Type = T;
  static constexpr int kParts = 1;
};
template <typename R>
struct Part<Complex<R>> {
  using Type = R;
  static constexpr int kParts = 2;
};
template <typename T>
using PartOf = typename Part<T>::Type;
template <typename T>
inline constexpr bool kIsComplex = Part<T>::kParts == 2;

// Scalars.
PJRT_INLINE float Re(float x) { return x; }
PJRT_INLINE double Re(double x) { return x; }
PJRT_INLINE float Conj(float x) { return x; }
PJRT_INLINE double Conj(double x) { return x; }
PJRT_INLINE float Negated(float x) { return -x; }
PJRT_INLINE double Negated(double x) { return -x; }
template <typename R>
PJRT_INLINE R Re(Complex<R> x) {
  return x.re;
}
template <typename R>
PJRT_INLINE Complex<R> Conj(Complex<R> x) {
  return {x.re, -x.im};
}
template <typename R>
PJRT_INLINE Complex<R> Negated(Complex<R> x) {
  return {-x.re, -x.im};
}
// |re| + |im|.
PJRT_INLINE float Abs1(float x) { return __builtin_fabsf(x); }
PJRT_INLINE double Abs1(double x) { return __builtin_fabs(x); }
template <typename R>
PJRT_INLINE R Abs1(Complex<R> x) {
  return Abs1(x.re) + Abs1(x.im);
}

// A vector register of kWidth parts, or one part.
template <typename R, int kWidth>
struct Lanes {
  typedef R Type __attribute__((vector_size(kWidth * sizeof(R))));
  typedef R Unaligned
      __attribute__((vector_size(kWidth * sizeof(R)), aligned(alignof(R)), may_alias));
};
template <typename R>
struct Lanes<R, 1> {
  using Type = R;
  using Unaligned = R;
};
template <typename R, int kWidth>
using LanesOf = typename Lanes<R, kWidth>::Type;
template <typename R>
inline constexpr int kFullWidth = PJRT_VECTOR_BYTES / static_cast<int>(sizeof(R));

template <int kWidth, typename R>
PJRT_INLINE LanesOf<R, kWidth> LoadLanes(const R* p) {
  return *reinterpret_cast<const typename Lanes<R, kWidth>::Unaligned*>(p);
}
template <int kWidth, typename R>
PJRT_INLINE void StoreLanes(R* p, LanesOf<R, kWidth> v) {
  *reinterpret_cast<typename Lanes<R, kWidth>::Unaligned*>(p) = v;
}
template <typename R, int kWidth>
PJRT_INLINE LanesOf<R, kWidth> Broadcast(R x) {
  return LanesOf<R, kWidth>{} + x;
}
template <typename V, int... kIndex>
PJRT_INLINE V SwapParts(V v, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(v, v, (kIndex ^ 1)...);
}
template <typename R, int kWidth>
PJRT_INLINE LanesOf<R, kWidth> SwapParts(LanesOf<R, kWidth> v) {
  return SwapParts(v, std::make_integer_sequence<int, kWidth>());
}
// (a, b, a, b, ...).
template <typename R, int kWidth>
PJRT_INLINE LanesOf<R, kWidth> Alternate(R a, R b) {
  LanesOf<R, kWidth> v;
  for (int e = 0; e < kWidth; e += 2) {
    v[e] = a;
    v[e + 1] = b;
  }
  return v;
}
// The sum of both halves of a register.
template <typename R, int kWidth, int... kIndex>
PJRT_INLINE LanesOf<R, kWidth / 2> AddHalves(LanesOf<R, kWidth> v,
                                             std::integer_sequence<int, kIndex...>) {
  if constexpr (kWidth == 2) {
    return v[0] + v[1];
  } else {
    return __builtin_shufflevector(v, v, kIndex...) +
           __builtin_shufflevector(v, v, (kIndex + kWidth / 2)...);
  }
}
template <typename R, int kWidth>
PJRT_INLINE LanesOf<R, kWidth / 2> AddHalves(LanesOf<R, kWidth> v) {
  return AddHalves<R, kWidth>(v, std::make_integer_sequence<int, kWidth / 2>());
}

// A factor for vectors: Times(x) is x, or conj(x) if so made, times a number.
template <typename T, int kWidth>
struct Factor {
  using V = LanesOf<PartOf<T>, kWidth>;
  V ca;
  PJRT_INLINE Factor Of(T x) { return {Broadcast<T, kWidth>(x)}; }
  PJRT_INLINE Factor OfConjugate(T x) { return Of(x); }
  __attribute__((always_inline)) V AddTo(V sum, V x) const { return sum + ca * x; }
};
template <typename R, int kWidth>
struct Factor<Complex<R>, kWidth> {
  using V = LanesOf<R, kWidth>;
  V ca, cb;
  PJRT_INLINE Factor Of(Complex<R> x) {
    return {Broadcast<R, kWidth>(x.re), Alternate<R, kWidth>(-x.im, x.im)};
  }
  // Multiplies the conjugate of a vector.
  PJRT_INLINE Factor OfConjugate(Complex<R> x) {
    return {Alternate<R, kWidth>(x.re, -x.re), Broadcast<R, kWidth>(x.im)};
  }
  __attribute__((always_inline)) V AddTo(V sum, V x) const {
    return sum + ca * x + cb * SwapParts<R, kWidth>(x);
  }
};

// The running sum of conj(x) * y in a register.
template <typename T, int kWidth>
struct DotSum {
  using V = LanesOf<T, kWidth>;
  V sum;
  __attribute__((always_inline)) void Add(V x, V y) { sum += x * y; }
  __attribute__((always_inline)) auto Half() const {
    return DotSum<T, kWidth / 2>{AddHalves<T, kWidth>(sum)};
  }
  __attribute__((always_inline)) void Join(const DotSum& o) { sum += o.sum; }
  __attribute__((always_inline)) T Value() const { return sum; }
};
template <typename R, int kWidth>
struct DotSum<Complex<R>, kWidth> {
  using V = LanesOf<R, kWidth>;
  V sum, crossed;
  __attribute__((always_inline)) void Add(V x, V y) {
    sum += x * y;
    crossed += x * SwapParts<R, kWidth>(y);
  }
  __attribute__((always_inline)) auto Half() const {
    return DotSum<Complex<R>, kWidth / 2>{AddHalves<R, kWidth>(sum), AddHalves<R, kWidth>(crossed)};
  }
  __attribute__((always_inline)) void Join(const DotSum& o) {
    sum += o.sum;
    crossed += o.crossed;
  }
  __attribute__((always_inline)) Complex<R> Value() const {
    return {sum[0] + sum[1], crossed[0] - crossed[1]};
  }
};

template <typename T>
PJRT_INLINE const PartOf<T>* Parts(const T* p) {
  return reinterpret_cast<const PartOf<T>*>(p);
}
template <typename T>
PJRT_INLINE PartOf<T>* Parts(T* p) {
  return reinterpret_cast<PartOf<T>*>(p);
}

// Sums of conj(x[c]) * y for kColumns vectors x = a + c * lda, from part `i` on, n parts in all.
template <typename T, int kWidth, int kColumns>
PJRT_INLINE void DotsFrom(DotSum<T, kWidth>* sums, int64_t i, int64_t n, const PartOf<T>* a,
                          int64_t lda, const PartOf<T>* y, T* out) {
  for (; i + kWidth <= n; i += kWidth) {
    const auto v = LoadLanes<kWidth>(y + i);
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) sums[c].Add(LoadLanes<kWidth>(a + c * lda + i), v);
  }
  if constexpr (kWidth > Part<T>::kParts) {
    DotSum<T, kWidth / 2> halves[kColumns];
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) halves[c] = sums[c].Half();
    DotsFrom<T, kWidth / 2, kColumns>(halves, i, n, a, lda, y, out);
  } else {
#pragma GCC unroll 8
    for (int c = 0; c < kColumns; ++c) out[c] = sums[c].Value();
  }
}
template <typename T, int kColumns>
PJRT_INLINE void Dots(int64_t n, const T* a, int64_t lda, const T* y, T* out) {
  DotSum<T, kFullWidth<PartOf<T>>> sums[kColumns] = {};
  DotsFrom<T, kFullWidth<PartOf<T>>, kColumns>(sums, 0, n * Part<T>::kParts, Parts(a),
                                               lda * Part<T>::kParts, Parts(y), out);
}

// The sum of conj(x) * y, four registers at a time.
template <typename T>
PJRT_INLINE T Dot(int64_t n, const T* x, const T* y) {
  constexpr int kWidth = kFullWidth<PartOf<T>>;
  const PartOf<T>* const p = Parts(x);
  const PartOf<T>* const q = Parts(y);
  n *= Part<T>::kParts;
  DotSum<T, kWidth> sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kWidth <= n; i += 4 * kWidth) {
#pragma GCC unroll 4
    for (int u = 0; u < 4; ++u)
      sums[u].Add(LoadLanes<kWidth>(p + i + u * kWidth), LoadLanes<kWidth>(q + i + u * kWidth));
  }
  sums[0].Join(sums[1]);
  sums[2].Join(sums[3]);
  sums[0].Join(sums[2]);
  T out;
  DotsFrom<T, kWidth, 1>(sums, i, n, p, 0, q, &out);
  return out;
}

// y += x[0] * a_0 + x[1] * a_1 + ... over `columns` columns, in that order, from part i on. kConj
// takes the conjugates of the x.
template <typename T, int kWidth, int kRegisters, bool kConj>
PJRT_INLINE int64_t AddColumnsFrom(int64_t i, int64_t m, int64_t columns, const PartOf<T>* a,
                                   int64_t lda, const T* x, int64_t x_stride, PartOf<T>* y) {
  for (; i + kRegisters * kWidth <= m; i += kRegisters * kWidth) {
    LanesOf<PartOf<T>, kWidth> sum[kRegisters];
#pragma GCC unroll 8
    for (int r = 0; r < kRegisters; ++r) sum[r] = LoadLanes<kWidth>(y + i + r * kWidth);
    const PartOf<T>* from = a + i;
    const T* coefficient = x;
    for (int64_t j = 0; j < columns; ++j) {
      const auto factor = Factor<T, kWidth>::Of(Negated(kConj ? Conj(*coefficient) : *coefficient));
#pragma GCC unroll 8
      for (int r = 0; r < kRegisters; ++r)
        sum[r] = factor.AddTo(sum[r], LoadLanes<kWidth>(from + r * kWidth));
      from += lda;
      coefficient += x_stride;
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRegisters; ++r) StoreLanes<kWidth>(y + i + r * kWidth, sum[r]);
  }
  if constexpr (kRegisters > 1) {
    return AddColumnsFrom<T, kWidth, 1, kConj>(i, m, columns, a, lda, x, x_stride, y);
  } else if constexpr (kWidth > Part<T>::kParts) {
    return AddColumnsFrom<T, kWidth / 2, 1, kConj>(i, m, columns, a, lda, x, x_stride, y);
  }
  return i;
}
// y (m) -= A x, or A conj(x). The elements of x are x_stride apart.
template <typename T, bool kConj = false>
PJRT_INLINE void SubtractProduct(int64_t m, int64_t columns, const T* a, int64_t lda, const T* x,
                                 int64_t x_stride, T* y) {
  AddColumnsFrom<T, kFullWidth<PartOf<T>>, 4, kConj>(0, m * Part<T>::kParts, columns, Parts(a),
                                                     lda * Part<T>::kParts, x, x_stride, Parts(y));
}

// y += alpha * x.
template <typename T, int kWidth>
PJRT_INLINE void AxpyFrom(int64_t i, int64_t n, T alpha, const PartOf<T>* x, PartOf<T>* y) {
  const auto factor = Factor<T, kWidth>::Of(alpha);
  for (; i + kWidth <= n; i += kWidth)
    StoreLanes<kWidth>(y + i, factor.AddTo(LoadLanes<kWidth>(y + i), LoadLanes<kWidth>(x + i)));
  if constexpr (kWidth > Part<T>::kParts) AxpyFrom<T, kWidth / 2>(i, n, alpha, x, y);
}
template <typename T>
PJRT_INLINE void Axpy(int64_t n, T alpha, const T* x, T* y) {
  AxpyFrom<T, kFullWidth<PartOf<T>>>(0, n * Part<T>::kParts, alpha, Parts(x), Parts(y));
}

// y += alpha * x + beta * z.
template <typename T, int kWidth>
PJRT_INLINE void Axpy2From(int64_t i, int64_t n, T alpha, const PartOf<T>* x, T beta,
                           const PartOf<T>* z, PartOf<T>* y) {
  const auto f = Factor<T, kWidth>::Of(alpha);
  const auto g = Factor<T, kWidth>::Of(beta);
  for (; i + kWidth <= n; i += kWidth) {
    const auto sum = f.AddTo(LoadLanes<kWidth>(y + i), LoadLanes<kWidth>(x + i));
    StoreLanes<kWidth>(y + i, g.AddTo(sum, LoadLanes<kWidth>(z + i)));
  }
  if constexpr (kWidth > Part<T>::kParts) Axpy2From<T, kWidth / 2>(i, n, alpha, x, beta, z, y);
}
template <typename T>
PJRT_INLINE void Axpy2(int64_t n, T alpha, const T* x, T beta, const T* z, T* y) {
  Axpy2From<T, kFullWidth<PartOf<T>>>(0, n * Part<T>::kParts, alpha, Parts(x), beta, Parts(z),
                                      Parts(y));
}

// y += alpha * a, and returns the sum of conj(a) * x: both uses of a column of a Hermitian matrix.
template <typename T, int kWidth>
PJRT_INLINE T AxpyDotFrom(DotSum<T, kWidth> sum, int64_t i, int64_t n, T alpha, const PartOf<T>* a,
                          const PartOf<T>* x, PartOf<T>* y) {
  const auto factor = Factor<T, kWidth>::Of(alpha);
  for (; i + kWidth <= n; i += kWidth) {
    const auto v = LoadLanes<kWidth>(a + i);
    StoreLanes<kWidth>(y + i, factor.AddTo(LoadLanes<kWidth>(y + i), v));
    sum.Add(v, LoadLanes<kWidth>(x + i));
  }
  if constexpr (kWidth > Part<T>::kParts) {
    return AxpyDotFrom<T, kWidth / 2>(sum.Half(), i, n, alpha, a, x, y);
  } else {
    return sum.Value();
  }
}
template <typename T>
PJRT_INLINE T AxpyDot(int64_t n, T alpha, const T* a, const T* x, T* y) {
  return AxpyDotFrom<T, kFullWidth<PartOf<T>>>(DotSum<T, kFullWidth<PartOf<T>>>{}, 0,
                                               n * Part<T>::kParts, alpha, Parts(a), Parts(x),
                                               Parts(y));
}

// Each source of linear algebra fills its part of the level's table.
void FillLinalgVectors(LinalgKernels* kernels);
void FillLinalgPanels(LinalgKernels* kernels);

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_VECTORS_INL_H_
