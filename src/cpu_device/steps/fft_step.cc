// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/fft_step.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

constexpr double kUnitNs = 20000;
// Numbers in flight that stay in a core's nearest caches, work area included.
constexpr int64_t kCachedPoints = 4096;

int64_t AlignUp(int64_t bytes) { return (bytes + 63) / 64 * 64; }

template <typename T>
class FftStep final : public Step {
 public:
  explicit FftStep(const FftParams& params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return data_bytes_ + fft_.WorkBytes(batch_); }

 private:
  void RunLines(const RunContext& context, int64_t first, int64_t lines, char* scratch) const;
  // fn(element j of line c, j * lines + c) for the elements of some lines of an array of complex
  // numbers.
  template <typename Number, typename Fn>
  void ForEachElement(Number* array, int64_t first, int64_t lines, Fn fn) const;

  void LoadComplex(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const;
  void LoadReal(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const;
  void LoadHalf(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const;
  void StoreComplex(SplitComplex<T> x, T* to, int64_t first, int64_t lines) const;
  void StoreHalf(SplitComplex<T> x, T* to, int64_t first, int64_t lines) const;
  void StoreReal(SplitComplex<T> x, T* to, int64_t first, int64_t lines) const;

  const FftParams p_;
  // Even real lines are transformed as complex ones of half the length: even elements are the real
  // parts, odd ones the imaginary parts.
  const bool halved_;
  const Fft<T> fft_;
  std::vector<T> roots_;  // re, im of exp(-2 pi i k / n), k <= n / 2, for halved lines
  int64_t batch_ = 1, data_bytes_ = 0, batches_per_unit_ = 1;
};

template <typename T>
FftStep<T>::FftStep(const FftParams& params)
    : p_(params),
      halved_(
          (params.kind == FftParams::kRealToComplex || params.kind == FftParams::kComplexToReal) &&
          params.length % 2 == 0),
      fft_(halved_ ? params.length / 2 : params.length) {
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
  data_bytes_ = AlignUp(2 * fft_.length() * batch_ * static_cast<int64_t>(sizeof(T)));
  const int64_t batches = (p_.lines + batch_ - 1) / batch_;
  batches_per_unit_ = std::max<int64_t>(
      1, static_cast<int64_t>(kUnitNs * static_cast<double>(batches) / std::max(1.0, cost_ns())));
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
  const int64_t units = (p_.lines + lines_per_unit - 1) / lines_per_unit;
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
  SplitComplex<T> x{reinterpret_cast<T*>(scratch),
                    reinterpret_cast<T*>(scratch) + fft_.length() * lines};
  char* const work = scratch + data_bytes_;
  switch (p_.kind) {
    case FftParams::kForward:
      LoadComplex(from, x, first, lines);
      return StoreComplex(fft_.Forward(x, work, lines), to, first, lines);
    case FftParams::kInverse:
      LoadComplex(from, x, first, lines);
      return StoreComplex(fft_.Forward(x.Swapped(), work, lines).Swapped(), to, first, lines);
    case FftParams::kRealToComplex:
      LoadReal(from, x, first, lines);
      return StoreHalf(fft_.Forward(x, work, lines), to, first, lines);
    case FftParams::kComplexToReal:
      LoadHalf(from, x, first, lines);
      return StoreReal(fft_.Forward(x.Swapped(), work, lines).Swapped(), to, first, lines);
  }
}

template <typename T>
template <typename Number, typename Fn>
void FftStep<T>::ForEachElement(Number* array, int64_t first, int64_t lines, Fn fn) const {
  const int64_t inner = p_.inner, count = p_.length;
  const auto base = [&](int64_t line) { return line / inner * count * inner + line % inner; };
  if (inner > 1 && first % inner + lines <= inner) {
    Number* const at = array + base(first);
    for (int64_t j = 0; j < count; ++j) {
      for (int64_t c = 0; c < lines; ++c) fn(at + j * inner + c, j * lines + c);
    }
    return;
  }
  for (int64_t c = 0; c < lines; ++c) {
    Number* const at = array + base(first + c);
    for (int64_t j = 0; j < count; ++j) fn(at + j * inner, j * lines + c);
  }
}

template <typename T>
void FftStep<T>::LoadComplex(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const {
  struct Pair {
    T re, im;
  };
  ForEachElement(reinterpret_cast<const Pair*>(from), first, lines,
                 [x](const Pair* element, int64_t index) {
                   x.re[index] = element->re;
                   x.im[index] = element->im;
                 });
}

template <typename T>
void FftStep<T>::StoreComplex(SplitComplex<T> x, T* to, int64_t first, int64_t lines) const {
  struct Pair {
    T re, im;
  };
  const T scale = static_cast<T>(p_.scale);
  ForEachElement(reinterpret_cast<Pair*>(to), first, lines,
                 [x, scale](Pair* element, int64_t index) {
                   element->re = x.re[index] * scale;
                   element->im = x.im[index] * scale;
                 });
}

// Real lines are along the last dimension: inner is 1.

template <typename T>
void FftStep<T>::LoadReal(const T* from, SplitComplex<T> x, int64_t first, int64_t lines) const {
  const int64_t n = fft_.length();
  for (int64_t c = 0; c < lines; ++c) {
    const T* line = from + (first + c) * p_.length;
    for (int64_t j = 0; j < n; ++j) {
      x.re[j * lines + c] = halved_ ? line[2 * j] : line[j];
      x.im[j * lines + c] = halved_ ? line[2 * j + 1] : T{0};
    }
  }
}

template <typename T>
void FftStep<T>::StoreHalf(SplitComplex<T> z, T* to, int64_t first, int64_t lines) const {
  const int64_t h = p_.length / 2;
  const T scale = static_cast<T>(p_.scale);
  for (int64_t c = 0; c < lines; ++c) {
    T* line = to + (first + c) * 2 * (h + 1);
    if (!halved_) {
      for (int64_t k = 0; k <= h; ++k) {
        line[2 * k] = z.re[k * lines + c] * scale;
        line[2 * k + 1] = k == 0 ? T{0} : z.im[k * lines + c] * scale;
      }
      continue;
    }
    // z = even + i odd, each the transform of a real line: even = (z[k] + conj z[h - k]) / 2, odd =
    // (z[k] - conj z[h - k]) / 2i.
    const T re0 = z.re[c], im0 = z.im[c];
    line[0] = (re0 + im0) * scale;
    line[1] = 0;
    line[2 * h] = (re0 - im0) * scale;
    line[2 * h + 1] = 0;
    const T half_scale = scale / 2;
    for (int64_t k = 1; k < h; ++k) {
      const int64_t a = k * lines + c, b = (h - k) * lines + c;
      const T er = z.re[a] + z.re[b], ei = z.im[a] - z.im[b];
      const T dr = z.im[a] + z.im[b], di = z.re[b] - z.re[a];
      const T wr = roots_[2 * k], wi = roots_[2 * k + 1];
      line[2 * k] = (er + (wr * dr - wi * di)) * half_scale;
      line[2 * k + 1] = (ei + (wr * di + wi * dr)) * half_scale;
    }
  }
}

template <typename T>
void FftStep<T>::LoadHalf(const T* from, SplitComplex<T> z, int64_t first, int64_t lines) const {
  const int64_t h = p_.length / 2;
  for (int64_t c = 0; c < lines; ++c) {
    const T* line = from + (first + c) * 2 * (h + 1);
    if (!halved_) {
      z.re[c] = line[0];
      z.im[c] = 0;
      for (int64_t k = 1; k <= h; ++k) {
        const int64_t a = k * lines + c, b = (p_.length - k) * lines + c;
        z.re[a] = z.re[b] = line[2 * k];
        z.im[a] = line[2 * k + 1];
        z.im[b] = -line[2 * k + 1];
      }
      continue;
    }
    // Twice the inverse of StoreHalf, because the halved transform is scaled by n as a whole one
    // is.
    z.re[c] = line[0] + line[2 * h];
    z.im[c] = line[0] - line[2 * h];
    for (int64_t k = 1; k < h; ++k) {
      const T* x = line + 2 * k;
      const T* y = line + 2 * (h - k);
      const T er = x[0] + y[0], ei = x[1] - y[1], dr = x[0] - y[0], di = x[1] + y[1];
      const T wr = roots_[2 * k], wi = roots_[2 * k + 1];
      const T odd_re = dr * wr + di * wi, odd_im = di * wr - dr * wi;
      z.re[k * lines + c] = er - odd_im;
      z.im[k * lines + c] = ei + odd_re;
    }
  }
}

template <typename T>
void FftStep<T>::StoreReal(SplitComplex<T> z, T* to, int64_t first, int64_t lines) const {
  const int64_t n = fft_.length();
  const T scale = static_cast<T>(p_.scale);
  for (int64_t c = 0; c < lines; ++c) {
    T* line = to + (first + c) * p_.length;
    for (int64_t j = 0; j < n; ++j) {
      if (halved_) {
        line[2 * j] = z.re[j * lines + c] * scale;
        line[2 * j + 1] = z.im[j * lines + c] * scale;
      } else {
        line[j] = z.re[j * lines + c] * scale;
      }
    }
  }
}

}  // namespace

std::unique_ptr<Step> MakeFftStep(const FftParams& params) {
  if (params.is_double) return std::make_unique<FftStep<double>>(params);
  return std::make_unique<FftStep<float>>(params);
}

}  // namespace pjrt::cpu
