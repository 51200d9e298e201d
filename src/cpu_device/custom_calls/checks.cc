// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/custom_calls/checks.h"

#include <type_traits>

#include "pjrt/base/literal.h"
#include "pjrt/base/literal_compare.h"
#include "pjrt/base/shape.h"

namespace pjrt::cpu {
namespace {

using custom_call::Array;
using custom_call::Context;
using custom_call::Kernel;
using custom_call::Signature;

// What differs less passes. Where the call says nothing, the bounds that StableHLO's own tests are
// written for.
struct Bounds {
  double tolerance = 1e-3;
  uint64_t min_ulps = 0, max_ulps = 3;
};

Bounds BoundsOf(const custom_call::Dict* attributes) {
  Bounds bounds;
  if (attributes == nullptr) return bounds;
  const auto read = [&](absl::string_view name, auto* to, auto zero) {
    const custom_call::Attribute* attribute = attributes->Find(name);
    const auto* value = attribute != nullptr ? attribute->As<decltype(zero)>() : nullptr;
    if (value != nullptr) *to = static_cast<std::decay_t<decltype(*to)>>(*value);
  };
  read("tolerance", &bounds.tolerance, double{});
  read("min_ulp_difference", &bounds.min_ulps, int64_t{});
  read("max_ulp_difference", &bounds.max_ulps, int64_t{});
  return bounds;
}

CompareReport ExpectEqual(const LiteralBase& got, const LiteralBase& want, const Bounds&) {
  return CompareExact(got, want);
}
CompareReport ExpectAlmostEqual(const LiteralBase& got, const LiteralBase& want,
                                const Bounds& bounds) {
  return CompareAlmostEqual(got, want, bounds.tolerance);
}
CompareReport ExpectClose(const LiteralBase& got, const LiteralBase& want, const Bounds& bounds) {
  return CompareUlps(got, want, bounds.max_ulps, bounds.min_ulps);
}
CompareReport ExpectEqualNumbers(const LiteralBase& got, const LiteralBase& want, const Bounds&) {
  return CompareAlmostEqual(got, want);
}

struct CheckRow {
  absl::string_view target;
  CompareReport (*compare)(const LiteralBase& got, const LiteralBase& want, const Bounds& bounds);
  int results;  // a predicate that is true, or none
};
constexpr CheckRow kCheckRows[] = {
    {"check.expect_eq", ExpectEqual, 0},
    {"check.expect_almost_eq", ExpectAlmostEqual, 0},
    {"check.expect_close", ExpectClose, 0},
    {"check.eq", ExpectEqualNumbers, 1},
};

bool IsPredicate(const Array& array) { return array.type == PRED && array.rank() == 0; }

}  // namespace

custom_call::Factory FindCheck(absl::string_view target) {
  for (const CheckRow& row : kCheckRows) {
    if (row.target != target) continue;
    return [row](const Signature& signature) -> absl::StatusOr<Kernel> {
      const absl::Span<const Array> in = signature.operands, out = signature.results;
      if (in.size() != 2 || in[0].type != in[1].type || in[0].dims != in[1].dims ||
          static_cast<int>(out.size()) != row.results ||
          (row.results == 1 && !IsPredicate(out[0]))) {
        return custom_call::SignatureError(
            row.results == 1 ? "expected two arrays of one shape and an i1 of rank 0"
                             : "expected two arrays of one shape and no result");
      }
      Kernel kernel;
      kernel.cost_ns = 100 + 10 * static_cast<double>(in[0].size());
      kernel.run = [row, bounds = BoundsOf(signature.attributes)](const Context&,
                                                                  absl::Span<const Array> operands,
                                                                  absl::Span<const Array> results) {
        const Shape shape = MakeShape(operands[0].type, operands[0].dims);
        for (const Array& result : results) *static_cast<bool*>(result.data) = true;
        return row
            .compare(BorrowingLiteral(operands[0].data, shape),
                     BorrowingLiteral(operands[1].data, shape), bounds)
            .ToStatus();
      };
      return kernel;
    };
  }
  return nullptr;
}

}  // namespace pjrt::cpu
