// SPDX-License-Identifier: Apache-2.0
//
// The seam between loop programs and what runs them.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_LOOP_ENGINE_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_LOOP_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// A loop program made ready to run. Immutable; run by any number of threads at once.
class LoopKernel {
 public:
  virtual ~LoopKernel() = default;
  // The loop's work falls into this many units that may run in any order and at the same time.
  // Fixed when compiled: the split never depends on the number of threads.
  virtual int64_t num_units() const = 0;
  // Scratch bytes that one thread needs, 64-byte aligned.
  virtual int64_t scratch_bytes() const = 0;
  // Runs units [begin, end). `inputs` and `outputs` hold the base pointers of the program's inputs
  // and of its stores, then of its reduces' outputs.
  virtual void Run(const char* const* inputs, char* const* outputs, int64_t begin, int64_t end,
                   char* scratch) const = 0;
  // True when output `output` may be written over the memory of input `input`: both see the same
  // elements at the same points, and the kernel reads an element before it writes it.
  virtual bool CanShare(int input, int output) const = 0;
  // The program that it runs, simplified. Inputs, stores and reduces are numbered as in the
  // original.
  virtual const LoopProgram& program() const = 0;
  // Estimated time of all units on one thread.
  virtual double cost_ns() const = 0;
};

// A body (LoopProgram without dims) made ready to be called on blocks of elements.
class BodyKernel {
 public:
  virtual ~BodyKernel() = default;
  // Bytes that `scratch` of a call must have, 64-byte aligned.
  virtual int64_t scratch_bytes() const = 0;
  // results[i][k] = i-th result for parameters p -> params[p][k], k < n, n <= max_block(); types
  // are the body's parameter and result compute types. Results must not overlap parameters.
  virtual void Call(const char* const* params, char* const* results, int64_t n,
                    char* scratch) const = 0;
  // The most elements that one call takes.
  virtual int64_t max_block() const = 0;
};

class LoopEngine {
 public:
  virtual ~LoopEngine() = default;
  // UNIMPLEMENTED, naming instruction and type, for what the engine lacks.
  virtual absl::StatusOr<std::unique_ptr<LoopKernel>> Compile(const LoopProgram& program) const = 0;
  virtual absl::StatusOr<std::unique_ptr<BodyKernel>> CompileBody(
      const LoopProgram& body) const = 0;
};

// Interprets loop programs a block of elements at a time, in registers that stay in the L1 cache,
// by the kernels of a level that the machine supports.
std::unique_ptr<LoopEngine> MakeBlockEngine(const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_LOOP_ENGINE_H_
