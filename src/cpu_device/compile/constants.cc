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

// A constant of T whose elements grow evenly along each dim.
template <typename T>
std::optional<ArrayView> IotaOf(const ir::Op& op) {
  const ir::Type type = op.result_type();
  const absl::Span<const char> data = op.attr("value").raw_data();
  const int64_t count = type.element_count();
  if (count == 0 || static_cast<int64_t>(data.size()) != count * static_cast<int64_t>(sizeof(T)))
    return std::nullopt;
  const auto element = [&](int64_t i) {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  // Numbers that leave room to count with.
  constexpr int64_t kLimit = int64_t{1} << 40;
  for (int64_t i = 0; i < count; ++i) {
    const T value = element(i);
    if (static_cast<int64_t>(value) < -kLimit || static_cast<int64_t>(value) > kLimit)
      return std::nullopt;
  }
  ArrayView view;
  view.kind = ArrayView::kIota;
  view.type = type.primitive_type();
  view.dims.assign(type.dims().begin(), type.dims().end());
  view.offset = static_cast<int64_t>(element(0));
  view.strides.assign(view.dims.size(), 0);
  int64_t step = count;
  for (size_t d = 0; d < view.dims.size(); ++d) {
    step /= view.dims[d];
    if (view.dims[d] > 1)
      view.strides[d] = static_cast<int64_t>(element(step)) - static_cast<int64_t>(element(0));
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, expected = view.offset;
    for (int d = static_cast<int>(view.dims.size()) - 1; d >= 0; --d) {
      expected += rest % view.dims[d] * view.strides[d];
      rest /= view.dims[d];
    }
    if (static_cast<int64_t>(element(i)) != expected) return std::nullopt;
  }
  return view;
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

std::optional<ArrayView> IotaConstant(const ir::Value& value) {
  const ir::Op* const op = value.defining_op();
  if (op == nullptr) return std::nullopt;
  if (op->Is(ir::OpCode::kBroadcastInDim)) {
    const std::optional<ArrayView> operand = IotaConstant(*op->operand(0));
    if (!operand.has_value()) return std::nullopt;
    return BroadcastView(*operand, op->result_type().dims(), op->IntsAttr("broadcast_dimensions"));
  }
  const ir::Type type = op->result_type();
  if (!op->Is(ir::OpCode::kConstant) || !type.IsTensor() || !type.HasStaticShape())
    return std::nullopt;
  switch (type.primitive_type()) {
    case S32:
      return IotaOf<int32_t>(*op);
    case U32:
      return IotaOf<uint32_t>(*op);
    case S64:
      return IotaOf<int64_t>(*op);
    default:
      return std::nullopt;
  }
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
