// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/arena.h"

namespace pjrt::ir {

void* Arena::AllocateSlow(size_t bytes) {
  // What takes a good part of a chunk gets memory of its own, and the chunk at hand stays in use.
  // operator new[] aligns to 16 bytes, the most that may be asked for.
  if (bytes > chunk_size_ / 4) {
    chunks_.emplace_back(new char[bytes]);
    return chunks_.back().get();
  }
  chunks_.emplace_back(new char[chunk_size_]);
  char* start = chunks_.back().get();
  next_ = reinterpret_cast<uintptr_t>(start) + bytes;
  end_ = reinterpret_cast<uintptr_t>(start) + chunk_size_;
  if (chunk_size_ < kLargestChunk) chunk_size_ *= 2;
  return start;
}

}  // namespace pjrt::ir
