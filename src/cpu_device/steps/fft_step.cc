// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/fft_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr double kFftUnitNs = 20000;
// Numbers in flight that stay in a core's nearest caches, work area included.
constexpr int64_t kCachedPoints = 16384;
// Points of a line that are moved at a time where lines are laid side by side.
constexpr int64_t kPointsAtOnce = 64;

template <typename T>
class FftStep final : public Step {
 public:
  FftStep(const FftParams& params, const Kernels& kernels);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override {
    return 2 * data_bytes_ + fft_.WorkBytes(batch_) + tile_bytes();
  }

 private:
  void RunLines(const RunContext& context, int64_t first, int64_t lines, char* scratch) const;
  // Points of a line to x: point j of line c to j * lines + c; the points of a line are neighbours,
  // lines line_stride apart. And back, multiplied by `scale`.
  void LoadLines(const T* from, int64_t line_stride, int64_t points, int64_t lines,
                 SplitComplex<T> x, T* tile) const;
  void StoreLines(SplitComplex<T> x, int64_t points, int64_t lines, T scale, T* to,
                  int64_t line_stride, T* tile) const;
  // The same where the points of a line are apart, for dimensions before the last.
  void LoadColumns(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const;
  void StoreColumns(SplitComplex<T> x, T* to, int64_t first, int64_t lines) const;
  // Between the transform of a line and that of its halved form; `half` has one point more.
  void HalfFromWhole(SplitComplex<T> z, int64_t lines, SplitComplex<T> half) const;
  void WholeFromHalf(SplitComplex<T> half, int64_t lines, SplitComplex<T> z) const;
  void RunReal(const T* from, T* to, int64_t lines, SplitComplex<T> x, SplitComplex<T> half,
               char* work, T* tile) const;
  // The first number of a line of complex ones.
  int64_t LineBase(int64_t line) const {
    return line / p_.inner * p_.length * p_.inner + line % p_.inner;
  }
  int64_t tile_bytes() const {
    return AlignUp(2 * batch_ * kPointsAtOnce * static_cast<int64_t>(sizeof(T)));
  }

  const FftParams p_;
  const Transpose2dFn transpose_;
  // Even real lines are transformed as complex ones of half the length: even elements are the real
  // parts, odd ones the imaginary parts.
  const bool halved_;
  const Fft<T> fft_;
  std::vector<T> roots_;  // re, im of exp(-2 pi i k / n), k <= n / 2, for halved lines
  int64_t batch_ = 1, data_bytes_ = 0, batches_per_unit_ = 1;
};

template <typename T>
FftStep<T>::FftStep(const FftParams& params, const Kernels& kernels)
    : p_(params),
      transpose_(kernels.block->transpose_2d[sizeof(T) == 4 ? 2 : 3]),
      halved_(
          (params.kind == FftParams::kRealToComplex || params.kind == FftParams::kComplexToReal) &&
          params.length % 2 == 0),
      fft_(halved_ ? params.length / 2 : params.length, *kernels.fft) {
  for (int64_t k = 0; halved_ && k <= p_.length / 2; ++k) {
    const std::complex<double> w = RootOfUnity(k, p_.length);
    roots_.push_back(static_cast<T>(w.real()));
    roots_.push_back(static_cast<T>(w.imag()));
  }
  // Lines side by side make every stage vector code. Where a line's own elements are apart they
  // also share cache lines.
  batch_ = std::min(
      {fft_.max_lines(), p_.lines,
       p_.inner > 1 ? Fft<T>::kMaxLines : std::max<int64_t>(1, kCachedPoints / fft_.length())});
  if (batch_ < 4) batch_ = p_.inner > 1 ? batch_ : 1;
  data_bytes_ = AlignUp(2 * (fft_.length() + 1) * batch_ * static_cast<int64_t>(sizeof(T)));
  const int64_t batches = CeilDiv(p_.lines, batch_);
  batches_per_unit_ = std::max<int64_t>(
      1,
      static_cast<int64_t>(kFftUnitNs * static_cast<double>(batches) / std::max(1.0, cost_ns())));
}

template <typename T>
double FftStep<T>::cost_ns() const {
  const double n = static_cast<double>(fft_.length());
  const double flops = fft_.max_lines() == 1 ? 80 * n * std::log2(2 * n) : 5 * n * std::log2(2 * n);
  return 50 + static_cast<double>(p_.lines) * (flops / 4 + 2 * n);
}

template <typename T>
std::string FftStep<T>::Describe() const {
  static constexpr const char* kNames[] = {"fft", "ifft", "rfft", "irfft"};
  return absl::StrCat(kNames[p_.kind], sizeof(T) == 8 ? " f64 " : " f32 ", p_.lines, " lines of ",
                      p_.length);
}

template <typename T>
absl::Status FftStep<T>::Run(const RunContext& context) const {
  const int64_t lines_per_unit = batch_ * batches_per_unit_;
  const int64_t units = CeilDiv(p_.lines, lines_per_unit);
  const auto run = [&](int64_t unit, int member) {
    const int64_t end = std::min(p_.lines, (unit + 1) * lines_per_unit);
    for (int64_t line = unit * lines_per_unit; line < end; line += batch_) {
      RunLines(context, line, std::min(batch_, end - line), context.member_scratch(member));
    }
  };
  if (units > 1 && context.team != nullptr) {
    context.team->ParallelFor(units, run);
  } else {
    for (int64_t unit = 0; unit < units; ++unit) run(unit, 0);
  }
  return absl::OkStatus();
}

template <typename T>
void FftStep<T>::RunLines(const RunContext& context, int64_t first, int64_t lines,
                          char* scratch) const {
  const T* from = reinterpret_cast<const T*>(context.buffer(p_.from));
  T* to = reinterpret_cast<T*>(context.buffer(p_.to));
  const int64_t n = fft_.length();
  SplitComplex<T> x{reinterpret_cast<T*>(scratch), reinterpret_cast<T*>(scratch) + n * lines};
  T* const second = reinterpret_cast<T*>(scratch + data_bytes_);
  const SplitComplex<T> half{second, second + (n + 1) * lines};
  char* const work = scratch + 2 * data_bytes_;
  T* const tile = reinterpret_cast<T*>(work + fft_.WorkBytes(batch_));
  if (p_.kind == FftParams::kRealToComplex) {
    const int64_t result = p_.length / 2 + 1;
    return RunReal(from + first * p_.length, to + first * 2 * result, lines, x, half, work, tile);
  }
  if (p_.kind == FftParams::kComplexToReal) {
    const int64_t operand = p_.length / 2 + 1;
    return RunReal(from + first * 2 * operand, to + first * p_.length, lines, x, half, work, tile);
  }
  if (p_.inner == 1) {
    LoadLines(from + 2 * first * n, n, n, lines, x, tile);
  } else {
    LoadColumns(from, x, first, lines);
  }
  const bool inverse = p_.kind == FftParams::kInverse;
  x = inverse ? fft_.Forward(x.Swapped(), work, lines).Swapped() : fft_.Forward(x, work, lines);
  if (p_.inner == 1) {
    StoreLines(x, n, lines, static_cast<T>(p_.scale), to + 2 * first * n, n, tile);
  } else {
    StoreColumns(x, to, first, lines);
  }
}

template <typename T>
void FftStep<T>::LoadLines(const T* from, int64_t line_stride, int64_t points, int64_t lines,
                           SplitComplex<T> x, T* tile) const {
  if (lines == 1) return fft_.kernels().split(x.re, x.im, from, points);
  T* const imaginary = tile + lines * kPointsAtOnce;
  for (int64_t j = 0; j < points; j += kPointsAtOnce) {
    const int64_t n = std::min(kPointsAtOnce, points - j);
    for (int64_t c = 0; c < lines; ++c)
      fft_.kernels().split(tile + c * kPointsAtOnce, imaginary + c * kPointsAtOnce,
                           from + 2 * (c * line_stride + j), n);
    transpose_(x.re + j * lines, lines, tile, kPointsAtOnce, lines, n);
    transpose_(x.im + j * lines, lines, imaginary, kPointsAtOnce, lines, n);
  }
}

template <typename T>
void FftStep<T>::StoreLines(SplitComplex<T> x, int64_t points, int64_t lines, T scale, T* to,
                            int64_t line_stride, T* tile) const {
  if (lines == 1) return fft_.kernels().join(to, x.re, x.im, scale, points);
  T* const imaginary = tile + lines * kPointsAtOnce;
  for (int64_t j = 0; j < points; j += kPointsAtOnce) {
    const int64_t n = std::min(kPointsAtOnce, points - j);
    transpose_(tile, kPointsAtOnce, x.re + j * lines, lines, n, lines);
    transpose_(imaginary, kPointsAtOnce, x.im + j * lines, lines, n, lines);
    for (int64_t c = 0; c < lines; ++c)
      fft_.kernels().join(to + 2 * (c * line_stride + j), tile + c * kPointsAtOnce,
                          imaginary + c * kPointsAtOnce, scale, n);
  }
}

template <typename T>
void FftStep<T>::LoadColumns(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const {
  // Runs of neighbouring lines.
  for (int64_t c = 0; c < lines;) {
    const int64_t run = std::min(lines - c, p_.inner - (first + c) % p_.inner);
    const T* const at = from + 2 * LineBase(first + c);
    for (int64_t j = 0; j < p_.length; ++j)
      fft_.kernels().split(x.re + j * lines + c, x.im + j * lines + c, at + 2 * j * p_.inner, run);
    c += run;
  }
}

template <typename T>
void FftStep<T>::StoreColumns(SplitComplex<T> x, T* to, int64_t first, int64_t lines) const {
  const T scale = static_cast<T>(p_.scale);
  for (int64_t c = 0; c < lines;) {
    const int64_t run = std::min(lines - c, p_.inner - (first + c) % p_.inner);
    T* const at = to + 2 * LineBase(first + c);
    for (int64_t j = 0; j < p_.length; ++j)
      fft_.kernels().join(at + 2 * j * p_.inner, x.re + j * lines + c, x.im + j * lines + c, scale,
                          run);
    c += run;
  }
}

template <typename T>
void FftStep<T>::HalfFromWhole(SplitComplex<T> z, int64_t lines, SplitComplex<T> half) const {
  const int64_t h = fft_.length();
  // Twice the values, as for all others.
  for (int64_t c = 0; c < lines; ++c) {
    const T re = z.re[c], im = z.im[c];
    half.re[c] = 2 * (re + im);
    half.re[h * lines + c] = 2 * (re - im);
    half.im[c] = half.im[h * lines + c] = 0;
  }
  for (int64_t k = 1; k < h; ++k) {
    const int64_t a = k * lines, b = (h - k) * lines;
    fft_.kernels().half_from_whole(half.re + a, half.im + a, z.re + a, z.im + a, roots_[2 * k],
                                   roots_[2 * k + 1], z.re + b, z.im + b, lines);
  }
}

template <typename T>
void FftStep<T>::WholeFromHalf(SplitComplex<T> half, int64_t lines, SplitComplex<T> z) const {
  const int64_t h = fft_.length();
  // Twice the inverse of HalfFromWhole's halves, because the halved transform is scaled by n as a
  // whole one is.
  for (int64_t c = 0; c < lines; ++c) {
    z.re[c] = half.re[c] + half.re[h * lines + c];
    z.im[c] = half.re[c] - half.re[h * lines + c];
  }
  for (int64_t k = 1; k < h; ++k) {
    const int64_t a = k * lines, b = (h - k) * lines;
    fft_.kernels().whole_from_half(z.re + a, z.im + a, half.re + a, half.im + a, roots_[2 * k],
                                   roots_[2 * k + 1], half.re + b, half.im + b, lines);
  }
}

// Real lines are along the last dimension.
template <typename T>
void FftStep<T>::RunReal(const T* from, T* to, int64_t lines, SplitComplex<T> x,
                         SplitComplex<T> half, char* work, T* tile) const {
  const int64_t n = p_.length, h = n / 2, points = fft_.length();
  const T scale = static_cast<T>(p_.scale);
  if (p_.kind == FftParams::kRealToComplex) {
    if (halved_) {
      LoadLines(from, points, points, lines, x, tile);
      HalfFromWhole(fft_.Forward(x, work, lines), lines, half);
      return StoreLines(half, h + 1, lines, scale / 2, to, h + 1, tile);
    }
    for (int64_t c = 0; c < lines; ++c) {
      for (int64_t j = 0; j < n; ++j) {
        x.re[j * lines + c] = from[c * n + j];
        x.im[j * lines + c] = 0;
      }
    }
    x = fft_.Forward(x, work, lines);
    for (int64_t c = 0; c < lines; ++c) x.im[c] = 0;
    return StoreLines(x, h + 1, lines, scale, to, h + 1, tile);
  }
  if (halved_) {
    LoadLines(from, h + 1, h + 1, lines, half, tile);
    WholeFromHalf(half, lines, x);
    x = fft_.Forward(x.Swapped(), work, lines).Swapped();
    return StoreLines(x, points, lines, scale, to, points, tile);
  }
  LoadLines(from, h + 1, h + 1, lines, half, tile);
  for (int64_t c = 0; c < lines; ++c) {
    x.re[c] = half.re[c];
    x.im[c] = 0;
    for (int64_t k = 1; k <= h; ++k) {
      const int64_t a = k * lines + c, b = (n - k) * lines + c;
      x.re[a] = x.re[b] = half.re[a];
      x.im[a] = half.im[a];
      x.im[b] = -half.im[a];
    }
  }
  x = fft_.Forward(x.Swapped(), work, lines).Swapped();
  for (int64_t c = 0; c < lines; ++c) {
    for (int64_t j = 0; j < n; ++j) to[c * n + j] = x.re[j * lines + c] * scale;
  }
}

}  // namespace

std::unique_ptr<Step> MakeFftStep(const FftParams& params, const Kernels& kernels) {
  if (params.is_double) return std::make_unique<FftStep<double>>(params, kernels);
  return std::make_unique<FftStep<float>>(params, kernels);
}

}  // namespace pjrt::cpu
