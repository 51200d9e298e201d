// SPDX-License-Identifier: Apache-2.0
//
// DeviceProgram: what a backend's compiler makes, as the common client sees it.
#ifndef PJRT_BACKEND_DEVICE_PROGRAM_H_
#define PJRT_BACKEND_DEVICE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "pjrt/base/shape.h"
#include "pjrt/compiled_memory_stats.h"
#include "pjrt/executable.h"

namespace pjrt {

namespace ir {
class Module;
}  // namespace ir

// Whether a parameter's memory is given up when the program runs.
enum class Donation : uint8_t {
  kNever,
  kMay,   // unless the caller vetoes it; then a result that would alias it gets memory of its own
  kMust,  // a veto is an error
};

struct ProgramParameter {
  // An array or token, with the layout that the program wants. Tuples are flattened by the
  // compiler.
  Shape shape;
  Donation donation = Donation::kNever;
  // The kind of memory that the argument must lie in; empty for any memory of the device.
  std::string memory_kind;
  // The sharding's text; empty when there is none.
  std::string sharding;
};

struct ProgramResult {
  // An array or token, with the layout that the program makes. Where it has bounded dimensions, its
  // memory has an s32 for each dimension behind the elements: its size.
  Shape shape;
  // The parameter whose memory the result takes when that is donated; -1 for none.
  int aliased_parameter = -1;
  // The kind of memory that the result goes to; empty for the device's default.
  std::string memory_kind;
  std::string sharding;
};

// All that the common client has to know of a program.
struct ProgramInfo {
  std::string name;
  std::vector<ProgramParameter> parameters;
  std::vector<ProgramResult> results;

  // Whether the results of the module are one tuple (or several values, which is the same to
  // callers). False only when there is exactly one, which isn't in a tuple; it decides the form of
  // GetOutputShapes() alone.
  bool result_is_tuple = false;

  // Does something besides making results: calls back to the host, sends, feeds. Such launches keep
  // their order in a stream, even when they could run in the call.
  bool has_side_effects = false;
  // Waits for its other replicas or partitions. Launches of such programs are serialised, so that
  // two of them can't each hold what the other waits for.
  bool has_collectives = false;

  // The optimized module, for PjRtExecutable::GetModules(); null when it isn't kept.
  std::shared_ptr<const ir::Module> module;

  CostMap cost;
  CompiledMemoryStats memory_stats;
  int64_t generated_code_size = -1;
  // See PjRtExecutable::FingerprintExecutable(); empty when there is none.
  std::string fingerprint;
};

// A compiled program: a backend derives its own class with the code in it.
//
// Threads: immutable; launched from several threads at a time. Kept alive by the executables made
// of it and by the launches in flight.
class DeviceProgram {
 public:
  explicit DeviceProgram(ProgramInfo info) : info_(std::move(info)) {}
  virtual ~DeviceProgram() = default;
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  const ProgramInfo& info() const { return info_; }

  // Bytes that Backend::DeserializeProgram reads back. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::string> Serialize() const;

 private:
  ProgramInfo info_;
};

}  // namespace pjrt

#endif  // PJRT_BACKEND_DEVICE_PROGRAM_H_
