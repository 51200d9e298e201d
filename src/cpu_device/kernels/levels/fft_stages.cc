// SPDX-License-Identifier: Apache-2.0
//
// The stages of Fourier transforms. Loops run over neighbouring butterflies, which is why
// transforms of several lines side by side are the fastest.
#include "src/cpu_device/kernels/fft_kernels.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/level_tables.h"

#if defined(__clang__)
#define PJRT_UNROLL_RADIX _Pragma("unroll")
#else
#define PJRT_UNROLL_RADIX _Pragma("GCC unroll 32")
#endif

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// --- Butterflies: (r[k], i[k]) becomes the transform of its R points. ---

template <typename T>
PJRT_INLINE void Butterfly2(T* r, T* i) {
  const T r0 = r[0], i0 = i[0];
  r[0] = r0 + r[1];
  i[0] = i0 + i[1];
  r[1] = r0 - r[1];
  i[1] = i0 - i[1];
}

template <typename T>
PJRT_INLINE void Butterfly3(T* r, T* i) {
  constexpr T kSin = static_cast<T>(0.86602540378443864676);
  const T sr = r[1] + r[2], si = i[1] + i[2];
  const T dr = kSin * (r[1] - r[2]), di = kSin * (i[1] - i[2]);
  const T mr = r[0] - sr / 2, mi = i[0] - si / 2;
  r[0] += sr;
  i[0] += si;
  r[1] = mr + di;
  i[1] = mi - dr;
  r[2] = mr - di;
  i[2] = mi + dr;
}

template <typename T>
PJRT_INLINE void Butterfly4(T* r, T* i) {
  const T ar = r[0] + r[2], ai = i[0] + i[2], br = r[0] - r[2], bi = i[0] - i[2];
  const T cr = r[1] + r[3], ci = i[1] + i[3], dr = r[1] - r[3], di = i[1] - i[3];
  r[0] = ar + cr;
  i[0] = ai + ci;
  r[1] = br + di;
  i[1] = bi - dr;
  r[2] = ar - cr;
  i[2] = ai - ci;
  r[3] = br - di;
  i[3] = bi + dr;
}

template <typename T>
PJRT_INLINE void Butterfly5(T* r, T* i) {
  constexpr T kCos1 = static_cast<T>(0.30901699437494742410),
              kCos2 = static_cast<T>(-0.80901699437494742410);
  constexpr T kSin1 = static_cast<T>(0.95105651629515357212),
              kSin2 = static_cast<T>(0.58778525229247312917);
  const T s1r = r[1] + r[4], s1i = i[1] + i[4], d1r = r[1] - r[4], d1i = i[1] - i[4];
  const T s2r = r[2] + r[3], s2i = i[2] + i[3], d2r = r[2] - r[3], d2i = i[2] - i[3];
  const T m1r = r[0] + kCos1 * s1r + kCos2 * s2r, m1i = i[0] + kCos1 * s1i + kCos2 * s2i;
  const T m2r = r[0] + kCos2 * s1r + kCos1 * s2r, m2i = i[0] + kCos2 * s1i + kCos1 * s2i;
  const T n1r = kSin1 * d1r + kSin2 * d2r, n1i = kSin1 * d1i + kSin2 * d2i;
  const T n2r = kSin2 * d1r - kSin1 * d2r, n2i = kSin2 * d1i - kSin1 * d2i;
  r[0] += s1r + s2r;
  i[0] += s1i + s2i;
  r[1] = m1r + n1i;
  i[1] = m1i - n1r;
  r[4] = m1r - n1i;
  i[4] = m1i + n1r;
  r[2] = m2r + n2i;
  i[2] = m2i - n2r;
  r[3] = m2r - n2i;
  i[3] = m2i + n2r;
}

