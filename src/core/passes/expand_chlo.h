// SPDX-License-Identifier: Apache-2.0
//
// What the files of ExpandChlo share: each family of ops in its own, tied together by
// expand_chlo.cc.
#ifndef PJRT_CORE_PASSES_EXPAND_CHLO_H_
#define PJRT_CORE_PASSES_EXPAND_CHLO_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "pjrt/ir/module.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/two_doubles.h"

namespace pjrt::ir {

inline constexpr double kLog2 = 0.69314718055994530942;

// Functions of one number. Those that say so take f64 only, others f32 and f64; complex ones take
// the type that they name. Narrower floats are converted before.

// expand_chlo_error_function.cc
Term ExpandErf(Term x);
Term ExpandErfc(Term x);  // f64
Term ExpandErfInv(Term x);

// expand_chlo_gamma.cc
Term ExpandLgamma(Term x);
Term ExpandDigamma(Term x);
Term ExpandZeta(Term s, Term q);
Term ExpandPolygamma(Term n, Term x);

// table[index] for an index within the table; f64.
Term Lookup(absl::Span<const double> table, Term index);
Double2 Lookup(absl::Span<const Constant2> table, Term index);

// expand_chlo_negative_gamma.cc: f64; lgamma for -kLgammaReach <= x < 0 and digamma for
// -kDigammaReach < x < 0. What they give for other numbers means nothing.
inline constexpr int kLgammaReach = 40, kDigammaReach = 64;
Term NegativeLgamma(Term x);
Term NegativeDigamma(Term x);

// expand_chlo_far_digamma.cc: f64; digamma for x <= -kDigammaReach.
Term FarDigamma(Term x);

// expand_chlo_zeta_zeros.cc: f64; zeta(s, q) for odd s from 3 to kLargestZetaWithZeros, and q < 0
// less than 1 / (4 s^2) from the middle between two integers.
inline constexpr int kLargestZetaWithZeros = 31;
Term ZetaBesideZeros(Term s, Term q);

// expand_chlo_arc.cc
Term ExpandAcos(Term x);
Term ExpandAcosh(Term x);
Term ExpandAsin(Term x);
Term ExpandAsinh(Term x);
Term ExpandAtan(Term x);
Term ExpandAtanh(Term x);

// expand_chlo_complex_arc.cc
Term ExpandComplexAsinAcosKernel(Term z);
Term ExpandComplexAcos(Term z);
Term ExpandComplexAcosh(Term z);
Term ExpandComplexAsin(Term z);
Term ExpandComplexAsinh(Term z);
Term ExpandComplexAtan(Term z);
Term ExpandComplexAtanh(Term z);

// expand_chlo_hyperbolic.cc
Term ExpandSinh(Term x);
Term ExpandCosh(Term x);
Term ExpandComplexSinh(Term z);
Term ExpandComplexCosh(Term z);
Term ExpandBesselI1e(Term x);  // f64

// expand_chlo_bits.cc: any float, any integer
Term ExpandNextAfter(Term x, Term to);
Term ExpandMulhi(Term a, Term b);

// expand_chlo_broadcast.cc. Replaces the op by the plain one with broadcast operands and returns
// it. OK and null when its shapes are dynamic.
Op* ExpandBroadcast(Emitter& emit, Op* op);

// expand_chlo_tensors.cc. Each replaces all uses of the op's results.
void ExpandTopK(Emitter& emit, Op* op, bool largest = true);
void ExpandRaggedDot(Emitter& emit, Op* op);
void ExpandScan(Emitter& emit, Op* op);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EXPAND_CHLO_H_
