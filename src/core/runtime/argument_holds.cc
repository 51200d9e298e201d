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

std::optional<ArgumentHolds::Dead> ArgumentHolds::TakeTheRest(
    absl::Span<ArgumentHolds* const> launches) {
  bool is_blocked = false;
  for (const ArgumentHolds* launch : launches) is_blocked |= launch->is_blocked_;
  if (!is_blocked) return std::nullopt;
  struct Wanted {
    HeldArgument held;
    Dead place;
  };
  absl::InlinedVector<Wanted, 8> wanted;
  for (size_t i = 0; i < launches.size(); ++i) {
    launches[i]->Release();
    for (size_t j = 0; j < launches[i]->arguments_.size(); ++j) {
      wanted.push_back({launches[i]->arguments_[j], {i, j}});
    }
  }
  // One hold a buffer: waiting for a second usage hold behind a donation that waits for the first
  // would never end.
  std::stable_sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return std::less<CommonPjRtBuffer*>()(a.held.buffer, b.held.buffer);
  });
  wanted.erase(
      std::unique(wanted.begin(), wanted.end(),
                  [](const Wanted& a, const Wanted& b) { return a.held.buffer == b.held.buffer; }),
      wanted.end());
  for (const Wanted& want : wanted) {
    ArgumentHolds* const launch = launches[want.place.launch];
    HoldState& holds = want.held.buffer->holds();
    ParkingLot& lot = launch->client_->parking_lot();
    const HoldState::Result result =
        want.held.is_exclusive ? holds.Donation(lot) : holds.Usage(lot);
    if (result != HoldState::Result::kHeld) {
      for (ArgumentHolds* other : launches) other->Release();
      return want.place;
    }
    launch->held_.push_back(want.held);
  }
  for (ArgumentHolds* launch : launches) launch->is_blocked_ = false;
  return std::nullopt;
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
