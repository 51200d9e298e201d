// SPDX-License-Identifier: Apache-2.0
//
// lgamma and digamma of negative numbers in f64, to full precision beside their zeros, where the
// two sides of the reflection formulas cancel.
//
// lgamma: gamma(x) is a quotient of gamma(1 + d), d the distance to the nearest integer, and of a
// product of numbers that are exact. Both are computed in two parts, so that the logarithm near 1
// is one of an exact difference. digamma: the sum over k of (x - z) / ((x + k) (z + k)), which is
// digamma(x) - digamma(z), with a zero z in two parts. All terms have one sign.
#include <limits>

#include "src/core/passes/expand_chlo.h"
#include "src/core/passes/two_doubles.h"

namespace pjrt::ir {
namespace {

// 1 / gamma(1 + d) in powers of d, the highest first: those that need one part, and the others.
constexpr double kReciprocalGammaTail[] = {
    1.337351730493693e-22,  1.7144063219273374e-20, -2.29874568443537e-19,
    1.4123806553180319e-18, 1.1866922547516004e-18, -1.1812593016974588e-16,
    1.2267786282382608e-15, -5.348122539423018e-15, -2.0583260535665066e-14,
    5.100370287454476e-13,  -3.696805618642206e-12, 7.782263439905071e-12,
    1.0434267116911005e-10};
constexpr Constant2 kReciprocalGamma[] = {{-1.18127457048702e-09, -1.0052356155716208e-25},
                                          {5.002007644469223e-09, -1.538123614056751e-26},
                                          {6.116095104481416e-09, -2.693458298171306e-25},
                                          {-2.056338416977607e-07, -3.0061601618645134e-24},
                                          {1.133027231981696e-06, -4.622235212104869e-23},
                                          {-1.2504934821426706e-06, -2.66214092271898e-23},
                                          {-2.013485478078824e-05, 3.0488773972037385e-23},
                                          {0.0001280502823881162, -9.359124499198967e-21},
                                          {-0.00021524167411495098, 2.3758686180729364e-21},
                                          {-0.0011651675918590652, 5.659947853880981e-20},
                                          {0.0072189432466631, -3.6006537063394283e-19},
                                          {-0.009621971527876973, -5.300031368830263e-19},
                                          {-0.04219773455554433, -3.3579992682480134e-18},
                                          {0.16653861138229148, 1.0189144546842026e-17},
                                          {-0.04200263503409524, 1.4920306285650505e-18},
                                          {-0.6558780715202539, 2.137185197068536e-17},
                                          {0.5772156649015329, -4.942915152430645e-18},
                                          {1.0, 0.0}};

// digamma(-n - kDigammaZeros[n]) = 0.
constexpr Constant2 kDigammaZeros[] = {
    {0.5040830082644554, 8.15428206243813e-18},    {0.5734984731623904, 1.574185691077347e-17},
    {0.6107208684441446, 1.2202694992732132e-17},  {0.6352933664369012, -5.454396163173039e-17},
    {0.6532377617431424, 3.2882257089650634e-17},  {0.6671624415568855, 3.2153051074948335e-18},
    {0.6784182130734268, -1.40129649619771e-17},   {0.687788325031626, 2.4133947001851525e-17},
    {0.6957641638164013, -4.467870224652488e-18},  {0.7026725400018637, -7.435123333532191e-18},
    {0.7087408382541447, -3.74126397210638e-17},   {0.7141330612289538, 2.835340426574184e-17},
    {0.7189710257492075, 3.1142033360629045e-17},  {0.7233474573638268, -8.738659301743149e-18},
    {0.7273344160185289, 3.6618399963139786e-17},  {0.7309889063328824, 5.5027387288572304e-18},
    {0.7343567239557357, -1.7295163907657788e-17}, {0.737475159977589, -4.253388923985477e-17},
    {0.7403749447800997, 1.4230298349280131e-18},  {0.7430816725902176, 1.556656310557129e-17},
    {0.745616863607526, -4.883937553476711e-17},   {0.7479987682011296, 3.3780720055094426e-18},
    {0.7502429843060601, 1.6637001980259703e-17},  {0.7523629373851818, -3.854563469046382e-17},
    {0.7543702578229712, -1.5360711685121882e-17}, {0.7562750807710352, 2.4469661232094052e-17},
    {0.758086286661366, -2.3210688547426887e-17},  {0.7598116958267057, 9.925201174654428e-19},
    {0.7614582272648656, -1.3741125786470298e-17}, {0.7630320291274626, 2.163124609107686e-17},
    {0.764538586718172, -5.4870581208444045e-17},  {0.7659828124582482, 4.475486518061143e-18},
    {0.7673691212852645, -2.761819058157187e-17},  {0.7687014942025472, -8.513862767483244e-18},
    {0.76998353212671, 8.292790049708093e-18},     {0.771218501742711, -5.1112923747235853e-17},
    {0.7724093747366271, -1.2115274756171777e-17}, {0.7735588615115806, 4.9212608578575534e-17},
    {0.7746694402841245, -3.362206045598084e-17},  {0.7757433822936733, -2.484339919555381e-17},
    {0.7767827737263641, 3.0893330846528116e-17},  {0.7777895348495859, 1.3027427152141936e-17},
    {0.7787654367686754, 2.767028882608106e-18},   {0.7797121161485985, 3.390360562994563e-17},
    {0.7806310881874967, -2.0827060929000523e-17}, {0.7815237580831769, -3.574827601321771e-17},
    {0.7823914311959586, -1.1847944020856148e-17}, {0.7832353220801707, 3.356003293578062e-17},
    {0.7840565625307682, -7.591346819274996e-18},  {0.7848562087700268, -4.3192548319538796e-17},
    {0.7856352478812813, -1.6449809984162688e-17}, {0.7863946035815641, 3.60151407993806e-17},
    {0.7871351414122765, -1.7897392106371018e-17}, {0.7878576734162579, 3.830312238136757e-17},
    {0.788562962360497, -1.1507322964374376e-17},  {0.7892517255559512, 3.8524370069296954e-17},
    {0.7899246383193171, -5.2484125964780333e-17}, {0.790582337115911, -3.94064857048863e-17},
    {0.7912254224179487, -1.6031417571443067e-17}, {0.7918544613083134, 8.380101688092802e-18},
    {0.7924699898562794, -1.0054389312647742e-17}, {0.7930725152885245, -2.6597119158749703e-17},
    {0.7936625179760439, 5.485082286241319e-17},   {0.7942404532552122, 4.215835796613991e-17},
};
static_assert(sizeof(kDigammaZeros) / sizeof(kDigammaZeros[0]) == kDigammaReach);

Double2 ReciprocalGamma(Term d) {
  const Double2 halves = Split(d);
  Double2 sum = {Polynomial(d, kReciprocalGammaTail), d.Like(0)};
  for (const Constant2& c : kReciprocalGamma) sum = Times(sum, d, halves) + c;
  return sum;
}

// B(2k) / 2k for k = 1, 2, ...
constexpr double kStirlingSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                      1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
// From here on the series is good.
constexpr int kFar = 9;

// (digamma(a) - digamma(b)) / (a - b) for a, b >= kFar, which is the sum of 1 / ((a + k) (b + k))
// over k >= 0: Stirling's series term by term.
// `difference`, a - b, is exact and not 0.
Term DividedDigamma(Term a, Term b, Term difference) {
  const Term inverse_a = 1.0 / a, inverse_b = 1.0 / b;
  const Term u = inverse_a * inverse_a, v = inverse_b * inverse_b;
  // (v^k - u^k) / (v - u) from one k to the next.
  Term divided = a.Like(1), power = v, sum = a.Like(kStirlingSeries[0]);
  for (const double c : absl::MakeConstSpan(kStirlingSeries).subspan(1)) {
    divided = u * divided + power;
    power = power * v;
    sum = sum + c * divided;
  }
  const Term product = inverse_a * inverse_b;
  return Log1p(difference * inverse_b) / difference +
         product * (sum * (inverse_a + inverse_b) + 0.5);
}

}  // namespace

Term NegativeLgamma(Term x) {
  const Term size = Abs(x);
  const Term n = Floor(size + 0.5);
  const Term d = n - size;  // exact, as are all differences of x and integers up to n
  const Double2 size_halves = Split(size);
  Double2 product = Exactly(Abs(d));
  for (int i = 0; i < kLgammaReach; ++i) {
    const Term taken = n > static_cast<double>(i);
    const Double2 halves = {size_halves.high - static_cast<double>(i), size_halves.low};
    const Double2 next = Times(product, size - static_cast<double>(i), halves);
    product = {Select(taken, next.high, product.high), Select(taken, next.low, product.low)};
  }
  const Double2 ratio = product * ReciprocalGamma(d);
  const Term near = -Log1p((ratio.high - 1.0) + ratio.low);
  const Term far = -(Log(ratio.high) + ratio.low / ratio.high);
  const Term value = Select(Abs(ratio.high - 1.0) < 0.5, near, far);
  return Select(d == 0.0, std::numeric_limits<double>::infinity(), value);
}

Term NegativeDigamma(Term x) {
  const Term size = Abs(x);
  const Term n = Floor(size);
  const Term index = Convert(Min(n, n.Like(kDigammaReach - 1)), S32);
  const auto [root, root_low] = Lookup(kDigammaZeros, index);
  const Term f = size - n;
  const Term distance = (root - f) + root_low;  // x - z
  // Poles to the right of x, and to the left of it as far as 0; the far ones first.
  Term sum = DividedDigamma(kFar + 1.0 - f, kFar + 1.0 - root, distance);
  const Term left = DividedDigamma(kFar + 1.0 + f, kFar + 1.0 + root, -distance) -
                    DividedDigamma(n + 1.0 + f, n + 1.0 + root, -distance);
  sum = sum + Select(n > double{kFar}, left, 0.0);
  for (int i = kFar; i >= 1; --i) {
    const double k = i;
    if (i > 1) sum = sum + 1.0 / ((k - f) * (k - root));
    sum = sum + Select(n >= k, 1.0 / ((k + f) * (k + root)), 0.0);
  }
  // The nearest poles by themselves: of rounded numbers as few as may be.
  const Term below = distance / ((1.0 - f) * ((1.0 - root) - root_low));
  const Term value = (distance * sum + (distance / root) / f) + below;
  return Select(f == 0.0, std::numeric_limits<double>::quiet_NaN(), value);
}

}  // namespace pjrt::ir
