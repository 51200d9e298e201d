// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/linalg_iterations.h"

#include <algorithm>
#include <limits>

namespace pjrt::cpu {
namespace {

constexpr double kTiny = std::numeric_limits<double>::min();
// Sweeps that an eigenvalue or singular value may take; two or three are usual.
constexpr int kMaxSweeps = 60;
// After as many for one eigenvalue, what does not count in the whole matrix counts as zero.
constexpr int kPatientSweeps = 15;

// The smaller singular value of ((f, g), (0, h)).
double SmallerSingularValue(double f, double g, double h) {
  f = std::abs(f);
  g = std::abs(g);
  h = std::abs(h);
  const double small = std::min(f, h), large = std::max(f, h);
  if (small == 0) return 0;
  const double scale = std::max(large, g);
  const double a = small / scale, b = large / scale, c = g / scale;
  // With the larger one the product is f h and the sum of squares f^2 + g^2 + h^2.
  const double plus = std::hypot(b + a, c), minus = std::hypot(b - a, c);
  return 2 * a * (b / (plus + minus)) * scale;
}

// The iteration on a bidiagonal matrix: its state, and a sweep in each direction over an unreduced
// block of rows first to last.
class BidiagonalIteration {
 public:
  BidiagonalIteration(int64_t n, double* d, double* e,
                      absl::FunctionRef<void(const RotationSweep&)> left,
                      absl::FunctionRef<void(const RotationSweep&)> right)
      : d_(d), e_(e), left_(left), right_(right) {
    for (std::vector<double>* v : {&left_c_, &left_s_, &right_c_, &right_s_}) {
      v->resize(static_cast<size_t>(n));
    }
  }

  void Sweep(int64_t first, int64_t last, double epsilon) {
    // The chase goes from the larger end to the smaller one.
    if (std::abs(d_[first]) >= std::abs(d_[last])) {
      const double shift = Shift(d_[first], d_[last - 1], e_[last - 1], d_[last], epsilon);
      shift == 0 ? DownUnshifted(first, last) : Down(first, last, shift);
    } else {
      const double shift = Shift(d_[last], d_[first], e_[first], d_[first + 1], epsilon);
      shift == 0 ? UpUnshifted(first, last) : Up(first, last, shift);
    }
  }

 private:
  // The shift for a block, 0 where it would not count or would spoil small singular values.
  static double Shift(double large, double f, double g, double h, double epsilon) {
    const double shift = SmallerSingularValue(f, g, h);
    const double ratio = shift / std::abs(large);
    return large == 0 || ratio * ratio < epsilon ? 0 : shift;
  }
  static double Start(double d, double shift) {
    return (std::abs(d) - shift) * (std::copysign(1.0, d) + shift / d);
  }

  void Set(int64_t i, const Rotation& right, const Rotation& left) {
    right_c_[static_cast<size_t>(i)] = right.c;
    right_s_[static_cast<size_t>(i)] = right.s;
    left_c_[static_cast<size_t>(i)] = left.c;
    left_s_[static_cast<size_t>(i)] = left.s;
  }
  void Hand(int64_t first, int64_t count, bool backward) {
    right_({first, count, right_c_.data(), right_s_.data(), backward});
    left_({first, count, left_c_.data(), left_s_.data(), backward});
  }

  void Down(int64_t first, int64_t last, double shift) {
    double f = Start(d_[first], shift), g = e_[first];
    for (int64_t k = first; k < last; ++k) {
      const Rotation right = MakeRotation(f, g);
      if (k > first) e_[k - 1] = right.r;
      f = right.c * d_[k] + right.s * e_[k];
      e_[k] = right.c * e_[k] - right.s * d_[k];
      g = right.s * d_[k + 1];
      d_[k + 1] *= right.c;
      const Rotation left = MakeRotation(f, g);
      d_[k] = left.r;
      f = left.c * e_[k] + left.s * d_[k + 1];
      d_[k + 1] = left.c * d_[k + 1] - left.s * e_[k];
      if (k + 1 < last) {
        g = left.s * e_[k + 1];
        e_[k + 1] *= left.c;
      }
      Set(k - first, right, left);
    }
    e_[last - 1] = f;
    Hand(first, last - first, /*backward=*/false);
  }

  // Without a shift no term is subtracted, which keeps all digits of small singular values.
  void DownUnshifted(int64_t first, int64_t last) {
    Rotation right{1, 0, 0}, left{1, 0, 0};
    for (int64_t k = first; k < last; ++k) {
      const double before = left.s;
      right = MakeRotation(d_[k] * right.c, e_[k]);
      if (k > first) e_[k - 1] = before * right.r;
      left = MakeRotation(left.c * right.r, d_[k + 1] * right.s);
      d_[k] = left.r;
      Set(k - first, right, left);
    }
    const double end = d_[last] * right.c;
    d_[last] = end * left.c;
    e_[last - 1] = end * left.s;
    Hand(first, last - first, /*backward=*/false);
  }

