// SPDX-License-Identifier: Apache-2.0
//
// Functions of the application that programs call: stablehlo.custom_call @name. A
// CustomCallRegistry says which function a name stands for; a client is given one by
// CpuClientOptions::custom_calls.
//
//   auto registry = std::make_shared<pjrt::CustomCallRegistry>();
//   absl::Status status = registry->Register(
//       "scale", custom_call::Bind(
//                    [](custom_call::Input<float> x, double factor, custom_call::Output<float> y) {
//                      for (int64_t i = 0; i < x.size(); ++i) y[i] = float(factor * x[i]);
//                      return absl::OkStatus();
//                    },
//                    custom_call::Arg<float>(), custom_call::Attr<double>("factor"),
//                    custom_call::Result<float>()));
//   options.custom_calls = registry;
//
// Bind (pjrt/cpu/custom_call_bind.h) makes the factory of a typed function; this header is what
// lies below it. A program is checked against the function's types when it is compiled: a call with
// other operands, results or attributes is INVALID_ARGUMENT [PJRT-K002] there and never reaches the
// function. A call of a name that nothing is registered under is UNIMPLEMENTED [PJRT-K001] when the
// program is compiled; inside a branch or a loop, which may never run, it fails when it is
// executed.
//
// A call without has_side_effect counts as a function of its operands and attributes: it may be
// dropped when nothing uses its results, and one of two equal calls may serve for both. Calls with
// it run once each, in the order of the program.
//
// The targets that JAX's CPU lowerings emit (lapack_spotrf_ffi, ...) are built in; an entry of the
// registry with such a name takes its place.
#ifndef PJRT_CPU_CUSTOM_CALL_H_
#define PJRT_CPU_CUSTOM_CALL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/execute_context.h"

namespace pjrt {
namespace custom_call {

struct NamedAttribute;
class Attribute;

// Attributes by name.
class Dict {
 public:
  Dict();
  Dict(const Dict& other);
  Dict(Dict&& other) noexcept;
  Dict& operator=(const Dict& other);
  Dict& operator=(Dict&& other) noexcept;
  ~Dict();
  // Null when there is none of that name. Valid as long as the Dict.
  const Attribute* Find(absl::string_view name) const;
  absl::Span<const NamedAttribute> entries() const;  // sorted by name
  size_t size() const { return entries().size(); }
  // Adds an entry; one of that name is replaced.
  void Set(absl::string_view name, Attribute value);

 private:
  std::vector<NamedAttribute> entries_;
};

// An attribute of a call in plain types: what `{k = 3 : i64, axes = array<i64: 0, 1>}` says.
//
//   in the program                                      here
//   true, 1 : i1                                        bool
//   integers of any width; 64-bit unsigned ones wrap    int64_t
//   floats                                              double
//   strings; symbols (without the @)                    std::string
//   array<i..>, dense<..> and lists of integers, bools  std::vector<int64_t>, row-major
//   array<f..>, dense<..> and lists of floats           std::vector<double>, row-major
//   other lists; the empty list []                      std::vector<Attribute>
//   dictionaries                                        Dict
//   anything else (types, enums, ...)                   std::string, as the program writes it
class Attribute {
 public:
  using Value = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>,
                             std::vector<double>, std::vector<Attribute>, Dict>;
  Attribute() = default;  // false
  explicit Attribute(Value value) : value_(std::move(value)) {}

  const Value& value() const { return value_; }
  // The value when it is a T of the list above, else null.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&value_);
  }

