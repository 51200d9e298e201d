// SPDX-License-Identifier: Apache-2.0
//
// Helpers of the tests of futures.
#ifndef PJRT_TESTS_BASE_FUTURE_TEST_UTIL_H_
#define PJRT_TESTS_BASE_FUTURE_TEST_UTIL_H_

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "pjrt/base/executor.h"

// 1 if a sanitizer watches this program.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define PJRT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define PJRT_TEST_SANITIZED 1
#endif
#endif
#ifndef PJRT_TEST_SANITIZED
#define PJRT_TEST_SANITIZED 0
#endif

namespace pjrt {

// Keeps its tasks until RunAll or Drop.
class ManualExecutor : public Executor {
 public:
  void Execute(Task task) override { tasks_.push_back(std::move(task)); }

  size_t size() const { return tasks_.size(); }
  void RunAll() {
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      std::move(task)();
    }
  }
  void Drop() { tasks_.clear(); }

 private:
  std::deque<Task> tasks_;
};

// Threads that run tasks until the pool is destroyed, which runs the rest.
class TestPool : public Executor {
 public:
  explicit TestPool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
  }
  ~TestPool() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Execute(Task task) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    wake_.notify_one();
  }

  bool IsPoolThread() const {
    for (const std::thread& thread : threads_) {
      if (thread.get_id() == std::this_thread::get_id()) return true;
    }
    return false;
  }

 private:
  void Work() {
    for (;;) {
      Task task;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [this] { return done_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      std::move(task)();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Task> tasks_;  // Guarded by mutex_.
  bool done_ = false;       // Guarded by mutex_.
  std::vector<std::thread> threads_;
};

// Counts how often it is copied and moved.
struct CountsCopies {
  CountsCopies() = default;
  explicit CountsCopies(int* copy_counter) : copies(copy_counter) {}
  CountsCopies(const CountsCopies& other) : copies(other.copies) {
    if (copies != nullptr) ++*copies;
  }
  CountsCopies(CountsCopies&& other) noexcept = default;
  CountsCopies& operator=(const CountsCopies& other) {
    copies = other.copies;
    if (copies != nullptr) ++*copies;
    return *this;
  }
  CountsCopies& operator=(CountsCopies&& other) noexcept = default;

  int* copies = nullptr;
};

}  // namespace pjrt

#endif  // PJRT_TESTS_BASE_FUTURE_TEST_UTIL_H_