// Odd primes: sums and differences of legs k and R - k take cosines and sines. matrix: re, im of
// the R-th roots.
template <int R, typename T>
PJRT_INLINE void ButterflyPrime(T* r, T* i, const T* matrix) {
  constexpr int kHalf = (R - 1) / 2;
  T sr[kHalf + 1], si[kHalf + 1], dr[kHalf + 1], di[kHalf + 1];
  const T r0 = r[0], i0 = i[0];
  PJRT_UNROLL_RADIX
  for (int k = 1; k <= kHalf; ++k) {
    sr[k] = r[k] + r[R - k];
    si[k] = i[k] + i[R - k];
    dr[k] = r[k] - r[R - k];
    di[k] = i[k] - i[R - k];
    r[0] += sr[k];
    i[0] += si[k];
  }
  PJRT_UNROLL_RADIX
  for (int j = 1; j <= kHalf; ++j) {
    T mr = r0, mi = i0, nr = 0, ni = 0;
    PJRT_UNROLL_RADIX
    for (int k = 1; k <= kHalf; ++k) {
      const T c = matrix[2 * (j * k % R)], s = matrix[2 * (j * k % R) + 1];
      mr += c * sr[k];
      mi += c * si[k];
      nr += s * dr[k];
      ni += s * di[k];
    }
    r[j] = mr - ni;
    i[j] = mi + nr;
    r[R - j] = mr + ni;
    i[R - j] = mi - nr;
  }
}

template <int R, typename T>
PJRT_INLINE void Butterfly(T* r, T* i, const T* matrix) {
  if constexpr (R == 2) Butterfly2(r, i);
  if constexpr (R == 3) Butterfly3(r, i);
  if constexpr (R == 4) Butterfly4(r, i);
  if constexpr (R == 5) Butterfly5(r, i);
  if constexpr (R > 5) ButterflyPrime<R>(r, i, matrix);
}

// --- Stages. Point q of group p and leg k is read at q + stride * (p + k * groups) and written at
// q + stride * (R * p + k). ---

// One group: `stride` butterflies with the same roots. kStride > 0: the stride, known to the
// compiler. Without roots they are 1.
template <int R, int kStride, bool kHasRoots, typename T>
PJRT_INLINE void Group(const T* __restrict xr, const T* __restrict xi, T* __restrict yr,
                       T* __restrict yi, int64_t leg, int64_t stride_in, const T* matrix,
                       const T* wr, const T* wi) {
  const int64_t stride = kStride > 0 ? kStride : stride_in;
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t q = 0; q < stride; ++q) {
    T r[R], i[R];
    PJRT_UNROLL_RADIX
    for (int k = 0; k < R; ++k) {
      r[k] = xr[q + k * leg];
      i[k] = xi[q + k * leg];
    }
    Butterfly<R>(r, i, matrix);
    yr[q] = r[0];
    yi[q] = i[0];
    PJRT_UNROLL_RADIX
    for (int k = 1; k < R; ++k) {
      yr[q + k * stride] = kHasRoots ? r[k] * wr[k] - i[k] * wi[k] : r[k];
      yi[q + k * stride] = kHasRoots ? r[k] * wi[k] + i[k] * wr[k] : i[k];
    }
  }
}

template <int R, int kStride, typename T>
void Groups(const T* xr, const T* xi, T* yr, T* yi, int64_t groups, int64_t stride, const T* roots,
            const T* matrix) {
  Group<R, kStride, false>(xr, xi, yr, yi, stride * groups, stride, matrix,
                           static_cast<const T*>(nullptr), static_cast<const T*>(nullptr));
  for (int64_t p = 1; p < groups; ++p) {
    T wr[R], wi[R];
    for (int k = 1; k < R; ++k) {
      wr[k] = roots[(2 * k - 2) * groups + p];
      wi[k] = roots[(2 * k - 1) * groups + p];
    }
    const int64_t from = p * stride, to = p * stride * R;
    Group<R, kStride, true>(xr + from, xi + from, yr + to, yi + to, stride * groups, stride, matrix,
                            wr, wi);
  }
}

// Stride 1: the loop is over groups, whose inputs and roots are contiguous.
template <int R, typename T>
void FirstStage(const T* __restrict xr, const T* __restrict xi, T* __restrict yr, T* __restrict yi,
                int64_t groups, const T* __restrict roots, const T* __restrict matrix) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t p = 0; p < groups; ++p) {
    T r[R], i[R];
    PJRT_UNROLL_RADIX
    for (int k = 0; k < R; ++k) {
      r[k] = xr[p + k * groups];
      i[k] = xi[p + k * groups];
    }
    Butterfly<R>(r, i, matrix);
    yr[R * p] = r[0];
    yi[R * p] = i[0];
    PJRT_UNROLL_RADIX
    for (int k = 1; k < R; ++k) {
      const T wr = roots[(2 * k - 2) * groups + p], wi = roots[(2 * k - 1) * groups + p];
      yr[R * p + k] = r[k] * wr - i[k] * wi;
      yi[R * p + k] = r[k] * wi + i[k] * wr;
    }
  }
}

