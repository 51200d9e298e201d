// SPDX-License-Identifier: Apache-2.0
//
// sort: lines of several arrays, by keys or by a comparator. Always stable.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SORT_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SORT_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct SortParams {
  int64_t length = 0;  // of the sorted dim
  // Lines before and behind the sorted dim; the elements of one are `inner` apart.
  int64_t outer = 1, inner = 1;
  struct Array {
    PrimitiveType type = F32;
    BufferId from = kNoBuffer, to = kNoBuffer;  // dense; `to` has lines of `kept` elements
  };
  // How many elements of each sorted line are wanted; 0: all. Less than all only with one key.
  int64_t kept = 0;
  std::vector<Array> arrays;
  // Lexicographic, the first counts most. A key array has the shape of the arrays.
  struct Key {
    PrimitiveType type = F32;
    BufferId buffer = kNoBuffer;
    bool is_descending = false;
    bool is_total_order = false;  // floats: -0 before +0; otherwise they are equal
  };
  std::vector<Key> keys;
  // Without keys: (left of array 0, right of array 0, left of array 1, ...) -> pred.
  std::shared_ptr<BodyKernel> comparator;
  const BlockKernels* kernels = nullptr;
};

class SortStep final : public Step {
 public:
  explicit SortStep(SortParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  // How lines are sorted.
  enum Method : uint8_t {
    kKeysAlone,  // one array by itself
    kKeysWithElements,
    kKeysWithNumbers,  // keys of up to 32 bits
    kWideKeys,
    kSelection,   // the first few of one key
    kShortLines,  // many lines of a few elements, one key of up to 32 bits
    kComparator,
  };
  void SortLines(const RunContext& context, int64_t first, int64_t lines, char* scratch) const;
  void SortLine(const RunContext& context, int64_t line, char* scratch) const;
  void SortElements(const RunContext& context, int64_t first, int64_t first_kept,
                    char* scratch) const;
  void SortNumbers(const RunContext& context, int64_t first, char* scratch,
                   uint32_t* numbers) const;
  void SortPacked(uint64_t* entries, uint64_t* other, int bits) const;
  SortParams p_;
  Method method_ = kComparator;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SORT_STEP_H_
