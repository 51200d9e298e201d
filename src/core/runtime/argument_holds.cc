// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/argument_holds.h"

#include <algorithm>
#include <functional>

namespace pjrt {

bool ArgumentHolds::Add(const HeldArgument& argument) {
  arguments_.push_back(argument);
  if (is_blocked_) return !argument.buffer->IsDeleted();
  HoldState& holds = argument.buffer->holds();
  switch (argument.is_exclusive ? holds.TryDonation() : holds.TryUsage()) {
    case HoldState::Result::kHeld:
      held_.push_back(argument);
      return true;
    case HoldState::Result::kDead:
      return false;
    case HoldState::Result::kBusy:
      Release();
      is_blocked_ = true;
      return true;
  }
  return false;
}

bool ArgumentHolds::TakeTheRest(size_t* dead_index) {
  if (!is_blocked_) return true;
  // One hold a buffer: waiting for a second usage hold behind a donation that waits for the first
  // would never end.
  absl::InlinedVector<HeldArgument, 8> wanted(arguments_.begin(), arguments_.end());
  std::sort(wanted.begin(), wanted.end(), [](const HeldArgument& a, const HeldArgument& b) {
    return std::less<CommonPjRtBuffer*>()(a.buffer, b.buffer);
  });
  wanted.erase(std::unique(wanted.begin(), wanted.end(),
                           [](const HeldArgument& a, const HeldArgument& b) {
                             return a.buffer == b.buffer;
                           }),
               wanted.end());
  for (const HeldArgument& argument : wanted) {
    HoldState& holds = argument.buffer->holds();
    ParkingLot& lot = client_->parking_lot();
    const HoldState::Result result = argument.is_exclusive ? holds.Donation(lot) : holds.Usage(lot);
    if (result != HoldState::Result::kHeld) {
      const auto it =
          std::find_if(arguments_.begin(), arguments_.end(),
                       [&](const HeldArgument& a) { return a.buffer == argument.buffer; });
      *dead_index = static_cast<size_t>(it - arguments_.begin());
      Release();
      return false;
    }
    held_.push_back(argument);
  }
  is_blocked_ = false;
  return true;
}

ArgumentHolds::Readiness ArgumentHolds::CheckReadiness() const {
  Readiness result;
  for (const HeldArgument& argument : arguments_) {
    const BufferContents& contents = argument.buffer->contents();
    if (!contents.definition.IsReady()) {
      result.is_ready = false;
    } else if (!contents.definition.Await().ok()) {
      result.error = contents.definition;
      return result;
    }
    if (argument.is_donated) {
      for (const Future<>& usage : contents.usages) result.is_ready &= usage.IsReady();
    }
  }
  return result;
}

void ArgumentHolds::Drop(const HeldArgument& held) {
  ParkingLot& lot = client_->parking_lot();
  if (held.is_exclusive) {
    held.buffer->holds().DropDonation(lot);
  } else {
    held.buffer->holds().DropUsage(lot);
  }
}

void ArgumentHolds::Release() {
  for (const HeldArgument& held : held_) {
    if (held.buffer != nullptr) Drop(held);
  }
  held_.clear();
}

BufferContents ArgumentHolds::Consume(HeldArgument* argument) {
  const auto index = static_cast<size_t>(argument - arguments_.data());
  if (index < held_.size() && held_[index].buffer == argument->buffer) {
    held_[index].buffer = nullptr;
  } else {
    for (HeldArgument& held : held_) {
      if (held.buffer == argument->buffer) held.buffer = nullptr;
    }
  }
  return argument->buffer->ConfirmDonation();
}

}  // namespace pjrt
