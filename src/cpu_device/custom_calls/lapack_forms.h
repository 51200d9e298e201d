// SPDX-License-Identifier: Apache-2.0
//
// Calls of linear algebra, brought to one form for each routine. JAX has written them in three
// ways: with parameters as leading operands of rank 0 and workspaces among the results, with
// attributes and workspaces, and with attributes alone (names that end in _ffi); names and
// parameters of XLA's portable calls (Qr, Eigh, ...) are a fourth.
#ifndef PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_FORMS_H_
#define PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_FORMS_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/cpu/custom_call.h"

namespace pjrt::cpu {

enum class Routine : uint8_t {
  kNone,
  kPotrf,
  kGetrf,
  kGeqrf,
  kGeqp3,
  kOrgqr,
  kOrmqr,
  kTrsm,
  kSyevd,
  kGesdd,
  kGeev,
  kGees,
  kGehrd,
  kSytrd,
  kGtsv,
  kTridiagonalPerturbed,
  kCsrDense,
};

// A parameter that is known when the program is compiled, or that an operand holds.
struct LapackOption {
  int64_t value = 0;
  int operand = -1;  // its number; -1 for none
  int64_t Read(absl::Span<const custom_call::Array> operands) const;
};

// Which operand or result plays which part. Parts are letters:
//   a    the matrix (B x m x n), and what takes its place; data of a sparse one
//   b c  right-hand sides, products
//   d l s   a tridiagonal matrix: diagonal, below, above (`super')
//   e    off-diagonal     f  a factor of the result      i  info
//   p    pivots, permutation; starts of sparse rows      q  permutation made of pivots
//   r    column indices   t  taus                        u v  orthogonal factors, eigenvectors
//   w x  eigenvalues, their imaginary parts; singular values; a diagonal
//   z    sdim
class LapackParts {
 public:
  LapackParts() { index_.fill(-1); }
  int operator[](char part) const { return index_[static_cast<size_t>(part - 'a')]; }
  bool Has(char part) const { return (*this)[part] >= 0; }
  bool HasIndex(int index) const {
    return std::find(index_.begin(), index_.end(), index) != index_.end();
  }
  void Set(char part, int index) {
    index_[static_cast<size_t>(part - 'a')] = static_cast<int8_t>(index);
  }

 private:
  std::array<int8_t, 26> index_;
};

struct LapackCall {
  Routine routine = Routine::kNone;
  PrimitiveType type = F32;        // F32, F64, C64 or C128; of sparse products S32 and S64, too
  PrimitiveType index_type = S32;  // of sparse products, or S64
  LapackParts operands, results;
  int64_t batch = 1;
  int64_t m = 0, n = 0;           // of a; n of a tridiagonal matrix
  int64_t rows = 0, columns = 0;  // of b or c
  int64_t reflectors = 0;         // how many taus an operand has
  bool zero_based = false;        // pivots count from 0
  bool full_vectors = false;      // gesdd: u is m x m and vt n x n
  // Letters or numbers, as programs have them: uplo, side, diag as 'L', 'U' or 1, 0; trans 'N',
  // 'T', 'C' or 0, 1, 2; vectors 'V', 'A', 'S' or 1, and 'N' or 0.
  LapackOption uplo, side, trans, diag, vectors, right_vectors, low, high;
};

// What a name stands for: the routine and, of names that tell it, the element type (else INVALID).
struct LapackName {
  Routine routine = Routine::kNone;  // kNone for other names
  PrimitiveType type = INVALID;
  bool is_portable = false;  // one of XLA's own names
};
LapackName ParseLapackName(absl::string_view target);

// INVALID_ARGUMENT [PJRT-K002] for operands, results or attributes that the routine has not.
absl::StatusOr<LapackCall> ReadLapackCall(const LapackName& name,
                                          const custom_call::Signature& signature);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_FORMS_H_
