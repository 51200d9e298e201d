// SPDX-License-Identifier: Apache-2.0
//
// lgamma, digamma, the Hurwitz zeta function and polygamma, in f64.
//
// lgamma and digamma: near their positive zeros a polynomial times the distance to the zero, so
// that relative errors stay small; the recurrences gamma(x + 1) = x gamma(x) and digamma(x + 1) =
// digamma(x) + 1 / x take other small numbers there; Stirling's series for large ones; the
// reflection formulas for negative ones, and in f64 what expand_chlo_negative_gamma.cc and
// expand_chlo_far_digamma.cc have; zeta and polygamma beside zeros what
// expand_chlo_zeta_zeros.cc has. The polynomials are Chebyshev interpolations.
#include <limits>
#include <vector>

#include "src/core/passes/expand_chlo.h"
#include "src/core/passes/two_doubles.h"

namespace pjrt::ir {
namespace {

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
constexpr double kDigammaRootHigh = 1.4616321449683622;
constexpr double kDigammaRootLow = 9.549995429965697e-17;

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

// What `otherwise` holds, and `value(operands...)` where `pred` holds; that is not computed where
// `pred` holds nowhere.
template <typename... Operands>
Term WhereAny(Term pred, Term otherwise, Term (*value)(Operands...), Operands... operands) {
  Emitter& emit = pred.emitter();
  Op* op = emit.Make("stablehlo.if", {Any(pred).value()}, {otherwise.type()}, {}, 2);
  Emitter then(emit.module(), op->region(0)->AddBlock(), op->location());
  const Term chosen = value(then(operands.value())...);
  then.Return({Select(then(pred.value()), chosen, then(otherwise.value())).value()});
  Emitter unless(emit.module(), op->region(1)->AddBlock(), op->location());
  unless.Return({otherwise.value()});
  return emit(op->result());
}

// lgamma(-x) = log(pi / (x |sin(pi x)|)) - lgamma(x).
Term ReflectedLgamma(Term x, Term positive) {
  const Term size = Abs(x);
  const Term sine = AbsSinPi(size);
  const Term pole = (sine == 0.0) | (size == kInfinity);
  const Term reflected = Log(kPi / (size * sine)) - positive;
  return Select(x <= 0.0, Select(pole, kInfinity, reflected), positive);
}

// digamma(-x) = digamma(x + 1) + pi / tan(pi x).
Term ReflectedDigamma(Term x, Term value) {
  const Term size = Abs(x);
  const Term reflected = value + kPi / TanPi(size);
  return Select(x <= 0.0, Select(size == Floor(size), kNan, reflected), value);
}

}  // namespace

Term ExpandLgamma(Term x) {
  const Term wide = Convert(x, F64);
  const Term value = ReflectedLgamma(wide, PositiveLgamma(Abs(wide)));
  if (x.element() != F64) return Convert(value, x.element());
  return WhereAny((x < 0.0) & (x >= -double{kLgammaReach}), value, NegativeLgamma, x);
}

Term ExpandDigamma(Term x) {
  if (x.element() != F64) {
    const Term wide = Convert(x, F64);
    const Term positive = PositiveDigamma(Select(wide <= 0.0, Abs(wide) + 1.0, wide));
    return Convert(ReflectedDigamma(wide, positive), x.element());
  }
  const Term value = Select(x == 0.0, kNan, PositiveDigamma(x));
  const Term right = WhereAny((x < 0.0) & (x > -double{kDigammaReach}), value, NegativeDigamma, x);
  return WhereAny(x <= -double{kDigammaReach}, right, FarDigamma, x);
}

Term Lookup(absl::Span<const double> table, Term index) {
  Emitter& emit = index.emitter();
  Context& context = emit.context();
  const Type type = context.Tensor({static_cast<int64_t>(table.size())}, F64);
  const absl::Span<const char> bytes(reinterpret_cast<const char*>(table.data()),
                                     table.size() * sizeof(double));
  const Term constant =
      emit.Make1("stablehlo.constant", {}, type, {{"value", context.Dense(type, bytes)}});
  GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = {0};
  numbers.start_index_map = {0};
  numbers.index_vector_dim = index.type().rank();
  return emit.Make1(
      "stablehlo.gather", {constant, index}, WithElement(context, index.type(), F64),
      {{"dimension_numbers", numbers.ToAttr(context)}, {"slice_sizes", context.I64Array({1})}});
}

Double2 Lookup(absl::Span<const Constant2> table, Term index) {
  std::vector<double> high, low;
  for (const Constant2& entry : table) {
    high.push_back(entry.high);
    low.push_back(entry.low);
  }
  return {Lookup(high, index), Lookup(low, index)};
}

namespace {

// The first 26 digits of a number.
Term HighDigits(Term x) {
  const Term bits = Bitcast(x, S64);
  return Bitcast(bits & bits.LikeInt(-(int64_t{1} << 27)), F64);
}

// power - power (q / (q + gap))^s for gap = 1 - 2 q, and what rounding it loses: the logarithm of
// (q + gap) / q is 2 artanh(gap).
Double2 FirstDifference(Term power, Term s, Term q, Term gap) {
  constexpr double kInverseOdds[] = {1.0 / 25, 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15,
                                     1.0 / 13, 1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  const Term twice = 2.0 * gap, square = gap * gap;
  const Double2 exact = ExactProduct(s, twice);
  const Double2 near =
      ExactSum(exact.high, s * (twice * (square * Polynomial(square, kInverseOdds))));
  // For a large gap not much is taken away.
  const Term is_near = gap < 0.25;
  const Term log = Select(is_near, near.high, s * Log1p(gap / q));
  const Term lost_log = Select(is_near, near.low + exact.low, 0.0);
  const Double2 value = ExactProduct(power, -Expm1(-log));
  const Term lost = value.low + (power - value.high) * lost_log;
  return {value.high, Select(power < 0x1p+900, lost, 0.0)};
}

// The sum of ((q + k) unit)^-s over k >= 0, for q > 0, s > 1 and a unit that HighDigits leaves as
// it is. With a gap = 1 - 2 q >= 0 that of the differences ((q + k) unit)^-s - ((q + gap + k)
// unit)^-s, to the same relative precision. Euler and Maclaurin: the first terms one by one, an
// integral for the rest, and corrections. Returns the largest of them and the sum of the others.
Double2 PositiveZeta(Term s, Term q, Term unit, const Term* gap = nullptr) {
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
  const Term minus_s = -s, bounded_s = Min(s, s.Like(1e6));
  std::vector<Term> terms;
  Term a = q, first = q, power = q, lost = q, lost_first = q, log_ratio = q;
  // What of value = c a^-m is left when c (a + gap)^-m is taken away.
  const auto difference = [&](Term value, Term m) {
    return gap == nullptr ? value : -(value * Expm1(-(m * log_ratio)));
  };
  for (int k = 0; k <= 9; ++k) {
    a = q + static_cast<double>(k);
    // What sum and product lose by rounding: a part of (q + k) unit, of which the power makes s
    // times as much.
    const Term k_part = a - q, product = a * unit, high = HighDigits(a);
    lost = ((q - (a - k_part)) + (static_cast<double>(k) - k_part)) / a +
           ((high * unit - product) + (a - high) * unit) / product;
    power = Pow(product, minus_s);
    const Term lost_power = bounded_s * lost;
    if (k == 0) {
      first = power;
      lost_first = lost_power;
    }
    if (gap != nullptr) log_ratio = Log1p(*gap / a);
    power = power - power * lost_power;
    terms.push_back(difference(power, s));
  }
  // What the first loses is not taken from it, but from what is added to it.
  const Double2 exact = gap == nullptr ? Exactly(first) : FirstDifference(first, s, q, *gap);
  terms[0] = exact.high;
  lost_first = exact.low - exact.high * lost_first;
  const Term end = terms.back();
  terms.pop_back();
  const Term inverse_square = 1.0 / (a * a);
  Term correction = s.Like(0);
  Term factor = s / a;
  for (int k = 0; k < 12; ++k) {
    correction = correction + difference(factor / kFactors[k], s + (2.0 * k + 1));
    factor = factor * ((s + (2.0 * k + 1)) * (s + (2.0 * k + 2)) * inverse_square);
  }
  Term integral = power * a / (s - 1.0);
  integral = difference(integral + integral * lost, s - 1.0);
  // All are positive: the small ones first, the largest last.
  Term sum = lost_first + end * 0.5 + power * correction;
  for (size_t i = terms.size(); i-- > 1;) sum = sum + terms[i];
  const Term others = sum + Min(integral, terms[0]);
  const Term is_infinite = first == kInfinity;
  return {Select(is_infinite, kInfinity, Max(integral, terms[0])),
          Select(is_infinite, 0.0, others)};
}

// The same for q < 0 and whole s: the powers of negative numbers are those of 1 - q down to the
// fraction, up to the sign.
Term NegativeZeta(Term s, Term q, Term unit) {
  const Term size = Abs(q), below = size - Floor(size), above = 1.0 - below;
  const Double2 rest = PositiveZeta(s, size + 1.0, unit);  // what is not there
  const Double2 right = PositiveZeta(s, above, unit), left = PositiveZeta(s, below, unit);
  const Term missing = rest.high + rest.low;
  // Where it is infinite, so is more what it is taken from.
  const Term finite = Select(missing == kInfinity, 0.0, missing);
  const Term even =
      Max(left.high, right.high) + (Min(left.high, right.high) + ((left.low + right.low) - finite));
  // For odd s the two sides nearly cancel where the fraction is near a half.
  const Term low = Min(below, above), gap = Abs(1.0 - 2.0 * below);
  const Double2 sides = PositiveZeta(s, low, unit, &gap);
  const auto of_side = [&](Term x) { return Select(below < 0.5, -x, x); };
  const Term odd = Select(gap == 0.0, missing, of_side(sides.high) + (of_side(sides.low) + finite));
  const Term half = s * 0.5;
  return Select(half == Floor(half), even, odd);
}

// zeta(s, q) unit^-s, to the digits of f64 even `beside_zeros`. There the unit is 1.
Term ScaledZeta(Term s, Term q, Term unit, bool beside_zeros) {
  const Double2 parts = PositiveZeta(s, q, unit);
  const Term positive = Select(q == kInfinity, 0.0, parts.high + parts.low);
  Term value = WhereAny(q < 0.0, positive, NegativeZeta, s, q, unit);
  const Term half = s * 0.5;
  const Term even = half == Floor(half);
  if (beside_zeros) {
    // Only near the middle between integers are the two sides so close to each other that what is
    // not there makes up for their difference.
    const Term from_middle = Abs((q - Floor(q)) - 0.5);
    const Term near = (q < 0.0) & Not(even) & (s <= double{kLargestZetaWithZeros}) &
                      (from_middle * (4.0 * (s * s)) < 1.0);
    value = WhereAny(near, value, ZetaBesideZeros, s, q);
  }
  // At q = 0, -1, ... there are poles; other negative q have powers for whole s alone.
  const Term at_pole = Select(even, s.Like(kInfinity), s.Like(kNan));
  const Term sum =
      Select(q <= 0.0, Select(q == Floor(q), at_pole, Select(s == Floor(s), value, kNan)), value);
  return Select(IsNan(s) | IsNan(q), kNan, Select(s == 1.0, kInfinity, Select(s < 1.0, kNan, sum)));
}

}  // namespace

Term ExpandZeta(Term s, Term q) {
  const PrimitiveType type = s.element();
  s = Convert(s, F64);
  return Convert(ScaledZeta(s, Convert(q, F64), s.Like(1), type == F64), type);
}

// (-1)^(n + 1) n! zeta(n + 1, x), and digamma for n = 0. Zeta is taken of numbers in a unit u and
// multiplied by n! u^(n + 1), lest n! and the power of x leave the range where their product does
// not.
Term ExpandPolygamma(Term n, Term x) {
  const PrimitiveType type = x.element();
  const Term digamma = ExpandDigamma(x);
  n = Convert(n, F64);
  x = Convert(x, F64);
  constexpr int kLargest = 170;  // whose factorial is finite
  std::vector<double> factorials;
  long double product = 1;  // each is rounded once
  for (int i = 0; i <= kLargest; ++i) {
    if (i > 0) product *= i;
    factorials.push_back(static_cast<double>(product));
  }
  const Term index = Max(Min(n, n.Like(kLargest)), n.Like(0));
  const Term factorial = Lookup(factorials, Convert(index, S32));
  const Term s = n + 1.0, half_s = Floor(s * 0.5);
  // The unit is x's power of two. The range of `bounded` holds all x for which neither leaves the
  // range anyway.
  const Term bounded = Max(Min(x, x.Like(0x1p+1000)), x.Like(0x1p-200));
  const Term bits = Bitcast(bounded, S64);
  const Term power = Bitcast(bits & bits.LikeInt(int64_t{0x7ff} << 52), F64);
  const Term small_unit = Select(x > 0.0, 1.0 / power, 1.0);
  // For large n about the root of 1 / n!, which is (e / n) (1 + c / n), and Stirling's series:
  // n! u^n = sqrt(2 pi n) (u n / e)^n exp(1 / 12 n - ...). The quotient's rounding, which its power
  // enlarges, is made good.
  constexpr double kEHigh = 2.7182818055152893, kELow = 2.294375592871966e-08;
  constexpr double kE = kEHigh + kELow, k2Pi = 2 * kPi;
  constexpr double kLogTerm = 1.9189385332046727;  // log(2 pi) / 2 + 1
  // Where zeta may be tiny a smaller unit keeps it from leaving the range before the product does.
  const Term smaller = Select(x > n, n.Like(45), n.Like(0));
  const Term large_unit = HighDigits(kE / n * (1.0 + (0.5 * Log(n) - kLogTerm - smaller) / n));
  const Term base = large_unit * n, ratio = base / kE, high = HighDigits(ratio);
  const Term lost = ((base - high * kEHigh) - (ratio - high) * kEHigh) - ratio * kELow;
  const double stirling[] = {1.0 / 1260, -1.0 / 360, 1.0 / 12};
  const Term inverse = 1.0 / n;
  const Term series = inverse * Polynomial(inverse * inverse, stirling);
  // Not 0, lest it meet an infinity.
  const Term raised = Max(Pow(ratio, n), n.Like(1e-40));
  // So is what the square root loses.
  const Double2 squared = ExactProduct(large_unit, base) * Constant2{k2Pi, 2.4492935982947064e-16};
  const Term root = Sqrt(squared.high);
  const Double2 back = ExactProduct(root, root);
  const Term lost_root = ((squared.high - back.high) - back.low + squared.low) / (2.0 * back.high);
  const Double2 factor = ExactProduct(root, raised);
  const Term large_factor =
      factor.high + (factor.low + factor.high * (n * (lost / base) + lost_root + Expm1(series)));

  const Term is_large = n > double{kLargest};
  const Term unit = Select(is_large, large_unit, small_unit);
  const Term zeta = ScaledZeta(s, x, unit, type == F64);
  const Term small = zeta * Pow(unit, half_s) * factorial * Pow(unit, s - half_s);
  const Term size = Select(is_large, zeta * large_factor, small);
  const Term half = n * 0.5;
  const Term value = Select(half == Floor(half), -size, size);
  const Term valid = Select((n == Floor(n)) & (n > 0.0), value, kNan);
  return Select(n == 0.0, digamma, Convert(valid, type));
}

}  // namespace pjrt::ir
