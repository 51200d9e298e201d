// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/attributes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/casts.h"
#include "absl/types/span.h"
#include "src/core/ir/element.h"
#include "src/core/ir/storage.h"

namespace pjrt::ir {

AttrKind Attribute::kind() const { return storage_->kind; }

bool Attribute::AsBool() const {
  switch (kind()) {
    case AttrKind::kBool:
      return storage_->flag;
    case AttrKind::kInteger:
      return storage_->bits != 0;
    case AttrKind::kUnit:
      return true;
    default:
      return false;
  }
}

int64_t Attribute::AsInt() const {
  if (kind() == AttrKind::kInteger) return static_cast<int64_t>(storage_->bits);
  return kind() == AttrKind::kBool && storage_->flag ? 1 : 0;
}

double Attribute::AsFloat() const {
  return kind() == AttrKind::kFloat ? absl::bit_cast<double>(storage_->bits) : 0.0;
}

absl::string_view Attribute::AsString() const {
  return kind() == AttrKind::kString || kind() == AttrKind::kSymbol ? storage_->text
                                                                    : absl::string_view();
}

Type Attribute::AsType() const { return kind() == AttrKind::kType ? storage_->type : Type(); }
Type Attribute::type() const { return kind() == AttrKind::kType ? Type() : storage_->type; }

absl::Span<const Attribute> Attribute::elements() const {
  if (kind() != AttrKind::kArray) return {};
  return storage_->attributes();
}

absl::Span<const NamedAttribute> Attribute::entries() const { return storage_->entries(); }

Attribute Attribute::Get(absl::string_view name) const { return FindByName(entries(), name); }

absl::Span<const int64_t> Attribute::ints() const { return storage_->ints(); }
absl::Span<const double> Attribute::floats() const { return storage_->floats(); }

absl::string_view Attribute::name() const { return storage_->name; }

absl::string_view Attribute::enum_value() const {
  return kind() == AttrKind::kEnum ? storage_->text : absl::string_view();
}

bool Attribute::IsSplat() const { return kind() == AttrKind::kDenseElements && storage_->flag; }
absl::Span<const char> Attribute::raw_data() const { return storage_->bytes(); }

absl::Span<const Attribute> Attribute::string_elements() const {
  if (kind() != AttrKind::kDenseElements) return {};
  return storage_->attributes();
}

absl::string_view Attribute::text() const {
  return kind() == AttrKind::kOpaque || kind() == AttrKind::kLocation ? storage_->text
                                                                      : absl::string_view();
}

Attribute FindByName(absl::Span<const NamedAttribute> sorted, absl::string_view name) {
  const NamedAttribute* it = std::lower_bound(
      sorted.data(), sorted.data() + sorted.size(), name,
      [](const NamedAttribute& entry, absl::string_view key) { return entry.name < key; });
  return it != sorted.data() + sorted.size() && it->name == name ? it->value : Attribute();
}

void SortEntries(EntryList* entries) {
  EntryList& list = *entries;
  bool ordered = true;
  for (size_t i = 1; i < list.size() && ordered; ++i) ordered = list[i - 1].name < list[i].name;
  if (ordered) return;
  std::stable_sort(list.begin(), list.end(), [](const NamedAttribute& a, const NamedAttribute& b) {
    return a.name < b.name;
  });
  size_t kept = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i + 1 < list.size() && list[i + 1].name == list[i].name) continue;
    list[kept++] = list[i];
  }
  list.resize(kept);
}

bool SameBits(absl::Span<const double> a, absl::Span<const double> b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

namespace {

template <typename T>
bool SpansEqual(absl::Span<const T> a, absl::Span<const T> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](const T& x, const T& y) { return Equal(x, y); });
}

