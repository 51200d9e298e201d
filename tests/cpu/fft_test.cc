// SPDX-License-Identifier: Apache-2.0
//
// fft against the sum that defines it, in long double.
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {
namespace {

using Long = std::complex<long double>;

// The transform along dimension `dim`: sign -1 forward, 1 inverse; not scaled.
std::vector<Long> Transform(const std::vector<Long>& x, const List64& dims, size_t dim, int sign) {
  const int64_t n = dims[dim];
  int64_t inner = 1;
  for (size_t d = dim + 1; d < dims.size(); ++d) inner *= dims[d];
  std::vector<Long> roots(n);
  for (int64_t k = 0; k < n; ++k) {
    const long double angle =
        2 * std::acos(-1.0L) * static_cast<long double>(k) / static_cast<long double>(n);
    roots[k] = Long(std::cos(angle), sign * std::sin(angle));
  }
  std::vector<Long> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t k = static_cast<int64_t>(i) / inner % n,
                  first = static_cast<int64_t>(i) - k * inner;
    long double re = 0, im = 0;
    for (int64_t j = 0, at = 0; j < n; ++j, at = at + k < n ? at + k : at + k - n) {
      const Long a = x[first + j * inner], w = roots[at];
      re += a.real() * w.real() - a.imag() * w.imag();
      im += a.real() * w.imag() + a.imag() * w.real();
    }
    y[i] = Long(re, im);
  }
  return y;
}

// Over the last `transformed` dimensions.
std::vector<Long> TransformAll(std::vector<Long> x, const List64& dims, size_t transformed,
                               int sign) {
  for (size_t d = dims.size() - transformed; d < dims.size(); ++d) x = Transform(x, dims, d, sign);
  if (sign > 0) {
    int64_t points = 1;
    for (size_t d = dims.size() - transformed; d < dims.size(); ++d) points *= dims[d];
    for (Long& value : x) value /= static_cast<long double>(points);
  }
  return x;
}

// Numbers in [-1, 1) that floats hold.
std::vector<double> RealNoise(int64_t count, uint32_t seed) {
  std::vector<double> values(count);
  for (double& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<double>(seed >> 8) * 0x1p-23 - 1;
  }
  return values;
}

template <typename T>
std::vector<std::complex<T>> ComplexNoise(int64_t count, uint32_t seed) {
  const std::vector<double> noise = RealNoise(2 * count, seed);
  std::vector<std::complex<T>> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = {static_cast<T>(noise[2 * i]), static_cast<T>(noise[2 * i + 1])};
  return values;
}

template <typename Number>
std::vector<Long> Widen(const std::vector<Number>& values) {
  std::vector<Long> wide;
  for (const Number& value : values) wide.push_back(Long(std::real(value), std::imag(value)));
  return wide;
}

template <typename Number>
constexpr const char* kElement = "f32";
template <>
constexpr const char* kElement<double> = "f64";
template <>
constexpr const char* kElement<std::complex<float>> = "complex<f32>";
template <>
constexpr const char* kElement<std::complex<double>> = "complex<f64>";

template <typename In, typename Out>
std::vector<Out> RunFft(PjRtClient& client, const std::string& type, const List64& in_dims,
                        const List64& out_dims, size_t transformed, const std::vector<In>& x) {
  const List64& real_dims = type == "IRFFT" ? out_dims : in_dims;
  const std::string in = TensorText(in_dims, kElement<In>),
                    out = TensorText(out_dims, kElement<Out>);
  const std::string length = absl::StrJoin(real_dims.end() - transformed, real_dims.end(), ", ");
  const Literal argument = Array<In>(in_dims, x);
  const auto results =
      RunProgram(client,
                 absl::StrCat("func.func @main(%x: ", in, ") -> ", out,
                              " {\n  %r = stablehlo.fft %x, type = ", type, ", length = [", length,
                              "] : (", in, ") -> ", out, "\n  return %r : ", out, "\n}\n"),
                 {&argument});
  EXPECT_TRUE(results.ok()) << results.status();
  return results.ok() ? Elements<Out>(*(*results)[0]) : std::vector<Out>(Product(out_dims));
}

// The error of the whole against its size: sqrt(sum |got - want|^2 / sum |want|^2), in units of the
// type's epsilon.
template <typename T, typename Number>
double RelativeError(const std::vector<Number>& got, const std::vector<Long>& want) {
  EXPECT_EQ(got.size(), want.size());
  if (got.size() != want.size()) return INFINITY;
  long double error = 0, size = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += std::norm(Long(std::real(got[i]), std::imag(got[i])) - want[i]);
    size += std::norm(want[i]);
  }
  return size == 0
             ? static_cast<double>(error)
             : static_cast<double>(std::sqrt(error / size)) / std::numeric_limits<T>::epsilon();
}

