// SPDX-License-Identifier: Apache-2.0
//
// Batch normalization, Cholesky, triangular solve, FFT and random numbers.
#include <algorithm>

#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// The operand's feature dimension, and vectors (operands 1 to `last`) of its size.
absl::Status CheckFeatures(const InferInput& in, size_t last, Extent* features) {
  const Type operand = in.operand_type(0);
  const int64_t index = Int(in, "feature_index");
  PJRT_RETURN_IF_ERROR(CheckDimension("feature_index", index, operand.rank()));
  *features = ExtentOf(operand, static_cast<size_t>(index));
  for (size_t i = 1; i <= last; ++i) {
    const Type vector = in.operand_type(i);
    PJRT_RETURN_IF_ERROR(
        CheckSameElement("operand 0", operand, absl::StrCat("operand ", i), vector));
    PJRT_RETURN_IF_ERROR(
        CheckSameShape("operand 1", in.operand_type(1), absl::StrCat("operand ", i), vector));
    if (!CompatibleExtents(*features, ExtentOf(vector, 0))) {
      return InvalidArgument(rule::kSizes, "operand ", i,
                             " must have a value for each feature; given ", vector.ToString(),
                             " for ", operand.ToString(), " with feature_index ", index);
    }
    *features = MostSpecific(*features, ExtentOf(vector, 0));
  }
  return absl::OkStatus();
}