 private:
  Value value_;
};

struct NamedAttribute {
  std::string name;
  Attribute value;
};

// A dense row-major array that a call reads or writes.
//
// Elements of 4 bits and less take a byte each, as everywhere inside of programs; others are as
// pjrt/base/primitive_type.h says. Memory is aligned to 16 bytes at least.
struct Array {
  PrimitiveType type = INVALID;
  absl::Span<const int64_t> dims;
  void* data = nullptr;  // null in a Signature, and possibly for an array without elements

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t size() const {  // in elements
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    return count;
  }
  int64_t size_bytes() const { return size() * ByteWidth(type); }
};

// A call as the compiler sees it. Everything is valid during the factory's call only. Tokens are
// left out, tuples stand as their parts.
struct Signature {
  absl::string_view target;
  absl::Span<const Array> operands;  // without data
  absl::Span<const Array> results;
  // The entries of the dictionary that the program gives as `backend_config`, as
  // `mhlo.backend_config` or as `mhlo.attributes`, and those of a string there that is a JSON
  // object.
  const Dict* attributes = nullptr;
  // A `backend_config` that is a string; empty otherwise.
  absl::string_view backend_config;
  bool has_side_effect = false;
};

// One execution of a call.
class Context {
 public:
  virtual ~Context() = default;

  // How many threads may take part, the calling one included. At least 1.
  virtual int num_threads() const = 0;
  // Calls fn(i, thread) once for each i in [0, count), on this thread and those of the client's
  // pool that are free; returns when all calls have. `thread` is in [0, num_threads()), and two
  // calls at the same time have different ones. Results must not depend on which thread does what.
  // To be called on the thread that runs the call, not from inside of fn.
  virtual void ParallelFor(int64_t count,
                           absl::FunctionRef<void(int64_t i, int thread)> fn) const = 0;
  // Kernel::scratch_bytes bytes for each thread, aligned to 64, uninitialised.
  virtual char* scratch(int thread) const = 0;

  // The same for all calls of one execution, and of those of it on other devices.
  virtual int64_t run_id() const = 0;
  virtual int replica_id() const = 0;
  virtual int partition_id() const = 0;

  // The T that the application has put into ExecuteOptions::context; NOT_FOUND [PJRT-R009] without.
  template <typename T>
  absl::StatusOr<T*> Lookup() const {
    return user_context().Lookup<T>();
  }

 protected:
  // Empty without ExecuteOptions::context.
  virtual const ffi::ExecutionContext& user_context() const = 0;
};

// What a call comes down to when a program is compiled.
struct Kernel {
  // Reads the operands and writes all of the results, whose memory is uninitialised. Runs on
  // whatever thread executes the program and for several executions at a time. An error fails the
  // execution: its results carry the status. Must not throw, and must not wait for another
  // execution of the same client.
  std::function<absl::Status(const Context& context, absl::Span<const Array> operands,
                             absl::Span<const Array> results)>
      run;

  // About how long it takes on one thread, in nanoseconds: what decides whether the program is
  // worth handing to the pool.
  double cost_ns = 100000;

  // Scratch memory for each thread.
  int64_t scratch_bytes = 0;

  // Results that may have the memory of an operand that nothing else needs, of the same size in
  // bytes. Then both have the same `data`; otherwise results overlap with nothing.
  struct InPlace {
    int result = 0;
    int operand = 0;
  };
  std::vector<InPlace> in_place;
};

// Called once for each call of a program that is compiled, maybe on several threads at a time. What
// it refuses, the compilation fails with, the place and name of the call added.
using Factory = std::function<absl::StatusOr<Kernel>(const Signature& signature)>;

// What a factory answers to a signature that it doesn't take: INVALID_ARGUMENT "[PJRT-K002]
// message".
absl::Status SignatureError(absl::string_view message);

}  // namespace custom_call

// Names and what they stand for. Filled before the client is made and not changed after: const
// methods are safe to call from several threads.
class CustomCallRegistry {
 public:
  // INVALID_ARGUMENT [PJRT-K003] for an empty name or a null factory, ALREADY_EXISTS [PJRT-K003]
  // for a name that is taken.
  absl::Status Register(absl::string_view target, custom_call::Factory factory);

  // Null when there is none.
  const custom_call::Factory* Find(absl::string_view target) const;

  std::vector<std::string> targets() const;  // sorted

 private:
  absl::flat_hash_map<std::string, custom_call::Factory> factories_;
};

}  // namespace pjrt

#endif  // PJRT_CPU_CUSTOM_CALL_H_