// Rounding errors of a good transform grow as the root of the number of its stages.
constexpr double kFewEpsilons = 2.0;

// What the four kinds should give for an array of noise, which floats hold exactly.
struct ExpectedTransforms {
  List64 dims, half_dims;
  size_t transformed;
  std::vector<Long> forward, inverse, half;

  ExpectedTransforms(List64 dims_in, size_t transformed_in)
      : dims(dims_in), half_dims(dims_in), transformed(transformed_in) {
    half_dims.back() = dims.back() / 2 + 1;
    std::vector<Long> x = Widen(Input<float>());
    forward = TransformAll(x, dims, transformed, -1);
    inverse = TransformAll(x, dims, transformed, 1);
    for (Long& value : x) value = value.real();
    const std::vector<Long> full = TransformAll(x, dims, transformed, -1);
    for (int64_t i = 0; i < Product(dims); ++i) {
      if (i % dims.back() < half_dims.back()) half.push_back(full[i]);
    }
  }
  template <typename T>
  std::vector<std::complex<T>> Input() const {
    return ComplexNoise<T>(Product(dims), 7 * static_cast<uint32_t>(Product(dims)) + 1);
  }
};

template <typename T>
void CheckType(PjRtClient& client, const ExpectedTransforms& want) {
  using C = std::complex<T>;
  SCOPED_TRACE(absl::StrCat(DimsText(want.dims), kElement<T>, " over ", want.transformed));
  const std::vector<C> x = want.Input<T>();
  EXPECT_LT(
      (RelativeError<T>(RunFft<C, C>(client, "FFT", want.dims, want.dims, want.transformed, x),
                        want.forward)),
      kFewEpsilons);
  EXPECT_LT(
      (RelativeError<T>(RunFft<C, C>(client, "IFFT", want.dims, want.dims, want.transformed, x),
                        want.inverse)),
      kFewEpsilons);
  std::vector<T> real;
  for (const C& value : x) real.push_back(value.real());
  const std::vector<C> half =
      RunFft<T, C>(client, "RFFT", want.dims, want.half_dims, want.transformed, real);
  EXPECT_LT(RelativeError<T>(half, want.half), kFewEpsilons);
  // Back again, from the rounded half.
  EXPECT_LT((RelativeError<T>(
                RunFft<C, T>(client, "IRFFT", want.half_dims, want.dims, want.transformed, half),
                Widen(real))),
            2 * kFewEpsilons);
}

void CheckAllKinds(const List64& dims, size_t transformed) {
  const ExpectedTransforms want(dims, transformed);
  CheckType<float>(OneThreadClient(), want);
  CheckType<double>(OneThreadClient(), want);
}

TEST(FftTest, AllSmallLengths) {
  for (int64_t n = 1; n <= 40; ++n) {
    CheckAllKinds({n}, 1);
  }
}

TEST(FftTest, LinesSideBySide) {
  for (int64_t n : {2, 3, 4, 5, 7, 8, 12, 15, 31, 37, 64}) {
    CheckAllKinds({3, 7, n}, 1);
  }
}

TEST(FftTest, PrimesProductsAndPowers) {
  for (int64_t n : {97, 121, 243, 512, 625, 961, 1000, 1009}) {
    CheckAllKinds({n}, 1);
  }
}

TEST(FftTest, TwoAndThreeDimensions) {
  for (const List64& dims :
       {List64{2, 3}, {8, 8}, {5, 37}, {37, 5}, {17, 16}, {20, 21}, {3, 4, 6}, {2, 33, 5}}) {
    CheckAllKinds(dims, 2);
  }
  for (const List64& dims :
       {List64{2, 3, 4}, {4, 17, 3}, {3, 5, 7}, {2, 4, 5, 6}, {1, 1, 1}, {37, 2, 2}}) {
    CheckAllKinds(dims, 3);
  }
}

