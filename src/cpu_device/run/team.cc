// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/team.h"

#include <algorithm>
#include <thread>

#include "pjrt/base/executor.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace pjrt::cpu {
namespace {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// About 30 us on a 3 GHz x86-64: longer than the gap between two split steps of a typical plan,
// shorter than waking a parked thread twice (17 us each on a virtual machine).
constexpr int kHelperSpins = 1000;
// The last units are claimed one by one and take some 20 us; past this many pauses a thread has
// probably lost its core, and the master gives way.
constexpr int kMasterSpins = 4000;
constexpr int kMaxTeam = 32;
// A thread claims its share of the units that are left over this number, so that it goes through a
// large array in few long runs, and all are done at about the same time. Where two threads took
// turns every 100 KB, each core fetched the beginning of the other one's next unit ahead: sqrt of
// 256 MiB of c128 took 22 ms with single units and takes 12.
constexpr uint32_t kClaims = 4;

}  // namespace

std::shared_ptr<Team> Team::Create(Executor* executor, int size) {
  return std::make_shared<Team>(executor, executor == nullptr ? 1 : std::clamp(size, 1, kMaxTeam));
}

bool Team::DoUnits(uint32_t generation, int member) {
  bool any = false;
  uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(ticket >> 32) == generation) {
    const uint32_t left = static_cast<uint32_t>(ticket);
    if (left == 0) break;
    const uint32_t claimed = std::max<uint32_t>(left / (kClaims * size_), 1);
    if (!ticket_.compare_exchange_weak(ticket, ticket - claimed, std::memory_order_acq_rel,
                                       std::memory_order_acquire))
      continue;
    // The loop doesn't end before these units have been done: the fields are still those of this
    // loop.
    const TeamFn* const fn = fn_.load(std::memory_order_relaxed);
    const uint32_t begin = units_.load(std::memory_order_relaxed) - left;
    for (uint32_t i = 0; i < claimed; ++i) (*fn)(begin + i, member);
    any = true;
    done_.fetch_add(claimed, std::memory_order_release);
    ticket = ticket_.load(std::memory_order_acquire);
  }
  return any;
}

void Team::Help(int member) {
  uint32_t seen = 0;
  int idle = 0;
  while (!dismissed_.load(std::memory_order_acquire)) {
    const uint32_t generation =
        static_cast<uint32_t>(ticket_.load(std::memory_order_acquire) >> 32);
    if (generation != seen) {
      seen = generation;
      if (DoUnits(generation, member)) idle = 0;
    } else if (++idle > kHelperSpins) {
      break;
    } else {
      Pause();
    }
  }
  members_.fetch_and(~(1u << member), std::memory_order_release);
}

void Team::ParallelFor(int64_t units, TeamFn fn) {
  if (units <= 0) return;
  if (size_ == 1 || units == 1) {
    for (int64_t i = 0; i < units; ++i) fn(i, 0);
    return;
  }
  // Open the loop: the fields first, then the ticket that makes them valid.
  fn_.store(&fn, std::memory_order_relaxed);
  units_.store(static_cast<uint32_t>(units), std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const uint32_t generation =
      static_cast<uint32_t>(ticket_.load(std::memory_order_relaxed) >> 32) + 1;
  ticket_.store(uint64_t{generation} << 32 | static_cast<uint32_t>(units),
                std::memory_order_release);
  const int wanted = static_cast<int>(std::min<int64_t>(size_, units));
  uint32_t present = members_.load(std::memory_order_acquire);
  for (int i = 1; i < wanted; ++i) {
    if (present & (1u << i)) continue;
    members_.fetch_or(1u << i, std::memory_order_relaxed);
    executor_->Execute([self = shared_from_this(), i] { self->Help(i); });
  }
  DoUnits(generation, 0);
  for (int spins = 0; done_.load(std::memory_order_acquire) != static_cast<uint32_t>(units);) {
    if (++spins < kMasterSpins) {
      Pause();
    } else {
      std::this_thread::yield();
    }
  }
}

void Team::Dismiss() { dismissed_.store(true, std::memory_order_release); }

}  // namespace pjrt::cpu
