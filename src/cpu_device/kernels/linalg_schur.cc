// SPDX-License-Identifier: Apache-2.0
//
// The QR iteration on Hessenberg matrices: with single shifts for complex matrices, with pairs of
// shifts in real arithmetic for real ones.
#include "src/cpu_device/kernels/linalg_schur.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pjrt::cpu {
namespace {

// Steps that an eigenvalue may take. Every tenth step takes a shift that has nothing to do with the
// matrix, against cycles.
constexpr int kMaxSteps = 120;
constexpr int kUnusualStep = 10;
constexpr int kPatientSteps = 30;

// The first row of the unreduced block that ends at row `last`: subdiagonal elements that do not
// count beside their neighbours on the diagonal are set to zero. After many steps it is enough that
// they do not count in the matrix: a block of rounding errors may shrink for ever as a whole.
template <typename T>
int64_t FindBlock(int64_t n, int64_t last, RealOf<T> norm, int steps, T* h) {
  using R = RealOf<T>;
  int64_t first = last;
  for (; first > 0; --first) {
    T& below = h[first + (first - 1) * n];
    R size = OneNorm(h[first - 1 + (first - 1) * n]) + OneNorm(h[first + first * n]);
    if (size == 0 || steps > kPatientSteps) size = norm;
    if (OneNorm(below) <= std::numeric_limits<R>::epsilon() * size ||
        OneNorm(below) < std::numeric_limits<R>::min()) {
      below = T(0);
      break;
    }
  }
  return first;
}

template <typename T>
RealOf<T> LargestElement(int64_t n, const T* h) {
  RealOf<T> largest = 0;
  for (int64_t i = 0; i < n * n; ++i) largest = std::max(largest, OneNorm(h[i]));
  return largest;
}

// Complex matrices.

// Sets the rotation that makes (f, g) to (r, 0).
template <typename R>
void SetEliminating(std::complex<R> f, std::complex<R> g, PlaneRotation<std::complex<R>>* out) {
  const R f_size = std::hypot(f.real(), f.imag()), g_size = std::hypot(g.real(), g.imag());
  const R size = std::hypot(f_size, g_size);
  if (g_size == 0) {
    out->c = 1;
    out->s = 0;
  } else if (f_size == 0) {
    out->c = 0;
    out->s = std::conj(g) / g_size;
  } else {
    out->c = f_size / size;
    out->s = Times(f / f_size, std::conj(g) / size);
  }
}

// The eigenvalue of ((a, b), (c, d)) that is closer to d.
template <typename R>
std::complex<R> CloserEigenvalue(std::complex<R> a, std::complex<R> b, std::complex<R> c,
                                 std::complex<R> d) {
  using C = std::complex<R>;
  const C product = Times(b, c);
  if (product == C(0)) return d;
  const C half = (a - d) * R(0.5);
  C root = std::sqrt(Times(half, half) + product);
  if (half.real() * root.real() + half.imag() * root.imag() < 0) root = -root;
  const C sum = half + root;
  return sum == C(0) ? d : d - Quotient(product, sum);
}

template <typename R>
bool ComplexSchur(int64_t n, std::complex<R>* h, std::complex<R>* z) {
  using C = std::complex<R>;
  const auto at = [&](int64_t i, int64_t j) -> C& { return h[i + j * n]; };
  const R norm = LargestElement(n, h);
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    const int64_t first = FindBlock(n, last, norm, steps, h);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMaxSteps) return false;
    C shift;
    if (steps % kUnusualStep == 0) {
      shift = at(last, last) + C(OneNorm(at(last, last - 1)) * R(0.75));
    } else {
      shift = CloserEigenvalue(at(last - 1, last - 1), at(last - 1, last), at(last, last - 1),
                               at(last, last));
    }
    C f = at(first, first) - shift, g = at(first + 1, first);
    for (int64_t k = first; k < last; ++k) {
      PlaneRotation<C> rotation;
      SetEliminating(f, g, &rotation);
      const int64_t from = k > first ? k - 1 : k;
      RotateRows(rotation, n - from, &at(k, from), n);
      if (k > first) at(k + 1, k - 1) = C(0);
      RotateColumnsBack(rotation, std::min(k + 2, last) + 1, &at(0, k), n);
      if (z != nullptr) RotateColumnsBack(rotation, n, z + k * n, n);
      if (k + 1 < last) {
        f = at(k + 1, k);
        g = at(k + 2, k);
      }
    }
  }
  return true;
}

