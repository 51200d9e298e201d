// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/context_impl.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/base/casts.h"
#include "absl/hash/hash.h"

namespace pjrt::ir {
namespace {

// What absl::Hash hashes, so that its combiners can be used.
struct TypeContent {
  const TypeStorage& storage;

  template <typename H>
  friend H AbslHashValue(H h, const TypeContent& content) {
    const TypeStorage& t = content.storage;
    h = H::combine(std::move(h), t.kind, t.bit_width, t.element, t.dims, t.encoding.storage());
    if (!t.text.empty()) h = H::combine(std::move(h), t.text);
    if (!t.elements.empty() || !t.results.empty())
      h = H::combine(std::move(h), t.elements, t.results);
    return t.quantized != nullptr ? HashParams(std::move(h), *t.quantized) : std::move(h);
  }

  template <typename H>
  static H HashParams(H h, const QuantizedParams& p) {
    h = H::combine(std::move(h), p.storage_type, p.expressed_type, p.axes, p.zero_points);
    for (double scale : p.scales) h = H::combine(std::move(h), absl::bit_cast<uint64_t>(scale));
    return h;
  }
};

struct AttributeContent {
  const AttributeStorage& storage;

  template <typename H>
  friend H AbslHashValue(H h, const AttributeContent& content) {
    const AttributeStorage& a = content.storage;
    h = H::combine(std::move(h), a.kind, a.flag, a.type, a.bits, a.text, a.name, a.count);
    switch (a.data_kind) {
      case AttributeStorage::Data::kNothing:
        break;
      case AttributeStorage::Data::kAttributes:
        for (Attribute e : a.attributes()) h = H::combine(std::move(h), e.storage());
        break;
      case AttributeStorage::Data::kEntries:
        for (const NamedAttribute& e : a.entries()) {
          h = H::combine(std::move(h), e.name, e.value.storage());
        }
        break;
      case AttributeStorage::Data::kBytes:
      case AttributeStorage::Data::kInts:
      case AttributeStorage::Data::kFloats: {
        const size_t width = a.data_kind == AttributeStorage::Data::kBytes ? 1 : sizeof(int64_t);
        h = H::combine_contiguous(std::move(h), static_cast<const unsigned char*>(a.data),
                                  a.count * width);
        break;
      }
    }
    return h;
  }
};

bool SameParams(const QuantizedParams& a, const QuantizedParams& b) {
  return a.storage_type == b.storage_type && a.expressed_type == b.expressed_type &&
         a.storage_min == b.storage_min && a.storage_max == b.storage_max && a.axes == b.axes &&
         a.block_sizes == b.block_sizes && a.scale_dims == b.scale_dims &&
         a.zero_points == b.zero_points && SameBits(a.scales, b.scales);
}

}  // namespace

size_t ContentHash::operator()(const TypeStorage* t) const {
  return absl::Hash<TypeContent>()(TypeContent{*t});
}
size_t ContentHash::operator()(const AttributeStorage* a) const {
  return absl::Hash<AttributeContent>()(AttributeContent{*a});
}

bool ContentEqual::operator()(const TypeStorage* a, const TypeStorage* b) const {
  return a->kind == b->kind && a->signedness == b->signedness && a->bit_width == b->bit_width &&
         a->element == b->element && a->dims == b->dims && a->bounds == b->bounds &&
         a->encoding == b->encoding && a->elements == b->elements && a->results == b->results &&
         a->text == b->text &&
         (a->quantized == b->quantized || (a->quantized != nullptr && b->quantized != nullptr &&
                                           SameParams(*a->quantized, *b->quantized)));
}

bool ContentEqual::operator()(const AttributeStorage* a, const AttributeStorage* b) const {
  if (a->kind != b->kind || a->flag != b->flag || a->type != b->type || a->bits != b->bits ||
      a->text != b->text || a->name != b->name || a->data_kind != b->data_kind ||
      a->count != b->count) {
    return false;
  }
  switch (a->data_kind) {
    case AttributeStorage::Data::kNothing:
      return true;
    case AttributeStorage::Data::kAttributes:
      return a->attributes() == b->attributes();
    case AttributeStorage::Data::kEntries:
      return std::equal(a->entries().begin(), a->entries().end(), b->entries().begin(),
                        [](const NamedAttribute& x, const NamedAttribute& y) {
                          return x.value == y.value && x.name == y.name;
                        });
    case AttributeStorage::Data::kBytes:
      return a->count == 0 || std::memcmp(a->data, b->data, a->count) == 0;
    case AttributeStorage::Data::kInts:
      return a->ints() == b->ints();
    case AttributeStorage::Data::kFloats:
      return SameBits(a->floats(), b->floats());
  }
  return false;
}

absl::string_view Context::Impl::CopyText(absl::string_view text) {
  if (text.empty()) return {};
  char* to = static_cast<char*>(arena.Allocate(text.size(), 1));
  std::memcpy(to, text.data(), text.size());
  return absl::string_view(to, text.size());
}

Type Context::Impl::InternType(const TypeStorage& wanted) {
  auto found = types.find(&wanted);
  if (found != types.end()) return Type(*found);
  TypeStorage candidate = wanted;
  candidate.owner = owner;
  candidate.dims = Copy(candidate.dims);
  candidate.bounds = Copy(candidate.bounds);
  candidate.elements = Copy(candidate.elements);
  candidate.results = Copy(candidate.results);
  candidate.text = CopyText(candidate.text);
  if (candidate.quantized != nullptr) {
    auto* params = new (arena.Allocate(sizeof(QuantizedParams), alignof(QuantizedParams)))
        QuantizedParams(*candidate.quantized);
    params->axes = Copy(params->axes);
    params->block_sizes = Copy(params->block_sizes);
    params->scale_dims = Copy(params->scale_dims);
    params->scales = Copy(params->scales);
    params->zero_points = Copy(params->zero_points);
    candidate.quantized = params;
  }
  auto* storage =
      new (arena.Allocate(sizeof(TypeStorage), alignof(TypeStorage))) TypeStorage(candidate);
  types.insert(storage);
  return Type(storage);
}

Attribute Context::Impl::StoreAttribute(AttributeStorage candidate) {
  candidate.owner = owner;
  candidate.text = CopyText(candidate.text);
  switch (candidate.data_kind) {
    case AttributeStorage::Data::kNothing:
      break;
    case AttributeStorage::Data::kAttributes:
      candidate.data = Copy(candidate.attributes()).data();
      break;
    case AttributeStorage::Data::kEntries:
      candidate.data = Copy(candidate.entries()).data();
      break;
    case AttributeStorage::Data::kBytes: {
      // Aligned for whoever reads the elements where they are.
      char* to = static_cast<char*>(arena.Allocate(candidate.count, 16));
      if (candidate.count > 0) std::memcpy(to, candidate.data, candidate.count);
      candidate.data = to;
      break;
    }
    case AttributeStorage::Data::kInts:
      candidate.data = Copy(candidate.ints()).data();
      break;
    case AttributeStorage::Data::kFloats:
      candidate.data = Copy(candidate.floats()).data();
      break;
  }
  return Attribute(new (arena.Allocate(sizeof(AttributeStorage), alignof(AttributeStorage)))
                       AttributeStorage(candidate));
}

Attribute Context::Impl::InternAttribute(const AttributeStorage& candidate) {
  auto found = attributes.find(&candidate);
  if (found != attributes.end()) return Attribute(*found);
  const Attribute made = StoreAttribute(candidate);
  attributes.insert(made.storage());
  return made;
}

}  // namespace pjrt::ir
