// SPDX-License-Identifier: Apache-2.0
//
// The registry of custom calls, attributes, and the checks of typed functions.
#include <algorithm>
#include <iterator>
#include <limits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pjrt/cpu/custom_call.h"
#include "pjrt/cpu/custom_call_bind.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace custom_call {
namespace {

bool IsBefore(const NamedAttribute& entry, absl::string_view name) { return entry.name < name; }

std::string ArrayText(const Array& array) {
  return absl::StrCat(PrimitiveTypeName(array.type), "[", absl::StrJoin(array.dims, ","), "]");
}

}  // namespace

// Here, where an entry is complete.
Dict::Dict() = default;
Dict::Dict(const Dict& other) = default;
Dict::Dict(Dict&& other) noexcept = default;
Dict& Dict::operator=(const Dict& other) = default;
Dict& Dict::operator=(Dict&& other) noexcept = default;
Dict::~Dict() = default;

const Attribute* Dict::Find(absl::string_view name) const {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, IsBefore);
  return at != entries_.end() && at->name == name ? &at->value : nullptr;
}

absl::Span<const NamedAttribute> Dict::entries() const { return entries_; }

void Dict::Set(absl::string_view name, Attribute value) {
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, IsBefore);
  if (at != entries_.end() && at->name == name) {
    at->value = std::move(value);
  } else {
    entries_.insert(at, NamedAttribute{std::string(name), std::move(value)});
  }
}

absl::Status SignatureError(absl::string_view message) {
  return InvalidArgument("PJRT-K002", message);
}

namespace internal {

int Decoder::Take(bool is_result, PrimitiveType type, bool (*is_stored_as)(PrimitiveType),
                  int rank) {
  const absl::Span<const Array> arrays = is_result ? signature_.results : signature_.operands;
  const absl::string_view what = is_result ? "result" : "operand";
  const int index = next_[is_result]++;
  if (static_cast<size_t>(index) >= arrays.size()) return 0;  // Finish() tells of the number
  const Array& array = arrays[static_cast<size_t>(index)];
  if (is_stored_as != nullptr && !is_stored_as(array.type)) {
    Fail(absl::StrCat(what, " ", index, " is ", ArrayText(array), "; expected elements of type ",
                      PrimitiveTypeName(type)));
  } else if (rank >= 0 && array.rank() != rank) {
    Fail(absl::StrCat(what, " ", index, " is ", ArrayText(array), "; expected rank ", rank));
  }
  return index;
}

int Decoder::TakeRest(bool is_result) {
  const size_t count = (is_result ? signature_.results : signature_.operands).size();
  const int first = std::min(next_[is_result], static_cast<int>(count));
  next_[is_result] = std::max(next_[is_result], static_cast<int>(count));
  return first;
}

absl::Status Decoder::Finish() const {
  for (const bool is_result : {false, true}) {
    const size_t given = (is_result ? signature_.results : signature_.operands).size();
    if (static_cast<int>(given) == next_[is_result]) continue;
    return SignatureError(absl::StrCat("given ", given, is_result ? " results" : " operands",
                                       "; expected ", next_[is_result]));
  }
  return status_;
}

void Decoder::Fail(absl::string_view message) {
  if (status_.ok()) status_ = SignatureError(message);
}

void Decoder::MissAttr(absl::string_view name) {
  Fail(absl::StrCat("the attribute '", name, "' is missing"));
}

void Decoder::FailAttr(absl::string_view name) {
  // In the order of Attribute::Value.
  constexpr absl::string_view kKinds[] = {"a bool",   "an integer",         "a float",
                                          "a string", "a list of integers", "a list of floats",
                                          "a list",   "a dictionary"};
  static_assert(std::size(kKinds) == std::variant_size_v<Attribute::Value>);
  const Attribute* const given = signature_.attributes->Find(name);
  Fail(absl::StrCat("the attribute '", name, "' is ", kKinds[given->value().index()],
                    " that the function does not take"));
}

namespace {

template <typename T>
bool ReadAs(const Attribute& from, T* to) {
  const T* const value = from.As<T>();
  if (value != nullptr) *to = *value;
  return value != nullptr;
}

// A list without elements has no type of its own.
template <typename T>
bool ReadList(const Attribute& from, std::vector<T>* to) {
  const std::vector<Attribute>* const any = from.As<std::vector<Attribute>>();
  if (any != nullptr && any->empty()) {
    to->clear();
    return true;
  }
  return ReadAs(from, to);
}

}  // namespace

bool Decoder::Read(const Attribute& from, bool* to) { return ReadAs(from, to); }
bool Decoder::Read(const Attribute& from, int64_t* to) { return ReadAs(from, to); }
bool Decoder::Read(const Attribute& from, int32_t* to) {
  int64_t wide;
  if (!ReadAs(from, &wide) || wide < std::numeric_limits<int32_t>::min() ||
      wide > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  *to = static_cast<int32_t>(wide);
  return true;
}
bool Decoder::Read(const Attribute& from, double* to) { return ReadAs(from, to); }
bool Decoder::Read(const Attribute& from, float* to) {
  double wide;
  if (!ReadAs(from, &wide)) return false;
  *to = static_cast<float>(wide);
  return true;
}
bool Decoder::Read(const Attribute& from, std::string* to) { return ReadAs(from, to); }
bool Decoder::Read(const Attribute& from, std::vector<int64_t>* to) { return ReadList(from, to); }
bool Decoder::Read(const Attribute& from, std::vector<double>* to) { return ReadList(from, to); }
bool Decoder::Read(const Attribute& from, Dict* to) { return ReadAs(from, to); }

}  // namespace internal
}  // namespace custom_call

absl::Status CustomCallRegistry::Register(absl::string_view target, custom_call::Factory factory) {
  if (target.empty()) {
    return InvalidArgument("PJRT-K003", "a custom call is registered without a name");
  }
  if (factory == nullptr) {
    return InvalidArgument("PJRT-K003", "the custom call @", Shorten(target),
                           " is registered without a factory");
  }
  if (!factories_.try_emplace(target, std::move(factory)).second) {
    return AlreadyExists("PJRT-K003", "the custom call @", Shorten(target),
                         " is registered already");
  }
  return absl::OkStatus();
}

const custom_call::Factory* CustomCallRegistry::Find(absl::string_view target) const {
  const auto at = factories_.find(target);
  return at == factories_.end() ? nullptr : &at->second;
}

std::vector<std::string> CustomCallRegistry::targets() const {
  std::vector<std::string> names;
  for (const auto& [name, factory] : factories_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace pjrt
