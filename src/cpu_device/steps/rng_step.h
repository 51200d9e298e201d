// SPDX-License-Identifier: Apache-2.0
//
// Random numbers: bits from a state that the program carries (rng_bit_generator), and numbers of a
// distribution (rng).
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_RNG_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_RNG_STEP_H_

#include <string>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/random_bits.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// All buffers are dense. Bit for bit what XLA's CPU backend gives for the same state.
struct RandomBitsParams {
  const RandomKernels* kernels = nullptr;
  bool is_threefry = false;  // else Philox
  BufferId state = kNoBuffer, next_state = kNoBuffer;
  int state_words = 2;  // of 64 bits; 3 for Philox only
  BufferId result = kNoBuffer;
  PrimitiveType type = U32;
  // The result as outer * size * inner elements. In 32 bits and fewer a block of Threefry gives two
  // elements that are neighbours along `size`; for Philox, and in 64 bits, only their product
  // counts.
  int64_t outer = 1, size = 1, inner = 1;
};

class RandomBitsStep final : public Step {
 public:
  explicit RandomBitsStep(const RandomBitsParams& params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;

 private:
  void Philox(const RunContext& context, int64_t begin, int64_t end) const;
  void ThreefryStream(const RunContext& context, int64_t begin, int64_t end) const;
  void ThreefryRows(const RunContext& context, int64_t begin, int64_t end) const;
  void WriteNextState(const RunContext& context) const;

  RandomBitsParams p_;
  int64_t elements_, blocks_;
};

struct RandomParams {
  const RandomKernels* kernels = nullptr;
  bool is_normal = false;  // else uniform
  PrimitiveType type = F32;
  BufferId a = kNoBuffer, b = kNoBuffer;  // scalars: bounds, or mean and standard deviation
  BufferId result = kNoBuffer;
  int64_t count = 0;
};

// False for complex numbers.
bool CanDrawRandom(PrimitiveType type);

// Philox with a key made of RunInfo::seed and a counter that begins anew with each execution and is
// another for each run of a step: executions with equal seeds give equal numbers, and a loop's
// iterations different ones.
//
// Uniform numbers lie in [a, b): below b also after rounding to a narrow type. Where a is not below
// b, floats are all a; integers count up from a through the type's limits to b, and are any of the
// type where a equals b. Normal numbers are made from pairs of uniform ones (Box, Muller), with |z|
// below 6.7 for 32 bits and fewer and 8.6 for 64.
class RandomStep final : public Step {
 public:
  explicit RandomStep(const RandomParams& params) : p_(params) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;

 private:
  RandomParams p_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_RNG_STEP_H_
