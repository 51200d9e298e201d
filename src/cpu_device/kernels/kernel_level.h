// SPDX-License-Identifier: Apache-2.0
//
// Which set of kernels runs: one is compiled for each instruction-set level and one is chosen when
// a client is made.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_KERNEL_LEVEL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_KERNEL_LEVEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pjrt::cpu {

struct BlockKernels;
struct GemmKernels;
struct WindowKernels;
struct FftKernels;
struct LinalgKernels;
struct IndexKernels;
struct FoldKernels;
struct RandomKernels;

// All kernel tables of one level. They live as long as the program and never change.
struct Kernels {
  const char* name;      // "baseline", "avx2", "avx512", "neon"
  const char* required;  // the instruction sets it needs, for people: "AVX2, FMA, F16C, BMI"
  bool (*supported)();   // by this machine and its operating system
  // Null unless supported(): the code that builds the tables is the level's.
  const BlockKernels* block;
  const GemmKernels* gemm;
  const WindowKernels* window;
  const FftKernels* fft;
  const LinalgKernels* linalg;
  const IndexKernels* index;
  const FoldKernels* fold;
  const RandomKernels* random;
};

// The levels compiled into the library, from the oldest to the widest.
const std::vector<const Kernels*>& AllKernels();

// The widest level that the machine has, or the level called `name`. INVALID_ARGUMENT for a name
// that is not compiled in (the message lists those that are) and for a level that the machine
// lacks. Any thread may call.
absl::StatusOr<const Kernels*> ChooseKernels(absl::string_view name = "");

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_KERNEL_LEVEL_H_
