// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/fft.h"

#include <cmath>
#include <utility>

namespace pjrt::cpu {
namespace {

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // a loop that stays scalar is no error
#define PJRT_FFT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define PJRT_FFT_UNROLL _Pragma("unroll")
#else
#define PJRT_FFT_LOOP _Pragma("GCC ivdep")
#define PJRT_FFT_UNROLL _Pragma("GCC unroll 16")
#endif
#define PJRT_FFT_INLINE inline __attribute__((always_inline))

// The largest prime with a butterfly of its own.
constexpr int64_t kMaxRadix = 13;

int64_t AlignUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// --- Butterflies: (r[k], i[k]) becomes the transform of its R points. ---

template <typename T>
PJRT_FFT_INLINE void Butterfly2(T* r, T* i) {
  const T r0 = r[0], i0 = i[0];
  r[0] = r0 + r[1];
  i[0] = i0 + i[1];
  r[1] = r0 - r[1];
  i[1] = i0 - i[1];
}

template <typename T>
PJRT_FFT_INLINE void Butterfly3(T* r, T* i) {
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
PJRT_FFT_INLINE void Butterfly4(T* r, T* i) {
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
PJRT_FFT_INLINE void Butterfly5(T* r, T* i) {
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
PJRT_FFT_INLINE void ButterflyPrime(T* r, T* i, const T* matrix) {
  constexpr int kHalf = (R - 1) / 2;
  T sr[kHalf + 1], si[kHalf + 1], dr[kHalf + 1], di[kHalf + 1];
  const T r0 = r[0], i0 = i[0];
  PJRT_FFT_UNROLL
  for (int k = 1; k <= kHalf; ++k) {
    sr[k] = r[k] + r[R - k];
    si[k] = i[k] + i[R - k];
    dr[k] = r[k] - r[R - k];
    di[k] = i[k] - i[R - k];
    r[0] += sr[k];
    i[0] += si[k];
  }
  PJRT_FFT_UNROLL
  for (int j = 1; j <= kHalf; ++j) {
    T mr = r0, mi = i0, nr = 0, ni = 0;
    PJRT_FFT_UNROLL
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
PJRT_FFT_INLINE void Butterfly(T* r, T* i, const T* matrix) {
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
PJRT_FFT_INLINE void Group(const T* __restrict xr, const T* __restrict xi, T* __restrict yr,
                           T* __restrict yi, int64_t leg, int64_t stride_in, const T* matrix,
                           const T* wr, const T* wi) {
  const int64_t stride = kStride > 0 ? kStride : stride_in;
  PJRT_FFT_LOOP
  for (int64_t q = 0; q < stride; ++q) {
    T r[R], i[R];
    PJRT_FFT_UNROLL
    for (int k = 0; k < R; ++k) {
      r[k] = xr[q + k * leg];
      i[k] = xi[q + k * leg];
    }
    Butterfly<R>(r, i, matrix);
    yr[q] = r[0];
    yi[q] = i[0];
    PJRT_FFT_UNROLL
    for (int k = 1; k < R; ++k) {
      yr[q + k * stride] = kHasRoots ? r[k] * wr[k] - i[k] * wi[k] : r[k];
      yi[q + k * stride] = kHasRoots ? r[k] * wi[k] + i[k] * wr[k] : i[k];
    }
  }
}

template <int R, int kStride, typename T>
void Groups(SplitComplex<T> x, SplitComplex<T> y, int64_t groups, int64_t stride, const T* roots,
            const T* matrix) {
  Group<R, kStride, false>(x.re, x.im, y.re, y.im, stride * groups, stride, matrix,
                           static_cast<const T*>(nullptr), static_cast<const T*>(nullptr));
  for (int64_t p = 1; p < groups; ++p) {
    T wr[R], wi[R];
    for (int k = 1; k < R; ++k) {
      wr[k] = roots[(2 * k - 2) * groups + p];
      wi[k] = roots[(2 * k - 1) * groups + p];
    }
    const int64_t from = p * stride, to = p * stride * R;
    Group<R, kStride, true>(x.re + from, x.im + from, y.re + to, y.im + to, stride * groups, stride,
                            matrix, wr, wi);
  }
}

// Stride 1: the loop is over groups, whose inputs and roots are contiguous.
template <int R, typename T>
void FirstStage(const T* __restrict xr, const T* __restrict xi, T* __restrict yr, T* __restrict yi,
                int64_t groups, const T* __restrict roots, const T* __restrict matrix) {
  PJRT_FFT_LOOP
  for (int64_t p = 0; p < groups; ++p) {
    T r[R], i[R];
    PJRT_FFT_UNROLL
    for (int k = 0; k < R; ++k) {
      r[k] = xr[p + k * groups];
      i[k] = xi[p + k * groups];
    }
    Butterfly<R>(r, i, matrix);
    yr[R * p] = r[0];
    yi[R * p] = i[0];
    PJRT_FFT_UNROLL
    for (int k = 1; k < R; ++k) {
      const T wr = roots[(2 * k - 2) * groups + p], wi = roots[(2 * k - 1) * groups + p];
      yr[R * p + k] = r[k] * wr - i[k] * wi;
      yi[R * p + k] = r[k] * wi + i[k] * wr;
    }
  }
}

template <int R, typename T>
void RunStage(SplitComplex<T> x, SplitComplex<T> y, int64_t groups, int64_t stride, const T* roots,
              const T* matrix) {
  if (stride == 1) return FirstStage<R>(x.re, x.im, y.re, y.im, groups, roots, matrix);
  if constexpr (R <= 5) {
    if (stride == 4) return Groups<R, 4>(x, y, groups, stride, roots, matrix);
    if (stride == 8) return Groups<R, 8>(x, y, groups, stride, roots, matrix);
    if (stride == 16) return Groups<R, 16>(x, y, groups, stride, roots, matrix);
  }
  Groups<R, 0>(x, y, groups, stride, roots, matrix);
}

// The radices of n, or nothing when a prime factor is too large.
std::vector<int64_t> Radices(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 4 == 0; n /= 4) radices.push_back(4);
  for (int64_t r = 2; r <= kMaxRadix; ++r) {
    for (; n % r == 0; n /= r) radices.push_back(r);
  }
  if (n > 1) radices.clear();
  return radices;
}

}  // namespace

std::complex<double> RootOfUnity(int64_t k, int64_t n) {
  // Reflects the angle into the first eighth of the circle, where sine and cosine lose nothing.
  // Angles are counted in eighths of 1/n of the circle.
  int64_t a = 8 * k;
  const bool lower = a > 4 * n;
  if (lower) a = 8 * n - a;
  const bool left = a > 2 * n;
  if (left) a = 4 * n - a;
  const bool steep = a > n;
  if (steep) a = 2 * n - a;
  constexpr double kQuarterPi = 0.78539816339744830962;
  const double angle = kQuarterPi * static_cast<double>(a) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  return {left ? -c : c, lower ? s : -s};
}

// x[j] e^(-i pi j^2 / n) convolved with e^(i pi j^2 / n), by transforms of a power of two.
template <typename T>
struct Fft<T>::Bluestein {
  explicit Bluestein(int64_t n, int64_t m) : fft(m), chirp(2 * n), filter(2 * m) {
    std::vector<double> b(2 * m), work(fft.WorkBytes(1) / sizeof(double) + 8);
    const double scale = 1 / static_cast<double>(m);
    for (int64_t j = 0; j < n; ++j) {
      const std::complex<double> w =
          RootOfUnity(static_cast<int64_t>(static_cast<uint64_t>(j) * static_cast<uint64_t>(j) %
                                           static_cast<uint64_t>(2 * n)),
                      2 * n);
      chirp[j] = w.real();
      chirp[n + j] = w.imag();
      b[j] = scale * w.real();
      b[m + j] = -scale * w.imag();
      if (j > 0) {
        b[m - j] = b[j];
        b[2 * m - j] = b[m + j];
      }
    }
    const SplitComplex<double> done =
        fft.Forward({b.data(), b.data() + m}, reinterpret_cast<char*>(work.data()), 1);
    for (int64_t j = 0; j < m; ++j) {
      filter[j] = done.re[j];
      filter[m + j] = done.im[j];
    }
  }
  Fft<double> fft;
  std::vector<double> chirp, filter;  // real parts, then imaginary parts
};

template <typename T>
Fft<T>::Fft(int64_t n) : n_(n) {
  const std::vector<int64_t> radices = Radices(n);
  if (radices.empty() && n > 1) {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    bluestein_ = std::make_unique<Bluestein>(n, m);
    return;
  }
  int64_t rest = n;
  for (const int64_t radix : radices) {
    Stage stage{radix, rest / radix, {}, {}};
    stage.roots.resize(2 * (radix - 1) * stage.groups);
    for (int64_t k = 1; k < radix; ++k) {
      for (int64_t p = 0; p < stage.groups; ++p) {
        const std::complex<double> w = RootOfUnity(k * p, rest);
        stage.roots[(2 * k - 2) * stage.groups + p] = static_cast<T>(w.real());
        stage.roots[(2 * k - 1) * stage.groups + p] = static_cast<T>(w.imag());
      }
    }
    for (int64_t k = 0; k < radix && radix > 5; ++k) {
      const std::complex<double> w = RootOfUnity(k, radix);
      stage.matrix.push_back(static_cast<T>(w.real()));
      stage.matrix.push_back(static_cast<T>(w.imag()));
    }
    rest = stage.groups;
    stages_.push_back(std::move(stage));
  }
}

template <typename T>
Fft<T>::~Fft() = default;

template <typename T>
int64_t Fft<T>::WorkBytes(int64_t lines) const {
  if (bluestein_ == nullptr) return AlignUp(2 * n_ * lines * static_cast<int64_t>(sizeof(T)));
  const Fft<double>& fft = bluestein_->fft;
  return AlignUp(2 * fft.length() * static_cast<int64_t>(sizeof(double))) + fft.WorkBytes(1);
}

template <typename T>
SplitComplex<T> Fft<T>::Convolve(SplitComplex<T> x, char* work) const {
  const Fft<double>& fft = bluestein_->fft;
  const int64_t m = fft.length();
  SplitComplex<double> a{reinterpret_cast<double*>(work), reinterpret_cast<double*>(work) + m};
  char* const rest = work + AlignUp(2 * m * static_cast<int64_t>(sizeof(double)));
  const double *cr = bluestein_->chirp.data(), *ci = cr + n_;
  const double *fr = bluestein_->filter.data(), *fi = fr + m;
  for (int64_t j = 0; j < n_; ++j) {
    a.re[j] = x.re[j] * cr[j] - x.im[j] * ci[j];
    a.im[j] = x.re[j] * ci[j] + x.im[j] * cr[j];
  }
  for (int64_t j = n_; j < m; ++j) a.re[j] = a.im[j] = 0;
  SplitComplex<double> b = fft.Forward(a, rest, 1);
  for (int64_t j = 0; j < m; ++j) {
    const double re = b.re[j] * fr[j] - b.im[j] * fi[j], im = b.re[j] * fi[j] + b.im[j] * fr[j];
    b.re[j] = re;
    b.im[j] = im;
  }
  // The inverse transform works in whichever of the two areas does not hold its input.
  b = fft.Forward(b.Swapped(), b.re == a.re ? rest : work, 1).Swapped();
  for (int64_t j = 0; j < n_; ++j) {
    x.re[j] = static_cast<T>(b.re[j] * cr[j] - b.im[j] * ci[j]);
    x.im[j] = static_cast<T>(b.re[j] * ci[j] + b.im[j] * cr[j]);
  }
  return x;
}

template <typename T>
SplitComplex<T> Fft<T>::Forward(SplitComplex<T> x, char* work, int64_t lines) const {
  if (bluestein_ != nullptr) return Convolve(x, work);
  SplitComplex<T> y{reinterpret_cast<T*>(work), reinterpret_cast<T*>(work) + n_ * lines};
  int64_t stride = lines;
  for (const Stage& stage : stages_) {
    const auto run = stage.radix == 2    ? RunStage<2, T>
                     : stage.radix == 3  ? RunStage<3, T>
                     : stage.radix == 4  ? RunStage<4, T>
                     : stage.radix == 5  ? RunStage<5, T>
                     : stage.radix == 7  ? RunStage<7, T>
                     : stage.radix == 11 ? RunStage<11, T>
                                         : RunStage<13, T>;
    run(x, y, stage.groups, stride, stage.roots.data(), stage.matrix.data());
    stride *= stage.radix;
    std::swap(x, y);
  }
  return x;
}

template class Fft<float>;
template class Fft<double>;

}  // namespace pjrt::cpu
