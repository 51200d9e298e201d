// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: C = A * B for every element type, any strides, on one kernel level.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

struct Kernels;

// A product of an m x k and a k x n matrix, `batch` times. Strides are in elements and may be 0 or
// negative; C's columns are contiguous.
struct GemmProblem {
  PrimitiveType a_type = F32, b_type = F32, c_type = F32;
  // Products and sums are computed in this type: kF32 for f32, f16, bf16 and narrower floats; kF64;
  // kS32, kU32, kS64, kU64 for integers (wrapping); kC64, kC128. A and B are converted to it; sums
  // are converted to c_type once, at the end.
  CType accumulate = CType::kF32;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  int64_t a_row_stride = 0, a_col_stride = 1;  // of rows (m) and columns (k)
  int64_t b_row_stride = 0, b_col_stride = 1;  // of rows (k) and columns (n)
  int64_t c_row_stride = 0;
  // Whether the matrices of neighbouring batch entries are all as far apart, in elements.
  bool even_batch = false;
  int64_t a_batch_stride = 0, b_batch_stride = 0, c_batch_stride = 0;
  // Where the elements of A come from. A matrix that exists only as a rule (the patches of a
  // convolution) is written a tile at a time by Gemm::Batch::FillA, by rows or p-major.
  enum Source : uint8_t { kMemory, kRows, kPanels };
  Source a_source = kMemory;
};

// A product made ready to run: blocking chosen for its sizes, kernels for its types. Immutable; any
// number of threads may run it. The order in which a result's terms are summed depends on the
// problem alone, not on the split of the work.
class Gemm {
 public:
  virtual ~Gemm() = default;
  // The work falls into phases that run one after the other (packing, then multiplying); the units
  // of a phase run in any order and at the same time.
  virtual int num_phases() const = 0;
  virtual int64_t num_units(int phase) const = 0;
  // Scratch for each thread, and memory that all units share from the first phase to the last;
  // 64-byte aligned.
  virtual int64_t scratch_bytes() const = 0;
  virtual int64_t shared_bytes() const = 0;
  // Where the matrices of batch entry i begin.
  struct Operands {
    const char* a;
    const char* b;
    char* c;
  };
  class Batch {
   public:
    virtual ~Batch() = default;
    virtual Operands operands(int64_t i) const = 0;
    // A tile of A of batch entry i, where the problem says that A is no matrix in memory: element
    // (row + r, p + q) for r < rows, q < depth, as to[r * depth + q] for kRows, as to[q * width +
    // r] for kPanels, whose elements between `rows` and `width` are not used.
    virtual void FillA(int64_t i, int64_t row, int64_t rows, int64_t p, int64_t depth,
                       int64_t width, char* to) const {
      static_cast<void>(i), static_cast<void>(row), static_cast<void>(rows), static_cast<void>(p);
      static_cast<void>(depth), static_cast<void>(width), static_cast<void>(to);
    }
  };
  virtual void Run(const Batch& batch, int phase, int64_t unit, char* shared,
                   char* scratch) const = 0;
  virtual double cost_ns() const = 0;
  // "gemm f32 512x512x512, avx512 14x32".
  virtual const char* description() const = 0;
};

// UNIMPLEMENTED for a combination of types that no kernel has (those that StableHLO allows all have
// one).
absl::StatusOr<std::unique_ptr<Gemm>> MakeGemm(const GemmProblem& problem, const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_H_
