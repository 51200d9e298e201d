// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/tensor_shape.h"

namespace pjrt {

Shape TensorShape(ir::Type tensor) {
  const ir::Type element = tensor.element_type();
  const PrimitiveType stored = element.Is(ir::TypeKind::kQuantized)
                                   ? element.quantized().storage_type.primitive_type()
                                   : tensor.primitive_type();
  Shape shape(stored, absl::Span<const int64_t>());
  for (size_t d = 0; d < tensor.dims().size(); ++d) {
    const int64_t size = tensor.dims()[d];
    if (size != ir::kDynamic) {
      shape.add_dimensions(size);
      continue;
    }
    const int64_t bound = tensor.bounds().empty() ? ir::kDynamic : tensor.bounds()[d];
    shape.add_dimensions(bound >= 0 ? bound : Shape::kUnboundedSize, /*is_dynamic=*/true);
  }
  return shape;
}

}  // namespace pjrt
