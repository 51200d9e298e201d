// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/literal_compare.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/core/base/error.h"
#include "src/core/base/logical_reader.h"
#include "src/core/base/type_dispatch.h"
#include "src/core/base/wide_elements.h"

namespace pjrt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();

// Steps between two floats whose sign and magnitude bits are given; neither is a NaN.
template <typename Bits>
uint64_t StepsBetween(Bits a, Bits b) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0}) >> 1;
  const uint64_t p = a & kMagnitude;
  const uint64_t q = b & kMagnitude;
  if ((a ^ b) > kMagnitude) return p + q;
  return p < q ? q - p : p - q;
}

template <typename Float, typename Bits>
uint64_t FloatDistance(Float a, Float b) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return kFar;
  return StepsBetween(__builtin_bit_cast(Bits, a), __builtin_bit_cast(Bits, b));
}

// Judges elements of two arrays, block by block.
class Judge {
 public:
  explicit Judge(CompareReport& report) : report_(report) {}
  virtual ~Judge() = default;
  // Sets wrong[i] for each of `count` pairs that is out of bounds, and keeps account of the errors.
  virtual void Look(PrimitiveType type, const void* got, const void* want, int64_t count,
                    bool* wrong) = 0;

 protected:
  // For types that are compared exactly whatever the rule.
  static bool IsExactType(PrimitiveType type) { return IsInteger(type) || type == PRED; }

  // The largest errors, from one pair of numbers.
  void NoteError(double got, double want) {
    if (!std::isfinite(got) || !std::isfinite(want)) return;
    const double error = std::abs(got - want);
    if (error > report_.max_absolute_error) report_.max_absolute_error = error;
    if (want != 0 && error / std::abs(want) > report_.max_relative_error) {
      report_.max_relative_error = error / std::abs(want);
    }
  }

  CompareReport& report_;
};

// Rules that look at each pair of numbers as doubles; integers too wide for that are compared
// before.
class NumberJudge : public Judge {
 public:
  using Judge::Judge;

  void Look(PrimitiveType type, const void* got, const void* want, int64_t count,
            bool* wrong) override {
    const int bytes = ByteWidth(type);
    for (int64_t done = 0; done < count; done += WideBlock::kSize) {
      const int64_t step = std::min(WideBlock::kSize, count - done);
      LoadWide(type, static_cast<const char*>(got) + done * bytes, step, got_);
      LoadWide(type, static_cast<const char*>(want) + done * bytes, step, want_);
      for (int64_t i = 0; i < step; ++i) wrong[done + i] = !Accepts(i);
    }
  }

 protected:
  virtual bool AcceptsNumber(double got, double want) = 0;
  virtual void RejectExact() {}

 private:
  bool Accepts(int64_t i) {
    switch (got_.type) {
      case WideType::kInt64:
        return AcceptsExact(got_.int64s[i], want_.int64s[i]);
      case WideType::kUint64:
        return AcceptsExact(got_.uint64s[i], want_.uint64s[i]);
      case WideType::kDouble:
        return AcceptsFloat(got_.doubles[i], want_.doubles[i]);
      case WideType::kComplex:
        break;
    }
    // Both parts, so that the errors of both are known.
    const bool real = AcceptsFloat(got_.complexes[i][0], want_.complexes[i][0]);
    const bool imaginary = AcceptsFloat(got_.complexes[i][1], want_.complexes[i][1]);
    return real && imaginary;
  }

  template <typename Integer>
  bool AcceptsExact(Integer got, Integer want) {
    if (got == want) return true;
    NoteError(static_cast<double>(got), static_cast<double>(want));
    RejectExact();
    return false;
  }

  bool AcceptsFloat(double got, double want) {
    NoteError(got, want);
    return AcceptsNumber(got, want);
  }

  WideBlock got_;
  WideBlock want_;
};

class ExactJudge : public NumberJudge {
 public:
  using NumberJudge::NumberJudge;

 protected:
  bool AcceptsNumber(double got, double want) override { return got == want; }
};