// The two minor dimensions are the same.
absl::Status CheckSquare(Type a) {
  const size_t rank = a.dims().size();
  if (rank < 2)
    return InvalidArgument(rule::kAgree, "a must have rank 2 at least; given ", a.ToString());
  if (!CompatibleExtents(ExtentOf(a, rank - 1), ExtentOf(a, rank - 2))) {
    return InvalidArgument(rule::kSizes, "the matrices of a must be square; given ", a.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferBatchNormInference(const InferInput& in, TypeList* out) {
  Extent features;
  PJRT_RETURN_IF_ERROR(CheckFeatures(in, 4, &features));
  out->assign(1, in.operand_type(0));
  return absl::OkStatus();
}

absl::Status InferBatchNormTraining(const InferInput& in, TypeList* out) {
  Extent features;
  PJRT_RETURN_IF_ERROR(CheckFeatures(in, 2, &features));
  const Type vector = MakeTensor(*in.context, {features}, in.operand_type(0).element_type());
  *out = {in.operand_type(0), vector, vector};
  return absl::OkStatus();
}

absl::Status InferBatchNormGrad(const InferInput& in, TypeList* out) {
  Extent features;
  PJRT_RETURN_IF_ERROR(CheckFeatures(in, 3, &features));
  PJRT_RETURN_IF_ERROR(
      CheckSameElement("operand", in.operand_type(0), "grad_output", in.operand_type(4)));
  PJRT_RETURN_IF_ERROR(
      CheckSameShape("operand", in.operand_type(0), "grad_output", in.operand_type(4)));
  const Type vector = MakeTensor(*in.context, {features}, in.operand_type(0).element_type());
  *out = {in.operand_type(0), vector, vector};
  return absl::OkStatus();
}

absl::Status InferCholesky(const InferInput& in, TypeList* out) {
  PJRT_RETURN_IF_ERROR(CheckSquare(in.operand_type(0)));
  out->assign(1, in.operand_type(0));
  return absl::OkStatus();
}

absl::Status InferTriangularSolve(const InferInput& in, TypeList* out) {
  const Type a = in.operand_type(0), b = in.operand_type(1);
  PJRT_RETURN_IF_ERROR(CheckSameElement("a", a, "b", b));
  PJRT_RETURN_IF_ERROR(CheckSquare(a));
  PJRT_RETURN_IF_ERROR(CheckRank("b", b, a.rank()));
  const size_t rank = a.dims().size();
  const bool left_side = in.attr("left_side").AsBool();
  if (!CompatibleExtents(ExtentOf(a, rank - 1), ExtentOf(b, left_side ? rank - 2 : rank - 1))) {
    return InvalidArgument(rule::kSizes, "the matrices of a must fit those of b on the ",
                           left_side ? "left" : "right", "; given ", a.ToString(), " and ",
                           b.ToString());
  }
  for (size_t d = 0; d + 2 < rank; ++d) {
    if (!CompatibleExtents(ExtentOf(a, d), ExtentOf(b, d))) {
      return InvalidArgument(rule::kSizes, "a and b must have the same batch dimensions; given ",
                             a.ToString(), " and ", b.ToString());
    }
  }
  if (in.attr("transpose_a").enum_value() == "TRANSPOSE_INVALID") {
    return InvalidArgument(
        rule::kValue,
        "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT; given TRANSPOSE_INVALID");
  }
  out->assign(1, b);
  return absl::OkStatus();
}

absl::Status InferFft(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  const Type element = operand.element_type();
  const FftType type = EnumFrom<FftType>(in.attr("fft_type")).value_or(FftType::kFft);
  const DimList length = Ints(in, "fft_length");
  if (length.empty() || length.size() > 3 || static_cast<int64_t>(length.size()) > operand.rank()) {
    return InvalidArgument(
        rule::kDimensions,
        "fft_length must have 1 to 3 values and at most the operand's rank; given ",
        DimsText(length), " for ", operand.ToString());
  }
  if (std::any_of(length.begin(), length.end(), [](int64_t n) { return n < 0; })) {
    return InvalidArgument(rule::kValue, "fft_length must not be negative; given ",
                           DimsText(length));
  }
  const bool from_real = type == FftType::kRfft;
  const bool real_ok = IsFloat(element, 32) || IsFloat(element, 64);
  if (from_real ? !real_ok : !element.Is(TypeKind::kComplex)) {
    return InvalidArgument(
        rule::kType,
        from_real ? "RFFT takes f32 or f64" : "FFT, IFFT and IRFFT take complex numbers",
        "; given ", operand.ToString());
  }
  Extents extents = ExtentsOf(operand);
  if (type == FftType::kRfft || type == FftType::kIrfft) {
    const size_t first = extents.size() - length.size();
    for (size_t i = 0; i < length.size(); ++i) {
      const bool halved = type == FftType::kIrfft && i + 1 == length.size();
      const int64_t expected = halved ? length[i] / 2 + 1 : length[i];
      const bool empty = extents[first + i].size == 0 && length[i] == 0;
      if (!empty && !CompatibleExtents(extents[first + i], {expected, kDynamic})) {
        return InvalidArgument(rule::kSizes,
                               "the operand's last dimensions must fit fft_length; given ",
                               operand.ToString(), " and ", DimsText(length), ", expected size ",
                               expected, " in dimension ", first + i);
      }
    }
    extents.back() = {
        type == FftType::kIrfft || length.back() == 0 ? length.back() : length.back() / 2 + 1,
        kDynamic};
  }
  Type result = element;
  if (type == FftType::kRfft) result = in.context->Complex(element);
  if (type == FftType::kIrfft) result = element.element_type();
  out->assign(1, MakeTensor(*in.context, extents, result));
  return absl::OkStatus();
}

absl::Status VerifyRng(const Op& op) {
  const Type a = op.operand_type(0), b = op.operand_type(1), shape = op.operand_type(2),
             result = op.result_type();
  PJRT_RETURN_IF_ERROR(CheckSameElement("a", a, "b", b));
  PJRT_RETURN_IF_ERROR(CheckSameElement("a", a, "result", result));
  if (EnumFrom<RngDistribution>(op.attr("rng_distribution")) == RngDistribution::kNormal &&
      !a.element_type().Is(TypeKind::kFloat)) {
    return InvalidArgument(rule::kType, "a normal distribution needs floats; given ", a.ToString());
  }
  if (!CompatibleSizes(shape.dim(0), result.rank())) {
    return InvalidArgument(rule::kSizes,
                           "shape must have a value for each dimension of the result; given ",
                           shape.ToString(), " and ", result.ToString());
  }
  const std::optional<DimList> sizes = ConstantInts(op.operand(2));
  for (size_t d = 0; sizes && d < sizes->size() && d < result.dims().size(); ++d) {
    if (!CompatibleExtents({(*sizes)[d], kDynamic}, ExtentOf(result, d))) {
      return InvalidArgument(rule::kResult, "the result must have the shape given; given ",
                             result.ToString(), ", expected sizes ", DimsText(*sizes));
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyRngBitGenerator(const Op& op) {
  const Type state = op.operand_type(0), next = op.result_type(0);
  if (!CompatibleTypes(state, next)) {
    return InvalidArgument(rule::kResult,
                           "output_state must have the type of initial_state; given ",
                           next.ToString(), ", expected ", state.ToString());
  }
  const RngAlgorithm algorithm =
      EnumFrom<RngAlgorithm>(op.attr("rng_algorithm")).value_or(RngAlgorithm::kDefault);
  // The words of a state of other elements are the device's affair.
  const bool words = IsInteger(state.element_type(), 64) && state.rank() == 1;
  if (algorithm == RngAlgorithm::kDefault || !words) return absl::OkStatus();
  const int64_t count = state.dim(0);
  if (CompatibleSizes(count, 2) || (count == 3 && algorithm == RngAlgorithm::kPhilox)) {
    return absl::OkStatus();
  }
  return InvalidArgument(rule::kSizes,
                         "initial_state must hold 2 words of 64 bits, or 3 for PHILOX; given ",
                         state.ToString());
}

}  // namespace pjrt::ir
