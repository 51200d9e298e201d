// SPDX-License-Identifier: Apache-2.0
//
// Typed functions as custom calls. Bind(fn, specs...) makes a factory for CustomCallRegistry out of
// a function and one spec for each of its parameters:
//
//   spec                         parameter                what it takes
//   Arg<T>(), Arg<T>(rank)       Input<T>                 the next operand, of element type T
//   Result<T>(), Result<T>(rank) Output<T>                the next result
//   AnyArg(), AnyResult()        const Array&             the next one, of any type
//   RestArgs(), RestResults()    absl::Span<const Array>  all that are left; behind the others
//   Attr<T>("name")              T                        the attribute; must be there
//   Attr<T>("name", value)       T                        the attribute, or `value` without
//   OptionalAttr<T>("name")      std::optional<T>
//   AllAttrs()                   const Dict&
//   BackendConfig()              const std::string&       the string that is its backend_config
//   Ctx()                        const Context&           thread pool, scratch, the run
//
// Element types are the C++ types of pjrt/base/primitive_type.h (float, bfloat16, int32_t,
// std::complex<float>, bool, ...), attribute types bool, int64_t, int32_t, double, float,
// std::string, std::vector<int64_t>, std::vector<double> and Dict. The function returns
// absl::Status; a parameter that does not take what its spec gives does not compile.
#ifndef PJRT_CPU_CUSTOM_CALL_BIND_H_
#define PJRT_CPU_CUSTOM_CALL_BIND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/cpu/custom_call.h"

namespace pjrt {
namespace custom_call {

// Elements of type T in row-major order.
template <typename T>
class Elements {
 public:
  explicit Elements(const Array& array)
      : data_(static_cast<T*>(array.data)), dims_(array.dims), size_(array.size()) {}
  T* data() const { return data_; }
  int64_t size() const { return size_; }
  absl::Span<const int64_t> dims() const { return dims_; }
  int64_t dim(size_t i) const { return dims_[i]; }
  T& operator[](int64_t i) const { return data_[i]; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  T* data_;
  absl::Span<const int64_t> dims_;
  int64_t size_;
};

template <typename T>
using Input = Elements<const T>;
template <typename T>
using Output = Elements<T>;

namespace internal {

// The signature of a call while specs take what they want of it, one after the other.
class Decoder {
 public:
  explicit Decoder(const Signature& signature) : signature_(signature) {}
  const Signature& signature() const { return signature_; }

  // The number of the next operand or result, 0 after a failure. `is_stored_as` says which element
  // types the C++ type that stands for `type` can hold; null for any type, `rank` -1 for any rank.
  int Take(bool is_result, PrimitiveType type, bool (*is_stored_as)(PrimitiveType), int rank);
  // The number of the first that is left; none is left afterwards.
  int TakeRest(bool is_result);
  // OK when nothing was missing or of the wrong type, and nothing is left.
  absl::Status Finish() const;

  // The attribute in `value`. False without one; fails when it is of another type.
  template <typename T>
  bool TakeAttr(absl::string_view name, T* value) {
    const Attribute* attribute = signature_.attributes->Find(name);
    if (attribute == nullptr) return false;
    if (!Read(*attribute, value)) FailAttr(name);
    return true;
  }
  void MissAttr(absl::string_view name);

 private:
  static bool Read(const Attribute& from, bool* to);
  static bool Read(const Attribute& from, int64_t* to);
  static bool Read(const Attribute& from, int32_t* to);
  static bool Read(const Attribute& from, double* to);
  static bool Read(const Attribute& from, float* to);
  static bool Read(const Attribute& from, std::string* to);
  static bool Read(const Attribute& from, std::vector<int64_t>* to);
  static bool Read(const Attribute& from, std::vector<double>* to);
  static bool Read(const Attribute& from, Dict* to);
  void Fail(absl::string_view message);
  void FailAttr(absl::string_view name);

