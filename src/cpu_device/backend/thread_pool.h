// SPDX-License-Identifier: Apache-2.0
//
// The client's own threads, as an Executor.
#ifndef PJRT_SRC_CPU_DEVICE_BACKEND_THREAD_POOL_H_
#define PJRT_SRC_CPU_DEVICE_BACKEND_THREAD_POOL_H_

#include <memory>

#include "pjrt/base/executor.h"

namespace pjrt::cpu {

// Eigen's work-stealing pool. Execute may be called from any thread. The destructor waits for all
// tasks, those that they start included.
class ThreadPool final : public Executor {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool() override;
  void Execute(Task task) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_BACKEND_THREAD_POOL_H_
