// SPDX-License-Identifier: Apache-2.0
//
// lgamma, digamma, the Hurwitz zeta function and polygamma, in f64.
//
// lgamma and digamma: near their positive zeros a polynomial times the distance to the zero, so
// that relative errors stay small; the recurrences gamma(x + 1) = x gamma(x) and digamma(x + 1) =
// digamma(x) + 1 / x take other small numbers there; Stirling's series for large ones; the
// reflection formulas for negative ones. The polynomials are Chebyshev interpolations.
#include <limits>
#include <vector>

#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;

// lgamma(1 + u) / (u (u - 1)) as a polynomial of u - 0.5, for -0.3 <= u <= 1.5.
constexpr double kLgamma[] = {
    -1.0757862768750211e-07, 5.101208461275883e-07,   -6.232089459720535e-07,
    -5.955551468092539e-07,  1.5136411584913187e-06,  7.881587540771508e-07,
    -3.541938766277594e-06,  1.853364298597182e-06,   8.059331163706967e-07,
    1.4630862052503574e-06,  -5.8432478280263144e-06, 7.8381683546213e-06,
    -1.0016013977445736e-05, 1.6170941619629477e-05,  -2.6562585725516653e-05,
    4.1973061077418384e-05,  -6.628605230367502e-05,  0.00010557575126062282,
    -0.00016889669198065429, 0.00027128519904157973,  -0.00043799516468748646,
    0.0007115213298687946,   -0.0011644144403001786,  0.0019229162092627525,
    -0.00321207408066029,    0.005446457841473748,    -0.009425622448313044,
    0.01679709863125873,     -0.03130848750101397,    0.06291140107456428,
    -0.14595989591430605,    0.4831289505409809};
// digamma(2 + u) / (2 + u - root) for -1 <= u <= 1; `root` is the positive zero of digamma, in
// two parts.
constexpr double kDigamma[] = {
    2.7334936115473567e-09,  -5.4669888399440215e-09, -1.0250592958849892e-08,
    2.0501183895194647e-08,  3.314365249205256e-08,   -6.628736705562654e-08,
    -2.2337287908168016e-08, 4.46741085718643e-08,    1.258090299216334e-07,
    -2.5162239592946485e-07, 2.938946209899294e-07,   -5.878282013270488e-07,
    1.322327646207658e-06,   -2.6450069563210817e-06, 5.216485445131201e-06,
    -1.043615113408139e-05,  2.090944279433702e-05,   -4.1847758637407615e-05,
    8.377541533754836e-05,   -0.00016781485745549608, 0.00033643307392409804,
    -0.0006753134172771423,  0.001358142115660262,    -0.002739572878878444,
    0.005552254176163854,    -0.011338432553553088,   0.023447309597562315,
    -0.04955103291766767,    0.10899991701762841,     -0.2607389546830014,
    0.7853075386041053};
constexpr double kDigammaRootHigh = 1.4616321325302124;
constexpr double kDigammaRootLow = 1.2438149938918909e-08;

// Bernoulli numbers: B(2k) / (2k (2k - 1)) and B(2k) / 2k, the highest k first.
constexpr double kStirling[] = {-3617.0 / 122400, 1.0 / 156,  -691.0 / 360360, 1.0 / 1188,
                                -1.0 / 1680,      1.0 / 1260, -1.0 / 360,      1.0 / 12};
constexpr double kDigammaSeries[] = {43867.0 / 14364, -3617.0 / 8160, 1.0 / 12,
                                     -691.0 / 32760,  1.0 / 132,      -1.0 / 240,
                                     1.0 / 252,       -1.0 / 120,     1.0 / 12};
// Stirling's series is good from here on.
constexpr int kLarge = 10;

// |sin(pi x)| of x >= 0, and tan(pi x) of any x: exact where x is an integer or a half of one.
Term AbsSinPi(Term x) {
  const Term part = x - Floor(x);
  return Sin(kPi * Min(part, 1.0 - part));
}
Term TanPi(Term x) {
  const Term part = x - Floor(x);
  const Term near = Select(part > 0.5, part - 1.0, part);
  return Tan(kPi * near);
}

// lgamma of x > 0.
Term PositiveLgamma(Term x) {
  // Down to at most 2.5, the product of what that takes away in `product`.
  Term reduced = x, product = x.Like(1);
  for (int i = 0; i < kLarge - 2; ++i) {
    const Term above = reduced > 2.5;
    reduced = Select(above, reduced - 1.0, reduced);
    product = Select(above, product * reduced, product);
  }
  // Up by one below 0.75: u = x instead of x - 1, exactly.
  const Term tiny = x < 0.75;
  const Term u = Select(tiny, x, reduced - 1.0);
  const Term central = u * (u - 1.0) * Polynomial(u - 0.5, kLgamma);
  const Term log = Log(Select(tiny, x, product));
  const Term small = central + Select(tiny, -log, log);

  const Term inverse = 1.0 / x;
  const Term series = inverse * Polynomial(inverse * inverse, kStirling);
  const Term stirling = (x - 0.5) * (Log(x) - 1.0) + (series + (0.91893853320467274178 - 0.5));
  const Term large = Select(x == kInfinity, kInfinity, stirling);
  return Select(x < double{kLarge}, small, large);
}