class AlmostEqualJudge : public NumberJudge {
 public:
  AlmostEqualJudge(CompareReport& report, double tolerance)
      : NumberJudge(report), tolerance_(tolerance) {}

 protected:
  bool AcceptsNumber(double got, double want) override {
    if (got == want || (std::isnan(got) && std::isnan(want))) return true;
    return std::isfinite(got) && std::isfinite(want) && std::abs(got - want) <= tolerance_;
  }

 private:
  const double tolerance_;
};

class CloseJudge : public NumberJudge {
 public:
  CloseJudge(CompareReport& report, double atol, double rtol)
      : NumberJudge(report), atol_(atol), rtol_(rtol) {}

 protected:
  bool AcceptsNumber(double got, double want) override {
    if (got == want || (std::isnan(got) && std::isnan(want))) return true;
    if (!std::isfinite(got) || !std::isfinite(want)) {
      RejectExact();
      return false;
    }
    const double error = std::abs(got - want);
    const double allowed = atol_ + rtol_ * std::abs(want);
    const bool ok = error <= allowed;
    // Rounding of the quotient must not tell another story than the comparison.
    const double ratio = error / allowed;
    NoteRatio(ok ? std::min(ratio, 1.0) : std::max(ratio, std::nextafter(1.0, 2.0)));
    return ok;
  }
  void RejectExact() override { NoteRatio(kInfinity); }

 private:
  void NoteRatio(double ratio) {
    if (ratio > report_.max_error_ratio) report_.max_error_ratio = ratio;
  }

  const double atol_;
  const double rtol_;
};

class UlpJudge : public Judge {
 public:
  UlpJudge(CompareReport& report, uint64_t min_ulps, uint64_t max_ulps)
      : Judge(report), exact_(report), min_ulps_(min_ulps), max_ulps_(max_ulps) {}

  void Look(PrimitiveType type, const void* got, const void* want, int64_t count,
            bool* wrong) override {
    // For the errors that the report gives in any case; its verdict stands for exact types.
    exact_.Look(type, got, want, count, wrong);
    if (IsExactType(type)) return;
    VisitArrayType(type, [&](auto t) {
      if constexpr (IsFloating(t()) || IsComplex(t())) {
        using T = typename NativeTypeOf<t()>::type;
        for (int64_t i = 0; i < count; ++i) {
          const uint64_t ulps =
              UlpDistance(static_cast<const T*>(got)[i], static_cast<const T*>(want)[i]);
          report_.max_ulps = std::max(report_.max_ulps, ulps);
          wrong[i] = ulps < min_ulps_ || ulps > max_ulps_;
        }
      }
    });
  }

 private:
  ExactJudge exact_;
  const uint64_t min_ulps_;
  const uint64_t max_ulps_;
};

void CompareArrays(const LiteralSlice& got, const LiteralSlice& want, const ShapeIndex& part,
                   Judge& judge, CompareReport& report) {
  const PrimitiveType type = got.shape().element_type();
  const int64_t count = got.element_count();
  report.elements += count;
  if (count == 0) return;
  LogicalReader got_reader(got.shape(), got.untyped_data());
  LogicalReader want_reader(want.shape(), want.untyped_data());
  bool wrong[LogicalReader::kBlock];
  for (int64_t done = 0; done < count; done += LogicalReader::kBlock) {
    const int64_t step = std::min(LogicalReader::kBlock, count - done);
    const void* got_block = got_reader.Next(step);
    const void* want_block = want_reader.Next(step);
    judge.Look(type, got_block, want_block, step, wrong);
    for (int64_t i = 0; i < step; ++i) {
      if (!wrong[i]) continue;
      if (report.mismatches++ == 0) {
        report.first_mismatch_part = part;
        report.first_mismatch_index = MultiIndexOf(got.shape().dimensions(), done + i);
        report.first_got = got.GetAsString(report.first_mismatch_index);
        report.first_want = want.GetAsString(report.first_mismatch_index);
      }
    }
  }
}

