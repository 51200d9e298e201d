// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/types.h"

#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "src/core/ir/storage.h"

namespace pjrt::ir {

TypeKind Type::kind() const { return storage_->kind; }

bool Type::IsElementType() const {
  switch (kind()) {
    case TypeKind::kIndex:
    case TypeKind::kInteger:
    case TypeKind::kFloat:
    case TypeKind::kComplex:
    case TypeKind::kQuantized:
    case TypeKind::kOpaque:
      return true;
    default:
      return false;
  }
}

PrimitiveType Type::primitive_type() const { return storage_->primitive; }
int Type::bit_width() const { return storage_->bit_width; }
Signedness Type::signedness() const { return storage_->signedness; }
Type Type::element_type() const { return storage_->element; }
absl::Span<const int64_t> Type::dims() const { return storage_->dims; }
bool Type::HasStaticShape() const { return storage_->static_shape; }
int64_t Type::element_count() const { return storage_->element_count; }
absl::Span<const int64_t> Type::bounds() const { return storage_->bounds; }
Attribute Type::encoding() const { return storage_->encoding; }
absl::Span<const Type> Type::elements() const { return storage_->elements; }
absl::Span<const Type> Type::results() const { return storage_->results; }
const QuantizedParams& Type::quantized() const { return *storage_->quantized; }

absl::string_view Type::opaque_text() const {
  return kind() == TypeKind::kOpaque ? storage_->text : absl::string_view();
}

}  // namespace pjrt::ir
