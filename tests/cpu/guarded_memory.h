// SPDX-License-Identifier: Apache-2.0
//
// Memory of which not a byte more may be touched.
#ifndef PJRT_TESTS_CPU_GUARDED_MEMORY_H_
#define PJRT_TESTS_CPU_GUARDED_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace pjrt::cpu {

// Bytes that end where a page begins which nobody may read or write, or begin where one ends.
class Guarded {
 public:
  explicit Guarded(int64_t bytes) {
    const int64_t page = sysconf(_SC_PAGESIZE);
    mapped_ = (bytes + page - 1) / page * page + 2 * page;
    memory_ = static_cast<char*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_, page, PROT_NONE);
    mprotect(memory_ + mapped_ - page, page, PROT_NONE);
    first_ = memory_ + page;
    last_ = memory_ + mapped_ - page - bytes;
  }
  ~Guarded() { munmap(memory_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  char* At(bool end) const { return end ? last_ : first_; }

 private:
  int64_t mapped_;
  char *memory_, *first_, *last_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_GUARDED_MEMORY_H_
