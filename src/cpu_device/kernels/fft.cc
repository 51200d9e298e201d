// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/fft.h"

#include <cmath>
#include <utility>

#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// The radices of n, or nothing when a prime factor is too large.
std::vector<int64_t> Radices(int64_t n) {
  std::vector<int64_t> radices;
  for (; n % 4 == 0; n /= 4) radices.push_back(4);
  for (int64_t r = 2; r <= FftKernelsOf<float>::kMaxRadix; ++r) {
    for (; n % r == 0; n /= r) radices.push_back(r);
  }
  if (n > 1) radices.clear();
  return radices;
}

const FftKernelsOf<float>& KernelsFor(const FftKernels& kernels, float) { return kernels.f32; }
const FftKernelsOf<double>& KernelsFor(const FftKernels& kernels, double) { return kernels.f64; }

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
  Bluestein(int64_t n, int64_t m, const FftKernels& kernels)
      : fft(m, kernels), chirp(2 * n), filter(2 * m) {
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
Fft<T>::Fft(int64_t n, const FftKernels& kernels) : n_(n), kernels_(KernelsFor(kernels, T{})) {
  const std::vector<int64_t> radices = Radices(n);
  if (radices.empty() && n > 1) {
    int64_t m = 1;
    while (m < 2 * n - 1) m *= 2;
    bluestein_ = std::make_unique<Bluestein>(n, m, kernels);
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
    a.re[j] = x.re[j];
    a.im[j] = x.im[j];
  }
  for (int64_t j = n_; j < m; ++j) a.re[j] = a.im[j] = 0;
  fft.kernels().multiply(a.re, a.im, cr, ci, n_);
  SplitComplex<double> b = fft.Forward(a, rest, 1);
  fft.kernels().multiply(b.re, b.im, fr, fi, m);
  // The inverse transform works in whichever of the two areas does not hold its input.
  b = fft.Forward(b.Swapped(), b.re == a.re ? rest : work, 1).Swapped();
  fft.kernels().multiply(b.re, b.im, cr, ci, n_);
  for (int64_t j = 0; j < n_; ++j) {
    x.re[j] = static_cast<T>(b.re[j]);
    x.im[j] = static_cast<T>(b.im[j]);
  }
  return x;
}

template <typename T>
SplitComplex<T> Fft<T>::Forward(SplitComplex<T> x, char* work, int64_t lines) const {
  if (bluestein_ != nullptr) return Convolve(x, work);
  SplitComplex<T> y{reinterpret_cast<T*>(work), reinterpret_cast<T*>(work) + n_ * lines};
  int64_t stride = lines;
  for (const Stage& stage : stages_) {
    kernels_.stage[stage.radix](x.re, x.im, y.re, y.im, stage.groups, stride, stage.roots.data(),
                                stage.matrix.data());
    stride *= stage.radix;
    std::swap(x, y);
  }
  return x;
}

template class Fft<float>;
template class Fft<double>;

}  // namespace pjrt::cpu
