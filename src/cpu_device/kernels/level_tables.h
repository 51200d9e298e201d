// SPDX-License-Identifier: Apache-2.0
//
// The functions by which each level gives its tables. A table is built on the first call and lives
// as long as the program; any thread may call. Calling needs no instruction of the level: the
// sources that build tables are compiled for it, so only ask a level that the machine supports.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LEVEL_TABLES_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LEVEL_TABLES_H_

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/fft_kernels.h"
#include "src/cpu_device/kernels/fold_ops.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/index_ops.h"
#include "src/cpu_device/kernels/linalg_vectors.h"
#include "src/cpu_device/kernels/random_bits.h"
#include "src/cpu_device/kernels/window.h"

namespace pjrt::cpu {

#define PJRT_DECLARE_LEVEL_(level)         \
  namespace level {                        \
  const BlockKernels* GetBlockKernels();   \
  const GemmKernels* GetGemmKernels();     \
  const WindowKernels* GetWindowKernels(); \
  const FftKernels* GetFftKernels();       \
  const LinalgKernels* GetLinalgKernels(); \
  const IndexKernels* GetIndexKernels();   \
  const FoldKernels* GetFoldKernels();     \
  const RandomKernels* GetRandomKernels(); \
  }
PJRT_DECLARE_LEVEL_(baseline)
PJRT_DECLARE_LEVEL_(avx2)
PJRT_DECLARE_LEVEL_(avx512)
PJRT_DECLARE_LEVEL_(neon)
#undef PJRT_DECLARE_LEVEL_

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LEVEL_TABLES_H_
