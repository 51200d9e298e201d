// SPDX-License-Identifier: Apache-2.0
#ifndef PJRT_CORE_RUNTIME_TENSOR_SHAPE_H_
#define PJRT_CORE_RUNTIME_TENSOR_SHAPE_H_

#include "pjrt/base/shape.h"
#include "pjrt/ir/types.h"

namespace pjrt {

// The shape of a ranked tensor type: bounded and unbounded dimensions included, without a layout.
// Elements of a quantized type are what is stored; of a type that the runtime lacks, INVALID.
Shape TensorShape(ir::Type tensor);

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_TENSOR_SHAPE_H_