  const Signature& signature_;
  int next_[2] = {0, 0};  // operand, result
  absl::Status status_;
};

// What a bound function is called with.
struct Frame {
  const Context& context;
  absl::Span<const Array> operands, results;
};

template <typename T, bool kResult>
struct ElementsSpec {
  int rank = -1;
  int index = 0;
  static_assert(PrimitiveTypeOf<T>() != INVALID, "T must be the C++ type of an element type");
  void Decode(Decoder& decoder) {
    index = decoder.Take(
        kResult, PrimitiveTypeOf<T>(), [](PrimitiveType type) { return IsStorageTypeOf<T>(type); },
        rank);
  }
  Elements<std::conditional_t<kResult, T, const T>> Get(const Frame& frame) const {
    return Elements<std::conditional_t<kResult, T, const T>>(
        (kResult ? frame.results : frame.operands)[static_cast<size_t>(index)]);
  }
};

template <bool kResult>
struct AnySpec {
  int index = 0;
  void Decode(Decoder& decoder) { index = decoder.Take(kResult, INVALID, nullptr, -1); }
  const Array& Get(const Frame& frame) const {
    return (kResult ? frame.results : frame.operands)[static_cast<size_t>(index)];
  }
};

template <bool kResult>
struct RestSpec {
  int first = 0;
  void Decode(Decoder& decoder) { first = decoder.TakeRest(kResult); }
  absl::Span<const Array> Get(const Frame& frame) const {
    return (kResult ? frame.results : frame.operands).subspan(static_cast<size_t>(first));
  }
};

template <typename T>
struct AttrSpec {
  std::string name;
  bool is_mandatory = true;
  T value = T();
  void Decode(Decoder& decoder) {
    if (!decoder.TakeAttr(name, &value) && is_mandatory) decoder.MissAttr(name);
  }
  const T& Get(const Frame&) const { return value; }
};

template <typename T>
struct OptionalAttrSpec {
  std::string name;
  std::optional<T> value;
  void Decode(Decoder& decoder) {
    T read = T();
    if (decoder.TakeAttr(name, &read)) value = std::move(read);
  }
  const std::optional<T>& Get(const Frame&) const { return value; }
};

struct AllAttrsSpec {
  Dict attributes;
  void Decode(Decoder& decoder) { attributes = *decoder.signature().attributes; }
  const Dict& Get(const Frame&) const { return attributes; }
};

struct BackendConfigSpec {
  std::string config;
  void Decode(Decoder& decoder) {
    config.assign(decoder.signature().backend_config.data(),
                  decoder.signature().backend_config.size());
  }
  const std::string& Get(const Frame&) const { return config; }
};

struct ContextSpec {
  void Decode(Decoder&) {}
  const Context& Get(const Frame& frame) const { return frame.context; }
};

template <typename Fn, typename... Specs>
class BoundFunction {
 public:
  BoundFunction(const Fn& fn, const std::tuple<Specs...>& specs) : fn_(fn), specs_(specs) {}
  absl::Status Decode(const Signature& signature) {
    Decoder decoder(signature);
    std::apply([&](Specs&... specs) { (specs.Decode(decoder), ...); }, specs_);
    return decoder.Finish();
  }
  absl::Status Call(const Frame& frame) const {
    return std::apply([&](const Specs&... specs) { return fn_(specs.Get(frame)...); }, specs_);
  }

 private:
  Fn fn_;
  std::tuple<Specs...> specs_;
};

}  // namespace internal

template <typename T>
internal::ElementsSpec<T, false> Arg(int rank = -1) {
  return {rank, 0};
}
template <typename T>
internal::ElementsSpec<T, true> Result(int rank = -1) {
  return {rank, 0};
}
inline internal::AnySpec<false> AnyArg() { return {}; }
inline internal::AnySpec<true> AnyResult() { return {}; }
inline internal::RestSpec<false> RestArgs() { return {}; }
inline internal::RestSpec<true> RestResults() { return {}; }
template <typename T>
internal::AttrSpec<T> Attr(std::string name) {
  return {std::move(name), true, T()};
}
template <typename T>
internal::AttrSpec<T> Attr(std::string name, T otherwise) {
  return {std::move(name), false, std::move(otherwise)};
}
template <typename T>
internal::OptionalAttrSpec<T> OptionalAttr(std::string name) {
  return {std::move(name), std::nullopt};
}
inline internal::AllAttrsSpec AllAttrs() { return {}; }
inline internal::BackendConfigSpec BackendConfig() { return {}; }
inline internal::ContextSpec Ctx() { return {}; }

// The factory of `fn`, which is copied, once for each call that is compiled, and called for several
// executions at a time: it must be callable as const, and what it captures by reference must
// outlive the client's executables.
template <typename Fn, typename... Specs>
Factory Bind(Fn fn, Specs... specs) {
  static_assert(std::is_invocable_r_v<absl::Status, const Fn&,
                                      decltype(std::declval<const Specs&>().Get(
                                          std::declval<const internal::Frame&>()))...>,
                "the function must return absl::Status and take what the specs give, in order");
  return [fn = std::move(fn), specs = std::make_tuple(std::move(specs)...)](
             const Signature& signature) -> absl::StatusOr<Kernel> {
    auto bound = std::make_shared<internal::BoundFunction<Fn, Specs...>>(fn, specs);
    absl::Status status = bound->Decode(signature);
    if (!status.ok()) return status;
    Kernel kernel;
    kernel.run = [bound = std::move(bound)](const Context& context,
                                            absl::Span<const Array> operands,
                                            absl::Span<const Array> results) {
      return bound->Call(internal::Frame{context, operands, results});
    };
    return kernel;
  };
}

}  // namespace custom_call
}  // namespace pjrt

#endif  // PJRT_CPU_CUSTOM_CALL_BIND_H_
