// SPDX-License-Identifier: Apache-2.0
//
// HoldState: who may touch a buffer's memory, in one atomic word.
//
// * Usage hold: shared; taken while an operation on the buffer is being enqueued.
// * Donation hold: exclusive; taken while the buffer is being given away. It waits for the usage
//   holds that there are, and blocks new ones.
// * Dead: after a donation, Delete or release; final.
//
// Holds are short: they last for the enqueuing of an operation, never for the operation. Taking and
// dropping one that nobody contends is one atomic operation each. Whoever has to wait parks in the
// client's ParkingLot, which is shared by all buffers, since it is so rarely needed.
#ifndef PJRT_CORE_RUNTIME_HOLD_STATE_H_
#define PJRT_CORE_RUNTIME_HOLD_STATE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace pjrt {

// Where threads wait for a HoldState to change.
struct ParkingLot {
  std::mutex mutex;
  std::condition_variable changed;
};

class HoldState {
 public:
  enum class Result { kHeld, kDead, kBusy };

  bool IsDead() const { return (word_.load(std::memory_order_acquire) & kDead) != 0; }

  // Takes a usage hold. kBusy when a donation is under way.
  Result TryUsage() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    while ((word & (kDead | kDonating)) == 0) {
      if (word_.compare_exchange_weak(word, word + kOneUser, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return Result::kHeld;
      }
    }
    return (word & kDead) != 0 ? Result::kDead : Result::kBusy;
  }
  // The same, and waits while a donation is under way: kHeld or kDead.
  Result Usage(ParkingLot& lot) {
    while (true) {
      const Result result = TryUsage();
      if (result != Result::kBusy) return result;
      Wait(lot, [](uint32_t word) { return (word & kDonating) == 0; });
    }
  }
  void DropUsage(ParkingLot& lot) {
    const uint32_t before = word_.fetch_sub(kOneUser, std::memory_order_release);
    if ((before & kWaiters) != 0) Wake(lot);
  }

  // Takes the donation hold. kBusy when there are usage holds or another donation.
  Result TryDonation() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    while ((word & ~kWaiters) == 0) {
      if (word_.compare_exchange_weak(word, word | kDonating, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return Result::kHeld;
      }
    }
    return (word & kDead) != 0 ? Result::kDead : Result::kBusy;
  }
  // The same, and waits for other donations and for usage holds: kHeld or kDead. No new usage hold
  // is given while it waits.
  Result Donation(ParkingLot& lot) {
    uint32_t word = word_.load(std::memory_order_relaxed);
    while (true) {
      if ((word & kDead) != 0) return Result::kDead;
      if ((word & kDonating) != 0) {
        Wait(lot, [](uint32_t w) { return (w & kDonating) == 0; });
        word = word_.load(std::memory_order_relaxed);
      } else if (word_.compare_exchange_weak(word, word | kDonating, std::memory_order_relaxed)) {
        Wait(lot, [](uint32_t w) { return w < kOneUser; });
        return Result::kHeld;
      }
    }
  }
  // Ends a donation that didn't come about.
  void DropDonation(ParkingLot& lot) {
    const uint32_t before = word_.fetch_and(~kDonating, std::memory_order_release);
    if ((before & kWaiters) != 0) Wake(lot);
  }
  // Ends a donation: the buffer is dead, and its fields belong to the caller.
  void ConfirmDonation(ParkingLot& lot) {
    // One step, so that nobody sees the buffer neither donating nor dead.
    const uint32_t before = word_.fetch_xor(kDonating | kDead, std::memory_order_acq_rel);
    if ((before & kWaiters) != 0) Wake(lot);
  }

 private:
  static constexpr uint32_t kDead = 1;
  static constexpr uint32_t kDonating = 2;
  static constexpr uint32_t kWaiters = 4;  // somebody is, or was, parked
  static constexpr uint32_t kOneUser = 8;

  template <typename Predicate>
  void Wait(ParkingLot& lot, Predicate done) {
    if (done(word_.load(std::memory_order_acquire))) return;
    std::unique_lock<std::mutex> lock(lot.mutex);
    // From here on, whoever changes the word wakes us.
    word_.fetch_or(kWaiters, std::memory_order_acq_rel);
    while (!done(word_.load(std::memory_order_acquire))) lot.changed.wait(lock);
  }
  static void Wake(ParkingLot& lot) {
    // The lock makes sure that a waiter that saw the old word is parked by now.
    { std::lock_guard<std::mutex> lock(lot.mutex); }
    lot.changed.notify_all();
  }

  std::atomic<uint32_t> word_{0};
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_HOLD_STATE_H_
