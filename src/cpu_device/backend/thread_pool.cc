// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/backend/thread_pool.h"

#include <memory>
#include <utility>

#include "unsupported/Eigen/CXX11/ThreadPool"

namespace pjrt::cpu {

struct ThreadPool::Impl {
  explicit Impl(int threads) : pool(threads) {}
  Eigen::ThreadPool pool;
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>(threads)) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::Execute(Task task) {
  // Eigen's tasks are std::functions, which must be copyable.
  impl_->pool.Schedule(
      [shared = std::make_shared<Task>(std::move(task))] { std::move (*shared)(); });
}

}  // namespace pjrt::cpu
