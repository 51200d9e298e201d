// SPDX-License-Identifier: Apache-2.0
//
// zeta(s, q) for odd s beside the zeros that it has near the middle between negative integers, with
// twice the digits. The powers of q, q + 1, ... come in pairs on the two sides of 0, which nearly
// cancel, and the others: a series in the distance from the middle, and Euler and Maclaurin's.
#include <vector>

#include "src/core/passes/counted_loop.h"
#include "src/core/passes/expand_chlo.h"
#include "src/core/passes/two_doubles.h"

namespace pjrt::ir {
namespace {

// The sum of (2k + 1)^-m over k >= 0 for m = 4, 6, ..., 48.
constexpr Constant2 kOddSums[] = {{1.0146780316041921, -6.650500206074661e-17},
                                  {1.001447076640942, 1.0863615962060441e-16},
                                  {1.000155179025296, 7.098003007287163e-17},
                                  {1.000017041363045, -9.738660816194922e-17},
                                  {1.000001885848583, 4.762854912558582e-17},
                                  {1.0000002092405191, 7.809774794825424e-17},
                                  {1.0000000232371573, 6.970418023045212e-17},
                                  {1.0000000025814375, 4.8461935938717717e-17},
                                  {1.0000000002868077, 8.745881582678331e-18},
                                  {1.0000000000318667, 4.366462773611586e-17},
                                  {1.0000000000035407, -3.262140414485086e-19},
                                  {1.0000000000003935, -5.057301270724574e-17},
                                  {1.0000000000000437, -3.0338577939923e-17},
                                  {1.0000000000000049, -2.804448494561312e-17},
                                  {1.0000000000000004, 9.557036083594509e-17},
                                  {1.0, 5.99621714663864e-17},
                                  {1.0, 6.662463374095521e-18},
                                  {1.0, 7.402737033460831e-19},
                                  {1.0, 8.225263350965091e-20},
                                  {1.0, 9.13918149325356e-21},
                                  {1.0, 1.0154646100487563e-21},
                                  {1.0, 1.128294011040185e-22},
                                  {1.0, 1.2536600122168321e-23}};
// Terms of the series in the distance; the first of them need twice the digits.
constexpr int kSideTerms = 9, kLongSideTerms = 4;
static_assert(sizeof(kOddSums) / sizeof(kOddSums[0]) ==
              (kLargestZetaWithZeros - 3) / 2 + kSideTerms);

// (2^(1 - 2k) - 1) B(2k) / (2k)! for k = 15, 14, ..., 0.
constexpr double kMiddleTail[] = {
    -2.2679524481132924e-24, 8.953517360328644e-23, -3.5347069342869885e-21, 1.3954463022310702e-19,
    -5.509000201462976e-18,  2.174864550325223e-16, -8.585996549822947e-15,  3.389576851489321e-13,
    -1.3380902920268335e-11, 5.281609967721337e-10, -2.0835982071876168e-08};
constexpr Constant2 kMiddleSeries[] = {{8.202608300264551e-07, -4.340483647702592e-23},
                                       {-3.2035383597883595e-05, -3.1335737392603533e-21},
                                       {0.0012152777777777778, -1.927470528863119e-20},
                                       {-0.041666666666666664, -2.3129646346357427e-18},
                                       {1.0, 0.0}};
constexpr int kMiddleTerms = 16;
// Powers that are summed one by one; the series is good for what follows.
constexpr int kPowers = 19;

// a^-s for odd s up to 31.
Double2 InversePower(const Double2& a, Term s) {
  const Term bits = Convert((s - 1.0) * 0.5, S32);
  Double2 power = Exactly(s.Like(1)) / a, square = power * power;
  for (int i = 0; i < 4; ++i) {
    const Term is_set = (bits & bits.LikeInt(int64_t{1} << i)) != bits.LikeInt(0);
    const Double2 longer = power * square;
    power = {Select(is_set, longer.high, power.high), Select(is_set, longer.low, power.low)};
    if (i < 3) square = square * square;
  }
  return power;
}

// 2^-s times the sum of (1/2 + k - d)^-s - (1/2 + k + d)^-s over k >= 0.
Double2 Sides(Term s, Term d) {
  const Term first = Convert((s - 3.0) * 0.5, S32);
  std::vector<Term> binomials = {s};  // of s + 2i over 2i + 1
  for (int i = 1; i < kSideTerms; ++i) {
    const Term factors = (s + (2.0 * i - 1)) * (s + 2.0 * i);
    binomials.push_back(binomials.back() * factors / (2.0 * i * (2 * i + 1)));
  }
  const Term u = 2.0 * d;
  const Double2 square = ExactProduct(u, u);
  Double2 sum = Exactly(s.Like(0));
  for (int i = kSideTerms - 1; i >= 0; --i) {
    const Double2 odd_sum = Lookup(kOddSums, first + first.LikeInt(i));
    if (i >= kLongSideTerms) {
      sum.high = sum.high * square.high + binomials[i] * odd_sum.high;
    } else {
      sum = sum * square + Exactly(binomials[i]) * odd_sum;
    }
  }
  return sum * Exactly(2.0 * u);
}

// The sum of (a + k)^-s over k >= 0 for a >= 1.
Double2 Others(Term s, const Double2& a) {
  const auto plus = [](const Double2& x, Term y) {
    const Double2 sum = ExactSum(x.high, y);
    return Double2{sum.high, sum.low + x.low};
  };
  const Term zero = s.Like(0);
  const ValueList sum =
      CountedLoop(s.emitter(), kPowers, {zero.value(), zero.value()},
                  [&](Emitter& emit, Term count, const ValueList& carried) -> ValueList {
                    const Term k = Broadcast(Convert(count, F64), s.type().dims(), {});
                    const Double2 base = {emit(a.high.value()), emit(a.low.value())};
                    const Double2 power = InversePower(plus(base, k), emit(s.value()));
                    const Double2 next = Double2{emit(carried[0]), emit(carried[1])} + power;
                    return {next.high.value(), next.low.value()};
                  });

  // From the middle before the first power that is left.
  const Double2 t = plus(a, s.Like(kPowers - 0.5));
  const Double2 inverse = Exactly(s.Like(1)) / t, square = inverse * inverse;
  const auto factors = [&](int k) { return (s + (2.0 * k - 1)) * (s + 2.0 * k); };
  int k = kMiddleTerms - 1;
  Term tail = zero;
  for (double c : kMiddleTail) tail = tail * (square.high * factors(k--)) + c;
  Double2 series = Exactly(tail);
  for (const Constant2& c : kMiddleSeries) series = series * (square * Exactly(factors(k--))) + c;
  const Double2 rest = InversePower(t, s) * t * series / Exactly(s - 1.0);
  return Double2{s.emitter()(sum[0]), s.emitter()(sum[1])} + rest;
}

}  // namespace

Term ZetaBesideZeros(Term s, Term q) {
  const Term size = Abs(q);
  const Double2 sides = Sides(s, (size - Floor(size)) - 0.5);
  const Double2 others = Others(s, ExactSum(size, size.Like(1)));
  const Term exponent = Convert(s, S64) + Convert(s, S64).LikeInt(1023);
  const Term scale = Bitcast(ShiftLeft(exponent, 52), F64);
  const Double2 value = Double2{scale * sides.high, scale * sides.low} + others;
  return value.high + value.low;
}

}  // namespace pjrt::ir
