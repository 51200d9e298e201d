// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/constants.h"

#include <cstring>

#include "pjrt/base/small_float.h"
#include "src/cpu_device/compile/diagnostics.h"

namespace pjrt::cpu {
namespace {

template <typename T>
void SmallFloatToF32(const char* from, char* to) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  const float wide = static_cast<float>(value);
  std::memcpy(to, &wide, sizeof(float));
}

}  // namespace

void ToComputeType(PrimitiveType type, const char* from, char* to) {
  switch (type) {
    case BF16:
      return SmallFloatToF32<NativeTypeOf<BF16>::type>(from, to);
    case F16:
      return SmallFloatToF32<NativeTypeOf<F16>::type>(from, to);
    case F8E3M4:
      return SmallFloatToF32<NativeTypeOf<F8E3M4>::type>(from, to);
    case F8E4M3:
      return SmallFloatToF32<NativeTypeOf<F8E4M3>::type>(from, to);
    case F8E4M3FN:
      return SmallFloatToF32<NativeTypeOf<F8E4M3FN>::type>(from, to);
    case F8E4M3FNUZ:
      return SmallFloatToF32<NativeTypeOf<F8E4M3FNUZ>::type>(from, to);
    case F8E4M3B11FNUZ:
      return SmallFloatToF32<NativeTypeOf<F8E4M3B11FNUZ>::type>(from, to);
    case F8E5M2:
      return SmallFloatToF32<NativeTypeOf<F8E5M2>::type>(from, to);
    case F8E5M2FNUZ:
      return SmallFloatToF32<NativeTypeOf<F8E5M2FNUZ>::type>(from, to);
    case F8E8M0FNU:
      return SmallFloatToF32<NativeTypeOf<F8E8M0FNU>::type>(from, to);
    case F4E2M1FN:
      return SmallFloatToF32<NativeTypeOf<F4E2M1FN>::type>(from, to);
    case F6E2M3FN:
      return SmallFloatToF32<NativeTypeOf<F6E2M3FN>::type>(from, to);
    case F6E3M2FN:
      return SmallFloatToF32<NativeTypeOf<F6E3M2FN>::type>(from, to);
    default:
      std::memcpy(to, from, ByteWidth(type));
  }
}

std::optional<ArrayView> SplatConstant(const ir::Op& op) {
  const ir::Type type = op.result_type();
  const ir::Attribute value = op.attr("value");
  if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(type.primitive_type()))
    return std::nullopt;
  const absl::Span<const char> data = value.raw_data();
  const size_t size = ByteWidth(type.primitive_type());
  if (data.size() < size) return std::nullopt;
  if (!value.IsSplat() && data.size() != size) return std::nullopt;
  return SplatView(type.primitive_type(), type.dims(), data.data());
}

absl::StatusOr<ArrayView> ConstantView(const ir::Op& op, PlanBuilder* plan) {
  if (std::optional<ArrayView> splat = SplatConstant(op)) return *splat;
  const ir::Type type = op.result_type();
  const PrimitiveType element = type.primitive_type();
  if (!type.IsTensor() || !type.HasStaticShape() || !IsArrayType(element))
    return UnsupportedOp(op, "no constants of this type");
  const absl::Span<const char> data = op.attr("value").raw_data();
  const int64_t bytes = type.element_count() * ByteWidth(element);
  if (static_cast<int64_t>(data.size()) != bytes)
    return UnsupportedOp(op, "its data are missing or of the wrong size");
  if (bytes == 0) {
    const char zero[16] = {};
    return SplatView(element, type.dims(), zero);
  }
  return DenseView(plan->Constant(data), element, type.dims());
}

}  // namespace pjrt::cpu
