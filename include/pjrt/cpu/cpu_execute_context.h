// SPDX-License-Identifier: Apache-2.0
//
// CpuExecuteContext: per-call overrides of the CPU device. Spec: PJRT C++ API, section 1.11.
#ifndef PJRT_CPU_CPU_EXECUTE_CONTEXT_H_
#define PJRT_CPU_CPU_EXECUTE_CONTEXT_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "pjrt/execute_context.h"

namespace pjrt {

namespace cpu {
class CpuCollectives;
}  // namespace cpu

// An ExecuteContext whose settings take the place of the client's for one execution. Filled before
// Execute and not changed until the execution is over.
class CpuExecuteContext final : public ExecuteContext {
 public:
  static constexpr absl::string_view kKind = "cpu";

  absl::string_view kind() const override { return kKind; }

  // The process that this execution is part of; the client's process_index() if unset.
  std::optional<int>& process_index() { return process_index_; }
  std::optional<int> process_index() const { return process_index_; }

  // The collectives to use, kept alive by the caller; the client's if null.
  cpu::CpuCollectives*& collectives() { return collectives_; }
  cpu::CpuCollectives* collectives() const { return collectives_; }

 private:
  std::optional<int> process_index_;
  cpu::CpuCollectives* collectives_ = nullptr;
};

}  // namespace pjrt

#endif  // PJRT_CPU_CPU_EXECUTE_CONTEXT_H_