// The report must be the one that the judge writes to.
void Compare(const LiteralBase& got, const LiteralBase& want, Judge& judge, CompareReport& report) {
  if (!Compatible(got.shape(), want.shape())) {
    report.ok = false;
    report.shape_mismatch =
        absl::StrCat("got shape ", Shorten(got.shape().ToString(/*print_layout=*/false)), ", want ",
                     Shorten(want.shape().ToString(/*print_layout=*/false)));
    return;
  }
  ForEachSubshape(got.shape(), [&](const Shape& part, const ShapeIndex& index) {
    if (part.IsArray()) {
      CompareArrays(LiteralSlice(got, index), LiteralSlice(want, index), index, judge, report);
    } else if (!part.IsTuple() && !part.IsToken() && report.shape_mismatch.empty()) {
      report.shape_mismatch =
          absl::StrCat("values of shape ", Shorten(part.ToString()), " cannot be compared");
    }
  });
  report.ok = report.mismatches == 0 && report.shape_mismatch.empty();
}

// Compares by a Judge(report, bounds...).
template <class Judge, typename... Bounds>
CompareReport CompareBy(const LiteralBase& got, const LiteralBase& want, Bounds... bounds) {
  CompareReport report;
  Judge judge(report, bounds...);
  Compare(got, want, judge, report);
  return report;
}

}  // namespace

uint64_t UlpDistance(float a, float b) { return FloatDistance<float, uint32_t>(a, b); }

uint64_t UlpDistance(double a, double b) { return FloatDistance<double, uint64_t>(a, b); }

uint64_t UlpDistance(float8_e8m0fnu a, float8_e8m0fnu b) {
  if (a.bits() == b.bits()) return 0;
  if (a.IsNan() || b.IsNan()) return kFar;
  return static_cast<uint64_t>(std::abs(int{a.bits()} - int{b.bits()}));
}

uint64_t UlpDistance(std::complex<float> a, std::complex<float> b) {
  return std::max(UlpDistance(a.real(), b.real()), UlpDistance(a.imag(), b.imag()));
}

uint64_t UlpDistance(std::complex<double> a, std::complex<double> b) {
  return std::max(UlpDistance(a.real(), b.real()), UlpDistance(a.imag(), b.imag()));
}

std::string CompareReport::ToString() const {
  if (!shape_mismatch.empty()) return shape_mismatch;
  if (ok) return "equal";
  std::string part;
  if (!first_mismatch_part.empty()) {
    part = absl::StrCat(" of tuple element {", absl::StrJoin(first_mismatch_part, ","), "}");
  }
  std::string errors =
      absl::StrCat("largest error ", max_absolute_error, ", relative ", max_relative_error);
  if (max_ulps == kFar) {
    absl::StrAppend(&errors, ", some not finite");
  } else if (max_ulps > 0) {
    absl::StrAppend(&errors, ", ", max_ulps, " ulp");
  }
  return absl::StrCat(mismatches, " of ", elements, " elements differ; first at [",
                      absl::StrJoin(first_mismatch_index, ","), "]", part, ": got ", first_got,
                      ", want ", first_want, "; ", errors);
}

absl::Status CompareReport::ToStatus() const {
  if (ok) return absl::OkStatus();
  return InvalidArgument("PJRT-B012", ToString());
}

CompareReport CompareExact(const LiteralBase& got, const LiteralBase& want) {
  return CompareBy<ExactJudge>(got, want);
}

CompareReport CompareClose(const LiteralBase& got, const LiteralBase& want, double atol,
                           double rtol) {
  return CompareBy<CloseJudge>(got, want, atol, rtol);
}

CompareReport CompareAlmostEqual(const LiteralBase& got, const LiteralBase& want,
                                 double tolerance) {
  return CompareBy<AlmostEqualJudge>(got, want, tolerance);
}

CompareReport CompareUlps(const LiteralBase& got, const LiteralBase& want, uint64_t max_ulps,
                          uint64_t min_ulps) {
  return CompareBy<UlpJudge>(got, want, min_ulps, max_ulps);
}

}  // namespace pjrt