// Real matrices.

// The rotation that gives the block ((a, b), (c, d)) its standard form: c = 0 if the eigenvalues
// are real, else a = d.
template <typename R>
struct BlockRotation {
  PlaneRotation<R> rotation;
  bool real_eigenvalues;
};
template <typename R>
BlockRotation<R> StandardRotation(R a, R b, R c, R d) {
  if (c == 0) return {{}, true};
  const R half = (a - d) / 2;
  // Scaled, so that squares neither overflow nor vanish.
  const R scale = std::max({std::abs(half), std::abs(b), std::abs(c)});
  const R p = half / scale;
  const R discriminant = p * p + (b / scale) * (c / scale);
  if (discriminant >= 0) {
    // (z, c) is an eigenvector.
    const R z = scale * (p + std::copysign(std::sqrt(discriminant), p));
    const R size = std::hypot(z, c);
    return {{z / size, c / size}, true};
  }
  if (p == 0) return {{}, false};
  const R sum = (b + c) / scale, size = std::hypot(sum, 2 * p);
  const R cosine = std::sqrt((1 + std::abs(sum) / size) / 2);
  return {{cosine, -p * std::copysign(R(1), sum) / (size * cosine)}, false};
}

template <typename R>
class RealSchur {
 public:
  RealSchur(int64_t n, R* h, R* z) : n_(n), h_(h), z_(z) {}

  bool Run() {
    const R norm = LargestElement(n_, h_);
    int steps = 0;
    for (int64_t last = n_ - 1; last > 0;) {
      const int64_t first = FindBlock(n_, last, norm, steps, h_);
      if (first == last) {
        --last;
        steps = 0;
      } else if (first == last - 1) {
        Standardize(first);
        last -= 2;
        steps = 0;
      } else {
        if (++steps > kMaxSteps) return false;
        Step(first, last, steps % kUnusualStep == 0);
      }
    }
    return true;
  }

 private:
  R& At(int64_t i, int64_t j) { return h_[i + j * n_]; }

  void Rotate(int64_t i, const PlaneRotation<R>& rotation) {
    RotateRows(rotation, n_ - i, &At(i, i), n_);
    RotateColumnsBack(rotation, i + 2, &At(0, i), n_);
    if (z_ != nullptr) RotateColumnsBack(rotation, n_, z_ + i * n_, n_);
  }

  void Standardize(int64_t i) {
    // The second time for a block whose eigenvalues turn out to be real when its diagonal is equal.
    for (int pass = 0; pass < 2; ++pass) {
      R& a = At(i, i);
      R& b = At(i, i + 1);
      R& c = At(i + 1, i);
      R& d = At(i + 1, i + 1);
      const BlockRotation<R> standard = StandardRotation(a, b, c, d);
      Rotate(i, standard.rotation);
      if (standard.real_eigenvalues) {
        c = 0;
        return;
      }
      a = d = a + (d - a) / 2;
      if ((b > 0) != (c > 0) && b != 0 && c != 0) return;
    }
  }

  // The reflector 1 - tau v v^T, v = (1, v1, v2), that maps (x, y, z) to a multiple of (1, 0, 0).
  struct Reflector3 {
    R tau = 0, v1 = 0, v2 = 0, beta = 0;
  };
  static Reflector3 Reflect(R x, R y, R z) {
    const R scale = std::abs(x) + std::abs(y) + std::abs(z);
    if (scale == 0 || (y == 0 && z == 0)) return {0, 0, 0, x};
    x /= scale;
    y /= scale;
    z /= scale;
    const R beta = -std::copysign(std::sqrt(x * x + y * y + z * z), x);
    return {(beta - x) / beta, y / (x - beta), z / (x - beta), beta * scale};
  }