TEST(FftTest, InverseUndoesLongTransforms) {
  for (int64_t n : {4096, 30030, 65536, 65537, 100000}) {
    SCOPED_TRACE(n);
    using C = std::complex<float>;
    const std::vector<C> x = ComplexNoise<float>(n, 3);
    const std::vector<C> y = RunFft<C, C>(OneThreadClient(), "FFT", {n}, {n}, 1, x);
    EXPECT_LT(
        (RelativeError<float>(RunFft<C, C>(OneThreadClient(), "IFFT", {n}, {n}, 1, y), Widen(x))),
        2 * kFewEpsilons);
    // The first number is the sum, and the whole keeps its size (Parseval).
    Long sum;
    long double before = 0, after = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += Long(x[i].real(), x[i].imag());
      before += std::norm(x[i]);
      after += std::norm(y[i]);
    }
    EXPECT_NEAR(y[0].real(), static_cast<double>(sum.real()),
                1e-6 * static_cast<double>(std::sqrt(before)));
    EXPECT_NEAR(static_cast<double>(after / before), static_cast<double>(n),
                1e-5 * static_cast<double>(n));
  }
}

TEST(FftTest, InverseOfRealIgnoresTheImaginaryPartsThatMustBeZero) {
  using C = std::complex<double>;
  const std::vector<C> even = {{1, 5}, {2, 3}, {4, -7}}, even_clean = {{1, 0}, {2, 3}, {4, 0}};
  EXPECT_EQ((RunFft<C, double>(OneThreadClient(), "IRFFT", {3}, {4}, 1, even)),
            (RunFft<C, double>(OneThreadClient(), "IRFFT", {3}, {4}, 1, even_clean)));
  const std::vector<C> odd = {{1, 5}, {2, 3}}, odd_clean = {{1, 0}, {2, 3}};
  EXPECT_EQ((RunFft<C, double>(OneThreadClient(), "IRFFT", {2}, {3}, 1, odd)),
            (RunFft<C, double>(OneThreadClient(), "IRFFT", {2}, {3}, 1, odd_clean)));
}

TEST(FftTest, ReadsViews) {
  // A transposed, reversed operand; its columns are transformed.
  using C = std::complex<float>;
  const std::vector<C> x = ComplexNoise<float>(12, 5);
  const Literal argument = Array<C>({3, 4}, x);
  const std::vector<C> got = RunOne<C>(R"(
    func.func @main(%x: tensor<3x4xcomplex<f32>>) -> tensor<4x3xcomplex<f32>> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
      %v = stablehlo.reverse %t, dims = [1] : tensor<4x3xcomplex<f32>>
      %r = stablehlo.fft %v, type = FFT, length = [3] : (tensor<4x3xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
      return %r : tensor<4x3xcomplex<f32>>
    })",
                                       {&argument});
  std::vector<Long> view;
  for (int i = 0; i < 4; ++i) {
    for (int j = 2; j >= 0; --j) view.push_back(Long(x[j * 4 + i].real(), x[j * 4 + i].imag()));
  }
  EXPECT_LT(RelativeError<float>(got, TransformAll(view, {4, 3}, 1, -1)), kFewEpsilons);
}

TEST(FftTest, EmptyArraysStayEmpty) {
  using C = std::complex<float>;
  EXPECT_TRUE((RunFft<C, C>(OneThreadClient(), "FFT", {0, 4}, {0, 4}, 1, {}).empty()));
  EXPECT_TRUE((RunFft<C, C>(OneThreadClient(), "IFFT", {4, 0}, {4, 0}, 1, {}).empty()));
  EXPECT_TRUE((RunFft<float, C>(OneThreadClient(), "RFFT", {0, 4}, {0, 3}, 1, {}).empty()));
  EXPECT_TRUE((RunFft<C, float>(OneThreadClient(), "IRFFT", {0, 3}, {0, 4}, 1, {}).empty()));
}

TEST(FftTest, ThreadsChangeNothing) {
  using C = std::complex<float>;
  const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(4));
  for (const List64& dims : {List64{300, 1024}, {1000, 97}, {64, 30, 33}}) {
    const std::vector<C> x = ComplexNoise<float>(Product(dims), 11);
    for (size_t transformed = 1; transformed <= dims.size(); ++transformed) {
      EXPECT_EQ((RunFft<C, C>(*client, "FFT", dims, dims, transformed, x)),
                (RunFft<C, C>(OneThreadClient(), "FFT", dims, dims, transformed, x)))
          << DimsText(dims);
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
