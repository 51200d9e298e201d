// SPDX-License-Identifier: Apache-2.0
//
// Comparing a result with what is expected: exactly, within a tolerance, or within units in the
// last place.
#ifndef PJRT_BASE_LITERAL_COMPARE_H_
#define PJRT_BASE_LITERAL_COMPARE_H_

#include <complex>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "pjrt/base/literal.h"

namespace pjrt {

// What a comparison found. Errors are taken over all elements, also when all is well.
struct CompareReport {
  bool ok = true;
  // Not empty when the shapes differ (layouts do not count); nothing else is filled then.
  std::string shape_mismatch;

  int64_t elements = 0;    // compared
  int64_t mismatches = 0;  // elements out of bounds
  // The largest |got - want|, and |got - want| / |want| where want is not 0: over pairs of finite
  // values; 0 when there are none.
  double max_absolute_error = 0;
  double max_relative_error = 0;
  // The largest |got - want| / (atol + rtol * |want|), 0/0 counted as 0; a mismatch of NaNs,
  // infinities, integers or exact comparison counts as infinity. At most 1 exactly when ok. Filled
  // by CompareClose alone.
  double max_error_ratio = 0;
  // The largest UlpDistance. Filled by CompareUlps alone.
  uint64_t max_ulps = 0;

  // The first mismatch in row-major order: which part of a tuple, where, and both values as
  // printed.
  ShapeIndex first_mismatch_part;
  DimensionVector first_mismatch_index;
  std::string first_got;
  std::string first_want;

  // One line: "equal", or how many of how many elements differ, the first of them with both values,
  // the largest errors.
  std::string ToString() const;
  // OK, or INVALID_ARGUMENT [PJRT-B012] with ToString().
  absl::Status ToStatus() const;
};

// All four compare element types and sizes first, then each element in logical order; layouts may
// differ. Tokens equal each other. INVALID and opaque parts never do.

// Integers and PRED by value; floats as `==` says: NaN differs from everything, -0 equals 0.
CompareReport CompareExact(const LiteralBase& got, const LiteralBase& want);

// |got - want| <= atol + rtol * |want|, computed in double. NaN equals NaN; an infinity equals one
// of the same sign. Complex numbers: each part by itself. Integers and PRED: exactly. `atol` and
// `rtol` must not be negative or NaN.
CompareReport CompareClose(const LiteralBase& got, const LiteralBase& want, double atol,
                           double rtol);

// Equal, both NaN, or both finite and |got - want| <= tolerance, computed in double. Complex
// numbers: each part. Integers and PRED: exactly. The rule of StableHLO's check.expect_almost_eq.
CompareReport CompareAlmostEqual(const LiteralBase& got, const LiteralBase& want,
                                 double tolerance = 1e-4);

// min_ulps <= UlpDistance(got, want) <= max_ulps; of complex numbers the larger distance of the
// parts counts. Integers and PRED: exactly, and min_ulps does not apply to them. The rule of
// StableHLO's check.expect_close.
CompareReport CompareUlps(const LiteralBase& got, const LiteralBase& want, uint64_t max_ulps,
                          uint64_t min_ulps = 0);

// Steps from one float to another along the numbers of their format, a step over zero included only
// once: 0 for the same bits, for two NaNs, and for -0 and +0. The largest uint64_t when exactly one
// of them is not finite, or for infinities of different sign. Formats: 16, 32 and 64 bits, and the
// small ones.
uint64_t UlpDistance(float a, float b);
uint64_t UlpDistance(double a, double b);
template <int e, int m, int b, FloatSpecials s>
uint64_t UlpDistance(SmallFloat<e, m, b, s> x, SmallFloat<e, m, b, s> y) {
  constexpr uint64_t kSign = uint64_t{1} << (e + m);
  constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();
  if (x.IsNan() && y.IsNan()) return 0;
  if (x.bits() == y.bits()) return 0;
  if (!x.IsFinite() || !y.IsFinite()) return kFar;
  const uint64_t p = x.bits() & (kSign - 1);
  const uint64_t q = y.bits() & (kSign - 1);
  if (x.SignBit() != y.SignBit()) return p + q;
  return p < q ? q - p : p - q;
}
uint64_t UlpDistance(float8_e8m0fnu a, float8_e8m0fnu b);
uint64_t UlpDistance(std::complex<float> a, std::complex<float> b);
uint64_t UlpDistance(std::complex<double> a, std::complex<double> b);

}  // namespace pjrt

#endif  // PJRT_BASE_LITERAL_COMPARE_H_
