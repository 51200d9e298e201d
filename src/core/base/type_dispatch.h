// SPDX-License-Identifier: Apache-2.0
//
// From an element type known at run time to code that knows it when compiled.
#ifndef PJRT_CORE_BASE_TYPE_DISPATCH_H_
#define PJRT_CORE_BASE_TYPE_DISPATCH_H_

#include <type_traits>
#include <utility>

#include "pjrt/base/primitive_type.h"

namespace pjrt {

template <PrimitiveType type>
using TypeConstant = std::integral_constant<PrimitiveType, type>;

// Calls visit(TypeConstant<type>()) for an array type and returns what it returns; for any other
// type returns a value-initialized result without a call. Use:
//
//   VisitArrayType(type, [&](auto t) { Fill<typename NativeTypeOf<t()>::type>(data); });
template <typename Visitor>
auto VisitArrayType(PrimitiveType type, Visitor&& visit) -> decltype(visit(TypeConstant<F32>())) {
  switch (type) {
#define PJRT_VISIT_(t) \
  case t:              \
    return visit(TypeConstant<t>());
    PJRT_VISIT_(PRED)
    PJRT_VISIT_(S1)
    PJRT_VISIT_(S2)
    PJRT_VISIT_(S4)
    PJRT_VISIT_(S8)
    PJRT_VISIT_(S16)
    PJRT_VISIT_(S32)
    PJRT_VISIT_(S64)
    PJRT_VISIT_(U1)
    PJRT_VISIT_(U2)
    PJRT_VISIT_(U4)
    PJRT_VISIT_(U8)
    PJRT_VISIT_(U16)
    PJRT_VISIT_(U32)
    PJRT_VISIT_(U64)
    PJRT_VISIT_(F4E2M1FN)
    PJRT_VISIT_(F6E2M3FN)
    PJRT_VISIT_(F6E3M2FN)
    PJRT_VISIT_(F8E3M4)
    PJRT_VISIT_(F8E4M3)
    PJRT_VISIT_(F8E4M3FN)
    PJRT_VISIT_(F8E4M3FNUZ)
    PJRT_VISIT_(F8E4M3B11FNUZ)
    PJRT_VISIT_(F8E5M2)
    PJRT_VISIT_(F8E5M2FNUZ)
    PJRT_VISIT_(F8E8M0FNU)
    PJRT_VISIT_(BF16)
    PJRT_VISIT_(F16)
    PJRT_VISIT_(F32)
    PJRT_VISIT_(F64)
    PJRT_VISIT_(C64)
    PJRT_VISIT_(C128)
#undef PJRT_VISIT_
    case INVALID:
    case TUPLE:
    case OPAQUE_TYPE:
    case TOKEN:
      break;
  }
  return decltype(visit(TypeConstant<F32>()))();
}

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_TYPE_DISPATCH_H_
