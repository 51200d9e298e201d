// SPDX-License-Identifier: Apache-2.0
//
// rng_bit_generator and rng.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/rng_step.h"

namespace pjrt::cpu {
namespace {

// The dimension along which a block of Threefry gives two neighbours: the first of even size, else
// the first of the largest.
size_t PairedDimension(absl::Span<const int64_t> dims) {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] % 2 == 0) return d;
  }
  return std::max_element(dims.begin(), dims.end()) - dims.begin();
}

}  // namespace

absl::Status LowerRngBitGenerator(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const ir::RngAlgorithm algorithm =
      ir::EnumFrom<ir::RngAlgorithm>(op.attr("rng_algorithm")).value_or(ir::RngAlgorithm::kDefault);
  RandomBitsParams p;
  p.kernels = lowering.kernels().random;
  p.is_threefry = algorithm == ir::RngAlgorithm::kThreeFry;
  PJRT_ASSIGN_OR_RETURN(const ArrayView state, lowering.Dense(lowering.view(op.operand(0)), steps));
  const int64_t words = state.ElementCount();
  if (!IsInteger(state.type) || BitWidth(state.type) != 64 || state.dims.size() != 1 ||
      !(words == 2 || (words == 3 && !p.is_threefry))) {
    return UnsupportedOp(
        op, absl::StrCat("its state must be ui64[2]", p.is_threefry ? "" : " or ui64[3]"));
  }
  const ArrayView next = lowering.NewArray(op.result_type(0));
  const ArrayView result = lowering.NewArray(op.result_type(1));
  if (result.type == PRED || IsComplex(result.type))
    return UnsupportedOp(op, "its output must be of integers or floats");
  lowering.Bind(op.result(0), next);
  lowering.Bind(op.result(1), result);
  p.state = state.buffer;
  p.state_words = static_cast<int>(words);
  p.next_state = next.buffer;
  p.result = result.buffer;
  p.type = result.type;
  if (!result.dims.empty()) {
    const size_t paired = PairedDimension(result.dims);
    for (size_t d = 0; d < result.dims.size(); ++d)
      (d < paired ? p.outer : d == paired ? p.size : p.inner) *= result.dims[d];
  }
  lowering.plan().Emit(steps, std::make_unique<RandomBitsStep>(p), {state.buffer},
                       {next.buffer, result.buffer});
  return absl::OkStatus();
}

absl::Status LowerRng(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  RandomParams p;
  p.kernels = lowering.kernels().random;
  p.is_normal = ir::EnumFrom<ir::RngDistribution>(op.attr("rng_distribution")) ==
                ir::RngDistribution::kNormal;
  p.type = result.type;
  if (!CanDrawRandom(p.type))
    return UnsupportedOp(op, "there are no random numbers of its element type");
  if (p.is_normal && !IsFloating(p.type))
    return UnsupportedOp(op, "a normal distribution needs floats");
  p.count = result.ElementCount();
  PJRT_ASSIGN_OR_RETURN(ArrayView a, lowering.ScalarInBuffer(lowering.view(op.operand(0)), steps));
  PJRT_ASSIGN_OR_RETURN(a, lowering.Dense(a, steps));
  PJRT_ASSIGN_OR_RETURN(ArrayView b, lowering.ScalarInBuffer(lowering.view(op.operand(1)), steps));
  PJRT_ASSIGN_OR_RETURN(b, lowering.Dense(b, steps));
  p.a = a.buffer;
  p.b = b.buffer;
  p.result = result.buffer;
  lowering.plan().Emit(steps, std::make_unique<RandomStep>(p), {p.a, p.b}, {p.result});
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