  // One step with two shifts, on the rows and columns from first to last.
  void Step(int64_t first, int64_t last, bool unusual) {
    R sum = At(last - 1, last - 1) + At(last, last);
    R product = At(last - 1, last - 1) * At(last, last) - At(last - 1, last) * At(last, last - 1);
    if (unusual) {
      const R size = std::abs(At(last, last - 1)) + std::abs(At(last - 1, last - 2));
      sum = R(1.5) * size;
      product = size * size;
    }
    // The first column of (H - s1)(H - s2) from row `begin` on, where the subdiagonal elements
    // before it are too small to be noticed.
    int64_t begin = last - 2;
    R x, y, z;
    for (;; --begin) {
      const R a = At(begin, begin), below = At(begin + 1, begin), next = At(begin + 1, begin + 1);
      x = (a * a - sum * a + product) + At(begin, begin + 1) * below;
      y = below * (a + next - sum);
      z = below * At(begin + 2, begin + 1);
      const R scale = std::abs(x) + std::abs(y) + std::abs(z);
      if (scale != 0) {
        x /= scale;
        y /= scale;
        z /= scale;
      }
      if (begin == first) break;
      const R above = At(begin - 1, begin - 1);
      if (std::abs(At(begin, begin - 1)) * (std::abs(y) + std::abs(z)) <=
          std::numeric_limits<R>::epsilon() * std::abs(x) *
              (std::abs(above) + std::abs(a) + std::abs(next))) {
        break;
      }
    }
    for (int64_t k = begin; k < last; ++k) {
      const bool three = k + 2 <= last;
      if (k > begin) {
        x = At(k, k - 1);
        y = At(k + 1, k - 1);
        z = three ? At(k + 2, k - 1) : R(0);
      }
      const Reflector3 r = Reflect(x, y, z);
      if (k > begin) {
        At(k, k - 1) = r.beta;
        At(k + 1, k - 1) = 0;
        if (three) At(k + 2, k - 1) = 0;
      } else if (k > first) {
        // What is left above the block is small enough for a change of sign to do.
        At(k, k - 1) *= 1 - r.tau;
      }
      if (r.tau == 0) continue;
      for (int64_t j = k; j < n_; ++j) {
        R* const p = &At(k, j);
        const R inner = r.tau * (p[0] + r.v1 * p[1] + (three ? r.v2 * p[2] : R(0)));
        p[0] -= inner;
        p[1] -= inner * r.v1;
        if (three) p[2] -= inner * r.v2;
      }
      ReflectColumns(r, three, std::min(k + 3, last) + 1, &At(0, k));
      if (z_ != nullptr) ReflectColumns(r, three, n_, z_ + k * n_);
    }
  }

  void ReflectColumns(const Reflector3& r, bool three, int64_t rows, R* p) const {
    R* const q = p + n_;
    if (!three) {
      for (int64_t i = 0; i < rows; ++i) {
        const R inner = r.tau * (p[i] + r.v1 * q[i]);
        p[i] -= inner;
        q[i] -= inner * r.v1;
      }
      return;
    }
    R* const s = q + n_;
    for (int64_t i = 0; i < rows; ++i) {
      const R inner = r.tau * (p[i] + r.v1 * q[i] + r.v2 * s[i]);
      p[i] -= inner;
      q[i] -= inner * r.v1;
      s[i] -= inner * r.v2;
    }
  }

  const int64_t n_;
  R* const h_;
  R* const z_;
};

}  // namespace

bool SchurFromHessenberg(int64_t n, float* h, float* z) { return RealSchur<float>(n, h, z).Run(); }
bool SchurFromHessenberg(int64_t n, double* h, double* z) {
  return RealSchur<double>(n, h, z).Run();
}
bool SchurFromHessenberg(int64_t n, std::complex<float>* h, std::complex<float>* z) {
  return ComplexSchur(n, h, z);
}
bool SchurFromHessenberg(int64_t n, std::complex<double>* h, std::complex<double>* z) {
  return ComplexSchur(n, h, z);
}

}  // namespace pjrt::cpu