template <int R, typename T>
void RunStage(const T* xr, const T* xi, T* yr, T* yi, int64_t groups, int64_t stride,
              const T* roots, const T* matrix) {
  if (stride == 1) return FirstStage<R>(xr, xi, yr, yi, groups, roots, matrix);
  if constexpr (R <= 5) {
    if (stride == 4) return Groups<R, 4>(xr, xi, yr, yi, groups, stride, roots, matrix);
    if (stride == 8) return Groups<R, 8>(xr, xi, yr, yi, groups, stride, roots, matrix);
    if (stride == 16) return Groups<R, 16>(xr, xi, yr, yi, groups, stride, roots, matrix);
  }
  Groups<R, 0>(xr, xi, yr, yi, groups, stride, roots, matrix);
}

// --- Numbers with their parts side by side, and what is done to parts in arrays of their own. ---

template <typename T>
void Split(T* __restrict re, T* __restrict im, const T* __restrict from, int64_t n) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    re[i] = from[2 * i];
    im[i] = from[2 * i + 1];
  }
}

template <typename T>
void Join(T* __restrict to, const T* __restrict re, const T* __restrict im, T scale, int64_t n) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    to[2 * i] = re[i] * scale;
    to[2 * i + 1] = im[i] * scale;
  }
}

template <typename T>
void Multiply(T* __restrict re, T* __restrict im, const T* __restrict wr, const T* __restrict wi,
              int64_t n) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const T r = re[i], s = im[i];
    re[i] = r * wr[i] - s * wi[i];
    im[i] = r * wi[i] + s * wr[i];
  }
}

// z = even + i odd, each the transform of a real line: even = (z[k] + conj z[h - k]) / 2, odd =
// (z[k] - conj z[h - k]) / 2i; the whole is even + w^k odd, here twice that.
template <typename T>
void HalfFromWhole(T* __restrict re, T* __restrict im, const T* __restrict zr,
                   const T* __restrict zi, T wr, T wi, const T* __restrict yr,
                   const T* __restrict yi, int64_t n) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t c = 0; c < n; ++c) {
    const T er = zr[c] + yr[c], ei = zi[c] - yi[c];
    const T dr = zi[c] + yi[c], di = yr[c] - zr[c];
    re[c] = er + (wr * dr - wi * di);
    im[c] = ei + (wr * di + wi * dr);
  }
}
template <typename T>
void WholeFromHalf(T* __restrict re, T* __restrict im, const T* __restrict xr,
                   const T* __restrict xi, T wr, T wi, const T* __restrict yr,
                   const T* __restrict yi, int64_t n) {
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t c = 0; c < n; ++c) {
    const T er = xr[c] + yr[c], ei = xi[c] - yi[c], dr = xr[c] - yr[c], di = xi[c] + yi[c];
    re[c] = er - (di * wr - dr * wi);
    im[c] = ei + (dr * wr + di * wi);
  }
}

template <typename T>
void Fill(FftKernelsOf<T>* k) {
  k->stage[2] = RunStage<2, T>;
  k->stage[3] = RunStage<3, T>;
  k->stage[4] = RunStage<4, T>;
  k->stage[5] = RunStage<5, T>;
  k->stage[7] = RunStage<7, T>;
  k->stage[11] = RunStage<11, T>;
  k->stage[13] = RunStage<13, T>;
  k->stage[17] = RunStage<17, T>;
  k->split = Split<T>;
  k->join = Join<T>;
  k->multiply = Multiply<T>;
  k->half_from_whole = HalfFromWhole<T>;
  k->whole_from_half = WholeFromHalf<T>;
}

}  // namespace

const FftKernels* GetFftKernels() {
  static const FftKernels kernels = [] {
    FftKernels k{};
    Fill(&k.f32);
    Fill(&k.f64);
    return k;
  }();
  return &kernels;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
