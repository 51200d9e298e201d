// SPDX-License-Identifier: Apache-2.0
#include "tests/cpu/test_tensor.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/element_values.h"

namespace pjrt::cpu {

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> Coordinates(int64_t linear, const std::vector<int64_t>& dims) {
  std::vector<int64_t> at(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    at[d] = linear % dims[d];
    linear /= dims[d];
  }
  return at;
}

int64_t Linear(const std::vector<int64_t>& at, const std::vector<int64_t>& dims) {
  int64_t linear = 0;
  for (size_t d = 0; d < dims.size(); ++d) linear = linear * dims[d] + at[d];
  return linear;
}

std::string List(const std::vector<int64_t>& values) { return absl::StrJoin(values, ", "); }

std::string Array64(const std::vector<int64_t>& values) {
  return values.empty() ? "array<i64>" : absl::StrCat("array<i64: ", List(values), ">");
}

double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double Minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

double Apply(const std::string& op, PrimitiveType type, double a, double b) {
  if (op == "maximum") return Maximum(a, b);
  if (op == "minimum") return Minimum(a, b);
  if (type == PRED) {
    const bool x = a != 0, y = b != 0;
    return op == "and" || op == "multiply" ? x && y : op == "xor" ? x != y : x || y;
  }
  if (IsInteger(type)) {
    const int64_t x = Int(a), y = Int(b);
    const int64_t value = op == "add"        ? x + y
                          : op == "subtract" ? x - y
                          : op == "multiply" ? x * y
                          : op == "and"      ? x & y
                          : op == "or"       ? x | y
                                             : x ^ y;
    return RoundTo(type, static_cast<double>(value & 0xffffffff));
  }
  if (op == "add") return a + b;
  if (op == "subtract") return a - b;
  if (op == "multiply") return a * b;
  return a / b;
}

namespace {

// Not part of any expression that a compiler could fuse it into.
[[gnu::noinline]] double Times(double a, double b) { return a * b; }

}  // namespace

void Combine(const std::string& op, Tensor* r, int64_t i, const Tensor& b, int64_t k) {
  double& re = r->data[i];
  if (!IsComplex(r->type)) {
    re = RoundTo(r->type, Apply(op, r->type, re, b.data[k]));
    return;
  }
  double& im = r->imag[i];
  const double x = re, y = im, u = b.data[k], v = b.imag[k];
  re = op == "add" ? x + u : op == "subtract" ? x - u : Times(x, u) - Times(y, v);
  im = op == "add" ? y + v : op == "subtract" ? y - v : Times(x, v) + Times(y, u);
  re = RoundTo(r->type, re);
  im = RoundTo(r->type, im);
}

void Tensor::Take(const Tensor& from, int64_t i) {
  data.push_back(from.data[i]);
  if (IsComplex(type)) imag.push_back(from.imag[i]);
}

void Tensor::Fill(int64_t n, const Tensor& from) {
  data.insert(data.end(), n, from.data[0]);
  if (IsComplex(type)) imag.insert(imag.end(), n, from.imag[0]);
}

void Tensor::Put(int64_t to, const Tensor& from, int64_t i) {
  data[to] = from.data[i];
  if (IsComplex(type)) imag[to] = from.imag[i];
}

double RoundTo(PrimitiveType type, double value) {
  switch (type) {
    case F32:
    case C64:
      return static_cast<float>(value);
    case F16:  // as the library rounds: a search would take long
      return static_cast<float>(half(static_cast<float>(value)));
    case BF16:
      return static_cast<float>(bfloat16(static_cast<float>(value)));
    case F64:
    case C128:
    case S64:
    case U64:
      return value;
    default:
      return Nearest(type, value).real();
  }
}

std::string Tensor::TypeText() const {
  return TensorText(dims, GetPrimitiveTypeInfo(type).stablehlo_name);
}

Literal Tensor::ToLiteral() const {
  std::vector<Number> numbers(data.begin(), data.end());
  for (size_t i = 0; i < imag.size(); ++i) numbers[i].imag(imag[i]);
  return ArrayOf(type, dims, numbers);
}

Tensor RandomTensor(PrimitiveType type, List64 dims, int low, int high, std::mt19937& random) {
  Tensor tensor{type, std::move(dims), {}};
  tensor.data.resize(Product(tensor.dims));
  for (double& x : tensor.data) x = low + static_cast<int>(random() % (high - low + 1));
  return tensor;
}

std::string Difference(const Tensor& expected, const LiteralBase& actual) {
  const Shape& shape = actual.shape();
  if (shape.element_type() != expected.type ||
      std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end()) != expected.dims) {
    return absl::StrCat("expected ", expected.TypeText(), ", got ", shape.ToString());
  }
  const std::vector<Number> got_values = ReadNumbers(actual);
  for (int64_t i = 0; i < expected.count(); ++i) {
    const Number want(expected.data[i], expected.imag.empty() ? 0 : expected.imag[i]);
    if (!SameNumber(want, got_values[i]))
      return absl::StrCat(expected.TypeText(), " at [", List(Coordinates(i, expected.dims)),
                          "]: expected ", NumberText(want), ", got ", NumberText(got_values[i]));
  }
  return "";
}

}  // namespace pjrt::cpu