// digamma of x > 0.
Term PositiveDigamma(Term x) {
  Term reduced = x, sum = x.Like(0);
  for (int i = 0; i < kLarge - 3; ++i) {
    const Term above = reduced > 3.0;
    reduced = Select(above, reduced - 1.0, reduced);
    sum = Select(above, sum + 1.0 / reduced, sum);
  }
  const Term below = x < 1.0;
  const Term u = Select(below, x - 1.0, reduced - 2.0);  // reduced x is 2 + u
  const Term z = Select(below, x + 1.0, reduced);
  const Term central = ((z - kDigammaRootHigh) - kDigammaRootLow) * Polynomial(u, kDigamma);
  const Term small = central + Select(below, -1.0 / x, sum);

  const Term inverse = 1.0 / x;
  const Term square = inverse * inverse;
  const Term large = (Log(x) - 0.5 * inverse) - square * Polynomial(square, kDigammaSeries);
  return Select(x < double{kLarge}, small, large);
}

}  // namespace

// lgamma(-x) = log(pi / (x |sin(pi x)|)) - lgamma(x).
Term ExpandLgamma(Term x) {
  const Term size = Abs(x);
  const Term positive = PositiveLgamma(size);
  const Term sine = AbsSinPi(size);
  const Term reflected = Log(kPi / (size * sine)) - positive;
  const Term pole = sine == 0.0;
  const Term negative = Select(pole | (size == kInfinity) | (size < 1e-300),
                               Select(pole & (size >= 1.0), kInfinity, -Log(size)), reflected);
  return Select(size == kInfinity, kInfinity, Select(x <= 0.0, negative, positive));
}

// digamma(-x) = digamma(x + 1) + pi / tan(pi x).
Term ExpandDigamma(Term x) {
  const Term negative = x <= 0.0;
  const Term size = Abs(x);
  const Term value = PositiveDigamma(Select(negative, size + 1.0, x));
  const Term reflected = value + kPi / TanPi(size);
  return Select(negative, Select(size == Floor(size), kNan, reflected), value);
}

// Euler and Maclaurin: the first terms one by one, an integral for the rest, and corrections.
Term ExpandZeta(Term s, Term q) {
  // (2k)! / B(2k) for k = 1, 2, ...
  constexpr double kFactors[] = {12.0,
                                 -720.0,
                                 30240.0,
                                 -1209600.0,
                                 47900160.0,
                                 -1.8924375803183791606e9,
                                 7.47242496e10,
                                 -2.950130727918164224e12,
                                 1.1646782814350067249e14,
                                 -4.5979787224074726105e15,
                                 1.8152105401943546773e17,
                                 -7.1661652561756670113e18};
  const Term minus_s = -s;
  std::vector<Term> terms;
  Term a = q;
  for (int i = 0; i < 9; ++i) {
    terms.push_back(Pow(a, minus_s));
    a = a + 1.0;
  }
  const Term power = Pow(a, minus_s);
  const Term inverse_square = 1.0 / (a * a);
  Term correction = s.Like(0);
  Term factor = s / a;
  for (int k = 0; k < 12; ++k) {
    correction = correction + factor / kFactors[k];
    factor = factor * ((s + (2.0 * k + 1)) * (s + (2.0 * k + 2)) * inverse_square);
  }
  // The small ones first.
  Term sum = power * (correction + 0.5) + power * a / (s - 1.0);
  for (size_t i = terms.size(); i-- > 0;) sum = sum + terms[i];
  sum = Select(terms[0] == kInfinity, kInfinity, sum);

  // At q = 0, -1, ... there are poles; other negative q have powers for whole s alone.
  const Term half = s * 0.5;
  const Term even = half == Floor(half);
  const Term at_pole = Select(even, s.Like(kInfinity), s.Like(kNan));
  sum = Select(q <= 0.0, Select(q == Floor(q), at_pole, Select(s == Floor(s), sum, kNan)), sum);
  return Select(IsNan(s) | IsNan(q), kNan, Select(s == 1.0, kInfinity, Select(s < 1.0, kNan, sum)));
}

// (-1)^(n + 1) n! zeta(n + 1, x), and digamma for n = 0.
Term ExpandPolygamma(Term n, Term x) {
  std::vector<double> factorials = {1};
  while (factorials.size() < 171)
    factorials.push_back(factorials.back() * static_cast<double>(factorials.size()));
  factorials.push_back(kInfinity);
  Emitter& emit = n.emitter();
  Context& context = emit.context();
  const int64_t count = static_cast<int64_t>(factorials.size());
  const Term table = emit.Make1(
      "stablehlo.constant", {}, context.Tensor({count}, F64),
      {{"value", context.Dense(context.Tensor({count}, F64),
                               absl::MakeConstSpan(reinterpret_cast<const char*>(factorials.data()),
                                                   factorials.size() * sizeof(double)))}});
  const Term index = Convert(Max(Min(n, n.Like(171)), n.Like(0)), S32);
  GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = {0};
  numbers.start_index_map = {0};
  numbers.index_vector_dim = n.type().rank();
  const Term factorial = emit.Make1(
      "stablehlo.gather", {table, index}, n.type(),
      {{"dimension_numbers", numbers.ToAttr(context)}, {"slice_sizes", context.I64Array({1})}});
  const Term half = n * 0.5;
  const Term size = factorial * ExpandZeta(n + 1.0, x);
  const Term value = Select(half == Floor(half), -size, size);
  return Select(n == 0.0, ExpandDigamma(x), Select((n == Floor(n)) & (n > 0.0), value, kNan));
}

}  // namespace pjrt::ir
