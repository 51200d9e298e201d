// SPDX-License-Identifier: Apache-2.0
//
// Arrays for interpreters in tests: every element is a double, or two.
#ifndef PJRT_TESTS_CPU_TEST_TENSOR_H_
#define PJRT_TESTS_CPU_TEST_TENSOR_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "pjrt/base/literal.h"
#include "pjrt/base/primitive_type.h"

namespace pjrt::cpu {

using List64 = std::vector<int64_t>;

// An array whose elements all types used here hold exactly in a double.
struct Tensor {
  PrimitiveType type = F32;
  std::vector<int64_t> dims;
  std::vector<double> data;
  std::vector<double> imag = {};  // imaginary parts, as many as data, of complex types; else none

  // Appends element i of `from`, or `n` times its first, or writes it to place `to`.
  void Take(const Tensor& from, int64_t i);
  void Fill(int64_t n, const Tensor& from);
  void Put(int64_t to, const Tensor& from, int64_t i);
  int64_t count() const { return static_cast<int64_t>(data.size()); }
  std::string TypeText() const;
  Literal ToLiteral() const;
};

// An element that is a whole number.
inline int64_t Int(double value) { return static_cast<int64_t>(value); }

// Whole numbers from `low` to `high`.
Tensor RandomTensor(PrimitiveType type, List64 dims, int low, int high, std::mt19937& random);

// Empty when `actual` has the same shape and values (NaN for NaN, -0 not 0), else where they
// differ.
std::string Difference(const Tensor& expected, const LiteralBase& actual);

// The value of type `type` nearest to `value`, or the integer of its low bits.
double RoundTo(PrimitiveType type, double value);

int64_t Product(const std::vector<int64_t>& dims);
// Between a row-major number and coordinates.
std::vector<int64_t> Coordinates(int64_t linear, const std::vector<int64_t>& dims);
int64_t Linear(const std::vector<int64_t>& at, const std::vector<int64_t>& dims);

// StableHLO's maximum and minimum of floats: NaN wins, -0 is below 0.
double Maximum(double a, double b);
double Minimum(double a, double b);
// The StableHLO op of that name ("add", "maximum", "xor", ...) on values of `type`; a float result
// is not yet rounded.
double Apply(const std::string& op, PrimitiveType type, double a, double b);

// Makes element i of `r` that op of itself and element k of `b`, rounded.
void Combine(const std::string& op, Tensor* r, int64_t i, const Tensor& b, int64_t k);

// "1, 2", and MLIR's attribute for a list: "array<i64: 1, 2>".
std::string List(const std::vector<int64_t>& values);
std::string Array64(const std::vector<int64_t>& values);

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_TEST_TENSOR_H_