  // From the last row up, the roles of the sides change. The rotations of a pair then go from the
  // second vector to the first: s changes its sign.
  void Up(int64_t first, int64_t last, double shift) {
    double f = Start(d_[last], shift), g = e_[last - 1];
    for (int64_t k = last; k > first; --k) {
      const Rotation left = MakeRotation(f, g);
      if (k < last) e_[k] = left.r;
      f = left.c * d_[k] + left.s * e_[k - 1];
      e_[k - 1] = left.c * e_[k - 1] - left.s * d_[k];
      g = left.s * d_[k - 1];
      d_[k - 1] *= left.c;
      const Rotation right = MakeRotation(f, g);
      d_[k] = right.r;
      f = right.c * e_[k - 1] + right.s * d_[k - 1];
      d_[k - 1] = right.c * d_[k - 1] - right.s * e_[k - 1];
      if (k - 1 > first) {
        g = right.s * e_[k - 2];
        e_[k - 2] *= right.c;
      }
      Set(k - 1 - first, {right.c, -right.s, 0}, {left.c, -left.s, 0});
    }
    e_[first] = f;
    Hand(first, last - first, /*backward=*/true);
  }

  void UpUnshifted(int64_t first, int64_t last) {
    Rotation left{1, 0, 0}, right{1, 0, 0};
    for (int64_t k = last; k > first; --k) {
      const double before = right.s;
      left = MakeRotation(d_[k] * left.c, e_[k - 1]);
      if (k < last) e_[k] = before * left.r;
      right = MakeRotation(right.c * left.r, d_[k - 1] * left.s);
      d_[k] = right.r;
      Set(k - 1 - first, {right.c, -right.s, 0}, {left.c, -left.s, 0});
    }
    const double end = d_[first] * left.c;
    d_[first] = end * right.c;
    e_[first] = end * right.s;
    Hand(first, last - first, /*backward=*/true);
  }

  double* const d_;
  double* const e_;
  absl::FunctionRef<void(const RotationSweep&)> left_, right_;
  std::vector<double> left_c_, left_s_, right_c_, right_s_;
};

}  // namespace

bool DiagonalizeTridiagonal(int64_t n, double epsilon, std::vector<double>* diagonal,
                            std::vector<double>* off_diagonal,
                            absl::FunctionRef<void(const RotationSweep&)> rotate) {
  double* const d = diagonal->data();
  double* const e = off_diagonal->data();
  std::vector<double> c(static_cast<size_t>(n)), s(static_cast<size_t>(n));
  double norm = 0;
  for (int64_t i = 0; i < n; ++i) {
    norm = std::max(norm, std::abs(d[i]));
    if (i + 1 < n) norm = std::max(norm, std::abs(e[i]));
  }
  const auto negligible = [&](int64_t i, int sweeps) {
    const double size = sweeps > kPatientSweeps ? norm : std::abs(d[i]) + std::abs(d[i + 1]);
    return std::abs(e[i]) <= epsilon * size + kTiny;
  };
  for (int64_t first = 0; first < n; ++first) {
    for (int sweeps = 0;; ++sweeps) {
      int64_t last = first;
      while (last < n - 1 && !negligible(last, sweeps)) ++last;
      if (last == first) break;
      if (sweeps == kMaxSweeps) return false;
      // The eigenvalue of the leading 2 x 2 block that is closer to d[first].
      const double half = (d[first + 1] - d[first]) / (2 * e[first]);
      const double root = std::hypot(half, 1.0);
      double g = d[last] - d[first] + e[first] / (half + std::copysign(root, half));
      double cosine = 1, sine = 1, moved = 0;
      int64_t i = last - 1;
      for (; i >= first; --i) {
        const double f = sine * e[i], b = cosine * e[i];
        const Rotation rotation = MakeRotation(g, f);
        e[i + 1] = rotation.r;
        if (rotation.r == 0) break;
        cosine = rotation.c;
        sine = rotation.s;
        const double next = d[i + 1] - moved;
        const double t = (d[i] - next) * sine + 2 * cosine * b;
        moved = sine * t;
        d[i + 1] = next + moved;
        g = cosine * t - b;
        c[static_cast<size_t>(i)] = cosine;
        s[static_cast<size_t>(i)] = -sine;
      }
      e[last] = 0;
      const int64_t begin = i + 1;
      if (i >= first) {
        // The chase met a zero: the block falls apart here.
        d[begin] -= moved;
      } else {
        d[first] -= moved;
        e[first] = g;
      }
      rotate({begin, last - begin, c.data() + begin, s.data() + begin, /*backward=*/true});
    }
  }
  return true;
}

bool DiagonalizeBidiagonal(int64_t n, double epsilon, std::vector<double>* diagonal,
                           std::vector<double>* off_diagonal,
                           absl::FunctionRef<void(const RotationSweep&)> left,
                           absl::FunctionRef<void(const RotationSweep&)> right) {
  double* const d = diagonal->data();
  double* const e = off_diagonal->data();
  BidiagonalIteration iteration(n, d, e, left, right);
  const auto negligible = [&](int64_t i) {
    return std::abs(e[i]) <= epsilon * (std::abs(d[i]) + std::abs(d[i + 1])) + kTiny;
  };
  int64_t sweeps = kMaxSweeps * n;
  for (int64_t last = n - 1; last > 0;) {
    if (negligible(last - 1)) {
      e[last - 1] = 0;
      --last;
      continue;
    }
    if (sweeps-- == 0) return false;
    int64_t first = last - 1;
    while (first > 0 && !negligible(first - 1)) --first;
    iteration.Sweep(first, last, epsilon);
  }
  return true;
}

}  // namespace pjrt::cpu
