// SPDX-License-Identifier: Apache-2.0
//
// Runs a call of linear algebra on each matrix of its batch.
#include "src/cpu_device/custom_calls/lapack.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/custom_calls/lapack_forms.h"
#include "src/cpu_device/custom_calls/lapack_item.h"

namespace pjrt::cpu {
namespace {

using custom_call::Array;

LapackSettings ReadOptions(const LapackCall& call, absl::Span<const Array> operands) {
  const auto is_one_of = [&](const LapackOption& option, char letter, int64_t number) {
    const int64_t value = option.Read(operands);
    return value == letter || value == number;
  };
  LapackSettings o;
  o.lower = is_one_of(call.uplo, 'L', 1);
  o.left = is_one_of(call.side, 'L', 1);
  o.unit_diagonal = is_one_of(call.diag, 'U', 1);
  o.conjugate = is_one_of(call.trans, 'C', 2);
  o.transpose = o.conjugate || is_one_of(call.trans, 'T', 1);
  o.vectors = !is_one_of(call.vectors, 'N', 0);
  o.right_vectors = !is_one_of(call.right_vectors, 'N', 0);
  o.low = call.low.Read(operands);
  o.high = call.high.Read(operands);
  return o;
}

bool IsEigenSolver(Routine routine) {
  switch (routine) {
    case Routine::kSyevd:
    case Routine::kGesdd:
    case Routine::kGeev:
    case Routine::kGees:
    case Routine::kGehrd:
    case Routine::kSytrd:
      return true;
    default:
      return false;
  }
}

template <typename T>
absl::Status RunSparse(const LapackCall& c, absl::Span<const Array> operands,
                       absl::Span<const Array> results) {
  RunSparseProduct<T>(c, LapackItem(c, operands, results, 0));
  return absl::OkStatus();
}

template <typename T>
absl::Status RunCall(const LapackCall& c, const Kernels& kernels,
                     const custom_call::Context& context, absl::Span<const Array> operands,
                     absl::Span<const Array> results) {
  const LapackSettings options = ReadOptions(c, operands);
  if ((c.routine == Routine::kTrsm && c.n != (options.left ? c.rows : c.columns)) ||
      (c.routine == Routine::kOrmqr && c.m != (options.left ? c.rows : c.columns))) {
    return InvalidArgument("PJRT-K002", "the matrix has ", c.m,
                           " rows, which does not fit the side that it stands on");
  }
  T factor = 1;
  if (c.operands.Has('f'))
    factor = *static_cast<const T*>(operands[static_cast<size_t>(c.operands['f'])].data);
  context.ParallelFor(c.batch, [&](int64_t i, int) {
    const LapackItem item(c, operands, results, i);
    const int32_t info = IsEigenSolver(c.routine) ? RunEigenSolver<T>(c, options, kernels, item)
                                                  : RunSolver<T>(c, options, kernels, item, factor);
    if (int32_t* const to = item.Out<int32_t>('i')) *to = info;
  });
  return absl::OkStatus();
}

// Workspaces say nothing, but the same each time.
void ClearWorkspaces(const LapackCall& c, absl::Span<const Array> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!c.results.HasIndex(static_cast<int>(i)) && results[i].size() > 0)
      std::memset(results[i].data, 0, static_cast<size_t>(results[i].size_bytes()));
  }
}

absl::Status Run(const LapackCall& c, const Kernels& kernels, const custom_call::Context& context,
                 absl::Span<const Array> operands, absl::Span<const Array> results) {
  ClearWorkspaces(c, results);
  if (c.batch == 0) return absl::OkStatus();
  if (c.routine == Routine::kCsrDense) {
    switch (c.type) {
      case F32:
        return RunSparse<float>(c, operands, results);
      case F64:
        return RunSparse<double>(c, operands, results);
      case C64:
        return RunSparse<std::complex<float>>(c, operands, results);
      case C128:
        return RunSparse<std::complex<double>>(c, operands, results);
      case S32:
        return RunSparse<int32_t>(c, operands, results);
      default:
        return RunSparse<int64_t>(c, operands, results);
    }
  }
  switch (c.type) {
    case F32:
      return RunCall<float>(c, kernels, context, operands, results);
    case F64:
      return RunCall<double>(c, kernels, context, operands, results);
    case C64:
      return RunCall<std::complex<float>>(c, kernels, context, operands, results);
    default:
      return RunCall<std::complex<double>>(c, kernels, context, operands, results);
  }
}

// About how many multiply-adds a matrix takes.
double WorkOf(const LapackCall& c) {
  const double m = static_cast<double>(c.m), n = static_cast<double>(c.n);
  const double k = std::min(m, n), columns = static_cast<double>(c.columns);
  switch (c.routine) {
    case Routine::kPotrf:
      return n * n * n / 6;
    case Routine::kGetrf:
      return m * n * k / 2;
    case Routine::kOrmqr:
      return static_cast<double>(c.rows) * columns * static_cast<double>(c.reflectors) * 2;
    case Routine::kTrsm:
      return static_cast<double>(c.rows) * columns * n / 2;
    case Routine::kSyevd:
      return 6 * n * n * n;
    case Routine::kGesdd:
      return 12 * m * n * k;
    case Routine::kGeev:
    case Routine::kGees:
      return 15 * n * n * n;
    case Routine::kGtsv:
    case Routine::kTridiagonalPerturbed:
      return 10 * n * (columns + 1);
    case Routine::kCsrDense:
      return 2 * static_cast<double>(c.reflectors) * columns;
    default:
      return 2 * m * n * k;
  }
}

}  // namespace

custom_call::Factory FindLapack(absl::string_view target, const Kernels& kernels) {
  const LapackName name = ParseLapackName(target);
  if (name.routine == Routine::kNone) return nullptr;
  return [name, &kernels](
             const custom_call::Signature& signature) -> absl::StatusOr<custom_call::Kernel> {
    PJRT_ASSIGN_OR_RETURN(const LapackCall call, ReadLapackCall(name, signature));
    custom_call::Kernel kernel;
    kernel.cost_ns =
        static_cast<double>(call.batch) * (500 + WorkOf(call) * (IsComplex(call.type) ? 4 : 1) / 4);
    for (const char part : {'a', 'b', 'c', 'd', 'l', 's', 'p'}) {
      if (call.operands.Has(part) && call.results.Has(part) && call.routine != Routine::kCsrDense)
        kernel.in_place.push_back({call.results[part], call.operands[part]});
    }
    kernel.run = [call, &kernels](const custom_call::Context& context,
                                  absl::Span<const Array> operands,
                                  absl::Span<const Array> results) {
      return Run(call, kernels, context, operands, results);
    };
    return kernel;
  };
}

}  // namespace pjrt::cpu
