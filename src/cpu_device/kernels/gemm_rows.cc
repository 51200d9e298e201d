// SPDX-License-Identifier: Apache-2.0
//
// With a few rows on one side nothing is used often enough to pay for packing: the matrix is read
// once, where it lies, along its contiguous dimension. A few columns are the rows of the transposed
// product.
#include "src/cpu_device/kernels/gemm_rows.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/kernels/type_change.h"

namespace pjrt::cpu {
namespace {

// Columns of a unit at most, so that the sums, or what is converted, stay in L1; elements of the
// matrix that a unit reads.
constexpr int64_t kMaxColumns = 2048, kMaxConvertedColumns = 512;
constexpr int64_t kUnitElements = 256 * 1024;
// Narrower pieces of long rows, each in a page of its own, are read at a fraction of the bandwidth.
// A wide matrix gives this many units all the same.
constexpr int64_t kNarrow = 256, kWide = 1024, kWideUnits = 4;
// Converted at a time: rows of the matrix, or columns and how much of them.
constexpr int64_t kRowsAtOnce = 8, kColumnsAtOnce = 4, kConvertedDepth = 1024;
// Columns that are read again for the next row should be in L2 still.
constexpr int64_t kSharedElements = 16 * 1024;
// Small entries of a batch share a unit.
constexpr double kUnitMulAdds = 32 * 1024;
constexpr double kElementsPerNs = 6;

class RowGemm final : public Gemm {
 public:
  // `swapped`: the problem is the transposed one; operands come in the order of the other, and C's
  // columns are c_row_stride apart.
  RowGemm(const GemmProblem& problem, const Kernels& kernels, bool swapped)
      : p_(problem),
        swapped_(swapped),
        by_columns_(problem.b_row_stride == 1 && (problem.b_col_stride != 1 || problem.n == 1)),
        size_(kCTypeSize[static_cast<int>(problem.accumulate)]),
        kernels_(kernels.gemm->rows[static_cast<int>(problem.accumulate)]),
        block_(*kernels.block),
        load_a_(TypeChange::Load(*kernels.block, problem.a_type, problem.accumulate)),
        load_b_(TypeChange::Load(*kernels.block, problem.b_type, problem.accumulate)),
        store_(TypeChange::Store(*kernels.block, problem.accumulate, problem.c_type)) {
    const int64_t enough = kUnitElements / std::max<int64_t>(p_.k, 1);
    const int64_t least = by_columns_ ? 1 : std::clamp(p_.n / kWideUnits, kNarrow, kWide);
    columns_ = std::min({AlignUp(std::max(enough, least), 64),
                         load_b_.none() ? kMaxColumns : kMaxConvertedColumns, p_.n});
    blocks_ = CeilDiv(p_.n, columns_);
    if (p_.even_batch) {
      const double each =
          static_cast<double>(p_.m + 1) * static_cast<double>(p_.n) * static_cast<double>(p_.k + 1);
      entries_ = std::clamp(static_cast<int64_t>(kUnitMulAdds / each), int64_t{1}, p_.batch);
      a_bytes_apart_ = p_.a_batch_stride * ByteWidth(p_.a_type);
      b_bytes_apart_ = p_.b_batch_stride * ByteWidth(p_.b_type);
      c_bytes_apart_ = p_.c_batch_stride * ByteWidth(p_.c_type);
    }
    description_ = absl::StrCat("gemm ", GetPrimitiveTypeInfo(p_.a_type).name, " ",
                                p_.batch > 1 ? absl::StrCat(p_.batch, "x") : "", p_.m, "x", p_.n,
                                "x", p_.k, swapped ? " transposed, " : ", ", kernels.name, " rows");
  }

  int num_phases() const override { return 1; }
  int64_t num_units(int) const override { return CeilDiv(p_.batch, entries_) * blocks_; }
  int64_t shared_bytes() const override { return 0; }
  int64_t scratch_bytes() const override {
    return a_bytes() + c_bytes() + piece_bytes() + 2 * line_bytes();
  }
  double cost_ns() const override {
    return 50 + static_cast<double>(p_.batch) * static_cast<double>(p_.n) *
                    static_cast<double>(p_.k + 4) / kElementsPerNs * (size_ / 4.0);
  }
  const char* description() const override { return description_.c_str(); }