bool EqualParams(const QuantizedParams& a, const QuantizedParams& b) {
  return Equal(a.storage_type, b.storage_type) && Equal(a.expressed_type, b.expressed_type) &&
         a.storage_min == b.storage_min && a.storage_max == b.storage_max && a.axes == b.axes &&
         a.block_sizes == b.block_sizes && a.scale_dims == b.scale_dims &&
         SameBits(a.scales, b.scales) && a.zero_points == b.zero_points;
}

}  // namespace

bool Equal(Type a, Type b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const TypeStorage& x = *a.storage();
  const TypeStorage& y = *b.storage();
  if (x.owner == y.owner && !x.encoding && x.elements.empty() && x.results.empty()) return false;
  return x.kind == y.kind && x.signedness == y.signedness && x.bit_width == y.bit_width &&
         x.text == y.text && x.dims == y.dims && x.bounds == y.bounds &&
         Equal(x.element, y.element) && SpansEqual(x.elements, y.elements) &&
         SpansEqual(x.results, y.results) &&
         (x.quantized == y.quantized || (x.quantized != nullptr && y.quantized != nullptr &&
                                         EqualParams(*x.quantized, *y.quantized))) &&
         Equal(x.encoding, y.encoding);
}

bool Equal(Attribute a, Attribute b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const AttributeStorage& x = *a.storage();
  const AttributeStorage& y = *b.storage();
  if (x.kind != y.kind || x.flag != y.flag || x.bits != y.bits || x.count != y.count ||
      x.data_kind != y.data_kind || x.text != y.text || x.name != y.name ||
      !Equal(x.type, y.type)) {
    return false;
  }
  switch (x.data_kind) {
    case AttributeStorage::Data::kNothing:
      return true;
    case AttributeStorage::Data::kAttributes:
      return SpansEqual(x.attributes(), y.attributes());
    case AttributeStorage::Data::kEntries:
      return std::equal(x.entries().begin(), x.entries().end(), y.entries().begin(),
                        [](const NamedAttribute& p, const NamedAttribute& q) {
                          return p.name == q.name && Equal(p.value, q.value);
                        });
    case AttributeStorage::Data::kBytes:
      return x.count == 0 || std::memcmp(x.data, y.data, x.count) == 0;
    case AttributeStorage::Data::kInts:
      return x.ints() == y.ints();
    case AttributeStorage::Data::kFloats:
      return SameBits(x.floats(), y.floats());
  }
  return false;
}

bool GetIntList(Attribute attr, absl::InlinedVector<int64_t, 6>* out) {
  if (!attr) return false;
  absl::InlinedVector<int64_t, 6> values;
  switch (attr.kind()) {
    case AttrKind::kDenseArray:
      if (attr.type().Is(TypeKind::kFloat)) return false;
      values.assign(attr.ints().begin(), attr.ints().end());
      break;
    case AttrKind::kArray:
      for (Attribute element : attr.elements()) {
        if (!element || (!element.Is(AttrKind::kInteger) && !element.Is(AttrKind::kBool)))
          return false;
        values.push_back(element.AsInt());
      }
      break;
    case AttrKind::kDenseElements: {
      const Type type = attr.type();
      const Type element = type.element_type();
      if (!type.HasStaticShape() || type.rank() > 1 || !element ||
          (!element.Is(TypeKind::kInteger) && !element.Is(TypeKind::kIndex))) {
        return false;
      }
      const size_t width = ElementByteWidth(element);
      const size_t step = attr.IsSplat() ? 0 : width;
      const size_t count = static_cast<size_t>(type.element_count());
      const absl::Span<const char> bytes = attr.raw_data();
      // A constant whose data is missing, and a splat that claims more elements than a list of
      // sizes or positions can have.
      if (count > 0 && bytes.size() < std::max(width, step * count)) return false;
      if (step == 0 && count > kLongestSplatList) return false;
      values.reserve(count);
      for (size_t i = 0; i < count; ++i)
        values.push_back(DecodeInt(element, bytes.data() + i * step));
      break;
    }
    default:
      return false;
  }
  *out = std::move(values);
  return true;
}

}  // namespace pjrt::ir
