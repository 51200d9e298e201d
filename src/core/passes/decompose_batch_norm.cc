// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation by the formulas of the specification. Floats narrower than 32 bits are
// computed in f32 and rounded once.
#include "src/core/passes/decompose_ops.h"

namespace pjrt::ir {
namespace {

// The values of one op, widened, and how vectors over the features meet the operand.
class BatchNorm {
 public:
  BatchNorm(Emitter& emit, Op* op)
      : emit_(emit),
        op_(op),
        element_(op->operand_type(0).primitive_type()),
        wide_(element_ == F64 ? F64 : F32),
        feature_(op->IntAttr("feature_index")),
        epsilon_(op->attr("epsilon").AsFloat()) {
    const Type type = op->operand_type(0);
    for (int64_t d = 0; d < type.rank(); ++d) {
      if (d == feature_) continue;
      others_.push_back(d);
      count_ *= static_cast<double>(type.dim(d));
    }
  }

  Term operand(size_t i) { return Convert(emit_(op_->operand(i)), wide_); }
  // A vector over the features as an array like the operand.
  Term Spread(Term vector) { return Broadcast(vector, op_->operand_type(0).dims(), {feature_}); }
  Term SumOfFeature(Term x) { return Sum(x, others_); }
  Term Mean(Term x) { return SumOfFeature(x) / count_; }
  Term StandardDeviation(Term variance) { return Sqrt(variance + epsilon_); }
  // (x - mean) / deviation * scale + offset
  Term Normalize(Term x, Term scale, Term offset, Term mean, Term variance) {
    const Term normal = (x - Spread(mean)) / Spread(StandardDeviation(variance));
    return normal * Spread(scale) + Spread(offset);
  }
  double count() const { return count_; }
  double epsilon() const { return epsilon_; }

  void SetResult(size_t i, Term value) {
    op_->result(i)->ReplaceAllUsesWith(Convert(value, element_).value());
  }

 private:
  Emitter& emit_;
  Op* op_;
  PrimitiveType element_, wide_;
  int64_t feature_;
  double epsilon_;
  DimList others_;    // all dimensions but the feature's
  double count_ = 1;  // elements of a feature
};

}  // namespace

bool DecomposeBatchNormInference(Emitter& emit, Op* op) {
  BatchNorm norm(emit, op);
  norm.SetResult(0, norm.Normalize(norm.operand(0), norm.operand(1), norm.operand(2),
                                   norm.operand(3), norm.operand(4)));
  return true;
}

bool DecomposeBatchNormTraining(Emitter& emit, Op* op) {
  BatchNorm norm(emit, op);
  const Term x = norm.operand(0);
  const Term mean = norm.Mean(x);
  const Term centered = x - norm.Spread(mean);
  const Term variance = norm.Mean(centered * centered);
  norm.SetResult(0, norm.Normalize(x, norm.operand(1), norm.operand(2), mean, variance));
  norm.SetResult(1, mean);
  norm.SetResult(2, variance);
  return true;
}

bool DecomposeBatchNormGrad(Emitter& emit, Op* op) {
  BatchNorm norm(emit, op);
  const Term x = norm.operand(0), scale = norm.operand(1), mean = norm.operand(2),
             variance = norm.operand(3), grad = norm.operand(4);
  const Term centered = x - norm.Spread(mean);
  const Term deviation = norm.StandardDeviation(variance);
  const Term sum = norm.SumOfFeature(grad);
  const Term correlation = norm.Spread(norm.SumOfFeature(grad * centered)) * centered /
                           norm.Spread(variance + norm.epsilon());
  const Term factor = norm.Spread(scale / deviation / norm.count());
  norm.SetResult(0, factor * (grad * norm.count() - norm.Spread(sum) - correlation));
  norm.SetResult(1, norm.SumOfFeature(grad * (centered / norm.Spread(deviation))));
  norm.SetResult(2, sum);
  return true;
}

}  // namespace pjrt::ir