  void Run(const Batch& batch, int, int64_t unit, char*, char* scratch) const override {
    const int64_t group = blocks_ == 1 ? unit : unit / blocks_;
    const int64_t first = (unit - group * blocks_) * columns_;
    const Memory memory = {scratch, scratch + a_bytes(), scratch + a_bytes() + c_bytes(),
                           scratch + a_bytes() + c_bytes() + piece_bytes()};
    const int64_t entry = group * entries_, end = std::min(entry + entries_, p_.batch);
    Operands at = batch.operands(entry);
    if (swapped_) std::swap(at.a, at.b);
    // Nothing to convert or to move: the kernel alone.
    const bool plain = blocks_ == 1 && load_a_.none() && load_b_.none() && InPlace() &&
                       p_.a_col_stride == 1 && p_.k > 0 && (!by_columns_ || p_.m == 1);
    for (int64_t i = entry; i < end; ++i) {
      if (!plain) {
        Multiply(at, first, memory);
      } else if (by_columns_) {
        kernels_.lines(at.c, at.a, at.b, p_.b_col_stride, p_.k, p_.n, false);
      } else {
        kernels_.rows[p_.m - 1](at.c, p_.c_row_stride, at.a, p_.a_row_stride, at.b, p_.b_row_stride,
                                p_.k, p_.n, false);
      }
      at.a += a_bytes_apart_;
      at.b += b_bytes_apart_;
      at.c += c_bytes_apart_;
    }
  }

 private:
  // Scratch: rows of A | sums | converted elements of B | two lines for conversions.
  struct Memory {
    char *a, *sums, *piece, *line;
  };

  // Whether C has the type and the order of the sums.
  bool InPlace() const {
    return store_.none() && (!swapped_ || (p_.m == 1 && p_.c_row_stride == 1));
  }

  // Columns of one batch entry from `first` on.
  void Multiply(const Operands& at, int64_t first, const Memory& memory) const {
    const int64_t columns = std::min(columns_, p_.n - first);
    const bool in_place = InPlace();
    char* const target = at.c + first * (swapped_ ? p_.c_row_stride : 1) * ByteWidth(p_.c_type);
    char* const c = in_place ? target : memory.sums;
    const int64_t c_stride = in_place ? p_.c_row_stride : columns_;
    if (p_.k == 0) {
      for (int64_t i = 0; i < p_.m; ++i) std::memset(c + i * c_stride * size_, 0, columns * size_);
    } else {
      int64_t a_stride = p_.a_row_stride;
      const char* const a = LoadRows(at.a, memory, &a_stride);
      const char* const b = at.b + first * p_.b_col_stride * ByteWidth(p_.b_type);
      if (by_columns_) {
        MultiplyColumns(a, a_stride, b, columns, c, c_stride, memory);
      } else {
        MultiplyRows(a, a_stride, b, columns, c, c_stride, memory);
      }
    }
    if (!in_place) Store(c, columns, target, memory);
  }

  int64_t a_bytes() const { return AlignUp(p_.m * p_.k * size_); }
  int64_t c_bytes() const { return AlignUp(p_.m * columns_ * size_); }
  int64_t piece_bytes() const {
    return AlignUp(std::max(kRowsAtOnce * columns_, kColumnsAtOnce * kConvertedDepth) * size_);
  }
  int64_t line_bytes() const { return AlignUp(std::max({p_.k, columns_, kConvertedDepth}) * 16); }

  // The rows in the compute type and contiguous: where they are, or copied.
  const char* LoadRows(const char* a, const Memory& memory, int64_t* stride) const {
    if (load_a_.none() && p_.a_col_stride == 1) return a;
    const int size = ByteWidth(p_.a_type);
    for (int64_t i = 0; i < p_.m; ++i) {
      const char* from = a + i * p_.a_row_stride * size;
      char* const row = memory.a + i * p_.k * size_;
      if (p_.a_col_stride != 1) {
        char* const gathered = load_a_.none() ? row : memory.line;
        block_.gather_stride[SizeLog2(size)](gathered, from, p_.a_col_stride, p_.k);
        from = gathered;
      }
      if (!load_a_.none()) load_a_.Run(row, from, p_.k, memory.line + line_bytes());
    }
    *stride = p_.k;
    return memory.a;
  }

  void MultiplyRows(const char* a, int64_t a_stride, const char* b, int64_t columns, char* c,
                    int64_t c_stride, const Memory& memory) const {
    const GemmRowsFn multiply = kernels_.rows[p_.m - 1];
    if (load_b_.none())
      return multiply(c, c_stride, a, a_stride, b, p_.b_row_stride, p_.k, columns, false);
    const int size = ByteWidth(p_.b_type);
    for (int64_t p = 0; p < p_.k; p += kRowsAtOnce) {
      const int64_t rows = std::min(kRowsAtOnce, p_.k - p);
      for (int64_t q = 0; q < rows; ++q)
        load_b_.Run(memory.piece + q * columns * size_, b + (p + q) * p_.b_row_stride * size,
                    columns, memory.line);
      multiply(c, c_stride, a + p * size_, a_stride, memory.piece, columns, rows, columns, p > 0);
    }
  }

