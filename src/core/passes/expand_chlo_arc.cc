// SPDX-License-Identifier: Apache-2.0
//
// The inverse trigonometric and hyperbolic functions of real numbers.
#include <limits>

#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

// Its square is finite and its inverse's is nothing beside 1.
double LargeOf(Term x) { return x.element() == F32 ? 1e18 : 1e150; }

}  // namespace

// acos(-1) is pi, which atan2(0, -1) gives as well.
Term ExpandAcos(Term x) { return Atan2(Sqrt((1.0 - x) * (1.0 + x)), x); }

Term ExpandAsin(Term x) { return 2.0 * Atan2(x, 1.0 + Sqrt((1.0 - x) * (1.0 + x))); }

Term ExpandAtan(Term x) { return Atan2(x, x.Like(1)); }

Term ExpandAcosh(Term x) {
  const Term over_one = x - 1.0;
  const Term value = Log1p(over_one + Sqrt(over_one * (x + 1.0)));
  return Select(x < 1.0, std::numeric_limits<double>::quiet_NaN(),
                Select(x > LargeOf(x), kLog2 + Log(x), value));
}

Term ExpandAsinh(Term x) {
  const Term size = Abs(x);
  const Term square = size * size;
  const Term value = Select(size > LargeOf(x), kLog2 + Log(size),
                            Log1p(size + square / (1.0 + Sqrt(1.0 + square))));
  return Select(x == 0.0, x, CopySign(value, x));
}

Term ExpandAtanh(Term x) {
  const Term value = 0.5 * (Log1p(x) - Log1p(-x));
  return Select(Abs(x) > 1.0, std::numeric_limits<double>::quiet_NaN(), Select(x == 0.0, x, value));
}

}  // namespace pjrt::ir
