// SPDX-License-Identifier: Apache-2.0
//
// SpecializationCache: the programs that were made of one with dynamic shapes, by their keys.
#ifndef PJRT_CORE_RUNTIME_SPECIALIZATION_CACHE_H_
#define PJRT_CORE_RUNTIME_SPECIALIZATION_CACHE_H_

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/program_template.h"

namespace pjrt {

// The programs specialised last, the one used least recently dropped first. Thread-safe; a program
// that several threads ask for is made once, by one of them, while the others wait.
class SpecializationCache {
 public:
  using Program = std::shared_ptr<const CommonPjRtLoadedExecutable>;
  explicit SpecializationCache(size_t capacity) : capacity_(capacity) {}

  // The program of that key, made by `make` if it isn't there. Errors aren't kept.
  absl::StatusOr<Program> Get(const SpecializationKey& key,
                              absl::FunctionRef<absl::StatusOr<Program>()> make);
  // The program that Get returned last; null before that.
  Program latest() const;
  size_t size() const;

 private:
  struct Entry {
    explicit Entry(SpecializationKey k) : key(std::move(k)) {}
    const SpecializationKey key;
    std::once_flag once;
    absl::StatusOr<Program> program = Program();
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

  const size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;  // the one used last first
  Program latest_;
  absl::flat_hash_map<SpecializationKey, Entries::iterator> by_key_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_SPECIALIZATION_CACHE_H_