  void MultiplyColumns(const char* a, int64_t a_stride, const char* b, int64_t columns, char* c,
                       int64_t c_stride, const Memory& memory) const {
    const int size = ByteWidth(p_.b_type), stride = p_.b_col_stride;
    if (load_b_.none()) {
      const int64_t step =
          p_.m == 1 ? columns : AlignUp(kSharedElements / p_.k + 1, kColumnsAtOnce);
      for (int64_t j = 0; j < columns; j += step) {
        for (int64_t i = 0; i < p_.m; ++i)
          kernels_.lines(c + (i * c_stride + j) * size_, a + i * a_stride * size_,
                         b + j * stride * size, stride, p_.k, std::min(step, columns - j), false);
      }
      return;
    }
    for (int64_t j = 0; j < columns; j += kColumnsAtOnce) {
      const int64_t lines = std::min(kColumnsAtOnce, columns - j);
      for (int64_t p = 0; p < p_.k; p += kConvertedDepth) {
        const int64_t depth = std::min(kConvertedDepth, p_.k - p);
        for (int64_t l = 0; l < lines; ++l)
          load_b_.Run(memory.piece + l * depth * size_, b + ((j + l) * stride + p) * size, depth,
                      memory.line);
        for (int64_t i = 0; i < p_.m; ++i)
          kernels_.lines(c + (i * c_stride + j) * size_, a + (i * a_stride + p) * size_,
                         memory.piece, depth, depth, lines, p > 0);
      }
    }
  }

  // Sums to C, whose columns are apart when the problem is swapped.
  void Store(const char* sums, int64_t columns, char* target, const Memory& memory) const {
    const int size = ByteWidth(p_.c_type);
    const bool apart = swapped_ && p_.c_row_stride != 1;
    for (int64_t i = 0; i < p_.m; ++i) {
      const char* from = sums + i * columns_ * size_;
      char* const to = target + i * (swapped_ ? 1 : p_.c_row_stride) * size;
      if (!store_.none()) {
        char* const stored = apart ? memory.line + line_bytes() : to;
        store_.Run(stored, from, columns, memory.line);
        from = stored;
      }
      if (apart) {
        block_.scatter_stride[SizeLog2(size)](to, from, p_.c_row_stride, columns);
      } else if (from != to) {
        std::memcpy(to, from, columns * size);
      }
    }
  }

  const GemmProblem p_;
  const bool swapped_, by_columns_;
  const int64_t size_;
  const GemmRowKernels& kernels_;
  const BlockKernels& block_;
  const TypeChange load_a_, load_b_, store_;
  int64_t columns_ = 1, blocks_ = 1;
  int64_t entries_ = 1;  // of the batch, in a unit
  int64_t a_bytes_apart_ = 0, b_bytes_apart_ = 0, c_bytes_apart_ = 0;
  std::string description_;
};

}  // namespace

std::unique_ptr<Gemm> MakeRowGemm(const GemmProblem& problem, const Kernels& kernels) {
  const auto suits = [&](const GemmProblem& p) {
    return p.m <= GemmRowKernels::kMaxRows && (p.b_col_stride == 1 || p.b_row_stride == 1);
  };
  if (problem.a_source != GemmProblem::kMemory ||
      kernels.gemm->rows[static_cast<int>(problem.accumulate)].lines == nullptr)
    return nullptr;
  // A matrix times a vector is one row times the transposed matrix.
  const bool is_vector = problem.n == 1 && problem.m > 1 && problem.c_row_stride == 1;
  if (!is_vector && suits(problem))
    return std::make_unique<RowGemm>(problem, kernels, /*swapped=*/false);
  GemmProblem other = problem;
  std::swap(other.a_type, other.b_type);
  std::swap(other.m, other.n);
  std::swap(other.a_batch_stride, other.b_batch_stride);
  other.a_row_stride = problem.b_col_stride;
  other.a_col_stride = problem.b_row_stride;
  other.b_row_stride = problem.a_col_stride;
  other.b_col_stride = problem.a_row_stride;
  if (suits(other)) return std::make_unique<RowGemm>(other, kernels, /*swapped=*/true);
  if (is_vector && suits(problem))
    return std::make_unique<RowGemm>(problem, kernels, /*swapped=*/false);
  return nullptr;
}

}  // namespace pjrt::cpu
